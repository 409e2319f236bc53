//! # Learners
//! A walk, a loss and a rate, run over blocks of examples. Everything below is monomorphised; [`Learner`] erases it once per block.
//!
//! | learner | for | what it minimises |
//! |---|---|---|
//! | [`Single`] | regression, two classes | the loss of ⟨w, x⟩ |
//! | [`Several`], joint | several classes, walks on all of ℝⁿ | −ln softmax, one weight vector per class |
//! | [`Several`], apart | several classes, walks on constrained weights and losses other than the logistic one | the loss of each class against the rest |
//!
//! **Importance weights** multiply loss and slope. A walk that needs bounded slopes learns from an example of weight w > 1 several times, with
//! equal parts of the weight; the loss that is reported is w times that of the first prediction, the certificate speaks of the parts.

mod average;
mod band;
mod delay;
mod reach;
mod several;
mod single;

use std::ops::Range;

use geowalk::certify::{
    AnyBound, Bound, Certificate, Comparator, Curvature, Epochs, FirstOrder, SecondOrder, Verdict,
};
use geowalk::error::Allowed;
use geowalk::loss::{AnyLoss, Facts};
use geowalk::row::{Block, Norm, Row, Sparse};
use geowalk::update::{Round, Target};
use geowalk::walk::{Shape, Walk};
use geowalk::{ConfigError, DomainError, Real};

use average::Average;
pub(crate) use band::Banded;
pub use band::Coverage;
pub(crate) use delay::Delayed;
pub use reach::Reach;
pub(crate) use several::Given;
pub use several::{Several, largest, softmax};
pub use single::Single;

use crate::certificate::{self, Against, Report};
use crate::doubling::Doubling;
use crate::hindsight::Domain;
use crate::rate::{Rate, Schedule};
use crate::team::MemberResult;

/// What a learner said about an example before it learned from it.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Outcome {
    /// The score, or the class with the largest one.
    pub prediction: f64,
    /// Probability of the true class among several; NaN for a single score.
    pub probability: f64,
    /// The weighted loss.
    pub loss: f64,
    /// The weighted loss of predicting 0.
    pub zero: f64,
}

impl Outcome {
    /// A prediction for a row without a label.
    fn unlabelled(prediction: f64) -> Self {
        Self { prediction, probability: f64::NAN, loss: f64::NAN, zero: f64::NAN }
    }
}

/// A step that could not be made.
#[derive(Debug, Clone, PartialEq, thiserror::Error)]
#[error("{cause}")]
pub struct Diverged {
    /// Row of the block, from 0.
    pub row: usize,
    /// What went wrong.
    pub cause: DomainError,
    /// The rate of the step.
    pub rate: f64,
}

/// The object-safe boundary: whole blocks only.
pub trait Learner: Send + Sync {
    /// Predicts, then learns from, the rows of the block, in order. Rows without a label (NaN) are predicted only; their loss
    /// is NaN. On an error the rows before it have been learned.
    fn learn(
        &mut self,
        block: &Block,
        rows: Range<usize>,
        out: &mut Vec<Outcome>,
    ) -> Result<(), Diverged>;

    /// The same for several classes, and appends of each row how many classes have a probability, and those
    /// probabilities, as they were before the row was learned from.
    fn learn_probabilities(
        &mut self,
        block: &Block,
        rows: Range<usize>,
        out: &mut Vec<Outcome>,
        probabilities: &mut Vec<f64>,
    ) -> Result<(), Diverged> {
        let _ = probabilities;
        self.learn(block, rows, out)
    }

    /// Predicts rows that are not learned from, with the weights that the model predicts with: averaged ones if an average is kept.
    fn examine(&mut self, block: &Block, rows: Range<usize>, out: &mut Vec<Outcome>);

    /// Appends the scores of all rows, [`outputs`](Learner::outputs) per row.
    fn predict(&self, block: &Block, out: &mut Vec<f64>);

    /// The same by which classes are told apart: ⟨w, x⟩ for the [weights](Learner::weights) if the learner
    /// [is linear](Learner::is_linear). Those of natural gradient are without the insurance that its
    /// probabilities have.
    fn scores(&self, block: &Block, out: &mut Vec<f64>) {
        self.predict(block, out);
    }

    /// Are scores linear in the features?
    fn is_linear(&self) -> bool {
        true
    }

    /// Scores per row: 1, or the number of classes.
    fn outputs(&self) -> usize;

