//! # Weights that sum to 1
//! $$w_i = \frac{e_i}{Z}, \qquad e_i = e^{\lambda_i}, \qquad Z = \sum_i e_i$$
//! The logarithms λ are the state, defined up to a common constant; the e_i are cached and Z is corrected by the difference wherever
//! a λ_i changes. Multiplying the weights of a row by factors and all others by 1 is all that a step on the simplex does.
//!
//! **Why logarithms** A weight of 1e-400 is not 0: it is alive, and comes back when its time comes.
//! **Care** When Z has lost digits, or leaves a safe range, the largest λ is subtracted from all and Z is summed anew, in O(n).
//! **Cost** O(nnz), one exponential per coordinate of the row.
//! **Source** \[AW20, sec. 4\].

use super::tally::Tally;
use crate::Real;
use crate::error::{Allowed, ConfigError};
use crate::row::Row;
use crate::walk;

/// How a weight is multiplied, given s_i = τ·x_i.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) enum Factor {
    /// e^s.
    Exponential,
    /// 1 + s; weights do not become negative, so a factor ≤ 0 is cut.
    Linear,
    /// (1 + s)².
    Square,
}

/// What happened to a coordinate.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) enum Crossing {
    Inside,
    /// 1 + s < 0.
    Crossed,
    /// The logarithm of the factor was cut to what can be represented.
    Clamped,
}

/// Below this, 1 + s is rounding error: a weight that meets it shrinks, and does not die.
const LEAST_FACTOR: f64 = f64::EPSILON;

impl Factor {
    /// The logarithm of the factor.
    #[inline]
    pub(super) fn logarithm(self, s: f64) -> (f64, Crossing) {
        let (logarithm, crossing) = match self {
            Self::Exponential => (s, Crossing::Inside),
            Self::Linear if 1.0 + s < LEAST_FACTOR => (Real::ln(LEAST_FACTOR), Crossing::Clamped),
            Self::Linear => (Real::ln_1p(s), Crossing::Inside),
            Self::Square => {
                let f = 1.0 + s;
                if f.abs() < LEAST_FACTOR {
                    (2.0 * Real::ln(LEAST_FACTOR), Crossing::Clamped)
                } else if f > 0.0 {
                    (2.0 * Real::ln_1p(s), Crossing::Inside)
                } else {
                    (2.0 * Real::ln(-f), Crossing::Crossed)
                }
            }
        };
        if logarithm.abs() <= f64::MAX_EXPONENT {
            (logarithm, crossing)
        } else {
            (Real::clamp(logarithm, -f64::MAX_EXPONENT, f64::MAX_EXPONENT), Crossing::Clamped)
        }
    }
}

/// What a multiplication of weights did.
#[derive(Debug, Clone, Copy, PartialEq, Default)]
pub(super) struct Moved {
    /// D(w‖w'), the relative entropy of the weights before to those after.
    pub(super) divergence: f64,
    /// Coordinates of the row.
    pub(super) touched: usize,
    /// Coordinates where the factor was the absolute value of a negative number.
    pub(super) crossed: usize,
    /// Coordinates whose factor was cut.
    pub(super) clamped: usize,
}

impl Moved {
    pub(super) fn count(&mut self, crossing: Crossing) {
        self.touched += 1;
        match crossing {
            Crossing::Inside => {}
            Crossing::Crossed => self.crossed += 1,
            Crossing::Clamped => self.clamped += 1,
        }
    }
}

/// w' − w − w·s for w' = w·e^s, without cancellation near s = 0.
#[inline]
pub(super) fn beyond_linear(w: f64, to: f64, s: f64) -> f64 {
    if s.abs() < 0.05 {
        // w·Σ s^k/k! from k = 2; the first term left out is below 1e-16 of the first.
        let terms = [720.0, 120.0, 24.0, 6.0, 2.0];
        let start = s / 40_320.0 + 1.0 / 5040.0;
        w * s * s * terms.iter().fold(start, |sum, k| sum * s + 1.0 / k)
    } else {
        to - w - w * s
    }
}

/// s − ln(1 + s), without cancellation near 0.
#[inline]
pub(super) fn beyond_logarithm(s: f64) -> f64 {
    if s.abs() < 0.01 {
        let series = (3..=8).rev().fold(1.0 / 9.0, |sum, k| 1.0 / f64::from(k) - s * sum);
        s * s * (0.5 - s * series)
    } else {
        s - Real::ln_1p(s)
    }
}

