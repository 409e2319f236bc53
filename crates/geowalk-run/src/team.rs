//! # A team of walks: `auto`
//! `auto`, or `auto(members="free; adagrad(rate=0.1); egu(signed=true)")`: several walks learn from the same
//! rows, and the prediction is their mixture. Which is best need not be known: the team loses at most a few
//! nats more than its best member ([`geowalk::team`]), and it says what each member lost.
//!
//! | task and loss | mixture |
//! |---|---|
//! | classes, logistic | Bayes mixture, shares, of two classes stacks; a mixture of those |
//! | numbers, squared | aggregating algorithm, and ridge regression on the members' predictions |
//! | one score, other convex losses | AdaHedge |
//!
//! **The walk of a model** names all members with all that was decided, so that a model file says how to go
//! on: normalised rows where they are usual, and the family of natural gradient.
//! **A member that cannot go on** stops there, with a note, and counts as one that knows nothing.
//! **Threads** Members learn whole blocks, one after the other or side by side: the bits are the same.

mod names;
mod result;

use std::ops::Range;

use geowalk::certify::{AdaHedge, Bound, Certificate, Comparator, Quantity, Status, Verdict};
use geowalk::error::Allowed;
use geowalk::geometry::Event;
use geowalk::loss::{AnyLoss, Loss, Squared};
use geowalk::row::{Block, Dense, Row};
use geowalk::spec::Spec;
use geowalk::sum::Sum;
use geowalk::team::{Aggregate, LogMixture, Scratch};
use geowalk::update::{Round, Target};
use geowalk::walk::{Vaw, Walk};
use geowalk::{ConfigError, DomainError, Real};
use geowalk_data::{Features, Schema, Task};

use crate::certificate::{Against, Report};
use crate::error::RunError;
use crate::hindsight::Domain;
use crate::learner::{Diverged, Learner, Outcome, Reach, largest, softmax};
use crate::metrics::Metrics;
use crate::model::{LearnerSettings, Model, Settings};
use crate::rate::Rate;
use crate::walks::{self, Built, Request};
pub(crate) use names::{is_usual, stated, with_argument};
use names::{read, usual, without_rate};
pub use result::{MemberResult, lines};

/// The name of the walk.
pub const NAME: &str = "auto";

/// Blocks of fewer rows are not worth a second thread.
const LONG: usize = 128;

/// Builds the team that a text names.
pub(crate) fn build(spec: &Spec, request: &Request) -> Result<Built, ConfigError> {
    if request.setting.rate != Rate::Auto {
        return Err(ConfigError::Missing {
            name: "a walk that has one rate",
            meaning: "auto chooses the rates of its members; give one to a member, as in auto(members=\"gd(rate=0.1)\")",
        });
    }
    if request.setting.average.is_some() {
        return Err(ConfigError::Missing {
            name: "a walk that can be averaged",
            meaning: "auto mixes predictions, and has no weights to average; name one walk",
        });
    }
    let loss = request.setting.loss.clone();
    let (texts, share) = read(spec)?;
    let none = Schema::from_parts(
        Features::Exact(geowalk_data::Dictionary::default()),
        geowalk_data::Labels::Numbers,
        Vec::new(),
    );
    let texts = texts.unwrap_or_else(|| usual(request.task, &loss, &none));
    let members = texts.into_iter().map(|text| {
        let (walk, rate) = without_rate(&text)?;
        if Spec::parse(&walk)?.name() == NAME {
            return Err(ConfigError::Missing {
                name: "members that are walks",
                meaning: "a team has no teams in it",
            });
        }
        let mut request = request.clone();
        if let Some(rate) = rate {
            request.setting.rate = Rate::parse(&rate)?;
        }
        request.comparator = None;
        let Built { learner, rate, .. } = walks::build(&walk, request)?;
        Ok(Member::new(text, rate, learner))
    });
    let members = members.collect::<Result<Vec<_>, ConfigError>>()?;
    let rule = Rule::new(request, members.len(), share.unwrap_or(0.01))?;
    let intercept = request.setting.intercept;
    let team = Team {
        task: request.task,
        loss: loss.clone(),
        intercept,
        threads: 1,
        members,
        rule,
        rows: 0,
        total: Sum::default(),
        scores: Vec::new(),
    };
    Ok(Built {
        learner: Box::new(team),
        joint: request.task == Task::Multiclass,
        loss,
        rate: "that of each member".to_owned(),
        tuned: false,
        rated: false,
    })
}

