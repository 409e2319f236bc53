//! # Boosted trees
//! A sum of trees by the same principle as ULS, with the leaves of each new tree as the block of features
//! that moves: rows of a leaf share one leverage, so that a round splits into one convex problem per leaf.
//! Any convex loss of the margin for two classes, softmax log-loss for several (a tree per class and round),
//! and losses of numbers.
//!
//! * [`TreeBooster`]: the settings, with defaults by task. [`TreeData`]: the table in bins, the labels, the
//!   weights.
//! * [`TreeBooster::fit`]: so many rounds. [`TreeBooster::learn`]: as many as held-out rows want, then a
//!   refit on all rows.
//! * [`AdditiveTrees`]: what was learned. [`TreeRound`]: what a round did, measured.
//!
//! **What holds** The training risk never rises: the structure of a tree comes from a sample of the rows,
//! its values from all of them, and where the risk of a leaf rose its step is halved (of several classes:
//! the joint risk and all steps). With $\mathrm{risk}(H + \nu d) \le (1 - \nu)\,\mathrm{risk}(H) +
//! \nu\,\mathrm{risk}(H + d)$ shrinking keeps at least the share ν of the decrease. The risk after J rounds
//! is that of the start less the measured decreases, and, divided by ψ(0), bounds the training error.
//! Nothing here bounds the error on new rows; the held-out loss of [`Chosen`] estimates it.
//! **Determinism** Same data, settings and seed: same bits for any number of threads. Sums of slopes are
//! whole numbers, other sums are made of chunks in their order.
//! **Cost** per tree about rows × columns × half the depth additions, and one exponential per row.
//! **Source** \[NN09\] for ULS; the second-order gain is \[FHT00\]'s.

mod choose;
mod grow;
mod histogram;
mod loss;
mod model;
mod round;
#[cfg(test)]
mod tests;

pub use choose::{Chosen, Held, Learned, Progress};
pub use loss::{NumberLoss, TreeLoss};
pub use model::{AdditiveTrees, Ask, Branch, ScoreTree, TreeNode};
pub use round::TreeRound;

use super::binned::Binned;
use super::table::{Table, TableError};
use crate::error::{Allowed, ConfigError, parameter};
use crate::halt::Halt;
use histogram::Panels;

/// How the value of a leaf is found.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum LeafStep {
    /// One Newton step, halved while the risk of the leaf rose.
    #[default]
    Newton,
    /// The minimiser of the leaf's risk and ridge.
    Exact,
    /// The logarithm of the odds of counts to those of probabilities (logistic and softmax losses).
    Kl,
}

impl LeafStep {
    /// Its name.
    pub fn name(self) -> &'static str {
        match self {
            Self::Newton => "newton",
            Self::Exact => "exact",
            Self::Kl => "kl",
        }
    }

    /// The step of that name.
    pub fn parse(text: &str) -> Result<Self, ConfigError> {
        let all = [Self::Newton, Self::Exact, Self::Kl];
        let found = all.into_iter().find(|step| step.name() == text);
        found.ok_or_else(|| crate::spec::unknown("leaf step", text, all.map(Self::name)))
    }
}

/// What a round adds.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Shape {
    /// A tree.
    #[default]
    Trees,
    /// A conjunction of at most `depth` tests: rows of which it is true get a value, others none.
    Rules,
}

