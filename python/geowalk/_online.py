"""On-line learners as estimators. All that learns is `_geowalk.Online`; here are names, shapes and labels."""

from __future__ import annotations

import json
import weakref
from collections.abc import Sequence
from typing import Any

import numpy as np

from . import _columns as c
from . import _validate as v
from ._base import Estimator, alone, register_with_river, write_page
from ._certificate import Certificate
from ._geowalk import ConfigError, Frame, Manifold, Online, named_manifold, probabilistic

__all__ = ["OnlineClassifier", "OnlineRegressor"]


_SHORTENED = ("learn_one", "predict_one", "predict_proba_one")
"""Methods that an instance may have by a shorter way, see `_shorten`."""


class _Learner(Estimator):
    """What regression and classification share."""

    _whole = {"passes": 1, "seed": 0}

    def _walk(self, columns: int | None) -> str | None:
        walk = self.walk  # type: ignore[attr-defined]
        if isinstance(walk, Manifold):
            return f"explicit:{named_manifold(walk)}"
        return None if walk == "auto" else walk

    def _new(self, columns: int | None, classes: list[Any] | None = None, label: str | None = None) -> Online:
        self._check_whole()
        task = "classes" if self._kind == "classifier" else "regression"
        own = self.get_params()
        for name, kind, needed in (("walk", (str, Manifold), "a name or a manifold"), ("loss", str, "a name"), ("average", (bool, np.bool_), "True or False")):
            if not isinstance(own.get(name), (kind, type(None))):
                raise TypeError(f"{name} = {own[name]!r}; {needed} is needed")
        loss, rate, seed, average = own.get("loss"), str(own.get("rate", "auto")), own.get("seed", 0), bool(own.get("average", False))
        return Online(task, self._walk(columns), loss, rate, seed, average, classes, label)

    # What comes in

    @property
    def _indicates(self) -> bool:
        """Do missing numbers become features?"""
        missing = getattr(self, "missing", "error")
        if missing not in ("error", "indicator"):
            raise ConfigError(f"missing = {missing!r}; known: error, indicator")
        return missing == "indicator"

    @property
    def _allow_nan(self) -> bool:  # type: ignore[override]
        return self._indicates

    def _rows(self, X: Any) -> tuple[Any, int]:
        """A table as the compiled half reads it, and how many rows it has: a `Frame` of columns that are not all
        numbers, or may have gaps,
        and the parts of an array otherwise."""
        model = self.__dict__.get("_model")
        X = self._named(X)
        indicates = self._indicates and v.has_gaps(X)
        plain = model is None or self._plain
        numeric = plain and not indicates and not self._nominal and not self._text and v.is_numeric(X)
        table = None if numeric else c.table_of(X)
        if table is None and (indicates or not plain) and not (model is not None and not self._tabular):
            table = self._numbers(X, indicates)
        if table is not None:
            return self._frame(table), table.rows
        if model is not None and self._from_dicts and not self._any_width:
            raise ValueError(
                f"this {type(self).__name__} learned from dictionaries; give a table with named columns, or use predict_one and learn_one"
            )
        parts = self._parts(X)
        return parts, v.shape(parts)[0]

    def _parts(self, X: Any) -> Any:
        """A table of numbers."""
        parts = v.parts(X)
        if self.__dict__.get("_model") is not None and not self._any_width:
            self._check_width(v.shape(parts)[1], sparse=v.is_sparse(X))
        return parts

    def _numbers(self, X: Any, indicates: bool) -> c.Table | None:
        """An array of numbers as columns: numbered, as those of a file without header, or with the names of the
        model's. None for one whose
        columns are the features themselves, as `geowalk.read` gives them."""
        if v.is_sparse(X) and "_model" in self.__dict__:
            return None
        array = v.parts(X)
        if "_model" in self.__dict__:
            self._check_width(array.shape[1])
        names = list(getattr(self, "feature_names_in_", [str(k) for k in range(1, array.shape[1] + 1)]))
        return c.Table([c.Column(name, "number", array[:, k]) for k, name in enumerate(names)], False, len(array))

    def _frame(self, table: c.Table) -> Frame:
        """Columns of numbers and names for the compiled half."""
        model = self.__dict__.get("_model")
        names = [column.name for column in table.columns]
        if model is not None and self._tabular:
            self._check_width(len(names))
            if not table.named and hasattr(self, "feature_names_in_"):
                names = list(self.feature_names_in_)
                table = table._replace(columns=[own._replace(name=name) for own, name in zip(table.columns, names)])
        numbers = [own.values if own.kind == "number" else np.zeros(0) for own in table.columns]
        shown = names if table.named else None
        if not self._indicates:
            v.refuse_gaps(numbers, shown, table.labels)
        v.refuse_infinity(numbers, shown, table.labels)
        nominal, text = self._nominal, self._text
        kinds = None if model is None else dict(model.columns())
        rules = c.Rules(nominal, text, kinds, None if model is None else model.knows)
        columns = c.coded(table, rules)
        declared = c.declared(self, names, columns) if model is None else ()
        return Frame(names, columns, *declared)

    def _check_width(self, found: int, sparse: bool = False) -> None:
        """Refuses a table with another number of columns than the model's. Those of a sparse matrix may be its features."""
        known, expanded = getattr(self, "n_features_in_", None), self._width
        if known is None or found == (expanded if sparse else known):
            return
        message = f"X has {found} features, but {type(self).__name__} is expecting {known} features as input."
        if sparse and expanded != known:
            message = (
                f"X has {found} features, but {type(self).__name__} is expecting a table of {known} columns, "
                f"or a sparse matrix of the {expanded} features of get_feature_names_out()."
            )
        raise ValueError(message)

    @property
    def _nominal(self) -> tuple[str, ...]:
        """Columns that hold names, whatever they look like."""
        return v.names_list(self, "nominal")

    @property
    def _text(self) -> tuple[str, ...]:
        """Columns that hold free text."""
        return v.names_list(self, "text")

    @property
    def _plain(self) -> bool:
        """Are the features of the model the columns of an array of numbers?"""
        model = self._model
        if model.by_number:
            return True
        kinds = model.columns()
        return self._tabular and model.width == len(kinds) and all(kind == "numeric" for _, kind in kinds)

    @property
    def _width(self) -> int:
        """How many features the model has: those of names, words and gaps among them."""
        width = self._model.width
        return getattr(self, "n_features_in_", 0) if width is None else width

    # What is learned

    _from_dicts = False
    """Did the first example come as a dictionary?"""
    _any_width = False
    """Are features known by number alone, so that a matrix may have any width?"""
    _tabular = False
    """Are the features those of the columns of a table?"""

    def _forget(self) -> None:
        for name in ("_model", "n_features_in_", "feature_names_in_", "_from_dicts", "_any_width", "_tabular", *_SHORTENED):
            self.__dict__.pop(name, None)

    def _begin(self, X: Any, rows: Any, classes: list[Any] | None, label: str) -> None:
        names = v.names_of(X)
        if names is not None:
            self.feature_names_in_ = np.array(names, dtype=object)
        self.n_features_in_ = rows.width if isinstance(rows, Frame) else v.shape(rows)[1]
        self._tabular = not isinstance(rows, tuple) or isinstance(rows, v.Columns)
        self._model = self._new(self.n_features_in_, classes, label)

    def _learn(self, rows: Any, y: np.ndarray, w: np.ndarray | None, passes: Any) -> None:
        names = getattr(self, "feature_names_in_", None)
        names = None if names is None else list(names)
        if passes != "auto":
            self._model.learn(rows, y, w, int(passes), names)
            return
        self._model.fit(rows, y, w, names, bool(getattr(self, "shuffle", True)))
        if not self.converged_:
            self._warn_unconverged()

    def _check_whole(self) -> None:
        if getattr(self, "passes", None) == "auto":
            v.whole("seed", getattr(self, "seed", None), 0)
        else:
            super()._check_whole()

    def _warn_unconverged(self) -> None:
        import warnings

        try:
            from sklearn.exceptions import ConvergenceWarning as kind
        except ImportError:
            kind = UserWarning
        message = f"{type(self).__name__}.fit stopped after {self.n_passes_} passes and could still gain; scale the data, or give passes"
        warnings.warn(message, kind, stacklevel=4)

    @property
    def n_passes_(self) -> int:
        """How often all rows were gone through.

        >>> from geowalk import OnlineClassifier
        >>> OnlineClassifier(passes=3).fit([[0.0], [1.0]], [0, 1]).n_passes_
        3
        """
        fit = self.summary_["fit"]
        return int(fit["passes"]) if fit else int(getattr(self, "passes", 1))

    @property
    def n_iter_(self) -> int:
        """The same, by the name that scikit-learn has for it."""
        return self.n_passes_

    @property
    def converged_(self) -> bool:
        """Did `fit` with passes='auto' end because nothing was left to gain?

        >>> from geowalk import OnlineClassifier
        >>> OnlineClassifier().fit([[0.0], [1.0], [0.2], [0.9]], [0, 1, 0, 1]).converged_
        True
        """
        fit = self.summary_["fit"]
        if not fit:
            raise AttributeError("converged_ is known after fit with passes='auto'")
        return bool(fit["converged"])

    @property
    def members_(self) -> list[dict[str, float]]:
        """What was averaged: of `fit` for each ridge the loss on rows that were left out, and the share of the model;
        of a team, `walk='auto()'`, for each member what it lost in all, its weight, and what the team lost beyond it.

        >>> from geowalk import OnlineClassifier
        >>> members = OnlineClassifier().fit([[0.0], [1.0], [0.2], [0.9]], [0, 1, 0, 1]).members_
        >>> round(sum(member["share"] for member in members), 6)
        1.0
        """
        summary = self.summary_
        if summary["members"]:
            return summary["members"]
        fit = summary["fit"]
        if not fit or "members" not in fit:
            raise AttributeError("members_ are there after fit with passes='auto' and walk='auto', and of teams")
        return fit["members"]

    @property
    def held_out_(self) -> dict[str, float]:
        """Loss and metrics of rows by the model without them: after `fit` with passes='auto' and walk='auto'.

        >>> from geowalk import OnlineRegressor
        >>> sorted(OnlineRegressor().fit([[0.0], [1.0], [2.0]], [0.0, 1.0, 2.0]).held_out_)
        ['examples', 'loss', 'mae', 'rmse']
        """
        self.members_  # noqa: B018  says what is missing
        summary = self.summary_
        return {"examples": summary["examples"], "loss": summary["loss"], **summary["metrics"]}

    @property
    def coef_(self) -> Any:
        """The weights of the features, in the order of `get_feature_names_out()`: `X @ coef_.T + intercept_` is
        `decision_function(X)`, of a
        regressor `predict(X)`. Of classifiers one row, or one of each class if there are several; of regressors one
        number per feature.

        The walks `free` and `adagrad`, and walks on normalised rows (geometric ones with rate='auto'), make a feature
        count less where its magnitude exceeds every one that was learned from, except with `average`; for such rows
        the scores are nearer to 0 than these weights say. Models that are not linear have no `coef_`.
        """
        return self._weights()[1]

    @property
    def intercept_(self) -> Any:
        """The weight of the constant feature: one number of a regressor, one of each row of `coef_` of a classifier."""
        return self._weights()[0]

    def get_feature_names_out(self, input_features: Any = None) -> np.ndarray:
        """The names of the features, in the order of `coef_`: columns of numbers, `column=name`, `column=word` and
        `column=missing`. Columns
        without names are x0, x1, ...

        >>> from geowalk import OnlineClassifier
        >>> OnlineClassifier().fit([[1.5, "red"], [2.0, "blue"]], [0, 1]).get_feature_names_out()
        array(['x0', 'x1=red', 'x1=blue'], dtype=object)
        """
        model = self._learned
        if model.by_number:
            return np.array([f"x{k}" for k in range(self.n_features_in_)], dtype=object)
        names = model.names()
        if self._tabular and not hasattr(self, "feature_names_in_"):
            names = v.unnumbered(names)
        return np.array(names, dtype=object)

    def _weights(self) -> tuple[Any, Any]:
        model = self._learned
        if model.no_weights is not None:
            raise AttributeError(f"{type(self).__name__} has no coef_ here: {model.no_weights}")
        weights = model.weights()
        columns = self._width or weights.shape[1] - 1
        padded = np.zeros((len(weights), columns + 1))
        padded[:, : weights.shape[1]] = weights[:, : columns + 1]
        # With several classes the largest score counts, and there is no threshold.
        return padded[:, 0] - (model.threshold if len(weights) == 1 else 0.0), padded[:, 1:]

    # What is promised, and how it went

    def certificate(self, comparator: Any = None, X: Any = None, y: Any = None, sample_weight: Any = None) -> Certificate:
        """The guarantee of what was learned: against a set of weights around the final ones, against one comparator,
        or against the best in hindsight.

        regret = sum of l(z_t, y_t) - sum of l(<u, x_t>, y_t) <= bound, whatever the data were.

        comparator  None: the set of weights that `comparators` states, by default each weight no larger than the same
                    weight at the end; 'best': the best fixed weights in hindsight, where the walk's weights live; or
                    one: weights
                    with the intercept first (a row for each class if there are several, in the order of `classes_`), a dictionary of weights by name, '(intercept)' among
                    them (for each class, if there are several), or any fitted estimator with `coef_` and `intercept_`
        X, y        all rows that were learned from, in their order: with them what the comparator lost is known, and the regret; 'best' needs them. Other rows are refused
        sample_weight  theirs, if they were weighted

        Of several classes a comparator has weights for each, and the bound is the sum of the bounds of the classes; with the logistic loss the losses are those of their softmax, with
        others the sums of the losses of each class against the rest.

        >>> import numpy as np
        >>> from geowalk import OnlineRegressor
        >>> X = np.random.default_rng(0).standard_normal((200, 2))
        >>> y = X @ [1.0, -2.0] + 3.0
        >>> model = OnlineRegressor().fit(X, y)
        >>> model.certificate([3.0, 1.0, -2.0]).regret is None
        True
        >>> known = model.certificate([3.0, 1.0, -2.0], X, y)
        >>> known.comparator_loss < 1e-20, known.regret <= known.bound, known.status
        (True, True, 'valid')
        >>> model.certificate("best", X, y).comparator_loss < 1e-9
        True

        Reference: docs/certificates.md; Zinkevich, Online convex programming and generalized infinitesimal gradient ascent, 2003.
        """
        model = self._learned
        if comparator is None:
            if X is not None or y is not None:
                raise ValueError("X and y are for what a comparator lost: give weights, or comparator='best'")
            return Certificate(self.summary_["certificate"])
        best = isinstance(comparator, str)
        if best and comparator != "best":
            raise ValueError(f"comparator = {comparator!r}; weights are needed, or 'best'")
        if (X is None) != (y is None):
            raise ValueError("X and y go together: what a comparator lost is known from both")
        if best and X is None:
            raise ValueError("the best weights are sought on the rows that were learned from: give them as X and y")
        weights = None if best else self._comparator(comparator)
        if X is None:
            return Certificate(json.loads(model.certify(weights)))
        if isinstance(X, (list, tuple)) and X and isinstance(X[0], dict):
            rows, count = list(X), len(X)
        else:
            rows, count = self._rows(X)
        labels, w = self._again(v.column(y, count, self)), v.weights(sample_weight, count)
        return Certificate(json.loads(model.certify(weights, rows, labels, w)))

    def _again(self, y: np.ndarray) -> np.ndarray:
        """Labels that were learned from, as the compiled half knows them."""
        return v.numbers(y)

    def _scores(self) -> list[Any] | None:
        """The classes that have a score of their own, in the order of their codes; None if there is one score."""
        return None

    def _comparator(self, comparator: Any) -> np.ndarray:
        """The weights of each score, in the order of codes, the intercept first."""
        several = self._scores()
        if isinstance(comparator, dict):
            rows = [comparator] if several is None else [comparator.get(label, {}) for label in several]
            if several is not None and not all(isinstance(row, dict) for row in comparator.values()):
                raise ValueError("there are several classes: give a dictionary of weights for each, {class: {name: weight}}")
            if several is not None and set(comparator) - set(several):
                unknown = sorted(map(repr, set(comparator) - set(several)))
                raise ValueError(f"the comparator has the classes {', '.join(unknown[:5])}, which the model does not have")
            names = {name: k for k, name in enumerate(["(intercept)", *self._model.names()])}
            found = np.zeros((len(rows), len(names)))
            for at, row in enumerate(rows):
                for name, weight in row.items():
                    if name not in names:
                        raise ValueError(f"the model has no feature {name!r}; '(intercept)' is the constant")
                    found[at, names[name]] = weight
        elif hasattr(comparator, "coef_"):
            coef = np.atleast_2d(np.asarray(comparator.coef_, dtype=np.float64))
            constant = np.broadcast_to(np.asarray(comparator.intercept_, dtype=np.float64).ravel(), len(coef))
            found = self._ordered(np.column_stack([constant, coef]), getattr(comparator, "classes_", None))
        else:
            found = self._ordered(np.atleast_2d(np.asarray(comparator, dtype=np.float64)), None)
        columns = self._width or found.shape[-1] - 1
        wanted = (1 if several is None else len(several), columns + 1)
        if found.shape != wanted:
            shape = wanted[1:] if several is None else wanted
            raise ValueError(f"the comparator has shape {np.shape(comparator)}; weights of shape {shape} are needed, the intercept first")
        v.finite(found.ravel(), "comparator")
        return np.ascontiguousarray(found)

    def _ordered(self, weights: np.ndarray, classes: Any) -> np.ndarray:
        """Weights in the order of codes."""
        return weights

    def report(self, path: Any, feature_names: Any = None) -> None:
        """Writes one self-contained HTML page: the losses, the regret below its bound, the certificates in words, the largest weights; the walk where it can be drawn.

        It is the page of `geowalk train --report`. It needs nothing to be looked at but a browser. `feature_names` are
        other names for the features, in the order of `get_feature_names_out()`; those of an array are x0, x1, ...
        otherwise.

        >>> import geowalk, pathlib, tempfile
        >>> path = pathlib.Path(tempfile.mkdtemp()) / "report.html"
        >>> geowalk.OnlineClassifier().fit([[0.0], [1.0], [0.2], [0.9]], [0, 1, 0, 1]).report(path)
        >>> path.read_text(encoding="utf-8").startswith("<!doctype html>")
        True
        """
        model = self._learned
        shown = None if feature_names is None else [str(name) for name in feature_names]
        if shown is not None and len(shown) != self._width:
            raise ValueError(f"{len(shown)} names for {self._width} features; give one each, as get_feature_names_out() has them")
        if shown is None and (model.by_number or (self._tabular and not hasattr(self, "feature_names_in_"))):
            shown = self.get_feature_names_out().tolist()
        write_page(path, model.page(f"{self!r}.fit(X, y)", shown))

    # river's ways

    @property
    def _supervised(self) -> bool:
        return True

    def _shorten(self, **methods: Any) -> None:
        """From here on calls of these methods go right to the compiled half: an attribute of the instance is found before the method of its class, and saves a third of what a prediction costs. Methods that a
        subclass has of its own stay."""
        for name, method in methods.items():
            if getattr(type(self), name).__module__ == __name__:
                self.__dict__[name] = method

    def __getstate__(self) -> dict[str, Any]:
        return {name: value for name, value in self.__dict__.items() if name not in _SHORTENED}

    def clone(self, new_params: dict[str, Any] | None = None, include_attributes: bool = False) -> Any:
        """An estimator of the same parameters that has learned nothing, as river wants it.

        >>> import geowalk
        >>> geowalk.OnlineRegressor(passes=2).clone()
        OnlineRegressor(passes=2)
        """
        if include_attributes:
            import copy

            return copy.deepcopy(self)
        return type(self)(**{**self.get_params(), **(new_params or {})})

    def _get_params(self) -> dict[str, Any]:
        return self.get_params()


