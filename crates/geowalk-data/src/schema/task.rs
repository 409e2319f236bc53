//! Tasks, and how they are inferred from the labels.

use std::fmt;

use super::Labels;

/// The task of a learner.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Task {
    /// Predict a number.
    Regression,
    /// Predict one of two classes.
    Binary,
    /// Predict one of several classes.
    Multiclass,
}

/// The reason why a [`Task`] was chosen.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum Reason {
    /// No row has a label.
    NoLabels,
    /// There is only one value; −1, 0 and 1 count as one of two classes.
    OneValue(f64),
    /// There are two values.
    TwoValues(f64, f64),
    /// Labels are names; their number.
    Names(usize),
    /// The integers look like class codes; their number.
    SmallWholeNumbers(usize),
    /// The integers do not look like class codes, because they are too many, too large, or have gaps and are rarely
    /// repeated; their number.
    WholeNumbers(usize),
    /// This value is not an integer.
    Fraction(f64),
}

/// A task and the reason for it, as reported by a front end.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Inference {
    /// The task.
    pub task: Task,
    /// The reason.
    pub reason: Reason,
}

impl Task {
    /// Maximum number of classes if they are numbered 0, 1, … or 1, 2, …
    pub const MOST_CLASSES: usize = 30;
    /// Maximum number of classes if some numbers are left out and each class is [frequent](Task::OFTEN).
    pub const MOST_GAPPED: usize = 10;
    /// Average number of rows per class that counts as frequent.
    pub const OFTEN: usize = 5;
    /// Larger integers are years, prices or identifiers, not classes.
    pub const LARGEST_CLASS: f64 = 1000.0;

    /// Infers the task from the labels of a first block. NaN, the label of an unlabelled row, is ignored.
    ///
    /// More than two distinct integers are classes if they are few and look like codes: numbered from −1, 0 or 1
    /// without large gaps, or few enough to repeat often. Counts, delays and amounts are numbers.
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
        let (count, rows) = (distinct.len(), values.iter().filter(|y| !y.is_nan()).count());
        if let Labels::Names(names) = labels {
            let count = names.len().max(count);
            let task = if count > 2 { Self::Multiclass } else { Self::Binary };
            return Inference { task, reason: Reason::Names(count) };
        }
        let fraction = distinct.iter().copied().find(|y| *y != y.floor());
        let codes = match distinct.as_slice() {
            [least, .., most] if least.abs().max(most.abs()) <= Self::LARGEST_CLASS => {
                let begins = (-1.0..=1.0).contains(least);
                let numbered = begins && most - least < 2.0 * count as f64;
                (numbered && count <= Self::MOST_CLASSES)
                    || (count <= Self::MOST_GAPPED && rows >= Self::OFTEN * count)
            }
            _ => false,
        };
        let (task, reason) = match (distinct.as_slice(), fraction) {
            ([], _) => (Self::Regression, Reason::NoLabels),
            ([y], _) if [-1.0, 0.0, 1.0].contains(y) => (Self::Binary, Reason::OneValue(*y)),
            ([y], _) => (Self::Regression, Reason::OneValue(*y)),
            ([a, b], _) => (Self::Binary, Reason::TwoValues(*a, *b)),
            (_, Some(y)) => (Self::Regression, Reason::Fraction(y)),
            _ if codes => (Self::Multiclass, Reason::SmallWholeNumbers(count)),
            _ => (Self::Regression, Reason::WholeNumbers(count)),
        };
        Inference { task, reason }
    }

    /// Name of the task.
    pub fn name(self) -> &'static str {
        match self {
            Self::Regression => "regression",
            Self::Binary => "binary",
            Self::Multiclass => "multiclass",
        }
    }

    /// The task with this name.
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

impl Inference {
    /// Advice in case the task was inferred wrongly; `None` if no other task is possible.
    pub fn advice(&self) -> Option<&'static str> {
        match (self.task, self.reason) {
            (_, Reason::NoLabels | Reason::Names(_)) => None,
            (Task::Regression, _) => Some("if they are classes, use --task multiclass"),
            (_, _) => Some("if they are numbers, use --task regression"),
        }
    }

    /// Whether the labels could also belong to the other kind of task: numbers that are classes, or classes that are
    /// numbers.
    pub fn is_a_guess(&self) -> bool {
        matches!(
            self.reason,
            Reason::SmallWholeNumbers(_) | Reason::WholeNumbers(_) | Reason::OneValue(_)
        )
    }

    /// The task, the reason, and advice in case the task was inferred wrongly.
    pub fn explained(&self) -> String {
        let advice = self.advice().map_or(String::new(), |advice| format!("; {advice}"));
        format!("{self}{advice}")
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
                write!(f, "the labels are {n} whole numbers that do not look like classes")
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
        let many: Vec<f64> = (0..51).map(f64::from).collect();
        let delays: Vec<f64> = (0..200).map(|i| f64::from((i * 37) % 61 - 12)).collect();
        let letters: Vec<f64> = (0..26).map(|i| f64::from(i + 1)).collect();
        let codes = [11.0, 12.0, 21.0, 31.0].repeat(5);
        let risks = [-2.0, -1.0, 0.0, 1.0, 2.0, 3.0].repeat(5);
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
                "regression, because the labels are 51 whole numbers that do not look like classes",
            ),
            (
                &Labels::Numbers,
                &delays,
                "regression, because the labels are 61 whole numbers that do not look like classes",
            ),
            (
                &Labels::Numbers,
                &delays[..12],
                "regression, because the labels are 12 whole numbers that do not look like classes",
            ),
            (
                &Labels::Numbers,
                &letters,
                "multiclass, because the labels are 26 small whole numbers",
            ),
            (&Labels::Numbers, &risks, "multiclass, because the labels are 6 small whole numbers"),
            (
                &Labels::Numbers,
                &risks[..6],
                "regression, because the labels are 6 whole numbers that do not look like classes",
            ),
            (&Labels::Numbers, &codes, "multiclass, because the labels are 4 small whole numbers"),
            (
                &Labels::Numbers,
                &[1990.0, 1991.0, 1992.0],
                "regression, because the labels are 3 whole numbers that do not look like classes",
            ),
            (&names, &[0.0, 1.0], "multiclass, because the labels are 3 names"),
        ] {
            assert_eq!(Task::infer(labels, values).to_string(), text);
        }
    }
}
