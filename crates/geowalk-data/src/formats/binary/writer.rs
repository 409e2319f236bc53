//! Writing the binary form.

use std::io::{self, Write};

use geowalk::row::Block;

use super::frame::{self, MAGIC, Tag};
use super::known::{self, Written};
use super::numbers;
use crate::schema::Schema;
use crate::source::Skipped;

/// Writes what a source gives in the binary form.
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
    /// Begins with what is known before the first row. `origin` says what the file is made from, for who wants to know whether it is still true.
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

    /// Writes what is new of a schema.
    fn known(&mut self, schema: &Schema) -> io::Result<()> {
        known::put_news(schema, &self.written, &mut self.payload);
        self.written = Written::of(schema);
        frame::write(&mut self.out, Tag::Known, 0, &self.payload)
    }

    /// Writes the rows that were read, and what is known since.
    pub fn block(&mut self, block: &Block, schema: &Schema) -> io::Result<()> {
        if self.written.is_behind(schema) {
            self.known(schema)?;
        }
        numbers::put_block(block, &mut self.payload);
        let tag = if block.columns().is_some() { Tag::Dense } else { Tag::Sparse };
        self.rows += block.len();
        frame::write(&mut self.out, tag, block.len(), &self.payload)
    }

    /// Writes what is known at the end, and gives back what was written to.
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
