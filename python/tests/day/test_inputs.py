"""The same numbers in whatever memory they lie: every estimator learns and predicts the same to the bit."""

import geowalk
import numpy as np
import pytest

sklearn = pytest.importorskip("sklearn")

import pandas  # noqa: E402
from sklearn.base import clone, is_classifier  # noqa: E402
from sklearn.model_selection import GridSearchCV, cross_validate  # noqa: E402
from sklearn.pipeline import make_pipeline  # noqa: E402
from sklearn.preprocessing import StandardScaler  # noqa: E402

ESTIMATORS = [
    geowalk.OnlineClassifier(),
    geowalk.OnlineClassifier(passes=1),
    geowalk.OnlineRegressor(),
    geowalk.OnlineRegressor(walk="gd", passes=2),
    geowalk.NaturalClassifier(passes=1),
    geowalk.BoostClassifier(rounds=5),
    geowalk.BoostClassifier(weak="trees", rounds=5),
    geowalk.BoostRegressor(rounds=5),
    geowalk.TreeClassifier(),
    geowalk.TreeRegressor(),
]


@pytest.fixture(params=ESTIMATORS, ids=repr)
def estimator(request):
    return clone(request.param)


def table(estimator, dtype=np.float64):
    """Small whole numbers, which every type of number holds."""
    random = np.random.default_rng(3)
    X = random.integers(-9, 10, (150, 4)).astype(dtype)
    y = X[:, 0].astype(np.float64) - X[:, 1] + random.integers(-3, 4, 150)
    return X, (np.where(y > 0, "up", "down") if is_classifier(estimator) else y)


def answers(estimator, X, y):
    fitted = estimator.fit(X, y)
    found = [fitted.predict(X)]
    if hasattr(fitted, "predict_proba"):
        found.append(fitted.predict_proba(X))
    return found


def same(a, b):
    return all((one == other).all() and one.dtype == other.dtype for one, other in zip(a, b, strict=True))


def read_only(X):
    X = X.copy()
    X.flags.writeable = False
    return X


def unaligned(X):
    raw = np.zeros(X.nbytes + 1, dtype=np.uint8)
    view = raw[1:].view()
    view = np.frombuffer(view.data, dtype=np.float64, count=X.size).reshape(X.shape)
    view[...] = X
    assert not view.flags.aligned
    return view


KINDS = {
    "read-only": read_only,
    "Fortran order": np.asfortranarray,
    "every second row of a larger array": lambda X: np.repeat(X, 2, axis=0)[::2],
    "columns turned round": lambda X: X[:, ::-1].copy()[:, ::-1],
    "float32": lambda X: X.astype(np.float32),
    "float16": lambda X: X.astype(np.float16),
    "int8": lambda X: X.astype(np.int8),
    "int64": lambda X: X.astype(np.int64),
    "the other order of bytes": lambda X: X.astype(X.dtype.newbyteorder()),
    "unaligned": unaligned,
    "objects": lambda X: X.astype(object),
    "lists": lambda X: X.tolist(),
    "DataFrame": lambda X: pandas.DataFrame(X),
    "read-only DataFrame": lambda X: pandas.DataFrame(read_only(X)),
    "DataFrame of float32": lambda X: pandas.DataFrame(X.astype(np.float32)),
    "DataFrame of Int8": lambda X: pandas.DataFrame(X.astype(np.int8)).astype("Int8"),
}


@pytest.mark.parametrize("kind", KINDS)
def test_memory_does_not_matter(estimator, kind):
    X, y = table(estimator)
    other = KINDS[kind](X)
    expected = answers(estimator, X, y)
    assert same(answers(clone(estimator), other, y), expected)
    assert same([estimator.predict(other)], expected[:1])


def test_memory_maps_are_read(estimator, tmp_path):
    X, y = table(estimator)
    np.save(tmp_path / "x.npy", X)
    np.save(tmp_path / "y.npy", y)
    mapped = np.load(tmp_path / "x.npy", mmap_mode="r")
    expected = answers(estimator, X, y)
    assert same(answers(clone(estimator), mapped, np.load(tmp_path / "y.npy", mmap_mode="r")), expected)


def test_input_is_left_as_it_was(estimator):
    X, y = table(estimator)
    before = X.copy(), y.copy()
    answers(estimator, X, y)
    assert (X == before[0]).all() and (y == before[1]).all()


def test_names_come_from_a_transformer_of_pandas(estimator):
    X, y = table(estimator)
    frame = pandas.DataFrame(X, columns=["income", "age", "visits", "zip code"])
    pipeline = make_pipeline(StandardScaler(), estimator).set_output(transform="pandas").fit(frame, y)
    assert list(pipeline[-1].feature_names_in_) == list(frame.columns)
    plain = make_pipeline(StandardScaler(), clone(estimator)).fit(X, y)
    found, expected = pipeline.predict(frame), plain.predict(X)
    # The scaler adds up the columns of a frame in another order.
    assert (found == expected).all() if is_classifier(estimator) else np.allclose(found, expected, rtol=1e-9)


def test_weights_are_routed(estimator):
    X, y = table(estimator)
    weights = np.random.default_rng(1).integers(1, 5, len(X)).astype(float)
    with sklearn.config_context(enable_metadata_routing=True):
        routed = clone(estimator).set_fit_request(sample_weight=True).set_score_request(sample_weight=True)
        scaler = StandardScaler().set_fit_request(sample_weight=False)
        pipeline = make_pipeline(scaler, routed).fit(X, y, sample_weight=weights)
        scaled = StandardScaler().fit_transform(X)
        direct = clone(estimator).fit(scaled, y, sample_weight=weights)
        assert same([pipeline.predict(X)], [direct.predict(scaled)])
        folds = cross_validate(routed, X, y, params={"sample_weight": weights}, cv=3, error_score="raise")
        assert len(folds["test_score"]) == 3
        search = GridSearchCV(routed, {}, cv=3, error_score="raise").fit(X, y, sample_weight=weights)
        assert same([search.predict(X)], [clone(estimator).fit(X, y, sample_weight=weights).predict(X)])
        with pytest.raises(Exception, match="sample_weight"):
            cross_validate(clone(estimator), X, y, params={"sample_weight": weights}, cv=3, error_score="raise")
