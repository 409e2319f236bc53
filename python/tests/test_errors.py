"""Every wrong argument is an exception of the right type, with the numbers in its message and its attributes."""

import pickle

import geowalk
import numpy as np
import pytest
from conftest import points
from geowalk import geometry as g
from geowalk import losses

NAN, INF = float("nan"), float("inf")

DOMAIN = [
    # call, message, attributes
    (lambda: g.Sphere(3).check([1.0, 0.0]), "the point has 2 coordinates; 3 are needed",
     {"kind": "dimension", "found": 2, "expected": 3, "what": "the point"}),
    (lambda: g.Sphere(2).check([[1.0, 0.0, 0.0]]), "the point has 3 coordinates; 2 are needed",
     {"kind": "dimension", "found": 3, "expected": 2}),
    (lambda: g.Sphere(2).check(1.0), "the point has shape (); one of 2 numbers or a batch of such is needed",
     {"kind": "shape", "found": ()}),
    (lambda: g.Spd(2).check([1.0, 2.0]), "the point has shape (2,); one of 2 x 2 numbers or a batch of such is needed",
     {"kind": "shape", "found": (2,)}),
    (lambda: g.Sphere(2).distance(np.zeros((2, 2, 2)), np.zeros((3, 2))),
     "the second point has shape (3,); the point is a batch of shape (2, 2)", {"found": (3,)}),
    (lambda: g.Sphere(2).distance(np.eye(2), [[1.0, 0.0]] * 3),
     "the second point is a batch of 3; the point is a batch of 2", {"kind": "shape", "found": 3, "expected": 2}),
    (lambda: g.Euclidean(2).check([1.0, NAN]), "coordinate 1 of the point is NaN; it must be a finite number",
     {"kind": "coordinate", "index": 1, "allowed": "a finite number"}),
    (lambda: g.Euclidean(2).exp([1.0, 0.0], [INF, 0.0]),
     "coordinate 0 of the tangent vector is inf; it must be a finite number", {"index": 0, "value": INF}),
    (lambda: g.Euclidean(1).check([[0.0], [1.0], [NAN]]),
     "item 2 of the batch: coordinate 0 of the point is NaN; it must be a finite number", {"batch_index": 2, "index": 0}),
    (lambda: g.Sphere(2).check([0.0, 1.5]), "the norm of the point is 1.5; it must be 1 within 1e-9",
     {"kind": "constraint", "found": 1.5, "expected": 1.0, "tolerance": 1e-9, "batch_index": None}),
    (lambda: g.Simplex(2).check([1.5, -0.5]), "coordinate 1 of the point is -0.5; it must be a finite number >= 0",
     {"index": 1, "value": -0.5}),
    (lambda: g.Spd(2).check([[1.0, 2.0], [2.0, 1.0]]), "the matrix is not positive definite: its smallest eigenvalue is",
     {"kind": "not-definite"}),
    (lambda: g.Spd(2).check([[1.0, 0.5], [0.0, 1.0]]), "the matrix is not symmetric: entries",
     {"kind": "not-symmetric"}),
    (lambda: g.Sphere(2).log([1.0, 0.0], [-1.0, 0.0]), "no unique shortest geodesic: the points are 3.14",
     {"kind": "cut-locus", "distance": np.pi}),
    (lambda: g.Hyperboloid(2).exp([1.0, 0.0], [0.0, 400.0]), "a step of length 400 overflows",
     {"kind": "overflow", "length": 400.0}),
    (lambda: g.Euclidean(1).step([0.0], [1.0], NAN), "the rate is NaN; it must be a finite number",
     {"kind": "scalar", "what": "the rate"}),
    (lambda: g.Euclidean(1).mean(np.zeros((0, 1))), "the list of points is empty", {"kind": "empty"}),
    (lambda: g.Euclidean(1).mean([0.0]), "the list of points has shape (1,); a batch of points is needed", {}),
    (lambda: g.Euclidean(1).mean([[0.0], [1.0]], [1.0]),
     "the list of weights has shape (1,); one weight for each of the 2 points is needed", {}),
    (lambda: g.Euclidean(1).mean([[0.0], [1.0]], [1.0, -1.0]), "weight", {}),
    (lambda: g.Euclidean(1).mean([[0.0], [1.0]], [0.0, 0.0]), "the sum of the weights is 0", {"kind": "scalar"}),
    (lambda: g.Euclidean(1).mean([[0.0], [NAN]]), "item 1 of the batch: ", {"batch_index": 1}),
    (lambda: g.PositiveOrthant(1).gradient([1e200], [1.0]), "coordinate 0 of the gradient is inf", {"value": INF}),
    (lambda: g.KullbackLeibler().link([1.0, 0.0]), "coordinate 1 of the point is 0; it must be a finite number > 0",
     {"index": 1, "value": 0.0}),
    (lambda: g.KullbackLeibler().value([]), "the point is empty", {"kind": "empty"}),
    (lambda: g.KullbackLeibler().value(1.0), "the point has shape (); a vector or a batch of vectors is needed", {}),
    (lambda: g.ItakuraSaito().unlink([-1.0, 0.5]),
     "coordinate 1 of the dual point is 0.5; it must be a finite number < 0", {"index": 1}),
    (lambda: g.ItakuraSaito().legendre_dual([2.0], [1.0]), "coordinate 0 of the dual point is 1;", {"value": 1.0}),
    (lambda: g.SimplexEntropy().divergence([1.0, 0.5], [0.5, 0.5]), "the sum of the point is 1.5", {"found": 1.5}),
    (lambda: g.SimplexEntropy().divergence([1.5, -0.5], [0.5, 0.5]), "coordinate 1 of the point is -0.5", {}),
    (lambda: g.SquaredEuclidean().divergence([1.0], [1.0, 2.0]), "the second point has 2 coordinates; 1 are needed", {}),
    (lambda: g.KullbackLeibler().modulus(-1.0), "the radius is -1; it must be a finite number > 0", {"value": -1.0}),
    (lambda: g.Mahalanobis([[1.0, 2.0], [2.0, 1.0]]), "the matrix is not positive definite", {"kind": "not-definite"}),
    (lambda: g.Mahalanobis([1.0, 2.0]), "the matrix has shape (2,); a square matrix is needed", {"found": (2,)}),
    (lambda: g.Mahalanobis(np.eye(2)).value([1.0]), "the point has 1 coordinates; 2 are needed", {}),
    (lambda: losses.get("logistic").value(0.0, 0.5), "the label is 0.5; it must be -1 or +1",
     {"kind": "scalar", "value": 0.5, "what": "the label"}),
    (lambda: losses.get("logistic").value([0.0, NAN], 1.0),
     "coordinate 1 of the prediction is NaN; it must be a finite number", {"index": 1}),
    (lambda: losses.get("squared").slope(0.0, [0.0, -INF]), "coordinate 1 of the label is -inf", {"value": -INF}),
    (lambda: losses.get("squared").slope([0.0, 1.0], [0.0, 1.0, 2.0]),
     "the label has shape (3,); it does not broadcast with the prediction of shape (2,)", {"kind": "shape"}),
    (lambda: losses.get("hinge").minimizer(2.0), "the label is 2; it must be -1 or +1", {}),
    (lambda: losses.Permissible("gini").phi(1.5), "the probability is 1.5; it must be in [0, 1]", {"value": 1.5}),
    (lambda: losses.Permissible("gini").margin(0.0, 0.0), "the label is 0; it must be -1 or +1", {}),
    (lambda: losses.Permissible("gini").transfer(NAN), "the score is NaN", {}),
    (lambda: losses.Custom(lambda m: m * m, lambda m: 2 * m).value(31.0, 1.0),
     "the prediction is 31; it must be in [-30, 30]", {"value": 31.0}),
]

