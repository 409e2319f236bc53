//! # Hyperboloid
//! $$\mathbb{H} = \lbrace p : \langle p, p\rangle_L = -1,\ p_0 > 0\rbrace, \qquad
//!   \langle p, q\rangle_L = -p_0 q_0 + \textstyle\sum_{i \ge 1} p_i q_i$$
//! $$\exp_p(v) = \cosh t\, p + \tfrac{\sinh t}{t}\, v,\quad t = \Vert v\Vert_L, \qquad
//!   \log_p(q) = \tfrac{d}{\sinh d}\,(q - p) - d \tanh\tfrac{d}{2}\, p$$
//! $$\mathrm{grad} = J g + \langle p, Jg\rangle_L\, p,\quad J = \mathrm{diag}(-1, 1, \dots, 1), \qquad
//!   \Gamma_{p\to q}\, v = v + \tfrac{\langle q, v\rangle_L}{1 - \langle p, q\rangle_L}(p + q)$$
//! **Distance** $d = 2\operatorname{arsinh}(c/2)$ with the chord $c = \Vert q - p\Vert_L$. Far from the origin, both
//! arcosh(−⟨p,q⟩) and ‖q_s − p_s‖² − (q_0 − p_0)² lose their digits. For ⟨p_s, q_s⟩ > 0 the chord is computed from
//! $$\tfrac12 c^2 = p_0 q_0 - 1 - \langle p_s, q_s\rangle = \frac{\Vert p_s\Vert^2 \Vert q_\perp\Vert^2 + (q_0 - p_0)^2}{p_0 q_0 - 1 + \langle p_s, q_s\rangle}$$
//! where $q_\perp$ is the part of $q_s - p_s$ orthogonal to $p_s$. Every term is positive.
//!
//! **Cost** O(n). **Care** The time coordinate is recomputed from the space coordinates after each walk, so the
//! constraint holds to the last bit. A time coordinate above e^700 (f32: e^80) or a step above 350 (f32: 40) is an
//! `Overflow`.
//!
//! Measured relative errors of the distance in f64: 3e-16 near the origin, also at d = 1e-12. At ‖p_s‖ = 5e5 at most
//! 3e-11, for any d down to 1e-12 (the difference of squares: 2e-4; arcosh: every digit). In general about ε·p_0 for
//! points in nearly the same direction, and 5e-16 for all others. Norms, logarithms and transports also have a
//! relative error of ε·p_0 (p_0 of the farther end), which is the effect of rounding the coordinates of a tangent
//! vector.
//!
//! **Source** \[KMWW07, sec. 2\]; \[GHN18\]; curvature −1.

mod implicit;

use super::dilated::{Dilated, radius};
use crate::Real;
use crate::error::{self, Allowed, ConfigError, DomainError};
use crate::geometry::forward::forward;
use crate::geometry::mean::Mean;
use crate::geometry::{Curvature, ExpLog, Manifold, Step, Work};
use crate::learn::base;
use crate::learn::gauge::Gauge;
use crate::learn::{Blend, Chart, RowSummary, Scaled, SparseForm, Steps};
use crate::row::Norm;
use crate::row::Row;
use crate::update::Round;

/// Hyperbolic space of dimension n − 1 in n ambient coordinates, time first. For a curvature k = −1/r² other than −1,
/// the points are r·p with p from the formulas.
///
/// ```
/// use geowalk::geometry::{ExpLog, Work, manifolds::Hyperboloid};
/// let plane = Hyperboloid::new(3)?;
/// let mut work = Work::new();
/// let mut p = [1.0, 0.0, 0.0];
/// plane.exp(&mut p, &[0.0, 3.0, 4.0], 0.5, &mut work)?;
/// assert!((p[0] - 2.5_f64.cosh()).abs() < 1e-14);
/// assert!((plane.distance(&[1.0, 0.0, 0.0], &p, &mut work) - 2.5).abs() < 1e-15);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Debug, Clone, PartialEq)]
pub struct Hyperboloid {
    unit: Dilated<Unit>,
    curvature: f64,
}

