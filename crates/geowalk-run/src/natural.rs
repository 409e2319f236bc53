//! # Natural gradient as a learner
//! [`Natural`] and the [`Baseline`]s it is compared with, over blocks of examples: two classes or several, with the first-order certificate where the log-odds
//! are linear in the features, and notes at the end of a run (separable classes, empty cells, how often the cap held, how often the guard made it begin again).

mod auto;
mod convergence;
mod slopes;
mod text;

use std::ops::Range;

use geowalk::certify::{Certificate, Comparator};
use geowalk::natural::{Baseline, Moved, Natural, Report, Scratch};
use geowalk::row::{Block, Row};
use geowalk::sum::Sum;
use geowalk::{ConfigError, DomainError, Real};
use geowalk_data::Task;
use serde_json::Value;

use convergence::Convergence;
use slopes::Slopes;

pub(crate) use auto::choose;
pub(crate) use text::build;

use crate::certificate::{self, Against};
use crate::label::make_room;
use crate::learner::{Diverged, Learner, Outcome, Reach, largest, softmax};

/// One of the walks.
#[derive(Debug, Clone)]
enum Walk {
    Dual(Box<Natural>),
    Other(Box<Baseline>),
}

/// Calls the same method of either.
macro_rules! either {
    ($walk:expr, $own:ident => $body:expr) => {
        match $walk {
            Walk::Dual($own) => $body,
            Walk::Other($own) => $body,
        }
    };
}

/// Natural gradient, or a baseline, over blocks.
#[derive(Debug)]
pub(crate) struct NaturalLearner {
    walk: Walk,
    task: Task,
    /// The first-order sums of every class (of two: of their log-odds), if they are kept.
    bounds: Option<Slopes>,
    /// What was lost, as reported.
    loss: Sum,
    /// Steps, and how many of them the cap made smaller or, of a baseline, were not made.
    steps: [u64; 2],
    scores: Vec<f64>,
}

impl NaturalLearner {
    fn new(walk: Walk, task: Task, certificate: bool) -> Result<Self, DomainError> {
        let mut walk = walk;
        if task == Task::Binary {
            either!(&mut walk, own => own.grow(0, 2))?;
        }
        let (bounds, loss) = (certificate.then(Slopes::default), Sum::default());
        Ok(Self { walk, task, bounds, loss, steps: [0; 2], scores: Vec::new() })
    }

    fn step<X: Row<f64>>(&mut self, x: X, y: f64, weight: f64) -> Result<Outcome, DomainError> {
        if y.is_nan() {
            let mut scratch = Scratch::default();
            either!(&self.walk, own => own.logits(x, &mut scratch, &mut self.scores));
            let prediction = self.prediction();
            return Ok(Outcome {
                prediction,
                probability: f64::NAN,
                loss: f64::NAN,
                zero: f64::NAN,
            });
        }
        let class = self.class(y);
        let moved: Moved = either!(&mut self.walk, own => own.step(x, class, weight))?;
        self.steps[0] += 1;
        self.steps[1] += u64::from(match self.walk {
            Walk::Dual(_) => moved.capped,
            Walk::Other(_) => moved.rate == 0.0 && weight > 0.0,
        });
        self.loss.add(moved.loss);
        let prediction = match (self.task, either!(&self.walk, own => own.predicted())) {
            (Task::Binary, [first, second]) => second - first,
            _ => moved.prediction as f64,
        };
        if self.bounds.is_some() {
            self.certify(x, weight);
        }
        let classes = either!(&self.walk, own => own.classes());
        Ok(Outcome {
            prediction,
            probability: moved.probability,
            loss: moved.loss,
            zero: weight * Real::ln(classes as f64),
        })
    }

    /// The class of a label.
    #[allow(clippy::cast_possible_truncation, clippy::cast_sign_loss)] // a class number
    fn class(&self, y: f64) -> usize {
        if self.task == Task::Binary { usize::from(y > 0.0) } else { y as usize }
    }

    /// The score of two classes, or the class with the largest of several.
    fn prediction(&self) -> f64 {
        match (self.task, self.scores.as_slice()) {
            (Task::Binary, [first, second]) => second - first,
            (_, scores) => largest(scores),
        }
    }

    /// Adds the example to the sums of the certificate.
    fn certify<X: Row<f64>>(&mut self, x: X, weight: f64) {
        let Some(bounds) = &mut self.bounds else { return };
        let (z, residuals) = either!(&self.walk, own => (own.predicted(), own.residuals()));
        if self.task == Task::Binary {
            bounds.observe(x, &[z[1] - z[0]], &[weight * residuals[1]]);
        } else {
            self.scores.clear();
            self.scores.extend(residuals.iter().map(|slope| weight * slope));
            bounds.observe(x, z, &self.scores);
        }
    }
}

/// Calls `$body` with each row of the block as its own type.
macro_rules! each_row {
    ($block:expr, $rows:expr, |$i:ident, $x:ident| $body:expr) => {
        if $block.columns().is_some() {
            for $i in $rows {
                let $x = $block.dense($i);
                $body
            }
        } else {
            for $i in $rows {
                let $x = $block.sparse($i);
                $body
            }
        }
    };
}

