//! # Log cosh
//! $$\varphi_\zeta(p) = \tfrac2k \ln\cosh\bigl(\tfrac k2(p - \tfrac12)\bigr) - b, \qquad
//!   k = -\zeta > 0, \quad b = \tfrac2k\ln\cosh\tfrac k4$$
//! **Gradient** $\tanh(\tfrac k2(p - \tfrac12))$, image ±T with $T = \tanh\tfrac k4$. **Transfer**
//! $\tfrac12 + \tfrac2k\mathrm{artanh} H$, clipped to [0, 1].
//! **Curvature** $\tfrac k2\mathrm{sech}^2(\tfrac k2(p - \tfrac12))$; $(\varphi^\star)''$ is $\tfrac2k/(1 - H^2)$
//! inside (−T, T) and 0 outside.
//! **Constants** a = 0, inf φ″ = $\tfrac k2\mathrm{sech}^2\tfrac k4$, at the ends. ζ → 0 gives
//! (k/4)·[`Gini`](super::Gini); ζ → −∞ gives $-\min(p, 1-p)$, whose F is $1 - z$ on [−1, 1]: the hinge loss, not the
//! 0/1 loss. The default ζ = −4 is in between, T = tanh 1.
//!
//! **Cost** O(1). **Care** Let u = k/4 − artanh h, so that the tail is (2/k)u. Near saturation u is computed from T −
//! h and 1 − T instead of the difference, and with $c = \frac{1+h}2$, $d = \frac{1-h}2$, $r(x) = 2(e^x - 1 - x)/x^2$
//! $$\varphi^\star(-h) = \tfrac2k \ln\bigl(1 + 2u^2cd\,[d\,r(2ud) + c\,r(-2uc)]\bigr),$$
//! where every term is positive. What remains is the rounding of T, a relative error of about 1e-16·T/(T − h).
//! **Source** \[NN09, eq. (35)\], shifted by b: as printed, φ(½) = 0 and a < 0, which is not permissible.

use super::{Permissible, fold};
use crate::Real;
use crate::error::{self, Allowed, ConfigError};

/// $\tfrac2k \ln\cosh(\tfrac k2(p - \tfrac12)) - b$ with k = −ζ.
///
/// ```
/// use geowalk::loss::permissible::{Permissible, Zeta};
/// let phi = Zeta::new(-4.0)?;
/// assert_eq!((phi.transfer(0.0), phi.surrogate(0.0)), (0.5, 1.0));
/// assert_eq!((phi.transfer(0.8), phi.raw(0.8)), (1.0, 0.0)); // beyond tanh 1 = 0.7616
/// # Ok::<(), geowalk::ConfigError>(())
/// ```
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Zeta {
    k: f64,
    /// T = tanh(k/4).
    limit: f64,
    /// 1 − T, accurate to all digits.
    gap: f64,
    b: f64,
}

impl Zeta {
    /// The function with parameter ζ, from −1e300 to −1e-300; beyond, k/4 or its square overflows or underflows.
    pub fn new(zeta: f64) -> Result<Self, ConfigError> {
        let zeta = error::parameter("zeta", zeta, Allowed::Negative)?;
        let k = -error::parameter("zeta", zeta, Allowed::Closed(-1e300, -1e-300))?;
        let e = Real::exp(-0.5 * k);
        let mut phi = Self { k, limit: Real::tanh(0.25 * k), gap: 2.0 * e / (1.0 + e), b: 1.0 };
        phi.b = phi.tail_excess(0.0);
        Ok(phi)
    }

    /// ζ.
    pub fn zeta(&self) -> f64 {
        -self.k
    }

    /// u = k/4 − artanh h ≥ 0; 0 if saturated.
    fn depth(&self, h: f64) -> f64 {
        // T − h. Below ½ the difference is exact enough; above ½ the difference of the complements is.
        let below = if self.limit < 0.5 { self.limit - h } else { (1.0 - h) - self.gap };
        if h >= self.limit || below <= 0.0 {
            return 0.0;
        }
        let u = 0.25 * self.k - Real::atanh(h);
        // The difference is accurate unless it is small; the addition theorem is accurate if u is small.
        if u >= 1.0 || u >= 0.125 * self.k {
            u
        } else {
            Real::atanh(below / ((1.0 - h) + h * self.gap))
        }
    }
}

