"""`fit` is the best linear model of the rows: in any order, on any scale, with no settings. The laws of it, and what is odd."""

import json
import pickle
import warnings

import geowalk
import numpy as np
import pytest
from conftest import command, same_bits

pandas = pytest.importorskip("pandas")
linear = pytest.importorskip("sklearn.linear_model")
selection = pytest.importorskip("sklearn.model_selection")

RANDOM = np.random.default_rng(0)
X = RANDOM.standard_normal((400, 4)) * [1.0, 10.0, 0.1, 3.0] + [0.0, 5.0, 1.0, -2.0]
SCORE = X @ [1.0, 0.1, -5.0, 0.3] + RANDOM.standard_normal(400)
TWO = (SCORE > np.median(SCORE)).astype(int)
THREE = np.digitize(SCORE, np.quantile(SCORE, [0.3, 0.7]))
NEW = RANDOM.standard_normal((300, 4)) * [1.0, 10.0, 0.1, 3.0] + [0.0, 5.0, 1.0, -2.0]
NEW_SCORE = NEW @ [1.0, 0.1, -5.0, 0.3] + RANDOM.standard_normal(300)
NEW_THREE = np.digitize(NEW_SCORE, np.quantile(SCORE, [0.3, 0.7]))

REGRESSORS = [geowalk.OnlineRegressor(loss=loss) for loss in ("squared", "absolute", "huber", "quantile(tau=0.3)")]
CASES = [
    *[pytest.param(model, SCORE, id=f"{model.loss}") for model in REGRESSORS],
    pytest.param(geowalk.OnlineClassifier(), TWO, id="two"),
    pytest.param(geowalk.OnlineClassifier(), THREE, id="three"),
]
NATURAL = [pytest.param(geowalk.NaturalClassifier(), TWO, id="natural-two"), pytest.param(geowalk.NaturalClassifier(), THREE, id="natural-three")]


def fitted(model, table, y, **more):
    return type(model)(**model.get_params()).fit(table, y, **more)


def said(model, table):
    """Scores of a classifier, numbers of a regressor."""
    return model.decision_function(table) if hasattr(model, "classes_") else model.predict(table)


def near(a, b, relative=1e-6):
    assert np.abs(a - b).max() <= relative * max(np.abs(a).max(), 1e-300), np.abs(a - b).max() / np.abs(a).max()
    return True


def lost(model, table, y):
    """The mean test loss."""
    if not hasattr(model, "classes_"):
        return np.abs(model.predict(table) - y).mean() / np.abs(y - np.median(y)).mean()
    p = model.predict_proba(table)
    return -np.log(p[np.arange(len(y)), np.searchsorted(model.classes_, y)]).mean()


def new_labels(y):
    return NEW_SCORE if y is SCORE else NEW_THREE if y is THREE else (NEW_SCORE > np.median(SCORE)).astype(int)


# Laws


@pytest.mark.parametrize("by", [1e-6, 1e6])
@pytest.mark.parametrize("model, y", [*CASES, *NATURAL])
def test_units_of_features_change_nothing(model, y, by):
    scale = np.array([1.0, by, 1.0, 1.0])
    assert near(said(fitted(model, X, y), NEW), said(fitted(model, X * scale, y), NEW * scale))


@pytest.mark.parametrize("model", REGRESSORS, ids=lambda model: model.loss)
@pytest.mark.parametrize("by, plus", [(1e6, 0.0), (1e-6, 0.0), (1.0, 1000.0), (-3.0, 7.0)])
def test_unit_and_zero_of_labels_are_undone(model, by, plus):
    if "quantile" in model.loss and by < 0:
        pytest.skip("quantile tau becomes 1 - tau")
    if model.loss == "huber" and abs(by) != 1.0:
        model = geowalk.OnlineRegressor(loss=f"huber(delta={abs(by)!r})")  # its delta is in units of the label
        before = fitted(geowalk.OnlineRegressor(loss="huber(delta=1.0)"), X, SCORE)
    else:
        before = fitted(model, X, SCORE)
    after = fitted(model, X, by * SCORE + plus)
    assert near(by * before.predict(NEW) + plus, after.predict(NEW))


