"""Experts and null vectors."""

from __future__ import annotations

import json
from typing import Any

import numpy as np

from . import _validate as v
from ._base import Estimator, NotFittedError
from ._certificate import Certificate
from ._geowalk import Sphere, Tracker, Weigher

__all__ = ["Hedge", "NullVector"]


class Hedge(Estimator):
    """Weights on experts that follow the best of them, whatever happens.

    w_i <- w_i exp(-rate * loss_i) / sum; the learner loses <w, losses>, at most the bound of the theorem more than the best expert, and both are known exactly. An expert that says nothing in a
    round (NaN) keeps its weight.

    walk   'hedge', 'reparam-hedge', 'prod', 'eg', 'reparam-eg', 'ml-poly' or 'boa'; on losses eg is hedge
    rate   'auto' (needs none: follows the mixability gaps; of prices .05), a number, 'tuned(loss=L)' or 'doubling'
    loss   None: `learn` is given losses; 'log': probabilities; 'portfolio': price relatives; any other loss: forecasts and outcomes
    share  the part of the weight that is spread evenly after each round, against a best expert that changes
    range  of losses (0 to 1 for rules that need one), or of forecasts

    >>> import numpy as np
    >>> from geowalk import Hedge
    >>> losses = np.random.default_rng(0).uniform(size=(200, 3)) + [0.2, 0.0, 0.2]
    >>> hedge = Hedge().learn(losses)
    >>> hedge.weights_.argmax(), hedge.certificate_.regret <= hedge.certificate_.bound
    (np.int64(1), True)

    Reference: Freund and Schapire, A decision-theoretic generalization of on-line learning and an application to boosting, 1997; de Rooij, van Erven, Grunwald and Koolen,
    Follow the leader if you can, hedge if you must, 2014.
    """

    def __init__(
        self, walk: str = "eg", rate: Any = "auto", loss: str | None = None, share: float = 0.0, range: tuple[float, float] | None = None
    ) -> None:
        self.walk, self.rate, self.loss, self.share, self.range = walk, rate, loss, share, range

    def learn(self, losses: Any, y: Any = None) -> Hedge:
        """Plays one round, or one for each row: what the experts lost, or what they said and what happened. NaN is an expert that says nothing.

        >>> from geowalk import Hedge
        >>> Hedge().learn([0.0, 1.0]).learn([[0.0, 1.0], [0.0, 1.0]]).weights_.shape
        (2,)
        """
        rows = np.atleast_2d(np.asarray(losses, dtype=np.float64))
        if rows.ndim != 2:
            raise ValueError(f"losses have shape {np.shape(losses)}; a row of experts, or a table with a row per round, is needed")
        outcomes = None if y is None else np.ascontiguousarray(np.atleast_1d(y), dtype=np.float64)
        model = self.__dict__.get("_model")
        if model is None:
            model = Weigher(self.walk, str(self.rate), self.loss, self.share, self.range)
        model.learn(rows, outcomes)
        self._model = model
        self.n_features_in_ = rows.shape[1]
        return self

    @property
    def weights_(self) -> np.ndarray:
        """The weights of the experts, summing to 1."""
        return self._learned.weights()

    def predict(self, advice: Any) -> Any:
        """The weighted mean of what the experts say, of one round or of one per row.

        >>> from geowalk import Hedge
        >>> round(Hedge().learn([[0.0, 1.0]] * 50).predict([3.0, 9.0]), 6)
        3.0
        """
        model = self._learned
        found = model.predict(np.atleast_2d(np.asarray(advice, dtype=np.float64)))
        return float(found[0]) if np.ndim(advice) == 1 else found

    def certificate(self, comparator: Any = None, X: Any = None, y: Any = None) -> Certificate:
        """The guarantee against the best expert, or against the one whose number is `comparator`; all fields are known.

        >>> from geowalk import Hedge
        >>> Hedge().learn([[0.0, 1.0]] * 50).certificate(comparator=1).regret < 0.0
        True
        """
        if comparator == "best":
            comparator = None
        if comparator is not None and not isinstance(comparator, (int, np.integer)):
            raise ValueError(f"comparator = {comparator!r}; the number of an expert is needed, from 0, or 'best'")
        return Certificate(json.loads(self._learned.summary(comparator))["certificate"])


