//! Experts: whom to trust.

use geowalk::experts::{Experts, Kind};
use geowalk_run::experts::{Plan, file, settings};
use geowalk_run::model::{LearnerSettings, Model};
use numpy::{PyArray1, PyReadonlyArray1, PyReadonlyArray2};
use pyo3::prelude::*;
use pyo3::types::PyBytes;
use serde_json::{Value, json};

use geowalk::certify::Status;

use crate::convert::unreadable;
use crate::error::{Fault, config, data, model, run, unlearned};
use crate::files::save;

/// Weights on experts that follow the best of them.
///
/// `geowalk.Hedge` is made of it.
///
/// w_i <- w_i exp(-rate * loss_i) / sum, and its relatives.
///
/// >>> import numpy as np
/// >>> from geowalk._geowalk import Weigher
/// >>> weigher = Weigher()
/// >>> weigher.learn(np.array([[0.0, 1.0]] * 20), None)
/// >>> bool(weigher.weights()[0] > 0.99)
/// True
///
/// Reference: Freund and Schapire, A decision-theoretic generalization of on-line learning and an application to boosting, 1997; de Rooij, van Erven, Grunwald and Koolen,
/// Follow the leader if you can, hedge if you must, 2014.
#[pyclass(module = "geowalk._geowalk")]
pub(crate) struct Weigher {
    plan: Plan,
    kind: Kind,
    experts: Option<Experts>,
    /// The names of the experts, of a game that a table began.
    names: Vec<String>,
}

impl Weigher {
    fn model(&self) -> PyResult<Model> {
        let summary = self.told(None)?;
        Ok(file::model(&self.plan, &self.names, self.experts()?, summary))
    }

    fn experts(&self) -> PyResult<&Experts> {
        self.experts.as_ref().ok_or_else(unlearned)
    }
}

/// Walk, rate, loss, share and range.
type Asked = (Option<String>, String, Option<String>, f64, Option<(f64, f64)>);

