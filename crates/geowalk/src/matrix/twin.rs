//! The twin of matrix exponentiated gradient.

use super::{diagonal, image, parameters};
use crate::error::{Allowed, ConfigError, DomainError};
use crate::learn::base::{judge, scalar};
use crate::loss::Loss;
use crate::update::{Round, Target};

/// The twin of [`MatrixEntropy`](super::MatrixEntropy): gradient descent on U with W = UUᵀ, without a decomposition.
///
/// $$U' = (I - \tfrac12 \eta g\, x x^\top)\, U, \qquad W' = W - a\,(x y^\top + y x^\top) + a^2 z\, x x^\top$$
/// with $a = \tfrac12\eta g$, $y = Wx$, $z = x^\top y$; U itself is not needed. The density form divides by the trace.
/// **Cost** O(n²). **Care** with a‖x‖² > 1 the step goes past 0 and beyond, as that of vectors does: rates must be
/// small beside the rows. No bound is evaluated. **Source** \[AW20, sec. 5 and 6\], for matrices.
///
/// ```
/// use geowalk::{loss::Squared, matrix::MatrixTwin};
/// let mut twin = MatrixTwin::density(2)?;
/// for _ in 0..300 {
///     twin.step(&[0.6, 0.8], 0.9.into(), &Squared, 0.5)?;
/// }
/// assert!((twin.predict(&[0.6, 0.8])? - 0.9).abs() < 1e-9);
/// # Ok::<(), geowalk::ConfigError>(())
/// ```
#[derive(Debug, Clone)]
pub struct MatrixTwin {
    w: Vec<f64>,
    density: bool,
    y: Vec<f64>,
}

/// Equal matrices.
impl PartialEq for MatrixTwin {
    fn eq(&self, other: &Self) -> bool {
        self.density == other.density && self.w == other.w
    }
}

impl MatrixTwin {
    /// Matrices of trace 1, from I/n.
    pub fn density(n: usize) -> Result<Self, ConfigError> {
        Ok(Self { density: true, ..Self::unnormalised(n, 1.0 / n.max(1) as f64)? })
    }

    /// All positive semidefinite matrices, from start·I.
    pub fn unnormalised(n: usize, start: f64) -> Result<Self, ConfigError> {
        parameters(n, start)?;
        Ok(Self { w: diagonal(n, start), density: false, y: vec![0.0; n] })
    }

    /// W, column after column.
    pub fn weights(&self) -> &[f64] {
        &self.w
    }

    /// xᵀWx.
    pub fn predict(&self, x: &[f64]) -> Result<f64, DomainError> {
        Ok(image(&self.w, x, &mut vec![0.0; self.y.len()])?.0)
    }

    /// Predicts, then moves. On an error the matrix is what it was.
    pub fn step<L: Loss + ?Sized>(
        &mut self,
        x: &[f64],
        target: Target,
        loss: &L,
        rate: f64,
    ) -> Result<Round, DomainError> {
        let n = x.len();
        let (z, square) = image(&self.w, x, &mut self.y)?;
        let mut round = judge(z, target, loss, rate)?;
        let a = 0.5 * rate * round.slope;
        if a == 0.0 {
            return Ok(round);
        }
        scalar("the step", a * square, Allowed::Closed(-1e100, 1e100))?;
        // tr W' = tr W − 2a z + a²z‖x‖².
        let before: f64 = self.w.iter().step_by(n + 1).sum();
        let trace = before - 2.0 * a * z + a * a * z * square;
        let by =
            if self.density { 1.0 / scalar("the trace", trace, Allowed::Positive)? } else { 1.0 };
        scalar("the trace", by * trace, Allowed::Closed(0.0, 1e150))?;
        for (j, column) in self.w.chunks_exact_mut(n).enumerate() {
            let (xj, yj) = (x[j], self.y[j]);
            for ((w, &xi), &yi) in column.iter_mut().zip(x).zip(&self.y) {
                *w = by * (*w - a * (xi * yj + yi * xj) + a * a * z * (xi * xj));
            }
        }
        round.length = 2.0 * a.abs() * z.max(0.0).sqrt() * square.sqrt();
        Ok(round)
    }
}
