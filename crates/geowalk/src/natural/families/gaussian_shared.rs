//! # Numbers, one covariance for all classes
//! $$T(x) = x, \qquad g = \Sigma^{-1}(x - \mu_c), \qquad \Sigma = \frac{S + \kappa\Sigma_0}{n - s + \kappa}, \quad
//!   S \mathrel{+}= (x-\mu_{old})(x-\mu_{new})^\top$$
//! This is ordinary multinomial regression with linear log-odds, and the right family for tables of real numbers: the
//! steps do not depend on the condition number of the features. $\Sigma_0$ is the diagonal of the variances over all
//! classes, and s is the number of classes seen. The strength of the prior falls from κ + d, which d features need at
//! the beginning, to κ: $\kappa_n = \kappa + d^2/(n + d)$. Units and origins of the features have no effect. If a
//! prior is given, s = 0 and the strength is κ.
//!
//! **Cost** O(d² + s·d). $P = \Sigma^{-1}$ is recomputed, at d³, when n has grown by 5 %, and kept meanwhile.
//! $P(x - o)$ is computed once per row, where the origin o is the mean of all rows when P was computed. $P(\mu_c - o)$
//! follows $\mu_c$ at O(d). A step then needs only one more product per class:
//! $$\mu_c\cdot g = \mu_c\cdot P(x-o) - \mu_c\cdot P(\mu_c-o), \qquad
//!   (x-\mu_c)\cdot g = (x-o)\cdot P(x-o) - 2(\mu_c-o)\cdot P(x-o) + (\mu_c-o)\cdot P(\mu_c-o).$$
//! Any convergent sequence is valid for ζ. **Care** κ must be small: a prior of κ = 5 examples makes a problem of
//! condition number 1e4 ten times slower, because κ/n must fall below the smallest eigenvalue. With more than 256
//! features, the covariance is a diagonal plus a matrix of low rank (`low_rank.rs`), at O(d) for each of at most 64
//! directions. A given covariance has at most 4096 features. **Source** \[SC21, prop. 3\].

use std::ops::Range;

use super::{NUMBERS, column};
use crate::error::{self, Allowed, ConfigError, DomainError};
use crate::geometry::linalg;
use crate::natural::coefficients::{Coefficients, table};
use crate::natural::family::Family;
use crate::natural::low_rank::LowRank;
use crate::natural::means::{Means, Sight, Start};
use crate::natural::statistic::Statistic;
use crate::natural::table::Table;
use crate::natural::{matrix, rows};
use crate::row::Row;
use crate::spec::Args;
use crate::walk;

/// Maximum number of features of a given covariance.
const WIDEST: usize = 4096;

/// Maximum number of features of a full covariance that is learned.
const FULL: usize = 256;

/// Growth factor of n after which the inverse is recomputed.
pub(super) const GROWTH: f64 = 1.05;

/// The strength of the prior, in examples, that d features need after n examples: d at first, later d·(d/n).
pub(super) fn strength(d: usize, n: f64) -> f64 {
    let d = d as f64;
    if d > 0.0 { d * d / (n + d) } else { 0.0 }
}

