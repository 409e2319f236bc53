//! # Manifolds
//! The definition of a Riemannian geometry: its points, the length of a tangent vector, the conversion of a loss's
//! differential to a direction, and steps along a direction.
//!
//! A point is a slice of [`Manifold::ambient`] scalars in ambient coordinates (a unit vector for the sphere, n×n
//! column-major entries for SPD matrices). A tangent vector is a slice of the same length. Every operation works in
//! place, in memory of the caller; scratch memory comes from [`Work`].
//!
//! **Two traits.** [`Manifold`] has what a natural-gradient step needs. [`ExpLog`] is for manifolds whose geodesics
//! have a closed form. A Hessian manifold of a general generator implements only the first. A missing capability is a
//! missing `impl`, never an error at run time.
//!
//! **Malformed slices.** These methods trust their arguments, because learners call them once per example. Slices of a
//! wrong length give an unspecified result (often NaN), never a panic. Use [`Checked`](crate::geometry::Checked) for
//! untrusted input: it has the same operations and checks every argument.

use super::mean::{self, Mean};
use super::work::Work;
use crate::Real;
use crate::error::DomainError;

/// A Riemannian manifold whose points are slices of [`ambient`](Manifold::ambient) scalars.
pub trait Manifold<F: Real> {
    /// Number of scalars in a point.
    fn ambient(&self) -> usize;

    /// Dimension of the manifold.
    fn dim(&self) -> usize;

    /// The coordinate that belongs to feature 0 of a row. Coordinates before it, such as the time coordinate of the
    /// hyperboloid, do not belong to a feature.
    fn first_feature(&self) -> usize {
        0
    }

    /// Is `p` a point of the manifold (up to [`Real::TOLERANCE`])? The error contains the size of the violation.
    fn check(&self, p: &[F]) -> Result<(), DomainError>;

    /// Is `v` tangent at the point `p`?
    fn check_tangent(&self, p: &[F], v: &[F]) -> Result<(), DomainError>;

    /// A canonical starting point: 0, the pole, the uniform distribution, the identity matrix.
    fn origin(&self, p: &mut [F]);

    /// v ← the tangent vector at `p` nearest to the ambient vector `v` (orthogonal projection in the metric that
    /// defines the tangent space). Tangent vectors are unchanged.
    fn project(&self, p: &[F], v: &mut [F]);

    /// p ← the nearest point of the manifold in ambient coordinates, or one near it. This removes the rounding error
    /// of a conversion to fewer digits. An error if there is none. By default p is only checked.
    fn nearest(&self, p: &mut [F], _work: &mut Work<F>) -> Result<(), DomainError> {
        self.check(p)
    }

    /// p ← a random point, made from standard normal numbers: uniform on spheres, frames, subspaces, rotations and the
    /// simplex. Elsewhere it is the end of a walk from the origin along a normal tangent vector.
    fn random(&self, normal: &mut dyn FnMut() -> f64, p: &mut [F], work: &mut Work<F>) {
        self.origin(p);
        let ([covector, v], work) = work.nested(self.ambient());
        for g in covector.iter_mut() {
            *g = F::of(normal());
        }
        self.gradient(p, covector, v, work);
        // The gradient of a normal covector is normal in the metric. If the step fails, p stays at the origin.
        let _ = self.retract(p, v, F::ONE, work);
    }

    /// ⟨u, v⟩_p.
    fn inner(&self, p: &[F], u: &[F], v: &[F], work: &mut Work<F>) -> F;

    /// ‖v‖_p.
    fn norm(&self, p: &[F], v: &[F], work: &mut Work<F>) -> F {
        self.inner(p, v, v, work).max(F::ZERO).sqrt()
    }

    /// v ← the Riemannian gradient of a function whose Euclidean differential at `p` is `covector`: the tangent vector
    /// with ⟨v, u⟩_p = Σ covector_i u_i for every tangent u.
    fn gradient(&self, p: &[F], covector: &[F], v: &mut [F], work: &mut Work<F>);

    /// p ← R_p(t·v): a walk that starts at `p` in the direction of `v`, R_p(tv) = p + tv + O(t²). On all manifolds of
    /// [`manifolds`](super::manifolds) and on [`PullBack`](super::PullBack) it is the geodesic, [`ExpLog::exp`]. On a
    /// [`Hessian`](super::Hessian) manifold it is the straight line in the dual chart (the mirror step), even if that
    /// manifold has geodesics. On an error `p` is unchanged.
    fn retract(
        &self,
        p: &mut [F],
        v: &[F],
        t: F,
        work: &mut Work<F>,
    ) -> Result<Step<F>, DomainError>;
}

