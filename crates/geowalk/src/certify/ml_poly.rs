//! # ML-Poly
//! Weights that need no rate: with the regrets $R_{t,i} = \sum_{s\le t} r_{s,i}$, $r_{t,i} = g_t(z_t - x_{t,i})$, against
//! each expert, and $\eta_{t,i} = 1/(B_t + \sum_{s \le t} r_{s,i}^2)$, B the largest $r^2$ so far,
//! $$w_{t+1,i} \propto \eta_{t,i}\,(R_{t,i})_+, \qquad R_{T,i} \;\le\; \sqrt{P\,\bigl(B_T + \textstyle\sum_t r_{t,i}^2\bigr)},
//! \qquad P = \sum_t (\Phi_t - \Phi_{t-1})_+, \quad \Phi_t = \sum_i \eta_{t,i}(R_{t,i})_+^2$$
//! and against a convex combination u the mean of these under u. P is measured; beforehand
//! $\Phi_t - \Phi_{t-1} \le \sum_i\eta_{t-1,i}r_{t,i}^2$, so that P is about n(1 + ln T) at most: an expert that differs little
//! from the learner is followed at little cost, whatever the range of the others.
//!
//! **Proof** $\eta_{T,i}(R_{T,i})_+^2 \le \Phi_T \le P$. Beforehand: $(R + r)_+^2 \le R_+^2 + 2R_+r + r^2$, rates fall, and
//! $\sum_i\eta_{t-1,i}(R_{t-1,i})_+r_{t,i} = 0$ by the choice of the weights. **Cost** O(n). **Care** rule and bound in
//! one. An expert behind the learner has the weight 0.
//! **Source** \[GSE14, sec. 4\], scale-free and with P measured.

use super::theorem::{
    AS_WRITTEN, CONVEX, FINITE, Get, Members, PROBABILITIES, Theorem, Watch, checked, declared,
    keep, outward, restore,
};
use super::{Bound, Certificate, Comparator, flat, sums};
use crate::Real;
use crate::error::ConfigError;
use crate::loss::Facts;
use crate::row::Row;
use crate::sum::Sum;
use crate::update::Round;

pub(super) const ALL: &str = "a forecast of every expert";

pub(super) const THEOREM: Theorem = Theorem {
    name: "ml-poly",
    premises: &[
        checked(ALL),
        checked(AS_WRITTEN),
        checked(FINITE),
        checked(PROBABILITIES),
        declared(CONVEX),
    ],
    bound: "sqrt(P (B + sum r_i^2)), P the rises of sum_i eta_i max(R_i, 0)^2, r_i = g (z - x_i)",
    source: "GSE14, sec. 4",
    correction: "any range of losses; P as it was on the run",
};

/// The regrets against all experts, which both rules of second order need.
#[derive(Debug, Clone)]
pub(super) struct Regrets {
    pub(super) watch: Watch,
    /// R.
    pub(super) sums: Vec<Sum>,
    /// Σ r².
    pub(super) squares: Vec<f64>,
    /// The largest |r|.
    pub(super) largest: f64,
    /// r of the round.
    pub(super) row: Vec<f64>,
    /// Σ|g|(|z| + max|x|), for rounding.
    pub(super) size: f64,
}

impl Regrets {
    pub(super) fn new(n: usize, watch: Watch) -> Self {
        let (sums, squares, row) = (vec![Sum::default(); n], vec![0.0; n], vec![0.0; n]);
        Self { watch, sums, squares, largest: 0.0, row, size: 0.0 }
    }

    /// Reads r of a round of forecasts x. Nothing is added yet.
    pub(super) fn read<F: Real, X: Row<F>>(&mut self, round: &Round, x: X) {
        self.watch.round(round);
        let (mut seen, mut most) = (0, 0.0);
        x.each(|i, x| {
            let x = x.f64();
            if let Some(place) = self.row.get_mut(i) {
                *place = round.slope * (round.z - x);
                most = Real::max(most, x.abs());
                seen += 1;
            }
        });
        let whole = seen == self.row.len() && x.bound() <= self.row.len();
        self.watch.demand(ALL, whole, seen as f64);
        self.size += round.slope.abs() * (round.z.abs() + most);
    }

    /// Adds r of the round to R and Σ r².
    pub(super) fn add(&mut self) {
        for ((sum, square), r) in self.sums.iter_mut().zip(&mut self.squares).zip(&self.row) {
            sum.add(*r);
            *square += r * r;
            self.largest = Real::max(self.largest, r.abs());
        }
    }

    /// The mean under u, or the largest for all u, of bounds on the regret against each expert.
    pub(super) fn certify(&self, u: &Comparator<'_>, of: impl Fn(usize) -> f64) -> Certificate {
        if let Some(refused) = self.watch.outside(u, Members::Probabilities) {
            return refused;
        }
        let n = self.row.len();
        // r is rounded as the prediction is, a sum of n products.
        let rounding = 16.0 * (n as f64 + 8.0) * f64::EPSILON * self.size;
        let bound = match *u {
            Comparator::Given(u) if u.len() <= n => {
                let weighed = |(i, u): (usize, &f64)| if *u > 0.0 { u * of(i) } else { 0.0 };
                u.iter().enumerate().map(weighed).sum()
            }
            Comparator::Simplex { n: all } if all == n => {
                (0..n).map(of).fold(f64::NEG_INFINITY, Real::max)
            }
            _ => f64::NAN,
        };
        self.watch.issue(outward(bound + rounding, 0.0))
    }

