//! # Binned columns
//! Each column as one byte per row: at most 255 bins, and a code for missing values. A threshold between bins is a threshold between values of the data, so that what is learned from bins
//! speaks of the columns themselves.
//!
//! | column | bins |
//! |---|---|
//! | numeric | intervals of values; each distinct value its own bin if there are few enough; otherwise of nearly equal numbers of rows, where a frequent value has a bin alone |
//! | nominal | one for each name; if there are too many, the most frequent ones, and one [`Bin::Rest`] for all others |
//! | sparse | as numeric; only the codes of values that are not 0 are kept |
//! | boolean | false, true |
//!
//! A numeric cut is the midpoint of the largest value below it and the smallest above: the same threshold that an exact search would take there. With few distinct values both searches are the same.
//! **Cost** O(n log n) per column once, one byte per value after that. Columns are binned in parallel.
//! **Care** nothing is sampled: the bins depend on all rows, and only on them.

use std::sync::OnceLock;

use rayon::prelude::*;

use super::sorted::key;
use super::table::{Column, MISSING, SparseValues, Table, Values};
use crate::error::{Allowed, ConfigError, parameter};

/// The largest number of bins of a column, besides the code for missing values.
pub const MOST_BINS: usize = 255;

/// What a bin of a column holds.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum Bin {
    /// Numbers from `least` to `most`, both of which occur.
    Interval {
        /// The smallest.
        least: f64,
        /// The largest.
        most: f64,
    },
    /// The name with this code.
    Name(u32),
    /// The truth value.
    Truth(bool),
    /// All names without a bin of their own.
    Rest,
}

/// A column of bins.
#[derive(Debug, Clone, PartialEq)]
pub struct BinnedColumn {
    /// Of a sparse column written out when they are asked for.
    codes: OnceLock<Vec<u8>>,
    sparse: Option<SparseCodes>,
    bins: Vec<Bin>,
    /// The rows of each bin, then those without a value.
    sizes: Vec<usize>,
}

/// The bins of a sparse column.
#[derive(Debug, Clone, PartialEq)]
pub struct SparseCodes {
    /// The rows whose value is not 0, in their order.
    pub rows: Vec<u32>,
    /// Their bins.
    pub codes: Vec<u8>,
    /// The bin of all other rows.
    pub zero: u8,
}

impl BinnedColumn {
    fn new(codes: Vec<u8>, bins: Vec<Bin>) -> Self {
        let mut sizes = [0; 256];
        for code in &codes {
            sizes[usize::from(*code)] += 1;
        }
        let sizes = sizes[..=bins.len()].to_vec();
        Self { codes: OnceLock::from(codes), sparse: None, bins, sizes }
    }

    fn sparse(length: usize, sparse: SparseCodes, bins: Vec<Bin>) -> Self {
        let mut sizes = vec![0; bins.len() + 1];
        for code in &sparse.codes {
            sizes[usize::from(*code)] += 1;
        }
        sizes[usize::from(sparse.zero)] += length - sparse.rows.len();
        Self { codes: OnceLock::new(), sparse: Some(sparse), bins, sizes }
    }

    /// The bin of each row; [`missing`](Self::missing) where the value is missing. A byte for each row: of a sparse
    /// column [`sparse_codes`](Self::sparse_codes) need less.
    pub fn codes(&self) -> &[u8] {
        self.codes.get_or_init(|| {
            let Some(sparse) = &self.sparse else { return Vec::new() };
            let mut codes = vec![sparse.zero; self.len()];
            for (row, code) in sparse.rows.iter().zip(&sparse.codes) {
                codes[*row as usize] = *code;
            }
            codes
        })
    }

    /// The bins of a sparse column; `None` of others.
    pub fn sparse_codes(&self) -> Option<&SparseCodes> {
        self.sparse.as_ref()
    }

    /// How many rows there are.
    pub fn len(&self) -> usize {
        self.sizes.iter().sum()
    }

