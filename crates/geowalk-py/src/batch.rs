//! # Learners of whole tables
//! Boosted rules and decision trees: `geowalk boost` and `geowalk tree` on columns in memory. [`Batch`] is what both are: a model file with its columns and classes, and what can be asked of either. The files beside
//! this one have what is asked when they are fitted, and what differs.

mod boost;
mod tree;
mod trees;

pub(crate) use boost::Boost;
pub(crate) use tree::Tree;
pub(crate) use trees::Trees;

use std::collections::HashMap;
use std::path::PathBuf;
use std::sync::Arc;

use geowalk::boost::Halt;
use geowalk::boost::table::Table;
use geowalk_cli::report::{Judged, Judges};
use geowalk_data::{Column, Kind, Source};
use geowalk_run::error::RunError;
use geowalk_run::label::Coding;
use geowalk_run::learned::{Answers, Ask, Form, Learned, Wants};
use geowalk_run::model::Model;
use geowalk_run::sql::Target;
use geowalk_run::table::{Examples, Heading, Reader, headings};
use numpy::{PyArray1, PyArray2, PyArrayMethods, PyReadonlyArray1};
use pyo3::exceptions::PyValueError;
use pyo3::prelude::*;
use pyo3::types::{PyBytes, PyTuple};

use crate::columns::{examples, known, table};
use crate::convert::unreadable;
use crate::error::{config, data, model as model_error, run};
use crate::files::save;
use crate::fork::divided;
use crate::frame::FrameSource;
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
    /// Columns that hold names, and columns of free text: if there are some, the table is read as one of a file.
    nominal: Vec<String>,
    text: Vec<String>,
}

impl Data<'_> {
    fn examples(self) -> PyResult<Examples> {
        let weight = self.weight.as_ref();
        // Columns of names and dates come as tuples, of which sparse numbers have three parts.
        let may_be_read =
            |column: &Bound<'_, PyAny>| column.cast::<PyTuple>().is_ok_and(|parts| parts.len() < 3);
        let source = if self.columns.iter().any(may_be_read) {
            let declared = (self.nominal.as_slice(), self.text.as_slice());
            let source = FrameSource::new(self.names.clone(), &self.columns, declared, None)?;
            let is_read = |kind| source.schema().of_kind(kind).next().is_some();
            (is_read(Kind::Text) || is_read(Kind::Date)).then_some(source)
        } else {
            None
        };
        let Some(source) = source else {
            let table = table(&self.names, &self.columns)?;
            return examples(table, &self.y, self.classes, weight, self.label, None);
        };
        let mut reader = Reader::over(Box::new(source));
        let table = whole(&mut reader)?;
        let schema = Some(reader.schema().map_err(run)?);
        examples(table, &self.y, self.classes, weight, self.label, schema)
    }
}

/// All rows of a table in memory.
fn whole(reader: &mut Reader) -> PyResult<Table> {
    let rows = reader.read(usize::MAX).map_err(run)?;
    rows.map(|rows| rows.table).ok_or_else(|| run(RunError::Empty))
}

/// Other names for the columns of a table, where it is shown to people.
struct Renamed(HashMap<String, String>);

impl Renamed {
    /// These names for the columns in their order; their own names if none are given.
    fn new(batch: &Batch, names: Option<Vec<String>>) -> PyResult<Self> {
        let own = batch.columns();
        let Some(names) = names else { return Ok(Self(HashMap::new())) };
        if names.len() != own.len() {
            let message = format!("{} names for {} columns; give one each", names.len(), own.len());
            return Err(data(message, None, None, None));
        }
        Ok(Self(own.into_iter().map(|(name, _)| name).zip(names).collect()))
    }

    /// What a column, or a word of it, is called.
    fn name(&self, name: &str) -> String {
        let ends = name.rmatch_indices('=').map(|(at, _)| at);
        let found = std::iter::once(name.len()).chain(ends).find_map(|end| {
            self.0.get(&name[..end]).map(|other| format!("{other}{}", &name[end..]))
        });
        found.unwrap_or_else(|| name.to_owned())
    }

    fn headings(&self, batch: &Batch) -> Vec<Heading> {
        let mut headings = batch.headings.clone();
        for heading in &mut headings {
            heading.name = self.name(&heading.name);
        }
        headings
    }
}

