//! # Probability simplex, Fisher metric
//! $$\langle u, v \rangle_p = \sum_i \frac{u_i v_i}{p_i}, \qquad
//! d(p, q) = 4\, \mathrm{atan2}(\Vert \sqrt p - \sqrt q \Vert, \Vert \sqrt p + \sqrt q \Vert)$$
//! $w = 2\sqrt p$ maps it to the positive part of the sphere of radius 2, and geodesics to great circles:
//! $\exp_p(v) = (\cos(\theta) \sqrt p + \tfrac12 \mathrm{sinc}(\theta)\, v / \sqrt p)^2$ with
//! $\theta = \Vert v \Vert_p / 2$. The gradient of a function with differential g is $p\,(g - \langle p, g \rangle)$.
//!
//! **Cost** O(n), no scratch memory. **Care**
//! * *Not complete.* A great circle leaves the positive part; squaring folds it back, coordinate by coordinate. The
//!   walk then reports [`Event::Folded`] with the number of coordinates that ended negative. Folding never increases
//!   the distance to a point of the simplex, because $\langle |w|, w^\star \rangle \ge \langle w, w^\star \rangle$. As
//!   long as no coordinate crosses zero, a walk is the unique shortest one, even beyond the injectivity radius (the
//!   distance to the boundary). Some coordinate crosses before a quarter turn. A longer walk that ends with all
//!   coordinates positive went around and reports [`Event::PastInjectivity`].
//! * *Zeros* are limits of points, and absorbing: a coordinate at 0 has no tangent direction and remains 0. `check`
//!   accepts zeros; `distance` and `log` accept them in q; terms 0/0 count as 0. `log` from a zero of p to a positive
//!   coordinate of q, and `transport` between points with different zeros, are errors, because no tangent vector
//!   exists. A coordinate below the smallest positive number becomes 0.
//! * Differences of roots are computed as $(q - p)/(\sqrt q + \sqrt p)$.
//!
//! **Source** \[KMWW07, ex. 3, cor. 5\] (where the simplex is called complete; it is not); curvature 1/4.

mod implicit;

use super::{Sphere, norm};
use crate::Real;
use crate::error::{self, Allowed, ConfigError, DomainError};
use crate::geometry::mean::{self, Mean};
use crate::geometry::{Curvature, Event, ExpLog, Manifold, Step, Work};
use crate::learn::base;
use crate::learn::gauge::Gauge;
use crate::learn::{Factor, Partitioned, Reweigh, RowSummary, SparseForm, Steps};
use crate::row::Row;
use crate::update::Round;

/// The probability vectors with n coordinates and the Fisher metric.
///
/// ```
/// use geowalk::geometry::{Event, ExpLog, Work, manifolds::Simplex};
/// let simplex = Simplex::new(2)?;
/// let mut p = [0.5_f64, 0.5];
/// // A walk of length 2 from the middle, where the boundary is at π/2: 2√p would become (1.954, −0.426).
/// let step = simplex.exp(&mut p, &[1.0, -1.0], 1.0, &mut Work::new())?;
/// assert_eq!(step.event, Event::Folded { coordinates: 1 });
/// assert!((step.length - 2.0).abs() < 1e-15);
/// assert!((p[1] - 0.426 * 0.426 / 4.0).abs() < 1e-4);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Debug, Clone, PartialEq)]
pub struct Simplex {
    n: usize,
    /// Where 2√p lives.
    sphere: Sphere,
}

impl Simplex {
    /// The distributions on n ≥ 2 outcomes.
    pub fn new(n: usize) -> Result<Self, ConfigError> {
        Ok(Self { n, sphere: Sphere::new(n, 2.0)? })
    }
}

/// v/√p, 0 for 0/0.
#[inline]
fn over_root<F: Real>(v: F, p: F) -> F {
    if v == F::ZERO && p == F::ZERO { F::ZERO } else { v / p.sqrt() }
}

/// √q − √p without cancellation.
#[inline]
fn gap<F: Real>(p: F, q: F) -> F {
    let sum = p.sqrt() + q.sqrt();
    if sum == F::ZERO { F::ZERO } else { (q - p) / sum }
}

