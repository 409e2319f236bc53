//! # Decisions of a reader
//! A reader may infer something wrong from the first rows. So a front end reports each decision and how to change it.

use std::fmt::{self, Write};

use crate::error::visible;
use crate::flag::Advice;
use crate::words::Texts;

/// A decision that a reader made from the first rows.
///
/// ```
/// use geowalk_data::{Input, Options, open};
/// let source = open(Options::new([Input::text("a.svm", "1 0:1 3:2\n")]))?;
/// let said = source.decisions()[0].to_string();
/// assert_eq!(said, "indices: from 0, because 0 occurs in the first row; otherwise say --index-base 1");
/// # Ok::<(), geowalk_data::DataError>(())
/// ```
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub enum Decision {
    /// A column is free text and is split into words.
    Text {
        /// Name of the column.
        column: String,
        /// Number of texts in the sample.
        values: usize,
        /// Number of distinct texts.
        distinct: usize,
        /// Number of words in all texts.
        words: usize,
    },
    /// A column that began as names now holds free text.
    Turned {
        /// Name of the column.
        column: String,
    },
    /// A column is read as names, but was probably meant to hold numbers.
    Names {
        /// Name of the column.
        column: String,
        /// A field that is not a number.
        found: String,
        /// Row of that field, from 1.
        row: usize,
        /// Number of fields in the sample that are not numbers.
        others: usize,
        /// Number of fields that are numbers.
        numbers: usize,
        /// How to read the field as a number, if it looks like one.
        advice: Option<Advice>,
    },
    /// A column holds dates and is split into their parts.
    Dates {
        /// Name of the column.
        column: String,
    },
    /// All column names are numbers.
    NumericHeader {
        /// The first of these names.
        first: String,
    },
    /// Fields are separated by semicolons.
    Semicolons,
    /// Words in columns of numbers count as missing. Known at the end.
    Missing {
        /// Number of such fields.
        fields: u64,
        /// The first such word.
        word: String,
        /// Column of the first such word.
        column: String,
        /// Number of columns with such words.
        columns: usize,
    },
    /// Numbers are missing in columns that had no gaps when the model was fitted. Known at the end.
    Filled {
        /// Number of missing numbers.
        fields: u64,
        /// The first such column.
        column: String,
        /// Number of such columns.
        columns: usize,
    },
    /// Indices are so large that features are numbered in order of appearance.
    Wide {
        /// The largest index in the first rows.
        largest: u64,
    },
    /// An index is so large that features are numbered as they are met from there on. Known at the
    /// end.
    Widened {
        /// The index.
        found: u64,
    },
    /// The columns of the data differ from those of the training data, without effect on the model.
    Columns {
        /// Columns that the model does not know.
        extra: Vec<String>,
        /// Absent columns that the model does not use.
        absent: Vec<String>,
    },
    /// The smallest index of LIBSVM rows.
    Base {
        /// 0 or 1.
        base: u32,
        /// Number of rows in the sample.
        rows: usize,
    },
}

impl Decision {
    pub(crate) fn text(column: &str, texts: &Texts) -> Self {
        Self::Text {
            column: column.to_owned(),
            values: texts.values,
            distinct: texts.distinct(),
            words: texts.words,
        }
    }
}

impl Decision {
    /// Whether the decision was made only after the first rows.
    pub fn is_late(&self) -> bool {
        matches!(self, Self::Turned { .. })
    }
}

impl fmt::Display for Decision {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let mut text = String::new();
        self.describe(&mut text)?;
        f.write_str(&visible(&text))
    }
}

impl Decision {
    #[expect(clippy::too_many_lines, reason = "one sentence for each decision")]
    fn describe(&self, f: &mut String) -> fmt::Result {
        match self {
            Self::Text { column, values, distinct, words } => {
                let average = *words as f64 / *values as f64;
                write!(
                    f,
                    "text: column '{column}' is split into words, because {distinct} of {values} values differ and \
                     have {average:.1} words on average; otherwise say --nominal '{column}'"
                )
            }
            Self::Turned { column } => write!(
                f,
                "column '{column}' began with names and now holds sentences, each of which counts as one name; to split \
                 them into words, train anew with --text '{column}'"
            ),
            Self::Names { column, found, row, others, numbers, advice } => {
                let all = others + numbers;
                write!(
                    f,
                    "names: column '{column}' holds names, because of '{found}' in row {row}"
                )?;
                match others {
                    1 => write!(f, "; {numbers} of {all} values are numbers")?,
                    others => write!(
                        f,
                        " and {} more; {numbers} of {all} values are numbers",
                        others - 1
                    )?,
                }
                match advice {
                    Some(advice) => write!(f, "; if it holds numbers, {advice}"),
                    None => write!(f, "; if it means missing, say --missing '{found}'"),
                }
            }
            Self::NumericHeader { first } => {
                write!(
                    f,
                    "header: all columns have numbers as names, '{first}' and so on; is the first line a row? then say --no-header"
                )
            }
            Self::Dates { column } => write!(
                f,
                "dates: column '{column}' is split into year, month, weekday and days since 1970-01-01; \
                 --nominal '{column}' keeps each date as a name"
            ),
            Self::Semicolons => {
                write!(
                    f,
                    "separator: a semicolon, because the first line has no comma; otherwise say --separator ,"
                )
            }
            Self::Filled { fields, column, columns } => {
                let fields = match fields {
                    1 => "1 number is".to_owned(),
                    _ => format!("{fields} numbers are"),
                };
                let others = match columns {
                    1 => String::new(),
                    _ => format!(" and {} more columns", columns - 1),
                };
                write!(
                    f,
                    "missing: {fields} missing in column '{column}'{others}, without gaps when the model was \
                     fitted: the mean of the column counts"
                )
            }
            Self::Missing { fields, word, column, columns } => {
                let (such, them) = match fields {
                    1 => ("field counts", "it as a name"),
                    _ => ("fields count", "them as names"),
                };
                write!(
                    f,
                    "missing: {fields} {such} as missing, such as '{word}' in column '{column}'"
                )?;
                match columns {
                    1 => write!(f, ", which otherwise holds numbers")?,
                    columns => write!(f, "; the {columns} columns otherwise hold numbers")?,
                }
                write!(f, "; to keep {them}, say --nominal '{column}'")
            }
            Self::Wide { largest } => {
                write!(
                    f,
                    "indices: up to {largest}, so features are numbered as they are met, to save memory; --bits 24 hashes them"
                )
            }
            Self::Widened { found } => write!(
                f,
                "indices: {found} after smaller ones, so new features are numbered as they are met from there on, \
                 to save memory; --bits 24 hashes them"
            ),
            Self::Columns { extra, absent } => {
                let list = |names: &[String]| format!("'{}'", names.join("', '"));
                if !extra.is_empty() {
                    write!(f, "columns: the model does not know {}", list(extra))?;
                }
                if !absent.is_empty() {
                    let start = if extra.is_empty() { "columns: " } else { "; " };
                    let which = "which the model does not use";
                    write!(f, "{start}the data are without {}, {which}", list(absent))?;
                }
                write!(f, "; --strict refuses such data")
            }
            Self::Base { base, rows } => {
                let (occurs, other) =
                    if *base == 0 { ("occurs", 1) } else { ("does not occur", 0) };
                write!(f, "indices: from {base}, because 0 {occurs} in the first ")?;
                match rows {
                    1 => write!(f, "row")?,
                    rows => write!(f, "{rows} rows")?,
                }
                write!(f, "; otherwise say --index-base {other}")
            }
        }
    }
}
