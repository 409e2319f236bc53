"""On-line estimators on Dask collections: each partition learns from one model, and the results are merged.

`pip install 'geowalk[dask]'`. The estimators take a `dask.dataframe`, a `dask.array`, a list of delayed tables, or a list
of paths of files, which the workers read with geowalk's readers. They compute on the client of `dask.distributed` if
there is one, and on Dask's local scheduler otherwise. All tasks are pure: a task of a lost worker runs again
elsewhere, with the same bits. The result depends on the partitions and not on the workers.

Rules, trees and natural gradient need all rows in one place, and are not offered here.
"""

from __future__ import annotations

import copy
import os
import subprocess
import sys
import tempfile
from collections.abc import Sequence
from typing import Any

import numpy as np

from . import _files
from ._online import OnlineClassifier as _Classifier
from ._online import OnlineRegressor as _Regressor

__all__ = ["OnlineClassifier", "OnlineRegressor"]

_OWN = ("rounds", "progress")


def _dask() -> Any:
    try:
        import dask
    except ImportError as error:
        raise ImportError("geowalk.dask needs Dask: pip install 'geowalk[dask]'") from error
    return dask


# What workers do


def _labels_of(y: Any) -> list[Any]:
    return np.unique(np.asarray(y)).tolist()


def _scored(model: Any, X: Any, y: Any) -> tuple[int, float]:
    """How many rows, and the sum of their losses: of classes the rows that are predicted wrongly."""
    predicted, y = model.predict(X), np.asarray(y)
    wrong = predicted != y if model._kind == "classifier" else (predicted - y.astype(float)) ** 2
    return len(y), float(np.sum(wrong))


def _learned(fresh: Any, base: Any, part: tuple[Any, ...], classes: list[Any] | None) -> tuple[Any, Any]:
    """A model that went on from `base` with the rows of one partition, and what `base` lost on them."""
    X, y, weight = part
    y = np.asarray(y)
    if len(y) == 0:
        return None, (0, 0.0)
    score = (0, 0.0) if base is None else _scored(base, X, y)
    model = copy.deepcopy(fresh if base is None else base)  # threads share both
    if fresh._kind == "classifier":
        return model.partial_fit(X, y, classes=classes, sample_weight=weight), score
    return model.partial_fit(X, y, sample_weight=weight), score


def _learned_file(options: list[str], base: Any, path: str) -> tuple[Any, Any]:
    """The same with the rows of a file, as the command `geowalk train` reads them."""
    with tempfile.TemporaryDirectory() as folder:
        first, last = os.path.join(folder, "base.gw"), os.path.join(folder, "model.gw")
        command = [sys.executable, "-m", "geowalk._command", "train", path, "--model", last]
        if base is None:
            command += options
        else:
            base.save(first)
            command += ["--resume", first]
        done = subprocess.run(command, capture_output=True, text=True)
        if done.returncode:
            raise ValueError(f"{path}: {done.stderr.strip().splitlines()[-1]}")
        return _files.load(last), (0, 0.0)


def _merged(base: Any, learned: list[tuple[Any, Any]]) -> tuple[Any, Any]:
    """One model of all partitions that have rows; with rows and losses of the model before."""
    models = [model for model, _ in learned if model is not None]
    if not models:
        raise ValueError("there are no rows in any partition")
    rows = sum(score[0] for _, score in learned)
    lost = sum(score[1] for _, score in learned)
    return _files.merge(models, since=base), (rows, lost)


def _first(pair: tuple[Any, Any]) -> Any:
    return pair[0]


def _second(pair: tuple[Any, Any]) -> Any:
    return pair[1]


# What the estimators share


def _is_collection(X: Any) -> bool:
    return hasattr(X, "__dask_graph__")


def _parts(X: Any, name: str) -> list[Any]:
    """The partitions of a collection, along its rows."""
    if isinstance(X, (list, tuple)):
        return list(X)
    if hasattr(X, "npartitions") and hasattr(X, "dtypes" if getattr(X, "ndim", 1) == 2 else "dtype") and not hasattr(X, "rechunk"):
        return list(X.to_delayed())
    if hasattr(X, "rechunk"):
        whole = X.rechunk({axis: -1 for axis in range(1, X.ndim)})
        return list(whole.to_delayed().ravel())
    raise TypeError(f"{name} is a {type(X).__name__}; a Dask collection, a list of delayed tables or a list of paths is needed")


