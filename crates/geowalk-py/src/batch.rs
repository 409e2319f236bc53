//! # Learners of whole tables
//! Boosted rules and decision trees: `geowalk boost` and `geowalk tree` on columns in memory. [`Batch`] is what both are: a model file with its columns and classes, and what can be asked of either. The files beside
//! this one have what is asked when they are fitted, and what differs.

mod boost;
mod tree;

pub(crate) use boost::Boost;
pub(crate) use tree::Tree;

use std::path::PathBuf;
use std::sync::Arc;

use geowalk::boost::Halt;
use geowalk::boost::table::Table;
use geowalk_cli::report::Judged;
use geowalk_run::calibration::Calibration;
use geowalk_run::error::RunError;
use geowalk_run::label::Coding;
use geowalk_run::model::Model;
use geowalk_run::table::{Examples, Heading, headings};
use geowalk_run::tree::Form;
use numpy::{PyArray1, PyArray2, PyArrayMethods, PyReadonlyArray1};
use pyo3::prelude::*;
use pyo3::types::PyBytes;

use crate::columns::{examples, known, table};
use crate::convert::unreadable;
use crate::error::{config, model as model_error, run};
use crate::files::save;
use crate::label::{ClassLabel, Classes};
use crate::listen::listening;

/// What is known of a table that is learned from.
struct Data<'py> {
    names: Vec<String>,
    columns: Vec<Bound<'py, PyAny>>,
    y: PyReadonlyArray1<'py, f64>,
    classes: Vec<ClassLabel>,
    weight: Option<PyReadonlyArray1<'py, f64>>,
    /// The name of the label's column in a file.
    label: Option<&'py str>,
}

/// What was learned.
trait Learned: Send + Sync {
    /// Columns of the table that it was learned from.
    fn columns(&self) -> usize;

    /// The class of every row.
    fn classes(&self, table: &Table) -> Result<Vec<usize>, RunError>;

    /// The probability of every class, row by row.
    fn shares(&self, table: &Table) -> Result<Vec<f64>, RunError>;

    /// What it is, for people or for programs.
    fn write(&self, batch: &Batch, form: Form) -> PyResult<String>;

    /// The report as one HTML page.
    fn page(&self, batch: &Batch, judged: Option<Judged>, how: &str) -> PyResult<String>;
}

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
    learned: Arc<dyn Learned>,
    /// The exception of a signal that ended the fit before its time.
    stopped: Option<PyErr>,
}

impl Batch {
    /// What a model holds; with the labels of the classes in an order of one's own.
    fn of(model: Model, learned: Arc<dyn Learned>, order: Option<Vec<ClassLabel>>) -> Self {
        let coding = Coding::restore(model.settings.task, model.classes.clone());
        let classes = Classes::restore(coding.classes(), model.schema.labels(), order);
        let places = classes.places(coding.classes());
        let places = places.into_iter().enumerate().map(|(k, at)| at.unwrap_or(k)).collect();
        let headings = headings(&model.schema, learned.columns());
        Self { model, headings, places, classes, learned, stopped: None }
    }

