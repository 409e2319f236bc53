//! # p-norm descent for smooth losses
//! For $0 \le \ell$, convex with curvature ≤ S, mirror steps of $\tfrac12\Vert w\Vert_q^2$ from 0, $X \ge \Vert x_t\Vert_p$, and $c = \eta (p - 1) X^2 S < 1$:
//! $$\sum_t \ell(z_t, y_t) \;\le\; \frac{1}{1 - c}\Bigl(\sum_t \ell(\langle u, x_t\rangle, y_t) + \frac{\Vert u\Vert_q^2}{2\eta}\Bigr)$$
//! For a [balanced](crate::loss::Balanced) convex loss of φ, $S = 1/\inf\varphi''$. At c ≤ 1 the divergence of the predictions from those of u,
//! $\sum_t D(p_t \Vert p_u) = (A - \langle u, \Gamma\rangle) - \text{regret}$, is at most $\sum\ell(\langle u, x\rangle, y) + \Vert u\Vert_q^2/2\eta$ ([`Ols::divergence`]).
//!
//! **Proof** $\text{regret} \le A - \langle u, \Gamma\rangle \le \Vert u\Vert_q^2/2\eta + \tfrac\eta2(p-1)X^2\sum g^2$, and $g^2 \le 2S\ell$ for every non-negative S-smooth loss. So the balanced form is not needed.
//! **Cost** O(nnz), a power per coordinate. **Care** the printed theorem bounds the divergence, not the loss; with its rate (c = 1) the loss has no bound: φ = gini,
//! x = 1, y = 0, 1, 0, 1, … loses 1 per round against ¼ for u = 0.
//! **Source** \[NN09, thm. 3\], in the usable form.

use super::mirror_steps::half_square;
use super::theorem::{
    AS_WRITTEN, CONSTANT, CONVEX, FINITE, Theorem, Watch, checked, declared, keep, outward, restore,
};
use super::{Bound, Certificate, Comparator};
use crate::Real;
use crate::error::{self, Allowed, ConfigError};
use crate::loss::Facts;
use crate::row::{Norm, Row};
use crate::update::Round;

const SMOOTH: &str = "a loss with slope^2 <= 2 S loss";
const SMALL: &str = "rate (p - 1) |x|_p^2 S < 1";

pub(super) const THEOREM: Theorem = Theorem {
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
};

/// The bound of p-norm descent for smooth losses.
///
/// ```
/// use geowalk::certify::{Bound, Comparator, Ols};
/// use geowalk::loss::{Logistic, Loss};
/// use geowalk::row::Dense;
/// use geowalk::walk::{PNorm, Walk};
///
/// let mut walk = PNorm::new(1.5)?;
/// let mut bound = Ols::new(3.0, &Logistic.facts())?;
/// for _ in 0..20 {
///     let round = walk.step(Dense(&[1.0]), 1.0.into(), &Logistic, 1.0)?;
///     bound.observe(&round, Dense(&[1.0]));
/// }
/// // c = 1·2·1·¼ = ½: regret ≤ ½A + ‖u‖²/2η.
/// let certificate = bound.certify(&Comparator::Given(&[1.0]));
/// assert!((certificate.bound - (0.5 * certificate.loss + 0.5)).abs() < 1e-9);
/// # Ok::<(), geowalk::ConfigError>(())
/// ```
#[derive(Debug, Clone)]
pub struct Ols {
    p: f64,
    smooth: f64,
    most: f64,
    watch: Watch,
}

impl Ols {
    /// For the dual exponent p ≥ 2; void from the beginning for losses that are not smooth.
    pub fn new(p: f64, facts: &Facts) -> Result<Self, ConfigError> {
        error::parameter("p", p, Allowed::Closed(2.0, 1001.0))?;
        let mut watch = Watch::convex(&THEOREM, facts);
        watch.demand(SMOOTH, facts.smooth.is_some(), f64::INFINITY);
        Ok(Self { p, smooth: facts.smooth.unwrap_or(f64::NAN), most: 0.0, watch })
    }

    /// The rate cλ/((p − 1)X²) of the theorem for rows with ‖x‖_p ≤ `most`; ½ is a good c.
    pub fn rate(&self, c: f64, most: f64) -> f64 {
        c / ((self.p - 1.0) * most * most * self.smooth)
    }

    /// Gives away everything that changes, as named arrays.
    pub fn save(&self, put: &mut dyn FnMut(&'static str, &[f64])) {
        keep(&self.watch, &[self.most], put);
    }

    /// Continues from what `save` gave, with the same bits.
    pub fn load(
        &mut self,
        get: &mut dyn FnMut(&'static str) -> Option<Vec<f64>>,
    ) -> Result<(), ConfigError> {
        let [most] = restore(&mut self.watch, get)?;
        self.most = most;
        Ok(())
    }

    fn c(&self) -> f64 {
        let c = self.watch.rate * (self.p - 1.0) * self.most * self.most * self.smooth;
        c * (1.0 + 1e-12)
    }

    /// ‖u‖_q²/2η, at most.
    fn penalty(&self, u: &Comparator<'_>) -> f64 {
        outward(half_square(u, self.p / (self.p - 1.0)) / self.watch.rate, 0.0)
    }

    fn bound(&self, u: &Comparator<'_>, loss: Option<f64>) -> Certificate {
        let (c, penalty) = (self.c(), self.penalty(u));
        if self.watch.rounds == 0 {
            return self.watch.issue(0.0);
        }
        // A ≤ L/(1 − c) + P/(1 − c).
        let p = penalty / (1.0 - c * (1.0 + 1e-12));
        self.watch.discount(SMALL, c, p, loss)
    }

    /// The bound on ΣD(p_t‖p_u), for a comparator that loses `loss`; needs c ≤ 1. NaN if c is larger.
    pub fn divergence(&self, u: &Comparator<'_>, loss: f64) -> f64 {
        if self.c() <= 1.0 + 1e-11 { outward(loss + self.penalty(u), 0.0) } else { f64::NAN }
    }
}

impl Bound for Ols {
    fn observe<F: Real, X: Row<F>>(&mut self, round: &Round, x: X) {
        self.watch.round(round);
        self.watch.constant_rate(round.rate);
        self.most = Real::max(self.most, x.above(Norm::Lp(self.p)));
        let c = self.c();
        self.watch.demand(SMALL, c < 1.0, c);
        let square = round.slope * round.slope;
        let most = 2.0 * self.smooth * round.loss;
        self.watch.demand(SMOOTH, square <= most * (1.0 + 1e-9) + 1e-300, square - most);
    }

    fn compare(&mut self, round: &Round, prediction: f64, loss: f64) {
        self.watch.compare(round, prediction, loss);
    }

    fn certify(&self, u: &Comparator<'_>) -> Certificate {
        self.bound(u, None)
    }

    fn certify_known(&self, u: &Comparator<'_>, loss: f64) -> Certificate {
        self.bound(u, Some(loss))
    }
}