/// What pickle calls to make it again.
type Reduced<'py> = (Bound<'py, PyAny>, (Bound<'py, PyBytes>,));

#[pymethods]
impl Weigher {
    #[new]
    #[pyo3(signature = (walk=None, rate="auto", loss=None, share=0.0, range=None))]
    fn new(
        walk: Option<String>,
        rate: &str,
        loss: Option<&str>,
        share: f64,
        range: Option<(f64, f64)>,
    ) -> PyResult<Self> {
        let (loss, rate) = (loss.map(str::to_owned), rate.to_owned());
        let plan = Plan { walk, rate, loss, share, range, ..Plan::default() };
        let kind = file::kind(&plan).map_err(run)?;
        settings(&plan, kind.clone()).map_err(config)?;
        Ok(Self { plan, kind, experts: None, names: Vec::new() })
    }

    /// Plays a round for each row; `y` are the outcomes, where there are any.
    #[pyo3(signature = (rows, y=None))]
    fn learn(
        &mut self,
        py: Python<'_>,
        rows: PyReadonlyArray2<'_, f64>,
        y: Option<PyReadonlyArray1<'_, f64>>,
    ) -> PyResult<()> {
        let rows = rows.as_array();
        let y = y.as_ref().map(|y| y.as_slice()).transpose().map_err(unreadable)?;
        if let Some(y) = y.filter(|y| y.len() != rows.nrows()) {
            let message = format!("there are {} rounds and {} outcomes", rows.nrows(), y.len());
            return Err(data(message, None, None, None));
        }
        if self.experts.is_none() {
            let settings = settings(&self.plan, self.kind.clone()).map_err(config)?;
            self.experts = Some(Experts::new(rows.ncols(), settings).map_err(config)?);
        }
        let Some(experts) = &mut self.experts else { return Ok(()) };
        let played = py.detach(|| {
            let mut row = Vec::new();
            for (i, said) in rows.rows().into_iter().enumerate() {
                row.clear();
                row.extend(said.iter());
                let outcome = y.map_or(f64::NAN, |y| y[i]);
                experts.learn(&row, outcome).map_err(|error| (i, error))?;
            }
            Ok(())
        });
        played.map_err(|(i, error)| Fault::at(error, Some(i)).into())
    }

    /// The model file, in bytes.
    fn to_bytes<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyBytes>> {
        let bytes = self.model()?.to_bytes().map_err(|error| model(&error))?;
        Ok(PyBytes::new(py, &bytes))
    }

    /// Writes the model file, which `geowalk.load` reads; with the class and parameters of its estimator as JSON.
    #[pyo3(signature = (path, estimator=None))]
    fn save(&self, path: std::path::PathBuf, estimator: Option<String>) -> PyResult<()> {
        save(self.model()?, &path, estimator)
    }

    /// The game of a model file's bytes.
    #[staticmethod]
    fn from_bytes(bytes: &[u8]) -> PyResult<Self> {
        let own = Model::from_bytes(bytes).map_err(|error| model(&error))?;
        let (plan, experts) = file::load(&own).map_err(run)?;
        let kind = file::kind(&plan).map_err(run)?;
        let names = match own.settings.learner {
            LearnerSettings::Experts(own) => own.names,
            _ => Vec::new(),
        };
        Ok(Self { plan, kind, experts: Some(experts), names })
    }

    /// What was asked for: walk, rate, loss, share and range.
    fn settings(&self) -> Asked {
        let Plan { walk, rate, loss, share, range, .. } = self.plan.clone();
        (walk, rate, loss, share, range)
    }

    fn __reduce__<'py>(&self, py: Python<'py>) -> PyResult<Reduced<'py>> {
        Ok((py.get_type::<Self>().getattr("from_bytes")?, (self.to_bytes(py)?,)))
    }

    /// The weights, summing to 1.
    fn weights<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyArray1<f64>>> {
        Ok(PyArray1::from_slice(py, self.experts()?.weights()))
    }

    /// The weighted mean of what experts say, row by row; NaN says nothing.
    fn predict<'py>(
        &self,
        py: Python<'py>,
        rows: PyReadonlyArray2<'_, f64>,
    ) -> PyResult<Bound<'py, PyArray1<f64>>> {
        let (rows, experts) = (rows.as_array(), self.experts()?);
        let count = experts.weights().len();
        if rows.ncols() != count {
            let message = format!("advice of {} experts; there are {count}", rows.ncols());
            return Err(data(message, None, None, None));
        }
        let one = |row: numpy::ndarray::ArrayView1<'_, f64>| {
            experts.predict(&row.to_vec()).unwrap_or(f64::NAN)
        };
        Ok(PyArray1::from_vec(py, rows.rows().into_iter().map(one).collect()))
    }

    /// What came out, as JSON: losses, and the certificate against the best expert, or against one of them.
    #[pyo3(signature = (expert=None))]
    fn summary(&self, expert: Option<usize>) -> PyResult<String> {
        Ok(self.told(expert)?.to_string())
    }
}

impl Weigher {
    /// What came out, against the best expert or one of them.
    fn told(&self, expert: Option<usize>) -> PyResult<Value> {
        let experts = self.experts()?;
        let count = experts.weights().len();
        let best = expert.unwrap_or_else(|| experts.best());
        if best >= count {
            let message = format!("there is no expert {best}; there are {count}, counted from 0");
            return Err(data(message, None, None, None));
        }
        let standing = experts.against_expert(best).checked().map_err(|wrong| run(wrong.into()))?;
        let c = &standing.certificate;
        let finite = |x: f64| x.is_finite().then_some(x);
        let (status, reason) = match &c.status {
            Status::Valid => ("valid", None),
            Status::Void(broken) => {
                ("void", Some(format!("{} (row {})", broken.premise, broken.row)))
            }
        };
        let first = &standing.first_order;
        let first_valid = if first.status == Status::Valid { "valid" } else { "void" };
        Ok(json!({
            "loss": experts.loss(),
            "best": best,
            "rate": finite(experts.rate()),
            "losses": (0..count).map(|i| experts.loss_of(i)).collect::<Vec<_>>(),
            "certificate": {
                "theorem": c.theorem, "status": status, "reason": reason, "loss": finite(c.loss),
                "comparator_loss": finite(standing.comparator_loss),
                "regret": finite(standing.regret), "bound": finite(c.bound),
                "comparators": format!("expert {best}"),
                "first_order": {"status": first_valid, "bound": finite(first.bound)},
            },
        }))
    }
}
