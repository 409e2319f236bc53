"""Tables of all kinds, and what is wrong with some."""

import geowalk
import numpy as np
import pytest
from conftest import ROOT, command
from geowalk import _validate as validate

X = np.random.default_rng(0).standard_normal((200, 3))
Y = np.where(X[:, 0] > X[:, 1], "up", "down")
NAMES = ["a", "b", "c"]


def tables():
    pandas, polars, pyarrow = (pytest.importorskip(name) for name in ("pandas", "polars", "pyarrow"))
    columns = dict(zip(NAMES, X.T))
    return [pandas.DataFrame(columns), polars.DataFrame(columns), pyarrow.table(columns)]


def reordered(table):
    names = ["c", "a", "b"]
    return table.select(names) if hasattr(table, "column_names") else table[names]


@pytest.mark.parametrize("new", [geowalk.OnlineClassifier, geowalk.BoostClassifier, geowalk.TreeClassifier, geowalk.NaturalClassifier])
def test_tables_with_names(new):
    expected = new().fit(X, Y).predict_proba(X)
    for table in tables():
        model = new().fit(table, Y)
        assert list(model.feature_names_in_) == NAMES and model.n_features_in_ == 3
        assert (model.predict_proba(table) == expected).all()
        assert (model.predict_proba(reordered(table)) == expected).all()
        with pytest.raises(ValueError, match="now missing:\n- b\n"):
            model.predict(table.select(["a", "c"]) if hasattr(table, "column_names") else table[["a", "c"]])


def test_columns_of_names_are_features_by_value(tmp_path):
    pandas = pytest.importorskip("pandas")
    random = np.random.default_rng(3)
    frame = pandas.DataFrame({"size": random.standard_normal(300), "color": random.choice(["red", "blue", "green"], 300)})
    frame.loc[5, "color"] = None
    y = np.where((frame["color"] == "red") | (frame["size"] > 1), 1, 0)
    frame.assign(y=y).to_csv(tmp_path / "data.csv", index=False)
    command("train", tmp_path / "data.csv", "--model", tmp_path / "cli.gw")
    model, other = geowalk.OnlineClassifier(passes=1).fit(frame, y), geowalk.load(tmp_path / "cli.gw")
    assert model.score(frame, y) > 0.9
    assert (model.decision_function(frame) == other.decision_function(frame)).all()
    assert (model.predict_proba(frame) == other.predict_proba(frame)).all()
    for what, new in (("boost", geowalk.BoostClassifier()), ("tree", geowalk.TreeClassifier())):
        command(what, tmp_path / "data.csv", "--model", tmp_path / "cli.gw")
        new.fit(frame, y).save(tmp_path / "fit.gw")
        other = geowalk.load(tmp_path / "cli.gw")
        assert (new.predict_proba(frame) == other.predict_proba(frame)).all()
        assert command("show", tmp_path / "fit.gw", "--format", "json").stdout == command("show", tmp_path / "cli.gw", "--format", "json").stdout
        later = frame.assign(color="violet")
        assert (new.predict(later) == other.predict(later)).all()


def test_missing_numbers_in_batch_learners():
    gaps = X.copy()
    gaps[::7, 0] = np.nan
    for new in (geowalk.BoostClassifier(), geowalk.TreeClassifier()):
        assert new.fit(gaps, Y).score(gaps, Y) > 0.8
        with pytest.raises(geowalk.DataError, match=r"row 3, column 1") as caught:
            bad = gaps.copy()
            bad[3, 1] = np.inf
            new.predict(bad)
        assert (caught.value.row, caught.value.column, caught.value.value) == (3, 1, np.inf)


@pytest.mark.parametrize("new", [geowalk.OnlineClassifier, geowalk.OnlineRegressor])
@pytest.mark.parametrize("value", [np.nan, np.inf])
def test_values_that_are_not_finite(new, value):
    sparse = pytest.importorskip("scipy.sparse")
    bad = np.where(np.abs(X) > 1, X, 0.0)
    bad[130, 2] = value
    y = np.arange(200) % 2
    for table in (bad, bad.astype(np.float32), np.asfortranarray(bad), sparse.csr_matrix(bad)):
        with pytest.raises(geowalk.DataError, match="NaN|infinity") as caught:
            new(missing="error").fit(table, y)
        assert (caught.value.row, caught.value.column) == (130, 2)
        model = new(missing="error").fit(X, y)
        before = model.summary_
        with pytest.raises(geowalk.DataError):
            model.partial_fit(table, y)
        assert model.summary_ == before, "nothing was learned from half of it"


def test_parameters_that_are_wrong():
    for parameters, message in (
        ({"walk": "fre"}, "unknown walk 'fre'.*free"),
        ({"loss": "logistik"}, "logistic"),
        ({"rate": "fast"}, "rate"),
        ({"walk": "free", "loss": "squared"}, "free bets against it; use the walk adagrad"),
    ):
        with pytest.raises(geowalk.ConfigError, match=message):
            geowalk.OnlineClassifier(**parameters).fit(X, Y)
    with pytest.raises(geowalk.DomainError, match="walk 'gd' cannot go on") as caught:
        geowalk.OnlineRegressor(walk="gd", rate=1e9).fit(X * 1e100, X[:, 0])
    assert caught.value.row is not None
    with pytest.raises(geowalk.ConfigError, match="weak learner 'ruls'"):
        geowalk.BoostClassifier(weak="ruls").fit(X, Y)
    with pytest.raises(AttributeError, match="estimates no probabilities"):
        geowalk.OnlineClassifier(loss="hinge").fit(X, Y).predict_proba(X)


