//! # A run in the middle of its work
//! One [`Study`] learns and measures. While only one of two classes has been seen, a second study learns with the other sign, silently: which of them is right is known when
//! the other class comes, and the wrong one is dropped. So the sign depends on the two classes alone, and not on which came first, on blocks, or on interruptions.

use std::io::Write;
use std::ops::Range;

use geowalk::DomainError;
use geowalk::loss::{AnyLoss, Loss};
use geowalk::row::{Block, Row};
use geowalk_data::{Labels, Places, Schema, Skipped, Task};

use super::trace::{Point, Trace};
use super::{Measured, Plan, Progress, Said, Summary};
use crate::certificate::Against;
use crate::digest::Digest;
use crate::error::RunError;
use crate::holdout::Holdout;
use crate::label::{Coding, LabelError};
use crate::learner::{Diverged, Learner, Outcome};
use crate::link::{probability, threshold};
use crate::metrics::{Metrics, Seen, Window, log_loss};
use crate::model::{Arrays, Model, Settings};
use crate::natural;
use crate::walks::{self, Built};

/// Where things go while training.
pub(super) struct Sink<'a> {
    pub(super) said: &'a mut dyn FnMut(Said<'_>),
    pub(super) predictions: Option<&'a mut dyn Write>,
}

/// A learner and all that is measured of it.
#[derive(Debug)]
struct Study {
    built: Built,
    metrics: Metrics,
    held: Option<Metrics>,
    window: Option<Window>,
    outcomes: Vec<Outcome>,
    /// Why it could not go on, if it is the silent one.
    failed: Option<RunError>,
}

impl Study {
    /// At the beginning.
    fn new(settings: &Settings, width: Option<usize>) -> Result<Self, RunError> {
        Ok(Self {
            built: walks::of(settings, width)?,
            metrics: Metrics::new(settings.task),
            held: settings.holdout()?.map(|_| Metrics::new(settings.task)),
            window: settings.window()?.map(|size| Window::new(settings.task, size)),
            outcomes: Vec::new(),
            failed: None,
        })
    }

    /// As a model has it, in arrays whose names begin with the prefix.
    fn load(
        settings: &Settings,
        width: Option<usize>,
        arrays: &Arrays,
        prefix: &str,
    ) -> Result<Self, RunError> {
        let own: Arrays = arrays
            .iter()
            .filter_map(|(name, values)| {
                Some((name.strip_prefix(prefix)?.to_owned(), values.clone()))
            })
            .collect();
        let mut study = Self::new(settings, width)?;
        let find = |name: &str| own.iter().find(|(own, _)| own == name).map(|(_, v)| v.clone());
        study.built.learner.load(&mut |name| find(name))?;
        study.metrics = Metrics::load(settings.task, "metrics", &own)?;
        if let Some(held) = &mut study.held {
            *held = Metrics::load(settings.task, "holdout", &own)?;
        }
        if let (Some(window), Some(size)) = (&mut study.window, settings.window()?) {
            *window = Window::load(settings.task, size, &own)?;
        }
        Ok(study)
    }

    fn save(&self, prefix: &str, arrays: &mut Arrays) {
        let mut own = self.metrics.save("metrics");
        own.extend(self.held.iter().flat_map(|held| held.save("holdout")));
        own.extend(self.window.iter().flat_map(Window::save));
        self.built.learner.save(&mut |name, values| own.push((name, values.to_vec())));
        arrays.extend(own.into_iter().map(|(name, values)| (format!("{prefix}{name}"), values)));
    }

    /// Learns from rows, or if they are `kept` only predicts them. What it said of them is in the outcomes.
    fn go(
        &mut self,
        task: Task,
        block: &Block,
        rows: Range<usize>,
        kept: bool,
    ) -> Result<(), Diverged> {
        self.outcomes.clear();
        let learned = if kept {
            self.built.learner.examine(block, rows.clone(), &mut self.outcomes);
            Ok(())
        } else {
            self.built.learner.learn(block, rows.clone(), &mut self.outcomes)
        };
        // Of two classes metrics ask on which side of 0 the prediction is.
        let theta = if task == Task::Binary { threshold(&self.built.loss) } else { 0.0 };
        for (i, outcome) in rows.zip(&self.outcomes) {
            let y = block.labels()[i];
            if y.is_nan() {
                continue;
            }
            let weight = block.weights()[i];
            let log_loss = match (task, &self.built.loss) {
                // It is the loss itself.
                (Task::Binary, AnyLoss::Logistic(_)) => outcome.loss,
                (Task::Binary, loss) => probability(loss, y * outcome.prediction)
                    .map_or(f64::NAN, |probability| log_loss(probability, weight)),
                (Task::Multiclass, _) => log_loss(outcome.probability, weight),
                (Task::Regression, _) => f64::NAN,
            };
            let seen = Seen {
                y,
                prediction: outcome.prediction - theta,
                log_loss,
                loss: outcome.loss,
                zero: outcome.zero,
                weight,
            };
            if let (Some(held), true) = (&mut self.held, kept) {
                held.see(&seen);
            } else {
                self.metrics.see(&seen);
                self.window.iter_mut().for_each(|window| window.see(&seen));
            }
        }
        learned
    }
}

