//! # The loop
//! Examples from a source, through a learner, to a model: predict, learn, measure, say. The same loop serves every front end.

use std::io::Write;
use std::path::{Path, PathBuf};
use std::time::Instant;

use geowalk::DomainError;
use geowalk::certify::{Certificate, Status};
use geowalk::loss::{AnyLoss, Loss};
use geowalk::row::{Block, Row};
use geowalk_data::{Inference, Labels, Options, Schema, Skipped, Source, Task};

use crate::error::RunError;
use crate::input;
use crate::label::{Coding, LabelError};
use crate::learner::{Diverged, Outcome, Reach};
use crate::link::probability;
use crate::metrics::{Metrics, Seen};
use crate::model::{Model, Settings};
use crate::pump::{Pump, ROWS};
use crate::tree;
use crate::walks::{self, Built};

/// What to train, and how. What is left out is inferred and said.
#[derive(Debug, Clone)]
pub struct Plan {
    /// The walk; otherwise `free` or `adagrad`, as the loss allows.
    pub walk: Option<String>,
    /// The loss; otherwise logistic for classes, squared for numbers.
    pub loss: Option<String>,
    /// The rate.
    pub rate: String,
    /// What is to be learned; otherwise told by the labels.
    pub task: Option<Task>,
    /// How often the data are gone through.
    pub passes: u64,
    /// Seed of random starting points.
    pub seed: u64,
    /// A constant feature.
    pub intercept: bool,
    /// Keep the sums of the first-order certificate.
    pub certificate: bool,
    /// Predictions are clipped to this range.
    pub y_range: Option<(f64, f64)>,
    /// A model to continue.
    pub resume: Option<PathBuf>,
}

impl Default for Plan {
    fn default() -> Self {
        Self {
            walk: None,
            loss: None,
            rate: "auto".to_owned(),
            task: None,
            passes: 1,
            seed: 0,
            intercept: true,
            certificate: true,
            y_range: None,
            resume: None,
        }
    }
}

/// A row of the progress table.
#[derive(Debug, Clone, PartialEq)]
pub struct Progress {
    /// Average loss so far.
    pub average: f64,
    /// Average loss since the last row.
    pub since_last: f64,
    /// Examples seen.
    pub examples: u64,
    /// Label of the last example.
    pub label: String,
    /// What was predicted for it.
    pub prediction: String,
    /// Features it had.
    pub features: usize,
    /// The certificate so far.
    pub certificate: Option<Certificate>,
}

/// What is said while training.
#[derive(Debug)]
pub enum Said<'a> {
    /// Something was inferred or decided.
    Note(String),
    /// A row of the progress table.
    Progress(&'a Progress),
}

/// What came out of a training.
#[derive(Debug)]
pub struct Summary {
    /// Examples learned from, those of a resumed model included.
    pub examples: u64,
    /// Average progressive loss.
    pub loss: f64,
    /// Metrics of the task, by name.
    pub metrics: Vec<(&'static str, f64)>,
    /// What was learned.
    pub task: Task,
    /// The walk.
    pub walk: String,
    /// The loss.
    pub loss_name: String,
    /// The rate.
    pub rate: String,
    /// The certificate.
    pub certificate: Option<Certificate>,
    /// The weights it compares with.
    pub reach: Reach,
    /// Rows left out.
    pub skipped: u64,
    /// The errors of the first rows left out.
    pub skipped_first: Vec<String>,
    /// What the user should know besides: flags without effect, a loss that exceeds that of predicting nothing.
    pub notes: Vec<String>,
    /// How long it took.
    pub seconds: f64,
}

impl Summary {
    /// The summary as one JSON object.
    pub fn json(&self) -> serde_json::Value {
        let mut object = self.record();
        object["skipped"] = self.skipped.into();
        object["notes"] = self.notes.clone().into();
        object["seconds"] = self.seconds.into();
        object
    }

