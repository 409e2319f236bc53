//! # Running sums with an error bound
//! A sum Σ a_i of n stored terms, kept up to date while single terms change, with a bound on its rounding error
//! relative to the stored terms:
//! $$\text{slip} = 2\varepsilon \sum_t |a_t' - a_t|$$
//! **Why** A sum of a million changes drifts, and a sum that shrinks loses its digits. Compensation makes the error
//! proportional to the size of the changes instead of their number. With the bound, the owner recomputes the sum only
//! when necessary, not after a fixed number of steps.
//! **Cost** O(1) per change; O(n) at most once per total change of 225 times the sum. **Source** \[Neumaier74\].

use crate::error::{Allowed, ConfigError};
use crate::learn::base;
use crate::real::lanes::{Lanes, zip};

/// The largest error, relative to the sum, before the terms are summed again.
const TOLERANCE: f64 = 1e-13;

#[derive(Debug, Clone, Copy, PartialEq, Default)]
pub(crate) struct CompensatedSum {
    sum: f64,
    lost: f64,
    slip: f64,
}

impl CompensatedSum {
    /// The sum of the terms.
    pub(crate) fn of(terms: impl Iterator<Item = f64>) -> Self {
        let mut tally = Self::default();
        for term in terms {
            tally.add(term);
        }
        Self { slip: 0.0, ..tally }
    }

    /// Records that a term changed by `change`, a difference of two numbers that was rounded at most three times.
    #[inline]
    pub(crate) fn add(&mut self, change: f64) {
        let sum = self.sum + change;
        self.lost += if self.sum.abs() >= change.abs() {
            (self.sum - sum) + change
        } else {
            (change - sum) + self.sum
        };
        self.sum = sum;
        self.slip += 2.0 * f64::EPSILON * change.abs();
    }

    /// Records all of `changes`.
    pub(crate) fn absorb(&mut self, changes: &Changes) {
        for ((sum, lost), size) in changes.sum.iter().zip(&changes.lost).zip(&changes.size) {
            self.add(*sum);
            self.lost -= lost;
            self.slip += 2.0 * f64::EPSILON * size;
        }
    }

    /// Records that the term v² became `new`².
    #[inline]
    pub(crate) fn square(&mut self, old: f64, new: f64) {
        self.add((new - old) * (new + old));
    }

    #[inline]
    pub(crate) fn value(&self) -> f64 {
        self.sum + self.lost
    }

    /// Is the sum so inaccurate that it must be recomputed? Also true for a sum that is not finite.
    #[inline]
    pub(crate) fn worn(&self) -> bool {
        !(self.slip <= TOLERANCE * self.value().abs() && self.sum.is_finite())
    }

    pub(crate) fn save(&self, name: &'static str, put: &mut dyn FnMut(&'static str, &[f64])) {
        put(name, &[self.sum, self.lost, self.slip]);
    }

    pub(crate) fn load(
        name: &'static str,
        get: &mut dyn FnMut(&'static str) -> Option<Vec<f64>>,
    ) -> Result<Self, ConfigError> {
        let [sum, lost, slip] = base::numbers(get, name, Allowed::Finite)?;
        Ok(Self { sum, lost, slip })
    }
}

/// Changes to [several](Lanes) independent compensated sums, for vectorisation: the contribution of a row to a
/// [`CompensatedSum`]. The error of Kahan summation is at most ε times the sum of magnitudes \[Higham02, sec. 4.3\],
/// and one rounding of a change adds half of that. Together this is less than the 2ε of the bound.
#[derive(Debug, Clone, Copy, Default)]
pub(crate) struct Changes {
    sum: Lanes,
    lost: Lanes,
    size: Lanes,
}

impl Changes {
    /// Adds one change to each of the sums.
    #[inline(always)]
    pub(crate) fn add(&mut self, changes: Lanes) {
        let due = zip(changes, self.lost, |a, b| a - b);
        let sum = zip(self.sum, due, |a, b| a + b);
        let taken = zip(sum, self.sum, |a, b| a - b);
        self.lost = zip(taken, due, |a, b| a - b);
        self.size = zip(self.size, changes, |a, b| a + b.abs());
        self.sum = sum;
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Real;

    fn stream(seed: &mut u64) -> f64 {
        *seed =
            seed.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        (*seed >> 11) as f64 / (1_u64 << 53) as f64
    }

    #[test]
    fn a_million_changes_stay_within_the_bound_and_a_plain_sum_does_not() {
        let mut v: Vec<f64> = (0..100).map(|i| f64::from(i) / 100.0).collect();
        let mut tally = CompensatedSum::of(v.iter().map(|v| v * v));
        let (mut plain, mut seed, mut worst, mut refreshed) = (tally.value(), 1, 0.0_f64, 0);
        let mut drift = 0.0_f64;
        for t in 0..1_000_000 {
            let i = t % 100;
            // Between 1e-3 and 1e3, so that the sum rises and falls.
            let new = 1e-3 * Real::exp(13.8 * stream(&mut seed) * stream(&mut seed));
            plain += new * new - v[i] * v[i];
            tally.square(v[i], new);
            v[i] = new;
            if tally.worn() {
                tally = CompensatedSum::of(v.iter().map(|v| v * v));
                refreshed += 1;
            }
            if t % 1000 == 0 {
                let exact = CompensatedSum::of(v.iter().map(|v| v * v)).value();
                assert!((tally.value() - exact).abs() <= tally.slip + 2.0 * f64::EPSILON * exact);
                worst = worst.max((tally.value() / exact - 1.0).abs());
                drift = drift.max((plain / exact - 1.0).abs());
            }
        }
        assert!(worst <= TOLERANCE, "{worst:e}");
        assert!(drift > 10.0 * TOLERANCE, "a plain sum is worse: {drift:e}");
        assert!(refreshed < 20_000, "{refreshed}");
    }

    #[test]
    fn changes_side_by_side_stay_within_the_bound() {
        let mut v = [0.0_f64; 64];
        let (mut tally, mut seed) = (CompensatedSum::default(), 3);
        for t in 0..2000 {
            let mut changes = Changes::default();
            for some in v.as_chunks_mut::<8>().0 {
                changes.add(some.map(|v| -v));
                *some = some.map(|_| Real::exp(30.0 * stream(&mut seed) - 20.0));
                changes.add(*some);
            }
            tally.absorb(&changes);
            let exact = CompensatedSum::of(v.into_iter()).value();
            assert!(
                (tally.value() - exact).abs() <= tally.slip + 2.0 * f64::EPSILON * exact,
                "{t}"
            );
            if tally.worn() {
                tally = CompensatedSum::of(v.into_iter());
            }
        }
        let mut changes = Changes::default();
        changes.add([f64::INFINITY, 1.0, 1.0, 1.0, 1.0, 1.0, 1.0, 1.0]);
        tally.absorb(&changes);
        assert!(tally.worn());
    }

    #[test]
    fn a_sum_that_vanishes_is_worn() {
        let mut tally = CompensatedSum::of([1.0, 1e-30].into_iter());
        assert!(!tally.worn());
        tally.add(-1.0);
        assert!(tally.worn(), "the digits of 1e-30 are gone");
        tally.add(f64::INFINITY);
        assert!(tally.worn());
        assert!(!CompensatedSum::default().worn());
    }
}
