//! # Experts

use crate::error::Allowed;
use crate::loss::{Facts, Loss};

/// The loss z itself: the row is the experts' losses, and the prediction their mean.
///
/// ```
/// use geowalk::experts::Linear;
/// use geowalk::loss::Loss;
/// assert_eq!((Linear.value(0.25, 0.0), Linear.slope(0.25, 0.0)), (0.25, 1.0));
/// ```
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Linear;

impl Loss for Linear {
    fn spec(&self) -> String {
        "linear".to_owned()
    }

    fn value(&self, z: f64, _: f64) -> f64 {
        z
    }

    fn slope(&self, _: f64, _: f64) -> f64 {
        1.0
    }

    fn curvature(&self, _: f64, _: f64) -> f64 {
        0.0
    }

    fn minimizer(&self, _: f64) -> f64 {
        f64::NEG_INFINITY
    }

    fn facts(&self) -> Facts {
        Facts {
            labels: Allowed::Finite,
            predictions: Allowed::Finite,
            convex: true,
            lipschitz: Some(1.0),
            smooth: Some(0.0),
            strong: 0.0,
            margin: false,
        }
    }
}