/// Settings of boosted trees.
///
/// ```
/// use geowalk::boost::Surrogate;
/// use geowalk::boost::table::{Column, Table};
/// use geowalk::boost::trees::{TreeBooster, TreeData, TreeLoss};
/// let table = Table::new(vec![Column::numeric("x", (0..100).map(f64::from).collect())])?;
/// let y: Vec<f64> = (0..100).map(|k| if k < 40 { -1.0 } else { 1.0 }).collect();
/// let booster = TreeBooster::new(TreeLoss::Margin(Surrogate::parse("logistic")?));
/// let data = TreeData::new(&table, &y, None, None, &booster)?;
/// let learned = booster.fit(&data, 20, &mut |_| {})?;
/// assert!(learned.rounds.windows(2).all(|two| two[1].risk <= two[0].risk));
/// let scores = learned.model.scores(&table);
/// assert!(scores.iter().zip(&y).all(|(score, y)| score * y > 0.0));
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Debug, Clone)]
pub struct TreeBooster {
    /// What is minimised.
    pub loss: TreeLoss,
    /// What a round adds.
    pub shape: Shape,
    /// Of several classes: one tree or rule votes for all of them, instead of one for each class.
    pub vector: bool,
    /// Of each column 1 or −1 where the score must not fall or rise in it, otherwise 0; empty for none.
    pub monotone: Vec<i8>,
    /// Columns may meet in a rule, or on the way to a leaf, if they are in one of these groups; empty: all may.
    pub interactions: Vec<Vec<usize>>,
    /// ν: how much of each step is taken.
    pub rate: f64,
    /// Leaves of a tree at most.
    pub leaves: usize,
    /// Tests on the way to a leaf at most.
    pub depth: usize,
    /// λ: the ridge of leaf values and gains.
    pub lambda: f64,
    /// κ of the KL step: rows of each kind that are added to a leaf.
    pub kappa: f64,
    /// Bins of a column, at most 254.
    pub bins: usize,
    /// The share of the rows that the structure of each tree is found on.
    pub rows: f64,
    /// The share of the columns that each node looks at.
    pub columns: f64,
    /// Rows of a leaf at least.
    pub least_rows: u64,
    /// Count the rows of a leaf by their curvature, in units of the mean of all rows: few rows that are hard to
    /// tell count as many.
    pub effective: bool,
    /// Names with fewer rows are as if they were missing.
    pub least_names: u64,
    /// How leaf values are found.
    pub leaf: LeafStep,
    /// The seed of what is sampled.
    pub seed: u64,
    /// Stops it from outside, between rounds.
    pub halt: Halt,
    /// Rounds at most where held-out rows choose their number.
    pub most_rounds: usize,
    /// Rounds without improvement of the held-out loss after which choosing ends.
    pub patience: usize,
}

impl TreeBooster {
    /// The defaults of rules: at most three tests each; of several classes each rule votes for all.
    pub fn rules(loss: TreeLoss) -> Self {
        let several = matches!(loss, TreeLoss::Softmax(_));
        let base = Self::new(loss);
        Self {
            shape: Shape::Rules,
            depth: 3,
            vector: several,
            rate: 0.1,
            most_rounds: 2000,
            patience: 100,
            ..base
        }
    }

    /// The defaults for a loss.
    pub fn new(loss: TreeLoss) -> Self {
        let several = matches!(loss, TreeLoss::Softmax(_));
        Self {
            loss,
            shape: Shape::Trees,
            vector: false,
            monotone: Vec::new(),
            interactions: Vec::new(),
            rate: if several { 0.1 } else { 0.05 },
            leaves: 16,
            depth: 6,
            lambda: 1.0,
            kappa: 1.0,
            bins: 254,
            rows: 0.8,
            columns: if several { 0.8 } else { 0.7 },
            least_rows: if several { 20 } else { 5 },
            effective: false,
            least_names: 5,
            leaf: LeafStep::Newton,
            seed: 0,
            halt: Halt::default(),
            most_rounds: if several { 500 } else { 1000 },
            patience: if several { 30 } else { 80 },
        }
    }

    /// Refuses settings that cannot be.
    pub fn check(&self) -> Result<(), ConfigError> {
        parameter("rate", self.rate, Allowed::OpenClosed(0.0, 1.0))?;
        parameter("leaves", self.leaves as f64, Allowed::Closed(2.0, 65535.0))?;
        parameter("depth", self.depth as f64, Allowed::Whole(1))?;
        parameter("lambda", self.lambda, Allowed::NonNegative)?;
        parameter("kappa", self.kappa, Allowed::NonNegative)?;
        parameter("bins", self.bins as f64, Allowed::Closed(2.0, 254.0))?;
        parameter("row share", self.rows, Allowed::OpenClosed(0.0, 1.0))?;
        parameter("column share", self.columns, Allowed::OpenClosed(0.0, 1.0))?;
        parameter("most rounds", self.most_rounds as f64, Allowed::Whole(1))?;
        parameter("patience", self.patience as f64, Allowed::Whole(1))?;
        let kl = match &self.loss {
            TreeLoss::Margin(loss) => loss.is_logistic(),
            TreeLoss::Softmax(_) => true,
            TreeLoss::Number(_) => false,
        };
        parameter("groups of columns", self.interactions.len() as f64, Allowed::Closed(0.0, 64.0))?;
        let several = matches!(self.loss, TreeLoss::Softmax(_));
        if several && self.monotone.iter().any(|sign| *sign != 0) {
            return Err(crate::spec::unknown(
                "constraint of several classes",
                "monotone",
                ["none"],
            ));
        }
        if self.leaf == LeafStep::Kl && !kl || self.leaf == LeafStep::Exact && several {
            let known = if several { ["newton", "kl"] } else { ["newton", "exact"] };
            return Err(crate::spec::unknown("leaf step for this loss", self.leaf.name(), known));
        }
        Ok(())
    }
}