class OnlineRegressor(_Learner):
    """A number from a linear prediction, learned in one walk over the examples in their order.

    z = <w, x> is predicted before y is seen; then w moves by a step of the walk against the slope of the loss l(z, y).

    walk     how the weights move, `geowalk.walks()` lists them; 'auto' is a team of walks for the
             squared loss (see `members_`; it has no `coef_`), free where the slope of the loss is bounded, adagrad
             elsewhere and with a rate or an average;
             or a manifold, also of a class of your own: steps along its geodesics, for as many features as its points have
    loss     what hurts, `geowalk.losses.names()` lists them
    rate     'auto', a number, inv(c, t0) or power(c, t0, p)
    passes   'auto': `fit` finds the best linear model of all rows, whatever their order, or with a walk that is named
             goes through shuffled rows until nothing is
             gained; a number: so many passes in the order of the rows, and nothing else. `partial_fit` and
             `learn_one` go through rows once
    average  predict with the average of the weights of the run
    seed     of random starting points
    missing  'indicator': a missing number (NaN, None, null) becomes the feature `column=missing`, as in
             `geowalk train`, and in `fit` counts as the mean of its
             column besides; 'error': it is refused. A missing name is always one more name
    nominal  columns whose numbers are names
    text     columns of free text, split into words. A column of several words whose values mostly differ is split
             anyway, unless it is in `nominal`
    shuffle  with passes='auto' and a walk that is named: go through the rows in an order that the seed decides

    The same data in the same order give the same bits in `fit` with passes=1, in `partial_fit` cut into pieces, in
    `learn_one`, and in `geowalk train`.

    >>> import numpy as np
    >>> from geowalk import OnlineRegressor
    >>> X = np.random.default_rng(0).standard_normal((500, 3))
    >>> model = OnlineRegressor(passes=5).fit(X, X @ [1.0, -2.0, 0.0] + 3.0)
    >>> model.predict([[1.0, 1.0, 1.0]]).round(1), round(model.score(X, X @ [1.0, -2.0, 0.0] + 3.0), 2)
    (array([2.]), 1.0)

    Reference: Vovk, Competitive on-line statistics, 2001, for the default team.
    """

    _kind = "regressor"

    def __init__(
        self,
        walk: str = "auto",
        loss: str = "squared",
        rate: Any = "auto",
        passes: Any = "auto",
        average: bool = False,
        seed: int = 0,
        missing: str = "indicator",
        nominal: Sequence[str] = (),
        text: Sequence[str] = (),
        shuffle: bool = True,
    ) -> None:
        self.walk, self.loss, self.rate, self.passes, self.average, self.seed = walk, loss, rate, passes, average, seed
        self.missing, self.nominal, self.text, self.shuffle = missing, nominal, text, shuffle
        register_with_river(OnlineRegressor, "regressor")

    def _weights(self) -> tuple[Any, Any]:
        intercept, coef = super()._weights()
        return float(intercept[0]), coef[0]

    @alone
    def fit(self, X: Any, y: Any, sample_weight: Any = None) -> OnlineRegressor:
        """Learns from the beginning.

        >>> from geowalk import OnlineRegressor
        >>> OnlineRegressor().fit([[1.0], [2.0]], [1.0, 2.0]).n_features_in_
        1
        """
        self._forget()
        return self._go(X, y, sample_weight, self.passes)

    @alone
    def partial_fit(self, X: Any, y: Any, sample_weight: Any = None) -> OnlineRegressor:
        """Goes on learning. With missing='indicator' the first piece tells the columns of numbers: one that is empty there gets its place among the features with its first number,
        later than in `fit`, which walks that start from all features alike (eg, sphere) notice; and a table without gaps leaves the last digits of its certificate otherwise.

        >>> from geowalk import OnlineRegressor
        >>> OnlineRegressor().partial_fit([[1.0]], [1.0]).partial_fit([[2.0]], [2.0]).summary_["examples"]
        2
        """
        return self._go(X, y, sample_weight, 1)

    def _go(self, X: Any, y: Any, sample_weight: Any, passes: int) -> OnlineRegressor:
        rows, count = self._rows(X)
        label = v.target(y, "y")
        y = v.numbers(v.column(y, count, self))
        w = v.weights(sample_weight, count)
        if self.__dict__.get("_model") is None:
            self._begin(X, rows, None, label)
        self._learn(rows, y, w, passes)
        return self

    @alone
    def predict(self, X: Any) -> np.ndarray:
        """The predicted numbers.

        >>> from geowalk import OnlineRegressor
        >>> OnlineRegressor(loss="absolute").fit([[1.0], [1.0]], [2.0, 2.0]).predict([[1.0]]).shape
        (1,)
        """
        model = self._learned
        rows, _ = self._rows(X)
        return model.predict(rows)

    def score(self, X: Any, y: Any, sample_weight: Any = None) -> float:
        """The coefficient of determination, 1 - sum (y - z)^2 / sum (y - mean)^2.

        >>> from geowalk import OnlineRegressor
        >>> OnlineRegressor(passes=200).fit([[1.0], [2.0]], [1.0, 2.0]).score([[1.0], [2.0]], [1.0, 2.0]) > 0.9
        True
        """
        found = self.predict(X)
        y = v.numbers(v.column(y, len(found), self))
        w = v.weights(sample_weight, len(y))
        left = np.average((y - found) ** 2, weights=w)
        spread = np.average((y - np.average(y, weights=w)) ** 2, weights=w)
        return float(1.0 - left / spread) if spread > 0 else float(left == 0)

    @alone
    def learn_one(self, x: dict[str, Any], y: float, w: float = 1.0) -> None:
        """Learns from one dictionary: numbers by name, strings as `name=value`, None as `name=missing`.

        >>> from geowalk import OnlineRegressor
        >>> model = OnlineRegressor()
        >>> for _ in range(200):
        ...     model.learn_one({"x": 1.0, "color": "red"}, 3.0)
        >>> round(model.predict_one({"x": 1.0, "color": "red"}), 1)
        3.0
        """
        try:
            model = self._model
        except AttributeError:
            model = self._model = self._new(None)
            model.declare(list(self._nominal), list(self._text))
            self._from_dicts = True
        model.learn_one(x, y, w)
        self._shorten(learn_one=model.learn_one, predict_one=model.predict_one)

    @alone
    def predict_one(self, x: dict[str, Any]) -> float:
        """What is predicted of a dictionary; 0 before anything was learned.

        >>> from geowalk import OnlineRegressor
        >>> OnlineRegressor().predict_one({"x": 1.0})
        0.0
        """
        try:
            model = self._model
        except AttributeError:
            return 0.0
        return model.predict_one(x)


