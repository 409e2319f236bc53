"""Manifolds and generators: where parameters live.

Manifolds have a metric at every point; a step walks along a geodesic, exp_p(-rate * gradient). Generators are strictly
convex functions ψ; a step is straight in the dual coordinates θ = ∇ψ(x).

Points are float64 arrays of shape (n,), of manifolds of matrices (n, n) or (n, p). An array with more axes in front is a
batch, answered row by row; a single point goes with every row of a batch. Other real arrays and nested lists are converted; contiguous float64 arrays
are read where they are.

>>> from geowalk.geometry import Simplex
>>> Simplex(2).gradient([[0.5, 0.5], [0.8, 0.2]], [1.0, 0.0])
array([[ 0.25, -0.25],
       [ 0.16, -0.16]])
"""

from __future__ import annotations

from . import _geowalk
from ._geowalk import (
    BuresWasserstein,
    Euclidean,
    Generator,
    Grassmann,
    Hyperboloid,
    ItakuraSaito,
    KullbackLeibler,
    Mahalanobis,
    Manifold,
    Oblique,
    PNorm,
    PoincareBall,
    PositiveOrthant,
    Product,
    Rotations,
    Simplex,
    SimplexEntropy,
    Spd,
    SpdLogEuclidean,
    Sphere,
    SquaredEuclidean,
    Stiefel,
    Torus,
)

__all__ = [
    "BuresWasserstein",
    "Euclidean",
    "Generator",
    "Grassmann",
    "Hyperboloid",
    "ItakuraSaito",
    "KullbackLeibler",
    "Mahalanobis",
    "Manifold",
    "Oblique",
    "PNorm",
    "PoincareBall",
    "PositiveOrthant",
    "Product",
    "Rotations",
    "Simplex",
    "SimplexEntropy",
    "Spd",
    "SpdLogEuclidean",
    "Sphere",
    "SquaredEuclidean",
    "Stiefel",
    "Torus",
    "get",
    "names",
]


def get(spec: str, n: int) -> Manifold | Generator:
    """The manifold or generator that a specification names, on n coordinates (for `spd`: n rows).

    The same specifications as on the command line and in walks. `n=` in the specification wins, and each factor
    of a product needs one.

    >>> from geowalk.geometry import get
    >>> get("sphere(radius=2)", 3)
    sphere(radius=2)
    >>> get("product(simplex(n=3), spd(n=2))", 0).dim
    5
    >>> get("p-norm(q=auto)", 1000).q
    1.0780304456445198
    >>> get("spher", 3)  # doctest: +ELLIPSIS
    Traceback (most recent call last):
        ...
    geowalk.ConfigError: unknown geometry 'spher' (did you mean 'sphere'?)
    """
    return _geowalk.geometry(spec, n)


def names() -> list[str]:
    """The names that `get` knows.

    >>> from geowalk.geometry import names
    >>> names()[:3]
    ['euclidean', 'sphere', 'simplex']
    """
    return _geowalk.geometry_names()
