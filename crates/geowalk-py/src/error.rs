//! # Errors as exceptions
//! One exception class per enum of `geowalk::error`; the message is the error's own, every field is an attribute. Attributes that an
//! error does not have are `None`, so that a handler can ask for any.

use geowalk::error as core;
use geowalk_data::Door;
use geowalk_run::error::RunError;
use geowalk_run::model::ModelError;
use pyo3::exceptions::{PyOSError, PyRuntimeError, PyValueError};
use pyo3::prelude::*;
use pyo3::types::PyTuple;
use pyo3::{IntoPyObjectExt, create_exception};

create_exception!(
    geowalk,
    DomainError,
    PyValueError,
    "A point, vector or number outside the domain of an operation.

A ValueError. The message has the numbers; so have the attributes, each None where it does not apply:

kind         'dimension', 'shape', 'coordinate', 'constraint', 'scalar', 'not-definite', 'not-symmetric', 'cut-locus',
             'overflow', 'not-converged' or 'empty'
what         which argument, in words
batch_index  which point of a batch
index        which coordinate (of an n by n matrix: row * n + column)
value, found, expected, tolerance, allowed, smallest, row, column, difference, distance, limit, length, residual, iterations

>>> import geowalk
>>> from geowalk.geometry import Sphere
>>> try:
...     Sphere(2).check([0.0, 1.5])
... except geowalk.DomainError as error:
...     print(error)
...     print(error.kind, error.found, error.expected)
the norm of the point is 1.5; it must be 1 within 1e-9
constraint 1.5 1.0"
);

create_exception!(
    geowalk,
    ConfigError,
    PyValueError,
    "A name or parameter from which nothing can be built, or a user's function that was refused.

A ValueError. Attributes, each None where it does not apply:

kind         'out-of-range', 'unknown', 'syntax', 'missing' or 'refused'
name         the parameter, or the name that is not known
value, allowed, nearest, known, text, column, expected, meaning, condition, at, found, needed

>>> import geowalk
>>> try:
...     geowalk.losses.get('hubber')
... except geowalk.ConfigError as error:
...     print(error.kind, error.name, error.nearest)
unknown hubber huber"
);

create_exception!(
    geowalk,
    DataError,
    PyValueError,
    "Data or a model file that cannot be used.

A ValueError. Attributes, each None where it does not apply:

file, line   where it was read, the line from 1
row, column  which row and column of what was given, from 0
value        the number at fault

>>> import geowalk, numpy
>>> try:
...     geowalk.OnlineRegressor(missing='error').fit([[1.0], [float('nan')]], [0.0, 1.0])
... except geowalk.DataError as error:
...     print(error.row, error.column, error.value)
1 0 nan"
);

const DATA: [&str; 5] = ["file", "line", "row", "column", "value"];

const DOMAIN: [&str; 19] = [
    "kind",
    "what",
    "batch_index",
    "index",
    "value",
    "quantity",
    "found",
    "expected",
    "tolerance",
    "allowed",
    "smallest",
    "row",
    "column",
    "difference",
    "distance",
    "limit",
    "length",
    "residual",
    "iterations",
];

const CONFIG: [&str; 14] = [
    "kind",
    "name",
    "value",
    "allowed",
    "nearest",
    "known",
    "text",
    "column",
    "expected",
    "meaning",
    "condition",
    "at",
    "found",
    "needed",
];

/// Gives the classes every attribute, with the value `None`.
pub(crate) fn declare_attributes(py: Python<'_>) -> PyResult<()> {
    for name in DOMAIN {
        py.get_type::<DomainError>().setattr(name, py.None())?;
    }
    for name in CONFIG {
        py.get_type::<ConfigError>().setattr(name, py.None())?;
    }
    for name in DATA {
        py.get_type::<DataError>().setattr(name, py.None())?;
    }
    Ok(())
}

/// An exception under construction.
struct Exception<'py> {
    error: PyErr,
    py: Python<'py>,
}

impl<'py> Exception<'py> {
    fn with(self, name: &str, value: impl IntoPyObjectExt<'py>) -> Self {
        // A failure to set an attribute must not hide the error itself.
        let set = value.into_bound_py_any(self.py);
        let _ = set.and_then(|value| self.error.value(self.py).setattr(name, value));
        self
    }
}

