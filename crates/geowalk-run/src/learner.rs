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

use std::ops::Range;

use geowalk::certify::{Bound, Certificate, Comparator, FirstOrder, Status};
use geowalk::error::Allowed;
use geowalk::loss::{AnyLoss, Facts, Loss};
use geowalk::row::{Block, Norm, Row};
use geowalk::sum::Sum;
use geowalk::update::{Round, Target};
use geowalk::walk::Walk;
use geowalk::{ConfigError, DomainError, Real};

use crate::rate::{Rate, Schedule};

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
    /// ‖x‖₂ of the row.
    pub norm: f64,
}

impl Diverged {
    /// A rate at which a slope of 1 changes the prediction for this row by at most 1, and smaller than the one that failed.
    pub fn suggested(&self) -> f64 {
        let stable = 1.0 / (self.norm * self.norm);
        let tenth = self.rate / 10.0;
        let rate = if stable.is_finite() { stable.min(tenth) } else { tenth };
        rate.max(f64::MIN_POSITIVE)
    }
}

/// The object-safe boundary: whole blocks only.
pub trait Learner: Send {
    /// Predicts, then learns from, the rows of the block, in order. Rows without a label (NaN) are predicted only; their loss
    /// is NaN. On an error the rows before it have been learned.
    fn learn(
        &mut self,
        block: &Block,
        rows: Range<usize>,
        out: &mut Vec<Outcome>,
    ) -> Result<(), Diverged>;

    /// Appends the scores of all rows, [`outputs`](Learner::outputs) per row.
    fn predict(&self, block: &Block, out: &mut Vec<f64>);

    /// Scores per row: 1, or the number of classes.
    fn outputs(&self) -> usize;

    /// w ← the weights of output `k`, the intercept first if there is one.
    fn weights(&self, k: usize, w: &mut Vec<f64>);

    /// The first-order certificate against all weights within [reach](Reach) of the present ones. `None` if it was not kept.
    fn certificate(&self) -> Option<Certificate>;

    /// Against which weights the certificate speaks.
    fn reach(&self) -> Reach;

    /// What the user should know at the end of a run.
    fn notes(&self) -> Vec<String> {
        Vec::new()
    }

    /// Gives away everything that changes, as named arrays.
    fn save(&self, put: &mut dyn FnMut(String, &[f64]));

    /// Continues from what [`Learner::save`] gave.
    fn load(&mut self, get: &mut dyn FnMut(&str) -> Option<Vec<f64>>) -> Result<(), ConfigError>;
}

/// The comparators of a certificate that names none: all weights no farther from the start than the present ones, in a sense that fits the walk.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum Reach {
    /// No coordinate is larger in magnitude. Does not see the scale of the features.
    Box,
    /// The norm is no larger.
    Ball(Norm),
    /// All of the sphere of this radius.
    Sphere(f64),
    /// All of the simplex.
    Simplex,
    /// Positive, and the sum is no larger.
    Positive,
}

impl std::fmt::Display for Reach {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(match self {
            Self::Box => "all weights of which none is larger in magnitude than the final one",
            Self::Ball(Norm::L1) => {
                "all weights whose sum of magnitudes is no larger than the final one's"
            }
            Self::Ball(_) => "all weights no longer than the final ones",
            Self::Sphere(_) => "all weights on the sphere",
            Self::Simplex => "all weights on the simplex",
            Self::Positive => "all positive weights with no larger sum than the final ones",
        })
    }
}

/// How to run a walk.
#[derive(Debug, Clone)]
pub struct Setting {
    /// The comparators of the certificate.
    pub reach: Reach,
    /// The loss.
    pub loss: AnyLoss,
    /// The rate.
    pub rate: Rate,
    /// A constant feature at coordinate 0, and all others behind it.
    pub intercept: bool,
    /// Keep the sums of the first-order certificate.
    pub certificate: bool,
    /// The walk needs slopes within the bound of the loss: an example of weight w > 1 is learned from ⌈w⌉ times with weight w/⌈w⌉.
    pub splits_weights: bool,
    /// The values of features that the walk takes; any if none are named.
    pub values: Option<Allowed>,
}

