//! # Numbers by coordinate and class
//! Rows are coordinates, columns are classes: a step at a sparse row touches a few rows and all classes of each, which lie side by side.
//!
//! **Cost** A new coordinate costs O(s), a new class O(k): the table is laid out anew.

/// A table with a column for each class.
#[derive(Debug, Clone, PartialEq, Default)]
pub(crate) struct Table {
    rows: usize,
    classes: usize,
    cells: Vec<f64>,
}

impl Table {
    /// How many coordinates.
    pub(crate) fn rows(&self) -> usize {
        self.rows
    }

    /// All classes of a coordinate; empty if there is no such coordinate.
    #[inline]
    pub(crate) fn row(&self, j: usize) -> &[f64] {
        self.cells.get(j * self.classes..(j + 1) * self.classes).unwrap_or_default()
    }

    /// The same, to be changed.
    #[inline]
    pub(crate) fn row_mut(&mut self, j: usize) -> &mut [f64] {
        self.cells.get_mut(j * self.classes..(j + 1) * self.classes).unwrap_or_default()
    }

    /// Row after row.
    pub(crate) fn each(&self) -> impl Iterator<Item = &[f64]> {
        self.cells.chunks_exact(self.classes.max(1)).take(self.rows)
    }

    /// Row after row, to be changed.
    pub(crate) fn each_mut(&mut self) -> impl Iterator<Item = &mut [f64]> {
        self.cells.chunks_exact_mut(self.classes.max(1)).take(self.rows)
    }

    /// The cell, 0 where there is none.
    #[inline]
    pub(crate) fn at(&self, j: usize, class: usize) -> f64 {
        self.row(j).get(class).copied().unwrap_or(0.0)
    }

    /// Makes room; `fill(j, row)` gives a new cell of coordinate j, from the cells that the coordinate has.
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
        assert!(Table::restore(vec![0.0; 5], 2, 3).is_none());
    }
}
