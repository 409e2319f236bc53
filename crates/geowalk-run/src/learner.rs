//! # Learners
//! A walk, a loss and a schedule, run over blocks of examples. Everything below is monomorphised; [`Learner`] erases it once per block.

use std::ops::Range;

use geowalk::certify::{Bound, FirstOrder};
use geowalk::loss::{AnyLoss, Facts, Loss};
use geowalk::row::{Block, Norm, Row};
use geowalk::update::{Round, Target};
use geowalk::walk::Walk;
use geowalk::{DomainError, Real};

use crate::rate::Schedule;

/// What a learner said about an example before it learned from it.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Outcome {
    /// The prediction: a score or number; the class with the largest score.
    pub prediction: f64,
    /// Probability of the true class among several; NaN otherwise.
    pub probability: f64,
    /// The weighted loss.
    pub loss: f64,
}

/// A step that failed.
#[derive(Debug, Clone, PartialEq, thiserror::Error)]
#[error("row {row}: {cause}; the rate of this step was {rate:e}: try --rate {suggested:e}")]
pub struct Diverged {
    /// Row of the block, from 0.
    pub row: usize,
    /// What went wrong.
    pub cause: DomainError,
    /// The rate of the step.
    pub rate: f64,
    /// A rate that is likely to work.
    pub suggested: f64,
}

/// The object-safe boundary: whole blocks only.
pub trait Learner: Send {
    /// Predicts, then learns from, the rows of the block in order.
    fn learn(
        &mut self,
        block: &Block,
        rows: Range<usize>,
        out: &mut Vec<Outcome>,
    ) -> Result<(), Diverged>;

    /// Appends the scores of the rows, [`outputs`](Learner::outputs) per row.
    fn predict(&self, block: &Block, out: &mut Vec<f64>);

    /// Scores per row: 1, or the number of classes.
    fn outputs(&self) -> usize;

    /// The weights of output `k`; the intercept first.
    fn weights(&self, k: usize, w: &mut Vec<f64>);

    /// The first-order certificate's sums, one per output.
    fn bounds(&self) -> Vec<&FirstOrder>;

    /// Everything that changes, as named arrays.
    fn save(&self, put: &mut dyn FnMut(String, &[f64]));

    /// Continues from what [`Learner::save`] gave.
    fn load(
        &mut self,
        get: &mut dyn FnMut(&str) -> Option<Vec<f64>>,
    ) -> Result<(), geowalk::ConfigError>;
}

/// A row with the intercept as coordinate 0 and the features behind it.
#[derive(Debug, Clone, Copy)]
pub struct Shifted<X>(pub X);

impl<X: Row<f64>> Row<f64> for Shifted<X> {
    #[inline]
    fn each(self, mut f: impl FnMut(usize, f64)) {
        f(0, 1.0);
        self.0.each(|i, x| f(i + 1, x));
    }

    fn bound(self) -> usize {
        self.0.bound() + 1
    }
}
