"""Reports: the pages of the command line."""

import pickle
import re

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
    assert sections(tmp_path / "python.html") == sections(tmp_path / "command.html")
    page = (tmp_path / "python.html").read_text()
    assert "OnlineClassifier().fit(X, y)" in page and "regret" in page
    # A model that comes from elsewhere has a page as well, of what is left to tell.
    pickle.loads(pickle.dumps(model)).report(str(tmp_path / "again.html"))
    assert sections(tmp_path / "again.html") == sections(tmp_path / "python.html")


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
    assert numbers.findall(mine) == numbers.findall(theirs)
    model.report(tmp_path / "short.html")
    assert "Margins and calibration" not in sections(tmp_path / "short.html")
    with pytest.raises(ValueError, match="go together"):
        model.report(tmp_path / "no.html", X)
    with pytest.raises(ValueError, match="'unheard of'"):
        model.report(tmp_path / "no.html", X, np.where(np.arange(len(y)) == 3, "unheard of", y))
    with pytest.raises(geowalk.DataError, match="not in a model file"):
        pickle.loads(pickle.dumps(model)).report(tmp_path / "no.html")


def test_places_that_cannot_be_written(tmp_path):
    model = geowalk.OnlineRegressor().fit([[1.0], [2.0]], [1.0, 2.0])
    with pytest.raises(OSError):
        model.report(tmp_path / "nowhere" / "page.html")
    with pytest.raises(geowalk.NotFittedError):
        geowalk.OnlineRegressor().report(tmp_path / "page.html")


def test_plots_of_certificates():
    matplotlib = pytest.importorskip("matplotlib")
    matplotlib.use("agg")
    import matplotlib.pyplot as plt

    X = np.random.default_rng(0).standard_normal((100, 2))
    y = X @ [1.0, 2.0]
    certificate = geowalk.OnlineRegressor().fit(X, y).certificate("best", X, y)
    _, ax = plt.subplots()
    assert certificate.plot(ax=ax) is ax
    heights = [bar.get_height() for bar in ax.patches]
    assert heights == [certificate.loss, certificate.comparator_loss, certificate.regret, certificate.bound]
    plt.close("all")
