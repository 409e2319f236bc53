"""Manifolds: formulas written in NumPy, the golden values, batches, layouts."""

import numpy as np
import pytest
from conftest import golden, points
from geowalk import geometry as g
from numpy.testing import assert_allclose

P = np.array([0.2, 0.3, 0.5])
Q = np.array([0.6, 0.3, 0.1])


def test_euclidean_formulas():
    m = g.Euclidean(3)
    assert_allclose(m.exp(P, Q), P + Q)
    assert_allclose(m.log(P, Q), Q - P)
    assert_allclose(m.distance(P, Q), np.linalg.norm(P - Q))
    assert_allclose(m.step(P, Q, 0.1), P - 0.1 * Q)
    assert (m.dim, m.ambient, m.curvature, m.injectivity(P)) == (3, 3, (0.0, 0.0), np.inf)


@pytest.mark.parametrize("radius", [1.0, 2.5])
def test_sphere_formulas(radius):
    m = g.Sphere(3, radius)
    p, q = (radius * x / np.linalg.norm(x) for x in (P, Q))
    angle = np.arccos(p @ q / radius**2)
    assert_allclose(m.distance(p, q), radius * angle, rtol=1e-13)
    v = m.log(p, q)
    assert_allclose(v @ p, 0.0, atol=1e-13)
    assert_allclose(np.linalg.norm(v), radius * angle)
    theta = np.linalg.norm(v) / radius
    assert_allclose(m.exp(p, v), np.cos(theta) * p + np.sin(theta) / theta * v)
    assert_allclose(m.exp(p, v), q)
    egrad = np.array([1.0, -2.0, 0.5])
    assert_allclose(m.gradient(p, egrad), egrad - (egrad @ p) * p / radius**2)
    assert (m.dim, m.radius, m.curvature) == (2, radius, (radius**-2, radius**-2))
    assert_allclose(m.injectivity(p), np.pi * radius)


def test_simplex_formulas():
    m = g.Simplex(3)
    u, v = np.array([0.1, -0.05, -0.05]), np.array([0.02, 0.03, -0.05])
    egrad = np.array([1.0, -2.0, 0.5])
    assert_allclose(m.inner(P, u, v), (u * v / P).sum())
    assert_allclose(m.norm(P, v), np.sqrt((v * v / P).sum()))
    assert_allclose(m.distance(P, Q), 2 * np.arccos(np.sqrt(P * Q).sum()), rtol=1e-13)
    assert_allclose(m.gradient(P, egrad), P * (egrad - P @ egrad))
    assert_allclose(m.exp(P, m.log(P, Q)), Q)


def test_orthant_formulas():
    m = g.PositiveOrthant(3)
    v = np.array([0.3, -0.1, 0.2])
    assert_allclose(m.exp(P, v), P * np.exp(v / P))
    assert_allclose(m.log(P, Q), P * np.log(Q / P))
    assert_allclose(m.distance(P, Q), np.linalg.norm(np.log(Q / P)))
    assert_allclose(m.gradient(P, v), P * P * v)
    assert_allclose(m.transport(P, Q, v), v * Q / P)
    assert_allclose(m.mean([P, Q]), np.sqrt(P * Q))
    assert_allclose(m.mean([P, Q], [3.0, 1.0]), P**0.75 * Q**0.25)


def test_hyperbolic_formulas_and_models():
    m, ball = g.Hyperboloid(3), g.PoincareBall(2)
    space = np.array([[0.3, -1.2], [0.9, 0.4]])
    p, q = np.column_stack([np.sqrt(1 + (space**2).sum(axis=1)), space])
    expected = np.arccosh(p[0] * q[0] - p[1:] @ q[1:])
    assert_allclose(m.distance(p, q), expected, rtol=1e-13)
    a, b = p[1:] / (1 + p[0]), q[1:] / (1 + q[0])
    assert_allclose(ball.distance(a, b), expected, rtol=1e-13)
    assert_allclose(m.exp(p, m.log(p, q)), q)
    assert_allclose(ball.exp(a, ball.log(a, b)), b)
    assert_allclose(ball.inner(a, [1.0, 0.0], [1.0, 0.0]), 4 / (1 - a @ a) ** 2)
    assert (m.dim, ball.dim, m.curvature) == (2, 2, (-1.0, -1.0))


