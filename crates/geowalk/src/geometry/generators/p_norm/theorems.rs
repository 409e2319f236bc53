//! # Theorems of p-norm steps
//! Mirror steps of $\tfrac12\Vert w\Vert_q^2$ from 0, which is (q − 1)-strongly convex, 1/p + 1/q = 1, for a loss
//! convex in the prediction and a constant rate:
//! $$\text{regret} \;\le\; \frac{\Vert u\Vert_q^2}{2\eta} + \frac{\eta}{2(q - 1)}\sum_t g_t^2 \Vert x_t\Vert_p^2$$
//! **Proof** The linearised regret is $(D(u\Vert w_0) - D(u\Vert w_k) + \sum_t D(w_t\Vert w_{t+1}))/\eta$ exactly, and
//! $D(w_t \Vert w_{t+1}) \le \eta^2 g^2\Vert x\Vert_p^2/2(q - 1)$. The step lengths that p-norm walks report have lost
//! digits, so the steps are bounded, not measured.
//!
//! For $0 \le \ell$ with curvature ≤ S, $X \ge \Vert x_t\Vert_p$, and $c = \eta (p - 1) X^2 S < 1$:
//! $$\sum_t \ell(z_t, y_t) \;\le\;
//!   \frac{1}{1 - c}\Bigl(\sum_t \ell(\langle u, x_t\rangle, y_t) + \frac{\Vert u\Vert_q^2}{2\eta}\Bigr)$$
//! For a [balanced](crate::loss::Balanced) convex loss of φ, $S = 1/\inf\varphi''$. At c ≤ 1 the divergence of the
//! predictions from those of u, $\sum_t D(p_t \Vert p_u) = (A - \langle u, \Gamma\rangle) - \text{regret}$, is at most
//! $\sum\ell(\langle u, x\rangle, y) + \Vert u\Vert_q^2/2\eta$.
//! **Proof** From the first theorem, and $g^2 \le 2S\ell$ for every non-negative S-smooth loss. So the balanced form
//! is not needed.
//!
//! **Cost** O(nnz), a power per coordinate. **Care** The printed theorem bounds the divergence, not the loss. At its
//! rate (c = 1) the loss has no bound: φ = gini, x = 1, y = 0, 1, 0, 1, … loses 1 per round against ¼ for u = 0.
//! **Source** standard, \[SS12, sec. 2.7\]; \[NN09, lemma 9 and thm. 3\], in a form with computable quantities.

use crate::ConfigError;
use crate::Real;
use crate::certify::ledger::{
    Divergence, Formula, Ledger, LedgerRule, Need, Prescription, SMOOTH, Terms, half_square,
};
use crate::certify::mirror_steps::measured;
use crate::certify::theorem::{AS_WRITTEN, CONSTANT, CONVEX, FINITE, checked, declared, outward};
use crate::certify::{Start, Theorem};
use crate::error::{self, Allowed};
use crate::loss::Facts;

const SMALL: &str = "rate (p - 1) |x|_p^2 S < 1";

/// The theorems of p-norm steps.
pub const P_NORM_STEPS: &[&LedgerRule] = &[&MIRROR_DESCENT, &OLS];

/// Any convex loss.
pub const MIRROR_DESCENT: LedgerRule = LedgerRule {
    rate: Prescription::Descent,
    starts: true,
    norm: true,
    step: |view| {
        let length =
            view.round.rate * view.round.slope * view.row.norm / (view.ledger.q() - 1.0).sqrt();
        length * length
    },
    ..LedgerRule::steps(
        &Theorem {
            name: "mirror-descent",
            premises: &[
                declared(CONVEX),
                declared("a start at 0"),
                checked(CONSTANT),
                declared("predictions are not clipped"),
                declared("the rounds are p-norm mirror steps"),
                checked(AS_WRITTEN),
                checked(FINITE),
            ],
            bound: "D(u, w0)/eta + eta/(2 sigma) sum g^2 |x|*^2",
            source: "SS12, sec. 2.7",
            correction: "",
        },
        measured,
    )
};

/// Smooth losses ≥ 0.
pub const OLS: LedgerRule = LedgerRule {
    needs: &[Need::Convex, Need::Smooth, Need::OneSided],
    rate: Prescription::Smooth,
    norm: true,
    nothing: &[0.0],
    sizes: |view| [Real::max(view.sizes[0], view.row.norm), 0.0],
    demands: |watch, view| {
        let c = small(view.round.rate, view.ledger, view.sizes[0], view.smooth);
        watch.demand(SMALL, c < 1.0, c);
        let square = view.round.slope * view.round.slope;
        let most = 2.0 * view.smooth * view.round.loss;
        watch.demand(SMOOTH, square <= most * (1.0 + 1e-9) + 1e-300, square - most);
    },
    // A ≤ L/(1 − c) + P/(1 − c).
    formula: Formula::Discounted(SMALL, |totals| {
        let c = small(totals.eta, totals.ledger, totals.sizes[0], totals.smooth);
        let p = totals.ledger.p();
        let penalty = outward(half_square(totals.u, p / (p - 1.0)) / totals.eta, 0.0);
        (c, penalty / (1.0 - c * (1.0 + 1e-12)))
    }),
    ..LedgerRule::steps(
        &Theorem {
            name: "ols",
            premises: &[
                declared(CONVEX),
                checked(SMOOTH),
                checked(SMALL),
                checked(CONSTANT),
                checked(AS_WRITTEN),
                checked(FINITE),
                declared("the rounds are p-norm mirror steps from 0"),
            ],
            bound: "A <= (L + |u|_q^2/(2 eta))/(1 - c), c = eta (p - 1) X^2 S",
            source: "NN09, thm. 3",
            correction: "for the loss itself, with c < 1, and for every smooth convex loss",
        },
        |_| f64::NAN,
    )
};

fn small(rate: f64, ledger: &Terms, most: f64, smooth: f64) -> f64 {
    rate * (ledger.p() - 1.0) * most * most * smooth * (1.0 + 1e-12)
}

impl Ledger {
    /// p-norm steps for smooth losses, p ≥ 2; void from the start for losses that are not smooth.
    ///
    /// ```
    /// use geowalk::certify::{Bound, Comparator, Ledger};
    /// use geowalk::loss::{Logistic, Loss};
    /// use geowalk::row::Dense;
    /// use geowalk::walk::{PNorm, Walk};
    ///
    /// let mut walk = PNorm::new(1.5)?;
    /// let mut bound = Ledger::ols(3.0, &Logistic.facts())?;
    /// for _ in 0..20 {
    ///     let round = walk.step(Dense(&[1.0]), 1.0.into(), &Logistic, 1.0)?;
    ///     bound.observe(&round, Dense(&[1.0]));
    /// }
    /// // c = 1·2·1·¼ = ½: regret ≤ ½A + ‖u‖²/2η.
    /// let certificate = bound.certify(&Comparator::Given(&[1.0]));
    /// assert!((certificate.bound - (0.5 * certificate.loss + 0.5)).abs() < 1e-9);
    /// # Ok::<(), geowalk::ConfigError>(())
    /// ```
    pub fn ols(p: f64, facts: &Facts) -> Result<Self, ConfigError> {
        error::parameter("p", p, Allowed::Closed(2.0, 1001.0))?;
        let divergence = Divergence::PNorm { q: p / (p - 1.0) };
        Ok(Self::new(divergence, Start::Each(0.0))?.with(&OLS, facts))
    }
}
