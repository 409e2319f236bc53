//! # Cross-validation and held-out rows
//! Stratified: each part has each class in the proportion of the whole, as nearly as whole rows allow. The same seed gives the same parts.

use geowalk::boost::table::Classes;
use geowalk::laws::Sampler;

use super::{Plan, Said, wrong};
use crate::error::RunError;
use crate::folds::{divide, stratified};
use crate::table::Examples;

/// The rows of each class in random order, class by class.
fn shuffled(codes: &[u32], seed: u64) -> Vec<Vec<u32>> {
    let classes = codes.iter().max().map_or(0, |most| *most as usize + 1);
    let mut rows = vec![Vec::new(); classes];
    for (row, code) in (0..).zip(codes) {
        rows[*code as usize].push(row);
    }
    let mut sampler = Sampler::new(seed);
    for rows in &mut rows {
        for at in (1..rows.len()).rev() {
            rows.swap(at, sampler.below(at + 1));
        }
    }
    rows
}

/// Rows to learn from and rows held out, of each class the same share, at least one of each class to learn from.
pub fn hold_out(codes: &[u32], share: f64, seed: u64) -> (Vec<u32>, Vec<u32>) {
    let (mut kept, mut held) = (Vec::new(), Vec::new());
    for rows in shuffled(codes, seed) {
        #[allow(clippy::cast_possible_truncation, clippy::cast_sign_loss)] // a share of the rows
        let count =
            ((rows.len() as f64 * share).round() as usize).min(rows.len().saturating_sub(1));
        held.extend_from_slice(&rows[..count]);
        kept.extend_from_slice(&rows[count..]);
    }
    kept.sort_unstable();
    held.sort_unstable();
    (kept, held)
}

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

/// Learns `count` times from all folds but one and tests on that one.
pub fn validate(
    plan: &Plan,
    examples: &Examples,
    count: usize,
    said: &mut dyn FnMut(Checked),
) -> Result<Validation, RunError> {
    let Examples { table, classes, weights, .. } = examples;
    let rows = classes.rows();
    if count < 2 || count > rows {
        return Err(geowalk::ConfigError::OutOfRange {
            name: "folds",
            value: count as f64,
            allowed: geowalk::error::Allowed::Closed(2.0, rows as f64),
        }
        .into());
    }
    let parts = stratified(classes, count, plan.seed);
    let mut errors = Vec::with_capacity(count);
    let k = classes.names().len();
    let mut probabilities = vec![0.0; rows * k];
    for at in 0..count {
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_held_out_has_its_share_and_leaves_every_class() {
        let codes: Vec<u32> = (0..50).map(|row| u32::from(row < 3)).collect();
        let (kept, held) = hold_out(&codes, 0.3, 1);
        assert_eq!((kept.len(), held.len()), (35, 15));
        assert_eq!(held.iter().filter(|row| **row < 3).count(), 1);
        let (kept, _) = hold_out(&[0, 1, 0], 0.9, 1);
        assert!(kept.contains(&1));
    }
}
