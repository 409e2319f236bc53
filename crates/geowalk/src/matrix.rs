//! # Weights that are matrices
//! Rows x of n numbers, and n×n or n×k weights: the matrix case of multiplicative updates, and of null vectors.
//!
//! | learner | weights | predicts | step |
//! |---|---|---|---|
//! | [`SpdWalk`] | W positive definite, affine-invariant metric | $x^\top W x$ | geodesic, O(n²) |
//! | [`MatrixEntropy`] | W positive definite, or of trace 1 | $x^\top W x$ | $\ln W \leftarrow \ln W - \eta g\, x x^\top$, O(n³) |
//! | [`MatrixTwin`] | W = UUᵀ, the same sets | $x^\top W x$ | $U \leftarrow (I - \tfrac12\eta g\, x x^\top)\, U$, O(n²) |
//! | [`NullSpace`] | k orthonormal directions | $\Vert P^\top x\Vert^2$, to be 0 | geodesic on the Grassmann manifold, O(nk) |
//!
//! ⟨W, xxᵀ⟩ = xᵀWx, so that these are linear learners on the rows xxᵀ, whose gradient is g·xxᵀ. On rows that are
//! multiples of unit vectors the first three are the walks of vectors: natural EG, EGU or EG, and their twins.

mod entropy;
mod null_space;
mod spd_walk;
mod twin;

pub use entropy::MatrixEntropy;
pub use null_space::NullSpace;
pub use spd_walk::SpdWalk;
pub use twin::MatrixTwin;

use crate::certify::{Broken, Certificate, Status};
use crate::error::{self, Allowed, DomainError};
use crate::sum::Sum;
use crate::update::Round;

/// Checks a row, and y ← Wx for the symmetric matrix; gives xᵀWx and Σx².
fn image(w: &[f64], x: &[f64], y: &mut [f64]) -> Result<(f64, f64), DomainError> {
    error::finite("the row", x, y.len())?;
    y.fill(0.0);
    for (column, &x) in w.chunks_exact(x.len().max(1)).zip(x) {
        y.iter_mut().zip(column).for_each(|(y, &w)| *y += w * x);
    }
    let z = y.iter().zip(x).map(|(y, x)| y * x).sum();
    Ok((z, x.iter().map(|x| x * x).sum()))
}

/// The theorem of steps that are mirror steps of a function of modulus 1 in a norm, from a point at a divergence D of
/// every comparator, at one rate: regret ≤ D/η + η/2 Σ‖G_t‖², with the dual norm of the gradients.
#[derive(Debug, Clone, PartialEq)]
struct MirrorSum {
    name: &'static str,
    divergence: f64,
    loss: Sum,
    squares: Sum,
    rate: Option<f64>,
    broken: Option<Broken>,
}

impl MirrorSum {
    fn new(name: &'static str, divergence: f64) -> Self {
        let (loss, squares) = (Sum::default(), Sum::default());
        Self { name, divergence, loss, squares, rate: None, broken: None }
    }

    /// Sees a round with a gradient of this dual norm, and whether its loss is convex in the prediction.
    fn observe(&mut self, round: &Round, gradient: f64, convex: bool) {
        self.loss.add(round.loss);
        self.squares.add(gradient * gradient);
        let row = self.loss.count();
        let rate = *self.rate.get_or_insert(round.rate);
        if self.broken.is_none() {
            if !convex {
                let premise = "the loss is convex in the prediction";
                self.broken = Some(Broken { premise, row, found: f64::NAN });
            } else if round.rate != rate || rate <= 0.0 {
                let premise = "all rates are one positive number";
                self.broken = Some(Broken { premise, row, found: round.rate });
            }
        }
    }

    fn certify(&self) -> Certificate {
        let (theorem, rounds, loss) = (self.name, self.loss.count(), self.loss.total());
        let rate = self.rate.unwrap_or(1.0);
        let (status, bound) = match &self.broken {
            Some(broken) => (Status::Void(broken.clone()), f64::NAN),
            None if rounds == 0 => (Status::Valid, 0.0),
            None => {
                let bound = self.divergence / rate + 0.5 * rate * self.squares.upper();
                (Status::Valid, (bound + self.loss.error()) * (1.0 + 8.0 * f64::EPSILON))
            }
        };
        Certificate { theorem, status, rounds, loss, bound }
    }
}

/// A size of matrices, and a number that begins on the diagonal.
fn parameters(n: usize, start: f64) -> Result<(), crate::ConfigError> {
    error::parameter("n", n as f64, Allowed::Closed(1.0, 1e4))?;
    error::parameter("start", start, Allowed::Closed(1e-100, 1e100))?;
    Ok(())
}

/// start·I.
fn diagonal(n: usize, start: f64) -> Vec<f64> {
    let mut w = vec![0.0; n * n];
    w.iter_mut().step_by(n + 1).for_each(|w| *w = start);
    w
}
