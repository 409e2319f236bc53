//! # Natural gradient of a constant metric
//! $$w \leftarrow w - \tfrac{\eta}{2}\, g\, \Sigma^{-1} x$$
//! Mirror descent with $\psi = w^\top \Sigma w$; with a diagonal Σ, gradient descent with a rate for each feature.
//! **Start** w = 0. **Cost** O(nnz) with a diagonal, O(n·nnz) with a full matrix of n rows, which is inverted once in
//! O(n³).
//! **Care** No factor ½ in ψ, as in the [generator](crate::geometry::generators::Mahalanobis): Σ = I takes half the
//! step of gradient descent. Σ fixes the number of features; a row with larger indices is an error. The length of a
//! step is $\eta |g| \sqrt{\tfrac12 x^\top \Sigma^{-1} x}$.
//! **Source** \[NN09, table 1 and lemma 4\], where the natural gradient lacks the factor ½.

use super::Walk;
use crate::error::{self, Allowed, ConfigError, DomainError};
use crate::geometry::{Generator, generators};
use crate::learn::gauge::Gauge;
use crate::loss::Loss;
use crate::row::Row;
use crate::update::{Round, Target};
use crate::walk;

/// Gradient descent in the metric 2Σ.
///
/// ```
/// use geowalk::loss::Squared;
/// use geowalk::row::Dense;
/// use geowalk::walk::{Mahalanobis, Walk};
///
/// let mut walk = Mahalanobis::diagonal(&[0.5, 2.0])?;
/// walk.step(Dense(&[1.0, 1.0]), 1.0.into(), &Squared, 0.1)?;
/// let mut w = Vec::new();
/// walk.read(&mut w);
/// assert_eq!(w, [0.2, 0.05]);
/// # Ok::<(), geowalk::ConfigError>(())
/// ```
#[derive(Debug, Clone)]
pub struct Mahalanobis {
    /// Σ⁻¹/2: its diagonal, or its rows in order.
    half: Vec<f64>,
    full: bool,
    w: Vec<f64>,
    /// Σ⁻¹x/2 of the current row.
    scratch: Vec<f64>,
}

/// Compares metrics and weights; scratch memory does not count.
impl PartialEq for Mahalanobis {
    fn eq(&self, other: &Self) -> bool {
        (self.full, &self.half, &self.w) == (other.full, &other.half, &other.w)
    }
}

impl Mahalanobis {
    /// The largest number of rows of a full matrix; construction computes its smallest eigenvalue.
    pub const MOST: usize = 512;

    /// The walk for a diagonal Σ with these positive entries.
    pub fn diagonal(sigma: &[f64]) -> Result<Self, ConfigError> {
        error::parameter("n", sigma.len() as f64, Allowed::Whole(1))?;
        error::each("sigma", sigma, Allowed::Closed(1e-100, 1e100))?;
        let half = sigma.iter().map(|sigma| 0.5 / sigma).collect();
        Ok(Self { half, full: false, w: vec![0.0; sigma.len()], scratch: Vec::new() })
    }

    /// The walk for Σ with these n×n entries.
    pub fn new(sigma: Vec<f64>, n: usize) -> Result<Self, ConfigError> {
        error::parameter("n", n as f64, Allowed::Closed(1.0, Self::MOST as f64))?;
        let generator = generators::Mahalanobis::new(sigma, n)?;
        let mut half = vec![0.0; n * n];
        let mut unit = vec![0.0; n];
        for (i, column) in half.chunks_exact_mut(n).enumerate() {
            unit.fill(0.0);
            unit[i] = 1.0;
            generator.unlink(&unit, column);
        }
        Ok(Self { half, full: true, w: vec![0.0; n], scratch: vec![0.0; n] })
    }

    /// Σ⁻¹/2 (its diagonal or its rows), the number of features, and whether the matrix is full.
    pub(crate) fn half(&self) -> (&[f64], usize, bool) {
        (&self.half, self.w.len(), self.full)
    }

    /// xᵀΣ⁻¹x/2; for a full matrix, `scratch` then contains Σ⁻¹x/2.
    fn multiply<X: Row<f64>>(half: &[f64], full: bool, scratch: &mut [f64], x: X) -> f64 {
        let mut form = 0.0;
        if full {
            scratch.fill(0.0);
            let n = scratch.len();
            x.each(|i, x| {
                if let Some(column) = half.get(i * n..(i + 1) * n) {
                    scratch.iter_mut().zip(column).for_each(|(out, half)| *out += half * x);
                }
            });
            x.each(|i, x| form += x * scratch.get(i).copied().unwrap_or(0.0));
        } else {
            x.each(|i, x| form += x * x * half.get(i).copied().unwrap_or(0.0));
        }
        // Rounding may make a form near 0 negative.
        crate::Real::max(form, 0.0)
    }
}

impl Walk for Mahalanobis {
    fn features(&self) -> usize {
        self.w.len()
    }