class _OnDask:
    """Rounds of learning apart and merging."""

    rounds: Any
    progress: Any

    def _fit(self, X: Any, y: Any, weight: Any, classes: Any) -> Any:
        dask = _dask()
        if isinstance(self.rounds, bool) or not isinstance(self.rounds, (int, np.integer)) or self.rounds < 1:
            raise ValueError(f"rounds = {self.rounds!r}; a whole number from 1 on is needed")
        self._forget()  # type: ignore[attr-defined]
        fresh = self._fresh()
        files = isinstance(X, (list, tuple)) and len(X) > 0 and all(isinstance(path, (str, os.PathLike)) for path in X)
        learn = dask.delayed(_learned_file if files else _learned, pure=True)
        merge, first, second = (dask.delayed(f, pure=True) for f in (_merged, _first, _second))
        if files:
            if y is not None and not isinstance(y, str) or weight is not None:
                raise TypeError("with files y is the name of the label's column or None, and weights are a column of the files")
            jobs = [(self._options(y), os.fspath(path)) for path in X]
        else:
            jobs = self._tables(X, y, weight, classes)
        base, scores = None, []
        for _ in range(int(self.rounds)):
            if files:
                learned = [learn(options, base, path) for options, path in jobs]
            else:
                learned = [learn(fresh, base, part, known) for part, known in jobs]
            both = merge(base, learned)
            base = first(both)
            scores.append(second(both))
        result, *found = self._computed([base, *scores])
        for name, value in result.__dict__.items():
            if name not in self._parameters():  # type: ignore[attr-defined]
                setattr(self, name, value)
        # The first round has no model before it.
        self.round_losses_ = np.array([lost / rows for rows, lost in found[1:] if rows])
        return self

    def _fresh(self) -> Any:
        """The estimator that learns on one partition."""
        kind = _Classifier if self._kind == "classifier" else _Regressor  # type: ignore[attr-defined]
        own = {name: value for name, value in self.get_params().items() if name not in _OWN}  # type: ignore[attr-defined]
        return kind(passes=1, **own)

    def _options(self, label: str | None) -> list[str]:
        """What the command is told before the first round."""
        task = [] if self._kind == "classifier" else ["--task", "regression"]  # type: ignore[attr-defined]
        own = [("--walk", self.walk), ("--loss", self.loss), ("--rate", self.rate), ("--seed", self.seed), ("--label", label)]  # type: ignore[attr-defined]
        named = [word for flag, value in own if value is not None for word in (flag, str(value))]
        columns = [word for flag, names in (("--nominal", self.nominal), ("--text", self.text)) for name in names for word in (flag, name)]  # type: ignore[attr-defined]
        return task + named + columns

    def _tables(self, X: Any, y: Any, weight: Any, classes: Any) -> list[tuple[Any, Any]]:
        if not _is_collection(X) and not isinstance(X, (list, tuple)):
            X, y, weight = [X], [y], None if weight is None else [weight]
        tables, targets = _parts(X, "X"), _parts(y, "y")
        weights = [None] * len(tables) if weight is None else _parts(weight, "sample_weight")
        for name, other in (("y", targets), ("sample_weight", weights)):
            if len(other) != len(tables):
                raise ValueError(f"X has {len(tables)} partitions and {name} has {len(other)}; give both the same")
        if self._kind == "classifier" and classes is None:  # type: ignore[attr-defined]
            dask = _dask()
            found = self._computed([dask.delayed(_labels_of, pure=True)(target) for target in targets])
            classes = sorted({label for labels in found for label in labels})
            if len(classes) < 2:
                raise ValueError(f"at least two classes are needed; y has {classes}")
        known = None if classes is None else sorted(classes)
        return [(part, known) for part in zip(tables, targets, weights)]

    def _computed(self, tasks: list[Any]) -> list[Any]:
        """The results, from the client if there is one, with a bar if it is wanted."""
        dask = _dask()
        if not self.progress:
            return list(dask.compute(*tasks))
        try:
            from distributed import get_client, progress

            client = get_client()
        except (ImportError, ValueError):
            from dask.diagnostics import ProgressBar

            with ProgressBar():
                return list(dask.compute(*tasks))
        futures = client.compute(tasks)
        progress(futures, notebook=False)
        return list(client.gather(futures))

    def _lazily(self, method: str, X: Any, columns: int, dtype: Any) -> Any:
        """A method of the fitted estimator on each partition, when it is computed; now for other tables."""
        local = getattr(super(), method)
        if not _is_collection(X):
            return local(X)
        if hasattr(X, "rechunk"):
            whole = X.rechunk({1: -1})
            if columns == 1:
                return whole.map_blocks(local, drop_axis=1, dtype=dtype)
            return whole.map_blocks(local, chunks=(whole.chunks[0], (columns,)), dtype=dtype)
        rows = X.map_partitions(local, meta=np.empty((0,) if columns == 1 else (0, columns), dtype=dtype))
        return rows


