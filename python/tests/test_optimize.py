"""Costs, manifolds of matrices, random points, batches with many axes, and the theorems of null vectors."""

import doctest
import os
import pathlib
import pickle
import subprocess
import sys
import warnings

import numpy as np
import pytest

import geowalk
from geowalk import geometry as g
from geowalk import laws
from geowalk.optimize import OnLine, check_gradient, minimize

ALL = [
    g.Euclidean(3), g.Sphere(4, 2.0), g.Simplex(4), g.PositiveOrthant(3), g.Hyperboloid(4), g.Hyperboloid(3, -0.25),
    g.PoincareBall(3), g.PoincareBall(2, curvature=-4.0), g.Spd(3), g.SpdLogEuclidean(2), g.BuresWasserstein(2),
    g.Stiefel(5, 2), g.Grassmann(5, 2), g.Rotations(3), g.Oblique(3, 2), g.Torus(2),
    g.Product([g.Sphere(3), g.Euclidean(2)]),
]  # fmt: skip


@pytest.mark.parametrize("m", ALL, ids=str)
def test_every_manifold_has_every_verb_on_batches(m):
    shape = m.origin().shape
    p = m.random_point(seed=3, size=(2, 3))
    assert p.shape == (2, 3, *shape)
    m.check(p)
    assert np.array_equal(p, m.random_point(seed=3, size=(2, 3))) and not np.array_equal(p[0, 0], p[0, 1])
    v = m.random_tangent(p, seed=1)
    assert np.allclose(m.norm(p, v), 1.0)
    q = m.exp(p, 0.1 * v)
    assert q.shape == p.shape and np.array_equal(q, m.retract(p, 0.1 * v))
    assert np.allclose(m.distance(p, q), 0.1, atol=1e-9) and np.allclose(m.log(p, q), 0.1 * v, atol=1e-9)
    moved = m.transport(p, q, v)
    assert np.allclose(m.norm(q, moved), 1.0) and np.allclose(m.project(q, moved), moved, atol=1e-9)
    table = m.pairwise(p[0], p[1])
    assert table.shape == (3, 3) and np.isclose(table[1, 2], m.distance(p[0, 1], p[1, 2]))
    assert np.allclose(m.pairwise(p[0]), m.pairwise(p[0], p[0]), atol=1e-7)
    assert pickle.loads(pickle.dumps(m)) == m
    assert g.get(m.spec, m.n) == m


@pytest.mark.parametrize("m", ALL, ids=str)
def test_float32_points_are_mended(m):
    p = m.random_point(seed=5).astype(np.float32)
    mended = m.project(p)
    m.check(mended)
    assert np.allclose(mended, p, atol=1e-5)


@pytest.mark.parametrize("m", [g.Stiefel(4, 2), g.Rotations(3), g.BuresWasserstein(2)], ids=str)
def test_laws_are_callable(m):
    laws.check(m, seeds=10)


@pytest.mark.parametrize("module", [geowalk.optimize, geowalk.laws], ids=lambda module: module.__name__)
def test_documentation_examples(module):
    found = doctest.testmod(module)
    assert found.attempted > 3 and found.failed == 0


def test_leading_axes_must_agree():
    m = g.Sphere(3)
    with pytest.raises(geowalk.DomainError, match="shape"):
        m.distance(m.random_point(size=(2, 3)), m.random_point(size=(3, 2)))
    with pytest.raises(geowalk.DomainError):
        m.check(np.float64(1.0))


def test_folds_and_clamps_warn():
    with pytest.warns(UserWarning, match="folded back"):
        g.Simplex(2).exp([0.5, 0.5], [1.0, -1.0])
    with pytest.warns(UserWarning, match="beyond the numbers"):
        g.PoincareBall(2).exp([0.0, 0.0], [60.0, 0.0])
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        g.Simplex(2).exp([0.5, 0.5], [0.1, -0.1])


def test_means_leave_saddles_and_say_whether_they_are_unique():
    h = np.sqrt(0.75)
    points = np.array([[1.0, 0.0, 0.0], [-0.5, h, 0.0], [-0.5, -h, 0.0]])
    p, report = g.Sphere(3).mean(points, report=True)
    assert abs(p[2]) > 0.999999 and not report["unique"] and report["residual"] < 1e-9
    with pytest.warns(UserWarning, match="may not be the only one"):
        g.Sphere(3).mean(points)
    _, report = g.BuresWasserstein(2).mean([np.eye(2), np.diag([1.0, 9.0])], report=True)
    assert report["unique"]


