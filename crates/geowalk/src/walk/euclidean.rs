//! # Gradient descent
//! $$w \leftarrow w - \eta\, g\, x$$
//! **Cost** O(nnz). **Care** steps longer than 1e150 are refused. The Perceptron is this walk with rate 1 and the loss
//! $\max(0, -yz)$, whose slope is −y on a mistake.
//! **Source** \[KMWW07, eq. (10)\].

use super::Walk;
use crate::error::{Allowed, ConfigError, DomainError};
use crate::loss::Loss;
use crate::row::{Norm, Row};
use crate::update::{Round, Target};
use crate::walk;

/// Gradient descent from 0.
///
/// ```
/// use geowalk::loss::Squared;
/// use geowalk::row::Sparse;
/// use geowalk::walk::{Euclidean, Walk};
///
/// let mut gd = Euclidean::new();
/// let round = gd.step(Sparse::new(&[3], &[2.0])?, 1.0.into(), &Squared, 0.1)?;
/// assert_eq!((round.z, round.slope, round.length), (0.0, -2.0, 0.4));
/// assert_eq!(gd.predict(Sparse::new(&[3], &[1.0])?), 0.4);
/// # Ok::<(), geowalk::DomainError>(())
/// ```
#[derive(Debug, Clone, PartialEq, Default)]
pub struct Euclidean {
    pub(super) w: Vec<f64>,
}

impl Euclidean {
    /// All weights 0.
    pub fn new() -> Self {
        Self::default()
    }
}

impl Walk for Euclidean {
    fn features(&self) -> usize {
        self.w.len()
    }

    fn grow(&mut self, n: usize) {
        if n > self.w.len() {
            self.w.resize(n, 0.0);
        }
    }

    fn predict<X: Row<f64>>(&self, x: X) -> f64 {
        x.dot(&self.w)
    }

    fn step<X: Row<f64>, L: Loss + ?Sized>(
        &mut self,
        x: X,
        target: Target,
        loss: &L,
        rate: f64,
    ) -> Result<Round, DomainError> {
        self.grow(x.bound());
        let (z, square) = x.dot_and_square(&self.w, (0.0, 0.0));
        let mut round = walk::judge(z, target, loss, rate)?;
        round.length = walk::length(rate * round.slope.abs() * square.sqrt())?;
        x.axpy(-rate * round.slope, &mut self.w);
        Ok(round)
    }

    fn local(&self, i: usize) -> Option<f64> {
        Some(self.w.get(i).copied().unwrap_or_default())
    }

    fn read(&self, w: &mut Vec<f64>) {
        w.clone_from(&self.w);
    }

    fn gamma(&self, rate: Option<f64>, out: &mut Vec<f64>) -> Option<f64> {
        walk::dual_gamma(&self.w, 0.0, rate, out)
    }

    fn lengths(&self, rate: Option<f64>) -> Option<(f64, f64)> {
        let (rate, own) = (rate.filter(|rate| *rate > 0.0)?, Norm::L2.above(&self.w));
        // Γ = −w/η.
        Some((own, own / rate * (1.0 + 4.0 * f64::EPSILON)))
    }

    #[inline]
    fn gradient<X: Row<f64>>(&self, round: &Round, _: X) -> f64 {
        round.length / round.rate
    }

    fn save(&self, put: &mut dyn FnMut(&'static str, &[f64])) {
        put("w", &self.w);
    }

    fn load(
        &mut self,
        get: &mut dyn FnMut(&'static str) -> Option<Vec<f64>>,
    ) -> Result<(), ConfigError> {
        self.w = walk::array(get, "w", Allowed::Finite)?;
        Ok(())
    }
}
