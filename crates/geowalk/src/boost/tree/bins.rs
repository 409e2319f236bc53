//! # Splits between bins
//! A histogram per column and node: the tally of each bin. Of two siblings only the one with fewer rows is counted; the other is the parent less its sibling.
//!
//! **Cost** at most half of the rows per column and level after the root, whatever φ; 256 tallies per column for each node with many rows that waits to be split.

use rayon::prelude::*;

use super::exact::{PARALLEL, divide};
use super::grow::{Candidate, Limits, Range, Store};
use super::search::{Choice, Node, Whole};
use super::tally::Tally;
use crate::boost::binned::{Bin, Binned, BinnedColumn, midpoint};
use crate::boost::split::{Split, Test};

/// Codes of a column, the one for missing values included.
const CODES: usize = 256;

/// A node with fewer rows is counted when it is searched, and its histogram not kept: so what waits needs less memory than the data.
const KEPT: usize = 1 << 11;

/// The rows of each node, and the bins of each row.
pub(super) struct Bins<'a> {
    binned: &'a Binned,
    rows: Vec<u32>,
    sides: Vec<u8>,
}

impl<'a> Bins<'a> {
    #[expect(clippy::cast_possible_truncation, reason = "a table has fewer than 2^32 rows")]
    pub(super) fn new(binned: &'a Binned, here: impl Fn(u32) -> bool) -> Self {
        let rows = (0..binned.rows() as u32).filter(|row| here(*row)).collect();
        Self { binned, rows, sides: vec![0; binned.rows()] }
    }

    /// The histograms of all columns, one after the other.
    fn count<T: Tally>(&self, tally: &T, range: Range) -> Vec<T::Item> {
        let rows = &self.rows[range.start..range.end];
        let examples: Vec<T::Example> = rows.iter().map(|row| tally.example(*row)).collect();
        let columns = self.binned.columns();
        let size = CODES * tally.width();
        let mut all = vec![T::Item::default(); columns.len() * size];
        let count = |(column, into): (&BinnedColumn, &mut [T::Item])| {
            let codes = column.codes();
            if rows.len() == codes.len() {
                tally.histogram(codes.iter().copied(), &examples, into);
            } else {
                tally.histogram(rows.iter().map(|row| codes[*row as usize]), &examples, into);
            }
        };
        if columns.len() * rows.len() > PARALLEL {
            columns.par_iter().zip(all.par_chunks_mut(size)).for_each(count);
        } else {
            columns.iter().zip(all.chunks_mut(size)).for_each(count);
        }
        all
    }
}

impl<T: Tally> Store<T> for Bins<'_> {
    /// The histograms of a node with many rows.
    type Carry = Option<Vec<T::Item>>;

    fn rows(&self) -> &[u32] {
        &self.rows
    }

    fn root(&mut self, tally: &T) -> Self::Carry {
        let range = Range { start: 0, end: self.rows.len() };
        (range.len() >= KEPT).then(|| self.count(tally, range))
    }

    fn search(
        &self,
        tally: &T,
        range: Range,
        total: &[T::Item],
        carry: &Self::Carry,
        limits: &Limits,
    ) -> Vec<Option<Candidate<T::Item>>> {
        let counted;
        let all = if let Some(all) = carry {
            all
        } else {
            counted = self.count(tally, range);
            &counted
        };
        let columns = self.binned.columns().iter().zip(all.chunks(CODES * tally.width()));
        columns
            .enumerate()
            .map(|(at, (column, cells))| search(tally, at, column, cells, total, limits))
            .collect()
    }

    fn split(
        &mut self,
        tally: &T,
        range: Range,
        carry: Self::Carry,
        chosen: &Candidate<T::Item>,
        wanted: [bool; 2],
    ) -> (usize, [Self::Carry; 2]) {
        let column = &self.binned.columns()[chosen.split.column];
        let (codes, gone, bin) = (column.codes(), column.missing(), chosen.bin);
        let passes = |code: u8| match chosen.split.test {
            Test::AtMost { missing, .. } => code <= bin || (missing && code == gone),
            Test::Is { .. } => code == bin,
            Test::Known => code != gone,
        };
        let mut left = 0;
        for row in &self.rows[range.start..range.end] {
            let side = passes(codes[*row as usize]);
            self.sides[*row as usize] = u8::from(side);
            left += usize::from(side);
        }
        divide(&mut self.rows[range.start..range.end], &self.sides, &mut Vec::new());
        let middle = range.start + left;
        let children =
            [Range { start: range.start, end: middle }, Range { start: middle, end: range.end }];
        let kept = |child: usize| wanted[child] && children[child].len() >= KEPT;
        let mut carries = [None, None];
        if let Some(mut all) = carry
            && (kept(0) || kept(1))
        {
            let small = usize::from(children[1].len() < children[0].len());
            let counted = self.count(tally, children[small]);
            if kept(1 - small) {
                let width = tally.width();
                for (from, other) in all.chunks_mut(width).zip(counted.chunks(width)) {
                    tally.sub(other, from);
                }
                carries[1 - small] = Some(all);
            }
            if kept(small) {
                carries[small] = Some(counted);
            }
        }
        (left, carries)
    }
}

fn search<T: Tally>(
    tally: &T,
    at: usize,
    column: &BinnedColumn,
    cells: &[T::Item],
    total: &[T::Item],
    limits: &Limits,
) -> Option<Candidate<T::Item>> {
    let width = tally.width();
    let bins = column.bins();
    let (cells, rest) = cells.split_at(bins.len() * width);
    let missing = &rest[..width];
    let node =
        Node { tally, total, missing, min_leaf: limits.min_leaf, tolerance: limits.tolerance };
    let rows = |bin: usize| tally.rows(&cells[bin * width..][..width]);
    #[expect(clippy::cast_possible_truncation, reason = "there are at most 255 bins")]
    let candidate = |cost, left, bin: usize, test| {
        Some(Candidate { cost, left, split: Split { column: at, test }, bin: bin as u8 })
    };
    if let Some(Bin::Interval { .. }) = bins.first() {
        let found = node.cut(cells, &Whole)?;
        let Choice::Cut { block, missing: left, .. } = found.choice else { return None };
        let next = (block + 1..bins.len()).find(|bin| rows(*bin) > 0);
        let test = match (bins[block], next.map(|next| bins[next])) {
            (Bin::Interval { most, .. }, Some(Bin::Interval { least, .. })) => {
                let left = if tally.rows(missing) > 0 {
                    left
                } else {
                    2 * tally.rows(&found.left) >= tally.rows(total)
                };
                Test::AtMost { theta: midpoint(most, least), missing: left }
            }
            _ => Test::Known,
        };
        return candidate(found.cost, found.left, block, test);
    }
    let truths = matches!(bins.first(), Some(Bin::Truth(_)));
    let named = (0..bins.len()).map(|k| if truths { bins.len() - 1 - k } else { k });
    let found = node.one(cells, named.filter(|bin| bins[*bin] != Bin::Rest && rows(*bin) > 0))?;
    match found.choice {
        Choice::One { block } => {
            let code = match bins[block] {
                Bin::Name(code) => code,
                Bin::Truth(value) => u32::from(value),
                _ => return None,
            };
            candidate(found.cost, found.left, block, Test::Is { code })
        }
        _ => candidate(found.cost, found.left, 0, Test::Known),
    }
}
