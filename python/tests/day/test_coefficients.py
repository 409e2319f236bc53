"""`coef_` is the model: where it exists, `X @ coef_.T + intercept_` is what `decision_function` or `predict` says."""

import geowalk
import numpy as np
import pytest
from conftest import ROOT

RANDOM = np.random.default_rng(0)
X = (np.abs(RANDOM.standard_normal((300, 3))) / 4).clip(0.0, 1.0)
BINARY = (X > 0.2).astype(float)
QUADRATIC = ["natural:gaussian", "natural:gaussian-diagonal"]
# Walks that need a parameter or other data; those that shrink weights beyond the range seen.
SETTINGS = {
    "mirror:mahalanobis": "mahalanobis(sigma=diag(1, 2, 3, 4))",
    "implicit:mahalanobis": "implicit:mahalanobis(sigma=1 0 0 0; 0 2 0 0; 0 0 3 0; 0 0 0 4)",
    "winnow": "winnow(n=3)",
    "reparam-winnow": "reparam-winnow(n=3)",
}
WHOLE = ["natural:discrete", "natural:naive-bayes", "natural:mixed", "natural:bernoulli", "natural:multinomial", "natural:poisson"]
SHRINKING = ["free:euclidean", "explicit:adaptive", "auto"]
# How many rows walks get that take many milliseconds for one.
SLOW = {"implicit:stiefel": 60, "implicit:grassmann": 60}
WALKS = sorted(walk["name"] for walk in geowalk.walks())


def equal(model, Z):
    scores = Z @ model.coef_.T + model.intercept_
    scores = scores[:, 0] if scores.shape[1] == 1 else scores
    return np.allclose(scores, model.decision_function(Z), rtol=1e-9, atol=1e-9)


def as_they_are(walk):
    """The walk on rows as they are: normalised ones beyond the range seen are made smaller."""
    if walk.startswith("natural") or walk in SETTINGS and not walk.startswith("implicit"):
        return SETTINGS.get(walk, walk)
    text = SETTINGS.get(walk, f"{walk}()")[:-1]
    return f"{text}{'' if text.endswith('(') else ', '}normalise=false)"


@pytest.mark.parametrize("classes", [2, 3])
@pytest.mark.parametrize("walk", WALKS)
def test_weights_give_the_scores_of_every_walk(walk, classes):
    rows = SLOW.get(walk, len(X))
    table = (BINARY if walk in WHOLE else X)[:rows]
    y = np.digitize(X[:, 0] - X[:, 1], [0.0] if classes == 2 else [-0.1, 0.1])[:rows]
    try:
        model = geowalk.OnlineClassifier(walk=SETTINGS.get(walk, walk), loss=None, passes=1).fit(table, y)
    except (geowalk.DomainError, geowalk.ConfigError) as error:
        assert any(word in str(error) for word in ("natural-mirror", "natural-sngd", "natural:discrete", "winnow", "mixed", "a product needs", "vaw is ridge")), error
        return
    if walk in QUADRATIC:
        with pytest.raises(AttributeError, match="no coef_ here: .* squares or products of features"):
            model.coef_
        assert not hasattr(model, "coef_") and not hasattr(model, "intercept_")
        return
    assert model.coef_.shape == (1 if classes == 2 else 3, 3) and equal(model, table)
    assert (model.predict(table) == model.classes_[np.argmax(model.decision_function(table), axis=1)]).all() if classes == 3 else True
    if walk not in SHRINKING:
        model = geowalk.OnlineClassifier(walk=as_they_are(walk), loss=None, passes=1).fit(table, y)
        assert equal(model, table) and equal(model, 10 * table) and equal(model, -5 * table)


@pytest.mark.parametrize("walk", [*SHRINKING, "gd", "explicit:sphere"])
def test_beyond_the_range_seen_scores_are_nearer_to_0(walk):
    y = (X[:, 0] > X[:, 1]).astype(int)
    model = geowalk.OnlineClassifier(walk=walk, passes=1).fit(X, y)
    for k in range(3):
        far = np.zeros((1, 3))
        far[0, k] = 1e3
        linear = (far @ model.coef_.T).item()
        assert abs(model.decision_function(far).item() - model.intercept_.item()) <= abs(linear)
    averaged = geowalk.OnlineClassifier(walk=walk, average=True, passes=1).fit(X, y)
    assert equal(averaged, X) and equal(averaged, 1e3 * X)


