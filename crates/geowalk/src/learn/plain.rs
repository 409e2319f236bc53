//! # Dual coordinates with separate weights
//! The state is θ, and each w_i is a function of θ_i alone. For gradient descent w = θ.
//! **Cost** O(nnz).

use std::marker::PhantomData;

use super::{Chart, Get, Moves, Put, RowSummary, Shift};
use crate::error::{Allowed, ConfigError, DomainError};
use crate::learn::base;
use crate::row::{Norm, Row};
use crate::update::Round;

/// A coordinate of a separable generator.
pub trait Coordinate: Copy + Send + Sync + 'static {
    /// The allowed values of θ.
    const DUALS: Allowed;
    /// Is w = θ?
    const IDENTITY: bool = false;
    /// The name of the saved array.
    const NAME: &'static str;

    /// The weight w for the dual coordinate θ.
    fn weight(theta: f64) -> f64;

    /// Is θ allowed? The same test as [`DUALS`](Self::DUALS), in a form for inner loops.
    fn inside(theta: f64) -> bool;

    /// w·x.
    fn term(theta: f64, x: f64) -> f64;

    /// D(w‖w') of a step from θ to θ + s.
    fn divergence(theta: f64, s: f64) -> f64;
}

/// θ, and the initial value of its coordinates.
#[derive(Debug, Clone, PartialEq)]
pub struct Plain<C> {
    pub(crate) theta: Vec<f64>,
    start: f64,
    kind: PhantomData<C>,
}

impl<C: Coordinate> Plain<C> {
    /// All θ_i start at `start`.
    pub fn new(start: f64) -> Self {
        Self { theta: Vec::new(), start, kind: PhantomData }
    }
}

impl<C: Coordinate> Chart for Plain<C> {
    fn features(&self) -> usize {
        self.theta.len()
    }

    fn grow(&mut self, n: usize) {
        if n > self.theta.len() {
            self.theta.resize(n, self.start);
        }
    }

    fn predict<X: Row<f64>>(&self, x: X) -> f64 {
        if C::IDENTITY {
            return x.dot(&self.theta);
        }
        let mut z = 0.0;
        x.each(|i, x| {
            if let Some(&theta) = self.theta.get(i) {
                z += C::term(theta, x);
            }
        });
        z
    }

    fn look<X: Row<f64>>(&mut self, x: X) -> RowSummary {
        if C::IDENTITY {
            let (z, size) = x.dot_and_square(&self.theta, (0.0, 0.0));
            return RowSummary { z, size };
        }
        RowSummary { z: self.predict(x), size: 0.0 }
    }

    fn local(&self, i: usize) -> f64 {
        C::weight(self.theta.get(i).copied().unwrap_or(self.start))
    }

    fn gamma(&self, rate: Option<f64>, out: &mut Vec<f64>) -> Option<f64> {
        base::dual_gamma(&self.theta, self.start, rate, out)
    }

    fn lengths(&self, rate: Option<f64>) -> Option<(f64, f64)> {
        let rate = rate.filter(|rate| C::IDENTITY && *rate > 0.0)?;
        let length = Norm::L2.above(&self.theta);
        // Γ = −θ/η.
        Some((length, length / rate * (1.0 + 4.0 * f64::EPSILON)))
    }

    fn save(&self, put: Put<'_>) {
        put(C::NAME, &self.theta);
    }

    fn load(&mut self, get: Get<'_>) -> Result<(), ConfigError> {
        self.theta = base::array(get, C::NAME, C::DUALS)?;
        Ok(())
    }
}

impl<C: Coordinate> Moves<Shift> for Plain<C> {
    fn apply<X: Row<f64>>(
        &mut self,
        x: X,
        by: Shift,
        round: &mut Round,
    ) -> Result<(), DomainError> {
        let Shift(a) = by;
        if !C::IDENTITY {
            let (mut divergence, mut refused) = (0.0, None);
            let theta = &self.theta;
            x.each(|i, x| {
                if let Some(&theta) = theta.get(i) {
                    let new = theta + a * x;
                    if C::inside(new) {
                        divergence += C::divergence(theta, a * x);
                    } else if refused.is_none() {
                        refused = Some((i, new));
                    }
                }
            });
            if let Some((index, value)) = refused {
                let what = "the dual weights";
                return Err(DomainError::Coordinate { what, index, value, allowed: C::DUALS });
            }
            round.length = (2.0 * divergence).sqrt();
        }
        x.axpy(a, &mut self.theta);
        Ok(())
    }
}
