//! # Counts in rows of any length, such as words of a text
//! Given its length n, a row of class c has n independent words with probabilities $\pi_c$. The length has mean L and
//! variance V, equal for all classes. Then
//! $$\theta_c = L\pi_c, \qquad C_c = L\,\mathrm{diag}(\pi_c) + (V - L)\,\pi_c\pi_c^\top, \qquad
//!   g_{c,j} = \frac{x_j}{L\pi_{c,j}} - 1 - \frac{(V - L)(n - L)}{LV}$$
//! by the Sherman–Morrison formula. V = L is `poisson`. Texts have V ≫ L, so a long text is not surprising. With the
//! covariance of texts, a row moves its coordinates and one scalar.
//!
//! **Cost** O(s·nnz). **Care** π is smoothed by `pseudo` for every feature and class. V is at least 1e-6 L². For a
//! ridge, the metric treats the counts as independent. **Source** the metric of \[SC21, eq. (14)\] for this
//! distribution; derived here.

use super::counts::Counts;
use super::{COUNTS, diagonal, divide};
use crate::error::{self, Allowed, ConfigError, DomainError};
use crate::natural::coefficients::Coefficients;
use crate::natural::family::Family;
use crate::natural::statistic::Statistic;
use crate::row::Row;
use crate::spec::Args;
use crate::walk;

/// The sums of every class, and the lengths of all rows.
#[derive(Debug, Clone)]
pub(crate) struct Multinomial {
    counts: Counts,
    /// Number of rows, mean of their lengths, Σ(n − mean)².
    rows: f64,
    length: f64,
    spread: f64,
}

impl Multinomial {
    pub(crate) fn read(args: &mut Args<'_>) -> Result<Self, ConfigError> {
        let pseudo = args.number("pseudo", 1.0)?;
        let pseudo = error::parameter("pseudo", pseudo, Allowed::Closed(1e-9, 1e9))?;
        Ok(Self { counts: Counts::new(pseudo), rows: 0.0, length: 0.0, spread: 0.0 })
    }

    /// L and V; before the first row, as for one row of length 1 and variance 1.
    fn lengths(&self) -> (f64, f64) {
        let mean = if self.length > 0.0 { self.length } else { 1.0 };
        let variance = (self.spread + mean) / (self.rows + 1.0);
        (mean, variance.max(1e-6 * mean * mean))
    }

    fn mass(&self, class: usize) -> f64 {
        self.counts.total(class) / self.lengths().0
    }
}

impl Family for Multinomial {
    fn size(&self) -> usize {
        self.counts.size()
    }

    fn grow(&mut self, features: usize, classes: usize) -> Result<(), DomainError> {
        self.counts.grow(features, classes);
        Ok(())
    }

    fn statistic<X: Row<f64>>(&self, x: X, t: &mut Statistic) -> Result<(), DomainError> {
        t.sparse(x, self.size(), COUNTS)
    }

    #[inline(always)]
    fn score(&mut self, t: &Statistic, dots: &mut [f64], excess: &mut [f64]) {
        let (length, variance) = self.lengths();
        let mut mass = std::mem::take(&mut self.counts.mass);
        mass.clear();
        mass.extend((0..self.counts.classes()).map(|c| self.mass(c)));
        self.counts.mass = mass;
        self.counts.e = 1.0 + (variance - length) * (t.total - length) / (length * variance);
        self.counts.score(t, dots, excess);
    }

    #[inline(always)]
    fn walk(&self, t: &Statistic, a: &[f64], to: &mut Coefficients) {
        self.counts.walk(t, a, to);
    }

    #[inline(always)]
    fn observe(&mut self, t: &Statistic, class: usize, weight: f64) {
        self.counts.observe(t, class, weight);
        self.rows += weight;
        let residual = t.total - self.length;
        self.length += weight / self.rows * residual;
        self.spread += weight * residual * (t.total - self.length);
    }

    fn mean(&self, class: usize, out: &mut Vec<f64>) {
        self.counts.mean(class, self.mass(class), out);
    }

    fn covariance(&self, class: usize, out: &mut Vec<f64>) {
        let mut theta = Vec::new();
        self.mean(class, &mut theta);
        let (length, variance) = self.lengths();
        diagonal(theta.iter().copied(), out);
        for (column, b) in out.chunks_exact_mut(theta.len().max(1)).zip(&theta) {
            for (out, a) in column.iter_mut().zip(&theta) {
                *out += (variance - length) * (a / length) * (b / length);
            }
        }
    }

    fn damp(&mut self, class: usize, p: f64, ridge: f64, r: &mut [f64]) {
        let mass = self.mass(class);
        divide(r, p, ridge, |j| self.counts.at(j, class) / mass);
    }

    fn empty_cells(&self, n: &[f64]) -> (u64, u64) {
        self.counts.empty_cells(n)
    }

    fn save(&self, put: &mut dyn FnMut(&'static str, &[f64])) {
        self.counts.save(put);
        put("lengths", &[self.rows, self.length, self.spread]);
    }

    fn load(
        &mut self,
        get: &mut dyn FnMut(&'static str) -> Option<Vec<f64>>,
        features: usize,
        classes: usize,
    ) -> Result<(), ConfigError> {
        self.counts.load(get, features, classes)?;
        [self.rows, self.length, self.spread] =
            walk::numbers(get, "lengths", Allowed::NonNegative)?;
        Ok(())
    }
}
