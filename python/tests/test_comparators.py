"""Certificates against a comparator of one's own and against the best: the numbers of the command line."""

import json

import geowalk
import numpy as np
import pytest
from conftest import ROOT, command

CANCER = ROOT / "data" / "breast-cancer.csv"
NUMBERS = ("status", "bound", "loss", "comparator_loss", "regret", "gap", "first_order", "theorem", "theorems")


def written(path, names, weights, classes=None):
    """The file of a comparator, as the command line reads it."""
    lines = []
    for at, row in enumerate(np.atleast_2d(weights)):
        head = "" if classes is None else f"{classes[at]},"
        lines += [f"{head}{name},{weight!r}" for name, weight in zip(["(intercept)", *names], row.tolist())]
    path.write_text("\n".join(lines))
    return path


def asked(*arguments):
    return json.loads(command("certify", *arguments, "--json").stdout)


def same(certificate, expected):
    for name in NUMBERS:
        assert certificate[name] == expected[name], name
    return True


def wine():
    """Three classes, some of which come late."""
    random = np.random.default_rng(1)
    X = random.standard_normal((300, 4)).round(3)
    y = np.array(["c", "a", "b"])[np.digitize(X[:, 0] + X[:, 1], [-0.4, 0.7])]
    return X, y, ["p", "q", "r", "s"]


def table(path, X, y, names):
    rows = [",".join([*map(repr, row), str(label)]) for row, label in zip(X.tolist(), y.tolist())]
    path.write_text("\n".join([",".join([*names, "class"]), *rows]))
    return path


@pytest.mark.parametrize("walk", ["free", "gd", "natural:gaussian-shared", "adagrad"])
def test_two_classes_have_the_numbers_of_the_command(tmp_path, walk):
    X, y, _, names = geowalk.read(CANCER)
    model = geowalk.OnlineClassifier(walk=walk, passes=1).fit(geowalk_frame(X, names), y)
    model.save(tmp_path / "model.gw")
    u = np.random.default_rng(0).standard_normal(X.shape[1] + 1).round(4) * 1e-3
    file = written(tmp_path / "u.csv", names, u)
    assert same(model.certificate(u), asked(tmp_path / "model.gw", "--comparator", file))
    assert model.certificate(u).comparator_loss is None
    expected = asked(tmp_path / "model.gw", "--comparator", file, "--data", CANCER)
    by_name = dict(zip(["(intercept)", *names], u.tolist()))
    for comparator in (u, u.tolist(), by_name):
        known = model.certificate(comparator, geowalk_frame(X, names), y)
        assert same(known, expected) and known.regret == known.loss - known.comparator_loss
        assert known.status == "void" or known.regret <= known.bound
    best = model.certificate("best", geowalk_frame(X, names), y)
    assert same(best, asked(tmp_path / "model.gw", "--comparator", "best", "--data", CANCER))
    assert best.comparator_loss <= known.comparator_loss and "lose less" in best.gap


def geowalk_frame(X, names):
    return pytest.importorskip("pandas").DataFrame(X, columns=names)


@pytest.mark.parametrize("loss", ["logistic", "hinge"])
def test_several_classes_have_the_numbers_of_the_command(tmp_path, loss):
    X, y, names = wine()
    data = table(tmp_path / "data.csv", X, y, names)
    command("train", data, "--loss", loss, "--model", tmp_path / "model.gw")
    one = geowalk.OnlineClassifier(loss=loss)
    for row, label in zip(X.tolist(), y.tolist()):
        one.learn_one(dict(zip(names, row)), label)
    u = np.random.default_rng(0).standard_normal((3, 5)).round(4)
    file = written(tmp_path / "u.csv", names, u, ["a", "b", "c"])
    expected = asked(tmp_path / "model.gw", "--comparator", file, "--data", data)
    dictionaries = [dict(zip(names, row)) for row in X.tolist()]
    loaded = geowalk.load(tmp_path / "model.gw")
    for model, rows in ((geowalk.OnlineClassifier(loss=loss, passes=1).fit(X, y), X), (one, dictionaries), (loaded, geowalk_frame(X, names))):
        assert model.classes_.tolist() == ["a", "b", "c"]
        known = model.certificate(u, rows, y)
        assert same(known, expected), model
        assert known.regret <= known.bound
        best = model.certificate("best", rows, y)
        assert best.comparator_loss <= known.comparator_loss and best.regret <= best.bound
        # Its own weights, by the rows of `coef_`, in the order of `classes_`.
        own = model.certificate(model, rows, y)
        scores = X @ model.coef_.T + model.intercept_
        if loss == "logistic":
            lost = np.log(np.exp(scores).sum(1)) - scores[np.arange(300), np.searchsorted(model.classes_, y)]
        else:
            sign = np.where(np.arange(3) == np.searchsorted(model.classes_, y)[:, None], 1.0, -1.0)
            lost = np.maximum(0.0, 1.0 - sign * scores)
        assert own.comparator_loss == pytest.approx(lost.sum(), rel=1e-9)
    by_name = {label: dict(zip(["(intercept)", *names], row)) for label, row in zip("abc", u.tolist())}
    assert same(one.certificate(by_name, dictionaries, y), expected)


