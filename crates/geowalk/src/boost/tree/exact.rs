//! # Exact splits
//! Every threshold between two different values of a node. The rows of each column are sorted once; a split divides each of these lists in two and keeps its order, so that no node sorts again.
//!
//! **Cost** O(rows) per column and level of the tree, and 4 bytes per value.

use rayon::prelude::*;

use super::grow::{Candidate, Limits, Range, Store};
use super::search::{Choice, Inside, Node};
use super::tally::Tally;
use crate::boost::binned::midpoint;
use crate::boost::sorted::Sorted;
use crate::boost::split::{Split, Test, truth};
use crate::boost::table::{Column, MISSING, Table, Values};

/// Rows of a block: few enough that most blocks need not be opened, many enough that there are few.
const BLOCK: usize = 64;

/// Below so many values a second thread costs more than it saves.
pub(super) const PARALLEL: usize = 1 << 14;

/// The rows of each column in its order, those with a missing value last; a node is the same range of all of them.
pub(super) struct Exact<'a> {
    table: &'a Table,
    lists: Vec<Vec<u32>>,
    /// By row: does it go left?
    sides: Vec<bool>,
}

impl<'a> Exact<'a> {
    /// The rows with `here` of a table.
    #[expect(clippy::cast_possible_truncation, reason = "a table has fewer than 2^32 rows")]
    pub(super) fn new(
        table: &'a Table,
        sorted: &Sorted,
        here: impl Fn(u32) -> bool + Sync,
    ) -> Self {
        let list = |(at, column): (usize, &Column)| {
            let known = sorted.rows(at).iter().copied();
            let unknown =
                (0..table.rows() as u32).filter(|row| column.values().missing(*row as usize));
            if known.len() == table.rows() {
                known.filter(|row| here(*row)).collect()
            } else {
                known.chain(unknown).filter(|row| here(*row)).collect()
            }
        };
        let lists = table.columns().par_iter().enumerate().map(list).collect();
        Self { table, lists, sides: vec![false; table.rows()] }
    }
}

impl<T: Tally> Store<T> for Exact<'_> {
    type Carry = ();

    fn rows(&self) -> &[u32] {
        self.lists.first().map_or(&[], Vec::as_slice)
    }

    fn root(&mut self, _: &T) {}

    fn keep(&self, _: Range, (): ()) {}

    fn search(
        &self,
        tally: &T,
        range: Range,
        total: &[T::Item],
        (): &(),
        limits: &Limits,
    ) -> Vec<Option<Candidate<T::Item>>> {
        let column = |(at, (column, list)): (usize, (&Column, &Vec<u32>))| {
            let list = &list[range.start..range.end];
            search(tally, at, column, list, total, limits)
        };
        let columns = self.table.columns();
        if columns.len() * range.len() > PARALLEL {
            columns.par_iter().zip(&self.lists).enumerate().map(column).collect()
        } else {
            columns.iter().zip(&self.lists).enumerate().map(column).collect()
        }
    }

    fn split(
        &mut self,
        _: &T,
        range: Range,
        (): (),
        chosen: &Candidate<T::Item>,
        wanted: [bool; 2],
    ) -> (usize, [(); 2]) {
        let Split { column, test } = chosen.split;
        let own = &self.table.columns()[column];
        let list = &self.lists[column][range.start..range.end];
        let mut left = 0;
        for row in list {
            let side = test.passes(own, *row as usize);
            self.sides[*row as usize] = side;
            left += usize::from(side);
        }
        if wanted[0] || wanted[1] {
            let sides = &self.sides;
            let divide = |spare: &mut Vec<u32>, list: &mut Vec<u32>| {
                divide(&mut list[range.start..range.end], |row| sides[row as usize], spare);
            };
            if self.lists.len() * range.len() > PARALLEL {
                self.lists.par_iter_mut().for_each_init(Vec::new, divide);
            } else {
                let mut spare = Vec::new();
                self.lists.iter_mut().for_each(|list| divide(&mut spare, list));
            }
        } else {
            // The children are leaves: who their rows are is all that is still needed.
            let list = &mut self.lists[0][range.start..range.end];
            divide(list, |row| self.sides[row as usize], &mut Vec::new());
        }
        (left, [(), ()])
    }
}

/// Those that go left first, and how many they are; the order on each side stays.
pub(super) fn divide(
    list: &mut [u32],
    left_side: impl Fn(u32) -> bool,
    spare: &mut Vec<u32>,
) -> usize {
    spare.resize(list.len().max(spare.len()), 0);
    let (mut left, mut right) = (0, 0);
    // Both places are written, one is kept: no branch that would be guessed wrong half of the time.
    for at in 0..list.len() {
        let row = list[at];
        let side = usize::from(left_side(row));
        list[left] = row;
        spare[right] = row;
        left += side;
        right += 1 - side;
    }
    list[left..].copy_from_slice(&spare[..right]);
    left
}

