//! # Any cost on any manifold
//! Python functions as costs, and the minimizer of the library on them.

use geowalk::geometry::manifolds::AnyManifold;
use geowalk::laws::{self, Sampler};
use geowalk::optimize::{self as core, Cost, Interrupted, Minimizer, Rule, StepRate};
use numpy::{PyArray1, PyArrayMethods};
use pyo3::exceptions::{PyTypeError, PyValueError};
use pyo3::prelude::*;
use pyo3::types::{PyDict, PyList};

use crate::convert::{Numbers, array};
use crate::error::{Fault, config, shape};
use crate::manifold::Manifold;

/// Python functions of a point, perhaps also of a batch.
struct Functions<'py> {
    py: Python<'py>,
    cost: Bound<'py, PyAny>,
    gradient: Option<Bound<'py, PyAny>>,
    shape: Vec<usize>,
    /// Is there data, so that the functions take a second argument?
    batches: bool,
    examples: usize,
    raised: Option<PyErr>,
}

impl<'py> Functions<'py> {
    fn evaluate(
        &self,
        p: &[f64],
        batch: Option<&[usize]>,
        gradient: Option<&mut [f64]>,
    ) -> PyResult<f64> {
        let point = array(self.py, p.to_vec(), &self.shape)?;
        let rows = self.batches.then(|| {
            let all = || (0..self.examples).collect();
            let rows: Vec<i64> = batch
                .map_or_else(all, <[usize]>::to_vec)
                .into_iter()
                .map(|i| i64::try_from(i).unwrap_or(i64::MAX))
                .collect();
            PyArray1::from_vec(self.py, rows)
        });
        let call = |f: &Bound<'py, PyAny>| match &rows {
            Some(rows) => f.call1((&point, rows)),
            None => f.call1((&point,)),
        };
        let answer = call(&self.cost)?;
        let (value, pair) = if self.gradient.is_some() {
            (number(&answer)?, None)
        } else {
            let pair = answer.extract::<(Bound<'py, PyAny>, Bound<'py, PyAny>)>();
            let (value, slope) = pair.map_err(|_| {
                PyTypeError::new_err(
                    "without gradient= the cost returns (value, Euclidean gradient); give gradient=, or return both",
                )
            })?;
            (number(&value)?, Some(slope))
        };
        if let Some(out) = gradient {
            let slope = match (pair, &self.gradient) {
                (Some(slope), _) => slope,
                (None, Some(f)) => call(f)?,
                (None, None) => return Ok(value),
            };
            let found = Numbers::new("the Euclidean gradient", &slope)?;
            if found.shape() != self.shape {
                let needed = format!(
                    "the shape of the point, {}, is needed",
                    crate::error::tuple(&self.shape)
                );
                return Err(shape(self.py, "the Euclidean gradient", found.shape(), &needed));
            }
            out.copy_from_slice(found.slice()?);
        }
        Ok(value)
    }
}

/// A number, or an array of one.
fn number(value: &Bound<'_, PyAny>) -> PyResult<f64> {
    match value.extract::<f64>() {
        Ok(value) => Ok(value),
        Err(_) => value.call_method0("item")?.extract(),
    }
}

impl Cost for Functions<'_> {
    fn evaluate(
        &mut self,
        p: &[f64],
        batch: Option<&[usize]>,
        gradient: Option<&mut [f64]>,
    ) -> Result<f64, Interrupted> {
        Functions::evaluate(self, p, batch, gradient).map_err(|error| {
            self.raised = Some(error);
            Interrupted
        })
    }
}

fn failed(error: core::OptimizeError, cost: &mut Functions<'_>) -> PyErr {
    if let Some(error) = crate::own::raised() {
        return error;
    }
    match error {
        core::OptimizeError::Domain(error) => Fault::from(error).into(),
        core::OptimizeError::Config(error) => config(error),
        _ => cost.raised.take().unwrap_or_else(|| PyValueError::new_err(error.to_string())),
    }
}

fn rate_of(rate: Option<f64>) -> StepRate {
    rate.map_or(StepRate::Auto, StepRate::Constant)
}

/// The numbers of one point of a manifold.
fn point(m: &AnyManifold, what: &'static str, p: &Bound<'_, PyAny>) -> PyResult<Vec<f64>> {
    let p = Numbers::new(what, p)?;
    let rows = p.points(&m.shape())?;
    if rows.count().is_some() {
        return Err(PyValueError::new_err(format!("{what} is a batch; one point is needed")));
    }
    Ok(rows.data().to_vec())
}

