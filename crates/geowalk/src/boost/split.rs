//! # Splits
//! A test on one column that sends each row of a table left or right.
//!
//! | test | left | right | a missing value goes |
//! |---|---|---|---|
//! | [`AtMost`](Test::AtMost) | $x \le \theta$ | $x > \theta$ | where the split says; training decided it |
//! | [`Is`](Test::Is) | $x = v$ | any other value, known to training or not | right |
//! | [`Known`](Test::Known) | there is a value | there is none | right |
//!
//! **Care** names are split one against the rest, not by subsets: a test is then a literal that can be said in words. Truth values count as names 0 and 1.

use super::table::{Column, MISSING, Table, Values};

/// What is asked of a value.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum Test {
    /// Is the number at most θ?
    AtMost {
        /// The threshold.
        theta: f64,
        /// A missing number goes left.
        missing: bool,
    },
    /// Is it the name with this code (of a truth value: 0 false, 1 true)?
    Is {
        /// The code.
        code: u32,
    },
    /// Is it known, not missing?
    Known,
}

/// A test on a column. Rows that pass it go left.
///
/// ```
/// use geowalk::boost::split::{Split, Test};
/// use geowalk::boost::table::{Column, Table};
/// let table = Table::new(vec![Column::numeric("size", vec![1.0, 2.0, f64::NAN])])?;
/// let split = Split { column: 0, test: Test::AtMost { theta: 1.5, missing: true } };
/// assert_eq!([0, 1, 2].map(|row| split.left(&table, row)), [true, false, true]);
/// # Ok::<(), geowalk::boost::table::TableError>(())
/// ```
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Split {
    /// The number of the column.
    pub column: usize,
    /// The test.
    pub test: Test,
}

impl Split {
    /// Does this row go left? A test that does not fit the kind of its column is passed by no row.
    #[inline]
    pub fn left(&self, table: &Table, row: usize) -> bool {
        table.columns().get(self.column).is_some_and(|column| self.test.passes(column, row))
    }
}

impl Test {
    /// Does the value of this row pass?
    #[inline]
    pub fn passes(&self, column: &Column, row: usize) -> bool {
        match (self, column.values()) {
            (Self::AtMost { theta, missing }, Values::Numeric(values)) => {
                values.get(row).is_some_and(|x| number(*x, *theta, *missing))
            }
            (Self::AtMost { theta, missing }, Values::Sparse(values)) => {
                row < values.len() && number(values.get(row), *theta, *missing)
            }
            (Self::Is { code }, Values::Nominal { codes, .. }) => codes.get(row) == Some(code),
            (Self::Is { code }, Values::Boolean(values)) => {
                values.get(row).is_some_and(|value| truth(*value) == *code)
            }
            (Self::Known, values) => !values.missing(row),
            _ => false,
        }
    }

    /// Calls `f` with what each row of the column answers, in the order of the rows: the loop over one column that a processor does fastest.
    #[inline]
    pub fn each(&self, column: &Column, mut f: impl FnMut(usize, bool)) {
        match (*self, column.values()) {
            (Self::AtMost { theta, missing: true }, Values::Numeric(values)) => {
                values.iter().enumerate().for_each(|(row, x)| f(row, number(*x, theta, true)));
            }
            (Self::AtMost { theta, missing: false }, Values::Numeric(values)) => {
                values.iter().enumerate().for_each(|(row, x)| f(row, *x <= theta));
            }
            (Self::AtMost { theta, missing }, Values::Sparse(values)) => {
                values.each(|row, x| f(row, number(x, theta, missing)));
            }
            (Self::Known, Values::Sparse(values)) => values.each(|row, x| f(row, !x.is_nan())),
            (Self::Is { code }, Values::Nominal { codes, .. }) => {
                codes.iter().enumerate().for_each(|(row, own)| f(row, *own == code));
            }
            _ => (0..column.values().len()).for_each(|row| f(row, self.passes(column, row))),
        }
    }
}

#[inline(always)]
fn number(x: f64, theta: f64, missing: bool) -> bool {
    // NaN is not greater than θ either.
    if missing { x <= theta || x.is_nan() } else { x <= theta }
}

/// A truth value as the code of a name.
#[inline]
pub(crate) fn truth(value: Option<bool>) -> u32 {
    value.map_or(MISSING, u32::from)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_test_on_every_kind_of_column() {
        let table = Table::new(vec![
            Column::numeric("a", vec![1.0, 2.0, f64::NAN]),
            Column::nominal("b", vec![0, MISSING, 2], ["x", "y", "new"]),
            Column::boolean("c", vec![Some(true), None, Some(false)]),
        ])
        .unwrap();
        let at_most = |missing| Test::AtMost { theta: 1.0, missing };
        for (column, test, expected) in [
            (0, at_most(false), [true, false, false]),
            (0, at_most(true), [true, false, true]),
            (0, Test::Known, [true, true, false]),
            (1, Test::Is { code: 0 }, [true, false, false]),
            (1, Test::Known, [true, false, true]),
            (2, Test::Is { code: 1 }, [true, false, false]),
            (2, Test::Is { code: 0 }, [false, false, true]),
            (2, Test::Known, [true, false, true]),
            (1, at_most(true), [false; 3]),
            (0, Test::Is { code: 1 }, [false; 3]),
        ] {
            let split = Split { column, test };
            assert_eq!([0, 1, 2].map(|row| split.left(&table, row)), expected, "{split:?}");
            let mut all = [false; 4];
            test.each(&table.columns()[column], |row, left| all[row] = left);
            assert_eq!(all[..3], expected, "{split:?}");
        }
        assert!(!Split { column: 3, test: Test::Known }.left(&table, 0));
        assert!(!Split { column: 0, test: Test::Known }.left(&table, 3));
    }
}