/// The means of every class, and the covariance.
#[derive(Debug, Clone)]
pub(crate) struct GaussianShared {
    kappa: f64,
    /// Σ₀; `None` if it is not given.
    prior: Option<Vec<f64>>,
    means: Means,
    /// S, its lower triangle.
    within: Vec<f64>,
    /// Σ as last inverted, and P.
    covariance: Vec<f64>,
    inverse: Vec<f64>,
    /// S, Σ and P for many features; replaces the three fields above.
    low: Option<LowRank>,
    /// o.
    origin: Vec<f64>,
    /// P(μ − o) of every class, and its products with μ and with μ − o.
    image: Table,
    along: Vec<f64>,
    norms: Vec<f64>,
    /// The n at which P is recomputed next.
    due: f64,
    /// x − o and P(x − o).
    centred: Vec<f64>,
    px: Vec<f64>,
    /// μ·P(x − o) of every class.
    products: Vec<f64>,
    scratch: Vec<f64>,
    spoilt: Vec<f64>,
    /// Eigenvalues and eigenvectors of Σ, for the ridge; empty if they are outdated.
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
            low: None,
            origin: Vec::new(),
            image: Table::default(),
            along: Vec::new(),
            norms: Vec::new(),
            due: 0.0,
            centred: Vec::new(),
            px: Vec::new(),
            products: Vec::new(),
            scratch: Vec::new(),
            spoilt: Vec::new(),
            eigen: (Vec::new(), Vec::new()),
        }
    }

    /// out ← P x.
    #[inline(always)]
    fn times(low: Option<&LowRank>, inverse: &[f64], x: &[f64], out: &mut Vec<f64>) {
        match low {
            Some(low) => low.times(x, out),
            None => matrix::times(inverse, x.len(), x, out),
        }
    }

    /// Σ, P and P(μ − o) from S.
    fn refresh(&mut self) {
        self.invert();
        self.origin.clone_from(&self.means.overall);
        self.project();
        self.eigen.0.clear();
        self.due = GROWTH * self.means.total;
    }

    /// Σ and P from S.
    fn invert(&mut self) {
        let d = self.size();
        let degrees = match self.prior {
            Some(_) => self.means.total,
            None => (self.means.total - self.means.seen()).max(0.0),
        };
        let kappa = match self.prior {
            Some(_) => self.kappa,
            None => self.kappa + strength(d, degrees),
        };
        if let Some(low) = &mut self.low {
            return low.refresh(degrees + kappa, kappa, |j| self.means.variance(j));
        }
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
    }

    /// Makes room for d features. S becomes a diagonal plus a matrix of low rank.
    fn widen(&mut self, d: usize) {
        let old = self.within.len().isqrt();
        let low = self.low.get_or_insert_with(|| {
            let units: Vec<f64> = (0..old).map(|j| self.means.variance(j)).collect();
            LowRank::of(&self.within, old, &units)
        });
        low.grow(d);
        for m in [&mut self.within, &mut self.covariance, &mut self.inverse] {
            *m = Vec::new();
        }
        if old > 0 {
            self.due = 0.0;
        }
    }

    /// P(μ − o) of every class.
    fn project(&mut self) {
        let (classes, d) = (self.means.n.len(), self.size());
        self.image.grow(d, classes, |_, _| 0.0);
        self.along.resize(classes, 0.0);
        self.norms.resize(classes, 0.0);
        for c in 0..classes {
            self.centred.clear();
            self.centred.extend(self.means.theta.column(c).zip(&self.origin).map(|(mu, o)| mu - o));
            Self::times(self.low.as_ref(), &self.inverse, &self.centred, &mut self.spoilt);
            for (image, &value) in self.image.column_mut(c).zip(&self.spoilt) {
                *image = value;
            }
            self.measure(c);
        }
    }

    /// The products of P(μ − o) of a class with μ and with μ − o.
    #[inline(always)]
    fn measure(&mut self, class: usize) {
        let (mut along, mut norm) = (0.0, 0.0);
        let columns = self.means.theta.column(class).zip(self.image.column(class));
        for ((mu, image), o) in columns.zip(&self.origin) {
            along += mu * image;
            norm += (mu - o) * image;
        }
        if let (Some(a), Some(n)) = (self.along.get_mut(class), self.norms.get_mut(class)) {
            (*a, *n) = (along, norm);
        }
    }

    /// [`Family::walk`] for some features.
    #[inline(always)]
    fn walk_some(&self, rows: &Range<usize>, a: &[f64], to: &mut Coefficients) {
        let px = self.px[rows.clone()].iter().copied();
        to.update_some(rows, a, &self.image, px, |px, image| px - image);
    }

    #[inline(always)]
    fn begin(&mut self, class: usize, weight: f64) -> Sight {
        self.scratch.resize(self.size(), 0.0);
        self.means.count(class, weight)
    }

    /// Learns some features of an example, and updates the sums of [`GaussianShared::measure`].
    #[inline(always)]
    fn see(
        &mut self,
        rows: &Range<usize>,
        t: &Statistic,
        sight: &Sight,
        [mut along, mut norm]: [f64; 2],
    ) -> [f64; 2] {
        self.means.see(sight, rows, &t.value, &mut self.scratch[rows.clone()]);
        // Baselines do not score, so they have no images.
        let px = self.px.get(rows.clone()).unwrap_or_default();
        for (row, px) in self.image.some_mut(rows).zip(px) {
            let image = &mut row[sight.class];
            *image += sight.part * (px - *image);
        }
        let columns = self.means.theta.some(rows).zip(self.image.some(rows));
        for ((theta, image), o) in columns.zip(&self.origin[rows.clone()]) {
            let (mu, image) = (theta[sight.class], image[sight.class]);
            along += mu * image;
            norm += (mu - o) * image;
        }
        [along, norm]
    }

    /// Ends an example after all features were learned.
    #[inline(always)]
    fn end(&mut self, sight: &Sight, [along, norm]: [f64; 2]) {
        let Sight { class, weight, part, .. } = *sight;
        (self.along[class], self.norms[class]) = (along, norm);
        // Classes without examples follow the mean of all; so do their images.
        if self.prior.is_none() && self.means.n.contains(&0.0) {
            let share = weight / self.means.total;
            for c in 0..self.means.n.len() {
                if self.means.n[c] == 0.0 {
                    for (image, &px) in self.image.column_mut(c).zip(&self.px) {
                        *image += share * (px - *image);
                    }
                    self.measure(c);
                }
            }
        }
        let weight = weight * (1.0 - part);
        if let Some(low) = &mut self.low {
            low.add(weight, &self.scratch, |j| self.means.variance(j));
        } else {
            let d = self.means.theta.rows();
            matrix::add_outer(&mut self.within, d, weight, &self.scratch);
        }
        if self.means.total >= self.due {
            self.refresh();
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
        if d > WIDEST && self.prior.is_some() {
            let what = "the number of features of a given covariance";
            let allowed = Allowed::Closed(0.0, WIDEST as f64);
            return Err(DomainError::Scalar { what, value: d as f64, allowed });
        }
        if d == old && classes <= n {
            return Ok(());
        }
        self.means.grow(d, classes);
        // New features do not move until they have been seen.
        if d > FULL && self.prior.is_none() {
            self.widen(d);
        } else {
            for m in [&mut self.within, &mut self.covariance, &mut self.inverse] {
                matrix::widen(m, old, d);
            }
            if d > old {
                self.due = 0.0;
            }
        }
        self.origin.resize(d, 0.0);
        self.eigen.0.clear();
        self.project();
        Ok(())
    }

    fn statistic<X: Row<f64>>(&self, x: X, t: &mut Statistic) -> Result<(), DomainError> {
        t.dense(x, self.size(), NUMBERS)
    }

    #[inline(always)]
    fn score(&mut self, t: &Statistic, dots: &mut [f64], excess: &mut [f64]) {
        self.centred.clone_from(&t.value);
        rows::change(&mut self.centred, &self.origin, &self.origin, |x, o, _| x - o);
        Self::times(self.low.as_ref(), &self.inverse, &self.centred, &mut self.px);
        self.products.clear();
        self.products.resize(self.means.n.len(), 0.0);
        self.means.theta.combine_all(&self.px, &mut self.products);
        let own = rows::sum(&self.centred, &self.px, |x, px| x * px);
        let origin = rows::sum(&self.origin, &self.px, |o, px| o * px);
        rows::change(dots, &self.products, &self.along, |dot, m, along| dot + (m - along));
        rows::change(excess, &self.products, &self.norms, |excess, m, norm| {
            excess + ((own - 2.0 * (m - origin)) + norm)
        });
    }

    #[inline(always)]
    fn walk(&self, _: &Statistic, a: &[f64], to: &mut Coefficients) {
        self.walk_some(&(0..self.size()), a, to);
    }

    #[inline(always)]
    fn observe(&mut self, t: &Statistic, class: usize, weight: f64) {
        let sight = self.begin(class, weight);
        let sums = self.see(&(0..self.size()), t, &sight, [0.0; 2]);
        self.end(&sight, sums);
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
        let sight = self.begin(class, weight);
        let mut sums = [0.0; 2];
        for rows in self.means.theta.stretches() {
            self.walk_some(&rows, a, to);
            sums = self.see(&rows, t, &sight, sums);
        }
        self.end(&sight, sums);
    }

    fn mean(&self, class: usize, out: &mut Vec<f64>) {
        column(&self.means.theta, class, out);
    }

    fn covariance(&self, _: usize, out: &mut Vec<f64>) {
        match &self.low {
            Some(low) => low.covariance(out),
            None => out.clone_from(&self.covariance),
        }
    }

    fn damp(&mut self, _: usize, p: f64, ridge: f64, r: &mut [f64]) {
        if let Some(low) = &self.low {
            return low.damp(p, ridge, r);
        }
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
        if let Some(low) = &self.low {
            low.save(put);
        } else {
            put("within", &self.within);
            put("covariance", &self.covariance);
            put("inverse", &self.inverse);
        }
        put("origin", &self.origin);
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
        let is_wide = features > FULL && self.prior.is_none();
        // A model of an older version has a full covariance.
        let square_kept = get("covariance").is_some();
        self.low = if is_wide && !square_kept { Some(LowRank::load(get, features)?) } else { None };
        if self.low.is_none() {
            self.within = walk::array_of(get, "within", Allowed::Finite, square)?;
            self.covariance = walk::array_of(get, "covariance", Allowed::Finite, square)?;
            self.inverse = walk::array_of(get, "inverse", Allowed::Finite, square)?;
        }
        self.origin = walk::array_of(get, "origin", Allowed::Finite, features)?;
        self.image = table(get, "image", Allowed::Finite, features, classes)?;
        [self.due] = walk::numbers(get, "due", Allowed::NonNegative)?;
        self.eigen.0.clear();
        self.along.resize(classes, 0.0);
        self.norms.resize(classes, 0.0);
        for class in 0..classes {
            self.measure(class);
        }
        Ok(())
    }
}
