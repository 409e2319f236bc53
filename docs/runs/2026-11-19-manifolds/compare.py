"""geowalk beside pymanopt and geoopt: the five problems of examples/manifolds, the same start, the same gradients.

    python compare.py [geowalk pymanopt geoopt nan ...]     prints and appends lines of raw.csv

All use conjugate gradients with a line search (pymanopt steepest descent for the tree: its ball has no transport; geoopt's
search gets numbers in place of torch's scalars, which present versions of scipy refuse). CPU time is that of the process with one thread; the least of
three runs. `above` is how far the cost ends above the least that any of them found, relative to it.
"""

import importlib
import os
import pathlib
import sys
import time
import warnings

for name in ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS"):
    os.environ[name] = "1"
warnings.filterwarnings("ignore")

import numpy as np

HERE = pathlib.Path(__file__).resolve().parent
sys.path.insert(0, str(HERE.parents[2] / "examples/manifolds"))
PROBLEMS = ["pca", "spd_mean", "tree", "dictionary", "completion"]
STEPS, TOLERANCE = 5000, 1e-6


def counted(f):
    def g(p):
        g.calls += 1
        return f(p)

    g.calls = 0
    return g


def geowalk(name, spec, cost, gradient, start):
    from geowalk.geometry import get
    from geowalk.optimize import minimize

    found = minimize(get(spec, 0), cost, gradient, start, steps=STEPS, tolerance=TOLERANCE)
    return found.value, found.steps


