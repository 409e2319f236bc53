//! Decoding between the bytes of a file and its lines: compression, UTF-16, and the line ends of old Macs. The first
//! bytes determine which decoding is needed.

use std::io::{self, BufRead, BufReader, Cursor, Read};

use flate2::bufread::GzDecoder;

use super::stream::Failing;
use crate::error::{Compression, ErrorKind};

type Reader = Box<dyn Read + Send>;

/// Maximum number of bytes searched for the first line end.
const LOOK: usize = 1 << 16;

/// Decompresses the bytes if needed. Text is converted to UTF-8 with `\n` as line end. Files of unsupported formats
/// are refused by name.
pub(super) fn decoded(reader: Reader) -> Result<(Reader, Option<Compression>), ErrorKind> {
    let io = |source| ErrorKind::Io { source };
    // A single line must be answered before the next one is sent, so this must not wait for more than one line.
    let (head, whole) = look(reader, |head| head.len() >= 6 || head.contains(&b'\n'));
    let Some(compression) = Compression::of(&head[..head.len().min(6)]) else {
        return Ok((text(whole)?, None));
    };
    let input = BufReader::with_capacity(1 << 18, whole);
    let plain: Reader = match compression {
        Compression::Gzip => Box::new(Gzip(Some(GzDecoder::new(input)))),
        Compression::Zstd => Box::new(zstd::stream::read::Decoder::with_buffer(input).map_err(io)?),
        Compression::Bzip2 => Box::new(bzip2::bufread::MultiBzDecoder::new(input)),
        // Limits the memory to one gigabyte, regardless of the file header.
        Compression::Xz => Box::new(lzma_rust2::XzReader::new_mem_limit(input, true, 1 << 20)),
    };
    Ok((text(plain)?, Some(compression)))
}

impl Compression {
    fn of(head: &[u8]) -> Option<Self> {
        match head {
            [0x1f, 0x8b, ..] => Some(Self::Gzip),
            [0x28, 0xb5, 0x2f, 0xfd, ..] => Some(Self::Zstd),
            [b'B', b'Z', b'h', b'1'..=b'9', 0x31, 0x41] => Some(Self::Bzip2),
            [0xfd, b'7', b'z', b'X', b'Z', 0] => Some(Self::Xz),
            _ => None,
        }
    }
}

/// The same bytes; text in another encoding is converted to UTF-8 with `\n` as line end.
fn text(reader: Reader) -> Result<Reader, ErrorKind> {
    let (head, reader) = look(reader, |head| head.len() >= 64 || head.contains(&b'\n'));
    if let Some((what, remedy)) = foreign(&head) {
        return Err(ErrorKind::Foreign { what, remedy });
    }
    let reader: Reader = match *head {
        [0xff, 0xfe, 0, 0, ..] | [0, 0, 0xfe, 0xff, ..] => {
            let (what, remedy) = ("text in UTF-32", "convert it (iconv -f utf-32 -t utf-8)");
            return Err(ErrorKind::Foreign { what, remedy });
        }
        [0xff, 0xfe, ..] => Box::new(Utf16::new(reader, u16::from_le_bytes)),
        [0xfe, 0xff, ..] => Box::new(Utf16::new(reader, u16::from_be_bytes)),
        _ => reader,
    };
    let (head, reader) = look(reader, |head| head.contains(&b'\n'));
    let control = |c: &u8| *c < b' ' && !b"\t\r\x0c".contains(c);
    if head.contains(&b'\r') && !head.iter().any(control) {
        return Ok(Box::new(CarriageReturns(reader)));
    }
    Ok(reader)
}

/// The name of an unsupported format, and how to convert it.
fn foreign(head: &[u8]) -> Option<(&'static str, &'static str)> {
    const SHEET: &str = "save the sheet as CSV (UTF-8) and read that";
    const MODEL: &[u8] = br#"{"__metadata__":{"digest":""#;
    let all: [(&[u8], &str, &str); 12] = [
        (b"PK\x03\x04", "a zip archive", "unpack it first: unzip -p FILE | geowalk train -"),
        (b"PK\x05\x06", "an empty zip archive", "put a file in it, or read the file itself"),
        (b"\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1", "an Excel workbook (.xls)", SHEET),
        (b"Obj\x01", "an Avro file", "write it as Parquet"),
        (b"ORC", "an ORC file", "write it as Parquet"),
        (
            b"SQLite format 3\0",
            "a SQLite database",
            "export the table as CSV: sqlite3 -header -csv",
        ),
        (b"\x89HDF\r\n\x1a\n", "an HDF5 file", "write the table as Parquet"),
        (b"\x93NUMPY", "a NumPy array", "read it in Python with numpy.load, and fit there"),
        (
            b"\x04\x22\x4d\x18",
            "compressed by LZ4",
            "decompress it first: lz4 -dc FILE | geowalk train -",
        ),
        (b"7z\xbc\xaf\x27\x1c", "a 7z archive", "unpack it first"),
        (b"Rar!\x1a\x07", "a RAR archive", "unpack it first"),
        (b"%PDF-", "a PDF document", "export the table as CSV"),
    ];
    if head.get(8..).is_some_and(|rest| rest.starts_with(MODEL)) {
        return Some((
            "a geowalk model, not data",
            "give it a file of rows, or read the model with geowalk show",
        ));
    }
    // A text header may begin with the same letters.
    let is_text = head.iter().take(64).all(|byte| *byte >= b'\t');
    let found = all.into_iter().find(|(magic, ..)| head.starts_with(magic))?;
    if found.0 == b"ORC" && is_text {
        return None;
    }
    // Name of the first file in a workbook archive.
    let parts: [&[u8]; 3] = [b"[Content_Types].xml", b"xl/", b"_rels/"];
    let inside = head.get(30..).unwrap_or_default();
    if found.0 == b"PK\x03\x04" && parts.iter().any(|part| inside.starts_with(part)) {
        return Some(("an Excel workbook (.xlsx)", SHEET));
    }
    Some((found.1, found.2))
}