/// Theorems as a list of dictionaries, or the reason why there are none.
fn promises<'py>(
    py: Python<'py>,
    found: Result<Vec<geowalk::certify::Certificate>, &'static str>,
) -> PyResult<Bound<'py, PyAny>> {
    let found = match found {
        Ok(found) => found,
        Err(reason) => return Ok(reason.into_pyobject(py)?.into_any()),
    };
    let list = PyList::empty(py);
    for certificate in found {
        let fields = PyDict::new(py);
        fields.set_item("theorem", certificate.theorem)?;
        let (status, reason) = match &certificate.status {
            geowalk::certify::Status::Valid => ("valid", None),
            geowalk::certify::Status::Void(broken) => (
                "void",
                Some(format!("{} (round {}, found {})", broken.premise, broken.row, broken.found)),
            ),
        };
        fields.set_item("status", status)?;
        fields.set_item("reason", reason)?;
        fields.set_item("loss", certificate.loss)?;
        fields.set_item("bound", certificate.bound)?;
        fields.set_item("rounds", certificate.rounds)?;
        list.append(fields)?;
    }
    Ok(list.into_any())
}

/// See geowalk.optimize.minimize.
#[pyfunction]
#[pyo3(signature = (manifold, cost, gradient, start, update, rate, steps, tolerance, examples, batch, seed, callback, comparator))]
#[allow(clippy::too_many_arguments)] // all of them are the user's
pub(crate) fn minimize<'py>(
    py: Python<'py>,
    manifold: &Bound<'py, Manifold>,
    cost: Bound<'py, PyAny>,
    gradient: Option<Bound<'py, PyAny>>,
    start: &Bound<'py, PyAny>,
    update: &str,
    rate: Option<f64>,
    steps: u64,
    tolerance: f64,
    examples: Option<usize>,
    batch: Option<usize>,
    seed: u64,
    callback: Option<Bound<'py, PyAny>>,
    comparator: Option<Bound<'py, PyAny>>,
) -> PyResult<Bound<'py, PyDict>> {
    let m = Manifold::core(manifold)?;
    let (start, form) = (point(m, "the start", start)?, m.shape());
    let mut run = Minimizer::new(Rule::parse(update).map_err(config)?)
        .rate(rate_of(rate))
        .steps(steps)
        .tolerance(tolerance);
    if let (Some(examples), Some(batch)) = (examples, batch) {
        run = run.batches(examples, batch, seed);
    }
    if let Some(comparator) = comparator {
        run = run.against(&point(m, "the comparator", &comparator)?);
    }
    let mut functions = Functions {
        py,
        cost,
        gradient,
        shape: form.clone(),
        batches: examples.is_some(),
        examples: examples.unwrap_or(0),
        raised: None,
    };
    let mut stopped: Option<PyErr> = None;
    let found = run.observed(m, &mut functions, &start, &mut |progress, p| {
        let watch = || -> PyResult<bool> {
            py.check_signals()?;
            let Some(callback) = &callback else { return Ok(true) };
            let answer = callback.call1((
                progress.step,
                progress.value,
                progress.gradient,
                array(py, p.to_vec(), &form)?,
            ))?;
            // Only True ends the run, as a callback without a result gives None.
            Ok(!answer.is_truthy()?)
        };
        watch().unwrap_or_else(|error| {
            stopped = Some(error);
            false
        })
    });
    if let Some(error) = stopped {
        return Err(error);
    }
    let found = found.map_err(|error| failed(error, &mut functions))?;
    crate::own::settle()?;
    let answer = PyDict::new(py);
    answer.set_item("point", array(py, found.point, &form)?)?;
    answer.set_item("value", found.value)?;
    answer.set_item("gradient_norm", found.gradient)?;
    answer.set_item("steps", found.steps)?;
    answer.set_item("evaluations", found.evaluations)?;
    answer.set_item("reason", found.reason.to_string())?;
    let flat: Vec<f64> =
        found.history.iter().flat_map(|step| [step.value, step.gradient, step.length]).collect();
    answer.set_item("history", PyArray1::from_vec(py, flat).reshape([found.history.len(), 3])?)?;
    answer.set_item("certificates", promises(py, found.certificates)?)?;
    Ok(answer)
}

