//! # Splits of sparse columns
//! Row by row the bins of the values that are not 0, as places in one list of the bins of all columns. What the stored
//! values of a column do not have of a node, its bin of 0 has. So a node costs what is stored of its rows, not rows times
//! columns. Dense columns of the same table store a bin for every row.
//!
//! **Cost** per node the stored values of its rows, and the bins of the columns that have some; 4 bytes for each stored value.
//! **Order** rows are counted in their order in the node, on one thread: the same bits for every number of threads.

use rayon::prelude::*;

use super::bins::search;
use super::exact::{PARALLEL, divide};
use super::grow::{Candidate, Limits, Range, Store};
use super::tally::Tally;
use crate::boost::binned::{Bin, Binned, code_of, sort_distinct};
use crate::boost::split::{Split, Test, truth};
use crate::boost::table::{Column, MISSING, SparseValues, Table, Values};

/// A column: its bins, and after the last one that of missing values.
struct Cells {
    bins: Vec<Bin>,
    /// The place of the first bin among those of all columns.
    start: usize,
    /// The bin of the rows that are not stored.
    zero: Option<usize>,
}

impl Cells {
    fn end(&self) -> usize {
        self.start + self.bins.len() + 1
    }

    /// The bins that go left.
    fn sides(&self, test: Test) -> Vec<bool> {
        let passes = |bin: &Bin| match (test, bin) {
            (Test::AtMost { theta, .. }, Bin::Interval { most, .. }) => *most <= theta,
            (Test::Is { code }, Bin::Name(own)) => *own == code,
            (Test::Is { code }, Bin::Truth(own)) => u32::from(*own) == code,
            (Test::Known, _) => true,
            _ => false,
        };
        let missing = matches!(test, Test::AtMost { missing: true, .. });
        self.bins.iter().map(passes).chain([missing]).collect()
    }
}

/// The rows of each node, and what is stored of each row.
pub(super) struct Sparse {
    columns: Vec<Cells>,
    /// The places of the stored values of each row, rising; those of row k end at `ends[k]`.
    places: Vec<u32>,
    ends: Vec<usize>,
    rows: Vec<u32>,
    spare: Vec<u32>,
}

/// The bins of a column, and the bin of each row that is stored: of all rows if no rows are given.
struct Binning {
    bins: Vec<Bin>,
    codes: Vec<u32>,
    stored: Option<(Vec<u32>, u32)>,
}

impl Sparse {
    /// Thresholds between bins.
    pub(super) fn binned(binned: &Binned, here: impl Fn(u32) -> bool) -> Self {
        let wide = |codes: &[u8]| codes.iter().map(|code| u32::from(*code)).collect();
        let columns = binned.columns().iter().map(|column| match column.sparse_codes() {
            Some(own) => Binning {
                bins: column.bins().to_vec(),
                codes: wide(&own.codes),
                stored: Some((own.rows.clone(), u32::from(own.zero))),
            },
            None => {
                Binning { bins: column.bins().to_vec(), codes: wide(column.codes()), stored: None }
            }
        });
        Self::new(columns, binned.rows(), here)
    }

    /// Thresholds between all values.
    pub(super) fn exact(table: &Table, here: impl Fn(u32) -> bool) -> Self {
        Self::new(table.columns().iter().map(all_values), table.rows(), here)
    }

    #[expect(clippy::cast_possible_truncation, reason = "a table has fewer than 2^32 rows")]
    fn new(
        columns: impl Iterator<Item = Binning>,
        rows: usize,
        here: impl Fn(u32) -> bool,
    ) -> Self {
        let (mut all, mut cells, mut ends) = (Vec::new(), Vec::new(), vec![0_usize; rows]);
        let mut start = 0;
        for binning in columns {
            match &binning.stored {
                Some((stored, _)) => stored.iter().for_each(|row| ends[*row as usize] += 1),
                None => ends.iter_mut().for_each(|count| *count += 1),
            }
            let zero = binning.stored.as_ref().filter(|(stored, _)| stored.len() < rows);
            let zero = zero.map(|(_, zero)| *zero as usize);
            cells.push(Cells { bins: binning.bins.clone(), start, zero });
            start += binning.bins.len() + 1;
            all.push(binning);
        }
        let mut sum = 0;
        for end in &mut ends {
            (sum, *end) = (sum + *end, sum);
        }
        let mut places = vec![0; sum];
        let mut put = |row: usize, place: usize| {
            places[ends[row]] = place as u32;
            ends[row] += 1;
        };
        for (binning, Cells { start, .. }) in all.iter().zip(&cells) {
            let codes = binning.codes.iter().map(|code| start + *code as usize);
            match &binning.stored {
                Some((stored, _)) => {
                    stored.iter().zip(codes).for_each(|(row, place)| put(*row as usize, place));
                }
                None => codes.enumerate().for_each(|(row, place)| put(row, place)),
            }
        }
        let rows = (0..rows as u32).filter(|row| here(*row)).collect();
        Self { columns: cells, places, ends, rows, spare: Vec::new() }
    }

