//! # One score per class
//! A walk per class: one joint softmax, or each class against the rest.

use std::ops::Range;

use geowalk::certify::Quantity;
use geowalk::error::Allowed;
use geowalk::loss::{Facts, Loss};
use geowalk::row::{Block, Row};
use geowalk::sum::Sum;
use geowalk::update::Target;
use geowalk::walk::Walk;
use geowalk::{ConfigError, DomainError, Real};

use super::{Average, Diverged, Intercepted, Learner, Outcome, Reach, Setting, Step, Strand};
use super::{combined, each_row, keep, learn, restored};
use crate::certificate::{Against, Report};
use crate::hindsight::Domain;
use crate::rate::{Look, Schedule};

/// The linear loss y·z, whose slope is the label: carries a slope computed elsewhere into a step.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Given;

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

/// What is true of −ln softmax as a function of the scores, in each of them and in all of them together.
const SOFTMAX: Facts = Facts {
    labels: Allowed::Closed(0.0, f64::MAX),
    predictions: Allowed::Finite,
    convex: true,
    lipschitz: Some(1.0),
    smooth: Some(0.5),
    strong: 0.0,
    margin: true,
};

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
    /// The probabilities of the last row before it was learned from, if they are wanted.
    before: Option<Vec<f64>>,
}

impl<W: Walk + Clone> Several<W> {
    /// A learner at its beginning, with no class yet. `joint`: one softmax; otherwise each class against the rest.
    pub fn new(walk: W, joint: bool, setting: Setting) -> Self {
        let facts = if joint { SOFTMAX } else { setting.loss.facts() };
        Self {
            fresh: walk,
            strands: Vec::new(),
            schedule: Schedule::new(setting.rate, &facts),
            setting,
            joint,
            loss: Sum::default(),
            scores: Vec::new(),
            before: None,
        }
    }

    fn grow(&mut self, classes: usize) {
        let facts = if self.joint { Given.facts() } else { self.setting.loss.facts() };
        while self.strands.len() < classes {
            let mut strand = Strand::new(self.fresh.clone(), &self.setting, &facts);
            let first = self.strands.first().and_then(|first| first.average.as_ref());
            strand.average = first.map(Average::joining).or(strand.average);
            self.strands.push(strand);
        }
    }

    fn score<X: Row<f64>>(&mut self, x: X) {
        self.scores.clear();
        self.scores.extend(self.strands.iter().map(|strand| strand.walk.predict(x)));
    }

    /// The loss of scores that are all 0.
    fn zero(&self) -> f64 {
        if self.joint {
            Real::ln(self.strands.len() as f64)
        } else {
            let rest = (self.strands.len() - 1) as f64;
            self.setting.loss.value(0.0, 1.0) + rest * self.setting.loss.value(0.0, -1.0)
        }
    }

    /// What the weights that the model predicts with say of a row of the last of so many classes.
    fn examined<X: Row<f64>>(&mut self, x: X, weight: f64, classes: usize) -> Outcome {
        self.scores.clear();
        self.scores.extend(self.strands.iter().map(|strand| strand.score(x)));
        let prediction = largest(&self.scores);
        let each = self.scores.iter().enumerate();
        let apart = each.map(|(class, &z)| {
            self.setting.loss.value(z, if class + 1 == classes { 1.0 } else { -1.0 })
        });
        let apart: f64 = apart.sum();
        softmax(&mut self.scores);
        let probability = self.scores[classes - 1];
        let joint = -Real::ln(Real::max(probability, f64::MIN_POSITIVE));
        let loss = weight * if self.joint { joint } else { apart };
        Outcome { prediction, probability, loss, zero: weight * self.zero() }
    }

    /// Learns once that a row is of the last of so many classes.
    fn part<X: Row<f64>>(
        &mut self,
        x: X,
        target: Target,
        classes: usize,
    ) -> Result<Outcome, (DomainError, f64)> {
        if self.schedule.pace().is_some() {
            self.keep_pace(x, target, classes);
        }
        self.score(x);
        let prediction = largest(&self.scores);
        let (apart, loss) = (!self.joint, &self.setting.loss);
        // What a self-tuned rate looks at; the slope of a softmax follows from the probability.
        let own = |class: usize| if class + 1 == classes { 1.0 } else { -1.0 };
        let (mut steepest, mut farthest) = (0.0, 0.0);
        if self.schedule.is_tuned() {
            for (class, &z) in self.scores.iter().enumerate() {
                steepest = Real::max(steepest, loss.slope(z, own(class)).abs());
                farthest = Real::max(farthest, z.abs());
            }
        }
        softmax(&mut self.scores);
        let probability = self.scores[classes - 1];
        let strands = &mut self.strands;
        let rate = self.schedule.next(|| {
            let gauges = strands.iter_mut().map(|strand| {
                strand.walk.grow(x.bound());
                strand.walk.gauge(x)
            });
            let slope = if apart { steepest } else { 1.0 - probability };
            Look::largest(slope, farthest, target.weight, gauges)
        });
        let mut loss = -target.weight * Real::ln(Real::max(probability, f64::MIN_POSITIVE));
        let mut apart = 0.0;
        for (class, strand) in self.strands.iter_mut().enumerate() {
            let round = if self.joint {
                let slope = self.scores[class] - if class + 1 == classes { 1.0 } else { 0.0 };
                strand.walk.step(x, Target { y: slope, ..target }, &Given, rate)
            } else {
                let y = own(class);
                strand.walk.step(x, Target { y, ..target }, &self.setting.loss, rate)
            };
            let round = round.map_err(|cause| (cause, rate))?;
            apart += round.loss;
            strand.observe(&round, x);
        }
        if self.joint {
            self.agree();
        } else {
            loss = apart;
        }
        self.loss.add(loss);
        Ok(Outcome { prediction, probability, loss, zero: f64::NAN })
    }

