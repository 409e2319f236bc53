//! # Sums over rows, by threads
//! Sums over many rows are made of the sums of chunks of [`ROWS`] rows, added up in their order. The chunks are the same for any number of threads, and so are the bits.

use std::ops::Range;

use rayon::prelude::*;

/// Rows of a chunk.
pub(crate) const ROWS: usize = 8192;

/// With fewer rows threads cost more than they save.
pub(crate) const WORTH: usize = 4 * ROWS;

/// Sums that are kept apart, so that several numbers are added at once.
const LANES: usize = 8;

/// The sum of a few numbers.
#[inline(always)] // where it is called may be compiled for wide vectors
pub(crate) fn sum(values: &[f64]) -> f64 {
    lanes(values, 0.0, |sum, value| sum + value, |a, b| a + b)
}

/// `f` over numbers in lanes, and the lanes put together by `join`; both in an order that depends on the length alone.
#[inline(always)]
pub(crate) fn lanes(
    values: &[f64],
    start: f64,
    f: impl Fn(f64, f64) -> f64,
    join: impl Fn(f64, f64) -> f64,
) -> f64 {
    let mut all = [start; LANES];
    let (eights, rest) = values.as_chunks::<LANES>();
    for eight in eights {
        for k in 0..LANES {
            all[k] = f(all[k], eight[k]);
        }
    }
    for (all, value) in all.iter_mut().zip(rest) {
        *all = f(*all, *value);
    }
    let [a, b, c, d, e, g, h, i] = all;
    join(join(join(a, b), join(c, d)), join(join(e, g), join(h, i)))
}

/// `f` of every chunk of so many rows, in order, folded.
pub(crate) fn fold<T: Send>(
    rows: usize,
    f: impl Fn(Range<usize>) -> T + Sync + Send,
    start: T,
    mut add: impl FnMut(T, T) -> T,
) -> T {
    let chunk = |k: usize| f(k * ROWS..rows.min((k + 1) * ROWS));
    let count = rows.div_ceil(ROWS);
    if rows < WORTH {
        return (0..count).map(chunk).fold(start, add);
    }
    let parts: Vec<T> = (0..count).into_par_iter().map(chunk).collect();
    parts.into_iter().fold(start, &mut add)
}
