//! # Implicit steps on the sphere
//! With d the angle between w and x, the step turns w by t in their plane, to the angle φ = d + t from x:
//! $$t - \frac{\eta \Vert x\Vert}{r} \sin\varphi\; g(r \Vert x\Vert \cos\varphi) = 0, \qquad
//!   w' = \Bigl(\cos t + \frac{u \sin t}{r\rho}\Bigr) w - \frac{r \sin t}{\rho}\, x, \qquad \rho^2 = \Vert x\Vert^2 - \frac{u^2}{r^2}$$
//! The root lies between w and the nearest point of least loss, $\varphi^\star = \arccos(z_{min}/(r\Vert x\Vert))$.
//! **Unique** for every convex loss: $t/\sin\varphi$ increases with t, since $\tan\varphi > t$ up to the equator, and g falls.
//! **Cost** O(nnz) once; an evaluation is O(1). **Care** at $w = \pm r x/\Vert x\Vert$ no direction is better than another: the walk
//! stays, [`Event::Stationary`]. **Source** \[KMWW07, eq. (9)\]; \[KMWW07s, sec. 4\].

use std::f64::consts::PI;

use super::{EQUATION, Example, Proximal, Solved};
use crate::Real;
use crate::error::DomainError;
use crate::geometry::Event;
use crate::loss::Loss;
use crate::row::Row;
use crate::update::Target;
use crate::walk::solve;
use crate::walk::{self, Sphere, Walk};

/// Cells of the search for losses that are not convex.
const CELLS: usize = 256;

impl Proximal for Sphere {
    fn proximal<X: Row<f64>, L: Loss + ?Sized>(
        &mut self,
        x: X,
        target: Target,
        loss: &L,
        rate: f64,
    ) -> Result<Solved, DomainError> {
        self.grow(x.bound());
        let (mut inner, mut square) = (0.0, 0.0);
        let v = &self.w.v;
        x.each(|i, x| {
            if let Some(&v) = v.get(i) {
                inner += v * x;
                square += x * x;
            }
        });
        let mut round = walk::judge(self.w.c * inner, target, loss, rate)?;
        walk::length(square)?;
        let (u, r) = (round.z, self.radius);
        let across = square - u * u / (r * r);
        if across <= 4.0 * f64::EPSILON * square || round.slope == 0.0 {
            if square > 0.0 && round.loss > 0.0 {
                round.event = Event::Stationary;
            }
            return Ok(Solved::stay(round));
        }
        if rate == 0.0 {
            return Ok(Solved::stay(round));
        }
        let across = across.sqrt();
        let plane = Plane { u, across, r, norm: square.sqrt(), d: Real::atan2(across, u / r) };
        let example = Example { loss, target, rate };
        let (t, evaluations) = plane.turn(&example)?;
        let (sin, cos) = Real::sin_cos(t);
        self.w.blend(cos + u * sin / (r * across), x, -r * sin / across);
        self.normalize();
        round.length = r * t.abs();
        let slope = plane.slope(t, &example);
        Ok(Solved { round, slope, evaluations })
    }
}

/// The plane of w and x.
#[derive(Debug, Clone, Copy)]
struct Plane {
    u: f64,
    /// ρ.
    across: f64,
    r: f64,
    /// ‖x‖.
    norm: f64,
    /// The angle between w and x.
    d: f64,
}

impl Plane {
    /// The prediction after a turn by t.
    fn predict(self, t: f64) -> f64 {
        let (sin, cos) = Real::sin_cos(t);
        self.u * cos - self.r * self.across * sin
    }

    /// t, and how many evaluations it took.
    fn turn<L: Loss + ?Sized>(self, example: &Example<'_, L>) -> Result<(f64, usize), DomainError> {
        let (d, reach) = (self.d, self.r * self.norm);
        let c = self.norm / self.r;
        // Beyond ±x, where the sine is 0, there is nothing to gain.
        let limit = if example.pull(self.u) > 0.0 { PI - d } else { -d };
        let mut equation = |t: f64| {
            if t == limit {
                return (t, f64::NAN);
            }
            let (sin, cos) = Real::sin_cos(d + t);
            let z = self.predict(t);
            let pull = example.pull(z);
            let slope = 1.0 - c * (cos * pull - reach * sin * sin * example.stiffness(z));
            (t - c * sin * pull, slope)
        };
        let best = Real::acos(Real::clamp(example.minimizer() / reach, -1.0, 1.0)) - d;
        // Rounding may put the point of least loss behind w.
        let hi = if best * limit > 0.0 { best } else { 0.0 };
        let convex = example.loss.facts().convex;
        // The turn to the kink of the loss, if the slopes on its two sides have the right one between them.
        if let Some((_, below, above)) = example.at_minimizer()
            && convex
            && (below..=above).contains(&(hi / (c * Real::sin(d + hi))))
        {
            return Ok((hi, 1));
        }
        let root = if convex {
            solve::root_near(EQUATION, 0.0, hi, limit, f64::EPSILON, &mut equation)?
        } else {
            let hi = solve::end_near(0.0, hi, limit, f64::EPSILON, &mut equation);
            let u = |t: f64| {
                let length = self.r * t;
                length * length / (2.0 * example.rate) + example.value(self.predict(t))
            };
            solve::least(EQUATION, 0.0, hi, CELLS, &mut equation, u)?
        };
        Ok((root.at, root.evaluations))
    }

    /// The slope that makes the equation true.
    fn slope<L: Loss + ?Sized>(self, t: f64, example: &Example<'_, L>) -> f64 {
        let sin = Real::sin(self.d + t);
        if sin.abs() < 1e-12 {
            example.pull(self.predict(t)) / example.rate
        } else {
            self.r * t / (example.rate * self.norm * sin)
        }
    }
}
