"""Natural gradient on shuffled tables beside the class frequencies and the best linear model: test log-loss.

    .venv/bin/python docs/runs/2026-11-19-natural/tables.py ../shared/data [rows]

Tables of `uci` with at most `rows` rows (2,000), a fifth of the rows for testing, gaps filled with means, names as
numbers of their own. One pass and three passes with each family; "best" is OnlineClassifier().
"""

import sys
import warnings
from pathlib import Path

import geowalk
import numpy as np
import pandas

warnings.filterwarnings("ignore")
FAMILIES = ["gaussian-shared", "gaussian-diagonal", "gaussian"]


def table(path):
    frame = pandas.read_csv(path, na_values=["?"])
    label = "class" if "class" in frame.columns else frame.columns[-1]
    frame = frame[frame[label].notna()].sample(frac=1.0, random_state=0)
    X = pandas.get_dummies(frame.drop(columns=label), dtype=float)
    return X.fillna(X.mean()).fillna(0.0).to_numpy(), frame[label].astype(str).to_numpy()


def lost(model, X, y):
    known = np.isin(y, model.classes_)
    p = model.predict_proba(X[known])[np.arange(known.sum()), np.searchsorted(model.classes_, y[known])]
    return -np.log(np.maximum(p, 1e-300)).mean()


def main(folder, rows):
    paths = sorted((folder / "uci").glob("*.csv*"), key=lambda path: path.stat().st_size)
    count, worse, near = 0, {}, {}
    for path in paths:
        name = path.name.split(".")[0]
        if "-test" in name or "-train" in name or path.stat().st_size > 400_000:
            continue
        X, y = table(path)
        n = len(y) * 4 // 5
        if len(y) > rows or len(np.unique(y)) > 30 or len(np.unique(y[:n])) < 2 or X.shape[1] > 150:
            continue
        classes, counts = np.unique(y[:n], return_counts=True)
        test = y[n:][np.isin(y[n:], classes)]
        shares = (counts + 1) / (n + len(classes))
        frequencies = -np.log(shares[np.searchsorted(classes, test)]).mean()
        best = lost(geowalk.OnlineClassifier().fit(X[:n], y[:n]), X[n:], y[n:])
        found = {}
        for family in FAMILIES:
            for passes in (1, 3):
                model = geowalk.NaturalClassifier(family=family, passes=passes).fit(X[:n], y[:n])
                found[family, passes] = lost(model, X[n:], y[n:])
        count += 1
        for key, loss in found.items():
            worse.setdefault(key, []).extend([f"{name} {loss:.3f}/{frequencies:.3f}"] if loss > frequencies else [])
            near[key] = near.get(key, 0) + (loss <= best + 0.005)
        print(f"{name} n={len(y)} d={X.shape[1]} frequencies={frequencies:.3f} best={best:.3f} "
              + " ".join(f"{family}:{passes}={loss:.3f}" for (family, passes), loss in found.items()), flush=True)
    print(f"{count} tables")
    for key, names in worse.items():
        print(f"{key[0]}, {key[1]} passes: worse than frequencies on {len(names)} {names}; within .005 of the best linear model on {near[key]}")


main(Path(sys.argv[1]), int(sys.argv[2]) if len(sys.argv) > 2 else 2000)
