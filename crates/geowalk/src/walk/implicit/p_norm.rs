//! # Implicit p-norm steps
//! $$\theta' = \theta - \kappa x, \qquad \kappa = \eta\, g(z(\kappa)), \qquad
//!   z(\kappa) = \frac{1}{\Vert\theta'\Vert_p^{p-2}} \sum_i x_i\, \mathrm{sign}(\theta_i') |\theta_i'|^{p-1}$$
//! The minimiser of $\tfrac1\eta D_\psi(w' \Vert w) + L(w')$ with $\psi = \tfrac12\Vert w\Vert_q^2$: unique for every convex loss.
//! **Cost** O(nnz) per evaluation, one power per coordinate of the row: $\sum|\theta_i|^p$ off the row is found by difference, and anew in O(n) when that
//! is too coarse. **Source** \[GLS01\] with the loss at the weights after.

use super::{Example, Proximal, Solved, multiplier};
use crate::Real;
use crate::error::DomainError;
use crate::loss::Loss;
use crate::row::Row;
use crate::update::Target;
use crate::walk::solve::Root;
use crate::walk::{self, PNorm, Walk};

/// The error of a difference of masses, relative to the larger.
const SLIP: f64 = 2e-13;

/// How much of the mass after a step may be error.
const TOLERANCE: f64 = 1e-11;

impl Proximal for PNorm {
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
        if rate == 0.0 || round.slope == 0.0 || largest == 0.0 {
            return Ok(Solved::stay(round));
        }
        let example = Example { loss, target, rate };
        let off = self.off(x);
        let mut root = self.solve(&example, off, x)?;
        let slip = self.reference * Real::powf(SLIP * self.mass.value(), 1.0 / self.p);
        // Masses are powers of norms: the comparison is made without leaving the range of floats.
        let after = self.shifted(off, x, root.at).norm;
        if off > 0.0 && self.p * Real::ln(slip / after) > Real::ln(TOLERANCE) {
            let evaluations = root.evaluations + 1;
            let off = self.off_anew(x);
            root = self.solve(&example, off, x)?;
            root.evaluations += evaluations;
        }
        walk::length(root.at.abs() * largest)?;
        if root.at != 0.0 {
            round.length = (2.0 * self.advance(-root.at, x, round.z)).sqrt();
        }
        Ok(Solved { round, slope: root.at / rate, evaluations: root.evaluations })
    }
}

/// What becomes of the prediction.
struct Shifted {
    z: f64,
    slope: f64,
    /// ‖θ'‖_p.
    norm: f64,
}

impl PNorm {
    /// ‖θ‖_p of the features that the row does not have, by difference.
    fn off<X: Row<f64>>(&self, x: X) -> f64 {
        let (mut on, mut seen) = (0.0, 0);
        x.each(|i, x| {
            if let (Some(theta), Some(power)) = (self.theta.get(i), self.power.get(i))
                && x != 0.0
            {
                if self.reference > 0.0 {
                    on += theta.abs() / self.reference * power.abs();
                }
                seen += 1;
            }
        });
        if seen >= self.theta.len() || self.reference == 0.0 {
            return 0.0;
        }
        // Something positive where there may be something: what it is worth is checked after the step.
        let mass = self.mass.value();
        self.reference * Real::powf((mass - on).max(SLIP * mass), 1.0 / self.p)
    }

    /// The same, summed anew. O(n).
    #[cold]
    fn off_anew<X: Row<f64>>(&mut self, x: X) -> f64 {
        x.each(|i, x| {
            if let Some(power) = self.power.get_mut(i)
                && x != 0.0
            {
                *power = f64::NAN;
            }
        });
        let off = self.theta.iter().zip(&self.power).filter(|(_, power)| !power.is_nan());
        let top = off.clone().fold(0.0_f64, |top, (theta, _)| top.max(theta.abs()));
        let p = self.p;
        let mass: f64 = off.map(|(theta, _)| Real::powf(theta.abs() / top, p)).sum();
        x.each(|i, _| {
            if let (Some(&theta), Some(power)) = (self.theta.get(i), self.power.get_mut(i)) {
                *power = if self.reference > 0.0 {
                    Self::powers(p, theta, self.reference).0
                } else {
                    0.0
                };
            }
        });
        if top > 0.0 { top * Real::powf(mass, 1.0 / p) } else { 0.0 }
    }

    fn solve<X: Row<f64>, L: Loss + ?Sized>(
        &self,
        example: &Example<'_, L>,
        off: f64,
        x: X,
    ) -> Result<Root, DomainError> {
        multiplier(example, f64::MAX, &mut |kappa| {
            let Shifted { z, slope, .. } = self.shifted(off, x, kappa);
            (z, slope)
        })
    }

    /// The prediction at θ − κx, where `off` is the norm of the features that the row does not have.
    fn shifted<X: Row<f64>>(&self, off: f64, x: X, kappa: f64) -> Shifted {
        let p = self.p;
        let mut top = off;
        x.each(|i, x| {
            if let Some(&theta) = self.theta.get(i)
                && x != 0.0
            {
                top = Real::max(top, (theta - kappa * x).abs());
            }
        });
        if top == 0.0 {
            return Shifted { z: 0.0, slope: f64::NAN, norm: 0.0 };
        }
        let (mut mass, mut first, mut second) = (Real::powf(off / top, p), 0.0, 0.0);
        x.each(|i, x| {
            if let Some(&theta) = self.theta.get(i)
                && x != 0.0
            {
                let r = (theta - kappa * x) / top;
                // |r|^{p−2}; for p = 2 it is 1 also at 0.
                let power = if p == 2.0 { 1.0 } else { Real::powf(r.abs(), p - 2.0) };
                mass += power * r * r;
                first += power * r * x;
                second += power * x * x;
            }
        });
        // w' = top·mass^{(2−p)/p}·r|r|^{p−2}.
        let lift = Real::powf(mass, (2.0 - p) / p);
        let ratio = Real::powf(mass, -1.0 / p) * lift * first;
        let slope = (p - 2.0) * ratio * ratio - (p - 1.0) * lift * second;
        Shifted { z: top * lift * first, slope, norm: top * Real::powf(mass, 1.0 / p) }
    }
}
