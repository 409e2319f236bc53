"""Comparing two estimators, and intervals that hold at every row."""

import numpy as np
import pytest

import geowalk
from geowalk._geowalk import loss_interval


def _stream(rows, seed=0):
    random = np.random.default_rng(seed)
    X = random.standard_normal((rows, 3))
    y = np.where(X @ [1.0, -1.0, 0.5] + 0.5 * random.standard_normal(rows) > 0, "yes", "no")
    return X, y


def test_the_better_of_two_fitted_models_is_found():
    X, y = _stream(3000)
    good = geowalk.OnlineClassifier().fit(X[:1000], y[:1000])
    bad = geowalk.OnlineClassifier().fit(X[:1000, ::-1], y[:1000])
    found = geowalk.compare(good, bad, X[1000:], y[1000:])
    error, log_loss = found.differences
    assert found.rows == 2000 and found.better == "a"
    assert (error["name"], log_loss["name"]) == ("error", "log_loss")
    wrong = [np.mean(model.predict(X[1000:]) != y[1000:]) for model in (good, bad)]
    assert np.allclose([error["a"], error["b"]], wrong)
    assert error["low"] < error["difference"] < error["high"] < 0 and error["decided_at"] <= 2000
    swapped = geowalk.compare(bad, good, X[1000:], y[1000:])
    assert swapped.better == "b"
    same = geowalk.compare(good, good, X[1000:], y[1000:])
    assert same.better is None and same.differences[0]["difference"] == 0.0


def test_estimators_that_are_not_fitted_learn_on_the_way_and_stay_as_they_are():
    X, y = _stream(300)
    a, b = geowalk.OnlineClassifier(), geowalk.OnlineClassifier(walk="gd", rate=0.001)
    found = geowalk.compare(a, b, X, y)
    assert found.rows == 300
    with pytest.raises(geowalk.NotFittedError):
        a.predict(X)
    model = geowalk.OnlineClassifier(passes=1).fit(X, y)
    progressive = model.intervals_[0]
    # The first row has nothing to be predicted with here.
    assert abs(found.differences[0]["a"] - progressive["average"]) <= 1.0 / 300 + 1e-12


def test_numbers_need_their_range():
    X, _ = _stream(400)
    y = np.clip(X[:, 0], -2.0, 2.0)
    a = geowalk.OnlineRegressor().fit(X[:200], y[:200])
    b = geowalk.OnlineRegressor().fit(X[:200], -y[:200])
    with pytest.raises(ValueError, match="y_range"):
        geowalk.compare(a, b, X[200:], y[200:])
    with pytest.raises(ValueError, match="not all within"):
        geowalk.compare(a, b, X[200:], y[200:], y_range=(-1.0, 1.0))
    found = geowalk.compare(a, b, X[200:], y[200:], y_range=(-2.0, 2.0))
    assert found.better == "a" and found.differences[0]["name"] == "squared_error"
    with pytest.raises(ValueError, match="two of a kind"):
        geowalk.compare(a, geowalk.OnlineClassifier(), X[200:], y[200:])


def test_intervals_are_in_the_summary_and_hold_their_average():
    X, y = _stream(500)
    model = geowalk.OnlineClassifier(passes=1).fit(X, y)
    error, log_loss = model.intervals_
    assert error["name"] == "error" and log_loss["cut"] == pytest.approx(4.605, abs=1e-3)
    assert np.isclose(1.0 - error["average"], model.summary_["metrics"]["accuracy"])
    assert error["low"] < error["average"] < error["high"]
    assert geowalk.OnlineClassifier(passes=1).fit(X, y, sample_weight=np.full(500, 2.0)).intervals_ == []
    average, low, high = loss_interval([0.0, 1.0] * 50)
    assert average == 0.5 and low < 0.4 and high > 0.6
    with pytest.raises(geowalk.ConfigError):
        loss_interval([0.5], alpha=2.0)
    assert 1 <= len(model.guarantee_) <= 4
