//! # What a reader has decided
//! By looking at the first rows, and so worth saying aloud: a front end prints it, with what to do if it is wrong.

use std::fmt::{self, Write};

use crate::error::visible;
use crate::flag::Advice;
use crate::words::Texts;

/// What a reader has decided by looking at the first rows.
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
    /// A column is free text and split into words.
    Text {
        /// Its name.
        column: String,
        /// How many texts were looked at.
        values: usize,
        /// How many of them differ.
        distinct: usize,
        /// How many words they have together.
        words: usize,
    },
    /// A column whose first rows were names holds free text by now.
    Turned {
        /// Its name.
        column: String,
    },
    /// A column holds names, but looks as if it were meant to hold numbers.
    Names {
        /// Its name.
        column: String,
        /// A field that is no number, and its row, from 1.
        found: String,
        /// That row.
        row: usize,
        /// How many fields of the first rows are no numbers.
        others: usize,
        /// How many are.
        numbers: usize,
        /// What to do, if the field looks like a number.
        advice: Option<Advice>,
    },
    /// A column holds dates, of which the parts are read.
    Dates {
        /// Its name.
        column: String,
    },
    /// The names of all columns are numbers.
    NumericHeader {
        /// The first of them.
        first: String,
    },
    /// Fields are separated by semicolons.
    Semicolons,
    /// Words in columns of numbers count as missing. Known at the end.
    Missing {
        /// How many.
        fields: u64,
        /// The first of them, its column, and how many columns there are with such words.
        word: String,
        /// That column.
        column: String,
        /// How many columns have such words.
        columns: usize,
    },
    /// Numbers are missing in columns where none was missing when the model was fitted. Known at the end.
    Filled {
        /// How many.
        fields: u64,
        /// The first such column.
        column: String,
        /// How many columns there are with such gaps.
        columns: usize,
    },
    /// Indices are so large that features are numbered as they are met.
    Wide {
        /// The largest index of the first rows.
        largest: u64,
    },
    /// Data for a model have other columns than its training data, which do not matter to it.
    Columns {
        /// Columns that the model does not know.
        extra: Vec<String>,
        /// Columns that it does not use, and that are not there.
        absent: Vec<String>,
    },
    /// The smallest index of LIBSVM rows.
    Base {
        /// 0 or 1.
        base: u32,
        /// How many rows were looked at.
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
    /// Was it decided only after the first rows?
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
