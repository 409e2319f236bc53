"""geowalk: learning that respects the geometry of its parameters.

A step of a learner is a walk: along a geodesic of a manifold, or straight in the dual coordinates of a convex
generator. `geowalk.geometry` has the manifolds and generators, `geowalk.losses` what is to be made small.

>>> import geowalk
>>> sphere = geowalk.geometry.Sphere(3)
>>> p = sphere.step([1.0, 0.0, 0.0], egrad=[0.0, -1.0, 0.0], rate=0.5)
>>> round(sphere.distance([1.0, 0.0, 0.0], p), 12)
0.5

Errors are `geowalk.DomainError` (numbers outside a domain) and `geowalk.ConfigError` (names and parameters); both are
ValueErrors, and carry the numbers as attributes.
"""

import numpy as _numpy  # noqa: F401  first, so that its absence is an ImportError and not a panic later

from . import geometry, losses
from ._geowalk import ConfigError, DomainError, __version__

__all__ = ["ConfigError", "DomainError", "__version__", "geometry", "losses"]
