//! # Products
//! $$M_1 \times \dots \times M_k, \qquad d(p, q)^2 = \sum_i d_i(p_i, q_i)^2$$
//! The points of the factors are concatenated; every operation is done factor by factor.
//!
//! **Cost** the sum over the factors. **Care** A walk changes all factors or none: an error in one factor leaves all
//! points unchanged. The event of a walk is that of the first factor that has one. Planes spanned by directions of two
//! factors are flat, so the bounds on the curvature include 0. The injectivity radius is the smallest of the factors.
//! A mean is computed by Karcher's iteration in the product, so a simplex factor accepts no zeros there. **Source**
//! the product metric, \[Boumal23, sec. 3.7\].

use crate::Real;
use crate::error::{ConfigError, DomainError};
use crate::geometry::{Curvature, Event, ExpLog, Manifold, Step, Work};

/// A product of manifolds of one type, of [`AnyManifold`](super::AnyManifold)s, or of boxed ones.
///
/// ```
/// use geowalk::geometry::{ExpLog, Manifold, Work, manifolds::{Euclidean, Product, Sphere}};
/// let factors: Vec<Box<dyn ExpLog<f64>>> =
///     vec![Box::new(Euclidean::new(1)?), Box::new(Sphere::new(2, 1.0)?)];
/// let cylinder = Product::new(factors)?;
/// let mut p = [0.0, 1.0, 0.0];
/// let step = cylinder.exp(&mut p, &[3.0, 0.0, 4.0], 0.5, &mut Work::new())?;
/// assert_eq!((cylinder.dim(), step.length, p[0]), (2, 2.5, 1.5));
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Debug, Clone, PartialEq)]
pub struct Product<M> {
    factors: Vec<M>,
}

impl<M> Product<M> {
    /// The product of at least one factor.
    pub fn new(factors: Vec<M>) -> Result<Self, ConfigError> {
        if factors.is_empty() {
            let meaning = "a product needs at least one manifold";
            return Err(ConfigError::Missing { name: "factors", meaning });
        }
        Ok(Self { factors })
    }

    /// The factors, in order.
    pub fn factors(&self) -> &[M] {
        &self.factors
    }
}

/// Removes and returns the next `n` scalars, or those that are left.
fn front<'a, F>(rest: &mut &'a [F], n: usize) -> &'a [F] {
    let (head, tail) = rest.split_at(n.min(rest.len()));
    *rest = tail;
    head
}

/// Removes and returns the next `n` scalars, or those that are left.
#[allow(clippy::mut_mut)] // the caller's slice shrinks
fn front_mut<'a, F>(rest: &mut &'a mut [F], n: usize) -> &'a mut [F] {
    let all = std::mem::take(rest);
    let (head, tail) = all.split_at_mut(n.min(all.len()));
    *rest = tail;
    head
}

/// Shifts the index of an error in a part of a slice that begins at `offset`, so that it counts from the beginning.
pub(in crate::geometry) fn shifted(mut error: DomainError, offset: usize) -> DomainError {
    if let DomainError::Coordinate { index, .. } = &mut error {
        *index += offset;
    }
    error
}

fn length(what: &'static str, found: usize, expected: usize) -> Result<(), DomainError> {
    if found == expected { Ok(()) } else { Err(DomainError::Dimension { what, found, expected }) }
}

impl<F: Real, M: ExpLog<F>> Manifold<F> for Product<M> {
    fn ambient(&self) -> usize {
        self.factors.iter().fold(0, |sum, factor| sum.saturating_add(factor.ambient()))
    }

    fn dim(&self) -> usize {
        self.factors.iter().fold(0, |sum, factor| sum.saturating_add(factor.dim()))
    }

    fn check(&self, p: &[F]) -> Result<(), DomainError> {
        length("the point", p.len(), self.ambient())?;
        let mut rest = p;
        for factor in &self.factors {
            let offset = p.len() - rest.len();
            let p = front(&mut rest, factor.ambient());
            factor.check(p).map_err(|error| shifted(error, offset))?;
        }
        Ok(())
    }

    fn check_tangent(&self, mut p: &[F], v: &[F]) -> Result<(), DomainError> {
        length("the tangent vector", v.len(), self.ambient())?;
        let mut rest = v;
        for factor in &self.factors {
            let (n, offset) = (factor.ambient(), v.len() - rest.len());
            factor
                .check_tangent(front(&mut p, n), front(&mut rest, n))
                .map_err(|error| shifted(error, offset))?;
        }
        Ok(())
    }

    fn origin(&self, mut p: &mut [F]) {
        for factor in &self.factors {
            factor.origin(front_mut(&mut p, factor.ambient()));
        }
    }

