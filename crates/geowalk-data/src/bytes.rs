//! # Bytes
//! Reads files, patterns and standard input, plain or compressed, line by line.
//!
//! **Method** There is one buffer, and a line is a slice of it. Before the next read, the rest of an unfinished line
//! moves to the front. A line longer than the buffer makes it grow. Compression is recognised by the first bytes, not
//! by the name.
//!
//! **Padding** After a record, at least [`PADDING`] more bytes are readable, and the first of them is a line end. So a
//! parser may load whole words without checking at every digit whether the line has ended.

mod cut;
mod decode;
mod stream;

use std::fs::File;
use std::io::{self, Cursor, Read};
use std::path::{Path, PathBuf};

use memchr::{memchr, memchr_iter, memrchr};

use self::decode::decoded;
pub(crate) use self::stream::{Stream, Streams};
use crate::error::{Compression, DataError, ErrorKind, Fault, Position};

/// Number of bytes that are readable after the end of any record.
pub(crate) const PADDING: usize = 64;

/// A source of bytes.
pub enum Input {
    /// A path, a pattern with `*`, `?` or `[..]`, or `-` for the standard input.
    Path(String),
    /// Any reader, with a name for messages.
    Reader {
        /// The name.
        name: String,
        /// The bytes.
        reader: Box<dyn Read + Send>,
    },
}

impl Input {
    /// Text in memory, with a name for messages.
    ///
    /// ```
    /// use geowalk_data::{Input, Options, open};
    /// let source = open(Options::new([Input::text("tiny.csv", "x,y\n1,2\n")]))?;
    /// assert_eq!(source.schema().columns().len(), 2);
    /// # Ok::<(), geowalk_data::DataError>(())
    /// ```
    pub fn text(name: &str, text: impl Into<Vec<u8>>) -> Self {
        Self::Reader { name: name.to_owned(), reader: Box::new(Cursor::new(text.into())) }
    }

    /// The name that messages use.
    pub fn name(&self) -> &str {
        match self {
            Self::Path(name) | Self::Reader { name, .. } => name,
        }
    }

    /// Replaces patterns by the matching files, sorted by name.
    pub fn expand(inputs: Vec<Self>) -> Result<Vec<Self>, DataError> {
        let mut all = Vec::new();
        for input in inputs {
            match input {
                Self::Path(path)
                    if path.contains(['*', '?', '['])
                        && path != "-"
                        && !Path::new(&path).exists() =>
                {
                    let found = glob::glob(&path).map_err(|error| {
                        ErrorKind::Pattern { what: error.msg, column: error.pos + 1 }.of(&path)
                    })?;
                    let before = all.len();
                    for entry in found {
                        let file = entry.map_err(|error| {
                            let name = error.path().display().to_string();
                            ErrorKind::Io { source: error.into() }.of(&name)
                        })?;
                        all.push(Self::Path(file.to_string_lossy().into_owned()));
                    }
                    if all.len() == before {
                        return Err(ErrorKind::NoMatch.of(&path));
                    }
                }
                other => all.push(other),
            }
        }
        if all.is_empty() { Err(ErrorKind::NoInput.of("geowalk")) } else { Ok(all) }
    }

    /// The paths of these inputs, patterns expanded. Fails if an input is not a regular file.
    pub fn files(inputs: Vec<Self>) -> Result<Vec<PathBuf>, DataError> {
        let inputs = Self::expand(inputs)?;
        inputs.iter().map(|input| input.file().ok_or_else(|| input.no_file())).collect()
    }

    fn no_file(&self) -> DataError {
        match self {
            Self::Path(path) if path != "-" && !Path::new(path).exists() => {
                ErrorKind::Io { source: io::ErrorKind::NotFound.into() }.of(path)
            }
            input => ErrorKind::NotAFile.of(input.name()),
        }
    }

    /// Path of the input, if it is a regular file.
    fn file(&self) -> Option<PathBuf> {
        match self {
            Self::Path(path) if path != "-" => Some(PathBuf::from(path)).filter(|p| p.is_file()),
            _ => None,
        }
    }

    fn open(self) -> io::Result<Box<dyn Read + Send>> {
        match self {
            Self::Path(path) if path == "-" => Ok(Box::new(io::stdin())),
            Self::Path(path) => Ok(Box::new(File::open(path)?)),
            Self::Reader { reader, .. } => Ok(reader),
        }
    }
}

