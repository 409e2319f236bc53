//! # Losses
//! By name, or from functions of the user's. Values, slopes and curvatures broadcast.

use std::sync::{Arc, Mutex, PoisonError};

use geowalk::error::{Allowed, ConfigError};
use geowalk::loss::doctor::Range;
use geowalk::loss::{self as core, AnyLoss, Loss as _};
use pyo3::PyClassInitializer;
use pyo3::exceptions::PyTypeError;
use pyo3::prelude::*;
use pyo3::types::PyDict;

use crate::convert::{Numbers, each, hash, pairs, within};
use crate::doctor::Diagnosis;
use crate::error::config;

/// A loss ℓ(z, y) of a prediction z and a label y.
///
/// Made by name with geowalk.losses.get; `Custom` is one from your own functions. Numbers and arrays broadcast.
/// Predictions and labels outside the domain, and NaN, are a geowalk.DomainError.
///
/// >>> from geowalk.losses import get
/// >>> get('squared').value([1.0, 2.0, 3.0], 1.0)
/// array([0., 1., 4.])
///
/// Reference: Nock and Nielsen 2009; each loss names its own in `geowalk list losses`.
#[pyclass(frozen, subclass, module = "geowalk.losses")]
pub(crate) struct Loss {
    loss: AnyLoss,
    raised: Raised,
}

/// What a function of the user's raised, in whatever thread, until the call that came from Python returns.
#[derive(Clone, Default)]
struct Raised(Arc<Mutex<Option<PyErr>>>);

impl Raised {
    fn slot(&self) -> std::sync::MutexGuard<'_, Option<PyErr>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn settle(&self) -> PyResult<()> {
        self.slot().take().map_or(Ok(()), Err)
    }
}

impl Loss {
    pub(crate) fn core(&self) -> &AnyLoss {
        &self.loss
    }

    pub(crate) fn new(loss: AnyLoss) -> Self {
        Self { loss, raised: Raised::default() }
    }

    /// Re-raises what a function of the user's raised since the last call.
    pub(crate) fn settle(&self) -> PyResult<()> {
        self.raised.settle()
    }

    fn pairwise<'py>(
        &self,
        py: Python<'py>,
        z: &Bound<'py, PyAny>,
        y: &Bound<'py, PyAny>,
        f: impl Fn(f64, f64) -> f64 + Sync,
    ) -> PyResult<Bound<'py, PyAny>> {
        let (z, y) = (Numbers::new("the prediction", z)?, Numbers::new("the label", y)?);
        let facts = self.loss.facts();
        within(&z, facts.predictions)?;
        within(&y, facts.labels)?;
        let answer = pairs(py, &z, &y, f);
        self.settle()?;
        answer
    }
}

#[pymethods]
impl Loss {
    /// ℓ(z, y).
    ///
    /// >>> from geowalk.losses import get
    /// >>> get('hinge').value(0.25, 1.0)
    /// 0.75
    fn value<'py>(
        &self,
        py: Python<'py>,
        z: &Bound<'py, PyAny>,
        y: &Bound<'py, PyAny>,
    ) -> PyResult<Bound<'py, PyAny>> {
        self.pairwise(py, z, y, |z, y| self.loss.value(z, y))
    }

    /// ∂ℓ/∂z; at a kink a subgradient.
    ///
    /// >>> from geowalk.losses import get
    /// >>> get('squared').slope([0.0, 3.0], 1.0)
    /// array([-2.,  4.])
    fn slope<'py>(
        &self,
        py: Python<'py>,
        z: &Bound<'py, PyAny>,
        y: &Bound<'py, PyAny>,
    ) -> PyResult<Bound<'py, PyAny>> {
        self.pairwise(py, z, y, |z, y| self.loss.slope(z, y))
    }

    /// ∂²ℓ/∂z²; at a kink 0.
    ///
    /// >>> from geowalk.losses import get
    /// >>> get('logistic').curvature(0.0, 1.0)
    /// 0.25
    fn curvature<'py>(
        &self,
        py: Python<'py>,
        z: &Bound<'py, PyAny>,
        y: &Bound<'py, PyAny>,
    ) -> PyResult<Bound<'py, PyAny>> {
        self.pairwise(py, z, y, |z, y| self.loss.curvature(z, y))
    }

    /// The prediction of least loss for a label (infinite where the loss only tends to its infimum).
    ///
    /// >>> from geowalk.losses import get
    /// >>> get('gini').minimizer([-1.0, 1.0])
    /// array([-1.,  1.])
    fn minimizer<'py>(
        &self,
        py: Python<'py>,
        y: &Bound<'py, PyAny>,
    ) -> PyResult<Bound<'py, PyAny>> {
        let y = Numbers::new("the label", y)?;
        within(&y, self.loss.facts().labels)?;
        let answer = each(py, &y, |y| self.loss.minimizer(y));
        self.settle()?;
        answer
    }

    /// What theorems may assume about the loss.
    ///
    /// >>> from geowalk.losses import get
    /// >>> get('logistic').facts.lipschitz, get('squared').facts.lipschitz
    /// (1.0, None)
    #[getter]
    fn facts(&self) -> Facts {
        Facts { facts: self.loss.facts() }
    }

    /// The specification, from which geowalk.losses.get makes the loss again.
    ///
    /// >>> from geowalk.losses import get
    /// >>> get('huber').spec
    /// 'huber(delta=1)'
    #[getter]
    fn spec(&self) -> String {
        self.loss.spec()
    }

    fn __repr__(&self) -> String {
        self.loss.spec()
    }

    /// Losses by name are equal if their specifications are; functions of the user's only to themselves.
    fn __eq__(this: &Bound<'_, Self>, other: &Bound<'_, Self>) -> bool {
        let (a, b) = (&this.get().loss, &other.get().loss);
        this.is(other) || (!matches!(a, AnyLoss::Custom(_)) && a.spec() == b.spec())
    }

    fn __hash__(&self) -> u64 {
        hash(&self.loss.spec())
    }

    fn __reduce__<'py>(&self, py: Python<'py>) -> PyResult<(Bound<'py, PyAny>, (String,))> {
        Ok((py.import("geowalk.losses")?.getattr("get")?, (self.loss.spec(),)))
    }
}

