//! # Mahalanobis
//! $$\psi(w) = w^\top \Sigma w, \qquad D(u \Vert w) = (u - w)^\top \Sigma (u - w), \qquad \Sigma \succ 0$$
//! The only symmetric Bregman divergences. The mirror step is $w - (\eta/2)\, \Sigma^{-1} \partial L$, the
//! natural-gradient step of a constant metric.
//!
//! **Link** $\theta = 2\Sigma w$. **Inverse** $w = \tfrac12 \Sigma^{-1}\theta$. **Conjugate**
//! $\tfrac14 \theta^\top \Sigma^{-1} \theta$.
//! **Modulus** $2\lambda_{\min}(\Sigma)$ w.r.t. $\Vert\cdot\Vert_2$.
//!
//! **Cost** n² multiplications; n³ once, to build it.
//!
//! **Care** No factor ½, as in [`SquaredEuclidean`](super::SquaredEuclidean), which is Σ = I. Quadratic forms are
//! computed as squared norms of $L^\top w$ and $L^{-1}\theta$, $\Sigma = L L^\top$, so they are never negative.
//! `unlink` loses as many digits as the condition number of Σ has. A matrix that is not symmetric to 1e-9 is an error;
//! smaller asymmetries are averaged.
//!
//! **Source** \[NN09, table 1 and lemma 4\], where the natural gradient lacks the factor ½.

use crate::Real;
use crate::error::{self, Allowed, ConfigError, DomainError};
use crate::geometry::linalg;
use crate::geometry::{Curved, Generator, Modulus};
use crate::row::Norm;

/// $\psi(w) = w^\top \Sigma w$.
///
/// ```
/// use geowalk::geometry::{Generator, generators::Mahalanobis};
/// let generator = Mahalanobis::new(vec![4.0, 2.0, 2.0, 10.0], 2)?;
/// assert_eq!(generator.divergence(&[1.0, 1.0], &[0.0, 2.0]), 10.0);
///
/// let error = Mahalanobis::new(vec![1.0, 2.0, 2.0, 1.0], 2).unwrap_err();
/// assert!(error.to_string().starts_with("the matrix is not positive definite: its smallest eigenvalue is -"));
/// # Ok::<(), geowalk::ConfigError>(())
/// ```
#[derive(Debug, Clone, PartialEq)]
pub struct Mahalanobis {
    n: usize,
    /// Σ.
    sigma: Vec<f64>,
    /// L, by columns.
    factor: Vec<f64>,
    /// L⁻¹, by rows.
    inverse: Vec<f64>,
    smallest: f64,
}

impl Mahalanobis {
    /// From the n×n entries of Σ.
    pub fn new(sigma: Vec<f64>, n: usize) -> Result<Self, ConfigError> {
        error::parameter("n", n as f64, Allowed::Whole(1))?;
        let mut sigma = sigma;
        error::finite("the matrix", &sigma, n.saturating_mul(n))?;
        for column in 0..n {
            for row in 0..column {
                let (a, b) = (sigma[row + column * n], sigma[column + row * n]);
                let diagonal =
                    sigma[row + row * n].abs().sqrt() * sigma[column + column * n].abs().sqrt();
                let difference = a - b;
                if difference.abs() > f64::TOLERANCE * diagonal.max(a.abs()).max(b.abs()) {
                    return Err(DomainError::NotSymmetric { row, column, difference }.into());
                }
            }
        }
        linalg::symmetrize(&mut sigma, n);
        let smallest = linalg::smallest_eigenvalue(&sigma, n).unwrap_or(f64::NAN);
        let factor = linalg::cholesky(&sigma, n).filter(|_| smallest > 0.0);
        let Some(factor) = factor else {
            return Err(DomainError::NotDefinite { smallest }.into());
        };
        let mut inverse = vec![0.0; n * n];
        for diagonal in inverse.iter_mut().step_by(n + 1) {
            *diagonal = 1.0;
        }
        linalg::solve_lower(&factor, n, &mut inverse);
        linalg::transpose(&mut inverse, n);
        Ok(Self { n, sigma, factor, inverse, smallest })
    }

    /// The entries of Σ.
    pub fn sigma(&self) -> &[f64] {
        &self.sigma
    }

    /// Rows of Σ.
    pub fn n(&self) -> usize {
        self.n
    }

    /// out ← scale · Σ x.
    fn multiply<F: Real>(&self, scale: F, x: &[F], out: &mut [F]) {
        for (out, row) in out.iter_mut().zip(self.sigma.chunks_exact(self.n)) {
            *out = scale * dot(row, x);
        }
    }

    /// out ← scale · Σ⁻¹ x = scale · L⁻ᵀ L⁻¹ x.
    fn solve<F: Real>(&self, scale: F, x: &[F], out: &mut [F]) {
        for (j, row) in self.inverse.chunks_exact(self.n).enumerate().take(out.len()) {
            let z = scale * dot(&row[..=j], x);
            // Row j of L⁻¹ affects the coordinates up to j: the ones before j are partial sums, j is set here.
            for (i, (out, &l)) in out.iter_mut().zip(&row[..=j]).enumerate() {
                let term = F::of(l) * z;
                *out = if i == j { term } else { *out + term };
            }
        }
    }

