//! The height of a curve above its tangent, without the cancellation of "value minus tangent".
//!
//! A divergence of two points at relative distance ε is of order ε². Computed as a difference of terms of order 1 it
//! loses all digits at ε = 1e-8. Each function here is a sum of terms of one sign, or a difference that loses at most
//! a few bits.

use crate::Real;

/// Below this relative distance the series of [`log_gap`] is used.
const NEAR: f64 = 0.4;

/// ln(u/w), also if u/w overflows or underflows.
#[inline]
pub(crate) fn ln_ratio<F: Real>(u: F, w: F) -> F {
    let ratio = u / w;
    if ratio.is_finite() && ratio >= F::TINY { ratio.ln() } else { u.ln() - w.ln() }
}

/// t − ln(1 + t) for |t| < [`NEAR`].
///
/// With s = t/(2 + t), ln(1 + t) = 2 artanh s and t − 2s = ts, so what remains is ts − 2s³(1/3 + s²/5 + s⁴/7 + …).
#[inline]
fn log_gap<F: Real>(t: F) -> F {
    // s² ≤ 1/16: twelve terms leave 4e-17 of the result.
    const TERMS: usize = 12;
    let s = t / (F::TWO + t);
    let square = s.square();
    let series =
        (0..TERMS).rev().fold(F::ZERO, |sum, k| sum * square + F::ONE / F::of((2 * k + 3) as f64));
    t * s - F::TWO * s * square * series
}

/// u ln(u/w) − u + w ≥ 0 for u, w ≥ 0. The caller also passes d = u − w, which it may know more exactly than the
/// rounded u and w. +∞ if u > 0 = w.
#[inline]
pub(crate) fn entropy<F: Real>(u: F, w: F, d: F) -> F {
    if u == F::ZERO {
        if w < F::ZERO { F::NAN } else { w }
    } else if w == F::ZERO {
        if u > F::ZERO { F::INFINITY } else { F::NAN }
    } else if d.abs() < F::of(NEAR) * w {
        let t = d / w;
        w * (t.square() - (F::ONE + t) * log_gap(t))
    } else {
        u * ln_ratio(u, w) - d
    }
}

/// u/w − ln(u/w) − 1 ≥ 0 for u, w > 0; +∞ if one of them is 0.
#[inline]
pub(crate) fn burg<F: Real>(u: F, w: F) -> F {
    let d = u - w;
    if (u == F::ZERO || w == F::ZERO) && u >= F::ZERO && w >= F::ZERO {
        F::INFINITY
    } else if d.abs() < F::of(NEAR) * w {
        log_gap(d / w)
    } else {
        d / w - ln_ratio(u, w)
    }
}

/// eˣ − 1 − x ≥ 0.
#[inline]
pub(super) fn exp_gap<F: Real>(x: F) -> F {
    if x.abs() < F::HALF {
        // x²/2 · (1 + x/3 (1 + x/4 (1 + …))): at ½ the term after the fifteenth is below 1e-18.
        let tail = (3..=16).rev().fold(F::ONE, |sum, k| F::ONE + x / F::of(f64::from(k)) * sum);
        x.square() * F::HALF * tail
    } else {
        x.exp_m1() - x
    }
}

#[cfg(test)]
#[allow(clippy::unreadable_literal)] // copied with all digits
mod tests {
    use super::*;

    fn close(a: f64, b: f64, tolerance: f64) {
        assert!((a - b).abs() <= tolerance * b.abs(), "{a:e} and {b:e}");
    }

    /// 50-digit values (mpmath) of the three gaps.
    #[test]
    fn gaps_agree_with_high_precision() {
        // (t, (1+t)ln(1+t) - t, t - ln(1+t), e^t - 1 - t)
        let table = [
            (-0.999, 0.9920922447210179, 5.908755278982136, 0.3672475046136629),
            (-0.5, 0.15342640972002736, 0.19314718055994531, 0.10653065971263342),
            (-0.4, 0.0935046257404056, 0.1108256237659907, 0.07032004603563931),
            (-0.399, 0.0929946329873954, 0.11016034444692949, 0.06999070135344591),
            (-0.1, 0.005175535907956329, 0.005360515657826302, 0.0048374180359595734),
            (-0.001, 5.001667500500334e-07, 5.003335835335002e-07, 4.998333749916681e-07),
            (-1e-08, 5.0000000166666667e-17, 5.000000033333334e-17, 4.999999983333334e-17),
            (1e-12, 4.999999999998333e-25, 4.999999999996667e-25, 5.000000000001666e-25),
            (1e-08, 4.999999983333334e-17, 4.999999966666667e-17, 5.0000000166666667e-17),
            (0.0001, 4.999833341666167e-09, 4.999666691664667e-09, 5.0001666708334175e-09),
            (0.1, 0.004841197784757347, 0.00468982019567514, 0.005170918075647625),
            (0.399, 0.07072501626099843, 0.06324230431665588, 0.09133361860740258),
            (0.4, 0.07106113126969811, 0.06352776337878707, 0.09182469764127033),
            (0.5, 0.10819766216224658, 0.09453489189183562, 0.14872127070012814),
            (3.0, 2.5451774444795623, 1.6137056388801094, 16.085536923187668),
        ];
        for (t, h, l, m) in table {
            // 1 + t is rounded, so pass t as the difference.
            close(entropy(1.0 + t, 1.0, t), h, 5e-15);
            if t.abs() > 1e-3 {
                close(burg(1.0 + t, 1.0), l, 4e-13);
            }
            close(exp_gap(t), m, 2e-15);
            if t.abs() < NEAR {
                close(log_gap(t), l, 1e-15);
            }
        }
    }

    #[test]
    fn edges() {
        assert_eq!(entropy(0.0, 0.0, 0.0), 0.0);
        assert_eq!(entropy(0.0, 0.25, -0.25), 0.25);
        assert_eq!(entropy(0.25, 0.0, 0.25), f64::INFINITY);
        assert!(entropy(f64::NAN, 0.0, f64::NAN).is_nan());
        assert!(entropy(0.0, f64::NAN, f64::NAN).is_nan());
        assert!(entropy(-1.0, 0.0, -1.0).is_nan() && entropy(0.0, -1.0, 1.0).is_nan());
        assert_eq!(burg(0.0, 1.0), f64::INFINITY);
        assert_eq!(burg(1.0, 0.0), f64::INFINITY);
        assert!(burg(f64::NAN, 0.0).is_nan() && burg(0.0, f64::NAN).is_nan());
        // The ratio overflows, the divergence does not.
        close(entropy(1e10, 1e-305, 1e10), 1e10 * (315.0 * std::f64::consts::LN_10 - 1.0), 1e-14);
        close(burg(1e-305, 1e10), 315.0 * std::f64::consts::LN_10 - 1.0, 1e-14);
    }
}
