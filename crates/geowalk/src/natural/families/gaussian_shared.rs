//! # Numbers, one covariance
//! $$T(x) = x, \qquad g = \Sigma^{-1}(x - \mu_c), \qquad \Sigma = \frac{S + \kappa\Sigma_0}{n - s + \kappa}, \quad S \mathrel{+}= (x-\mu_{old})(x-\mu_{new})^\top$$
//! Ordinary multinomial regression, linear log-odds, and the family to use for real-valued tables: the steps do not depend on the condition number of the
//! features. $\Sigma_0$ is the diagonal of the variances over all classes, s the number of classes seen, and the strength of the prior falls from κ + d, as much as
//! d features need at the beginning, to κ: $\kappa_n = \kappa + d^2/(n + d)$. Units and origins of the features do not matter. Where a prior is given,
//! s = 0 and the strength is κ.
//!
//! **Cost** O(d² + s·d): $P = \Sigma^{-1}$ is computed anew, at d³, when n has grown by 5 %, and kept in between; $Px$ is computed once per row,
//! and $P\mu_c$ follows $\mu_c$ at O(d). Any convergent sequence will do for ζ. **Care** κ must be small: a prior of κ = 5 examples slows a
//! problem of condition number 1e4 tenfold, as κ/n must fall below the smallest eigenvalue. At most 4096 features.
//! **Source** \[SC21, prop. 3\].

use super::{NUMBERS, column};
use crate::error::{self, Allowed, ConfigError, DomainError};
use crate::geometry::linalg;
use crate::natural::coefficients::{Coefficients, table};
use crate::natural::family::Family;
use crate::natural::matrix;
use crate::natural::means::{Means, Start};
use crate::natural::statistic::Statistic;
use crate::natural::table::Table;
use crate::row::Row;
use crate::spec::Args;
use crate::walk;

/// More features than this: use the diagonal family.
pub(super) const WIDEST: usize = 4096;

/// How much n grows until the inverse is computed anew.
pub(super) const GROWTH: f64 = 1.05;

/// How many examples' worth of prior d features need after n examples: d at first, and a share of (d/n)² in the end.
pub(super) fn strength(d: usize, n: f64) -> f64 {
    let d = d as f64;
    if d > 0.0 { d * d / (n + d) } else { 0.0 }
}

/// The means of every class, and the covariance.
#[derive(Debug, Clone)]
pub(crate) struct GaussianShared {
    kappa: f64,
    /// Σ₀, if it is given.
    prior: Option<Vec<f64>>,
    means: Means,
    /// S, its lower triangle.
    within: Vec<f64>,
    /// Σ as it was when it was last inverted, and P.
    covariance: Vec<f64>,
    inverse: Vec<f64>,
    /// Pμ of every class.
    image: Table,
    /// The n from which on P is computed anew.
    due: f64,
    /// Px.
    px: Vec<f64>,
    scratch: Vec<f64>,
    spoilt: Vec<f64>,
    /// Eigenvalues and vectors of Σ, for the ridge; empty if they are not up to date.
    eigen: (Vec<f64>, Vec<f64>),
}

impl GaussianShared {
    pub(crate) fn read(args: &mut Args<'_>) -> Result<Self, ConfigError> {
        let kappa = args.number("kappa", 0.05)?;
        let kappa = error::parameter("kappa", kappa, Allowed::Closed(1e-9, 1e9))?;
        Ok(Self::new(kappa, None, Start::Seen))
    }

    pub(crate) fn given(kappa: f64, mean: &[f64], covariance: &[f64]) -> Result<Self, ConfigError> {
        let kappa = error::parameter("kappa", kappa, Allowed::Closed(1e-9, 1e9))?;
        let d = mean.len();
        error::finite("the mean of the prior", mean, d)?;
        error::finite("the covariance of the prior", covariance, d * d)?;
        let mut family = Self::new(kappa, Some(covariance.to_vec()), Start::Given(mean.to_vec()));
        family.grow(d, 0)?;
        family.refresh();
        Ok(family)
    }

    fn new(kappa: f64, prior: Option<Vec<f64>>, start: Start) -> Self {
        Self {
            kappa,
            prior,
            means: Means::new(kappa, start),
            within: Vec::new(),
            covariance: Vec::new(),
            inverse: Vec::new(),
            image: Table::default(),
            due: 0.0,
            px: Vec::new(),
            scratch: Vec::new(),
            spoilt: Vec::new(),
            eigen: (Vec::new(), Vec::new()),
        }
    }

    /// Σ, P and Pμ from S.
    fn refresh(&mut self) {
        let d = self.size();
        let degrees = match self.prior {
            Some(_) => self.means.total,
            None => (self.means.total - self.means.seen()).max(0.0),
        };
        let kappa = match self.prior {
            Some(_) => self.kappa,
            None => self.kappa + strength(d, degrees),
        };
        self.covariance.clone_from(&self.within);
        match &self.prior {
            Some(prior) => {
                for (a, p) in self.covariance.iter_mut().zip(prior) {
                    *a += kappa * p;
                }
            }
            None => {
                for j in 0..d {
                    self.covariance[j * d + j] += kappa * self.means.variance(j);
                }
            }
        }
        for a in &mut self.covariance {
            *a /= degrees + kappa;
        }
        self.spoilt.clone_from(&self.covariance);
        matrix::inverse(&mut self.spoilt, d, &mut self.scratch, &mut self.inverse);
        for j in 0..d {
            for i in 0..j {
                self.covariance[j * d + i] = self.covariance[i * d + j];
            }
        }
        self.project();
        self.eigen.0.clear();
        self.due = GROWTH * self.means.total;
    }

