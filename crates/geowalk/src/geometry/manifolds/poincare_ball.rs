//! # Poincaré ball
//! $$\lambda_p = \frac{2}{1 - \Vert p\Vert^2}, \qquad \langle u, v\rangle_p = \lambda_p^2\, u \cdot v, \qquad
//!   d(p, q) = 2 \operatorname{arsinh} \frac{\Vert p - q\Vert}{\sqrt{(1 - \Vert p\Vert^2)(1 - \Vert q\Vert^2)}}$$
//! $$\exp_p(v) = p \oplus \tanh\bigl(\tfrac{\lambda_p t}{2}\bigr) \tfrac{v}{t},\quad t = \Vert v\Vert, \qquad
//!   \log_p(q) = \frac{d}{\lambda_p} \frac{(-p) \oplus q}{\Vert (-p) \oplus q\Vert}, \qquad
//!   \Gamma_{p\to q}\, v = \frac{\lambda_p}{\lambda_q}\, \mathrm{gyr}[q, -p]\, v$$
//! **Möbius addition** in a form without cancellation, with m = p + q:
//! $$p \oplus q = \frac{(1 - \Vert p\Vert^2)\, m + \Vert m\Vert^2 p}{(1 - \Vert p\Vert^2)(1 - \Vert q\Vert^2) + \Vert m\Vert^2}$$
//!
//! **Cost** O(n). **Care** The ball ends at distance 35 from its centre (f32: 15), where 1 − ‖p‖ is a few ulps. A walk
//! beyond is moved back to ‖p‖ = 1 − 1e-15 (f32: 1 − 5.4e-7) and reported as [`Event::Clamped`]. Near the boundary,
//! the rounding of p alone causes a relative error of ε/(1 − ‖p‖). So compute with
//! [`Hyperboloid`](super::Hyperboloid), and convert with [`to_ball`] only to show the result. **Source** \[NK17, eq.
//! (1)\]; \[GHN18, sec. 2\]; curvature −1.

use super::dilated::{Dilated, radius};
use crate::Real;
use crate::error::{self, Allowed, ConfigError, DomainError};
use crate::geometry::forward::forward;
use crate::geometry::mean::Mean;
use crate::geometry::{Curvature, Event, ExpLog, Manifold, Step, Work};
use crate::row::Norm;

/// The open unit ball of ℝⁿ with the hyperbolic metric.
///
/// ```
/// use geowalk::geometry::{ExpLog, Work, manifolds::PoincareBall};
/// let disk = PoincareBall::new(2)?;
/// let d = disk.distance(&[0.0, 0.0], &[0.6, 0.0], &mut Work::new());
/// assert!((d - 4.0_f64.ln()).abs() < 1e-15);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Debug, Clone, PartialEq)]
pub struct PoincareBall {
    unit: Dilated<Unit>,
    curvature: f64,
}

impl PoincareBall {
    /// The ball of dimension n ≥ 1, of radius 1 and curvature −1.
    pub fn new(n: usize) -> Result<Self, ConfigError> {
        Self::with_curvature(n, -1.0)
    }

    /// The ball of curvature k from −1e12 to −1e-12; its radius is 1/√−k.
    pub fn with_curvature(n: usize, curvature: f64) -> Result<Self, ConfigError> {
        error::parameter("n", n as f64, Allowed::Whole(1))?;
        let radius = radius(curvature)?;
        Ok(Self { unit: Dilated { model: Unit { n }, radius }, curvature })
    }

