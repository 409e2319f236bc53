"""What estimators refuse: tables that are no numbers, columns of other names, labels of two kinds, parameters out of range."""

import geowalk
import numpy as np
import pytest

X = np.random.default_rng(0).standard_normal((60, 3))
Y = (X[:, 0] > 0).astype(int)
CLASSIFIERS = [geowalk.OnlineClassifier, geowalk.NaturalClassifier, geowalk.BoostClassifier, geowalk.TreeClassifier]
ALL = [geowalk.OnlineRegressor, *CLASSIFIERS]


@pytest.mark.parametrize("estimator", ALL)
@pytest.mark.parametrize(
    "dtype, message",
    [
        ("U", "column '1' holds numbers written as text"),
        ("S", "X has dtype .*; numbers are needed"),
        ("datetime64[s]", "X has dtype .*; numbers are needed"),
        ("timedelta64[s]", "X has dtype .*; numbers are needed"),
    ],
)
def test_arrays_that_are_no_numbers(estimator, dtype, message):
    with pytest.raises(ValueError, match=message):
        estimator().fit((100 * X).astype(int).astype(dtype), Y)


@pytest.mark.parametrize("estimator", ALL)
def test_columns_of_dates(estimator):
    pandas = pytest.importorskip("pandas")
    table = pandas.DataFrame({"a": X[:, 0], "day": pandas.date_range("2020-01-01", periods=60)})
    model = estimator().fit(table, Y)
    parts = {name.split("=")[0] for name in model.get_feature_names_out()}
    assert {"a", "day.year", "day.month", "day.days"} <= parts and parts & {"day", "day.weekday"}
    times = table.assign(day=pandas.to_timedelta(range(60), unit="h"))
    with pytest.raises(ValueError, match="column 'day' holds times .timedelta64.*; replace it by numbers"):
        estimator().fit(times, Y)
    with pytest.raises(ValueError, match="column 'day' held dates when the model was fitted, and holds numbers now"):
        model.predict(table.assign(day=1.0))


@pytest.mark.parametrize("estimator", ALL)
def test_names_of_columns(estimator):
    pandas = pytest.importorskip("pandas")
    table = pandas.DataFrame(X, columns=["a", "b", "c"])
    model = estimator().fit(table, Y)
    assert (model.predict(table[["c", "a", "b"]]) == model.predict(table)).all()
    with pytest.raises(ValueError, match="now missing:\n- c\n"):
        model.predict(table[["a", "b"]])
    with pytest.raises(ValueError, match="unseen at fit time:\n- d\n"):
        model.predict(table.assign(d=1.0))
    with pytest.warns(UserWarning, match="X does not have valid feature names"):
        model.predict(X)
    with pytest.warns(UserWarning, match="fitted without feature names"):
        estimator().fit(X, Y).predict(table)
    with pytest.raises(geowalk.DataError, match="two columns have the name 'a'"):
        estimator().fit(pandas.DataFrame(X, columns=["a", "a", "b"]), Y)


@pytest.mark.parametrize("estimator", CLASSIFIERS)
def test_labels_of_two_kinds(estimator):
    with pytest.raises(ValueError, match=r"y\[0\] = 1 and y\[1\] = 'a'"):
        estimator().fit(X, np.array([1, "a"] * 30, dtype=object))


@pytest.mark.parametrize(
    "estimator, name, value, least",
    [
        (geowalk.OnlineClassifier, "passes", 0, 1),
        (geowalk.OnlineRegressor, "seed", -1, 0),
        (geowalk.NaturalClassifier, "passes", -3, 1),
        (geowalk.Winnow, "passes", 0, 1),
        (geowalk.BoostClassifier, "rounds", -1, 1),
        (geowalk.BoostClassifier, "literals", 0, 1),
        (geowalk.BoostClassifier, "bins", -1, 0),
        (geowalk.TreeClassifier, "max_depth", -1, 0),
        (geowalk.TreeClassifier, "max_leaves", 0, 1),
        (geowalk.TreeClassifier, "min_leaf", -7, 1),
    ],
)
def test_whole_numbers(estimator, name, value, least):
    with pytest.raises(geowalk.ConfigError, match=f"{name} = {value}; it must be a whole number >= {least}"):
        estimator(**{name: value}).fit(abs(X) / 10, Y)
    with pytest.raises(TypeError, match=f"{name} = 1.5; a whole number is needed"):
        estimator(**{name: 1.5}).fit(abs(X) / 10, Y)
    assert estimator(**{name: np.int64(7)}).fit(abs(X) / 10, Y).get_params()[name] == 7


