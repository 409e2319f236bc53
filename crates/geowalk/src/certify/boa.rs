//! # BOA: Bernstein online aggregation
//! Every expert has a rate, $\eta_{t,i} = \min\bigl(\tfrac1{2E_t}, \sqrt{\ln n/\sum_{s\le t}r_{s,i}^2}\bigr)$, with
//! $r_{t,i} = g_t(z_t - x_{t,i})$ and E the largest |r| so far, and
//! $$w_{t+1,i} \propto \eta_{t,i}\,e^{\eta_{t,i}L_{t,i}}, \qquad L_{t,i} = \sum_{s\le t} r_{s,i} - \epsilon_{s,i}r_{s,i}^2,
//! \quad \epsilon_{s,i} = \min\bigl(\eta_{s-1,i}, \tfrac1{2E_s}\bigr)$$
//! $$\sum_t r_{t,i} \;\le\; \sum_t\epsilon_{t,i}r_{t,i}^2 + \frac{\ln n + \ln W}{\eta_{T,i}}, \qquad
//! W = 1 + \sum_t (W_t - W_{t-1})_+, \quad W_t = \frac1n\sum_i e^{\eta_{t,i}L_{t,i}}$$
//! Against a convex combination u it is the mean under u. W is measured; beforehand it rises by at most
//! $\tfrac1{ne}\sum_i(\eta_{t-1,i}/\eta_{t,i} - 1)$ in a round in which E stays, so that ln W is about ln ln T.
//!
//! **Proof** $e^{\eta_{T,i}L_{T,i}} \le nW_T \le nW$. Beforehand: $e^{x-x^2} \le 1 + x$ for |x| ≤ ½, the weights make
//! $\sum_i\eta_{t-1,i}e^{\eta_{t-1,i}L_{t-1,i}}r_{t,i} = 0$, and $a \le a^b + (b-1)/e$ for $b = \eta_{t-1}/\eta_t \ge 1$.
//! **Cost** O(n). **Care** rule and bound in one. The paper knows the range E beforehand; here the range of the round
//! itself limits what a square costs, so that a first round of small differences does no harm.
//! **Source** \[Win17\]; the proof as for ML-Prod, \[GSE14\].

use super::ml_poly::{ALL, Regrets};
use super::theorem::{
    AS_WRITTEN, CONVEX, FINITE, Get, PROBABILITIES, Theorem, Watch, checked, declared,
};
use super::{Bound, Certificate, Comparator, flat, sums};
use crate::Real;
use crate::error::ConfigError;
use crate::loss::Facts;
use crate::row::Row;
use crate::sum::Sum;
use crate::update::Round;

pub(super) const THEOREM: Theorem = Theorem {
    name: "boa",
    premises: &[
        checked(ALL),
        checked(AS_WRITTEN),
        checked(FINITE),
        checked(PROBABILITIES),
        declared(CONVEX),
    ],
    bound: "sum eta_i r_i^2 + (ln n + ln W)/eta_i, r_i = g (z - x_i)",
    source: "Win17; GSE14",
    correction: "any range of losses, found on the way; W as it was on the run",
};

/// Bernstein online aggregation, and its bound.
///
/// ```
/// use geowalk::certify::{Boa, Bound, Comparator};
/// use geowalk::geometry::Event;
/// use geowalk::loss::{Loss, Squared};
/// use geowalk::row::Dense;
/// use geowalk::update::Round;
///
/// let mut rule = Boa::new(2, &Squared.facts());
/// let (mut own, mut second) = (0.0, 0.0);
/// for t in 0..500 {
///     let (y, x) = (f64::from(t % 5), [3.0, f64::from(t % 5) + 0.1]);
///     let z = rule.weights()[0] * x[0] + rule.weights()[1] * x[1];
///     let (loss, slope) = (Squared.value(z, y), Squared.slope(z, y));
///     (own, second) = (own + loss, second + 0.01);
///     rule.observe(&Round { z, loss, slope, rate: 0.0, length: 0.0, event: Event::Inside }, Dense(&x));
/// }
/// let certificate = rule.certify(&Comparator::Given(&[0.0, 1.0]));
/// assert!(own - second <= certificate.bound && certificate.bound < 60.0);
/// ```
#[derive(Debug, Clone)]
pub struct Boa {
    regrets: Regrets,
    /// η; 0 before anything differed.
    rates: Vec<f64>,
    /// Σ ε r².
    spent: Vec<Sum>,
    /// W − 1.
    rises: Sum,
    logs: Vec<f64>,
    w: Vec<f64>,
}

