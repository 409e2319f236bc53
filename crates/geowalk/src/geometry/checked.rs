//! # Checked manifolds
//! The operations of a manifold for untrusted arguments. Lengths, finite coordinates, points on the manifold and
//! tangent vectors in the tangent space are checked first; the error contains the size of the violation. Results are
//! new, finite vectors; overflow is an error.
//!
//! **Cost** that of the unchecked operation, the checks (O(n); a Cholesky decomposition for matrices), and
//! allocations. Front ends use this type; learners use [`Manifold`] directly.

use super::manifold::{ExpLog, Manifold, Step};
use super::manifolds::shifted;
use super::mean::Mean;
use super::work::Work;
use crate::Real;
use crate::error::{self, Allowed, DomainError};

/// Returns an error if a result overflowed.
fn finite<F: Real>(what: &'static str, value: F) -> Result<F, DomainError> {
    if value.is_finite() {
        return Ok(value);
    }
    Err(DomainError::Scalar { what, value: value.f64(), allowed: Allowed::Finite })
}

/// A manifold whose operations check their arguments.
///
/// ```
/// use geowalk::geometry::{Checked, manifolds::Sphere};
/// let sphere = Checked::new(Sphere::new(2, 1.0)?);
/// let v = sphere.log(&[1.0, 0.0], &[0.0, 1.0])?;
/// assert_eq!(v, [0.0, std::f64::consts::FRAC_PI_2]);
///
/// let error = sphere.log(&[1.0, 0.0], &[0.0, 1.5]).unwrap_err();
/// assert_eq!(error.to_string(), "the norm of the point is 1.5; it must be 1 within 1e-9");
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Debug, Clone, PartialEq)]
pub struct Checked<M> {
    manifold: M,
}

impl<M> Checked<M> {
    /// Wraps a manifold.
    pub fn new(manifold: M) -> Self {
        Self { manifold }
    }

    /// The wrapped manifold, with its unchecked operations.
    pub fn manifold(&self) -> &M {
        &self.manifold
    }

    /// Is `p` a point of the manifold?
    pub fn check<F: Real>(&self, p: &[F]) -> Result<(), DomainError>
    where
        M: Manifold<F>,
    {
        self.manifold.check(p)
    }

    /// ⟨u, v⟩_p.
    pub fn inner<F: Real>(&self, p: &[F], u: &[F], v: &[F]) -> Result<F, DomainError>
    where
        M: Manifold<F>,
    {
        self.manifold.check(p)?;
        self.manifold.check_tangent(p, u)?;
        self.manifold.check_tangent(p, v)?;
        finite("the inner product", self.manifold.inner(p, u, v, &mut Work::new()))
    }

    /// The Riemannian gradient at `p` of a function with Euclidean gradient `egrad`.
    pub fn gradient<F: Real>(&self, p: &[F], egrad: &[F]) -> Result<Vec<F>, DomainError>
    where
        M: Manifold<F>,
    {
        self.manifold.check(p)?;
        error::finite("the Euclidean gradient", egrad, self.manifold.ambient())?;
        let mut v = vec![F::ZERO; p.len()];
        self.manifold.gradient(p, egrad, &mut v, &mut Work::new());
        error::each("the gradient", &v, Allowed::Finite)?;
        Ok(v)
    }

    /// A gradient step: the point reached from `p` along −`rate`·gradient, and the event of the walk.
    pub fn step<F: Real>(
        &self,
        p: &[F],
        egrad: &[F],
        rate: F,
    ) -> Result<(Vec<F>, Step<F>), DomainError>
    where
        M: Manifold<F>,
    {
        let v = self.gradient(p, egrad)?;
        if !rate.is_finite() {
            let (what, value) = ("the rate", rate.f64());
            return Err(DomainError::Scalar { what, value, allowed: Allowed::Finite });
        }
        let mut q = p.to_vec();
        let step = self.manifold.retract(&mut q, &v, -rate, &mut Work::new())?;
        error::each("the end of the step", &q, Allowed::Finite)?;
        Ok((q, step))
    }

    /// exp_p(v). A walk that leaves the manifold ends where [`ExpLog::exp`] ends, which also reports the event.
    pub fn exp<F: Real>(&self, p: &[F], v: &[F]) -> Result<Vec<F>, DomainError>
    where
        M: ExpLog<F>,
    {
        self.manifold.check(p)?;
        self.manifold.check_tangent(p, v)?;
        let mut q = p.to_vec();
        self.manifold.exp(&mut q, v, F::ONE, &mut Work::new())?;
        error::each("the end of the walk", &q, Allowed::Finite)?;
        Ok(q)
    }

    /// log_p(q).
    pub fn log<F: Real>(&self, p: &[F], q: &[F]) -> Result<Vec<F>, DomainError>
    where
        M: ExpLog<F>,
    {
        self.manifold.check(p)?;
        self.manifold.check(q)?;
        let mut v = vec![F::ZERO; p.len()];
        self.manifold.log(p, q, &mut v, &mut Work::new())?;
        error::each("the logarithm", &v, Allowed::Finite)?;
        Ok(v)
    }

    /// The geodesic distance of `p` and `q`.
    pub fn distance<F: Real>(&self, p: &[F], q: &[F]) -> Result<F, DomainError>
    where
        M: ExpLog<F>,
    {
        self.manifold.check(p)?;
        self.manifold.check(q)?;
        finite("the distance", self.manifold.distance(p, q, &mut Work::new()))
    }