    /// Begins a new epoch of a doubling scheme if it is time: for all classes together, whose slopes add up.
    #[inline(never)]
    fn keep_pace<X: Row<f64>>(&mut self, x: X, target: Target, classes: usize) {
        let features = self.strands.iter().map(|strand| strand.walk.features()).max();
        let Some(pace) = self.schedule.pace() else { return };
        let mut new = pace.look(x, features.unwrap_or(0), target.weight);
        let norm = pace.scheme.norm();
        if pace.feels() {
            self.score(x);
            if self.joint {
                softmax(&mut self.scores);
            }
            let slopes = self.scores.iter().enumerate().map(|(class, &score)| {
                let own = class + 1 == classes;
                let slope = match (self.joint, own) {
                    (true, _) => score - if own { 1.0 } else { 0.0 },
                    (false, _) => self.setting.loss.slope(score, if own { 1.0 } else { -1.0 }),
                };
                target.weight * slope
            });
            let squares = slopes.map(|slope| slope * slope).sum();
            new = self.schedule.pace().is_some_and(|pace| pace.feel(squares, 1.0));
        }
        if new {
            self.strands.iter_mut().for_each(|strand| strand.turn(norm));
        }
    }
}

impl<W: Walk> Several<W> {
    /// What the walks of one softmax share makes one step, that of all classes.
    fn agree(&mut self) {
        let pull = self.strands.iter().map(|strand| strand.walk.pull()).sum();
        if let Some((first, others)) = self.strands.split_first_mut() {
            first.walk.follow(pull);
            for other in others {
                other.walk.share(&first.walk);
            }
        }
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
        for strand in &mut self.strands {
            strand.remember(x, target.weight);
        }
        let first = self.part(x, part, classes)?;
        if let Some(before) = &mut self.before {
            before.clone_from(&self.scores);
        }
        let mut learned = 1.0;
        while learned < parts {
            self.part(x, part, classes)?;
            learned += 1.0;
        }
        let zero = target.weight * self.zero();
        Ok(Outcome { loss: parts * first.loss, zero, ..first })
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

    fn learn_probabilities(
        &mut self,
        block: &Block,
        rows: Range<usize>,
        out: &mut Vec<Outcome>,
        probabilities: &mut Vec<f64>,
    ) -> Result<(), Diverged> {
        self.before = Some(Vec::new());
        let mut learned = Ok(());
        for i in rows {
            learned = learn(self, self.setting.intercept, block, i..i + 1, out);
            if learned.is_err() {
                break;
            }
            let before = self.before.as_deref().filter(|_| !block.labels()[i].is_nan());
            let before = before.unwrap_or_default();
            probabilities.push(before.len() as f64);
            probabilities.extend_from_slice(before);
        }
        self.before = None;
        learned
    }

    fn examine(&mut self, block: &Block, rows: Range<usize>, out: &mut Vec<Outcome>) {
        each_row!(block, rows, self.setting.intercept, |i, x| {
            #[allow(clippy::cast_possible_truncation, clippy::cast_sign_loss)] // a class number
            let classes = block.labels()[i] as usize + 1;
            self.grow(classes);
            out.push(self.examined(x, block.weights()[i], classes));
        });
    }

    fn predict(&self, block: &Block, out: &mut Vec<f64>) {
        each_row!(block, 0..block.len(), self.setting.intercept, |i, x| {
            out.extend(self.strands.iter().map(|strand| strand.score(x)));
        });
    }

    fn outputs(&self) -> usize {
        self.strands.len()
    }

    fn weights(&self, k: usize, w: &mut Vec<f64>) {
        w.clear();
        if let Some(strand) = self.strands.get(k) {
            strand.read(w);
        }
    }

    fn report(&self, against: &Against<'_>, loss: Option<f64>) -> Option<Report> {
        let mut report = combined(&self.strands, &self.setting, against, loss)?;
        // The strands of a joint softmax know only their slopes.
        let own = self.loss.total();
        report.first_order.loss = own;
        for verdict in report.theorems.iter_mut().filter(|v| v.quantity == Quantity::Regret) {
            verdict.certificate.loss = own;
        }
        Some(report)
    }

    fn domain(&self) -> Domain {
        self.setting.domain
    }

    fn gamma(&self, k: usize) -> Option<Vec<f64>> {
        self.strands.get(k)?.gamma()
    }

    fn reach(&self) -> Reach {
        self.setting.reach
    }

    fn rate(&self) -> f64 {
        self.schedule.last()
    }

    fn save(&self, put: &mut dyn FnMut(String, &[f64])) {
        keep(&self.schedule, put);
        put("loss".to_owned(), &self.loss.save());
        put("classes".to_owned(), &[self.strands.len() as f64]);
        for (k, strand) in self.strands.iter().enumerate() {
            strand.save(&format!("walk.{k}."), put);
        }
    }

    fn load(&mut self, get: &mut dyn FnMut(&str) -> Option<Vec<f64>>) -> Result<(), ConfigError> {
        self.schedule = restored(&self.schedule, get)?;
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