    pub(super) fn save(&self, more: &[f64], put: &mut dyn FnMut(&'static str, &[f64])) {
        let mut state = vec![self.largest, self.size];
        state.extend_from_slice(more);
        keep(&self.watch, &state, put);
        put("regrets", &flat(&self.sums));
        put("squares", &self.squares);
    }

    /// Continues from what `save` gave; N − 2 further numbers are given back.
    pub(super) fn load<const N: usize>(&mut self, get: Get<'_>) -> Result<[f64; N], ConfigError> {
        let state: [f64; N] = restore(&mut self.watch, get)?;
        (self.largest, self.size) = (state[0], state[1]);
        self.sums = sums(get("regrets"), self.row.len())?;
        self.squares = self.of_n("squares", get)?;
        Ok(state)
    }

    pub(super) fn of_n(&self, name: &'static str, get: Get<'_>) -> Result<Vec<f64>, ConfigError> {
        let missing = ConfigError::Missing { name: "experts", meaning: "the state of a game" };
        get(name).filter(|values| values.len() == self.row.len()).ok_or(missing)
    }
}

/// ML-Poly, and its bound.
///
/// ```
/// use geowalk::certify::{Bound, Comparator, MlPoly};
/// use geowalk::geometry::Event;
/// use geowalk::loss::{Loss, Squared};
/// use geowalk::row::Dense;
/// use geowalk::update::Round;
///
/// let mut rule = MlPoly::new(2, &Squared.facts());
/// let (mut own, mut second) = (0.0, 0.0);
/// for t in 0..500 {
///     let (y, x) = (f64::from(t % 5), [3.0, f64::from(t % 5) + 0.1]);
///     let z = rule.weights()[0] * x[0] + rule.weights()[1] * x[1];
///     let (loss, slope) = (Squared.value(z, y), Squared.slope(z, y));
///     (own, second) = (own + loss, second + 0.01);
///     rule.observe(&Round { z, loss, slope, rate: 0.0, length: 0.0, event: Event::Inside }, Dense(&x));
/// }
/// let certificate = rule.certify(&Comparator::Given(&[0.0, 1.0]));
/// assert!(own - second <= certificate.bound && certificate.bound < 40.0);
/// ```
#[derive(Debug, Clone)]
pub struct MlPoly {
    regrets: Regrets,
    /// P.
    p: Sum,
    w: Vec<f64>,
}

impl MlPoly {
    /// For n experts and a loss with these facts.
    pub fn new(n: usize, facts: &Facts) -> Self {
        let regrets = Regrets::new(n, Watch::convex(&THEOREM, facts));
        Self { regrets, p: Sum::default(), w: vec![1.0 / n as f64; n] }
    }

    /// The weights of the next round.
    pub fn weights(&self) -> &[f64] {
        &self.w
    }

    /// 1/η_i, which is 0 before anything differed.
    fn inverse(&self, i: usize) -> f64 {
        self.regrets.largest * self.regrets.largest + self.regrets.squares[i]
    }

    /// Φ.
    fn potential(&self) -> f64 {
        let of = |i: usize| {
            let ahead = Real::max(self.regrets.sums[i].total(), 0.0);
            if ahead > 0.0 { ahead * ahead / self.inverse(i) } else { 0.0 }
        };
        (0..self.w.len()).map(of).sum()
    }

    fn reweigh(&mut self) {
        let n = self.w.len();
        for i in 0..n {
            let ahead = Real::max(self.regrets.sums[i].total(), 0.0);
            self.w[i] = if ahead > 0.0 { ahead / self.inverse(i) } else { 0.0 };
        }
        let total: f64 = self.w.iter().sum();
        if total > 0.0 && total.is_finite() {
            self.w.iter_mut().for_each(|w| *w /= total);
        } else {
            // Nobody is ahead of the learner.
            self.w.fill(1.0 / n as f64);
        }
    }

    /// Gives away everything that changes, as named arrays.
    pub fn save(&self, put: &mut dyn FnMut(&'static str, &[f64])) {
        self.regrets.save(&self.p.save(), put);
    }

    /// Continues from what `save` gave, with the same bits.
    pub fn load(&mut self, get: Get<'_>) -> Result<(), ConfigError> {
        let [_, _, a, b, c, d] = self.regrets.load(get)?;
        self.p = Sum::load([a, b, c, d]);
        self.reweigh();
        Ok(())
    }
}

impl Bound for MlPoly {
    /// Sees the forecasts of all experts, and moves the weights.
    fn observe<F: Real, X: Row<F>>(&mut self, round: &Round, x: X) {
        let before = self.potential();
        self.regrets.read(round, x);
        self.regrets.add();
        self.p.add(Real::max(self.potential() - before, 0.0));
        self.reweigh();
    }

    fn compare(&mut self, round: &Round, prediction: f64, loss: f64) {
        self.regrets.watch.compare(round, prediction, loss);
    }

    fn certify(&self, u: &Comparator<'_>) -> Certificate {
        // Each rise is a difference of two rounded sums, none above P.
        let rounds = 16.0 * (self.w.len() as f64 + 4.0) * self.regrets.watch.rounds as f64;
        let p = self.p.upper() * (1.0 + 1e-12 + rounds * f64::EPSILON);
        self.regrets.certify(u, |i| (p * self.inverse(i) * (1.0 + 1e-12)).sqrt())
    }
}
