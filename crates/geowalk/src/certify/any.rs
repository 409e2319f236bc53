//! # The theorems that a run carries along
//! Dispatched by `match`: a learner has one type for all of them, and nothing is compiled once more for each.

use super::theorem::KNOWN;
use super::{
    Bound, Certificate, Comparator, Declared, FreeBets, Ledger, NullVector, Status, Winnow,
};
use crate::error::ConfigError;
use crate::row::Row;
use crate::update::Round;

/// What a certificate bounds.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub enum Quantity {
    /// The regret.
    Regret,
    /// The number of mistakes.
    Mistakes,
    /// The regret of the losses *after* each step.
    After,
}

impl std::fmt::Display for Quantity {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(match self {
            Self::Regret => "regret",
            Self::Mistakes => "mistakes",
            Self::After => "regret after the step",
        })
    }
}

/// A certificate, and what it bounds.
#[derive(Debug, Clone, PartialEq)]
pub struct Verdict {
    /// The certificate.
    pub certificate: Certificate,
    /// What its bound bounds.
    pub quantity: Quantity,
    /// What the user declared.
    pub declared: Vec<Declared>,
    /// Over how many [epochs](super::Epochs) the bound is a sum.
    pub epochs: usize,
}

impl Verdict {
    /// All premises hold, but the theorem has no bound against the comparators it was asked about.
    pub fn is_silent(&self) -> bool {
        matches!(&self.certificate.status, Status::Void(broken) if broken.premise == KNOWN)
    }
}

/// The theorems that a run carries along.
///
/// ```
/// use geowalk::certify::{AnyBound, Comparator, Ledger};
/// use geowalk::loss::{Hinge, Loss};
/// use geowalk::row::Dense;
/// use geowalk::walk::{Euclidean, Walk};
///
/// let mut walk = Euclidean::new();
/// let mut bound = AnyBound::Ledger(Ledger::gradient_descent(&[], &Hinge.facts()));
/// let round = walk.step(Dense(&[1.0]), 1.0.into(), &Hinge, 0.5)?;
/// bound.observe(&round, Dense(&[1.0]));
/// let verdicts = bound.certify(&Comparator::Given(&[1.0]), None, None);
/// assert!((verdicts[0].certificate.bound - 1.25).abs() < 1e-12);
/// # Ok::<(), geowalk::DomainError>(())
/// ```
#[derive(Debug, Clone)]
#[non_exhaustive]
#[allow(clippy::large_enum_variant)] // one per learner
pub enum AnyBound {
    /// The theorems of a geometry.
    Ledger(Ledger),
    /// Winnow or its twin.
    Winnow(Winnow),
    /// Bets; the walk keeps their state.
    Free(FreeBets),
    /// A null vector on the sphere, known beforehand.
    NullVector(NullVector),
}

impl AnyBound {
    /// Sees one round.
    #[inline]
    pub fn observe<X: Row<f64>>(&mut self, round: &Round, x: X) {
        match self {
            Self::Ledger(bound) => bound.observe(round, x),
            Self::Free(bound) => bound.observe_round(round),
            _ => self.look(round, x),
        }
    }

    /// The theorems that look at the row.
    #[inline(never)]
    fn look<X: Row<f64>>(&mut self, round: &Round, x: X) {
        match self {
            Self::Winnow(bound) => bound.observe(round, x),
            Self::NullVector(bound) => bound.observe(round, x),
            _ => {}
        }
    }

    /// How many theorems there are.
    pub(super) fn count(&self) -> usize {
        if let Self::Ledger(ledger) = self { ledger.len() } else { 1 }
    }

    /// What each theorem says of the comparators; sharper where their loss is known; `bets` is what the walk keeps of
    /// its [bets](crate::walk::Walk::bets).
    pub fn certify(
        &self,
        u: &Comparator<'_>,
        loss: Option<f64>,
        bets: Option<f64>,
    ) -> Vec<Verdict> {
        let (certificate, quantity) = match self {
            Self::Ledger(ledger) => return ledger.certify_all(u, loss),
            Self::Winnow(bound) => (bound.against(u), Quantity::Mistakes),
            Self::Free(bound) => (bound.certify_with(bets.unwrap_or(f64::NAN)), Quantity::Regret),
            Self::NullVector(bound) => (bound.certify(u), Quantity::Regret),
        };
        let declared = match self {
            Self::Winnow(bound) => bound.declared(),
            Self::NullVector(bound) => bound.declared(),
            // The loss vouches for its slopes.
            _ => Vec::new(),
        };
        vec![Verdict { certificate, quantity, declared, epochs: 1 }]
    }

