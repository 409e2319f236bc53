"""A matrix of low rank from a part of its entries: a walk of its column space on the Grassmann manifold.

For a given column space U the best coefficients are a ridge regression per column, so the cost is a function of U alone.
Draws the singular values of the matrix and of what was found.
"""

import numpy as np


def data(seed, rows, columns, rank, known):
    rng = np.random.default_rng(seed)
    x = rng.standard_normal((rows, rank)) @ rng.standard_normal((rank, columns))
    return x, (rng.random((rows, columns)) < known).astype(float)


def problem(seed=0, rows=40, columns=60, rank=3, known=0.4, ridge=1e-3):
    """Manifold, cost, gradient, a random start."""
    x, mask = data(seed, rows, columns, rank, known)
    start = np.linalg.qr(np.random.default_rng(seed + 1).standard_normal((rows, rank)))[0]

    def fit(u):
        normal = np.einsum("ia,ij,ib->jab", u, mask, u) + ridge * np.eye(rank)
        w = np.linalg.solve(normal, (u.T @ (mask * x)).T[:, :, None])[:, :, 0]
        return w, mask * (u @ w.T - x)

    def cost(u):
        w, rest = fit(u)
        return 0.5 * (np.sum(rest * rest) + ridge * np.sum(w * w))

    def gradient(u):
        w, rest = fit(u)
        return rest @ w

    return f"grassmann(n={rows}, columns={rank})", cost, gradient, start


def main():
    import matplotlib.pyplot as plt

    from geowalk.geometry import get
    from geowalk.optimize import minimize

    spec, cost, gradient, start = problem()
    found = minimize(get(spec, 0), cost, gradient, start)
    x, mask = data(0, 40, 60, 3, 0.4)
    u = found.point
    w = np.array([np.linalg.lstsq(u[m > 0.0], column[m > 0.0], rcond=None)[0] for column, m in zip(x.T, mask.T)])
    unknown = np.sqrt(np.mean((u @ w.T - x)[mask == 0.0] ** 2))
    print(f"cost {found.value:.6f} after {found.steps} steps; error of the entries that were not given {unknown:.2e}")
    assert unknown < 0.01
    for matrix, name in [(x, "the matrix"), (u @ w.T, "found from 40 % of it"), (mask * x, "the entries that were given")]:
        plt.semilogy(np.linalg.svd(matrix)[1][:10] + 1e-12, "o-", label=name)
    plt.ylim(1e-3), plt.ylabel("singular value"), plt.legend()
    plt.savefig("completion.svg")


if __name__ == "__main__":
    main()
