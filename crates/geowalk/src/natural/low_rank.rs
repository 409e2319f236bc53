//! # Covariance as a diagonal plus a matrix of low rank
//! With many features, a full matrix is too large. Of Σ w r rᵀ, two parts are kept: its exact diagonal, and a sketch B
//! of at most 64 rows by frequent directions \[Liberty13\], for which BᵀB ⪯ Σ w r rᵀ. With the prior κV, where V are
//! the variances over all classes,
//! $$\Sigma = \frac{D + B^\top B}{N}, \qquad D_j = \sum w r_j^2 - \sum_k B_{kj}^2 + \kappa V_j > 0,$$
//! This has the right variances and the largest correlations. Its inverse is
//! $$P = N\bigl(D^{-1} - D^{-1} B^\top (1 + B D^{-1} B^\top)^{-1} B D^{-1}\bigr).$$
//! Directions are compared in units of V, so units of features have no effect.
//!
//! **Cost** O(d) numbers for each of 64 rows. A product with P needs one product per row; a new row costs about two
//! products with P. **Source** \[GV13, sec. 2.1.4\] for the inverse.

use super::{matrix, rows};
use crate::ConfigError;
use crate::error::Allowed;
use crate::geometry::linalg;
use crate::walk;

/// Number of directions kept when the sketch is full.
const KEPT: usize = 32;
/// Number of rows of a full sketch.
const FULL: usize = 2 * KEPT;

/// Σ w r rᵀ of many features, and the inverse of the resulting covariance.
#[derive(Debug, Clone, Default)]
pub(crate) struct LowRank {
    d: usize,
    /// B, row by row.
    sketch: Vec<f64>,
    /// Σ w r².
    diagonal: Vec<f64>,
    /// N, D/N, N/D (0 for a feature that has not varied), and F, row by row, with P = N/D − FᵀF.
    total: f64,
    spread: Vec<f64>,
    inverse: Vec<f64>,
    factor: Vec<f64>,
}

impl LowRank {
    /// Converts a matrix of fewer features, given by its lower triangle; `units` are their variances.
    pub(crate) fn of(within: &[f64], d: usize, units: &[f64]) -> Self {
        let mut new = Self::default();
        new.grow(d);
        // B = Λ^½Uᵀ in units of V: all directions; compression keeps the largest.
        let scale: Vec<f64> = units.iter().map(|v| v.sqrt()).collect();
        let mut a = vec![0.0; d * d];
        for j in 0..d {
            new.diagonal[j] = within[j * d + j];
            for i in j..d {
                let unit = scale[i] * scale[j];
                a[j * d + i] = if unit > 0.0 { within[j * d + i] / unit } else { 0.0 };
            }
        }
        let (mut values, mut vectors) = (vec![0.0; d], vec![0.0; d * d]);
        if d == 0 || linalg::eigen(&mut a, d, &mut values, &mut vectors).is_none() {
            return new;
        }
        let mut order: Vec<usize> = (0..d).collect();
        order.sort_by(|&i, &k| values[k].total_cmp(&values[i]));
        let least = order.get(KEPT).map_or(0.0, |&k| values[k].max(0.0));
        let least = least.max(1e-12 * values[order[0]]);
        for &k in order.iter().take(KEPT).filter(|&&k| values[k] > least) {
            let length = (values[k] - least).sqrt();
            let direction = vectors[k * d..(k + 1) * d].iter().zip(&scale);
            new.sketch.extend(direction.map(|(u, scale)| length * u * scale));
        }
        new
    }

    fn rows(&self) -> usize {
        self.sketch.len().checked_div(self.d).unwrap_or(0)
    }

    /// Makes room for new features, which were 0 before.
    pub(crate) fn grow(&mut self, d: usize) {
        if d <= self.d {
            return;
        }
        for wide in [&mut self.sketch, &mut self.factor] {
            let old = std::mem::take(wide);
            wide.reserve(old.len().checked_div(self.d).unwrap_or(0) * d);
            for row in old.chunks_exact(self.d.max(1)) {
                wide.extend_from_slice(row);
                wide.resize(wide.len() + d - row.len(), 0.0);
            }
        }
        for numbers in [&mut self.diagonal, &mut self.spread, &mut self.inverse] {
            numbers.resize(d, 0.0);
        }
        self.d = d;
    }

