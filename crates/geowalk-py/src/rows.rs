//! # Examples in memory
//! What an estimator is given: an array of float64 or float32 in any layout, columns of float64, or the three arrays of a compressed sparse matrix. They are read where they lie; a block of rows
//! at a time is copied into the memory that the learner reads, never the whole.

use std::ops::Range;

use geowalk::row::Block;
use numpy::ndarray::ArrayView2;
use numpy::{PyArray1, PyArray2, PyArrayMethods, PyReadonlyArray1, PyReadonlyArray2};
use pyo3::exceptions::PyTypeError;
use pyo3::prelude::*;
use pyo3::types::PyTuple;

use crate::convert::unreadable;
use crate::error::data;

/// Values in a block: half a megabyte, which stays in the cache.
const VALUES: usize = 1 << 16;

/// Rows of a block, as on the command line.
const ROWS: usize = geowalk_run::pump::ROWS;

/// Examples as Python holds them.
pub(crate) enum Rows<'py> {
    Double(PyReadonlyArray2<'py, f64>),
    Single(PyReadonlyArray2<'py, f32>),
    Columns(Vec<PyReadonlyArray1<'py, f64>>),
    Sparse {
        ends: PyReadonlyArray1<'py, i64>,
        indices: PyReadonlyArray1<'py, i32>,
        values: PyReadonlyArray1<'py, f64>,
        columns: usize,
    },
}

impl<'py> Rows<'py> {
    /// Reads an argument.
    pub(crate) fn new(x: &Bound<'py, PyAny>) -> PyResult<Self> {
        if let Ok(array) = x.cast::<PyArray2<f64>>() {
            return Ok(Self::Double(array.try_readonly().map_err(unreadable)?));
        }
        if let Ok(array) = x.cast::<PyArray2<f32>>() {
            return Ok(Self::Single(array.try_readonly().map_err(unreadable)?));
        }
        if let Ok(parts) = x.cast::<PyTuple>()
            && let Ok(last) = parts.get_item(parts.len().saturating_sub(1))
        {
            if last.cast::<PyArray1<f64>>().is_ok() {
                let column = |part: Bound<'py, PyAny>| -> PyResult<_> {
                    part.cast::<PyArray1<f64>>()?.try_readonly().map_err(unreadable)
                };
                let columns: Vec<_> = parts.iter().map(column).collect::<PyResult<_>>()?;
                return Ok(Self::Columns(columns));
            }
            let array = |k: usize| parts.get_item(k);
            return Ok(Self::Sparse {
                ends: array(0)?.cast::<PyArray1<i64>>()?.try_readonly().map_err(unreadable)?,
                indices: array(1)?.cast::<PyArray1<i32>>()?.try_readonly().map_err(unreadable)?,
                values: array(2)?.cast::<PyArray1<f64>>()?.try_readonly().map_err(unreadable)?,
                columns: array(3)?.extract()?,
            });
        }
        Err(PyTypeError::new_err(
            "X must be a two-dimensional float64 or float32 array, a tuple of float64 columns, or the parts (indptr, indices, data, columns) of a sparse one",
        ))
    }

    /// What is there, readable without the interpreter's lock; checked once, so that nothing is learned from half of a bad table.
    pub(crate) fn view(&self) -> PyResult<View<'_>> {
        let view = match self {
            Self::Double(array) => View::Double(array.as_array()),
            Self::Single(array) => View::Single(array.as_array()),
            Self::Columns(columns) => {
                let slices = columns.iter().map(|column| column.as_slice().map_err(unreadable));
                let slices: Vec<&[f64]> = slices.collect::<PyResult<_>>()?;
                let rows = slices.first().map_or(0, |column| column.len());
                if let Some(other) = slices.iter().find(|column| column.len() != rows) {
                    let message = format!("X has columns of {rows} and of {} rows", other.len());
                    return Err(data(message, None, None, None));
                }
                View::Columns(slices)
            }
            Self::Sparse { ends, indices, values, columns } => View::Sparse {
                ends: ends.as_slice().map_err(unreadable)?,
                indices: indices.as_slice().map_err(unreadable)?,
                values: values.as_slice().map_err(unreadable)?,
                columns: *columns,
            },
        };
        view.check()?;
        Ok(view)
    }
}

