//! # Geodesic steps in hyperbolic space
//! Weights on the hyperboloid $-w_0^2 + \Vert w_s \Vert^2 = -1$, $w_0 > 0$. All features are spatial coordinates, $x_0 = 0$, so that
//! $z = \langle w_s, x\rangle = u$ and
//! $$w_s' = a\,w_s + b\,x, \qquad \theta = \eta |g| \sqrt{\Vert x\Vert^2 + u^2}, \qquad
//!   a = \cosh\theta - \eta g u\,\mathrm{sinhc}\,\theta, \qquad b = -\eta g\, \mathrm{sinhc}\,\theta$$
//! **Start** The origin, $w_s = 0$. **Cost** O(nnz). **Care** $w_0 = \sqrt{1 + \Vert w_s\Vert^2}$ is never stored, so the constraint holds
//! by construction. Steps longer than 350 are refused: cosh would overflow soon.
//! **Source** \[KMWW07, eq. (10)\] in the hyperboloid model of \[Boumal23, sec. 7.6\].

use super::Walk;
use super::gauge::Gauge;
use super::scaled::Scaled;
use crate::Real;
use crate::error::{ConfigError, DomainError};
use crate::loss::Loss;
use crate::row::Row;
use crate::update::{Round, Target};
use crate::walk;

/// Longest step.
pub(super) const LONGEST: f64 = 350.0;

/// Weights on the hyperboloid; those of the features are its spatial coordinates.
///
/// ```
/// use geowalk::loss::Squared;
/// use geowalk::row::Dense;
/// use geowalk::walk::{Hyperbolic, Walk};
///
/// let mut walk = Hyperbolic::new();
/// let round = walk.step(Dense(&[1.0, 0.0]), 1.0.into(), &Squared, 0.25)?;
/// // A walk of length ½ from the origin ends at sinh ½, with time coordinate cosh ½.
/// assert_eq!(round.length, 0.5);
/// assert!((walk.predict(Dense(&[1.0, 0.0])) - 0.5211).abs() < 1e-4);
/// assert!((walk.time() - 1.1276).abs() < 1e-4);
/// # Ok::<(), geowalk::DomainError>(())
/// ```
#[derive(Debug, Clone, PartialEq, Default)]
pub struct Hyperbolic {
    pub(super) w: Scaled,
}

impl Hyperbolic {
    /// At the origin.
    pub fn new() -> Self {
        Self::default()
    }

    /// The time coordinate w₀; its arcosh is the distance from the origin.
    pub fn time(&self) -> f64 {
        (1.0 + self.w.norm2()).sqrt()
    }
}

impl Walk for Hyperbolic {
    fn features(&self) -> usize {
        self.w.v.len()
    }

    fn grow(&mut self, n: usize) {
        self.w.grow(n, |_| 0.0);
    }

    fn predict<X: Row<f64>>(&self, x: X) -> f64 {
        self.w.c * x.dot(&self.w.v)
    }

    fn step<X: Row<f64>, L: Loss + ?Sized>(
        &mut self,
        x: X,
        target: Target,
        loss: &L,
        rate: f64,
    ) -> Result<Round, DomainError> {
        self.grow(x.bound());
        let (mut inner, mut square) = (0.0, 0.0);
        let v = &self.w.v;
        x.each(|i, x| {
            if let Some(&v) = v.get(i) {
                inner += v * x;
                square += x * x;
            }
        });
        let mut round = walk::judge(self.w.c * inner, target, loss, rate)?;
        let u = round.z;
        let eta = rate * round.slope;
        let length = eta.abs() * (square + u * u).sqrt();
        if length.is_nan() || length > LONGEST {
            return Err(DomainError::Overflow { length, limit: LONGEST });
        }
        round.length = length;
        let b = -eta * length.sinhc();
        let a = Real::cosh(length) + b * u;
        walk::length(a.abs() * self.w.norm2().sqrt() + b.abs() * square.sqrt())?;
        if length > 0.0 {
            self.w.blend(a, x, b);
        }
        Ok(round)
    }

    fn common(&self) -> f64 {
        self.w.c
    }

    fn local(&self, i: usize) -> Option<f64> {
        Some(self.w.v.get(i).copied().unwrap_or_default())
    }

    fn unit(&self) -> f64 {
        self.w.log_factor
    }

    fn gauge<X: Row<f64>>(&self, x: X) -> Gauge {
        let z = self.predict(x);
        let square = Gauge::euclidean(x).square + z * z;
        Gauge { square, stretch: square.sqrt(), local: false }
    }

    fn read(&self, w: &mut Vec<f64>) {
        self.w.read(w);
    }

    fn save(&self, put: &mut dyn FnMut(&'static str, &[f64])) {
        self.w.save(put);
    }

    fn load(
        &mut self,
        get: &mut dyn FnMut(&'static str) -> Option<Vec<f64>>,
    ) -> Result<(), ConfigError> {
        self.w = Scaled::load(get)?;
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::loss::Squared;
    use crate::row::Dense;

    #[test]
    fn a_step_is_as_long_as_it_says() {
        let mut walk = Hyperbolic::new();
        let x = [0.3, -0.7, 0.2];
        for (y, rate) in [(1.0, 0.4), (-2.0, 0.3), (0.5, 0.8)] {
            let before = point(&walk);
            let round = walk.step(Dense(&x), f64::into(y), &Squared, rate).unwrap();
            let after = point(&walk);
            // cosh d = −⟨p, q⟩_L.
            let inner = before[0] * after[0]
                - before.iter().zip(&after).skip(1).map(|(p, q)| p * q).sum::<f64>();
            assert!((inner - Real::cosh(round.length)).abs() < 1e-13, "{inner} {}", round.length);
        }
    }

    fn point(walk: &Hyperbolic) -> Vec<f64> {
        let mut w = Vec::new();
        walk.read(&mut w);
        w.resize(3, 0.0);
        w.insert(0, walk.time());
        w
    }

    #[test]
    fn long_steps_are_refused() {
        let mut walk = Hyperbolic::new();
        let error = walk.step(Dense(&[1.0]), 1.0.into(), &Squared, 200.0).unwrap_err();
        assert_eq!(error, DomainError::Overflow { length: 400.0, limit: 350.0 });
        assert_eq!(walk.predict(Dense(&[1.0])), 0.0);
    }
}
