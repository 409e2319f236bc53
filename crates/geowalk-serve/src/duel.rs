//! # Comparison of a model with its shadow
//! Both models predict every row before they learn it. The average difference of their losses has an interval that
//! holds at every row simultaneously, so it may be inspected at any time. Compared are the classification error, the
//! log loss with probabilities cut at 1 %, and the squared error of numbers with a range declared by `y_range`.

use geowalk::certify::LossInterval;
use geowalk_data::Task;
use geowalk_run::compare::row_losses;
use geowalk_run::metrics::{ALPHA, CUT, Seen};
use serde_json::{Value, json};

/// One kind of loss, model minus shadow.
#[derive(Debug, Clone, Default, PartialEq)]
struct Measure {
    /// The interval of (1 + model − shadow)/2, with both losses in [0, 1].
    difference: LossInterval,
    /// The total losses of model and shadow; each row adds at most 1.
    totals: [f64; 2],
}

/// The losses of a model and its shadow on the same rows.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Duel {
    measures: [Measure; 2],
    /// Why there is no interval, if there is none.
    void: Option<String>,
}

/// The measured rows of a run, with the task and the range of numeric labels.
#[derive(Debug, Clone, Default)]
pub struct Rows {
    /// Task and range; `None` before the first row was learned.
    pub kind: Option<(Task, Option<(f64, f64)>)>,
    /// The measurements of each row before it was learned.
    pub seen: Vec<Seen>,
}

impl Duel {
    /// A comparison without intervals, for this reason.
    pub fn void(reason: &str) -> Self {
        Self { void: Some(reason.to_owned()), ..Self::default() }
    }

    /// Adds rows that both have predicted and then learned.
    pub fn see(&mut self, model: &Rows, shadow: &Rows) {
        if self.void.is_some() {
            return;
        }
        let (Some((task, range)), Some((other, _))) = (model.kind, shadow.kind) else { return };
        if task != other || model.seen.len() != shadow.seen.len() {
            self.void = Some("model and shadow do not predict the same".to_owned());
            return;
        }
        if task == Task::Regression && range.is_none() {
            let reason = "the range of the labels is not known: create the model with y_range";
            self.void = Some(reason.to_owned());
            return;
        }
        for (k, (a, b)) in model.seen.iter().zip(&shadow.seen).enumerate() {
            let losses =
                row_losses(k, a, task, range).and_then(|a| Ok([a, row_losses(k, b, task, range)?]));
            match losses {
                Ok([a, b]) => {
                    for (measure, (a, b)) in self.measures.iter_mut().zip(a.into_iter().zip(b)) {
                        measure.difference.see(f64::midpoint(1.0, a - b));
                        measure.totals = [measure.totals[0] + a, measure.totals[1] + b];
                    }
                }
                Err(error) => {
                    self.void = Some(error.to_string());
                    return;
                }
            }
        }
    }

    /// For every measure of the task: the average losses, and their difference, model minus shadow.
    pub fn json(&self, task: Option<Task>, range: Option<(f64, f64)>) -> Value {
        if let Some(reason) = &self.void {
            return json!({ "reason": reason, "measures": [] });
        }
        let names = match task {
            Some(Task::Regression) => ["squared_error", ""],
            _ => ["error", "log_loss"],
        };
        let largest = [range.map_or(1.0, |(low, high)| (high - low) * (high - low)), CUT];
        let measures: Vec<Value> = self
            .measures
            .iter()
            .zip(names.into_iter().zip(largest))
            .filter(|(measure, (name, _))| {
                !name.is_empty() && measure.totals.iter().all(|total| total.is_finite())
            })
            .filter_map(|(measure, (name, largest))| {
                let rows = measure.difference.rows();
                let (low, high) = measure.difference.bounds(ALPHA).ok().filter(|_| rows > 0)?;
                let [low, high] = [low, high].map(|end| largest * (2.0 * end - 1.0));
                let [model, shadow] = measure.totals.map(|total| largest * total / rows as f64);
                let better = match (low > 0.0, high < 0.0) {
                    (true, _) => Some("shadow"),
                    (_, true) => Some("model"),
                    _ => None,
                };
                Some(json!({
                    "name": name, "rows": rows, "model": model, "shadow": shadow,
                    "difference": model - shadow, "low": low, "high": high,
                    "confidence": 1.0 - ALPHA, "better": better,
                }))
            })
            .collect();
        json!({ "reason": null, "measures": measures })
    }

    /// The state, for a snapshot.
    pub fn save(&self) -> Value {
        let numbers = |measure: &Measure| {
            let bits = measure.difference.save().into_iter().chain(measure.totals);
            // Stored as bit patterns, because JSON has no NaN.
            bits.map(|x| x.to_bits().to_string()).collect::<Vec<_>>()
        };
        json!({ "void": self.void, "measures": self.measures.each_ref().map(numbers) })
    }

    /// Restores the state written by [`save`](Self::save); `None` if the value is invalid.
    pub fn load(value: &Value) -> Option<Self> {
        let void = value["void"].as_str().map(str::to_owned);
        let mut duel = Self { void, ..Self::default() };
        for (k, measure) in duel.measures.iter_mut().enumerate() {
            let bits = value["measures"][k].as_array()?.iter();
            let numbers: Option<Vec<f64>> =
                bits.map(|x| Some(f64::from_bits(x.as_str()?.parse().ok()?))).collect();
            let (numbers, totals) =
                numbers?.split_last_chunk::<2>().map(|(n, t)| (n.to_vec(), *t))?;
            *measure = Measure { difference: LossInterval::load(numbers.try_into().ok()?), totals };
        }
        Some(duel)
    }
}
