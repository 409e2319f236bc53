//! # Predictions
//! One line per example, in the order of the input: a number, a class, or with `proba` the probability of every class.

use std::io::Write;

use geowalk::row::Block;
use geowalk_data::{Label, Options, Task};

use crate::boost::{Boosted, answer};
use crate::error::RunError;
use crate::experts;
use crate::input;
use crate::label::Coding;
use crate::learner::{Learner, largest, softmax};
use crate::link::{probability, threshold};
use crate::model::Model;
use crate::pump::ROWS;
use crate::track;
use crate::tree;
use crate::walks::{self, Built};

/// Was the model learned from all data at once?
pub(crate) fn is_batch(model: &Model) -> bool {
    model.settings.walk == tree::KIND || Boosted::is_model(model)
}

/// Is this the model of a walk? Others are refused.
pub(crate) fn check_walk(model: &Model) -> Result<(), RunError> {
    let kind = || model.settings.walk.clone();
    if is_batch(model) {
        return Err(RunError::Batch { kind: kind() });
    }
    if [track::KIND, experts::file::KIND].iter().any(|own| model.settings.walk.starts_with(own)) {
        return Err(RunError::Apart { kind: kind() });
    }
    Ok(())
}

/// The learner of a model, ready to predict or to go on. Models of batch learners have none.
pub fn restore(model: &Model) -> Result<Built, RunError> {
    check_walk(model)?;
    let mut built = walks::of(&model.settings, walks::width(&model.schema))?;
    built.learner.load(&mut |name| model.find(name))?;
    Ok(built)
}

/// Predicts what `options` read and writes it; gives the number of rows.
pub fn predict(
    model: &Model,
    options: Options,
    proba: bool,
    out: &mut dyn Write,
) -> Result<u64, RunError> {
    if Boosted::is_model(model) {
        return answer::predict(model, options, proba, out);
    }
    if model.settings.walk == tree::KIND {
        return tree::predict(model, options, proba, out);
    }
    let built = restore(model)?;
    let learner: &dyn Learner = built.learner.as_ref();
    let coding = Coding::restore(model.settings.task, model.classes.clone());
    let label = match model.schema.label() {
        Some(name) => Label::Named(name.to_owned()),
        None => Label::Absent,
    };
    let options = Options {
        schema: Some(model.schema.clone()),
        unlabelled: true,
        label: if options.label == Label::Guess { label } else { options.label },
        ..options
    };
    let mut source = input::open(options)?;
    let labels = model.schema.labels();
    let proba = proba && model.settings.task != Task::Regression;
    if proba {
        writeln!(out, "{}", coding.texts(labels).join(",")).map_err(RunError::Predictions)?;
    }
    let (mut block, mut scores, mut rows) = (Block::new(), Vec::new(), 0);
    loop {
        let read = source.read(&mut block, ROWS)?;
        if read == 0 {
            return Ok(rows);
        }
        rows += read as u64;
        scores.clear();
        learner.predict(&block, &mut scores);
        for scores in scores.chunks_exact_mut(learner.outputs().max(1)) {
            let line = match (model.settings.task, proba) {
                (Task::Regression, _) => scores[0].to_string(),
                (Task::Binary, false) => {
                    coding.text(usize::from(scores[0] >= threshold(&built.loss)), labels)
                }
                (Task::Binary, true) => {
                    let p = probability(&built.loss, scores[0]).unwrap_or(f64::NAN);
                    format!("{},{p}", 1.0 - p)
                }
                #[allow(clippy::cast_possible_truncation, clippy::cast_sign_loss)] // a class number
                (Task::Multiclass, false) => coding.text(largest(scores) as usize, labels),
                (Task::Multiclass, true) => {
                    softmax(scores);
                    let texts: Vec<String> = scores.iter().map(f64::to_string).collect();
                    texts.join(",")
                }
            };
            writeln!(out, "{line}").map_err(RunError::Predictions)?;
        }
    }
}
