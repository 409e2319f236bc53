//! # What experts lost
//! The sums that the theorems about experts share: the loss of every expert, exactly, and what shares cost.
//!
//! **Fixed share** After each round a part α of the weight is spread evenly. The weight of staying with one expert is then at least
//! $w_{1,i}(1 - \alpha)^{k-1}$ times its factors, so every bound below holds with $D(u\Vert w_1) - (k - 1)\ln(1 - \alpha)$ in place of D, and against a *sequence* of experts with m
//! switches, of which each has at least the weight α/n, with $\ln n + m\ln(n/\alpha) - (k - 1 - m)\ln(1 - \alpha)$. **Source** \[HW98\].

use super::Comparator;
use super::theorem::{Get, Watch, farthest_entropy, outward};
use crate::Real;
use crate::error::{self, Allowed, ConfigError, DomainError};
use crate::row::Row;
use crate::sum::Sum;

pub(crate) const NO_MORE: &str = "no more features than the start has";
pub(super) const UNIT: &str = "losses in [0, 1]";
pub(super) const DOT: &str = "a loss no larger than the mean of the experts' losses";

/// The loss of every expert, exactly, their squares, and the start.
///
/// ```
/// use geowalk::certify::{Comparator, Losses};
/// let mut losses = Losses::new(&[0.5, 0.5], 0.0)?;
/// losses.add(0, 0.1);
/// losses.add(0, 0.2);
/// assert_eq!((losses.of(0), losses.best()), (0.1 + 0.2, Some((1, 0.0))));
/// # Ok::<(), geowalk::ConfigError>(())
/// ```
#[derive(Debug, Clone)]
pub struct Losses {
    start: Vec<f64>,
    share: f64,
    sums: Vec<Sum>,
    squares: Vec<Sum>,
}

impl Losses {
    /// Nothing lost yet; the weights `start`, and the part α of the weight that is shared after each round (0: none).
    pub fn new(start: &[f64], share: f64) -> Result<Self, ConfigError> {
        probabilities(start)?;
        error::parameter("share", share, Allowed::ClosedOpen(0.0, 1.0))?;
        let empty = vec![Sum::default(); start.len()];
        Ok(Self { start: start.to_vec(), share, sums: empty.clone(), squares: empty })
    }

    /// Expert i lost `loss`.
    pub fn add(&mut self, i: usize, loss: f64) {
        if let (Some(sum), Some(square)) = (self.sums.get_mut(i), self.squares.get_mut(i)) {
            sum.add(loss);
            square.add(loss * loss);
        }
    }

    /// Adds a row of losses; experts that it leaves out lose nothing.
    pub(super) fn row<F: Real, X: Row<F>>(&mut self, x: X, watch: &mut Watch) {
        let n = self.start.len();
        watch.demand(NO_MORE, x.bound() <= n, x.bound() as f64);
        let mut bad = None;
        x.each(|i, x| {
            let x = x.f64();
            if bad.is_none() && !(0.0..=1.0).contains(&x) {
                bad = Some(x);
            }
            self.add(i, x);
        });
        watch.demand(UNIT, bad.is_none(), bad.unwrap_or_default());
    }

