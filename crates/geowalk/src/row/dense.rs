use super::Row;
use crate::Real;

/// A dense row: every coordinate is present.
///
/// ```
/// use geowalk::row::{Dense, Row};
/// assert_eq!(Dense(&[1.0, 2.0]).dot(&[3.0, 4.0]), 11.0);
/// ```
#[derive(Debug, Clone, Copy)]
pub struct Dense<'a, F>(pub &'a [F]);

impl<F: Real> Row<F> for Dense<'_, F> {
    // The loop must be inlined, so that a closure compiled for wide vectors gets a loop compiled for them.
    #[inline(always)]
    fn each(self, mut f: impl FnMut(usize, F)) {
        for (i, &x) in self.0.iter().enumerate() {
            f(i, x);
        }
    }

    #[inline(always)]
    fn stretches(self, mut f: impl FnMut(usize, &[F])) {
        const LONG: usize = 512;
        for (k, stretch) in self.0.chunks(LONG).enumerate() {
            f(k * LONG, stretch);
        }
    }

    fn bound(self) -> usize {
        self.0.len()
    }

    #[inline]
    fn dot_and_square(self, w: &[F], begun: (F, F)) -> (F, F) {
        let (mut dot, mut square) = begun;
        for (&w, &x) in w.iter().zip(self.0) {
            dot += w * x;
            square += x * x;
        }
        (dot, square)
    }

    #[inline]
    fn axpy(self, a: F, y: &mut [F]) {
        for (target, &x) in y.iter_mut().zip(self.0) {
            *target += a * x;
        }
    }

    #[inline]
    fn span(self) -> (f64, f64, usize) {
        super::span(self.0)
    }

    #[inline]
    fn length(self) -> f64 {
        super::length(self.0)
    }
}
