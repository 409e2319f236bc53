//! # Tallies
//! What is counted of a set of rows while a split is sought: how many they are, and the weight of each class. Three forms of the same thing, so that the common case is fast: two
//! classes without weights are one 64-bit number, and adding a row is one addition.

use super::criterion::{Criterion, two};
use super::panels::Panels;
use crate::loss::permissible::{AnyPermissible, Permissible};

/// A way to count rows. A tally is a slice of [`width`](Tally::width) items, so that many of them lie in one array.
pub(super) trait Tally: Sync {
    /// A number of a tally.
    type Item: Copy + Default + Send + Sync + std::fmt::Debug;
    /// What a row adds.
    type Example: Copy + Send + Sync;

    /// Are all numbers whole? Then sums and differences are exact, and rows can be counted in any order.
    const WHOLE: bool = false;

    fn width(&self) -> usize;
    fn classes(&self) -> usize;
    fn example(&self, row: u32) -> Self::Example;
    fn put(&self, example: Self::Example, into: &mut [Self::Item]);
    fn add(&self, other: &[Self::Item], into: &mut [Self::Item]);
    fn sub(&self, other: &[Self::Item], from: &mut [Self::Item]);
    /// How many rows.
    fn rows(&self, tally: &[Self::Item]) -> u64;
    fn cost(&self, tally: &[Self::Item]) -> f64;
    /// The weight of each class.
    fn masses(&self, tally: &[Self::Item]) -> Vec<f64>;

    /// No more than the least Σcost over all ways to give a part of `block` to the left and the rest of it to the right.
    fn bound(&self, left: &[Self::Item], block: &[Self::Item], right: &[Self::Item]) -> f64;

    /// Adds rows.
    #[inline]
    fn sum(&self, rows: &[u32], into: &mut [Self::Item]) {
        for row in rows {
            self.put(self.example(*row), into);
        }
    }

    /// Σcost of both sides if the blocks up to each one go left with what `start` has; infinite after an empty block, which gives the cut of the one before it, and where fewer rows than
    /// `min_leaf` go to a side.
    fn ends(
        &self,
        start: &[Self::Item],
        blocks: &[Self::Item],
        total: &[Self::Item],
        min_leaf: u64,
    ) -> Vec<f64> {
        let (mut left, mut right) = (start.to_vec(), total.to_vec());
        let end = |block: &[Self::Item]| {
            if self.rows(block) == 0 {
                return f64::INFINITY;
            }
            self.add(block, &mut left);
            self.both(&left, &mut right, total, min_leaf)
        };
        blocks.chunks_exact(self.width()).map(end).collect()
    }

    /// Σcost if `left` goes left; infinite if too few rows go to one of the sides. `right` is scratch.
    #[inline]
    fn both(
        &self,
        left: &[Self::Item],
        right: &mut [Self::Item],
        total: &[Self::Item],
        min_leaf: u64,
    ) -> f64 {
        right.copy_from_slice(total);
        self.sub(left, right);
        if self.rows(left).min(self.rows(right)) < min_leaf {
            return f64::INFINITY;
        }
        self.cost(left) + self.cost(right)
    }

    /// The histograms of all columns for these rows, where they can be counted row by row.
    fn count(&self, _: &Panels, _: &[u32]) -> Option<Vec<Self::Item>> {
        None
    }

    /// Adds rows to the tallies of their codes, which are 256.
    fn histogram(
        &self,
        codes: impl Iterator<Item = u8>,
        examples: &[Self::Example],
        into: &mut [Self::Item],
    ) {
        let width = self.width();
        for (code, example) in codes.zip(examples) {
            let at = usize::from(code) * width;
            if let Some(cell) = into.get_mut(at..at + width) {
                self.put(*example, cell);
            }
        }
    }
}

/// Two classes, no weights: the number of rows in the upper half, of the positive ones in the lower half.
pub(super) struct Counts<'a> {
    pub(super) criterion: &'a Criterion,
    pub(super) positive: Vec<u8>,
}

