//! # Numbers, one variance per feature and class
//! $$T(x) = (x_1, x_1^2, x_2, x_2^2, \ldots), \qquad g_2 = \frac{r^2/v - 1}{2v}, \quad
//!   g_1 = \frac rv - 2\mu g_2, \qquad r = x - \mu$$
//! The log-odds are quadratic in each feature.
//!
//! **Cost** O(s·d). **Care** Variances use Welford's recurrence, never $m_2 - m_1^2$. They are at least 1e-9 of the
//! variance over all classes, which is also the prior. A feature that has not varied yet does not move. Coordinates 2j
//! and 2j + 1 belong to feature j. **Source** \[SC21, prop. 3\].

use super::{NUMBERS, diagonal};
use crate::error::{self, Allowed, ConfigError, DomainError};
use crate::natural::coefficients::{Coefficients, table};
use crate::natural::family::Family;
use crate::natural::means::{Means, Start};
use crate::natural::rows;
use crate::natural::statistic::Statistic;
use crate::natural::table::Table;
use crate::real::lanes::select;
use crate::row::Row;
use crate::spec::Args;

/// The smallest variance of a class relative to that over all classes. Any ζ inside the family is valid. A step for a
/// very narrow class would change the log-odds of rows of other classes by hundreds.
const NARROWEST: f64 = 0.1;

/// Means and variances of every class.
#[derive(Debug, Clone)]
pub(crate) struct GaussianDiagonal {
    kappa: f64,
    means: Means,
    /// Σ(x − μ)² by feature and class.
    squares: Table,
    /// g of the row scored last.
    g: Table,
    /// v of every class, for one feature.
    v: Vec<f64>,
    x: Vec<f64>,
    scratch: Vec<f64>,
}

impl GaussianDiagonal {
    pub(crate) fn read(args: &mut Args<'_>) -> Result<Self, ConfigError> {
        let kappa = args.number("kappa", 1.0)?;
        let kappa = error::parameter("kappa", kappa, Allowed::Closed(1e-9, 1e9))?;
        let (squares, g) = (Table::default(), Table::default());
        let (v, x, scratch) = (Vec::new(), Vec::new(), Vec::new());
        Ok(Self { kappa, means: Means::new(kappa, Start::Seen), squares, g, v, x, scratch })
    }

    /// v of a feature and class; 0 if the feature has not varied.
    fn variance(&self, j: usize, class: usize) -> f64 {
        let n = self.means.n.get(class).copied().unwrap_or(0.0);
        variance(self.squares.at(j, class), self.means.variance(j), n, self.kappa)
    }
}

#[inline(always)]
fn variance(squares: f64, all: f64, n: f64, kappa: f64) -> f64 {
    let (own, least) = ((squares + kappa * all) / (n + kappa), NARROWEST * all);
    select(own > least, own, least)
}

impl Family for GaussianDiagonal {
    fn size(&self) -> usize {
        2 * self.means.theta.rows()
    }

    fn grow(&mut self, features: usize, classes: usize) -> Result<(), DomainError> {
        self.means.grow(features, classes);
        let d = self.means.theta.rows();
        self.squares.grow(d, classes, |_, _| 0.0);
        self.g.grow(2 * d, classes, |_, _| 0.0);
        Ok(())
    }

    fn statistic<X: Row<f64>>(&self, x: X, t: &mut Statistic) -> Result<(), DomainError> {
        let d = self.means.theta.rows();
        let said = t.dense(x, d, NUMBERS);
        t.value.resize(2 * d, 0.0);
        for j in (0..d).rev() {
            let x = t.value[j];
            t.value[2 * j + 1] = x * x;
            t.value[2 * j] = x;
        }
        said
    }

