"""Boosted trees as estimators."""

import pickle

import geowalk
import numpy as np
import pytest
from conftest import ROOT, command

sklearn = pytest.importorskip("sklearn")

from sklearn.utils.estimator_checks import check_estimator  # noqa: E402

DATA = ROOT / "data" / "breast-cancer.csv"
ESTIMATORS = [
    geowalk.BoostClassifier(weak="trees"),
    geowalk.BoostClassifier(),
    geowalk.BoostRegressor(),
    geowalk.TreeRegressor(),
]


# With weights instead of repeated rows 2 of 15 predictions differ by 0.025 there. The cause is not known; a suspect are
# columns whose gains differ by rounding only, of which 15 rows and 30 columns have many.
WITHOUT_EQUIVALENCE = {
    "BoostRegressor": {
        "check_sample_weight_equivalence_on_dense_data",
        "check_sample_weight_equivalence_on_sparse_data",
    }
}


@pytest.mark.parametrize("estimator", ESTIMATORS, ids=repr)
@pytest.mark.filterwarnings("ignore")
def test_checks(estimator):
    """All of scikit-learn's checks, equivalence of weights and repeated rows among them."""
    done = check_estimator(estimator, on_fail=None, on_skip=None)
    assert len(done) > 30
    failed = {check["check_name"]: check["exception"] for check in done if check["status"] == "failed"}
    assert set(failed) == WITHOUT_EQUIVALENCE.get(type(estimator).__name__, set()), failed
    assert "check_sample_weight_equivalence_on_dense_data" in {check["check_name"] for check in done}


def data(rows=400, seed=0):
    random = np.random.default_rng(seed)
    X = random.standard_normal((rows, 4))
    X[random.random((rows, 4)) < 0.05] = np.nan
    z = np.nan_to_num(X[:, 0]) * np.nan_to_num(X[:, 1]) + np.isnan(X[:, 2])
    return X, z + 0.2 * random.standard_normal(rows)


def test_rounds_are_chosen_or_exact():
    X, z = data()
    chosen = geowalk.BoostClassifier(weak="trees").fit(X, z > 0)
    about = chosen.summary_["chosen"]
    assert about["refitted"] and about["rounds"] == round(1.2 * about["best"]) == chosen.n_rounds_
    exact = geowalk.BoostClassifier(weak="trees", rounds=9).fit(X, z > 0)
    assert exact.n_rounds_ == 9
    stages = list(exact.staged_predict_proba(X))
    assert len(stages) == 9 and (stages[-1] == exact.predict_proba(X)).all()
    p = chosen.predict_proba(X)
    assert (p > 0).all() and (p < 1).all()
    assert exact.certificate_.status == "valid" and exact.certificate_.loss <= exact.certificate_.bound
    assert (geowalk.BoostClassifier(weak="trees", random_state=3).fit(X, z > 0).predict_proba(X) != p).any()
    assert (geowalk.BoostClassifier(weak="trees").fit(X, z > 0).predict_proba(X) == p).all()
    assert chosen.feature_importances_.argmax() in (0, 1)


def test_eval_set_stops_early():
    X, z = data()
    V, u = data(seed=1)
    model = geowalk.BoostClassifier(weak="trees").fit(X, z > 0, eval_set=[(V, u > 0)])
    about = model.summary_["chosen"]
    assert about["held_out"] == 400 and not about["refitted"] and about["best"] == model.n_rounds_
    numbers = geowalk.BoostRegressor().fit(X, z, eval_set=(V, u))
    assert numbers.summary_["chosen"]["best"] == numbers.n_rounds_
    with pytest.raises(ValueError, match="rounds = 5 is exact"):
        geowalk.BoostClassifier(weak="trees", rounds=5).fit(X, z > 0, eval_set=(V, u > 0))
    with pytest.raises(ValueError, match="weak='trees'"):
        geowalk.BoostClassifier(plain=True).fit(X, z > 0, eval_set=(V, u > 0))


