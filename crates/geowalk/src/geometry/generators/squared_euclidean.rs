//! # Squared Euclidean distance
//! $$\psi(w) = \sum_i w_i^2, \qquad D(u \Vert w) = \sum_i (u_i - w_i)^2$$
//! **Link** $\theta = 2w$. **Inverse** $w = \theta/2$. **Conjugate** $\tfrac14 \Vert\theta\Vert_2^2$.
//! **Modulus** 2 w.r.t. $\Vert\cdot\Vert_2$. **Flat coordinate** $\sqrt2\, w$.
//!
//! **Cost** O(n).
//!
//! **Care** **No factor ½**: this is the generator of the paper's table, so the mirror step is
//! $w - (\eta/2)\,\partial L$, half a gradient step. [`PNorm`](super::PNorm) with q = 2 is
//! $\tfrac12 \Vert w \Vert_2^2$, whose link is the identity and whose mirror step is $w - \eta\,\partial L$.
//!
//! **Source** \[NN09, table 1\].

use crate::Real;
use crate::error::{self, Allowed, DomainError};
use crate::geometry::{Curved, Generator, Modulus, Separable};
use crate::row::Norm;

/// $\psi(w) = \sum_i w_i^2$ (no factor ½).
///
/// ```
/// use geowalk::geometry::{Generator, Work, generators::{PNorm, SquaredEuclidean}};
/// assert_eq!(SquaredEuclidean.divergence(&[3.0, 4.0], &[0.0, 0.0]), 25.0);
/// // A mirror step at rate 1 moves by half a gradient, that of ½‖w‖² by a whole one.
/// let (mut half, mut whole) = ([0.0], [0.0]);
/// SquaredEuclidean.legendre_dual(&[-1.0], &[5.0], &mut half, &mut Work::new());
/// PNorm::new(2.0)?.legendre_dual(&[-1.0], &[5.0], &mut whole, &mut Work::new());
/// assert_eq!((half, whole), ([4.5], [4.0]));
/// # Ok::<(), geowalk::ConfigError>(())
/// ```
#[derive(Debug, Clone, Copy, PartialEq, Default)]
pub struct SquaredEuclidean;

impl<F: Real> Generator<F> for SquaredEuclidean {
    fn check(&self, w: &[F]) -> Result<(), DomainError> {
        error::each("the point", w, Allowed::Finite)
    }

    fn check_dual(&self, theta: &[F]) -> Result<(), DomainError> {
        error::each("the dual point", theta, Allowed::Finite)
    }

    fn value(&self, w: &[F]) -> F {
        w.iter().map(|&w| self.value1(w)).sum()
    }

    fn link(&self, w: &[F], theta: &mut [F]) {
        for (theta, &w) in theta.iter_mut().zip(w) {
            *theta = self.link1(w);
        }
    }

    fn unlink(&self, theta: &[F], w: &mut [F]) {
        for (w, &theta) in w.iter_mut().zip(theta) {
            *w = self.unlink1(theta);
        }
    }

    fn conjugate(&self, theta: &[F]) -> F {
        theta.iter().map(|&theta| (theta * F::HALF).square()).sum()
    }

    fn divergence(&self, u: &[F], w: &[F]) -> F {
        u.iter().zip(w).map(|(&u, &w)| (u - w).square()).sum()
    }

    fn modulus(&self) -> Option<Modulus> {
        Some(Modulus { sigma: 2.0, norm: Norm::L2 })
    }
}

impl<F: Real> Curved<F> for SquaredEuclidean {
    fn hessian(&self, _: &[F], v: &[F], out: &mut [F]) {
        for (out, &v) in out.iter_mut().zip(v) {
            *out = F::TWO * v;
        }
    }

    fn hessian_inverse(&self, _: &[F], g: &[F], out: &mut [F]) {
        for (out, &g) in out.iter_mut().zip(g) {
            *out = F::HALF * g;
        }
    }

    fn check_tangent(&self, w: &[F], v: &[F]) -> Result<(), DomainError> {
        error::finite("the tangent vector", v, w.len())
    }

    fn origin(&self, w: &mut [F]) {
        w.fill(F::ZERO);
    }
}

impl<F: Real> Separable<F> for SquaredEuclidean {
    #[inline]
    fn value1(&self, w: F) -> F {
        w.square()
    }

    #[inline]
    fn link1(&self, w: F) -> F {
        F::TWO * w
    }

    #[inline]
    fn unlink1(&self, theta: F) -> F {
        F::HALF * theta
    }

    #[inline]
    fn curvature1(&self, _: F) -> F {
        F::TWO
    }

    #[inline]
    fn flat1(&self, w: F) -> F {
        F::TWO.sqrt() * w
    }

    #[inline]
    fn unflat1(&self, f: F) -> Option<F> {
        Some(f / F::TWO.sqrt())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn table_one_has_no_factor_one_half() {
        let (w, mut theta) = ([1.0, -2.0], [0.0; 2]);
        assert_eq!(SquaredEuclidean.value(&w), 5.0);
        SquaredEuclidean.link(&w, &mut theta);
        assert_eq!(theta, [2.0, -4.0]);
        assert_eq!(SquaredEuclidean.conjugate(&theta), 5.0);
        assert_eq!(SquaredEuclidean.divergence(&[1e8 + 1.0], &[1e8]), 1.0);
    }

    #[test]
    fn nan_is_refused_and_kept() {
        let error = SquaredEuclidean.check(&[0.0, f64::NAN]).unwrap_err();
        assert_eq!(
            error.to_string(),
            "coordinate 1 of the point is NaN; it must be a finite number"
        );
        assert!(SquaredEuclidean.divergence(&[f64::NAN], &[0.0]).is_nan());
    }
}
