//! # Implicit steps on the positive orthant
//! In the metric of the logarithm, with Lambert's W on its principal branch:
//! $$w_i' = w_i\, e^{-W_0(\kappa x_i w_i)}, \qquad \kappa = \eta\, g(z(\kappa)), \qquad
//!   z'(\kappa) = -\sum_i \frac{(x_i w_i')^2}{1 + W_0(\kappa x_i w_i)}$$
//! **Several roots** On the other branch of W, a weight may grow by more than the factor e, and U may be lower there.
//! Example: w = 0.0346, x = −0.808, hinge loss with y = −1, η = 10. On the principal branch U = 0.966; it is 0.640
//! where w has grown by e^3.58.
//!
//! At a minimum, at most one weight is on that branch, because the second derivative of $\tfrac12\sum t_i^2$ along the
//! prediction has one negative term for each such weight. It is the weight with the largest |x_i w_i| among those that
//! grow: if a smaller one had the larger term x_i w_i', swapping the two terms would reduce the distance. So all
//! candidates are on one curve, with the parameter $\tau = \ln(w_j'/w_j)$ of that weight and
//! $\kappa = \mp\tau e^{-\tau}/(x_j w_j)$. Up to τ = 1 it is the principal branch, where the root is unique for a
//! convex loss. Beyond it, 256 cells are searched, and the root with the smallest U is taken. The search is skipped if
//! U cannot be lower there, because the distance alone costs 1/(2η).
//!
//! **Care** Losses that are not convex or not bounded below are solved on the principal branch only. If no root is
//! found, an explicit step is made, halved until U has decreased enough, and reported as [`Event::FellBack`]. **Cost**
//! O(nnz) per evaluation, one W per coordinate of the row; for short steps one power series. **Source** \[KMWW07, eq.
//! (9) and (22)\]; \[CGHJK96\] for W.

use std::cell::Cell;

use super::OrthantForm;
use crate::Real;
use crate::error::DomainError;
use crate::geometry::Event;
use crate::learn::Factor;
use crate::learn::base::{self, Walk};
use crate::learn::implicit::lambert::{self, BRANCH};
use crate::learn::implicit::series::{LAMBERT, PowerSeries};
use crate::learn::implicit::{EQUATION, Example, Proximal, Solved, multiplier};
use crate::learn::solve::{self, Root};
use crate::learn::{Chart, Logarithmic, Steps};
use crate::loss::Loss;
use crate::row::Row;
use crate::update::{Round, Target};

/// U must decrease by this fraction of the decrease that its slope predicts.
const SUFFICIENT: f64 = 1e-4;

/// Maximum number of halvings; after these, the step is negligible.
const HALVINGS: usize = 1100;

impl Proximal for Steps<OrthantForm> {
    fn proximal<X: Row<f64>, L: Loss + ?Sized>(
        &mut self,
        x: X,
        target: Target,
        loss: &L,
        rate: f64,
    ) -> Result<Solved, DomainError> {
        self.grow(x.bound());
        let round = base::judge(self.predict(x), target, loss, rate)?;
        base::in_range(x)?;
        if rate == 0.0 || round.slope == 0.0 {
            return Ok(Solved::stay(round));
        }
        let example = Example { loss, target, rate };
        let w = &self.chart.entries;
        // The |κ| at which the argument of W reaches the end of the branch.
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
            // e^{−W(a)} = W(a)/a: use the division if it is precise, because it saves an exponential.
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
        if limit < f64::MAX
            && let Some(far) = Far::new(&self.chart, x, &example, &round, limit)
        {
            let near = root.as_ref().map_or(f64::INFINITY, |root| far.objective(root.at, None));
            if near > far.least()
                && let Ok(found) = far.search()
                && far.objective(far.kappa(found.at), Some(found.at)) < near
            {
                let (kappa, top, evaluations) = (far.kappa(found.at), far.top, found.evaluations);
                let round = self.arrive(x, round, kappa, Some((top, found.at)));
                return Ok(Solved { round, slope: kappa / rate, evaluations });
            }
        }
        match root {
            Ok(root) => {
                let slope = root.at / rate;
                Ok(Solved {
                    round: self.arrive(x, round, root.at, None),
                    slope,
                    evaluations: root.evaluations,
                })
            }
            Err(DomainError::NoRoot { .. }) => self.fall_back(x, round, &example),
            Err(error) => Err(error),
        }
    }
}

/// Number of cells searched on the other branch.
const CELLS: usize = 256;

