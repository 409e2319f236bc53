//! # Sphere
//! $$\exp_p(v) = \cos(\theta)\, p + \mathrm{sinc}(\theta)\, v, \quad \theta = \Vert v \Vert / r, \qquad
//! d(p, q) = 2r\, \mathrm{atan2}(\Vert p - q \Vert, \Vert p + q \Vert)$$
//! The points of norm r in n coordinates. $\log_p(q)$ is the part of $q - p$ orthogonal to p, scaled to length d(p,
//! q). Transport along the shortest great circle is the reflection that maps p to −q,
//! $v \mapsto v - 2 \langle s, v \rangle s / \Vert s \Vert^2$ with $s = p + q$.
//!
//! **Cost** O(n), no scratch memory. **Care** Never uses `acos(⟨p, q⟩)`, which loses every digit below a distance of
//! 1e-8. Opposite points are joined by every great circle: if the part of q + p along the sphere is only rounding
//! error, `log` and `transport` return [`DomainError::CutLocus`]. Points are renormalised after every walk.
//! Orthogonality to p is enforced twice, because one subtraction leaves a residue relative to the vector before it.
//! **Source** \[KMWW07, ex. 2\]; \[KMWW07s, sec. 5.1\]; curvature 1/r², injectivity radius πr.

mod implicit;

use super::norm;
use crate::Real;
use crate::error::{self, Allowed, ConfigError, DomainError};
use crate::geometry::{Curvature, Event, ExpLog, Manifold, Step, Work};
use crate::learn::base;
use crate::learn::gauge::Gauge;
use crate::learn::{Blend, RowSummary, Scaled, SparseForm, Steps};
use crate::row::Row;
use crate::update::Round;
use std::f64::consts::PI;

/// The vectors of ℝⁿ with norm r.
///
/// ```
/// use geowalk::geometry::{ExpLog, Work, manifolds::Sphere};
/// let earth = Sphere::new(3, 6371.0)?;
/// let pole = [0.0, 0.0, 6371.0];
/// let equator = [6371.0, 0.0, 0.0];
/// let km: f64 = earth.distance(&pole, &equator, &mut Work::new());
/// assert_eq!(km.round(), 10_008.0);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Debug, Clone, PartialEq)]
pub struct Sphere {
    n: usize,
    radius: f64,
}

impl Sphere {
    /// The sphere of the given radius > 0 in n ≥ 2 coordinates.
    pub fn new(n: usize, radius: f64) -> Result<Self, ConfigError> {
        error::parameter("n", n as f64, Allowed::Whole(2))?;
        error::parameter("radius", radius, Allowed::Positive)?;
        Ok(Self { n, radius })
    }

    /// The radius.
    pub fn radius(&self) -> f64 {
        self.radius
    }

    /// v ← v − ⟨p, v⟩p/‖p‖², applied twice.
    fn flatten<F: Real>(&self, p: &[F], v: &mut [F]) {
        let r = F::of(self.radius);
        for _ in 0..2 {
            // Uses p/r, because p² may overflow even if p does not.
            let (mut along, mut square) = (0.0, 0.0);
            for (&p, v) in p.iter().zip(v.iter()) {
                let p = (p / r).f64();
                along += p * v.f64();
                square += p * p;
            }
            let c = F::of(along / square);
            for (&p, v) in p.iter().zip(v.iter_mut()) {
                *v -= c * (p / r);
            }
        }
    }

    /// The angle at the centre between two points.
    fn angle<F: Real>(&self, p: &[F], q: &[F]) -> F {
        let r = F::of(self.radius);
        let apart = norm(p.iter().zip(q).map(|(&p, &q)| (p - q) / r));
        let across = norm(p.iter().zip(q).map(|(&p, &q)| (p + q) / r));
        F::TWO * apart.atan2(across)
    }

    /// Refuses nearly opposite points. If they differ from opposite points by less than `rest`·r of rounding, the
    /// direction between them is unknown.
    fn cut<F: Real>(&self, angle: F, rest: F) -> Result<(), DomainError> {
        if rest > F::of(8.0) * F::EPSILON {
            return Ok(());
        }
        Err(DomainError::CutLocus {
            distance: self.radius * angle.f64(),
            limit: self.radius * (std::f64::consts::PI - 8.0 * F::EPSILON.f64()),
        })
    }
}

impl<F: Real> Manifold<F> for Sphere {
    fn ambient(&self) -> usize {
        self.n
    }

    fn dim(&self) -> usize {
        self.n - 1
    }

