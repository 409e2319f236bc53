//! Writes the binary format.

use std::io::{self, Write};

use geowalk::row::Block;

use super::frame::{self, MAGIC, Tag};
use super::known::{self, Written};
use super::numbers;
use crate::schema::Schema;
use crate::source::Skipped;

/// Writes the rows of a source in the binary format.
///
/// ```
/// use geowalk::row::Block;
/// use geowalk_data::{Input, Options, Source, Writer, open};
/// let mut source = open(Options::new([Input::text("a.csv", "x,color,y\n1.5,red,2\n0.25,blue,3\n")]))?;
/// let (mut bytes, mut block) = (Vec::new(), Block::new());
/// let mut writer = Writer::start(&mut bytes, source.schema(), "")?;
/// while source.read(&mut block, 1024)? > 0 {
///     writer.block(&block, source.schema())?;
/// }
/// writer.end(source.schema(), source.skipped())?;
/// let mut again = open(Options::new([Input::text("a.gwd", bytes)]))?;
/// assert_eq!(again.read(&mut block, 1024)?, 2);
/// assert_eq!(block.labels(), [2.0, 3.0]);
/// assert_eq!(again.schema().features().name(2).as_deref(), Some("color=blue"));
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Debug)]
pub struct Writer<W: Write> {
    out: W,
    written: Written,
    rows: usize,
    payload: Vec<u8>,
}

impl<W: Write> Writer<W> {
    /// Starts a file with the schema known before the first row. `origin` describes the source of the data, so that a
    /// reader can tell whether the file is up to date.
    pub fn start(mut out: W, schema: &Schema, origin: &str) -> io::Result<Self> {
        out.write_all(MAGIC)?;
        let mut payload = Vec::new();
        known::put_text(origin, &mut payload);
        known::put_text(env!("CARGO_PKG_VERSION"), &mut payload);
        frame::write(&mut out, Tag::Start, 0, &payload)?;
        let mut writer = Self { out, written: Written::default(), rows: 0, payload };
        writer.known(schema)?;
        Ok(writer)
    }

    /// Writes the additions to a schema.
    fn known(&mut self, schema: &Schema) -> io::Result<()> {
        known::put_news(schema, &self.written, &mut self.payload);
        self.written = Written::of(schema);
        frame::write(&mut self.out, Tag::Known, 0, &self.payload)
    }

    /// Writes the rows of a block, after any additions to the schema.
    pub fn block(&mut self, block: &Block, schema: &Schema) -> io::Result<()> {
        if self.written.is_behind(schema) {
            self.known(schema)?;
        }
        numbers::put_block(block, &mut self.payload);
        let tag = if block.columns().is_some() { Tag::Dense } else { Tag::Sparse };
        self.rows += block.len();
        frame::write(&mut self.out, tag, block.len(), &self.payload)
    }

    /// Writes what is known only at the end. Returns the output.
    pub fn end(mut self, schema: &Schema, skipped: &Skipped) -> io::Result<W> {
        if self.written.is_behind(schema) {
            self.known(schema)?;
        }
        known::put_end(schema, skipped.rows(), &mut self.payload);
        frame::write(&mut self.out, Tag::End, self.rows, &self.payload)?;
        self.out.flush()?;
        Ok(self.out)
    }
}
