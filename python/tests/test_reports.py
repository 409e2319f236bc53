"""Reports: the pages of the command line."""

import pickle
import re
import sys

import geowalk
import numpy as np
import pytest
from conftest import ROOT, command

CANCER = ROOT / "data" / "breast-cancer.csv"


def sections(path):
    text = path.read_text(encoding="utf-8")
    assert text.startswith("<!doctype html>") and "http://" not in text.replace("http://www.w3.org", "")
    return re.findall(r"<h2[^>]*>(.*?)</h2>", text)


def test_an_online_run_has_the_page_of_the_command(tmp_path):
    X, y, _, names = geowalk.read(CANCER)
    model = geowalk.OnlineClassifier()
    for k in range(0, len(y), 100):
        model.partial_fit(X[k : k + 100], y[k : k + 100])
    model.report(tmp_path / "python.html")
    command("train", CANCER, "--report", tmp_path / "command.html")
    # Of an array there is nothing to tell of how it was read.
    expected = [name for name in sections(tmp_path / "command.html") if name != "How the table was read"]
    assert sections(tmp_path / "python.html") == expected
    page = (tmp_path / "python.html").read_text()
    assert "OnlineClassifier().fit(X, y)" in page and "regret" in page
    # A model that comes from elsewhere has a page as well, of what is left to tell.
    pickle.loads(pickle.dumps(model)).report(str(tmp_path / "again.html"))
    assert sections(tmp_path / "again.html") == sections(tmp_path / "python.html")


def test_columns_without_names_are_numbered_from_0(tmp_path):
    random = np.random.default_rng(0)
    X = random.standard_normal((200, 3))
    y = X[:, 0] > X[:, 2]
    mixed = X.astype(object)
    mixed[:, 1] = random.choice(["red", "blue"], 200)
    for table in (X, mixed, np.asfortranarray(X)):
        model = geowalk.OnlineClassifier().fit(table, y)
        model.report(tmp_path / "a.html")
        page = (tmp_path / "a.html").read_text(encoding="utf-8")
        assert "x0" in page and "x2" in page and ("x1=red" in page) == (table is mixed)
        names = [f"income {k}" for k in range(len(model.get_feature_names_out()))]
        model.report(tmp_path / "a.html", feature_names=names)
        page = (tmp_path / "a.html").read_text(encoding="utf-8")
        assert "income 0" in page and "x0" not in page
        with pytest.raises(ValueError, match="1 names for"):
            model.report(tmp_path / "a.html", feature_names=["a"])
    for model in (geowalk.BoostClassifier(), geowalk.TreeClassifier(), geowalk.BoostClassifier(weak="trees", rounds=3)):
        model.fit(X, y).report(tmp_path / "b.html", feature_names=["income", "age", "visits"])
        page = (tmp_path / "b.html").read_text(encoding="utf-8")
        assert "income" in page and "x0" not in page
        assert "income" in model.write("sql", ["income", "age", "visits"])


def test_a_walk_on_the_simplex_is_drawn(tmp_path):
    X = np.random.default_rng(0).uniform(size=(200, 2))
    model = geowalk.OnlineRegressor(walk="eg", rate=0.5).fit(X, X @ [0.7, 0.1])
    model.report(tmp_path / "walk.html")
    assert "The walk" in sections(tmp_path / "walk.html")