impl Learner for NaturalLearner {
    fn learn(
        &mut self,
        block: &Block,
        rows: Range<usize>,
        out: &mut Vec<Outcome>,
    ) -> Result<(), Diverged> {
        each_row!(block, rows, |i, x| {
            match self.step(x, block.labels()[i], block.weights()[i]) {
                Ok(outcome) => out.push(outcome),
                Err(cause) => {
                    // Coordinate 0 is the intercept's in what learners say of rows.
                    let cause = match cause {
                        DomainError::Coordinate { what, index, value, allowed } => {
                            DomainError::Coordinate { what, index: index + 1, value, allowed }
                        }
                        other => other,
                    };
                    return Err(Diverged { row: i, cause, rate: 1.0 });
                }
            }
        });
        Ok(())
    }

    fn learn_probabilities(
        &mut self,
        block: &Block,
        rows: Range<usize>,
        out: &mut Vec<Outcome>,
        probabilities: &mut Vec<f64>,
    ) -> Result<(), Diverged> {
        let (mut scratch, mut before) = (Scratch::default(), Vec::new());
        for i in rows {
            let y = block.labels()[i];
            before.clear();
            if !y.is_nan() {
                if block.columns().is_some() {
                    either!(&self.walk, own => own.logits(block.dense(i), &mut scratch, &mut before));
                } else {
                    either!(&self.walk, own => own.logits(block.sparse(i), &mut scratch, &mut before));
                }
                softmax(&mut before);
            }
            self.learn(block, i..i + 1, out)?;
            // A class that comes for the first time has the probability that learning found for it.
            if let Some(outcome) =
                out.last().filter(|_| !y.is_nan() && self.class(y) >= before.len())
            {
                for p in &mut before {
                    *p *= 1.0 - outcome.probability;
                }
                before.resize(self.class(y) + 1, 0.0);
                let class = self.class(y);
                before[class] = outcome.probability;
            }
            probabilities.push(before.len() as f64);
            probabilities.extend_from_slice(&before);
        }
        Ok(())
    }

    fn examine(&mut self, block: &Block, rows: Range<usize>, out: &mut Vec<Outcome>) {
        let mut scratch = Scratch::default();
        each_row!(block, rows, |i, x| {
            let (class, weight) = (self.class(block.labels()[i]), block.weights()[i]);
            either!(&self.walk, own => own.logits(x, &mut scratch, &mut self.scores));
            let prediction = self.prediction();
            softmax(&mut self.scores);
            let unseen = (class + 1).saturating_sub(self.scores.len());
            let probability = match self.scores.get(class) {
                Some(probability) => *probability,
                None => make_room(&mut self.scores, unseen, self.steps[0]),
            };
            let loss = -weight * Real::ln(Real::max(probability, f64::MIN_POSITIVE));
            let classes = self.scores.len().max(class + 1);
            let zero = weight * Real::ln(classes as f64);
            out.push(Outcome { prediction, probability, loss, zero });
        });
    }

    fn rate(&self) -> f64 {
        f64::NAN
    }

    fn predict(&self, block: &Block, out: &mut Vec<f64>) {
        let (mut scratch, mut z) = (Scratch::default(), Vec::new());
        each_row!(block, 0..block.len(), |i, x| {
            either!(&self.walk, own => own.logits(x, &mut scratch, &mut z));
            match (self.task, z.as_slice()) {
                (Task::Binary, [first, second]) => out.push(second - first),
                _ => out.extend_from_slice(&z),
            }
        });
    }

    /// Log-odds without insurance, relative to the mean of all classes, as [`weights`](Learner::weights) are.
    fn scores(&self, block: &Block, out: &mut Vec<f64>) {
        let (mut scratch, mut z) = (Scratch::default(), Vec::new());
        each_row!(block, 0..block.len(), |i, x| {
            match &self.walk {
                Walk::Dual(own) => own.raw_logits(x, &mut scratch, &mut z),
                Walk::Other(own) => own.logits(x, &mut scratch, &mut z),
            }
            match (self.task, z.as_slice()) {
                (Task::Binary, [first, second]) => out.push(second - first),
                (_, z) => {
                    let mean = z.iter().sum::<f64>() / z.len().max(1) as f64;
                    out.extend(z.iter().map(|z| z - mean));
                }
            }
        });
    }

    fn is_linear(&self) -> bool {
        either!(&self.walk, own => own.is_linear())
    }

    fn outputs(&self) -> usize {
        match self.task {
            Task::Binary => 1,
            _ => either!(&self.walk, own => own.classes()),
        }
    }

    /// Intercept and coefficients of the features, relative to the mean of all classes (of two: their difference).
    fn weights(&self, k: usize, w: &mut Vec<f64>) {
        let classes = either!(&self.walk, own => own.classes());
        w.clear();
        w.resize(either!(&self.walk, own => own.features()) + 1, 0.0);
        let mut beta = Vec::new();
        for c in 0..classes {
            let factor = match self.task {
                Task::Binary => [-1.0, 1.0].get(c).copied().unwrap_or(0.0),
                _ => f64::from(u8::from(c == k)) - 1.0 / classes as f64,
            };
            let alpha = either!(&self.walk, own => own.linear(c, &mut beta));
            for (w, b) in w.iter_mut().zip(std::iter::once(&alpha).chain(&beta)) {
                *w += factor * b;
            }
        }
    }

