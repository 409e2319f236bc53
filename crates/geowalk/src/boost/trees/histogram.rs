//! # Sums of slopes by bin
//! Slopes and curvatures are rounded to whole numbers of 62 bits less those that their sum needs: sums are
//! then exact, in any order and for any number of threads, and a child is its parent less its sibling to the
//! last bit. A cell is two words: Σg, and Σh above the number of rows. Columns stand side by side in panels
//! of eight, so that a row of a panel is one access; columns with few codes stand in panels of their own, whose
//! histograms are small.
//!
//! **Rounding** with n rows a slope keeps 62 − log₂ n bits (at most 50) and a curvature 63 − 2 log₂ n (at
//! most 50): of a million rows 42 and 23. Leaf values do not depend on it: they are computed from the slopes
//! themselves.

use std::ops::{AddAssign, SubAssign};

use rayon::prelude::*;

use crate::boost::binned::Binned;

/// Codes of a column, the one for missing values included.
pub(super) const CODES: usize = 256;

/// Codes of the columns of a small panel at most.
const FEW: usize = 16;

/// Columns of a panel.
const WIDE: usize = 8;

/// Rows that are fetched before they are counted.
const AHEAD: usize = 128;

/// With fewer additions threads cost more than they save.
const PARALLEL: usize = 1 << 17;

/// Σg, and Σh above the number of rows.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
#[repr(C, align(16))]
pub(super) struct Cell([i64; 2]);

impl AddAssign for Cell {
    #[inline(always)]
    fn add_assign(&mut self, other: Self) {
        self.0[0] = self.0[0].wrapping_add(other.0[0]);
        self.0[1] = self.0[1].wrapping_add(other.0[1]);
    }
}

impl SubAssign for Cell {
    #[inline(always)]
    fn sub_assign(&mut self, other: Self) {
        self.0[0] = self.0[0].wrapping_sub(other.0[0]);
        self.0[1] = self.0[1].wrapping_sub(other.0[1]);
    }
}

/// G, H and the number of rows.
#[derive(Debug, Clone, Copy, PartialEq, Default)]
pub(super) struct Sums {
    pub(super) g: f64,
    pub(super) h: f64,
    pub(super) rows: u64,
}

/// How slopes become whole numbers.
#[derive(Debug, Clone, Copy)]
pub(super) struct Units {
    g: f64,
    h: f64,
    /// 1/g and 1/h, which are powers of two as well.
    back: [f64; 2],
    /// Bits of the number of rows.
    count: u32,
}

/// 2^k.
fn power(k: i32) -> f64 {
    f64::from_bits(u64::from((k.clamp(-1000, 1000) + 1023).unsigned_abs()) << 52)
}

/// The k with 2^(k − 1) <= x < 2^k; of 0 and numbers near it, −1000.
fn exponent(x: f64) -> i32 {
    let k = (x.to_bits() >> 52 & 0x7ff) as i32 - 1022;
    k.max(-900)
}

impl Units {
    /// For slopes up to `g`, curvatures up to `h`, and a sum of `rows` counts.
    #[expect(clippy::cast_possible_wrap, reason = "a number of bits")]
    pub(super) fn new(g: f64, h: f64, rows: u64) -> Self {
        let bits = 64 - rows.leading_zeros();
        let left_g = (62 - bits as i32).min(50);
        let left_h = (63 - 2 * bits as i32).clamp(1, 50);
        let (g, h) = (left_g - exponent(g), left_h - exponent(h));
        Self { g: power(g), h: power(h), back: [power(-g), power(-h)], count: bits }
    }

    /// A row with its slope, its curvature >= 0 and the number of rows that it stands for.
    #[inline(always)]
    pub(super) fn cell(self, g: f64, h: f64, count: u32) -> Cell {
        let (g, h) = (round(g * self.g), round(h * self.h));
        Cell([g, (h << self.count) + i64::from(count)])
    }

    #[inline(always)]
    pub(super) fn sums(self, cell: Cell) -> Sums {
        let rows = cell.0[1] & ((1 << self.count) - 1);
        #[expect(clippy::cast_sign_loss, reason = "a sum of counts")]
        let rows = rows as u64;
        Sums {
            g: cell.0[0] as f64 * self.back[0],
            h: (cell.0[1] >> self.count) as f64 * self.back[1],
            rows,
        }
    }
}

/// The nearest whole number of one below 2^51, without a call.
#[inline(always)]
#[expect(clippy::cast_possible_truncation, reason = "whole and small")]
fn round(x: f64) -> i64 {
    const SHIFT: f64 = 6_755_399_441_055_744.0;
    ((x + SHIFT) - SHIFT) as i64
}

/// Eight columns side by side.
type Record = [u8; WIDE];

/// The codes of all columns.
#[derive(Debug)]
pub(super) struct Panels {
    all: Vec<Panel>,
    /// Of each column its first cell, and how many cells it has.
    places: Vec<(usize, usize)>,
    /// Cells of a histogram.
    pub(super) cells: usize,
}

/// Up to eight columns, and where their cells begin.
#[derive(Debug)]
struct Panel {
    records: Vec<Record>,
    /// Cells of each column: [`FEW`] or [`CODES`].
    codes: usize,
    first: usize,
}

