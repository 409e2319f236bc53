//! # Rows as a solver wants them
//! Every column in a unit of its data, so that one ridge suits all of them and a change of units changes nothing:
//!
//! | column | unit | shift |
//! |---|---|---|
//! | a number | standard deviation | mean |
//! | a number that is zero in most rows | the same, but at least a quarter of the root mean square of its non-zero values; of more than 1,024 columns the geometric mean of the two | none |
//! | an indicator of a name or word | root mean square of its non-zero values | none |
//!
//! **Why the geometric mean** In units of the standard deviation rare words are to have weights as large in all as
//! common ones, in units of the non-zero values an occurrence of either is to count alike. Texts lie between: of four
//! units this one was best on two texts and better than the former one on a third. In tables of few columns it is
//! worse (docs/runs/2026-11-19-fit).
//!
//! A number with an indicator of its absence counts as its mean where it is absent. [`Design::raw`] undoes
//! units and shifts: predictions are linear in the raw row.

use crate::real::lanes;
use crate::row::{Block, Row};

/// Columns of a row that are worked on together.
pub(super) const LANES: usize = lanes::WIDTH;

/// A spread below this share of the largest value is rounding: the column is constant.
const CONSTANT: f64 = 1e-13;

/// A column that is mostly zero is measured by its standard deviation, but at least by this part of the size of
/// its non-zero values: what is rare is not magnified.
const RARE: f64 = 0.25;

/// The same where there are many columns: far below what a count can have, so that no column is without a unit.
const LEAST: f64 = 1e-4;

/// A column that takes part.
#[derive(Debug, Clone, Copy)]
struct Column {
    /// Its number in the rows it came from.
    feature: usize,
    /// Its place among the coordinates.
    place: usize,
    shift: f64,
    unit: f64,
    /// The indicator that says that the value is absent.
    absent: Option<usize>,
}

/// Rows in units of their columns: columns that most rows have lie side by side, the others are kept by place.
#[derive(Debug, Clone, Default)]
pub(super) struct Design {
    rows: usize,
    /// Coordinates that every row has, padded with zeros to whole lanes. The first one is the constant, if
    /// there is one.
    dense: usize,
    width: usize,
    values: Vec<f64>,
    starts: Vec<usize>,
    places: Vec<u32>,
    sparse: Vec<f64>,
    columns: Vec<Column>,
    constant: bool,
}

/// What is known of a column after one look at all rows.
#[derive(Debug, Clone, Copy, Default)]
struct Look {
    /// Largest magnitude; later sums are in this unit, so that no square overflows.
    largest: f64,
    filled: usize,
    present: f64,
    sum: f64,
    squares: f64,
}

fn each(block: &Block, i: usize, mut f: impl FnMut(usize, f64)) {
    let mut present = |j: usize, x: f64| {
        if x != 0.0 {
            f(j, x);
        }
    };
    if block.columns().is_some() {
        block.dense(i).each(&mut present);
    } else {
        block.sparse(i).each(&mut present);
    }
}

impl Look {
    /// The unit of a column that is mostly zeros, whose squares have this sum over rows of this total weight.
    fn sparse_spread(&self, squares: f64, observed: f64, named: bool, many: bool) -> f64 {
        let mean = self.sum / observed;
        let all = (squares / observed - mean * mean).max(0.0).sqrt();
        let filled = (squares / self.present).sqrt();
        if named {
            all.max(filled)
        } else if many {
            (all.max(LEAST * filled) * filled).sqrt()
        } else {
            all.max(RARE * filled)
        }
    }
}