impl Setting {
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

/// A row with a constant 1 at coordinate 0 and the features behind it.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Intercepted<X>(pub(crate) X);

impl<X: Row<f64>> Row<f64> for Intercepted<X> {
    #[inline]
    fn each(self, mut f: impl FnMut(usize, f64)) {
        f(0, 1.0);
        self.0.each(|i, x| f(i + 1, x));
    }

    fn bound(self) -> usize {
        self.0.bound() + 1
    }
}

/// Calls `$body` with each row of the block as its own type: dense or sparse, with or without intercept.
macro_rules! each_row {
    ($block:expr, $rows:expr, $intercept:expr, |$i:ident, $x:ident| $body:expr) => {
        match ($block.columns().is_some(), $intercept) {
            (true, true) => {
                for $i in $rows {
                    let $x = Intercepted($block.dense($i));
                    $body
                }
            }
            (true, false) => {
                for $i in $rows {
                    let $x = $block.dense($i);
                    $body
                }
            }
            (false, true) => {
                for $i in $rows {
                    let $x = Intercepted($block.sparse($i));
                    $body
                }
            }
            (false, false) => {
                for $i in $rows {
                    let $x = $block.sparse($i);
                    $body
                }
            }
        }
    };
}

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
                return Err(Diverged { row: i, cause, rate, norm: x.norm(Norm::L2) });
            }
        }
    });
    Ok(())
}

/// One walk with its certificate.
#[derive(Debug, Clone)]
struct Strand<W> {
    walk: W,
    bound: Option<FirstOrder>,
}

impl<W: Walk> Strand<W> {
    fn new(walk: W, facts: Option<&Facts>) -> Self {
        Self { walk, bound: facts.map(FirstOrder::new) }
    }

    fn save(&self, prefix: &str, put: &mut dyn FnMut(String, &[f64])) {
        self.walk.save(&mut |name, values| put(format!("{prefix}{name}"), values));
        if let Some(bound) = &self.bound {
            bound.save(&mut |name, values| put(format!("{prefix}certificate.{name}"), values));
        }
    }

    fn load(
        &mut self,
        prefix: &str,
        get: &mut dyn FnMut(&str) -> Option<Vec<f64>>,
    ) -> Result<(), ConfigError> {
        self.walk.load(&mut |name| get(&format!("{prefix}{name}")))?;
        if let Some(bound) = &mut self.bound {
            bound.load(&mut |name| get(&format!("{prefix}certificate.{name}")))?;
        }
        Ok(())
    }
}

/// The certificate of several strands: bounds and losses add up; one broken premise breaks all.
fn combined<W: Walk>(strands: &[Strand<W>], reach: Reach) -> Option<Certificate> {
    let mut all: Option<Certificate> = None;
    let mut w = Vec::new();
    for strand in strands {
        strand.walk.read(&mut w);
        let comparators = match reach {
            Reach::Box => Comparator::Box { radii: &w },
            Reach::Ball(norm) => Comparator::Ball { norm, radius: norm.of(&w) },
            Reach::Sphere(radius) => Comparator::Sphere { radius },
            Reach::Simplex => Comparator::Simplex { n: w.len() },
            Reach::Positive => Comparator::Positive { total: Norm::L1.of(&w) },
        };
        let one = strand.bound.as_ref()?.certify(&comparators);
        all = Some(match all {
            None => one,
            Some(sum) => Certificate {
                status: if sum.status == Status::Valid { one.status } else { sum.status },
                rounds: sum.rounds.max(one.rounds),
                loss: sum.loss + one.loss,
                bound: (sum.bound + one.bound).next_up(),
                theorem: one.theorem,
            },
        });
    }
    all
}