    /// Gives away everything that changes: of which theorem, as an array with a name.
    pub fn save(&self, put: &mut dyn FnMut(usize, &'static str, &[f64])) {
        let first = &mut |name, values: &[f64]| put(0, name, values);
        match self {
            Self::Ledger(ledger) => ledger.save_all(put),
            Self::Winnow(bound) => bound.save(first),
            Self::Free(bound) => bound.save(first),
            Self::NullVector(bound) => bound.save(first),
        }
    }

    /// Continues from what `save` gave, with the same bits.
    pub fn load(
        &mut self,
        get: &mut dyn FnMut(usize, &'static str) -> Option<Vec<f64>>,
    ) -> Result<(), ConfigError> {
        let first = &mut |name| get(0, name);
        match self {
            Self::Ledger(ledger) => ledger.load_all(get),
            Self::Winnow(bound) => bound.load(first),
            Self::Free(bound) => bound.load(first),
            Self::NullVector(bound) => bound.load(first),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::certify::{Divergence, Start, rules};
    use crate::laws::Sampler;
    use crate::loss::{AnyLoss, Loss};
    use crate::row::{Dense, Norm};
    use crate::walk::{
        Burg, Clipped, Entropy, Euclidean, Free, Implicit, Orthant, PNorm, ReparamEntropy,
        ReparamSimplex, Signed, SimplexEntropy, Sphere, Walk, winnow,
    };

    /// A stream through a walk, its theorem saved and restored before every round or never; what it says at the end.
    fn run<W: Walk>(mut walk: W, fresh: &AnyBound, loss: &str, rate: f64, cuts: bool) -> Vec<u64> {
        let mut random = Sampler::new(5);
        let loss = AnyLoss::parse(loss).unwrap();
        let mut bound = fresh.clone();
        for t in 0..40 {
            if cuts {
                let mut arrays = Vec::new();
                bound.save(&mut |j, name, values| arrays.push(((j, name), values.to_vec())));
                assert!(arrays.iter().flat_map(|(_, values)| values).all(|x| x.is_finite()));
                let find = |name: (usize, &str)| {
                    arrays.iter().find(|(key, _)| *key == name).map(|(_, values)| values.clone())
                };
                bound = fresh.clone();
                bound.load(&mut |j, name| find((j, name))).unwrap();
            }
            // The third feature comes late.
            let x: Vec<f64> =
                (0..if t < 20 { 2 } else { 3 }).map(|_| random.uniform(0.0, 1.0)).collect();
            let y = if loss.facts().margin { random.sign() } else { random.uniform(0.0, 1.0) };
            let Ok(round) = walk.step(Dense(&x), y.into(), &loss, rate) else { continue };
            bound.observe(&round, Dense(&x));
        }
        let u = [0.2, 0.3, 0.5];
        let sets = [
            Comparator::Given(&u),
            Comparator::Simplex { n: 3 },
            Comparator::Positive { total: 2.0 },
            Comparator::Ball { norm: Norm::L1, radius: 0.9 },
            Comparator::Box { radii: &u },
        ];
        let bets = walk.bets(&|i| u.get(i).copied().unwrap_or(0.0));
        let mut said = Vec::new();
        for set in sets {
            for known in [None, Some(3.0)] {
                for Verdict { certificate: c, .. } in bound.certify(&set, known, bets) {
                    said.extend([c.bound.to_bits(), c.loss.to_bits(), c.rounds]);
                    if let Status::Void(b) = &c.status {
                        said.extend([b.row, b.found.to_bits(), b.premise.len() as u64]);
                    }
                }
            }
        }
        said
    }

    fn both<W: Walk + Clone>(walk: &W, fresh: &AnyBound, loss: &str, rate: f64) {
        let whole = run(walk.clone(), fresh, loss, rate, false);
        assert_eq!(whole, run(walk.clone(), fresh, loss, rate, true), "{fresh:?}");
    }

    /// All theorems of a kind of step.
    fn kept<W: Walk + Clone>(
        walk: &W,
        (divergence, start): (Divergence, Start),
        list: &[&'static crate::certify::LedgerRule],
        rate: f64,
        change: impl Fn(Ledger) -> Ledger,
    ) {
        for loss in ["squared", "logistic"] {
            let facts = AnyLoss::parse(loss).unwrap().facts();
            let empty = Ledger::new(divergence.clone(), start.clone()).unwrap();
            let ledger = list.iter().fold(empty, |ledger, rule| ledger.with(rule, &facts));
            both(walk, &AnyBound::Ledger(change(ledger)), loss, rate);
        }
    }

    #[test]
    fn saved_theorems_continue_with_the_same_bits() {
        let same = |ledger: Ledger| ledger;
        for rate in [0.1, 10.0] {
            let flat = || (Divergence::Euclidean, Start::Given(Vec::new()));
            let each = |divergence| (divergence, Start::Each(0.2));
            let even = || (Divergence::Entropy, Start::Even);
            let descent = Euclidean::new();
            kept(&descent, flat(), rules::GRADIENT_STEPS, rate, same);
            kept(&descent, flat(), rules::GRADIENT_STEPS, rate, Ledger::trusting_lengths);
            let implicit = Implicit::new(Euclidean::new());
            kept(&implicit, flat(), rules::IMPLICIT_STEPS, rate, same);
            let q = (Divergence::PNorm { q: 1.5 }, Start::Each(0.0));
            kept(&PNorm::new(1.5).unwrap(), q, rules::P_NORM_STEPS, rate, same);
            let eg = SimplexEntropy::new();
            kept(&eg, even(), rules::EG_STEPS, rate, same);
            let signed = Signed::new(SimplexEntropy::new(), 2.0).unwrap();
            kept(&signed, even(), rules::EG_STEPS, rate, |ledger| ledger.signed(2.0));
            kept(&ReparamSimplex::new(), even(), rules::REPARAM_EG_STEPS, rate, same);
            let entropy = Entropy::new(0.2).unwrap();
            let clipped = Clipped::new(entropy.clone(), 0.0, 1.0).unwrap();
            kept(&clipped, each(Divergence::Entropy), rules::EGU_STEPS, rate, same);
            let twin = Clipped::new(ReparamEntropy::new(0.2).unwrap(), 0.0, 1.0).unwrap();
            kept(&twin, each(Divergence::Entropy), rules::REPARAM_EGU_STEPS, rate, same);
            let burg = Burg::new(0.2).unwrap();
            kept(&burg, each(Divergence::Burg), rules::BURG_STEPS, rate, same);
            let orthant = Orthant::new(0.2).unwrap();
            kept(&orthant, each(Divergence::Logarithm), rules::ORTHANT_STEPS, rate, same);

            let constants = winnow::winnow(0.5).unwrap();
            let hinge = format!("winnow-hinge(theta={})", constants.threshold);
            let bound = Winnow::new(0.5, &[0.2], &[]).unwrap().starting(Start::Each(0.2));
            let prescribed = if rate < 1.0 { constants.rate } else { rate };
            both(&entropy, &AnyBound::Winnow(bound), &hinge, prescribed);
            let facts = AnyLoss::parse("logistic").unwrap().facts();
            let free = AnyBound::Free(FreeBets::new(1.0, 1.0, &facts).unwrap());
            both(&Free::new(1.0, 0.5, 1.0).unwrap(), &free, "logistic", rate);
            let mut sphere = Sphere::new(1.0, 3).unwrap();
            sphere.grow(3);
            let mut start = Vec::new();
            sphere.read(&mut start);
            let null = NullVector::new(&start, &[0.6, 0.8, 0.0]).unwrap();
            both(&sphere, &AnyBound::NullVector(null), "invariant", rate);
        }
    }
}
