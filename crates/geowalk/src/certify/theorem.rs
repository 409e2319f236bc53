//! # What a theorem says, and what all of them share
//! A [`Theorem`] is a row of the table that `geowalk list theorems` prints. [`Watch`] counts rounds, sums losses and remembers the first premise
//! that broke.

use super::{Broken, Certificate, Comparator, Status, rules};
use crate::Real;
use crate::error::ConfigError;
use crate::geometry::Event;
use crate::geometry::generators::gap;
use crate::loss::Facts;
use crate::sum::Sum;
use crate::update::Round;

/// A theorem, in words.
///
/// ```
/// let hedge = geowalk::certify::entries().find(|theorem| theorem.name == "hedge").unwrap();
/// assert!(hedge.premises.iter().any(|premise| premise.text == "losses in [0, 1]" && !premise.declared));
/// ```
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Theorem {
    /// Its name in certificates.
    pub name: &'static str,
    /// What it assumes.
    pub premises: &'static [Premise],
    /// What it promises.
    pub bound: &'static str,
    /// Where it comes from.
    pub source: &'static str,
    /// What of the printed statement had to be corrected or was strengthened; empty if nothing.
    pub correction: &'static str,
}

/// What a theorem assumes.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Premise {
    /// The premise, in words: what a void certificate names.
    pub text: &'static str,
    /// Only the user can know it: the run cannot tell whether it holds.
    pub declared: bool,
}

/// A premise that the run checks.
pub(crate) const fn checked(text: &'static str) -> Premise {
    Premise { text, declared: false }
}

/// A premise that the user declares.
pub(crate) const fn declared(text: &'static str) -> Premise {
    Premise { text, declared: true }
}

/// A premise that the user declared, and the number that was declared.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Declared {
    /// The premise, in words.
    pub premise: &'static str,
    /// The number.
    pub value: f64,
}

pub(crate) const FINITE: &str = "finite loss and slope";
pub(crate) const CONVEX: &str = "convexity of the loss in the prediction";
pub(crate) const CONSTANT: &str = "one constant rate > 0";
pub(crate) const AS_WRITTEN: &str = "steps made as the formula says";
/// What a certificate names that is void because the theorem has no bound against the comparators it was asked about, with all premises intact.
pub const KNOWN: &str = "a comparator for which the bound is known";
pub(crate) const SQUARED: &str = "the squared loss, weight 1";
pub(crate) const PROBABILITIES: &str = "a comparator with weights >= 0 that sum to 1";
pub(crate) const NONNEGATIVE: &str = "a comparator with weights >= 0";
pub(crate) const WITHIN_SCALE: &str =
    "a comparator whose magnitudes sum to at most the scale of the walk";

/// Every theorem, in the order of the papers.
///
/// ```
/// assert!(geowalk::certify::entries().count() > 15);
/// ```
pub fn entries() -> impl Iterator<Item = &'static Theorem> + Clone {
    TABLE.iter().copied()
}

const TABLE: &[&Theorem] = &[
    &FIRST_ORDER,
    &super::second_order::THEOREM,
    &super::riemannian::THEOREM,
    &super::riemannian::DEFECT,
    &super::proximal::AFTER,
    &super::proximal::BEFORE,
    &super::proximal::FLAT,
    rules::GRADIENT_DESCENT.theorem,
    rules::LEAST_SQUARES.theorem,
    rules::LEAST_SQUARES_AFTER.theorem,
    rules::NATURAL_EG.theorem,
    &super::null_vector::QUADRATIC,
    &super::null_vector::LOGARITHMIC,
    rules::MIRROR_DESCENT.theorem,
    rules::MIRROR_ENTROPY.theorem,
    rules::LINEAR_EG.theorem,
    rules::OLS.theorem,
    &super::winnow::WINNOW,
    &super::winnow::TWIN,
    &super::hedge::THEOREM,
    &super::reparam_hedge::THEOREM,
    &super::prod::THEOREM,
    &super::ada_hedge::THEOREM,
    &super::mixture::THEOREM,
    &super::shared_hedge::THEOREM,
    &super::ml_poly::THEOREM,
    &super::boa::THEOREM,
    rules::EGU.theorem,
    rules::REPARAM_EGU.theorem,
    rules::EG.theorem,
    rules::REPARAM_EG.theorem,
    &super::free_bets::THEOREM,
];

