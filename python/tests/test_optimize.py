"""Costs, manifolds of matrices, random points, batches with many axes, and the theorems of null vectors."""

import pickle
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
