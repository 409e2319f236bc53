//! Laws of bounds.

use super::{Broken, Sampler, demand, succeed};
use crate::certify::{Bound, Comparator, Status};
use crate::error::Allowed;
use crate::loss::Loss;
use crate::row::{Dense, Norm};
use crate::sum::Sum;
use crate::update::{Round, Update};

/// Runs `update` on a random stream, watched by `bound`, and demands that the true regret against random comparators is
/// below every bound whose status is valid, and that replaying the rounds gives the same certificate to the bit.
///
/// `comparator` draws a comparator from the set the theorem speaks of. Rows have norm 1 where the loss takes bounded
/// predictions only; comparators that predict outside are passed over.
pub fn holds<U: Update<f64>, B: Bound + Clone, L: Loss + ?Sized>(
    update: &U,
    start: &[f64],
    loss: &L,
    rate: f64,
    bound: &B,
    mut comparator: impl FnMut(&mut Sampler) -> Vec<f64>,
    sampler: &mut Sampler,
) -> Result<(), Broken> {
    const ROUNDS: usize = 60;
    let (mut live, mut replay) = (bound.clone(), bound.clone());
    let mut state = succeed("the update starts", update.start(start), sampler)?;
    let mut stream: Vec<(Vec<f64>, f64, Round)> = Vec::with_capacity(ROUNDS);
    for _ in 0..ROUNDS {
        let mut x: Vec<f64> = sampler.vector(start.len());
        if loss.facts().predictions != Allowed::Finite {
            let norm = Norm::L2.of(&x);
            for x in &mut x {
                *x /= norm;
            }
        }
        let y = match loss.facts().labels {
            Allowed::Sign => sampler.sign(),
            Allowed::Positive | Allowed::NonNegative => sampler.uniform(0.1, 1.0),
            _ => sampler.uniform(-1.0, 1.0),
        };
        // A refused step (an overflow) leaves the weights where they are: the round counts with rate 0.
        let Ok(round) = update.step(&mut state, Dense(&x), y.into(), loss, rate) else { continue };
        live.observe(&round, Dense(&x));
        stream.push((x, y, round));
    }
    for (x, _, round) in &stream {
        replay.observe(round, Dense(x));
    }
    for _ in 0..8 {
        let u = comparator(sampler);
        let certificate = live.certify(&Comparator::Given(&u));
        let again = replay.certify(&Comparator::Given(&u));
        let differ = certificate.bound.to_bits() != again.bound.to_bits();
        demand("a replay gives the same certificate", f64::from(u8::from(differ)), 0.0, sampler)?;
        if certificate.status != Status::Valid {
            continue;
        }
        let mut regret = Sum::default();
        let mut inside = true;
        for (x, y, round) in &stream {
            let z: f64 = u.iter().zip(x).map(|(u, x)| u * x).sum();
            inside &= loss.facts().predictions.contains(z);
            regret.add(round.loss - loss.value(z, *y));
        }
        if !inside {
            continue;
        }
        // The losses themselves are rounded; the bound is not below the regret by more than that.
        let rounding = 1e-14 * regret.magnitude();
        demand("regret <= bound", regret.total() - certificate.bound, rounding, sampler)?;
    }
    Ok(())
}
