//! # Predictions in a declared range
//! $$\hat z = \min(\max(\langle w, x\rangle, lo), hi)$$
//! The bounds of EGU and its twin are proved for predictions clipped to the range of the labels. The loss, its slope
//! and so the step are evaluated at the clipped prediction. **Cost** none. **Source** \[AW20, thm. 6 and 7\].

use super::Walk;
use crate::Real;
use crate::error::{self, Allowed, ConfigError, DomainError};
use crate::learn::gauge::Gauge;
use crate::loss::{Facts, Loss};
use crate::row::Row;
use crate::update::{Round, Target};

/// A walk with clipped predictions.
///
/// ```
/// use geowalk::loss::Squared;
/// use geowalk::row::Dense;
/// use geowalk::walk::{Clipped, Entropy, Walk};
///
/// let mut walk = Clipped::new(Entropy::new(1000.0)?, 0.0, 1.0)?;
/// let round = walk.step(Dense(&[1.0]), 0.0.into(), &Squared, 0.5)?;
/// assert_eq!((round.z, round.loss), (1.0, 1.0));
/// # Ok::<(), geowalk::ConfigError>(())
/// ```
#[derive(Debug, Clone, PartialEq)]
pub struct Clipped<W> {
    walk: W,
    lo: f64,
    hi: f64,
}

impl<W: Walk> Clipped<W> {
    /// `walk` with predictions in \[lo, hi\].
    pub fn new(walk: W, lo: f64, hi: f64) -> Result<Self, ConfigError> {
        error::parameter("lo", lo, Allowed::Finite)?;
        error::parameter("hi", hi, Allowed::Closed(lo, f64::MAX))?;
        Ok(Self { walk, lo, hi })
    }

    /// `walk` without clipping. For programs that would otherwise be compiled for both types.
    pub fn unbounded(walk: W) -> Self {
        Self { walk, lo: f64::NEG_INFINITY, hi: f64::INFINITY }
    }

    /// The wrapped walk.
    pub fn inner(&self) -> &W {
        &self.walk
    }

    fn clip(&self, z: f64) -> f64 {
        Real::clamp(z, self.lo, self.hi)
    }
}

/// A loss, evaluated at the clipped prediction.
#[derive(Debug)]
struct At<'a, L: ?Sized> {
    loss: &'a L,
    lo: f64,
    hi: f64,
}

impl<L: Loss + ?Sized> Loss for At<'_, L> {
    fn spec(&self) -> String {
        self.loss.spec()
    }

    fn value(&self, z: f64, y: f64) -> f64 {
        self.loss.value(Real::clamp(z, self.lo, self.hi), y)
    }

    /// The slope of the unclipped loss at the clipped prediction. (The slope of the clipped loss would be 0 outside
    /// the range.)
    fn slope(&self, z: f64, y: f64) -> f64 {
        self.loss.slope(Real::clamp(z, self.lo, self.hi), y)
    }

    fn curvature(&self, z: f64, y: f64) -> f64 {
        self.loss.curvature(Real::clamp(z, self.lo, self.hi), y)
    }

    fn minimizer(&self, y: f64) -> f64 {
        Real::clamp(self.loss.minimizer(y), self.lo, self.hi)
    }

    fn facts(&self) -> Facts {
        self.loss.facts()
    }
}

impl<W: Walk> Walk for Clipped<W> {
    fn features(&self) -> usize {
        self.walk.features()
    }

    fn grow(&mut self, n: usize) {
        self.walk.grow(n);
    }

    fn predict<X: Row<f64>>(&self, x: X) -> f64 {
        self.clip(self.walk.predict(x))
    }

    fn step<X: Row<f64>, L: Loss + ?Sized>(
        &mut self,
        x: X,
        target: Target,
        loss: &L,
        rate: f64,
    ) -> Result<Round, DomainError> {
        let at = At { loss, lo: self.lo, hi: self.hi };
        let mut round = self.walk.step(x, target, &at, rate)?;
        round.z = self.clip(round.z);
        Ok(round)
    }

    fn pull(&self) -> f64 {
        self.walk.pull()
    }

    fn follow(&mut self, pull: f64) {
        self.walk.follow(pull);
    }

    fn share(&mut self, other: &Self) {
        self.walk.share(&other.walk);
    }

    fn common(&self) -> f64 {
        self.walk.common()
    }

    fn unit(&self) -> f64 {
        self.walk.unit()
    }

    fn local(&self, i: usize) -> Option<f64> {
        self.walk.local(i)
    }

    fn gauge<X: Row<f64>>(&self, x: X) -> Gauge {
        self.walk.gauge(x)
    }

    fn read(&self, w: &mut Vec<f64>) {
        self.walk.read(w);
    }

    fn gamma(&self, rate: Option<f64>, out: &mut Vec<f64>) -> Option<f64> {
        self.walk.gamma(rate, out)
    }

    fn lengths(&self, rate: Option<f64>) -> Option<(f64, f64)> {
        self.walk.lengths(rate)
    }

    fn bets(&self, size: &dyn Fn(usize) -> f64) -> Option<f64> {
        self.walk.bets(size)
    }

    #[inline]
    fn gradient<X: Row<f64>>(&self, round: &Round, x: X) -> f64 {
        self.walk.gradient(round, x)
    }

    fn spec(&self) -> String {
        format!("clipped({}, lo={}, hi={})", self.walk.spec(), self.lo, self.hi)
    }

    fn save_state(&self, put: &mut dyn FnMut(&'static str, &[f64])) {
        self.walk.save_state(put);
    }

    fn load_state(
        &mut self,
        get: &mut dyn FnMut(&'static str) -> Option<Vec<f64>>,
    ) -> Result<(), ConfigError> {
        self.walk.load_state(get)
    }
}