    /// The places of a row.
    fn places(&self, row: u32) -> &[u32] {
        let row = row as usize;
        let start = row.checked_sub(1).map_or(0, |before| self.ends[before]);
        &self.places[start..self.ends[row]]
    }
}

/// Every value has a bin.
#[expect(clippy::cast_possible_truncation, reason = "codes are 32 bits wide")]
fn all_values(column: &Column) -> Binning {
    let numbers = |values: &[f64], zero: Option<f64>| {
        let sorted = sort_distinct(values.iter().copied().chain(zero));
        let codes = values.iter().map(|x| code_of(*x, &sorted)).collect();
        let bin = |x: &f64| Bin::Interval { least: *x, most: *x };
        (sorted.iter().map(bin).collect(), codes, code_of(0.0, &sorted))
    };
    match column.values() {
        Values::Numeric(values) => {
            let (bins, codes, _) = numbers(values, None);
            Binning { bins, codes, stored: None }
        }
        Values::Sparse(own) => {
            let (bins, codes, zero) = numbers(own.values(), some_zero(own));
            Binning { bins, codes, stored: Some((own.rows().to_vec(), zero)) }
        }
        Values::Nominal { codes, names } => {
            let count = names.len() as u32;
            let code = |code: &u32| if *code == MISSING { count } else { *code };
            let bins = (0..count).map(Bin::Name).collect();
            Binning { bins, codes: codes.iter().map(code).collect(), stored: None }
        }
        Values::Boolean(values) => {
            let code = |value: &Option<bool>| truth(*value).min(2);
            let bins = vec![Bin::Truth(false), Bin::Truth(true)];
            Binning { bins, codes: values.iter().map(code).collect(), stored: None }
        }
    }
}

/// 0, if a row has it that is not stored.
pub(super) fn some_zero(values: &SparseValues) -> Option<f64> {
    (values.rows().len() < values.len()).then_some(0.0)
}

impl<T: Tally> Store<T> for Sparse {
    type Carry = ();

    fn rows(&self) -> &[u32] {
        &self.rows
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
        let width = tally.width();
        let count = self.columns.last().map_or(0, Cells::end);
        let mut all = vec![T::Item::default(); count * width];
        let mut met = vec![false; count];
        let mut counted = 0;
        for row in &self.rows[range.start..range.end] {
            let example = tally.example(*row);
            let places = self.places(*row);
            for place in places {
                let place = *place as usize;
                met[place] = true;
                tally.put(example, &mut all[place * width..][..width]);
            }
            counted += places.len();
        }
        // A column of which nothing is stored is 0 in all rows.
        let column = |(at, column): (usize, &Cells)| {
            let places = column.start..column.end();
            if !met[places.clone()].contains(&true) {
                return None;
            }
            let mut cells = all[places.start * width..places.end * width].to_vec();
            if let Some(zero) = column.zero {
                let mut rest = total.to_vec();
                cells.chunks_exact(width).for_each(|cell| tally.sub(cell, &mut rest));
                tally.add(&rest, &mut cells[zero * width..][..width]);
            }
            search(tally, at, &column.bins, &cells, total, limits)
        };
        if counted > PARALLEL {
            self.columns.par_iter().enumerate().with_min_len(64).map(column).collect()
        } else {
            self.columns.iter().enumerate().map(column).collect()
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
        if T::WHOLE && wanted == [false, false] {
            // The children are leaves, and what is in them is known: their rows are not needed.
            return (0, [(), ()]);
        }
        let Split { column, test } = chosen.split;
        let column = &self.columns[column];
        let sides = column.sides(test);
        let mut rows = std::mem::take(&mut self.rows);
        let mut spare = std::mem::take(&mut self.spare);
        let side = |row: u32| {
            let places = self.places(row);
            let at = places.partition_point(|place| (*place as usize) < column.start);
            let own = places.get(at).map(|place| *place as usize).filter(|at| *at < column.end());
            let bin = own.map_or(column.zero, |place| Some(place - column.start));
            bin.is_some_and(|bin| sides[bin])
        };
        let left = divide(&mut rows[range.start..range.end], side, &mut spare);
        (self.rows, self.spare) = (rows, spare);
        (left, [(), ()])
    }
}
