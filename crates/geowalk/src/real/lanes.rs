//! # Vectorised exponentials and logarithms
//! [`Real::exp`](super::Real::exp) branches and reads tables, one number at a time. The functions here are
//! straight-line sequences of additions and multiplications, so a loop over an array processes as many numbers at a
//! time as fit into the processor's vectors:
//! $$e^x = 2^k e^r, \qquad k = \lfloor x/\ln 2 \rceil, \qquad e^r = 1 + r + r^2 Q(r), \quad |r| \le \tfrac12 \ln 2$$
//! $$\ln(1 + s) = s - \bigl(\tfrac{s^2}2 - t\,(\tfrac{s^2}2 + t^2 L(t^2))\bigr), \qquad
//!   t = \frac{s}{2 + s}, \quad |s| \le \tfrac14$$
//! Q and L are the polynomials that interpolate $(e^r - 1 - r)/r^2$ and $(2\,\mathrm{artanh}(t)/t - 2)/t^2$ at the 11
//! and 7 Chebyshev nodes of their intervals. With rounded coefficients the relative error of the functions is below
//! 2⁻⁶⁰.
//!
//! **Same bits everywhere** Only correctly rounded operations are used, in a fixed order, none of them fused. The
//! result depends only on the number: not on the processor, the position in an array, or the neighboring numbers.
//! **Error** below 0.9 units in the last place of e^x (also for subnormal results), and 0.7 for ln(1 + s): measured
//! against 40 digits at a hundred thousand places. The theoretical bound is ½ for the last addition, ¼ for the one
//! before it, and small terms.
//! **Source** textbook methods, \[Muller16\].

use std::f64::consts::LOG2_E;
/// Selects one of two computed numbers; a branch would prevent vectorisation.
pub(crate) use std::hint::select_unpredictable as select;

/// A piece of work; everything in it must be inlined, else it is not vectorised.
pub(crate) use pulp::NullaryFnOnce as Work;

/// Runs `work` with the widest supported vectors of this processor. The bits do not depend on the width, because the
/// operations stay the same.
#[inline(always)]
pub(crate) fn wide<W: Work>(work: W) -> W::Output {
    pulp::Arch::new().dispatch(work)
}

/// Runs a closure like [`wide`]. The closure must be marked `#[inline(always)]`.
#[inline(always)]
pub(crate) fn widely<R>(work: impl FnMut() -> R) -> R {
    wide(Repeatable(work))
}

/// A closure that is inlined at its call. A `FnOnce` closure would be called through a library function that is not
/// inlined.
struct Repeatable<F>(F);

impl<R, F: FnMut() -> R> Work for Repeatable<F> {
    type Output = R;

    #[inline(always)]
    fn call(mut self) -> R {
        (self.0)()
    }
}

/// Numbers that a step of a walk processes together. With vectors of four, two vectors run independently of each other
/// and share the loads of constants.
pub(crate) const WIDTH: usize = 8;

/// `WIDTH` numbers.
pub(crate) type Lanes = [f64; WIDTH];

/// f of each number. `array::map` is not always inlined, and then it does not use wide vectors.
#[inline(always)]
pub(crate) fn map<const N: usize>(x: [f64; N], f: impl Fn(f64) -> f64) -> [f64; N] {
    let mut out = [0.0; N];
    for k in 0..N {
        out[k] = f(x[k]);
    }
    out
}

/// f of each pair.
#[inline(always)]
pub(crate) fn zip<const N: usize>(
    x: [f64; N],
    y: [f64; N],
    f: impl Fn(f64, f64) -> f64,
) -> [f64; N] {
    let mut out = [0.0; N];
    for k in 0..N {
        out[k] = f(x[k], y[k]);
    }
    out
}

/// 1.5·2⁵². Adding it rounds to an integer, which is then in the last bits.
const SHIFT: f64 = 6_755_399_441_055_744.0;
/// ln 2 in two parts. The first has 32 bits, so its products with integers below 2²¹ are exact.
const LN_2: (f64, f64) = (6.931_471_803_691_238e-1, 1.908_214_929_270_587_7e-10);
/// e^x is +∞ from here on.
const OVERFLOW: f64 = 710.0;
/// e^x is 0 for all smaller x.
const UNDERFLOW: f64 = -746.0;

/// The coefficients of Q.
const EXPONENTIAL: [f64; 11] = [
    0.5,
    0.166_666_666_666_666_7,
    0.041_666_666_666_666_67,
    0.008_333_333_333_326_141,
    0.001_388_888_888_888_375_2,
    0.000_198_412_698_748_006_83,
    2.480_158_732_553_350_2e-5,
    2.755_725_542_550_29e-6,
    2.755_727_366_117_472_6e-7,
    2.510_520_647_533_483_4e-8,
    2.091_467_944_897_855e-9,
];

