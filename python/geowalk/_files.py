"""Data and models in files."""

from __future__ import annotations

import json
import os
from collections.abc import Iterable, Sequence
from typing import Any, NamedTuple

import numpy as np

from . import _geowalk
from ._base import unplain
from ._batch import BoostClassifier, BoostRegressor, TreeClassifier, TreeRegressor
from ._experts import Hedge, NullVector
from ._natural import NaturalClassifier
from ._online import OnlineClassifier, OnlineRegressor, _labels
from ._winnow import Winnow

__all__ = ["Data", "load", "merge", "read", "walks"]


class Data(NamedTuple):
    """What `geowalk.read` gives: `X, y, *_ = geowalk.read(path)`.

    X       an array, or a scipy CSR matrix where rows are sparse
    y       labels: numbers, or names
    weight  importance weights, or None if all are 1
    names   of the columns of X, or None where they have none

    >>> from geowalk import Data
    >>> Data([[1.0], [2.0]], [0, 1])
    Data: 2 rows, 1 columns, labels 0 (1), 1 (1)

    Reference: the formats are those of `geowalk list formats`.
    """

    X: Any
    y: Any
    weight: Any = None
    names: Any = None

    def __repr__(self) -> str:
        shape = np.shape(self.X)
        width = shape[1] if len(shape) > 1 else 0
        parts = [f"{shape[0] if shape else 0} rows", f"{width} columns"]
        if self.names is not None:
            parts[-1] += f" ({', '.join(self.names[:3])}{', ...' if len(self.names) > 3 else ''})"
        labels, counts = np.unique(np.asarray(self.y), return_counts=True)
        if np.asarray(self.y).dtype.kind == "f" and len(labels) > 10:
            parts.append(f"labels {labels[0]:g} to {labels[-1]:g}")
        else:
            parts.append("labels " + ", ".join(f"{label} ({n})" for label, n in zip(labels[:5], counts)) + (", ..." if len(labels) > 5 else ""))
        return f"Data: {', '.join(parts)}{'' if self.weight is None else ', with weights'}"


def read(
    path: Any,
    label: str | None = None,
    format: str | None = None,
    header: bool = True,
    unlabelled: bool = False,
    nominal: Sequence[str] = (),
    text: Sequence[str] = (),
    *,
    missing: Iterable[str] = (),
    decimal: str = ".",
    thousands: str | None = None,
    separator: str | None = None,
    skip_lines: int = 0,
) -> Data:
    """Reads data with the readers of the command line: CSV, TSV, LIBSVM, VW text, JSON lines, Parquet, Arrow;
    compressed
    by gzip, zstd, bzip2 or xz; one path, several, or a pattern.

    label       the column of the label; otherwise the one named class, label, target or y
    format      otherwise told by the name of the file and its first bytes
    header      the first line of a table names its columns
    unlabelled  rows without a label are read, with NaN
    nominal     columns whose numbers are names
    text        columns of free text, split into words; a column of several words whose values mostly differ is split
                anyway
    missing     fields of a table that count as missing, besides the empty one and the usual words (NA, NaN, null, ?, -)
    decimal     the character before the decimals of numbers in a table
    thousands   the character between the thousands of numbers in a table, if there is one
    separator   the character between the fields of CSV; otherwise a comma, or a semicolon if the first line has no
                comma
    skip_lines  how many lines at the beginning of each text file are passed over, such as a title above the header

    >>> import geowalk, pathlib, tempfile
    >>> path = pathlib.Path(tempfile.mkdtemp()) / "tiny.csv"
    >>> _ = path.write_text("size,color,class\\n1.5,red,yes\\n2,blue,no\\n")
    >>> data = geowalk.read(path)
    >>> data.names, data.y
    (['size', 'color=red', 'color=blue'], array(['yes', 'no'], dtype='<U3'))
    """
    several = isinstance(path, (list, tuple))
    paths = [os.fspath(p) for p in (path if several else [path])]
    read = _geowalk.read(
        paths, label, format, header, unlabelled, list(nominal), list(text), list(missing), decimal, thousands, separator, skip_lines
    )
    y, weight, labels = read["y"], read["weight"], read["labels"]
    if labels is not None:
        named = np.array([*labels, ""])
        y = named[np.where(np.isnan(y), len(labels), y).astype(np.intp)]
    elif len(y) and np.isfinite(y).all() and (y == np.floor(y)).all() and np.abs(y).max() <= 1000:
        y = y.astype(np.int64)
    if "x" in read:
        X = read["x"]
    else:
        try:
            from scipy.sparse import csr_matrix
        except ImportError as error:
            raise ImportError("rows of this file are sparse, and a sparse matrix needs scipy: pip install scipy") from error
        parts = (read["data"], read["indices"].astype(np.int32), read["indptr"])
        X = csr_matrix(parts, shape=(len(y), read["columns"]))
    return Data(X, y, None if (weight == 1.0).all() else weight, read["names"])


