"""river's habits, interrupts, threads."""

import os
import pickle
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


# Where there is no POSIX, Python's os.kill and Popen.send_signal cannot interrupt: they end the process, or refuse.
sigint = pytest.mark.skipif(os.name != "posix", reason="a process can be interrupted by a signal only where there is POSIX; Windows would end it")


@sigint
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


@sigint
@pytest.mark.parametrize("classes", [2, 3])
@pytest.mark.parametrize("weak", ["rules", "stumps", "trees"])
def test_ctrl_c_leaves_the_rounds_until_then(weak, classes):
    random = np.random.default_rng(0)
    X, y = random.standard_normal((400, 3)), random.integers(0, classes, 400)
    # Labels without a pattern: an edge is always left, and a billion rounds never end.
    model = geowalk.BoostClassifier(weak=weak, rounds=1_000_000_000)
    interrupt = threading.Timer(0.5, os.kill, (os.getpid(), signal.SIGINT))
    interrupt.start()
    with pytest.raises(KeyboardInterrupt):
        model.fit(X, y)
    members = model.summary_["members"]
    assert members[0]["ended"] == "it was stopped" and len(members[0]["rounds"]) > 1
    assert len(members) == (1 if classes == 2 else classes) and all(member["rounds"] for member in members)
    assert model.predict_proba(X).shape == (400, classes) and model.score(X, y) > 1 / classes
    # It is a model like any other.
    first = members[0]["rounds"]
    again = geowalk.BoostClassifier(weak=weak, rounds=min(len(first), 20)).fit(X, y).summary_["members"][0]["rounds"]
    assert first[: len(again)] == again
    assert (geowalk.BoostClassifier(weak=weak).fit(X, y).predict(X).shape) == (400,)


@sigint
def test_ctrl_c_leaves_the_tree_until_then():
    random = np.random.default_rng(0)
    X, y = random.standard_normal((300_000, 4)), random.integers(0, 2, 300_000)
    model = geowalk.TreeClassifier()
    stopped = threading.Event()

    def interrupt():
        # Sorting the columns comes first; growing on takes much longer than this.
        time.sleep(1.5)
        if not stopped.is_set():
            os.kill(os.getpid(), signal.SIGINT)

    thread = threading.Thread(target=interrupt)
    thread.start()
    try:
        model.fit(X, y)
    except KeyboardInterrupt:
        assert 1 <= model.summary_["leaves"] < 50_000
        assert model.predict(X[:10]).shape == (10,)
        return
    finally:
        stopped.set()
        thread.join()
    pytest.fail("a tree of 300000 rows without a pattern was grown before anybody could stop it")


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


def test_shorter_ways_lead_to_the_same():
    rows = [(x, "abc"[k % 3] if k > 50 else "ab"[k % 2]) for k, (x, _, _) in enumerate(stream())]
    short, long = geowalk.OnlineClassifier(), geowalk.OnlineClassifier()
    for x, y in rows:
        short.learn_one(x, y)
        geowalk.OnlineClassifier.learn_one(long, x, y, w=1.0)
        assert short.predict_one(x) == geowalk.OnlineClassifier.predict_one(long, x)
        assert short.predict_proba_one(x) == geowalk.OnlineClassifier.predict_proba_one(long, x)
    assert "learn_one" in vars(short) and short.classes_.tolist() == ["a", "b", "c"]
    assert (short.coef_ == long.coef_).all()
    again = pickle.loads(pickle.dumps(short))
    assert not {"learn_one", "predict_one", "predict_proba_one"} & set(vars(again))
    again.learn_one(rows[0][0], "a", w=2.0)
    short.learn_one(rows[0][0], "a", w=2.0)
    assert (again.coef_ == short.coef_).all() and again.predict_one(rows[0][0]) == short.predict_one(rows[0][0])
    for bad in (None, float("nan")):
        with pytest.raises(ValueError, match="is no class"):
            short.learn_one(rows[0][0], bad)
    # What was learned from a table is no longer what the dictionaries taught.
    X = np.random.default_rng(0).standard_normal((50, 2))
    assert short.fit(X, X[:, 0] > 0).predict_one({"1": 9.0, "2": 0.0}) is True and "learn_one" not in vars(short)

    class Counted(geowalk.OnlineRegressor):
        def learn_one(self, x, y, w=1.0):
            self.count = getattr(self, "count", 0) + 1
            super().learn_one(x, y, w)

    own = Counted()
    for x, _, z in stream(10):
        own.learn_one(x, z)
    assert own.count == 10
