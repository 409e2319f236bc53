"""geowalk: learning that respects the geometry of its parameters.

A step of a learner is a walk: along a geodesic of a manifold, or straight in the dual coordinates of a convex
generator. `geowalk.geometry` has the manifolds and generators, `geowalk.losses` what is to be made small.

>>> import geowalk
>>> sphere = geowalk.geometry.Sphere(3)
>>> p = sphere.step([1.0, 0.0, 0.0], egrad=[0.0, -1.0, 0.0], rate=0.5)
>>> round(sphere.distance([1.0, 0.0, 0.0], p), 12)
0.5

Estimators have the manners of scikit-learn: `OnlineClassifier`, `OnlineRegressor`, `NaturalClassifier`, `Winnow`, `BoostClassifier`, `BoostRegressor`, `TreeClassifier`, `TreeRegressor`; the
on-line ones also those of river. `NullVector` and `Hedge` are for streams without labels. All have a `certificate_`.

>>> model = geowalk.OnlineClassifier().fit([[0.0], [1.0], [0.2], [0.9]], ["no", "yes", "no", "yes"])
>>> model.certificate_.status
'valid'

Errors are `geowalk.DomainError` (numbers outside a domain), `geowalk.ConfigError` (names and parameters), `geowalk.DataError` (data and model files)
and `geowalk.NotFittedError`; all are ValueErrors, and the first three carry the numbers as attributes.
"""

import numpy as _numpy  # noqa: F401  first, so that its absence is an ImportError and not a panic later

from . import geometry, laws, losses, optimize
from ._base import NotFittedError
from ._batch import BoostClassifier, BoostRegressor, TreeClassifier, TreeRegressor
from ._certificate import Certificate
from ._client import Client, ServiceError
from ._compare import Comparison, compare
from ._experts import Hedge, NullVector
from ._files import Data, load, merge, read, walks
from ._geowalk import ConfigError, DataError, DomainError, __version__
from ._natural import NaturalClassifier
from ._online import OnlineClassifier, OnlineRegressor
from ._winnow import Winnow

__all__ = [
    "BoostClassifier",
    "BoostRegressor",
    "Certificate",
    "Client",
    "Comparison",
    "ConfigError",
    "Data",
    "DataError",
    "DomainError",
    "Hedge",
    "NaturalClassifier",
    "NotFittedError",
    "NullVector",
    "OnlineClassifier",
    "OnlineRegressor",
    "ServiceError",
    "TreeClassifier",
    "TreeRegressor",
    "Winnow",
    "__version__",
    "compare",
    "geometry",
    "laws",
    "load",
    "losses",
    "merge",
    "optimize",
    "read",
    "walks",
]
