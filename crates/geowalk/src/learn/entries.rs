//! # Positive weights and their logarithms, eight at a time
//! A step on positive weights does the same work for every coordinate of the row: a factor, its logarithm, an
//! exponential, a term of the divergence. Done one coordinate at a time, this is a long chain of dependent operations.
//! Here the prediction copies the coordinates of the row and their weights into adjacent memory. A step is then a
//! function of [`Coords8`], in operations that vectorise to four or eight numbers ([`lanes`]), and its results are
//! written back.
//!
//! **Same bits** Coordinates with x_i = 0 do not change and are left out, so dense and sparse rows form the same
//! groups of eight. The grouping depends only on the row. **Memory** A weight is stored next to its logarithm, so that
//! a step finds both in one cache line. **Cost** O(nnz). The buffer for the row is reused; it allocates only for a row
//! longer than all before it.

use crate::real::lanes::{self, Lanes, WIDTH};
use crate::row::Row;

/// A weight and its logarithm.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) struct Entry {
    /// ln w.
    pub(crate) log: f64,
    /// w, the exponential of `log` up to rounding; 0 if it underflows.
    pub(crate) w: f64,
}

impl Entry {
    pub(crate) fn new(log: f64) -> Self {
        Self { log, w: lanes::exp(log) }
    }
}

/// Eight coordinates of a row, padded with x = 0, w = 1, which no step changes.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Coords8<'a> {
    pub(crate) x: &'a Lanes,
    pub(crate) log: &'a Lanes,
    pub(crate) w: &'a Lanes,
}

/// Marks a position without a weight.
const NOWHERE: usize = usize::MAX;

/// The coordinates of a row with their weights, in separate arrays of equal length, a multiple of eight.
#[derive(Debug, Default)]
struct RowBuffer {
    place: Vec<usize>,
    x: Vec<f64>,
    log: Vec<f64>,
    w: Vec<f64>,
}

impl RowBuffer {
    fn len(&self) -> usize {
        self.place.len()
    }

    fn grow(&mut self, coordinates: usize) {
        let n = coordinates.next_multiple_of(WIDTH);
        if n > self.len() {
            self.place.resize(n, NOWHERE);
            self.x.resize(n, 0.0);
            self.log.resize(n, 0.0);
            self.w.resize(n, 1.0);
        }
    }

    /// The first `count` coordinates in groups of eight, with their indices.
    #[inline(always)]
    fn chunks(&self, count: usize) -> impl Iterator<Item = (&[usize; WIDTH], Coords8<'_>)> {
        let (place, x) = (self.place.as_chunks().0, self.x.as_chunks().0);
        let (log, w) = (self.log.as_chunks().0, self.w.as_chunks().0);
        let all = place.iter().zip(x).zip(log.iter().zip(w)).take(count.div_ceil(WIDTH));
        all.map(|((place, x), (log, w))| (place, Coords8 { x, log, w }))
    }
}

/// All weights, and the buffer of the current row.
#[derive(Debug, Default)]
pub(crate) struct Entries {
    all: Vec<Entry>,
    row: RowBuffer,
    /// Number of coordinates of the current row.
    used: usize,
}

/// The row buffer is not cloned, because every step fills it again.
impl Clone for Entries {
    fn clone(&self) -> Self {
        self.all.clone().into()
    }
}

impl PartialEq for Entries {
    fn eq(&self, other: &Self) -> bool {
        self.all == other.all
    }
}

impl From<Vec<Entry>> for Entries {
    fn from(all: Vec<Entry>) -> Self {
        let mut entries = Self { all, row: RowBuffer::default(), used: 0 };
        entries.make_room();
        entries
    }
}

impl Entries {
    pub(crate) fn len(&self) -> usize {
        self.all.len()
    }

    /// Makes room for n weights; new ones are e^`log`.
    pub(crate) fn grow(&mut self, n: usize, log: f64) {
        if n > self.all.len() {
            self.all.resize(n, Entry::new(log));
            self.make_room();
        }
    }

    /// Makes room for a row with all coordinates, but at most 128.
    fn make_room(&mut self) {
        self.row.grow(self.all.len().min(128));
    }

    /// w_i, if it exists.
    #[inline]
    pub(crate) fn weight(&self, i: usize) -> Option<f64> {
        self.all.get(i).map(|entry| entry.w)
    }

    /// ln w_i, if it exists.
    #[inline]
    pub(crate) fn logarithm(&self, i: usize) -> Option<f64> {
        self.all.get(i).map(|entry| entry.log)
    }

    pub(crate) fn iter(&self) -> impl Iterator<Item = &Entry> {
        self.all.iter()
    }

    pub(crate) fn iter_mut(&mut self) -> impl Iterator<Item = &mut Entry> {
        self.all.iter_mut()
    }

