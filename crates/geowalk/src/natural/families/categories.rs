//! # Categories counted by class
//! Shared code of `discrete` and `naive-bayes`. With $N_{j,c}$ = a + count and a mass $M_c$ that does not depend on
//! the category,
//! $$\theta_{c,j} = \frac{N_{j,c}}{M_c}, \qquad g_{c,j} = \frac{x_j}{\theta_{c,j}}, \qquad
//!   \theta_c\cdot g_c = |x|_1, \qquad (x-\theta_c)\cdot g_c = \sum_{j \in x}\Bigl(\frac{M_c}{N_{j,c}} - 1\Bigr).$$
//! **Cost** O(s·nnz). **Source** \[SC21, sec. 4\].

use super::{column, divide, empty_cells};
use crate::error::{self, Allowed, ConfigError};
use crate::natural::coefficients::{Coefficients, table};
use crate::natural::statistic::Statistic;
use crate::natural::table::Table;
use crate::spec::Args;
use crate::walk;

/// Number of examples by category and class.
#[derive(Debug, Clone)]
pub(super) struct Categories {
    /// a.
    pub(super) pseudo: f64,
    counts: Table,
    /// Number of examples of every class.
    n: Vec<f64>,
    /// M of every class, for the row scored last.
    mass: Vec<f64>,
}

impl Categories {
    pub(super) fn read(args: &mut Args<'_>) -> Result<Self, ConfigError> {
        let pseudo = error::parameter("a", args.number("a", 1.0)?, Allowed::Closed(1e-6, 1e6))?;
        Ok(Self { pseudo, counts: Table::default(), n: Vec::new(), mass: Vec::new() })
    }

    pub(super) fn size(&self) -> usize {
        self.counts.rows()
    }

    pub(super) fn grow(&mut self, features: usize, classes: usize) {
        let pseudo = self.pseudo;
        self.counts.grow(features, classes, |_, _| pseudo);
        self.n.resize(classes.max(self.n.len()), 0.0);
    }

    /// M of a class with this number of categories, including their pseudo-counts.
    pub(super) fn mass(&self, class: usize, categories: f64) -> f64 {
        self.n.get(class).copied().unwrap_or(0.0) + self.pseudo * categories
    }

    pub(super) fn score(
        &mut self,
        t: &Statistic,
        categories: f64,
        dots: &mut [f64],
        excess: &mut [f64],
    ) {
        let mut mass = std::mem::take(&mut self.mass);
        mass.clear();
        mass.extend((0..self.n.len()).map(|c| self.mass(c, categories)));
        t.each(|j, _| {
            let counts = self.counts.row(j).iter().zip(&mass);
            for ((excess, dot), (count, mass)) in excess.iter_mut().zip(&mut *dots).zip(counts) {
                *dot += 1.0;
                *excess += mass / count - 1.0;
            }
        });
        self.mass = mass;
    }

    pub(super) fn walk(&self, t: &Statistic, a: &[f64], to: &mut Coefficients) {
        t.each(|j, _| {
            to.update_scaled(j, a, &self.mass, self.counts.row(j), |count| 1.0 / count);
        });
    }

    pub(super) fn observe(&mut self, t: &Statistic, class: usize, weight: f64) {
        t.each(|j, _| {
            if let Some(count) = self.counts.row_mut(j).get_mut(class) {
                *count += weight;
            }
        });
        if let Some(n) = self.n.get_mut(class) {
            *n += weight;
        }
    }

    /// out ← θ of a class.
    pub(super) fn mean(&self, class: usize, categories: f64, out: &mut Vec<f64>) {
        column(&self.counts, class, out);
        let mass = self.mass(class, categories);
        for count in &mut *out {
            *count /= mass;
        }
    }

    pub(super) fn damp(&self, class: usize, categories: f64, p: f64, ridge: f64, r: &mut [f64]) {
        let mass = self.mass(class, categories);
        divide(r, p, ridge, |j| self.counts.at(j, class) / mass);
    }

    pub(super) fn empty_cells(&self, n: &[f64]) -> (u64, u64) {
        empty_cells(&self.counts, self.pseudo, n)
    }

    pub(super) fn save(&self, put: &mut dyn FnMut(&'static str, &[f64])) {
        put("counts", self.counts.cells());
        put("class-counts", &self.n);
    }

    pub(super) fn load(
        &mut self,
        get: &mut dyn FnMut(&'static str) -> Option<Vec<f64>>,
        features: usize,
        classes: usize,
    ) -> Result<(), ConfigError> {
        self.counts = table(get, "counts", Allowed::Positive, features, classes)?;
        self.n = walk::array_of(get, "class-counts", Allowed::NonNegative, classes)?;
        Ok(())
    }
}
