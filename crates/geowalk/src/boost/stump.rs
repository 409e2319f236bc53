//! # Stumps
//! The best single test for given weights: a split and a sign, h = s on the left and −s on the right, with the largest edge
//! $$\gamma = \sum_i w_i\,y_i\,h(o_i) = s\,\Bigl(2\sum_{i\ \text{left}} w_i y_i - \sum_i w_i y_i\Bigr), \qquad \text{weighted error} = \tfrac12\Bigl(\sum_i w_i - \gamma\Bigr).$$
//! Only the *signed weights* $w_i y_i$ enter, and only one sum per candidate is needed.
//!
//! **Thresholds** between all values ([`best_exact`]) or between bins ([`best_binned`]). Missing numbers go to the side with the larger edge; tests are those of [`Split`].
//! **Ties** Edges that differ by less than 1e-12 of $\sum w_i$ are equal; then the first column, the smallest threshold (or first name), missing values right, wins. A sign of an edge of zero is +1.
//! **Cost** one addition per value, in parallel over columns. **Source** \[NN09, eq. (86), sec. 7\]; \[FS97\].

use std::ops::Range;

use rayon::prelude::*;

use super::binned::{Bin, Binned, BinnedColumn, midpoint};
use super::sorted::Sorted;
use super::split::{Split, Test, truth};
use super::table::{Column, SparseValues, Table, TableError, Values};

/// A split with a vote: `sign` on the left, `-sign` on the right.
///
/// ```
/// use geowalk::boost::stump::best_exact;
/// use geowalk::boost::sorted::Sorted;
/// use geowalk::boost::table::{Column, Table};
/// let table = Table::new(vec![Column::numeric("x", vec![1.0, 2.0, 3.0])])?;
/// // Labels +1, −1, −1 with weights ½, ¼, ¼.
/// let stump = best_exact(&table, &Sorted::new(&table), &[0.5, -0.25, -0.25])?.unwrap();
/// assert_eq!((stump.sign, stump.edge), (1.0, 1.0));
/// assert_eq!(stump.value(&table, 1), -1.0);
/// # Ok::<(), geowalk::boost::table::TableError>(())
/// ```
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Stump {
    /// The test.
    pub split: Split,
    /// What is said of rows that pass it, +1 or −1.
    pub sign: f64,
    /// Σ w y h ≥ 0.
    pub edge: f64,
}

impl Stump {
    /// h(row), +1 or −1.
    #[inline]
    pub fn value(&self, table: &Table, row: usize) -> f64 {
        if self.split.left(table, row) { self.sign } else { -self.sign }
    }

    /// Adds α·h to the score of each row: one pass over one column.
    pub fn add(&self, table: &Table, alpha: f64, scores: &mut [f64]) {
        let Some(column) = table.columns().get(self.split.column) else { return };
        let step = alpha * self.sign;
        self.split.test.each(column, |row, left| {
            if let Some(score) = scores.get_mut(row) {
                *score += if left { step } else { -step };
            }
        });
    }

    /// The same from bins, for the rows that the stump was found on.
    pub fn add_binned(&self, binned: &Binned, alpha: f64, scores: &mut [f64]) {
        let Some(column) = binned.columns().get(self.split.column) else { return };
        let steps = self.of_codes(column, alpha * self.sign);
        for (score, code) in scores.iter_mut().zip(column.codes()) {
            *score += steps[usize::from(*code)];
        }
    }

    /// h of the rows that the stump was found on, from their bins.
    pub(crate) fn values_binned(&self, binned: &Binned, h: &mut [f64]) {
        let Some(column) = binned.columns().get(self.split.column) else { return };
        let steps = self.of_codes(column, self.sign);
        for (h, code) in h.iter_mut().zip(column.codes()) {
            *h = steps[usize::from(*code)];
        }
    }

    /// The same in one byte each, of the rows from `start` on.
    pub(crate) fn signs(&self, binned: &Binned, start: usize, h: &mut [i8]) {
        let Some(column) = binned.columns().get(self.split.column) else { return };
        let signs = self.of_codes(column, self.sign).map(|sign| if sign < 0.0 { -1 } else { 1 });
        for (h, code) in h.iter_mut().zip(&column.codes()[start..]) {
            *h = signs[usize::from(*code)];
        }
    }