    /// w ← the weights that output `k` predicts with, the intercept first if there is one.
    fn weights(&self, k: usize, w: &mut Vec<f64>);

    /// What the certificates say, sharper where what the comparators lost is known. `None` if they were not kept.
    fn report(&self, against: &Against<'_>, loss: Option<f64>) -> Option<Report>;

    /// The first-order certificate against all weights within [reach](Reach) of the present ones. `None` if it was not kept.
    fn certificate(&self) -> Option<Certificate> {
        self.report(&Against::Reach, None).map(|report| report.first_order)
    }

    /// Where its weights are, and so those that it is compared with.
    fn domain(&self) -> Domain {
        Domain::Space
    }

    /// Γ = Σ g_t x_t of output `k`, the sum of slope times row over all steps, if certificates are kept.
    fn gamma(&self, _k: usize) -> Option<Vec<f64>> {
        None
    }

    /// Against which weights the certificate speaks.
    fn reach(&self) -> Reach;

    /// The rate of the last step.
    fn rate(&self) -> f64;

    /// Does it converge to the optimum, for the summary? `None` if no theorem says so.
    fn convergence(&self) -> Option<serde_json::Value> {
        None
    }

    /// The members of a [team](crate::team), and what became of them.
    fn members(&self) -> Vec<MemberResult> {
        Vec::new()
    }

    /// A member of a team.
    fn member(&self, _k: usize) -> Option<&dyn Learner> {
        None
    }

    /// What became of the intervals of its predictions, if it has them.
    fn coverage(&self) -> Option<Coverage> {
        None
    }

    /// The intervals of the rows that were learned from or examined last, if it has them.
    fn last_intervals(&self) -> &[[f64; 2]] {
        &[]
    }

    /// Appends the intervals of the predictions of all rows, if it has them.
    fn intervals(&self, _block: &Block, _out: &mut Vec<[f64; 2]>) {}

    /// Work may be spread over so many threads; nothing depends on it but time.
    fn use_threads(&mut self, _threads: usize) {}

    /// What the user should know at the end of a run.
    fn notes(&self) -> Vec<String> {
        Vec::new()
    }

    /// Gives away everything that changes, as named arrays.
    fn save(&self, put: &mut dyn FnMut(String, &[f64]));

    /// Continues from what [`Learner::save`] gave.
    fn load(&mut self, get: &mut dyn FnMut(&str) -> Option<Vec<f64>>) -> Result<(), ConfigError>;
}

/// What a learner that has another one in it leaves to that.
macro_rules! forward {
    () => {
        fn predict(&self, block: &Block, out: &mut Vec<f64>) {
            self.inner.predict(block, out);
        }

        fn scores(&self, block: &Block, out: &mut Vec<f64>) {
            self.inner.scores(block, out);
        }

        fn is_linear(&self) -> bool {
            self.inner.is_linear()
        }

        fn outputs(&self) -> usize {
            self.inner.outputs()
        }

        fn weights(&self, k: usize, w: &mut Vec<f64>) {
            self.inner.weights(k, w);
        }

        fn domain(&self) -> $crate::hindsight::Domain {
            self.inner.domain()
        }

        fn gamma(&self, k: usize) -> Option<Vec<f64>> {
            self.inner.gamma(k)
        }

        fn convergence(&self) -> Option<serde_json::Value> {
            self.inner.convergence()
        }

        fn reach(&self) -> $crate::learner::Reach {
            self.inner.reach()
        }

        fn rate(&self) -> f64 {
            self.inner.rate()
        }

        fn members(&self) -> Vec<$crate::team::MemberResult> {
            self.inner.members()
        }

        fn member(&self, k: usize) -> Option<&dyn Learner> {
            self.inner.member(k)
        }

        fn use_threads(&mut self, threads: usize) {
            self.inner.use_threads(threads);
        }

        fn notes(&self) -> Vec<String> {
            self.inner.notes()
        }
    };
}

use forward;

/// How to run a walk.
#[derive(Debug, Clone)]
#[expect(clippy::struct_excessive_bools, reason = "each is a setting by itself")]
pub struct Setting {
    /// The comparators of the certificate.
    pub reach: Reach,
    /// The loss.
    pub loss: AnyLoss,
    /// The rate.
    pub rate: Rate,
    /// A constant feature at coordinate 0, and all others behind it.
    pub intercept: bool,
    /// Keep the sums of the certificates.
    pub certificate: bool,
    /// Keep those of the second-order certificate too.
    pub second_order: bool,
    /// The model was merged from several: theorems about one run do not hold, and Γ is not in the state of the walk.
    pub merged: bool,
    /// The theorems of the walk, as they are before the first round.
    pub theorems: Option<AnyBound>,
    /// Why there are none.
    pub without: &'static str,
    /// Where the weights are.
    pub domain: Domain,
    /// The walk needs slopes within the bound of the loss: an example of weight w > 1 is learned from ⌈w⌉ times with weight w/⌈w⌉.
    pub splits_weights: bool,
    /// The values of features that the walk takes; any if none are named.
    pub values: Option<Allowed>,
    /// Keep an average of the weights, and predict with it, clipped to this range.
    pub average: Option<(f64, f64)>,
}

impl Setting {
    /// A run of a loss at a rate, with certificates and without an intercept; what the walk decides is decided when it is [built](crate::walks::build).
    pub fn new(loss: AnyLoss, rate: Rate) -> Self {
        Self {
            reach: Reach::Box,
            loss,
            rate,
            intercept: false,
            certificate: true,
            second_order: false,
            merged: false,
            theorems: None,
            without: "",
            domain: Domain::Space,
            splits_weights: false,
            values: None,
            average: None,
        }
    }

