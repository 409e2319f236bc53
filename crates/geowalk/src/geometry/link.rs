//! # Link functions
//! $$\langle u, v\rangle_w = \sum_i f'(w_i)^2 u_i v_i, \qquad \exp_w(v) = f^{-1}\big(f(w) + f'(w)\, v\big), \qquad
//!   d(w, q) = \Vert f(w) - f(q) \Vert_2$$
//! A link function f maps each weight into ℝ, and plain gradient descent then moves the mapped weights. [`PullBack`]
//! is the equivalent manifold: its metric makes f an isometry onto its image.
//!
//! **Link function algorithms are geodesic walks.** Gradient descent on θ = f(w) is
//! $$f(w') = f(w) - \eta\, \partial (L \circ f^{-1}) = f(w) - \eta\, \frac{\partial L(w)}{f'(w)}. \tag{5}$$
//! The gradient in the pulled-back metric is $\mathrm{grad} L = \partial L/f'^2$, and a geodesic is a straight line in
//! θ. So $\exp_w(-\eta\, \mathrm{grad} L)$ adds $-\eta f' \cdot \partial L/f'^2$ to θ. That is exactly (5), for every
//! loss and every rate, and for no other metric. \[KMWW07, prop. 10\]
//!
//! **Mirror descent is a different algorithm.** With the same f, $f(w') = f(w) - \eta\, \partial L(w)$ \[KMWW07s, eq.
//! (6)\] does not divide by f′. It is the mirror step of the generator with ψ′ = f, and does not follow a geodesic of
//! this metric. For f = ln, w = (½, 2), ∂L = (1, −1), η = ½, gradient descent on the link gives (0.3894, 5.4366),
//! natural exponentiated gradient. Mirror descent gives (0.3033, 3.2974), exponentiated gradient. Only mirror descent
//! has the advantage of multiplicative updates on sparse targets. See [`Hessian`](super::Hessian) for the manifold on
//! which it *is* a natural-gradient step.
//!
//! | link | f(w) | weights | image | the manifold |
//! |---|---|---|---|---|
//! | [`Identity`] | w | ℝ | ℝ | Euclidean space |
//! | [`Log`] | ln w | w > 0 | ℝ | the positive orthant with the metric of the logarithm |
//! | [`Root`] | 2√w | w > 0 | f > 0 | the orthant with the metric of the Kullback–Leibler Hessian; not complete |
//! | [`Logit`] | ln(w/(1−w)) | 0 < w < 1 | ℝ | the cube |
//! | [`Asinh`] | arsinh(w/β) | ℝ | ℝ | linear for weights well below β in size, logarithmic well above (hypentropy) |
//!
//! **Cost** O(n). **Care** If the image of f is not all of ℝ, a long step may leave it. That is an error with the
//! coordinate; nothing is folded back. Each link computes differences f(q) − f(p) and steps f⁻¹(f(p) + d) in a form
//! that keeps all digits for near points. **Source** \[KMWW07, sec. 6\]; hypentropy \[GHS20\]; curvature 0.

mod functions;

pub use functions::{Asinh, Identity, Log, Logit, Root};

use super::mean::{self, Mean};
use super::{Curvature, ExpLog, Manifold, Step, Work};
use crate::Real;
use crate::error::{self, Allowed, ConfigError, DomainError};
use crate::row::Norm;

/// A diffeomorphism f from an interval of weights onto an interval of ℝ, applied to each coordinate.
pub trait Link<F: Real> {
    /// Are all of these weights in the interval where f is defined?
    fn check(&self, w: &[F]) -> Result<(), DomainError>;

    /// f(w).
    fn link(&self, w: F) -> F;

    /// f⁻¹(θ). `None` outside the image of f; NaN for NaN.
    fn unlink(&self, theta: F) -> Option<F>;

    /// f′(w) > 0.
    fn slope(&self, w: F) -> F;

    /// The ends of the image of f.
    fn image(&self) -> (F, F) {
        (-F::INFINITY, F::INFINITY)
    }

    /// A canonical weight: the one with f(w) = 0, if it exists.
    fn origin(&self) -> F;

    /// f(q) − f(p), accurate for q near p.
    fn difference(&self, p: F, q: F) -> F {
        self.link(q) - self.link(p)
    }

    /// f⁻¹(f(w) + d), accurate for small d. `None` outside the image of f.
    fn shift(&self, w: F, d: F) -> Option<F> {
        self.unlink(self.link(w) + d)
    }
}