def _classes(labels: list[Any], about: dict[str, Any]) -> np.ndarray:
    """Classes of a model file: as its estimator had them, or names, or numbers, whole ones as integers."""
    known = about.get("classes", [])
    given = dict(zip(_labels(np.array(known)), known)) if known else {}
    if given and all(label in given for label in labels):
        return np.array([given[label] for label in labels])
    classes = np.array(labels)
    whole = classes.dtype.kind == "f" and (classes == np.floor(classes)).all()
    return classes.astype(np.int64) if whole else classes


def load(path: Any) -> Any:
    """The estimator of a model file, whether `save` or the command `geowalk train`, `boost` or `tree` wrote it. It predicts the same bits, and on-line learners, Hedge and NullVector go on learning.

    >>> import geowalk, tempfile, os
    >>> path = os.path.join(tempfile.mkdtemp(), "model.gw")
    >>> model = geowalk.OnlineClassifier(walk="gd").fit([[0.0], [1.0]], ["no", "yes"])
    >>> model.save(path)
    >>> again = geowalk.load(path)
    >>> again, again.classes_, bool((again.coef_ == model.coef_).all())
    (OnlineClassifier(walk='gd'), array(['no', 'yes'], dtype='<U3'), True)
    """
    kind, data, text = _geowalk.load_bytes(os.fspath(path))
    about = {} if text is None else json.loads(text)
    estimator = _made(about)
    if kind in ("walk", "natural"):
        return _online(estimator, data, about)
    if kind in ("experts", "track"):
        return _stream(estimator, kind, data)
    learned = {"boost": _geowalk.Boost, "trees": _geowalk.Trees, "tree": _geowalk.Tree}[kind]
    model = learned.from_bytes(data)
    labels = model.labels()
    if estimator is None:
        own = dict(model.settings())
        estimator = _trees(own, bool(labels)) if kind == "trees" else _tree(own) if kind == "tree" else _boost(own)
    estimator._model = model
    if labels:
        estimator.classes_ = _classes(labels, about)
    _name(estimator, [name for name, _ in model.columns()])
    return estimator


def merge(models: Iterable[Any], weights: Iterable[float] | None = None, *, since: Any = None) -> Any:
    """One estimator made of several on-line estimators that were trained apart on rows of the same columns.

    models   `OnlineClassifier`s or `OnlineRegressor`s, or paths of model files, all with the same walk, loss and rate
    weights  what the weights of each model count; the rows that each learned from if they are not given
    since    the estimator that all of them continued: its rows count once

    The result predicts, goes on learning, and knows the metrics, intervals and first-order certificate of all rows.
    These speak of the predictions that were made before the merge. The mean of weights is a heuristic: it is made in
    the dual coordinates of the walk. Rules, trees, teams of walks and natural gradient have no mean and are refused.

    >>> import geowalk
    >>> a = geowalk.OnlineRegressor("gd", rate=0.25).partial_fit([[0.0]], [1.0])
    >>> b = geowalk.OnlineRegressor("gd", rate=0.25).partial_fit([[0.0]], [3.0])
    >>> both = geowalk.merge([a, b])
    >>> a.intercept_, b.intercept_, both.intercept_, both.summary_["examples"]
    (0.5, 1.5, 1.0, 2)

    Reference: McDonald et al., Efficient large-scale distributed training of conditional maximum entropy models, 2009.
    """
    named = [(f"models[{k}]", _estimator(model, f"models[{k}]")) for k, model in enumerate(models)]
    given = None if weights is None else [float(weight) for weight in weights]
    if given is not None and len(given) != len(named):
        raise ValueError(f"weights has {len(given)} numbers for {len(named)} models; give one for each")
    base = None if since is None else _estimator(since, "since")._learned.to_bytes()
    data = _geowalk.merge_bytes([(name, model._learned.to_bytes()) for name, model in named], given, base)
    abouts = [json.loads(model._about()) for _, model in named]
    about = abouts[0]
    if "classes" in about:
        every = {label: None for own in abouts for label in own["classes"]}
        about["closed"] = all(own["closed"] for own in abouts) and all(own["classes"] == about["classes"] for own in abouts)
        about["classes"] = sorted(every)
    return _online(_made(about), data, about)


def _estimator(model: Any, name: str) -> Any:
    """An on-line estimator, which may be given as a path."""
    if isinstance(model, (str, os.PathLike)):
        model = load(model)
    if not isinstance(model, (OnlineClassifier, OnlineRegressor)):
        raise TypeError(f"{name} is a {type(model).__name__}; OnlineClassifier, OnlineRegressor or a path is needed")
    return model


def _made(about: dict[str, Any]) -> Any:
    """The estimator that wrote the file, with its parameters; those that this version does not know are left out. None if there was none."""
    known = (OnlineClassifier, OnlineRegressor, NaturalClassifier, Winnow, BoostClassifier, BoostRegressor, TreeClassifier, TreeRegressor, Hedge, NullVector)
    cls = next((cls for cls in known if cls.__name__ == about.get("class")), None)
    if cls is None:
        return None
    return cls(**{name: unplain(value) for name, value in about["parameters"].items() if name in cls._parameters()})


