"""`save` and `load`, `clone` and pickle keep every parameter of every estimator, and with them what the next `fit` does."""

import copy
import inspect
import pickle

import geowalk
import numpy as np
import pytest
from conftest import ROOT, command

X = np.abs(np.random.default_rng(0).standard_normal((120, 3))) / 5
Y = np.where(X[:, 0] > X[:, 1], "up", "down")

# Another value than the default for every parameter; those that exclude each other are tried apart.
SETTINGS = {
    geowalk.OnlineClassifier: [
        {"walk": "gd", "loss": "hinge", "rate": 0.25, "passes": 3, "average": True, "seed": 7},
        {"rate": "inv(0.5, 10)", "walk": "adagrad"},
        {"missing": "indicator", "nominal": ["1"], "text": ()},
        {"nominal": ("1",), "text": ["2"], "passes": 2},
        {"shuffle": False, "class_weight": "balanced", "missing": "error"},
        {"class_weight": {"up": 2.0, "down": 0.5}},
    ],
    geowalk.OnlineRegressor: [
        {"walk": "free", "loss": "absolute", "rate": "auto", "passes": 4, "average": True, "seed": 3, "missing": "indicator"},
        {"rate": 1, "walk": "gd"},
        {"walk": "auto", "passes": 2},
        {"walk": "gd", "shuffle": False, "missing": "error"},
        {"nominal": ["2"], "text": ["1"]},
    ],
    geowalk.NaturalClassifier: [
        {"family": "gaussian-shared-diagonal", "ridge": 0.5, "passes": 5, "seed": 2, "missing": "indicator"},
        {"family": "auto", "nominal": ["1"], "text": ["3"]},
        {"shuffle": False, "missing": "error"},
    ],
    geowalk.Winnow: [{"margin": 0.2, "k": 2, "n": 9, "twin": True, "passes": 2}, {}],
    geowalk.BoostClassifier: [
        {"loss": "gini", "weak": "small-trees", "literals": 3, "rounds": 4, "leverage": 2, "adapt": "F1", "leaves": 3, "bins": None, "seed": 5},
        {"leverage": "all", "weak": "stumps", "bins": 17},
        {"loss": geowalk.losses.get("logistic")},
        {"nominal": ["1"], "text": ("2",)},
        {"weak": "trees", "rounds": 3, "rate": 0.3, "depth": 2, "ridge": 0.5, "row_share": 0.9, "column_share": 0.8, "min_leaf": 2},
        {"weak": "trees", "effective_rows": True, "leaf_step": "exact", "patience": 3, "hold_out": 0.25, "random_state": 4, "learning_rate": 0.5},
        {"class_weight": {"up": 2.0, "down": 0.5}},
        {"class_weight": "balanced", "rate": None, "rounds": 3},
        {"plain": True, "search": "exact", "separable": "stop", "abstain": True, "until": 0.4, "mu": 0.3, "nu": 0.2, "by": "training"},
        {"reduction": "mh", "hold_out": 0.3, "patience": 2, "rounds": 5},
        {"plain": False, "rounds": 3, "vector": True, "monotonic_cst": [1, 0, -1], "interaction_cst": [["x0", "x1"]]},
    ],
    geowalk.BoostRegressor: [
        {"weak": "rules", "rounds": 3, "monotonic_cst": {"x0": 1}, "interaction_cst": "no_interactions"},
        {"loss": "huber(delta=2)", "rounds": 3, "leaves": 3, "bins": 20, "seed": 5, "rate": 0.3, "depth": 2, "ridge": 0.5},
        {"rounds": 4, "row_share": 0.9, "column_share": 0.8, "min_leaf": 2, "nominal": ["1"], "text": ("2",)},
        {"weak": "trees", "effective_rows": True, "leaf_step": "newton", "patience": 3, "hold_out": 0.25, "random_state": 4, "learning_rate": 0.5},
    ],
    geowalk.TreeRegressor: [
        {"loss": "absolute", "max_leaves": 5, "max_depth": 3, "min_leaf": 4, "bins": 20, "seed": 9},
        {"max_leaves": 2, "nominal": ("1",), "text": ["3"]},
    ],
    geowalk.TreeClassifier: [
        {"loss": "gini", "max_leaves": 5, "max_depth": 3, "min_leaf": 4, "prune": 0.2, "bins": 20, "smoothing": 0.5, "seed": 9},
        {"max_leaves": 2, "nominal": ("1",), "text": ["3"]},
        {"prune": None, "random_state": 3, "class_weight": "balanced"},
        {"prune": "length", "max_depth": 4, "class_weight": {"up": 2.0}},
    ],
    geowalk.Hedge: [
        {"walk": "hedge", "rate": 0.3, "loss": None, "share": 0.1, "range": (0.0, 2.0)},
        {"rate": "doubling", "walk": "hedge"},
    ],
    geowalk.NullVector: [{"walk": "projected-sphere", "rate": "inv(0.5, 10)", "seed": 4}, {"rate": 0.125}],
}
NUMBERS = (geowalk.OnlineRegressor, geowalk.BoostRegressor, geowalk.TreeRegressor)
CASES = [pytest.param(cls, own, id=f"{cls.__name__}-{k}") for cls, all in SETTINGS.items() for k, own in enumerate(all)]


