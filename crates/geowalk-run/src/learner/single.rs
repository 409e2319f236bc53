//! # One score
//! A walk whose prediction ⟨w, x⟩ is a number, or the sign of two classes.

use std::ops::Range;

use geowalk::loss::{AnyLoss, Loss};
use geowalk::row::{Block, Row};
use geowalk::update::{Round, Target};
use geowalk::walk::Walk;
use geowalk::{ConfigError, DomainError};

use super::{Diverged, Intercepted, Learner, Outcome, Reach, Setting, Step, Strand};
use super::{combined, each_row, keep, learn, restored};
use crate::certificate::{Against, Report};
use crate::hindsight::Domain;
use crate::rate::{Look, Schedule};

/// One score: regression, or two classes.
#[derive(Debug)]
pub struct Single<W> {
    strand: Strand<W>,
    setting: Setting,
    schedule: Schedule,
    zeros: Zeros,
}

/// What predicting nothing loses. Two classes have two answers, which need not be worked out again for every example.
#[derive(Debug)]
struct Zeros([(f64, f64); 2]);

impl Zeros {
    #[inline]
    fn of(&mut self, loss: &AnyLoss, y: f64) -> f64 {
        if let Some((_, known)) = self.0.iter().find(|(label, _)| *label == y) {
            return *known;
        }
        let value = loss.value(0.0, y);
        self.0 = [(y, value), self.0[0]];
        value
    }
}

impl<W: Walk + Clone> Single<W> {
    /// A learner at its beginning.
    pub fn new(walk: W, setting: Setting) -> Self {
        let facts = setting.loss.facts();
        Self {
            strand: Strand::new(walk, &setting, &facts),
            schedule: Schedule::new(setting.rate, &facts),
            setting,
            zeros: Zeros([(f64::NAN, 0.0); 2]),
        }
    }

    #[inline]
    fn part<X: Row<f64>>(&mut self, x: X, target: Target) -> Result<Round, (DomainError, f64)> {
        if self.schedule.pace().is_some() {
            self.keep_pace(x, target);
        }
        let Self { strand: Strand { walk, .. }, setting: Setting { loss, .. }, schedule, .. } =
            self;
        let rate = schedule.next(|| {
            walk.grow(x.bound());
            Look::at(walk.predict(x), target, loss, walk.gauge(x))
        });
        let round = walk.step(x, target, loss, rate).map_err(|cause| (cause, rate))?;
        self.strand.observe(&round, x);
        Ok(round)
    }

    /// Begins a new epoch of a doubling scheme if it is time.
    #[inline(never)]
    fn keep_pace<X: Row<f64>>(&mut self, x: X, target: Target) {
        let Self { strand, setting: Setting { loss, .. }, schedule, .. } = self;
        let Some(pace) = schedule.pace() else { return };
        let mut new = pace.look(x, strand.walk.features(), target.weight);
        if pace.feels() {
            strand.walk.grow(x.bound());
            let slope = target.weight * loss.slope(strand.walk.predict(x), target.y);
            new = pace.feel(slope * slope, target.y);
        }
        if new {
            strand.turn(pace.scheme.norm());
        }
    }
}

impl<W: Walk + Clone> Step for Single<W> {
    #[inline]
    fn step<X: Row<f64>>(&mut self, x: X, target: Target) -> Result<Outcome, (DomainError, f64)> {
        if target.y.is_nan() {
            return Ok(Outcome::unlabelled(self.strand.walk.predict(x)));
        }
        let parts = self.setting.admit(x, target.weight).map_err(|cause| (cause, 0.0))?;
        let part = Target { weight: target.weight / parts, ..target };
        self.strand.remember(x, target.weight);
        let first = self.part(x, part)?;
        let mut learned = 1.0;
        while learned < parts {
            self.part(x, part)?;
            learned += 1.0;
        }
        Ok(Outcome {
            prediction: first.z,
            probability: f64::NAN,
            loss: parts * first.loss,
            zero: target.weight * self.zeros.of(&self.setting.loss, target.y),
        })
    }
}

impl<W: Walk + Clone> Learner for Single<W> {
    fn learn(
        &mut self,
        block: &Block,
        rows: Range<usize>,
        out: &mut Vec<Outcome>,
    ) -> Result<(), Diverged> {
        learn(self, self.setting.intercept, block, rows, out)
    }

    fn examine(&mut self, block: &Block, rows: Range<usize>, out: &mut Vec<Outcome>) {
        let loss = &self.setting.loss;
        each_row!(block, rows, self.setting.intercept, |i, x| {
            let (z, y, weight) = (self.strand.score(x), block.labels()[i], block.weights()[i]);
            out.push(Outcome {
                prediction: z,
                probability: f64::NAN,
                loss: weight * loss.value(z, y),
                zero: weight * loss.value(0.0, y),
            });
        });
    }

    fn predict(&self, block: &Block, out: &mut Vec<f64>) {
        each_row!(block, 0..block.len(), self.setting.intercept, |i, x| {
            out.push(self.strand.score(x));
        });
    }

    fn outputs(&self) -> usize {
        1
    }

    fn weights(&self, _: usize, w: &mut Vec<f64>) {
        self.strand.read(w);
    }

    fn report(&self, against: &Against<'_>, loss: Option<f64>) -> Option<Report> {
        combined(std::slice::from_ref(&self.strand), &self.setting, against, loss)
    }

    fn domain(&self) -> Domain {
        self.setting.domain
    }

    fn gamma(&self, _: usize) -> Option<Vec<f64>> {
        self.strand.gamma()
    }

    fn reach(&self) -> Reach {
        self.setting.reach
    }

    fn rate(&self) -> f64 {
        self.schedule.last()
    }

    fn save(&self, put: &mut dyn FnMut(String, &[f64])) {
        keep(&self.schedule, put);
        self.strand.save("walk.0.", put);
    }

    fn load(&mut self, get: &mut dyn FnMut(&str) -> Option<Vec<f64>>) -> Result<(), ConfigError> {
        self.schedule = restored(&self.schedule, get)?;
        self.strand.load("walk.0.", get)
    }
}
