//! # The course of a run
//! Points for pictures, so many that curves look smooth and never more than [`MOST`]: when there are that many every second one is dropped, and the distance to the next is
//! doubled. The last example is always one of them.

use geowalk::certify::Status;

use super::run::Run;
use crate::certificate::{Against, Report};
use crate::learner::Learner;
use crate::model::Model;

/// So many points at most.
pub const MOST: usize = 512;

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
}

/// The course of a run, and what it led to.
#[derive(Debug)]
pub struct Course {
    /// From the first example to the last.
    pub points: Vec<Point>,
    /// What was learned.
    pub model: Model,
}

/// Points in the making.
#[derive(Debug, Clone)]
pub(super) struct Trace {
    points: Vec<Point>,
    /// Examples between two points.
    every: u64,
    /// The next point.
    next: u64,
    /// Two points for every doubling, and no others.
    sparse: bool,
}

impl Trace {
    /// From here on.
    pub(super) fn new(examples: u64) -> Self {
        Self { points: Vec::new(), every: 1, next: examples + 1, sparse: false }
    }

    /// The same for a run that may never be drawn: two points for every doubling of the examples, so that they cost next to nothing.
    pub(super) fn sparse(examples: u64) -> Self {
        Self { sparse: true, ..Self::new(examples) }
    }

    /// At how many examples a point is wanted.
    pub(super) fn next(&self) -> u64 {
        self.next
    }

    /// Adds a point.
    pub(super) fn add(&mut self, point: Point) {
        self.next = match point.examples {
            power if self.sparse && power.is_power_of_two() => power + (power / 2).max(1),
            between if self.sparse => between.next_power_of_two(),
            examples => examples + self.every,
        };
        self.points.push(point);
        if self.points.len() >= MOST {
            let mut odd = false;
            self.points.retain(|_| {
                odd = !odd;
                !odd
            });
            self.every *= 2;
            self.next = self.points.last().map_or(self.next, |last| last.examples) + self.every;
        }
    }

    /// All points, with that of the end.
    pub(super) fn end(mut self, last: Point) -> Vec<Point> {
        if self.points.last().is_none_or(|point| point.examples < last.examples) {
            self.points.push(last);
        }
        self.points
    }
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

#[cfg(test)]
mod tests {
    use super::*;

    fn at(examples: u64) -> Point {
        Point { examples, loss: 0.0, average: 0.0, bound: None, weights: Vec::new() }
    }

    #[test]
    fn points_are_never_too_many_and_evenly_spread() {
        let mut trace = Trace::new(0);
        for examples in 1..=100_000 {
            if examples == trace.next() {
                trace.add(at(examples));
            }
        }
        let points = trace.end(at(100_000));
        assert!((MOST / 2..=MOST).contains(&points.len()), "{}", points.len());
        let apart: Vec<u64> = points.windows(2).map(|p| p[1].examples - p[0].examples).collect();
        assert!(apart[..apart.len() - 1].iter().all(|own| *own == apart[0]), "{apart:?}");
        assert_eq!(points.last().unwrap().examples, 100_000);
        assert_eq!(points[0].examples, apart[0]);
    }

    #[test]
    fn a_sparse_trace_has_two_points_for_every_doubling() {
        let mut trace = Trace::sparse(0);
        for examples in 1..=40 {
            if examples == trace.next() {
                trace.add(at(examples));
            }
        }
        let counts: Vec<u64> = trace.end(at(40)).iter().map(|point| point.examples).collect();
        assert_eq!(counts, [1, 2, 3, 4, 6, 8, 12, 16, 24, 32, 40]);
    }

    #[test]
    fn a_short_run_has_every_point() {
        let mut trace = Trace::new(7);
        (8..12).for_each(|examples| trace.add(at(examples)));
        let counts: Vec<u64> = trace.end(at(11)).iter().map(|point| point.examples).collect();
        assert_eq!(counts, [8, 9, 10, 11]);
    }
}