    /// Are there none?
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// What the bins hold; numbers and truth values in rising order.
    pub fn bins(&self) -> &[Bin] {
        &self.bins
    }

    /// The code of missing values: the number of bins.
    #[expect(clippy::cast_possible_truncation, reason = "there are at most 255 bins")]
    pub fn missing(&self) -> u8 {
        self.bins.len() as u8
    }

    /// In how many rows the value is missing.
    pub fn missing_rows(&self) -> usize {
        self.sizes.last().copied().unwrap_or(0)
    }

    /// How many rows a bin has; the bin after the last one is that of missing values.
    pub fn rows(&self, bin: usize) -> usize {
        self.sizes.get(bin).copied().unwrap_or(0)
    }

    /// The threshold between a numeric bin and the next one; `None` after the last and for other columns.
    pub fn cut(&self, bin: usize) -> Option<f64> {
        match (self.bins.get(bin)?, self.bins.get(bin + 1)?) {
            (Bin::Interval { most, .. }, Bin::Interval { least, .. }) => {
                Some(midpoint(*most, *least))
            }
            _ => None,
        }
    }
}

/// A number θ with below ≤ θ < above, the middle where rounding allows. The test `x ≤ θ` then separates the two.
#[inline]
pub fn midpoint(below: f64, above: f64) -> f64 {
    let middle = 0.5 * below + 0.5 * above;
    if middle < above && middle >= below { middle } else { below }
}

/// The different values, in order.
pub(crate) fn sort_distinct(values: impl Iterator<Item = f64>) -> Vec<f64> {
    let mut sorted: Vec<f64> = values.filter(|x| !x.is_nan()).collect();
    sorted.sort_unstable_by(f64::total_cmp);
    sorted.dedup();
    sorted
}

/// The place of a value among [those that occur](sort_distinct); of a missing one the place after the last.
#[expect(clippy::cast_possible_truncation, reason = "a table has fewer than 2^32 rows")]
pub(crate) fn code_of(x: f64, sorted: &[f64]) -> u32 {
    if x.is_nan() { sorted.len() as u32 } else { sorted.partition_point(|y| *y < x) as u32 }
}

/// All columns of a table as bins.
///
/// ```
/// use geowalk::boost::binned::Binned;
/// use geowalk::boost::table::{Column, Table};
/// let table = Table::new(vec![Column::numeric("a", vec![3.0, 1.0, f64::NAN, 1.0])])?;
/// let binned = Binned::new(&table, 255)?;
/// assert_eq!(binned.columns()[0].codes(), [1, 0, 2, 0]);
/// assert_eq!(binned.columns()[0].cut(0), Some(2.0));
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Debug, Clone, PartialEq)]
pub struct Binned {
    rows: usize,
    columns: Vec<BinnedColumn>,
}

impl Binned {
    /// Puts every column into at most `bins` bins, 2 ≤ bins ≤ 255.
    pub fn new(table: &Table, bins: usize) -> Result<Self, ConfigError> {
        parameter("bins", bins as f64, Allowed::Closed(2.0, MOST_BINS as f64))?;
        let columns = table.columns().par_iter().map(|column| bin(column, bins)).collect();
        Ok(Self { rows: table.rows(), columns })
    }

    /// The same, but names with fewer than `least` rows have no bin: they share the code of missing values, and
    /// so do the rarest of more names than bins. `counts` is how many rows each row stands for, if not 1.
    pub fn pooled(
        table: &Table,
        bins: usize,
        least: u64,
        counts: Option<&[u32]>,
    ) -> Result<Self, ConfigError> {
        parameter("bins", bins as f64, Allowed::Closed(2.0, MOST_BINS as f64))?;
        let one = |column: &Column| match column.values() {
            Values::Nominal { codes, names } => frequent(codes, names.len(), bins, least, counts),
            _ => bin(column, bins),
        };
        Ok(Self { rows: table.rows(), columns: table.columns().par_iter().map(one).collect() })
    }

