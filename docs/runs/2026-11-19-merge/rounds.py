"""Rounds of learning apart and merging against one machine: error on rows that were not learned from.

    python rounds.py DATA_DIR > rounds.csv

DATA_DIR has the folders `uci`, `sparse` and `streams`. Each set is cut into a part to learn from and a part to test, in
an order that a seed decides. `one` goes through all rows as often as there are rounds; `K parts` learns each part by
itself in each round and merges with `geowalk.merge`. Losses do not depend on the machine.
"""

import copy
import csv
import sys
from pathlib import Path

import geowalk
import numpy as np

SETS = {
    "adult": ("uci/adult-train.csv.gz", None),
    "elec2": ("streams/elec2.csv.gz", None),
    "covtype": ("streams/covtype.csv.gz", 100_000),
    "imdb": ("sparse/imdb-train.svm.gz", None),
    "subjectivity": ("sparse/subjectivity.tsv.gz", None),
}
ROUNDS = (1, 2, 4, 8)
PARTS = (4, 16)


def rows(path, most):
    data = geowalk.read(path)
    order = np.random.default_rng(0).permutation(data.X.shape[0])[:most]
    X, y = data.X[order], np.asarray(data.y)[order]
    cut = len(order) * 4 // 5
    return (X[:cut], y[:cut]), (X[cut:], y[cut:])


def measured(model, X, y):
    proba = model.predict_proba(X)
    at = np.searchsorted(model.classes_, y)
    log_loss = -np.log(np.maximum(proba[np.arange(len(y)), at], 1e-15)).mean()
    return float((model.predict(X) != y).mean()), float(log_loss)


def main():
    out = csv.writer(sys.stdout, lineterminator="\n")
    out.writerow(["set", "walk", "parts", "rounds", "error", "log_loss"])
    for name, (path, most) in SETS.items():
        (X, y), test = rows(Path(sys.argv[1]) / path, most)
        classes = np.unique(y)
        for walk in ("free", "adagrad"):
            new = lambda: geowalk.OnlineClassifier(walk)
            one = new()
            for done in range(1, ROUNDS[-1] + 1):
                one.partial_fit(X, y, classes=classes)
                if done in ROUNDS:
                    out.writerow([name, walk, 1, done, *(f"{value:.4f}" for value in measured(one, *test))])
            for parts in PARTS:
                base = None
                for done in range(1, ROUNDS[-1] + 1):
                    models = []
                    for k in range(parts):
                        model = new() if base is None else copy.deepcopy(base)
                        models.append(model.partial_fit(X[k::parts], y[k::parts], classes=classes))
                    base = geowalk.merge(models, since=base)
                    if done in ROUNDS:
                        out.writerow([name, walk, parts, done, *(f"{value:.4f}" for value in measured(base, *test))])
            sys.stdout.flush()


if __name__ == "__main__":
    main()