/// The weights with the metric that a [`Link`] pulls back from ℝⁿ.
///
/// ```
/// use geowalk::geometry::link::{Log, PullBack};
/// use geowalk::geometry::{ExpLog, Manifold, Work};
/// let orthant = PullBack::new(Log, 2)?;
/// let (mut w, mut gradient, mut work) = ([0.5, 2.0], [0.0; 2], Work::new());
/// orthant.gradient(&w, &[1.0, -1.0], &mut gradient, &mut work);
/// orthant.exp(&mut w, &gradient, -0.5, &mut work)?;
/// assert_eq!(format!("{w:.4?}"), "[0.3894, 5.4366]");
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Debug, Clone, PartialEq)]
pub struct PullBack<L> {
    link: L,
    n: usize,
}

impl<L> PullBack<L> {
    /// For n weights, n ≥ 1.
    pub fn new(link: L, n: usize) -> Result<Self, ConfigError> {
        error::parameter("n", n as f64, Allowed::Whole(1))?;
        Ok(Self { link, n })
    }

    /// Like [`PullBack::new`], for an n that was already checked.
    pub(super) fn checked(link: L, n: usize) -> Self {
        Self { link, n }
    }

    /// The link function.
    pub fn link(&self) -> &L {
        &self.link
    }
}

/// Changes an error about a point into one about the end of a step.
pub(super) fn after_step(what: &'static str) -> impl Fn(DomainError) -> DomainError {
    move |error| match error {
        DomainError::Coordinate { index, value, allowed, .. } => {
            DomainError::Coordinate { what, index, value, allowed }
        }
        other => other,
    }
}

impl<F: Real, L: Link<F>> Manifold<F> for PullBack<L> {
    fn ambient(&self) -> usize {
        self.n
    }

    fn dim(&self) -> usize {
        self.n
    }

    fn check(&self, p: &[F]) -> Result<(), DomainError> {
        error::finite("the point", p, self.n)?;
        self.link.check(p)
    }

    fn check_tangent(&self, _: &[F], v: &[F]) -> Result<(), DomainError> {
        error::finite("the tangent vector", v, self.n)
    }

    fn origin(&self, p: &mut [F]) {
        p.fill(self.link.origin());
    }

    fn project(&self, _: &[F], _: &mut [F]) {}

    fn inner(&self, p: &[F], u: &[F], v: &[F], _: &mut Work<F>) -> F {
        let pairs = u.iter().zip(v).zip(p);
        pairs
            .map(|((&u, &v), &p)| {
                let slope = self.link.slope(p);
                (slope * u) * (slope * v)
            })
            .sum()
    }

    fn norm(&self, p: &[F], v: &[F], work: &mut Work<F>) -> F {
        let [flat] = work.take(p.len().min(v.len()));
        for (flat, (&p, &v)) in flat.iter_mut().zip(p.iter().zip(v)) {
            *flat = self.link.slope(p) * v;
        }
        Norm::L2.of(flat)
    }

