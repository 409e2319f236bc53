//! # Rows
//! A feature vector, dense or sparse, borrowed from its storage.
//!
//! **Why internal iteration** One method, [`Row::each`], visits the stored coordinates. An update written with it
//! works for dense and sparse data, and the compiler turns the closure into a plain loop. An iterator would need an
//! associated type with a lifetime, and it gives slower code for the dense case.
//!
//! **Care** No index occurs twice in a row: a duplicate would count twice in some sums and once in others. [`Block`]
//! adds duplicates up; [`Sparse::new`] requires increasing indices.

mod block;
mod columns;
mod dense;
mod fingerprint;
mod sparse;

pub use block::{Block, Parts, PartsMut};
pub use columns::{Column, Columns, MISSING, MOST_ROWS, SparseValues, TableError, Values};
pub use dense::Dense;
pub use sparse::Sparse;

use crate::Real;

/// A norm of a feature vector.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum Norm {
    /// Σ|x_i|.
    L1,
    /// √Σx_i².
    L2,
    /// (Σ|x_i|^p)^(1/p), p ≥ 1; NaN for any other p, which does not define a norm.
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

    /// The norm of a dense vector, without intermediate overflow or underflow.
    ///
    /// ```
    /// use geowalk::row::Norm;
    /// assert!((Norm::L2.of(&[3e200_f64, 4e200]) / 5e200 - 1.0).abs() < 1e-15);
    /// ```
    pub fn of<F: Real>(self, x: &[F]) -> F {
        Dense(x).norm(self)
    }

    /// An upper bound on the norm: the computed norm, enlarged by its possible rounding error. Faster than
    /// [`of`](Norm::of) for long vectors.
    ///
    /// ```
    /// use geowalk::row::Norm;
    /// let above = Norm::L2.above(&[3.0, 4.0]);
    /// assert!(above > 5.0 && above < 5.000_000_000_000_1);
    /// ```
    pub fn above(self, x: &[f64]) -> f64 {
        // Sums of n terms are off by at most a factor 1 ± (n + 4)ε, and so are their roots.
        let grow = 1.0 + (x.len() as f64 + 8.0) * f64::EPSILON;
        match self {
            Self::L1 => lanes(x, f64::abs) * grow,
            Self::L2 => length(x) * grow,
            Self::Lp(p) if p == 1.5 || p == 3.0 => {
                // The default of the p-norm walk and its dual, computed without powers.
                let largest = Self::LInf.of(x);
                if largest == 0.0 || !largest.is_finite() {
                    return largest;
                }
                let sum = lanes(x, |x| {
                    let r = x.abs() / largest;
                    r * if p == 3.0 { r * r } else { r.sqrt() }
                });
                largest * Real::powf(sum, 1.0 / p) * grow * grow
            }
            _ => self.of(x) * grow * grow,
        }
    }
}

/// Σf(x_i) as four independent sums, for instruction-level parallelism.
#[inline]
fn lanes<F: Real>(x: &[F], f: impl Fn(f64) -> f64) -> f64 {
    let (fours, rest) = x.as_chunks::<4>();
    let mut sums = [0.0; 4];
    for four in fours {
        for (sum, x) in sums.iter_mut().zip(four) {
            *sum += f(x.f64());
        }
    }
    sums.iter().sum::<f64>() + rest.iter().map(|x| f(x.f64())).sum::<f64>()
}

/// ‖x‖₂ of a slice: in one pass if nothing can overflow or underflow, else as [`Norm::of`].
#[inline]
fn length<F: Real>(x: &[F]) -> f64 {
    let square = lanes(x, |x| x * x);
    if (1e-280..1e280).contains(&square) { square.sqrt() } else { Norm::L2.of(x).f64() }
}

/// The smallest value, the largest value and the length of a slice, eight values at a time. Nothing is rounded, so the
/// order does not matter.
#[inline]
fn span<F: Real>(x: &[F]) -> (f64, f64, usize) {
    let least = |lo: f64, x: f64| if x < lo { x } else { lo };
    let most = |hi: f64, x: f64| if x > hi { x } else { hi };
    let (eights, rest) = x.as_chunks::<8>();
    let (mut lo, mut hi) = ([f64::INFINITY; 8], [f64::NEG_INFINITY; 8]);
    for eight in eights {
        for k in 0..8 {
            lo[k] = least(lo[k], eight[k].f64());
            hi[k] = most(hi[k], eight[k].f64());
        }
    }
    for (k, x) in rest.iter().enumerate() {
        lo[k] = least(lo[k], x.f64());
        hi[k] = most(hi[k], x.f64());
    }
    let fold = |all: [f64; 8], of: fn(f64, f64) -> f64| all.into_iter().fold(all[0], of);
    (fold(lo, least), fold(hi, most), x.len())
}

