"""Boosting and trees as Python sees them: losses of a user, sparse matrices."""

import math
import pickle

import geowalk
import numpy as np
import pytest
from geowalk.losses import Custom

X = np.random.default_rng(1).standard_normal((300, 4))
Y = (X[:, 0] + X[:, 1] > 0.3) ^ (np.random.default_rng(2).random(300) < 0.1)


def softplus(z):
    return math.log1p(math.exp(-z)) if z > 0 else math.log1p(math.exp(z)) - z


def softplus_slope(z):
    return -1 / (1 + math.exp(z)) if z < 30 else -math.exp(-z)


def squared_hinge(z):
    return max(0.0, 1.0 - z) ** 2


@pytest.mark.parametrize("weak", ["rules", "stumps", "small-trees", "columns"])
def test_a_loss_of_ones_own(weak):
    """The logistic loss as two Python functions gives the rules of the logistic loss by name; trees are grown by Matsushita's function for both."""
    own = geowalk.BoostClassifier(Custom(softplus, softplus_slope), weak, rounds=6).fit(X, Y)
    named = geowalk.BoostClassifier("logistic", weak, rounds=6).fit(X, Y)
    assert np.allclose(own.decision_function(X), named.decision_function(X), rtol=1e-8, atol=1e-8)
    assert np.allclose(own.predict_proba(X), named.predict_proba(X), rtol=1e-8, atol=1e-8)
    assert own.certificate_.status == named.certificate_.status == "valid"
    assert own.certificate_.bound == pytest.approx(named.certificate_.bound, rel=1e-4)


def test_what_a_loss_of_ones_own_can_do(tmp_path):
    loss = Custom(softplus, softplus_slope)
    model = geowalk.BoostClassifier(loss, rounds=4, leverage="all").fit(X, Y)
    assert "custom" in repr(model) and len(model.rules_) == 4
    model.report(tmp_path / "report.html", X, Y)
    assert "custom" in (tmp_path / "report.html").read_text(encoding="utf-8")
    with pytest.raises(geowalk.DataError, match="pickle the estimator"):
        model.save(tmp_path / "model.gw")
    again = pickle.loads(pickle.dumps(model))
    assert (again.predict_proba(X) == model.predict_proba(X)).all()
    several = geowalk.BoostClassifier(loss, rounds=3).fit(X, np.digitize(X[:, 0], [-0.5, 0.5]))
    assert several.predict_proba(X).shape == (300, 3)
    by_name = geowalk.BoostClassifier(geowalk.losses.get("gini"), rounds=2).fit(X, Y)
    assert (by_name.decision_function(X) == geowalk.BoostClassifier("gini", rounds=2).fit(X, Y).decision_function(X)).all()
    saturated = Custom(squared_hinge, lambda z: -2 * max(0.0, 1.0 - z))
    assert geowalk.BoostClassifier(saturated, rounds=8).fit(X, Y).score(X, Y) > 0.8


def test_a_loss_of_ones_own_that_fails():
    class Tired(Exception):
        pass

    calls = [0]

    def tired(z):
        calls[0] += 1
        if calls[0] > 30_000:
            raise Tired(z)
        return softplus(z)

    loss = Custom(tired, softplus_slope)
    calls[0] = 29_900
    with pytest.raises(Tired):
        geowalk.BoostClassifier(loss, rounds=50).fit(X, Y)
    rising = Custom(lambda z: math.exp(z), lambda z: math.exp(z), predictions=(-5.0, 5.0))
    with pytest.raises(geowalk.ConfigError, match="a loss that falls at margin 0"):
        geowalk.BoostClassifier(rising).fit(X, Y)


@pytest.mark.parametrize("estimator", [geowalk.BoostClassifier(), geowalk.TreeClassifier(max_depth=4)], ids=repr)
def test_sparse_matrices_are_what_their_columns_are(estimator):
    sparse = pytest.importorskip("scipy.sparse")
    full = np.where(np.abs(X) < 0.5, 0.0, X)
    wanted = estimator.fit(full, Y).predict_proba(full)
    for form in ("csr", "csc", "coo"):
        matrix = sparse.coo_matrix(full).asformat(form)
        before = matrix.copy()
        assert (estimator.fit(matrix, Y).predict_proba(matrix) == wanted).all()
        assert (matrix != before).nnz == 0
    with pytest.raises(ValueError, match="X has 3 features, but .* expecting 4"):
        estimator.predict(sparse.csr_matrix(full[:, :3]))
    wide = sparse.csr_matrix((Y.astype(float), (range(300), [19_999] * 300)), shape=(300, 20_000))
    assert estimator.fit(wide, Y).score(wide, Y) == 1.0
