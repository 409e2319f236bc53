//! # Data in binary form
//! Text is read once and kept as the blocks that it was read as; training on them gives the same bits. A *cache* is such a file beside the text, which
//! says what it was made from: the bytes of the text, the options it was read with, the version that read it. If any of these has changed, it is made again.

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

/// What was converted.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Converted {
    /// Rows.
    pub rows: u64,
    /// Coordinates in all of them.
    pub values: u64,
    /// Rows left out.
    pub skipped: u64,
    /// The errors of the first of them.
    pub skipped_first: Vec<String>,
    /// What the reader has decided by looking at the first rows.
    pub decisions: Vec<String>,
    /// Bytes written.
    pub bytes: u64,
}

/// Reads what `options` say and writes it in binary form. If that fails, an old file of that name is as it was.
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
                return Err(io::ErrorKind::Other.into()); // so that the old file stays
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

/// Counts what goes through it.
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
        decisions: source.decisions().iter().map(ToString::to_string).collect(),
        bytes: counted.bytes,
    })
}

/// A cache that is true to its text.
#[derive(Debug)]
pub struct Cache {
    /// The binary file.
    pub path: PathBuf,
    /// What was converted, if the cache had to be made.
    pub made: Option<Converted>,
}

/// The cache of what these options read: the file beside the first input whose name ends in `.gwd`. It is made if it is not there or not true any more.
/// `None` if the inputs are in binary form themselves.
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

/// Where the cache of this text is.
pub fn cache_path(first: &Path) -> PathBuf {
    let mut name = first.as_os_str().to_owned();
    name.push(".gwd");
    PathBuf::from(name)
}

/// What a cache is made from, in words and digits.
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
        hash.update(&length.to_le_bytes()); // where one file ends and the next begins
    }
    let options = Options { inputs: Vec::new(), schema: None, ..options };
    Ok(format!("geowalk {} {options:?} {:032x}", env!("CARGO_PKG_VERSION"), hash.digest128()))
}
