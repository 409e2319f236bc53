"""Five problems with the same costs, gradients and starts, by geowalk and by pymanopt; and 10,000 random starts.

    OMP_NUM_THREADS=1 python run.py [REPEATS]      writes results.json beside this file and prints a table

Both use conjugate gradients with a line search until the gradient is no longer than 1e-6. CPU times are of one process,
runs interleaved; the ratio is that of the medians.
"""
import json
import pathlib
import statistics
import sys
import time
import warnings

import numpy as np
import pymanopt
from pymanopt.manifolds import Grassmann, Oblique, PoincareBall, Product, SymmetricPositiveDefinite, Euclidean
from pymanopt.optimizers import ConjugateGradient

import geowalk.geometry as g
from geowalk.optimize import check_gradient, minimize

warnings.filterwarnings("ignore")
STEPS, TOLERANCE = 2000, 1e-6


def pca(rng):
    n, k = 100, 5
    x = rng.standard_normal((400, n)) * np.linspace(2.0, 0.2, n)
    a = x.T @ x / 400

    def both(p):
        ap = a @ p
        return -np.sum(p * ap), -2.0 * ap

    m = g.Grassmann(n, k)
    start = m.random_point(seed=1)
    return m, both, start, Grassmann(n, k), lambda p: p, lambda p: p


def spd_mean(rng):
    n, count = 8, 12
    m = g.Spd(n)
    points = m.random_point(seed=2, size=count)

    def both(p):
        values, vectors = np.linalg.eigh((p + p.T) / 2)
        root, inverse = (vectors * np.sqrt(values)) @ vectors.T, (vectors / np.sqrt(values)) @ vectors.T
        lam, u = np.linalg.eigh(inverse @ points @ inverse)
        logs = (u * np.log(lam)[:, None, :]) @ u.transpose(0, 2, 1)
        # The gradient in coordinates that make p the identity is minus the sum of the logarithms.
        return 0.5 * np.sum(np.log(lam) ** 2) / count, -inverse @ logs.sum(axis=0) @ inverse / count

    return m, both, np.eye(n), SymmetricPositiveDefinite(n), lambda p: p, lambda p: p