/// An error of the library, and the place in the batch where it happened.
#[derive(Debug)]
pub(crate) struct Fault {
    error: core::DomainError,
    batch_index: Option<usize>,
}

impl Fault {
    /// An error at one point of a batch, if there is a batch.
    pub(crate) fn at(error: core::DomainError, batch_index: Option<usize>) -> Self {
        Self { error, batch_index }
    }
}

impl From<core::DomainError> for Fault {
    fn from(error: core::DomainError) -> Self {
        Self { error, batch_index: None }
    }
}

impl From<Fault> for PyErr {
    fn from(fault: Fault) -> Self {
        // What a method of the user's raised is the cause of what the library says.
        crate::own::raised()
            .unwrap_or_else(|| Python::attach(|py| domain(py, &fault.error, fault.batch_index)))
    }
}

fn domain(py: Python<'_>, error: &core::DomainError, batch_index: Option<usize>) -> PyErr {
    use core::DomainError as D;
    let message = match batch_index {
        Some(index) => format!("item {index} of the batch: {error}"),
        None => error.to_string(),
    };
    let new = |kind: &str| {
        let error = DomainError::new_err(message.clone());
        Exception { error, py }.with("kind", kind).with("batch_index", batch_index)
    };
    let exception = match error {
        D::Dimension { what, found, expected } => {
            new("dimension").with("what", *what).with("found", *found).with("expected", *expected)
        }
        D::Coordinate { what, index, value, allowed } => new("coordinate")
            .with("what", *what)
            .with("index", *index)
            .with("value", *value)
            .with("allowed", allowed.to_string()),
        D::Constraint { quantity, found, expected, tolerance } => new("constraint")
            .with("quantity", *quantity)
            .with("found", *found)
            .with("expected", *expected)
            .with("tolerance", *tolerance),
        D::NotDefinite { smallest } => new("not-definite").with("smallest", *smallest),
        D::NotSymmetric { row, column, difference } => new("not-symmetric")
            .with("row", *row)
            .with("column", *column)
            .with("difference", *difference),
        D::CutLocus { distance, limit } => {
            new("cut-locus").with("distance", *distance).with("limit", *limit)
        }
        D::Overflow { length, limit } => {
            new("overflow").with("length", *length).with("limit", *limit)
        }
        D::Scalar { what, value, allowed } => new("scalar")
            .with("what", *what)
            .with("value", *value)
            .with("allowed", allowed.to_string()),
        D::NotConverged { what, residual, iterations } => new("not-converged")
            .with("what", *what)
            .with("residual", *residual)
            .with("iterations", *iterations),
        D::Empty { what } => new("empty").with("what", *what),
        _ => new("other"),
    };
    exception.error
}

/// Something was asked of a learner that has learned nothing.
pub(crate) fn unlearned() -> PyErr {
    PyRuntimeError::new_err("nothing has been learned yet")
}

/// A specification, parameter or function that was refused. Numbers outside a domain are a [`DomainError`] also when
/// something is built from them.
pub(crate) fn config(error: core::ConfigError) -> PyErr {
    use core::ConfigError as C;
    let message = Door::Python.words(&error);
    Python::attach(|py| {
        let new = |kind: &str| {
            let error = ConfigError::new_err(message);
            Exception { error, py }.with("kind", kind)
        };
        let exception = match error {
            C::OutOfRange { name, value, allowed } => new("out-of-range")
                .with("name", name)
                .with("value", value)
                .with("allowed", allowed.to_string()),
            C::Unknown { name, nearest, known, .. } => new("unknown")
                .with("name", name)
                .with("nearest", nearest)
                .with("known", known.split(", ").collect::<Vec<_>>()),
            C::Syntax { text, column, expected } => {
                new("syntax").with("text", text).with("column", column).with("expected", expected)
            }
            C::Missing { name, meaning } => {
                new("missing").with("name", name).with("meaning", meaning)
            }
            C::Domain(error) => return domain(py, &error, None),
            C::Refused(refusal) => new("refused")
                .with("condition", refusal.condition)
                .with("at", refusal.at)
                .with("found", refusal.found)
                .with("needed", refusal.needed),
            _ => new("other"),
        };
        exception.error
    })
}

