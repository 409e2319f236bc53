//! # Numbers, one variance per feature
//! $$T(x) = x, \qquad g_j = \frac{x_j - \mu_{c,j}}{v_j}, \qquad
//!   v_j = \frac{S_j + \kappa\,v_{0,j}}{n - s + \kappa}, \quad S \mathrel{+}= (x - \mu_{old})(x - \mu_{new})$$
//! Linear log-odds. $v_0$ is the variance of the feature over all classes, s the number of classes seen: nothing depends on units or origins.
//!
//! **Cost** O(s·d). **Care** Good where features are nearly uncorrelated, no better than plain gradient descent where they are not (condition number 1e4);
//! `gaussian-shared` knows the correlations. v is at least 1e-9 of v₀; a feature that has not varied yet does not move.
//! **Source** \[SC21, prop. 3\].

use super::{NUMBERS, column, diagonal, divide};
use crate::error::{self, Allowed, ConfigError, DomainError};
use crate::natural::coefficients::Coefficients;
use crate::natural::family::Family;
use crate::natural::means::{Means, Start};
use crate::natural::rows;
use crate::natural::statistic::Statistic;
use crate::row::Row;
use crate::spec::Args;
use crate::walk;

/// The means of every class, and the variances.
#[derive(Debug, Clone)]
pub(crate) struct GaussianSharedDiagonal {
    kappa: f64,
    means: Means,
    /// S.
    within: Vec<f64>,
    /// 1/v, or 0 for a feature that has not varied; for the row that was scored last.
    inverse: Vec<f64>,
    scratch: Vec<f64>,
}

impl GaussianSharedDiagonal {
    pub(crate) fn read(args: &mut Args<'_>) -> Result<Self, ConfigError> {
        let kappa = args.number("kappa", 0.05)?;
        let kappa = error::parameter("kappa", kappa, Allowed::Closed(1e-9, 1e9))?;
        let (within, inverse, scratch) = (Vec::new(), Vec::new(), Vec::new());
        Ok(Self { kappa, means: Means::new(kappa, Start::Seen), within, inverse, scratch })
    }

    /// v of a feature; 0 if it has not varied.
    fn variance(&self, j: usize, degrees: f64) -> f64 {
        let all = self.means.variance(j);
        let within = self.within.get(j).copied().unwrap_or(0.0);
        ((within + self.kappa * all) / (degrees + self.kappa)).max(1e-9 * all)
    }

    fn degrees(&self) -> f64 {
        (self.means.total - self.means.seen()).max(0.0)
    }
}

impl Family for GaussianSharedDiagonal {
    fn size(&self) -> usize {
        self.means.theta.rows()
    }

    fn grow(&mut self, features: usize, classes: usize) -> Result<(), DomainError> {
        self.means.grow(features, classes);
        self.within.resize(self.size(), 0.0);
        Ok(())
    }

    fn statistic<X: Row<f64>>(&self, x: X, t: &mut Statistic) -> Result<(), DomainError> {
        t.dense(x, self.size(), NUMBERS)
    }

    #[inline(always)]
    fn score(&mut self, t: &Statistic, dots: &mut [f64], excess: &mut [f64]) {
        let mut inverse = std::mem::take(&mut self.inverse);
        let degrees = self.degrees();
        inverse.clear();
        inverse.extend((0..self.size()).map(|j| {
            let v = self.variance(j, degrees);
            if v > 0.0 { 1.0 / v } else { 0.0 }
        }));
        for ((&x, row), &inverse) in t.value.iter().zip(self.means.theta.each()).zip(&inverse) {
            rows::change_both(dots, excess, row, row, |dot, excess, mu, _| {
                let r = x - mu;
                let g = r * inverse;
                (dot + mu * g, excess + r * g)
            });
        }
        self.inverse = inverse;
    }

    #[inline(always)]
    fn walk(&self, t: &Statistic, a: &[f64], to: &mut Coefficients) {
        let each = t.value.iter().zip(&self.inverse);
        to.update_all(a, &self.means.theta, each, |(x, inverse), mu| (x - mu) * inverse);
    }

    #[inline(always)]
    fn observe(&mut self, t: &Statistic, class: usize, weight: f64) {
        let part = self.means.observe(&t.value, class, weight, &mut self.scratch);
        for (within, residual) in self.within.iter_mut().zip(&self.scratch) {
            *within += weight * (1.0 - part) * residual * residual;
        }
    }

    fn mean(&self, class: usize, out: &mut Vec<f64>) {
        column(&self.means.theta, class, out);
    }

    fn covariance(&self, _: usize, out: &mut Vec<f64>) {
        let degrees = self.degrees();
        diagonal((0..self.size()).map(|j| self.variance(j, degrees)), out);
    }

    fn damp(&mut self, _: usize, p: f64, ridge: f64, r: &mut [f64]) {
        let degrees = self.degrees();
        divide(r, p, ridge, |j| self.variance(j, degrees));
    }

    fn save(&self, put: &mut dyn FnMut(&'static str, &[f64])) {
        self.means.save(put);
        put("within", &self.within);
    }

    fn load(
        &mut self,
        get: &mut dyn FnMut(&'static str) -> Option<Vec<f64>>,
        features: usize,
        classes: usize,
    ) -> Result<(), ConfigError> {
        self.means.load(get, features, classes)?;
        self.within = walk::array_of(get, "within", Allowed::NonNegative, features)?;
        Ok(())
    }
}
