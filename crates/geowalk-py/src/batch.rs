//! # Learners of whole tables
//! Boosted rules and decision trees: `geowalk boost` and `geowalk tree` on columns in memory. [`Batch`] is what both are: a model file with its columns and classes.

mod boost;
mod tree;

pub(crate) use boost::Boost;
pub(crate) use tree::Tree;

use std::path::PathBuf;

use geowalk_cli::report::Judged;
use geowalk_run::calibration::Calibration;
use geowalk_run::label::Coding;
use geowalk_run::model::Model;
use geowalk_run::table::Heading;
use numpy::{PyArray1, PyArray2, PyArrayMethods, PyReadonlyArray1};
use pyo3::prelude::*;
use pyo3::types::PyBytes;

use crate::convert::unreadable;
use crate::error::{data, model as model_error};
use crate::label::{ClassLabel, Classes};

/// What was learned from a whole table: the common part of Boost and Tree.
///
/// >>> import numpy as np
/// >>> from geowalk._geowalk import Batch, Tree
/// >>> tree = Tree(["x"], [np.arange(4.0)], np.array([0.0, 0.0, 1.0, 1.0]), ["no", "yes"])
/// >>> isinstance(tree, Batch), tree.labels(), tree.columns()
/// (True, ['no', 'yes'], [('x', False)])
///
/// Reference: the model file is that of docs/model-format.md.
#[pyclass(module = "geowalk._geowalk", subclass)]
pub(crate) struct Batch {
    model: Model,
    headings: Vec<Heading>,
    /// For each class of the model, its number in the order of labels.
    places: Vec<usize>,
    classes: Classes,
    /// The exception of a signal that ended the fit before its time.
    stopped: Option<PyErr>,
}

impl Batch {
    fn new(model: Model, headings: Vec<Heading>, order: Option<Vec<ClassLabel>>) -> Self {
        let coding = Coding::restore(model.settings.task, model.classes.clone());
        let classes = Classes::restore(coding.classes(), model.schema.labels(), order);
        let places = classes.places(coding.classes());
        let places = places.into_iter().enumerate().map(|(k, at)| at.unwrap_or(k)).collect();
        Self { model, headings, places, classes, stopped: None }
    }

    /// Numbers of classes in the order of labels.
    fn codes<'py>(&self, py: Python<'py>, found: &[usize]) -> Bound<'py, PyArray1<i64>> {
        let code = |class: &usize| i64::try_from(self.places[*class]).unwrap_or(0);
        PyArray1::from_vec(py, found.iter().map(code).collect())
    }

    /// Margins and calibration of rows whose classes are numbered in the order of labels.
    fn judge(&self, probabilities: &[f64], codes: &PyReadonlyArray1<'_, f64>) -> PyResult<Judged> {
        let codes = codes.as_slice().map_err(unreadable)?;
        let own = |code: &f64| {
            let place = self.places.iter().position(|place| *place as f64 == *code);
            place.and_then(|place| u32::try_from(place).ok()).unwrap_or(u32::MAX)
        };
        let codes: Vec<u32> = codes.iter().map(own).collect();
        let found = Calibration::new(probabilities, self.places.len(), &codes);
        Ok(Judged { found, seen: format!("the {} rows that were given", codes.len()) })
    }

    /// Columns of a table in the order of labels.
    fn arranged<'py>(
        &self,
        py: Python<'py>,
        values: &[f64],
    ) -> PyResult<Bound<'py, PyArray2<f64>>> {
        let width = self.places.len();
        let mut all = vec![0.0; values.len()];
        for (own, row) in values.chunks_exact(width).zip(all.chunks_exact_mut(width)) {
            for (value, place) in own.iter().zip(&self.places) {
                row[*place] = *value;
            }
        }
        PyArray1::from_vec(py, all).reshape([values.len() / width, width])
    }
}

/// Why there is no report of a model from a file.
fn untold() -> PyErr {
    let message = "the course of a fit is not in a model file: there is a report of what was fitted in this process";
    data(message.to_owned(), None, None, None)
}

/// What pickle calls to make it again.
type Reduced<'py> = (Bound<'py, PyAny>, (Bound<'py, PyBytes>, Vec<ClassLabel>));

#[pymethods]
impl Batch {
    /// What came out, as JSON.
    fn summary(&self) -> String {
        self.model.summary.to_string()
    }

    /// Raises the KeyboardInterrupt that ended the fit before its time, if one did; once.
    fn raise_if_stopped(&mut self) -> PyResult<()> {
        self.stopped.take().map_or(Ok(()), Err)
    }

    /// What was asked for, by name.
    fn settings(&self) -> Vec<(String, String)> {
        let settings = &self.model.settings;
        let own = [
            ("walk", settings.walk.clone()),
            ("loss", settings.loss.clone()),
            ("rate", settings.rate.clone()),
            ("seed", settings.seed.to_string()),
        ];
        let own = own.into_iter().map(|(key, value)| (key.to_owned(), value));
        own.chain(settings.extras.clone()).collect()
    }

    /// The labels of the classes, in the order of their numbers.
    fn labels(&self) -> Vec<ClassLabel> {
        self.classes.list()
    }

    /// Name of each column, and whether it holds names.
    fn columns(&self) -> Vec<(String, bool)> {
        self.headings.iter().map(|h| (h.name.clone(), h.names.is_some())).collect()
    }

    /// The model file, in bytes.
    fn to_bytes<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyBytes>> {
        let bytes = self.model.to_bytes().map_err(|error| model_error(&error))?;
        Ok(PyBytes::new(py, &bytes))
    }

    /// Writes the model file, which `geowalk predict` and `geowalk.load` read.
    fn save(&self, path: PathBuf) -> PyResult<()> {
        self.model.save(&path).map_err(|error| model_error(&error))
    }

    fn __reduce__<'py>(slf: &Bound<'py, Self>) -> PyResult<Reduced<'py>> {
        let own = slf.borrow();
        let state = (own.to_bytes(slf.py())?, own.labels());
        Ok((slf.get_type().getattr("from_bytes")?, state))
    }
}
