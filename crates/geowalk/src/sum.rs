//! # Compensated sums
//! A running sum whose rounding error does not grow with the number of terms, with a bound on the remaining error.
//!
//! $$\Bigl| \text{total} - \sum_t a_t \Bigr| \;\le\; \varepsilon\,|\text{total}| + k^2\varepsilon^2 \sum_t |a_t|$$
//! for k terms. **Cost** two additions more than a plain sum. **Source** \[Neumaier74\]; \[Higham02, sec. 4.3\].
//!
//! ```
//! use geowalk::sum::Sum;
//! let mut sum = Sum::default();
//! for term in [1e100, 1.0, -1e100] {
//!     sum.add(term);
//! }
//! assert_eq!(sum.total(), 1.0);
//! ```

/// A compensated running sum.
#[derive(Debug, Clone, Copy, PartialEq, Default)]
pub struct Sum {
    rounded: f64,
    lost: f64,
    magnitude: f64,
    count: u64,
}

impl Sum {
    /// Adds a term.
    #[inline]
    pub fn add(&mut self, term: f64) {
        let sum = self.rounded + term;
        self.lost += if self.rounded.abs() >= term.abs() {
            (self.rounded - sum) + term
        } else {
            (term - sum) + self.rounded
        };
        self.rounded = sum;
        self.magnitude += term.abs();
        self.count += 1;
    }

    /// The sum of all terms.
    #[inline]
    pub fn total(&self) -> f64 {
        // If the sum is infinite or NaN, `lost` is NaN; return the sum without it.
        if self.rounded.is_finite() { self.rounded + self.lost } else { self.rounded }
    }

    /// This sum minus another. It stays accurate when both are large and nearly equal, unlike the difference of the
    /// two rounded totals.
    ///
    /// ```
    /// use geowalk::sum::Sum;
    /// let (mut a, mut b) = (Sum::default(), Sum::default());
    /// [1e16, 1.0].map(|term| a.add(term));
    /// b.add(1e16);
    /// assert_eq!((a.less(&b), a.total() - b.total()), (1.0, 0.0));
    /// ```
    pub fn less(&self, other: &Self) -> f64 {
        let difference = (self.rounded - other.rounded) + (self.lost - other.lost);
        if difference.is_nan() { self.total() - other.total() } else { difference }
    }

    /// Number of terms added.
    pub fn count(&self) -> u64 {
        self.count
    }

    /// Σ|a_t|.
    pub fn magnitude(&self) -> f64 {
        self.magnitude
    }

    /// An upper bound on the distance of [`total`](Sum::total) from the exact sum.
    pub fn error(&self) -> f64 {
        let k = self.count as f64 * f64::EPSILON;
        f64::EPSILON * self.total().abs() + k * k * self.magnitude
    }

    /// A number that is guaranteed not to be below the exact sum.
    pub fn upper(&self) -> f64 {
        (self.total() + self.error()).next_up()
    }

    /// The complete state, to be stored in a file.
    pub fn save(&self) -> [f64; 4] {
        [self.rounded, self.lost, self.magnitude, self.count as f64]
    }

    /// Restores the state from [`save`](Sum::save); later results have the same bits.
    #[expect(
        clippy::cast_possible_truncation,
        clippy::cast_sign_loss,
        reason = "a count below 2^53"
    )]
    pub fn load([rounded, lost, magnitude, count]: [f64; 4]) -> Self {
        Self { rounded, lost, magnitude, count: count as u64 }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Real;

    #[test]
    fn ten_million_tenths() {
        let (mut sum, mut plain) = (Sum::default(), 0.0);
        for _ in 0..10_000_000 {
            sum.add(0.1);
            plain += 0.1;
        }
        // The exact sum of the f64 nearest to 0.1.
        let exact = 1_000_000.000_000_000_055_5;
        assert!((sum.total() - exact).abs() <= sum.error());
        assert!(sum.upper() >= exact);
        assert!((plain - exact).abs() > 1e-5, "the plain sum is off: {plain}");
    }

    #[test]
    fn a_saved_sum_continues_bit_for_bit() {
        let terms =
            |k: u32| Real::exp(f64::from(k % 97)) * if k.is_multiple_of(2) { 1.0 } else { -0.7 };
        let mut whole = Sum::default();
        let mut cut = Sum::default();
        for k in 0..1000 {
            whole.add(terms(k));
            cut = Sum::load(cut.save());
            cut.add(terms(k));
        }
        assert_eq!(cut.save().map(f64::to_bits), whole.save().map(f64::to_bits));
        assert_eq!(cut.count(), 1000);
        assert_ne!(whole.save()[1], 0.0, "nothing was lost: the test shows nothing");
    }

    #[test]
    fn infinity_and_nan_are_not_hidden() {
        let mut sum = Sum::default();
        sum.add(f64::INFINITY);
        assert_eq!(sum.total(), f64::INFINITY);
        sum.add(f64::NAN);
        assert!(sum.total().is_nan());
    }
}
