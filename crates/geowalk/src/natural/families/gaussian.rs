//! # Numbers, one covariance per class
//! $$T(x) = (x, \mathrm{vech}\,xx^\top), \qquad G_2 = \tfrac12(P r r^\top P - P), \quad g_1 = Pr - 2G_2\mu, \qquad
//!   r = x-\mu,\; P = \Sigma_c^{-1}$$
//! where vech has the diagonal and the part below it, doubled in g. The log-odds are quadratic in all features:
//! $k \approx s\,d^2/2$. With $m = r^\top P r$,
//! $$\theta\cdot g = \mu^\top P r - \tfrac12\bigl((\mu^\top P r)^2 - \mu^\top P\mu\bigr) + \tfrac12(m - d), \qquad
//!   (T-\theta)\cdot g = m + \tfrac12(m^2 - 2m + d).$$
//! **Cost** O(s·d²) = O(k). $P$ of a class is recomputed, at d³, when its number of examples has grown by 5 %.
//! **Care** The prior is the diagonal of the variances over all classes, with the decreasing strength of
//! `gaussian-shared`. At most 256 features. No ridge. **Source** \[SC21, prop. 3\].

use super::{NUMBERS, column, gaussian_shared};
use crate::error::{self, Allowed, ConfigError, DomainError};
use crate::natural::coefficients::Coefficients;
use crate::natural::family::Family;
use crate::natural::matrix;
use crate::natural::means::{Means, Start};
use crate::natural::statistic::Statistic;
use crate::natural::table::Table;
use crate::row::Row;
use crate::spec::Args;
use crate::walk;

const WIDEST: usize = 256;

/// The state of a class.
#[derive(Debug, Clone, Default)]
struct Class {
    /// Σ(x − μ)(x − μ)ᵀ, its lower triangle.
    scatter: Vec<f64>,
    /// Σ as last inverted, and P.
    covariance: Vec<f64>,
    inverse: Vec<f64>,
    /// The number of examples at which P is recomputed next.
    due: f64,
    /// Pr of the row scored last.
    pr: Vec<f64>,
}

/// Means and covariances of every class.
#[derive(Debug, Clone)]
pub(crate) struct Gaussian {
    kappa: f64,
    means: Means,
    classes: Vec<Class>,
    /// g of the row scored last.
    g: Table,
    mu: Vec<f64>,
    scratch: Vec<f64>,
    spoilt: Vec<f64>,
}

impl Gaussian {
    pub(crate) fn read(args: &mut Args<'_>) -> Result<Self, ConfigError> {
        let kappa = args.number("kappa", 1.0)?;
        let kappa = error::parameter("kappa", kappa, Allowed::Closed(1e-9, 1e9))?;
        Ok(Self {
            kappa,
            means: Means::new(kappa, Start::Seen),
            classes: Vec::new(),
            g: Table::default(),
            mu: Vec::new(),
            scratch: Vec::new(),
            spoilt: Vec::new(),
        })
    }

    fn features(&self) -> usize {
        self.means.theta.rows()
    }

    fn refresh(&mut self, class: usize) {
        let d = self.features();
        let n = self.means.n.get(class).copied().unwrap_or(0.0);
        let Some(own) = self.classes.get_mut(class) else { return };
        let kappa = self.kappa + gaussian_shared::strength(d, n);
        own.covariance.clone_from(&own.scatter);
        for j in 0..d {
            own.covariance[j * d + j] += kappa * self.means.variance(j);
        }
        for a in &mut own.covariance {
            *a /= n + kappa;
        }
        self.spoilt.clone_from(&own.covariance);
        matrix::inverse(&mut self.spoilt, d, &mut self.scratch, &mut own.inverse);
        for j in 0..d {
            for i in 0..j {
                own.covariance[j * d + i] = own.covariance[i * d + j];
            }
        }
        own.due = gaussian_shared::GROWTH * n;
    }
}

/// The index of x_i x_j, i ≥ j, after the d coordinates of x; independent of d.
fn place(i: usize, j: usize) -> usize {
    i * (i + 1) / 2 + j
}

