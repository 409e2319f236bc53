//! # What a reader has decided
//! By looking at the first rows, and so worth saying aloud: a front end prints it, with what to do if it is wrong.

use std::fmt;

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
    /// Semicolons separate the fields of a CSV file.
    Semicolons,
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
            Self::Semicolons => {
                write!(f, "separator: semicolons, because the header has some and no commas")
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
