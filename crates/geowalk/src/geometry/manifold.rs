//! # Manifolds
//! What a Riemannian geometry has to say: where its points are, how long a tangent vector is, how the differential of
//! a loss becomes a direction, and how to walk along it.
//!
//! A point is a slice of [`Manifold::ambient`] scalars in ambient coordinates (a unit vector for the sphere, n×n
//! column-major entries for SPD matrices). A tangent vector is a slice of the same length. Every operation works
//! in place, in caller's memory: scratch comes from [`Work`].
//!
//! **Two traits.** [`Manifold`] is what a natural-gradient step needs. [`ExpLog`] is for manifolds whose geodesics
//! have a closed form. A Hessian manifold of a general generator has the first and not the second; a missing power is a
//! missing `impl`, never an error at run time.
//!
//! **Malformed slices.** These methods trust their arguments, since learners call them once per example. Slices
//! of a wrong length give an unspecified result (often NaN), never a panic. Whatever comes from outside goes through
//! [`Checked`](crate::geometry::Checked), which has the same verbs and checks every argument.

use super::mean::{self, Mean};
use super::work::Work;
use crate::Real;
use crate::error::DomainError;

/// A Riemannian manifold whose points are slices of [`ambient`](Manifold::ambient) scalars.
pub trait Manifold<F: Real> {
    /// Scalars in a point.
    fn ambient(&self) -> usize;

    /// Dimension of the manifold.
    fn dim(&self) -> usize;

    /// The coordinate of feature 0 where rows are learned from: coordinates before it belong to no feature, as the time
    /// of the hyperboloid.
    fn first_feature(&self) -> usize {
        0
    }

    /// Is `p` a point of the manifold (up to [`Real::TOLERANCE`])? The error carries the amount of the violation.
    fn check(&self, p: &[F]) -> Result<(), DomainError>;

    /// Is `v` tangent at the point `p`?
    fn check_tangent(&self, p: &[F], v: &[F]) -> Result<(), DomainError>;

    /// A canonical starting point: 0, the pole, the uniform distribution, the identity matrix.
    fn origin(&self, p: &mut [F]);

    /// v ← the tangent vector at `p` nearest to the ambient vector `v` (orthogonal projection in the metric that defines the
    /// tangent space). Tangent vectors stay what they are.
    fn project(&self, p: &[F], v: &mut [F]);

    /// p ← the point of the manifold nearest to p among the coordinates, or one near it: takes out what rounding to
    /// fewer digits has put in. An error where there is none. By default p is only checked.
    fn nearest(&self, p: &mut [F], _work: &mut Work<F>) -> Result<(), DomainError> {
        self.check(p)
    }

    /// p ← a random point, from numbers of the standard normal distribution: uniform on spheres, frames, subspaces,
    /// rotations and the simplex; elsewhere a walk from the origin along a normal tangent vector.
    fn random(&self, normal: &mut dyn FnMut() -> f64, p: &mut [F], work: &mut Work<F>) {
        self.origin(p);
        let ([covector, v], work) = work.nested(self.ambient());
        for g in covector.iter_mut() {
            *g = F::of(normal());
        }
        self.gradient(p, covector, v, work);
        // The gradient of a normal covector is normal in the metric. A step that cannot be made leaves the origin.
        let _ = self.retract(p, v, F::ONE, work);
    }

    /// ⟨u, v⟩_p.
    fn inner(&self, p: &[F], u: &[F], v: &[F], work: &mut Work<F>) -> F;

    /// ‖v‖_p.
    fn norm(&self, p: &[F], v: &[F], work: &mut Work<F>) -> F {
        self.inner(p, v, v, work).max(F::ZERO).sqrt()
    }

    /// v ← the Riemannian gradient of a function whose Euclidean differential at `p` is `covector`: the tangent vector with
    /// ⟨v, u⟩_p = Σ covector_i u_i for every tangent u.
    fn gradient(&self, p: &[F], covector: &[F], v: &mut [F], work: &mut Work<F>);

    /// p ← R_p(t·v): a walk from `p` that sets out along `v`, R_p(tv) = p + tv + O(t²). The geodesic, [`ExpLog::exp`], on all manifolds of
    /// [`manifolds`](super::manifolds) and on [`PullBack`](super::PullBack); on a [`Hessian`](super::Hessian) manifold the straight walk in the dual
    /// chart (the mirror step), also where that manifold has geodesics. On an error `p` is unchanged.
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

    /// v ← log_p(q), the initial velocity of the shortest geodesic from `p` to `q` that takes unit time. An error where
    /// there is no unique one.
    fn log(&self, p: &[F], q: &[F], v: &mut [F], work: &mut Work<F>) -> Result<(), DomainError>;

    /// The geodesic distance of `p` and `q`.
    fn distance(&self, p: &[F], q: &[F], work: &mut Work<F>) -> F;

    /// v ← the parallel transport of `v` from `p` to `q` along the shortest geodesic. An error where there is no unique one.
    fn transport(
        &self,
        p: &[F],
        q: &[F],
        v: &mut [F],
        work: &mut Work<F>,
    ) -> Result<(), DomainError>;

    /// v ← `v` carried from `p` to `q` as optimizers need it: parallel transport, or a cheaper map that agrees to first
    /// order where that is dear.
    fn carry(&self, p: &[F], q: &[F], v: &mut [F], work: &mut Work<F>) -> Result<(), DomainError> {
        self.transport(p, q, v, work)
    }

    /// p ← the weighted Fréchet mean of `points` (one after the other in one slice), the minimiser of Σ w_i d(p, x_i)².
    /// See the module [`mean`](mod@super::mean) for the iteration and for when it is unique.
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

/// What happened on a walk.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Step<F> {
    /// Length of the walk in the metric.
    pub length: F,
    /// Anything a certificate has to know.
    pub event: Event,
}

impl<F> Step<F> {
    /// An ordinary walk of the given length.
    pub fn inside(length: F) -> Self {
        Self { length, event: Event::Inside }
    }
}

/// Whether a walk stayed where theorems hold.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub enum Event {
    /// Nothing to report.
    Inside,
    /// The walk was longer than the injectivity radius: it is a geodesic, but not the shortest way.
    PastInjectivity,
    /// The walk left the manifold and was folded back at the boundary (Fisher simplex).
    Folded {
        /// How many coordinates crossed zero.
        coordinates: usize,
    },
    /// The result was moved to the nearest number that can be represented.
    Clamped {
        /// How many coordinates were moved.
        coordinates: usize,
    },
    /// The gradient is 0 although the loss is not: the walk cannot move on this example.
    Stationary,
    /// The implicit step does not exist where it was looked for; a backtracked explicit step was made in its place.
    FellBack,
}

/// Bounds on the sectional curvature of a manifold.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Curvature {
    /// No plane is curved less than this.
    pub min: f64,
    /// No plane is curved more than this.
    pub max: f64,
}

impl Curvature {
    /// Zero everywhere.
    pub const FLAT: Self = Self { min: 0.0, max: 0.0 };

    /// The same everywhere.
    pub const fn constant(k: f64) -> Self {
        Self { min: k, max: k }
    }

    /// The sign, if all planes agree (0 counts with either).
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
    /// Some planes are curved one way, some the other.
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
