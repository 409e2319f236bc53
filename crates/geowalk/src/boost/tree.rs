//! # Decision trees for every permissible function
//! A tree sends a row from test to test down to a leaf; a leaf with k of n examples positive says
//! $$P = \frac{k}{n}, \qquad H = \nabla\varphi\Bigl(\frac{k + \kappa}{n + 2\kappa}\Bigr),$$
//! with $\kappa = 0$ for what was seen (H is infinite in a pure leaf unless φ saturates) and $\kappa = 1$, Laplace's, where scores are to be added up. The tree is grown greedily by the
//! cost of φ ([`Criterion`]), with limits and in the order of [`Growth`]; for `gini` and `entropy` that is CART, with the gains of other implementations at every node.
//!
//! **Thresholds** between all values ([`Tree::exact`]) or between bins ([`Tree::binned`]); with at most as many values as bins both give the same tree. **Names** one against the rest.
//! **Missing values** of numbers go to the side where they gain most, if training saw some at that node, and with the larger part otherwise; whether a value is known is a test of its own.
//! **Ties** the first variable, then the smallest threshold (`search.rs` says when two costs are equal). **More classes** see [`Criterion`].
//! **Cost** O(rows × columns) per level, in parallel over columns; of sparse columns the stored values (`sparse.rs`). **Source** \[NN09, sec. 6.3, eq. (31), (104)–(106)\]; errata: theorem 4 needs splits without gain.

mod bins;
mod criterion;
mod exact;
mod grow;
mod panels;
mod prune;
mod search;
mod sparse;
mod tally;

pub use criterion::Criterion;
pub use grow::{Growth, Order};

use rayon::prelude::*;

use super::binned::Binned;
use super::sorted::Sorted;
use super::split::{Split, Test};
use super::table::{Classes, Table, TableError, Values};
use crate::error::ConfigError;
use crate::loss::permissible::Permissible;

/// Why a tree cannot be grown or read.
#[derive(Debug, Clone, PartialEq, thiserror::Error)]
#[non_exhaustive]
pub enum TreeError {
    /// The data do not fit together.
    #[error(transparent)]
    Table(#[from] TableError),
    /// A limit that is none.
    #[error(transparent)]
    Config(#[from] ConfigError),
    /// Nodes that do not make a tree.
    #[error("node {node} of the tree is wrong: {what} {found}; {expected} expected")]
    Node {
        /// Its number.
        node: usize,
        /// What is wrong with it.
        what: &'static str,
        /// What it is.
        found: f64,
        /// What it must be.
        expected: &'static str,
    },
}

/// What an inner node does.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Branch {
    /// The test.
    pub split: Split,
    /// The node of those that pass.
    pub left: usize,
    /// The node of the others.
    pub right: usize,
    /// −A_φ: by how much the split lowered the cost of the tree.
    pub gain: f64,
}

/// A node of a tree.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Node {
    /// How many rows of the training data it has.
    pub rows: u64,
    /// What it does, if it is not a leaf.
    pub branch: Option<Branch>,
}

/// A decision tree. Node 0 is the root; a parent comes before its children.
///
/// ```
/// use geowalk::boost::table::{Classes, Column, Table};
/// use geowalk::boost::tree::{Criterion, Growth, Tree};
/// let table = Table::new(vec![Column::numeric("x", vec![1.0, 2.0, 3.0, 4.0])])?;
/// let classes = Classes::new(vec![0, 0, 1, 1], ["no", "yes"])?;
/// let tree = Tree::exact(&table, &classes, None, &Growth::new(Criterion::parse("gini")?))?;
/// assert_eq!(tree.nodes()[0].branch.unwrap().gain, 4.0);
/// assert_eq!(tree.probability(tree.leaf(&table, 2), 1, 0.0), 1.0);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Debug, Clone, PartialEq)]
pub struct Tree {
    criterion: Criterion,
    classes: usize,
    columns: usize,
    nodes: Vec<Node>,
    /// The weight of each class in each node.
    masses: Vec<f64>,
}

impl Tree {
    /// Grows a tree with thresholds between all values. Rows of weight 0 are as if they were not there.
    pub fn exact(
        table: &Table,
        classes: &Classes,
        weights: Option<&[f64]>,
        growth: &Growth,
    ) -> Result<Self, TreeError> {
        Self::exact_sorted(table, &Sorted::new(table), classes, weights, growth)
    }

