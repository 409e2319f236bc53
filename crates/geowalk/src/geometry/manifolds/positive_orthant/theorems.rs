//! # The theorem of natural exponentiated gradient
//! Explicit steps in the metric of the logarithm, $w_i \leftarrow w_i e^{-\eta g x_i w_i}$, on rows with
//! $g_t x_{t,i} \ge 0$:
//! $$\text{regret} \;\le\; \frac{\Vert\ln u - \ln w_0\Vert^2}{2\eta} + \frac\eta2\sum_t g_t^2 \sum_i x_{t,i}^2 w_{t,i}^2 \;\le\; \frac{U_1^2}{2\eta} + \frac\eta2 k Z^2 R^2 U_2^2$$
//! with $U_1 \ge \Vert\ln u - \ln w_0\Vert$, $U_2 \ge \Vert w_t\Vert$, Z ≥ |g|, R ≥ ‖x‖_∞. The sum over steps is
//! measured from their lengths. At the rate U₁/(Z R U₂ √k) the last form is Z R U₁ U₂ √k.
//!
//! **Proof** The orthant is flat, so only the gradient inequality from $w_t$ to u is needed. With $u_i = w_i e^{v_i}$,
//! $\langle u, x\rangle - \langle w, x\rangle = \sum x_i w_i (e^{v_i} - 1)$; if all $g x_i \ge 0$ then
//! $g\,(\langle u, x\rangle - z) \ge g\sum x_i w_i v_i$, and convexity of ℓ in z gives
//! $\ell(\langle u, x\rangle) \ge \ell(z) + \langle g_t, \log_{w_t} u\rangle$. So the premise concerns only the slopes
//! that occur. **Cost** O(nnz). **Care** Without the premise there is no guarantee: for x = 1, y = u = 10, w₀ = 1 and
//! the squared loss, 81 > 41.45 for every η. **Source** \[KMWW07, ex. 7\], corrected: as printed, with one U for both,
//! L = w, w₀ = 1, u = e⁻¹⁰, k = 100 has regret 24.08 > 10.

use crate::ConfigError;
use crate::Real;
use crate::certify::ledger::{Divergence, Ledger, LedgerRule, POSITIVE};
use crate::certify::losses::NO_MORE;
use crate::certify::theorem::{AS_WRITTEN, CONSTANT, CONVEX, FINITE, checked, declared, outward};
use crate::certify::{Start, Theorem};
use crate::loss::Facts;

const SIGN: &str = "slope x_i >= 0 for every feature";

/// The theorems of explicit steps on the orthant.
pub const ORTHANT_STEPS: &[&LedgerRule] = &[&NATURAL_EG];

/// Natural exponentiated gradient, any convex loss.
pub const NATURAL_EG: LedgerRule = LedgerRule {
    starts: true,
    span: true,
    demands: |watch, view| {
        let (slope, row) = (view.round.slope, view.row);
        let worst = Real::min(Real::min(slope * row.lo, slope * row.hi), 0.0);
        watch.demand(SIGN, worst >= 0.0, worst);
    },
    ..LedgerRule::steps(
        &Theorem {
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
        },
        |totals| {
            let square = totals.far * totals.far;
            let sum = square + totals.squares * (1.0 + 1e-13);
            outward(sum / (2.0 * totals.eta), square / totals.eta)
        },
    )
};

impl Ledger {
    /// Natural exponentiated gradient from the positive weights `start`.
    pub fn natural_eg(start: &[f64], facts: &Facts) -> Result<Self, ConfigError> {
        let start = Start::Given(start.to_vec());
        Ok(Self::new(Divergence::Logarithm, start)?.with(&NATURAL_EG, facts))
    }
}
