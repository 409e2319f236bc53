//! # Binary tables
//! Turns record batches of Parquet and Arrow into rows. The cells go through the same [table](super::table) as those
//! of CSV, so equal tables give equal features.
//!
//! | type | read as |
//! |---|---|
//! | integers and floats of all widths | numeric: the nearest f64; 32-bit floats are widened exactly |
//! | booleans | the names `true` and `false` |
//! | text and bytes, also with a dictionary | nominal or free text; never a number |
//! | dates, timestamps | [dates](crate::date): year, month, weekday, days since 1970-01-01 (UTC if they have a zone) |
//! | times, durations | seconds |
//! | decimals | the nearest f64 |
//! | lists of text | a feature `column=item` for each item, valued by its count |
//! | null, NaN, empty text | missing, by [the crate's policy](crate) |
//! | intervals, bytes of fixed size, structs, other lists | an error with advice; ignored columns may be of any type |
//!
//! **Cost** One batch is in memory at a time, regardless of the number of rows.
//!
//! **Positions** Errors give row and column in place of line and column, both from 1.

mod cells;
mod quiet;

use std::collections::VecDeque;
use std::io::Write;
use std::sync::Arc;

use arrow_array::RecordBatch;
use arrow_schema::SchemaRef;
use geowalk::row::Block;

use self::cells::Cells;
use super::table::{Cell, Role, Table};
use crate::Options;
use crate::bytes::{Bytes, Stream, Streams};
use crate::columns::ColumnBuffer;
use crate::decision::Decision;
use crate::error::{DataError, ErrorKind, Fault, Position};
use crate::place::Places;
use crate::schema::{Kind, Labels, Schema};
use crate::sink::Sink;
use crate::source::{OnError, Parsed, SAMPLE_BYTES, SAMPLE_ROWS, Skipped, Source};

/// A file of record batches.
pub(super) trait Batches: Send {
    /// The columns of the file.
    fn schema(&self) -> SchemaRef;

    /// Selects and orders the columns to read. Called once, before the first batch.
    fn select(&mut self, wanted: Vec<usize>) -> Result<(), ErrorKind>;

    /// The selected columns of the next rows.
    fn next(&mut self) -> Result<Option<RecordBatch>, ErrorKind>;
}

/// A function that opens one input.
pub(super) type Open = fn(Stream) -> Result<Box<dyn Batches>, ErrorKind>;

/// The rows of all inputs.
pub(super) struct Columnar {
    open: Open,
    streams: Streams,
    file: Arc<str>,
    batches: Option<Box<dyn Batches>>,
    /// Indices of the file's columns that are read.
    wanted: Vec<usize>,
    /// Batches read ahead for the sample, and the error that ended the sample.
    waiting: VecDeque<RecordBatch>,
    sampled: Option<ErrorKind>,
    batch: Option<RecordBatch>,
    /// The selected columns of the batch.
    cells: Vec<Cells>,
    /// The next row of the batch.
    next: usize,
    /// Number of rows of the file before the batch.
    before: u64,
    table: Table,
    on_error: OnError,
    skipped: Skipped,
    places: Places,
    failure: Option<DataError>,
    over: bool,
}

/// Opens the first input and reads the sample.
pub(super) fn open(
    bytes: Bytes,
    mut options: Options,
    open: Open,
) -> Result<Box<dyn Source>, DataError> {
    let table = Table::new(&mut options).map_err(|kind| kind.of(bytes.name()))?;
    let mut source = Columnar {
        open,
        file: bytes.name().into(),
        streams: bytes.into_streams(),
        batches: None,
        wanted: Vec::new(),
        waiting: VecDeque::new(),
        sampled: None,
        batch: None,
        cells: Vec::new(),
        next: 0,
        before: 0,
        table,
        on_error: options.on_error,
        skipped: Skipped::default(),
        places: Places::default(),
        failure: None,
        over: false,
    };
    source.infer()?;
    Ok(Box::new(source))
}

impl Columnar {
    fn infer(&mut self) -> Result<(), DataError> {
        loop {
            if !self.next_file()? {
                return Err(ErrorKind::Empty.of(&self.file));
            }
            let sampled = self.sample().map_err(|kind| kind.of(&self.file))?;
            if sampled > 0 {
                return self.settle().map_err(|kind| kind.of(&self.file));
            }
        }
    }