    /// The part that depends on the examples alone: what a model file keeps. One run and two halves of it leave the same record.
    fn record(&self) -> serde_json::Value {
        let metrics: serde_json::Map<_, _> = self
            .metrics
            .iter()
            .map(|(name, value)| ((*name).to_owned(), (*value).into()))
            .collect();
        serde_json::json!({
            "examples": self.examples,
            "loss": self.loss,
            "metrics": metrics,
            "task": self.task.name(),
            "walk": self.walk,
            "loss_name": self.loss_name,
            "rate": self.rate,
            "certificate": certificate_json(self.certificate.as_ref(), self.reach),
        })
    }
}

/// The certificate as JSON; its `status` is `none` if none was kept.
fn certificate_json(certificate: Option<&Certificate>, reach: Reach) -> serde_json::Value {
    let Some(c) = certificate else {
        return serde_json::json!({"theorem": null, "status": "none", "reason": "certificates are off",
            "loss": null, "comparator_loss": null, "regret": null, "bound": null});
    };
    let (status, reason) = match &c.status {
        Status::Valid => ("valid", None),
        Status::Void(broken) => ("void", Some(format!("{} (row {})", broken.premise, broken.row))),
    };
    let bound = c.bound.is_finite().then_some(c.bound);
    serde_json::json!({"theorem": c.theorem, "status": status, "reason": reason, "loss": c.loss,
        "comparator_loss": null, "regret": null, "bound": bound, "comparators": reach.to_string(),
        "first_order": {"status": status, "bound": bound}})
}

/// A learner in the middle of its work.
#[derive(Debug)]
pub struct Run {
    settings: Settings,
    built: Built,
    coding: Coding,
    metrics: Metrics,
    outcomes: Vec<Outcome>,
    notes: Vec<String>,
}

impl Run {
    /// A new run for data with these labels, or the continuation of a model.
    fn new(
        plan: &Plan,
        resumed: Option<&Model>,
        schema: &Schema,
        values: &[f64],
        said: &mut dyn FnMut(Said<'_>),
    ) -> Result<Self, RunError> {
        let labels = schema.labels();
        let settings = match resumed {
            Some(model) => model.settings.clone(),
            None => decide(plan, labels, values, said)?,
        };
        let task = settings.task;
        let mut built = walks::of(&settings, schema)?;
        let (coding, metrics) = match resumed {
            None => (Coding::new(task, labels, values), Metrics::new(task)),
            Some(model) => {
                built.learner.load(&mut |name| model.find(name))?;
                let coding = Coding::restore(task, model.classes.clone());
                (coding, Metrics::load(task, &model.arrays)?)
            }
        };
        let mut notes = Vec::new();
        if resumed.is_none() {
            let walk = &settings.walk;
            if !built.rated && plan.rate != "auto" {
                notes.push(format!(
                    "--rate {} has no effect: the rate of the walk '{walk}' is {}",
                    plan.rate, built.rate
                ));
            }
            let own = built.loss.spec();
            if plan.loss.is_some() && own != settings.loss {
                let loss = &settings.loss;
                notes.push(format!(
                    "--loss {loss} has no effect: the loss of the walk '{walk}' is {own}"
                ));
            }
            let how = match (task, built.joint) {
                (Task::Multiclass, true) => ", one joint softmax",
                (Task::Multiclass, false) => ", each class against the rest",
                _ => "",
            };
            said(Said::Note(format!(
                "walk {}, loss {}, rate {}{how}",
                settings.walk,
                built.loss.spec(),
                built.rate
            )));
        }
        Ok(Self { settings, built, coding, metrics, outcomes: Vec::new(), notes })
    }

    /// Learns from a block; `rows_before` rows of this reading came before it.
    fn block(
        &mut self,
        block: &mut Block,
        labels: &Labels,
        rows_before: u64,
        sink: &mut Sink<'_>,
    ) -> Result<(), RunError> {
        let allowed = self.built.loss.facts().labels;
        for (i, label) in block.labels_mut().iter_mut().enumerate() {
            let coded = self.coding.code(*label, labels).and_then(|y| {
                // Classes are coded as the loss wants them.
                if self.settings.task != Task::Regression || y.is_nan() || allowed.contains(y) {
                    return Ok(y);
                }
                let loss = self.built.loss.spec();
                Err(LabelError::Outside { found: y, loss, allowed })
            });
            let row = rows_before + i as u64 + 1;
            *label = coded.map_err(|cause| RunError::Label { row, cause })?;
        }
        let mut from = 0;
        while from < block.len() {
            let seen = self.metrics.examples();
            let mark = (seen + 1).next_power_of_two();
            let to = block.len().min(from + usize::try_from(mark - seen).unwrap_or(usize::MAX));
            self.outcomes.clear();
            let learned = self.built.learner.learn(block, from..to, &mut self.outcomes);
            self.measure(block, from, labels, sink)?;
            learned.map_err(|diverged| RunError::Diverged {
                row: rows_before + diverged.row as u64 + 1,
                suggested: self.suggested(&diverged),
                feature: None,
                walk: self.settings.walk.clone(),
                cause: Box::new(diverged),
            })?;
            if self.metrics.examples() == mark && self.metrics.examples() > seen {
                let row = self.progress(block, to - 1, labels);
                (sink.said)(Said::Progress(&row));
            }
            from = to;
        }
        Ok(())
    }

    /// A rate that may help; none if the walk has no choice, or if the row itself is at fault.
    fn suggested(&self, diverged: &Diverged) -> Option<f64> {
        let row = matches!(
            diverged.cause,
            DomainError::Coordinate { what: "the row", .. }
                | DomainError::Scalar { what: "the importance weight", .. }
        );
        (self.built.rated && !row).then(|| diverged.suggested())
    }

    /// What the user should know at the end.
    fn notes(&self) -> Vec<String> {
        let mut notes = self.notes.clone();
        let (loss, zero) = (self.metrics.loss(), self.metrics.zero());
        // Losses that are 0 at 0 measure something else than predictions.
        if zero > 0.0 && loss > zero {
            let advice = if self.built.rated { "try a smaller --rate" } else { "try another walk" };
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

    /// Adds the outcomes of the rows from `from` on to the metrics, and writes the predictions.
    fn measure(
        &mut self,
        block: &Block,
        from: usize,
        labels: &Labels,
        sink: &mut Sink<'_>,
    ) -> Result<(), RunError> {
        for (i, outcome) in self.outcomes.iter().enumerate() {
            let y = block.labels()[from + i];
            if let Some(out) = &mut sink.predictions {
                let text = self.shown(outcome.prediction, labels);
                writeln!(out, "{text}").map_err(RunError::Predictions)?;
            }
            if y.is_nan() {
                continue;
            }
            let p = match self.settings.task {
                Task::Binary => {
                    probability(&self.built.loss, outcome.prediction).unwrap_or(f64::NAN)
                }
                _ => outcome.probability,
            };
            self.metrics.see(&Seen {
                y,
                prediction: outcome.prediction,
                probability: p,
                loss: outcome.loss,
                zero: outcome.zero,
                weight: block.weights()[from + i],
            });
        }
        Ok(())
    }

    /// A prediction as a person reads it.
    fn shown(&self, prediction: f64, labels: &Labels) -> String {
        #[allow(clippy::cast_possible_truncation, clippy::cast_sign_loss)] // a class number
        match self.settings.task {
            Task::Regression => prediction.to_string(),
            Task::Binary => self.coding.text(usize::from(prediction >= 0.0), labels),
            Task::Multiclass => self.coding.text(prediction as usize, labels),
        }
    }

    fn progress(&mut self, block: &Block, row: usize, labels: &Labels) -> Progress {
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
        let last = self.outcomes.last().map_or(f64::NAN, |outcome| outcome.prediction);
        let prediction = match self.settings.task {
            Task::Multiclass => self.shown(last, labels),
            _ => format!("{last:.4}"),
        };
        Progress {
            average: self.metrics.loss(),
            since_last: self.metrics.since_last(),
            examples: self.metrics.examples(),
            label,
            prediction,
            features,
            certificate: self.built.learner.certificate(),
        }
    }

    /// The model as it is now.
    fn model(&self, source: &dyn Source, summary: &Summary) -> Model {
        let mut arrays = self.metrics.save();
        self.built.learner.save(&mut |name, values| arrays.push((name, values.to_vec())));
        Model {
            settings: self.settings.clone(),
            schema: source.schema().clone(),
            classes: self.coding.classes().to_vec(),
            examples: self.metrics.examples(),
            arrays,
            summary: summary.record(),
        }
    }
}

/// Task, walk, loss and rate of a new run.
fn decide(
    plan: &Plan,
    labels: &Labels,
    values: &[f64],
    said: &mut dyn FnMut(Said<'_>),
) -> Result<Settings, RunError> {
    let task = plan.task.unwrap_or_else(|| {
        let inference: Inference = Task::infer(labels, values);
        said(Said::Note(format!("task: {inference}")));
        inference.task
    });
    let loss = plan.loss.as_deref().unwrap_or(walks::usual_loss(task));
    let loss = AnyLoss::parse(loss)?;
    let walk = plan.walk.clone().unwrap_or_else(|| walks::usual(task, Some(&loss)).to_owned());
    Ok(Settings {
        walk,
        loss: loss.spec(),
        rate: plan.rate.clone(),
        task,
        seed: plan.seed,
        intercept: plan.intercept,
        certificate: plan.certificate,
        y_range: plan.y_range,
        extras: std::collections::BTreeMap::new(),
    })
}

/// Where things go while training.
struct Sink<'a> {
    said: &'a mut dyn FnMut(Said<'_>),
    predictions: Option<&'a mut dyn Write>,
}

/// Trains on what `open` opens (once per pass) and writes the model.
pub fn train<'a>(
    plan: &Plan,
    mut open: impl FnMut() -> Options,
    model: Option<&Path>,
    predictions: Option<&'a mut dyn Write>,
    said: &'a mut dyn FnMut(Said<'_>),
) -> Result<Summary, RunError> {
    let start = Instant::now();
    let resumed = plan.resume.as_deref().map(Model::load).transpose()?;
    if resumed.as_ref().is_some_and(crate::boost::Boosted::is_model) {
        return Err(RunError::Batch { kind: "booster".to_owned() });
    }
    if let Some(model) = resumed.as_ref().filter(|model| model.settings.walk == tree::KIND) {
        return Err(RunError::Batch { kind: model.settings.walk.clone() });
    }
    model.map(Model::check_path).transpose()?;
    let mut sink = Sink { said, predictions };
    let mut run: Option<Run> = None;
    let mut schema = resumed.as_ref().map(|model| model.schema.clone());
    let mut last: Option<Box<dyn Source>> = None;
    for _ in 0..plan.passes {
        let options = Options { schema: schema.take(), ..open() };
        let source = pass(plan, resumed.as_ref(), options, &mut run, &mut sink)?;
        schema = Some(source.schema().clone());
        last = Some(source);
    }
    let (Some(run), Some(source)) = (run, last) else { return Err(RunError::Empty) };
    let skipped: &Skipped = source.skipped();
    let summary = Summary {
        examples: run.metrics.examples(),
        loss: run.metrics.loss(),
        metrics: run.metrics.named(),
        task: run.settings.task,
        walk: run.settings.walk.clone(),
        loss_name: run.built.loss.spec(),
        rate: run.built.rate.clone(),
        certificate: run.built.learner.certificate(),
        reach: run.built.learner.reach(),
        skipped: skipped.rows(),
        skipped_first: skipped.first().iter().map(ToString::to_string).collect(),
        notes: run.notes(),
        seconds: start.elapsed().as_secs_f64(),
    };
    if let Some(path) = model {
        run.model(source.as_ref(), &summary).save(path)?;
    }
    Ok(summary)
}

/// Goes through the data once.
fn pass(
    plan: &Plan,
    resumed: Option<&Model>,
    options: Options,
    run: &mut Option<Run>,
    sink: &mut Sink<'_>,
) -> Result<Box<dyn Source>, RunError> {
    let mut source = input::open(options)?;
    let mut block = Block::new();
    let mut rows = source.read(&mut block, ROWS)? as u64;
    if rows == 0 {
        return if run.is_some() { Ok(source) } else { Err(RunError::Empty) };
    }
    let mut labels = source.schema().labels().clone();
    if run.is_none() {
        *run = Some(Run::new(plan, resumed, source.schema(), block.labels(), sink.said)?);
    }
    let Some(run) = run else { return Err(RunError::Empty) };
    let intercept = run.settings.intercept;
    run.block(&mut block, &labels, 0, sink)
        .map_err(|error| error.named(source.schema().features(), intercept))?;
    let pump = Pump::start(source);
    let outcome = loop {
        match pump.next() {
            None => break Ok(()),
            Some(Err(error)) => break Err(RunError::from(error)),
            Some(Ok((mut block, new))) => {
                labels = new.unwrap_or(labels);
                if let Err(error) = run.block(&mut block, &labels, rows, sink) {
                    break Err(error);
                }
                rows += block.len() as u64;
                pump.recycle(block);
            }
        }
    };
    let source = pump.stop().ok_or(RunError::Reader)?;
    match outcome {
        Ok(()) => Ok(source),
        Err(error) => Err(error.named(source.schema().features(), intercept)),
    }
}
