"""Losses, permissible functions, the doctor."""

import pickle
from math import exp, expm1, inf, log1p

import geowalk
import numpy as np
import pytest
from conftest import golden
from geowalk import losses
from numpy.testing import assert_allclose

Z = np.array([-2.0, -0.5, 0.0, 0.3, 4.0])
Y = np.array([1.0, -1.0, 1.0, 1.0, -1.0])


@pytest.mark.parametrize(
    ("name", "value", "slope"),
    [
        ("squared", (Z - Y) ** 2, 2 * (Z - Y)),
        ("absolute", abs(Z - Y), np.sign(Z - Y)),
        ("logistic", np.log1p(np.exp(-Y * Z)), -Y / (1 + np.exp(Y * Z))),
        ("entropy", np.log1p(np.exp(-Y * Z)), -Y / (1 + np.exp(Y * Z))),
        ("hinge", np.maximum(0, 1 - Y * Z), -Y * (Y * Z < 1)),
        ("exponential", np.exp(-Y * Z), -Y * np.exp(-Y * Z)),
        ("quantile(tau=0.9)", np.where(Z < Y, 0.9 * (Y - Z), 0.1 * (Z - Y)), np.where(Z < Y, -0.9, 0.1)),
        ("matsushita", (np.sqrt(1 + Z * Z) - Y * Z) / 2, (Z / np.sqrt(1 + Z * Z) - Y) / 2),
    ],
)
def test_formulas(name, value, slope):
    loss = losses.get(name)
    assert_allclose(loss.value(Z, Y), value, rtol=1e-14, atol=1e-15)
    assert_allclose(loss.slope(Z, Y), slope, rtol=1e-14, atol=1e-15)
    h = 1e-5
    where = abs(Y * Z - 1) > 1e-3
    second = (loss.slope(Z + h, Y) - loss.slope(Z - h, Y)) / (2 * h)
    assert_allclose(loss.curvature(Z, Y)[where], second[where], rtol=1e-6, atol=1e-9)


def test_golden_values():
    seen = set()
    for case in golden("losses"):
        if case["op"] in ("value", "slope", "curvature") and case["tag"] == "interior":
            loss = losses.get(case["loss"])
            z, y, expected = (np.array(case[k], float) for k in ("z", "y", "expected"))
            assert_allclose(getattr(loss, case["op"])(z, y), expected, rtol=1e-11, atol=1e-300)
            seen.add(loss.spec.split("(")[0])
    assert seen == set(losses.names()) - set(losses.permissible_names())
    seen = set()
    for case in golden("permissible"):
        argument = {"phi": "p", "impurity": "p", "gradient": "p", "curvature": "p"}.get(case["op"])
        if argument and case["tag"] == "interior":
            phi = losses.Permissible(case["permissible"])
            p, expected = (np.array(case[k], float) for k in (argument, "expected"))
            assert_allclose(getattr(phi, case["op"])(p), expected, rtol=1e-11, atol=1e-15)
            seen.add(phi.spec.split("(")[0])
        elif case["op"] in ("a", "b", "curvature_floor"):
            found = getattr(losses.Permissible(case["permissible"]), case["op"])
            assert_allclose(found, float(case["expected"][0]), rtol=1e-12)
    assert seen == set(losses.permissible_names())


@pytest.mark.parametrize("name", losses.names())
def test_broadcasting(name):
    loss = losses.get(name)
    z, y = 0.1 * Z, np.sign(Y)
    for verb in (loss.value, loss.slope, loss.curvature):
        loop = np.array([[verb(float(a), float(b)) for a in z] for b in y])
        assert np.array_equal(verb(z, y[:, None]), loop)
        assert np.array_equal(verb(z[None, :], y[:, None]), loop)
        assert np.array_equal(verb(z, 1.0), loop[0])
        assert np.array_equal(verb(float(z[1]), y), loop[:, 1])
        assert np.array_equal(verb(z[::-1], y[0]), loop[0, ::-1])
        assert type(verb(0.1, 1)) is float
        assert type(verb(np.float32(0.5), np.array(1.0))) is float
        assert verb(z[:0], 1.0).shape == (0,)
        assert verb(np.zeros((2, 0, 3)), np.ones((2, 1, 1))).shape == (2, 0, 3)


@pytest.mark.parametrize("name", losses.names())
def test_facts_and_names(name):
    loss = losses.get(name)
    facts = loss.facts
    assert loss.spec.startswith(name)
    assert repr(loss) == loss.spec
    assert losses.get(loss.spec) == loss
    assert facts.lipschitz is None or facts.lipschitz > 0
    assert facts.strong <= (facts.smooth or inf)
    assert facts.convex
    assert losses.doctor(loss).consistent
    best = loss.minimizer(1.0)
    if np.isfinite(best):
        assert loss.value(best, 1.0) <= loss.value(0.0, 1.0)


def test_parameters():
    assert losses.get("huber", delta=0.25) == losses.get("huber(delta=0.25)")
    assert losses.get("geodesic", space="euclidean").spec == "geodesic(space=euclidean)"
    assert losses.Permissible("nu", nu=0.3) == losses.Permissible("nu(0.3)")
    tenth = 0.1 + 1e-17
    assert losses.Permissible("mu", mu=tenth).a == tenth


