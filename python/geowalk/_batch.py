"""Learners of whole tables as estimators: boosted rules and decision trees."""

from __future__ import annotations

import json
from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np

from . import _columns as c
from . import _validate as v
from ._base import Estimator, write_page
from ._geowalk import Boost, ConfigError, Loss, Tree, Trees

__all__ = ["BoostClassifier", "BoostRegressor", "Rule", "TreeClassifier", "TreeRegressor"]


class Rule(NamedTuple):
    """A rule of a booster, or another feature that it adds."""

    condition: str
    """When it is true."""
    votes_for: str
    """The class that it votes for where it is true; it votes for the other one where it is not."""
    weight: float
    """How much."""
    rows: int | None
    """Of how many training rows it is true; None in models of older versions."""
    share: float | None
    """The share of these rows that is of the class it votes for."""
    text: str
    """All of it as a sentence."""

    def __str__(self) -> str:
        return self.text


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
        return self._fit(X, y, sample_weight)

    def _fit(self, X: Any, y: Any, sample_weight: Any, held: np.ndarray | None = None) -> Any:
        for name in ("_model", "feature_names_in_"):
            self.__dict__.pop(name, None)
        self._check_whole()
        names, columns, rows = self._columns(X, True)
        label = v.target(y, self._label)
        y = v.column(y, rows, self)
        w = v.weights(sample_weight, rows)
        if w is not None and not (w > 0).all():
            kept = w > 0
            columns = [c.kept(column, kept) for column in columns]
            y, w = y[kept], w[kept]
            held = None if held is None else held[kept]
        classes, codes, labels = self._coded(y)
        w = w if classes is None else v.class_weighted(self, y, w, classes)
        if w is not None and not (w > 0).all():
            raise ValueError("class_weight gives a class the weight 0; leave its rows out instead")
        numbered = names if names is not None else [str(k) for k in range(1, len(columns) + 1)]
        nominal, text = c.declared(self, numbered, columns)
        table = {} if held is None else {"held": held.tolist()}
        table.update(label=label, nominal=nominal, text=text)
        self._model = self._learn(numbered, columns, codes, labels, w, **table)
        if classes is not None:
            self.classes_ = classes
        self.n_features_in_ = len(columns)
        if names is not None:
            self.feature_names_in_ = np.array(names, dtype=object)
        # Whoever has stopped it has what was learned until then.
        self._model.raise_if_stopped()
        return self

    _label = "class"

    def _coded(self, y: np.ndarray) -> tuple[Any, np.ndarray, list[Any]]:
        """The classes, the number of each row's, and the labels of the classes."""
        from ._online import _labels

        v.check_classes(y)
        classes, codes = np.unique(y, return_inverse=True)
        if len(classes) < 2:
            raise v.one_class(classes, len(y))
        return classes, codes.ravel().astype(np.float64), _labels(classes)

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

    def predict_log_proba(self, X: Any) -> np.ndarray:
        """The logarithms of `predict_proba`.

        >>> from geowalk import TreeClassifier
        >>> TreeClassifier().fit([[0.0], [1.0]], [0, 1]).predict_log_proba([[0.2]]).shape
        (1, 2)
        """
        with np.errstate(divide="ignore"):
            return np.log(self.predict_proba(X))

    def explain(self, X: Any) -> list[str]:
        """Why each row is predicted to be what it is, in one sentence each.

        >>> from geowalk import TreeClassifier
        >>> TreeClassifier().fit([[0.0], [1.0]], ["no", "yes"]).explain([[0.2]])
        ['no because x0 <= 0.5: 1 of 1 in training']
        """
        model = self._learned
        return model.explain(self._columns(X, False)[1], self._shown(None))

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


def _joined(X: Any, V: Any) -> Any:
    """The rows of X, then those of V."""
    if hasattr(X, "iloc"):
        import pandas

        return pandas.concat([X, V], ignore_index=True)
    if type(X).__module__.split(".")[0] == "polars":
        import polars

        return polars.concat([X, V])
    if v.is_sparse(X):
        import scipy.sparse

        return scipy.sparse.vstack([X, V]).tocsr()
    return np.concatenate([np.asarray(X), np.asarray(V)])


