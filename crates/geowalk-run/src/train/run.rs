//! # A run in the middle of its work
//! One [`Study`] learns and measures. While only one of two classes has been seen, a second study learns with the other sign, silently: which of them is right is known when
//! the other class comes, and the wrong one is dropped. So the sign depends on the two classes alone, and not on which came first, on blocks, or on interruptions.

use geowalk::loss::Loss;
use geowalk::row::{Block, Row};
use geowalk_data::{Inference, Labels, Places, Schema, Skipped, Task};

use super::memory::Memory;
use super::predictions::{Measures, Predictions};
use super::sample::Sample;
use super::study::{Day, Study, fresh};
use super::trace::{Point, Trace};
use super::widen::with_task;
use super::{Frozen, Measured, Plan, Progress, Said, Summary, ThisRun};
use crate::certificate::{Against, Report};
use crate::digest::Digest;
use crate::error::RunError;
use crate::guarantee;
use crate::holdout::Holdout;
use crate::label::{Coding, LabelError};
use crate::learner::{Diverged, Learner};
use crate::link::{probability, threshold};
use crate::metrics::{Change, Metrics, Seen, Window};
use crate::model::{LearnerSettings, Model, Settings};
use crate::natural;
use crate::team;
use crate::theorem::Declared;
use crate::walks::{self, Built};

/// Where things go while training.
pub(super) struct Sink<'a> {
    pub(super) said: &'a mut dyn FnMut(Said<'_>),
    pub(super) predictions: Option<Predictions<'a>>,
}

