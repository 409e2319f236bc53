//! # Arrow
//! Reads Arrow record batches as streams and as files (Feather version 2), also compressed with LZ4 or zstd. The first
//! bytes distinguish streams from files; the file name does not matter.
//!
//! **Cost** One record batch is in memory; its size was chosen by the program that wrote it. A stream is read front to
//! back, so a pipe needs no extra memory. A file has its table of contents at the end, so a file that arrives through
//! a pipe or in another compression is first loaded into memory.
//!
//! **Robustness** Except in decompressors, no memory is reserved because of a size in a header. A truncated file is
//! refused and not taken for a shorter one. A stream may end after any batch.

mod file;
mod stream;

use std::io::Read;

use super::columnar::{self, Batches};
use crate::Options;
use crate::bytes::{Bytes, Stream};
use crate::error::{DataError, ErrorKind};
use crate::source::Source;

const NAME: &str = "arrow";
const MAGIC: &[u8] = b"ARROW1";
const CONTINUES: [u8; 4] = [0xff; 4];

pub(super) fn open(bytes: Bytes, options: Options) -> Result<Box<dyn Source>, DataError> {
    columnar::open(bytes, options, one)
}

pub(super) fn sniff(head: &[u8]) -> bool {
    head.starts_with(MAGIC) || head.starts_with(&CONTINUES) || begins_old(head)
}

/// Whether this is a stream of Arrow before version 0.15: the length of a message, then the offset of its table.
fn begins_old(head: &[u8]) -> bool {
    let Some((length, rest)) = head.split_first_chunk() else { return false };
    let Some(table) = rest.first_chunk() else { return false };
    let (length, table) = (u32::from_le_bytes(*length), u32::from_le_bytes(*table));
    length.is_multiple_of(4)
        && (16..1 << 24).contains(&length)
        && (4..64).contains(&table)
        && table < length
}

/// The columns, if numbers have the byte order of this machine; the library does not convert them.
fn native(schema: arrow_ipc::Schema<'_>) -> Option<arrow_schema::Schema> {
    let native = schema.endianness().equals_to_target_endianness();
    native.then(|| arrow_ipc::convert::fb_to_schema(schema))
}

fn broken(what: &str) -> ErrorKind {
    ErrorKind::Broken { format: NAME, what: what.to_owned() }
}

const CUT: ErrorKind = ErrorKind::Cut { format: NAME };

/// Opens one input.
fn one(mut stream: Stream) -> Result<Box<dyn Batches>, ErrorKind> {
    let mut head = Vec::with_capacity(8);
    let read = stream.reader.by_ref().take(8).read_to_end(&mut head);
    read.map_err(|source| Stream::fault(stream.compression, source))?;
    match head.as_slice() {
        [] => Err(ErrorKind::Empty),
        head if head.starts_with(MAGIC) => file::open(stream, head),
        head if head.starts_with(&CONTINUES) || begins_old(head) => stream::open(stream, head),
        head if MAGIC.starts_with(head) || CONTINUES.starts_with(head) => Err(CUT),
        head if head.starts_with(b"FEA1") => {
            Err(broken("it is Feather version 1, which nothing writes any more"))
        }
        _ => Err(broken("it begins neither with ARROW1 nor with a message")),
    }
}

/// The most bytes that a compressed buffer may unpack to.
const LARGEST: i64 = 1 << 32;

/// Refuses a compressed buffer that says it unpacks to more: the library would take the memory before it looks.
fn check_sizes(batch: arrow_ipc::RecordBatch<'_>, body: &[u8]) -> Result<(), String> {
    if batch.compression().is_none() {
        return Ok(());
    }
    for buffer in batch.buffers().into_iter().flatten() {
        let start = usize::try_from(buffer.offset()).ok().filter(|_| buffer.length() >= 8);
        let stated = start.and_then(|start| body.get(start..)?.first_chunk());
        let size = stated.map_or(0, |bytes| i64::from_le_bytes(*bytes));
        if size > LARGEST {
            return Err(format!("a buffer of {} bytes that unpacks to {size}", buffer.length()));
        }
    }
    Ok(())
}