    /// The curvature parameter, defined even for n = 1, where there is no plane.
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

forward!([] Manifold for PoincareBall, unit);
forward!([] ExpLog for PoincareBall, unit);

/// Curvature −1.
#[derive(Debug, Clone, PartialEq)]
struct Unit {
    n: usize,
}

fn dot<F: Real>(u: &[F], v: &[F]) -> F {
    u.iter().zip(v).map(|(&a, &b)| a * b).sum()
}

/// 1 − ‖p‖², which is 2/λ_p.
fn gap<F: Real>(p: &[F]) -> F {
    let r = Norm::L2.of(p);
    (F::ONE - r) * (F::ONE + r)
}

/// ‖q − p‖, without intermediate overflow or underflow.
fn apart<F: Real>(p: &[F], q: &[F]) -> F {
    let differences = || p.iter().zip(q).map(|(&p, &q)| q - p);
    let widest = differences().fold(F::TINY, |w, d| w.max(d.abs()));
    widest * differences().map(|d| (d / widest).square()).sum::<F>().sqrt()
}

/// The point of the hyperboloid (n + 1 coordinates, time first) at a point of the ball (n coordinates):
/// $p_0 = \frac{1 + \Vert b\Vert^2}{1 - \Vert b\Vert^2}$, $p_s = \frac{2b}{1 - \Vert b\Vert^2}$. An isometry.
///
/// ```
/// use geowalk::geometry::manifolds::to_hyperboloid;
/// let mut p = [0.0; 3];
/// to_hyperboloid(&[0.5, 0.0], &mut p);
/// assert_eq!(p, [1.25 / 0.75, 1.0 / 0.75, 0.0]);
/// ```
pub fn to_hyperboloid<F: Real>(ball: &[F], point: &mut [F]) {
    let Some((time, space)) = point.split_first_mut() else { return };
    let gap = gap(ball);
    *time = (F::TWO - gap) / gap;
    for (p, &b) in space.iter_mut().zip(ball) {
        *p = F::TWO * b / gap;
    }
}

/// The point of the ball (n coordinates) for a point of the hyperboloid (n + 1 coordinates, time first):
/// $b = p_s/(1 + p_0)$. An isometry, the inverse of [`to_hyperboloid`].
///
/// ```
/// use geowalk::geometry::manifolds::to_ball;
/// let mut b = [0.0; 2];
/// to_ball(&[2.125, 1.875, 0.0], &mut b);
/// assert_eq!(b, [0.6, 0.0]);
/// ```
pub fn to_ball<F: Real>(point: &[F], ball: &mut [F]) {
    let Some((&time, space)) = point.split_first() else { return };
    for (b, &p) in ball.iter_mut().zip(space) {
        *b = p / (F::ONE + time);
    }
}

/// The differential of [`to_hyperboloid`] at `ball`: maps the tangent vector `v` (n coordinates) to `out` (n + 1).
pub fn push_to_hyperboloid<F: Real>(ball: &[F], v: &[F], out: &mut [F]) {
    let Some((time, space)) = out.split_first_mut() else { return };
    let gap = gap(ball);
    let rise = F::TWO * dot(ball, v) / gap;
    *time = F::TWO * rise / gap;
    for (out, (&b, &v)) in space.iter_mut().zip(ball.iter().zip(v)) {
        *out = F::TWO * (v + rise * b) / gap;
    }
}

/// The differential of [`to_ball`] at `point`: maps the tangent vector `v` (n + 1 coordinates) to `out` (n).
pub fn push_to_ball<F: Real>(point: &[F], v: &[F], out: &mut [F]) {
    let (Some((&time, space)), Some((&v0, vs))) = (point.split_first(), v.split_first()) else {
        return;
    };
    let factor = F::ONE / (F::ONE + time);
    for (out, (&p, &v)) in out.iter_mut().zip(space.iter().zip(vs)) {
        *out = factor * (v - factor * v0 * p);
    }
}

impl<F: Real> Manifold<F> for Unit {
    fn ambient(&self) -> usize {
        self.n
    }

    fn dim(&self) -> usize {
        self.n
    }

    fn check(&self, p: &[F]) -> Result<(), DomainError> {
        error::finite("the point", p, self.n)?;
        let norm = Norm::L2.of(p);
        if norm < F::ONE {
            return Ok(());
        }
        Err(DomainError::Scalar {
            what: "the norm of the point",
            value: norm.f64(),
            allowed: Allowed::ClosedOpen(0.0, 1.0),
        })
    }

    fn check_tangent(&self, _: &[F], v: &[F]) -> Result<(), DomainError> {
        error::finite("the tangent vector", v, self.n)
    }

    fn origin(&self, p: &mut [F]) {
        p.fill(F::ZERO);
    }

    fn project(&self, _: &[F], _: &mut [F]) {}

    fn nearest(&self, p: &mut [F], _: &mut Work<F>) -> Result<(), DomainError> {
        error::finite("the point", p, self.n)?;
        let (norm, limit) = (Norm::L2.of(p), F::ONE - F::of(4.5) * F::EPSILON);
        if norm > limit {
            for p in p.iter_mut() {
                *p *= limit / norm;
            }
        }
        Ok(())
    }

    fn inner(&self, p: &[F], u: &[F], v: &[F], _: &mut Work<F>) -> F {
        dot(u, v) * (F::TWO / gap(p)).square()
    }

    fn norm(&self, p: &[F], v: &[F], _: &mut Work<F>) -> F {
        Norm::L2.of(v) * (F::TWO / gap(p))
    }

