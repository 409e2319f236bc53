//! # Predictions
//! One line per example, in the order of the input: a number, a class, or with `proba` the probability of every class.

use std::io::{self, Write};

use geowalk_data::{Label, Options, Task};

use crate::boost::{Boosted, answer};
use crate::error::RunError;
use crate::experts;
use crate::input;
use crate::label::{Coding, make_room};
use crate::learner::{largest, softmax};
use crate::link::{Floor, probability, threshold};
use crate::model::Model;
use crate::pump::{Filled, Pump};
use crate::track;
use crate::train::end_line;
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

/// Predicts what `options` read, with so many threads, and writes it; gives the number of rows.
pub fn predict(
    model: &Model,
    options: Options,
    proba: bool,
    threads: usize,
    out: &mut dyn Write,
) -> Result<u64, RunError> {
    match predict_rows(model, options, proba, threads, out) {
        // No rows, no predictions.
        Err(RunError::Data(error)) if error.is_no_rows() => Ok(0),
        predicted => predicted,
    }
}

fn predict_rows(
    model: &Model,
    options: Options,
    proba: bool,
    threads: usize,
    out: &mut dyn Write,
) -> Result<u64, RunError> {
    if Boosted::is_model(model) {
        return answer::predict(model, options, proba, out);
    }
    if model.settings.walk == tree::KIND {
        return tree::predict(model, options, proba, out);
    }
    let built = restore(model)?;
    let label = match model.schema.label() {
        Some(name) => Label::Named(name.to_owned()),
        None => Label::Absent,
    };
    let mut schema = model.schema.clone();
    if model.settings.is_fitted() {
        schema = schema.refusing_new_gaps();
    }
    let options = Options {
        schema: Some(schema),
        unlabelled: true,
        live: true,
        label: if options.label == Label::Guess { label } else { options.label },
        ..options
    };
    let coding = Coding::restore(model.settings.task, model.classes.clone());
    let mut classes = coding.texts(model.schema.labels());
    let mut unseen = model.settings.unseen();
    unseen.retain(|class| !classes.contains(class));
    let room = (unseen.len(), model.examples);
    classes.append(&mut unseen);
    let proba = proba && model.settings.task != Task::Regression;
    let floor = Floor::of_model(&model.settings);
    if proba {
        writeln!(out, "{}", classes.join(",")).map_err(RunError::Predictions)?;
    }
    let mut pump = Pump::start(input::open(options)?, threads);
    let (mut filled, mut scores, mut rows) = (Filled::default(), Vec::new(), 0);
    while pump.next(&mut filled)? {
        rows += filled.block.len() as u64;
        scores.clear();
        if proba {
            built.learner.predict(&filled.block, &mut scores);
        } else {
            built.learner.scores(&filled.block, &mut scores);
        }
        let outputs = built.learner.outputs().max(1);
        for (row, scores) in scores.chunks_exact_mut(outputs).enumerate() {
            line((&built, floor), model.settings.task, &classes, proba, room, scores, out)
                .and_then(|()| end_line(out, filled.block.tag_of(row)))
                .map_err(RunError::Predictions)?;
        }
        // The next row may be sent only when this answer has come.
        out.flush().map_err(RunError::Predictions)?;
    }
    Ok(rows)
}

/// Writes what is predicted for one example, without the end of the line. `room` are the number of classes that have not come, and of
/// the examples.
fn line(
    (built, floor): (&Built, Floor),
    task: Task,
    classes: &[String],
    proba: bool,
    room: (usize, u64),
    scores: &mut [f64],
    out: &mut dyn Write,
) -> io::Result<()> {
    let class = |number: usize| classes.get(number).map_or("(unseen)", String::as_str);
    match (task, proba) {
        (Task::Regression, _) => write!(out, "{}", scores[0]),
        (Task::Binary, false) => {
            write!(out, "{}", class(usize::from(scores[0] >= threshold(&built.loss))))
        }
        (Task::Binary, true) => {
            let p = floor.of(probability(&built.loss, scores[0]).unwrap_or(f64::NAN), 2);
            write!(out, "{},{p}", 1.0 - p)
        }
        #[allow(clippy::cast_possible_truncation, clippy::cast_sign_loss)] // a class number
        (Task::Multiclass, false) => write!(out, "{}", class(largest(scores) as usize)),
        (Task::Multiclass, true) => {
            softmax(scores);
            let seen = scores.len();
            scores.iter_mut().for_each(|p| *p = floor.of(*p, seen));
            let (unseen, examples) = room;
            let share = if unseen > 0 { make_room(scores, unseen, examples) } else { 0.0 };
            let all = scores.iter().copied().chain(std::iter::repeat_n(share, unseen));
            for (k, p) in all.enumerate() {
                write!(out, "{}{p}", if k == 0 { "" } else { "," })?;
            }
            Ok(())
        }
    }
}