impl Hyperboloid {
    /// The hyperboloid of curvature −1 in n ambient coordinates, n ≥ 2.
    pub fn new(n: usize) -> Result<Self, ConfigError> {
        Self::with_curvature(n, -1.0)
    }

    /// The hyperboloid of curvature k from −1e12 to −1e-12: its points have ⟨p, p⟩_L = 1/k.
    pub fn with_curvature(n: usize, curvature: f64) -> Result<Self, ConfigError> {
        error::parameter("n", n as f64, Allowed::Whole(2))?;
        let radius = radius(curvature)?;
        Ok(Self { unit: Dilated { model: Unit { n }, radius }, curvature })
    }

    /// The curvature parameter, defined even for n = 2, where there is no plane.
    pub fn parameter(&self) -> f64 {
        self.curvature
    }
}

macro_rules! unit {
    ($this:ident, $m:ident => $body:expr) => {{
        let $m = &$this.unit;
        $body
    }};
}

forward!([] Manifold for Hyperboloid, unit);
forward!([] ExpLog for Hyperboloid, unit);

/// Curvature −1.
#[derive(Debug, Clone, PartialEq)]
struct Unit {
    n: usize,
}

fn dot<F: Real>(u: &[F], v: &[F]) -> F {
    u.iter().zip(v).map(|(&a, &b)| a * b).sum()
}

/// √(1 + ‖p_s‖²).
fn time<F: Real>(space: &[F]) -> F {
    F::ONE.hypot(Norm::L2.of(space))
}

/// The time coordinate that makes `v` tangent at `p`.
fn tangent_time<F: Real>(p0: F, ps: &[F], vs: &[F]) -> F {
    ps.iter().zip(vs).map(|(&p, &v)| p / p0 * v).sum()
}

/// The norm of a vector, without intermediate overflow or underflow.
fn size<F: Real>(x: impl Iterator<Item = F> + Clone) -> F {
    let largest = x.clone().fold(F::TINY, |most, x| most.max(x.abs()));
    largest * x.map(|x| (x / largest).square()).sum::<F>().sqrt()
}

/// ‖p_s‖, and the norm of the part of x orthogonal to p_s ≠ 0.
fn across<F: Real>(ps: &[F], x: impl Iterator<Item = F> + Clone) -> (F, F) {
    let a = Norm::L2.of(ps);
    let along: F = ps.iter().zip(x.clone()).map(|(&p, x)| p / a * x).sum();
    (a, size(ps.iter().zip(x).map(move |(&p, x)| x - along * (p / a))))
}

/// ‖q − p‖_L = 2 sinh(d/2), and q_0 − p_0.
fn chord<F: Real>(p: &[F], q: &[F]) -> (F, F) {
    let (Some((&p0, ps)), Some((&q0, qs))) = (p.split_first(), q.split_first()) else {
        return (F::NAN, F::NAN);
    };
    // The rounding error of the orthogonal part is multiplied by ‖p_s‖, so swap the points to make this the smaller
    // norm.
    let (p0, ps, q0, qs, sign) =
        if p0 > q0 { (q0, qs, p0, ps, -F::ONE) } else { (p0, ps, q0, qs, F::ONE) };
    let pairs = || ps.iter().zip(qs).map(|(&p, &q)| (p, q));
    let total = p0 + q0;
    let rise: F = pairs().map(|(p, q)| (q - p) * (p / total + q / total)).sum();
    let product = p0 * q0;
    if product <= F::TWO {
        // Both points are near the origin, where c² = ‖q_s − p_s‖²(1 − h²) with h² ≤ 1/2.
        let r = size(pairs().map(|(p, q)| q - p));
        if r == F::ZERO {
            return (F::ZERO, F::ZERO);
        }
        let h = rise / r;
        return (r * ((F::ONE - h) * (F::ONE + h)).sqrt(), sign * rise);
    }
    // All terms below are divided by p_0 q_0, so that nothing overflows.
    let reach = F::ONE - F::ONE / p0 / q0;
    let cosine: F = pairs().map(|(p, q)| p / p0 * (q / q0)).sum();
    let roots = p0.sqrt() * q0.sqrt();
    if cosine <= F::ZERO {
        return ((F::TWO * (reach - cosine)).sqrt() * roots, sign * rise);
    }
    let (a, across) = across(ps, pairs().map(|(p, q)| q - p));
    let sides = (a / p0 * across * (p0 / q0).sqrt()).hypot(rise / roots);
    (sides * (F::TWO / (reach + cosine)).sqrt(), sign * rise)
}

