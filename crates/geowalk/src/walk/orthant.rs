//! # Geodesic steps on the positive orthant
//! $$w_i \leftarrow w_i\, e^{-\eta g x_i w_i}$$
//! The metric of the logarithm, $\sum (dw_i/w_i)^2$: natural EG. Not EGU: the exponent has the weight in it.
//! **Start** Equal weights w₀, a real hyper-parameter: w₀ = 1 is often disastrous. **Cost** O(nnz), one exponential per coordinate of
//! the row. **Care** exponents are cut to ±700, logarithms of weights to 345, both reported.
//! **Source** \[KMWW07, eq. (22)\].

use super::Walk;
use super::factor::Factor;
use super::gauge::Gauge;
use super::logarithm::Logarithms;
use crate::error::{ConfigError, DomainError};
use crate::geometry::Event;
use crate::loss::Loss;
use crate::row::Row;
use crate::update::{Round, Target};
use crate::walk;

/// NEG: positive weights, geodesic steps.
///
/// ```
/// use geowalk::loss::Squared;
/// use geowalk::row::Dense;
/// use geowalk::walk::{Orthant, Walk};
///
/// let mut neg = Orthant::new(0.5)?;
/// let round = neg.step(Dense(&[1.0, 0.0]), 0.0.into(), &Squared, 0.5)?;
/// assert_eq!(round.length, 0.25);
/// // The slope is 1, so w₁ = ½·exp(−½·1·½).
/// assert!((neg.predict(Dense(&[1.0, 0.0])) - 0.3894).abs() < 1e-4);
/// # Ok::<(), geowalk::ConfigError>(())
/// ```
#[derive(Debug, Clone, PartialEq)]
pub struct Orthant {
    pub(super) w: Logarithms,
}

impl Orthant {
    /// Every weight begins at `start` > 0.
    pub fn new(start: f64) -> Result<Self, ConfigError> {
        Ok(Self { w: Logarithms::new(start)? })
    }
}

impl Walk for Orthant {
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
        round.length = walk::length(rate * round.slope.abs() * self.w.length())?;
        let tau = -rate * round.slope;
        if tau != 0.0 {
            let moved = self.w.multiply(Factor::Exponential, |x, w| tau * (x * w));
            if moved.clamped > 0 {
                round.event = Event::Clamped { coordinates: moved.clamped };
            }
        }
        Ok(round)
    }

    fn local(&self, i: usize) -> Option<f64> {
        Some(self.w.weight(i))
    }

    fn gauge<X: Row<f64>>(&self, x: X) -> Gauge {
        Gauge::positive(x, |i| self.w.weight(i), true)
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
        self.w.load(get)
    }
}