def test_permissible():
    phi = losses.Permissible("matsushita")
    p = np.array([0.1, 0.5, 0.8])
    assert_allclose(phi.phi(p), -np.sqrt(p * (1 - p)))
    h = phi.gradient(p)
    assert_allclose(phi.transfer(h), p)
    assert_allclose(phi.conjugate(h), h * p - phi.phi(p))
    assert_allclose(phi.surrogate(Z), (phi.conjugate(-Z) - phi.a) / phi.b)
    assert_allclose(phi.margin(h, 1.0), 2 * p - 1, atol=1e-15)
    assert_allclose(phi.weight(Z), phi.transfer(-Z))
    assert_allclose(phi.legendre_dual(0.5, p), phi.transfer(h + 0.5))
    assert_allclose(phi.curvature(0.5), phi.curvature_floor)
    assert (phi.a, phi.b, phi.image) == (0.0, 0.5, (-inf, inf))
    assert phi.loss() == losses.get("matsushita")
    assert_allclose(phi.loss().value(Z, Y), phi.b * phi.surrogate(Y * Z))


def softplus(m):
    return log1p(exp(-m))


def softplus_slope(m):
    return -1 / (1 + exp(m))


def test_custom_is_the_loss_it_copies():
    loss, logistic = losses.Custom(softplus, softplus_slope), losses.get("logistic")
    assert_allclose(loss.value(Z, Y), logistic.value(Z, Y), rtol=1e-12)
    assert_allclose(loss.slope(Z, Y), logistic.slope(Z, Y), rtol=1e-12)
    assert_allclose(loss.curvature(Z, Y), logistic.curvature(Z, Y), rtol=1e-5)
    assert loss.facts.margin
    assert loss.facts.convex
    assert_allclose(loss.facts.lipschitz, 1.0)
    assert loss.diagnosis.consistent
    assert losses.doctor(loss).strictly_convex.holds
    assert (repr(loss), loss == loss, loss == losses.Custom(softplus, softplus_slope)) == ("custom", True, False)
    again = pickle.loads(pickle.dumps(loss))
    assert again.value(0.3, 1.0) == loss.value(0.3, 1.0)


def test_custom_refuses_with_the_place():
    with pytest.raises(geowalk.ConfigError, match="refused: slope = derivative of the value fails at") as info:
        losses.Custom(softplus, lambda m: softplus_slope(m) / 2)
    assert info.value.kind == "refused"
    assert info.value.condition == "slope = derivative of the value"
    assert -30 <= info.value.at <= 30
    assert isinstance(info.value.found, float)
    with pytest.raises(geowalk.ConfigError, match="refused: convexity fails at"):
        losses.Custom(lambda m: -(m**2), lambda m: -2 * m)
    with pytest.raises(geowalk.ConfigError, match="refused: finiteness fails at"):
        losses.Custom(lambda m: float("nan"), lambda m: 0.0)
    with pytest.raises(geowalk.ConfigError, match="refused: curvature"):
        losses.Custom(lambda m: m * m, lambda m: 2 * m, lambda m: 3.0)
    with pytest.raises(geowalk.ConfigError, match="hi = -1; it must be in"):
        losses.Custom(softplus, softplus_slope, predictions=(1.0, -1.0))


def test_what_a_users_function_raises_comes_out():
    calls = 0

    def broken(m):
        nonlocal calls
        calls += 1
        raise KeyError("mine")

    with pytest.raises(KeyError, match="mine"):
        losses.Custom(broken, softplus_slope)
    assert calls == 1, "nothing more is asked after an exception"
    with pytest.raises(TypeError):
        losses.Custom(lambda m: "text", softplus_slope)
    with pytest.raises(TypeError):
        losses.Custom(1.0, softplus_slope)

    fail = False

    def sometimes(m):
        if fail:
            raise RuntimeError("later")
        return softplus(m)

    loss = losses.Custom(sometimes, softplus_slope)
    fail = True
    with pytest.raises(RuntimeError, match="later"):
        loss.value(Z, Y)
    fail = False
    assert_allclose(loss.value(0.0, 1.0), np.log(2.0))


def test_doctor():
    diagnosis = losses.doctor("hinge")
    assert str(diagnosis).startswith("hinge: ")
    assert "FAILS" in str(diagnosis)
    assert repr(diagnosis).startswith("<Diagnosis of hinge: consistent")
    assert len(diagnosis.checks) == 16
    verdict = diagnosis.checks["strictly convex"]
    assert verdict.fails
    assert not verdict.holds
    assert len(verdict.failure) == 4
    assert diagnosis.checks["convex"].failure is None
    assert diagnosis.kinks == [(1.0, 1.0, 1.0), (-1.0, -1.0, 1.0)]
    assert all(isinstance(applies, bool) and why for applies, why in diagnosis.theorems.values())
    assert_allclose(losses.doctor("logistic").balance, 1.0)
    assert losses.doctor("squared", predictions=(-1.0, 1.0)).lipschitz is None
    with pytest.raises(TypeError):
        losses.doctor(3)


def test_saturation_is_exact():
    assert losses.get("logistic").value(800.0, 1.0) == exp(-700.0) * exp(-100.0)
    assert losses.get("exponential").value(-1e3, 1.0) == inf
    assert_allclose(losses.get("logistic").slope(-40.0, 1.0), -1 / (1 + exp(-40.0)))
    assert_allclose(losses.Permissible("entropy").margin(1e-9, 1.0), -expm1(-1e-9) / (1 + exp(-1e-9)))
