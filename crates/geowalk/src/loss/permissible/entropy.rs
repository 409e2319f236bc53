//! # Bit entropy
//! $$\varphi_Q(p) = p\ln p + (1 - p)\ln(1 - p), \qquad F(z) = \log_2(1 + e^{-z})$$
//! **Gradient** $\ln(p/(1-p))$, image ℝ. **Transfer** $1/(1 + e^{-H})$. **Curvature** $1/(p(1-p))$;
//! $(\varphi^\star)'' = p(1-p)$.
//! **Constants** a = 0, b = ln 2, inf φ″ = 4.
//! **Cost** O(1). **Care** The raw loss is the logistic loss $\ln(1 + e^{-z})$. It bounds the 0/1 loss only after
//! division by ln 2, which \[NN09, table 2\] omits. All functions are computed from $e^{-|H|} \le 1$, so nothing
//! overflows. **Source** \[NN09, eq. (29)\].

use super::{Permissible, fold};
use crate::Real;

/// $p\ln p + (1 - p)\ln(1 - p)$.
///
/// ```
/// use geowalk::loss::permissible::{Entropy, Permissible};
/// assert_eq!((Entropy.surrogate(0.0), Entropy.raw(0.0)), (1.0, 2_f64.ln()));
/// assert_eq!((Entropy.transfer(800.0), Entropy.raw(-800.0)), (1.0, 800.0));
/// ```
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Entropy;

impl Permissible for Entropy {
    fn spec(&self) -> String {
        "entropy".to_owned()
    }

    fn a(&self) -> f64 {
        0.0
    }

    fn b(&self) -> f64 {
        std::f64::consts::LN_2
    }

    fn curvature_floor(&self) -> f64 {
        4.0
    }

    fn image(&self) -> (f64, f64) {
        (f64::NEG_INFINITY, f64::INFINITY)
    }

    fn impurity(&self, p: f64) -> f64 {
        let (q, _) = fold(p);
        if q == 0.0 {
            return 0.0;
        }
        -(q * Real::ln(q) + (1.0 - q) * Real::ln_1p(-q))
    }

    fn gradient(&self, p: f64) -> f64 {
        let (q, sign) = fold(p);
        // ln((1 − q)/q): the first form is accurate near ½, the second does not overflow near 0.
        sign * if q > 0.25 {
            Real::ln_1p((1.0 - 2.0 * q) / q)
        } else {
            Real::ln_1p(-q) - Real::ln(q)
        }
    }

    fn curvature(&self, p: f64) -> f64 {
        let (q, _) = fold(p);
        1.0 / (q * (1.0 - q))
    }

    fn tail(&self, h: f64) -> f64 {
        let e = Real::exp(-h);
        e / (1.0 + e)
    }

    fn tail_excess(&self, h: f64) -> f64 {
        Real::ln_1p(Real::exp(-h))
    }

    fn conjugate_curvature(&self, h: f64) -> f64 {
        let e = Real::exp(-h.abs());
        e / ((1.0 + e) * (1.0 + e))
    }
}
