//! # Columns
//! A table stored by columns, with types: numbers, names or truth values, any of which may be missing. Boosting and
//! trees learn from it. ([`Block`](super::Block) stores rows of features.)
//!
//! | column | value | missing |
//! |---|---|---|
//! | numeric | a finite number | NaN |
//! | sparse | a finite number; most are 0 and not stored | NaN |
//! | nominal | the index of a name in the list of names | [`MISSING`] |
//! | boolean | true or false | none |
//!
//! **Care** Constant columns and columns with only missing values are allowed: they carry no information but cause no
//! error. A reader that meets a name unknown from training appends it to the names of the column, so it differs from
//! all known names. **Cost** the memory of the columns; a sparse column takes 12 bytes per nonzero value. Every
//! constructor passes over its arguments once.

use std::collections::BTreeSet;

/// The code of a missing nominal value.
pub const MISSING: u32 = u32::MAX;

/// The largest number of rows: row numbers have 32 bits, and one bit is reserved.
pub const MOST_ROWS: usize = 1 << 31;

/// The reason why a table, its classes or its weights cannot be used.
#[derive(Debug, Clone, PartialEq, thiserror::Error)]
#[non_exhaustive]
pub enum TableError {
    /// No rows or no columns.
    #[error("the table has {rows} rows and {columns} columns; at least one of each is needed")]
    Empty {
        /// Number of rows.
        rows: usize,
        /// Number of columns.
        columns: usize,
    },
    /// More rows than can be numbered.
    #[error("the table has {rows} rows; at most {most} are possible")]
    TooManyRows {
        /// Number of rows.
        rows: usize,
        /// The largest allowed number.
        most: usize,
    },
    /// Columns, classes or weights whose length is not the number of rows.
    #[error("{what} has {found} values; the table has {rows} rows")]
    Length {
        /// The part with the wrong length: a column with its name, the classes, or the weights.
        what: String,
        /// Its length.
        found: usize,
        /// Number of rows of the table.
        rows: usize,
    },
    /// Two columns with the same name.
    #[error("two columns have the name '{name}'")]
    Twice {
        /// The name.
        name: String,
    },
    /// An infinite number.
    #[error("row {} of column '{column}' is {value}; a number must be finite, or NaN if it is missing", row + 1)]
    NotFinite {
        /// The column.
        column: String,
        /// The row, from 0.
        row: usize,
        /// The value found.
        value: f64,
    },
    /// Rows of sparse values out of order.
    #[error("the rows of the values of column '{column}' must increase and be less than {rows}")]
    Order {
        /// The column.
        column: String,
        /// Number of rows.
        rows: usize,
    },
    /// A code to which no name belongs.
    #[error("row {} of column '{column}' has code {code}; there are {names} names", row + 1)]
    Code {
        /// The column, or `class`.
        column: String,
        /// The row, from 0.
        row: usize,
        /// The code found.
        code: u32,
        /// Number of names.
        names: usize,
    },
    /// All rows have the same class.
    #[error(
        "all {rows} rows have the class '{class}'; at least two classes are needed to learn to tell them apart"
    )]
    OneClass {
        /// The class.
        class: String,
        /// Number of rows.
        rows: usize,
    },
    /// Not exactly two classes, where two are needed.
    #[error(
        "there are {found} classes ({first}); this needs two: choose a positive class, or learn one against the rest"
    )]
    NotTwo {
        /// Number of classes.
        found: usize,
        /// The names of the first few.
        first: String,
    },
    /// A label that the loss does not allow.
    #[error("the label of row {} is {value}; with the loss '{loss}' it must be {allowed}", row + 1)]
    Label {
        /// The row, from 0.
        row: usize,
        /// The label.
        value: f64,
        /// Name of the loss.
        loss: String,
        /// The labels that the loss allows.
        allowed: &'static str,
    },
    /// A weight that is negative, NaN or infinite.
    #[error("the weight of row {} is {value}; it must be a finite number >= 0", row + 1)]
    Weight {
        /// The row, from 0.
        row: usize,
        /// The weight.
        value: f64,
    },
    /// Weights that are all zero, or positive for one class only.
    #[error(
        "only {classes} of the classes have weight (the weights sum to {sum}); at least two are needed"
    )]
    NoWeight {
        /// Number of classes with a positive weight.
        classes: usize,
        /// The sum of all weights.
        sum: f64,
    },
}

