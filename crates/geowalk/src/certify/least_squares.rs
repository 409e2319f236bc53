//! # Gradient descent for the squared loss
//! With W = ‖u − w₀‖, L the loss of u, A that of the learner, X ≥ ‖x‖ ≥ $X_-$ the norms met:
//! $$\sqrt A \le \frac{\sqrt L + \sqrt{L + W^2(1 - \eta X^2)/\eta}}{2(1 - \eta X^2)} \quad\text{explicit, } \eta X^2 < 1, \qquad
//!   \sqrt{A_+} \le \frac{\sqrt L + \sqrt{L + W^2(1 + \eta X_-^2)/\eta}}{2(1 + \eta X_-^2)} \quad\text{implicit}$$
//! where $A_+$ is the loss *after* the implicit steps. Before them, and with ‖x‖ = X throughout, an implicit step is an explicit one at the rate η/(1 + 2ηX²), which has the
//! first bound at any η.
//! **Proof** Both are $(1 \mp c)A - \sqrt{LA} \le W^2/4\eta$, from λ-convexity along the segment to u. **Cost** O(nnz).
//! **Care** [`LeastSquares::implicit`] must be shown rounds with the loss, prediction and slope *after* the step.
//! **Source** \[KMWW07, ex. 4\] (its proviso on the loss of u is not needed); \[KMWW07, ex. 5\], corrected: as printed 0.1111 > 0.0625 at x = y = u = η = 1.

use super::theorem::{
    AS_WRITTEN, CONSTANT, FINITE, SQUARED, Theorem, Watch, checked, declared, farthest, keep,
    outward, restore,
};
use super::{Bound, Certificate, Comparator};
use crate::Real;
use crate::error::ConfigError;
use crate::row::{Norm, Row};
use crate::update::Round;

const SMALL: &str = "rate |x|^2 < 1";
const LENGTH: &str = "steps of length rate |slope| |x|";

pub(super) const EXPLICIT: Theorem = Theorem {
    name: "least-squares",
    premises: &[
        checked(SQUARED),
        checked(SMALL),
        checked(CONSTANT),
        checked(LENGTH),
        checked(AS_WRITTEN),
        checked(FINITE),
        declared("predictions are not clipped"),
    ],
    bound: "sqrt A <= (sqrt L + sqrt(L + W^2 (1 - c)/eta))/(2 (1 - c)), c = eta X^2",
    source: "KMWW07, ex. 4",
    correction: "the proviso L < |u|^2 X^2 is not needed",
};

pub(super) const IMPLICIT: Theorem = Theorem {
    name: "least-squares-implicit",
    premises: &[
        checked(SQUARED),
        checked(CONSTANT),
        checked(LENGTH),
        checked(AS_WRITTEN),
        checked(FINITE),
        declared("loss, prediction and slope are those after the implicit step"),
    ],
    bound: "loss after the step: sqrt A <= (sqrt L + sqrt(L + W^2 (1 + c)/eta))/(2 (1 + c)), c = eta Xmin^2",
    source: "KMWW07, ex. 5",
    correction: "printed with another constant and for the loss before the step, which is false",
};

/// The bound of gradient descent for the squared loss.
///
/// ```
/// use geowalk::certify::{Bound, Comparator, LeastSquares};
/// use geowalk::loss::Squared;
/// use geowalk::row::Dense;
/// use geowalk::walk::{Euclidean, Walk};
///
/// let mut walk = Euclidean::new();
/// let mut bound = LeastSquares::explicit(&[]);
/// for _ in 0..8 {
///     let round = walk.step(Dense(&[1.0]), 1.0.into(), &Squared, 0.25)?;
///     bound.observe(&round, Dense(&[1.0]));
/// }
/// // The comparator loses nothing: W²/(4η(1 − η)) = 4/3.
/// let certificate = bound.certify_known(&Comparator::Given(&[1.0]), 0.0);
/// assert!((certificate.bound - 4.0 / 3.0).abs() < 1e-12 && certificate.loss > 1.333);
/// # Ok::<(), geowalk::DomainError>(())
/// ```
#[derive(Debug, Clone)]
pub struct LeastSquares {
    start: Vec<f64>,
    implicit: bool,
    watch: Watch,
    most: f64,
    least: f64,
}

impl LeastSquares {
    /// Explicit steps from `start` (0 beyond its end).
    pub fn explicit(start: &[f64]) -> Self {
        let (most, least) = (0.0, f64::INFINITY);
        let watch = Watch::new(&EXPLICIT);
        Self { start: start.to_vec(), implicit: false, watch, most, least }
    }

    /// Implicit steps, for the loss after them.
    pub fn implicit(start: &[f64]) -> Self {
        Self { implicit: true, watch: Watch::new(&IMPLICIT), ..Self::explicit(start) }
    }

