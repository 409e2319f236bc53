//! # Means of the classes
//! $$\theta_c \leftarrow \theta_c + \frac{w\,(x - \theta_c)}{n_c + w + \kappa}, \qquad\text{that is}\qquad
//!   \theta_c = \frac{\sum w\,x + \kappa\,\theta_0}{n_c + \kappa}$$
//! the posterior mean of a conjugate prior of strength κ. If θ₀ is not given, it is the mean of all examples at the
//! first example of the class, and a class without examples has the mean of all. So the origin of a feature has no
//! effect.
//!
//! **Cost** O(d), plus O(d) for each class without an example. **Care** The mean of points of a convex domain is in
//! the domain, so θ stays inside for κ > 0. **Source** \[SC21, sec. 5\], where the posterior mean is called a MAP
//! estimate.

use std::ops::Range;

use super::coefficients::table;
use super::table::Table;
use crate::ConfigError;
use crate::error::Allowed;
use crate::walk;

/// The initial means.
#[derive(Debug, Clone, PartialEq)]
pub(crate) enum Start {
    /// The mean of all examples.
    Seen,
    /// The given values.
    Given(Vec<f64>),
}

impl Start {
    fn of(&self, j: usize, overall: f64) -> f64 {
        match self {
            Self::Seen => overall,
            Self::Given(values) => values.get(j).copied().unwrap_or(0.0),
        }
    }
}

/// θ of every class, and the mean of all examples.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Means {
    kappa: f64,
    start: Start,
    /// θ by feature and class.
    pub(crate) theta: Table,
    /// Total weight of the examples of each class.
    pub(crate) n: Vec<f64>,
    /// Total weight of all examples.
    pub(crate) total: f64,
    /// The mean of all examples.
    pub(crate) overall: Vec<f64>,
    /// Σ w(x − mean)² of all examples.
    pub(crate) spread: Vec<f64>,
}

/// An example whose class has been counted and whose features are to be added.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Sight {
    pub(crate) class: usize,
    pub(crate) weight: f64,
    /// The fraction of x − θ by which θ of its class moves; the next field is that for the mean of all.
    pub(crate) part: f64,
    share: f64,
    /// Whether this is the first example.
    first: bool,
    /// Whether a class has no examples, so that it follows the mean of all.
    follows: bool,
}

impl Means {
    pub(crate) fn new(kappa: f64, start: Start) -> Self {
        Self {
            kappa,
            start,
            theta: Table::default(),
            n: Vec::new(),
            total: 0.0,
            overall: Vec::new(),
            spread: Vec::new(),
        }
    }

    pub(crate) fn grow(&mut self, features: usize, classes: usize) {
        let d = features.max(self.overall.len());
        // A new feature was 0 in all earlier examples.
        self.overall.resize(d, 0.0);
        self.spread.resize(d, 0.0);
        let (start, overall, known) = (&self.start, &self.overall, self.theta.rows());
        self.theta.grow(d, classes, |j, _| start.of(j, overall.get(j).copied().unwrap_or(0.0)));
        self.n.resize(classes.max(self.n.len()), 0.0);
        for j in known..d {
            for (theta, n) in self.theta.row_mut(j).iter_mut().zip(&self.n) {
                *theta *= if *n > 0.0 { self.kappa / (n + self.kappa) } else { 1.0 };
            }
        }
    }

    /// Number of classes with an example.
    pub(crate) fn seen(&self) -> f64 {
        self.n.iter().filter(|&&n| n > 0.0).count() as f64
    }

    /// The variance of a feature over all examples; 0 if it does not exceed the rounding errors of a constant.
    pub(crate) fn variance(&self, j: usize) -> f64 {
        let (Some(spread), Some(mean)) = (self.spread.get(j), self.overall.get(j)) else {
            return 0.0;
        };
        variance(self.total, *spread, *mean)
    }

    /// The variances of some features over all examples.
    #[inline(always)]
    pub(crate) fn variances(&self, rows: &Range<usize>) -> impl Iterator<Item = f64> {
        let numbers = self.spread[rows.clone()].iter().zip(&self.overall[rows.clone()]);
        let total = self.total;
        numbers.map(move |(&spread, &mean)| variance(total, spread, mean))
    }

    /// Learns an example of a class; `old` ← x − θ before. Returns the fraction of it by which θ moved.
    #[inline(always)]
    pub(crate) fn observe(
        &mut self,
        x: &[f64],
        class: usize,
        weight: f64,
        old: &mut Vec<f64>,
    ) -> f64 {
        let sight = self.count(class, weight);
        let all = 0..self.theta.rows();
        old.resize(all.len(), 0.0);
        self.see(&sight, &all, x, old);
        sight.part
    }