impl TableError {
    /// The error for a number of classes other than two; it names the first three.
    pub fn not_two(classes: &[String]) -> Self {
        let first = classes[..classes.len().min(3)].join(", ");
        let more = if classes.len() > 3 { ", …" } else { "" };
        Self::NotTwo { found: classes.len(), first: first + more }
    }
}

/// The values of a column.
#[derive(Debug, Clone, PartialEq)]
pub enum Values {
    /// Finite numbers; NaN is missing.
    Numeric(Vec<f64>),
    /// Indices of names; [`MISSING`] is missing.
    Nominal {
        /// The index of the name in each row.
        codes: Vec<u32>,
        /// The names.
        names: Vec<String>,
    },
    /// Truth values; `None` is missing.
    Boolean(Vec<Option<bool>>),
    /// Finite numbers, most of them 0; NaN is missing.
    Sparse(SparseValues),
}

/// A numeric column that stores only nonzero values.
///
/// ```
/// use geowalk::row::SparseValues;
/// let counts = SparseValues::new(4, vec![1, 3], vec![2.0, 0.0]);
/// assert_eq!((counts.get(1), counts.get(2), counts.rows()), (2.0, 0.0, &[1][..]));
/// ```
#[derive(Debug, Clone, PartialEq, Default)]
pub struct SparseValues {
    length: usize,
    rows: Vec<u32>,
    values: Vec<f64>,
}

impl SparseValues {
    /// A column of `length` rows with the given values in the given rows, which must increase; all others are 0. The
    /// longer list is cut to the length of the shorter.
    pub fn new(length: usize, mut rows: Vec<u32>, mut values: Vec<f64>) -> Self {
        let shorter = rows.len().min(values.len());
        rows.truncate(shorter);
        values.truncate(shorter);
        if values.contains(&0.0) {
            let mut kept = values.iter().map(|value| *value != 0.0);
            rows.retain(|_| kept.next().unwrap_or(false));
            values.retain(|value| *value != 0.0);
        }
        Self { length, rows, values }
    }

    /// Number of rows.
    pub fn len(&self) -> usize {
        self.length
    }

    /// Is it without rows?
    pub fn is_empty(&self) -> bool {
        self.length == 0
    }

    /// The rows with a nonzero value, ascending.
    pub fn rows(&self) -> &[u32] {
        &self.rows
    }

    /// The nonzero values, in the order of [`rows`](Self::rows).
    pub fn values(&self) -> &[f64] {
        &self.values
    }

    /// Rows and values of the nonzero entries.
    pub fn iter(&self) -> impl Iterator<Item = (usize, f64)> + '_ {
        self.rows.iter().zip(&self.values).map(|(row, value)| (*row as usize, *value))
    }

    /// Are less than a quarter of the values nonzero, so that sparse storage pays off?
    pub fn is_mostly_zero(&self) -> bool {
        4 * self.rows.len() < self.length
    }

    /// The value of a row; NaN if the row does not exist. **Cost** logarithmic in the number of stored values.
    pub fn get(&self, row: usize) -> f64 {
        let found = u32::try_from(row).ok().map(|row| self.rows.binary_search(&row));
        match found {
            Some(Ok(at)) => self.values[at],
            _ if row < self.length => 0.0,
            _ => f64::NAN,
        }
    }

    /// Calls `f` with every row and its value.
    pub fn each(&self, mut f: impl FnMut(usize, f64)) {
        let mut stored = self.iter().peekable();
        for row in 0..self.length {
            f(row, stored.next_if(|(at, _)| *at == row).map_or(0.0, |(_, value)| value));
        }
    }

    /// All values, including zeros.
    pub fn dense(&self) -> Vec<f64> {
        let mut all = vec![0.0; self.length];
        self.iter().for_each(|(row, value)| all[row] = value);
        all
    }

    /// The rows repeated `times` times, one copy after another.
    #[expect(clippy::cast_possible_truncation, reason = "a table that is larger is refused")]
    #[must_use]
    pub fn repeat(&self, times: usize) -> Self {
        let copy = |k: usize| self.rows.iter().map(move |row| row + (k * self.length) as u32);
        Self {
            length: times * self.length,
            rows: (0..times).flat_map(copy).collect(),
            values: self.values.repeat(times),
        }
    }
}