CONFIG = [
    (lambda: g.Euclidean(0), "n = 0; it must be a whole number >= 1", {"kind": "out-of-range", "name": "n", "value": 0.0}),
    (lambda: g.Euclidean(-1), "n = -1; it must be a whole number >= 1", {"value": -1.0}),
    (lambda: g.Simplex(1), "n = 1; it must be a whole number >= 2", {"allowed": "a whole number >= 2"}),
    (lambda: g.Euclidean(10**30), "n = 1e30; it must be a whole number >= 1", {"value": 1e30}),
    (lambda: g.Sphere(3, radius=-2.0), "radius = -2; it must be a finite number > 0", {"name": "radius", "value": -2.0}),
    (lambda: g.Sphere(3, radius=NAN), "radius = NaN", {}),
    (lambda: g.Product([]), "factors is missing", {"kind": "missing", "name": "factors"}),
    (lambda: g.PNorm(3.0), "q = 3; it must be in (1, 2]", {"name": "q", "value": 3.0}),
    (lambda: g.PNorm("auto"), "n is missing: how many coordinates", {"kind": "missing"}),
    (lambda: g.PNorm("automatic", 3), "'q=automatic': a number or 'auto' expected at column 3", {"column": 3}),
    (lambda: g.get("spher", 3), "unknown geometry 'spher' (did you mean 'sphere'?)",
     {"kind": "unknown", "name": "spher", "nearest": "sphere", "known": g.names()}),
    (lambda: g.get("sphere(r=1)", 3), "unknown parameter 'r'", {"name": "r"}),
    (lambda: g.get("sphere(", 3), "'sphere(': a value expected at column 8", {"kind": "syntax", "column": 8}),
    (lambda: losses.get("hubber"), "unknown loss 'hubber' (did you mean 'huber'?)", {"nearest": "huber"}),
    (lambda: losses.get("huber", delta=0.0), "delta = 0; it must be a finite number > 0", {"name": "delta"}),
    (lambda: losses.get("huber", delat=1.0), "unknown parameter 'delat' (did you mean 'delta'?)", {}),
    (lambda: losses.get("huber(delta=1)", delta=1.0), "'huber(delta=1)': a name alone", {"column": 6}),
    (lambda: losses.Permissible("ginny"), "unknown permissible function 'ginny' (did you mean 'gini'?)", {}),
    (lambda: losses.Permissible("mu", mu=1.0), "mu = 1; it must be", {"value": 1.0}),
]