/// What was learned from a whole table: the common part of Boost and Tree.
///
/// >>> import numpy as np
/// >>> from geowalk._geowalk import Batch, Tree
/// >>> tree = Tree(["x"], [np.arange(4.0)], np.array([0.0, 0.0, 1.0, 1.0]), ["no", "yes"])
/// >>> isinstance(tree, Batch), tree.labels(), tree.columns()
/// (True, ['no', 'yes'], [('x', 'numeric')])
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
        let columns = if let Ok(Wants::Columns(columns)) = learned.wants() { columns } else { 0 };
        let headings = headings(&model.schema, columns);
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
        let order = data.classes.clone();
        let examples = data.examples()?;
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
        let schema = &self.model.schema;
        let is_read = |kind| schema.of_kind(kind).next().is_some();
        if !schema.is_table() || !is_read(Kind::Text) && !is_read(Kind::Date) {
            return known(&self.headings, columns);
        }
        let names = schema.feature_columns().map(|column| column.name.clone()).collect();
        let source = FrameSource::new(names, columns, (&[], &[]), Some(schema))?;
        let reader = Reader::over_known(Box::new(source), schema, self.headings.len());
        whole(&mut reader.map_err(run)?)
    }

    /// What the model answers for the rows of a table.
    fn answers(&self, table: &Table, shares: bool) -> Result<Answers, RunError> {
        let (ask, mut answers) = (Ask { shares, ..Ask::default() }, Answers::default());
        self.learned.answer_table(table, ask, &mut answers)?;
        Ok(answers)
    }

    /// The model in another form, with these names of its columns.
    fn written(&self, form: Form, names: &Renamed) -> PyResult<String> {
        let written = self.learned.write(form, &Target::default(), Some(names.headings(self)));
        written.map_err(|error| match error {
            RunError::NoForm { why, .. } => PyValueError::new_err(why),
            other => run(other),
        })
    }

    /// Margins and calibration of these rows, if there are some.
    fn judged(
        &self,
        columns: Option<Vec<Bound<'_, PyAny>>>,
        y: Option<PyReadonlyArray1<'_, f64>>,
    ) -> PyResult<Option<Judged>> {
        let (Some(columns), Some(y)) = (columns, y) else { return Ok(None) };
        let table = self.table(&columns)?;
        let shares = divided(|| self.answers(&table, true)).map_err(run)?.shares;
        self.judge(&shares, &y).map(Some)
    }

    /// Margins and calibration of rows whose classes are numbered in the order of labels.
    fn judge(&self, probabilities: &[f64], codes: &PyReadonlyArray1<'_, f64>) -> PyResult<Judged> {
        let codes = codes.as_slice().map_err(unreadable)?;
        let own = |code: &f64| {
            let place = self.places.iter().position(|place| *place as f64 == *code);
            place.and_then(|place| u32::try_from(place).ok()).unwrap_or(u32::MAX)
        };
        let codes: Vec<u32> = codes.iter().map(own).collect();
        Ok(Judged::new(self.learned.classes(), &codes, None, probabilities, Judges::Given))
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
        let found = py.detach(|| divided(|| self.answers(&table, false))).map_err(run)?.found;
        #[allow(clippy::cast_possible_truncation, clippy::cast_sign_loss)] // a class number
        let code = |class: f64| i64::try_from(self.places[class as usize]).unwrap_or(0);
        Ok(PyArray1::from_vec(py, found.into_iter().map(code).collect()))
    }

    /// The probability of every class, row by row.
    fn probabilities<'py>(
        &self,
        py: Python<'py>,
        columns: Vec<Bound<'py, PyAny>>,
    ) -> PyResult<Bound<'py, PyArray2<f64>>> {
        let table = self.table(&columns)?;
        let shares = py.detach(|| divided(|| self.answers(&table, true))).map_err(run)?.shares;
        self.arranged(py, &shares)
    }

    /// Why each row is predicted to be what it is, a sentence each; with other names of the columns.
    #[pyo3(signature = (columns, names=None))]
    fn explain(
        &self,
        py: Python<'_>,
        columns: Vec<Bound<'_, PyAny>>,
        names: Option<Vec<String>>,
    ) -> PyResult<Vec<String>> {
        let table = self.table(&columns)?;
        let names = Renamed::new(self, names)?.headings(self);
        let ask = Ask { why: true, ..Ask::default() };
        let mut answers = Answers::default();
        let renamed = self.learned.renamed(names);
        let learned = renamed.as_deref().unwrap_or(self.learned.as_ref());
        py.detach(|| divided(|| learned.answer_table(&table, ask, &mut answers))).map_err(run)?;
        Ok(answers.why)
    }

    /// What was learned, for people or for programs: text, json, sql or dot; with other names of the columns.
    #[pyo3(signature = (form, names=None))]
    fn write(&self, form: &str, names: Option<Vec<String>>) -> PyResult<String> {
        let Some((_, form)) = Form::ALL.iter().find(|(name, _)| *name == form) else {
            let known = Form::ALL.map(|(name, _)| name);
            return Err(config(geowalk::spec::unknown("form", form, known)));
        };
        self.written(*form, &Renamed::new(self, names)?)
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
        let own = [("loss", settings.loss.clone()), ("seed", settings.seed.to_string())];
        let own = own.into_iter().map(|(key, value)| (key.to_owned(), value));
        own.chain(settings.texts()).collect()
    }

    /// The labels of the classes, in the order of their numbers.
    fn labels(&self) -> Vec<ClassLabel> {
        self.classes.list()
    }

    /// Name of each column of the table that was learned from, and its kind: `numeric`, `nominal`, `text` or
    /// `undecided`.
    fn columns(&self) -> Vec<(String, &'static str)> {
        let schema = &self.model.schema;
        if schema.is_table() {
            let column = |column: &Column| (column.name.clone(), column.kind.name());
            return schema.feature_columns().map(column).collect();
        }
        let kind = |heading: &Heading| if heading.names.is_some() { "nominal" } else { "numeric" };
        self.headings.iter().map(|h| (h.name.clone(), kind(h))).collect()
    }

    /// The names of the features that rules and splits ask about: columns, and words of texts.
    fn names(&self) -> Vec<String> {
        self.headings.iter().map(|heading| heading.name.clone()).collect()
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

    /// Writes the model file, which `geowalk predict` and `geowalk.load` read; with the class and parameters of
    /// its estimator as JSON.
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
