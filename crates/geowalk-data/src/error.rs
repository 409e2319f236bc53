//! # Errors
//! An error says where it is, what was found, what was expected and what to do: `heart.svm:17:9: index 0; ...`. These
//! parts are fields; `Display` joins them to a sentence.

use std::borrow::Cow;
use std::fmt;
use std::io;

use crate::flag::{Advice, Flag, OrSkip};
/// A position in a file.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Position {
    /// Line number from 1; in a binary table, the row.
    pub line: u64,
    /// Character in the line, from 1; in a binary table, the column.
    pub column: u64,
    /// Byte offset in the decompressed file, from 0; in a binary table 0.
    pub byte: u64,
    /// Whether the file is a binary table, so that `line` is a row.
    pub is_row: bool,
}

/// An error in the data, with its position.
///
/// ```
/// use geowalk_data::{Input, Options, open};
/// let options = Options { format: Some("libsvm".into()), ..Options::new([Input::text("a.svm", "1 3:x")]) };
/// let mut block = geowalk::row::Block::new();
/// let error = open(options).and_then(|mut source| source.read(&mut block, 1)).unwrap_err();
/// assert_eq!(error.position.unwrap().column, 5);
/// assert_eq!(
///     error.to_string(),
///     "a.svm:1:5: the value of feature 3 is 'x'; a finite number expected; correct it, or skip bad rows with --on-error skip"
/// );
/// ```
#[derive(Debug)]
pub struct DataError {
    /// Name of the file as given by the user; `-` is standard input.
    pub file: String,
    /// Position in the file, if there is one.
    pub position: Option<Position>,
    /// The kind of error.
    pub kind: Box<ErrorKind>,
}

impl DataError {
    /// Whether the only problem is that there are no rows.
    pub fn is_no_rows(&self) -> bool {
        matches!(*self.kind, ErrorKind::Empty | ErrorKind::NoRows)
    }
}

impl fmt::Display for DataError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&visible(&self.file))?;
        match self.position {
            Some(Position { line, column, is_row: true, .. }) => {
                write!(f, ": row {line}, column {column}")?;
            }
            Some(Position { line, column, .. }) => write!(f, ":{line}:{column}")?,
            None => {}
        }
        write!(f, ": {}", shortened(&visible(&self.kind.to_string())))
    }
}

/// Cuts the middle out of a message that quotes a very long text.
fn shortened(message: &str) -> Cow<'_, str> {
    const BEGINNING: usize = 3000;
    const END: usize = 500;
    if message.len() <= BEGINNING + END {
        return Cow::Borrowed(message);
    }
    let whole = |at: &usize| message.is_char_boundary(*at);
    let begin = (0..=BEGINNING).rev().find(whole).unwrap_or(0);
    let end = (message.len() - END..=message.len()).find(whole).unwrap_or(message.len());
    Cow::Owned(format!("{} … {}", &message[..begin], &message[end..]))
}

impl std::error::Error for DataError {
    fn source(&self) -> Option<&(dyn std::error::Error + 'static)> {
        self.kind.source()
    }
}

/// An error in a record: the byte offset in the record, and its kind.
#[derive(Debug)]
pub(crate) struct Fault {
    pub(crate) offset: usize,
    pub(crate) kind: Box<ErrorKind>,
}

impl ErrorKind {
    #[cold]
    pub(crate) fn at(self, offset: usize) -> Fault {
        Fault { offset, kind: Box::new(self) }
    }

    /// An error of the whole file, without a position.
    #[cold]
    pub fn of(self, file: &str) -> DataError {
        DataError { file: file.to_owned(), position: None, kind: Box::new(self) }
    }
}

/// The text found, shortened.
pub(crate) fn excerpt(bytes: &[u8]) -> String {
    const LONGEST: usize = 40;
    let text = String::from_utf8_lossy(bytes);
    if text.chars().count() <= LONGEST {
        text.into_owned()
    } else {
        text.chars().take(LONGEST).chain(['…']).collect()
    }
}

