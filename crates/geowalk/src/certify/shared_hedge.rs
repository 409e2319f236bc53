//! # Hedge with shares, at falling rates
//! $v_i \propto w_{t,i} e^{-\eta_t \ell_{t,i}}$, $w_{t+1} = (1 - \alpha)v + \alpha/n$, for losses of any range and sign and
//! rates $\eta_1 \ge \eta_2 \ge \dots$. With the mixability gaps $\delta_t = \langle w_t, \ell_t\rangle +
//! \tfrac1{\eta_t}\ln\sum_i w_{t,i}e^{-\eta_t\ell_{t,i}} \ge 0$, against every sequence of experts with m switches:
//! $$\sum_t \langle w_t, \ell_t\rangle - \ell_{t,i_t} \;\le\; \sum_t\delta_t + \frac{\ln n}{\eta_1} +
//! \Bigl(\frac{1+m}{\eta_T} - \frac1{\eta_1}\Bigr)\ln\frac n\alpha - \sum_{t<T}\frac{\ln(1-\alpha)}{\eta_t}$$
//! m = 0 is the bound against every expert, and so against every probability vector. Without a rate
//! $\eta_t = K_t/(\Delta_{t-1} + s)$, never rising, where Δ is the sum of the gaps, s the range of the first losses that
//! differ, and $K_t = \ln n + (t-1)(\alpha\ln(n/\alpha) - \ln(1-\alpha))$ counts the switches that the share expects.
//!
//! **Proof** The mix loss less that of $i_t$ is $\tfrac1{\eta_t}\ln(v_{i_t}/w_{t,i_t})$, and
//! $\ln v_i \le \ln w_{t+1,i} - \ln(1-\alpha)$. Within a stretch on one expert the sum over t is at most
//! $-\ln w_s/\eta_s + \ln(n/\alpha)(1/\eta_e - 1/\eta_s)$ by parts, as all logarithms are in [−ln(n/α), 0] and rates fall;
//! a stretch begins with at least α/n, the first with 1/n. **Cost** O(n). **Care** rule and bound in one.
//! **Source** shares \[HW98\]; gaps \[REGK14\]; falling rates \[CGLS12\].

use super::losses::NO_MORE;
use super::theorem::{
    AS_WRITTEN, CONVEX, FINITE, Get, Members, PROBABILITIES, Theorem, Watch, checked, declared,
    keep, outward, restore,
};
use super::weights::Weights;
use super::{Bound, Certificate, Comparator};
use crate::Real;
use crate::error::{self, Allowed, ConfigError};
use crate::loss::Facts;
use crate::row::Row;
use crate::sum::Sum;
use crate::update::Round;

const OWN: &str = "a loss no larger than the mean under its weights";
const ALL: &str = "a loss of every expert";

pub(super) const THEOREM: Theorem = Theorem {
    name: "shared-hedge",
    premises: &[
        checked(OWN),
        checked(ALL),
        checked(NO_MORE),
        checked(AS_WRITTEN),
        checked(FINITE),
        checked(PROBABILITIES),
        declared(CONVEX),
    ],
    bound: "Delta + ln n/eta_1 + ((1+m)/eta_T - 1/eta_1) ln(n/a) - ln(1-a) sum 1/eta_t, share a, m switches",
    source: "HW98; REGK14; CGLS12",
    correction: "",
};

/// Hedge with shares at a given rate or at one that follows the gaps, and its bound.
///
/// ```
/// use geowalk::certify::{Bound, Comparator, SharedHedge, Status};
/// use geowalk::geometry::Event;
/// use geowalk::row::Dense;
/// use geowalk::update::Round;
///
/// // The better of two experts changes after 500 rounds.
/// let mut hedge = SharedHedge::new(2, 0.01, None)?;
/// for t in 0..1000 {
///     let losses = if t < 500 { [0.0, 1.0] } else { [1.0, 0.0] };
///     let z = hedge.weights()[0] * losses[0] + hedge.weights()[1] * losses[1];
///     let (slope, rate, length, event) = (1.0, hedge.rate(), 0.0, Event::Inside);
///     hedge.observe(&Round { z, loss: z, slope, rate, length, event }, Dense(&losses));
/// }
/// // The sequence 1, …, 1, 2, …, 2 loses nothing: the regret is the loss.
/// let certificate = hedge.switching(1);
/// assert_eq!(certificate.status, Status::Valid);
/// assert!(certificate.loss <= certificate.bound && certificate.bound < 150.0);
/// # Ok::<(), geowalk::ConfigError>(())
/// ```
#[derive(Debug, Clone)]
pub struct SharedHedge {
    weights: Weights,
    share: f64,
    watch: Watch,
    /// Its rate does not change.
    is_fixed: bool,
    /// The rate of the last round; 0 before any losses differed.
    rate: f64,
    /// 1/η₁.
    first: f64,
    /// s, the range of the first losses that differed.
    range: f64,
    /// Δ.
    gaps: Sum,
    /// Σ 1/η_t.
    inverse: Sum,
    /// Σ max|ℓ_t|, for rounding.
    size: f64,
    /// The losses of the round.
    row: Vec<f64>,
}