    /// Opens the next input; `false` if there is none.
    fn next_file(&mut self) -> Result<bool, DataError> {
        let Some(stream) = self.streams.next()? else { return Ok(false) };
        self.file = stream.name.clone();
        self.before = 0;
        let batches = (self.open)(stream).and_then(|batches| self.begin(batches));
        self.batches = Some(batches.map_err(|kind| kind.of(&self.file))?);
        Ok(true)
    }

    /// Compares the columns of a file with the schema, and selects those to read.
    fn begin(&mut self, mut batches: Box<dyn Batches>) -> Result<Box<dyn Batches>, ErrorKind> {
        let schema = batches.schema();
        let names: Vec<String> = schema.fields().iter().map(|field| field.name().clone()).collect();
        if self.table.names.is_empty() {
            self.table.name_columns(names)?;
        } else {
            self.table.later_names(names)?;
        }
        self.wanted = (0..schema.fields().len()).filter(|&k| !self.table.ignores(k)).collect();
        for &k in &self.wanted {
            let field = schema.field(k);
            if let Err(advice) = cells::check(field.data_type()) {
                return Err(ErrorKind::ColumnType {
                    column: field.name().clone(),
                    found: field.data_type().to_string(),
                    advice,
                });
            }
        }
        batches.select(self.wanted.clone())?;
        Ok(batches)
    }

    /// Reads the sample; returns its number of rows.
    fn sample(&mut self) -> Result<usize, ErrorKind> {
        let few = if self.table.inferred { 1 } else { SAMPLE_ROWS };
        let (mut rows, mut bytes) = (0, 0);
        while rows < few && bytes < SAMPLE_BYTES {
            let batch = match self.batches.as_mut().map_or(Ok(None), |batches| batches.next()) {
                Ok(Some(batch)) => batch,
                Ok(None) => break,
                Err(kind) if rows == 0 => return Err(kind),
                Err(kind) => {
                    self.sampled = Some(kind); // reported after the rows before it
                    break;
                }
            };
            let columns: Vec<Cells> =
                batch.columns().iter().map(|array| Cells::new(array, false)).collect();
            let width = self.table.names.len();
            let Table { sample, schema, .. } = &mut self.table;
            for row in 0..batch.num_rows() {
                if rows == few || bytes >= SAMPLE_BYTES {
                    break;
                }
                rows += 1;
                let mut sights: Vec<Cell<'_>> = vec![Cell::Missing; width];
                for (&k, cells) in self.wanted.iter().zip(&columns) {
                    sights[k] = cells.get(row);
                    bytes += sights[k].size();
                }
                sample.add(sights.iter().map(|cell| cell.sight(schema)));
            }
            self.waiting.push_back(batch);
        }
        Ok(rows)
    }

    fn settle(&mut self) -> Result<(), ErrorKind> {
        if let Some(schema) = self.batches.as_ref().map(|batches| batches.schema()) {
            let dates =
                self.wanted.iter().filter(|k| cells::is_date(schema.field(**k).data_type()));
            self.table.dates = dates.copied().collect();
        }
        self.table.settle()?;
        // A text column that is missing throughout the sample holds names, even if its first value looks like a
        // number.
        let Some(schema) = self.batches.as_ref().map(|batches| batches.schema()) else {
            return Ok(());
        };
        for &k in &self.wanted {
            match schema.field(k).data_type() {
                found if cells::is_text(found) => self.table.decide(k, Kind::Nominal)?,
                found if cells::is_words(found) => self.table.decide(k, Kind::Text)?,
                _ => {}
            }
        }
        Ok(())
    }

    /// Loads the next batch of the file; `false` if there is none.
    fn next_batch(&mut self) -> Result<bool, DataError> {
        let next = match (self.waiting.pop_front(), self.sampled.take(), &mut self.batches) {
            (Some(batch), sampled, _) => {
                self.sampled = sampled;
                Ok(Some(batch))
            }
            (None, Some(kind), _) => Err(kind),
            (None, None, Some(batches)) => batches.next(),
            (None, None, None) => Ok(None),
        };
        let next = next.map_err(|kind| kind.of(&self.file))?;
        let Some(batch) = next else {
            (self.batch, self.batches, self.next) = (None, None, 0);
            self.cells.clear();
            return Ok(false);
        };
        let names = matches!(self.table.schema.labels, Labels::Names(_));
        self.cells.clear();
        for (&k, array) in self.wanted.iter().zip(batch.columns()) {
            if let Some(Role::Date { .. }) = self.table.roles.get(k) {
                self.cells.push(Cells::days(array));
                continue;
            }
            let as_text = match self.table.roles.get(k) {
                Some(Role::Name { .. } | Role::Text { .. }) => true,
                Some(Role::Label) => names,
                _ => false,
            };
            self.cells.push(Cells::new(array, as_text));
        }
        self.batch = Some(batch);
        self.next = 0;
        Ok(true)
    }

