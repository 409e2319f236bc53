//! # Independent features between 0 and 1
//! $$T(x) = x, \qquad g_j = \frac{x_j - \theta_j}{\theta_j(1-\theta_j)}, \qquad \theta_0 = \tfrac12$$
//! **Cost** O(s·d): a feature that is 0 moves too. For wide sparse rows `naive-bayes`, `multinomial` and `poisson` cost O(s·nnz).
//! **Care** θ is kept in [1e-4, 1 − 1e-4]. **Source** \[SC21, prop. 3\].

use super::{column, diagonal, divide};
use crate::error::{self, Allowed, ConfigError, DomainError};
use crate::natural::coefficients::Coefficients;
use crate::natural::family::Family;
use crate::natural::means::{Means, Start};
use crate::natural::statistic::Statistic;
use crate::row::Row;
use crate::spec::Args;

/// The probabilities of every class.
#[derive(Debug, Clone)]
pub(crate) struct Bernoulli {
    means: Means,
    scratch: Vec<f64>,
}

/// θ away from the edges of its domain.
#[inline]
fn inside(theta: f64) -> f64 {
    theta.clamp(1e-4, 1.0 - 1e-4)
}

/// g.
#[inline]
fn g(x: f64, theta: f64) -> f64 {
    let theta = inside(theta);
    (x - theta) / (theta * (1.0 - theta))
}

impl Bernoulli {
    pub(crate) fn read(args: &mut Args<'_>) -> Result<Self, ConfigError> {
        let kappa = args.number("kappa", 1.0)?;
        let kappa = error::parameter("kappa", kappa, Allowed::Closed(1e-9, 1e9))?;
        Ok(Self { means: Means::new(kappa, Start::At(0.5)), scratch: Vec::new() })
    }
}

impl Family for Bernoulli {
    fn size(&self) -> usize {
        self.means.theta.rows()
    }

    fn grow(&mut self, features: usize, classes: usize) -> Result<(), DomainError> {
        self.means.grow(features, classes);
        Ok(())
    }

    fn statistic<X: Row<f64>>(&self, x: X, t: &mut Statistic) -> Result<(), DomainError> {
        t.dense(x, self.size(), Allowed::Closed(0.0, 1.0))
    }

    fn score(&mut self, t: &Statistic, dots: &mut [f64], excess: &mut [f64]) {
        for (&x, row) in t.value.iter().zip(self.means.theta.each()) {
            for ((dot, excess), &theta) in dots.iter_mut().zip(&mut *excess).zip(row) {
                let g = g(x, theta);
                *dot += inside(theta) * g;
                *excess += (x - inside(theta)) * g;
            }
        }
    }

    fn walk(&self, t: &Statistic, a: &[f64], to: &mut Coefficients) {
        for (j, (&x, row)) in t.value.iter().zip(self.means.theta.each()).enumerate() {
            to.update(j, a, row, |theta| g(x, theta));
        }
    }

    fn observe(&mut self, t: &Statistic, class: usize, weight: f64) {
        self.means.observe(&t.value, class, weight, &mut self.scratch);
    }

    fn mean(&self, class: usize, out: &mut Vec<f64>) {
        column(&self.means.theta, class, out);
        for theta in &mut *out {
            *theta = inside(*theta);
        }
    }

    fn covariance(&self, class: usize, out: &mut Vec<f64>) {
        let mut theta = Vec::new();
        self.mean(class, &mut theta);
        diagonal(theta.iter().map(|theta| theta * (1.0 - theta)), out);
    }

    fn damp(&mut self, class: usize, p: f64, ridge: f64, r: &mut [f64]) {
        divide(r, p, ridge, |j| {
            let theta = inside(self.means.theta.at(j, class));
            theta * (1.0 - theta)
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
