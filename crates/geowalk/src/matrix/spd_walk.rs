//! Geodesic steps of the affine-invariant metric.

use super::{diagonal, image, parameters};
use crate::error::{ConfigError, DomainError};
use crate::geometry::Work;
use crate::geometry::manifolds::Spd;
use crate::learn::base::judge;
use crate::loss::Loss;
use crate::update::{Round, Target};

/// A positive definite matrix that predicts xᵀWx, moved along geodesics of the affine-invariant metric.
///
/// $$W' = W + \frac{e^{-\eta g z} - 1}{z}\,(Wx)(Wx)^\top, \qquad z = x^\top W x$$
/// The prediction for the same row becomes $z\, e^{-\eta g z}$, and W stays positive definite whatever the rate.
/// **Cost** O(n²). **Care** a step of ηgz above 36 would make W singular to all its digits, and is an error.
/// No bound is known: the losses are convex along geodesics only where they grow with the prediction.
/// **Source** \[KMWW07\]; the metric \[PFA06\].
///
/// ```
/// use geowalk::{loss::Squared, matrix::SpdWalk};
/// let mut walk = SpdWalk::new(2, 1.0)?;
/// for _ in 0..200 {
///     walk.step(&[1.0, 1.0], 0.5.into(), &Squared, 0.1)?;
/// }
/// assert!((walk.predict(&[1.0, 1.0])? - 0.5).abs() < 1e-3);
/// assert!((walk.predict(&[1.0, -1.0])? - 2.0).abs() < 1e-9);
/// # Ok::<(), geowalk::ConfigError>(())
/// ```
#[derive(Debug, Clone)]
pub struct SpdWalk {
    manifold: Spd,
    w: Vec<f64>,
    y: Vec<f64>,
    work: Box<Scratch>,
}

/// Scratch memory, which a copy begins anew.
#[derive(Debug, Default)]
struct Scratch(Work<f64>);

impl Clone for Scratch {
    fn clone(&self) -> Self {
        Self::default()
    }
}

/// Equal matrices.
impl PartialEq for SpdWalk {
    fn eq(&self, other: &Self) -> bool {
        self.w == other.w
    }
}

impl SpdWalk {
    /// From start·I, on rows of n numbers.
    pub fn new(n: usize, start: f64) -> Result<Self, ConfigError> {
        parameters(n, start)?;
        let (manifold, w, y) = (Spd::new(n)?, diagonal(n, start), vec![0.0; n]);
        Ok(Self { manifold, w, y, work: Box::default() })
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
        let (z, _) = image(&self.w, x, &mut self.y)?;
        let mut round = judge(z, target, loss, rate)?;
        let step =
            self.manifold.step_rank_one(&mut self.w, x, rate * round.slope, &mut self.work.0)?;
        round.length = step.length;
        Ok(round)
    }
}
