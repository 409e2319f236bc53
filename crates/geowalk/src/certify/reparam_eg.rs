//! # The twin of EG for the squared loss
//! Features *and labels* in [m − X, m + X], w = u², $u_i \leftarrow u_i(1 - \eta(\hat y - y)(x_i - m))$, divided by the norm. For $c = 2X^2\eta < 1$ and every probability vector r:
//! $$\sum_t (y_t - \hat y_t)^2 \;\le\; \frac{L_r}{1 - c} + \frac{D(r\Vert w_1)}{\eta}$$
//! m = 0 is the twin itself, at $\eta = \sqrt D/(X\sqrt{2L} + 2X^2\sqrt D)$ with $L_r + 2X\sqrt{2LD} + 2X^2D$. Centred, m = (lo + hi)/2 and R = hi − lo, it has EG's own bound at EG's own rate: X = R/2.
//! X is the largest |x − m| or |y − m| met unless declared.
//!
//! **Evidence** For features and labels in [0, X] the theorem is proved; on [−X, X] and for the centred form the inequality behind it was checked on grids
//! (c in [1e-4, 1e4], |p| ≤ 2) and 1500 runs, and is not proved analytically.
//! **Cost** O(nnz). **Care** the printed rate $2\sqrt D/(X\sqrt{2L} + X^2\sqrt D)$ is false for it: start (.9, .1), L = 1, D = 3.125, x = (1, 0), y = 0 and then 1 loses 400.8 in 401 rounds, against 6.21 promised;
//! and without labels in the range, y = −2.1 and then 1 at η = ⅓ loses 409 > 29.1.
//! **Source** \[AW20, thm. 9 and claim 1\], corrected and strengthened.

use super::losses::{NO_MORE, probabilities};
use super::origin::{Origin, Span, Start};
use super::theorem::{
    AS_WRITTEN, CONSTANT, Declared, FINITE, Members, PROBABILITIES, SQUARED, Theorem, WITHIN_SCALE,
    Watch, checked, declared, keep, outward, restore,
};
use super::{Bound, Certificate, Comparator};
use crate::Real;
use crate::error::{self, Allowed, ConfigError};
use crate::row::Row;
use crate::update::Round;

const FEATURES: &str = "features within X of the middle";
const LABELS: &str = "labels within X of the middle";
const SMALL: &str = "2 X^2 rate < 1";

pub(super) const THEOREM: Theorem = Theorem {
    name: "reparam-eg",
    premises: &[
        checked(FEATURES),
        checked(LABELS),
        checked(SMALL),
        checked(SQUARED),
        checked(CONSTANT),
        checked(NO_MORE),
        checked(PROBABILITIES),
        checked(WITHIN_SCALE),
        checked(AS_WRITTEN),
        checked(FINITE),
        declared("the rounds are steps of the twin of EG with this middle"),
    ],
    bound: "A <= L/(1 - c) + D/eta, c = 2 X^2 eta",
    source: "AW20, thm. 9",
    correction: "labels in the range; rate sqrt D/(X sqrt(2L) + 2 X^2 sqrt D); on [-X, X] (numerical evidence); centred form with EG's bound",
};

/// The bound of the twin of EG for the squared loss.
///
/// ```
/// use geowalk::certify::{Bound, Comparator, ReparamEg};
/// use geowalk::loss::Squared;
/// use geowalk::row::Dense;
/// use geowalk::walk::{ReparamSimplex, Walk};
///
/// let mut walk = ReparamSimplex::centred(0.0, 1.0)?;
/// let mut bound = ReparamEg::new(&[0.5, 0.5], 0.5)?;
/// for _ in 0..50 {
///     let round = walk.step(Dense(&[1.0, 0.0]), 1.0.into(), &Squared, 2.0 / 3.0)?;
///     bound.observe(&round, Dense(&[1.0, 0.0]));
/// }
/// // The bound of EG itself.
/// let certificate = bound.certify_known(&Comparator::Given(&[1.0, 0.0]), 0.0);
/// assert!((certificate.bound - 1.5 * 2.0_f64.ln()).abs() < 1e-12 && certificate.loss < 0.6);
/// # Ok::<(), geowalk::ConfigError>(())
/// ```
#[derive(Debug, Clone)]
pub struct ReparamEg {
    start: Origin,
    middle: f64,
    declared: Option<f64>,
    x: f64,
    watch: Watch,
}