/// 2^k for an integer k between −1022 and 1023, given k + [`SHIFT`].
#[inline(always)]
fn power(shifted: f64) -> f64 {
    f64::from_bits(shifted.to_bits().wrapping_add(1023) << 52)
}

/// e^x; 0 or ∞ where it is not representable, NaN for NaN.
#[inline(always)]
pub(crate) fn exp(x: f64) -> f64 {
    let x = select(x > OVERFLOW, OVERFLOW, x);
    let x = select(x < UNDERFLOW, UNDERFLOW, x);
    let k = (x * LOG2_E + SHIFT) - SHIFT;
    let high = x - k * LN_2.0;
    let low = k * LN_2.1;
    let r = high - low;
    // The rounding error of the subtraction.
    let lost = (high - r) - low;
    let [q0, q1, q2, q3, q4, q5, q6, q7, q8, q9, q10] = EXPONENTIAL;
    // Combine terms in pairs: a dependent chain of ten products would take as long as all the rest.
    let (r2, r4) = (r * r, (r * r) * (r * r));
    let low = (q0 + q1 * r) + (q2 + q3 * r) * r2;
    let middle = (q4 + q5 * r) + (q6 + q7 * r) * r2;
    let high = (q8 + q9 * r) + q10 * r2;
    let q = low + (middle + high * r4) * r4;
    let e = 1.0 + (r + (r2 * q + lost));
    // Multiply in two parts: 2^k may overflow or underflow although 2^k·e does not.
    let half = k * 0.5 + SHIFT;
    e * power(half) * power((k - (half - SHIFT)) + SHIFT)
}

/// Largest |s| that [`ln_1p`] accepts.
pub(crate) const NEAR: f64 = 0.25;

/// The coefficients of L.
const LOGARITHM: [f64; 7] = [
    0.666_666_666_666_666_7,
    0.399_999_999_999_891_55,
    0.285_714_285_799_207_77,
    0.222_222_197_302_625_85,
    0.181_821_658_895_006_48,
    0.153_597_777_542_195_17,
    0.142_073_139_844_301_3,
];

/// ln(1 + s) for |s| ≤ [`NEAR`].
#[inline(always)]
pub(crate) fn ln_1p(s: f64) -> f64 {
    let t = s / (2.0 + s);
    let z = t * t;
    let [l0, l1, l2, l3, l4, l5, l6] = LOGARITHM;
    let z2 = z * z;
    let sum = (l0 + l1 * z) + ((l2 + l3 * z) + ((l4 + l5 * z) + l6 * z2) * z2) * z2;
    let half = 0.5 * s * s;
    s - (half - t * (half + z * sum))
}

/// The coefficients of [`ln`], the same as in `libm`.
const LOGARITHM_OF_ALL: [f64; 7] = [
    6.666_666_666_666_735e-1,
    3.999_999_999_940_942e-1,
    2.857_142_874_366_239e-1,
    2.222_219_843_214_978_4e-1,
    1.818_357_216_161_805e-1,
    1.531_383_769_920_937_3e-1,
    1.479_819_860_511_658_6e-1,
];
/// The bits of √½, rounded down to 20 bits, and of 1.
const ROOT_HALF: u64 = 0x3fe6_a09e_0000_0000;
const ONE: u64 = 0x3ff0_0000_0000_0000;
/// The bits of 2⁵².
const TWO_52: u64 = 0x4330_0000_0000_0000;

