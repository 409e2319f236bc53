//! # Symmetric matrices of a solver
//! Lower triangles, row by row, factored in place: H = LLᵀ.

use super::design::dot;
use crate::real::lanes;

/// The factor L of a symmetric positive definite matrix.
#[derive(Debug, Clone, Default)]
pub(super) struct Cholesky {
    n: usize,
    lower: Vec<f64>,
}

impl Cholesky {
    /// Factors the lower triangle of H. A pivot that rounding has made too small is replaced by a tiny multiple
    /// of the diagonal.
    pub(super) fn new(n: usize, mut lower: Vec<f64>) -> Self {
        lanes::widely(
            #[inline(always)]
            || {
                for i in 0..n {
                    let (done, rest) = lower.split_at_mut(i * (i + 1) / 2);
                    let row = &mut rest[..=i];
                    for j in 0..i {
                        let other = &done[j * (j + 1) / 2..][..=j];
                        row[j] = (row[j] - dot(&row[..j], &other[..j])) / other[j];
                    }
                    let diagonal = row[i];
                    let pivot = diagonal - dot(&row[..i], &row[..i]);
                    let least = (1e-14 * diagonal).max(f64::MIN_POSITIVE);
                    row[i] = if pivot > least { pivot } else { least }.sqrt();
                }
            },
        );
        Self { n, lower }
    }

    /// x ← L⁻¹x
    #[inline(always)]
    pub(super) fn forward(&self, x: &mut [f64]) {
        for i in 0..self.n {
            let row = &self.lower[i * (i + 1) / 2..][..=i];
            x[i] = (x[i] - dot(&row[..i], &x[..i])) / row[i];
        }
    }

    /// x ← L⁻ᵀx
    pub(super) fn backward(&self, x: &mut [f64]) {
        for i in (0..self.n).rev() {
            let row = &self.lower[i * (i + 1) / 2..][..=i];
            x[i] /= row[i];
            let (head, tail) = x.split_at_mut(i);
            for (x, l) in head.iter_mut().zip(row) {
                *x -= l * tail[0];
            }
        }
    }

    /// x ← H⁻¹x
    pub(super) fn solve(&self, x: &mut [f64]) {
        self.forward(x);
        self.backward(x);
    }

    /// xᵀH⁻¹x; x is overwritten.
    #[inline(always)]
    pub(super) fn length(&self, x: &mut [f64]) -> f64 {
        self.forward(x);
        dot(x, x)
    }

    /// Row i of L, with zeros behind the diagonal.
    pub(super) fn row(&self, i: usize, out: &mut [f64]) {
        out.fill(0.0);
        out[..=i].copy_from_slice(&self.lower[i * (i + 1) / 2..][..=i]);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn solves_what_it_factored() {
        let h = [4.0, 2.0, 5.0, 0.5, 1.0, 3.0];
        let full = |i: usize, j: usize| h[i.max(j) * (i.max(j) + 1) / 2 + i.min(j)];
        let factor = Cholesky::new(3, h.to_vec());
        let mut x = vec![1.0, -2.0, 0.25];
        factor.solve(&mut x);
        for (i, b) in [1.0, -2.0, 0.25].into_iter().enumerate() {
            let sum: f64 = (0..3).map(|j| full(i, j) * x[j]).sum();
            assert!((sum - b).abs() < 1e-14);
        }
        let solved: f64 = [1.0, -2.0, 0.25].iter().zip(&x).map(|(b, x)| b * x).sum();
        assert!((factor.length(&mut [1.0, -2.0, 0.25]) - solved).abs() < 1e-14);
    }
}
