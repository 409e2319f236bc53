//! # Squared loss
//! $$\ell(z, y) = (z - y)^2$$
//! **Slope** $2(z - y)$. **Curvature** 2. **Care** as in the papers, there is no factor ½.
//! **Source** \[KMWW07, sec. 1\].

use super::{Facts, Loss};
use crate::error::Allowed;

/// $(z - y)^2$.
///
/// ```
/// use geowalk::loss::{Loss, Squared};
/// assert_eq!((Squared.value(3.0, 1.0), Squared.slope(3.0, 1.0)), (4.0, 4.0));
/// ```
#[derive(Debug, Clone, Copy, PartialEq, Default)]
pub struct Squared;

impl Loss for Squared {
    fn spec(&self) -> String {
        "squared".to_owned()
    }

    #[inline]
    fn value(&self, z: f64, y: f64) -> f64 {
        (z - y) * (z - y)
    }

    #[inline]
    fn slope(&self, z: f64, y: f64) -> f64 {
        2.0 * (z - y)
    }

    #[inline]
    fn curvature(&self, _: f64, _: f64) -> f64 {
        2.0
    }

    fn minimizer(&self, y: f64) -> f64 {
        y
    }

    fn facts(&self) -> Facts {
        Facts {
            labels: Allowed::Finite,
            predictions: Allowed::Finite,
            convex: true,
            lipschitz: None,
            smooth: Some(2.0),
            strong: 2.0,
            margin: false,
        }
    }
}
