"""river's habits, interrupts, threads."""

import os
import pickle
import signal
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
    whole = geowalk.OnlineRegressor(passes=1).fit(pandas.DataFrame(rows), y)
    assert whole.summary_ == one.summary_
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


def test_numbers_of_every_kind_are_the_same_row():
    """Whole numbers, truth values and NumPy's are read on another way than floats."""
    kinds = [float, int, np.float64, np.float32, np.int64, np.int8]
    rows = [({"a": k % 5, "b": k % 2, "c": 0}, float(k % 3)) for k in range(60)]
    models = [geowalk.OnlineRegressor(average=True) for _ in kinds]
    mixed = geowalk.OnlineRegressor(average=True)
    for at, (x, y) in enumerate(rows):
        for model, kind in zip(models, kinds):
            row = {name: kind(value) for name, value in x.items()}
            model.learn_one(row, y)
            assert model.predict_one(row) == models[0].predict_one(x)
        mixed.learn_one({name: kinds[(at + k) % len(kinds)](value) for k, (name, value) in enumerate(x.items())}, y)
    for model in [*models[1:], mixed]:
        assert (model.coef_ == models[0].coef_).all() and model.summary_ == models[0].summary_
    truth = {name: bool(value % 2) for name, value in rows[1][0].items()}
    assert mixed.predict_one(truth) == mixed.predict_one({name: float(value) for name, value in truth.items()})
    # Fewer keys than before, and again as many; keys that are equal and are not the same feature.
    assert mixed.predict_one({"a": 1.0}) == mixed.predict_one({"a": 1.0, "b": 0.0, "c": 0.0})
    one = geowalk.OnlineRegressor()
    for key in (1, 1.0, True, "1"):
        one.learn_one({key: 1.0}, 1.0)
    assert one._model.names() == ["1", "1.0", "True"]


def test_a_dictionary_that_changes_while_it_is_read():
    class Key:
        def __str__(self):
            row.clear()
            return "key"

    class Number:
        def __float__(self):
            row["new"] = 1.0
            return 2.0

    model = geowalk.OnlineRegressor()
    row = {Key(): 1.0, "b": 2.0}
    model.learn_one(row, 1.0)
    row = {"b": Number(), "c": 2.0}
    model.learn_one(row, 1.0)
    assert model.summary_["examples"] == 2 and model._model.names() == ["key", "b", "c"]
    row = {"b": Number(), "c": 2.0}
    assert np.isfinite(model.predict_one(row))


class Celsius(float):
    """A number of its own kind, whose `__float__` nobody asks for what the number in it says."""

    def __float__(self):
        raise AssertionError("code of somebody's was run")


class Whole(int):
    def __float__(self):
        changed.clear()
        return 2.0


changed = {}


def test_rows_are_read_where_they_lie():
    """Rows under the keys of the last one are read in place (crates/geowalk-py/src/online/borrowed.rs); whatever is not certain to be a number goes the other way. Both ways are one row."""
    names = ["a", "b", "c"]

    def new():
        model = geowalk.OnlineRegressor(walk="adagrad")
        for k in range(5):
            model.learn_one(dict(zip(names, [1.0 + k, 2.0, -1.0])), float(k))
        return model

    def apart(row):
        """The same row, under keys that are equal and not the same: it is not read in place."""
        return {"".join(list(name)): value for name, value in row.items()}

    model = new()
    rows = [
        [1.5, 2.5, 3.5],
        [1, -1, 0],
        [True, False, True],
        [Celsius(1.5), 2.5, 3.5],
        [np.float64(1.5), np.float32(2.5), np.int16(3)],
        [2**60, -(2**60), 1],
        [1.5, "red", 2.0],
        [1.5, None, 2.0],
        [-0.0, 0.0, 5e-324],
    ]
    for values in rows:
        row = dict(zip(names, values))
        assert all(a is not b for a, b in zip(apart(row), names)) and model.predict_one(row) == model.predict_one(apart(row))
        ways = new(), new()
        for way, x in zip(ways, (row, apart(row))):
            way.learn_one(x, 1.0)
            way.learn_one(dict(zip(names, [1.0, 1.0, 1.0])), 1.0)
        assert ways[0].summary_ == ways[1].summary_ and (ways[0].coef_ == ways[1].coef_).all()
    # A row that changes from call to call, fewer and more keys, the same in another order.
    row, other = dict(zip(names, [1.0, 2.0, 3.0])), new()
    for change in (lambda: row.update(b=7.0), lambda: row.pop("a"), lambda: row.update(a=2.0), lambda: row.update(d=1.0), lambda: row.clear(), lambda: row.update(c=1)):
        change()
        assert model.predict_one(row) == other.predict_one(apart(row))
        model.learn_one(row, 1.0)
        other.learn_one(apart(row), 1.0)
        assert model.predict_one(row) == other.predict_one(apart(row))
    assert model.summary_ == other.summary_ and model._model.names() == [*names, "d"]


