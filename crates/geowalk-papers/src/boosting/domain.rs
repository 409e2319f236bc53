//! # Domains
//! A named table with labels ±1. Of two classes the second is the positive one. Of more classes, the most frequent one
//! (of equally frequent ones the first) is positive and all others are negative; the paper uses two-class domains
//! without saying how they were made. A domain includes its folds of cross-validation, so that all learners use the
//! same.

use geowalk::boost::table::{Classes, Table, TableError};

/// A two-class domain.
#[derive(Debug, Clone)]
pub struct Domain {
    name: String,
    table: Table,
    classes: Classes,
    /// Number of classes in the original table.
    found: usize,
    /// The fold of each row.
    folds: Vec<usize>,
}

impl Domain {
    /// A domain from a table with any number of classes, and the fold of each row, counted from 0.
    ///
    /// ```
    /// use geowalk::boost::table::{Classes, Column, Table};
    /// use geowalk_papers::boosting::domain::Domain;
    /// let table = Table::new(vec![Column::numeric("x", vec![1.0, 2.0, 3.0, 4.0])])?;
    /// let classes = Classes::new(vec![0, 1, 1, 2], ["a", "b", "c"])?;
    /// let domain = Domain::new("abc", table, &classes, vec![0, 1, 0, 1])?;
    /// assert_eq!((domain.positive(), domain.found()), ("b", 3));
    /// assert_eq!(domain.classes().codes(), [0, 1, 1, 0]);
    /// # Ok::<(), geowalk::boost::table::TableError>(())
    /// ```
    pub fn new(
        name: impl Into<String>,
        table: Table,
        classes: &Classes,
        folds: Vec<usize>,
    ) -> Result<Self, TableError> {
        let found = classes.names().len();
        let mut counts = vec![0_usize; found];
        for code in classes.codes() {
            counts[*code as usize] += 1;
        }
        let classes = if found == 2 {
            classes.clone()
        } else {
            let most = counts.iter().max().copied().unwrap_or(0);
            let positive = counts.iter().position(|count| *count == most).unwrap_or(0);
            let codes = classes.codes().iter().map(|code| u32::from(*code as usize == positive));
            let own = classes.names().get(positive).cloned().unwrap_or_default();
            Classes::new(codes.collect(), [format!("not {own}"), own])?
        };
        Ok(Self { name: name.into(), table, classes, found, folds })
    }

    /// Its name.
    pub fn name(&self) -> &str {
        &self.name
    }

    /// Its columns.
    pub fn table(&self) -> &Table {
        &self.table
    }

    /// The two classes.
    pub fn classes(&self) -> &Classes {
        &self.classes
    }

    /// The name of the positive class.
    pub fn positive(&self) -> &str {
        self.classes.names().get(1).map_or("", String::as_str)
    }

    /// The fold of each row.
    pub fn folds(&self) -> &[usize] {
        &self.folds
    }

    /// Number of classes before they were reduced to two.
    pub fn found(&self) -> usize {
        self.found
    }
}