impl Values {
    /// Number of rows.
    pub fn len(&self) -> usize {
        match self {
            Self::Numeric(values) => values.len(),
            Self::Nominal { codes, .. } => codes.len(),
            Self::Boolean(values) => values.len(),
            Self::Sparse(values) => values.len(),
        }
    }

    /// Is it without rows?
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// Is the value of this row missing? True for a row that does not exist.
    pub fn missing(&self, row: usize) -> bool {
        match self {
            Self::Numeric(values) => values.get(row).is_none_or(|value| value.is_nan()),
            Self::Nominal { codes, .. } => codes.get(row).is_none_or(|code| *code == MISSING),
            Self::Boolean(values) => values.get(row).is_none_or(Option::is_none),
            Self::Sparse(values) => values.get(row).is_nan(),
        }
    }

    /// Number of missing values.
    pub fn gaps(&self) -> usize {
        match self {
            Self::Numeric(values) => values.iter().filter(|value| value.is_nan()).count(),
            Self::Nominal { codes, .. } => codes.iter().filter(|code| **code == MISSING).count(),
            Self::Boolean(values) => values.iter().filter(|value| value.is_none()).count(),
            Self::Sparse(values) => values.values.iter().filter(|value| value.is_nan()).count(),
        }
    }
}

/// A column: a name and values.
///
/// ```
/// use geowalk::row::{Column, MISSING};
/// let color = Column::nominal("color", vec![0, 1, MISSING], ["red", "blue"]);
/// assert_eq!((color.values().len(), color.values().missing(2)), (3, true));
/// ```
#[derive(Debug, Clone, PartialEq)]
pub struct Column {
    name: String,
    values: Values,
}

impl Column {
    /// A column of numbers; NaN is missing.
    pub fn numeric(name: impl Into<String>, values: Vec<f64>) -> Self {
        Self { name: name.into(), values: Values::Numeric(values) }
    }

    /// A column of names, given by their indices; [`MISSING`] is missing.
    pub fn nominal<N: Into<String>>(
        name: impl Into<String>,
        codes: Vec<u32>,
        names: impl IntoIterator<Item = N>,
    ) -> Self {
        let names = names.into_iter().map(Into::into).collect();
        Self { name: name.into(), values: Values::Nominal { codes, names } }
    }

    /// A column of truth values; `None` is missing.
    pub fn boolean(name: impl Into<String>, values: Vec<Option<bool>>) -> Self {
        Self { name: name.into(), values: Values::Boolean(values) }
    }

    /// A column of numbers, mostly 0.
    pub fn sparse(name: impl Into<String>, values: SparseValues) -> Self {
        Self { name: name.into(), values: Values::Sparse(values) }
    }

    /// Its name.
    pub fn name(&self) -> &str {
        &self.name
    }

    /// Its values.
    pub fn values(&self) -> &Values {
        &self.values
    }

    fn check(&self) -> Result<(), TableError> {
        match &self.values {
            Values::Numeric(values) => match values.iter().position(|value| value.is_infinite()) {
                Some(row) => {
                    let (column, value) = (self.name.clone(), values[row]);
                    Err(TableError::NotFinite { column, row, value })
                }
                None => Ok(()),
            },
            Values::Nominal { codes, names } => {
                let bad = |code: &u32| *code != MISSING && *code as usize >= names.len();
                match codes.iter().position(bad) {
                    Some(row) => {
                        let (column, code) = (self.name.clone(), codes[row]);
                        Err(TableError::Code { column, row, code, names: names.len() })
                    }
                    None => Ok(()),
                }
            }
            Values::Boolean(_) => Ok(()),
            Values::Sparse(own) => {
                let infinite = own.values.iter().position(|value| value.is_infinite());
                if let Some(at) = infinite {
                    let (row, value) = (own.rows[at] as usize, own.values[at]);
                    return Err(TableError::NotFinite { column: self.name.clone(), row, value });
                }
                let last = own.rows.last().map_or(0, |row| *row as usize + 1);
                if own.rows.is_sorted_by(|a, b| a < b) && last <= own.length {
                    return Ok(());
                }
                Err(TableError::Order { column: self.name.clone(), rows: own.length })
            }
        }
    }
}

