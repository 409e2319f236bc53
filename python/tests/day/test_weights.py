"""Probabilities of trees do not depend on the scale of sample weights; weights that are counts stand for rows that come again."""

import geowalk
import numpy as np
import pytest
from conftest import ROOT, command

DATA = geowalk.read(ROOT / "data" / "breast-cancer.csv")
X, Y = DATA.X[:, :5], DATA.y


def proba(w, **own):
    return geowalk.TreeClassifier(max_depth=3, **own).fit(X, Y, sample_weight=w).predict_proba(X)


@pytest.mark.parametrize("scale", [1e-6, 0.1, 3.0, 1e5])
@pytest.mark.parametrize("kind", ["ones", "counts", "real"])
@pytest.mark.parametrize("own", [{}, {"prune": 0.2}, {"bins": 32, "smoothing": 0.3}], ids=str)
def test_the_scale_of_weights_is_nothing(scale, kind, own):
    random = np.random.default_rng(1)
    w = {"ones": np.ones(len(Y)), "counts": random.integers(1, 5, len(Y)).astype(float), "real": random.uniform(0.1, 2.0, len(Y))}[kind]
    expected = proba(w, **own)
    assert (expected > 0).all() and np.allclose(proba(w * scale, **own), expected, rtol=1e-6)
    if kind == "ones":
        assert np.allclose(expected, proba(None, **own), rtol=1e-9)


def test_counts_are_rows_that_come_again():
    counts = np.random.default_rng(2).integers(0, 4, len(Y))
    again = geowalk.TreeClassifier(max_depth=3).fit(np.repeat(X, counts, axis=0), np.repeat(Y, counts)).predict_proba(X)
    assert np.allclose(proba(counts), again, rtol=1e-9)
    assert np.allclose(proba(counts * 0.25), again, rtol=1e-9)


def test_files_keep_the_unit_of_weights(tmp_path):
    w = np.full(len(Y), 50.0)
    model = geowalk.TreeClassifier(max_depth=3).fit(X, Y, sample_weight=w)
    model.save(tmp_path / "m.gw")
    assert (geowalk.load(tmp_path / "m.gw").predict_proba(X) == model.predict_proba(X)).all()
    rows = "".join(",".join(map(repr, [*row, weight])) + f",{label}\n" for row, weight, label in zip(X.tolist(), w.tolist(), Y))
    (tmp_path / "w.csv").write_text("a,b,c,d,e,w,class\n" + rows)
    command("tree", tmp_path / "w.csv", "--weight", "w", "--depth", 3, "--model", tmp_path / "c.gw")
    with pytest.warns(UserWarning, match="valid feature names"):
        assert (geowalk.load(tmp_path / "c.gw").predict_proba(X) == model.predict_proba(X)).all()