def test_spd_formulas():
    m = g.Spd(2)
    x, y = np.array([[2.0, 0.5], [0.5, 1.0]]), np.array([[1.0, -0.3], [-0.3, 3.0]])
    u, v = np.array([[1.0, 0.2], [0.2, -0.5]]), np.array([[0.3, 0.7], [0.7, 0.1]])
    inverse = np.linalg.inv(x)
    eigenvalues = np.linalg.eigvals(inverse @ y)
    assert_allclose(m.distance(x, y), np.linalg.norm(np.log(eigenvalues)))
    assert_allclose(m.inner(x, u, v), np.trace(inverse @ u @ inverse @ v))
    lopsided = np.array([[1.0, 2.0], [0.0, 3.0]])
    assert_allclose(m.gradient(x, lopsided), x @ (lopsided + lopsided.T) / 2 @ x)
    assert_allclose(m.exp(x, m.log(x, y)), y)
    assert m.origin().shape == (2, 2)
    assert (m.dim, m.ambient, m.n, m.curvature) == (3, 4, 2, (-0.5, 0.0))


def test_product_is_its_factors():
    sphere, spd = g.Sphere(3), g.Spd(2)
    m = g.Product([sphere, spd])
    (p1, q1), (p2, q2) = points(sphere, 2)[0], points(spd, 2)[0]
    p, q = np.concatenate([p1, p2.ravel()]), np.concatenate([q1, q2.ravel()])
    assert_allclose(m.distance(p, q), np.hypot(sphere.distance(p1, q1), spd.distance(p2, q2)))
    assert_allclose(m.log(p, q), np.concatenate([sphere.log(p1, q1), spd.log(p2, q2).ravel()]))
    assert m.factors == [sphere, spd]


def test_laws(manifold):
    p, v = points(manifold, 8)
    q = manifold.exp(p, v)
    manifold.check(q)
    length = manifold.norm(p, v)
    assert_allclose(manifold.distance(p, q), length, rtol=1e-9)
    assert_allclose(manifold.log(p, q), v, atol=1e-10)
    assert_allclose(manifold.inner(p, v, v), length**2)
    moved = manifold.transport(p, q, v)
    assert_allclose(manifold.norm(q, moved), length)
    assert_allclose(moved, -manifold.log(q, p), atol=1e-10)
    egrad = np.random.default_rng(1).standard_normal(p.shape)
    gradient = manifold.gradient(p, egrad)
    axes = tuple(range(1, p.ndim))
    assert_allclose(manifold.inner(p, gradient, v), (egrad * v).sum(axis=axes), atol=1e-12)
    short = manifold.project(p, egrad)
    assert_allclose(manifold.project(p, short), short, atol=1e-12)
    assert_allclose(
        manifold.step(p, egrad, 1e-3), manifold.exp(p, -1e-3 * gradient), rtol=1e-12, atol=1e-15
    )
    middle = manifold.mean([p[0], q[0]])
    assert_allclose(manifold.distance(p[0], middle), length[0] / 2, rtol=1e-9)


VERBS = {
    "exp": "pv",
    "log": "pq",
    "distance": "pq",
    "inner": "pvv",
    "norm": "pv",
    "gradient": "pv",
    "transport": "pqv",
    "project": "pv",
    "injectivity": "p",
}


@pytest.mark.parametrize("verb", VERBS)
def test_a_batch_is_a_loop(manifold, verb):
    p, v = points(manifold, 5)
    q = manifold.exp(p, v)
    arguments = [{"p": p, "q": q, "v": v}[letter] for letter in VERBS[verb]]
    method = getattr(manifold, verb)
    batch = method(*arguments)
    loop = [method(*row) for row in zip(*arguments, strict=True)]
    assert batch.dtype == np.float64
    assert batch.shape == np.shape(loop)
    assert np.array_equal(batch, loop)
    if np.ndim(loop[0]) == 0:
        assert all(type(x) is float for x in loop)
    assert method(*(x[:0] for x in arguments)).shape == (0, *np.shape(loop[0]))


