//! # User-defined losses
//! ℓ(z, y) = ψ(yz) from ψ, its slope and optionally its curvature; or any ℓ(z, y) from the same three functions. The
//! [loss doctor](super::doctor) examines the loss before it is built. A loss is refused, with the place and the
//! numbers, if it is not finite, if its slope is not its derivative, or if it is not convex.
//!
//! **Facts** They hold on the examined range, which is the domain of predictions. The Lipschitz constant of a convex
//! loss is the steeper slope at the two ends of the range. The bounds on the curvature are measured there, not proved.
//! **Kink** the slope given by the user. **Curvature** If none is given, it is computed by central differences of the
//! slope over ±6e-6·max(1, |z|) and an eighth of it. The finer difference is used, or 0 if it is more than twice the
//! coarser one, as at a kink. **Cost** of the construction: about 20 000 evaluations. **Source** \[NN09, sec. 3.2\]
//! for ψ: boosting accepts any strictly convex ψ.

use std::fmt;
use std::sync::Arc;

use super::doctor::{self, Diagnosis, Range, Verdict};
use super::{Facts, Loss};
use crate::Real;
use crate::error::{Allowed, ConfigError, Refusal};

/// A function of the margin.
pub type Scalar = Arc<dyn Fn(f64) -> f64 + Send + Sync>;

/// A function of the prediction and the label.
pub type Pair = Arc<dyn Fn(f64, f64) -> f64 + Send + Sync>;

/// Runs what it is given, with whatever the functions need held all the while, such as an interpreter's lock.
pub type Session = Arc<dyn Fn(&mut dyn FnMut()) + Send + Sync>;

/// A user-defined convex loss.
///
/// ```
/// use std::sync::Arc;
/// use geowalk::loss::{Custom, Loss, doctor::Range};
/// use geowalk::error::Allowed;
/// // The squared hinge.
/// let range = Range::new(-100.0, 100.0, Allowed::Sign)?;
/// let psi = Arc::new(|m: f64| (1.0 - m).max(0.0) * (1.0 - m).max(0.0));
/// let slope = Arc::new(|m: f64| -2.0 * (1.0 - m).max(0.0));
/// let loss = Custom::margin(psi.clone(), slope, None, range)?;
/// assert_eq!((loss.value(3.0, -1.0), loss.slope(3.0, -1.0)), (16.0, 8.0));
/// assert_eq!(loss.facts().lipschitz, Some(202.0));
///
/// let wrong = Arc::new(|m: f64| -(1.0 - m).max(0.0));
/// let refusal = Custom::margin(psi, wrong, None, range).unwrap_err();
/// assert!(refusal.to_string().starts_with("refused: slope = derivative of the value fails at -"));
/// # Ok::<(), geowalk::ConfigError>(())
/// ```
#[derive(Clone)]
pub struct Custom {
    form: Form,
    facts: Facts,
    range: Range,
    diagnosis: Option<Arc<Diagnosis>>,
    session: Option<Session>,
}

#[derive(Clone)]
enum Form {
    Margin { value: Scalar, slope: Scalar, curvature: Option<Scalar> },
    General { value: Pair, slope: Pair, curvature: Option<Pair> },
}

impl fmt::Debug for Custom {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let form = match &self.form {
            Form::Margin { .. } => "margin",
            Form::General { .. } => "general",
        };
        f.debug_struct("Custom")
            .field("form", &form)
            .field("facts", &self.facts)
            .finish_non_exhaustive()
    }
}

impl Custom {
    /// ℓ(z, y) = ψ(yz), for predictions in the range. Labels are ±1; the labels of the range are ignored.
    pub fn margin(
        psi: Scalar,
        slope: Scalar,
        curvature: Option<Scalar>,
        range: Range,
    ) -> Result<Self, ConfigError> {
        let form = Form::Margin { value: psi, slope, curvature };
        Self::examined(form, range.with_labels(Allowed::Sign))
    }

    /// Any ℓ(z, y), with predictions and labels in the range.
    pub fn general(
        value: Pair,
        slope: Pair,
        curvature: Option<Pair>,
        range: Range,
    ) -> Result<Self, ConfigError> {
        Self::examined(Form::General { value, slope, curvature }, range)
    }

    /// The same, with what many calls in a row are made in. What runs in a session must not wait for another one.
    #[must_use]
    pub fn with_session(self, session: Session) -> Self {
        Self { session: Some(session), ..self }
    }

    /// Does something with many calls in one session.
    pub fn within(&self, work: &mut dyn FnMut()) {
        match &self.session {
            Some(session) => session(work),
            None => work(),
        }
    }

    /// The report of the doctor.
    pub fn diagnosis(&self) -> Option<&Diagnosis> {
        self.diagnosis.as_deref()
    }