    fn check(&self, p: &[F]) -> Result<(), DomainError> {
        error::finite("the point", p, self.n)?;
        let found = norm(p.iter().map(|p| p.f64()));
        let tolerance = F::TOLERANCE.f64() * self.radius;
        if (found - self.radius).abs() <= tolerance {
            return Ok(());
        }
        Err(DomainError::Constraint {
            quantity: "the norm of the point",
            found,
            expected: self.radius,
            tolerance,
        })
    }

    fn check_tangent(&self, p: &[F], v: &[F]) -> Result<(), DomainError> {
        error::finite("the tangent vector", v, self.n)?;
        let found: f64 = p.iter().zip(v).map(|(&p, &v)| p.f64() / self.radius * v.f64()).sum();
        // Rounding is absolute below the normal numbers.
        let tolerance = F::TOLERANCE.f64() * norm(v.iter().map(|v| v.f64())) + F::TINY.f64();
        if tolerance.is_finite() && found.abs() <= tolerance {
            return Ok(());
        }
        Err(DomainError::Constraint {
            quantity: "the part of the tangent vector along the point",
            found,
            expected: 0.0,
            tolerance,
        })
    }

    fn origin(&self, p: &mut [F]) {
        p.fill(F::ZERO);
        if let Some(first) = p.first_mut() {
            *first = F::of(self.radius);
        }
    }

    fn project(&self, p: &[F], v: &mut [F]) {
        self.flatten(p, v);
    }

    fn nearest(&self, p: &mut [F], _: &mut Work<F>) -> Result<(), DomainError> {
        error::finite("the point", p, self.n)?;
        let value = norm(p.iter().map(|p| p.f64()));
        if value == 0.0 {
            let (what, allowed) = ("the norm of the point", Allowed::Positive);
            return Err(DomainError::Scalar { what, value, allowed });
        }
        for p in p.iter_mut() {
            *p = F::of(p.f64() / value * self.radius);
        }
        Ok(())
    }

    fn random(&self, normal: &mut dyn FnMut() -> f64, p: &mut [F], work: &mut Work<F>) {
        super::frames::random(self, normal, p, work);
    }

    fn inner(&self, _: &[F], u: &[F], v: &[F], _: &mut Work<F>) -> F {
        u.iter().zip(v).map(|(&u, &v)| u * v).sum()
    }

    fn norm(&self, _: &[F], v: &[F], _: &mut Work<F>) -> F {
        norm(v.iter().copied())
    }