const FIRST_ORDER: Theorem = Theorem {
    name: "first-order",
    premises: &[declared(CONVEX), checked(FINITE)],
    bound: "A - <u, Gamma>, A = sum g z, Gamma = sum g x",
    source: "SS12, sec. 2.4",
    correction: "",
};

/// Rounds, losses, the rate, and the first premise that broke.
#[derive(Debug, Clone)]
pub(crate) struct Watch {
    theorem: &'static Theorem,
    pub(crate) rounds: u64,
    pub(crate) loss: Sum,
    /// The rate of the first round; NaN before.
    pub(crate) rate: f64,
    broken: Option<Broken>,
}

impl Watch {
    pub(crate) fn new(theorem: &'static Theorem) -> Self {
        Self { theorem, rounds: 0, loss: Sum::default(), rate: f64::NAN, broken: None }
    }

    /// For a theorem about losses convex in the prediction.
    pub(crate) fn convex(theorem: &'static Theorem, facts: &Facts) -> Self {
        let mut watch = Self::new(theorem);
        watch.demand(CONVEX, facts.convex, f64::NAN);
        watch
    }

    /// The same sums under the name of another theorem.
    pub(crate) fn named(&self, theorem: &'static Theorem) -> Self {
        Self { theorem, ..self.clone() }
    }

    /// Counts a round that lost round.loss, with finite numbers and a step as the formula says.
    pub(crate) fn round(&mut self, round: &Round) {
        self.rounds += 1;
        self.loss.add(round.loss);
        let finite = round.loss.is_finite() && round.slope.is_finite() && round.z.is_finite();
        self.demand(FINITE, finite, if round.loss.is_finite() { round.slope } else { round.loss });
        let odd = match round.event {
            Event::Clamped { coordinates } => Some(coordinates as f64),
            Event::FellBack => Some(f64::NAN),
            _ => None,
        };
        self.demand(AS_WRITTEN, odd.is_none(), odd.unwrap_or_default());
    }

    /// The comparator's loss must not lie below the tangent at the prediction.
    pub(crate) fn compare(&mut self, round: &Round, prediction: f64, loss: f64) {
        if let Some(below) = below_tangent(round, prediction, loss) {
            self.demand(CONVEX, false, below);
        }
    }

    /// The rate must be what it was.
    pub(crate) fn constant_rate(&mut self, rate: f64) {
        if self.rate.is_nan() {
            self.rate = rate;
        }
        self.demand(CONSTANT, rate == self.rate && rate > 0.0 && rate.is_finite(), rate);
    }

    /// The squared loss at weight 1: √loss = |slope/2|, up to a part of the residual and the prediction. Gives the label.
    pub(crate) fn squared(&mut self, round: &Round, tolerance: f64) -> f64 {
        let (half, root) = (0.5 * round.slope, round.loss.sqrt());
        let off = (root - half.abs()).abs();
        self.demand(SQUARED, off <= tolerance * (root + round.z.abs()), off);
        round.z - half
    }

    /// Everything that changes: rounds, losses, rate, and the premise that broke, by its place in the theorem.
    pub(crate) fn save(&self) -> [f64; Watch::NUMBERS] {
        let [sum, lost, magnitude, count] = self.loss.save();
        let rate = if self.rate.is_nan() { -1.0 } else { self.rate };
        let place = |b: &Broken| self.theorem.premises.iter().position(|p| p.text == b.premise);
        let (premise, row, [kind, found]) = match &self.broken {
            Some(b) => (place(b).map_or(-1.0, |p| p as f64), b.row as f64, unfinite(b.found)),
            None => (-1.0, 0.0, [0.0; 2]),
        };
        [self.rounds as f64, sum, lost, magnitude, count, rate, premise, row, kind, found]
    }

