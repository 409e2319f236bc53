//! The problem of figures 3 and 4: the rows are those of a Hadamard matrix, the labels are one of its columns.

use geowalk::laws::Sampler;
use geowalk::row::Dense;
use geowalk::walk::Walk;
use geowalk_page::{Cell, Plot, Table};

use crate::outcome::Outcome;
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

/// One panel of figure 3 or 4: after each row t all weights, and the error over all rows, as a picture and a table.
pub(crate) fn panel(outcome: &mut Outcome, file: &str, title: &str, path: &[(Vec<f64>, f64)]) {
    let n = path.first().map_or(0, |(w, _)| w.len());
    let at = |t: usize| (t + 1) as f64;
    let weights = (0..n).map(|i| path.iter().enumerate().map(move |(t, (w, _))| (at(t), w[i])));
    let errors = path.iter().enumerate().map(|(t, (_, error))| (at(t), *error));
    let plot = Plot::new(title).x("rows t").y("weights; mean squared error over all rows");
    outcome.picture(file, plot.lines(format!("all {n} weights"), weights).line("error", errors));
    let names = (1..=n).map(|i| format!("w{i}"));
    let head: Vec<String> = ["t".to_owned(), "error".to_owned()].into_iter().chain(names).collect();
    let mut table = Table::new(head.iter().map(String::as_str));
    for (t, (w, error)) in path.iter().enumerate() {
        let cells = w.iter().map(|w| Cell::Number(*w));
        table.push([Cell::from(t + 1), Cell::Number(*error)].into_iter().chain(cells));
    }
    outcome.file(file, table);
}
