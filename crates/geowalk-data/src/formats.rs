//! # Formats
//! The table of supported formats. A new format is one file here and one row of [`FORMATS`].

mod arrow;
mod binary;
mod columnar;
mod csv;
mod jsonl;
mod libsvm;
mod memory;
mod parquet;
mod table;
mod vw;

pub use binary::{Writer, origin};
use geowalk::spec;
pub use memory::{BadCell, Cell, Frame};
pub(crate) use table::utf8;

use crate::Options;
use crate::bytes::Bytes;
use crate::error::{DataError, ErrorKind};
use crate::source::{Parser, Reader, Source};

/// A data format.
#[derive(Debug)]
pub struct Format {
    /// Name of the format, as in `--format`.
    pub name: &'static str,
    /// File name endings before `.gz`, `.zst`, `.bz2` or `.xz`, separated by spaces.
    pub endings: &'static str,
    /// An example of a row.
    pub example: &'static str,
    /// Detection by content.
    sniff: Sniff,
    /// Opens inputs of this format.
    open: fn(Bytes, Options) -> Result<Box<dyn Source>, DataError>,
}

/// How a format is detected by content. Formats are tried in the order of the table.
#[derive(Debug, Clone, Copy)]
enum Sniff {
    /// Tests the first bytes of a file. This evidence takes precedence over the file name.
    Head(fn(&[u8]) -> bool),
    /// Tests the first line of a file.
    Line(fn(&[u8]) -> bool),
}

/// All formats; those with the most reliable detection come first.
///
/// ```
/// let names: Vec<&str> = geowalk_data::FORMATS.iter().map(|f| f.name).collect();
/// assert_eq!(names, ["binary", "parquet", "arrow", "jsonl", "libsvm", "vw", "tsv", "csv"]);
/// ```
pub static FORMATS: &[Format] = &[
    Format {
        name: "binary",
        endings: ".gwd",
        example: "binary; what geowalk convert writes",
        sniff: Sniff::Head(binary::sniff),
        open: binary::open,
    },
    Format {
        name: "parquet",
        endings: ".parquet",
        example: "binary; a table of columns, in row groups",
        sniff: Sniff::Head(|head| head.starts_with(b"PAR1")),
        open: parquet::open,
    },
    Format {
        name: "arrow",
        endings: ".arrow .feather",
        example: "binary; Arrow IPC, a stream or a file (Feather)",
        sniff: Sniff::Head(arrow::sniff),
        open: arrow::open,
    },
    Format {
        name: "jsonl",
        endings: ".jsonl .ndjson .json",
        example: r#"{"size": 1.5, "color": "red", "class": "yes"}"#,
        sniff: Sniff::Line(|line| line.trim_ascii_start().starts_with(b"{")),
        open: jsonl::open,
    },
    Format {
        name: "libsvm",
        endings: ".svm .libsvm .svmlight",
        example: "+1 3:0.5 17:1",
        sniff: Sniff::Line(libsvm::sniff),
        open: libsvm::open,
    },
    Format {
        name: "vw",
        endings: ".vw",
        example: "1 2.0 'tag |namespace name:0.5 other",
        sniff: Sniff::Line(vw::sniff),
        open: vw::open,
    },
    Format {
        name: "tsv",
        endings: ".tsv .tab",
        example: "size<TAB>color<TAB>class",
        sniff: Sniff::Line(|line| line.contains(&b'\t')),
        open: |bytes, options| csv::open(bytes, options, csv::Dialect::TSV),
    },
    Format {
        name: "csv",
        endings: ".csv",
        example: "size,color,class",
        sniff: Sniff::Line(|line| line.contains(&b',') || line.contains(&b';')),
        open: |bytes, options| csv::open(bytes, options, csv::Dialect::CSV),
    },
];

/// Opens the inputs: determines the format, and reads header and sample.
///
/// ```
/// let error = geowalk_data::open(geowalk_data::Options::new(["no-such-file.csv"])).unwrap_err();
/// assert!(error.to_string().starts_with("no-such-file.csv: No such file"));
/// ```
pub fn open(mut options: Options) -> Result<Box<dyn Source>, DataError> {
    let mut bytes = Bytes::open(std::mem::take(&mut options.inputs), options.buffer, options.live)?;
    let format = choose(&mut bytes, options.format.as_deref(), options.skip_lines)?;
    match format.sniff {
        Sniff::Line(_) => bytes.skip_lines(options.skip_lines)?,
        Sniff::Head(_) if options.skip_lines > 0 => return Err(ErrorKind::NoLines.of(bytes.name())),
        Sniff::Head(_) => {}
    }
    (format.open)(bytes, options)
}

fn known() -> String {
    let names: Vec<&str> = FORMATS.iter().map(|f| f.name).collect();
    names.join(", ")
}

/// The requested format, or else the one indicated by the first bytes, by the file name, or by the first line.
fn choose(
    bytes: &mut Bytes,
    asked: Option<&str>,
    skip_lines: usize,
) -> Result<&'static Format, DataError> {
    if let Some(name) = asked {
        return FORMATS.iter().find(|f| f.name == name).ok_or_else(|| {
            let unknown = spec::unknown("format", name, FORMATS.iter().map(|f| f.name));
            ErrorKind::Config(unknown).of(bytes.name())
        });
    }
    let head = bytes.head();
    if let Some(format) = FORMATS.iter().find(|f| matches!(f.sniff, Sniff::Head(is) if is(head))) {
        return Ok(format);
    }
    let name = bytes.name().to_ascii_lowercase();
    let endings = [".gz", ".zst", ".bz2", ".xz"];
    let stem = endings.iter().find_map(|ending| name.strip_suffix(ending)).unwrap_or(&name);
    let by_name = FORMATS.iter().find(|f| f.endings.split(' ').any(|end| stem.ends_with(end)));
    if let Some(format) = by_name {
        return Ok(format);
    }
    bytes.pin();
    let mut skipped = 0;
    while bytes.advance()? {
        let line = bytes.record().bytes();
        skipped += 1;
        if skipped <= skip_lines || line.trim_ascii().is_empty() || line.starts_with(b"#") {
            continue;
        }
        let found = FORMATS.iter().find(|f| matches!(f.sniff, Sniff::Line(is) if is(line)));
        bytes.rewind();
        return found.ok_or_else(|| ErrorKind::UnknownFormat { known: known() }.of(bytes.name()));
    }
    Err(ErrorKind::Empty.of(bytes.name()))
}

/// Builds the source from a parser; the last step for every text format.
fn reader<P: Parser + 'static>(
    bytes: Bytes,
    parser: P,
    options: Options,
) -> Result<Box<dyn Source>, DataError> {
    Ok(Box::new(Reader::open(bytes, parser, options.on_error)?))
}