/// One score: regression, or two classes.
#[derive(Debug)]
pub struct Single<W> {
    strand: Strand<W>,
    setting: Setting,
    schedule: Schedule,
}

impl<W: Walk> Single<W> {
    /// A learner at its beginning.
    pub fn new(walk: W, setting: Setting) -> Self {
        let facts = setting.loss.facts();
        Self {
            strand: Strand::new(walk, setting.certificate.then_some(&facts)),
            schedule: Schedule::new(setting.rate),
            setting,
        }
    }

    #[inline]
    fn part<X: Row<f64>>(&mut self, x: X, target: Target) -> Result<Round, (DomainError, f64)> {
        let rate = self.schedule.next(|| x.norm(Norm::L2));
        let round = self
            .strand
            .walk
            .step(x, target, &self.setting.loss, rate)
            .map_err(|cause| (cause, rate))?;
        self.schedule.saw(rate, round.length);
        if let Some(bound) = &mut self.strand.bound {
            bound.observe(&round, x);
        }
        Ok(round)
    }
}

impl<W: Walk> Step for Single<W> {
    #[inline]
    fn step<X: Row<f64>>(&mut self, x: X, target: Target) -> Result<Outcome, (DomainError, f64)> {
        if target.y.is_nan() {
            return Ok(Outcome::unlabelled(self.strand.walk.predict(x)));
        }
        let parts = self.setting.admit(x, target.weight).map_err(|cause| (cause, 0.0))?;
        let part = Target { weight: target.weight / parts, ..target };
        let first = self.part(x, part)?;
        let mut learned = 1.0;
        while learned < parts {
            self.part(x, part)?;
            learned += 1.0;
        }
        Ok(Outcome {
            prediction: first.z,
            probability: f64::NAN,
            loss: parts * first.loss,
            zero: target.weight * self.setting.loss.value(0.0, target.y),
        })
    }
}

impl<W: Walk> Learner for Single<W> {
    fn learn(
        &mut self,
        block: &Block,
        rows: Range<usize>,
        out: &mut Vec<Outcome>,
    ) -> Result<(), Diverged> {
        learn(self, self.setting.intercept, block, rows, out)
    }

    fn predict(&self, block: &Block, out: &mut Vec<f64>) {
        each_row!(block, 0..block.len(), self.setting.intercept, |i, x| {
            out.push(self.strand.walk.predict(x));
        });
    }

    fn outputs(&self) -> usize {
        1
    }

    fn weights(&self, _: usize, w: &mut Vec<f64>) {
        self.strand.walk.read(w);
    }

    fn certificate(&self) -> Option<Certificate> {
        combined(std::slice::from_ref(&self.strand), self.setting.reach)
    }

    fn reach(&self) -> Reach {
        self.setting.reach
    }

    fn save(&self, put: &mut dyn FnMut(String, &[f64])) {
        put("schedule".to_owned(), &self.schedule.save());
        self.strand.save("walk.0.", put);
    }

    fn load(&mut self, get: &mut dyn FnMut(&str) -> Option<Vec<f64>>) -> Result<(), ConfigError> {
        self.schedule = restored(self.schedule, get)?;
        self.strand.load("walk.0.", get)
    }
}

/// The schedule as it was saved.
fn restored(
    schedule: Schedule,
    get: &mut dyn FnMut(&str) -> Option<Vec<f64>>,
) -> Result<Schedule, ConfigError> {
    let saved = get("schedule").and_then(|saved| <[f64; 2]>::try_from(saved).ok());
    let missing = ConfigError::Missing { name: "schedule", meaning: "the state of the rate" };
    saved.map(|saved| schedule.load(saved)).ok_or(missing)
}

/// The linear loss y·z, whose slope is the label: carries a slope computed elsewhere into a step.
#[derive(Debug, Clone, Copy)]
struct Given;

impl Loss for Given {
    fn spec(&self) -> String {
        "given".to_owned()
    }

