//! # Independent features between 0 and 1
//! $$T(x) = x, \qquad g_j = \frac{x_j - \theta_j}{\theta_j(1-\theta_j)} = \frac{x_j}{\theta_j(1-\theta_j)} - \frac1{1-\theta_j}, \qquad
//!   \theta_{c,j} = \frac{\sum x_j + \kappa/2}{n_c + \kappa}$$
//! Features that are 0 move too, each by its $1/(1-\theta_{c,j})$. Therefore θ of a class is kept until $n_c$ has
//! grown by 5 %. Meanwhile, a step moves the coordinates of the row and one scalar per class for all others,
//! $\beta_{c,j} = b_{c,j} + B_c/(1-\theta_{c,j})$. With $O_c = \sum_j \theta_{c,j}/(1-\theta_{c,j})$
//! $$\theta_c\cdot g_c = \sum_j \frac{x_j}{1-\theta_{c,j}} - O_c, \qquad
//!   (x-\theta_c)\cdot g_c = O_c + \sum_j \frac{x_j(x_j - 2\theta_{c,j})}{\theta_{c,j}(1-\theta_{c,j})} .$$
//! **Cost** O(s·nnz), and O(d) whenever θ of a class is recomputed: 20 times in the first 20 rows of the class, and
//! about 47 times per tenfold growth after that. Dense rows are processed as sparse ones, with the same bits. Any
//! convergent sequence is valid for ζ. **Care** θ is kept in [1e-4, 1 − 1e-4]. **Source** \[SC21, prop. 3\]; the lazy
//! form is new.

use super::{column, diagonal, divide, empty_cells, gaussian_shared};
use crate::error::{self, Allowed, ConfigError, DomainError};
use crate::natural::coefficients::{Coefficients, table};
use crate::natural::family::Family;
use crate::natural::rows;
use crate::natural::statistic::Statistic;
use crate::natural::table::Table;
use crate::row::Row;
use crate::spec::Args;
use crate::walk;

/// The probabilities of every class.
#[derive(Debug, Clone)]
pub(crate) struct Bernoulli {
    kappa: f64,
    /// Σx by feature and class, and examples of each class.
    sums: Table,
    n: Vec<f64>,
    /// θ as last computed, and O.
    theta: Table,
    odds: Vec<f64>,
    /// The n of each class at which its θ is recomputed next.
    due: Vec<f64>,
    /// A class whose new θ has not been passed to the coefficients.
    renewed: Option<usize>,
}

/// θ away from the edges of its domain.
#[inline]
fn inside(theta: f64) -> f64 {
    theta.clamp(1e-4, 1.0 - 1e-4)
}

impl Bernoulli {
    pub(crate) fn read(args: &mut Args<'_>) -> Result<Self, ConfigError> {
        let kappa = args.number("kappa", 1.0)?;
        let kappa = error::parameter("kappa", kappa, Allowed::Closed(1e-9, 1e9))?;
        Ok(Self {
            kappa,
            sums: Table::default(),
            n: Vec::new(),
            theta: Table::default(),
            odds: Vec::new(),
            due: Vec::new(),
            renewed: None,
        })
    }

    /// θ and O of a class from its sums.
    fn refresh(&mut self, class: usize) {
        let Some(&n) = self.n.get(class) else { return };
        let (kappa, mut odds) = (self.kappa, 0.0);
        for (theta, sum) in self.theta.column_mut(class).zip(self.sums.column(class)) {
            *theta = inside((sum + 0.5 * kappa) / (n + kappa));
            odds += *theta / (1.0 - *theta);
        }
        self.odds[class] = odds;
        self.due[class] = gaussian_shared::GROWTH * n;
    }
}

impl Family for Bernoulli {
    fn size(&self) -> usize {
        self.theta.rows()
    }

