"""What the tests share: one of each manifold, generator and loss, and points on them."""

import json
import os
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest
from geowalk import geometry as g

ROOT = Path(__file__).resolve().parents[2]
GOLDEN = ROOT / "crates" / "geowalk" / "tests" / "golden"

MANIFOLDS = [
    g.Euclidean(3),
    g.Sphere(3),
    g.Sphere(4, radius=2.5),
    g.Simplex(3),
    g.PositiveOrthant(3),
    g.Hyperboloid(3),
    g.PoincareBall(3),
    g.Spd(2),
    g.Product([g.Sphere(3), g.Euclidean(2), g.Spd(2)]),
]
GENERATORS = [
    g.SquaredEuclidean(),
    g.KullbackLeibler(),
    g.SimplexEntropy(),
    g.ItakuraSaito(),
    g.Mahalanobis([[2.0, 0.5, 0.0], [0.5, 1.0, 0.1], [0.0, 0.1, 3.0]]),
    g.PNorm(1.5),
]


def points(manifold, count, seed=0):
    """Random points near the origin, and a tangent vector at each."""
    random = np.random.default_rng(seed)
    shape = (count, *manifold.origin().shape)
    start = np.broadcast_to(manifold.origin(), shape)
    walk = 0.3 * manifold.project(start, random.standard_normal(shape))
    if manifold.spec == "simplex":
        walk *= 0.2
    p = manifold.exp(start, walk)
    v = 0.2 * manifold.project(p, random.standard_normal(shape))
    if manifold.spec == "simplex":
        v *= p.min()
    return p, v


def weights(generator, count, seed=0):
    """Random weights in the domain of a generator, n = 3."""
    random = np.random.default_rng(seed)
    if generator.spec == "simplex-entropy":
        return random.dirichlet(np.ones(3), count)
    if generator.spec in ("entropy", "burg"):
        return random.gamma(2.0, size=(count, 3))
    return random.standard_normal((count, 3))


def golden(name):
    return json.loads((GOLDEN / f"{name}.json").read_text())["cases"]


@pytest.fixture(params=MANIFOLDS, ids=repr)
def manifold(request):
    return request.param


@pytest.fixture(params=GENERATORS, ids=lambda generator: type(generator).__name__)
def generator(request):
    return request.param


def shared(name):
    """A file of real data, where it is at hand: `$GEOWALK_SHARED/data` or `../shared/data` beside the repository. The test is skipped without."""
    folder = Path(os.environ.get("GEOWALK_SHARED", ROOT.parent / "shared")) / "data"
    if not (folder / name).exists():
        pytest.skip(f"no {name} in {folder} (set GEOWALK_SHARED)")
    return folder / name


def command(*arguments, check=True):
    """Runs the command that comes with the package."""
    done = subprocess.run(
        [sys.executable, "-m", "geowalk._command", *map(str, arguments)], capture_output=True, text=True, check=False
    )
    assert not check or done.returncode == 0, done.stderr
    return done


def arrays(path):
    """The arrays of a model file, by name: the format is documented, and needs no geowalk to be read."""
    data = Path(path).read_bytes()
    size = int.from_bytes(data[:8], "little")
    header = json.loads(data[8 : 8 + size])
    dtypes = {"F64": "<f8", "U8": "u1", "U16": "<u2", "U32": "<u4", "U64": "<u8"}
    found = {}
    for name, about in header.items():
        if name != "__metadata__":
            start, end = (8 + size + at for at in about["data_offsets"])
            found[name] = np.frombuffer(data[start:end], dtypes[about["dtype"]])
    return found


def same_bits(a, b):
    """Have two model files the same arrays, bit for bit?"""
    a, b = arrays(a), arrays(b)
    assert sorted(a) == sorted(b) != []
    for name in a:
        assert a[name].tobytes() == b[name].tobytes(), name
    return True