impl From<&str> for Input {
    fn from(path: &str) -> Self {
        Self::Path(path.to_owned())
    }
}

impl From<String> for Input {
    fn from(path: String) -> Self {
        Self::Path(path)
    }
}

impl std::fmt::Debug for Input {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_tuple("Input").field(&self.name()).finish()
    }
}

/// A record, followed by at least [`PADDING`] more bytes.
#[derive(Clone, Copy)]
pub(crate) struct Record<'a> {
    /// The bytes from the beginning of the record; `text[end]` is `\r` or `\n`.
    pub(crate) text: &'a [u8],
    /// End of the record.
    pub(crate) end: usize,
}

impl<'a> Record<'a> {
    /// The record without the bytes after it.
    pub(crate) fn bytes(self) -> &'a [u8] {
        &self.text[..self.end]
    }
}

/// A position to which reading can return.
#[derive(Clone, Copy)]
struct Pin {
    next: usize,
    line: u64,
}

/// The inputs, read line by line.
pub(crate) struct Bytes {
    waiting: std::vec::IntoIter<Input>,
    name: String,
    path: Option<PathBuf>,
    reader: Box<dyn Read + Send>,
    compression: Option<Compression>,
    /// Data up to `filled`; never shorter than `filled + PADDING`.
    buffer: Vec<u8>,
    filled: usize,
    /// Number of bytes of the file before the buffer.
    before: u64,
    /// The record is `start..end`; the next line begins at `next`.
    start: usize,
    end: usize,
    next: usize,
    /// Size of a piece in bytes.
    piece: usize,
    /// Beginning of a piece.
    first: Pin,
    /// Line numbers of `start` and of `next`, from 1.
    line: u64,
    next_line: u64,
    /// All bytes of the file are in the buffer.
    exhausted: bool,
    /// Why reading ended early, if it did. Reported only after the lines before it.
    failure: Option<Box<ErrorKind>>,
    pin: Option<Pin>,
    /// Lines of an input that is not a file are passed on as they arrive.
    live: bool,
    /// Number of lines skipped at the beginning of each file.
    skip: usize,
}

impl Bytes {
    /// The longest line or record in bytes, so that a stream without line ends cannot fill the memory.
    const LONGEST: usize = 1 << 28;

    /// Number of bytes that identify a binary format or a byte order mark.
    const HEAD: usize = 8;

    /// Opens the first input.
    pub(crate) fn open(inputs: Vec<Input>, size: usize, live: bool) -> Result<Self, DataError> {
        let mut bytes = Self {
            waiting: Input::expand(inputs)?.into_iter(),
            buffer: vec![0; size.max(1) + PADDING],
            piece: size.clamp(1, Self::PIECE),
            live,
            ..Self::default()
        };
        bytes.next_file()?;
        Ok(bytes)
    }

    /// Opens the next file; `false` if there is none.
    pub(crate) fn next_file(&mut self) -> Result<bool, DataError> {
        let Some(input) = self.waiting.next() else { return Ok(false) };
        input.name().clone_into(&mut self.name);
        self.path = input.file();
        let opened = input.open().map_err(|source| ErrorKind::Io { source }).and_then(decoded);
        let (reader, compression) = opened.map_err(|kind| {
            self.reader = Box::new(io::empty());
            kind.of(&self.name)
        })?;
        (self.reader, self.compression) = (reader, compression);
        (self.filled, self.before, self.start, self.end, self.next) = (0, 0, 0, 0, 0);
        (self.line, self.next_line) = (1, 1);
        self.exhausted = false;
        self.failure = None;
        self.pin = None;
        while self.filled < Self::HEAD && !self.exhausted && !(self.is_live() && self.has_line()) {
            self.fill();
        }
        if self.buffer[..self.filled].starts_with(b"\xEF\xBB\xBF") {
            self.next = 3; // skip the byte order mark
        }
        self.skip_lines(self.skip)?;
        Ok(true)
    }

    /// Whether lines are passed on as they arrive.
    pub(crate) fn is_live(&self) -> bool {
        self.live && self.path.is_none()
    }

    /// Whether the next line, or the end, can be read without waiting.
    pub(crate) fn has_line(&self) -> bool {
        self.exhausted || memchr(b'\n', &self.buffer[self.next..self.filled]).is_some()
    }

    /// Skips this number of lines at the beginning of this file and of all later ones.
    pub(crate) fn skip_lines(&mut self, lines: usize) -> Result<(), DataError> {
        self.skip = lines;
        for _ in 0..lines {
            if !self.advance()? {
                break;
            }
        }
        Ok(())
    }

