//! # Exponentiated gradient
//! $$w_i \leftarrow \frac{w_i\, e^{-\eta g x_i}}{\sum_j w_j\, e^{-\eta g x_j}}$$
//! Mirror descent with the relative entropy on the simplex: EG, and Hedge when the row is the experts' losses and the loss is z itself.
//! Two relatives, with a polynomial in place of the exponential:
//! * *Prod*, $w_i (1 - \eta g x_i)$, divided by the sum;
//! * *approximated EG*, $w_i (1 - \eta g (x_i - z))$, whose sum stays 1 of itself.
//!
//! **Start** Uniform over the features that are there. **Cost** O(nnz).
//! **Care** logarithms are the state, so a weight that a drift has made 1e-900 is still alive when the drift turns.
//! Logarithms of factors are cut to ±700, and factors that would be ≤ 0 to 2⁻⁵² (reported).
//! **Source** \[KW97\], also for approximated EG; \[CMS07\] for Prod; \[AW20, sec. 4 and 5\].

use super::Walk;
use super::factor::Factor;
use super::gauge::Gauge;
use super::partition::Partition;
use crate::error::{Allowed, ConfigError, DomainError};
use crate::geometry::Event;
use crate::loss::Loss;
use crate::row::Row;
use crate::update::{Round, Target};
use crate::walk;

/// EG: a probability for each feature, moved by factors.
///
/// ```
/// use geowalk::loss::Squared;
/// use geowalk::row::Dense;
/// use geowalk::walk::{SimplexEntropy, Walk};
///
/// let mut eg = SimplexEntropy::new();
/// for _ in 0..200 {
///     eg.step(Dense(&[1.0, 0.0, -1.0]), 0.5.into(), &Squared, 0.5)?;
/// }
/// assert!((eg.predict(Dense(&[1.0, 0.0, -1.0])) - 0.5).abs() < 1e-12);
/// # Ok::<(), geowalk::DomainError>(())
/// ```
#[derive(Debug, Clone, PartialEq)]
pub struct SimplexEntropy {
    form: Form,
    pub(super) w: Partition,
}

#[derive(Debug, Clone, Copy, PartialEq)]
enum Form {
    Exponential,
    Prod,
    Approximated,
}

impl Default for SimplexEntropy {
    fn default() -> Self {
        Self::new()
    }
}

impl SimplexEntropy {
    /// EG.
    pub fn new() -> Self {
        Self { form: Form::Exponential, w: Partition::default() }
    }

    /// Prod: w_i(1 − ηg x_i).
    pub fn prod() -> Self {
        Self { form: Form::Prod, ..Self::new() }
    }

    /// Approximated EG: w_i(1 − ηg(x_i − z)). Needs η|g|·max|x_i − z| < 1.
    pub fn approximated() -> Self {
        Self { form: Form::Approximated, ..Self::new() }
    }

    /// out ← ln w, also where w is too small to be represented.
    pub fn logarithms(&self, out: &mut Vec<f64>) {
        self.w.logarithms(out);
    }
}

impl Walk for SimplexEntropy {
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
        if tau == 0.0 {
            return Ok(round);
        }
        let (factor, tau) = match self.form {
            Form::Exponential => (Factor::Exponential, tau),
            Form::Prod => (Factor::Linear, tau),
            Form::Approximated => {
                // 1 − ηg(x_i − z) = (1 + ηgz)(1 − ηg x_i/(1 + ηgz)): all weights share the first factor.
                let common = 1.0 - tau * round.z;
                walk::scalar("1 + rate·slope·prediction", common, Allowed::Positive)?;
                (Factor::Linear, tau / common)
            }
        };
        let moved = self.w.multiply::<true>(factor, tau);
        round.length = (2.0 * moved.divergence).sqrt();
        if moved.clamped > 0 {
            round.event = Event::Clamped { coordinates: moved.clamped };
            self.w.note_cuts(tau);
        }
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
        Gauge::largest(x, |x| x)
    }

    fn read(&self, w: &mut Vec<f64>) {
        self.w.read(w);
    }

    fn gamma(&self, rate: Option<f64>, out: &mut Vec<f64>) -> Option<f64> {
        if self.form == Form::Exponential { self.w.gamma(rate, out) } else { None }
    }

    fn save(&self, put: &mut dyn FnMut(&'static str, &[f64])) {
        self.w.save(put);
    }

    fn load(
        &mut self,
        get: &mut dyn FnMut(&'static str) -> Option<Vec<f64>>,
    ) -> Result<(), ConfigError> {
        self.w = Partition::load(get)?;
        Ok(())
    }
}
