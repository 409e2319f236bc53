//! # Hessian manifolds
//! $$\langle u, v \rangle_w = u^\top \nabla^2\psi(w)\, v, \qquad
//!   \mathrm{grad} L = \nabla^2\psi(w)^{-1} \partial L, \qquad
//!   R_w(v) = \nabla\psi^{-1}\big(\nabla\psi(w) + \nabla^2\psi(w)\, v\big)$$
//! The domain of a [`Generator`](super::Generator) with the metric ∇²ψ: to second order the divergence is half the
//! squared distance.
//!
//! **The mirror step is a natural-gradient step.** The retraction R is a straight line in the dual chart θ = ∇ψ(w),
//! with velocity ∇²ψ(w) v. For v = −η grad L the two Hessians cancel:
//! $\nabla\psi(w') = \nabla\psi(w) - \eta\, \partial L$, mirror descent, exactly and for every rate. \[NN09, eq.
//! (48)\]
//!
//! **It is not a geodesic step.** If ψ is [`Separable`], the metric is flat, with flat coordinates
//! $f(w) = \int \sqrt{\psi_1''}$. Geodesics are straight in f, not in θ. So `Hessian` has both:
//! [`retract`](Manifold::retract) is the straight line in θ, [`exp`](ExpLog::exp) the geodesic. They agree to first
//! order, and to higher order only if ψ is quadratic.
//!
//! | generator | ψ₁″ | flat coordinate | the manifold |
//! |---|---|---|---|
//! | `squared-euclidean` | 2 | √2 w | ℝⁿ, distances times √2 |
//! | `entropy` | 1/w | 2√w | the orthant of a sphere's ambient space; not complete |
//! | `burg` | 1/w² | ln w | the positive orthant with the metric of the logarithm |
//! | `simplex-entropy` | not separable | | Fisher's metric: Σ uv/w, grad L = w∘(∂L − ⟨w, ∂L⟩) |
//!
//! **Cost** that of the generator. **Care** A straight line in θ may leave the image of the link (Itakura–Saito), and
//! its end may overflow or underflow. Both are errors with the coordinate, and the point is unchanged.
//! [`Step::length`] of `retract` is ‖v‖ at the start, not the length of the curve. A q-norm with q < 2 has no Hessian
//! at points with a zero coordinate. `check` and steps that would end at such a point return an error, although the
//! generator accepts it.
//! **Source** \[NN09, sec. 4.1\]; \[AN00, ch. 3\]; flat if separable.

use super::link::{self, Link, PullBack};
use super::mean::Mean;
use super::{Curvature, Curved, ExpLog, Manifold, Separable, Step, Work};
use crate::Real;
use crate::error::{self, Allowed, ConfigError, DomainError};
use crate::row::Norm;

/// The domain of a generator with the metric ∇²ψ.
///
/// ```
/// use geowalk::geometry::generators::KullbackLeibler;
/// use geowalk::geometry::{ExpLog, Hessian, Manifold, Work};
/// let manifold = Hessian::new(KullbackLeibler, 2)?;
/// let (w, mut v, mut work) = ([0.5, 2.0], [0.0; 2], Work::new());
/// manifold.gradient(&w, &[1.0, -1.0], &mut v, &mut work);
/// assert_eq!(v, [0.5, -2.0]);
/// // The walk in the dual chart is the mirror step w·exp(−η∂L) …
/// let mut mirror = w;
/// manifold.retract(&mut mirror, &v, -0.5, &mut work)?;
/// assert_eq!(format!("{mirror:.4?}"), "[0.3033, 3.2974]");
/// // … and the geodesic is (√w + tv/(2√w))².
/// let mut geodesic = w;
/// manifold.exp(&mut geodesic, &v, -0.5, &mut work)?;
/// assert_eq!(format!("{geodesic:.5?}"), "[0.28125, 3.12500]");
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Debug, Clone, PartialEq)]
pub struct Hessian<G> {
    generator: G,
    n: usize,
}

impl<G> Hessian<G> {
    /// The manifold for n weights, n ≥ 1.
    pub fn new(generator: G, n: usize) -> Result<Self, ConfigError> {
        error::parameter("n", n as f64, Allowed::Whole(1))?;
        Ok(Self { generator, n })
    }

    /// The generator.
    pub fn generator(&self) -> &G {
        &self.generator
    }

    fn flat(&self) -> PullBack<Flat<'_, G>> {
        PullBack::checked(Flat(&self.generator), self.n)
    }
}

impl<F: Real, G: Curved<F>> Manifold<F> for Hessian<G> {
    fn ambient(&self) -> usize {
        self.n
    }

