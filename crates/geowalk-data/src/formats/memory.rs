//! # Tables in memory
//! Converts rows that a program holds in memory, by the same rules as [files](super::table), so the same columns
//! become the same features. As in Parquet, text is never taken for a number.

use geowalk::row::Block;

pub use super::table::Cell;
use super::table::Table;
use crate::columns::ColumnBuffer;
use crate::date::PARTS;
use crate::error::{ErrorKind, Fault};
use crate::schema::{Column, Features, Kind, Schema};
use crate::sink::Sink;
use crate::source::{Parsed, SAMPLE_BYTES, SAMPLE_ROWS};
use crate::{Label, Options};

/// Converts the cells of a table in memory to features.
///
/// ```
/// use geowalk::row::{Block, Row};
/// use geowalk_data::{Cell, Frame, Options};
/// let rows = [[Cell::Number(1.5), Cell::Text(b"red")], [Cell::Number(2.0), Cell::Missing]];
/// let names = vec!["size".to_owned(), "color".to_owned()];
/// let mut frame = Frame::new(names, Options::new([""; 0]))?;
/// rows.iter().for_each(|row| _ = frame.sample(row));
/// frame.settle(&[1], &[])?;
/// let mut block = Block::new();
/// for row in &rows {
///     assert!(frame.push(row.iter().copied(), 1.0, 1.0, &mut block)?);
/// }
/// assert_eq!(frame.schema().features().name(2).as_deref(), Some("color=missing"));
/// assert_eq!(block.sparse(1).bound(), 3);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
pub struct Frame {
    table: Table,
    /// Whether the columns are those of this table; the schema then knows features only by name.
    by_name: bool,
    rows: usize,
    bytes: usize,
}

impl std::fmt::Debug for Frame {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Frame").field("columns", &self.table.names).finish_non_exhaustive()
    }
}

/// An invalid cell.
#[derive(Debug, thiserror::Error)]
#[error("{kind}")]
pub struct BadCell {
    /// Column of the cell, from 0.
    pub column: usize,
    /// The error.
    pub kind: ErrorKind,
}

impl From<Fault> for BadCell {
    fn from(fault: Fault) -> Self {
        Self { column: fault.offset, kind: *fault.kind }
    }
}

impl Schema {
    /// Whether every feature belongs to a column of a table. This is not so if features came by name, as in JSON or VW
    /// text.
    ///
    /// ```
    /// use geowalk_data::{Column, Dictionary, Features, Kind, Labels, Schema};
    /// let features = || Features::Exact(Dictionary::from_names(["color=red"]).unwrap());
    /// let columns = vec![Column { name: "color".to_owned(), kind: Kind::Nominal }];
    /// assert!(Schema::from_parts(features(), Labels::Numbers, columns).is_table());
    /// assert!(!Schema::from_parts(features(), Labels::Numbers, vec![]).is_table());
    /// ```
    pub fn is_table(&self) -> bool {
        let mut own = self.feature_columns().peekable();
        let Features::Exact(names) = &self.features else { return own.peek().is_some() };
        let columns: std::collections::HashSet<&str> = own.map(|c| c.name.as_str()).collect();
        let dates = self.of_kind(Kind::Date);
        let parts: std::collections::HashSet<String> =
            dates.flat_map(|name| PARTS.map(|part| format!("{name}.{part}"))).collect();
        let is = |name: &str| columns.contains(name) || parts.contains(name);
        let of_column =
            |name: &str| is(name) || name.match_indices('=').any(|(at, _)| is(&name[..at]));
        !columns.is_empty() && names.names().all(of_column)
    }

    /// Whether there are features whose names do not come from columns.
    pub(crate) fn is_by_name(&self) -> bool {
        !matches!(self.features, Features::Index(_)) && !self.is_table()
    }

    /// The columns that become features, in order.
    pub fn feature_columns(&self) -> impl Iterator<Item = &Column> {
        let apart = |kind| matches!(kind, Kind::Label | Kind::Weight | Kind::Ignored);
        self.columns.iter().filter(move |column| !apart(column.kind))
    }
}