class _BoostedTrees(_Batch):
    """What estimators of boosted trees share."""

    _TREES = (
        "rate", "depth", "ridge", "row_share", "column_share", "min_leaf", "effective_rows", "leaf_step", "patience",
        "hold_out", "weak",
    )
    _whole = {"rounds": 1, "leaves": 2, "depth": 1, "min_leaf": 1, "patience": 1, "bins": 2, "seed": 0}
    _optional = ("rounds", "leaves", "depth", "min_leaf", "patience", "bins")

    def _seed(self) -> int:
        return int(self.seed if self.random_state is None else self.random_state)

    def _trees(self, names: list[str], columns: list[Any], y: np.ndarray, classes: list[Any], w: Any, **table: Any) -> Any:
        if self.bins is None:
            raise ConfigError("bins = None; trees need bins, 2 to 254 of them")
        return Trees(
            names,
            columns,
            y,
            classes,
            w,
            loss=self.loss,
            bins=min(int(self.bins), 254),
            seed=self._seed(),
            **self._constraints(names),
            **self._settings(),
            **table,
        )

    def _constraints(self, names: list[str]) -> dict[str, Any]:
        """Columns in which the score must rise or fall, and those that may meet, by the names that the model has."""
        shown = {name: k for k, name in enumerate(self._shown_names(names))}

        def place(column: Any) -> str:
            if isinstance(column, str):
                if column not in shown:
                    raise ConfigError(f"unknown column {column!r}; known: {', '.join(list(shown)[:10])}")
                return names[shown[column]]
            if not 0 <= int(column) < len(names):
                raise ConfigError(f"column {column} of {len(names)} columns; they are numbered from 0")
            return names[int(column)]

        signs = getattr(self, "monotonic_cst", None)
        if signs is not None and not isinstance(signs, dict):
            if len(signs) != len(names):
                raise ConfigError(f"monotonic_cst has {len(signs)} values for {len(names)} columns")
            signs = dict(enumerate(signs))
        signs = {place(column): sign for column, sign in (signs or {}).items()}
        wrong = [sign for sign in signs.values() if sign not in (-1, 0, 1)]
        if wrong:
            raise ConfigError(f"monotonic_cst holds {wrong[0]!r}; it takes 1 (rising), -1 (falling) and 0")
        groups = getattr(self, "interaction_cst", None)
        if isinstance(groups, str):
            if groups != "no_interactions":
                raise ConfigError(f"interaction_cst = {groups!r}; it takes groups of columns, or 'no_interactions'")
            groups = [[column] for column in list(shown)[:1]]
        return {
            "increasing": [name for name, sign in signs.items() if sign == 1],
            "decreasing": [name for name, sign in signs.items() if sign == -1],
            "interactions": [[place(column) for column in group] for group in groups or ()],
        }

    def _shown_names(self, names: list[str]) -> list[str]:
        numbered = names == [str(k) for k in range(1, len(names) + 1)]
        return [f"x{k}" for k in range(len(names))] if numbered else names

    def _settings(self) -> dict[str, Any]:
        """What the parameters say of the trees."""
        own = {name: getattr(self, name) for name in ("rounds", "leaves", *self._TREES)}
        if self.learning_rate is not None:
            if self.rate is not None and self.rate != self.learning_rate:
                raise ConfigError(f"rate = {self.rate} and learning_rate = {self.learning_rate} are one parameter; give one of them")
            own["rate"] = self.learning_rate
        return own

    def _is_plain(self) -> bool:
        """Is the paper's plain algorithm asked for?"""
        return False

    def _fit_with(self, X: Any, y: Any, sample_weight: Any, eval_set: Any) -> Any:
        """Learns; with other rows that choose the number of rounds."""
        if eval_set is None:
            return self._fit(X, y, sample_weight)
        if self._is_plain():
            raise ValueError("eval_set goes with weak='trees', or with weak='rules' that are not plain")
        if self.rounds is not None:
            raise ValueError(f"rounds = {self.rounds} is exact: with eval_set leave rounds out, so that it is chosen")
        if isinstance(eval_set, list):
            if len(eval_set) != 1:
                raise ValueError(f"eval_set has {len(eval_set)} parts; give one, (X, y)")
            (eval_set,) = eval_set
        if isinstance(eval_set, np.ndarray) or len(eval_set) != 2:
            raise ValueError("eval_set is a pair (X, y)")
        more, labels = eval_set
        first, second = np.asarray(y), np.asarray(labels)
        if first.ndim != 1 or second.ndim != 1:
            raise ValueError("y, and that of eval_set, must be vectors")
        rows = len(first), len(second)
        held = np.repeat([False, True], rows)
        if sample_weight is not None:
            sample_weight = np.concatenate([v.weights(sample_weight, rows[0]), np.ones(rows[1])])
        joined = first.astype(object) if first.dtype.kind != second.dtype.kind else first
        unseen = [] if self._kind == "regressor" else sorted(set(second.tolist()) - set(first.tolist()), key=repr)
        if unseen:
            raise ValueError(f"eval_set has the class {unseen[0]!r}, which y does not have")
        return self._fit(_joined(X, more), np.concatenate([joined, second]), sample_weight, held)

    @property
    def n_rounds_(self) -> int:
        """How many rounds were made.

        >>> from geowalk import BoostRegressor
        >>> BoostRegressor(rounds=7).fit([[0.0], [1.0], [2.0]], [0.0, 1.0, 2.0]).n_rounds_
        7
        """
        model = self._learned
        return model.shape[0] if isinstance(model, Trees) else len(self.summary_["members"][0]["rounds"])

    @property
    def feature_importances_(self) -> np.ndarray:
        """What each column matters, as parts of 1: of trees what its splits gained, of rules how much they move the
        score.

        >>> from geowalk import BoostRegressor
        >>> X = [[k, 0.0] for k in range(20)]
        >>> BoostRegressor(rounds=3, min_leaf=1).fit(X, range(20)).feature_importances_
        array([1., 0.])
        """
        return self._learned.importance()


