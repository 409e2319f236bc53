"""Ridges judged by rows drawn at random, or by blocks of rows as they lie: 5-fold log-loss in both orders.

    .venv/bin/python docs/runs/2026-11-18-fit/blocks.py ../shared/data [tables]

One line per table and order: LogisticRegression (C = 1), then the average over five ridges with the weights and the
prior of `fit`, judged by random folds, by blocks, by the larger loss of both, by their mean.
"""

import sys
import warnings
from pathlib import Path

import numpy as np
import pandas
from sklearn.linear_model import LogisticRegression
from sklearn.model_selection import StratifiedKFold

warnings.filterwarnings("ignore")
UCI = Path(sys.argv[1]) / "uci"
TABLES = sys.argv[2:] or (
    "car tic-tac-toe balance-scale iris wine hayes-roth post-operative haberman breast-w heart-c vote monks-1-train "
    "monks-2-train hepatitis dermatology ecoli glass titanic banknote lymph"
).split()
RIDGES = [0.01, 0.1, 1.0, 10.0, 100.0]


def load(path):
    """Scaled numbers and one-hot names, and codes of classes."""
    frame = pandas.read_csv(path, na_values=["?"])
    label = "class" if "class" in frame.columns else frame.columns[-1]
    frame = frame[frame[label].notna()].reset_index(drop=True)
    columns = []
    for name in frame.columns.drop(label):
        values = frame[name]
        if values.dtype.kind in "iuf":
            values = values.fillna(values.mean()).to_numpy(float)
            if values.std() > 0:
                columns.append(((values - values.mean()) / values.std())[:, None])
        else:
            columns.append(pandas.get_dummies(values.fillna("missing")).to_numpy(float))
    return np.hstack(columns), np.unique(frame[label].astype(str), return_inverse=True)[1]


def losses(p, classes, y, count, rows):
    """-ln p of the true class; one that training had not gets half a row's probability."""
    all_classes = np.full((len(y), count), 0.5 / (rows + 1))
    all_classes[:, classes] = p
    all_classes = np.clip(all_classes / all_classes.sum(axis=1, keepdims=True), 1e-15, 1)
    return -np.log(all_classes[np.arange(len(y)), y])


def fit(X, y, ridge):
    return LogisticRegression(C=1 / ridge, max_iter=300).fit(X, y)


def folds(y, shuffled, seed):
    return StratifiedKFold(5, shuffle=shuffled, random_state=seed if shuffled else None).split(y, y)


def judged(X, y, shuffled, count):
    """The total loss of each ridge on folds of the training rows."""
    total = np.zeros(len(RIDGES))
    for train, test in folds(y, shuffled, 1):
        if len(np.unique(y[train])) > 1:
            for k, ridge in enumerate(RIDGES):
                model = fit(X[train], y[train], ridge)
                total[k] += losses(model.predict_proba(X[test]), model.classes_, y[test], count, len(train)).sum()
    return total


def mixed(models, score, X):
    """Probabilities of the average of linear models, as `fit` makes it."""
    shares = np.exp(score.min() - score)
    z = sum(share * model.decision_function(X) for share, model in zip(shares / shares.sum(), models))
    z = np.column_stack([np.zeros(len(z)), z]) if z.ndim == 1 else z
    p = np.exp(z - z.max(axis=1, keepdims=True))
    return p / p.sum(axis=1, keepdims=True)


def compare(X, y, shuffled):
    count, found = y.max() + 1, []
    prior = np.array([0.5 * (np.log(ridge) - 0.5) ** 2 for ridge in RIDGES])
    for train, test in folds(y, shuffled, 0):
        rows = len(train)
        if len(np.unique(y[train])) < 2:
            continue
        models = [fit(X[train], y[train], ridge) for ridge in RIDGES]
        single, blocks = (judged(X[train], y[train], order, count) for order in (True, False))
        peer = losses(models[2].predict_proba(X[test]), models[2].classes_, y[test], count, rows).mean()
        line = [peer]
        for score in (single, blocks, np.maximum(single, blocks), (single + blocks) / 2):
            p = mixed(models, 0.5 * score + prior, X[test])
            floor = 0.5 / (rows + 0.5)
            p = (1 - floor) * p + floor / p.shape[1]
            line.append(losses(p, models[0].classes_, y[test], count, rows).mean())
        found.append(line)
    return np.mean(found, axis=0)


for shuffled in (False, True):
    order, means = "shuffled" if shuffled else "kept", []
    for name in TABLES:
        X, y = load(next(iter(sorted(UCI.glob(f"{name}.csv*")))))
        means.append(compare(X, y, shuffled))
        print(order, name, len(y), *(f"{loss:.4f}" for loss in means[-1]), flush=True)
    print(order, "mean", *(f"{loss:.4f}" for loss in np.mean(means, axis=0)))