    fn examined(form: Form, range: Range) -> Result<Self, ConfigError> {
        // No property is declared until it has been measured.
        let facts = Facts {
            labels: range.labels(),
            predictions: Allowed::Closed(range.lo(), range.hi()),
            convex: false,
            lipschitz: None,
            smooth: None,
            strong: f64::NEG_INFINITY,
            margin: false,
        };
        let mut loss = Self { form, facts, range, diagnosis: None, session: None };
        let diagnosis = doctor::examine(&loss, &range);
        for (condition, verdict) in [
            ("finiteness", &diagnosis.finite),
            ("slope = derivative of the value", &diagnosis.slope),
            ("convexity", &diagnosis.convex),
            ("curvature = derivative of the slope", &diagnosis.curvature),
        ] {
            // Differences of the slope are only as accurate as the slope allows, so only a user-supplied curvature
            // must pass this check.
            let held = loss.has_curvature() || !condition.starts_with("curvature");
            if let (true, Verdict::Fails { at, label, found, needed }) = (held, verdict) {
                return Err(loss.refusal(condition, *at, *label, *found, needed).into());
            }
        }
        loss.facts = Facts {
            convex: true,
            lipschitz: diagnosis.lipschitz,
            smooth: diagnosis.smooth,
            strong: diagnosis.strong,
            margin: diagnosis.margin.holds(),
            ..facts
        };
        loss.diagnosis = Some(Arc::new(diagnosis));
        Ok(loss)
    }

    fn has_curvature(&self) -> bool {
        match &self.form {
            Form::Margin { curvature, .. } => curvature.is_some(),
            Form::General { curvature, .. } => curvature.is_some(),
        }
    }

    /// The place is the margin, or the prediction together with its label.
    fn refusal(
        &self,
        condition: &'static str,
        at: f64,
        label: f64,
        found: f64,
        needed: &str,
    ) -> Refusal {
        match self.form {
            Form::Margin { .. } => Refusal {
                condition,
                at: at * label,
                found: if condition.starts_with("slope") { found * label } else { found },
                needed: needed.to_owned(),
            },
            Form::General { .. } => {
                Refusal { condition, at, found, needed: format!("{needed} (label {label})") }
            }
        }
    }

    /// The derivative of the slope, by differences within the range.
    fn difference(&self, z: f64, y: f64) -> f64 {
        let central = |h: f64| {
            let (a, b) = (Real::max(z - h, self.range.lo()), Real::min(z + h, self.range.hi()));
            (self.slope(b, y) - self.slope(a, y)) / (b - a)
        };
        let h = 6e-6 * Real::max(z.abs(), 1.0);
        let (coarse, fine) = (central(h), central(0.125 * h));
        if fine.abs() > 2.0 * coarse.abs() { 0.0 } else { fine }
    }

    /// The prediction nearest to 0 at which the slope changes sign; infinite if there is none in the range.
    fn root(&self, y: f64) -> f64 {
        let start = Real::clamp(0.0, self.range.lo(), self.range.hi());
        let here = self.slope(start, y);
        let (end, direction) = if here < 0.0 {
            (self.range.hi(), 1.0)
        } else if here > 0.0 {
            (self.range.lo(), -1.0)
        } else {
            return if here == 0.0 { start } else { f64::NAN };
        };
        let reached = |z: f64| self.slope(z, y) * direction >= 0.0;
        if !reached(end) {
            return direction * f64::INFINITY;
        }
        let (mut from, mut to) = (start, end);
        loop {
            let middle = from + 0.5 * (to - from);
            if middle == from || middle == to {
                return to;
            }
            if reached(middle) {
                to = middle;
            } else {
                from = middle;
            }
        }
    }
}

impl Loss for Custom {
    /// `custom`. No parser can rebuild it, because the functions are the user's.
    fn spec(&self) -> String {
        "custom".to_owned()
    }

    fn value(&self, z: f64, y: f64) -> f64 {
        match &self.form {
            Form::Margin { value, .. } => value(y * z),
            Form::General { value, .. } => value(z, y),
        }
    }

    fn slope(&self, z: f64, y: f64) -> f64 {
        match &self.form {
            Form::Margin { slope, .. } => y * slope(y * z),
            Form::General { slope, .. } => slope(z, y),
        }
    }

    fn curvature(&self, z: f64, y: f64) -> f64 {
        match &self.form {
            Form::Margin { curvature: Some(curvature), .. } => y * y * curvature(y * z),
            Form::General { curvature: Some(curvature), .. } => curvature(z, y),
            _ => self.difference(z, y),
        }
    }

    fn minimizer(&self, y: f64) -> f64 {
        self.root(y)
    }

