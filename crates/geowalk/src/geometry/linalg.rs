//! # Dense matrices
//! Matrices are column-major slices of `f64`, n×n unless stated otherwise. A slice that is too short gives `None`,
//! never a panic. A matrix that contains a NaN or an infinity also gives `None`.
//!
//! **Cost** Cholesky n³/6, a triangular solve n²/2 per column, a decomposition about 5 to 10 sweeps of 4n³
//! multiplications. No allocation once [`Matrices`] has grown.
//! **Care** Plain loops without fused operations: same bits on every platform. The decompositions are Jacobi's, not a
//! library's. They compute the small eigenvalues of a badly scaled definite matrix to full relative accuracy, which
//! methods that start with a tridiagonal form lose. They are about 10 times slower. Only matrix manifolds pay this
//! price, and it matters above n ≈ 100.
//! **Source** \[GV13, algorithms 3.1.1, 4.2.1, 8.5.3 and section 8.6.3\]; accuracy \[DV92\].

use std::cell::RefCell;

/// Scratch memory of the matrix operations.
#[derive(Debug, Default)]
pub(crate) struct Matrices {
    pool: Vec<f64>,
}

impl Matrices {
    /// `N` buffers of `len` numbers with unspecified contents.
    pub(crate) fn take<const N: usize>(&mut self, len: usize) -> [&mut [f64]; N] {
        if self.pool.len() < N * len {
            self.pool.resize(N * len, 0.0);
        }
        let mut rest = self.pool.as_mut_slice();
        std::array::from_fn(|_| {
            let (head, tail) = std::mem::take(&mut rest).split_at_mut(len);
            rest = tail;
            head
        })
    }
}

/// More sweeps than any matrix needs: convergence is quadratic once the rotations are small.
const SWEEPS: usize = 60;

/// A = U diag(values) Uᵀ for the symmetric matrix whose lower triangle is in `a`. Values are ascending; the columns of
/// U are the eigenvectors. Overwrites `a`.
pub(crate) fn eigen(
    a: &mut [f64],
    n: usize,
    values: &mut [f64],
    vectors: &mut [f64],
) -> Option<()> {
    let (a, scale) = prepare(a, n)?;
    let values = values.get_mut(..n)?;
    let vectors = vectors.get_mut(..n * n)?;
    for j in 0..n {
        for i in 0..j {
            a[i + j * n] = a[j + i * n];
        }
        for i in 0..n {
            vectors[i + j * n] = if i == j { 1.0 } else { 0.0 };
        }
    }
    let mut resting = false;
    for _ in 0..SWEEPS {
        resting = true;
        for q in 1..n {
            for p in 0..q {
                let (app, aqq, apq) = (a[p + p * n], a[q + q * n], a[p + q * n]);
                // Relative to both diagonal entries: the remaining entries change no eigenvalue by more than its
                // rounding.
                if apq.abs() <= f64::EPSILON * (app.abs().sqrt() * aqq.abs().sqrt()) || apq == 0.0 {
                    continue;
                }
                let negligible = app + apq == app && aqq + apq == aqq;
                resting &= negligible;
                let (c, s) = rotation(app, aqq, apq);
                for k in 0..n {
                    let (x, y) = (a[k + p * n], a[k + q * n]);
                    a[k + p * n] = c * x - s * y;
                    a[k + q * n] = s * x + c * y;
                }
                for k in 0..n {
                    let (x, y) = (a[p + k * n], a[q + k * n]);
                    a[p + k * n] = c * x - s * y;
                    a[q + k * n] = s * x + c * y;
                }
                a[p + q * n] = 0.0;
                a[q + p * n] = 0.0;
                rotate(vectors, n, p, q, c, s);
            }
        }
        if resting {
            break;
        }
    }
    if !resting {
        return None;
    }
    for (k, value) in values.iter_mut().enumerate() {
        *value = a[k + k * n];
    }
    sort(values, vectors, n, |x, y| x < y);
    rescale(values, scale)
}

