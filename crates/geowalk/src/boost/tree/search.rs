//! # The search in one column
//! The rows of a node as a sequence of *blocks* in the order of the column, each with its tally; a cut sends the blocks before it left. Cuts inside a block are looked at only where one of
//! them could be best: Σcost is concave in what goes left, so its least value over a block can be bounded from the ends of the block alone (`Tally::bound`). Nothing is lost: the
//! answer is that of looking at every cut.
//!
//! **Ties** Costs that differ by less than 1e-12 of the node's cost are equal. Of equal cuts the one with the smallest threshold is taken, and then the one that sends missing values right; of equal names the
//! first. Whether the value is known comes last.
//! **Cost** per column and node: one pass over the rows or bins, 2 evaluations of φ per block, and those of the few blocks that are opened.

use super::tally::Tally;

/// The part of the node's cost below which two costs are equal, and a gain is none.
pub(super) const TIE: f64 = 1e-12;

/// Where to cut a column.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) enum Choice {
    /// After so many runs of a block (all of them if `None`).
    Cut { block: usize, runs: Option<usize>, missing: bool },
    /// One block against the rest.
    One { block: usize },
    /// What is known against what is missing.
    Known,
}

/// The best of a column.
#[derive(Debug)]
pub(super) struct Found<I> {
    pub(super) cost: f64,
    pub(super) choice: Choice,
    /// What goes left.
    pub(super) left: Vec<I>,
}

/// A node, as the search sees it.
pub(super) struct Node<'a, T: Tally> {
    pub(super) tally: &'a T,
    pub(super) total: &'a [T::Item],
    /// What is missing in this column.
    pub(super) missing: &'a [T::Item],
    pub(super) min_leaf: u64,
    pub(super) tolerance: f64,
}

/// The runs of equal values in a block, where blocks hold more than one.
pub(super) trait Inside<I> {
    /// Can there be more than one run?
    fn several(&self, block: usize) -> bool;
    /// Writes the tally of each run of the block.
    fn open(&self, block: usize, runs: &mut Vec<I>);
}

/// Every block is one run.
pub(super) struct Whole;

impl<I> Inside<I> for Whole {
    fn several(&self, _: usize) -> bool {
        false
    }

    fn open(&self, _: usize, _: &mut Vec<I>) {}
}

impl<T: Tally> Node<'_, T> {
    fn nothing(&self) -> Vec<T::Item> {
        vec![T::Item::default(); self.tally.width()]
    }

    fn some_missing(&self) -> bool {
        self.tally.rows(self.missing) > 0
    }

    /// Σcost if `left` goes left; infinite if too few rows go to one of the sides. `right` is scratch.
    #[inline]
    fn cost(&self, left: &[T::Item], right: &mut [T::Item]) -> f64 {
        self.tally.both(left, right, self.total, self.min_leaf)
    }

    /// The best cut of a sequence of blocks.
    pub(super) fn cut(
        &self,
        blocks: &[T::Item],
        inside: &impl Inside<T::Item>,
    ) -> Option<Found<T::Item>> {
        let directions: &[bool] = if self.some_missing() { &[false, true] } else { &[false] };
        let mut walks: Vec<Walk<'_, T, _>> =
            directions.iter().map(|missing| Walk::new(self, blocks, inside, *missing)).collect();
        let mut least = f64::INFINITY;
        for walk in &walks {
            least = walk.ends.iter().copied().fold(least, lesser);
        }
        for walk in &mut walks {
            least = walk.inside(least);
        }
        if !least.is_finite() {
            return None;
        }
        let firsts = walks.iter_mut().filter_map(|walk| walk.first(least + self.tolerance));
        // A strict comparison: missing values go right unless left comes first.
        let order = |choice: &Choice| match choice {
            Choice::Cut { block, runs, .. } => (*block, runs.unwrap_or(usize::MAX)),
            _ => (usize::MAX, usize::MAX),
        };
        firsts.reduce(|a, b| if order(&b.choice) < order(&a.choice) { b } else { a })
    }

    /// The best single block against the rest, among those given; then what is known against what is missing.
    pub(super) fn one(
        &self,
        blocks: &[T::Item],
        order: impl Iterator<Item = usize> + Clone,
    ) -> Option<Found<T::Item>> {
        let width = self.tally.width();
        let mut right = self.nothing();
        let mut known = self.total.to_vec();
        self.tally.sub(self.missing, &mut known);
        let candidates =
            order.map(|block| (Choice::One { block }, &blocks[block * width..][..width]));
        let last = self.some_missing().then_some((Choice::Known, known.as_slice()));
        let candidates = candidates.chain(last);
        let mut least = f64::INFINITY;
        for (_, left) in candidates.clone() {
            least = lesser(least, self.cost(left, &mut right));
        }
        if !least.is_finite() {
            return None;
        }
        candidates
            .map(|(choice, left)| Found {
                cost: self.cost(left, &mut right),
                choice,
                left: left.to_vec(),
            })
            .find(|found| found.cost <= least + self.tolerance)
    }
}