/// A walk of the team.
struct Member {
    /// As it is named.
    text: String,
    rate: String,
    learner: Box<dyn Learner>,
    /// The row that it could not learn from, counted from 1; 0 while it goes on.
    stopped: u64,
    /// What it lost.
    loss: Sum,
    outcomes: Vec<Outcome>,
    /// Of several classes: for each row how many probabilities, and those.
    probabilities: Vec<f64>,
    /// Where the row that is next begins in them.
    at: usize,
}

impl Member {
    fn new(text: String, rate: String, learner: Box<dyn Learner>) -> Self {
        let (outcomes, probabilities) = (Vec::new(), Vec::new());
        let loss = Sum::default();
        Self { text, rate, learner, stopped: 0, loss, outcomes, probabilities, at: 0 }
    }

    /// Learns from rows of a block of which `before` were learned from already.
    fn learn(&mut self, several: bool, block: &Block, rows: Range<usize>, before: u64) {
        self.outcomes.clear();
        self.probabilities.clear();
        self.at = 0;
        if self.stopped > 0 {
            return;
        }
        let Self { learner, outcomes, probabilities, .. } = self;
        let start = rows.start;
        let learned = if several {
            learner.learn_probabilities(block, rows, outcomes, probabilities)
        } else {
            learner.learn(block, rows, outcomes)
        };
        if let Err(diverged) = learned {
            self.stopped = before + (diverged.row - start) as u64 + 1;
        }
    }

    /// The probabilities of the next row.
    #[allow(clippy::cast_possible_truncation, clippy::cast_sign_loss)] // a count
    fn next(&mut self) -> &[f64] {
        let Some(&count) = self.probabilities.get(self.at) else { return &[] };
        let from = self.at + 1;
        self.at = from + count as usize;
        self.probabilities.get(from..self.at).unwrap_or_default()
    }
}

/// A member of a team, counted from 0, as a model by itself: it predicts, is shown, certified and goes on
/// learning. Its metrics begin with the next row.
pub fn member(model: &Model, k: usize) -> Result<Model, RunError> {
    let spec = Spec::parse(&model.settings.walk())?;
    let names = if spec.name() == NAME { read(&spec)?.0.unwrap_or_default() } else { Vec::new() };
    let Some(text) = names.get(k) else {
        let (name, value) = ("--member", k as f64 + 1.0);
        return Err(match names.len() {
            0 => ConfigError::Missing {
                name: "a team",
                meaning: "--member goes with models of the walk auto; this is another walk",
            },
            n => ConfigError::OutOfRange { name, value, allowed: Allowed::Closed(1.0, n as f64) },
        }
        .into());
    };
    let (walk, rate) = without_rate(text)?;
    let rate = rate.unwrap_or_else(|| "auto".to_owned());
    let learner = LearnerSettings::parse(&walk, &rate)?;
    let mut settings = Settings { learner, ..model.settings.clone() };
    settings.change("walk");
    (settings.stream.interval, settings.stream.delay) = (None, 0);
    let prefix = format!("member.{k}.");
    let part = |(name, values): &(String, Vec<f64>)| {
        Some((name.strip_prefix(&prefix)?.to_owned(), values.clone()))
    };
    let mut arrays: Vec<(String, Vec<f64>)> = model.arrays.iter().filter_map(part).collect();
    arrays.extend(Metrics::new(settings.task).save("metrics"));
    let summary = model.summary["members"][k].clone();
    let (schema, classes) = (model.schema.clone(), model.classes.clone());
    Ok(Model { settings, schema, classes, examples: model.examples, arrays, summary })
}