    /// The same with an order that is already known: for many trees on one table.
    pub fn exact_sorted(
        table: &Table,
        sorted: &Sorted,
        classes: &Classes,
        weights: Option<&[f64]>,
        growth: &Growth,
    ) -> Result<Self, TreeError> {
        check(table.rows(), classes, weights, growth)?;
        if table.columns().iter().any(|column| matches!(column.values(), Values::Sparse(_))) {
            let store = sparse::Sparse::exact(table, present(weights));
            return Ok(dispatch(store, table.columns().len(), classes, weights, growth));
        }
        let store = exact::Exact::new(table, sorted, present(weights));
        Ok(dispatch(store, table.columns().len(), classes, weights, growth))
    }

    /// Grows a tree with thresholds between bins.
    pub fn binned(
        binned: &Binned,
        classes: &Classes,
        weights: Option<&[f64]>,
        growth: &Growth,
    ) -> Result<Self, TreeError> {
        check(binned.rows(), classes, weights, growth)?;
        if binned.columns().iter().any(|column| column.sparse_codes().is_some()) {
            let store = sparse::Sparse::binned(binned, present(weights));
            return Ok(dispatch(store, binned.columns().len(), classes, weights, growth));
        }
        let store = bins::Bins::new(binned, present(weights));
        Ok(dispatch(store, binned.columns().len(), classes, weights, growth))
    }

    /// A tree of given nodes; `masses` has the weight of each class in each node, node by node.
    pub fn from_parts(
        criterion: Criterion,
        classes: usize,
        columns: usize,
        nodes: Vec<Node>,
        masses: Vec<f64>,
    ) -> Result<Self, TreeError> {
        let wrong = |node, what, found, expected| TreeError::Node { node, what, found, expected };
        if nodes.is_empty() || classes < 2 || masses.len() != nodes.len() * classes {
            let expected = "one for each class and node";
            return Err(wrong(0, "the number of weights is", masses.len() as f64, expected));
        }
        if let Some(at) = masses.iter().position(|mass| !(mass.is_finite() && *mass >= 0.0)) {
            return Err(wrong(at / classes, "a weight is", masses[at], "a number >= 0"));
        }
        let mut parents = vec![0_usize; nodes.len()];
        for (node, Branch { split, left, right, gain }) in nodes
            .iter()
            .enumerate()
            .filter_map(|(node, own)| own.branch.map(|branch| (node, branch)))
        {
            for child in [left, right] {
                match parents.get_mut(child) {
                    Some(count) if child > node => *count += 1,
                    _ => return Err(wrong(node, "a child is node", child as f64, "a later one")),
                }
            }
            if split.column >= columns {
                let column = split.column as f64;
                return Err(wrong(node, "its column is", column, "one of the table's"));
            }
            if let Test::AtMost { theta, .. } = split.test
                && !theta.is_finite()
            {
                return Err(wrong(node, "its threshold is", theta, "a finite number"));
            }
            if !gain.is_finite() {
                return Err(wrong(node, "its gain is", gain, "a finite number"));
            }
        }
        if let Some(node) = (1..nodes.len()).find(|node| parents[*node] != 1) {
            return Err(wrong(node, "its parents are", parents[node] as f64, "one"));
        }
        Ok(Self { criterion, classes, columns, nodes, masses })
    }

    /// The criterion it was grown by.
    pub fn criterion(&self) -> &Criterion {
        &self.criterion
    }

    /// How many classes there are.
    pub fn classes(&self) -> usize {
        self.classes
    }

    /// How many columns a table must have.
    pub fn columns(&self) -> usize {
        self.columns
    }

    /// The nodes.
    pub fn nodes(&self) -> &[Node] {
        &self.nodes
    }

