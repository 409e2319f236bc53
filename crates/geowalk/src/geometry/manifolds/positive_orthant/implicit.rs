//! # Implicit steps on the positive orthant
//! In the metric of the logarithm, with Lambert's W on its principal branch:
//! $$w_i' = w_i\, e^{-W_0(\kappa x_i w_i)}, \qquad \kappa = \eta\, g(z(\kappa)), \qquad
//!   z'(\kappa) = -\sum_i \frac{(x_i w_i')^2}{1 + W_0(\kappa x_i w_i)}$$
//! The root on the branch is the minimum of U that grows out of w as the rate does. It is *the* minimum where L is convex in the geometry (x ≥ 0 and a
//! loss that does not fall with z); elsewhere a far one may be lower: w = 0.0346, x = −0.808 under the hinge loss with y = −1 and η = 10 has
//! U = 0.966 on the branch and 0.640 where w has grown by e^3.58.
//! **Care** the branch ends where $\kappa x_i w_i = -1/e$. If the root is not before that, which happens when a weight has to grow by more than
//! the factor e, an explicit step is made, halved until U has fallen enough, and reported as [`Event::FellBack`].
//! **Cost** O(nnz) per evaluation, one W per coordinate of the row; for short steps a power series once.
//! **Source** \[KMWW07, eq. (9) and (22)\]; \[CGHJK96\] for W.

use std::cell::Cell;

use crate::Real;
use crate::error::DomainError;
use crate::geometry::Event;
use crate::learn::Chart;
use crate::learn::Factor;
use crate::learn::implicit::lambert::{self, BRANCH};
use crate::learn::implicit::series::{LAMBERT, PowerSeries};
use crate::learn::implicit::{Example, Proximal, Solved, multiplier};
use crate::loss::Loss;
use crate::row::Row;
use crate::update::{Round, Target};
use crate::walk::{self, Orthant, Walk};

/// U must fall by this much of what its slope promises.
const SUFFICIENT: f64 = 1e-4;

/// Halvings of the step: after these it is too small to be told from no step.
const HALVINGS: usize = 1100;

impl Proximal for Orthant {
    fn proximal<X: Row<f64>, L: Loss + ?Sized>(
        &mut self,
        x: X,
        target: Target,
        loss: &L,
        rate: f64,
    ) -> Result<Solved, DomainError> {
        self.grow(x.bound());
        let round = walk::judge(self.predict(x), target, loss, rate)?;
        walk::in_range(x)?;
        if rate == 0.0 || round.slope == 0.0 {
            return Ok(Solved::stay(round));
        }
        let example = Example { loss, target, rate };
        let w = &self.chart.entries;
        // Where the first argument of W comes to the end of the branch.
        let side = f64::copysign(1.0, round.slope);
        let (mut limit, mut largest) = (f64::MAX, 0.0);
        x.each(|i, x| {
            if let Some(w) = w.weight(i) {
                if side * x * w < 0.0 {
                    limit = Real::min(limit, BRANCH / (side * x * w));
                }
                largest = Real::max(largest, (x * w).abs());
            }
        });
        let near = PowerSeries::new(&LAMBERT, (rate * round.slope).abs(), largest, x, |i, x| {
            let term = w.weight(i).map_or(0.0, |w| w * x);
            (term, term)
        });
        let root = multiplier(&example, limit, &mut |kappa| {
            if let Some(near) = near.at(&LAMBERT, kappa) {
                return near;
            }
            let (mut z, mut slope) = (0.0, 0.0);
            // e^{−W(a)} = W(a)/a: where the division loses nothing it saves an exponential.
            let divides = kappa.abs() > 1e-100;
            x.each(|i, x| {
                if let Some(w) = w.weight(i) {
                    let a = kappa * x * w;
                    let omega = lambert::w0(Real::max(a, BRANCH));
                    let term = if divides && a.abs() > 1e-100 && a > BRANCH {
                        omega / kappa
                    } else {
                        x * w * Real::exp(-omega)
                    };
                    z += term;
                    slope -= term * term / (1.0 + omega);
                }
            });
            (z, slope)
        });
        match root {
            Ok(root) => {
                let slope = root.at / rate;
                Ok(Solved {
                    round: self.arrive(x, round, root.at),
                    slope,
                    evaluations: root.evaluations,
                })
            }
            Err(DomainError::NoRoot { .. }) => self.fall_back(x, round, &example),
            Err(error) => Err(error),
        }
    }
}

impl Orthant {
    fn arrive<X: Row<f64>>(&mut self, x: X, mut round: Round, kappa: f64) -> Round {
        let square = Cell::new(0.0);
        self.chart.look(x);
        let moved = self.chart.multiply(Factor::Exponential, |x, w| {
            let omega = lambert::w0(Real::max(kappa * x * w, BRANCH));
            square.set(square.get() + omega * omega);
            -omega
        });
        round.length = square.get().sqrt();
        if moved.clamped > 0 {
            round.event = Event::Clamped { coordinates: moved.clamped };
        }
        round
    }

    /// The explicit step with the largest rate among η, η/2, η/4, … that makes U fall.
    fn fall_back<X: Row<f64>, L: Loss + ?Sized>(
        &mut self,
        x: X,
        mut round: Round,
        example: &Example<'_, L>,
    ) -> Result<Solved, DomainError> {
        let w = &self.chart.entries;
        let mut square = 0.0;
        x.each(|i, x| {
            if let Some(w) = w.weight(i) {
                square += (x * w) * (x * w);
            }
        });
        let full = walk::length(example.rate * round.slope.abs() * square.sqrt())?;
        let mut part = 1.0;
        for evaluations in 1..=HALVINGS {
            let tau = -part * example.rate * round.slope;
            let mut z = 0.0;
            x.each(|i, x| {
                if let Some(w) = w.weight(i) {
                    z += x * w * Real::exp(tau * x * w);
                }
            });
            let length = part * full;
            let u = length * length / (2.0 * example.rate) + example.value(z);
            let promised = length * full / example.rate;
            if u <= round.loss - SUFFICIENT * promised {
                self.chart.look(x);
                self.chart.multiply(Factor::Exponential, |x, w| tau * (x * w));
                round.length = length;
                round.event = Event::FellBack;
                return Ok(Solved { round, slope: round.slope, evaluations });
            }
            part *= 0.5;
        }
        Err(DomainError::NotConverged {
            what: "the backtracked explicit step",
            residual: full,
            iterations: HALVINGS,
        })
    }
}