    /// Passes on at most `rows` rows and counts them in `filled`.
    fn fill(
        &mut self,
        sink: &mut Sink<'_>,
        rows: usize,
        filled: &mut usize,
    ) -> Result<(), DataError> {
        while *filled < rows {
            if self.next == self.batch.as_ref().map_or(0, RecordBatch::num_rows) {
                if !self.next_batch()? && !self.next_file()? {
                    self.over = true;
                    return Ok(());
                }
                continue;
            }
            match self.row(sink) {
                Ok(Parsed::NextBlock) => {
                    sink.abandon();
                    return Ok(());
                }
                Ok(_) => {
                    *filled += 1;
                    self.places.push_row(&self.file, self.before + 1);
                }
                Err(fault) => {
                    sink.abandon();
                    self.leave_out(fault)?;
                }
            }
            self.next += 1;
            self.before += 1;
        }
        Ok(())
    }

    fn row(&mut self, sink: &mut Sink<'_>) -> Result<Parsed, Fault> {
        self.table.begin();
        for (&k, cells) in self.wanted.iter().zip(&self.cells) {
            let fits = self.table.cell(k, cells.get(self.next), sink);
            if !fits.map_err(|kind| kind.at(k))? {
                return Ok(Parsed::NextBlock);
            }
        }
        self.table.end(sink).map_err(|kind| kind.at(0))
    }

    fn position(&self, column: usize) -> Position {
        Position { line: self.before + 1, column: column as u64 + 1, byte: 0, is_row: true }
    }

    /// Handles a bad row: fails, or records the error and skips the row.
    #[cold]
    fn leave_out(&mut self, fault: Fault) -> Result<(), DataError> {
        let error = DataError {
            file: self.file.to_string(),
            position: Some(self.position(fault.offset)),
            kind: fault.kind,
        };
        match &mut self.on_error {
            OnError::Fail => return Err(error),
            OnError::Skip => {}
            OnError::Quarantine(writer) => {
                let line: Vec<String> = self.cells.iter().map(|c| c.get(self.next).csv()).collect();
                let written = writeln!(writer, "{}", line.join(","));
                written.map_err(|source| ErrorKind::Io { source }.of("quarantine"))?;
            }
        }
        self.places.leave_out(error.to_string(), Vec::new());
        self.skipped.add(error);
        Ok(())
    }
}

impl Columnar {
    fn next_rows(&mut self, sink: &mut Sink<'_>, rows: usize) -> Result<usize, DataError> {
        self.places.clear();
        if let Some(error) = self.failure.take() {
            self.over = true;
            return Err(error);
        }
        if self.over || rows == 0 {
            return Ok(0);
        }
        let mut filled = 0;
        match self.fill(sink, rows, &mut filled) {
            Err(error) if filled == 0 => {
                self.over = true;
                return Err(error);
            }
            Err(error) => self.failure = Some(error),
            Ok(()) => {}
        }
        Ok(filled)
    }
}

impl Source for Columnar {
    fn read(&mut self, block: &mut Block, rows: usize) -> Result<usize, DataError> {
        block.clear();
        self.next_rows(&mut Sink::Rows(block), rows)
    }

    fn read_columns(
        &mut self,
        columns: &mut ColumnBuffer,
        rows: usize,
    ) -> Result<usize, DataError> {
        self.next_rows(&mut Sink::Columns(columns), rows)
    }

    fn schema(&self) -> &Schema {
        &self.table.schema
    }

    fn decisions(&self) -> &[Decision] {
        &self.table.decisions
    }

    fn remarks(&self) -> Vec<Decision> {
        self.table.remarks()
    }

    fn skipped(&self) -> &Skipped {
        &self.skipped
    }

    fn places(&mut self) -> &mut Places {
        &mut self.places
    }

    fn place(&self) -> (&str, Position) {
        (&self.file, self.position(0))
    }
}

/// Runs code of the Arrow libraries, which panic on some damaged files. A panic becomes an error and prints nothing.
pub(super) fn guarded<T>(
    format: &'static str,
    work: impl FnOnce() -> Result<T, String>,
) -> Result<T, ErrorKind> {
    let done = quiet::catch(work);
    done.unwrap_or_else(|| Err("it is damaged".to_owned()))
        .map_err(|what| ErrorKind::Broken { format, what })
}