    /// Counts an example of a class. All of its features must be [added](Means::see) next.
    #[inline(always)]
    pub(crate) fn count(&mut self, class: usize, weight: f64) -> Sight {
        let seen = self.start == Start::Seen;
        let first = self.total == 0.0 && seen;
        let n = self.n.get(class).copied().unwrap_or(0.0);
        let part = weight / (n + weight + self.kappa);
        if let Some(n) = self.n.get_mut(class) {
            *n += weight;
        }
        self.total += weight;
        let share = weight / self.total;
        Sight { class, weight, part, share, first, follows: seen && self.n.contains(&0.0) }
    }

    /// Learns some features of an example; `old` ← their x − θ before.
    #[inline(always)]
    pub(crate) fn see(&mut self, sight: &Sight, rows: &Range<usize>, x: &[f64], old: &mut [f64]) {
        let &Sight { class, weight, part, share, first, follows } = sight;
        let theta = self.theta.some_mut(rows);
        let x = &x[rows.clone()];
        for ((row, &x), old) in theta.zip(x).zip(old) {
            if first {
                row.fill(x);
            }
            *old = x - row[class];
            row[class] += part * *old;
        }
        let numbers = self.overall[rows.clone()].iter_mut().zip(&mut self.spread[rows.clone()]);
        for ((mean, spread), &x) in numbers.zip(x) {
            let residual = x - *mean;
            *mean += share * residual;
            *spread += weight * residual * (x - *mean);
        }
        if follows {
            for (row, &mean) in self.theta.some_mut(rows).zip(&self.overall[rows.clone()]) {
                for (theta, &n) in row.iter_mut().zip(&self.n) {
                    if n == 0.0 {
                        *theta = mean;
                    }
                }
            }
        }
    }

    pub(crate) fn save(&self, put: &mut dyn FnMut(&'static str, &[f64])) {
        put("theta", self.theta.cells());
        put("theta-counts", &self.n);
        put("theta-total", &[self.total]);
        put("theta-overall", &self.overall);
        put("theta-spread", &self.spread);
    }

    pub(crate) fn load(
        &mut self,
        get: &mut dyn FnMut(&'static str) -> Option<Vec<f64>>,
        d: usize,
        classes: usize,
    ) -> Result<(), ConfigError> {
        let theta = table(get, "theta", Allowed::Finite, d, classes)?;
        let n = walk::array_of(get, "theta-counts", Allowed::NonNegative, classes)?;
        let [total] = walk::numbers(get, "theta-total", Allowed::NonNegative)?;
        let overall = walk::array_of(get, "theta-overall", Allowed::Finite, d)?;
        let spread = walk::array_of(get, "theta-spread", Allowed::Finite, d)?;
        *self = Self { theta, n, total, overall, spread, ..self.clone() };
        Ok(())
    }
}

/// The variance of a feature over all examples, from the sum of squares and the mean.
#[inline(always)]
fn variance(total: f64, spread: f64, mean: f64) -> f64 {
    if spread > 1e-24 * total * mean * mean { spread / total } else { 0.0 }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn means_and_variances_are_those_of_the_definition() {
        let mut means = Means::new(0.5, Start::Given(vec![2.0]));
        means.grow(1, 2);
        let mut old = Vec::new();
        let data = [(1.0, 0), (4.0, 1), (3.0, 0), (-2.0, 0)];
        for (x, class) in data {
            means.observe(&[x], class, 1.0, &mut old);
        }
        assert!((means.theta.at(0, 0) - (2.0 + 0.5 * 2.0) / 3.5).abs() < 1e-15);
        assert!((means.theta.at(0, 1) - (4.0 + 0.5 * 2.0) / 1.5).abs() < 1e-15);
        assert!((means.overall[0] - 1.5).abs() < 1e-15);
        assert!((means.variance(0) - 5.25).abs() < 1e-14);
        assert_eq!(means.seen(), 2.0);
    }

    #[test]
    fn a_constant_has_no_variance() {
        let mut means = Means::new(0.05, Start::Seen);
        means.grow(1, 1);
        for _ in 0..1000 {
            means.observe(&[0.1], 0, 0.3, &mut Vec::new());
        }
        assert_eq!(means.variance(0), 0.0, "spread {:?}", means.spread);
    }

    #[test]
    fn a_class_without_examples_has_the_mean_of_all() {
        let mut means = Means::new(0.05, Start::Seen);
        means.grow(1, 2);
        means.observe(&[7.0], 0, 1.0, &mut Vec::new());
        assert_eq!(means.theta.at(0, 1), 7.0);
    }
}