def test_several_classes_and_numbers(tmp_path):
    X, z = data()
    y = np.digitize(z, [-0.5, 0.5])
    model = geowalk.BoostClassifier(weak="trees").fit(X, y)
    assert model.predict_proba(X).shape == model.decision_function(X).shape == (400, 3)
    assert model.score(X, y) > 0.8
    for loss in ("squared", "absolute", "quantile(tau=0.5)", "huber"):
        assert geowalk.BoostRegressor(loss).fit(X, z).score(X, z) > 0.5, loss
    counts = np.random.default_rng(0).poisson(np.exp(np.nan_to_num(X[:, 0])))
    found = geowalk.BoostRegressor("poisson").fit(X, counts).predict(X)
    assert (found > 0).all()
    tree = geowalk.TreeRegressor(max_leaves=8).fit(X, z)
    assert len(np.unique(tree.predict(X))) <= 8
    for own in (model, tree, geowalk.BoostRegressor(rounds=5).fit(X, z)):
        own.save(tmp_path / "m.gw")
        again, copy = geowalk.load(tmp_path / "m.gw"), pickle.loads(pickle.dumps(own))
        assert repr(again) == repr(own) == repr(copy)
        assert (again.predict(X) == own.predict(X)).all() and (copy.predict(X) == own.predict(X)).all()
        own.report(tmp_path / "r.html")
        assert "Loss by round" in (tmp_path / "r.html").read_text(encoding="utf-8")
        assert {form: bool(own.write(form)) for form in ("text", "json", "sql", "dot")}


def test_the_command_gives_the_same_bits(tmp_path):
    table = geowalk.read(DATA)
    X = table.X
    command("boost", DATA, "--weak", "trees", "--seed", "4", "--progress", "none", "--model", tmp_path / "m.gw")
    own = geowalk.BoostClassifier(weak="trees", seed=4).fit(X, table.y)
    with pytest.warns(UserWarning, match="X does not have valid feature names"):
        found = geowalk.load(tmp_path / "m.gw").predict_proba(X)
    assert (found == own.predict_proba(X)).all()


def test_losses_of_ones_own():
    X, z = data()
    loss = geowalk.losses.Custom(
        lambda m: float(np.logaddexp(0.0, -m)),
        lambda m: float(-1.0 / (1.0 + np.exp(m))),
        lambda m: float(1.0 / (2.0 + np.exp(m) + np.exp(-m))),
    )
    own = geowalk.BoostClassifier(loss, weak="trees", rounds=5).fit(X, z > 0)
    named = geowalk.BoostClassifier("logistic", weak="trees", rounds=5).fit(X, z > 0)
    assert np.allclose(own.decision_function(X), named.decision_function(X), rtol=1e-6, atol=1e-6)
    assert np.allclose(own.predict_proba(X), named.predict_proba(X), rtol=1e-6, atol=1e-6)
    with pytest.raises(geowalk.DataError, match="pickle the estimator"):
        own.save("nowhere.gw")


def test_mistakes_are_named():
    X, z = data(60)
    with pytest.raises(geowalk.ConfigError, match="rate = 0.5 does not go with plain rules"):
        geowalk.BoostClassifier(weak="stumps", rate=0.5).fit(X, z > 0)
    with pytest.raises(geowalk.ConfigError, match="trees need bins"):
        geowalk.BoostClassifier(weak="trees", bins=None).fit(X, z > 0)
    with pytest.raises(geowalk.ConfigError, match="loss for trees on numbers"):
        geowalk.BoostRegressor("logistic").fit(X, z)
    with pytest.raises(ValueError, match="must be"):
        geowalk.BoostRegressor("poisson").fit(X, z)


def test_rules_without_rounds_are_chosen_by_held_out_rows():
    X, z = data(500)
    model = geowalk.BoostClassifier().fit(X, z > 0)
    assert model.summary_["weak"] == "rules" and model.summary_["chosen"]["refitted"]
    rules = model.rules_
    assert len(rules) > 20 and all(rule.weight > 0 and rule.votes_for in ("0", "1") for rule in rules)
    assert [rule.weight for rule in rules] == sorted((rule.weight for rule in rules), reverse=True)
    assert all(0 <= rule.share <= 1 and 1 <= rule.rows <= 500 for rule in rules)
    assert model.score(X, z > 0) > 0.85 and "loudest rules" in model.explain(X[:1])[0]
    again = pickle.loads(pickle.dumps(model))
    assert (again.predict_proba(X) == model.predict_proba(X)).all() and again.rules_ == rules
    assert (model.predict_proba(X) > 0).all()
    plain = geowalk.BoostClassifier(plain=True).fit(X, z > 0)
    assert plain.summary_["members"][0]["rounds"] and len(plain.rules_) <= 10
    assert (plain.predict_proba(X) == geowalk.BoostClassifier(rounds=10).fit(X, z > 0).predict_proba(X)).all()
    assert geowalk.BoostClassifier(rounds=30, plain=False).fit(X, z > 0).n_rounds_ == 30
    with pytest.raises(geowalk.ConfigError, match="rate = 0.5 does not go with plain rules"):
        geowalk.BoostClassifier(plain=True, rate=0.5).fit(X, z > 0)
    with pytest.raises(geowalk.ConfigError, match="search = 'exact' goes with plain=True"):
        geowalk.BoostClassifier(plain=False, search="exact").fit(X, z > 0)


