//! # Tables
//! What boosting and trees learn from: [columns](crate::row::Columns), the class of each row, the weight of each row.

use std::collections::BTreeSet;

pub use crate::row::{
    Column, Columns as Table, MISSING, MOST_ROWS, SparseValues, TableError, Values,
};

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
