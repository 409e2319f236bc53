//! # The loop
//! Examples from a source, through a learner, to a model: predict, learn, measure, say. The same loop serves every front end.

mod best;
mod checkpoint;
mod memory;
mod predictions;
mod run;
mod sample;
mod session;
mod study;
mod summary;
mod trace;
mod validate;
mod verify;
mod widen;

use std::io::Write;
use std::path::{Path, PathBuf};
use std::time::Instant;

use geowalk::ConfigError;
use geowalk::certify::Certificate;
use geowalk::error::Allowed;
use geowalk::loss::{AnyLoss, Loss};
use geowalk::row::Block;
use geowalk::spec::Spec;
use geowalk_data::{Inference, Labels, Options, Skipped, Source, Task};

pub use session::{Session, Wanted};
pub use summary::{Frozen, Measured, Summary, ThisRun};
pub use trace::{Course, MOST, Point};
pub use validate::{CrossValidated, Learning, validate};
pub(crate) use verify::replay;
pub use verify::{Mismatch, Verified, verify};

use crate::certificate::Against;
use crate::certify::{self, Which};
use crate::error::RunError;
use crate::guarantee;
use crate::holdout::Holdout;
use crate::input::{self, Rows};
use crate::learner::Learner;
use crate::metrics::Interval;
use crate::model::{LearnerSettings, Model, ReadSettings, Settings, StreamSettings};
use crate::predict;
use crate::pump::{Filled, Pump, ROWS, usual_threads};
use crate::rate::Rate;
use crate::replace::target;
use crate::settings::check_window;
use crate::team;
use crate::theorem::Declared;
use crate::walks;
use best::Best;
use checkpoint::Checkpoint;
pub use checkpoint::SECONDS;
use predictions::Predictions;
pub(crate) use predictions::end_line;
use run::{Run, Sink};

/// What to train, and how. What is left out is inferred and said.
#[derive(Debug, Clone)]
#[allow(clippy::struct_excessive_bools)] // four flags that have nothing to do with each other
pub struct Plan {
    /// The walk; otherwise for numbers under the squared loss `auto`, a team, and `free` or `adagrad` where that
    /// cannot do what is asked for or the loss is another.
    pub walk: Option<String>,
    /// The loss; otherwise logistic for classes, squared for numbers.
    pub loss: Option<String>,
    /// The rate.
    pub rate: String,
    /// What is to be learned; otherwise told by the labels. A resumed model of two classes can become one of several.
    pub task: Option<Task>,
    /// How often the data are gone through.
    pub passes: u64,
    /// Seed of random starting points.
    pub seed: u64,
    /// Threads: with more than one, text is read and parsed beside the learning. Nothing depends on it but time.
    pub threads: usize,
    /// A constant feature.
    pub intercept: bool,
    /// Keep the sums of the certificates, and the digest of the examples.
    pub certificate: bool,
    /// Keep the sums of the second-order certificate too.
    pub second_order: bool,
    /// What the user vouches for: what theorems, and certified rates, are made of.
    pub declared: Declared,
    /// A comparator to answer about at the end, and whether the data can be read once more for what it loses.
    pub comparator: Option<(Which, bool)>,
    /// Predictions are clipped to this range.
    pub y_range: Option<(f64, f64)>,
    /// Rows that are never learned from: every N-th, or a fraction.
    pub holdout: Option<Holdout>,
    /// With rows held out: stop when their loss has not fallen for so many passes, and keep the model of the best.
    pub patience: Option<u64>,
    /// Predict with the average of the weights of the run.
    pub average: bool,
    /// Measure the last so many examples by themselves.
    pub window: Option<usize>,
    /// Write score and probability beside each predicted class.
    pub proba: bool,
    /// For numbers, learn intervals too that hold this part of the labels.
    pub interval: Option<f64>,
    /// Learn from a row when so many more have come.
    pub delay: usize,
    /// Keep points for pictures.
    pub trace: bool,
    /// Keep what was measured of every row, in the summary.
    pub rows: bool,
    /// A model to continue.
    pub resume: Option<PathBuf>,
    /// A file that is written while the run goes on, and the seconds between; if it is there, the run goes on from it.
    pub checkpoint: Option<(PathBuf, u64)>,
    /// Bytes that weights, sums and names of features may take.
    pub memory: u64,
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
            threads: usual_threads(),
            intercept: true,
            certificate: true,
            second_order: false,
            declared: Declared::default(),
            comparator: None,
            y_range: None,
            holdout: None,
            patience: None,
            average: false,
            window: None,
            proba: false,
            interval: None,
            delay: 0,
            trace: false,
            rows: false,
            resume: None,
            checkpoint: None,
            memory: u64::MAX,
        }
    }
}