/// 2(eˣ − 1 − x)/x² > 0, 1 at 0, without cancellation.
fn remainder(x: f64) -> f64 {
    if x.abs() >= 0.5 {
        return 2.0 * (Real::exp_m1(x) - x) / (x * x);
    }
    // 1 + x/3·(1 + x/4·(…)): below ½ the term after n = 16 is under 1e-18 of the sum.
    let mut sum = 1.0;
    for n in (3..=16).rev() {
        sum = 1.0 + x / f64::from(n) * sum;
    }
    sum
}

impl Permissible for Zeta {
    fn spec(&self) -> String {
        format!("zeta(zeta={})", -self.k)
    }

    fn a(&self) -> f64 {
        0.0
    }

    fn b(&self) -> f64 {
        self.b
    }

    fn curvature_floor(&self) -> f64 {
        self.curvature(0.0)
    }

    fn image(&self) -> (f64, f64) {
        (-self.limit, self.limit)
    }

    fn impurity(&self, p: f64) -> f64 {
        let (q, _) = fold(p);
        let k = self.k;
        if q == 0.5 {
            // b by its definition: a balanced leaf costs exactly 1 per example.
            return self.b;
        }
        if k <= 4.0 {
            // cosh X − cosh x = 2 sinh((X + x)/2) sinh((X − x)/2), here divided by its size k²q(1 − q)/8.
            let shape = Real::sinhc(0.25 * k * (1.0 - q)) * Real::sinhc(0.25 * k * q)
                / Real::cosh(0.25 * k);
            let y = 0.125 * k * k * q * (1.0 - q) * shape;
            let log = if y == 0.0 { 1.0 } else { -Real::ln_1p(-y) / y };
            0.25 * k * q * (1.0 - q) * shape * log
        } else {
            let e = Real::exp(-0.5 * k * (1.0 - 2.0 * q));
            let y = -e * Real::exp_m1(-k * q) / (1.0 + Real::exp(-0.5 * k));
            q - Real::ln_1p(y) / (0.5 * k)
        }
    }

    fn gradient(&self, p: f64) -> f64 {
        let (q, sign) = fold(p);
        sign * Real::tanh(0.25 * self.k * (1.0 - 2.0 * q))
    }

    fn curvature(&self, p: f64) -> f64 {
        let (q, _) = fold(p);
        let sech = 1.0 / Real::cosh(0.25 * self.k * (1.0 - 2.0 * q));
        0.5 * self.k * sech * sech
    }

    fn tail(&self, h: f64) -> f64 {
        self.depth(h) / (0.5 * self.k)
    }

    fn tail_excess(&self, h: f64) -> f64 {
        let u = self.depth(h);
        if u == 0.0 {
            return 0.0;
        }
        let (c, d) = (0.5 * (1.0 + h), 0.5 * (1.0 - h));
        let x = 2.0 * u * d;
        if x < 30.0 {
            let shape = 2.0 * c * d * (d * remainder(x) + c * remainder(-2.0 * u * c));
            let y = u * u * shape;
            // ln(1 + y)/(k/2) would fail: for tiny k the square of u underflows.
            let log = if y == 0.0 { 1.0 } else { Real::ln_1p(y) / y };
            u / (0.5 * self.k) * u * shape * log
        } else {
            (Real::ln(c) + x + Real::ln_1p(d / c * Real::exp(-2.0 * u))) / (0.5 * self.k)
        }
    }

    fn conjugate_curvature(&self, h: f64) -> f64 {
        let h = h.abs();
        if self.depth(h) == 0.0 { 0.0 } else { 2.0 / self.k / ((1.0 - h) * (1.0 + h)) }
    }
}