class _Regressor(_BoostedTrees):
    """What trees of numbers share."""

    _kind = "regressor"
    _label = "y"
    weak = "trees"

    def _coded(self, y: np.ndarray) -> tuple[Any, np.ndarray, list[Any]]:
        return None, v.numbers(y), []

    def _learn(self, names: list[str], columns: list[Any], y: np.ndarray, classes: list[Any], w: Any, **table: Any) -> Any:
        return self._trees(names, columns, y, classes, w, **table)

    def predict(self, X: Any) -> np.ndarray:
        """The predicted numbers.

        >>> from geowalk import TreeRegressor
        >>> TreeRegressor().fit([[0.0], [1.0]], [3.0, 5.0]).predict([[0.2], [0.9]])
        array([3., 5.])
        """
        model = self._learned
        return model.numbers(self._columns(X, False)[1])

    @property
    def predict_proba(self) -> Any:
        """Numbers have no probabilities: there is no such method."""
        raise AttributeError("numbers have no probabilities")

    @property
    def predict_log_proba(self) -> Any:
        """Nor is there this one."""
        raise AttributeError("numbers have no probabilities")

    def score(self, X: Any, y: Any, sample_weight: Any = None) -> float:
        """R^2: 1 less the squared error as a part of that of the mean.

        >>> from geowalk import TreeRegressor
        >>> TreeRegressor().fit([[0.0], [1.0]], [3.0, 5.0]).score([[0.0], [1.0]], [3.0, 5.0])
        1.0
        """
        found = self.predict(X)
        y = v.numbers(v.column(y, len(found), self))
        w = v.weights(sample_weight, len(y))
        spread = np.average((y - np.average(y, weights=w)) ** 2, weights=w)
        off = np.average((y - found) ** 2, weights=w)
        return float(1.0 - off / spread) if spread > 0 else float(off == 0)

    def report(self, path: Any, feature_names: Any = None) -> None:
        """Writes one self-contained HTML page: what was learned and how it went.

        >>> import geowalk, pathlib, tempfile
        >>> path = pathlib.Path(tempfile.mkdtemp()) / "report.html"
        >>> geowalk.TreeRegressor().fit([[0.0], [1.0]], [3.0, 5.0]).report(path)
        >>> "Loss by round" in path.read_text(encoding="utf-8")
        True
        """
        page = self._learned.page(f"{self!r}.fit(X, y)", names=self._shown(feature_names))
        return write_page(path, page)


