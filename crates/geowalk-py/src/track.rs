//! Null vectors of a stream.

use geowalk::row::{Block, Row};
use geowalk_data::Dictionary;
use geowalk_run::model::Model;
use geowalk_run::track::{Plan, Tracker as Walker};
use numpy::PyArray1;
use pyo3::prelude::*;
use pyo3::types::PyDict;

use crate::error::{data, model, run};
use crate::files::save;
use crate::rows::Rows;

/// The unit vector that is orthogonal to all rows, learned on the sphere.
///
/// `geowalk.NullVector` is made of it.
///
/// p <- Exp_p(-rate * grad <p, x>^2), a step along a great circle.
///
/// >>> import numpy as np
/// >>> from geowalk._geowalk import Tracker
/// >>> tracker = Tracker(rate="0.5")
/// >>> tracker.learn(np.array([[3.0, 4.0]] * 100))
/// >>> tracker.vector().round(3)
/// array([ 0.8, -0.6])
///
/// Reference: Krakowski, Mahony, Williamson and Warmuth, Online learning on spheres, 2007.
#[pyclass(module = "geowalk._geowalk")]
pub(crate) struct Tracker {
    plan: Plan,
    walker: Walker,
}

#[pymethods]
impl Tracker {
    #[new]
    #[pyo3(signature = (walk="sphere", rate="inv(0.5, 10)", seed=0))]
    fn new(walk: &str, rate: &str, seed: u64) -> PyResult<Self> {
        let plan = Plan { walk: walk.to_owned(), rate: rate.to_owned(), seed, ..Plan::default() };
        let walker = Walker::new(&plan).map_err(run)?.alone();
        Ok(Self { plan, walker })
    }

    /// Learns from rows, which are taken at unit length.
    fn learn(&mut self, py: Python<'_>, x: &Bound<'_, PyAny>) -> PyResult<()> {
        let rows = Rows::new(x)?;
        let view = rows.view()?;
        let walker = &mut self.walker;
        let mut from = 0;
        let mut block = Block::new();
        while from < view.len() {
            py.detach(|| {
                let range = view.block(from);
                from = range.end;
                view.fill(range, &mut block, |_| 0.0, |_| 1.0);
                for i in 0..block.len() {
                    if block.columns().is_some() {
                        let row = block.dense(i);
                        walker.row(row, Some(row.0))?;
                    } else if block.sparse(i).bound() > 0 {
                        walker.row(block.sparse(i), None)?;
                    }
                }
                walker.learn()
            })
            .map_err(run)?;
            py.check_signals()?;
        }
        Ok(())
    }

    /// The vector learned so far; its largest coordinate is positive.
    fn vector<'py>(&self, py: Python<'py>) -> Bound<'py, PyArray1<f64>> {
        PyArray1::from_vec(py, self.walker.vector())
    }

    /// What came out, as JSON.
    fn summary(&self) -> String {
        let (rows, left_out) = self.walker.rows();
        let certificate = self.walker.certificate_json();
        serde_json::json!({"rows": rows, "left_out": left_out, "certificate": certificate})
            .to_string()
    }

    /// What the certificates say of a unit vector, as JSON; without one of the best in hindsight. With the rows that were learned from what it lost is known; the best needs them.
    #[pyo3(signature = (comparator=None, x=None))]
    fn certify(
        &self,
        py: Python<'_>,
        comparator: Option<Vec<f64>>,
        x: Option<&Bound<'_, PyAny>>,
    ) -> PyResult<String> {
        let rows = x.map(Rows::new).transpose()?;
        let view = rows.as_ref().map(Rows::view).transpose()?;
        let walker = &self.walker;
        let report = py.detach(|| {
            let blocks = view.map(|view| {
                let (mut blocks, mut from) = (Vec::new(), 0);
                while from < view.len() {
                    let (range, mut block) = (view.block(from), Block::new());
                    from = range.end;
                    view.fill(range, &mut block, |_| 0.0, |_| 1.0);
                    blocks.push(block);
                }
                blocks
            });
            walker.certify(comparator.as_deref(), blocks.as_deref())
        });
        Ok(report.map_err(run)?.json().to_string())
    }

    /// Writes the model file, which `geowalk.load` reads; the names are those of the columns.
    #[pyo3(signature = (path, names, estimator=None))]
    fn save(
        &self,
        path: std::path::PathBuf,
        names: Vec<String>,
        estimator: Option<String>,
    ) -> PyResult<()> {
        let names = Dictionary::from_names(names.iter().map(String::as_str));
        let names = names.map_err(|error| data(error.to_string(), None, None, None))?;
        save(self.walker.model(&self.plan, names), &path, estimator)
    }

    /// What a model file's bytes hold, and the names of the columns.
    #[staticmethod]
    fn from_bytes(bytes: &[u8]) -> PyResult<(Self, Vec<String>)> {
        let own = Model::from_bytes(bytes).map_err(|error| model(&error))?;
        let (plan, walker, names) = Walker::of(&own).map_err(run)?;
        Ok((Self { plan, walker }, names))
    }

    /// What was asked for: walk, rate and seed.
    fn settings(&self) -> (String, String, u64) {
        (self.plan.walk.clone(), self.plan.rate.clone(), self.plan.seed)
    }

    /// Everything that changes, by name.
    fn state<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyDict>> {
        let state = PyDict::new(py);
        for (name, values) in self.walker.save() {
            state.set_item(name, values)?;
        }
        Ok(state)
    }

    /// Goes on from a state.
    #[staticmethod]
    fn from_state(walk: &str, rate: &str, seed: u64, state: &Bound<'_, PyDict>) -> PyResult<Self> {
        let Self { plan, .. } = Self::new(walk, rate, seed)?;
        let mut arrays = Vec::new();
        for (name, values) in state {
            arrays.push((name.extract()?, values.extract()?));
        }
        Ok(Self { walker: Walker::load(&plan, &arrays).map_err(run)?, plan })
    }

    #[allow(clippy::type_complexity)] // what pickle wants
    fn __reduce__<'py>(
        &self,
        py: Python<'py>,
    ) -> PyResult<(Bound<'py, PyAny>, (String, String, u64, Bound<'py, PyDict>))> {
        let Plan { walk, rate, seed, .. } = self.plan.clone();
        let class = py.get_type::<Self>();
        Ok((class.getattr("from_state")?, (walk, rate, seed, self.state(py)?)))
    }
}
