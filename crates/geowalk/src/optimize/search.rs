//! Line searches along geodesics: steepest descent and conjugate gradients.

#![allow(clippy::too_many_lines, clippy::neg_cmp_op_on_partial_ord)] // one loop; NaN is refused too

use super::{Interrupted, Progress, Reason};
use crate::geometry::{ExpLog, Work};

/// A function that gives its value and, where asked, its Riemannian gradient.
pub(super) type Smooth<'a> =
    &'a mut dyn FnMut(&[f64], Option<&mut [f64]>) -> Result<f64, Interrupted>;

pub(super) struct Limits {
    pub(super) steps: u64,
    pub(super) tolerance: f64,
    pub(super) conjugate: bool,
}

pub(super) struct Found {
    pub(super) point: Vec<f64>,
    pub(super) value: f64,
    pub(super) gradient: f64,
    pub(super) evaluations: u64,
    pub(super) reason: Reason,
}

/// The value must fall by this much of what its slope promises.
const SUFFICIENT: f64 = 1e-4;
/// Halvings of a step before it is given up.
const SHORTER: u32 = 60;

pub(super) fn search<M: ExpLog<f64> + ?Sized>(
    manifold: &M,
    f: Smooth<'_>,
    start: &[f64],
    limits: &Limits,
    observe: &mut dyn FnMut(&Progress, &[f64]) -> bool,
) -> Result<Found, Interrupted> {
    let n = start.len();
    let mut work = Work::new();
    let mut p = start.to_vec();
    let [mut g, mut d, mut trial, mut next, mut before] = std::array::from_fn(|_| vec![0.0; n]);
    let mut evaluations = 1;
    let mut value = f(&p, Some(&mut g))?;
    let mut square = manifold.inner(&p, &g, &g, &mut work);
    let finite = |value: f64, square: f64| value.is_finite() && square.is_finite();
    let mut reason = if finite(value, square) { Reason::Steps } else { Reason::NotFinite };
    d.iter_mut().zip(&g).for_each(|(d, g)| *d = -g);
    let (mut steep, mut last) = (true, f64::NAN);
    for step in 1..=limits.steps {
        if reason == Reason::NotFinite {
            break;
        }
        let size = square.max(0.0).sqrt();
        if size <= limits.tolerance {
            reason = Reason::Gradient;
            break;
        }
        let mut slope = manifold.inner(&p, &g, &d, &mut work);
        if !(slope < -1e-10 * size * manifold.norm(&p, &d, &mut work)) {
            d.iter_mut().zip(&g).for_each(|(d, g)| *d = -g);
            (slope, steep) = (-square, true);
        }
        let along = manifold.norm(&p, &d, &mut work);
        // As far as the last step; at first a unit of length, or less where the manifold is smaller.
        let reach = if last.is_nan() { manifold.injectivity(&p).min(1.0) * 0.5 } else { last };
        let mut t = reach / along;
        // What rounding makes of values that should fall.
        let slack = 4.0 * f64::EPSILON * value.abs();
        let mut found = None;
        for tries in 0..SHORTER {
            trial.copy_from_slice(&p);
            let reached = manifold.retract(&mut trial, &d, t, &mut work).is_ok();
            let at = if reached { f(&trial, None)? } else { f64::NAN };
            evaluations += u64::from(reached);
            // The minimum of the parabola through both values and the slope.
            let bend = at - value - slope * t;
            let best = if bend > 0.0 { -slope * t * t / (2.0 * bend) } else { 4.0 * t };
            if at <= value + SUFFICIENT * t * slope + slack {
                found = Some((t, at));
                std::mem::swap(&mut trial, &mut next);
                let best = best.min(8.0 * t);
                if tries < 8 && (best > 1.5 * t || best < 0.5 * t) && bend.abs() > 8.0 * slack {
                    trial.copy_from_slice(&p);
                    if manifold.retract(&mut trial, &d, best, &mut work).is_ok() {
                        let there = f(&trial, None)?;
                        evaluations += 1;
                        if there < at && there <= value + SUFFICIENT * best * slope {
                            found = Some((best, there));
                            std::mem::swap(&mut trial, &mut next);
                        }
                    }
                }
                break;
            }
            t = if at.is_finite() { best.clamp(0.1 * t, 0.5 * t) } else { 0.1 * t };
        }
        let Some((t, _)) = found else {
            if steep {
                reason = Reason::Stalled;
                break;
            }
            d.iter_mut().zip(&g).for_each(|(d, g)| *d = -g);
            steep = true;
            continue;
        };
        last = t * along;
        before.copy_from_slice(&g);
        let at = f(&next, Some(&mut trial))?;
        evaluations += 1;
        let fresh = manifold.inner(&next, &trial, &trial, &mut work);
        if !finite(at, fresh) {
            reason = Reason::NotFinite;
            break;
        }
        let progress = Progress { step, value, gradient: size, length: last };
        let stalled = at >= value && fresh >= square;
        // Polak's and Ribiere's β, not below 0; 0 where what was cannot be carried along.
        let mut beta = 0.0;
        if limits.conjugate {
            let carried = manifold.carry(&p, &next, &mut before, &mut work).is_ok()
                && manifold.carry(&p, &next, &mut d, &mut work).is_ok();
            if carried {
                let mixed = manifold.inner(&next, &trial, &before, &mut work);
                beta = ((fresh - mixed) / square).max(0.0);
            }
        }
        std::mem::swap(&mut g, &mut trial);
        let finite_beta = beta.is_finite() && beta > 0.0;
        for (d, g) in d.iter_mut().zip(&g) {
            *d = if finite_beta { beta * *d - g } else { -g };
        }
        steep = !finite_beta;
        std::mem::swap(&mut p, &mut next);
        (value, square) = (at, fresh);
        if !observe(&progress, &p) {
            reason = Reason::Asked;
            break;
        }
        if stalled {
            reason = Reason::Stalled;
            break;
        }
    }
    let gradient = square.max(0.0).sqrt();
    if reason == Reason::Steps && gradient <= limits.tolerance {
        reason = Reason::Gradient;
    }
    Ok(Found { point: p, value, gradient, evaluations, reason })
}
