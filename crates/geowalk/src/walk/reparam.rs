//! # Gradient descent on u with w = u²
//! $$u_i \leftarrow u_i \bigl(1 - \tfrac{\eta}{2}\, g\, x_i\bigr), \qquad w_i = u_i^2$$
//! The twins of EGU and (divided by ‖u‖) of EG: discretisations of the same flow, compared at the same η. Special forms on the simplex:
//! * *centred*: the twin on $x - m$, $m = (lo + hi)/2$ for features in [lo, hi]; it has the bound of EG itself;
//! * *experts*: $u_i(1 - \eta g x_i)$, the scale of the experts' algorithm, with which the row is the experts' losses in [0, 1].
//!
//! **Start** Equal weights ($w$, not $u$, is the parameter). **Cost** O(nnz), a logarithm and an exponential per coordinate of the row.
//! **Care** the state is 2 ln|u|. The sign of u never matters: w is u², and u' is a multiple of u. Where
//! $\tfrac{\eta}{2} g x_i > 1$ u crosses 0, which is counted and reported as a fold; where it would be 0, the weight would be dead
//! for ever, and is multiplied by 2⁻¹⁰⁴ instead (reported as clamped).
//! **Source** \[AW20, alg. 4 and 6, eq. (20)\].

use super::Walk;
use super::factor::{Factor, Moved};
use super::gauge::Gauge;
use super::logarithm::Logarithms;
use super::partition::Partition;
use crate::Real;
use crate::error::{self, Allowed, ConfigError, DomainError};
use crate::geometry::Event;
use crate::loss::Loss;
use crate::row::Row;
use crate::update::{Round, Target};
use crate::walk;

/// The event of a step, and its crossings counted.
fn report(moved: &Moved, folds: &mut u64) -> Event {
    *folds += moved.crossed as u64;
    if moved.clamped > 0 {
        Event::Clamped { coordinates: moved.clamped }
    } else if moved.crossed > 0 {
        Event::Folded { coordinates: moved.crossed }
    } else {
        Event::Inside
    }
}

/// The twin of EGU.
///
/// ```
/// use geowalk::loss::Squared;
/// use geowalk::row::Dense;
/// use geowalk::walk::{ReparamEntropy, Walk};
///
/// let mut walk = ReparamEntropy::new(1.0)?;
/// walk.step(Dense(&[1.0, 0.0]), 0.5.into(), &Squared, 0.25)?;
/// // The slope is 1: u₁ = 1 − ⅛.
/// assert!((walk.predict(Dense(&[1.0, 0.0])) - 0.765625).abs() < 1e-15);
/// # Ok::<(), geowalk::ConfigError>(())
/// ```
#[derive(Debug, Clone, PartialEq)]
pub struct ReparamEntropy {
    w: Logarithms,
    folds: u64,
}

impl ReparamEntropy {
    /// Every weight w = u² begins at `start` > 0.
    pub fn new(start: f64) -> Result<Self, ConfigError> {
        Ok(Self { w: Logarithms::new(start)?, folds: 0 })
    }

    /// How many coordinates have crossed 0 so far.
    pub fn folds(&self) -> u64 {
        self.folds
    }
}

impl Walk for ReparamEntropy {
    fn features(&self) -> usize {
        self.w.features()
    }

    fn grow(&mut self, n: usize) {
        self.w.grow(n);
    }

    fn predict<X: Row<f64>>(&self, x: X) -> f64 {
        self.w.dot(x)
    }

    fn step<X: Row<f64>, L: Loss + ?Sized>(
        &mut self,
        x: X,
        target: Target,
        loss: &L,
        rate: f64,
    ) -> Result<Round, DomainError> {
        self.grow(x.bound());
        let mut round = walk::judge(self.w.take(x), target, loss, rate)?;
        let tau = -0.5 * rate * round.slope;
        if tau != 0.0 {
            let moved = self.w.multiply(Factor::Square, |x, _| tau * x);
            round.length = (2.0 * moved.divergence).sqrt();
            round.event = report(&moved, &mut self.folds);
        }
        Ok(round)
    }

    fn local(&self, i: usize) -> Option<f64> {
        Some(self.w.weight(i))
    }

    fn gauge<X: Row<f64>>(&self, x: X) -> Gauge {
        Gauge::positive(x, |i| self.w.weight(i), false)
    }

    fn read(&self, w: &mut Vec<f64>) {
        self.w.read(w);
    }