/// What is true of a loss for every prediction and label in its domain.
///
/// >>> from geowalk.losses import get
/// >>> get('squared').facts
/// Facts(labels='a finite number', predictions='a finite number', convex=True, lipschitz=None, smooth=2.0, strong=2.0, margin=False)
///
/// Reference: each fact is one that a theorem of Nock and Nielsen 2009 or Krakowski et al. 2007 assumes.
#[pyclass(frozen, module = "geowalk.losses")]
pub(crate) struct Facts {
    facts: core::Facts,
}

#[pymethods]
impl Facts {
    /// The labels it takes, in words.
    #[getter]
    fn labels(&self) -> String {
        self.facts.labels.to_string()
    }

    /// The predictions it takes, in words.
    #[getter]
    fn predictions(&self) -> String {
        self.facts.predictions.to_string()
    }

    /// Convex in the prediction.
    #[getter]
    fn convex(&self) -> bool {
        self.facts.convex
    }

    /// The largest absolute slope, None if there is none.
    #[getter]
    fn lipschitz(&self) -> Option<f64> {
        self.facts.lipschitz
    }

    /// The largest curvature, None if there is none or a kink.
    #[getter]
    fn smooth(&self) -> Option<f64> {
        self.facts.smooth
    }

    /// The least curvature: 0 if only convex, negative if not convex.
    #[getter]
    fn strong(&self) -> f64 {
        self.facts.strong
    }

    /// A function of the margin y·z, labels ±1.
    #[getter]
    fn margin(&self) -> bool {
        self.facts.margin
    }

    fn __repr__(&self, py: Python<'_>) -> PyResult<String> {
        let bool = |b| if b { "True" } else { "False" };
        let number = |x: Option<f64>| Ok::<_, PyErr>(x.into_pyobject(py)?.repr()?.to_string());
        let facts = &self.facts;
        Ok(format!(
            "Facts(labels='{}', predictions='{}', convex={}, lipschitz={}, smooth={}, strong={}, margin={})",
            facts.labels,
            facts.predictions,
            bool(facts.convex),
            number(facts.lipschitz)?,
            number(facts.smooth)?,
            number(Some(facts.strong))?,
            bool(facts.margin),
        ))
    }
}

/// A function of one number, called with the interpreter's lock. What it raises is kept for [`Loss::settle`].
fn scalar(function: Py<PyAny>, raised: Raised) -> core::Scalar {
    Arc::new(move |margin| {
        // After the first exception nothing more is asked: it may be the user's Ctrl-C.
        if raised.slot().is_some() {
            return f64::NAN;
        }
        Python::attach(|py| {
            let answer = function.call1(py, (margin,)).and_then(|y| y.extract::<f64>(py));
            answer.unwrap_or_else(|error| {
                *raised.slot() = Some(error);
                f64::NAN
            })
        })
    })
}

