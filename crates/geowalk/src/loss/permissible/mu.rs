//! # Matsushita's error, shifted and scaled
//! $$\varphi_\mu(p) = -\bigl(\mu + c\sqrt{p(1 - p)}\bigr), \quad c = 1 - \mu, \qquad
//!   F(z) = \bigl(-z + \sqrt{c^2 + z^2}\bigr)/c$$
//! **Gradient** $c(2p - 1)/(2\sqrt{p(1-p)})$, image ℝ. **Transfer** $\tfrac12(1 + H/\sqrt{c^2 + H^2})$.
//! **Curvature** $c/(4(p(1-p))^{3/2})$; $(\varphi^\star)'' = c^2/(2(c^2 + H^2)^{3/2})$. **Constants** a = μ, b = c/2,
//! inf φ″ = 2c.
//! **Cost** O(1). **Care** With $s = \sqrt{c^2 + h^2}$ the tail is $\tfrac12 (c/s)(c/(s + h))$, which never subtracts.
//! Since $\varphi_\mu = -\mu + c\,\varphi_M$, $F_\mu(z) = F_M(z/c)$: boosting with it gives the classifier of
//! [`Matsushita`](super::Matsushita) with all scores multiplied by c, and the trees are identical. Only a learner with
//! a fixed learning rate gives different results. **Source** \[NN09, eq. (27)\].

use super::{Permissible, fold};
use crate::Real;
use crate::error::{self, Allowed, ConfigError};

/// $-(\mu + (1 - \mu)\sqrt{p(1 - p)})$.
///
/// ```
/// use geowalk::loss::permissible::{Mu, Permissible};
/// let phi = Mu::new(0.25)?;
/// assert_eq!((phi.phi(0.8), phi.surrogate(1.0)), (-0.55, 1.0 / 3.0));
/// # Ok::<(), geowalk::ConfigError>(())
/// ```
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Mu {
    mu: f64,
    c: f64,
}

impl Mu {
    /// μ = 0.
    pub(super) const MATSUSHITA: Self = Self { mu: 0.0, c: 1.0 };

    /// The function with parameter μ, 0 ≤ μ < 1.
    pub fn new(mu: f64) -> Result<Self, ConfigError> {
        let mu = error::parameter("mu", mu, Allowed::ClosedOpen(0.0, 1.0))?;
        Ok(Self { mu, c: 1.0 - mu })
    }

    /// μ.
    pub fn mu(&self) -> f64 {
        self.mu
    }
}

impl Permissible for Mu {
    fn spec(&self) -> String {
        format!("mu(mu={})", self.mu)
    }

    fn a(&self) -> f64 {
        self.mu
    }

    fn b(&self) -> f64 {
        0.5 * self.c
    }

    fn curvature_floor(&self) -> f64 {
        2.0 * self.c
    }

    fn image(&self) -> (f64, f64) {
        (f64::NEG_INFINITY, f64::INFINITY)
    }

    fn impurity(&self, p: f64) -> f64 {
        let (q, _) = fold(p);
        self.c * (q * (1.0 - q)).sqrt()
    }

    fn gradient(&self, p: f64) -> f64 {
        let (q, sign) = fold(p);
        sign * self.c * (1.0 - 2.0 * q) / (2.0 * (q * (1.0 - q)).sqrt())
    }

    fn curvature(&self, p: f64) -> f64 {
        let (q, _) = fold(p);
        let g = q * (1.0 - q);
        self.c / (4.0 * g * g.sqrt())
    }

    fn tail(&self, h: f64) -> f64 {
        let s = Real::hypot(self.c, h);
        0.5 * (self.c / s) * (self.c / (s + h))
    }

    fn tail_excess(&self, h: f64) -> f64 {
        0.5 * self.c * (self.c / (Real::hypot(self.c, h) + h))
    }

    fn conjugate_curvature(&self, h: f64) -> f64 {
        let s = Real::hypot(self.c, h);
        let ratio = self.c / s;
        0.5 * ratio * ratio / s
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn mu_is_checked() {
        for (bad, shown) in
            [(1.0, "1"), (-1e-300, "-1e-300"), (f64::NAN, "NaN"), (f64::INFINITY, "inf")]
        {
            let message = Mu::new(bad).unwrap_err().to_string();
            assert_eq!(message, format!("mu = {shown}; it must be in [0, 1)"));
        }
    }

    #[test]
    fn another_mu_is_another_scale_of_the_score() {
        let matsushita = Mu::MATSUSHITA;
        for mu in [0.0, 0.1, 0.5, 0.9, 1.0 - 1e-6] {
            let phi = Mu::new(mu).unwrap();
            for z in [-1e6, -3.0, -0.2, 0.0, 1e-9, 0.7, 40.0, 1e7] {
                let expected = matsushita.surrogate(z / phi.c);
                let found = phi.surrogate(z);
                assert!(
                    (found - expected).abs() <= 1e-14 * expected,
                    "{mu} {z} {found} {expected}"
                );
            }
            // Trees: the cost is the same for every leaf.
            for k in 0..=7 {
                let (found, expected) = (phi.cost(k.into(), 7.0), matsushita.cost(k.into(), 7.0));
                assert!((found - expected).abs() <= 1e-15 * expected, "{mu} {k}");
            }
        }
    }
}