/// Weights, one of which (that with the largest growing term) is on the other branch of W.
struct Far<'a, X, L: ?Sized> {
    chart: &'a Logarithmic,
    x: X,
    example: &'a Example<'a, L>,
    /// The sign of the slope.
    side: f64,
    /// x_j w_j of that weight; its sign is opposite to `side`.
    top: f64,
    /// The smallest possible loss.
    floor: f64,
    /// The growth from which U is at least that of staying.
    farthest: f64,
}

impl<'a, X: Row<f64>, L: Loss + ?Sized> Far<'a, X, L> {
    /// `limit` is the |κ| at which the principal branch ends. `None` if U cannot be lower on the other branch.
    fn new(
        chart: &'a Logarithmic,
        x: X,
        example: &'a Example<'a, L>,
        round: &Round,
        limit: f64,
    ) -> Option<Self> {
        let side = f64::copysign(1.0, round.slope);
        let least = Real::clamp(example.minimizer(), -f64::MAX, f64::MAX);
        let floor = example.value(least);
        let farthest = (2.0 * example.rate * (round.loss - floor)).sqrt();
        let possible =
            example.loss.facts().convex && farthest > 1.0 && farthest < f64::MAX_EXPONENT;
        if !possible {
            return None;
        }
        // The same product as in a step, so that the step recognises it.
        let mut top = 0.0;
        x.each(|i, x| {
            if let Some(w) = chart.entries.weight(i)
                && side * x * w < side * top
            {
                top = x * w;
            }
        });
        (limit.is_finite() && top != 0.0).then_some(Self {
            chart,
            x,
            example,
            side,
            top,
            floor,
            farthest,
        })
    }

    /// A lower bound of U on the other branch.
    fn least(&self) -> f64 {
        0.5 / self.example.rate + self.floor
    }

    /// κ as a function of the growth.
    fn kappa(&self, growth: f64) -> f64 {
        -growth * Real::exp(-growth) / self.top
    }

    /// The squared distance and the prediction.
    fn sums(&self, kappa: f64, growth: Option<f64>) -> (f64, f64) {
        let (mut square, mut z) = (0.0, 0.0);
        let mut rest = growth;
        self.x.each(|i, x| {
            let Some(w) = self.chart.entries.weight(i) else { return };
            let a = x * w;
            if let Some(growth) = rest
                && a == self.top
            {
                rest = None;
                square += growth * growth;
                z += a * Real::exp(growth);
                return;
            }
            let omega = lambert::w0(Real::max(kappa * a, BRANCH));
            square += omega * omega;
            z += a * Real::exp(-omega);
        });
        (square, z)
    }

    fn objective(&self, kappa: f64, growth: Option<f64>) -> f64 {
        let (square, z) = self.sums(kappa, growth);
        square / (2.0 * self.example.rate) + self.example.value(z)
    }

    /// The growth with the smallest U.
    fn search(&self) -> Result<Root, DomainError> {
        // η dU/dτ = (ηg − κ) dz/dτ, because ½ d(Σt²) = −κ dz along the curve. At a minimum dz/dτ has the sign of −g,
        // so U decreases before it and increases after it where this function changes sign.
        let mut equation = |growth: f64| {
            let kappa = self.kappa(growth);
            let (_, z) = self.sums(kappa, Some(growth));
            (self.side * (kappa - self.example.pull(z)), f64::NAN)
        };
        let objective = |growth: f64| self.objective(self.kappa(growth), Some(growth));
        solve::least(EQUATION, 1.0, self.farthest, CELLS, &mut equation, objective)
    }
}

impl Steps<OrthantForm> {
    /// Makes the step. `far` is x_j w_j of a weight on the other branch, and the logarithm of its growth.
    fn arrive<X: Row<f64>>(
        &mut self,
        x: X,
        mut round: Round,
        kappa: f64,
        far: Option<(f64, f64)>,
    ) -> Round {
        let (square, rest) = (Cell::new(0.0), Cell::new(far));
        self.chart.look(x);
        let moved = self.chart.multiply(Factor::Exponential, |x, w| {
            let omega = match rest.get() {
                // Only one weight, even if several have this value.
                Some((top, growth)) if x * w == top => {
                    rest.set(None);
                    -growth
                }
                _ => lambert::w0(Real::max(kappa * x * w, BRANCH)),
            };
            square.set(square.get() + omega * omega);
            -omega
        });
        round.length = square.get().sqrt();
        if moved.clamped > 0 {
            round.event = Event::Clamped { coordinates: moved.clamped };
        }
        round
    }

    /// The explicit step with the largest rate among η, η/2, η/4, … that decreases U.
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
        let full = base::length(example.rate * round.slope.abs() * square.sqrt())?;
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
