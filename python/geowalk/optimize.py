"""Any cost on any manifold.

A cost is a Python function of a point; its gradient is the Euclidean one, the array of partial derivatives. From both
`minimize` walks to a minimum along geodesics, on all data at once or on batches; `OnLine` takes one example at a time.

>>> import numpy as np
>>> from geowalk.geometry import Sphere
>>> from geowalk.optimize import minimize
>>> A = np.diag([3.0, 2.0, 1.0])
>>> found = minimize(Sphere(3), lambda p: p @ A @ p, lambda p: 2.0 * A @ p, start=[0.6, 0.48, 0.64])
>>> round(found.value, 10), found.reason
(1.0, 'the gradient is no longer than the tolerance')
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from . import _geowalk
from ._geowalk import Manifold

__all__ = ["GradientCheck", "Minimum", "OnLine", "check_gradient", "from_jax", "from_torch", "minimize"]


class Minimum:
    """What a run found.

    point, value, gradient_norm   where it ended; of a run on batches the cost and gradient of all examples there
    steps, evaluations            how long it took
    reason                        why it ended, in words
    history                       an array with a row (value, gradient norm, length of the step) for every step
    certificates                  a list of theorems with status and bound, or a sentence that says why there is none

    >>> from geowalk.geometry import Euclidean
    >>> from geowalk.optimize import minimize
    >>> minimize(Euclidean(1), lambda p: (p @ p, 2.0 * p), start=[1.0]).history.shape[1]
    3
    """

    def __init__(self, fields: dict[str, Any]) -> None:
        self.point: np.ndarray = fields["point"]
        self.value: float = fields["value"]
        self.gradient_norm: float = fields["gradient_norm"]
        self.steps: int = fields["steps"]
        self.evaluations: int = fields["evaluations"]
        self.reason: str = fields["reason"]
        self.history: np.ndarray = fields["history"]
        self.certificates: Any = fields["certificates"]

    def __repr__(self) -> str:
        return f"Minimum(value={self.value:.6g}, gradient_norm={self.gradient_norm:.2g}, steps={self.steps}, reason={self.reason!r})"

    def plot(self, ax: Any = None) -> Any:
        """The cost and the length of the gradient, step by step (needs matplotlib).

        >>> import importlib.util
        >>> from geowalk.geometry import Euclidean
        >>> from geowalk.optimize import minimize
        >>> if importlib.util.find_spec("matplotlib"):
        ...     import matplotlib; matplotlib.use("agg")
        ...     _ = minimize(Euclidean(1), lambda p: (p @ p, 2.0 * p), start=[1.0]).plot()
        """
        try:
            import matplotlib.pyplot as plt
        except ImportError as error:
            raise ImportError("a plot needs matplotlib: pip install matplotlib") from error
        ax = plt.gca() if ax is None else ax
        ax.plot(self.history[:, 0], label="cost")
        ax.set_xlabel("step")
        ax.set_ylabel("cost")
        twin = ax.twinx()
        twin.semilogy(np.maximum(self.history[:, 1], 1e-300), color="C1", label="gradient norm")
        twin.set_ylabel("gradient norm")
        return ax


def _rate(rate: Any) -> float | None:
    if rate == "auto":
        return None
    if isinstance(rate, str):
        raise ValueError(f"rate = {rate!r}; use a positive number or 'auto'")
    return float(rate)


def minimize(
    manifold: Manifold,
    cost: Callable[..., Any],
    gradient: Callable[..., Any] | None = None,
    start: Any = None,
    *,
    data: Any = None,
    batch: int | None = None,
    update: str = "auto",
    rate: float | str = "auto",
    steps: int = 1000,
    tolerance: float = 1e-6,
    seed: int = 0,
    callback: Callable[..., Any] | None = None,
    comparator: Any = None,
    progress: bool = False,
) -> Minimum:
    """The minimum of a cost on a manifold, as far as walks from `start` find it.

    cost        f(p), or with `data` f(p, rows), rows being the examples of the batch; without `gradient` it returns
                (value, Euclidean gradient)
    gradient    the Euclidean gradient, an array of the shape of p; see also `from_torch` and `from_jax`
    start       a point; None: a random one, by the seed
    data        examples, any array that can be indexed by an array of rows
    batch       examples in a step, in an order drawn anew for each pass; None: all
    update      'auto' (conjugate-gradient on all examples, explicit on batches), 'explicit', 'implicit', 'momentum',
                'adam' or 'conjugate-gradient'
    rate        a number, or 'auto': a line search on all examples, found on the way on batches (0.01 for adam)
    steps, tolerance   ends after so many steps, or where the gradient of all examples is no longer
    callback    callback(step, value, gradient_norm, p) after every step; True ends the run
    comparator  a point against which the theorems of explicit and implicit steps at a constant rate are evaluated
    progress    prints a line at steps that are powers of 2

    >>> import numpy as np
    >>> from geowalk.geometry import Grassmann
    >>> from geowalk.optimize import minimize
    >>> X = np.random.default_rng(0).standard_normal((100, 4)) * [3.0, 2.0, 1.0, 0.5]
    >>> found = minimize(Grassmann(4, 2), lambda p, x: (-np.sum((x @ p) ** 2), -2.0 * x.T @ (x @ p)), data=X)
    >>> bool(np.isclose(-found.value, np.sum(np.linalg.svd(X)[1][:2] ** 2)))
    True
    """
    if start is None:
        start = manifold.random_point(seed=seed)
    if update == "auto":
        update = "explicit" if batch is not None or rate != "auto" else "conjugate-gradient"
    if batch is not None and data is None:
        raise ValueError("batch is given without data; give data=, or leave batch out")
    examples = None
    if data is not None:
        if not hasattr(data, "shape"):
            data = np.asarray(data)
        examples, (f, g) = len(data), (cost, gradient)
        cost = lambda p, rows: f(p, data[rows])  # noqa: E731
        gradient = None if g is None else lambda p, rows: g(p, data[rows])
    if progress:
        callback = _printed(callback)
    fields = _geowalk.minimize(
        manifold, cost, gradient, start, update, _rate(rate), steps, tolerance, examples, batch, seed, callback, comparator
    )
    return Minimum(fields)


def _printed(callback: Callable[..., Any] | None) -> Callable[..., Any]:
    def printed(step: int, value: float, gradient: float, p: np.ndarray) -> Any:
        if step & (step - 1) == 0:
            print(f"step {step:>7}  cost {value:<12.6g}  gradient {gradient:.3g}", flush=True)
        return callback(step, value, gradient, p) if callback is not None else None

    return printed


class OnLine:
    """A point that moves by the gradient of one example at a time, as the examples come.

    cost and gradient take (p, example), as in `minimize`; update is 'explicit', 'implicit', 'momentum' or 'adam'.

    >>> import numpy as np
    >>> from geowalk.geometry import Sphere
    >>> from geowalk.optimize import OnLine
    >>> walk = OnLine(Sphere(2), lambda p, x: ((p @ x) ** 2, 2.0 * (p @ x) * x), start=[0.6, 0.8], rate=0.25)
    >>> for _ in range(30):
    ...     walk = walk.step(np.array([0.0, 1.0]))
    >>> walk.point.round(6)
    array([1., 0.])
    """

    def __init__(
        self,
        manifold: Manifold,
        cost: Callable[..., Any],
        gradient: Callable[..., Any] | None = None,
        start: Any = None,
        *,
        update: str = "explicit",
        rate: float | str = "auto",
        seed: int = 0,
        comparator: Any = None,
    ) -> None:
        start = manifold.random_point(seed=seed) if start is None else start
        self._cost, self._gradient = cost, gradient
        self._walker = _geowalk.Walker(manifold, start, update, _rate(rate), comparator)
        self.loss = 0.0
        self.steps = 0

    def step(self, example: Any) -> OnLine:
        """Adds the cost of the example to `loss`, then moves. An error leaves the point where it was.

        >>> from geowalk.geometry import Euclidean
        >>> from geowalk.optimize import OnLine
        >>> walk = OnLine(Euclidean(1), lambda p, x: ((p[0] - x) ** 2, 2.0 * (p - x)), start=[0.0], rate=0.5)
        >>> walk.step(3.0).point, walk.loss
        (array([3.]), 9.0)
        """
        f, g = self._cost, self._gradient
        value, *_ = self._walker.step(lambda p: f(p, example), None if g is None else lambda p: g(p, example))
        self.loss += value
        self.steps += 1
        return self

    @property
    def point(self) -> np.ndarray:
        """The point so far."""
        return self._walker.point()

    @property
    def certificates(self) -> Any:
        """The theorems against the comparator so far, or a sentence that says why there is none."""
        return self._walker.certificates()


class GradientCheck:
    """How the error of f(p) + t<grad, v> falls with t.

    slope   2 in log-log for a gradient that is right, 1 for a wrong one, infinite where all errors are rounding
    errors  an array with rows (t, error)

    >>> from geowalk.geometry import Euclidean
    >>> from geowalk.optimize import check_gradient
    >>> bool(check_gradient(Euclidean(1), lambda p: p[0] ** 3, lambda p: 3.0 * p**2, [1.0]))
    True
    """

    def __init__(self, slope: float, errors: list[tuple[float, float]]) -> None:
        self.slope = slope
        self.errors = np.array(errors).reshape(-1, 2)

    def __bool__(self) -> bool:
        return self.slope > 1.9

    def __repr__(self) -> str:
        return f"GradientCheck(slope={self.slope:.3g}: {'right' if self else 'wrong: 2 is needed'})"


def check_gradient(
    manifold: Manifold, cost: Callable[..., Any], gradient: Callable[..., Any] | None = None, p: Any = None, *, seed: int = 0
) -> GradientCheck:
    """Compares a gradient with differences of the cost along a random geodesic from p (None: a random point).

    >>> from geowalk.geometry import Sphere
    >>> from geowalk.optimize import check_gradient
    >>> check_gradient(Sphere(3), lambda p: p[0] ** 3, lambda p: [2.9 * p[0] ** 2, 0.0, 0.0])
    GradientCheck(slope=1: wrong: 2 is needed)
    """
    p = manifold.random_point(seed=seed) if p is None else p
    return GradientCheck(*_geowalk.check_gradient(manifold, cost, gradient, p, seed))


def from_torch(function: Callable[..., Any]) -> Callable[..., Any]:
    """A cost for `minimize` from a function of torch tensors: its gradient is torch's. The point is not copied.

    >>> import importlib.util
    >>> from geowalk.geometry import Sphere
    >>> from geowalk.optimize import from_torch, minimize
    >>> if importlib.util.find_spec("torch"):
    ...     assert minimize(Sphere(3), from_torch(lambda p: p[0]), seed=1).value < -0.999
    """
    try:
        import torch
    except ImportError as error:
        raise ImportError("from_torch needs torch: pip install torch") from error

    def cost(p: np.ndarray, *rest: Any) -> tuple[float, np.ndarray]:
        point = torch.from_dlpack(p).requires_grad_(True)
        value = function(point, *rest)
        (slope,) = torch.autograd.grad(value, point)
        return value.item(), slope.numpy(force=True)

    return cost


def from_jax(function: Callable[..., Any]) -> Callable[..., Any]:
    """A cost for `minimize` from a function of JAX arrays: its gradient is JAX's, compiled once.

    Without jax.config.update("jax_enable_x64", True) JAX computes in float32: ask for a tolerance above 1e-4 then.

    >>> import importlib.util
    >>> from geowalk.geometry import Sphere
    >>> from geowalk.optimize import from_jax, minimize
    >>> if importlib.util.find_spec("jax"):
    ...     assert minimize(Sphere(3), from_jax(lambda p: p[0]), seed=1, tolerance=1e-3).value < -0.999
    """
    try:
        import jax
    except ImportError as error:
        raise ImportError("from_jax needs jax: pip install jax") from error
    both = jax.jit(jax.value_and_grad(function))

    def cost(p: np.ndarray, *rest: Any) -> tuple[float, np.ndarray]:
        value, slope = both(jax.numpy.asarray(p), *rest)
        return float(value), np.asarray(slope, dtype=np.float64)

    return cost
