//! # The twin of Hedge
//! Gradient descent on u with w = u²: $u_i \leftarrow u_i(1 - \eta\ell_i)$, divided by the norm, η < 1, losses in [0, 1]. Against every probability vector r:
//! $$\sum_t \langle w_t, \ell_t\rangle \;\le\; \frac{-2\ln(1 - \eta)\,L_r + D(r\Vert w_1)}{2\eta - \eta^2}$$
//! which is the bound of Hedge at $\eta' = -2\ln(1 - \eta)$. So at the exact tuning $\eta = 1 - (1 + \sqrt{2D/L})^{-1/2}$ it is Hedge's own $L_r + \sqrt{2LD} + D$: the conjecture of
//! the paper for $\eta = \sqrt{D/(D + 2L)}$, proved for this rate. On losses of 0 and 1 the twin *is* Hedge at η′.
//!
//! **Proof** $\ln(1 - \eta x) \ge x\ln(1 - \eta)$ and $x^2 \le x$ on [0, 1]; $-\ln(1 - s) \ge s$. **Cost** O(n).
//! **Care** the paper's tuning $1/(1 + \sqrt{L/D})$ gives $L + 2\sqrt{LD} + D$ (in fact 1.5√(LD)); L bounds the loss of the comparator, not of the best expert.
//! **Source** \[AW20, thm. 5\], corrected and sharpened.

use super::hedge::{MOST_DIVERGENCE, MOST_LOSS};
use super::losses::{self, DOT, Losses, NO_MORE, UNIT};
use super::theorem::{
    AS_WRITTEN, CONSTANT, FINITE, Members, PROBABILITIES, Theorem, Watch, checked, declared, keep,
    outward, restore,
};
use super::{Bound, Certificate, Comparator};
use crate::Real;
use crate::error::ConfigError;
use crate::row::Row;
use crate::update::Round;

const BELOW: &str = "rate < 1";
const TUNED: &str = "the rate of the exact tuning";

pub(super) const THEOREM: Theorem = Theorem {
    name: "reparam-hedge",
    premises: &[
        checked(UNIT),
        checked(DOT),
        checked(BELOW),
        checked(CONSTANT),
        checked(NO_MORE),
        checked(PROBABILITIES),
        checked(TUNED),
        checked(MOST_LOSS),
        checked(MOST_DIVERGENCE),
        checked(AS_WRITTEN),
        checked(FINITE),
        declared("the weights are those of the twin of Hedge"),
    ],
    bound: "(-2 ln(1 - eta) L + D)/(2 eta - eta^2) - L; exactly tuned: sqrt(2 L D) + D",
    source: "AW20, thm. 5",
    correction: "L must bound the loss of the comparator; the exact tuning has Hedge's bound",
};

/// The bound of the twin of Hedge.
///
/// ```
/// use geowalk::certify::{Hedge, ReparamHedge};
/// // The exact tuning is that of Hedge: −2 ln(1 − η) = ln(1 + √(2D/L)).
/// let (d, l) = (4.6, 100.0);
/// let eta = ReparamHedge::rate(d, l);
/// assert!((-2.0 * (1.0 - eta).ln() - Hedge::rate(d, l)).abs() < 1e-15);
/// ```
#[derive(Debug, Clone)]
pub struct ReparamHedge {
    losses: Losses,
    watch: Watch,
}

impl ReparamHedge {
    /// From the probabilities `start` (w, not u), with a part `share` of the weight shared after each round.
    pub fn new(start: &[f64], share: f64) -> Result<Self, ConfigError> {
        Ok(Self { losses: Losses::new(start, share)?, watch: Watch::new(&THEOREM) })
    }

    /// The exact tuning 1 − (1 + √(2D/L))^{−½}.
    pub fn rate(d: f64, l: f64) -> f64 {
        -Real::exp_m1(-0.5 * Real::ln_1p((2.0 * d / l).sqrt()))
    }

    /// The paper's tuning 1/(1 + √(L/D)).
    pub fn printed_rate(d: f64, l: f64) -> f64 {
        1.0 / (1.0 + (l / d).sqrt())
    }

    /// The paper's conjectured tuning √(D/(D + 2L)).
    pub fn conjectured_rate(d: f64, l: f64) -> f64 {
        (d / (d + 2.0 * l)).sqrt()
    }

    /// What the experts lost.
    pub fn losses(&self) -> &Losses {
        &self.losses
    }

    /// Gives away everything that changes, as named arrays.
    pub fn save(&self, put: &mut dyn FnMut(&'static str, &[f64])) {
        keep(&self.watch, &[], put);
        self.losses.save(put);
    }

    /// Continues from what `save` gave, with the same bits.
    pub fn load(
        &mut self,
        get: &mut dyn FnMut(&'static str) -> Option<Vec<f64>>,
    ) -> Result<(), ConfigError> {
        let [] = restore(&mut self.watch, get)?;
        self.losses.load(get)
    }

    /// Against a sequence of experts with `switches` switches that loses `loss`.
    pub fn switching(&self, loss: f64, switches: u64) -> Certificate {
        let d = self.losses.divergence_of_sequence(switches, self.watch.rounds);
        let eta = self.watch.rate;
        let gain = 2.0 * eta - eta * eta;
        self.watch.issue(outward((-2.0 * Real::ln_1p(-eta) * loss + d) / gain - loss, loss / gain))
    }

    /// The tuned form: void unless the rate is [`ReparamHedge::rate`] and the comparators have divergence ≤ d and lose at most l.
    pub fn tuned(&self, u: &Comparator<'_>, d: f64, l: f64) -> Certificate {
        if let Some(refused) = self.watch.outside(u, Members::Probabilities) {
            return refused;
        }
        let rate = Self::rate(d, l);
        let (loss, divergence) = self.losses.most(u);
        if (rate - self.watch.rate).abs() > 1e-12 * rate {
            return self.watch.refuse(TUNED, self.watch.rate);
        }
        if loss > l * (1.0 + 1e-13) {
            return self.watch.refuse(MOST_LOSS, loss);
        }
        if divergence > d * (1.0 + 1e-13) {
            return self.watch.refuse(MOST_DIVERGENCE, divergence);
        }
        self.watch.issue(outward((2.0 * l * d).sqrt() + divergence, 0.0))
    }
}

impl Bound for ReparamHedge {
    fn observe<F: Real, X: Row<F>>(&mut self, round: &Round, x: X) {
        self.watch.round(round);
        self.watch.constant_rate(round.rate);
        self.watch.demand(BELOW, round.rate < 1.0, round.rate);
        losses::dot(&mut self.watch, round);
        self.losses.row(x, &mut self.watch);
    }

    fn certify(&self, u: &Comparator<'_>) -> Certificate {
        if let Some(refused) = self.watch.outside(u, Members::Probabilities) {
            return refused;
        }
        if self.watch.rounds == 0 {
            return self.watch.issue(0.0);
        }
        let eta = self.watch.rate;
        let gain = 2.0 * eta - eta * eta;
        let factors = [-2.0 * Real::ln_1p(-eta) / gain - 1.0, 0.0, gain.recip()];
        let bound = self.losses.worst(u, factors, self.watch.rounds);
        self.watch.issue(outward(bound, self.watch.loss.upper()))
    }
}