/// ⟨q, v⟩_L for a vector v tangent at p, from terms that do not cancel far from the origin: the parts of q and v
/// orthogonal to p_s, and the parts along it.
fn pairing<F: Real>(p: &[F], q: &[F], rise: F, v: &[F]) -> F {
    let (Some((&p0, ps)), Some((&q0, qs)), Some((&v0, vs))) =
        (p.split_first(), q.split_first(), v.split_first())
    else {
        return F::NAN;
    };
    let triples = || ps.iter().zip(qs).zip(vs).map(|((&p, &q), &v)| (p, q - p, v));
    let a = Norm::L2.of(ps);
    if a <= F::ONE {
        return triples().map(|(_, ds, v)| ds * v).sum::<F>() - rise * v0;
    }
    let q_along: F = triples().map(|(p, ds, _)| p / a * ds).sum();
    let v_along: F = triples().map(|(p, _, v)| p / a * v).sum();
    let both: F =
        triples().map(|(p, ds, v)| (ds - q_along * (p / a)) * (v - v_along * (p / a))).sum();
    // The component v_0 p_0/a of v is along p_s; it is multiplied by b − q_0 a/p_0, where b = a + q_along.
    let b = a + q_along;
    let slope = a / p0;
    let meets = if b <= F::ZERO {
        b - q0 * slope
    } else {
        let sum = b + q0 * slope;
        let q_across = size(triples().map(|(p, ds, _)| ds - q_along * (p / a)));
        q_along / p0 * ((b + a) / sum) / p0 - slope.square() * q_across * (q_across / sum)
    };
    both + v0 / slope * meets
}

impl<F: Real> Manifold<F> for Unit {
    fn ambient(&self) -> usize {
        self.n
    }

    fn dim(&self) -> usize {
        self.n - 1
    }

    fn first_feature(&self) -> usize {
        1
    }

    fn check(&self, p: &[F]) -> Result<(), DomainError> {
        error::finite("the point", p, self.n)?;
        let Some((&p0, ps)) = p.split_first() else { return Ok(()) };
        let expected = time(ps);
        if expected.is_finite() && (p0 - expected).abs() <= F::TOLERANCE * expected {
            return Ok(());
        }
        Err(DomainError::Constraint {
            quantity: "the time coordinate of the point",
            found: p0.f64(),
            expected: expected.f64(),
            tolerance: (F::TOLERANCE * expected).f64(),
        })
    }

    fn check_tangent(&self, p: &[F], v: &[F]) -> Result<(), DomainError> {
        error::finite("the tangent vector", v, self.n)?;
        let (Some((&p0, ps)), Some((&v0, vs))) = (p.split_first(), v.split_first()) else {
            return Ok(());
        };
        let expected = tangent_time(p0, ps, vs);
        // Rounding is absolute below the normal numbers.
        let tolerance = F::TOLERANCE * Norm::L2.of(v) + F::TINY;
        if tolerance.is_finite() && (v0 - expected).abs() <= tolerance {
            return Ok(());
        }
        Err(DomainError::Constraint {
            quantity: "the time coordinate of the tangent vector",
            found: v0.f64(),
            expected: expected.f64(),
            tolerance: tolerance.f64(),
        })
    }

    fn origin(&self, p: &mut [F]) {
        p.fill(F::ZERO);
        if let Some(first) = p.first_mut() {
            *first = F::ONE;
        }
    }

    fn project(&self, p: &[F], v: &mut [F]) {
        let (Some((&p0, ps)), Some((v0, vs))) = (p.split_first(), v.split_first_mut()) else {
            return;
        };
        let c = dot(ps, vs) - p0 * *v0;
        for (v, &p) in vs.iter_mut().zip(ps) {
            *v += c * p;
        }
        *v0 = tangent_time(p0, ps, vs);
    }