    fn gradient(&self, p: &[F], covector: &[F], v: &mut [F], _: &mut Work<F>) {
        let scale = (gap(p) * F::HALF).square();
        for (v, &g) in v.iter_mut().zip(covector) {
            *v = scale * g;
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

impl<F: Real> ExpLog<F> for Unit {
    fn curvature(&self) -> Curvature {
        // A curve has no planes.
        if self.n == 1 { Curvature::FLAT } else { Curvature::constant(-1.0) }
    }

    fn injectivity(&self, _: &[F]) -> F {
        F::INFINITY
    }

    fn exp(&self, p: &mut [F], v: &[F], t: F, work: &mut Work<F>) -> Result<Step<F>, DomainError> {
        let size = Norm::L2.of(v);
        let length = t.abs() * self.norm(p, v, work);
        if !length.is_finite() {
            return Err(DomainError::Overflow { length: length.f64(), limit: F::MAX.f64() });
        }
        if length == F::ZERO {
            return Ok(Step::inside(length));
        }
        let reach = (length * F::HALF).tanh().copysign(t);
        let p_gap = gap(p);
        // 1 − tanh² = 1/cosh², which is precise.
        let q_gap = F::ONE / (length * F::HALF).min(F::MAX_EXPONENT * F::HALF).cosh().square();
        let sum = || p.iter().zip(v).map(|(&p, &v)| p + reach * (v / size));
        let m2: F = sum().map(F::square).sum();
        let bottom = p_gap * q_gap + m2;
        for (p, &v) in p.iter_mut().zip(v) {
            let m = *p + reach * (v / size);
            *p = (p_gap * m + m2 * *p) / bottom;
        }
        let norm = Norm::L2.of(p);
        let limit = F::ONE - F::of(4.5) * F::EPSILON;
        if norm <= limit {
            return Ok(Step::inside(length));
        }
        for p in p.iter_mut() {
            *p *= limit / norm;
        }
        Ok(Step { length, event: Event::Clamped { coordinates: 1 } })
    }

    fn log(&self, p: &[F], q: &[F], v: &mut [F], work: &mut Work<F>) -> Result<(), DomainError> {
        let d = self.distance(p, q, work);
        let m = apart(p, q);
        if m == F::ZERO {
            v.fill(F::ZERO);
            return Ok(());
        }
        let (p_gap, q_gap) = (gap(p), gap(q));
        // (−p) ⊕ q has the direction of (1 − p²)m − ‖m‖²p with m = q − p. The norm of that vector is ‖m‖ times this
        // root.
        let root = (p_gap * q_gap + m.square()).sqrt();
        let scale = d * p_gap * F::HALF / root;
        for (v, (&p, &q)) in v.iter_mut().zip(p.iter().zip(q)) {
            *v = scale * (p_gap * ((q - p) / m) - m * p);
        }
        Ok(())
    }

    fn distance(&self, p: &[F], q: &[F], _: &mut Work<F>) -> F {
        F::TWO * (apart(p, q) / (gap(p).sqrt() * gap(q).sqrt())).asinh()
    }

    fn transport(&self, p: &[F], q: &[F], v: &mut [F], _: &mut Work<F>) -> Result<(), DomainError> {
        let (p_gap, q_gap) = (gap(p), gap(q));
        let m2 = apart(p, q).square();
        let along = dot(p, v);
        let across: F = p.iter().zip(q).zip(&*v).map(|((&p, &q), &v)| (q - p) * v).sum();
        // gyr[q, −p]v = v + turn·(..). Each term has a factor m = q − p, so nothing cancels for near points.
        let turn = F::TWO / (p_gap * q_gap + m2);
        let scale = q_gap / p_gap;
        for (v, (&p, &q)) in v.iter_mut().zip(p.iter().zip(q)) {
            let m = q - p;
            let bend = across * (p_gap * p - (F::ONE - p_gap) * m) - along * (q_gap * m + m2 * q);
            *v = scale * (*v + turn * bend);
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::super::hyperboloid::tests::{laws, never_panics, random};
    use super::*;
    use crate::geometry::manifolds::Hyperboloid;

    #[test]
    fn laws_hold_inside() {
        let mut random = random(2);
        for n in [1, 2, 5] {
            let m = PoincareBall::new(n).unwrap();
            for radius in [0.0, 1e-3, 0.3, 0.9, 0.999] {
                for length in [1e-12, 1e-3, 0.7, 4.0] {
                    let mut p: Vec<f64> = (0..n).map(|_| random()).collect();
                    let norm = Norm::L2.of(&p);
                    for p in &mut p {
                        *p *= radius / norm;
                    }
                    let scale = gap(&p);
                    let u: Vec<f64> = (0..n).map(|_| random()).collect();
                    let mut v: Vec<f64> = (0..n).map(|_| random()).collect();
                    let norm = m.norm(&p, &v, &mut Work::new());
                    for v in &mut v {
                        *v *= length / norm;
                    }
                    // Rounding moves a point by ε/(1 − ‖p‖²) in the metric, at both ends.
                    let far = Real::exp(length) / scale;
                    laws(&m, &p, &u, &v, 2e-15 * far * (1.0 + 1.0 / length));
                }
            }
        }
    }

    #[test]
    fn charts_are_isometries() {
        let mut random = random(3);
        let work = &mut Work::new();
        for n in [1, 2, 4] {
            let (ball, sheet) = (PoincareBall::new(n).unwrap(), Hyperboloid::new(n + 1).unwrap());
            for _ in 0..50 {
                let mut draw = |r: f64| (0..n).map(|_| r * random() / n as f64).collect::<Vec<_>>();
                let (p, q, u, v) = (draw(0.99), draw(0.99), draw(1.0), draw(2.0));
                let lift = |b: &[f64]| {
                    let mut point = vec![0.0; n + 1];
                    to_hyperboloid(b, &mut point);
                    point
                };
                let push = |v: &[f64]| {
                    let mut out = vec![0.0; n + 1];
                    push_to_hyperboloid(&p, v, &mut out);
                    out
                };
                let (ph, qh, uh, vh) = (lift(&p), lift(&q), push(&u), push(&v));
                sheet.check(&ph).unwrap();
                sheet.check_tangent(&ph, &uh).unwrap();
                let close =
                    |a: f64, b: f64, size: f64| assert!((a - b).abs() <= 1e-11 * size, "{a} {b}");
                let d = ball.distance(&p, &q, work);
                close(d, sheet.distance(&ph, &qh, work), d);
                let size = ball.norm(&p, &u, work) * ball.norm(&p, &v, work);
                close(ball.inner(&p, &u, &v, work), sheet.inner(&ph, &uh, &vh, work), size);
                let compare = |b: &[f64], point: &[f64]| {
                    let mut down = vec![0.0; n];
                    to_ball(point, &mut down);
                    b.iter().zip(&down).for_each(|(&a, &b)| close(a, b, 1.0));
                };
                compare(&p, &ph);
                let (mut end, mut end_h) = (p.clone(), ph.clone());
                ball.exp(&mut end, &v, 0.5, work).unwrap();
                sheet.exp(&mut end_h, &vh, 0.5, work).unwrap();
                compare(&end, &end_h);
                // Transport on the hyperboloid, mapped to the ball, must equal transport in the ball.
                let (mut there, mut there_h, mut down) = (u.clone(), uh, vec![0.0; n]);
                ball.transport(&p, &q, &mut there, work).unwrap();
                sheet.transport(&ph, &qh, &mut there_h, work).unwrap();
                push_to_ball(&qh, &there_h, &mut down);
                let size = Norm::L2.of(&there);
                there.iter().zip(&down).for_each(|(&a, &b)| close(a, b, size));
            }
        }
    }

    #[test]
    fn far_walks_are_clamped_and_reported() {
        let m = PoincareBall::new(2).unwrap();
        let work = &mut Work::new();
        for length in [40.0, 1e3, 1e300] {
            let mut p = [0.1, -0.2];
            let step = m.exp(&mut p, &[length, 0.0], 1.0, work).unwrap();
            assert_eq!(step.event, Event::Clamped { coordinates: 1 });
            m.check(&p).unwrap();
            assert!(m.distance(&[0.0, 0.0], &p, work) > 34.0);
        }
        let mut p = [0.5_f32, 0.0];
        let step = m.exp(&mut p, &[0.0, 30.0], 1.0, &mut Work::new()).unwrap();
        assert_eq!(step.event, Event::Clamped { coordinates: 1 });
        m.check(&p).unwrap();
        let mut p = [0.1, 0.2];
        assert!(m.exp(&mut p, &[f64::INFINITY, 0.0], 1.0, work).is_err());
        assert_eq!(p, [0.1, 0.2]);
    }

    #[test]
    fn malformed_input_is_reported_and_never_panics() {
        let m = PoincareBall::new(2).unwrap();
        never_panics::<f64, _>(&m);
        never_panics::<f32, _>(&m);
        let work = &mut Work::new();
        let (o, bad) = ([0.0, 0.0], [f64::NAN, 0.0]);
        assert!(m.distance(&o, &bad, work).is_nan() && m.inner(&bad, &o, &o, work).is_nan());
        assert!(m.exp(&mut o.clone(), &bad, 1.0, work).is_err());
        let mut v = [0.0; 2];
        assert!(m.log(&o, &bad, &mut v, work).is_err() || v[0].is_nan());
        assert!(m.check(&bad).is_err() && m.check(&[0.6, 0.8]).is_err());
        assert!(m.check(&[0.6]).is_err() && PoincareBall::new(0).is_err());
        let mut short = [7.0];
        to_hyperboloid(&[0.5], &mut short);
        to_ball::<f64>(&[], &mut short);
        push_to_ball(&[1.0], &[], &mut short);
        push_to_hyperboloid(&[0.5], &[1.0], &mut short);
    }
}
