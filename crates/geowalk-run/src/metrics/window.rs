//! # Metrics of the latest examples
//! Average loss, and accuracy or root mean squared error, of the last n examples. They show the present performance,
//! not the average since the beginning.
//!
//! **Cost** O(1) per example, O(n) per query. Each query sums the examples in order, so errors do not accumulate and a
//! resumed run gives the same bits.

use geowalk::sum::Sum;
use geowalk_data::Task;

use super::Seen;
use crate::model::{Arrays, ModelError};

/// For each of the last examples: loss, weight, and score. The score is the weight if the prediction is right, or the
/// weighted squared error.
///
/// ```
/// use geowalk_data::Task;
/// use geowalk_run::metrics::{Seen, Window};
/// let mut window = Window::new(Task::Regression, 2);
/// for (prediction, loss) in [(9.0, 64.0), (3.0, 4.0), (2.0, 1.0)] {
///     window.see(&Seen { y: 1.0, prediction, log_loss: f64::NAN, loss, zero: 1.0, weight: 1.0 });
/// }
/// assert_eq!(window.named(), [("loss", 2.5), ("rmse", f64::sqrt(2.5))]);
/// ```
#[derive(Debug, Clone)]
pub struct Window {
    task: Task,
    size: usize,
    /// Index of the oldest example once the window is full.
    oldest: usize,
    items: Vec<[f64; 3]>,
}

impl Window {
    /// The largest size of a window.
    pub const LARGEST: usize = 1 << 24;

    /// A window of the last `size` examples.
    pub fn new(task: Task, size: usize) -> Self {
        Self { task, size: size.clamp(1, Self::LARGEST), oldest: 0, items: Vec::new() }
    }

    /// Adds one example and drops the oldest if the window is full.
    pub fn see(&mut self, seen: &Seen) {
        let item = [seen.loss, seen.weight, seen.score(self.task)];
        if self.items.len() < self.size {
            self.items.push(item);
        } else if let Some(oldest) = self.items.get_mut(self.oldest) {
            *oldest = item;
            self.oldest = (self.oldest + 1) % self.size;
        }
    }

    /// Number of examples in the window.
    pub fn examples(&self) -> usize {
        self.items.len()
    }

    /// The examples, oldest first.
    fn in_order(&self) -> impl Iterator<Item = &[f64; 3]> {
        let (end, start) = self.items.split_at(self.oldest);
        start.iter().chain(end)
    }

    /// The sums of loss, weight and score.
    fn totals(&self) -> [f64; 3] {
        let mut sums = [Sum::default(); 3];
        for item in self.in_order() {
            sums.iter_mut().zip(item).for_each(|(sum, &value)| sum.add(value));
        }
        sums.map(|sum| sum.total())
    }

    /// Average loss.
    pub fn loss(&self) -> f64 {
        let [loss, weight, _] = self.totals();
        loss / weight
    }

    /// The metrics of the window, by name.
    pub fn named(&self) -> Vec<(&'static str, f64)> {
        let [loss, weight, score] = self.totals();
        let score = match self.task {
            Task::Regression => ("rmse", (score / weight).sqrt()),
            Task::Binary | Task::Multiclass => ("accuracy", score / weight),
        };
        vec![("loss", loss / weight), score]
    }

    /// All state, for the model file.
    pub fn save(&self) -> Arrays {
        vec![("window".to_owned(), self.in_order().flatten().copied().collect())]
    }

    /// Restores the state written by [`save`](Window::save), bit for bit.
    pub fn load(
        task: Task,
        size: usize,
        arrays: &[(String, Vec<f64>)],
    ) -> Result<Self, ModelError> {
        let saved = crate::model::array(arrays, "window", None)?;
        let (items, rest) = saved.as_chunks::<3>();
        if items.len() > size || !rest.is_empty() {
            let (array, found) = ("window".to_owned(), saved.len());
            return Err(ModelError::Length { array, found, expected: 3 * size });
        }
        Ok(Self { items: items.to_vec(), ..Self::new(task, size) })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn saved_windows_continue_bit_for_bit() {
        let (mut whole, mut cut) = (Window::new(Task::Binary, 7), Window::new(Task::Binary, 7));
        for k in 0..50_i32 {
            let z = f64::from(k * k % 13) - 6.0;
            let seen =
                Seen { y: 1.0, prediction: z, log_loss: 0.5, loss: z, zero: 1.0, weight: 0.7 };
            if k % 5 == 0 {
                cut = Window::load(Task::Binary, 7, &cut.save()).unwrap();
            }
            whole.see(&seen);
            cut.see(&seen);
            assert_eq!((whole.named(), whole.save()), (cut.named(), cut.save()));
        }
        assert!(Window::load(Task::Binary, 6, &whole.save()).is_err());
    }
}
