//! # What came out of a training
//! For people and, as JSON, for programs.

use geowalk_data::{Collisions, Task};
use serde_json::{Map, Value, json};

use super::trace::Course;
use crate::certificate::{self, Report};
use crate::learner::Coverage;
use crate::metrics::{Change, Interval, Seen};
use crate::team::MemberResult;

/// Measures of some examples.
#[derive(Debug, Clone, PartialEq)]
pub struct Measured {
    /// How many examples.
    pub examples: u64,
    /// Average loss.
    pub loss: f64,
    /// Metrics of the task, by name.
    pub metrics: Vec<(&'static str, f64)>,
    /// Averages with the intervals that their expectations are in.
    pub intervals: Vec<Interval>,
}

impl Measured {
    fn json(&self) -> Value {
        json!({"examples": self.examples, "loss": self.loss, "metrics": named(&self.metrics),
            "intervals": intervals(&self.intervals)})
    }
}

fn intervals(all: &[Interval]) -> Vec<Value> {
    all.iter().map(Interval::json).collect()
}

fn named(metrics: &[(&'static str, f64)]) -> Map<String, Value> {
    metrics.iter().map(|(name, value)| ((*name).to_owned(), (*value).into())).collect()
}

/// What was measured of a run that continues a model, without what came before.
#[derive(Debug, Clone, PartialEq)]
pub struct ThisRun {
    /// Examples learned from.
    pub seen: Measured,
    /// Examples that were kept from learning, in the last pass.
    pub holdout: Option<Measured>,
    /// The last examples; what is measured of them, by name.
    pub window: Option<(usize, Vec<(&'static str, f64)>)>,
}

/// How the model of the end does on rows that it learned from.
#[derive(Debug, Clone, PartialEq)]
pub struct Frozen {
    /// Their average loss when they were predicted, before they were learned from.
    pub loss_then: f64,
    /// What is measured of them now.
    pub now: Measured,
}

/// The last examples and what is measured of them, as JSON.
fn window_json(window: Option<&(usize, Vec<(&'static str, f64)>)>) -> Option<Map<String, Value>> {
    let (examples, metrics) = window?;
    let mut object = named(metrics);
    object.insert("examples".to_owned(), (*examples).into());
    Some(object)
}

/// What came out of a training.
#[derive(Debug)]
pub struct Summary {
    /// Examples learned from, those of a resumed model included; their progressive loss and metrics.
    pub seen: Measured,
    /// Average loss since the last row of the table.
    pub since_last: f64,
    /// Where the error of classes changed.
    pub changes: Vec<Change>,
    /// Examples that were kept from learning, in the last pass.
    pub holdout: Option<Measured>,
    /// Their loss in each pass of this run.
    pub holdout_passes: Vec<f64>,
    /// The last examples; what is measured of them, by name.
    pub window: Option<(usize, Vec<(&'static str, f64)>)>,
    /// The same of this run alone, if it continued a model.
    pub this_run: Option<ThisRun>,
    /// What was learned.
    pub task: Task,
    /// Why, and what to type if it was guessed wrong, where numbers were taken for classes or may be classes.
    pub task_reason: Option<String>,
    /// The walk.
    pub walk: String,
    /// The loss.
    pub loss_name: String,
    /// The rate.
    pub rate: String,
    /// The model predicts with averaged weights.
    pub average: bool,
    /// The members of a team, and what became of them.
    pub members: Vec<MemberResult>,
    /// What became of the intervals of predictions, if there are any.
    pub coverage: Option<Coverage>,
    /// How the model of the end does on a sample of the rows of this run, if it was judged by them.
    pub frozen: Option<Frozen>,
    /// How the weights were fitted to all rows at once, if they were.
    pub fit: Option<Value>,
    /// Does the walk converge to the optimum? Of natural gradient: the theorem, its conditions, the measured gap.
    pub convergence: Option<Value>,
    /// The course of the run, if it was asked for.
    pub course: Option<Course>,
    /// What was measured of every row that was learned from, if it was asked for.
    pub rows: Vec<Seen>,
    /// What the run is good for, in sentences: at most four lines.
    pub guarantee: Vec<String>,
    /// The certificates, if they were kept.
    pub certificate: Option<Report>,
    /// Bits of the hash of the features, and names that share a place; none if features are not hashed.
    pub collisions: Option<(u32, Collisions)>,
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
    /// Were the weights fitted to all rows at once?
    pub fn is_fitted(&self) -> bool {
        self.fit.as_ref().is_some_and(|fit| fit.get("members").is_some())
    }

    /// The summary as one JSON object.
    pub fn json(&self) -> Value {
        let mut object = self.record();
        if self.holdout.is_some() {
            object["holdout"]["passes"] = self.holdout_passes.clone().into();
        }
        object["this_run"] = self.this_run.as_ref().map_or(Value::Null, |run| {
            let mut object = run.seen.json();
            object["holdout"] = run.holdout.as_ref().map(Measured::json).into();
            object["window"] = window_json(run.window.as_ref()).into();
            object
        });
        object["final_model"] = self.frozen.as_ref().map_or(Value::Null, |frozen| {
            let Measured { examples, loss, metrics, .. } = &frozen.now;
            json!({"examples": examples, "loss": loss, "loss_when_predicted": frozen.loss_then,
                "metrics": named(metrics)})
        });
        object["guarantee"] = self.guarantee.clone().into();
        object["skipped"] = self.skipped.into();
        object["task_reason"] = self.task_reason.clone().into();
        object["notes"] = self.notes.clone().into();
        object["seconds"] = self.seconds.into();
        object
    }

    /// The part that depends on the examples alone: what a model file keeps. One run and two halves of it leave the same record.
    pub(super) fn record(&self) -> Value {
        let window = window_json(self.window.as_ref());
        let collisions = self.collisions.map(|(bits, c)| {
            json!({"bits": bits, "names": c.names, "shared": c.shared, "exact": c.exact, "every": c.every})
        });
        let mut record = json!({
            "examples": self.seen.examples,
            "loss": self.seen.loss,
            "since_last": self.since_last,
            "metrics": named(&self.seen.metrics),
            "intervals": intervals(&self.seen.intervals),
            "holdout": self.holdout.as_ref().map(Measured::json),
            "window": window,
            "task": self.task.name(),
            "walk": self.walk,
            "loss_name": self.loss_name,
            "rate": self.rate,
            "average": self.average,
            "members": self.members.iter().map(MemberResult::json).collect::<Vec<_>>(),
            "fit": self.fit,
            "collisions": collisions,
            "certificate": self.certificate.as_ref().map_or_else(certificate::off, Report::json),
        });
        if !self.changes.is_empty() {
            record["changes"] = self.changes.iter().map(Change::json).collect();
        }
        if let Some(Coverage { wanted, found, width, examples }) = self.coverage {
            record["interval"] = json!({"wanted": wanted, "coverage": found, "mean_width": width,
                "examples": examples});
        }
        if let Some(convergence) = &self.convergence {
            record["convergence"] = convergence.clone();
        }
        record
    }
}