/// A manifold with closed-form geodesics.
pub trait ExpLog<F: Real>: Manifold<F> {
    /// Bounds on the sectional curvature.
    fn curvature(&self) -> Curvature;

    /// The injectivity radius at `p`: geodesics from `p` shorter than this are unique and shortest, and stay in the
    /// manifold. Infinite on Hadamard manifolds.
    fn injectivity(&self, p: &[F]) -> F;

    /// p ← exp_p(t·v). On an error `p` is unchanged.
    fn exp(&self, p: &mut [F], v: &[F], t: F, work: &mut Work<F>) -> Result<Step<F>, DomainError>;

    /// v ← log_p(q), the initial velocity of the shortest geodesic from `p` to `q` in unit time. An error if it is not
    /// unique.
    fn log(&self, p: &[F], q: &[F], v: &mut [F], work: &mut Work<F>) -> Result<(), DomainError>;

    /// The geodesic distance of `p` and `q`.
    fn distance(&self, p: &[F], q: &[F], work: &mut Work<F>) -> F;

    /// v ← the parallel transport of `v` from `p` to `q` along the shortest geodesic. An error if that is not unique.
    fn transport(
        &self,
        p: &[F],
        q: &[F],
        v: &mut [F],
        work: &mut Work<F>,
    ) -> Result<(), DomainError>;

    /// v ← `v` carried from `p` to `q` for optimizers: parallel transport, or a cheaper map that agrees to first order
    /// if transport is expensive.
    fn carry(&self, p: &[F], q: &[F], v: &mut [F], work: &mut Work<F>) -> Result<(), DomainError> {
        self.transport(p, q, v, work)
    }

    /// p ← the weighted Fréchet mean of `points` (one after another in one slice), the minimiser of Σ w_i d(p, x_i)².
    /// The module [`mean`](mod@super::mean) describes the iteration, and when the mean is unique.
    fn mean(
        &self,
        points: &[F],
        weights: Option<&[F]>,
        p: &mut [F],
        work: &mut Work<F>,
    ) -> Result<Mean, DomainError> {
        mean::karcher(self, points, weights, p, work)
    }
}

/// The result of a walk.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Step<F> {
    /// Length of the walk in the metric.
    pub length: F,
    /// The event that a certificate must know.
    pub event: Event,
}

impl<F> Step<F> {
    /// An ordinary walk of the given length.
    pub fn inside(length: F) -> Self {
        Self { length, event: Event::Inside }
    }
}

/// Did the walk stay where the theorems hold?
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub enum Event {
    /// Nothing to report.
    Inside,
    /// The walk was longer than the injectivity radius: it is a geodesic, but may not be the shortest path.
    PastInjectivity,
    /// The walk left the manifold and was folded back at the boundary (Fisher simplex).
    Folded {
        /// Number of coordinates that crossed zero.
        coordinates: usize,
    },
    /// The result was moved to the nearest representable number.
    Clamped {
        /// Number of coordinates that were moved.
        coordinates: usize,
    },
    /// The gradient is 0 although the loss is not: the walk cannot move on this example.
    Stationary,
    /// No implicit step was found. A backtracked explicit step was made in its place.
    FellBack,
}

/// Bounds on the sectional curvature of a manifold.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Curvature {
    /// The smallest sectional curvature.
    pub min: f64,
    /// The largest sectional curvature.
    pub max: f64,
}

impl Curvature {
    /// Zero everywhere.
    pub const FLAT: Self = Self { min: 0.0, max: 0.0 };

    /// Constant curvature k.
    pub const fn constant(k: f64) -> Self {
        Self { min: k, max: k }
    }

    /// The sign, if all planes agree (0 agrees with both signs).
    pub fn sign(self) -> Sign {
        match (self.min >= 0.0, self.max <= 0.0) {
            (true, true) => Sign::Flat,
            (true, false) => Sign::NonNegative,
            (false, true) => Sign::NonPositive,
            (false, false) => Sign::Mixed,
        }
    }
}

/// The sign of the sectional curvature.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Sign {
    /// K = 0.
    Flat,
    /// K ≥ 0.
    NonNegative,
    /// K ≤ 0.
    NonPositive,
    /// Both signs occur.
    Mixed,
}

impl std::fmt::Display for Sign {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.pad(match self {
            Self::Flat => "K = 0",
            Self::NonNegative => "K >= 0",
            Self::NonPositive => "K <= 0",
            Self::Mixed => "mixed",
        })
    }
}