    fn grow(&mut self, features: usize, classes: usize) -> Result<(), DomainError> {
        let (d, s) = (self.size(), self.n.len());
        let classes = classes.max(s);
        self.sums.grow(features, classes, |_, _| 0.0);
        self.theta.grow(features, classes, |_, _| 0.5);
        self.n.resize(classes, 0.0);
        self.odds.resize(classes, 0.0);
        self.due.resize(classes, 0.0);
        for class in s..classes {
            self.refresh(class);
        }
        // A new feature was 0 in all earlier examples.
        for j in d..self.size() {
            for (c, theta) in self.theta.row_mut(j).iter_mut().enumerate().take(s) {
                *theta = inside(0.5 * self.kappa / (self.n[c] + self.kappa));
                self.odds[c] += *theta / (1.0 - *theta);
            }
        }
        Ok(())
    }

    fn statistic<X: Row<f64>>(&self, x: X, t: &mut Statistic) -> Result<(), DomainError> {
        t.sparse(x, self.size(), Allowed::Closed(0.0, 1.0))
    }

    #[inline(always)]
    fn score(&mut self, t: &Statistic, dots: &mut [f64], excess: &mut [f64]) {
        rows::change_both(dots, excess, &self.odds, &self.odds, |dot, excess, odds, _| {
            (dot - odds, excess + odds)
        });
        t.each(
            #[inline(always)]
            |j, x| {
                let theta = self.theta.row(j);
                rows::change_both(dots, excess, theta, theta, |dot, excess, theta, _| {
                    let share = x / (1.0 - theta);
                    (dot + share, excess + share * (x - 2.0 * theta) / theta)
                });
            },
        );
    }

    #[inline(always)]
    fn walk(&self, t: &Statistic, a: &[f64], to: &mut Coefficients) {
        t.each(
            #[inline(always)]
            |j, x| to.update(j, a, self.theta.row(j), |theta| x / (theta * (1.0 - theta))),
        );
        to.shift(a, -1.0);
    }

    #[inline(always)]
    fn observe(&mut self, t: &Statistic, class: usize, weight: f64) {
        t.each(|j, x| {
            if let Some(sum) = self.sums.row_mut(j).get_mut(class) {
                *sum += weight * x;
            }
        });
        if let (Some(n), Some(&due)) = (self.n.get_mut(class), self.due.get(class)) {
            *n += weight;
            if *n >= due {
                self.refresh(class);
                self.renewed = Some(class);
            }
        }
    }

    fn settle(&mut self, beta: &mut Coefficients) {
        if let Some(class) = self.renewed.take() {
            beta.reshape(class, self.theta.column(class).map(|theta| 1.0 / (1.0 - theta)));
        }
        beta.complete(|j, class| 1.0 / (1.0 - self.theta.at(j, class)));
    }

    fn mean(&self, class: usize, out: &mut Vec<f64>) {
        column(&self.theta, class, out);
    }

    fn covariance(&self, class: usize, out: &mut Vec<f64>) {
        let mut theta = Vec::new();
        self.mean(class, &mut theta);
        diagonal(theta.iter().map(|theta| theta * (1.0 - theta)), out);
    }

    fn damp(&mut self, class: usize, p: f64, ridge: f64, r: &mut [f64]) {
        divide(r, p, ridge, |j| {
            let theta = self.theta.at(j, class);
            theta * (1.0 - theta)
        });
    }

    fn empty_cells(&self, n: &[f64]) -> (u64, u64) {
        empty_cells(&self.sums, 0.0, n)
    }

    fn save(&self, put: &mut dyn FnMut(&'static str, &[f64])) {
        put("sums", self.sums.cells());
        put("class-counts", &self.n);
        put("theta", self.theta.cells());
        put("odds", &self.odds);
        put("due", &self.due);
    }

    fn load(
        &mut self,
        get: &mut dyn FnMut(&'static str) -> Option<Vec<f64>>,
        features: usize,
        classes: usize,
    ) -> Result<(), ConfigError> {
        self.sums = table(get, "sums", Allowed::NonNegative, features, classes)?;
        self.n = walk::array_of(get, "class-counts", Allowed::NonNegative, classes)?;
        self.theta = table(get, "theta", Allowed::Open(0.0, 1.0), features, classes)?;
        self.odds = walk::array_of(get, "odds", Allowed::NonNegative, classes)?;
        self.due = walk::array_of(get, "due", Allowed::NonNegative, classes)?;
        self.renewed = None;
        Ok(())
    }
}
