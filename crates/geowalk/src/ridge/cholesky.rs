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
                // Column by column: the products of its rows do not wait for each other.
                for j in 0..n {
                    let (done, mut rest) = lower.split_at_mut((j + 1) * (j + 2) / 2);
                    let row = &mut done[j * (j + 1) / 2..];
                    let diagonal = row[j];
                    let pivot = diagonal - dot(&row[..j], &row[..j]);
                    let least = (1e-14 * diagonal).max(f64::MIN_POSITIVE);
                    row[j] = if pivot > least { pivot } else { least }.sqrt();
                    for i in j + 1..n {
                        let (other, later) = rest.split_at_mut(i + 1);
                        other[j] = (other[j] - dot(&other[..j], &row[..j])) / row[j];
                        rest = later;
                    }
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

    /// xᵀH⁻¹x of many x: coordinate i of x number r is at i·size + r of `panel`, which is overwritten.
    #[inline(always)]
    pub(super) fn lengths(&self, panel: &mut [f64], lengths: &mut [f64]) {
        let size = lengths.len();
        lengths.fill(0.0);
        for i in 0..self.n {
            let row = &self.lower[i * (i + 1) / 2..][..=i];
            let (done, rest) = panel.split_at_mut(i * size);
            let left = &mut rest[..size];
            for (l, x) in row.chunks_exact(4).zip(done.chunks_exact(4 * size)) {
                let (x0, x) = x.split_at(size);
                let (x1, x) = x.split_at(size);
                let (x2, x3) = x.split_at(size);
                for ((((left, x0), x1), x2), x3) in left.iter_mut().zip(x0).zip(x1).zip(x2).zip(x3)
                {
                    *left -= (l[0] * x0 + l[1] * x1) + (l[2] * x2 + l[3] * x3);
                }
            }
            let whole = i - i % 4;
            for (l, x) in row[whole..i].iter().zip(done[whole * size..].chunks_exact(size)) {
                for (left, x) in left.iter_mut().zip(x) {
                    *left -= l * x;
                }
            }
            for (left, length) in left.iter_mut().zip(lengths.iter_mut()) {
                *left /= row[i];
                *length += *left * *left;
            }
        }
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
        let mut lengths = [0.0; 2];
        factor.lengths(&mut [1.0, 2.0, -2.0, -4.0, 0.25, 0.5], &mut lengths);
        assert!((lengths[0] - solved).abs() < 1e-14 && (lengths[1] - 4.0 * solved).abs() < 1e-13);
    }
}