impl Design {
    /// The rows of blocks, weighted; `absent` pairs a number with the indicator that it is missing, `named`
    /// tells indicators of names.
    pub(super) fn new(
        blocks: &[Block],
        constant: bool,
        absent: &[(u32, u32)],
        named: &dyn Fn(usize) -> bool,
    ) -> Self {
        let features = blocks.iter().map(Block::bound).max().unwrap_or(0);
        let rows: usize = blocks.iter().map(Block::len).sum();
        let mut indicator = vec![None; features];
        for &(number, missing) in absent {
            if (missing as usize) < features
                && let Some(place) = indicator.get_mut(number as usize)
            {
                *place = Some(missing as usize);
            }
        }
        let mut looks = vec![Look::default(); features];
        let mut total = 0.0;
        for block in blocks {
            for i in 0..block.len() {
                total += block.weights()[i];
                each(block, i, |j, x| {
                    let look = &mut looks[j];
                    look.filled += 1;
                    look.largest = look.largest.max(x.abs());
                });
            }
        }
        // Means, then spreads about them: two passes lose nothing to cancellation.
        for block in blocks {
            for i in 0..block.len() {
                let weight = block.weights()[i];
                each(block, i, |j, x| {
                    let look = &mut looks[j];
                    look.sum += weight * (x / look.largest);
                    look.present += weight;
                });
            }
        }
        let observed: Vec<f64> = (0..features)
            .map(|j| total - indicator[j].map_or(0.0, |missing: usize| looks[missing].present))
            .collect();
        let dense = |j: usize| {
            let look = &looks[j];
            constant && !named(j) && look.present >= 0.5 * observed[j]
        };
        let dense: Vec<bool> = (0..features).map(dense).collect();
        let shift = |j: usize, look: &Look| if dense[j] { look.sum / observed[j] } else { 0.0 };
        let shifts: Vec<f64> = looks.iter().enumerate().map(|(j, look)| shift(j, look)).collect();
        for block in blocks {
            for i in 0..block.len() {
                let weight = block.weights()[i];
                each(block, i, |j, x| {
                    let about = x / looks[j].largest - shifts[j];
                    looks[j].squares += weight * about * about;
                });
            }
        }
        let many = looks.iter().filter(|look| look.filled > 0).count() > super::MATRIX;
        let mut columns = Vec::new();
        let first = usize::from(constant);
        let mut place = first;
        for front in [true, false] {
            for (j, look) in looks.iter().enumerate() {
                if dense[j] != front || look.filled == 0 || look.present <= 0.0 {
                    continue;
                }
                // Zeros were not visited: they are as far from the mean as it is from 0.
                let zeros = observed[j] - look.present;
                let squares = look.squares + zeros * shifts[j] * shifts[j];
                let spread = if front {
                    (squares / observed[j]).sqrt()
                } else {
                    look.sparse_spread(squares, observed[j], named(j), many)
                };
                let unit = spread * look.largest;
                if spread <= CONSTANT || !unit.is_normal() || !unit.recip().is_normal() {
                    continue;
                }
                let shift = shifts[j] * look.largest;
                let absent = indicator[j].filter(|_| front);
                columns.push(Column { feature: j, place, shift, unit, absent });
                place += 1;
            }
            if front {
                place = place.next_multiple_of(LANES);
            }
        }
        let fronts = columns.iter().filter(|column| dense[column.feature]).count();
        let padded = (first + fronts).next_multiple_of(LANES);
        let mut design = Self {
            rows,
            dense: padded,
            width: place.max(padded),
            values: vec![0.0; rows * padded],
            starts: vec![0],
            columns,
            constant,
            ..Self::default()
        };
        design.fill(blocks, features, &indicator);
        design
    }

    fn fill(&mut self, blocks: &[Block], features: usize, indicator: &[Option<usize>]) {
        let mut of_feature = vec![None; features];
        for column in &self.columns {
            of_feature[column.feature] = Some(*column);
        }
        // A zero of a shifted column lies one shift below its mean.
        let mut zero = vec![0.0; self.dense];
        if let (true, Some(first)) = (self.constant, zero.first_mut()) {
            *first = 1.0;
        }
        for column in self.columns.iter().filter(|column| column.place < self.dense) {
            zero[column.place] = -column.shift / column.unit;
        }
        let mut owner = vec![None; features];
        for (number, missing) in indicator.iter().enumerate() {
            if let Some(missing) = missing {
                owner[*missing] = of_feature[number].filter(|column| column.absent.is_some());
            }
        }
        let rows = self.values.chunks_exact_mut(self.dense.max(1));
        let mut rows = rows.take(if self.dense == 0 { 0 } else { self.rows });
        for block in blocks {
            for i in 0..block.len() {
                let mut empty = [];
                let row = rows.next().unwrap_or(&mut empty);
                row.copy_from_slice(&zero);
                each(block, i, |j, x| {
                    if let Some(column) = owner[j] {
                        row[column.place] = 0.0;
                    }
                    let Some(column) = of_feature[j] else { return };
                    if column.place < row.len() {
                        row[column.place] = (x - column.shift) / column.unit;
                    } else {
                        #[allow(clippy::cast_possible_truncation)] // features are numbered by u32
                        self.places.push(column.place as u32);
                        self.sparse.push(x / column.unit);
                    }
                });
                self.starts.push(self.places.len());
            }
        }
    }

    /// Dense rows as they are, behind a constant if one is wanted.
    pub(super) fn of_dense(
        rows: usize,
        width: usize,
        constant: bool,
        row: impl Fn(usize, &mut [f64]),
    ) -> Self {
        let first = usize::from(constant);
        let dense = (first + width).next_multiple_of(LANES);
        let mut values = vec![0.0; rows * dense];
        for (i, target) in values.chunks_exact_mut(dense.max(1)).enumerate() {
            if constant {
                target[0] = 1.0;
            }
            row(i, &mut target[first..first + width]);
        }
        Self {
            rows,
            dense,
            width: dense,
            values,
            starts: vec![0; rows + 1],
            constant,
            ..Self::default()
        }
    }

