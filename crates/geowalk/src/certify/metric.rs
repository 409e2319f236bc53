//! # The divergence of a constant metric
//! $D(u \Vert 0) = u^\top \Sigma u$, over sets of comparators: what [`Ledger::mirror_steps`](super::Ledger::mirror_steps) needs of [`Mahalanobis`].
//! **Care** The walk multiplies by a computed H ≈ ½Σ⁻¹, which is symmetric; what it does is exactly the mirror step of $\Sigma' = \tfrac12 H^{-1}$. With $R = 2\Sigma H - I$ and ρ ≥ ‖R‖,
//! $\Vert\Sigma' - \Sigma\Vert \le \tfrac{\rho}{1 - \rho} \Vert\Sigma\Vert$, and that many times ‖u‖² is added: nothing for a diagonal, much for a matrix that is nearly singular.
//! **Cost** O(n) for a diagonal, O(n²) for a full matrix, when a certificate is asked for; O(n³) once.

use super::Comparator;
use super::theorem::outward;
use crate::Real;
use crate::row::Norm;
use crate::walk::Mahalanobis;

/// Σ, and how far the metric that the walk really has may be from it.
#[derive(Debug, Clone, PartialEq)]
pub struct Metric {
    /// Its diagonal, or its rows one after the other.
    sigma: Vec<f64>,
    n: usize,
    full: bool,
    /// ρ/(1 − ρ)·‖Σ‖; NaN if ρ ≥ 1.
    slack: f64,
}

impl Metric {
    /// The metric of a walk with these entries of Σ: as many as the walk has features, or their square.
    ///
    /// ```
    /// use geowalk::certify::{Comparator, Metric};
    /// use geowalk::walk::Mahalanobis;
    /// let sigma = [2.0, 1.0, 1.0, 3.0];
    /// let metric = Metric::new(&sigma, &Mahalanobis::new(sigma.to_vec(), 2)?);
    /// let d = metric.divergence(&Comparator::Given(&[1.0, -1.0]));
    /// assert!(d >= 3.0 && d < 3.000_001);
    /// # Ok::<(), geowalk::ConfigError>(())
    /// ```
    pub fn new(sigma: &[f64], walk: &Mahalanobis) -> Self {
        let (half, n, full) = walk.half();
        let own = Self { sigma: sigma.to_vec(), n, full, slack: 0.0 };
        let size = |entries: &[f64]| entries.iter().map(|x| x * x).sum::<f64>().sqrt();
        let mut residual = 0.0;
        if full {
            for i in 0..n {
                for j in 0..n {
                    let row = sigma.iter().skip(i * n).take(n);
                    let column = half.iter().skip(j * n).take(n);
                    let entry: f64 = row.zip(column).map(|(s, h)| 2.0 * s * h).sum();
                    let off = entry - if i == j { 1.0 } else { 0.0 };
                    residual += off * off;
                }
            }
        }
        // The residual was computed with rounding of its own.
        let rounding = 8.0 * (n as f64 + 4.0) * f64::EPSILON;
        let rho = if full {
            residual.sqrt() * 1.01 + rounding * size(sigma) * size(half)
        } else {
            4.0 * f64::EPSILON
        };
        let slack = if rho < 1.0 { rho / (1.0 - rho) * size(sigma) * 1.01 } else { f64::NAN };
        Self { slack, ..own }
    }

    /// Σ_ij.
    fn entry(&self, i: usize, j: usize) -> f64 {
        match (self.full, i == j) {
            (true, _) => self.sigma.get(i * self.n + j).copied().unwrap_or(0.0),
            (false, true) => self.sigma.get(i).copied().unwrap_or(0.0),
            (false, false) => 0.0,
        }
    }

    /// The sum of the terms of all entries, of a diagonal matrix of those on the diagonal.
    fn sum(&self, term: impl Fn(usize, usize) -> f64) -> f64 {
        if self.full {
            (0..self.n)
                .flat_map(|i| (0..self.n).map(move |j| (i, j)))
                .map(|(i, j)| term(i, j))
                .sum()
        } else {
            (0..self.n).map(|i| term(i, i)).sum()
        }
    }

