//! # Geodesic steps on the simplex
//! In the Fisher metric, with $u = \langle p, x\rangle$ and $V = \langle p, x^2\rangle - u^2$:
//! $$\sqrt{p_i'} = \bigl|\sqrt{p_i}\,(a - b\,x_i)\bigr|, \qquad \theta = \tfrac{\eta}{2} |g| \sqrt{V}, \qquad
//!   b = \tfrac{\eta}{2}\, g\, \mathrm{sinc}\,\theta, \qquad a = \cos\theta + b\,u$$
//! The map $2\sqrt p$ takes the simplex to a piece of a sphere of radius 2.
//! **Start** Uniform over the features that are there. **Cost** O(nnz), a logarithm and an exponential per coordinate of the row.
//! **Care** the simplex has an edge: a geodesic that leaves it is folded back, counted and reported. Weights are kept as logarithms,
//! so that none becomes 0 for ever.
//! **Source** \[KMWW07, ex. 3\].

use super::Walk;
use super::factor::Factor;
use super::gauge::Gauge;
use super::partition::Partition;
use crate::Real;
use crate::error::{ConfigError, DomainError};
use crate::geometry::Event;
use crate::loss::Loss;
use crate::row::Row;
use crate::update::{Round, Target};
use crate::walk;

/// A probability for each feature, geodesic steps.
///
/// ```
/// use geowalk::loss::Squared;
/// use geowalk::row::Dense;
/// use geowalk::walk::{Simplex, Walk};
///
/// let mut walk = Simplex::new();
/// for _ in 0..200 {
///     walk.step(Dense(&[1.0, 0.0, -1.0]), 0.5.into(), &Squared, 0.5)?;
/// }
/// assert!((walk.predict(Dense(&[1.0, 0.0, -1.0])) - 0.5).abs() < 1e-12);
/// assert_eq!(walk.folds(), 0);
/// # Ok::<(), geowalk::DomainError>(())
/// ```
#[derive(Debug, Clone, PartialEq, Default)]
pub struct Simplex {
    pub(super) p: Partition,
    folds: u64,
}

impl Simplex {
    /// The uniform distribution.
    pub fn new() -> Self {
        Self::default()
    }

    /// How many coordinates have been folded back at the edge so far.
    pub fn folds(&self) -> u64 {
        self.folds
    }
}

impl Walk for Simplex {
    fn features(&self) -> usize {
        self.p.features()
    }

    fn grow(&mut self, n: usize) {
        self.p.grow(n);
    }

    fn predict<X: Row<f64>>(&self, x: X) -> f64 {
        self.p.dot(x)
    }

    fn step<X: Row<f64>, L: Loss + ?Sized>(
        &mut self,
        x: X,
        target: Target,
        loss: &L,
        rate: f64,
    ) -> Result<Round, DomainError> {
        self.grow(x.bound());
        let u = self.p.take(x);
        let mut round = walk::judge(u, target, loss, rate)?;
        let half = 0.5 * rate * round.slope;
        let deviation = Real::max(self.p.second() - u * u, 0.0).sqrt();
        let angle = walk::length(half.abs() * deviation)?;
        round.length = 2.0 * angle;
        if half == 0.0 {
            return Ok(round);
        }
        let b = walk::length(half.abs())?.copysign(half) * angle.sinc();
        let a = Real::cos(angle) + b * u;
        // Every weight off the row is multiplied by a²; relative to that, those of the row by (1 − b x_i/a)².
        let base = if a.abs() < 1e-150 { 1e-150_f64.copysign(a) } else { a };
        let moved = self.p.multiply::<false>(Factor::Square, -b / base);
        let folded =
            if a > 0.0 { moved.crossed } else { self.p.features().saturating_sub(moved.crossed) };
        self.folds += folded as u64;
        if moved.clamped > 0 {
            round.event = Event::Clamped { coordinates: moved.clamped };
        } else if folded > 0 {
            round.event = Event::Folded { coordinates: folded };
        }
        Ok(round)
    }

    fn common(&self) -> f64 {
        self.p.share()
    }

    fn local(&self, i: usize) -> Option<f64> {
        Some(self.p.local(i))
    }

    fn unit(&self) -> f64 {
        self.p.unit()
    }

    fn gauge<X: Row<f64>>(&self, x: X) -> Gauge {
        Gauge::largest(x, |x| x)
    }

    fn read(&self, w: &mut Vec<f64>) {
        self.p.read(w);
    }

    fn save(&self, put: &mut dyn FnMut(&'static str, &[f64])) {
        self.p.save(put);
        put("folds", &[self.folds as f64]);
    }

    fn load(
        &mut self,
        get: &mut dyn FnMut(&'static str) -> Option<Vec<f64>>,
    ) -> Result<(), ConfigError> {
        let folds = walk::count(get, "folds")?;
        self.p = Partition::load(get)?;
        self.folds = folds;
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::loss::Squared;
    use crate::row::Dense;

    #[test]
    fn a_walk_of_length_two_from_the_middle_folds() {
        // p = (½, ½), length 2 > π/2: 2√p would be (1.954, −0.426) up to order.
        let mut walk = Simplex::new();
        let round = walk.step(Dense(&[1.0, 0.0]), 0.0.into(), &Squared, 4.0).unwrap();
        assert_eq!((round.slope, round.length), (1.0, 2.0));
        assert_eq!(round.event, Event::Folded { coordinates: 1 });
        assert_eq!(walk.folds(), 1);
        let mut p = Vec::new();
        walk.read(&mut p);
        assert!((2.0 * p[1].sqrt() - 1.954).abs() < 1e-3, "{p:?}");
        assert!((2.0 * p[0].sqrt() - 0.426).abs() < 1e-3, "{p:?}");
    }

    #[test]
    fn a_very_long_walk_stays_on_the_simplex() {
        let mut walk = Simplex::new();
        for (t, rate) in [1e3, 1e10, 1e100, 3.0, 1e140].into_iter().enumerate() {
            let round =
                walk.step(Dense(&[1.0, -2.0, 0.0, 0.5]), 3.0.into(), &Squared, rate).unwrap();
            let mut p = Vec::new();
            walk.read(&mut p);
            let sum: f64 = p.iter().sum();
            assert!((sum - 1.0).abs() < 1e-14, "step {t}: {p:?} {round:?}");
        }
        assert!(walk.folds() > 0);
    }
}