/// How predictions become one.
enum Rule {
    Classes(Box<LogMixture>),
    Squared(Box<Forecasts>),
    Convex(Box<Weighed>),
}

/// Numbers under the squared loss.
struct Forecasts {
    members: Aggregate,
    /// Ridge regression of what the mean of the members leaves.
    stack: Vaw,
    upper: Aggregate,
    /// How far predictions are from their mean.
    within: Vec<f64>,
}

/// Scores under other losses.
struct Weighed {
    hedge: AdaHedge,
    w: Vec<f64>,
}

impl Rule {
    fn new(request: &Request, members: usize, share: f64) -> Result<Self, ConfigError> {
        let loss = &request.setting.loss;
        Ok(match (request.task, loss) {
            (Task::Binary, AnyLoss::Logistic(_)) => {
                Self::Classes(Box::new(LogMixture::with_share(members, share)?))
            }
            (Task::Multiclass, AnyLoss::Logistic(_)) => {
                Self::Classes(Box::new(LogMixture::with_share(members, share)?.without_stacks()))
            }
            (Task::Multiclass, _) => {
                return Err(ConfigError::Missing {
                    name: "the logistic loss",
                    meaning: "a team of several classes mixes probabilities; leave --loss out, or name one walk",
                });
            }
            (Task::Regression, AnyLoss::Squared(_)) => Self::Squared(Box::new(Forecasts {
                members: Aggregate::new(members, request.y_range.filter(|(a, b)| a < b))?,
                stack: Vaw::new(Vaw::RIDGE, members)?,
                upper: Aggregate::new(2, request.y_range.filter(|(a, b)| a < b))?,
                within: Vec::new(),
            })),
            _ if !loss.facts().convex => {
                return Err(ConfigError::Missing {
                    name: "a convex loss",
                    meaning: "a mean of predictions is no better than they are under others; name one walk",
                });
            }
            _ => {
                let hedge = AdaHedge::linearised(members, &loss.facts())?;
                Self::Convex(Box::new(Weighed { hedge, w: vec![1.0 / members as f64; members] }))
            }
        })
    }
}

impl Forecasts {
    /// within ← how far each prediction, in the range of the labels so far, is from their mean; the mean. So a
    /// stack has units of how members differ, wherever the labels are.
    fn clip(&self, p: &[f64], within: &mut Vec<f64>) -> f64 {
        let (a, b) = self.members.range().unwrap_or((0.0, 0.0));
        within.clear();
        within.extend(p.iter().map(|p| if p.is_nan() { a } else { Real::clamp(*p, a, b) }));
        let mean = within.iter().sum::<f64>() / within.len() as f64;
        within.iter_mut().for_each(|p| *p -= mean);
        mean
    }

    fn answer(&self, p: &[f64], within: &mut Vec<f64>) -> f64 {
        let mean = self.clip(p, within);
        let stacked = mean + self.stack.predict(Dense(within));
        self.upper.answer(&[self.members.answer(p), stacked])
    }

    /// Predicts and learns; what was predicted.
    fn learn(&mut self, p: &[f64], y: f64, weight: f64) -> f64 {
        let mut within = std::mem::take(&mut self.within);
        let mean = self.clip(p, &mut within);
        let target = Target { y: y - mean, weight };
        // Labels beyond all numbers leave the stack what it was.
        let round = self.stack.step(Dense(&within), target, &Squared, 0.0);
        let stacked = mean + round.map_or(0.0, |round| round.z);
        let z = self.upper.predict(&[self.members.predict(p), stacked]);
        self.members.learn(y, weight);
        self.upper.learn(y, weight);
        self.within = within;
        z
    }
}