    /// Sees a round of explicit steps whose length is η|g|‖x‖, as gradient descent's own are: O(1).
    #[inline]
    pub fn observe_length(&mut self, round: &Round) {
        let pull = round.rate * round.slope.abs();
        // A row without a residual adds nothing on either side.
        let norm = if pull > 0.0 { round.length / pull } else { self.least };
        self.see(round, norm);
    }

    /// Sees a round of an implicit step that is reported with the loss, prediction and slope *before* it, at weight 1: those after it follow.
    pub fn observe_before<F: Real, X: Row<F>>(&mut self, round: &Round, x: X) {
        let norm = x.norm(Norm::L2).f64();
        let (residual, factor) = (0.5 * round.slope, 1.0 + 2.0 * round.rate * norm * norm);
        let after = residual / factor;
        let z = round.z - (residual - after);
        let after = Round { z, loss: after * after, slope: 2.0 * after, ..*round };
        self.observe(&after, x);
        self.watch.squared(round, 1e-14);
    }

    fn see(&mut self, round: &Round, norm: f64) {
        self.watch.round(round);
        self.watch.constant_rate(round.rate);
        self.watch.squared(round, if self.implicit { 1e-9 } else { 1e-14 });
        if norm.is_finite() {
            self.most = Real::max(self.most, norm);
            self.least = Real::min(self.least, norm);
        }
        if !self.implicit {
            let c = round.rate * self.most * self.most;
            self.watch.demand(SMALL, c < 1.0, c);
        }
    }

    /// Gives away everything that changes, as named arrays.
    pub fn save(&self, put: &mut dyn FnMut(&'static str, &[f64])) {
        let least = if self.least.is_finite() { self.least } else { -1.0 };
        keep(&self.watch, &[self.most, least], put);
    }

    /// Continues from what `save` gave, with the same bits.
    pub fn load(
        &mut self,
        get: &mut dyn FnMut(&'static str) -> Option<Vec<f64>>,
    ) -> Result<(), ConfigError> {
        let [most, least] = restore(&mut self.watch, get)?;
        (self.most, self.least) = (most, if least < 0.0 { f64::INFINITY } else { least });
        Ok(())
    }

    /// 1 ∓ c and W²/4η, of (1 ∓ c)A − √(LA) ≤ W²/4η.
    fn terms(&self, u: &Comparator<'_>) -> (f64, f64) {
        let (eta, w) = (self.watch.rate, farthest(u, &self.start));
        let factor = if self.implicit {
            let least = if self.least.is_finite() { self.least } else { 0.0 };
            1.0 + eta * least * least
        } else {
            // Next to 1 the difference is nothing but rounding: then it is below 0.
            1.0 - eta * self.most * self.most * (1.0 + 1e-12)
        };
        (factor * (1.0 - 8.0 * f64::EPSILON), outward(w * w / (4.0 * eta), 0.0))
    }

    fn nothing_seen(&self, u: &Comparator<'_>) -> bool {
        self.watch.rounds == 0 && !farthest(u, &self.start).is_nan()
    }
}

impl Bound for LeastSquares {
    fn observe<F: Real, X: Row<F>>(&mut self, round: &Round, x: X) {
        let norm = x.norm(Norm::L2).f64();
        self.see(round, norm);
        let length = round.rate * round.slope.abs() * norm;
        let tolerance = if self.implicit { 1e-6 * length + 1e-12 } else { 1e-9 * length };
        self.watch.demand(LENGTH, (length - round.length).abs() <= tolerance, round.length);
    }

    fn certify(&self, u: &Comparator<'_>) -> Certificate {
        if self.nothing_seen(u) {
            return self.watch.issue(0.0);
        }
        let (factor, w) = self.terms(u);
        if factor <= 0.0 {
            return self.watch.refuse(SMALL, 1.0 - factor);
        }
        let a = self.watch.loss.upper();
        // √L ≥ (factor·A − W²/4η)/√A.
        let root = Real::max((factor * a - w) / a.sqrt(), 0.0);
        let bound = outward(a - root * root * (1.0 - 1e-14), a);
        // Nothing lost, nothing to regret, against whomever.
        self.watch.issue(if a > 0.0 || w.is_nan() { bound } else { 0.0 })
    }

    fn certify_known(&self, u: &Comparator<'_>, loss: f64) -> Certificate {
        if self.nothing_seen(u) {
            return self.watch.issue(0.0);
        }
        let (factor, w) = self.terms(u);
        if factor <= 0.0 {
            return self.watch.refuse(SMALL, 1.0 - factor);
        }
        let loss = Real::max(loss, 0.0);
        let root = (loss.sqrt() + (loss + 4.0 * w * factor).sqrt()) / (2.0 * factor);
        self.watch.issue(outward(root * root - loss, loss))
    }
}
