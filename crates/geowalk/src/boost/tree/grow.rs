//! # Growing a tree
//! From one leaf on, a leaf is replaced by a split that lowers the cost of the tree most. *Best first*: the best split of all leaves, so that a limit on leaves keeps the best of them. *Depth
//! first*: the left side before the right one. Without a limit on leaves both give the same tree.
//!
//! **Care** A split that gains nothing is refused: on XOR no single split gains, and the tree stays a leaf. With [`zero_gain`](Growth::zero_gain) such splits are made, and the tree goes on until its leaves are pure or
//! cannot be divided: that reaches the finest partition, the least cost there is.
//! **Source** \[NN09, sec. 6.3, eq. (104)\]; its theorem 4 holds only with splits of gain zero allowed.

use std::cmp::Ordering;
use std::collections::BinaryHeap;

use super::criterion::Criterion;
use super::search::TIE;
use super::tally::Tally;
use super::{Branch, Node, Tree};
use crate::boost::split::{Split, Test};
use crate::error::{Allowed, ConfigError, parameter};
use crate::halt::Halt;

/// Which leaf is split next.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Order {
    /// The one whose split gains most; of equal gains the smallest variable, then the smallest threshold, then the oldest leaf.
    #[default]
    BestFirst,
    /// The leftmost.
    DepthFirst,
}

/// How a tree grows.
///
/// ```
/// use geowalk::boost::tree::{Criterion, Growth};
/// let growth = Growth { max_leaves: Some(8), ..Growth::new(Criterion::parse("gini")?) };
/// assert_eq!((growth.min_leaf, growth.zero_gain), (1, false));
/// # Ok::<(), geowalk::ConfigError>(())
/// ```
#[derive(Debug, Clone, PartialEq)]
pub struct Growth {
    /// What a leaf costs.
    pub criterion: Criterion,
    /// Which leaf is split next.
    pub order: Order,
    /// At most so many leaves.
    pub max_leaves: Option<usize>,
    /// At most so many tests on the way to a leaf.
    pub max_depth: Option<usize>,
    /// At least so many rows in each leaf.
    pub min_leaf: usize,
    /// Splits that gain nothing are allowed.
    pub zero_gain: bool,
    /// Stops it from outside, between two splits.
    pub halt: Halt,
}

impl Growth {
    /// Growth without limits, best first.
    pub fn new(criterion: Criterion) -> Self {
        Self {
            criterion,
            order: Order::BestFirst,
            max_leaves: None,
            max_depth: None,
            min_leaf: 1,
            zero_gain: false,
            halt: Halt::default(),
        }
    }

    /// Are the limits possible?
    pub fn check(&self) -> Result<(), ConfigError> {
        if let Some(leaves) = self.max_leaves {
            parameter("max_leaves", leaves as f64, Allowed::Whole(1))?;
        }
        parameter("min_leaf", self.min_leaf as f64, Allowed::Whole(1))?;
        Ok(())
    }
}

/// A part of the rows.
#[derive(Debug, Clone, Copy)]
pub(super) struct Range {
    pub(super) start: usize,
    pub(super) end: usize,
}

impl Range {
    pub(super) fn len(self) -> usize {
        self.end - self.start
    }
}

/// What a search has to respect.
pub(super) struct Limits {
    pub(super) min_leaf: u64,
    pub(super) tolerance: f64,
}

/// A split that could be made.
#[derive(Debug)]
pub(super) struct Candidate<I> {
    /// Σcost of the children.
    pub(super) cost: f64,
    pub(super) split: Split,
    /// The bin of the split, where there are bins.
    pub(super) bin: usize,
    /// What goes left.
    pub(super) left: Vec<I>,
}

/// Where the rows are, and how splits are sought among them.
pub(super) trait Store<T: Tally> {
    /// What is kept of a node until it is split.
    type Carry;

    /// The rows, those of a node side by side.
    fn rows(&self) -> &[u32];

    fn root(&mut self, tally: &T) -> Self::Carry;

