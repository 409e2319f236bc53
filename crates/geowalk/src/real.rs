//! # Real scalars
//! The two floating-point types of the crate, `f64` and `f32`, behind one sealed trait.
//!
//! **Why not `num_traits::Float`** Its transcendental functions come from the C library of the machine. A model
//! trained on one system would then differ in its last bits from the same model trained on another. Here they come
//! from `libm`, written in Rust: same input, same bits, on every platform. `sqrt`, `abs`, `floor` and the arithmetic
//! operators are exactly rounded by IEEE 754, so they are safe. `clippy.toml` forbids the inherent `f64::exp` and the
//! like, so that no code uses the platform's functions by accident.
//!
//! ```
//! use geowalk::Real;
//! fn softplus<F: Real>(x: F) -> F {
//!     x.max(F::ZERO) + (-x.abs()).exp().ln_1p()
//! }
//! assert_eq!(softplus(0.0_f64), std::f64::consts::LN_2);
//! assert_eq!(softplus(0.0_f32), std::f32::consts::LN_2);
//! ```

pub(crate) mod lanes;

use std::fmt::{Debug, Display};
use std::iter::Sum;
use std::ops::{Add, AddAssign, Div, DivAssign, Mul, MulAssign, Neg, Sub, SubAssign};

mod sealed {
    pub trait Sealed {}
    impl Sealed for f32 {}
    impl Sealed for f64 {}
}

/// A floating-point scalar, `f32` or `f64`, whose functions give the same bits on every platform.
pub trait Real:
    Copy
    + PartialEq
    + PartialOrd
    + Debug
    + Display
    + Default
    + Send
    + Sync
    + 'static
    + Add<Output = Self>
    + Sub<Output = Self>
    + Mul<Output = Self>
    + Div<Output = Self>
    + Neg<Output = Self>
    + AddAssign
    + SubAssign
    + MulAssign
    + DivAssign
    + Sum
    + sealed::Sealed
{
    /// 0.
    const ZERO: Self;
    /// 1.
    const ONE: Self;
    /// 1/2.
    const HALF: Self;
    /// 2.
    const TWO: Self;
    /// π.
    const PI: Self;
    /// The distance from 1 to the next scalar.
    const EPSILON: Self;
    /// The smallest positive normal scalar.
    const TINY: Self;
    /// The largest finite scalar.
    const MAX: Self;
    /// +∞.
    const INFINITY: Self;
    /// Not a number.
    const NAN: Self;
    /// Largest distance of a point from its manifold that [`check`](crate::geometry::Manifold::check) accepts,
    /// relative to the size of the compared quantities.
    const TOLERANCE: Self;
    /// `exp` neither overflows nor becomes subnormal between −`MAX_EXPONENT` and `MAX_EXPONENT`.
    const MAX_EXPONENT: Self;

    /// The scalar nearest to an `f64`.
    fn of(x: f64) -> Self;
    /// This value as an `f64`, exactly.
    fn f64(self) -> f64;
    /// |x|.
    #[must_use]
    fn abs(self) -> Self;
    /// √x.
    #[must_use]
    fn sqrt(self) -> Self;
    /// eˣ.
    #[must_use]
    fn exp(self) -> Self;
    /// eˣ − 1, accurate near 0.
    #[must_use]
    fn exp_m1(self) -> Self;
    /// ln x.
    #[must_use]
    fn ln(self) -> Self;
    /// ln(1 + x), accurate near 0.
    #[must_use]
    fn ln_1p(self) -> Self;
    /// xᵃ.
    #[must_use]
    fn powf(self, a: Self) -> Self;
    /// sin x.
    #[must_use]
    fn sin(self) -> Self;
    /// cos x.
    #[must_use]
    fn cos(self) -> Self;
    /// (sin x, cos x).
    fn sin_cos(self) -> (Self, Self);
    /// arcsin x.
    #[must_use]
    fn asin(self) -> Self;
    /// arccos x. For the distance of two points on a sphere use [`Real::atan2`]: `acos` loses all digits for x near 1.
    #[must_use]
    fn acos(self) -> Self;
    /// The angle of the point (x, y) = (`other`, `self`), in [−π, π].
    #[must_use]
    fn atan2(self, other: Self) -> Self;
    /// sinh x.
    #[must_use]
    fn sinh(self) -> Self;
    /// cosh x.
    #[must_use]
    fn cosh(self) -> Self;
    /// tanh x.
    #[must_use]
    fn tanh(self) -> Self;
    /// arsinh x.
    #[must_use]
    fn asinh(self) -> Self;
    /// arcosh x.
    #[must_use]
    fn acosh(self) -> Self;
    /// artanh x.
    #[must_use]
    fn atanh(self) -> Self;
    /// √(x² + y²) without overflow.
    #[must_use]
    fn hypot(self, other: Self) -> Self;
    /// The larger of two; NaN if either is NaN, so that a maximum never hides a NaN.
    #[must_use]
    fn max(self, other: Self) -> Self;
    /// The smaller of two; NaN if either is NaN.
    #[must_use]
    fn min(self, other: Self) -> Self;
    /// The magnitude of `self` with the sign of `sign`.
    #[must_use]
    fn copysign(self, sign: Self) -> Self;
    /// Is it neither NaN nor infinite?
    fn is_finite(self) -> bool;
    /// Is it NaN?
    fn is_nan(self) -> bool;

    /// x².
    #[must_use]
    #[inline]
    fn square(self) -> Self {
        self * self
    }

    /// The value in [lo, hi] nearest to `self`; NaN stays NaN.
    #[must_use]
    #[inline]
    fn clamp(self, lo: Self, hi: Self) -> Self {
        self.max(lo).min(hi)
    }

    /// sin(x)/x, 1 at 0.
    #[must_use]
    #[inline]
    fn sinc(self) -> Self {
        // Below 1e-3 the neglected term x⁶/5040 is under 2e-22.
        if self.abs() < Self::of(1e-3) {
            let s = self.square();
            Self::ONE - s / Self::of(6.0) * (Self::ONE - s / Self::of(20.0))
        } else {
            self.sin() / self
        }
    }

    /// sinh(x)/x, 1 at 0.
    #[must_use]
    #[inline]
    fn sinhc(self) -> Self {
        if self.abs() < Self::of(1e-3) {
            let s = self.square();
            Self::ONE + s / Self::of(6.0) * (Self::ONE + s / Self::of(20.0))
        } else {
            self.sinh() / self
        }
    }
}

