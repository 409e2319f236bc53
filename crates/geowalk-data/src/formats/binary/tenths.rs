//! # Division by a power of ten, without division
//! $$\frac np = nh + nm + nl + \text{small}, \qquad \frac1p = h + m + l + \text{small}$$
//! n has 31 bits, h and m have 22 each: both first products are exact, and the sum is rounded once. The quotient is the nearest number, the bits are those of `n / p`.
//!
//! **Why it is the nearest** A quotient that is not itself a number lies at least $2^{-54}/p \ge 2^{-84}$ of itself from the middle between two numbers: there
//! $n\,2^j - Mp$ would be 0, and is a whole number. The last sum is off by less than $2^{-95}$ before it is rounded.
//! **Cost** three products and five sums, on as many numbers at once as the processor has room for; a division takes as long as five to ten of these.

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
    /// Of a whole number between 1 and 10⁹.
    pub(super) fn of(p: f64) -> Self {
        // What is left over is exact both times: a multiple of the last bit of the part that was taken, and at most p times it.
        let high = front(1.0 / p);
        let left = 1.0 - high * p;
        let middle = front(left / p);
        let low = (left - middle * p) / p;
        Self { high, middle, low }
    }

    /// Each number of `digits`, four bytes each, over p.
    pub(super) fn divide(self, digits: &[[u8; 4]], quotients: &mut [f64]) {
        pulp::Arch::new().dispatch(Divide { by: self, digits, quotients });
    }

    #[inline(always)]
    fn times(self, n: i32) -> f64 {
        let n = f64::from(n);
        let (high, middle) = (n * self.high, n * self.middle);
        let sum = high + middle;
        // What that sum lost, exactly: `high` is the larger one.
        let lost = middle - (sum - high);
        sum + (lost + n * self.low)
    }
}

/// The loop, to be compiled for several kinds of vectors.
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
            // All sizes alike.
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
        // As near as quotients can be: n·2^j leaves 1 or −1 when divided by 5^k.
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
