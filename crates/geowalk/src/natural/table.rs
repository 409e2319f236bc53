//! # Numbers by coordinate and class
//! Rows are coordinates, columns are classes. A step at a sparse row changes a few rows and all classes of each, which
//! are adjacent in memory.
//!
//! **Cost** A new coordinate costs O(s). A new class costs O(k), because the table is rearranged.

use std::ops::Range;

use super::rows;

/// Number of cells, of each of a few tables, that stay in the first-level cache during several operations.
const NEAR: usize = 1024;

/// A table with one column per class.
#[derive(Debug, Clone, PartialEq, Default)]
pub(crate) struct Table {
    rows: usize,
    classes: usize,
    cells: Vec<f64>,
}

impl Table {
    /// Number of coordinates.
    pub(crate) fn rows(&self) -> usize {
        self.rows
    }

    /// All classes of a coordinate; empty if the coordinate does not exist.
    #[inline(always)]
    pub(crate) fn row(&self, j: usize) -> &[f64] {
        self.cells.get(j * self.classes..(j + 1) * self.classes).unwrap_or_default()
    }

    /// As [`Table::row`], mutable.
    #[inline(always)]
    pub(crate) fn row_mut(&mut self, j: usize) -> &mut [f64] {
        self.cells.get_mut(j * self.classes..(j + 1) * self.classes).unwrap_or_default()
    }

    /// Rows j and j + 1, mutable; empty unless both exist.
    #[inline(always)]
    pub(crate) fn pair_mut(&mut self, j: usize) -> (&mut [f64], &mut [f64]) {
        let n = self.classes;
        self.cells
            .get_mut(j * n..(j + 2) * n)
            .unwrap_or_default()
            .split_at_mut_checked(n)
            .unwrap_or_default()
    }

    /// All rows, in stretches short enough to stay in the first-level cache.
    #[inline(always)]
    pub(crate) fn stretches(&self) -> impl Iterator<Item = Range<usize>> + use<> {
        let (rows, long) = (self.rows, (NEAR / self.classes.max(1)).max(4));
        (0..rows).step_by(long).map(move |first| first..rows.min(first + long))
    }

    /// The cells of some rows; empty unless all exist.
    #[inline(always)]
    pub(crate) fn cells_of(&self, rows: &Range<usize>) -> &[f64] {
        self.cells.get(rows.start * self.classes..rows.end * self.classes).unwrap_or_default()
    }

    /// As [`Table::cells_of`], mutable.
    #[inline(always)]
    pub(crate) fn cells_of_mut(&mut self, rows: &Range<usize>) -> &mut [f64] {
        self.cells.get_mut(rows.start * self.classes..rows.end * self.classes).unwrap_or_default()
    }

    /// Some rows, in order.
    #[inline(always)]
    pub(crate) fn some(&self, rows: &Range<usize>) -> impl Iterator<Item = &[f64]> {
        self.cells_of(rows).chunks_exact(self.classes.max(1))
    }

    /// As [`Table::some`], mutable.
    #[inline(always)]
    pub(crate) fn some_mut(&mut self, rows: &Range<usize>) -> impl Iterator<Item = &mut [f64]> {
        let n = self.classes.max(1);
        self.cells_of_mut(rows).chunks_exact_mut(n)
    }

    /// All rows, in order.
    #[inline(always)]
    pub(crate) fn each(&self) -> impl Iterator<Item = &[f64]> {
        self.cells.chunks_exact(self.classes.max(1))
    }

    /// All rows in order, mutable.
    #[inline(always)]
    pub(crate) fn each_mut(&mut self) -> impl Iterator<Item = &mut [f64]> {
        self.cells.chunks_exact_mut(self.classes.max(1))
    }

    /// The cell; 0 if it does not exist.
    #[inline(always)]
    pub(crate) fn at(&self, j: usize, class: usize) -> f64 {
        self.row(j).get(class).copied().unwrap_or(0.0)
    }