def test_labels_that_are_wrong():
    model = geowalk.OnlineClassifier()
    with pytest.raises(ValueError, match=r"y\[0\] = 0.5: classes are whole numbers"):
        model.fit(X, np.full(200, 0.5))
    with pytest.raises(ValueError, match="all 200 rows have the class 1"):
        model.fit(X, np.ones(200))
    with pytest.raises(ValueError, match=r"inconsistent numbers of samples: \[200, 199\]"):
        model.fit(X, Y[:-1])
    model.partial_fit(X, Y, classes=["up", "down"])
    with pytest.raises(ValueError, match=r"\['left'\].*not among"):
        model.partial_fit(X[:1], ["left"])
    with pytest.raises(ValueError, match="are not those of the first call"):
        model.partial_fit(X, Y, classes=["up", "down", "left"])


def test_files_that_cannot_be_used(tmp_path):
    with pytest.raises(FileNotFoundError):
        geowalk.read(tmp_path / "nothing.csv")
    with pytest.raises(FileNotFoundError):
        geowalk.load(tmp_path / "nothing.gw")
    (tmp_path / "bad.csv").write_text("a,y\n1,1\nx,0\n" * 300)
    with pytest.raises(geowalk.DataError, match="not a geowalk model"):
        geowalk.load(tmp_path / "bad.csv")
    (tmp_path / "worse.csv").write_text("a,y\n" + "1,1\n2,0\n" * 600 + "x,0\n")
    with pytest.raises(geowalk.DataError, match=r"worse.csv:1202:1") as caught:
        geowalk.read(tmp_path / "worse.csv")
    assert caught.value.line == 1202
    with pytest.raises(geowalk.DataError, match="columns"):
        geowalk.read(tmp_path / "worse.csv", label="b")
    with pytest.raises(OSError):
        geowalk.OnlineClassifier().fit(X, Y).save(tmp_path / "no" / "folder" / "model.gw")


def test_reading_is_that_of_the_command():
    data = geowalk.read(ROOT / "data" / "breast-cancer.csv")
    assert data.X.shape == (569, 30) and len(data.names) == 30 and data.weight is None
    model = geowalk.OnlineClassifier(passes=1).fit(data.X, data.y)
    assert model.summary_["metrics"]["accuracy"] == pytest.approx(0.875220, abs=1e-6)


def test_reading_takes_the_options_of_the_command(tmp_path):
    path = tmp_path / "export.csv"
    path.write_text("Sales of 2024\nb;c;y\n1.234,5;NA;0\n2,5;1,0;1\n3,5;absent;0\n", encoding="utf-16")
    data = geowalk.read(path, missing=["absent"], decimal=",", thousands=".", separator=";", skip_lines=1)
    assert data.names == ["b", "c", "c=missing"]
    assert data.X.toarray().tolist() == [[1234.5, 0, 1], [2.5, 1, 0], [3.5, 0, 1]]
    with pytest.raises(ValueError, match="thousands=',' is not possible"):
        geowalk.read(path, decimal=",", thousands=",")


def test_the_command_comes_along():
    assert "free:euclidean" in command("list", "walks").stdout
    assert command("train", "nothing.csv", check=False).returncode == 2
    assert command("--help").stdout.startswith("The command `geowalk`")
    assert command("trian", check=False).returncode == 2
    assert [walk["name"] for walk in geowalk.walks()][0] == "free:euclidean"


@pytest.mark.parametrize("form", ["arrow", "arrow-in-pieces", "polars"])
def test_columns_are_read_where_they_lie(form):
    names = ["a", "b", "c"]
    X = np.asfortranarray(np.random.default_rng(0).standard_normal((3000, 3)))
    y = X @ [1.0, -2.0, 0.5]
    if form == "polars":
        table = pytest.importorskip("polars").DataFrame(dict(zip(names, X.T)))
    else:
        pa = pytest.importorskip("pyarrow")
        table = pa.table(dict(zip(names, X.T)))
        if form == "arrow-in-pieces":
            table = pa.concat_tables([table.slice(0, 1000), table.slice(1000)])
    parts = validate.parts(table)
    assert isinstance(parts, validate.Columns) and validate.shape(parts) == (3000, 3)
    if form == "arrow":
        assert all(np.shares_memory(part, X) for part in parts)
    model, plain = geowalk.OnlineRegressor().fit(table, y), geowalk.OnlineRegressor().fit(X, y)
    assert (model.coef_ == plain.coef_).all() and (model.predict(table) == plain.predict(X)).all()
    assert geowalk.NullVector().fit(table).vector_.tolist() == geowalk.NullVector().fit(X).vector_.tolist()
    bad = X.copy()
    bad[7, 1] = bad[5, 2] = np.nan
    table = pytest.importorskip("polars").DataFrame(dict(zip(names, bad.T)))
    with pytest.raises(geowalk.DataError, match=r"contains NaN \(row 5, column 'c'\)"):
        geowalk.OnlineRegressor(missing="error").fit(table, y)