/// See geowalk.optimize.check_gradient.
#[pyfunction]
pub(crate) fn check_gradient<'py>(
    py: Python<'py>,
    manifold: &Bound<'py, Manifold>,
    cost: Bound<'py, PyAny>,
    gradient: Option<Bound<'py, PyAny>>,
    p: &Bound<'py, PyAny>,
    seed: u64,
) -> PyResult<(f64, Vec<(f64, f64)>)> {
    let m = Manifold::core(manifold)?;
    let p = point(m, "the point", p)?;
    let shape = m.shape();
    let (batches, examples, raised) = (false, 0, None);
    let mut functions = Functions { py, cost, gradient, shape, batches, examples, raised };
    let found = core::check_gradient(m, &mut functions, &p, seed)
        .map_err(|error| failed(error, &mut functions))?;
    Ok((found.slope, found.errors))
}

/// A point that moves by the gradient of one example at a time; `geowalk.optimize.OnLine` is made of it.
///
/// >>> from geowalk._geowalk import Walker
/// >>> from geowalk.geometry import Euclidean
/// >>> walker = Walker(Euclidean(1), [1.0], "explicit", 0.25, None)
/// >>> walker.step(lambda p: (p @ p, 2.0 * p), None), walker.point()
/// ((1.0, 2.0, 0.25, 0.5), array([0.5]))
///
/// Reference: Krakowski, Mahony, Williamson, Warmuth 2007, eq. (10).
#[pyclass(module = "geowalk._geowalk")]
pub(crate) struct Walker {
    /// Kept alive: the manifold of a class of the user's asks it.
    _manifold: Py<Manifold>,
    shape: Vec<usize>,
    descent: core::Descent<AnyManifold>,
}

#[pymethods]
impl Walker {
    #[new]
    fn new(
        manifold: Bound<'_, Manifold>,
        start: &Bound<'_, PyAny>,
        update: &str,
        rate: Option<f64>,
        comparator: Option<Bound<'_, PyAny>>,
    ) -> PyResult<Self> {
        let m = Manifold::core(&manifold)?.clone();
        let rule = Rule::parse(update).map_err(config)?;
        let start = point(&m, "the start", start)?;
        let mut descent =
            core::Descent::new(m.clone(), &start, rule, rate_of(rate)).map_err(config)?;
        if let Some(comparator) = comparator {
            let comparator = point(&m, "the comparator", &comparator)?;
            descent = descent.against(&comparator).map_err(config)?;
        }
        let shape = m.shape();
        Ok(Self { _manifold: manifold.unbind(), shape, descent })
    }

    /// One step; (value, gradient norm, rate, length).
    fn step<'py>(
        &mut self,
        py: Python<'py>,
        cost: Bound<'py, PyAny>,
        gradient: Option<Bound<'py, PyAny>>,
    ) -> PyResult<(f64, f64, f64, f64)> {
        let shape = self.shape.clone();
        let (batches, examples, raised) = (false, 0, None);
        let mut functions = Functions { py, cost, gradient, shape, batches, examples, raised };
        let stepped = self.descent.step(&mut functions, None);
        if stepped.is_ok() {
            crate::own::settle()?;
        }
        match stepped {
            Ok(Ok(taken)) => Ok((taken.value, taken.gradient, taken.rate, taken.length)),
            Ok(Err(reason)) => Err(crate::error::DomainError::new_err(format!(
                "the step was not made: {reason}; use a smaller rate"
            ))),
            Err(error) => Err(failed(error, &mut functions)),
        }
    }

    /// The point so far.
    fn point<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyAny>> {
        array(py, self.descent.point().to_vec(), &self.shape)
    }

    /// What the theorems promise so far, or why they do not.
    fn certificates<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyAny>> {
        promises(py, self.descent.certificates())
    }
}

/// See geowalk.laws.check.
#[pyfunction]
pub(crate) fn check_laws(manifold: &Bound<'_, Manifold>, seeds: u64) -> PyResult<Option<String>> {
    let m = Manifold::core(manifold)?;
    for seed in 0..seeds {
        manifold.py().check_signals()?;
        let mut sampler = Sampler::new(seed);
        let tried = match m {
            AnyManifold::Custom(own) => laws::manifold::custom(own, &mut sampler),
            known => laws::manifold::all::<f64, _>(known, &mut sampler),
        };
        let raised = crate::own::raised();
        if let Err(broken) = tried {
            // What a method of the user's raised explains more than the law that could not be tried.
            return raised.map_or_else(|| Ok(Some(broken.to_string())), Err);
        }
    }
    Ok(None)
}