    /// How many rows there are.
    pub fn rows(&self) -> usize {
        self.rows
    }

    /// The columns, in the order of the table.
    pub fn columns(&self) -> &[BinnedColumn] {
        &self.columns
    }
}

fn bin(column: &Column, most: usize) -> BinnedColumn {
    match column.values() {
        Values::Numeric(values) => numeric(values, most),
        Values::Nominal { codes, names } => nominal(codes, names.len(), most),
        Values::Sparse(values) => sparse(values, most),
        Values::Boolean(values) => {
            let code = |value: &Option<bool>| value.map_or(2, u8::from);
            let bins = vec![Bin::Truth(false), Bin::Truth(true)];
            BinnedColumn::new(values.iter().map(code).collect(), bins)
        }
    }
}

/// The number whose [`key`] this is.
fn unkey(key: u64) -> f64 {
    f64::from_bits(if key >> 63 == 1 { key & !(1 << 63) } else { !key })
}

/// The keys of the values that are not missing, in order.
fn sorted_keys(values: &[f64]) -> Vec<u64> {
    let mut keys: Vec<u64> =
        values.iter().filter(|value| !value.is_nan()).map(|v| key(*v)).collect();
    keys.sort_unstable();
    keys
}

fn numeric(values: &[f64], most: usize) -> BinnedColumn {
    let keys = sorted_keys(values);
    let runs = keys.chunk_by(|a, b| a == b).map(|run| (run[0], run.len()));
    let (bins, find) = bins_of(intervals(runs, keys.len(), most));
    BinnedColumn::new(values.iter().map(find).collect(), bins)
}

/// The bins that [`numeric`] gives to the same values written out.
fn sparse(values: &SparseValues, most: usize) -> BinnedColumn {
    let keys = sorted_keys(values.values());
    let zeros = values.len() - values.rows().len();
    let mut runs: Vec<(u64, usize)> =
        keys.chunk_by(|a, b| a == b).map(|run| (run[0], run.len())).collect();
    if zeros > 0 {
        let at = runs.partition_point(|(below, _)| *below < key(0.0));
        runs.insert(at, (key(0.0), zeros));
    }
    let (bins, find) = bins_of(intervals(runs.into_iter(), keys.len() + zeros, most));
    let codes = values.values().iter().map(&find).collect();
    let sparse = SparseCodes { rows: values.rows().to_vec(), codes, zero: find(&0.0) };
    BinnedColumn::sparse(values.len(), sparse, bins)
}

/// Bins from the first and last key of each, and what finds the bin of a value.
#[expect(clippy::cast_possible_truncation, reason = "there are at most 255 bins")]
fn bins_of(bins: Vec<(u64, u64)>) -> (Vec<Bin>, impl Fn(&f64) -> u8) {
    // The largest key of each bin but the last, padded to a power of two: a search without branches that a processor would have to guess.
    let tops: Vec<u64> = bins.iter().rev().skip(1).rev().map(|(_, top)| *top).collect();
    let bins: Vec<Bin> = bins
        .into_iter()
        .map(|(low, high)| Bin::Interval { least: unkey(low), most: unkey(high) })
        .collect();
    let mut ladder = [u64::MAX; 256];
    ladder[..tops.len()].copy_from_slice(&tops);
    let missing = bins.len() as u8;
    let find = move |value: &f64| {
        if value.is_nan() {
            return missing;
        }
        let wanted = key(*value);
        let mut at = 0_usize;
        for step in [128, 64, 32, 16, 8, 4, 2, 1] {
            // How many tops lie below the value.
            at += if ladder[(at + step - 1) & 255] < wanted { step } else { 0 };
        }
        at as u8
    };
    (bins, find)
}