    /// No less than sup D(u‖0) over the comparators; NaN where it is not known.
    pub fn divergence(&self, u: &Comparator<'_>) -> f64 {
        let most = || (0..self.n).map(|i| self.entry(i, i)).fold(0.0, Real::max);
        // No eigenvalue is larger than the largest sum of magnitudes in a row.
        let norm = || {
            let row = |i: usize| {
                let all = if self.full { 0..self.n } else { i..i + 1 };
                all.map(|j| self.entry(i, j).abs()).sum()
            };
            (0..self.n).map(row).fold(0.0, Real::max)
        };
        let rounding = 4.0 * (self.n as f64 + 8.0) * (self.n as f64) * f64::EPSILON;
        let (form, square) = match *u {
            Comparator::Given(u) => {
                if u.iter().skip(self.n).any(|u| *u != 0.0) {
                    return f64::NAN;
                }
                let at = |i: usize| u.get(i).copied().unwrap_or(0.0);
                let form = self.sum(|i, j| self.entry(i, j) * at(i) * at(j));
                let size = self.sum(|i, j| (self.entry(i, j) * at(i) * at(j)).abs());
                (form + rounding * size, u.iter().map(|u| u * u).sum())
            }
            Comparator::Box { radii } => {
                let at = |i: usize| radii.get(i).copied().unwrap_or(0.0);
                let form = self.sum(|i, j| (self.entry(i, j) * at(i) * at(j)).abs());
                (form * (1.0 + rounding), radii.iter().map(|r| r * r).sum())
            }
            // ‖u‖₂ ≤ ‖u‖₁.
            Comparator::Ball { norm: Norm::L1 | Norm::L2, radius }
            | Comparator::Sphere { radius }
                if radius >= 0.0 =>
            {
                (norm() * radius * radius * (1.0 + rounding), radius * radius)
            }
            // Convex: largest at a vertex.
            Comparator::Simplex { .. } => (most(), 1.0),
            Comparator::Positive { total } if total >= 0.0 => {
                (most() * total * total, total * total)
            }
            _ => (f64::NAN, f64::NAN),
        };
        outward(Real::max(form, 0.0) + self.slack * square, 0.0)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::certify::{Bound, Divergence, Ledger, Start, Status};
    use crate::laws::Sampler;
    use crate::loss::{Logistic, Loss};
    use crate::row::Dense;
    use crate::walk::Walk;

    #[test]
    fn sets_are_no_nearer_than_their_members() {
        let mut random = Sampler::new(2);
        let sigma = [4.0, 1.0, 0.5, 1.0, 3.0, -0.25, 0.5, -0.25, 1.0];
        let full = Metric::new(&sigma, &Mahalanobis::new(sigma.to_vec(), 3).unwrap());
        let diagonal = [0.5, 2.0, 7.0];
        let diagonal = Metric::new(&diagonal, &Mahalanobis::diagonal(&diagonal).unwrap());
        for metric in [full, diagonal] {
            for _ in 0..100 {
                let u: Vec<f64> = (0..3).map(|_| random.normal()).collect();
                let one = metric.divergence(&Comparator::Given(&u));
                let radius = Norm::L2.above(&u);
                for set in [
                    Comparator::Ball { norm: Norm::L2, radius },
                    Comparator::Sphere { radius },
                    Comparator::Box { radii: &u },
                ] {
                    assert!(metric.divergence(&set) >= one, "{set:?}");
                }
                let v: Vec<f64> = u.iter().map(|u| u.abs()).collect();
                let total = Norm::L1.above(&v);
                let inside = metric.divergence(&Comparator::Given(&v));
                assert!(metric.divergence(&Comparator::Positive { total }) >= inside);
            }
            assert!(metric.divergence(&Comparator::Given(&[0.0, 0.0, 0.0, 1.0])).is_nan());
        }
    }

    #[test]
    fn regret_is_below_the_bound_and_a_matrix_that_is_nearly_singular_has_none_that_is_worth_much()
    {
        let facts = Logistic.facts();
        for corner in [0.5, 0.999_999_999] {
            let sigma = vec![1.0, corner, corner, 1.0];
            let mut walk = Mahalanobis::new(sigma.clone(), 2).unwrap();
            let metric = Metric::new(&sigma, &walk);
            let mut bound = Ledger::mirror_steps(
                Divergence::Mahalanobis(metric.clone()),
                Start::Each(0.0),
                &facts,
            )
            .unwrap();
            let mut random = Sampler::new(5);
            let mut rows = Vec::new();
            for _ in 0..200 {
                let x = [random.normal(), random.normal()];
                let y = if x[0] + 0.5 * random.normal() > 0.0 { 1.0 } else { -1.0 };
                let round = walk.step(Dense(&x), y.into(), &Logistic, 0.1).unwrap();
                bound.observe(&round, Dense(&x));
                rows.push((x, y, round.loss));
            }
            for _ in 0..50 {
                let u = [random.normal(), random.normal()];
                let one = |(x, y, own): &([f64; 2], f64, f64)| {
                    own - Logistic.value(u[0] * x[0] + u[1] * x[1], *y)
                };
                let regret: f64 = rows.iter().map(one).sum();
                let certificate = bound.certify(&Comparator::Given(&u));
                assert_eq!(certificate.status, Status::Valid);
                assert!(regret <= certificate.bound, "{regret} > {certificate}");
            }
            // The slack is what conditioning costs.
            assert!(metric.slack < if corner < 0.9 { 1e-12 } else { 1e-3 }, "{}", metric.slack);
        }
    }
}
