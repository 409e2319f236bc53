//! # Natural exponentiated gradient
//! Explicit steps in the metric of the logarithm, $w_i \leftarrow w_i e^{-\eta g x_i w_i}$, on rows with $g_t x_{t,i} \ge 0$:
//! $$\text{regret} \;\le\; \frac{\Vert\ln u - \ln w_0\Vert^2}{2\eta} + \frac\eta2\sum_t g_t^2 \sum_i x_{t,i}^2 w_{t,i}^2 \;\le\; \frac{U_1^2}{2\eta} + \frac\eta2 k Z^2 R^2 U_2^2$$
//! with $U_1 \ge \Vert\ln u - \ln w_0\Vert$, $U_2 \ge \Vert w_t\Vert$, Z ≥ |g|, R ≥ ‖x‖_∞; the sum over steps is measured as their lengths.
//!
//! **Proof** The orthant is flat, so only the gradient inequality from $w_t$ to u is needed. With $u_i = w_i e^{v_i}$, $\langle u, x\rangle - \langle w, x\rangle = \sum x_i w_i (e^{v_i} - 1)$; if
//! all $g x_i \ge 0$ then $g\,(\langle u, x\rangle - z) \ge g\sum x_i w_i v_i$, and convexity of ℓ in z gives $\ell(\langle u, x\rangle) \ge \ell(z) + \langle g_t, \log_{w_t} u\rangle$. So the premise concerns
//! the slopes that are met and no others.
//! **Cost** O(nnz). **Care** without the premise nothing is promised: x = 1, y = u = 10, w₀ = 1, squared loss: 81 > 41.45 for every η.
//! **Source** \[KMWW07, ex. 7\], corrected: as printed, with one U for both, L = w, w₀ = 1, u = e⁻¹⁰, k = 100 has regret 24.08 > 10.

use super::losses::NO_MORE;
use super::origin::{Origin, Start, keep_steps, restore_steps};
use super::theorem::{
    AS_WRITTEN, CONSTANT, CONVEX, FINITE, Theorem, Watch, checked, declared, outward, underflow,
};
use super::{Bound, Certificate, Comparator};
use crate::Real;
use crate::error::{self, Allowed, ConfigError};
use crate::geometry::generators::gap;
use crate::loss::Facts;
use crate::row::{Norm, Row};
use crate::sum::Sum;
use crate::update::Round;

const SIGN: &str = "slope x_i >= 0 for every feature";
const POSITIVE: &str = "a comparator with positive weights, one for each of the start";

pub(super) const THEOREM: Theorem = Theorem {
    name: "natural-eg",
    premises: &[
        checked(SIGN),
        declared(CONVEX),
        checked(CONSTANT),
        checked(POSITIVE),
        checked(NO_MORE),
        checked(AS_WRITTEN),
        checked(FINITE),
        declared("the rounds are explicit steps on the orthant"),
    ],
    bound: "|ln u - ln w0|^2/(2 eta) + sum length^2/(2 eta)",
    source: "KMWW07, ex. 7",
    correction: "two different norms where one U is printed; the loss must be convex along geodesics, which the sign of slope x_i ensures",
};

/// The bound of natural exponentiated gradient.
///
/// ```
/// use geowalk::certify::NaturalEg;
/// // The rate and bound promised beforehand: U₁ = 10, U₂ = 1, Z = R = 1, k = 100.
/// assert_eq!(NaturalEg::promise(10.0, 1.0, 1.0, 1.0, 100), (1.0, 100.0));
/// ```
#[derive(Debug, Clone)]
pub struct NaturalEg {
    start: Origin,
    watch: Watch,
    squares: Sum,
}

impl NaturalEg {
    /// From the positive weights `start`.
    pub fn new(start: &[f64], facts: &Facts) -> Result<Self, ConfigError> {
        error::each("the start", start, Allowed::Positive)?;
        let watch = Watch::convex(&THEOREM, facts);
        Ok(Self { start: Origin::given(start), watch, squares: Sum::default() })
    }

    /// The same from another start: for features that come at any time.
    #[must_use]
    pub fn starting(self, start: Start) -> Self {
        Self { start: Origin::new(start), ..self }
    }

    /// Gives away everything that changes, as named arrays.
    pub fn save(&self, put: &mut dyn FnMut(&'static str, &[f64])) {
        keep_steps(&self.watch, &self.squares, &self.start, put);
    }

    /// Continues from what `save` gave, with the same bits.
    pub fn load(
        &mut self,
        get: &mut dyn FnMut(&'static str) -> Option<Vec<f64>>,
    ) -> Result<(), ConfigError> {
        restore_steps(&mut self.watch, &mut self.squares, &mut self.start, get)
    }

    /// The best rate U₁/(Z R U₂ √k), and the bound Z R U₁ U₂ √k that it promises.
    pub fn promise(u1: f64, u2: f64, z: f64, r: f64, k: u64) -> (f64, f64) {
        let root = (k as f64).sqrt();
        (u1 / (z * r * u2 * root), z * r * u1 * u2 * root)
    }
}

impl Bound for NaturalEg {
    fn observe<F: Real, X: Row<F>>(&mut self, round: &Round, x: X) {
        self.watch.round(round);
        self.watch.constant_rate(round.rate);
        self.start.see(x.bound(), &mut self.watch);
        // A pass over the row that is spared once the theorem is void.
        if self.watch.stands() {
            let mut worst = 0.0;
            x.each(|_, x| worst = Real::min(worst, round.slope * x.f64()));
            self.watch.demand(SIGN, worst >= 0.0, worst);
        }
        self.squares.add(round.length * round.length);
    }

    fn compare(&mut self, round: &Round, prediction: f64, loss: f64) {
        self.watch.compare(round, prediction, loss);
    }

    fn certify(&self, u: &Comparator<'_>) -> Certificate {
        let Comparator::Given(u) = u else { return self.watch.issue(f64::NAN) };
        let start = self.start.weights(u.len());
        if u.len() != start.len() || u.iter().any(|u| *u <= 0.0 || !u.is_finite()) {
            return self.watch.refuse(POSITIVE, u.len() as f64);
        }
        if self.watch.rounds == 0 {
            return self.watch.issue(0.0);
        }
        // Next to the start u/w is rounded to much less than u − w says.
        let log = |(u, w): (&f64, &f64)| {
            let d = u - w;
            if d.abs() < 0.5 * w { Real::ln_1p(d / w) } else { gap::ln_ratio(*u, *w) }
        };
        let logs: Vec<f64> = u.iter().zip(start.iter()).map(log).collect();
        let norm = Norm::L2.of(&logs);
        let sum =
            norm * norm + (self.squares.upper() + underflow(self.watch.rounds)) * (1.0 + 1e-13);
        self.watch.issue(outward(sum / (2.0 * self.watch.rate), norm * norm / self.watch.rate))
    }
}