/// A loss of your own, ℓ(z, y) = ψ(yz) with labels ±1, from ψ, its slope ψ′ and, if at hand, its curvature ψ″.
///
/// All three take and return a number. The loss doctor examines them for predictions in `predictions`, which becomes the domain of
/// the loss: what is not finite or not convex, or whose slope is not its derivative, is refused with a geowalk.ConfigError
/// that names the place and the numbers. Costs some 20 000 calls.
///
/// >>> from geowalk.losses import Custom
/// >>> squared_hinge = Custom(lambda m: max(0.0, 1.0 - m) ** 2, lambda m: -2.0 * max(0.0, 1.0 - m))
/// >>> squared_hinge.value([3.0, 0.5], [-1.0, 1.0])
/// array([16.  ,  0.25])
/// >>> Custom(lambda m: -m * m, lambda m: -2.0 * m)  # doctest: +ELLIPSIS
/// Traceback (most recent call last):
///     ...
/// geowalk.ConfigError: refused: convexity fails at ...
///
/// Reference: Nock and Nielsen 2009, section 3.2: boosting takes any strictly convex ψ.
#[pyclass(frozen, extends = Loss, module = "geowalk.losses")]
pub(crate) struct Custom {
    functions: (Py<PyAny>, Py<PyAny>, Option<Py<PyAny>>),
    predictions: (f64, f64),
}

type CustomArguments = (Py<PyAny>, Py<PyAny>, Option<Py<PyAny>>, (f64, f64));

#[pymethods]
impl Custom {
    #[new]
    #[pyo3(
        signature = (psi, slope, curvature=None, predictions=(-30.0, 30.0)),
        text_signature = "(psi, slope, curvature=None, predictions=(-30.0, 30.0))"
    )]
    fn new(
        py: Python<'_>,
        psi: Py<PyAny>,
        slope: Py<PyAny>,
        curvature: Option<Py<PyAny>>,
        predictions: (f64, f64),
    ) -> PyResult<PyClassInitializer<Self>> {
        let range = Range::new(predictions.0, predictions.1, Allowed::Sign).map_err(config)?;
        let functions = (psi, slope, curvature);
        let raised = Raised::default();
        let scalar = |function: &Py<PyAny>| scalar(function.clone_ref(py), raised.clone());
        let custom = core::Custom::margin(
            scalar(&functions.0),
            scalar(&functions.1),
            functions.2.as_ref().map(scalar),
            range,
        );
        // What a function raised explains more than the NaN it was taken for.
        raised.settle()?;
        // With the lock held, a call costs little more than the function.
        let session: core::Session = Arc::new(|work| Python::attach(|_| work()));
        let custom = custom.map_err(config)?.with_session(session);
        let loss = Loss { loss: AnyLoss::Custom(custom), raised };
        Ok(PyClassInitializer::from(loss).add_subclass(Self { functions, predictions }))
    }

    /// What the doctor found when the loss was made.
    ///
    /// >>> from geowalk.losses import Custom
    /// >>> Custom(lambda m: m * m, lambda m: 2.0 * m).diagnosis.convex.holds
    /// True
    #[getter]
    fn diagnosis(this: &Bound<'_, Self>) -> PyResult<Diagnosis> {
        match this.as_super().get().core() {
            AnyLoss::Custom(custom) => custom.diagnosis().cloned().map(Diagnosis::new),
            _ => None,
        }
        .ok_or_else(|| PyTypeError::new_err("the loss was not examined"))
    }

    fn __reduce__(this: &Bound<'_, Self>) -> (Py<PyAny>, CustomArguments) {
        let (py, custom) = (this.py(), this.get());
        let (psi, slope, curvature) = &custom.functions;
        let curvature = curvature.as_ref().map(|function| function.clone_ref(py));
        let arguments = (psi.clone_ref(py), slope.clone_ref(py), curvature, custom.predictions);
        (this.get_type().into_any().unbind(), arguments)
    }
}

/// A specification out of a name and parameters.
pub(crate) fn specification(
    name: &str,
    parameters: Option<&Bound<'_, PyDict>>,
) -> PyResult<String> {
    let mut written = Vec::new();
    for (key, value) in parameters.into_iter().flatten() {
        let value = match value.extract::<f64>() {
            Ok(number) => number.to_string(),
            Err(_) => value.str()?.to_string(),
        };
        written.push(format!("{key}={value}"));
    }
    if written.is_empty() {
        return Ok(name.to_owned());
    }
    if let Some(column) = name.find('(') {
        return Err(config(ConfigError::Syntax {
            text: name.to_owned(),
            column: column + 1,
            expected: "a name alone, since parameters are given beside it,",
        }));
    }
    Ok(format!("{name}({})", written.join(", ")))
}

/// The loss that a specification names; see geowalk.losses.get.
#[pyfunction]
#[pyo3(signature = (spec, **parameters))]
pub(crate) fn loss(spec: &str, parameters: Option<&Bound<'_, PyDict>>) -> PyResult<Loss> {
    let spec = specification(spec, parameters)?;
    AnyLoss::parse(&spec).map(Loss::new).map_err(config)
}

/// The names of all losses; see geowalk.losses.names.
#[pyfunction]
pub(crate) fn loss_names() -> Vec<&'static str> {
    core::entries().map(|entry| entry.name).collect()
}
