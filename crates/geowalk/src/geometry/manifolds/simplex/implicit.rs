//! # Implicit steps on the simplex
//! In the Fisher metric, for a positive slope (for a negative one with −x instead of x), with j the feature of
//! smallest x_j:
//! $$p_i' \propto \frac{p_i}{(1 + q D_i)^2}, \qquad D_i = x_i - x_j, \qquad q \ge 0, \qquad
//!   \mathrm{dist}(p, p') = \eta\, g(z')\, \sqrt{\mathrm{Var}_{p'}(x)}$$
//! and the distance is $2\arctan\bigl(\sqrt{\mathrm{Var}_p f}\,/\,\mathrm{E}_p f\bigr)$ with $f_i = 1/(1 + q D_i)$.
//! These terms do not cancel. The equation is solved for $k = \ln(1 + q\,\mathrm{E}_p D)$.
//!
//! **Bracket** k from 0 to $21 + \ln^+(\eta g\,\mathrm{E}_p D) - \tfrac12 \ln p_j$, where nearly all weight is on j. A
//! fixed bound would fail for tiny p_j. **Unique** for convex losses: dist/√Var increased with k in all of 20000
//! random cases of widely different scales, and g decreases. Unlike the explicit step, the implicit step never reaches
//! the edge of the simplex.
//!
//! **Cost** O(nnz) per evaluation, one division per coordinate of the row; for short steps O(nnz) once, from the
//! central moments of D. **Care** Features with weight below 1e-290 are not candidates for j. **Source** \[KMWW07, eq.
//! (9) and ex. 3\].

use super::SimplexForm;
use crate::Real;
use crate::error::DomainError;
use crate::geometry::Event;
use crate::learn::Partitioned;
use crate::learn::base::{self, Walk};
use crate::learn::implicit::central::Central;
use crate::learn::implicit::{EQUATION, Example, Proximal, Solved};
use crate::learn::solve::{self, Root};
use crate::learn::{Chart, Steps};
use crate::loss::Loss;
use crate::row::Row;
use crate::update::Target;

/// Number of cells searched for losses that are not convex.
const CELLS: usize = 256;

/// Features with smaller weights are not candidates for the extreme feature.
const LEAST_WEIGHT: f64 = 1e-290;

impl Proximal for Steps<SimplexForm> {
    fn proximal<X: Row<f64>, L: Loss + ?Sized>(
        &mut self,
        x: X,
        target: Target,
        loss: &L,
        rate: f64,
    ) -> Result<Solved, DomainError> {
        self.grow(x.bound());
        let mut round = base::judge(self.predict(x), target, loss, rate)?;
        base::in_range(x)?;
        if rate == 0.0 || round.slope == 0.0 || self.chart.features() == 0 {
            return Ok(Solved::stay(round));
        }
        let example = Example { loss, target, rate };
        let side = f64::copysign(1.0, round.slope);
        let mut off = self.chart.off(x);
        let mut family = Family::new(&self.chart, Real::exp(off.log), &example, side, x);
        let mut root = family.solve(&example)?;
        let point = family.at(root.at);
        let coarse = off.too_coarse(family.axis.logarithm(point.q, 0.0), point.total);
        if off.any && (family.axis.beyond() || coarse) {
            let evaluations = root.evaluations + 1;
            off = self.chart.off_anew(x);
            family = Family::new(&self.chart, Real::exp(off.log), &example, side, x);
            root = family.solve(&example)?;
            root.evaluations += evaluations;
        }
        if root.at == 0.0 {
            if family.flat() && round.loss > 0.0 {
                round.event = Event::Stationary;
            }
            return Ok(Solved { round, slope: round.slope, evaluations: root.evaluations });
        }
        let point = family.at(root.at);
        let slope = side * point.distance / (rate * point.deviation);
        round.length = point.distance;
        let axis = family.axis;
        let off = if off.any { axis.logarithm(point.q, 0.0) } else { 0.0 };
        let moved = self.chart.shrink(x, off, |x| axis.logarithm(point.q, x));
        if moved.clamped > 0 {
            round.event = Event::Clamped { coordinates: moved.clamped };
        }
        Ok(Solved { round, slope, evaluations: root.evaluations })
    }
}

/// The distances of features from the extreme one.
#[derive(Debug, Clone, Copy)]
struct Axis {
    /// The sign of the slope.
    side: f64,
    /// x_j.
    extreme: f64,
    /// The unit of the D_i, so that the largest is 1.
    spread: f64,
}

