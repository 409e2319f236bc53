//! # Independent positive features
//! $$T(x) = x, \qquad g_j = \frac{x_j - \mu_j}{\mu_j^2}$$
//! **Cost** O(s·d). **Care** μ is at least 1e-4 of the feature's mean over all classes. A feature that was always 0
//! does not move. **Source** \[SC21, prop. 3\].

use super::{COUNTS, column, diagonal, divide};
use crate::error::{self, Allowed, ConfigError, DomainError};
use crate::natural::coefficients::Coefficients;
use crate::natural::family::Family;
use crate::natural::means::{Means, Start};
use crate::natural::rows;
use crate::natural::statistic::Statistic;
use crate::real::lanes::select;
use crate::row::Row;
use crate::spec::Args;

/// The means of every class.
#[derive(Debug, Clone)]
pub(crate) struct Exponential {
    means: Means,
    scratch: Vec<f64>,
}

impl Exponential {
    pub(crate) fn read(args: &mut Args<'_>) -> Result<Self, ConfigError> {
        let kappa = args.number("kappa", 1.0)?;
        let kappa = error::parameter("kappa", kappa, Allowed::Closed(1e-9, 1e9))?;
        Ok(Self { means: Means::new(kappa, Start::Seen), scratch: Vec::new() })
    }

    /// The smallest allowed mean of a class, for each feature that was not always 0.
    fn floors(&self) -> impl Iterator<Item = f64> + Clone {
        self.means.overall.iter().map(|mean| 1e-4 * mean)
    }

    fn mu(&self, j: usize, class: usize) -> f64 {
        let floor = 1e-4 * self.means.overall.get(j).copied().unwrap_or(0.0);
        self.means.theta.at(j, class).max(floor)
    }
}

impl Family for Exponential {
    fn size(&self) -> usize {
        self.means.theta.rows()
    }

    fn grow(&mut self, features: usize, classes: usize) -> Result<(), DomainError> {
        self.means.grow(features, classes);
        Ok(())
    }

    fn statistic<X: Row<f64>>(&self, x: X, t: &mut Statistic) -> Result<(), DomainError> {
        t.dense(x, self.size(), COUNTS)
    }

    #[inline(always)]
    fn score(&mut self, t: &Statistic, dots: &mut [f64], excess: &mut [f64]) {
        for ((&x, row), floor) in t.value.iter().zip(self.means.theta.each()).zip(self.floors()) {
            if floor > 0.0 {
                rows::change_both(dots, excess, row, row, |dot, excess, mu, _| {
                    let mu = select(mu > floor, mu, floor);
                    let r = (x - mu) / mu;
                    (dot + r, excess + r * r)
                });
            }
        }
    }

    #[inline(always)]
    fn walk(&self, t: &Statistic, a: &[f64], to: &mut Coefficients) {
        let each = t.value.iter().copied().zip(self.floors());
        to.update_all(a, &self.means.theta, each, |(x, floor), mu| {
            let mu = select(mu > floor, mu, floor);
            // A feature that was always 0 does not move.
            select(floor > 0.0, (x - mu) / (mu * mu), 0.0)
        });
    }

    #[inline(always)]
    fn observe(&mut self, t: &Statistic, class: usize, weight: f64) {
        self.means.observe(&t.value, class, weight, &mut self.scratch);
    }

    fn mean(&self, class: usize, out: &mut Vec<f64>) {
        column(&self.means.theta, class, out);
        for (j, mu) in out.iter_mut().enumerate() {
            *mu = self.mu(j, class);
        }
    }

    fn covariance(&self, class: usize, out: &mut Vec<f64>) {
        let mut mu = Vec::new();
        self.mean(class, &mut mu);
        diagonal(mu.iter().map(|mu| mu * mu), out);
    }

    fn damp(&mut self, class: usize, p: f64, ridge: f64, r: &mut [f64]) {
        divide(r, p, ridge, |j| {
            let mu = self.mu(j, class);
            mu * mu
        });
    }

    fn save(&self, put: &mut dyn FnMut(&'static str, &[f64])) {
        self.means.save(put);
    }

    fn load(
        &mut self,
        get: &mut dyn FnMut(&'static str) -> Option<Vec<f64>>,
        features: usize,
        classes: usize,
    ) -> Result<(), ConfigError> {
        self.means.load(get, features, classes)
    }
}