    /// Adds w r rᵀ; `units` are the variances over all classes.
    pub(crate) fn add(&mut self, weight: f64, r: &[f64], units: impl Fn(usize) -> f64) {
        rows::change(&mut self.diagonal, r, r, |sum, r, _| sum + weight * r * r);
        if self.rows() >= FULL {
            self.compress(units);
        }
        let length = weight.sqrt();
        self.sketch.extend(r.iter().map(|r| length * r));
    }

    /// Keeps the longest directions, each shortened by the amount lost \[Liberty13, algorithm 2.1\].
    fn compress(&mut self, units: impl Fn(usize) -> f64) {
        let (d, n) = (self.d, self.rows());
        let inverse = |v: f64| if v > 0.0 { 1.0 / v } else { 0.0 };
        let shrink: Vec<f64> = (0..d).map(|j| inverse(units(j))).collect();
        let mut gram = gram(&self.sketch, d, &shrink);
        let (mut values, mut vectors) = (vec![0.0; n], vec![0.0; n * n]);
        if n == 0 || linalg::eigen(&mut gram, n, &mut values, &mut vectors).is_none() {
            return self.sketch.clear();
        }
        let mut order: Vec<usize> = (0..n).collect();
        order.sort_by(|&i, &k| values[k].total_cmp(&values[i]));
        let least = order.get(KEPT).map_or(0.0, |&k| values[k].max(0.0));
        let least = least.max(1e-12 * values[order[0]]);
        let mut sketch = Vec::with_capacity(FULL * d);
        for &k in order.iter().take(KEPT).filter(|&&k| values[k] > least) {
            let shorter = ((values[k] - least) / values[k]).sqrt();
            let mix: Vec<f64> = vectors[k * n..(k + 1) * n].iter().map(|u| shorter * u).collect();
            let mut row = vec![0.0; d];
            rows::combine_all(&self.sketch, d, &mix, &mut row);
            sketch.extend_from_slice(&row);
        }
        self.sketch = sketch;
    }

    /// Computes P for this N, κ and these V.
    pub(crate) fn refresh(&mut self, total: f64, kappa: f64, units: impl Fn(usize) -> f64) {
        let (d, n) = (self.d, self.rows());
        let mut kept = vec![0.0; d];
        for row in self.sketch.chunks_exact(d.max(1)) {
            rows::change(&mut kept, row, row, |sum, b, _| sum + b * b);
        }
        self.total = total;
        for (j, kept) in kept.into_iter().enumerate() {
            let prior = kappa * units(j);
            // BᵀB ⪯ Σ w r rᵀ, up to rounding.
            let own = (self.diagonal[j] - kept).max(0.0) + prior;
            (self.spread[j], self.inverse[j]) =
                if prior > 0.0 { (own / total, total / own) } else { (0.0, 0.0) };
        }
        self.factor.clear();
        if n == 0 {
            return;
        }
        // 1 + B D⁻¹ Bᵀ = L Lᵀ, F = √N L⁻¹ B D⁻¹.
        let each: Vec<f64> = self.inverse.iter().map(|inverse| inverse / total).collect();
        let mut lower = gram(&self.sketch, d, &each);
        for k in 0..n {
            lower[k * n + k] += 1.0;
        }
        if linalg::cholesky_in_place(&mut lower, n).is_none() {
            return;
        }
        let root = total.sqrt();
        self.factor = vec![0.0; n * d];
        for k in 0..n {
            let (done, row) = self.factor.split_at_mut(k * d);
            let row = &mut row[..d];
            rows::change(row, &self.sketch[k * d..(k + 1) * d], &each, |_, b, e| root * b * e);
            for (i, done) in done.chunks_exact(d).enumerate() {
                let l = lower[i * n + k];
                rows::change(row, done, done, |x, y, _| x - l * y);
            }
            let pivot = lower[k * n + k];
            for x in row {
                *x /= pivot;
            }
        }
    }

