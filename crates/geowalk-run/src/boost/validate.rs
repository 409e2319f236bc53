//! # Cross-validation
//! Stratified, see [`folds`].

use geowalk::ConfigError;
use geowalk::boost::table::Classes;

use super::{Plan, Said, wrong};
use crate::error::RunError;
use crate::folds::{self, divide, stratified};
use crate::table::Examples;

/// What cross-validation found.
#[derive(Debug, Clone, PartialEq)]
pub struct Validation {
    /// The error of each fold.
    pub errors: Vec<f64>,
    /// The probabilities of all classes, row by row, each row's by the booster that has not seen it.
    pub probabilities: Vec<f64>,
}

impl Validation {
    /// Their mean.
    pub fn mean(&self) -> f64 {
        self.errors.iter().sum::<f64>() / self.errors.len() as f64
    }

    /// Their standard deviation (n − 1).
    pub fn deviation(&self) -> f64 {
        let mean = self.mean();
        let squares: f64 = self.errors.iter().map(|e| (e - mean) * (e - mean)).sum();
        (squares / (self.errors.len() as f64 - 1.0)).sqrt()
    }
}

/// What is said during cross-validation.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum Checked {
    /// One more round was made.
    Round,
    /// A fold has its error.
    Fold(usize, f64),
}

/// Are so many folds possible?
pub fn check(examples: &Examples, count: usize) -> Result<(), ConfigError> {
    folds::check(examples.classes.rows(), count)
}

/// Learns `count` times from all folds but one and tests on that one. What a run that was halted has found is
/// to be thrown away.
pub fn validate(
    plan: &Plan,
    examples: &Examples,
    count: usize,
    said: &mut dyn FnMut(Checked),
) -> Result<Validation, RunError> {
    let plan = &Plan { known: Vec::new(), ..plan.clone() };
    let Examples { table, classes, weights, .. } = examples;
    let rows = classes.rows();
    check(examples, count)?;
    let parts = stratified(classes, count, plan.seed);
    let mut errors = Vec::with_capacity(count);
    let k = classes.names().len();
    let mut probabilities = vec![0.0; rows * k];
    for at in 0..count {
        if plan.halt.is_called() {
            break;
        }
        let (rest, fold) = divide(&parts, at);
        let codes = |rows: &[u32]| -> Vec<u32> {
            rows.iter().map(|row| classes.codes()[*row as usize]).collect()
        };
        let part = |rows: &[u32]| -> Option<Vec<f64>> {
            let weights = weights.as_ref()?;
            Some(rows.iter().map(|row| weights[*row as usize]).collect())
        };
        let failed = |cause: RunError| RunError::Fold { fold: at + 1, cause: Box::new(cause) };
        let train = Classes::new(codes(&rest), classes.names().to_vec());
        let train = train.map_err(|cause| failed(cause.into()))?;
        let mut rounds = |step: &Said<'_>| {
            if let Said::Round { .. } = step {
                said(Checked::Round);
            }
        };
        let learned = plan.fit(&table.select(&rest)?, &train, part(&rest).as_deref(), &mut rounds);
        let (boosted, _) = learned.map_err(failed)?;
        let (found, all) = boosted.predict(&table.select(&fold)?)?;
        let error = wrong(&found, &codes(&fold), part(&fold).as_deref());
        for (row, own) in fold.iter().zip(all.chunks_exact(k)) {
            probabilities[*row as usize * k..][..k].copy_from_slice(own);
        }
        said(Checked::Fold(at + 1, error));
        errors.push(error);
    }
    Ok(Validation { errors, probabilities })
}