/// The singular values (descending) and left singular vectors (columns) of any n×n matrix. Overwrites `a`.
pub(crate) fn singular(
    a: &mut [f64],
    n: usize,
    values: &mut [f64],
    vectors: &mut [f64],
) -> Option<()> {
    let (a, scale) = prepare(a, n)?;
    let values = values.get_mut(..n)?;
    let vectors = vectors.get_mut(..n * n)?;
    // One-sided: rotate the columns of A until they are orthogonal. They are then the left vectors times the values.
    vectors.copy_from_slice(a);
    let column = |m: &[f64], p: usize, q: usize| -> f64 {
        m[p * n..(p + 1) * n].iter().zip(&m[q * n..(q + 1) * n]).map(|(x, y)| x * y).sum()
    };
    let mut resting = false;
    for _ in 0..SWEEPS {
        resting = true;
        for q in 1..n {
            for p in 0..q {
                let (pp, qq) = (column(vectors, p, p), column(vectors, q, q));
                let pq = column(vectors, p, q);
                if pq.abs() <= n as f64 * f64::EPSILON * (pp.sqrt() * qq.sqrt()) || pq == 0.0 {
                    continue;
                }
                resting = false;
                let (c, s) = rotation(pp, qq, pq);
                rotate(vectors, n, p, q, c, s);
            }
        }
        if resting {
            break;
        }
    }
    if !resting {
        return None;
    }
    for (value, vector) in values.iter_mut().zip(vectors.chunks_exact_mut(n)) {
        *value = crate::row::Norm::L2.of(vector);
        if *value > 0.0 {
            for x in vector {
                *x /= *value;
            }
        }
    }
    sort(values, vectors, n, |x, y| x > y);
    rescale(values, scale)
}

/// Cosine and sine of the smaller rotation that makes the symmetric matrix (p, r; r, q) diagonal.
fn rotation(p: f64, q: f64, r: f64) -> (f64, f64) {
    let theta = (q - p) / (2.0 * r);
    let t = if theta.is_finite() {
        (1.0 / (theta.abs() + crate::Real::hypot(theta, 1.0))).copysign(theta)
    } else {
        // r is negligible compared with q − p.
        r / (q - p)
    };
    let c = 1.0 / (t * t + 1.0).sqrt();
    (c, t * c)
}

/// Rotates the columns p < q.
fn rotate(m: &mut [f64], n: usize, p: usize, q: usize, c: f64, s: f64) {
    let (head, tail) = m.split_at_mut(q * n);
    for (x, y) in head[p * n..(p + 1) * n].iter_mut().zip(&mut tail[..n]) {
        let (old_x, old_y) = (*x, *y);
        *x = c * old_x - s * old_y;
        *y = s * old_x + c * old_y;
    }
}

/// Sorts the values, and the columns in the same order.
fn sort(values: &mut [f64], vectors: &mut [f64], n: usize, before: impl Fn(f64, f64) -> bool) {
    for j in 0..n {
        let mut first = j;
        for k in j + 1..n {
            if before(values[k], values[first]) {
                first = k;
            }
        }
        if first != j {
            values.swap(j, first);
            for i in 0..n {
                vectors.swap(i + j * n, i + first * n);
            }
        }
    }
}

/// Returns the first n×n entries, and the factor by which they were divided so that squares neither overflow nor
/// underflow. `None` if the slice is too short or not finite.
fn prepare(a: &mut [f64], n: usize) -> Option<(&mut [f64], f64)> {
    let a = a.get_mut(..n * n).filter(|a| n > 0 && a.iter().all(|x| x.is_finite()))?;
    let largest = a.iter().fold(0.0, |most: f64, x| most.max(x.abs()));
    let scale = if largest == 0.0 || (1e-100..1e100).contains(&largest) { 1.0 } else { largest };
    if scale != 1.0 {
        for x in a.iter_mut() {
            *x /= scale;
        }
    }
    Some((a, scale))
}

/// Undoes the division of [`prepare`]; `None` if that overflows.
fn rescale(values: &mut [f64], scale: f64) -> Option<()> {
    for x in values.iter_mut() {
        *x *= scale;
    }
    values.iter().all(|x| x.is_finite()).then_some(())
}

/// a ← L with L Lᵀ the symmetric matrix whose lower triangle is in `a`, with zeros above the diagonal. Returns `None`,
/// and overwrites `a`, if it is not positive definite or not finite.
pub(crate) fn cholesky_in_place(a: &mut [f64], n: usize) -> Option<()> {
    let a = a.get_mut(..n * n).filter(|_| n > 0)?;
    for j in 0..n {
        let (before, column) = a.split_at_mut(j * n);
        let column = &mut column[..n];
        for done in before.chunks_exact(n) {
            let factor = done[j];
            for (a, &l) in column[j..].iter_mut().zip(&done[j..]) {
                *a -= factor * l;
            }
        }
        // A NaN or an infinity in row j has reached this pivot, so every value that is not finite is detected here.
        let pivot = column[j];
        if !(pivot > 0.0 && pivot.is_finite()) {
            return None;
        }
        let root = pivot.sqrt();
        column[..j].fill(0.0);
        column[j] = root;
        for a in &mut column[j + 1..] {
            *a /= root;
        }
    }
    Some(())
}