    fn report(&self, against: &Against<'_>, _: Option<f64>) -> Option<certificate::Report> {
        let mut all: Option<Certificate> = None;
        let mut w = Vec::new();
        let bounds = self.bounds.as_ref()?;
        for k in 0..bounds.len() {
            self.weights(k, &mut w);
            let one = match against {
                Against::Given(u) => {
                    bounds.certify(k, &Comparator::Given(u.get(k).map_or(&[], Vec::as_slice)))
                }
                Against::Within(times) => {
                    for w in &mut w {
                        *w *= times;
                    }
                    bounds.certify(k, &Comparator::Box { radii: &w })
                }
                Against::Reach | Against::Live => bounds.certify(k, &Comparator::Box { radii: &w }),
            };
            all = Some(certificate::add(all, one));
        }
        let first_order = Certificate { loss: self.loss.total(), ..all? };
        Some(certificate::Report {
            first_order,
            theorems: Vec::new(),
            reason: "natural gradient has no theorem of regret",
            comparators: certificate::described(against, Reach::Box, bounds.len(), false),
            known: None,
            parts: None,
        })
    }

    fn reach(&self) -> Reach {
        Reach::Box
    }

    fn convergence(&self) -> Option<Value> {
        let Walk::Dual(walk) = &self.walk else { return None };
        Some(Convergence::of(walk, self.steps).json())
    }

    fn notes(&self) -> Vec<String> {
        let mut notes = Vec::new();
        let [steps, capped] = self.steps;
        let Walk::Dual(walk) = &self.walk else {
            if capped > 0 {
                notes.push(format!(
                    "{capped} of {steps} steps were not made: the metric was singular (a feature that has not varied, or one that follows from others); natural gradient without a dense solve goes on"
                ));
            }
            return notes;
        };
        let report: Report = walk.report();
        // No gap is larger than the loss.
        let known = report.gap > report.gap_error && report.gap * steps as f64 <= self.loss.total();
        notes.push(format!("natural gradient: the cap held {capped} of {steps} steps"));
        notes.push(Convergence::of(walk, self.steps).sentence(known));
        let ridge = walk.settings().ridge > 0.0;
        if report.separable && !ridge {
            notes.push(format!(
                "no mistake in the last {} of {} examples: the classes may be separable, and then no coefficients are best (log-odds grow like log t); add ridge=0.001 to the walk for finite ones",
                report.right,
                walk.examples()
            ));
        }
        let (empty, cells) = report.empty_cells;
        if empty > 0 && !ridge {
            notes.push(format!(
                "{empty} of {cells} pairs of feature and class never occurred together: their coefficients have no finite optimum and drift; add ridge=0.001 to the walk if that matters"
            ));
        }
        if report.again > 0 {
            let (again, times) = (report.again, if report.again == 1 { "time" } else { "times" });
            notes.push(format!(
                "the loss became larger than that of the class frequencies, and the coefficients began again at zero, {again} {times}: the family may not fit these rows (another family, or logarithms of features with long tails, may)"
            ));
        }
        if report.widest > 700.0 {
            let what = if walk.settings().guard {
                "the guard holds probabilities above a share of the class frequencies"
            } else {
                "probabilities are 0 and 1"
            };
            notes.push(format!("log-odds of {:.0} were reached: {what}", report.widest));
        }
        notes
    }

    fn save(&self, put: &mut dyn FnMut(String, &[f64])) {
        put("loss".to_owned(), &self.loss.save());
        put("steps".to_owned(), &[self.steps[0] as f64, self.steps[1] as f64]);
        either!(&self.walk, own => own.save(&mut |name, values| put(format!("natural.{name}"), values)));
        if let Some(bounds) = &self.bounds {
            bounds.save(put);
        }
    }

    fn load(&mut self, get: &mut dyn FnMut(&str) -> Option<Vec<f64>>) -> Result<(), ConfigError> {
        let missing = |name, meaning| ConfigError::Missing { name, meaning };
        let loss = get("loss").and_then(|loss| <[f64; 4]>::try_from(loss).ok());
        self.loss = Sum::load(loss.ok_or(missing("loss", "what was lost so far"))?);
        let steps = get("steps").and_then(|steps| <[f64; 2]>::try_from(steps).ok());
        #[allow(clippy::cast_possible_truncation, clippy::cast_sign_loss)] // saturates
        let steps = steps.map(|steps| steps.map(|count| count as u64));
        self.steps = steps.ok_or(missing("steps", "how many steps were made"))?;
        either!(&mut self.walk, own => own.load(&mut |name| get(&format!("natural.{name}"))))?;
        if let Some(bounds) = &mut self.bounds {
            bounds.load(get)?;
        }
        Ok(())
    }
}
