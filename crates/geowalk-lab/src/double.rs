//! # Double-double arithmetic
//! A number as the sum of two `f64`, about 32 digits: enough to distinguish a false bound from rounding.
//!
//! **Source** T. J. Dekker, A floating-point technique for extending the available precision, 1971.

use std::cmp::Ordering;
use std::ops::{Add, Mul, Neg, Sub};

/// high + low, |low| at most half a unit in the last place of high.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Double {
    high: f64,
    low: f64,
}

impl Double {
    /// The number 0.
    pub const ZERO: Self = Self { high: 0.0, low: 0.0 };

    /// The sum of two numbers; `a` must be the larger in absolute value.
    fn quick(a: f64, b: f64) -> Self {
        let high = a + b;
        Self { high, low: if high.is_finite() { b - (high - a) } else { 0.0 } }
    }

    /// a·b, exactly unless partial products overflow or underflow.
    pub fn product(a: f64, b: f64) -> Self {
        let high = a * b;
        // If products of parts would overflow or underflow, use the rounded product.
        let far = !(1e-140..1e140).contains(&a.abs()) || !(1e-140..1e140).contains(&b.abs());
        if far {
            return Self { high, low: 0.0 };
        }
        let split = |x: f64| {
            let c = 134_217_729.0 * x;
            let top = c - (c - x);
            (top, x - top)
        };
        let ((a1, a2), (b1, b2)) = (split(a), split(b));
        Self { high, low: ((a1 * b1 - high) + a1 * b2 + a2 * b1) + a2 * b2 }
    }

    /// The nearest `f64`.
    pub fn number(self) -> f64 {
        self.high + self.low
    }

    /// |x|.
    #[must_use]
    pub fn abs(self) -> Self {
        if self.high < 0.0 { -self } else { self }
    }

    /// The larger number.
    #[must_use]
    pub fn max(self, other: Self) -> Self {
        if self > other { self } else { other }
    }
}

impl From<f64> for Double {
    fn from(high: f64) -> Self {
        Self { high, low: 0.0 }
    }
}

impl Add for Double {
    type Output = Self;

    fn add(self, other: Self) -> Self {
        let sum = self.high + other.high;
        if !sum.is_finite() {
            return Self::from(sum);
        }
        let part = sum - self.high;
        let lost = (self.high - (sum - part)) + (other.high - part);
        Self::quick(sum, lost + self.low + other.low)
    }
}

impl Neg for Double {
    type Output = Self;

    fn neg(self) -> Self {
        Self { high: -self.high, low: -self.low }
    }
}

impl Sub for Double {
    type Output = Self;

    fn sub(self, other: Self) -> Self {
        self + -other
    }
}

impl Mul for Double {
    type Output = Self;

    fn mul(self, other: Self) -> Self {
        let product = Self::product(self.high, other.high);
        let cross = self.high * other.low + self.low * other.high;
        if product.high.is_finite() && cross.is_finite() {
            Self::quick(product.high, product.low + cross)
        } else {
            Self::from(self.high * other.high)
        }
    }
}

impl PartialOrd for Double {
    fn partial_cmp(&self, other: &Self) -> Option<Ordering> {
        match self.high.partial_cmp(&other.high) {
            Some(Ordering::Equal) => self.low.partial_cmp(&other.low),
            unequal => unequal,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn digits_beyond_those_of_a_number_are_kept() {
        let tenth = Double::from(0.1);
        // The square of the number nearest to 0.1, and 0.1 + 0.2 − 0.3.
        let square = Double::product(0.1, 0.1);
        assert_eq!(square.high, 0.1 * 0.1);
        assert!((square.low + 8.326_672_684_688_674e-19).abs() < 1e-33, "{square:?}");
        let sum = tenth + Double::from(0.2) - Double::from(0.3);
        assert!((sum.number() - 2.775_557_561_562_891_4e-17).abs() < 1e-30);
        assert!(tenth * Double::from(3.0) > Double::from(0.3));
        assert_eq!((-tenth).abs(), tenth);
    }
}