impl Plan {
    /// Refuses what cannot be, as far as that is known without data: call it before a file is opened or created.
    pub fn check(&self) -> Result<(), RunError> {
        if let Some(walk) = &self.walk {
            LearnerSettings::parse(walk, &self.rate)?;
        }
        self.loss.as_deref().map(AnyLoss::parse).transpose()?;
        Rate::parse(&self.rate)?;
        let part = Allowed::Open(0.0, 1.0);
        if let Some(value) = self.interval.filter(|value| !part.contains(*value)) {
            let name = "interval";
            return Err(ConfigError::OutOfRange { name, value, allowed: part }.into());
        }
        if self.patience.is_some() && self.holdout.is_none() {
            let meaning =
                "--patience stops when the loss of rows that are held out no longer falls";
            return Err(ConfigError::Missing { name: "--holdout", meaning }.into());
        }
        Ok(check_window(self.window)?)
    }

    /// Is nothing asked for that one walk has and a team has not?
    fn can_be_a_team(&self) -> bool {
        let Self { rate, average, second_order, declared, .. } = self;
        rate == "auto" && !average && !second_order && *declared == Declared::default()
    }

    /// Is nothing inferred from the first rows? Then they can be predicted and learned from as they come.
    pub fn knows_task(&self) -> bool {
        let family = |walk: &String| {
            // The team for numbers is the same for all data.
            let team = self.task != Some(Task::Regression)
                && Spec::parse(walk).is_ok_and(|spec| spec.name() == team::NAME);
            let learner = LearnerSettings::parse(walk, &self.rate);
            team || matches!(learner, Ok(LearnerSettings::Natural(_)))
        };
        self.resume.is_some() || (self.task.is_some() && !self.walk.as_ref().is_some_and(family))
    }

    /// Task, walk, loss and rate of a new run.
    fn decide(
        &self,
        labels: &Labels,
        values: &[f64],
        said: &mut dyn FnMut(Said<'_>),
    ) -> Result<(Settings, Option<Inference>), RunError> {
        let inference = self.task.is_none().then(|| Task::infer(labels, values));
        if let Some(inference) = &inference {
            said(Said::Note(format!("task: {}", inference.explained())));
        }
        let task = inference.map_or(self.task, |inference| Some(inference.task));
        let task = task.unwrap_or(Task::Regression);
        let loss = match (&self.loss, &self.walk) {
            (Some(loss), _) => loss,
            (None, Some(walk)) => walks::usual_loss_of(walk, task)?,
            (None, None) => walks::usual_loss(task),
        };
        let loss = AnyLoss::parse(loss)?;
        let team = self.can_be_a_team() && team::is_usual(task, &loss);
        let usual = || if team { team::NAME } else { walks::usual(task, Some(&loss)) };
        let walk = self.walk.as_deref().unwrap_or_else(usual);
        let mut learner = LearnerSettings::parse(walk, &self.rate)?;
        if let LearnerSettings::Walk(own) = &mut learner {
            (own.sigma, own.declared) = (walks::sigma(walk)?, self.declared);
        }
        let settings = Settings {
            seed: self.seed,
            intercept: self.intercept,
            certificate: self.certificate,
            y_range: self.y_range,
            stream: StreamSettings {
                holdout: self.holdout,
                average: self.average,
                second_order: self.second_order,
                window: self.window,
                interval: self.interval,
                delay: self.delay,
                ..StreamSettings::default()
            },
            ..Settings::new(learner, loss.spec(), task)
        };
        Ok((settings, inference))
    }
}

/// A row of the progress table.
pub struct Progress<'a> {
    /// Average loss so far, in the first pass of the examples learned from, in later ones of those that are kept from learning, if any are.
    pub average: f64,
    /// Average loss since the last row.
    pub since_last: f64,
    /// The error, or for numbers in a declared range the squared error, with its interval.
    pub interval: Option<Interval>,
    /// The losses are of examples that are kept from learning.
    pub held: bool,
    /// Average loss of the last examples, if they are measured.
    pub window: Option<f64>,
    /// Examples learned from.
    pub examples: u64,
    /// Label of the last example.
    pub label: String,
    /// What was predicted for it.
    pub prediction: String,
    /// Features it had.
    pub features: usize,
    /// The learner as it is now.
    pub(crate) learner: &'a dyn Learner,
}