/// Several walks on the same rows.
struct Team {
    task: Task,
    loss: AnyLoss,
    intercept: bool,
    threads: usize,
    members: Vec<Member>,
    rule: Rule,
    /// Rows that were given to the members.
    rows: u64,
    /// What the team lost.
    total: Sum,
    /// What the members say of a row.
    scores: Vec<f64>,
}

/// The log-odds that a probability of the true class of two stands for.
fn odds(outcome: &Outcome, y: f64) -> f64 {
    if outcome.probability.is_nan() {
        return outcome.prediction;
    }
    let p = outcome.probability;
    let z = Real::ln(p) - Real::ln_1p(-p);
    if y > 0.0 { z } else { -z }
}

impl Team {
    /// The first row that no walk takes, and why.
    fn refused(&self, block: &Block, rows: Range<usize>) -> Option<(usize, DomainError)> {
        let shift = usize::from(self.intercept);
        let allowed = Allowed::Closed(-1e150, 1e150);
        for i in rows {
            let mut bad = None;
            let mut look = |j: usize, x: f64| {
                if x.is_nan() || x.abs() > 1e150 {
                    bad = Some((j, x));
                }
            };
            if block.columns().is_some() {
                block.dense(i).each(&mut look);
            } else {
                block.sparse(i).each(&mut look);
            }
            if let Some((j, value)) = bad {
                let (what, index) = ("the row", j + shift);
                return Some((i, DomainError::Coordinate { what, index, value, allowed }));
            }
            let weight = block.weights()[i];
            let weights = Allowed::Closed(0.0, crate::learner::Setting::HEAVIEST);
            if !weights.contains(weight) {
                let what = "the importance weight";
                return Some((i, DomainError::Scalar { what, value: weight, allowed: weights }));
            }
        }
        None
    }

    /// All members learn from the rows.
    fn members_learn(&mut self, block: &Block, rows: &Range<usize>) {
        let several = self.task == Task::Multiclass;
        let before = self.rows;
        if self.threads < 2 || rows.len() < LONG || self.members.len() < 2 {
            for member in &mut self.members {
                member.learn(several, block, rows.clone(), before);
            }
            return;
        }
        // Every second one, so that a dear neighbour does not wait for another.
        let mut sides: [Vec<&mut Member>; 2] = [Vec::new(), Vec::new()];
        for (k, member) in self.members.iter_mut().enumerate() {
            sides[k % 2].push(member);
        }
        let [mine, theirs] = sides;
        let work = |side: Vec<&mut Member>| {
            for member in side {
                member.learn(several, block, rows.clone(), before);
            }
        };
        std::thread::scope(|scope| {
            scope.spawn(|| work(theirs));
            work(mine);
        });
    }

    /// The team's outcome for a row that the members have learned from.
    fn combine(&mut self, r: usize, y: f64, weight: f64) -> Outcome {
        let Self { members, rule, loss, scores, task, total, .. } = self;
        scores.clear();
        match rule {
            Rule::Classes(mixture) if *task == Task::Binary => {
                for member in members.iter_mut() {
                    let outcome = member.outcomes.get(r);
                    scores.push(outcome.map_or(0.0, |outcome| odds(outcome, y)));
                    member.loss.add(outcome.map_or(weight * LN_2, |outcome| outcome.loss));
                }
                if y.is_nan() {
                    let z = mixture.score_two(scores, &mut Scratch::default());
                    return unlabelled(z);
                }
                let z = mixture.predict_two(scores);
                let lost = mixture.learn_two(y, weight);
                total.add(lost);
                Outcome { prediction: z, probability: f64::NAN, loss: lost, zero: weight * LN_2 }
            }
            Rule::Classes(mixture) => {
                #[allow(clippy::cast_possible_truncation, clippy::cast_sign_loss)] // a class number
                let class = y as usize;
                let parts: Vec<Vec<f64>> =
                    members.iter_mut().map(|member| member.next().to_vec()).collect();
                let classes = parts.iter().map(Vec::len).max().unwrap_or(0).max(class + 1);
                for (member, part) in members.iter_mut().zip(&parts) {
                    scores.extend_from_slice(part);
                    scores.resize(scores.len() + classes - part.len(), 0.0);
                    let alike = weight * Real::ln(classes as f64);
                    member.loss.add(member.outcomes.get(r).map_or(alike, |outcome| outcome.loss));
                }
                let answer = mixture.predict_several(classes, scores);
                let (prediction, probability) = (largest(answer), answer[class]);
                let lost = mixture.learn_several(class, weight);
                total.add(lost);
                let zero = weight * Real::ln(classes as f64);
                Outcome { prediction, probability, loss: lost, zero }
            }
            Rule::Squared(_) | Rule::Convex(_) => {
                predicted(members, r, scores);
                if y.is_nan() {
                    return unlabelled(rule.answer(scores));
                }
                for (member, z) in members.iter_mut().zip(scores.iter()) {
                    member.loss.add(weight * loss.value(*z, y));
                }
                let z = rule.learn(loss, scores, y, weight);
                let lost = weight * loss.value(z, y);
                total.add(lost);
                let zero = weight * loss.value(0.0, y);
                Outcome { prediction: z, probability: f64::NAN, loss: lost, zero }
            }
        }
    }

