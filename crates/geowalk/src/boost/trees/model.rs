//! # Sums of trees
//! What was learned: trees whose leaves add to the scores, the start of the scores, and the scale of the
//! link. A table is scored a few rows at a time, tree by tree, with the columns that are asked for side by
//! side.

use rayon::prelude::*;

use super::loss::{NumberLoss, TreeLoss};
use crate::Real;
use crate::boost::split::truth;
use crate::boost::table::{Column, MISSING, Table, Values};

/// What a branch asks of its column.
#[derive(Debug, Clone, PartialEq)]
pub enum Ask {
    /// Is the number at most θ? θ = `f64::MAX` asks whether it is known.
    AtMost {
        /// The threshold.
        theta: f64,
        /// A missing number goes left.
        missing: bool,
    },
    /// Is the name among these (of a truth value: 0 false, 1 true)? Missing, rare and new names are not.
    Among {
        /// Their codes, rising.
        names: Vec<u32>,
        /// Those that are go left, otherwise right.
        left: bool,
    },
}

impl Ask {
    /// Does the value of this row go left?
    pub fn left(&self, column: &Column, row: usize) -> bool {
        match (self, column.values()) {
            (Self::AtMost { theta, missing }, Values::Numeric(values)) => {
                values.get(row).map_or(*missing, |x| if x.is_nan() { *missing } else { x <= theta })
            }
            (Self::AtMost { theta, missing }, Values::Sparse(values)) => {
                let x = values.get(row);
                if x.is_nan() { *missing } else { x <= *theta }
            }
            (Self::Among { names, left }, Values::Nominal { codes, .. }) => {
                codes.get(row).is_some_and(|code| names.binary_search(code).is_ok()) == *left
            }
            (Self::Among { names, left }, Values::Boolean(values)) => {
                let code = values.get(row).map_or(MISSING, |value| truth(*value));
                names.binary_search(&code).is_ok() == *left
            }
            (Self::AtMost { missing, .. }, _) => *missing,
            (Self::Among { left, .. }, _) => !left,
        }
    }
}

/// What an inner node does.
#[derive(Debug, Clone, PartialEq)]
pub struct Branch {
    /// The column that is asked.
    pub column: usize,
    /// The question.
    pub ask: Ask,
    /// The node of those that go left.
    pub left: usize,
    /// The node of the others.
    pub right: usize,
    /// What the split gained.
    pub gain: f64,
}

/// A node of a tree.
#[derive(Debug, Clone, PartialEq)]
pub struct TreeNode {
    /// What it does, if it is not a leaf.
    pub branch: Option<Branch>,
    /// What a leaf adds to the score.
    pub value: f64,
    /// The training rows of a leaf, weighted.
    pub rows: f64,
    /// Of these the rows of the second of two classes, or of the class of the tree; of numbers the sum of the
    /// labels. NaN in models of older versions.
    pub own: f64,
}

/// A tree that adds to one score. Node 0 is the root; a parent comes before its children.
#[derive(Debug, Clone, PartialEq)]
pub struct ScoreTree {
    /// The score that it adds to.
    pub output: usize,
    /// Its nodes.
    pub nodes: Vec<TreeNode>,
}

/// A sum of trees.
#[derive(Debug, Clone)]
pub struct AdditiveTrees {
    /// What was minimised.
    pub loss: TreeLoss,
    /// Where the scores start.
    pub start: Vec<f64>,
    /// The trees, in the order of the rounds; those of a round have different outputs.
    pub trees: Vec<ScoreTree>,
    /// Columns of the table.
    pub columns: usize,
    /// The scale s of the link.
    pub scale: f64,
    /// n of the bounds of probabilities: the training rows.
    pub rows: f64,
}

/// A node as it is asked: everything in 32 bytes.
#[derive(Debug, Clone, Copy)]
struct Step {
    theta: f64,
    /// Where x ≤ θ goes, and where it does not.
    kids: [u32; 2],
    /// The place of the column among those that are used; of a leaf `u32::MAX`.
    column: u32,
    /// Of names: the first word of their set; otherwise `u32::MAX`.
    set: u32,
    /// A missing number goes left.
    missing: bool,
}

/// Where a tree begins.
struct Root {
    first: usize,
    output: usize,
    depth: usize,
    /// It asks no names.
    numbers: bool,
}

/// Trees that are ready to score.
struct Ready {
    steps: Vec<Step>,
    roots: Vec<Root>,
    words: Vec<u64>,
    used: Vec<usize>,
}

