//! # Arrays in and out
//! An argument is anything that NumPy makes an array of. A C-contiguous, aligned float64 array is read where it is; everything else
//! is converted once. Strings, complex numbers and objects are refused with a `TypeError`: no digits are lost in silence.
//!
//! A point has a shape, `(n,)` or `(n, n)`; an array with one more axis is a batch of points. [`Batch`] pairs up the rows of
//! several arguments: single points go with every row.

use std::hash::{DefaultHasher, Hash, Hasher};

use numpy::ndarray::ArrayViewD;
use numpy::{PyArray1, PyArrayDyn, PyArrayMethods, PyReadonlyArrayDyn, PyUntypedArrayMethods};
use pyo3::exceptions::{PyMemoryError, PyOverflowError, PyTypeError};
use pyo3::prelude::*;
use pyo3::types::PyFloat;

use geowalk::error::{Allowed, ConfigError, DomainError};

use crate::error::{Fault, config, shape, tuple, unequal};

/// The numbers of one argument: C-contiguous, aligned, float64.
pub(crate) struct Numbers<'py> {
    what: &'static str,
    py: Python<'py>,
    source: Source<'py>,
}

enum Source<'py> {
    /// One Python number, which needs no array.
    Scalar(f64),
    Array(PyReadonlyArrayDyn<'py, f64>),
}

impl<'py> Numbers<'py> {
    /// Reads an argument, without a copy where its layout allows.
    pub(crate) fn new(what: &'static str, x: &Bound<'py, PyAny>) -> PyResult<Self> {
        let py = x.py();
        let read = |array: &Bound<'py, PyArrayDyn<f64>>| {
            let source = Source::Array(array.try_readonly().map_err(unreadable)?);
            Ok(Self { what, py, source })
        };
        if let Ok(array) = x.cast::<PyArrayDyn<f64>>()
            && array.is_c_contiguous()
            && array.is_aligned()
        {
            return read(array);
        }
        if let Ok(number) = x.cast::<PyFloat>() {
            return Ok(Self { what, py, source: Source::Scalar(number.value()) });
        }
        let numpy = py.import("numpy")?;
        let array = numpy.call_method1("asarray", (x,))?;
        let dtype = array.getattr("dtype")?;
        let kind: String = dtype.getattr("kind")?.extract()?;
        // Floating point, integers with and without sign, booleans.
        if !matches!(kind.as_str(), "f" | "i" | "u" | "b") {
            return Err(PyTypeError::new_err(format!(
                "{what} has dtype {dtype}; real numbers are needed"
            )));
        }
        // Not `ascontiguousarray`, which makes a scalar a vector.
        let array = numpy.call_method1("require", (array, "float64", ("C", "A")))?;
        read(array.cast::<PyArrayDyn<f64>>()?)
    }

    pub(crate) fn shape(&self) -> &[usize] {
        match &self.source {
            Source::Scalar(_) => &[],
            Source::Array(array) => array.shape(),
        }
    }

    /// All numbers, row by row.
    pub(crate) fn slice(&self) -> PyResult<&[f64]> {
        match &self.source {
            Source::Scalar(x) => Ok(std::slice::from_ref(x)),
            Source::Array(array) => array.as_slice().map_err(unreadable),
        }
    }

    /// As points of the given shape, or a batch of them.
    pub(crate) fn points(&self, point: &[usize]) -> PyResult<Rows<'_>> {
        let found = self.shape();
        let Some(axes) = found.len().checked_sub(point.len()) else {
            let text =
                |axes: &[usize]| axes.iter().map(usize::to_string).collect::<Vec<_>>().join(" x ");
            let n = text(point);
            return Err(shape(
                self.py,
                self.what,
                found,
                &format!("one of {n} numbers or a batch of such is needed"),
            ));
        };
        let data = self.slice()?;
        for (&found, &expected) in found[axes..].iter().zip(point) {
            if found != expected {
                return Err(Fault::from(DomainError::Dimension {
                    what: self.what,
                    found,
                    expected,
                })
                .into());
            }
        }
        let size = point.iter().product();
        let lead = &found[..axes];
        let count = (axes > 0).then(|| lead.iter().product());
        Ok(Rows { what: self.what, data, size, count, lead })
    }

    /// As vectors of any length, or a batch of them.
    pub(crate) fn vectors(&self) -> PyResult<Rows<'_>> {
        match *self.shape() {
            [0] | [_, 0] => Err(Fault::from(DomainError::Empty { what: self.what }).into()),
            [n] | [_, n] => self.points(&[n]),
            _ => Err(shape(
                self.py,
                self.what,
                self.shape(),
                "a vector or a batch of vectors is needed",
            )),
        }
    }
}

pub(crate) fn unreadable(error: impl std::fmt::Display) -> PyErr {
    PyTypeError::new_err(format!("the array cannot be read: {error}"))
}

/// One point, or the points of a batch.
#[derive(Clone, Copy)]
pub(crate) struct Rows<'a> {
    what: &'static str,
    data: &'a [f64],
    size: usize,
    count: Option<usize>,
    /// The axes before those of a point.
    lead: &'a [usize],
}

