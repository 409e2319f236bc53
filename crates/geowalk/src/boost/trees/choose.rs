//! # As many rounds as held-out rows want
//! Models of all folds are trained in step; the number of rounds is that of the smallest pooled held-out
//! loss, after `patience` rounds without a smaller one. The scale s of the link is fitted on the held-out
//! scores of that round, with the prior 2(ln s)². Then all rows are learned from, for 1.2 times as many
//! rounds, because there are more of them. With rows that the caller holds out, the model of the best round
//! is kept as it is.
//!
//! **Care** The held-out loss has chosen the rounds, so it is slightly optimistic.

use rayon::prelude::*;

use super::round::Run;
use super::{AdditiveTrees, TreeBooster, TreeData, TreeLoss, TreeRound};
use crate::Real;

/// Which rows are held out.
#[derive(Debug, Clone, Copy)]
pub enum Held<'a> {
    /// The fold of each row, and the folds that are held out, one after the other; then all rows are learned
    /// from.
    Folds(&'a [usize], usize),
    /// These rows alone, which are never learned from.
    Rows(&'a [bool]),
}

/// What happens while trees are boosted.
#[derive(Debug, Clone, Copy)]
pub enum Progress<'a> {
    /// A round of the models that choose the number of rounds, and the held-out loss after it.
    Choosing(usize, f64),
    /// A round of the model.
    Round(&'a TreeRound),
}

/// What held-out rows have chosen.
#[derive(Debug, Clone, PartialEq)]
pub struct Chosen {
    /// J: the round of the smallest held-out loss.
    pub best: usize,
    /// Models that chose it: folds.
    pub folds: usize,
    /// Rows that were held out.
    pub held: usize,
    /// The scale s of the link.
    pub scale: f64,
    /// The mean held-out loss before the first round and after each.
    pub curve: Vec<f64>,
    /// Rounds of the model.
    pub rounds: usize,
    /// It learned from all rows in the end.
    pub refitted: bool,
}

/// A model, its rounds, and how their number was chosen.
#[derive(Debug, Clone)]
pub struct Learned {
    /// The model.
    pub model: AdditiveTrees,
    /// Its rounds.
    pub rounds: Vec<TreeRound>,
    /// What held-out rows have chosen; none if there were none.
    pub chosen: Option<Chosen>,
    /// The scores of all rows under the model, row by row, if it has learned from all rows.
    pub scores: Option<Vec<f64>>,
}

/// An improvement is at least this part of the loss at the start.
const LEAST: f64 = 1e-6;

/// The factor of the rounds when all rows are learned from.
const MORE: f64 = 1.2;

impl TreeBooster {
    /// So many rounds on all rows, fewer if it is halted (the first is always made).
    pub fn fit(
        &self,
        data: &TreeData<'_>,
        rounds: usize,
        watch: &mut dyn FnMut(Progress<'_>),
    ) -> Result<Learned, crate::boost::BoostError> {
        self.check()?;
        let mut run = Run::new(self, data, &|_| false);
        let mut all = Vec::with_capacity(rounds);
        while all.len() < rounds && (all.is_empty() || !self.halt.is_called()) {
            let round = run.step();
            watch(Progress::Round(&round));
            all.push(round);
        }
        Ok(Learned { model: run.model, rounds: all, chosen: None, scores: Some(run.scores) })
    }

    /// As many rounds as held-out rows want. `None` if it was halted before their number was known.
    pub fn learn(
        &self,
        data: &TreeData<'_>,
        held: Held<'_>,
        watch: &mut dyn FnMut(Progress<'_>),
    ) -> Result<Option<Learned>, crate::boost::BoostError> {
        self.check()?;
        let folds = if let Held::Folds(_, folds) = held { folds } else { 1 };
        let is_held = |fold: usize, row: usize| match held {
            Held::Folds(parts, _) => parts[row] == fold,
            Held::Rows(rows) => rows[row],
        };
        let mut runs: Vec<Run<'_>> = (0..folds)
            .into_par_iter()
            .map(|fold| Run::new(self, data, &|row| is_held(fold, row)))
            .collect();
        let rows: Vec<Vec<usize>> = (0..folds)
            .map(|fold| (0..data.y.len()).filter(|row| is_held(fold, *row)).collect())
            .collect();
        let total: f64 = rows.iter().flatten().map(|row| data.weights[*row]).sum();
        let k = self.loss.outputs();
        let loss_of = |run: &Run<'_>, rows: &[usize]| -> f64 {
            let one = |row: &usize| {
                let loss = match &self.loss {
                    TreeLoss::Margin(loss) if !loss.is_logistic() => {
                        self.loss.log_loss(&run.scores[row * k..][..k], data.y[*row], 1.0)
                    }
                    _ => run.loss[*row],
                };
                data.weights[*row] * loss
            };
            rows.iter().map(one).sum()
        };
        let pooled = |runs: &[Run<'_>]| -> f64 {
            let sum: f64 = runs.iter().zip(&rows).map(|(run, rows)| loss_of(run, rows)).sum();
            sum / Real::max(total, f64::MIN_POSITIVE)
        };
        let keep = |runs: &[Run<'_>], best: &mut Vec<f64>| {
            best.clear();
            for (run, rows) in runs.iter().zip(&rows) {
                rows.iter().for_each(|row| best.extend_from_slice(&run.scores[row * k..][..k]));
            }
        };
        let mut curve = vec![pooled(&runs)];
        let (mut best, mut least, mut scores) = (0, curve[0], Vec::new());
        let needed = LEAST * Real::max(curve[0].abs(), f64::MIN_POSITIVE);
        keep(&runs, &mut scores);
        let mut records: Vec<TreeRound> = Vec::new();
        for round in 1..=self.most_rounds {
            if self.halt.is_called() {
                return Ok(None);
            }
            let made: Vec<TreeRound> = runs.par_iter_mut().map(Run::step).collect();
            records.extend(made.first());
            let loss = pooled(&runs);
            curve.push(loss);
            watch(Progress::Choosing(round, loss));
            if loss < least - needed {
                (best, least) = (round, loss);
                keep(&runs, &mut scores);
            }
            if round - best >= self.patience || !loss.is_finite() {
                break;
            }
        }
        let scale = if let TreeLoss::Number(_) = self.loss {
            1.0
        } else {
            let of: Vec<usize> = rows.iter().flatten().copied().collect();
            self.scale(data, &of, &scores)
        };
        let held_rows = rows.iter().map(Vec::len).sum();
        let mut chosen =
            Chosen { best, folds, held: held_rows, scale, curve, rounds: best, refitted: false };
        let mut learned = if let Held::Folds(..) = held {
            drop(runs);
            chosen.refitted = true;
            #[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "a few")]
            let more = (MORE * best as f64).round() as usize;
            chosen.rounds = more;
            self.fit(data, more, watch)?
        } else {
            records.truncate(best);
            let Some(run) = runs.pop() else { return Ok(None) };
            Learned { model: run.model.first(best), rounds: records, chosen: None, scores: None }
        };
        learned.model.scale = scale;
        learned.chosen = Some(chosen);
        Ok(Some(learned))
    }

    /// The s of least Σ −ln P + 2 (ln s)² over held-out rows, by golden section on ln s.
    fn scale(&self, data: &TreeData<'_>, rows: &[usize], scores: &[f64]) -> f64 {
        const RATIO: f64 = 0.618_033_988_749_894_9;
        let k = self.loss.outputs();
        let cost = |log: f64| {
            let s = Real::exp(log);
            let parts: Vec<f64> = rows
                .par_chunks(4096)
                .zip(scores.par_chunks(4096 * k))
                .map(|(rows, scores)| {
                    let each = rows.iter().zip(scores.chunks_exact(k));
                    let one = |(row, scores): (&usize, &[f64])| {
                        data.weights[*row] * self.loss.log_loss(scores, data.y[*row], s)
                    };
                    each.map(one).sum::<f64>()
                })
                .collect();
            parts.iter().sum::<f64>() + 2.0 * log * log
        };
        let (mut lo, mut hi) = (Real::ln(0.05), Real::ln(20.0));
        let (mut a, mut b) = (hi - RATIO * (hi - lo), lo + RATIO * (hi - lo));
        let (mut at_a, mut at_b) = (cost(a), cost(b));
        while hi - lo > 1e-4 {
            if at_a <= at_b {
                (hi, b, at_b) = (b, a, at_a);
                a = hi - RATIO * (hi - lo);
                at_a = cost(a);
            } else {
                (lo, a, at_a) = (a, b, at_b);
                b = lo + RATIO * (hi - lo);
                at_b = cost(b);
            }
        }
        Real::exp(f64::midpoint(lo, hi))
    }
}