    /// The point with the same space coordinates.
    fn nearest(&self, p: &mut [F], _: &mut Work<F>) -> Result<(), DomainError> {
        error::finite("the point", p, self.n)?;
        if let Some((p0, ps)) = p.split_first_mut() {
            *p0 = time(ps);
        }
        Manifold::<F>::check(self, p)
    }

    fn inner(&self, p: &[F], u: &[F], v: &[F], _: &mut Work<F>) -> F {
        let (Some((_, ps)), Some((&u0, us)), Some((&v0, vs))) =
            (p.split_first(), u.split_first(), v.split_first())
        else {
            return F::NAN;
        };
        let a = Norm::L2.of(ps);
        if a <= F::ONE {
            return dot(us, vs) - u0 * v0;
        }
        // Far from the origin, ⟨u_s, v_s⟩ − u_0 v_0 cancels. The part orthogonal to p_s counts in full, the part along
        // it as u_0 v_0/‖p_s‖².
        let along = |x: &[F]| ps.iter().zip(x).map(|(&p, &x)| p / a * x).sum::<F>();
        let (alpha, beta) = (along(us), along(vs));
        let across: F = ps
            .iter()
            .zip(us.iter().zip(vs))
            .map(|(&p, (&u, &v))| (u - alpha * (p / a)) * (v - beta * (p / a)))
            .sum();
        across + u0 / a * (v0 / a)
    }

    fn norm(&self, p: &[F], v: &[F], _: &mut Work<F>) -> F {
        let (Some((_, ps)), Some((&v0, vs))) = (p.split_first(), v.split_first()) else {
            return F::NAN;
        };
        if Norm::L2.of(ps) <= F::ONE {
            let r = Norm::L2.of(vs);
            let h = if r == F::ZERO { v0 } else { v0 / r };
            return r * ((F::ONE - h) * (F::ONE + h)).max(F::ZERO).sqrt();
        }
        let (a, across) = across(ps, vs.iter().copied());
        across.hypot(v0 / a)
    }

