//! # Implicit gradient descent
//! $$w' = w - \kappa x, \qquad \kappa = \eta\, g(u - \kappa \Vert x \Vert^2)$$
//! In closed form for losses of constant curvature c, $\kappa = \eta g(u)/(1 + \eta c \Vert x\Vert^2)$, and where the step ends on the kink of the
//! loss, $\kappa = (u - z_{min})/\Vert x\Vert^2$, or before it, $\kappa = \eta g(u)$: absolute and hinge loss, the passive-aggressive step.
//! **Cost** O(nnz) once; an evaluation is O(1). **Source** \[KMWW07, eq. (9)\]; \[CDKSS06\] for the hinge.

use super::{EQUATION, Example, Proximal, Solved};
use crate::error::DomainError;
use crate::loss::Loss;
use crate::row::Row;
use crate::update::Target;
use crate::walk::solve::{self, Root};
use crate::walk::{self, Euclidean, Walk};

impl Proximal for Euclidean {
    fn proximal<X: Row<f64>, L: Loss + ?Sized>(
        &mut self,
        x: X,
        target: Target,
        loss: &L,
        rate: f64,
    ) -> Result<Solved, DomainError> {
        self.grow(x.bound());
        let (mut u, mut square) = (0.0, 0.0);
        let w = &self.w;
        x.each(|i, x| {
            if let Some(&w) = w.get(i) {
                u += w * x;
                square += x * x;
            }
        });
        let mut round = walk::judge(u, target, loss, rate)?;
        walk::length(square)?;
        if rate == 0.0 || round.slope == 0.0 || square == 0.0 {
            return Ok(Solved::stay(round));
        }
        let example = Example { loss, target, rate };
        let root = match closed(&example, u, square) {
            Some(at) => Root { at, value: 0.0, evaluations: 1 },
            None => general(&example, u, square)?,
        };
        round.length = walk::length(root.at.abs() * square.sqrt())?;
        x.axpy(-root.at, &mut self.w);
        Ok(Solved { round, slope: root.at / rate, evaluations: root.evaluations })
    }
}

/// κ where there is a formula for it.
fn closed<L: Loss + ?Sized>(example: &Example<'_, L>, u: f64, square: f64) -> Option<f64> {
    let pull = example.pull(u);
    let facts = example.loss.facts();
    if facts.smooth == Some(facts.strong) {
        return Some(pull / (1.0 + example.stiffness(u) * square));
    }
    if example.pull(u - pull * square) == pull {
        return Some(pull);
    }
    let (z, below, above) = example.at_minimizer()?;
    let at = (u - z) / square;
    (below..=above).contains(&at).then_some(at)
}

/// κ for any convex loss.
fn general<L: Loss + ?Sized>(
    example: &Example<'_, L>,
    u: f64,
    square: f64,
) -> Result<Root, DomainError> {
    let hi = example.pull(u);
    let mut equation = |kappa: f64| {
        let z = u - kappa * square;
        (kappa - example.pull(z), 1.0 + example.stiffness(z) * square)
    };
    solve::root_near(EQUATION, 0.0, hi, f64::MAX.copysign(hi), hi.abs(), &mut equation)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::loss::{Absolute, AnyLoss, Hinge, Squared};
    use crate::row::Dense;
    use crate::walk::Implicit;

    #[test]
    fn closed_forms_are_what_the_solver_finds() {
        let losses = ["squared", "absolute", "hinge", "quantile(tau=0.9)", "huber(delta=0.3)"];
        let mut closed_ones = 0;
        for loss in losses.map(|name| AnyLoss::parse(name).unwrap()) {
            for y in [-1.0, 1.0] {
                for (k, rate) in [1e-9, 0.01, 0.3, 1.0, 7.0, 316.0, 1e20].into_iter().enumerate() {
                    for u in [-3.0, -0.99, 0.2, 1.0 + 1e-9, 4.0 + k as f64] {
                        let example = Example { loss: &loss, target: y.into(), rate };
                        let Some(closed) = closed(&example, u, 1.7) else { continue };
                        closed_ones += 1;
                        let general = general(&example, u, 1.7).unwrap();
                        // Relative to the step, or to what rounding of the prediction makes of it.
                        let tolerance = 1e-14 * closed.abs() + 4.0 * f64::EPSILON * u.abs() / 1.7;
                        assert!((closed - general.at).abs() <= tolerance, "{loss:?} {rate} {u}");
                    }
                }
            }
        }
        assert!(closed_ones > 250, "{closed_ones}");
    }

    #[test]
    fn the_formulas_of_three_losses() {
        let x = [1.0, -2.0];
        let mut walk = Implicit::new(Euclidean::new());
        // Squared: κ = 2η(u − y)/(1 + 2η‖x‖²).
        walk.step(Dense(&x), 3.0.into(), &Squared, 0.1).unwrap();
        assert!((walk.predict(Dense(&x)) - 5.0 * 0.6 / 2.0).abs() < 1e-15);
        // Absolute: η, or what is left.
        walk.step(Dense(&x), 3.0.into(), &Absolute, 0.1).unwrap();
        assert!((walk.predict(Dense(&x)) - 2.0).abs() < 1e-15);
        walk.step(Dense(&x), 3.0.into(), &Absolute, 50.0).unwrap();
        assert!((walk.predict(Dense(&x)) - 3.0).abs() < 1e-15);
        let after = walk.after().unwrap();
        assert!((after.slope + 0.2 / 50.0).abs() < 1e-15, "a slope between −1 and 1");
        // Hinge: the passive-aggressive step.
        walk.step(Dense(&x), (-1.0).into(), &Hinge, 50.0).unwrap();
        assert!((walk.predict(Dense(&x)) + 1.0).abs() < 1e-14);
        let round = walk.step(Dense(&x), (-1.0).into(), &Hinge, 50.0).unwrap();
        assert!(round.length < 1e-14);
    }
}
