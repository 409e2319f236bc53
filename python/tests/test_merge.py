"""Models that were trained apart become one."""

import geowalk
import numpy as np
import pytest
from geowalk import OnlineClassifier, OnlineRegressor, merge

pd = pytest.importorskip("pandas")

RANDOM = np.random.default_rng(1)
X = RANDOM.standard_normal((600, 3))
Y = np.where(X @ [1.0, -2.0, 0.5] + 0.3 * RANDOM.standard_normal(600) > 0, "up", "down")


def trained(part, walk="gd", **known):
    return OnlineClassifier(walk, rate=0.1).partial_fit(X[part], Y[part], **known)


def test_weights_are_the_mean_by_rows():
    a, b = trained(slice(0, 200)), trained(slice(200, 600))
    both = merge([a, b])
    np.testing.assert_allclose(both.coef_, (a.coef_ + 2 * b.coef_) / 3, rtol=1e-12)
    given = merge([a, b], weights=[1, 1])
    np.testing.assert_allclose(given.coef_, (a.coef_ + b.coef_) / 2, rtol=1e-12)
    assert both.summary_["examples"] == 600 and both.classes_.tolist() == ["down", "up"]
    assert both.get_params() == a.get_params()


@pytest.mark.parametrize("walk", ["free", "adagrad", "gd"])
def test_merged_models_predict_and_go_on(walk):
    models = [OnlineClassifier(walk).partial_fit(X[k::3], Y[k::3], classes=["down", "up"]) for k in range(3)]
    both = merge(models)
    assert both.score(X, Y) > 0.9
    bound = both.certificate_.bound
    assert np.isfinite(bound) and both.certificate_.status == "valid"
    assert both.partial_fit(X[:9], Y[:9]).summary_["examples"] == 609


def test_columns_find_each_other_by_name(tmp_path):
    frame = pd.DataFrame(X, columns=["a", "b", "c"])
    a = OnlineClassifier("gd", rate=0.1).partial_fit(frame[:300], Y[:300])
    b = OnlineClassifier("gd", rate=0.1).partial_fit(frame[300:], Y[300:])
    a.save(tmp_path / "a.gw")
    both = merge([tmp_path / "a.gw", b])
    names = both.feature_names_in_.tolist()
    assert names == ["a", "b", "c"]
    np.testing.assert_allclose(both.coef_, (a.coef_ + b.coef_) / 2, rtol=1e-12)
    with pytest.raises(ValueError, match="now missing"):
        both.predict(frame[["a", "b"]])


def test_rows_before_a_round_count_once():
    base = trained(slice(0, 200))
    import copy

    parts = [copy.deepcopy(base).partial_fit(X[k::2][:100], Y[k::2][:100]) for k in range(2)]
    assert merge(parts, since=base).summary_["examples"] == 400
    assert merge(parts).summary_["examples"] == 600


def test_refusals_say_what_differs():
    gd = trained(slice(0, 300))
    with pytest.raises(ValueError, match=r"walk is gd in models\[0\] and free in models\[1\]"):
        merge([gd, trained(slice(0, 300), "free")])
    with pytest.raises(ValueError, match="weights has 1 numbers for 2 models"):
        merge([gd, gd], weights=[1])
    with pytest.raises(TypeError, match=r"models\[0\] is a TreeClassifier"):
        merge([geowalk.TreeClassifier()])
    with pytest.raises(ValueError, match="no models"):
        merge([])
    numbers = OnlineRegressor("gd", rate=0.1).partial_fit(X, X[:, 0])
    with pytest.raises(ValueError, match="loss is logistic"):
        merge([gd, numbers])
