//! # Hinge loss at a threshold
//! $$\ell(z, y) = \max\lbrace 0,\ -y(z - \theta) \rbrace, \qquad y = \pm 1$$
//! Its subgradient step moves the weights exactly when the prediction σ(z − θ) is wrong. With the entropy this is
//! Winnow; with the Euclidean norm (and θ = 0) it is the Perceptron.
//!
//! **Slope** −y on a mistake, else 0. **Kink** at z = θ: the prediction is σ(0) = +1, so the slope there is 0 for y =
//! +1 and +1 for y = −1 (a mistake); both are subgradients. **Curvature** 0. **Care** each mistake bound holds only at
//! its threshold: [`WinnowHinge::WINNOW`] or [`WinnowHinge::REPARAM`].
//! **Source** \[AW20, sec. 3\].

use super::{Facts, Loss};
use crate::Real;
use crate::error::{self, Allowed, ConfigError};

/// $\max\lbrace 0, -y(z - \theta) \rbrace$.
///
/// ```
/// use geowalk::loss::{Loss, WinnowHinge};
/// let loss = WinnowHinge::new(0.25)?;
/// assert_eq!((loss.value(1.0, -1.0), loss.slope(1.0, -1.0)), (0.75, 1.0));
/// assert_eq!(loss.slope(1.0, 1.0), 0.0);
/// # Ok::<(), geowalk::ConfigError>(())
/// ```
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct WinnowHinge {
    theta: f64,
}

impl WinnowHinge {
    /// The threshold of Winnow's mistake bound for disjunctions with r·x ≥ ½: η/(2(e^η − e^−η)) at η = 1 + W(1/e).
    pub const WINNOW: f64 = 0.192_966_637_999_097_13;

    /// The threshold of the mistake bound of Winnow's gradient-descent twin: ln(1 + η)/(4η) at η = 0.8545507191.
    pub const REPARAM: f64 = 0.180_692_161_674_548_1;

    /// The loss with the threshold `theta`.
    pub fn new(theta: f64) -> Result<Self, ConfigError> {
        Ok(Self { theta: error::parameter("theta", theta, Allowed::Finite)? })
    }
}

impl WinnowHinge {
    /// The score from which on the prediction is the positive class.
    pub fn theta(&self) -> f64 {
        self.theta
    }
}

impl Loss for WinnowHinge {
    fn spec(&self) -> String {
        format!("winnow-hinge(theta={})", self.theta)
    }

    #[inline]
    fn value(&self, z: f64, y: f64) -> f64 {
        Real::max(-y * (z - self.theta), 0.0)
    }

    #[inline]
    fn slope(&self, z: f64, y: f64) -> f64 {
        if (y * z).is_nan() {
            f64::NAN
        } else if (z >= self.theta) == (y > 0.0) {
            0.0
        } else {
            -y
        }
    }

    #[inline]
    fn curvature(&self, z: f64, y: f64) -> f64 {
        if (y * z).is_nan() { f64::NAN } else { 0.0 }
    }

    fn minimizer(&self, y: f64) -> f64 {
        if y > 0.0 {
            self.theta.max(0.0)
        } else if y.is_nan() {
            y
        } else {
            self.theta.min(0.0)
        }
    }

    fn facts(&self) -> Facts {
        Facts {
            labels: Allowed::Sign,
            predictions: Allowed::Finite,
            convex: true,
            lipschitz: Some(1.0),
            smooth: None,
            strong: 0.0,
            margin: self.theta == 0.0,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_prediction_at_the_threshold_is_positive() {
        let loss = WinnowHinge::new(0.5).unwrap();
        assert_eq!((loss.slope(0.5, 1.0), loss.slope(0.5, -1.0)), (0.0, 1.0));
        assert_eq!((loss.value(0.5, 1.0), loss.value(0.5, -1.0)), (0.0, 0.0));
        assert_eq!((loss.slope(0.4, 1.0), loss.slope(0.4, -1.0)), (-1.0, 0.0));
        assert_eq!((loss.minimizer(1.0), loss.minimizer(-1.0)), (0.5, 0.0));
        assert!(loss.slope(f64::NAN, 1.0).is_nan() && loss.value(f64::NAN, -1.0).is_nan());
    }

    #[test]
    fn the_thresholds_of_the_theorems() {
        // e^η(η − 1) = 1 minimises Winnow's constant (e^η + 1)/η.
        let rate = 1.278_464_542_761_074_f64;
        assert!((Real::exp(rate) * (rate - 1.0) - 1.0).abs() < 1e-14);
        let theta = 0.25 * rate / Real::sinh(rate);
        assert!((theta - WinnowHinge::WINNOW).abs() < 1e-15);
        // (2 − η)ln(1 + η) is largest where ln(1 + η) = (2 − η)/(1 + η).
        let rate = 0.854_550_719_096_126_2_f64;
        assert!((Real::ln_1p(rate) - (2.0 - rate) / (1.0 + rate)).abs() < 1e-14);
        assert!((Real::ln_1p(rate) / (4.0 * rate) - WinnowHinge::REPARAM).abs() < 1e-15);
    }
}
