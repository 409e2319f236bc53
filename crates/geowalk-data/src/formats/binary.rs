//! # Binary form
//! Stores what was read from another format, ready for the learner: blocks as in memory, and between them new
//! information about columns, names and labels. Reading the file gives the same blocks in the same order, and the same
//! schema at every step, so a learner cannot distinguish it from the text.
//!
//! ```text
//! file    = magic frame*
//! frame   = tag:u32 0:u32 rows:u64 length:u64 check:u64 payload        check = XXH3 of the rest of the frame
//! frames  = Start Known (Known? (Sparse | Dense))* End                 `Known`: only what is new
//! ```
//! All numbers are little-endian. [`numbers`] defines how numbers are packed, [`known`] how schemas are written.
//!
//! **Names** If a schema is given (by a model or an earlier file), the features and classes of the file are matched to
//! it by name. So the file need not be the one that the model was trained on.
//!
//! **Robustness** Every frame is checked before it is used. A truncated file is refused and not taken for a shorter
//! one. Options for reading text must agree with those of the conversion. Errors name the row.

mod frame;
mod known;
mod numbers;
mod tenths;
mod translation;
mod writer;

use std::io::Read;
use std::sync::Arc;

use geowalk::row::{Block, Row};

use self::frame::{Frame, MAGIC, Tag};
use self::translation::Translation;
pub use self::writer::Writer;
use crate::Options;
use crate::bytes::{Bytes, Stream, Streams};
use crate::decision::Decision;
use crate::error::{DataError, ErrorKind, Position};
use crate::place::Places;
use crate::schema::Schema;
use crate::source::{Skipped, Source};

const NAME: &str = "binary";
const CUT: ErrorKind = ErrorKind::Cut { format: NAME };

fn broken(what: impl Into<String>) -> ErrorKind {
    ErrorKind::Broken { format: NAME, what: what.into() }
}

pub(super) fn sniff(head: &[u8]) -> bool {
    head.starts_with(&MAGIC[..8])
}

/// The origin recorded in a binary file; `None` if it is not a binary file.
pub fn origin(path: &std::path::Path) -> Option<String> {
    let reader = Box::new(std::fs::File::open(path).ok()?);
    let name = path.display().to_string();
    let mut stream = Stream { name: name.as_str().into(), path: None, compression: None, reader };
    let mut magic = [0; MAGIC.len()];
    stream.reader.read_exact(&mut magic).ok()?;
    let mut frame = Frame::default();
    if magic != *MAGIC || frame.read(&mut stream).ok()? != Tag::Start {
        return None;
    }
    known::text(&mut frame.payload()).ok().map(str::to_owned)
}

pub(super) fn open(bytes: Bytes, options: Options) -> Result<Box<dyn Source>, DataError> {
    let mut source = Binary {
        file: bytes.name().into(),
        streams: bytes.into_streams(),
        stream: None,
        frame: Frame::default(),
        translation: Translation::new(options),
        held: Block::new(),
        next: 0,
        rows: 0,
        given: 0,
        skipped: Skipped::default(),
        places: Places::default(),
        over: false,
    };
    if !source.next_file()? {
        return Err(ErrorKind::Empty.of(&source.file));
    }
    Ok(Box::new(source))
}

/// The rows of all inputs.
struct Binary {
    streams: Streams,
    stream: Option<Stream>,
    file: Arc<str>,
    frame: Frame,
    translation: Translation,
    /// A block with more rows than were requested; `next` is its next row.
    held: Block,
    next: usize,
    /// Number of rows read from the file, and number of rows passed on.
    rows: u64,
    given: u64,
    skipped: Skipped,
    places: Places,
    over: bool,
}

impl Binary {
    /// Opens the next file and reads its initial schema; `false` if there is none.
    fn next_file(&mut self) -> Result<bool, DataError> {
        let Some(mut stream) = self.streams.next()? else { return Ok(false) };
        self.file = stream.name.clone();
        (self.rows, self.given) = (0, 0);
        let begun = self.begin(&mut stream).map_err(|kind| kind.of(&self.file));
        self.stream = Some(stream);
        begun?;
        Ok(true)
    }