@pytest.mark.parametrize("what", ["boost", "tree"])
def test_batch_learners_have_the_page_of_the_command(tmp_path, what):
    X, y, _, _ = geowalk.read(CANCER)
    model = (geowalk.BoostClassifier() if what == "boost" else geowalk.TreeClassifier()).fit(X, y)
    model.report(tmp_path / "python.html", X, y)
    command(what, CANCER, "--report", tmp_path / "command.html")
    assert sections(tmp_path / "python.html") == sections(tmp_path / "command.html")
    numbers = re.compile(r"of (\d+) rows have a negative margin|expected calibration error")
    mine, theirs = ((tmp_path / f"{name}.html").read_text() for name in ("python", "command"))
    assert numbers.findall(mine) == numbers.findall(theirs) != []
    model.report(tmp_path / "short.html")
    assert "Margins and calibration" not in sections(tmp_path / "short.html")
    with pytest.raises(ValueError, match="go together"):
        model.report(tmp_path / "no.html", X)
    with pytest.raises(ValueError, match="'unheard of'"):
        model.report(tmp_path / "no.html", X, np.where(np.arange(len(y)) == 3, "unheard of", y))
    # What comes from a file, or from another process, has the same page.
    model.save(tmp_path / "model.gw")
    page = (tmp_path / "python.html").read_text()
    for name, again in (("load", geowalk.load(tmp_path / "model.gw")), ("pickle", pickle.loads(pickle.dumps(model)))):
        again.report(tmp_path / f"{name}.html", X, y)
        assert (tmp_path / f"{name}.html").read_text().replace(f"{again!r}", f"{model!r}") == page
    command(what, CANCER, "--model", tmp_path / "command.gw")
    geowalk.load(tmp_path / "command.gw").report(tmp_path / "short.html")
    assert sections(tmp_path / "short.html") == [
        name for name in sections(tmp_path / "command.html") if "calibration" not in name and "How good" not in name
    ]


@pytest.mark.parametrize("settings", [{"adapt": "F*"}, {"weak": "small-trees", "leaves": 3}, {"leverage": "all", "loss": "exponential"}, {"bins": None, "weak": "stumps"}])
def test_pages_of_several_classes_come_back(tmp_path, settings):
    random = np.random.default_rng(0)
    X = random.standard_normal((200, 3))
    y = np.array(["c", "a", "b"])[np.digitize(X[:, 0] + 0.3 * random.standard_normal(200), [-0.4, 0.7])]
    model = geowalk.BoostClassifier(rounds=6, **settings).fit(X, y)
    model.report(tmp_path / "a.html")
    again = pickle.loads(pickle.dumps(model))
    again.report(tmp_path / "b.html")
    assert (tmp_path / "a.html").read_text() == (tmp_path / "b.html").read_text()
    assert again.summary_ == model.summary_


def test_places_that_cannot_be_written(tmp_path):
    model = geowalk.OnlineRegressor().fit([[1.0], [2.0]], [1.0, 2.0])
    with pytest.raises(OSError):
        model.report(tmp_path / "nowhere" / "page.html")
    with pytest.raises(geowalk.NotFittedError):
        geowalk.OnlineRegressor().report(tmp_path / "page.html")


def test_a_plot_without_matplotlib_says_what_is_missing(monkeypatch):
    monkeypatch.setitem(sys.modules, "matplotlib", None)
    monkeypatch.setitem(sys.modules, "matplotlib.pyplot", None)
    certificate = geowalk.OnlineRegressor().fit([[1.0], [2.0]], [1.0, 2.0]).certificate_
    with pytest.raises(ImportError, match="a plot needs matplotlib: pip install matplotlib"):
        certificate.plot()


def test_plots_of_certificates():
    import matplotlib

    matplotlib.use("agg")
    import matplotlib.pyplot as plt

    X = np.random.default_rng(0).standard_normal((100, 2))
    y = X @ [1.0, 2.0]
    certificate = geowalk.OnlineRegressor().fit(X, y).certificate("best", X, y)
    _, ax = plt.subplots()
    assert certificate.plot(ax=ax) is ax
    heights = [bar.get_height() for bar in ax.patches]
    assert heights == [certificate.loss, certificate.comparator_loss, certificate.regret, certificate.bound]
    assert [label.get_text() for label in ax.get_xticklabels()] == ["loss", "comparator loss", "regret", "bound"]
    assert ax.get_title() == f"{certificate.name}: valid"
    # Without an axis it takes the present one; without a comparator it shows what there is.
    plt.close("all")
    plain = geowalk.OnlineRegressor().fit(X, y).certificate_
    assert plain.plot() is plt.gca() and [bar.get_height() for bar in plt.gca().patches] == [plain.loss, plain.bound]
    plt.close("all")