impl<'a> Rows<'a> {
    /// Scalars in a point.
    pub(crate) fn size(&self) -> usize {
        self.size
    }

    /// How many points a batch has.
    pub(crate) fn count(&self) -> Option<usize> {
        self.count
    }

    /// The axes before those of a point.
    pub(crate) fn lead(&self) -> &'a [usize] {
        self.lead
    }

    /// The numbers of all points, one after the other.
    pub(crate) fn data(&self) -> &'a [f64] {
        self.data
    }

    /// The i-th point; a single one is every one.
    pub(crate) fn row(&self, i: usize) -> &'a [f64] {
        let start = if self.count.is_some() { i * self.size } else { 0 };
        &self.data[start..start + self.size]
    }

    /// Refuses points that do not have as many coordinates as those of another argument.
    pub(crate) fn same_size(&self, other: &Self) -> Result<(), Fault> {
        let (found, expected) = (self.size, other.size);
        if found == expected {
            return Ok(());
        }
        Err(DomainError::Dimension { what: self.what, found, expected }.into())
    }
}

/// Arguments whose rows go together, and how many rows that makes.
pub(crate) struct Batch<'a, const K: usize> {
    arguments: [Rows<'a>; K],
    count: Option<usize>,
    lead: &'a [usize],
}

impl<'a, const K: usize> Batch<'a, K> {
    /// Batches must have equally many points.
    pub(crate) fn new(py: Python<'_>, arguments: [Rows<'a>; K]) -> PyResult<Self> {
        let mut first: Option<&Rows<'a>> = None;
        for rows in &arguments {
            match (first, rows.count) {
                (Some(first), Some(_)) if first.lead != rows.lead => {
                    if let ([a], [b]) = (rows.lead, first.lead) {
                        return Err(unequal(py, (rows.what, *a), (first.what, *b)));
                    }
                    let needed =
                        format!("{} is a batch of shape {}", first.what, tuple(first.lead));
                    return Err(shape(py, rows.what, rows.lead, &needed));
                }
                (None, Some(_)) => first = Some(rows),
                _ => {}
            }
        }
        let (count, lead) =
            (first.and_then(|rows| rows.count), first.map_or(&[][..], |rows| rows.lead));
        Ok(Self { arguments, count, lead })
    }

    /// One number for every row, by a loop without the interpreter's lock.
    pub(crate) fn scalars<'py>(
        &self,
        py: Python<'py>,
        mut answer: impl FnMut([&[f64]; K]) -> Result<f64, DomainError> + Send,
    ) -> PyResult<Bound<'py, PyAny>> {
        let Some(count) = self.count else {
            let x = py.detach(|| answer(self.rows(0))).map_err(Fault::from)?;
            crate::own::settle()?;
            return Ok(x.into_pyobject(py)?.into_any());
        };
        let mut out = zeros(count)?;
        py.detach(|| {
            out.iter_mut().enumerate().try_for_each(|(i, out)| {
                *out = answer(self.rows(i)).map_err(|error| Fault::at(error, Some(i)))?;
                Ok::<(), Fault>(())
            })
        })?;
        crate::own::settle()?;
        array(py, out, self.lead)
    }

    /// A point of the given shape for every row, by a loop without the interpreter's lock.
    pub(crate) fn points<'py>(
        &self,
        py: Python<'py>,
        point: &[usize],
        mut answer: impl FnMut([&[f64]; K], &mut [f64]) -> Result<(), DomainError> + Send,
    ) -> PyResult<Bound<'py, PyAny>> {
        let size: usize = point.iter().product();
        let mut out = zeros(self.count.unwrap_or(1).saturating_mul(size))?;
        py.detach(|| {
            out.chunks_exact_mut(size).enumerate().try_for_each(|(i, out)| {
                let at = self.count.map(|_| i);
                answer(self.rows(i), out).map_err(|error| Fault::at(error, at))
            })
        })?;
        crate::own::settle()?;
        let shape: Vec<usize> = self.lead.iter().chain(point).copied().collect();
        array(py, out, &shape)
    }

    /// Only checks, of every row.
    pub(crate) fn check(
        &self,
        py: Python<'_>,
        mut check: impl FnMut([&[f64]; K]) -> Result<(), DomainError> + Send,
    ) -> Result<(), Fault> {
        py.detach(|| {
            (0..self.count.unwrap_or(1)).try_for_each(|i| {
                check(self.rows(i)).map_err(|error| Fault::at(error, self.count.map(|_| i)))
            })
        })
    }

    fn rows(&self, i: usize) -> [&'a [f64]; K] {
        self.arguments.map(|rows| rows.row(i))
    }
}

/// Memory for results. The size may come from a stranger, so a failure is an exception and not the end of the process.
pub(crate) fn zeros(len: usize) -> PyResult<Vec<f64>> {
    let mut memory = Vec::new();
    memory.try_reserve_exact(len).map_err(|_| {
        PyMemoryError::new_err(format!("an array of {len} numbers does not fit in memory"))
    })?;
    memory.resize(len, 0.0);
    Ok(memory)
}

