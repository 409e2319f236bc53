#!/usr/bin/env python3
# requires: mpmath==1.4.1
"""Golden values: every geometry, generator, loss and divergence of a certificate against multiple-precision arithmetic.

    python make_golden.py            writes manifolds.json generators.json losses.json permissible.json divergences.json
    python make_golden.py --check    recomputes them; exit 1 and the first differences if a file is not what it should be

Nothing here shares a formula with the crate where that can be avoided. Values follow from definitions:

* sphere and hyperboloid: exp is a matrix exponential of a rotation or boost generator, distance is acos or acosh;
* simplex, orthant and ball are carried by their isometries to a sphere, a flat space and the hyperboloid;
* parallel transport is read off the geodesic symmetry about the midpoint, P v = -log_q s(exp_p v), s = reflection in it;
* a gradient solves the Gram system <grad, b>_p = df(b) on a basis b of the tangent space;
* links, slopes and curvatures are difference quotients with a relative step of 1e-60 or smaller, never a formula for the derivative;
* a conjugate is the supremum, at the root of the gradient: found by bisection and secants, or by an inverse that is put back through
  the quotient.

Inputs are doubles, written so that they read back exactly. A point that satisfies its constraint only up to rounding
is first moved onto its manifold, in the way that is well conditioned there (see the classes in manifolds.py).

Tolerances. `interior`: 1e-12, and the script asserts that eight times the sensitivity of the answer to half-ulp changes of
the inputs is below that. Edges: 1e-12 or eight times that sensitivity, whichever is larger, unless the case states its own
tolerance and why (a careful formula has to do better than the sensitivity when a difference of inputs is exact).
"""
import json
import pathlib
import sys

import mpmath
from mpmath import mp, mpf

from divergences import divergence_cases
from manifolds import Spd, manifold_cases
from precision import BOUNDARY, DIGITS, HUGE, INTERIOR, NEAR_ZERO, PRINTED
from precision import add, case, dot, error, exact, group, quotient, scale, text

HERE = pathlib.Path(__file__).resolve().parent

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
    "winnow-hinge(theta=0.5)": lambda z, y: max(mpf(0), -y * (z - mpf("0.5"))),
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
        put("winnow-hinge(theta=0.5)", INTERIOR, [(m, s) for m in margins for s in (1.0, -1.0)])
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
    "divergences.json": divergence_cases,
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