/// What the note on new classes begins with.
const NEW_CLASSES: &str = "new classes keep coming";

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
    /// Rows of this pass that have no label.
    unlabelled: u64,
    pass: u64,
    passes: Vec<f64>,
    notes: Vec<String>,
    /// Why the task was chosen, if it was not given.
    inference: Option<Inference>,
    /// How many classes the resumed model had.
    resumed_classes: usize,
    /// How many classes there were when the number of examples last was a power of 2.
    classes_at_mark: usize,
    /// Points for pictures, if they are wanted.
    trace: Option<Trace>,
    /// Earlier rows, if the model is to be judged by them at the end.
    sample: Option<Sample>,
    memory: Option<Memory>,
    /// How the model of the end does on them.
    frozen: Option<Frozen>,
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
        let mut inference = None;
        let converted = match (resumed, plan.task) {
            (Some(model), Some(task)) => with_task(model, task, block)?,
            _ => None,
        };
        let resumed = converted.as_ref().or(resumed);
        let settings = match resumed {
            None => {
                let (mut settings, inferred) =
                    plan.decide(schema.labels(), block.labels(), said)?;
                inference = inferred;
                match &mut settings.learner {
                    LearnerSettings::Natural(own) => {
                        if let Some(choice) = natural::choose(&own.walk, schema, block) {
                            said(Said::Note(format!(
                                "family: {} ({})",
                                choice.walk, choice.reason
                            )));
                            (own.walk, own.chosen) = (choice.walk, Some(choice.reason));
                        }
                    }
                    LearnerSettings::Walk(own) => {
                        let (task, intercept) = (settings.task, settings.intercept);
                        let loss = &settings.loss;
                        let team = team::stated(&own.walk, task, loss, intercept, schema, block)?;
                        own.walk = match team {
                            Some(team) => {
                                said(Said::Note(format!("team: {team}")));
                                team
                            }
                            None => walks::stated(&own.walk, schema, block, intercept)?,
                        };
                        if own.rate == "auto" && own.declared == Declared::default() {
                            own.walk = walks::with_normalised_rows(&own.walk)?;
                        }
                    }
                    _ => {}
                }
                settings
            }
            Some(model) => continued(plan, model),
        };
        let changed = resumed.is_some_and(|model| model.settings.stream != settings.stream);
        let memory = Memory::new(plan.memory, schema, &settings)?;
        let mut run = Self::begin(settings, width)?;
        run.memory = Some(memory);
        match resumed {
            None => run.open(plan, said),
            Some(model) => {
                run.load(model)?;
                if changed {
                    run.study.held = Some(fresh(&run.settings));
                    run.other.iter_mut().for_each(|other| other.held.clone_from(&run.study.held));
                }
            }
        }
        let threads = plan.threads;
        let studies = run.other.iter_mut().chain([&mut run.study]);
        studies.for_each(|study| study.built.learner.use_threads(threads));
        run.inference = inference;
        run.resumed_classes = run.coding.classes().len();
        run.classes_at_mark = run.resumed_classes;
        if converted.is_some() {
            run.notes.push(
                "the model was converted from two classes to several; it has no certificate from here on"
                    .to_owned(),
            );
        }
        Ok(run)
    }

    /// A resumed model for which there is nothing to learn.
    pub(super) fn quiet(
        plan: &Plan,
        model: &Model,
        said: &mut dyn FnMut(Said<'_>),
    ) -> Result<Self, RunError> {
        let mut run = Self::new(plan, Some(model), &model.schema, &Block::new(), said)?;
        run.measure_apart(plan)?;
        run.notes.push("there are no examples in the input: the model is as it was".to_owned());
        if plan.trace {
            run.trace();
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
            holdout: settings.stream.holdout,
            width,
            rows: (0, 0),
            unlabelled: 0,
            pass: 0,
            passes: Vec::new(),
            notes: Vec::new(),
            inference: None,
            resumed_classes: 0,
            classes_at_mark: 0,
            trace: None,
            sample: None,
            memory: None,
            frozen: None,
            settings,
        })
    }

    /// The same with a comparator that theorems see in every round.
    pub(super) fn facing(&mut self, comparator: Vec<f64>) -> Result<(), RunError> {
        self.study.built = walks::against(&self.settings, self.width, Some(comparator))?;
        Ok(())
    }

    /// Measures this run by itself, beside all that the model has seen.
    pub(super) fn measure_apart(&mut self, plan: &Plan) -> Result<(), RunError> {
        for study in self.other.iter_mut().chain([&mut self.study]) {
            study.day = Some(Box::new(Day::new(&self.settings, plan.window)?));
        }
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

    /// Keeps a sample of rows from here on, by which [`Self::look_back`] judges the model.
    pub(super) fn sample(&mut self) {
        self.sample = Some(Sample::default());
    }

    /// Judges the model by earlier rows, and notes it if it is worse on them than when it predicted them.
    pub(super) fn look_back(&mut self) {
        let Some(sample) = self.sample.take() else { return };
        let mut now = fresh(&self.settings);
        let loss_then = sample.again(&mut self.study, self.settings.task, &mut now);
        self.frozen = loss_then.map(|loss_then| Frozen { loss_then, now: measured(&now) });
        self.notes.extend(sample.note(self.study.built.learner.as_mut()));
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

    /// The study, and the silent one with the other sign.
    pub(super) fn studies(&self) -> impl Iterator<Item = &Study> {
        self.other.iter().chain([&self.study])
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
        let (walk, built) = (self.settings.walk(), &self.study.built);
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
        let average = if self.settings.stream.average { ", averaged" } else { "" };
        said(Said::Note(format!("walk {walk}, loss {own}, rate {}{how}{average}", built.rate)));
    }

    /// A further pass through the data begins.
    pub(super) fn begin_pass(&mut self) {
        self.pass += 1;
        (self.rows.1, self.unlabelled) = (0, 0);
        // The losses of the passes before are of weights that are no more.
        if self.pass > 1 {
            let held = self.study.held.iter_mut();
            let day = self.study.day.iter_mut().filter_map(|day| day.held.as_mut());
            held.chain(day).for_each(|held| *held = held.again(fresh(&self.settings)));
            let other = self.other.iter_mut().map(|other| &mut other.metrics);
            let day = self.study.day.iter_mut().map(|day| &mut day.metrics);
            let all = [&mut self.study.metrics].into_iter().chain(day).chain(other);
            all.for_each(Metrics::close_intervals);
        }
    }

    /// Refuses a pass without any label.
    pub(super) fn check_labels(&self) -> Result<(), RunError> {
        match self.rows.1 {
            rows if rows > 0 && rows == self.unlabelled => Err(RunError::NoLabels { rows }),
            _ => Ok(()),
        }
    }

    /// What rows that are held out lost on average in each pass.
    pub(super) fn passes(&self) -> &[f64] {
        &self.passes
    }

    /// The same of the last pass.
    pub(super) fn held_loss(&self) -> f64 {
        self.passes.last().copied().unwrap_or(f64::NAN)
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
            self.sample.iter_mut().for_each(Sample::flip);
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
            let mut most = usize::try_from(next - seen).unwrap_or(usize::MAX);
            if task == Task::Multiclass
                && let Some(all) = &mut sink.predictions
                && all.with_probabilities()
            {
                most = 1;
                all.look_at(self.learner(), block, from);
            }
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
            self.print(block, from, labels, sink)?;
            learned.map_err(|cause| self.diverged(block, places, cause))?;
            if let (Some(sample), false) = (&mut self.sample, keep) {
                sample.see(block, from..to, &self.study.outcomes);
            }
            let seen_now = self.examples();
            if let Some(mut trace) = self.trace.take_if(|trace| trace.next() == seen_now) {
                trace.add(seen_now, self.point());
                self.trace = Some(trace);
            }
            if self.study.metrics.examples() == mark && mark > seen {
                self.memory.map_or(Ok(()), |memory| memory.check_run(self))?;
                if let Some(note) = self.notice_new_classes(labels) {
                    (sink.said)(Said::Note(note));
                }
                let row = self.progress(block, to - 1, labels);
                (sink.said)(Said::Progress(&row));
            }
            from = to;
        }
        self.rows.1 += block.len() as u64;
        let flushed = sink.predictions.iter_mut().try_for_each(Predictions::flush);
        flushed.map_err(RunError::Predictions)?;
        self.unlabelled += block.labels().iter().filter(|y| y.is_nan()).count() as u64;
        let examples = self.study.metrics.examples();
        (sink.said)(Said::Block { examples, loss: self.study.metrics.loss() });
        Ok(())
    }

    /// Classes that keep coming are no classes. Looks whenever the number of examples has doubled.
    fn notice_new_classes(&mut self, labels: &Labels) -> Option<String> {
        const MANY: usize = 32;
        const EXAMPLES: u64 = 256; // before them, all classes of good data may be new
        let (count, before) = (self.coding.classes().len(), self.classes_at_mark);
        self.classes_at_mark = count;
        let examples = self.examples();
        let growing = examples >= EXAMPLES && count >= MANY && 4 * count >= 5 * before;
        // What was noticed earlier has come to an end, unless a resumed model had few classes.
        let doubled = self.resumed_classes > 0 && count >= 2 * self.resumed_classes;
        if growing || !doubled {
            self.notes.retain(|old| !old.starts_with(NEW_CLASSES));
        }
        if !growing {
            return None;
        }
        let advice = match labels {
            Labels::Numbers => "if the labels are numbers, train anew with --task regression",
            Labels::Names(_) => "is the label column an identifier, or text?",
        };
        let note =
            format!("{NEW_CLASSES}: {count} after {examples} examples, up from {before}; {advice}");
        self.notes.push(note.clone());
        Some(note)
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
        let learner = self.settings.learner.clone().at_rate("auto");
        let tuned = Settings { learner, ..self.settings.clone() };
        let tuned = self.study.built.rated.then(|| walks::of(&tuned, self.width).ok());
        let suggested = tuned.flatten().and_then(|mut tuned| {
            let through = tuned.learner.learn(block, 0..cause.row + 1, &mut Vec::new());
            let rate = tuned.learner.rate();
            // Rounded down, as it is printed with two digits.
            (through.is_ok() && rate > 0.0 && rate < cause.rate).then_some(0.95 * rate)
        });
        let walk = self.settings.walk();
        RunError::Diverged { row, place, walk, feature: None, suggested, cause: Box::new(cause) }
    }

    /// What the user should know at the end.
    fn notes(&self, certificate: Option<&Report>) -> Vec<String> {
        let mut notes = self.notes.clone();
        if self.unlabelled > 0 {
            let (rows, unlabelled) = (self.rows.1, self.unlabelled);
            notes.push(format!(
                "{unlabelled} of {rows} rows have no label: nothing was learned from them"
            ));
        }
        notes.extend(self.settings.fit_note(self.examples()));
        notes.extend(self.study.built.learner.notes());
        let rises = self.study.metrics.changes().iter().filter(|one| one.after > one.before);
        notes.extend(rises.clone().next_back().map(|last| {
            let Change { row, before, after } = *last;
            let percent = |part: f64| format!("{:.1} %", 100.0 * part);
            let times = match rises.count() {
                1 => String::new(),
                count => format!(", the last of {count} times"),
            };
            format!(
                "the error rose at about row {row}, from {} to {}{times}: the data changed (95 % sure of every change)",
                percent(before),
                percent(after)
            )
        }));
        let (loss, zero) = (self.study.metrics.loss(), self.study.metrics.zero());
        // Losses that are 0 at 0 measure something else than predictions.
        let [shown, shown_zero] = [loss, zero].map(short);
        // A difference that three digits do not show is none to act on.
        if zero > 0.0 && loss > zero && shown != shown_zero {
            let advice =
                if self.study.built.rated { "try a smaller --rate" } else { "try another walk" };
            notes.push(format!(
                "the average loss {shown} exceeds that of predicting 0, {shown_zero}: {advice}"
            ));
        }
        notes.extend(certificate.and_then(|report| report.rounds_note(self.examples())));
        let seen = self.coding.classes().iter().filter(|class| !class.is_nan()).count();
        if self.settings.task != Task::Regression && seen < 2 {
            notes.push("there are not two classes: nothing to tell apart was learned".to_owned());
        }
        notes
    }

    /// Writes the predictions.
    fn print(
        &self,
        block: &Block,
        from: usize,
        labels: &Labels,
        sink: &mut Sink<'_>,
    ) -> Result<(), RunError> {
        let Some(all) = &mut sink.predictions else { return Ok(()) };
        let intervals = self.learner().last_intervals();
        for (k, outcome) in self.study.outcomes.iter().enumerate() {
            let row = from + k;
            let text = self.shown(outcome.prediction, labels);
            let measures = match self.settings.task {
                Task::Regression => intervals.get(k).copied().map(Measures::Interval),
                _ if !all.with_probabilities() => None,
                Task::Binary => Some(self.of_two(outcome.prediction)),
                #[allow(clippy::cast_possible_truncation, clippy::cast_sign_loss)] // a class number
                Task::Multiclass => Some(all.of_class(outcome.prediction as usize)),
            };
            all.line(&text, measures, block.tag_of(row)).map_err(RunError::Predictions)?;
        }
        Ok(())
    }

    /// The score, and the probability of the class of two on whose side it is, if the loss has probabilities.
    fn of_two(&self, score: f64) -> Measures {
        let loss = &self.study.built.loss;
        let positive = score >= threshold(loss);
        let probability = probability(loss, score).map(|p| if positive { p } else { 1.0 - p });
        Measures::Class(Some(score), probability)
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
        let interval = shown.intervals().first().copied();
        shown.mark();
        self.study.metrics.mark();
        // Which of two classes is which may not be known yet: the other reading has the same stretches.
        if let Some(other) = &mut self.other {
            other.metrics.mark();
        }
        Progress {
            average,
            since_last,
            interval,
            held: kept,
            examples: self.study.metrics.examples(),
            label,
            prediction,
            features,
            window: self.study.window.as_ref().map(Window::loss),
            learner: self.study.built.learner.as_ref(),
        }
    }

    /// As runs of earlier versions: without intervals, or without changes.
    pub(super) fn forget(&mut self, what: fn(&mut Metrics)) {
        let Study { metrics, held, .. } = &mut self.study;
        let other = self.other.iter_mut().flat_map(|other| {
            [Some(&mut other.metrics), other.held.as_mut()].into_iter().flatten()
        });
        let all = [Some(metrics), held.as_mut()].into_iter().flatten();
        all.chain(other).for_each(what);
    }

    /// Keeps what is measured of every row from now on.
    pub(super) fn keep_rows(&mut self) {
        self.study.rows = Some(Vec::new());
        self.other.iter_mut().for_each(|other| other.rows = Some(Vec::new()));
    }

    /// Hands over what was measured of the rows since it was asked last, if they are kept.
    pub(super) fn take_rows(&mut self) -> Vec<Seen> {
        self.other.iter_mut().flat_map(|other| &mut other.rows).for_each(Vec::clear);
        self.study.rows.as_mut().map(std::mem::take).unwrap_or_default()
    }

    /// What came out of it.
    pub(super) fn summary(&self, schema: &Schema, skipped: &Skipped, seconds: f64) -> Summary {
        let Study { built, metrics, held, window, .. } = &self.study;
        let certificate = built.learner.report(&Against::Reach, None);
        let notes = self.notes(certificate.as_ref());
        let rate = if built.tuned {
            format!("{} (last {:.3e})", built.rate, built.learner.rate())
        } else {
            built.rate.clone()
        };
        let (seen, learner) = (measured(metrics), built.learner.as_ref());
        let guarantee = match &certificate {
            Some(report) => guarantee::lines(&seen, report, &|k| guarantee::within(learner, k)),
            None => guarantee::measured(&seen),
        };
        Summary {
            seen,
            rows: self.study.rows.clone().unwrap_or_default(),
            guarantee,
            since_last: metrics.since_last(),
            changes: metrics.changes().to_vec(),
            holdout: held.as_ref().map(measured),
            holdout_passes: self.passes.clone(),
            window: window.as_ref().map(|window| (window.examples(), window.named())),
            this_run: self.study.day.as_ref().map(|day| ThisRun {
                seen: measured(&day.metrics),
                holdout: day.held.as_ref().map(measured),
                window: day.window.as_ref().map(|window| (window.examples(), window.named())),
            }),
            task: self.settings.task,
            task_reason: self.inference.filter(Inference::is_a_guess).map(|one| one.explained()),
            walk: self.settings.walk(),
            loss_name: built.loss.spec(),
            rate,
            average: self.settings.stream.average,
            members: built.learner.members(),
            coverage: built.learner.coverage(),
            frozen: self.frozen.clone(),
            fit: self.settings.passes().cloned(),
            convergence: built.learner.convergence(),
            course: None,
            certificate,
            collisions: schema.features().collisions(),
            skipped: skipped.rows(),
            skipped_first: skipped.first().iter().map(ToString::to_string).collect(),
            notes,
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
        let mut settings = self.settings.clone();
        settings.stream.skipped |= summary.skipped > 0;
        Model {
            settings,
            schema: schema.clone(),
            classes: self.coding.classes().to_vec(),
            examples: self.study.metrics.examples(),
            arrays,
            summary: summary.record(),
        }
    }
}

/// The settings of a model that is continued: its own, with rows held out from here on if that is asked for.
fn continued(plan: &Plan, model: &Model) -> Settings {
    let mut settings = model.settings.clone();
    if plan.holdout.is_some() && settings.stream.holdout != plan.holdout {
        settings.stream.holdout = plan.holdout;
        settings.change("holdout");
    }
    settings
}

fn measured(metrics: &Metrics) -> Measured {
    Measured {
        examples: metrics.examples(),
        loss: metrics.loss(),
        metrics: metrics.named(),
        intervals: metrics.intervals(),
    }
}

/// A number with three significant digits.
pub(super) fn short(value: f64) -> String {
    let digits = format!("{value:.2e}");
    match digits.parse::<f64>() {
        Ok(rounded) if (1e-4..1e6).contains(&rounded.abs()) => rounded.to_string(),
        _ => digits,
    }
}

/// The other sign for all labels.
pub(super) fn flip(block: &mut Block) {
    for label in block.labels_mut() {
        *label = -*label;
    }
}
