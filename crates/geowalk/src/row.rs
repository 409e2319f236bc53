//! # Rows
//! A feature vector, dense or sparse, borrowed from wherever it lies.
//!
//! **Why internal iteration** One method, [`Row::each`], visits the coordinates that are present. An update written
//! once with it runs over dense and sparse data alike, and the compiler turns the closure into a plain loop; an
//! iterator would need an associated type with a lifetime and gives slower code for the dense case.
//!
//! **Care** No index occurs twice in a row: a duplicate would count twice in some sums and once in others. [`Block`] adds
//! duplicates up; [`Sparse::new`] demands increasing indices.

mod block;
mod dense;
mod sparse;

pub use block::Block;
pub use dense::Dense;
pub use sparse::Sparse;

use crate::Real;

/// Which norm.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum Norm {
    /// Σ|x_i|.
    L1,
    /// √Σx_i².
    L2,
    /// (Σ|x_i|^p)^(1/p), p ≥ 1; NaN for any other p, which gives no norm.
    Lp(f64),
    /// max |x_i|.
    LInf,
}

impl Norm {
    /// The dual norm, sup ⟨u, x⟩ over ‖u‖ ≤ 1.
    ///
    /// ```
    /// use geowalk::row::Norm;
    /// assert_eq!(Norm::L1.dual(), Norm::LInf);
    /// assert_eq!(Norm::Lp(1.5).dual(), Norm::Lp(3.0));
    /// ```
    #[must_use]
    pub fn dual(self) -> Self {
        match self {
            Self::L1 => Self::LInf,
            Self::L2 => Self::L2,
            Self::LInf => Self::L1,
            Self::Lp(p) => Self::Lp(p / (p - 1.0)),
        }
    }

    /// The norm of a dense vector, without overflow or underflow on the way.
    ///
    /// ```
    /// use geowalk::row::Norm;
    /// assert!((Norm::L2.of(&[3e200_f64, 4e200]) / 5e200 - 1.0).abs() < 1e-15);
    /// ```
    pub fn of<F: Real>(self, x: &[F]) -> F {
        Dense(x).norm(self)
    }
}

/// A feature vector, dense or sparse.
pub trait Row<F: Real>: Copy {
    /// Calls `f(i, x_i)` once for every coordinate present, always in the same order.
    fn each(self, f: impl FnMut(usize, F));

    /// One more than the largest index present; 0 for the empty row.
    fn bound(self) -> usize;

    /// ⟨w, x⟩. Coordinates beyond the end of `w` count as weight 0.
    #[inline]
    fn dot(self, w: &[F]) -> F {
        let mut sum = F::ZERO;
        self.each(|i, x| {
            if let Some(&weight) = w.get(i) {
                sum += weight * x;
            }
        });
        sum
    }

    /// y ← y + a·x. Coordinates beyond the end of `y` are left out.
    #[inline]
    fn axpy(self, a: F, y: &mut [F]) {
        self.each(|i, x| {
            if let Some(target) = y.get_mut(i) {
                *target += a * x;
            }
        });
    }

    /// ‖x‖, scaled by the largest coordinate so that nothing overflows or underflows on the way.
    fn norm(self, norm: Norm) -> F {
        if matches!(norm, Norm::Lp(p) if p.is_nan() || p < 1.0) {
            return F::NAN;
        }
        let mut largest = F::ZERO;
        self.each(|_, x| largest = largest.max(x.abs()));
        if largest == F::ZERO || !largest.is_finite() {
            return largest;
        }
        match norm {
            Norm::LInf => largest,
            Norm::L1 => {
                let mut sum = F::ZERO;
                self.each(|_, x| sum += x.abs());
                sum
            }
            Norm::L2 => {
                let mut sum = F::ZERO;
                self.each(|_, x| sum += (x / largest).square());
                largest * sum.sqrt()
            }
            Norm::Lp(p) => {
                let p = F::of(p);
                let mut sum = F::ZERO;
                self.each(|_, x| sum += (x.abs() / largest).powf(p));
                largest * sum.powf(F::ONE / p)
            }
        }
    }
}
