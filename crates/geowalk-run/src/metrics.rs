//! # Progressive metrics
//! Every example is predicted before it is learned. The sums are part of the model file, so a resumed run reports the
//! same metrics as an uninterrupted one.
//!
//! **AUC** is computed from two histograms of the score, in constant memory. It is exact except for ties within a bin.
//! Scores between −7 and 7 fall into 6144 bins, each 1/1024 of an octave of 1 + |z|. Outside, a bin is a sixteenth of
//! an octave. The exponent of a float gives its octave, so no logarithm is computed.

mod changes;
mod interval;
mod window;

use geowalk::Real;
use geowalk::sum::Sum;
use geowalk_data::Task;

use crate::model::{self, Arrays, ModelError};

pub use changes::Change;
use interval::Intervals;
pub use interval::{ALPHA, CUT, Interval};
pub use window::Window;

/// Number of octaves of 1 + |z| with fine bins: |z| < 7.
const FINE_OCTAVES: usize = 3;

/// A fine bin is 2⁻¹⁰ of an octave, a coarse one 2⁻⁴.
const FINE: u32 = 10;
const COARSE: u32 = 4;

/// Number of bins per sign: the fine ones, then coarse ones for 61 more octaves.
const SIDE: usize = (FINE_OCTAVES << FINE) + (61 << COARSE);

const BINS: usize = 2 * SIDE;

/// The bin of a score. Bins are ordered like scores, which is all that AUC needs. The underlying function is piecewise
/// linear in z; its pieces are octaves of 1 + |z|.
#[inline]
#[allow(clippy::cast_possible_truncation)] // below 2^22
fn bin(z: f64) -> usize {
    const ONE: u64 = 1.0_f64.to_bits();
    const COARSE_FROM: u64 = ONE + ((FINE_OCTAVES as u64) << 52);
    let bits = (1.0 + z.abs()).to_bits();
    let above = if bits < COARSE_FROM {
        ((bits - ONE) >> (52 - FINE)) as usize
    } else {
        let beyond = ((bits - COARSE_FROM) >> (52 - COARSE)) as usize;
        ((FINE_OCTAVES << FINE) + beyond).min(SIDE - 1)
    };
    if z < 0.0 { SIDE - 1 - above } else { SIDE + above }
}

/// Sums of the metrics of a run.
///
/// ```
/// use geowalk_data::Task;
/// use geowalk_run::metrics::{Metrics, Seen};
/// let mut metrics = Metrics::new(Task::Regression);
/// metrics.see(&Seen { y: 1.0, prediction: 3.0, log_loss: f64::NAN, loss: 4.0, zero: 1.0, weight: 1.0 });
/// let again = Metrics::new(Task::Regression).load("metrics", &metrics.save("metrics"))?;
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
    /// Weights of the positives by score bin, then of the negatives.
    bins: Vec<f64>,
    intervals: Option<Intervals>,
}

/// One predicted example, the input of the metrics.
#[derive(Debug, Clone, Copy)]
pub struct Seen {
    /// The label: a number, ±1, or a class.
    pub y: f64,
    /// The prediction: a number, a score, or a class.
    pub prediction: f64,
    /// Weighted −ln of the probability of the true class; NaN if the loss has no probabilities. See [`log_loss`].
    pub log_loss: f64,
    /// Weighted loss.
    pub loss: f64,
    /// Weighted loss of predicting 0.
    pub zero: f64,
    /// Importance weight.
    pub weight: f64,
}

impl Seen {
    /// For classes, the weight if the prediction is right, else 0. For regression, the weighted squared error.
    pub(crate) fn score(&self, task: Task) -> f64 {
        let right = match task {
            Task::Regression => {
                let error = self.prediction - self.y;
                return self.weight * error * error;
            }
            Task::Binary => (self.prediction >= 0.0) == (self.y > 0.0),
            Task::Multiclass => self.prediction == self.y,
        };
        if right { self.weight } else { 0.0 }
    }
}

/// −ln p times the weight; finite also for p = 0.
pub fn log_loss(probability: f64, weight: f64) -> f64 {
    -weight * Real::ln(Real::max(probability, f64::MIN_POSITIVE))
}

