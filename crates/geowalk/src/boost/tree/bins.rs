//! # Splits between bins
//! A histogram per column and node: the tally of each bin. Of two siblings only the one with fewer rows is counted; the other is the parent less its sibling. Whole numbers are counted row by
//! row ([`panels`](super::panels)), weights column by column.
//!
//! **Cost** at most half of the rows per column and level after the root, whatever φ; 256 tallies per column for each node with many rows that waits to be split.

use rayon::prelude::*;

use super::exact::{PARALLEL, divide};
use super::grow::{Candidate, Limits, Range, Store};
use super::panels::{CODES, Panels};
use super::search::{Choice, Node, Whole};
use super::tally::Tally;
use crate::boost::binned::{Bin, Binned, BinnedColumn, midpoint};
use crate::boost::split::{Split, Test};

/// A histogram of fewer rows is not kept after the search: so what waits needs less memory than the data.
const KEPT: usize = 1 << 11;

/// The rows of each node, and the bins of each row.
pub(super) struct Bins<'a> {
    binned: &'a Binned,
    /// The same row by row, where rows are counted so.
    panels: Option<Panels>,
    rows: Vec<u32>,
    spare: Vec<u32>,
}

impl<'a> Bins<'a> {
    #[expect(clippy::cast_possible_truncation, reason = "a table has fewer than 2^32 rows")]
    pub(super) fn new(binned: &'a Binned, here: impl Fn(u32) -> bool) -> Self {
        let rows = (0..binned.rows() as u32).filter(|row| here(*row)).collect();
        Self { binned, panels: None, rows, spare: Vec::new() }
    }

    /// The histograms of all columns, one after the other.
    fn count<T: Tally>(&self, tally: &T, range: Range) -> Vec<T::Item> {
        let rows = &self.rows[range.start..range.end];
        if let Some(all) = self.panels.as_ref().and_then(|panels| tally.count(panels, rows)) {
            return all;
        }
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
    /// The histograms of a node, if they are known.
    type Carry = Option<Vec<T::Item>>;

    fn rows(&self) -> &[u32] {
        &self.rows
    }

    fn root(&mut self, tally: &T) -> Self::Carry {
        if T::WHOLE {
            self.panels = Some(Panels::new(self.binned));
        }
        Some(self.count(tally, Range { start: 0, end: self.rows.len() }))
    }

    fn keep(&self, range: Range, carry: Self::Carry) -> Self::Carry {
        carry.filter(|_| range.len() >= KEPT)
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
            .map(|(at, (column, cells))| search(tally, at, column.bins(), cells, total, limits))
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
            Test::AtMost { missing, .. } => usize::from(code) <= bin || (missing && code == gone),
            Test::Is { .. } => usize::from(code) == bin,
            Test::Known => code != gone,
        };
        if T::WHOLE && wanted == [false, false] {
            // The children are leaves, and what is in them is known: nobody will ask who their rows are.
            return (0, [None, None]);
        }
        let mut sides = [false; CODES];
        for (side, code) in sides.iter_mut().zip(0..=u8::MAX) {
            *side = passes(code);
        }
        let rows = &mut self.rows[range.start..range.end];
        let side = |row: u32| sides[usize::from(codes[row as usize])];
        let left = divide(rows, side, &mut self.spare);
        let middle = range.start + left;
        let children =
            [Range { start: range.start, end: middle }, Range { start: middle, end: range.end }];
        let mut carries = [None, None];
        if let Some(mut all) = carry
            && (0..2).any(|child| wanted[child] && children[child].len() >= KEPT)
        {
            let small = usize::from(children[1].len() < children[0].len());
            let counted = self.count(tally, children[small]);
            if wanted[1 - small] {
                let width = tally.width();
                for (from, other) in all.chunks_mut(width).zip(counted.chunks(width)) {
                    tally.sub(other, from);
                }
                carries[1 - small] = Some(all);
            }
            if wanted[small] {
                carries[small] = Some(counted);
            }
        }
        (left, carries)
    }
}

/// The best split of a column with these bins; `cells` are their tallies, and that of missing values.
pub(super) fn search<T: Tally>(
    tally: &T,
    at: usize,
    bins: &[Bin],
    cells: &[T::Item],
    total: &[T::Item],
    limits: &Limits,
) -> Option<Candidate<T::Item>> {
    let width = tally.width();
    let (cells, rest) = cells.split_at(bins.len() * width);
    let missing = &rest[..width];
    let node =
        Node { tally, total, missing, min_leaf: limits.min_leaf, tolerance: limits.tolerance };
    let rows = |bin: usize| tally.rows(&cells[bin * width..][..width]);
    let candidate = |cost, left, bin, test| {
        Some(Candidate { cost, left, split: Split { column: at, test }, bin })
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
