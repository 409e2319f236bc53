"""The manifolds from their definitions, and their cases."""
import math

from mpmath import mp, mpf

from precision import BOUNDARY, HUGE, INTERIOR, NEAR_ANTIPODE, NEAR_ZERO
from precision import add, case, dot, doubles, exact, norm, quasi, scale


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


class Frames(Geometry):
    """Matrices with orthonormal columns, row after row. A point is replaced by its polar factor; a tangent vector loses
    what no frame has. Walks are matrix exponentials of a skew generator of all n rows."""

    def __init__(self, p):
        self.p = p

    def matrix(self, x):
        return mp.matrix([x[i:i + self.p] for i in range(0, len(x), self.p)])

    @staticmethod
    def entries(m):
        return [m[i, j] for i in range(m.rows) for j in range(m.cols)]

    def point(self, x):
        m = self.matrix(x)
        return self.entries(m * mp.inverse(Spd.function(m.T * m, mp.sqrt)))

    def tangent(self, p, v):
        x, v = self.matrix(p), self.matrix(v)
        s = x.T * v
        return self.entries(v - x * (s + s.T) / 2)

    def basis(self, p):
        """Gram and Schmidt on the projections of the unit vectors."""
        kept = []
        for b in super().basis(p):
            v = self.tangent(p, b)
            for k in kept:
                v = add(v, k, -dot(v, k))
            if norm(v) > mpf("1e-6"):
                kept.append(scale(1 / norm(v), v))
        return kept

    def exp(self, p, v):
        return self.entries(mp.expm(self.generator(p, v)) * self.matrix(p))

    def log(self, p, q):
        """Newton's method on exp(p, v) = q, with difference quotients along a basis; q - p is the first guess."""
        v, basis = self.tangent(p, add(q, p, -1)), self.basis(p)
        for _ in range(60):
            off = self.miss(p, v, q)
            if norm(off) < mpf("1e-70"):
                return v
            h = mpf("1e-40")
            jacobian = mp.matrix(len(off), len(basis))
            for j, b in enumerate(basis):
                column = scale(1 / h, add(self.miss(p, add(v, b, h), q), off, -1))
                for i, c in enumerate(column):
                    jacobian[i, j] = c
            step = mp.lu_solve(jacobian.T * jacobian, -(jacobian.T * mp.matrix(off)))
            for c, b in zip(step, basis):
                v = add(v, b, c)
        raise ValueError("no logarithm")

    def miss(self, p, v, q):
        return add(self.exp(p, v), q, -1)

    def distance(self, p, q):
        v = self.log(p, q)
        return mp.sqrt(self.inner(p, v, v))


class Rotations(Frames):
    def generator(self, p, v):
        return self.matrix(v) * self.matrix(p).T


class Stiefel(Frames):
    """The canonical metric: tr U'(1 - XX'/2)V; its walks are those of V X' - X V' + X V'X X'."""

    def inner(self, p, u, v):
        x, u, v = (self.matrix(a) for a in (p, u, v))
        m = u.T * v - (u.T * x) * (x.T * v) / 2
        return mp.fsum(m[i, i] for i in range(m.rows))

    def generator(self, p, v):
        x, v = self.matrix(p), self.matrix(v)
        return v * x.T - x * v.T - x * (x.T * v) * x.T

    # Naturally reductive, not symmetric: the reflection in a midpoint is no isometry. In the frame that the walk of
    # the generator carries along, what is parallel solves a linear equation with constant coefficients.
    def transport(self, p, q, v):
        x, w = self.matrix(p), self.matrix(v)
        n = x.rows
        projector = mp.eye(n) - x * x.T
        xi = self.generator(p, self.log(p, q))
        eta = self.generator(p, v)
        total, term = eta, eta
        for k in range(1, 200):
            bracket = xi * term - term * xi
            # The part that moves the frame.
            bracket = bracket - projector * bracket * projector
            term = -bracket / (2 * k)
            total = total + term
            if max(abs(a) for a in term) < mpf("1e-80"):
                break
        return self.entries(mp.expm(xi) * total * x)


