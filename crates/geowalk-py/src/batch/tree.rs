//! A decision tree.

use geowalk::boost::Halt;
use geowalk::boost::tree::{Criterion, Growth, Tree as Grown};
use geowalk_cli::report::Grown as Report;
use geowalk_run::error::RunError;
use geowalk_run::label::Coding;
use geowalk_run::model::Model;
use geowalk_run::table::headings;
use geowalk_run::tree::{self, Form, Plan, Summary};
use numpy::{PyArray1, PyArray2, PyReadonlyArray1};
use pyo3::prelude::*;

use super::{Batch, untold};
use crate::columns::{examples, known, table};
use crate::error::{config, model, run};
use crate::label::ClassLabel;
use crate::listen::listening;

/// A decision tree, grown where it lowers a permissible function most.
///
/// `geowalk.TreeClassifier` is made of it. Columns are arrays of numbers, or pairs of codes and names.
///
/// The cost of a leaf of mass m with the share p of a class is m phi(p); a split is worth what the cost falls.
///
/// >>> import numpy as np
/// >>> from geowalk._geowalk import Tree
/// >>> x = np.arange(20.0)
/// >>> tree = Tree(["x"], [x], (x > 7).astype(float), [0.0, 1.0])
/// >>> tree.predict([x[6:10]])
/// array([0, 0, 1, 1])
///
/// Reference: Kearns and Mansour, On the boosting ability of top-down decision tree learning algorithms, 1999.
#[pyclass(module = "geowalk._geowalk", extends = Batch)]
pub(crate) struct Tree {
    grown: Grown,
    kappa: f64,
    /// What is told of a fit in a report.
    told: Option<Summary>,
}

impl Tree {
    fn of(
        own: Model,
        order: Option<Vec<ClassLabel>>,
        told: Option<Summary>,
        stopped: Option<PyErr>,
    ) -> PyResult<PyClassInitializer<Self>> {
        let (tree, kappa) = tree::load(&own).map_err(run)?;
        let headings = headings(&own.schema, tree.columns());
        let batch = Batch { stopped, ..Batch::new(own, headings, order) };
        Ok(PyClassInitializer::from(batch).add_subclass(Self { grown: tree, kappa, told }))
    }
}

#[pymethods]
impl Tree {
    #[new]
    #[pyo3(signature = (names, columns, y, classes, weight=None, loss="matsushita", max_leaves=None, max_depth=None, min_leaf=1, prune=None, bins=None, smoothing=1.0, seed=0, label=None))]
    #[allow(clippy::too_many_arguments)] // the parameters of the estimator
    fn new(
        py: Python<'_>,
        names: Vec<String>,
        columns: Vec<Bound<'_, PyAny>>,
        y: PyReadonlyArray1<'_, f64>,
        classes: Vec<ClassLabel>,
        weight: Option<PyReadonlyArray1<'_, f64>>,
        loss: &str,
        max_leaves: Option<usize>,
        max_depth: Option<usize>,
        min_leaf: usize,
        prune: Option<f64>,
        bins: Option<usize>,
        smoothing: f64,
        seed: u64,
        label: Option<&str>,
    ) -> PyResult<PyClassInitializer<Self>> {
        let criterion = Criterion::parse(loss).map_err(config)?;
        let halt = Halt::new();
        let growth = Growth {
            max_leaves,
            max_depth,
            min_leaf,
            halt: halt.clone(),
            ..Growth::new(criterion)
        };
        let plan = Plan { growth, bins, prune, smoothing, seed, ..Plan::default() };
        let order = classes.clone();
        let table = table(&names, &columns)?;
        let examples = examples(table, &y, classes, weight.as_ref(), label)?;
        let work = move || -> Result<(Model, Summary), RunError> {
            let (tree, summary, _) = tree::learn(&plan, &examples, &mut |_| {})?;
            Ok((tree::model(&plan, &tree, &examples, summary.record()), summary))
        };
        let (learned, stopped) = listening(py, &halt, work)?;
        let (own, told) = learned.map_err(run)?;
        Self::of(own, Some(order), Some(told), stopped)
    }