    /// `step` for the codes of what passes, else −`step`.
    fn of_codes(&self, column: &BinnedColumn, step: f64) -> [f64; 256] {
        let mut steps = [-step; 256];
        for (bin, own) in column.bins().iter().enumerate() {
            steps[bin] = if passes(self.split.test, own) { step } else { -step };
        }
        if let Test::AtMost { missing: true, .. } = self.split.test {
            steps[usize::from(column.missing())] = step;
        }
        steps
    }
}

/// Does what a bin holds pass?
fn passes(test: Test, bin: &Bin) -> bool {
    match (test, bin) {
        (Test::AtMost { theta, .. }, Bin::Interval { most, .. }) => *most <= theta,
        (Test::Is { code }, Bin::Name(own)) => *own == code,
        (Test::Is { code }, Bin::Truth(own)) => u32::from(*own) == code,
        (Test::Known, _) => true,
        _ => false,
    }
}

/// Edges that differ by less than this part of the sum of weights are equal.
const TIE: f64 = 1e-12;

/// Columns that a thread counts in one pass over the weights, where there are several threads.
const TOGETHER: usize = 8;

/// Rows whose weights stay near while columns are counted, four at once.
const NEAR: usize = 2048;

/// The stump with the largest edge between bins; `None` if no column has two different values.
pub fn best_binned(binned: &Binned, signed: &[f64]) -> Result<Option<Stump>, TableError> {
    if signed.len() != binned.rows() {
        return Err(Sums::length(binned.rows(), signed.len()));
    }
    best_of_bins(binned, &|rows: Range<usize>, out: &mut [f64]| out.copy_from_slice(&signed[rows]))
}

/// The same for signed weights that are made when they are needed, some rows at a time: they need not be written to memory and read again.
pub(crate) fn best_of_bins(
    binned: &Binned,
    signed: &(impl Fn(Range<usize>, &mut [f64]) + Sync),
) -> Result<Option<Stump>, TableError> {
    let (sparse, dense): (Vec<_>, Vec<_>) = binned
        .columns()
        .iter()
        .enumerate()
        .partition(|(_, column)| column.sparse_codes().is_some());
    // Which columns go together changes no sum.
    let alone = rayon::current_num_threads() == 1;
    let together = if alone { dense.len().max(1) } else { TOGETHER };
    let groups: Vec<(Lanes, Vec<[f64; 256]>)> = dense
        .par_chunks(together)
        .map(|columns| histograms(columns, binned.rows(), signed))
        .collect();
    let written_out = || {
        let mut all = vec![0.0; binned.rows()];
        signed(0..binned.rows(), &mut all);
        all
    };
    let weights = if sparse.is_empty() { Vec::new() } else { written_out() };
    let mut whole = Lanes::default();
    whole.add(&weights);
    let lanes = groups.first().map_or(&whole, |(lanes, _)| lanes);
    let sums = lanes.sums(written_out)?;
    let cells = groups.iter().flat_map(|(_, cells)| cells);
    let mut all: Vec<Best> = dense
        .iter()
        .zip(cells)
        .map(|((at, column), cells)| in_bins(*at, column, cells, sums))
        .collect();
    if !sparse.is_empty() {
        let best = |(at, column): &(usize, &BinnedColumn)| {
            in_bins(*at, column, &sparse_cells(column, &weights, sums.total), sums)
        };
        all.extend(sparse.par_iter().with_min_len(64).map(best).collect::<Vec<_>>());
        all.sort_by_key(|best| best.column);
    }
    Ok(sums.first(all.into_iter()).map(|mut stump| {
        let column = &binned.columns()[stump.split.column];
        if let Test::AtMost { theta, missing } = &mut stump.split.test
            && column.missing_rows() == 0
        {
            let below = column
                .bins()
                .partition_point(|bin| passes(Test::AtMost { theta: *theta, missing: false }, bin));
            *missing = 2 * (0..below).map(|bin| column.rows(bin)).sum::<usize>() >= binned.rows();
        }
        stump
    }))
}

