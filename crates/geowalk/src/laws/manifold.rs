//! Laws of manifolds. [`metric`] for every [`Manifold`]; the others for those with geodesics ([`ExpLog`]); [`all`] for all of them.

use super::{Broken, Sampler, demand, gap, size, succeed};
use crate::Real;
use crate::geometry::{Curvature, ExpLog, Manifold, Work};

/// Rounding that a chain of a few operations may leave, relative to the size of the numbers.
fn slack<F: Real>(scale: f64) -> f64 {
    // 2e-13 for f64, 1e-4 for f32: some ten times the worst that the registered manifolds leave.
    F::EPSILON.f64() * 1e3 * (1.0 + scale)
}

/// Every law, on one random case.
pub fn all<F: Real, M: ExpLog<F> + ?Sized>(m: &M, sampler: &mut Sampler) -> Result<(), Broken> {
    let p = sampler.point(m);
    metric(m, &p, sampler)?;
    geodesic(m, sampler)?;
    distance(m, sampler)?;
    transport(m, sampler)?;
    curvature(m, sampler)?;
    mean(m, sampler)
}

/// The metric at `p`: ⟨·,·⟩ is symmetric and positive; the gradient is tangent and represents the differential,
/// ⟨grad, u⟩_p = Σ covector_i u_i; a projection does not move tangent vectors; a walk of length 0 stays; a short walk starts
/// in the direction of its vector, $R_p(tv) = p + tv + O(t^2)$.
pub fn metric<F: Real, M: Manifold<F> + ?Sized>(
    m: &M,
    p: &[F],
    sampler: &mut Sampler,
) -> Result<(), Broken> {
    let mut work = Work::new();
    succeed("points pass the check", m.check(p), sampler)?;
    let u = sampler.tangent(m, p, F::ONE);
    let v = sampler.tangent(m, p, F::ONE);
    succeed("projected vectors are tangent", m.check_tangent(p, &u), sampler)?;

    let uv = m.inner(p, &u, &v, &mut work).f64();
    let vu = m.inner(p, &v, &u, &mut work).f64();
    demand("the inner product is symmetric", (uv - vu).abs(), slack::<F>(0.0), sampler)?;
    let uu = m.inner(p, &u, &u, &mut work).f64();
    demand("‖u‖² = ⟨u, u⟩, positive", (uu - 1.0).abs(), slack::<F>(1.0), sampler)?;

    let covector: Vec<F> = sampler.vector(m.ambient());
    let mut gradient = vec![F::ZERO; m.ambient()];
    m.gradient(p, &covector, &mut gradient, &mut work);
    succeed("a gradient is tangent", m.check_tangent(p, &gradient), sampler)?;
    let pairing: f64 = covector.iter().zip(&u).map(|(a, b)| a.f64() * b.f64()).sum();
    let inner = m.inner(p, &gradient, &u, &mut work).f64();
    let scale = m.norm(p, &gradient, &mut work).f64();
    demand("⟨grad, u⟩ = dL(u)", (pairing - inner).abs(), slack::<F>(scale), sampler)?;

    let ambient: Vec<F> = sampler.vector(m.ambient());
    let mut projected = ambient.clone();
    m.project(p, &mut projected);
    succeed("projections are tangent", m.check_tangent(p, &projected), sampler)?;
    // One subtraction leaves a residue relative to the vector before it, which here is far longer than the one after.
    let far = F::of(1e2) * F::TOLERANCE / F::EPSILON;
    for (v, &a) in projected.iter_mut().zip(&ambient) {
        *v += far * (a - *v);
    }
    m.project(p, &mut projected);
    let tangent = m.check_tangent(p, &projected);
    succeed("projections of almost normal vectors are tangent", tangent, sampler)?;
    let mut projected = u.clone();
    m.project(p, &mut projected);
    demand(
        "projecting twice is projecting once",
        gap(&projected, &u),
        slack::<F>(size(&u)),
        sampler,
    )?;

    let mut moved = p.to_vec();
    succeed(
        "a walk of length 0 is possible",
        m.retract(&mut moved, &u, F::ZERO, &mut work),
        sampler,
    )?;
    demand("a walk of length 0 stays", gap(&moved, p), slack::<F>(size(p)) * 1e-2, sampler)?;

    // (R(tv) − R(−tv))/2t = v + O(t²), relative to the coordinates' own size: halving t must shrink the error.
    let error = |t: F, work: &mut Work<F>| -> Result<f64, Broken> {
        let (mut ahead, mut behind) = (p.to_vec(), p.to_vec());
        succeed("a short walk is possible", m.retract(&mut ahead, &u, t, work), sampler)?;
        succeed("a short walk is possible", m.retract(&mut behind, &u, -t, work), sampler)?;
        let slope: Vec<F> =
            ahead.iter().zip(&behind).map(|(&a, &b)| (a - b) / (F::TWO * t)).collect();
        Ok(gap(&slope, &u) / size(&u))
    };
    // Coordinates near 0 bound how far a second-order expansion reaches; start from the shortest walk that is not rounding.
    let t = F::of(F::EPSILON.f64().sqrt().sqrt() * 0.01);
    let rounding = F::EPSILON.f64() * size(p) / (t.f64() * size(&u)) * 8.0;
    let found = error(t, &mut work)?;
    let allowed = 1e-3_f64.min(1e2 * F::EPSILON.f64().sqrt());
    demand("a short walk follows its vector", found, allowed + rounding, sampler)
}