class NullVector(Estimator):
    """The unit vector p with <p, x> = 0 for all rows x of a stream, learned on the sphere.

    p <- Exp_p(-rate * grad <p, x>^2): a step along a great circle, with rows at unit length. On columns of a series and its delays it is the recurrence of the series.

    walk  'sphere', 'implicit:sphere' or 'projected-sphere'
    rate  a number, or inv(c, t0), which settles
    seed  of the starting point

    >>> import numpy as np
    >>> from geowalk import NullVector
    >>> t = np.arange(300)
    >>> y = np.cos(0.5 * t)
    >>> X = np.column_stack([y[2:], y[1:-1], y[:-2]])
    >>> p = NullVector().partial_fit(X).vector_
    >>> np.allclose(p / p[0], [1.0, -2.0 * np.cos(0.5), 1.0], atol=1e-3)
    True

    Reference: Krakowski, Mahony, Williamson and Warmuth, Online learning on spheres, 2007.
    """

    _whole = {"seed": 0}

    def __init__(self, walk: str = "sphere", rate: Any = 0.5, seed: int = 0) -> None:
        self.walk, self.rate, self.seed = walk, rate, seed

    def fit(self, X: Any, y: Any = None) -> NullVector:
        """Learns from the beginning.

        >>> from geowalk import NullVector
        >>> NullVector().fit([[1.0, 0.0]] * 100).vector_.round(6)
        array([0., 1.])
        """
        self.__dict__.pop("_model", None)
        return self.partial_fit(X)

    def partial_fit(self, X: Any, y: Any = None) -> NullVector:
        """Goes on learning. Rows of zeros have no direction and are left out.

        >>> from geowalk import NullVector
        >>> NullVector().partial_fit([[1.0, 0.0]]).partial_fit([[1.0, 0.0]]).summary_["rows"]
        2
        """
        model = self.__dict__.get("_model")
        X = X if model is None else self._named(X)
        names, parts = v.names_of(X), v.parts(X)
        columns = v.shape(parts)[1]
        if model is None:
            if columns < 2:
                raise ValueError(f"X has {columns} feature(s); a null vector needs at least 2 features")
            self._check_whole()
            model = Tracker(self.walk, str(self.rate), self.seed)
            self.n_features_in_ = columns
            self.__dict__.pop("feature_names_in_", None)
            if names is not None:
                self.feature_names_in_ = np.array(names, dtype=object)
        elif columns != self.n_features_in_:
            raise ValueError(f"X has {columns} features, but NullVector is expecting {self.n_features_in_} features as input.")
        model.learn(parts)
        self._model = model
        return self

    @property
    def vector_(self) -> np.ndarray:
        """The vector; its largest coordinate is positive."""
        vector = self._learned.vector()
        if not vector.any():
            raise NotFittedError("all rows so far were zeros: every vector is orthogonal to them; give others")
        return np.concatenate([vector, np.zeros(self.n_features_in_ - len(vector))])

    def certificate(self, comparator: Any = None, X: Any = None, y: Any = None) -> Certificate:
        """The guarantee against all unit vectors; against one, `comparator`; or against the best in hindsight, 'best'. With all rows X that were learned from, what it lost is known.

        >>> import numpy as np
        >>> from geowalk import NullVector
        >>> X = np.random.default_rng(0).standard_normal((100, 2)) @ [[1.0, 0.5], [0.0, 0.0]]
        >>> known = NullVector().fit(X).certificate("best", X)
        >>> known.comparator_loss < 1e-20, known.regret <= known.bound
        (True, True)
        """
        model = self._learned
        if comparator is None:
            if X is not None:
                raise ValueError("X is for what a comparator lost: give a unit vector, or comparator='best'")
            return Certificate(self.summary_["certificate"])
        rows = None if X is None else v.parts(self._named(X))
        if rows is not None and v.shape(rows)[1] != self.n_features_in_:
            raise ValueError(f"X has {v.shape(rows)[1]} features, but NullVector is expecting {self.n_features_in_} features as input.")
        if isinstance(comparator, str):
            if comparator != "best":
                raise ValueError(f"comparator = {comparator!r}; a unit vector is needed, or 'best'")
            if rows is None:
                raise ValueError("the best vector is sought on the rows that were learned from: give them as X")
            return Certificate(json.loads(model.certify(None, rows)))
        u = np.asarray(comparator, dtype=np.float64)
        if u.shape != (self.n_features_in_,):
            raise ValueError(f"the comparator has shape {u.shape}; a vector of shape {(self.n_features_in_,)} is needed")
        Sphere(len(u)).check(u)
        return Certificate(json.loads(model.certify(u.tolist(), rows)))

    def save(self, path: Any) -> None:
        """Writes the model file that `geowalk.load` reads.

        >>> import geowalk, tempfile, os
        >>> path = os.path.join(tempfile.mkdtemp(), "vector.gw")
        >>> geowalk.NullVector().fit([[1.0, 0.0]] * 100).save(path)
        >>> geowalk.load(path).vector_.round(6)
        array([0., 1.])
        """
        model, names = self._learned, getattr(self, "feature_names_in_", None)
        names = range(1, self.n_features_in_ + 1) if names is None else names
        model.save(path, [str(name) for name in names], self._about())