def _bins(own: dict[str, str]) -> int | None:
    return int(own["bins"]) if "bins" in own else None


def _tree(own: dict[str, str]) -> TreeClassifier:
    """The estimator of a tree of the command."""
    return TreeClassifier(own["loss"], smoothing=float(own["smoothing"]), bins=_bins(own), seed=int(own["seed"]))


def _trees(own: dict[str, str], classes: bool) -> BoostClassifier | BoostRegressor:
    """The estimator of boosted trees of the command."""
    whole = {name: int(own[name]) for name in ("rounds", "leaves", "bins", "seed", "depth", "min_leaf")}
    parts = {name: float(own[name]) for name in ("rate", "ridge", "row_share", "column_share")}
    effective = own.get("effective_rows") == "true"
    known = {"weak": own.get("shape", "trees"), "leaf_step": own["leaf_step"], "effective_rows": effective, **whole, **parts}
    if known["weak"] == "rules":
        del known["leaves"]
    if not classes:
        return BoostRegressor(loss=own["loss"], **known)
    if known["weak"] == "rules":
        known["literals"] = known.pop("depth")
    return BoostClassifier(loss=None if own["loss"] == "softmax" else own["loss"], **known)


def _boost(own: dict[str, str]) -> BoostClassifier:
    """The estimator of a booster of the command."""
    return BoostClassifier(
        loss=own["loss"],
        weak=own["weak"],
        literals=int(own["literals"]),
        rounds=int(own["rounds"]),
        leverage=own["leverage"],
        adapt=None if own["adapt"] == "none" else own["adapt"],
        leaves=int(own["leaves"]),
        bins=_bins(own),
        seed=int(own["seed"]),
        plain=True if own["weak"] == "rules" else None,
        **{name: own[name] for name in ("search", "reduction", "separable")},
    )


def _name(estimator: Any, names: list[str]) -> None:
    """The columns of a model file. Those of an array are numbered in it: they have no names."""
    estimator.n_features_in_ = len(names)
    if names != [str(k) for k in range(1, len(names) + 1)]:
        estimator.feature_names_in_ = np.array(names, dtype=object)


def _walked(own: dict[str, str]) -> Any:
    """The estimator of a model of `geowalk train`, which takes missing numbers."""
    seed, average = int(own["seed"]), own["average"] == "true"
    walk, loss, rate = own["walk"], own["loss"], own["rate"]
    if own["task"] == "regression":
        return OnlineRegressor(walk, loss, rate, passes=1, average=average, seed=seed)
    if own["kind"] == "natural":
        return NaturalClassifier(walk.removeprefix("natural:"), passes=1, seed=seed)
    return OnlineClassifier(walk, loss, rate, passes=1, average=average, seed=seed)


def _online(estimator: Any, data: bytes, about: dict[str, Any]) -> Any:
    closed = about.get("closed", False)
    model = _geowalk.Online.from_bytes(data, _labels(np.array(about["classes"])) if closed else None)
    own = dict(model.settings())
    if estimator is None:
        estimator = _walked(own)
    if own["task"] != "regression":
        estimator._closed = closed
        estimator._know(_classes(model.labels(), about).tolist())
    estimator._model, estimator._tabular = model, model.is_table
    if model.is_table:
        _name(estimator, [name for name, _ in model.columns()])
    else:
        estimator._from_dicts = not model.by_number
        if "n_features_in" in about:
            estimator.n_features_in_ = about["n_features_in"]
        else:
            estimator._any_width = True
            if model.by_number:
                estimator.n_features_in_ = model.weights().shape[1] - 1
    return estimator


def _rate(text: str) -> Any:
    """A rate as one writes it: a number, or a text."""
    try:
        return float(text)
    except ValueError:
        return text


def _stream(estimator: Any, kind: str, data: bytes) -> Any:
    if kind == "experts":
        model = _geowalk.Weigher.from_bytes(data)
        walk, rate, loss, share, span = model.settings()
        hedge = estimator or Hedge(walk, _rate(rate), loss, share, span)
        hedge._model, hedge.n_features_in_ = model, len(model.weights())
        return hedge
    tracker, names = _geowalk.Tracker.from_bytes(data)
    walk, rate, seed = tracker.settings()
    vector = estimator or NullVector(walk, _rate(rate), seed)
    vector._model = tracker
    _name(vector, names)
    return vector


def walks() -> list[dict[str, Any]]:
    """All walks, as `geowalk list walks` prints them: name, aliases, parameters, summary, source.

    >>> import geowalk
    >>> [walk["name"] for walk in geowalk.walks()][:2]
    ['free:euclidean', 'explicit:adaptive']
    """
    keys = ("name", "aliases", "parameters", "summary", "source")
    return [dict(zip(keys, walk)) for walk in _geowalk.walk_list()]