impl Axis {
    /// D for a feature with this value.
    #[inline]
    fn distance(self, x: f64) -> f64 {
        (self.side * (x - self.extreme) / self.spread).max(0.0)
    }

    /// ln(1 + qD)⁻² for a feature with this value.
    fn logarithm(self, q: f64, x: f64) -> f64 {
        -2.0 * Real::ln_1p(q * self.distance(x))
    }

    /// The prediction of a distribution with this mean of D.
    fn prediction(self, mean: f64) -> f64 {
        self.extreme + self.side * mean * self.spread
    }

    /// Whether features absent from the row would be beyond j. Those with weight never are.
    fn beyond(self) -> bool {
        self.side * self.extreme > 0.0
    }
}

/// The distributions p_i/(1 + qD_i)², without normalisation.
struct Family<'a, X> {
    p: &'a Partitioned,
    x: X,
    /// Weight of features absent from the row, on the scale of the e_i.
    off: f64,
    axis: Axis,
    /// ln p_j.
    log_weight: f64,
    /// E_p D.
    mean: f64,
    total: f64,
    /// The pull at p.
    start: f64,
    /// The moments of D, if the step is short.
    near: Option<Central>,
}

/// A distribution of the family.
struct Point {
    q: f64,
    /// The prediction.
    z: f64,
    /// dist(p, p').
    distance: f64,
    /// √Var_{p'}(x).
    deviation: f64,
    /// The logarithm of the sum.
    total: f64,
}

impl<'a, X: Row<f64>> Family<'a, X> {
    fn new<L: Loss + ?Sized>(
        p: &'a Partitioned,
        off: f64,
        example: &Example<'_, L>,
        side: f64,
        x: X,
    ) -> Self {
        let total = p.sum.value();
        let (mut least, mut largest, mut weight) = (f64::INFINITY, f64::NEG_INFINITY, 0.0);
        let mut consider = |x: f64, e: f64| {
            if e >= LEAST_WEIGHT * total {
                largest = Real::max(largest, side * x);
                match side * x {
                    x if x < least => (least, weight) = (x, e),
                    x if x == least => weight += e,
                    _ => {}
                }
            }
        };
        consider(0.0, off);
        present(p, x, consider);
        let axis = Axis { side, extreme: side * least, spread: largest - least };
        let (mut mean, mut sum) = (off * axis.distance(0.0), off);
        present(p, x, |x, e| {
            mean += e * axis.distance(x);
            sum += e;
        });
        let log_weight = Real::ln(weight / sum);
        mean /= sum;
        // Computed in these terms, because the prediction may differ in its last bit and then be on the other side of
        // the minimum.
        let start = side * example.pull(axis.prediction(mean));
        let near = Central::length(0.5 * start * axis.spread).map(|length| {
            let central = Central::new(length, off / sum, axis.distance(0.0) - mean);
            central.with(x, |i, x| match p.entries.weight(i) {
                Some(e) if x != 0.0 => (e / sum, axis.distance(x) - mean),
                _ => (0.0, 0.0),
            })
        });
        Self { p, x, off, axis, log_weight, mean, total: sum, start, near }
    }

    /// As [`Family::at`], from the moments. `None` if k is too large.
    fn near(&self, k: f64) -> Option<Point> {
        // f is proportional to 1/(1 + r·(D − E_p D)).
        let r = -Real::exp_m1(-k) / self.mean;
        let spread = self.near.as_ref()?.at(r)?;
        Some(Point {
            q: Real::exp_m1(k) / self.mean,
            z: self.axis.prediction(self.mean + spread.shift),
            distance: 2.0 * Real::atan2(spread.deviation_f, spread.mean_f),
            deviation: self.axis.spread * spread.deviation,
            total: Real::ln(self.total * spread.mean_ff) - 2.0 * k,
        })
    }

