//! # Origin of rows
//! File and line of each row, for errors found after reading: a label that does not fit, a step that cannot be made.
//!
//! **Cost** One comparison per row. Rows on successive lines of one file share one entry, so memory grows only with
//! skipped lines.

use std::fmt;
use std::sync::Arc;

use crate::error::visible;

/// The origin of a row.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Place {
    /// Name of the file.
    pub file: Arc<str>,
    /// Line number from 1; in a binary table, the row.
    pub line: u64,
    /// Whether the file is a binary table, so that `line` is a row.
    pub is_row: bool,
}

impl fmt::Display for Place {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let separator = if self.is_row { ": row " } else { ":" };
        write!(f, "{}{separator}{}", visible(&self.file), self.line)
    }
}

/// The origin of the rows of a block.
///
/// ```
/// use geowalk_data::{Input, Options, open};
/// let mut source = open(Options::new([Input::text("a.svm", "1 1:1\n# no row\n2 1:3\n")]))?;
/// source.read(&mut geowalk::row::Block::new(), 10)?;
/// assert_eq!(source.places().get(1).unwrap().to_string(), "a.svm:3");
/// # Ok::<(), geowalk_data::DataError>(())
/// ```
#[derive(Debug, Clone, Default)]
pub struct Places {
    runs: Vec<Run>,
    rows: u64,
    left_out: Vec<LeftOut>,
    carried: Vec<Vec<String>>,
}

/// A row that was skipped.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct LeftOut {
    /// Number of rows of the block before it.
    pub before: usize,
    /// The error, with its position.
    pub reason: String,
    /// Its cells in the [carried](crate::Options::carry) columns; empty text for absent cells.
    pub cells: Vec<String>,
}

/// Rows on successive lines.
#[derive(Debug, Clone)]
struct Run {
    /// The first of these rows, and its origin.
    row: u64,
    place: Place,
}

impl Places {
    /// Removes all rows.
    pub(crate) fn clear(&mut self) {
        self.runs.clear();
        self.rows = 0;
        self.left_out.clear();
        self.carried.clear();
    }

    /// Adds the origin of the next row.
    #[inline]
    pub(crate) fn push(&mut self, file: &Arc<str>, line: u64) {
        self.add(file, line, false);
    }

    /// Adds the origin of the next row of a binary table.
    pub(crate) fn push_row(&mut self, file: &Arc<str>, row: u64) {
        self.add(file, row, true);
    }

    #[inline]
    fn add(&mut self, file: &Arc<str>, line: u64, is_row: bool) {
        let goes_on = self.runs.last().is_some_and(|run| {
            run.place.line + (self.rows - run.row) == line && Arc::ptr_eq(&run.place.file, file)
        });
        if !goes_on {
            self.runs
                .push(Run { row: self.rows, place: Place { file: file.clone(), line, is_row } });
        }
        self.rows += 1;
    }

    /// Records a skipped row after the rows added before.
    #[cold]
    pub(crate) fn leave_out(&mut self, reason: String, cells: Vec<String>) {
        let before = usize::try_from(self.rows).unwrap_or(usize::MAX);
        self.left_out.push(LeftOut { before, reason, cells });
    }

    /// Records the cells of the last row in the carried columns.
    pub(crate) fn carry(&mut self, cells: Vec<String>) {
        self.carried.push(cells);
    }

    /// The rows skipped before, between and after those of the block, in order.
    pub fn left_out(&self) -> &[LeftOut] {
        &self.left_out
    }

    /// The cells of a row of the block in the [carried](crate::Options::carry) columns.
    pub fn carried(&self, row: usize) -> &[String] {
        self.carried.get(row).map_or(&[], Vec::as_slice)
    }

    /// Appends the rows of the next block.
    pub fn append(&mut self, next: &mut Self) {
        let before = usize::try_from(self.rows).unwrap_or(usize::MAX);
        for run in next.runs.drain(..) {
            self.runs.push(Run { row: run.row + self.rows, place: run.place });
        }
        for left in next.left_out.drain(..) {
            self.left_out.push(LeftOut { before: left.before + before, ..left });
        }
        self.carried.append(&mut next.carried);
        self.rows += next.rows;
        next.rows = 0;
    }

    /// Adds `lines` to all line numbers.
    pub(crate) fn shift(&mut self, lines: u64) {
        for run in &mut self.runs {
            run.place.line += lines;
        }
    }

    /// The origin of a row of the block, from 0; `None` if there is no such row.
    pub fn get(&self, row: usize) -> Option<Place> {
        let row = row as u64;
        if row >= self.rows {
            return None;
        }
        let run = self.runs.get(self.runs.partition_point(|run| run.row <= row).checked_sub(1)?)?;
        Some(Place { line: run.place.line + (row - run.row), ..run.place.clone() })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_row_has_its_line() {
        let (a, b): (Arc<str>, Arc<str>) = ("a".into(), "b".into());
        let rows = [(&a, 2), (&a, 3), (&a, 7), (&a, 8), (&b, 9), (&b, 1)];
        let mut places = Places::default();
        for _ in 0..2 {
            places.clear();
            for (file, line) in rows {
                places.push(file, line);
            }
            for (row, (file, line)) in rows.iter().enumerate() {
                assert_eq!(
                    places.get(row),
                    Some(Place { file: Arc::clone(file), line: *line, is_row: false })
                );
            }
            assert_eq!(places.get(rows.len()), None);
        }
        assert_eq!(places.runs.len(), 4);
    }
}
