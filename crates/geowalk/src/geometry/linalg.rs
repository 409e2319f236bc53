//! # Dense matrices
//! The only file that knows faer. Matrices are column-major slices of `f64`, n×n unless said otherwise; a slice
//! that is too short gives `None`, never a panic, and a matrix with a NaN or an infinity in it gives `None` too.
//!
//! **Cost** Cholesky n³/6, a triangular solve n²/2 per column, the decompositions some 10n³ to 20n³ multiplications.
//! No allocation once [`Matrices`] has grown (measured up to n = 200 on x86-64; on other processors faer's matrix
//! product may pack large operands into buffers of its own).
//! **Care** Cholesky, the triangular solves and the products are plain loops without fused operations: same bits on every
//! platform. [`Solver::eigen`] and [`Solver::singular`] are faer's, which chooses its kernels at run time by the
//! features of the processor: with AVX2 it fuses multiply-adds and sums in lanes, without it does not. Same bits from run to
//! run on one machine; last bits, and signs of eigenvectors, may differ between machines.
//! **Source** \[GV13, algorithms 3.1.1 and 4.2.1\].

use faer::diag::DiagMut;
use faer::dyn_stack::{MemBuffer, MemStack, StackReq};
use faer::linalg::evd::{self, ComputeEigenvectors};
use faer::linalg::svd::{self, ComputeSvdVectors};
use faer::{MatMut, MatRef, Par, Spec};

/// Scratch memory of the matrix operations: buffers, and the memory of the decompositions.
#[derive(Debug, Default)]
pub(crate) struct Matrices {
    pool: Vec<f64>,
    solver: Solver,
}

impl Matrices {
    /// `N` buffers of `len` numbers with unspecified contents, and the decompositions, to be used side by side.
    pub(crate) fn take<const N: usize>(&mut self, len: usize) -> ([&mut [f64]; N], &mut Solver) {
        if self.pool.len() < N * len {
            self.pool.resize(N * len, 0.0);
        }
        let mut rest = self.pool.as_mut_slice();
        let buffers = std::array::from_fn(|_| {
            let (head, tail) = std::mem::take(&mut rest).split_at_mut(len);
            rest = tail;
            head
        });
        (buffers, &mut self.solver)
    }
}

/// Decompositions, with the scratch memory they need.
#[derive(Default)]
pub(crate) struct Solver {
    memory: Option<MemBuffer>,
}

impl std::fmt::Debug for Solver {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let bytes = self.memory.as_ref().map_or(0, |memory| memory.len());
        f.debug_struct("Solver").field("bytes", &bytes).finish()
    }
}

impl Solver {
    /// A = U diag(values) Uᵀ of the symmetric matrix whose lower triangle `a` holds, values ascending, the vectors
    /// the columns of U. `a` may come back rescaled.
    pub(crate) fn eigen(
        &mut self,
        a: &mut [f64],
        n: usize,
        values: &mut [f64],
        vectors: &mut [f64],
    ) -> Option<()> {
        let (a, scale) = prepare(a, n)?;
        let values = values.get_mut(..n)?;
        let vectors = vectors.get_mut(..n * n)?;
        let spec = Spec::default();
        let yes = ComputeEigenvectors::Yes;
        let stack = self.stack(evd::self_adjoint_evd_scratch::<f64>(n, yes, Par::Seq, spec))?;
        evd::self_adjoint_evd(
            a,
            DiagMut::from_slice_mut(values),
            Some(MatMut::from_column_major_slice_mut(vectors, n, n)),
            Par::Seq,
            stack,
            spec,
        )
        .ok()?;
        rescale(values, scale)
    }

    /// The eigenvalues alone, ascending.
    fn eigenvalues(&mut self, a: &mut [f64], n: usize, values: &mut [f64]) -> Option<()> {
        let (a, scale) = prepare(a, n)?;
        let values = values.get_mut(..n)?;
        let spec = Spec::default();
        let no = ComputeEigenvectors::No;
        let stack = self.stack(evd::self_adjoint_evd_scratch::<f64>(n, no, Par::Seq, spec))?;
        let diagonal = DiagMut::from_slice_mut(values);
        evd::self_adjoint_evd(a, diagonal, None, Par::Seq, stack, spec).ok()?;
        values.sort_unstable_by(f64::total_cmp);
        rescale(values, scale)
    }

    /// The singular values (descending) and left singular vectors (columns) of any n×n matrix. `a` may come back rescaled.
    pub(crate) fn singular(
        &mut self,
        a: &mut [f64],
        n: usize,
        values: &mut [f64],
        vectors: &mut [f64],
    ) -> Option<()> {
        let (a, scale) = prepare(a, n)?;
        let values = values.get_mut(..n)?;
        let vectors = vectors.get_mut(..n * n)?;
        let spec = Spec::default();
        let (left, right) = (ComputeSvdVectors::Full, ComputeSvdVectors::No);
        let stack = self.stack(svd::svd_scratch::<f64>(n, n, left, right, Par::Seq, spec))?;
        svd::svd(
            a,
            DiagMut::from_slice_mut(values),
            Some(MatMut::from_column_major_slice_mut(vectors, n, n)),
            None,
            Par::Seq,
            stack,
            spec,
        )
        .ok()?;
        rescale(values, scale)
    }

