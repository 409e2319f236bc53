"""Teams of walks in Python: members, pieces, dictionaries, saved models."""

import numpy as np
import pytest

from geowalk import OnlineClassifier, OnlineRegressor, load


def table(rows=400, seed=3):
    random = np.random.default_rng(seed)
    X = random.normal(size=(rows, 4)) * [1.0, 100.0, 1e-3, 1.0]
    score = X[:, 0] - 0.01 * X[:, 1] + 0.3 * random.normal(size=rows)
    return X, score


def test_pieces_leave_the_same_model(tmp_path):
    X, score = table()
    y = np.where(score > 0.8, 2, np.where(score > 0, 1, 0))
    for target, classes in ((np.minimum(y, 1), [0, 1]), (y, [0, 1, 2])):
        files = []
        for name, size in (("whole", 400), ("pieces", 7)):
            model = OnlineClassifier(walk="auto()")
            for start in range(0, 400, size):
                model.partial_fit(X[start : start + size], target[start : start + size], classes=classes)
            model.save(tmp_path / name)
            files.append((tmp_path / name).read_bytes())
        assert files[0] == files[1]
        again = load(tmp_path / "whole")
        assert np.array_equal(again.predict_proba(X), model.predict_proba(X))
        assert np.allclose(model.predict_proba(X).sum(axis=1), 1.0)


def test_members_and_certificate():
    X, score = table()
    model = OnlineClassifier(walk="auto()").partial_fit(X, score > 0, classes=[False, True])
    members = model.members_
    assert len(members) >= 4
    assert sum(member["weight"] for member in members) == pytest.approx(1.0)
    total = model.summary_["loss"] * 400
    for member in members:
        assert total - member["loss"] == pytest.approx(member["overhead"], abs=1e-6)
        assert member["overhead"] <= member["overhead_bound"]
    assert model.certificate_.status == "valid"
    with pytest.raises(AttributeError):
        model.coef_


def test_numbers_and_named_members():
    X, score = table()
    model = OnlineRegressor(walk='auto(members="adagrad; vaw")').partial_fit(X, 50 + 10 * score)
    assert [member["walk"] for member in model.members_] == ["adagrad", "vaw"]
    assert np.isfinite(model.predict(X)).all()
    assert model.score(X, 50 + 10 * score) > 0.5


def test_dictionaries():
    X, score = table(200)
    model = OnlineClassifier(walk="auto()")
    for x, s in zip(X, score):
        model.learn_one({"a": x[0], "b": x[1], "kind": "big" if x[3] > 0 else "small"}, s > 0)
    shares = model.predict_proba_one({"a": 1.0, "b": -50.0})
    assert shares[True] > 0.5 and sum(shares.values()) == pytest.approx(1.0)
