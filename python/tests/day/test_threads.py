"""One estimator in several threads, in processes that were forked, and in pickles."""

import multiprocessing
import pickle
import sys
import threading

import geowalk
import numpy as np
import pytest
from sklearn.base import clone

X = np.random.default_rng(0).standard_normal((3000, 5))
Y = (X[:, 0] > X[:, 1]).astype(int)
ESTIMATORS = [
    geowalk.OnlineClassifier(),
    geowalk.OnlineClassifier(passes=1),
    geowalk.OnlineRegressor(),
    geowalk.NaturalClassifier(passes=1),
    geowalk.BoostClassifier(rounds=3),
    geowalk.BoostClassifier(weak="trees", rounds=3),
    geowalk.BoostRegressor(rounds=3),
    geowalk.TreeClassifier(),
    geowalk.TreeRegressor(),
]


@pytest.fixture(params=ESTIMATORS, ids=repr)
def fitted(request):
    return clone(request.param).fit(X, Y)


def run(*works):
    """Runs functions at the same time; what they raised."""
    raised = []

    def guarded(work):
        try:
            work()
        except BaseException as error:  # noqa: BLE001
            raised.append(error)

    threads = [threading.Thread(target=guarded, args=(work,)) for work in works]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join(timeout=60)
        assert not thread.is_alive(), "it hangs"
    return raised


def test_threads_predict_at_the_same_time(fitted):
    expected, found = fitted.predict(X), [None] * 6

    def predict(at):
        for _ in range(5):
            found[at] = fitted.predict(X)

    assert run(*(lambda at=at: predict(at) for at in range(6))) == []
    assert all((own == expected).all() for own in found)


def test_threads_learn_apart(fitted):
    others = [clone(fitted) for _ in range(4)]
    assert run(*(lambda other=other: other.fit(X, Y) for other in others)) == []
    assert all((other.predict(X) == fitted.predict(X)).all() for other in others)


def test_learning_while_others_predict_works_or_says_why(fitted):
    expected = fitted.predict(X)
    done = threading.Event()

    def learn():
        try:
            for _ in range(5):
                fitted.fit(X, Y)
        finally:
            done.set()

    def predict():
        while not done.is_set():
            found = fitted.predict(X)
            assert (found == expected).all(), "an answer is one of a whole model"

    for error in run(learn, predict, predict):
        # Between two fits there is no model, and columns are not known.
        assert isinstance(error, (RuntimeError, AttributeError)) or "not fitted" in str(error), repr(error)
        assert "borrowed" not in str(error)
    assert (fitted.fit(X, Y).predict(X) == expected).all(), "nothing is broken afterwards"


def test_rows_learned_by_several_threads_are_all_learned():
    model = geowalk.OnlineClassifier()
    model.partial_fit(X[:10], Y[:10], classes=[0, 1])

    def learn():
        for k in range(10, 200):
            while True:
                try:
                    model.partial_fit(X[k : k + 1], Y[k : k + 1])
                    break
                except RuntimeError:  # another thread learns: try again
                    continue

    assert run(learn, learn, learn) == []
    assert model.summary_["examples"] == 10 + 3 * 190


def answer(estimator, learns, out):
    try:
        if learns:
            estimator = clone(estimator).fit(X, Y)
        out.put(estimator.predict(X))
    except BaseException as error:  # noqa: BLE001
        out.put(error)


@pytest.mark.skipif(sys.platform != "linux", reason="processes are not forked here")
@pytest.mark.parametrize("learns", [False, True])
@pytest.mark.filterwarnings("ignore:.*fork.*:DeprecationWarning")
def test_forked_processes_answer_alike(fitted, learns):
    context = multiprocessing.get_context("fork")
    out = context.Queue()
    process = context.Process(target=answer, args=(fitted, learns, out))
    process.start()
    try:
        found = out.get(timeout=30)
    finally:
        process.kill()
        process.join()
    assert isinstance(found, np.ndarray), found
    assert (found == fitted.predict(X)).all()


def test_pickles_are_made_while_others_predict(fitted):
    expected, copies = fitted.predict(X), []
    works = [lambda: copies.append(pickle.loads(pickle.dumps(fitted)))] * 3 + [lambda: fitted.predict(X)] * 3
    assert run(*works) == []
    assert all((copy.predict(X) == expected).all() for copy in copies)
