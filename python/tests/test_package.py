"""The package itself: stubs, documentation, pickles, imports, threads."""

import ast
import copy
import doctest
import inspect
import pickle
import re
import subprocess
import sys
import threading
import time
from importlib.metadata import version
from pathlib import Path

import geowalk
import numpy as np
import pytest
from conftest import GENERATORS, MANIFOLDS
from geowalk import _geowalk, geometry, losses

PACKAGE = Path(geowalk.__file__).parent
STUB = ast.parse((PACKAGE / "_geowalk.pyi").read_text(encoding="utf-8"))
MODULES = [geowalk, geometry, losses]
OBJECTS = [
    *MANIFOLDS,
    *GENERATORS,
    *map(losses.get, losses.names()),
    *map(losses.Permissible, losses.permissible_names()),
    losses.get("huber", delta=1 / 3),
]


def public(namespace):
    return {name for name in namespace if not name.startswith("_")}


def stub_signature(function):
    """Names, kinds and defaults of the parameters in a stub, as in `inspect.signature`."""
    arguments = function.args
    names = [a.arg for a in arguments.args if a.arg not in ("self", "cls")]
    defaults = [ast.unparse(d) for d in arguments.defaults]
    written = dict(zip(names[len(names) - len(defaults) :], defaults))
    parts = [f"{name}={written[name]}" if name in written else name for name in names]
    return parts + ([f"**{arguments.kwarg.arg}"] if arguments.kwarg else [])


def signature(callable_):
    parts = []
    for parameter in inspect.signature(callable_).parameters.values():
        if parameter.name == "self":
            continue
        default = parameter.default
        name = f"**{parameter.name}" if parameter.kind is parameter.VAR_KEYWORD else parameter.name
        parts.append(name if default is parameter.empty else f"{name}={default!r}")
    return parts


def test_stubs_name_what_the_module_has():
    classes = {node.name: node for node in STUB.body if isinstance(node, ast.ClassDef)}
    functions = {node.name: node for node in STUB.body if isinstance(node, ast.FunctionDef)}
    assert public(vars(_geowalk)) == set(classes) | set(functions)
    for name, node in functions.items():
        assert signature(getattr(_geowalk, name)) == stub_signature(node), name
    for name, node in classes.items():
        cls = getattr(_geowalk, name)
        assert [base.id for base in node.bases] == [b.__name__ for b in cls.__bases__ if b is not object], name
        members = {}
        for item in node.body:
            if isinstance(item, ast.FunctionDef):
                members[item.name] = item
            elif isinstance(item, ast.AnnAssign):
                members[item.target.id] = None
        assert public(vars(cls)) == public(members), name
        for member, item in members.items():
            if item is None:
                continue
            found = inspect.getattr_static(cls, member)
            is_property = any(ast.unparse(d) == "property" for d in item.decorator_list)
            assert is_property == inspect.isgetsetdescriptor(found), f"{name}.{member}"
            if member == "__new__":
                assert signature(cls) == stub_signature(item), name
            elif not is_property and member != "__init__":  # which takes what a subclass takes
                assert signature(found) == stub_signature(item), f"{name}.{member}"
        final = any(ast.unparse(d) == "final" for d in node.decorator_list)
        if "__new__" in members and not issubclass(cls, ValueError):
            assert final
            with pytest.raises(TypeError, match="not an acceptable base type"):
                type("Mine", (cls,), {})


def test_every_parameter_and_answer_has_a_type():
    functions = [(STUB, node) for node in ast.walk(STUB) if isinstance(node, ast.FunctionDef)]
    for path in sorted(PACKAGE.glob("*.py")):
        module = ast.parse(path.read_text(encoding="utf-8"))
        for scope in (module, *(node for node in module.body if isinstance(node, ast.ClassDef))):
            functions += [(path.name, node) for node in scope.body if isinstance(node, ast.FunctionDef)]
    assert len(functions) > 200
    for place, node in functions:
        assert node.returns is not None, f"{place}: {node.name} says not what it gives"
        untyped = [a.arg for a in node.args.args + node.args.kwonlyargs if a.annotation is None and a.arg not in ("self", "cls", "_cls")]
        assert not untyped, f"{place}: {node.name}: {untyped}"


def documented():
    """Every public object with its documentation."""
    for module in [*MODULES, _geowalk]:
        yield module.__name__, module, module.__doc__
        for name in sorted(public(vars(module))):
            value = getattr(module, name)
            if inspect.ismodule(value):
                continue
            if callable(value):
                yield f"{module.__name__}.{name}", value, value.__doc__
            if inspect.isclass(value) and not issubclass(value, ValueError):
                # What it has from a class that is not public is documented nowhere else.
                own = [cls for cls in value.__mro__ if cls.__module__.startswith("geowalk")]
                for member in sorted(set().union(*(public(vars(cls)) for cls in own))):
                    found = inspect.getattr_static(value, member)
                    yield f"{module.__name__}.{name}.{member}", found, found.__doc__