/// A table in bins with labels and weights, ready for any number of runs.
#[derive(Debug)]
pub struct TreeData<'a> {
    binned: Binned,
    panels: Panels,
    /// ±1, class codes or numbers.
    y: &'a [f64],
    weights: Vec<f64>,
    /// How many rows each row stands for; empty if each for one.
    counts: Vec<u32>,
    /// Of each column the groups that it is in, as bits; empty if all columns may meet.
    groups: Vec<u64>,
}

impl<'a> TreeData<'a> {
    /// Puts a table into bins. Labels are ±1 for two classes, codes from 0 for several, numbers otherwise.
    /// `unit` is the weight of one row, so that a row of twice that weight counts as two.
    pub fn new(
        table: &Table,
        y: &'a [f64],
        weights: Option<&[f64]>,
        unit: Option<f64>,
        booster: &TreeBooster,
    ) -> Result<Self, super::BoostError> {
        booster.check()?;
        let rows = table.rows();
        let length = |what: &str, found| TableError::Length { what: what.to_owned(), found, rows };
        if y.len() != rows {
            return Err(length("the list of labels", y.len()).into());
        }
        if let Some(row) = y.iter().position(|y| !booster.loss.takes(*y)) {
            let (loss, allowed) = (booster.loss.spec(), booster.loss.labels());
            return Err(TableError::Label { row, value: y[row], loss, allowed }.into());
        }
        let mut counts = Vec::new();
        if let Some(weights) = weights {
            if weights.len() != rows {
                return Err(length("the list of weights", weights.len()).into());
            }
            let good = |weight: &f64| weight.is_finite() && *weight >= 0.0;
            if let Some(row) = weights.iter().position(|weight| !good(weight)) {
                return Err(TableError::Weight { row, value: weights[row] }.into());
            }
            let unit = unit.filter(|unit| *unit > 0.0).unwrap_or(1.0);
            #[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "bounded")]
            let count = |weight: &f64| {
                (weight / unit).round().clamp(f64::from(u8::from(*weight > 0.0)), 1e6) as u32
            };
            counts = weights.iter().map(count).collect();
        }
        let of_names = (!counts.is_empty()).then_some(counts.as_slice());
        let binned = Binned::pooled(table, booster.bins, booster.least_names, of_names)?;
        let panels = Panels::new(&binned);
        // In units of rows: λ and κ count rows.
        let unit = unit.filter(|unit| *unit > 0.0).unwrap_or(1.0);
        let weights = weights.map_or(vec![1.0; rows], |w| w.iter().map(|w| w / unit).collect());
        let mut groups =
            vec![0; if booster.interactions.is_empty() { 0 } else { binned.columns().len() }];
        for (number, group) in booster.interactions.iter().enumerate() {
            for column in group {
                if let Some(groups) = groups.get_mut(*column) {
                    *groups |= 1 << number;
                }
            }
        }
        Ok(Self { binned, panels, y, weights, counts, groups })
    }

    /// How many rows there are, each counted as often as its weight says.
    pub fn rows(&self) -> u64 {
        if self.counts.is_empty() {
            return self.y.len() as u64;
        }
        self.counts.iter().map(|count| u64::from(*count)).sum()
    }

    fn count(&self, row: usize) -> u32 {
        self.counts.get(row).copied().unwrap_or(1)
    }
}

impl TreeLoss {
    /// The labels it takes, in words.
    fn labels(&self) -> &'static str {
        match self {
            Self::Margin(_) => "-1 or 1",
            Self::Softmax(_) => "the number of a class",
            Self::Number(NumberLoss::Poisson) => "a finite number >= 0",
            Self::Number(_) => "a finite number",
        }
    }

    /// Can this be a label?
    fn takes(&self, y: f64) -> bool {
        match self {
            Self::Margin(_) => y.abs() == 1.0,
            Self::Softmax(classes) => y >= 0.0 && y < *classes as f64 && y.fract() == 0.0,
            Self::Number(NumberLoss::Poisson) => y.is_finite() && y >= 0.0,
            Self::Number(_) => y.is_finite(),
        }
    }
}