class OnlineClassifier(_OnDask, _Classifier):
    """Classes from linear scores, learned apart on the partitions of a Dask collection.

    rounds    how often every partition learns from the merged model; 1 merges once
    progress  show a bar while it computes

    walk, loss, rate, seed, missing, nominal and text are those of `geowalk.OnlineClassifier`. After `fit` it has all that
    a fitted `geowalk.OnlineClassifier` has. Its metrics, intervals and first-order certificate are about the
    predictions that were made on the partitions before each merge. `round_losses_` has the part of rows that the
    model before each round after the first predicts wrongly.

    >>> import numpy as np
    >>> import dask.array as da
    >>> from geowalk.dask import OnlineClassifier
    >>> X = np.random.default_rng(0).standard_normal((400, 3))
    >>> y = (X[:, 0] > 0).astype(int)
    >>> model = OnlineClassifier(rounds=2).fit(da.from_array(X, chunks=(100, 3)), da.from_array(y, chunks=100))
    >>> model.summary_["examples"], model.score(X, y) > 0.9
    (800, True)

    Reference: McDonald et al., Efficient large-scale distributed training of conditional maximum entropy models, 2009.
    """

    def __init__(
        self,
        walk: str = "free",
        loss: str = "logistic",
        rate: Any = "auto",
        rounds: int = 1,
        progress: bool = False,
        seed: int = 0,
        missing: str = "indicator",
        nominal: Sequence[str] = (),
        text: Sequence[str] = (),
    ) -> None:
        _Classifier.__init__(self, walk, loss, rate, 1, False, seed, missing, nominal, text)
        self.rounds, self.progress = rounds, progress

    def fit(self, X: Any, y: Any = None, sample_weight: Any = None, *, classes: Any = None) -> OnlineClassifier:
        """Learns from all partitions, `rounds` times. Without `classes` the labels are gone through first.

        X is a Dask DataFrame or array, a list of delayed tables, or a list of paths; y has the same partitions. With
        paths y is the name of the label's column, or None where the readers find it.
        """
        return self._fit(X, y, sample_weight, classes)

    def predict(self, X: Any) -> Any:
        """The classes: lazily of a Dask collection, at once of any other table."""
        return self._lazily("predict", X, 1, self.classes_.dtype)

    def predict_proba(self, X: Any) -> Any:
        """The probability of each class: lazily of a Dask collection, at once of any other table."""
        return self._lazily("predict_proba", X, len(self.classes_), float)


class OnlineRegressor(_OnDask, _Regressor):
    """Numbers from a linear score, learned apart on the partitions of a Dask collection.

    rounds    how often every partition learns from the merged model; 1 merges once
    progress  show a bar while it computes

    walk, loss, rate, seed, missing, nominal and text are those of `geowalk.OnlineRegressor`. After `fit` it has all that
    a fitted `geowalk.OnlineRegressor` has. `round_losses_` has the mean squared error of the model before each round
    after the first.

    >>> import numpy as np
    >>> import dask.array as da
    >>> from geowalk.dask import OnlineRegressor
    >>> X = np.random.default_rng(0).standard_normal((400, 3))
    >>> y = X @ [1.0, -2.0, 0.5]
    >>> model = OnlineRegressor(rounds=4).fit(da.from_array(X, chunks=(100, 3)), da.from_array(y, chunks=100))
    >>> model.score(X, y) > 0.9
    True

    Reference: McDonald et al., Efficient large-scale distributed training of conditional maximum entropy models, 2009.
    """

    def __init__(
        self,
        walk: str = "adagrad",
        loss: str = "squared",
        rate: Any = "auto",
        rounds: int = 1,
        progress: bool = False,
        seed: int = 0,
        missing: str = "indicator",
        nominal: Sequence[str] = (),
        text: Sequence[str] = (),
    ) -> None:
        _Regressor.__init__(self, walk, loss, rate, passes=1, seed=seed, missing=missing, nominal=nominal, text=text)
        self.rounds, self.progress = rounds, progress

    def fit(self, X: Any, y: Any = None, sample_weight: Any = None) -> OnlineRegressor:
        """Learns from all partitions, `rounds` times.

        X is a Dask DataFrame or array, a list of delayed tables, or a list of paths; y has the same partitions. With
        paths y is the name of the label's column, or None where the readers find it.
        """
        return self._fit(X, y, sample_weight, None)

    def predict(self, X: Any) -> Any:
        """The numbers: lazily of a Dask collection, at once of any other table."""
        return self._lazily("predict", X, 1, float)