def tree(rng):
    nodes = 15
    d = np.zeros((nodes, nodes))
    for i in range(nodes):
        for j in range(nodes):
            a, b, steps = i, j, 0
            while a != b:
                a, b, steps = ((a - 1) // 2, b, steps + 1) if a > b else (a, (b - 1) // 2, steps + 1)
            d[i, j] = steps
    upper = np.triu_indices(nodes, 1)

    def both(p):
        q = p.reshape(nodes, 2)
        gap = 1.0 - np.sum(q * q, axis=1)
        diff = q[:, None, :] - q[None, :, :]
        s = np.sum(diff * diff, axis=2)
        w = 2.0 * s / (gap[:, None] * gap[None, :])
        dist = np.arccosh(1.0 + w)
        off = np.where(np.eye(nodes) > 0, 0.0, dist - d)
        rise = np.where(np.eye(nodes) > 0, 0.0, 2.0 * off / np.sqrt(w * (w + 2.0) + 1e-300))
        dw = 4.0 * diff / (gap[:, None] * gap[None, :])[:, :, None] + (4.0 * s / (gap[:, None] ** 2 * gap[None, :]))[:, :, None] * q[:, None, :]
        return float(np.sum(off[upper] ** 2)), np.sum(rise[:, :, None] * dw, axis=1).ravel()

    m = g.Product([g.PoincareBall(2)] * nodes)
    start = 0.3 * rng.uniform(-1.0, 1.0, (nodes, 2)).ravel()
    return m, both, start, PoincareBall(2, k=nodes), lambda p: p.reshape(nodes, 2), lambda p: np.asarray(p).ravel()


def dictionary(rng):
    rows, atoms, count = 8, 5, 40
    truth = rng.standard_normal((rows, atoms))
    truth /= np.linalg.norm(truth, axis=0)
    y = truth @ (rng.standard_normal((atoms, count)) * (rng.uniform(size=(atoms, count)) < 0.4))
    size = rows * atoms

    def both(p):
        # Columns of the dictionary one after the other, then the codes.
        d, s = p[:size].reshape(atoms, rows).T, p[size:].reshape(atoms, count)
        r, soft = d @ s - y, np.sqrt(s * s + 0.01)
        value = 0.5 * np.sum(r * r) + 0.1 * np.sum(soft)
        return value, np.concatenate([(r @ s.T).T.ravel(), (d.T @ r + 0.1 * s / soft).ravel()])

    m = g.Product([g.Oblique(rows, atoms), g.Euclidean(atoms * count)])
    start = np.concatenate([g.Oblique(rows, atoms).random_point(seed=3), 0.1 * rng.standard_normal(atoms * count)])

    def there(p):
        return [p[:size].reshape(atoms, rows).T.copy(), p[size:].reshape(atoms, count).copy()]

    def back(p):
        return np.concatenate([np.asarray(p[0]).T.ravel(), np.asarray(p[1]).ravel()])

    return m, both, start, Product([Oblique(rows, atoms), Euclidean(atoms, count)]), there, back


def completion(rng):
    n, columns, k = 40, 60, 3
    y = rng.standard_normal((n, k)) @ rng.standard_normal((k, columns)) + 0.01 * rng.standard_normal((n, columns))
    mask = (rng.uniform(size=y.shape) < 0.5).astype(float)

    def both(u):
        gram = np.einsum("ij,ia,ib->jab", mask, u, u) + 1e-9 * np.eye(k)
        w = np.linalg.solve(gram, (u.T @ (mask * y)).T[:, :, None])[:, :, 0].T
        r = mask * (u @ w - y)
        return 0.5 * np.sum(r * r) + 5e-10 * np.sum(w * w), r @ w.T

    m = g.Grassmann(n, k)
    return m, both, m.random_point(seed=4), Grassmann(n, k), lambda p: p, lambda p: p


def theirs(m, both, start, there, back):
    calls = [0]
    cached = [None, None]

    def evaluate(p):
        key = back(p)
        if cached[0] is None or not np.array_equal(cached[0], key):
            calls[0] += 1
            cached[0], cached[1] = np.array(key), both(key)
        return cached[1]

    packed = isinstance(there(start), list)

    @pymanopt.function.numpy(m)
    def cost(*p):
        return evaluate(list(p) if packed else p[0])[0]

    @pymanopt.function.numpy(m)
    def gradient(*p):
        found = there(evaluate(list(p) if packed else p[0])[1])
        return found

    problem = pymanopt.Problem(m, cost, euclidean_gradient=gradient)
    optimizer = ConjugateGradient(max_iterations=STEPS, min_gradient_norm=TOLERANCE, min_step_size=1e-14, max_time=120, verbosity=0)
    before = time.process_time()
    found = optimizer.run(problem, initial_point=there(start))
    spent = time.process_time() - before
    return both(back(found.point))[0], spent, found.iterations, calls[0]


def ours(m, both, start):
    before = time.process_time()
    found = minimize(m, both, start=start, update="conjugate-gradient", steps=STEPS, tolerance=TOLERANCE)
    return found.value, time.process_time() - before, found.steps, found.evaluations, found.gradient_norm, found.reason


def random_starts(count):
    """No number that is not finite, from any start."""
    bad = runs = 0
    for text, n in (("sphere", 5), ("stiefel(columns=2)", 5), ("grassmann(columns=2)", 5), ("spd", 3), ("hyperbolic", 4),
                    ("poincare-ball", 3), ("rotations", 3), ("spd-bures-wasserstein", 2), ("oblique(rows=3)", 2), ("orthant", 4)):
        m = g.get(text, n)
        weights = np.linspace(0.5, 2.0, m.origin().size).reshape(m.origin().shape)
        for seed in range(count // 10):
            update = ("conjugate-gradient", "explicit", "momentum", "adam")[seed % 4]
            found = minimize(m, lambda p: (np.sum(weights * (p - 0.3) ** 2), 2.0 * weights * (p - 0.3)),
                             start=m.random_point(seed=seed), update=update, steps=20)
            runs += 1
            bad += not (np.isfinite(found.point).all() and np.isfinite(found.history).all() and np.isfinite(found.value))
    return runs, bad


def main():
    repeats = int(sys.argv[1]) if len(sys.argv) > 1 else 5
    results = {"pymanopt": pymanopt.__version__, "numpy": np.__version__, "problems": {}}
    print(f"{'problem':<12}{'geowalk':>16}{'pymanopt':>16}{'relative':>11}{'CPU ratio':>11}  steps, evaluations")
    for make in (pca, spd_mean, tree, dictionary, completion):
        m, both, start, peer, there, back = make(np.random.default_rng(7))
        assert check_gradient(m, both, p=start), make.__name__
        a, b = [], []
        for _ in range(repeats):
            a.append(ours(m, both, start))
            b.append(theirs(peer, both, start, there, back))
        fast, slow = (statistics.median(run[1] for run in runs) for runs in (a, b))
        apart = (a[0][0] - b[0][0]) / max(abs(b[0][0]), 1e-300)
        results["problems"][make.__name__] = {
            "geowalk": {"value": a[0][0], "seconds": fast, "steps": a[0][2], "evaluations": a[0][3], "gradient": a[0][4], "reason": a[0][5]},
            "pymanopt": {"value": b[0][0], "seconds": slow, "steps": b[0][2], "evaluations": b[0][3]},
            "relative difference": apart, "CPU time, pymanopt / geowalk": slow / fast,
        }
        print(f"{make.__name__:<12}{a[0][0]:>16.10g}{b[0][0]:>16.10g}{apart:>11.1e}{slow / fast:>11.2f}  {a[0][2]}, {a[0][3]} / {b[0][2]}, {b[0][3]}")
    runs, bad = random_starts(10_000)
    results["random starts"] = {"runs": runs, "not finite": bad}
    print(f"random starts: {runs} runs, {bad} with a number that is not finite")
    path = pathlib.Path(__file__).with_name("results.json")
    path.write_text(json.dumps(results, indent=1) + "\n")


if __name__ == "__main__":
    main()