@pytest.mark.parametrize("new", [geowalk.OnlineClassifier(), geowalk.NaturalClassifier()])
def test_names_of_classes_change_nothing(new):
    p = fitted(new, X, THREE).predict_proba(NEW)
    # Another order of the names, too.
    again = fitted(new, X, np.array(["zebra", "ant", "mouse"])[THREE])
    assert again.classes_.tolist() == ["ant", "mouse", "zebra"]
    assert near(p, again.predict_proba(NEW)[:, [2, 0, 1]])


@pytest.mark.parametrize("model, y", [*CASES, *NATURAL])
def test_order_of_rows_and_columns_and_doubled_columns(model, y):
    least = lost(fitted(model, X, y), NEW, new_labels(y))
    rows, columns = np.random.default_rng(1).permutation(len(y)), [2, 0, 3, 1]
    for way, table, labels, new in (
        ("rows", X[rows], y[rows], NEW),
        ("sorted", X[np.argsort(y, kind="stable")], np.sort(y, kind="stable"), NEW),
        ("columns", X[:, columns], y, NEW[:, columns]),
        ("doubled", X[:, [0, 1, 2, 3, 1]], y, NEW[:, [0, 1, 2, 3, 1]]),
    ):
        assert abs(lost(fitted(model, table, labels), new, new_labels(y)) - least) < 0.02, way


@pytest.mark.parametrize("model, y", CASES)
def test_weights_are_repetitions(model, y):
    w = np.random.default_rng(2).integers(0, 4, len(y))
    once = fitted(model, X, y, sample_weight=w)
    assert near(said(fitted(model, np.repeat(X, w, axis=0), np.repeat(y, w)), NEW), said(once, NEW))


EVERY = [
    *[(model, SCORE, ()) for model in REGRESSORS],
    (geowalk.OnlineClassifier(), TWO, ()),
    (geowalk.OnlineClassifier(), THREE, ()),
    (geowalk.NaturalClassifier(), THREE, ()),
    (geowalk.TreeClassifier(), TWO, ()),
    # Its folds are dealt class by class, in the order of the names.
    (geowalk.BoostClassifier(), TWO, ("classes",)),
]


@pytest.mark.parametrize("model, y, broken", EVERY, ids=lambda value: repr(value)[:40])
def test_laws_of_fit_as_a_public_check(model, y, broken):
    geowalk.laws.check_fit(model, X, y, [law for law in geowalk.laws.FIT if law not in broken])
    for law in broken:
        with pytest.raises(AssertionError, match=f"breaks the law '{law}'"):
            geowalk.laws.check_fit(model, X, y, [law])


def test_a_broken_law_is_said_with_its_size():
    peer = linear.LogisticRegression()  # its penalty depends on the units of columns
    with pytest.raises(AssertionError, match="LogisticRegression.. breaks the law 'units' .*allowed 1e-06"):
        geowalk.laws.check_fit(peer, X, TWO)
    with pytest.raises(ValueError, match="laws = ..unit..; known: units, labels"):
        geowalk.laws.check_fit(peer, X, TWO, ["unit"])


def test_balanced_classes_count_alike():
    y = (SCORE > np.quantile(SCORE, 0.9)).astype(int)
    plain, balanced = geowalk.OnlineClassifier().fit(X, y), geowalk.OnlineClassifier(class_weight="balanced").fit(X, y)
    assert plain.predict_proba(X)[:, 1].mean() == pytest.approx(0.1, abs=0.01)
    assert 0.25 < balanced.predict_proba(X)[:, 1].mean() < 0.5
    w = np.where(y == 1, 400 / (2 * y.sum()), 400 / (2 * (400 - y.sum())))
    by_hand = geowalk.OnlineClassifier().fit(X, y, sample_weight=w)
    assert near(by_hand.coef_, balanced.coef_)
    by_class = geowalk.OnlineClassifier(class_weight={0: w[y == 0][0], 1: w[y == 1][0]}).fit(X, y)
    assert near(by_class.coef_, balanced.coef_)
    for wrong, message in (("even", "class_weight = 'even'"), ({7: 1.0}, "classes .7., which y does not have")):
        with pytest.raises(ValueError, match=message):
            geowalk.OnlineClassifier(class_weight=wrong).fit(X, y)


# What it is compared with