/// The stump with the largest edge between all values; `None` if no column has two different values.
pub fn best_exact(
    table: &Table,
    sorted: &Sorted,
    signed: &[f64],
) -> Result<Option<Stump>, TableError> {
    let sums = Sums::new(table.rows(), signed)?;
    let columns: Vec<Best> = table
        .columns()
        .par_iter()
        .enumerate()
        .map(|(at, column)| in_order(at, column, sorted.rows(at), signed, sums))
        .collect();
    Ok(sums.first(columns.into_iter()))
}

/// What all columns have in common.
#[derive(Debug, Clone, Copy)]
struct Sums {
    /// Σ w y.
    total: f64,
    /// The difference below which edges are equal.
    tolerance: f64,
}

/// Σ w y and Σ|w|, in four lanes.
#[derive(Debug, Clone, Copy, Default)]
struct Lanes([[f64; 2]; 4]);

impl Lanes {
    /// Adds weights; all but the last of several lists have a length that 4 divides.
    fn add(&mut self, signed: &[f64]) {
        let add = |[sum, size]: [f64; 2], w: f64| [sum + w, size + w.abs()];
        let (fours, rest) = signed.as_chunks::<4>();
        for four in fours {
            self.0.iter_mut().zip(four).for_each(|(sum, w)| *sum = add(*sum, *w));
        }
        self.0[0] = rest.iter().fold(self.0[0], |sum, w| add(sum, *w));
    }

    /// The sums; of weights that are not finite the first.
    fn sums(&self, all: impl FnOnce() -> Vec<f64>) -> Result<Sums, TableError> {
        let [total, size] =
            [0, 1].map(|k| (self.0[0][k] + self.0[1][k]) + (self.0[2][k] + self.0[3][k]));
        if !size.is_finite()
            && let Some((row, value)) = all().into_iter().enumerate().find(|(_, w)| !w.is_finite())
        {
            return Err(TableError::Weight { row, value });
        }
        Ok(Sums { total, tolerance: TIE * size })
    }
}

impl Sums {
    fn length(rows: usize, found: usize) -> TableError {
        TableError::Length { what: "the list of signed weights".to_owned(), found, rows }
    }

    fn new(rows: usize, signed: &[f64]) -> Result<Self, TableError> {
        if signed.len() != rows {
            return Err(Self::length(rows, signed.len()));
        }
        let mut lanes = Lanes::default();
        lanes.add(signed);
        lanes.sums(|| signed.to_vec())
    }

    /// The first column of those with the largest edge.
    fn first(self, columns: impl Iterator<Item = Best> + Clone) -> Option<Stump> {
        let most = columns.clone().map(|best| best.most).fold(f64::NEG_INFINITY, larger);
        columns.filter_map(|best| best.stump).find(|stump| stump.edge >= most - self.tolerance)
    }
}

fn larger(a: f64, b: f64) -> f64 {
    if b > a { b } else { a }
}

/// The best of a column: the largest edge, and the first stump that reaches it but for rounding.
#[derive(Debug, Clone, Copy)]
struct Best {
    column: usize,
    most: f64,
    stump: Option<Stump>,
}

/// Finds the largest edge, then the first candidate that has it. A candidate is Σ w y of what goes left, and a test.
fn best(
    column: usize,
    sums: Sums,
    candidates: impl Iterator<Item = f64> + Clone,
    test: impl Fn(usize) -> Test,
) -> Best {
    let edge = |left: f64| 2.0 * left - sums.total;
    let most = candidates.clone().map(|left| edge(left).abs()).fold(f64::NEG_INFINITY, larger);
    let enough = most - sums.tolerance;
    let mut candidates = candidates.enumerate();
    let stump = candidates.find(|(_, left)| edge(*left).abs() >= enough).map(|(at, left)| {
        let edge = edge(left);
        let sign = if edge < 0.0 { -1.0 } else { 1.0 };
        Stump { split: Split { column, test: test(at) }, sign, edge: edge.abs() }
    });
    Best { column, most, stump }
}

