//! # Rules
//! A rule is a conjunction of at most l literals, h = +1 where all hold and −1 elsewhere. Its leverage may be negative: *if x is red and y ≤ 3 then no*.
//!
//! | column | literals, in the order of ties |
//! |---|---|
//! | boolean | x, not x |
//! | nominal | x = v, x ≠ v for each name |
//! | numeric | x ≤ θ, x > θ at the middle between neighbouring values |
//! | any with missing values | x is missing |
//!
//! **Missing** makes every other literal false. A rule that abstains is 0 instead, wherever a column that it asks for is missing.
//! **Care** a name that training has not seen is different from all names: x = v is false, x ≠ v is true.
//! **Source** \[NN09, sec. 7\], which says "rules with at most l literals" and no more.

use super::table::{MISSING, Table, Values};

/// What a literal asks of its column.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum Asks {
    /// The truth value.
    Truth(bool),
    /// The name with this code.
    Is(u32),
    /// Another name than that with this code.
    Not(u32),
    /// A number no larger.
    AtMost(f64),
    /// A larger number.
    Above(f64),
    /// No value.
    Missing,
}

/// A question about one column.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Literal {
    /// The column.
    pub column: usize,
    /// The question.
    pub asks: Asks,
}

impl Literal {
    /// Does it hold in this row? False if the column does not exist or is of another kind.
    #[inline]
    pub fn holds(&self, table: &Table, row: usize) -> bool {
        let Some(column) = table.columns().get(self.column) else { return false };
        match (self.asks, column.values()) {
            (Asks::Missing, values) => values.missing(row),
            (Asks::AtMost(theta), Values::Numeric(x)) => x.get(row).is_some_and(|x| *x <= theta),
            (Asks::Above(theta), Values::Numeric(x)) => x.get(row).is_some_and(|x| *x > theta),
            (Asks::AtMost(theta), Values::Sparse(x)) => x.get(row) <= theta,
            (Asks::Above(theta), Values::Sparse(x)) => x.get(row) > theta,
            (Asks::Is(code), Values::Nominal { codes, .. }) => codes.get(row) == Some(&code),
            (Asks::Not(code), Values::Nominal { codes, .. }) => {
                codes.get(row).is_some_and(|own| *own != code && *own != MISSING)
            }
            (Asks::Truth(truth), Values::Boolean(x)) => x.get(row) == Some(&Some(truth)),
            _ => false,
        }
    }
}

/// A conjunction of literals; without any it is always true.
///
/// ```
/// use geowalk::boost::rule::{Asks, Literal, Rule};
/// use geowalk::boost::table::{Column, Table};
/// let table = Table::new(vec![
///     Column::numeric("size", vec![1.0, 5.0, f64::NAN]),
///     Column::nominal("color", vec![0, 0, 0], ["red"]),
/// ])?;
/// let literals = vec![
///     Literal { column: 0, asks: Asks::AtMost(3.0) },
///     Literal { column: 1, asks: Asks::Is(0) },
/// ];
/// let mut rule = Rule { literals, abstains: false };
/// let values = |rule: &Rule| [0, 1, 2].map(|row| rule.value(&table, row));
/// assert_eq!(values(&rule), [1.0, -1.0, -1.0]);
/// rule.abstains = true;
/// assert_eq!(values(&rule), [1.0, -1.0, 0.0]);
/// # Ok::<(), geowalk::boost::table::TableError>(())
/// ```
#[derive(Debug, Clone, PartialEq, Default)]
pub struct Rule {
    /// What must hold.
    pub literals: Vec<Literal>,
    /// Is it 0, and not −1, where a column that it asks for is missing?
    pub abstains: bool,
}

impl Rule {
    /// h of a row: +1, −1, or 0.
    pub fn value(&self, table: &Table, row: usize) -> f64 {
        if self.abstains && self.literals.iter().any(|literal| self.unknown(literal, table, row)) {
            return 0.0;
        }
        if self.literals.iter().all(|literal| literal.holds(table, row)) { 1.0 } else { -1.0 }
    }

    fn unknown(&self, literal: &Literal, table: &Table, row: usize) -> bool {
        let column = table.columns().get(literal.column);
        self.abstains
            && literal.asks != Asks::Missing
            && column.is_none_or(|column| column.values().missing(row))
    }
}