@pytest.mark.parametrize("loss", ["logistic", "hinge", "squared", "exponential", "gini", "matsushita"])
def test_weights_give_the_scores_of_every_loss(loss):
    y = (X[:, 0] > X[:, 1]).astype(int)
    assert equal(geowalk.OnlineClassifier(walk="gd", loss=loss, passes=1).fit(X, y), X)
    model = geowalk.OnlineClassifier(walk="gd(normalise=false)", loss=loss, passes=1).fit(X, y)
    assert equal(model, X) and equal(model, 3 * X)


def test_winnow():
    y = X[:, 0] > 0.2
    for twin in (False, True):
        model = geowalk.Winnow(twin=twin).fit(X, y)
        assert equal(model, X)
        assert (model.predict(X) == (X @ model.coef_[0] + model.intercept_[0] >= 0)).all()


@pytest.mark.parametrize("loss", ["squared", "absolute", "huber", "quantile(tau=0.3)"])
def test_regressors_have_one_number_per_feature(loss):
    y = X @ [1.0, -2.0, 0.5] + 3.0
    # The default for the squared loss is a team, which has none.
    model = geowalk.OnlineRegressor("adagrad", loss=loss, passes=5).fit(X, y)
    assert model.coef_.shape == (3,) and np.ndim(model.intercept_) == 0 and isinstance(model.intercept_, float)
    assert np.allclose(X @ model.coef_ + model.intercept_, model.predict(X), rtol=1e-9, atol=1e-9)


@pytest.mark.parametrize("new", [geowalk.OnlineClassifier, geowalk.NaturalClassifier])
@pytest.mark.parametrize("loaded", [False, True])
def test_names_of_features_are_those_of_weights(new, loaded, tmp_path):
    pandas = pytest.importorskip("pandas")
    table = pandas.DataFrame({"size": X[:, 0], "color": RANDOM.choice(["red", "blue", "green"], 300), "width": X[:, 1]})
    table.loc[[4, 9], "color"] = None
    table.loc[[7, 100], "width"] = np.nan
    y = (X[:, 0] > X[:, 1]).astype(int)
    model = new(missing="indicator").fit(table, y)
    if loaded:
        model.save(tmp_path / "m.gw")
        model = geowalk.load(tmp_path / "m.gw")
    names = list(model.get_feature_names_out())
    assert sorted(names) == ["color=blue", "color=green", "color=missing", "color=red", "size", "width", "width=missing"]
    wide = np.zeros((300, len(names)))
    for row in range(300):
        wide[row, names.index("size")] = table["size"][row]
        color = table["color"][row]
        wide[row, names.index(f"color={color if isinstance(color, str) else 'missing'}")] = 1.0
        if table["width"][row] == table["width"][row]:
            wide[row, names.index("width")] = table["width"][row]
        else:
            wide[row, names.index("width=missing")] = 1.0
    assert model.n_features_in_ == 3 and model.coef_.shape == (1, 7)
    assert np.allclose(wide @ model.coef_[0] + model.intercept_[0], model.decision_function(table), rtol=1e-9, atol=1e-9)
    sparse = pytest.importorskip("scipy.sparse")
    with pytest.warns(UserWarning, match="valid feature names"):
        assert np.allclose(model.decision_function(sparse.csr_matrix(wide)), model.decision_function(table), rtol=1e-9)


def test_names_of_columns_without_names():
    model = geowalk.OnlineClassifier().fit(X, X[:, 0] > 0.2)
    assert model.get_feature_names_out().tolist() == ["x0", "x1", "x2"]
    data = geowalk.read(ROOT / "data" / "breast-cancer.csv")
    assert geowalk.OnlineClassifier().fit(data.X, data.y).get_feature_names_out()[0] == "x0"
    sparse = pytest.importorskip("scipy.sparse")
    assert geowalk.OnlineClassifier().fit(sparse.csr_matrix(X), X[:, 0] > 0.2).get_feature_names_out().tolist() == ["x0", "x1", "x2"]
