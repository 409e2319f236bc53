//! # Small symmetric matrices
//! The inverse of a covariance, and products with it. Column-major slices, n×n.
//!
//! **Cost** inverse n³, product n². No allocation; the caller provides the memory. **Care** The matrix is first scaled
//! to a unit diagonal, so badly scaled features cost no digits. If it is not definite in floating point, a small
//! multiple of its diagonal is added, ten times larger each time until it is. **Source** \[GV13, algorithm 4.2.1\].

use super::rows;
use crate::geometry::linalg;

/// p ← A⁻¹ for a symmetric A. `a` holds its lower triangle and is overwritten; `scale` is scratch of n numbers.
/// Coordinates with a zero or negative diagonal are omitted: their rows and columns of the inverse are 0. Returns
/// false, and p = 0, if `a` is not finite.
pub(crate) fn inverse(a: &mut [f64], n: usize, scale: &mut Vec<f64>, p: &mut [f64]) -> bool {
    p.fill(0.0);
    if n == 0 || a.len() < n * n || p.len() < n * n || !a.iter().all(|x| x.is_finite()) {
        return n == 0;
    }
    scale.clear();
    scale.extend((0..n).map(|i| {
        let diagonal = a[i * n + i];
        if diagonal > 0.0 { 1.0 / diagonal.sqrt() } else { 0.0 }
    }));
    for (j, column) in a.chunks_exact_mut(n).take(n).enumerate() {
        for (i, a) in column.iter_mut().enumerate() {
            *a *= scale[i] * scale[j];
        }
        column[j] = 1.0;
    }
    let mut extra = 0.0;
    let l = loop {
        let copy = &mut p[..n * n];
        copy.copy_from_slice(&a[..n * n]);
        for i in 0..n {
            copy[i * n + i] += extra;
        }
        if linalg::cholesky_in_place(copy, n).is_some() {
            break copy;
        }
        extra = if extra == 0.0 { 1e-12 } else { 10.0 * extra };
        if extra > 10.0 {
            p.fill(0.0);
            return false;
        }
    };
    // a ← L⁻¹, column by column; then p ← L⁻ᵀ L⁻¹.
    a.fill(0.0);
    for (j, column) in a.chunks_exact_mut(n).take(n).enumerate() {
        column[j] = 1.0;
        for k in j..n {
            let (head, tail) = column.split_at_mut(k + 1);
            let value = head[k] / l[k * n + k];
            head[k] = value;
            for (x, &l) in tail.iter_mut().zip(&l[k * n + k + 1..(k + 1) * n]) {
                *x -= value * l;
            }
        }
    }
    for j in 0..n {
        for i in 0..=j {
            let (x, y) = (&a[i * n + j..(i + 1) * n], &a[j * n + j..(j + 1) * n]);
            let sum: f64 = x.iter().zip(y).map(|(x, y)| x * y).sum();
            let value = sum * scale[i] * scale[j];
            p[j * n + i] = value;
            p[i * n + j] = value;
        }
    }
    true
}

/// out ← A x.
#[inline(always)]
pub(crate) fn times(a: &[f64], n: usize, x: &[f64], out: &mut Vec<f64>) {
    out.clear();
    out.resize(n, 0.0);
    rows::combine_all(a, n, x, out);
}

/// Extends an m×m matrix to n×n, m ≤ n, with zeros in the new rows and columns.
pub(crate) fn widen(a: &mut Vec<f64>, m: usize, n: usize) {
    if n <= m {
        return;
    }
    let mut wide = vec![0.0; n * n];
    for (new, old) in wide.chunks_exact_mut(n).zip(a.chunks_exact(m.max(1))) {
        new[..m].copy_from_slice(&old[..m]);
    }
    *a = wide;
}

/// The lower triangle of S += w r rᵀ, four columns at a time. Entries above the diagonal are meaningless.
#[inline(always)]
pub(crate) fn add_outer(s: &mut [f64], n: usize, w: f64, r: &[f64]) {
    let (Some(r), 1..) = (r.get(..n), n) else { return };
    let mut panels = s.chunks_exact_mut(4 * n);
    let mut first = 0;
    for panel in panels.by_ref() {
        let (a, panel) = panel.split_at_mut(n);
        let (b, panel) = panel.split_at_mut(n);
        let (c, d) = panel.split_at_mut(n);
        let f = [w * r[first], w * r[first + 1], w * r[first + 2], w * r[first + 3]];
        let columns = [&mut a[first..], &mut b[first..], &mut c[first..], &mut d[first..]];
        rows::add_to_four(columns, &r[first..], f);
        first += 4;
    }
    let last = &r[first..];
    for (column, &factor) in panels.into_remainder().chunks_exact_mut(n).zip(last) {
        rows::change(&mut column[first..], last, last, |s, r, _| s + w * factor * r);
    }
}

