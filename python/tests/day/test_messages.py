"""Errors name column and row as the user counts them, parameters by their names, and suggest nothing absurd."""

import geowalk
import numpy as np
import pytest
from conftest import ROOT

pandas = pytest.importorskip("pandas")

TABLE = pandas.read_csv(ROOT / "data" / "breast-cancer.csv")
X, Y = TABLE.drop(columns="class"), TABLE["class"]
LABELLED = X.set_index(pandas.Index([f"patient-{k}" for k in range(len(X))]))
ONLINE = [geowalk.OnlineClassifier, geowalk.NaturalClassifier]
BATCH = [geowalk.BoostClassifier, geowalk.TreeClassifier]


@pytest.mark.parametrize("new", ONLINE)
def test_a_gap_is_named_by_column_and_row(new):
    for table, place in ((X, "row 7"), (LABELLED, "row 7, labelled 'patient-7'")):
        bad = table.copy()
        bad.iloc[7, 3] = np.nan
        for own in (bad, bad.assign(name="x")):
            with pytest.raises(geowalk.DataError, match=rf"contains NaN \({place}, column 'mean_area'\)") as caught:
                new(missing="error").fit(own, Y)
            assert (caught.value.row, caught.value.column) == (7, 3)
        with pytest.raises(geowalk.DataError, match=rf"contains NaN \({place}, column 'mean_area'\)"):
            new(missing="error").fit(table, Y).predict(bad)
    with pytest.raises(geowalk.DataError, match=r"contains NaN \(row 7, column 3\)"):
        new(missing="error").fit(bad.to_numpy(), Y)


@pytest.mark.parametrize("new", ONLINE + BATCH)
def test_infinity_is_named_by_column_and_row(new):
    bad = LABELLED.copy()
    bad.iloc[9, 0] = np.inf
    with pytest.raises(geowalk.DataError, match=r"contains infinity \(row 9, labelled 'patient-9', column 'mean_radius'\)"):
        new().fit(bad, Y)


@pytest.mark.parametrize("new", ONLINE + BATCH)
def test_text_in_a_column_of_numbers_is_named(new):
    model = new().fit(LABELLED, Y)
    with pytest.raises(ValueError, match="column 'mean_area' held numbers .*'large' in row 0, labelled 'patient-0'"):
        model.predict(LABELLED.assign(mean_area="large"))
    with pytest.raises(TypeError, match="row 2, labelled 'patient-2', column 'tags' of X holds a list"):
        new().fit(LABELLED.assign(tags=["a", "b", ["c"]] + ["d"] * (len(Y) - 3)), Y)


def test_rows_of_a_run_are_counted_from_0():
    with pytest.raises(geowalk.DomainError, match=r"^row 2: the walk 'winnow") as caught:
        geowalk.Winnow().fit([[0.0, 1.0], [1.0, 0.0], [5.0, 1.0]], [0, 1, 0])
    assert caught.value.row == 2


@pytest.mark.parametrize("new", [*ONLINE, *BATCH, geowalk.OnlineRegressor])
def test_parameters_are_named(new):
    y = np.arange(len(Y)) % 2
    for name in new._whole:
        if name in new._optional:
            new(**{name: None}).fit(X, y)
        else:
            with pytest.raises(TypeError, match=f"^{name} = None; a whole number is needed"):
                new(**{name: None}).fit(X, y)
    with pytest.raises(TypeError, match="^seed = None; a whole number is needed"):
        geowalk.NullVector(seed=None).fit(X)


def test_no_absurd_suggestions():
    for name in ("foo", "bar", "x", "zzz"):
        with pytest.raises(geowalk.ConfigError) as caught:
            geowalk.BoostClassifier(weak=name).fit(X, Y)
        assert "did you mean" not in str(caught.value), caught.value
        with pytest.raises(geowalk.ConfigError) as caught:
            geowalk.TreeClassifier().fit(X, Y).write(name)
        assert "did you mean" not in str(caught.value), caught.value
    with pytest.raises(geowalk.ConfigError, match="did you mean 'rules'"):
        geowalk.BoostClassifier(weak="ruls").fit(X, Y)


def test_bounds_that_say_nothing_have_no_tick(tmp_path):
    path = tmp_path / "report.html"
    model = geowalk.OnlineClassifier(passes=1).fit(X, Y)
    assert model.certificate_.status == "valid" and model.certificate_.bound > model.certificate_.loss
    model.report(path)
    page = path.read_text(encoding="utf-8")
    assert "✓" not in page and "too weak to say anything" in page
    # One that says something.
    random = np.random.default_rng(0)
    long = random.choice([-1.0, 1.0], (20000, 2))
    model = geowalk.OnlineClassifier(passes=1).fit(long, np.where(random.random(20000) < 0.3, -1, 1) * long[:, 0])
    assert model.certificate_.bound < model.certificate_.loss
    model.report(path)
    assert "✓" in path.read_text(encoding="utf-8")
