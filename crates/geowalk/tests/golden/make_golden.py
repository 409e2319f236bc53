#!/usr/bin/env python3
# requires: mpmath==1.4.1
"""Golden values: every geometry, generator and loss against multiple-precision arithmetic.

    python make_golden.py            writes manifolds.json generators.json losses.json permissible.json
    python make_golden.py --check    recomputes them; exit 1 and the first differences if a file is not what it should be

Nothing here shares a formula with the crate where that can be avoided. Values follow from definitions:

* sphere and hyperboloid: exp is a matrix exponential of a rotation or boost generator, distance is acos or acosh;
* simplex, orthant and ball are carried by their isometries to a sphere, a flat space and the hyperboloid;
* parallel transport is read off the geodesic symmetry about the midpoint, P v = -log_q s(exp_p v), s = reflection in it;
* a gradient solves the Gram system <grad, b>_p = df(b) on a basis b of the tangent space;
* links, slopes and curvatures are difference quotients with a step of 1e-45 or smaller, never a formula for the derivative;
* conjugates are the supremum, found by root finding.

Inputs are doubles, written so that they read back exactly. A point that satisfies its constraint only up to rounding
is first moved onto its manifold, in the way that is well conditioned there (see each class).

Tolerances. `interior`: 1e-12, and the script asserts that eight times the sensitivity of the answer to half-ulp changes of
the inputs is below that. Edges: 1e-12 or eight times that sensitivity, whichever is larger, unless the case states its own
tolerance and why (a careful formula has to do better than the sensitivity when a difference of inputs is exact).
"""
import json
import math
import pathlib
import sys

import mpmath
from mpmath import mp, mpf

HERE = pathlib.Path(__file__).resolve().parent
DIGITS = 120
PRINTED = 25
HALF_ULP = mpf(2) ** -53
mp.dps = DIGITS

# ---------------------------------------------------------------------------------------------- numbers and vectors


def exact(x):
    """Doubles to multiple precision, without rounding."""
    return [exact(y) for y in x] if isinstance(x, (list, tuple)) else mpf(x)


def doubles(x):
    """Multiple precision to the nearest doubles."""
    return [doubles(y) for y in x] if isinstance(x, (list, tuple)) else float(x)


def text(x):
    """A double as the shortest text that reads back as itself, a result with 25 digits."""
    if isinstance(x, (list, tuple)):
        return [text(y) for y in x]
    return repr(float(x)) if isinstance(x, (float, int)) else mp.nstr(x, PRINTED)


def dot(x, y):
    return mp.fsum(a * b for a, b in zip(x, y))


def norm(x):
    return mp.sqrt(dot(x, x))


def add(x, y, c=1):
    """x + c y."""
    return [a + c * b for a, b in zip(x, y)]


def scale(c, x):
    return [c * a for a in x]


def quasi(k, n):
    """n readable numbers in (-1, 1): the golden-ratio sequence, three decimals."""
    golden = (math.sqrt(5) - 1) / 2
    return [round(2 * math.modf((k * 7 + i + 1) * golden)[0] - 1, 3) for i in range(n)]


def error(x, e, compare):
    """The relative error that golden.rs computes: by the largest coordinate, or coordinate by coordinate."""
    x, e = (x, e) if isinstance(e, list) else ([x], [e])
    if compare == "coordinatewise":
        return max(abs(a - b) / abs(b) if b else abs(a) for a, b in zip(x, e))
    if compare == "gauge":
        x, e = [a - x[0] for a in x], [b - e[0] for b in e]
    largest = max(abs(b) for b in e)
    return max(abs(a - b) for a, b in zip(x, e)) / largest if largest else max(abs(a) for a in x)


def sensitivity(f, inputs, compare):
    """Relative change of f under half-ulp relative changes of its inputs, summed over all of them."""
    base, total = f(*inputs), mpf(0)
    for k, x in enumerate(inputs):
        for i in range(len(x) if isinstance(x, list) else 1):
            y = list(inputs)
            if isinstance(x, list):
                y[k] = x[:i] + [x[i] * (1 + HALF_ULP)] + x[i + 1:]
            else:
                y[k] = x * (1 + HALF_ULP)
            total += error(f(*y), base, compare)
    return total


def round_up(x):
    """One significant digit, not smaller."""
    exponent = int(mp.floor(mp.log10(x)))
    return float(f"{int(mp.ceil(x / mpf(10) ** exponent))}e{exponent}")


INTERIOR = "interior"
NEAR_ZERO, NEAR_ANTIPODE, BOUNDARY, HUGE = "near-zero", "near-antipode", "boundary", "huge"


def case(what, op, tag, inputs, f, compare=None, tolerance=None, reason=None):
    """One case: `inputs` maps names to doubles; `f` takes them in that order, in multiple precision."""
    arguments = [exact(x) for x in inputs.values()]
    expected = f(*arguments)
    if tolerance is None:
        moved = sensitivity(f, arguments, compare)
        if tag == INTERIOR:
            assert 8 * moved <= mpf("1e-12"), (what, op, inputs, moved)
        tolerance, reason = 1e-12, "well conditioned"
        if 8 * moved > mpf("1e-12"):
            tolerance = round_up(8 * moved)
            reason = f"half an ulp in each input moves the answer by {mp.nstr(moved, 2)}"
    assert tag == INTERIOR or reason, (what, op)
    result = {**what, "op": op, "tag": tag, **{k: text(x) for k, x in inputs.items()}, "expected": text(expected)}
    if compare:
        result["compare"] = compare
    return {**result, "tolerance": text(tolerance), "reason": reason or "well conditioned"}


# ---------------------------------------------------------------------------------------------------------- manifolds


class Geometry:
    """Definitions on points and tangent vectors as lists of mpf. `point` and `tangent` remove rounding of the constraint."""

    def point(self, p):
        return p

    def tangent(self, p, v):
        return v

    def inner(self, p, u, v):
        return dot(u, v)

    def basis(self, p):
        n = len(p)
        return [[mpf(i == j) for j in range(n)] for i in range(n)]

    def gradient(self, p, covector):
        # Unit vectors, or the Gram matrix at a coordinate of 1e-150 would look singular.
        basis = [scale(1 / mp.sqrt(self.inner(p, b, b)), b) for b in self.basis(p)]
        gram = mp.matrix([[self.inner(p, a, b) for b in basis] for a in basis])
        solution = mp.lu_solve(gram, mp.matrix([dot(covector, b) for b in basis]))
        v = [mpf(0)] * len(p)
        for c, b in zip(solution, basis):
            v = add(v, b, c)
        return v

    def transport(self, p, q, v):
        size = mp.sqrt(self.inner(p, v, v))
        if size == 0:
            return v
        shrink = mpf("0.01") / size
        middle = self.exp(p, scale(mpf(1) / 2, self.log(p, q)))
        reflected = self.exp(middle, scale(-1, self.log(middle, self.exp(p, scale(shrink, v)))))
        return scale(-1 / shrink, self.log(q, reflected))


