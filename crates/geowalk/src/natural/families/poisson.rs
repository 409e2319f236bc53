//! # Independent counts
//! $$T(x) = x, \qquad g_j = \frac{x_j}{\lambda_j} - 1, \qquad
//!   \lambda_{c,j} = \frac{\sum x_j + \kappa\lambda_0}{n_c + \kappa}$$
//! **Cost** O(s·nnz). **Care** All values ≥ 0 are accepted as counts; λ₀ is `start`. λ stays above κλ₀/(n_c + κ). In
//! wide rows, κλ₀ per feature is a large prior total; `multinomial` does not have this problem. **Source** \[SC21,
//! prop. 3\].

use super::counts::Counts;
use super::{COUNTS, diagonal, divide};
use crate::error::{self, Allowed, ConfigError, DomainError};
use crate::natural::coefficients::Coefficients;
use crate::natural::family::Family;
use crate::natural::statistic::Statistic;
use crate::row::Row;
use crate::spec::Args;
use crate::walk;

/// The sums of every class.
#[derive(Debug, Clone)]
pub(crate) struct Poisson {
    kappa: f64,
    counts: Counts,
    n: Vec<f64>,
}

impl Poisson {
    pub(crate) fn read(args: &mut Args<'_>) -> Result<Self, ConfigError> {
        let allowed = Allowed::Closed(1e-9, 1e9);
        let kappa = error::parameter("kappa", args.number("kappa", 1.0)?, allowed)?;
        let start = error::parameter("start", args.number("start", 1.0)?, allowed)?;
        Ok(Self { kappa, counts: Counts::new(kappa * start), n: Vec::new() })
    }

    fn mass(&self, class: usize) -> f64 {
        self.n.get(class).copied().unwrap_or(0.0) + self.kappa
    }
}

impl Family for Poisson {
    fn size(&self) -> usize {
        self.counts.size()
    }

    fn grow(&mut self, features: usize, classes: usize) -> Result<(), DomainError> {
        self.counts.grow(features, classes);
        self.n.resize(classes.max(self.n.len()), 0.0);
        Ok(())
    }

    fn statistic<X: Row<f64>>(&self, x: X, t: &mut Statistic) -> Result<(), DomainError> {
        t.sparse(x, self.size(), COUNTS)
    }

    #[inline(always)]
    fn score(&mut self, t: &Statistic, dots: &mut [f64], excess: &mut [f64]) {
        self.counts.mass.clear();
        self.counts.mass.extend(self.n.iter().map(|n| n + self.kappa));
        self.counts.score(t, dots, excess);
    }

    #[inline(always)]
    fn walk(&self, t: &Statistic, a: &[f64], to: &mut Coefficients) {
        self.counts.walk(t, a, to);
    }

    #[inline(always)]
    fn observe(&mut self, t: &Statistic, class: usize, weight: f64) {
        self.counts.observe(t, class, weight);
        if let Some(n) = self.n.get_mut(class) {
            *n += weight;
        }
    }

    fn mean(&self, class: usize, out: &mut Vec<f64>) {
        self.counts.mean(class, self.mass(class), out);
    }

    fn covariance(&self, class: usize, out: &mut Vec<f64>) {
        let mut lambda = Vec::new();
        self.mean(class, &mut lambda);
        diagonal(lambda.iter().copied(), out);
    }

    fn damp(&mut self, class: usize, p: f64, ridge: f64, r: &mut [f64]) {
        let mass = self.mass(class);
        divide(r, p, ridge, |j| self.counts.at(j, class) / mass);
    }

    fn empty_cells(&self, n: &[f64]) -> (u64, u64) {
        self.counts.empty_cells(n)
    }

    fn save(&self, put: &mut dyn FnMut(&'static str, &[f64])) {
        self.counts.save(put);
        put("class-counts", &self.n);
    }

    fn load(
        &mut self,
        get: &mut dyn FnMut(&'static str) -> Option<Vec<f64>>,
        features: usize,
        classes: usize,
    ) -> Result<(), ConfigError> {
        self.counts.load(get, features, classes)?;
        self.n = walk::array_of(get, "class-counts", Allowed::NonNegative, classes)?;
        Ok(())
    }
}