    fn gradient(&self, p: &[F], covector: &[F], v: &mut [F], _: &mut Work<F>) {
        for ((v, &g), &p) in v.iter_mut().zip(covector).zip(p) {
            let slope = self.link.slope(p);
            *v = g / slope / slope;
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

impl<F: Real, L: Link<F>> ExpLog<F> for PullBack<L> {
    fn curvature(&self) -> Curvature {
        Curvature::FLAT
    }

    /// The distance of f(p) from the boundary of the image; infinite if the image is ℝⁿ.
    fn injectivity(&self, p: &[F]) -> F {
        let (lo, hi) = self.link.image();
        p.iter().fold(F::INFINITY, |reach, &p| {
            let f = self.link.link(p);
            reach.min(f - lo).min(hi - f)
        })
    }

    fn exp(&self, p: &mut [F], v: &[F], t: F, work: &mut Work<F>) -> Result<Step<F>, DomainError> {
        let [moved, shift] = work.take(p.len().min(v.len()));
        let places = moved.iter_mut().zip(&mut *shift).zip(p.iter().zip(v)).enumerate();
        for (index, ((moved, shift), (&p, &v))) in places {
            *shift = t * (self.link.slope(p) * v);
            let Some(q) = self.link.shift(p, *shift) else {
                let (lo, hi) = self.link.image();
                return Err(DomainError::Coordinate {
                    what: "the flat coordinates after the step",
                    index,
                    value: (self.link.link(p) + *shift).f64(),
                    allowed: Allowed::Open(lo.f64(), hi.f64()),
                });
            };
            *moved = q;
        }
        // f⁻¹ of a point in the image may overflow or underflow.
        self.link.check(moved).map_err(after_step("the point after the step"))?;
        let length = Norm::L2.of(shift);
        for (p, &moved) in p.iter_mut().zip(&*moved) {
            *p = moved;
        }
        Ok(Step::inside(length))
    }

    fn log(&self, p: &[F], q: &[F], v: &mut [F], _: &mut Work<F>) -> Result<(), DomainError> {
        for ((v, &q), &p) in v.iter_mut().zip(q).zip(p) {
            *v = self.link.difference(p, q) / self.link.slope(p);
        }
        Ok(())
    }

    fn distance(&self, p: &[F], q: &[F], work: &mut Work<F>) -> F {
        let [v] = work.take(p.len().min(q.len()));
        for ((v, &q), &p) in v.iter_mut().zip(q).zip(p) {
            *v = self.link.difference(p, q);
        }
        Norm::L2.of(v)
    }

    fn transport(&self, p: &[F], q: &[F], v: &mut [F], _: &mut Work<F>) -> Result<(), DomainError> {
        for ((v, &q), &p) in v.iter_mut().zip(q).zip(p) {
            *v = *v * self.link.slope(p) / self.link.slope(q);
        }
        Ok(())
    }

    fn mean(
        &self,
        points: &[F],
        weights: Option<&[F]>,
        p: &mut [F],
        _: &mut Work<F>,
    ) -> Result<Mean, DomainError> {
        // The image is an interval, so it contains the mean of its points.
        let back = |m| self.link.unlink(m).unwrap_or(F::NAN);
        mean::arithmetic(points, weights, p, |x| self.link.link(x), back)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// \[KMWW07, eq. (5)\]: f(w) − η ∂(L∘f⁻¹), with the differential of L∘f⁻¹ computed by central differences of a
    /// nonlinear loss.
    #[test]
    fn gradient_descent_on_the_link_is_the_geodesic_step() {
        fn walk<L: Link<f64>>(link: L, w: &[f64; 3], rate: f64) {
            let loss = |w: &[f64]| {
                let z = w[0] - 2.0 * w[1] + 0.5 * w[2];
                (z - 1.0) * (z - 1.0) + w[0] * w[2]
            };
            let theta = w.map(|w| link.link(w));
            let mut expected = [0.0; 3];
            for i in 0..3 {
                let at = |h: f64| {
                    let mut w = *w;
                    w[i] = link.unlink(theta[i] + h).unwrap();
                    loss(&w)
                };
                let slope = (at(1e-5) - at(-1e-5)) / 2e-5;
                expected[i] = link.unlink(theta[i] - rate * slope).unwrap();
            }
            let z = w[0] - 2.0 * w[1] + 0.5 * w[2] - 1.0;
            let covector = [2.0 * z + w[2], -4.0 * z, z + w[0]];
            let manifold = PullBack::new(link, 3).unwrap();
            let (mut moved, mut v, mut work) = (*w, [0.0; 3], Work::new());
            manifold.gradient(w, &covector, &mut v, &mut work);
            manifold.retract(&mut moved, &v, -rate, &mut work).unwrap();
            for (a, b) in moved.iter().zip(expected) {
                assert!((a - b).abs() < 1e-8, "{moved:?} {expected:?}");
            }
        }
        let w = [0.3, 0.6, 0.2];
        walk(Identity, &w, 0.3);
        walk(Log, &w, 0.3);
        walk(Root, &w, 0.1);
        walk(Logit, &w, 0.3);
        walk(Asinh::new(0.1).unwrap(), &w, 0.3);
    }

    #[test]
    fn mirror_descent_with_the_same_link_is_another_algorithm() {
        let (w, covector, rate) = ([0.5, 2.0], [1.0, -1.0], 0.5);
        let orthant = PullBack::new(Log, 2).unwrap();
        let (mut geodesic, mut v, mut work) = (w, [0.0; 2], Work::new());
        orthant.gradient(&w, &covector, &mut v, &mut work);
        orthant.exp(&mut geodesic, &v, -rate, &mut work).unwrap();
        let mirror: [f64; 2] =
            std::array::from_fn(|i| Real::exp(Real::ln(w[i]) - rate * covector[i]));
        assert_eq!(format!("{geodesic:.4?} {mirror:.4?}"), "[0.3894, 5.4366] [0.3033, 3.2974]");
    }

    fn laws<L: Link<f64>>(link: L, p: [f64; 2], q: [f64; 2]) {
        let manifold = PullBack::new(link, 2).unwrap();
        let mut work = Work::new();
        let mut v = [0.0; 2];
        manifold.log(&p, &q, &mut v, &mut work).unwrap();
        let distance = manifold.distance(&p, &q, &mut work);
        assert!((manifold.norm(&p, &v, &mut work) - distance).abs() <= 1e-14 * distance);
        let mut moved = p;
        let step = manifold.exp(&mut moved, &v, 1.0, &mut work).unwrap();
        assert!((step.length - distance).abs() <= 1e-14 * distance);
        assert!(moved.iter().zip(q).all(|(m, q)| (m - q).abs() <= 1e-14 * q.abs()), "{moved:?}");
        // Transport maps the geodesic's velocity to its velocity and preserves lengths.
        let mut carried = v;
        manifold.transport(&p, &q, &mut carried, &mut work).unwrap();
        let mut back = [0.0; 2];
        manifold.log(&q, &p, &mut back, &mut work).unwrap();
        let opposite = carried.iter().zip(back).all(|(c, b)| (c + b).abs() <= 1e-13 * b.abs());
        assert!(opposite, "{carried:?} {back:?}");
        // The midpoint of two points is their mean.
        let mut middle = p;
        manifold.exp(&mut middle, &v, 0.5, &mut work).unwrap();
        let points = [p[0], p[1], q[0], q[1]];
        let mut mean = [0.0; 2];
        manifold.mean(&points, None, &mut mean, &mut work).unwrap();
        assert!(mean.iter().zip(middle).all(|(a, b)| (a - b).abs() < 1e-14), "{mean:?} {middle:?}");
        let mut origin = [0.0; 2];
        manifold.origin(&mut origin);
        manifold.check(&origin).unwrap();
    }

    #[test]
    fn exp_log_distance_transport_mean() {
        let (p, q) = ([0.3, 0.9], [0.4, 0.2]);
        laws(Identity, p, q);
        laws(Log, p, q);
        laws(Root, p, q);
        laws(Logit, p, q);
        laws(Asinh::new(0.5).unwrap(), p, [-3.0, 0.2]);
    }

    /// The closed forms of the positive orthant: p∘exp(v/p), p∘ln(q/p), ‖ln(q/p)‖, p²∘g, v∘q/p.
    #[test]
    fn the_logarithm_makes_the_positive_orthant() {
        let manifold = PullBack::new(Log, 2).unwrap();
        let (p, q, v, mut work) = ([0.5, 2.0], [3.0, 0.1], [0.3, -1.0], Work::new());
        let [mut moved, mut log, mut gradient, mut carried] = [p, p, p, v];
        manifold.exp(&mut moved, &v, 1.0, &mut work).unwrap();
        manifold.log(&p, &q, &mut log, &mut work).unwrap();
        manifold.gradient(&p, &v, &mut gradient, &mut work);
        manifold.transport(&p, &q, &mut carried, &mut work).unwrap();
        for i in 0..2 {
            let ratio = Real::ln(q[i] / p[i]);
            for (found, expected) in [
                (moved[i], p[i] * Real::exp(v[i] / p[i])),
                (log[i], p[i] * ratio),
                (gradient[i], p[i] * p[i] * v[i]),
                (carried[i], v[i] * q[i] / p[i]),
            ] {
                assert!((found - expected).abs() <= 2e-16 * expected.abs(), "{found} {expected}");
            }
        }
        let distance = Real::hypot(Real::ln(6.0), Real::ln(20.0));
        assert!((manifold.distance(&p, &q, &mut work) - distance).abs() < 1e-15);
    }

    #[test]
    fn leaving_the_image_is_an_error_that_leaves_the_point_alone() {
        let manifold = PullBack::new(Root, 2).unwrap();
        let (mut p, mut work) = ([4.0, 1.0], Work::new());
        // f = 2√w: the second coordinate goes from 2 to 2 − 3.
        let error = manifold.exp(&mut p, &[0.0, -3.0], 1.0, &mut work).unwrap_err();
        assert_eq!(
            error.to_string(),
            "coordinate 1 of the flat coordinates after the step is -1; it must be in (0, inf)"
        );
        assert_eq!(p, [4.0, 1.0]);
        assert_eq!(manifold.injectivity(&p), 2.0);
        let manifold = PullBack::new(Log, 2).unwrap();
        let error = manifold.exp(&mut p, &[0.0, 1.0], 1000.0, &mut work).unwrap_err();
        assert_eq!(
            error.to_string(),
            "coordinate 1 of the point after the step is inf; it must be a finite number > 0"
        );
        assert!(manifold.exp(&mut p, &[f64::NAN, 1.0], 1.0, &mut work).is_err());
        assert_eq!((p, manifold.injectivity(&p)), ([4.0, 1.0], f64::INFINITY));
    }
}
