//! # Hinge loss
//! $$\ell(z, y) = \max\lbrace 0,\ 1 - yz \rbrace, \qquad y = \pm 1$$
//! **Slope** −y if yz < 1, 0 if yz > 1. **Kink** at yz = 1: slope 0, so a margin of exactly 1 does not move the
//! weights. **Curvature** 0. **Care** none. **Source** \[NN09, eq. (22)\].

use super::{Facts, Loss};
use crate::Real;
use crate::error::Allowed;

/// $\max\lbrace 0, 1 - yz \rbrace$.
///
/// ```
/// use geowalk::loss::{Hinge, Loss};
/// assert_eq!((Hinge.value(0.25, -1.0), Hinge.slope(0.25, -1.0)), (1.25, 1.0));
/// ```
#[derive(Debug, Clone, Copy, PartialEq, Default)]
pub struct Hinge;

impl Loss for Hinge {
    fn spec(&self) -> String {
        "hinge".to_owned()
    }

    #[inline]
    fn value(&self, z: f64, y: f64) -> f64 {
        Real::max(1.0 - y * z, 0.0)
    }

    #[inline]
    fn slope(&self, z: f64, y: f64) -> f64 {
        let m = y * z;
        if m < 1.0 {
            -y
        } else if m.is_nan() {
            m
        } else {
            0.0
        }
    }

    #[inline]
    fn curvature(&self, z: f64, y: f64) -> f64 {
        if (y * z).is_nan() { f64::NAN } else { 0.0 }
    }

    fn minimizer(&self, y: f64) -> f64 {
        1.0 / y
    }

    fn facts(&self) -> Facts {
        Facts {
            labels: Allowed::Sign,
            predictions: Allowed::Finite,
            convex: true,
            lipschitz: Some(1.0),
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
    fn slopes_beside_and_at_the_kink() {
        for y in [1.0, -1.0] {
            assert_eq!((Hinge.slope(0.999 * y, y), Hinge.slope(y, y)), (-y, 0.0));
            assert_eq!((Hinge.value(y, y), Hinge.value(1e8 * y, y)), (0.0, 0.0));
            assert_eq!(Hinge.value(-1e8 * y, y), 1e8 + 1.0);
            assert_eq!(Hinge.minimizer(y), y);
        }
        assert!(Hinge.slope(f64::NAN, 1.0).is_nan() && Hinge.value(f64::NAN, 1.0).is_nan());
    }
}
