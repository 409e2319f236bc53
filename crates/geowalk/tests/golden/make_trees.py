#!/usr/bin/env python3
# requires: scikit-learn==1.9.1
"""Golden trees: what scikit-learn grows, node by node.

    python make_trees.py             writes trees.json
    python make_trees.py --check     grows them again; exit 1 if the file is not what it should be

Each tree is one of `DecisionTreeClassifier(criterion)` without limits, as lists over its nodes: feature and threshold (-1 and null in a leaf),
children, impurity. The test in `trees_golden.rs` takes the rows of every node and compares gains, not partitions: where two splits gain
the same, scikit-learn takes one at random. Features are compared as 32-bit numbers, as scikit-learn does. `scripts/test` checks the file where
`.venv` has scikit-learn.
"""
import csv
import json
import pathlib
import sys

import numpy
import sklearn
from sklearn import datasets
from sklearn.tree import DecisionTreeClassifier

HERE = pathlib.Path(__file__).resolve().parent
BREAST = HERE / "../../../../data/breast-cancer.csv"


def breast():
    """The file of the repository, which the test reads as well."""
    with open(BREAST) as file:
        _, *rows = csv.reader(file)
    return [[float(x) for x in row[:-1]] for row in rows], [int(row[-1] == "benign") for row in rows]


def sets():
    wine, digits = datasets.load_wine(), datasets.load_digits()
    two = wine.target < 2
    eights = (digits.target == 3) | (digits.target == 8)
    yield "breast", *breast(), False
    yield "wine", wine.data.tolist(), wine.target.tolist(), True
    yield "wine-1v2", wine.data[two].tolist(), wine.target[two].tolist(), True
    # Whole numbers 0 to 16.
    yield "digits-3v8", digits.data[eights].astype(int).tolist(), (digits.target[eights] == 8).astype(int).tolist(), True


def trees(x, y):
    for criterion in ("gini", "entropy"):
        tree = DecisionTreeClassifier(criterion=criterion, random_state=0).fit(x, y).tree_
        leaf = tree.children_left < 0
        yield {
            "criterion": criterion,
            "feature": numpy.where(leaf, -1, tree.feature).tolist(),
            "threshold": [None if end else t for end, t in zip(leaf, tree.threshold.tolist())],
            "left": tree.children_left.tolist(),
            "right": tree.children_right.tolist(),
            "impurity": tree.impurity.tolist(),
        }


def main():
    made = {"made_by": "make_trees.py", "scikit-learn": sklearn.__version__, "sets": [
        {"name": name, "classes": max(y) + 1, "trees": list(trees(x, y))} | ({"x": x, "y": y} if inside else {})
        for name, x, y, inside in sets()]}
    text = json.dumps(made, separators=(",", ":")).replace('{"name"', '\n{"name"').replace('{"criterion"', '\n{"criterion"') + "\n"
    path = HERE / "trees.json"
    if "--check" in sys.argv:
        sys.exit(path.read_text() != text and f"{path} is not what {__file__} makes")
    path.write_text(text)


if __name__ == "__main__":
    main()