impl Frame {
    /// A table with columns of these names. If the options have a schema with the same columns, nothing is inferred.
    /// If its columns differ, features are matched by name. The label is never among the columns.
    pub fn new(names: Vec<String>, options: Options) -> Result<Self, ErrorKind> {
        let mut options = Options { label: Label::Absent, unlabelled: true, ..options };
        let mut table = Table::new(&mut options)?;
        let same = || {
            let mut own: Vec<&str> =
                table.schema.feature_columns().map(|c| c.name.as_str()).collect();
            let mut given: Vec<&str> = names.iter().map(String::as_str).collect();
            own.sort_unstable();
            given.sort_unstable();
            own == given
        };
        let by_name = table.inferred && !same();
        if by_name {
            table.name_features(names)?;
        } else {
            table.name_table(names)?;
        }
        Ok(Self { table, by_name, rows: 0, bytes: 0 })
    }

    /// Adds one of the first rows to the sample for type inference; `false` if the sample is complete.
    pub fn sample(&mut self, row: &[Cell<'_>]) -> bool {
        if self.table.inferred || self.rows == SAMPLE_ROWS || self.bytes >= SAMPLE_BYTES {
            return false;
        }
        self.rows += 1;
        self.bytes += row.iter().map(|cell| cell.size()).sum::<usize>();
        let Table { sample, schema, .. } = &mut self.table;
        sample.add(row.iter().map(|cell| cell.sight(schema)));
        true
    }

    /// Ends the sample and fixes the type of each column. Columns listed in `texts` that have no value in the sample
    /// hold names. The numbers of columns in `dates` are days since 1970-01-01.
    pub fn settle(&mut self, texts: &[usize], dates: &[usize]) -> Result<(), ErrorKind> {
        self.table.dates = dates.to_vec();
        self.table.settle()?;
        texts.iter().try_for_each(|&column| self.table.decide(column, Kind::Nominal))
    }

    /// Adds a row to a block; `false` if it does not fit there and belongs in the next block.
    pub fn push<'a>(
        &mut self,
        cells: impl Iterator<Item = Cell<'a>>,
        label: f64,
        weight: f64,
        block: &mut Block,
    ) -> Result<bool, BadCell> {
        self.table.begin_with(label, weight);
        let filled = self.fill(cells, &mut Sink::Rows(block));
        if !matches!(filled, Ok(true)) {
            block.abandon();
        }
        filled
    }

    /// Adds a row to columns.
    pub fn push_cells<'a>(
        &mut self,
        cells: impl Iterator<Item = Cell<'a>>,
        label: f64,
        weight: f64,
        columns: &mut ColumnBuffer,
    ) -> Result<(), BadCell> {
        self.table.begin_with(label, weight);
        let filled = self.fill(cells, &mut Sink::Columns(columns));
        if filled.is_err() {
            columns.abandon();
        }
        filled.map(|_| ())
    }

    /// Passes the cells of a row to the sink; `false` if the row does not fit.
    fn fill<'a>(
        &mut self,
        cells: impl Iterator<Item = Cell<'a>>,
        sink: &mut Sink<'_>,
    ) -> Result<bool, BadCell> {
        for (k, cell) in cells.enumerate() {
            if !self.table.cell(k, cell, sink).map_err(|kind| kind.at(k))? {
                return Ok(false);
            }
        }
        let ended = self.table.end(sink).map_err(|kind| kind.at(0))?;
        Ok(!matches!(ended, Parsed::NextBlock))
    }

    /// The schema of columns and features.
    pub fn schema(&self) -> &Schema {
        &self.table.schema
    }

    /// Swaps the schema, which grows with every new name. The learner and the frame share one schema this way.
    pub fn exchange(&mut self, schema: &mut Schema) {
        std::mem::swap(&mut self.table.schema, schema);
        if self.by_name {
            std::mem::swap(&mut self.table.schema.columns, &mut schema.columns);
        }
    }
}
