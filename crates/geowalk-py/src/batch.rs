//! # Learners of whole tables
//! Boosted rules and decision trees: `geowalk boost` and `geowalk tree` on columns in memory.

mod boost;
mod tree;

pub(crate) use boost::Boost;
pub(crate) use tree::Tree;

use geowalk_run::label::Coding;
use geowalk_run::model::Model;
use geowalk_run::table::Heading;
use numpy::{PyArray1, PyArray2, PyArrayMethods};
use pyo3::prelude::*;
use pyo3::types::{PyBytes, PyTuple};

use crate::error::model as model_error;
use crate::label::{ClassLabel, Classes};

/// What a model of a table shows of itself, whatever it is.
struct Shown {
    model: Model,
    headings: Vec<Heading>,
    /// For each class of the model, its number in the order of labels.
    places: Vec<usize>,
    classes: Classes,
}

impl Shown {
    fn new(model: Model, headings: Vec<Heading>, order: Option<Vec<ClassLabel>>) -> Self {
        let coding = Coding::restore(model.settings.task, model.classes.clone());
        let classes = Classes::restore(coding.classes(), model.schema.labels(), order);
        let places = classes.places(coding.classes());
        let places = places.into_iter().enumerate().map(|(k, at)| at.unwrap_or(k)).collect();
        Self { model, headings, places, classes }
    }

    /// Name of each column, and whether it holds names.
    fn columns(&self) -> Vec<(String, bool)> {
        self.headings.iter().map(|h| (h.name.clone(), h.names.is_some())).collect()
    }

    fn bytes<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyBytes>> {
        let bytes = self.model.to_bytes().map_err(|error| model_error(&error))?;
        Ok(PyBytes::new(py, &bytes))
    }

    fn save(&self, path: &std::path::Path) -> PyResult<()> {
        self.model.save(path).map_err(|error| model_error(&error))
    }

    /// Numbers of classes in the order of labels.
    fn codes<'py>(&self, py: Python<'py>, found: &[usize]) -> Bound<'py, PyArray1<i64>> {
        let code = |class: &usize| i64::try_from(self.places[*class]).unwrap_or(0);
        PyArray1::from_vec(py, found.iter().map(code).collect())
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

    fn reduced<'py>(
        &self,
        py: Python<'py>,
        class: &Bound<'py, PyAny>,
    ) -> PyResult<(Bound<'py, PyAny>, Bound<'py, PyTuple>)> {
        let state = (self.bytes(py)?, self.classes.list()).into_pyobject(py)?;
        Ok((class.getattr("from_bytes")?, state))
    }
}