    pub(super) fn rows(&self) -> usize {
        self.rows
    }

    /// Coordinates, padding and the constant included.
    pub(super) fn width(&self) -> usize {
        self.width
    }

    /// Is the first coordinate a constant, which no ridge pulls to 0?
    pub(super) fn has_constant(&self) -> bool {
        self.constant
    }

    pub(super) fn columns(&self) -> usize {
        self.columns.len()
    }

    #[inline(always)]
    pub(super) fn front(&self, i: usize) -> &[f64] {
        &self.values[i * self.dense..(i + 1) * self.dense]
    }

    #[inline(always)]
    pub(super) fn back(&self, i: usize) -> (&[u32], &[f64]) {
        let range = self.starts[i]..self.starts[i + 1];
        (&self.places[range.clone()], &self.sparse[range])
    }

    #[inline(always)]
    pub(super) fn score(&self, i: usize, theta: &[f64]) -> f64 {
        let z = dot(self.front(i), &theta[..self.dense]);
        let (places, values) = self.back(i);
        let mut rest = 0.0;
        for (&place, &x) in places.iter().zip(values) {
            rest += theta[place as usize] * x;
        }
        z + rest
    }

    /// out += a · row
    #[inline(always)]
    pub(super) fn add(&self, i: usize, a: f64, out: &mut [f64]) {
        for (out, &x) in out[..self.dense].iter_mut().zip(self.front(i)) {
            *out += a * x;
        }
        let (places, values) = self.back(i);
        for (&place, &x) in places.iter().zip(values) {
            out[place as usize] += a * x;
        }
    }

    /// The lower triangle of h += a · row · rowᵀ, row by row.
    #[inline(always)]
    pub(super) fn add_square(&self, i: usize, a: f64, h: &mut [f64]) {
        let front = self.front(i);
        for (k, &x) in front.iter().enumerate() {
            let from = k * (k + 1) / 2;
            let scaled = a * x;
            for (h, &x) in h[from..=from + k].iter_mut().zip(front) {
                *h += scaled * x;
            }
        }
        let (places, values) = self.back(i);
        for (&place, &x) in places.iter().zip(values) {
            let k = place as usize;
            let from = k * (k + 1) / 2;
            let scaled = a * x;
            for (h, &x) in h[from..from + front.len()].iter_mut().zip(front) {
                *h += scaled * x;
            }
            for (&other, &x) in places.iter().zip(values) {
                if other <= place {
                    h[from + other as usize] += scaled * x;
                }
            }
        }
    }

    /// The row written out.
    #[inline(always)]
    pub(super) fn write(&self, i: usize, out: &mut [f64]) {
        out.fill(0.0);
        out[..self.dense].copy_from_slice(self.front(i));
        let (places, values) = self.back(i);
        for (&place, &x) in places.iter().zip(values) {
            out[place as usize] = x;
        }
    }

    /// ⟨row i, row k⟩ without the constant.
    pub(super) fn inner(&self, i: usize, written: &[f64]) -> f64 {
        let constant = if self.constant { written[0] } else { 0.0 };
        self.score(i, written) - constant
    }

    /// The weights of raw features, the constant first if there is one, that give the scores of `theta`.
    pub(super) fn raw(&self, theta: &[f64], features: usize) -> Vec<f64> {
        let first = usize::from(self.constant);
        let mut raw = vec![0.0; features + first];
        let mut constant = if self.constant { theta[0] } else { 0.0 };
        for column in &self.columns {
            let weight = theta[column.place] / column.unit;
            raw[first + column.feature] += weight;
            constant -= weight * column.shift;
            if let Some(absent) = column.absent {
                raw[first + absent] += weight * column.shift;
            }
        }
        if self.constant {
            raw[0] = constant;
        }
        raw
    }
}

/// ⟨a, b⟩ of slices of the same length, in eight sums that are added in a fixed order.
#[inline(always)]
pub(super) fn dot(a: &[f64], b: &[f64]) -> f64 {
    let mut sums = [0.0; LANES];
    let (a, b) = (a.chunks_exact(LANES), b.chunks_exact(LANES));
    let (rest_a, rest_b) = (a.remainder(), b.remainder());
    for (a, b) in a.zip(b) {
        for k in 0..LANES {
            sums[k] += a[k] * b[k];
        }
    }
    let mut rest = 0.0;
    for (a, b) in rest_a.iter().zip(rest_b) {
        rest += a * b;
    }
    ((sums[0] + sums[4]) + (sums[2] + sums[6])) + ((sums[1] + sums[5]) + (sums[3] + sums[7])) + rest
}
