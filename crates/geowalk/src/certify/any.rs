//! # Any of the theorems that a run carries along
//! Dispatched by `match`: a learner has one type for all of them, and nothing is compiled once more for each.
//!
//! A two-sided walk is a walk on the rows (Ux, −Ux), and its theorem speaks of those: [`AnyBound::signed`] translates rows and comparators.

use super::theorem::KNOWN;
use super::{
    Bound, Certificate, Comparator, Declared, Eg, Egu, FreeBets, GradientDescent, LeastSquares,
    LinearEg, MirrorSteps, NaturalEg, NullVector, Ols, ReparamEg, Status, Winnow,
};
use crate::error::ConfigError;
use crate::row::{Norm, Row};
use crate::update::Round;
use crate::walk::Both;

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

/// A theorem that a run carries along.
///
/// ```
/// use geowalk::certify::{AnyBound, Comparator, GradientDescent, Theory};
/// use geowalk::loss::{Hinge, Loss};
/// use geowalk::row::Dense;
/// use geowalk::walk::{Euclidean, Walk};
///
/// let mut walk = Euclidean::new();
/// let mut bound = AnyBound::from(Theory::Descent(GradientDescent::new(&[], &Hinge.facts())));
/// let round = walk.step(Dense(&[1.0]), 1.0.into(), &Hinge, 0.5)?;
/// bound.observe(&round, Dense(&[1.0]));
/// let verdict = bound.certify(&Comparator::Given(&[1.0]), None, None);
/// assert!((verdict.certificate.bound - 1.25).abs() < 1e-12);
/// # Ok::<(), geowalk::DomainError>(())
/// ```
#[derive(Debug, Clone)]
pub struct AnyBound {
    theory: Theory,
    /// U of a two-sided walk.
    scale: Option<f64>,
}

/// Which theorem it is, and how it sees rounds.
#[derive(Debug, Clone)]
#[non_exhaustive]
#[allow(clippy::large_enum_variant)] // one per learner
pub enum Theory {
    /// Gradient descent, O(1) per round.
    Descent(GradientDescent),
    /// The same for the squared loss.
    LeastSquares(LeastSquares),
    /// Implicit steps in ℝⁿ.
    Implicit(GradientDescent),
    /// The losses after implicit steps in ℝⁿ.
    After(LeastSquares),
    /// Mirror steps.
    Mirror(MirrorSteps),
    /// p-norm steps, smooth losses.
    Ols(Ols),
    /// EG, any convex loss.
    LinearEg(LinearEg),
    /// EG, squared loss.
    Eg(Eg),
    /// Its twin.
    ReparamEg(ReparamEg),
    /// EGU or its twin, squared loss.
    Egu(Egu),
    /// Explicit steps on the orthant.
    NaturalEg(NaturalEg),
    /// Winnow or its twin.
    Winnow(Winnow),
    /// Bets; the walk keeps their state.
    Free(FreeBets),
    /// A null vector on the sphere, known beforehand.
    NullVector(NullVector),
}

impl From<Theory> for AnyBound {
    fn from(theory: Theory) -> Self {
        Self { theory, scale: None }
    }
}

/// Calls the same method of whichever it is.
macro_rules! whichever {
    ($theory:expr, $own:ident => $body:expr) => {
        match $theory {
            Theory::Descent($own) | Theory::Implicit($own) => $body,
            Theory::LeastSquares($own) | Theory::After($own) => $body,
            Theory::Mirror($own) => $body,
            Theory::Ols($own) => $body,
            Theory::LinearEg($own) => $body,
            Theory::Eg($own) => $body,
            Theory::ReparamEg($own) => $body,
            Theory::Egu($own) => $body,
            Theory::NaturalEg($own) => $body,
            Theory::Winnow($own) => $body,
            Theory::Free($own) => $body,
            Theory::NullVector($own) => $body,
        }
    };
}

impl AnyBound {
    /// The theorem on the rows (Ux, −Ux), U = `scale`.
    #[must_use]
    pub fn signed(self, scale: f64) -> Self {
        Self { scale: Some(scale), ..self }
    }

    /// Sees one round.
    #[inline]
    pub fn observe<X: Row<f64>>(&mut self, round: &Round, x: X) {
        match &mut self.theory {
            Theory::Descent(own) if !own.is_promised() => own.observe_length(round),
            Theory::LeastSquares(own) => own.observe_length(round),
            Theory::Free(own) => own.observe_round(round),
            _ => self.look(round, x),
        }
    }