/// Coordinates are in the order x_0, x_0², x_1, x_1x_0, x_1², x_2, …, so those of new features come last.
fn linear(i: usize) -> usize {
    place(i, 0) + i
}

impl Family for Gaussian {
    fn size(&self) -> usize {
        linear(self.features())
    }

    fn grow(&mut self, features: usize, classes: usize) -> Result<(), DomainError> {
        let (old, n) = (self.features(), self.classes.len());
        let d = features.max(old);
        if d > WIDEST {
            let what = "the number of features (one full covariance per class is too large: use gaussian-shared, or the walk natural:mixed(gaussian=0-255, rest=gaussian-diagonal))";
            let allowed = Allowed::Closed(0.0, WIDEST as f64);
            return Err(DomainError::Scalar { what, value: d as f64, allowed });
        }
        if d == old && classes <= n {
            return Ok(());
        }
        self.means.grow(d, classes);
        self.classes.resize_with(classes.max(n), Class::default);
        for own in &mut self.classes {
            let known = if own.scatter.is_empty() { 0 } else { old };
            for m in [&mut own.scatter, &mut own.covariance, &mut own.inverse] {
                matrix::widen(m, known, d);
            }
            own.due = 0.0;
        }
        let size = self.size();
        self.g.grow(size, classes, |_, _| 0.0);
        for class in 0..self.classes.len() {
            self.refresh(class);
        }
        Ok(())
    }

    fn statistic<X: Row<f64>>(&self, x: X, t: &mut Statistic) -> Result<(), DomainError> {
        let d = self.features();
        let said = t.dense(x, d, NUMBERS);
        t.value.resize(self.size(), 0.0);
        for i in (0..d).rev() {
            let x = t.value[i];
            for j in (0..=i).rev() {
                t.value[linear(i) + 1 + j] = x * t.value[j];
            }
            // The linear coordinates of earlier features are still at the front.
            if linear(i) != i {
                t.value[linear(i)] = x;
            }
        }
        said
    }

    #[inline(always)]
    fn score(&mut self, t: &Statistic, dots: &mut [f64], excess: &mut [f64]) {
        let d = self.features();
        self.scratch.clear();
        self.scratch.resize(d, 0.0);
        for (c, own) in self.classes.iter_mut().enumerate().take(dots.len()) {
            column(&self.means.theta, c, &mut self.mu);
            for (i, (r, mu)) in self.scratch.iter_mut().zip(&self.mu).enumerate() {
                *r = t.value[linear(i)] - mu;
            }
            matrix::times(&own.inverse, d, &self.scratch, &mut own.pr);
            matrix::times(&own.inverse, d, &self.mu, &mut self.spoilt);
            let dot = |a: &[f64], b: &[f64]| a.iter().zip(b).map(|(a, b)| a * b).sum::<f64>();
            let (m, along) = (dot(&self.scratch, &own.pr), dot(&self.mu, &own.pr));
            let moved = dot(&self.mu, &self.spoilt);
            // Features that have not varied are not in P.
            let varied = (0..d).filter(|&i| own.inverse[i * d + i] > 0.0).count() as f64;
            dots[c] += along - 0.5 * (along * along - moved) + 0.5 * (m - varied);
            excess[c] += m + 0.5 * (m * m - 2.0 * m + varied);
            for i in 0..d {
                // −2(G₂μ)_i = −(Pr)_i μ·Pr + (Pμ)_i.
                let g1 = own.pr[i] - own.pr[i] * along + self.spoilt[i];
                self.g.row_mut(linear(i))[c] = g1;
                for j in 0..=i {
                    let g2 = 0.5 * (own.pr[i] * own.pr[j] - own.inverse[i * d + j]);
                    self.g.row_mut(linear(i) + 1 + j)[c] = if i == j { g2 } else { 2.0 * g2 };
                }
            }
        }
    }

    #[inline(always)]
    fn walk(&self, _: &Statistic, a: &[f64], to: &mut Coefficients) {
        to.update_all(a, &self.g, std::iter::repeat(()), |(), g| g);
    }

