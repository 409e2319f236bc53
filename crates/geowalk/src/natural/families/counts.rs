//! # Counts at O(nnz)
//! Shared code of `poisson` and `multinomial`. With numbers $m_c$ and $e$ that do not depend on the coordinate, the
//! score is
//! $$g_{c,j} = \frac{x_j}{\lambda_{c,j}} - e, \qquad \lambda_{c,j} = \frac{S_{c,j} + \varepsilon}{m_c},$$
//! So a step moves the coordinates of the row, and one scalar per class for all others:
//! $$\theta_c\cdot g_c = |x|_1 - e\,\Lambda_c, \qquad
//!   (x-\theta_c)\cdot g_c = \sum_j \frac{x_j^2}{\lambda_{c,j}} - (1+e)|x|_1 + e\,\Lambda_c .$$
//! **Cost** O(s·nnz), exactly the dense step. **Source** the lazy form of \[SC21, prop. 3\].

use super::{column, empty_cells};
use crate::ConfigError;
use crate::error::Allowed;
use crate::natural::coefficients::{Coefficients, table};
use crate::natural::statistic::Statistic;
use crate::natural::table::Table;
use crate::walk;

/// Sums of the counts by feature and class.
#[derive(Debug, Clone)]
pub(super) struct Counts {
    /// ε.
    pseudo: f64,
    /// S + ε.
    sums: Table,
    /// Σ_j (S + ε) of every class, without the ε of each feature.
    totals: Vec<f64>,
    /// m of every class, for the row scored last.
    pub(super) mass: Vec<f64>,
    /// e of that row.
    pub(super) e: f64,
}

impl Counts {
    pub(super) fn new(pseudo: f64) -> Self {
        let (sums, totals) = (Table::default(), Vec::new());
        Self { pseudo, sums, totals, mass: Vec::new(), e: 1.0 }
    }

    pub(super) fn size(&self) -> usize {
        self.sums.rows()
    }

    pub(super) fn grow(&mut self, features: usize, classes: usize) {
        let pseudo = self.pseudo;
        self.sums.grow(features, classes, |_, _| pseudo);
        self.totals.resize(classes.max(self.totals.len()), 0.0);
    }

    /// Σ_j (S_{c,j} + ε).
    pub(super) fn total(&self, class: usize) -> f64 {
        let seen = self.totals.get(class).copied().unwrap_or(0.0);
        seen + self.pseudo * self.sums.rows() as f64
    }

    pub(super) fn classes(&self) -> usize {
        self.totals.len()
    }

    /// Requires `mass` and `e` to be set.
    pub(super) fn score(&self, t: &Statistic, dots: &mut [f64], excess: &mut [f64]) {
        let (e, n) = (self.e, t.total);
        for (c, (dot, excess)) in dots.iter_mut().zip(&mut *excess).enumerate() {
            let all = self.total(c) / self.mass[c];
            *dot += n - e * all;
            *excess += e * all - (1.0 + e) * n;
        }
        t.each(|j, x| {
            let square = x * x;
            for ((excess, mass), sum) in excess.iter_mut().zip(&self.mass).zip(self.sums.row(j)) {
                *excess += square * mass / sum;
            }
        });
    }

    pub(super) fn walk(&self, t: &Statistic, a: &[f64], to: &mut Coefficients) {
        t.each(|j, x| {
            let row = self.sums.row(j);
            to.update_scaled(j, a, &self.mass, row, |sum| x / sum);
        });
        to.shift(a, -self.e);
    }

    pub(super) fn observe(&mut self, t: &Statistic, class: usize, weight: f64) {
        t.each(|j, x| {
            if let Some(sum) = self.sums.row_mut(j).get_mut(class) {
                *sum += weight * x;
            }
        });
        if let Some(total) = self.totals.get_mut(class) {
            *total += weight * t.total;
        }
    }

    /// out ← λ of a class with the given m.
    pub(super) fn mean(&self, class: usize, mass: f64, out: &mut Vec<f64>) {
        column(&self.sums, class, out);
        for sum in &mut *out {
            *sum /= mass;
        }
    }

    pub(super) fn at(&self, j: usize, class: usize) -> f64 {
        self.sums.at(j, class)
    }

    pub(super) fn empty_cells(&self, n: &[f64]) -> (u64, u64) {
        empty_cells(&self.sums, self.pseudo, n)
    }

    pub(super) fn save(&self, put: &mut dyn FnMut(&'static str, &[f64])) {
        put("sums", self.sums.cells());
        put("totals", &self.totals);
    }

    pub(super) fn load(
        &mut self,
        get: &mut dyn FnMut(&'static str) -> Option<Vec<f64>>,
        features: usize,
        classes: usize,
    ) -> Result<(), ConfigError> {
        self.sums = table(get, "sums", Allowed::Positive, features, classes)?;
        self.totals = walk::array_of(get, "totals", Allowed::NonNegative, classes)?;
        Ok(())
    }
}