impl ReparamEg {
    /// From the probabilities `start` (w, not u), with the middle m, and the X that is met.
    pub fn new(start: &[f64], middle: f64) -> Result<Self, ConfigError> {
        probabilities(start)?;
        error::parameter("middle", middle, Allowed::Finite)?;
        let watch = Watch::new(&THEOREM);
        Ok(Self { start: Origin::given(start), middle, declared: None, x: 0.0, watch })
    }

    /// The same from another start: for features that come at any time.
    #[must_use]
    pub fn starting(self, start: Start) -> Self {
        Self { start: Origin::new(start), ..self }
    }

    /// With X declared beforehand.
    pub fn declare(self, x: f64) -> Result<Self, ConfigError> {
        error::parameter("x", x, Allowed::Positive)?;
        Ok(Self { declared: Some(x), x, ..self })
    }

    /// The rate √D/(X√(2L) + 2X²√D) for comparators with divergence ≤ d that lose at most l.
    pub fn rate(x: f64, d: f64, l: f64) -> f64 {
        d.sqrt() / (x * (2.0 * l).sqrt() + 2.0 * x * x * d.sqrt())
    }

    /// How many features have been seen.
    pub(super) fn features(&self) -> usize {
        self.start.features()
    }

    /// Gives away everything that changes, as named arrays.
    pub fn save(&self, put: &mut dyn FnMut(&'static str, &[f64])) {
        keep(&self.watch, &[self.x, self.start.save()], put);
    }

    /// Continues from what `save` gave, with the same bits.
    pub fn load(
        &mut self,
        get: &mut dyn FnMut(&'static str) -> Option<Vec<f64>>,
    ) -> Result<(), ConfigError> {
        let [x, n] = restore(&mut self.watch, get)?;
        self.x = x;
        self.start.load(n);
        Ok(())
    }

    fn bound(&self, u: &Comparator<'_>, loss: Option<f64>) -> Certificate {
        if let Some(refused) = self.watch.outside(u, Members::Probabilities) {
            return refused;
        }
        if self.watch.rounds == 0 {
            return self.watch.issue(0.0);
        }
        let eta = self.watch.rate;
        let c = 2.0 * eta * self.x * self.x;
        let p = outward(self.start.farthest_entropy(u) / eta, 0.0);
        self.watch.discount(SMALL, c, p, loss)
    }
}

impl Bound for ReparamEg {
    fn observe<F: Real, X: Row<F>>(&mut self, round: &Round, x: X) {
        self.watch.round(round);
        self.watch.constant_rate(round.rate);
        let label = (self.watch.squared(round, 1e-14) - self.middle).abs();
        // The label is recovered from prediction and slope.
        let slack = 4.0 * f64::EPSILON * (round.z.abs() + round.slope.abs());
        let row = Span::of(x, &mut self.start, &mut self.watch);
        let reach = Real::max(row.hi - self.middle, self.middle - row.lo);
        if self.declared.is_none() {
            self.x = Real::max(self.x, Real::max(reach, label));
        }
        self.watch.demand(FEATURES, reach <= self.x, reach);
        self.watch.demand(LABELS, label <= self.x + slack, label);
        let c = 2.0 * round.rate * self.x * self.x;
        self.watch.demand(SMALL, c < 1.0, c);
    }

    fn certify(&self, u: &Comparator<'_>) -> Certificate {
        self.bound(u, None)
    }

    fn certify_known(&self, u: &Comparator<'_>, loss: f64) -> Certificate {
        self.bound(u, Some(loss))
    }

    fn declared(&self) -> Vec<Declared> {
        let premise = FEATURES;
        self.declared.map(|value| Declared { premise, value }).into_iter().collect()
    }
}
