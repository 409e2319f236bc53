//! # Sources
//! A source fills blocks. The loop over records, files and faults is here, once for all formats; a format only parses
//! a record.
//!
//! **Invariants** The rows depend neither on the number of rows per read nor on the size of the buffer. All inference
//! (types, the base of indices) uses the first [`SAMPLE_ROWS`] rows or [`SAMPLE_BYTES`] bytes, whichever end first,
//! and never what happens to be in memory.

use std::io::Write;
use std::sync::Arc;

use geowalk::row::Block;

use crate::bytes::{Bytes, Record};
use crate::columns::ColumnBuffer;
use crate::decision::Decision;
use crate::error::{DataError, ErrorKind, Fault, Position};
use crate::looks::Looks;
use crate::piece::{Helper, Piece, State};
use crate::place::Places;
use crate::schema::{Journal, Schema};
use crate::text::Text;

/// Number of rows from which types are inferred.
pub const SAMPLE_ROWS: usize = 1000;

/// Number of bytes after which a sample ends even if it has fewer rows.
pub const SAMPLE_BYTES: usize = 1 << 20;

/// Number of rows per read of a piece that no helper could parse.
const PIECE_ROWS: usize = 1024;

/// If a record with an open quote is longer than this, the quote counts as never closed.
const LONGEST_RECORD: usize = 1 << 26;

/// A source of rows.
///
/// ```
/// use geowalk::row::{Block, Row};
/// use geowalk_data::{Input, Options, open};
/// let mut source = open(Options::new([Input::text("two.svm", "1 1:2 7:0.5\n-1 2:1\n")]))?;
/// let mut block = Block::new();
/// assert_eq!(source.read(&mut block, 100)?, 2);
/// assert_eq!(block.labels(), [1.0, -1.0]);
/// assert_eq!(block.sparse(0).bound(), 7); // index 7 counted from 1
/// assert_eq!(source.read(&mut block, 100)?, 0);
/// # Ok::<(), geowalk_data::DataError>(())
/// ```
pub trait Source: Send {
    /// Clears the block and fills it with at most `rows` rows; 0 means the end. A label of NaN means that the row has
    /// none.
    ///
    /// A block may end early, so that its rows are all dense or all sparse. An error is returned after the rows before
    /// it, and ends the source.
    fn read(&mut self, block: &mut Block, rows: usize) -> Result<usize, DataError>;

    /// Appends at most `rows` rows to columns; 0 means the end. Rows of features are split by feature; tables and JSON
    /// pass on their cells.
    fn read_columns(
        &mut self,
        columns: &mut ColumnBuffer,
        rows: usize,
    ) -> Result<usize, DataError> {
        crate::columns::read_features(self, columns, rows)
    }

    /// The columns, features and labels known so far. The schema grows while reading.
    fn schema(&self) -> &Schema;

    /// Decisions made from the first rows.
    fn decisions(&self) -> &[Decision];

    /// Decisions known only at the end, such as words that counted as missing numbers.
    fn remarks(&self) -> Vec<Decision> {
        Vec::new()
    }

    /// The rows skipped so far.
    fn skipped(&self) -> &Skipped;

    /// The origin of the rows in the last block. The caller may take it away.
    fn places(&mut self) -> &mut Places;

    /// Name of the current file, and the position of the last record in it.
    fn place(&self) -> (&str, Position);

    /// What the values of each CSV or TSV column look like in the sample, by name.
    fn looks(&self) -> Vec<(&str, &Looks)> {
        Vec::new()
    }

    /// The names of the file's columns, for formats whose cells can be [carried](crate::Options::carry): CSV and TSV.
    fn table_names(&self) -> &[String] {
        &[]
    }

    /// A helper that can parse [pieces](Piece) of the remaining text, if they can be parsed out of order.
    fn helper(&self) -> Option<Helper> {
        None
    }

    /// The text of this source, if it reads text. The caller may take it away, cut it for [helpers](Source::helper),
    /// and must put it back at the end.
    fn text(&mut self) -> Option<&mut Text> {
        None
    }