impl SharedHedge {
    /// For n experts; a part `share` of the weight is spread evenly after each round. Without a rate it follows the gaps.
    pub fn new(n: usize, share: f64, rate: Option<f64>) -> Result<Self, ConfigError> {
        error::parameter("share", share, Allowed::Open(0.0, 1.0))?;
        if let Some(rate) = rate {
            error::parameter("rate", rate, Allowed::Positive)?;
        }
        let fixed = rate.unwrap_or(0.0);
        Ok(Self {
            weights: Weights::new(n),
            share,
            watch: Watch::new(&THEOREM),
            is_fixed: rate.is_some(),
            rate: fixed,
            first: if fixed > 0.0 { fixed.recip() } else { 0.0 },
            range: 0.0,
            gaps: Sum::default(),
            inverse: Sum::default(),
            size: 0.0,
            row: vec![0.0; n],
        })
    }

    /// On the linearised losses $g_t x_{t,i}$ of a loss with these facts.
    pub fn linearised(
        n: usize,
        share: f64,
        rate: Option<f64>,
        facts: &Facts,
    ) -> Result<Self, ConfigError> {
        Ok(Self { watch: Watch::convex(&THEOREM, facts), ..Self::new(n, share, rate)? })
    }

    /// The weights of the next round.
    pub fn weights(&self) -> &[f64] {
        self.weights.read()
    }

    /// Their logarithms.
    pub fn logarithms(&self) -> &[f64] {
        self.weights.logarithms()
    }

    /// The rate of the last round; infinite while it is not known because no losses differed.
    pub fn rate(&self) -> f64 {
        if self.rate > 0.0 { self.rate } else { f64::INFINITY }
    }

    /// ln(n/α).
    fn floor(&self) -> f64 {
        Real::ln(self.row.len() as f64 / self.share)
    }

    /// K_t.
    fn budget(&self) -> f64 {
        let n = self.row.len().max(2) as f64;
        let each = self.share * self.floor() - Real::ln_1p(-self.share);
        Real::ln(n) + (self.watch.rounds.max(1) - 1) as f64 * each
    }

    /// Against a sequence of experts with `switches` switches, whatever it lost.
    pub fn switching(&self, switches: u64) -> Certificate {
        if switches >= self.watch.rounds.max(1) {
            return self.watch.issue(f64::NAN);
        }
        self.watch.issue(self.bound(switches))
    }

    fn bound(&self, switches: u64) -> f64 {
        let n = self.row.len() as f64;
        if self.rate == 0.0 {
            // No losses ever differed.
            return outward(0.0, self.size);
        }
        let (floor, last) = (self.floor(), self.rate.recip());
        let stretches = (1.0 + switches as f64) * last - self.first;
        let shares = -Real::ln_1p(-self.share) * self.inverse.upper();
        let bound = self.gaps.upper() + Real::ln(n) * self.first + floor * stretches + shares;
        // Means and mix losses are sums of n rounded products; logarithms are rounded as they are multiplied.
        let rounding = 16.0 * (n + 8.0) * f64::EPSILON;
        let logs = rounding * (1.0 + floor) * self.inverse.upper();
        outward(bound + rounding * self.size + logs, 0.0)
    }

