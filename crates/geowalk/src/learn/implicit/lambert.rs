//! # Lambert's W on its principal branch
//! $$W_0(x)\, e^{W_0(x)} = x, \qquad W_0 \ge -1, \qquad x \ge -1/e$$
//! **Near the branch point** $W = -1 + v$ with $h(v) = 1 + (v - 1)e^v = 1 + e x$. The series
//! $\sum_{k\ge2} \frac{k-1}{k!} v^k$ of h has no cancellation, and $1 + ex$ is computed from $x + 1/e$ in two parts.
//! **Near 0** the series $\sum_{k\ge1} \frac{(-k)^{k-1}}{k!} x^k$, which saves an exponential and two logarithms.
//! **Elsewhere** Halley's iteration; above e Newton's on $W + \ln W = \ln x$.
//! **Accuracy** 4 units in the last place of W; below −0.3, of W + 1. **Source** \[CGHJK96, sec. 4\].

use crate::Real;

/// −1/e, rounded towards 0: the smallest x.
pub(crate) const BRANCH: f64 = -0.367_879_441_171_442_3;

/// 1/e + BRANCH, the rounding error of BRANCH.
const REST: f64 = 4.308_239_755_846_946_4e-17;

/// W₀(x); NaN below −1/e.
pub(crate) fn w0(x: f64) -> f64 {
    if x.abs() <= 0.01 {
        near_zero(x)
    } else if x < -0.3 {
        near_branch(x)
    } else if x <= std::f64::consts::E {
        halley(x)
    } else {
        newton(x)
    }
}

/// For |x| ≤ 0.01: the first omitted term, −1551.2 x¹², is below 2e-19 of x.
#[inline]
fn near_zero(x: f64) -> f64 {
    // (−k)^{k−1}/k! for k = 11 down to 2.
    const TERMS: [f64; 10] = [
        2_357_947_691.0 / 3_628_800.0,
        -156_250.0 / 567.0,
        531_441.0 / 4480.0,
        -16_384.0 / 315.0,
        16_807.0 / 720.0,
        -54.0 / 5.0,
        125.0 / 24.0,
        -8.0 / 3.0,
        1.5,
        -1.0,
    ];
    x + x * x * TERMS.iter().fold(0.0, |sum, term| sum * x + term)
}

fn near_branch(x: f64) -> f64 {
    let delta = std::f64::consts::E * ((x - BRANCH) + REST);
    if delta < -4.0 * f64::EPSILON {
        return f64::NAN;
    }
    // h = v²/2 + v³/3 + …
    let p = (2.0 * delta.max(0.0)).sqrt();
    let mut v = p - p * p / 3.0 + 11.0 / 72.0 * p * p * p;
    if v <= 0.0 {
        return -1.0;
    }
    for _ in 0..4 {
        v -= (h(v) - delta) / (v * Real::exp(v));
    }
    v - 1.0
}

/// 1 + (v − 1)e^v for 0 ≤ v ≤ 0.6.
fn h(v: f64) -> f64 {
    // Coefficients (k − 1)/k!, from k = 2 on; the terms fall by v/k.
    let (mut term, mut sum) = (v * v / 2.0, 0.0);
    let mut k = 2.0;
    while term > 1e-18 * sum {
        sum += term;
        term *= v * k / ((k + 1.0) * (k - 1.0));
        k += 1.0;
    }
    sum
}

fn halley(x: f64) -> f64 {
    // Winitzki's approximation, accurate to 2% here.
    let l = Real::ln_1p(x);
    let mut w = l * (1.0 - Real::ln_1p(l) / (2.0 + l));
    for _ in 0..3 {
        let e = Real::exp(w);
        let f = w * e - x;
        let step = f / (e * (w + 1.0) - (w + 2.0) * f / (2.0 * w + 2.0));
        w -= step;
    }
    w
}

fn newton(x: f64) -> f64 {
    let l = Real::ln(x);
    if !l.is_finite() {
        return l;
    }
    let mut w = l - Real::ln(l) * (1.0 - 1.0 / (1.0 + l));
    for _ in 0..4 {
        w *= (1.0 + l - Real::ln(w)) / (1.0 + w);
    }
    w
}

#[cfg(test)]
mod tests {
    use super::*;

    /// mpmath.lambertw at the exact value of the float, 40 digits.
    const VALUES: &[(f64, f64)] = &[
        (-0.367_879_441_171_442_3, -0.999_999_984_695_745_9),
        (-0.367_879_441_171_44, -0.999_999_887_716_406_1),
        (-0.367_879_441, -0.999_969_470_698_208_6),
        (-0.367_87, -0.992_852_729_821_527_7),
        (-0.367_5, -0.955_254_959_601_647_6),
        (-0.36, -0.806_084_315_970_817_6),
        (-0.34, -0.653_694_501_269_089_6),
        (-0.301, -0.492_612_406_626_706_97),
        (-0.3, -0.489_402_227_180_214_9),
        (-0.299, -0.486_222_249_522_360_5),
        (-0.2, -0.259_171_101_819_073_77),
        (-0.05, -0.052_705_983_551_546_35),
        (-1.0e-5, -1.000_010_000_150_002_7e-5),
        (-1.0e-12, -1.000_000_000_001e-12),
        (1.0e-300, 1.0e-300),
        (1.0e-10, 9.999_999_999e-11),
        (0.001, 0.000_999_001_497_338_530_8),
        (0.0099, 0.009_803_420_317_958_612),
        (-0.0099, -0.009_999_491_570_091_387),
        (0.1, 0.091_276_527_160_862_26),
        (0.5, 0.351_733_711_249_195_84),
        (1.0, 0.567_143_290_409_783_8),
        (2.0, 0.852_605_502_013_725_5),
        (2.7, 0.996_628_734_265_477_5),
        (2.72, 1.000_315_965_107_184_2),
        (3.0, 1.049_908_894_964_04),
        (10.0, 1.745_528_002_740_699_4),
        (1000.0, 5.249_602_852_401_596),
        (1e10, 20.028_685_413_304_952),
        (1e100, 224.843_106_445_118_5),
        (1e300, 684.247_208_629_760_8),
    ];

    #[test]
    fn against_forty_digits() {
        let mut worst = 0.0_f64;
        for &(x, expected) in VALUES {
            let found = w0(x);
            let scale = if x < -0.3 { 1.0 + expected } else { expected.abs() };
            let error = (found - expected).abs();
            // Near −1, the error is limited by the last place of W.
            let allowed = 4.0 * f64::EPSILON * scale.max(0.25);
            assert!(error <= allowed, "{x:e}: {found:e} for {expected:e}");
            worst = worst.max(error / scale);
        }
        assert!(worst < 1e-9, "{worst:e}");
    }

    #[test]
    fn ends() {
        assert_eq!(w0(0.0), 0.0);
        assert!((w0(BRANCH) + 1.0).abs() < 2e-8);
        assert!(w0(-0.37).is_nan() && w0(f64::NAN).is_nan() && w0(f64::NEG_INFINITY).is_nan());
        assert_eq!(w0(f64::INFINITY), f64::INFINITY);
        assert_eq!(w0(1e-320), 1e-320);
    }
}
