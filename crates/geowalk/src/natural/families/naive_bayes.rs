//! # Independent categorical columns
//! $$T(x) = (e_{x_1}, e_{x_2}, \ldots), \qquad g = (e_{x_1}/\theta_{1,x_1}, \ldots), \qquad \theta \cdot g = \text{number of columns present}$$
//! Features are the categories of all columns, 1 where they are present; which feature belongs to which column need not be known. A column without
//! a value in a row takes no part in it.
//!
//! **Cost** O(s·nnz). **Care** Smoothing: θ = (n + a)/(n_c + a·m), where m, the number of categories per column, is the mean over the columns: features
//! there are over features that a row has. With columns of equal size that is the posterior mean of a Dirichlet prior. For a ridge the metric takes
//! the categories of a column for independent. **Source** \[SC21, sec. 4\], for one column.

use super::{column, diagonal, divide, empty_cells};
use crate::error::{self, Allowed, ConfigError, DomainError};
use crate::natural::coefficients::{Coefficients, table};
use crate::natural::family::Family;
use crate::natural::statistic::Statistic;
use crate::natural::table::Table;
use crate::row::Row;
use crate::spec::Args;
use crate::walk;

/// The counts of every category.
#[derive(Debug, Clone)]
pub(crate) struct NaiveBayes {
    a: f64,
    counts: Table,
    n: Vec<f64>,
    /// Rows, and features present in them.
    rows: f64,
    present: f64,
    /// (n_c + a m) of every class, for the row that was scored last.
    mass: Vec<f64>,
}

impl NaiveBayes {
    pub(crate) fn read(args: &mut Args<'_>) -> Result<Self, ConfigError> {
        let a = error::parameter("a", args.number("a", 1.0)?, Allowed::Closed(1e-6, 1e6))?;
        let (counts, n, mass) = (Table::default(), Vec::new(), Vec::new());
        Ok(Self { a, counts, n, rows: 0.0, present: 0.0, mass })
    }

    fn mass(&self, class: usize) -> f64 {
        let features = self.counts.rows() as f64;
        let categories = if self.present > 0.0 { features * self.rows / self.present } else { 2.0 };
        self.n.get(class).copied().unwrap_or(0.0) + self.a * categories.max(2.0)
    }
}

impl Family for NaiveBayes {
    fn size(&self) -> usize {
        self.counts.rows()
    }

    fn grow(&mut self, features: usize, classes: usize) -> Result<(), DomainError> {
        let a = self.a;
        self.counts.grow(features, classes, |_, _| a);
        self.n.resize(classes.max(self.n.len()), 0.0);
        Ok(())
    }

    fn statistic<X: Row<f64>>(&self, x: X, t: &mut Statistic) -> Result<(), DomainError> {
        t.sparse(x, self.size(), Allowed::Indicator)
    }

    fn score(&mut self, t: &Statistic, dots: &mut [f64], excess: &mut [f64]) {
        let mut mass = std::mem::take(&mut self.mass);
        mass.clear();
        mass.extend((0..self.n.len()).map(|c| self.mass(c)));
        t.each(|j, _| {
            let counts = self.counts.row(j).iter().zip(&mass);
            for ((excess, dot), (count, mass)) in excess.iter_mut().zip(&mut *dots).zip(counts) {
                *dot += 1.0;
                *excess += mass / count - 1.0;
            }
        });
        self.mass = mass;
    }

    fn walk(&self, t: &Statistic, a: &[f64], to: &mut Coefficients) {
        t.each(|j, _| {
            to.update_scaled(j, a, &self.mass, self.counts.row(j), |count| 1.0 / count);
        });
    }

    fn observe(&mut self, t: &Statistic, class: usize, weight: f64) {
        t.each(|j, _| {
            if let Some(count) = self.counts.row_mut(j).get_mut(class) {
                *count += weight;
            }
        });
        if let Some(n) = self.n.get_mut(class) {
            *n += weight;
        }
        self.rows += weight;
        self.present += weight * t.total;
    }

    fn mean(&self, class: usize, out: &mut Vec<f64>) {
        column(&self.counts, class, out);
        let mass = self.mass(class);
        for count in &mut *out {
            *count /= mass;
        }
    }

    /// Of the features taken one by one: which of them exclude each other is not known.
    fn covariance(&self, class: usize, out: &mut Vec<f64>) {
        let mut theta = Vec::new();
        self.mean(class, &mut theta);
        diagonal(theta.iter().copied(), out);
    }

    fn damp(&mut self, class: usize, p: f64, ridge: f64, r: &mut [f64]) {
        let mass = self.mass(class);
        divide(r, p, ridge, |j| self.counts.at(j, class) / mass);
    }

    fn empty_cells(&self, n: &[f64]) -> (u64, u64) {
        empty_cells(&self.counts, self.a, n)
    }

    fn save(&self, put: &mut dyn FnMut(&'static str, &[f64])) {
        put("counts", self.counts.cells());
        put("class-counts", &self.n);
        put("rows", &[self.rows, self.present]);
    }

    fn load(
        &mut self,
        get: &mut dyn FnMut(&'static str) -> Option<Vec<f64>>,
        features: usize,
        classes: usize,
    ) -> Result<(), ConfigError> {
        self.counts = table(get, "counts", Allowed::Positive, features, classes)?;
        self.n = walk::array_of(get, "class-counts", Allowed::NonNegative, classes)?;
        [self.rows, self.present] = walk::numbers(get, "rows", Allowed::NonNegative)?;
        Ok(())
    }
}
