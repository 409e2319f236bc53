//! # Stumps and small trees as weak learners
//! A stump says +1 where its test passes and −1 elsewhere; a small tree says in every leaf the class of larger weight. Signs belong to the leverage, so that a stump found again is merged with itself.
//!
//! **Trees** are grown for the φ of the loss (Matsushita's where it has none) on examples of weight c|w|, labelled by the sign of c w y: the squared loss may make weights negative, and
//! an example of negative weight is one of the other class.
//! **Cost** stumps: one addition per value and round; trees: that of a [tree](super::tree). **Source** \[NN09, sec. 6 and 7\]; \[FS97\].

use std::ops::Range;

use super::binned::Binned;
use super::rule::Rule;
use super::sorted::Sorted;
use super::split::Split;
use super::stump::{Stump, best_binned, best_exact, best_of_bins};
use super::table::{Classes, Table};
use super::tree::{Criterion, Growth, Tree};
use super::weak::{Hypothesis, View, Weak};
use crate::error::ConfigError;
use crate::loss::permissible::{AnyPermissible, Matsushita};

/// Columns in bins, or in sorted order.
#[derive(Debug)]
enum Columns {
    Binned(Binned),
    Sorted(Sorted),
}

impl Columns {
    fn new(table: &Table, bins: Option<usize>) -> Result<Self, ConfigError> {
        Ok(match bins {
            Some(bins) => Self::Binned(Binned::new(table, bins)?),
            None => Self::Sorted(Sorted::new(table)),
        })
    }
}

/// c w y of every example.
fn signed(view: &View<'_>, out: &mut Vec<f64>) {
    out.clear();
    out.extend(view.c.iter().zip(view.w).zip(view.y).map(|((c, w), y)| c * w * y));
}

/// The stump learner of a table.
///
/// ```
/// use geowalk::boost::stumps::Stumps;
/// use geowalk::boost::table::{Column, Table};
/// use geowalk::boost::{Booster, Stop, Surrogate};
/// let table = Table::new(vec![Column::numeric("x", vec![1.0, 2.0, 3.0, 4.0])])?;
/// let booster = Booster::new(Surrogate::parse("exponential")?, Stop::after(3)?);
/// let labels = [1.0, -1.0, -1.0, 1.0];
/// let mut stumps = Stumps::new(&table, Some(255))?;
/// let ensemble = booster.fit(&mut stumps, &labels, None, None, &mut |_, _| {})?;
/// assert_eq!(ensemble.rounds[0].error, 0.25);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Debug)]
pub struct Stumps<'a> {
    table: &'a Table,
    columns: Columns,
    signed: Vec<f64>,
}

impl<'a> Stumps<'a> {
    /// Thresholds between so many bins, or between all values.
    pub fn new(table: &'a Table, bins: Option<usize>) -> Result<Self, ConfigError> {
        Ok(Self { table, columns: Columns::new(table, bins)?, signed: Vec::new() })
    }
}

impl Weak for Stumps<'_> {
    fn learn(&mut self, view: &View<'_>, h: &mut [f64]) -> Option<Hypothesis> {
        signed(view, &mut self.signed);
        let found = match &self.columns {
            Columns::Binned(binned) => best_binned(binned, &self.signed),
            Columns::Sorted(sorted) => best_exact(self.table, sorted, &self.signed),
        };
        let mut stump = found.ok().flatten()?;
        stump.sign = 1.0;
        match &self.columns {
            Columns::Binned(binned) => stump.values_binned(binned, h),
            Columns::Sorted(_) => {
                h.fill(0.0);
                stump.add(self.table, 1.0, h);
            }
        }
        Some(Hypothesis::Stump(stump.split))
    }

    fn table(&self) -> &Table {
        self.table
    }

    fn has_signs(&self) -> bool {
        matches!(self.columns, Columns::Binned(_))
    }

    fn learn_signs(&mut self, y: &[i8], w: &[f64], h: &mut [i8]) -> Option<Hypothesis> {
        let Columns::Binned(binned) = &self.columns else { return None };
        let signed = |rows: Range<usize>, out: &mut [f64]| {
            for ((out, w), y) in out.iter_mut().zip(&w[rows.clone()]).zip(&y[rows]) {
                *out = w * f64::from(*y);
            }
        };
        let mut stump = best_of_bins(binned, &signed).ok().flatten()?;
        stump.sign = 1.0;
        stump.signs(binned, 0, h);
        Some(Hypothesis::Stump(stump.split))
    }

    fn signs(&self, hypothesis: &Hypothesis, start: usize, h: &mut [i8]) {
        if let (Hypothesis::Stump(split), Columns::Binned(binned)) = (hypothesis, &self.columns) {
            Stump { split: *split, sign: 1.0, edge: 0.0 }.signs(binned, start, h);
        }
    }
}

