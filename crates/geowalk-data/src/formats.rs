//! # Formats
//! The table of what can be read. A new format is one file here and one row of [`FORMATS`].

mod csv;
mod jsonl;
mod libsvm;
mod table;
mod vw;

use geowalk::spec;

use crate::Options;
use crate::bytes::Bytes;
use crate::error::{DataError, ErrorKind};
use crate::source::{Parser, Reader, Source};

/// A data format.
#[derive(Debug)]
pub struct Format {
    /// Its name, as in `--format`.
    pub name: &'static str,
    /// How file names end, before `.gz` or `.zst`.
    pub extensions: &'static [&'static str],
    /// What a row looks like.
    pub example: &'static str,
    /// Could this be the first line of such a file? Asked in the order of the table.
    sniff: fn(&[u8]) -> bool,
    /// Opens it; absent where this build has no reader.
    open: Option<Open>,
}

type Open = fn(Bytes, Options) -> Result<Box<dyn Source>, DataError>;

impl Format {
    /// Does this build read it?
    pub fn is_read(&self) -> bool {
        self.open.is_some()
    }
}

/// All formats; those told most surely by content come first.
///
/// ```
/// let names: Vec<&str> = geowalk_data::FORMATS.iter().filter(|f| f.is_read()).map(|f| f.name).collect();
/// assert_eq!(names, ["jsonl", "libsvm", "vw", "tsv", "csv"]);
/// ```
pub static FORMATS: &[Format] = &[
    Format {
        name: "parquet",
        extensions: &["parquet"],
        example: "(binary)",
        sniff: |line| line.starts_with(b"PAR1"),
        open: None,
    },
    Format {
        name: "arrow",
        extensions: &["arrow", "feather"],
        example: "(binary)",
        sniff: |line| line.starts_with(b"ARROW1"),
        open: None,
    },
    Format {
        name: "jsonl",
        extensions: &["jsonl", "ndjson", "json"],
        example: r#"{"size": 1.5, "color": "red", "class": "yes"}"#,
        sniff: |line| line.trim_ascii_start().starts_with(b"{"),
        open: Some(jsonl::open),
    },
    Format {
        name: "libsvm",
        extensions: &["svm", "libsvm", "svmlight"],
        example: "+1 3:0.5 17:1",
        sniff: libsvm::sniff,
        open: Some(libsvm::open),
    },
    Format {
        name: "vw",
        extensions: &["vw"],
        example: "1 2.0 'tag |namespace name:0.5 other",
        sniff: vw::sniff,
        open: Some(vw::open),
    },
    Format {
        name: "tsv",
        extensions: &["tsv", "tab"],
        example: "size<TAB>color<TAB>class",
        sniff: |line| line.contains(&b'\t'),
        open: Some(|bytes, options| csv::open(bytes, options, csv::Dialect::TSV)),
    },
    Format {
        name: "csv",
        extensions: &["csv"],
        example: "size,color,class",
        sniff: |line| line.contains(&b','),
        open: Some(|bytes, options| csv::open(bytes, options, csv::Dialect::CSV)),
    },
];

/// Opens the inputs: finds the format, reads header and sample.
///
/// ```
/// let error = geowalk_data::open(geowalk_data::Options::new(["no-such-file.csv"])).unwrap_err();
/// assert!(error.to_string().starts_with("no-such-file.csv: No such file"));
/// ```
pub fn open(mut options: Options) -> Result<Box<dyn Source>, DataError> {
    let mut bytes = Bytes::open(std::mem::take(&mut options.inputs), options.buffer)?;
    let format = choose(&mut bytes, options.format.as_deref())?;
    match format.open {
        Some(open) => open(bytes, options),
        None => {
            Err(ErrorKind::Unsupported { format: format.name, known: known() }.of(bytes.name()))
        }
    }
}

fn known() -> String {
    let names: Vec<&str> = FORMATS.iter().filter(|f| f.is_read()).map(|f| f.name).collect();
    names.join(", ")
}

/// The format asked for, or the one of the file's name, or the one of its first line.
fn choose(bytes: &mut Bytes, asked: Option<&str>) -> Result<&'static Format, DataError> {
    if let Some(name) = asked {
        return FORMATS.iter().find(|f| f.name == name).ok_or_else(|| {
            let unknown = spec::unknown("format", name, FORMATS.iter().map(|f| f.name));
            ErrorKind::Config(unknown).of(bytes.name())
        });
    }
    let name = bytes.name().to_ascii_lowercase();
    let stem = name.strip_suffix(".gz").or_else(|| name.strip_suffix(".zst")).unwrap_or(&name);
    let by_name = stem
        .rsplit_once('.')
        .and_then(|(_, extension)| FORMATS.iter().find(|f| f.extensions.contains(&extension)));
    if let Some(format) = by_name {
        return Ok(format);
    }
    bytes.pin();
    while bytes.advance()? {
        let line = bytes.record().bytes();
        if line.trim_ascii().is_empty() || line.starts_with(b"#") {
            continue;
        }
        let found = FORMATS.iter().find(|f| (f.sniff)(line));
        bytes.rewind();
        return found.ok_or_else(|| ErrorKind::UnknownFormat { known: known() }.of(bytes.name()));
    }
    Err(ErrorKind::Empty.of(bytes.name()))
}

/// The source of a parser; what every format ends with.
fn reader<P: Parser + 'static>(
    bytes: Bytes,
    parser: P,
    options: Options,
) -> Result<Box<dyn Source>, DataError> {
    Ok(Box::new(Reader::open(bytes, parser, options.on_error)?))
}