    /// Gives away everything that changes, as named arrays.
    pub fn save(&self, put: &mut dyn FnMut(&'static str, &[f64])) {
        let mut more = vec![self.rate, self.first, self.range, self.size];
        more.extend(self.gaps.save());
        more.extend(self.inverse.save());
        keep(&self.watch, &more, put);
        put("weights", self.weights.read());
        put("logarithms", self.weights.logarithms());
    }

    /// Continues from what `save` gave, with the same bits.
    pub fn load(&mut self, get: Get<'_>) -> Result<(), ConfigError> {
        let [rate, first, range, size, a, b, c, d, e, f, g, h] = restore(&mut self.watch, get)?;
        (self.rate, self.first, self.range, self.size) = (rate, first, range, size);
        (self.gaps, self.inverse) = (Sum::load([a, b, c, d]), Sum::load([e, f, g, h]));
        let missing = ConfigError::Missing { name: "weights", meaning: "the weights of experts" };
        let n = self.row.len();
        let mut own = |name| get(name).filter(|values| values.len() == n).ok_or(missing.clone());
        self.weights.restore(own("weights")?, own("logarithms")?);
        Ok(())
    }
}

impl Bound for SharedHedge {
    /// Sees the losses of all experts, and moves the weights.
    fn observe<F: Real, X: Row<F>>(&mut self, round: &Round, x: X) {
        self.watch.round(round);
        let n = self.row.len();
        self.watch.demand(NO_MORE, x.bound() <= n, x.bound() as f64);
        let mut seen = 0;
        x.each(|i, x| {
            if let Some(place) = self.row.get_mut(i) {
                *place = x.f64();
                seen += 1;
            }
        });
        self.watch.demand(ALL, seen == n, seen as f64);
        let least = self.row.iter().copied().fold(f64::INFINITY, Real::min);
        let spread = self.row.iter().fold(0.0, |spread, loss| Real::max(spread, loss - least));
        let size = self.row.iter().fold(0.0, |size, loss| Real::max(size, loss.abs()));
        let w = self.weights.read();
        let mean: f64 = w.iter().zip(&self.row).map(|(w, loss)| w * (loss - least)).sum();
        let above = round.loss - (least + mean);
        self.watch.demand(OWN, above <= 1e-12 * (1.0 + n as f64) * size, above);
        self.size += size;
        if !self.is_fixed && spread > 0.0 {
            if self.rate == 0.0 {
                self.range = spread;
            }
            let rate = self.budget() / (self.gaps.total() + self.range);
            if self.rate == 0.0 {
                (self.rate, self.first) = (rate, rate.recip());
            }
            self.rate = Real::min(self.rate, rate);
        }
        if self.rate > 0.0 {
            let rate = self.rate;
            let gap = if rate * spread <= 1.0 {
                let beyond = |loss: &f64| beyond_linear(-rate * ((loss - least) - mean));
                let mixed: f64 = w.iter().zip(&self.row).map(|(w, loss)| w * beyond(loss)).sum();
                Real::ln_1p(mixed) / rate
            } else {
                let part = |(w, loss): (&f64, &f64)| w * Real::exp(-rate * (loss - least));
                mean + Real::ln(w.iter().zip(&self.row).map(part).sum::<f64>()) / rate
            };
            self.gaps.add(Real::max(gap, 0.0));
            self.inverse.add(rate.recip());
            let logs = self.row.iter().map(|loss| -rate * (loss - least));
            self.weights.multiply(logs, self.share);
        }
        // By as much as the loss was rounded up the gap is larger.
        self.gaps.add(Real::max(above, 0.0));
    }

    fn compare(&mut self, round: &Round, prediction: f64, loss: f64) {
        self.watch.compare(round, prediction, loss);
    }

    fn certify(&self, u: &Comparator<'_>) -> Certificate {
        if let Some(refused) = self.watch.outside(u, Members::Probabilities) {
            return refused;
        }
        let known = match *u {
            Comparator::Given(u) => u.len() <= self.row.len(),
            Comparator::Simplex { n } => n == self.row.len(),
            _ => false,
        };
        self.watch.issue(if known { self.bound(0) } else { f64::NAN })
    }
}

/// e^s − 1 − s, without cancellation near 0.
pub(super) fn beyond_linear(s: f64) -> f64 {
    if s.abs() < 1e-2 {
        s * s * (0.5 + s * (1.0 / 6.0 + s * (1.0 / 24.0 + s * (1.0 / 120.0 + s / 720.0))))
    } else {
        Real::exp_m1(s) - s
    }
}
