//! # Numbers that are mostly zero
//! $$T(x) = x, \qquad g_j = \frac{x_j}{v_j}, \qquad
//!   v_j = \Bigl(\frac{n_j + 1}{n + 1} + \delta\Bigr)\,\overline{x_j^2},$$
//! where $\overline{x_j^2}$ is the mean square of feature j over the $n_j$ rows that have it (over all features, if no
//! row has it). This is `gaussian-shared-diagonal` with all means fixed at 0, which is a valid ζ. If a feature is
//! mostly zero, its second moment is its variance, and a step changes only the features of the row. The scales of
//! features have no effect.
//!
//! δ limits the share of rare features in a step. Without it (δ = 0), a word that occurs once explains its text, and
//! nothing is learned about the others. Texts have too many words for `poisson` and `multinomial`: on 15,000 texts of
//! 20 newsgroups, the held-out log loss after one pass is 0.7 here and 1.4 to 1.7 there.
//!
//! **Cost** O(s·nnz). **Care** For rows that are not sparse, `gaussian-shared` is better, because it uses means and
//! correlations. **Source** \[SC21, prop. 3\] for ζ with means 0; δ is new.

use super::{NUMBERS, diagonal, divide};
use crate::error::{self, Allowed, ConfigError, DomainError};
use crate::natural::coefficients::Coefficients;
use crate::natural::family::Family;
use crate::natural::statistic::Statistic;
use crate::row::Row;
use crate::spec::Args;
use crate::walk;

/// Second moments of every feature.
#[derive(Debug, Clone)]
pub(crate) struct GaussianSparse {
    delta: f64,
    /// Σx² and the number of rows, for each feature.
    squares: Vec<f64>,
    counts: Vec<f64>,
    /// Number of rows; Σx² and the number of values over all features.
    rows: f64,
    all: [f64; 2],
}

impl GaussianSparse {
    pub(crate) fn read(args: &mut Args<'_>) -> Result<Self, ConfigError> {
        let delta = args.number("delta", 0.1)?;
        let delta = error::parameter("delta", delta, Allowed::Closed(0.0, 1e6))?;
        let (squares, counts) = (Vec::new(), Vec::new());
        Ok(Self { delta, squares, counts, rows: 0.0, all: [0.0; 2] })
    }

    /// v of a feature.
    #[inline]
    fn variance(&self, j: usize) -> f64 {
        let count = self.counts.get(j).copied().unwrap_or(0.0);
        let square = match (self.squares.get(j), self.all) {
            (Some(&squares), _) if squares > 0.0 => squares / count,
            (_, [squares, values]) if squares > 0.0 => squares / values,
            _ => 1.0,
        };
        ((count + 1.0) / (self.rows + 1.0) + self.delta) * square
    }
}

impl Family for GaussianSparse {
    fn size(&self) -> usize {
        self.squares.len()
    }

    fn grow(&mut self, features: usize, _: usize) -> Result<(), DomainError> {
        let features = features.max(self.squares.len());
        self.squares.resize(features, 0.0);
        self.counts.resize(features, 0.0);
        Ok(())
    }

    fn statistic<X: Row<f64>>(&self, x: X, t: &mut Statistic) -> Result<(), DomainError> {
        t.sparse(x, self.size(), NUMBERS)
    }

    #[inline(always)]
    fn score(&mut self, t: &Statistic, _: &mut [f64], excess: &mut [f64]) {
        let mut sum = 0.0;
        t.each(|j, x| sum += x * x / self.variance(j));
        for excess in excess.iter_mut() {
            *excess += sum;
        }
    }

    #[inline(always)]
    fn walk(&self, t: &Statistic, a: &[f64], to: &mut Coefficients) {
        t.each(|j, x| {
            let g = x / self.variance(j);
            to.update(j, a, a, |_| g);
        });
    }

    #[inline(always)]
    fn observe(&mut self, t: &Statistic, _: usize, weight: f64) {
        self.rows += weight;
        t.each(|j, x| {
            if let (Some(squares), Some(count)) = (self.squares.get_mut(j), self.counts.get_mut(j))
            {
                *squares += weight * x * x;
                *count += weight;
                self.all[0] += weight * x * x;
                self.all[1] += weight;
            }
        });
    }

    fn mean(&self, _: usize, out: &mut Vec<f64>) {
        out.clear();
        out.resize(self.size(), 0.0);
    }

    fn covariance(&self, _: usize, out: &mut Vec<f64>) {
        diagonal((0..self.size()).map(|j| self.variance(j)), out);
    }

    fn damp(&mut self, _: usize, p: f64, ridge: f64, r: &mut [f64]) {
        divide(r, p, ridge, |j| self.variance(j));
    }

    fn save(&self, put: &mut dyn FnMut(&'static str, &[f64])) {
        put("squares", &self.squares);
        put("counts", &self.counts);
        put("rows", &[self.rows, self.all[0], self.all[1]]);
    }

    fn load(
        &mut self,
        get: &mut dyn FnMut(&'static str) -> Option<Vec<f64>>,
        features: usize,
        _: usize,
    ) -> Result<(), ConfigError> {
        self.squares = walk::array_of(get, "squares", Allowed::NonNegative, features)?;
        self.counts = walk::array_of(get, "counts", Allowed::NonNegative, features)?;
        let [rows, squares, values] = walk::numbers(get, "rows", Allowed::NonNegative)?;
        (self.rows, self.all) = (rows, [squares, values]);
        Ok(())
    }
}
