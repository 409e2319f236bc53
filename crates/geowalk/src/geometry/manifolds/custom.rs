//! # A manifold of the user's, given at run time
//! Three operations are needed: a point to begin at, the Riemannian gradient, and the exponential map. The gradient as
//! a function of the covector is the inverse metric G⁻¹, so that the metric, the projection and the dimension follow
//! from it: $\langle u, v\rangle = u^\top G v$ with the pseudo-inverse G. The logarithm is found by shooting: Gauss–Newton
//! steps on exp_p(v) = q with differences of exp. Whatever the user defines beside the three is used in place of that.
//!
//! **Cost** of what is derived: O(n) calls of the three and O(n³) for n coordinates; of the logarithm as much per step.
//! **Care** The logarithm by shooting is that of a shortest geodesic only near p. Without a transport there is none:
//! optimizers carry vectors by projection, with their length kept. Computed in `f64` whatever the type.
//! **Source** \[Boumal23\].

use std::collections::BTreeMap;
use std::fmt;
use std::sync::{Arc, PoisonError, RwLock};

use crate::Real;
use crate::error::{self, ConfigError, DomainError};
use crate::geometry::linalg;
use crate::geometry::manifold::{Curvature, ExpLog, Manifold, Step};
use crate::geometry::work::Work;
use crate::row::Norm;

/// The operations of a manifold of the user's. Slices have as many coordinates as [`origin`](UserManifold::origin) gives.
pub trait UserManifold: Send + Sync {
    /// A point to begin at.
    fn origin(&self) -> Vec<f64>;

    /// out ← the Riemannian gradient at p of a function whose partial derivatives are `covector`.
    fn gradient(&self, p: &[f64], covector: &[f64], out: &mut [f64]) -> Result<(), DomainError>;

    /// out ← exp_p(v).
    fn exp(&self, p: &[f64], v: &[f64], out: &mut [f64]) -> Result<(), DomainError>;

    /// ⟨u, v⟩ at p, if defined.
    fn inner(&self, _p: &[f64], _u: &[f64], _v: &[f64]) -> Option<Result<f64, DomainError>> {
        None
    }

    /// out ← log_p(q), if defined.
    fn log(&self, _p: &[f64], _q: &[f64], _out: &mut [f64]) -> Option<Result<(), DomainError>> {
        None
    }

    /// v ← its parallel transport from p to q, if defined.
    fn transport(&self, _p: &[f64], _q: &[f64], _v: &mut [f64]) -> Option<Result<(), DomainError>> {
        None
    }

    /// Is p a point? If defined.
    fn check(&self, _p: &[f64]) -> Option<Result<(), DomainError>> {
        None
    }

    /// The injectivity radius at p, if defined.
    fn injectivity(&self, _p: &[f64]) -> Option<f64> {
        None
    }

    /// Bounds on the sectional curvature, if known.
    fn curvature(&self) -> Option<Curvature> {
        None
    }
}

/// A [`UserManifold`] with everything that follows from it.
///
/// ```
/// use geowalk::DomainError;
/// use geowalk::geometry::{ExpLog, Manifold, Work, manifolds::{CustomManifold, UserManifold}};
///
/// /// The half-line w > 0 with the metric (dw/w)².
/// struct HalfLine;
/// impl UserManifold for HalfLine {
///     fn origin(&self) -> Vec<f64> {
///         vec![1.0]
///     }
///     fn gradient(&self, p: &[f64], covector: &[f64], out: &mut [f64]) -> Result<(), DomainError> {
///         out[0] = p[0] * p[0] * covector[0];
///         Ok(())
///     }
///     fn exp(&self, p: &[f64], v: &[f64], out: &mut [f64]) -> Result<(), DomainError> {
///         out[0] = p[0] * (v[0] / p[0]).exp();
///         Ok(())
///     }
/// }
/// let m = CustomManifold::new("half-line", HalfLine, vec![1])?;
/// let d: f64 = m.distance(&[1.0], &[3.0], &mut Work::new());
/// assert!((d - 3.0_f64.ln()).abs() < 1e-12);
/// assert_eq!(Manifold::<f64>::dim(&m), 1);
/// # Ok::<(), geowalk::ConfigError>(())
/// ```
#[derive(Clone)]
pub struct CustomManifold {
    name: String,
    shape: Vec<usize>,
    dim: usize,
    user: Arc<dyn UserManifold>,
}