    /// out ← P x.
    #[inline(always)]
    pub(crate) fn times(&self, x: &[f64], out: &mut Vec<f64>) {
        out.clear();
        out.resize(self.d, 0.0);
        rows::change(out, &self.inverse, x, |_, inverse, x| inverse * x);
        for row in self.factor.chunks_exact(self.d.max(1)) {
            let along = rows::sum(row, x, |f, x| f * x);
            rows::change(out, row, row, |out, f, _| out - along * f);
        }
    }

    /// r ← (pΣ + λ)⁻¹ r; 0 for a feature that has not varied.
    pub(crate) fn damp(&self, p: f64, ridge: f64, r: &mut [f64]) {
        let (d, n) = (self.d, self.rows());
        let share = p / self.total;
        let each: Vec<f64> = self
            .spread
            .iter()
            .map(|v| if *v > 0.0 { 1.0 / (p * v + ridge) } else { 0.0 })
            .collect();
        rows::change(r, &each, &each, |r, e, _| r * e);
        if n == 0 {
            return;
        }
        let mut inner = gram(&self.sketch, d, &each);
        for a in &mut inner {
            *a *= share;
        }
        for k in 0..n {
            inner[k * n + k] += 1.0;
        }
        let along = |row: &[f64]| share * rows::sum(row, r, |b, r| b * r);
        let mut shares: Vec<f64> = self.sketch.chunks_exact(d).map(along).collect();
        if matrix::solve(&mut inner, n, &mut shares) {
            for (row, share) in self.sketch.chunks_exact(d).zip(shares) {
                rows::change(r, row, &each, |r, b, e| r - share * b * e);
            }
        }
    }

    /// out ← Σ.
    pub(crate) fn covariance(&self, out: &mut Vec<f64>) {
        let d = self.d;
        out.clear();
        out.resize(d * d, 0.0);
        for (j, column) in out.chunks_exact_mut(d.max(1)).enumerate() {
            for row in self.sketch.chunks_exact(d) {
                let factor = row[j] / self.total;
                rows::change(column, row, row, |sum, b, _| sum + factor * b);
            }
            column[j] += self.spread[j];
        }
    }