fn search<T: Tally>(
    tally: &T,
    at: usize,
    column: &Column,
    list: &[u32],
    total: &[T::Item],
    limits: &Limits,
) -> Option<Candidate<T::Item>> {
    let values = column.values();
    let known = list.partition_point(|row| !values.missing(*row as usize));
    let (list, unknown) = list.split_at(known);
    let mut missing = vec![T::Item::default(); tally.width()];
    tally.sum(unknown, &mut missing);
    let node = Node {
        tally,
        total,
        missing: &missing,
        min_leaf: limits.min_leaf,
        tolerance: limits.tolerance,
    };
    let candidate = |cost, left, test| {
        Some(Candidate { cost, left, split: Split { column: at, test }, bin: 0 })
    };
    match values {
        Values::Numeric(values) => {
            let blocks = Blocks::new(tally, values, list);
            let found = node.cut(&blocks.tallies, &blocks)?;
            let Choice::Cut { block, runs, missing } = found.choice else { return None };
            let end = blocks.end(block, runs);
            let value = |at: usize| list.get(at).map(|row| values[*row as usize]);
            let test = match (value(end - 1), value(end)) {
                (Some(below), Some(above)) => {
                    // Where nothing is missing, what comes later goes with the many.
                    let missing = if unknown.is_empty() { 2 * end >= list.len() } else { missing };
                    Test::AtMost { theta: midpoint(below, above), missing }
                }
                _ => Test::Known,
            };
            candidate(found.cost, found.left, test)
        }
        // Tables with sparse columns are searched by `sparse.rs`.
        Values::Sparse(_) => None,
        Values::Nominal { codes, .. } => {
            let (codes, tallies) = runs(tally, list, |row| codes[row as usize]);
            let found = node.one(&tallies, 0..codes.len())?;
            let test = match found.choice {
                Choice::One { block } => Test::Is { code: codes[block] },
                _ => Test::Known,
            };
            candidate(found.cost, found.left, test)
        }
        Values::Boolean(values) => {
            let (codes, tallies) = runs(tally, list, |row| truth(values[row as usize]));
            // True before false.
            let found = node.one(&tallies, (0..codes.len()).rev())?;
            let test = match found.choice {
                Choice::One { block } => Test::Is { code: codes[block] },
                _ => Test::Known,
            };
            candidate(found.cost, found.left, test)
        }
    }
}

/// The codes of a sorted list, each with its tally.
fn runs<T: Tally>(tally: &T, list: &[u32], code: impl Fn(u32) -> u32) -> (Vec<u32>, Vec<T::Item>) {
    let (mut codes, mut tallies) = (Vec::new(), Vec::new());
    for run in list.chunk_by(|a, b| code(*a) == code(*b)) {
        codes.push(run.first().map_or(MISSING, |row| code(*row)));
        let start = tallies.len();
        tallies.resize(start + tally.width(), T::Item::default());
        tally.sum(run, &mut tallies[start..]);
    }
    (codes, tallies)
}

/// A sorted list of rows in blocks that end where the value changes.
struct Blocks<'a, T: Tally> {
    tally: &'a T,
    values: &'a [f64],
    list: &'a [u32],
    /// Where each block ends in the list.
    ends: Vec<usize>,
    tallies: Vec<T::Item>,
}

impl<'a, T: Tally> Blocks<'a, T> {
    fn new(tally: &'a T, values: &'a [f64], list: &'a [u32]) -> Self {
        let width = tally.width();
        let count = list.len() / BLOCK + 1;
        let mut ends = Vec::with_capacity(count);
        let mut tallies = Vec::with_capacity(count * width);
        let mut start = 0;
        while start < list.len() {
            let mut end = (start + BLOCK).min(list.len());
            let last = values[list[end - 1] as usize];
            while end < list.len() && values[list[end] as usize] == last {
                end += 1;
            }
            let place = tallies.len();
            tallies.resize(place + width, T::Item::default());
            tally.sum(&list[start..end], &mut tallies[place..]);
            ends.push(end);
            start = end;
        }
        Self { tally, values, list, ends, tallies }
    }

    fn rows(&self, block: usize) -> &'a [u32] {
        let start = if block == 0 { 0 } else { self.ends[block - 1] };
        &self.list[start..self.ends[block]]
    }

    fn runs(&self, block: usize) -> impl Iterator<Item = &'a [u32]> {
        let values = self.values;
        self.rows(block).chunk_by(move |a, b| values[*a as usize] == values[*b as usize])
    }

    /// Where in the list a cut is.
    fn end(&self, block: usize, runs: Option<usize>) -> usize {
        let start = if block == 0 { 0 } else { self.ends[block - 1] };
        match runs {
            None => self.ends[block],
            Some(runs) => start + self.runs(block).take(runs).map(<[u32]>::len).sum::<usize>(),
        }
    }
}

impl<T: Tally> Inside<T::Item> for Blocks<'_, T> {
    fn several(&self, block: usize) -> bool {
        match self.rows(block) {
            [first, .., last] => self.values[*first as usize] != self.values[*last as usize],
            _ => false,
        }
    }

    fn open(&self, block: usize, runs: &mut Vec<T::Item>) {
        for run in self.runs(block) {
            let start = runs.len();
            runs.resize(start + self.tally.width(), T::Item::default());
            self.tally.sum(run, &mut runs[start..]);
        }
    }
}