/// Escapes control characters and characters that change the direction of text. So a message stays one line, is read
/// from left to right and cannot control the terminal.
///
/// ```
/// assert_eq!(geowalk_data::visible("a\r\u{1b}[2Jb"), "a\\r\\u{1b}[2Jb");
/// ```
pub fn visible(text: &str) -> Cow<'_, str> {
    let obeyed = |c: char| {
        c.is_control()
            || matches!(c, '\u{200e}' | '\u{200f}' | '\u{202a}'..='\u{202e}' | '\u{2066}'..='\u{2069}')
    };
    if !text.contains(obeyed) {
        return Cow::Borrowed(text);
    }
    let mut out = String::with_capacity(text.len() + 8);
    for c in text.chars() {
        if obeyed(c) { out.extend(c.escape_default()) } else { out.push(c) }
    }
    Cow::Owned(out)
}

/// Advice for a header that looks like a title, with one name or none.
fn title(columns: &[String]) -> String {
    let mut named = columns.iter().filter(|name| !name.is_empty());
    let first = named.next();
    let is_title =
        first.is_none_or(|name| name.contains(' ') || name.starts_with(char::is_uppercase));
    if !is_title || named.next().is_some() {
        return String::new();
    }
    format!("; if that is a title above the header, pass over it with {}", Flag::SkipLines.with(1))
}

/// The compression of a stream.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Compression {
    /// RFC 1952.
    Gzip,
    /// RFC 8878.
    Zstd,
    /// bzip2.
    Bzip2,
    /// xz.
    Xz,
}

impl fmt::Display for Compression {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Gzip => "gzip",
            Self::Zstd => "zstd",
            Self::Bzip2 => "bzip2",
            Self::Xz => "xz",
        })
    }
}