/// A feature vector, dense or sparse.
pub trait Row<F: Real>: Copy {
    /// Calls `f(i, x_i)` once for every stored coordinate, always in the same order.
    fn each(self, f: impl FnMut(usize, F));

    /// Like [`each`](Row::each) for a short `f`, where loop overhead would dominate: the loop may be unrolled.
    #[inline(always)]
    fn each_briefly(self, f: impl FnMut(usize, F)) {
        self.each(f);
    }

    /// Calls `f(i, [x_i, x_{i+1}, …])` for runs of adjacent coordinates that together contain all stored ones. Runs of
    /// a dense row are short enough to stay in the first-level cache while the caller passes over them several times.
    #[inline(always)]
    fn stretches(self, mut f: impl FnMut(usize, &[F])) {
        self.each(|i, x| f(i, &[x]));
    }

    /// One more than the largest stored index; 0 for the empty row.
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

    /// The sums (⟨w, x⟩, ‖x‖²), added to two initial numbers, coordinate by coordinate. Coordinates beyond the end of
    /// `w` are ignored.
    #[inline]
    fn dot_and_square(self, w: &[F], begun: (F, F)) -> (F, F) {
        let (mut dot, mut square) = begun;
        self.each_briefly(|i, x| {
            if let Some(&w) = w.get(i) {
                dot += w * x;
                square += x * x;
            }
        });
        (dot, square)
    }

    /// y ← y + a·x. Coordinates beyond the end of `y` are ignored.
    #[inline]
    fn axpy(self, a: F, y: &mut [F]) {
        self.each_briefly(|i, x| {
            if let Some(target) = y.get_mut(i) {
                *target += a * x;
            }
        });
    }

    /// ‖x‖₂ to within 1 % (a row has less than 10¹⁰ coordinates), in one pass over the values if possible. Used for
    /// bounds on rounding errors.
    #[inline]
    fn length(self) -> f64 {
        self.norm(Norm::L2).f64()
    }

    /// The smallest value, the largest value and the number of stored values; (∞, −∞, 0) for the empty row.
    #[inline]
    fn span(self) -> (f64, f64, usize) {
        let (mut lo, mut hi, mut count) = (f64::INFINITY, f64::NEG_INFINITY, 0);
        self.each(|_, x| {
            let x = x.f64();
            lo = if x < lo { x } else { lo };
            hi = if x > hi { x } else { hi };
            count += 1;
        });
        (lo, hi, count)
    }

    /// An upper bound on the norm, close to it. One pass, without powers for the norms of the usual p-norm walk: see
    /// [`Norm::above`].
    ///
    /// ```
    /// use geowalk::row::{Dense, Norm, Row};
    /// let above = Dense(&[2.0, -1.0, 0.0]).above(Norm::Lp(3.0));
    /// assert!(above >= 9.0_f64.cbrt() && above < 9.0_f64.cbrt() + 1e-12);
    /// ```
    fn above(self, norm: Norm) -> f64 {
        if norm == Norm::Lp(3.0) {
            let (mut sum, mut count) = (0.0, 0.0);
            self.each(|_, x| {
                let x = x.f64().abs();
                sum += x * x * x;
                count += 1.0;
            });
            // The float 1/3 is smaller than one third; without this limit the root of a larger sum would be too small.
            if (1e-280..1e60).contains(&sum) {
                return Real::powf(sum, 1.0 / 3.0) * (1.0 + (count + 16.0) * f64::EPSILON);
            }
        }
        self.norm(norm).f64() * (1.0 + 1e-13)
    }