    /// Takes back a parsed piece. Pieces must be given in the order in which they were cut. Returns the number of rows
    /// now in the piece; 0 if there are no more.
    fn take(&mut self, _piece: &mut Piece) -> Result<usize, DataError> {
        Ok(0)
    }
}

impl std::fmt::Debug for dyn Source {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Source").field("place", &self.place()).finish_non_exhaustive()
    }
}

/// How unreadable rows are treated.
#[derive(Default)]
pub enum OnError {
    /// Reading ends with the error.
    #[default]
    Fail,
    /// The row is skipped and counted.
    Skip,
    /// The row is skipped and counted, and its text is written here; a row of a binary table is written as CSV.
    Quarantine(Box<dyn Write + Send>),
}

impl std::fmt::Debug for OnError {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(match self {
            Self::Fail => "Fail",
            Self::Skip => "Skip",
            Self::Quarantine(_) => "Quarantine",
        })
    }
}

/// The rows that were skipped, and the errors of the first ones.
#[derive(Debug, Default)]
pub struct Skipped {
    rows: u64,
    empty: u64,
    first: Vec<DataError>,
}

impl Skipped {
    const KEPT: usize = 10;

    /// Number of skipped rows.
    pub fn rows(&self) -> u64 {
        self.rows
    }

    /// Number of skipped rows without any value, only separators.
    pub fn empty(&self) -> u64 {
        self.empty
    }

    /// The errors of the first ten skipped rows.
    pub fn first(&self) -> &[DataError] {
        &self.first
    }

    /// Adds rows that were skipped earlier, with reasons already reported.
    pub(crate) fn add_unnamed(&mut self, rows: u64) {
        self.rows += rows;
    }

    #[cold]
    pub(crate) fn add_empty(&mut self) {
        self.rows += 1;
        self.empty += 1;
    }

    pub(crate) fn add(&mut self, error: DataError) {
        self.rows += 1;
        if self.first.len() < Self::KEPT {
            self.first.push(error);
        }
    }
}

/// The result of parsing a record.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Parsed {
    /// A row of the block.
    Row,
    /// No row: a blank line or a comment.
    Nothing,
    /// A row of a table without any value.
    Empty,
    /// A row that does not fit in this block, because dense and sparse rows do not mix.
    NextBlock,
}

/// The progress of the search for the end of a record. Its meaning is defined by the parser.
#[derive(Debug, Clone, Copy, Default)]
pub(crate) struct Scan {
    pub(crate) at: usize,
    pub(crate) quoted: bool,
}

/// A format: parses a record to a row.
pub(crate) trait Parser: Send {
    /// Whether every file begins with a record that is not a row.
    fn has_header(&self) -> bool {
        false
    }

    /// Takes the first record of a file that has a header.
    fn header(&mut self, _record: Record<'_>) -> Result<(), Fault> {
        Ok(())
    }

    /// Whether the record is complete; otherwise it continues in the next line.
    #[inline]
    fn complete(&self, _record: Record<'_>, _scan: &mut Scan) -> bool {
        true
    }

    /// Whether anything has to be inferred from a sample.
    fn wants_sample(&self) -> bool {
        false
    }