    fn begin(&mut self, stream: &mut Stream) -> Result<(), ErrorKind> {
        let mut magic = [0; MAGIC.len()];
        let read = stream.reader.read_exact(&mut magic);
        read.map_err(|source| frame::fault(stream, source))?;
        if magic != *MAGIC {
            return Err(broken("it is of another version, or something else"));
        }
        for tag in [Tag::Start, Tag::Known] {
            if self.frame.read(stream)? != tag {
                return Err(broken("its first parts are missing"));
            }
        }
        self.translation.begin(self.frame.payload())
    }

    /// Reads the next block; `false` at the end of the file.
    fn block(&mut self, block: &mut Block) -> Result<bool, ErrorKind> {
        let Some(stream) = &mut self.stream else { return Ok(false) };
        loop {
            let tag = self.frame.read(stream)?;
            let (rows, payload) = (self.frame.rows(), self.frame.payload());
            match tag {
                Tag::Start => return Err(broken("it begins twice")),
                Tag::Known => self.translation.learn(payload)?,
                Tag::Sparse | Tag::Dense => {
                    numbers::block(tag == Tag::Dense, rows, payload, block)?;
                    self.translation.apply(block)?;
                    self.rows += block.len() as u64;
                    return Ok(true);
                }
                Tag::End => {
                    if rows as u64 != self.rows {
                        let (found, said) = (self.rows, rows);
                        return Err(broken(format!("{found} rows where it says {said}")));
                    }
                    self.skipped.add_unnamed(self.translation.end(payload)?);
                    self.stream = None;
                    return Ok(false);
                }
            }
        }
    }

    /// Reads the next rows, at most as many as requested.
    fn fill(&mut self, block: &mut Block, rows: usize) -> Result<(), DataError> {
        while self.next == self.held.len() {
            if self.block(block).map_err(|kind| kind.of(&self.file))? {
                if block.len() > rows {
                    std::mem::swap(block, &mut self.held);
                    self.next = 0;
                } else if !block.is_empty() {
                    self.hand_out(block.len());
                    return Ok(());
                }
            } else if !self.next_file()? {
                self.over = true;
                return Ok(());
            }
        }
        let until = self.held.len().min(self.next + rows);
        block.clear();
        for row in self.next..until {
            copy(&self.held, row, block).map_err(|kind| kind.of(&self.file))?;
        }
        self.hand_out(until - self.next);
        self.next = until;
        Ok(())
    }

    /// Records the origin of these rows.
    fn hand_out(&mut self, rows: usize) {
        for _ in 0..rows {
            self.given += 1;
            self.places.push_row(&self.file, self.given);
        }
    }
}

/// Appends a row to another block.
fn copy(from: &Block, row: usize, to: &mut Block) -> Result<(), ErrorKind> {
    let (label, weight) = (from.labels()[row], from.weights()[row]);
    if from.columns().is_some() {
        let pushed = to.push_dense(from.dense(row).0, label, weight);
        return pushed.map_err(|error| broken(error.to_string()));
    }
    from.sparse(row)
        .each(|index, value| to.feature(u32::try_from(index).unwrap_or(u32::MAX), value));
    to.end(label, weight);
    Ok(())
}

impl Source for Binary {
    fn read(&mut self, block: &mut Block, rows: usize) -> Result<usize, DataError> {
        self.places.clear();
        if self.over || rows == 0 {
            block.clear();
            return Ok(0);
        }
        if let Err(error) = self.fill(block, rows) {
            self.over = true;
            return Err(error);
        }
        if self.over {
            block.clear();
        }
        Ok(block.len())
    }

    fn schema(&self) -> &Schema {
        self.translation.schema()
    }

    fn decisions(&self) -> &[Decision] {
        &[]
    }

    fn skipped(&self) -> &Skipped {
        &self.skipped
    }

    fn places(&mut self) -> &mut Places {
        &mut self.places
    }

    fn place(&self) -> (&str, Position) {
        (&self.file, Position { line: self.given, column: 1, byte: 0, is_row: true })
    }
}