impl Progress<'_> {
    /// The certificate so far: made when it is asked for, since it looks at every weight.
    pub fn certificate(&self) -> Option<Certificate> {
        self.learner.report(&Against::Live, None).map(|all| all.best().clone())
    }
}

impl std::fmt::Debug for Progress<'_> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let Self { average, since_last, examples, .. } = self;
        write!(
            f,
            "Progress {{ examples: {examples}, average: {average}, since_last: {since_last}, .. }}"
        )
    }
}

/// What is said while training.
#[derive(Debug)]
pub enum Said<'a> {
    /// Something was inferred or decided.
    Note(String),
    /// A row of the progress table.
    Progress(&'a Progress<'a>),
    /// Another block was learned from.
    Block {
        /// Examples so far.
        examples: u64,
        /// Their average loss.
        loss: f64,
    },
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
    plan.check()?;
    let resumed = plan.resume.as_deref().map(Model::load_stamped).transpose()?;
    let (resumed, stamp) = resumed.unzip();
    resumed.as_ref().map(predict::check_walk).transpose()?;
    model.map(Model::check_path).transpose()?;
    let (mut checkpoint, found) = Checkpoint::open(plan, resumed.as_ref())?.unzip();
    let resumed = found.flatten().or(resumed);
    let predictions = predictions.map(|out| Predictions::new(out, plan.proba));
    let mut sink = Sink { said, predictions };
    if let Some(at) = checkpoint.as_ref().filter(|at| at.skipped() > 0) {
        (sink.said)(Said::Note(at.note()));
    }
    let mut run: Option<Run> = None;
    let mut schema = resumed.as_ref().map(|model| model.schema.clone());
    let mut last: Option<Box<dyn Source>> = None;
    let mut best = Best::default();
    let known = resumed.as_ref().map(|model| model.settings.reading.clone()).unwrap_or_default();
    let mut open = || known.again(open());
    let mut reading = ReadSettings::default();
    for number in 0..plan.passes {
        let live = plan.knows_task();
        let options = open();
        reading = ReadSettings::of(&options);
        let source = match input::open(Options { schema: schema.take(), live, ..options }) {
            // A day without examples is no reason to stop: the model stays as it is.
            Err(RunError::Data(error)) if resumed.is_some() && error.is_no_rows() => break,
            source => source?,
        };
        let source =
            pass(plan, resumed.as_ref(), source, &mut run, checkpoint.as_mut(), &mut sink)?;
        if number == 0 {
            for remark in source.remarks() {
                (sink.said)(Said::Note(remark.to_string()));
            }
        }
        schema = Some(source.schema().clone());
        let stop = match (plan.patience, &run) {
            (Some(patience), Some(run)) => best.after(run, source.as_ref()) >= patience,
            _ => false,
        };
        last = Some(source);
        if stop {
            break;
        }
    }
    checkpoint.as_ref().map(Checkpoint::check_end).transpose()?;
    let mut run = match (run, &resumed) {
        (Some(run), _) => run,
        (None, Some(model)) => Run::quiet(plan, model, sink.said)?,
        (None, None) => return Err(RunError::Empty),
    };
    if resumed.is_none() {
        run.settings.reading = reading;
    }
    let none = Skipped::default();
    let (schema, skipped) = match (&last, &resumed) {
        (Some(source), _) => (source.schema(), source.skipped()),
        (None, Some(model)) => (&model.schema, &none),
        (None, None) => return Err(RunError::Empty),
    };
    run.look_back();
    let seconds = start.elapsed().as_secs_f64();
    let earlier = best.earlier(run.passes().to_vec(), seconds);
    let (mut summary, made) = match earlier {
        Some((summary, model)) => (summary, Some(model)),
        None => (run.summary(schema, skipped, seconds), None),
    };
    let late = last.iter().flat_map(|source| source.decisions()).filter(|one| one.is_late());
    summary.notes.extend(late.map(ToString::to_string));
    if model.is_none() && plan.comparator.is_none() && !plan.trace {
        checkpoint.iter().for_each(Checkpoint::end);
        return Ok(summary);
    }
    let made = made.unwrap_or_else(|| run.model(schema, &summary));
    if let Some(path) = model {
        match (&plan.resume, &stamp) {
            (Some(old), Some(stamp)) if target(old) == target(path) => made.save_over(path, stamp),
            _ => made.save(path),
        }?;
    }
    checkpoint.iter().for_each(Checkpoint::end);
    if let Some((which, again)) = &plan.comparator {
        let mut open = || Rows::from(open());
        let open: Option<certify::Open<'_>> = if *again { Some(&mut open) } else { None };
        let report = certify::certify(&made, Some(which), open)?;
        summary.guarantee = guarantee::lines(&summary.seen, &report, &|_| None);
        summary.certificate = Some(report);
        summary.seconds = start.elapsed().as_secs_f64();
    }
    summary.course = run.points().map(|points| Course { points, model: made });
    Ok(summary)
}

