"""Values of every type that tables bring: numbers where they are numbers, and a refusal that names the column otherwise."""

import datetime
from decimal import Decimal
from fractions import Fraction

import geowalk
import numpy as np
import pytest

pandas = pytest.importorskip("pandas")

ALL = [geowalk.OnlineRegressor, geowalk.OnlineClassifier, geowalk.NaturalClassifier, geowalk.BoostClassifier, geowalk.TreeClassifier]
RANDOM = np.random.default_rng(0)
N = RANDOM.integers(-500, 500, 500) / 100.0
TABLE = pandas.DataFrame({"a": N, "b": RANDOM.standard_normal(500)})
Y = (TABLE["a"] > 0).astype(int)


@pytest.mark.parametrize("new", ALL)
@pytest.mark.parametrize("number", [Decimal, Fraction, np.float32, lambda x: np.float64(x), float])
def test_numbers_of_every_type_are_numbers(new, number):
    expected = new().fit(TABLE, Y).predict(TABLE)
    a = pandas.Series([number(str(x)) if number is Decimal else number(x) for x in N], dtype=object)
    table = TABLE.assign(a=a)
    if number is np.float32:
        expected = new().fit(TABLE.assign(a=N.astype(np.float32).astype(float)), Y).predict(TABLE.assign(a=N.astype(np.float32).astype(float)))
    assert (new().fit(table, Y).predict(table) == expected).all()


@pytest.mark.parametrize("new", ALL)
def test_decimals_of_arrow_and_polars(new):
    pa, pl = pytest.importorskip("pyarrow"), pytest.importorskip("polars")
    expected = new().fit(TABLE, Y).predict(TABLE)
    cells = [Decimal(f"{x:.2f}") for x in N]
    arrow = pa.table({"a": pa.array(cells, pa.decimal128(10, 2)), "b": TABLE["b"].to_numpy()})
    assert (new().fit(arrow, Y).predict(arrow) == expected).all()
    polars = pl.DataFrame({"a": cells, "b": TABLE["b"].to_numpy()})
    assert (new().fit(polars, Y).predict(polars) == expected).all()
    frame = TABLE.assign(a=pandas.Series(cells, dtype=pandas.ArrowDtype(pa.decimal128(10, 2))))
    assert (new().fit(frame, Y).predict(frame) == expected).all()


@pytest.mark.parametrize("new", ALL)
@pytest.mark.parametrize(
    "values, error, message",
    [
        ([f"{x:.2f}" for x in N], ValueError, "column 'a' holds numbers written as text .'.*nominal=.'a'"),
        (pandas.period_range("2020-01", periods=500, freq="D"), ValueError, "column 'a' holds times .Period.; replace it by numbers"),
        ([datetime.time(7, 30)] * 500, ValueError, "column 'a' holds times .time.; replace it by numbers"),
        (pandas.to_timedelta(np.arange(500), unit="h"), ValueError, "column 'a' holds times .timedelta64"),
        ([1.0] * 499 + [[1, 2]], TypeError, "row 499, column 'a' of X holds a list"),
        (["x"] * 7 + [{"k": 1}] + ["x"] * 492, TypeError, "row 7, column 'a' of X holds a dict"),
        ([b"x"] * 500, TypeError, "row 0, column 'a' of X holds a bytes"),
    ],
    ids=["numeric-text", "period", "datetime.time", "timedelta", "list", "dict", "bytes"],
)
def test_what_is_no_number_and_no_name_is_refused_with_its_column(new, values, error, message):
    column = pandas.Series(values) if isinstance(values, (pandas.PeriodIndex, pandas.DatetimeIndex, pandas.TimedeltaIndex)) else pandas.Series(values, dtype=object)
    with pytest.raises(error, match=message):
        new().fit(TABLE.assign(a=column), Y)


@pytest.mark.parametrize("new", ALL)
def test_dates_of_every_type_are_the_same_dates(new):
    days = pandas.date_range("2020-01-01", periods=500)
    expected = new().fit(TABLE.assign(a=days), Y).predict(TABLE.assign(a=days))
    for same in (days.tz_localize("UTC"), pandas.Series([day.date() for day in days], dtype=object), days.astype(str)):
        table = TABLE.assign(a=same)
        assert (new().fit(table, Y).predict(table) == expected).all()