    /// The numbers of the classes of rows.
    fn predict<'py>(
        slf: PyRef<'py, Self>,
        py: Python<'py>,
        columns: Vec<Bound<'py, PyAny>>,
    ) -> PyResult<Bound<'py, PyArray1<i64>>> {
        let (batch, tree) = (slf.as_super(), &slf.grown);
        let table = known(&batch.headings, &columns)?;
        let leaves = py.detach(|| tree.leaves_of(&table));
        let found: Vec<usize> = leaves.into_iter().map(|leaf| tree.class(leaf)).collect();
        Ok(batch.codes(py, &found))
    }

    /// The probability of every class, row by row.
    fn probabilities<'py>(
        slf: PyRef<'py, Self>,
        py: Python<'py>,
        columns: Vec<Bound<'py, PyAny>>,
    ) -> PyResult<Bound<'py, PyArray2<f64>>> {
        let (batch, tree, kappa) = (slf.as_super(), &slf.grown, slf.kappa);
        let table = known(&batch.headings, &columns)?;
        let shares = py.detach(|| tree::probabilities(tree, &table, kappa));
        batch.arranged(py, &shares)
    }

    /// The tree, for people or for programs: text, json, sql or dot.
    fn write(slf: PyRef<'_, Self>, form: &str) -> PyResult<String> {
        let form = match form {
            "text" => Form::Text,
            "json" => Form::Json,
            "sql" => Form::Sql,
            "dot" => Form::Dot,
            other => {
                let known = ["text", "json", "sql", "dot"];
                return Err(config(geowalk::spec::unknown("form", other, known)));
            }
        };
        Ok(tree::Shown::of(&slf.as_super().model).map_err(run)?.write(form))
    }

    /// How many leaves, and how many tests on the longest way to one.
    #[getter]
    fn shape(&self) -> (usize, usize) {
        (self.grown.leaves().count(), self.grown.depth())
    }

    /// What each column gained, as parts of 1.
    fn importance<'py>(&self, py: Python<'py>) -> Bound<'py, PyArray1<f64>> {
        PyArray1::from_vec(py, self.grown.importance())
    }

    /// The report of the fit as one HTML page; `how` it can be made again, and rows with the numbers of their classes to judge probabilities by.
    #[pyo3(signature = (how, columns=None, y=None))]
    fn page(
        slf: PyRef<'_, Self>,
        how: &str,
        columns: Option<Vec<Bound<'_, PyAny>>>,
        y: Option<PyReadonlyArray1<'_, f64>>,
    ) -> PyResult<String> {
        let (batch, tree) = (slf.as_super(), &slf.grown);
        let shown = tree::Shown::of(&batch.model).map_err(run)?;
        let coding = Coding::restore(batch.model.settings.task, batch.model.classes.clone());
        let judged = match (columns, y) {
            (Some(columns), Some(y)) => {
                let table = known(&batch.headings, &columns)?;
                Some(batch.judge(&tree::probabilities(tree, &table, slf.kappa), &y)?)
            }
            _ => None,
        };
        let report = Report {
            summary: slf.told.as_ref().ok_or_else(untold)?,
            tree,
            classes: &coding.texts(batch.model.schema.labels()),
            text: shown.write(Form::Text),
            judged,
        };
        Ok(report.page(how).html())
    }

    /// What a model file's bytes hold; with the labels of the classes in an order of one's own.
    #[staticmethod]
    #[pyo3(signature = (bytes, classes=None))]
    fn from_bytes(
        py: Python<'_>,
        bytes: &[u8],
        classes: Option<Vec<ClassLabel>>,
    ) -> PyResult<Py<Self>> {
        let own = Model::from_bytes(bytes).map_err(|error| model(&error))?;
        Py::new(py, Self::of(own, classes, None, None)?)
    }
}