def test_it_is_the_model_of_the_peers():
    y = (SCORE > np.median(SCORE)).astype(int)
    scaled = (X - X.mean(0)) / X.std(0)
    peer = linear.LogisticRegression().fit(scaled, y)
    model = geowalk.OnlineClassifier().fit(X, y)
    p = peer.predict_proba((NEW - X.mean(0)) / X.std(0))[:, 1]
    truth = (NEW_SCORE > np.median(SCORE)).astype(int)
    theirs = -np.log(np.where(truth == 1, p, 1 - p)).mean()
    assert lost(model, NEW, truth) < 1.02 * theirs
    ridge = linear.RidgeCV().fit(scaled, SCORE)
    assert geowalk.OnlineRegressor().fit(X, SCORE).score(NEW, NEW_SCORE) > ridge.score((NEW - X.mean(0)) / X.std(0), NEW_SCORE) - 0.01


# Odd data


def test_separable_data_have_finite_weights_and_honest_probabilities():
    y = (X[:, 0] > 0).astype(int)
    model = geowalk.OnlineClassifier().fit(X, y)
    p = model.predict_proba(X)
    assert np.isfinite(model.coef_).all() and model.score(X, y) > 0.98 and model.converged_
    assert (p > 0).all() and p.min() >= 0.2 / 400 and model.predict_proba(X * 1e6).min() > 0


def test_one_class_is_refused():
    for new in (geowalk.OnlineClassifier, geowalk.NaturalClassifier):
        with pytest.raises(ValueError, match="one class alone: all 5 rows have the class 'yes'"):
            new().fit(X[:5], ["yes"] * 5)


def test_constant_columns_and_labels():
    table = np.column_stack([X, np.full(400, 7.0), np.zeros(400)])
    new = np.column_stack([NEW, np.full(300, 7.0), np.zeros(300)])
    assert near(said(geowalk.OnlineClassifier().fit(X, TWO), NEW), said(geowalk.OnlineClassifier().fit(table, TWO), new))
    assert near(said(geowalk.OnlineRegressor().fit(X, SCORE), NEW), said(geowalk.OnlineRegressor().fit(table, SCORE), new))
    assert np.allclose(geowalk.OnlineRegressor().fit(X, np.full(400, 3.25)).predict(NEW), 3.25)
    alone = geowalk.OnlineClassifier().fit(np.zeros((400, 2)), TWO)
    assert alone.predict_proba(np.zeros((1, 2)))[0, 1] == pytest.approx(TWO.mean(), abs=0.01)


def test_more_columns_than_rows():
    random = np.random.default_rng(3)
    wide = random.standard_normal((40, 500))
    y = wide[:, :3].sum(axis=1)
    for model, labels in ((geowalk.OnlineRegressor(), y), (geowalk.OnlineClassifier(), y > 0), (geowalk.OnlineClassifier(), np.digitize(y, [-1, 1]))):
        model.fit(wide, labels)
        assert np.isfinite(model.coef_).all() and model.score(wide, labels) > 0.7


@pytest.mark.parametrize("by", [1e140, 1e-140])
def test_values_of_any_magnitude(by):
    model, plain = geowalk.OnlineClassifier().fit(X * by, TWO), geowalk.OnlineClassifier().fit(X, TWO)
    assert near(plain.decision_function(NEW), model.decision_function(NEW * by))
    numbers = geowalk.OnlineRegressor().fit(X, SCORE * by)
    assert near(geowalk.OnlineRegressor().fit(X, SCORE).predict(NEW), numbers.predict(NEW) / by)


def test_values_above_the_largest_are_refused():
    with pytest.raises(geowalk.DomainError, match="1e150"):
        geowalk.OnlineClassifier().fit(X * 1e150, TWO)


def test_few_rows():
    assert geowalk.OnlineRegressor().fit([[1.0]], [2.0]).predict([[5.0]]) == pytest.approx(2.0)
    assert geowalk.OnlineClassifier().fit([[0.0], [1.0]], [0, 1]).predict([[0.0], [1.0]]).tolist() == [0, 1]


# Weights and range


@pytest.mark.parametrize("model, y", CASES)
def test_weights_are_the_model_everywhere(model, y):
    model = fitted(model, X, y)
    for far in (X, NEW, 1e3 * NEW):
        scores = far @ np.atleast_2d(model.coef_).T + model.intercept_
        assert near(said(model, far), scores[:, 0] if scores.shape[1] == 1 else scores, 1e-9), "linear beyond the range seen, too"


