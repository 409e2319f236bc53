//! Frames: parts of a file with a length and a checksum.

use std::io::{self, Read, Write};

use xxhash_rust::xxh3::{xxh3_64, xxh3_64_with_seed};

use super::{CUT, broken};
use crate::bytes::Stream;
use crate::error::ErrorKind;

/// The beginning of a file; the last digit is the version.
pub(super) const MAGIC: &[u8; 16] = b"geowalk\xb7data  4\n";

/// The kind of a frame.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Tag {
    /// The version of geowalk that wrote the file, and the origin of the data.
    Start = 1,
    /// New information about the schema.
    Known = 2,
    /// Sparse rows.
    Sparse = 3,
    /// Dense rows.
    Dense = 4,
    /// The end of the file.
    End = 5,
}

impl Tag {
    fn of(number: u64) -> Option<Self> {
        const ALL: [Tag; 5] = [Tag::Start, Tag::Known, Tag::Sparse, Tag::Dense, Tag::End];
        ALL.into_iter().find(|tag| *tag as u64 == number)
    }
}

/// Bytes of tag, rows and length.
const HEAD: usize = 24;
const CHECK: usize = 8;

/// Memory is grown in steps of at most this size, so that a wrong length in a header cannot exhaust it.
const STEP: usize = 1 << 22;

/// The last frame read. Its memory is reused.
#[derive(Debug, Default)]
pub(super) struct Frame {
    rows: usize,
    payload: Vec<u8>,
}

impl Frame {
    /// Number of rows in the frame.
    pub(super) fn rows(&self) -> usize {
        self.rows
    }

    /// The content of the frame.
    pub(super) fn payload(&self) -> &[u8] {
        &self.payload
    }

    /// Reads and checks the next frame.
    pub(super) fn read(&mut self, stream: &mut Stream) -> Result<Tag, ErrorKind> {
        let mut head = [0; HEAD + CHECK];
        stream.reader.read_exact(&mut head).map_err(|source| fault(stream, source))?;
        let [tag, rows, length, check] = [0, 8, 16, 24].map(|at| {
            let mut word = [0; 8];
            word.copy_from_slice(&head[at..at + 8]);
            u64::from_le_bytes(word)
        });
        let (Some(tag), Ok(rows), Ok(length)) =
            (Tag::of(tag), usize::try_from(rows), usize::try_from(length))
        else {
            return Err(broken("a part of it has no meaning"));
        };
        // Grow with the bytes that arrive, not with the stated length; existing memory is not cleared.
        let mut read = 0;
        while read < length {
            let until = length.min(self.payload.len().max(read + STEP));
            if self.payload.len() < until {
                self.payload.resize(until, 0);
            }
            let part = stream.reader.read_exact(&mut self.payload[read..until]);
            part.map_err(|source| fault(stream, source))?;
            read = until;
        }
        self.payload.truncate(length);
        self.rows = rows;
        if sum(&head[..HEAD], &self.payload) == check {
            Ok(tag)
        } else {
            Err(broken("a part of it is not as it was written"))
        }
    }
}

/// Writes a frame.
pub(super) fn write(out: &mut dyn Write, tag: Tag, rows: usize, payload: &[u8]) -> io::Result<()> {
    let mut head = Vec::with_capacity(HEAD + CHECK);
    for word in [tag as u64, rows as u64, payload.len() as u64] {
        head.extend_from_slice(&word.to_le_bytes());
    }
    head.extend_from_slice(&sum(&head, payload).to_le_bytes());
    out.write_all(&head)?;
    out.write_all(payload)
}

/// The checksum of a frame.
fn sum(head: &[u8], payload: &[u8]) -> u64 {
    xxh3_64_with_seed(payload, xxh3_64(head))
}

/// The error to report for a read error.
pub(super) fn fault(stream: &Stream, source: io::Error) -> ErrorKind {
    match stream.compression {
        None if source.kind() == io::ErrorKind::UnexpectedEof => CUT,
        compression => Stream::fault(compression, source),
    }
}
