//! A decision tree.

use geowalk::boost::tree::{Criterion, Growth, Tree as Grown};
use geowalk_run::model::Model;
use geowalk_run::table::headings;
use geowalk_run::tree::{self, Form, Plan};
use numpy::{PyArray1, PyArray2, PyReadonlyArray1};
use pyo3::prelude::*;
use pyo3::types::{PyBytes, PyTuple};

use super::Shown;
use crate::columns::{examples, known, table};
use crate::error::{config, model, run};
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
#[pyclass(module = "geowalk._geowalk")]
pub(crate) struct Tree {
    shown: Shown,
    tree: Grown,
    kappa: f64,
}

impl Tree {
    fn of(own: Model, order: Option<Vec<ClassLabel>>) -> PyResult<Self> {
        let (tree, kappa) = tree::load(&own).map_err(run)?;
        let headings = headings(&own.schema, tree.columns());
        Ok(Self { shown: Shown::new(own, headings, order), tree, kappa })
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
    ) -> PyResult<Self> {
        let criterion = Criterion::parse(loss).map_err(config)?;
        let growth = Growth { max_leaves, max_depth, min_leaf, ..Growth::new(criterion) };
        let plan = Plan { growth, bins, prune, smoothing, seed, ..Plan::default() };
        let order = classes.clone();
        let table = table(&names, &columns)?;
        let examples = examples(table, &y, classes, weight.as_ref(), label)?;
        let own = py.detach(|| {
            let (tree, summary, _) = tree::learn(&plan, &examples, &mut |_| {})?;
            Ok(tree::model(&plan, &tree, &examples, summary.record()))
        });
        Self::of(own.map_err(run)?, Some(order))
    }

    /// The numbers of the classes of rows.
    fn predict<'py>(
        &self,
        py: Python<'py>,
        columns: Vec<Bound<'py, PyAny>>,
    ) -> PyResult<Bound<'py, PyArray1<i64>>> {
        let table = known(&self.shown.headings, &columns)?;
        let leaves = py.detach(|| self.tree.leaves_of(&table));
        let found: Vec<usize> = leaves.into_iter().map(|leaf| self.tree.class(leaf)).collect();
        Ok(self.shown.codes(py, &found))
    }

    /// The probability of every class, row by row.
    fn probabilities<'py>(
        &self,
        py: Python<'py>,
        columns: Vec<Bound<'py, PyAny>>,
    ) -> PyResult<Bound<'py, PyArray2<f64>>> {
        let table = known(&self.shown.headings, &columns)?;
        let shares: Vec<f64> = py.detach(|| {
            let leaves = self.tree.leaves_of(&table).into_iter();
            let classes = self.tree.classes();
            leaves
                .flat_map(|leaf| (0..classes).map(move |k| (leaf, k)))
                .map(|(leaf, k)| self.tree.probability(leaf, k, self.kappa))
                .collect()
        });
        self.shown.arranged(py, &shares)
    }

    /// The tree, for people or for programs: text, json, sql or dot.
    fn write(&self, form: &str) -> PyResult<String> {
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
        Ok(tree::Shown::of(&self.shown.model).map_err(run)?.write(form))
    }

    /// How many leaves, and how many tests on the longest way to one.
    #[getter]
    fn shape(&self) -> (usize, usize) {
        (self.tree.leaves().count(), self.tree.depth())
    }

    /// What each column gained, as parts of 1.
    fn importance<'py>(&self, py: Python<'py>) -> Bound<'py, PyArray1<f64>> {
        PyArray1::from_vec(py, self.tree.importance())
    }

    /// What came out, as JSON.
    fn summary(&self) -> String {
        self.shown.model.summary.to_string()
    }

    /// What was asked for, by name.
    fn settings(&self) -> Vec<(String, String)> {
        let settings = &self.shown.model.settings;
        let own = [("loss", settings.loss.clone()), ("seed", settings.seed.to_string())];
        let own = own.into_iter().map(|(key, value)| (key.to_owned(), value));
        own.chain(settings.extras.clone()).collect()
    }

    /// The labels of the classes, in the order of their numbers.
    fn labels(&self) -> Vec<ClassLabel> {
        self.shown.classes.list()
    }

    /// Name of each column, and whether it holds names.
    fn columns(&self) -> Vec<(String, bool)> {
        self.shown.columns()
    }

    /// The model file, in bytes.
    fn to_bytes<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyBytes>> {
        self.shown.bytes(py)
    }

    /// Writes the model file, which `geowalk predict` and `geowalk.load` read.
    #[allow(clippy::needless_pass_by_value)] // what PyO3 gives
    fn save(&self, path: std::path::PathBuf) -> PyResult<()> {
        self.shown.save(&path)
    }

    /// What a model file's bytes hold; with the labels of the classes in an order of one's own.
    #[staticmethod]
    #[pyo3(signature = (bytes, classes=None))]
    fn from_bytes(bytes: &[u8], classes: Option<Vec<ClassLabel>>) -> PyResult<Self> {
        Self::of(Model::from_bytes(bytes).map_err(|error| model(&error))?, classes)
    }

    fn __reduce__<'py>(
        &self,
        py: Python<'py>,
    ) -> PyResult<(Bound<'py, PyAny>, Bound<'py, PyTuple>)> {
        self.shown.reduced(py, py.get_type::<Self>().as_any())
    }
}