@pytest.mark.parametrize(("name", "doc"), [(name, doc) for name, _, doc in documented()])
def test_documentation_examples(name, doc):
    assert doc, f"{name} has no documentation"
    test = doctest.DocTestParser().get_doctest(doc, {}, name, None, 0)
    written = []
    runner = doctest.DocTestRunner()
    runner.run(test, out=written.append)
    assert runner.failures == 0, "".join(written)


def test_documentation_has_an_example_and_a_reference():
    for name, value, doc in documented():
        if inspect.isclass(value) and not issubclass(value, ValueError):
            assert ">>>" in doc, name
            assert "Reference:" in doc, name
    for cls in (geometry.Manifold, geometry.Generator, losses.Loss, losses.Permissible):
        for member in public(vars(cls)):
            assert ">>>" in inspect.getattr_static(cls, member).__doc__, f"{cls.__name__}.{member}"


def test_all_is_all():
    for module in MODULES:
        # `geowalk.dask` is there once it has been imported.
        assert set(module.__all__) >= public(vars(module)) - {"annotations", "dask"}
        assert all(hasattr(module, name) for name in module.__all__)
    exported = set(geometry.__all__) | set(losses.__all__) | set(geowalk.__all__)
    internal = {"examine", "geometry", "geometry_names", "loss", "loss_names", "command", "load_bytes", "merge_bytes", "named_manifold", "walk_list"}
    internal |= {"Batch", "Boost", "Frame", "Online", "Tracker", "Tree", "Weigher", "probabilistic"}
    internal |= {"Trees", "compare_losses", "loss_interval", "Walker", "check_gradient", "check_laws", "minimize"}
    assert public(vars(_geowalk)) - internal <= exported


@pytest.mark.parametrize("thing", OBJECTS, ids=repr)
def test_pickle_copy_equality(thing):
    for protocol in range(2, pickle.HIGHEST_PROTOCOL + 1):
        again = pickle.loads(pickle.dumps(thing, protocol))
        assert type(again) is type(thing)
        assert again == thing
        assert hash(again) == hash(thing)
        assert repr(again) == repr(thing) == thing.spec
    assert copy.deepcopy(thing) == thing
    assert thing != "something else"


def test_different_things_are_different():
    assert len(set(OBJECTS)) == len(OBJECTS)
    assert geometry.Sphere(3) != geometry.Sphere(4)
    assert geometry.Sphere(3) != geometry.Sphere(3, radius=2.0)


def test_names_are_complete():
    built = {type(geometry.get(name, 3)) for name in geometry.names() if name not in ("product", "mahalanobis")}
    # A manifold without a class of its own is a Manifold, with all its methods.
    built = built - {geometry.Manifold} | {geometry.Product, geometry.Mahalanobis}
    classes = {getattr(geometry, name) for name in geometry.__all__} - {geometry.Manifold, geometry.Generator}
    assert built == {cls for cls in classes if inspect.isclass(cls)}
    assert geometry.get("mahalanobis(sigma=4 2; 2 10)", 2) == geometry.Mahalanobis([[4.0, 2.0], [2.0, 10.0]])


def test_version():
    assert geowalk.__version__ == version("geowalk")
    assert re.fullmatch(r"\d+\.\d+\.\d+", geowalk.__version__)
    assert (PACKAGE / "py.typed").exists()


def test_import_needs_numpy_only():
    code = """
import sys
import numpy
before = set(sys.modules)
import geowalk
new = {name.partition(".")[0] for name in set(sys.modules) - before}
print(sorted(new - set(sys.stdlib_module_names)))
"""
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "['geowalk']"


def test_without_numpy_it_is_an_import_error():
    code = "import sys; sys.modules['numpy'] = None\ntry:\n import geowalk\nexcept ImportError: print('ImportError')"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "ImportError"


def test_other_threads_run_during_a_batch():
    manifold = geometry.Spd(6)
    x = np.broadcast_to(manifold.origin(), (20_000, 6, 6)).copy()
    done = threading.Event()
    answers = []

    def work():
        answers.append(manifold.distance(x, x))
        done.set()

    thread = threading.Thread(target=work)
    ticks = 0
    thread.start()
    # With the lock held this loop would get no turn, or one per switch interval only after the batch.
    while not done.is_set():
        ticks += 1
        time.sleep(0.001)
    thread.join()
    assert ticks > 5
    assert np.array_equal(answers[0], np.zeros(len(x)))


def test_many_threads_get_the_same_answers():
    manifold = geometry.Simplex(50)
    p = np.random.default_rng(0).dirichlet(np.ones(50), 500)
    expected = manifold.distance(p, p[::-1])
    answers = [None] * 8

    def work(k):
        answers[k] = manifold.distance(p, p[::-1])

    threads = [threading.Thread(target=work, args=(k,)) for k in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert all(np.array_equal(answer, expected) for answer in answers)
