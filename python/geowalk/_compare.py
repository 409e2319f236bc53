"""Which of two estimators is better, with an interval that holds whenever one looks."""

from __future__ import annotations

import copy
import json
from typing import Any

import numpy as np

from ._geowalk import compare_losses

_CUT = 4.605170185988091  # a probability of the true class below 1 % counts as 1 %


class Comparison:
    """What `compare` found.

    rows         how many rows were compared
    differences  for each measure its name, the averages `a` and `b`, their `difference`, and the interval from `low`
                 to `high` that the expected difference is in with 95 %, at every row at once; `better` is 'a', 'b' or
                 None, `decided_at` the row by which the interval left out 0
    better       'a', 'b' or None, by the first measure

    >>> from geowalk import Comparison
    >>> Comparison({"rows": 9, "differences": [{"name": "error", "better": "b"}]}).better
    'b'

    Reference: Waudby-Smith and Ramdas, Estimating means of bounded random variables by betting, 2024.
    """

    def __init__(self, fields: dict[str, Any]) -> None:
        self.rows: int = fields["rows"]
        self.differences: list[dict[str, Any]] = fields["differences"]

    @property
    def better(self) -> str | None:
        """'a', 'b' or None, by the first measure.

        >>> from geowalk import Comparison
        >>> Comparison({"rows": 9, "differences": [{"name": "error", "better": None}]}).better is None
        True
        """
        return self.differences[0]["better"] if self.differences else None

    def __repr__(self) -> str:
        return f"Comparison(rows={self.rows}, better={self.better!r})"


def compare(a: Any, b: Any, X: Any, y: Any, *, y_range: tuple[float, float] | None = None) -> Comparison:
    """Compares two estimators on the same rows.

    An estimator that is fitted is compared as it is: give rows that it was not fitted to. One that is not fitted is
    copied, predicts each row and then learns it with `partial_fit`. Of classes the error is compared, and the log loss
    with probabilities cut at 1 % where both have `predict_proba`; of numbers the squared error, for labels in `y_range`.
    The interval of the difference holds at every row at once, so one may look as often as one likes.

    >>> import numpy as np, geowalk
    >>> X = np.random.default_rng(0).standard_normal((1000, 2))
    >>> y = (X[:, 0] > 0).astype(int)
    >>> good = geowalk.OnlineClassifier().fit(X[:500], y[:500])
    >>> bad = geowalk.OnlineClassifier().fit(X[:500, ::-1], y[:500])
    >>> found = geowalk.compare(good, bad, X[500:], y[500:])
    >>> found.better, found.differences[0]["name"], found.rows
    ('a', 'error', 500)
    """
    labels = np.asarray(y)
    if labels.ndim != 1 or len(labels) == 0:
        raise ValueError(f"y needs one label for each row, and at least one; its shape is {labels.shape}")
    if hasattr(X, "shape") and X.shape[0] != len(labels):
        raise ValueError(f"X has {X.shape[0]} rows, y has {len(labels)}")
    numbers = [not _classifies(model) for model in (a, b)]
    if numbers[0] != numbers[1]:
        raise ValueError("one predicts numbers, the other classes: compare two of a kind")
    largest = 1.0
    if numbers[0]:
        if y_range is None or not y_range[0] < y_range[1]:
            raise ValueError("the squared error needs the range of the labels: y_range=(lo, hi) with lo < hi")
        lo, hi = map(float, y_range)
        if not ((labels >= lo) & (labels <= hi)).all():
            raise ValueError(f"labels from {labels.min()} to {labels.max()} are not all within {y_range}")
        largest = (hi - lo) ** 2
    losses = [_losses(model, X, labels, y_range if numbers[0] else None) for model in (a, b)]
    return Comparison(json.loads(compare_losses(losses[0], losses[1], not numbers[0], largest)))


def _classifies(model: Any) -> bool:
    return hasattr(model, "predict_proba") or getattr(model, "_estimator_type", None) == "classifier"


def _is_fitted(model: Any) -> bool:
    if hasattr(model, "__sklearn_is_fitted__"):
        return bool(model.__sklearn_is_fitted__())
    return any(name.endswith("_") and not name.startswith("__") for name in vars(model))


def _part(X: Any, start: int, end: int) -> Any:
    return X.iloc[start:end] if hasattr(X, "iloc") else X[start:end]


def _losses(model: Any, X: Any, y: Any, y_range: tuple[float, float] | None) -> Any:
    """Two columns: the error and the log loss, or the squared error; as parts of the largest."""
    if _is_fitted(model):
        return _of(model, X, y, y_range)
    if not hasattr(model, "partial_fit"):
        raise ValueError(f"{type(model).__name__} is not fitted and cannot learn row by row: fit it on other rows first")
    model = copy.deepcopy(model)
    classes = {"classes": np.unique(y)} if y_range is None else {}
    out = np.empty((len(y), 2))
    for i in range(len(y)):
        row, label = _part(X, i, i + 1), y[i : i + 1]
        if i == 0:
            # Before the first row there is nothing to predict with: all classes alike, or the middle of the range.
            out[0] = _first(len(classes.get("classes", ())), y[0], y_range)
        else:
            out[i] = _of(model, row, label, y_range)
        model.partial_fit(row, label, **classes)
    return out


def _first(classes: int, y: Any, y_range: tuple[float, float] | None) -> Any:
    if y_range is None:
        return 1.0, min(np.log(max(classes, 1)) / _CUT, 1.0)
    lo, hi = y_range
    return ((0.5 * (lo + hi) - y) / (hi - lo)) ** 2, np.nan


def _of(model: Any, X: Any, y: Any, y_range: tuple[float, float] | None) -> Any:
    out = np.full((len(y), 2), np.nan)
    predicted = np.asarray(model.predict(X))
    if y_range is not None:
        lo, hi = y_range
        out[:, 0] = ((np.clip(predicted, lo, hi) - y) / (hi - lo)) ** 2
        return out
    out[:, 0] = predicted != y
    try:
        shares = np.asarray(model.predict_proba(X))
    except (AttributeError, ValueError):  # a loss without probabilities
        return out
    places = {label: place for place, label in enumerate(np.asarray(model.classes_).tolist())}
    of_true = [shares[i, places[label]] if label in places else 0.0 for i, label in enumerate(y.tolist())]
    with np.errstate(divide="ignore"):
        out[:, 1] = np.minimum(-np.log(np.maximum(of_true, 1e-300)) / _CUT, 1.0)
    return out