/// Returns the Cholesky factor in a new vector, for constructors.
pub(crate) fn cholesky(a: &[f64], n: usize) -> Option<Vec<f64>> {
    let mut l = a.get(..n * n)?.to_vec();
    cholesky_in_place(&mut l, n)?;
    Some(l)
}

/// x ← L⁻¹x for every n numbers of `x` (the columns of a matrix).
pub(crate) fn solve_lower(l: &[f64], n: usize, x: &mut [f64]) {
    if n == 0 || l.len() < n * n {
        return x.fill(f64::NAN);
    }
    for x in x.chunks_exact_mut(n) {
        for (j, l) in l.chunks_exact(n).take(n).enumerate() {
            let (head, tail) = x.split_at_mut(j + 1);
            let value = head[j] / l[j];
            head[j] = value;
            for (x, &l) in tail.iter_mut().zip(&l[j + 1..]) {
                *x -= value * l;
            }
        }
    }
}

/// The smallest eigenvalue of the symmetric matrix whose lower triangle `a` holds.
pub(crate) fn smallest_eigenvalue<F: crate::Real>(a: &[F], n: usize) -> Option<f64> {
    thread_local! {
        // Callers have no scratch memory, and may call this in every step.
        static SCRATCH: RefCell<Matrices> = const { RefCell::new(Matrices { pool: Vec::new() }) };
    }
    let a = a.get(..n * n)?;
    SCRATCH.with(|scratch| {
        let mut scratch = scratch.try_borrow_mut().ok()?;
        let [copy, values, vectors] = scratch.take(n * n);
        for (copy, a) in copy.iter_mut().zip(a) {
            *copy = a.f64();
        }
        eigen(copy, n, values, vectors)?;
        values.first().copied()
    })
}

/// a ← S with S = L⁻¹ A L⁻ᵀ, exactly symmetric, for a symmetric A.
pub(crate) fn whiten(l: &[f64], n: usize, a: &mut [f64]) {
    solve_lower(l, n, a);
    transpose(a, n);
    solve_lower(l, n, a);
    symmetrize(a, n);
}

/// a ← L A for a lower triangular L.
pub(crate) fn lower_times(l: &[f64], n: usize, a: &mut [f64]) {
    for a in a.chunks_exact_mut(n.max(1)) {
        for j in (0..n).rev() {
            let value = a[j];
            a[j] = 0.0;
            for (a, &l) in a[j..].iter_mut().zip(l.get(j * n + j..(j + 1) * n).unwrap_or(&[])) {
                *a += value * l;
            }
        }
    }
}

/// out ← A diag(d) Bᵀ for n×n matrices.
pub(crate) fn sandwich(a: &[f64], d: impl Fn(usize) -> f64, b: &[f64], n: usize, out: &mut [f64]) {
    out.fill(0.0);
    let columns = a.chunks_exact(n.max(1)).zip(b.chunks_exact(n.max(1)));
    for (k, (a, b)) in columns.take(n).enumerate() {
        let weight = d(k);
        for (out, &b) in out.chunks_exact_mut(n).zip(b) {
            for (out, &a) in out.iter_mut().zip(a) {
                *out += a * (weight * b);
            }
        }
    }
}

/// a ← Aᵀ.
pub(crate) fn transpose<F: Copy>(a: &mut [F], n: usize) {
    for j in 0..n {
        for i in 0..j {
            if i + j * n < a.len() && j + i * n < a.len() {
                a.swap(i + j * n, j + i * n);
            }
        }
    }
}