    /// Adds a row to the sample. Faults are reported later by [`Parser::row`].
    fn sample(&mut self, _record: Record<'_>) {}

    /// Ends the inference from header and sample.
    fn settle(&mut self) -> Result<(), ErrorKind> {
        Ok(())
    }

    /// Parses a record into the block. After a fault, the caller abandons the row.
    fn row(&mut self, record: Record<'_>, block: &mut Block) -> Result<Parsed, Fault>;

    /// Whether there are cells, which [`Parser::cells`] passes on.
    fn has_cells(&self) -> bool {
        false
    }

    /// Parses a record into columns. After a fault, the caller abandons the row.
    fn cells(&mut self, _record: Record<'_>, _columns: &mut ColumnBuffer) -> Result<Parsed, Fault> {
        Ok(Parsed::Nothing)
    }

    /// The schema known so far.
    fn schema(&self) -> &Schema;

    /// What the values of each column look like in the sample, by name.
    fn looks(&self) -> Vec<(&str, &Looks)> {
        Vec::new()
    }

    /// The names of the file's columns, if cells can be carried.
    fn table_names(&self) -> &[String] {
        &[]
    }

    /// The cells of a record in the carried columns, if there are any, even if the row is bad.
    fn carried(&self, _record: Record<'_>) -> Option<Vec<String>> {
        None
    }

    /// Decisions made from the first rows.
    fn decisions(&self) -> &[Decision] {
        &[]
    }

    /// Decisions known only at the end.
    fn remarks(&self) -> Vec<Decision> {
        Vec::new()
    }

    /// A helper that parses pieces out of order, if this is possible. It is not for files with headers.
    fn helper(&self) -> Option<Helper> {
        None
    }

    /// Are the rows of a helper that saw this those of the source?
    fn trusts(&self, _journal: &Journal) -> bool {
        true
    }

    /// Processes what a helper recorded, in order, and adds the answers to the journal.
    fn learn(&mut self, _journal: &mut Journal) -> Result<(), ErrorKind> {
        Ok(())
    }
}

/// The destination of rows.
trait Target<P> {
    fn rows(&self) -> usize;
    fn row(&mut self, parser: &mut P, record: Record<'_>) -> Result<Parsed, Fault>;
    fn abandon(&mut self);
}

impl<P: Parser> Target<P> for Block {
    #[inline(always)]
    fn rows(&self) -> usize {
        self.len()
    }

    #[inline(always)]
    fn row(&mut self, parser: &mut P, record: Record<'_>) -> Result<Parsed, Fault> {
        parser.row(record, self)
    }

    fn abandon(&mut self) {
        self.abandon();
    }
}

/// Columns that had this number of rows before.
struct Added<'a>(&'a mut ColumnBuffer, usize);

impl<P: Parser> Target<P> for Added<'_> {
    fn rows(&self) -> usize {
        self.0.rows() - self.1
    }

    fn row(&mut self, parser: &mut P, record: Record<'_>) -> Result<Parsed, Fault> {
        parser.cells(record, self.0)
    }

    fn abandon(&mut self) {
        self.0.abandon();
    }
}

/// A parser and the text that it parses.
pub(crate) struct Reader<P> {
    text: Text,
    parser: P,
    on_error: OnError,
    skipped: Skipped,
    rows: u64,
    places: Places,
    /// The file whose pieces are being taken, and the number of lines taken.
    pieces: (Arc<str>, u64),
}

impl<P: Parser> Reader<P> {
    /// Reads headers and sample.
    pub(crate) fn open(bytes: Bytes, parser: P, on_error: OnError) -> Result<Self, DataError> {
        let mut reader = Self {
            text: Text::new(bytes),
            parser,
            on_error,
            skipped: Skipped::default(),
            rows: 0,
            places: Places::default(),
            pieces: (Arc::default(), 0),
        };
        reader.infer()?;
        Ok(reader)
    }

    fn infer(&mut self) -> Result<(), DataError> {
        // Files without rows have nothing to infer from.
        let mut lines = false;
        loop {
            lines |= self.header()?;
            self.text.bytes.pin();
            let mut rows = 0;
            let few = if self.parser.wants_sample() { SAMPLE_ROWS } else { 1 };
            while rows < few && self.text.bytes.since_pin() < SAMPLE_BYTES {
                match self.record() {
                    Ok(true) => {}
                    Ok(false) => break,
                    Err(error) if rows == 0 => return Err(error),
                    Err(error) => {
                        self.text.sampled = Some(error);
                        break;
                    }
                }
                if !self.text.bytes.record().bytes().trim_ascii().is_empty() {
                    rows += 1;
                    self.parser.sample(self.text.bytes.record());
                }
            }
            if rows > 0 {
                self.text.bytes.rewind();
                let settled = self.parser.settle();
                return settled.map_err(|kind| kind.of(self.text.bytes.name()));
            }
            if !self.text.next_file()? {
                let kind = if lines { ErrorKind::NoRows } else { ErrorKind::Empty };
                return Err(kind.of(self.text.bytes.name()));
            }
        }
    }

