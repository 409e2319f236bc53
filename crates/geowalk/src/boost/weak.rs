//! # Weak learners
//! What boosting asks for in each round: a feature h with an edge Σ c w y h over weights w that it has not seen before.
//!
//! | learner | h | file |
//! |---|---|---|
//! | rules | conjunctions of at most l literals | [`rules`](super::rules) |
//! | stumps, trees | one test; a few tests, and a vote in every leaf | [`stumps`](super::stumps) |
//! | columns | the columns themselves, and a constant | [`columns`](super::columns) |

use super::columns::Plain;
use super::rule::Rule;
use super::split::Split;
use super::stumps::Votes;
use super::surrogate::Surrogate;
use super::table::Table;

/// What a weak learner sees of the state of a booster.
#[derive(Debug, Clone, Copy)]
pub struct View<'a> {
    /// The loss.
    pub loss: &'a Surrogate,
    /// Labels ±1.
    pub y: &'a [f64],
    /// Weights of the examples as they were given.
    pub c: &'a [f64],
    /// Scores u = −yH.
    pub u: &'a [f64],
    /// Weights w(u) of the loss, up to a common factor.
    pub w: &'a [f64],
}

/// A feature that a weak learner found.
#[derive(Debug, Clone, PartialEq)]
#[non_exhaustive]
pub enum Hypothesis {
    /// A conjunction.
    Rule(Rule),
    /// +1 where the test passes, −1 elsewhere.
    Stump(Split),
    /// The vote of a leaf.
    Tree(Votes),
    /// A column.
    Plain(Plain),
}

impl Hypothesis {
    /// h of every row.
    pub fn values(&self, table: &Table, h: &mut [f64]) {
        match self {
            Self::Rule(rule) => {
                for (row, h) in h.iter_mut().enumerate() {
                    *h = rule.value(table, row);
                }
            }
            Self::Stump(split) => match table.columns().get(split.column) {
                Some(column) => split.test.each(column, |row, passes| {
                    if let Some(h) = h.get_mut(row) {
                        *h = if passes { 1.0 } else { -1.0 };
                    }
                }),
                None => h.fill(-1.0),
            },
            Self::Tree(votes) => {
                for (row, h) in h.iter_mut().enumerate() {
                    *h = votes.value(table, row);
                }
            }
            Self::Plain(plain) => plain.values(table, h),
        }
    }
}

/// The score H = Σ α h of every row.
pub fn scores(hypotheses: &[Hypothesis], alpha: &[f64], table: &Table) -> Vec<f64> {
    let (mut scores, mut h) = (vec![0.0; table.rows()], vec![0.0; table.rows()]);
    for (hypothesis, &alpha) in hypotheses.iter().zip(alpha) {
        if alpha != 0.0 {
            hypothesis.values(table, &mut h);
            for (score, h) in scores.iter_mut().zip(&h) {
                *score += alpha * h;
            }
        }
    }
    scores
}

/// Finds features.
pub trait Weak {
    /// A feature with a large edge or a small risk, and its values on the examples in `h`; `None` if it knows of none.
    fn learn(&mut self, view: &View<'_>, h: &mut [f64]) -> Option<Hypothesis>;

    /// The table that it learns from.
    fn table(&self) -> &Table;

    /// Is h always ±1, and can [`learn_signs`](Self::learn_signs) and [`signs`](Self::signs) say so?
    fn has_signs(&self) -> bool {
        false
    }

    /// [`learn`](Self::learn) where every example counts 1, for labels y and weights w ≥ 0.
    fn learn_signs(&mut self, _y: &[i8], _w: &[f64], _h: &mut [i8]) -> Option<Hypothesis> {
        None
    }

    /// h of the rows from `start` on, for a feature that it has found.
    fn signs(&self, _hypothesis: &Hypothesis, _start: usize, h: &mut [i8]) {
        h.fill(0);
    }
}