/// A table: columns of equal length.
///
/// ```
/// use geowalk::row::{Column, Columns};
/// let size = Column::numeric("size", vec![1.5, f64::NAN, 2.0]);
/// let round = Column::boolean("round", vec![Some(true), Some(false), None]);
/// let table = Columns::new(vec![size.clone(), round])?;
/// assert_eq!((table.rows(), table.columns().len()), (3, 2));
/// let error = Columns::new(vec![size, Column::numeric("mass", vec![1.0])]).unwrap_err();
/// assert_eq!(error.to_string(), "column 'mass' has 1 values; the table has 3 rows");
/// # Ok::<(), geowalk::row::TableError>(())
/// ```
#[derive(Debug, Clone, PartialEq)]
pub struct Columns {
    rows: usize,
    columns: Vec<Column>,
}

impl Columns {
    /// A table of these columns. There must be at least one; lengths must be equal and names different. Numbers must
    /// be finite, and every code must have a name.
    pub fn new(columns: Vec<Column>) -> Result<Self, TableError> {
        let rows = columns.first().map_or(0, |column| column.values.len());
        if rows == 0 {
            return Err(TableError::Empty { rows, columns: columns.len() });
        }
        if rows > MOST_ROWS {
            return Err(TableError::TooManyRows { rows, most: MOST_ROWS });
        }
        let mut names = BTreeSet::new();
        for column in &columns {
            let found = column.values.len();
            if found != rows {
                let what = format!("column '{}'", column.name);
                return Err(TableError::Length { what, found, rows });
            }
            if !names.insert(column.name.as_str()) {
                return Err(TableError::Twice { name: column.name.clone() });
            }
            column.check()?;
        }
        Ok(Self { rows, columns })
    }

    /// Number of rows.
    pub fn rows(&self) -> usize {
        self.rows
    }

    /// The columns, in their order.
    pub fn columns(&self) -> &[Column] {
        &self.columns
    }

    /// The given rows, in the given order; rows that do not exist are ignored.
    pub fn select(&self, rows: &[u32]) -> Result<Self, TableError> {
        let rows: Vec<usize> =
            rows.iter().map(|row| *row as usize).filter(|row| *row < self.rows).collect();
        let is_sparse = |column: &Column| matches!(column.values, Values::Sparse(_));
        let places = self.columns.iter().any(is_sparse).then(|| Selection::new(self.rows, &rows));
        let columns = self.columns.iter().map(|column| {
            let values = match &column.values {
                Values::Numeric(values) => {
                    Values::Numeric(rows.iter().map(|row| values[*row]).collect())
                }
                Values::Nominal { codes, names } => Values::Nominal {
                    codes: rows.iter().map(|row| codes[*row]).collect(),
                    names: names.clone(),
                },
                Values::Boolean(values) => {
                    Values::Boolean(rows.iter().map(|row| values[*row]).collect())
                }
                Values::Sparse(values) => Values::Sparse(match &places {
                    Some(places) => places.select(values),
                    None => values.clone(),
                }),
            };
            Column { name: column.name.clone(), values }
        });
        Self::new(columns.collect())
    }
}

/// The positions of each old row among the selected ones.
struct Selection {
    /// The new rows, grouped by old row; the group of row k ends at `ends[k]`.
    news: Vec<u32>,
    ends: Vec<usize>,
    length: usize,
    /// Do the new rows keep the order of the old ones?
    in_order: bool,
}

