//! # Stacks
//! $$z = \frac1m \sum_{k \in S} z_k + \langle w, (z_k)_{k \in S}\rangle$$
//! The mean of the log-odds of the members in S, corrected by a learner without a rate ([`Free`]) whose
//! features they are: it begins with equal weights that sum to one, and can go anywhere from there. S is all
//! members, or the m that have lost least so far.

use super::log::Offset;
use crate::Real;
use crate::error::ConfigError;
use crate::row::Sparse;
use crate::sum::Sum;
use crate::update::Target;
use crate::walk::{Free, Walk};

/// The members in S, in order of their numbers, and what they say.
#[derive(Debug, Clone, Default)]
pub(super) struct Chosen {
    members: Vec<u32>,
    log_odds: Vec<f64>,
}

impl Chosen {
    /// The `most` members that lost least.
    fn of(&mut self, most: usize, z: &[f64], sums: &[Sum]) {
        self.members.clear();
        self.log_odds.clear();
        for (i, (number, z)) in (0..).zip(z).enumerate() {
            // Before it are those that lost less, and of equals the first.
            let before = |j: &usize| {
                let apart = sums[*j].less(&sums[i]);
                apart < 0.0 || (apart == 0.0 && *j < i)
            };
            if sums.len() <= most || (0..sums.len()).filter(before).count() < most {
                self.members.push(number);
                self.log_odds.push(*z);
            }
        }
    }

    fn mean(&self) -> f64 {
        self.log_odds.iter().sum::<f64>() / self.log_odds.len() as f64
    }

    /// The mean and what the walk adds to it.
    fn score(&self, walk: &Free) -> f64 {
        let row = Sparse::new(&self.members, &self.log_odds);
        row.map_or(0.0, |row| self.mean() + walk.predict(row))
    }
}

/// Weights of the members' log-odds.
#[derive(Debug, Clone)]
pub(super) struct Stack {
    walk: Free,
    most: usize,
    chosen: Chosen,
}

impl Stack {
    /// Of all members, or of the `most` best.
    pub(super) fn new(members: usize, most: usize) -> Result<Self, ConfigError> {
        let mut walk = Free::new(Free::WEALTH, Free::STEP, 1.0)?;
        walk.grow(members);
        Ok(Self { walk, most, chosen: Chosen::default() })
    }

    /// The log-odds of a row that may be learned from next.
    pub(super) fn predict(&mut self, z: &[f64], sums: &[Sum]) -> f64 {
        self.chosen.of(self.most, z, sums);
        self.chosen.score(&self.walk)
    }

    /// The same of a finished team.
    pub(super) fn score(&self, z: &[f64], sums: &[Sum], chosen: &mut Chosen) -> f64 {
        chosen.of(self.most, z, sums);
        chosen.score(&self.walk)
    }

    /// Learns from the row that was predicted last.
    pub(super) fn learn(&mut self, y: f64, weight: f64) {
        let Self { walk, chosen, .. } = self;
        let Ok(row) = Sparse::new(&chosen.members, &chosen.log_odds) else { return };
        let loss = Offset(chosen.mean());
        // Bets are against slopes of at most 1.
        let parts = if weight > 1.0 { Real::min(weight.ceil(), PARTS) } else { 1.0 };
        let weight = Real::min(weight / parts, 1.0);
        let target = Target { y: if y > 0.0 { 1.0 } else { -1.0 }, weight };
        let mut learned = 0.0;
        // A step of finite log-odds and a slope within the bound can be made.
        while learned < parts && walk.step(row, target, &loss, 0.0).is_ok() {
            learned += 1.0;
        }
    }

    pub(super) fn save(&self, put: &mut dyn FnMut(&'static str, &[f64])) {
        self.walk.save_state(put);
    }

    pub(super) fn load(
        &mut self,
        get: &mut dyn FnMut(&'static str) -> Option<Vec<f64>>,
    ) -> Result<(), ConfigError> {
        self.walk.load_state(get)
    }
}

/// A row counts as no more rows of weight 1 than these.
const PARTS: f64 = 65_536.0;
