"""What comes from outside: tables, labels, weights. Errors are those that scikit-learn's users know, with the numbers."""

from __future__ import annotations

import warnings
from typing import Any

import numpy as np

from ._geowalk import ConfigError, DataError

Parts = Any
"""What the compiled half reads: a float64 or float32 array, the columns of a table, or the parts of a sparse matrix."""


class Columns(tuple[np.ndarray, ...]):
    """The columns of a table that keeps them apart: float64 arrays, read where they lie."""


def names_of(X: Any) -> list[str] | None:
    """The names of the columns of a table, if it has names."""
    if hasattr(X, "column_names"):  # Arrow
        return list(X.column_names)
    if hasattr(X, "columns") and not isinstance(X, np.ndarray):  # pandas, Polars
        names = list(X.columns)
        texts = sum(isinstance(name, str) for name in names)
        if 0 < texts < len(names):
            raise TypeError(
                f"{texts} of {len(names)} column names are strings; all or none must be: X.columns = X.columns.astype(str)"
            )
        return names if texts == len(names) and names else None
    return None


def select(X: Any, names: list[str]) -> Any:
    """The columns of these names, in this order."""
    return X.select(names) if hasattr(X, "column_names") else X[names]


def series(column: Any) -> np.ndarray:
    """A column of pandas. Its own types have an NA, which is neither true nor false: no comparison would find it."""
    if isinstance(column.dtype, np.dtype):
        return column.to_numpy()
    if getattr(column.dtype, "kind", "O") in "iuf":
        return column.to_numpy(dtype=np.float64, na_value=np.nan)
    if getattr(column.dtype, "kind", "O") in "mM":
        return column.to_numpy()
    return column.astype(object).where(column.notna(), None).to_numpy()


def refuse_gaps(columns: list[np.ndarray], names: list[Any] | None = None, labels: Any = None) -> None:
    """Refuses columns of numbers in which one is missing."""
    why = "; every value must be a finite number; on-line estimators take it for a missing number with missing='indicator'"
    _refuse(columns, np.isnan, "NaN", why, names, labels)


def refuse_infinity(columns: list[np.ndarray], names: list[Any] | None = None, labels: Any = None) -> None:
    """Refuses columns of numbers in which one is infinite."""
    _refuse(columns, np.isinf, "infinity", "; every value must be a finite number", names, labels)


def _refuse(columns: list[np.ndarray], bad: Any, found: str, why: str, names: Any, labels: Any) -> None:
    """The first row with such a number is the one that is named, as in an array."""
    places = [(int(bad(own).argmax()), at) for at, own in enumerate(columns) if own.dtype.kind == "f" and bad(own).any()]
    if places:
        row, column = min(places)
        shown = column if names is None else repr(names[column])
        error = DataError(f"Input X contains {found} ({row_of(row, labels)}, column {shown}){why}")
        error.row, error.column, error.value = row, column, float(columns[column][row])
        raise error


def labels_of(X: Any) -> Any:
    """The labels that pandas gives the rows, if they are not just their numbers."""
    index = getattr(X, "index", None) if hasattr(X, "iloc") else None
    plain = index is None or (type(index).__name__ == "RangeIndex" and index.start == 0 and index.step == 1)
    return None if plain else index


def row_of(row: int, labels: Any) -> str:
    """A row as the user counts it: its number from 0, and its label if there are labels."""
    return f"row {row}" if labels is None else f"row {row}, labelled {labels[row]!r}"


def has_gaps(X: Any) -> bool:
    """Is a number of a table missing?"""
    if is_sparse(X):
        return False
    if hasattr(X, "iloc"):
        return bool(X.isna().to_numpy().any())
    if names_of(X) is not None:
        return any(_null_in(X, k) for k in range(X.shape[1]))
    array = np.asarray(X)
    if array.dtype.kind == "f":
        return bool(np.isnan(array).any())
    return array.dtype.kind == "O" and any(x is None or x != x for x in array.ravel().tolist())


def _null_in(X: Any, k: int) -> bool:
    """Has a column of Arrow or Polars a value that is missing?"""
    column = X.column(k) if hasattr(X, "column_names") else X[X.columns[k]]
    if column.null_count if hasattr(X, "column_names") else column.null_count():
        return True
    values = column.to_numpy()
    return values.dtype.kind == "f" and bool(np.isnan(values).any())


def is_numeric(X: Any) -> bool:
    """Are all columns of a table of pandas, Polars or Arrow numbers?"""
    if hasattr(X, "iloc"):
        return all(getattr(dtype, "kind", "O") in "iuf" for dtype in X.dtypes)
    return names_of(X) is not None and all(_numbers_in(X, k).dtype.kind in "iuf" for k in range(X.shape[1]))


def _numbers_in(X: Any, k: int) -> np.ndarray:
    """A column of Arrow or Polars as an array."""
    if hasattr(X, "column_names"):
        column = X.column(k)
        return (column.chunk(0) if column.num_chunks == 1 else column).to_numpy(zero_copy_only=False)
    return X[X.columns[k]].to_numpy()


