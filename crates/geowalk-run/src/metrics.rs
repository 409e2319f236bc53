//! # Progressive metrics
//! Every example is predicted before it is learned from. The sums here are part of the model file, so that a resumed run reports what
//! one run would have.
//!
//! **AUC** is computed from two histograms of the score (4096 bins, equal in 1/(1 + e⁻ᶻ)): exact up to ties within a bin, in constant memory.

use geowalk::Real;
use geowalk::sum::Sum;
use geowalk_data::Task;

use crate::link::sigmoid;

use crate::model::{self, Arrays, ModelError};

const BINS: usize = 4096;

/// Sums of a run.
///
/// ```
/// use geowalk_data::Task;
/// use geowalk_run::metrics::{Metrics, Seen};
/// let mut metrics = Metrics::new(Task::Regression);
/// metrics.see(&Seen { y: 1.0, prediction: 3.0, probability: f64::NAN, loss: 4.0, zero: 1.0, weight: 1.0 });
/// let again = Metrics::load(Task::Regression, &metrics.save())?;
/// assert_eq!(again.named(), [("rmse", 2.0), ("mae", 2.0)]);
/// # Ok::<(), geowalk_run::model::ModelError>(())
/// ```
#[derive(Debug, Clone, PartialEq)]
pub struct Metrics {
    task: Task,
    examples: u64,
    weight: f64,
    loss: Sum,
    last_loss: Sum,
    zero: Sum,
    last_weight: f64,
    right: f64,
    log_loss: Sum,
    squares: Sum,
    absolutes: Sum,
    /// Positives and negatives by probability, one after the other.
    bins: Vec<f64>,
}

/// One example, as the metrics see it.
#[derive(Debug, Clone, Copy)]
pub struct Seen {
    /// The label: a number, ±1, or a class.
    pub y: f64,
    /// The prediction: a number, a score, or a class.
    pub prediction: f64,
    /// Probability of the positive class (binary) or of the true one (multiclass); NaN if there is none.
    pub probability: f64,
    /// Weighted loss.
    pub loss: f64,
    /// Weighted loss of predicting 0.
    pub zero: f64,
    /// Importance weight.
    pub weight: f64,
}

impl Metrics {
    /// Nothing seen.
    pub fn new(task: Task) -> Self {
        Self {
            task,
            examples: 0,
            weight: 0.0,
            loss: Sum::default(),
            last_loss: Sum::default(),
            zero: Sum::default(),
            last_weight: 0.0,
            right: 0.0,
            log_loss: Sum::default(),
            squares: Sum::default(),
            absolutes: Sum::default(),
            bins: if task == Task::Binary { vec![0.0; 2 * BINS] } else { Vec::new() },
        }
    }

    /// Sees one example.
    #[inline]
    pub fn see(&mut self, seen: &Seen) {
        self.examples += 1;
        self.weight += seen.weight;
        self.last_weight += seen.weight;
        self.loss.add(seen.loss);
        self.last_loss.add(seen.loss);
        self.zero.add(seen.zero);
        match self.task {
            Task::Regression => {
                let error = seen.prediction - seen.y;
                self.squares.add(seen.weight * error * error);
                self.absolutes.add(seen.weight * error.abs());
            }
            Task::Binary => {
                if (seen.prediction >= 0.0) == (seen.y > 0.0) {
                    self.right += seen.weight;
                }
                if !seen.probability.is_nan() {
                    let p = if seen.y > 0.0 { seen.probability } else { 1.0 - seen.probability };
                    self.log_loss.add(-seen.weight * Real::ln(p.max(f64::MIN_POSITIVE)));
                }
                // Any increasing function of the score ranks alike.
                let rank = sigmoid(seen.prediction) * BINS as f64;
                #[allow(clippy::cast_possible_truncation, clippy::cast_sign_loss)] // in 0..BINS
                let bin = (rank as usize).min(BINS - 1);
                let side = if seen.y > 0.0 { 0 } else { BINS };
                self.bins[side + bin] += seen.weight;
            }
            Task::Multiclass => {
                if seen.prediction == seen.y {
                    self.right += seen.weight;
                }
                self.log_loss.add(-seen.weight * Real::ln(seen.probability.max(f64::MIN_POSITIVE)));
            }
        }
    }

    /// Examples seen.
    pub fn examples(&self) -> u64 {
        self.examples
    }

    /// Sum of the weights.
    pub fn weight(&self) -> f64 {
        self.weight
    }

    /// Average loss per unit of weight.
    pub fn loss(&self) -> f64 {
        self.loss.total() / self.weight
    }

    /// Average loss that predicting 0 would have had.
    pub fn zero(&self) -> f64 {
        self.zero.total() / self.weight
    }

