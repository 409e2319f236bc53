//! # Powers of the Gini index
//! $$\varphi_\nu(p) = -(p(1 - p))^\nu, \qquad 0 < \nu < 1$$
//! **Gradient** $\nu(2p - 1)g^{\nu-1}$ with $g = p(1-p)$, image ℝ. **Curvature** $\nu g^{\nu-2}[(1-\nu) + (4\nu - 2)g]$.
//! **Constants** a = 0, $b = 4^{-\nu}$, inf φ″ = $8\nu 4^{-\nu}$, at p = ½. ν = ½ is [`Matsushita`](super::Matsushita).
//!
//! **Transfer** no closed form: the log-odds t of the likelier class solve
//! $$\ln\nu + \ln\tanh\tfrac t2 + 2(1-\nu)\ln(2\cosh\tfrac t2) = \ln h,$$
//! by a bracketed Newton iteration of at most 6 steps (for ν from 0.05 to 0.9). Then, with $e = e^{-t}$,
//! $$\nabla\varphi^{-1}(-h) = \frac{e}{1 + e}, \qquad \varphi^\star(-h) = g^\nu\,[(1-\nu) + \nu e].$$
//! **Cost** O(1), ten to thirty times [`Entropy`](super::Entropy). **Care** the last form replaces $g^\nu - hp$, which cancels. The tails fall as
//! $(\nu/h)^{1/(1-\nu)}$, so for ν near 1 a relative error of h is magnified by 1/(1 − ν), by nature.
//! **Source** \[NN09, eq. (107)\], with the sign that makes it convex.

use super::{Permissible, fold, root};
use crate::Real;
use crate::error::{self, Allowed, ConfigError};

/// $-(p(1 - p))^\nu$.
///
/// ```
/// use geowalk::loss::permissible::{Nu, Permissible};
/// let phi = Nu::new(0.5)?;
/// assert!((phi.transfer(0.75) - 0.8).abs() < 1e-15);
/// assert_eq!((phi.b(), phi.curvature_floor()), (0.5, 2.0));
/// # Ok::<(), geowalk::ConfigError>(())
/// ```
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Nu {
    nu: f64,
    b: f64,
}

impl Nu {
    /// 0 < ν < 1.
    pub fn new(nu: f64) -> Result<Self, ConfigError> {
        let nu = error::parameter("nu", nu, Allowed::Open(0.0, 1.0))?;
        // As the impurity at ½ is computed, so that half and half costs exactly 1 per example.
        Ok(Self { nu, b: Real::powf(0.25, nu) })
    }

    /// ν.
    pub fn nu(&self) -> f64 {
        self.nu
    }

    /// The log-odds t ≥ 0 of the likelier class for |H| = h.
    fn log_odds(&self, h: f64) -> f64 {
        let nu = self.nu;
        // ∇φ is this times t/2, up to a relative error of order t².
        let slope = 4.0 * nu * self.b;
        let linear = 2.0 * h / slope;
        if linear < 1e-8 || !h.is_finite() {
            return linear;
        }
        let ln_h = Real::ln(h);
        let ln_nu = Real::ln(nu);
        let start = if h < 0.5 * slope { linear } else { ((ln_h - ln_nu) / (1.0 - nu)).max(1.0) };
        root::increasing(start, |t| {
            let e = Real::exp(-t);
            let tanh = Real::tanh(0.5 * t);
            let ln_tanh = if t < 1.0 { Real::ln(tanh) } else { Real::ln_1p(-e) - Real::ln_1p(e) };
            let ln_cosh = 0.5 * t + Real::ln_1p(e);
            (
                ln_nu - ln_h + ln_tanh + 2.0 * (1.0 - nu) * ln_cosh,
                1.0 / Real::sinh(t) + (1.0 - nu) * tanh,
            )
        })
    }
}

impl Permissible for Nu {
    fn spec(&self) -> String {
        format!("nu(nu={})", self.nu)
    }

    fn a(&self) -> f64 {
        0.0
    }

    fn b(&self) -> f64 {
        self.b
    }

    fn curvature_floor(&self) -> f64 {
        8.0 * self.nu * self.b
    }

    fn image(&self) -> (f64, f64) {
        (f64::NEG_INFINITY, f64::INFINITY)
    }

    fn impurity(&self, p: f64) -> f64 {
        let (q, _) = fold(p);
        Real::powf(q * (1.0 - q), self.nu)
    }

    fn gradient(&self, p: f64) -> f64 {
        let (q, sign) = fold(p);
        sign * self.nu * (1.0 - 2.0 * q) * Real::powf(q * (1.0 - q), self.nu - 1.0)
    }

    fn curvature(&self, p: f64) -> f64 {
        let (q, _) = fold(p);
        let (g, d) = (q * (1.0 - q), 1.0 - 2.0 * q);
        // 1 − 4g = d², so both terms are positive.
        self.nu * Real::powf(g, self.nu - 2.0) * ((1.0 - self.nu) * d * d + 2.0 * g)
    }

    fn tail(&self, h: f64) -> f64 {
        let e = Real::exp(-self.log_odds(h));
        e / (1.0 + e)
    }

    fn tail_excess(&self, h: f64) -> f64 {
        let t = self.log_odds(h);
        let e = Real::exp(-t);
        let ln_g = -t - 2.0 * Real::ln_1p(e);
        Real::exp(self.nu * ln_g) * ((1.0 - self.nu) + self.nu * e)
    }

    fn conjugate_curvature(&self, h: f64) -> f64 {
        let t = self.log_odds(h.abs());
        let e = Real::exp(-t);
        let ln_g = -t - 2.0 * Real::ln_1p(e);
        let d = Real::tanh(0.5 * t);
        Real::exp((2.0 - self.nu) * ln_g)
            / (self.nu * ((1.0 - self.nu) * d * d + 2.0 * Real::exp(ln_g)))
    }
}