def is_sparse(X: Any) -> bool:
    return hasattr(X, "tocsr") and hasattr(X, "nnz")


def parts(X: Any) -> Parts:
    """A table of numbers as the compiled half reads it. Copied only where the type of its numbers has to change."""
    if is_sparse(X):
        return _sparse(X)
    if hasattr(X, "iloc"):
        names, labels = names_of(X), labels_of(X)
        X = X.to_numpy(dtype=np.float64, na_value=np.nan)
        if X.ndim == 2 and (names is not None or labels is not None) and not np.isfinite(X).all():
            refuse_gaps(list(X.T), names, labels)
            refuse_infinity(list(X.T), names, labels)
    elif names_of(X) is not None:
        return _columns(X)
    elif hasattr(X, "to_numpy"):
        X = X.to_numpy()
    if isinstance(X, np.ma.MaskedArray) and np.ma.is_masked(X):
        row, column = (int(k) for k in np.argwhere(np.atleast_2d(np.ma.getmaskarray(X)))[0][:2])
        raise ValueError(f"X is masked (row {row}, column {column}), and what is behind a mask is no number; fill it: X.filled(...)")
    array = np.asarray(X)
    if array.dtype.kind == "c":
        raise ValueError(f"Complex data not supported\n{X}\n")
    if array.dtype.kind not in "biufO":
        raise ValueError(
            f"X has dtype {array.dtype}; numbers are needed. Convert it, X.astype(float), or give columns of names in a table (pandas, Polars, Arrow)"
        )
    if array.ndim != 2:
        shape = "scalar" if array.ndim == 0 else f"{array.ndim}D"
        raise ValueError(
            f"Expected 2D array, got {shape} array instead:\narray={array}.\nReshape your data either using array.reshape(-1, 1) if "
            "your data has a single feature or array.reshape(1, -1) if it contains a single sample."
        )
    keep = array.dtype in (np.float64, np.float32) and array.dtype.isnative and array.flags.aligned
    if not keep:
        array = array.astype(np.float64)
    enough(array.shape)
    return array


def _columns(X: Any) -> Columns:
    """The columns of an Arrow or Polars table; copied are those that are no float64, or lie in several pieces."""
    columns = Columns(np.ascontiguousarray(column, dtype=np.float64) for column in (_numbers_in(X, k) for k in range(X.shape[1])))
    enough((len(columns[0]) if columns else 0, len(columns)))
    if not all(np.isfinite(column).all() for column in columns):
        names = names_of(X)
        refuse_gaps(list(columns), names)
        refuse_infinity(list(columns), names)
    return columns


def enough(shape: tuple[int, ...]) -> None:
    """Refuses a table without rows or columns."""
    for axis, unit in ((0, "sample"), (1, "feature")):
        if shape[axis] == 0:
            raise ValueError(f"Found array with 0 {unit}(s) (shape={shape}) while a minimum of 1 is required.")


def _sparse(X: Any) -> Parts:
    if X.ndim != 2:
        raise ValueError(f"Expected 2D array, got {X.ndim}D sparse array instead")
    if X.dtype.kind == "c":
        raise ValueError(f"Complex data not supported\n{X}\n")
    X = X.tocsr()
    enough(X.shape)
    if X.shape[1] > 2**28:
        raise ValueError(f"X has {X.shape[1]} columns; at most {2**28} are possible")
    return (
        X.indptr.astype(np.int64, copy=False),
        X.indices.astype(np.int32, copy=False),
        X.data.astype(np.float64, copy=False),
        X.shape[1],
    )


def shape(parts: Parts) -> tuple[int, int]:
    """Rows and columns."""
    if isinstance(parts, Columns):
        return len(parts[0]), len(parts)
    return (len(parts[0]) - 1, parts[3]) if isinstance(parts, tuple) else parts.shape


def column(y: Any, rows: int, estimator: object) -> np.ndarray:
    """Labels as a vector."""
    if y is None:
        raise ValueError(f"{type(estimator).__name__} requires y to be passed, but the target y is None")
    if is_sparse(y):
        raise TypeError("Sparse data was passed for y, but dense data is required.")
    y = np.asarray(y)
    if y.ndim == 2 and y.shape[1] == 1:
        warnings.warn(
            "A column-vector y was passed when a 1d array was expected. Please change the shape of y to (n_samples,), for "
            "example using ravel().",
            _conversion_warning(),
            stacklevel=3,
        )
        y = y.ravel()
    if y.ndim != 1:
        raise ValueError(f"y should be a 1d array, got an array of shape {y.shape} instead.")
    if len(y) != rows:
        raise ValueError(f"Found input variables with inconsistent numbers of samples: [{rows}, {len(y)}]")
    if y.dtype.kind == "c":
        raise ValueError("Complex data not supported\ny")
    if y.dtype.kind == "f":
        finite(y, "y")
    return y