class Euclidean(Geometry):
    def exp(self, p, v):
        return add(p, v)

    def log(self, p, q):
        return add(q, p, -1)

    def distance(self, p, q):
        return norm(self.log(p, q))


class Sphere(Geometry):
    """A point is divided by its norm, a tangent vector loses its normal part."""

    def __init__(self, radius=1):
        self.r = mpf(radius)

    def point(self, p):
        return scale(self.r / norm(p), p)

    def tangent(self, p, v):
        return add(v, p, -dot(p, v) / self.r**2)

    def basis(self, p):
        skip = max(range(len(p)), key=lambda i: abs(p[i]))
        return [self.tangent(p, b) for i, b in enumerate(super().basis(p)) if i != skip]

    def exp(self, p, v):
        n, r2 = len(p), self.r**2
        rotation = mp.matrix(n, n)
        for i in range(n):
            for j in range(n):
                rotation[i, j] = (v[i] * p[j] - p[i] * v[j]) / r2
        return list(mp.expm(rotation) * mp.matrix(p))

    def distance(self, p, q):
        return self.r * mp.acos(dot(p, q) / self.r**2)

    def log(self, p, q):
        angle = self.distance(p, q) / self.r
        return scale(angle / mp.sin(angle), add(q, p, -mp.cos(angle))) if angle else add(q, p, -1)


class Hyperboloid(Geometry):
    """Time first. The time coordinate of a point and of a tangent vector is recomputed from the space coordinates: at
    |p_s| = 5e5 its rounding alone would put the point 5e-5 off the hyperboloid."""

    @staticmethod
    def lorentz(u, v):
        return dot(u[1:], v[1:]) - u[0] * v[0]

    def point(self, p):
        return [mp.sqrt(1 + dot(p[1:], p[1:]))] + p[1:]

    def tangent(self, p, v):
        return [dot(p[1:], v[1:]) / p[0]] + v[1:]

    def inner(self, p, u, v):
        return self.lorentz(u, v)

    def basis(self, p):
        return [self.tangent(p, b) for b in super().basis(p)[1:]]

    def exp(self, p, v):
        n = len(p)
        boost = mp.matrix(n, n)
        for i in range(n):
            for j in range(n):
                sign = -1 if j == 0 else 1
                boost[i, j] = sign * (p[i] * v[j] - v[i] * p[j])
        return list(mp.expm(boost) * mp.matrix(p))

    def distance(self, p, q):
        return mp.acosh(-self.lorentz(p, q))

    def log(self, p, q):
        d = self.distance(p, q)
        return scale(d / mp.sinh(d), add(q, p, -mp.cosh(d))) if d else add(q, p, -1)


class Carried(Geometry):
    """A geometry given by an isometry `to` onto another, with its differential `push` and their inverses."""

    def inner(self, p, u, v):
        return self.model.inner(self.to(p), self.push(p, u), self.push(p, v))

    def exp(self, p, v):
        return self.back(self.model.exp(self.to(p), self.push(p, v)))

    def log(self, p, q):
        return self.pull(self.to(p), self.model.log(self.to(p), self.to(q)))

    def distance(self, p, q):
        return self.model.distance(self.to(p), self.to(q))

    def transport(self, p, q, v):
        return self.pull(self.to(q), self.model.transport(self.to(p), self.to(q), self.push(p, v)))


class Simplex(Carried):
    """p = x^2/4 with x on the sphere of radius 2. A point is divided by its sum; a tangent vector loses its part along p,
    which is the Fisher-orthogonal projection (taking off the mean would destroy a coordinate of 1e-29)."""

    model = Sphere(2)

    def point(self, p):
        return scale(1 / mp.fsum(p), p)

    def tangent(self, p, v):
        return add(v, p, -mp.fsum(v))

    def basis(self, p):
        skip = max(range(len(p)), key=lambda i: p[i])
        return [add(b, [mpf(j == skip) for j in range(len(p))], -1)
                for i, b in enumerate(super().basis(p)) if i != skip]

    def distance(self, p, q):
        return 2 * mp.acos(mp.fsum(mp.sqrt(a * b) for a, b in zip(p, q)))

    def to(self, p):
        return [2 * mp.sqrt(a) for a in p]

    def push(self, p, v):
        return [b / mp.sqrt(a) for a, b in zip(p, v)]

    def back(self, x):
        return [a * a / 4 for a in x]

    def pull(self, x, v):
        return [a * b / 2 for a, b in zip(x, v)]


class Orthant(Carried):
    """x = ln p is flat."""

    model = Euclidean()

    def to(self, p):
        return [mp.log(a) for a in p]

    def push(self, p, v):
        return [b / a for a, b in zip(p, v)]

    def back(self, x):
        return [mp.exp(a) for a in x]

    def pull(self, x, v):
        return [mp.exp(a) * b for a, b in zip(x, v)]


class Ball(Carried):
    """Stereographic projection of the hyperboloid."""

    model = Hyperboloid()

    def to(self, p):
        gap = 1 - dot(p, p)
        return [(2 - gap) / gap] + scale(2 / gap, p)

    def push(self, p, v):
        gap, along = 1 - dot(p, p), dot(p, v)
        return [4 * along / gap**2] + add(scale(2 / gap, v), p, 4 * along / gap**2)

    def back(self, x):
        return scale(1 / (1 + x[0]), x[1:])

    def pull(self, x, v):
        return add(scale(1 / (1 + x[0]), v[1:]), x[1:], -v[0] / (1 + x[0]) ** 2)


