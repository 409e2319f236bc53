//! # Exponential loss
//! $$\ell(z, y) = e^{-yz}, \qquad y = \pm 1$$
//! The loss of AdaBoost. **Slope** $-y e^{-yz}$. **Curvature** $e^{-yz}$; no kink. **Care** The loss is +∞ for yz <
//! −709: one example then exceeds every finite number. **Source** \[NN09, eq. (19)\].

use super::{Facts, Loss};
use crate::Real;
use crate::error::Allowed;

/// $e^{-yz}$.
///
/// ```
/// use geowalk::loss::{Exponential, Loss};
/// assert_eq!((Exponential.value(0.0, 1.0), Exponential.slope(0.0, -1.0)), (1.0, 1.0));
/// ```
#[derive(Debug, Clone, Copy, PartialEq, Default)]
pub struct Exponential;

impl Loss for Exponential {
    fn spec(&self) -> String {
        "exponential".to_owned()
    }

    #[inline]
    fn value(&self, z: f64, y: f64) -> f64 {
        Real::exp(-y * z)
    }

    #[inline]
    fn slope(&self, z: f64, y: f64) -> f64 {
        -y * Real::exp(-y * z)
    }

    #[inline]
    fn value_and_slope(&self, z: f64, y: f64) -> (f64, f64) {
        let value = Real::exp(-y * z);
        (value, -y * value)
    }

    #[inline]
    fn curvature(&self, z: f64, y: f64) -> f64 {
        y * y * Real::exp(-y * z)
    }

    fn minimizer(&self, y: f64) -> f64 {
        y * f64::INFINITY
    }

    fn facts(&self) -> Facts {
        Facts {
            labels: Allowed::Sign,
            predictions: Allowed::Finite,
            convex: true,
            lipschitz: None,
            smooth: None,
            strong: 0.0,
            margin: true,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn finite_up_to_the_largest_exponent() {
        assert!(Exponential.value(-709.0, 1.0).is_finite());
        assert_eq!(Exponential.value(-710.0, 1.0), f64::INFINITY);
        assert_eq!((Exponential.value(1e8, 1.0), Exponential.curvature(1e8, 1.0)), (0.0, 0.0));
        assert!((Exponential.slope(-1.0, 1.0) + std::f64::consts::E).abs() < 1e-15);
        assert!(Exponential.value(f64::NAN, 1.0).is_nan());
    }
}