def test_what_was_found_is_told():
    model = geowalk.OnlineClassifier().fit(X, TWO)
    assert model.n_iter_ == model.n_passes_ > 0 and model.converged_
    assert sum(member["share"] for member in model.members_) == pytest.approx(1.0)
    held = model.held_out_
    assert held["examples"] == 400 and held["log_loss"] == pytest.approx(lost(model, NEW, (NEW_SCORE > np.median(SCORE)).astype(int)), abs=0.1)
    assert "metrics are of left-out rows" in " ".join(model.summary_["notes"])
    once = geowalk.OnlineClassifier(passes=3).fit(X, TWO)
    assert once.n_passes_ == 3
    for name in ("converged_", "members_", "held_out_"):
        assert not hasattr(once, name)


def test_a_named_walk_warns_only_if_it_could_still_gain():
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        for walk in ("free", "adagrad", "natural:gaussian-shared"):
            assert geowalk.OnlineClassifier(walk=walk).fit(X, TWO).converged_
    exceptions = pytest.importorskip("sklearn.exceptions")
    with pytest.warns(exceptions.ConvergenceWarning, match="could still gain"):
        slow = geowalk.OnlineRegressor(walk="gd", rate=1e-5).fit(X, SCORE * 100 + 1000)
    assert not slow.converged_ and slow.n_passes_ == 50


def test_natural_gradient_says_whether_it_converges():
    found = geowalk.NaturalClassifier().fit(X, THREE).summary_["convergence"]
    assert found["status"] == "valid" and found["failed"] == [] and found["gap"] >= 0.0
    apart = geowalk.NaturalClassifier(passes=3).fit(np.where(TWO == 1, 1.0, -1.0)[:, None] + 0.1 * X[:, :1], TWO)
    failed = apart.summary_["convergence"]["failed"][0]
    assert failed["condition"] == "there are best coefficients" and "no mistake" in failed["found"]
    assert "convergence (theorem 5 of [SC21], corrected): not known to hold" in " ".join(apart.summary_["notes"])


def test_natural_gradient_of_wide_tables():
    random = np.random.default_rng(4)
    wide = random.standard_normal((600, 400)) + random.standard_normal((600, 1))
    y = (wide[:, :3] - wide[:, 3:6]).sum(axis=1) > 0
    for family in ("gaussian-shared", "auto", "gaussian"):
        model = geowalk.NaturalClassifier(family=family, passes=3).fit(wide[:500], y[:500])
        p = model.predict_proba(wide[500:])
        assert np.isfinite(p).all() and (family == "gaussian" or model.score(wide[500:], y[500:]) > 0.7), family


# Missing values


def gaps():
    table = pandas.DataFrame(X, columns=list("abcd"))
    table.loc[::7, "b"] = np.nan
    return table


@pytest.mark.parametrize("model, y", CASES)
def test_missing_numbers_count_as_the_mean_and_have_a_weight(model, y):
    table = gaps()
    model = fitted(model, table, y)
    assert list(model.get_feature_names_out()) == ["a", "b", "c", "d", "b=missing"] or "b=missing" in model.get_feature_names_out()
    full = lost(fitted(model, X, y), NEW, new_labels(y))
    assert lost(model, pandas.DataFrame(NEW, columns=list("abcd")), new_labels(y)) < full + 0.1
    assert np.isfinite(said(model, table)).all()


