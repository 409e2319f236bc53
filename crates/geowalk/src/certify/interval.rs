//! # Intervals that hold at every row at once
//! For losses $X_1, X_2, \dots$ in [0, 1], the average of their expectations given the past,
//! $\mu_t = \tfrac1t \sum_{i \le t} E[X_i \mid X_1, \dots, X_{i-1}]$, is within $S_t/t \pm s_t/t$ for **all** t together
//! with probability 1 − α, where $S = \sum X_i$, $V = \sum (X_i - \hat X_i)^2$, $\hat X_i = (\tfrac12 + S_{i-1})/i$ and s solves
//! $$\sum_j \pi_j\, e^{\lambda_j s - \psi(\lambda_j) V} = \frac2\alpha, \qquad \psi(\lambda) = -\ln(1 - \lambda) - \lambda,
//!   \qquad \lambda_j = \tfrac12 2^{-j/2},\; \pi_j \propto (j + 2)^{-1.4},\; j = 0, \dots, 23$$
//! One may look after every row and stop when one likes. The losses may fall, drift, or depend on the past: nothing is
//! assumed but their range.
//!
//! **Proof** $\exp(\lambda \sum (X_i - E[X_i \mid \cdot]) - \psi(\lambda) V)$ is a supermartingale for 0 ≤ λ < 1 since
//! $\vert X_i - \hat X_i \vert \le 1$, and so is a mixture of such; Ville's inequality at α/2 on either side.
//! **Cost** O(1) per row, 24 exponentials per step of a bisection when the interval is asked for.
//! **Care** It speaks of rows that were predicted before they were learned, each once. With fixed weights the average
//! expectation of rows drawn alike is the risk; of a learner that goes on learning it is that of the weights on the way.
//! **Source** \[HRMS21\], the empirical Bernstein supermartingale with a discrete mixture.

use std::f64::consts::FRAC_1_SQRT_2;

use crate::Real;
use crate::error::{Allowed, ConfigError, parameter};
use crate::sum::Sum;

/// How many λ are mixed.
const MIXED: usize = 24;

/// The average of losses in [0, 1], and how far from it the average expectation may be.
///
/// ```
/// use geowalk::certify::LossInterval;
/// let mut errors = LossInterval::default();
/// for row in 0..20_000 {
///     errors.see(if row % 8 == 0 { 1.0 } else { 0.0 });
/// }
/// let (low, high) = errors.bounds(0.05)?;
/// assert!(low < 0.125 && 0.125 < high && high - low < 0.025, "{low} {high}");
/// # Ok::<(), geowalk::ConfigError>(())
/// ```
#[derive(Debug, Clone, Default, PartialEq)]
pub struct LossInterval {
    rows: u64,
    sum: Sum,
    spread: Sum,
}

impl LossInterval {
    /// How many numbers [`save`](Self::save) gives.
    pub const NUMBERS: usize = 9;

    /// Sees a loss; what is beyond [0, 1] is cut off. After a NaN nothing is known any more.
    pub fn see(&mut self, loss: f64) {
        let loss = if loss.is_nan() { loss } else { loss.clamp(0.0, 1.0) };
        self.rows += 1;
        let guess = (0.5 + self.sum.total()) / self.rows as f64;
        self.sum.add(loss);
        self.spread.add((loss - guess) * (loss - guess));
    }

    /// Losses seen.
    pub fn rows(&self) -> u64 {
        self.rows
    }

    /// Their average; NaN of none.
    pub fn average(&self) -> f64 {
        self.sum.total() / self.rows as f64
    }

    /// The interval that the average expectation is in at every row with probability 1 − α, rounded outward.
    pub fn bounds(&self, alpha: f64) -> Result<(f64, f64), ConfigError> {
        parameter("alpha", alpha, Allowed::Open(0.0, 1.0))?;
        let average = self.average();
        if average.is_nan() {
            return Ok((0.0, 1.0));
        }
        // The sums are good to a few units in the last place.
        let half = deviation(self.spread.upper(), alpha) / self.rows as f64;
        let half = half * (1.0 + 1e-9) + 1e-15;
        Ok((Real::max(average - half, 0.0), Real::min(average + half, 1.0)))
    }

    /// Everything, as numbers.
    pub fn save(&self) -> [f64; Self::NUMBERS] {
        let ([a, b, c, d], [e, f, g, h]) = (self.sum.save(), self.spread.save());
        [self.rows as f64, a, b, c, d, e, f, g, h]
    }

    /// Continues, bit for bit, from what `save` gave.
    #[allow(clippy::cast_possible_truncation, clippy::cast_sign_loss)] // a count below 2^53
    pub fn load([rows, a, b, c, d, e, f, g, h]: [f64; Self::NUMBERS]) -> Self {
        let (sum, spread) = (Sum::load([a, b, c, d]), Sum::load([e, f, g, h]));
        Self { rows: rows as u64, sum, spread }
    }
}

