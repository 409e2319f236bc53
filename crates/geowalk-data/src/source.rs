//! # Sources
//! A source fills blocks. The loop over records, files and faults is here once; a format only parses a record.
//!
//! **Laws** Neither the number of rows per read nor the size of the buffer changes the rows. Everything that is inferred
//! (types, the base of indices) comes from the first [`SAMPLE_ROWS`] rows or [`SAMPLE_BYTES`] bytes, whichever end
//! first, never from what happens to lie in memory.

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

/// Rows from which types are inferred.
pub const SAMPLE_ROWS: usize = 1000;

/// Bytes of text after which a sample ends even if it has fewer rows.
pub const SAMPLE_BYTES: usize = 1 << 20;

/// Rows that are read at once from a piece that no helper could parse.
const PIECE_ROWS: usize = 1024;

/// A record may be this long before a quote in it counts as never closed.
const LONGEST_RECORD: usize = 1 << 26;

/// Something that gives rows.
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
    /// Clears the block and fills it with at most `rows` rows; 0 is the end. A label of NaN means that the row has none.
    ///
    /// A block may end early, so that all its rows are dense or all sparse. An error comes after the rows before it,
    /// and ends the source.
    fn read(&mut self, block: &mut Block, rows: usize) -> Result<usize, DataError>;

    /// Adds at most `rows` rows to columns; 0 is the end. Rows of features are taken apart; tables and JSON hand on
    /// their cells.
    fn read_columns(
        &mut self,
        columns: &mut ColumnBuffer,
        rows: usize,
    ) -> Result<usize, DataError> {
        crate::columns::read_features(self, columns, rows)
    }

    /// What is known about columns, features and labels. It grows while reading.
    fn schema(&self) -> &Schema;

    /// What was decided by looking at the first rows.
    fn decisions(&self) -> &[Decision];

    /// What only the end tells: words that were taken for missing numbers.
    fn remarks(&self) -> Vec<Decision> {
        Vec::new()
    }

    /// The rows left out so far.
    fn skipped(&self) -> &Skipped;

    /// Where the rows of the block that was read last come from. May be taken away.
    fn places(&mut self) -> &mut Places;

    /// Name of the file being read, and the place of the last record in it.
    fn place(&self) -> (&str, Position);

    /// What the values of each column of CSV and TSV look like in the sample, by name.
    fn looks(&self) -> Vec<(&str, &Looks)> {
        Vec::new()
    }

    /// The names of the file's columns, where cells can be [carried](crate::Options::carry): CSV and TSV.
    fn table_names(&self) -> &[String] {
        &[]
    }

    /// Somebody who can parse [pieces](Piece) of what is still to be read, if that can be done out of order.
    fn helper(&self) -> Option<Helper> {
        None
    }

    /// The text that this source reads from, if it is text. It may be taken away, to be cut for [helpers](Source::helper), and put back at the end.
    fn text(&mut self) -> Option<&mut Text> {
        None
    }

    /// Takes back a piece that a helper has parsed, in the order in which they were cut; gives the number of rows that are in it now, 0 if there are no more.
    fn take(&mut self, _piece: &mut Piece) -> Result<usize, DataError> {
        Ok(0)
    }
}

impl std::fmt::Debug for dyn Source {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Source").field("place", &self.place()).finish_non_exhaustive()
    }
}

/// What becomes of a row that cannot be read.
#[derive(Default)]
pub enum OnError {
    /// The reading ends with the error.
    #[default]
    Fail,
    /// The row is left out and counted.
    Skip,
    /// The same, and its text is written here; a row of a binary table as a line of CSV.
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

/// The rows left out, and why the first ones were.
#[derive(Debug, Default)]
pub struct Skipped {
    rows: u64,
    empty: u64,
    first: Vec<DataError>,
}

impl Skipped {
    const KEPT: usize = 10;

    /// How many.
    pub fn rows(&self) -> u64 {
        self.rows
    }

    /// How many of them had no value at all: nothing but separators.
    pub fn empty(&self) -> u64 {
        self.empty
    }

    /// The errors of the first ten.
    pub fn first(&self) -> &[DataError] {
        &self.first
    }