    /// Continues from what [`Watch::save`] gave. A premise that never held is known from the construction.
    #[allow(clippy::cast_possible_truncation, clippy::cast_sign_loss)] // counts below 2^53
    pub(crate) fn load(&mut self, saved: [f64; Watch::NUMBERS]) {
        let [rounds, sum, lost, magnitude, count, rate, premise, row, kind, found] = saved;
        self.rounds = rounds as u64;
        self.loss = Sum::load([sum, lost, magnitude, count]);
        self.rate = if rate < 0.0 { f64::NAN } else { rate };
        let broken = self.theorem.premises.get(premise as usize).filter(|_| premise >= 0.0);
        if let Some(premise) = broken {
            let found = refinite([kind, found]);
            self.broken = Some(Broken { premise: premise.text, row: row as u64, found });
        }
    }

    /// How many numbers [`Watch::save`] gives.
    pub(crate) const NUMBERS: usize = 10;

    /// Remembers the first premise that does not hold, in the present round.
    pub(crate) fn demand(&mut self, premise: &'static str, holds: bool, found: f64) {
        if !holds && self.broken.is_none() {
            self.broken = Some(Broken { premise, row: self.rounds, found });
        }
    }

    /// Has no premise been broken so far?
    pub(crate) fn stands(&self) -> bool {
        self.broken.is_none()
    }

    /// The certificate with this bound. A NaN is no bound.
    pub(crate) fn issue(&self, bound: f64) -> Certificate {
        self.issue_on(self.loss.total(), bound)
    }

    /// The same, for another loss than the sum of the rounds'.
    pub(crate) fn issue_on(&self, loss: f64, bound: f64) -> Certificate {
        let broken = self.broken.clone().or_else(|| {
            bound.is_nan().then_some(Broken { premise: KNOWN, row: 0, found: f64::NAN })
        });
        let bound = if broken.is_none() { bound } else { f64::NAN };
        let status = broken.map_or(Status::Valid, Status::Void);
        let theorem = self.theorem.name;
        Certificate { theorem, status, rounds: self.rounds, loss, bound }
    }

    /// The certificate for loss ≤ L/(1 − c) + p, see [`discounted`]; void for this premise where c is not below
    /// 1 by more than rounding.
    pub(crate) fn discount(
        &self,
        premise: &'static str,
        c: f64,
        p: f64,
        comparator: Option<f64>,
    ) -> Certificate {
        let c = c * (1.0 + 1e-12);
        if c < 1.0 {
            self.issue(discounted(self.loss.upper(), c, p, comparator))
        } else {
            self.refuse(premise, c)
        }
    }

    /// The certificate, void because the comparators are not all members of the theorem's set. `None` if they are.
    pub(crate) fn outside(&self, u: &Comparator<'_>, members: Members) -> Option<Certificate> {
        let (premise, found) = members.excludes(u)?;
        Some(self.refuse(premise, found))
    }

    /// The certificate, void for a reason that concerns the comparator.
    pub(crate) fn refuse(&self, premise: &'static str, found: f64) -> Certificate {
        let mut copy = self.clone();
        let row = 0;
        copy.broken = copy.broken.or(Some(Broken { premise, row, found }));
        copy.issue(f64::NAN)
    }
}

/// Numbers that are not finite do not go into files: what kind of number it is, and the number if it is finite.
pub(crate) fn unfinite(x: f64) -> [f64; 2] {
    match x {
        _ if x.is_nan() => [1.0, 0.0],
        f64::INFINITY => [2.0, 0.0],
        f64::NEG_INFINITY => [3.0, 0.0],
        _ => [0.0, x],
    }
}

/// The number of which that was made.
pub(crate) fn refinite([kind, x]: [f64; 2]) -> f64 {
    match kind {
        1.0 => f64::NAN,
        2.0 => f64::INFINITY,
        3.0 => f64::NEG_INFINITY,
        _ => x,
    }
}

