//! # geowalk-data
//! From bytes to blocks of examples.
//!
//! ```text
//! Input            path, pattern, '-', reader       bytes.rs     gzip, zstd, bzip2, xz; one buffer; lines as slices
//!   │  Record
//!   ▼
//! Parser           libsvm vw csv tsv jsonl          formats/     one file per format, one line in the table
//! Batches          parquet arrow                    formats/     whole streams instead of lines
//! Binary           what Writer wrote                formats/     blocks as they lie in memory
//!   │  features by name or number → index            schema.rs    Features, Labels, Columns, Task
//!   ▼
//! Source           read(&mut Block, rows)           source.rs    faults: fail, skip, quarantine
//! ```
//!
//! [`open`] is the front door:
//!
//! ```
//! use geowalk::row::{Block, Row};
//! use geowalk_data::{Input, Options, Task, open};
//!
//! let text = "1 |words geometry:2 walk\n-1 |words noise\n";
//! let mut source = open(Options::new([Input::text("tiny.vw", text)]))?;
//! let mut block = Block::new();
//! while source.read(&mut block, 1000)? > 0 {
//!     let task = Task::infer(source.schema().labels(), block.labels());
//!     assert_eq!(task.to_string(), "binary, because the labels are -1 and 1");
//!     let mut sum = 0.0;
//!     block.sparse(0).each(|_, x| sum += x);
//!     assert_eq!(sum, 3.0);
//! }
//! # Ok::<(), geowalk_data::DataError>(())
//! ```
//!
//! **Missing values** An empty field of a table, a null, a NaN of a binary table or a JSON `null` is missing.
//! So are, in a column of text that otherwise holds numbers, the usual words: `NA`, `N/A`, `NaN`, `null`,
//! `None`, `?`, `-`. A missing number counts as 0, and the feature `name=missing` is 1; a missing name is the
//! feature `name=missing` alone; a missing text has no words. A value spelled `missing` is a name like any other, the
//! feature `name="missing"`. So a
//! linear learner has a weight for "not known" and nothing is imputed.
//!
//! **Care** Values and labels that are infinite are errors, and so are labels that are missing. A label of NaN
//! in a block marks a row without label.

mod batch;
mod bytes;
mod columns;
mod date;
mod decision;
mod error;
mod flag;
mod formats;
mod looks;
mod number;
mod pairs;
mod piece;
mod place;
mod schema;
mod sink;
mod source;
mod text;
mod words;

pub use bytes::Input;
pub use columns::{ColumnBuffer, Heading, Origin};
pub use date::Date;
pub use decision::Decision;
pub use error::{Base, Compression, DataError, ErrorKind, Position, What, visible};
pub use flag::{Advice, Door, Flag, Given};
pub use formats::{BadCell, Cell, FORMATS, Format, Frame, Writer, open, origin};
pub use looks::Looks;
pub use piece::{Helper, Piece};
pub use place::{LeftOut, Place, Places};
pub use schema::{
    Collisions, Column, ColumnKinds, Dictionary, FeatureKey, Features, Hashed, Index, Inference,
    Kind, Labels, Reason, Schema, Task,
};
pub use source::{OnError, SAMPLE_BYTES, SAMPLE_ROWS, Skipped, Source};
pub use text::Text;
pub use words::Words;

/// Which column is the label.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub enum Label {
    /// The one named `class`, `label`, `target` or `y`; of several the first in this order.
    #[default]
    Guess,
    /// The one of this name.
    Named(String),
    /// None: all rows are without label.
    Absent,
}

/// How features get their indices.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub enum Indexing {
    /// LIBSVM by the numbers in the file, VW by 18 bits of hash, tables and JSON by dictionary.
    #[default]
    Usual,
    /// By so many bits of hash.
    Hashed(u32),
    /// By dictionary; LIBSVM by the numbers in the file.
    Exact,
}

/// What becomes of an index that occurs twice in a LIBSVM row.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub enum Duplicates {
    /// The row is an error.
    #[default]
    Refuse,
    /// The values are added up.
    Add,
}

