"""What all estimators share: parameters, tags, files. scikit-learn is never imported before something of it is asked for."""

from __future__ import annotations

import functools
import inspect
import json
import sys
from typing import Any

from . import _validate as v
from ._certificate import Certificate


class NotFittedError(ValueError, AttributeError):
    """Something was asked of an estimator that has learned nothing.

    Where scikit-learn can be imported, what is raised is also its `NotFittedError`.

    >>> import geowalk
    >>> try:
    ...     geowalk.OnlineRegressor().predict([[1.0]])
    ... except geowalk.NotFittedError as error:
    ...     print(error)
    This OnlineRegressor instance is not fitted yet. Call 'fit' with appropriate arguments before using this estimator.
    """


def unfitted(estimator: object) -> NotFittedError:
    """The error to raise for an estimator that has learned nothing."""
    message = (
        f"This {type(estimator).__name__} instance is not fitted yet. "
        "Call 'fit' with appropriate arguments before using this estimator."
    )
    try:
        from sklearn.exceptions import NotFittedError as Theirs
    except ImportError:
        return NotFittedError(message)
    return type("NotFittedError", (NotFittedError, Theirs), {"__module__": "geowalk"})(message)


def alone(method: Any) -> Any:
    """The same method, which says so if another thread is in the model."""

    @functools.wraps(method)
    def guarded(self: Any, *args: Any, **more: Any) -> Any:
        try:
            return method(self, *args, **more)
        except RuntimeError as error:
            if str(error) not in ("Already borrowed", "Already mutably borrowed"):
                raise
            message = (
                f"{type(self).__name__} is in use by another thread, and one of the two learns: let them wait for each other "
                "(threading.Lock), or give each thread a copy (copy.deepcopy)"
            )
            raise RuntimeError(message) from None

    return guarded


