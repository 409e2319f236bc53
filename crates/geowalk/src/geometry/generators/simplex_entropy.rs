//! # Relative entropy on the simplex
//! $$\psi(w) = \sum_i w_i \ln w_i, \qquad D(u \Vert w) = \sum_i u_i \ln \frac{u_i}{w_i}, \qquad w > 0,\ \sum_i w_i = 1$$
//! Its mirror step is exponentiated gradient, $w_i e^{-\eta \partial_i L} / \sum_j w_j e^{-\eta \partial_j L}$.
//!
//! **Link** Directions in the simplex sum to 0, so ∇ψ is defined up to a constant: θ and θ + c are the same dual point. The one chosen
//! (the gauge) is $\theta = \ln w$, the log-probabilities, for which $\ln\sum_i e^{\theta_i} = 0$.
//! **Inverse** softmax, of every θ: it does not see the gauge. **Conjugate** $\ln \sum_i e^{\theta_i}$.
//! **Modulus** 1 w.r.t. $\Vert\cdot\Vert_1$ (Pinsker's inequality). **Metric** that of Fisher.
//!
//! **Cost** O(n).
//!
//! **Care** Of two dual points compare the differences of coordinates, or their softmax: after a step θ is no longer in the gauge. Softmax
//! and log-sum-exp take the largest coordinate out first, and the second sums the rest in `ln_1p`: neither overflows. D is summed as
//! $u_i \ln(u_i/w_i) - u_i + w_i \ge 0$, which is the same for two points of the simplex and has no cancellation; D = +∞ where
//! $u_i > 0 = w_i$. Weights more than $e^{745}$ times smaller than the largest underflow to 0 and do not pass `check`.
//!
//! **Source** \[AW20, sec. 2\]; Fisher metric \[AN00, sec. 2.2\].

use super::gap;
use crate::Real;
use crate::error::{self, Allowed, DomainError};
use crate::geometry::{Curved, Generator, Modulus};
use crate::row::Norm;

/// $\psi(w) = \sum_i w_i \ln w_i$ on the probability simplex.
///
/// ```
/// use geowalk::geometry::{Generator, generators::SimplexEntropy};
/// let mut w = [0.0; 3];
/// SimplexEntropy.unlink(&[1000.0, 1000.0, 0.0], &mut w);
/// assert_eq!(w, [0.5, 0.5, 0.0]);
/// assert_eq!(SimplexEntropy.divergence(&[1.0, 0.0], &[0.5, 0.5]), std::f64::consts::LN_2);
/// ```
#[derive(Debug, Clone, Copy, PartialEq, Default)]
pub struct SimplexEntropy;

fn largest<F: Real>(theta: &[F]) -> F {
    theta.iter().fold(-F::INFINITY, |m, &theta| m.max(theta))
}

impl<F: Real> Generator<F> for SimplexEntropy {
    fn check(&self, w: &[F]) -> Result<(), DomainError> {
        error::each("the point", w, Allowed::Positive)?;
        sums_to("the sum of the point", w, 1.0, 1.0)
    }

    fn check_dual(&self, theta: &[F]) -> Result<(), DomainError> {
        error::each("the dual point", theta, Allowed::Finite)
    }

    fn value(&self, w: &[F]) -> F {
        w.iter().map(|&w| if w == F::ZERO { w } else { w * w.ln() }).sum()
    }

    fn link(&self, w: &[F], theta: &mut [F]) {
        for (theta, &w) in theta.iter_mut().zip(w) {
            *theta = w.ln();
        }
    }

    fn unlink(&self, theta: &[F], w: &mut [F]) {
        let top = largest(theta);
        let mut sum = F::ZERO;
        for (w, &theta) in w.iter_mut().zip(theta) {
            *w = (theta - top).exp();
            sum += *w;
        }
        for w in w.iter_mut() {
            *w /= sum;
        }
    }

    fn conjugate(&self, theta: &[F]) -> F {
        let top = largest(theta);
        // The largest coordinate is the 1 in ln(1 + ·): left out of the sum once, even where it occurs twice.
        let mut left_out = false;
        let mut sum = F::ZERO;
        for &theta in theta {
            if theta == top && !left_out {
                left_out = true;
            } else {
                sum += (theta - top).exp();
            }
        }
        top + sum.ln_1p()
    }

    fn divergence(&self, u: &[F], w: &[F]) -> F {
        u.iter().zip(w).map(|(&u, &w)| gap::entropy(u, w, u - w)).sum()
    }

    fn modulus(&self) -> Option<Modulus> {
        Some(Modulus { sigma: 1.0, norm: Norm::L1 })
    }
}

