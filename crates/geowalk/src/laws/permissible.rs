//! Laws of permissible functions φ \[NN09, def. 6 and lemmas 1–2\], with the corrections that the header of [`permissible`](crate::loss::permissible) names.

use super::{Broken, Sampler, demand};
use crate::loss::permissible::Permissible;

/// Every law, on one random case.
pub fn all<P: Permissible + ?Sized>(phi: &P, sampler: &mut Sampler) -> Result<(), Broken> {
    shape(phi, sampler)?;
    duality(phi, sampler)?;
    surrogate(phi, sampler)
}

/// φ ≤ 0, symmetric about ½, strictly convex with φ″ no smaller than declared; a = −φ(0) ≥ 0 and b = −φ(½) − a > 0.
pub fn shape<P: Permissible + ?Sized>(phi: &P, sampler: &mut Sampler) -> Result<(), Broken> {
    let (p, q) = (sampler.unit(), sampler.unit());
    demand("φ <= 0", phi.phi(p), 0.0, sampler)?;
    demand("φ(p) = φ(1 − p)", (phi.phi(p) - phi.phi(1.0 - p)).abs(), 1e-14, sampler)?;
    demand("a = −φ(0)", (phi.a() + phi.phi(0.0)).abs(), 1e-15, sampler)?;
    demand("a >= 0", -phi.a(), 0.0, sampler)?;
    demand("b = −φ(½) − a", (phi.b() + phi.phi(0.5) + phi.a()).abs(), 1e-15, sampler)?;
    demand("b > 0", -phi.b(), -f64::MIN_POSITIVE, sampler)?;
    let floor = phi.curvature_floor();
    demand("φ″ >= its floor", floor - phi.curvature(p), 1e-12 * (1.0 + floor), sampler)?;
    // Strong convexity with that floor: φ(q) − φ(p) − φ′(p)(q − p) ≥ (floor/2)(q − p)².
    let bregman = phi.phi(q) - phi.phi(p) - phi.gradient(p) * (q - p);
    let allowed = 1e-13 * (1.0 + phi.gradient(p).abs());
    demand(
        "φ is as convex as its floor says",
        floor / 2.0 * (q - p) * (q - p) - bregman,
        allowed,
        sampler,
    )
}

/// ∇φ⁻¹ inverts ∇φ; φ*(H) = Hp − φ(p) at p = ∇φ⁻¹(H); φ*(H) = H + φ*(−H) \[NN09, eq. (32)\]; p and its complement add up to 1.
pub fn duality<P: Permissible + ?Sized>(phi: &P, sampler: &mut Sampler) -> Result<(), Broken> {
    let p = sampler.uniform(0.001, 0.999);
    let h = phi.gradient(p);
    // An error of one ulp in H moves p by ulp/φ″.
    let allowed = 1e-13 + 8.0 * f64::EPSILON * (1.0 + h.abs()) / phi.curvature(p);
    demand("∇φ⁻¹(∇φ(p)) = p", (phi.transfer(h) - p).abs(), allowed, sampler)?;
    let fenchel = phi.conjugate(h) - (h * p - phi.phi(p));
    demand("φ*(∇φ(p)) = p∇φ(p) − φ(p)", fenchel.abs(), 1e-12 * (1.0 + h.abs()), sampler)?;

    let h = 4.0 * sampler.normal();
    let p = phi.transfer(h);
    demand("p + (1 − p) = 1", (p + phi.complement(h) - 1.0).abs(), 1e-15, sampler)?;
    demand("0 <= p <= 1", (-p).max(p - 1.0), 0.0, sampler)?;
    demand("∇φ⁻¹(−H) = 1 − ∇φ⁻¹(H)", (phi.transfer(-h) - phi.complement(h)).abs(), 1e-15, sampler)?;
    let flip = phi.conjugate(h) - h - phi.conjugate(-h);
    demand("φ*(H) = H + φ*(−H)", flip.abs(), 1e-13 * (1.0 + h.abs()), sampler)
}

/// F_φ(0) = 1, F_φ′(0) = −1/(2b), F_φ ≥ the 0/1 loss, and F_φ is b⁻¹ of the raw loss, whose weight is −ψ′.
pub fn surrogate<P: Permissible + ?Sized>(phi: &P, sampler: &mut Sampler) -> Result<(), Broken> {
    demand("F(0) = 1", (phi.surrogate(0.0) - 1.0).abs(), 1e-14, sampler)?;
    let slope = phi.surrogate_slope(0.0) + 1.0 / (2.0 * phi.b());
    demand("F′(0) = −1/(2b)", slope.abs(), 1e-12 / phi.b(), sampler)?;
    let z = 4.0 * sampler.normal();
    let error = if z < 0.0 { 1.0 } else { 0.0 };
    demand("F >= the 0/1 loss", error - phi.surrogate(z), 1e-14, sampler)?;
    let raw = phi.raw(z) - phi.b() * phi.surrogate(z);
    demand("ψ = bF", raw.abs(), 1e-13 * (1.0 + z.abs()), sampler)?;
    let h = 1e-5;
    let slope = (phi.raw(z + h) - phi.raw(z - h)) / (2.0 * h);
    demand("the weight is −ψ′", (phi.weight(z) + slope).abs(), 1e-5, sampler)?;
    let y = sampler.sign();
    let margin = phi.margin(z, y);
    demand("margins are in [−1, 1]", margin.abs(), 1.0, sampler)?;
    let homogeneous = y * (2.0 * phi.transfer(z) - 1.0);
    demand("both forms of the margin agree", (margin - homogeneous).abs(), 1e-14, sampler)
}