    /// The parallel transport of `v` from `p` to `q` along the shortest geodesic.
    pub fn transport<F: Real>(&self, p: &[F], q: &[F], v: &[F]) -> Result<Vec<F>, DomainError>
    where
        M: ExpLog<F>,
    {
        self.manifold.check(p)?;
        self.manifold.check(q)?;
        self.manifold.check_tangent(p, v)?;
        let mut v = v.to_vec();
        self.manifold.transport(p, q, &mut v, &mut Work::new())?;
        error::each("the transported vector", &v, Allowed::Finite)?;
        Ok(v)
    }

    /// The weighted Fréchet mean of `points`, stored one after another in one slice. The index in an error is an index
    /// into that slice.
    pub fn mean<F: Real>(
        &self,
        points: &[F],
        weights: Option<&[F]>,
    ) -> Result<(Vec<F>, Mean), DomainError>
    where
        M: ExpLog<F>,
    {
        // An incomplete last point fails `check`, with an error about its length.
        let n = self.manifold.ambient();
        if points.is_empty() {
            return Err(DomainError::Empty { what: "the list of points" });
        }
        for (i, point) in points.chunks(n).enumerate() {
            self.manifold.check(point).map_err(|error| shifted(error, i * n))?;
        }
        let mut p = vec![F::ZERO; n];
        let mean = self.manifold.mean(points, weights, &mut p, &mut Work::new())?;
        error::each("the mean", &p, Allowed::Finite)?;
        Ok((p, mean))
    }
}

#[cfg(test)]
mod tests {
    use super::super::manifold::Event;
    use super::super::manifolds::{PositiveOrthant, Simplex, Sphere};
    use super::*;

    #[test]
    fn every_argument_is_checked() {
        let sphere = Checked::new(Sphere::new(2, 1.0).unwrap());
        let (p, q, v) = ([1.0, 0.0], [0.0, 1.0], [0.0, 1.0]);
        let bad_points: [&[f64]; 4] = [&[1.0], &[f64::NAN, 1.0], &[1.0, 1.0], &[0.0, 0.0, 1.0]];
        for bad in bad_points {
            assert!(sphere.check(bad).is_err());
            assert!(sphere.inner(bad, &v, &v).is_err());
            assert!(sphere.gradient(bad, &v).is_err());
            assert!(sphere.step(bad, &v, 0.1).is_err());
            assert!(sphere.exp(bad, &v).is_err());
            assert!(sphere.log(bad, &p).is_err() && sphere.log(&p, bad).is_err());
            assert!(sphere.distance(bad, &p).is_err() && sphere.distance(&p, bad).is_err());
            assert!(sphere.transport(bad, &q, &v).is_err());
            assert!(sphere.transport(&p, bad, &v).is_err());
            assert!(sphere.mean(&[&p, bad].concat(), None).is_err());
        }
        let bad_vectors: [&[f64]; 3] = [&[0.0], &[0.0, f64::INFINITY], &[0.1, 1.0]];
        for bad in bad_vectors {
            assert!(sphere.inner(&p, bad, &v).is_err() && sphere.inner(&p, &v, bad).is_err());
            assert!(sphere.exp(&p, bad).is_err() && sphere.transport(&p, &q, bad).is_err());
        }
        for bad in &bad_vectors[..2] {
            assert!(sphere.gradient(&p, bad).is_err() && sphere.step(&p, bad, 0.1).is_err());
        }
        assert!(sphere.step(&p, &v, f64::NAN).is_err());
        assert!(sphere.mean::<f64>(&[], None).is_err());
        assert!(sphere.mean(&p, Some(&[-1.0])).is_err());
        let error = sphere.mean(&[1.0, 0.0, 0.0, f64::NAN], None).unwrap_err();
        assert!(matches!(error, DomainError::Coordinate { index: 3, .. }));
    }

    #[test]
    fn answers_are_those_of_the_manifold() {
        let sphere = Checked::new(Sphere::new(2, 1.0).unwrap());
        let half = std::f64::consts::FRAC_PI_2;
        let (p, q) = ([1.0, 0.0], [0.0, 1.0]);
        assert_eq!(sphere.distance(&p, &q).unwrap(), half);
        assert_eq!(sphere.gradient(&p, &[3.0, 2.0]).unwrap(), [0.0, 2.0]);
        assert_eq!(sphere.inner(&p, &[0.0, 2.0], &[0.0, 3.0]).unwrap(), 6.0);
        let there = sphere.exp(&p, &[0.0, half]).unwrap();
        assert!(there[0].abs() < 1e-16 && there[1] == 1.0);
        let moved = sphere.transport(&p, &q, &[0.0, 1.0]).unwrap();
        assert!((moved[0] + 1.0).abs() < 1e-15 && moved[1].abs() < 1e-15, "{moved:?}");
        let (mean, report) = sphere.mean(&[p, q].concat(), None).unwrap();
        assert!((mean[0] - mean[1]).abs() < 1e-15 && report.unique);
        let simplex = Checked::new(Simplex::new(2).unwrap());
        let (_, step) = simplex.step(&[0.5, 0.5], &[-4.0, 0.0], 1.0).unwrap();
        assert_eq!(step.event, Event::Folded { coordinates: 1 });
        assert!((step.length - 2.0).abs() < 1e-15);
    }

    #[test]
    fn a_gradient_that_overflows_is_an_error() {
        let orthant = Checked::new(PositiveOrthant::new(1).unwrap());
        let error = orthant.gradient(&[1e200], &[1.0]).unwrap_err();
        assert!(matches!(error, DomainError::Coordinate { index: 0, .. }));
        assert!(orthant.step(&[1e200], &[1.0], 1e-300).is_err());
    }
}