/// Σ w y of each bin of some columns and of all rows, in one pass over the weights.
fn histograms<'c>(
    columns: &[(usize, &'c BinnedColumn)],
    rows: usize,
    signed: &impl Fn(Range<usize>, &mut [f64]),
) -> (Lanes, Vec<[f64; 256]>) {
    let (mut lanes, mut cells) = (Lanes::default(), vec![[0.0; 256]; columns.len()]);
    let mut near = [0.0; NEAR];
    for start in (0..rows).step_by(NEAR) {
        let end = rows.min(start + NEAR);
        let near = &mut near[..end - start];
        signed(start..end, near);
        lanes.add(near);
        let codes = |column: &(usize, &'c BinnedColumn)| &column.1.codes()[start..end];
        let (fours, rest) = columns.as_chunks::<4>();
        let (of_fours, of_rest) = cells.as_chunks_mut::<4>();
        for (columns, [p, q, r, s]) in fours.iter().zip(of_fours) {
            let [a, b, c, d] = columns.each_ref().map(codes);
            for (((a, b), (c, d)), weight) in a.iter().zip(b).zip(c.iter().zip(d)).zip(&*near) {
                p[usize::from(*a)] += weight;
                q[usize::from(*b)] += weight;
                r[usize::from(*c)] += weight;
                s[usize::from(*d)] += weight;
            }
        }
        for (column, cells) in rest.iter().zip(of_rest) {
            for (code, weight) in codes(column).iter().zip(&*near) {
                cells[usize::from(*code)] += weight;
            }
        }
    }
    (lanes, cells)
}

fn in_bins(at: usize, column: &BinnedColumn, cells: &[f64], sums: Sums) -> Best {
    let bins = column.bins();
    let missing = cells[bins.len()];
    let known = sums.total - missing;
    let gap = column.missing_rows() > 0 && !bins.is_empty() && column.missing_rows() < column.len();
    let last = gap.then_some(known);
    if let Some(Bin::Interval { .. }) = bins.first() {
        // Per cut: missing right, then missing left.
        let mut left = 0.0;
        let prefixes: Vec<f64> = cells[..bins.len() - 1]
            .iter()
            .map(|cell| {
                left += cell;
                left
            })
            .collect();
        let test = |cut: usize, missing| match column.cut(cut) {
            Some(theta) => Test::AtMost { theta, missing },
            None => Test::Known,
        };
        if gap {
            let both = prefixes.iter().flat_map(|left| [*left, left + missing]).chain(last);
            return best(at, sums, both, |k| test(k / 2, k % 2 == 1));
        }
        return best(at, sums, prefixes.iter().copied(), |k| test(k, false));
    }
    let mut candidates: Vec<(f64, Test)> = bins
        .iter()
        .enumerate()
        .filter(|(bin, _)| (1..column.len()).contains(&column.rows(*bin)))
        .filter_map(|(bin, own)| match own {
            Bin::Name(code) => Some((cells[bin], Test::Is { code: *code })),
            Bin::Truth(value) => Some((cells[bin], Test::Is { code: u32::from(*value) })),
            _ => None,
        })
        .collect();
    if let Some(Bin::Truth(_)) = bins.first() {
        candidates.reverse();
    }
    named(at, sums, candidates, last)
}

/// One name against the rest, then whether there is one.
fn named(at: usize, sums: Sums, mut candidates: Vec<(f64, Test)>, last: Option<f64>) -> Best {
    candidates.extend(last.map(|known| (known, Test::Known)));
    best(at, sums, candidates.iter().map(|(sum, _)| *sum), |k| candidates[k].1)
}

/// Σ w y of each bin of a sparse column: what the stored rows do not have, the others have.
fn sparse_cells(column: &BinnedColumn, signed: &[f64], total: f64) -> Vec<f64> {
    let mut cells = vec![0.0; column.bins().len() + 1];
    let Some(sparse) = column.sparse_codes() else { return cells };
    let mut stored = 0.0;
    for (row, code) in sparse.rows.iter().zip(&sparse.codes) {
        cells[usize::from(*code)] += signed[*row as usize];
        stored += signed[*row as usize];
    }
    if sparse.rows.len() < column.len() {
        cells[usize::from(sparse.zero)] += total - stored;
    }
    cells
}

/// The best cut of a sparse column. `rows` are those with a value that is not 0, in the order of the values.
fn in_sparse_order(
    at: usize,
    values: &SparseValues,
    rows: &[u32],
    signed: &[f64],
    sums: Sums,
) -> Best {
    let missing: Vec<usize> =
        values.iter().filter(|(_, x)| x.is_nan()).map(|(row, _)| row).collect();
    let unknown: f64 = missing.iter().map(|row| signed[*row]).sum();
    // Each value with how many rows have it, and their Σ w y.
    let mut runs: Vec<(f64, usize, f64)> = Vec::new();
    for row in rows {
        let (value, weight) = (values.get(*row as usize), signed[*row as usize]);
        match runs.last_mut() {
            Some((last, count, sum)) if *last == value => {
                *count += 1;
                *sum += weight;
            }
            _ => runs.push((value, 1, weight)),
        }
    }
    let zeros = values.len() - values.rows().len();
    if zeros > 0 {
        let stored: f64 = runs.iter().map(|(_, _, sum)| sum).sum();
        let place = runs.partition_point(|(value, ..)| *value < 0.0);
        runs.insert(place, (0.0, zeros, sums.total - unknown - stored));
    }
    let (mut left, mut count) = (0.0, 0);
    let mut cuts: Vec<(f64, usize, f64)> = Vec::new();
    for pair in runs.windows(2) {
        left += pair[0].2;
        count += pair[0].1;
        cuts.push((left, count, midpoint(pair[0].0, pair[1].0)));
    }
    let known = values.len() - missing.len();
    let test = |cut: usize, missing| match cuts.get(cut) {
        Some((.., theta)) => Test::AtMost { theta: *theta, missing },
        None => Test::Known,
    };
    if !missing.is_empty() && known > 0 {
        let both = cuts.iter().flat_map(|(left, ..)| [*left, left + unknown]);
        let both = both.chain(Some(sums.total - unknown));
        return best(at, sums, both, |k| test(k / 2, k % 2 == 1));
    }
    let many = |k: usize| cuts.get(k).is_some_and(|(_, count, _)| 2 * count >= known);
    best(at, sums, cuts.iter().map(|(left, ..)| *left), |k| test(k, many(k)))
}

fn in_order(at: usize, column: &Column, rows: &[u32], signed: &[f64], sums: Sums) -> Best {
    let sum = |rows: &[u32]| rows.iter().map(|row| signed[*row as usize]).sum::<f64>();
    let values = column.values();
    let gap = !rows.is_empty() && rows.len() < signed.len();
    let known = if gap { sum(rows) } else { sums.total };
    let missing = sums.total - known;
    let last = gap.then_some(known);
    match values {
        Values::Numeric(values) => {
            let value = |at: usize| values[rows[at] as usize];
            // Cuts where the value changes, each with Σ w y below it.
            let mut left = 0.0;
            let mut cuts: Vec<(f64, usize)> = Vec::new();
            for end in 1..rows.len() {
                left += signed[rows[end - 1] as usize];
                if value(end - 1) != value(end) {
                    cuts.push((left, end));
                }
            }
            let test = |cut: usize, missing| match cuts.get(cut) {
                Some((_, end)) => {
                    Test::AtMost { theta: midpoint(value(end - 1), value(*end)), missing }
                }
                None => Test::Known,
            };
            if gap {
                let both = cuts.iter().flat_map(|(left, _)| [*left, left + missing]).chain(last);
                return best(at, sums, both, |k| test(k / 2, k % 2 == 1));
            }
            let many = |k: usize| cuts.get(k).is_some_and(|(_, end)| 2 * end >= rows.len());
            best(at, sums, cuts.iter().map(|(left, _)| *left), |k| test(k, many(k)))
        }
        Values::Nominal { codes, .. } => {
            let runs = rows.chunk_by(|a, b| codes[*a as usize] == codes[*b as usize]);
            let runs = runs.filter(|run| run.len() < signed.len());
            let one = |run: &[u32]| (sum(run), Test::Is { code: codes[run[0] as usize] });
            named(at, sums, runs.map(one).collect(), last)
        }
        Values::Boolean(values) => {
            let runs = rows.chunk_by(|a, b| values[*a as usize] == values[*b as usize]);
            let runs = runs.filter(|run| run.len() < signed.len());
            let one = |run: &[u32]| (sum(run), Test::Is { code: truth(values[run[0] as usize]) });
            let mut candidates: Vec<(f64, Test)> = runs.map(one).collect();
            candidates.reverse();
            named(at, sums, candidates, last)
        }
        Values::Sparse(values) => in_sparse_order(at, values, rows, signed, sums),
    }
}