impl Selection {
    #[expect(clippy::cast_possible_truncation, reason = "a table has fewer than 2^32 rows")]
    fn new(count: usize, rows: &[usize]) -> Self {
        let mut ends = vec![0; count];
        for row in rows {
            ends[*row] += 1;
        }
        let mut sum = 0;
        for end in &mut ends {
            (sum, *end) = (sum + *end, sum);
        }
        let mut news = vec![0; rows.len()];
        for (new, row) in rows.iter().enumerate() {
            news[ends[*row]] = new as u32;
            ends[*row] += 1;
        }
        Self { news, ends, length: rows.len(), in_order: rows.is_sorted() }
    }

    fn select(&self, values: &SparseValues) -> SparseValues {
        let mut pairs: Vec<(u32, f64)> = Vec::new();
        for (row, value) in values.iter() {
            let start = row.checked_sub(1).map_or(0, |before| self.ends[before]);
            pairs.extend(self.news[start..self.ends[row]].iter().map(|new| (*new, value)));
        }
        if !self.in_order {
            pairs.sort_unstable_by_key(|(row, _)| *row);
        }
        let (rows, values) = pairs.into_iter().unzip();
        SparseValues { length: self.length, rows, values }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn columns_must_fit_together() {
        let number = |name: &str, values: &[f64]| Column::numeric(name, values.to_vec());
        let message = |columns| Columns::new(columns).unwrap_err().to_string();
        assert!(message(vec![]).starts_with("the table has 0 rows and 0 columns"));
        assert!(message(vec![number("a", &[])]).starts_with("the table has 0 rows and 1 columns"));
        let twice = vec![number("a", &[1.0]), number("a", &[2.0])];
        assert_eq!(message(twice), "two columns have the name 'a'");
        let infinite = message(vec![number("a", &[1.0, f64::NEG_INFINITY])]);
        assert!(infinite.starts_with("row 2 of column 'a' is -inf"), "{infinite}");
        let code = message(vec![Column::nominal("c", vec![MISSING, 2], ["x", "y"])]);
        assert_eq!(code, "row 2 of column 'c' has code 2; there are 2 names");
        let sparse = |rows: Vec<u32>, values: Vec<f64>| {
            message(vec![Column::sparse("s", SparseValues::new(3, rows, values))])
        };
        assert!(sparse(vec![0, 2], vec![1.0, f64::INFINITY]).starts_with("row 3 of column 's'"));
        assert!(sparse(vec![2, 0], vec![1.0, 1.0]).contains("must increase and be less than 3"));
        assert!(sparse(vec![0, 3], vec![1.0, 1.0]).contains("must increase and be less than 3"));
        // These columns carry no information, but they are valid.
        let idle = vec![number("a", &[f64::NAN; 2]), number("b", &[3.0; 2])];
        assert_eq!(Columns::new(idle).unwrap().rows(), 2);
    }

    #[test]
    fn rows_are_selected_with_their_names() {
        let table = Columns::new(vec![
            Column::numeric("a", vec![1.0, 2.0, 3.0]),
            Column::nominal("b", vec![1, 0, MISSING], ["x", "y"]),
            Column::boolean("c", vec![None, Some(true), Some(false)]),
            Column::sparse("d", SparseValues::new(3, vec![0, 2], vec![5.0, f64::MIN])),
        ])
        .unwrap();
        let some = table.select(&[2, 0, 9]).unwrap();
        let sparse = |columns: &Columns| match columns.columns()[3].values() {
            Values::Sparse(values) => values.dense(),
            other => panic!("{other:?}"),
        };
        assert_eq!(sparse(&some), [f64::MIN, 5.0]);
        assert_eq!(
            sparse(&table.select(&[1, 1, 2, 0, 2]).unwrap())[2..],
            [f64::MIN, 5.0, f64::MIN]
        );
        assert_eq!(some.columns()[0].values(), &Values::Numeric(vec![3.0, 1.0]));
        let names = vec!["x".to_owned(), "y".to_owned()];
        assert_eq!(some.columns()[1].values(), &Values::Nominal { codes: vec![MISSING, 1], names });
        assert_eq!(some.columns()[2].values(), &Values::Boolean(vec![Some(false), None]));
        assert!(table.select(&[]).is_err());
    }
}
