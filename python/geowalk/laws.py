"""What must be true of a manifold, and of `fit`, tried on cases.

>>> from geowalk import laws
>>> from geowalk.geometry import Sphere
>>> laws.check(Sphere(3), seeds=20)
"""

from __future__ import annotations

import copy
from collections.abc import Callable, Iterable, Iterator
from typing import Any

import numpy as np

from . import _geowalk
from ._geowalk import Manifold

__all__ = ["FIT", "check", "check_fit"]

FIT = {
    "units": "columns multiplied by 1e6 and 1e-6 change predictions by no more than 1e-6 of the largest",
    "labels": "numbers to predict that are multiplied and shifted give predictions that are, too, within 1e-6",
    "classes": "new names of classes, in another order, change no score by more than 1e-6 of the largest",
    "rows": "rows in another order, also sorted by label, change the test loss by no more than 0.005",
    "columns": "columns in another order change the test loss by no more than 0.005",
    "doubled": "a column that is there twice changes the test loss by no more than 0.005",
}
"""The laws of `fit`, by name. With fewer than 1,000 rows test losses may differ by 0.02."""


def check(manifold: Manifold, seeds: int = 100) -> None:
    """Tries every law of manifolds on so many random cases; an AssertionError says which is broken, by how much, and
    the seed that breaks it again. Of a class of your own the laws of what it defines are tried.

    >>> from geowalk import laws
    >>> from geowalk.geometry import Grassmann, Manifold
    >>> laws.check(Grassmann(4, 2), seeds=5)
    >>> class Circle(Manifold):
    ...     def origin(self): return [1.0, 0.0]
    ...     def gradient(self, p, egrad): return egrad - 0.9 * (p @ egrad) * p  # not tangent
    ...     def exp(self, p, v): return (p + v) / np.linalg.norm(p + v)
    >>> import numpy as np
    >>> laws.check(Circle(), seeds=5)  # doctest: +ELLIPSIS
    Traceback (most recent call last):
        ...
    AssertionError: custom(Circle): ...
    """
    broken = _geowalk.check_laws(manifold, seeds)
    if broken is not None:
        raise AssertionError(f"{manifold!r}: {broken}")


def check_fit(estimator: Any, X: Any, y: Any, laws: Iterable[str] | None = None) -> None:
    """Tries the laws of `fit` (`FIT`, or those that are named) with an estimator of classes or numbers, geowalk's or
    any other of scikit-learn's kind. Every fifth row is kept for testing. An AssertionError says which law is broken,
    and by how much.

    X   an array of numbers
    y   classes or numbers

    >>> import numpy as np
    >>> from geowalk import OnlineClassifier, laws
    >>> X = np.random.default_rng(0).standard_normal((300, 3))
    >>> laws.check_fit(OnlineClassifier(), X, X[:, 0] + X[:, 1] ** 2 > 0.5)
    """
    X, y = np.asarray(X, dtype=float), np.asarray(y)
    wanted = tuple(FIT if laws is None else laws)
    unknown = [law for law in wanted if law not in FIT]
    if unknown:
        raise ValueError(f"laws = {unknown}; known: {', '.join(FIT)}")
    kept = np.arange(len(y)) % 5 == 4
    case = _Case(estimator, X[~kept], y[~kept], X[kept], y[kept])
    for law in wanted:
        for way, found, allowed in case.tried(law):
            if not found <= allowed:
                raise AssertionError(f"{estimator!r} breaks the law {law!r} ({FIT[law]}): {way}: {found:.2g}, allowed {allowed:.2g}")


