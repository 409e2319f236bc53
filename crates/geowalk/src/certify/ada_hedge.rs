//! # AdaHedge
//! Hedge with the rate $\eta_t = \ln n/\Delta_{t-1}$, where Δ is the sum of the mixability gaps $\delta_t = \tfrac1{\eta_t}\ln\sum_i w_{t,i}e^{-\eta_t(\ell_{t,i} - \langle w_t, \ell_t\rangle)} \ge 0$, and
//! $w_t \propto e^{-\eta_t L_{t-1}}$. For losses of *any* range and sign, known to nobody beforehand, against every probability vector:
//! $$\sum_t \langle w_t, \ell_t\rangle - L_u \;\le\; \Delta_T + \Delta_{T-1}$$
//! Adding constants to losses or multiplying them by one changes no weight. On linearised losses $g_t x_{t,i}$ it is EG without a rate, and the bound is against every convex
//! combination of forecasts.
//!
//! **Proof** The loss is the mix loss plus Δ, and the mix loss with falling rates is at most $L_u + \ln n/\eta_T$, $\eta_T = \ln n/\Delta_{T-1}$. **Cost** O(n).
//! **Care** the struct is rule and bound in one: the weights come from [`AdaHedge::weights`]. All weights are
//! made anew from the exact losses, so none dies. While there was no gap the rate is infinite: the leaders
//! share the weight, and the mix loss is what the least sum grows by. Gaps are worked out from differences of
//! losses, so that equal losses leave exactly none.
//! **Source** \[REGK14, sec. 2\].

use super::losses::{Losses, NO_MORE};
use super::shared_hedge::beyond_linear;
use super::theorem::{
    AS_WRITTEN, CONVEX, FINITE, Members, PROBABILITIES, Theorem, Watch, checked, declared, keep,
    outward, restore,
};
use super::{Bound, Certificate, Comparator};
use crate::Real;
use crate::error::ConfigError;
use crate::loss::Facts;
use crate::row::Row;
use crate::sum::Sum;
use crate::update::Round;

const OWN: &str = "a loss no larger than the mean under its weights";
const ALL: &str = "a loss of every expert";

pub(super) const THEOREM: Theorem = Theorem {
    name: "ada-hedge",
    premises: &[
        checked(OWN),
        checked(ALL),
        checked(NO_MORE),
        checked(AS_WRITTEN),
        checked(FINITE),
        checked(PROBABILITIES),
        declared(CONVEX),
    ],
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
    /// What the weights were divided by.
    total: f64,
    /// The losses of the round.
    row: Vec<f64>,
}

impl AdaHedge {
    /// For n experts.
    pub fn new(n: usize) -> Result<Self, ConfigError> {
        let w = vec![1.0 / n as f64; n];
        let losses = Losses::new(&w, 0.0)?;
        let (watch, gaps, total) = (Watch::new(&THEOREM), Sum::default(), n as f64);
        Ok(Self { losses, watch, gaps, before: 0.0, total, row: vec![0.0; n], w })
    }

    /// On the linearised losses $g_t x_{t,i}$ of a loss with these facts: what is true of them is true of the
    /// loss if it is convex.
    pub fn linearised(n: usize, facts: &Facts) -> Result<Self, ConfigError> {
        Ok(Self { watch: Watch::convex(&THEOREM, facts), ..Self::new(n)? })
    }

    /// The rate of the next round, ln n/Δ; infinite while there was no gap.
    pub fn rate(&self) -> f64 {
        let (n, gaps) = (self.losses.experts(), self.gaps.total());
        if n > 1 && gaps > 0.0 { Real::ln(n as f64) / gaps } else { f64::INFINITY }
    }

    /// An expert that nobody is ahead of.
    fn leader(&self) -> usize {
        let all = 1..self.losses.experts();
        all.fold(0, |best, i| if self.losses.behind(i, best) < 0.0 { i } else { best })
    }

    /// out ← the weights of the next round.
    pub fn weights(&self, out: &mut Vec<f64>) {
        out.clone_from(&self.w);
    }

