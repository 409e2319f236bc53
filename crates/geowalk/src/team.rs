//! # Teams: several learners, one prediction
//! No learner is the best on every stream. A team runs K members on the same rows, predicts with their
//! mixture, and loses at most a few nats more than its best member over the whole run, whatever the data.
//!
//! | loss | rule | overhead against member k |
//! |---|---|---|
//! | $-\ln p(y)$ | [`LogMixture`]: Bayes mixtures, shares, stacks, and a mixture of those | $\ln 1/\pi_k + \ln J$ |
//! | $(\hat y - y)^2$ | [`Aggregate`]: Vovk's aggregating algorithm on the range of the labels | $(b-a)^2 \ln(1/\pi_k) / 2$ |
//! | other convex losses | [`AdaHedge`](crate::certify::AdaHedge) on the members' losses | $\Delta_T + \Delta_{T-1}$ |
//!
//! Overheads are evaluated on the run: what was lost beyond a member is known exactly, and so is its bound.
//! A bound on a member's regret against fixed weights holds for the team with the overhead added to it.

mod aggregate;
mod log;
mod stack;

pub use aggregate::Aggregate;
pub use log::{FLOOR, LogMixture, Scratch, Share, log_odds_in_range};

/// What a team lost beyond one of its members.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Overhead {
    /// What the member lost.
    pub member_loss: f64,
    /// What the team lost less that; negative where the team is better.
    pub overhead: f64,
    /// No less than the overhead, by the theorem; infinite where there is none.
    pub bound: f64,
}