    /// ‖x‖, scaled by the largest coordinate so that intermediate results neither overflow nor underflow.
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

/// A row of either kind, as doors take it.
///
/// ```
/// use geowalk::row::{AnyRow, Sparse};
/// let _: AnyRow<'_> = (&[1.0, 2.0]).into();
/// let _: AnyRow<'_> = Sparse::new(&[0, 7], &[1.0, 2.0])?.into();
/// # Ok::<(), geowalk::DomainError>(())
/// ```
#[derive(Debug, Clone, Copy)]
pub enum AnyRow<'a> {
    /// Every coordinate.
    Dense(Dense<'a, f64>),
    /// The coordinates that are present.
    Sparse(Sparse<'a, f64>),
}

impl<'a> From<Dense<'a, f64>> for AnyRow<'a> {
    fn from(row: Dense<'a, f64>) -> Self {
        Self::Dense(row)
    }
}

impl<'a> From<Sparse<'a, f64>> for AnyRow<'a> {
    fn from(row: Sparse<'a, f64>) -> Self {
        Self::Sparse(row)
    }
}

impl<'a> From<&'a [f64]> for AnyRow<'a> {
    fn from(row: &'a [f64]) -> Self {
        Self::Dense(Dense(row))
    }
}

impl<'a, const N: usize> From<&'a [f64; N]> for AnyRow<'a> {
    fn from(row: &'a [f64; N]) -> Self {
        Self::Dense(Dense(row))
    }
}

impl<'a> From<&'a Vec<f64>> for AnyRow<'a> {
    fn from(row: &'a Vec<f64>) -> Self {
        Self::Dense(Dense(row))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_norm_above_is_above_and_near() {
        let x: Vec<f64> =
            (1..40).map(|k| Real::sin(f64::from(k)) * Real::exp(f64::from(k % 7))).collect();
        for norm in [Norm::L1, Norm::L2, Norm::LInf, Norm::Lp(1.5), Norm::Lp(3.0), Norm::Lp(2.5)] {
            for scale in [1.0, 1e-200, 1e200, 0.0] {
                for n in [0, 1, 4, 39] {
                    let x: Vec<f64> = x.iter().take(n).map(|x| scale * x).collect();
                    let (of, above) = (norm.of(&x), norm.above(&x));
                    assert!(
                        above >= of && above <= of * (1.0 + 1e-13),
                        "{norm:?} {scale:e} {n}: {of} {above}"
                    );
                }
            }
            assert!(norm.above(&[1.0, f64::NAN, 2.0]).is_nan());
            assert_eq!(norm.above(&[1.0, f64::INFINITY]), f64::INFINITY);
        }
    }

    #[test]
    fn rows_have_norms_above_and_spans() {
        let mut random = crate::laws::Sampler::new(8);
        for scale in [1e-120, 1e-90, 1e-3, 1.0, 1e15, 1e19, 1e50, 1e90, 1e100] {
            for n in [0, 1, 7, 300] {
                let x: Vec<f64> = (0..n).map(|_| scale * random.normal()).collect();
                for norm in [Norm::Lp(3.0), Norm::L2, Norm::Lp(1.5), Norm::Lp(7.0)] {
                    let (above, own) = (Dense(&x).above(norm), norm.of(&x));
                    assert!(
                        above >= own && above <= own * (1.0 + 1e-12),
                        "{norm:?}: {above} {own}"
                    );
                }
                let (lo, hi, count) = Dense(&x).span();
                assert_eq!(count, n);
                assert!(x.iter().all(|x| (lo..=hi).contains(x)));
                assert!(n == 0 || x.contains(&lo) && x.contains(&hi));
                let both = crate::walk::Both { x: Dense(&x), scale: 3.0 };
                let (mut least, mut most, mut all) = (f64::INFINITY, f64::NEG_INFINITY, 0);
                both.each(|_, x| (least, most, all) = (least.min(x), most.max(x), all + 1));
                assert_eq!(both.span(), (least, most, all));
            }
        }
    }

    #[test]
    fn the_length_of_a_row_is_its_norm() {
        for x in [&[3.0, -4.0][..], &[3e-200, 4e-200], &[3e200, 4e200], &[0.0], &[]] {
            let norm = Dense(x).norm(Norm::L2);
            assert!((Dense(x).length() - norm).abs() <= 1e-15 * norm);
            let indices: Vec<u32> = (0..).step_by(3).take(x.len()).collect();
            assert_eq!(Sparse::new(&indices, x).unwrap().length(), Dense(x).length());
        }
        assert!(Dense(&[1.0, f64::NAN]).length().is_nan());
    }
}
