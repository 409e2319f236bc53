//! Laws of generators.

use super::{Broken, Sampler, demand, gap, size};
use crate::Real;
use crate::geometry::{Generator, Work};
use crate::row::{Norm, Row};

fn slack<F: Real>(scale: f64) -> f64 {
    // 2e-13 for f64, 1e-4 for f32: some ten times the worst that the registered generators leave.
    F::EPSILON.f64() * 1e3 * (1.0 + scale)
}

fn dot<F: Real>(a: &[F], b: &[F]) -> f64 {
    a.iter().zip(b).map(|(a, b)| a.f64() * b.f64()).sum()
}

/// Every law, on one random case in n coordinates.
pub fn all<F: Real, G: Generator<F> + ?Sized>(
    g: &G,
    n: usize,
    sampler: &mut Sampler,
) -> Result<(), Broken> {
    links(g, n, sampler)?;
    duality(g, n, sampler)?;
    divergence(g, n, sampler)?;
    pythagoras(g, n, sampler)?;
    legendre_dual(g, n, sampler)?;
    modulus(g, n, sampler)
}

/// ∇ψ⁻¹ inverts ∇ψ, and ∇ψ is the derivative of ψ along the domain.
pub fn links<F: Real, G: Generator<F> + ?Sized>(
    g: &G,
    n: usize,
    sampler: &mut Sampler,
) -> Result<(), Broken> {
    let (w, u): (Vec<F>, Vec<F>) = (sampler.domain_point(g, n), sampler.domain_point(g, n));
    let (mut theta, mut back) = (vec![F::ZERO; n], vec![F::ZERO; n]);
    g.link(&w, &mut theta);
    g.unlink(&theta, &mut back);
    demand("∇ψ⁻¹(∇ψ(w)) = w", gap(&back, &w), slack::<F>(size(&w)), sampler)?;
    // Both ends are in the domain, which is convex: so is the whole segment.
    let t = F::of(F::EPSILON.f64().sqrt().sqrt());
    let along = |t: F| -> Vec<F> { w.iter().zip(&u).map(|(&w, &u)| w + t * (u - w)).collect() };
    let direction: Vec<F> = u.iter().zip(&w).map(|(&u, &w)| u - w).collect();
    let secant = (g.value(&along(t)).f64() - g.value(&w).f64()) / t.f64();
    // Subtract the second-order term, which the divergence knows: D(w + td ‖ w) = t²/2 · d'Hd + …
    let curved = g.divergence(&along(t), &w).f64() / t.f64();
    let slope = dot(&theta, &direction);
    let allowed = slack::<F>(0.0).sqrt() * (1.0 + slope.abs() + g.value(&w).f64().abs());
    demand("∇ψ is the derivative of ψ", (secant - curved - slope).abs(), allowed, sampler)
}

/// Fenchel–Young: ψ(u) + ψ*(θ) ≥ ⟨u, θ⟩, with equality at u = ∇ψ⁻¹(θ).
pub fn duality<F: Real, G: Generator<F> + ?Sized>(
    g: &G,
    n: usize,
    sampler: &mut Sampler,
) -> Result<(), Broken> {
    let (w, u): (Vec<F>, Vec<F>) = (sampler.domain_point(g, n), sampler.domain_point(g, n));
    let mut theta = vec![F::ZERO; n];
    g.link(&w, &mut theta);
    let conjugate = g.conjugate(&theta).f64();
    let scale = conjugate.abs() + g.value(&w).f64().abs() + dot(&w, &theta).abs();
    let at = g.value(&w).f64() + conjugate - dot(&w, &theta);
    demand("ψ(w) + ψ*(∇ψ(w)) = ⟨w, ∇ψ(w)⟩", at.abs(), slack::<F>(scale), sampler)?;
    let elsewhere = g.value(&u).f64() + conjugate - dot(&u, &theta);
    let scale = scale + g.value(&u).f64().abs() + dot(&u, &theta).abs();
    demand("ψ(u) + ψ*(θ) >= ⟨u, θ⟩", -elsewhere, slack::<F>(scale), sampler)?;
    let gap = (elsewhere - g.divergence(&u, &w).f64()).abs();
    demand("ψ(u) + ψ*(∇ψ(w)) − ⟨u, ∇ψ(w)⟩ = D(u‖w)", gap, slack::<F>(scale), sampler)
}

