"""Certificates: what a theorem says of a run."""

from __future__ import annotations

from typing import Any

_COMMANDS = (
    ("geowalk certify MODEL --comparator FILE --data DATA", "certificate(comparator, X=X)"),
    ("--comparator FILE", "comparator="),
    ("--data DATA", "X="),
    ("--rate ", "rate="),
    ("--loss ", "loss="),
    ("--walk ", "walk="),
)


def _of_python(value: Any) -> Any:
    """A sentence of the command line with the names that Python has for its flags."""
    if isinstance(value, dict):
        return {key: _of_python(entry) if key in ("reason", "theorem", "first_order") else entry for key, entry in value.items()}
    if isinstance(value, str):
        for command, name in _COMMANDS:
            value = value.replace(command, name)
    return value


_FIELDS = ("name", "theorem", "status", "reason", "loss", "comparator_loss", "regret", "bound")


class Certificate:
    """What a theorem, evaluated on a run, says: regret <= bound, if its premises held.

    name             whose numbers these are, `geowalk list theorems` explains it: the tightest valid one
    status           'valid', 'void' if a premise broke, 'none' if there is none
    reason           why it is void
    loss             what the learner lost
    comparator_loss  what the comparator lost, if there is one
    regret           the difference
    bound            what the theorem says that the regret is at most
    comparators      against which weights
    first_order      the first-order certificate by itself
    theorem          the theorem of the walk by itself: name, status, reason, bound

    It is a view of what the command prints with `--json`; `certificate["bound"]` is `certificate.bound`, and `dict(certificate)` all of it.

    >>> import geowalk
    >>> model = geowalk.OnlineClassifier().fit([[0.0], [1.0], [0.2], [0.9]], [0, 1, 0, 1])
    >>> certificate = model.certificate_
    >>> certificate.name, certificate.status, certificate.bound > 0.0
    ('first-order', 'valid', True)

    Reference: for `first-order`, Zinkevich, Online convex programming and generalized infinitesimal gradient ascent, 2003.
    """

    def __init__(self, fields: dict[str, Any]) -> None:
        self._fields = {**dict.fromkeys(_FIELDS), **_of_python(fields)}
        theorem = self._fields["theorem"]
        if self._fields["name"] is None and theorem is not None:
            self._fields["name"] = theorem if isinstance(theorem, str) else theorem["name"]

    def __getattr__(self, name: str) -> Any:
        if name.startswith("_"):  # asked by pickle and copy, when there are no fields yet
            raise AttributeError(name)
        if name not in self._fields:
            raise AttributeError(f"a certificate has no {name!r}; it has {', '.join(self._fields)}")
        return self._fields[name]

    def __getitem__(self, name: str) -> Any:
        return self._fields[name]

    def keys(self) -> Any:
        """The names of its fields.

        >>> from geowalk import Certificate
        >>> "status" in Certificate({"status": "none"}).keys()
        True
        """
        return self._fields.keys()

    def __dir__(self) -> list[str]:
        return [*super().__dir__(), *self._fields]

    def __repr__(self) -> str:
        shown = ", ".join(f"{name}={value!r}" for name, value in self._fields.items() if value is not None)
        return f"Certificate({shown})"

    def plot(self, ax: Any = None) -> Any:
        """Loss, regret and bound as bars (needs matplotlib).

        >>> from geowalk import Certificate
        >>> import importlib.util
        >>> if importlib.util.find_spec("matplotlib"):
        ...     import matplotlib; matplotlib.use("agg")
        ...     _ = Certificate({"status": "valid", "loss": 3.0, "bound": 5.0}).plot()
        """
        try:
            import matplotlib.pyplot as plt
        except ImportError as error:
            raise ImportError("a plot needs matplotlib: pip install matplotlib") from error
        ax = plt.gca() if ax is None else ax
        shown = {name: self._fields[name] for name in ("loss", "comparator_loss", "regret", "bound")}
        shown = {name.replace("_", " "): value for name, value in shown.items() if value is not None}
        ax.bar(list(shown), list(shown.values()), color=["C0", "C1", "C2", "C3"][: len(shown)])
        ax.set_title(f"{self._fields['name']}: {self._fields['status']}")
        return ax