    fn project(&self, mut p: &[F], mut v: &mut [F]) {
        for factor in &self.factors {
            let n = factor.ambient();
            factor.project(front(&mut p, n), front_mut(&mut v, n));
        }
    }

    fn nearest(&self, mut p: &mut [F], work: &mut Work<F>) -> Result<(), DomainError> {
        length("the point", p.len(), Manifold::<F>::ambient(self))?;
        let whole = p.len();
        for factor in &self.factors {
            let offset = whole - p.len();
            let part = front_mut(&mut p, factor.ambient());
            factor.nearest(part, work).map_err(|error| shifted(error, offset))?;
        }
        Ok(())
    }

    fn random(&self, normal: &mut dyn FnMut() -> f64, mut p: &mut [F], work: &mut Work<F>) {
        for factor in &self.factors {
            factor.random(normal, front_mut(&mut p, factor.ambient()), work);
        }
    }

    fn inner(&self, mut p: &[F], mut u: &[F], mut v: &[F], work: &mut Work<F>) -> F {
        let mut sum = F::ZERO;
        for factor in &self.factors {
            let n = factor.ambient();
            sum += factor.inner(front(&mut p, n), front(&mut u, n), front(&mut v, n), work);
        }
        sum
    }

    fn norm(&self, mut p: &[F], mut v: &[F], work: &mut Work<F>) -> F {
        let mut norm = F::ZERO;
        for factor in &self.factors {
            let n = factor.ambient();
            norm = norm.hypot(factor.norm(front(&mut p, n), front(&mut v, n), work));
        }
        norm
    }

