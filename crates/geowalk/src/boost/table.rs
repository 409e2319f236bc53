//! # Tables
//! What boosting and trees learn from: columns of numbers, names or truth values, any of which may be missing; the class of each row; the weight of each row.
//!
//! | column | a value | missing |
//! |---|---|---|
//! | numeric | a finite number | NaN |
//! | nominal | the number of a name, in the order of the names | [`MISSING`] |
//! | boolean | true or false | none |
//!
//! **Care** Constant columns and columns in which everything is missing are allowed: nothing can be learned from them, and nothing fails. A name that training has
//! not seen is appended to the names of its column by whoever reads the table, so that it is equal to none of the others.
//! **Cost** the memory of the columns; every constructor goes through its arguments once.

use std::collections::BTreeSet;

/// The code of a nominal value that is missing.
pub const MISSING: u32 = u32::MAX;

/// The largest number of rows: rows are numbered by 32 bits, and one bit is kept.
pub const MOST_ROWS: usize = 1 << 31;

/// Why a table, its classes or its weights cannot be used.
#[derive(Debug, Clone, PartialEq, thiserror::Error)]
#[non_exhaustive]
pub enum TableError {
    /// No rows or no columns.
    #[error("the table has {rows} rows and {columns} columns; at least one of each is needed")]
    Empty {
        /// Its rows.
        rows: usize,
        /// Its columns.
        columns: usize,
    },
    /// More rows than can be numbered.
    #[error("the table has {rows} rows; at most {most} are possible")]
    TooManyRows {
        /// Its rows.
        rows: usize,
        /// The largest number.
        most: usize,
    },
    /// Columns, classes or weights of another length than the table.
    #[error("{what} has {found} values; the table has {rows} rows")]
    Length {
        /// Which: a column by its name, the classes, the weights.
        what: String,
        /// Its length.
        found: usize,
        /// The rows of the table.
        rows: usize,
    },
    /// Two columns of one name.
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
        /// What is there.
        value: f64,
    },
    /// A code without a name.
    #[error("row {} of column '{column}' has code {code}; there are {names} names", row + 1)]
    Code {
        /// The column, or `class`.
        column: String,
        /// The row, from 0.
        row: usize,
        /// What is there.
        code: u32,
        /// How many names there are.
        names: usize,
    },
    /// All rows have the same class.
    #[error(
        "all {rows} rows have the class '{class}'; at least two classes are needed to learn to tell them apart"
    )]
    OneClass {
        /// The class.
        class: String,
        /// The rows.
        rows: usize,
    },
    /// More than two classes where two are needed.
    #[error(
        "there are {found} classes ({first}); this needs two: choose a positive class, or learn one against the rest"
    )]
    NotTwo {
        /// How many there are.
        found: usize,
        /// The names of the first few.
        first: String,
    },
    /// A label that the loss cannot have.
    #[error("the label of row {} is {value}; with the loss '{loss}' it must be {allowed}", row + 1)]
    Label {
        /// The row, from 0.
        row: usize,
        /// The label.
        value: f64,
        /// The loss.
        loss: String,
        /// What it takes.
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
    /// Weights that are all zero, or leave one class only.
    #[error(
        "only {classes} of the classes have weight (the weights sum to {sum}); at least two are needed"
    )]
    NoWeight {
        /// How many classes have a positive weight.
        classes: usize,
        /// The sum of all weights.
        sum: f64,
    },
}

impl TableError {
    /// More classes than two, or less, of which the first few are named.
    pub fn not_two(classes: &[String]) -> Self {
        let first = classes[..classes.len().min(3)].join(", ");
        let more = if classes.len() > 3 { ", …" } else { "" };
        Self::NotTwo { found: classes.len(), first: first + more }
    }
}

/// What is in a column.
#[derive(Debug, Clone, PartialEq)]
pub enum Values {
    /// Finite numbers; NaN is missing.
    Numeric(Vec<f64>),
    /// Numbers of names; [`MISSING`] is missing.
    Nominal {
        /// The number of the name in each row.
        codes: Vec<u32>,
        /// The names.
        names: Vec<String>,
    },
    /// Truth values; `None` is missing.
    Boolean(Vec<Option<bool>>),
}

impl Values {
    /// How many rows there are.
    pub fn len(&self) -> usize {
        match self {
            Self::Numeric(values) => values.len(),
            Self::Nominal { codes, .. } => codes.len(),
            Self::Boolean(values) => values.len(),
        }
    }

