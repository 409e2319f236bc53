//! # One categorical variable
//! $$T(x) = e_x, \qquad g = e_x/\theta_x, \qquad P_\zeta(x, c) = \frac{N_{x,c}}{\sum N},\quad N_{x,c} = a + \text{count}$$
//! One coordinate for every category (over-complete): the trajectory of P(y∣x) is that of the minimal statistic, whose last category
//! would cost a step on all coordinates. A step is $z_{x,c} \mathrel{-}= \gamma\,(q_c - [c = y]) / P_\zeta(x, c)$.
//!
//! **Cost** O(s). **Care** The classes get a·m pseudo-examples each, so that the joint table has a in every cell. A row must have exactly one feature,
//! of value 1. **Source** \[SC21, sec. 4, prop. 5\].

use super::{column, diagonal, divide, empty_cells};
use crate::error::{self, Allowed, ConfigError, DomainError};
use crate::natural::coefficients::{Coefficients, table};
use crate::natural::family::Family;
use crate::natural::statistic::Statistic;
use crate::natural::table::Table;
use crate::row::Row;
use crate::spec::Args;
use crate::walk;

/// The table of counts.
#[derive(Debug, Clone)]
pub(crate) struct Discrete {
    a: f64,
    counts: Table,
    n: Vec<f64>,
    /// n_c + a m of every class, for the row that was scored last.
    mass: Vec<f64>,
}

impl Discrete {
    pub(crate) fn read(args: &mut Args<'_>) -> Result<Self, ConfigError> {
        let a = error::parameter("a", args.number("a", 1.0)?, Allowed::Closed(1e-6, 1e6))?;
        Ok(Self { a, counts: Table::default(), n: Vec::new(), mass: Vec::new() })
    }

    /// 1/θ_{c,x} is this over N_{x,c}.
    fn mass(&self, class: usize) -> f64 {
        self.n.get(class).copied().unwrap_or(0.0) + self.a * self.counts.rows() as f64
    }
}

impl Family for Discrete {
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
        t.sparse(x, self.size(), Allowed::Indicator)?;
        // A category that has no place yet is no category: it predicts like the mean of all.
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
    }

    fn mean(&self, class: usize, out: &mut Vec<f64>) {
        column(&self.counts, class, out);
        let mass = self.mass(class);
        for count in &mut *out {
            *count /= mass;
        }
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
        let mass = self.mass(class);
        divide(r, p, ridge, |j| self.counts.at(j, class) / mass);
    }

    fn pseudo(&self, _: f64) -> f64 {
        self.a * self.counts.rows().max(1) as f64
    }

    fn empty_cells(&self, n: &[f64]) -> (u64, u64) {
        empty_cells(&self.counts, self.a, n)
    }

    fn save(&self, put: &mut dyn FnMut(&'static str, &[f64])) {
        put("counts", self.counts.cells());
        put("class-counts", &self.n);
    }

    fn load(
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