    /// Learns from a table, until it is done or Ctrl-C halts it.
    fn learn<L: Learned + 'static>(
        py: Python<'_>,
        data: Data<'_>,
        halt: &Halt,
        work: impl FnOnce(&Examples) -> Result<Model, RunError> + Send + 'static,
        open: impl FnOnce(&Model) -> Result<L, RunError>,
    ) -> PyResult<(Self, Arc<L>)> {
        let (order, weight) = (data.classes.clone(), data.weight.as_ref());
        let table = table(&data.names, &data.columns)?;
        let examples = examples(table, &data.y, data.classes, weight, data.label)?;
        let (model, stopped) = listening(py, halt, move || work(&examples))?;
        let model = model.map_err(run)?;
        let learned = Arc::new(open(&model).map_err(run)?);
        let batch = Self::of(model, Arc::clone(&learned) as Arc<dyn Learned>, Some(order));
        Ok((Self { stopped, ..batch }, learned))
    }

    /// Reads the bytes of a model file.
    fn read<L: Learned + 'static>(
        bytes: &[u8],
        classes: Option<Vec<ClassLabel>>,
        open: impl FnOnce(&Model) -> Result<L, RunError>,
    ) -> PyResult<(Self, Arc<L>)> {
        let model = Model::from_bytes(bytes).map_err(|error| model_error(&error))?;
        let learned = Arc::new(open(&model).map_err(run)?);
        Ok((Self::of(model, Arc::clone(&learned) as Arc<dyn Learned>, classes), learned))
    }

    /// A table of the columns that it knows.
    fn table(&self, columns: &[Bound<'_, PyAny>]) -> PyResult<Table> {
        known(&self.headings, columns)
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

/// What pickle calls to make it again.
type Reduced<'py> = (Bound<'py, PyAny>, (Bound<'py, PyBytes>, Vec<ClassLabel>));

#[pymethods]
impl Batch {
    /// The numbers of the classes of rows.
    fn predict<'py>(
        &self,
        py: Python<'py>,
        columns: Vec<Bound<'py, PyAny>>,
    ) -> PyResult<Bound<'py, PyArray1<i64>>> {
        let table = self.table(&columns)?;
        let found = py.detach(|| self.learned.classes(&table)).map_err(run)?;
        let code = |class: usize| i64::try_from(self.places[class]).unwrap_or(0);
        Ok(PyArray1::from_vec(py, found.into_iter().map(code).collect()))
    }

    /// The probability of every class, row by row.
    fn probabilities<'py>(
        &self,
        py: Python<'py>,
        columns: Vec<Bound<'py, PyAny>>,
    ) -> PyResult<Bound<'py, PyArray2<f64>>> {
        let table = self.table(&columns)?;
        let shares = py.detach(|| self.learned.shares(&table)).map_err(run)?;
        self.arranged(py, &shares)
    }

    /// What was learned, for people or for programs: text, json, sql or dot.
    fn write(&self, form: &str) -> PyResult<String> {
        let forms =
            [("text", Form::Text), ("json", Form::Json), ("sql", Form::Sql), ("dot", Form::Dot)];
        let Some((_, form)) = forms.iter().find(|(name, _)| *name == form) else {
            let known = forms.map(|(name, _)| name);
            return Err(config(geowalk::spec::unknown("form", form, known)));
        };
        self.learned.write(self, *form)
    }

    /// The report of the fit as one HTML page; `how` it can be made again, and rows with the numbers of their classes to judge probabilities by.
    #[pyo3(signature = (how, columns=None, y=None))]
    fn page(
        &self,
        how: &str,
        columns: Option<Vec<Bound<'_, PyAny>>>,
        y: Option<PyReadonlyArray1<'_, f64>>,
    ) -> PyResult<String> {
        let judged = match (columns, y) {
            (Some(columns), Some(y)) => {
                let shares = self.learned.shares(&self.table(&columns)?).map_err(run)?;
                Some(self.judge(&shares, &y)?)
            }
            _ => None,
        };
        self.learned.page(self, judged, how)
    }

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

    /// Is this value among the names of the column?
    fn knows(&self, name: &str, value: &str) -> bool {
        let own = self.headings.iter().filter(|heading| heading.name == name);
        own.flat_map(|heading| heading.names.iter().flatten()).any(|known| known == value)
    }

    /// The model file, in bytes.
    fn to_bytes<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyBytes>> {
        let bytes = self.model.to_bytes().map_err(|error| model_error(&error))?;
        Ok(PyBytes::new(py, &bytes))
    }

    /// Writes the model file, which `geowalk predict` and `geowalk.load` read; with the class and parameters of its estimator as JSON.
    #[pyo3(signature = (path, estimator=None))]
    fn save(&self, path: PathBuf, estimator: Option<String>) -> PyResult<()> {
        save(self.model.clone(), &path, estimator)
    }

    fn __reduce__<'py>(slf: &Bound<'py, Self>) -> PyResult<Reduced<'py>> {
        let own = slf.borrow();
        let state = (own.to_bytes(slf.py())?, own.labels());
        Ok((slf.get_type().getattr("from_bytes")?, state))
    }
}
