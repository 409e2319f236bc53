//! # Numbers, one variance per feature
//! $$T(x) = x, \qquad g_j = \frac{x_j - \mu_{c,j}}{v_j}, \qquad
//!   v_j = \frac{S_j + \kappa\,v_{0,j}}{n - s + \kappa}, \quad S \mathrel{+}= (x - \mu_{old})(x - \mu_{new})$$
//! The log-odds are linear. $v_0$ is the variance of the feature over all classes, and s is the number of classes
//! seen. Units and origins have no effect.
//!
//! **Cost** O(s·d). A step reads the means once to score and once, together with the coefficients, to move. All work
//! on a few features is done before the next few are loaded. **Care** Suitable if features are nearly uncorrelated.
//! With strong correlations (condition number 1e4) it is no better than plain gradient descent; use `gaussian-shared`.
//! v is at least 1e-9 of v₀. A feature that has not varied yet does not move. **Source** \[SC21, prop. 3\].

use std::ops::Range;

use super::{NUMBERS, column, diagonal, divide};
use crate::error::{self, Allowed, ConfigError, DomainError};
use crate::natural::coefficients::Coefficients;
use crate::natural::family::Family;
use crate::natural::means::{Means, Sight, Start};
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
    /// 1/v, or 0 for a feature that has not varied.
    inverse: Vec<f64>,
    /// x − μ of some features.
    residuals: Vec<f64>,
}

impl GaussianSharedDiagonal {
    pub(crate) fn read(args: &mut Args<'_>) -> Result<Self, ConfigError> {
        let kappa = args.number("kappa", 0.05)?;
        let kappa = error::parameter("kappa", kappa, Allowed::Closed(1e-9, 1e9))?;
        let (within, inverse, residuals) = (Vec::new(), Vec::new(), Vec::new());
        Ok(Self { kappa, means: Means::new(kappa, Start::Seen), within, inverse, residuals })
    }

    /// v of a feature; 0 if it has not varied.
    fn variance(&self, j: usize, degrees: f64) -> f64 {
        let all = self.means.variance(j);
        let within = self.within.get(j).copied().unwrap_or(0.0);
        variance(within, all, self.kappa, degrees)
    }

    fn degrees(&self) -> f64 {
        (self.means.total - self.means.seen()).max(0.0)
    }

    /// 1/v of some features.
    #[inline(always)]
    fn invert(&mut self, degrees: f64, rows: &Range<usize>) {
        let numbers = self.within[rows.clone()].iter().zip(self.means.variances(rows));
        for ((&within, all), inverse) in numbers.zip(&mut self.inverse[rows.clone()]) {
            let v = variance(within, all, self.kappa, degrees);
            *inverse = if v > 0.0 { 1.0 / v } else { 0.0 };
        }
    }

    /// [`Family::walk`] for some features.
    #[inline(always)]
    fn walk_some(&self, rows: &Range<usize>, t: &Statistic, a: &[f64], to: &mut Coefficients) {
        let each = t.value[rows.clone()].iter().zip(&self.inverse[rows.clone()]);
        to.update_some(rows, a, &self.means.theta, each, |(x, inverse), mu| (x - mu) * inverse);
    }

    /// Learns some features of an example.
    #[inline(always)]
    fn see(&mut self, rows: &Range<usize>, t: &Statistic, sight: &Sight, degrees: f64) {
        self.residuals.resize(rows.len(), 0.0);
        self.means.see(sight, rows, &t.value, &mut self.residuals);
        let Sight { weight, part, .. } = *sight;
        for (within, residual) in self.within[rows.clone()].iter_mut().zip(&self.residuals) {
            *within += weight * (1.0 - part) * residual * residual;
        }
        self.invert(degrees, rows);
    }
}

/// v of a feature, from its sum within the classes and its variance over all of them.
#[inline(always)]
fn variance(within: f64, all: f64, kappa: f64, degrees: f64) -> f64 {
    ((within + kappa * all) / (degrees + kappa)).max(1e-9 * all)
}

impl Family for GaussianSharedDiagonal {
    fn size(&self) -> usize {
        self.means.theta.rows()
    }

    fn grow(&mut self, features: usize, classes: usize) -> Result<(), DomainError> {
        self.means.grow(features, classes);
        // New features do not move until they have been seen.
        for numbers in [&mut self.within, &mut self.inverse] {
            numbers.resize(self.means.theta.rows(), 0.0);
        }
        Ok(())
    }

    fn statistic<X: Row<f64>>(&self, x: X, t: &mut Statistic) -> Result<(), DomainError> {
        t.dense(x, self.size(), NUMBERS)
    }

    #[inline(always)]
    fn score(&mut self, t: &Statistic, dots: &mut [f64], excess: &mut [f64]) {
        for ((&x, row), &inverse) in t.value.iter().zip(self.means.theta.each()).zip(&self.inverse)
        {
            rows::change_both(dots, excess, row, row, |dot, excess, mu, _| {
                let r = x - mu;
                let g = r * inverse;
                (dot + mu * g, excess + r * g)
            });
        }
    }

    #[inline(always)]
    fn walk(&self, t: &Statistic, a: &[f64], to: &mut Coefficients) {
        self.walk_some(&(0..self.size()), t, a, to);
    }

    #[inline(always)]
    fn observe(&mut self, t: &Statistic, class: usize, weight: f64) {
        let sight = self.means.count(class, weight);
        let degrees = self.degrees();
        for rows in self.means.theta.stretches() {
            self.see(&rows, t, &sight, degrees);
        }
    }

    #[inline(always)]
    fn advance(
        &mut self,
        t: &Statistic,
        a: &[f64],
        to: &mut Coefficients,
        class: usize,
        weight: f64,
    ) {
        let sight = self.means.count(class, weight);
        let degrees = self.degrees();
        for rows in self.means.theta.stretches() {
            self.walk_some(&rows, t, a, to);
            self.see(&rows, t, &sight, degrees);
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
        self.inverse.resize(features, 0.0);
        self.invert(self.degrees(), &(0..features));
        Ok(())
    }
}