def test_one_point_goes_with_every_row(manifold):
    p, v = points(manifold, 4)
    same = np.repeat(p[:1], 4, axis=0)
    assert np.array_equal(manifold.distance(p[0], p), manifold.distance(same, p))
    assert np.array_equal(manifold.log(p, p[0]), manifold.log(p, same))
    egrad = np.ones(p.shape[1:])
    assert np.array_equal(
        manifold.step(p, egrad, 1e-2), manifold.step(p, np.ones_like(p), 1e-2)
    )


def test_every_layout_gives_the_same_bits(manifold):
    p, v = points(manifold, 6)
    expected = manifold.exp(p, v)
    assert np.array_equal(manifold.exp(np.asfortranarray(p), v), expected)
    assert np.array_equal(manifold.exp(p[::2], v[::2]), expected[::2])
    assert np.array_equal(manifold.exp(p[::-1], v[::-1]), expected[::-1])
    assert np.array_equal(manifold.exp(p.astype(">f8"), v.tolist()), expected)
    p.flags.writeable = False
    assert np.array_equal(manifold.exp(p, v), expected)
    unaligned = np.frombuffer(b"x" + v.tobytes(), dtype=np.uint8)[1:].view(np.float64)
    assert np.array_equal(manifold.exp(p, unaligned.reshape(v.shape)), expected)


def test_contiguous_arrays_are_not_copied(manifold, monkeypatch):
    p, v = points(manifold, 6)
    expected = manifold.exp(p, v)

    def copied(*arguments):
        raise AssertionError("NumPy was asked to convert")

    monkeypatch.setattr(np, "asarray", copied)
    monkeypatch.setattr(np, "require", copied)
    assert (manifold.exp(p, v) == expected).all()
    with pytest.raises(AssertionError, match="asked to convert"):
        manifold.exp(p[::2], v[::2])


def test_arguments_are_not_changed(manifold):
    p, v = points(manifold, 3)
    before = p.copy(), v.copy()
    for answer in (manifold.exp(p, v), manifold.transport(p, p, v), manifold.project(p, v)):
        answer += 1.0
    manifold.step(p, v, 0.1)
    assert np.array_equal(p, before[0])
    assert np.array_equal(v, before[1])


def test_other_numbers_are_converted():
    m = g.Euclidean(2)
    for dtype in (np.float32, np.float16, np.int64, np.uint8, bool, np.longdouble):
        assert m.distance(np.array([0, 1], dtype), np.array([1, 1], dtype)) == 1.0
    x = np.array([0.1, 0.2], np.float32)
    assert np.array_equal(m.exp(x, [0.0, 0.0]), x.astype(np.float64))


@pytest.mark.parametrize(
    "geometry",
    ["euclidean", "sphere", "sphere(radius=2)", "simplex", "orthant", "hyperbolic", "poincare-ball", "spd"],
)
@pytest.mark.filterwarnings("ignore:.* folded back at its boundary:UserWarning")
def test_golden_values(geometry):
    names = {
        "exp": ["p", "v"],
        "log": ["p", "q"],
        "distance": ["p", "q"],
        "inner": ["p", "u", "v"],
        "transport": ["p", "q", "v"],
        "gradient": ["p", "covector"],
    }
    seen = 0
    for case in golden("manifolds"):
        if case["geometry"] != geometry or case["tag"] != "interior":
            continue
        m = g.get(geometry, case["n"])
        shape = m.origin().shape
        of = {k: np.array(case[k], float).reshape(shape) for k in names[case["op"]]}
        if case["op"] == "exp":
            of["v"] = of["v"] * float(case["t"])
        found = getattr(m, case["op"])(*of.values())
        expected = np.array(case["expected"], float).reshape(np.shape(found))
        assert_allclose(found, expected, rtol=1e-9, atol=1e-12, err_msg=str(case))
        seen += 1
    assert seen >= 12
