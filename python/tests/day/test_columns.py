"""Columns are checked whoever trained the model: the command or Python, loaded or not."""

import geowalk
import numpy as np
import pytest
from conftest import ROOT, command

pandas = pytest.importorskip("pandas")

TABLE = pandas.read_csv(ROOT / "data" / "breast-cancer.csv")
X, Y = TABLE.drop(columns="class"), TABLE["class"]
ONLINE = [geowalk.OnlineClassifier, geowalk.NaturalClassifier]
BATCH = [geowalk.BoostClassifier, geowalk.TreeClassifier]
COMMANDS = {"train": [], "boost": ["--rounds", "3"], "tree": []}


def fitted(how, tmp_path):
    """A model of the command or of an estimator, loaded or not."""
    where, what = how
    if where == "command":
        command(what, ROOT / "data" / "breast-cancer.csv", "--model", tmp_path / "m.gw", *COMMANDS[what])
        return geowalk.load(tmp_path / "m.gw")
    model = what().fit(X, Y)
    if where == "loaded":
        model.save(tmp_path / "m.gw")
        return geowalk.load(tmp_path / "m.gw")
    return model


MODELS = [("command", what) for what in COMMANDS] + [(w, e) for w in ("python", "loaded") for e in ONLINE + BATCH]


@pytest.mark.parametrize("how", MODELS, ids=str)
def test_wrong_columns_are_errors_that_name_them(how, tmp_path):
    model = fitted(how, tmp_path)
    assert model.n_features_in_ == 30 and list(model.feature_names_in_) == list(X.columns)
    assert model.score(X, Y) > 0.85
    assert (model.predict(X[X.columns[::-1]]) == model.predict(X)).all()
    calls = [model.predict, model.predict_proba]
    if hasattr(model, "partial_fit"):
        calls.append(lambda table: model.partial_fit(table, Y))
    for call in calls:
        with pytest.raises(ValueError, match="yet now missing:\n- worst_area\n"):
            call(X.drop(columns="worst_area"))
        with pytest.raises(ValueError, match="yet now missing"):
            call(X[["mean_radius"]])
        with pytest.raises(ValueError, match="unseen at fit time:\n- other\n"):
            call(X.assign(other=1.0))
        with pytest.raises(ValueError, match="unseen at fit time:\n- radius\n(.*\n)*.*now missing:\n- mean_radius\n"):
            call(X.rename(columns={"mean_radius": "radius"}))
        with pytest.raises(ValueError, match="column 'mean_radius' held numbers .* holds text now"):
            call(X.astype(str))
        with pytest.raises(ValueError, match="column 'worst_area' held numbers .* holds text now"):
            call(X.assign(worst_area="large"))
        with pytest.raises(ValueError, match="X has 29 features, but .* is expecting 30"):
            with pytest.warns(UserWarning):
                call(X.to_numpy()[:, :29])


@pytest.mark.parametrize("new", ONLINE + BATCH)
@pytest.mark.parametrize("loaded", [False, True])
def test_a_column_of_names_stays_one(new, loaded, tmp_path):
    random = np.random.default_rng(0)
    table = pandas.DataFrame({"size": random.standard_normal(200), "color": random.choice(["red", "blue"], 200)})
    y = (table["color"] == "red").astype(int)
    model = new().fit(table, y)
    if loaded:
        model.save(tmp_path / "m.gw")
        model = geowalk.load(tmp_path / "m.gw")
    assert model.score(table, y) == 1.0
    with pytest.raises(ValueError, match="column 'color' held names .* holds numbers now"):
        model.predict(table.assign(color=3.5))
    with pytest.raises(ValueError, match="column 'size' held numbers .* holds text now .'large' in row 0"):
        model.predict(table.assign(size="large"))
    # A name that is new is no error: it says nothing of the class.
    assert model.predict(table.assign(color="violet")).shape == (200,)


def test_features_of_dictionaries_come_and_go(tmp_path):
    model = geowalk.OnlineClassifier()
    for row, label in zip(X.to_dict("records"), Y):
        model.learn_one(row, label)
    model.learn_one({"another": 1.0}, "benign")
    assert model.predict_one({"mean_radius": 10.0}) in ("benign", "malignant")
    model.save(tmp_path / "m.gw")
    again = geowalk.load(tmp_path / "m.gw")
    assert again.predict_one(X.iloc[0].to_dict()) == model.predict_one(X.iloc[0].to_dict())
    assert (again.predict(X) == model.predict(X)).all()


def test_sparse_models_know_their_width(tmp_path):
    sparse = pytest.importorskip("scipy.sparse")
    model = geowalk.OnlineClassifier().fit(sparse.csr_matrix(X.to_numpy()), Y)
    model.save(tmp_path / "m.gw")
    again = geowalk.load(tmp_path / "m.gw")
    assert again.n_features_in_ == 30 and not hasattr(again, "feature_names_in_")
    with pytest.raises(ValueError, match="X has 7 features, but OnlineClassifier is expecting 30"):
        again.predict(sparse.csr_matrix((2, 7)))