/// Rows that are scored together.
const ROWS: usize = 64;

impl Ready {
    #[expect(clippy::cast_possible_truncation, reason = "fewer than 2^32 nodes and columns")]
    fn new(model: &AdditiveTrees, table: &Table) -> Self {
        let mut used: Vec<usize> = model.branches().map(|branch| branch.column).collect();
        used.sort_unstable();
        used.dedup();
        let (mut steps, mut roots, mut words) = (Vec::new(), Vec::new(), Vec::new());
        for tree in &model.trees {
            let first = steps.len();
            let mut depths = vec![0; tree.nodes.len()];
            for (at, node) in tree.nodes.iter().enumerate() {
                if let Some(branch) = &node.branch {
                    depths[branch.left] = depths[at] + 1;
                    depths[branch.right] = depths[at] + 1;
                }
            }
            let is_number = |node: &TreeNode| {
                node.branch.as_ref().is_none_or(|b| matches!(b.ask, Ask::AtMost { .. }))
            };
            roots.push(Root {
                first,
                output: tree.output,
                depth: depths.into_iter().max().unwrap_or(0),
                numbers: tree.nodes.iter().all(is_number),
            });
            for node in &tree.nodes {
                let Some(Branch { column, ask, left, right, .. }) = &node.branch else {
                    // A leaf leads to itself, whatever it is asked.
                    let here = steps.len() as u32;
                    let (theta, column, set) = (node.value, u32::MAX, u32::MAX);
                    steps.push(Step { theta, kids: [here; 2], column, set, missing: true });
                    continue;
                };
                let mut kids = [(first + left) as u32, (first + right) as u32];
                let place = used.binary_search(column).unwrap_or(0) as u32;
                let numeric = matches!(
                    table.columns().get(*column).map(Column::values),
                    Some(Values::Numeric(_) | Values::Sparse(_))
                );
                steps.push(match ask {
                    Ask::AtMost { theta, missing } if numeric => Step {
                        theta: *theta,
                        kids,
                        column: place,
                        set: u32::MAX,
                        missing: *missing,
                    },
                    Ask::Among { names, left } if !numeric => {
                        if !left {
                            kids.reverse();
                        }
                        let set = words.len() as u32;
                        let size = names.last().map_or(0, |last| *last as usize / 64 + 1);
                        words.push(size as u64);
                        words.resize(words.len() + size, 0);
                        for name in names {
                            words[set as usize + 1 + *name as usize / 64] |= 1 << (name % 64);
                        }
                        Step { theta: 0.0, kids, column: place, set, missing: false }
                    }
                    // A column of another kind than in training has no values.
                    Ask::AtMost { missing, .. } => Step {
                        theta: f64::NAN,
                        kids,
                        column: place,
                        set: u32::MAX,
                        missing: *missing,
                    },
                    Ask::Among { left, .. } => {
                        Step { theta: f64::NAN, kids, column: place, set: u32::MAX, missing: !left }
                    }
                });
            }
        }
        Self { steps, roots, words, used }
    }

    /// Adds to the scores of some rows, from row `first` on.
    fn score(&self, table: &Table, first: usize, outputs: usize, scores: &mut [f64]) {
        let (rows, width) = (scores.len() / outputs, self.used.len());
        let mut values = vec![0.0; rows * width];
        for (place, column) in self.used.iter().enumerate() {
            let into = values.iter_mut().skip(place).step_by(width);
            match table.columns().get(*column).map(Column::values) {
                Some(Values::Numeric(own)) => {
                    into.zip(&own[first..]).for_each(|(into, x)| *into = *x);
                }
                Some(Values::Sparse(sparse)) => {
                    into.for_each(|into| *into = 0.0);
                    let begin = sparse.rows().partition_point(|row| (*row as usize) < first);
                    let stored = sparse.rows().iter().zip(sparse.values()).skip(begin);
                    for (row, x) in stored.take_while(|(row, _)| (**row as usize) < first + rows) {
                        values[(*row as usize - first) * width + place] = *x;
                    }
                }
                Some(Values::Nominal { codes, .. }) => {
                    into.zip(&codes[first..]).for_each(|(into, code)| *into = f64::from(*code));
                }
                Some(Values::Boolean(own)) => {
                    let own = own[first..].iter();
                    into.zip(own).for_each(|(into, value)| *into = f64::from(truth(*value)));
                }
                None => into.for_each(|into| *into = f64::NAN),
            }
        }
        for root in &self.roots {
            if root.numbers && width > 0 {
                self.score_numbers(root, &values, outputs, scores);
                continue;
            }
            for row in 0..rows {
                let own = &values[row * width..][..width];
                let mut step = &self.steps[root.first];
                while step.column != u32::MAX {
                    let x = own[step.column as usize];
                    let right = if step.set == u32::MAX {
                        goes_right(step, x)
                    } else {
                        !self.among(step.set, x)
                    };
                    step = &self.steps[step.kids[usize::from(right)] as usize];
                }
                scores[row * outputs + root.output] += step.theta;
            }
        }
    }

