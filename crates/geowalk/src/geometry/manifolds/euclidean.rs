//! # Euclidean space
//! $$\exp_p(v) = p + v, \qquad d(p, q) = \Vert p - q \Vert_2$$
//! **Cost** O(n). **Care** none. **Source** \[KMWW07, sec. 2\]; curvature 0.

pub(crate) mod theorems;

use crate::Real;
use crate::error::Allowed;
use crate::error::{self, ConfigError, DomainError};
use crate::geometry::mean::{self, Mean};
use crate::geometry::{Curvature, ExpLog, Manifold, Step, Work};
use crate::learn::base;
use crate::learn::implicit::{Curve, Example};
use crate::learn::{Coordinate, Plain, RowSummary, Shift, SparseForm, Steps};
use crate::loss::Loss;
use crate::row::Norm;
use crate::row::Row;
use crate::update::Round;

/// $\mathbb{R}^n$ with the usual metric.
///
/// ```
/// use geowalk::geometry::{ExpLog, Work, manifolds::Euclidean};
/// let plane = Euclidean::new(2)?;
/// let mut p = [1.0, 2.0];
/// let step = plane.exp(&mut p, &[3.0, 4.0], 2.0, &mut Work::new())?;
/// assert_eq!((p, step.length), ([7.0, 10.0], 10.0));
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Debug, Clone, PartialEq)]
pub struct Euclidean {
    n: usize,
}

impl Euclidean {
    /// $\mathbb{R}^n$, n ≥ 1.
    pub fn new(n: usize) -> Result<Self, ConfigError> {
        error::parameter("n", n as f64, error::Allowed::Whole(1))?;
        Ok(Self { n })
    }
}

impl<F: Real> Manifold<F> for Euclidean {
    fn ambient(&self) -> usize {
        self.n
    }

    fn dim(&self) -> usize {
        self.n
    }

    fn check(&self, p: &[F]) -> Result<(), DomainError> {
        error::finite("the point", p, self.n)
    }

    fn check_tangent(&self, _: &[F], v: &[F]) -> Result<(), DomainError> {
        error::finite("the tangent vector", v, self.n)
    }

    fn origin(&self, p: &mut [F]) {
        p.fill(F::ZERO);
    }

    fn project(&self, _: &[F], _: &mut [F]) {}

    fn inner(&self, _: &[F], u: &[F], v: &[F], _: &mut Work<F>) -> F {
        u.iter().zip(v).map(|(&a, &b)| a * b).sum()
    }

    fn norm(&self, _: &[F], v: &[F], _: &mut Work<F>) -> F {
        Norm::L2.of(v)
    }

    fn gradient(&self, _: &[F], covector: &[F], v: &mut [F], _: &mut Work<F>) {
        for (v, &g) in v.iter_mut().zip(covector) {
            *v = g;
        }
    }

    fn retract(
        &self,
        p: &mut [F],
        v: &[F],
        t: F,
        work: &mut Work<F>,
    ) -> Result<Step<F>, DomainError> {
        self.exp(p, v, t, work)
    }
}

impl<F: Real> ExpLog<F> for Euclidean {
    fn curvature(&self) -> Curvature {
        Curvature::FLAT
    }

    fn injectivity(&self, _: &[F]) -> F {
        F::INFINITY
    }

    fn exp(&self, p: &mut [F], v: &[F], t: F, work: &mut Work<F>) -> Result<Step<F>, DomainError> {
        let length = t.abs() * self.norm(p, v, work);
        let end = |(&p, &v): (&F, &F)| p + t * v;
        if !length.is_finite() || !p.iter().zip(v).map(end).all(F::is_finite) {
            return Err(DomainError::Overflow { length: length.f64(), limit: F::MAX.f64() });
        }
        for (p, &v) in p.iter_mut().zip(v) {
            *p += t * v;
        }
        Ok(Step::inside(length))
    }

    fn log(&self, p: &[F], q: &[F], v: &mut [F], _: &mut Work<F>) -> Result<(), DomainError> {
        for ((v, &q), &p) in v.iter_mut().zip(q).zip(p) {
            *v = q - p;
        }
        Ok(())
    }

    fn distance(&self, p: &[F], q: &[F], work: &mut Work<F>) -> F {
        let [v] = work.take(p.len().min(q.len()));
        for ((v, &q), &p) in v.iter_mut().zip(q).zip(p) {
            *v = q - p;
        }
        Norm::L2.of(v)
    }

    fn transport(&self, _: &[F], _: &[F], _: &mut [F], _: &mut Work<F>) -> Result<(), DomainError> {
        Ok(())
    }

    fn mean(
        &self,
        points: &[F],
        weights: Option<&[F]>,
        p: &mut [F],
        _: &mut Work<F>,
    ) -> Result<Mean, DomainError> {
        mean::arithmetic(points, weights, p, |x| x, |m| m)
    }
}

