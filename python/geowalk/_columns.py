"""Columns of tables as the compiled half reads them: numbers, or codes and names.

What becomes which feature is the rule of the readers of files (`geowalk_data::Frame`). Here the values of pandas,
Polars, Arrow and numpy
become numbers, texts or gaps, and what is none of these is refused with its column and row.
"""

from __future__ import annotations

import datetime
import re
import warnings
from numbers import Number
from typing import Any, NamedTuple

import numpy as np

from . import _validate as v
from ._geowalk import ConfigError, DataError, Frame

_NUMERIC = re.compile(r"\s*[+-]?(\d+\.?\d*|\.\d+)([eE][+-]?\d+)?\s*")
_DATE = re.compile(r"\s*(\d{4}-\d\d?-\d\d?|\d{4}/\d\d?/\d\d?|\d\d?\.\d\d?\.\d{4})([ T].*)?")
_MANY = 50
"""Fewer different values than these are not worth a warning."""


class Column(NamedTuple):
    """One column: `kind` is 'number', 'flag' (booleans), 'text' or 'date'."""

    name: str
    kind: str
    values: np.ndarray
    """Numbers, NaN where one is missing; texts, None where one is missing; dates as days since 1970-01-01."""
    declared: bool = False
    """Is its type one of categories?"""


class Table(NamedTuple):
    """The columns of a table. `named` is False where they are numbered, because they have no names."""

    columns: list[Column]
    named: bool
    rows: int
    labels: Any = None
    """The labels of the rows, if they are not just their numbers."""


def table_of(X: Any) -> Table | None:
    """The columns of a DataFrame, or of an array that holds more than numbers. None for arrays of numbers and sparse matrices."""
    names = v.names_of(X)
    if names is not None or hasattr(X, "iloc"):
        try:
            found = [_read(X, k, name) for k, name in enumerate(names or _numbered(X.shape[1]))]
        except BadCell as error:
            raise error.named(v.labels_of(X)) from None
        rows = X.num_rows if hasattr(X, "num_rows") else len(X)
        v.enough((rows, len(found)))
        twice = next((name for at, name in enumerate(names or []) if name in names[:at]), None)
        if twice is not None:
            raise DataError(f"two columns have the name '{twice}'; rename one")
        return Table(found, names is not None, rows, v.labels_of(X))
    if v.is_sparse(X) or hasattr(X, "to_numpy"):
        return None
    array = np.asarray(X) if isinstance(X, np.ndarray) else _array(X)
    if array.dtype.kind not in "OU" or array.ndim != 2 or isinstance(X, np.ma.MaskedArray):
        return None
    v.enough(array.shape)
    try:
        found = [_column(str(k + 1), array[:, k], k) for k in range(array.shape[1])]
    except BadCell as error:
        raise error.named(None) from None
    return None if all(column.kind == "number" for column in found) else Table(found, False, len(array))


def _array(X: Any) -> np.ndarray:
    """Lists as an array in which numbers beside texts stay numbers."""
    array = np.asarray(X)
    return np.array(X, dtype=object) if array.dtype.kind in "US" else array


def _numbered(count: int) -> list[str]:
    """The names of columns without names: those of a file without header."""
    return [str(k) for k in range(1, count + 1)]


def _read(X: Any, k: int, name: str) -> Column:
    """A column of pandas, Polars or Arrow."""
    if hasattr(X, "column_names"):
        column = X.column(k)
        declared = type(column.type).__name__ == "DictionaryType"
        if declared:
            column = column.cast(column.type.value_type)
        values = (column.chunk(0) if column.num_chunks == 1 else column).to_numpy(zero_copy_only=False)
        return _column(name, values, name, declared)
    if hasattr(X, "iloc"):
        column = X.iloc[:, k]
        return _column(name, v.series(column), name, type(column.dtype).__name__ == "CategoricalDtype")
    column = X[name]
    return _column(name, column.to_numpy(), name, str(column.dtype).startswith(("Categorical", "Enum")))