    /// Scratch memory of at least the size asked for; it only ever grows.
    fn stack(&mut self, need: StackReq) -> Option<&mut MemStack> {
        let enough =
            self.memory.as_mut().is_some_and(|memory| MemStack::new(memory).can_hold(need));
        if !enough {
            self.memory = Some(MemBuffer::try_new(need).ok()?);
        }
        self.memory.as_mut().map(|memory| MemStack::new(memory))
    }
}

/// The first n×n entries as a faer matrix, if they are there and finite, and the factor by which they were divided. (faer's
/// iterations square numbers, and need not end on a NaN.)
fn prepare(a: &mut [f64], n: usize) -> Option<(MatRef<'_, f64>, f64)> {
    let a = a.get_mut(..n * n).filter(|a| n > 0 && a.iter().all(|x| x.is_finite()))?;
    let largest = a.iter().fold(0.0, |most: f64, x| most.max(x.abs()));
    let scale = if largest == 0.0 || (1e-100..1e100).contains(&largest) { 1.0 } else { largest };
    if scale != 1.0 {
        for x in a.iter_mut() {
            *x /= scale;
        }
    }
    Some((MatRef::from_column_major_slice(a, n, n), scale))
}

/// Undoes the division of [`prepare`]; `None` if that overflows.
fn rescale(values: &mut [f64], scale: f64) -> Option<()> {
    for x in values.iter_mut() {
        *x *= scale;
    }
    values.iter().all(|x| x.is_finite()).then_some(())
}

/// a ← L with L Lᵀ the symmetric matrix whose lower triangle `a` holds, zeros above the diagonal. `None`, with `a` spoilt,
/// if it is not positive definite or not finite.
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
        // A NaN or an infinity in row j has reached this pivot: nothing that is not finite gets past.
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

/// The Cholesky factor in new memory, for constructors.
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
pub(crate) fn smallest_eigenvalue(a: &[f64], n: usize) -> Option<f64> {
    let mut values = vec![0.0; n];
    Solver::default().eigenvalues(&mut a.to_vec(), n, &mut values)?;
    values.first().copied()
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
        let mut solver = Solver::default();
        let (mut values, mut vectors) = ([0.0; 3], [0.0; 9]);
        for i in [0, 1, 2, 4, 5, 8] {
            for bad in [f64::NAN, f64::INFINITY] {
                let mut a = A;
                a[i] = bad;
                assert!(cholesky(&a, 3).is_none(), "{i}");
                assert!(smallest_eigenvalue(&a, 3).is_none());
                assert!(solver.eigen(&mut a, 3, &mut values, &mut vectors).is_none());
                assert!(solver.singular(&mut a, 3, &mut values, &mut vectors).is_none());
            }
        }
        let mut a = A;
        assert!(solver.eigen(&mut a, 3, &mut values[..2], &mut vectors).is_none());
        assert!(solver.eigen(&mut a, 3, &mut values, &mut vectors[..8]).is_none());
        assert!(solver.eigen(&mut a, 4, &mut [0.0; 4], &mut [0.0; 16]).is_none());
        assert!(solver.eigen(&mut [], 0, &mut [], &mut []).is_none());
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
            let ([values, vectors, back], solver) = matrices.take(n * n);
            // A Aᵀ = U σ² Uᵀ for a general A.
            solver.singular(&mut a, n, values, vectors).unwrap();
            let mut gram = vec![0.0; n * n];
            sandwich(&a, |_| 1.0, &a, n, &mut gram);
            sandwich(vectors, |k| values[k] * values[k], vectors, n, back);
            assert!(gram.iter().zip(&*back).all(|(a, b)| (a - b).abs() < 1e-12), "{n}");
            symmetrize(&mut a, n);
            solver.eigen(&mut a, n, values, vectors).unwrap();
            assert!(values[..n].is_sorted());
            sandwich(vectors, |k| values[k], vectors, n, back);
            assert!(a.iter().zip(&*back).all(|(a, b)| (a - b).abs() < 1e-13 * n as f64), "{n}");
            let smallest = values[0];
            assert!((smallest_eigenvalue(&a, n).unwrap() - smallest).abs() < 1e-13 * n as f64);
        }
    }

    #[test]
    fn extreme_numbers_neither_hang_nor_overflow() {
        let mut solver = Solver::default();
        for n in [2, 3, 20, 140] {
            let (mut values, mut vectors) = (vec![0.0; n], vec![0.0; n * n]);
            for size in [f64::MAX, 1e200, 1e-200, 5e-324, 0.0] {
                let mut a: Vec<f64> =
                    (0..n * n).map(|k| size * f64::from(k % (n + 1) == 0)).collect();
                solver.eigen(&mut a, n, &mut values, &mut vectors).unwrap();
                assert!(values.iter().all(|&x| (x - size).abs() <= 1e-14 * size), "{n} {size:e}");
                let mut a: Vec<f64> =
                    (0..n * n).map(|k| if k % 7 < 3 { size } else { -1.0 }).collect();
                let _ = solver.singular(&mut a, n, &mut values, &mut vectors);
                symmetrize(&mut a, n);
                let _ = solver.eigen(&mut a, n, &mut values, &mut vectors);
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