/// Geodesics: exp stays on the manifold; its length is t‖v‖; log inverts it; the distance to its end is its length;
/// it has constant speed; walking back returns.
pub fn geodesic<F: Real, M: ExpLog<F> + ?Sized>(
    m: &M,
    sampler: &mut Sampler,
) -> Result<(), Broken> {
    let mut work = Work::new();
    let p: Vec<F> = sampler.point(m);
    let length = sampler.length(m, &p, 3.0);
    let v = sampler.tangent(m, &p, length);
    let allowed = slack::<F>(length.f64().max(size(&p)));

    let mut q = p.clone();
    let step = succeed(
        "exp below the injectivity radius succeeds",
        m.exp(&mut q, &v, F::ONE, &mut work),
        sampler,
    )?;
    succeed("exp stays on the manifold", m.check(&q), sampler)?;
    demand(
        "the length of a walk is ‖v‖",
        (step.length.f64() - length.f64()).abs(),
        allowed,
        sampler,
    )?;
    let d = m.distance(&p, &q, &mut work).f64();
    demand("d(p, exp v) = ‖v‖", (d - length.f64()).abs(), allowed, sampler)?;

    let mut back = vec![F::ZERO; m.ambient()];
    succeed(
        "log below the injectivity radius succeeds",
        m.log(&p, &q, &mut back, &mut work),
        sampler,
    )?;
    let difference: Vec<F> = back.iter().zip(&v).map(|(&a, &b)| a - b).collect();
    let off = m.norm(&p, &difference, &mut work).f64();
    demand("log(exp v) = v", off, allowed, sampler)?;

    let (s, t) = (F::of(sampler.unit()), F::of(sampler.unit()));
    let (mut a, mut b) = (p.clone(), p.clone());
    succeed("exp succeeds", m.exp(&mut a, &v, s, &mut work), sampler)?;
    succeed("exp succeeds", m.exp(&mut b, &v, t, &mut work), sampler)?;
    let speed = m.distance(&a, &b, &mut work).f64() - ((s - t).abs() * length).f64();
    demand("geodesics have constant speed", speed.abs(), allowed, sampler)?;

    succeed("log of the way back succeeds", m.log(&q, &p, &mut back, &mut work), sampler)?;
    let mut home = q.clone();
    succeed("exp succeeds", m.exp(&mut home, &back, F::ONE, &mut work), sampler)?;
    let off = m.distance(&home, &p, &mut work).f64();
    demand("exp(log) returns", off, allowed, sampler)
}

