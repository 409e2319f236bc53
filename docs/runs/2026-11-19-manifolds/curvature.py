"""The least and the largest sectional curvature of rotations, Stiefel and Grassmann manifolds, by maximising the formula.

All three are normal homogeneous: K(X, Y) = |[X, Y]_m|^2/4 + |[X, Y]_h|^2 over the squared area, with h the Lie algebra
of the rotations that leave the point where it is, and m its complement. The metrics are those of geowalk.
"""

import numpy as np
from scipy.optimize import minimize

rng = np.random.default_rng(0)


def extremes(n, tangent, fixed, weight, tries=30):
    """`tangent`: the entries above the diagonal of m; `fixed`: a mask of h; `weight`: <X, Y> = weight * tr(X'Y)."""
    rows, columns = np.array(tangent).T

    def inner(a, b):
        return weight * np.sum(a * b)

    def skew(z):
        a = np.zeros((n, n))
        a[rows, columns] = z
        return a - a.T

    def curvature(z):
        x, y = map(skew, np.split(z, 2))
        bracket = x @ y - y @ x
        still, moved = bracket * fixed, bracket * ~fixed
        return (inner(moved, moved) / 4 + inner(still, still)) / (inner(x, x) * inner(y, y) - inner(x, y) ** 2)

    def best(sign):
        runs = [minimize(lambda z: sign * curvature(z), rng.standard_normal(2 * len(tangent)), method="L-BFGS-B") for _ in range(tries)]
        return sign * min(run.fun for run in runs)

    return best(1), best(-1)


def show(name, found):
    print(f"{name:<16} K in [{found[0]:.6f}, {found[1]:.6f}]")


for n in (3, 4, 5):
    above = [(i, j) for i in range(n) for j in range(i + 1, n)]
    show(f"rotations {n}", extremes(n, above, np.zeros((n, n), bool), 1.0))
for n, p in ((3, 2), (4, 2), (5, 2), (4, 3), (5, 3), (6, 3), (6, 4)):
    fixed = np.zeros((n, n), bool)
    fixed[p:, p:] = True
    show(f"stiefel {n}, {p}", extremes(n, [(i, j) for i in range(p) for j in range(i + 1, n)], fixed, 0.5))
for n, p in ((4, 1), (4, 2), (5, 2), (6, 3)):
    fixed = np.zeros((n, n), bool)
    fixed[:p, :p] = fixed[p:, p:] = True
    show(f"grassmann {n}, {p}", extremes(n, [(i, j) for i in range(p) for j in range(p, n)], fixed, 0.5))
