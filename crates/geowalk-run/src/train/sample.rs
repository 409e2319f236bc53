//! # Is the model worse on earlier rows than it was?
//! A walk follows its rows. Where their order carries a trend, as in a file that is sorted by class, each row is
//! predicted well just after others like it, and the model of the end fits the last rows only. So a sample of all
//! rows is kept with the losses of their predictions, and the final model predicts them again.

use std::ops::Range;

use geowalk::row::Block;
use geowalk_data::Task;

use super::study::{Study, seen};
use crate::learner::{Learner, Outcome};
use crate::metrics::Metrics;

/// Rows that are kept at most.
const MOST: usize = 1_000;
/// Below so many rows nothing is claimed.
const LEAST: usize = 50;
/// A difference of so many standard errors is no chance.
const ERRORS: f64 = 4.0;
/// A difference of less than this part of the earlier loss is not worth a word.
const PART: f64 = 0.05;

/// A row of the sample.
#[derive(Debug)]
struct Kept {
    number: u64,
    row: Block,
    loss: f64,
}

impl Kept {
    /// Is a row of this number in a sample of one in 2^`thinned`? By a hash: rows may repeat in a cycle.
    fn belongs(number: u64, thinned: u32) -> bool {
        number.wrapping_mul(0x9e37_79b9_7f4a_7c15).leading_zeros() >= thinned
    }
}

/// Some of the rows so far, spread evenly over them, with the losses of their predictions.
#[derive(Debug, Default)]
pub(super) struct Sample {
    kept: Vec<Kept>,
    thinned: u32,
    seen: u64,
}

impl Sample {
    /// Rows were predicted and learned from.
    pub(super) fn see(&mut self, block: &Block, rows: Range<usize>, outcomes: &[Outcome]) {
        for (i, outcome) in rows.zip(outcomes) {
            self.seen += 1;
            if !Kept::belongs(self.seen, self.thinned) || outcome.loss.is_nan() {
                continue;
            }
            let mut row = Block::new();
            row.append(block, i..i + 1);
            self.kept.push(Kept { number: self.seen, row, loss: outcome.loss });
            if self.kept.len() > MOST {
                self.thinned += 1;
                let thinned = self.thinned;
                self.kept.retain(|kept| Kept::belongs(kept.number, thinned));
            }
        }
    }

    /// The labels of two classes were the other way round.
    pub(super) fn flip(&mut self) {
        self.kept.iter_mut().for_each(|kept| super::run::flip(&mut kept.row));
    }

    /// Shows metrics how the learner does on these rows now; gives the average loss of when it predicted them.
    pub(super) fn again(&self, study: &mut Study, task: Task, now: &mut Metrics) -> Option<f64> {
        let (mut outcomes, mut before, mut weight) = (Vec::new(), 0.0, 0.0);
        for Kept { row, loss, .. } in &self.kept {
            outcomes.clear();
            study.built.learner.examine(row, 0..1, &mut outcomes);
            let seen = seen(task, &study.built.loss, row, 0, outcomes.first()?);
            seen.iter().for_each(|seen| now.see(seen));
            before += loss;
            weight += row.weights()[0];
        }
        (self.kept.len() >= LEAST && weight > 0.0).then_some(before / weight)
    }

    /// What to note if the learner loses more on these rows now than when it predicted them.
    pub(super) fn note(&self, learner: &mut dyn Learner) -> Option<String> {
        let (mut before, mut rise, mut squares, mut weight) = (0.0, 0.0, 0.0, 0.0);
        let mut outcomes = Vec::new();
        for kept in &self.kept {
            outcomes.clear();
            learner.examine(&kept.row, 0..1, &mut outcomes);
            let more = outcomes.first()?.loss - kept.loss;
            before += kept.loss;
            rise += more;
            squares += more * more;
            weight += kept.row.weights()[0];
        }
        let rows = self.kept.len();
        let by_chance = (squares - rise * rise / rows as f64).max(0.0).sqrt();
        if rows < LEAST || rise <= (ERRORS * by_chance).max(PART * before) || weight <= 0.0 {
            return None;
        }
        let [before, after] = [before / weight, (before + rise) / weight].map(super::run::short);
        Some(format!(
            "the final model loses {after} on average on a sample of {rows} rows, which lost {before} when they \
             were predicted: their order carries a trend. To fit all rows alike: --passes auto --shuffle"
        ))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sample_is_even_and_bounded() {
        let mut block = Block::new();
        for i in 0..10_000 {
            block.feature(0, f64::from(i));
            block.end(1.0, 1.0);
        }
        let outcome = Outcome { prediction: 0.0, probability: f64::NAN, loss: 1.0, zero: 1.0 };
        let mut sample = Sample::default();
        sample.see(&block, 0..10_000, &vec![outcome; 10_000]);
        assert!((MOST / 2..=MOST).contains(&sample.kept.len()), "{}", sample.kept.len());
        let early = sample.kept.iter().filter(|kept| kept.number <= 5_000).count();
        assert!((early as f64 / sample.kept.len() as f64 - 0.5).abs() < 0.1, "{early}");
    }
}
