"""Generators: formulas, golden values, identities, batches."""

import numpy as np
import pytest
from conftest import golden, weights
from geowalk import geometry as g
from numpy.testing import assert_allclose

X = np.array([0.2, 0.3, 0.5])
Y = np.array([0.6, 0.3, 0.1])
SIGMA = np.array([[2.0, 0.5, 0.0], [0.5, 1.0, 0.1], [0.0, 0.1, 3.0]])


@pytest.mark.parametrize(
    ("generator", "value", "link", "divergence"),
    [
        (g.SquaredEuclidean(), X @ X, 2 * X, ((X - Y) ** 2).sum()),
        (
            g.KullbackLeibler(),
            (X * np.log(X) - X).sum(),
            np.log(X),
            (X * np.log(X / Y) - X + Y).sum(),
        ),
        (g.SimplexEntropy(), (X * np.log(X)).sum(), np.log(X), (X * np.log(X / Y)).sum()),
        (g.ItakuraSaito(), -np.log(X).sum(), -1 / X, (X / Y - np.log(X / Y) - 1).sum()),
        (g.Mahalanobis(SIGMA), X @ SIGMA @ X, 2 * SIGMA @ X, (X - Y) @ SIGMA @ (X - Y)),
        (g.PNorm(2.0), X @ X / 2, X, ((X - Y) ** 2).sum() / 2),
    ],
    ids=repr,
)
def test_formulas(generator, value, link, divergence):
    assert_allclose(generator.value(X), value)
    assert_allclose(generator.link(X), link)
    assert_allclose(generator.divergence(X, Y), divergence)


def test_p_norm():
    q = 1.5
    norm = (np.abs(X) ** q).sum() ** (1 / q)
    assert_allclose(g.PNorm(q).value(X), norm**2 / 2)
    assert_allclose(g.PNorm(q).link(-X), -(X ** (q - 1)) * norm ** (2 - q))
    assert (g.PNorm(q).q, g.PNorm(q).p) == (1.5, 3.0)
    assert_allclose(g.PNorm("auto", 1000).q, 2 * np.log(1000) / (2 * np.log(1000) - 1))
    assert g.PNorm("auto", 1000) == g.get("p-norm", 1000)


def test_identities(generator):
    x, y = weights(generator, 6), weights(generator, 6, seed=1)
    theta = generator.link(x)
    assert_allclose(generator.unlink(theta), x)
    assert_allclose(generator.value(x) + generator.conjugate(theta), (x * theta).sum(axis=1))
    bregman = generator.value(x) - generator.value(y) - (generator.link(y) * (x - y)).sum(axis=1)
    assert_allclose(generator.divergence(x, y), bregman, atol=1e-12)
    u = -np.abs(weights(generator, 6, seed=2))
    assert_allclose(generator.legendre_dual(u, x), generator.unlink(theta + u))
    modulus = generator.modulus(10.0)
    assert modulus is not None
    sigma, norm = modulus
    order = {"l1": 1, "l2": 2}.get(norm) or float(norm[1:])
    distance = np.linalg.norm(x - y, ord=order, axis=1)
    inside = (np.abs(x).sum(axis=1) < 10) & (np.abs(y).sum(axis=1) < 10)
    assert inside.any()
    assert np.all((generator.divergence(x, y) >= 0.5 * sigma * distance**2 * (1 - 1e-12))[inside])


def test_a_batch_is_a_loop(generator):
    x, y = weights(generator, 5), weights(generator, 5, seed=1)
    theta = generator.link(x)
    for batch, loop in [
        (generator.value(x), [generator.value(a) for a in x]),
        (theta, [generator.link(a) for a in x]),
        (generator.unlink(theta), [generator.unlink(a) for a in theta]),
        (generator.conjugate(theta), [generator.conjugate(a) for a in theta]),
        (generator.divergence(x, y), [generator.divergence(a, b) for a, b in zip(x, y)]),
        (generator.divergence(x, y[0]), [generator.divergence(a, y[0]) for a in x]),
        (generator.legendre_dual(-x * x, y), [generator.legendre_dual(-a * a, b) for a, b in zip(x, y)]),
    ]:
        assert np.array_equal(batch, loop)


def test_the_boundary():
    assert_allclose(g.SimplexEntropy().divergence([1.0, 0.0], [0.5, 0.5]), np.log(2.0))
    assert g.KullbackLeibler().divergence([0.0], [3.0]) == 3.0
    assert g.ItakuraSaito().divergence([0.0], [3.0]) == np.inf


def test_moduli():
    assert g.SquaredEuclidean().modulus() == (2.0, "l2")
    assert g.PNorm(1.5).modulus() == (0.5, "l1.5")
    assert g.ItakuraSaito().modulus() is None
    assert g.ItakuraSaito().modulus(2.0) == (0.25, "l1")


def test_golden_values():
    arguments = {
        "value": ["w"],
        "link": ["w"],
        "unlink": ["theta"],
        "conjugate": ["theta"],
        "divergence": ["u", "w"],
        "legendre_dual": ["u", "p"],
    }
    seen = set()
    for case in golden("generators"):
        # The matrices of Mahalanobis are beside the name; its formulas are tested above.
        if case["tag"] != "interior" or case["generator"] == "mahalanobis":
            continue
        verb = getattr(g.get(case["generator"], case["n"]), case["op"])
        found = verb(*(np.array(case[k], float) for k in arguments[case["op"]]))
        expected = np.array(case["expected"], float)
        if case.get("compare") == "gauge":
            # Dual points of the simplex are the same up to a constant.
            found, expected = found - found[0], expected - expected[0]
        assert_allclose(found, expected, rtol=1e-11, atol=1e-15, err_msg=str(case))
        seen.add((case["generator"].split("(")[0], case["op"]))
    assert len(seen) == 5 * 6