class BoostClassifier(_BoostedTrees):
    """Boosted rules that can be read as sentences, or boosted trees, with any strictly convex loss.

    Each round adds a rule (of at most `literals` tests) or a tree whose values lower the loss; of several classes a rule votes
    for all of them. Without `rounds` held-out rows choose how many, then all rows are learned from.

    Plain rules, the paper's algorithm: H(x) = sum of alpha_j h_j(x); in each round the rule with the largest edge over the
    weights of the examples is found, and its leverage moved to the minimum of the loss. No shrinking, no sampling.

    loss      a balanced convex loss (matsushita, gini, entropy, mu, nu, zeta), or exponential, logistic, squared; or your own,
              a geowalk.losses.Custom; None: logistic, and matsushita if plain
    weak      'rules', 'trees', or, always plain, 'stumps', 'small-trees' (each one vote of +1 or -1 per leaf), 'columns'
    literals  tests in a rule; None: 3, of plain rules 2
    rounds    exactly so many rounds; None: as many as held-out rows want, and 10 if plain
    leverage  plain: 'one', 'all' or how many leverages move in a round
    adapt     plain: None, or which losses are chosen while boosting: 'F1', 'F2', 'E1', 'E2', 'F*'
    leaves    of a tree at most; None: 16, and 4 of small trees
    bins      thresholds between so many quantiles, of trees at most 254; None: between all values (plain)
    seed      of whatever is random
    nominal   columns whose numbers are names
    text      columns of free text, split into words; a column of several words whose values mostly differ is split
              anyway
    plain     True, False, or None: True if `rounds` is given or a parameter that only the plain algorithm has

    Of rules and trees that are not plain (None is the default of the task):

    rate          how much of each step is taken, 0 to 1
    depth         tests on the way to a leaf at most
    ridge         the ridge of leaf values
    row_share     the share of the rows that each tree is grown on; its values come from all rows
    column_share  the share of the columns that each node looks at
    min_leaf      rows of a leaf at least
    effective_rows  count the rows of a leaf by how hard they are to tell
    leaf_step     'newton', 'exact' or 'kl'
    patience      rounds without improvement on held-out rows
    hold_out      the share of rows that is held out to choose the rounds, instead of folds
    vector        several classes: one tree votes for all, instead of one for each
    monotonic_cst    columns in which the score must rise (1) or fall (-1): a dictionary by name or number, or a list
    interaction_cst  groups of columns that may meet in a rule or on the way to a leaf; others stay alone
    random_state  another name of the seed, as scikit-learn has it
    learning_rate  another name of the rate
    class_weight  None, 'balanced' (each class counts as much as any other) or a dictionary of weights by class: they
                  multiply those of the rows

    Of the plain algorithm:

    search        how tests are compared: 'edge', 'screened(K)' or 'exact'
    reduction     several classes: 'ova', one against the rest, or 'mh', one row per class (usually far less accurate)
    separable     a rule that never errs: 'cap' its leverage, 'stop' there, or 'error'
    abstain       rules abstain where a value is missing
    until         stop when the bound on the training error is this small
    by            what `adapt` chooses losses by: 'held-out', the surrogate of a fifth of the rows (then all rows are learned from),
                  or 'training', the training error as in the paper
    mu, nu        of the losses that `adapt` chooses among

    >>> import numpy as np
    >>> from geowalk import BoostClassifier
    >>> X = np.random.default_rng(0).standard_normal((300, 3))
    >>> y = (X[:, 0] > 0) & (X[:, 1] > 0)
    >>> model = BoostClassifier(rounds=5).fit(X, y)
    >>> model.score(X, y) > 0.95, len(model.rules_) > 0
    (True, True)
    >>> BoostClassifier().fit(X, y).score(X, y) > 0.98
    True
    >>> BoostClassifier(weak="trees").fit(X, y).score(X, y) > 0.98
    True

    Reference: Nock and Nielsen, Intrinsic geometries in learning, 2009; Schapire and Singer, Improved boosting algorithms using confidence-rated predictions, 1999.
    """

    def __init__(
        self,
        loss: str | Loss | None = None,
        weak: str = "rules",
        literals: int | None = None,
        rounds: int | None = None,
        leverage: str | int = "one",
        adapt: str | None = None,
        leaves: int | None = None,
        bins: int | None = 255,
        seed: int = 0,
        nominal: Sequence[str] = (),
        text: Sequence[str] = (),
        rate: float | None = None,
        depth: int | None = None,
        ridge: float | None = None,
        row_share: float | None = None,
        column_share: float | None = None,
        min_leaf: int | None = None,
        effective_rows: bool | None = None,
        leaf_step: str = "newton",
        patience: int | None = None,
        hold_out: float | None = None,
        random_state: int | None = None,
        learning_rate: float | None = None,
        class_weight: Any = None,
        plain: bool | None = None,
        vector: bool = False,
        monotonic_cst: Any = None,
        interaction_cst: Any = None,
        search: str = "edge",
        reduction: str = "ova",
        separable: str = "cap",
        abstain: bool = False,
        until: float | None = None,
        mu: float = 0.5,
        nu: float = 0.25,
        by: str = "held-out",
    ) -> None:
        self.plain, self.vector, self.monotonic_cst, self.interaction_cst = plain, vector, monotonic_cst, interaction_cst
        self.search, self.reduction, self.separable, self.abstain = search, reduction, separable, abstain
        self.until, self.mu, self.nu, self.by = until, mu, nu, by
        self.learning_rate, self.class_weight = learning_rate, class_weight
        self.loss, self.weak, self.literals, self.rounds = loss, weak, literals, rounds
        self.leverage, self.adapt, self.leaves, self.bins, self.seed = leverage, adapt, leaves, bins, seed
        self.nominal, self.text = nominal, text
        self.rate, self.depth, self.ridge, self.row_share, self.column_share = rate, depth, ridge, row_share, column_share
        self.min_leaf, self.effective_rows, self.leaf_step = min_leaf, effective_rows, leaf_step
        self.patience, self.hold_out, self.random_state = patience, hold_out, random_state

    _whole = {**_BoostedTrees._whole, "literals": 1, "bins": 0}
    _optional = (*_BoostedTrees._optional, "literals")

    def _plain_alone(self) -> list[str]:
        """Parameters that only the plain algorithm has, and that are not as they were."""
        usual = {
            "leverage": "one", "adapt": None, "search": "edge", "reduction": "ova", "separable": "cap", "abstain": False,
            "until": None, "mu": 0.5, "nu": 0.25,
        }
        own = [name for name, value in usual.items() if getattr(self, name) != value]
        return own if self.bins is not None else [*own, "bins"]

    def _chosen_alone(self) -> list[str]:
        """Parameters that the plain algorithm does not have, and that are not as they were."""
        usual = {name: None for name in self._TREES if name not in ("weak", "patience", "hold_out")}
        usual |= {"leaf_step": "newton", "vector": False, "monotonic_cst": None, "interaction_cst": None, "learning_rate": None}
        return [name for name, value in usual.items() if getattr(self, name) is not value and getattr(self, name) != value]

    def _is_plain(self) -> bool:
        if self.weak != "rules":
            return self.weak != "trees"
        if self.plain is not None:
            return bool(self.plain)
        return bool(self._plain_alone()) or (self.rounds is not None and not self._chosen_alone())

    def _learn(self, names: list[str], columns: list[Any], y: np.ndarray, classes: list[Any], w: Any, **table: Any) -> Any:
        if not self._is_plain():
            given = self._plain_alone()
            if given and given[0] != "bins":
                raise ConfigError(f"{given[0]} = {getattr(self, given[0])!r} goes with plain=True")
            return self._trees(names, columns, y, classes, w, **table)
        given = self._chosen_alone()
        if given:
            raise ConfigError(f"{given[0]} = {getattr(self, given[0])!r} does not go with plain rules, stumps or columns")
        return Boost(
            names,
            columns,
            y,
            classes,
            w,
            loss="matsushita" if self.loss is None else self.loss,
            weak=self.weak,
            literals=2 if self.literals is None else self.literals,
            leaves=4 if self.leaves is None else self.leaves,
            rounds=10 if self.rounds is None else self.rounds,
            leverage=str(self.leverage),
            adapt=self.adapt,
            bins=self.bins or 0,
            seed=self._seed(),
            search=self.search,
            reduction=self.reduction,
            separable=self.separable,
            abstain=self.abstain,
            until=self.until,
            hold_out=self.hold_out,
            patience=self.patience,
            mu=self.mu,
            nu=self.nu,
            by=self.by,
            **table,
        )

    def _settings(self) -> dict[str, Any]:
        own = {**super()._settings(), "vector": self.vector}
        if self.weak == "rules":
            if self.leaves is not None:
                raise ConfigError(f"leaves = {self.leaves} goes with weak='trees'")
            own.update(leaves=None, depth=self.literals if self.depth is None else self.depth)
        elif self.literals is not None:
            raise ConfigError(f"literals = {self.literals} goes with weak='rules'")
        return own

    def fit(self, X: Any, y: Any, sample_weight: Any = None, eval_set: Any = None) -> Any:
        """Learns from a table. Numbers may be missing (NaN), columns may hold names. With `eval_set`, a pair (X, y), these
        rows choose the number of rounds of trees and are not learned from. Ctrl-C stops it within a second; what was learned
        until then stays.

        >>> from geowalk import BoostClassifier
        >>> BoostClassifier().fit([[0.0], [1.0]], ["no", "yes"]).classes_
        array(['no', 'yes'], dtype='<U3')
        """
        return self._fit_with(X, y, sample_weight, eval_set)

    @property
    def rules_(self) -> list[Rule]:
        """The rules: when each is true, for which class it votes and how much, and of how many training rows it is true.

        >>> from geowalk import BoostClassifier
        >>> (rule,) = BoostClassifier(rounds=1, literals=1).fit([[0.0], [1.0]] * 20, ["no", "yes"] * 20).rules_
        >>> rule.condition, rule.votes_for, rule.rows, rule.share
        ('x0 > 0.5', 'yes', 20, 1.0)
        """
        if isinstance(self._learned, Trees):
            rules = json.loads(self.write("json"))["rules"]
            if rules is None:
                raise AttributeError("rules_ goes with weak='rules', 'stumps' or 'columns'; trees have feature_importances_ and explain")
            return [
                Rule(own["condition"], own["votes_for"], own["weight"], round(own["rows"]), own["share"], own["words"])
                for own in rules
            ]
        members = json.loads(self.write("json"))["members"]
        return [
            Rule(own["condition"], own["votes_for"], abs(own["leverage"]), own["rows"], self._share(own), own["words"])
            for member in members
            for own in member["features"]
            if own["leverage"] != 0
        ]

    @staticmethod
    def _share(own: dict[str, Any]) -> float | None:
        share = own["share"]
        return share if share is None or own["leverage"] >= 0 else 1.0 - share

    def decision_function(self, X: Any) -> np.ndarray:
        """The score of the second of two classes, or one of every class.

        >>> from geowalk import BoostClassifier
        >>> BoostClassifier(rounds=1).fit([[0.0], [1.0]], [0, 1]).decision_function([[0.0], [1.0]]).shape
        (2,)
        """
        model = self._learned
        return model.scores(self._columns(X, False)[1])

    def staged_predict_proba(self, X: Any) -> Any:
        """The probabilities of every class after each round, round by round; of trees. All rounds are computed at once.

        >>> from geowalk import BoostClassifier
        >>> model = BoostClassifier(weak="trees", rounds=3).fit([[0.0], [1.0]] * 20, [0, 1] * 20)
        >>> len(list(model.staged_predict_proba([[0.0]])))
        3
        """
        model = self._learned
        if not isinstance(model, Trees):
            raise ValueError("staged_predict_proba goes with weak='trees'")
        yield from model.staged(self._columns(X, False)[1])