    /// Reads the header, if there is one; `false` if the file is empty.
    fn header(&mut self) -> Result<bool, DataError> {
        if !self.parser.has_header() {
            return Ok(false);
        }
        while self.record()? {
            let record = self.text.bytes.record();
            if record.bytes().trim_ascii().is_empty() {
                continue;
            }
            return match self.parser.header(record) {
                Ok(()) => Ok(true),
                Err(fault) => Err(self.text.bytes.error(fault)),
            };
        }
        Ok(false)
    }

    /// Reads the next record; `false` at the end of the file.
    #[inline]
    fn record(&mut self) -> Result<bool, DataError> {
        if !self.text.bytes.advance()? {
            return self.text.sampled.take().map_or(Ok(false), Err);
        }
        let mut scan = Scan::default();
        while !self.parser.complete(self.text.bytes.record(), &mut scan) {
            if self.text.bytes.record().end > LONGEST_RECORD || !self.text.bytes.extend()? {
                break;
            }
        }
        Ok(true)
    }

    fn fill(&mut self, target: &mut impl Target<P>, rows: usize) -> Result<(), DataError> {
        let live = self.text.bytes.is_live();
        while target.rows() < rows {
            if live && target.rows() > 0 && !self.text.bytes.has_line() {
                return Ok(());
            }
            if !self.record()? {
                if !self.text.next_file()? {
                    self.text.over = true;
                    return Ok(());
                }
                self.header()?;
                continue;
            }
            match target.row(&mut self.parser, self.text.bytes.record()) {
                Ok(Parsed::Row) => {
                    self.places.push(&self.text.file, self.text.bytes.line());
                    if let Some(cells) = self.parser.carried(self.text.bytes.record()) {
                        self.places.carry(cells);
                    }
                }
                Ok(Parsed::Nothing) => {}
                Ok(Parsed::Empty) => {
                    target.abandon();
                    self.skipped.add_empty();
                    let place = format!("{}:{}", self.text.file, self.text.bytes.line());
                    let cells = self.parser.carried(self.text.bytes.record());
                    self.places.leave_out(format!("{place}: no values"), cells.unwrap_or_default());
                }
                Ok(Parsed::NextBlock) => {
                    target.abandon();
                    self.text.bytes.unread();
                    return Ok(());
                }
                Err(fault) => {
                    target.abandon();
                    self.leave_out(fault)?;
                }
            }
        }
        Ok(())
    }

    /// Handles a bad row: fails, or records the error and skips the row.
    #[cold]
    fn leave_out(&mut self, fault: Fault) -> Result<(), DataError> {
        let quote = matches!(*fault.kind, ErrorKind::UnclosedQuote | ErrorKind::AfterQuote { .. });
        let error = self.text.bytes.error(fault);
        if matches!(self.on_error, OnError::Fail) {
            return Err(error);
        }
        if quote {
            self.text.bytes.first_line_only(); // the lines swallowed by a stray quote may be valid
        }
        if let OnError::Quarantine(writer) = &mut self.on_error {
            let text = self.text.bytes.record().bytes();
            let written = writer.write_all(text).and_then(|()| writer.write_all(b"\n"));
            written.map_err(|source| ErrorKind::Io { source }.of("quarantine"))?;
        }
        let cells = self.parser.carried(self.text.bytes.record());
        self.places.leave_out(error.to_string(), cells.unwrap_or_default());
        self.skipped.add(error);
        Ok(())
    }
}

impl<P: Parser> Source for Reader<P> {
    fn read(&mut self, block: &mut Block, rows: usize) -> Result<usize, DataError> {
        block.clear();
        self.next(block, rows)
    }

    fn read_columns(
        &mut self,
        columns: &mut ColumnBuffer,
        rows: usize,
    ) -> Result<usize, DataError> {
        if self.parser.has_cells() {
            let before = columns.rows();
            return self.next(&mut Added(columns, before), rows);
        }
        crate::columns::read_features(self, columns, rows)
    }

    fn schema(&self) -> &Schema {
        self.parser.schema()
    }