@pytest.mark.parametrize("kind", ["pandas", "array", "loaded", "one", "csv", "jsonl", "parquet", "binary"])
def test_a_new_gap_counts_as_the_mean_at_every_door(kind, tmp_path):
    frame = pandas.DataFrame(X, columns=list("abcd"))
    broken, filled = frame.head(6).copy(), frame.head(6).copy()
    broken.loc[[2, 4], "c"], filled.loc[[2, 4], "c"] = np.nan, X[:, 2].mean()
    word = "2 numbers are missing in column 'c', without gaps when the model was fitted: the mean of the column counts"
    if kind == "array":
        model = geowalk.OnlineClassifier().fit(X, TWO)
        with pytest.warns(UserWarning, match="2 numbers are missing in column '3'"):
            assert near(model.decision_function(filled.to_numpy()), model.decision_function(broken.to_numpy()))
        return
    model = geowalk.OnlineClassifier().fit(frame, TWO)
    wanted = model.predict_proba(filled)[:, 1]
    model.save(tmp_path / "m.gw")
    if kind in ("pandas", "loaded"):
        model = geowalk.load(tmp_path / "m.gw") if kind == "loaded" else model
        with pytest.warns(UserWarning, match=word) as caught:
            assert near(wanted, model.predict_proba(broken)[:, 1])
        assert len(caught) == 1
        model.predict(filled)  # no gap, no word
        # A row with a gap that is learned from gives the gap a weight of its own.
        model.partial_fit(broken, TWO[:6])
        assert np.isfinite(model.decision_function(broken)).all()
    elif kind == "one":
        with pytest.warns(UserWarning, match="1 number is missing in column 'c'"):
            one = model.predict_proba_one({"a": X[4, 0], "b": X[4, 1], "c": None, "d": X[4, 3]})
        assert one[1] == pytest.approx(wanted[4], rel=1e-12)
    else:
        path = tmp_path / f"data.{'csv' if kind == 'binary' else kind}"
        if kind == "binary":
            broken.assign(**{"class": TWO[:6]}).to_csv(path, index=False)
        elif kind == "csv":
            broken.to_csv(path, index=False)
        elif kind == "parquet":
            broken.to_parquet(path, index=False)
        else:
            rows = broken.astype(object).where(broken.notna(), None).to_dict("records")
            path.write_text("".join(json.dumps(row) + "\n" for row in rows))
        if kind == "binary":
            command("convert", path, "--output", tmp_path / "data.gwb")
            path = tmp_path / "data.gwb"
        done = command("predict", tmp_path / "m.gw", path, "--proba")
        assert near(wanted, np.array([float(line.split(",")[1]) for line in done.stdout.split()[1:]]))
        assert word in done.stderr


def test_cross_validation_meets_gaps_that_training_had_not():
    """A column with a single gap: four of five folds train without one, and one of them is tested on it."""
    frame = pandas.DataFrame(X, columns=list("abcd"))
    frame.loc[7, "b"] = np.nan
    with pytest.warns(UserWarning, match="1 number is missing in column 'b'"):
        scores = selection.cross_val_score(geowalk.OnlineClassifier(), frame, TWO, cv=5, error_score="raise")
    assert scores.min() > 0.7


# After fit


def test_files_copies_and_further_rows(tmp_path):
    for model, y in ((geowalk.OnlineClassifier(), TWO), (geowalk.OnlineClassifier(), THREE), (geowalk.OnlineRegressor(), SCORE)):
        model.fit(X, y)
        model.save(tmp_path / "m.gw")
        before = said(model, NEW)
        for again in (geowalk.load(tmp_path / "m.gw"), pickle.loads(pickle.dumps(model))):
            assert (said(again, NEW) == before).all() and again.converged_ and again.members_ == model.members_
            if hasattr(again, "predict_proba"):
                assert (again.predict_proba(NEW) == model.predict_proba(NEW)).all()
            again.partial_fit(NEW, new_labels(y))
            assert np.isfinite(said(again, X)).all() and again.summary_["examples"] == 700
            assert lost(again, NEW, new_labels(y)) < lost(model, NEW, new_labels(y)) + 0.1
        # Fitting again begins from the beginning, with the same bits.
        assert (said(model.fit(X, y), NEW) == before).all()


def test_the_certificate_is_about_the_rows_it_was_fitted_to():
    for model, y in ((geowalk.OnlineClassifier(), TWO), (geowalk.OnlineRegressor(), SCORE)):
        model.fit(X, y)
        certificate = model.certificate_
        assert certificate.status == "valid"
        if y is TWO:
            z = model.decision_function(X)
            exact = np.logaddexp(0.0, -np.where(y == 1, z, -z)).sum()
        else:
            exact = ((model.predict(X) - y) ** 2).sum()
        assert certificate.loss == pytest.approx(exact, rel=1e-9)
        random = np.random.default_rng(5)
        own = np.concatenate([np.atleast_1d(model.intercept_), np.ravel(model.coef_)])
        for _ in range(50):
            u = own * random.uniform(-1, 1, 5)  # none larger in magnitude than the model's
            known = model.certificate(u, X, y)
            assert known.regret <= certificate.bound + 1e-9 and known.regret <= known.bound + 1e-9
        best = model.certificate("best", X, y)
        assert -1e-6 <= best.regret <= best.bound