impl fmt::Debug for CustomManifold {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "custom({})", self.name)
    }
}

/// The same object.
impl PartialEq for CustomManifold {
    fn eq(&self, other: &Self) -> bool {
        Arc::ptr_eq(&self.user, &other.user)
    }
}

/// Steps and accuracy of the logarithm, how far differences go, and what counts as no direction of the metric.
const STEPS: usize = 60;
const NEAR: f64 = 1e-14;
const DIFFERENCE: f64 = 1e-6;
const FLAT: f64 = 1e-10;

/// Where the user says nothing about the injectivity radius.
const CAUTIOUS: f64 = 0.5;

static REGISTERED: RwLock<BTreeMap<String, CustomManifold>> = RwLock::new(BTreeMap::new());

impl CustomManifold {
    /// Asks for the origin and the metric there. Points have this shape as arrays.
    pub fn new(
        name: &str,
        user: impl UserManifold + 'static,
        shape: Vec<usize>,
    ) -> Result<Self, ConfigError> {
        let n = shape.iter().product();
        let origin = user.origin();
        error::finite("the origin", &origin, n)?;
        let mut new = Self { name: name.to_owned(), shape, dim: 0, user: Arc::new(user) };
        new.check64(&origin)?;
        new.dim = new.metric(&origin)?.count();
        Ok(new)
    }

    /// Makes it known as `custom(NAME)`, so that walks, models and every other place that takes the name of a manifold
    /// take this one. Replaces an earlier one of that name.
    pub fn register(&self) {
        let mut all = REGISTERED.write().unwrap_or_else(PoisonError::into_inner);
        all.insert(self.name.clone(), self.clone());
    }

    /// The one of that name that was registered.
    pub(super) fn registered(name: &str) -> Result<Self, ConfigError> {
        let all = REGISTERED.read().unwrap_or_else(PoisonError::into_inner);
        let known = || all.keys().map(String::as_str);
        all.get(name)
            .cloned()
            .ok_or_else(|| crate::spec::unknown("manifold of your own", name, known()))
    }

    /// The name.
    pub fn name(&self) -> &str {
        &self.name
    }

    /// The shape of a point as an array.
    pub fn shape(&self) -> &[usize] {
        &self.shape
    }

    /// Does the user say what the transport is, what is a point, how far it is injective, how it is curved?
    pub fn defines(&self) -> Defines {
        let p = self.user.origin();
        Defines {
            transport: self.user.transport(&p, &p, &mut vec![0.0; p.len()]).is_some(),
            check: self.user.check(&p).is_some(),
            injectivity: self.user.injectivity(&p).is_some(),
            curvature: self.user.curvature().is_some(),
        }
    }

    fn n(&self) -> usize {
        self.shape.iter().product()
    }

    fn check64(&self, p: &[f64]) -> Result<(), DomainError> {
        error::finite("the point", p, self.n())?;
        self.user.check(p).unwrap_or(Ok(()))
    }

    /// The inverse metric at p.
    fn metric(&self, p: &[f64]) -> Result<Metric, DomainError> {
        let n = self.n();
        let (mut inverse, mut unit) = (vec![0.0; n * n], vec![0.0; n]);
        for (j, column) in inverse.chunks_exact_mut(n.max(1)).enumerate() {
            unit[j] = 1.0;
            self.user.gradient(p, &unit, column)?;
            unit[j] = 0.0;
        }
        linalg::symmetrize(&mut inverse, n);
        let (mut values, mut vectors) = (vec![0.0; n], vec![0.0; n * n]);
        linalg::eigen(&mut inverse, n, &mut values, &mut vectors)
            .ok_or(DomainError::NotDefinite { smallest: f64::NAN })?;
        Ok(Metric { n, values, vectors })
    }

