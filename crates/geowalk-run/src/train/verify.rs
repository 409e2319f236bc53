//! # Replaying a run
//! A model says from which settings it came, and holds the digest of the rows it saw. Whoever has the rows can make the run again, with a fresh learner through the same loop, and compare: every
//! number of the model bit for bit, the certificate among them.
//!
//! **What can be verified** Runs over files, in one piece or continued with `--resume`, whose rows are all given, in order; several passes over the same rows. A run of several passes that was then
//! continued with other rows cannot be repeated from the rows alone.

use geowalk::certify::Verdict;
use geowalk::row::Block;
use geowalk_data::Skipped;
use serde_json::Value;

use super::run::{Run, Sink};
use super::{Plan, pass};
use crate::certificate::Report;
use crate::digest::Digest;
use crate::error::RunError;
use crate::fit;
use crate::input::Rows;
use crate::learner::Learner;
use crate::metrics::Metrics;
use crate::model::{LearnerSettings, Model};
use crate::predict;
use crate::walks;

/// Something that differs.
#[derive(Debug, Clone, PartialEq)]
pub struct Mismatch {
    /// What.
    pub what: String,
    /// What the model says.
    pub model: String,
    /// What the replay gave.
    pub replay: String,
}

/// What came out of a replay.
#[derive(Debug)]
pub struct Verified {
    /// Examples learned from.
    pub examples: u64,
    /// How often the data were gone through.
    pub passes: u64,
    /// How many numbers were compared.
    pub numbers: u64,
    /// Digest of the rows; none if the model holds none.
    pub digest: Option<String>,
    /// What differs; nothing if the model is verified.
    pub mismatches: Vec<Mismatch>,
    /// The certificate of the replay.
    pub certificate: Option<Report>,
}

/// Makes the run of a model again, on what `open` opens (once per pass), and compares.
pub fn verify(model: &Model, mut open: impl FnMut() -> Rows) -> Result<Verified, RunError> {
    if let LearnerSettings::Boost(_) | LearnerSettings::Tree(_) | LearnerSettings::Trees(_) =
        model.settings.learner
    {
        return Err(RunError::NoReplay { kind: model.settings.walk() });
    }
    predict::check_walk(model)?;
    model.settings.check_repeatable()?;
    let (run, schema, source, passes) = if let Some(about) = &model.settings.stream.fit {
        let fitted = fit::again(model, open())?.ok_or(RunError::Empty)?;
        let plan = Plan::default();
        let run = Run::new(&plan, Some(&fitted), &fitted.schema, &Block::new(), &mut |_| {})?;
        (run, fitted.schema, None, about["passes"].as_u64().unwrap_or(0))
    } else {
        let mut run = Run::begin(model.settings.clone(), walks::width(&model.schema))?;
        if model.find("metrics.intervals").is_none() {
            run.forget(Metrics::forget_intervals);
        }
        if model.find("metrics.changes").is_none() {
            run.forget(Metrics::forget_changes);
        }
        let (run, source, passes) = repeat(model, run, &mut open)?;
        (run, source.schema().clone(), Some(source), passes)
    };
    let known = model.find(Model::DIGEST).and_then(|saved| Digest::load(&saved));
    let none = Skipped::default();
    let skipped = source.as_ref().map_or(&none, |source| source.skipped());
    let summary = run.summary(&schema, skipped, 0.0);
    summary.certificate.as_ref().map(Report::check).transpose()?;
    let made = run.model(&schema, &summary);
    let mut found = Verified {
        examples: made.examples,
        passes,
        numbers: 0,
        digest: known.as_ref().map(Digest::to_string),
        mismatches: Vec::new(),
        certificate: summary.certificate,
    };
    if let (Some(known), Some(own)) = (&known, &run.digest) {
        found.compare("rows of the data", &known.rows(), &own.rows());
        found.compare("digest of the data", known, own);
    }
    found.compare("examples", &model.examples, &made.examples);
    found.arrays(model, &made);
    found.compare("classes", &format!("{:?}", model.classes), &format!("{:?}", made.classes));
    found.values("summary", &model.summary, &made.summary);
    Ok(found)
}