    /// Does nothing: Σ fixes the features.
    fn grow(&mut self, _: usize) {}

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
        let (found, expected) = (x.bound(), self.w.len());
        if found > expected {
            return Err(DomainError::Dimension { what: "the row", found, expected });
        }
        let mut round = walk::judge(self.predict(x), target, loss, rate)?;
        let Self { half, full, w, scratch } = self;
        let form = Self::multiply(half, *full, scratch, x);
        round.length = walk::length(rate * round.slope.abs() * form.sqrt())?;
        let step = -rate * round.slope;
        if *full {
            w.iter_mut().zip(scratch).for_each(|(w, v)| *w += step * *v);
        } else {
            x.each(|i, x| {
                if let (Some(w), Some(half)) = (w.get_mut(i), half.get(i)) {
                    *w += step * half * x;
                }
            });
        }
        Ok(round)
    }

    fn read(&self, w: &mut Vec<f64>) {
        w.clone_from(&self.w);
    }

    fn local(&self, i: usize) -> Option<f64> {
        (!self.full).then(|| self.w.get(i).copied().unwrap_or_default())
    }

    fn gauge<X: Row<f64>>(&self, x: X) -> Gauge {
        let (n, half) = (self.w.len(), &self.half);
        let mut square = 0.0;
        if self.full {
            let entry = |i: usize, j: usize| half.get(i * n + j).copied().unwrap_or(0.0);
            x.each(|i, a| x.each(|j, b| square += a * b * entry(i, j)));
        } else {
            square = Self::multiply(half, false, &mut [], x);
        }
        Gauge { square: crate::Real::max(square, 0.0), stretch: 0.0, local: false }
    }

    fn spec(&self) -> String {
        format!("mirror:mahalanobis(sigma⁻¹={:?})", self.half)
    }

    fn save_state(&self, put: &mut dyn FnMut(&'static str, &[f64])) {
        put("w", &self.w);
    }

    fn load_state(
        &mut self,
        get: &mut dyn FnMut(&'static str) -> Option<Vec<f64>>,
    ) -> Result<(), ConfigError> {
        self.w = walk::array_of(get, "w", Allowed::Finite, self.w.len())?;
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::geometry::generators::Mahalanobis as Generator;
    use crate::loss::Squared;
    use crate::row::{Dense, Sparse};
    use crate::update::{Mirror, Update};

    #[test]
    fn it_is_the_mirror_step_of_its_generator() {
        let sigma = vec![4.0, 1.0, 0.5, 1.0, 3.0, -0.25, 0.5, -0.25, 1.0];
        let mut walk = Mahalanobis::new(sigma.clone(), 3).unwrap();
        let update = Mirror::new(Generator::new(sigma, 3).unwrap());
        let mut state = Update::<f64>::start(&update, &[0.0; 3]).unwrap();
        let (mut w, mut reference) = (Vec::new(), [0.0; 3]);
        for t in 0..60_u32 {
            let values = [f64::from(t % 5) - 2.0, f64::from(t % 3)];
            let indices = [t % 2, 2];
            let x = Sparse::new(&indices, &values).unwrap();
            let gauge = walk.gauge(x);
            let a = walk.step(x, 1.5.into(), &Squared, 0.05).unwrap();
            let b = update.step(&mut state, x, 1.5.into(), &Squared, 0.05).unwrap();
            assert!((a.z - b.z).abs() < 1e-13 && (a.length - b.length).abs() < 1e-7, "{a:?} {b:?}");
            walk.read(&mut w);
            update.read(&state, &mut reference);
            assert!(w.iter().zip(&reference).all(|(w, r)| (w - r).abs() < 1e-13));
            // The prediction changes by rate·slope·gauge, exactly.
            let moved = a.z - walk.predict(x);
            assert!((moved - a.rate * a.slope * gauge.square).abs() < 1e-12);
        }
    }

    #[test]
    fn a_diagonal_is_a_full_matrix() {
        let mut diagonal = Mahalanobis::diagonal(&[0.5, 4.0]).unwrap();
        let mut full = Mahalanobis::new(vec![0.5, 0.0, 0.0, 4.0], 2).unwrap();
        for t in 0..40_u32 {
            let x = [1.0, f64::from(t % 4) - 1.0];
            let a = diagonal.step(Dense(&x), 2.0.into(), &Squared, 0.1).unwrap();
            let b = full.step(Dense(&x), 2.0.into(), &Squared, 0.1).unwrap();
            assert!((a.z - b.z).abs() < 1e-13 && (a.length - b.length).abs() < 1e-13);
        }
        assert_eq!((full.local(0), diagonal.local(9)), (None, Some(0.0)));
    }

    #[test]
    fn other_features_are_refused() {
        let mut walk = Mahalanobis::diagonal(&[1.0]).unwrap();
        let error = walk.step(Dense(&[1.0, 1.0]), 1.0.into(), &Squared, 0.1).unwrap_err();
        assert_eq!(error, DomainError::Dimension { what: "the row", found: 2, expected: 1 });
        assert!(Mahalanobis::diagonal(&[1.0, 0.0]).is_err() && Mahalanobis::diagonal(&[]).is_err());
        assert!(Mahalanobis::new(vec![1.0, 2.0, 2.0, 1.0], 2).is_err());
    }
}
