//! # Where weights began
//! Features may come at any time. Weights that do not depend on each other (positive ones, those of p-norms) are then as if the feature had been there from the beginning, with the value 0: a theorem need not know beforehand how many
//! there will be, and the [`Start`] says with what weight each of them begins. On the simplex a new feature takes its share from the others, and the rounds before it were played on a smaller simplex: there all features must
//! be in the first row, and a new one breaks the theorem.

use std::borrow::Cow;

use super::Comparator;
use super::losses::NO_MORE;
use super::theorem::{Members, Watch, farthest_entropy, farthest_vertex, sum_of_gaps};
use crate::Real;
use crate::geometry::generators::gap;
use crate::sum::Sum;

/// The weights at the start.
///
/// ```
/// use geowalk::certify::{Bound, Comparator, Ledger, Start, Status};
/// use geowalk::loss::{Absolute, Loss};
/// use geowalk::row::Dense;
/// use geowalk::walk::{SimplexEntropy, Walk};
///
/// let mut eg = SimplexEntropy::new();
/// let mut bound = Ledger::linear_eg(&[1.0], &Absolute.facts())?.starting(Start::Even);
/// for x in [&[1.0, 0.0][..], &[1.0]] {
///     let round = eg.step(Dense(x), 1.0.into(), &Absolute, 0.5)?;
///     bound.observe(&round, Dense(x));
/// }
/// // Both rows leave out the second feature or have it at 0: a range of 1 in each.
/// let certificate = bound.certify(&Comparator::Simplex { n: 2 });
/// assert!((certificate.bound - (2.0 * 2.0_f64.ln() + 0.125)).abs() < 1e-12, "{certificate}");
/// // A third feature changes what the others have.
/// let round = eg.step(Dense(&[1.0, 0.0, 0.5]), 1.0.into(), &Absolute, 0.5)?;
/// bound.observe(&round, Dense(&[1.0, 0.0, 0.5]));
/// assert!(matches!(bound.certify(&Comparator::Simplex { n: 3 }).status, Status::Void(broken) if broken.row == 3));
/// # Ok::<(), geowalk::ConfigError>(())
/// ```
#[derive(Debug, Clone, PartialEq)]
#[non_exhaustive]
pub enum Start {
    /// These weights, and no others.
    Given(Vec<f64>),
    /// Every feature begins with this weight.
    Each(f64),
    /// Equal probabilities of the features up to the last one of the first row.
    Even,
}

/// A start, and how many features have been seen.
#[derive(Debug, Clone)]
pub(crate) struct Origin {
    start: Start,
    n: usize,
    members: Members,
}

impl Origin {
    pub(crate) fn new(start: Start) -> Self {
        let (n, one) = match &start {
            Start::Even => (0, true),
            Start::Each(_) => (0, false),
            Start::Given(w) => (w.len(), (w.iter().sum::<f64>() - 1.0).abs() <= 1e-9),
        };
        let members = if one { Members::Probabilities } else { Members::NonNegative };
        Self { start, n, members }
    }

    pub(crate) fn given(w: &[f64]) -> Self {
        Self::new(Start::Given(w.to_vec()))
    }

    /// Equal probabilities?
    pub(crate) fn is_even(&self) -> bool {
        self.start == Start::Even
    }

    /// The comparators of steps of relative entropy from here. Given weights that sum to 1 are taken for a
    /// start on the simplex.
    pub(crate) fn members(&self) -> Members {
        self.members
    }

    /// How many features there are.
    pub(crate) fn features(&self) -> usize {
        self.n
    }

    /// Is there a place at the start for features below `bound`, in round `rounds`?
    pub(crate) fn takes(&self, bound: usize, rounds: u64) -> bool {
        bound <= self.n
            || match self.start {
                Start::Given(_) => false,
                Start::Each(_) => true,
                Start::Even => rounds <= 1,
            }
    }

    /// There are features below `bound`.
    pub(crate) fn extend(&mut self, bound: usize) {
        self.n = self.n.max(bound);
    }

    /// Sees a row with features below `bound`. A start that has no place for them breaks a premise.
    pub(crate) fn see(&mut self, bound: usize, watch: &mut Watch) {
        let place = self.takes(bound, watch.rounds);
        watch.demand(NO_MORE, place, bound as f64);
        if place {
            self.extend(bound);
        }
    }

