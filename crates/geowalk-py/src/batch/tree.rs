//! A decision tree.

use std::sync::Arc;

use geowalk::boost::Halt;
use geowalk::boost::table::Table;
use geowalk::boost::tree::{Criterion, Growth, Tree as Grown};
use geowalk_cli::report::{Grown as Report, Judged};
use geowalk_run::error::RunError;
use geowalk_run::label::Coding;
use geowalk_run::model::{Model, ModelError};
use geowalk_run::tree::{self, Form, Plan, Summary};
use numpy::{PyArray1, PyReadonlyArray1};
use pyo3::prelude::*;

use super::{Batch, Data, Learned, Renamed};
use crate::error::{config, model as model_error, run};
use crate::label::ClassLabel;

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
    known: Arc<Known>,
}

/// A tree, and kappa of its probabilities.
struct Known {
    tree: Grown,
    kappa: f64,
}

impl Known {
    fn of(model: &Model) -> Result<Self, RunError> {
        let (tree, kappa) = tree::load(model)?;
        Ok(Self { tree, kappa })
    }
}

impl Learned for Known {
    fn columns(&self) -> usize {
        self.tree.columns()
    }

    fn classes(&self, table: &Table) -> Result<Vec<usize>, RunError> {
        let leaves = self.tree.leaves_of(table).into_iter();
        Ok(leaves.map(|leaf| self.tree.class(leaf)).collect())
    }

    fn shares(&self, table: &Table) -> Result<Vec<f64>, RunError> {
        Ok(tree::probabilities(&self.tree, table, self.kappa))
    }

    fn write(&self, batch: &Batch, names: &Renamed, form: Form) -> PyResult<String> {
        let shown = tree::Shown::of(&batch.model).map_err(run)?;
        Ok(shown.with_columns(names.headings(batch)).write(form))
    }

    fn page(
        &self,
        batch: &Batch,
        names: &Renamed,
        judged: Option<Judged>,
        how: &str,
    ) -> PyResult<String> {
        let model = &batch.model;
        let missing = || model_error(&ModelError::Missing { what: "summary".to_owned() });
        let coding = Coding::restore(model.settings.task, model.classes.clone());
        let mut summary = Summary::of(model).ok_or_else(missing)?;
        summary.importance.iter_mut().for_each(|(column, _)| *column = names.name(column));
        let report = Report {
            summary: &summary,
            tree: &self.tree,
            classes: &coding.texts(model.schema.labels()),
            text: self.write(batch, names, Form::Text)?,
            judged,
        };
        Ok(report.page(how).html())
    }
}

#[pymethods]
impl Tree {
    #[new]
    #[pyo3(signature = (names, columns, y, classes, weight=None, loss="matsushita", max_leaves=None, max_depth=None, min_leaf=1, prune=None, bins=None, smoothing=1.0, seed=0, label=None, nominal=None, text=None))]
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
        nominal: Option<Vec<String>>,
        text: Option<Vec<String>>,
    ) -> PyResult<PyClassInitializer<Self>> {
        let (nominal, text) = (nominal.unwrap_or_default(), text.unwrap_or_default());
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
        let data = Data { names, columns, y, classes, weight, label, nominal, text };
        let work = move |examples: &_| {
            let (tree, summary, _) = tree::learn(&plan, examples, &mut |_| {})?;
            Ok(tree::model(&plan, &tree, examples, summary.record()))
        };
        let (batch, known) = Batch::learn(py, data, &halt, work, Known::of)?;
        Ok(PyClassInitializer::from(batch).add_subclass(Self { known }))
    }

    /// How many leaves, and how many tests on the longest way to one.
    #[getter]
    fn shape(&self) -> (usize, usize) {
        (self.known.tree.leaves().count(), self.known.tree.depth())
    }

    /// What each column gained, as parts of 1.
    fn importance<'py>(&self, py: Python<'py>) -> Bound<'py, PyArray1<f64>> {
        PyArray1::from_vec(py, self.known.tree.importance())
    }

    /// What a model file's bytes hold; with the labels of the classes in an order of one's own.
    #[staticmethod]
    #[pyo3(signature = (bytes, classes=None))]
    fn from_bytes(
        py: Python<'_>,
        bytes: &[u8],
        classes: Option<Vec<ClassLabel>>,
    ) -> PyResult<Py<Self>> {
        let (batch, known) = Batch::read(bytes, classes, Known::of)?;
        Py::new(py, PyClassInitializer::from(batch).add_subclass(Self { known }))
    }
}