    /// A few rows take each step together, so that they do not wait for one another.
    fn score_numbers(&self, root: &Root, values: &[f64], outputs: usize, scores: &mut [f64]) {
        const TOGETHER: usize = 8;
        let width = self.used.len();
        let parts = values.chunks(TOGETHER * width).zip(scores.chunks_mut(TOGETHER * outputs));
        for (values, scores) in parts {
            let rows = scores.len() / outputs;
            let mut at = [root.first; TOGETHER];
            for _ in 0..root.depth {
                for (row, at) in at.iter_mut().enumerate().take(rows) {
                    let step = &self.steps[*at];
                    // A leaf looks at some column in vain.
                    let column = (step.column as usize).min(width - 1);
                    let right = goes_right(step, values[row * width + column]);
                    *at = step.kids[usize::from(right)] as usize;
                }
            }
            for (row, at) in at.iter().enumerate().take(rows) {
                scores[row * outputs + root.output] += self.steps[*at].theta;
            }
        }
    }

    #[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "a code")]
    fn among(&self, set: u32, x: f64) -> bool {
        let (code, set) = (x as u32, set as usize);
        let word = code as usize / 64;
        word < self.words[set] as usize && self.words[set + 1 + word] >> (code % 64) & 1 == 1
    }
}

/// A missing number goes where the step says; against a threshold that is NaN all are missing.
#[inline(always)]
#[expect(clippy::needless_bitwise_bool, reason = "without branches")]
fn goes_right(step: &Step, x: f64) -> bool {
    (x > step.theta) | ((x.is_nan() | step.theta.is_nan()) & !step.missing)
}

impl ScoreTree {
    /// Has it the questions of another tree?
    #[must_use]
    pub fn asks_as(&self, other: &Self) -> bool {
        let both = self.nodes.iter().zip(&other.nodes);
        self.nodes.len() == other.nodes.len()
            && both.map(|(a, b)| (&a.branch, &b.branch)).all(|(a, b)| a == b)
    }
}

impl AdditiveTrees {
    /// Scores of a row.
    pub fn outputs(&self) -> usize {
        self.loss.outputs()
    }

    /// How many rounds were made.
    pub fn rounds(&self) -> usize {
        self.trees.len() / self.outputs()
    }

    fn branches(&self) -> impl Iterator<Item = &Branch> {
        self.trees.iter().flat_map(|tree| &tree.nodes).filter_map(|node| node.branch.as_ref())
    }

    /// The first rounds alone.
    #[must_use]
    pub fn first(&self, rounds: usize) -> Self {
        let mut first = self.clone();
        first.trees.truncate(rounds * self.outputs());
        first
    }

    /// The scores of all rows, row by row.
    pub fn scores(&self, table: &Table) -> Vec<f64> {
        let outputs = self.outputs();
        let mut scores: Vec<f64> = Vec::with_capacity(table.rows() * outputs);
        (0..table.rows()).for_each(|_| scores.extend_from_slice(&self.start));
        self.add(table, &mut scores);
        scores
    }

    /// Adds what the trees say to scores, for models that begin where others end.
    pub fn add(&self, table: &Table, scores: &mut [f64]) {
        let outputs = self.outputs();
        let ready = Ready::new(self, table);
        let one = |(at, scores): (usize, &mut [f64])| {
            ready.score(table, at * ROWS, outputs, scores);
        };
        scores.par_chunks_mut(ROWS * outputs).with_min_len(16).enumerate().for_each(one);
    }

    /// How many classes there are; 0 for numbers.
    pub fn classes(&self) -> usize {
        match self.loss {
            TreeLoss::Margin(_) => 2,
            TreeLoss::Softmax(classes) => classes,
            TreeLoss::Number(_) => 0,
        }
    }

