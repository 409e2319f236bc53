//! Laws of manifolds. [`metric`] for every [`Manifold`]; the others for those with geodesics ([`ExpLog`]); [`all`] for all of them.

use super::{Broken, Sampler, demand, gap, size, succeed};
use crate::Real;
use crate::geometry::manifolds::CustomManifold;
use crate::geometry::{Curvature, Event, ExpLog, Manifold, Work};

/// Rounding that a chain of a few operations may leave, relative to the size of the numbers.
fn slack<F: Real>(scale: f64) -> f64 {
    // 2e-13 for f64, 1e-4 for f32: some ten times the worst that the registered manifolds leave.
    F::EPSILON.f64() * 1e3 * (1.0 + scale)
}

/// Every law, on one random case.
pub fn all<F: Real, M: ExpLog<F> + ?Sized>(m: &M, sampler: &mut Sampler) -> Result<(), Broken> {
    let p = sampler.point(m);
    metric(m, &p, sampler)?;
    dimension(m, &p, sampler)?;
    checks(m, &p, sampler)?;
    geodesic(m, sampler)?;
    reach(m, sampler)?;
    distance(m, sampler)?;
    transport(m, sampler)?;
    curvature(m, sampler)?;
    mean(m, sampler)
}

/// The laws of what a user's own manifold says of itself, on one random case: what it does not define is not tried.
pub fn custom(m: &CustomManifold, sampler: &mut Sampler) -> Result<(), Broken> {
    let defines = m.defines();
    let p: Vec<f64> = sampler.point(m);
    metric(m, &p, sampler)?;
    if defines.check {
        checks(m, &p, sampler)?;
    }
    geodesic::<f64, _>(m, sampler)?;
    distance::<f64, _>(m, sampler)?;
    if defines.injectivity {
        reach::<f64, _>(m, sampler)?;
    }
    if defines.transport {
        transport::<f64, _>(m, sampler)?;
    }
    if defines.curvature {
        curvature::<f64, _>(m, sampler)?;
    }
    Ok(())
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

/// As many random tangent vectors as the dimension are independent, and one more is not. Skipped above 64 coordinates,
/// where it would take long.
pub fn dimension<F: Real, M: Manifold<F> + ?Sized>(
    m: &M,
    p: &[F],
    sampler: &mut Sampler,
) -> Result<(), Broken> {
    if m.ambient() > 64 {
        return Ok(());
    }
    let mut work = Work::new();
    let mut basis: Vec<Vec<F>> = Vec::new();
    // A vector that depends on the others leaves rounding, times what the basis makes of it.
    let rest = F::EPSILON.f64().sqrt();
    for count in 0..=m.dim() {
        // One random vector may by chance have little that is new, three have not.
        let (mut v, mut size) = (Vec::new(), F::ZERO);
        for _ in 0..3 {
            let mut next = sampler.tangent(m, p, F::ONE);
            for _ in 0..2 {
                for b in &basis {
                    let along = m.inner(p, &next, b, &mut work);
                    next.iter_mut().zip(b).for_each(|(v, &b)| *v -= along * b);
                }
            }
            let found = m.norm(p, &next, &mut work);
            if v.is_empty() || found > size {
                (v, size) = (next, found);
            }
        }
        if count == m.dim() {
            return demand(
                "no more tangent vectors are independent than `dim`",
                size.f64(),
                rest,
                sampler,
            );
        }
        demand("as many tangent vectors as `dim` are independent", -size.f64(), -rest, sampler)?;
        for v in &mut v {
            *v /= size;
        }
        basis.push(v);
    }
    Ok(())
}

/// `check` and `check_tangent` refuse slices of another length, what is not finite, and what is moved off the manifold
/// or the tangent space; what `check` lets pass has a distance; `nearest` and `random` give points, and `nearest` leaves
/// points where they are.
pub fn checks<F: Real, M: ExpLog<F> + ?Sized>(
    m: &M,
    p: &[F],
    sampler: &mut Sampler,
) -> Result<(), Broken> {
    let mut work = Work::new();
    let refuse = |law: &'static str, accepted: bool, sampler: &Sampler| {
        demand(law, f64::from(u8::from(accepted)), 0.0, sampler)
    };
    let v = sampler.tangent(m, p, F::ONE);
    let longer: Vec<F> = p.iter().copied().chain([F::ONE]).collect();
    refuse("a point of another length is refused", m.check(&longer).is_ok(), sampler)?;
    refuse("a shorter point is refused", m.check(&p[1..]).is_ok(), sampler)?;
    refuse(
        "a tangent vector of another length is refused",
        m.check_tangent(p, &v[1..]).is_ok(),
        sampler,
    )?;
    let at = sampler.below(p.len());
    for bad in [F::NAN, F::INFINITY] {
        let (mut q, mut w) = (p.to_vec(), v.clone());
        (q[at], w[at]) = (bad, bad);
        refuse("a point that is not finite is refused", m.check(&q).is_ok(), sampler)?;
        refuse(
            "a tangent vector that is not finite is refused",
            m.check_tangent(p, &w).is_ok(),
            sampler,
        )?;
    }
    // What a projection takes away leads off the manifold, if anything is taken.
    let ambient: Vec<F> = sampler.vector(m.ambient());
    let mut inside = ambient.clone();
    m.project(p, &mut inside);
    let normal: Vec<F> = ambient.iter().zip(&inside).map(|(&a, &b)| a - b).collect();
    let off = size(&normal);
    if off > 1e-3 {
        let scale = F::of(0.1 * (1.0 + size(p)) / off);
        let with =
            |x: &[F]| -> Vec<F> { x.iter().zip(&normal).map(|(&x, &n)| x + scale * n).collect() };
        let large = with(&vec![F::ZERO; p.len()]);
        refuse(
            "a vector off the tangent space is refused",
            m.check_tangent(p, &large).is_ok(),
            sampler,
        )?;
        refuse("a point off the manifold is refused", m.check(&with(p)).is_ok(), sampler)?;
    }
    // Also where the manifold is open, and no direction leads off it at p.
    let far: Vec<F> = ambient.iter().map(|&x| F::of(8.0) * x).collect();
    if m.check(&far).is_ok() {
        let d = m.distance(p, &far, &mut work).f64();
        demand(
            "points that pass the check have a distance",
            if d.is_finite() { 0.0 } else { f64::NAN },
            0.0,
            sampler,
        )?;
    }
    let mut same = p.to_vec();
    succeed("a point has a nearest point", m.nearest(&mut same, &mut work), sampler)?;
    demand("the nearest point of a point is itself", gap(&same, p), slack::<F>(size(p)), sampler)?;
    let mut drawn = vec![F::ZERO; m.ambient()];
    m.random(&mut || sampler.normal(), &mut drawn, &mut work);
    succeed("random points pass the check", m.check(&drawn), sampler)
}