@pytest.mark.parametrize("new", [geowalk.OnlineClassifier, geowalk.NaturalClassifier])
def test_numbers_that_are_names_if_the_user_says_so(new):
    table = TABLE.assign(a=(N > 0).astype(int) + 7)
    texts, model = table.assign(a=table["a"].map({7: "7", 8: "8"})), new(nominal=["a"]).fit(table, Y)
    assert sorted(model.get_feature_names_out()) == ["a=7", "a=8", "b"]
    assert (new(nominal=["a"]).fit(texts, Y).decision_function(texts) == model.decision_function(table)).all()
    assert (model.decision_function(texts) == model.decision_function(table)).all()
    category = table.astype({"a": "category"})
    assert (new().fit(category, Y).decision_function(category) == model.decision_function(table)).all()
    with pytest.raises(geowalk.ConfigError, match="nominal names the column 'z', which is not among"):
        new(nominal=["z"]).fit(table, Y)
    with pytest.raises(TypeError, match="nominal = 'a'; a list of column names is needed"):
        new(nominal="a").fit(table, Y)


@pytest.mark.parametrize("new", ALL)
def test_a_column_of_names_that_all_differ_is_said(new):
    ids = TABLE.assign(id=[f"user{k}" for k in range(500)])
    with pytest.warns(UserWarning, match="column 'id': 500 of 500 values differ"):
        new().fit(ids, Y)


@pytest.mark.parametrize("new", ALL)
def test_object_arrays_are_read_as_tables(new):
    color = np.where(N > 0, "red", "blue")
    frame = pandas.DataFrame({"1": color, "2": TABLE["b"]})
    table = frame.to_numpy(dtype=object)
    model, named = new().fit(table, Y), new().fit(frame, Y)
    assert model.n_features_in_ == 2 and not hasattr(model, "feature_names_in_")
    assert (model.predict(table) == named.predict(frame)).all()
    assert (model.predict(table.tolist()) == model.predict(table)).all()
    texts = np.array([[c, "x" if k % 2 else "y"] for k, c in enumerate(color)])
    assert new().fit(texts, Y).predict(texts).shape == (500,)
    numbers = TABLE.to_numpy().astype(object)
    assert (new().fit(numbers, Y).predict(numbers) == new().fit(TABLE.to_numpy(), Y).predict(TABLE.to_numpy())).all()
    bare = pandas.DataFrame(table)  # its columns are named by numbers, which are no names
    assert (new().fit(bare, Y).predict(bare) == model.predict(table)).all()


@pytest.mark.parametrize("gaps", [False, True])
def test_booleans_are_names_and_read_as_flags(gaps):
    pa, pl = pytest.importorskip("pyarrow"), pytest.importorskip("polars")
    flag = pandas.Series(N > 0).astype("boolean" if gaps else bool)
    if gaps:
        flag[[3, 77]] = pandas.NA
    table = pandas.DataFrame({"flag": flag, "b": TABLE["b"]})
    tree = geowalk.TreeClassifier(max_leaves=2).fit(table, Y)
    assert "flag" in tree.write() and "0.5" not in tree.write() and "flag =" not in tree.write()
    boost = geowalk.BoostClassifier(rounds=1, literals=1).fit(table, Y)
    assert "if flag then" in boost.write() or "if not flag then" in boost.write(), boost.write()
    model = geowalk.OnlineClassifier().fit(table, Y)
    assert {"flag=true", "flag=false"} <= set(model.get_feature_names_out())
    for other in (pa.Table.from_pandas(table), pl.from_pandas(table), table.astype({"flag": object})):
        for own in (model, tree, boost):
            assert (own.predict(other) == own.predict(table)).all()
        assert (geowalk.OnlineClassifier().fit(other, Y).decision_function(other) == model.decision_function(table)).all()
    # A model of numbers takes truth values for 0 and 1.
    numbers = table.assign(flag=table["flag"].astype(float).fillna(0.0))
    whole = geowalk.OnlineClassifier().fit(numbers, Y)
    if not gaps:
        assert (whole.decision_function(table) == whole.decision_function(numbers)).all()