class Grassmann(Frames):
    """Subspaces: the tangent vectors of frames that have no part in the subspace."""

    def tangent(self, p, v):
        x, v = self.matrix(p), self.matrix(v)
        return self.entries(v - x * (x.T * v))

    def generator(self, p, v):
        x, v = self.matrix(p), self.matrix(v)
        return v * x.T - x * v.T

    def miss(self, p, v, q):
        """The difference of the projectors."""
        a, b = self.matrix(self.exp(p, v)), self.matrix(q)
        return self.entries(a * a.T - b * b.T)

    def transport(self, p, q, v):
        """The walk of the generator carries frames and vectors along; at its end the frame is turned to that of q."""
        walk = mp.expm(self.generator(p, self.log(p, q)))
        turn = (walk * self.matrix(p)).T * self.matrix(q)
        return self.entries(walk * self.matrix(v) * turn)


class LogEuclidean(Carried):
    """The logarithm of matrices is flat; its differential is a difference quotient."""

    model = Euclidean()
    point, tangent, basis = Spd.point, Spd.tangent, Spd.basis
    matrix, entries, function = map(staticmethod, (Spd.matrix, Spd.entries, Spd.function))
    h = mpf("1e-40")

    def to(self, p):
        return self.entries(self.function(self.matrix(p), mp.log))

    def back(self, x):
        return self.entries(self.function(self.matrix(x), mp.exp))

    def push(self, p, v):
        return scale(1 / (2 * self.h), add(self.to(add(p, v, self.h)), self.to(add(p, v, -self.h)), -1))

    def pull(self, x, v):
        return scale(1 / (2 * self.h), add(self.back(add(x, v, self.h)), self.back(add(x, v, -self.h)), -1))


class BuresWasserstein(Geometry):
    """Covariances of normal distributions: roots of matrices, and a linear equation for tangent vectors."""

    point, tangent, basis = Spd.point, Spd.tangent, Spd.basis
    matrix, entries, function = map(staticmethod, (Spd.matrix, Spd.entries, Spd.function))

    def solve(self, p, v):
        """S with XS + SX = V, by its linear system."""
        x, n = self.matrix(p), math.isqrt(len(p))
        system = mp.matrix(n * n, n * n)
        for i in range(n):
            for j in range(n):
                for k in range(n):
                    system[i + j * n, k + j * n] += x[i, k]
                    system[i + j * n, i + k * n] += x[k, j]
        return self.matrix(list(mp.lu_solve(system, mp.matrix(v))))

    def inner(self, p, u, v):
        m = self.solve(p, u) * self.matrix(v)
        return mp.fsum(m[i, i] for i in range(m.rows)) / 2

    def exp(self, p, v):
        step = mp.eye(math.isqrt(len(p))) + self.solve(p, v)
        return self.entries(step * self.matrix(p) * step)

    def log(self, p, q):
        x, y = self.matrix(p), self.matrix(q)
        root = self.function(x, mp.sqrt)
        inverse = mp.inverse(root)
        mixed = root * self.function(root * y * root, mp.sqrt) * inverse
        return self.entries(mixed + mixed.T - 2 * x)

    def distance(self, p, q):
        x, y = self.matrix(p), self.matrix(q)
        root = self.function(x, mp.sqrt)
        mixed = self.function(root * y * root, mp.sqrt)
        return mp.sqrt(mp.fsum(x[i, i] + y[i, i] - 2 * mixed[i, i] for i in range(x.rows)))


class Times(Carried):
    """A model times a length."""

    def __init__(self, model, radius):
        self.model, self.r = model, mpf(radius)

    def point(self, p):
        return self.back(self.model.point(self.to(p)))

    def tangent(self, p, v):
        return self.model.tangent(self.to(p), v)

    def basis(self, p):
        return self.model.basis(self.to(p))

    def to(self, p):
        return scale(1 / self.r, p)

    def back(self, x):
        return scale(self.r, x)

    def push(self, p, v):
        return scale(1 / self.r, v)

    def pull(self, x, v):
        return scale(self.r, v)

    def inner(self, p, u, v):
        return self.r**2 * super().inner(p, u, v)

    def distance(self, p, q):
        return self.r * super().distance(p, q)


