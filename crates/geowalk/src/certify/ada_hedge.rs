//! # AdaHedge
//! Hedge with the rate $\eta_t = \ln n/\Delta_{t-1}$, where Δ is the sum of the mixability gaps $\delta_t = \tfrac1{\eta_t}\ln\sum_i w_{t,i}e^{-\eta_t(\ell_{t,i} - \langle w_t, \ell_t\rangle)} \ge 0$, and
//! $w_t \propto e^{-\eta_t L_{t-1}}$. For losses of *any* range and sign, known to nobody beforehand, against every probability vector:
//! $$\sum_t \langle w_t, \ell_t\rangle - L_u \;\le\; \Delta_T + \Delta_{T-1}$$
//! Adding constants to losses or multiplying them by one changes no weight. On linearised losses $g_t x_{t,i}$ it is EG without a rate, and the bound is against every convex
//! combination of forecasts.
//!
//! **Proof** The loss is the mix loss plus Δ, and the mix loss with falling rates is at most $L_u + \ln n/\eta_T$, $\eta_T = \ln n/\Delta_{T-1}$. **Cost** O(n).
//! **Care** the struct is rule and bound in one: the weights come from [`AdaHedge::weights`]. All weights are made anew from the exact losses, so none dies.
//! **Source** \[REGK14, sec. 2\].

use super::losses::{Losses, NO_MORE};
use super::theorem::{AS_WRITTEN, FINITE, Theorem, Watch, checked, keep, outward, restore};
use super::{Bound, Certificate, Comparator};
use crate::Real;
use crate::error::ConfigError;
use crate::row::Row;
use crate::sum::Sum;
use crate::update::Round;

const OWN: &str = "a loss no larger than the mean under its weights";
const ALL: &str = "a loss of every expert";

pub(super) const THEOREM: Theorem = Theorem {
    name: "ada-hedge",
    premises: &[checked(OWN), checked(ALL), checked(NO_MORE), checked(AS_WRITTEN), checked(FINITE)],
    bound: "Delta_T + Delta_T-1, the sums of the mixability gaps",
    source: "REGK14, sec. 2",
    correction: "",
};

/// Hedge without a rate, and its bound.
///
/// ```
/// use geowalk::certify::{AdaHedge, Bound, Comparator};
/// use geowalk::geometry::Event;
/// use geowalk::row::Dense;
/// use geowalk::update::Round;
///
/// let mut hedge = AdaHedge::new(2)?;
/// let mut w = Vec::new();
/// for t in 0..1000 {
///     let losses = if t % 2 == 0 { [7e9, 9e9] } else { [9e9, 7e9] };
///     hedge.weights(&mut w);
///     let z = w[0] * losses[0] + w[1] * losses[1];
///     let (slope, rate, length, event) = (1.0, hedge.rate(), 0.0, Event::Inside);
///     hedge.observe(&Round { z, loss: z, slope, rate, length, event }, Dense(&losses));
/// }
/// let certificate = hedge.certify(&Comparator::Simplex { n: 2 });
/// let regret = certificate.loss - hedge.losses().best().unwrap().1;
/// assert!(regret <= certificate.bound && certificate.bound < 60.0 * 2e9);
/// # Ok::<(), geowalk::ConfigError>(())
/// ```
#[derive(Debug, Clone)]
pub struct AdaHedge {
    losses: Losses,
    watch: Watch,
    /// Δ.
    gaps: Sum,
    /// Δ before the last round.
    before: f64,
    w: Vec<f64>,
}

impl AdaHedge {
    /// For n experts.
    pub fn new(n: usize) -> Result<Self, ConfigError> {
        let w = vec![1.0 / n as f64; n];
        let losses = Losses::new(&w, 0.0)?;
        Ok(Self { losses, watch: Watch::new(&THEOREM), gaps: Sum::default(), before: 0.0, w })
    }

    /// The rate of the next round, ln n/Δ; infinite while there was no gap.
    pub fn rate(&self) -> f64 {
        Real::ln(self.losses.experts() as f64) / self.gaps.total()
    }

    /// out ← the weights of the next round.
    pub fn weights(&self, out: &mut Vec<f64>) {
        out.clone_from(&self.w);
    }

