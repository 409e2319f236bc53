//! What is to be learned, from the labels.

use std::fmt;

use super::Labels;

/// What is to be learned.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Task {
    /// A number.
    Regression,
    /// One of two classes.
    Binary,
    /// One of several classes.
    Multiclass,
}

/// Why a [`Task`] was chosen.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum Reason {
    /// No row has a label.
    NoLabels,
    /// One value only; −1, 0 and 1 are taken for one of two classes.
    OneValue(f64),
    /// Two values.
    TwoValues(f64, f64),
    /// Class names, so many of them.
    Names(usize),
    /// So many distinct whole numbers, all small.
    SmallWholeNumbers(usize),
    /// So many distinct whole numbers, too many or too large for classes.
    WholeNumbers(usize),
    /// This value is not whole.
    Fraction(f64),
}

/// A task and why: what a front end says aloud.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Inference {
    /// What is to be learned.
    pub task: Task,
    /// Why.
    pub reason: Reason,
}

impl Task {
    /// Most values that count as classes.
    pub const MOST_CLASSES: usize = 100;
    /// Whole numbers beyond this are years, prices or identifiers, not classes.
    pub const LARGEST_CLASS: f64 = 1000.0;

    /// The task that the labels of a first block suggest. NaN, the label of an unlabelled row, is passed over.
    ///
    /// ```
    /// use geowalk_data::{Labels, Task};
    /// let said = Task::infer(&Labels::Numbers, &[1.0, -1.0, 1.0]);
    /// assert_eq!(said.task, Task::Binary);
    /// assert_eq!(said.to_string(), "binary, because the labels are -1 and 1");
    /// assert_eq!(Task::infer(&Labels::Numbers, &[0.5, 1.0, 2.0]).task, Task::Regression);
    /// ```
    pub fn infer(labels: &Labels, values: &[f64]) -> Inference {
        // Adding 0 turns -0 into 0.
        let mut distinct: Vec<f64> =
            values.iter().filter(|y| !y.is_nan()).map(|y| y + 0.0).collect();
        distinct.sort_by(f64::total_cmp);
        distinct.dedup();
        let count = distinct.len();
        if let Labels::Names(names) = labels {
            let count = names.len().max(count);
            let task = if count > 2 { Self::Multiclass } else { Self::Binary };
            return Inference { task, reason: Reason::Names(count) };
        }
        let fraction = distinct.iter().copied().find(|y| *y != y.floor());
        let small = distinct.iter().all(|y| y.abs() <= Self::LARGEST_CLASS);
        let (task, reason) = match (distinct.as_slice(), fraction) {
            ([], _) => (Self::Regression, Reason::NoLabels),
            ([y], _) if [-1.0, 0.0, 1.0].contains(y) => (Self::Binary, Reason::OneValue(*y)),
            ([y], _) => (Self::Regression, Reason::OneValue(*y)),
            ([a, b], _) => (Self::Binary, Reason::TwoValues(*a, *b)),
            (_, Some(y)) => (Self::Regression, Reason::Fraction(y)),
            _ if count <= Self::MOST_CLASSES && small => {
                (Self::Multiclass, Reason::SmallWholeNumbers(count))
            }
            _ => (Self::Regression, Reason::WholeNumbers(count)),
        };
        Inference { task, reason }
    }

    /// Its name.
    pub fn name(self) -> &'static str {
        match self {
            Self::Regression => "regression",
            Self::Binary => "binary",
            Self::Multiclass => "multiclass",
        }
    }

    /// The task of that name.
    ///
    /// ```
    /// use geowalk_data::Task;
    /// assert_eq!(Task::named("binary"), Some(Task::Binary));
    /// assert_eq!(Task::named("clustering"), None);
    /// ```
    pub fn named(name: &str) -> Option<Self> {
        [Self::Regression, Self::Binary, Self::Multiclass].into_iter().find(|t| t.name() == name)
    }
}

impl fmt::Display for Inference {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}, because ", self.task.name())?;
        match self.reason {
            Reason::NoLabels => write!(f, "no row has a label"),
            Reason::OneValue(y) => write!(f, "all labels are {y}"),
            Reason::TwoValues(a, b) => write!(f, "the labels are {a} and {b}"),
            Reason::Names(1) => {
                write!(f, "the labels are names, though only one has occurred so far")
            }
            Reason::Names(n) => write!(f, "the labels are {n} names"),
            Reason::SmallWholeNumbers(n) => write!(f, "the labels are {n} small whole numbers"),
            Reason::WholeNumbers(n) => {
                write!(f, "the labels are {n} whole numbers, too many or too large for classes")
            }
            Reason::Fraction(y) => write!(f, "a label is {y}"),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::schema::Dictionary;

    #[test]
    fn every_reason() {
        let names = Labels::Names(Dictionary::from_names(["a", "b", "c"]).unwrap());
        let many: Vec<f64> = (0..101).map(f64::from).collect();
        for (labels, values, text) in [
            (&Labels::Numbers, &[f64::NAN][..], "regression, because no row has a label"),
            (&Labels::Numbers, &[1.0, 1.0], "binary, because all labels are 1"),
            (&Labels::Numbers, &[7.0], "regression, because all labels are 7"),
            (&Labels::Numbers, &[0.0, 1.0, -0.0], "binary, because the labels are 0 and 1"),
            (
                &Labels::Numbers,
                &[3.0, 1.0, 2.0, f64::NAN],
                "multiclass, because the labels are 3 small whole numbers",
            ),
            (&Labels::Numbers, &[0.0, 1.0, 0.25], "regression, because a label is 0.25"),
            (
                &Labels::Numbers,
                &many,
                "regression, because the labels are 101 whole numbers, too many or too large for classes",
            ),
            (
                &Labels::Numbers,
                &[1990.0, 1991.0, 1992.0],
                "regression, because the labels are 3 whole numbers, too many or too large for classes",
            ),
            (&names, &[0.0, 1.0], "multiclass, because the labels are 3 names"),
        ] {
            assert_eq!(Task::infer(labels, values).to_string(), text);
        }
    }
}