/// D(w‖w') = ln Σ w e^s − Σ w s, from Σ w s, Σ w (e^s − 1 − s) and Σ w e^s.
fn divergence(linear: f64, rest: f64, sum: f64) -> f64 {
    let t = linear + rest;
    let divergence = if t.abs() < 0.5 {
        // With Σ w e^s = 1 + t this is (t − Σ w s) − (t − ln(1 + t)): two terms of second order.
        rest - beyond_logarithm(t)
    } else {
        Real::ln(sum) - linear
    };
    // Logarithms of factors are within ±700. Where all weight is on the row and shrinks, the sum may be 0 by rounding.
    let largest = 2.0 * f64::MAX_EXPONENT;
    if divergence.abs() <= largest { divergence.max(0.0) } else { largest }
}

/// λ this large or more: overflow is near.
const LARGEST_LOGARITHM: f64 = 100.0;
/// Z this small: all weights have shrunk.
const SMALLEST_SUM: f64 = 1e-40;

#[derive(Debug, Clone, PartialEq, Default)]
pub(super) struct Partition {
    pub(super) lambda: Vec<f64>,
    pub(super) e: Vec<f64>,
    /// The logarithm of a weight that no row has touched.
    untouched: f64,
    pub(super) sum: Tally,
}

impl Partition {
    pub(super) fn features(&self) -> usize {
        self.e.len()
    }

    pub(super) fn grow(&mut self, n: usize) {
        if n > self.e.len() {
            let e = Real::exp(self.untouched);
            for _ in self.e.len()..n {
                self.sum.add(e);
                self.e.push(e);
            }
            self.lambda.resize(n, self.untouched);
            self.settle();
        }
    }

    /// 1/Z; 0 if there are no weights.
    #[inline]
    pub(super) fn share(&self) -> f64 {
        if self.e.is_empty() { 0.0 } else { 1.0 / self.sum.value() }
    }

    /// e_i.
    pub(super) fn local(&self, i: usize) -> f64 {
        self.e.get(i).copied().unwrap_or_default()
    }

    /// The logarithm of what all e_i have been multiplied by.
    pub(super) fn unit(&self) -> f64 {
        self.untouched
    }

    /// ⟨w, x⟩.
    #[inline]
    pub(super) fn dot<X: Row<f64>>(&self, x: X) -> f64 {
        x.dot(&self.e) * self.share()
    }

    /// ⟨w, x⟩ and ⟨w, x²⟩.
    pub(super) fn moments<X: Row<f64>>(&self, x: X) -> (f64, f64) {
        let (mut first, mut second) = (0.0, 0.0);
        x.each(|i, x| {
            if let Some(&e) = self.e.get(i) {
                first += e * x;
                second += e * x * x;
            }
        });
        (first * self.share(), second * self.share())
    }

    /// Multiplies w_i by the factor of s_i = τ·x_i, and divides all by their sum.
    pub(super) fn multiply<X: Row<f64>>(&mut self, x: X, factor: Factor, tau: f64) -> Moved {
        self.reweight(x, |x| factor.logarithm(tau * x))
    }

    /// Multiplies w_i by the factor whose logarithm is a function of x_i, and divides all by their sum.
    pub(super) fn reweight<X: Row<f64>>(
        &mut self,
        x: X,
        logarithm: impl Fn(f64) -> (f64, Crossing),
    ) -> Moved {
        let mut moved = Moved::default();
        let (mut linear, mut rest, mut lost) = (0.0, 0.0, false);
        // The mass on the row after the factors, and that off it.
        let (mut on, mut off) = (0.0, self.sum.value());
        let share = self.share();
        let Self { lambda, e, sum, .. } = self;
        x.each(|i, x| {
            let (Some(lambda), Some(e)) = (lambda.get_mut(i), e.get_mut(i)) else { return };
            let (s, crossing) = logarithm(x);
            moved.count(crossing);
            let from = *e;
            *lambda += s;
            let to = if *lambda < LARGEST_LOGARITHM {
                *e = Real::exp(*lambda);
                sum.add(*e - from);
                *e
            } else {
                lost = true;
                from * Real::exp(s)
            };
            linear += from * s;
            rest += beyond_linear(from, to, s);
            on += to;
            off -= from;
        });
        moved.divergence = divergence(linear * share, rest * share, (off.max(0.0) + on) * share);
        if lost {
            self.center();
        } else {
            self.settle();
        }
        moved
    }