def _column(name: str, values: np.ndarray, shown: Any, declared: bool = False) -> Column:
    """Values as numbers, flags or texts. `shown` is how the user counts the column."""
    kind = values.dtype.kind
    if kind == "b":
        return Column(name, "flag", values.astype(np.float64), declared)
    if kind in "iuf":
        return Column(name, "number", values, declared)
    if kind == "c":
        raise ValueError("Complex data not supported")
    if kind == "M":
        return Column(name, "date", _days(values), declared)
    if kind == "m":
        raise _dates(shown, str(values.dtype))
    cells = values.tolist()
    gaps = [x is None or type(x).__name__ in ("NAType", "NaTType") or (isinstance(x, Number) and x != x) for x in cells]
    types = {type(x) for x, gap in zip(cells, gaps) if not gap}
    if all(issubclass(t, (bool, np.bool_)) for t in types) and types:
        return Column(name, "flag", np.array([np.nan if gap else float(x) for x, gap in zip(cells, gaps)]), declared)
    if types and all(issubclass(t, datetime.date) for t in types):
        return Column(name, "date", _days_of(shown, cells, gaps), declared)
    real = {t for t in types if issubclass(t, Number) and not issubclass(t, complex)}
    if types and real == types:
        if all(issubclass(t, (int, np.integer)) for t in types) and not any(gaps):
            return Column(name, "number", values if max(map(abs, cells)) >= 2**63 else values.astype(np.int64), declared)
        return Column(name, "number", np.array([np.nan if gap else float(x) for x, gap in zip(cells, gaps)]), declared)
    other = types - real - {bool, np.bool_}
    if not all(issubclass(t, str) for t in other):
        row = next(at for at, (x, gap) in enumerate(zip(cells, gaps)) if not gap and type(x) in other and not isinstance(x, str))
        raise BadCell(shown, row, cells[row])
    texts = np.empty(len(cells), dtype=object)
    texts[:] = [None if gap else x if isinstance(x, str) else _written(x) for x, gap in zip(cells, gaps)]
    return Column(name, "text", texts, declared)


def _written(x: Any) -> str:
    """A number or a truth value as the readers of files write it."""
    if isinstance(x, (bool, np.bool_)):
        return "true" if x else "false"
    if isinstance(x, (int, np.integer)):
        return str(int(x))
    return str(int(x)) if float(x).is_integer() and abs(x) < 1e15 else repr(float(x))


_DAY = 86_400
_FIRST = datetime.date(1970, 1, 1).toordinal()


def _days(values: np.ndarray) -> np.ndarray:
    """Dates of numpy as days since 1970-01-01, NaN where one is missing."""
    whole = values.astype("datetime64[D]")
    seconds = (values - whole.astype(values.dtype)) / np.timedelta64(1, "s") if values.dtype != whole.dtype else np.zeros(len(values))
    return np.where(np.isnat(values), np.nan, whole.astype(np.int64).astype(np.float64) + seconds / _DAY)


def _days_of(shown: Any, cells: list[Any], gaps: list[bool]) -> np.ndarray:
    """Dates of Python as days since 1970-01-01; those with a zone in UTC."""
    days = np.full(len(cells), np.nan)
    for row, (x, gap) in enumerate(zip(cells, gaps)):
        if not gap:
            if isinstance(x, datetime.datetime):
                x = x.astimezone(datetime.timezone.utc) if x.tzinfo is not None else x
                part = 3600 * x.hour + 60 * x.minute + x.second + x.microsecond / 1e6
            else:
                part = 0.0
            days[row] = x.toordinal() - _FIRST + part / _DAY
    return days


def iso(days: float) -> str:
    """A date as the readers of files know it."""
    whole = int(np.floor(days))
    text = datetime.date.fromordinal(whole + _FIRST).isoformat()
    seconds = round((days - whole) * _DAY)
    return text if not seconds else f"{text} {seconds // 3600:02}:{seconds // 60 % 60:02}:{seconds % 60:02}"


class Days(tuple[Any, ...]):
    """Dates as days since 1970-01-01, NaN where one is missing."""


def _dates(shown: Any, what: str) -> DataError:
    return DataError(f"column {shown!r} holds times ({what}); replace it by numbers, such as seconds")


class BadCell(Exception):
    """A cell that is neither a number nor a text."""

    def __init__(self, shown: Any, row: int, x: Any) -> None:
        self.shown, self.row, self.x = shown, row, x

    def named(self, labels: Any) -> Exception:
        """The error that says where it is."""
        what = type(self.x).__name__
        if any(hasattr(self.x, part) for part in ("year", "hour", "days", "ordinal")):
            return _dates(self.shown, what)
        where = f"{v.row_of(self.row, labels)}, column {self.shown!r}"
        return TypeError(f"{where} of X holds a {what}; the argument must be a string or a real number")


class Names(tuple[Any, ...]):
    """Codes and names of a column that holds names whatever they look like, because the user or its type says so."""


class Stored(tuple[Any, ...]):
    """The rows of a column whose number is not 0, these numbers, and how many rows there are."""


def kept(column: Any, rows: np.ndarray) -> Any:
    """A column without the rows that are False."""
    if isinstance(column, Stored):
        own = rows[column[0]]
        return Stored(((np.cumsum(rows) - 1)[column[0][own]].astype(np.uint32), column[1][own], int(rows.sum())))
    if isinstance(column, Days):
        return Days((column[0][rows],))
    return (column[0][rows], column[1]) if isinstance(column, tuple) else column[rows]


class Rules(NamedTuple):
    """What the user or a model says of columns."""

    nominal: tuple[str, ...] = ()
    text: tuple[str, ...] = ()
    kinds: dict[str, str] | None = None
    """The kind of each column of a model, by name."""
    knows: Any = None
    """Does a model know this value of this column?"""


def coded(table: Table, rules: Rules) -> list[Any]:
    """Each column as the compiled half reads it: float64 numbers, or codes and names. A column of another kind than the model's is refused."""
    return [_coded(column, rules, table.labels) for column in table.columns]