    fn dim(&self) -> usize {
        Curved::<F>::dim(&self.generator, self.n)
    }

    fn check(&self, p: &[F]) -> Result<(), DomainError> {
        error::finite("the point", p, self.n)?;
        self.generator.check_curved(p)
    }

    fn check_tangent(&self, p: &[F], v: &[F]) -> Result<(), DomainError> {
        error::finite("the tangent vector", v, self.n)?;
        self.generator.check_tangent(p, v)
    }

    fn origin(&self, p: &mut [F]) {
        self.generator.origin(p);
    }

    fn project(&self, p: &[F], v: &mut [F]) {
        self.generator.project(p, v);
    }

    fn inner(&self, p: &[F], u: &[F], v: &[F], work: &mut Work<F>) -> F {
        let [covector] = work.take(v.len());
        self.generator.hessian(p, v, covector);
        u.iter().zip(covector).map(|(&u, &mut g)| u * g).sum()
    }

    /// Computed for v divided by its largest coordinate, then multiplied by it: squares of tiny or huge vectors would
    /// underflow or overflow.
    fn norm(&self, p: &[F], v: &[F], work: &mut Work<F>) -> F {
        let largest = Norm::LInf.of(v);
        if largest == F::ZERO || !largest.is_finite() {
            return largest;
        }
        let [unit, covector] = work.take(v.len());
        for (unit, &v) in unit.iter_mut().zip(v) {
            *unit = v / largest;
        }
        self.generator.hessian(p, unit, covector);
        let square: F = unit.iter().zip(&*covector).map(|(&u, &g)| u * g).sum();
        largest * square.max(F::ZERO).sqrt()
    }

    fn gradient(&self, p: &[F], covector: &[F], v: &mut [F], _: &mut Work<F>) {
        self.generator.hessian_inverse(p, covector, v);
    }

    /// The straight line in the dual chart, θ ← θ + t ∇²ψ v.
    fn retract(
        &self,
        p: &mut [F],
        v: &[F],
        t: F,
        work: &mut Work<F>,
    ) -> Result<Step<F>, DomainError> {
        let length = t.abs() * self.norm(p, v, work);
        if !length.is_finite() {
            return Err(DomainError::Overflow { length: length.f64(), limit: F::MAX.f64() });
        }
        let [theta, covector] = work.take(p.len());
        self.generator.link(p, theta);
        self.generator.hessian(p, v, covector);
        for (theta, &mut g) in theta.iter_mut().zip(covector.iter_mut()) {
            *theta += t * g;
        }
        self.generator
            .check_dual(theta)
            .map_err(link::after_step("the dual point after the step"))?;
        let moved = covector;
        self.generator.unlink(theta, moved);
        self.generator.check_curved(moved).map_err(link::after_step("the point after the step"))?;
        for (p, &mut moved) in p.iter_mut().zip(moved) {
            *p = moved;
        }
        Ok(Step::inside(length))
    }
}

/// The flat coordinate of a separable generator, as a link function.
struct Flat<'a, G>(&'a G);

impl<F: Real, G: Separable<F>> Link<F> for Flat<'_, G> {
    fn check(&self, w: &[F]) -> Result<(), DomainError> {
        self.0.check(w)
    }

    fn link(&self, w: F) -> F {
        self.0.flat1(w)
    }

    fn unlink(&self, theta: F) -> Option<F> {
        self.0.unflat1(theta)
    }

    fn slope(&self, w: F) -> F {
        self.0.curvature1(w).sqrt()
    }

    fn origin(&self) -> F {
        let mut w = [F::ZERO];
        self.0.origin(&mut w);
        w[0]
    }

    /// The generator can only test whether a number is in the image, so the ends are found by halving.
    fn image(&self) -> (F, F) {
        let start = self.0.flat1(self.origin());
        let end = |sign: F| {
            let inside = |d: F| self.0.unflat1(start + sign * d).is_some();
            if inside(F::MAX) {
                return sign * F::INFINITY;
            }
            let (mut near, mut far) = (F::ZERO, start.abs().max(F::ONE));
            while inside(far) && far.is_finite() {
                (near, far) = (far, far * F::TWO);
            }
            for _ in 0..64 {
                let middle = F::HALF * (near + far);
                if inside(middle) {
                    near = middle;
                } else {
                    far = middle;
                }
            }
            start + sign * far
        };
        (end(-F::ONE), end(F::ONE))
    }
}

impl<F: Real, G: Separable<F>> ExpLog<F> for Hessian<G> {
    fn curvature(&self) -> Curvature {
        Curvature::FLAT
    }

