//! Forwards the traits of a manifold to the implementation behind a reference, a box, or a variant of
//! [`AnyManifold`](super::manifolds::AnyManifold). Every method is listed here once, even those with a default, so
//! that a closed form is never replaced by the default iteration.

use super::manifold::{Curvature, ExpLog, Manifold, Step};
use super::mean::Mean;
use super::work::Work;
use crate::Real;
use crate::error::DomainError;

/// `forward!([bounds] Trait for Type, dispatch)`, where `dispatch!(self, m => body)` evaluates `body` with `m` a
/// reference to the manifold behind `self`.
macro_rules! forward {
    ([$($bounds:tt)*] Manifold for $type:ty, $dispatch:ident) => {
        impl<F: Real, $($bounds)*> Manifold<F> for $type {
            fn ambient(&self) -> usize {
                $dispatch!(self, m => Manifold::<F>::ambient(m))
            }

            fn dim(&self) -> usize {
                $dispatch!(self, m => Manifold::<F>::dim(m))
            }

            fn first_feature(&self) -> usize {
                $dispatch!(self, m => Manifold::<F>::first_feature(m))
            }

            fn check(&self, p: &[F]) -> Result<(), DomainError> {
                $dispatch!(self, m => m.check(p))
            }

            fn check_tangent(&self, p: &[F], v: &[F]) -> Result<(), DomainError> {
                $dispatch!(self, m => m.check_tangent(p, v))
            }

            fn origin(&self, p: &mut [F]) {
                $dispatch!(self, m => m.origin(p))
            }

            fn project(&self, p: &[F], v: &mut [F]) {
                $dispatch!(self, m => m.project(p, v))
            }

            fn nearest(&self, p: &mut [F], work: &mut Work<F>) -> Result<(), DomainError> {
                $dispatch!(self, m => m.nearest(p, work))
            }

            fn random(&self, normal: &mut dyn FnMut() -> f64, p: &mut [F], work: &mut Work<F>) {
                $dispatch!(self, m => m.random(normal, p, work))
            }

            fn inner(&self, p: &[F], u: &[F], v: &[F], work: &mut Work<F>) -> F {
                $dispatch!(self, m => m.inner(p, u, v, work))
            }

            fn norm(&self, p: &[F], v: &[F], work: &mut Work<F>) -> F {
                $dispatch!(self, m => m.norm(p, v, work))
            }

            fn gradient(&self, p: &[F], covector: &[F], v: &mut [F], work: &mut Work<F>) {
                $dispatch!(self, m => m.gradient(p, covector, v, work))
            }

            fn retract(
                &self,
                p: &mut [F],
                v: &[F],
                t: F,
                work: &mut Work<F>,
            ) -> Result<Step<F>, DomainError> {
                $dispatch!(self, m => m.retract(p, v, t, work))
            }
        }
    };
    ([$($bounds:tt)*] ExpLog for $type:ty, $dispatch:ident) => {
        impl<F: Real, $($bounds)*> ExpLog<F> for $type {
            fn curvature(&self) -> Curvature {
                $dispatch!(self, m => ExpLog::<F>::curvature(m))
            }

            fn injectivity(&self, p: &[F]) -> F {
                $dispatch!(self, m => m.injectivity(p))
            }

            fn exp(
                &self,
                p: &mut [F],
                v: &[F],
                t: F,
                work: &mut Work<F>,
            ) -> Result<Step<F>, DomainError> {
                $dispatch!(self, m => m.exp(p, v, t, work))
            }

            fn log(
                &self,
                p: &[F],
                q: &[F],
                v: &mut [F],
                work: &mut Work<F>,
            ) -> Result<(), DomainError> {
                $dispatch!(self, m => m.log(p, q, v, work))
            }

            fn distance(&self, p: &[F], q: &[F], work: &mut Work<F>) -> F {
                $dispatch!(self, m => m.distance(p, q, work))
            }

            fn transport(
                &self,
                p: &[F],
                q: &[F],
                v: &mut [F],
                work: &mut Work<F>,
            ) -> Result<(), DomainError> {
                $dispatch!(self, m => m.transport(p, q, v, work))
            }

            fn carry(
                &self,
                p: &[F],
                q: &[F],
                v: &mut [F],
                work: &mut Work<F>,
            ) -> Result<(), DomainError> {
                $dispatch!(self, m => m.carry(p, q, v, work))
            }

            fn mean(
                &self,
                points: &[F],
                weights: Option<&[F]>,
                p: &mut [F],
                work: &mut Work<F>,
            ) -> Result<Mean, DomainError> {
                $dispatch!(self, m => m.mean(points, weights, p, work))
            }
        }
    };
}
pub(crate) use forward;

macro_rules! pointee {
    ($this:ident, $m:ident => $body:expr) => {{
        let $m = &**$this;
        $body
    }};
}

forward!([T: Manifold<F> + ?Sized] Manifold for Box<T>, pointee);
forward!([T: ExpLog<F> + ?Sized] ExpLog for Box<T>, pointee);
forward!([T: Manifold<F> + ?Sized] Manifold for &T, pointee);
forward!([T: ExpLog<F> + ?Sized] ExpLog for &T, pointee);
