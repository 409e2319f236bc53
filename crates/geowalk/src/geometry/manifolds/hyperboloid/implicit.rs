//! # Implicit steps in hyperbolic space
//! All features are spatial, so the row is spacelike, of length $m = \Vert x\Vert$. With $u = m \sinh a$, the step
//! goes a distance t along the geodesic orthogonal to the sets of equal prediction:
//! $$t + \eta\, g(z)\, z'(t) = 0, \qquad z(t) = m \sinh(a + t), \qquad
//!   w_s' = \Bigl(\cosh t + \frac{u}{\nu}\sinh t\Bigr) w_s + \frac{\sinh t}{\nu}\, x, \qquad \nu^2 = m^2 + u^2$$
//! The root is before the nearest point of least loss, $t = \mathrm{arsinh}(z_{min}/m) - a$, and within
//! $|t| \le \sqrt{2\eta L}$.
//!
//! **Unique** for convex losses while $t/z'(t)$ increases, that is up to $t \tanh(a + t) = 1$. Also unique if the
//! prediction moves towards 0 without passing it, because the loss is then convex along the geodesic. Otherwise there
//! may be three roots, and 256 cells are searched. **Cost** O(nnz) once; an evaluation is O(1). **Care** Steps longer
//! than 350 are refused. **Source** \[KMWW07, eq. (9)\] with the Lorentz metric of \[NK17\].

use super::{HyperbolicForm, LONGEST};
use crate::Real;
use crate::error::DomainError;
use crate::learn::base::{self, Walk};
use crate::learn::implicit::{EQUATION, Example, Proximal, Solved};
use crate::learn::solve::{self, Root};
use crate::learn::{Chart, RowSummary, Steps};
use crate::loss::Loss;
use crate::row::Row;
use crate::update::Target;

const CELLS: usize = 256;

impl Proximal for Steps<HyperbolicForm> {
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
        if rate == 0.0 || round.slope == 0.0 || square == 0.0 {
            return Ok(Solved::stay(round));
        }
        let (u, m) = (round.z, square.sqrt());
        let example = Example { loss, target, rate };
        let root = along(&example, m, Real::asinh(u / m))?;
        let t = root.at;
        let nu = Real::hypot(u, m);
        let b = Real::sinh(t) / nu;
        let a = Real::cosh(t) + u * b;
        base::length(a.abs() * self.chart.norm2().sqrt() + b.abs() * m)?;
        self.chart.blend(a, x, b);
        round.length = t.abs();
        let slope = -t / (rate * m * Real::cosh(Real::asinh(u / m) + t));
        Ok(Solved { round, slope, evaluations: root.evaluations })
    }
}

/// t for a start at z = m sinh a.
fn along<L: Loss + ?Sized>(example: &Example<'_, L>, m: f64, a: f64) -> Result<Root, DomainError> {
    let predict = |t: f64| m * Real::sinh(a + t);
    let mut equation = |t: f64| {
        let (z, speed) = (predict(t), m * Real::cosh(a + t));
        let pull = example.pull(z);
        (t + pull * speed, 1.0 + example.stiffness(z) * speed * speed + pull * z)
    };
    let from = predict(0.0);
    let start = example.pull(from);
    if start == 0.0 {
        return Ok(Root { at: 0.0, value: 0.0, evaluations: 0 });
    }
    let direction = -f64::copysign(1.0, start);
    let least = example.minimizer();
    let to_least = direction * (Real::asinh(least / m) - a);
    let most = (2.0 * example.rate * example.value(from)).sqrt();
    let reach = Real::min(to_least.max(0.0), most.min(LONGEST));
    let (hi, limit) = (direction * reach, direction * LONGEST);
    let increasing = least * direction <= 0.0 || hi * Real::tanh(a + hi) <= 1.0;
    let monotone = example.loss.facts().convex && increasing;
    // The distance to the kink of the loss, if the required slope is between those on its two sides.
    if let Some((_, below, above)) = example.at_minimizer()
        && monotone
        && (below..=above)
            .contains(&(-direction * to_least / (m * Real::cosh(a + direction * to_least))))
    {
        return Ok(Root { at: direction * to_least, value: 0.0, evaluations: 1 });
    }
    let root = if monotone {
        solve::root_near(EQUATION, 0.0, hi, limit, f64::EPSILON * (1.0 + a.abs()), &mut equation)
    } else {
        let u = |t: f64| t * t / (2.0 * example.rate) + example.value(predict(t));
        let hi = solve::end_near(0.0, hi, limit, f64::EPSILON * (1.0 + a.abs()), &mut equation);
        solve::least(EQUATION, 0.0, hi, CELLS, &mut equation, u)
    };
    match root {
        Err(DomainError::NoRoot { hi, .. }) if hi == limit => {
            Err(DomainError::Overflow { length: most, limit: LONGEST })
        }
        root => root,
    }
}