/// Up to the injectivity radius a walk is the shortest way and has no event; beyond, a walk that is not the shortest has
/// one, and `log` answers with a way there that is as long as the distance, or not at all. Skipped where the radius is
/// infinite.
pub fn reach<F: Real, M: ExpLog<F> + ?Sized>(m: &M, sampler: &mut Sampler) -> Result<(), Broken> {
    let mut work = Work::new();
    let p: Vec<F> = sampler.point(m);
    let radius = m.injectivity(&p);
    demand("the injectivity radius is positive", -radius.f64(), -f64::MIN_POSITIVE, sampler)?;
    if !radius.is_finite() {
        return Ok(());
    }
    let unit = sampler.tangent(m, &p, F::ONE);
    let allowed = 1e-6_f64.max(F::EPSILON.f64().sqrt()) * (1.0 + radius.f64());
    for part in [sampler.uniform(0.5, 0.95), 1.0, sampler.uniform(1.05, 1.9)] {
        let length = radius * F::of(part);
        let mut q = p.clone();
        let Ok(step) = m.exp(&mut q, &unit, length, &mut work) else {
            demand(
                "walks below the injectivity radius succeed",
                f64::from(u8::from(part < 1.0)),
                0.0,
                sampler,
            )?;
            continue;
        };
        let d = m.distance(&p, &q, &mut work).f64();
        let shorter = length.f64() - d;
        if part < 1.0 {
            demand(
                "below the injectivity radius walks are shortest",
                shorter.abs(),
                allowed,
                sampler,
            )?;
        }
        // Walks that leave an open manifold end where it does: their distance says nothing.
        match step.event {
            Event::Inside => {
                demand("a walk that is not the shortest has an event", shorter, allowed, sampler)?;
            }
            _ => demand(
                "walks below the injectivity radius have no event",
                f64::from(u8::from(part < 1.0)),
                0.0,
                sampler,
            )?,
        }
        let mut back = vec![F::ZERO; m.ambient()];
        match m.log(&p, &q, &mut back, &mut work) {
            Ok(()) => {
                let found = m.norm(&p, &back, &mut work).f64();
                demand(
                    "a logarithm is as long as the distance",
                    (found - d).abs(),
                    allowed,
                    sampler,
                )?;
                let mut end = p.clone();
                let law = "a logarithm leads there, also across the cut locus";
                succeed(law, m.exp(&mut end, &back, F::ONE, &mut work), sampler)?;
                demand(law, m.distance(&end, &q, &mut work).f64(), allowed, sampler)?;
            }
            Err(error) if part < 1.0 => {
                succeed("log below the injectivity radius succeeds", Err::<(), _>(error), sampler)?;
            }
            Err(_) => {}
        }
    }
    Ok(())
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
    // A curvature without an upper bound says nothing about the third side.
    if k == f64::INFINITY {
        return 0.0;
    }
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