def test_principal_subspace_all_updates():
    X = np.random.default_rng(1).standard_normal((60, 5)) * [3.0, 2.5, 1.0, 0.5, 0.1]
    best = np.sum(np.linalg.svd(X)[1][:2] ** 2) / 60

    def cost(p, x):
        return -np.sum((x @ p) ** 2) / len(x)

    def slope(p, x):
        return -2.0 * x.T @ (x @ p) / len(x)

    m = g.Grassmann(5, 2)
    assert check_gradient(m, lambda p: cost(p, X), lambda p: slope(p, X))
    assert not check_gradient(m, lambda p: cost(p, X), lambda p: 1.01 * slope(p, X))
    for options in (
        {}, {"update": "explicit"}, {"update": "explicit", "rate": 0.05}, {"update": "momentum", "rate": 0.01, "steps": 3000},
        {"update": "implicit", "rate": 0.5, "steps": 200}, {"batch": 10, "steps": 3000}, {"update": "adam", "steps": 3000},
    ):  # fmt: skip
        found = minimize(m, cost, slope, data=X, seed=2, **options)
        tolerance = 0.05 if "batch" in options or options.get("update") == "adam" else 1e-6
        assert abs(found.value + best) <= tolerance * best, (options, found)
        assert np.isfinite(found.history).all()
    a = minimize(m, cost, slope, data=X, batch=7, steps=50, seed=9)
    b = minimize(m, cost, slope, data=X, batch=7, steps=50, seed=9)
    assert np.array_equal(a.point, b.point)


def test_errors_of_the_user_come_through():
    m = g.Sphere(3)
    with pytest.raises(ZeroDivisionError):
        minimize(m, lambda p: 1 / 0, lambda p: p)
    with pytest.raises(TypeError, match="give gradient="):
        minimize(m, lambda p: p[0])
    with pytest.raises(geowalk.DomainError, match="shape"):
        minimize(m, lambda p: (p[0], np.zeros(2)))
    with pytest.raises(geowalk.ConfigError, match="explicit"):
        minimize(m, lambda p: (p[0], p), update="sgd")
    with pytest.raises(ValueError, match="data"):
        minimize(m, lambda p: (p[0], p), batch=3)
    with pytest.raises(geowalk.DomainError):
        minimize(m, lambda p: (p[0], p), start=[1.0, 1.0, 1.0])
    seen = []
    found = minimize(m, lambda p: (p[0], [1.0, 0.0, 0.0]), seed=1, callback=lambda *a: seen.append(a) or len(seen) == 2)
    assert found.steps == 2 and "callback" in found.reason


def test_on_line_with_a_theorem():
    m = g.Hyperboloid(3)
    centre = m.exp(m.origin(), [0.0, 0.5, -0.2])
    # cosh of the distance, convex along geodesics.
    J = np.diag([-1.0, 1.0, 1.0])
    for update in ("explicit", "implicit"):
        walk = OnLine(m, lambda p, q: (-p @ J @ q, -J @ q), start=m.origin(), update=update, rate=0.1, comparator=centre)
        for v in m.random_tangent(np.tile(centre, (40, 1)), seed=3):
            walk.step(m.exp(centre, 0.1 * v))
        certificate = walk.certificates[0]
        regret = walk.loss - 40 * np.cosh(0.1)
        assert certificate["status"] == "valid" and regret <= certificate["bound"], (update, certificate)
    assert isinstance(OnLine(m, lambda p, q: (0.0, p), update="adam", comparator=centre).certificates, str)


def test_null_vector_has_the_theorem_of_the_sphere():
    X = np.random.default_rng(0).standard_normal((200, 3))
    X[:, 2] = 0.0
    model = geowalk.NullVector(rate=0.25).partial_fit(X)
    certificate = model.certificate([0.0, 0.0, 1.0], X)
    assert certificate.theorem["name"] == "null-vector" and certificate.theorem["status"] == "valid", certificate
    assert certificate.loss <= certificate.theorem["bound"]
    with pytest.raises(ValueError, match="another vector"):
        model.certificate([0.0, 0.0, 1.0], X[::-1].copy())
    assert "--" not in str(model.certificate_)


class OwnSphere(g.Manifold):
    """The unit sphere by three methods."""

    def __init__(self, n):
        self.size = n

    def origin(self):
        return np.eye(self.size)[0]

    def exp(self, p, v):
        t = np.linalg.norm(v)
        q = np.cos(t) * p + np.sinc(t / np.pi) * v
        return q / np.linalg.norm(q)

    def gradient(self, p, egrad):
        return egrad - (p @ egrad) * p


class WholeSphere(OwnSphere):
    """The same with all that may be defined but the injectivity radius, whose law asks for distances of antipodes."""

    curvature = (1.0, 1.0)

    def inner(self, p, u, v):
        return u @ v

    def log(self, p, q):
        if np.array_equal(p, q):
            return np.zeros_like(p)
        across = q - (p @ q) * p
        size = np.linalg.norm(across)
        if p @ q < 0.0 and size < 1e-12:
            raise ValueError("antipodes")
        return np.arctan2(size, p @ q) * across / max(size, 1e-300)

    def transport(self, p, q, v):
        return v - (q @ v) / (1.0 + p @ q) * (p + q)

    def check(self, p):
        if abs(np.linalg.norm(p) - 1.0) > 1e-9:
            raise ValueError("not of norm 1")


