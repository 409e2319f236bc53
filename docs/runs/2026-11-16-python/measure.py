"""What an example costs in Python, beside river: dictionaries of 30 numbers one by one, and chunks of 1000 x 30.

python measure.py [OUT.csv]   needs geowalk, river, numpy, scikit-learn

CPU seconds of this process (another program on the machine does not count, but for the caches it takes), the contestants in turn in bursts of BURST examples, the best of all bursts.
"""

import csv
import platform
import sys
import time

import geowalk
import numpy as np
import river
import sklearn
from river import linear_model, optim
from sklearn.linear_model import SGDClassifier

ROUNDS, ROWS, BURST, KEYS = 40, 4000, 500, 30


def dictionaries():
    random = np.random.default_rng(0)
    X = random.standard_normal((ROWS, KEYS))
    y = X @ random.standard_normal(KEYS) + 0.3 * random.standard_normal(ROWS) > 0
    names = [f"feature{k}" for k in range(KEYS)]
    return X, [(dict(zip(names, row)), label) for row, label in zip(X.tolist(), y.tolist())]


def learn(model, rows):
    for x, y in rows:
        model.learn_one(x, y)


def predict(model, rows):
    for x, _ in rows:
        model.predict_proba_one(x)


def both(model, rows):
    for x, y in rows:
        model.predict_proba_one(x)
        model.learn_one(x, y)


def seconds(work, *arguments):
    start = time.process_time()
    work(*arguments)
    return time.process_time() - start


def one_by_one():
    _, rows = dictionaries()
    contestants = {
        "river LogisticRegression": lambda: linear_model.LogisticRegression(optim.SGD(0.05)),
        "geowalk free": lambda: geowalk.OnlineClassifier(),
        "geowalk gd": lambda: geowalk.OnlineClassifier(walk="gd"),
        "geowalk adagrad": lambda: geowalk.OnlineClassifier(walk="adagrad"),
    }
    best = {}
    for _ in range(ROUNDS):
        for name, new in contestants.items():
            model = new()
            learn(model, rows[:64])
            for what in (learn, predict, both):
                for k in range(0, ROWS, BURST):
                    found = seconds(what, model, rows[k : k + BURST]) / BURST * 1e6
                    key = (what.__name__, name)
                    best[key] = min(best.get(key, found), found)
    for (what, name), found in best.items():
        yield what, name, f"{found:.3f}", "microseconds per example", f"{best[what, 'river LogisticRegression'] / found:.2f}"


def chunks():
    X, rows = dictionaries()
    X, y = np.tile(X, (25, 1)), np.tile(np.array([label for _, label in rows]), 25)
    pieces = [(X[k : k + 1000], y[k : k + 1000]) for k in range(0, len(X), 1000)]
    contestants = {
        "scikit-learn SGDClassifier": lambda: SGDClassifier(loss="log_loss"),
        "geowalk free": lambda: geowalk.OnlineClassifier(),
        "geowalk gd": lambda: geowalk.OnlineClassifier(walk="gd"),
    }
    best = {}
    for _ in range(ROUNDS):
        for name, new in contestants.items():
            model = new()

            for a, b in pieces:
                found = seconds(model.partial_fit, a, b, [False, True])
                best[name] = min(best.get(name, found), found)
    for name, found in best.items():
        yield "partial_fit", name, f"{1000 / found:.0f}", "rows per CPU second, chunks of 1000 x 30", f"{best['scikit-learn SGDClassifier'] / found:.2f}"


if __name__ == "__main__":
    versions = f"Python {platform.python_version()}, geowalk {geowalk.__version__}, river {river.__version__}, scikit-learn {sklearn.__version__}, numpy {np.__version__}"
    print(versions)
    table = [("what", "who", "value", "unit", "times the first"), *one_by_one(), *chunks()]
    for row in table:
        print(f"{row[0]:<12} {row[1]:<28} {row[2]:>12} {row[3]:<42} {row[4]}")
    if len(sys.argv) > 1:
        with open(sys.argv[1], "w", newline="") as file:
            csv.writer(file, lineterminator="\n").writerows(table)