impl Counts<'_> {
    /// The numbers of negative and of positive rows.
    #[inline(always)]
    fn pair(tally: &[u64]) -> (f64, f64) {
        let packed = tally.first().copied().unwrap_or(0);
        let (rows, positive) = (packed >> 32, packed & 0xffff_ffff);
        ((rows - positive) as f64, positive as f64)
    }
}

impl Tally for Counts<'_> {
    type Item = u64;
    type Example = u64;

    const WHOLE: bool = true;

    #[inline(always)]
    fn width(&self) -> usize {
        1
    }

    fn classes(&self) -> usize {
        2
    }

    #[inline(always)]
    fn example(&self, row: u32) -> u64 {
        1 << 32 | u64::from(self.positive[row as usize])
    }

    #[inline(always)]
    fn put(&self, example: u64, into: &mut [u64]) {
        into[0] += example;
    }

    #[inline(always)]
    fn add(&self, other: &[u64], into: &mut [u64]) {
        into[0] += other[0];
    }

    #[inline(always)]
    fn sub(&self, other: &[u64], from: &mut [u64]) {
        from[0] -= other[0];
    }

    #[inline(always)]
    fn rows(&self, tally: &[u64]) -> u64 {
        tally[0] >> 32
    }

    #[inline(always)]
    fn cost(&self, tally: &[u64]) -> f64 {
        let (negative, positive) = Self::pair(tally);
        self.criterion.two(negative, positive)
    }

    fn masses(&self, tally: &[u64]) -> Vec<f64> {
        let (negative, positive) = Self::pair(tally);
        vec![negative, positive]
    }

    #[inline]
    fn bound(&self, left: &[u64], block: &[u64], right: &[u64]) -> f64 {
        let [left, block, right] = [left, block, right].map(Self::pair);
        corners(self.criterion, left, block, right)
    }

    #[inline]
    fn sum(&self, rows: &[u32], into: &mut [u64]) {
        into[0] += rows.iter().map(|row| self.example(*row)).sum::<u64>();
    }

    fn ends(&self, start: &[u64], blocks: &[u64], total: &[u64], min_leaf: u64) -> Vec<f64> {
        let (start, total) = (start[0], total[0]);
        // The criterion of most trees is chosen once per column, not once per bin.
        match self.criterion.phi() {
            AnyPermissible::Gini(phi) => counted_ends(phi, start, blocks, total, min_leaf),
            phi => counted_ends(phi, start, blocks, total, min_leaf),
        }
    }

    fn count(&self, panels: &Panels, rows: &[u32]) -> Option<Vec<u64>> {
        Some(panels.count(rows, &self.positive))
    }
}

fn counted_ends<P: Permissible>(
    phi: &P,
    mut left: u64,
    blocks: &[u64],
    total: u64,
    min_leaf: u64,
) -> Vec<f64> {
    let cost = |packed: u64| {
        let (negative, positive) = Counts::pair(&[packed]);
        two(phi, negative, positive)
    };
    let end = |block: &u64| {
        left += block;
        let right = total - left;
        let fewest = (left >> 32).min(right >> 32);
        if *block == 0 || fewest < min_leaf { f64::INFINITY } else { cost(left) + cost(right) }
    };
    blocks.iter().map(end).collect()
}

/// Two classes with weights: rows, weight of the negative ones, of the positive ones.
pub(super) struct Pairs<'a> {
    pub(super) criterion: &'a Criterion,
    pub(super) codes: &'a [u32],
    pub(super) weights: &'a [f64],
}

impl Pairs<'_> {
    #[inline(always)]
    fn pair(tally: &[f64]) -> (f64, f64) {
        (tally[1], tally[2])
    }
}