/// The kind of an error in the data.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum ErrorKind {
    /// An error of the operating system.
    #[error("{source}; a readable file expected; check the path and the rights")]
    Io {
        /// The error.
        source: io::Error,
    },
    /// A line or record without an end.
    #[error("a line is longer than {} MiB; check that this is a text file with line ends", limit >> 20)]
    LongLine {
        /// The maximum length of a line, in bytes.
        limit: usize,
    },
    /// A compressed stream that ends early.
    #[error(
        "the {compression} stream stops in the middle; a whole file expected; fetch or compress it again"
    )]
    Truncated {
        /// The compression.
        compression: Compression,
    },
    /// A damaged compressed stream.
    #[error(
        "the {compression} stream is damaged ({source}); a whole file expected; fetch or compress it again"
    )]
    Damaged {
        /// The compression.
        compression: Compression,
        /// The error of the decompressor.
        source: io::Error,
    },
    /// A file in an unsupported format.
    #[error("this is {what}; {remedy}")]
    Foreign {
        /// Name of the format.
        what: &'static str,
        /// How to convert it.
        remedy: &'static str,
    },
    /// A binary file that ends early.
    #[error(
        "the {format} file stops in the middle; a whole file expected; fetch or write it again"
    )]
    Cut {
        /// Name of the format.
        format: &'static str,
    },
    /// A binary file of another kind, or a damaged one.
    #[error(
        "this is no {format} file that can be read ({what}); a whole one expected; write it again, or name another format with {option}",
        option = Flag::Format
    )]
    Broken {
        /// Name of the format.
        format: &'static str,
        /// What is wrong.
        what: String,
    },
    /// Columns of Parquet in a compression that is not read.
    #[error(
        "the columns are compressed by {name}, which is not read; write the file with snappy, gzip, zstd or LZ4"
    )]
    Codec {
        /// Its name.
        name: String,
    },
    /// A table of labels alone.
    #[error(
        "there are labels and nothing else; a column to learn from expected; check {} and {}",
        Flag::Label,
        Flag::Ignore
    )]
    NoColumns,
    /// An Arrow file in the byte order of another machine.
    #[error(
        "the numbers of this Arrow file are in the byte order of another kind of machine; \
         write it again with pyarrow, which reads both orders"
    )]
    ByteOrder,
    /// A binary file that was converted with other options.
    #[error(
        "{option} says otherwise, but the file was converted with {found}; the same expected; leave the option out, or convert the text again with it"
    )]
    Converted {
        /// Name of the option.
        option: &'static str,
        /// The value it was converted with.
        found: String,
    },
    /// A binary file that does not match the model.
    #[error(
        "the file was converted with {found}, the model has {known}; the same expected; convert the text again as the model was trained"
    )]
    OtherForm {
        /// Properties of the file.
        found: String,
        /// Properties of the model.
        known: String,
    },
    /// A pattern that matches no file.
    #[error(
        "no file fits the pattern; at least one expected; check the directory, or quote the pattern"
    )]
    NoMatch,
    /// An invalid pattern.
    #[error(
        "bad pattern: {what} at character {column}; a path or a pattern with *, ? and [..] expected"
    )]
    Pattern {
        /// What is wrong with the pattern.
        what: &'static str,
        /// Character in the pattern, from 1.
        column: usize,
    },
    /// A stream where a file is needed.
    #[error(
        "this is not a regular file; one expected, because it is read more than once; write it to a file first"
    )]
    NotAFile,
    /// No input was given.
    #[error("no input; a path, a pattern or '-' expected")]
    NoInput,
    /// An empty file.
    #[error(
        "the input is empty; at least one row expected; check the path or what writes to the pipe"
    )]
    Empty,
    /// A file with a header and no rows.
    #[error(
        "a header and no rows; at least one row expected; check the file, or use {option} if its first line is a row",
        option = Flag::NoHeader
    )]
    NoRows,
    /// Lines to skip were requested for a binary file.
    #[error("{option} is for text, and this file is binary; leave it out", option = Flag::SkipLines)]
    NoLines,
    /// Neither name nor content identifies the format.
    #[error(
        "cannot tell the format by name or content; one of {known} expected; name it with {option}",
        option = Flag::Format
    )]
    UnknownFormat {
        /// Names of all formats.
        known: String,
    },
    /// An invalid option.
    #[error(transparent)]
    Config(#[from] geowalk::ConfigError),
    /// An invalid decimal mark or thousands separator.
    #[error(
        "{} is not possible; use one punctuation character or a blank, and two different ones",
        option.with(format_args!("'{found}'"))
    )]
    Mark {
        /// Name of the option.
        option: Flag,
        /// The character given.
        found: char,
    },
    /// No label column.
    #[error("{}; name it with {label}; columns: {}{}", wanted.as_ref().map_or_else(
        || "no label column; one of class, label, target, y expected".to_owned(),
        |wanted| format!("no column '{wanted}' for the label")), columns.join(", "), title(columns), label = Flag::Label)]
    NoLabelColumn {
        /// The requested name, if any.
        wanted: Option<String>,
        /// The columns of the file.
        columns: Vec<String>,
    },
    /// A column named in the options or the model that the file does not have.
    #[error("no column '{name}'; the file has {}; correct the name", columns.join(", "))]
    NoColumn {
        /// The requested name.
        name: String,
        /// The columns of the file.
        columns: Vec<String>,
    },
    /// A column that the model does not know.
    #[error("column '{name}' is not in the schema; one of {} expected; leave it out with {}", columns.join(", "), Flag::Ignore.with(Quoted(name)))]
    ExtraColumn {
        /// Name of the column.
        name: String,
        /// The columns of the schema.
        columns: Vec<String>,
    },
    /// A column named in two options that exclude each other.
    #[error(
        "column '{column}' is asked for with --{first} and with --{second}; one of them expected; leave the other out"
    )]
    TwoRoles {
        /// Name of the column.
        column: String,
        /// The first option.
        first: &'static str,
        /// The second option.
        second: &'static str,
    },
    /// A column that has another kind in the model.
    #[error(
        "column '{column}' is {known} in the model, not {asked}; leave the option out, or train a new model"
    )]
    OtherKind {
        /// Name of the column.
        column: String,
        /// The requested kind.
        asked: &'static str,
        /// The kind in the model.
        known: &'static str,
    },
    /// A column whose type is neither number nor text.
    #[error(
        "column '{column}' is of type {found}; numbers, booleans or text expected; {advice}, or leave it out with {}",
        Flag::Ignore.with(Quoted(column))
    )]
    ColumnType {
        /// Name of the column.
        column: String,
        /// Type of the column.
        found: String,
        /// How to convert the column.
        advice: &'static str,
    },
    /// Two columns with the same name.
    #[error("{}; rename one, or use {} if the first line is a row{}", if name.is_empty() {
        "two columns have no name; distinct names expected".to_owned()
    } else {
        format!("column '{name}' occurs twice; distinct names expected")
    }, Flag::NoHeader, if name.is_empty() { title(&[]) } else { String::new() })]
    DuplicateColumn {
        /// The name.
        name: String,
    },
    /// The header of a later file differs from that of the first.
    #[error(
        "the header differs from the first file's: '{found}' instead of '{expected}' in column {column}; equal headers expected; read the files apart"
    )]
    Header {
        /// Column number, from 1.
        column: usize,
        /// The name found.
        found: String,
        /// The name in the first file.
        expected: String,
    },
    /// A value that is not a finite number.
    #[error(
        "{what} is '{found}'; a finite number expected; correct it{or_skip}", or_skip = OrSkip
    )]
    Number {
        /// The role of the number.
        what: What,
        /// The text found.
        found: String,
    },
    /// Text in a column of numbers.
    #[error(
        "'{found}' in column '{column}', which has held numbers so far; {}",
        advice.map_or_else(
            || format!(
                "say {} if it means missing, {} if the column holds names{OrSkip}",
                Flag::Missing.with(Quoted(found)), Flag::Nominal.with(Quoted(column))
            ),
            |advice| advice.to_string(),
        )
    )]
    TextInNumeric {
        /// Name of the column.
        column: String,
        /// The text found.
        found: String,
        /// How to read the text as a number, if it looks like one.
        advice: Option<Advice>,
    },
    /// A text in a column of dates.
    #[error(
        "column '{column}' holds dates, but this is '{found}'; write it as 2024-01-31, 2024/01/31 or 31.01.2024, \
             or say --nominal '{column}' for names"
    )]
    NoDate {
        /// Name of the column.
        column: String,
        /// The text found.
        found: String,
    },
    /// A row without a label.
    #[error("no label; one expected; drop the row{or_skip}", or_skip = OrSkip)]
    NoLabel,
    /// A row with several labels.
    #[error(
        "'{found}' is a list of labels; one label expected; keep one, or make a row or a file per label"
    )]
    ManyLabels {
        /// The text found.
        found: String,
    },
    /// A `qid:` field of ranking data.
    #[error(
        "'{found}' groups rows for ranking; features expected; ranking is not learned here: remove the qid fields"
    )]
    QueryId {
        /// The text found.
        found: String,
    },
    /// Index 0 where indices begin at 1.
    #[error("index 0, while {told}; indices from 1 expected; {}", told.advice())]
    IndexZero {
        /// How the reader knows that indices begin at 1.
        told: Base,
    },
    /// An index above the limit.
    #[error(
        "index {found}; the model keeps a weight for every index, so none above {limit} is read; \
         train anew with such rows among the data, or with {}",
        Flag::Bits.with(24)
    )]
    IndexTooLarge {
        /// The index found.
        found: u64,
        /// The largest allowed index.
        limit: u64,
    },
    /// A token that is not `index:value`.
    #[error("'{found}'; index:value expected; correct it, or name the format with {option}", option = Flag::Format)]
    NotAFeature {
        /// The text found.
        found: String,
    },
    /// An index that occurs twice in a row.
    #[error(
        "index {index} occurs twice; distinct indices in a row expected; correct the row, or add equal indices up with {}",
        Flag::Duplicates.with("add")
    )]
    DuplicateIndex {
        /// The index, as written in the file.
        index: u64,
    },
    /// A third number before the bar of a VW line.
    #[error(
        "'{found}' is an initial prediction (label importance base); at most two numbers before '|' expected; remove it: predictions begin at 0"
    )]
    Base {
        /// The text found.
        found: String,
    },
    /// A label that touches the bar of a VW line, and so would be a tag.
    #[error(
        "'{found}|' makes '{found}' a tag and leaves the row without a label; a blank before '|' expected; write '{found} |', or '\'{found}|' for a tag"
    )]
    LabelIsTag {
        /// The text found.
        found: String,
    },
    /// A token between the tag and the bar of a VW line.
    #[error(
        "'{found}' after the tag: a tag comes last before '|'; put the label and the importance before it"
    )]
    AfterTag {
        /// The text found.
        found: String,
    },
    /// A VW label for a kind of problem that geowalk does not support.
    #[error("'{found}' is {problem}, which is not learned here; the label is one number")]
    VwLabel {
        /// The text found.
        found: String,
        /// Name of the problem.
        problem: &'static str,
    },
    /// A control character where fields are separated by blanks.
    #[error(
        "the byte {found:#04x} is a control character, which separates nothing; remove it, or write a blank"
    )]
    Control {
        /// The byte found.
        found: u8,
    },
    /// A negative importance weight.
    #[error(
        "importance weight {found}; a number >= 0 expected; correct it{or_skip}", or_skip = OrSkip
    )]
    Weight {
        /// The weight found.
        found: f64,
    },
    /// A zero byte in a header.
    #[error(
        "a byte 0 in the header: this is no text, or UTF-16 without a byte order mark; convert it (iconv -f utf-16le -t utf-8)"
    )]
    NotText,
    /// A name that is not UTF-8.
    #[error(
        "the name '{found}' is not UTF-8; UTF-8 expected; convert the file (iconv -f latin1 -t utf-8)"
    )]
    Utf8 {
        /// The name, with invalid bytes replaced.
        found: String,
    },
    /// A row with too few or too many fields.
    #[error(
        "{found} fields; {expected} expected, as in the header; correct the row{or_skip}", or_skip = OrSkip
    )]
    Ragged {
        /// Number of fields in the row.
        found: usize,
        /// Number of columns.
        expected: usize,
    },
    /// A quote that is never closed.
    #[error(
        "this quote is never closed; a second '\"' expected; double a quote that is meant literally (\"\"){or_skip}", or_skip = OrSkip
    )]
    UnclosedQuote,
    /// Text between a closing quote and the next separator.
    #[error(
        "'{found}' after a closing quote; a separator expected; double a quote that is meant literally (\"\")"
    )]
    AfterQuote {
        /// The text found.
        found: String,
    },
    /// Invalid JSON.
    #[error("'{found}'; {expected} expected; one JSON object per line, as written by jq -c")]
    Json {
        /// What was expected.
        expected: &'static str,
        /// What was found.
        found: String,
    },
    /// A JSON line in the format of VW.
    #[error(
        "the key '{key}' belongs to the JSON of VW, whose labels are not read; name a label with {option}, or write VW text",
        option = Flag::Label
    )]
    VwJson {
        /// The key that belongs to that format.
        key: String,
    },
    /// More names than the dictionary may hold.
    #[error("more than {limit} distinct feature names; fewer expected; hash them with {}", Flag::Bits.with(22))]
    DictionaryFull {
        /// The limit.
        limit: usize,
    },
}