    fn decisions(&self) -> &[Decision] {
        self.parser.decisions()
    }

    fn remarks(&self) -> Vec<Decision> {
        self.parser.remarks()
    }

    fn skipped(&self) -> &Skipped {
        &self.skipped
    }

    fn places(&mut self) -> &mut Places {
        &mut self.places
    }

    fn place(&self) -> (&str, Position) {
        (self.text.bytes.name(), self.text.bytes.position(0))
    }

    fn table_names(&self) -> &[String] {
        self.parser.table_names()
    }

    fn looks(&self) -> Vec<(&str, &Looks)> {
        self.parser.looks()
    }

    fn helper(&self) -> Option<Helper> {
        // Pieces are cut only when many lines are there, so a client that waits for an answer would wait forever.
        if self.text.bytes.is_live() { None } else { self.parser.helper() }
    }

    fn text(&mut self) -> Option<&mut Text> {
        Some(&mut self.text)
    }

    fn take(&mut self, piece: &mut Piece) -> Result<usize, DataError> {
        if !Arc::ptr_eq(&self.pieces.0, &piece.text.file) {
            self.pieces = (Arc::clone(&piece.text.file), 0);
        }
        let lines = self.pieces.1;
        match piece.state {
            State::Taken => return Ok(0),
            State::Parsed if self.parser.trusts(&piece.journal) => {
                piece.places.shift(lines);
                self.rows += piece.block.len() as u64;
                self.taken(piece)?;
                return Ok(piece.block.len());
            }
            State::Broken => {
                if let Some(position) =
                    piece.text.failure.as_mut().and_then(|error| error.position.as_mut())
                {
                    position.line += lines;
                }
            }
            State::Cut | State::Unusual | State::Parsed => piece.text.bytes.restart(lines),
            State::Again => {}
        }
        piece.state = State::Again;
        self.again(piece)
    }
}

impl<P: Parser> Reader<P> {
    /// Reads the next rows.
    fn next(&mut self, target: &mut impl Target<P>, rows: usize) -> Result<usize, DataError> {
        self.places.clear();
        if let Some(error) = self.text.failure.take() {
            self.text.over = true;
            return Err(error);
        }
        if self.text.over || rows == 0 {
            return Ok(0);
        }
        match self.fill(target, rows) {
            Err(error) if target.rows() == 0 => {
                self.text.over = true;
                return Err(error);
            }
            Err(error) => self.text.failure = Some(error),
            Ok(()) => {}
        }
        self.rows += target.rows() as u64;
        if self.rows == 0 && self.skipped.rows == 0 {
            return Err(ErrorKind::Empty.of(self.text.bytes.name())); // nothing but comments
        }
        Ok(target.rows())
    }

    /// Reads rows of a piece as if they were the next ones of the file.
    fn again(&mut self, piece: &mut Piece) -> Result<usize, DataError> {
        if let Some(error) = piece.text.failure.take() {
            return Err(error);
        }
        piece.block.clear();
        self.exchange(piece);
        self.places.clear();
        let filled = self.fill(&mut piece.block, PIECE_ROWS);
        self.exchange(piece);
        match filled {
            Err(error) if piece.block.is_empty() => return Err(error),
            Err(error) => piece.text.failure = Some(error),
            Ok(()) => {}
        }
        self.rows += piece.block.len() as u64;
        if piece.block.is_empty() {
            self.taken(piece)?;
        }
        Ok(piece.block.len())
    }

    /// Swaps the text and the places of the source with those of the piece.
    fn exchange(&mut self, piece: &mut Piece) {
        std::mem::swap(&mut self.text, &mut piece.text);
        std::mem::swap(&mut self.places, &mut piece.places);
    }

    /// Ends a piece whose rows were all taken. If the source has parsed the piece again, it already knows everything
    /// in the journal; learning it again changes nothing.
    fn taken(&mut self, piece: &mut Piece) -> Result<(), DataError> {
        piece.state = State::Taken;
        self.pieces.1 += piece.text.bytes.lines();
        self.parser.learn(&mut piece.journal).map_err(|kind| kind.of(&piece.text.file))
    }
}