    /// Are there none?
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// Is the value of this row missing? A row that does not exist is.
    pub fn missing(&self, row: usize) -> bool {
        match self {
            Self::Numeric(values) => values.get(row).is_none_or(|value| value.is_nan()),
            Self::Nominal { codes, .. } => codes.get(row).is_none_or(|code| *code == MISSING),
            Self::Boolean(values) => values.get(row).is_none_or(Option::is_none),
        }
    }
}

/// A column: a name and values.
///
/// ```
/// use geowalk::boost::table::{Column, MISSING};
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

    /// A column of names, given by their numbers; [`MISSING`] is missing.
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

    /// Its name.
    pub fn name(&self) -> &str {
        &self.name
    }

    /// What is in it.
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
        }
    }
}

/// Columns of one length.
///
/// ```
/// use geowalk::boost::table::{Column, Table};
/// let size = Column::numeric("size", vec![1.5, f64::NAN, 2.0]);
/// let round = Column::boolean("round", vec![Some(true), Some(false), None]);
/// let table = Table::new(vec![size.clone(), round])?;
/// assert_eq!((table.rows(), table.columns().len()), (3, 2));
/// let error = Table::new(vec![size, Column::numeric("mass", vec![1.0])]).unwrap_err();
/// assert_eq!(error.to_string(), "column 'mass' has 1 values; the table has 3 rows");
/// # Ok::<(), geowalk::boost::table::TableError>(())
/// ```
#[derive(Debug, Clone, PartialEq)]
pub struct Table {
    rows: usize,
    columns: Vec<Column>,
}

impl Table {
    /// A table of these columns: at least one, of one length, with different names, with finite numbers and codes that have a name.
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

    /// How many rows there are.
    pub fn rows(&self) -> usize {
        self.rows
    }

    /// The columns, in their order.
    pub fn columns(&self) -> &[Column] {
        &self.columns
    }

    /// Some of the rows, in the given order; rows that do not exist are left out.
    pub fn select(&self, rows: &[u32]) -> Result<Self, TableError> {
        let rows: Vec<usize> =
            rows.iter().map(|row| *row as usize).filter(|row| *row < self.rows).collect();
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
            };
            Column { name: column.name.clone(), values }
        });
        Self::new(columns.collect())
    }
}

/// The class of each row.
///
/// Of two classes the second is the positive one.
///
/// ```
/// use geowalk::boost::table::Classes;
/// let classes = Classes::new(vec![1, 0, 1], ["no", "yes"])?;
/// assert_eq!(classes.signs()?, [1.0, -1.0, 1.0]);
/// let error = Classes::new(vec![1, 1], ["no", "yes"]).unwrap_err();
/// assert!(error.to_string().starts_with("all 2 rows have the class 'yes'"));
/// # Ok::<(), geowalk::boost::table::TableError>(())
/// ```
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Classes {
    codes: Vec<u32>,
    names: Vec<String>,
}

impl Classes {
    /// Classes given by their numbers. At least two of them must occur; [`MISSING`] is not allowed.
    pub fn new<N: Into<String>>(
        codes: Vec<u32>,
        names: impl IntoIterator<Item = N>,
    ) -> Result<Self, TableError> {
        let names: Vec<String> = names.into_iter().map(Into::into).collect();
        let classes = Self { codes, names };
        let (codes, names) = (&classes.codes, &classes.names);
        if codes.is_empty() {
            return Err(TableError::Empty { rows: 0, columns: 1 });
        }
        if let Some(row) = codes.iter().position(|code| *code as usize >= names.len()) {
            let (column, code) = ("class".to_owned(), codes[row]);
            return Err(TableError::Code { column, row, code, names: names.len() });
        }
        if codes.iter().all(|code| *code == codes[0]) {
            let class = names[codes[0] as usize].clone();
            return Err(TableError::OneClass { class, rows: codes.len() });
        }
        Ok(classes)
    }

    /// Two classes from signs: positive where `sign > 0`. The names are `-1` and `+1`.
    pub fn from_signs(signs: &[f64]) -> Result<Self, TableError> {
        Self::new(signs.iter().map(|sign| u32::from(*sign > 0.0)).collect(), ["-1", "+1"])
    }

    /// How many rows there are.
    pub fn rows(&self) -> usize {
        self.codes.len()
    }

    /// The number of the class of each row.
    pub fn codes(&self) -> &[u32] {
        &self.codes
    }

    /// The names of the classes, occurring or not.
    pub fn names(&self) -> &[String] {
        &self.names
    }