def target(y: Any, usual: str) -> str:
    """What the label's column is called in a file: as the series of labels is, if it has a name."""
    name = getattr(y, "name", None)
    return name if isinstance(name, str) and name else usual


def finite(y: np.ndarray, what: str) -> None:
    if not np.isfinite(y).all():
        row = int(np.flatnonzero(~np.isfinite(y))[0])
        found = "NaN" if np.isnan(y[row]) else "infinity or a value too large for dtype('float64')"
        raise ValueError(f"Input {what} contains {found} (row {row}).")


def numbers(y: np.ndarray) -> np.ndarray:
    """Labels of a regression."""
    y = y.astype(np.float64)
    finite(y, "y")
    return np.ascontiguousarray(y)


def check_classes(y: np.ndarray) -> None:
    """Refuses labels that are not classes."""
    if y.dtype.kind == "f" and (y != np.floor(y)).any():
        row = int(np.flatnonzero(y != np.floor(y))[0])
        raise ValueError(
            f"Unknown label type: continuous. y[{row}] = {y[row]}: classes are whole numbers or names; for numbers use a regressor"
        )
    if y.dtype == object:
        for row, label in enumerate(y):
            # pandas' NA is neither equal to itself nor different.
            if label is None or type(label).__name__ == "NAType" or (isinstance(label, float) and label != label):
                raise ValueError(f"Input y contains NaN (row {row}).")
            if isinstance(label, str) != isinstance(y[0], str):
                raise ValueError(f"y[0] = {y[0]!r} and y[{row}] = {label!r}: classes are all names, or all numbers")


def one_class(classes: np.ndarray, rows: int) -> ValueError:
    """The error of labels among which there is nothing to tell apart."""
    return ValueError(f"one class alone: all {rows} rows have the class {classes.tolist()[0]!r}; at least two classes are needed")


def weights(sample_weight: Any, rows: int) -> np.ndarray | None:
    """Importance weights as a vector; None if all are 1."""
    if sample_weight is None:
        return None
    w = np.asarray(sample_weight, dtype=np.float64)
    if w.ndim == 0:
        w = np.full(rows, float(w))
    if w.shape != (rows,):
        raise ValueError(f"sample_weight.shape == {w.shape}, expected {(rows,)}!")
    finite(w, "sample_weight")
    if (w < 0).any():
        row = int(np.flatnonzero(w < 0)[0])
        raise ValueError(f"Negative values in data passed to `sample_weight`: {w[row]} in row {row}")
    if not w.any():
        raise ValueError("Sample weights must contain at least one non-zero number.")
    return np.ascontiguousarray(w)


def class_weighted(estimator: Any, y: np.ndarray, w: np.ndarray | None, classes: np.ndarray) -> np.ndarray | None:
    """Weights of rows times those of their classes, as the parameter `class_weight` of an estimator says."""
    wanted = getattr(estimator, "class_weight", None)
    if wanted is None:
        return w
    one = np.ones(len(y)) if w is None else w
    if isinstance(wanted, str):
        if wanted != "balanced":
            raise ConfigError(f"class_weight = {wanted!r}; known: None, 'balanced', a dictionary of weights by class")
        counts = {label: one[y == label].sum() for label in classes.tolist()}
        by_class = {label: one.sum() / (len(counts) * count) if count > 0 else 0.0 for label, count in counts.items()}
    else:
        unknown = [label for label in wanted if label not in classes.tolist()]
        if unknown:
            raise ValueError(f"class_weight has the classes {unknown[:5]}, which y does not have")
        by_class = {label: float(wanted.get(label, 1.0)) for label in classes.tolist()}
    return weights(one * np.array([by_class[label] for label in y.tolist()]), len(y))


def whole(name: str, value: Any, least: int) -> None:
    """Refuses a parameter that is not a whole number, or too small."""
    if not isinstance(value, (int, np.integer)):
        raise TypeError(f"{name} = {value!r}; a whole number is needed")
    if value < least:
        raise ConfigError(f"{name} = {value}; it must be a whole number >= {least}")


def unnumbered(names: list[str]) -> list[str]:
    """The features of columns without names, which are numbered from 1 in model files, as people see them: x0, x1=red, ..."""
    parts = (name.partition("=") for name in names)
    return [f"x{int(column) - 1}{sign}{value}" for column, sign, value in parts]


def names_list(estimator: object, name: str) -> tuple[str, ...]:
    """A parameter that is a list of columns."""
    value = getattr(estimator, name, None) or ()
    if isinstance(value, str) or not all(isinstance(column, str) for column in value):
        raise TypeError(f"{name} = {value!r}; a list of column names is needed")
    return tuple(value)


def label(value: Any) -> float | str:
    """A class as a model file has it: a number, or a name."""
    if isinstance(value, (bool, np.bool_, int, np.integer, float, np.floating)) and abs(value) <= 2**53:
        return float(value)
    return str(value)


def _conversion_warning() -> type[Warning]:
    try:
        from sklearn.exceptions import DataConversionWarning
    except ImportError:
        return UserWarning
    return DataConversionWarning