    fn gradient(&self, p: &[F], covector: &[F], v: &mut [F], _: &mut Work<F>) {
        for (v, &g) in v.iter_mut().zip(covector) {
            *v = g;
        }
        if let Some(first) = v.first_mut() {
            *first = -*first;
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

impl<F: Real> ExpLog<F> for Unit {
    fn curvature(&self) -> Curvature {
        // A curve has no planes.
        if self.n == 2 { Curvature::FLAT } else { Curvature::constant(-1.0) }
    }

    fn injectivity(&self, _: &[F]) -> F {
        F::INFINITY
    }

    fn exp(&self, p: &mut [F], v: &[F], t: F, work: &mut Work<F>) -> Result<Step<F>, DomainError> {
        let length = t.abs() * self.norm(p, v, work);
        let (Some((p0, ps)), Some((_, vs))) = (p.split_first_mut(), v.split_first()) else {
            return Err(DomainError::Empty { what: "the point" });
        };
        // Half the range of exp, so that squares are finite. Less for points far from the origin, because the end can
        // have the time coordinate p_0 e^t.
        let limit = (F::MAX_EXPONENT * F::HALF).min(F::MAX_EXPONENT - p0.ln());
        if length > limit || limit.is_nan() || length.is_nan() {
            return Err(DomainError::Overflow { length: length.f64(), limit: limit.f64() });
        }
        let (a, b) = (length.cosh(), length.sinhc() * t);
        for (p, &v) in ps.iter_mut().zip(vs) {
            *p = a * *p + b * v;
        }
        *p0 = time(ps);
        Ok(Step::inside(length))
    }

    fn log(&self, p: &[F], q: &[F], v: &mut [F], work: &mut Work<F>) -> Result<(), DomainError> {
        let d = self.distance(p, q, work);
        if d > F::MAX_EXPONENT || d.is_nan() {
            return Err(DomainError::Overflow { length: d.f64(), limit: F::MAX_EXPONENT.f64() });
        }
        let (Some((&p0, ps)), Some((_, qs)), Some((v0, vs))) =
            (p.split_first(), q.split_first(), v.split_first_mut())
        else {
            return Ok(());
        };
        let (a, b) = (d.sinhc(), d * (d * F::HALF).tanh());
        for (v, (&p, &q)) in vs.iter_mut().zip(ps.iter().zip(qs)) {
            *v = (q - p) / a - b * p;
        }
        *v0 = tangent_time(p0, ps, vs);
        Ok(())
    }

    fn distance(&self, p: &[F], q: &[F], _: &mut Work<F>) -> F {
        F::TWO * (chord(p, q).0 * F::HALF).asinh()
    }

    fn transport(&self, p: &[F], q: &[F], v: &mut [F], _: &mut Work<F>) -> Result<(), DomainError> {
        let (c, rise) = chord(p, q);
        let factor = pairing(p, q, rise, v) / (F::TWO + c.square() * F::HALF);
        let (Some((_, ps)), Some((&q0, qs)), Some((v0, vs))) =
            (p.split_first(), q.split_first(), v.split_first_mut())
        else {
            return Ok(());
        };
        if !factor.is_finite() || c.square() > F::MAX_EXPONENT.exp() {
            let length = F::TWO * (c * F::HALF).asinh();
            let limit = F::MAX_EXPONENT;
            return Err(DomainError::Overflow { length: length.f64(), limit: limit.f64() });
        }
        for (v, (&p, &q)) in vs.iter_mut().zip(ps.iter().zip(qs)) {
            *v += factor * (p + q);
        }
        *v0 = tangent_time(q0, qs, vs);
        Ok(())
    }
}

/// The longest step at O(nnz), before cosh would overflow.
const LONGEST: f64 = 350.0;

/// Geodesic steps in hyperbolic space at O(nnz). All features are spatial coordinates, $x_0 = 0$, so that
/// $z = \langle w_s, x\rangle = u$ and
/// $$w_s' = a\,w_s + b\,x, \qquad \theta = \eta |g| \sqrt{\Vert x\Vert^2 + u^2}, \qquad
///   a = \cosh\theta - \eta g u\,\mathrm{sinhc}\,\theta, \qquad b = -\eta g\, \mathrm{sinhc}\,\theta$$
/// **Start** the origin, $w_s = 0$. **Care** $w_0 = \sqrt{1 + \Vert w_s\Vert^2}$ is never stored, so the constraint
/// always holds. Steps longer than 350 are refused. **Source** \[KMWW07, eq. (10)\] in the hyperboloid model of
/// \[Boumal23, sec. 7.6\].
#[derive(Debug, Clone, Copy, PartialEq, Default)]
pub struct HyperbolicForm;

impl Steps<HyperbolicForm> {
    /// A walk at the origin.
    pub fn new() -> Self {
        Self::default()
    }

    /// The time coordinate w₀; its arcosh is the distance from the origin.
    pub fn time(&self) -> f64 {
        (1.0 + self.chart.norm2()).sqrt()
    }
}

impl SparseForm for HyperbolicForm {
    type Chart = Scaled;
    type Move = Blend;

    fn spec(&self) -> String {
        "explicit:hyperbolic".to_owned()
    }

    fn chart(&self) -> Scaled {
        Scaled::default()
    }

    fn plan(
        &self,
        chart: &Scaled,
        row: RowSummary,
        kappa: f64,
        round: &mut Round,
    ) -> Result<Option<Blend>, DomainError> {
        let RowSummary { z: u, size: square } = row;
        let length = kappa.abs() * (square + u * u).sqrt();
        if length.is_nan() || length > LONGEST {
            return Err(DomainError::Overflow { length, limit: LONGEST });
        }
        round.length = length;
        let b = -kappa * length.sinhc();
        let a = Real::cosh(length) + b * u;
        base::length(a.abs() * chart.norm2().sqrt() + b.abs() * square.sqrt())?;
        Ok((length > 0.0).then_some(Blend { a, b }))
    }

    fn gauge<X: Row<f64>>(&self, chart: &Scaled, x: X) -> Gauge {
        let z = chart.predict(x);
        let square = Gauge::euclidean(x).square + z * z;
        Gauge { square, stretch: square.sqrt(), local: false }
    }
}

#[cfg(test)]
pub(super) mod tests {
    use super::*;

    /// Numbers in [−1, 1), equal in every run.
    pub(in super::super) fn random(seed: u64) -> impl FnMut() -> f64 {
        let mut state = seed.wrapping_mul(2_862_933_555_777_941_757).wrapping_add(3);
        move || {
            state = state
                .wrapping_mul(6_364_136_223_846_793_005)
                .wrapping_add(1_442_695_040_888_963_407);
            (state >> 11) as f64 / (1_u64 << 52) as f64 - 1.0
        }
    }

    /// Checks the relations between exp, log, distance, transport and gradient at `p`; lengths relative to ‖v‖ and
    /// ‖u‖.
    pub(in super::super) fn laws<M: ExpLog<f64>>(
        m: &M,
        p: &[f64],
        u: &[f64],
        v: &[f64],
        tolerance: f64,
    ) {
        let work = &mut Work::new();
        let near = |what: &str, found: f64, expected: f64, size: f64| {
            let error = (found - expected).abs() / size;
            assert!(error <= tolerance, "{what}: {found} {expected}, relative {error:e} of {size}");
        };
        m.check(p).unwrap();
        m.check_tangent(p, u).unwrap();
        m.check_tangent(p, v).unwrap();
        let (nu, nv) = (m.norm(p, u, work), m.norm(p, v, work));
        near("norm", m.inner(p, v, v, work), nv * nv, nv * nv);

        let mut q = p.to_vec();
        let step = m.exp(&mut q, v, 1.0, work).unwrap();
        m.check(&q).unwrap();
        near("step length", step.length, nv, nv);
        near("distance", m.distance(p, &q, work), nv, nv);
        near("symmetry", m.distance(&q, p, work), m.distance(p, &q, work), nv);
        assert_eq!(m.distance(p, p, work), 0.0);
        let mut half = p.to_vec();
        m.exp(&mut half, v, 0.5, work).unwrap();
        near("half way", m.distance(&half, &q, work), 0.5 * nv, nv);

        let minus = |a: &[f64], b: &[f64]| a.iter().zip(b).map(|(a, b)| a - b).collect::<Vec<_>>();
        let mut back = vec![0.0; p.len()];
        m.log(p, &q, &mut back, work).unwrap();
        m.check_tangent(p, &back).unwrap();
        near("log exp", m.norm(p, &minus(&back, v), work), 0.0, nv);

        let (mut u_there, mut v_there) = (u.to_vec(), v.to_vec());
        m.transport(p, &q, &mut u_there, work).unwrap();
        m.transport(p, &q, &mut v_there, work).unwrap();
        m.check_tangent(&q, &u_there).unwrap();
        near("isometry", m.norm(&q, &u_there, work), nu, nu);
        near("angles", m.inner(&q, &u_there, &v_there, work), m.inner(p, u, v, work), nu * nv);
        m.log(&q, p, &mut back, work).unwrap();
        let gap: Vec<f64> = v_there.iter().zip(&back).map(|(v, b)| v + b).collect();
        near("velocity to velocity", m.norm(&q, &gap, work), 0.0, nv);
        m.transport(&q, p, &mut u_there, work).unwrap();
        near("there and back", m.norm(p, &minus(&u_there, u), work), 0.0, 16.0 * nu);

        let covector: Vec<f64> = (0..p.len()).map(|i| 1.0 - 0.37 * i as f64).collect();
        let mut gradient = vec![0.0; p.len()];
        m.gradient(p, &covector, &mut gradient, work);
        m.check_tangent(p, &gradient).unwrap();
        let size = m.norm(p, &gradient, work) * nu;
        near("duality", m.inner(p, &gradient, u, work), dot(&covector, u), size);
        let mut same = u.to_vec();
        m.project(p, &mut same);
        near("projection", m.norm(p, &minus(&same, u), work), 0.0, nu);
    }

    /// Checks that no method panics, for slices of any content and length.
    pub(in super::super) fn never_panics<F: Real, M: ExpLog<F>>(m: &M) {
        let work = &mut Work::new();
        let n = m.ambient();
        for len in [0, 1, n.saturating_sub(1), n, n + 1, 3 * n] {
            for other in [0, 1, n, n + 2] {
                for value in [0.0, 1.0, -1.0, 1e300, 1e-300, f64::INFINITY, f64::NAN] {
                    let (a, b) = (vec![F::of(value); len], vec![F::of(value); other]);
                    let (mut p, mut out) = (a.clone(), b.clone());
                    let _ = m.check(&a).is_ok() || m.check_tangent(&a, &b).is_ok();
                    let _ = m.exp(&mut p, &b, F::ONE, work);
                    let _ = m.log(&a, &b, &mut out, work);
                    let _ = m.log(&a, &a, &mut out, work);
                    let _ = m.transport(&a, &b, &mut out, work);
                    let _ = m.inner(&a, &b, &b, work) + m.norm(&a, &b, work);
                    let _ = m.distance(&a, &b, work);
                    m.gradient(&a, &b, &mut out, work);
                    m.project(&a, &mut out);
                    m.origin(&mut out);
                }
            }
        }
    }

    fn point(space: &[f64]) -> Vec<f64> {
        [&[time(space)], space].concat()
    }

    fn tangent(p: &[f64], space: &[f64]) -> Vec<f64> {
        [&[tangent_time(p[0], &p[1..], space)], space].concat()
    }

    #[test]
    fn laws_hold_near_and_far() {
        let mut random = random(1);
        for n in [2, 3, 6] {
            let m = Hyperboloid::new(n).unwrap();
            for radius in [0.0, 1e-3, 0.5, 3.0, 1e3, 5e5] {
                for length in [1e-12, 1e-3, 0.7, 6.0] {
                    let mut draw = |r: f64| (1..n).map(|_| r * random()).collect::<Vec<_>>();
                    let p = point(&draw(radius));
                    let u = tangent(&p, &draw(1.0));
                    let mut v = tangent(&p, &draw(1.0));
                    let norm = m.norm(&p, &v, &mut Work::new());
                    for v in &mut v {
                        *v *= length / norm;
                    }
                    // Rounding moves a point by ε·p_0 and a vector v by ε·p_0‖v‖ in the metric, at both ends.
                    let far = p[0] * Real::exp(length);
                    laws(&m, &p, &u, &v, 2e-15 * far * (1.0 + 1.0 / length));
                }
            }
        }
    }

    /// (p_s, q_s, d) from mpmath with 50 digits; the coordinates are exact.
    const KNOWN: [([f64; 2], [f64; 2], f64); 10] = [
        ([3e5, 4e5], [300_000.75, 400_001.0], 2.499_996_875_000_208_3e-6),
        ([3e5, 4e5], [3e5 + 4.768_371_582_031_25e-7, 4e5], 3.814_697_265_628_177e-7),
        ([3e5, 4e5], [300_000.75, 400_001.000_001_907_35], 2.749_485_175_469_534e-6),
        ([3e5, 4e5], [4.5e5, 600_000.5], 0.471_710_130_312_680_92),
        ([3e5, 4e5], [-3e5, 4e5], 26.609_369_868_402_122),
        ([3e5, 4e5], [0.6, 0.8], 12.934_136_970_945_731),
        ([3e5, 4e5], [-3e5, -4e5], 27.631_021_115_930_548),
        ([0.25, 0.5], [0.25 + 9.094_947_017_729_282e-13, 0.5], 8.875_759_458_064_282e-13),
        ([0.25, 0.5], [0.25, -1e-8], 0.481_948_703_872_791_7),
        ([1e100, 0.0], [1e100, 1e98], 451.306_653_227_770_4),
    ];

    #[test]
    fn distances_agree_with_high_precision() {
        let m = Hyperboloid::new(3).unwrap();
        for (i, (ps, qs, d)) in KNOWN.into_iter().enumerate() {
            let (p, q) = (point(&ps), point(&qs));
            // The first four are far from the origin and nearly in one direction.
            let tolerance = if i < 4 { 3e-11 } else { 1e-15 };
            for found in
                [m.distance(&p, &q, &mut Work::new()), m.distance(&q, &p, &mut Work::new())]
            {
                assert!((found / d - 1.0).abs() < tolerance, "{ps:?} {qs:?}: {found} {d}");
            }
        }
        // arcosh and the difference of squares have large errors here.
        let (ps, qs, d) = KNOWN[2];
        let (p, q) = (point(&ps), point(&qs));
        let naive = Real::acosh(p[0] * q[0] - dot(&ps, &qs));
        assert!(naive.is_nan() || (naive / d - 1.0).abs() > 0.1, "{naive}");
    }

    #[test]
    fn huge_steps_are_refused_and_leave_the_point() {
        let m = Hyperboloid::new(3).unwrap();
        let work = &mut Work::new();
        let mut p = [1.0, 0.0, 0.0];
        let error = m.exp(&mut p, &[0.0, 400.0, 0.0], 1.0, work).unwrap_err();
        assert_eq!(error, DomainError::Overflow { length: 400.0, limit: 350.0 });
        assert_eq!(p, [1.0, 0.0, 0.0]);
        m.exp(&mut p, &[0.0, 350.0, 0.0], 1.0, work).unwrap();
        let ahead = tangent(&p, &[340.0 * p[0], 0.0]);
        m.exp(&mut p, &ahead, 1.0, work).unwrap();
        m.check(&p).unwrap();
        assert!((m.distance(&[1.0, 0.0, 0.0], &p, work) - 690.0).abs() < 1e-10);
        let before = p;
        let ahead = tangent(&p, &[20.0 * p[0], 0.0]);
        assert!(matches!(m.exp(&mut p, &ahead, 1.0, work), Err(DomainError::Overflow { .. })));
        assert_eq!(p, before);
        let q = [p[0], -p[1], 0.0];
        assert!((m.distance(&p, &q, work) - 1380.0).abs() < 1e-9);
        assert!(m.log(&p, &q, &mut [0.0; 3], work).is_err());
        assert!(m.transport(&p, &q, &mut [0.0; 3], work).is_err());
        let m32 = Hyperboloid::new(2).unwrap();
        let mut p = [1.0_f32, 0.0];
        assert!(m32.exp(&mut p, &[0.0, 41.0], 1.0, &mut Work::new()).is_err());
        m32.exp(&mut p, &[0.0, 39.0], 1.0, &mut Work::new()).unwrap();
        assert!((m32.distance(&[1.0, 0.0], &p, &mut Work::new()) - 39.0).abs() < 1e-4);
    }

    #[test]
    fn malformed_input_is_reported_and_never_panics() {
        let m = Hyperboloid::new(3).unwrap();
        never_panics::<f64, _>(&m);
        never_panics::<f32, _>(&m);
        let work = &mut Work::new();
        let o = [1.0, 0.0, 0.0];
        for i in 0..3 {
            let mut bad = o;
            bad[i] = f64::NAN;
            assert!(m.distance(&o, &bad, work).is_nan() && m.distance(&bad, &o, work).is_nan());
            assert!(m.inner(&o, &bad, &o, work).is_nan());
            assert!(m.exp(&mut o.clone(), &bad, 1.0, work).is_err());
            assert!(m.log(&o, &bad, &mut [0.0; 3], work).is_err());
            assert!(m.check(&bad).is_err());
        }
        assert!(Hyperboloid::new(1).is_err());
        assert!(m.check(&[-1.0, 0.0, 0.0]).is_err());
        let error = m.check(&[2.0, 0.75, 0.0]).unwrap_err();
        assert!(matches!(error, DomainError::Constraint { found: 2.0, expected: 1.25, .. }));
        assert!(m.check_tangent(&o, &[0.1, 1.0, 0.0]).is_err());
        let mut p = [0.0; 3];
        m.origin(&mut p);
        assert_eq!(p, o);
    }
}