/// Reads at most [`LOOK`] bytes, until `enough` holds. Also returns a reader that begins with them. A read error is
/// reported at its position in that reader.
fn look(mut reader: Reader, enough: impl Fn(&[u8]) -> bool) -> (Vec<u8>, Reader) {
    let mut head = Vec::new();
    let mut part = vec![0; 1 << 13];
    let mut failure = None;
    while head.len() < LOOK && !enough(&head) {
        let room = part.len().min(LOOK - head.len());
        match reader.read(&mut part[..room]) {
            Ok(0) => break,
            Ok(count) => head.extend_from_slice(&part[..count]),
            Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
            Err(error) => {
                failure = Some(error);
                break;
            }
        }
    }
    let rest: Reader = match failure {
        None => reader,
        failure => Box::new(Failing(failure)),
    };
    (head.clone(), Box::new(Cursor::new(head).chain(rest)))
}

/// Concatenated gzip members. Zeros after the last member, written by tapes and some programs, are ignored.
struct Gzip<R>(Option<GzDecoder<R>>);

impl<R: BufRead> Read for Gzip<R> {
    fn read(&mut self, out: &mut [u8]) -> io::Result<usize> {
        while let Some(member) = &mut self.0 {
            let count = member.read(out)?;
            if count > 0 || out.is_empty() {
                return Ok(count);
            }
            let Some(mut rest) = self.0.take().map(GzDecoder::into_inner) else { break };
            loop {
                let waiting = rest.fill_buf()?;
                let zeros = waiting.iter().take_while(|byte| **byte == 0).count();
                if waiting.is_empty() {
                    return Ok(0);
                }
                if zeros == 0 {
                    break;
                }
                rest.consume(zeros);
            }
            self.0 = Some(GzDecoder::new(rest));
        }
        Ok(0)
    }
}

/// Replaces the line end `\r` by `\n`.
struct CarriageReturns<R>(R);

impl<R: Read> Read for CarriageReturns<R> {
    fn read(&mut self, out: &mut [u8]) -> io::Result<usize> {
        let count = self.0.read(out)?;
        out[..count].iter_mut().filter(|byte| **byte == b'\r').for_each(|byte| *byte = b'\n');
        Ok(count)
    }
}

/// Converts UTF-16 to UTF-8.
struct Utf16<R> {
    inner: R,
    unit: fn([u8; 2]) -> u16,
    /// The first byte of a unit, and the first unit of a surrogate pair, while the second is missing.
    half: Option<u8>,
    high: Option<u16>,
    text: Cursor<String>,
}

impl<R: Read> Utf16<R> {
    fn new(inner: R, unit: fn([u8; 2]) -> u16) -> Self {
        Self { inner, unit, half: None, high: None, text: Cursor::default() }
    }

    /// Decodes the next bytes; `false` at the end.
    fn fill(&mut self) -> io::Result<bool> {
        let broken = || io::Error::new(io::ErrorKind::InvalidData, "half a character");
        let mut part = vec![0; 1 << 15];
        let count = self.inner.read(&mut part)?;
        if count == 0 {
            return if self.half.is_some() || self.high.is_some() {
                Err(broken())
            } else {
                Ok(false)
            };
        }
        let mut text = String::with_capacity(count);
        for &byte in &part[..count] {
            let Some(first) = self.half.take() else {
                self.half = Some(byte);
                continue;
            };
            let unit = (self.unit)([first, byte]);
            match (self.high.take(), unit) {
                (None, 0xd800..0xdc00) => self.high = Some(unit),
                (high, unit) => {
                    let units = high.into_iter().chain([unit]);
                    for c in char::decode_utf16(units) {
                        text.push(c.map_err(|_| broken())?);
                    }
                }
            }
        }
        self.text = Cursor::new(text);
        Ok(true)
    }
}

impl<R: Read> Read for Utf16<R> {
    fn read(&mut self, out: &mut [u8]) -> io::Result<usize> {
        loop {
            let count = self.text.read(out)?;
            if count > 0 || out.is_empty() || !self.fill()? {
                return Ok(count);
            }
        }
    }
}