    /// How the loss curves, for comparators with log-odds within ±6, if a second-order certificate is known for it.
    pub(crate) fn curvature(&self) -> Option<Curvature> {
        match self.loss {
            AnyLoss::Logistic(_) => Some(Curvature::Logistic { most: 6.0 }),
            AnyLoss::Squared(_) => Some(Curvature::Squared),
            _ => None,
        }
    }

    /// The largest weight that is split: so many steps for one example are a mistake in the data.
    pub const HEAVIEST: f64 = 65_536.0;

    /// Refuses rows that the walk does not take; gives the number of times to learn from the others.
    #[inline]
    fn admit<X: Row<f64>>(&self, x: X, weight: f64) -> Result<f64, DomainError> {
        if let Some(allowed) = self.values {
            let mut bad = None;
            x.each(|i, x| {
                if bad.is_none() && !allowed.contains(x) {
                    bad = Some((i, x));
                }
            });
            if let Some((index, value)) = bad {
                return Err(DomainError::Coordinate { what: "the row", index, value, allowed });
            }
        }
        if !self.splits_weights || weight.is_nan() || weight <= 1.0 {
            return Ok(1.0);
        }
        let allowed = Allowed::Closed(0.0, Self::HEAVIEST);
        if allowed.contains(weight) {
            Ok(weight.ceil())
        } else {
            Err(DomainError::Scalar { what: "the importance weight", value: weight, allowed })
        }
    }
}

/// A row, with a constant 1 at coordinate 0 and the features behind it if there is an intercept. One type for both, since each would have every walk compiled for it.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Intercepted<X> {
    pub(crate) row: X,
    pub(crate) intercept: bool,
}

impl<X: Row<f64>> Row<f64> for Intercepted<X> {
    #[inline]
    fn each(self, mut f: impl FnMut(usize, f64)) {
        if self.intercept {
            f(0, 1.0);
        }
        let first = usize::from(self.intercept);
        self.row.each(|i, x| f(i + first, x));
    }

    #[inline(always)]
    fn each_briefly(self, mut f: impl FnMut(usize, f64)) {
        if self.intercept {
            f(0, 1.0);
        }
        let first = usize::from(self.intercept);
        self.row.each_briefly(|i, x| f(i + first, x));
    }

    #[inline]
    fn bound(self) -> usize {
        self.row.bound() + usize::from(self.intercept)
    }

    #[inline]
    fn dot_and_square(self, w: &[f64], (dot, square): (f64, f64)) -> (f64, f64) {
        match w.split_first() {
            Some((first, rest)) if self.intercept => {
                self.row.dot_and_square(rest, (dot + first, square + 1.0))
            }
            _ => self.row.dot_and_square(w, (dot, square)),
        }
    }

    #[inline]
    fn axpy(self, a: f64, y: &mut [f64]) {
        match y.split_first_mut() {
            Some((first, rest)) if self.intercept => {
                *first += a;
                self.row.axpy(a, rest);
            }
            _ => self.row.axpy(a, y),
        }
    }

