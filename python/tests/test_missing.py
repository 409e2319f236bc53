"""Values that are missing: refused or taken as the command line takes them, in every kind of table alike."""

import geowalk
import numpy as np
import pytest
from conftest import command, same_bits

ONLINE = [geowalk.OnlineClassifier, geowalk.OnlineRegressor, geowalk.NaturalClassifier]
BATCH = [geowalk.BoostClassifier, geowalk.TreeClassifier]


def gappy(names=True, rows=60):
    """Two columns of numbers, one with gaps, a column of names if wanted, and labels."""
    pandas = pytest.importorskip("pandas")
    random = np.random.default_rng(5)
    table = pandas.DataFrame({"a": random.standard_normal(rows), "b": random.integers(0, 3, rows).astype(float)})
    y = (table["a"] + table["b"] > 1).astype(int).to_numpy()
    table.loc[[3, 17, 40], "b"] = np.nan
    if names:
        table["color"] = random.choice(["red", "blue"], rows)
    return table, y


def kinds(table):
    """The same table as everybody holds it."""
    polars, pyarrow = pytest.importorskip("polars"), pytest.importorskip("pyarrow")
    yield "pandas", table
    yield "nullable", table.convert_dtypes()
    yield "arrow", pyarrow.Table.from_pandas(table)
    yield "polars", polars.from_pandas(table)
    yield "polars, NaN", polars.from_pandas(table).with_columns(polars.col("b").fill_null(float("nan")))
    yield "arrow, NaN", polars.from_pandas(table).with_columns(polars.col("b").fill_null(float("nan"))).to_arrow()


@pytest.mark.parametrize("names", [False, True])
@pytest.mark.parametrize("new", ONLINE)
def test_a_missing_number_is_refused_unless_said(new, names):
    table, y = gappy(names)
    for kind, own in kinds(table):
        with pytest.raises(geowalk.DataError, match=r"contains NaN \(row 3, column 'b'\).*missing='indicator'") as caught:
            new(missing="error").fit(own, y)
        assert (caught.value.row, caught.value.column) == (3, 1), kind
        assert np.isnan(caught.value.value)
        # Nothing was learned from the rows before it.
        model = new(missing="error").fit(table.dropna(), y[table["b"].notna()])
        before = model.summary_
        with pytest.raises(geowalk.DataError):
            model.partial_fit(own, y)
        assert model.summary_ == before
        with pytest.raises(geowalk.DataError):
            model.predict(own)


@pytest.mark.parametrize("average", [False, True])
@pytest.mark.parametrize("names", [False, True])
def test_missing_numbers_leave_the_bits_of_the_file(tmp_path, names, average):
    table, y = gappy(names)
    table.assign(**{"class": y}).to_csv(tmp_path / "data.csv", index=False)
    command("train", tmp_path / "data.csv", "--model", tmp_path / "cli.gw", *(["--average"] if average else []))
    for kind, own in kinds(table):
        model = geowalk.OnlineClassifier(passes=1, average=average).fit(own, y)
        model.save(tmp_path / "fit.gw")
        assert same_bits(tmp_path / "cli.gw", tmp_path / "fit.gw"), kind
    for size in (1, 7, 50):
        pieces = geowalk.OnlineClassifier(average=average)
        for at in range(0, len(y), size):
            pieces.partial_fit(table.iloc[at : at + size], y[at : at + size])
        pieces.save(tmp_path / "pieces.gw")
        assert same_bits(tmp_path / "cli.gw", tmp_path / "pieces.gw"), size
    # A file's model takes gaps as the command does.
    loaded = geowalk.load(tmp_path / "cli.gw")
    assert loaded.missing == "indicator"
    assert (loaded.predict_proba(table) == model.predict_proba(table)).all()


def test_a_column_that_is_empty_at_first(tmp_path):
    """In a file its type is told by its first value, and its place among the features comes then, if that is after the first thousand rows."""
    for empty in (20, 1100):
        table, y = gappy(names=False, rows=1500)
        table.loc[: empty - 1, "a"] = np.nan
        table.assign(**{"class": y}).to_csv(tmp_path / "data.csv", index=False)
        command("train", tmp_path / "data.csv", "--model", tmp_path / "cli.gw")
        fitted = geowalk.OnlineClassifier(passes=1).fit(table, y)
        fitted.save(tmp_path / "fit.gw")
        assert same_bits(tmp_path / "cli.gw", tmp_path / "fit.gw")
        # In pieces the place may differ, but of a walk that starts at 0 no prediction does.
        pieces = geowalk.OnlineClassifier()
        for at in range(0, len(y), 10):
            pieces.partial_fit(table.iloc[at : at + 10], y[at : at + 10])
        assert (pieces.decision_function(table) == fitted.decision_function(table)).all()
        assert sorted(pieces._model.names()) == sorted(fitted._model.names())


