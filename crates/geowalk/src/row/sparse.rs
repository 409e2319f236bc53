use super::Row;
use crate::error::{Allowed, DomainError};
use crate::{Real, error};

/// A sparse row: distinct indices and their values.
///
/// ```
/// use geowalk::row::{Row, Sparse};
/// let x = Sparse::new(&[0, 7], &[1.0, 2.0])?;
/// assert_eq!(x.bound(), 8);
/// assert!(Sparse::new(&[7, 7], &[1.0, 2.0]).is_err());
/// # Ok::<(), geowalk::DomainError>(())
/// ```
#[derive(Debug, Clone, Copy)]
pub struct Sparse<'a, F> {
    indices: &'a [u32],
    values: &'a [F],
    bound: usize,
}

impl<'a, F: Real> Sparse<'a, F> {
    /// A row of the given coordinates. Returns an error for unequal lengths, indices that do not increase, and values
    /// that are not finite.
    pub fn new(indices: &'a [u32], values: &'a [F]) -> Result<Self, DomainError> {
        error::finite("the row's values", values, indices.len())?;
        for (k, pair) in indices.windows(2).enumerate() {
            if pair[1] <= pair[0] {
                return Err(DomainError::Coordinate {
                    what: "the row's indices",
                    index: k + 1,
                    value: f64::from(pair[1]),
                    allowed: Allowed::Whole(pair[0] as usize + 1),
                });
            }
        }
        let bound = indices.last().map_or(0, |&index| (index as usize).saturating_add(1));
        Ok(Self { indices, values, bound })
    }

    /// A row of indices that the caller guarantees to be distinct and below `bound`, in any order. The longer slice is
    /// cut to the length of the shorter.
    #[inline]
    pub(crate) fn distinct(indices: &'a [u32], values: &'a [F], bound: usize) -> Self {
        Self { indices, values, bound }
    }
}

impl<F: Real> Row<F> for Sparse<'_, F> {
    #[inline]
    fn each(self, mut f: impl FnMut(usize, F)) {
        for (&i, &x) in self.indices.iter().zip(self.values) {
            f(i as usize, x);
        }
    }

    #[inline]
    fn bound(self) -> usize {
        self.bound
    }

    // Unrolled: four coordinates per iteration.
    #[inline(always)]
    fn each_briefly(self, mut f: impl FnMut(usize, F)) {
        let count = self.indices.len().min(self.values.len());
        let (indices, last_indices) = self.indices[..count].as_chunks::<4>();
        let (values, last_values) = self.values[..count].as_chunks::<4>();
        for (indices, values) in indices.iter().zip(values) {
            for k in 0..4 {
                f(indices[k] as usize, values[k]);
            }
        }
        for (&i, &x) in last_indices.iter().zip(last_values) {
            f(i as usize, x);
        }
    }

    #[inline]
    fn span(self) -> (f64, f64, usize) {
        super::span(&self.values[..self.values.len().min(self.indices.len())])
    }

    #[inline]
    fn length(self) -> f64 {
        super::length(&self.values[..self.values.len().min(self.indices.len())])
    }
}