/// The smaller of two numbers; costs are never NaN.
fn lesser(a: f64, b: f64) -> f64 {
    if b < a { b } else { a }
}

/// A walk over the blocks with missing values on one side.
struct Walk<'a, T: Tally, O> {
    node: &'a Node<'a, T>,
    blocks: &'a [T::Item],
    inside: &'a O,
    missing: bool,
    /// Σcost at the end of each block.
    ends: Vec<f64>,
    /// No more than Σcost anywhere inside of it; infinite where there is no inside.
    bounds: Vec<f64>,
    /// What goes left before the block at hand, and inside of it.
    left: Vec<T::Item>,
    right: Vec<T::Item>,
    runs: Vec<T::Item>,
}

impl<'a, T: Tally, O: Inside<T::Item>> Walk<'a, T, O> {
    fn new(node: &'a Node<'a, T>, blocks: &'a [T::Item], inside: &'a O, missing: bool) -> Self {
        let mut walk = Self {
            node,
            blocks,
            inside,
            missing,
            ends: Vec::new(),
            bounds: Vec::new(),
            left: node.nothing(),
            right: node.nothing(),
            runs: Vec::new(),
        };
        walk.start();
        walk.ends = node.tally.ends(&walk.left, blocks, node.total, node.min_leaf);
        walk
    }

    fn start(&mut self) {
        if self.missing {
            self.left.copy_from_slice(self.node.missing);
        } else {
            self.left.fill(T::Item::default());
        }
    }

    fn block(&self, block: usize) -> &'a [T::Item] {
        let width = self.node.tally.width();
        &self.blocks[block * width..][..width]
    }

    /// The least Σcost, ends and insides; `least` is that of the ends and of other walks.
    fn inside(&mut self, mut least: f64) -> f64 {
        let tally = self.node.tally;
        self.start();
        for block in 0..self.ends.len() {
            let own = self.block(block);
            let mut bound = f64::INFINITY;
            if self.inside.several(block) {
                self.right.copy_from_slice(self.node.total);
                tally.sub(&self.left, &mut self.right);
                tally.sub(own, &mut self.right);
                // Rounding may put the bound a little above what it bounds.
                bound = tally.bound(&self.left, own, &self.right) - self.node.tolerance;
                if bound < least {
                    let found = self.open(block, f64::NEG_INFINITY);
                    least = lesser(least, found.map_or(f64::INFINITY, |(cost, _)| cost));
                }
            }
            self.bounds.push(bound);
            tally.add(own, &mut self.left);
        }
        least
    }

    /// The first cut of which the cost is not above a threshold.
    fn first(&mut self, threshold: f64) -> Option<Found<T::Item>> {
        self.start();
        let missing = self.missing;
        for block in 0..self.ends.len() {
            if self.bounds[block] <= threshold
                && let Some((cost, runs)) = self.open(block, threshold)
                && cost <= threshold
            {
                let width = self.node.tally.width();
                for run in self.runs.chunks_exact(width).take(runs) {
                    self.node.tally.add(run, &mut self.left);
                }
                let choice = Choice::Cut { block, runs: Some(runs), missing };
                return Some(Found { cost, choice, left: self.left.clone() });
            }
            self.node.tally.add(self.block(block), &mut self.left);
            if self.ends[block] <= threshold {
                let choice = Choice::Cut { block, runs: None, missing };
                return Some(Found { cost: self.ends[block], choice, left: self.left.clone() });
            }
        }
        None
    }

    /// The first cut inside a block with a cost not above `enough`, or the best if there is none: its cost, and how many runs are before it.
    fn open(&mut self, block: usize, enough: f64) -> Option<(f64, usize)> {
        let width = self.node.tally.width();
        self.runs.clear();
        self.inside.open(block, &mut self.runs);
        let inner = self.runs.len() / width;
        let mut left = self.left.clone();
        let mut best: Option<(f64, usize)> = None;
        // After the last run the block ends.
        for (at, run) in self.runs.chunks_exact(width).take(inner.saturating_sub(1)).enumerate() {
            self.node.tally.add(run, &mut left);
            let cost = self.node.cost(&left, &mut self.right);
            if best.is_none_or(|(least, _)| cost < least) {
                best = Some((cost, at + 1));
            }
            if cost <= enough {
                break;
            }
        }
        best
    }
}