/// Data that were given and cannot be used: which row and column, from 0, and the number at fault.
pub(crate) fn data(
    message: String,
    row: Option<usize>,
    column: Option<usize>,
    value: Option<f64>,
) -> PyErr {
    Python::attach(|py| {
        let exception = Exception { error: DataError::new_err(message), py };
        exception.with("row", row).with("column", column).with("value", value).error
    })
}

/// Why a run stopped. Rows are counted from 0, as Python does.
pub(crate) fn run(error: RunError) -> PyErr {
    let mut message = Door::Python.words(&error);
    if let RunError::Label { row, .. }
    | RunError::Diverged { row, .. }
    | RunError::Round { row, .. } = &error
    {
        let (told, counted) = (format!("row {row}:"), format!("row {}:", row.saturating_sub(1)));
        message = message.replacen(&told, &counted, 1);
    }
    match error {
        RunError::Config(error) => config(error),
        RunError::Label { row, .. } => {
            data(message, usize::try_from(row).ok().and_then(|row| row.checked_sub(1)), None, None)
        }
        RunError::Diverged { row, cause, .. } => Python::attach(|py| {
            let plain = domain(py, &cause.cause, None);
            let error = DomainError::new_err(message);
            for name in DOMAIN {
                let value = plain.value(py).getattr(name);
                let _ = value.and_then(|value| error.value(py).setattr(name, value));
            }
            Exception { error, py }.with("row", row.saturating_sub(1)).error
        }),
        RunError::Data(error) => {
            let line = error.position.map(|position| position.line);
            if let geowalk_data::ErrorKind::Io { source: cause } = error.kind.as_ref() {
                return system(&error.file, cause);
            }
            Python::attach(|py| {
                let exception = Exception { error: DataError::new_err(message), py };
                exception.with("file", error.file).with("line", line).error
            })
        }
        RunError::Model(error) => model(&error),
        RunError::Contradiction(_) => PyRuntimeError::new_err(message),
        _ => DataError::new_err(message),
    }
}

/// A model file that cannot be written or read.
pub(crate) fn model(error: &ModelError) -> PyErr {
    match error {
        ModelError::Io { path, source } => system(&path.display().to_string(), source),
        _ => DataError::new_err(error.to_string()),
    }
}

/// What the system says of a file: FileNotFoundError and its relatives.
fn system(file: &str, error: &std::io::Error) -> PyErr {
    match error.raw_os_error() {
        // With the number Python chooses the class.
        Some(number) => {
            let text = error.to_string();
            let text = text.split(" (os error").next().unwrap_or_default().to_owned();
            PyOSError::new_err((number, text, file.to_owned()))
        }
        None => PyOSError::new_err(format!("{file}: {error}")),
    }
}

/// A shape as Python writes it.
pub(crate) fn tuple(shape: &[usize]) -> String {
    match shape {
        [n] => format!("({n},)"),
        _ => format!("({})", shape.iter().map(usize::to_string).collect::<Vec<_>>().join(", ")),
    }
}

/// An array whose shape is not what is needed, which is said in words.
pub(crate) fn shape(py: Python<'_>, what: &str, found: &[usize], needed: &str) -> PyErr {
    let error = DomainError::new_err(format!("{what} has shape {}; {needed}", tuple(found)));
    let exception = Exception { error, py }.with("kind", "shape").with("what", what);
    match PyTuple::new(py, found) {
        Ok(found) => exception.with("found", found).error,
        Err(error) => error,
    }
}

/// Two batches whose rows do not pair up.
pub(crate) fn unequal(
    py: Python<'_>,
    (what, found): (&str, usize),
    (other, expected): (&str, usize),
) -> PyErr {
    let message = format!("{what} is a batch of {found}; {other} is a batch of {expected}");
    let error = DomainError::new_err(message);
    let exception = Exception { error, py }.with("kind", "shape").with("what", what);
    exception.with("found", found).with("expected", expected).error
}
