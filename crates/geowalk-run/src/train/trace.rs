//! # The course of a run
//! How things stood after some examples, [thinned](crate::thinned) so that a picture can be drawn from it.

use geowalk::certify::Status;

use super::run::Run;
use crate::certificate::{Against, Report};
use crate::learner::Learner;
use crate::model::Model;
pub use crate::thinned::MOST;
use crate::thinned::Thinned;

/// Points in the making.
pub(super) type Trace = Thinned<Point>;

/// Weights of so many coordinates can be drawn, the intercept among them.
const DRAWN: usize = 3;

/// How things stood after some examples.
#[derive(Debug, Clone, PartialEq)]
pub struct Point {
    /// Examples learned from.
    pub examples: u64,
    /// What they have lost, all in all.
    pub loss: f64,
    /// What they have lost on average.
    pub average: f64,
    /// The tightest valid bound on the regret.
    pub bound: Option<f64>,
    /// The weights, if they can be drawn.
    pub weights: Vec<f64>,
    /// The weights of the members of a team.
    pub members: Vec<f64>,
}

/// The course of a run, and what it led to.
#[derive(Debug)]
pub struct Course {
    /// From the first example to the last.
    pub points: Vec<Point>,
    /// What was learned.
    pub model: Model,
}

impl Run {
    /// How things stand.
    pub(super) fn point(&self) -> Point {
        let (learner, metrics) = (self.learner(), self.metrics());
        let report = learner.report(&Against::Reach, None);
        let best = report.as_ref().map(Report::best);
        let bound = best.filter(|best| best.status == Status::Valid).map(|best| best.bound);
        Point {
            examples: metrics.examples(),
            loss: metrics.loss() * metrics.weight(),
            average: metrics.loss(),
            bound,
            weights: drawn(learner),
            members: learner.members().iter().map(|member| member.weight).collect(),
        }
    }
}

/// The weights of a learner with one output, if they can be drawn.
fn drawn(learner: &dyn Learner) -> Vec<f64> {
    let mut w = Vec::new();
    if learner.outputs() == 1 {
        learner.weights(0, &mut w);
    }
    if w.len() != DRAWN {
        w = Vec::new();
    }
    w
}