    #[inline(always)]
    fn score(&mut self, t: &Statistic, dots: &mut [f64], excess: &mut [f64]) {
        let kappa = self.kappa;
        for (j, x) in t.value.chunks_exact(2).enumerate() {
            let (x, all) = (x[0], self.means.variance(j));
            if all <= 0.0 {
                self.g.row_mut(2 * j).fill(0.0);
                self.g.row_mut(2 * j + 1).fill(0.0);
                continue;
            }
            let (mu, v) = (self.means.theta.row(j), &mut self.v);
            v.clear();
            v.resize(self.means.n.len(), 0.0);
            let squares = self.squares.row(j);
            rows::change(v, squares, &self.means.n, |_, square, n| variance(square, all, n, kappa));
            let (g1, g2) = self.g.pair_mut(2 * j);
            rows::change_both(g1, g2, mu, v, |_, _, mu, v| {
                let r = x - mu;
                let g2 = 0.5 * (r * r / v - 1.0) / v;
                (r / v - 2.0 * mu * g2, g2)
            });
            rows::change_both(dots, excess, mu, v, |dot, excess, mu, v| {
                let r = x - mu;
                let m = r * r / v;
                let g2 = 0.5 * (m - 1.0) / v;
                let own = mu * r / v + (v - mu * mu) * g2;
                (dot + own, excess + (m + 0.5 * (m - 1.0) * (m - 1.0)))
            });
        }
    }

    #[inline(always)]
    fn walk(&self, _: &Statistic, a: &[f64], to: &mut Coefficients) {
        to.update_all(a, &self.g, std::iter::repeat(()), |(), g| g);
    }

    #[inline(always)]
    fn observe(&mut self, t: &Statistic, class: usize, weight: f64) {
        self.x.clear();
        self.x.extend(t.value.iter().step_by(2));
        let part = self.means.observe(&self.x, class, weight, &mut self.scratch);
        for (row, residual) in self.squares.each_mut().zip(&self.scratch) {
            if let Some(squares) = row.get_mut(class) {
                *squares += weight * (1.0 - part) * residual * residual;
            }
        }
    }

    fn mean(&self, class: usize, out: &mut Vec<f64>) {
        out.clear();
        for j in 0..self.means.theta.rows() {
            let mu = self.means.theta.at(j, class);
            out.extend([mu, self.variance(j, class) + mu * mu]);
        }
    }

    fn covariance(&self, class: usize, out: &mut Vec<f64>) {
        let (d, t) = (self.means.theta.rows(), self.size());
        diagonal(std::iter::repeat_n(0.0, t), out);
        for j in 0..d {
            let [a, b, c] = block(self.means.theta.at(j, class), self.variance(j, class));
            out[2 * j * t + 2 * j] = a;
            out[2 * j * t + 2 * j + 1] = b;
            out[(2 * j + 1) * t + 2 * j] = b;
            out[(2 * j + 1) * t + 2 * j + 1] = c;
        }
    }

    fn damp(&mut self, class: usize, p: f64, ridge: f64, r: &mut [f64]) {
        for (j, r) in r.chunks_exact_mut(2).enumerate() {
            let v = self.variance(j, class);
            if v <= 0.0 {
                r.fill(0.0);
                continue;
            }
            let [a, b, c] = block(self.means.theta.at(j, class), v);
            let (a, b, c) = (p * a + ridge, p * b, p * c + ridge);
            // a c − b² = p²·2v³ + λ(…): for λ > 0 there is no harmful cancellation.
            let determinant = a * c - b * b;
            let (x, y) = (r[0], r[1]);
            r[0] = (c * x - b * y) / determinant;
            r[1] = (a * y - b * x) / determinant;
        }
    }

    fn linear(&self, i: usize) -> usize {
        2 * i
    }

    fn save(&self, put: &mut dyn FnMut(&'static str, &[f64])) {
        self.means.save(put);
        put("squares", self.squares.cells());
    }

    fn load(
        &mut self,
        get: &mut dyn FnMut(&'static str) -> Option<Vec<f64>>,
        features: usize,
        classes: usize,
    ) -> Result<(), ConfigError> {
        self.means.load(get, features, classes)?;
        self.squares = table(get, "squares", Allowed::NonNegative, features, classes)?;
        self.g = Table::default();
        self.g.grow(2 * features, classes, |_, _| 0.0);
        Ok(())
    }
}

/// Var x, Cov(x, x²), Var x².
fn block(mu: f64, v: f64) -> [f64; 3] {
    [v, 2.0 * mu * v, 2.0 * v * v + 4.0 * mu * mu * v]
}
