//! # Weight outside the row
//! On the simplex a step needs the total weight of the features outside the row, $Z - \sum_{i \in x} e_i$. The
//! difference is accurate to $2\cdot10^{-13} Z$ and costs nothing extra. A step may multiply that weight by a large
//! factor, and its error too. Then the weight is summed again in O(n), and the equation is solved again. Features with
//! x_i = 0 count as outside the row, so that dense and sparse rows give the same bits.

use super::factor::{Crossing, Factors, Moved};
use super::{Chart, Partitioned};
use crate::Real;
use crate::row::Row;

/// Error of the difference, relative to Z: the error of Z, and a little for the sum over the row.
const SLIP: f64 = 2e-13;

/// Largest fraction of the weight after a step that may be error.
const TOLERANCE: f64 = 1e-11;

/// Logarithms of factors are clipped here: weights of e^−10000 are 0 in any sum, and the others keep their digits.
const FARTHEST: f64 = 1e4;

/// The total weight of the features outside a row.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) struct AbsentWeight {
    /// Logarithm of the weight, on the scale of λ; −∞ if there are no such features.
    pub(crate) log: f64,
    /// Logarithm of its error; −∞ if the weight was summed feature by feature.
    pub(crate) slip: f64,
    /// Are there any features outside the row?
    pub(crate) any: bool,
}

impl AbsentWeight {
    /// Is the error too large after multiplication by a factor with this logarithm, if the total weight becomes
    /// e^`total`?
    pub(crate) fn too_coarse(&self, factor: f64, total: f64) -> bool {
        self.slip + factor - total > Real::ln(TOLERANCE)
    }
}

impl Partitioned {
    /// The weight outside the row, computed as a difference.
    pub(crate) fn off<X: Row<f64>>(&self, x: X) -> AbsentWeight {
        let (mut on, mut seen) = (0.0, 0);
        x.each(|i, x| {
            if let Some(e) = self.entries.weight(i)
                && x != 0.0
            {
                on += e;
                seen += 1;
            }
        });
        if seen >= self.features() {
            return AbsentWeight { log: f64::NEG_INFINITY, slip: f64::NEG_INFINITY, any: false };
        }
        let total = self.sum.value();
        AbsentWeight {
            log: Real::ln((total - on).max(0.0)),
            slip: Real::ln(SLIP * total),
            any: true,
        }
    }

    /// The weight outside the row, summed feature by feature in O(n).
    #[cold]
    pub(crate) fn off_anew<X: Row<f64>>(&mut self, x: X) -> AbsentWeight {
        // Mark the features of the row by the sign bit of their weight; it also marks weights of 0.
        x.each(|i, x| {
            if let Some(entry) = self.entries.get_mut(i)
                && x != 0.0
            {
                entry.w = -entry.w;
            }
        });
        let off = || {
            self.entries.iter().filter(|entry| entry.w.is_sign_positive()).map(|entry| entry.log)
        };
        let top = off().fold(f64::NEG_INFINITY, f64::max);
        let sum: f64 = off().map(|lambda| Real::exp(lambda - top)).sum();
        let log = if top.is_finite() { top + Real::ln(sum) } else { f64::NEG_INFINITY };
        x.each(|i, _| {
            if let Some(entry) = self.entries.get_mut(i) {
                entry.w = entry.w.abs();
            }
        });
        AbsentWeight { log, slip: f64::NEG_INFINITY, any: top.is_finite() }
    }

    /// Multiplies the weights by factors ≤ 1: outside the row by e^`off`, on the row by e^`on`(x_i).
    pub(crate) fn shrink<X: Row<f64>>(&mut self, x: X, off: f64, on: impl Fn(f64) -> f64) -> Moved {
        let off = off.max(-FARTHEST);
        self.look(x);
        self.reweight::<true>(|x, counts| {
            let log = x.map(|x| {
                let on = on(x);
                if x == 0.0 {
                    0.0
                } else if on < -FARTHEST {
                    counts.add(Crossing::Clamped);
                    -FARTHEST - off
                } else {
                    on - off
                }
            });
            Factors { log, growth: None }
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::learn::Factor;
    use crate::row::Sparse;

    #[test]
    fn the_weight_off_the_row_both_ways() {
        let mut partition = Partitioned::default();
        partition.grow(5);
        partition.look(Sparse::new(&[0, 3], &[1.0, -2.0]).unwrap());
        partition.multiply::<true>(Factor::Exponential, 0.7);
        let x = Sparse::new(&[1, 3], &[1.0, 1.0]).unwrap();
        let before = partition.clone();
        let (difference, sum) = (partition.off(x), partition.off_anew(x));
        assert_eq!(partition, before, "marks are gone");
        let exact = Real::ln(Real::exp(0.7_f64) + 2.0);
        assert!((difference.log - exact).abs() < 1e-14 && (sum.log - exact).abs() < 1e-15);
        assert!(difference.any && !difference.too_coarse(0.0, exact));
        assert!(difference.too_coarse(10.0, exact) && !sum.too_coarse(1e3, exact));
        let all = Sparse::new(&[0, 1, 2, 3, 4], &[1.0; 5]).unwrap();
        assert!(!partition.off(all).any && !partition.off_anew(all).any);
    }
}
