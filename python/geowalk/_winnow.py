"""Winnow as an estimator."""

from __future__ import annotations

from ._base import register_with_river
from ._online import OnlineClassifier

__all__ = ["Winnow"]


class Winnow(OnlineClassifier):
    """Winnow: multiplicative steps on positive weights, for few relevant features in [0, 1] among many.

    w_i <- w_i exp(-rate * g * x_i) after a mistake; rate, threshold and start are those of the theorem, which bounds the number of mistakes by k^2 log n over the squared margin.

    margin  the margin with which k features decide
    k       how many they are
    n       how many features there are; those of the data if None
    twin    its gradient-descent twin on square roots of the weights
    passes  how often `fit` goes through the data

    >>> import numpy as np
    >>> from geowalk import Winnow
    >>> X = np.random.default_rng(0).integers(0, 2, (300, 50)).astype(float)
    >>> y = X[:, 3].astype(int)
    >>> Winnow(margin=0.5).fit(X, y).score(X, y) > 0.9
    True

    Reference: Littlestone, Learning quickly when irrelevant attributes abound, 1988; Amid and Warmuth, Winnowing with gradient descent, 2020.
    """

    # Features must be in [0, 1], and what is learned grows with them: not every problem is of this kind.
    _positive_only = True
    _poor_score = True

    def __init__(self, margin: float = 0.5, k: float = 1, n: int | None = None, twin: bool = False, passes: int = 1) -> None:
        self.margin, self.k, self.n, self.twin, self.passes = margin, k, n, twin, passes
        register_with_river(Winnow, "classifier")

    def _probabilistic(self) -> bool:
        return False

    def _walk(self, columns: int | None) -> str | None:
        n = columns if self.n is None else self.n
        if n is None:
            raise ValueError("Winnow starts at k/n: with dictionaries give the number of features, Winnow(n=...)")
        return f"{'reparam-winnow' if self.twin else 'winnow'}(margin={self.margin}, k={self.k}, n={n})"