impl Boa {
    /// For n experts and a loss with these facts.
    pub fn new(n: usize, facts: &Facts) -> Self {
        let regrets = Regrets::new(n, Watch::convex(&THEOREM, facts));
        let (rates, spent, logs) = (vec![0.0; n], vec![Sum::default(); n], vec![0.0; n]);
        Self { regrets, rates, spent, rises: Sum::default(), logs, w: vec![1.0 / n as f64; n] }
    }

    /// The weights of the next round.
    pub fn weights(&self) -> &[f64] {
        &self.w
    }

    /// Their logarithms, up to a common constant.
    pub fn logarithms(&self) -> &[f64] {
        &self.logs
    }

    /// η L of an expert.
    fn exponent(&self, i: usize) -> f64 {
        self.rates[i] * self.regrets.sums[i].less(&self.spent[i])
    }

    /// W_t.
    fn potential(&self) -> f64 {
        let n = self.w.len();
        (0..n).map(|i| Real::exp(self.exponent(i))).sum::<f64>() / n as f64
    }

    fn reweigh(&mut self) {
        if self.rates.contains(&0.0) {
            return;
        }
        for i in 0..self.w.len() {
            self.logs[i] = Real::ln(self.rates[i]) + self.exponent(i);
        }
        let top = self.logs.iter().copied().fold(f64::NEG_INFINITY, Real::max);
        for (w, log) in self.w.iter_mut().zip(&mut self.logs) {
            *log -= top;
            *w = Real::exp(*log);
        }
        let total: f64 = self.w.iter().sum();
        self.w.iter_mut().for_each(|w| *w /= total);
    }

    /// Gives away everything that changes, as named arrays.
    pub fn save(&self, put: &mut dyn FnMut(&'static str, &[f64])) {
        self.regrets.save(&self.rises.save(), put);
        put("rates", &self.rates);
        put("spent", &flat(&self.spent));
    }

    /// Continues from what `save` gave, with the same bits.
    pub fn load(&mut self, get: Get<'_>) -> Result<(), ConfigError> {
        let [_, _, a, b, c, d] = self.regrets.load(get)?;
        self.rises = Sum::load([a, b, c, d]);
        self.rates = self.regrets.of_n("rates", get)?;
        self.spent = sums(get("spent"), self.w.len())?;
        self.reweigh();
        Ok(())
    }
}

impl Bound for Boa {
    /// Sees the forecasts of all experts, and moves the weights.
    fn observe<F: Real, X: Row<F>>(&mut self, round: &Round, x: X) {
        let before = self.potential();
        self.regrets.read(round, x);
        let largest = self.regrets.row.iter().fold(0.0, |most, r| Real::max(most, r.abs()));
        if self.regrets.largest == 0.0 {
            if largest == 0.0 {
                // Nothing differs: nothing is learned.
                self.regrets.add();
                return;
            }
            // The even weights of the first round are those of any one rate.
            self.rates.fill(0.5 / largest);
        }
        self.regrets.add();
        let log = Real::ln(self.w.len().max(2) as f64);
        for (i, rate) in self.rates.iter_mut().enumerate() {
            let (r, square) = (self.regrets.row[i], self.regrets.squares[i]);
            let mut next = Real::min(*rate, 0.5 / self.regrets.largest);
            self.spent[i].add(next * r * r);
            if square > 0.0 {
                next = Real::min(next, (log / square).sqrt());
            }
            *rate = next;
        }
        self.rises.add(Real::max(self.potential() - before, 0.0));
        self.reweigh();
    }

    fn compare(&mut self, round: &Round, prediction: f64, loss: f64) {
        self.regrets.watch.compare(round, prediction, loss);
    }

    fn certify(&self, u: &Comparator<'_>) -> Certificate {
        let n = self.w.len() as f64;
        // Each rise is a difference of two rounded sums, none above W.
        let rounding = 1e-13 * (n + 8.0) * self.regrets.watch.rounds as f64;
        let w = self.rises.upper() * (1.0 + rounding) + rounding;
        let log = Real::ln(n) + Real::ln_1p(w);
        self.regrets.certify(u, |i| {
            let rate = self.rates[i];
            if rate > 0.0 { (self.spent[i].upper() + log / rate) * (1.0 + 1e-12) } else { 0.0 }
        })
    }
}