/// ln x of a positive normal number; the result for other numbers is unspecified. Bit-identical to
/// [`Real::ln`](super::Real::ln): the same operations, without the branches for other numbers.
#[inline(always)]
pub(crate) fn ln(x: f64) -> f64 {
    // x = 2^k (1 + f), √½ ≤ 1 + f < √2.
    let bits = x.to_bits().wrapping_add(ONE - ROOT_HALF);
    let k = f64::from_bits((bits >> 52) | TWO_52) - (4_503_599_627_370_496.0 + 1023.0);
    let f = f64::from_bits((bits & ((1 << 52) - 1)).wrapping_add(ROOT_HALF)) - 1.0;
    let half = 0.5 * f * f;
    let s = f / (2.0 + f);
    let z = s * s;
    let w = z * z;
    let [l1, l2, l3, l4, l5, l6, l7] = LOGARITHM_OF_ALL;
    let even = w * (l2 + w * (l4 + w * l6));
    let odd = z * (l1 + w * (l3 + w * (l5 + w * l7)));
    s * (half + (odd + even)) + k * LN_2.1 - half + f + k * LN_2.0
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Real;
    use crate::laws::Sampler;

    /// Distance of two numbers of the same sign, in floating-point steps.
    fn steps(a: f64, b: f64) -> u64 {
        a.to_bits().abs_diff(b.to_bits())
    }

    #[test]
    fn as_libm_to_the_last_bit_or_two() {
        // Both errors are less than one unit.
        let mut random = Sampler::new(5);
        for _ in 0..200_000 {
            for x in [
                -745.2 + 1455.0 * random.unit(),
                -708.0 - 37.0 * random.unit(),
                random.unit() - 0.5,
                random.normal() * 20.0,
                random.normal() * 1e-9,
            ] {
                assert!(steps(exp(x), Real::exp(x)) <= 1, "{x:e}: {:e}", exp(x));
            }
            let size = Real::exp(-40.0 * random.unit());
            for s in [0.5 * random.unit() - 0.25, size * (0.5 * random.unit() - 0.25)] {
                assert!(steps(ln_1p(s), Real::ln_1p(s)) <= 1, "{s:e}: {:e}", ln_1p(s));
            }
        }
    }

    #[test]
    fn logarithms_have_the_bits_of_the_library() {
        let mut random = Sampler::new(7);
        let mut numbers = vec![1.0, 0.5, 2.0, f64::MIN_POSITIVE, f64::MAX, 1.0 - f64::EPSILON];
        numbers.extend([std::f64::consts::SQRT_2, std::f64::consts::FRAC_1_SQRT_2]);
        for _ in 0..200_000 {
            numbers.extend([
                random.unit(),
                Real::exp(1400.0 * random.unit() - 700.0),
                1.0 + 1e-6 * random.normal(),
            ]);
        }
        for x in numbers {
            assert_eq!(ln(x).to_bits(), Real::ln(x).to_bits(), "{x:e}");
        }
    }

    #[test]
    fn against_forty_digits() {
        // Values from mpmath at the places of the largest error, and at the ends. They are nearest numbers, so the
        // results are at most one step away.
        for (x, e) in [
            (-12.784_457_583_146_459, 2.804_016_839_880_469_5e-06),
            (-708.410_952_482_564_9, 2.192_968_618_757_339e-308),
            (-745.13, 5e-324),
            (-740.5, 2.5e-322),
            (-0.34, 0.711_770_322_762_609_7),
            (0.34, 1.404_947_590_563_593_8),
            (1.0, std::f64::consts::E),
            (-1.0, 0.367_879_441_171_442_33),
            (100.0, 2.688_117_141_816_135_6e+43),
            (344.9, 6.139_977_906_650_401e+149),
            (709.78, 1.792_822_794_394_515_5e+308),
        ] {
            assert!(steps(exp(x), e) <= 1, "{x}: {:e}", exp(x));
        }
        for (s, l) in [
            (-0.210_183_007_189_844_9, -0.235_954_015_027_847_38),
            (0.25, 0.223_143_551_314_209_76),
            (-0.25, -0.287_682_072_451_780_9),
            (0.1, 0.095_310_179_804_324_87),
            (-0.001, -0.001_000_500_333_583_533_5),
            (1e-09, 9.999_999_995e-10),
            (-3e-17, -3e-17),
            (0.062_5, 0.060_624_621_816_434_84),
        ] {
            assert!(steps(ln_1p(s), l) <= 1, "{s}: {:e}", ln_1p(s));
        }
    }

    #[test]
    fn ends() {
        assert_eq!(exp(0.0), 1.0);
        assert_eq!(exp(-0.0), 1.0);
        assert_eq!(exp(f64::NEG_INFINITY), 0.0);
        assert_eq!(exp(-1e300), 0.0);
        assert_eq!(exp(-745.2), 0.0);
        assert_eq!(exp(-745.1), f64::from_bits(1));
        assert_eq!(exp(f64::INFINITY), f64::INFINITY);
        assert_eq!(exp(1e300), f64::INFINITY);
        assert_eq!(exp(709.8), f64::INFINITY);
        assert!(exp(709.7).is_finite());
        assert!(exp(f64::NAN).is_nan());
        for s in [0.0, -0.0, 1e-320, -1e-320, 1e-200] {
            assert_eq!(ln_1p(s).to_bits(), f64::to_bits(s));
        }
        assert!(ln_1p(f64::NAN).is_nan());
    }

    #[test]
    fn wide_vectors_change_no_bit() {
        struct Both<'a>(&'a [Lanes]);
        impl Work for Both<'_> {
            type Output = Vec<Lanes>;
            #[inline(always)]
            fn call(self) -> Vec<Lanes> {
                let mut out = self.0.to_vec();
                for some in &mut out {
                    *some = zip(map(*some, exp), map(*some, ln_1p), |a, b| a + b);
                }
                out
            }
        }
        let mut random = Sampler::new(6);
        let numbers: Vec<_> =
            (0..10_000).map(|_| [(); WIDTH].map(|()| 0.5 * random.unit() - 0.25)).collect();
        let wide = wide(Both(&numbers));
        for (some, wide) in numbers.iter().zip(&wide) {
            for (&x, wide) in some.iter().zip(wide) {
                // One number at a time, with the baseline vectors of the processor family.
                let alone = std::hint::black_box(exp(std::hint::black_box(x)))
                    + std::hint::black_box(ln_1p(x));
                assert_eq!(alone.to_bits(), wide.to_bits());
            }
        }
    }
}