    /// Name of the current file.
    pub(crate) fn name(&self) -> &str {
        &self.name
    }

    /// The first bytes of the file. Call it before reading anything else.
    pub(crate) fn head(&self) -> &[u8] {
        &self.buffer[..self.filled.min(Self::HEAD)]
    }

    /// Line number of the beginning of the record.
    #[inline]
    pub(crate) fn line(&self) -> u64 {
        self.line
    }

    /// Makes the next line the record; `false` at the end of the file.
    #[inline]
    pub(crate) fn advance(&mut self) -> Result<bool, DataError> {
        self.start = self.next;
        self.line = self.next_line;
        self.take_line()
    }

    /// Adds the next line to the record. At the end of the file, returns `false` and leaves the record unchanged.
    pub(crate) fn extend(&mut self) -> Result<bool, DataError> {
        self.take_line()
    }

    /// Ends the record at the next line end after `next`.
    #[inline]
    fn take_line(&mut self) -> Result<bool, DataError> {
        let mut searched = self.next;
        let newline = loop {
            if let Some(found) = memchr(b'\n', &self.buffer[searched..self.filled]) {
                break searched + found;
            }
            if self.exhausted {
                if let Some(kind) = self.failure.take() {
                    let error = self.failed(kind);
                    self.filled = self.next; // an incomplete line is dropped
                    return Err(error);
                }
                if self.next == self.filled {
                    return Ok(false);
                }
                break self.filled; // the last line has no line end; `fill` has put one after the data
            }
            let unsearched = self.filled - self.next;
            self.fill();
            searched = self.next + unsearched;
        };
        self.end = newline - usize::from(newline > self.start && self.buffer[newline - 1] == b'\r');
        self.next = (newline + 1).min(self.filled);
        self.next_line += 1;
        Ok(true)
    }

    /// Reads more bytes. Bytes before the record, or before the pin, are discarded.
    #[cold]
    fn fill(&mut self) {
        let keep = self.pin.map_or(self.start, |pin| pin.next.min(self.start));
        if keep > 0 {
            self.buffer.copy_within(keep..self.filled, 0);
            self.before += keep as u64;
            self.filled -= keep;
            self.start -= keep;
            self.end = self.end.saturating_sub(keep);
            self.next -= keep;
            if let Some(pin) = &mut self.pin {
                pin.next -= keep;
            }
        }
        if self.filled - self.start > Self::LONGEST {
            self.exhausted = true;
            self.failure = Some(Box::new(ErrorKind::LongLine { limit: Self::LONGEST }));
            return;
        }
        if self.filled + PADDING == self.buffer.len() {
            self.buffer.resize(2 * self.filled + PADDING, 0);
        }
        let room = self.buffer.len() - PADDING;
        match self.reader.read(&mut self.buffer[self.filled..room]) {
            Ok(0) => self.exhausted = true,
            Ok(count) => self.filled += count,
            Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
            Err(source) => {
                self.exhausted = true;
                self.failure = Some(Box::new(Stream::fault(self.compression, source)));
            }
        }
        self.buffer[self.filled] = b'\n';
    }

