//! # Absolute loss
//! $$\ell(z, y) = \vert z - y \vert$$
//! **Slope** $\operatorname{sign}(z - y)$. **Kink** at z = y: slope 0, so a perfect prediction does not move the
//! weights. **Curvature** 0. **Care** none. **Source** \[KB78, sec. 3\]; twice the loss of the median there.

use super::{Facts, Loss};
use crate::error::Allowed;

/// $\vert z - y \vert$.
///
/// ```
/// use geowalk::loss::{Absolute, Loss};
/// assert_eq!((Absolute.value(3.0, 1.0), Absolute.slope(3.0, 1.0)), (2.0, 1.0));
/// ```
#[derive(Debug, Clone, Copy, PartialEq, Default)]
pub struct Absolute;

impl Loss for Absolute {
    fn spec(&self) -> String {
        "absolute".to_owned()
    }

    #[inline]
    fn value(&self, z: f64, y: f64) -> f64 {
        (z - y).abs()
    }

    #[inline]
    fn slope(&self, z: f64, y: f64) -> f64 {
        let r = z - y;
        // If the residual is 0 or NaN, it is itself the slope.
        if r > 0.0 {
            1.0
        } else if r < 0.0 {
            -1.0
        } else {
            r
        }
    }

    #[inline]
    fn curvature(&self, z: f64, y: f64) -> f64 {
        if (z - y).is_nan() { f64::NAN } else { 0.0 }
    }

    fn minimizer(&self, y: f64) -> f64 {
        y
    }

    fn facts(&self) -> Facts {
        Facts {
            labels: Allowed::Finite,
            predictions: Allowed::Finite,
            convex: true,
            lipschitz: Some(1.0),
            smooth: None,
            strong: 0.0,
            margin: false,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_slope_at_the_kink_is_zero_and_nan_is_kept() {
        assert_eq!(Absolute.slope(2.0, 2.0), 0.0);
        assert_eq!(Absolute.slope(2.0 - 1e-15, 2.0), -1.0);
        assert_eq!(Absolute.slope(-1e8, 1e8), -1.0);
        assert!(Absolute.slope(f64::NAN, 0.0).is_nan() && Absolute.value(0.0, f64::NAN).is_nan());
    }
}
