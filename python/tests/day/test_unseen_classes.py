"""Classes that were declared and have not come: a small probability, never 0."""

import geowalk
import numpy as np
import pytest
from conftest import command

X = np.random.default_rng(0).standard_normal((50, 2))
FIRST = X[X[:, 0] > 0]


@pytest.mark.parametrize("labels", [["a", "b", "c", "d"], [0, 1, 2, 7]])
@pytest.mark.parametrize("new", [geowalk.OnlineClassifier, geowalk.NaturalClassifier])
def test_declared_classes_have_the_share_of_the_rule_of_succession(new, labels, tmp_path):
    y = np.array(labels)[(X[:, 0] > 0) * 2]
    model = new().partial_fit(X, y, classes=labels)
    P = model.predict_proba(X)
    assert P.shape == (50, 4) and np.allclose(P.sum(axis=1), 1.0)
    assert (P[:, [1, 3]] == 1.0 / 54.0).all()
    log_loss = pytest.importorskip("sklearn.metrics").log_loss
    assert np.isfinite(log_loss(np.array(labels)[np.arange(50) % 4], P, labels=model.classes_)) and (P > 0).all()
    seen = new().partial_fit(X, y).predict_proba(X) if new is geowalk.OnlineClassifier else None
    assert seen is None or (P[:, [0, 2]].argmax(axis=1) == seen.argmax(axis=1)).all()
    # One dictionary, a saved model, and the command say the same.
    assert list(model.predict_proba_one({"1": X[0, 0], "2": X[0, 1]}).values()) == pytest.approx(P[0])
    model.save(tmp_path / "m.gw")
    loaded = geowalk.load(tmp_path / "m.gw")
    assert loaded.classes_.tolist() == labels and (loaded.predict_proba(X) == P).all()
    (tmp_path / "x.csv").write_text("1,2\n" + "".join(f"{a!r},{b!r}\n" for a, b in X.tolist()))
    lines = command("predict", tmp_path / "m.gw", tmp_path / "x.csv", "--proba").stdout.split()
    order = lines[0].split(",")
    assert sorted(order) == sorted(map(str, labels))
    told = np.array([[float(p) for p in line.split(",")] for line in lines[1:]])
    assert (told[:, [order.index(str(label)) for label in labels]] == P).all()
    # Weights and scores agree: an unseen class is never predicted.
    assert np.array_equal(np.isinf(model.decision_function(X)), np.isinf(X @ model.coef_.T + model.intercept_))
    assert set(model.predict(X)) <= {labels[0], labels[2]}
    # The class comes.
    model.partial_fit(X[:1], [labels[1]])
    assert (model.predict_proba(X)[:, 3] == 1.0 / 55.0).all() and np.isfinite(model.decision_function(X)[:, 1]).all()


def test_one_class_of_several():
    model = geowalk.OnlineClassifier().partial_fit(FIRST, ["a"] * len(FIRST), classes=["a", "b", "c"])
    P, n = model.predict_proba(FIRST), len(FIRST)
    assert np.allclose(P, [[(n + 1) / (n + 3), 1 / (n + 3), 1 / (n + 3)]])


def test_one_class_of_two():
    model = geowalk.OnlineClassifier().partial_fit(FIRST, ["a"] * len(FIRST), classes=["a", "b"])
    assert (model.predict_proba(FIRST) > 0).all()