/// Checks a sum, added in `f64`, to the tolerance of `F` times `scale`.
fn sums_to<F: Real>(
    quantity: &'static str,
    x: &[F],
    expected: f64,
    scale: f64,
) -> Result<(), DomainError> {
    let found: f64 = x.iter().map(|x| x.f64()).sum();
    let tolerance = F::TOLERANCE.f64() * scale;
    if (found - expected).abs() <= tolerance {
        Ok(())
    } else {
        Err(DomainError::Constraint { quantity, found, expected, tolerance })
    }
}

impl<F: Real> Curved<F> for SimplexEntropy {
    fn dim(&self, n: usize) -> usize {
        n.saturating_sub(1)
    }

    /// v/w, one of the covectors (they differ by constants) that stand for ∇²ψ v.
    fn hessian(&self, w: &[F], v: &[F], out: &mut [F]) {
        for ((out, &v), &w) in out.iter_mut().zip(v).zip(w) {
            *out = v / w;
        }
    }

    /// w ∘ (g − ⟨w, g⟩), the same for g and g + c.
    fn hessian_inverse(&self, w: &[F], g: &[F], out: &mut [F]) {
        let mean: F = w.iter().zip(g).map(|(&w, &g)| w * g).sum();
        for ((out, &g), &w) in out.iter_mut().zip(g).zip(w) {
            *out = w * (g - mean);
        }
    }

    /// v − w Σv, nearest in the Fisher metric. Twice: the first pass leaves a residue relative to the vector before it.
    fn project(&self, w: &[F], v: &mut [F]) {
        for _ in 0..2 {
            let sum: F = v.iter().copied().sum();
            for (v, &w) in v.iter_mut().zip(w) {
                *v -= w * sum;
            }
        }
    }

    fn check_tangent(&self, w: &[F], v: &[F]) -> Result<(), DomainError> {
        error::finite("the tangent vector", v, w.len())?;
        let size: f64 = v.iter().map(|v| v.f64().abs()).sum();
        sums_to("the sum of the tangent vector", v, 0.0, size)
    }

    fn origin(&self, w: &mut [F]) {
        let n = F::of(w.len() as f64);
        w.fill(F::ONE / n);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn log_sum_exp_neither_overflows_nor_loses_the_small() {
        assert_eq!(SimplexEntropy.conjugate(&[1e300, 0.0]), 1e300);
        assert_eq!(SimplexEntropy.conjugate(&[0.0, -40.0]), Real::exp(-40.0));
        assert_eq!(SimplexEntropy.conjugate(&[7.0, 7.0]), 7.0 + std::f64::consts::LN_2);
        assert!(SimplexEntropy.conjugate(&[f64::NAN, 7.0]).is_nan());
        assert_eq!(SimplexEntropy.conjugate(&[f64::NEG_INFINITY, 7.0]), 7.0);
    }

    #[test]
    fn softmax_does_not_see_the_gauge() {
        let (mut a, mut b) = ([0.0_f64; 3], [0.0_f64; 3]);
        SimplexEntropy.unlink(&[0.5, -1.0, 2.0], &mut a);
        SimplexEntropy.unlink(&[1024.5, 1023.0, 1026.0], &mut b);
        assert_eq!(a, b);
        assert!((a.iter().sum::<f64>() - 1.0).abs() <= f64::EPSILON);
        SimplexEntropy.unlink(&[f64::NAN, 0.0, 0.0], &mut a);
        assert!(a.iter().all(|w| w.is_nan()));
    }

    #[test]
    fn errors_carry_the_sum() {
        let error = SimplexEntropy.check(&[0.5, 0.25]).unwrap_err();
        assert_eq!(error.to_string(), "the sum of the point is 0.75; it must be 1 within 1e-9");
        assert!(SimplexEntropy.check(&[1.0, 0.0]).is_err());
        assert!(SimplexEntropy.check_tangent(&[0.5, 0.5], &[1e6, -1e6]).is_ok());
        let error = SimplexEntropy.check_tangent(&[0.5, 0.5], &[1.0, -0.5]).unwrap_err();
        assert!(matches!(error, DomainError::Constraint { found: 0.5, .. }), "{error}");
    }

    #[test]
    fn projection_is_orthogonal_in_the_fisher_metric() {
        let w = [0.2, 0.3, 0.5];
        let before = [1.0, 2.0, -0.5];
        let mut v = before;
        SimplexEntropy.project(&w, &mut v);
        assert!(SimplexEntropy.check_tangent(&w, &v).is_ok());
        let u = [0.4, -0.1, -0.3];
        let inner: f64 = (0..3).map(|i| (before[i] - v[i]) * u[i] / w[i]).sum();
        assert!(inner.abs() < 1e-15);
        let mut again = v;
        SimplexEntropy.project(&w, &mut again);
        assert!(again.iter().zip(v).all(|(a, v)| (a - v).abs() < 1e-15));
    }
}
