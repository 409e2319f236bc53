//! Boosted trees of classes and numbers.

use std::path::PathBuf;
use std::sync::Arc;

use geowalk::boost::trees::{LeafStep, Shape};
use geowalk::boost::{Halt, Surrogate};
use geowalk_cli::report::About;
use geowalk_data::Labels;
use geowalk_run::error::RunError;
use geowalk_run::learned::{Learned as _, Trees as Learned};
use geowalk_run::model::Model;
use geowalk_run::profile::Profile;
use geowalk_run::trees::{Predicted, Target, TreesPlan};
use numpy::{PyArray1, PyArray2, PyReadonlyArray1};
use pyo3::prelude::*;
use pyo3::types::PyBytes;

use super::boost::{LossArg, surrogate};
use super::{Batch, Data, Renamed, whole};
use crate::columns::{schema, table};
use crate::convert::unreadable;
use crate::error::{config, data, run};
use crate::fork::divided;
use crate::frame::FrameSource;
use crate::label::ClassLabel;
use crate::listen::{known, listening};
use crate::loss::Loss;
use geowalk_run::table::Reader;

/// What pickle calls to make it again.
type Reduced<'py> = (Bound<'py, PyAny>, (Bound<'py, PyBytes>, Vec<ClassLabel>, Option<Py<Loss>>));

/// A sum of trees, boosted.
///
/// `geowalk.BoostClassifier(weak="trees")` and `geowalk.BoostRegressor` are made of it. Columns are arrays
/// of numbers, or pairs of codes and names; `classes` is empty for numbers. Rows for which `held` is true
/// choose the number of rounds.
///
/// >>> import numpy as np
/// >>> from geowalk._geowalk import Trees
/// >>> x = np.arange(60.0)
/// >>> trees = Trees(["x"], [x], (x > 27).astype(float), [0.0, 1.0], rounds=20)
/// >>> trees.predict([x[26:30]])
/// array([0, 0, 1, 1])
///
/// Reference: Nock and Nielsen, Intrinsic geometries in learning, 2009.
#[pyclass(module = "geowalk._geowalk", extends = Batch)]
pub(crate) struct Trees {
    learned: Arc<Learned>,
    /// A loss of the user's own, which no model file holds.
    own: Option<Py<Loss>>,
}

/// Numbers to learn, from arrays.
fn numbers(own: Data<'_>) -> PyResult<Target> {
    let Data { names, columns, y, weight, label, nominal, text, .. } = own;
    let y = y.as_slice().map_err(unreadable)?.to_vec();
    let weights = match weight {
        Some(weight) => Some(weight.as_slice().map_err(unreadable)?.to_vec()),
        None => None,
    };
    let (table, schema) = if text.is_empty() {
        let table = table(&names, &columns)?;
        let schema = schema(&table, Labels::Numbers, label)?;
        (table, schema)
    } else {
        let source = FrameSource::new(names, &columns, (&nominal, &text), None)?;
        let mut reader = Reader::over(Box::new(source));
        let table = whole(&mut reader)?;
        let mut schema = reader.source().schema().clone();
        if let Some(name) = label {
            schema.add_column(name, geowalk_data::Kind::Label);
        }
        (table, schema)
    };
    Target::numbers(table, y, weights, schema, Vec::new()).map_err(run)
}

fn learn(plan: &TreesPlan, target: &Target, held: Option<&[bool]>) -> Result<Model, RunError> {
    let learned = plan.fit_on(target, held, &mut |_| {})?;
    let judged = learned.predict_training(&target.table).judge(target);
    let summary = learned.summary(plan, target, &judged);
    plan.model(target, &learned, summary)
}

#[pymethods]
impl Trees {
    #[new]
    #[pyo3(signature = (names, columns, y, classes, weight=None, held=None, loss=None, rounds=None, rate=None, leaves=None, depth=None, ridge=None, bins=None, row_share=None, column_share=None, min_leaf=None, effective_rows=None, leaf_step="newton", patience=None, hold_out=None, seed=0, weak="trees", vector=false, increasing=None, decreasing=None, interactions=None, label=None, nominal=None, text=None))]
    #[allow(clippy::too_many_arguments)] // the parameters of the estimators
    fn new(
        py: Python<'_>,
        names: Vec<String>,
        columns: Vec<Bound<'_, PyAny>>,
        y: PyReadonlyArray1<'_, f64>,
        classes: Vec<ClassLabel>,
        weight: Option<PyReadonlyArray1<'_, f64>>,
        held: Option<Vec<bool>>,
        loss: Option<LossArg>,
        rounds: Option<usize>,
        rate: Option<f64>,
        leaves: Option<usize>,
        depth: Option<usize>,
        ridge: Option<f64>,
        bins: Option<usize>,
        row_share: Option<f64>,
        column_share: Option<f64>,
        min_leaf: Option<usize>,
        effective_rows: Option<bool>,
        leaf_step: &str,
        patience: Option<usize>,
        hold_out: Option<f64>,
        seed: u64,
        weak: &str,
        vector: bool,
        increasing: Option<Vec<String>>,
        decreasing: Option<Vec<String>>,
        interactions: Option<Vec<Vec<String>>>,
        label: Option<&str>,
        nominal: Option<Vec<String>>,
        text: Option<Vec<String>>,
    ) -> PyResult<PyClassInitializer<Self>> {
        let (nominal, text) = (nominal.unwrap_or_default(), text.unwrap_or_default());
        let (loss, own) = loss.map_or((None, None), |loss| {
            let (name, own) = loss.parts();
            (Some(name), own)
        });
        let custom = surrogate(own.as_ref())?;
        let plan = TreesPlan {
            loss: loss.filter(|_| custom.is_none()),
            custom: custom.clone(),
            shape: if weak == "rules" { Shape::Rules } else { Shape::Trees },
            vector,
            increasing: increasing.unwrap_or_default(),
            decreasing: decreasing.unwrap_or_default(),
            interactions: interactions.unwrap_or_default(),
            rounds,
            rate,
            leaves,
            depth,
            lambda: ridge,
            bins,
            row_share,
            column_share,
            min_leaf,
            effective: effective_rows,
            leaf: LeafStep::parse(leaf_step).map_err(config)?,
            patience,
            held_out: hold_out,
            seed,
            halt: Halt::new(),
        };
        let order = classes.clone();
        let data = Data { names, columns, y, classes, weight, label, nominal, text };
        let target = if order.is_empty() {
            numbers(data)?
        } else {
            Target::of(data.examples()?).map_err(run)?
        };
        let halt = plan.halt.clone();
        let calls = own.is_some();
        let work = move || known(calls, || learn(&plan, &target, held.as_deref()));
        let (model, stopped) = listening(py, &halt, work)?;
        own.as_ref().map_or(Ok(()), |own| own.get().settle())?;
        let model = match (model, stopped) {
            (Err(RunError::Halted), Some(stopped)) => return Err(stopped),
            (model, stopped) => (model.map_err(run)?, stopped),
        };
        let (model, stopped) = model;
        let learned = Arc::new(Learned::of(&model, custom.as_ref()).map_err(run)?);
        let order = (!order.is_empty()).then_some(order);
        let batch = Batch::of(model, Arc::clone(&learned) as Arc<_>, order);
        let batch = Batch { stopped, ..batch };
        Ok(PyClassInitializer::from(batch).add_subclass(Self { learned, own }))
    }

    /// Predicted numbers.
    fn numbers<'py>(
        slf: PyRef<'py, Self>,
        py: Python<'py>,
        columns: Vec<Bound<'py, PyAny>>,
    ) -> PyResult<Bound<'py, PyArray1<f64>>> {
        let (table, trees) = (slf.as_super().table(&columns)?, slf.learned.trees());
        match py.detach(|| divided(|| trees.predict(&table))) {
            Predicted::Numbers(found) => Ok(PyArray1::from_vec(py, found)),
            Predicted::Classes(_, all) => Ok(PyArray1::from_vec(py, all)),
        }
    }

    /// The score of the second of two classes, or one of each class.
    fn scores<'py>(
        slf: PyRef<'py, Self>,
        py: Python<'py>,
        columns: Vec<Bound<'py, PyAny>>,
    ) -> PyResult<Bound<'py, PyAny>> {
        let (batch, trees) = (slf.as_super(), slf.learned.trees());
        let table = batch.table(&columns)?;
        let scores = py.detach(|| divided(|| trees.model.scores(&table)));
        if trees.model.outputs() == 1 {
            return Ok(PyArray1::from_vec(py, scores).into_any());
        }
        batch.arranged(py, &scores).map(Bound::into_any)
    }

    /// Probabilities of all classes after each round.
    fn staged<'py>(
        slf: PyRef<'py, Self>,
        py: Python<'py>,
        columns: Vec<Bound<'py, PyAny>>,
    ) -> PyResult<Vec<Bound<'py, PyArray2<f64>>>> {
        let (batch, trees) = (slf.as_super(), slf.learned.trees());
        let table = batch.table(&columns)?;
        let mut all = Vec::new();
        py.detach(|| {
            divided(|| {
                trees.staged(&table, &mut |predicted| match predicted {
                    Predicted::Classes(_, shares) => all.push(shares),
                    Predicted::Numbers(_) => {}
                });
            });
        });
        all.iter().map(|shares| batch.arranged(py, shares)).collect()
    }

    /// Predicted numbers after each round.
    fn staged_numbers<'py>(
        slf: PyRef<'py, Self>,
        py: Python<'py>,
        columns: Vec<Bound<'py, PyAny>>,
    ) -> PyResult<Vec<Bound<'py, PyArray1<f64>>>> {
        let (table, trees) = (slf.as_super().table(&columns)?, slf.learned.trees());
        let mut all = Vec::new();
        py.detach(|| {
            divided(|| {
                trees.staged(&table, &mut |predicted| match predicted {
                    Predicted::Numbers(found) => all.push(found),
                    Predicted::Classes(..) => {}
                });
            });
        });
        Ok(all.into_iter().map(|found| PyArray1::from_vec(py, found)).collect())
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
        let dependence = match &columns {
            Some(columns) => {
                let table = batch.table(columns)?;
                let mut found = slf.learned.trees().dependence(&table, 4).map_err(run)?;
                found.iter_mut().for_each(|own| own.column = names.name(&own.column));
                found
            }
            None => Vec::new(),
        };
        let judged = batch.judged(columns, y)?;
        let mut summary = batch.model.summary.clone();
        for one in summary["importance"].as_array_mut().into_iter().flatten() {
            let name = one["column"].as_str().map(|name| names.name(name));
            one["column"] = name.unwrap_or_default().into();
        }
        for one in summary["pairs"].as_array_mut().into_iter().flatten() {
            for one in one["columns"].as_array_mut().into_iter().flatten() {
                *one = one.as_str().map(|name| names.name(name)).unwrap_or_default().into();
            }
        }
        let profile = Profile::of(&batch.model);
        let page = geowalk_cli::report::boosted_trees;
        let about = About { classes: slf.learned.classes(), dependence: &dependence };
        Ok(page(&summary, &about, profile.as_ref(), judged.as_ref(), &how.into()).html())
    }

    /// What each column gained, as parts of 1.
    fn importance<'py>(&self, py: Python<'py>) -> Bound<'py, PyArray1<f64>> {
        PyArray1::from_vec(py, self.learned.trees().model.importance())
    }

    /// Rounds, and leaves of all trees.
    #[getter]
    fn shape(&self) -> (usize, usize) {
        let nodes = self.learned.trees().model.trees.iter().flat_map(|tree| &tree.nodes);
        (self.learned.trees().model.rounds(), nodes.filter(|node| node.branch.is_none()).count())
    }

    /// What a model file's bytes hold; with the labels of the classes in an order of one's own, and the loss
    /// if it is the user's own.
    #[staticmethod]
    #[pyo3(signature = (bytes, classes=None, loss=None))]
    fn from_bytes(
        py: Python<'_>,
        bytes: &[u8],
        classes: Option<Vec<ClassLabel>>,
        loss: Option<Py<Loss>>,
    ) -> PyResult<Py<Self>> {
        let custom: Option<Surrogate> = surrogate(loss.as_ref())?;
        let open = |model: &Model| Learned::of(model, custom.as_ref());
        let classes = classes.filter(|classes| !classes.is_empty());
        let (batch, learned) = Batch::read(bytes, classes, open)?;
        Py::new(py, PyClassInitializer::from(batch).add_subclass(Self { learned, own: loss }))
    }

    /// Writes the model file, which `geowalk predict` and `geowalk.load` read; with the class and parameters
    /// of its estimator as JSON.
    #[pyo3(signature = (path, estimator=None))]
    fn save(slf: PyRef<'_, Self>, path: PathBuf, estimator: Option<String>) -> PyResult<()> {
        if slf.own.is_some() {
            let message = "the loss is made of Python functions, which a model file cannot hold; boost with a loss that has a name (geowalk.losses.names()), or pickle the estimator";
            return Err(data(message.to_owned(), None, None, None));
        }
        slf.into_super().save(path, estimator)
    }

    fn __reduce__<'py>(slf: &Bound<'py, Self>) -> PyResult<Reduced<'py>> {
        let own = slf.borrow().own.as_ref().map(|own| own.clone_ref(slf.py()));
        let batch = slf.as_super().borrow();
        let state = (batch.to_bytes(slf.py())?, batch.labels(), own);
        Ok((slf.get_type().getattr("from_bytes")?, state))
    }
}
