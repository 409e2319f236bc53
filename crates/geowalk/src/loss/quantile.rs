//! # Quantile (pinball) loss
//! $$\ell(z, y) = \max\lbrace \tau (y - z),\ (\tau - 1)(y - z) \rbrace, \qquad 0 < \tau < 1$$
//! Its expectation is smallest when z is the τ-quantile of y. **Slope** −τ below the label, 1 − τ above. **Kink** at z
//! = y: slope 0, which is in [−τ, 1 − τ]. **Curvature** 0. **Care** none. **Source** \[KB78, sec. 3\].

use super::{Facts, Loss};
use crate::error::{self, Allowed, ConfigError};

/// The pinball loss of the τ-quantile.
///
/// ```
/// use geowalk::loss::{Loss, Quantile};
/// let loss = Quantile::new(0.75)?;
/// assert_eq!((loss.value(0.0, 4.0), loss.value(4.0, 0.0)), (3.0, 1.0));
/// # Ok::<(), geowalk::ConfigError>(())
/// ```
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Quantile {
    tau: f64,
}

impl Quantile {
    /// The level τ.
    pub(crate) fn tau(self) -> f64 {
        self.tau
    }

    /// The loss of the `tau`-quantile, 0 < `tau` < 1.
    pub fn new(tau: f64) -> Result<Self, ConfigError> {
        Ok(Self { tau: error::parameter("tau", tau, Allowed::Open(0.0, 1.0))? })
    }
}

impl Loss for Quantile {
    fn spec(&self) -> String {
        format!("quantile(tau={})", self.tau)
    }

    #[inline]
    fn value(&self, z: f64, y: f64) -> f64 {
        let r = y - z;
        if r >= 0.0 { self.tau * r } else { (self.tau - 1.0) * r }
    }

    #[inline]
    fn slope(&self, z: f64, y: f64) -> f64 {
        let r = y - z;
        if r > 0.0 {
            -self.tau
        } else if r < 0.0 {
            1.0 - self.tau
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
            lipschitz: Some(self.tau.max(1.0 - self.tau)),
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
    fn slopes_beside_and_at_the_kink() {
        let loss = Quantile::new(0.9).unwrap();
        assert_eq!((loss.slope(0.0, 1.0), loss.slope(1.0, 1.0)), (-0.9, 0.0));
        assert_eq!(loss.slope(2.0, 1.0), 1.0 - 0.9);
        assert_eq!(loss.value(1.0, 1.0), 0.0);
        assert_eq!(loss.facts().lipschitz, Some(0.9));
        assert!(loss.slope(f64::NAN, 1.0).is_nan() && loss.value(f64::NAN, 1.0).is_nan());
    }

    #[test]
    fn the_quantile_of_a_sample_minimises() {
        let loss = Quantile::new(0.3).unwrap();
        let risk = |z: f64| (1..=10).map(|y| loss.value(z, f64::from(y))).sum::<f64>();
        let best = (0..=1100).map(|k| f64::from(k) / 100.0).map(risk).fold(f64::INFINITY, f64::min);
        assert!((risk(3.0) - best).abs() < 1e-12 && risk(2.5) > best + 0.1);
    }

    #[test]
    fn tau_must_be_inside_the_unit_interval() {
        for tau in [0.0, 1.0, -0.1, f64::NAN] {
            assert!(Quantile::new(tau).is_err(), "{tau}");
        }
    }
}