def test_rules_of_numbers_and_of_several_classes():
    X, z = data(500)
    numbers = geowalk.BoostRegressor(weak="rules").fit(X, z)
    assert numbers.score(X, z) > 0.7 and "if" in numbers.explain(X[:1])[0] or "loudest" in numbers.explain(X[:1])[0]
    y = np.digitize(z, [-0.5, 0.5])
    for settings in ({}, {"weak": "trees", "vector": True}):
        model = geowalk.BoostClassifier(**settings).fit(X, y)
        p = model.predict_proba(X)
        assert p.shape == (500, 3) and model.score(X, y) > 0.8 and (p > 0).all()
    text = geowalk.BoostClassifier().fit(X, y).rules_[0].text
    assert all(f" {k}" in text for k in range(3)), text


def test_constraints_hold():
    X, z = data(500)
    grid = np.linspace(-3, 3, 80)[:, None] * [1, 0, 0, 0] + [0, 1, 0, 0]
    for weak in ("trees", "rules"):
        rising = geowalk.BoostRegressor(weak=weak, monotonic_cst=[1, 0, 0, 0]).fit(X, z)
        assert (np.diff(rising.predict(grid)) >= 0).all()
        falling = geowalk.BoostClassifier(weak=weak, monotonic_cst={"x0": -1}).fit(X, z > 0)
        assert (np.diff(falling.predict_proba(grid)[:, 1]) <= 0).all()
        alone = geowalk.BoostRegressor(weak=weak, interaction_cst="no_interactions").fit(X, z)
        both = alone.predict([[1, 1, 0, 0]]) - alone.predict([[1, -1, 0, 0]])
        other = alone.predict([[-1, 1, 0, 0]]) - alone.predict([[-1, -1, 0, 0]])
        np.testing.assert_allclose(both, other, atol=1e-9)
        assert not alone.summary_["pairs"]
        assert {"1", "2"} == set(geowalk.BoostRegressor(weak="trees").fit(X, z).summary_["pairs"][0]["columns"])
    for wrong, message in (({"x9": 1}, "unknown column 'x9'"), ([1], "1 values for 4 columns"), ({0: 2}, "it takes 1")):
        with pytest.raises(geowalk.ConfigError, match=message):
            geowalk.BoostRegressor(monotonic_cst=wrong).fit(X, z)


def test_every_parameter_of_the_plain_algorithm():
    X, z = data(300)
    y = np.digitize(z, [-0.5, 0.5])
    for settings in (
        {"search": "exact"}, {"reduction": "mh"}, {"abstain": True}, {"until": 0.5}, {"separable": "stop"},
        {"hold_out": 0.3, "patience": 3, "rounds": 20}, {"adapt": "F*"}, {"adapt": "F1", "by": "training", "mu": 0.3, "nu": 0.2},
    ):
        target = z > 0 if "until" in settings else y
        model = geowalk.BoostClassifier(**settings).fit(X, target)
        assert "members" in model.summary_ and model.predict_proba(X).shape[0] == 300, settings
    chosen = {by: geowalk.BoostClassifier(adapt="F1", by=by).fit(X, z > 0) for by in ("held-out", "training")}
    assert (chosen["held-out"].predict_proba(X) != chosen["training"].predict_proba(X)).any()
    with pytest.raises(geowalk.ConfigError, match="unknown reduction 'one'"):
        geowalk.BoostClassifier(reduction="one").fit(X, y)