    /// The theorems that look at the row.
    #[inline(never)]
    fn look<X: Row<f64>>(&mut self, round: &Round, x: X) {
        match (self.scale, &mut self.theory) {
            (None, Theory::After(own)) => own.observe_before(round, x),
            (None, own) => whichever!(own, own => own.observe(round, x)),
            // Only these have a two-sided form with a theorem.
            (Some(scale), Theory::LinearEg(own)) => own.observe(round, Both { x, scale }),
            (Some(scale), Theory::Eg(own)) => own.observe(round, Both { x, scale }),
            (Some(scale), Theory::ReparamEg(own)) => own.observe(round, Both { x, scale }),
            (Some(scale), Theory::Mirror(own)) => own.observe(round, Both { x, scale }),
            (Some(_), own) => whichever!(own, own => own.observe(round, x)),
        }
    }

    /// What the theorem says of the comparators; sharper where their loss is known; `bets` is what the walk keeps of its [bets](crate::walk::Walk::bets).
    pub fn certify(&self, u: &Comparator<'_>, loss: Option<f64>, bets: Option<f64>) -> Verdict {
        let radius = [if let Comparator::Ball { radius, .. } = u { *radius } else { 0.0 }];
        let u = self.scale.map_or(*u, |scale| self.two_sided(u, scale, &radius));
        let certificate = match &self.theory {
            Theory::Winnow(own) => own.against(&u),
            Theory::Free(own) => own.certify_with(bets.unwrap_or(f64::NAN)),
            theory => {
                // What is true without the comparator's loss is true with it.
                let any = whichever!(theory, own => own.certify(&u));
                let known = loss.map(|loss| whichever!(theory, own => own.certify_known(&u, loss)));
                known.filter(|known| known.bound < any.bound).unwrap_or(any)
            }
        };
        let quantity = match self.theory {
            Theory::Winnow(_) => Quantity::Mistakes,
            Theory::After(_) => Quantity::After,
            _ => Quantity::Regret,
        };
        let declared = match &self.theory {
            // The loss vouches for its slopes.
            Theory::Free(_) => Vec::new(),
            Theory::Descent(own) => own.declared().into_iter().skip(1).collect(),
            theory => whichever!(theory, own => own.declared()),
        };
        Verdict { certificate, quantity, declared, epochs: 1 }
    }