def learned(model):
    if isinstance(model, geowalk.Hedge):
        return model.learn(X)
    if getattr(model, "nominal", ()) or getattr(model, "text", ()):
        # Whole numbers as names, texts where the parameter says so.
        table = np.array([[round(5 * a), b, c] for a, b, c in X], dtype=object)
        for name in model.text:
            table[:, int(name) - 1] = [f"word{k % 3} other{k % 5}" for k in range(len(table))]
        return model.fit(table, X[:, 0] if isinstance(model, NUMBERS) else Y)
    if isinstance(model, geowalk.NullVector):
        return model.fit(X)
    return model.fit(X, X[:, 0] if isinstance(model, NUMBERS) else Y)


def state(model):
    """What was learned, bit for bit."""
    if isinstance(model, geowalk.Hedge):
        return model.weights_.tobytes()
    return model.vector_.tobytes() if isinstance(model, geowalk.NullVector) else arrays_of(model)


def arrays_of(model):
    summary = {key: value for key, value in model.summary_.items() if key != "seconds"}
    return pickle.dumps(model._model)[-4000:], repr(summary)


def test_every_parameter_is_tried():
    for cls, cases in SETTINGS.items():
        named = set(inspect.signature(cls.__init__).parameters) - {"self"}
        assert named == {name for own in cases for name in own} & named, cls


@pytest.mark.parametrize("cls, own", CASES)
def test_save_and_load_keep_all_parameters(cls, own, tmp_path):
    model = learned(cls(**own))
    model.save(tmp_path / "m.gw")
    loaded = geowalk.load(tmp_path / "m.gw")
    assert type(loaded) is cls
    for name, value in model.get_params().items():
        found = loaded.get_params()[name]
        expected = "logistic" if isinstance(value, geowalk.losses.Loss) else value
        assert found == expected and type(found) is type(expected), name
    loaded.__dict__.pop("_model")
    assert state(learned(loaded)) == state(learned(cls(**own))), "the next fit is another"


@pytest.mark.parametrize("cls, own", CASES)
def test_clone_copy_and_pickle_keep_all_parameters(cls, own):
    clone = pytest.importorskip("sklearn.base").clone
    model = cls(**own)
    for other in (clone(model), copy.deepcopy(model), pickle.loads(pickle.dumps(model)), pickle.loads(pickle.dumps(learned(cls(**own))))):
        assert repr(other) == repr(model) and [type(v) for v in other.get_params().values()] == [type(v) for v in model.get_params().values()]
    assert state(learned(clone(model))) == state(learned(model))
    again = pickle.loads(pickle.dumps(learned(model)))
    again.__dict__.pop("_model")
    assert state(learned(again)) == state(learned(cls(**own)))


def test_classes_come_back_as_they_were(tmp_path):
    for labels in ([False, True], [3, 8], ["a", "b"], [1.0, 2.0]):
        y = np.array(labels)[(X[:, 0] > X[:, 1]).astype(int)]
        for new in (geowalk.OnlineClassifier(), geowalk.TreeClassifier(), geowalk.BoostClassifier(rounds=2)):
            model = new.fit(X, y)
            model.save(tmp_path / "m.gw")
            loaded = geowalk.load(tmp_path / "m.gw")
            assert loaded.classes_.dtype == model.classes_.dtype and (loaded.predict(X) == model.predict(X)).all()


def test_models_of_the_command_have_the_parameters_that_the_file_tells(tmp_path):
    data = ROOT / "data" / "breast-cancer.csv"
    command("train", data, "--walk", "gd", "--rate", "0.5", "--seed", "3", "--average", "--model", tmp_path / "m.gw")
    model = geowalk.load(tmp_path / "m.gw")
    assert (model.walk, model.rate, model.seed, model.average) == ("gd", "0.5", 3, True)
    # The command goes on with a file of Python, which keeps what Python wrote.
    geowalk.OnlineClassifier(passes=4).fit(*geowalk.read(data)[:2]).save(tmp_path / "p.gw")
    assert geowalk.load(tmp_path / "p.gw").passes == 4