/// A text of the user in quotation marks.
struct Quoted<'a>(&'a str);

impl fmt::Display for Quoted<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "'{}'", self.0)
    }
}

/// How the reader knows that indices begin at 1.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Base {
    /// This number of rows at the beginning has no index 0.
    Rows(usize),
    /// The user set the option.
    Option,
    /// The model was trained on such indices.
    Model,
}

impl Base {
    fn advice(self) -> String {
        match self {
            Self::Rows(_) | Self::Option => {
                format!("read the file with {}", Flag::IndexBase.with(0))
            }
            Self::Model => "add 1 to the indices, or train a new model".to_owned(),
        }
    }
}

impl fmt::Display for Base {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Rows(rows) => write!(f, "the first {rows} rows have indices from 1"),
            Self::Option => write!(f, "{} says 1", Flag::IndexBase),
            Self::Model => write!(f, "the indices of the model begin at 1"),
        }
    }
}

/// The role of a number in a row.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum What {
    /// The label.
    Label,
    /// The importance weight.
    Weight,
    /// The weight of a namespace.
    Namespace(String),
    /// The value of a feature.
    Value(String),
}

impl fmt::Display for What {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Label => write!(f, "the label"),
            Self::Weight => write!(f, "the importance weight"),
            Self::Namespace(name) => write!(f, "the weight of namespace {name}"),
            Self::Value(name) => write!(f, "the value of feature {name}"),
        }
    }
}