    /// Makes room; `fill(j, row)` gives a new cell of coordinate j, from the existing cells of the row.
    pub(crate) fn grow(
        &mut self,
        rows: usize,
        classes: usize,
        fill: impl Fn(usize, &[f64]) -> f64,
    ) {
        if classes > self.classes {
            let mut cells = Vec::with_capacity(rows.max(self.rows) * classes);
            for j in 0..self.rows {
                let old = self.row(j);
                cells.extend_from_slice(old);
                cells.resize((j + 1) * classes, fill(j, old));
            }
            (self.cells, self.classes) = (cells, classes);
        }
        for j in self.rows..rows {
            let new = fill(j, &[]);
            self.cells.resize((j + 1) * self.classes, new);
        }
        self.rows = self.rows.max(rows);
    }

    /// out += Σ f·row over pairs (coordinate, f).
    #[inline(always)]
    pub(crate) fn combine(&self, picks: impl Iterator<Item = (usize, f64)>, out: &mut [f64]) {
        rows::combine(&self.cells, self.classes, picks, out);
    }

    /// out += Σ f·row over all rows, in order.
    #[inline(always)]
    pub(crate) fn combine_all(&self, factors: &[f64], out: &mut [f64]) {
        rows::combine_all(&self.cells, self.classes, factors, out);
    }

    /// out += Σ f·row over some rows, in order.
    #[inline(always)]
    pub(crate) fn combine_some(&self, rows: &Range<usize>, factors: &[f64], out: &mut [f64]) {
        rows::combine_all(self.cells_of(rows), self.classes, factors, out);
    }

    /// The cells of a class, coordinate after coordinate.
    #[inline(always)]
    pub(crate) fn column(&self, class: usize) -> impl Iterator<Item = &f64> {
        let cells = if class < self.classes { self.cells.as_slice() } else { &[] };
        cells.chunks_exact(self.classes.max(1)).map(move |row| &row[class])
    }

    /// As [`Table::column`], mutable.
    #[inline(always)]
    pub(crate) fn column_mut(&mut self, class: usize) -> impl Iterator<Item = &mut f64> {
        let cells = if class < self.classes { self.cells.as_mut_slice() } else { &mut [] };
        cells.chunks_exact_mut(self.classes.max(1)).map(move |row| &mut row[class])
    }

    /// The cells, row after row.
    pub(crate) fn cells(&self) -> &[f64] {
        &self.cells
    }

    /// A table of these cells; `None` if they do not fill whole rows.
    pub(crate) fn restore(cells: Vec<f64>, rows: usize, classes: usize) -> Option<Self> {
        (cells.len() == rows * classes).then_some(Self { rows, classes, cells })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn cells_stay_with_their_coordinate_and_class() {
        let mut table = Table::default();
        table.grow(2, 0, |_, _| 1.0);
        table.grow(2, 2, |j, _| j as f64);
        table.row_mut(1)[1] = 5.0;
        table.grow(3, 3, |j, old| j as f64 + old.iter().sum::<f64>());
        assert_eq!(table.cells(), [0.0, 0.0, 0.0, 1.0, 5.0, 7.0, 2.0, 2.0, 2.0]);
        assert_eq!((table.rows(), table.at(1, 1), table.at(9, 0)), (3, 5.0, 0.0));
        assert_eq!(table.column(2).copied().collect::<Vec<_>>(), [0.0, 7.0, 2.0]);
        assert_eq!((table.column(3).count(), Table::default().column(0).count()), (0, 0));
        table.column_mut(0).for_each(|cell| *cell += 1.0);
        assert_eq!(table.cells()[..4], [1.0, 0.0, 0.0, 2.0]);
        table.pair_mut(1).1[0] = 9.0;
        assert_eq!((table.at(2, 0), table.pair_mut(2).0.len()), (9.0, 0));
        assert!(Table::restore(vec![0.0; 5], 2, 3).is_none());
    }
}