class Spd(Geometry):
    """Symmetric positive definite matrices, affine-invariant metric; entries column by column."""

    @staticmethod
    def matrix(p):
        n = math.isqrt(len(p))
        m = mp.matrix(n, n)
        for k, a in enumerate(p):
            m[k % n, k // n] = a
        return (m + m.T) / 2

    @staticmethod
    def entries(m):
        return [m[i, j] for j in range(m.cols) for i in range(m.rows)]

    @staticmethod
    def function(m, f):
        values, vectors = mp.eigsy((m + m.T) / 2)
        return vectors * mp.diag([f(a) for a in values]) * vectors.T

    def point(self, p):
        return self.entries(self.matrix(p))

    def tangent(self, p, v):
        return self.point(v)

    def basis(self, p):
        n = math.isqrt(len(p))
        pairs = [(i, j) for j in range(n) for i in range(j + 1)]
        return [[mpf({(k % n), (k // n)} == {i, j}) for k in range(n * n)] for i, j in pairs]

    def inner(self, p, u, v):
        inverse = mp.inverse(self.matrix(p))
        product = inverse * self.matrix(u) * inverse * self.matrix(v)
        return mp.fsum(product[i, i] for i in range(product.rows))

    def exp(self, p, v):
        x = self.matrix(p)
        return self.point(self.entries(x * mp.expm(mp.inverse(x) * self.matrix(v))))

    def log(self, p, q):
        root = self.function(self.matrix(p), mp.sqrt)
        whitener = mp.inverse(root)
        return self.point(self.entries(root * self.function(whitener * self.matrix(q) * whitener, mp.log) * root))

    def distance(self, p, q):
        v = self.log(p, q)
        return mp.sqrt(self.inner(p, v, v))


def manifold_cases():
    cases = []

    def put(name, n, geometry, tag, ops, compare=None, tolerance=None, reason=None, **inputs):
        """The same inputs through several operations. Tangent vectors u and v sit at p."""
        what = {"geometry": name, "n": n}
        g = geometry

        def at(p, *rest):
            p = g.point(p)
            return p, *(g.tangent(p, v) for v in rest)

        definitions = {
            "exp": (("p", "v", "t"), lambda p, v, t: g.exp(*at(p, scale(t, v)))),
            "log": (("p", "q"), lambda p, q: g.log(g.point(p), g.point(q))),
            "distance": (("p", "q"), lambda p, q: g.distance(g.point(p), g.point(q))),
            "inner": (("p", "u", "v"), lambda p, u, v: g.inner(*at(p, u, v))),
            "gradient": (("p", "covector"), lambda p, c: g.gradient(g.point(p), c)),
            "transport": (("p", "q", "v"), lambda p, q, v: g.transport(*at(p, v)[:1], g.point(q), at(p, v)[1])),
        }
        for op in ops.split():
            names, f = definitions[op]
            values = {k: inputs[k] for k in names if k != "t"}
            if "t" in names:
                values["t"] = inputs.get("t", 1.0)
            cases.append(case(what, op, tag, values, f, compare if op not in ("distance", "inner") else None,
                              tolerance, reason))

    every = "exp log distance inner gradient transport"

    def double_point(g, p):
        return doubles(g.point(exact(p)))

    def double_tangent(g, p, v):
        return doubles(g.tangent(g.point(exact(p)), exact(v)))

    def double_exp(g, p, v):
        p = g.point(exact(p))
        return doubles(g.exp(p, g.tangent(p, exact(v))))

    def ordinary(name, n, g, make, sets=2, size=0.5, **options):
        """Points and vectors in general position."""
        for k in range(sets):
            p, q = make(quasi(4 * k, n)), make(quasi(4 * k + 1, n))
            u, v = (double_tangent(g, p, [size * a for a in quasi(4 * k + i, n)]) for i in (2, 3))
            put(name, n, g, INTERIOR, every, p=p, q=q, u=u, v=v, covector=quasi(4 * k + 4, n),
                t=[1.0, -0.75, 1.5][k % 3], **options)

    exact_difference = "q - p is exact in doubles, so nothing has to be lost; the constraint is off by less than 1e-23"
    second_order = "q - p is exact in doubles, and the constraint, off by 1e-16, enters as (1e-16/1e-7)^2"
    small_step = "the step is 1e-12: only a bound near one ulp sees it"

    # Euclidean space.
    flat = Euclidean()
    ordinary("euclidean", 3, flat, lambda x: x)
    put("euclidean", 3, flat, HUGE, "distance log", p=[1e200, 0.0, 2e200], q=[0.0, -1e200, -1e200])
    put("euclidean", 3, flat, NEAR_ZERO, "distance log", tolerance=1e-15, reason="differences are exact, squares must not underflow",
        p=[1e-200, 0.0, 3e-200], q=[0.0, -1e-200, 3e-200])

    # Spheres.
    for radius, name in ((1, "sphere"), (2, "sphere(radius=2)")):
        g = Sphere(radius)
        for n in (3, 5):
            ordinary(name, n, g, lambda x: double_point(g, x))
        step = 2.0**-41
        p, v = [0.5 * radius] * 4, [step, -step, step, -step]
        q = [a + b for a, b in zip(p, v)]
        put(name, 4, g, NEAR_ZERO, "exp", tolerance=1e-15, reason=small_step, p=p, v=v)
        put(name, 4, g, NEAR_ZERO, "distance log", tolerance=1e-12, reason=exact_difference, p=p, q=q)
        put(name, 4, g, NEAR_ZERO, "transport", tolerance=4e-15, reason="transport over 1e-12 differs from the identity by that much",
            p=p, q=q, v=[0.75, -0.25, 0.25, -0.75])
        p = double_point(g, [0.6, -0.3, 0.5])
        q = double_exp(g, p, [1e-7, 2e-7, -3e-7])
        put(name, 3, g, NEAR_ZERO, "distance log", tolerance=1e-12, reason=second_order, p=p, q=q)
        unit = g.tangent(g.point(exact(p)), exact([0.2, 0.9, 0.1]))
        unit = scale(1 / norm(unit), unit)
        for gap in (mpf("1e-6"), mpf("1e-9")):
            v = doubles(scale(radius * (mp.pi - gap), unit))
            q = double_exp(g, p, v)
            put(name, 3, g, NEAR_ANTIPODE, "distance", tolerance=2e-15,
                reason="the gap to the antipode is absolute: the bound is a few ulps of pi", p=p, q=q)
            put(name, 3, g, NEAR_ANTIPODE, "exp log transport", p=p, q=q, v=v)
            w = double_tangent(g, p, [0.4, 0.1, -0.7])
            put(name, 3, g, NEAR_ANTIPODE, "transport", p=p, q=q, v=w)

    # The simplex.
    g = Simplex()

    def distribution(x):
        return double_point(g, [a + 1.2 for a in x])

    for n in (3, 5):
        ordinary("simplex", n, g, distribution, size=0.2)
    step = 2.0**-41
    p, v = [0.25] * 4, [step, -step, step, -step]
    q = [a + b for a, b in zip(p, v)]
    put("simplex", 4, g, NEAR_ZERO, "exp", tolerance=1e-15, reason=small_step, p=p, v=v)
    put("simplex", 4, g, NEAR_ZERO, "distance log", tolerance=1e-12, reason=exact_difference, p=p, q=q)
    p = distribution(quasi(1, 4))
    q = double_exp(g, p, [1e-7, -2e-7, -1e-7, 2e-7])
    put("simplex", 4, g, NEAR_ZERO, "distance log", tolerance=1e-12, reason=second_order, p=p, q=q)
    for least in (1e-12, 1e-58):
        root = math.sqrt(least)
        p, q = [least, 0.25, 0.75 - least], [0.125, 0.375, 0.5]
        r = [3 * least, 0.5, 0.5 - 3 * least]
        near = {"compare": "coordinatewise", "covector": [0.7, -1.1, 0.4]}
        put("simplex", 3, g, BOUNDARY, every, p=p, q=q, u=[least, 0.125, -0.125 - least], v=[0.5 * root, 0.125, -0.125 - 0.5 * root], **near)
        put("simplex", 3, g, BOUNDARY, "distance log transport", p=p, q=r, v=[0.5 * root, 0.125, -0.125 - 0.5 * root], **near)
        put("simplex", 3, g, BOUNDARY, "log transport", p=q, q=p, v=[0.125, 0.25, -0.375], **near)
    put("simplex", 2, g, BOUNDARY, "exp", tolerance=1e-12, reason="the geodesic leaves the simplex and is folded back; well conditioned",
        p=[0.5, 0.5], v=[1.0, -1.0], t=1.0)

    # The positive orthant.
    g = Orthant()
    ordinary("orthant", 3, g, lambda x: [round(a + 1.2, 3) for a in x])
    p = [0.7, 3.1, 1.3]
    near = [a + s for a, s in zip(p, (1e-12, -2e-12, 0.7e-12))]
    put("orthant", 3, g, NEAR_ZERO, "distance log", tolerance=1e-12, reason="q - p is exact in doubles, so nothing has to be lost", p=p, q=near)
    put("orthant", 3, g, NEAR_ZERO, "exp", tolerance=1e-15, reason=small_step, p=p, v=[1e-12, -1e-12, 0.5e-12])
    p, q = [1e150, 1e-150, 2.0], [3e150, 0.7e-150, 1.0]
    put("orthant", 3, g, HUGE, "exp log distance inner transport", compare="coordinatewise",
        p=p, q=q, u=[2e149, 1e-150, -1.0], v=[1e150, -0.5e-150, 0.5])
    put("orthant", 3, g, HUGE, "gradient", compare="coordinatewise", p=p, covector=[1e-150, 2e150, 0.5])
    put("orthant", 2, g, HUGE, "log distance", compare="coordinatewise", p=[1e150, 1e-150], q=[1e-150, 1e150])
    put("orthant", 2, g, HUGE, "exp", compare="coordinatewise", p=[1e-150, 1e150], v=[6e-148, -6e152], t=1.0)

    # The hyperboloid.
    g = Hyperboloid()
    for n in (3, 5):
        ordinary("hyperbolic", n, g, lambda x: double_point(g, [0.0] + [1.5 * a for a in x[1:]]))
    recomputed = ("q_s - p_s is exact in doubles and the time coordinates follow from the space coordinates, so nothing has to be lost")
    for space in ([0.27, -0.53, 0.37], [1.6, 2.3, -0.7]):
        shifted = [a + b for a, b in zip(space, [6e-11, 3e-11, -5e-11])]
        p, q = double_point(g, [0.0] + space), double_point(g, [0.0] + shifted)
        put("hyperbolic", 4, g, NEAR_ZERO, "distance log", tolerance=1e-12, reason=recomputed, p=p, q=q)
        v = double_tangent(g, p, [0.0, 1e-12, -1e-12, 0.5e-12])
        put("hyperbolic", 4, g, NEAR_ZERO, "exp", tolerance=1e-15, reason=small_step, p=p, v=v)
    p = double_point(g, [0.0, 3e5, -4e5, 5e4])
    across = double_point(g, [0.0, 3e5 + 0.0013, -4e5 + 0.0014, 5e4 + 0.0007])
    along = double_point(g, [0.0, 3.5e5, -4.75e5, 6e4])
    u, v = double_tangent(g, p, [0.0, 0.4, 0.3, -0.2]), double_tangent(g, p, [0.0, -0.1, 0.5, 0.6])
    put("hyperbolic", 4, g, HUGE, "distance log", tolerance=1e-12, reason=recomputed, p=p, q=across)
    put("hyperbolic", 4, g, HUGE, "exp inner gradient transport", p=p, q=across, u=u, v=v, covector=[0.3, -0.2, 0.5, 0.1])
    put("hyperbolic", 4, g, HUGE, "distance log transport", p=p, q=along, v=v)
    slanted = double_point(g, [0.0, 3e5 + 600, -4e5 - 800, 5e4 + 100.25])
    put("hyperbolic", 4, g, HUGE, "distance log transport", p=p, q=slanted, v=v)
    u, v = double_tangent(g, p, [0.0, 6e4, -8e4, 1e4]), double_tangent(g, p, [0.0, -3e5, 4e5, -5e4 - 0.5])
    put("hyperbolic", 4, g, HUGE, "exp inner transport", p=p, q=across, u=u, v=v)
    origin = [1.0, 0.0, 0.0, 0.0]
    put("hyperbolic", 4, g, HUGE, "distance log transport exp", p=origin, q=p, v=[0.0, 6.0, -8.0, 1.0])
    opposite = double_point(g, [0.0, -2e5, 3e5, 1e4])
    put("hyperbolic", 4, g, HUGE, "distance log", p=p, q=opposite)

    # The Poincare ball.
    g = Ball()
    for n in (2, 3):
        ordinary("poincare-ball", n, g, lambda x: [round(0.55 * a, 4) for a in x])
    p, v = [0.27, -0.53], [1e-12, 0.4e-12]
    q = [a + b for a, b in zip(p, v)]
    put("poincare-ball", 2, g, NEAR_ZERO, "distance log", tolerance=1e-12, reason="q - p is exact in doubles, so nothing has to be lost", p=p, q=q)
    put("poincare-ball", 2, g, NEAR_ZERO, "exp", tolerance=1e-15, reason=small_step, p=p, v=v)
    edge = 1 - 1e-9
    p = [0.6 * edge, 0.8 * edge]
    q = [-0.28 * edge, 0.96 * edge]
    put("poincare-ball", 2, g, BOUNDARY, every, p=p, q=q, u=[3e-9, 1e-9], v=[-1e-9, 2e-9], covector=[0.3, -0.7])
    put("poincare-ball", 2, g, BOUNDARY, "distance log transport", p=[0.25, 0.125], q=p, v=[0.5, -0.25])
    put("poincare-ball", 2, g, BOUNDARY, "log transport", p=p, q=[0.25, 0.125], v=[1e-9, -2e-9])
    put("poincare-ball", 2, g, BOUNDARY, "exp", p=[0.0, 0.0], v=[6.0, -8.0])

    # Symmetric positive definite matrices.
    g = Spd()

    def positive(rows):
        """B B^T + I/4 of a matrix with few binary digits: exact."""
        n = len(rows)
        return [math.fsum(a * b for a, b in zip(rows[i], rows[j])) + 0.25 * (i == j) for j in range(n) for i in range(n)]

    def symmetric(values, n):
        m = [[0.0] * n for _ in range(n)]
        for k, (i, j) in enumerate((i, j) for j in range(n) for i in range(j + 1)):
            m[i][j] = m[j][i] = values[k]
        return [m[i][j] for j in range(n) for i in range(n)]

    square = {
        2: ([[1.0, 0.25], [-0.5, 0.75]], [[0.5, 0.5], [0.25, 1.25]]),
        3: ([[1.0, 0.25, -0.5], [0.0, 0.75, 0.5], [0.25, -0.25, 1.5]], [[0.75, -0.5, 0.25], [0.5, 1.0, 0.0], [0.25, 0.5, 0.5]]),
    }
    for n, (a, b) in square.items():
        size = n * (n + 1) // 2
        for k, (x, y) in enumerate(((a, b), (b, a))):
            put("spd", n, g, INTERIOR, every, p=positive(x), q=positive(y), u=symmetric(quasi(3 * k, size), n),
                v=symmetric([0.5 * c for c in quasi(3 * k + 1, size)], n), covector=quasi(3 * k + 2, n * n), t=1.0)
    p = [1.31, -0.17, -0.17, 0.93]
    q = [c + d for c, d in zip(p, [1e-12, -0.6e-12, -0.6e-12, 0.9e-12])]
    put("spd", 2, g, NEAR_ZERO, "distance log", tolerance=1e-12, reason="q - p is exact in doubles, so nothing has to be lost", p=p, q=q)
    put("spd", 2, g, NEAR_ZERO, "exp", tolerance=2e-15, reason=small_step, p=p, v=[1e-12, -0.5e-12, -0.5e-12, 2e-12])
    # Condition 1e8: R diag(1e8, 1) R^T with a rotation R by (0.6, 0.8), and tangent vectors that are moderate in the metric.
    rotation = mp.matrix([[mpf(3) / 5, -mpf(4) / 5], [mpf(4) / 5, mpf(3) / 5]])

    def stretched(m):
        root = rotation * mp.diag([mpf(10) ** 4, 1])
        return doubles(g.entries(root * mp.matrix(m) * root.T))

    p, q = stretched([[1, 0], [0, 1]]), stretched([[mpf("1.5"), mpf("0.25")], [mpf("0.25"), mpf("0.75")]])
    u, v = stretched([[mpf("0.5"), mpf("0.25")], [mpf("0.25"), -1]]), stretched([[mpf("-0.75"), mpf("0.5")], [mpf("0.5"), mpf("0.25")]])
    put("spd", 2, g, HUGE, every, p=p, q=q, u=u, v=v, covector=[0.3, -0.7, 0.2, 0.5])
    p, q = [1e8, 0.0, 0.0, 1.0], [2e8, 1e3, 1e3, 0.5]
    put("spd", 2, g, HUGE, every, p=p, q=q, u=[1e7, 2e3, 2e3, 0.5], v=[-5e7, 1e3, 1e3, 0.25], covector=[0.3e-8, -0.7e-4, 0.2e-4, 0.5])
    return cases



# --------------------------------------------------------------------------------------------- scalar functions, quotients


def quotient(f, x, order=1, relative=mpf("1e-60"), size=None):
    """A central difference quotient. At hundreds of digits its error is far below what is printed."""
    h = (abs(x) if size is None else size) * relative or relative
    if order == 1:
        return (f(x + h) - f(x - h)) / (2 * h)
    return (f(x + h) - 2 * f(x) + f(x - h)) / h**2


def group(what, op, tag, inputs, f, reason=None):
    """Many scalar cases in one: every input is a list of doubles, `f` takes one of each. All are demanded to 1e-12."""
    rows = list(zip(*(exact(x) for x in inputs.values())))
    if tag == INTERIOR:
        for row in rows:
            moved = sensitivity(f, list(row), None)
            assert 8 * moved <= mpf("1e-12"), (what, op, row, moved)
    result = {**what, "op": op, "tag": tag, **{k: text(x) for k, x in inputs.items()}, "expected": text([f(*row) for row in rows])}
    return {**result, "compare": "coordinatewise", "tolerance": "1e-12", "reason": reason or "well conditioned"}


# --------------------------------------------------------------------------------------------------------- generators


def x_ln_x(x):
    return x * mp.log(x) if x else mpf(0)


def p_norm(q):
    def psi(x):
        return mp.fsum(abs(a) ** q for a in x) ** (2 / q) / 2

    def unlink(theta):
        # The conjugate exponent; checked against the quotient of psi below.
        p = q / (q - 1)
        if not any(theta):
            return theta
        whole = mp.fsum(abs(a) ** p for a in theta) ** ((2 - p) / p)
        return [mp.sign(a) * abs(a) ** (p - 1) * whole for a in theta]

    return psi, unlink


def softmax(theta):
    total = mp.fsum(mp.exp(a) for a in theta)
    return [mp.exp(a) / total for a in theta]


SIGMA = [2.0, 0.5, -0.25, 0.5, 1.0, 0.125, -0.25, 0.125, 0.75]
GENERATORS = {
    "squared-euclidean": (lambda x: dot(x, x), lambda theta: scale(mpf(1) / 2, theta)),
    "entropy": (lambda x: mp.fsum(x_ln_x(a) - a for a in x), lambda theta: [mp.exp(a) for a in theta]),
    "simplex-entropy": (lambda x: mp.fsum(x_ln_x(a) for a in x), softmax),
    "burg": (lambda x: -mp.fsum(mp.log(a) for a in x), lambda theta: [-1 / a for a in theta]),
    "mahalanobis": (lambda x: dot(x, list(Spd.matrix(exact(SIGMA)) * mp.matrix(x))),
                    lambda theta: list(mp.lu_solve(2 * Spd.matrix(exact(SIGMA)), mp.matrix(theta)))),
}
for q in (1.1, 1.5, 2.0):
    GENERATORS[f"p-norm(q={q})"] = p_norm(mpf(q))


def generator_cases():
    cases = []

    def put(name, tag, ops, tolerance=None, reason=None, compare=None, **inputs):
        psi, inverse = GENERATORS[name]
        free = name == "simplex-entropy"  # its dual coordinates are free up to a constant

        def link(x):
            theta = []
            for i in range(len(x)):
                size = abs(x[i]) or max(abs(a) for a in x)
                theta.append(quotient(lambda a: psi(x[:i] + [a] + x[i + 1:]), x[i], relative=mpf("1e-150"), size=size))
            return theta

        def unlink(theta):
            w = inverse(theta)
            back = link(w)
            wrong = error(back, theta, "gauge" if free else None)
            assert wrong < mpf("1e-60"), (name, theta, wrong)
            return w

        definitions = {
            "value": (("w",), psi),
            "link": (("w",), link),
            "unlink": (("theta",), unlink),
            "conjugate": (("theta",), lambda theta: dot(theta, unlink(theta)) - psi(unlink(theta))),
            "divergence": (("u", "w"), lambda u, w: psi(u) - psi(w) - dot(link(w), add(u, w, -1))),
            "legendre_dual": (("u", "p"), lambda u, p: unlink(add(link(p), u))),
        }
        what = {"generator": name, "n": len(next(iter(inputs.values())))}
        if name == "mahalanobis":
            what["sigma"] = text(SIGMA)
        for op in ops.split():
            names, f = definitions[op]
            mode = "gauge" if op == "link" and free else None if op in ("value", "conjugate", "divergence") else compare
            cases.append(case(what, op, tag, {k: inputs[k] for k in names}, f, mode, tolerance, reason))

    dual_ops, primal_ops = "unlink conjugate", "value link"
    tail = dict(tolerance=1e-12, reason="the arguments are exact, and the function is smooth relative to its own size")
    close = dict(tolerance=1e-12, reason="u - w is exact in doubles, so nothing has to be lost to cancellation")
    with mp.workdps(1000):
        positive = [[0.7, 1.9, 0.25], [2.3, 0.4, 1.1]]
        signed = [[0.7, -1.9, 0.25], [-2.3, 0.4, 1.1]]
        simplex = [[0.125, 0.5, 0.375], [0.25, 0.1875, 0.5625]]
        for name in GENERATORS:
            domain = simplex if name == "simplex-entropy" else positive if name in ("entropy", "burg") else signed
            dual = [[-0.6, -1.7, -0.2], [-2.2, -0.9, -1.3]] if name == "burg" else [[0.6, -1.2, 0.3], [-0.8, 0.35, 2.1]]
            for k in range(2):
                put(name, INTERIOR, primal_ops, w=domain[k])
                put(name, INTERIOR, dual_ops, theta=dual[k])
                put(name, INTERIOR, "divergence", u=domain[k], w=domain[1 - k])
                put(name, INTERIOR, "legendre_dual", u=[-0.3, -0.1, -0.2] if name == "burg" else [0.3, -0.4, 0.15], p=domain[k])
            w = domain[0]
            near = [a * (1 + s * 1e-8) for a, s in zip(w, (1, -0.5, 2))]
            if name == "simplex-entropy":
                # Both sums are exactly 1; a sum that is off by one ulp would be off by as much as the divergence.
                near = [0.125 + 2.0**-27, 0.5 - 2.0**-26, 0.375 + 2.0**-27]
            put(name, NEAR_ZERO, "divergence", u=near, w=w, **close)
            middle = [a * (1 + s * 1e-3) for a, s in zip(w, (1, -0.5, 2))]
            if name == "simplex-entropy":
                middle = [0.125 + 2.0**-10, 0.5 - 2.0**-9, 0.375 + 2.0**-10]
            put(name, NEAR_ZERO, "divergence", u=middle, w=w, **close)
        put("entropy", BOUNDARY, "divergence", u=[0.0, 1.5], w=[0.5, 2.0], **tail)
        put("simplex-entropy", BOUNDARY, "divergence", u=[0.0, 0.25, 0.75], w=[0.5, 0.25, 0.25], **tail)
        put("simplex-entropy", BOUNDARY, "link value", w=[1e-58, 0.5, 0.5], **tail)
        put("entropy", HUGE, "divergence", u=[1e-200, 3.0], w=[1e-190, 1e-10], **tail)
        put("burg", HUGE, "divergence", u=[1e-200, 3e150], w=[2e-200, 1e148], **tail)
        coordinates = dict(compare="coordinatewise", **tail)
        put("entropy", HUGE, "unlink", theta=[700.0, -700.0, 40.0], **coordinates)
        put("entropy", HUGE, "link", w=[1e300, 1e-300, 3.0], **coordinates)
        put("burg", HUGE, "link", w=[1e200, 1e-200, 3.0], **coordinates)
        put("burg", HUGE, "unlink", theta=[-1e200, -1e-200, -3.0], **coordinates)
        put("simplex-entropy", HUGE, "unlink conjugate", theta=[700.0, -700.0, 0.0], **coordinates)
        put("simplex-entropy", HUGE, "unlink conjugate", theta=[-700.0, -699.0, -701.5], **coordinates)
        put("simplex-entropy", HUGE, "unlink conjugate", theta=[-700.0, 0.0, -40.0], **coordinates)
        put("simplex-entropy", HUGE, "unlink conjugate", theta=[700.0, 700.0, 699.0], **coordinates)
        for q in (1.1, 1.5, 2.0):
            name = f"p-norm(q={q})"
            for size in (1e200, 1e-200):
                put(name, HUGE, "link", w=[0.7 * size, -1.9 * size, 0.25 * size], **coordinates)
                put(name, HUGE, "unlink", theta=[0.6 * size, -1.2 * size, 0.3 * size], **coordinates)
            # Coordinates 1e400 apart: the small one is not representable beside the large one.
            put(name, HUGE, "link", w=[1e200, -3e199, 1e-200], **tail)
            put(name, BOUNDARY, "link", w=[0.0, -1.5, 0.5], **tail)
            put(name, BOUNDARY, "divergence", u=[0.5, 0.0, -1.0], w=[0.0, -1.5, 0.5], **tail)
            put(name, BOUNDARY, "divergence", u=[0.5, 0.0, -1.0], w=[0.0, 0.0, 0.0], **tail)
    return cases


# ------------------------------------------------------------------------------------------------------------- losses


def piecewise(*pieces):
    """The first piece whose condition holds."""
    return lambda z, y: next(f(z, y) for condition, f in pieces if condition(z, y))


def huber(delta):
    delta = mpf(delta)
    return piecewise((lambda z, y: abs(z - y) <= delta, lambda z, y: (z - y) ** 2 / 2),
                     (lambda z, y: True, lambda z, y: delta * (abs(z - y) - delta / 2)))


def quantile(tau):
    tau = mpf(tau)
    return lambda z, y: max(tau * (y - z), (tau - 1) * (y - z))


LOSSES = {
    "squared": lambda z, y: (z - y) ** 2,
    "absolute": lambda z, y: abs(z - y),
    "huber(delta=1)": huber(1.0),
    "huber(delta=0.25)": huber(0.25),
    "quantile(tau=0.5)": quantile(0.5),
    "quantile(tau=0.9)": quantile(0.9),
    "logistic": lambda z, y: mp.log1p(mp.exp(-y * z)),
    "hinge": lambda z, y: max(mpf(0), 1 - y * z),
    "exponential": lambda z, y: mp.exp(-y * z),
    "invariant": lambda z, y: z**2,
    "geodesic(space=sphere)": lambda z, y: (mp.acos(z) - mp.acos(y)) ** 2,
    "geodesic(space=spacelike)": lambda z, y: (mp.asinh(z) - mp.asinh(y)) ** 2,
    "geodesic(space=timelike)": lambda z, y: (mp.acosh(z) - mp.acosh(y)) ** 2,
    "geodesic(space=null)": lambda z, y: (mp.log(z) - mp.log(y)) ** 2,
}


def visible(x):
    """The quotient of a straight piece is 0 up to its rounding, which is below every double."""
    return x if abs(x) > mpf("1e-350") else mpf(0)


def loss_cases():
    cases = []

    def put(names, tag, pairs, reason=None):
        for name in names.split():
            loss = LOSSES[name]
            inputs = {"z": [p[0] for p in pairs], "y": [p[1] for p in pairs]}
            step = mpf("1e-200")
            definitions = {
                "value": loss,
                "slope": lambda z, y: visible(quotient(lambda a: loss(a, y), z, 1, step)),
                "curvature": lambda z, y: visible(quotient(lambda a: loss(a, y), z, 2, step)),
            }
            for op, f in definitions.items():
                cases.append(group({"loss": name}, op, tag, inputs, f, reason))

    # 800 digits: at a margin of -700 the curvature of the logistic loss is 1e-304 of its value.
    with mp.workdps(800):
        real = [(0.3, -0.4), (-1.7, 2.2), (0.1, 0.2), (5.5, 5.0), (12.0, -3.5)]
        put("squared absolute huber(delta=1) huber(delta=0.25) quantile(tau=0.5) quantile(tau=0.9) geodesic(space=spacelike)", INTERIOR, real)
        put("invariant", INTERIOR, [(0.3, 0.0), (-1.7, 0.0), (12.0, 0.0)])
        margins = [0.3, -0.4, 1.7, -2.2, 5.5, -9.0]
        put("logistic hinge exponential", INTERIOR, [(m, s) for m in margins for s in (1.0, -1.0)])
        put("geodesic(space=sphere)", INTERIOR, [(0.3, -0.4), (-0.85, 0.2), (0.1, 0.2), (0.75, 0.8), (0.9, -0.9)])
        put("geodesic(space=timelike) geodesic(space=null)", INTERIOR, [(1.5, 2.75), (4.0, 1.25), (2.0, 30.0), (1.25, 1.5)])
        exact_argument = "the arguments are exact, and the function is smooth relative to its own size"
        put("logistic exponential hinge", HUGE, [(m, s) for m in (40.0, 700.0) for s in (1.0, -1.0)], exact_argument)
        put("geodesic(space=spacelike) squared absolute huber(delta=1)", HUGE, [(1e8, -3.0), (-1e150, 1e150), (2.0, 1e8)], exact_argument)
        exact_difference = "z - y is exact in doubles, so nothing has to be lost to cancellation"
        for gap in (2.0**-20, 2.0**-36):
            pairs = [(y + gap, y) for y in (0.25, -0.75)] + [(y - gap, y) for y in (0.5, -0.125)]
            put("geodesic(space=sphere) geodesic(space=spacelike) squared huber(delta=1)", NEAR_ZERO, pairs, exact_difference)
            pairs = [(y + gap, y) for y in (1.25, 3.0)] + [(y - gap, y) for y in (1.5, 20.0)]
            put("geodesic(space=timelike) geodesic(space=null)", NEAR_ZERO, pairs, exact_difference)
        edge = 1 - 1e-12
        put("geodesic(space=timelike)", BOUNDARY, [(2 - edge, 1.5), (1.5, 2 - edge), (2 - edge, 1 + 3e-12)], "1 - z is exact in doubles")
        put("geodesic(space=sphere)", BOUNDARY, [(edge, 0.25), (-edge, 0.25), (edge, -0.5), (1 - 1e-6, 0.9)], "1 - z is exact in doubles")
        put("geodesic(space=sphere)", BOUNDARY, [(edge, 1 - 3e-12), (-edge, 3e-12 - 1)], "1 - z and z - y are exact in doubles")
    return cases


# -------------------------------------------------------------------------------------------------------- permissible


class Permissible:
    """phi as a function of the smaller of p and 1 - p, so that a probability of 1 - 1e-4343 is no trouble. `raised` is phi + a: a
    constant would hide what happens at 1e-4343 from the quotients."""

    def __init__(self, raised, a=0, saturates=False):
        self.raised, self.a, self.saturates = raised, mpf(a), saturates
        assert raised(mpf(0)) == 0
        self.b = -raised(mpf(1) / 2)

    def phi(self, s):
        return self.raised(s) - self.a

    def slope(self, s):
        return quotient(self.raised, s)

    def curvature(self, s):
        return quotient(self.raised, s, 2)

    def floor(self):
        """inf phi'': the least value on a grid, which must be the middle or the limit at the end."""
        tiny = mpf("1e-80")
        grid = [mpf(k) / 200 for k in range(1, 100)] + [mpf(10) ** -k for k in range(3, 30)]
        least = min(self.curvature(tiny), self.curvature(mpf(1) / 2))
        assert all(self.curvature(s) >= least * (1 - mpf("1e-50")) for s in grid)
        return least

    def tail(self, h):
        """The s in [0, 1/2] at which phi' = -h, h >= 0; 0 if there is none: bisection of ln s, then secants."""
        if h == 0:
            return mpf(1) / 2
        f = lambda x: self.slope(mp.exp(x)) + h
        low, high = mpf(-230 if self.saturates else "-3e8"), mp.log(mpf(1) / 2)
        if f(low) > mpf("-1e-90"):
            return mpf(0)
        while high - low > mpf("1e-3"):
            middle = (low + high) / 2
            low, high = (middle, high) if f(middle) < 0 else (low, middle)
        x, y = low, high
        fx, fy = f(x), f(y)
        while fx != fy and abs(x - y) > mpf("1e-50"):
            x, y, fx = y, y - fy * (y - x) / (fy - fx), fy
            fy = f(y)
        return mp.exp(y)

    def transfer(self, h):
        return self.tail(-h) if h <= 0 else 1 - self.tail(h)

    def conjugate(self, h):
        s = self.tail(abs(h))
        return (h * s if h <= 0 else h * (1 - s)) - self.phi(s)

    def surrogate(self, z):
        return (self.conjugate(-z) - self.a) / self.b


def log_cosh(k):
    k = mpf(k)
    return lambda s: (mp.log(mp.cosh(k / 2 * (s - mpf(1) / 2))) - mp.log(mp.cosh(k / 4))) * 2 / k


def permissible_functions():
    functions = {
        "gini": Permissible(lambda s: -s * (1 - s), saturates=True),
        "matsushita": Permissible(lambda s: -mp.sqrt(s * (1 - s))),
        "entropy": Permissible(lambda s: x_ln_x(s) + (1 - s) * mp.log1p(-s)),
    }
    for mu in (0.5, 0.9):
        functions[f"mu(mu={mu})"] = Permissible(lambda s, m=mpf(mu): -(1 - m) * mp.sqrt(s * (1 - s)), a=mu)
    for nu in (0.1, 0.25, 0.5, 0.9):
        functions[f"nu(nu={nu})"] = Permissible(lambda s, v=mpf(nu): -((s * (1 - s)) ** v))
    for zeta in (1, 4, 20):
        functions[f"zeta(zeta=-{zeta})"] = Permissible(log_cosh(zeta), saturates=True)
    return functions


def permissible_cases():
    cases = []
    inner = [1e-3, 0.1, 0.25, 0.45, 0.5, 0.7, 0.99]
    middle = [0.4999, 0.5 + 1e-9]
    outer = [1e-100, 1e-12, 1e-7, 1 - 1e-7, 1 - 1e-12]
    scores = {INTERIOR: [0.0, 0.3, -0.3, 1.0, -1.0, 5.0, -5.0], HUGE: [50.0, -50.0, 1e4, -1e4, 1e8, -1e8]}
    tails = "the tails are computed from the smaller probability; what is below 1e-308 may be 0"
    with mp.workdps(600):
        for name, f in permissible_functions().items():
            what = {"permissible": name}
            constants = [("a", f.a), ("b", f.b), ("curvature_floor", f.floor())]
            for op, value in constants:
                cases.append({**what, "op": op, "tag": INTERIOR, "expected": text([value]), "compare": "coordinatewise",
                              "tolerance": "1e-12", "reason": "a constant"})
            smaller = lambda p: min(p, 1 - p)
            of_probability = {
                "phi": lambda p: f.phi(smaller(p)),
                "impurity": lambda p: -f.raised(smaller(p)),
                "gradient": lambda p: mpf(0) if 2 * p == 1 else f.slope(smaller(p)) * (-1 if 2 * p > 1 else 1),
                "curvature": lambda p: f.curvature(smaller(p)),
            }
            for op, g in of_probability.items():
                for tag, points in ((INTERIOR, inner), (NEAR_ZERO, middle), (BOUNDARY, outer)):
                    cases.append(group(what, op, tag, {"p": points}, g, "p - 1/2 and 1 - p are exact in doubles"))
            of_score = {"transfer": f.transfer, "complement": lambda h: f.transfer(-h), "conjugate": f.conjugate,
                        "surrogate": f.surrogate, "margin": lambda h: f.transfer(-h) - f.transfer(h)}
            for op, g in of_score.items():
                for tag, points in scores.items():
                    cases.append(group(what, op, tag, {"h": points}, g, tails))
    return cases


# --------------------------------------------------------------------------------------------------------------- files

FILES = {
    "manifolds.json": manifold_cases,
    "generators.json": generator_cases,
    "losses.json": loss_cases,
    "permissible.json": permissible_cases,
}


def write(path, cases):
    header = {"script": "make_golden.py", "mpmath": mpmath.__version__, "digits": DIGITS, "printed": PRINTED}
    lines = ",\n".join(json.dumps(c, ensure_ascii=False) for c in cases)
    path.write_text(f'{{"header": {json.dumps(header)},\n"cases": [\n{lines}\n]}}\n')


def check(path, cases):
    """The differences between a file and what it should hold, as text."""
    stored = json.loads(path.read_text())["cases"] if path.exists() else []
    fresh = json.loads(json.dumps(cases))
    if len(stored) != len(fresh):
        yield f"{path.name}: {len(stored)} cases, {len(fresh)} expected"
    for k, (a, b) in enumerate(zip(stored, fresh)):
        if a != b:
            yield f"{path.name}: case {k}: {json.dumps(a)} should be {json.dumps(b)}"


def main():
    if sys.argv[1:] == ["--check"]:
        wrong = [d for name, make in FILES.items() for d in check(HERE / name, make())]
        for line in wrong[:5]:
            print(line)
        print(f"{len(wrong)} differences" if wrong else "the golden values are reproduced")
        return 1 if wrong else 0
    if sys.argv[1:]:
        print(__doc__)
        return 2
    for name, make in FILES.items():
        cases = make()
        write(HERE / name, cases)
        print(f"{name}: {len(cases)} cases, {(HERE / name).stat().st_size / 1000:.0f} kB")
    return 0


if __name__ == "__main__":
    sys.exit(main())
