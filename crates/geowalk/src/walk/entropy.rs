//! # Unnormalised exponentiated gradient
//! $$w_i \leftarrow w_i\, e^{-\eta g x_i}$$
//! Mirror descent with the unnormalised relative entropy: EGU. With the loss of Winnow and the constants of
//! [`winnow`](super::winnow) it is Winnow.
//! **Start** Equal weights; small ones ($10^{-4}$) find a sparse target sooner than $1/n$.
//! **Cost** O(nnz), one exponential per coordinate of the row. **Care** on features of both signs there is no bound, and large
//! rates diverge: logarithms of factors are cut to ±700, those of weights to 345, both reported.
//! **Source** \[KW97\]; \[AW20, sec. 5\]; \[KMWW07s, eq. (6)\].

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

/// EGU: positive weights, moved by factors.
///
/// ```
/// use geowalk::loss::Squared;
/// use geowalk::row::Dense;
/// use geowalk::walk::{Entropy, Walk};
///
/// let mut egu = Entropy::new(1.0)?;
/// egu.step(Dense(&[1.0, 0.0]), 0.0.into(), &Squared, 0.5)?;
/// let mut w = Vec::new();
/// egu.read(&mut w);
/// assert_eq!(w, [0.36787944117144233, 1.0]);
/// # Ok::<(), geowalk::ConfigError>(())
/// ```
#[derive(Debug, Clone, PartialEq)]
pub struct Entropy {
    pub(super) w: Logarithms,
}

impl Entropy {
    /// The weight that features begin with unless told otherwise.
    pub const START: f64 = 1e-4;

    /// Every weight begins at `start` > 0.
    pub fn new(start: f64) -> Result<Self, ConfigError> {
        Ok(Self { w: Logarithms::new(start)? })
    }

    /// out ← ln w, also where w is too small to be represented.
    pub fn logarithms(&self, out: &mut Vec<f64>) {
        self.w.logarithms(out);
    }
}

impl Walk for Entropy {
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
        let tau = -rate * round.slope;
        if tau != 0.0 {
            let moved = self.w.multiply(Factor::Exponential, |x, _| tau * x);
            round.length = (2.0 * moved.divergence).sqrt();
            if moved.clamped > 0 {
                round.event = Event::Clamped { coordinates: moved.clamped };
                self.w.note_cuts(tau);
            }
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

    fn gamma(&self, rate: Option<f64>, out: &mut Vec<f64>) -> Option<f64> {
        self.w.gamma(rate, out)
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