    /// out ← the logarithms of the weights, up to a common constant; also where weights are too small to be represented.
    pub fn logarithms(&self, out: &mut Vec<f64>) {
        let (rate, leader) = (self.rate(), self.leader());
        out.clear();
        out.extend((0..self.losses.experts()).map(|i| {
            let behind = self.losses.behind(i, leader);
            // An infinite rate follows the leaders.
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
        self.reweigh();
        Ok(())
    }

    fn reweigh(&mut self) {
        let mut w = std::mem::take(&mut self.w);
        self.logarithms(&mut w);
        for w in &mut w {
            *w = Real::exp(*w);
        }
        self.total = w.iter().sum();
        for w in &mut w {
            *w /= self.total;
        }
        self.w = w;
    }

    /// The least loss of the round, the mean under the weights beyond that, and the gap between the mean and
    /// the mix loss at this rate.
    fn round(&self, rate: f64) -> (f64, f64, f64) {
        let least = self.row.iter().copied().fold(f64::INFINITY, Real::min);
        let spread = self.row.iter().fold(0.0, |spread, loss| Real::max(spread, loss - least));
        let mean: f64 = self.w.iter().zip(&self.row).map(|(w, loss)| w * (loss - least)).sum();
        if rate * spread <= 1.0 {
            let beyond = |loss: &f64| beyond_linear(-rate * ((loss - least) - mean));
            let terms = self.w.iter().zip(&self.row).map(|(w, loss)| w * beyond(loss));
            let mixed: f64 = terms.sum();
            let gap = if spread > 0.0 { Real::ln_1p(mixed) / rate } else { 0.0 };
            return (least, mean, gap);
        }
        // In units of the losses: rates may be as large as numbers are.
        let leader = self.leader();
        let after = |(i, loss): (usize, &f64)| self.losses.behind(i, leader) + (loss - least);
        let all = || self.row.iter().enumerate().map(after);
        let ahead = all().fold(f64::INFINITY, Real::min);
        let mix = if rate.is_finite() {
            let part = |after: f64| {
                if after > ahead { Real::exp(-rate * (after - ahead)) } else { 1.0 }
            };
            let total: f64 = all().map(part).sum();
            ahead - (Real::ln(total) - Real::ln(self.total)) / rate
        } else {
            ahead
        };
        (least, mean, mean - mix)
    }
}

impl Bound for AdaHedge {
    /// Sees the losses of all experts, and moves the weights.
    fn observe<F: Real, X: Row<F>>(&mut self, round: &Round, x: X) {
        self.watch.round(round);
        let n = self.w.len();
        self.watch.demand(NO_MORE, x.bound() <= n, x.bound() as f64);
        let mut seen = 0;
        x.each(|i, x| {
            if let Some(place) = self.row.get_mut(i) {
                *place = x.f64();
                seen += 1;
            }
        });
        self.watch.demand(ALL, seen == n, seen as f64);
        let size = self.row.iter().fold(0.0, |size, loss| Real::max(size, loss.abs()));
        let (least, mean, gap) = self.round(self.rate());
        let above = round.loss - (least + mean);
        self.watch.demand(OWN, above <= 1e-12 * (1.0 + n as f64) * size, above);
        for (i, loss) in self.row.iter().enumerate() {
            self.losses.add(i, *loss);
        }
        self.before = self.gaps.total();
        // By as much as the loss was rounded up the gap is larger.
        self.gaps.add(Real::max(gap, 0.0) + Real::max(above, 0.0));
        self.reweigh();
    }

    fn compare(&mut self, round: &Round, prediction: f64, loss: f64) {
        self.watch.compare(round, prediction, loss);
    }

    fn certify(&self, u: &Comparator<'_>) -> Certificate {
        if let Some(refused) = self.watch.outside(u, Members::Probabilities) {
            return refused;
        }
        let known = match *u {
            Comparator::Given(u) => u.len() <= self.w.len(),
            Comparator::Simplex { n } => n == self.w.len(),
            _ => false,
        };
        // Means and mix losses are sums of n rounded products of losses and weights.
        let rounding = 16.0 * (self.w.len() as f64 + 8.0) * f64::EPSILON * self.losses.magnitude();
        let bound = outward(self.gaps.upper() + self.before + rounding, 0.0);
        self.watch.issue(if known { bound } else { f64::NAN })
    }
}