/// A node of a tree of votes.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum Vote {
    /// A test, and the nodes of those that pass it and of the others.
    Ask(Split, usize, usize),
    /// +1 or −1.
    Say(f64),
}

/// A tree whose leaves vote. Node 0 is the root; children come after their parent.
#[derive(Debug, Clone, PartialEq)]
pub struct Votes {
    nodes: Vec<Vote>,
}

impl Votes {
    /// A tree of these nodes; `None` unless every child comes after its parent and every vote is ±1.
    pub fn new(nodes: Vec<Vote>) -> Option<Self> {
        let good = |(at, node): (usize, &Vote)| match *node {
            Vote::Ask(_, left, right) => [left, right].iter().all(|c| *c > at && *c < nodes.len()),
            Vote::Say(vote) => vote == 1.0 || vote == -1.0,
        };
        (!nodes.is_empty() && nodes.iter().enumerate().all(good)).then_some(Self { nodes })
    }

    /// The nodes.
    pub fn nodes(&self) -> &[Vote] {
        &self.nodes
    }

    /// The vote on a row.
    pub fn value(&self, table: &Table, row: usize) -> f64 {
        let mut at = 0;
        loop {
            match self.nodes.get(at) {
                Some(Vote::Ask(split, left, right)) => {
                    at = if split.left(table, row) { *left } else { *right };
                }
                Some(Vote::Say(vote)) => return *vote,
                None => return 0.0,
            }
        }
    }

    /// The votes of a tree of two classes.
    fn of(tree: &Tree) -> Option<Self> {
        let nodes = tree.nodes().iter().enumerate().map(|(at, node)| match node.branch {
            Some(branch) => Vote::Ask(branch.split, branch.left, branch.right),
            None => Vote::Say(if tree.class(at) == 1 { 1.0 } else { -1.0 }),
        });
        Self::new(nodes.collect())
    }
}

/// The learner of small trees of a table.
#[derive(Debug)]
pub struct Trees<'a> {
    table: &'a Table,
    columns: Columns,
    leaves: usize,
    signed: Vec<f64>,
}

impl<'a> Trees<'a> {
    /// Trees of at most so many leaves, at least 2.
    pub fn new(table: &'a Table, leaves: usize, bins: Option<usize>) -> Result<Self, ConfigError> {
        crate::error::parameter("leaves", leaves as f64, crate::error::Allowed::Whole(2))?;
        Ok(Self { table, columns: Columns::new(table, bins)?, leaves, signed: Vec::new() })
    }
}

impl Weak for Trees<'_> {
    fn learn(&mut self, view: &View<'_>, h: &mut [f64]) -> Option<Hypothesis> {
        signed(view, &mut self.signed);
        let phi = view.loss.permissible().cloned();
        let phi = phi.unwrap_or(AnyPermissible::Matsushita(Matsushita));
        let growth = Growth { max_leaves: Some(self.leaves), ..Growth::new(Criterion::new(phi)) };
        // An example of weight 0 has no side: it may have any.
        let signs: Vec<f64> = self
            .signed
            .iter()
            .zip(view.y)
            .map(|(v, y)| if *v == 0.0 { *y } else { v.signum() })
            .collect();
        let weights: Vec<f64> = self.signed.iter().map(|v| v.abs()).collect();
        let votes = Classes::from_signs(&signs).ok().and_then(|classes| {
            let tree = match &self.columns {
                Columns::Binned(binned) => Tree::binned(binned, &classes, Some(&weights), &growth),
                Columns::Sorted(sorted) => {
                    Tree::exact_sorted(self.table, sorted, &classes, Some(&weights), &growth)
                }
            };
            Votes::of(&tree.ok()?)
        });
        // All that has weight is of one class, or no test gains: the constant.
        let found = match votes {
            Some(votes) if votes.nodes.len() > 1 => Hypothesis::Tree(votes),
            _ => Hypothesis::Rule(Rule::default()),
        };
        found.values(self.table, h);
        Some(found)
    }

    fn table(&self) -> &Table {
        self.table
    }
}
