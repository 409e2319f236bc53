//! # Coding of labels
//! Readers give labels as numbers, or as indices of class names. Learners need a number, −1 and +1, or classes 0, 1, …

use geowalk::error::Allowed;
use geowalk_data::{Flag, Labels, Task};

/// A label that does not fit the task or the loss.
#[derive(Debug, Clone, PartialEq, thiserror::Error)]
pub enum LabelError {
    /// A third value in a task with two classes.
    #[error(
        "the label {found} is neither {negative} nor {positive}; with more than two classes use {}, for numbers {}",
        Flag::Task.with("multiclass"),
        Flag::Task.with("regression")
    )]
    Third {
        /// The new label.
        found: String,
        /// The class coded −1.
        negative: String,
        /// The class coded +1.
        positive: String,
    },
    /// A number outside the domain of the loss.
    #[error(
        "the label is {found}; with the loss '{loss}' it must be {allowed}; use {}, or a loss for numbers such as squared",
        Flag::Task.with("binary")
    )]
    Outside {
        /// The label found.
        found: f64,
        /// The loss.
        loss: String,
        /// The labels that the loss accepts.
        allowed: Allowed,
    },
    /// A name where a number is needed.
    #[error(
        "the label '{found}' is not a number; for classes use {} or {}",
        Flag::Task.with("binary"),
        Flag::Task.with("multiclass")
    )]
    NotANumber {
        /// The label found.
        found: String,
    },
}

/// Adds probabilities for declared classes that have no example yet. With n examples and C classes, each such class
/// gets 1/(n + C), as in the rule of succession. The probabilities of the other classes are scaled down, so that the
/// sum is 1. Returns the probability of one unseen class.
///
/// ```
/// use geowalk_run::label::make_room;
/// let mut seen = [0.75, 0.25];
/// assert_eq!(make_room(&mut seen, 2, 6), 0.1);
/// assert_eq!(seen, [0.75 * 0.8, 0.25 * 0.8]);
/// ```
pub fn make_room(seen: &mut [f64], unseen: usize, examples: u64) -> f64 {
    let share = 1.0 / (examples as f64 + (seen.len() + unseen) as f64);
    let rest = 1.0 - unseen as f64 * share;
    for p in seen {
        *p *= rest;
    }
    share
}

/// The mapping from labels to the codes that the learner uses.
///
/// **Two classes** The larger number, or the name that sorts last, is +1, regardless of which label comes first. While
/// only one class has been seen, its sign is a guess: positive numbers are +1, everything else is −1. The second class
/// may show that the guess was wrong. [`Coding::code`] reports this, and the learner must then swap the signs.
///
/// **Several classes** are numbered in the order in which they appear.
///
/// ```
/// use geowalk_data::{Labels, Task};
/// use geowalk_run::label::Coding;
/// let mut coding = Coding::new(Task::Binary);
/// let (mut first, mut second) = ([2.0], [1.0, 2.0]);
/// assert_eq!(coding.code(&mut first, &Labels::Numbers), Ok(false));
/// assert_eq!((first, coding.is_open()), ([1.0], true));
/// assert_eq!(coding.code(&mut second, &Labels::Numbers), Ok(false));
/// assert_eq!((second, coding.is_open()), ([-1.0, 1.0], false));
/// ```
#[derive(Debug, Clone, PartialEq)]
pub struct Coding {
    task: Task,
    /// The label of each class, as the reader gives it. Of two classes, one not yet seen is NaN.
    classes: Vec<f64>,
}

impl Coding {
    /// The coding for a task, before any class is known.
    pub fn new(task: Task) -> Self {
        Self::restore(task, Vec::new())
    }

    /// The coding with these classes, read from a model file.
    pub fn restore(task: Task, mut classes: Vec<f64>) -> Self {
        if task == Task::Binary {
            classes.resize(2, f64::NAN);
        }
        Self { task, classes }
    }

    /// The task.
    pub fn task(&self) -> Task {
        self.task
    }

    /// The labels of the classes, ordered by code; NaN for a class not yet seen.
    pub fn classes(&self) -> &[f64] {
        &self.classes
    }

    /// Whether exactly one of two classes has been seen.
    pub fn is_open(&self) -> bool {
        self.task == Task::Binary && self.classes.iter().filter(|class| class.is_nan()).count() == 1
    }

    /// Codes the labels of a block in place. New classes get a code if the task allows it. Returns true if the only
    /// class known before has changed its sign. An error comes with the index of the label in the block.
    pub fn code(
        &mut self,
        values: &mut [f64],
        labels: &Labels,
    ) -> Result<bool, (usize, LabelError)> {
        let turned = self.task == Task::Binary && self.meet(values, labels);
        for (i, value) in values.iter_mut().enumerate().filter(|(_, value)| !value.is_nan()) {
            *value = self.one(*value, labels).map_err(|error| (i, error))?;
        }
        Ok(turned)
    }

