//! # Loss of the scale-invariant predictor
//! $$\ell(z, y) = z^2$$
//! The data lie in the hyperplane orthogonal to the weights: the right prediction is always 0, and the label is
//! ignored (it may be missing). **Slope** 2z. **Curvature** 2. **Care** w = 0 has no loss, so use it with weights of
//! fixed norm (the sphere). It is convex in z but not geodesically convex on the sphere. **Source** \[KMWW07s, eq.
//! (8)\].

use super::{Facts, Loss};
use crate::error::Allowed;

/// $z^2$; ignores the label.
///
/// ```
/// use geowalk::loss::{Invariant, Loss};
/// assert_eq!((Invariant.value(3.0, f64::NAN), Invariant.slope(3.0, 1.0)), (9.0, 6.0));
/// ```
#[derive(Debug, Clone, Copy, PartialEq, Default)]
pub struct Invariant;

impl Loss for Invariant {
    fn spec(&self) -> String {
        "invariant".to_owned()
    }

    #[inline]
    fn value(&self, z: f64, _: f64) -> f64 {
        z * z
    }

    #[inline]
    fn slope(&self, z: f64, _: f64) -> f64 {
        2.0 * z
    }

    #[inline]
    fn curvature(&self, _: f64, _: f64) -> f64 {
        2.0
    }

    fn minimizer(&self, _: f64) -> f64 {
        0.0
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
