//! Arrow files: blocks, and a table of contents at the end.

use std::fs::File;
use std::io::{Cursor, Read, Seek, SeekFrom};

use arrow_array::RecordBatch;
use arrow_ipc::reader::FileDecoder;
use arrow_ipc::{Block, root_as_footer, root_as_message};
use arrow_schema::SchemaRef;

use super::{CUT, MAGIC, NAME, broken, check_sizes, native};
use crate::bytes::Stream;
use crate::error::ErrorKind;
use crate::formats::columnar::{Batches, guarded};

trait Search: Read + Seek + Send {}

impl<T: Read + Seek + Send> Search for T {}

struct Blocks {
    reader: Box<dyn Search>,
    schema: SchemaRef,
    /// `None` only while its columns are being set.
    decoder: Option<FileDecoder>,
    batches: std::vec::IntoIter<Block>,
}

/// Opens a file; `head` holds the first bytes, which were already read.
pub(super) fn open(mut stream: Stream, head: &[u8]) -> Result<Box<dyn Batches>, ErrorKind> {
    let reader: Box<dyn Search> = if let Some(path) = &stream.path {
        Box::new(File::open(path).map_err(|source| ErrorKind::Io { source })?)
    } else {
        let mut memory = head.to_vec();
        let read = stream.reader.read_to_end(&mut memory);
        read.map_err(|source| Stream::fault(stream.compression, source))?;
        Box::new(Cursor::new(memory))
    };
    let mut blocks = Blocks {
        reader,
        schema: arrow_schema::Schema::empty().into(),
        decoder: None,
        batches: Vec::new().into_iter(),
    };
    blocks.contents()?;
    Ok(Box::new(blocks))
}

impl Blocks {
    /// Reads `count` bytes from position `start`.
    fn bytes(&mut self, start: u64, count: u64) -> Result<Vec<u8>, ErrorKind> {
        let mut bytes = Vec::new();
        let found = self.reader.seek(SeekFrom::Start(start));
        let read = found.and_then(|_| self.reader.by_ref().take(count).read_to_end(&mut bytes));
        match read.map_err(|source| ErrorKind::Io { source })? as u64 {
            read if read == count => Ok(bytes),
            _ => Err(CUT),
        }
    }

    /// Reads the table of contents and the dictionaries.
    fn contents(&mut self) -> Result<(), ErrorKind> {
        let length = self.reader.seek(SeekFrom::End(0));
        let end = length.map_err(|source| ErrorKind::Io { source })?.saturating_sub(10);
        let (size, footer) = match *self.bytes(end, 10)? {
            [a, b, c, d, ref magic @ ..] if magic == MAGIC => {
                let size = u64::from(u32::from_le_bytes([a, b, c, d]));
                (size, end.checked_sub(size).ok_or_else(|| broken("a footer without end"))?)
            }
            _ => return Err(CUT),
        };
        let footer = self.bytes(footer, size)?;
        let (schema, version, dictionaries, batches) = guarded(NAME, || {
            let footer = root_as_footer(&footer).map_err(|error| error.to_string())?;
            let schema = footer.schema().ok_or("there is no schema")?;
            let dictionaries = footer.dictionaries().map(|blocks| blocks.iter().copied().collect());
            let batches = footer.recordBatches().map(|blocks| blocks.iter().copied().collect());
            let dictionaries: Vec<Block> = dictionaries.unwrap_or_default();
            let batches: Vec<Block> = batches.unwrap_or_default();
            Ok((native(schema), footer.version(), dictionaries, batches))
        })?;
        self.schema = schema.ok_or(ErrorKind::ByteOrder)?.into();
        let mut decoder = FileDecoder::new(self.schema.clone(), version);
        for block in dictionaries {
            let bytes = self.block(&block)?;
            guarded(NAME, || {
                check_block(&block, &bytes)?;
                let bytes = bytes.into();
                decoder.read_dictionary(&block, &bytes).map_err(|error| error.to_string())
            })?;
        }
        self.decoder = Some(decoder);
        self.batches = batches.into_iter();
        Ok(())
    }

    fn block(&mut self, block: &Block) -> Result<Vec<u8>, ErrorKind> {
        let part = |length: i64| u64::try_from(length).map_err(|_| broken("a length below 0"));
        let (start, message) = (part(block.offset())?, part(block.metaDataLength().into())?);
        let length = message.saturating_add(part(block.bodyLength())?);
        self.bytes(start, length)
    }
}

/// [`check_sizes`] of a block, which begins as a message of a stream does.
fn check_block(block: &Block, bytes: &[u8]) -> Result<(), String> {
    let length = usize::try_from(block.metaDataLength()).unwrap_or(0);
    let Some((message, body)) = bytes.split_at_checked(length) else { return Ok(()) };
    let begin = if message.starts_with(&[0xff; 4]) { 8 } else { 4 };
    let message = root_as_message(message.get(begin..).unwrap_or_default());
    let message = message.map_err(|error| error.to_string())?;
    let data = message.header_as_dictionary_batch().and_then(|batch| batch.data());
    let batch = message.header_as_record_batch().or(data);
    batch.map_or(Ok(()), |batch| check_sizes(batch, body))
}

impl Batches for Blocks {
    fn schema(&self) -> SchemaRef {
        self.schema.clone()
    }

    fn select(&mut self, wanted: Vec<usize>) -> Result<(), ErrorKind> {
        self.decoder = self.decoder.take().map(|decoder| decoder.with_projection(wanted));
        Ok(())
    }

    fn next(&mut self) -> Result<Option<RecordBatch>, ErrorKind> {
        while let Some(block) = self.batches.next() {
            let bytes = self.block(&block)?;
            let Some(decoder) = &self.decoder else { break };
            let batch = guarded(NAME, || {
                check_block(&block, &bytes)?;
                let bytes = bytes.into();
                decoder.read_record_batch(&block, &bytes).map_err(|error| error.to_string())
            })?;
            if batch.is_some() {
                return Ok(batch);
            }
        }
        Ok(None)
    }
}