/// No less than the s at which the mixture is 2/α.
fn deviation(v: f64, alpha: f64) -> f64 {
    let (mut lambda, mut total) = (0.5, 0.0);
    let mut mixture = [(0.0, 0.0); MIXED];
    for (j, (weight, slope)) in mixture.iter_mut().enumerate() {
        (*weight, *slope) = (-1.4 * Real::ln(j as f64 + 2.0), lambda);
        total += Real::exp(*weight);
        lambda *= FRAC_1_SQRT_2;
    }
    let shift = Real::ln(total);
    for (weight, lambda) in &mut mixture {
        *weight -= shift + psi(*lambda) * v;
    }
    let target = Real::ln(2.0 / alpha);
    // One λ alone is enough where its own term is 2/α.
    let alone = mixture.iter().map(|(weight, lambda)| (target - weight) / lambda);
    let (mut lo, mut hi) = (0.0, alone.fold(f64::INFINITY, Real::min));
    for _ in 0..48 {
        let middle = 0.5 * (lo + hi);
        let top = mixture.iter().map(|(w, l)| w + l * middle).fold(f64::NEG_INFINITY, Real::max);
        let sum: f64 = mixture.iter().map(|(w, l)| Real::exp(w + l * middle - top)).sum();
        if top + Real::ln(sum) >= target {
            hi = middle;
        } else {
            lo = middle;
        }
    }
    hi
}

/// −ln(1 − λ) − λ for λ ≤ ½, as its series: without the cancellation of small λ.
fn psi(lambda: f64) -> f64 {
    let (mut power, mut sum) = (lambda, 0.0);
    for k in 2..60 {
        power *= lambda;
        sum += power / f64::from(k);
    }
    sum
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::laws::Sampler;

    /// In how many of the runs the average expectation was outside at some look: of the interval, and of the usual
    /// ±1.96 standard errors.
    fn misses(runs: u64, rows: u32, level: impl Fn(f64) -> f64, share: f64) -> (u32, u32) {
        let (mut missed, mut usual) = (0, 0);
        for seed in 0..runs {
            let mut random = Sampler::new(seed);
            let mut interval = LossInterval::default();
            let (mut expected, mut next, mut out) = (0.0, 8, (false, false));
            for row in 1..=rows {
                let p = level(f64::from(row) / f64::from(rows));
                // A loss of one half or of one, so that it is not all or nothing.
                let size = if random.uniform(0.0, 1.0) < share { 1.0 } else { 0.5 };
                expected += p * (share + 0.5 * (1.0 - share));
                interval.see(if random.uniform(0.0, 1.0) < p { size } else { 0.0 });
                if row == next {
                    next += next / 8;
                    let truth = expected / f64::from(row);
                    let (low, high) = interval.bounds(0.05).unwrap();
                    out.0 |= truth < low || truth > high;
                    let variance = interval.spread.total() / f64::from(row);
                    let off = (interval.average() - truth).abs();
                    out.1 |= off > 1.96 * (variance / f64::from(row)).sqrt();
                }
            }
            missed += u32::from(out.0);
            usual += u32::from(out.1);
        }
        (missed, usual)
    }

    #[test]
    fn coverage_holds_at_every_look() {
        const RUNS: u64 = 200;
        let falling = |at: f64| 0.05 + 0.45 / (1.0 + 20.0 * at);
        let drifting = |at: f64| if (at * 6.0).floor() % 2.0 == 0.0 { 0.1 } else { 0.4 };
        let constant = |_: f64| 0.12;
        let found = [
            misses(RUNS, 3000, falling, 0.6),
            misses(RUNS, 3000, drifting, 1.0),
            misses(RUNS, 3000, constant, 1.0),
        ];
        for (missed, usual) in found {
            assert!(f64::from(missed) <= 0.05 * RUNS as f64, "{found:?}");
            assert!(f64::from(usual) > 0.2 * RUNS as f64, "the usual interval misses: {found:?}");
        }
    }

    #[test]
    fn intervals_shrink_as_they_should() {
        // spec: ±0.0083 at 20,000 rows with an error of 0.12.
        let mut interval = LossInterval::default();
        assert_eq!(interval.bounds(0.05).unwrap(), (0.0, 1.0));
        for row in 0..20_000 {
            interval.see(if row % 25 < 3 { 1.0 } else { 0.0 });
        }
        let (low, high) = interval.bounds(0.05).unwrap();
        let half = 0.5 * (high - low);
        assert!((interval.average() - 0.12).abs() < 1e-12);
        assert!((half - 0.0083).abs() < 2e-4, "{half}");
        let (wider_low, wider_high) = interval.bounds(0.01).unwrap();
        assert!(wider_low < low && wider_high > high);
    }

    #[test]
    fn s_solves_its_equation() {
        for v in [0.0, 1e-3, 1.0, 50.0, 1e4, 1e9] {
            let s = deviation(v, 0.05);
            let total: f64 = (0..24).map(|j| Real::powf(f64::from(j) + 2.0, -1.4)).sum();
            let sum: f64 = (0..24)
                .map(|j| {
                    let lambda = 0.5 * Real::powf(2.0, -0.5 * f64::from(j));
                    let psi = -Real::ln_1p(-lambda) - lambda;
                    let weight = Real::powf(f64::from(j) + 2.0, -1.4) / total;
                    weight * Real::exp(lambda * s - psi * v)
                })
                .sum();
            assert!((Real::ln(sum) - Real::ln(40.0)).abs() < 1e-6 * (1.0 + s), "{v}: {sum}");
        }
    }

    #[test]
    fn saved_intervals_continue_bit_for_bit() {
        let (mut whole, mut cut) = (LossInterval::default(), LossInterval::default());
        let mut random = Sampler::new(3);
        for _ in 0..500 {
            let loss = random.uniform(-0.1, 1.1);
            whole.see(loss);
            cut = LossInterval::load(cut.save());
            cut.see(loss);
        }
        assert_eq!(whole, cut);
        assert_eq!(whole.bounds(0.1).unwrap(), cut.bounds(0.1).unwrap());
        whole.see(f64::NAN);
        assert_eq!(whole.bounds(0.1).unwrap(), (0.0, 1.0));
    }
}
