//! Scratch memory that is allocated once and reused, so that no step of a learner allocates.

use crate::Real;
use crate::geometry::linalg::Matrices;

/// Scratch memory for the operations of a manifold. Make one per learner and pass it to every call. It grows at the
/// first call to the size that the manifold needs, and never again.
#[derive(Debug, Default)]
pub struct Work<F> {
    pool: Vec<F>,
    matrices: Matrices,
    inner: Option<Box<Work<F>>>,
}

impl<F: Real> Work<F> {
    /// Empty scratch memory.
    pub fn new() -> Self {
        Self { pool: Vec::new(), matrices: Matrices::default(), inner: None }
    }

    /// `N` buffers of `len` scalars with unspecified contents.
    pub fn take<const N: usize>(&mut self, len: usize) -> [&mut [F]; N] {
        self.nested(len).0
    }

    /// Like [`Work::take`], with additional scratch memory for calls made while these buffers are in use.
    pub fn nested<const N: usize>(&mut self, len: usize) -> ([&mut [F]; N], &mut Work<F>) {
        if self.pool.len() < N * len {
            self.pool.resize(N * len, F::ZERO);
        }
        let inner = self.inner.get_or_insert_with(|| Box::new(Work::new()));
        let mut rest = self.pool.as_mut_slice();
        let buffers = std::array::from_fn(|_| {
            let (head, tail) = std::mem::take(&mut rest).split_at_mut(len);
            rest = tail;
            head
        });
        (buffers, inner)
    }

    /// Scratch memory of the matrix operations.
    pub(crate) fn matrices(&mut self) -> &mut Matrices {
        &mut self.matrices
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn buffers_are_disjoint_and_reused() {
        let mut work = Work::<f64>::new();
        let [a, b] = work.take(3);
        a.fill(1.0);
        b.fill(2.0);
        assert_eq!(a, [1.0; 3]);
        let [c] = work.take::<1>(0);
        assert!(c.is_empty());
        let before = work.pool.capacity();
        let _ = work.take::<2>(3);
        assert_eq!(before, work.pool.capacity());
    }
}