    fn injectivity(&self, p: &[F]) -> F {
        self.flat().injectivity(p)
    }

    fn exp(&self, p: &mut [F], v: &[F], t: F, work: &mut Work<F>) -> Result<Step<F>, DomainError> {
        self.flat().exp(p, v, t, work)
    }

    fn log(&self, p: &[F], q: &[F], v: &mut [F], work: &mut Work<F>) -> Result<(), DomainError> {
        self.flat().log(p, q, v, work)
    }

    fn distance(&self, p: &[F], q: &[F], work: &mut Work<F>) -> F {
        self.flat().distance(p, q, work)
    }

    fn transport(
        &self,
        p: &[F],
        q: &[F],
        v: &mut [F],
        work: &mut Work<F>,
    ) -> Result<(), DomainError> {
        self.flat().transport(p, q, v, work)
    }

    fn mean(
        &self,
        points: &[F],
        weights: Option<&[F]>,
        p: &mut [F],
        work: &mut Work<F>,
    ) -> Result<Mean, DomainError> {
        self.flat().mean(points, weights, p, work)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::geometry::Generator;
    use crate::geometry::generators::{
        AnyGenerator, ItakuraSaito, KullbackLeibler, SimplexEntropy, SquaredEuclidean,
    };
    use crate::geometry::link::{Identity, Log, Root};

    fn close(a: &[f64], b: &[f64], tolerance: f64) {
        for (a, b) in a.iter().zip(b) {
            assert!((a - b).abs() <= tolerance * b.abs().max(1e-3), "{a} {b}");
        }
    }

    #[test]
    fn a_natural_gradient_step_is_a_mirror_step() {
        for spec in [
            "squared-euclidean",
            "entropy",
            "simplex-entropy",
            "burg",
            "mahalanobis(sigma=4 2 -2; 2 10 2; -2 2 5)",
            "p-norm(q=2)",
            "p-norm(q=1.5)",
            "p-norm(q=1.1)",
        ] {
            let generator = AnyGenerator::parse(spec, 3).unwrap();
            let manifold = Hessian::new(generator.clone(), 3).unwrap();
            let (p, covector) = ([0.2, 0.5, 0.3], [1.0, -0.7, 0.4]);
            for rate in [0.01, 0.5, 2.0] {
                let (mut v, mut mirror, mut work) = ([0.0; 3], [0.0; 3], Work::new());
                manifold.gradient(&p, &covector, &mut v, &mut work);
                manifold.check_tangent(&p, &v).unwrap();
                let mut natural = p;
                let step = manifold.retract(&mut natural, &v, -rate, &mut work).unwrap();
                let dual = covector.map(|g| -rate * g);
                generator.legendre_dual(&dual, &p, &mut mirror, &mut work);
                close(&natural, &mirror, 1e-12);
                let square = manifold.inner(&p, &v, &v, &mut work);
                assert!((step.length - rate * square.sqrt()).abs() < 1e-14);
                // ⟨grad L, u⟩ = ∂L(u) for a tangent u.
                let u = [0.3, -0.1, -0.2];
                let dl: f64 = covector.iter().zip(u).map(|(g, u)| g * u).sum();
                assert!((manifold.inner(&p, &v, &u, &mut work) - dl).abs() < 1e-13, "{spec}");
            }
        }
    }

    #[test]
    fn simplex_has_the_fisher_metric() {
        let manifold = Hessian::new(SimplexEntropy, 3).unwrap();
        assert_eq!(Manifold::<f64>::dim(&manifold), 2);
        let (p, u, v) = ([0.2, 0.5, 0.3], [0.1, 0.2, -0.3], [-0.4, 0.1, 0.3]);
        let g = [1.0, -2.0, 0.5];
        let mut work = Work::new();
        let fisher: f64 = (0..3).map(|i| u[i] * v[i] / p[i]).sum();
        assert!((manifold.inner(&p, &u, &v, &mut work) - fisher).abs() < 1e-15);
        let mean: f64 = (0..3).map(|i| p[i] * g[i]).sum();
        let expected: [f64; 3] = std::array::from_fn(|i| p[i] * (g[i] - mean));
        let mut gradient = [0.0; 3];
        manifold.gradient(&p, &g, &mut gradient, &mut work);
        close(&gradient, &expected, 1e-15);
    }

    fn same<G: Separable<f64>, L: Link<f64>>(generator: G, link: L, scale: f64) {
        let hessian = Hessian::new(generator, 2).unwrap();
        let flat = PullBack::new(link, 2).unwrap();
        let (p, q, v) = ([0.7, 2.0], [1.5, 0.4], [0.3, -0.8]);
        let mut work = Work::new();
        let distance = flat.distance(&p, &q, &mut work);
        assert!((hessian.distance(&p, &q, &mut work) - scale * distance).abs() < 1e-15);
        let (mut a, mut b) = ([0.0; 2], [0.0; 2]);
        hessian.log(&p, &q, &mut a, &mut work).unwrap();
        flat.log(&p, &q, &mut b, &mut work).unwrap();
        close(&a, &b, 1e-14);
        (a, b) = (p, p);
        let step = hessian.exp(&mut a, &v, 0.9, &mut work).unwrap();
        let length = flat.exp(&mut b, &v, 0.9, &mut work).unwrap().length;
        close(&a, &b, 1e-14);
        assert!((step.length - scale * length).abs() < 1e-15);
        (a, b) = (v, v);
        hessian.transport(&p, &q, &mut a, &mut work).unwrap();
        flat.transport(&p, &q, &mut b, &mut work).unwrap();
        close(&a, &b, 1e-14);
        let points = [p[0], p[1], q[0], q[1]];
        hessian.mean(&points, Some(&[1.0, 3.0]), &mut a, &mut work).unwrap();
        flat.mean(&points, Some(&[1.0, 3.0]), &mut b, &mut work).unwrap();
        close(&a, &b, 1e-14);
        let (found, expected) = (hessian.injectivity(&p), flat.injectivity(&p));
        assert!(found == expected || (found - expected).abs() < 1e-15, "{found} {expected}");
    }

    #[test]
    fn flat_coordinates_of_the_separable_ones() {
        same(SquaredEuclidean, Identity, 2.0_f64.sqrt());
        same(KullbackLeibler, Root, 1.0);
        same(ItakuraSaito, Log, 1.0);
    }

    #[test]
    fn leaving_is_an_error_that_leaves_the_point_alone() {
        let burg = Hessian::new(ItakuraSaito, 2).unwrap();
        let (mut p, mut work) = ([1.0, 2.0], Work::new());
        // θ = −1/w = (−1, −½); v = 4 in the second coordinate gives ∇²ψ v = 1.
        let error = burg.retract(&mut p, &[0.0, 4.0], 1.0, &mut work).unwrap_err();
        assert_eq!(
            error.to_string(),
            "coordinate 1 of the dual point after the step is 0.5; it must be a finite number < 0"
        );
        let entropy = Hessian::new(KullbackLeibler, 2).unwrap();
        for t in [1e3, -1e3, f64::NAN, f64::INFINITY] {
            assert!(entropy.retract(&mut p, &[1.0, 0.0], t, &mut work).is_err(), "{t}");
        }
        let error = entropy.exp(&mut p, &[0.0, -8.0], 1.0, &mut work).unwrap_err();
        assert!(error.to_string().ends_with("it must be in (0, inf)"), "{error}");
        assert_eq!(p, [1.0, 2.0]);
        let kinked = Hessian::new(AnyGenerator::parse("p-norm(q=1.5)", 2).unwrap(), 2).unwrap();
        assert!(kinked.retract(&mut [0.0, 1.0], &[1.0, 1.0], 1.0, &mut work).is_err());
        assert!(Hessian::new(KullbackLeibler, 0).is_err());
        assert!(entropy.check(&[1.0, 1.0, 1.0]).is_err());
    }

    /// D(w + v‖w) = ½‖v‖² to second order: halving v halves the relative error.
    #[test]
    fn the_divergence_is_half_the_squared_length() {
        for spec in ["entropy", "burg", "p-norm(q=1.3)", "simplex-entropy"] {
            let generator = AnyGenerator::parse(spec, 3).unwrap();
            let manifold = Hessian::new(generator.clone(), 3).unwrap();
            let (p, mut work) = ([0.2, 0.5, 0.3], Work::new());
            let error = |h: f64| {
                let v = [0.3 * h, -0.1 * h, -0.2 * h];
                let u: [f64; 3] = std::array::from_fn(|i| p[i] + v[i]);
                let half = 0.5 * manifold.inner(&p, &v, &v, &mut Work::new());
                (generator.divergence(&u, &p) / half - 1.0).abs()
            };
            assert!(error(1e-4) < 1e-3 && error(1e-6) < 1e-5, "{spec}");
            let v = [0.3, -0.1, -0.2];
            assert!(manifold.inner(&p, &v, &v, &mut work) > 0.0);
        }
    }
}