class _IfProbabilities:
    """A method that is there only if the loss estimates probabilities."""

    def __init__(self, method: Any) -> None:
        self.method = method
        self.__doc__ = method.__doc__

    def __get__(self, estimator: Any, cls: type) -> Any:
        if estimator is None:
            return self.method
        model = estimator.__dict__.get("_model")
        if not (estimator._probabilistic() if model is None else model.has_probabilities):
            raise AttributeError(f"{self.method.__name__}: this loss estimates no probabilities; use loss='logistic'")
        return self.method.__get__(estimator, cls)


class OnlineClassifier(_Learner):
    """Classes from linear scores, learned in one walk over the examples in their order.

    With two classes z = <w, x> is the score of the second; with more every class has a score, and the logistic loss is that of their softmax. The score is made before
    the label is seen; then w moves by a step of the walk against the slope of the loss.

    walk     how the weights move, `geowalk.walks()` lists them; 'free' needs no rate and no scaling of the features;
             or a manifold, also of a class of your own: steps along its geodesics, for as many features as its points have
    loss     what hurts, `geowalk.losses.names()` lists them
    rate     'auto', a number, inv(c, t0) or power(c, t0, p)
    passes   'auto': `fit` finds the best linear model of all rows, whatever their order, or with a walk that is named
             goes through shuffled rows until nothing is
             gained; a number: so many passes in the order of the rows, and nothing else. `partial_fit` and
             `learn_one` go through rows once
    average  predict with the average of the weights of the run
    seed     of random starting points
    missing  'indicator': a missing number (NaN, None, null) becomes the feature `column=missing`, as in
             `geowalk train`, and in `fit` counts as the mean of its
             column besides; 'error': it is refused. A missing name is always one more name
    nominal  columns whose numbers are names
    text     columns of free text, split into words. A column of several words whose values mostly differ is split
             anyway, unless it is in `nominal`
    shuffle  with passes='auto' and a walk that is named: go through the rows in an order that the seed decides
    class_weight  None, 'balanced' (each class counts as much as any other) or a dictionary of weights by class: they
                  multiply `sample_weight` in `fit`

    The same data in the same order give the same bits in `fit` with passes=1, in `partial_fit` cut into pieces, in
    `learn_one`, and in `geowalk train`.

    >>> import numpy as np
    >>> from geowalk import OnlineClassifier
    >>> X = np.random.default_rng(0).standard_normal((500, 3)) * [1.0, 1e6, 1e-6]
    >>> y = np.where(X @ [1.0, 1e-6, 0.0] > 0.0, "up", "down")
    >>> model = OnlineClassifier().fit(X, y)
    >>> model.score(X, y) > 0.9, model.predict([[5.0, 0.0, 0.0]])
    (True, array(['up'], dtype='<U4'))

    Reference: Kempka, Kotlowski and Warmuth, Adaptive scale-invariant online algorithms for learning linear models, 2019, for the default walk.
    """

    _kind = "classifier"

    def _probabilistic(self) -> bool:
        """Will the loss estimate probabilities?"""
        return self.loss is None or probabilistic(self.loss)

    def __init__(
        self,
        walk: str = "auto",
        loss: str = "logistic",
        rate: Any = "auto",
        passes: Any = "auto",
        average: bool = False,
        seed: int = 0,
        missing: str = "indicator",
        nominal: Sequence[str] = (),
        text: Sequence[str] = (),
        shuffle: bool = True,
        class_weight: Any = None,
    ) -> None:
        self.walk, self.loss, self.rate, self.passes, self.average, self.seed = walk, loss, rate, passes, average, seed
        self.missing, self.nominal, self.text = missing, nominal, text
        self.shuffle, self.class_weight = shuffle, class_weight
        register_with_river(OnlineClassifier, "classifier")

    # Labels: `_labels[code]` is the class of a code, `_codes` the other way round, `classes_` are sorted.

    def _know(self, labels: list[Any]) -> None:
        self._labels = list(labels)
        # As floats, which the compiled half takes as they are.
        self._codes = {label: float(code) for code, label in enumerate(self._labels)}
        self._sort()

    def _sort(self) -> None:
        order = sorted(range(len(self._labels)), key=self._labels.__getitem__)
        self._order = np.array(order, dtype=np.intp)
        kept = self.__dict__.get("classes_")
        dtype = None if kept is None or kept.dtype.kind != "O" else object
        self.classes_ = np.array([self._labels[k] for k in order], dtype=dtype)

    def _add(self, label: Any) -> float:
        """A class that came now."""
        if label is None or label != label:
            raise ValueError(f"Input y contains NaN: the label {label!r} is no class")
        code = float(self._model.add_class(v.label(label)))
        self._labels.append(label)
        self._codes[label] = code
        self._sort()
        return code

    def _coded(self, y: np.ndarray) -> np.ndarray:
        """The codes of labels; new classes where they may come."""
        distinct, inverse = np.unique(y, return_inverse=True)
        distinct = distinct.tolist()
        new = [label for label in distinct if label not in self._codes]
        if new and self._closed:
            raise ValueError(f"y has the classes {new[:5]}, which are not among those of the first call: {self._labels[:10]}")
        for label in sorted(new, key=lambda label: int(np.argmax(y == label))):
            self._add(label)
        return np.array([self._codes[label] for label in distinct], dtype=np.float64)[inverse.ravel()]

    def _again(self, y: np.ndarray) -> np.ndarray:
        distinct, inverse = np.unique(y, return_inverse=True)
        unknown = [label for label in distinct.tolist() if label not in self._codes]
        if unknown:
            raise ValueError(f"y has the classes {unknown[:5]}, which the model does not have: these are not the rows it learned from")
        return np.array([self._codes[label] for label in distinct.tolist()], dtype=np.float64)[inverse.ravel()]

    def _scores(self) -> list[Any] | None:
        return self._labels if len(self._labels) > 2 else None

    def _ordered(self, weights: np.ndarray, classes: Any) -> np.ndarray:
        if classes is not None and list(classes) != self.classes_.tolist():
            raise ValueError(f"the comparator has the classes {list(classes)[:10]}, the model {self.classes_.tolist()[:10]}")
        if self._scores() is None or len(weights) != len(self._order):
            return weights
        coded = np.empty_like(weights)
        coded[self._order] = weights
        return coded

    def _weights(self) -> tuple[np.ndarray, np.ndarray]:
        intercept, coef = super()._weights()
        if len(coef) > 1:
            # A class that was declared and has not come is never the one with the largest score.
            intercept = np.where(self._model.seen(), intercept, -np.inf)
        # In the order of `classes_`, whichever class came first.
        return (intercept, coef) if len(coef) != len(self._order) or len(coef) < 2 else (intercept[self._order], coef[self._order])

    @alone
    def fit(self, X: Any, y: Any, sample_weight: Any = None) -> OnlineClassifier:
        """Learns from the beginning.

        >>> from geowalk import OnlineClassifier
        >>> OnlineClassifier().fit([[0.0], [1.0]], ["no", "yes"]).classes_
        array(['no', 'yes'], dtype='<U3')
        """
        self._forget()
        rows, count = self._rows(X)
        label = v.target(y, "class")
        y = v.column(y, count, self)
        v.check_classes(y)
        w = v.weights(sample_weight, count)
        weighty = np.unique(y if w is None else y[w > 0])
        if len(weighty) < 2:
            raise v.one_class(weighty, count if w is None else int((w > 0).sum()))
        classes = np.unique(y)
        return self._go(X, rows, y, v.class_weighted(self, y, w, classes), self.passes, classes, label)

    @alone
    def partial_fit(self, X: Any, y: Any, classes: Any = None, sample_weight: Any = None) -> OnlineClassifier:
        """Goes on learning. `classes` of the first call are all there will be; without them classes are taken as they come, and a third one is too late after 1024 rows
        with two. With missing='indicator' the first piece tells the columns of numbers: one that is empty there gets its place among the features with its first number, later than in `fit`,
        which walks that start from all features alike (eg, sphere) notice; and a table without gaps leaves the last digits of its certificate otherwise.

        >>> from geowalk import OnlineClassifier
        >>> model = OnlineClassifier().partial_fit([[0.0]], [0], classes=[0, 1, 2])
        >>> model.partial_fit([[1.0], [2.0]], [1, 2]).classes_
        array([0, 1, 2])
        """
        rows, count = self._rows(X)
        label = v.target(y, "class")
        y = v.column(y, count, self)
        v.check_classes(y)
        if classes is not None:
            classes = np.unique(np.asarray(classes))
            known = self.__dict__.get("classes_")
            if self.__dict__.get("_model") is not None and not np.array_equal(classes, known):
                raise ValueError(f"classes = {classes.tolist()} are not those of the first call, {known.tolist()}")
            if len(classes) < 2:
                raise ValueError(f"at least two classes are needed; classes = {classes.tolist()}")
        return self._go(X, rows, y, v.weights(sample_weight, count), 1, classes, label)

    def _go(
        self, X: Any, rows: Any, y: np.ndarray, w: Any, passes: int, classes: np.ndarray | None, label: str
    ) -> OnlineClassifier:
        if self.__dict__.get("_model") is None:
            self._begin(X, rows, None if classes is None else _labels(classes), label)
            self._closed = classes is not None
            if classes is not None:
                self.classes_ = classes
            self._know([] if classes is None else classes.tolist())
            if classes is not None:
                self.classes_ = classes
        self._learn(rows, self._coded(y), w, passes)
        return self

    def _forget(self) -> None:
        super()._forget()
        self.__dict__.pop("classes_", None)

    @alone
    def predict(self, X: Any) -> np.ndarray:
        """The predicted classes.

        >>> from geowalk import OnlineClassifier
        >>> OnlineClassifier(passes=20).fit([[0.0], [1.0]], [False, True]).predict([[0.0], [1.0]])
        array([False,  True])
        """
        model = self._learned
        rows, _ = self._rows(X)
        codes = model.predict(rows)
        place = np.empty(len(self._order), dtype=np.intp)
        place[self._order] = np.arange(len(self._order))
        return self.classes_[place[codes.astype(np.intp)]]

    @_IfProbabilities
    @alone
    def predict_proba(self, X: Any) -> np.ndarray:
        """The probability of every class, in the order of `classes_`. A class that was declared and has not come
        among n examples of C classes
        has 1/(n + C).

        >>> from geowalk import OnlineClassifier
        >>> OnlineClassifier().fit([[0.0], [1.0]], [0, 1]).predict_proba([[0.0]]).sum()
        np.float64(1.0)
        """
        model = self._learned
        rows, _ = self._rows(X)
        return model.probabilities(rows)[:, self._order]

    @alone
    def decision_function(self, X: Any) -> np.ndarray:
        """The score of the second of two classes, or one of every class.

        >>> from geowalk import OnlineClassifier
        >>> OnlineClassifier().fit([[0.0], [1.0]], [0, 1]).decision_function([[0.0], [1.0]]).shape
        (2,)
        """
        model = self._learned
        rows, _ = self._rows(X)
        scores = model.scores(rows)
        return scores if scores.ndim == 1 else scores[:, self._order]

    def score(self, X: Any, y: Any, sample_weight: Any = None) -> float:
        """The share of rows whose class is predicted.

        >>> from geowalk import OnlineClassifier
        >>> OnlineClassifier(passes=20).fit([[0.0], [1.0]], [0, 1]).score([[0.0], [1.0]], [0, 1])
        1.0
        """
        found = self.predict(X)
        y = v.column(y, len(found), self)
        return float(np.average(found == y, weights=v.weights(sample_weight, len(y))))

    @alone
    def learn_one(self, x: dict[str, Any], y: Any, w: float = 1.0) -> None:
        """Learns from one dictionary: numbers by name, strings as `name=value`, None as `name=missing`.

        >>> from geowalk import OnlineClassifier
        >>> model = OnlineClassifier()
        >>> for _ in range(20):
        ...     model.learn_one({"words": 3, "from": "bank"}, "spam")
        ...     model.learn_one({"words": 5, "from": "mother"}, "ham")
        >>> model.predict_one({"from": "bank"})
        'spam'
        """
        try:
            model, code = self._model, self._codes[y]
        except (AttributeError, KeyError):
            model, code = self._first(y)
        model.learn_one(x, code, w)
        model.share(self._labels, self._codes, weakref.ref(self))
        self._shorten(learn_one=model.learn_label, predict_one=model.predict_label, predict_proba_one=model.predict_shares)

    def _first(self, y: Any) -> tuple[Online, float]:
        """The learner, and the code of a class that was not known."""
        if self.__dict__.get("_model") is None:
            self._model, self._from_dicts, self._closed = self._new(None), True, False
            self._model.declare(list(self._nominal), list(self._text))
            self._know([])
        elif self._closed:
            raise ValueError(f"y is {y!r}, which is not among the classes of the first call: {self._labels[:10]}")
        return self._model, self._add(y)

    @alone
    def predict_one(self, x: dict[str, Any]) -> Any:
        """The class of a dictionary; None before anything was learned.

        >>> from geowalk import OnlineClassifier
        >>> print(OnlineClassifier().predict_one({"x": 1.0}))
        None
        """
        try:
            model = self._model
        except AttributeError:
            return None
        return self._labels[int(model.predict_one(x))]

    @alone
    def predict_proba_one(self, x: dict[str, Any]) -> dict[Any, float]:
        """The probability of every class that is known.

        >>> from geowalk import OnlineClassifier
        >>> model = OnlineClassifier()
        >>> model.learn_one({"x": 1.0}, True)
        >>> model.learn_one({"x": -1.0}, False)
        >>> round(sum(model.predict_proba_one({"x": 0.3}).values()), 12)
        1.0
        """
        try:
            model = self._model
        except AttributeError:
            return {}
        return model.probabilities_by(x, self._labels)

    @property
    def _multiclass(self) -> bool:
        return True


def _labels(classes: np.ndarray) -> list[Any]:
    """Classes as a model file has them: all numbers, or all names."""
    labels = [v.label(label) for label in classes.tolist()]
    return labels if len({type(label) for label in labels}) == 1 else [str(label) for label in classes.tolist()]