class Estimator:
    """Parameters by name, as scikit-learn wants them."""

    _kind: str | None = None
    _sparse = True
    _allow_nan = False
    _poor_score = False
    _positive_only = False

    @classmethod
    def _parameters(cls) -> dict[str, inspect.Parameter]:
        parameters = dict(inspect.signature(cls.__init__).parameters)
        del parameters["self"]
        return parameters

    def get_params(self, deep: bool = True) -> dict[str, Any]:
        """The parameters, by name.

        >>> import geowalk
        >>> geowalk.OnlineClassifier(rate="0.5").get_params()["rate"]
        '0.5'
        """
        return {name: getattr(self, name) for name in sorted(self._parameters())}

    def set_params(self, **params: Any) -> Estimator:
        """Changes parameters, by name. What was learned stays until the next `fit`.

        >>> import geowalk
        >>> geowalk.OnlineClassifier().set_params(walk="gd")
        OnlineClassifier(walk='gd')
        """
        known = self._parameters()
        for name, value in params.items():
            if name not in known:
                raise ValueError(
                    f"Invalid parameter {name!r} for estimator {self}. Valid parameters are: {sorted(known)!r}."
                )
            setattr(self, name, value)
        return self

    def __repr__(self) -> str:
        parameters = self._parameters()
        shown = []
        for name, parameter in parameters.items():
            value = getattr(self, name, None)
            if repr(value) != repr(parameter.default):
                shown.append(f"{name}={value!r}")
        return f"{type(self).__name__}({', '.join(shown)})"

    def __sklearn_tags__(self) -> Any:
        from sklearn.utils import ClassifierTags, InputTags, RegressorTags, Tags, TargetTags

        return Tags(
            estimator_type=self._kind,
            target_tags=TargetTags(required=self._kind is not None),
            classifier_tags=ClassifierTags(poor_score=self._poor_score) if self._kind == "classifier" else None,
            regressor_tags=RegressorTags(poor_score=self._poor_score) if self._kind == "regressor" else None,
            input_tags=InputTags(sparse=self._sparse, allow_nan=self._allow_nan, positive_only=self._positive_only),
        )

    # What scikit-learn's pipelines and searches route to methods

    _routed: dict[str, tuple[str, ...]] = {
        "fit": ("sample_weight",),
        "partial_fit": ("sample_weight",),
        "score": ("sample_weight",),
    }
    """What each method takes besides X and y."""

    def get_metadata_routing(self) -> Any:
        """What pipelines and searches pass on to `fit`, `partial_fit` and `score`, as scikit-learn asks for it.

        >>> import geowalk
        >>> geowalk.TreeClassifier().set_fit_request(sample_weight=True).get_metadata_routing().fit.requests
        {'sample_weight': True}
        """
        from sklearn.utils.metadata_routing import MetadataRequest, get_routing_for_object

        own = self.__dict__.get("_metadata_request")
        if own is not None:
            return get_routing_for_object(own)
        request = MetadataRequest(owner=type(self).__name__)
        for method, names in self._routed.items():
            if hasattr(self, method):
                for name in names:
                    getattr(request, method).add_request(param=name, alias=None)
        return request

    def _request(self, method: str, wanted: dict[str, Any]) -> Any:
        known = self._routed.get(method, ())
        unknown = [name for name in wanted if name not in known]
        if unknown:
            raise TypeError(f"set_{method}_request() got {unknown[0]!r}; {method} takes {', '.join(known) or 'nothing else'}")
        request = self.get_metadata_routing()
        for name, alias in wanted.items():
            getattr(request, method).add_request(param=name, alias=alias)
        self._metadata_request = request
        return self

    def set_fit_request(self, **wanted: bool | str | None) -> Any:
        """Says whether pipelines and searches pass `sample_weight` to `fit`: True, False, None (an error if it comes) or another name for it."""
        return self._request("fit", wanted)

    def set_partial_fit_request(self, **wanted: bool | str | None) -> Any:
        """The same for `partial_fit`."""
        return self._request("partial_fit", wanted)

    def set_score_request(self, **wanted: bool | str | None) -> Any:
        """The same for `score`."""
        return self._request("score", wanted)

    def _repr_html_(self) -> str:
        """For notebooks: the estimator, what it has learned in a sentence, and its guarantee."""
        from html import escape

        lines = [f"<b>{escape(repr(self))}</b>"]
        if self.__sklearn_is_fitted__():
            lines += [escape(line) for line in self._in_words()]
        else:
            lines.append("not fitted")
        return f"<div>{'<br/>'.join(lines)}</div>"

    def _in_words(self) -> list[str]:
        """What was learned, in a few lines."""
        summary = self.summary_ if hasattr(self._model, "summary") else {}
        examples = summary.get("examples")
        known = {"accuracy": "accuracy", "auc": "AUC", "log_loss": "log loss", "rmse": "RMSE", "training_error": "training error"}
        metrics = summary.get("metrics") or {}
        figures = [f"{words} {metrics[name]:.4g}" for name, words in known.items() if isinstance(metrics.get(name), float)]
        lines = [] if examples is None else [f"{examples} rows" + "".join(f", {figure}" for figure in figures)]
        return lines + list(summary.get("guarantee") or [])

    # What comes in

    _whole: dict[str, int] = {}
    """Parameters that are whole numbers, and the least of each."""
    _optional: tuple[str, ...] = ()
    """Those of them that may be None."""

    def _check_whole(self) -> None:
        for name, least in self._whole.items():
            if name in self._parameters() and not (name in self._optional and getattr(self, name) is None):
                v.whole(name, getattr(self, name), least)

    def _named(self, X: Any) -> Any:
        """The columns in the order of the fit, if they have names."""
        names, own = v.names_of(X), getattr(self, "feature_names_in_", None)
        if names is None:
            if own is not None:
                self._warn("X does not have valid feature names, but {} was fitted with feature names")
            return X
        if own is None:
            if hasattr(self, "n_features_in_"):
                self._warn("X has feature names, but {} was fitted without feature names")
            return X
        own = list(own)
        if names == own:
            return X
        unseen, missing = sorted(set(names) - set(own)), sorted(set(own) - set(names))
        if unseen or missing:
            message = "The feature names should match those that were passed during fit.\n"
            if unseen:
                message += "Feature names unseen at fit time:\n" + "".join(f"- {n}\n" for n in unseen[:5])
            if missing:
                message += "Feature names seen at fit time, yet now missing:\n" + "".join(f"- {n}\n" for n in missing[:5])
            raise ValueError(message)
        return v.select(X, own)

    def _warn(self, message: str) -> None:
        import warnings

        warnings.warn(message.format(type(self).__name__), UserWarning, stacklevel=4)

    @property
    def _learned(self) -> Any:
        """What was learned, or the error that nothing was."""
        learned = self.__dict__.get("_model")
        if learned is None:
            raise unfitted(self)
        return learned

    def __sklearn_is_fitted__(self) -> bool:
        return self.__dict__.get("_model") is not None

    def save(self, path: Any) -> None:
        """Writes the model file that `geowalk.load` and the command `geowalk predict` read.

        >>> import geowalk, tempfile, os
        >>> path = os.path.join(tempfile.mkdtemp(), "model.gw")
        >>> geowalk.OnlineRegressor().fit([[1.0], [2.0]], [1.0, 2.0]).save(path)
        >>> geowalk.load(path)
        OnlineRegressor()
        """
        self._learned.save(path, self._about())

    def _about(self) -> str:
        """What a model file tells of the estimator: its class, all its parameters, and what it knows of classes and columns."""
        about = {
            "class": next(cls.__name__ for cls in type(self).__mro__ if cls.__module__.split(".")[0] == "geowalk"),
            "parameters": {name: _plain(value) for name, value in self.get_params().items()},
        }
        if hasattr(self, "classes_"):
            about["classes"] = [_plain(label) for label in self.classes_.tolist()]
            about["closed"] = bool(getattr(self, "_closed", True))
        if hasattr(self, "n_features_in_"):
            about["n_features_in"] = int(self.n_features_in_)
        return json.dumps(about)

    @property
    def summary_(self) -> dict[str, Any]:
        """What came out of it: the same as the command prints with `--json`."""
        return json.loads(self._learned.summary())

    @property
    def intervals_(self) -> list[dict[str, Any]]:
        """Averages of losses on the way, each with the interval that its expectation is in with 95 %, at every row at
        once: of classes the error and the log loss (probabilities cut at 1 %), of numbers the squared error, if their
        range was given. Empty where rows had weights, or were all learned at once.

        >>> import geowalk
        >>> model = geowalk.OnlineClassifier(passes=1).fit([[0.0], [1.0]] * 200, [0, 1] * 200)
        >>> error = model.intervals_[0]
        >>> error["name"], error["low"] <= error["average"] <= error["high"] < 0.2
        ('error', True)
        """
        return self.summary_.get("intervals") or []

    @property
    def guarantee_(self) -> list[str]:
        """What the run is good for, in at most four sentences.

        >>> import geowalk
        >>> model = geowalk.OnlineClassifier(passes=1).fit([[0.0], [1.0]] * 200, [0, 1] * 200)
        >>> "wrongly" in model.guarantee_[0]
        True
        """
        return self.summary_.get("guarantee") or []

    @property
    def certificate_(self) -> Certificate:
        """The certificate of what was learned: `certificate()`."""
        return self.certificate()

    def certificate(self, comparator: Any = None, X: Any = None, y: Any = None) -> Certificate:
        """The guarantee of what was learned.

        >>> import geowalk
        >>> geowalk.BoostClassifier(rounds=3).fit([[0.0], [1.0], [0.2], [0.9]], [0, 1, 0, 1]).certificate().theorem
        'boosting-rate'
        """
        if comparator is not None or X is not None or y is not None:
            raise ValueError(
                f"the theorems of {type(self).__name__} bound its own training error, not a regret: there is no comparator to give"
            )
        return Certificate(self.summary_["certificate"])