def test_one_by_one():
    model = geowalk.OnlineRegressor()
    for bad in (float("nan"), float("inf")):
        with pytest.raises(geowalk.DataError, match="y is .*; a finite number is needed"):
            model.learn_one({"a": 1.0}, bad)
    model.learn_one({"a": 1.0}, 2.0)
    with pytest.raises(geowalk.DataError, match="y is NaN"):
        model.learn_one({"a": 1.0}, float("nan"))
    assert model.summary_["examples"] == 1
    classes = geowalk.OnlineClassifier()
    classes.learn_one({"a": 1.0}, "x")
    with pytest.raises(geowalk.DataError, match="the class 3 beside 'x': all must be numbers, or all names"):
        classes.learn_one({"a": 1.0}, 3)


@pytest.mark.parametrize("estimator", ALL)
def test_arrays_have_no_names_in_files_either(tmp_path, estimator):
    model = estimator().fit(X, Y)
    model.save(tmp_path / "model.gw")
    again = geowalk.load(tmp_path / "model.gw")
    assert not hasattr(again, "feature_names_in_") and (again.predict(X) == model.predict(X)).all()


def test_messages_speak_python(tmp_path):
    file = tmp_path / "bad.csv"
    file.write_text("a,b,class\n1,2,x\n3,zz\n")
    with pytest.raises(geowalk.DataError, match="bad.csv:3:5: 2 fields; 3 expected") as found:
        geowalk.read(file)
    assert "--" not in str(found.value)
    with pytest.raises(geowalk.DataError, match="no column 'nothing' for the label; name it with label=; columns: a, b, class"):
        geowalk.read(file, label="nothing")


@pytest.mark.parametrize("name, value", [("walk", 3), ("loss", b"logistic"), ("average", "yes")])
def test_parameters_of_other_types(name, value):
    with pytest.raises(TypeError, match=f"{name} = {value!r}; .* is needed"):
        geowalk.OnlineClassifier(**{name: value}).fit(X, Y)


@pytest.mark.parametrize("estimator", ALL)
def test_what_is_behind_a_mask_is_no_number(estimator):
    masked = np.ma.array(X, mask=False)
    assert (estimator().fit(masked, Y).predict(masked) == estimator().fit(X, Y).predict(X)).all()
    masked[7, 2] = np.ma.masked
    for ask in (lambda m: m.fit(masked, Y), lambda m: m.fit(X, Y).predict(masked)):
        with pytest.raises(ValueError, match=r"X is masked \(row 7, column 2\)"):
            ask(estimator())


def test_rows_of_zeros_have_no_null_vector():
    model = geowalk.NullVector().fit(np.zeros((3, 2)))
    with pytest.raises(geowalk.NotFittedError, match="all rows so far were zeros"):
        model.vector_
    assert np.linalg.norm(model.partial_fit([[1.0, 2.0]]).vector_) == pytest.approx(1.0)


def test_two_keys_that_are_one_feature():
    for row, name in (({1: 2.0, "1": 3.0}, "1"), ({"color": "red", "color=red": 1.0}, "color=red"), ({"a": None, "a=missing": 2.0}, "a=missing")):
        model = geowalk.OnlineRegressor()
        for x in ({key: value} for key, value in row.items()):
            model.learn_one(x, 1.0)
        before = model.summary_
        for _ in range(3):
            for ask in (model.predict_one, lambda x: model.learn_one(x, 1.0)):
                with pytest.raises(geowalk.DataError, match=f"two keys are the feature '{name}'; give one of them another name"):
                    ask(row)
        assert model.summary_ == before
    # The keys of several rows are remembered by their places; a row under them is not one of those.
    model = geowalk.OnlineRegressor()
    for x in ({"x": 1.0, "1": 1.0}, {1: 1.0}, {"x": 1.0, "1": 1.0}, {1: 1.0}):
        model.learn_one(x, 1.0)
    with pytest.raises(geowalk.DataError, match="two keys are the feature '1'"):
        model.predict_one({1: 1.0, "1": 1.0})
