"""A binary tree in the hyperbolic plane: distances of points are those of the tree, nine times nearer than in a flat plane.

Draws the embedding in Poincaré's disc.
"""

import numpy as np


def edges(depth):
    return [((k - 1) // 2, k) for k in range(1, 2 ** (depth + 1) - 1)]


def distances(depth):
    """Numbers of edges between the nodes."""
    n = 2 ** (depth + 1) - 1
    d = np.full((n, n), np.inf)
    np.fill_diagonal(d, 0.0)
    for a, b in edges(depth):
        d[a, b] = d[b, a] = 1.0
    for k in range(n):
        d = np.minimum(d, d[:, k : k + 1] + d[k])
    return d


def fan(depth, n):
    """A sector of the disc for every branch."""
    x = np.zeros((n, 2))

    def place(node, least, most, level):
        middle = (least + most) / 2.0
        x[node] = np.tanh(0.5 * level) * np.array([np.cos(middle), np.sin(middle)])
        if level < depth:
            place(2 * node + 1, least, middle, level + 1)
            place(2 * node + 2, middle, most, level + 1)

    place(0, 0.0, 2.0 * np.pi, 0)
    return x


def problem(seed=0, depth=3):
    """Manifold, mean squared error of the distances, its gradient, and a fan, somewhat shaken."""
    wanted = distances(depth)
    n = len(wanted)
    i, j = np.triu_indices(n, 1)
    rng = np.random.default_rng(seed)

    def parts(p):
        x = p.reshape(n, 2)
        room = 1.0 - np.sum(x * x, axis=1)
        apart = x[i] - x[j]
        r = np.maximum(np.sqrt(np.sum(apart * apart, axis=1)), 1e-300)
        s = r / np.sqrt(room[i] * room[j])
        return x, room, apart, r, s, 2.0 * np.arcsinh(s) - wanted[i, j]

    def cost(p):
        return np.mean(parts(p)[-1] ** 2)

    def gradient(p):
        x, room, apart, r, s, error = parts(p)
        slope = 4.0 * error / np.sqrt(1.0 + s * s) / len(i)
        straight = (slope * s / r**2)[:, None] * apart
        g = np.zeros_like(x)
        np.add.at(g, i, straight + (slope * s / room[i])[:, None] * x[i])
        np.add.at(g, j, -straight + (slope * s / room[j])[:, None] * x[j])
        return g.reshape(p.shape)

    start = 0.9 * fan(depth, n).ravel() + 0.005 * rng.standard_normal(2 * n)
    return "product(" + ", ".join(["poincare-ball(n=2)"] * n) + ")", cost, gradient, start


def in_a_flat_plane(seed, depth=3):
    """The least error that straight distances have, from random points."""
    from geowalk.geometry import Euclidean
    from geowalk.optimize import minimize

    wanted = distances(depth)
    i, j = np.triu_indices(len(wanted), 1)

    def cost(p):
        x = p.reshape(-1, 2)
        apart = x[i] - x[j]
        r = np.sqrt(np.sum(apart * apart, axis=1))
        slope = (2.0 * (r - wanted[i, j]) / r / len(i))[:, None] * apart
        g = np.zeros_like(x)
        np.add.at(g, i, slope)
        np.add.at(g, j, -slope)
        return np.mean((r - wanted[i, j]) ** 2), g.ravel()

    start = np.random.default_rng(seed).standard_normal(2 * len(wanted))
    return minimize(Euclidean(len(start)), cost, start=start).value


def main():
    import matplotlib.pyplot as plt

    from geowalk.geometry import get
    from geowalk.optimize import minimize

    spec, cost, gradient, start = problem()
    found = minimize(get(spec, 0), cost, gradient, start, steps=3000)
    flat = min(in_a_flat_plane(seed) for seed in range(10))
    print(f"mean squared error of the distances {found.value:.6f}, in a flat plane {flat:.6f}")
    assert 5.0 * found.value < flat
    x = found.point.reshape(-1, 2)
    plt.gca().add_patch(plt.Circle((0.0, 0.0), 1.0, fill=False))
    for a, b in edges(3):
        plt.plot(*x[[a, b]].T, "C0-o", markersize=3)
    plt.axis("equal"), plt.title("A binary tree in Poincaré's disc")
    plt.savefig("tree.svg")


if __name__ == "__main__":
    main()
