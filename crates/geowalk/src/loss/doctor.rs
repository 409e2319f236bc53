//! # The loss doctor
//! Measures, for any loss, what the theorems assume about it: convexity, smoothness, balance, and whether the slope is
//! the derivative of the value. The report says which theorems apply, with numbers. A check on a finite grid can
//! refute a property and show where, but it cannot prove one: `Holds` means *not refuted here*.
//!
//! **Grid** For each sampled label, the predictions in [lo, hi] are: 0 and the label ± 10^(k/8) from 1e-6 outwards, 97
//! evenly spaced ones, and some towards both ends. Beyond [lo, hi], powers of ten up to ±1e8 (or distances down to
//! 1e-8 of the gap to a finite end of the domain) distinguish a slope that levels off from one that grows. Overflow to
//! ∞ is allowed there, NaN is not. A feature narrower than the gap between neighbours (a third of the distance from 0
//! or from the label, at most (hi − lo)/96) can be missed.
//!
//! **Tolerances** The slope is compared with the value, and the curvature with the slope. The difference quotient over
//! z ± 1e-5·max(1, |z|) must lie between the smallest and the largest derivative there, within 1e-6 relative plus the
//! rounding of the quotient. That rounding is 64 units in the last place of the larger of the function here and
//! min(its largest value, 1 + |z|), because the function may be a difference of terms of that size. This check needs
//! no third derivative and passes at kinks. Where the slope is monotone, the rise of the value between neighbours must
//! also lie between the two slopes, so that every jump of the value is found. Convexity is denied only if a slope
//! decreases by more than 1e-9 relative plus 1e-14. A kink is a jump of the slope by more than 1e-7 of its size that
//! survives bisection to 1e-13. Constants declared in [`Facts`] may be exceeded by 1e-9 (Lipschitz) or 1e-6 (smooth,
//! strong) relative. Balance: 1e-9 relative. A quantity counts as unbounded if it is infinite, or if it still grows by
//! 2% in the last decade and is at least half the largest value on the grid.
//!
//! **Cost** about 400 points per label, with about 20 evaluations each.
//! **Source** conditions of \[NN09\] and \[KMWW07\] as corrected; calibration \[BJM06, thm 2\].

mod checks;
mod grid;
mod report;
mod theorems;

pub use theorems::Applies;

use super::{Facts, Loss};
use crate::error::{self, Allowed, ConfigError, DomainError};

/// The predictions and labels for which a loss is examined.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Range {
    lo: f64,
    hi: f64,
    labels: Allowed,
}

impl Range {
    /// Predictions in [lo, hi], and a sample of the given labels. Returns an error if the interval or the set of
    /// labels leaves nothing to examine, or if the width of the interval overflows.
    pub fn new(lo: f64, hi: f64, labels: Allowed) -> Result<Self, ConfigError> {
        error::parameter("lo", lo, Allowed::Finite)?;
        error::parameter("hi", hi, Allowed::Open(lo, f64::INFINITY))?;
        error::parameter("hi - lo", hi - lo, Allowed::Positive)?;
        if grid::labels(labels).is_empty() {
            return Err(DomainError::Empty { what: "the set of labels" }.into());
        }
        Ok(Self { lo, hi, labels })
    }

    /// All labels of the loss, and the part of its domain of predictions in [−30, 30]. If the domain is outside that
    /// interval, the nearest part of length at most 60. If the domain has a finite end, that end of the range is moved
    /// inwards by 0.1 % of its length. (At 30 a logistic slope still differs from 1 in its 14th digit, and an
    /// exponential is far from overflow.)
    pub fn of(loss: &dyn Loss) -> Self {
        let facts = loss.facts();
        let (least, greatest) = grid::bounds(facts.predictions);
        let (lo, hi) = if least >= 30.0 {
            (least, greatest.min(least + 60.0))
        } else if greatest <= -30.0 {
            (least.max(greatest - 60.0), greatest)
        } else {
            (least.max(-30.0), greatest.min(30.0))
        };
        let inset = 1e-3 * (hi - lo);
        Self {
            lo: if least.is_finite() { lo + inset } else { lo },
            hi: if greatest.is_finite() { hi - inset } else { hi },
            labels: facts.labels,
        }
    }