/// The distance: zero to itself, symmetric, triangle inequality.
pub fn distance<F: Real, M: ExpLog<F> + ?Sized>(
    m: &M,
    sampler: &mut Sampler,
) -> Result<(), Broken> {
    let mut work = Work::new();
    let (p, q, r): (Vec<F>, Vec<F>, Vec<F>) =
        (sampler.point(m), sampler.point(m), sampler.point(m));
    let mut d = |a: &[F], b: &[F]| m.distance(a, b, &mut work).f64();
    let (pq, qp, qr, pr) = (d(&p, &q), d(&q, &p), d(&q, &r), d(&p, &r));
    demand("d(p, p) = 0", d(&p, &p), slack::<F>(0.0) * 1e-3, sampler)?;
    demand("d(p, q) = d(q, p)", (pq - qp).abs(), slack::<F>(pq), sampler)?;
    demand("d(p, r) <= d(p, q) + d(q, r)", pr - pq - qr, slack::<F>(pq + qr), sampler)?;
    demand("different points have a positive distance", -pq, -f64::MIN_POSITIVE, sampler)
}

/// Parallel transport: tangent, an isometry, and it carries the velocity of the geodesic along: −log_q(p).
pub fn transport<F: Real, M: ExpLog<F> + ?Sized>(
    m: &M,
    sampler: &mut Sampler,
) -> Result<(), Broken> {
    let mut work = Work::new();
    let p: Vec<F> = sampler.point(m);
    let length = sampler.length(m, &p, 2.0);
    let velocity = sampler.tangent(m, &p, length);
    let mut q = p.clone();
    succeed("exp succeeds", m.exp(&mut q, &velocity, F::ONE, &mut work), sampler)?;
    let u = sampler.tangent(m, &p, F::ONE);
    let v = sampler.tangent(m, &p, F::ONE);
    let before = m.inner(&p, &u, &v, &mut work).f64();

    let (mut tu, mut tv, mut moved) = (u.clone(), v.clone(), velocity.clone());
    for vector in [&mut tu, &mut tv, &mut moved] {
        succeed("transport succeeds", m.transport(&p, &q, vector, &mut work), sampler)?;
    }
    succeed("transported vectors are tangent", m.check_tangent(&q, &tu), sampler)?;
    let after = m.inner(&q, &tu, &tv, &mut work).f64();
    let allowed = slack::<F>(length.f64().max(size(&p)).max(size(&q)));
    demand("transport keeps inner products", (before - after).abs(), allowed, sampler)?;

    let mut arrival = vec![F::ZERO; m.ambient()];
    succeed("log succeeds", m.log(&q, &p, &mut arrival, &mut work), sampler)?;
    let difference: Vec<F> = arrival.iter().zip(&moved).map(|(&a, &b)| a + b).collect();
    let off = m.norm(&q, &difference, &mut work).f64();
    demand("transport carries the velocity along", off, allowed, sampler)
}

/// The square of the side opposite to the angle γ between sides a and b, in the plane of curvature k; sin²(γ/2) is given.
fn third_side_squared(a: f64, b: f64, sin2_half: f64, k: f64) -> f64 {
    let root = k.abs().sqrt();
    // Haversines: no cancellation for short sides or small angles. s(x) = sin(√k x)/√k, and so on.
    if k > 0.0 {
        let s = |x: f64| Real::sin(root * x);
        let half = s(0.5 * (a - b)).square() + s(a) * s(b) * sin2_half;
        (2.0 * Real::asin(Real::min(half.sqrt(), 1.0)) / root).square()
    } else if k < 0.0 {
        let s = |x: f64| Real::sinh(root * x);
        let half = s(0.5 * (a - b)).square() + s(a) * s(b) * sin2_half;
        (2.0 * Real::asinh(half.sqrt()) / root).square()
    } else {
        (a - b).square() + 4.0 * a * b * sin2_half
    }
}

