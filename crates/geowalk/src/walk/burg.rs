//! # Mirror descent with Burg's entropy
//! $$\theta \leftarrow \theta - \eta\, g\, x, \qquad w_i = -1/\theta_i$$
//! The generator $\psi = -\sum \ln w_i$, whose divergence is Itakura's and Saito's. Rates of change are relative: $w_i' = w_i/(1 + \eta g x_i w_i)$.
//! **Start** Equal weights. **Cost** O(nnz). **Care** θ must stay negative: a step that would take a coordinate to 0 or beyond
//! is an error, and is not made. **Source** \[NN09, table 1\].

use super::Walk;
use super::gauge::Gauge;
use super::partition::beyond_logarithm;
use crate::error::{self, Allowed, ConfigError, DomainError};
use crate::loss::Loss;
use crate::row::Row;
use crate::update::{Round, Target};
use crate::walk;

/// Positive weights −1/θ.
///
/// ```
/// use geowalk::loss::Squared;
/// use geowalk::row::Dense;
/// use geowalk::walk::{Burg, Walk};
///
/// let mut walk = Burg::new(0.5)?;
/// walk.step(Dense(&[1.0, 0.0]), 0.0.into(), &Squared, 0.5)?;
/// // The slope is 1: θ₁ = −2 − ½.
/// assert_eq!(walk.predict(Dense(&[1.0, 0.0])), 0.4);
/// // Uphill, θ₁ would be 0 or more:
/// let error = walk.step(Dense(&[1.0, 0.0]), 10.0.into(), &Squared, 0.5).unwrap_err();
/// assert!(error.to_string().starts_with("coordinate 0 of the dual weights is 7.1"));
/// # Ok::<(), geowalk::ConfigError>(())
/// ```
#[derive(Debug, Clone, PartialEq)]
pub struct Burg {
    start: f64,
    pub(super) theta: Vec<f64>,
}

/// θ may not be nearer to 0: w stays below 1e150.
pub(super) const NEAREST: f64 = -1e-150;

impl Burg {
    /// Every weight begins at `start` > 0.
    pub fn new(start: f64) -> Result<Self, ConfigError> {
        error::parameter("start", start, Allowed::Closed(1e-150, 1e150))?;
        Ok(Self { start: (-1.0 / start).min(NEAREST), theta: Vec::new() })
    }

    /// θ ← θ + a·x. The divergence of the weights before from those after.
    pub(super) fn advance<X: Row<f64>>(&mut self, a: f64, x: X) -> Result<f64, DomainError> {
        let (mut divergence, mut refused) = (0.0, None);
        let theta = &self.theta;
        x.each(|i, x| {
            if let Some(&theta) = theta.get(i) {
                let new = theta + a * x;
                if (-walk::LARGEST..=NEAREST).contains(&new) {
                    // w/w' − ln(w/w') − 1 with w/w' = θ'/θ = 1 + a x/θ.
                    divergence += beyond_logarithm(a * x / theta);
                } else if refused.is_none() {
                    refused = Some((i, new));
                }
            }
        });
        if let Some((index, value)) = refused {
            let allowed = Allowed::Closed(-walk::LARGEST, NEAREST);
            return Err(DomainError::Coordinate {
                what: "the dual weights",
                index,
                value,
                allowed,
            });
        }
        x.axpy(a, &mut self.theta);
        Ok(divergence)
    }
}

impl Walk for Burg {
    fn features(&self) -> usize {
        self.theta.len()
    }

    fn grow(&mut self, n: usize) {
        if n > self.theta.len() {
            self.theta.resize(n, self.start);
        }
    }

    fn predict<X: Row<f64>>(&self, x: X) -> f64 {
        let mut z = 0.0;
        x.each(|i, x| {
            if let Some(&theta) = self.theta.get(i) {
                z -= x / theta;
            }
        });
        z
    }

    fn step<X: Row<f64>, L: Loss + ?Sized>(
        &mut self,
        x: X,
        target: Target,
        loss: &L,
        rate: f64,
    ) -> Result<Round, DomainError> {
        self.grow(x.bound());
        let mut round = walk::judge(self.predict(x), target, loss, rate)?;
        round.length = (2.0 * self.advance(-rate * round.slope, x)?).sqrt();
        Ok(round)
    }

    fn local(&self, i: usize) -> Option<f64> {
        Some(-1.0 / self.theta.get(i).copied().unwrap_or(self.start))
    }

    fn gauge<X: Row<f64>>(&self, x: X) -> Gauge {
        let theta = |i| self.theta.get(i).copied().unwrap_or(self.start);
        Gauge::positive(x, |i| -1.0 / theta(i), true)
    }

    fn read(&self, w: &mut Vec<f64>) {
        w.clear();
        w.extend(self.theta.iter().map(|theta| -1.0 / theta));
    }

    fn gamma(&self, rate: Option<f64>, out: &mut Vec<f64>) -> Option<f64> {
        walk::dual_gamma(&self.theta, self.start, rate, out)
    }

    fn save(&self, put: &mut dyn FnMut(&'static str, &[f64])) {
        put("theta", &self.theta);
    }

    fn load(
        &mut self,
        get: &mut dyn FnMut(&'static str) -> Option<Vec<f64>>,
    ) -> Result<(), ConfigError> {
        self.theta = walk::array(get, "theta", Allowed::Closed(-walk::LARGEST, NEAREST))?;
        Ok(())
    }
}