    /// Rows that were left out before, for reasons that were told then.
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

/// What a parser made of a record.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Parsed {
    /// A row of the block.
    Row,
    /// Nothing: a blank line or a comment.
    Nothing,
    /// A row of a table without any value.
    Empty,
    /// A row that does not fit in this block: dense and sparse rows do not mix.
    NextBlock,
}

/// How far the search for the end of a record has come; what it means is the parser's business.
#[derive(Debug, Clone, Copy, Default)]
pub(crate) struct Scan {
    pub(crate) at: usize,
    pub(crate) quoted: bool,
}

/// A format: from a record to a row.
pub(crate) trait Parser: Send {
    /// Does every file begin with a record that is no row?
    fn has_header(&self) -> bool {
        false
    }

    /// Takes the first record of a file that has a header.
    fn header(&mut self, _record: Record<'_>) -> Result<(), Fault> {
        Ok(())
    }

    /// Is the record complete, or does it go on in the next line?
    #[inline]
    fn complete(&self, _record: Record<'_>, _scan: &mut Scan) -> bool {
        true
    }

    /// Does anything have to be inferred?
    fn wants_sample(&self) -> bool {
        false
    }

    /// Looks at a row of the sample; faults are for [`Parser::row`] to find.
    fn sample(&mut self, _record: Record<'_>) {}

    /// Draws the conclusions from header and sample.
    fn settle(&mut self) -> Result<(), ErrorKind> {
        Ok(())
    }

    /// Parses a record into the block; after a fault the caller abandons the row.
    fn row(&mut self, record: Record<'_>, block: &mut Block) -> Result<Parsed, Fault>;

    /// Are there cells, which [`Parser::cells`] hands on?
    fn has_cells(&self) -> bool {
        false
    }

    /// Parses a record into columns; after a fault the caller abandons the row.
    fn cells(&mut self, _record: Record<'_>, _columns: &mut ColumnBuffer) -> Result<Parsed, Fault> {
        Ok(Parsed::Nothing)
    }

    /// What is known.
    fn schema(&self) -> &Schema;

    /// What the values of each column look like in the sample, by name.
    fn looks(&self) -> Vec<(&str, &Looks)> {
        Vec::new()
    }

    /// The names of the file's columns, where cells can be carried.
    fn table_names(&self) -> &[String] {
        &[]
    }

    /// The cells of a record in the columns that are carried, if any are; whether or not it is a good row.
    fn carried(&self, _record: Record<'_>) -> Option<Vec<String>> {
        None
    }

    /// What was decided by looking at the first rows.
    fn decisions(&self) -> &[Decision] {
        &[]
    }

    /// What only the end tells.
    fn remarks(&self) -> Vec<Decision> {
        Vec::new()
    }

    /// The same for pieces out of order, if they can be parsed so; not where files have headers.
    fn helper(&self) -> Option<Helper> {
        None
    }

    /// The source learns what a helper saw, in order, and answers whose places are.
    fn learn(&mut self, _journal: &mut Journal) -> Result<(), ErrorKind> {
        Ok(())
    }
}

/// What rows are read into.
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

/// Columns that had so many rows before.
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

/// A format and the bytes it parses.
pub(crate) struct Reader<P> {
    text: Text,
    parser: P,
    on_error: OnError,
    skipped: Skipped,
    rows: u64,
    places: Places,
    /// The file whose pieces are being taken, and the lines in those that were.
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

    /// Goes on to the next record; `false` at the end of the file.
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

    /// A bad row: fails, or writes it down and goes on.
    #[cold]
    fn leave_out(&mut self, fault: Fault) -> Result<(), DataError> {
        let quote = matches!(*fault.kind, ErrorKind::UnclosedQuote | ErrorKind::AfterQuote { .. });
        let error = self.text.bytes.error(fault);
        if matches!(self.on_error, OnError::Fail) {
            return Err(error);
        }
        if quote {
            self.text.bytes.first_line_only(); // the lines that a stray quote has swallowed may well be good
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
        // Pieces are cut when there are many lines: who waits for an answer would wait for ever.
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
            State::Parsed => {
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
            State::Cut | State::Unusual => piece.text.bytes.restart(lines),
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

    /// What is read from is the piece, or the file again.
    fn exchange(&mut self, piece: &mut Piece) {
        std::mem::swap(&mut self.text, &mut piece.text);
        std::mem::swap(&mut self.places, &mut piece.places);
    }

    /// All rows of a piece were taken. Who has read it again has met all that the helper has written down, and more; to meet it once more changes nothing.
    fn taken(&mut self, piece: &mut Piece) -> Result<(), DataError> {
        piece.state = State::Taken;
        self.pieces.1 += piece.text.bytes.lines();
        self.parser.learn(&mut piece.journal).map_err(|kind| kind.of(&piece.text.file))
    }
}
