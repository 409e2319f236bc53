//! # Implicit EGU
//! $$w_i' = w_i\, e^{-\kappa x_i}, \qquad \kappa = \eta\, g(z(\kappa)), \qquad z(\kappa) = \sum_i w_i x_i e^{-\kappa x_i}$$
//! The minimiser of $\tfrac1\eta D(w' \Vert w) + L(w')$ with the unnormalised relative entropy: unique for every convex loss.
//! **Cost** O(nnz) per evaluation, one exponential per coordinate of the row; for short steps a [series](super::series) once. **Care** as the explicit walk, logarithms of factors are cut
//! to ±700. **Source** \[AW20, sec. 2\] with the loss at the weights after.

use super::series::{EXPONENTIAL, Near};
use super::{Example, Proximal, Solved, multiplier};
use crate::Real;
use crate::error::DomainError;
use crate::geometry::Event;
use crate::loss::Loss;
use crate::row::Row;
use crate::update::Target;
use crate::walk::factor::Factor;
use crate::walk::{self, Entropy, Walk};

impl Proximal for Entropy {
    fn proximal<X: Row<f64>, L: Loss + ?Sized>(
        &mut self,
        x: X,
        target: Target,
        loss: &L,
        rate: f64,
    ) -> Result<Solved, DomainError> {
        self.grow(x.bound());
        let mut round = walk::judge(self.predict(x), target, loss, rate)?;
        let largest = walk::in_range(x)?;
        if rate == 0.0 || round.slope == 0.0 {
            return Ok(Solved::stay(round));
        }
        let example = Example { loss, target, rate };
        let entries = &self.w.entries;
        let reach = (rate * round.slope).abs();
        let near = Near::new(&EXPONENTIAL, reach, largest, x, |i, x| {
            (entries.weight(i).map_or(0.0, |w| w * x), x)
        });
        let root = multiplier(&example, f64::MAX, &mut |kappa| {
            if let Some(near) = near.at(&EXPONENTIAL, kappa) {
                return near;
            }
            let (mut z, mut slope) = (0.0, 0.0);
            x.each(|i, x| {
                if let Some(log) = entries.logarithm(i)
                    && x != 0.0
                {
                    let term = x * Real::exp(log - kappa * x);
                    z += term;
                    slope -= term * x;
                }
            });
            (z, slope)
        })?;
        let kappa = root.at;
        if kappa != 0.0 {
            self.w.take(x);
            let moved = self.w.multiply(Factor::Exponential, |x, _| -kappa * x);
            round.length = (2.0 * moved.divergence).sqrt();
            if moved.clamped > 0 {
                round.event = Event::Clamped { coordinates: moved.clamped };
            }
        }
        Ok(Solved { round, slope: kappa / rate, evaluations: root.evaluations })
    }
}