    pub(crate) fn get_mut(&mut self, i: usize) -> Option<&mut Entry> {
        self.all.get_mut(i)
    }

    /// out ← ln w.
    pub(crate) fn logarithms(&self, out: &mut Vec<f64>) {
        out.clear();
        out.extend(self.all.iter().map(|entry| entry.log));
    }

    /// ⟨w, x⟩.
    #[inline]
    pub(crate) fn dot<X: Row<f64>>(&self, x: X) -> f64 {
        let mut sum = 0.0;
        x.each(|i, x| {
            if let Some(entry) = self.all.get(i) {
                sum += entry.w * x;
            }
        });
        sum
    }

    /// Copies the row into the buffer and returns ⟨w, x⟩, bit-identical to [`dot`](Self::dot).
    #[inline]
    pub(crate) fn take<X: Row<f64>>(&mut self, x: X) -> f64 {
        let (sum, count) = self.copy(x);
        if count > self.row.len() {
            self.row.grow(count);
            self.copy(x);
        }
        self.used = count;
        let rest = count..count.next_multiple_of(WIDTH);
        self.row.place[rest.clone()].fill(NOWHERE);
        self.row.x[rest.clone()].fill(0.0);
        self.row.log[rest.clone()].fill(0.0);
        self.row.w[rest].fill(1.0);
        sum
    }

    /// Copies as much of the row as fits; returns ⟨w, x⟩ and the number of coordinates.
    #[inline]
    fn copy<X: Row<f64>>(&mut self, x: X) -> (f64, usize) {
        let all = self.all.as_slice();
        // Slices of visibly equal length need one bounds check for all of them.
        let n = self.row.len();
        let RowBuffer { place, x: values, log, w } = &mut self.row;
        let (place, values) = (&mut place[..n], &mut values[..n]);
        let (log, w) = (&mut log[..n], &mut w[..n]);
        let (mut sum, mut count) = (0.0, 0);
        x.each_briefly(|i, x| {
            let Some(entry) = all.get(i) else { return };
            sum += entry.w * x;
            if count < n {
                place[count] = i;
                values[count] = x;
                log[count] = entry.log;
                w[count] = entry.w;
            }
            // A zero of either sign is overwritten by the next coordinate. Testing the bits takes half as long.
            count += usize::from(x.to_bits() << 1 != 0);
        });
        (sum, count)
    }

    /// Σf(x_i, w_i) over the current row. f(0, 1) must be 0, and f must be marked `#[inline(always)]`.
    #[inline]
    #[allow(clippy::needless_range_loop)] // lanes with the same index k
    pub(crate) fn sum(&self, f: impl Fn(f64, f64) -> f64) -> f64 {
        lanes::widely(
            #[inline(always)]
            || {
                let mut sums = [0.0; WIDTH];
                for (_, coords) in self.row.chunks(self.used) {
                    for k in 0..WIDTH {
                        sums[k] += f(coords.x[k], coords.w[k]);
                    }
                }
                sums.iter().sum()
            },
        )
    }

    /// Calls `f(i, x_i, ln w_i)` for the current row, with the logarithms from before the step on it.
    pub(crate) fn before(&self, mut f: impl FnMut(usize, f64, f64)) {
        let RowBuffer { place, x, log, .. } = &self.row;
        for ((place, x), log) in place.iter().zip(x).zip(log).take(self.used) {
            f(*place, *x, *log);
        }
    }

    /// Makes the step on the current row, and returns it with the sums that it accumulated.
    #[inline(never)]
    pub(crate) fn each<S: Step>(&mut self, step: S) -> S {
        let Self { all, row, used } = self;
        lanes::wide(StepKernel { all, row, used: *used, step })
    }
}

/// A step on eight coordinates, and the sums that it accumulates.
pub(crate) trait Step {
    /// Returns the new logarithms and weights. Must be inlined, so that it is compiled for wide vectors.
    fn make(&mut self, coords: &Coords8<'_>) -> (Lanes, Lanes);
}

struct StepKernel<'a, S> {
    all: &'a mut [Entry],
    row: &'a RowBuffer,
    used: usize,
    step: S,
}

impl<S: Step> lanes::Work for StepKernel<'_, S> {
    type Output = S;

    #[inline(always)]
    fn call(self) -> S {
        // A local copy of the step lets the compiler keep the sums in registers.
        let Self { all, row, used, mut step } = self;
        for (place, coords) in row.chunks(used) {
            let (log, w) = step.make(&coords);
            for k in 0..WIDTH {
                if let Some(entry) = all.get_mut(place[k]) {
                    *entry = Entry { log: log[k], w: w[k] };
                }
            }
        }
        step
    }
}