/// a ← (A + Aᵀ)/2.
pub(crate) fn symmetrize<F: crate::Real>(a: &mut [F], n: usize) {
    for j in 0..n {
        for i in 0..j {
            if i + j * n < a.len() && j + i * n < a.len() {
                let middle = (a[i + j * n] + a[j + i * n]) * F::HALF;
                a[i + j * n] = middle;
                a[j + i * n] = middle;
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const A: [f64; 9] = [4.0, 2.0, -2.0, 2.0, 10.0, 2.0, -2.0, 2.0, 5.0];

    #[test]
    fn cholesky_of_a_known_matrix() {
        let l = cholesky(&A, 3).unwrap();
        assert_eq!(l, [2.0, 1.0, -1.0, 0.0, 3.0, 1.0, 0.0, 0.0, 3.0_f64.sqrt()]);
        let mut x = [2.0, 4.0, 3.0_f64.sqrt()];
        solve_lower(&l, 3, &mut x);
        for (x, y) in x.iter().zip([1.0, 1.0, 1.0]) {
            assert!((x - y).abs() < 1e-15_f64, "{x}");
        }
    }

    #[test]
    fn what_is_not_definite_or_not_finite_is_refused() {
        assert!(cholesky(&[1.0, 2.0, 2.0, 1.0], 2).is_none());
        assert!(cholesky(&[0.0], 1).is_none());
        assert!(cholesky(&A, 4).is_none());
        assert!(cholesky(&[], 0).is_none());
        let (mut values, mut vectors) = ([0.0; 3], [0.0; 9]);
        for i in [0, 1, 2, 4, 5, 8] {
            for bad in [f64::NAN, f64::INFINITY] {
                let mut a = A;
                a[i] = bad;
                assert!(cholesky(&a, 3).is_none(), "{i}");
                assert!(smallest_eigenvalue(&a, 3).is_none());
                assert!(eigen(&mut a, 3, &mut values, &mut vectors).is_none());
                assert!(singular(&mut a, 3, &mut values, &mut vectors).is_none());
            }
        }
        let mut a = A;
        assert!(eigen(&mut a, 3, &mut values[..2], &mut vectors).is_none());
        assert!(eigen(&mut a, 3, &mut values, &mut vectors[..8]).is_none());
        assert!(eigen(&mut a, 4, &mut [0.0; 4], &mut [0.0; 16]).is_none());
        assert!(eigen(&mut [], 0, &mut [], &mut []).is_none());
        assert!(smallest_eigenvalue(&A, 3).is_some());
    }

    #[test]
    fn decompositions_give_the_matrix_back() {
        let mut matrices = Matrices::default();
        let mut random = 1_u64;
        for n in [1, 2, 3, 7, 40, 150] {
            let mut a: Vec<f64> = (0..n * n)
                .map(|_| {
                    random = random.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1);
                    (random >> 11) as f64 / (1_u64 << 53) as f64 - 0.5
                })
                .collect();
            let [values, vectors, back] = matrices.take(n * n);
            // A Aᵀ = U σ² Uᵀ for a general A.
            singular(&mut a.clone(), n, values, vectors).unwrap();
            let mut gram = vec![0.0; n * n];
            sandwich(&a, |_| 1.0, &a, n, &mut gram);
            sandwich(vectors, |k| values[k] * values[k], vectors, n, back);
            assert!(gram.iter().zip(&*back).all(|(a, b)| (a - b).abs() < 1e-12), "{n}");
            symmetrize(&mut a, n);
            eigen(&mut a.clone(), n, values, vectors).unwrap();
            assert!(values[..n].is_sorted());
            sandwich(vectors, |k| values[k], vectors, n, back);
            assert!(a.iter().zip(&*back).all(|(a, b)| (a - b).abs() < 1e-13 * n as f64), "{n}");
            let smallest = values[0];
            assert!((smallest_eigenvalue(&a, n).unwrap() - smallest).abs() < 1e-13 * n as f64);
        }
    }

    #[test]
    fn extreme_numbers_neither_hang_nor_overflow() {
        for n in [2, 3, 20, 140] {
            let (mut values, mut vectors) = (vec![0.0; n], vec![0.0; n * n]);
            for size in [f64::MAX, 1e200, 1e-200, 5e-324, 0.0] {
                let mut a: Vec<f64> =
                    (0..n * n).map(|k| size * f64::from(k % (n + 1) == 0)).collect();
                eigen(&mut a, n, &mut values, &mut vectors).unwrap();
                assert!(values.iter().all(|&x| (x - size).abs() <= 1e-14 * size), "{n} {size:e}");
                let mut a: Vec<f64> =
                    (0..n * n).map(|k| if k % 7 < 3 { size } else { -1.0 }).collect();
                let _ = singular(&mut a, n, &mut values, &mut vectors);
                symmetrize(&mut a, n);
                let _ = eigen(&mut a, n, &mut values, &mut vectors);
            }
        }
    }

    #[test]
    fn triangles_are_inverted_and_multiplied() {
        let l = cholesky(&A, 3).unwrap();
        let mut a = A;
        whiten(&l, 3, &mut a);
        for (i, x) in a.iter().enumerate() {
            assert!((x - f64::from(i % 4 == 0)).abs() < 1e-15);
        }
        lower_times(&l, 3, &mut a);
        for (x, l) in a.iter().zip(&l) {
            assert!((x - l).abs() < 1e-15);
        }
        let mut x = [1.0; 3];
        solve_lower(&l[..8], 3, &mut x);
        assert!(x.iter().all(|x| x.is_nan()));
    }
}