    /// The smallest prediction.
    pub fn lo(&self) -> f64 {
        self.lo
    }

    /// The largest prediction.
    pub fn hi(&self) -> f64 {
        self.hi
    }

    /// The labels.
    pub fn labels(&self) -> Allowed {
        self.labels
    }

    pub(super) fn with_labels(self, labels: Allowed) -> Self {
        Self { labels, ..self }
    }
}

/// The result of checking one property on the grid.
#[derive(Debug, Clone, PartialEq)]
pub enum Verdict {
    /// Not refuted.
    Holds,
    /// Refuted.
    Fails {
        /// The first prediction at which it fails.
        at: f64,
        /// The label there.
        label: f64,
        /// The value found.
        found: f64,
        /// The required value, in words and numbers.
        needed: String,
    },
    /// The property has no meaning for this loss, or a check that it depends on failed.
    NotApplicable,
}

impl Verdict {
    /// Is the property meaningful and not refuted?
    pub fn holds(&self) -> bool {
        matches!(self, Self::Holds)
    }

    /// Is the property refuted?
    pub fn fails(&self) -> bool {
        matches!(self, Self::Fails { .. })
    }
}

/// A place where the slope jumps.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Kink {
    /// The prediction.
    pub at: f64,
    /// The label.
    pub label: f64,
    /// Size of the jump.
    pub jump: f64,
}

/// The findings. [`Display`](std::fmt::Display) prints them with one line per check, then the theorems.
///
/// ```
/// use geowalk::loss::{Hinge, doctor};
/// let diagnosis = doctor::examine(&Hinge, &doctor::Range::of(&Hinge));
/// assert!(diagnosis.convex.holds() && diagnosis.strictly_convex.fails());
/// assert_eq!((diagnosis.lipschitz, diagnosis.smooth), (Some(1.0), None));
/// assert_eq!(diagnosis.kinks[0].at, 1.0);
/// assert!(diagnosis.to_string().contains("free                               applies: |slope| <= 1"));
/// ```
#[derive(Debug, Clone, PartialEq)]
pub struct Diagnosis {
    /// Specification of the examined loss.
    pub spec: String,
    /// The examined predictions and labels.
    pub range: Range,
    /// The labels that were sampled.
    pub labels: Vec<f64>,
    /// Number of grid points (prediction, label).
    pub points: usize,
    /// The facts that the loss declares.
    pub declared: Facts,

    /// Are value and slope finite?
    pub finite: Verdict,
    /// ℓ ≥ 0.
    pub non_negative: Verdict,
    /// Is ℓ bounded below?
    pub bounded_below: Verdict,
    /// Is the slope the derivative of the value?
    pub slope: Verdict,
    /// Is the curvature the derivative of the slope?
    pub curvature: Verdict,
    /// Convex in z.
    pub convex: Verdict,
    /// Strictly convex in z.
    pub strictly_convex: Verdict,
    /// ℓ(z, y) = ℓ(−z, −y), labels ±1: a function ψ of the margin.
    pub margin: Verdict,
    /// ψ(−H) − ψ(H) = cH with one c > 0 \[NN09, lemma 2, corrected\].
    pub balanced: Verdict,
    /// ψ never increases.
    pub decreasing: Verdict,
    /// Classification calibrated: convex, differentiable at 0, ψ′(0) < 0 \[BJM06\].
    pub calibrated: Verdict,
    /// The declared convexity is not contradicted.
    pub declared_convex: Verdict,
    /// The declared Lipschitz constant is not contradicted.
    pub declared_lipschitz: Verdict,
    /// The declared bound on the curvature is not contradicted.
    pub declared_smooth: Verdict,
    /// The declared modulus of convexity is not contradicted.
    pub declared_strong: Verdict,
    /// The declared margin form is not contradicted.
    pub declared_margin: Verdict,