def test_rows_that_are_refused_leave_the_keys_as_they_were():
    model = geowalk.OnlineRegressor()
    row = {"a": 1.0, "b": 2.0}
    for _ in range(3):
        model.learn_one(row, 1.0)
    before, said = model.summary_, model.predict_one(row)
    for bad in (float("nan"), float("-inf"), 10**400, -(10**400), 1j, b"1", [1.0]):
        for ask in (model.predict_one, lambda x: model.learn_one(x, 1.0)):
            with pytest.raises(geowalk.DataError, match="the value of 'b' is .*; a"):
                ask({**row, "b": bad})
        assert model.predict_one(row) == said
    assert model.summary_ == before


def test_code_of_somebody_runs_while_nothing_is_borrowed():
    """`__float__`, `__str__` and `__del__` of keys and values may change the row, or ask the model itself."""
    model = geowalk.OnlineRegressor()
    keys = ["a", "b"]
    for k in range(3):
        model.learn_one(dict(zip(keys, [float(k), 1.0])), float(k))

    class Nested:
        def __float__(self):
            model.predict_one({"a": 1.0, "b": 1.0})
            return 1.0

    # The model is at work on this row: that is an error which says so, and no second row in its memory.
    for ask in (model.predict_one, lambda x: model.learn_one(x, 1.0)):
        with pytest.raises((RuntimeError, geowalk.DataError)):
            ask({"a": 1.0, "b": Nested()})
    changed.update(a=Whole(1), b=1.0)
    assert model.predict_one(changed) == model.predict_one({"a": 2.0, "b": 1.0}) and not changed
    examples = model.summary_["examples"]

    class Last:
        """A key, alive only in the row; the model remembers it by reference, so that no newer key has its address."""

        def __init__(self, name):
            self.name = name

        def __str__(self):
            return self.name

    for k in range(50):
        model.learn_one({Last(f"f{k}"): 1.0}, 1.0)
    assert model._model.names() == ["a", "b", *(f"f{k}" for k in range(50))] and model.summary_["examples"] == examples + 50


# Where there is no POSIX, Python's os.kill and Popen.send_signal cannot interrupt: they end the process, or refuse.
sigint = pytest.mark.skipif(os.name != "posix", reason="a process can be interrupted by a signal only where there is POSIX; Windows would end it")


def interrupted(work, after=0.3):
    """Does the work and presses Ctrl-C after so many seconds of it; how many it went on. Seconds of the processor, not of the clock: what else the machine does takes no part."""
    sent, over, start = [], threading.Event(), time.process_time()

    def press():
        while time.process_time() - start < after and not over.is_set():
            time.sleep(0.005)
        if not over.is_set():
            sent.append(time.process_time())
            os.kill(os.getpid(), signal.SIGINT)

    thread = threading.Thread(target=press)
    # A shell's background jobs ignore the signal, until they are told what to do with it.
    usual = signal.signal(signal.SIGINT, signal.default_int_handler)
    thread.start()
    try:
        work()
    except KeyboardInterrupt:
        return time.process_time() - sent[0]
    finally:
        over.set()
        thread.join()
        signal.signal(signal.SIGINT, usual)
    pytest.fail("it was done before anybody could stop it")


@sigint
def test_ctrl_c_leaves_a_usable_model():
    X = np.random.default_rng(0).standard_normal((100_000, 20))
    y = X[:, 0] > 0
    # Whoever does not listen goes on for half a minute.
    model = geowalk.OnlineClassifier(passes=400)
    assert interrupted(lambda: model.fit(X, y)) < 1.0
    seen = model.summary_["examples"]
    assert 1000 < seen < 400 * len(y)
    assert model.score(X, y) > 0.9 and model.certificate_.status == "valid"
    assert model.partial_fit(X[:10], y[:10]).summary_["examples"] == seen + 10


@sigint
def test_ctrl_c_ends_the_search_for_the_best_comparator():
    random = np.random.default_rng(0)
    X = random.standard_normal((20_000, 10))
    y = random.integers(0, 8, len(X))
    # Hinges have kinks, where the search creeps.
    model = geowalk.OnlineClassifier(loss="hinge", passes=1).fit(X, y)
    before = model.summary_
    assert interrupted(lambda: model.certificate("best", X, y)) < 1.0
    assert model.summary_ == before
    known = model.certificate(model, X, y)
    assert known.regret <= known.bound


@sigint
@pytest.mark.parametrize("classes", [2, 3])
@pytest.mark.parametrize("weak", ["rules", "stumps", "small-trees"])
def test_ctrl_c_leaves_the_rounds_until_then(weak, classes):
    random = np.random.default_rng(0)
    X, y = random.standard_normal((400, 3)), random.integers(0, classes, 400)
    # Labels without a pattern: an edge is always left, and so many rounds take minutes.
    model = geowalk.BoostClassifier(weak=weak, rounds=1_000_000)
    assert interrupted(lambda: model.fit(X, y)) < 1.0
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
    X, y = random.standard_normal((200_000, 4)), random.integers(0, 2, 200_000)
    model = geowalk.TreeClassifier()
    # Sorting the columns comes first, and whoever stops it then has no tree; growing on takes much longer. Where memory is slow all of it takes longer.
    for after in (0.8, 1.6, 3.2):
        assert interrupted(lambda: model.fit(X, y), after) < 1.0
        if "_model" in model.__dict__:
            break
    assert 1 <= model.summary_["leaves"] < 50_000
    assert model.predict(X[:10]).shape == (10,)


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