    #[inline(always)]
    fn observe(&mut self, t: &Statistic, class: usize, weight: f64) {
        let d = self.features();
        self.mu.clear();
        self.mu.extend((0..d).map(|i| t.value[linear(i)]));
        let part = self.means.observe(&self.mu, class, weight, &mut self.scratch);
        let n = self.means.n.get(class).copied().unwrap_or(0.0);
        if let Some(own) = self.classes.get_mut(class) {
            matrix::add_outer(&mut own.scatter, d, weight * (1.0 - part), &self.scratch);
            if n >= own.due {
                self.refresh(class);
            }
        }
    }

    fn mean(&self, class: usize, out: &mut Vec<f64>) {
        let (d, mu) = (self.features(), |i| self.means.theta.at(i, class));
        out.clear();
        for i in 0..d {
            out.push(mu(i));
            for j in 0..=i {
                out.push(self.classes[class].covariance[i * d + j] + mu(i) * mu(j));
            }
        }
    }

    /// For Gaussian products: Cov(x_i, x_k x_l) = μ_kΣ_il + μ_lΣ_ik, and Cov(x_i x_j, x_k x_l) by the theorem of
    /// Isserlis.
    fn covariance(&self, class: usize, out: &mut Vec<f64>) {
        let d = self.features();
        let mu = |i: usize| self.means.theta.at(i, class);
        let s = |i: usize, j: usize| self.classes[class].covariance[i * d + j];
        // Every coordinate as the indices of its factors.
        let mut factors: Vec<(usize, Option<usize>)> = Vec::new();
        for i in 0..d {
            factors.push((i, None));
            factors.extend((0..=i).map(|j| (i, Some(j))));
        }
        out.clear();
        for &(i, j) in &factors {
            for &(k, l) in &factors {
                out.push(match (j, l) {
                    (None, None) => s(i, k),
                    (None, Some(l)) => mu(k) * s(i, l) + mu(l) * s(i, k),
                    (Some(j), None) => mu(i) * s(k, j) + mu(j) * s(k, i),
                    (Some(j), Some(l)) => {
                        s(i, k) * s(j, l)
                            + s(i, l) * s(j, k)
                            + mu(i) * (mu(k) * s(j, l) + mu(l) * s(j, k))
                            + mu(j) * (mu(k) * s(i, l) + mu(l) * s(i, k))
                    }
                });
            }
        }
    }

    /// Never called, because [`AnyFamily::damps`](crate::natural::AnyFamily::damps) is false.
    fn damp(&mut self, _: usize, _: f64, _: f64, r: &mut [f64]) {
        r.fill(0.0);
    }

    fn linear(&self, i: usize) -> usize {
        linear(i)
    }

    fn save(&self, put: &mut dyn FnMut(&'static str, &[f64])) {
        self.means.save(put);
        let all = |f: fn(&Class) -> &[f64]| {
            self.classes.iter().flat_map(f).copied().collect::<Vec<f64>>()
        };
        put("scatter", &all(|own| &own.scatter));
        put("covariance", &all(|own| &own.covariance));
        put("inverse", &all(|own| &own.inverse));
        put("due", &self.classes.iter().map(|own| own.due).collect::<Vec<_>>());
    }

    fn load(
        &mut self,
        get: &mut dyn FnMut(&'static str) -> Option<Vec<f64>>,
        features: usize,
        classes: usize,
    ) -> Result<(), ConfigError> {
        self.means.load(get, features, classes)?;
        let square = features * features;
        let mut of = |name| walk::array_of(get, name, Allowed::Finite, classes * square);
        let (scatter, covariance, inverse) = (of("scatter")?, of("covariance")?, of("inverse")?);
        let due = walk::array_of(get, "due", Allowed::NonNegative, classes)?;
        let part = |all: &[f64], c: usize| {
            all.get(c * square..(c + 1) * square).unwrap_or_default().to_vec()
        };
        self.classes = due
            .into_iter()
            .enumerate()
            .map(|(c, due)| Class {
                scatter: part(&scatter, c),
                covariance: part(&covariance, c),
                inverse: part(&inverse, c),
                due,
                pr: Vec::new(),
            })
            .collect();
        self.g = Table::default();
        let size = self.size();
        self.g.grow(size, classes, |_, _| 0.0);
        Ok(())
    }
}