    /// The probabilities of all classes, row by row, from the scores; empty for numbers.
    pub fn probabilities(&self, scores: &[f64]) -> Vec<f64> {
        let classes = self.classes();
        let mut all = vec![0.0; scores.len() / self.outputs() * classes];
        if classes > 0 {
            let rows = scores.par_chunks(self.outputs()).zip(all.par_chunks_mut(classes));
            let rows = rows.with_min_len(1 << 10);
            rows.for_each(|(own, out)| {
                self.loss.probabilities(own, self.scale, self.rows, out);
            });
        }
        all
    }

    /// Predicted numbers from scores.
    pub fn numbers(&self, scores: Vec<f64>) -> Vec<f64> {
        match self.loss {
            TreeLoss::Number(NumberLoss::Poisson) => scores.into_iter().map(Real::exp).collect(),
            _ => scores,
        }
    }

    /// What each column gained, as parts of 1; zeros if nothing was gained.
    pub fn importance(&self) -> Vec<f64> {
        let mut gains = vec![0.0; self.columns];
        for branch in self.branches() {
            if let Some(gain) = gains.get_mut(branch.column) {
                *gain += branch.gain;
            }
        }
        let sum: f64 = gains.iter().sum();
        if sum > 0.0 {
            gains.iter_mut().for_each(|gain| *gain /= sum);
        }
        gains
    }

    /// What pairs of columns gained together, as parts of all that was gained, largest first: what a split gained
    /// below questions about other columns, in equal parts to the pairs with each of them.
    pub fn pairs(&self) -> Vec<(usize, usize, f64)> {
        let mut gains = std::collections::BTreeMap::<(usize, usize), f64>::new();
        let mut sum = 0.0;
        for tree in &self.trees {
            // The columns on the way to each node; a parent comes before its children.
            let mut above: Vec<Vec<usize>> = vec![Vec::new(); tree.nodes.len()];
            for (at, node) in tree.nodes.iter().enumerate() {
                let Some(Branch { column, left, right, gain, .. }) = &node.branch else { continue };
                let mut way = std::mem::take(&mut above[at]);
                let others: Vec<usize> = way.iter().copied().filter(|own| own != column).collect();
                sum += gain;
                for other in &others {
                    let pair = (*other.min(column), *other.max(column));
                    *gains.entry(pair).or_default() += gain / others.len() as f64;
                }
                if !way.contains(column) {
                    way.push(*column);
                }
                above[*left].clone_from(&way);
                above[*right] = way;
            }
        }
        let part = |gain: f64| if sum > 0.0 { gain / sum } else { 0.0 };
        let mut all: Vec<(usize, usize, f64)> =
            gains.into_iter().map(|((a, b), gain)| (a, b, part(gain))).collect();
        all.sort_by(|a, b| b.2.total_cmp(&a.2).then((a.0, a.1).cmp(&(b.0, b.1))));
        all
    }

    /// The columns that are asked.
    pub fn used(&self) -> Vec<usize> {
        let mut used: Vec<usize> = self.branches().map(|branch| branch.column).collect();
        used.sort_unstable();
        used.dedup();
        used
    }

    /// What is wrong with trees that come from outside, if anything is.
    pub fn check(&self) -> Result<(), String> {
        for (number, tree) in self.trees.iter().enumerate() {
            let wrong = |what: &str| Err(format!("tree {number}: {what}"));
            if tree.output >= self.outputs() || tree.nodes.is_empty() {
                return wrong("no such output, or no nodes");
            }
            let mut parents = vec![0_u32; tree.nodes.len()];
            for (at, node) in tree.nodes.iter().enumerate() {
                if !node.value.is_finite() {
                    return wrong("a value is not finite");
                }
                let Some(branch) = &node.branch else { continue };
                for kid in [branch.left, branch.right] {
                    match parents.get_mut(kid) {
                        Some(count) if kid > at => *count += 1,
                        _ => return wrong("a child is not a later node"),
                    }
                }
                let names = match &branch.ask {
                    Ask::AtMost { theta, .. } if theta.is_nan() => {
                        return wrong("a threshold is NaN");
                    }
                    Ask::AtMost { .. } => &[][..],
                    Ask::Among { names, .. } => names,
                };
                if branch.column >= self.columns || !names.is_sorted_by(|a, b| a < b) {
                    return wrong("no such column, or names out of order");
                }
            }
            if parents.iter().skip(1).any(|count| *count != 1) {
                return wrong("a node has no parent, or two");
            }
        }
        let finite = self.start.len() == self.outputs() && self.start.iter().all(|x| x.is_finite());
        if finite && self.scale > 0.0 && self.rows >= 0.0 {
            return Ok(());
        }
        Err("the start, the scale or the number of rows is wrong".to_owned())
    }
}