    /// What is kept of a node that was searched.
    fn keep(&self, range: Range, carry: Self::Carry) -> Self::Carry;

    /// The best split of each column.
    fn search(
        &self,
        tally: &T,
        range: Range,
        total: &[T::Item],
        carry: &Self::Carry,
        limits: &Limits,
    ) -> Vec<Option<Candidate<T::Item>>>;

    /// Divides the rows of a node; how many went left. Only children that are `wanted` will be searched; if none is and numbers are whole, the rows need not be divided.
    fn split(
        &mut self,
        tally: &T,
        range: Range,
        carry: Self::Carry,
        chosen: &Candidate<T::Item>,
        wanted: [bool; 2],
    ) -> (usize, [Self::Carry; 2]);
}

/// A leaf that can be split.
struct Open<I, C> {
    node: usize,
    depth: usize,
    range: Range,
    total: Vec<I>,
    gain: f64,
    chosen: Candidate<I>,
    carry: C,
    order: Order,
}

impl<I, C> Open<I, C> {
    /// Variable, threshold, age: what decides between equal gains.
    fn rank(&self) -> (usize, f64, usize) {
        let theta = match self.chosen.split.test {
            Test::AtMost { theta, .. } => theta,
            Test::Is { code } => f64::from(code),
            Test::Known => f64::INFINITY,
        };
        (self.chosen.split.column, theta, self.node)
    }

    fn before(&self, other: &Self) -> Ordering {
        let (a, b) = (self.rank(), other.rank());
        a.0.cmp(&b.0).then(a.1.total_cmp(&b.1)).then(a.2.cmp(&b.2))
    }
}

/// The greatest is taken first.
impl<I, C> Ord for Open<I, C> {
    fn cmp(&self, other: &Self) -> Ordering {
        match self.order {
            Order::BestFirst => self.gain.total_cmp(&other.gain).then(other.before(self)),
            // Deeper is newer, and the left child has the smaller number.
            Order::DepthFirst => (self.depth, other.node).cmp(&(other.depth, self.node)),
        }
    }
}

impl<I, C> PartialOrd for Open<I, C> {
    fn partial_cmp(&self, other: &Self) -> Option<Ordering> {
        Some(self.cmp(other))
    }
}

impl<I, C> PartialEq for Open<I, C> {
    fn eq(&self, other: &Self) -> bool {
        self.cmp(other) == Ordering::Equal
    }
}

impl<I, C> Eq for Open<I, C> {}

/// Leaves of equal gain that are compared with each other at most.
const TIED: usize = 64;

struct Grower<'a, T: Tally, S: Store<T>> {
    tally: &'a T,
    store: S,
    growth: &'a Growth,
    tree: Tree,
    open: BinaryHeap<Open<T::Item, S::Carry>>,
    /// The cost of the root.
    scale: f64,
}

/// Grows a tree on all rows of the store.
pub(super) fn grow<T: Tally, S: Store<T>>(
    tally: &T,
    mut store: S,
    columns: usize,
    growth: &Growth,
) -> Tree {
    let mut total = vec![T::Item::default(); tally.width()];
    tally.sum(store.rows(), &mut total);
    let range = Range { start: 0, end: store.rows().len() };
    let tree = Tree {
        criterion: growth.criterion.clone(),
        classes: tally.classes(),
        columns,
        nodes: Vec::new(),
        masses: Vec::new(),
    };
    let scale = tally.cost(&total);
    let wanted = growth.max_depth != Some(0) && growth.max_leaves != Some(1);
    let carry = wanted.then(|| store.root(tally));
    let mut grower = Grower { tally, store, growth, tree, open: BinaryHeap::new(), scale };
    grower.leaf(&total);
    if let Some(carry) = carry {
        grower.examine(0, 0, range, total, carry);
    }
    let mut leaves = 1;
    while growth.max_leaves.is_none_or(|most| leaves < most)
        && !growth.halt.is_called()
        && let Some(next) = grower.next()
    {
        grower.split(next);
        leaves += 1;
    }
    grower.tree
}

