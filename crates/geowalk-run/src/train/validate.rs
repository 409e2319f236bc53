//! # Cross-validation of walks and of `fit`
//! The folds are those of [`boost`](crate::boost) and trees: the same rows, the same seed. Each fold is predicted by
//! a model that learned the other rows, in their order, and did not learn on while it predicted.
//!
//! **Care** All rows are in memory.

use geowalk::boost::Halt;
use geowalk::row::Block;
use geowalk_data::{Labels, Options, Schema, Task};

use super::{Plan, Session, Wanted};
use crate::error::RunError;
use crate::evaluate::Evaluation;
use crate::fit;
use crate::folds::{self, divide, stratified_codes};
use crate::input;
use crate::label::Coding;
use crate::pump::ROWS;
use crate::table::distinct;
use crate::trees::spread;
use crate::verdict::{Numbers, Verdict};

/// How a model is made of all rows but those of a fold.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Learning {
    /// As many passes as the plan says.
    Passes,
    /// A fit, or passes until nothing is gained; shuffled if that is set.
    Fit {
        /// In an order that the seed decides.
        shuffle: bool,
    },
}

/// What cross-validation of rows found.
#[derive(Debug)]
pub struct CrossValidated {
    /// How good predictions of the held-out rows are.
    pub evaluation: Evaluation,
    /// The probabilities of all classes, row by row, if the loss has probabilities.
    pub probabilities: Option<Vec<f64>>,
    /// The class of each row.
    pub codes: Vec<u32>,
    /// The weight of each row.
    pub weights: Vec<f64>,
}

/// Learns `count` times from all folds but one, and predicts that one.
pub fn validate(
    plan: &Plan,
    learning: Learning,
    options: Options,
    count: usize,
) -> Result<CrossValidated, RunError> {
    let mut source = input::open(options)?;
    let blocks = fit::read_all(source.as_mut())?;
    let schema = source.schema().clone();
    let rows: Vec<(&Block, usize)> = blocks
        .iter()
        .flat_map(|block| (0..block.len()).map(move |i| (block, i)))
        .filter(|(block, i)| !block.labels()[*i].is_nan() && block.weights()[*i] > 0.0)
        .collect();
    let labels: Vec<f64> = rows.iter().map(|(block, i)| block.labels()[*i]).collect();
    let weights: Vec<f64> = rows.iter().map(|(block, i)| block.weights()[*i]).collect();
    folds::check(labels.len(), count)?;
    let inferred = Task::infer(schema.labels(), &labels).task;
    let task = plan.task.unwrap_or(inferred);
    let plan = &Plan {
        task: Some(task),
        holdout: None,
        certificate: false,
        second_order: false,
        trace: false,
        window: None,
        checkpoint: None,
        ..plan.clone()
    };
    let values =
        if task == Task::Regression { Vec::new() } else { distinct(schema.labels(), &labels) };
    let place = |label: f64| values.iter().position(|value| *value == label).unwrap_or(0);
    #[expect(clippy::cast_possible_truncation, reason = "fewer classes than rows")]
    let codes: Vec<u32> = match task {
        Task::Regression => spread(&labels),
        _ => labels.iter().map(|label| place(*label) as u32).collect(),
    };
    let parts = stratified_codes(&codes, count, plan.seed);
    let names =
        if values.is_empty() { Vec::new() } else { texts(task, values.clone(), schema.labels()) };
    let k = names.len();
    let both = match (task, values.as_slice()) {
        (Task::Binary, [negative, positive]) => Some([*negative, *positive]),
        _ => None,
    };
    let mut found = vec![0.0; rows.len()];
    let mut shares = vec![0.0; rows.len() * k];
    let mut has_shares = task != Task::Regression;
    for at in 0..count {
        let failed = |cause: RunError| RunError::Fold { fold: at + 1, cause: Box::new(cause) };
        let (rest, fold) = divide(&parts, at);
        let blocks = gather(&rows, &rest);
        let session = learn(plan, learning, schema.clone(), blocks, both).map_err(failed)?;
        let classes: Vec<usize> =
            session.coding().classes().iter().map(|label| place(*label)).collect();
        has_shares &= session.has_probabilities();
        let wanted = if has_shares { Wanted::Probabilities } else { Wanted::Classes };
        let mut answers = Vec::new();
        for block in &gather(&rows, &fold) {
            session.answer(block, wanted, &mut answers);
        }
        let per_row = answers.len() / fold.len().max(1);
        for (row, answer) in fold.iter().zip(answers.chunks_exact(per_row.max(1))) {
            let row = *row as usize;
            if task == Task::Regression {
                found[row] = answer[0];
            } else if has_shares {
                for (class, share) in classes.iter().zip(answer) {
                    shares[row * k + class] = *share;
                }
            } else {
                #[expect(
                    clippy::cast_possible_truncation,
                    clippy::cast_sign_loss,
                    reason = "a class"
                )]
                let class = classes.get(answer[0] as usize);
                found[row] = class.map_or(0.0, |class| *class as f64);
            }
        }
    }
    if task == Task::Regression {
        let evaluation = Evaluation::Numbers(Numbers::new(&labels, &found, &weights));
        return Ok(CrossValidated { evaluation, probabilities: None, codes, weights });
    }
    let probabilities = has_shares.then_some(shares);
    let verdict = if let Some(all) = &probabilities {
        Verdict::of_probabilities(&names, &codes, Some(&weights), all)
    } else {
        #[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "a class")]
        let found: Vec<usize> = found.iter().map(|class| *class as usize).collect();
        Verdict::new(&names, &codes, &found, Some(&weights), None, None)
    };
    let evaluation = Evaluation::Classes(verdict);
    Ok(CrossValidated { evaluation, probabilities, codes, weights })
}

/// The names of classes, at least two.
fn texts(task: Task, values: Vec<f64>, labels: &Labels) -> Vec<String> {
    Coding::restore(task, values).texts(labels)
}

/// Some of the rows, in their order.
fn gather(rows: &[(&Block, usize)], which: &[u32]) -> Vec<Block> {
    let block = |some: &[u32]| {
        let mut block = Block::new();
        for row in some {
            let (from, i) = rows[*row as usize];
            block.append(from, i..i + 1);
        }
        block
    };
    which.chunks(ROWS).map(block).collect()
}

fn learn(
    plan: &Plan,
    learning: Learning,
    schema: Schema,
    mut blocks: Vec<Block>,
    both: Option<[f64; 2]>,
) -> Result<Session, RunError> {
    let task = plan.task.unwrap_or(Task::Regression);
    if let Learning::Fit { shuffle } = learning {
        let halt = Halt::default();
        let made = if fit::can_fit(plan, task) {
            Session::fit(plan, schema, blocks, both, &halt)?
        } else {
            let blocks = if shuffle { fit::shuffled(&blocks, plan.seed) } else { blocks };
            fit::by_walk(plan, schema, &blocks, both, &halt)?
        };
        return made.ok_or(RunError::Empty);
    }
    let first = blocks.first().ok_or(RunError::Empty)?;
    let mut session = Session::new(plan, schema, first)?;
    both.into_iter().for_each(|both| session.know(both));
    for pass in 0..plan.passes {
        if pass > 0 {
            session.begin_pass();
        }
        let last = pass + 1 == plan.passes;
        for block in &mut blocks {
            // Labels are coded in place, so a block that is needed again is copied.
            if last { session.learn(block)? } else { session.learn(&mut block.clone())? }
        }
    }
    Ok(session)
}
