"""scikit-learn's contract."""

import copy
import json
import pickle
import subprocess
import sys

import geowalk
import numpy as np
import pytest
from conftest import ROOT, command

sklearn = pytest.importorskip("sklearn")

from sklearn.base import clone, is_classifier, is_regressor  # noqa: E402
from sklearn.exceptions import NotFittedError  # noqa: E402
from sklearn.model_selection import GridSearchCV, cross_val_score  # noqa: E402
from sklearn.pipeline import make_pipeline  # noqa: E402
from sklearn.preprocessing import StandardScaler  # noqa: E402
from sklearn.utils.estimator_checks import check_estimator  # noqa: E402

DATA = ROOT / "data" / "breast-cancer.csv"
# A walk goes through rows in their order; the default of `fit` is the same for every order.
ORDER = "examples are learned from in their order, and that of the check differs between the two fits"
WEIGHTED = {
    "check_sample_weight_equivalence_on_dense_data": ORDER,
    "check_sample_weight_equivalence_on_sparse_data": ORDER,
}
ONLINE = [
    geowalk.OnlineClassifier(),
    geowalk.OnlineClassifier(walk="gd", loss="hinge"),
    geowalk.OnlineRegressor(passes=5),
    geowalk.OnlineRegressor(),
    geowalk.OnlineClassifier(passes=1, missing="error"),
    geowalk.NaturalClassifier(),
]
ROWS = "a rule without errors gets the leverage that so many rows, not so much weight, justify"
CAPPED = {
    "check_sample_weight_equivalence_on_dense_data": ROWS,
    "check_sample_weight_equivalence_on_sparse_data": ROWS,
}
# Where a rule is not true it votes for the other class, also if that has a ten-millionth of the weight.
CAPPED["check_class_weight_classifiers"] = "a rule votes for both classes, however little one of them weighs"
SAMPLED = "each tree is grown on a sample of the rows, and a row of weight 2 is drawn once or not at all"
SAMPLE = {
    "check_sample_weight_equivalence_on_dense_data": SAMPLED,
    "check_sample_weight_equivalence_on_sparse_data": SAMPLED,
}
BATCH = [
    geowalk.BoostClassifier(),
    geowalk.BoostClassifier(plain=True),
    geowalk.BoostClassifier(weak="stumps"),
    geowalk.BoostClassifier(weak="trees", rounds=15),
    geowalk.BoostRegressor(rounds=80),
    geowalk.BoostRegressor(rounds=80, row_share=1.0, column_share=1.0),
    geowalk.TreeClassifier(),
    geowalk.TreeRegressor(),
]


def checks(estimator, expected):
    """The checks that failed though they were not expected to."""
    done = check_estimator(estimator, expected_failed_checks=expected, on_fail=None, on_skip=None)
    assert len(done) > 30
    failed = {check["check_name"] for check in done if check["status"] == "xfail"}
    assert failed == set(expected), "what no longer fails is no longer expected to"
    return [f"{check['check_name']}: {check['exception']!r}" for check in done if check["status"] == "failed"]


@pytest.mark.parametrize("estimator", ONLINE, ids=repr)
@pytest.mark.filterwarnings("ignore")
def test_checks_of_online_estimators(estimator):
    best = getattr(estimator, "walk", None) == "auto" and estimator.passes == "auto"
    assert checks(estimator, {} if best else WEIGHTED) == []


@pytest.mark.parametrize("estimator", BATCH, ids=repr)
@pytest.mark.filterwarnings("ignore")
def test_checks_of_batch_estimators(estimator):
    expected = {}
    if isinstance(estimator, geowalk.BoostClassifier) and estimator._is_plain():
        expected = CAPPED
    elif isinstance(estimator, geowalk.BoostRegressor) and estimator.row_share is None:
        expected = SAMPLE
    assert checks(estimator, expected) == []


class Squeezed(geowalk.Winnow):
    """Winnow on numbers that are not in [0, 1], as those of the checks: they are pushed into it."""

    _positive_only = False

    def __init__(self, margin=0.1, k=1, n=None, twin=False, passes=1):
        super().__init__(margin, k, n, twin, passes)

    def _parts(self, X):
        def squeeze(x):
            return np.where(np.isfinite(x), np.abs(x) / (1.0 + np.abs(x)), x)

        parts = super()._parts(X)
        return (*parts[:2], squeeze(parts[2]), parts[3]) if isinstance(parts, tuple) else squeeze(parts)


@pytest.mark.parametrize("twin", [False, True])
@pytest.mark.filterwarnings("ignore")
def test_checks_of_winnow(twin):
    assert checks(Squeezed(twin=twin), WEIGHTED) == []
    assert geowalk.Winnow().__sklearn_tags__().input_tags.positive_only


@pytest.mark.filterwarnings("ignore")
def test_checks_of_null_vectors():
    assert checks(geowalk.NullVector(), {}) == []


def data(classes=2):
    X = np.random.default_rng(0).standard_normal((300, 3))
    return X, np.digitize(X[:, 0] - X[:, 1], np.linspace(-0.7, 0.7, classes + 1)[1:-1])