macro_rules! impl_real {
    ($t:ident, $tolerance:expr, $exponent:expr, $($f:ident: $name:ident),* $(,)?; $atan2:ident, $hypot:ident, $pow:ident, $sincos:ident) => {
        impl Real for $t {
            const ZERO: Self = 0.0;
            const ONE: Self = 1.0;
            const HALF: Self = 0.5;
            const TWO: Self = 2.0;
            const PI: Self = std::$t::consts::PI;
            const EPSILON: Self = $t::EPSILON;
            const TINY: Self = $t::MIN_POSITIVE;
            const MAX: Self = $t::MAX;
            const INFINITY: Self = $t::INFINITY;
            const NAN: Self = $t::NAN;
            const TOLERANCE: Self = $tolerance;
            const MAX_EXPONENT: Self = $exponent;

            #[inline]
            #[allow(clippy::cast_possible_truncation)] // `of` returns the nearest f32
            fn of(x: f64) -> Self {
                x as $t
            }
            #[inline]
            fn f64(self) -> f64 {
                f64::from(self)
            }
            #[inline]
            fn abs(self) -> Self {
                $t::abs(self)
            }
            #[inline]
            fn sqrt(self) -> Self {
                $t::sqrt(self)
            }
            $(
                #[inline]
                fn $f(self) -> Self {
                    libm::$name(self)
                }
            )*
            #[inline]
            fn powf(self, a: Self) -> Self {
                libm::$pow(self, a)
            }
            #[inline]
            fn sin_cos(self) -> (Self, Self) {
                libm::$sincos(self)
            }
            #[inline]
            fn atan2(self, other: Self) -> Self {
                libm::$atan2(self, other)
            }
            #[inline]
            fn hypot(self, other: Self) -> Self {
                libm::$hypot(self, other)
            }
            #[inline]
            fn max(self, other: Self) -> Self {
                if self > other || self.is_nan() { self } else { other }
            }
            #[inline]
            fn min(self, other: Self) -> Self {
                if self < other || self.is_nan() { self } else { other }
            }
            #[inline]
            fn copysign(self, sign: Self) -> Self {
                $t::copysign(self, sign)
            }
            #[inline]
            fn is_finite(self) -> bool {
                $t::is_finite(self)
            }
            #[inline]
            fn is_nan(self) -> bool {
                $t::is_nan(self)
            }
        }
    };
}

impl_real!(f64, 1e-9, 700.0,
    exp: exp, exp_m1: expm1, ln: log, ln_1p: log1p, sin: sin, cos: cos, asin: asin, acos: acos,
    sinh: sinh, cosh: cosh, tanh: tanh, asinh: asinh, acosh: acosh, atanh: atanh;
    atan2, hypot, pow, sincos);
impl_real!(f32, 1e-4, 80.0,
    exp: expf, exp_m1: expm1f, ln: logf, ln_1p: log1pf, sin: sinf, cos: cosf, asin: asinf, acos: acosf,
    sinh: sinhf, cosh: coshf, tanh: tanhf, asinh: asinhf, acosh: acoshf, atanh: atanhf;
    atan2f, hypotf, powf, sincosf);

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn maximum_and_minimum_keep_nan() {
        assert!(Real::max(f64::NAN, 1.0).is_nan());
        assert!(Real::max(1.0, f64::NAN).is_nan());
        assert!(Real::min(f32::NAN, 1.0).is_nan());
        assert!(Real::min(1.0, f32::NAN).is_nan());
        assert_eq!(Real::max(1.0, 2.0), 2.0);
        assert_eq!(Real::min(1.0, 2.0), 1.0);
    }

    #[test]
    fn sinc_is_continuous_where_the_series_ends() {
        for x in [1e-3_f64, 9.99e-4, -1e-3, 0.0, 1e-300] {
            let direct = if x == 0.0 { 1.0 } else { Real::sin(x) / x };
            assert!((x.sinc() - direct).abs() <= 2.0 * f64::EPSILON, "{x}");
            let direct = if x == 0.0 { 1.0 } else { Real::sinh(x) / x };
            assert!((x.sinhc() - direct).abs() <= 2.0 * f64::EPSILON, "{x}");
        }
    }
}
