//! # Implicit steps on the positive orthant
//! In the metric of the logarithm, with Lambert's W on its principal branch:
//! $$w_i' = w_i\, e^{-W_0(\kappa x_i w_i)}, \qquad \kappa = \eta\, g(z(\kappa)), \qquad
//!   z'(\kappa) = -\sum_i \frac{(x_i w_i')^2}{1 + W_0(\kappa x_i w_i)}$$
//! **Several roots** On the other branch of W a weight may grow by more than the factor e, and U be lower there:
//! w = 0.0346, x = −0.808 under the hinge loss with y = −1 and η = 10 has U = 0.966 on the principal branch and 0.640
//! where w has grown by e^3.58. At a minimum at most one weight is on that branch, because the second derivative of
//! $\tfrac12\sum t_i^2$ along the prediction has a negative term for each. It is the one of largest |x_i w_i|
//! among those that grow: if a smaller one had the larger term x_i w_i', exchanging the two terms would lower
//! the distance. So all candidates lie on one curve, whose parameter is $\tau = \ln(w_j'/w_j)$ of that weight,
//! with $\kappa = \mp\tau e^{-\tau}/(x_j w_j)$. Up to τ = 1 it is the principal branch, where the root is
//! unique for a convex loss. Beyond it 256 cells are searched, and the least U of all roots wins. The search is
//! skipped where U there cannot be lower: its distance alone costs 1/(2η).
//! **Care** losses that are not convex, and losses without a lower bound, are solved for on the principal
//! branch alone. Where no root is found, an explicit step is made, halved until U has fallen enough, and
//! reported as [`Event::FellBack`].
//! **Cost** O(nnz) per evaluation, one W per coordinate of the row; for short steps a power series once.
//! **Source** \[KMWW07, eq. (9) and (22)\]; \[CGHJK96\] for W.

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

/// U must fall by this much of what its slope promises.
const SUFFICIENT: f64 = 1e-4;

/// Halvings of the step: after these it is too small to be told from no step.
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

/// Cells of the search on the other branch.
const CELLS: usize = 256;

/// Weights of which the one of largest growing term is on the other branch of W.
struct Far<'a, X, L: ?Sized> {
    chart: &'a Logarithmic,
    x: X,
    example: &'a Example<'a, L>,
    /// The sign of the slope.
    side: f64,
    /// The x_j w_j of that weight, of the sign opposite to `side`.
    top: f64,
    /// The least loss that there is.
    floor: f64,
    /// Where U is at least that of staying.
    farthest: f64,
}

impl<'a, X: Row<f64>, L: Loss + ?Sized> Far<'a, X, L> {
    /// `limit` is the |κ| at which the principal branch ends. `None` if nothing can be lower there.
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
        // The same product as in a step, so that it is recognised there.
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

    /// U is never lower on the other branch.
    fn least(&self) -> f64 {
        0.5 / self.example.rate + self.floor
    }

    /// κ of a growth.
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

    /// The growth of least U.
    fn search(&self) -> Result<Root, DomainError> {
        // η dU/dτ = (ηg − κ) dz/dτ, because ½ d(Σt²) = −κ dz along the curve. At a minimum dz/dτ has the sign of −g, so
        // that U falls before it and rises after it where this does.
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
    /// Makes the step. `far` is the x_j w_j of a weight on the other branch, and the logarithm of its growth.
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
                // One weight alone, if there are several of this size.
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
