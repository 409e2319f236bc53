//! # Logistic loss
//! $$\ell(z, y) = \ln(1 + e^{-m}), \qquad m = yz, \quad y = \pm 1$$
//! **Slope** $-y\,\sigma(-m)$, σ(t) = 1/(1 + e⁻ᵗ). **Curvature** $\sigma(m)\,\sigma(-m) \le 1/4$; no kink.
//! **Care** The logarithm is natural: ln 2 at m = 0. The surrogate that is 1 there uses log₂. Value, slope and
//! curvature are computed from $e^{-\vert m \vert}$, so the tails keep all their digits and nothing overflows.
//! **Source** \[NN09, eq. (20)\].

use super::{Facts, Loss};
use crate::Real;
use crate::error::Allowed;

/// $\ln(1 + e^{-yz})$.
///
/// ```
/// use geowalk::loss::{Logistic, Loss};
/// assert_eq!(Logistic.value(0.0, 1.0), std::f64::consts::LN_2);
/// assert_eq!(Logistic.slope(0.0, 1.0), -0.5);
/// assert_eq!(Logistic.value(-1e8, 1.0), 1e8);
/// ```
#[derive(Debug, Clone, Copy, PartialEq, Default)]
pub struct Logistic;

/// The value at the margin m, given e^−|m|.
#[inline]
fn value(m: f64, e: f64) -> f64 {
    Real::max(-m, 0.0) + Real::ln_1p(e)
}

/// The slope at the margin m, given e^−|m|.
#[inline]
fn slope(m: f64, e: f64, y: f64) -> f64 {
    let numerator = if m >= 0.0 { e } else { 1.0 };
    -y * numerator / (1.0 + e)
}

impl Loss for Logistic {
    fn spec(&self) -> String {
        "logistic".to_owned()
    }

    #[inline]
    fn value(&self, z: f64, y: f64) -> f64 {
        let m = y * z;
        value(m, Real::exp(-m.abs()))
    }

    #[inline]
    fn slope(&self, z: f64, y: f64) -> f64 {
        let m = y * z;
        slope(m, Real::exp(-m.abs()), y)
    }

    #[inline]
    fn value_and_slope(&self, z: f64, y: f64) -> (f64, f64) {
        let m = y * z;
        let e = Real::exp(-m.abs());
        (value(m, e), slope(m, e, y))
    }

    #[inline]
    fn curvature(&self, z: f64, y: f64) -> f64 {
        let e = Real::exp(-(y * z).abs());
        y * y * e / ((1.0 + e) * (1.0 + e))
    }

    fn minimizer(&self, y: f64) -> f64 {
        y * f64::INFINITY
    }

    fn facts(&self) -> Facts {
        Facts {
            labels: Allowed::Sign,
            predictions: Allowed::Finite,
            convex: true,
            lipschitz: Some(1.0),
            smooth: Some(0.25),
            strong: 0.0,
            margin: true,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// (margin, value, slope for y = +1, curvature), computed with 80 digits.
    const REFERENCE: [(f64, f64, f64, f64); 8] = [
        (-37.0, 37.0, -0.999_999_999_999_999_9, 8.533_047_625_744_065e-17),
        (-1.0, 1.313_261_687_518_222_8, -0.731_058_578_630_004_9, 0.196_611_933_241_481_85),
        (-1e-9, 0.693_147_181_059_945_3, -0.500_000_000_25, 0.25),
        (0.5, 0.474_076_984_180_106_7, -0.377_540_668_798_145_46, 0.235_003_712_201_594_5),
        (20.0, 2.061_153_620_314_381e-9, -2.061_153_618_190_203_7e-9, 2.061_153_613_941_849e-9),
        (37.0, 8.533_047_625_744_066e-17, -8.533_047_625_744_065e-17, 8.533_047_625_744_065e-17),
        (
            300.0,
            5.148_200_222_412_013e-131,
            -5.148_200_222_412_013e-131,
            5.148_200_222_412_013e-131,
        ),
        (700.0, 9.859_676_543_759_77e-305, -9.859_676_543_759_77e-305, 9.859_676_543_759_77e-305),
    ];

    #[test]
    fn tails_keep_their_digits() {
        let near = |found: f64, wanted: f64| (found - wanted).abs() <= 1e-14 * wanted.abs();
        for (m, value, slope, curvature) in REFERENCE {
            for y in [1.0, -1.0] {
                let z = m * y;
                assert!(near(Logistic.value(z, y), value), "value at {m}");
                assert!(near(Logistic.slope(z, y), y * slope), "slope at {m}");
                assert!(near(Logistic.curvature(z, y), curvature), "curvature at {m}");
            }
        }
    }

    #[test]
    fn extremes_are_finite_and_nan_is_kept() {
        for m in [-1e8, 1e8] {
            let all = [Logistic.value(m, 1.0), Logistic.slope(m, 1.0), Logistic.curvature(m, 1.0)];
            assert_eq!(all, if m < 0.0 { [1e8, -1.0, 0.0] } else { [0.0, -0.0, 0.0] });
        }
        assert!(Logistic.value(f64::NAN, 1.0).is_nan() && Logistic.slope(f64::NAN, 1.0).is_nan());
        assert_eq!(Logistic.minimizer(-1.0), f64::NEG_INFINITY);
    }
}
