"""Learners of whole tables as estimators: boosted rules and decision trees."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from . import _columns as c
from . import _validate as v
from ._base import Estimator, write_page
from ._geowalk import Boost, Loss, Tree

__all__ = ["BoostClassifier", "TreeClassifier"]


class _Batch(Estimator):
    """What boosting and trees share."""

    _kind = "classifier"
    _allow_nan = True

    def _columns(self, X: Any, first: bool) -> tuple[list[str] | None, list[Any], int]:
        X = X if first else self._named(X)
        if v.is_sparse(X):
            return None, self._sparse_columns(X, first), X.shape[0]
        table = c.table_of(X)
        if table is None:
            array = v.parts(X)
            self._check_width(array.shape[1], first)
            numbers = [np.ascontiguousarray(array[:, k], dtype=np.float64) for k in range(array.shape[1])]
            if first or all(kind == "numeric" for _, kind in self._model.columns()):
                return None, numbers, array.shape[0]
            table = c.Table([c.Column(str(k + 1), "number", own) for k, own in enumerate(numbers)], False, len(array))
        self._check_width(len(table.columns), first)
        shown = [own.name for own in table.columns] if table.named else None
        v.refuse_infinity([own.values if own.kind == "number" else np.zeros(0) for own in table.columns], shown, table.labels)
        nominal, text = v.names_list(self, "nominal"), v.names_list(self, "text")
        if first:
            rules = c.Rules(nominal, text)
        else:
            known = self._model.columns()
            table = table._replace(columns=[own._replace(name=name) for own, (name, _) in zip(table.columns, known)])
            rules = c.Rules(nominal, text, dict(known), self._model.knows)
        return shown, c.coded(table, rules), table.rows

    def _check_width(self, found: int, first: bool) -> None:
        if not first and found != self.n_features_in_:
            raise ValueError(
                f"X has {found} features, but {type(self).__name__} is expecting {self.n_features_in_} features as input."
            )

    def _sparse_columns(self, X: Any, first: bool) -> list[Any]:
        """The columns of a sparse matrix: of each the rows whose number is not 0, and these numbers."""
        v.parts(X)  # refuses what is no table of numbers
        rows, width = X.shape
        self._check_width(width, first)
        by_column = X.tocsc(copy=True)
        by_column.sum_duplicates()
        at, values = by_column.indices.astype(np.uint32), by_column.data.astype(np.float64)
        ends = by_column.indptr.tolist()
        return [c.Stored((at[start:end], values[start:end], rows)) for start, end in zip(ends, ends[1:])]

    def fit(self, X: Any, y: Any, sample_weight: Any = None) -> Any:
        """Learns from a table. Numbers may be missing (NaN), columns may hold names. Ctrl-C stops it within a second; what was learned until then stays.

        >>> from geowalk import TreeClassifier
        >>> TreeClassifier().fit([[0.0], [1.0]], ["no", "yes"]).classes_
        array(['no', 'yes'], dtype='<U3')
        """
        for name in ("_model", "feature_names_in_"):
            self.__dict__.pop(name, None)
        self._check_whole()
        names, columns, rows = self._columns(X, True)
        label = v.target(y, "class")
        y = v.column(y, rows, self)
        v.check_classes(y)
        w = v.weights(sample_weight, rows)
        if w is not None and not (w > 0).all():
            kept = w > 0
            columns = [c.kept(column, kept) for column in columns]
            y, w = y[kept], w[kept]
        classes, codes = np.unique(y, return_inverse=True)
        if len(classes) < 2:
            raise v.one_class(classes, len(y))
        from ._online import _labels

        numbered = names if names is not None else [str(k) for k in range(1, len(columns) + 1)]
        nominal, text = c.declared(self, numbered, columns)
        self._model = self._learn(
            numbered, columns, codes.ravel().astype(np.float64), _labels(classes), w, label=label, nominal=nominal, text=text
        )
        self.classes_, self.n_features_in_ = classes, len(columns)
        if names is not None:
            self.feature_names_in_ = np.array(names, dtype=object)
        # Whoever has stopped it has what was learned until then.
        self._model.raise_if_stopped()
        return self

    def _learn(self, names: list[str], columns: list[Any], y: np.ndarray, classes: list[Any], w: Any, **table: Any) -> Any:
        raise NotImplementedError

    def get_feature_names_out(self, input_features: Any = None) -> np.ndarray:
        """The names of what rules and splits ask about: columns, and `column=word` of texts. Columns without names
        are x0, x1, ...

        >>> from geowalk import TreeClassifier
        >>> TreeClassifier().fit([[0.0, 2.0], [1.0, 3.0]], [0, 1]).get_feature_names_out()
        array(['x0', 'x1'], dtype=object)
        """
        names = self._learned.names()
        return np.array(names if hasattr(self, "feature_names_in_") else v.unnumbered(names), dtype=object)

    def predict(self, X: Any) -> np.ndarray:
        """The predicted classes.

        >>> from geowalk import TreeClassifier
        >>> TreeClassifier().fit([[0.0], [1.0]], [0, 1]).predict([[0.2], [0.9]])
        array([0, 1])
        """
        model = self._learned
        return self.classes_[model.predict(self._columns(X, False)[1])]

    def predict_proba(self, X: Any) -> np.ndarray:
        """The probability of every class, in the order of `classes_`.

        >>> from geowalk import TreeClassifier
        >>> TreeClassifier().fit([[0.0], [1.0]], [0, 1]).predict_proba([[0.2]]).sum()
        np.float64(1.0)
        """
        model = self._learned
        return model.probabilities(self._columns(X, False)[1])

    def score(self, X: Any, y: Any, sample_weight: Any = None) -> float:
        """The share of rows whose class is predicted.

        >>> from geowalk import TreeClassifier
        >>> TreeClassifier().fit([[0.0], [1.0]], [0, 1]).score([[0.0], [1.0]], [0, 1])
        1.0
        """
        found = self.predict(X)
        y = v.column(y, len(found), self)
        return float(np.average(found == y, weights=v.weights(sample_weight, len(y))))

    def _shown(self, feature_names: Any) -> list[str] | None:
        """The names of columns where they are shown: those that are given, or x0, x1, ... of columns without names."""
        if feature_names is not None:
            return [str(name) for name in feature_names]
        return None if hasattr(self, "feature_names_in_") else [f"x{k}" for k in range(self.n_features_in_)]

    def report(self, path: Any, X: Any = None, y: Any = None, feature_names: Any = None) -> None:
        """Writes one self-contained HTML page: what was learned, how it went, what is promised. With rows X and their classes y, best those that it has not seen, also margins and calibration.

        It is the page of `geowalk boost --report` and `geowalk tree --report`; models that were loaded have it as well.

        >>> import geowalk, pathlib, tempfile
        >>> path = pathlib.Path(tempfile.mkdtemp()) / "report.html"
        >>> geowalk.TreeClassifier().fit([[0.0], [1.0]], [0, 1]).report(path, [[0.1], [0.7]], [0, 1])
        >>> "Reliability" in path.read_text(encoding="utf-8")
        True
        """
        model, how = self._learned, f"{self!r}.fit(X, y)"
        if X is None or y is None:
            if X is not None or y is not None:
                raise ValueError("X and y go together: margins are known from both")
            return write_page(path, model.page(how, names=self._shown(feature_names)))
        _, columns, rows = self._columns(X, False)
        y = v.column(y, rows, self)
        places = {label: float(code) for code, label in enumerate(self.classes_.tolist())}
        unknown = sorted({repr(label) for label in y.tolist() if label not in places})
        if unknown:
            raise ValueError(f"y has the classes {', '.join(unknown[:5])}, which are not among {self.classes_.tolist()[:10]}")
        codes = np.array([places[label] for label in y.tolist()])
        return write_page(path, model.page(how, columns, codes, self._shown(feature_names)))

    def write(self, form: str = "text", feature_names: Any = None) -> str:
        """What was learned: as text for people, or as `json`, `sql` or `dot` (Graphviz). `feature_names` are other
        names for the columns; those
        of an array are x0, x1, ... otherwise.

        >>> from geowalk import TreeClassifier
        >>> print(TreeClassifier().fit([[0.0], [1.0]], [0, 1]).write("sql").splitlines()[0])
        -- Decision tree for sqlite, table "data"
        """
        return self._learned.write(form, self._shown(feature_names))


class BoostClassifier(_Batch):
    """Rules with leverages, boosted with any strictly convex loss; they can be read as sentences.

    H(x) = sum of alpha_j h_j(x); in each round the rule with the largest edge over the weights of the examples is found, and its leverage moved to the minimum of the loss.

    loss      a balanced convex loss (matsushita, gini, entropy, mu, nu, zeta), or exponential, logistic, squared; or your own, a geowalk.losses.Custom
    weak      'rules', 'stumps', 'trees' or 'columns'
    literals  tests in a rule
    leaves    of a small tree, with weak='trees'
    rounds    how many rounds
    leverage  'one', 'all' or how many leverages move in a round
    adapt     None, or which losses are chosen while boosting: 'F1', 'F2', 'E1', 'E2', 'F*'
    bins      thresholds between so many quantiles; None: between all values
    seed      of whatever is random
    nominal   columns whose numbers are names
    text      columns of free text, split into words; a column of several words whose values mostly differ is split
              anyway

    >>> import numpy as np
    >>> from geowalk import BoostClassifier
    >>> X = np.random.default_rng(0).standard_normal((300, 3))
    >>> y = (X[:, 0] > 0) & (X[:, 1] > 0)
    >>> model = BoostClassifier(rounds=5).fit(X, y)
    >>> model.score(X, y) > 0.95, len(model.rules_) > 0
    (True, True)

    Reference: Nock and Nielsen, Intrinsic geometries in learning, 2009; Schapire and Singer, Improved boosting algorithms using confidence-rated predictions, 1999.
    """

    def __init__(
        self,
        loss: str | Loss = "matsushita",
        weak: str = "rules",
        literals: int = 2,
        rounds: int = 10,
        leverage: str | int = "one",
        adapt: str | None = None,
        leaves: int = 4,
        bins: int | None = 255,
        seed: int = 0,
        nominal: Sequence[str] = (),
        text: Sequence[str] = (),
    ) -> None:
        self.loss, self.weak, self.literals, self.rounds = loss, weak, literals, rounds
        self.leverage, self.adapt, self.leaves, self.bins, self.seed = leverage, adapt, leaves, bins, seed
        self.nominal, self.text = nominal, text

    _whole = {"literals": 1, "rounds": 1, "leaves": 2, "bins": 0, "seed": 0}
    _optional = ("bins",)

    def _learn(self, names: list[str], columns: list[Any], y: np.ndarray, classes: list[Any], w: Any, **table: Any) -> Any:
        return Boost(
            names,
            columns,
            y,
            classes,
            w,
            loss=self.loss,
            weak=self.weak,
            literals=self.literals,
            leaves=self.leaves,
            rounds=self.rounds,
            leverage=str(self.leverage),
            adapt=self.adapt,
            bins=self.bins or 0,
            seed=self.seed,
            **table,
        )

    @property
    def rules_(self) -> list[str]:
        """The rules as sentences."""
        return [line for line in self.write().splitlines() if line and not line.endswith(":")]

    def decision_function(self, X: Any) -> np.ndarray:
        """The score of the second of two classes, or one of every class.

        >>> from geowalk import BoostClassifier
        >>> BoostClassifier(rounds=1).fit([[0.0], [1.0]], [0, 1]).decision_function([[0.0], [1.0]]).shape
        (2,)
        """
        model = self._learned
        return model.scores(self._columns(X, False)[1])


class TreeClassifier(_Batch):
    """A decision tree, grown where it lowers a permissible function phi most: cost = sum over leaves of mass * phi(share).

    loss        a permissible function (matsushita, gini, entropy, mu, nu, zeta), or exponential, squared, logistic
    max_leaves  at most so many leaves
    max_depth   at most so many tests on the way to a leaf
    min_leaf    at least so many rows in a leaf
    prune       the part of the data that is kept aside to prune by
    bins        thresholds between so many quantiles; None: between all values
    smoothing   kappa of the probabilities (m + kappa) / (n + classes * kappa), m and n in rows, whatever the scale of
                their weights
    seed        of the part that is kept aside
    nominal     columns whose numbers are names
    text        columns of free text, split into words; a column of several words whose values mostly differ is split
                anyway

    >>> import numpy as np
    >>> from geowalk import TreeClassifier
    >>> X = np.random.default_rng(0).standard_normal((300, 2))
    >>> y = (X[:, 0] > 0) & (X[:, 1] > 0)
    >>> TreeClassifier(max_leaves=3).fit(X, y).score(X, y)
    1.0

    Reference: Kearns and Mansour, On the boosting ability of top-down decision tree learning algorithms, 1999.
    """

    def __init__(
        self,
        loss: str = "matsushita",
        max_leaves: int | None = None,
        max_depth: int | None = None,
        min_leaf: int = 1,
        prune: float | None = None,
        bins: int | None = None,
        smoothing: float = 1.0,
        seed: int = 0,
        nominal: Sequence[str] = (),
        text: Sequence[str] = (),
    ) -> None:
        self.loss, self.max_leaves, self.max_depth, self.min_leaf = loss, max_leaves, max_depth, min_leaf
        self.prune, self.bins, self.smoothing, self.seed = prune, bins, smoothing, seed
        self.nominal, self.text = nominal, text

    _whole = {"max_leaves": 1, "max_depth": 0, "min_leaf": 1, "bins": 2, "seed": 0}
    _optional = ("max_leaves", "max_depth", "bins")

    def _learn(self, names: list[str], columns: list[Any], y: np.ndarray, classes: list[Any], w: Any, **table: Any) -> Any:
        return Tree(names, columns, y, classes, w, **{**self.get_params(), **table})

    @property
    def feature_importances_(self) -> np.ndarray:
        """What each column gained, as parts of 1."""
        return self._learned.importance()
