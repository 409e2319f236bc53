//! # Sums over rows, by threads
//! Sums over many rows are made of the sums of chunks of [`ROWS`] rows, added up in their order. The chunks are the same for any number of threads, and so are the bits.

use std::ops::Range;

use rayon::prelude::*;

/// Rows of a chunk.
pub(crate) const ROWS: usize = 8192;

/// With fewer rows threads cost more than they save.
pub(crate) const WORTH: usize = 4 * ROWS;

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
