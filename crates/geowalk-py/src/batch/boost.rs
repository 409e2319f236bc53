//! Boosted rules, stumps, small trees or columns.

use geowalk::boost::{Flavour, Halt, Leverage};
use geowalk_cli::report::Boosted as Report;
use geowalk_run::boost::words::{self, Names};
use geowalk_run::boost::{Boosted, History, Kind, Plan, summary};
use geowalk_run::error::RunError;
use geowalk_run::model::Model;
use geowalk_run::table::{Examples, headings};
use numpy::{PyArray1, PyArray2, PyReadonlyArray1};
use pyo3::exceptions::PyValueError;
use pyo3::prelude::*;

use super::{Batch, untold};
use crate::columns::{examples, known, table};
use crate::error::{config, model, run};
use crate::label::ClassLabel;
use crate::listen::listening;

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
    boosted: Boosted,
    told: Option<Told>,
}

/// What is told of a fit in a report.
struct Told {
    plan: Plan,
    histories: Vec<History>,
    error: f64,
}

impl Boost {
    fn of(
        own: Model,
        order: Option<Vec<ClassLabel>>,
        told: Option<Told>,
        stopped: Option<PyErr>,
    ) -> PyResult<PyClassInitializer<Self>> {
        let boosted = Boosted::of(&own).map_err(run)?;
        let headings = headings(&own.schema, boosted.columns);
        let batch = Batch { stopped, ..Batch::new(own, headings, order) };
        Ok(PyClassInitializer::from(batch).add_subclass(Self { boosted, told }))
    }
}

fn learn(plan: Plan, examples: &Examples) -> Result<(Model, Told), RunError> {
    let Examples { table, classes, weights, .. } = examples;
    let weights = weights.as_deref();
    let (boosted, histories) = plan.fit(table, classes, weights, &mut |_| {})?;
    let error = match histories.as_slice() {
        // Who has stopped it does not want to wait for all rows to be predicted.
        [History { rounds, .. }] if plan.halt.is_called() => {
            rounds.last().map_or(f64::NAN, |round| round.error)
        }
        _ => boosted.error(table, classes.codes(), weights)?,
    };
    let summary = summary(&plan, examples, &boosted, &histories, error);
    let own = plan.model(examples, &boosted, summary);
    Ok((own, Told { plan, histories, error }))
}

#[pymethods]
impl Boost {
    #[new]
    #[pyo3(signature = (names, columns, y, classes, weight=None, loss="matsushita", weak="rules", literals=2, leaves=4, rounds=10, leverage="one", adapt=None, bins=255, seed=0, label=None))]
    #[allow(clippy::too_many_arguments)] // the parameters of the estimator
    fn new(
        py: Python<'_>,
        names: Vec<String>,
        columns: Vec<Bound<'_, PyAny>>,
        y: PyReadonlyArray1<'_, f64>,
        classes: Vec<ClassLabel>,
        weight: Option<PyReadonlyArray1<'_, f64>>,
        loss: &str,
        weak: &str,
        literals: usize,
        leaves: usize,
        rounds: usize,
        leverage: &str,
        adapt: Option<&str>,
        bins: usize,
        seed: u64,
        label: Option<&str>,
    ) -> PyResult<PyClassInitializer<Self>> {
        let plan = Plan {
            loss: loss.to_owned(),
            weak: Kind::parse(weak).map_err(config)?,
            literals,
            leaves,
            rounds,
            leverage: Leverage::parse(leverage).map_err(config)?,
            adapt: Flavour::parse(adapt.unwrap_or("none")).map_err(config)?,
            bins: (bins > 0).then_some(bins),
            seed,
            halt: Halt::new(),
            ..Plan::default()
        };
        let (order, halt) = (classes.clone(), plan.halt.clone());
        let table = table(&names, &columns)?;
        let examples = examples(table, &y, classes, weight.as_ref(), label)?;
        let (learned, stopped) = listening(py, &halt, move || learn(plan, &examples))?;
        let (own, told) = learned.map_err(run)?;
        Self::of(own, Some(order), Some(told), stopped)
    }

