"""river's habits, interrupts, threads."""

import os
import signal
import subprocess
import sys
import threading
import time

import geowalk
import numpy as np
import pytest


def stream(count=500, seed=0):
    random = np.random.default_rng(seed)
    for x in random.standard_normal((count, 3)):
        row = dict(zip(("a", "b", "c"), x.tolist()))
        yield row, bool(x[0] - x[1] > 0), float(x[0] - 2 * x[1])


def test_river_evaluates_and_chains():
    pytest.importorskip("river")
    from river import compose, evaluate, metrics, preprocessing

    for model in (geowalk.OnlineClassifier(), geowalk.NaturalClassifier(), geowalk.OnlineClassifier(walk="gd")):
        metric = evaluate.progressive_val_score(((x, y) for x, y, _ in stream()), model, metrics.Accuracy())
        assert metric.get() > 0.85
        auc = evaluate.progressive_val_score(((x, y) for x, y, _ in stream()), model.clone(), metrics.ROCAUC())
        assert auc.get() > 0.9
    metric = evaluate.progressive_val_score(((x, z) for x, _, z in stream()), geowalk.OnlineRegressor(), metrics.MAE())
    assert metric.get() < 0.5
    chain = compose.Pipeline(preprocessing.StandardScaler(), geowalk.OnlineClassifier())
    assert evaluate.progressive_val_score(((x, y) for x, y, _ in stream()), chain, metrics.Accuracy()).get() > 0.85
    chain = preprocessing.StandardScaler() | geowalk.OnlineRegressor()
    assert evaluate.progressive_val_score(((x, z) for x, _, z in stream()), chain, metrics.MAE()).get() < 0.6


def test_several_classes_one_by_one():
    model = geowalk.OnlineClassifier()
    assert model.predict_one({"x": 1.0}) is None and model.predict_proba_one({"x": 1.0}) == {}
    for k in range(600):
        model.learn_one({"kind": "abc"[k % 3], "t": None}, "xyz"[k % 3])
    assert [model.predict_one({"kind": kind}) for kind in "abc"] == ["x", "y", "z"]
    shares = model.predict_proba_one({"kind": "b"})
    assert max(shares, key=shares.get) == "y" and sum(shares.values()) == pytest.approx(1.0)
    assert model._model.names() == ["kind=a", "t=missing", "kind=b", "kind=c"]


def test_dictionaries_and_tables_are_the_same():
    pandas = pytest.importorskip("pandas")
    rows = [x for x, _, _ in stream()]
    y = [z for _, _, z in stream()]
    one = geowalk.OnlineRegressor()
    for x, z in zip(rows, y):
        one.learn_one(x, z)
    whole = geowalk.OnlineRegressor().fit(pandas.DataFrame(rows), y)
    assert (whole.coef_ == one.coef_).all()
    assert [whole.predict_one(x) for x in rows] == one.predict(pandas.DataFrame(rows)).tolist()
    # Any order of keys, and keys that are not known.
    assert one.predict_one({**dict(reversed(rows[0].items())), "z": 7.0}) == pytest.approx(one.predict_one(rows[0]))


@pytest.mark.parametrize("bad", [float("nan"), float("inf"), [1.0], {"y": 1.0}])
def test_dictionaries_that_are_no_rows(bad):
    model = geowalk.OnlineRegressor()
    model.learn_one({"x": 1.0}, 1.0)
    before = model.summary_
    with pytest.raises(geowalk.DataError, match="the value of 'x' is"):
        model.learn_one({"x": bad}, 1.0)
    with pytest.raises(geowalk.DataError):
        model.predict_one({"x": bad})
    assert model.summary_ == before


@pytest.mark.skipif(os.name != "posix", reason="Windows has no SIGINT for another process; Ctrl-C there goes to the whole console")
def test_ctrl_c_leaves_a_usable_model():
    code = """
import geowalk, numpy as np, sys, time
X = np.random.default_rng(0).standard_normal((200_000, 20))
y = X[:, 0] > 0
model = geowalk.OnlineClassifier(passes=1_000_000)
print("ready", flush=True)
try:
    model.fit(X, y)
except KeyboardInterrupt:
    print("stopped", time.time(), flush=True)
print(model.score(X, y) > 0.9, model.summary_["examples"] > 1000, model.certificate_.status, flush=True)
"""
    with subprocess.Popen([sys.executable, "-c", code], stdout=subprocess.PIPE, text=True) as process:
        assert process.stdout.readline() == "ready\n"
        time.sleep(1.5)
        sent = time.time()
        process.send_signal(signal.SIGINT)
        said, stopped = process.stdout.readline().split()
        assert said == "stopped" and float(stopped) - sent < 1.0
        assert process.stdout.readline().split() == ["True", "True", "valid"]


def test_other_threads_run_during_a_fit():
    X = np.random.default_rng(0).standard_normal((100_000, 20))
    y = X[:, 0] > 0
    done, ticks = threading.Event(), 0
    thread = threading.Thread(target=lambda: (geowalk.OnlineClassifier(passes=2).fit(X, y), done.set()))
    thread.start()
    while not done.is_set():
        ticks += 1
        time.sleep(0.001)
    thread.join()
    assert ticks > 20


def test_threads_may_predict_together():
    X = np.random.default_rng(0).standard_normal((5000, 5))
    model = geowalk.OnlineClassifier().fit(X, X[:, 0] > 0)
    expected, found = model.decision_function(X), [None] * 6

    def work(k):
        found[k] = model.decision_function(X)

    threads = [threading.Thread(target=work, args=(k,)) for k in range(6)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert all((answer == expected).all() for answer in found)