@pytest.mark.parametrize("estimator", [*ONLINE, *BATCH], ids=repr)
def test_tools(estimator):
    X, y = data()
    score = cross_val_score(estimator, X, y, cv=3)
    assert (score > (0.8 if is_classifier(estimator) else 0.2)).all()
    assert is_classifier(estimator) != is_regressor(estimator)
    model = make_pipeline(StandardScaler(), clone(estimator)).fit(X, y)
    assert model.predict(X).shape == y.shape
    name, values = ("rounds", [1, 3]) if hasattr(estimator, "rounds") else ("seed", [0, 1])
    search = GridSearchCV(estimator, {name: values}, cv=3).fit(X, y)
    means = [cross_val_score(clone(estimator).set_params(**{name: value}), X, y, cv=3).mean() for value in values]
    assert search.cv_results_["mean_test_score"] == pytest.approx(means, abs=1e-12)
    assert search.best_params_[name] in values and search.predict(X).shape == y.shape


@pytest.mark.parametrize("classes", [2, 4])
@pytest.mark.parametrize("estimator", [*ONLINE, *BATCH, geowalk.NullVector()], ids=repr)
def test_pickles_and_copies(estimator, classes):
    X, y = data(classes)
    fitted = clone(estimator).fit(X, y)
    for again in (pickle.loads(pickle.dumps(fitted)), copy.deepcopy(fitted)):
        assert repr(again) == repr(fitted)
        if hasattr(fitted, "vector_"):
            assert (again.vector_ == fitted.vector_).all()
            continue
        assert (again.predict(X) == fitted.predict(X)).all()
        if hasattr(fitted, "partial_fit"):
            # It goes on where it stood, and leaves the other alone.
            before = fitted.predict(X)
            again.partial_fit(X, y)
            assert (fitted.predict(X) == before).all()
            more = clone(estimator).fit(X, y).partial_fit(X, y)
            assert (again.predict(X) == more.predict(X)).all()
    if hasattr(fitted, "predict"):
        code = "import sys, pickle; m, X = pickle.load(sys.stdin.buffer); sys.stdout.buffer.write(pickle.dumps(m.predict(X)))"
        done = subprocess.run([sys.executable, "-c", code], input=pickle.dumps((fitted, X)), capture_output=True, check=True)
        assert (pickle.loads(done.stdout) == fitted.predict(X)).all()


HEDGES = [
    (geowalk.Hedge(), lambda u: (u, None)),
    (geowalk.Hedge(walk="hedge", rate="doubling", share=0.01), lambda u: (u, None)),
    (geowalk.Hedge(walk="prod", rate=0.2), lambda u: (u, None)),
    (geowalk.Hedge(loss="log"), lambda u: (u, (u[:, 0] > 0.5).astype(float))),
    (geowalk.Hedge(loss="squared", rate=0.1, range=(0.0, 1.0)), lambda u: (u, u[:, 2])),
    (geowalk.Hedge(walk="reparam-eg", loss="squared", rate=0.1, range=(0.0, 1.0)), lambda u: (u, u[:, 2])),
    (geowalk.Hedge(loss="portfolio"), lambda u: (0.5 + u, None)),
]


@pytest.mark.parametrize("hedge, make", HEDGES, ids=[repr(hedge) for hedge, _ in HEDGES])
def test_hedge_goes_on_from_a_pickle_and_a_file(tmp_path, hedge, make):
    u = np.random.default_rng(0).uniform(size=(600, 4))
    u[7, 1] = 0.0  # a probability of 0: that expert may have lost infinitely much
    rows, y = make(u)
    parts = [(rows[k : k + 300], None if y is None else y[k : k + 300]) for k in (0, 300)]
    whole = clone(hedge).learn(rows, y)
    half = clone(hedge).learn(*parts[0])
    half.save(tmp_path / "hedge.gw")
    for again in (pickle.loads(pickle.dumps(half)), copy.deepcopy(half), geowalk.load(tmp_path / "hedge.gw")):
        assert repr(again) == repr(half) and (again.weights_ == half.weights_).all()
        again.learn(*parts[1])
        assert (again.weights_ == whole.weights_).all() and again.summary_ == whole.summary_
    assert clone(half).__dict__.get("_model") is None


def test_null_vectors_in_files(tmp_path):
    pandas = pytest.importorskip("pandas")
    X = np.random.default_rng(0).standard_normal((200, 3)) @ [[1.0, 1.0, 0.0], [0.0, 1.0, 1.0], [0.0, 0.0, 0.0]]
    for rows in (X, pandas.DataFrame(X, columns=["a", "b", "c"])):
        model = geowalk.NullVector().partial_fit(rows[:100])
        model.save(tmp_path / "vector.gw")
        again = geowalk.load(tmp_path / "vector.gw")
        assert repr(again) == repr(model)
        assert list(getattr(again, "feature_names_in_", [])) == ([] if rows is X else ["a", "b", "c"])
        assert (again.partial_fit(rows[100:]).vector_ == geowalk.NullVector().fit(rows).vector_).all()
    for arguments in (("predict", tmp_path / "vector.gw", DATA), ("train", DATA, "--resume", tmp_path / "vector.gw")):
        done = command(*arguments, check=False)
        assert done.returncode == 2 and "the model is one of track:sphere" in done.stderr
    assert "track:sphere" in command("show", tmp_path / "vector.gw").stdout
    assert json.loads(command("show", tmp_path / "vector.gw", "--json").stdout)["summary"]["rows"] == 100