    fn settle(&mut self) {
        if self.sum.worn() || self.sum.value() < SMALLEST_SUM {
            self.center();
        }
    }

    /// Makes the largest λ 0 and sums anew.
    #[cold]
    fn center(&mut self) {
        let top = self.lambda.iter().copied().fold(f64::NEG_INFINITY, f64::max);
        if !top.is_finite() {
            return;
        }
        for (lambda, e) in self.lambda.iter_mut().zip(&mut self.e) {
            *lambda -= top;
            *e = Real::exp(*lambda);
        }
        self.untouched -= top;
        self.sum = Tally::of(self.e.iter().copied());
    }

    pub(super) fn read(&self, w: &mut Vec<f64>) {
        let share = self.share();
        w.clear();
        w.extend(self.e.iter().map(|e| e * share));
    }

    /// ln w_i, also where w_i is too small to be represented.
    pub(super) fn logarithms(&self, out: &mut Vec<f64>) {
        let log_sum = Real::ln(self.sum.value());
        out.clear();
        out.extend(self.lambda.iter().map(|lambda| lambda - log_sum));
    }

    pub(super) fn save(&self, put: &mut dyn FnMut(&'static str, &[f64])) {
        put("log_w", &self.lambda);
        put("untouched", &[self.untouched]);
        self.sum.save("sum", put);
    }

    pub(super) fn load(
        get: &mut dyn FnMut(&'static str) -> Option<Vec<f64>>,
    ) -> Result<Self, ConfigError> {
        let lambda = walk::array(get, "log_w", Allowed::Open(f64::MIN, LARGEST_LOGARITHM))?;
        let [untouched] = walk::numbers(get, "untouched", Allowed::Finite)?;
        let e = lambda.iter().map(|&lambda| Real::exp(lambda)).collect();
        Ok(Self { lambda, e, untouched, sum: Tally::load("sum", get)? })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::row::Dense;

    #[test]
    fn second_order_terms_keep_their_digits() {
        // mpmath, 50 digits.
        for (s, exp, log) in [
            (1e-9, 5.000_000_001_666_667e-19, 4.999_999_996_666_667e-19),
            (0.0099, 4.916_711_754_213_868e-5, 4.868_394_962_581_728e-5),
            (-0.049, 0.001_181_129_698_504_853_5, 0.001_241_216_436_746_746_6),
            (0.5, 0.148_721_270_700_128_14, 0.094_534_891_891_835_62),
        ] {
            let beyond = beyond_linear(2.0, 2.0 * Real::exp(s), s) / 2.0;
            assert!((beyond / exp - 1.0).abs() < 1e-13, "{s}: {beyond}");
            assert!(
                (beyond_logarithm(s) / log - 1.0).abs() < 1e-13,
                "{s}: {}",
                beyond_logarithm(s)
            );
        }
    }

    #[test]
    fn the_divergence_is_the_relative_entropy() {
        let mut partition = Partition::default();
        partition.grow(4);
        partition.multiply(Dense(&[1.0, -0.5, 0.0, 2.0]), Factor::Exponential, 0.3);
        for (factor, tau) in
            [(Factor::Exponential, 1e-3), (Factor::Exponential, -1.0), (Factor::Square, 0.4)]
        {
            let (mut before, mut after) = (Vec::new(), Vec::new());
            partition.read(&mut before);
            let moved = partition.multiply(Dense(&[0.5, 1.0, 0.0, -2.0]), factor, tau);
            partition.read(&mut after);
            let exact: f64 = before.iter().zip(&after).map(|(w, v)| w * Real::ln(w / v)).sum();
            assert!((moved.divergence - exact).abs() < 1e-14, "{} {exact}", moved.divergence);
        }
    }

    #[test]
    fn far_exponents_are_cut_and_counted() {
        let mut partition = Partition::default();
        partition.grow(2);
        let moved = partition.multiply(Dense(&[1.0, 0.0]), Factor::Exponential, 1e10);
        assert_eq!((moved.clamped, moved.touched), (1, 2));
        let mut w = Vec::new();
        partition.read(&mut w);
        assert_eq!(w, [1.0, 9.859_676_543_759_77e-305]);
        let moved = partition.multiply(Dense(&[1.0, 0.0]), Factor::Square, -1.0);
        assert_eq!(moved.clamped, 1, "a factor of exactly 0 would kill the weight");
    }
}
