//! # Powers of the Gini index
//! $$\varphi_\nu(p) = -(p(1 - p))^\nu, \qquad 0 < \nu < 1$$
//! **Gradient** $\nu(2p - 1)g^{\nu-1}$ with $g = p(1-p)$, image ℝ. **Curvature**
//! $\nu g^{\nu-2}[(1-\nu) + (4\nu - 2)g]$.
//! **Constants** a = 0, $b = 4^{-\nu}$, inf φ″ = $8\nu 4^{-\nu}$, at p = ½. ν = ½ is
//! [`Matsushita`](super::Matsushita).
//!
//! **Transfer** no closed form: the log-odds t of the likelier class solve
//! $$\ln\nu + \ln\tanh\tfrac t2 + 2(1-\nu)\ln(2\cosh\tfrac t2) = \ln h,$$
//! by a bracketed Newton iteration of at most 6 steps (for ν from 0.05 to 0.9). Then, with $e = e^{-t}$,
//! $$\nabla\varphi^{-1}(-h) = \frac{e}{1 + e}, \qquad \varphi^\star(-h) = g^\nu\,[(1-\nu) + \nu e].$$
//! **ν = ¼**, the default: with $c = 2\sqrt g$ and $k = 2h^2$ the equation is the cubic $kc^3 + c^2 = 1$, convex and
//! rising in c, so Newton's steps from above converge monotonically. Then $d = \sqrt{kc^3}$ is the difference of the
//! probabilities and $\nabla\varphi^{-1}(-h) = \tfrac12c^2/(1 + d)$. This needs only roots and products. **Cost**
//! O(1), ten to thirty times [`Entropy`](super::Entropy); for ν = ¼ less than it. **Care** The last form replaces
//! $g^\nu - hp$, which cancels. The tails fall as $(\nu/h)^{1/(1-\nu)}$, so for ν near 1 a relative error of h is
//! multiplied by 1/(1 − ν); no algorithm avoids that.
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
    /// The function with exponent ν, 0 < ν < 1.
    pub fn new(nu: f64) -> Result<Self, ConfigError> {
        let nu = error::parameter("nu", nu, Allowed::Open(0.0, 1.0))?;
        // b is computed like the impurity at ½, so that a balanced leaf costs exactly 1 per example.
        let mut phi = Self { nu, b: 1.0 };
        phi.b = phi.power(0.25);
        Ok(phi)
    }

    /// g^ν.
    #[inline]
    fn power(&self, g: f64) -> f64 {
        if self.nu == 0.25 { g.sqrt().sqrt() } else { Real::powf(g, self.nu) }
    }

    /// ν.
    pub fn nu(&self) -> f64 {
        self.nu
    }

    /// The result of [`quarter`] if ν = ¼, else `None`.
    #[inline]
    fn cubic(&self, h: f64) -> Option<(f64, f64)> {
        if self.nu == 0.25 { quarter(h) } else { None }
    }

    /// The log-odds t ≥ 0 of the likelier class for |H| = h.
    fn log_odds(&self, h: f64) -> f64 {
        let nu = self.nu;
        // ∇φ is `slope` times t/2, up to a relative error of order t².
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

/// The tail of ν = ¼ at h: c = 2√g and d = 1 − 2q; `None` if 2h² is not finite.
#[inline]
fn quarter(h: f64) -> Option<(f64, f64)> {
    let k = 2.0 * h * h;
    if !k.is_finite() {
        return None;
    }
    // k ≥ 2^e, so k^−⅓ ≤ 2^−⌊e/3⌋. From that start, or from 1, every step decreases towards the root.
    let biased = (k.to_bits() >> 52) & 0x7ff;
    let mut c =
        if biased <= 1023 { 1.0 } else { f64::from_bits((1023 - (biased - 1023) / 3) << 52) };
    loop {
        let next = c - (k * c * c * c + (c * c - 1.0)) / (c * (3.0 * k * c + 2.0));
        if next >= c {
            break;
        }
        c = next;
    }
    Some((c, (k * c * c * c).sqrt()))
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
        self.power(q * (1.0 - q))
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
        if let Some((c, d)) = self.cubic(h) {
            return 0.5 * c * (c / (1.0 + d));
        }
        let e = Real::exp(-self.log_odds(h));
        e / (1.0 + e)
    }

    fn tail_excess(&self, h: f64) -> f64 {
        if let Some((c, d)) = self.cubic(h) {
            let odds = c / (1.0 + d);
            return (0.5 * c).sqrt() * (0.75 + 0.25 * odds * odds);
        }
        let t = self.log_odds(h);
        let e = Real::exp(-t);
        let ln_g = -t - 2.0 * Real::ln_1p(e);
        Real::exp(self.nu * ln_g) * ((1.0 - self.nu) + self.nu * e)
    }

    fn conjugate_curvature(&self, h: f64) -> f64 {
        if let Some((c, d)) = self.cubic(h.abs()) {
            // g^(7/4) over ν[(1 − ν)d² + 2g], with g = c²/4.
            let half = 0.5 * c;
            return 4.0 * half * half * half * half.sqrt() / (0.75 * d * d + 2.0 * half * half);
        }
        let t = self.log_odds(h.abs());
        let e = Real::exp(-t);
        let ln_g = -t - 2.0 * Real::ln_1p(e);
        let d = Real::tanh(0.5 * t);
        Real::exp((2.0 - self.nu) * ln_g)
            / (self.nu * ((1.0 - self.nu) * d * d + 2.0 * Real::exp(ln_g)))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Compares the cubic with the general equation, and with a ν next to ¼.
    #[test]
    fn a_quarter_is_no_special_case() {
        let phi = Nu::new(0.25).unwrap();
        let beside = Nu::new(0.25 * (1.0 + f64::EPSILON)).unwrap();
        let mut h: f64 = 1e-12;
        while h < 1e12 {
            let (q, other) = (phi.tail(h), beside.tail(h));
            assert!((q / other - 1.0).abs() < 2e-14, "{h}: {q} {other}");
            let back = -phi.gradient(q);
            assert!((back - h).abs() <= 4e-15 * (1.0 + h), "{h}: {back}");
            for (a, b) in [
                (phi.tail_excess(h), beside.tail_excess(h)),
                (phi.conjugate_curvature(-h), beside.conjugate_curvature(-h)),
                (phi.impurity(q), beside.impurity(q)),
            ] {
                assert!((a / b - 1.0).abs() < 2e-13, "{h}: {a} {b}");
            }
            h *= 1.7;
        }
        assert_eq!((phi.tail(0.0), phi.tail_excess(0.0)), (0.5, phi.b()));
        assert_eq!(phi.tail(f64::INFINITY), 0.0);
        // Where the cubic is not used, the tails still fall as h^(−4/3).
        let fall = phi.tail(1e156) / phi.tail(1e153);
        assert!((fall / 1e-4 - 1.0).abs() < 1e-9, "{fall}");
        assert!(phi.tail(f64::NAN).is_nan());
        assert_eq!(phi.impurity(0.5), phi.b());
    }
}