    /// out ← the logarithms of the weights, up to a common constant; also where weights are too small to be represented.
    pub fn logarithms(&self, out: &mut Vec<f64>) {
        let (rate, least) = (self.rate(), self.losses.best().map_or(0.0, |(_, least)| least));
        out.clear();
        out.extend((0..self.losses.experts()).map(|i| {
            let behind = self.losses.of(i) - least;
            if behind == 0.0 { 0.0 } else { -rate * behind }
        }));
    }

    /// What the experts lost.
    pub fn losses(&self) -> &Losses {
        &self.losses
    }

    /// Gives away everything that changes, as named arrays.
    pub fn save(&self, put: &mut dyn FnMut(&'static str, &[f64])) {
        let [a, b, c, d] = self.gaps.save();
        keep(&self.watch, &[a, b, c, d, self.before], put);
        self.losses.save(put);
    }

    /// Continues from what `save` gave, with the same bits.
    pub fn load(
        &mut self,
        get: &mut dyn FnMut(&'static str) -> Option<Vec<f64>>,
    ) -> Result<(), ConfigError> {
        let [a, b, c, d, before] = restore(&mut self.watch, get)?;
        (self.gaps, self.before) = (Sum::load([a, b, c, d]), before);
        self.losses.load(get)?;
        if self.watch.rounds > 0 {
            self.reweigh();
        }
        Ok(())
    }

    fn reweigh(&mut self) {
        let mut w = std::mem::take(&mut self.w);
        // An infinite rate follows the leaders.
        self.logarithms(&mut w);
        for w in &mut w {
            *w = Real::exp(*w);
        }
        let total: f64 = w.iter().sum();
        for w in &mut w {
            *w /= total;
        }
        self.w = w;
    }
}

/// e^s − 1 − s, without cancellation near 0.
fn beyond_linear(s: f64) -> f64 {
    if s.abs() < 1e-2 {
        s * s * (0.5 + s * (1.0 / 6.0 + s * (1.0 / 24.0 + s * (1.0 / 120.0 + s / 720.0))))
    } else {
        Real::exp_m1(s) - s
    }
}

impl Bound for AdaHedge {
    /// Sees the losses of all experts, and moves the weights.
    fn observe<F: Real, X: Row<F>>(&mut self, round: &Round, x: X) {
        self.watch.round(round);
        let n = self.w.len();
        self.watch.demand(NO_MORE, x.bound() <= n, x.bound() as f64);
        let rate = self.rate();
        let least = self.losses.best().map_or(0.0, |(_, least)| least);
        let (mut mean, mut seen, mut size) = (0.0, 0, 0.0);
        x.each(|i, x| {
            mean += self.w.get(i).copied().unwrap_or(0.0) * x.f64();
            size = Real::max(size, x.f64().abs());
            seen += 1;
        });
        self.watch.demand(ALL, seen == n, seen as f64);
        let slack = 1e-12 * (1.0 + n as f64) * size;
        self.watch.demand(OWN, round.loss <= mean + slack, round.loss - mean);
        let mut mixed = 0.0;
        x.each(|i, x| {
            let loss = x.f64();
            if rate.is_finite() {
                mixed +=
                    self.w.get(i).copied().unwrap_or(0.0) * beyond_linear(-rate * (loss - mean));
            }
            self.losses.add(i, loss);
        });
        let gap = if rate.is_finite() {
            Real::ln_1p(mixed) / rate
        } else {
            // The mix loss at an infinite rate is what the leader's loss grows by.
            mean - (self.losses.best().map_or(0.0, |(_, least)| least) - least)
        };
        self.before = self.gaps.total();
        // What rounding can have done to the mean is added, so that the sum is not below the exact one.
        self.gaps.add(Real::max(gap, 0.0) + 4.0 * f64::EPSILON * size);
        self.reweigh();
    }

    fn certify(&self, u: &Comparator<'_>) -> Certificate {
        let known = match *u {
            Comparator::Given(u) => {
                u.len() <= self.w.len() && (u.iter().sum::<f64>() - 1.0).abs() < 1e-9
            }
            Comparator::Simplex { n } => n == self.w.len(),
            _ => false,
        };
        let bound = outward(self.gaps.upper() + self.before, 0.0);
        self.watch.issue(if known { bound } else { f64::NAN })
    }
}