class BoostRegressor(_Regressor):
    """Boosted trees or rules that predict numbers.

    Each round adds a tree, or a rule of at most `depth` tests, whose leaf values lower the loss; without `rounds` held-out rows choose how many, then all rows are
    learned from. The training loss never rises.

    loss          'squared', 'absolute', 'quantile(tau=0.5)', 'huber(delta=1)' or 'poisson' (counts; the prediction is a mean)
    weak          'trees' or 'rules'
    rounds        how many rounds; None: as many as held-out rows want
    leaves        of a tree at most; None: 16
    bins          thresholds between so many quantiles, at most 254
    seed          of whatever is random
    nominal       columns whose numbers are names
    text          columns of free text, split into words; a column of several words whose values mostly differ is split anyway
    rate          how much of each step is taken, 0 to 1; None: 0.05, of rules 0.1
    depth         tests on the way to a leaf at most; None: 6, of rules 3
    ridge         the ridge of leaf values; None: 1
    row_share     the share of the rows that each tree is grown on; None: 0.8
    column_share  the share of the columns that each node looks at; None: 0.7
    min_leaf      rows of a leaf at least; None: 5
    effective_rows  count the rows of a leaf by their curvature: of use with loss='poisson'
    leaf_step     'newton'
    patience      rounds without improvement on held-out rows; None: 80
    hold_out      the share of rows that is held out to choose the rounds, instead of folds
    random_state  another name of the seed, as scikit-learn has it
    learning_rate  another name of the rate
    monotonic_cst    columns in which the prediction must rise (1) or fall (-1): a dictionary by name or number, or a list
    interaction_cst  groups of columns that may meet in a rule or on the way to a leaf; others stay alone

    >>> import numpy as np
    >>> from geowalk import BoostRegressor
    >>> X = np.random.default_rng(0).standard_normal((500, 3))
    >>> y = np.where(X[:, 0] > 0, 2.0, 0.0) + X[:, 1]
    >>> BoostRegressor().fit(X, y).score(X, y) > 0.95
    True

    Reference: Friedman, Greedy function approximation: a gradient boosting machine, 2001.
    """

    def __init__(
        self,
        loss: str = "squared",
        weak: str = "trees",
        rounds: int | None = None,
        leaves: int | None = None,
        bins: int = 254,
        seed: int = 0,
        nominal: Sequence[str] = (),
        text: Sequence[str] = (),
        rate: float | None = None,
        depth: int | None = None,
        ridge: float | None = None,
        row_share: float | None = None,
        column_share: float | None = None,
        min_leaf: int | None = None,
        effective_rows: bool | None = None,
        leaf_step: str = "newton",
        patience: int | None = None,
        hold_out: float | None = None,
        random_state: int | None = None,
        learning_rate: float | None = None,
        monotonic_cst: Any = None,
        interaction_cst: Any = None,
    ) -> None:
        self.learning_rate, self.monotonic_cst, self.interaction_cst = learning_rate, monotonic_cst, interaction_cst
        self.loss, self.weak, self.rounds, self.leaves, self.bins, self.seed = loss, weak, rounds, leaves, bins, seed
        self.nominal, self.text = nominal, text
        self.rate, self.depth, self.ridge, self.row_share, self.column_share = rate, depth, ridge, row_share, column_share
        self.min_leaf, self.effective_rows, self.leaf_step = min_leaf, effective_rows, leaf_step
        self.patience, self.hold_out, self.random_state = patience, hold_out, random_state

    def fit(self, X: Any, y: Any, sample_weight: Any = None, eval_set: Any = None) -> Any:
        """Learns from a table. With `eval_set`, a pair (X, y), these rows choose the number of rounds and are not learned
        from.

        >>> from geowalk import BoostRegressor
        >>> BoostRegressor(rounds=3).fit([[0.0], [1.0]], [0.0, 1.0]).n_rounds_
        3
        """
        if self.weak not in ("trees", "rules"):
            raise ConfigError(f"weak = {self.weak!r}; numbers are learned by 'trees' or 'rules'")
        return self._fit_with(X, y, sample_weight, eval_set)

    def staged_predict(self, X: Any) -> Any:
        """The predictions after each round, round by round. All rounds are computed at once.

        >>> from geowalk import BoostRegressor
        >>> model = BoostRegressor(rounds=3).fit([[0.0], [1.0]], [0.0, 1.0])
        >>> len(list(model.staged_predict([[0.0]])))
        3
        """
        model = self._learned
        yield from model.staged_numbers(self._columns(X, False)[1])