    fn exp64(&self, p: &[f64], v: &[f64]) -> Result<Vec<f64>, DomainError> {
        let mut q = vec![0.0; self.n()];
        self.user.exp(p, v, &mut q)?;
        error::finite("the end of the walk", &q, self.n())?;
        Ok(q)
    }

    fn inner64(&self, p: &[f64], u: &[f64], v: &[f64]) -> Result<f64, DomainError> {
        match self.user.inner(p, u, v) {
            Some(found) => found,
            None => Ok(self.metric(p)?.inner(u, v)),
        }
    }

    fn log64(&self, p: &[f64], q: &[f64]) -> Result<Vec<f64>, DomainError> {
        let mut v = vec![0.0; self.n()];
        match self.user.log(p, q, &mut v) {
            Some(found) => found.map(|()| v),
            None => self.shoot(p, q),
        }
    }

    /// v with exp_p(v) = q, by Gauss–Newton steps in orthonormal directions of the tangent space.
    fn shoot(&self, p: &[f64], q: &[f64]) -> Result<Vec<f64>, DomainError> {
        let n = self.n();
        let metric = self.metric(p)?;
        let directions: Vec<&[f64]> = metric.directions().collect();
        let dim = directions.len();
        let rest = |v: &[f64]| -> Result<Vec<f64>, DomainError> {
            let end = self.exp64(p, v)?;
            Ok(q.iter().zip(&end).map(|(q, end)| q - end).collect())
        };
        let scale = Norm::L2.of(p) + Norm::L2.of(q);
        let mut v: Vec<f64> = q.iter().zip(p).map(|(q, p)| q - p).collect();
        metric.project(&mut v);
        // A first guess that cannot be walked is halved until it can.
        let mut error = loop {
            match rest(&v) {
                Ok(error) => break error,
                Err(fault) if Norm::L2.of(&v) < 1e-12 => return Err(fault),
                Err(_) => v.iter_mut().for_each(|v| *v *= 0.5),
            }
        };
        let mut size = Norm::L2.of(&error);
        let mut iterations = 0;
        while size > NEAR * scale && iterations < STEPS && dim > 0 {
            iterations += 1;
            // A column for each direction: how the end moves.
            let h = DIFFERENCE * (1.0 + Norm::LInf.of(&v));
            let mut columns = Vec::with_capacity(dim);
            for direction in &directions {
                let moved: Vec<f64> = v.iter().zip(*direction).map(|(v, d)| v + h * d).collect();
                let ahead = rest(&moved)?;
                columns
                    .push(error.iter().zip(&ahead).map(|(a, b)| (a - b) / h).collect::<Vec<_>>());
            }
            let dot = |a: &[f64], b: &[f64]| a.iter().zip(b).map(|(a, b)| a * b).sum::<f64>();
            let mut normal: Vec<f64> =
                columns.iter().flat_map(|a| columns.iter().map(move |b| dot(a, b))).collect();
            let (mut values, mut vectors) = (vec![0.0; dim], vec![0.0; dim * dim]);
            linalg::eigen(&mut normal, dim, &mut values, &mut vectors)
                .ok_or(DomainError::NotDefinite { smallest: f64::NAN })?;
            let pull: Vec<f64> = columns.iter().map(|column| dot(column, &error)).collect();
            let mut step = vec![0.0; n];
            let largest = values.last().copied().unwrap_or(0.0);
            for (value, vector) in values.iter().zip(vectors.chunks_exact(dim)) {
                if *value > FLAT * largest {
                    let part = dot(vector, &pull) / value;
                    for (weight, direction) in vector.iter().zip(&directions) {
                        step.iter_mut().zip(*direction).for_each(|(s, d)| *s += part * weight * d);
                    }
                }
            }
            // A step that brings the end no nearer is halved; where none does, rounding is reached.
            let mut part = 1.0;
            let nearer = loop {
                let next: Vec<f64> = v.iter().zip(&step).map(|(v, s)| v + part * s).collect();
                if let Ok(found) = rest(&next)
                    && Norm::L2.of(&found) < size
                {
                    break Some((next, found));
                }
                part *= 0.5;
                if part < 1e-6 {
                    break None;
                }
            };
            let Some(nearer) = nearer else { break };
            (v, error) = nearer;
            size = Norm::L2.of(&error);
        }
        if size > 1e-9 * (1.0 + scale) {
            let what = "the search for the geodesic between two points";
            return Err(DomainError::NotConverged { what, residual: size, iterations });
        }
        Ok(v)
    }
}

