//! # Classes by number
//! Estimators speak of classes by their number in a list of labels; a model file has them as a reader gives them, numbers or the numbers of names in the order in which these came.

use std::fmt;

use geowalk_data::{Dictionary, Labels};
use pyo3::prelude::*;

use crate::error::data;

/// The label of a class.
#[derive(Debug, Clone, PartialEq, FromPyObject, IntoPyObject)]
pub(crate) enum ClassLabel {
    #[pyo3(transparent)]
    Number(f64),
    #[pyo3(transparent)]
    Name(String),
}

impl fmt::Display for ClassLabel {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Number(number) => write!(f, "{number}"),
            Self::Name(name) => write!(f, "'{name}'"),
        }
    }
}

/// The labels of classes, and what a reader would give for each.
#[derive(Debug, Clone)]
pub(crate) struct Classes {
    labels: Vec<ClassLabel>,
    /// NaN for a name that has not come.
    values: Vec<f64>,
    closed: bool,
}

impl Classes {
    /// These and no others, in order; or none so far.
    pub(crate) fn new(labels: Option<Vec<ClassLabel>>) -> Self {
        let closed = labels.is_some();
        let labels = labels.unwrap_or_default();
        let values = labels.iter().map(unnamed).collect();
        Self { labels, values, closed }
    }

    /// The classes of a model, in a given order or in their own: numbers rising, names in the order of the alphabet.
    pub(crate) fn restore(coded: &[f64], labels: &Labels, order: Option<Vec<ClassLabel>>) -> Self {
        let label = |value: f64| match labels.name(value) {
            Some(name) => ClassLabel::Name(name.to_owned()),
            None => ClassLabel::Number(value),
        };
        let mut known: Vec<(ClassLabel, f64)> =
            coded.iter().filter(|value| !value.is_nan()).map(|v| (label(*v), *v)).collect();
        known.sort_by(|(a, x), (b, y)| match (a, b) {
            (ClassLabel::Name(a), ClassLabel::Name(b)) => a.cmp(b),
            _ => x.total_cmp(y),
        });
        let Some(order) = order else {
            let (labels, values) = known.into_iter().unzip();
            return Self { labels, values, closed: false };
        };
        let value = |label: &ClassLabel| match (label, labels) {
            (ClassLabel::Name(name), Labels::Names(names)) => {
                names.find(name).map_or(f64::NAN, f64::from)
            }
            _ => unnamed(label),
        };
        let values = order.iter().map(value).collect();
        Self { labels: order, values, closed: true }
    }

    /// How many.
    pub(crate) fn len(&self) -> usize {
        self.labels.len()
    }

    /// Are these all?
    pub(crate) fn closed(&self) -> bool {
        self.closed
    }

    /// The labels, in order.
    pub(crate) fn list(&self) -> Vec<ClassLabel> {
        self.labels.clone()
    }

    /// What a reader would give for each, in order; NaN for a name that has not come.
    pub(crate) fn values(&self) -> std::slice::Iter<'_, f64> {
        self.values.iter()
    }

    /// What labels are in a schema at the beginning.
    pub(crate) fn labels(&self) -> Labels {
        match self.labels.first() {
            Some(ClassLabel::Name(_)) => Labels::Names(Dictionary::default()),
            _ => Labels::Numbers,
        }
    }

    /// Adds a class; gives its number.
    pub(crate) fn add(&mut self, label: ClassLabel) -> PyResult<usize> {
        if let Some(first) = self.labels.first()
            && std::mem::discriminant(first) != std::mem::discriminant(&label)
        {
            let message =
                format!("the class {label} beside {first}: all must be numbers, or all names");
            return Err(data(message, None, None, None));
        }
        self.values.push(unnamed(&label));
        self.labels.push(label);
        Ok(self.labels.len() - 1)
    }

    /// The label of a class number, as a reader gives it. A name gets its number when it comes.
    #[allow(clippy::cast_possible_truncation, clippy::cast_sign_loss)] // saturates
    pub(crate) fn value(&mut self, code: f64, labels: &mut Labels) -> PyResult<f64> {
        let at = code as usize;
        let Some(value) = self.values.get_mut(at).filter(|_| !code.is_nan()) else {
            return Ok(f64::NAN);
        };
        if value.is_nan()
            && let Some(ClassLabel::Name(name)) = self.labels.get(at)
        {
            if let Labels::Numbers = labels {
                *labels = Labels::Names(Dictionary::default());
            }
            if let Labels::Names(names) = labels {
                let number = names.insert(name.as_bytes());
                *value = number.map_err(|e| data(e.to_string(), None, None, None))?.into();
            }
        }
        Ok(*value)
    }

    /// Both of two classes, if there will be no other.
    pub(crate) fn both(&mut self, labels: &mut Labels) -> PyResult<Option<[f64; 2]>> {
        if !self.closed || self.len() != 2 {
            return Ok(None);
        }
        Ok(Some([self.value(0.0, labels)?, self.value(1.0, labels)?]))
    }

    /// The classes that are not among those of a coding.
    pub(crate) fn unseen(&self, coded: &[f64]) -> Vec<ClassLabel> {
        let own = self.labels.iter().zip(&self.values);
        own.filter(|(_, value)| !coded.contains(value)).map(|(label, _)| label.clone()).collect()
    }

    /// The number of each class of a coding; `None` for one that has not been seen.
    pub(crate) fn places(&self, coded: &[f64]) -> Vec<Option<usize>> {
        coded.iter().map(|class| self.values.iter().position(|value| value == class)).collect()
    }
}

fn unnamed(label: &ClassLabel) -> f64 {
    match label {
        ClassLabel::Number(number) => *number,
        ClassLabel::Name(_) => f64::NAN,
    }
}