impl Tally for Pairs<'_> {
    type Item = f64;
    type Example = (u32, f64);

    #[inline(always)]
    fn width(&self) -> usize {
        3
    }

    fn classes(&self) -> usize {
        2
    }

    #[inline(always)]
    fn example(&self, row: u32) -> (u32, f64) {
        (self.codes[row as usize], self.weights[row as usize])
    }

    #[inline(always)]
    fn put(&self, (class, weight): (u32, f64), into: &mut [f64]) {
        into[0] += 1.0;
        into[1 + class as usize] += weight;
    }

    #[inline(always)]
    fn add(&self, other: &[f64], into: &mut [f64]) {
        sum(other, into);
    }

    #[inline(always)]
    fn sub(&self, other: &[f64], from: &mut [f64]) {
        subtract(other, from);
    }

    #[inline(always)]
    fn rows(&self, tally: &[f64]) -> u64 {
        whole(tally[0])
    }

    #[inline(always)]
    fn cost(&self, tally: &[f64]) -> f64 {
        let (negative, positive) = Self::pair(tally);
        self.criterion.two(negative, positive)
    }

    fn masses(&self, tally: &[f64]) -> Vec<f64> {
        tally[1..].to_vec()
    }

    #[inline]
    fn bound(&self, left: &[f64], block: &[f64], right: &[f64]) -> f64 {
        let [left, block, right] = [left, block, right].map(Self::pair);
        corners(self.criterion, left, block, right)
    }
}

/// Any number of classes: rows, then the weight of each class.
pub(super) struct Masses<'a> {
    pub(super) criterion: &'a Criterion,
    pub(super) classes: usize,
    pub(super) codes: &'a [u32],
    pub(super) weights: Option<&'a [f64]>,
}

impl Tally for Masses<'_> {
    type Item = f64;
    type Example = (u32, f64);

    #[inline]
    fn width(&self) -> usize {
        self.classes + 1
    }

    fn classes(&self) -> usize {
        self.classes
    }

    #[inline]
    fn example(&self, row: u32) -> (u32, f64) {
        let row = row as usize;
        (self.codes[row], self.weights.map_or(1.0, |weights| weights[row]))
    }

    #[inline]
    fn put(&self, (class, weight): (u32, f64), into: &mut [f64]) {
        into[0] += 1.0;
        into[1 + class as usize] += weight;
    }

    #[inline]
    fn add(&self, other: &[f64], into: &mut [f64]) {
        sum(other, into);
    }

    #[inline]
    fn sub(&self, other: &[f64], from: &mut [f64]) {
        subtract(other, from);
    }

    #[inline]
    fn rows(&self, tally: &[f64]) -> u64 {
        whole(tally[0])
    }

    #[inline]
    fn cost(&self, tally: &[f64]) -> f64 {
        self.criterion.cost(&tally[1..])
    }

    fn masses(&self, tally: &[f64]) -> Vec<f64> {
        tally[1..].to_vec()
    }

    /// A concave, homogeneous cost grows with what is added: cost(left + part) ≥ cost(left).
    #[inline]
    fn bound(&self, left: &[f64], _block: &[f64], right: &[f64]) -> f64 {
        self.cost(left) + self.cost(right)
    }
}

/// What a block adds to the left lies in the parallelogram between nothing, its negative rows, its positive rows and all of it. Σcost is concave there, so it is least in a
/// corner; the first and the last are the ends of the block, which are looked at anyway. Pairs are (negative, positive).
#[inline]
fn corners(criterion: &Criterion, left: (f64, f64), block: (f64, f64), right: (f64, f64)) -> f64 {
    let first = criterion.two(left.0 + block.0, left.1) + criterion.two(right.0, right.1 + block.1);
    let second =
        criterion.two(left.0, left.1 + block.1) + criterion.two(right.0 + block.0, right.1);
    if first < second { first } else { second }
}

#[inline(always)]
fn sum(other: &[f64], into: &mut [f64]) {
    into.iter_mut().zip(other).for_each(|(into, other)| *into += other);
}

/// The difference. What is left of rounding is no weight: a class of which less than this part remains has left, because the criteria with steep ends
/// (`nu`) would take the rest of a rounding for impurity.
const DUST: f64 = 1e-13;

#[inline(always)]
fn subtract(other: &[f64], from: &mut [f64]) {
    for (from, other) in from.iter_mut().zip(other) {
        let rest = *from - other;
        *from = if rest > DUST * *from { rest } else { 0.0 };
    }
}

#[inline(always)]
#[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "a sum of ones")]
fn whole(rows: f64) -> u64 {
    rows as u64
}
