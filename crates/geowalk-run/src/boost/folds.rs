//! # Folds
//! Stratified: each fold has each class in the proportion of the whole, as nearly as whole rows allow. Seeded: the same seed gives the same folds on every machine.

use geowalk::boost::table::Classes;

use super::{Plan, Said};
use crate::error::RunError;
use crate::table::Examples;

/// SplitMix64: 64 good bits from a counter.
struct Random(u64);

impl Random {
    fn next(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9E37_79B9_7F4A_7C15);
        let mut z = self.0;
        z = (z ^ (z >> 30)).wrapping_mul(0xBF58_476D_1CE4_E5B9);
        z = (z ^ (z >> 27)).wrapping_mul(0x94D0_49BB_1331_11EB);
        z ^ (z >> 31)
    }

    /// 0 to n − 1, each as likely up to 2⁻³².
    fn below(&mut self, n: usize) -> usize {
        let product = u128::from(self.next()) * n as u128;
        usize::try_from(product >> 64).unwrap_or(0)
    }
}

/// The rows of each class in random order, class by class.
fn shuffled(codes: &[u32], seed: u64) -> Vec<Vec<u32>> {
    let classes = codes.iter().max().map_or(0, |most| *most as usize + 1);
    let mut rows = vec![Vec::new(); classes];
    for (row, code) in (0..).zip(codes) {
        rows[*code as usize].push(row);
    }
    let mut random = Random(seed);
    for rows in &mut rows {
        for at in (1..rows.len()).rev() {
            rows.swap(at, random.below(at + 1));
        }
    }
    rows
}

/// The rows of each of `count` folds, rising. Classes are dealt out one after the other, so that folds differ by at most one row.
///
/// ```
/// use geowalk_run::boost::folds::folds;
/// let found = folds(&[0, 1, 0, 1, 0, 1], 3, 7);
/// assert!(found.iter().all(|rows| rows.len() == 2 && rows[0] % 2 != rows[1] % 2));
/// ```
pub fn folds(codes: &[u32], count: usize, seed: u64) -> Vec<Vec<u32>> {
    let mut folds = vec![Vec::new(); count.max(1)];
    let dealt = shuffled(codes, seed).into_iter().flatten();
    for (at, row) in dealt.enumerate() {
        folds[at % count.max(1)].push(row);
    }
    folds.iter_mut().for_each(|rows| rows.sort_unstable());
    folds
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

/// Learns `count` times from all folds but one and tests on that one; `said` hears the number and the error of each fold.
pub fn validate(
    plan: &Plan,
    examples: &Examples,
    count: usize,
    said: &mut dyn FnMut(usize, f64),
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
    let folds = folds(classes.codes(), count, plan.seed);
    let mut errors = Vec::with_capacity(count);
    for (at, fold) in folds.iter().enumerate() {
        let mut inside = vec![false; rows];
        fold.iter().for_each(|row| inside[*row as usize] = true);
        let rest: Vec<u32> = (0..).zip(&inside).filter(|(_, i)| !**i).map(|(row, _)| row).collect();
        let codes = |rows: &[u32]| -> Vec<u32> {
            rows.iter().map(|row| classes.codes()[*row as usize]).collect()
        };
        let part = |rows: &[u32]| -> Option<Vec<f64>> {
            let weights = weights.as_ref()?;
            Some(rows.iter().map(|row| weights[*row as usize]).collect())
        };
        let train = Classes::new(codes(&rest), classes.names().to_vec())?;
        let (boosted, _) =
            plan.fit(&table.select(&rest)?, &train, part(&rest).as_deref(), &mut |_: &Said<
                '_,
            >| {})?;
        let error = boosted.error(&table.select(fold)?, &codes(fold), part(fold).as_deref())?;
        said(at + 1, error);
        errors.push(error);
    }
    Ok(Validation { errors })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn folds_are_stratified_and_partition_the_rows() {
        let codes: Vec<u32> =
            (0..103).map(|row| u32::from(row % 10 == 0) + u32::from(row % 7 == 0)).collect();
        let found = folds(&codes, 10, 3);
        let mut all: Vec<u32> = found.iter().flatten().copied().collect();
        all.sort_unstable();
        assert_eq!(all, (0..103).collect::<Vec<_>>());
        for class in 0..3 {
            let count =
                |rows: &Vec<u32>| rows.iter().filter(|r| codes[**r as usize] == class).count();
            let counts: Vec<usize> = found.iter().map(count).collect();
            assert!(counts.iter().max().unwrap() - counts.iter().min().unwrap() <= 1, "{counts:?}");
        }
        assert_eq!(found, folds(&codes, 10, 3));
        assert_ne!(found, folds(&codes, 10, 4));
    }

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