impl Panels {
    pub(super) fn new(binned: &Binned) -> Self {
        let columns = binned.columns();
        let is_small = |at: &usize| columns[*at].bins().len() < FEW;
        let (small, large): (Vec<usize>, Vec<usize>) = (0..columns.len()).partition(is_small);
        let (mut places, mut cells, mut panels) = (vec![(0, 0); columns.len()], 0, Vec::new());
        for (own, codes) in [(&large, CODES), (&small, FEW)] {
            for part in own.chunks(WIDE) {
                for (k, column) in part.iter().enumerate() {
                    places[*column] = (cells + k * codes, codes);
                }
                panels.push((part, codes, cells));
                cells += WIDE * codes;
            }
        }
        let panel = |(part, codes, first): (&[usize], usize, usize)| {
            let mut records = vec![[0; WIDE]; binned.rows()];
            for (k, column) in part.iter().enumerate() {
                // A missing value has the code after the last bin.
                for (record, code) in records.iter_mut().zip(columns[*column].codes()) {
                    record[k] = *code;
                }
            }
            Panel { records, codes, first }
        };
        let all = panels.into_par_iter().map(panel).collect();
        Self { all, places, cells }
    }

    pub(super) fn columns(&self) -> usize {
        self.places.len()
    }

    /// The histogram of these rows, whose cells are given by row.
    pub(super) fn count(&self, rows: &[u32], cells: &[Cell], into: &mut [Cell]) {
        if self.all.len() * WIDE * rows.len() > PARALLEL && self.all.len() > 1 {
            let (mut rest, mut parts) = (into, Vec::with_capacity(self.all.len()));
            for panel in &self.all {
                let (own, more) = rest.split_at_mut(panel.codes * WIDE);
                parts.push((panel, own));
                rest = more;
            }
            parts.into_par_iter().for_each(|(panel, own)| panel.count(rows, cells, own));
        } else {
            for panel in &self.all {
                let own = panel.first..panel.first + panel.codes * WIDE;
                panel.count(rows, cells, &mut into[own]);
            }
        }
    }

    /// The cells of a column.
    pub(super) fn column<'a>(&self, histogram: &'a [Cell], column: usize) -> &'a [Cell] {
        let (first, count) = self.places[column];
        &histogram[first..first + count]
    }
}

impl Panel {
    fn count(&self, rows: &[u32], cells: &[Cell], into: &mut [Cell]) {
        if self.codes == FEW {
            self.count_by::<FEW>(rows, cells, into);
        } else {
            self.count_by::<CODES>(rows, cells, into);
        }
    }

    fn count_by<const N: usize>(&self, rows: &[u32], cells: &[Cell], into: &mut [Cell]) {
        into.fill(Cell::default());
        let Ok(block) = <&mut [[Cell; N]; WIDE]>::try_from(into.as_chunks_mut::<N>().0) else {
            return;
        };
        let (mut near, mut own) = ([[0; WIDE]; AHEAD], [Cell::default(); AHEAD]);
        for rows in rows.chunks(AHEAD) {
            for ((record, cell), row) in near.iter_mut().zip(&mut own).zip(rows) {
                *record = self.records[*row as usize];
                *cell = cells[*row as usize];
            }
            for (record, cell) in near.iter().zip(&own).take(rows.len()) {
                for k in 0..WIDE {
                    block[k][usize::from(record[k]) & (N - 1)] += *cell;
                }
            }
        }
    }
}

/// Takes the histogram of a child from that of its parent.
pub(super) fn subtract(parent: &mut [Cell], child: &[Cell]) {
    for (a, b) in parent.iter_mut().zip(child) {
        *a -= *b;
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::boost::table::{Column, Table};
    use crate::sampler::Sampler;

    #[test]
    fn subtraction_equals_counting() {
        let mut s = Sampler::new(5);
        let rows = 3000;
        let mut column = |k: usize| {
            // Every third column has few values.
            let spread = if k % 3 == 1 { 1.0 } else { 30.0 };
            let values = (0..rows).map(|_| (spread * s.normal()).round()).collect();
            Column::numeric(format!("x{k}"), values)
        };
        let table = Table::new((0..11).map(&mut column).collect()).unwrap();
        let panels = Panels::new(&Binned::new(&table, 254).unwrap());
        let (g, h): (Vec<f64>, Vec<f64>) =
            (0..rows).map(|_| (s.normal() * 1e-7, s.unit() * 1e-9)).unzip();
        let most = g.iter().fold(0.0, |a: f64, b| a.max(b.abs()));
        let units = Units::new(most, 1e-9, g.len() as u64);
        let cells: Vec<Cell> = g.iter().zip(&h).map(|(g, h)| units.cell(*g, *h, 1)).collect();
        let all: Vec<u32> = (0..3000).collect();
        let (left, right): (Vec<u32>, Vec<u32>) = all.iter().partition(|row| *row % 3 == 1);
        let count = |rows: &[u32]| {
            let mut counted = vec![Cell::default(); panels.cells];
            panels.count(rows, &cells, &mut counted);
            counted
        };
        let mut parent = count(&all);
        subtract(&mut parent, &count(&left));
        assert_eq!(parent, count(&right));
        // And the sums are those of the slopes, to rounding.
        let total = panels.column(&parent, 4).iter().fold(Cell::default(), |mut a, b| {
            a += *b;
            a
        });
        let sums = units.sums(total);
        let own: f64 = right.iter().map(|row| g[*row as usize]).sum();
        let curved: f64 = right.iter().map(|row| h[*row as usize]).sum();
        assert_eq!(sums.rows, right.len() as u64);
        assert!((sums.g - own).abs() < 1e-9 * most && (sums.h - curved).abs() < 1e-9 * curved);
    }
}
