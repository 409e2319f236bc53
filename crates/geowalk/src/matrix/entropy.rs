//! Matrix exponentiated gradient.

use super::{MirrorSum, diagonal, image, parameters};
use crate::Real;
use crate::certify::Certificate;
use crate::error::{Allowed, ConfigError, DomainError};
use crate::geometry::linalg;
use crate::learn::base::{judge, scalar};
use crate::loss::Loss;
use crate::update::{Round, Target};

/// Matrix exponentiated gradient: a positive definite matrix, or one of trace 1, that predicts xᵀWx.
///
/// $$\Theta' = \Theta - \eta g\, x x^\top, \qquad W = e^\Theta \quad\text{or}\quad e^\Theta/\mathrm{tr}\, e^\Theta$$
/// the mirror step of von Neumann's entropy tr(W ln W − W). **Cost** O(n³), a decomposition a step. **Care** logarithms
/// of eigenvalues of the unnormalised form are cut to ±300.
/// **Bound** of the density form, at one rate η and for losses convex in the prediction, against all U ≥ 0 of trace 1:
/// $$\frac{\ln n}{\eta} + \frac\eta2 \sum_t g_t^2 \Vert x_t\Vert^4,$$
/// since the entropy has modulus 1 in the trace norm, whose dual is the spectral norm, $\Vert g\, x x^\top\Vert = |g|\,\Vert x\Vert^2$,
/// and no U is farther than ln n from I/n. **Source** \[TRW05\].
///
/// ```
/// use geowalk::{loss::Squared, matrix::MatrixEntropy};
/// let mut eg = MatrixEntropy::density(2)?;
/// for _ in 0..300 {
///     eg.step(&[0.6, 0.8], 0.9.into(), &Squared, 0.5)?;
/// }
/// assert!((eg.predict(&[0.6, 0.8])? - 0.9).abs() < 1e-9);
/// assert!((eg.predict(&[0.8, -0.6])? - 0.1).abs() < 1e-9);
/// # Ok::<(), geowalk::ConfigError>(())
/// ```
#[derive(Debug, Clone)]
pub struct MatrixEntropy {
    theta: Vec<f64>,
    w: Vec<f64>,
    bound: Option<MirrorSum>,
    y: Vec<f64>,
    scratch: [Vec<f64>; 3],
}

/// Equal matrices and sums.
impl PartialEq for MatrixEntropy {
    fn eq(&self, other: &Self) -> bool {
        self.theta == other.theta && self.bound == other.bound
    }
}

/// The largest logarithm of an eigenvalue.
const LARGEST: f64 = 300.0;

impl MatrixEntropy {
    /// Matrices of trace 1, from I/n.
    pub fn density(n: usize) -> Result<Self, ConfigError> {
        let bound = MirrorSum::new("matrix-eg", Real::ln(n.max(1) as f64));
        Ok(Self { bound: Some(bound), ..Self::unnormalised(n, 1.0 / n.max(1) as f64)? })
    }

    /// All positive definite matrices, from start·I.
    pub fn unnormalised(n: usize, start: f64) -> Result<Self, ConfigError> {
        parameters(n, start)?;
        let scratch = [vec![0.0; n * n], vec![0.0; n * n], vec![0.0; n]];
        let theta = diagonal(n, Real::ln(start));
        Ok(Self { theta, w: diagonal(n, start), bound: None, y: vec![0.0; n], scratch })
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
        let (z, square) = image(&self.w, x, &mut self.y)?;
        let mut round = judge(z, target, loss, rate)?;
        let step = rate * round.slope;
        let gradient = scalar("the gradient", round.slope * square, Allowed::Finite)?;
        scalar("the step", step * square, Allowed::Closed(-1e100, 1e100))?;
        if step != 0.0 {
            let n = x.len();
            let [moved, vectors, values] = &mut self.scratch;
            moved.copy_from_slice(&self.theta);
            rank_one(moved, x, -step);
            // The decomposition spoils its argument.
            self.w.copy_from_slice(moved);
            if linalg::eigen(&mut self.w, n, values, vectors).is_none() {
                // Θ is what it was, and W with it.
                moved.copy_from_slice(&self.theta);
                let _ = linalg::eigen(moved, n, values, vectors);
                exponentiate(values, vectors, self.bound.is_some(), &mut self.w);
                return Err(DomainError::NotDefinite { smallest: f64::NAN });
            }
            std::mem::swap(&mut self.theta, moved);
            exponentiate(values, vectors, self.bound.is_some(), &mut self.w);
            round.length = step.abs() * square;
        }
        if let Some(bound) = &mut self.bound {
            bound.observe(&round, gradient, loss.facts().convex);
        }
        Ok(round)
    }

    /// No less than the regret against all matrices U ≥ 0 of trace 1. `None` for the unnormalised form.
    pub fn certificate(&self) -> Option<Certificate> {
        self.bound.as_ref().map(MirrorSum::certify)
    }
}

/// a ← a + c·xxᵀ.
fn rank_one(a: &mut [f64], x: &[f64], c: f64) {
    for (column, &b) in a.chunks_exact_mut(x.len().max(1)).zip(x) {
        column.iter_mut().zip(x).for_each(|(a, &x)| *a += c * (x * b));
    }
}

/// w ← e^Θ from the decomposition of Θ, divided by its trace for the density form.
fn exponentiate(values: &mut [f64], vectors: &[f64], density: bool, w: &mut [f64]) {
    let n = values.len();
    let top = if density { values[n - 1] } else { 0.0 };
    for value in values.iter_mut() {
        *value = Real::exp(Real::clamp(*value - top, -LARGEST, LARGEST));
    }
    let trace: f64 = if density { values.iter().sum() } else { 1.0 };
    linalg::sandwich(vectors, |k| values[k] / trace, vectors, n, w);
    linalg::symmetrize(w, n);
}
