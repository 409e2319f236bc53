//! # Folds
//! Rows in k parts of the same size and the same proportion of classes, but for one row: what cross-validation takes turns with; and a share of the rows to hold out. The same seed gives the same parts.

use geowalk::ConfigError;
use geowalk::boost::table::Classes;
use geowalk::error::Allowed;
use geowalk::laws::Sampler;

/// Are so many folds of so many rows possible?
pub fn check(rows: usize, count: usize) -> Result<(), ConfigError> {
    if (2..=rows).contains(&count) {
        return Ok(());
    }
    let allowed = Allowed::Closed(2.0, rows as f64);
    Err(ConfigError::OutOfRange { name: "folds", value: count as f64, allowed })
}

/// The part, 0 to k − 1, of each row: the rows of each class are shuffled and dealt out in turn, and the next class goes on where the last one stopped.
///
/// ```
/// use geowalk::boost::table::Classes;
/// use geowalk_run::folds::stratified;
/// let classes = Classes::new(vec![0, 0, 0, 0, 1, 1, 1, 1], ["a", "b"])?;
/// let parts = stratified(&classes, 4, 7);
/// assert!((0..4).all(|part| parts.iter().filter(|own| **own == part).count() == 2));
/// # Ok::<(), geowalk::boost::table::TableError>(())
/// ```
pub fn stratified(classes: &Classes, k: usize, seed: u64) -> Vec<usize> {
    stratified_codes(classes.codes(), k, seed)
}

/// The same of the numbers of the classes, which may be all equal.
pub(crate) fn stratified_codes(codes: &[u32], k: usize, seed: u64) -> Vec<usize> {
    let mut parts = vec![0; codes.len()];
    for (at, row) in shuffled(codes, seed).into_iter().flatten().enumerate() {
        parts[row as usize] = at % k.max(1);
    }
    parts
}

/// The rows that are not in a part, and those that are.
#[expect(clippy::cast_possible_truncation, reason = "a table has fewer than 2^32 rows")]
pub fn divide(parts: &[usize], part: usize) -> (Vec<u32>, Vec<u32>) {
    (0..parts.len() as u32).partition(|row| parts[*row as usize] != part)
}

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

/// The share up to which [`hold_out`] holds out no row: half a row of the largest class is rounded up to one.
pub fn none_below(codes: &[u32]) -> f64 {
    let most = shuffled(codes, 0).iter().map(Vec::len).max().unwrap_or(1);
    0.5 / most as f64
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn parts_have_equal_sizes_and_proportions() {
        let codes: Vec<u32> =
            (0..103).map(|k| u32::from(k % 5 == 0) + u32::from(k % 7 == 0)).collect();
        let classes = Classes::new(codes.clone(), ["a", "b", "c"]).unwrap();
        let parts = stratified(&classes, 10, 1);
        assert_eq!(parts, stratified(&classes, 10, 1));
        assert_ne!(parts, stratified(&classes, 10, 2));
        for class in 0..3 {
            let sizes: Vec<usize> = (0..10)
                .map(|part| (0..103).filter(|r| parts[*r] == part && codes[*r] == class).count())
                .collect();
            let (least, most) = (sizes.iter().min().unwrap(), sizes.iter().max().unwrap());
            assert!(most - least <= 1, "{sizes:?}");
        }
        let (others, own) = divide(&parts, 3);
        assert_eq!(others.len() + own.len(), 103);
        assert!((10..=11).contains(&own.len()) && own.iter().all(|row| parts[*row as usize] == 3));
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