    fn one(&mut self, label: f64, labels: &Labels) -> Result<f64, LabelError> {
        let place = self.classes.iter().position(|&class| class == label);
        let name = |label: f64| labels.name(label).map_or_else(|| label.to_string(), str::to_owned);
        match (self.task, place) {
            (Task::Regression, _) => match labels.name(label) {
                None => Ok(label),
                Some(name) => Err(LabelError::NotANumber { found: name.to_owned() }),
            },
            (Task::Binary, Some(place)) => Ok([-1.0, 1.0][place]),
            (Task::Binary, None) => Err(LabelError::Third {
                found: name(label),
                negative: name(self.classes[0]),
                positive: name(self.classes[1]),
            }),
            (Task::Multiclass, Some(place)) => Ok(place as f64),
            (Task::Multiclass, None) => {
                self.classes.push(label);
                Ok((self.classes.len() - 1) as f64)
            }
        }
    }

    /// Registers the classes in a block, at most two. Returns true if the only class known before has changed its
    /// place.
    fn meet(&mut self, values: &[f64], labels: &Labels) -> bool {
        if self.classes.iter().all(|class| !class.is_nan()) {
            return false;
        }
        let before = self.classes.clone();
        let mut known: Vec<f64> = before.iter().copied().filter(|class| !class.is_nan()).collect();
        for &value in values.iter().filter(|value| !value.is_nan()) {
            if known.len() < 2 && !known.contains(&value) {
                known.push(value);
            }
        }
        let is_name = |class: f64| labels.name(class).is_some();
        known.sort_by(|&a, &b| labels.name(a).cmp(&labels.name(b)).then(a.total_cmp(&b)));
        match known.as_slice() {
            &[alone] if alone > 0.0 && !is_name(alone) => known.insert(0, f64::NAN),
            _ => known.resize(2, f64::NAN),
        }
        self.classes = known;
        let moved = |(old, new): (&f64, &f64)| !old.is_nan() && old != new;
        before.iter().zip(&self.classes).any(moved)
    }

    /// The names of all classes, ordered by code; always two names for a binary task.
    pub fn texts(&self, labels: &Labels) -> Vec<String> {
        let two = if self.task == Task::Binary { 2 } else { 0 };
        (0..self.classes.len().max(two)).map(|place| self.text(place, labels)).collect()
    }

    /// The name of the class at this index in the order of codes (0 and 1 for −1 and +1).
    pub fn text(&self, place: usize, labels: &Labels) -> String {
        let label = self.classes.get(place).copied().unwrap_or(f64::NAN);
        if label.is_nan() {
            return "(unseen)".to_owned();
        }
        labels.name(label).map_or_else(|| label.to_string(), str::to_owned)
    }
}

#[cfg(test)]
mod tests {
    use geowalk_data::Dictionary;

    use super::*;

    #[test]
    fn two_numbers_become_signs() {
        let labels = Labels::Numbers;
        let mut coding = Coding::new(Task::Binary);
        let mut values = [1.0, 0.0, f64::NAN];
        assert_eq!(coding.code(&mut values, &labels), Ok(false));
        assert!(values[..2] == [1.0, -1.0] && values[2].is_nan());
        let (place, error) = coding.code(&mut [0.0, 2.0], &labels).unwrap_err();
        assert!(error.to_string().starts_with("the label 2 is neither 0 nor 1"), "{error}");
        assert_eq!(place, 1);
    }

    #[test]
    fn sides_depend_on_the_classes_and_not_on_their_order() {
        let names = Labels::Names(Dictionary::from_names(["spam", "ham"]).unwrap());
        for (labels, first, second, turns) in [
            (&Labels::Numbers, 0.0, 1.0, false),
            (&Labels::Numbers, 1.0, 0.0, false),
            (&Labels::Numbers, -1.0, 1.0, false),
            (&Labels::Numbers, 1.0, 2.0, true),
            (&Labels::Numbers, 2.0, 1.0, false),
            (&Labels::Numbers, -1.0, -2.0, true),
            (&names, 0.0, 1.0, true),
            (&names, 1.0, 0.0, false),
        ] {
            let mut together = Coding::new(Task::Binary);
            together.code(&mut [first, second], labels).unwrap();
            let mut coding = Coding::new(Task::Binary);
            assert!(!coding.is_open());
            assert_eq!(coding.code(&mut [first, first], labels), Ok(false));
            assert!(coding.is_open());
            let mut restored = Coding::restore(Task::Binary, coding.classes().to_vec());
            for coding in [&mut coding, &mut restored] {
                assert_eq!(coding.code(&mut [second], labels), Ok(turns), "{first} {second}");
                assert_eq!((&*coding, coding.is_open()), (&together, false));
            }
        }
    }

    #[test]
    fn several_classes_are_numbered_as_they_come() {
        let mut coding = Coding::new(Task::Multiclass);
        let mut values = [7.0, 3.0, 7.0];
        coding.code(&mut values, &Labels::Numbers).unwrap();
        assert_eq!(values, [0.0, 1.0, 0.0]);
        assert_eq!(coding.text(1, &Labels::Numbers), "3");
    }
}