class Product(Geometry):
    """The factors, each with its number of coordinates, one after the other."""

    def __init__(self, *factors):
        self.factors = factors

    def parts(self, *vectors):
        start = 0
        for geometry, n in self.factors:
            yield (geometry, *(v[start:start + n] for v in vectors))
            start += n

    def each(self, name, *vectors):
        return [x for g, *parts in self.parts(*vectors) for x in getattr(g, name)(*parts)]

    def point(self, p):
        return self.each("point", p)

    def tangent(self, p, v):
        return self.each("tangent", p, v)

    def inner(self, p, u, v):
        return mp.fsum(g.inner(*parts) for g, *parts in self.parts(p, u, v))

    def basis(self, p):
        vectors, start = [], 0
        for g, part in self.parts(p):
            for b in g.basis(part):
                vectors.append([mpf(0)] * start + list(b) + [mpf(0)] * (len(p) - start - len(part)))
            start += len(part)
        return vectors

    def exp(self, p, v):
        return self.each("exp", p, v)

    def log(self, p, q):
        return self.each("log", p, q)

    def distance(self, p, q):
        return mp.sqrt(mp.fsum(g.distance(*parts) ** 2 for g, *parts in self.parts(p, q)))


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
            put(name, 3, g, NEAR_ANTIPODE, "exp", p=p, v=v)
            w = double_tangent(g, p, [0.4, 0.1, -0.7])
            for u in (v, w):
                put(name, 3, g, NEAR_ANTIPODE, "log transport" if u is v else "transport", tolerance=1e-12, p=p, q=q, v=u,
                    reason="p + q is exact in doubles, and the constraint, off by 1e-16, enters as (1e-16/gap)^2")

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
    for n, (a, b) in square.items():
        size = n * (n + 1) // 2
        for name, g, which in (("spd-log-euclidean", LogEuclidean(), every),
                               ("spd-bures-wasserstein", BuresWasserstein(), every.replace(" transport", ""))):
            put(name, n, g, INTERIOR, which, p=positive(a), q=positive(b), u=symmetric(quasi(3, size), n),
                v=symmetric([0.25 * c for c in quasi(4, size)], n), covector=quasi(5, n * n), t=1.0)
    # Frames, subspaces and rotations: near the first columns of the identity, so that logarithms are unique.
    for name, n, p, g in (("stiefel(columns=2)", 4, 2, Stiefel(2)), ("stiefel(columns=2)", 3, 2, Stiefel(2)),
                          ("grassmann(columns=2)", 4, 2, Grassmann(2)), ("grassmann(columns=1)", 3, 1, Grassmann(1)),
                          ("rotations", 3, 3, Rotations(3)), ("rotations", 4, 4, Rotations(4))):
        def frame(x):
            return double_point(g, [0.4 * c + (k // p == k % p) for k, c in enumerate(x)])

        size = n * p
        at, to = frame(quasi(0, size)), frame(quasi(1, size))
        u, v = (double_tangent(g, at, [0.4 * c for c in quasi(k, size)]) for k in (2, 3))
        put(name, n, g, INTERIOR, every, p=at, q=to, u=u, v=v, covector=quasi(4, size), t=1.0)
    for name, n, g, make in (
        ("hyperbolic(curvature=-0.25)", 3, Times(Hyperboloid(), 2), lambda g, x: double_point(g, [0.0] + [2 * c for c in x[1:]])),
        ("poincare-ball(curvature=-0.25)", 2, Times(Ball(), 2), lambda g, x: [round(0.9 * c, 4) for c in x]),
    ):
        at, to = make(g, quasi(0, n)), make(g, quasi(1, n))
        u, v = (double_tangent(g, at, [0.5 * c for c in quasi(k, n)]) for k in (2, 3))
        put(name, n, g, INTERIOR, every, p=at, q=to, u=u, v=v, covector=quasi(4, n), t=1.0)
    # Products of spheres and of others.
    for name, n, g in (
        ("oblique(rows=3)", 2, Product((Sphere(), 3), (Sphere(), 3))),
        ("oblique(rows=2, columns=3)", 3, Product((Sphere(), 2), (Sphere(), 2), (Sphere(), 2))),
        ("torus", 3, Product((Sphere(), 2), (Sphere(), 2), (Sphere(), 2))),
        ("product(sphere(n=3, radius=2), euclidean(n=2))", 0, Product((Sphere(2), 3), (Euclidean(), 2))),
    ):
        size = sum(factor[1] for factor in g.factors)
        for k in range(4):
            p, q = (double_point(g, [c + 0.1 for c in quasi(5 * k + j, size)]) for j in (0, 1))
            u, v = (double_tangent(g, p, quasi(5 * k + j, size)) for j in (2, 3))
            put(name, n, g, INTERIOR, every, p=p, q=q, u=u, v=v, covector=quasi(5 * k + 4, size), t=0.75)
    return cases