/// What a user defines beside the three operations.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[allow(clippy::struct_excessive_bools)] // four answers that do not depend on each other
#[non_exhaustive]
pub struct Defines {
    /// Parallel transport.
    pub transport: bool,
    /// What is a point.
    pub check: bool,
    /// The injectivity radius.
    pub injectivity: bool,
    /// Bounds on the curvature.
    pub curvature: bool,
}

/// The inverse metric at a point, by its eigenvalues.
struct Metric {
    n: usize,
    values: Vec<f64>,
    vectors: Vec<f64>,
}

impl Metric {
    fn pairs(&self) -> impl Iterator<Item = (f64, &[f64])> {
        let floor = FLAT * self.values.last().copied().unwrap_or(0.0);
        let all = self.values.iter().copied().zip(self.vectors.chunks_exact(self.n.max(1)));
        all.filter(move |(value, _)| *value > floor)
    }

    fn directions(&self) -> impl Iterator<Item = &[f64]> {
        self.pairs().map(|(_, vector)| vector)
    }

    fn count(&self) -> usize {
        self.pairs().count()
    }

    fn inner(&self, u: &[f64], v: &[f64]) -> f64 {
        let dot = |a: &[f64], b: &[f64]| a.iter().zip(b).map(|(a, b)| a * b).sum::<f64>();
        self.pairs().map(|(value, d)| dot(d, u) * dot(d, v) / value).sum()
    }

    fn project(&self, v: &mut [f64]) {
        let mut out = vec![0.0; v.len()];
        for d in self.directions() {
            let part: f64 = d.iter().zip(&*v).map(|(d, v)| d * v).sum();
            out.iter_mut().zip(d).for_each(|(out, d)| *out += part * d);
        }
        v.copy_from_slice(&out);
    }
}

fn wide<F: Real>(x: &[F]) -> Vec<f64> {
    x.iter().map(|x| x.f64()).collect()
}

fn narrow<F: Real>(from: &[f64], to: &mut [F]) {
    to.iter_mut().zip(from).for_each(|(to, &from)| *to = F::of(from));
}

impl<F: Real> Manifold<F> for CustomManifold {
    fn ambient(&self) -> usize {
        self.n()
    }

    fn dim(&self) -> usize {
        self.dim
    }

    fn check(&self, p: &[F]) -> Result<(), DomainError> {
        self.check64(&wide(p))
    }

    fn check_tangent(&self, p: &[F], v: &[F]) -> Result<(), DomainError> {
        error::finite("the tangent vector", v, self.n())?;
        let v = wide(v);
        let mut inside = v.clone();
        self.metric(&wide(p))?.project(&mut inside);
        let off = Norm::LInf.of(&v.iter().zip(&inside).map(|(a, b)| a - b).collect::<Vec<_>>());
        let tolerance = F::TOLERANCE.f64() * (1.0 + Norm::LInf.of(&v));
        if off <= tolerance {
            return Ok(());
        }
        let quantity = "the part of the tangent vector off the tangent space";
        Err(DomainError::Constraint { quantity, found: off, expected: 0.0, tolerance })
    }