    fn save(&self, put: &mut dyn FnMut(&'static str, &[f64])) {
        self.w.save(put);
        put("folds", &[self.folds as f64]);
    }

    fn load(
        &mut self,
        get: &mut dyn FnMut(&'static str) -> Option<Vec<f64>>,
    ) -> Result<(), ConfigError> {
        let folds = walk::count(get, "folds")?;
        self.w.load(get)?;
        self.folds = folds;
        Ok(())
    }
}

/// The twin of EG.
///
/// ```
/// use geowalk::loss::Squared;
/// use geowalk::row::Dense;
/// use geowalk::walk::{ReparamSimplex, Walk};
///
/// let mut walk = ReparamSimplex::new();
/// for _ in 0..200 {
///     walk.step(Dense(&[1.0, 0.0, -1.0]), 0.5.into(), &Squared, 0.5)?;
/// }
/// assert!((walk.predict(Dense(&[1.0, 0.0, -1.0])) - 0.5).abs() < 1e-12);
/// # Ok::<(), geowalk::DomainError>(())
/// ```
#[derive(Debug, Clone, PartialEq)]
pub struct ReparamSimplex {
    /// τ = −scale·η·g: ½, or 1 for experts.
    scale: f64,
    /// m, or 0.
    middle: f64,
    w: Partition,
    folds: u64,
}

impl Default for ReparamSimplex {
    fn default() -> Self {
        Self::new()
    }
}

impl ReparamSimplex {
    /// The twin of EG.
    pub fn new() -> Self {
        Self { scale: 0.5, middle: 0.0, w: Partition::default(), folds: 0 }
    }

    /// The centred twin, for features in \[lo, hi\].
    pub fn centred(lo: f64, hi: f64) -> Result<Self, ConfigError> {
        error::parameter("lo", lo, Allowed::Closed(-1e100, 1e100))?;
        error::parameter("hi", hi, Allowed::Closed(lo, 1e100))?;
        Ok(Self { middle: 0.5 * (lo + hi), ..Self::new() })
    }

    /// The twin of Hedge in the scale of its algorithm, u(1 − ηℓ).
    pub fn experts() -> Self {
        Self { scale: 1.0, ..Self::new() }
    }

    /// How many coordinates have crossed 0 so far.
    pub fn folds(&self) -> u64 {
        self.folds
    }

    /// out ← ln w, also where w is too small to be represented.
    pub fn logarithms(&self, out: &mut Vec<f64>) {
        self.w.logarithms(out);
    }
}

impl Walk for ReparamSimplex {
    fn features(&self) -> usize {
        self.w.features()
    }

    fn grow(&mut self, n: usize) {
        self.w.grow(n);
    }

    fn predict<X: Row<f64>>(&self, x: X) -> f64 {
        self.w.dot(x)
    }

    fn step<X: Row<f64>, L: Loss + ?Sized>(
        &mut self,
        x: X,
        target: Target,
        loss: &L,
        rate: f64,
    ) -> Result<Round, DomainError> {
        self.grow(x.bound());
        let mut round = walk::judge(self.w.take(x), target, loss, rate)?;
        let tau = -self.scale * rate * round.slope;
        if tau == 0.0 {
            return Ok(round);
        }
        // 1 + τ(x_i − m) = (1 − τm)(1 + τx_i/(1 − τm)): all weights share the first factor.
        let common = 1.0 - tau * self.middle;
        if common.abs() < 1e-9 {
            let (what, value) = ("1 + rate/2·slope·middle, which must not vanish,", common);
            return Err(DomainError::Scalar { what, value, allowed: Allowed::Positive });
        }
        let mut moved = self.w.multiply::<true>(Factor::Square, tau / common);
        if common < 0.0 {
            // The signs of all factors are those without the common one, reversed.
            moved.crossed = self.w.features() - moved.crossed - moved.clamped;
        }
        round.length = (2.0 * moved.divergence).sqrt();
        round.event = report(&moved, &mut self.folds);
        Ok(round)
    }

    fn common(&self) -> f64 {
        self.w.share()
    }

    fn local(&self, i: usize) -> Option<f64> {
        Some(self.w.local(i))
    }

    fn unit(&self) -> f64 {
        self.w.unit()
    }

    fn gauge<X: Row<f64>>(&self, x: X) -> Gauge {
        // Features that are not in the row are pulled by their distance from the middle as well.
        let scale = 2.0 * self.scale;
        let gauge = Gauge::largest(x, |x| scale * (x - self.middle));
        let stretch = Real::max(gauge.stretch, scale * self.middle.abs());
        Gauge { square: stretch * stretch, stretch, local: false }
    }

    fn read(&self, w: &mut Vec<f64>) {
        self.w.read(w);
    }

    fn save(&self, put: &mut dyn FnMut(&'static str, &[f64])) {
        self.w.save(put);
        put("folds", &[self.folds as f64]);
    }

    fn load(
        &mut self,
        get: &mut dyn FnMut(&'static str) -> Option<Vec<f64>>,
    ) -> Result<(), ConfigError> {
        let folds = walk::count(get, "folds")?;
        self.w = Partition::load(get)?;
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
    fn a_weight_that_meets_zero_is_reported_and_lives() {
        // w = (½, ½), g = 1 and η = 2 make the factor of u₁ exactly 0.
        let mut walk = ReparamSimplex::new();
        let round = walk.step(Dense(&[1.0, 0.0]), 0.0.into(), &Squared, 2.0).unwrap();
        assert_eq!(round.event, Event::Clamped { coordinates: 1 });
        for _ in 0..300 {
            walk.step(Dense(&[1.0, 0.0]), 1.0.into(), &Squared, 0.5).unwrap();
        }
        assert!(walk.predict(Dense(&[1.0, 0.0])) > 0.99, "it came back");
    }

    #[test]
    fn crossing_zero_is_a_fold() {
        let mut walk = ReparamEntropy::new(1.0).unwrap();
        let round = walk.step(Dense(&[1.0, 0.5]), 0.0.into(), &Squared, 1.0).unwrap();
        assert_eq!(round.event, Event::Folded { coordinates: 1 });
        assert_eq!(walk.folds(), 1);
        // z = 1.5, g = 3: u = (1 − 1.5, 1 − 0.75).
        let mut w = Vec::new();
        walk.read(&mut w);
        assert!((w[0] - 0.25).abs() < 1e-15 && (w[1] - 0.0625).abs() < 1e-15, "{w:?}");
    }
}