class TreeRegressor(_Regressor):
    """One regression tree on histograms: each leaf predicts the mean (absolute loss: the median) of its rows.

    loss        'squared', 'absolute', 'quantile(tau=0.5)', 'huber(delta=1)' or 'poisson'
    max_leaves  at most so many leaves; None: 65535
    max_depth   at most so many tests on the way to a leaf
    min_leaf    at least so many rows in a leaf
    bins        thresholds between so many quantiles, at most 254
    seed        of nothing: no part of it is random
    nominal     columns whose numbers are names
    text        columns of free text, split into words; a column of several words whose values mostly differ is split anyway

    >>> import numpy as np
    >>> from geowalk import TreeRegressor
    >>> X = np.arange(100.0).reshape(-1, 1)
    >>> TreeRegressor(max_leaves=2).fit(X, np.where(X[:, 0] > 40, 3.0, 1.0)).predict([[0.0], [99.0]])
    array([1., 3.])

    Reference: Breiman, Friedman, Olshen and Stone, Classification and regression trees, 1984.
    """

    def __init__(
        self,
        loss: str = "squared",
        max_leaves: int | None = None,
        max_depth: int | None = None,
        min_leaf: int = 1,
        bins: int = 254,
        seed: int = 0,
        nominal: Sequence[str] = (),
        text: Sequence[str] = (),
    ) -> None:
        self.loss, self.max_leaves, self.max_depth, self.min_leaf = loss, max_leaves, max_depth, min_leaf
        self.bins, self.seed, self.nominal, self.text = bins, seed, nominal, text

    _whole = {"max_leaves": 2, "max_depth": 1, "min_leaf": 1, "bins": 2, "seed": 0}
    _optional = ("max_leaves", "max_depth")

    def _seed(self) -> int:
        return int(self.seed)

    def _settings(self) -> dict[str, Any]:
        return {
            "rounds": 1,
            "rate": 1.0,
            "ridge": 0.0,
            "row_share": 1.0,
            "column_share": 1.0,
            "leaves": 65535 if self.max_leaves is None else self.max_leaves,
            "depth": 1 << 20 if self.max_depth is None else self.max_depth,
            "min_leaf": self.min_leaf,
        }