    #[inline]
    fn span(self) -> (f64, f64, usize) {
        let (lo, hi, count) = self.row.span();
        if self.intercept {
            (Real::min(lo, 1.0), Real::max(hi, 1.0), count + 1)
        } else {
            (lo, hi, count)
        }
    }

    #[inline]
    fn length(self) -> f64 {
        let length = self.row.length();
        if self.intercept { Real::hypot(1.0, length) } else { length }
    }
}

/// Walks on normalised rows see rows of a type that they are compiled for anyway.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Whole;

impl Shape for Whole {
    type Of<'a> = Intercepted<Sparse<'a, f64>>;
    fn of(row: Sparse<'_, f64>) -> Intercepted<Sparse<'_, f64>> {
        Intercepted { row, intercept: false }
    }
}

/// Calls `$body` with each row of the block as its own type: dense or sparse.
macro_rules! each_row {
    ($block:expr, $rows:expr, $intercept:expr, |$i:ident, $x:ident| $body:expr) => {{
        let intercept = $intercept;
        if $block.columns().is_some() {
            for $i in $rows {
                let $x = Intercepted { row: $block.dense($i), intercept };
                $body
            }
        } else {
            for $i in $rows {
                let $x = Intercepted { row: $block.sparse($i), intercept };
                $body
            }
        }
    }};
}

use each_row;

/// Predicts, then learns from, one row.
trait Step {
    /// On an error: why, and the rate of the step.
    fn step<X: Row<f64>>(&mut self, x: X, target: Target) -> Result<Outcome, (DomainError, f64)>;
}

/// The rows of a block, one after the other.
fn learn<S: Step>(
    learner: &mut S,
    intercept: bool,
    block: &Block,
    rows: Range<usize>,
    out: &mut Vec<Outcome>,
) -> Result<(), Diverged> {
    each_row!(block, rows, intercept, |i, x| {
        let target = Target { y: block.labels()[i], weight: block.weights()[i] };
        match learner.step(x, target) {
            Ok(outcome) => out.push(outcome),
            Err((cause, rate)) => {
                return Err(Diverged { row: i, cause, rate });
            }
        }
    });
    Ok(())
}

/// One walk with its certificate and the average of its weights.
#[derive(Debug, Clone)]
struct Strand<W> {
    walk: W,
    bound: Option<FirstOrder>,
    theorems: Option<Epochs>,
    second: Option<Box<SecondOrder>>,
    average: Option<Average>,
    /// The walk at its start, where a doubling scheme goes back to it.
    fresh: Option<Box<W>>,
    /// The rate of every step, if they all have the same.
    rate: Option<f64>,
    /// The walk keeps the certificate's Γ.
    keeps: bool,
}

impl<W: Walk + Clone> Strand<W> {
    /// A walk at its beginning, of a run for losses with these facts.
    fn new(walk: W, setting: &Setting, facts: &Facts) -> Self {
        let bound = setting.certificate.then(|| FirstOrder::new(facts));
        let (rate, scheme) = match setting.rate {
            Rate::Constant(rate) => (Some(rate), None),
            Rate::Doubling(scheme) => (None, Some(scheme)),
            _ => (None, None),
        };
        let fresh = scheme.filter(Doubling::restarts).map(|_| Box::new(walk.clone()));
        // A walk that begins again forgets what it has kept.
        let held = !setting.merged && fresh.is_none();
        let keeps = held && walk.gamma(rate, &mut Vec::new()).is_some();
        let norm = scheme.map_or(Norm::L2, |scheme| scheme.norm());
        let theorems = setting.theorems.clone().filter(|_| setting.certificate);
        let theorems = theorems.map(|theorems| Epochs::new(theorems, norm));
        let wanted = setting.certificate && setting.second_order;
        let second = setting.curvature().filter(|_| wanted);
        let second = second.map(|curvature| Box::new(SecondOrder::new(curvature)));
        let average = setting.average.map(Average::new);
        Self { walk, bound, theorems, second, average, fresh, rate, keeps }
    }

    /// A new epoch begins: from the start, or with the present weights.
    #[inline(never)]
    fn turn(&mut self, norm: Norm) {
        let away = if let Some(fresh) = &self.fresh {
            self.walk = W::clone(fresh);
            0.0
        } else {
            let mut w = Vec::new();
            self.walk.read(&mut w);
            norm.above(&w)
        };
        if let Some(theorems) = &mut self.theorems {
            theorems.turn(away);
        }
    }
}

impl<W: Walk> Strand<W> {
    /// The score with the weights that the model predicts with.
    fn score<X: Row<f64>>(&self, x: X) -> f64 {
        match &self.average {
            None => self.walk.predict(x),
            Some(average) => average.predict(&self.walk, x),
        }
    }