/// The first and last key of each bin. A bin is closed when it has its share of what is left; a value that has more than a share by itself
/// gets its own bin.
///
/// Each run is a key and in how many rows it occurs, in the order of the keys; `left` rows in all.
fn intervals(
    runs: impl Iterator<Item = (u64, usize)> + Clone,
    mut left: usize,
    most: usize,
) -> Vec<(u64, u64)> {
    let distinct = runs.clone().take(most + 1).count();
    if distinct <= most {
        return runs.map(|(key, _)| (key, key)).collect();
    }
    let mut bins: Vec<(u64, u64)> = Vec::with_capacity(most);
    let mut rows = 0;
    let mut runs = runs.peekable();
    while let Some((key, count)) = runs.next() {
        match bins.last_mut() {
            Some(last) if rows > 0 => last.1 = key,
            _ => bins.push((key, key)),
        }
        rows += count;
        let open = most + 1 - bins.len();
        let share = (left as f64 / open as f64).max(1.0);
        let next = runs.peek().map_or(0, |next| next.1) as f64;
        // The next value joins only if that brings the bin closer to its share.
        let full = rows as f64 >= share || (rows as f64 + next) - share > share - rows as f64;
        if full && open > 1 {
            left -= rows;
            rows = 0;
        }
    }
    bins
}

#[expect(clippy::cast_possible_truncation, reason = "there are at most 255 bins")]
fn nominal(codes: &[u32], names: usize, most: usize) -> BinnedColumn {
    let mut counts = vec![0_u32; names];
    for code in codes {
        if let Some(count) = counts.get_mut(*code as usize) {
            *count += 1;
        }
    }
    let mut kept: Vec<u32> = (0..names as u32).collect();
    let crowded = names > most;
    if crowded {
        // The most frequent names; of equally frequent ones the first.
        kept.sort_by_key(|code| (std::cmp::Reverse(counts[*code as usize]), *code));
        kept.truncate(most - 1);
        kept.sort_unstable();
    }
    let mut bins: Vec<Bin> = kept.iter().map(|code| Bin::Name(*code)).collect();
    let rest = bins.len() as u8;
    if crowded {
        bins.push(Bin::Rest);
    }
    let mut places = vec![rest; names];
    for (place, code) in kept.iter().enumerate() {
        places[*code as usize] = place as u8;
    }
    let missing = bins.len() as u8;
    let find = |code: &u32| match *code {
        MISSING => missing,
        code => places.get(code as usize).copied().unwrap_or(rest),
    };
    BinnedColumn::new(codes.iter().map(find).collect(), bins)
}

