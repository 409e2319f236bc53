//! # Comparing two estimators
//! Losses of two on the same rows come in, the difference with its interval goes out; see `geowalk_run::compare`.

use geowalk::certify::LossInterval;
use geowalk_data::Task;
use geowalk_run::compare::Comparison;
use numpy::PyReadonlyArray2;
use pyo3::exceptions::PyValueError;
use pyo3::prelude::*;

use crate::error::config;

fn rows(array: &PyReadonlyArray2<'_, f64>) -> PyResult<Vec<[f64; 2]>> {
    let array = array.as_array();
    if array.ncols() != 2 {
        return Err(PyValueError::new_err(format!("losses need 2 columns, not {}", array.ncols())));
    }
    Ok(array.rows().into_iter().map(|row| [row[0], row[1]]).collect())
}

/// The difference of the losses of two contenders, as JSON: an error and a log loss, or a squared error of numbers,
/// for each row, all as parts of the largest.
#[pyfunction]
#[pyo3(signature = (a, b, classes, largest=1.0))]
pub(crate) fn compare_losses(
    a: PyReadonlyArray2<'_, f64>,
    b: PyReadonlyArray2<'_, f64>,
    classes: bool,
    largest: f64,
) -> PyResult<String> {
    let (a, b) = (rows(&a)?, rows(&b)?);
    if a.len() != b.len() {
        return Err(PyValueError::new_err(format!(
            "one has losses on {} rows, the other on {}",
            a.len(),
            b.len()
        )));
    }
    let task = if classes { Task::Multiclass } else { Task::Regression };
    Ok(Comparison::new(task, &a, &b, largest).json().to_string())
}

/// The average of losses in [0, 1], and the interval that its expectation is in at every row at once.
#[pyfunction]
#[pyo3(signature = (losses, alpha=0.05))]
pub(crate) fn loss_interval(losses: Vec<f64>, alpha: f64) -> PyResult<(f64, f64, f64)> {
    let mut interval = LossInterval::default();
    for loss in losses {
        interval.see(loss);
    }
    let (low, high) = interval.bounds(alpha).map_err(config)?;
    Ok((interval.average(), low, high))
}
