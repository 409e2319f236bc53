"""The Fréchet mean of covariance matrices, and how it differs from their average.

Draws 2×2 matrices as ellipses: the average is fatter than any of them, the Fréchet mean is not.
"""

import numpy as np


def roots(p, power):
    """p**power of a symmetric positive definite matrix."""
    values, vectors = np.linalg.eigh(p)
    return (vectors * values**power) @ vectors.T


def matrices(seed, n, count, spread=1.0):
    rng = np.random.default_rng(seed)
    s = rng.standard_normal((count, n, n)) * spread
    values, vectors = np.linalg.eigh((s + s.transpose(0, 2, 1)) / 2.0)
    return (vectors * np.exp(values)[:, None]) @ vectors.transpose(0, 2, 1)


def problem(seed=0, n=6, count=20):
    """Manifold, half the mean of the squared distances, its gradient, the first matrix as a start."""
    x = matrices(seed, n, count)

    def whitened(p):
        w = roots(p, -0.5)
        values, vectors = np.linalg.eigh(w @ x @ w)
        return w, np.log(values), vectors

    def cost(p):
        return 0.5 * np.sum(whitened(p)[1] ** 2) / count

    def gradient(p):
        w, logs, vectors = whitened(p)
        return -w @ np.sum((vectors * logs[:, None]) @ vectors.transpose(0, 2, 1), axis=0) @ w / count

    return f"spd(n={n})", cost, gradient, x[0]


def main():
    import matplotlib.pyplot as plt

    from geowalk.geometry import Spd, get
    from geowalk.optimize import minimize

    spec, cost, gradient, start = problem()
    manifold = get(spec, 0)
    found = minimize(manifold, cost, gradient, start)
    closed = manifold.mean(matrices(0, 6, 20))
    print(f"half the mean squared distance {found.value:.9f}, of Spd.mean {cost(closed):.9f}")
    assert abs(found.value / cost(closed) - 1.0) < 1e-9

    thin = np.array([[4.0, 0.0], [0.0, 0.05]])
    turns = [np.array([[np.cos(t), -np.sin(t)], [np.sin(t), np.cos(t)]]) for t in (-0.7, 0.0, 0.7)]
    few = np.array([t @ thin @ t.T for t in turns])
    circle = np.linspace(0.0, 2.0 * np.pi, 200)
    circle = np.array([np.cos(circle), np.sin(circle)])
    for p, style in [*((p, "C7-") for p in few), (few.mean(axis=0), "C1--"), (Spd(2).mean(few), "C0-")]:
        plt.plot(*(roots(p, 0.5) @ circle), style)
    plt.axis("equal"), plt.title("grey: matrices, dashed: average, blue: Fréchet mean")
    plt.savefig("spd_mean.svg")


if __name__ == "__main__":
    main()