impl<T: Tally, S: Store<T>> Grower<'_, T, S> {
    /// Adds a leaf; its number.
    fn leaf(&mut self, total: &[T::Item]) -> usize {
        self.tree.nodes.push(Node { rows: self.tally.rows(total), branch: None });
        self.tree.masses.extend(self.tally.masses(total));
        self.tree.nodes.len() - 1
    }

    /// Could a node of this depth and content be split?
    fn divisible(&self, depth: usize, total: &[T::Item]) -> bool {
        self.growth.max_depth.is_none_or(|most| depth < most)
            && self.tally.rows(total) >= 2 * self.growth.min_leaf as u64
            && self.tally.cost(total) > 0.0
    }

    /// Seeks the split of a leaf and lets it wait for its turn.
    fn examine(
        &mut self,
        node: usize,
        depth: usize,
        range: Range,
        total: Vec<T::Item>,
        carry: S::Carry,
    ) {
        if !self.divisible(depth, &total) {
            return;
        }
        let cost = self.tally.cost(&total);
        let tolerance = TIE * cost;
        let limits = Limits { min_leaf: self.growth.min_leaf as u64, tolerance };
        let candidates = self.store.search(self.tally, range, &total, &carry, &limits);
        let mut least = f64::INFINITY;
        for candidate in candidates.iter().flatten() {
            if candidate.cost < least {
                least = candidate.cost;
            }
        }
        let first = candidates.into_iter().flatten().find(|one| one.cost <= least + tolerance);
        let Some(chosen) = first else { return };
        let gain = cost - chosen.cost;
        if gain > tolerance || self.growth.zero_gain {
            let order = self.growth.order;
            let carry = self.store.keep(range, carry);
            self.open.push(Open { node, depth, range, total, gain, chosen, carry, order });
        }
    }

    /// The leaf that is next; of those with the same gain but for rounding the first by variable, threshold and age.
    fn next(&mut self) -> Option<Open<T::Item, S::Carry>> {
        let mut best = self.open.pop()?;
        if self.growth.order == Order::DepthFirst {
            return Some(best);
        }
        let least = best.gain - TIE * self.scale;
        let mut others = Vec::new();
        while others.len() < TIED
            && self.open.peek().is_some_and(|other| other.gain >= least)
            && let Some(mut other) = self.open.pop()
        {
            if other.before(&best) == Ordering::Less {
                std::mem::swap(&mut best, &mut other);
            }
            others.push(other);
        }
        self.open.extend(others);
        Some(best)
    }

    fn split(&mut self, open: Open<T::Item, S::Carry>) {
        let Open { node, depth, range, total, chosen, carry, .. } = open;
        let mut right = total.clone();
        self.tally.sub(&chosen.left, &mut right);
        let wanted = [&chosen.left, &right].map(|part| self.divisible(depth + 1, part));
        let (left, carries) = self.store.split(self.tally, range, carry, &chosen, wanted);
        let middle = range.start + left;
        let ranges =
            [Range { start: range.start, end: middle }, Range { start: middle, end: range.end }];
        let totals = if T::WHOLE {
            [chosen.left.clone(), right]
        } else {
            // Summed anew: differences of weights would carry their rounding from level to level.
            ranges.map(|range| {
                let mut total = vec![T::Item::default(); self.tally.width()];
                self.tally.sum(&self.store.rows()[range.start..range.end], &mut total);
                total
            })
        };
        let children = [self.leaf(&totals[0]), self.leaf(&totals[1])];
        let costs = totals.each_ref().map(|total| self.tally.cost(total));
        let gain = self.tally.cost(&total) - costs[0] - costs[1];
        let branch = Branch { split: chosen.split, left: children[0], right: children[1], gain };
        self.tree.nodes[node].branch = Some(branch);
        let parts =
            ranges.into_iter().zip(totals).zip(carries).zip(children.into_iter().zip(wanted));
        for (((range, total), carry), (child, wanted)) in parts {
            if wanted {
                self.examine(child, depth + 1, range, total, carry);
            }
        }
    }
}