    fn gradient(&self, p: &[F], covector: &[F], v: &mut [F], _: &mut Work<F>) {
        for (v, &g) in v.iter_mut().zip(covector) {
            *v = g;
        }
        self.flatten(p, v);
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

impl<F: Real> ExpLog<F> for Sphere {
    fn curvature(&self) -> Curvature {
        Curvature::constant(1.0 / (self.radius * self.radius))
    }

    fn injectivity(&self, _: &[F]) -> F {
        F::PI * F::of(self.radius)
    }

    fn exp(&self, p: &mut [F], v: &[F], t: F, _: &mut Work<F>) -> Result<Step<F>, DomainError> {
        let r = F::of(self.radius);
        let length = t.abs() * norm(v.iter().copied());
        let angle = length / r;
        if !angle.is_finite() {
            let limit = F::MAX * r.min(F::ONE);
            return Err(DomainError::Overflow { length: length.f64(), limit: limit.f64() });
        }
        if length == F::ZERO {
            return Ok(Step::inside(length));
        }
        let (cosine, factor) = (angle.cos(), angle.sinc() * t);
        for (p, &v) in p.iter_mut().zip(v) {
            *p = cosine * *p + factor * v;
        }
        let scale = norm(p.iter().map(|p| p.f64())) / self.radius;
        for p in p.iter_mut() {
            *p = F::of(p.f64() / scale);
        }
        let event = if angle > F::PI { Event::PastInjectivity } else { Event::Inside };
        Ok(Step { length, event })
    }

    fn log(&self, p: &[F], q: &[F], v: &mut [F], _: &mut Work<F>) -> Result<(), DomainError> {
        let angle: F = self.angle(p, q);
        let near = angle <= F::PI * F::HALF;
        // q − p and q + p have the same part orthogonal to p; the shorter of the two has no cancellation.
        for ((v, &q), &p) in v.iter_mut().zip(q).zip(p) {
            *v = if near { q - p } else { q + p };
        }
        self.flatten(p, v);
        let scale = if near {
            F::ONE / angle.sinc()
        } else {
            let r = F::of(self.radius);
            let rest = norm(v.iter().map(|&v| v / r));
            self.cut(angle, rest)?;
            angle / rest
        };
        for v in v.iter_mut() {
            *v *= scale;
        }
        Ok(())
    }

    fn distance(&self, p: &[F], q: &[F], _: &mut Work<F>) -> F {
        F::of(self.radius) * self.angle(p, q)
    }

    fn transport(&self, p: &[F], q: &[F], v: &mut [F], _: &mut Work<F>) -> Result<(), DomainError> {
        let r = F::of(self.radius);
        let (mut square, mut radial, mut along) = (F::ZERO, F::ZERO, F::ZERO);
        for ((&p, &q), &v) in p.iter().zip(q).zip(v.iter()) {
            let s = (p + q) / r;
            square += s * s;
            radial += s * (p / r);
            along += s * v;
        }
        if square > F::ONE {
            let c = F::TWO * along / square;
            for ((&p, &q), v) in p.iter().zip(q).zip(v.iter_mut()) {
                *v -= c * ((p + q) / r);
            }
            return Ok(());
        }
        // Near the antipode s is short, and the rounding of the two norms would tilt it. Use the part of s along the
        // sphere, sin(θ)e, and rotate the plane of p and e. Here ⟨p, s⟩ = 1 + cos θ.
        let sine = (square - radial * radial).sqrt();
        self.cut(self.angle(p, q), sine)?;
        let c = along / sine;
        for ((&p, &q), v) in p.iter().zip(q).zip(v.iter_mut()) {
            let (p, s) = (p / r, (p + q) / r);
            let e = (s - radial * p) / sine;
            *v += c * ((radial - F::TWO) * e - sine * p);
        }
        Ok(())
    }
}

/// Geodesic steps on the sphere at O(nnz). On $\Vert w \Vert = r$, with $u = \langle w, x\rangle$:
/// $$w' = a\,w + b\,x, \qquad \theta = \tfrac{\eta |g|}{r} \sqrt{\Vert x\Vert^2 - u^2/r^2}, \qquad
///   a = \cos\theta + \tfrac{\eta g u}{r^2}\,\mathrm{sinc}\,\theta, \qquad b = -\eta g\, \mathrm{sinc}\,\theta$$
/// The *projected* form, for comparison, is $w' = r\,(w - \eta g x)/\Vert w - \eta g x \Vert$.
///
/// **Start** a random direction, uniform over the features present. **Care** If $w = \pm r x/\Vert x\Vert$ the
/// gradient is 0, even if the loss is maximal: [`Event::Stationary`]. Steps past the antipode are reported. **Source**
/// \[KMWW07s, eq. (11)–(16)\]; \[KMWW07, eq. (10)\].
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct SphereForm {
    radius: f64,
    seed: u64,
    projected: bool,
}

impl Steps<SphereForm> {
    /// Geodesic steps on the sphere of the given radius, from the direction determined by the seed.
    pub fn new(radius: f64, seed: u64) -> Result<Self, ConfigError> {
        error::parameter("radius", radius, Allowed::Closed(1e-100, 1e100))?;
        Ok(Self::of(SphereForm { radius, seed, projected: false }))
    }

    /// Straight steps, projected onto the sphere.
    pub fn projected(radius: f64, seed: u64) -> Result<Self, ConfigError> {
        let form = SphereForm { projected: true, ..Self::new(radius, seed)?.form };
        Ok(Self::of(form))
    }
}

impl SparseForm for SphereForm {
    type Chart = Scaled;
    type Move = Blend;

    fn spec(&self) -> String {
        let name = if self.projected { "projected-sphere" } else { "explicit:sphere" };
        format!("{name}(radius={}, seed={})", self.radius, self.seed)
    }

    fn chart(&self) -> Scaled {
        Scaled::on_sphere(self.radius, self.seed)
    }

    fn plan(
        &self,
        _: &Scaled,
        row: RowSummary,
        kappa: f64,
        round: &mut Round,
    ) -> Result<Option<Blend>, DomainError> {
        let (u, square, r2) = (row.z, base::length(row.size)?, self.radius * self.radius);
        // ‖x‖² minus its part along w. Below this limit it is the rounding error of the difference.
        let across = square - u * u / r2;
        if across <= 4.0 * f64::EPSILON * square || round.slope == 0.0 {
            if square > 0.0 && round.loss > 0.0 {
                round.event = Event::Stationary;
            }
            return Ok(None);
        }
        if round.rate == 0.0 {
            return Ok(None);
        }
        let across = across.sqrt();
        let (angle, a, b) = if self.projected {
            let (straight, sideways) = (1.0 - kappa * u / r2, kappa.abs() * across / self.radius);
            let norm = base::length(Real::hypot(straight, sideways))?;
            (Real::atan2(sideways, straight), norm.recip(), -kappa / norm)
        } else {
            let angle = base::length(kappa.abs() * across / self.radius)?;
            let b = -kappa * angle.sinc();
            (angle, Real::cos(angle) - b * u / r2, b)
        };
        round.length = self.radius * angle;
        if angle > PI {
            round.event = Event::PastInjectivity;
        }
        Ok(Some(Blend { a, b }))
    }

    fn gauge<X: Row<f64>>(&self, _: &Scaled, x: X) -> Gauge {
        let square = Gauge::euclidean(x).square;
        Gauge { square, stretch: square.sqrt() / self.radius, local: false }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    /// A point of the sphere, and a tangent vector of the given length at it.
    fn place(n: usize, r: f64, length: f64, raw: &[f64]) -> (Sphere, Vec<f64>, Vec<f64>) {
        let sphere = Sphere::new(n, r).unwrap();
        let mut p = raw[..n].to_vec();
        p[0] += 3.0;
        let size = norm(p.iter().copied());
        for p in &mut p {
            *p *= r / size;
        }
        let mut v = raw[n..2 * n].to_vec();
        v[1] += 3.0;
        sphere.project(&p, &mut v);
        let size = norm(v.iter().copied());
        for v in &mut v {
            *v *= length / size;
        }
        (sphere, p, v)
    }

    fn off(a: &[f64], b: &[f64]) -> f64 {
        norm(a.iter().zip(b).map(|(a, b)| a - b))
    }

    proptest! {
        #![proptest_config(super::super::tests::cases(200))]
        #[test]
        fn logarithm_and_transport_invert_and_follow_the_walk(
            raw in prop::collection::vec(-1.0..1.0_f64, 18), n in 2..9_usize,
            r in prop::sample::select(vec![1.0, 2.0, 1e-6, 1e150, 1e-150]),
            part in prop_oneof![0.0..0.99_f64, Just(1e-12), Just(1e-3), Just(0.999_999)],
        ) {
            let work = &mut Work::new();
            let length = part * std::f64::consts::PI * r;
            let (sphere, p, v) = place(n, r, length, &raw);
            let mut q = p.clone();
            let step = sphere.exp(&mut q, &v, 1.0, work).unwrap();
            prop_assert_eq!(step.event, Event::Inside);
            prop_assert!((step.length - length).abs() <= 1e-15 * length);
            sphere.check(&q).unwrap();
            // Rounding q by 1 ulp changes the direction by 1 ulp / sin(angle).
            let turn = 8e-16 * r * (1.0 + length / r / Real::sin(length / r).max(1e-12));
            let mut back = vec![0.0; n];
            sphere.log(&p, &q, &mut back, work).unwrap();
            prop_assert!(off(&back, &v) <= turn, "{} {}", off(&back, &v), turn);
            sphere.check_tangent(&p, &back).unwrap();
            prop_assert!((sphere.distance(&p, &q, work) - length).abs() <= 2e-15 * r);
            // Velocity is transported to velocity, which is minus the logarithm from the other end.
            let mut there = vec![0.0; n];
            sphere.log(&q, &p, &mut there, work).unwrap();
            sphere.transport(&p, &q, &mut back, work).unwrap();
            sphere.check_tangent(&q, &back).unwrap();
            for v in &mut there {
                *v = -*v;
            }
            prop_assert!(off(&back, &there) <= 2.0 * turn);
            // Isometry.
            let mut u = raw[..n].to_vec();
            sphere.project(&p, &mut u);
            let before = (sphere.inner(&p, &u, &v, work), sphere.norm(&p, &u, work));
            let mut moved = v.clone();
            sphere.transport(&p, &q, &mut u, work).unwrap();
            sphere.transport(&p, &q, &mut moved, work).unwrap();
            prop_assert!((sphere.inner(&q, &u, &moved, work) - before.0).abs() <= 1e-14 * length);
            prop_assert!((sphere.norm(&q, &u, work) - before.1).abs() <= 1e-14);
        }

        #[test]
        fn gradient_is_dual_to_the_differential(raw in prop::collection::vec(-1.0..1.0_f64, 12)) {
            let work = &mut Work::new();
            let (sphere, p, u) = place(4, 2.0, 1.0, &raw);
            let mut v = vec![0.0; 4];
            sphere.gradient(&p, &raw[8..], &mut v, work);
            sphere.check_tangent(&p, &v).unwrap();
            let differential: f64 = u.iter().zip(&raw[8..]).map(|(u, g)| u * g).sum();
            prop_assert!((sphere.inner(&p, &v, &u, work) - differential).abs() < 1e-15);
        }
    }

    #[test]
    fn almost_normal_gradients_are_tangent() {
        let sphere = Sphere::new(3, 1.0).unwrap();
        let p = [0.6, 0.48, 0.64];
        let mut v = [0.0; 3];
        sphere.gradient(&p, &[0.6e9, 0.48e9, 0.64e9 + 1e-3], &mut v, &mut Work::new());
        sphere.check_tangent(&p, &v).unwrap();
    }

    #[test]
    fn opposite_points_are_refused_and_almost_opposite_ones_are_not() {
        let sphere = Sphere::new(3, 2.0).unwrap();
        let work = &mut Work::new();
        let p = [2.0, 0.0, 0.0];
        let mut v = [0.0; 3];
        for q in [[-2.0, 0.0, 0.0], [-2.0, 1e-15, 0.0], [-2.000_000_001, 0.0, 0.0]] {
            let error = sphere.log(&p, &q, &mut v, work).unwrap_err();
            assert!(matches!(error, DomainError::CutLocus { distance, .. } if distance > 6.0));
            let error = sphere.transport(&p, &q, &mut [0.0, 1.0, 0.0], work).unwrap_err();
            assert!(matches!(error, DomainError::CutLocus { .. }));
        }
        let q = [-2.0, 1e-13, 0.0];
        sphere.log(&p, &q, &mut v, work).unwrap();
        assert_eq!((v[0], v[2]), (0.0, 0.0));
        assert!((v[1] - std::f64::consts::TAU).abs() < 1e-12, "{v:?}");
        let mut u = [0.0, 1.0, 0.5];
        sphere.transport(&p, &q, &mut u, work).unwrap();
        assert!(off(&u, &[0.0, -1.0, 0.5]) < 1e-12, "{u:?}");
        sphere.log(&p, &p, &mut v, work).unwrap();
        assert_eq!(v, [0.0; 3]);
        assert_eq!(sphere.distance(&p, &[-2.0, 0.0, 0.0], work), std::f64::consts::TAU);
    }

    #[test]
    fn tiny_and_huge_walks() {
        let sphere = Sphere::new(2, 1.0).unwrap();
        let work = &mut Work::new();
        let mut p = [1.0, 0.0];
        sphere.exp(&mut p, &[0.0, 1e-200], 1.0, work).unwrap();
        assert_eq!((p, sphere.distance(&[1.0, 0.0], &p, work)), ([1.0, 1e-200], 1e-200));
        let mut p = [1.0, 0.0];
        let step = sphere.exp(&mut p, &[0.0, 1e22], 1.0, work).unwrap();
        // sin and cos of 10²², the classical test of argument reduction.
        assert!(off(&p, &[0.523_214_785_395_139, -0.852_200_849_767_188_8]) < 1e-15, "{p:?}");
        assert_eq!((step.length, step.event), (1e22, Event::PastInjectivity));
        let before = p;
        let error = sphere.exp(&mut p, &[0.0, 1e300], 1e300, work).unwrap_err();
        assert!(matches!(error, DomainError::Overflow { .. }) && p == before);
        assert!(sphere.exp(&mut p, &[0.0, f64::NAN], 1.0, work).is_err() && p == before);
        sphere.exp(&mut p, &[1.0, 1.0], 0.0, work).unwrap();
        assert_eq!(p, before);
    }

    #[test]
    fn violations_carry_their_amount() {
        let sphere = Sphere::new(2, 5.0).unwrap();
        let error = sphere.check(&[3.0, 4.1]).unwrap_err();
        assert!(matches!(error, DomainError::Constraint { found, expected, .. }
            if (found - 5.080_354_318_352_215).abs() < 1e-15 && expected == 5.0));
        let error = sphere.check_tangent(&[3.0, 4.0], &[1.0, 0.0]).unwrap_err();
        assert!(matches!(error, DomainError::Constraint { found: 0.6, expected: 0.0, .. }));
        assert!(sphere.check(&[5.0]).is_err() && sphere.check(&[f64::NAN, 5.0]).is_err());
        assert!(Sphere::new(1, 1.0).is_err() && Sphere::new(2, 0.0).is_err());
        assert!(Sphere::new(2, f64::INFINITY).is_err());
    }
}