@pytest.mark.parametrize(
    ("error", "call", "message", "attributes"),
    [(geowalk.DomainError, *row) for row in DOMAIN] + [(geowalk.ConfigError, *row) for row in CONFIG],
    ids=[row[1][:50] for row in DOMAIN + CONFIG],
)
def test_message_and_attributes(error, call, message, attributes):
    with pytest.raises(error) as info:
        call()
    assert type(info.value) is error
    assert issubclass(error, ValueError)
    assert message in str(info.value)
    for name, value in attributes.items():
        assert getattr(info.value, name) == value, name
    again = pickle.loads(pickle.dumps(info.value))
    assert (type(again), str(again)) == (error, str(info.value))
    assert again.kind == info.value.kind


@pytest.mark.parametrize(
    "call",
    [
        lambda: g.Euclidean(1).check(["1.0"]),
        lambda: g.Euclidean(1).check([1.0 + 2.0j]),
        lambda: g.Euclidean(1).check([None]),
        lambda: g.Euclidean(1).check(np.array(["2020-01-01"], dtype="datetime64[D]")),
        lambda: g.Euclidean(1).check({}),
        lambda: g.Euclidean(2.5),
        lambda: g.Euclidean("3"),
        lambda: g.Euclidean(),
        lambda: g.Generator(),
        lambda: g.Product([3]),
        lambda: g.Product(3),
        lambda: g.get(3, 3),
        lambda: g.Euclidean(1).step([0.0], [0.0], "fast"),
        lambda: losses.get("squared").value("a", 1.0),
        lambda: losses.get("squared").value(1.0),
    ],
)
def test_wrong_types(call):
    with pytest.raises(TypeError):
        call()


def test_every_argument_is_checked(manifold):
    p, v = points(manifold, 1)
    p, v = p[0], v[0]
    q = manifold.exp(p, v)
    bad = p.copy()
    bad.flat[-1] = NAN
    far = p.copy()
    far.flat[0] = NAN
    calls = [
        ("exp", [p, v]), ("log", [p, q]), ("distance", [p, q]), ("inner", [p, v, v]), ("norm", [p, v]),
        ("gradient", [p, v]), ("transport", [p, q, v]), ("project", [p, v]), ("check", [p]), ("injectivity", [p]),
    ]
    for name, arguments in calls:
        for place in range(len(arguments)):
            for wrong in (bad, far, p[:-1], np.zeros(()), np.stack([p, bad])[None]):
                broken = [*arguments[:place], wrong, *arguments[place + 1 :]]
                with pytest.raises(geowalk.DomainError):
                    getattr(manifold, name)(*broken)


def test_memory_that_does_not_exist():
    with pytest.raises(MemoryError, match="1000000000000000 numbers"):
        g.Euclidean(10**15).origin()


def test_attributes_are_none_where_they_do_not_apply():
    assert geowalk.DomainError("mine").index is None
    assert geowalk.ConfigError("mine").needed is None
