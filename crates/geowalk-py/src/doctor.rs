//! # The loss doctor

use geowalk::loss::Loss as _;
use geowalk::loss::doctor::{self as core, Range};
use pyo3::prelude::*;
use pyo3::types::PyDict;

use crate::error::config;
use crate::loss::Loss;

/// What the loss doctor found: print it, or ask for its parts.
///
/// A check on a grid can refute a property, with the place; it cannot prove one.
///
/// >>> from geowalk.losses import doctor
/// >>> diagnosis = doctor('hinge')
/// >>> diagnosis.consistent, diagnosis.convex.holds, diagnosis.lipschitz, diagnosis.smooth
/// (True, True, 1.0, None)
/// >>> diagnosis.kinks[0]
/// (1.0, 1.0, 1.0)
/// >>> print(diagnosis)  # doctest: +ELLIPSIS
/// hinge: ... points, z in [-30, 30], y in {1, -1}
///   finite                             holds
/// ...
///
/// Reference: conditions of Nock and Nielsen 2009 and Krakowski et al. 2007; calibration by Bartlett, Jordan, McAuliffe 2006.
#[pyclass(frozen, module = "geowalk.losses")]
pub(crate) struct Diagnosis {
    diagnosis: core::Diagnosis,
}

impl Diagnosis {
    pub(crate) fn new(diagnosis: core::Diagnosis) -> Self {
        Self { diagnosis }
    }
}

#[pymethods]
impl Diagnosis {
    /// The loss is what it says it is: finite, slope and curvature right, no declared fact contradicted.
    #[getter]
    fn consistent(&self) -> bool {
        self.diagnosis.consistent()
    }

    /// Every check by name.
    ///
    /// >>> from geowalk.losses import doctor
    /// >>> doctor('squared').checks.get('strictly convex')
    /// holds
    #[getter]
    fn checks<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyDict>> {
        let checks = PyDict::new(py);
        for (name, verdict) in self.diagnosis.checks() {
            checks.set_item(name, Verdict { verdict: verdict.clone() })?;
        }
        Ok(checks)
    }

    /// Which theorems the loss meets the premises of: name to (applies, why).
    ///
    /// >>> from geowalk.losses import doctor
    /// >>> doctor('hinge').theorems.get('free')
    /// (True, '|slope| <= 1, needed <= 1')
    #[getter]
    fn theorems<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyDict>> {
        let theorems = PyDict::new(py);
        for theorem in self.diagnosis.theorems() {
            theorems.set_item(theorem.theorem, (theorem.applies, theorem.why))?;
        }
        Ok(theorems)
    }

    /// Convex in the prediction.
    #[getter]
    fn convex(&self) -> Verdict {
        Verdict { verdict: self.diagnosis.convex.clone() }
    }

    /// Strictly convex in the prediction.
    #[getter]
    fn strictly_convex(&self) -> Verdict {
        Verdict { verdict: self.diagnosis.strictly_convex.clone() }
    }

    /// The largest absolute slope found, None if it grows without bound.
    #[getter]
    fn lipschitz(&self) -> Option<f64> {
        self.diagnosis.lipschitz
    }

    /// The largest curvature found, None if it grows without bound or there is a kink.
    #[getter]
    fn smooth(&self) -> Option<f64> {
        self.diagnosis.smooth
    }

    /// The least curvature found.
    #[getter]
    fn strong(&self) -> f64 {
        self.diagnosis.strong
    }

    /// The c of a balanced loss, ψ(−z) − ψ(z) = cz; None if it is not balanced.
    #[getter]
    fn balance(&self) -> Option<f64> {
        self.diagnosis.balance
    }

    /// Where the slope jumps: (prediction, label, jump).
    #[getter]
    fn kinks(&self) -> Vec<(f64, f64, f64)> {
        self.diagnosis.kinks.iter().map(|kink| (kink.at, kink.label, kink.jump)).collect()
    }

    /// How many pairs (prediction, label) were examined.
    #[getter]
    fn points(&self) -> usize {
        self.diagnosis.points
    }

    /// The specification of the loss.
    #[getter]
    fn spec(&self) -> &str {
        &self.diagnosis.spec
    }

    fn __str__(&self) -> String {
        self.diagnosis.to_string().trim_end().to_owned()
    }

    fn __repr__(&self) -> String {
        let verdict = if self.consistent() { "consistent" } else { "NOT consistent" };
        format!("<Diagnosis of {}: {verdict}, {} points>", self.diagnosis.spec, self.points())
    }
}

/// What the grid says about one property: it holds (was not refuted), fails at a place, or has no meaning for the loss.
///
/// >>> from geowalk.losses import doctor
/// >>> verdict = doctor('hinge').strictly_convex
/// >>> verdict.holds, verdict.fails
/// (False, True)
///
/// Reference: see Diagnosis.
#[pyclass(frozen, module = "geowalk.losses")]
pub(crate) struct Verdict {
    verdict: core::Verdict,
}

#[pymethods]
impl Verdict {
    /// Not refuted, and meaningful.
    #[getter]
    fn holds(&self) -> bool {
        self.verdict.holds()
    }

    /// Refuted.
    #[getter]
    fn fails(&self) -> bool {
        self.verdict.fails()
    }

    /// Where it fails: (prediction, label, found, needed); None if it does not.
    #[getter]
    fn failure(&self) -> Option<(f64, f64, f64, &str)> {
        match &self.verdict {
            core::Verdict::Fails { at, label, found, needed } => {
                Some((*at, *label, *found, needed))
            }
            _ => None,
        }
    }

    fn __repr__(&self) -> String {
        self.verdict.to_string()
    }
}

/// Examines a loss; see geowalk.losses.doctor.
#[pyfunction]
#[pyo3(signature = (loss, predictions=None))]
pub(crate) fn examine(
    py: Python<'_>,
    loss: &Bound<'_, Loss>,
    predictions: Option<(f64, f64)>,
) -> PyResult<Diagnosis> {
    let own = loss.get();
    let loss = own.core();
    let range = match predictions {
        Some((lo, hi)) => Range::new(lo, hi, loss.facts().labels).map_err(config)?,
        None => Range::of(loss),
    };
    let diagnosis = py.detach(|| core::examine(loss, &range));
    own.settle()?;
    Ok(Diagnosis::new(diagnosis))
}