/// D ≥ 0, zero only at equality, equal to its definition; the three- and four-point identities
/// D(a‖c) = D(a‖b) + D(b‖c) + ⟨∇ψ(b) − ∇ψ(c), a − b⟩ and
/// D(a‖b) + D(c‖d) − D(a‖d) − D(c‖b) = ⟨∇ψ(d) − ∇ψ(b), a − c⟩ \[NN09, sec. 3\]; \[BMDG05\].
pub fn divergence<F: Real, G: Generator<F> + ?Sized>(
    g: &G,
    n: usize,
    sampler: &mut Sampler,
) -> Result<(), Broken> {
    let points: [Vec<F>; 4] = std::array::from_fn(|_| sampler.domain_point(g, n));
    let mut links: [Vec<F>; 4] = std::array::from_fn(|_| vec![F::ZERO; n]);
    for (point, link) in points.iter().zip(&mut links) {
        g.link(point, link);
    }
    let [a, b, c, d] = &points;
    let [_, tb, tc, td] = &links;
    let bregman = |x: &[F], y: &[F]| g.divergence(x, y).f64();
    let bilinear = |s: &[F], t: &[F], x: &[F], y: &[F]| -> f64 {
        let terms = s.iter().zip(t).zip(x.iter().zip(y));
        terms.map(|((s, t), (x, y))| (s.f64() - t.f64()) * (x.f64() - y.f64())).sum()
    };
    demand("D(a‖a) = 0", bregman(a, a).abs(), slack::<F>(size(a)) * 1e-3, sampler)?;
    demand("D(a‖b) >= 0", -bregman(a, b), 0.0, sampler)?;
    demand("D(a‖b) > 0 for a ≠ b", f64::MIN_POSITIVE, bregman(a, b), sampler)?;
    let scale = bregman(a, c) + bregman(a, b) + bregman(b, c);
    let three = bregman(a, c) - bregman(a, b) - bregman(b, c) - bilinear(tb, tc, a, b);
    demand("the three-point identity", three.abs(), slack::<F>(scale), sampler)?;
    let scale = bregman(a, b) + bregman(c, d) + bregman(a, d) + bregman(c, b);
    let four =
        bregman(a, b) + bregman(c, d) - bregman(a, d) - bregman(c, b) - bilinear(td, tb, a, c);
    demand("the four-point identity", four.abs(), slack::<F>(scale), sampler)
}

/// Bregman–Pythagoras. The projection of w onto the hyperplane ⟨a, ·⟩ = c is b with ∇ψ(b) = ∇ψ(w) + λa, that is λa ◇ w, and for every u in
/// the hyperplane D(u‖w) = D(u‖b) + D(b‖w): no point of it is nearer to w than b. \[BMDG05\]
pub fn pythagoras<F: Real, G: Generator<F> + ?Sized>(
    g: &G,
    n: usize,
    sampler: &mut Sampler,
) -> Result<(), Broken> {
    let w: Vec<F> = sampler.domain_point(g, n);
    let normal: Vec<F> = sampler.vector(n);
    let lambda = F::of(sampler.uniform(-0.5, 0.5));
    let push: Vec<F> = normal.iter().map(|&a| lambda * a).collect();
    let (mut theta, mut b) = (vec![F::ZERO; n], vec![F::ZERO; n]);
    g.link(&w, &mut theta);
    for (theta, &push) in theta.iter_mut().zip(&push) {
        *theta += push;
    }
    if g.check_dual(&theta).is_err() {
        return Ok(());
    }
    g.legendre_dual(&push, &w, &mut b, &mut Work::new());
    // A direction orthogonal to the normal and to (1, …, 1), which every domain leaves room for.
    let mean = normal.iter().map(|a| a.f64()).sum::<f64>() / n as f64;
    let across: Vec<f64> = normal.iter().map(|a| a.f64() - mean).collect();
    let mut d: Vec<f64> = (0..n).map(|_| sampler.normal()).collect();
    let flat = d.iter().sum::<f64>() / n as f64;
    let along = d.iter().zip(&across).map(|(d, a)| d * a).sum::<f64>()
        / across.iter().map(|a| a * a).sum::<f64>();
    for (d, a) in d.iter_mut().zip(&across) {
        *d -= flat + along * a;
    }
    // Half the way to where a coordinate would change its sign.
    let reach = b.iter().zip(&d).fold(1.0, |reach: f64, (b, d)| {
        Real::min(reach, 0.5 * b.f64().abs() / (d.abs() + f64::MIN_POSITIVE))
    });
    let u: Vec<F> = b.iter().zip(&d).map(|(&b, &d)| b + F::of(reach * d)).collect();
    let bregman = |x: &[F], y: &[F]| g.divergence(x, y).f64();
    let (far, near, between) = (bregman(&u, &w), bregman(&u, &b), bregman(&b, &w));
    // u is in the hyperplane up to its rounding, which the normal and λ multiply.
    let scale = far + near + between + lambda.f64().abs() * size(&normal) * size(&u);
    demand("Bregman–Pythagoras", (far - near - between).abs(), slack::<F>(scale), sampler)
}