/// The angle between √p and √q.
fn angle<F: Real>(p: &[F], q: &[F]) -> F {
    let apart = norm(p.iter().zip(q).map(|(&p, &q)| gap(p, q)));
    let across = norm(p.iter().zip(q).map(|(&p, &q)| p.sqrt() + q.sqrt()));
    F::TWO * apart.atan2(across)
}

/// Divides by the sum.
fn normalize<F: Real>(p: &mut [F]) {
    let total: f64 = p.iter().map(|p| p.f64()).sum();
    for p in p.iter_mut() {
        *p = F::of(p.f64() / total);
    }
}

/// Refuses points if the first is 0 where the second is positive.
fn support<F: Real>(what: &'static str, p: &[F], q: &[F]) -> Result<(), DomainError> {
    match p.iter().zip(q).position(|(&p, &q)| p == F::ZERO && q > F::ZERO) {
        Some(index) => {
            Err(DomainError::Coordinate { what, index, value: 0.0, allowed: Allowed::Positive })
        }
        None => Ok(()),
    }
}

impl<F: Real> Manifold<F> for Simplex {
    fn ambient(&self) -> usize {
        self.n
    }

    fn dim(&self) -> usize {
        self.n - 1
    }

    fn check(&self, p: &[F]) -> Result<(), DomainError> {
        error::finite("the point", p, self.n)?;
        error::each("the point", p, Allowed::NonNegative)?;
        let found: f64 = p.iter().map(|p| p.f64()).sum();
        let tolerance = F::TOLERANCE.f64();
        if (found - 1.0).abs() <= tolerance {
            return Ok(());
        }
        let quantity = "the sum of the point's coordinates";
        Err(DomainError::Constraint { quantity, found, expected: 1.0, tolerance })
    }

    fn check_tangent(&self, p: &[F], v: &[F]) -> Result<(), DomainError> {
        let what = "the tangent vector";
        error::finite(what, v, self.n)?;
        if let Some(index) = p.iter().zip(v).position(|(&p, &v)| p == F::ZERO && v != F::ZERO) {
            let (value, allowed) = (v[index].f64(), Allowed::Closed(0.0, 0.0));
            return Err(DomainError::Coordinate { what, index, value, allowed });
        }
        let found: f64 = v.iter().map(|v| v.f64()).sum();
        // Rounding is absolute below the normal numbers.
        let size: f64 = v.iter().map(|v| v.f64().abs()).sum();
        let tolerance = F::TOLERANCE.f64() * size + F::TINY.f64();
        if tolerance.is_finite() && found.abs() <= tolerance {
            return Ok(());
        }
        let quantity = "the sum of the tangent vector's coordinates";
        Err(DomainError::Constraint { quantity, found, expected: 0.0, tolerance })
    }

    fn origin(&self, p: &mut [F]) {
        p.fill(F::ONE / F::of(self.n as f64));
    }

    /// In the Fisher metric, the normal of the simplex at p is p.
    fn project(&self, p: &[F], v: &mut [F]) {
        for (&p, v) in p.iter().zip(v.iter_mut()) {
            if p == F::ZERO {
                *v = F::ZERO;
            }
        }
        let total: f64 = p.iter().map(|p| p.f64()).sum();
        // Twice, because the first pass leaves a residue relative to the vector before it.
        for _ in 0..2 {
            let excess = F::of(v.iter().map(|v| v.f64()).sum::<f64>() / total);
            for (&p, v) in p.iter().zip(v.iter_mut()) {
                *v -= excess * p;
            }
        }
    }

    fn nearest(&self, p: &mut [F], work: &mut Work<F>) -> Result<(), DomainError> {
        error::finite("the point", p, self.n)?;
        let [sorted] = work.take(self.n);
        sorted.copy_from_slice(p);
        sorted.sort_unstable_by(|a, b| b.f64().total_cmp(&a.f64()));
        // The amount subtracted from every coordinate so that the positive ones sum to 1.
        let (mut sum, mut excess) = (0.0, 0.0);
        for (k, x) in sorted.iter().enumerate() {
            sum += x.f64();
            let candidate = (sum - 1.0) / (k + 1) as f64;
            if x.f64() > candidate {
                excess = candidate;
            }
        }
        for p in p.iter_mut() {
            *p = F::of(Real::max(p.f64() - excess, 0.0));
        }
        Ok(())
    }

