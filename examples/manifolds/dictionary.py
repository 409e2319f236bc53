"""Dictionary learning: signals as sparse combinations of atoms of norm 1, a product of an oblique manifold and a space.

Draws the atoms that were hidden beside those that were found.
"""

import numpy as np

SIZE, ATOMS, SIGNALS, SPARSITY, SMOOTH = 8, 10, 100, 0.1, 0.05


def hidden(seed):
    rng = np.random.default_rng(seed)
    d = rng.standard_normal((SIZE, ATOMS))
    d /= np.linalg.norm(d, axis=0)
    c = rng.standard_normal((ATOMS, SIGNALS)) * (rng.random((ATOMS, SIGNALS)) < 0.2)
    return d, d @ c


def split(p):
    """Atoms, a column each, and coefficients. Points have columns one after the other."""
    cut = SIZE * ATOMS
    return p[:cut].reshape(ATOMS, SIZE).T, p[cut:].reshape(ATOMS, SIGNALS)


def problem(seed=0):
    """Manifold, half the squared error and a smooth penalty on the coefficients, gradient, a random start."""
    _, x = hidden(seed)
    rng = np.random.default_rng(seed + 1)

    def cost(p):
        d, c = split(p)
        rest = d @ c - x
        return 0.5 * np.sum(rest * rest) + SPARSITY * np.sum(np.sqrt(c * c + SMOOTH**2))

    def gradient(p):
        d, c = split(p)
        rest = d @ c - x
        slope = d.T @ rest + SPARSITY * c / np.sqrt(c * c + SMOOTH**2)
        return np.concatenate([(rest @ c.T).T.ravel(), slope.ravel()])

    atoms = rng.standard_normal((ATOMS, SIZE))
    atoms /= np.linalg.norm(atoms, axis=1, keepdims=True)
    start = np.concatenate([atoms.ravel(), 0.1 * rng.standard_normal(ATOMS * SIGNALS)])
    spec = f"product(oblique(rows={SIZE}, columns={ATOMS}), euclidean(n={ATOMS * SIGNALS}))"
    return spec, cost, gradient, start


def main():
    import matplotlib.pyplot as plt

    from geowalk.geometry import get
    from geowalk.optimize import minimize

    spec, cost, gradient, start = problem()
    found = minimize(get(spec, 0), cost, gradient, start, steps=3000, tolerance=1e-5)
    true, _ = hidden(0)
    atoms, _ = split(found.point)
    overlap = np.abs(true.T @ atoms)
    print(f"cost {found.value:.6f} after {found.steps} steps; overlaps of the hidden atoms {np.sort(overlap.max(axis=1)).round(3)}")
    order = overlap.argmax(axis=1)
    figure, axes = plt.subplots(2, 1, sharex=True)
    for ax, what, name in [(axes[0], true, "hidden"), (axes[1], atoms[:, order] * np.sign(np.sum(true * atoms[:, order], axis=0)), "found")]:
        ax.imshow(what, cmap="RdBu", vmin=-1.0, vmax=1.0), ax.set_title(f"atoms, {name}")
    figure.savefig("dictionary.svg")


if __name__ == "__main__":
    main()
