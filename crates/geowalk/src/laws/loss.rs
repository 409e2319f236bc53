//! Laws of losses: the derivatives, the minimiser, and every declared fact.

use super::{Broken, Sampler, demand};
use crate::error::Allowed;
use crate::loss::{Facts, Loss};

/// A label the loss takes.
fn label(facts: &Facts, sampler: &mut Sampler) -> f64 {
    inside(facts.labels, sampler)
}

/// A prediction the loss takes: near 0 half of the time, far out otherwise.
fn prediction(facts: &Facts, sampler: &mut Sampler) -> f64 {
    inside(facts.predictions, sampler)
}

fn inside(allowed: Allowed, sampler: &mut Sampler) -> f64 {
    match allowed {
        Allowed::Sign => sampler.sign(),
        Allowed::Indicator => f64::midpoint(1.0, sampler.sign()),
        Allowed::Closed(lo, hi)
        | Allowed::Open(lo, hi)
        | Allowed::OpenClosed(lo, hi)
        | Allowed::ClosedOpen(lo, hi) => {
            // Derivatives may be infinite at the ends; the laws look inside.
            let (lo, hi) = (lo.max(-20.0), hi.min(20.0));
            sampler.uniform(lo + 0.01 * (hi - lo), hi - 0.01 * (hi - lo))
        }
        Allowed::Positive | Allowed::NonNegative => sampler.uniform(0.05, 5.0),
        Allowed::Negative => -sampler.uniform(0.05, 5.0),
        Allowed::Finite | Allowed::Whole(_) => {
            if sampler.unit() < 0.5 {
                sampler.normal()
            } else {
                6.0 * sampler.normal()
            }
        }
    }
}

/// Every law, on one random case.
pub fn all<L: Loss + ?Sized>(loss: &L, sampler: &mut Sampler) -> Result<(), Broken> {
    derivatives(loss, sampler)?;
    facts(loss, sampler)?;
    minimizer(loss, sampler)
}

/// The value rises by the integral of the slope, and the slope by that of the curvature (except for piecewise linear losses,
/// whose slope jumps). Integrals, because they hold at kinks too.
pub fn derivatives<L: Loss + ?Sized>(loss: &L, sampler: &mut Sampler) -> Result<(), Broken> {
    const PANELS: u32 = 256;
    let facts = loss.facts();
    let (z, y) = (prediction(&facts, sampler), label(&facts, sampler));
    let (value, slope) = loss.value_and_slope(z, y);
    let same = value.to_bits() == loss.value(z, y).to_bits()
        && slope.to_bits() == loss.slope(z, y).to_bits();
    demand(
        "value and slope at once are what they are one by one",
        f64::from(u8::from(!same)),
        0.0,
        sampler,
    )?;
    let reach = 0.005 * (1.0 + z.abs());
    let (lo, hi) = (z - reach, z + reach);
    let width = (hi - lo) / f64::from(PANELS);
    let (mut slopes, mut curvatures, mut steepest) = (0.0, 0.0, 0.0_f64);
    for k in 0..PANELS {
        let middle = lo + (f64::from(k) + 0.5) * width;
        slopes += width * loss.slope(middle, y);
        curvatures += width * loss.curvature(middle, y);
        steepest = steepest.max(loss.curvature(middle, y).abs());
    }
    let scale = 1.0 + loss.value(lo, y).abs() + loss.slope(lo, y).abs() + loss.slope(hi, y).abs();
    // The midpoint rule is off by at most half a panel times the variation of what it sums.
    let rise = loss.slope(hi, y) - loss.slope(lo, y);
    let off = loss.value(hi, y) - loss.value(lo, y) - slopes;
    demand(
        "the slope integrates to the value",
        off.abs(),
        width * rise.abs() + 1e-11 * scale,
        sampler,
    )?;
    let kinked = facts.smooth.is_none() && curvatures == 0.0;
    if kinked {
        return Ok(());
    }
    let allowed = 0.01 * steepest * (hi - lo) + 1e-11 * scale;
    demand("the curvature integrates to the slope", (rise - curvatures).abs(), allowed, sampler)
}

/// No declared fact is refuted: non-negative, convex, Lipschitz, smooth, strongly convex, a function of the margin.
pub fn facts<L: Loss + ?Sized>(loss: &L, sampler: &mut Sampler) -> Result<(), Broken> {
    let facts = loss.facts();
    let y = label(&facts, sampler);
    let (a, b) = (prediction(&facts, sampler), prediction(&facts, sampler));
    let (a, b) = if a < b { (a, b) } else { (b, a) };
    let rounding = 1e-12 * (1.0 + loss.value(a, y).abs() + loss.value(b, y).abs());
    demand("ℓ >= 0", -loss.value(a, y), 0.0, sampler)?;
    let (below, above) = (loss.slope(a, y), loss.slope(b, y));
    if facts.convex {
        let fall = below - above;
        demand("convex: the slope does not fall", fall, 1e-12 * (1.0 + below.abs()), sampler)?;
        let tangent = loss.value(a, y) + below * (b - a) - loss.value(b, y);
        demand(
            "convex: tangents lie below",
            tangent,
            rounding + 1e-12 * (below * (b - a)).abs(),
            sampler,
        )?;
    }
    if let Some(lipschitz) = facts.lipschitz {
        demand(
            "|∂ℓ/∂z| <= the Lipschitz constant",
            below.abs().max(above.abs()),
            lipschitz * (1.0 + 1e-12),
            sampler,
        )?;
    }
    if let Some(smooth) = facts.smooth {
        let rise = above - below - smooth * (b - a);
        demand(
            "the slope rises no faster than declared",
            rise,
            1e-9 * (1.0 + above.abs() + below.abs()),
            sampler,
        )?;
    }
    let least = facts.strong * (b - a) - (above - below);
    demand(
        "the slope rises as fast as declared",
        least,
        1e-9 * (1.0 + above.abs() + below.abs()),
        sampler,
    )?;
    if facts.margin {
        let off = (loss.value(a, y) - loss.value(-a, -y)).abs();
        demand("ℓ(z, y) = ℓ(−z, −y)", off, rounding, sampler)?;
    }
    Ok(())
}

/// No prediction has a smaller loss than the minimiser.
pub fn minimizer<L: Loss + ?Sized>(loss: &L, sampler: &mut Sampler) -> Result<(), Broken> {
    let facts = loss.facts();
    let (z, y) = (prediction(&facts, sampler), label(&facts, sampler));
    let best = loss.minimizer(y);
    if best.is_finite() {
        let gain = loss.value(best, y) - loss.value(z, y);
        return demand("nothing is better than the minimiser", gain, 1e-12, sampler);
    }
    // An infinite minimiser: the loss falls all the way towards it.
    let further = z + best.signum() * sampler.uniform(0.0, 5.0);
    let rise = loss.value(further, y) - loss.value(z, y);
    demand("the loss falls towards its infinite minimiser", rise, 1e-12, sampler)
}
