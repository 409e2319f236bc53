//! # Division by a power of ten, without division
//! $$\frac np = nh + nm + nl + \text{small}, \qquad \frac1p = h + m + l + \text{small}$$
//! n has 31 bits, h and m have 22 each. So the first two products are exact, and the sum is rounded once. The result
//! is the nearest number and has the same bits as `n / p`.
//!
//! **Proof** Consider a quotient that is not itself a float. Its relative distance from the midpoint of two floats is
//! at least $2^{-54}/p \ge 2^{-84}$: at the midpoint $n\,2^j - Mp$ would be 0, and it is an integer. The relative
//! error of the last sum before rounding is below $2^{-95}$.
//!
//! **Cost** Three products and five sums, vectorised. A division takes as long as five to ten of these operations.

/// 1/p in three parts.
#[derive(Debug, Clone, Copy)]
pub(super) struct Reciprocal {
    high: f64,
    middle: f64,
    low: f64,
}

/// The first 22 of 53 bits.
fn front(x: f64) -> f64 {
    f64::from_bits(x.to_bits() & !((1 << 31) - 1))
}

impl Reciprocal {
    /// The reciprocal of an integer between 1 and 10⁹.
    pub(super) fn of(p: f64) -> Self {
        // Both remainders are exact: each is a multiple of the last bit of the part taken, and at most p times that
        // bit.
        let high = front(1.0 / p);
        let left = 1.0 - high * p;
        let middle = front(left / p);
        let low = (left - middle * p) / p;
        Self { high, middle, low }
    }

    /// Divides each of `digits`, a little-endian i32, by p.
    pub(super) fn divide(self, digits: &[[u8; 4]], quotients: &mut [f64]) {
        pulp::Arch::new().dispatch(Divide { by: self, digits, quotients });
    }

    #[inline(always)]
    fn times(self, n: i32) -> f64 {
        let n = f64::from(n);
        let (high, middle) = (n * self.high, n * self.middle);
        let sum = high + middle;
        // The rounding error of that sum; exact, because `high` is the larger term.
        let lost = middle - (sum - high);
        sum + (lost + n * self.low)
    }
}

/// The loop, compiled for several vector instruction sets.
struct Divide<'a> {
    by: Reciprocal,
    digits: &'a [[u8; 4]],
    quotients: &'a mut [f64],
}

impl pulp::NullaryFnOnce for Divide<'_> {
    type Output = ();

    #[inline(always)]
    fn call(self) {
        for (quotient, bytes) in self.quotients.iter_mut().zip(self.digits) {
            *quotient = self.by.times(i32::from_le_bytes(*bytes));
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn quotients_have_the_bits_of_division() {
        let mut state = 1_u64;
        let mut numbers: Vec<i32> = vec![0, 1, -1, i32::MAX, i32::MIN, 999_999_999, 1 << 30];
        numbers.extend((0..200_000).map(|_| {
            state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1);
            // All magnitudes are equally likely.
            i32::from_le_bytes((state >> 32).to_le_bytes()[..4].try_into().unwrap()) >> (state % 31)
        }));
        let bytes: Vec<[u8; 4]> = numbers.iter().map(|n| n.to_le_bytes()).collect();
        let mut quotients = vec![0.0; numbers.len()];
        let mut p = 1.0;
        for _ in 0..=9 {
            Reciprocal::of(p).divide(&bytes, &mut quotients);
            for (n, quotient) in numbers.iter().zip(&quotients) {
                assert_eq!((f64::from(*n) / p).to_bits(), quotient.to_bits(), "{n} / {p}");
            }
            p *= 10.0;
        }
    }

    #[test]
    fn near_the_middle_of_two_numbers() {
        // The hardest cases: n·2^j leaves remainder 1 or −1 modulo 5^k.
        let (mut p, mut five) = (1.0, 1_i32);
        for _ in 1..=9 {
            (p, five) = (10.0 * p, 5 * five);
            let by = Reciprocal::of(p);
            let multiples = i32::MAX / five;
            let stride = usize::try_from(multiples / 64).unwrap() + 1;
            let mut n = 1; // n·2^j ≡ 1
            for _ in 0..90 {
                n = if n % 2 == 0 { n / 2 } else { i32::midpoint(n, five) };
                for first in [n, five - n] {
                    for times in (0..multiples).step_by(stride) {
                        let n = first + times * five;
                        assert_eq!(
                            by.times(n).to_bits(),
                            (f64::from(n) / p).to_bits(),
                            "{n} / {p}"
                        );
                    }
                }
            }
        }
    }
}
