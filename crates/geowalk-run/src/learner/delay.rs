//! # Labels that come late
//! A row is predicted when it comes and learned from when so many more rows have come. So losses and metrics are
//! what they will be where labels are known only later. The rows that wait are part of the model: they are
//! learned from when the run is resumed.
//! **Care** the certificates are about predictions just before a row is learned from, which these are not: there
//! are none. **Cost** one more prediction per row, and the memory of the rows that wait.

use std::ops::Range;

use geowalk::ConfigError;
use geowalk::row::{Block, Row};

use super::{Coverage, Diverged, Learner, Outcome, forward};
use crate::certificate::{Against, Report};

/// A learner whose labels come late.
pub(crate) struct Delayed {
    inner: Box<dyn Learner>,
    delay: usize,
    /// The rows from `first` on wait.
    waiting: Block,
    first: usize,
    scratch: Vec<Outcome>,
    last: Vec<[f64; 2]>,
}

impl Delayed {
    /// The same learner, so many rows later.
    pub(crate) fn new(inner: Box<dyn Learner>, delay: usize) -> Self {
        let (scratch, last) = (Vec::new(), Vec::new());
        Self { inner, delay, waiting: Block::new(), first: 0, scratch, last }
    }

    /// Learns from the oldest row if it has waited long enough.
    fn catch_up(&mut self) -> Result<(), Diverged> {
        let Self { inner, delay, waiting, first, scratch, .. } = self;
        while waiting.len() - *first > *delay {
            scratch.clear();
            inner.learn(waiting, *first..*first + 1, scratch)?;
            *first += 1;
        }
        if *first > 1024 && 2 * *first > waiting.len() {
            let mut rest = Block::new();
            rest.append(waiting, *first..waiting.len());
            (*waiting, *first) = (rest, 0);
        }
        Ok(())
    }
}

impl Learner for Delayed {
    forward!();

    fn learn(
        &mut self,
        block: &Block,
        rows: Range<usize>,
        out: &mut Vec<Outcome>,
    ) -> Result<(), Diverged> {
        self.last.clear();
        for i in rows {
            let from = out.len();
            self.inner.examine(block, i..i + 1, out);
            self.last.extend(self.inner.last_intervals());
            if block.labels()[i].is_nan() {
                out.iter_mut().skip(from).for_each(|outcome| {
                    *outcome = Outcome::unlabelled(outcome.prediction);
                });
                continue;
            }
            self.waiting.append(block, i..i + 1);
            self.catch_up().map_err(|diverged| Diverged { row: i, ..diverged })?;
        }
        Ok(())
    }

    fn examine(&mut self, block: &Block, rows: Range<usize>, out: &mut Vec<Outcome>) {
        self.inner.examine(block, rows, out);
        self.last = self.inner.last_intervals().to_vec();
    }

    fn report(&self, _: &Against<'_>, _: Option<f64>) -> Option<Report> {
        None
    }

    fn coverage(&self) -> Option<Coverage> {
        self.inner.coverage()
    }

    fn last_intervals(&self) -> &[[f64; 2]] {
        &self.last
    }

    fn intervals(&self, block: &Block, out: &mut Vec<[f64; 2]>) {
        self.inner.intervals(block, out);
    }

    fn save(&self, put: &mut dyn FnMut(String, &[f64])) {
        self.inner.save(put);
        let (mut heads, mut entries) = (Vec::new(), Vec::new());
        for i in self.first..self.waiting.len() {
            let before = entries.len();
            let mut entry = |j: usize, x: f64| entries.extend([j as f64, x]);
            if self.waiting.columns().is_some() {
                self.waiting.dense(i).each(&mut entry);
            } else {
                self.waiting.sparse(i).each(&mut entry);
            }
            let count = (entries.len() - before) / 2;
            heads.extend([self.waiting.labels()[i], self.waiting.weights()[i], count as f64]);
        }
        put("waiting.rows".to_owned(), &heads);
        put("waiting.entries".to_owned(), &entries);
    }

    #[allow(clippy::cast_possible_truncation, clippy::cast_sign_loss)] // counts and indices
    fn load(&mut self, get: &mut dyn FnMut(&str) -> Option<Vec<f64>>) -> Result<(), ConfigError> {
        self.inner.load(get)?;
        let missing = ConfigError::Missing { name: "waiting", meaning: "the rows that wait" };
        let heads = get("waiting.rows").ok_or(missing.clone())?;
        let entries = get("waiting.entries").ok_or(missing.clone())?;
        let ((heads, _), (entries, _)) = (heads.as_chunks::<3>(), entries.as_chunks::<2>());
        let mut rest = entries.iter();
        (self.waiting, self.first) = (Block::new(), 0);
        for [label, weight, count] in heads {
            for _ in 0..*count as usize {
                let [index, value] = rest.next().ok_or(missing.clone())?;
                self.waiting.feature(*index as u32, *value);
            }
            self.waiting.end(*label, *weight);
        }
        Ok(())
    }
}