/// 0 ◇ p = p and u ◇ (v ◇ p) = (u + v) ◇ p \[NN09, eqs (49), (50)\], where all stays in the image of ∇ψ.
pub fn legendre_dual<F: Real, G: Generator<F> + ?Sized>(
    g: &G,
    n: usize,
    sampler: &mut Sampler,
) -> Result<(), Broken> {
    let mut work = Work::new();
    let p: Vec<F> = sampler.domain_point(g, n);
    let (mut once, mut twice, mut both) = (vec![F::ZERO; n], vec![F::ZERO; n], vec![F::ZERO; n]);
    g.legendre_dual(&vec![F::ZERO; n], &p, &mut once, &mut work);
    demand("0 ◇ p = p", gap(&once, &p), slack::<F>(size(&p)), sampler)?;
    let (u, v): (Vec<F>, Vec<F>) = (sampler.vector(n), sampler.vector(n));
    let sum: Vec<F> = u.iter().zip(&v).map(|(&u, &v)| u + v).collect();
    let inside = |shift: &[F]| {
        let mut theta = vec![F::ZERO; n];
        g.link(&p, &mut theta);
        for (theta, &s) in theta.iter_mut().zip(shift) {
            *theta += s;
        }
        g.check_dual(&theta).is_ok()
    };
    if !(inside(&v) && inside(&sum)) {
        return Ok(());
    }
    g.legendre_dual(&v, &p, &mut once, &mut work);
    g.legendre_dual(&u, &once, &mut twice, &mut work);
    g.legendre_dual(&sum, &p, &mut both, &mut work);
    demand("u ◇ (v ◇ p) = (u + v) ◇ p", gap(&twice, &both), slack::<F>(size(&both)), sampler)
}

/// The declared modulus is not refuted: D(u‖w) ≥ (σ/2)‖u − w‖².
pub fn modulus<F: Real, G: Generator<F> + ?Sized>(
    g: &G,
    n: usize,
    sampler: &mut Sampler,
) -> Result<(), Broken> {
    let (w, u): (Vec<F>, Vec<F>) = (sampler.domain_point(g, n), sampler.domain_point(g, n));
    let difference: Vec<F> = u.iter().zip(&w).map(|(&u, &w)| u - w).collect();
    let d = g.divergence(&u, &w).f64();
    let largest = Norm::L1.of(&u).max(Norm::L1.of(&w)).f64();
    for modulus in [g.modulus(), g.modulus_within(largest)].into_iter().flatten() {
        let norm = crate::row::Dense(&difference).norm(modulus.norm).f64();
        let floor = modulus.sigma / 2.0 * norm * norm;
        demand("D(u‖w) >= (σ/2)‖u − w‖²", floor - d, slack::<F>(d), sampler)?;
    }
    Ok(())
}