class _Case:
    """An estimator with rows to fit and rows to test."""

    def __init__(self, estimator: Any, X: np.ndarray, y: np.ndarray, new: np.ndarray, truth: np.ndarray) -> None:
        self.estimator, self.X, self.y, self.new, self.truth = estimator, X, y, new, truth
        self.plain = self.fitted(X, y)
        self.has_classes = hasattr(self.plain, "classes_")

    def fitted(self, X: np.ndarray, y: np.ndarray) -> Any:
        return copy.deepcopy(self.estimator).fit(X, y)

    def tried(self, law: str) -> Iterator[tuple[str, float, float]]:
        """What was tried, by how much it differs, and what is allowed."""
        ways: Callable[[], Iterator[tuple[str, float, float]]] = getattr(self, f"_{law}")
        return ways()

    def _units(self) -> Iterator[tuple[str, float, float]]:
        for by in (1e6, 1e-6):
            scale = np.where(np.arange(self.X.shape[1]) % 2 == 0, by, 1 / by)
            other = self.fitted(self.X * scale, self.y)
            yield f"every second column times {by:g}", _apart(_scores(self.plain, self.new), _scores(other, self.new * scale)), 1e-6

    def _labels(self) -> Iterator[tuple[str, float, float]]:
        if self.has_classes:
            return
        loss = str(getattr(self.estimator, "loss", ""))
        for by, plus in ((1e6, 0.0), (1e-6, 0.0), (1.0, 1000.0), (-3.0, 7.0)):
            # A quantile becomes another one, and delta of Huber's loss is in units of the label.
            if (by < 0 and "quantile" in loss) or (by != 1.0 and "huber" in loss) or (by < 0 and "poisson" in loss):
                continue
            other = self.fitted(self.X, by * self.y + plus)
            yield f"labels times {by:g} plus {plus:g}", _apart(by * self.plain.predict(self.new) + plus, other.predict(self.new)), 1e-6

    def _classes(self) -> Iterator[tuple[str, float, float]]:
        if not self.has_classes:
            return
        classes, codes = np.unique(self.y, return_inverse=True)
        names = np.array([f"class {len(classes) - k:06d}" for k in range(len(classes))])
        other = self.fitted(self.X, names[codes])
        scores = _scores(other, self.new)
        yield "names in the opposite order", _apart(_scores(self.plain, self.new), -scores if scores.ndim == 1 else scores[:, ::-1]), 1e-6

    def _rows(self) -> Iterator[tuple[str, float, float]]:
        random = np.random.default_rng(0)
        for way, order in (("another order", random.permutation(len(self.y))), ("sorted by label", np.argsort(self.y, kind="stable"))):
            yield way, *self._changed(self.fitted(self.X[order], self.y[order]), self.new)

    def _columns(self) -> Iterator[tuple[str, float, float]]:
        order = np.roll(np.arange(self.X.shape[1]), 1)
        yield "the last column first", *self._changed(self.fitted(self.X[:, order], self.y), self.new[:, order])

    def _doubled(self) -> Iterator[tuple[str, float, float]]:
        order = np.append(np.arange(self.X.shape[1]), 0)
        yield "the first column twice", *self._changed(self.fitted(self.X[:, order], self.y), self.new[:, order])

    def _changed(self, other: Any, new: np.ndarray) -> tuple[float, float]:
        loss = abs(_lost(self.plain, self.new, self.truth) - _lost(other, new, self.truth))
        return loss, 0.005 if len(self.y) >= 1000 else 0.02


def _scores(model: Any, X: np.ndarray) -> np.ndarray:
    """Scores, or where there are none probabilities, of classes; predicted numbers."""
    for name in ("decision_function", "predict_proba"):
        if hasattr(model, "classes_") and hasattr(model, name):
            return np.asarray(getattr(model, name)(X))
    return np.asarray(model.predict(X))


def _lost(model: Any, X: np.ndarray, y: np.ndarray) -> float:
    """The mean log-loss of probabilities, the share of mistakes without them; squared errors of numbers as a part of their variance."""
    if not hasattr(model, "classes_"):
        return float(np.mean((model.predict(X) - y) ** 2) / np.var(y))
    if not hasattr(model, "predict_proba"):
        return float(np.mean(model.predict(X) != y))
    p = model.predict_proba(X)[np.arange(len(y)), np.searchsorted(model.classes_, y)]
    return float(-np.log(np.maximum(p, 1e-15)).mean())


def _apart(a: np.ndarray, b: np.ndarray) -> float:
    """The largest difference, as a part of the largest magnitude."""
    return float(np.abs(a - b).max() / max(float(np.abs(a).max()), 1e-300))