def test_joblib():
    from joblib import Parallel, delayed

    X, y = data()
    models = [geowalk.OnlineClassifier(walk=walk) for walk in ("free", "gd")]
    found = Parallel(n_jobs=2)(delayed(model.fit)(X, y) for model in models)
    for model, again in zip(models, found):
        assert (again.coef_ == model.fit(X, y).coef_).all()


@pytest.mark.parametrize("estimator", [*ONLINE, *BATCH, geowalk.NullVector(), geowalk.Hedge()], ids=repr)
def test_unfitted(tmp_path, estimator):
    answers = ("predict", "predict_proba", "decision_function", "transform", "score", "report")
    asked = [lambda m, name=name: getattr(m, name)(*([tmp_path / "page.html"] if name == "report" else [[[0.5, 0.5]]] if name != "score" else [[[0.5, 0.5]], [1]]))
             for name in answers if hasattr(estimator, name)]
    for ask in (lambda m: m.certificate_, lambda m: m.certificate(), lambda m: m.summary_, lambda m: m.save(tmp_path / "model.gw"), *asked):
        with pytest.raises(NotFittedError) as caught:
            ask(clone(estimator))
        assert isinstance(caught.value, geowalk.NotFittedError)
    assert list(tmp_path.iterdir()) == []


def test_without_scikit_learn():
    code = """
import sys
for name in ("sklearn", "scipy", "pandas", "river", "matplotlib"):
    sys.modules[name] = None
import geowalk, pickle
X, y = [[0.0, 1.0], [1.0, 0.0], [0.0, 2.0], [2.0, 0.0]], ["a", "b", "a", "b"]
for model in (geowalk.OnlineClassifier(), geowalk.TreeClassifier(), geowalk.BoostClassifier(), geowalk.NaturalClassifier()):
    try:
        model.predict(X)
    except geowalk.NotFittedError:
        print(pickle.loads(pickle.dumps(model.fit(X, y))).predict(X).tolist() == y)
print(geowalk.OnlineRegressor(passes=20).fit(X, [0.0, 1.0, 0.0, 2.0]).score(X, [0.0, 1.0, 0.0, 2.0]) > 0)
"""
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=False)
    assert done.stdout.split() == ["True"] * 5, done.stderr


def test_certificates():
    X, y = data()
    model = geowalk.OnlineClassifier(passes=1).fit(X, y)
    certificate = model.certificate_
    assert certificate.status == "valid" and certificate.bound > 0 and certificate.comparator_loss is None
    assert certificate.loss == pytest.approx(300 * model.summary_["loss"])
    assert dict(certificate)["bound"] == certificate["bound"] == certificate.bound
    with pytest.raises(AttributeError, match="a certificate has no 'bond'"):
        certificate.bond
    for again in (pickle.loads(pickle.dumps(certificate)), copy.copy(certificate), copy.deepcopy(certificate)):
        assert dict(again) == dict(certificate) and again.bound == certificate.bound and repr(again) == repr(certificate)
    assert geowalk.TreeClassifier().fit(X, y).certificate_.status == "none"
    assert geowalk.BoostClassifier().fit(X, y).certificate_.status in ("valid", "void")
    hedge = geowalk.Hedge().learn(np.random.default_rng(0).uniform(size=(100, 4)))
    assert hedge.certificate_.regret <= hedge.certificate_.bound
    assert hedge.certificate(comparator=2).comparators == "expert 2"


def test_winnow_has_its_domain():
    random = np.random.default_rng(0)
    X = random.integers(0, 2, (400, 60)).astype(float)
    y = X[:, 7] > 0
    for model in (geowalk.Winnow(), geowalk.Winnow(twin=True)):
        assert model.fit(X, y).score(X, y) > 0.95
        assert not hasattr(model, "predict_proba")
        with pytest.raises(geowalk.DomainError, match="^row 2:") as caught:
            bad = X.copy()
            bad[2, 5] = 1.5
            model.fit(bad, y)
        assert (caught.value.row, caught.value.value) == (2, 1.5)


@pytest.mark.parametrize("family", ["gaussian-shared", "gaussian-diagonal", "gaussian", "poisson", "bernoulli"])
def test_natural_gradient_passes_over_rows_without_weight(family):
    rows = np.random.default_rng(4).integers(0, 2, (60, 3)).astype(float)
    y = np.arange(60) % 3
    weights = np.where(np.arange(60) < 4, 0.0, 1.0)
    proba = geowalk.NaturalClassifier(family=family).fit(rows, y, sample_weight=weights).predict_proba(rows)
    assert np.isfinite(proba).all()