def _plain(value: Any) -> Any:
    """A parameter or a label as JSON has it. Tuples and dictionaries are marked, so that they come back as what they were."""
    if isinstance(value, tuple):
        return {"tuple": [_plain(item) for item in value]}
    if isinstance(value, list):
        return [_plain(item) for item in value]
    if isinstance(value, dict):
        return {"dict": [[_plain(key), _plain(item)] for key, item in value.items()]}
    if hasattr(value, "item"):  # numpy
        return value.item()
    return value if value is None or isinstance(value, (bool, int, float, str)) else getattr(value, "spec", None) or str(value)


def unplain(value: Any) -> Any:
    """What was written by `_plain`."""
    if isinstance(value, dict) and "dict" in value:
        return {unplain(key): unplain(item) for key, item in value["dict"]}
    if isinstance(value, dict):
        return tuple(unplain(item) for item in value["tuple"])
    return [unplain(item) for item in value] if isinstance(value, list) else value


def write_page(path: Any, html: str) -> None:
    """Writes a report."""
    with open(path, "w", encoding="utf-8") as file:
        file.write(html)


def register_with_river(cls: type, kind: str) -> None:
    """If river has been imported, its checks take the class for one of its own kind."""
    river = sys.modules.get("river")
    if river is not None and hasattr(river, "base"):
        base = river.base.Classifier if kind == "classifier" else river.base.Regressor
        if not issubclass(cls, base):
            base.register(cls)