    /// The numbers of the leaves, in the order of the nodes.
    pub fn leaves(&self) -> impl Iterator<Item = usize> + '_ {
        (0..self.nodes.len()).filter(|node| self.nodes[*node].branch.is_none())
    }

    /// The most tests on the way to a leaf.
    pub fn depth(&self) -> usize {
        let mut depths = vec![0; self.nodes.len()];
        for (at, node) in self.nodes.iter().enumerate() {
            if let Some(branch) = node.branch {
                depths[branch.left] = depths[at] + 1;
                depths[branch.right] = depths[at] + 1;
            }
        }
        depths.into_iter().max().unwrap_or(0)
    }

    /// The weight of each class in a node; empty if there is no such node.
    pub fn masses(&self, node: usize) -> &[f64] {
        self.masses.get(node * self.classes..(node + 1) * self.classes).unwrap_or_default()
    }

    /// The leaf of a row.
    #[inline]
    pub fn leaf(&self, table: &Table, row: usize) -> usize {
        let mut at = 0;
        while let Some(branch) = &self.nodes[at].branch {
            at = if branch.split.left(table, row) { branch.left } else { branch.right };
        }
        at
    }

    /// The leaf of each row, in parallel.
    pub fn leaves_of(&self, table: &Table) -> Vec<usize> {
        (0..table.rows())
            .into_par_iter()
            .with_min_len(1 << 12)
            .map(|row| self.leaf(table, row))
            .collect()
    }

    /// The probability (m + κ)/(n + Cκ) of a class in a node; of C equal ones if the node is empty and κ = 0.
    pub fn probability(&self, node: usize, class: usize, kappa: f64) -> f64 {
        let masses = self.masses(node);
        let n = masses.iter().sum::<f64>() + self.classes as f64 * kappa;
        let own = masses.get(class).map_or(0.0, |mass| mass + kappa);
        if n > 0.0 { own / n } else { 1.0 / self.classes as f64 }
    }

    /// The score ∇φ(P) of a class against the others. With κ = 0 it is infinite in a pure node, unless φ saturates.
    pub fn score(&self, node: usize, class: usize, kappa: f64) -> f64 {
        self.criterion.phi().gradient(self.probability(node, class, kappa))
    }

    /// The class that a node predicts: the heaviest; of two equal ones the second (an abstaining score counts as positive), of several the first.
    pub fn class(&self, node: usize) -> usize {
        let masses = self.masses(node);
        if let [negative, positive] = masses {
            return usize::from(positive >= negative);
        }
        let heavier =
            |best: usize, class: usize| if masses[class] > masses[best] { class } else { best };
        (0..masses.len()).reduce(heavier).unwrap_or(0)
    }

    /// The cost of the tree: that of all its leaves. \[NN09, eq. (31)\]
    pub fn cost(&self) -> f64 {
        self.leaves().map(|leaf| self.criterion.cost(self.masses(leaf))).sum()
    }

    /// What each column gained, as parts of 1; zeros if nothing was gained.
    pub fn importance(&self) -> Vec<f64> {
        let mut gains = vec![0.0; self.columns];
        for branch in self.nodes.iter().filter_map(|node| node.branch) {
            gains[branch.split.column] += branch.gain;
        }
        let sum: f64 = gains.iter().sum();
        if sum > 0.0 {
            for gain in &mut gains {
                *gain /= sum;
            }
        }
        gains
    }
}

/// Is a row there? Rows without weight are not.
fn present(weights: Option<&[f64]>) -> impl Fn(u32) -> bool + Sync + '_ {
    move |row| weights.is_none_or(|weights| weights[row as usize] > 0.0)
}

fn check(
    rows: usize,
    classes: &Classes,
    weights: Option<&[f64]>,
    growth: &Growth,
) -> Result<(), TreeError> {
    growth.check()?;
    if classes.rows() != rows {
        let what = "the list of classes".to_owned();
        return Err(TableError::Length { what, found: classes.rows(), rows }.into());
    }
    weights.map_or(Ok(()), |weights| classes.check_weights(weights))?;
    Ok(())
}

/// The fastest way to count for these classes and weights.
fn dispatch<S>(
    store: S,
    columns: usize,
    classes: &Classes,
    weights: Option<&[f64]>,
    growth: &Growth,
) -> Tree
where
    S: for<'a> grow::Store<tally::Counts<'a>>
        + for<'a> grow::Store<tally::Pairs<'a>>
        + for<'a> grow::Store<tally::Masses<'a>>,
{
    let (criterion, codes) = (&growth.criterion, classes.codes());
    match (classes.names().len(), weights) {
        (2, None) => {
            let positive = codes.iter().map(|code| u8::from(*code == 1)).collect();
            grow::grow(&tally::Counts { criterion, positive }, store, columns, growth)
        }
        (2, Some(weights)) => {
            grow::grow(&tally::Pairs { criterion, codes, weights }, store, columns, growth)
        }
        (classes, weights) => {
            let masses = tally::Masses { criterion, classes, codes, weights };
            grow::grow(&masses, store, columns, growth)
        }
    }
}