    fn random(&self, normal: &mut dyn FnMut() -> f64, p: &mut [F], _: &mut Work<F>) {
        // Half the sum of two squares is exponential; exponentials divided by their sum are uniform.
        let mut total = 0.0;
        for p in p.iter_mut() {
            let (a, b) = (normal(), normal());
            let x = 0.5 * (a * a + b * b) + f64::MIN_POSITIVE;
            total += x;
            *p = F::of(x);
        }
        for p in p.iter_mut() {
            *p = F::of(p.f64() / total);
        }
    }

    fn inner(&self, p: &[F], u: &[F], v: &[F], _: &mut Work<F>) -> F {
        p.iter().zip(u).zip(v).map(|((&p, &u), &v)| over_root(u, p) * over_root(v, p)).sum()
    }

    fn norm(&self, p: &[F], v: &[F], _: &mut Work<F>) -> F {
        norm(p.iter().zip(v).map(|(&p, &v)| over_root(v, p)))
    }

    fn gradient(&self, p: &[F], covector: &[F], v: &mut [F], _: &mut Work<F>) {
        let total: f64 = p.iter().map(|p| p.f64()).sum();
        let along: f64 = p.iter().zip(covector).map(|(&p, &g)| p.f64() * g.f64()).sum();
        let mean = F::of(along / total);
        for ((v, &g), &p) in v.iter_mut().zip(covector).zip(p) {
            *v = p * (g - mean);
        }
        self.project(p, v);
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

impl<F: Real> ExpLog<F> for Simplex {
    fn curvature(&self) -> Curvature {
        Curvature::constant(0.25)
    }

    /// The distance to the boundary.
    fn injectivity(&self, p: &[F]) -> F {
        let least = p.iter().fold(F::ONE, |least, &p| least.min(p));
        F::TWO * least.sqrt().asin()
    }

    fn exp(&self, p: &mut [F], v: &[F], t: F, work: &mut Work<F>) -> Result<Step<F>, DomainError> {
        let length = t.abs() * self.norm(p, v, work);
        if !length.is_finite() {
            return Err(DomainError::Overflow { length: length.f64(), limit: F::MAX.f64() });
        }
        if length == F::ZERO {
            return Ok(Step::inside(length));
        }
        let angle = length * F::HALF;
        let (cosine, factor) = (angle.cos(), angle.sinc() * F::HALF * t);
        let mut coordinates = 0;
        for (p, &v) in p.iter_mut().zip(v) {
            let root = cosine * p.sqrt() + factor * over_root(v, *p);
            coordinates += usize::from(root < F::ZERO);
            *p = root * root;
        }
        normalize(p);
        let event = if coordinates > 0 {
            Event::Folded { coordinates }
        } else if angle > F::PI * F::HALF {
            Event::PastInjectivity
        } else {
            Event::Inside
        };
        Ok(Step { length, event })
    }

    fn log(&self, p: &[F], q: &[F], v: &mut [F], _: &mut Work<F>) -> Result<(), DomainError> {
        support("the starting point", p, q)?;
        for ((v, &q), &p) in v.iter_mut().zip(q).zip(p) {
            *v = gap(p, q);
        }
        let total: f64 = p.iter().map(|p| p.f64()).sum();
        for _ in 0..2 {
            let along: f64 = p.iter().zip(v.iter()).map(|(&p, v)| p.sqrt().f64() * v.f64()).sum();
            let c = F::of(along / total);
            for (&p, v) in p.iter().zip(v.iter_mut()) {
                *v -= c * p.sqrt();
            }
        }
        let scale = F::TWO / angle(p, q).sinc();
        for (&p, v) in p.iter().zip(v.iter_mut()) {
            *v *= scale * p.sqrt();
        }
        self.project(p, v);
        Ok(())
    }

    fn distance(&self, p: &[F], q: &[F], _: &mut Work<F>) -> F {
        F::TWO * angle(p, q)
    }

    fn transport(&self, p: &[F], q: &[F], v: &mut [F], _: &mut Work<F>) -> Result<(), DomainError> {
        support("the starting point", p, q)?;
        support("the end point", q, p)?;
        let (mut square, mut along) = (F::ZERO, F::ZERO);
        for ((&p, &q), &v) in p.iter().zip(q).zip(v.iter()) {
            let s = p.sqrt() + q.sqrt();
            square += s * s;
            along += s * over_root(v, p);
        }
        let c = F::TWO * along / square;
        for ((&p, &q), v) in p.iter().zip(q).zip(v.iter_mut()) {
            *v = q.sqrt() * (over_root(*v, p) - c * (p.sqrt() + q.sqrt()));
        }
        self.project(q, v);
        Ok(())
    }

    /// Computed on the sphere, where zeros are ordinary points.
    fn mean(
        &self,
        points: &[F],
        weights: Option<&[F]>,
        p: &mut [F],
        work: &mut Work<F>,
    ) -> Result<Mean, DomainError> {
        let ([roots], work) = work.nested(points.len());
        for (w, &x) in roots.iter_mut().zip(points) {
            *w = F::TWO * x.sqrt();
        }
        let mean = mean::karcher(&self.sphere, roots, weights, p, work)?;
        for p in p.iter_mut() {
            *p = (*p * F::HALF).square();
        }
        normalize(p);
        Ok(mean)
    }
}

/// Geodesic steps on the simplex at O(nnz). In Fisher's metric, with $u = \langle p, x\rangle$ and
/// $V = \langle p, x^2\rangle - u^2$:
/// $$\sqrt{p_i'} = \bigl|\sqrt{p_i}\,(a - b\,x_i)\bigr|, \qquad \theta = \tfrac{\eta}{2} |g| \sqrt{V}, \qquad
///   b = \tfrac{\eta}{2}\, g\, \mathrm{sinc}\,\theta, \qquad a = \cos\theta + b\,u$$
/// **Start** uniform over the features present. **Cost** one logarithm and one exponential per coordinate of the row.
/// **Care** A geodesic that leaves the simplex is folded back, counted and reported. Weights are stored as logarithms,
/// so that none becomes 0 permanently. **Source** \[KMWW07, ex. 3\].
#[derive(Debug, Clone, Copy, PartialEq, Default)]
pub struct SimplexForm;

impl Steps<SimplexForm> {
    /// The uniform distribution.
    pub fn new() -> Self {
        Self::default()
    }
}

impl SparseForm for SimplexForm {
    type Chart = Partitioned;
    type Move = Reweigh<false>;

    fn spec(&self) -> String {
        "explicit:simplex".to_owned()
    }

    fn chart(&self) -> Partitioned {
        Partitioned::folding()
    }

    fn plan(
        &self,
        chart: &Partitioned,
        row: RowSummary,
        kappa: f64,
        round: &mut Round,
    ) -> Result<Option<Reweigh<false>>, DomainError> {
        let (u, half) = (row.z, 0.5 * kappa);
        let deviation = Real::max(chart.second() - u * u, 0.0).sqrt();
        let angle = base::length(half.abs() * deviation)?;
        round.length = 2.0 * angle;
        if half == 0.0 {
            return Ok(None);
        }
        let b = base::length(half.abs())?.copysign(half) * angle.sinc();
        let a = Real::cos(angle) + b * u;
        // Weights of features absent from the row are multiplied by a²; relative to that, those of the row by (1 − b
        // x_i/a)².
        let base = if a.abs() < 1e-150 { 1e-150_f64.copysign(a) } else { a };
        Ok(Some(Reweigh { factor: Factor::Square, tau: -b / base, flipped: a <= 0.0 }))
    }

    fn gauge<X: Row<f64>>(&self, _: &Partitioned, x: X) -> Gauge {
        Gauge::largest(x, |x| x)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    const N: usize = 4;

    fn distribution(raw: &[f64]) -> Vec<f64> {
        let mut p: Vec<f64> = raw.iter().map(|x| Real::exp(8.0 * x)).collect();
        normalize(&mut p);
        p
    }

    fn on_sphere(p: &[f64]) -> Vec<f64> {
        p.iter().map(|p| 2.0 * p.sqrt()).collect()
    }

    fn off(a: &[f64], b: &[f64]) -> f64 {
        a.iter().zip(b).map(|(a, b)| (a - b).abs()).fold(0.0, f64::max)
    }

    proptest! {
        #![proptest_config(super::super::tests::cases(300))]
        #[test]
        fn it_is_the_positive_part_of_the_sphere_of_radius_two(
            raw in prop::collection::vec(-1.0..1.0_f64, 12), scale in
            prop_oneof![Just(1e-12), Just(1e-3), 0.0..0.99_f64, 1.0..20.0_f64],
        ) {
            let simplex = Simplex::new(N).unwrap();
            let sphere = Sphere::new(N, 2.0).unwrap();
            let work = &mut Work::new();
            let (p, comparator) = (distribution(&raw[..4]), distribution(&raw[8..]));
            let mut v: Vec<f64> = raw[4..8].iter().zip(&p).map(|(x, p)| x * p).collect();
            simplex.project(&p, &mut v);
            let size = simplex.norm(&p, &v, work);
            let length = scale * simplex.injectivity(&p);
            for v in &mut v {
                *v *= length / size;
            }

            let mut q = p.clone();
            let step = simplex.exp(&mut q, &v, 1.0, work).unwrap();
            let mut w = on_sphere(&p);
            let dw: Vec<f64> = v.iter().zip(&p).map(|(v, p)| v / p.sqrt()).collect();
            sphere.exp(&mut w, &dw, 1.0, work).unwrap();
            simplex.check(&q).unwrap();
            prop_assert!((q.iter().sum::<f64>() - 1.0).abs() <= 1e-15);
            let folded: Vec<f64> = w.iter().map(|w| w * w / 4.0).collect();
            prop_assert!(off(&q, &folded) < 2e-15 * (1.0 + length));
            prop_assert!((step.length - length).abs() <= 2e-15 * length);
            let crossed = w.iter().filter(|w| **w < 0.0).count();
            let went_round = length > std::f64::consts::PI;
            prop_assert_eq!(step.event, match (crossed, went_round) {
                (0, false) => Event::Inside,
                (0, true) => Event::PastInjectivity,
                (coordinates, _) => Event::Folded { coordinates },
            });
            // Folding reduces the distance to every comparator.
            let target = on_sphere(&comparator);
            prop_assert!(simplex.distance(&q, &comparator, work)
                <= sphere.distance(&w, &target, work) + 1e-14);
            if scale < 1.0 {
                prop_assert_eq!(step.event, Event::Inside);
                prop_assert!((simplex.distance(&p, &q, work) - length).abs() <= 4e-15);
                let mut back = vec![0.0; N];
                simplex.log(&p, &q, &mut back, work).unwrap();
                prop_assert!(off(&back, &v) <= 2e-15, "{:e}", off(&back, &v));
                simplex.check_tangent(&p, &back).unwrap();
                let mut there = vec![0.0; N];
                simplex.log(&q, &p, &mut there, work).unwrap();
                let mut moved = v.clone();
                simplex.transport(&p, &q, &mut moved, work).unwrap();
                for v in &mut there {
                    *v = -*v;
                }
                prop_assert!(off(&moved, &there) <= 4e-15);
            }
        }

        #[test]
        fn gradient_is_dual_and_transport_an_isometry(raw in prop::collection::vec(-1.0..1.0_f64, 20)) {
            let simplex = Simplex::new(N).unwrap();
            let work = &mut Work::new();
            let (p, q, g) = (distribution(&raw[..4]), distribution(&raw[4..8]), &raw[16..]);
            let (mut u, mut v) = (raw[8..12].to_vec(), raw[12..16].to_vec());
            simplex.project(&p, &mut u);
            simplex.project(&p, &mut v);
            let mut gradient = vec![0.0; N];
            simplex.gradient(&p, g, &mut gradient, work);
            simplex.check_tangent(&p, &gradient).unwrap();
            let differential: f64 = u.iter().zip(g).map(|(u, g)| u * g).sum();
            let size = simplex.norm(&p, &gradient, work) * simplex.norm(&p, &u, work);
            prop_assert!((simplex.inner(&p, &gradient, &u, work) - differential).abs() <= 1e-15 * (4.0 + size));
            let before = simplex.inner(&p, &u, &v, work);
            let size = simplex.norm(&p, &u, work) * simplex.norm(&p, &v, work);
            simplex.transport(&p, &q, &mut u, work).unwrap();
            simplex.transport(&p, &q, &mut v, work).unwrap();
            simplex.check_tangent(&q, &u).unwrap();
            prop_assert!((simplex.inner(&q, &u, &v, work) - before).abs() <= 1e-14 * size);
        }
    }

    #[test]
    fn zeros_are_limits_and_absorbing() {
        let simplex = Simplex::new(3).unwrap();
        let work = &mut Work::new();
        let edge = [0.5, 0.5, 0.0];
        simplex.check(&edge).unwrap();
        let mut v = [0.0; 3];
        simplex.gradient(&edge, &[1.0, 2.0, 3.0], &mut v, work);
        assert_eq!(v, [-0.25, 0.25, 0.0]);
        assert!((simplex.norm(&edge, &v, work) - 0.5).abs() < 1e-16);
        let mut p = edge;
        assert_eq!(simplex.exp(&mut p, &v, -1.0, work).unwrap().event, Event::Inside);
        assert!(p[0] > 0.7 && p[2] == 0.0, "{p:?}");
        assert_eq!(simplex.injectivity(&edge), 0.0);
        // From inside to a corner and to an edge. The distance of two corners is the diameter π.
        let corner = [0.0, 0.0, 1.0];
        let inside = [0.25, 0.25, 0.5];
        simplex.log(&inside, &corner, &mut v, work).unwrap();
        let d = simplex.distance(&inside, &corner, work);
        assert!((d - std::f64::consts::FRAC_PI_2).abs() < 1e-15);
        assert!((simplex.norm(&inside, &v, work) - d).abs() < 1e-15);
        let diameter = simplex.distance(&[1.0, 0.0, 0.0], &corner, work);
        assert!((diameter - std::f64::consts::PI).abs() < 1e-15);
        for error in [
            simplex.log(&edge, &inside, &mut v, work).unwrap_err(),
            simplex.transport(&edge, &inside, &mut v, work).unwrap_err(),
            simplex.transport(&inside, &edge, &mut v, work).unwrap_err(),
        ] {
            assert!(matches!(error, DomainError::Coordinate { index: 2, value: 0.0, .. }));
        }
        let error = simplex.check_tangent(&edge, &[0.5, 0.0, -0.5]).unwrap_err();
        assert!(matches!(error, DomainError::Coordinate { index: 2, value: -0.5, .. }));
        let mut mean = [0.0; 3];
        let corners = [1.0, 0.0, 0.0, 0.0, 1.0, 0.0, 0.0, 0.0, 1.0];
        assert!(simplex.mean(&corners, None, &mut mean, work).unwrap().unique);
        assert!(off(&mean, &[1.0 / 3.0; 3]) < 4e-15, "{mean:?}");
    }

    #[test]
    fn a_full_turn_is_reported_and_nothing_is_lost() {
        let simplex = Simplex::new(2).unwrap();
        let work = &mut Work::new();
        let turn = 4.0 * std::f64::consts::PI;
        let mut p = [0.5, 0.5];
        let step = simplex.exp(&mut p, &[0.5, -0.5], turn + 0.1, work).unwrap();
        assert_eq!(step.event, Event::PastInjectivity);
        assert!((simplex.distance(&p, &[0.5, 0.5], work) - 0.1).abs() < 1e-14);
        let before = p;
        assert!(simplex.exp(&mut p, &[f64::NAN, 0.0], 1.0, work).is_err() && p == before);
        assert!(simplex.distance(&[f64::NAN, 0.5], &p, work).is_nan());
        let error = simplex.check(&[0.5, 0.6]).unwrap_err();
        assert!(matches!(error, DomainError::Constraint { found: 1.1, expected: 1.0, .. }));
        assert!(simplex.check(&[1.5, -0.5]).is_err() && Simplex::new(1).is_err());
    }
}
