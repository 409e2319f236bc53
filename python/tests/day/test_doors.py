"""Models move between the command line and Python, whichever of them learned, bit for bit."""

import geowalk
import numpy as np
import pytest
from conftest import ROOT, command, same_bits, shared

pandas = pytest.importorskip("pandas")

ESTIMATORS = {
    "train": geowalk.OnlineClassifier(passes=1),
    "boost": geowalk.BoostClassifier(rounds=3),
    "tree": geowalk.TreeClassifier(max_depth=4),
}
FLAGS = {"train": [], "boost": ["--rounds", 3], "tree": ["--depth", 4]}


def told(model, data, classes):
    """What the command predicts, in the order of these classes."""
    lines = command("predict", model, data, "--proba").stdout.split("\n")[:-1]
    order = lines[0].split(",")
    found = np.array([[float(p) for p in line.split(",")] for line in lines[1:]])
    return found[:, [order.index(str(label)) for label in classes]]


@pytest.mark.parametrize("what", ESTIMATORS)
@pytest.mark.parametrize("name", ["breast-cancer", "credit-a", "autos", "titanic"])
def test_fit_here_predict_there(what, name, tmp_path):
    path = ROOT / "data" / "breast-cancer.csv" if name == "breast-cancer" else shared(f"uci/{name}.csv")
    table = pandas.read_csv(path, nrows=3000)
    label = next(column for column in ("class", "label", "target", "y") if column in table)
    table.to_csv(tmp_path / "data.csv", index=False)
    X, y = table.drop(columns=label), table[label]
    command(what, tmp_path / "data.csv", "--model", tmp_path / "cli.gw", *FLAGS[what])
    model = ESTIMATORS[what].fit(X, y)
    model.save(tmp_path / "fit.gw")
    if what == "train":
        assert same_bits(tmp_path / "cli.gw", tmp_path / "fit.gw")
    loaded = geowalk.load(tmp_path / "cli.gw")
    assert (loaded.predict_proba(X) == model.predict_proba(X)).all()
    assert list(loaded.feature_names_in_) == list(X.columns)
    P = told(tmp_path / "fit.gw", tmp_path / "data.csv", model.classes_)
    assert (P == told(tmp_path / "cli.gw", tmp_path / "data.csv", model.classes_)).all() and (P == model.predict_proba(X)).all()
    # Without the label, and with the columns in another order, in which sums are rounded otherwise.
    X[X.columns[::-1]].to_csv(tmp_path / "bare.csv", index=False)
    assert np.allclose(told(tmp_path / "fit.gw", tmp_path / "bare.csv", model.classes_), P, rtol=1e-12)


def test_dictionaries_here_tables_there(tmp_path):
    """A stream of dictionaries has no columns: the names of its features are enough."""
    table = pandas.read_csv(ROOT / "data" / "breast-cancer.csv")
    X, y = table.drop(columns="class").assign(hospital=np.where(table.index % 2, "north", "south")), table["class"]
    model = geowalk.OnlineClassifier()
    for row, label in zip(X.to_dict("records"), y):
        model.learn_one(row, label)
    model.save(tmp_path / "m.gw")
    X.to_csv(tmp_path / "x.csv", index=False)
    assert np.allclose(told(tmp_path / "m.gw", tmp_path / "x.csv", model.classes_), model.predict_proba(X), rtol=1e-12)
    assert command("predict", tmp_path / "m.gw", tmp_path / "x.csv").stdout.split() == model.predict(X).tolist()


def test_columns_without_names(tmp_path):
    data = geowalk.read(ROOT / "data" / "breast-cancer.csv")
    tree = geowalk.TreeClassifier(max_leaves=3).fit(data.X, data.y)
    boost = geowalk.BoostClassifier(rounds=2).fit(data.X, data.y)
    assert tree.get_feature_names_out().tolist() == [f"x{k}" for k in range(30)]
    for model in (tree, boost):
        for form in ("text", "sql", "json", "dot"):
            assert "x2" in model.write(form), form
            assert data.names[20] in model.write(form, feature_names=data.names) or data.names[27] in model.write(form, feature_names=data.names)
        model.report(tmp_path / "r.html")
        assert "x2" in (tmp_path / "r.html").read_text(encoding="utf-8")
        model.report(tmp_path / "r.html", feature_names=data.names)
        assert "worst_" in (tmp_path / "r.html").read_text(encoding="utf-8")
        with pytest.raises(ValueError, match="1 names for 30 columns"):
            model.write(feature_names=["a"])
    assert all("x2" in rule.text for rule in boost.rules_)