    /// The member that lost least.
    fn leader(&self) -> usize {
        let less =
            |i: usize, best: usize| self.members[i].loss.less(&self.members[best].loss) < 0.0;
        (1..self.members.len()).fold(0, |best, i| if less(i, best) { i } else { best })
    }

    /// The certificate of a member, as one of the team.
    fn raised(&self, k: usize, against: &Against<'_>, loss: Option<f64>) -> Option<Report> {
        let member = self.members.get(k).filter(|member| member.stopped == 0)?;
        let mut report = member.learner.report(against, loss)?;
        report.theorems.retain(|verdict| verdict.quantity == Quantity::Regret);
        let total = self.total.total();
        // What the team lost beyond the member, each sum rounded once more than its terms.
        let beyond = self.total.less(&member.loss)
            + 4.0 * f64::EPSILON * (self.total.magnitude() + member.loss.magnitude());
        let raise = |certificate: &mut Certificate| {
            let beyond = beyond + (member.loss.total() - certificate.loss);
            certificate.bound = (certificate.bound + beyond).next_up();
            certificate.loss = total;
        };
        raise(&mut report.first_order);
        report.theorems.iter_mut().for_each(|Verdict { certificate, .. }| raise(certificate));
        if !matches!(against, Against::Given(_)) {
            report.comparators = format!("{} (member '{}')", report.comparators, member.text);
        }
        if report.theorems.is_empty() {
            report.reason =
                "the first-order bound is that of the member and the overhead of the team";
        }
        Some(report)
    }
}

/// What members say of a row; a member that stopped says what the others say on average.
fn predicted(members: &[Member], r: usize, scores: &mut Vec<f64>) {
    let (mut sum, mut count) = (0.0, 0.0);
    for outcome in members.iter().filter_map(|member| member.outcomes.get(r)) {
        sum += outcome.prediction;
        count += 1.0;
    }
    let mean = if count > 0.0 { sum / count } else { 0.0 };
    let of = |member: &Member| member.outcomes.get(r).map_or(mean, |outcome| outcome.prediction);
    scores.extend(members.iter().map(of));
}

impl Rule {
    /// What a team of numbers or scores says.
    fn answer(&self, p: &[f64]) -> f64 {
        match self {
            Self::Classes(_) => f64::NAN,
            Self::Squared(forecasts) => forecasts.answer(p, &mut Vec::new()),
            Self::Convex(weighed) => weighed.w.iter().zip(p).map(|(w, p)| w * p).sum(),
        }
    }

