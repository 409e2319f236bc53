"""`fit` with its defaults against LogisticRegression on counts of words: log-loss, accuracy, CPU seconds of fit.

    .venv/bin/python docs/runs/2026-11-19-fit/texts.py ../shared/data [name ...]

rcv1-small and imdb have files for testing; of the others every fifth row is kept. Of reuters21578 the first topic of
a document counts, and the 20 most frequent of these. LogisticRegression (defaults) gets the counts in units of their
standard deviation, and in units of the largest.
"""

import gzip
import sys
import time
import warnings
from pathlib import Path

import geowalk
import numpy as np
from scipy.sparse import csr_matrix
from sklearn.linear_model import LogisticRegression
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import MaxAbsScaler, StandardScaler

warnings.filterwarnings("ignore")
NAMES = ["rcv1-small", "spamassassin", "imdb", "reuters21578", "newsgroups20"]


def read(path, columns=0):
    """The counts of a LIBSVM file, and the first label of each row."""
    labels, places, counts, starts = [], [], [], [0]
    with gzip.open(path, "rt") as lines:
        for line in lines:
            label, *pairs = line.split()
            if ":" in label:
                label, pairs = "", [label, *pairs]
            labels.append(label.split(",")[0])
            for pair in pairs:
                place, _, count = pair.partition(":")
                places.append(int(place))
                counts.append(float(count))
            starts.append(len(places))
    width = max(columns, max(places) + 1)
    return csr_matrix((counts, places, starts), shape=(len(labels), width)), np.array(labels)


def splits(folder, name):
    if (folder / f"{name}-train.svm.gz").exists():
        X, y = read(folder / f"{name}-train.svm.gz")
        new, truth = read(folder / f"{name}-test.svm.gz", X.shape[1])
        return X, y, new[:, : X.shape[1]], truth
    X, y = read(folder / f"{name}.svm.gz")
    if name == "reuters21578":
        topics, sizes = np.unique(y[y != "0"], return_counts=True)
        kept = (y != "0") & np.isin(y, topics[np.argsort(-sizes, kind="stable")[:20]])
        X, y = X[kept], y[kept]
    test = np.arange(len(y)) % 5 == 4
    return X[~test], y[~test], X[test], y[test]


def main(folder, names):
    models = {
        "geowalk": lambda: geowalk.OnlineClassifier(),
        "standard": lambda: make_pipeline(StandardScaler(with_mean=False), LogisticRegression()),
        "largest": lambda: make_pipeline(MaxAbsScaler(), LogisticRegression()),
    }
    for name in names or NAMES:
        X, y, new, truth = splits(folder / "sparse", name)
        for model, make in models.items():
            start = time.process_time()
            fitted = make().fit(X, y)
            seconds = time.process_time() - start
            p = np.clip(fitted.predict_proba(new), 1e-15, 1)
            loss = -np.log(p[np.arange(len(truth)), np.searchsorted(fitted.classes_, truth)]).mean()
            right = (fitted.predict(new) == truth).mean()
            print(f"{name} {X.shape[0]} x {X.shape[1]}, {len(fitted.classes_)} classes, {model}: "
                  f"log-loss {loss:.4f}, accuracy {right:.4f}, {seconds:.1f} s", flush=True)


if __name__ == "__main__":
    main(Path(sys.argv[1]), sys.argv[2:])