/// Gradient descent, $w \leftarrow w - \eta\, g\, x$, from 0 at O(nnz).
///
/// The implicit step is $w - \kappa x$ with $\kappa = \eta\, g(u - \kappa \Vert x \Vert^2)$. For losses of constant
/// curvature c it has the closed form $\kappa = \eta g(u)/(1 + \eta c \Vert x\Vert^2)$. A step that ends on the kink
/// of the loss has $\kappa = (u - z_{min})/\Vert x\Vert^2$, and one that ends before it has $\kappa = \eta g(u)$: the
/// passive-aggressive step.
///
/// **Care** Steps longer than 1e150 are refused. **Source** \[KMWW07, eq. (9), (10)\]; \[CDKSS06\] for the hinge.
#[derive(Debug, Clone, Copy, PartialEq, Default)]
pub struct EuclideanForm;

/// w = θ.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Identity;

impl Coordinate for Identity {
    const DUALS: Allowed = Allowed::Finite;
    const IDENTITY: bool = true;
    const NAME: &'static str = "w";

    fn weight(theta: f64) -> f64 {
        theta
    }

    #[inline(always)]
    fn inside(theta: f64) -> bool {
        theta.is_finite()
    }

    #[inline(always)]
    fn term(theta: f64, x: f64) -> f64 {
        theta * x
    }

    #[inline(always)]
    fn divergence(_: f64, s: f64) -> f64 {
        0.5 * s * s
    }
}

impl Steps<EuclideanForm> {
    /// A walk with all weights 0.
    pub fn new() -> Self {
        Self::default()
    }
}

impl SparseForm for EuclideanForm {
    type Chart = Plain<Identity>;
    type Move = Shift;

    fn spec(&self) -> String {
        "explicit:euclidean".to_owned()
    }

    fn chart(&self) -> Self::Chart {
        Plain::new(0.0)
    }

    fn plan(
        &self,
        _: &Self::Chart,
        row: RowSummary,
        kappa: f64,
        round: &mut Round,
    ) -> Result<Option<Shift>, DomainError> {
        round.length = base::length(kappa.abs() * row.size.sqrt())?;
        Ok(Some(Shift(-kappa)))
    }

    fn holds_gamma(&self) -> bool {
        true
    }

    #[inline]
    fn gradient<X: Row<f64>>(&self, round: &Round, _: X) -> f64 {
        round.length / round.rate
    }
}

impl Curve for EuclideanForm {
    type Ready = ();

    fn ready<X: Row<f64>>(
        &self,
        _: &Self::Chart,
        _: X,
        row: RowSummary,
        _: f64,
        _: f64,
    ) -> Result<Option<()>, DomainError> {
        base::length(row.size)?;
        Ok((row.size != 0.0).then_some(()))
    }

    fn along<X: Row<f64>>(
        &self,
        _: &Self::Chart,
        _: X,
        row: RowSummary,
        (): &(),
        kappa: f64,
    ) -> (f64, f64) {
        (row.z - kappa * row.size, -row.size)
    }

    fn formula<L: Loss + ?Sized>(&self, row: RowSummary, example: &Example<'_, L>) -> Option<f64> {
        let RowSummary { z: u, size: square } = row;
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
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::learn::implicit::multiplier;
    use crate::loss::AnyLoss;

    #[test]
    fn closed_forms_are_what_the_solver_finds() {
        let losses = ["squared", "absolute", "hinge", "quantile(tau=0.9)", "huber(delta=0.3)"];
        let mut closed_ones = 0;
        for loss in losses.map(|name| AnyLoss::parse(name).unwrap()) {
            for y in [-1.0, 1.0] {
                for (k, rate) in [1e-9, 0.01, 0.3, 1.0, 7.0, 316.0, 1e20].into_iter().enumerate() {
                    for u in [-3.0, -0.99, 0.2, 1.0 + 1e-9, 4.0 + k as f64] {
                        let example = Example { loss: &loss, target: y.into(), rate };
                        let row = RowSummary { z: u, size: 1.7 };
                        let Some(closed) = EuclideanForm.formula(row, &example) else { continue };
                        closed_ones += 1;
                        let mut along = |kappa: f64| (u - kappa * 1.7, -1.7);
                        let solved = multiplier(&example, f64::MAX, &mut along).unwrap();
                        // Relative to the step, or to the effect of rounding of the prediction on it.
                        let tolerance = 1e-14 * closed.abs() + 4.0 * f64::EPSILON * u.abs() / 1.7;
                        assert!((closed - solved.at).abs() <= tolerance, "{loss:?} {rate} {u}");
                    }
                }
            }
        }
        assert!(closed_ones > 250, "{closed_ones}");
    }
}
