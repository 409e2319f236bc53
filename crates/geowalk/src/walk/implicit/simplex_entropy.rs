//! # Implicit EG
//! $$w_i' \propto w_i\, e^{-\kappa x_i}, \qquad \kappa = \eta\, g(z(\kappa)), \qquad z'(\kappa) = -\mathrm{Var}_{w'}(x)$$
//! The minimiser of $\tfrac1\eta \mathrm{KL}(w' \Vert w) + L(w')$ on the simplex: unique for every convex loss.
//! **Cost** O(nnz) per evaluation, one exponential per coordinate of the row; for short steps a [series](super::series) once. **Care** logarithms of factors are cut at −10⁴, relative to
//! the largest, and reported. **Source** \[AW20, eq. (3)\] with the loss at the weights after.

use super::series::{self, EXPONENTIAL, LONG, SHORT};
use super::{Example, Proximal, Solved, multiplier};
use crate::Real;
use crate::error::DomainError;
use crate::geometry::Event;
use crate::loss::Loss;
use crate::row::Row;
use crate::update::Target;
use crate::walk::implicit::mass::Off;
use crate::walk::partition::Partition;
use crate::walk::solve::Root;
use crate::walk::{self, SimplexEntropy, Walk};

impl Proximal for SimplexEntropy {
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
        if rate == 0.0 || round.slope == 0.0 || self.w.features() == 0 {
            return Ok(Solved::stay(round));
        }
        let example = Example { loss, target, rate };
        let off = self.w.off(x);
        let reach = (rate * round.slope).abs();
        let (mut root, total) = solve(&example, &self.w, off, reach, largest, x)?;
        if off.too_coarse(0.0, total) {
            let off = self.w.off_anew(x);
            let evaluations = root.evaluations + 1;
            root = solve(&example, &self.w, off, reach, largest, x)?.0;
            root.evaluations += evaluations;
        }
        let kappa = root.at;
        if kappa != 0.0 {
            let extreme = extreme(x, kappa, off.any);
            let moved = self.w.shrink(x, kappa * extreme, |x| -kappa * (x - extreme));
            round.length = (2.0 * moved.divergence).sqrt();
            if moved.clamped > 0 {
                round.event = Event::Clamped { coordinates: moved.clamped };
            }
        }
        Ok(Solved { round, slope: kappa / rate, evaluations: root.evaluations })
    }
}

/// The least x_i, or the largest where κ < 0: that of the largest factor. Features off the row have 0.
fn extreme<X: Row<f64>>(x: X, kappa: f64, any_off: bool) -> f64 {
    let sign = f64::copysign(1.0, kappa);
    let mut least = if any_off { 0.0 } else { f64::INFINITY };
    x.each(|_, x| {
        if x != 0.0 {
            least = Real::min(least, sign * x);
        }
    });
    sign * least
}

/// κ, and the total of the distribution there.
fn solve<X: Row<f64>, L: Loss + ?Sized>(
    example: &Example<'_, L>,
    w: &Partition,
    off: Off,
    reach: f64,
    largest: f64,
    x: X,
) -> Result<(Root, f64), DomainError> {
    let near = Near::new(w, off, reach, largest, x);
    let tilted = |kappa: f64| near.at(kappa).unwrap_or_else(|| tilt(w, off, x, kappa));
    let root = multiplier(example, f64::MAX, &mut |kappa| {
        let Tilted { z, variance, .. } = tilted(kappa);
        (z, -variance)
    })?;
    Ok((root, tilted(root.at).total))
}

/// Σ e_i x_i^k, for the distributions with |κ| up to `reach`.
struct Near {
    moments: [f64; LONG + 2],
    length: usize,
    reach: f64,
}

impl Near {
    fn new<X: Row<f64>>(w: &Partition, off: Off, reach: f64, largest: f64, x: X) -> Self {
        let mut near = Self { moments: [0.0; LONG + 2], length: 0, reach: -1.0 };
        // Features with x_i = 0 are off the row.
        let term = |i, x| (if x == 0.0 { 0.0 } else { w.entries.weight(i).unwrap_or(0.0) }, x);
        if let Some(length) = EXPONENTIAL.length(reach * largest) {
            if length == SHORT {
                const MOMENTS: usize = SHORT + 2;
                near.moments[..MOMENTS].copy_from_slice(&series::moments::<MOMENTS, X>(x, term));
            } else {
                near.moments = series::moments(x, term);
            }
            near.moments[0] += Real::exp(off.log);
            (near.length, near.reach) = (length, reach);
        }
        near
    }

    fn at(&self, kappa: f64) -> Option<Tilted> {
        if kappa.abs() > self.reach {
            return None;
        }
        let [sum, first, second] = [0, 1, 2]
            .map(|k| EXPONENTIAL.sum(self.moments.get(k..k + self.length).unwrap_or(&[]), kappa).0);
        Some(Tilted::new(sum, first, second, 0.0))
    }
}

/// The distribution w_i e^{−κx_i}/Σ.
struct Tilted {
    z: f64,
    variance: f64,
    /// ln Σ w_i e^{−κx_i}, on the scale of λ.
    total: f64,
}

impl Tilted {
    /// From Σ w e^{−κx}, Σ w x e^{−κx}, Σ w x² e^{−κx}, all divided by e^`top`.
    fn new(sum: f64, first: f64, second: f64, top: f64) -> Self {
        let z = first / sum;
        Self { z, variance: Real::max(second / sum - z * z, 0.0), total: top + Real::ln(sum) }
    }
}

fn tilt<X: Row<f64>>(w: &Partition, off: Off, x: X, kappa: f64) -> Tilted {
    let mut top = off.log;
    x.each(|i, x| {
        if let Some(lambda) = w.entries.logarithm(i)
            && x != 0.0
        {
            top = Real::max(top, lambda - kappa * x);
        }
    });
    let (mut sum, mut first, mut second) = (Real::exp(off.log - top), 0.0, 0.0);
    x.each(|i, x| {
        if let Some(lambda) = w.entries.logarithm(i)
            && x != 0.0
        {
            let weight = Real::exp(lambda - kappa * x - top);
            sum += weight;
            first += weight * x;
            second += weight * x * x;
        }
    });
    Tilted::new(sum, first, second, top)
}
