//! # Euclidean space
//! $$\exp_p(v) = p + v, \qquad d(p, q) = \Vert p - q \Vert_2$$
//! **Cost** O(n). **Care** none. **Source** \[KMWW07, sec. 2\]; curvature 0.

use crate::Real;
use crate::error::{self, ConfigError, DomainError};
use crate::geometry::mean::{self, Mean};
use crate::geometry::{Curvature, ExpLog, Manifold, Step, Work};
use crate::row::Norm;

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
