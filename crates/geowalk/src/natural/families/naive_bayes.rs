//! # Independent categorical columns
//! $$T(x) = (e_{x_1}, e_{x_2}, \ldots), \qquad g = (e_{x_1}/\theta_{1,x_1}, \ldots), \qquad
//!   \theta \cdot g = \text{number of columns present}$$
//! Features are the categories of all columns, 1 if present. The columns that features belong to need not be known. A
//! column without a value in a row is ignored for that row.
//!
//! **Cost** O(s·nnz). **Care** Smoothing: θ = (n + a)/(n_c + a·m), where m, the number of categories per column, is
//! estimated by the mean over columns: number of features divided by features per row. For columns of equal size this
//! is the posterior mean of a Dirichlet prior. For a ridge, the metric treats the categories of a column as
//! independent. **Source** \[SC21, sec. 4\], for one column.

use super::categories::Categories;
use super::diagonal;
use crate::error::{Allowed, ConfigError, DomainError};
use crate::natural::coefficients::Coefficients;
use crate::natural::family::Family;
use crate::natural::statistic::Statistic;
use crate::row::Row;
use crate::spec::Args;
use crate::walk;

/// The counts of every category.
#[derive(Debug, Clone)]
pub(crate) struct NaiveBayes {
    own: Categories,
    /// Number of rows, and number of features present in them.
    rows: f64,
    present: f64,
}

impl NaiveBayes {
    pub(crate) fn read(args: &mut Args<'_>) -> Result<Self, ConfigError> {
        Ok(Self { own: Categories::read(args)?, rows: 0.0, present: 0.0 })
    }

    /// m.
    fn categories(&self) -> f64 {
        let features = self.own.size() as f64;
        let mean = if self.present > 0.0 { features * self.rows / self.present } else { 2.0 };
        mean.max(2.0)
    }
}

impl Family for NaiveBayes {
    fn size(&self) -> usize {
        self.own.size()
    }

    fn grow(&mut self, features: usize, classes: usize) -> Result<(), DomainError> {
        self.own.grow(features, classes);
        Ok(())
    }

    fn statistic<X: Row<f64>>(&self, x: X, t: &mut Statistic) -> Result<(), DomainError> {
        t.sparse(x, self.size(), Allowed::Indicator)
    }

    #[inline(always)]
    fn score(&mut self, t: &Statistic, dots: &mut [f64], excess: &mut [f64]) {
        self.own.score(t, self.categories(), dots, excess);
    }

    #[inline(always)]
    fn walk(&self, t: &Statistic, a: &[f64], to: &mut Coefficients) {
        self.own.walk(t, a, to);
    }

    #[inline(always)]
    fn observe(&mut self, t: &Statistic, class: usize, weight: f64) {
        self.own.observe(t, class, weight);
        self.rows += weight;
        self.present += weight * t.total;
    }

    fn mean(&self, class: usize, out: &mut Vec<f64>) {
        self.own.mean(class, self.categories(), out);
    }

    /// Treats features as independent, because it is not known which exclude each other.
    fn covariance(&self, class: usize, out: &mut Vec<f64>) {
        let mut theta = Vec::new();
        self.mean(class, &mut theta);
        diagonal(theta.iter().copied(), out);
    }

    fn damp(&mut self, class: usize, p: f64, ridge: f64, r: &mut [f64]) {
        self.own.damp(class, self.categories(), p, ridge, r);
    }

    fn empty_cells(&self, n: &[f64]) -> (u64, u64) {
        self.own.empty_cells(n)
    }

    fn save(&self, put: &mut dyn FnMut(&'static str, &[f64])) {
        self.own.save(put);
        put("rows", &[self.rows, self.present]);
    }

    fn load(
        &mut self,
        get: &mut dyn FnMut(&'static str) -> Option<Vec<f64>>,
        features: usize,
        classes: usize,
    ) -> Result<(), ConfigError> {
        self.own.load(get, features, classes)?;
        [self.rows, self.present] = walk::numbers(get, "rows", Allowed::NonNegative)?;
        Ok(())
    }
}