def pymanopt(name, spec, cost, gradient, start):
    import pymanopt
    from pymanopt import manifolds as m

    first = lambda *p: p[0]  # noqa: E731
    flat, split = first, lambda p: (p,)  # noqa: E731
    if name == "pca":
        manifold = m.Grassmann(*start.shape)
    elif name == "completion":
        manifold = m.Grassmann(*start.shape)
    elif name == "spd_mean":
        manifold = m.SymmetricPositiveDefinite(len(start))
    elif name == "tree":
        manifold = m.PoincareBall(2, k=len(start) // 2)
        flat, split = lambda p: p.reshape(-1), lambda p: (p.reshape(-1, 2),)
    else:
        import dictionary as d

        cut = d.SIZE * d.ATOMS
        manifold = m.Product([m.Oblique(d.SIZE, d.ATOMS), m.Euclidean(d.ATOMS, d.SIGNALS)])
        flat = lambda a, c: np.concatenate([a.T.ravel(), c.ravel()])
        split = lambda p: (p[:cut].reshape(d.ATOMS, d.SIZE).T, p[cut:].reshape(d.ATOMS, d.SIGNALS))

    @pymanopt.function.numpy(manifold)
    def f(*p):
        return cost(flat(*p))

    @pymanopt.function.numpy(manifold)
    def g(*p):
        parts = split(gradient(flat(*p)))
        return parts[0] if len(parts) == 1 else list(parts)

    problem = pymanopt.Problem(manifold, f, euclidean_gradient=g)
    # The ball of pymanopt has no transport, which conjugate gradients need.
    kind = pymanopt.optimizers.SteepestDescent if name == "tree" else pymanopt.optimizers.ConjugateGradient
    solver = kind(
        max_iterations=STEPS, min_gradient_norm=TOLERANCE, min_step_size=1e-16, max_time=100, verbosity=0
    )
    parts = split(start)
    found = solver.run(problem, initial_point=parts[0] if len(parts) == 1 else list(parts))
    return found.cost, found.iterations


def geoopt(name, spec, cost, gradient, start):
    import geoopt
    import torch

    torch.set_num_threads(1)
    if name in ("pca", "completion"):
        parts = [(geoopt.CanonicalStiefel(), start)]
    elif name == "spd_mean":
        parts = [(geoopt.SymmetricPositiveDefinite("AIM"), start)]
    elif name == "tree":
        parts = [(geoopt.PoincareBall(), start.reshape(-1, 2))]
    else:
        import dictionary as d

        cut = d.SIZE * d.ATOMS
        parts = [(geoopt.Sphere(), start[:cut].reshape(d.ATOMS, d.SIZE)), (geoopt.Euclidean(1), start[cut:].reshape(-1, 1))]
    sizes = [p.size for _, p in parts]
    shape = start.shape
    tensors = [geoopt.ManifoldParameter(torch.tensor(p, dtype=torch.float64), manifold=m) for m, p in parts]

    class Cost(torch.autograd.Function):
        @staticmethod
        def forward(ctx, *p):
            ctx.point = np.concatenate([x.detach().numpy().ravel() for x in p]).reshape(shape)
            return torch.tensor(cost(ctx.point), dtype=torch.float64)

        @staticmethod
        def backward(ctx, slope):
            g = np.split(gradient(ctx.point).ravel(), np.cumsum(sizes)[:-1])
            return tuple(slope * torch.from_numpy(x.reshape(t.shape)) for x, t in zip(g, tensors))

    # Its searches hand torch's scalars to scipy, which present versions refuse: numbers are handed over here.
    import geoopt.optim.rlinesearch as searches

    def with_numbers(search):
        number = lambda x: (lambda *a: float(x(*a))) if callable(x) else (float(x) if isinstance(x, torch.Tensor) else x)
        return lambda *a, **k: search(*[number(x) for x in a], **{n: number(x) for n, x in k.items()})

    for search in ("scalar_search_wolfe2", "scalar_search_armijo"):
        if not hasattr(getattr(searches, search), "plain"):
            patched = with_numbers(getattr(searches, search))
            patched.plain = True
            setattr(searches, search, patched)
    solver = geoopt.optim.RiemannianLineSearch(tensors, cg_method="pr", line_search_method="wolfe")

    def closure():
        solver.zero_grad()
        value = Cost.apply(*tensors)
        value.backward()
        return value

    value, steps, still = np.inf, 0, 0
    began = time.process_time()
    while steps < STEPS and still < 20 and time.process_time() - began < 100:
        new = float(solver.step(closure))
        steps += 1
        still = 0 if new < value - 1e-13 * abs(value) else still + 1
        value = min(value, new) if np.isfinite(new) else value
        if not np.isfinite(new):
            break
    with torch.no_grad():
        last = float(Cost.apply(*tensors))
    return min(value, last) if np.isfinite(last) else value, steps


def nan(starts=2000, steps=15):
    """Runs of every problem from random starts, some far out: every point and value must be finite."""
    from geowalk.geometry import get
    from geowalk.optimize import minimize

    for name in PROBLEMS:
        spec, cost, gradient, _ = importlib.import_module(name).problem()
        manifold, bad, refused = get(spec, 0), 0, {}
        began = time.process_time()
        for seed in range(starts):
            start = manifold.random_point(seed=seed)
            update, rate = [("auto", "auto"), ("explicit", 0.1), ("explicit", 10.0), ("momentum", 1.0), ("adam", 0.1)][seed % 5]
            try:
                found = minimize(manifold, cost, gradient, start, update=update, rate=rate, steps=steps)
                bad += not (np.isfinite(found.value) and np.isfinite(found.point).all())
            except ArithmeticError as error:
                refused[type(error).__name__] = refused.get(type(error).__name__, 0) + 1
            except Exception as error:  # an error of the user's function is counted, and not a NaN
                key = f"{type(error).__name__}: {error}"[:60]
                refused[key] = refused.get(key, 0) + 1
        print(f"{name}: {starts} starts, {bad} not finite, errors {refused}, {time.process_time() - began:.1f} s", flush=True)


def main():
    asked = sys.argv[1:] or ["geowalk", "pymanopt", "geoopt", "nan"]
    out = HERE / "raw.csv"
    if not out.exists():
        out.write_text("problem,seed,system,value,steps,costs,gradients,cpu_seconds\n")
    for name in [n for n in PROBLEMS if not set(asked) & set(PROBLEMS) or n in asked]:
        for seed in range(3):
            for system in [s for s in ("geowalk", "pymanopt", "geoopt") if s in asked]:
                best = np.inf
                for _ in range(3):
                    spec, cost, gradient, start = importlib.import_module(name).problem(seed)
                    f, g = counted(cost), counted(gradient)
                    began = time.process_time()
                    value, steps = globals()[system](name, spec, f, g, start)
                    spent = time.process_time() - began
                    best = min(best, spent)
                    if spent > 10.0:
                        break
                line = f"{name},{seed},{system},{value!r},{steps},{f.calls},{g.calls},{best:.4f}"
                print(line, flush=True)
                with out.open("a") as file:
                    file.write(line.replace("np.float64(", "").replace(")", "") + "\n")
    if "nan" in asked:
        nan()


if __name__ == "__main__":
    main()
