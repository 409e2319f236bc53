//! # Dilated manifolds
//! A manifold scaled by a length: p = r·x, with x on the model. Curvatures are divided by r², lengths multiplied by r.
//! **Source** follows from multiplying the metric by r².

use crate::Real;
use crate::error::DomainError;
use crate::geometry::{Curvature, ExpLog, Manifold, Step, Work};

/// The points r·x. With r = 1 nothing is copied, and all bits are those of the model.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct Dilated<M> {
    pub(super) model: M,
    pub(super) radius: f64,
}

impl<M> Dilated<M> {
    fn plain(&self) -> bool {
        self.radius == 1.0
    }

    fn small<F: Real>(&self, x: &[F]) -> Vec<F> {
        let mut y = x.to_vec();
        self.shrink(&mut y);
        y
    }

    fn shrink<F: Real>(&self, x: &mut [F]) {
        for x in x.iter_mut() {
            *x /= F::of(self.radius);
        }
    }

    fn grow<F: Real>(&self, x: &mut [F]) {
        for x in x.iter_mut() {
            *x *= F::of(self.radius);
        }
    }

    /// Copies of the arguments, scaled to the model.
    fn copies<'a, F: Real, const N: usize>(
        &self,
        from: [&[F]; N],
        work: &'a mut Work<F>,
    ) -> ([&'a mut [F]; N], &'a mut Work<F>) {
        let n = from.iter().map(|x| x.len()).max().unwrap_or(0);
        let (mut buffers, work) = work.nested(n);
        for (to, from) in buffers.iter_mut().zip(from) {
            let all = std::mem::take(to);
            *to = &mut all[..from.len()];
            to.copy_from_slice(from);
            self.shrink(to);
        }
        (buffers, work)
    }
}

impl<F: Real, M: ExpLog<F>> Manifold<F> for Dilated<M> {
    fn ambient(&self) -> usize {
        self.model.ambient()
    }

    fn dim(&self) -> usize {
        self.model.dim()
    }

    fn first_feature(&self) -> usize {
        self.model.first_feature()
    }

    fn check(&self, p: &[F]) -> Result<(), DomainError> {
        if self.plain() { self.model.check(p) } else { self.model.check(&self.small(p)) }
    }

    fn check_tangent(&self, p: &[F], v: &[F]) -> Result<(), DomainError> {
        if self.plain() {
            return self.model.check_tangent(p, v);
        }
        self.model.check_tangent(&self.small(p), &self.small(v))
    }

    fn origin(&self, p: &mut [F]) {
        self.model.origin(p);
        if !self.plain() {
            self.grow(p);
        }
    }

    fn nearest(&self, p: &mut [F], work: &mut Work<F>) -> Result<(), DomainError> {
        if self.plain() {
            return self.model.nearest(p, work);
        }
        self.shrink(p);
        let found = self.model.nearest(p, work);
        self.grow(p);
        found
    }

    fn random(&self, normal: &mut dyn FnMut() -> f64, p: &mut [F], work: &mut Work<F>) {
        self.model.random(normal, p, work);
        if !self.plain() {
            self.grow(p);
        }
    }

    fn project(&self, p: &[F], v: &mut [F]) {
        if self.plain() { self.model.project(p, v) } else { self.model.project(&self.small(p), v) }
    }

    fn inner(&self, p: &[F], u: &[F], v: &[F], work: &mut Work<F>) -> F {
        if self.plain() {
            return self.model.inner(p, u, v, work);
        }
        // ⟨u, v⟩ is bilinear: r²⟨u/r, v/r⟩.
        let ([p], work) = self.copies([p], work);
        self.model.inner(p, u, v, work)
    }

    fn norm(&self, p: &[F], v: &[F], work: &mut Work<F>) -> F {
        if self.plain() {
            return self.model.norm(p, v, work);
        }
        let ([p], work) = self.copies([p], work);
        self.model.norm(p, v, work)
    }

    fn gradient(&self, p: &[F], covector: &[F], v: &mut [F], work: &mut Work<F>) {
        if self.plain() {
            return self.model.gradient(p, covector, v, work);
        }
        let ([p], work) = self.copies([p], work);
        self.model.gradient(p, covector, v, work);
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

impl<F: Real, M: ExpLog<F>> ExpLog<F> for Dilated<M> {
    fn curvature(&self) -> Curvature {
        let Curvature { min, max } = self.model.curvature();
        let square = self.radius * self.radius;
        Curvature { min: min / square, max: max / square }
    }

    fn injectivity(&self, p: &[F]) -> F {
        if self.plain() {
            return self.model.injectivity(p);
        }
        F::of(self.radius) * self.model.injectivity(&self.small(p))
    }

    fn exp(&self, p: &mut [F], v: &[F], t: F, work: &mut Work<F>) -> Result<Step<F>, DomainError> {
        if self.plain() {
            return self.model.exp(p, v, t, work);
        }
        let ([x], work) = self.copies([&*p], work);
        let step = self.model.exp(x, v, t / F::of(self.radius), work)?;
        self.grow(x);
        p.copy_from_slice(x);
        Ok(Step { length: step.length * F::of(self.radius), ..step })
    }

    fn log(&self, p: &[F], q: &[F], v: &mut [F], work: &mut Work<F>) -> Result<(), DomainError> {
        if self.plain() {
            return self.model.log(p, q, v, work);
        }
        let ([p, q], work) = self.copies([p, q], work);
        self.model.log(p, q, v, work)?;
        self.grow(v);
        Ok(())
    }

    fn distance(&self, p: &[F], q: &[F], work: &mut Work<F>) -> F {
        if self.plain() {
            return self.model.distance(p, q, work);
        }
        let ([p, q], work) = self.copies([p, q], work);
        F::of(self.radius) * self.model.distance(p, q, work)
    }

    fn transport(
        &self,
        p: &[F],
        q: &[F],
        v: &mut [F],
        work: &mut Work<F>,
    ) -> Result<(), DomainError> {
        if self.plain() {
            return self.model.transport(p, q, v, work);
        }
        let ([p, q], work) = self.copies([p, q], work);
        self.model.transport(p, q, v, work)
    }
}

/// The length r for a curvature −1/r² < 0.
pub(super) fn radius(curvature: f64) -> Result<f64, crate::ConfigError> {
    use crate::error::{Allowed, parameter};
    // Keeps squares of lengths far from overflow and underflow, also in f32.
    parameter("curvature", curvature, Allowed::Closed(-1e12, -1e-12))?;
    Ok((-curvature).sqrt().recip())
}
