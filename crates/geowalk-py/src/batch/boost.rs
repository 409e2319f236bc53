//! Boosted rules, stumps, small trees or columns.

use std::path::PathBuf;
use std::sync::Arc;

use geowalk::boost::line::Separable;
use geowalk::boost::multiclass::Reduction;
use geowalk::boost::rules::Search;
use geowalk::boost::{Flavour, Halt, Leverage, Surrogate};
use geowalk::loss::{AnyLoss, Loss as _};
use geowalk::spec::unknown;
use geowalk_cli::report::Boosted as Report;
use geowalk_run::boost::words::Names;
use geowalk_run::boost::{Boosted, By, History, Kind, Plan, summary};
use geowalk_run::error::RunError;
use geowalk_run::learned::Boosting;
use geowalk_run::model::Model;
use geowalk_run::profile::Profile;
use geowalk_run::table::Examples;
use numpy::{PyArray1, PyReadonlyArray1};
use pyo3::prelude::*;
use pyo3::types::PyBytes;

use super::{Batch, Data, Renamed};
use crate::error::{config, data, run};
use crate::fork::divided;
use crate::label::ClassLabel;
use crate::listen::known;
use crate::loss::Loss;

/// What pickle calls to make it again.
type Reduced<'py> = (Bound<'py, PyAny>, (Bound<'py, PyBytes>, Vec<ClassLabel>, Option<Py<Loss>>));

/// A sum of features with leverages, found by boosting.
///
/// `geowalk.BoostClassifier` is made of it. Columns are arrays of numbers, or pairs of codes and names.
///
/// H(x) = sum of alpha_j h_j(x); each round finds a feature h_j with an edge over the weights of the examples and moves its leverage. With `bins` 0 thresholds are between all values.
///
/// >>> import numpy as np
/// >>> from geowalk._geowalk import Boost
/// >>> x = np.arange(20.0)
/// >>> boost = Boost(["x"], [x], (x > 7).astype(float), [0.0, 1.0], rounds=3)
/// >>> boost.predict([x[6:10]])
/// array([0, 0, 1, 1])
///
/// Reference: Nock and Nielsen, Intrinsic geometries in learning, 2009.
#[pyclass(module = "geowalk._geowalk", extends = Batch)]
pub(crate) struct Boost {
    boosted: Arc<Boosting>,
    /// A loss of the user's own, which no model file holds.
    own: Option<Py<Loss>>,
}

/// A loss by its name, or as an object.
#[derive(FromPyObject)]
pub(super) enum LossArg {
    Name(String),
    Object(Py<Loss>),
}

impl LossArg {
    /// The name, and the object if no name tells it.
    pub(super) fn parts(self) -> (String, Option<Py<Loss>>) {
        match self {
            Self::Name(name) => (name, None),
            Self::Object(loss) => {
                let core = loss.get().core();
                let own = matches!(core, AnyLoss::Custom(_));
                (core.spec(), own.then_some(loss))
            }
        }
    }
}

/// What is boosted with a loss of the user's own.
pub(super) fn surrogate(own: Option<&Py<Loss>>) -> PyResult<Option<Surrogate>> {
    let made = own.map(|own| Surrogate::new(own.get().core().clone())).transpose();
    own.map_or(Ok(()), |own| own.get().settle())?;
    made.map_err(config)
}

fn learn(plan: &Plan, examples: &Examples) -> Result<Model, RunError> {
    let Examples { table, classes, weights, .. } = examples;
    let weights = weights.as_deref();
    let (boosted, histories) = plan.fit(table, classes, weights, &mut |_| {})?;
    let errors = match histories.as_slice() {
        // Who has stopped it does not want to wait for all rows to be predicted.
        [History { rounds, .. }] if plan.halt.is_called() => {
            (rounds.last().map_or(f64::NAN, |round| round.error), None)
        }
        _ => plan.errors(&boosted, table, classes, weights)?,
    };
    let summary = summary(plan, examples, &boosted, &histories, errors);
    Ok(plan.model(examples, &boosted, &histories, summary))
}

/// What a model holds, with the loss that no name tells.
fn made(model: &Model, own: Option<&Surrogate>) -> Result<Boosting, RunError> {
    Ok(Boosting::new(Boosted::with(model, own)?, model))
}

#[pymethods]
impl Boost {
    #[new]
    #[pyo3(signature = (names, columns, y, classes, weight=None, loss=None, weak="rules", literals=2, leaves=4, rounds=10, leverage="one", adapt=None, bins=255, seed=0, search="edge", reduction="ova", separable="cap", abstain=false, until=None, hold_out=None, patience=None, mu=0.5, nu=0.25, by="held-out", label=None, nominal=None, text=None),
        text_signature = "(names, columns, y, classes, weight=None, loss='matsushita', weak='rules', literals=2, leaves=4, rounds=10, leverage='one', adapt=None, bins=255, seed=0, search='edge', reduction='ova', separable='cap', abstain=False, until=None, hold_out=None, patience=None, mu=0.5, nu=0.25, by='held-out', label=None, nominal=None, text=None)")]
    #[allow(clippy::too_many_arguments)] // the parameters of the estimator
    fn new(
        py: Python<'_>,
        names: Vec<String>,
        columns: Vec<Bound<'_, PyAny>>,
        y: PyReadonlyArray1<'_, f64>,
        classes: Vec<ClassLabel>,
        weight: Option<PyReadonlyArray1<'_, f64>>,
        loss: Option<LossArg>,
        weak: &str,
        literals: usize,
        leaves: usize,
        rounds: usize,
        leverage: &str,
        adapt: Option<&str>,
        bins: usize,
        seed: u64,
        search: &str,
        reduction: &str,
        separable: &str,
        abstain: bool,
        until: Option<f64>,
        hold_out: Option<f64>,
        patience: Option<usize>,
        mu: f64,
        nu: f64,
        by: &str,
        label: Option<&str>,
        nominal: Option<Vec<String>>,
        text: Option<Vec<String>>,
    ) -> PyResult<PyClassInitializer<Self>> {
        let (nominal, text) = (nominal.unwrap_or_default(), text.unwrap_or_default());
        let (loss, own) = loss.map_or(("matsushita".to_owned(), None), LossArg::parts);
        let plan = Plan {
            loss,
            own: surrogate(own.as_ref())?,
            weak: Kind::parse(weak).map_err(config)?,
            literals,
            leaves,
            rounds,
            leverage: Leverage::parse(leverage).map_err(config)?,
            adapt: Flavour::parse(adapt.unwrap_or("none")).map_err(config)?,
            bins: (bins > 0).then_some(bins),
            seed,
            search: Search::parse(search).map_err(config)?,
            reduction: Reduction::parse(reduction)
                .ok_or_else(|| config(unknown("reduction", reduction, ["ova", "mh"])))?,
            separable: Separable::parse(separable)
                .ok_or_else(|| config(unknown("policy", separable, ["cap", "stop", "error"])))?,
            abstains: abstain,
            bound: until,
            held_out: hold_out,
            patience,
            mu,
            nu,
            by: By::parse(by).map_err(config)?,
            halt: Halt::new(),
            known: Vec::new(),
            ..Plan::default()
        };
        let data = Data { names, columns, y, classes, weight, label, nominal, text };
        let (halt, loss) = (plan.halt.clone(), plan.own.clone());
        let open = |model: &Model| made(model, loss.as_ref());
        let calls = own.is_some();
        let work = move |examples: &Examples| known(calls, || learn(&plan, examples));
        let learned = Batch::learn(py, data, &halt, work, open);
        // What a function of the user's raised explains more than the NaN it was taken for.
        own.as_ref().map_or(Ok(()), |own| own.get().settle())?;
        let (batch, boosted) = learned?;
        Ok(PyClassInitializer::from(batch).add_subclass(Self { boosted, own }))
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
        let boosted = slf.boosted.boosted();
        let one = boosted.members.first().map(|member| &member.loss);
        let (Some(plan), Some(histories)) = (Plan::of(model), History::of(model, one)) else {
            let message = "the model file does not tell the rounds of its training: it is of an older geowalk, or a number was not finite; fit it again in this process to have a report";
            return Err(data(message.to_owned(), None, None, None));
        };
        let profile = Profile::of(model);
        let report = Report {
            plan: &plan,
            profile: profile.as_ref(),
            rows: usize::try_from(model.examples).unwrap_or(usize::MAX),
            boosted,
            histories: &histories,
            validation: None,
            judged,
            names: &Names::new(names.headings(batch), boosted),
            supports: slf.boosted.supports(),
            error: model.summary["metrics"]["training_error"].as_f64().unwrap_or(f64::NAN),
        };
        Ok(report.page(&how.into()).html())
    }

    /// The score of the second of two classes, or one of each class.
    fn scores<'py>(
        slf: PyRef<'py, Self>,
        py: Python<'py>,
        columns: Vec<Bound<'py, PyAny>>,
    ) -> PyResult<Bound<'py, PyAny>> {
        let (batch, boosted) = (slf.as_super(), slf.boosted.boosted());
        let table = batch.table(&columns)?;
        let mut scores = py.detach(|| divided(|| boosted.scores(&table))).map_err(run)?;
        if scores.len() == 1 {
            return Ok(PyArray1::from_vec(py, scores.remove(0)).into_any());
        }
        let rows: Vec<f64> = (0..table.rows())
            .flat_map(|row| scores.iter().map(move |scores| scores[row]))
            .collect();
        batch.arranged(py, &rows).map(Bound::into_any)
    }

    /// How much each column moves the scores, as parts of 1.
    fn importance<'py>(&self, py: Python<'py>) -> Bound<'py, PyArray1<f64>> {
        PyArray1::from_vec(py, self.boosted.boosted().importance(self.boosted.supports()))
    }

    /// What a model file's bytes hold; with the labels of the classes in an order of one's own, and the loss if it is the user's own.
    #[staticmethod]
    #[pyo3(signature = (bytes, classes=None, loss=None))]
    fn from_bytes(
        py: Python<'_>,
        bytes: &[u8],
        classes: Option<Vec<ClassLabel>>,
        loss: Option<Py<Loss>>,
    ) -> PyResult<Py<Self>> {
        let own = surrogate(loss.as_ref())?;
        let open = |model: &Model| made(model, own.as_ref());
        let (batch, boosted) = Batch::read(bytes, classes, open)?;
        Py::new(py, PyClassInitializer::from(batch).add_subclass(Self { boosted, own: loss }))
    }

    /// Writes the model file, which `geowalk predict` and `geowalk.load` read; with the class and parameters of
    /// its estimator as JSON.
    #[pyo3(signature = (path, estimator=None))]
    fn save(slf: PyRef<'_, Self>, path: PathBuf, estimator: Option<String>) -> PyResult<()> {
        if slf.own.is_some() {
            let message = "the loss is made of Python functions, which a model file cannot hold; boost with a loss that has a name (geowalk.losses.names()), pickle the estimator, or take its rules with write('sql')";
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