def test_own_manifold_has_all_verbs_of_its_twin():
    own, known = OwnSphere(3), g.Sphere(3)
    assert (own.dim, own.ambient, repr(own)) == (2, 3, "custom(OwnSphere)")
    p, q = known.random_point(seed=1), known.random_point(seed=2)
    assert np.isclose(own.distance(p, q), known.distance(p, q), atol=1e-9)
    assert np.allclose(own.log(p, q), known.log(p, q), atol=1e-9)
    v = known.random_tangent(p, seed=3)
    assert np.isclose(own.norm(p, 2.0 * v), 2.0) and np.allclose(own.project(p, v + p), v, atol=1e-9)
    assert np.allclose(own.pairwise([p, q]), known.pairwise([p, q]), atol=1e-9)
    with pytest.raises(geowalk.DomainError, match="parallel transport is not defined"):
        own.transport(p, q, v)
    again = pickle.loads(pickle.dumps(own))
    assert again.size == 3 and np.isclose(again.distance(p, q), known.distance(p, q))
    assert own == own and own != OwnSphere(3)


@pytest.mark.parametrize("m", [OwnSphere(3), WholeSphere(4)], ids=repr)
def test_own_manifold_obeys_the_laws(m):
    laws.check(m, seeds=10)


def test_own_manifold_that_lies_breaks_a_law():
    class Long(WholeSphere):
        def inner(self, p, u, v):
            return 2.0 * (u @ v)

    class Near(WholeSphere):
        def injectivity(self, p):
            return 2.0 * np.pi

    for m in (Long(3), Near(3)):
        with pytest.raises(AssertionError, match="custom"):
            laws.check(m, seeds=20)


@pytest.mark.parametrize("update", ["auto", "explicit", "implicit", "momentum", "adam"])
def test_own_manifold_is_minimized_on(update):
    a = np.diag([3.0, 2.0, 0.5])
    rate = "auto" if update in ("auto", "explicit") else 0.05
    found = minimize(
        OwnSphere(3), lambda p: p @ a @ p, lambda p: 2.0 * a @ p, [0.6, 0.48, 0.64], update=update, rate=rate, steps=2000, tolerance=1e-4
    )
    assert np.isclose(found.value, 0.5, atol=1e-4), found


def test_own_manifold_learns_as_its_twin():
    rng = np.random.default_rng(0)
    X = rng.standard_normal((400, 3))
    y = 0.6 + X[:, :2] @ [0.0, 0.8]
    for walk in (OwnSphere(3), g.Sphere(3), g.Product([g.Sphere(3)])):
        model = geowalk.OnlineRegressor(walk=walk, rate="0.05", passes=2).fit(X[:, :2], y)
        assert np.allclose(model.coef_, [0.0, 0.8], atol=0.02) and np.isclose(model.intercept_, 0.6, atol=0.02)
    classes = geowalk.OnlineClassifier(walk=OwnSphere(4), rate="0.1", passes=1).fit(X, y > 0.0)
    assert classes.score(X, y > 0.0) > 0.8
    with pytest.raises(geowalk.ConfigError, match="4 would fit"):
        geowalk.OnlineClassifier(walk=OwnSphere(4), rate="0.1", passes=1).fit(X[:, :2], y > 0.0)


def test_errors_of_own_manifolds_come_through():
    class Broken(OwnSphere):
        def exp(self, p, v):
            raise ZeroDivisionError("mine")

    class Flat(OwnSphere):
        def gradient(self, p, egrad):
            return egrad[:2]

    class Empty(g.Manifold):
        pass

    with pytest.raises(ZeroDivisionError, match="mine"):
        Broken(3).distance([1.0, 0.0, 0.0], [0.0, 1.0, 0.0])
    with pytest.raises(ZeroDivisionError, match="mine"):
        laws.check(Broken(3), seeds=1)
    with pytest.raises(ValueError, match="gradient must give the shape of a point"):
        Flat(3).dim
    with pytest.raises(TypeError, match="Empty has no origin, exp, gradient"):
        Empty().dim


EXAMPLES = sorted((pathlib.Path(__file__).parents[2] / "examples/manifolds").glob("*.py"))


@pytest.mark.parametrize("script", EXAMPLES, ids=lambda script: script.stem)
def test_examples_run_and_draw(script, tmp_path):
    pytest.importorskip("matplotlib")
    env = {**os.environ, "MPLBACKEND": "agg"}
    done = subprocess.run([sys.executable, script], cwd=tmp_path, env=env, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    assert (tmp_path / f"{script.stem}.svg").stat().st_size > 1000