    /// Predicts and learns; what was predicted.
    fn learn(&mut self, loss: &AnyLoss, p: &[f64], y: f64, weight: f64) -> f64 {
        match self {
            Self::Classes(_) => f64::NAN,
            Self::Squared(forecasts) => forecasts.learn(p, y, weight),
            Self::Convex(weighed) => {
                let z: f64 = weighed.w.iter().zip(p).map(|(w, p)| w * p).sum();
                let losses: Vec<f64> = p.iter().map(|p| weight * loss.value(*p, y)).collect();
                let mean: f64 = weighed.w.iter().zip(&losses).map(|(w, l)| w * l).sum();
                // The loss of a mean is at most the mean of the losses, but for rounding.
                let lost = Real::min(weight * loss.value(z, y), mean);
                let (rate, length, event) = (weighed.hedge.rate(), 0.0, Event::Inside);
                let round = Round { z: mean, loss: lost, slope: 1.0, rate, length, event };
                weighed.hedge.observe(&round, Dense(&losses));
                weighed.hedge.weights(&mut weighed.w);
                z
            }
        }
    }
}

const LN_2: f64 = std::f64::consts::LN_2;

fn unlabelled(prediction: f64) -> Outcome {
    Outcome { prediction, probability: f64::NAN, loss: f64::NAN, zero: f64::NAN }
}

impl Learner for Team {
    fn learn(
        &mut self,
        block: &Block,
        rows: Range<usize>,
        out: &mut Vec<Outcome>,
    ) -> Result<(), Diverged> {
        let refused = self.refused(block, rows.clone());
        let rows = rows.start..refused.as_ref().map_or(rows.end, |(row, _)| *row);
        self.members_learn(block, &rows);
        for (r, i) in rows.clone().enumerate() {
            let (y, weight) = (block.labels()[i], block.weights()[i]);
            if y.is_nan() && self.task == Task::Multiclass {
                self.members.iter_mut().for_each(|member| _ = member.next());
                let mut one = Block::new();
                one.append(block, i..i + 1);
                let mut scores = Vec::new();
                self.predict(&one, &mut scores);
                out.push(unlabelled(largest(&scores)));
                continue;
            }
            let outcome = self.combine(r, y, weight);
            out.push(outcome);
        }
        self.rows += rows.len() as u64;
        match refused {
            None => Ok(()),
            Some((row, cause)) => Err(Diverged { row, cause, rate: 0.0 }),
        }
    }

    fn examine(&mut self, block: &Block, rows: Range<usize>, out: &mut Vec<Outcome>) {
        let mut some = Block::new();
        some.append(block, rows.clone());
        let mut scores = Vec::new();
        self.predict(&some, &mut scores);
        let outputs = self.outputs().max(1);
        for (scores, i) in scores.chunks_exact_mut(outputs).zip(rows) {
            let (y, weight) = (block.labels()[i], block.weights()[i]);
            if self.task != Task::Multiclass {
                let (prediction, probability) = (scores[0], f64::NAN);
                let loss = weight * self.loss.value(prediction, y);
                let zero = weight * self.loss.value(0.0, y);
                out.push(Outcome { prediction, probability, loss, zero });
                continue;
            }
            let prediction = largest(scores);
            softmax(scores);
            #[allow(clippy::cast_possible_truncation, clippy::cast_sign_loss)] // a class number
            let class = y as usize;
            let probability = scores.get(class).copied().unwrap_or(0.0);
            let loss = -weight * Real::ln(Real::max(probability, f64::MIN_POSITIVE));
            let classes = scores.len().max(class + 1) as f64;
            out.push(Outcome { prediction, probability, loss, zero: weight * Real::ln(classes) });
        }
    }