impl Metrics {
    /// Metrics without examples.
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
            intervals: None,
        }
    }

    /// Metrics for a run that predicts each row before it is learned. If the losses have a known range, the metrics
    /// include intervals; for regression, `range` is the range of the numbers.
    pub fn progressive(task: Task, range: Option<(f64, f64)>) -> Self {
        Self { intervals: Intervals::new(task, range), ..Self::new(task) }
    }

    /// Stops updating the intervals, because all rows that follow have been learned before.
    pub fn close_intervals(&mut self) {
        self.intervals.iter_mut().for_each(Intervals::close);
    }

    /// Returns `fresh`, without its intervals if `self` has none.
    pub(crate) fn again(&self, mut fresh: Self) -> Self {
        fresh.intervals.take_if(|_| self.intervals.is_none());
        if self.intervals.as_ref().is_some_and(|own| own.changes.is_none()) {
            fresh.forget_changes();
        }
        fresh
    }

    /// Removes the intervals for the rest of the run.
    pub(crate) fn forget_intervals(&mut self) {
        self.intervals = None;
    }

    /// Without looking for changes from now on.
    pub(crate) fn forget_changes(&mut self) {
        self.intervals.iter_mut().for_each(|intervals| intervals.changes = None);
    }

    /// Where the error of classes changed.
    pub fn changes(&self) -> &[Change] {
        let changes = self.intervals.as_ref().and_then(|own| own.changes.as_ref());
        changes.map_or(&[], |changes| changes.found())
    }

    /// Averages with intervals for their expectations. The intervals hold at every row simultaneously.
    pub fn intervals(&self) -> Vec<Interval> {
        self.intervals.as_ref().map(|all| all.all(self.task)).unwrap_or_default()
    }

    /// Adds one example.
    #[inline]
    pub fn see(&mut self, seen: &Seen) {
        if let Some(intervals) = &mut self.intervals
            && !intervals.see(seen, self.task)
        {
            self.intervals = None;
        }
        self.examples += 1;
        self.weight += seen.weight;
        self.last_weight += seen.weight;
        self.loss.add(seen.loss);
        self.last_loss.add(seen.loss);
        self.zero.add(seen.zero);
        match self.task {
            Task::Regression => {
                let error = seen.prediction - seen.y;
                self.squares.add(seen.score(self.task));
                self.absolutes.add(seen.weight * error.abs());
            }
            Task::Binary => {
                self.right += seen.score(self.task);
                if !seen.log_loss.is_nan() {
                    self.log_loss.add(seen.log_loss);
                }
                let side = if seen.y > 0.0 { 0 } else { BINS };
                self.bins[side + bin(seen.prediction)] += seen.weight;
            }
            Task::Multiclass => {
                self.right += seen.score(self.task);
                self.log_loss.add(seen.log_loss);
            }
        }
    }

    /// Number of examples.
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

    /// Average loss of always predicting 0.
    pub fn zero(&self) -> f64 {
        self.zero.total() / self.weight
    }

    /// Average loss since the last [`mark`](Metrics::mark).
    pub fn since_last(&self) -> f64 {
        self.last_loss.total() / self.last_weight
    }

    /// Restarts [`since_last`](Metrics::since_last).
    pub fn mark(&mut self) {
        self.last_loss = Sum::default();
        self.last_weight = 0.0;
    }

    /// The metrics of the task, by name.
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

    /// All state for the model file: an array named `name` and, for a binary task, another named `name` plus `.bins`.
    pub fn save(&self, name: &str) -> Arrays {
        let counts = [self.examples as f64, self.weight, self.last_weight, self.right];
        let sums =
            [self.loss, self.last_loss, self.log_loss, self.squares, self.absolutes, self.zero];
        let numbers = counts.into_iter().chain(sums.iter().flat_map(Sum::save)).collect();
        let mut arrays = vec![(name.to_owned(), numbers)];
        if self.task == Task::Binary {
            arrays.push((format!("{name}.bins"), self.bins.clone()));
        }
        self.intervals.iter().for_each(|intervals| intervals.save(name, &mut arrays));
        arrays
    }

    /// Restores the state written by [`save`](Metrics::save), bit for bit. Other arrays are ignored. Intervals are
    /// restored if the arrays contain them.
    #[expect(
        clippy::cast_possible_truncation,
        clippy::cast_sign_loss,
        reason = "a count below 2^53"
    )]
    pub fn load(self, name: &str, arrays: &[(String, Vec<f64>)]) -> Result<Self, ModelError> {
        let task = self.task;
        let numbers = model::array(arrays, name, Some(4 + 6 * 4))?;
        let sum = |k: usize| Sum::load(std::array::from_fn(|i| numbers[4 + 4 * k + i]));
        let bins = match task {
            Task::Binary => model::array(arrays, &format!("{name}.bins"), Some(2 * BINS))?.to_vec(),
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
            intervals: match self.intervals {
                Some(intervals) => intervals.load(name, arrays)?,
                None => None,
            },
        })
    }

    /// The probability that a random positive is ranked above a random negative; ties count half.
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
    use crate::link::sigmoid;

    /// Pseudo-random examples of all sizes and weights.
    fn examples(task: Task) -> Vec<Seen> {
        let example = |k: u32| {
            let (x, noise) = (Real::sin(f64::from(k)), Real::sin(f64::from(k * k % 997)));
            let y = if task == Task::Multiclass { f64::from(k % 3) } else { (x + noise).signum() };
            let size = [0.1, 1.0, 20.0, 1e3][(k % 4) as usize];
            let prediction = if task == Task::Multiclass { f64::from(k * k % 3) } else { size * x };
            let p = sigmoid(if task == Task::Binary { y * prediction } else { x });
            let weight = 0.3 + f64::from(k % 5);
            let log_loss = log_loss(p, weight);
            Seen { y, prediction, log_loss, loss: weight * x * x, zero: weight, weight }
        };
        (0..500).map(example).collect()
    }

    fn fresh(task: Task) -> Metrics {
        Metrics::progressive(task, Some((-2.0, 2.0)))
    }

    #[test]
    fn intervals_surround_averages_of_unweighted_rows() {
        for task in [Task::Regression, Task::Binary, Task::Multiclass] {
            let mut metrics = fresh(task);
            let mut plain = Metrics::new(task);
            for (k, seen) in examples(task).iter().enumerate() {
                let log_loss = seen.log_loss / seen.weight;
                let seen = Seen { weight: 1.0, log_loss, ..*seen };
                metrics.see(&seen);
                plain.see(&seen);
                if k % 7 == 0 {
                    metrics = fresh(task).load("m", &metrics.save("m")).unwrap();
                }
            }
            assert!(plain.intervals().is_empty());
            let all = metrics.intervals();
            assert_eq!(all.len(), if task == Task::Regression { 1 } else { 2 });
            for interval in &all {
                assert!(interval.low < interval.average && interval.average < interval.high);
                assert_eq!(Interval::read(&interval.json()).as_ref(), Some(interval));
            }
            if task != Task::Regression {
                let accuracy = metrics.named()[0].1;
                assert!((all[0].average - (1.0 - accuracy)).abs() < 1e-12);
            }
            // Rows learned before do not change the intervals.
            let before = metrics.intervals();
            metrics.close_intervals();
            examples(task).iter().for_each(|seen| metrics.see(seen));
            assert_eq!(metrics.intervals(), before);
            // Weighted rows have no intervals.
            let mut weighted = fresh(task);
            examples(task).iter().for_each(|seen| weighted.see(seen));
            assert!(weighted.intervals().is_empty());
        }
    }

    #[test]
    fn saved_metrics_continue_bit_for_bit() {
        for task in [Task::Regression, Task::Binary, Task::Multiclass] {
            let (mut whole, mut cut) = (fresh(task), fresh(task));
            for (k, seen) in examples(task).iter().enumerate() {
                if k % 7 == 0 {
                    cut = fresh(task).load("m", &cut.save("m")).unwrap();
                }
                if k % 50 == 0 {
                    assert_eq!(whole.since_last().to_bits(), cut.since_last().to_bits());
                    whole.mark();
                    cut.mark();
                }
                whole.see(seen);
                cut.see(seen);
            }
            assert_eq!(cut, whole);
            assert!(whole.named().iter().all(|(_, value)| value.is_finite()));
        }
    }

    /// Each metric by its definition, from all examples.
    fn direct(task: Task, all: &[Seen], name: &str) -> f64 {
        let weight: f64 = all.iter().map(|seen| seen.weight).sum();
        let mean = |f: &dyn Fn(&Seen) -> f64| {
            all.iter().map(|seen| seen.weight * f(seen)).sum::<f64>() / weight
        };
        let sign = |x: f64| if x >= 0.0 { 1.0 } else { -1.0 };
        match (name, task) {
            ("rmse", _) => {
                mean(&|seen| (seen.y - seen.prediction) * (seen.y - seen.prediction)).sqrt()
            }
            ("mae", _) => mean(&|seen| (seen.y - seen.prediction).abs()),
            ("accuracy", Task::Binary) => {
                mean(&|seen| f64::from(u8::from(sign(seen.prediction) == seen.y)))
            }
            ("accuracy", _) => mean(&|seen| f64::from(u8::from(seen.prediction == seen.y))),
            ("log_loss", Task::Binary) => mean(&|seen| {
                let p = sigmoid(seen.y * seen.prediction);
                -Real::ln(p.max(f64::MIN_POSITIVE))
            }),
            ("log_loss", _) => all.iter().map(|seen| seen.log_loss).sum::<f64>() / weight,
            _ => {
                let (mut above, mut pairs) = (0.0, 0.0);
                for positive in all.iter().filter(|seen| seen.y > 0.0) {
                    for negative in all.iter().filter(|seen| seen.y < 0.0) {
                        let weight = positive.weight * negative.weight;
                        let order = positive.prediction.total_cmp(&negative.prediction) as i8;
                        above += weight * f64::midpoint(1.0, f64::from(order));
                        pairs += weight;
                    }
                }
                above / pairs
            }
        }
    }

    #[test]
    fn metrics_are_what_their_definitions_say() {
        for task in [Task::Regression, Task::Binary, Task::Multiclass] {
            let all = examples(task);
            let (mut metrics, mut window) = (Metrics::new(task), Window::new(task, 60));
            for seen in &all {
                metrics.see(seen);
                window.see(seen);
            }
            for (name, value) in metrics.named() {
                // 1 − p has few digits if p is near 1; scores in one bin count as ties.
                let tolerance = if name == "auc" { 2e-3 } else { 1e-9 };
                let direct = direct(task, &all, name);
                assert!(
                    (value - direct).abs() < tolerance * (1.0 + direct),
                    "{name}: {value} {direct}"
                );
            }
            let last = &all[all.len() - 60..];
            assert_eq!(window.examples(), 60);
            for (name, value) in window.named() {
                let weight: f64 = last.iter().map(|seen| seen.weight).sum();
                let loss = last.iter().map(|seen| seen.loss).sum::<f64>() / weight;
                let direct = if name == "loss" { loss } else { direct(task, last, name) };
                assert!(
                    (value - direct).abs() < 1e-12 * (1.0 + direct),
                    "{name}: {value} {direct}"
                );
            }
        }
    }

    #[test]
    fn scores_of_all_sizes_keep_their_order() {
        let scores: Vec<f64> = (-300..300).map(|k| Real::sinh(f64::from(k) / 10.0)).collect();
        let bins: Vec<usize> = scores.iter().map(|&z| bin(z)).collect();
        assert!(bins.is_sorted());
        let distinct = bins.windows(2).filter(|pair| pair[0] < pair[1]).count();
        assert!(distinct > 550, "only {distinct} of 600");
        assert_eq!((bin(f64::MAX), bin(f64::MIN)), (BINS - 1, 0));
    }

    #[test]
    fn arrays_that_do_not_fit_are_refused() {
        let saved = Metrics::new(Task::Regression).save("metrics");
        let error = Metrics::new(Task::Binary).load("metrics", &saved).unwrap_err();
        assert!(matches!(error, ModelError::Missing { what } if what == "metrics.bins"));
        let one = [("metrics".into(), vec![1.0])];
        let error = Metrics::new(Task::Binary).load("metrics", &one).unwrap_err();
        assert!(matches!(error, ModelError::Length { found: 1, expected: 28, .. }));
    }
}
