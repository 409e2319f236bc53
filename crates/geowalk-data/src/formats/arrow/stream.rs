//! Arrow streams: a sequence of messages.

use std::collections::HashMap;
use std::io::{BufReader, Cursor, Read};

use arrow_array::{ArrayRef, RecordBatch};
use arrow_ipc::reader::{read_dictionary, read_record_batch};
use arrow_ipc::{Message, MessageHeader, root_as_message};
use arrow_schema::SchemaRef;

use super::{CONTINUES, CUT, NAME, broken, check_sizes, native};
use crate::bytes::Stream;
use crate::error::{Compression, ErrorKind};
use crate::formats::columnar::{Batches, guarded};

struct Messages {
    reader: BufReader<Box<dyn Read + Send>>,
    compression: Option<Compression>,
    over: bool,
    schema: SchemaRef,
    dictionaries: HashMap<i64, ArrayRef>,
    wanted: Vec<usize>,
    /// The header of a message; its body follows in the stream.
    message: Vec<u8>,
}

/// Opens a stream; `head` holds the first bytes, at most eight, which were already read.
pub(super) fn open(stream: Stream, head: &[u8]) -> Result<Box<dyn Batches>, ErrorKind> {
    let mut messages = Messages {
        reader: BufReader::with_capacity(
            1 << 16,
            Box::new(Cursor::new(head.to_vec()).chain(stream.reader)),
        ),
        compression: stream.compression,
        over: false,
        schema: arrow_schema::Schema::empty().into(),
        dictionaries: HashMap::new(),
        wanted: Vec::new(),
        message: Vec::new(),
    };
    if !messages.advance()? {
        return Err(broken("there is no schema"));
    }
    let schema = guarded(NAME, || {
        let message = parsed(&messages.message)?;
        let schema = message.header_as_schema().ok_or("it does not begin with a schema")?;
        Ok(native(schema))
    })?;
    messages.schema = schema.ok_or(ErrorKind::ByteOrder)?.into();
    messages.body()?;
    Ok(Box::new(messages))
}

fn parsed(message: &[u8]) -> Result<Message<'_>, String> {
    root_as_message(message).map_err(|error| error.to_string())
}

impl Messages {
    /// Reads the next `count` bytes; fewer only at the end.
    fn take(&mut self, count: u64) -> Result<Vec<u8>, ErrorKind> {
        let mut bytes = Vec::new();
        let read = self.reader.by_ref().take(count).read_to_end(&mut bytes);
        read.map_err(|source| Stream::fault(self.compression, source))?;
        Ok(bytes)
    }

    /// Reads exactly `count` bytes.
    fn exactly(&mut self, count: u64) -> Result<Vec<u8>, ErrorKind> {
        let bytes = self.take(count)?;
        if bytes.len() as u64 == count { Ok(bytes) } else { Err(CUT) }
    }

    /// Reads the header of the next message; `false` at the end of the stream.
    ///
    /// A message begins with a marker and its length; before Arrow 0.15, with the length only.
    fn advance(&mut self) -> Result<bool, ErrorKind> {
        let mut begin = self.take(4)?;
        if begin == CONTINUES {
            begin = self.exactly(4)?;
        }
        let length = match *begin {
            [] => return Ok(false),
            [a, b, c, d] => u32::from_le_bytes([a, b, c, d]),
            _ => return Err(CUT),
        };
        if length == 0 {
            return Ok(false);
        }
        self.message = self.exactly(length.into())?;
        Ok(true)
    }

    /// Reads the body of the message.
    fn body(&mut self) -> Result<Vec<u8>, ErrorKind> {
        let length = guarded(NAME, || Ok(parsed(&self.message)?.bodyLength()))?;
        self.exactly(u64::try_from(length).map_err(|_| broken("a length below 0"))?)
    }
}

impl Batches for Messages {
    fn schema(&self) -> SchemaRef {
        self.schema.clone()
    }

    fn select(&mut self, wanted: Vec<usize>) -> Result<(), ErrorKind> {
        self.wanted = wanted;
        Ok(())
    }

    fn next(&mut self) -> Result<Option<RecordBatch>, ErrorKind> {
        while !self.over {
            if !self.advance()? {
                self.over = true;
                break;
            }
            let bytes = self.body()?;
            let Self { message, schema, dictionaries, wanted, .. } = self;
            let batch = guarded(NAME, || {
                let message = parsed(message)?;
                let version = message.version();
                let done = match message.header_type() {
                    MessageHeader::RecordBatch => {
                        let batch = message.header_as_record_batch().ok_or("no batch")?;
                        check_sizes(batch, &bytes)?;
                        let body = bytes.into();
                        let (schema, wanted) = (schema.clone(), Some(wanted.as_slice()));
                        read_record_batch(&body, batch, schema, dictionaries, wanted, &version)
                            .map(Some)
                    }
                    MessageHeader::DictionaryBatch => {
                        let batch = message.header_as_dictionary_batch().ok_or("no dictionary")?;
                        batch.data().map_or(Ok(()), |data| check_sizes(data, &bytes))?;
                        let body = bytes.into();
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
