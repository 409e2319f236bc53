//! # Progressive metrics
//! Every example is predicted before it is learned from. The sums here are part of the model file, so that a resumed run reports what
//! one run would have.
//!
//! **AUC** is computed from two histograms of the probability (4096 equal bins): exact up to ties within a bin, in constant memory.

use geowalk::Real;
use geowalk::sum::Sum;

/// What is being learned.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Task {
    /// A number.
    Regression,
    /// One of two classes, coded ±1.
    Binary,
    /// One of several classes.
    Multiclass,
}

impl Task {
    /// Its name on the command line and in files.
    pub fn name(self) -> &'static str {
        match self {
            Self::Regression => "regression",
            Self::Binary => "binary",
            Self::Multiclass => "multiclass",
        }
    }

    /// The task of that name.
    pub fn named(name: &str) -> Option<Self> {
        [Self::Regression, Self::Binary, Self::Multiclass].into_iter().find(|t| t.name() == name)
    }
}

const BINS: usize = 4096;

/// Sums of a run.
#[derive(Debug, Clone)]
pub struct Metrics {
    task: Task,
    examples: u64,
    weight: f64,
    loss: Sum,
    last_loss: Sum,
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
                let p = if seen.y > 0.0 { seen.probability } else { 1.0 - seen.probability };
                self.log_loss.add(-seen.weight * Real::ln(p.max(f64::MIN_POSITIVE)));
                #[allow(clippy::cast_possible_truncation, clippy::cast_sign_loss)] // in 0..BINS
                let bin = ((seen.probability * BINS as f64) as usize).min(BINS - 1);
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
            Task::Regression => vec![("rmse", mean(&self.squares).sqrt()), ("mae", mean(&self.absolutes))],
            Task::Binary => vec![
                ("accuracy", self.right / self.weight),
                ("log_loss", mean(&self.log_loss)),
                ("auc", self.auc()),
            ],
            Task::Multiclass => {
                vec![("accuracy", self.right / self.weight), ("log_loss", mean(&self.log_loss))]
            }
        }
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