/// Goes through the data once.
fn pass(
    plan: &Plan,
    resumed: Option<&Model>,
    mut source: Box<dyn Source>,
    run: &mut Option<Run>,
    mut checkpoint: Option<&mut Checkpoint>,
    sink: &mut Sink<'_>,
) -> Result<Box<dyn Source>, RunError> {
    let mut block = Block::new();
    if source.read(&mut block, ROWS)? == 0 {
        return Ok(source);
    }
    let mut labels = source.schema().labels().clone();
    if run.is_none() {
        for decision in source.decisions() {
            (sink.said)(Said::Note(decision.to_string()));
        }
        let mut new = Run::new(plan, resumed, source.schema(), &block, sink.said)?;
        if plan.resume.is_some() {
            new.measure_apart(plan)?;
        }
        if plan.trace {
            new.trace();
        }
        if plan.rows {
            new.keep_rows();
        }
        if plan.passes == 1 {
            new.sample();
        }
        *run = Some(new);
    }
    let Some(run) = run else { return Err(RunError::Empty) };
    let intercept = run.settings.intercept;
    run.begin_pass();
    if let Some(checkpoint) = &mut checkpoint {
        checkpoint.pass_over(&mut block, source.places())?;
    }
    run.block(&mut block, source.places(), &labels, sink)
        .map_err(|error| error.named(source.schema().features(), intercept))?;
    if let Some(checkpoint) = &mut checkpoint {
        checkpoint.learned(block.len(), run, source.as_ref())?;
    }
    // A checkpoint needs the names of the features, which only the reading thread has.
    let threads = if checkpoint.is_some() { 1 } else { plan.threads };
    let (mut pump, mut filled) = (Pump::start(source, threads), Filled::default());
    let outcome = loop {
        match pump.next(&mut filled) {
            Ok(false) => break Ok(()),
            Err(error) => break Err(RunError::from(error)),
            Ok(true) => {
                labels = filled.labels.take().unwrap_or(labels);
                let Filled { block, places, .. } = &mut filled;
                if let Some(checkpoint) = &mut checkpoint
                    && let Err(error) = checkpoint.pass_over(block, places)
                {
                    break Err(error);
                }
                if let Err(error) = run.block(block, places, &labels, sink) {
                    break Err(error);
                }
                if let (Some(checkpoint), Some(source)) = (&mut checkpoint, pump.source())
                    && let Err(error) = checkpoint.learned(block.len(), run, source)
                {
                    break Err(error);
                }
            }
        }
    };
    let source = pump.stop().ok_or(RunError::Reader)?;
    match outcome {
        Ok(()) => {
            run.check_labels()?;
            run.end_pass();
            Ok(source)
        }
        Err(error) => Err(error.named(source.schema().features(), intercept)),
    }
}