@pytest.mark.parametrize("first", [30, 1200, None])
def test_zeros_of_a_table_of_numbers(tmp_path, first):
    """They stay in its rows until a number is missing, or are left out from the start if one is among the first thousand rows: as in a file."""
    table, y = gappy(names=False, rows=1500)
    table["b"] = np.arange(len(y)) % 3 // 2 * 1.5
    if first is not None:
        table.loc[first, "a"] = np.nan
    y = np.digitize(table["a"].fillna(0.0) + table["b"], [-0.5, 0.5, 1.0])
    table.assign(**{"class": y}).to_csv(tmp_path / "data.csv", index=False)
    for settings, flags in (({}, []), ({"average": True}, ["--average"]), ({"walk": "adagrad"}, ["--walk", "adagrad"])):
        command("train", tmp_path / "data.csv", "--task", "multiclass", "--model", tmp_path / "cli.gw", *flags)
        geowalk.OnlineClassifier(passes=1, **settings).fit(table, y).save(tmp_path / "fit.gw")
        assert same_bits(tmp_path / "cli.gw", tmp_path / "fit.gw")


def test_the_columns_of_an_array_are_numbered(tmp_path):
    table, y = gappy(names=False)
    table.assign(y=y).to_csv(tmp_path / "data.csv", index=False, header=False)
    command("train", tmp_path / "data.csv", "--no-header", "--label", "3", "--model", tmp_path / "cli.gw")
    X = table.to_numpy()
    for own in (X, np.asfortranarray(X), X.tolist()):
        model = geowalk.OnlineClassifier(passes=1).fit(own, y)
        assert (model.decision_function(own) == geowalk.load(tmp_path / "cli.gw").decision_function(own)).all()
    assert model.n_features_in_ == 2 and not hasattr(model, "feature_names_in_")
    with pytest.raises(ValueError, match="X has 3 features, but OnlineClassifier is expecting 2"):
        model.predict(np.zeros((2, 3)))
    again = geowalk.OnlineClassifier().partial_fit(X[:10], y[:10]).partial_fit(X[10:], y[10:])
    assert (again.decision_function(X) == model.decision_function(X)).all()
    # A model that never met a gap takes one when told to, as the command's prediction does.
    whole = geowalk.OnlineClassifier(passes=1).fit(np.nan_to_num(X), y)
    assert whole.decision_function([[1.0, np.nan]]) == whole.decision_function([[1.0, 0.0]])


def test_what_stays_wrong():
    table, y = gappy()
    bad = table.fillna(0.0)
    bad.loc[9, "a"] = np.inf
    model = geowalk.OnlineClassifier().fit(table, y)
    before = model.summary_
    with pytest.raises(geowalk.DataError, match=r"infinity \(row 9, column 'a'\)"):
        model.partial_fit(bad, y)
    assert model.summary_ == before
    with pytest.raises(geowalk.ConfigError, match="missing = 'zero'; known: error, indicator"):
        geowalk.OnlineClassifier(missing="zero").fit(table, y)
    with pytest.raises(geowalk.DataError, match="two columns have the name 'a'"):
        twice = table.copy()
        twice.columns = ["a", "a", "color"]
        geowalk.OnlineClassifier().fit(twice, y)
    sparse = pytest.importorskip("scipy.sparse")
    with pytest.raises(geowalk.DataError, match="NaN"):
        geowalk.OnlineClassifier().fit(sparse.csr_matrix([[np.nan], [1.0]]), [0, 1])


@pytest.mark.parametrize("new", BATCH)
def test_boosting_and_trees_take_every_table_alike(new):
    """Also those of pandas' own types, whose NA is neither true nor false."""
    pandas = pytest.importorskip("pandas")
    table, y = gappy()
    table.loc[5, "color"] = None
    table["flag"] = (np.arange(len(y)) % 2 == 0)
    expected = new().fit(table, y).predict_proba(table)
    for kind, own in kinds(table):
        assert (new().fit(own, y).predict_proba(own) == expected).all(), kind
    own = table.astype({"flag": "boolean", "color": "string"})
    own.loc[8, "flag"] = pandas.NA
    assert new().fit(own, y).score(own, y) > 0.7


@pytest.mark.parametrize("new", [geowalk.OnlineClassifier, *BATCH])
@pytest.mark.parametrize("dtype", ["string", "Int64", "boolean", object])
def test_a_label_that_is_missing_is_named(new, dtype):
    pandas = pytest.importorskip("pandas")
    table, _ = gappy(names=False)
    y = pandas.Series(np.arange(len(table)) % 2).astype(bool if dtype == "boolean" else str if dtype == "string" else int).astype(dtype)
    y[2] = None if dtype is object else pandas.NA
    with pytest.raises(ValueError, match=r"Input y contains NaN \(row 2\)"):
        new().fit(table.fillna(0.0), y)