    /// The distribution with k = ln(1 + q·E_p D).
    fn at(&self, k: f64) -> Point {
        if let Some(point) = self.near(k) {
            return point;
        }
        let q = Real::exp_m1(k) / self.mean;
        let off_distance = self.axis.distance(0.0);
        let off_f = 1.0 / (1.0 + q * off_distance);
        // Σ p f, Σ p f D, Σ p f², Σ p f² D.
        let (mut f_sum, mut fd_sum) = (self.off * off_f, self.off * off_f * off_distance);
        let (mut ff_sum, mut ffd_sum) = (f_sum * off_f, fd_sum * off_f);
        present(self.p, self.x, |x, e| {
            let distance = self.axis.distance(x);
            let f = 1.0 / (1.0 + q * distance);
            f_sum += e * f;
            fd_sum += e * f * distance;
            ff_sum += e * f * f;
            ffd_sum += e * f * f * distance;
        });
        // The variances of f under p, where f = 1 − q·fD, and of D under p', about their means.
        let (mean_f, mean_fd, mean) = (f_sum / self.total, fd_sum / self.total, ffd_sum / ff_sum);
        let near = k < 0.5;
        let deviation = |f: f64, distance: f64| {
            if near { q * (f * distance - mean_fd) } else { f - mean_f }
        };
        let square = |a: f64| a * a;
        let mut variance_f = self.off * square(deviation(off_f, off_distance));
        let mut variance = self.off * off_f * off_f * square(off_distance - mean);
        present(self.p, self.x, |x, e| {
            let distance = self.axis.distance(x);
            let f = 1.0 / (1.0 + q * distance);
            variance_f += e * square(deviation(f, distance));
            variance += e * f * f * square(distance - mean);
        });
        Point {
            q,
            z: self.axis.prediction(mean),
            distance: 2.0 * Real::atan2((variance_f / self.total).sqrt(), mean_f),
            deviation: self.axis.spread * (variance / ff_sum).sqrt(),
            total: Real::ln(ff_sum),
        }
    }

    /// Whether all features with weight have the same value. Then every distribution gives the same prediction.
    fn flat(&self) -> bool {
        !(self.mean > 0.0 && self.axis.spread > 0.0)
    }

    /// The root at the kink where the loss is smallest, if it is there.
    fn kink<L: Loss + ?Sized>(
        &self,
        example: &Example<'_, L>,
        start: f64,
        hi: f64,
    ) -> Option<Root> {
        let (z, below, above) = example.at_minimizer()?;
        if above - below < 0.5 * start {
            return None;
        }
        let mut miss = |k: f64| (self.at(k).z - z, f64::NAN);
        let root = solve::root(EQUATION, 0.0, hi, &mut miss).ok()?;
        let point = self.at(root.at);
        let pull = self.axis.side * point.distance / point.deviation;
        (below..=above).contains(&pull).then_some(root)
    }

    /// The solution k.
    fn solve<L: Loss + ?Sized>(&self, example: &Example<'_, L>) -> Result<Root, DomainError> {
        let start = self.start;
        if self.flat() || start <= 0.0 {
            return Ok(Root { at: 0.0, value: 0.0, evaluations: 1 });
        }
        let mut equation = |k: f64| {
            let point = self.at(k);
            let pull = self.axis.side * example.pull(point.z);
            (point.distance - pull * point.deviation, f64::NAN)
        };
        let strength = start * self.mean * self.axis.spread;
        // q stays below 1e300.
        let limit = 690.0 + Real::ln(self.mean);
        let hi = 21.0 + Real::ln(Real::max(strength, 1.0)) - 0.5 * self.log_weight;
        // The result of a short step: r = ½ηg·spread at most, if the distribution did not change.
        let first = match &self.near {
            Some(_) => -Real::ln_1p(-0.55 * start * self.axis.spread * self.mean),
            None => hi,
        };
        let hi = Real::min(hi, limit);
        let first = Real::min(first, hi);
        if example.loss.facts().convex {
            if let Some(root) = self.kink(example, start, hi) {
                return Ok(root);
            }
            solve::root_near(EQUATION, 0.0, first, limit, hi, &mut equation)
        } else {
            let u = |k: f64| {
                let point = self.at(k);
                point.distance * point.distance / (2.0 * example.rate) + example.value(point.z)
            };
            let hi = solve::end_near(0.0, hi, limit, 1.0, &mut equation);
            solve::least(EQUATION, 0.0, hi, CELLS, &mut equation, u)
        }
    }
}

/// Visits the nonzero features of the row, with their weights.
fn present<X: Row<f64>>(p: &Partitioned, x: X, mut visit: impl FnMut(f64, f64)) {
    x.each(|i, x| {
        if let Some(e) = p.entries.weight(i)
            && x != 0.0
        {
            visit(x, e);
        }
    });
}