    /// The current record.
    #[inline]
    pub(crate) fn record(&self) -> Record<'_> {
        Record { text: &self.buffer[self.start..], end: self.end - self.start }
    }

    /// Returns the record, so that the next call gives it again.
    pub(crate) fn unread(&mut self) {
        self.next = self.start;
        self.next_line = self.line;
    }

    /// Cuts a record of several lines after its first line.
    pub(crate) fn first_line_only(&mut self) {
        if let Some(newline) = memchr(b'\n', &self.buffer[self.start..self.end]) {
            self.end = self.start + newline;
            self.next = self.end + 1;
            self.next_line = self.line + 1;
        }
    }

    /// Keeps everything that is read from now on in the buffer, until [`Bytes::rewind`].
    pub(crate) fn pin(&mut self) {
        self.pin = Some(Pin { next: self.next, line: self.next_line });
    }

    /// Returns to the pin and removes it.
    pub(crate) fn rewind(&mut self) {
        if let Some(Pin { next, line }) = self.pin.take() {
            (self.next, self.start, self.end) = (next, next, next);
            (self.next_line, self.line) = (line, line);
        }
    }

    /// Number of bytes read since the pin.
    pub(crate) fn since_pin(&self) -> usize {
        self.pin.map_or(0, |pin| self.next - pin.next)
    }

    /// The position of an offset in the record.
    pub(crate) fn position(&self, offset: usize) -> Position {
        let text = &self.buffer[self.start..(self.start + offset).min(self.filled)];
        let line_start = memrchr(b'\n', text).map_or(0, |newline| newline + 1);
        Position {
            line: self.line + memchr_iter(b'\n', text).count() as u64,
            column: 1 + String::from_utf8_lossy(&text[line_start..]).chars().count() as u64,
            byte: self.before + (self.start + offset) as u64,
            is_row: false,
        }
    }

    /// The error that ended reading, with its position: where the data end, or where the overlong line begins.
    #[cold]
    fn failed(&self, kind: Box<ErrorKind>) -> DataError {
        let whole = matches!(*kind, ErrorKind::LongLine { .. });
        self.error(Fault { offset: if whole { 0 } else { self.filled - self.start }, kind })
    }

    /// Turns a fault of the record into an error of the file.
    #[cold]
    pub(crate) fn error(&self, fault: Fault) -> DataError {
        DataError {
            file: self.name.clone(),
            position: Some(self.position(fault.offset)),
            kind: fault.kind,
        }
    }
}

impl Default for Bytes {
    /// An empty input.
    fn default() -> Self {
        Self {
            waiting: Vec::new().into_iter(),
            name: String::new(),
            path: None,
            reader: Box::new(io::empty()),
            compression: None,
            buffer: vec![0; PADDING],
            filled: 0,
            before: 0,
            start: 0,
            end: 0,
            next: 0,
            piece: Self::PIECE,
            first: Pin { next: 0, line: 1 },
            line: 1,
            next_line: 1,
            exhausted: true,
            failure: None,
            pin: None,
            live: false,
            skip: 0,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn lines(inputs: Vec<Input>, size: usize) -> Vec<(String, u64, String)> {
        let mut bytes = Bytes::open(inputs, size, false).unwrap();
        let mut out = Vec::new();
        loop {
            while bytes.advance().unwrap() {
                let record = bytes.record();
                assert!(record.text.len() >= record.end + PADDING);
                assert!(matches!(record.text[record.end], b'\r' | b'\n'));
                let text = String::from_utf8_lossy(record.bytes()).into_owned();
                out.push((bytes.name().to_owned(), bytes.position(0).line, text));
            }
            if !bytes.next_file().unwrap() {
                return out;
            }
        }
    }

    #[test]
    fn lines_are_the_same_for_every_size_of_the_buffer() {
        let inputs = || {
            vec![
                Input::text("a", "\u{feff}one\r\n\ntwo\r\nlast without end"),
                Input::text("b", ""),
                Input::text("c", "x".repeat(300) + "\ny\n"),
            ]
        };
        let all = lines(inputs(), 4 << 20);
        assert_eq!(all.len(), 6);
        assert_eq!(all[3], ("a".to_owned(), 4, "last without end".to_owned()));
        assert_eq!(all[5], ("c".to_owned(), 2, "y".to_owned()));
        for size in [1, 2, 3, 7, 16, 64, 301] {
            assert_eq!(lines(inputs(), size), all, "buffer of {size}");
        }
    }

    #[test]
    fn records_of_several_lines_can_be_cut_returned_and_rewound() {
        for size in [1, 5, 1000] {
            let mut bytes =
                Bytes::open(vec![Input::text("a", "1\r\n22\n333")], size, false).unwrap();
            bytes.pin();
            assert!(bytes.advance().unwrap() && bytes.extend().unwrap());
            assert_eq!(bytes.record().bytes(), b"1\r\n22");
            assert_eq!(bytes.position(4), Position { line: 2, column: 2, byte: 4, is_row: false });
            bytes.first_line_only();
            assert!(bytes.advance().unwrap());
            assert_eq!(bytes.record().bytes(), b"22");
            bytes.unread();
            assert!(bytes.advance().unwrap());
            assert_eq!((bytes.record().bytes(), bytes.position(0).line), (&b"22"[..], 2));
            assert!(bytes.advance().unwrap() && !bytes.advance().unwrap());
            assert_eq!(bytes.since_pin(), 9);
            bytes.rewind();
            assert!(bytes.advance().unwrap());
            assert_eq!((bytes.record().bytes(), bytes.position(0).line), (&b"1"[..], 1));
        }
    }
}
