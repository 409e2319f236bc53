"""What a rule or a tree says of each row, and what a notebook shows of it."""

import geowalk
import numpy as np
import pytest
from conftest import ROOT, command

pandas = pytest.importorskip("pandas")

TABLE = pandas.read_csv(ROOT / "data" / "breast-cancer.csv")
X, Y = TABLE.drop(columns="class"), TABLE["class"]
BOOST = geowalk.BoostClassifier(rounds=8).fit(X, Y)


def test_rules_are_objects_that_count_their_rows():
    assert len(BOOST.rules_) == 8
    for rule in BOOST.rules_:
        assert str(rule) == rule.text and rule.condition in rule.text and rule.weight > 0
        held = np.ones(len(X), dtype=bool)
        for literal in rule.condition.split(" and "):
            name, sign, theta = literal.split()
            held &= X[name] <= float(theta) if sign == "≤" else X[name] > float(theta)
        assert rule.rows == held.sum()
        assert rule.share == pytest.approx((Y[held] == rule.votes_for).mean(), abs=1e-12)


def test_importances_are_those_of_the_columns_that_are_asked():
    importances = BOOST.feature_importances_
    assert importances.sum() == pytest.approx(1.0) and (importances >= 0).all()
    asked = {name for rule in BOOST.rules_ for name in X.columns if name in rule.condition.split()}
    assert {name for name, part in zip(X.columns, importances) if part > 0} == asked
    # What is said in the summary is kept by files.
    tree = geowalk.TreeClassifier(max_leaves=4).fit(X, Y)
    assert tree.feature_importances_.sum() == pytest.approx(1.0)


def test_rows_are_explained_as_the_command_explains_them(tmp_path):
    for model in (BOOST, geowalk.TreeClassifier(max_leaves=5).fit(X, Y)):
        model.save(tmp_path / "m.gw")
        X.to_csv(tmp_path / "x.csv", index=False)
        said = command("predict", tmp_path / "m.gw", tmp_path / "x.csv", "--explain").stdout.splitlines()[1:]
        mine = model.explain(X)
        assert len(said) == len(mine) == len(X) and all(why in line for why, line in zip(mine, said))
        assert all(why.startswith(str(label)) for why, label in zip(mine, model.predict(X)))
        again = geowalk.load(tmp_path / "m.gw")
        assert again.explain(X) == mine
        assert np.array_equal(again.feature_importances_, model.feature_importances_)
    assert "x20 > " in " ".join(geowalk.BoostClassifier(rounds=8).fit(X.to_numpy(), Y).explain(X.to_numpy()))
    trees = geowalk.BoostClassifier(weak="trees", rounds=3).fit(X, Y)
    assert len(trees.explain(X)) == len(X)
    numbers = geowalk.BoostRegressor(rounds=3).fit(X.to_numpy(), X["mean_area"])
    assert "x3 " in numbers.explain(X.to_numpy())[0]


def test_other_names_of_parameters():
    one, other = (geowalk.BoostClassifier(weak="trees", rounds=5, **rate).fit(X, Y) for rate in ({"rate": 0.3}, {"learning_rate": 0.3}))
    assert np.array_equal(one.predict_proba(X), other.predict_proba(X))
    with pytest.raises(geowalk.ConfigError, match="one parameter"):
        geowalk.BoostRegressor(rate=0.1, learning_rate=0.2).fit(X, np.arange(len(X)))
    pruned = (geowalk.TreeClassifier(prune=0.3, **seed).fit(X, Y).write() for seed in ({"seed": 5}, {"random_state": 5}))
    assert len(set(pruned)) == 1


@pytest.mark.parametrize("estimator", [geowalk.BoostClassifier(), geowalk.TreeClassifier(min_leaf=20), geowalk.BoostClassifier(weak="trees", rounds=9)], ids=repr)
def test_class_weights(estimator):
    from sklearn.base import clone

    rare = np.flatnonzero((Y == "benign") | (np.arange(len(Y)) % 8 == 0))
    few, labels = X.iloc[rare], Y.iloc[rare]
    plain = clone(estimator).fit(few, labels)
    balanced = clone(estimator).set_params(class_weight="balanced").fit(few, labels)
    counts = labels.value_counts()
    weights = labels.map(len(labels) / (2 * counts)).to_numpy()
    by_row = clone(estimator).fit(few, labels, sample_weight=weights)
    by_name = clone(estimator).set_params(class_weight=(len(labels) / (2 * counts)).to_dict()).fit(few, labels)
    assert np.array_equal(balanced.predict_proba(X), by_row.predict_proba(X))
    assert np.array_equal(balanced.predict_proba(X), by_name.predict_proba(X))
    assert balanced.predict_proba(X)[:, 1].mean() > plain.predict_proba(X)[:, 1].mean()
    with pytest.raises(ValueError, match="'other'"):
        clone(estimator).set_params(class_weight={"other": 2.0}).fit(X, Y)


def test_notebooks_show_what_was_learned():
    assert "not fitted" in geowalk.BoostClassifier()._repr_html_()
    assert "569 rows" in BOOST._repr_html_() and "training error" in BOOST._repr_html_()
    online = geowalk.OnlineClassifier(passes=1).fit(X, Y)
    assert "569 rows, accuracy" in online._repr_html_() and "wrongly" in online._repr_html_()
    assert "&lt;script&gt;" in geowalk.OnlineClassifier(walk="<script>")._repr_html_()
    assert "569 rows" in geowalk.read(ROOT / "data" / "breast-cancer.csv").__repr__()


@pytest.mark.parametrize("estimator", [geowalk.OnlineClassifier(), geowalk.NaturalClassifier(), geowalk.BoostClassifier(), geowalk.TreeClassifier()], ids=repr)
def test_metadata_is_routed(estimator):
    import sklearn
    from sklearn.base import clone
    from sklearn.exceptions import UnsetMetadataPassedError
    from sklearn.model_selection import cross_validate

    weights = np.where(Y == "benign", 1.0, 3.0)
    with sklearn.config_context(enable_metadata_routing=True):
        with pytest.raises(UnsetMetadataPassedError):
            cross_validate(estimator, X, Y, cv=3, params={"sample_weight": weights})
        asked = clone(estimator).set_fit_request(sample_weight=True).set_score_request(sample_weight=False)
        found = cross_validate(clone(asked), X, Y, cv=3, params={"sample_weight": weights}, return_estimator=True)
        plain = cross_validate(estimator, X, Y, cv=3, return_estimator=True)
    differ = [not np.array_equal(a.predict_proba(X), b.predict_proba(X)) for a, b in zip(found["estimator"], plain["estimator"])]
    assert all(differ)
    with pytest.raises(TypeError, match="sample_weight"):
        estimator.set_fit_request(colour=True)
