//! # Conversion to the binary format
//! Converts text once to a file of the blocks that the reader produced. Training on that file gives the same bits as
//! training on the text. A *cache* is such a file beside the text. It records what it was made from: the bytes of the
//! text, the reader options, and the version of geowalk. If any of these has changed, the cache is written again.

use std::fs::File;
use std::io::{self, Read, Write};
use std::path::{Path, PathBuf};

use geowalk::row::Block;
use geowalk_data::{Input, Options, Source, Writer, origin};
use xxhash_rust::xxh3::Xxh3;

use crate::error::RunError;
use crate::input;
use crate::pump::ROWS;
use crate::replace::replace;

/// Summary of a conversion.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Converted {
    /// Number of rows.
    pub rows: u64,
    /// Number of coordinates in all rows.
    pub values: u64,
    /// Number of rows skipped.
    pub skipped: u64,
    /// Errors of the first skipped rows.
    pub skipped_first: Vec<String>,
    /// What the reader has inferred from the first rows.
    pub decisions: Vec<String>,
    /// Number of bytes written.
    pub bytes: u64,
}

/// Reads the data given by `options` and writes them in the binary format. If this fails, an existing file of that
/// name is left unchanged.
pub fn convert(options: Options, path: &Path) -> Result<Converted, RunError> {
    convert_from(options, path, "")
}

fn convert_from(options: Options, path: &Path, origin: &str) -> Result<Converted, RunError> {
    let mut source = input::open(options)?;
    let mut failure = None;
    let mut converted = None;
    let written = replace(path, |out| {
        match write(source.as_mut(), out, origin) {
            Ok(done) => converted = Some(done),
            Err(RunError::Convert { source, .. }) => return Err(source),
            Err(error) => {
                failure = Some(error);
                return Err(io::ErrorKind::Other.into()); // keeps the existing file
            }
        }
        Ok(())
    });
    match (failure, written, converted) {
        (Some(error), ..) => Err(error),
        (None, Ok(()), Some(converted)) => Ok(converted),
        (None, Err(source), _) => Err(RunError::Convert { path: path.to_owned(), source }),
        (None, Ok(()), None) => Err(RunError::Empty),
    }
}

/// Counts the bytes written through it.
struct Counted<'a> {
    out: &'a mut dyn Write,
    bytes: u64,
}

impl Write for Counted<'_> {
    fn write(&mut self, part: &[u8]) -> io::Result<usize> {
        let written = self.out.write(part)?;
        self.bytes += written as u64;
        Ok(written)
    }

    fn flush(&mut self) -> io::Result<()> {
        self.out.flush()
    }
}

fn write(
    source: &mut dyn Source,
    out: &mut dyn Write,
    origin: &str,
) -> Result<Converted, RunError> {
    let failed = |source| RunError::Convert { path: PathBuf::new(), source };
    let counted = Counted { out, bytes: 0 };
    let mut writer = Writer::start(counted, source.schema(), origin).map_err(failed)?;
    let (mut block, mut rows, mut values) = (Block::new(), 0, 0);
    while source.read(&mut block, ROWS)? > 0 {
        rows += block.len() as u64;
        values += block.stored() as u64;
        writer.block(&block, source.schema()).map_err(failed)?;
    }
    if rows == 0 {
        return Err(RunError::Empty);
    }
    let counted = writer.end(source.schema(), source.skipped()).map_err(failed)?;
    Ok(Converted {
        rows,
        values,
        skipped: source.skipped().rows(),
        skipped_first: source.skipped().first().iter().map(ToString::to_string).collect(),
        decisions: input::decisions(source),
        bytes: counted.bytes,
    })
}

/// A cache that matches its text.
#[derive(Debug)]
pub struct Cache {
    /// The binary file.
    pub path: PathBuf,
    /// Summary of the conversion, if the cache was written now.
    pub made: Option<Converted>,
}

/// The cache of the data given by these options. Its name is that of the first input plus `.gwd`. It is written if it
/// is missing or outdated. `None` if all inputs are in the binary format already.
pub fn cache(open: &mut dyn FnMut() -> Options) -> Result<Option<Cache>, RunError> {
    let files = Input::files(open().inputs)?;
    let Some(first) = files.first() else { return Err(RunError::Empty) };
    if files.iter().all(|file| origin(file).is_some()) {
        return Ok(None);
    }
    let path = cache_path(first);
    let wanted = provenance(&files, open())?;
    if origin(&path).is_some_and(|found| found == wanted) {
        return Ok(Some(Cache { path, made: None }));
    }
    let made = convert_from(open(), &path, &wanted)?;
    Ok(Some(Cache { path, made: Some(made) }))
}

/// Path of the cache of this text.
pub fn cache_path(first: &Path) -> PathBuf {
    let mut name = first.as_os_str().to_owned();
    name.push(".gwd");
    PathBuf::from(name)
}

/// The origin of a cache as text: geowalk version, reader options, and hash of the input bytes.
fn provenance(files: &[PathBuf], options: Options) -> Result<String, RunError> {
    let mut hash = Xxh3::new();
    let mut part = vec![0; 1 << 18];
    for file in files {
        let failed = |source| RunError::Convert { path: file.clone(), source };
        let mut reader = File::open(file).map_err(failed)?;
        let mut length = 0_u64;
        loop {
            let read = reader.read(&mut part).map_err(failed)?;
            if read == 0 {
                break;
            }
            length += read as u64;
            hash.update(&part[..read]);
        }
        hash.update(&length.to_le_bytes()); // separates the contents of consecutive files
    }
    let options = Options { inputs: Vec::new(), schema: None, ..options };
    Ok(format!("geowalk {} {options:?} {:032x}", env!("CARGO_PKG_VERSION"), hash.digest128()))
}
