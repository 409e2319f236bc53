"""Losses: what hurts.

A loss ℓ(z, y) of a prediction z and a label y, by name or from your own functions; the permissible functions φ behind the
balanced convex losses; and a doctor who says which theorems a loss meets the premises of.

>>> from geowalk.losses import get
>>> get("logistic").slope([-1.0, 0.0, 1.0], 1.0).round(4)
array([-0.7311, -0.5   , -0.2689])
"""

from __future__ import annotations

from . import _geowalk
from ._geowalk import Custom, Diagnosis, Facts, Loss, Permissible, Verdict, permissible_names

__all__ = [
    "Custom",
    "Diagnosis",
    "Facts",
    "Loss",
    "Permissible",
    "Verdict",
    "doctor",
    "get",
    "names",
    "permissible_names",
]


def get(name: str, **parameters: float | str) -> Loss:
    """The loss of that name. Parameters go by keyword, or into the name as on the command line.

    >>> from geowalk.losses import get
    >>> get("huber", delta=2.0)
    huber(delta=2)
    >>> get("huber(delta=2)").value(5.0, 0.0)
    8.0
    >>> get("huber", delta=0.0)
    Traceback (most recent call last):
        ...
    geowalk.ConfigError: delta = 0; it must be a finite number > 0
    """
    return _geowalk.loss(name, **parameters)


def names() -> list[str]:
    """The names that `get` knows.

    >>> from geowalk.losses import names
    >>> 'logistic' in names() and 'matsushita' in names()
    True
    """
    return _geowalk.loss_names()


def doctor(loss: Loss | str, predictions: tuple[float, float] | None = None) -> Diagnosis:
    """Examines a loss on a grid: finite, convex, slope and curvature right, balanced, and which theorems apply.

    `predictions` is the range examined, by default [-30, 30] as far as the loss is defined there.

    >>> from geowalk.losses import doctor
    >>> print(doctor("logistic"))  # doctest: +ELLIPSIS
    logistic: ... points, z in [-30, 30], y in {1, -1}
      finite                             holds
      non-negative                       holds
      ...
    """
    return _geowalk.examine(get(loss) if isinstance(loss, str) else loss, predictions)