/// The declared curvature is not refuted: the third side of a hinge is at least what it is in the plane of curvature `max`, and at most
/// what it is in that of curvature `min` (Rauch; Toponogov). Where the two are equal this is the law of cosines.
pub fn curvature<F: Real, M: ExpLog<F> + ?Sized>(
    m: &M,
    sampler: &mut Sampler,
) -> Result<(), Broken> {
    let mut work = Work::new();
    let p: Vec<F> = sampler.point(m);
    // Sides below half the injectivity radius: the third side is then unique too.
    let a = sampler.length(m, &p, 1.0) * F::HALF;
    let b = sampler.length(m, &p, 1.0) * F::HALF;
    let (u, v) = (sampler.tangent(m, &p, a), sampler.tangent(m, &p, b));
    let (mut q, mut r) = (p.clone(), p.clone());
    succeed("exp succeeds", m.exp(&mut q, &u, F::ONE, &mut work), sampler)?;
    succeed("exp succeeds", m.exp(&mut r, &v, F::ONE, &mut work), sampler)?;
    let c = m.distance(&q, &r, &mut work).f64();
    let (a, b) = (a.f64(), b.f64());
    let cosine = m.inner(&p, &u, &v, &mut work).f64() / (a * b);
    let sin2_half = 0.5 * (1.0 - cosine).clamp(0.0, 2.0);
    let declared: Curvature = m.curvature();
    // Relative to the sides: a small manifold has short ones.
    let allowed = slack::<F>(size(&p)) * (a + b).square();
    let side = |k: f64| third_side_squared(a, b, sin2_half, k);
    demand(
        "hinges open as the largest curvature says",
        side(declared.max) - c * c,
        allowed,
        sampler,
    )?;
    demand("hinges open as the least curvature says", c * c - side(declared.min), allowed, sampler)
}

/// The Fréchet mean: Σ w_i log(x_i) vanishes there, it is on the manifold, and no random neighbour has a smaller Σ w_i d².
pub fn mean<F: Real, M: ExpLog<F> + ?Sized>(m: &M, sampler: &mut Sampler) -> Result<(), Broken> {
    const COUNT: usize = 4;
    let mut work = Work::new();
    let centre: Vec<F> = sampler.point(m);
    let n = m.ambient();
    let mut points = Vec::with_capacity(COUNT * n);
    for _ in 0..COUNT {
        let length = sampler.length(m, &centre, 0.5);
        let v = sampler.tangent(m, &centre, length);
        let mut x = centre.clone();
        succeed("exp succeeds", m.exp(&mut x, &v, F::ONE, &mut work), sampler)?;
        points.extend_from_slice(&x);
    }
    let weights: Vec<F> = (0..COUNT).map(|_| F::of(sampler.uniform(0.1, 1.0))).collect();
    let mut p = vec![F::ZERO; n];
    succeed("the mean exists", m.mean(&points, Some(&weights), &mut p, &mut work), sampler)?;
    succeed("the mean is on the manifold", m.check(&p), sampler)?;
    let (mut sum, mut v) = (vec![F::ZERO; n], vec![F::ZERO; n]);
    let total: F = weights.iter().copied().sum();
    for (x, &w) in points.chunks_exact(n).zip(&weights) {
        succeed("log succeeds", m.log(&p, x, &mut v, &mut work), sampler)?;
        for (sum, &v) in sum.iter_mut().zip(&v) {
            *sum += w / total * v;
        }
    }
    let pull = m.norm(&p, &sum, &mut work).f64();
    demand("Σ w_i log(x_i) = 0 at the mean", pull, slack::<F>(size(&p)), sampler)?;
    let cost = |p: &[F], work: &mut Work<F>| -> f64 {
        let squares = points.chunks_exact(n).zip(&weights);
        squares.map(|(x, w)| w.f64() * m.distance(p, x, work).square().f64()).sum()
    };
    let best = cost(&p, &mut work);
    for _ in 0..4 {
        let length = m.injectivity(&p).min(F::ONE) * F::of(1e-2);
        let v = sampler.tangent(m, &p, length);
        let mut near = p.clone();
        succeed("exp succeeds", m.exp(&mut near, &v, F::ONE, &mut work), sampler)?;
        let gain = best - cost(&near, &mut work);
        demand("no neighbour of the mean is better", gain, slack::<F>(best), sampler)?;
    }
    Ok(())
}