    /// The comparators as weights of (Ux, −Ux); `radius` is that of a ball.
    fn two_sided<'a>(
        &self,
        u: &Comparator<'a>,
        scale: f64,
        radius: &'a [f64; 1],
    ) -> Comparator<'a> {
        let simplex = match &self.theory {
            Theory::LinearEg(_) | Theory::Eg(_) | Theory::ReparamEg(_) => true,
            Theory::Mirror(own) => own.is_even(),
            _ => false,
        };
        match *u {
            Comparator::Given(u) => Comparator::Signed { u, scale },
            // All of them are on the simplex, or a vertex is not, which the theorem says.
            Comparator::Ball { norm: Norm::L1, radius: most } if simplex && most <= scale => {
                Comparator::Simplex { n: self.features() }
            }
            Comparator::Ball { norm: Norm::L1, .. } if simplex => {
                Comparator::Signed { u: radius, scale }
            }
            Comparator::Ball { norm: Norm::L1, radius } => {
                Comparator::Positive { total: (radius / scale).next_up() }
            }
            // Of which no theorem with two sides knows anything.
            _ => Comparator::Ball { norm: Norm::L2, radius: f64::NAN },
        }
    }

    /// How many features of (Ux, −Ux) there are.
    fn features(&self) -> usize {
        match &self.theory {
            Theory::LinearEg(own) => own.features(),
            Theory::Eg(own) => own.features(),
            Theory::ReparamEg(own) => own.features(),
            Theory::Mirror(own) => own.features(),
            _ => 0,
        }
    }

    /// Gives away everything that changes, as named arrays.
    pub fn save(&self, put: &mut dyn FnMut(&'static str, &[f64])) {
        whichever!(&self.theory, own => own.save(put));
    }

    /// Continues from what `save` gave, with the same bits.
    pub fn load(
        &mut self,
        get: &mut dyn FnMut(&'static str) -> Option<Vec<f64>>,
    ) -> Result<(), ConfigError> {
        whichever!(&mut self.theory, own => own.load(get))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::certify::{Divergence, Start};
    use crate::laws::Sampler;
    use crate::loss::{AnyLoss, Loss};
    use crate::row::Dense;
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
                bound.save(&mut |name, values| arrays.push((name, values.to_vec())));
                assert!(arrays.iter().flat_map(|(_, values)| values).all(|x| x.is_finite()));
                let find = |name: &str| {
                    arrays.iter().find(|(own, _)| *own == name).map(|(_, values)| values.clone())
                };
                bound = fresh.clone();
                bound.load(&mut |name| find(name)).unwrap();
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
                let verdict = bound.certify(&set, known, bets);
                let c = &verdict.certificate;
                said.extend([c.bound.to_bits(), c.loss.to_bits(), c.rounds]);
                if let Status::Void(broken) = &c.status {
                    said.extend([broken.row, broken.found.to_bits(), broken.premise.len() as u64]);
                }
            }
        }
        said
    }

    fn both<W: Walk + Clone>(walk: &W, theory: Theory, loss: &str, rate: f64) {
        let fresh = AnyBound::from(theory);
        let whole = run(walk.clone(), &fresh, loss, rate, false);
        assert_eq!(whole, run(walk.clone(), &fresh, loss, rate, true), "{fresh:?}");
    }

    #[test]
    fn what_was_saved_goes_on_with_the_same_bits() {
        let facts = AnyLoss::parse("logistic").unwrap().facts();
        let (gd, each) = (Euclidean::new(), Start::Each(0.2));
        for rate in [0.1, 10.0] {
            both(&gd, Theory::Descent(GradientDescent::new(&[], &facts)), "logistic", rate);
            both(&gd, Theory::LeastSquares(LeastSquares::explicit(&[])), "squared", rate);
            let implicit = Implicit::new(Euclidean::new());
            let before = GradientDescent::implicit(&[], &facts);
            both(&implicit, Theory::Implicit(before), "logistic", rate);
            both(&implicit, Theory::After(LeastSquares::implicit(&[])), "squared", rate);
            let q = Divergence::PNorm { q: 1.5 };
            let steps = MirrorSteps::new(q, Start::Each(0.0), &facts).unwrap();
            both(&PNorm::new(1.5).unwrap(), Theory::Mirror(steps), "logistic", rate);
            let ols = Ols::new(3.0, &facts).unwrap();
            both(&PNorm::new(1.5).unwrap(), Theory::Ols(ols), "logistic", rate);
            let eg = SimplexEntropy::new();
            let even = |eg: Eg| eg.starting(Start::Even);
            both(&eg, Theory::Eg(even(Eg::new(&[1.0]).unwrap())), "squared", rate);
            let linear = LinearEg::new(&[1.0], &facts).unwrap().starting(Start::Even);
            both(&eg, Theory::LinearEg(linear.clone()), "logistic", rate);
            let signed = Signed::new(SimplexEntropy::new(), 2.0).unwrap();
            let fresh = AnyBound::from(Theory::LinearEg(linear)).signed(2.0);
            let whole = run(signed.clone(), &fresh, "logistic", rate, false);
            assert_eq!(whole, run(signed, &fresh, "logistic", rate, true));
            let twin = ReparamEg::new(&[1.0], 0.0).unwrap().starting(Start::Even);
            both(&ReparamSimplex::new(), Theory::ReparamEg(twin), "squared", rate);
            let entropy = Entropy::new(0.2).unwrap();
            let steps = MirrorSteps::new(Divergence::Entropy, each.clone(), &facts).unwrap();
            both(&entropy, Theory::Mirror(steps), "logistic", rate);
            let clipped = Clipped::new(entropy.clone(), 0.0, 1.0).unwrap();
            let egu = Egu::new(&[0.2]).unwrap().starting(each.clone());
            both(&clipped, Theory::Egu(egu), "squared", rate);
            let twin = Egu::twin(&[0.2]).unwrap().starting(each.clone());
            let reparam = ReparamEntropy::new(0.2).unwrap();
            both(&Clipped::new(reparam, 0.0, 1.0).unwrap(), Theory::Egu(twin), "squared", rate);
            let steps = MirrorSteps::new(Divergence::Burg, each.clone(), &facts).unwrap();
            both(&Burg::new(0.2).unwrap(), Theory::Mirror(steps), "logistic", rate);
            let neg = NaturalEg::new(&[0.2], &facts).unwrap().starting(each.clone());
            both(&Orthant::new(0.2).unwrap(), Theory::NaturalEg(neg), "logistic", rate);
            let constants = winnow::winnow(0.5).unwrap();
            let hinge = format!("winnow-hinge(theta={})", constants.threshold);
            let bound = Winnow::new(0.5, &[0.2], &[]).unwrap().starting(each.clone());
            let rate = if rate < 1.0 { constants.rate } else { rate };
            both(&entropy, Theory::Winnow(bound), &hinge, rate);
            let free = FreeBets::new(1.0, 1.0, &facts).unwrap();
            both(&Free::new(1.0, 0.5, 1.0).unwrap(), Theory::Free(free), "logistic", rate);
            let mut sphere = Sphere::new(1.0, 3).unwrap();
            sphere.grow(3);
            let mut start = Vec::new();
            sphere.read(&mut start);
            let null = NullVector::new(&start, &[0.6, 0.8, 0.0]).unwrap();
            both(&sphere, Theory::NullVector(null), "invariant", rate);
        }
    }
}