/// Columns whose cells are handed on as they are, beside the features.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub enum Carry {
    /// These, which must be there.
    Named(Vec<String>),
    /// All.
    All,
    /// None.
    #[default]
    Nothing,
}

/// What to read and how.
///
/// ```
/// use geowalk_data::{Indexing, Options};
/// let options = Options { indexing: Indexing::Hashed(22), ..Options::new(["part-*.vw.gz"]) };
/// assert_eq!(options.inputs.len(), 1);
/// ```
#[derive(Debug)]
pub struct Options {
    /// The inputs, read one after the other.
    pub inputs: Vec<Input>,
    /// Name of the format; otherwise told by the first bytes of the first file if they are those of a binary format, then by its name, then by its first line.
    pub format: Option<String>,
    /// Which column is the label.
    pub label: Label,
    /// Rows without a label are read, with NaN as label. VW rows always may be without.
    pub unlabelled: bool,
    /// How features get their indices.
    pub indexing: Indexing,
    /// The smallest LIBSVM index; otherwise told by the first rows.
    pub index_base: Option<u32>,
    /// What becomes of an index that occurs twice in a LIBSVM row.
    pub duplicates: Duplicates,
    /// The first line of a table names its columns; otherwise they are named `1`, `2`, …
    pub header: bool,
    /// Columns that are names even if they look like numbers.
    pub nominal: Vec<String>,
    /// Columns that are free text, split into words.
    pub text: Vec<String>,
    /// The column of the importance weight; 1 without one.
    pub weight: Option<String>,
    /// Columns that are not read.
    pub ignore: Vec<String>,
    /// Fields of a table that count as missing, besides the empty one.
    pub missing: Vec<String>,
    /// What stands before the decimals of numbers in a table, `.` or `,`.
    pub decimal: char,
    /// What stands between thousands in the numbers of a table, if anything does.
    pub thousands: Option<char>,
    /// What separates the fields of CSV; otherwise told by the first line: a comma, or a semicolon if there is
    /// no comma.
    pub separator: Option<char>,
    /// Lines at the beginning of each text file that are passed over.
    pub skip_lines: usize,
    /// What becomes of a row that cannot be read.
    pub on_error: OnError,
    /// The schema of an earlier reading: the same names get the same numbers, nothing is inferred.
    pub schema: Option<Schema>,
    /// Rows are given as they come: a block ends where the input, if it is no file, would have to be waited for.
    pub live: bool,
    /// Columns of CSV and TSV that are handed on with [`Places::carried`].
    pub carry: Carry,
    /// Columns of the earlier schema that may be absent. Then columns that it does not have are passed over.
    pub optional: Option<Vec<String>>,
    /// Size of the buffer in bytes.
    pub buffer: usize,
}

impl Options {
    /// The usual way to read these inputs.
    pub fn new<I: Into<Input>>(inputs: impl IntoIterator<Item = I>) -> Self {
        Self {
            inputs: inputs.into_iter().map(Into::into).collect(),
            format: None,
            label: Label::Guess,
            unlabelled: false,
            indexing: Indexing::Usual,
            index_base: None,
            duplicates: Duplicates::Refuse,
            header: true,
            nominal: Vec::new(),
            text: Vec::new(),
            weight: None,
            ignore: Vec::new(),
            missing: Vec::new(),
            decimal: '.',
            thousands: None,
            separator: None,
            skip_lines: 0,
            on_error: OnError::Fail,
            schema: None,
            live: false,
            carry: Carry::Nothing,
            optional: None,
            buffer: 4 << 20,
        }
    }

    /// The features of an earlier schema, or new ones.
    fn features(&self, usual: impl FnOnce() -> Features) -> Result<Features, ErrorKind> {
        if let Some(schema) = &self.schema {
            return Ok(schema.features.clone());
        }
        Ok(match self.indexing {
            Indexing::Usual => usual(),
            Indexing::Hashed(bits) => Features::Hashed(Hashed::new(bits)?),
            Indexing::Exact => Features::Exact(Dictionary::default()),
        })
    }
}
