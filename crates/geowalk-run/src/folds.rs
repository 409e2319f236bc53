//! # Folds
//! Rows in k parts of the same size and the same proportion of classes, but for one row: what cross-validation and held-out sets take turns with. The same seed gives the same parts.

use geowalk::boost::table::Classes;
use geowalk::laws::Sampler;

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
    let mut sampler = Sampler::new(seed);
    let mut parts = vec![0; classes.rows()];
    let mut next = 0;
    for class in 0..classes.names().len() {
        let mut rows: Vec<usize> =
            (0..parts.len()).filter(|row| classes.codes()[*row] as usize == class).collect();
        for at in (1..rows.len()).rev() {
            rows.swap(at, sampler.below(at + 1));
        }
        for row in rows {
            parts[row] = next;
            next = (next + 1) % k.max(1);
        }
    }
    parts
}

/// The rows that are not in a part, and those that are.
#[expect(clippy::cast_possible_truncation, reason = "a table has fewer than 2^32 rows")]
pub fn divide(parts: &[usize], part: usize) -> (Vec<u32>, Vec<u32>) {
    (0..parts.len() as u32).partition(|row| parts[*row as usize] != part)
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
}