    #[inline]
    fn value(&self, z: f64, y: f64) -> f64 {
        y * z
    }

    #[inline]
    fn slope(&self, _: f64, y: f64) -> f64 {
        y
    }

    fn curvature(&self, _: f64, _: f64) -> f64 {
        0.0
    }

    fn minimizer(&self, y: f64) -> f64 {
        -f64::INFINITY.copysign(y)
    }

    fn facts(&self) -> Facts {
        Facts {
            labels: Allowed::Closed(-1.0, 1.0),
            predictions: Allowed::Finite,
            convex: true,
            lipschitz: Some(1.0),
            smooth: Some(0.0),
            strong: 0.0,
            margin: false,
        }
    }
}

/// One score per class. Classes are numbered 0, 1, …; a new one joins with a walk at its beginning.
#[derive(Debug)]
pub struct Several<W> {
    fresh: W,
    strands: Vec<Strand<W>>,
    setting: Setting,
    joint: bool,
    schedule: Schedule,
    /// What was lost, as reported: the strands of a joint softmax know only their slopes.
    loss: Sum,
    scores: Vec<f64>,
}

impl<W: Walk + Clone> Several<W> {
    /// A learner at its beginning, with no class yet. `joint`: one softmax; otherwise each class against the rest.
    pub fn new(walk: W, joint: bool, setting: Setting) -> Self {
        Self {
            fresh: walk,
            strands: Vec::new(),
            schedule: Schedule::new(setting.rate),
            setting,
            joint,
            loss: Sum::default(),
            scores: Vec::new(),
        }
    }

    fn grow(&mut self, classes: usize) {
        let facts = if self.joint { Given.facts() } else { self.setting.loss.facts() };
        while self.strands.len() < classes {
            let facts = self.setting.certificate.then_some(&facts);
            self.strands.push(Strand::new(self.fresh.clone(), facts));
        }
    }

    fn score<X: Row<f64>>(&mut self, x: X) {
        self.scores.clear();
        self.scores.extend(self.strands.iter().map(|strand| strand.walk.predict(x)));
    }

    /// Learns once that a row is of the last of so many classes.
    fn part<X: Row<f64>>(
        &mut self,
        x: X,
        target: Target,
        classes: usize,
    ) -> Result<Outcome, (DomainError, f64)> {
        let rate = self.schedule.next(|| x.norm(Norm::L2));
        self.score(x);
        let prediction = largest(&self.scores);
        softmax(&mut self.scores);
        let probability = self.scores[classes - 1];
        let mut loss = -target.weight * Real::ln(Real::max(probability, f64::MIN_POSITIVE));
        let (mut length, mut apart) = (0.0_f64, 0.0);
        for (class, strand) in self.strands.iter_mut().enumerate() {
            let own = class + 1 == classes;
            let round = if self.joint {
                let slope = self.scores[class] - if own { 1.0 } else { 0.0 };
                strand.walk.step(x, Target { y: slope, ..target }, &Given, rate)
            } else {
                let y = if own { 1.0 } else { -1.0 };
                strand.walk.step(x, Target { y, ..target }, &self.setting.loss, rate)
            };
            let round = round.map_err(|cause| (cause, rate))?;
            apart += round.loss;
            length = Real::hypot(length, round.length);
            if let Some(bound) = &mut strand.bound {
                bound.observe(&round, x);
            }
        }
        if !self.joint {
            loss = apart;
        }
        self.schedule.saw(rate, length);
        self.loss.add(loss);
        Ok(Outcome { prediction, probability, loss, zero: f64::NAN })
    }
}

/// The place of the largest score; of equal ones the first.
pub fn largest(scores: &[f64]) -> f64 {
    let mut best = 0;
    for (k, &score) in scores.iter().enumerate() {
        if score > scores[best] {
            best = k;
        }
    }
    best as f64
}

