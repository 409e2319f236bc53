//! # Arrow
//! Record batches one after the other, as Arrow's libraries send them (streams) and store them (files, Feather version 2); compressed by LZ4 or
//! zstd.
//!
//! **Method** A file is a stream between two magic words and with a table of contents behind it, so both are read from the front: files,
//! pipes and compressed streams alike.
//!
//! **Cost** One record batch in memory; how large it is was decided by who wrote it.
//!
//! **Care** No memory is reserved on the word of a header, except by decompressors. A file must end with its magic word: one that is cut between two batches is
//! refused, not taken for a shorter one. A stream may end after any batch.

use std::collections::HashMap;
use std::io::{BufReader, Read};

use arrow_array::{ArrayRef, RecordBatch};
use arrow_ipc::convert::fb_to_schema;
use arrow_ipc::reader::{read_dictionary, read_record_batch};
use arrow_ipc::{Message, MessageHeader, root_as_message};
use arrow_schema::SchemaRef;

use super::columnar::{self, Batches, guarded};
use crate::Options;
use crate::bytes::{Bytes, Stream};
use crate::error::{Compression, DataError, ErrorKind};
use crate::source::Source;

const NAME: &str = "arrow";
const MAGIC: &[u8] = b"ARROW1";
const CONTINUES: [u8; 4] = [0xff; 4];

pub(super) fn open(bytes: Bytes, options: Options) -> Result<Box<dyn Source>, DataError> {
    columnar::open(bytes, options, one)
}

pub(super) fn sniff(head: &[u8]) -> bool {
    head.starts_with(MAGIC) || head.starts_with(&CONTINUES)
}

fn broken(what: &str) -> ErrorKind {
    ErrorKind::Broken { format: NAME, what: what.to_owned() }
}

/// One input.
struct Arrow {
    reader: BufReader<Box<dyn Read + Send>>,
    compression: Option<Compression>,
    /// Of a file, the magic word at the end is due.
    file: bool,
    over: bool,
    schema: SchemaRef,
    dictionaries: HashMap<i64, ArrayRef>,
    wanted: Vec<usize>,
    /// The message and what follows it.
    head: Vec<u8>,
}

fn one(stream: Stream) -> Result<Box<dyn Batches>, ErrorKind> {
    let mut arrow = Arrow {
        reader: BufReader::with_capacity(1 << 16, stream.reader),
        compression: stream.compression,
        file: false,
        over: false,
        schema: arrow_schema::Schema::empty().into(),
        dictionaries: HashMap::new(),
        wanted: Vec::new(),
        head: Vec::new(),
    };
    let mut first = arrow.take(8)?;
    if first.is_empty() {
        return Err(ErrorKind::Empty);
    }
    if first.starts_with(MAGIC) {
        arrow.file = true;
        first = arrow.take(8)?;
        while first == [0; 8] {
            first = arrow.take(8)?; // the first message begins where its writer likes to align it
        }
    } else if first.starts_with(b"FEA1") {
        return Err(broken("it is Feather version 1, which nothing writes any more"));
    } else if !first.starts_with(&CONTINUES) {
        return Err(broken("it begins neither with ARROW1 nor with a message"));
    }
    if !arrow.message(&first)? {
        return Err(broken("there is no schema"));
    }
    let schema = guarded(NAME, || {
        let message = parsed(&arrow.head)?;
        let schema = message.header_as_schema().ok_or("it does not begin with a schema")?;
        Ok(fb_to_schema(schema))
    })?;
    arrow.schema = schema.into();
    arrow.body()?;
    Ok(Box::new(arrow))
}

fn parsed(head: &[u8]) -> Result<Message<'_>, String> {
    root_as_message(head).map_err(|error| error.to_string())
}

impl Arrow {
    /// The next bytes, fewer only at the end.
    fn take(&mut self, count: u64) -> Result<Vec<u8>, ErrorKind> {
        let mut bytes = Vec::new();
        let read = self.reader.by_ref().take(count).read_to_end(&mut bytes);
        read.map_err(|source| Stream::fault(self.compression, source))?;
        Ok(bytes)
    }

    /// The next bytes, all of them.
    fn exactly(&mut self, count: u64) -> Result<Vec<u8>, ErrorKind> {
        let bytes = self.take(count)?;
        if bytes.len() as u64 == count { Ok(bytes) } else { Err(ErrorKind::Cut { format: NAME }) }
    }

    /// Reads the message that begins with these bytes; `false` if they are the end.
    fn message(&mut self, begin: &[u8]) -> Result<bool, ErrorKind> {
        let length = match *begin {
            [] if !self.file => return Ok(false),
            [0xff, 0xff, 0xff, 0xff, a, b, c, d] => u32::from_le_bytes([a, b, c, d]),
            [_, _, _, _, _, _, _, _] => return Err(broken("a message expected")),
            _ => return Err(ErrorKind::Cut { format: NAME }),
        };
        if length == 0 {
            return Ok(false);
        }
        self.head = self.exactly(length.into())?;
        Ok(true)
    }

    /// Reads what follows the message.
    fn body(&mut self) -> Result<Vec<u8>, ErrorKind> {
        let length = guarded(NAME, || Ok(parsed(&self.head)?.bodyLength()))?;
        let length = u64::try_from(length).map_err(|_| broken("a length below 0"))?;
        self.exactly(length)
    }

    /// The magic word at the end of a file.
    fn finish(&mut self) -> Result<(), ErrorKind> {
        self.over = true;
        if !self.file {
            return Ok(());
        }
        let mut tail = Vec::new();
        loop {
            let more = self.take(1 << 16)?;
            if more.is_empty() {
                break;
            }
            tail.extend_from_slice(&more);
            tail.drain(..tail.len().saturating_sub(MAGIC.len()));
        }
        if tail == MAGIC { Ok(()) } else { Err(ErrorKind::Cut { format: NAME }) }
    }
}

impl Batches for Arrow {
    fn schema(&self) -> SchemaRef {
        self.schema.clone()
    }

    fn select(&mut self, wanted: Vec<usize>) -> Result<(), ErrorKind> {
        self.wanted = wanted;
        Ok(())
    }

    fn next(&mut self) -> Result<Option<RecordBatch>, ErrorKind> {
        while !self.over {
            let begin = self.take(8)?;
            if !self.message(&begin)? {
                self.finish()?;
                break;
            }
            let body = self.body()?.into();
            let Self { head, schema, dictionaries, wanted, .. } = self;
            let batch = guarded(NAME, || {
                let message = parsed(head)?;
                let version = message.version();
                let done = match message.header_type() {
                    MessageHeader::RecordBatch => {
                        let batch = message.header_as_record_batch().ok_or("no batch")?;
                        let schema = schema.clone();
                        read_record_batch(
                            &body,
                            batch,
                            schema,
                            dictionaries,
                            Some(wanted),
                            &version,
                        )
                        .map(Some)
                    }
                    MessageHeader::DictionaryBatch => {
                        let batch = message.header_as_dictionary_batch().ok_or("no dictionary")?;
                        read_dictionary(&body, batch, schema, dictionaries, &version).map(|()| None)
                    }
                    other => return Err(format!("a message of type {other:?}")),
                };
                done.map_err(|error| error.to_string())
            })?;
            if batch.is_some() {
                return Ok(batch);
            }
        }
        Ok(None)
    }
}