    /// Average loss since the last call; forgets it.
    pub fn since_last(&mut self) -> f64 {
        let loss = self.last_loss.total() / self.last_weight;
        self.last_loss = Sum::default();
        self.last_weight = 0.0;
        loss
    }

    /// The metrics that the task asks for, by name.
    pub fn named(&self) -> Vec<(&'static str, f64)> {
        let mean = |sum: &Sum| sum.total() / self.weight;
        match self.task {
            Task::Regression => {
                vec![("rmse", mean(&self.squares).sqrt()), ("mae", mean(&self.absolutes))]
            }
            Task::Binary => {
                let mut all = vec![("accuracy", self.right / self.weight), ("auc", self.auc())];
                if self.log_loss.count() > 0 {
                    all.push(("log_loss", mean(&self.log_loss)));
                }
                all
            }
            Task::Multiclass => {
                vec![("accuracy", self.right / self.weight), ("log_loss", mean(&self.log_loss))]
            }
        }
    }

    /// All that they hold, for the model file: `metrics`, and of a binary task `metrics.bins`.
    pub fn save(&self) -> Arrays {
        let counts = [self.examples as f64, self.weight, self.last_weight, self.right];
        let sums =
            [self.loss, self.last_loss, self.log_loss, self.squares, self.absolutes, self.zero];
        let numbers = counts.into_iter().chain(sums.iter().flat_map(Sum::save)).collect();
        let mut arrays = vec![("metrics".to_owned(), numbers)];
        if self.task == Task::Binary {
            arrays.push(("metrics.bins".to_owned(), self.bins.clone()));
        }
        arrays
    }

    /// Continues, bit for bit, from what [`save`](Metrics::save) gave; other arrays are passed over.
    #[expect(
        clippy::cast_possible_truncation,
        clippy::cast_sign_loss,
        reason = "a count below 2^53"
    )]
    pub fn load(task: Task, arrays: &[(String, Vec<f64>)]) -> Result<Self, ModelError> {
        let numbers = model::array(arrays, "metrics", Some(4 + 6 * 4))?;
        let sum = |k: usize| Sum::load(std::array::from_fn(|i| numbers[4 + 4 * k + i]));
        let bins = match task {
            Task::Binary => model::array(arrays, "metrics.bins", Some(2 * BINS))?.to_vec(),
            Task::Regression | Task::Multiclass => Vec::new(),
        };
        Ok(Self {
            task,
            examples: numbers[0] as u64,
            weight: numbers[1],
            last_weight: numbers[2],
            right: numbers[3],
            loss: sum(0),
            last_loss: sum(1),
            log_loss: sum(2),
            squares: sum(3),
            absolutes: sum(4),
            zero: sum(5),
            bins,
        })
    }

    /// The probability that a random positive is ranked above a random negative, ties counting half.
    fn auc(&self) -> f64 {
        let (positives, negatives) = self.bins.split_at(BINS);
        let (mut below, mut area) = (0.0, 0.0);
        for (p, n) in positives.iter().zip(negatives) {
            area += p * (below + n / 2.0);
            below += n;
        }
        area / (below * positives.iter().sum::<f64>())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn saved_metrics_continue_bit_for_bit() {
        for task in [Task::Regression, Task::Binary, Task::Multiclass] {
            let (mut whole, mut cut) = (Metrics::new(task), Metrics::new(task));
            for k in 0..500_u32 {
                let x = Real::sin(f64::from(k));
                let y = if task == Task::Multiclass { f64::from(k % 3) } else { x.signum() };
                let probability = 1.0 / (1.0 + Real::exp(-x));
                let seen = Seen {
                    y,
                    prediction: x,
                    probability,
                    loss: x * x,
                    zero: 1.0,
                    weight: 0.3 + x.abs(),
                };
                if k % 7 == 0 {
                    cut = Metrics::load(task, &cut.save()).unwrap();
                }
                if k % 50 == 0 {
                    assert_eq!(whole.since_last().to_bits(), cut.since_last().to_bits());
                }
                whole.see(&seen);
                cut.see(&seen);
            }
            assert_eq!(cut, whole);
            assert!(whole.named().iter().all(|(_, value)| value.is_finite()));
        }
    }

    #[test]
    fn arrays_that_do_not_fit_are_refused() {
        let saved = Metrics::new(Task::Regression).save();
        let error = Metrics::load(Task::Binary, &saved).unwrap_err();
        assert!(matches!(error, ModelError::Missing { what } if what == "metrics.bins"));
        let error = Metrics::load(Task::Binary, &[("metrics".into(), vec![1.0])]).unwrap_err();
        assert!(matches!(error, ModelError::Length { found: 1, expected: 28, .. }));
    }
}