/// scores ← softmax(scores).
pub fn softmax(scores: &mut [f64]) {
    let top = scores.iter().copied().fold(f64::NEG_INFINITY, f64::max);
    let mut sum = 0.0;
    for score in scores.iter_mut() {
        *score = Real::exp(*score - top);
        sum += *score;
    }
    for score in scores.iter_mut() {
        *score /= sum;
    }
}

impl<W: Walk + Clone> Step for Several<W> {
    fn step<X: Row<f64>>(&mut self, x: X, target: Target) -> Result<Outcome, (DomainError, f64)> {
        if target.y.is_nan() {
            self.score(x);
            return Ok(Outcome::unlabelled(largest(&self.scores)));
        }
        let parts = self.setting.admit(x, target.weight).map_err(|cause| (cause, 0.0))?;
        #[allow(clippy::cast_possible_truncation, clippy::cast_sign_loss)] // a class number
        let classes = target.y as usize + 1;
        self.grow(classes);
        let part = Target { weight: target.weight / parts, ..target };
        let first = self.part(x, part, classes)?;
        let mut learned = 1.0;
        while learned < parts {
            self.part(x, part, classes)?;
            learned += 1.0;
        }
        let zero = if self.joint {
            Real::ln(self.strands.len() as f64)
        } else {
            let rest = (self.strands.len() - 1) as f64;
            self.setting.loss.value(0.0, 1.0) + rest * self.setting.loss.value(0.0, -1.0)
        };
        Ok(Outcome { loss: parts * first.loss, zero: target.weight * zero, ..first })
    }
}

impl<W: Walk + Clone> Learner for Several<W> {
    fn learn(
        &mut self,
        block: &Block,
        rows: Range<usize>,
        out: &mut Vec<Outcome>,
    ) -> Result<(), Diverged> {
        learn(self, self.setting.intercept, block, rows, out)
    }

    fn predict(&self, block: &Block, out: &mut Vec<f64>) {
        each_row!(block, 0..block.len(), self.setting.intercept, |i, x| {
            out.extend(self.strands.iter().map(|strand| strand.walk.predict(x)));
        });
    }

    fn outputs(&self) -> usize {
        self.strands.len()
    }

    fn weights(&self, k: usize, w: &mut Vec<f64>) {
        w.clear();
        if let Some(strand) = self.strands.get(k) {
            strand.walk.read(w);
        }
    }

    fn certificate(&self) -> Option<Certificate> {
        let certificate = combined(&self.strands, self.setting.reach)?;
        Some(Certificate { loss: self.loss.total(), ..certificate })
    }

    fn reach(&self) -> Reach {
        self.setting.reach
    }

    fn save(&self, put: &mut dyn FnMut(String, &[f64])) {
        put("schedule".to_owned(), &self.schedule.save());
        put("loss".to_owned(), &self.loss.save());
        put("classes".to_owned(), &[self.strands.len() as f64]);
        for (k, strand) in self.strands.iter().enumerate() {
            strand.save(&format!("walk.{k}."), put);
        }
    }

    fn load(&mut self, get: &mut dyn FnMut(&str) -> Option<Vec<f64>>) -> Result<(), ConfigError> {
        self.schedule = restored(self.schedule, get)?;
        let loss = get("loss").and_then(|loss| <[f64; 4]>::try_from(loss).ok());
        let missing = ConfigError::Missing { name: "loss", meaning: "what was lost so far" };
        self.loss = Sum::load(loss.ok_or(missing)?);
        let classes = get("classes").and_then(|classes| classes.first().copied());
        let Some(classes) = classes.filter(|&classes| Allowed::Closed(0.0, 1e6).contains(classes))
        else {
            return Err(ConfigError::Missing { name: "classes", meaning: "the number of classes" });
        };
        #[allow(clippy::cast_possible_truncation, clippy::cast_sign_loss)] // just checked
        self.grow(classes as usize);
        for (k, strand) in self.strands.iter_mut().enumerate() {
            strand.load(&format!("walk.{k}."), get)?;
        }
        Ok(())
    }
}