/// r ← A⁻¹ r by Cholesky for a definite A, which is overwritten; false if A is not definite.
pub(crate) fn solve(a: &mut [f64], n: usize, r: &mut [f64]) -> bool {
    if r.len() != n || linalg::cholesky_in_place(a, n).is_none() {
        return n == 0;
    }
    linalg::solve_lower(a, n, r);
    for k in (0..n).rev() {
        let column = &a[k * n..(k + 1) * n];
        let sum: f64 = column[k + 1..].iter().zip(&r[k + 1..]).map(|(l, r)| l * r).sum();
        r[k] = (r[k] - sum) / column[k];
    }
    true
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_inverse_undoes_its_matrix() {
        // Correlations 2^-|i-j|, whose inverse is tridiagonal, between features of very different scales.
        let scale = [1.0, 1e6, 1e-6, 30.0];
        let at = |i: usize, j: usize| scale[i] * scale[j] / f64::from(1_u32 << i.abs_diff(j));
        let a: Vec<f64> = (0..16).map(|k| at(k % 4, k / 4)).collect();
        let mut p = vec![0.0; 16];
        assert!(inverse(&mut a.clone(), 4, &mut Vec::new(), &mut p));
        for i in 0..4 {
            for j in 0..4 {
                let found = p[i * 4 + j] * scale[i] * scale[j];
                let expected = match i.abs_diff(j) {
                    0 if i == 0 || i == 3 => 4.0 / 3.0,
                    0 => 5.0 / 3.0,
                    1 => -2.0 / 3.0,
                    _ => 0.0,
                };
                assert!((found - expected).abs() < 1e-14, "{i} {j}: {found} {expected}");
                let mut column: Vec<f64> = (0..4).map(|i| f64::from(u8::from(i == j))).collect();
                assert!(solve(&mut a.clone(), 4, &mut column));
                assert!((column[i] * scale[i] * scale[j] - expected).abs() < 1e-14);
            }
        }
        let mut out = Vec::new();
        times(&p, 4, &a[4..8], &mut out);
        assert!((out[1] - 1.0).abs() < 1e-9 && out[0].abs() < 1e-6, "{out:?}");
    }

    #[test]
    fn an_outer_product_fills_the_lower_triangle() {
        let mut s = vec![0.0; 4];
        add_outer(&mut s, 2, 2.0, &[1.0, 3.0]);
        assert_eq!((s[0], s[1], s[3]), (2.0, 6.0, 18.0));
        let r: Vec<f64> = (1..=9).map(f64::from).collect();
        let mut s = vec![0.0; 81];
        add_outer(&mut s, 9, 0.5, &r);
        for j in 0..9 {
            for i in j..9 {
                assert_eq!(s[j * 9 + i], 0.5 * r[i] * r[j], "{i} {j}");
            }
        }
    }

    #[test]
    fn directions_without_variance_stay_out() {
        // The second coordinate is constant, the third a copy of the first.
        let mut a = vec![4.0, 0.0, 4.0, 0.0, 0.0, 0.0, 4.0, 0.0, 4.0];
        let mut p = vec![1.0; 9];
        assert!(inverse(&mut a, 3, &mut Vec::new(), &mut p));
        assert!(p.iter().all(|x| x.is_finite()));
        assert_eq!((p[1], p[4], p[7]), (0.0, 0.0, 0.0));
        assert!(!inverse(&mut [f64::NAN], 1, &mut Vec::new(), &mut p));
    }

    #[test]
    fn a_wider_matrix_keeps_its_corner() {
        let mut a = vec![1.0, 2.0, 3.0, 4.0];
        widen(&mut a, 2, 3);
        assert_eq!(a, [1.0, 2.0, 0.0, 3.0, 4.0, 0.0, 0.0, 0.0, 0.0]);
    }
}