    /// Gives away everything that changes, as named arrays.
    pub(super) fn save(&self, put: &mut dyn FnMut(&'static str, &[f64])) {
        put("losses", &flat(&self.sums));
        put("squares", &flat(&self.squares));
    }

    /// Continues from what [`Losses::save`] gave, of as many experts.
    pub(super) fn load(&mut self, get: Get<'_>) -> Result<(), ConfigError> {
        let n = self.start.len();
        self.sums = sums(get("losses"), n)?;
        self.squares = sums(get("squares"), n)?;
        Ok(())
    }

    /// How many experts.
    pub fn experts(&self) -> usize {
        self.start.len()
    }

    /// What expert i lost.
    pub fn of(&self, i: usize) -> f64 {
        self.sums.get(i).map_or(f64::NAN, Sum::total)
    }

    /// The expert that lost least, the first of equals, and its loss.
    pub fn best(&self) -> Option<(usize, f64)> {
        let mut best: Option<(usize, f64)> = None;
        for (i, sum) in self.sums.iter().enumerate() {
            if best.is_none_or(|(_, least)| sum.total() < least) {
                best = Some((i, sum.total()));
            }
        }
        best
    }

    /// What expert i lost more than expert k.
    pub(super) fn behind(&self, i: usize, k: usize) -> f64 {
        match (self.sums.get(i), self.sums.get(k)) {
            (Some(i), Some(k)) => i.less(k),
            _ => f64::NAN,
        }
    }

    /// Σ of the magnitudes of all losses.
    pub(super) fn magnitude(&self) -> f64 {
        self.sums.iter().map(Sum::magnitude).sum()
    }

    /// sup over the comparators of a·L_u + b·Σu_iΣℓ² + d·D(u‖w₁) (with the cost of shares in D), rounded up; d ≥ 0. The terms are linear or convex in u: on the
    /// simplex a vertex is worst.
    pub(super) fn worst(&self, u: &Comparator<'_>, [a, b, d]: [f64; 3], rounds: u64) -> f64 {
        let shares = (rounds.max(1) - 1) as f64 * -Real::ln_1p(-self.share);
        let value = |u: &[f64]| {
            let divergence = farthest_entropy(&Comparator::Given(u), &self.start);
            let mut sum = Sum::default();
            for ((u, loss), square) in u.iter().zip(&self.sums).zip(&self.squares) {
                if *u > 0.0 {
                    sum.add(times(a, u * loss.total()));
                    sum.add(times(b, u * square.total()));
                }
            }
            sum.add(times(d, divergence));
            sum.add(times(d, shares));
            outward(sum.upper(), sum.magnitude())
        };
        match *u {
            Comparator::Given(u) if u.len() <= self.start.len() => value(u),
            Comparator::Simplex { n } if n == self.start.len() => {
                let vertex = |i: usize| {
                    let (loss, square) = (&self.sums[i], &self.squares[i]);
                    let divergence = -Real::ln(self.start[i]) + shares;
                    let terms =
                        [times(a, loss.total()), times(b, square.total()), times(d, divergence)];
                    let size: f64 = terms.iter().map(|term| term.abs()).sum();
                    outward(terms.iter().sum(), size)
                };
                (0..n).map(vertex).fold(f64::NEG_INFINITY, Real::max)
            }
            _ => f64::NAN,
        }
    }

    /// What takes the place of D(u‖w₁) against a sequence of experts with m switches in k rounds, of an even start. Infinite without shares, unless m = 0.
    pub(super) fn divergence_of_sequence(&self, m: u64, k: u64) -> f64 {
        let n = self.start.len() as f64;
        let stays = k.max(1).saturating_sub(1 + m) as f64;
        let switches = times(m as f64, Real::ln(n / self.share));
        let even = self.start.iter().all(|w| *w == self.start[0]);
        if !even || m >= k.max(1) {
            return f64::NAN;
        }
        outward(Real::ln(n) + switches - stays * Real::ln_1p(-self.share), 0.0)
    }

    /// sup L_u and sup D(u‖w₁) over the comparators.
    pub(super) fn most(&self, u: &Comparator<'_>) -> (f64, f64) {
        let zero = Self { share: 0.0, ..self.clone() };
        (zero.worst(u, [1.0, 0.0, 0.0], 1), zero.worst(u, [0.0, 0.0, 1.0], 1))
    }
}

/// Sums as numbers.
pub(crate) fn flat(sums: &[Sum]) -> Vec<f64> {
    sums.iter().flat_map(Sum::save).collect()
}

/// n sums of the numbers that [`flat`] gave.
pub(crate) fn sums(saved: Option<Vec<f64>>, n: usize) -> Result<Vec<Sum>, ConfigError> {
    let missing = ConfigError::Missing { name: "losses", meaning: "what the experts lost" };
    let saved = saved.filter(|saved| saved.len() == 4 * n).ok_or(missing)?;
    Ok(saved.chunks_exact(4).map(|s| Sum::load([s[0], s[1], s[2], s[3]])).collect())
}

/// A product in which 0 wins against an infinite loss or divergence.
fn times(factor: f64, x: f64) -> f64 {
    if factor == 0.0 { 0.0 } else { factor * x }
}

/// Refuses what are no probabilities.
pub(crate) fn probabilities(start: &[f64]) -> Result<(), ConfigError> {
    error::each("the start", start, Allowed::Closed(0.0, 1.0))?;
    let found: f64 = start.iter().sum();
    let tolerance = 1e-9;
    if (found - 1.0).abs() <= tolerance {
        return Ok(());
    }
    let quantity = "the sum of the start";
    Err(DomainError::Constraint { quantity, found, expected: 1.0, tolerance }.into())
}

/// The rounds are of the dot loss, w·ℓ, or of less.
pub(super) fn dot(watch: &mut Watch, round: &crate::update::Round) {
    let most = round.z * (1.0 + 1e-12) + 1e-300;
    watch.demand(DOT, round.loss <= most && round.slope == 1.0, round.loss - round.z);
}
