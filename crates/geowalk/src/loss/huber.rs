//! # Huber loss
//! $$\ell(z, y) = \begin{cases} \tfrac12 r^2 & \vert r \vert \le \delta \cr
//! \delta(\vert r \vert - \delta/2) & \vert r \vert > \delta \end{cases} \qquad r = z - y$$
//! **Slope** r clipped to [−δ, δ]; no kink. **Curvature** 1 for |r| ≤ δ, 0 beyond; at the jump |r| = δ the larger
//! value. **Care** the factor ½ is Huber's; [`Squared`](super::Squared) has none. **Source** \[Huber64, eq. (2.5)\].

use super::{Facts, Loss};
use crate::Real;
use crate::error::{self, Allowed, ConfigError};

/// Quadratic near the label, linear beyond δ.
///
/// ```
/// use geowalk::loss::{Huber, Loss};
/// let loss = Huber::new(2.0)?;
/// assert_eq!((loss.value(1.0, 0.0), loss.value(5.0, 0.0), loss.slope(5.0, 0.0)), (0.5, 8.0, 2.0));
/// # Ok::<(), geowalk::ConfigError>(())
/// ```
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Huber {
    delta: f64,
}

impl Huber {
    /// The absolute residual beyond which the loss is linear.
    pub fn delta(&self) -> f64 {
        self.delta
    }

    /// The loss that is linear for residuals larger than `delta` > 0.
    pub fn new(delta: f64) -> Result<Self, ConfigError> {
        Ok(Self { delta: error::parameter("delta", delta, Allowed::Positive)? })
    }
}

impl Loss for Huber {
    fn spec(&self) -> String {
        format!("huber(delta={})", self.delta)
    }

    #[inline]
    fn value(&self, z: f64, y: f64) -> f64 {
        let r = (z - y).abs();
        // NaN takes the second branch and stays NaN.
        if r <= self.delta { 0.5 * r * r } else { self.delta * (r - 0.5 * self.delta) }
    }

    #[inline]
    fn slope(&self, z: f64, y: f64) -> f64 {
        Real::clamp(z - y, -self.delta, self.delta)
    }

    #[inline]
    fn curvature(&self, z: f64, y: f64) -> f64 {
        let r = (z - y).abs();
        if r <= self.delta {
            1.0
        } else if r.is_nan() {
            r
        } else {
            0.0
        }
    }

    fn minimizer(&self, y: f64) -> f64 {
        y
    }

    fn facts(&self) -> Facts {
        Facts {
            labels: Allowed::Finite,
            predictions: Allowed::Finite,
            convex: true,
            lipschitz: Some(self.delta),
            smooth: Some(1.0),
            strong: 0.0,
            margin: false,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn both_branches_meet_at_delta() {
        let loss = Huber::new(0.75).unwrap();
        assert_eq!(loss.value(0.75, 0.0), 0.75 * (0.75 - 0.375));
        assert_eq!((loss.curvature(0.75, 0.0), loss.curvature(0.76, 0.0)), (1.0, 0.0));
        assert_eq!((loss.slope(1e8, 0.0), loss.slope(-1e8, 0.0)), (0.75, -0.75));
        assert!(loss.slope(f64::NAN, 0.0).is_nan() && loss.curvature(f64::NAN, 0.0).is_nan());
    }

    #[test]
    fn delta_must_be_positive() {
        for delta in [0.0, -1.0, f64::NAN, f64::INFINITY] {
            assert!(Huber::new(delta).is_err(), "{delta}");
        }
    }
}
