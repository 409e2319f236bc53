//! # Columns in sorted order
//! For each column its rows by rising value, computed once: a threshold search is then a scan, and a subset of the rows keeps the order when it is filtered.
//!
//! **Sparse** columns: the rows whose value is not 0.
//! **Order** Numbers by value (−0 and 0 are equal), names by their code, false before true; equal values by row. Rows whose value is missing are left out.
//! **Cost** O(n log n) per column; 4 bytes per value. Columns are sorted in parallel.

use rayon::prelude::*;

use super::table::{Column, MISSING, Table, Values};

/// The rows of each column in the order of its values.
///
/// ```
/// use geowalk::boost::sorted::Sorted;
/// use geowalk::boost::table::{Column, Table};
/// let table = Table::new(vec![Column::numeric("a", vec![2.0, f64::NAN, -1.0, 2.0])])?;
/// let sorted = Sorted::new(&table);
/// assert_eq!(sorted.rows(0), [2, 0, 3]);
/// # Ok::<(), geowalk::boost::table::TableError>(())
/// ```
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Sorted {
    columns: Vec<Vec<u32>>,
}

impl Sorted {
    /// Sorts every column of a table.
    pub fn new(table: &Table) -> Self {
        Self { columns: table.columns().par_iter().map(order).collect() }
    }

    /// The rows of a column by rising value, without those whose value is missing, or 0 in a
    /// sparse column; empty if there is no such column.
    pub fn rows(&self, column: usize) -> &[u32] {
        self.columns.get(column).map_or(&[], Vec::as_slice)
    }
}

/// A number as an integer of the same order. −0 becomes 0 first.
#[inline]
pub(crate) fn key(value: f64) -> u64 {
    let bits = (value + 0.0).to_bits();
    if bits >> 63 == 1 { !bits } else { bits | 1 << 63 }
}

#[expect(clippy::cast_possible_truncation, reason = "a table has fewer than 2^32 rows")]
fn order(column: &Column) -> Vec<u32> {
    fn by<K: Ord + Copy>(keys: impl Iterator<Item = Option<K>>) -> Vec<u32> {
        let mut pairs: Vec<(K, u32)> =
            keys.enumerate().filter_map(|(row, key)| key.map(|key| (key, row as u32))).collect();
        // The row makes the order total, so that an unstable sort has one answer.
        pairs.sort_unstable();
        pairs.into_iter().map(|(_, row)| row).collect()
    }
    match column.values() {
        Values::Numeric(values) => {
            by(values.iter().map(|value| (!value.is_nan()).then(|| key(*value))))
        }
        Values::Sparse(values) => {
            let mut pairs: Vec<(u64, u32)> = (values.values().iter().zip(values.rows()))
                .filter(|(value, _)| !value.is_nan())
                .map(|(value, row)| (key(*value), *row))
                .collect();
            pairs.sort_unstable();
            pairs.into_iter().map(|(_, row)| row).collect()
        }
        Values::Nominal { codes, .. } => {
            by(codes.iter().map(|code| (*code != MISSING).then_some(*code)))
        }
        Values::Boolean(values) => by(values.iter().copied()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn keys_have_the_order_of_numbers() {
        let rising = [f64::MIN, -1.0, -1e-320, 0.0, 1e-320, 0.5, 3.0, f64::MAX];
        assert!(rising.windows(2).all(|pair| key(pair[0]) < key(pair[1])));
        assert_eq!(key(-0.0), key(0.0));
    }

    #[test]
    fn every_kind_of_column_has_its_order() {
        let table = Table::new(vec![
            Column::numeric("a", vec![0.0, -0.0, -3.0, f64::NAN]),
            Column::nominal("b", vec![1, MISSING, 0, 1], ["x", "y"]),
            Column::boolean("c", vec![Some(true), None, Some(false), Some(false)]),
            Column::numeric("d", vec![f64::NAN; 4]),
        ])
        .unwrap();
        let sorted = Sorted::new(&table);
        assert_eq!(sorted.rows(0), [2, 0, 1]);
        assert_eq!(sorted.rows(1), [2, 0, 3]);
        assert_eq!(sorted.rows(2), [2, 3, 0]);
        assert!(sorted.rows(3).is_empty() && sorted.rows(4).is_empty());
    }
}