    fn facts(&self) -> Facts {
        self.facts
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn range() -> Range {
        Range::new(-30.0, 30.0, Allowed::Sign).unwrap()
    }

    fn refusal(result: Result<Custom, ConfigError>) -> Refusal {
        match result {
            Err(ConfigError::Refused(refusal)) => refusal,
            other => panic!("{other:?}"),
        }
    }

    #[test]
    fn a_logistic_of_ones_own_has_the_facts_of_ours() {
        let softplus = |m: f64| Real::max(-m, 0.0) + Real::ln_1p(Real::exp(-m.abs()));
        let slope = |m: f64| -1.0 / (1.0 + Real::exp(m));
        let loss = Custom::margin(Arc::new(softplus), Arc::new(slope), None, range()).unwrap();
        let facts = loss.facts();
        assert!(facts.margin && facts.convex);
        assert!((facts.lipschitz.unwrap() - 1.0).abs() < 1e-12);
        assert!((facts.smooth.unwrap() - 0.25).abs() < 1e-8);
        assert!(facts.strong >= 0.0 && facts.strong < 1e-9);
        assert!(
            (loss.curvature(0.7, -1.0) - super::super::Logistic.curvature(0.7, -1.0)).abs() < 1e-8
        );
        assert_eq!((loss.minimizer(1.0), loss.minimizer(-1.0)), (f64::INFINITY, f64::NEG_INFINITY));
        let diagnosis = loss.diagnosis().unwrap();
        assert!((diagnosis.balance.unwrap() - 1.0).abs() < 1e-9);
        assert!(
            diagnosis.theorems().iter().find(|t| t.theorem.contains("p-norm")).unwrap().applies
        );
    }

    #[test]
    fn refuses_what_is_not_convex() {
        let sigmoid = |m: f64| 1.0 / (1.0 + Real::exp(m));
        let slope = move |m: f64| -sigmoid(m) * (1.0 - sigmoid(m));
        let refusal = refusal(Custom::margin(Arc::new(sigmoid), Arc::new(slope), None, range()));
        assert_eq!(refusal.condition, "convexity");
        assert!(refusal.at < 0.0, "{refusal}");
    }

    #[test]
    fn refuses_a_wrong_slope_a_wrong_curvature_and_nan() {
        let square: Scalar = Arc::new(|m| (1.0 - m) * (1.0 - m));
        let slope: Scalar = Arc::new(|m| -2.0 * (1.0 - m));
        let wrong: Scalar = Arc::new(|m| -2.002 * (1.0 - m));
        let found = refusal(Custom::margin(square.clone(), wrong, None, range()));
        assert_eq!(found.condition, "slope = derivative of the value");
        let wrong: Scalar = Arc::new(|_| 1.0);
        let found = refusal(Custom::margin(square, slope.clone(), Some(wrong), range()));
        assert_eq!(found.condition, "curvature = derivative of the slope");
        let holed: Scalar =
            Arc::new(|m| if (2.0..4.0).contains(&m) { f64::NAN } else { (1.0 - m) * (1.0 - m) });
        let found = refusal(Custom::margin(holed, slope, None, range()));
        assert!(found.condition == "finiteness" && found.at >= 2.0 && found.found.is_nan());
    }

    #[test]
    fn refuses_a_jump_of_the_value() {
        let value: Scalar = Arc::new(|m| if m < 0.123_456_789 { 1.0 - m } else { 3.0 - m });
        let found = refusal(Custom::margin(value, Arc::new(|_| -1.0), None, range()));
        assert_eq!(found.condition, "slope = derivative of the value");
        assert!((found.at - 0.123).abs() < 0.1, "{found}");
    }

    #[test]
    fn the_general_form_has_labels_and_minimisers() {
        // Asymmetric squares: predicting too much costs three times as much.
        let weight = |r: f64| if r > 0.0 { 3.0 } else { 1.0 };
        let value = move |z: f64, y: f64| weight(z - y) * (z - y) * (z - y);
        let slope = move |z: f64, y: f64| 2.0 * weight(z - y) * (z - y);
        let range = Range::new(-50.0, 50.0, Allowed::Closed(-5.0, 5.0)).unwrap();
        let loss = Custom::general(Arc::new(value), Arc::new(slope), None, range).unwrap();
        let facts = loss.facts();
        assert_eq!((facts.lipschitz, facts.margin), (Some(330.0), false));
        assert!((facts.smooth.unwrap() - 6.0).abs() < 1e-6 && (facts.strong - 2.0).abs() < 1e-6);
        assert!((loss.minimizer(-1.25) + 1.25).abs() < 1e-15);
        // A kink: the slope of |z − y| jumps, so its difference quotient is not a curvature.
        let value = |z: f64, y: f64| (z - y).abs();
        let slope = |z: f64, y: f64| if z < y { -1.0 } else { 1.0 + 0.0 * z };
        let loss = Custom::general(Arc::new(value), Arc::new(slope), None, range).unwrap();
        assert_eq!((loss.curvature(2.0, 2.0), loss.curvature(2.0 + 1e-6, 2.0)), (0.0, 0.0));
        assert_eq!(loss.facts().smooth, None);
        assert!(loss.curvature(f64::NAN, 2.0).is_nan());
    }
}
