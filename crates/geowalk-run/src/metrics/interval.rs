//! # Intervals of what is measured
//! Where losses have a known range, their average is shown with an [interval](LossInterval) that holds at every row at
//! once: of the error of classes, of the log loss with probabilities cut at 1 %, and of the squared error of numbers in
//! a declared range. They speak of rows that are predicted before they are learned, once each and with weight 1.

use geowalk::certify::LossInterval;
use geowalk_data::Task;
use serde_json::{Value, json};

use super::Seen;
use crate::model::{self, Arrays, ModelError};

/// 1 − the probability with which an interval holds.
pub const ALPHA: f64 = 0.05;

/// −ln 0.01: a probability of the true class below 1 % counts as 1 %.
pub const CUT: f64 = 4.605_170_185_988_091;

/// An average, and an interval that its expectation is in.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Interval {
    /// What is averaged: `error`, `log_loss` or `squared_error`.
    pub name: &'static str,
    /// The average over the rows so far.
    pub average: f64,
    /// The lower end.
    pub low: f64,
    /// The upper end.
    pub high: f64,
    /// Larger losses count as this.
    pub cut: Option<f64>,
}

impl Interval {
    /// For programs.
    pub fn json(&self) -> Value {
        let Self { name, average, low, high, cut } = *self;
        json!({"name": name, "average": average, "low": low, "high": high, "cut": cut,
            "confidence": 1.0 - ALPHA})
    }

    /// From what [`Interval::json`] gave.
    pub fn read(value: &Value) -> Option<Self> {
        let number = |key: &str| value.get(key).and_then(Value::as_f64);
        let name = value.get("name")?.as_str()?;
        let name = ["error", "log_loss", "squared_error"].into_iter().find(|own| *own == name)?;
        let (low, high) = (number("low")?, number("high")?);
        Some(Self { name, average: number("average")?, low, high, cut: number("cut") })
    }

    /// One sentence.
    pub fn sentence(&self) -> String {
        let Self { average, low, high, .. } = *self;
        match self.name {
            "error" => format!(
                "{} % of rows were predicted wrongly; expected: {} to {} % (95 % sure, at every row at once).",
                percent(average),
                percent(low),
                percent(high)
            ),
            name => {
                let what = if name == "log_loss" {
                    "The log loss, with probabilities cut at 1 %,"
                } else {
                    "The squared error"
                };
                format!(
                    "{what} was {average:.4}; expected: {low:.4} to {high:.4} (95 % sure, at every row at once)."
                )
            }
        }
    }
}

/// Numbers of one interval in a file.
const N: usize = LossInterval::NUMBERS;

/// With one decimal.
fn percent(share: f64) -> String {
    format!("{:.1}", 100.0 * share)
}

/// The intervals of a run.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct Intervals {
    error: LossInterval,
    /// Losses, as parts of the largest.
    loss: LossInterval,
    largest: f64,
    open: bool,
}

impl Intervals {
    /// For this task, with numbers in this range. `None` where no loss has a known range.
    pub(super) fn new(task: Task, range: Option<(f64, f64)>) -> Option<Self> {
        let largest = match (task, range) {
            (Task::Binary | Task::Multiclass, _) => CUT,
            (Task::Regression, Some((lo, hi))) if hi > lo => (hi - lo) * (hi - lo),
            (Task::Regression, _) => return None,
        };
        let (error, loss) = (LossInterval::default(), LossInterval::default());
        Some(Self { error, loss, largest, open: largest.is_finite() })
    }

    /// Sees an example. `false` if there can be no interval any more.
    #[inline]
    pub(super) fn see(&mut self, seen: &Seen, task: Task) -> bool {
        if !self.open {
            return true;
        }
        if seen.weight != 1.0 {
            return false;
        }
        if task == Task::Regression {
            self.loss.see(seen.score(task) / self.largest);
        } else {
            self.error.see(1.0 - seen.score(task));
            // Losses that are no −ln of a probability make it unknown.
            self.loss.see(seen.log_loss / self.largest);
        }
        true
    }

    /// Rows that come from now on were learned from before.
    pub(super) fn close(&mut self) {
        self.open = false;
    }

    /// What is known.
    pub(super) fn all(&self, task: Task) -> Vec<Interval> {
        let (classes, name) = match task {
            Task::Regression => (None, "squared_error"),
            _ => (Some(("error", &self.error, 1.0)), "log_loss"),
        };
        let loss = (name, &self.loss, self.largest);
        let all = classes.into_iter().chain([loss]);
        all.filter_map(|(name, interval, size)| {
            // An average that is NaN was no average of such losses.
            let (low, high) = interval.bounds(ALPHA).ok()?;
            let average = size * interval.average();
            let cut = (name == "log_loss").then_some(size);
            let (low, high) = (size * low, size * high);
            average.is_finite().then_some(Interval { name, average, low, high, cut })
        })
        .collect()
    }

    /// All that it holds, as an array of this name.
    pub(super) fn save(&self, name: &str, arrays: &mut Arrays) {
        // NaN does not go into files: the count alone says that it was there.
        let finite = |x: f64| if x.is_finite() { x } else { -1.0 };
        let both = self.error.save().into_iter().chain(self.loss.save());
        arrays.push((format!("{name}.intervals"), both.map(finite).collect()));
    }

    /// Continues from what `save` gave; `None` from a file without them.
    pub(super) fn load(
        self,
        name: &str,
        arrays: &[(String, Vec<f64>)],
    ) -> Result<Option<Self>, ModelError> {
        let name = format!("{name}.intervals");
        if !arrays.iter().any(|(own, _)| *own == name) {
            return Ok(None);
        }
        let numbers = model::array(arrays, &name, Some(2 * N))?;
        let read = |from: usize| {
            let saved: [f64; N] = std::array::from_fn(|i| numbers[from + i]);
            // Sums of losses in [0, 1] are no less than 0; the second number is such a sum.
            let unknown = saved[1] < 0.0;
            LossInterval::load(saved.map(|x| if unknown && x < 0.0 { f64::NAN } else { x }))
        };
        Ok(Some(Self { error: read(0), loss: read(N), ..self }))
    }
}
