"""Natural gradient as an estimator."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from ._base import register_with_river
from ._online import OnlineClassifier

__all__ = ["NaturalClassifier"]


class NaturalClassifier(OnlineClassifier):
    """Several classes by natural gradient in dual coordinates: log-odds linear in the features, without a rate and without scaling.

    The parameters of log-odds move by the inverse Fisher matrix of a family that models the rows of each class, in its own dual coordinates, where that costs no more than
    a gradient.

    family  what rows are: 'gaussian-shared' (numbers), 'gaussian-shared-diagonal', 'gaussian-sparse' (texts), 'bernoulli', 'poisson', 'multinomial', 'naive-bayes',
            'discrete', 'exponential'; 'auto' chooses by the first rows
    ridge   pulls log-odds to 0 where classes are separable
    passes  'auto': shuffled rows are gone through until nothing is gained; a number: so many passes in the order of
            the rows
    seed    of whatever is random
    missing 'indicator': a missing number (NaN, None, null) becomes the feature `column=missing`, as in
    `geowalk train`; 'error': it is refused
    nominal columns whose numbers are names
    text    columns of free text, split into words

    >>> import numpy as np
    >>> from geowalk import NaturalClassifier
    >>> X = np.random.default_rng(0).standard_normal((600, 2))
    >>> y = np.digitize(X[:, 0] + X[:, 1], [-0.5, 0.5])
    >>> NaturalClassifier().fit(X, y).score(X, y) > 0.9
    True

    Reference: Sanchez-Lopez and Cerquides, Dual stochastic natural gradient descent and convergence of interior half-space gradient approximations, 2021.
    """

    def __init__(
        self,
        family: str = "gaussian-shared",
        ridge: float = 0.0,
        passes: Any = "auto",
        seed: int = 0,
        missing: str = "indicator",
        nominal: Sequence[str] = (),
        text: Sequence[str] = (),
        shuffle: bool = True,
    ) -> None:
        self.family, self.ridge, self.passes, self.seed = family, ridge, passes, seed
        self.missing, self.nominal, self.text, self.shuffle = missing, nominal, text, shuffle
        register_with_river(NaturalClassifier, "classifier")

    def _probabilistic(self) -> bool:
        return True

    def _walk(self, columns: int | None) -> str | None:
        family, _, own = self.family.partition("(")
        settings = [own.rstrip(")")] if own else []
        if self.ridge:
            settings.append(f"ridge={self.ridge}")
        return f"natural:{family}" + (f"({', '.join(settings)})" if settings else "")
