//! The problem of figures 3 and 4: the rows are those of a Hadamard matrix, the labels are one of its columns.

use geowalk::laws::Sampler;
use geowalk::row::Dense;
use geowalk::walk::Walk;

use crate::stream::dot;

/// Rows in random order, with the target column as labels.
pub(crate) struct Problem {
    pub(crate) rows: Vec<Vec<f64>>,
    pub(crate) labels: Vec<f64>,
}

impl Problem {
    /// Sylvester's matrix with n = 2^k rows; the seed determines order and target.
    pub(crate) fn new(n: usize, seed: u64) -> Self {
        let mut random = Sampler::new(seed);
        let target = random.below(n);
        let mut order: Vec<usize> = (0..n).collect();
        for i in (1..n).rev() {
            order.swap(i, random.below(i + 1));
        }
        let entry =
            |i: usize, j: usize| if (i & j).count_ones().is_multiple_of(2) { 1.0 } else { -1.0 };
        let rows = order.iter().map(|&i| (0..n).map(|j| entry(i, j)).collect()).collect();
        let labels = order.iter().map(|&i| entry(i, target)).collect();
        Self { rows, labels }
    }

    /// The mean squared error of weights over all rows.
    pub(crate) fn error(&self, w: &[f64]) -> f64 {
        let square = |(x, y): (&Vec<f64>, &f64)| (dot(w, x) - y) * (dot(w, x) - y);
        self.rows.iter().zip(&self.labels).map(square).sum::<f64>() / self.rows.len() as f64
    }

    /// The mean squared error of a walk over all rows.
    pub(crate) fn error_of<W: Walk>(&self, walk: &W) -> f64 {
        let square = |(x, y): (&Vec<f64>, &f64)| {
            let gap = walk.predict(Dense(x)) - y;
            gap * gap
        };
        self.rows.iter().zip(&self.labels).map(square).sum::<f64>() / self.rows.len() as f64
    }
}