    /// Σ_j (Σ_{i ≥ j} L_ij d(i))² = dᵀΣd.
    fn form<F: Real>(&self, d: impl Fn(usize) -> F) -> F {
        let columns = self.factor.chunks_exact(self.n).enumerate();
        columns
            .map(|(j, l)| {
                let lower = l.iter().enumerate().skip(j);
                lower.map(|(i, &l)| F::of(l) * d(i)).sum::<F>().square()
            })
            .sum()
    }
}

fn dot<F: Real>(row: &[f64], x: &[F]) -> F {
    row.iter().zip(x).map(|(&a, &x)| F::of(a) * x).sum()
}

impl<F: Real> Generator<F> for Mahalanobis {
    fn check(&self, w: &[F]) -> Result<(), DomainError> {
        error::finite("the point", w, self.n)
    }

    fn check_dual(&self, theta: &[F]) -> Result<(), DomainError> {
        error::finite("the dual point", theta, self.n)
    }

    fn value(&self, w: &[F]) -> F {
        self.form(|i| w.get(i).copied().unwrap_or(F::NAN))
    }

    fn link(&self, w: &[F], theta: &mut [F]) {
        self.multiply(F::TWO, w, theta);
    }

    fn unlink(&self, theta: &[F], w: &mut [F]) {
        self.solve(F::HALF, theta, w);
    }

    fn conjugate(&self, theta: &[F]) -> F {
        let rows = self.inverse.chunks_exact(self.n).enumerate();
        rows.map(|(i, row)| (F::HALF * dot(&row[..=i], theta)).square()).sum()
    }

    fn divergence(&self, u: &[F], w: &[F]) -> F {
        self.form(|i| match (u.get(i), w.get(i)) {
            (Some(&u), Some(&w)) => u - w,
            _ => F::NAN,
        })
    }

    fn modulus(&self) -> Option<Modulus> {
        Some(Modulus { sigma: 2.0 * self.smallest, norm: Norm::L2 })
    }
}

impl<F: Real> Curved<F> for Mahalanobis {
    fn hessian(&self, _: &[F], v: &[F], out: &mut [F]) {
        self.multiply(F::TWO, v, out);
    }

    fn hessian_inverse(&self, _: &[F], g: &[F], out: &mut [F]) {
        self.solve(F::HALF, g, out);
    }

    fn check_tangent(&self, _: &[F], v: &[F]) -> Result<(), DomainError> {
        error::finite("the tangent vector", v, self.n)
    }

    fn origin(&self, w: &mut [F]) {
        w.fill(F::ZERO);
    }
}

#[cfg(test)]
#[allow(clippy::unreadable_literal)] // copied with all digits
mod tests {
    use super::*;

    const SIGMA: [f64; 9] = [4.0, 2.0, -2.0, 2.0, 10.0, 2.0, -2.0, 2.0, 5.0];

    #[test]
    fn links_and_forms_of_a_known_matrix() {
        let generator = Mahalanobis::new(SIGMA.to_vec(), 3).unwrap();
        let (w, mut theta, mut back) = ([1.0, 1.0, 1.0], [0.0; 3], [9.0; 3]);
        generator.link(&w, &mut theta);
        assert_eq!(theta, [8.0, 28.0, 10.0]);
        generator.unlink(&theta, &mut back);
        assert!(back.iter().all(|w| (w - 1.0).abs() < 1e-15), "{back:?}");
        assert!((generator.value(&w) - 23.0).abs() < 1e-14);
        assert!((generator.conjugate(&theta) - 23.0).abs() < 1e-14);
        // 2 λ_min of this matrix, to 16 digits.
        let modulus = Generator::<f64>::modulus(&generator).unwrap();
        assert!((modulus.sigma - 3.015744423120876).abs() < 1e-14, "{}", modulus.sigma);
    }

    #[test]
    fn refusals_carry_numbers() {
        let message =
            |sigma: &[f64], n| Mahalanobis::new(sigma.to_vec(), n).unwrap_err().to_string();
        assert_eq!(message(&[1.0; 3], 2), "the matrix has 3 coordinates; 4 are needed");
        assert_eq!(
            message(&[1.0, 0.0, 0.5, 1.0], 2),
            "the matrix is not symmetric: entries (0, 1) and (1, 0) differ by 5e-1"
        );
        assert!(message(&[0.0], 1).ends_with("its smallest eigenvalue is 0"));
        assert!(message(&[1.0, f64::NAN, 0.0, 1.0], 2).starts_with("coordinate 1 of the matrix"));
        assert_eq!(message(&[], 0), "n = 0; it must be a whole number >= 1");
    }

    #[test]
    fn wrong_lengths_do_not_panic() {
        let generator = Mahalanobis::new(SIGMA.to_vec(), 3).unwrap();
        assert!(generator.value(&[1.0]).is_nan());
        let mut out = [0.0; 5];
        generator.link(&[1.0], &mut out);
        generator.unlink(&[1.0], &mut out);
        generator.unlink(&[1.0; 5], &mut out[..1]);
    }
}