    fn gradient(&self, mut p: &[F], covector: &[F], mut v: &mut [F], work: &mut Work<F>) {
        let mut g = covector;
        for factor in &self.factors {
            let n = factor.ambient();
            factor.gradient(front(&mut p, n), front(&mut g, n), front_mut(&mut v, n), work);
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

impl<F: Real, M: ExpLog<F>> ExpLog<F> for Product<M> {
    fn curvature(&self) -> Curvature {
        let flat = (self.factors.len() > 1).then_some(Curvature::FLAT);
        let curvatures = self.factors.iter().map(ExpLog::<F>::curvature).chain(flat);
        curvatures
            .reduce(|a, b| Curvature { min: a.min.min(b.min), max: a.max.max(b.max) })
            .unwrap_or(Curvature::FLAT)
    }

    fn injectivity(&self, mut p: &[F]) -> F {
        let mut least = F::INFINITY;
        for factor in &self.factors {
            least = least.min(factor.injectivity(front(&mut p, factor.ambient())));
        }
        least
    }

    fn exp(&self, p: &mut [F], v: &[F], t: F, work: &mut Work<F>) -> Result<Step<F>, DomainError> {
        let ([saved], work) = work.nested(p.len());
        saved.copy_from_slice(p);
        let mut step = Step::inside(F::ZERO);
        let (mut rest, mut v) = (&mut *p, v);
        for factor in &self.factors {
            let n = factor.ambient();
            match factor.exp(front_mut(&mut rest, n), front(&mut v, n), t, work) {
                Ok(part) => {
                    step.length = step.length.hypot(part.length);
                    if step.event == Event::Inside {
                        step.event = part.event;
                    }
                }
                Err(error) => {
                    p.copy_from_slice(saved);
                    return Err(error);
                }
            }
        }
        if !step.length.is_finite() {
            p.copy_from_slice(saved);
            return Err(DomainError::Overflow { length: step.length.f64(), limit: F::MAX.f64() });
        }
        Ok(step)
    }

    fn log(
        &self,
        mut p: &[F],
        mut q: &[F],
        mut v: &mut [F],
        work: &mut Work<F>,
    ) -> Result<(), DomainError> {
        let ambient = p.len();
        for factor in &self.factors {
            let (n, offset) = (factor.ambient(), ambient - p.len());
            factor
                .log(front(&mut p, n), front(&mut q, n), front_mut(&mut v, n), work)
                .map_err(|error| shifted(error, offset))?;
        }
        Ok(())
    }

    fn distance(&self, mut p: &[F], mut q: &[F], work: &mut Work<F>) -> F {
        let mut distance = F::ZERO;
        for factor in &self.factors {
            let n = factor.ambient();
            distance = distance.hypot(factor.distance(front(&mut p, n), front(&mut q, n), work));
        }
        distance
    }

    fn carry(
        &self,
        mut p: &[F],
        mut q: &[F],
        mut v: &mut [F],
        work: &mut Work<F>,
    ) -> Result<(), DomainError> {
        for factor in &self.factors {
            let n = factor.ambient();
            factor.carry(front(&mut p, n), front(&mut q, n), front_mut(&mut v, n), work)?;
        }
        Ok(())
    }

    fn transport(
        &self,
        mut p: &[F],
        mut q: &[F],
        mut v: &mut [F],
        work: &mut Work<F>,
    ) -> Result<(), DomainError> {
        let ambient = p.len();
        for factor in &self.factors {
            let (n, offset) = (factor.ambient(), ambient - p.len());
            factor
                .transport(front(&mut p, n), front(&mut q, n), front_mut(&mut v, n), work)
                .map_err(|error| shifted(error, offset))?;
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::super::{PositiveOrthant, Simplex, Sphere};
    use super::*;

    type Boxed = Box<dyn ExpLog<f64>>;

    fn product() -> Product<Boxed> {
        let factors: Vec<Boxed> = vec![
            Box::new(Sphere::new(2, 2.0).unwrap()),
            Box::new(Simplex::new(2).unwrap()),
            Box::new(PositiveOrthant::new(1).unwrap()),
        ];
        Product::new(factors).unwrap()
    }

    #[test]
    fn operations_act_factor_by_factor() {
        let product = product();
        let work = &mut Work::new();
        assert_eq!((product.ambient(), product.dim()), (5, 3));
        assert_eq!(product.curvature(), Curvature { min: 0.0, max: 0.25 });
        let mut p = [0.0; 5];
        product.origin(&mut p);
        assert_eq!(p, [2.0, 0.0, 0.5, 0.5, 1.0]);
        product.check(&p).unwrap();
        assert!((product.injectivity(&p) - std::f64::consts::FRAC_PI_2).abs() < 1e-15);
        // The components have lengths 1, 0.4 and 2.
        let v = [0.0, 1.0, 0.2, -0.2, -2.0];
        product.check_tangent(&p, &v).unwrap();
        let mut q = p;
        let step = product.exp(&mut q, &v, 1.0, work).unwrap();
        let length = 5.16_f64.sqrt();
        assert!((step.length - length).abs() < 1e-15 && step.event == Event::Inside);
        assert!((product.norm(&p, &v, work) - length).abs() < 1e-15);
        assert!((product.distance(&p, &q, work) - length).abs() < 1e-14);
        let mut back = [0.0; 5];
        product.log(&p, &q, &mut back, work).unwrap();
        assert!(back.iter().zip(&v).all(|(a, b)| (a - b).abs() < 1e-15), "{back:?}");
        let before = product.inner(&p, &v, &v, work);
        product.transport(&p, &q, &mut back, work).unwrap();
        assert!((product.inner(&q, &back, &back, work) - before).abs() < 1e-14);
        let mut gradient = [0.0; 5];
        product.gradient(&p, &[1.0, 2.0, 3.0, 4.0, 5.0], &mut gradient, work);
        assert_eq!(gradient, [0.0, 2.0, -0.25, 0.25, 5.0]);
        let mut mean = [0.0; 5];
        product.mean(&[p, q].concat(), None, &mut mean, work).unwrap();
        assert!((product.distance(&p, &mean, work) - length / 2.0).abs() < 1e-13);
    }

    #[test]
    fn an_error_in_a_later_factor_undoes_the_earlier_ones() {
        let product = product();
        let start = [2.0, 0.0, 0.5, 0.5, 1e-10];
        let mut p = start;
        let error = product.exp(&mut p, &[0.0, 1.0, 0.1, -0.1, 1e300], 1.0, &mut Work::new());
        assert!(matches!(error, Err(DomainError::Overflow { .. })) && p == start);
    }

    #[test]
    fn the_first_event_is_reported_and_errors_count_from_the_beginning() {
        let product = product();
        let mut p = [2.0, 0.0, 0.5, 0.5, 1.0];
        let step = product.exp(&mut p, &[0.0, 0.0, 1.0, -1.0, 1e4], 1.0, &mut Work::new()).unwrap();
        assert_eq!(step.event, Event::Folded { coordinates: 1 });
        let error = product.check(&[2.0, 0.0, 1.5, -0.5, 1.0]).unwrap_err();
        assert!(matches!(error, DomainError::Coordinate { index: 3, value: -0.5, .. }));
        let error = product.check(&[2.0, 0.0]).unwrap_err();
        assert_eq!(error.to_string(), "the point has 2 coordinates; 5 are needed");
        assert!(Product::<Boxed>::new(Vec::new()).is_err());
        // A product of one factor keeps the curvature.
        let one = Product::new(vec![Sphere::new(3, 1.0).unwrap()]).unwrap();
        assert_eq!(ExpLog::<f64>::curvature(&one), Curvature::constant(1.0));
        // Short slices give meaningless results, but never a panic.
        let _ = product.distance(&p[..1], &p[..3], &mut Work::new());
        let _ = product.exp(&mut p[..3], &[1.0], 1.0, &mut Work::new());
    }
}