/// Goes through the data until as many rows have been seen as the model has.
fn repeat(
    model: &Model,
    run: Run,
    open: &mut dyn FnMut() -> Rows,
) -> Result<(Run, Box<dyn geowalk_data::Source>, u64), RunError> {
    let rows = model.find(Model::DIGEST).and_then(|saved| Digest::load(&saved)).map(|d| d.rows());
    let (mut run, mut passes, plan) = (Some(run), 0, Plan::default());
    let mut said = |_: super::Said<'_>| {};
    let mut sink = Sink { said: &mut said, predictions: None };
    loop {
        let source = open().open(&model.schema)?;
        let before = run.as_ref().map_or(0, Run::examples);
        let source = pass(&plan, None, source, &mut run, None, &mut sink)?;
        passes += 1;
        let Some(own) = &run else { return Err(RunError::Empty) };
        let enough = match (rows, &own.digest) {
            (Some(rows), Some(digest)) => digest.rows() >= rows,
            _ => own.examples() >= model.examples,
        };
        // A file may state any number of rows; several passes are a multiple of one, by rows and by examples.
        let passes_by = |all: u64, one: u64| all / one.max(1);
        let absurd = match (rows, &own.digest) {
            (Some(rows), Some(digest)) if passes == 1 => {
                let by_rows = passes_by(rows, digest.rows());
                let by_examples = passes_by(model.examples, own.examples());
                rows % digest.rows().max(1) != 0 || by_rows.abs_diff(by_examples) > 1
            }
            _ => false,
        };
        // Data without examples would go on for ever.
        if (enough || absurd || own.examples() == before)
            && let Some(run) = run
        {
            return Ok((run, source, passes));
        }
    }
}

/// What theorems say that see the comparator in every round, after the run of the model was made again before them.
pub(crate) fn replay(
    model: &Model,
    open: &mut dyn FnMut() -> Rows,
    comparator: Vec<f64>,
    ask: impl Fn(&dyn Learner) -> Option<Report>,
) -> Result<Vec<Verdict>, RunError> {
    let mut run = Run::begin(model.settings.clone(), walks::width(&model.schema))?;
    run.facing(comparator)?;
    let (run, ..) = repeat(model, run, open)?;
    Ok(ask(run.learner()).map(|report| report.theorems).unwrap_or_default())
}

impl Verified {
    fn compare<T: ToString + ?Sized>(&mut self, what: &str, model: &T, replay: &T) {
        self.numbers += 1;
        let (model, replay) = (model.to_string(), replay.to_string());
        if model != replay {
            self.mismatches.push(Mismatch { what: what.to_owned(), model, replay });
        }
    }

    /// Arrays, bit for bit. Of each the first number that differs is told.
    fn arrays(&mut self, model: &Model, made: &Model) {
        let names = model.arrays.iter().chain(&made.arrays).map(|(name, _)| name.as_str());
        let mut names: Vec<&str> = names.collect();
        names.sort_unstable();
        names.dedup();
        let missing = || "missing".to_owned();
        for name in names {
            // The digest was told of already.
            if name == Model::DIGEST {
                continue;
            }
            let (old, new) = match (model.find(name), made.find(name)) {
                (Some(old), Some(new)) => (old, new),
                (old, new) => {
                    let text = |array: Option<Vec<f64>>| {
                        array.map_or_else(missing, |array| format!("{} numbers", array.len()))
                    };
                    let what = format!("array {name}");
                    self.mismatches.push(Mismatch { what, model: text(old), replay: text(new) });
                    continue;
                }
            };
            self.numbers += old.len() as u64;
            let differ =
                |i: &usize| old.get(*i).map(|x| x.to_bits()) != new.get(*i).map(|x| x.to_bits());
            if let Some(i) = (0..old.len().max(new.len())).find(differ) {
                let text = |array: &[f64]| {
                    array
                        .get(i)
                        .map_or_else(missing, |x| format!("{x:?} (of {} numbers)", array.len()))
                };
                let what = format!("array {name}, place {i}");
                self.mismatches.push(Mismatch { what, model: text(&old), replay: text(&new) });
            }
        }
    }

    /// What is printed of the run, leaf by leaf.
    fn values(&mut self, path: &str, model: &Value, made: &Value) {
        match (model, made) {
            (Value::Object(old), Value::Object(new)) => {
                let mut keys: Vec<&String> = old.keys().chain(new.keys()).collect();
                keys.sort_unstable();
                keys.dedup();
                let none = Value::Null;
                for key in keys {
                    // Files of earlier versions do not have them.
                    if key == "intervals" && !old.contains_key(key) {
                        continue;
                    }
                    let of = |map: &'_ serde_json::Map<String, Value>| {
                        map.get(key).cloned().unwrap_or_else(|| none.clone())
                    };
                    self.values(&format!("{path}.{key}"), &of(old), &of(new));
                }
            }
            (Value::Array(old), Value::Array(new)) if old.len() == new.len() => {
                for (i, (old, new)) in old.iter().zip(new).enumerate() {
                    self.values(&format!("{path}[{i}]"), old, new);
                }
            }
            _ => self.compare(path, model, made),
        }
    }
}
