//! A decision tree.

use std::sync::Arc;

use geowalk::boost::Halt;
use geowalk::boost::tree::{Criterion, Growth};
use geowalk_cli::report::Grown as Report;
use geowalk_run::label::Coding;
use geowalk_run::learned::{Form, Grown};
use geowalk_run::model::ModelError;
use geowalk_run::tree::{self, Plan, Prune, Summary};
use numpy::{PyArray1, PyReadonlyArray1};
use pyo3::prelude::*;

use super::{Batch, Data, Renamed};
use crate::error::{config, model as model_error};
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
    grown: Arc<Grown>,
}

#[pymethods]
impl Tree {
    #[new]
    #[pyo3(signature = (names, columns, y, classes, weight=None, loss="matsushita", max_leaves=None, max_depth=None, min_leaf=1, prune="auto", bins=None, smoothing=1.0, seed=0, label=None, nominal=None, text=None))]
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
        prune: &str,
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
        let prune = Prune::parse(prune).map_err(config)?;
        let plan = Plan { growth, bins, prune, smoothing, seed, ..Plan::default() };
        let data = Data { names, columns, y, classes, weight, label, nominal, text };
        let work = move |examples: &_| {
            let (tree, summary, _) = tree::learn(&plan, examples, &mut |_| {})?;
            Ok(tree::model(&plan, &tree, examples, summary.record()))
        };
        let (batch, grown) = Batch::learn(py, data, &halt, work, Grown::of)?;
        Ok(PyClassInitializer::from(batch).add_subclass(Self { grown }))
    }

    /// The report of the fit as one HTML page; `how` it can be made again, and rows with the numbers of their
    /// classes to judge probabilities by.
    #[pyo3(signature = (how, columns=None, y=None, names=None))]
    fn page(
        slf: PyRef<'_, Self>,
        how: &str,
        columns: Option<Vec<Bound<'_, PyAny>>>,
        y: Option<PyReadonlyArray1<'_, f64>>,
        names: Option<Vec<String>>,
    ) -> PyResult<String> {
        let batch = slf.as_super();
        let names = Renamed::new(batch, names)?;
        let judged = batch.judged(columns, y)?;
        let model = &batch.model;
        let missing = || model_error(&ModelError::Missing { what: "summary".to_owned() });
        let coding = Coding::restore(model.settings.task, model.classes.clone());
        let mut summary = Summary::of(model).ok_or_else(missing)?;
        for (column, _) in &mut summary.importance {
            *column = names.name(column);
        }
        let report = Report {
            summary: &summary,
            tree: slf.grown.shown().tree(),
            classes: &coding.texts(model.schema.labels()),
            text: batch.written(Form::Text, &names)?,
            captions: slf.grown.shown().clone().with_columns(names.headings(batch)).captions(),
            judged,
        };
        Ok(report.page(&how.into()).html())
    }

    /// How many leaves, and how many tests on the longest way to one.
    #[getter]
    fn shape(&self) -> (usize, usize) {
        let tree = self.grown.shown().tree();
        (tree.leaves().count(), tree.depth())
    }

    /// What each column gained, as parts of 1.
    fn importance<'py>(&self, py: Python<'py>) -> Bound<'py, PyArray1<f64>> {
        PyArray1::from_vec(py, self.grown.shown().tree().importance())
    }

    /// What a model file's bytes hold; with the labels of the classes in an order of one's own.
    #[staticmethod]
    #[pyo3(signature = (bytes, classes=None))]
    fn from_bytes(
        py: Python<'_>,
        bytes: &[u8],
        classes: Option<Vec<ClassLabel>>,
    ) -> PyResult<Py<Self>> {
        let (batch, grown) = Batch::read(bytes, classes, Grown::of)?;
        Py::new(py, PyClassInitializer::from(batch).add_subclass(Self { grown }))
    }
}
