//! # Confidence intervals of metrics
//! If losses have a known range, their average is reported with an [interval](LossInterval) that holds at every row
//! simultaneously. This covers the classification error, the log loss with probabilities cut at 1 %, and the squared
//! error of numbers in a declared range. It requires that each row is predicted once, before it is learned, and has
//! weight 1.

use geowalk::certify::LossInterval;
use geowalk_data::Task;
use serde_json::{Value, json};

use super::Seen;
use super::changes::Changes;
use crate::model::{self, Arrays, ModelError};

/// 1 minus the confidence level of an interval.
pub const ALPHA: f64 = 0.05;

/// −ln 0.01: a probability of the true class below 1 % counts as 1 %.
pub const CUT: f64 = 4.605_170_185_988_091;

/// An average, and an interval for its expectation.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Interval {
    /// Name of the averaged loss: `error`, `log_loss` or `squared_error`.
    pub name: &'static str,
    /// The average over all rows up to now.
    pub average: f64,
    /// The lower end.
    pub low: f64,
    /// The upper end.
    pub high: f64,
    /// Losses larger than this count as this; `None` if losses are not cut.
    pub cut: Option<f64>,
}

impl Interval {
    /// The interval as JSON.
    pub fn json(&self) -> Value {
        let Self { name, average, low, high, cut } = *self;
        json!({"name": name, "average": average, "low": low, "high": high, "cut": cut,
            "confidence": 1.0 - ALPHA})
    }

    /// Parses the output of [`Interval::json`].
    pub fn read(value: &Value) -> Option<Self> {
        let number = |key: &str| value.get(key).and_then(Value::as_f64);
        let name = value.get("name")?.as_str()?;
        let name = ["error", "log_loss", "squared_error"].into_iter().find(|own| *own == name)?;
        let (low, high) = (number("low")?, number("high")?);
        Some(Self { name, average: number("average")?, low, high, cut: number("cut") })
    }

    /// The interval as one sentence.
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

/// Number of saved values per interval.
const N: usize = LossInterval::NUMBERS;

/// A fraction as a percentage with one decimal.
fn percent(share: f64) -> String {
    format!("{:.1}", 100.0 * share)
}

/// The intervals of a run.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct Intervals {
    error: LossInterval,
    /// Losses divided by the largest possible loss.
    loss: LossInterval,
    largest: f64,
    open: bool,
    /// Where the error of classes changed.
    pub(super) changes: Option<Changes>,
}

impl Intervals {
    /// The intervals of a task, for regression with numbers in this range. `None` if no loss has a known range.
    pub(super) fn new(task: Task, range: Option<(f64, f64)>) -> Option<Self> {
        let largest = match (task, range) {
            (Task::Binary | Task::Multiclass, _) => CUT,
            (Task::Regression, Some((lo, hi))) if hi > lo => (hi - lo) * (hi - lo),
            (Task::Regression, _) => return None,
        };
        let (error, loss) = (LossInterval::default(), LossInterval::default());
        let changes = (task != Task::Regression).then(Changes::default);
        Some(Self { error, loss, largest, open: largest.is_finite(), changes })
    }

    /// Adds an example. Returns `false` if intervals are no longer possible.
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
            let error = 1.0 - seen.score(task);
            self.error.see(error);
            self.changes.iter_mut().for_each(|changes| changes.see(error));
            // A log loss that is not −ln of a probability makes the interval unknown.
            self.loss.see(seen.log_loss / self.largest);
        }
        true
    }

    /// Stops updating, because all rows that follow have been learned before.
    pub(super) fn close(&mut self) {
        self.open = false;
    }

    /// The intervals that are known.
    pub(super) fn all(&self, task: Task) -> Vec<Interval> {
        let (classes, name) = match task {
            Task::Regression => (None, "squared_error"),
            _ => (Some(("error", &self.error, 1.0)), "log_loss"),
        };
        let loss = (name, &self.loss, self.largest);
        let all = classes.into_iter().chain([loss]);
        all.filter_map(|(name, interval, size)| {
            // A NaN average comes from losses that are not log losses.
            let (low, high) = interval.bounds(ALPHA).ok()?;
            let average = size * interval.average();
            let cut = (name == "log_loss").then_some(size);
            let (low, high) = (size * low, size * high);
            average.is_finite().then_some(Interval { name, average, low, high, cut })
        })
        .collect()
    }

    /// Appends all state to `arrays` under this name.
    pub(super) fn save(&self, name: &str, arrays: &mut Arrays) {
        // Model files cannot hold NaN, so it is written as −1.
        let finite = |x: f64| if x.is_finite() { x } else { -1.0 };
        let both = self.error.save().into_iter().chain(self.loss.save());
        arrays.push((format!("{name}.intervals"), both.map(finite).collect()));
        self.changes.iter().for_each(|changes| changes.save(name, arrays));
    }

    /// Restores the state written by `save`; `None` if the file has no intervals.
    pub(super) fn load(
        self,
        name: &str,
        arrays: &[(String, Vec<f64>)],
    ) -> Result<Option<Self>, ModelError> {
        let changes = Changes::load(name, arrays)?;
        let name = format!("{name}.intervals");
        if !arrays.iter().any(|(own, _)| *own == name) {
            return Ok(None);
        }
        let numbers = model::array(arrays, &name, Some(2 * N))?;
        let read = |from: usize| {
            let saved: [f64; N] = std::array::from_fn(|i| numbers[from + i]);
            // The second number is a sum of losses in [0, 1]; if it is negative, it encodes NaN.
            let unknown = saved[1] < 0.0;
            LossInterval::load(saved.map(|x| if unknown && x < 0.0 { f64::NAN } else { x }))
        };
        Ok(Some(Self { error: read(0), loss: read(N), changes, ..self }))
    }
}