/// Examples to be read.
#[derive(Clone)]
pub(crate) enum View<'a> {
    Double(ArrayView2<'a, f64>),
    Single(ArrayView2<'a, f32>),
    Columns(Vec<&'a [f64]>),
    Sparse { ends: &'a [i64], indices: &'a [i32], values: &'a [f64], columns: usize },
}

impl View<'_> {
    pub(crate) fn len(&self) -> usize {
        match self {
            Self::Double(array) => array.nrows(),
            Self::Single(array) => array.nrows(),
            Self::Columns(columns) => columns.first().map_or(0, |column| column.len()),
            Self::Sparse { ends, .. } => ends.len().saturating_sub(1),
        }
    }

    pub(crate) fn columns(&self) -> usize {
        match self {
            Self::Double(array) => array.ncols(),
            Self::Single(array) => array.ncols(),
            Self::Columns(columns) => columns.len(),
            Self::Sparse { columns, .. } => *columns,
        }
    }

    /// Refuses what is not finite, and a sparse matrix whose parts do not fit together.
    fn check(&self) -> PyResult<()> {
        match self {
            Self::Double(array) => match array.as_slice_memory_order() {
                Some(values) if values.iter().all(|x| x.is_finite()) => Ok(()),
                _ => finite(array.indexed_iter().map(|(at, x)| (at, *x))),
            },
            Self::Single(array) => finite(array.indexed_iter().map(|(at, x)| (at, f64::from(*x)))),
            Self::Columns(columns) => {
                let all = columns.iter().enumerate().flat_map(|(column, values)| {
                    values.iter().enumerate().map(move |(row, x)| ((row, column), *x))
                });
                // The first row with such a value, as in an array.
                let odd = all.filter(|(_, x)| !x.is_finite()).min_by_key(|(at, _)| *at);
                finite(odd.into_iter())
            }
            Self::Sparse { ends, indices, values, columns } => {
                let fits = ends.first() == Some(&0)
                    && ends.windows(2).all(|pair| pair[0] <= pair[1])
                    && ends.last().and_then(|end| usize::try_from(*end).ok())
                        == Some(indices.len().min(values.len()))
                    && indices.len() == values.len();
                if !fits {
                    return Err(data(
                        "the parts of the sparse matrix do not fit together".to_owned(),
                        None,
                        None,
                        None,
                    ));
                }
                let inside = |i: &i32| usize::try_from(*i).is_ok_and(|i| i < *columns);
                if let Some(k) = indices.iter().position(|i| !inside(i)) {
                    let message = format!(
                        "X has an entry in column {}; there are {columns} columns",
                        indices[k]
                    );
                    return Err(data(message, Some(row_of(ends, k)), None, None));
                }
                let at = |(k, x): (usize, &f64)| {
                    ((row_of(ends, k), usize::try_from(indices[k]).unwrap_or(0)), *x)
                };
                if values.iter().all(|x| x.is_finite()) {
                    return Ok(());
                }
                finite(values.iter().enumerate().map(at))
            }
        }
    }

    /// The rows of the next block.
    pub(crate) fn block(&self, from: usize) -> Range<usize> {
        let rows = match self {
            Self::Sparse { .. } => ROWS,
            _ => (VALUES / self.columns().max(1)).clamp(1, ROWS),
        };
        from..self.len().min(from + rows)
    }

    /// Fills a block with rows; labels and weights come from functions of the row.
    pub(crate) fn fill(
        &self,
        rows: Range<usize>,
        block: &mut Block,
        label: impl Fn(usize) -> f64,
        weight: impl Fn(usize) -> f64,
    ) {
        block.clear();
        let mut scratch = Vec::new();
        for i in rows {
            // Rows of an array have one length, so they always fit.
            match self {
                Self::Double(array) => {
                    let row = array.row(i);
                    let _ = if let Some(values) = row.as_slice() {
                        block.push_dense(values, label(i), weight(i))
                    } else {
                        scratch.clear();
                        scratch.extend(row.iter());
                        block.push_dense(&scratch, label(i), weight(i))
                    };
                }
                Self::Single(array) => {
                    scratch.clear();
                    scratch.extend(array.row(i).iter().map(|x| f64::from(*x)));
                    let _ = block.push_dense(&scratch, label(i), weight(i));
                }
                Self::Columns(columns) => {
                    scratch.clear();
                    scratch.extend(columns.iter().map(|column| column[i]));
                    let _ = block.push_dense(&scratch, label(i), weight(i));
                }
                Self::Sparse { ends, indices, values, .. } => {
                    let end = |k: usize| usize::try_from(ends[k]).unwrap_or(0);
                    for k in end(i)..end(i + 1) {
                        // Zeros are left out of sparse rows, as the readers do.
                        if values[k] != 0.0 {
                            block.feature(indices[k].cast_unsigned(), values[k]);
                        }
                    }
                    block.end(label(i), weight(i));
                }
            }
        }
    }
}

/// The row of the k-th entry.
fn row_of(ends: &[i64], k: usize) -> usize {
    let k = i64::try_from(k).unwrap_or(i64::MAX);
    ends.partition_point(|end| *end <= k).saturating_sub(1)
}

/// The first value that is not finite is an error.
fn finite(values: impl Iterator<Item = ((usize, usize), f64)>) -> PyResult<()> {
    for ((row, column), value) in values {
        if !value.is_finite() {
            let (found, policy) = if value.is_nan() {
                (
                    "NaN",
                    "; on-line estimators take it for a missing number with missing='indicator'",
                )
            } else {
                ("infinity", "")
            };
            let message = format!(
                "Input X contains {found} (row {row}, column {column}); every value must be a finite number{policy}"
            );
            return Err(data(message, Some(row), Some(column), Some(value)));
        }
    }
    Ok(())
}