def _coded(column: Column, rules: Rules, labels: Any) -> Any:
    name, kind = column.name, (rules.kinds or {}).get(column.name, "undecided")
    empty = all(x is None for x in column.values) if column.kind == "text" else bool(np.isnan(column.values.astype(np.float64)).all())
    if empty:
        return np.full(len(column.values), np.nan)
    if column.kind == "date" and kind in ("date", "undecided") and not column.declared and name not in (*rules.nominal, *rules.text):
        return Days((column.values,))
    if kind == "date" and column.kind in ("number", "flag"):
        raise DataError(f"column {name!r} held dates when the model was fitted, and holds numbers now; convert it to dates")
    if kind == "numeric" and column.kind == "date":
        raise DataError(f"column {name!r} held numbers when the model was fitted, and holds dates now; convert it to those numbers")
    if kind == "numeric":
        if column.kind == "text":
            row = next(at for at, x in enumerate(column.values) if x is not None)
            raise DataError(
                f"column {name!r} held numbers when the model was fitted, and holds text now ({column.values[row]!r} in {v.row_of(row, labels)}); "
                f"convert it: X[{name!r}].astype(float)"
            )
        return np.ascontiguousarray(column.values, dtype=np.float64)
    declared = column.declared or name in rules.nominal or name in rules.text
    names = kind in ("nominal", "text") or declared or column.kind != "number"
    if not names:
        return np.ascontiguousarray(column.values, dtype=np.float64)
    texts = column.values if column.kind == "text" else _texts(column)
    codes, distinct = _codes(texts)
    if kind == "nominal" and column.kind == "number" and not any(rules.knows(name, x) for x in distinct):
        raise DataError(f"column {name!r} held names when the model was fitted, and holds numbers now; convert it to those names")
    if kind == "text" and column.kind != "text":
        raise DataError(f"column {name!r} held text when the model was fitted, and holds numbers now; give the texts")
    if kind == "undecided" and not declared and column.kind == "text" and not all(map(_DATE.fullmatch, distinct)):
        _doubt(name, texts, distinct)
    return Names((codes, distinct)) if declared and name not in rules.text else (codes, distinct)


def declared(estimator: object, names: list[str], columns: list[Any]) -> tuple[list[str], list[str]]:
    """The columns that hold names whatever they look like, and the columns of free text, declared or not."""
    nominal, text = (list(v.names_list(estimator, name)) for name in ("nominal", "text"))
    absent = next(((what, name) for what, own in (("nominal", nominal), ("text", text)) for name in own if name not in names), None)
    if absent is not None:
        raise ConfigError(f"{absent[0]} names the column {absent[1]!r}, which is not among {names[:10]}")
    if all(isinstance(column, (np.ndarray, Stored)) for column in columns):
        return [], []
    nominal = [name for name, column in zip(names, columns) if isinstance(column, Names)]
    kinds = Frame(names, columns, nominal, text).kinds()
    return nominal, [name for name, kind in zip(names, kinds) if kind == "text"]


def _texts(column: Column) -> np.ndarray:
    """Numbers, flags or dates as names."""
    flags, cells = column.kind == "flag", column.values.tolist()
    texts = np.empty(len(cells), dtype=object)
    if column.kind == "date":
        texts[:] = [None if x != x else iso(x) for x in cells]
        return texts
    texts[:] = [None if x != x else _written(bool(x)) if flags else _written(x) for x in cells]
    return texts


def _codes(texts: np.ndarray) -> tuple[np.ndarray, list[str]]:
    """The names in the order in which they come, as a reader numbers them, and the number of each row's, -1 where it is missing."""
    places: dict[str | None, int] = {None: -1, "": -1}
    # The gaps take two places of the dictionary, which are not counted.
    codes = [places.setdefault(x, len(places) - 2) for x in texts.tolist()]
    return np.array(codes, dtype=np.int64), [x for x in places if x]


def _doubt(name: str, texts: np.ndarray, distinct: list[str]) -> None:
    """Refuses texts that are all numbers, and warns of a column in which nearly every value is a name of its own."""
    if distinct and all(_NUMERIC.fullmatch(x) for x in distinct):
        raise DataError(
            f"column {name!r} holds numbers written as text ({distinct[0]!r}); convert it, X[{name!r}].astype(float), "
            f"or say that they are names: nominal=[{name!r}]"
        )
    values = int(sum(x is not None for x in texts))
    words = sum(len(x.split()) for x in distinct) / max(len(distinct), 1)
    if len(distinct) >= _MANY and len(distinct) > 0.9 * values and words < 3:
        warnings.warn(
            f"column {name!r}: {len(distinct)} of {values} values differ, and each becomes a feature of its own; leave the column out, or "
            f"split it into words with text=[{name!r}], or keep it without this warning with nominal=[{name!r}]",
            UserWarning,
            stacklevel=2,
        )