def test_show_report_and_verify_speak_of_a_fit(tmp_path):
    frame = pandas.DataFrame(X, columns=list("abcd"))
    frame.assign(**{"class": np.where(TWO == 1, "yes", "no")}).to_csv(tmp_path / "data.csv", index=False)
    table = pandas.read_csv(tmp_path / "data.csv")
    model = geowalk.OnlineClassifier().fit(table[list("abcd")], table["class"])
    model.save(tmp_path / "m.gw")
    shown = command("show", tmp_path / "m.gw").stdout
    assert "fitted to all 400 rows at once: metrics are of left-out rows" in shown and "walk       " not in shown
    model.report(tmp_path / "r.html")
    page = (tmp_path / "r.html").read_text()
    assert "A fitted linear model" in page and "before the example was learned from" not in page and "How it went" not in page
    assert "verified" in command("verify", tmp_path / "m.gw", tmp_path / "data.csv").stdout
    lines = command("predict", tmp_path / "m.gw", tmp_path / "data.csv", "--proba").stdout.split()
    assert [float(line.split(",")[1]) for line in lines[1:]] == model.predict_proba(table[list("abcd")])[:, 1].tolist()
    model.partial_fit(table[list("abcd")], table["class"]).save(tmp_path / "more.gw")
    assert "then 400 rows learned one by one" in command("show", tmp_path / "more.gw").stdout
    done = command("verify", tmp_path / "more.gw", tmp_path / "data.csv", check=False)
    assert done.returncode == 2 and "then learned 400 rows one by one" in done.stderr


@pytest.mark.parametrize("label, flags", [("two", []), ("three", []), ("number", []), ("two", ["--walk", "free", "--shuffle"])])
def test_the_command_fits_with_the_same_bits(tmp_path, label, flags):
    table = gaps().assign(color=np.random.default_rng(3).choice(["red", "blue"], 400))
    y = {"two": np.where(TWO == 1, "yes", "no"), "three": np.array(["b", "c", "a"])[THREE], "number": SCORE}[label]
    table.assign(**{"class": y}).to_csv(tmp_path / "data.csv", index=False)
    read = pandas.read_csv(tmp_path / "data.csv")
    out = command("train", tmp_path / "data.csv", "--passes", "auto", "--model", tmp_path / "cli.gw", *flags).stdout
    assert ("fitted to all 400 rows at once" in out) == (not flags)
    walk = flags[1] if flags else "auto"
    new = geowalk.OnlineRegressor(walk=walk) if label == "number" else geowalk.OnlineClassifier(walk=walk)
    new.fit(read.drop(columns="class"), read["class"]).save(tmp_path / "fit.gw")
    assert same_bits(tmp_path / "cli.gw", tmp_path / "fit.gw")
    if not flags:
        assert "verified" in command("verify", tmp_path / "cli.gw", tmp_path / "data.csv").stdout
    loaded = geowalk.load(tmp_path / "cli.gw")
    assert (loaded.predict(read.drop(columns="class")) == new.predict(read.drop(columns="class"))).all()


def test_a_pass_through_sorted_rows_names_the_flags_that_help(tmp_path):
    table = pandas.DataFrame(X, columns=list("abcd")).assign(**{"class": np.where(TWO == 1, "yes", "no")})
    table.to_csv(tmp_path / "mixed.csv", index=False)
    table.sort_values("class").to_csv(tmp_path / "sorted.csv", index=False)
    note = "their order carries a trend. To fit all rows alike: --passes auto --shuffle"
    assert note in command("train", tmp_path / "sorted.csv").stdout
    for data, flags in (("mixed.csv", []), ("sorted.csv", ["--passes", "auto", "--shuffle"])):
        assert note not in command("train", tmp_path / data, *flags).stdout


def test_flags_that_do_not_go_with_a_fit(tmp_path):
    pandas.DataFrame(X).assign(y=SCORE).to_csv(tmp_path / "data.csv", index=False)
    command("train", tmp_path / "data.csv", "--model", tmp_path / "m.gw")
    for flags, message in (
        (["--passes", "auto", "--resume", tmp_path / "m.gw"], "--resume does not go with --passes auto: a fit begins anew"),
        (["--passes", "auto", "--holdout", "5"], "--holdout does not go with --passes auto"),
        (["--shuffle"], "--shuffle needs --passes auto"),
        (["--passes", "0"], "use a whole number >= 1, or auto"),
    ):
        done = command("train", tmp_path / "data.csv", *flags, check=False)
        assert done.returncode == 2 and message in done.stderr, done.stderr