    /// The kinks, sorted by label and place.
    pub kinks: Vec<Kink>,
    /// Measured sup |slope|; `None` if it grows without bound.
    pub lipschitz: Option<f64>,
    /// Measured sup curvature; `None` if it grows without bound or there is a kink.
    pub smooth: Option<f64>,
    /// Measured inf curvature (−∞ if it falls without bound, NaN if the loss is not finite).
    pub strong: f64,
    /// The c of the balance. ψ/c is the loss on the scale of its permissible function φ: (ψ/c)(−z) = φ*(z) − a.
    pub balance: Option<f64>,
    /// The θ for which the loss is max(0, −y(z − θ)) with the slopes of a mistake; `None` if there is none.
    pub threshold: Option<f64>,
}

impl Diagnosis {
    /// Every check with its name, in the order of the printed report.
    pub fn checks(&self) -> [(&'static str, &Verdict); 16] {
        [
            ("finite", &self.finite),
            ("non-negative", &self.non_negative),
            ("bounded below", &self.bounded_below),
            ("slope is the derivative", &self.slope),
            ("curvature is its derivative", &self.curvature),
            ("convex", &self.convex),
            ("strictly convex", &self.strictly_convex),
            ("function of the margin", &self.margin),
            ("balanced", &self.balanced),
            ("decreasing in the margin", &self.decreasing),
            ("classification calibrated", &self.calibrated),
            ("declared convex", &self.declared_convex),
            ("declared Lipschitz", &self.declared_lipschitz),
            ("declared smooth", &self.declared_smooth),
            ("declared strong", &self.declared_strong),
            ("declared margin", &self.declared_margin),
        ]
    }

    /// Is everything that the loss declares confirmed: finite values, correct slope and curvature, no contradicted
    /// fact?
    pub fn consistent(&self) -> bool {
        let honest = self.checks().into_iter().filter(|(name, _)| name.starts_with("declared"));
        self.finite.holds()
            && !self.slope.fails()
            && !self.curvature.fails()
            && honest.into_iter().all(|(_, verdict)| !verdict.fails())
    }
}

/// Examines a loss.
pub fn examine(loss: &dyn Loss, range: &Range) -> Diagnosis {
    let exam = checks::Exam::new(loss, range);
    let finite = exam.finite();
    // A loss that is not finite has no other property, and comparisons with NaN would hide that.
    let sound = finite.holds();
    let when = |apply: bool, check: &dyn Fn() -> Verdict| {
        if apply { check() } else { Verdict::NotApplicable }
    };
    let convex = when(sound, &|| exam.convex());
    let margin = when(sound, &|| exam.margin());
    let in_margin = margin.holds();
    let declared = exam.facts;
    let (balanced, balance) =
        if in_margin { exam.balanced() } else { (Verdict::NotApplicable, None) };
    Diagnosis {
        spec: loss.spec(),
        range: *range,
        labels: exam.tracks.iter().map(|track| track.label).collect(),
        points: exam.tracks.iter().map(|track| track.grid.len()).sum(),
        declared,
        non_negative: when(sound, &|| exam.non_negative()),
        bounded_below: when(sound, &|| exam.bounded_below()),
        slope: when(sound, &|| exam.slope(convex.holds())),
        curvature: when(sound, &|| exam.curvature()),
        strictly_convex: when(sound, &|| exam.strictly_convex(&convex)),
        decreasing: when(in_margin, &|| exam.decreasing()),
        calibrated: when(in_margin, &|| exam.calibrated(&convex)),
        declared_convex: when(sound && declared.convex, &|| convex.clone()),
        declared_lipschitz: when(sound, &|| exam.declared_lipschitz()),
        declared_smooth: when(sound, &|| exam.declared_smooth()),
        declared_strong: when(sound, &|| exam.declared_strong()),
        declared_margin: when(sound && declared.margin, &|| margin.clone()),
        lipschitz: if sound { exam.lipschitz() } else { None },
        smooth: if sound { exam.smooth() } else { None },
        strong: if sound { exam.strong(convex.holds()) } else { f64::NAN },
        threshold: if sound { exam.threshold() } else { None },
        finite,
        convex,
        margin,
        balanced,
        balance,
        kinks: exam.kinks,
    }
}

#[cfg(test)]
mod tests;
