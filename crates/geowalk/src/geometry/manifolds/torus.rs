//! # Torus
//! $$S^1 \times \dots \times S^1, \qquad d(p, q)^2 = \sum_j \mathrm{angle}(p_j, q_j)^2$$
//! n circles, each a pair of coordinates (cos φ, sin φ): points of ℝ²ⁿ. The torus is flat: geodesics rotate every
//! circle at a constant speed.
//!
//! **Cost** O(n). **Care** As for the sphere, opposite points of a circle are joined in two ways. Angles are never
//! stored, so nothing jumps from 2π to 0. **Source** \[Boumal23, sec. 3.7 and 7.2\].

use super::{Product, Sphere};
use crate::Real;
use crate::error::{self, Allowed, ConfigError, DomainError};
use crate::geometry::mean::{self, Mean};
use crate::geometry::{Curvature, ExpLog, Manifold, Step, Work};

/// n circles.
///
/// ```
/// use geowalk::geometry::{ExpLog, Sign, Work, manifolds::Torus};
/// let torus = Torus::new(2)?;
/// let mut p = [1.0, 0.0, 1.0, 0.0];
/// let quarter = std::f64::consts::FRAC_PI_2;
/// torus.exp(&mut p, &[0.0, 1.0, 0.0, -1.0], quarter, &mut Work::new())?;
/// assert!((p[1] - 1.0).abs() < 1e-15 && (p[3] + 1.0).abs() < 1e-15);
/// assert_eq!(ExpLog::<f64>::curvature(&torus).sign(), Sign::Flat);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Debug, Clone, PartialEq)]
pub struct Torus {
    circles: Product<Sphere>,
}

impl Torus {
    /// n ≥ 1 circles, in 2n coordinates.
    pub fn new(n: usize) -> Result<Self, ConfigError> {
        // Each circle is stored, so a mistyped size must not exhaust memory.
        error::parameter("n", n as f64, Allowed::Closed(1.0, 16_777_216.0))?;
        Ok(Self { circles: Product::new(vec![Sphere::new(2, 1.0)?; n])? })
    }

    /// Number of circles.
    pub fn circles(&self) -> usize {
        self.circles.factors().len()
    }
}

macro_rules! circles {
    ($this:ident, $m:ident => $body:expr) => {{
        let $m = &$this.circles;
        $body
    }};
}

crate::geometry::forward::forward!([] Manifold for Torus, circles);

impl<F: Real> ExpLog<F> for Torus {
    /// A circle has no planes, and planes of two circles are flat.
    fn curvature(&self) -> Curvature {
        Curvature::FLAT
    }

    fn injectivity(&self, p: &[F]) -> F {
        self.circles.injectivity(p)
    }

    fn exp(&self, p: &mut [F], v: &[F], t: F, work: &mut Work<F>) -> Result<Step<F>, DomainError> {
        self.circles.exp(p, v, t, work)
    }

    fn log(&self, p: &[F], q: &[F], v: &mut [F], work: &mut Work<F>) -> Result<(), DomainError> {
        self.circles.log(p, q, v, work)
    }

    fn distance(&self, p: &[F], q: &[F], work: &mut Work<F>) -> F {
        self.circles.distance(p, q, work)
    }

    fn transport(
        &self,
        p: &[F],
        q: &[F],
        v: &mut [F],
        work: &mut Work<F>,
    ) -> Result<(), DomainError> {
        self.circles.transport(p, q, v, work)
    }

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