    pub(crate) fn save(&self, put: &mut dyn FnMut(&'static str, &[f64])) {
        put("sketch", &self.sketch);
        put("within", &self.diagonal);
        put("spread", &self.spread);
        put("inverse", &self.inverse);
        put("factor", &self.factor);
        put("sketch-total", &[self.total]);
    }

    pub(crate) fn load(
        get: &mut dyn FnMut(&'static str) -> Option<Vec<f64>>,
        d: usize,
    ) -> Result<Self, ConfigError> {
        let mut rows = |name, meaning| {
            let rows = walk::array(get, name, Allowed::Finite)?;
            let fits = rows.len() % d.max(1) == 0 && rows.len() <= FULL * d;
            if fits { Ok(rows) } else { Err(ConfigError::Missing { name, meaning }) }
        };
        let sketch = rows("sketch", "rows of one number for each feature")?;
        let factor = rows("factor", "rows of one number for each feature")?;
        let mut of = |name| walk::array_of(get, name, Allowed::NonNegative, d);
        let (diagonal, spread, inverse) = (of("within")?, of("spread")?, of("inverse")?);
        let [total] = walk::numbers(get, "sketch-total", Allowed::NonNegative)?;
        Ok(Self { d, sketch, diagonal, total, spread, inverse, factor })
    }
}

/// B diag(e) Bᵀ for the rows of B; the full matrix.
fn gram(sketch: &[f64], d: usize, e: &[f64]) -> Vec<f64> {
    let n = sketch.len() / d.max(1);
    let mut out = vec![0.0; n * n];
    let mut scaled = vec![0.0; d];
    for (k, row) in sketch.chunks_exact(d.max(1)).enumerate() {
        rows::change(&mut scaled, row, e, |_, b, e| b * e);
        for (i, other) in sketch.chunks_exact(d.max(1)).enumerate().take(k + 1) {
            let product = rows::sum(&scaled, other, |a, b| a * b);
            (out[k * n + i], out[i * n + k]) = (product, product);
        }
    }
    out
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::sampler::Sampler;

    /// Residuals with three strong directions, in very different units.
    fn fed(d: usize, n: usize) -> (LowRank, Vec<f64>, Vec<f64>) {
        let mut sampler = Sampler::new(3);
        let units: Vec<f64> = (0..d).map(|j| [1.0, 1e8, 1e-8][j % 3]).collect();
        let mut normals = |n: usize| (0..n).map(|_| sampler.normal()).collect::<Vec<f64>>();
        let strong: Vec<Vec<f64>> = (0..3).map(|_| normals(d)).collect();
        let mut low = LowRank::default();
        low.grow(d);
        let mut exact = vec![0.0; d * d];
        for _ in 0..n {
            let (own, along) = (normals(d), normals(3));
            let r: Vec<f64> = (0..d)
                .map(|j| {
                    let common: f64 = strong.iter().zip(&along).map(|(s, a)| s[j] * a).sum();
                    units[j].sqrt() * (0.3 * own[j] + common)
                })
                .collect();
            low.add(1.0, &r, |j| units[j]);
            matrix::add_outer(&mut exact, d, 1.0, &r);
        }
        (low, exact, units)
    }

    #[test]
    fn the_inverse_is_that_of_the_matrix() {
        let (mut low, exact, units) = fed(90, 300);
        low.refresh(300.0, 0.5, |j| units[j]);
        let (mut sigma, d) = (Vec::new(), 90);
        low.covariance(&mut sigma);
        for j in 0..d {
            let variance = (exact[j * d + j] + 0.5 * units[j]) / 300.0;
            assert!((sigma[j * d + j] / variance - 1.0).abs() < 1e-12, "variances are exact");
        }
        // Strong directions are kept: correlations are near the true ones.
        let correlation =
            |a: &[f64], i: usize, j: usize| a[j * d + i] / (a[i * d + i] * a[j * d + j]).sqrt();
        for (i, j) in [(1, 0), (40, 7), (89, 50)] {
            let (own, truth) = (correlation(&sigma, i, j), correlation(&exact, i, j));
            assert!((own - truth).abs() < 0.1, "{i} {j}: {own} {truth}");
        }
        let x: Vec<f64> = (0..d).map(|j| ((j % 7) as f64 - 3.0) * units[j].sqrt()).collect();
        let (mut px, mut back) = (Vec::new(), Vec::new());
        low.times(&x, &mut px);
        matrix::times(&sigma, d, &px, &mut back);
        for ((x, back), unit) in x.iter().zip(&back).zip(&units) {
            assert!((x - back).abs() < 1e-8 * unit.sqrt(), "{x} {back}");
        }
        // (½Σ + λ)⁻¹, in the units of the first features.
        let mut r = x.clone();
        low.damp(0.5, 2.0, &mut r);
        matrix::times(&sigma, d, &r, &mut back);
        for ((x, r), (back, unit)) in x.iter().zip(&r).zip(back.iter().zip(&units)) {
            let there = 0.5 * back + 2.0 * r;
            assert!((x - there).abs() < 1e-8 * unit.sqrt(), "{x} {there}");
        }
    }

    #[test]
    fn a_full_matrix_is_taken_over() {
        let (low, exact, units) = fed(40, 30);
        let mut own = LowRank::of(&exact, 40, &units);
        own.refresh(30.0, 0.1, |j| units[j]);
        let mut sigma = Vec::new();
        own.covariance(&mut sigma);
        for (j, unit) in units.iter().enumerate() {
            let variance = (exact[j * 40 + j] + 0.1 * unit) / 30.0;
            assert!((sigma[j * 41] / variance - 1.0).abs() < 1e-12);
        }
        assert!(own.rows() <= KEPT);
        let mut wider = low.clone();
        wider.grow(43);
        wider.refresh(30.0, 0.1, |j| units.get(j).copied().unwrap_or(0.0));
        let mut px = Vec::new();
        wider.times(&vec![1.0; 43], &mut px);
        assert!(px[40..] == [0.0; 3] && px.iter().all(|p| p.is_finite()));
        let mut saved = std::collections::BTreeMap::new();
        wider.save(&mut |name, values| {
            saved.insert(name, values.to_vec());
        });
        let again = LowRank::load(&mut |name| saved.get(name).cloned(), 43).unwrap();
        let mut other = Vec::new();
        again.times(&vec![1.0; 43], &mut other);
        assert_eq!(px, other);
        assert!(LowRank::load(&mut |name| saved.get(name).cloned(), 44).is_err());
    }
}