    /// Adds the weights that predict this row to the average, before they move.
    #[inline]
    fn remember<X: Row<f64>>(&mut self, x: X, importance: f64) {
        if let Some(average) = &mut self.average {
            self.walk.grow(x.bound());
            average.see(&self.walk, x, importance);
        }
    }

    /// w ← the weights that the model predicts with.
    fn read(&self, w: &mut Vec<f64>) {
        self.walk.read(w);
        if let Some(average) = &self.average {
            average.read(&self.walk, w);
        }
    }

    /// Shows the certificate a step that was made.
    #[inline]
    fn observe<X: Row<f64>>(&mut self, round: &Round, x: X) {
        match &mut self.bound {
            Some(bound) if self.keeps => {
                bound.observe_gradient(round, self.walk.gradient(round, x));
            }
            Some(bound) => bound.observe(round, x),
            None => {}
        }
        if let Some(theorems) = &mut self.theorems {
            theorems.observe(round, x);
        }
        if let Some(second) = &mut self.second {
            second.observe(round, x);
        }
    }

    /// The certificate against these comparators. `None` if it was not kept.
    fn certify(&self, comparators: &Comparator<'_>) -> Option<Certificate> {
        let bound = self.bound.as_ref()?;
        let mut gamma = Vec::new();
        Some(match self.walk.gamma(self.rate, &mut gamma) {
            Some(size) if self.keeps => bound.certify_with(&gamma, size, comparators),
            _ => bound.certify(comparators),
        })
    }

    /// Γ, wherever it is kept; far coordinates are left out.
    fn gamma(&self) -> Option<Vec<f64>> {
        let bound = self.bound.as_ref()?;
        let mut gamma = Vec::new();
        if !self.keeps || self.walk.gamma(self.rate, &mut gamma).is_none() {
            bound.near().clone_into(&mut gamma);
        }
        Some(gamma)
    }

    /// The certificate against all weights no longer than the present ones, where one pass over them is enough for it.
    fn quick(&self, against: &Against<'_>, reach: Reach) -> Option<(Certificate, f64)> {
        let (Against::Live, Reach::Ball(Norm::L2)) = (against, reach) else { return None };
        let bound = self.bound.as_ref().filter(|_| self.keeps)?;
        let (radius, gamma) = self.walk.lengths(self.rate)?;
        Some((bound.certify_ball(gamma, self.walk.features(), radius), radius))
    }

    /// What the theorems say of these comparators.
    fn promises(
        &self,
        comparators: &Comparator<'_>,
        loss: Option<f64>,
        live: bool,
    ) -> Vec<Verdict> {
        let bets = match *comparators {
            _ if live => None,
            Comparator::Given(u) | Comparator::Box { radii: u } => {
                self.walk.bets(&|i| u.get(i).map_or(0.0, |u| u.abs()))
            }
            _ => None,
        };
        let theorems = self.theorems.as_ref();
        let mut all =
            theorems.map(|theorems| theorems.certify(comparators, loss, bets)).unwrap_or_default();
        // A matrix is factored: not for every line of a table of progress.
        let second = self.second.as_ref().filter(|_| !live);
        all.extend(second.map(|second| second.certify(comparators)));
        all
    }

    fn save(&self, prefix: &str, put: &mut dyn FnMut(String, &[f64])) {
        self.walk.save_state(&mut |name, values| put(format!("{prefix}{name}"), values));
        if let Some(bound) = &self.bound {
            bound.save(&mut |name, values| put(format!("{prefix}certificate.{name}"), values));
        }
        if let Some(theorems) = &self.theorems {
            theorems.save(&mut |name, values| put(format!("{prefix}theorem.{name}"), values));
        }
        if let Some(second) = &self.second {
            second.save(&mut |name, values| put(format!("{prefix}second.{name}"), values));
        }
        if let Some(average) = &self.average {
            average.save(&mut |name, values| put(format!("{prefix}{name}"), values));
        }
    }

