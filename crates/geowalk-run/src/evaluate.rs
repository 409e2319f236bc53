//! # Evaluation
//! A model on rows with labels that it was not trained on: the [verdict] is the same for all learners.

use geowalk_data::{Label, Options, Source, Task};

use crate::boost::Boosted;
use crate::error::RunError;
use crate::input;
use crate::label::Coding;
use crate::learner::{largest, softmax};
use crate::link::{probability, threshold};
use crate::model::Model;
use crate::predict::restore;
use crate::pump::{Filled, Pump};
use crate::table::Reader;
use crate::tree;
use crate::verdict::{self, Numbers, Verdict};

/// How good a model is.
#[derive(Debug, Clone, PartialEq)]
pub enum Evaluation {
    /// Of classes.
    Classes(Verdict),
    /// Of numbers.
    Numbers(Numbers),
}

/// What was found on which rows.
#[derive(Debug, Clone, PartialEq)]
pub struct Evaluated {
    /// How good it is.
    pub evaluation: Evaluation,
    /// What the user should know, a line each.
    pub notes: Vec<String>,
}

/// Rows that are predicted together.
const CHUNK: usize = 1 << 14;

/// Labels and predictions, row by row.
#[derive(Default)]
pub(crate) struct Judged {
    pub(crate) labels: Vec<f64>,
    pub(crate) weights: Vec<f64>,
    /// Classes, as numbers, or predicted numbers.
    pub(crate) found: Vec<f64>,
    /// Probabilities of all classes, if all rows have them.
    pub(crate) shares: Vec<f64>,
    /// Scores of the second of two classes.
    pub(crate) scores: Vec<f64>,
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
    let label = match (options.label, model.schema.label()) {
        (Label::Guess, Some(name)) => Label::Named(name.to_owned()),
        (given, _) => given,
    };
    let options = Options { label, optional: Some(Vec::new()), ..options };
    let mut judged = Judged::default();
    let coding = Coding::restore(model.settings.task, model.classes.clone());
    let k = coding.classes().len();
    let notes = if Boosted::is_model(model) || model.settings.walk == tree::KIND {
        let boosted = Boosted::is_model(model).then(|| Boosted::of(model)).transpose()?;
        let grown = if boosted.is_none() { Some(tree::load(model)?) } else { None };
        let columns = boosted.as_ref().map(|own| own.columns);
        let columns = columns.or(grown.as_ref().map(|(tree, _)| tree.columns())).unwrap_or(0);
        let mut reader = Reader::reopen(&model.schema, columns, options)?;
        while let Some(rows) = reader.read(CHUNK)? {
            let shares = match (&boosted, &grown) {
                (Some(boosted), _) => boosted.predict(&rows.table)?.1,
                (_, Some((tree, kappa))) => tree::probabilities(tree, &rows.table, *kappa),
                (None, None) => Vec::new(),
            };
            judged.found.extend(verdict::likeliest(&shares, k).iter().map(|class| *class as f64));
            judged.shares.extend(shares);
            judged.labels.extend(rows.labels);
            judged.weights.extend(rows.weights);
        }
        notes(reader.source())
    } else {
        walk(model, options, threads, &mut judged)?
    };
    Ok((judged, notes))
}

fn notes(source: &dyn Source) -> Vec<String> {
    let mut notes: Vec<String> = source.decisions().iter().map(ToString::to_string).collect();
    let skipped = source.skipped().rows();
    if skipped > 0 {
        notes.push(format!("{skipped} rows could not be read or have no values, and are left out"));
    }
    notes
}

/// Predictions of a walk.
fn walk(
    model: &Model,
    options: Options,
    threads: usize,
    judged: &mut Judged,
) -> Result<Vec<String>, RunError> {
    let built = restore(model)?;
    let options = Options { schema: Some(model.schema.clone()), ..options };
    let mut pump = Pump::start(input::open(options)?, threads);
    let (mut filled, mut scores) = (Filled::default(), Vec::new());
    while pump.next(&mut filled)? {
        judged.labels.extend_from_slice(filled.block.labels());
        judged.weights.extend_from_slice(filled.block.weights());
        scores.clear();
        built.learner.predict(&filled.block, &mut scores);
        for scores in scores.chunks_exact_mut(built.learner.outputs().max(1)) {
            match model.settings.task {
                Task::Regression => judged.found.push(scores[0]),
                Task::Binary => {
                    judged.found.push(f64::from(u8::from(scores[0] >= threshold(&built.loss))));
                    judged.scores.push(scores[0]);
                    let p = probability(&built.loss, scores[0]);
                    judged.shares.extend(p.into_iter().flat_map(|p| [1.0 - p, p]));
                }
                Task::Multiclass => {
                    judged.found.push(largest(scores));
                    softmax(scores);
                    judged.shares.extend_from_slice(scores);
                }
            }
        }
    }
    Ok(pump.stop().map(|source| notes(source.as_ref())).unwrap_or_default())
}

#[allow(clippy::cast_possible_truncation, clippy::cast_sign_loss)] // class numbers
fn finish(
    model: &Model,
    coding: &Coding,
    classes: &[String],
    judged: Judged,
    mut notes: Vec<String>,
) -> Result<Evaluated, RunError> {
    let Judged { labels, weights, found, shares, scores } = judged;
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
