"""What must be true of a manifold, tried on random cases.

>>> from geowalk import laws
>>> from geowalk.geometry import Sphere
>>> laws.check(Sphere(3), seeds=20)
"""

from __future__ import annotations

from . import _geowalk
from ._geowalk import Manifold

__all__ = ["check"]


def check(manifold: Manifold, seeds: int = 100) -> None:
    """Tries every law of manifolds on so many random cases; an AssertionError says which is broken, by how much, and
    the seed that breaks it again.

    >>> from geowalk import laws
    >>> from geowalk.geometry import Grassmann
    >>> laws.check(Grassmann(4, 2), seeds=5)
    """
    broken = _geowalk.check_laws(manifold, seeds)
    if broken is not None:
        raise AssertionError(f"{manifold!r}: {broken}")
