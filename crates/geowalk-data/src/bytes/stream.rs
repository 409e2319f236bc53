//! The inputs as whole streams, for formats that do not consist of lines.

use std::io::{self, Cursor, Read};
use std::path::PathBuf;
use std::sync::Arc;

use super::decode::decoded;
use super::{Bytes, Input};
use crate::error::{Compression, DataError, ErrorKind};

/// One input.
pub(crate) struct Stream {
    pub(crate) name: Arc<str>,
    /// Path of an uncompressed file, which can be reopened and searched.
    pub(crate) path: Option<PathBuf>,
    pub(crate) compression: Option<Compression>,
    pub(crate) reader: Box<dyn Read + Send>,
}

/// All inputs, in order.
pub(crate) struct Streams {
    first: Option<Stream>,
    waiting: std::vec::IntoIter<Input>,
}

impl Bytes {
    /// The inputs from the beginning; the bytes already buffered come first.
    pub(crate) fn into_streams(mut self) -> Streams {
        self.buffer.truncate(self.filled);
        let failure = self.failure.map(|kind| match *kind {
            ErrorKind::Io { source } | ErrorKind::Damaged { source, .. } => source,
            _ => io::ErrorKind::UnexpectedEof.into(),
        });
        let rest: Box<dyn Read + Send> = match failure {
            None => self.reader,
            failure => Box::new(Failing(failure)),
        };
        let first = Stream {
            name: self.name.as_str().into(),
            path: if self.compression.is_none() { self.path } else { None },
            compression: self.compression,
            reader: Box::new(Cursor::new(self.buffer).chain(rest)),
        };
        Streams { first: Some(first), waiting: self.waiting }
    }
}

/// Fails with an error, or reads nothing.
pub(super) struct Failing(pub(super) Option<io::Error>);

impl Read for Failing {
    fn read(&mut self, _: &mut [u8]) -> io::Result<usize> {
        self.0.take().map_or(Ok(0), Err)
    }
}

impl Streams {
    /// The next input, if there is one.
    pub(crate) fn next(&mut self) -> Result<Option<Stream>, DataError> {
        if let Some(first) = self.first.take() {
            return Ok(Some(first));
        }
        let Some(input) = self.waiting.next() else { return Ok(None) };
        let name: Arc<str> = input.name().into();
        let path = input.file();
        let opened = input.open().map_err(|source| ErrorKind::Io { source }).and_then(decoded);
        let (reader, compression) = opened.map_err(|kind| kind.of(&name))?;
        let path = if compression.is_none() { path } else { None };
        Ok(Some(Stream { name, path, compression, reader }))
    }
}

impl Stream {
    /// The error to report for a read error.
    pub(crate) fn fault(compression: Option<Compression>, source: io::Error) -> ErrorKind {
        match compression {
            None if source.kind() == io::ErrorKind::InvalidData => {
                ErrorKind::Broken { format: "UTF-16", what: source.to_string() }
            }
            None => ErrorKind::Io { source },
            Some(compression) if source.kind() == io::ErrorKind::UnexpectedEof => {
                ErrorKind::Truncated { compression }
            }
            Some(compression) => ErrorKind::Damaged { compression, source },
        }
    }
}