/// What the arrays of the silent study begin with.
const OTHER: &str = "other.";

/// A run in the middle of its work.
#[derive(Debug)]
pub(super) struct Run {
    pub(super) settings: Settings,
    study: Study,
    /// The study that learns with the other sign, while there is one class.
    other: Option<Study>,
    coding: Coding,
    /// Of the rows so far, if certificates are kept.
    pub(super) digest: Option<Digest>,
    holdout: Option<Holdout>,
    /// How many features there are, where that is known beforehand.
    width: Option<usize>,
    /// Rows of the resumed model, and of one pass through the data of this run.
    rows: (u64, u64),
    pass: u64,
    passes: Vec<f64>,
    notes: Vec<String>,
    /// Points for pictures, if they are wanted.
    trace: Option<Trace>,
}

impl Run {
    /// A new run for data with these labels, or the continuation of a model.
    pub(super) fn new(
        plan: &Plan,
        resumed: Option<&Model>,
        schema: &Schema,
        block: &Block,
        said: &mut dyn FnMut(Said<'_>),
    ) -> Result<Self, RunError> {
        let width = walks::width(schema);
        let settings = match resumed {
            None => {
                let mut settings = plan.decide(schema.labels(), block.labels(), said)?;
                if let Some(choice) = natural::choose(&settings.walk, schema, block) {
                    said(Said::Note(format!("family: {} ({})", choice.walk, choice.reason)));
                    settings.extras.insert("family".to_owned(), choice.reason);
                    settings.walk = choice.walk;
                }
                settings
            }
            Some(model) => model.settings.clone(),
        };
        let mut run = Self::begin(settings, width)?;
        match resumed {
            None => run.open(plan, said),
            Some(model) => run.load(model)?,
        }
        Ok(run)
    }

    /// At the beginning.
    pub(super) fn begin(settings: Settings, width: Option<usize>) -> Result<Self, RunError> {
        Ok(Self {
            study: Study::new(&settings, width)?,
            other: None,
            coding: Coding::new(settings.task),
            digest: settings.certificate.then(Digest::default),
            holdout: settings.holdout()?,
            width,
            rows: (0, 0),
            pass: 0,
            passes: Vec::new(),
            notes: Vec::new(),
            trace: None,
            settings,
        })
    }

    /// The same with a comparator that theorems see in every round.
    pub(super) fn facing(&mut self, comparator: Vec<f64>) -> Result<(), RunError> {
        self.study.built = walks::against(&self.settings, self.width, Some(comparator))?;
        Ok(())
    }

    /// Keeps points for pictures from here on.
    pub(super) fn trace(&mut self) {
        self.trace = Some(Trace::new(self.examples()));
    }

    /// Keeps a few of them.
    pub(super) fn trace_sparsely(&mut self) {
        self.trace = Some(Trace::sparse(self.examples()));
    }

    /// The points so far; the run goes on.
    pub(super) fn points_so_far(&self) -> Vec<Point> {
        let end = |trace: Trace| trace.end(self.examples(), || self.point());
        self.trace.clone().map_or_else(Vec::new, end)
    }

    /// The points, if they were kept.
    pub(super) fn points(&mut self) -> Option<Vec<Point>> {
        let trace = self.trace.take()?;
        Some(trace.end(self.examples(), || self.point()))
    }

    /// What is measured of the examples learned from.
    pub(super) fn metrics(&self) -> &Metrics {
        &self.study.metrics
    }

    /// Examples learned from.
    pub(super) fn examples(&self) -> u64 {
        self.study.metrics.examples()
    }

    /// The learner.
    pub(super) fn learner(&self) -> &dyn Learner {
        self.study.built.learner.as_ref()
    }

    /// Both of two classes, told beforehand: no other sign has to be tried.
    pub(super) fn know(&mut self, classes: [f64; 2]) {
        self.coding = Coding::restore(Task::Binary, classes.to_vec());
    }

    /// The learner, and what was decided while building it.
    pub(super) fn built(&self) -> &Built {
        &self.study.built
    }

    /// How labels are coded.
    pub(super) fn coding(&self) -> &Coding {
        &self.coding
    }

    /// Rows of this pass.
    pub(super) fn passed(&self) -> u64 {
        self.rows.1
    }

    /// Goes on where the model stands.
    #[allow(clippy::cast_possible_truncation, clippy::cast_sign_loss)] // a count below 2^53
    fn load(&mut self, model: &Model) -> Result<(), RunError> {
        let load = |prefix| Study::load(&self.settings, self.width, &model.arrays, prefix);
        self.coding = Coding::restore(self.settings.task, model.classes.clone());
        self.other = self.coding.is_open().then(|| load(OTHER)).transpose()?;
        self.study = load("")?;
        let rows = model.find("holdout.rows").and_then(|rows| rows.first().copied());
        self.rows.0 = rows.unwrap_or(0.0) as u64;
        // A model without one is continued without one.
        self.digest = model.find(Model::DIGEST).and_then(|saved| Digest::load(&saved));
        Ok(())
    }

    /// Says what was decided, and notes flags without effect.
    fn open(&mut self, plan: &Plan, said: &mut dyn FnMut(Said<'_>)) {
        let (walk, built) = (&self.settings.walk, &self.study.built);
        if !built.rated && plan.rate != "auto" {
            self.notes.push(format!(
                "--rate {} has no effect: the rate of the walk '{walk}' is {}",
                plan.rate, built.rate
            ));
        }
        let own = built.loss.spec();
        if plan.loss.is_some() && own != self.settings.loss {
            let loss = &self.settings.loss;
            self.notes.push(format!(
                "--loss {loss} has no effect: the loss of the walk '{walk}' is {own}"
            ));
        }
        let how = match (self.settings.task, built.joint) {
            (Task::Multiclass, true) => ", one joint softmax",
            (Task::Multiclass, false) => ", each class against the rest",
            _ => "",
        };
        let average = if self.settings.average() { ", averaged" } else { "" };
        said(Said::Note(format!("walk {walk}, loss {own}, rate {}{how}{average}", built.rate)));
    }

    /// A further pass through the data begins.
    pub(super) fn begin_pass(&mut self) {
        self.pass += 1;
        self.rows.1 = 0;
        // The losses of the passes before are of weights that are no more.
        if let (Some(held), 2..) = (&mut self.study.held, self.pass) {
            *held = Metrics::new(self.settings.task);
        }
    }

    /// The pass has come to its end.
    pub(super) fn end_pass(&mut self) {
        self.passes.extend(self.study.held.as_ref().map(Metrics::loss));
    }

    /// Codes the labels of a block, and settles which of two studies goes on.
    fn code(
        &mut self,
        block: &mut Block,
        places: &Places,
        labels: &Labels,
    ) -> Result<(), RunError> {
        let before = self.rows.1;
        let at = |i: usize, cause| RunError::Label {
            row: before + i as u64 + 1,
            place: places.get(i),
            cause,
        };
        let coded = self.coding.code(block.labels_mut(), labels);
        let turned = coded.map_err(|(place, cause)| at(place, cause))?;
        if self.settings.task == Task::Regression {
            // Classes are coded as the loss wants them.
            let allowed = self.study.built.loss.facts().labels;
            let outside = |y: &f64| !y.is_nan() && !allowed.contains(*y);
            if let Some(place) = block.labels().iter().position(outside) {
                let (found, loss) = (block.labels()[place], self.study.built.loss.spec());
                return Err(at(place, LabelError::Outside { found, loss, allowed }));
            }
        }
        if self.coding.is_open() {
            if self.other.is_none() {
                // Nothing has been learned yet.
                self.other = Some(Study::new(&self.settings, self.width)?);
            }
        } else if self.other.is_some() // taking what is not there would copy its whole place, in every block
            && let Some(other) = self.other.take()
            && turned
        {
            self.study = other;
            self.study.failed.take().map_or(Ok(()), Err)?;
        }
        Ok(())
    }

    /// Learns from a block.
    pub(super) fn block(
        &mut self,
        block: &mut Block,
        places: &Places,
        labels: &Labels,
        sink: &mut Sink<'_>,
    ) -> Result<(), RunError> {
        if let Some(digest) = &mut self.digest {
            digest.block(block);
        }
        self.code(block, places, labels)?;
        let task = self.settings.task;
        let mut from = 0;
        while from < block.len() {
            let seen = self.study.metrics.examples();
            let mark = (seen + 1).next_power_of_two();
            let next = self.trace.as_ref().map_or(mark, |trace| trace.next().clamp(seen + 1, mark));
            let most = usize::try_from(next - seen).unwrap_or(usize::MAX);
            let end = block.len().min(from.saturating_add(most));
            let kept = |i: &usize| self.keeps(block, *i);
            let (to, keep) = match (from..end).find(kept) {
                Some(i) if i == from => (i + 1, true),
                Some(i) => (i, false),
                None => (end, false),
            };
            if self.other.is_some()
                && let Some(mut other) = self.other.take()
            {
                flip(block);
                if other.failed.is_none()
                    && let Err(cause) = other.go(task, block, from..to, keep)
                {
                    other.failed = Some(self.diverged(block, places, cause));
                }
                flip(block);
                self.other = Some(other);
            }
            let learned = self.study.go(task, block, from..to, keep);
            self.print(labels, sink)?;
            learned.map_err(|cause| self.diverged(block, places, cause))?;
            let seen_now = self.examples();
            if let Some(mut trace) = self.trace.take_if(|trace| trace.next() == seen_now) {
                trace.add(seen_now, self.point());
                self.trace = Some(trace);
            }
            if self.study.metrics.examples() == mark && mark > seen {
                let row = self.progress(block, to - 1, labels);
                (sink.said)(Said::Progress(&row));
            }
            from = to;
        }
        self.rows.1 += block.len() as u64;
        let examples = self.study.metrics.examples();
        (sink.said)(Said::Block { examples, loss: self.study.metrics.loss() });
        Ok(())
    }

    /// Is this row of the block never learned from?
    fn keeps(&self, block: &Block, i: usize) -> bool {
        let row = self.rows.0 + self.rows.1 + i as u64 + 1;
        self.holdout.is_some_and(|holdout| holdout.keeps(row)) && !block.labels()[i].is_nan()
    }

    /// The error of a step that could not be made, with a rate that may help: the one at which the self-tuned rate came through the same rows. None if
    /// the walk has no choice, if the row itself is at fault, or if that did not come through either.
    fn diverged(&self, block: &Block, places: &Places, cause: Diverged) -> RunError {
        let place = places.get(cause.row);
        let row = self.rows.1 + cause.row as u64 + 1;
        let fault = matches!(
            cause.cause,
            DomainError::Coordinate { what: "the row", .. }
                | DomainError::Dimension { what: "the row", .. }
                | DomainError::Scalar { what: "the importance weight", .. }
        );
        let tuned = Settings { rate: "auto".to_owned(), ..self.settings.clone() };
        let tuned = (self.study.built.rated && !fault).then(|| walks::of(&tuned, self.width).ok());
        let suggested = tuned.flatten().and_then(|mut tuned| {
            let through = tuned.learner.learn(block, 0..cause.row + 1, &mut Vec::new());
            let rate = tuned.learner.rate();
            // Rounded down, as it is printed with two digits.
            (through.is_ok() && rate > 0.0 && rate < cause.rate).then_some(0.95 * rate)
        });
        let walk = self.settings.walk.clone();
        RunError::Diverged { row, place, walk, feature: None, suggested, cause: Box::new(cause) }
    }

    /// What the user should know at the end.
    fn notes(&self) -> Vec<String> {
        let mut notes = self.notes.clone();
        notes.extend(self.settings.fit_note(self.examples()));
        notes.extend(self.study.built.learner.notes());
        let (loss, zero) = (self.study.metrics.loss(), self.study.metrics.zero());
        // Losses that are 0 at 0 measure something else than predictions.
        if zero > 0.0 && loss > zero {
            let advice =
                if self.study.built.rated { "try a smaller --rate" } else { "try another walk" };
            notes.push(format!(
                "the average loss {loss:.3e} exceeds that of predicting 0, {zero:.3e}: {advice}"
            ));
        }
        let seen = self.coding.classes().iter().filter(|class| !class.is_nan()).count();
        if self.settings.task != Task::Regression && seen < 2 {
            notes.push("there are not two classes: nothing to tell apart was learned".to_owned());
        }
        notes
    }

    /// Writes the predictions.
    fn print(&self, labels: &Labels, sink: &mut Sink<'_>) -> Result<(), RunError> {
        let Some(out) = &mut sink.predictions else { return Ok(()) };
        for outcome in &self.study.outcomes {
            let text = self.shown(outcome.prediction, labels);
            writeln!(out, "{text}").map_err(RunError::Predictions)?;
        }
        Ok(())
    }

    /// A prediction as a person reads it.
    fn shown(&self, prediction: f64, labels: &Labels) -> String {
        #[allow(clippy::cast_possible_truncation, clippy::cast_sign_loss)] // a class number
        match self.settings.task {
            Task::Regression => prediction.to_string(),
            Task::Binary => {
                let positive = prediction >= threshold(&self.study.built.loss);
                self.coding.text(usize::from(positive), labels)
            }
            Task::Multiclass => self.coding.text(prediction as usize, labels),
        }
    }

    fn progress(&mut self, block: &Block, row: usize, labels: &Labels) -> Progress<'_> {
        let y = block.labels()[row];
        let label = match self.settings.task {
            Task::Regression => y.to_string(),
            _ if y.is_nan() => "unlabelled".to_owned(),
            #[allow(clippy::cast_possible_truncation, clippy::cast_sign_loss)] // a class number
            Task::Multiclass => self.coding.text(y as usize, labels),
            Task::Binary => self.coding.text(usize::from(y > 0.0), labels),
        };
        let mut features = 0;
        let mut count = |_, _| features += 1;
        if block.columns().is_some() {
            block.dense(row).each(&mut count);
        } else {
            block.sparse(row).each(&mut count);
        }
        let last = self.study.outcomes.last().map_or(f64::NAN, |outcome| outcome.prediction);
        let prediction = match self.settings.task {
            Task::Multiclass => self.shown(last, labels),
            _ => format!("{last:.4}"),
        };
        // Examples that have been seen in an earlier pass say little.
        let held = self.study.held.as_mut().filter(|held| self.pass > 1 && held.examples() > 0);
        let kept = held.is_some();
        let shown = held.unwrap_or(&mut self.study.metrics);
        let (average, since_last) = (shown.loss(), shown.since_last());
        shown.mark();
        self.study.metrics.mark();
        // Which of two classes is which may not be known yet: the other reading has the same stretches.
        if let Some(other) = &mut self.other {
            other.metrics.mark();
        }
        Progress {
            average,
            since_last,
            held: kept,
            examples: self.study.metrics.examples(),
            label,
            prediction,
            features,
            window: self.study.window.as_ref().map(Window::loss),
            learner: self.study.built.learner.as_ref(),
        }
    }

    /// What came out of it.
    pub(super) fn summary(&self, schema: &Schema, skipped: &Skipped, seconds: f64) -> Summary {
        let Study { built, metrics, held, window, .. } = &self.study;
        let measured = |metrics: &Metrics| Measured {
            examples: metrics.examples(),
            loss: metrics.loss(),
            metrics: metrics.named(),
        };
        let rate = match built.rate.as_str() {
            "auto" => format!("auto (last {:.3e})", built.learner.rate()),
            rate if rate.starts_with("doubling") => {
                format!("{rate} (last {:.3e})", built.learner.rate())
            }
            rate => rate.to_owned(),
        };
        Summary {
            seen: measured(metrics),
            since_last: metrics.since_last(),
            holdout: held.as_ref().map(measured),
            holdout_passes: self.passes.clone(),
            window: window.as_ref().map(|window| (window.examples(), window.named())),
            task: self.settings.task,
            walk: self.settings.walk.clone(),
            loss_name: built.loss.spec(),
            rate,
            average: self.settings.average(),
            fit: self.settings.passes(),
            course: None,
            certificate: built.learner.report(&Against::Reach, None),
            collisions: schema.features().collisions(),
            skipped: skipped.rows(),
            skipped_first: skipped.first().iter().map(ToString::to_string).collect(),
            notes: self.notes(),
            seconds,
        }
    }

    /// The model as it is now.
    pub(super) fn model(&self, schema: &Schema, summary: &Summary) -> Model {
        let mut arrays = Vec::new();
        self.study.save("", &mut arrays);
        self.other.iter().for_each(|other| other.save(OTHER, &mut arrays));
        if self.holdout.is_some() {
            arrays.push(("holdout.rows".to_owned(), vec![(self.rows.0 + self.rows.1) as f64]));
        }
        if let Some(digest) = &self.digest {
            arrays.push((Model::DIGEST.to_owned(), digest.save().to_vec()));
        }
        Model {
            settings: self.settings.clone(),
            schema: schema.clone(),
            classes: self.coding.classes().to_vec(),
            examples: self.study.metrics.examples(),
            arrays,
            summary: summary.record(),
        }
    }
}

/// The other sign for all labels.
fn flip(block: &mut Block) {
    for label in block.labels_mut() {
        *label = -*label;
    }
}