/// Bins for the most frequent names alone; all others are as if they were missing.
#[expect(clippy::cast_possible_truncation, reason = "there are at most 255 bins")]
fn frequent(
    codes: &[u32],
    names: usize,
    most: usize,
    least: u64,
    counts: Option<&[u32]>,
) -> BinnedColumn {
    let mut rows = vec![0_u64; names];
    for (at, code) in codes.iter().enumerate() {
        if let Some(rows) = rows.get_mut(*code as usize) {
            *rows += counts.map_or(1, |counts| u64::from(counts[at]));
        }
    }
    let mut kept: Vec<u32> =
        (0..names as u32).filter(|code| rows[*code as usize] >= least.max(1)).collect();
    kept.sort_by_key(|code| (std::cmp::Reverse(rows[*code as usize]), *code));
    kept.truncate(most);
    kept.sort_unstable();
    let missing = kept.len() as u8;
    let mut places = vec![missing; names];
    for (place, code) in kept.iter().enumerate() {
        places[*code as usize] = place as u8;
    }
    let find = |code: &u32| places.get(*code as usize).copied().unwrap_or(missing);
    let bins = kept.iter().map(|code| Bin::Name(*code)).collect();
    BinnedColumn::new(codes.iter().map(find).collect(), bins)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn column(values: Vec<f64>, bins: usize) -> BinnedColumn {
        let table = Table::new(vec![Column::numeric("a", values)]).unwrap();
        Binned::new(&table, bins).unwrap().columns.remove(0)
    }

    #[test]
    fn few_values_have_a_bin_each() {
        let binned = column(vec![-0.0, 5.0, 0.0, -2.0, 5.0, f64::NAN], 3);
        assert_eq!(binned.codes(), [1, 2, 1, 0, 2, 3]);
        assert_eq!((binned.cut(0), binned.cut(1), binned.cut(2)), (Some(-1.0), Some(2.5), None));
        assert_eq!((binned.missing(), binned.missing_rows()), (3, 1));
        let idle = column(vec![f64::NAN; 3], 255);
        assert_eq!((idle.codes(), idle.bins().len()), (&[0, 0, 0][..], 0));
    }

    #[test]
    fn many_values_share_bins_of_equal_size() {
        let values: Vec<f64> = (0..10_000).map(|k| f64::from((k * 7919) % 10_000)).collect();
        let binned = column(values.clone(), 100);
        assert_eq!(binned.bins().len(), 100);
        let mut sizes = [0; 100];
        for code in binned.codes() {
            sizes[*code as usize] += 1;
        }
        assert!(sizes.iter().all(|size| *size == 100), "{sizes:?}");
        assert_eq!(binned.cut(0), Some(99.5));
        // Codes and intervals say the same.
        for (value, code) in values.iter().zip(binned.codes()) {
            let Bin::Interval { least, most } = binned.bins()[*code as usize] else { panic!() };
            assert!(least <= *value && *value <= most);
        }
    }

    #[test]
    fn a_frequent_value_has_a_bin_alone() {
        let rare = (0..1000).map(f64::from);
        let values: Vec<f64> = rare.chain(std::iter::repeat_n(500.0, 9000)).collect();
        let binned = column(values, 50);
        assert_eq!(binned.bins().len(), 50);
        let alone = Bin::Interval { least: 500.0, most: 500.0 };
        assert!(binned.bins().contains(&alone), "{:?}", binned.bins());
    }

    #[test]
    fn any_spread_of_values_fills_at_most_the_bins() {
        for (bins, distinct, repeat) in [(2, 3, 1), (2, 1000, 3), (7, 8, 100), (254, 255, 2)] {
            for shape in [1, 2, 5] {
                let row =
                    |k: u32| std::iter::repeat_n(f64::from(k), (k % shape * repeat + 1) as usize);
                let binned = column((0..distinct).flat_map(row).collect(), bins);
                assert!(binned.bins().len() <= bins && binned.bins().len() >= 2);
                assert!(binned.codes().is_sorted());
                assert_eq!(usize::from(*binned.codes().last().unwrap()), binned.bins().len() - 1);
            }
        }
    }

    #[test]
    fn thresholds_separate_even_neighbours() {
        for below in [1.0, 1e300, -1e-310, f64::MAX / 2.0] {
            let above =
                f64::from_bits(if below > 0.0 { below.to_bits() + 1 } else { below.to_bits() - 1 });
            let theta = midpoint(below, above);
            assert!(below <= theta && theta < above, "{below} {theta} {above}");
        }
        assert_eq!(midpoint(f64::MIN, f64::MAX), 0.0);
    }

    #[test]
    fn rare_names_share_the_rest() {
        let codes: Vec<u32> =
            (0..10).flat_map(|k| std::iter::repeat_n(k, k as usize + 1)).collect();
        let names: Vec<String> = (0..10).map(|k| k.to_string()).collect();
        let table = Table::new(vec![Column::nominal("n", codes, names)]).unwrap();
        let binned = Binned::new(&table, 4).unwrap();
        let column = &binned.columns()[0];
        assert_eq!(column.bins(), [Bin::Name(7), Bin::Name(8), Bin::Name(9), Bin::Rest]);
        assert_eq!((column.codes()[0], *column.codes().last().unwrap()), (3, 2));
        assert!(Binned::new(&table, 1).is_err() && Binned::new(&table, 256).is_err());
    }
}