    /// Pμ of every class.
    fn project(&mut self) {
        let (classes, d) = (self.means.n.len(), self.size());
        self.image.grow(d, classes, |_, _| 0.0);
        for c in 0..classes {
            column(&self.means.theta, c, &mut self.scratch);
            matrix::times(&self.inverse, d, &self.scratch, &mut self.spoilt);
            for (j, &value) in self.spoilt.iter().enumerate() {
                if let Some(cell) = self.image.row_mut(j).get_mut(c) {
                    *cell = value;
                }
            }
        }
    }
}

impl Family for GaussianShared {
    fn size(&self) -> usize {
        self.means.theta.rows()
    }

    fn grow(&mut self, features: usize, classes: usize) -> Result<(), DomainError> {
        let (old, n) = (self.size(), self.means.n.len());
        let d = features.max(old);
        if d > WIDEST {
            let what =
                "the number of features (a full covariance is too large: use the diagonal family)";
            let allowed = Allowed::Closed(0.0, WIDEST as f64);
            return Err(DomainError::Scalar { what, value: d as f64, allowed });
        }
        if d == old && classes <= n {
            return Ok(());
        }
        self.means.grow(d, classes);
        for m in [&mut self.within, &mut self.covariance, &mut self.inverse] {
            matrix::widen(m, old, d);
        }
        // Features without a past do not move until they have one.
        self.eigen.0.clear();
        self.project();
        if d > old {
            self.due = 0.0;
        }
        Ok(())
    }

    fn statistic<X: Row<f64>>(&self, x: X, t: &mut Statistic) -> Result<(), DomainError> {
        t.dense(x, self.size(), NUMBERS)
    }

    fn score(&mut self, t: &Statistic, dots: &mut [f64], excess: &mut [f64]) {
        matrix::times(&self.inverse, self.size(), &t.value, &mut self.px);
        let tables = self.means.theta.each().zip(self.image.each());
        for ((&x, &px), (row, image)) in t.value.iter().zip(&self.px).zip(tables) {
            let both = row.iter().zip(image);
            for ((dot, excess), (&mu, &image)) in dots.iter_mut().zip(&mut *excess).zip(both) {
                let g = px - image;
                *dot += mu * g;
                *excess += (x - mu) * g;
            }
        }
    }

    fn walk(&self, _: &Statistic, a: &[f64], to: &mut Coefficients) {
        for (j, (&px, image)) in self.px.iter().zip(self.image.each()).enumerate() {
            to.update(j, a, image, |image| px - image);
        }
    }

    fn observe(&mut self, t: &Statistic, class: usize, weight: f64) {
        let part = self.means.observe(&t.value, class, weight, &mut self.scratch);
        // Classes without examples follow the mean of all, and so do their images.
        let share = if self.prior.is_none() { weight / self.means.total } else { 0.0 };
        for (&px, image) in self.px.iter().zip(self.image.each_mut()) {
            for (c, (image, &n)) in image.iter_mut().zip(&self.means.n).enumerate() {
                if c == class {
                    *image += part * (px - *image);
                } else if n == 0.0 {
                    *image += share * (px - *image);
                }
            }
        }
        matrix::add_outer(
            &mut self.within,
            self.means.theta.rows(),
            weight * (1.0 - part),
            &self.scratch,
        );
        if self.means.total >= self.due {
            self.refresh();
        }
    }

    fn mean(&self, class: usize, out: &mut Vec<f64>) {
        column(&self.means.theta, class, out);
    }

    fn covariance(&self, _: usize, out: &mut Vec<f64>) {
        out.clone_from(&self.covariance);
    }

    fn damp(&mut self, _: usize, p: f64, ridge: f64, r: &mut [f64]) {
        let d = self.size();
        if self.eigen.0.len() != d {
            self.eigen.0.resize(d, 0.0);
            self.eigen.1.resize(d * d, 0.0);
            let (values, vectors) = (&mut self.eigen.0, &mut self.eigen.1);
            if linalg::eigen(&mut self.covariance.clone(), d, values, vectors).is_none() {
                return r.fill(0.0);
            }
        }
        let (values, vectors) = &self.eigen;
        self.scratch.clear();
        for (column, value) in vectors.chunks_exact(d.max(1)).zip(values) {
            let inside: f64 = column.iter().zip(&*r).map(|(u, r)| u * r).sum();
            let moves = *value > 0.0;
            self.scratch.push(if moves { inside / (p * value + ridge) } else { 0.0 });
        }
        r.fill(0.0);
        for (column, &inside) in vectors.chunks_exact(d.max(1)).zip(&self.scratch) {
            for (r, u) in r.iter_mut().zip(column) {
                *r += u * inside;
            }
        }
    }

    fn save(&self, put: &mut dyn FnMut(&'static str, &[f64])) {
        self.means.save(put);
        put("within", &self.within);
        put("covariance", &self.covariance);
        put("inverse", &self.inverse);
        put("image", self.image.cells());
        put("due", &[self.due]);
    }

    fn load(
        &mut self,
        get: &mut dyn FnMut(&'static str) -> Option<Vec<f64>>,
        features: usize,
        classes: usize,
    ) -> Result<(), ConfigError> {
        let square = features * features;
        self.means.load(get, features, classes)?;
        self.within = walk::array_of(get, "within", Allowed::Finite, square)?;
        self.covariance = walk::array_of(get, "covariance", Allowed::Finite, square)?;
        self.inverse = walk::array_of(get, "inverse", Allowed::Finite, square)?;
        self.image = table(get, "image", Allowed::Finite, features, classes)?;
        [self.due] = walk::numbers(get, "due", Allowed::NonNegative)?;
        self.eigen.0.clear();
        Ok(())
    }
}
