"""The principal subspace of a cloud of points: a minimum on the Grassmann manifold.

Prints the cost beside that of a singular value decomposition, and draws both.
"""

import numpy as np


def problem(seed=0, n=50, k=5):
    """Manifold, cost, gradient, a random start."""
    rng = np.random.default_rng(seed)
    x = rng.standard_normal((400, n)) * np.linspace(3.0, 0.5, n)
    x = x @ np.linalg.qr(rng.standard_normal((n, n)))[0]
    a = x.T @ x / len(x)
    start = np.linalg.qr(rng.standard_normal((n, k)))[0]
    # The part of the variance that the subspace misses.
    return f"grassmann(n={n}, columns={k})", lambda p: np.trace(a) - np.sum(p * (a @ p)), lambda p: -2.0 * (a @ p), start


def main():
    from geowalk.geometry import get
    from geowalk.optimize import minimize

    spec, cost, gradient, start = problem()
    found = minimize(get(spec, 0), cost, gradient, start)
    # The cost is that of the trace less the largest eigenvalues.
    a = -0.5 * gradient(np.eye(50))
    values = np.linalg.eigvalsh(a)
    print(f"missed variance {found.value:.9f} after {found.steps} steps, by eigenvalues {values[:-5].sum():.9f}")
    assert abs(found.value / values[:-5].sum() - 1.0) < 1e-8

    import matplotlib.pyplot as plt

    plt.semilogy(found.history[:, 0] - values[:-5].sum() + 1e-16)
    plt.xlabel("step"), plt.ylabel("cost above the minimum"), plt.title("Principal subspace")
    plt.savefig("pca.svg")


if __name__ == "__main__":
    main()
