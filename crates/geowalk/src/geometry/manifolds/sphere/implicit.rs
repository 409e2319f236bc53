//! # Implicit steps on the sphere
//! With d the angle between w and x, the step rotates w by t in their plane, to the angle φ = d + t from x:
//! $$t - \frac{\eta \Vert x\Vert}{r} \sin\varphi\; g(r \Vert x\Vert \cos\varphi) = 0, \qquad
//!   w' = \Bigl(\cos t + \frac{u \sin t}{r\rho}\Bigr) w - \frac{r \sin t}{\rho}\, x, \qquad
//!   \rho^2 = \Vert x\Vert^2 - \frac{u^2}{r^2}$$
//! The root is between w and the nearest point of least loss, $\varphi^\star = \arccos(z_{min}/(r\Vert x\Vert))$.
//! **Unique** for every convex loss: $t/\sin\varphi$ increases with t, because $\tan\varphi > t$ up to the equator,
//! and g decreases. **Cost** O(nnz) once; an evaluation is O(1). **Care** At $w = \pm r x/\Vert x\Vert$ all directions
//! are equivalent, and the walk does not move: [`Event::Stationary`]. **Source** \[KMWW07, eq. (9)\]; \[KMWW07s, sec.
//! 4\].

use std::f64::consts::{FRAC_PI_2, PI};

use super::SphereForm;
use crate::Real;
use crate::error::DomainError;
use crate::geometry::Event;
use crate::learn::base::{self, Walk};
use crate::learn::implicit::{EQUATION, Example, Proximal, Solved};
use crate::learn::solve::{self, Root};
use crate::learn::{Chart, RowSummary, Steps};
use crate::loss::Loss;
use crate::row::Row;
use crate::update::Target;

/// Number of cells searched for losses that are not convex.
const CELLS: usize = 256;

impl Proximal for Steps<SphereForm> {
    fn proximal<X: Row<f64>, L: Loss + ?Sized>(
        &mut self,
        x: X,
        target: Target,
        loss: &L,
        rate: f64,
    ) -> Result<Solved, DomainError> {
        self.grow(x.bound());
        let RowSummary { z, size: square } = self.chart.look(x);
        let mut round = base::judge(z, target, loss, rate)?;
        base::length(square)?;
        let (u, r) = (round.z, self.form.radius);
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
        // Here ‖x‖² − u²/r² has lost digits.
        let nearly_aligned = across < 1e-4 * square;
        let across = across.sqrt();
        let plane = Plane { u, across, r, norm: square.sqrt(), d: Real::atan2(across, u / r) };
        let example = Example { loss, target, rate };
        let root = plane.turn(&example)?;
        let t = root.at;
        let end = plane.d + t;
        if nearly_aligned && t.abs() > 0.1 * across / plane.norm {
            // First rotate to the equator, or to its equivalent, where all digits are known.
            self.rotate(x, u, across, FRAC_PI_2 - plane.d);
            let u = self.predict(x);
            let across = Real::max(square - u * u / (r * r), 0.0).sqrt();
            self.rotate(x, u, across, end - Real::atan2(across, u / r));
        } else {
            self.rotate(x, u, across, t);
        }
        round.length = r * t.abs();
        // At a kink, take the slope that satisfies the equation; otherwise that of the loss.
        let slope = if root.value.abs() > 1e-9 * (1.0 + t.abs()) {
            r * t / (rate * plane.norm * Real::sin(plane.d + t))
        } else {
            example.pull(plane.predict(t)) / rate
        };
        Ok(Solved { round, slope, evaluations: root.evaluations })
    }
}

impl Steps<SphereForm> {
    /// Rotates w away from x by t.
    fn rotate<X: Row<f64>>(&mut self, x: X, u: f64, across: f64, t: f64) {
        let (r, (sin, cos)) = (self.form.radius, Real::sin_cos(t));
        self.chart.blend(cos + u * sin / (r * across), x, -r * sin / across);
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
    /// The prediction after a rotation by t.
    fn predict(self, t: f64) -> f64 {
        let (sin, cos) = Real::sin_cos(t);
        self.u * cos - self.r * self.across * sin
    }

    /// The solution t.
    fn turn<L: Loss + ?Sized>(self, example: &Example<'_, L>) -> Result<Root, DomainError> {
        let (d, reach) = (self.d, self.r * self.norm);
        let c = self.norm / self.r;
        // Beyond ±x, where the sine is 0, the loss cannot decrease further.
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
        // The rotation to the kink of the loss, if the required slope is between those on its two sides.
        if let Some((_, below, above)) = example.at_minimizer()
            && convex
            && (below..=above).contains(&(hi / (c * Real::sin(d + hi))))
        {
            return Ok(Root { at: hi, value: equation(hi).0, evaluations: 2 });
        }
        if convex {
            solve::root_near(EQUATION, 0.0, hi, limit, f64::EPSILON, &mut equation)
        } else {
            let hi = solve::end_near(0.0, hi, limit, f64::EPSILON, &mut equation);
            let u = |t: f64| {
                let length = self.r * t;
                length * length / (2.0 * example.rate) + example.value(self.predict(t))
            };
            solve::least(EQUATION, 0.0, hi, CELLS, &mut equation, u)
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::loss::Squared;
    use crate::row::Dense;
    use crate::walk::{Implicit, Sphere};

    /// A walk on the unit circle, at the angle d from the first axis.
    fn at(d: f64) -> Implicit<Sphere> {
        let mut sphere = Sphere::new(1.0, 0).unwrap();
        let (sin, cos) = Real::sin_cos(d);
        let state = |name| match name {
            "v" => Some(vec![cos, sin]),
            "factors" => Some(vec![1.0, 0.0]),
            _ => Some(vec![1.0, 0.0, 0.0]),
        };
        sphere.load_state(&mut { state }).unwrap();
        Implicit::new(sphere)
    }

    #[test]
    fn from_a_millionth_of_a_turn_to_the_far_side() {
        // ‖x‖² − u² keeps four digits of d here. y = −2 cannot be reached: the step ends near −x.
        for (d, y) in [(1e-6, 0.0), (1e-6, -2.0), (PI - 1e-6, 2.0), (1e-7, 0.3), (1e-3, -0.5)] {
            for rate in [0.3, 10.0, 316.0] {
                let mut walk = at(d);
                let round = walk.step(Dense(&[1.0, 0.0]), f64::into(y), &Squared, rate).unwrap();
                let mut w = Vec::new();
                walk.read(&mut w);
                let phi = Real::atan2(w[1], w[0]);
                let residual = phi - d - rate * Real::sin(phi) * 2.0 * (Real::cos(phi) - y);
                assert!(residual.abs() < 1e-8, "{d} {y} {rate}: {residual:e} {w:?}");
                assert!((phi - d - round.length.copysign(phi - d)).abs() < 1e-9, "{d} {y} {rate}");
            }
        }
    }

    #[test]
    fn aligned_it_stays_and_says_so() {
        let round = at(0.0).step(Dense(&[2.0, 0.0]), 0.0.into(), &Squared, 1.0).unwrap();
        assert_eq!((round.event, round.length), (Event::Stationary, 0.0));
    }
}