    /// The numbers of the classes of rows.
    fn predict<'py>(
        slf: PyRef<'py, Self>,
        py: Python<'py>,
        columns: Vec<Bound<'py, PyAny>>,
    ) -> PyResult<Bound<'py, PyArray1<i64>>> {
        let (batch, boosted) = (slf.as_super(), &slf.boosted);
        let table = known(&batch.headings, &columns)?;
        let found = py.detach(|| boosted.predict(&table)).map_err(run)?.0;
        Ok(batch.codes(py, &found))
    }

    /// The probability of every class, row by row.
    fn probabilities<'py>(
        slf: PyRef<'py, Self>,
        py: Python<'py>,
        columns: Vec<Bound<'py, PyAny>>,
    ) -> PyResult<Bound<'py, PyArray2<f64>>> {
        let (batch, boosted) = (slf.as_super(), &slf.boosted);
        let table = known(&batch.headings, &columns)?;
        let shares = py.detach(|| boosted.predict(&table)).map_err(run)?.1;
        batch.arranged(py, &shares)
    }

    /// The score of the second of two classes, or one of each class.
    fn scores<'py>(
        slf: PyRef<'py, Self>,
        py: Python<'py>,
        columns: Vec<Bound<'py, PyAny>>,
    ) -> PyResult<Bound<'py, PyAny>> {
        let (batch, boosted) = (slf.as_super(), &slf.boosted);
        let table = known(&batch.headings, &columns)?;
        let mut scores = py.detach(|| boosted.scores(&table)).map_err(run)?;
        if scores.len() == 1 {
            return Ok(PyArray1::from_vec(py, scores.remove(0)).into_any());
        }
        let rows: Vec<f64> = (0..table.rows())
            .flat_map(|row| scores.iter().map(move |scores| scores[row]))
            .collect();
        batch.arranged(py, &rows).map(Bound::into_any)
    }

    /// What was learned, for people or for programs: text, json, sql or dot.
    fn write(slf: PyRef<'_, Self>, form: &str) -> PyResult<String> {
        let (boosted, headings) = (&slf.boosted, slf.as_super().headings.clone());
        let names = Names::new(headings, boosted);
        match form {
            "text" => {
                let members = words::sentences(boosted, &names);
                let one = members.len() == 1;
                let text = |(class, rules): (String, Vec<String>)| {
                    let head = if one { String::new() } else { format!("{class}:\n") };
                    format!("{head}{}", rules.join("\n"))
                };
                Ok(members.into_iter().map(text).collect::<Vec<_>>().join("\n\n"))
            }
            "json" => Ok(words::to_json(boosted, &names).to_string()),
            "sql" => words::to_sql(boosted, &names).map_err(PyValueError::new_err),
            "dot" => Ok(words::to_dot(boosted, &names)),
            other => {
                Err(config(geowalk::spec::unknown("form", other, ["text", "json", "sql", "dot"])))
            }
        }
    }

    /// The report of the fit as one HTML page; `how` it can be made again, and rows with the numbers of their classes to judge probabilities by.
    #[pyo3(signature = (how, columns=None, y=None))]
    fn page(
        slf: PyRef<'_, Self>,
        how: &str,
        columns: Option<Vec<Bound<'_, PyAny>>>,
        y: Option<PyReadonlyArray1<'_, f64>>,
    ) -> PyResult<String> {
        let (batch, boosted) = (slf.as_super(), &slf.boosted);
        let told = slf.told.as_ref().ok_or_else(untold)?;
        let judged = match (columns, y) {
            (Some(columns), Some(y)) => {
                let table = known(&batch.headings, &columns)?;
                Some(batch.judge(&boosted.predict(&table).map_err(run)?.1, &y)?)
            }
            _ => None,
        };
        let report = Report {
            plan: &told.plan,
            rows: usize::try_from(batch.model.examples).unwrap_or(usize::MAX),
            boosted,
            histories: &told.histories,
            validation: None,
            judged,
            names: &Names::new(batch.headings.clone(), boosted),
            error: told.error,
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
