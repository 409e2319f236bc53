"""What a cell is does not depend on the door: names that read `missing`, dates, sparse matrices."""

import datetime

import geowalk
import numpy as np
import pytest
from conftest import command

COLORS = ["missing", "missing", None, None, "red", "blue"]
CLASSES = ["a", "a", "b", "b", "a", "b"]


def csv(tmp_path, head, rows):
    path = tmp_path / "data.csv"
    path.write_text("\n".join([head, *rows]) + "\n")
    return path


def test_a_name_that_reads_missing_is_a_name(tmp_path):
    """Six rows that are separable, at every door."""
    pandas, polars = pytest.importorskip("pandas"), pytest.importorskip("polars")
    path = csv(tmp_path, "color,class", [f"{color or ''},{y}" for color, y in zip(COLORS, CLASSES)])
    table = pandas.DataFrame({"color": COLORS})
    tables = [table, polars.from_pandas(table), polars.from_pandas(table).to_arrow(), geowalk.read(path).X]
    for kind, X in zip(["pandas", "polars", "arrow", "read"], tables):
        for new in (geowalk.TreeClassifier(), geowalk.BoostClassifier(rounds=20)):
            if kind != "read":
                assert new.fit(X, CLASSES).score(X, CLASSES) == 1.0, (kind, new)
        model = geowalk.OnlineClassifier(passes=30, seed=0).fit(X, CLASSES)
        assert model.score(X, CLASSES) == 1.0, kind
    learner = geowalk.OnlineClassifier()
    for _ in range(30):
        for color, y in zip(COLORS, CLASSES):
            learner.learn_one({"color": color}, y)
    assert [learner.predict_one({"color": color}) for color in COLORS] == CLASSES
    for name in ("tree", "boost"):
        command(name, path, "--model", tmp_path / "model.gw")
        assert command("predict", tmp_path / "model.gw", path).stdout.split() == CLASSES, name


def test_sparse_matrices_give_the_rules_of_arrays():
    sparse = pytest.importorskip("scipy.sparse")
    random = np.random.default_rng(3)
    X = sparse.random(300, 60, 0.05, random_state=3, format="csr")
    X.data = np.ceil(3 * X.data)
    dense = X.toarray()
    y = (dense[:, 3] + dense[:, 4] + dense[:, 7] + 0.3 * random.standard_normal(300) > 0.4).astype(int)
    for new in (geowalk.BoostClassifier(rounds=8), geowalk.TreeClassifier()):
        a, b = new.fit(X, y).write("json"), type(new)(**new.get_params()).fit(dense, y).write("json")
        assert a == b
        assert (new.predict(X) == new.predict(dense)).all()
        w = random.integers(0, 3, 300).astype(float)
        a = type(new)(**new.get_params()).fit(X, y, w)
        assert a.write("json") == type(new)(**new.get_params()).fit(dense, y, w).write("json")


def test_wide_sparse_matrices_are_not_written_out():
    """280 million cells, which were refused once, of which 27,000 are stored."""
    sparse = pytest.importorskip("scipy.sparse")
    rows = np.arange(20_000)
    X = sparse.csr_matrix((np.ones(20_000), (rows, rows % 14_000)), shape=(20_000, 14_000))
    X = sparse.hstack([X, sparse.csr_matrix((rows % 3 == 0).astype(float)[:, None])]).tocsr()
    model = geowalk.BoostClassifier(rounds=1).fit(X, rows % 3 == 0)
    assert model.score(X, rows % 3 == 0) == 1.0


DAYS = [datetime.date(2024, 1, 1) + datetime.timedelta(days=k) for k in range(60)]
WEEKEND = [int(day.weekday() > 4) for day in DAYS]


def test_dates_are_the_same_parts_at_every_door(tmp_path):
    pandas, polars = pytest.importorskip("pandas"), pytest.importorskip("polars")
    path = csv(tmp_path, "day,class", [f"{day},{y}" for day, y in zip(DAYS, WEEKEND)])
    text = pandas.DataFrame({"day": [day.isoformat() for day in DAYS]})
    dates = pandas.DataFrame({"day": pandas.to_datetime(text["day"])})
    objects = pandas.DataFrame({"day": DAYS})
    tables = {
        "text": text,
        "datetime64": dates,
        "objects": objects,
        "polars": polars.DataFrame({"day": DAYS}),
        "arrow": polars.DataFrame({"day": DAYS}).to_arrow(),
        "times": polars.from_pandas(dates),
    }
    command("tree", path, "--model", tmp_path / "tree.gw", "--leaves", 4)
    command("train", path, "--model", tmp_path / "line.gw")
    tree = geowalk.load(tmp_path / "tree.gw")
    line = geowalk.load(tmp_path / "line.gw")
    assert list(tree.get_feature_names_out()) == ["day.year", "day.month", "day.weekday", "day.days"]
    with pytest.warns(UserWarning, match="X does not have valid feature names"):
        weights = np.asarray(line.decision_function(geowalk.read(path).X))
    for kind, X in tables.items():
        found = geowalk.TreeClassifier(max_leaves=4).fit(X, WEEKEND)
        assert found.score(X, WEEKEND) == 1.0, kind
        assert found.write("json") == tree.write("json"), kind
        assert (tree.predict(X) == np.array(WEEKEND)).all(), kind
        assert np.array_equal(line.decision_function(X), weights), kind
    one = [line.predict_proba_one({"day": day})[1] for day in DAYS]
    assert one == [line.predict_proba_one({"day": day.isoformat()})[1] for day in DAYS]
    assert np.array_equal(line.predict_proba(dates)[:, 1], one)


def test_a_text_that_is_no_date_is_refused_with_its_place(tmp_path):
    pandas = pytest.importorskip("pandas")
    X = pandas.DataFrame({"day": [day.isoformat() for day in DAYS]})
    model = geowalk.TreeClassifier().fit(X, WEEKEND)
    with pytest.raises(geowalk.DataError, match="column 'day' holds dates, but this is 'soon'"):
        model.predict(pandas.DataFrame({"day": ["2024-05-01", "soon"]}))
    names = geowalk.TreeClassifier(nominal=["day"]).fit(X, WEEKEND)
    assert list(names.get_feature_names_out()) == ["day"]