    /// The labels ±1 of a problem with two classes.
    pub fn signs(&self) -> Result<Vec<f64>, TableError> {
        if self.names.len() != 2 {
            return Err(TableError::not_two(&self.names));
        }
        Ok(self.against(1))
    }

    /// The labels ±1 of one class against the rest.
    pub fn against(&self, class: u32) -> Vec<f64> {
        self.codes.iter().map(|code| if *code == class { 1.0 } else { -1.0 }).collect()
    }

    /// Checks the weights of the examples: one for each row, finite, none negative, at least two classes with a positive one.
    pub fn check_weights(&self, weights: &[f64]) -> Result<(), TableError> {
        let rows = self.rows();
        if weights.len() != rows {
            let what = "the list of weights".to_owned();
            return Err(TableError::Length { what, found: weights.len(), rows });
        }
        let good = |weight: &f64| weight.is_finite() && *weight >= 0.0;
        if let Some(row) = weights.iter().position(|weight| !good(weight)) {
            return Err(TableError::Weight { row, value: weights[row] });
        }
        let weighted = self.codes.iter().zip(weights).filter(|(_, weight)| **weight > 0.0);
        let classes = weighted.map(|(code, _)| code).collect::<BTreeSet<_>>().len();
        let sum = weights.iter().sum::<f64>();
        if classes < 2 || !sum.is_finite() {
            return Err(TableError::NoWeight { classes, sum });
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn columns_must_fit_together() {
        let number = |name: &str, values: &[f64]| Column::numeric(name, values.to_vec());
        let message = |columns| Table::new(columns).unwrap_err().to_string();
        assert!(message(vec![]).starts_with("the table has 0 rows and 0 columns"));
        assert!(message(vec![number("a", &[])]).starts_with("the table has 0 rows and 1 columns"));
        let twice = vec![number("a", &[1.0]), number("a", &[2.0])];
        assert_eq!(message(twice), "two columns have the name 'a'");
        let infinite = message(vec![number("a", &[1.0, f64::NEG_INFINITY])]);
        assert!(infinite.starts_with("row 2 of column 'a' is -inf"), "{infinite}");
        let code = message(vec![Column::nominal("c", vec![MISSING, 2], ["x", "y"])]);
        assert_eq!(code, "row 2 of column 'c' has code 2; there are 2 names");
        // Nothing to learn from, and nothing wrong with it.
        let idle = vec![number("a", &[f64::NAN; 2]), number("b", &[3.0; 2])];
        assert_eq!(Table::new(idle).unwrap().rows(), 2);
    }

    #[test]
    fn rows_are_selected_with_their_names() {
        let table = Table::new(vec![
            Column::numeric("a", vec![1.0, 2.0, 3.0]),
            Column::nominal("b", vec![1, 0, MISSING], ["x", "y"]),
            Column::boolean("c", vec![None, Some(true), Some(false)]),
        ])
        .unwrap();
        let some = table.select(&[2, 0, 9]).unwrap();
        assert_eq!(some.columns()[0].values(), &Values::Numeric(vec![3.0, 1.0]));
        let names = vec!["x".to_owned(), "y".to_owned()];
        assert_eq!(some.columns()[1].values(), &Values::Nominal { codes: vec![MISSING, 1], names });
        assert_eq!(some.columns()[2].values(), &Values::Boolean(vec![Some(false), None]));
        assert!(table.select(&[]).is_err());
    }

    #[test]
    fn weights_are_not_negative_and_leave_two_classes() {
        let classes = Classes::new(vec![0, 1, 2], ["a", "b", "c"]).unwrap();
        assert!(classes.check_weights(&[1.0, 0.0, 2.0]).is_ok());
        let message = |weights: &[f64]| classes.check_weights(weights).unwrap_err().to_string();
        assert!(message(&[1.0]).contains("has 1 values; the table has 3 rows"));
        assert!(message(&[1.0, -1.0, 1.0]).starts_with("the weight of row 2 is -1"));
        assert!(message(&[1.0, f64::NAN, 1.0]).starts_with("the weight of row 2 is NaN"));
        assert!(message(&[0.0, 0.0, 0.0]).starts_with("only 0 of the classes have weight"));
        assert!(message(&[0.0, 1.0, 0.0]).starts_with("only 1 of the classes have weight"));
        let three = classes.signs().unwrap_err().to_string();
        assert!(three.starts_with("there are 3 classes (a, b, c);"), "{three}");
        assert_eq!(classes.against(2), [-1.0, -1.0, 1.0]);
        assert!(Classes::new(vec![0, 3], ["a", "b"]).is_err());
        assert!(Classes::new(vec![], ["a"]).is_err());
    }
}