/// The arrays that a bound was saved as.
pub(crate) type Get<'a> = &'a mut dyn FnMut(&'static str) -> Option<Vec<f64>>;

/// The watch and N more numbers, from the array `state`.
pub(crate) fn restore<const N: usize>(
    watch: &mut Watch,
    get: Get<'_>,
) -> Result<[f64; N], ConfigError> {
    let mut rest = [0.0; N];
    rest.copy_from_slice(&restore_all(watch, N, get)?);
    Ok(rest)
}

/// The watch and so many more numbers.
pub(crate) fn restore_all(
    watch: &mut Watch,
    count: usize,
    get: Get<'_>,
) -> Result<Vec<f64>, ConfigError> {
    let missing = ConfigError::Missing { name: "theorem", meaning: "the sums of a certificate" };
    let expected = Watch::NUMBERS + count;
    let state = get("state").filter(|state| state.len() == expected).ok_or(missing)?;
    let mut first = [0.0; Watch::NUMBERS];
    first.copy_from_slice(&state[..Watch::NUMBERS]);
    watch.load(first);
    Ok(state[Watch::NUMBERS..].to_vec())
}

/// The array `state`: the watch and more numbers.
pub(crate) fn keep(watch: &Watch, more: &[f64], put: &mut dyn FnMut(&'static str, &[f64])) {
    let mut state = watch.save().to_vec();
    state.extend_from_slice(more);
    put("state", &state);
}

/// By how much ℓ(prediction) lies below the tangent of ℓ at z, if that is more than rounding.
pub(crate) fn below_tangent(round: &Round, prediction: f64, loss: f64) -> Option<f64> {
    let rise = round.slope * (prediction - round.z);
    let size =
        round.loss.abs() + loss.abs() + round.slope.abs() * (prediction.abs() + round.z.abs());
    let below = round.loss + rise - loss;
    (below > 64.0 * f64::EPSILON * size).then_some(below)
}

/// No less than x, had the dozen operations behind it been exact; `scale` is the size of the numbers that were subtracted on the way.
pub(crate) fn outward(x: f64, scale: f64) -> f64 {
    (x + 64.0 * f64::EPSILON * (x.abs() + scale.abs())).next_up()
}

/// What squares that were too small for a number may have been, one in each round.
pub(crate) fn underflow(rounds: u64) -> f64 {
    rounds as f64 * f64::MIN_POSITIVE
}

/// For loss ≤ L/(1 − c) + p, L ≥ 0 the comparator's loss: the bound on loss − L. Without L: since L ≥ (1 − c)(loss − p).
fn discounted(loss: f64, c: f64, p: f64, comparator: Option<f64>) -> f64 {
    match comparator {
        Some(known) => {
            let known = Real::max(known, 0.0);
            outward(known * c / (1.0 - c) + p, 0.0)
        }
        // Neither term exceeds the loss itself: L ≥ 0.
        None => outward(Real::min(c * loss + (1.0 - c) * p, loss), loss),
    }
}

/// The weights that a theorem speaks of, where those are not all of ℝⁿ.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Members {
    /// u ≥ 0.
    NonNegative,
    /// u ≥ 0, Σu = 1.
    Probabilities,
}

impl Members {
    /// The premise that these comparators break, with the number that breaks it. Sets that are no part of the
    /// members, and whose distance from the start no theorem here knows, are left to [`KNOWN`].
    ///
    /// Σu = 1 up to the rounding of n numbers and of their sum: by as much predictions with u are rounded anyway.
    fn excludes(self, u: &Comparator<'_>) -> Option<(&'static str, f64)> {
        match (self, u) {
            (_, Comparator::Given(u)) => {
                let premise = match self {
                    Self::NonNegative => NONNEGATIVE,
                    Self::Probabilities => PROBABILITIES,
                };
                if let Some(bad) = u.iter().find(|u| !(**u >= 0.0 && u.is_finite())) {
                    return Some((premise, *bad));
                }
                let mut sum = Sum::default();
                u.iter().for_each(|u| sum.add(*u));
                let one = (sum.total() - 1.0).abs() <= rounding(u.len());
                (self == Self::Probabilities && !one).then_some((premise, sum.total()))
            }
            (Self::Probabilities, Comparator::Positive { total }) => Some((PROBABILITIES, *total)),
            (Self::Probabilities, Comparator::Signed { u, scale }) => {
                let mut sum = Sum::default();
                u.iter().for_each(|u| sum.add(u.abs() / scale));
                let inside = sum.total() <= 1.0 + rounding(u.len());
                (!inside).then_some((WITHIN_SCALE, sum.total() * scale))
            }
            _ => None,
        }
    }
}

/// By how much the sum of n numbers around 1/n, each rounded a few times, may differ from 1.
fn rounding(n: usize) -> f64 {
    (n as f64 + 8.0) * f64::EPSILON
}

/// D(u‖w) = Σ u ln(u/w) − u + w for u ≥ 0, rounded up; coordinates of u beyond the end of w have none, and make
/// it infinite. Every term is computed without cancellation, so that a comparator next to the start has the
/// distance that it has.
pub(crate) fn relative_entropy(u: &[f64], w: &[f64]) -> f64 {
    let at = |v: &[f64], i: usize| v.get(i).copied().unwrap_or(0.0);
    let terms = (0..u.len().max(w.len())).map(|i| {
        let (u, w) = (at(u, i), at(w, i));
        gap::entropy(u, w, u - w)
    });
    sum_of_gaps(terms)
}

/// The sum of non-negative terms of a divergence, each good to a few units in the last place, rounded up.
pub(crate) fn sum_of_gaps(terms: impl Iterator<Item = f64>) -> f64 {
    let mut sum = Sum::default();
    // A difference of two weights that are not within a factor of 2 is rounded, and so is the logarithm.
    terms.for_each(|term| sum.add(term));
    sum.upper() + 64.0 * f64::EPSILON * sum.magnitude()
}

/// sup D(u‖w) over the comparators, for weights w > 0. NaN where it is not known.
pub(crate) fn farthest_entropy(u: &Comparator<'_>, w: &[f64]) -> f64 {
    if let Comparator::Given(u) = *u {
        return relative_entropy(u, w);
    }
    let least = w.iter().copied().fold(f64::INFINITY, f64::min);
    farthest_vertex(u, w.len(), w.iter().sum(), least)
}

/// The same for all comparators of a kind, given how many weights there are, their sum and the least of them.
pub(crate) fn farthest_vertex(u: &Comparator<'_>, count: usize, total: f64, least: f64) -> f64 {
    match *u {
        // D is convex in u: it is largest at a vertex, and there −ln w_i + Σw − 1.
        Comparator::Simplex { n } if n <= count => {
            Real::max(outward(-Real::ln(least) + (total - 1.0), total), 0.0)
        }
        Comparator::Positive { total: u } if u >= 0.0 => {
            let vertex = if u > 0.0 { u * Real::ln(u / least) - u + total } else { total };
            outward(Real::max(vertex, total), u + total)
        }
        _ => f64::NAN,
    }
}

/// sup ‖u − start‖₂ over the comparators; `start` is 0 beyond its end. NaN where it is not known.
pub(crate) fn farthest(u: &Comparator<'_>, start: &[f64]) -> f64 {
    let norm = crate::row::Norm::L2;
    let own = norm.of(start);
    let difference = |u: &[f64]| {
        let at = |v: &[f64], i: usize| v.get(i).copied().unwrap_or(0.0);
        let d: Vec<f64> = (0..u.len().max(start.len())).map(|i| at(u, i) - at(start, i)).collect();
        norm.of(&d)
    };
    let distance = match *u {
        Comparator::Given(u) => difference(u),
        // ‖u‖₂ ≤ ‖u‖_p for p ≤ 2.
        Comparator::Ball { norm: crate::row::Norm::L1 | crate::row::Norm::L2, radius } => {
            size(radius) + own
        }
        Comparator::Ball { norm: crate::row::Norm::Lp(p), radius } if p <= 2.0 => {
            size(radius) + own
        }
        Comparator::Box { radii } => norm.of(radii) + own,
        Comparator::Sphere { radius } => size(radius) + own,
        Comparator::Simplex { .. } => 1.0 + own,
        Comparator::Positive { total } => size(total) + own,
        Comparator::Ball { .. } | Comparator::Signed { .. } => f64::NAN,
    };
    outward(distance, 0.0)
}

/// There are no vectors of negative size: NaN.
pub(crate) fn size(x: f64) -> f64 {
    if x >= 0.0 { x } else { f64::NAN }
}