def test_numbers_weights_passes_and_pieces(tmp_path):
    random = np.random.default_rng(3)
    X = random.standard_normal((400, 3))
    y, w = X @ [1.0, -2.0, 0.5] + 0.1 * random.standard_normal(400), random.integers(1, 4, 400).astype(float)
    for walk, rate in (("auto", "auto"), ("gd", 0.01)):
        model = geowalk.OnlineRegressor(walk=walk, rate=rate, passes=3).fit(X, y, sample_weight=w)
        u = [0.0, 1.0, -2.0, 0.5]
        known = model.certificate(u, X, y, sample_weight=w)
        assert known.comparator_loss == pytest.approx(3 * (w * (X @ u[1:] - y) ** 2).sum(), rel=1e-12)
        best = model.certificate("best", X, y, sample_weight=w)
        fitted = np.linalg.lstsq(np.column_stack([np.ones(400), X]) * np.sqrt(w)[:, None], y * np.sqrt(w), rcond=None)[0]
        exact = 3 * (w * (np.column_stack([np.ones(400), X]) @ fitted - y) ** 2).sum()
        assert best.comparator_loss == pytest.approx(exact, rel=1e-9)
        assert known.regret <= best.regret + 1e-9 <= best.bound + 1e-9
        with pytest.raises(geowalk.DataError, match="not the data of the model"):
            model.certificate(u, X, y)
    pieces = geowalk.OnlineRegressor()
    for k in range(0, 400, 70):
        pieces.partial_fit(X[k : k + 70], y[k : k + 70])
    assert pieces.certificate(u, X, y).regret == geowalk.OnlineRegressor(passes=1).fit(X, y).certificate(u, X, y).regret


def test_sparse_rows_and_other_estimators():
    sparse = pytest.importorskip("scipy.sparse")
    linear = pytest.importorskip("sklearn.linear_model")
    X, y, _ = wine()
    X[X < 0] = 0.0
    model, dense = geowalk.OnlineClassifier().fit(sparse.csr_matrix(X), y), geowalk.OnlineClassifier().fit(X, y)
    other = linear.LogisticRegression().fit(X, y)
    known = model.certificate(other, sparse.csr_matrix(X), y)
    assert known.regret == dense.certificate(other, X, y).regret <= known.bound
    assert known.comparator_loss == pytest.approx(-np.log(other.predict_proba(X)[np.arange(300), np.searchsorted(other.classes_, y)]).sum())
    with pytest.raises(ValueError, match="the comparator has the classes"):
        model.certificate(linear.LogisticRegression().fit(X, np.where(y == "a", "z", y)))


def test_what_cannot_be_asked():
    X, y, _ = wine()
    model = geowalk.OnlineClassifier().fit(X, y)
    for arguments, message in [
        (("worst",), "'best'"),
        (("best",), "give them as X and y"),
        ((np.zeros((3, 5)), X), "go together"),
        ((None, X, y), "give weights"),
        ((np.zeros(5),), r"weights of shape \(3, 5\)"),
        ((np.full((3, 5), np.nan),), "contains NaN"),
        (({"a": {"nobody": 1.0}},), "no feature 'nobody'"),
        (({"z": {}},), "'z'"),
        ((np.zeros((3, 5)), X, np.where(y == "a", "new", y)), "does not have"),
        ((np.zeros((3, 5)), X[::-1], y[::-1]), "not the data of the model"),
        ((np.zeros((3, 5)), X[:-1], y[:-1]), "299"),
    ]:
        with pytest.raises(ValueError, match=message):
            model.certificate(*arguments)
    with pytest.raises(geowalk.NotFittedError):
        geowalk.OnlineClassifier().certificate("best", X, y)
    for batch in (geowalk.BoostClassifier(rounds=2), geowalk.TreeClassifier()):
        with pytest.raises(ValueError, match="no comparator"):
            batch.fit(X, y).certificate("best", X, y)


def test_null_vectors():
    random = np.random.default_rng(0)
    X = random.standard_normal((500, 3)) @ [[1.0, 0.2, 0.0], [0.0, 1.0, 0.5], [0.0, 0.0, 0.0]] + 0.01 * random.standard_normal((500, 3))
    model = geowalk.NullVector(rate="inv(0.5, 10)").fit(X)
    best = model.certificate("best", X)
    unit = X / np.linalg.norm(X, axis=1, keepdims=True)
    assert best.comparator_loss == pytest.approx(np.linalg.eigvalsh(unit.T @ unit)[0], rel=1e-9)
    known = model.certificate([1.0, 0.0, 0.0], X)
    assert known.comparator_loss == pytest.approx((unit[:, 0] ** 2).sum(), rel=1e-12)
    assert known.regret < best.regret and best.status == model.certificate_.status
    with pytest.raises(geowalk.DomainError):
        model.certificate([1.0, 1.0, 0.0])
    with pytest.raises(ValueError, match=r"shape \(3,\)"):
        model.certificate([1.0])
    with pytest.raises(geowalk.DataError, match="it has learned from 500 rows, here are 499"):
        model.certificate("best", X[1:])


def test_hedge():
    losses = np.random.default_rng(0).uniform(size=(100, 4))
    hedge = geowalk.Hedge().learn(losses)
    assert hedge.certificate("best").regret == hedge.certificate_.regret
    with pytest.raises(ValueError, match="the number of an expert"):
        hedge.certificate([1.0, 0.0, 0.0, 0.0])