class TreeClassifier(_Batch):
    """A decision tree, grown where it lowers a permissible function phi most: cost = sum over leaves of mass * phi(share).

    loss        a permissible function (matsushita, gini, entropy, mu, nu, zeta), or exponential, squared, logistic
    max_leaves  at most so many leaves
    max_depth   at most so many tests on the way to a leaf
    min_leaf    at least so many rows in a leaf
    prune       how the tree is made smaller: 'length' takes back questions that tell less about the classes than it takes
                to ask them; a number is the part of the rows that is kept aside, and errors there decide; None keeps the
                tree as it was grown; 'auto' is 'length' unless leaves, depth or rows of a leaf are limited
    bins        thresholds between so many quantiles; None: between all values
    smoothing   kappa of the probabilities (m + kappa) / (n + classes * kappa), m and n in rows, whatever the scale of
                their weights
    seed        of the part that is kept aside
    nominal     columns whose numbers are names
    text        columns of free text, split into words; a column of several words whose values mostly differ is split
                anyway
    random_state  another name of the seed, as scikit-learn has it
    class_weight  None, 'balanced' (each class counts as much as any other) or a dictionary of weights by class: they
                  multiply those of the rows

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
        prune: str | float | None = "auto",
        bins: int | None = None,
        smoothing: float = 1.0,
        seed: int = 0,
        nominal: Sequence[str] = (),
        text: Sequence[str] = (),
        random_state: int | None = None,
        class_weight: Any = None,
    ) -> None:
        self.random_state, self.class_weight = random_state, class_weight
        self.loss, self.max_leaves, self.max_depth, self.min_leaf = loss, max_leaves, max_depth, min_leaf
        self.prune, self.bins, self.smoothing, self.seed = prune, bins, smoothing, seed
        self.nominal, self.text = nominal, text

    _whole = {"max_leaves": 1, "max_depth": 0, "min_leaf": 1, "bins": 2, "seed": 0}
    _optional = ("max_leaves", "max_depth", "bins")

    def _learn(self, names: list[str], columns: list[Any], y: np.ndarray, classes: list[Any], w: Any, **table: Any) -> Any:
        own = self.get_params()
        del own["class_weight"]
        given = own.pop("random_state")
        own["seed"] = self.seed if given is None else int(given)
        own["prune"] = "off" if self.prune is None else str(self.prune)
        return Tree(names, columns, y, classes, w, **{**own, **table})

    @property
    def feature_importances_(self) -> np.ndarray:
        """What each column gained, as parts of 1."""
        return self._learned.importance()
