//! # One categorical variable
//! $$T(x) = e_x, \qquad g = e_x/\theta_x, \qquad P_\zeta(x, c) = \frac{N_{x,c}}{\sum N},\quad
//!   N_{x,c} = a + \text{count}$$
//! There is one coordinate per category, which is redundant. The trajectory of P(y∣x) is the same as for the minimal
//! statistic, whose last category would require a step on all coordinates. A step is
//! $z_{x,c} \mathrel{-}= \gamma\,(q_c - [c = y]) / P_\zeta(x, c)$.
//!
//! **Cost** O(s). **Care** The classes get a·m pseudo-examples each, so that the joint table has a in every cell. A
//! row must have exactly one feature, of value 1. **Source** \[SC21, sec. 4, prop. 5\].

use super::categories::Categories;
use super::diagonal;
use crate::error::{Allowed, ConfigError, DomainError};
use crate::natural::coefficients::Coefficients;
use crate::natural::family::Family;
use crate::natural::statistic::Statistic;
use crate::row::Row;
use crate::spec::Args;

/// The table of counts.
#[derive(Debug, Clone)]
pub(crate) struct Discrete {
    own: Categories,
}

impl Discrete {
    pub(crate) fn read(args: &mut Args<'_>) -> Result<Self, ConfigError> {
        Ok(Self { own: Categories::read(args)? })
    }

    /// m.
    fn categories(&self) -> f64 {
        self.own.size() as f64
    }
}

impl Family for Discrete {
    fn size(&self) -> usize {
        self.own.size()
    }

    fn grow(&mut self, features: usize, classes: usize) -> Result<(), DomainError> {
        self.own.grow(features, classes);
        Ok(())
    }

    fn statistic<X: Row<f64>>(&self, x: X, t: &mut Statistic) -> Result<(), DomainError> {
        t.sparse(x, self.size(), Allowed::Indicator)?;
        // An unknown category predicts like the mean of all categories.
        if t.index.len() == 1 || (t.index.is_empty() && x.bound() > self.size()) {
            return Ok(());
        }
        Err(DomainError::Constraint {
            quantity: "the number of features that are 1 in a row of one categorical variable",
            found: t.index.len() as f64,
            expected: 1.0,
            tolerance: 0.0,
        })
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
    }

    fn mean(&self, class: usize, out: &mut Vec<f64>) {
        self.own.mean(class, self.categories(), out);
    }

    fn covariance(&self, class: usize, out: &mut Vec<f64>) {
        let mut theta = Vec::new();
        self.mean(class, &mut theta);
        diagonal(theta.iter().copied(), out);
        for (column, b) in out.chunks_exact_mut(theta.len().max(1)).zip(&theta) {
            for (out, a) in column.iter_mut().zip(&theta) {
                *out -= a * b;
            }
        }
    }

    fn damp(&mut self, class: usize, p: f64, ridge: f64, r: &mut [f64]) {
        self.own.damp(class, self.categories(), p, ridge, r);
    }

    fn pseudo(&self, _: f64) -> f64 {
        self.own.pseudo * self.categories().max(1.0)
    }

    fn empty_cells(&self, n: &[f64]) -> (u64, u64) {
        self.own.empty_cells(n)
    }

    fn save(&self, put: &mut dyn FnMut(&'static str, &[f64])) {
        self.own.save(put);
    }

    fn load(
        &mut self,
        get: &mut dyn FnMut(&'static str) -> Option<Vec<f64>>,
        features: usize,
        classes: usize,
    ) -> Result<(), ConfigError> {
        self.own.load(get, features, classes)
    }
}