    fn origin(&self, p: &mut [F]) {
        narrow(&self.user.origin(), p);
    }

    fn project(&self, p: &[F], v: &mut [F]) {
        let mut inside = wide(v);
        match self.metric(&wide(p)) {
            Ok(metric) => metric.project(&mut inside),
            Err(_) => inside.fill(f64::NAN),
        }
        narrow(&inside, v);
    }

    fn inner(&self, p: &[F], u: &[F], v: &[F], _: &mut Work<F>) -> F {
        F::of(self.inner64(&wide(p), &wide(u), &wide(v)).unwrap_or(f64::NAN))
    }

    fn gradient(&self, p: &[F], covector: &[F], v: &mut [F], _: &mut Work<F>) {
        let mut out = vec![0.0; self.n()];
        if self.user.gradient(&wide(p), &wide(covector), &mut out).is_err() {
            out.fill(f64::NAN);
        }
        narrow(&out, v);
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

impl<F: Real> ExpLog<F> for CustomManifold {
    fn curvature(&self) -> Curvature {
        let unknown = Curvature { min: f64::NEG_INFINITY, max: f64::INFINITY };
        self.user.curvature().unwrap_or(unknown)
    }

    fn injectivity(&self, p: &[F]) -> F {
        F::of(self.user.injectivity(&wide(p)).unwrap_or(CAUTIOUS))
    }

    fn exp(&self, p: &mut [F], v: &[F], t: F, _: &mut Work<F>) -> Result<Step<F>, DomainError> {
        let from = wide(p);
        let along: Vec<f64> = v.iter().map(|v| v.f64() * t.f64()).collect();
        error::finite("the tangent vector", &along, self.n())?;
        let to = self.exp64(&from, &along)?;
        let length = self.inner64(&from, &along, &along)?.max(0.0).sqrt();
        narrow(&to, p);
        Ok(Step::inside(F::of(length)))
    }

    fn log(&self, p: &[F], q: &[F], v: &mut [F], _: &mut Work<F>) -> Result<(), DomainError> {
        narrow(&self.log64(&wide(p), &wide(q))?, v);
        Ok(())
    }

    fn distance(&self, p: &[F], q: &[F], _: &mut Work<F>) -> F {
        let p = wide(p);
        let length = self.log64(&p, &wide(q)).and_then(|v| self.inner64(&p, &v, &v));
        F::of(length.map_or(f64::NAN, |square| square.max(0.0).sqrt()))
    }

    fn transport(&self, p: &[F], q: &[F], v: &mut [F], _: &mut Work<F>) -> Result<(), DomainError> {
        let mut moved = wide(v);
        match self.user.transport(&wide(p), &wide(q), &mut moved) {
            Some(found) => found?,
            None => return Err(DomainError::Undefined { what: "parallel transport" }),
        }
        narrow(&moved, v);
        Ok(())
    }

    /// Parallel transport if there is one, else a projection that keeps the length.
    fn carry(&self, p: &[F], q: &[F], v: &mut [F], _: &mut Work<F>) -> Result<(), DomainError> {
        let (p, q, mut moved) = (wide(p), wide(q), wide(v));
        if let Some(found) = self.user.transport(&p, &q, &mut moved) {
            found?;
        } else {
            let before = self.inner64(&p, &moved, &moved)?.max(0.0).sqrt();
            self.metric(&q)?.project(&mut moved);
            let after = self.inner64(&q, &moved, &moved)?.max(0.0).sqrt();
            if after > 0.0 {
                moved.iter_mut().for_each(|v| *v *= before / after);
            }
        }
        narrow(&moved, v);
        Ok(())
    }
}