    fn predict(&self, block: &Block, out: &mut Vec<f64>) {
        let outputs = self.outputs().max(1);
        let each: Vec<(usize, Vec<f64>)> = self
            .members
            .iter()
            .map(|member| {
                let mut scores = Vec::new();
                if member.stopped == 0 {
                    member.learner.predict(block, &mut scores);
                }
                (member.learner.outputs().max(1), scores)
            })
            .collect();
        let (mut row, mut scratch, mut part) = (Vec::new(), Scratch::default(), Vec::new());
        for i in 0..block.len() {
            row.clear();
            if let (Rule::Classes(mixture), Task::Multiclass) = (&self.rule, self.task) {
                for (count, scores) in &each {
                    part.clear();
                    part.extend_from_slice(
                        scores.get(i * count..(i + 1) * count).unwrap_or_default(),
                    );
                    softmax(&mut part);
                    part.resize(outputs, 0.0);
                    row.extend_from_slice(&part);
                }
                let from = out.len();
                mixture.probabilities(outputs, &row, &mut scratch, out);
                out[from..].iter_mut().for_each(|p| *p = Real::ln(*p));
                continue;
            }
            let known: Vec<f64> =
                each.iter().filter_map(|(_, scores)| scores.get(i).copied()).collect();
            let mean = known.iter().sum::<f64>() / (known.len().max(1)) as f64;
            let absent = if matches!(self.rule, Rule::Classes(_)) { 0.0 } else { mean };
            row.extend(each.iter().map(|(_, scores)| scores.get(i).copied().unwrap_or(absent)));
            out.push(match &self.rule {
                Rule::Classes(mixture) => mixture.score_two(&row, &mut scratch),
                rule => rule.answer(&row),
            });
        }
    }

    fn is_linear(&self) -> bool {
        false
    }

    fn outputs(&self) -> usize {
        let most = self.members.iter().map(|member| member.learner.outputs()).max();
        if self.task == Task::Multiclass { most.unwrap_or(0) } else { 1 }
    }

    /// Those of the member that lost least.
    fn weights(&self, k: usize, w: &mut Vec<f64>) {
        w.clear();
        if let Some(member) = self.members.get(self.leader()) {
            member.learner.weights(k, w);
        }
    }

    fn report(&self, against: &Against<'_>, loss: Option<f64>) -> Option<Report> {
        if matches!(against, Against::Given(_)) {
            let all = (0..self.members.len()).filter_map(|k| self.raised(k, against, loss));
            let bound = |report: &Report| {
                let best = report.best();
                if best.status == Status::Valid { best.bound } else { f64::INFINITY }
            };
            return all.min_by(|a, b| bound(a).total_cmp(&bound(b)));
        }
        let mut order: Vec<usize> = (0..self.members.len()).collect();
        order.sort_by(|&a, &b| {
            let apart = self.members[a].loss.less(&self.members[b].loss);
            apart.total_cmp(&0.0).then(a.cmp(&b))
        });
        order.into_iter().find_map(|k| self.raised(k, against, loss))
    }

    fn domain(&self) -> Domain {
        Domain::Space
    }

    fn reach(&self) -> Reach {
        self.members.get(self.leader()).map_or(Reach::Box, |member| member.learner.reach())
    }

    fn rate(&self) -> f64 {
        f64::NAN
    }

    fn members(&self) -> Vec<MemberResult> {
        let convex = |weighed: &Weighed, k: usize, loss: f64| {
            let mut u = vec![0.0; self.members.len()];
            u[k] = 1.0;
            let bound = weighed.hedge.certify(&Comparator::Given(&u)).bound;
            (weighed.w[k], self.total.total() - loss, bound)
        };
        let each = self.members.iter().enumerate().map(|(k, member)| {
            let lost = member.loss.total();
            let beyond = self.total.less(&member.loss);
            let (weight, overhead, bound) = match &self.rule {
                Rule::Classes(mixture) => {
                    let found = mixture.against(k);
                    // Losses of members are those before the floor of the mixture.
                    (mixture.weights()[k], beyond, found.bound + (found.member_loss - lost))
                }
                Rule::Squared(forecasts) => {
                    let found = forecasts.members.against(k);
                    let upper = forecasts.upper.against(0);
                    (forecasts.members.weights()[k], beyond, found.bound + upper.bound)
                }
                Rule::Convex(weighed) => convex(weighed, k, lost),
            };
            MemberResult {
                walk: member.text.clone(),
                rate: member.rate.clone(),
                loss: lost,
                weight,
                overhead,
                bound,
                stopped: (member.stopped > 0).then_some(member.stopped),
            }
        });
        each.collect()
    }

