//! # What a label means
//! Readers give labels as numbers, or as the numbers of class names. Learners want a number, −1 and +1, or classes 0, 1, …

use geowalk::error::Allowed;
use geowalk_data::{Labels, Task};

/// A label that does not fit what is being learned.
#[derive(Debug, Clone, PartialEq, thiserror::Error)]
pub enum LabelError {
    /// A third value where two were seen.
    #[error(
        "the label {found} is neither {negative} nor {positive}; with more than two classes use --task multiclass, for numbers --task regression"
    )]
    Third {
        /// The label.
        found: String,
        /// The class coded −1.
        negative: String,
        /// The class coded +1.
        positive: String,
    },
    /// A number that the loss does not take.
    #[error(
        "the label is {found}; with the loss '{loss}' it must be {allowed}; use --task binary, or a loss for numbers such as squared"
    )]
    Outside {
        /// The label.
        found: f64,
        /// The loss.
        loss: String,
        /// The labels it takes.
        allowed: Allowed,
    },
    /// A name where a number is needed.
    #[error(
        "the label '{found}' is not a number; for classes use --task binary or --task multiclass"
    )]
    NotANumber {
        /// The label.
        found: String,
    },
}

/// How labels are coded for the learner. Classes are kept in the order in which they got their codes.
#[derive(Debug, Clone, PartialEq)]
pub struct Coding {
    task: Task,
    /// The labels of the classes, as the reader gives them.
    classes: Vec<f64>,
}

impl Coding {
    /// The coding for a task, from the labels of a first block. Of two classes the larger number, or the name that sorts last, is +1.
    pub fn new(task: Task, labels: &Labels, values: &[f64]) -> Self {
        let mut classes: Vec<f64> = Vec::new();
        if task == Task::Binary {
            for &value in values.iter().filter(|value| !value.is_nan()) {
                if classes.len() < 2 && !classes.contains(&value) {
                    classes.push(value);
                }
            }
            match labels {
                Labels::Names(_) => {
                    classes.sort_by_key(|&class| labels.name(class).map(str::to_owned));
                }
                Labels::Numbers => classes.sort_by(f64::total_cmp),
            }
            // One value so far: −1, 0 and 1 say themselves which side they are on.
            match classes.as_slice() {
                [1.0] if matches!(labels, Labels::Numbers) => classes.insert(0, f64::NAN),
                _ => {}
            }
        }
        Self { task, classes }
    }

    /// The coding with these classes, from a model file.
    pub fn restore(task: Task, classes: Vec<f64>) -> Self {
        Self { task, classes }
    }

    /// What is being learned.
    pub fn task(&self) -> Task {
        self.task
    }

    /// The labels of the classes, in the order of their codes; NaN for a class that has not been seen.
    pub fn classes(&self) -> &[f64] {
        &self.classes
    }

    /// The code of a label; new classes get one where the task allows it.
    pub fn code(&mut self, label: f64, labels: &Labels) -> Result<f64, LabelError> {
        if label.is_nan() {
            return Ok(label);
        }
        match self.task {
            Task::Regression => match labels.name(label) {
                None => Ok(label),
                Some(name) => Err(LabelError::NotANumber { found: name.to_owned() }),
            },
            Task::Binary => self.two(label, labels),
            Task::Multiclass => {
                let known = self.classes.iter().position(|&class| class == label);
                let place = known.unwrap_or_else(|| {
                    self.classes.push(label);
                    self.classes.len() - 1
                });
                Ok(place as f64)
            }
        }
    }

    fn two(&mut self, label: f64, labels: &Labels) -> Result<f64, LabelError> {
        const CODES: [f64; 2] = [-1.0, 1.0];
        if let Some(place) = self.classes.iter().position(|&class| class == label) {
            return Ok(CODES[place]);
        }
        if let Some(place) = self.classes.iter().position(|class| class.is_nan()) {
            self.classes[place] = label;
            return Ok(CODES[place]);
        }
        if self.classes.len() < 2 {
            self.classes.push(label);
            return Ok(CODES[self.classes.len() - 1]);
        }
        let name = |label: f64| labels.name(label).map_or_else(|| label.to_string(), str::to_owned);
        Err(LabelError::Third {
            found: name(label),
            negative: name(self.classes[0]),
            positive: name(self.classes[1]),
        })
    }

    /// The texts of all classes, in the order of their codes; of two classes always both.
    pub fn texts(&self, labels: &Labels) -> Vec<String> {
        let two = if self.task == Task::Binary { 2 } else { 0 };
        (0..self.classes.len().max(two)).map(|place| self.text(place, labels)).collect()
    }

    /// The text of the class with this place in the order of codes (0 and 1 for −1 and +1).
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
    use super::*;

    #[test]
    fn two_numbers_become_signs() {
        let labels = Labels::Numbers;
        let mut coding = Coding::new(Task::Binary, &labels, &[1.0, 0.0, 1.0]);
        assert_eq!(coding.code(0.0, &labels), Ok(-1.0));
        assert_eq!(coding.code(1.0, &labels), Ok(1.0));
        assert!(coding.code(f64::NAN, &labels).unwrap().is_nan());
        let error = coding.code(2.0, &labels).unwrap_err();
        assert!(error.to_string().starts_with("the label 2 is neither 0 nor 1"));
    }

    #[test]
    fn a_class_that_comes_late_gets_the_free_side() {
        let labels = Labels::Numbers;
        let mut coding = Coding::new(Task::Binary, &labels, &[1.0]);
        assert_eq!(coding.code(-1.0, &labels), Ok(-1.0));
        assert_eq!(coding.code(1.0, &labels), Ok(1.0));
        let mut coding = Coding::new(Task::Binary, &labels, &[0.0]);
        assert_eq!(coding.code(5.0, &labels), Ok(1.0));
        let mut coding = Coding::new(Task::Multiclass, &labels, &[]);
        assert_eq!(coding.code(7.0, &labels), Ok(0.0));
        assert_eq!(coding.code(3.0, &labels), Ok(1.0));
        assert_eq!(coding.text(1, &labels), "3");
    }
}
