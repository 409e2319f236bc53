//! # Evaluation
//! A model on rows with labels that it was not trained on: the [verdict](crate::verdict) is the same for all learners.

use geowalk_data::{Options, Source, Task};
use serde_json::Value;

use crate::error::RunError;
use crate::label::Coding;
use crate::learned::{Answers, Ask};
use crate::model::Model;
use crate::predict::Feed;
use crate::verdict::{Numbers, Verdict};

/// How good a model is.
#[derive(Debug, Clone, PartialEq)]
pub enum Evaluation {
    /// Of classes.
    Classes(Verdict),
    /// Of numbers.
    Numbers(Numbers),
}

impl Evaluation {
    /// For people: a head and a text on each line.
    pub fn lines(&self) -> Vec<(String, String)> {
        match self {
            Self::Classes(verdict) => verdict.lines(),
            Self::Numbers(numbers) => numbers.lines(),
        }
    }

    /// For programs.
    pub fn json(&self) -> Value {
        match self {
            Self::Classes(verdict) => verdict.json(),
            Self::Numbers(numbers) => numbers.json(),
        }
    }
}

/// What was found on which rows.
#[derive(Debug, Clone, PartialEq)]
pub struct Evaluated {
    /// How good it is.
    pub evaluation: Evaluation,
    /// What the user should know, a line each.
    pub notes: Vec<String>,
}

/// Labels, weights and predictions, row by row.
#[derive(Default)]
pub(crate) struct Judged {
    pub(crate) labels: Vec<f64>,
    pub(crate) weights: Vec<f64>,
    pub(crate) answers: Answers,
}

/// Evaluates a model on what `options` read, with so many threads.
pub fn evaluate(model: &Model, options: Options, threads: usize) -> Result<Evaluated, RunError> {
    let (judged, notes) = judge(model, options, threads)?;
    let coding = Coding::restore(model.settings.task, model.classes.clone());
    let classes = coding.texts(model.schema.labels());
    finish(model, &coding, &classes, judged, notes)
}

/// Predicts every row, and says what was decided while reading.
pub(crate) fn judge(
    model: &Model,
    options: Options,
    threads: usize,
) -> Result<(Judged, Vec<String>), RunError> {
    let learned = model.learned()?;
    let options = Options { optional: Some(Vec::new()), ..options };
    let mut judged = Judged::default();
    let ask = Ask { shares: true, ..Ask::default() };
    let mut feed = Feed::open(model, learned.as_ref(), options, threads, false)?;
    while let Some(part) = feed.next()? {
        judged.labels.extend_from_slice(part.labels());
        judged.weights.extend_from_slice(part.weights());
        part.answer(learned.as_ref(), ask, &mut judged.answers)?;
    }
    let notes = feed.source().map(notes).unwrap_or_default();
    Ok((judged, notes))
}

fn notes(source: &dyn Source) -> Vec<String> {
    let mut notes: Vec<String> = source.decisions().iter().map(ToString::to_string).collect();
    notes.extend(source.schema().filled().map(|one| one.to_string()));
    let skipped = source.skipped().rows();
    if skipped > 0 {
        notes.push(format!("{skipped} rows could not be read or have no values, and are left out"));
    }
    notes
}

#[allow(clippy::cast_possible_truncation, clippy::cast_sign_loss)] // class numbers
fn finish(
    model: &Model,
    coding: &Coding,
    classes: &[String],
    judged: Judged,
    mut notes: Vec<String>,
) -> Result<Evaluated, RunError> {
    let Judged { labels, weights, answers: Answers { found, shares, scores, .. } } = judged;
    let rows = labels.len();
    if model.settings.task == Task::Regression {
        let known: Vec<usize> = (0..rows).filter(|row| !labels[*row].is_nan()).collect();
        if known.is_empty() {
            return Err(RunError::NoLabels { rows: rows as u64 });
        }
        let of = |all: &[f64]| known.iter().map(|row| all[*row]).collect::<Vec<f64>>();
        let numbers = Numbers::new(&of(&labels), &of(&found), &of(&weights));
        return Ok(Evaluated { evaluation: Evaluation::Numbers(numbers), notes });
    }
    let code = |row: &usize| {
        let class = coding.classes().iter().position(|class| *class == labels[*row])?;
        Some((*row, u32::try_from(class).ok()?))
    };
    let known: Vec<(usize, u32)> = (0..rows).filter_map(|row| code(&row)).collect();
    if known.is_empty() {
        return Err(RunError::NoLabels { rows: rows as u64 });
    }
    let unlabelled = labels.iter().filter(|label| label.is_nan()).count();
    if unlabelled > 0 {
        notes.push(format!("{unlabelled} rows have no label, and are left out"));
    }
    let other = rows - unlabelled - known.len();
    if other > 0 {
        notes.push(format!(
            "{other} rows are of a class that the model does not know, and are left out"
        ));
    }
    let k = classes.len();
    let codes: Vec<u32> = known.iter().map(|(_, code)| *code).collect();
    let of = |all: &[f64]| known.iter().map(|(row, _)| all[*row]).collect::<Vec<f64>>();
    let found: Vec<usize> = of(&found).iter().map(|class| *class as usize).collect();
    let weights = of(&weights);
    let shares: Option<Vec<f64>> = (shares.len() == rows * k)
        .then(|| known.iter().flat_map(|(row, _)| &shares[row * k..][..k]).copied().collect());
    let scores = (scores.len() == rows).then(|| of(&scores));
    let weights = Some(weights.as_slice());
    let verdict =
        Verdict::new(classes, &codes, &found, weights, shares.as_deref(), scores.as_deref());
    Ok(Evaluated { evaluation: Evaluation::Classes(verdict), notes })
}