    fn load(
        &mut self,
        prefix: &str,
        get: &mut dyn FnMut(&str) -> Option<Vec<f64>>,
    ) -> Result<(), ConfigError> {
        self.walk.load_state(&mut |name| get(&format!("{prefix}{name}")))?;
        if let Some(bound) = &mut self.bound {
            bound.load(&mut |name| get(&format!("{prefix}certificate.{name}")))?;
        }
        if let Some(theorems) = &mut self.theorems {
            theorems.load(&mut |name| get(&format!("{prefix}theorem.{name}")))?;
        }
        if let Some(second) = &mut self.second {
            second.load(&mut |name| get(&format!("{prefix}second.{name}")))?;
        }
        if let Some(average) = &mut self.average {
            average.load(&mut |name| get(&format!("{prefix}{name}")))?;
        }
        Ok(())
    }
}

/// The certificates of several strands: bounds and losses add up; one broken premise breaks all.
fn combined<W: Walk>(
    strands: &[Strand<W>],
    setting: &Setting,
    against: &Against<'_>,
    loss: Option<f64>,
) -> Option<Report> {
    let mut first: Option<Certificate> = None;
    let mut theorems: Vec<Verdict> = Vec::new();
    let mut w = Vec::new();
    // What one comparator of several lost by itself is not known.
    let loss = loss.filter(|_| strands.len() == 1);
    for (k, strand) in strands.iter().enumerate() {
        strand.bound.as_ref()?;
        let quick = strand.quick(against, setting.reach);
        if quick.is_none() {
            strand.walk.read(&mut w);
        }
        let comparators = match (against, setting.reach) {
            (Against::Live, Reach::Ball(norm)) if quick.is_some() => {
                Comparator::Ball { norm, radius: quick.as_ref().map_or(f64::NAN, |own| own.1) }
            }
            (Against::Given(u), _) => Comparator::Given(u.get(k).map_or(&[], Vec::as_slice)),
            (Against::Within(times), Reach::Box) => {
                for w in &mut w {
                    *w *= times;
                }
                Comparator::Box { radii: &w }
            }
            (_, Reach::Box) => Comparator::Box { radii: &w },
            (_, Reach::Sphere(radius)) => Comparator::Sphere { radius },
            (_, Reach::Simplex) => Comparator::Simplex { n: w.len() },
            (Against::Within(radius), Reach::Ball(norm)) => {
                Comparator::Ball { norm, radius: *radius }
            }
            (_, Reach::Ball(norm)) => Comparator::Ball { norm, radius: norm.above(&w) },
            (Against::Within(total), Reach::Positive) => Comparator::Positive { total: *total },
            (_, Reach::Positive) => Comparator::Positive { total: Norm::L1.above(&w) },
        };
        let own = match quick {
            Some((own, _)) => own,
            None => strand.certify(&comparators)?,
        };
        first = Some(certificate::add(first, own));
        for (j, one) in strand
            .promises(&comparators, loss, matches!(against, Against::Live))
            .into_iter()
            .enumerate()
        {
            match theorems.get_mut(j) {
                None => theorems.push(one),
                Some(sum) => {
                    sum.certificate =
                        certificate::add(Some(sum.certificate.clone()), one.certificate);
                }
            }
        }
    }
    Some(Report {
        first_order: first?,
        theorems,
        reason: setting.without,
        comparators: certificate::described(
            against,
            setting.reach,
            strands.len(),
            setting.average.is_some(),
        ),
        known: None,
        parts: None,
    })
}

/// The schedule as it was saved.
fn restored(
    schedule: &Schedule,
    get: &mut dyn FnMut(&str) -> Option<Vec<f64>>,
) -> Result<Schedule, ConfigError> {
    let saved = get("schedule").and_then(|saved| saved.try_into().ok());
    let missing = ConfigError::Missing { name: "schedule", meaning: "the state of the rate" };
    let schedule = saved.map(|saved| schedule.load(saved)).ok_or(missing.clone())?;
    if schedule.save_pace().is_none() {
        return Ok(schedule);
    }
    let saved = get("doubling").and_then(|saved| saved.try_into().ok());
    saved.map(|saved| schedule.load_pace(saved)).ok_or(missing)
}

/// The schedule, to be restored.
fn keep(schedule: &Schedule, put: &mut dyn FnMut(String, &[f64])) {
    put("schedule".to_owned(), &schedule.save());
    if let Some(pace) = schedule.save_pace() {
        put("doubling".to_owned(), &pace);
    }
}
