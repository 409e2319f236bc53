//! # The safetensors container
//! The file consists of a length, a JSON header, and the arrays. The header begins with the digest at a fixed
//! position. The digest is BLAKE3 of the whole file with zeros in place of the digits of the digest, so it covers
//! every byte.
//!
//! The safetensors library would write the metadata in hash-table order. Therefore this module writes the header
//! itself, and uses the library only to read it.

use std::fmt::Write as _;
use std::io;
use std::ops::Range;

use safetensors::Dtype;
use safetensors::tensor::Metadata;
use serde_json::Value;

use super::ModelError;

/// The beginning of every header, up to the digits of the digest.
const START: &str = r#"{"__metadata__":{"digest":""#;
const LENGTH: usize = size_of::<u64>();
const DIGITS: Range<usize> = LENGTH + START.len()..LENGTH + START.len() + 64;
const ZEROS: [u8; 64] = [b'0'; 64];
/// The largest header that the safetensors libraries read, in bytes.
const LIMIT: usize = 100_000_000;
/// Number of leading bytes whose layout is the same in all format versions.
pub(super) const BEGINNING: usize = DIGITS.end;

/// A named array.
pub(super) struct Tensor<'a> {
    pub(super) name: &'a str,
    pub(super) data: Data<'a>,
}

