//! # geowalk-data
//! Reads data from bytes into blocks of examples.
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
//! [`open`] is the main entry point:
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
//! **Missing values** An empty field of a table, a null, a NaN of a binary table or a JSON `null` is missing. In a
//! column of text that otherwise holds numbers, the usual words are missing values too: `NA`, `N/A`, `NaN`, `null`,
//! `None`, `?`, `-`.
//!
//! A missing number counts as 0 and sets the feature `name=missing` to 1. A missing name sets only the feature
//! `name=missing`. A missing text has no words. So a linear learner has a weight for "not known", and nothing is
//! imputed. A value spelled `missing` is a name like any other, with the feature `name="missing"`.
//!
//! **Errors** Infinite values and labels are errors, and so are missing labels. In a block, a label of NaN marks a row
//! without a label.

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

/// The column of the label.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub enum Label {
    /// The first of `class`, `label`, `target` and `y` that exists.
    #[default]
    Guess,
    /// The column with this name.
    Named(String),
    /// No column: all rows are without label.
    Absent,
}

/// How features get their indices.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub enum Indexing {
    /// LIBSVM by the indices in the file, VW by an 18-bit hash, tables and JSON by a dictionary.
    #[default]
    Usual,
    /// By a hash with this number of bits.
    Hashed(u32),
    /// By a dictionary; LIBSVM by the indices in the file.
    Exact,
}

/// How an index that occurs twice in a LIBSVM row is treated.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub enum Duplicates {
    /// The row is an error.
    #[default]
    Refuse,
    /// The values are added.
    Add,
}

/// Columns whose cells are passed on unchanged, in addition to the features.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub enum Carry {
    /// These columns, which must exist.
    Named(Vec<String>),
    /// All columns.
    All,
    /// No column.
    #[default]
    Nothing,
}

/// What to read, and how.
///
/// ```
/// use geowalk_data::{Indexing, Options};
/// let options = Options { indexing: Indexing::Hashed(22), ..Options::new(["part-*.vw.gz"]) };
/// assert_eq!(options.inputs.len(), 1);
/// ```
#[derive(Debug)]
pub struct Options {
    /// The inputs, read in order.
    pub inputs: Vec<Input>,
    /// Name of the format; `None` to detect it. A binary format is recognised by the first bytes of the first file.
    /// Otherwise the file name decides, then the first line.
    pub format: Option<String>,
    /// The column of the label.
    pub label: Label,
    /// Whether rows without a label are accepted; they get the label NaN. In VW they always are.
    pub unlabelled: bool,
    /// How features get their indices.
    pub indexing: Indexing,
    /// The smallest LIBSVM index; `None` to infer it from the first rows.
    pub index_base: Option<u32>,
    /// How an index that occurs twice in a LIBSVM row is treated.
    pub duplicates: Duplicates,
    /// Whether the first line of a table names its columns; otherwise they are named `1`, `2`, …
    pub header: bool,
    /// Columns that are names even if they look like numbers.
    pub nominal: Vec<String>,
    /// Columns of free text, which are split into words.
    pub text: Vec<String>,
    /// The column of the importance weight; without one, all weights are 1.
    pub weight: Option<String>,
    /// Columns that are not read.
    pub ignore: Vec<String>,
    /// Fields of a table that count as missing, in addition to the empty field.
    pub missing: Vec<String>,
    /// The decimal mark of numbers in a table, `.` or `,`.
    pub decimal: char,
    /// The thousands separator of numbers in a table, if there is one.
    pub thousands: Option<char>,
    /// The field separator of CSV. `None` to infer it from the first line: a comma, or a semicolon if there is no
    /// comma.
    pub separator: Option<char>,
    /// Number of lines skipped at the beginning of each text file.
    pub skip_lines: usize,
    /// How unreadable rows are treated.
    pub on_error: OnError,
    /// The schema of an earlier reading: equal names get equal indices, and nothing is inferred.
    pub schema: Option<Schema>,
    /// Whether rows are passed on as they arrive. Then a block ends early if the input is not a file and would have to
    /// be waited for.
    pub live: bool,
    /// Columns of CSV and TSV that are passed on in [`Places::carried`].
    pub carry: Carry,
    /// Columns of the earlier schema that may be absent. If given, columns that the schema does not have are ignored.
    pub optional: Option<Vec<String>>,
    /// Size of the buffer in bytes.
    pub buffer: usize,
}

impl Options {
    /// The default options for these inputs.
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