    /// The weights at the start: of all features, and where others change nothing of at least `n`.
    pub(crate) fn weights(&self, n: usize) -> Cow<'_, [f64]> {
        match &self.start {
            Start::Given(w) => Cow::Borrowed(w),
            Start::Each(w) => Cow::Owned(vec![*w; n.max(self.n)]),
            Start::Even => Cow::Owned(vec![1.0 / self.n.max(1) as f64; self.n]),
        }
    }

    /// sup D(u‖w) over the comparators for the weights w at the start. NaN where it is not known.
    pub(crate) fn farthest_entropy(&self, u: &Comparator<'_>) -> f64 {
        let (count, each) = match self.start {
            Start::Each(w) => (self.n.max(u.features()), w),
            Start::Even => (self.n, 1.0 / self.n as f64),
            Start::Given(ref w) => return farthest_entropy(u, w),
        };
        if let Comparator::Signed { u, scale } = *u {
            return self.farthest_signed(u, scale, count, each);
        }
        if count == 0 || matches!(u, Comparator::Given(_)) {
            return farthest_entropy(u, &self.weights(u.features()));
        }
        // All are equal: nothing has to be gone through.
        farthest_vertex(u, count, count as f64 * each, each)
    }

    /// What rounding may have done to η times the linearised regret in k multiplicative steps with Σ length² =
    /// `squares`, against comparators at this divergence.
    ///
    /// A step moves ln w_i by −ηg·x_i and an error δ of a few units in the last place of ln w_i, and Σ_i (p_i −
    /// w_i)δ_i is what the identity behind the bound misses. The prediction is a rounded sum, which misses as
    /// much of Σ w_i|ηg x_i| ≤ length·√Σw. On the simplex ‖p − w‖₁ is at most √(2D) and the lengths of the
    /// steps, and at most 2; elsewhere that many times √Σw, which itself grows by no more than a step is long,
    /// since D(w‖w′) ≥ Σ(√w − √w′)². The sum of k lengths is at most √(k·squares).
    pub(crate) fn rounding(&self, divergence: f64, squares: f64, rounds: u64) -> f64 {
        let (n, steps) = (self.n as f64, rounds as f64);
        let moved = (steps * squares).sqrt();
        let (log, mass) = match &self.start {
            Start::Even => (Real::ln(n.max(1.0)), 1.0),
            Start::Each(w) => (Real::ln(*w).abs(), n * w),
            Start::Given(w) => {
                let log = |most, w: &f64| Real::max(most, Real::ln(*w).abs());
                (w.iter().fold(0.0, log), w.iter().sum())
            }
        };
        let far = (2.0 * divergence).sqrt() + moved;
        let reach = match self.members {
            Members::Probabilities => Real::min(far, 2.0) + moved,
            Members::NonNegative => (far + moved) * (mass.sqrt() + moved),
        };
        (n + 32.0 + 2.0 * log) * f64::EPSILON * steps * reach
    }

    /// D(p‖w) for weights p ≥ 0 of `count` coordinates (Ux, −Ux) that amount to u, with equal weights w at the start.
    ///
    /// On the simplex, what u leaves of the sum 1 is spread evenly. Elsewhere p is the nearest one, p⁺p⁻ = w².
    /// How far p is from w is worked out from u and not from p, which would have lost it to rounding where u is
    /// small.
    fn farthest_signed(&self, u: &[f64], scale: f64, count: usize, w: f64) -> f64 {
        let size = |u: &f64| u.abs() / scale;
        if u.iter().skip(count / 2).any(|u| *u != 0.0) {
            return f64::INFINITY;
        }
        let at = |i: usize| u.get(i).map_or(0.0, size);
        let pairs = 0..count / 2;
        if self.is_even() {
            let mut sum = Sum::default();
            for u in u {
                sum.add(size(u));
            }
            let (spread, taken) = (Real::max(1.0 - sum.total(), 0.0) * w, sum.total() * w);
            return sum_of_gaps(pairs.flat_map(|i| {
                let more = gap::entropy(spread + at(i), w, at(i) - taken);
                [more, gap::entropy(spread, w, -taken)]
            }));
        }
        sum_of_gaps(pairs.flat_map(|i| {
            let half = 0.5 * at(i);
            let middle = Real::hypot(half, w);
            let (more, rise) = (half + middle, half * (half / (middle + w)));
            [gap::entropy(more, w, half + rise), gap::entropy(w * (w / more), w, rise - half)]
        }))
    }

    pub(crate) fn save(&self) -> f64 {
        self.n as f64
    }

    #[allow(clippy::cast_possible_truncation, clippy::cast_sign_loss)] // a count below 2^53
    pub(crate) fn load(&mut self, n: f64) {
        self.n = n as usize;
    }
}