/// The elements of an array.
pub(super) enum Data<'a> {
    F64(&'a [f64]),
    U64(&'a [u64]),
    U32(&'a [u32]),
    U16(&'a [u16]),
    U8(&'a [u8]),
}

impl Data<'_> {
    /// Type, number of elements, number of bytes.
    fn shape(&self) -> (Dtype, usize, usize) {
        match self {
            Self::F64(items) => (Dtype::F64, items.len(), size_of_val(*items)),
            Self::U64(items) => (Dtype::U64, items.len(), size_of_val(*items)),
            Self::U32(items) => (Dtype::U32, items.len(), size_of_val(*items)),
            Self::U16(items) => (Dtype::U16, items.len(), size_of_val(*items)),
            Self::U8(items) => (Dtype::U8, items.len(), items.len()),
        }
    }

    /// Passes all bytes to `sink`, in little-endian order and in several pieces.
    pub(super) fn each(&self, sink: &mut dyn FnMut(&[u8])) {
        match self {
            Self::F64(items) => parts(items, f64::to_le_bytes, sink),
            Self::U64(items) => parts(items, u64::to_le_bytes, sink),
            Self::U32(items) => parts(items, u32::to_le_bytes, sink),
            Self::U16(items) => parts(items, u16::to_le_bytes, sink),
            Self::U8(items) => sink(items),
        }
    }
}

fn parts<T: Copy, const N: usize>(
    items: &[T],
    bytes: fn(T) -> [u8; N],
    sink: &mut dyn FnMut(&[u8]),
) {
    let mut part = Vec::new();
    for chunk in items.chunks(4096) {
        part.clear();
        for item in chunk {
            part.extend_from_slice(&bytes(*item));
        }
        sink(&part);
    }
}

/// Everything before the arrays, including the digest.
pub(super) fn header(about: &str, tensors: &[Tensor<'_>]) -> Result<Vec<u8>, ModelError> {
    let mut text = format!("{START}{:064}\",\"geowalk\":{}}}", 0, Value::from(about));
    let mut start = 0;
    for Tensor { name, data } in tensors {
        let (dtype, count, bytes) = data.shape();
        let (name, end) = (Value::from(*name), start + bytes);
        let info = format!(r#""dtype":"{dtype}","shape":[{count}],"data_offsets":[{start},{end}]"#);
        // Writing to a string cannot fail.
        let _ = write!(text, ",{name}:{{{info}}}");
        start = end;
    }
    text.push('}');
    while !text.len().is_multiple_of(8) {
        text.push(' ');
    }
    if text.len() > LIMIT {
        return Err(ModelError::Header { bytes: text.len(), limit: LIMIT });
    }
    let mut header = (text.len() as u64).to_le_bytes().to_vec();
    header.extend_from_slice(text.as_bytes());
    let mut hasher = blake3::Hasher::new();
    hasher.update(&header);
    for tensor in tensors {
        tensor.data.each(&mut |part| {
            hasher.update(part);
        });
    }
    header[DIGITS].copy_from_slice(hasher.finalize().to_hex().as_bytes());
    Ok(header)
}

/// Writes the whole file.
pub(super) fn write(
    header: &[u8],
    tensors: &[Tensor<'_>],
    out: &mut dyn io::Write,
) -> io::Result<()> {
    let mut written = out.write_all(header);
    for tensor in tensors {
        tensor.data.each(&mut |part| {
            if written.is_ok() {
                written = out.write_all(part);
            }
        });
    }
    written
}

/// A file whose digest has been verified.
pub(super) struct File<'a> {
    metadata: Metadata,
    data: &'a [u8],
}

/// Refuses bytes that do not begin like a model file. Returns the length of the header.
pub(super) fn check_beginning(bytes: &[u8]) -> Result<usize, ModelError> {
    let (length, rest) = bytes.split_at(bytes.len().min(LENGTH));
    let start = START.as_bytes();
    if rest.iter().zip(start).any(|(found, expected)| found != expected) {
        return Err(ModelError::NotAModel);
    }
    let length = match length.try_into().map(u64::from_le_bytes) {
        Ok(length) if bytes.len() >= BEGINNING => length,
        _ => {
            return Err(ModelError::Truncated {
                found: bytes.len() as u64,
                needed: BEGINNING as u64,
            });
        }
    };
    match usize::try_from(length) {
        Ok(length) if length <= LIMIT => Ok(length),
        _ => Err(ModelError::NotAModel),
    }
}

/// The digest stored at the beginning of a file.
pub(super) fn stated_digest(bytes: &[u8]) -> Option<&[u8]> {
    check_beginning(bytes).ok()?;
    bytes.get(DIGITS)
}

/// Splits a file into its parts and verifies its digest.
pub(super) fn open(bytes: &[u8]) -> Result<File<'_>, ModelError> {
    let length = check_beginning(bytes)?;
    let truncated =
        |needed: usize| ModelError::Truncated { found: bytes.len() as u64, needed: needed as u64 };
    let Some((header, data)) = bytes[LENGTH..].split_at_checked(length) else {
        return Err(truncated(LENGTH + length));
    };
    let metadata = serde_json::from_slice::<Metadata>(header);
    if let Ok(metadata) = &metadata
        && metadata.data_len() > data.len()
    {
        return Err(truncated((LENGTH + length).saturating_add(metadata.data_len())));
    }
    let mut hasher = blake3::Hasher::new();
    hasher.update(&bytes[..DIGITS.start]).update(&ZEROS).update(&bytes[DIGITS.end..]);
    let (found, expected) = (hasher.finalize().to_hex(), &bytes[DIGITS]);
    if found.as_bytes() != expected {
        let expected = String::from_utf8_lossy(expected).into_owned();
        return Err(ModelError::Digest { expected, found: found.to_string() });
    }
    match metadata {
        Ok(metadata) if metadata.data_len() == data.len() => Ok(File { metadata, data }),
        _ => Err(ModelError::NotAModel),
    }
}

impl<'a> File<'a> {
    /// The JSON text about the arrays.
    pub(super) fn about(&self) -> &str {
        let texts = self.metadata.metadata().as_ref();
        texts.and_then(|texts| texts.get("geowalk")).map_or("", String::as_str)
    }

    /// The bytes of an array; its elements must have this type.
    pub(super) fn bytes(&self, name: &str, dtype: Dtype) -> Result<&'a [u8], ModelError> {
        let info = self.metadata.info(name).filter(|info| info.dtype == dtype);
        info.and_then(|info| self.data.get(info.data_offsets.0..info.data_offsets.1))
            .ok_or_else(|| ModelError::Missing { what: name.to_owned() })
    }

    /// The elements of an array; they must have this type.
    pub(super) fn items<T, const N: usize>(
        &self,
        name: &str,
        dtype: Dtype,
        read: fn([u8; N]) -> T,
    ) -> Result<Vec<T>, ModelError> {
        let (items, _) = self.bytes(name, dtype)?.as_chunks::<N>();
        Ok(items.iter().map(|item| read(*item)).collect())
    }
}