/// A new array; it takes over the memory.
pub(crate) fn array<'py>(
    py: Python<'py>,
    data: Vec<f64>,
    shape: &[usize],
) -> PyResult<Bound<'py, PyAny>> {
    Ok(PyArray1::from_vec(py, data).reshape(shape)?.into_any())
}

/// Refuses NaN and infinities.
pub(crate) fn finite(what: &'static str, x: &[f64]) -> Result<(), DomainError> {
    match x.iter().position(|x| !x.is_finite()) {
        Some(index) => {
            Err(DomainError::Coordinate { what, index, value: x[index], allowed: Allowed::Finite })
        }
        None => Ok(()),
    }
}

/// Refuses the first number that is not allowed.
pub(crate) fn within(x: &Numbers<'_>, allowed: Allowed) -> PyResult<()> {
    let data = x.slice()?;
    let Some(index) = data.iter().position(|&x| !allowed.contains(x)) else { return Ok(()) };
    let (what, value) = (x.what, data[index]);
    Err(Fault::from(if x.shape().is_empty() {
        DomainError::Scalar { what, value, allowed }
    } else {
        DomainError::Coordinate { what, index, value, allowed }
    })
    .into())
}

/// f of every number; a number for a number, an array for an array.
pub(crate) fn each<'py>(
    py: Python<'py>,
    x: &Numbers<'py>,
    f: impl Fn(f64) -> f64 + Sync,
) -> PyResult<Bound<'py, PyAny>> {
    let data = x.slice()?;
    if let ([], [x]) = (x.shape(), data) {
        return Ok(f(*x).into_pyobject(py)?.into_any());
    }
    let mut out = zeros(data.len())?;
    py.detach(|| out.iter_mut().zip(data).for_each(|(out, &x)| *out = f(x)));
    array(py, out, x.shape())
}

/// f of every pair, by NumPy's rules of broadcasting; a number for two numbers.
pub(crate) fn pairs<'py>(
    py: Python<'py>,
    x: &Numbers<'py>,
    y: &Numbers<'py>,
    f: impl Fn(f64, f64) -> f64 + Sync,
) -> PyResult<Bound<'py, PyAny>> {
    let (xs, ys) = (x.slice()?, y.slice()?);
    if let ([], [], [x], [y]) = (x.shape(), y.shape(), xs, ys) {
        return Ok(f(*x, *y).into_pyobject(py)?.into_any());
    }
    let axes = x.shape().len().max(y.shape().len());
    let mut common = Vec::with_capacity(axes);
    for axis in (1..=axes).rev() {
        let length = |shape: &[usize]| shape.len().checked_sub(axis).map_or(1, |i| shape[i]);
        match (length(x.shape()), length(y.shape())) {
            (a, b) if a == b || b == 1 => common.push(a),
            (1, b) => common.push(b),
            _ => {
                let (what, shown) = (x.what, tuple(x.shape()));
                let needed = format!("it does not broadcast with {what} of shape {shown}");
                return Err(shape(py, y.what, y.shape(), &needed));
            }
        }
    }
    let mut out = zeros(common.iter().product())?;
    if x.shape() == y.shape() {
        let pairs = xs.iter().zip(ys);
        py.detach(|| out.iter_mut().zip(pairs).for_each(|(out, (&x, &y))| *out = f(x, y)));
    } else {
        let view = |numbers: &Numbers<'_>, data| {
            ArrayViewD::from_shape(numbers.shape().to_vec(), data).map_err(unreadable)
        };
        let (xs, ys) = (view(x, xs)?, view(y, ys)?);
        let Some((xs, ys)) = xs.broadcast(&common[..]).zip(ys.broadcast(&common[..])) else {
            return Err(shape(py, y.what, y.shape(), "it does not broadcast"));
        };
        let pairs = xs.iter().zip(ys.iter());
        py.detach(|| out.iter_mut().zip(pairs).for_each(|(out, (&x, &y))| *out = f(x, y)));
    }
    array(py, out, &common)
}

/// The hash of a key, the same in every process.
pub(crate) fn hash(key: &impl Hash) -> u64 {
    let mut hasher = DefaultHasher::new();
    key.hash(&mut hasher);
    hasher.finish()
}

/// A number of coordinates: any Python integer, those that cannot be one refused with a `ConfigError`.
#[derive(Clone, Copy)]
pub(crate) struct Size(pub(crate) usize);

impl<'py> FromPyObject<'_, 'py> for Size {
    type Error = PyErr;

    fn extract(n: Borrowed<'_, 'py, PyAny>) -> PyResult<Self> {
        let refuse = |value: f64| {
            config(ConfigError::OutOfRange { name: "n", value, allowed: Allowed::Whole(1) })
        };
        match n.extract::<i64>() {
            Ok(n) => usize::try_from(n).map(Self).map_err(|_| refuse(n as f64)),
            Err(error) if error.is_instance_of::<PyOverflowError>(n.py()) => {
                Err(refuse(n.extract().unwrap_or(f64::INFINITY)))
            }
            Err(error) => Err(error),
        }
    }
}