    fn member(&self, k: usize) -> Option<&dyn Learner> {
        self.members.get(k).map(|member| member.learner.as_ref())
    }

    fn use_threads(&mut self, threads: usize) {
        self.threads = threads;
    }

    fn notes(&self) -> Vec<String> {
        let stopped = self.members.iter().filter(|member| member.stopped > 0).map(|member| {
            format!(
                "the member '{}' stopped at row {}: it could not be learned from; the others go on",
                member.text, member.stopped
            )
        });
        stopped.collect()
    }

    fn save(&self, put: &mut dyn FnMut(String, &[f64])) {
        for (k, member) in self.members.iter().enumerate() {
            member.learner.save(&mut |name, values| put(format!("member.{k}.{name}"), values));
        }
        let stopped: Vec<f64> = self.members.iter().map(|member| member.stopped as f64).collect();
        put("members.stopped".to_owned(), &stopped);
        let losses: Vec<f64> = self.members.iter().flat_map(|member| member.loss.save()).collect();
        put("members.losses".to_owned(), &losses);
        put("members.total".to_owned(), &self.total.save());
        put("members.rows".to_owned(), &[self.rows as f64]);
        match &self.rule {
            Rule::Classes(mixture) => {
                mixture.save(&mut |name, values| put(format!("team.{name}"), values));
            }
            Rule::Squared(forecasts) => {
                let Forecasts { members, stack, upper, .. } = forecasts.as_ref();
                members.save(&mut |name, values| put(format!("team.members.{name}"), values));
                stack.save(&mut |name, values| put(format!("team.stack.{name}"), values));
                upper.save(&mut |name, values| put(format!("team.upper.{name}"), values));
            }
            Rule::Convex(weighed) => {
                weighed.hedge.save(&mut |name, values| put(format!("team.{name}"), values));
            }
        }
    }

    #[allow(clippy::cast_possible_truncation, clippy::cast_sign_loss)] // counts
    fn load(&mut self, get: &mut dyn FnMut(&str) -> Option<Vec<f64>>) -> Result<(), ConfigError> {
        let missing = ConfigError::Missing { name: "team", meaning: "the state of a team" };
        let count = self.members.len();
        let of = |values: Option<Vec<f64>>, n: usize| values.filter(|values| values.len() == n);
        let stopped = of(get("members.stopped"), count).ok_or(missing.clone())?;
        let losses = of(get("members.losses"), 4 * count).ok_or(missing.clone())?;
        let (losses, _) = losses.as_chunks::<4>();
        let total = get("members.total").and_then(|total| <[f64; 4]>::try_from(total).ok());
        let rows = of(get("members.rows"), 1).ok_or(missing.clone())?;
        (self.total, self.rows) = (Sum::load(total.ok_or(missing)?), rows[0] as u64);
        for (k, member) in self.members.iter_mut().enumerate() {
            member.learner.load(&mut |name| get(&format!("member.{k}.{name}")))?;
            member.stopped = stopped[k] as u64;
            member.loss = Sum::load(losses[k]);
        }
        match &mut self.rule {
            Rule::Classes(mixture) => mixture.load(&mut |name| get(&format!("team.{name}"))),
            Rule::Squared(forecasts) => {
                let Forecasts { members, stack, upper, .. } = forecasts.as_mut();
                members.load(&mut |name| get(&format!("team.members.{name}")))?;
                stack.load(&mut |name| get(&format!("team.stack.{name}")))?;
                upper.load(&mut |name| get(&format!("team.upper.{name}")))
            }
            Rule::Convex(weighed) => {
                weighed.hedge.load(&mut |name| get(&format!("team.{name}")))?;
                weighed.hedge.weights(&mut weighed.w);
                Ok(())
            }
        }
    }
}
