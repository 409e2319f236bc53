"""Dask collections: the same bits for any workers, and a worker that is killed."""

import os
import signal
import threading
import time

import numpy as np
import pytest

dask = pytest.importorskip("dask")
distributed = pytest.importorskip("distributed")
pd = pytest.importorskip("pandas")

import dask.array as da  # noqa: E402
import dask.dataframe as dd  # noqa: E402
from geowalk.dask import OnlineClassifier, OnlineRegressor  # noqa: E402
from sklearn.base import clone  # noqa: E402

pytestmark = pytest.mark.filterwarnings("ignore")

RANDOM = np.random.default_rng(0)
X = RANDOM.standard_normal((2000, 4))
Y = np.where(X @ [1.0, -2.0, 0.5, 0.0] + 0.5 * RANDOM.standard_normal(2000) > 0, "up", "down")
FRAME = pd.DataFrame(X, columns=list("abcd"))


def arrays(parts=4):
    size = len(X) // parts
    return da.from_array(X, chunks=(size, 2)), da.from_array(Y, chunks=size)


def bits(model):
    return model.coef_.tobytes() + model.intercept_.tobytes()


def test_collections_of_all_kinds_give_the_same_model():
    parts = [slice(k, k + 500) for k in range(0, 2000, 500)]
    expected = bits(OnlineClassifier(rounds=2).fit(*arrays()))
    delayed = OnlineClassifier(rounds=2).fit([dask.delayed(X)[p] for p in parts], [dask.delayed(Y)[p] for p in parts])
    assert bits(delayed) == expected
    frame = dd.from_pandas(FRAME, npartitions=4)
    series = dd.from_pandas(pd.Series(Y), npartitions=4)
    model = OnlineClassifier(rounds=2).fit(frame, series)
    np.testing.assert_allclose(model.coef_, delayed.coef_)
    assert model.feature_names_in_.tolist() == list("abcd")
    lazy = model.predict(frame)
    assert hasattr(lazy, "dask") and (np.asarray(lazy.compute()) == model.predict(FRAME)).all()
    proba = delayed.predict_proba(arrays()[0])
    np.testing.assert_array_equal(proba.compute(), delayed.predict_proba(X))


def test_more_rounds_come_closer_to_one_machine():
    one = OnlineClassifier().fit(X, Y)
    many = OnlineClassifier(rounds=4).fit(*arrays(8))
    assert abs(many.score(X, Y) - one.score(X, Y)) < 0.02
    assert len(many.round_losses_) == 3 and many.round_losses_[-1] < 0.25
    assert many.summary_["examples"] == 4 * 2000
    assert many.certificate_.status == "valid"


def test_numbers_and_weights_are_learned():
    y = X @ [1.0, -2.0, 0.5, 0.0]
    rows = da.from_array(X, chunks=(500, 4))
    weights = da.from_array(np.ones(len(X)), chunks=500)
    model = OnlineRegressor(rounds=3).fit(rows, da.from_array(y, chunks=500), sample_weight=weights)
    assert model.score(X, y) > 0.9
    np.testing.assert_array_equal(model.predict(rows).compute(), model.predict(X))


def test_files_are_read_by_the_workers(tmp_path):
    for k in range(2):
        part = FRAME[k * 1000 : (k + 1) * 1000].assign(color=["red", "blue"] * 500, label=Y[k * 1000 : (k + 1) * 1000])
        part.to_csv(tmp_path / f"{k}.csv", index=False)
    model = OnlineClassifier(rounds=2).fit([tmp_path / "0.csv", tmp_path / "1.csv"], "label")
    assert model.score(FRAME.assign(color="red"), Y) > 0.9
    assert model.summary_["examples"] == 4000
    with pytest.raises(ValueError, match="missing.csv"):
        OnlineClassifier().fit([tmp_path / "missing.csv"], "label")


def test_workers_do_not_change_the_bits_and_one_may_die():
    expected = bits(OnlineClassifier(rounds=3).fit(*arrays()))
    with distributed.LocalCluster(n_workers=2, threads_per_worker=1, dashboard_address=None) as cluster:
        with distributed.Client(cluster) as client:
            assert bits(OnlineClassifier(rounds=3, progress=True).fit(*arrays())) == expected
            victim = min(client.run(os.getpid).values())

            def slowly(part):
                time.sleep(0.5)
                return part

            rows, labels = arrays()
            slow = [dask.delayed(slowly)(part) for part in rows.rechunk((500, 4)).to_delayed().ravel()]
            killer = threading.Timer(0.7, os.kill, (victim, signal.SIGKILL))
            killer.start()
            model = OnlineClassifier(rounds=3).fit(slow, list(labels.to_delayed()))
            killer.join()
            assert bits(model) == expected
            assert victim not in client.run(os.getpid).values()


def test_estimators_keep_the_contract():
    model = OnlineClassifier(rounds=2, walk="gd", rate=0.1)
    assert clone(model).get_params() == model.get_params()
    assert OnlineClassifier(rounds=2).fit(X, Y).score(X, Y) > 0.9
    with pytest.raises(ValueError, match="rounds = 0"):
        OnlineClassifier(rounds=0).fit(X, Y)
    with pytest.raises(ValueError, match="X has 4 partitions and y has 2"):
        OnlineClassifier().fit(arrays()[0], da.from_array(Y, chunks=1000))
