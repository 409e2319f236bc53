//! # Boosting with a weak learner
//! ULS where features are learned: in each round the weak learner is shown the weights, and the loss is minimised over the leverage of what it finds (or of the newest k
//! features, or of all).
//!
//! **Several losses** A bag of losses shares one score H. In each round every loss of the bag makes its whole step from the same H, weights, feature, leverage; the
//! step that is kept is the one after which the training error is smallest ([`Choice::Error`], the F of the paper), or whose normalised edge is largest
//! ([`Choice::Edge`], the E); of equal ones the first of the bag. The paper warns, and experiments confirm, that losses whose scores have different scales do not mix well.
//!
//! **Repeated features** are merged: their leverages add up, so a rule is listed once.
//! **Held-out set** what is kept are the rounds up to its best, see [`stop`](super::stop).
//! **Cost** per round that of the weak learner, and of a [line search](super::line) per loss. **Source** \[NN09, alg. 1, sec. 7\].

use super::block;
use super::halt::Halt;
use super::line::{self, Outcome, Separable, Step};
use super::state::{Along, REFRESH, Round, State};
use super::stop::{Ended, Path, Stop, Watch, judge};
use super::surrogate::Surrogate;
use super::table::{Table, TableError};
use super::uls::Leverage;
use super::weak::{Hypothesis, View, Weak};
use crate::Real;
use crate::error::{ConfigError, DomainError};

/// Which step of a bag of losses is kept.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Choice {
    /// That with the smallest training error after it.
    #[default]
    Error,
    /// That with the largest normalised edge.
    Edge,
}

/// Why boosting failed.
#[derive(Debug, Clone, PartialEq, thiserror::Error)]
#[non_exhaustive]
pub enum BoostError {
    /// The table, the classes or the weights.
    #[error(transparent)]
    Table(#[from] TableError),
    /// A parameter.
    #[error(transparent)]
    Config(#[from] ConfigError),
    /// A round.
    #[error("round {round}: {cause}")]
    Round {
        /// Which, from 1.
        round: usize,
        /// What happened.
        cause: DomainError,
    },
}

/// Boosting.
#[derive(Debug, Clone)]
pub struct Booster {
    /// The losses, at least one.
    pub bag: Vec<Surrogate>,
    /// Which step is kept if there are several.
    pub choice: Choice,
    /// How many leverages move in a round.
    pub leverage: Leverage,
    /// What to do with a feature that never errs.
    pub separable: Separable,
    /// When to stop.
    pub stop: Stop,
    /// Stops it from outside, after a round.
    pub halt: Halt,
}

/// A held-out set.
#[derive(Debug, Clone, Copy)]
pub struct HeldTable<'a> {
    /// Its rows.
    pub table: &'a Table,
    /// Its labels ±1.
    pub labels: &'a [f64],
}

/// A weighted sum of features, and how it came about.
#[derive(Debug, Clone)]
pub struct Ensemble {
    /// The features, in the order in which they were found.
    pub hypotheses: Vec<Hypothesis>,
    /// Their leverages.
    pub alpha: Vec<f64>,
    /// The loss that turns scores into probabilities: of a bag, that with the least normalised risk at the end.
    pub loss: Surrogate,
    /// The rounds, in order, also those that were not kept.
    pub rounds: Vec<Round>,
    /// How many were kept.
    pub kept: usize,
    /// Why it ended.
    pub ended: Ended,
}

impl Ensemble {
    /// The score H of every row.
    pub fn scores(&self, table: &Table) -> Vec<f64> {
        let (mut scores, mut h) = (vec![0.0; table.rows()], vec![0.0; table.rows()]);
        for (hypothesis, &alpha) in self.hypotheses.iter().zip(&self.alpha) {
            if alpha != 0.0 {
                hypothesis.values(table, &mut h);
                for (score, h) in scores.iter_mut().zip(&h) {
                    *score += alpha * h;
                }
            }
        }
        scores
    }

    /// The training error after the last kept round; NaN without rounds.
    pub fn training_error(&self) -> f64 {
        self.last().map_or(f64::NAN, |round| round.error)
    }

    /// The last round that was kept.
    pub fn last(&self) -> Option<&Round> {
        self.kept.checked_sub(1).and_then(|last| self.rounds.get(last))
    }
}

/// What one loss would do.
struct Proposal {
    hypothesis: Hypothesis,
    m: Vec<f64>,
    step: Step,
    /// s where the feature is ±s or 0.
    size: Option<f64>,
    loss: usize,
    edge: super::state::Edge,
    /// Error after the step, or minus the normalised edge.
    rank: f64,
}

impl Booster {
    /// One loss, one leverage at a time.
    pub fn new(loss: Surrogate, stop: Stop) -> Self {
        Self {
            bag: vec![loss],
            choice: Choice::Error,
            leverage: Leverage::One,
            separable: Separable::Cap,
            stop,
            halt: Halt::default(),
        }
    }

    /// Boosts what `weak` finds for labels ±1 and weights of the examples. `watch` sees each round, and the feature that it added to.
    pub fn fit(
        &self,
        weak: &mut dyn Weak,
        labels: &[f64],
        weights: Option<&[f64]>,
        held_out: Option<HeldTable<'_>>,
        watch: &mut dyn FnMut(&Round, &Hypothesis),
    ) -> Result<Ensemble, BoostError> {
        let rows = weak.table().rows();
        check(rows, labels, weights)?;
        if let Some(held) = held_out {
            length("the list of held-out labels", held.labels.len(), held.table.rows())?;
        }
        let ones;
        let c = if let Some(weights) = weights {
            weights
        } else {
            ones = vec![1.0; rows];
            &ones
        };
        let mut run = Run::new(self, labels, c, held_out);
        for round in 1..=self.stop.rounds {
            // One round is always made: without it there would be nothing to use.
            if round > 1 && self.halt.is_called() {
                run.ended = Ended::Halted;
                break;
            }
            let ended = run.round(round, weak, watch)?;
            if let Some(ended) = ended {
                run.ended = ended;
                break;
            }
        }
        Ok(run.finish())
    }
}

fn length(what: &str, found: usize, rows: usize) -> Result<(), TableError> {
    if found == rows {
        return Ok(());
    }
    Err(TableError::Length { what: what.to_owned(), found, rows })
}

fn check(rows: usize, labels: &[f64], weights: Option<&[f64]>) -> Result<(), BoostError> {
    length("the list of labels", labels.len(), rows)?;
    crate::error::each("the labels", labels, crate::error::Allowed::Sign)
        .map_err(ConfigError::from)?;
    let classes = super::table::Classes::from_signs(labels)?;
    if let Some(weights) = weights {
        classes.check_weights(weights)?;
    }
    Ok(())
}

/// A run under way.
struct Run<'a> {
    booster: &'a Booster,
    state: State<'a>,
    hypotheses: Vec<Hypothesis>,
    alpha: Vec<f64>,
    /// m of every feature, if more than one leverage moves.
    columns: Vec<Vec<f64>>,
    path: Path,
    rounds: Vec<Round>,
    ended: Ended,
    watch: Watch,
    alone: Option<(usize, f64)>,
    held: Option<Held<'a>>,
    /// Memory for the features of the proposals.
    spare: Vec<Vec<f64>>,
    h: Vec<f64>,
    change: Vec<f64>,
}

struct Held<'a> {
    set: HeldTable<'a>,
    columns: Vec<Vec<f64>>,
    u: Vec<f64>,
}

impl<'a> Run<'a> {
    fn new(booster: &'a Booster, y: &'a [f64], c: &'a [f64], held: Option<HeldTable<'a>>) -> Self {
        let mut state = State::new(y, c);
        if let [loss] = booster.bag.as_slice() {
            state.weigh(loss);
        }
        let held =
            held.map(|set| Held { set, columns: Vec::new(), u: vec![0.0; set.labels.len()] });
        Self {
            booster,
            state,
            hypotheses: Vec::new(),
            alpha: Vec::new(),
            columns: Vec::new(),
            path: Path::default(),
            rounds: Vec::new(),
            ended: Ended::Rounds,
            watch: Watch::new(),
            alone: None,
            held,
            spare: Vec::new(),
            h: vec![0.0; y.len()],
            change: vec![0.0; y.len()],
        }
    }

    /// One round; why the run ends with it, if it does.
    fn round(
        &mut self,
        round: usize,
        weak: &mut dyn Weak,
        watch: &mut dyn FnMut(&Round, &Hypothesis),
    ) -> Result<Option<Ended>, BoostError> {
        let failed = |cause| BoostError::Round { round, cause };
        let Some(proposal) = self.propose(weak).map_err(failed)? else {
            return Ok(Some(Ended::Converged));
        };
        let booster = self.booster;
        let Some(loss) = booster.bag.get(proposal.loss) else { return Ok(Some(Ended::Converged)) };
        if booster.bag.len() > 1 {
            self.state.weigh(loss);
        }
        let before = self.state.normalised(loss);
        let guaranteed = proposal.edge.guaranteed(loss, &self.state);
        let feature = self.feature(proposal.hypothesis, &proposal.m);
        let (changes, outcome, residual, leverage) =
            self.leverages(loss, feature, proposal.step).map_err(failed)?;
        let slip = if let [(_, delta)] = *changes {
            let along = Along { m: &proposal.m, delta, size: proposal.size };
            self.state.advance_along(loss, along, &mut self.change)
        } else {
            self.state.advance(loss, &self.change)
        };
        for &(feature, delta) in &changes {
            self.alpha[feature] += delta;
        }
        let stops = outcome == Outcome::Separable && booster.separable == Separable::Stop;
        let whole = stops && proposal.m.iter().all(|m| *m != 0.0);
        self.spare.push(proposal.m);
        let mut factor = 1.0;
        let size: f64 = self.alpha.iter().map(|alpha| alpha.abs()).sum();
        if loss.renormalises() && size > 1.0 {
            factor = 1.0 / size;
            for alpha in &mut self.alpha {
                *alpha *= factor;
            }
            self.state.scale(loss, factor);
        }
        if round.is_multiple_of(REFRESH) {
            self.refresh(weak.table(), loss);
        }
        let edge = proposal.edge;
        let record = Round {
            round,
            loss: proposal.loss,
            feature,
            edge: -edge.g / edge.sum,
            norm: edge.norm / self.state.total,
            largest: edge.largest,
            weight: edge.sum / self.state.total,
            leverage,
            outcome,
            residual,
            before,
            surrogate: self.state.normalised(loss),
            guaranteed,
            slip,
            error: self.state.error(),
        };
        if !record.surrogate.is_finite() {
            let (what, iterations) = ("the surrogate", round);
            let residual = record.surrogate;
            return Err(failed(DomainError::NotConverged { what, residual, iterations }));
        }
        self.rounds.push(record);
        watch(&record, &self.hypotheses[feature]);
        let value = self.judge(loss, &changes, factor, record.surrogate);
        self.path.push(changes, factor);
        if self.watch.see(round, value, booster.stop.patience) {
            return Ok(Some(Ended::Patience));
        }
        if stops {
            self.alone = whole.then_some((feature, leverage));
            return Ok(Some(Ended::Separable));
        }
        let met = booster.stop.bound.is_some_and(|bound| record.surrogate <= bound);
        Ok(met.then_some(Ended::Bound))
    }

    /// The best of what the losses of the bag propose; `None` if nothing has an edge.
    fn propose(&mut self, weak: &mut dyn Weak) -> Result<Option<Proposal>, DomainError> {
        let booster = self.booster;
        let mut best: Option<Proposal> = None;
        for (at, loss) in booster.bag.iter().enumerate() {
            if booster.bag.len() > 1 {
                self.state.weigh(loss);
            }
            let State { y, c, ref u, ref w, .. } = self.state;
            let view = View { loss, y, c, u, w };
            let Some(hypothesis) = weak.learn(&view, &mut self.h) else { continue };
            let mut m = self.spare.pop().unwrap_or_default();
            m.clear();
            m.extend(self.h.iter().zip(y).map(|(h, y)| -y * h));
            let edge = self.state.edge(&m);
            let (known, policy) = (self.state.known(), booster.separable);
            let (step, size) = line::leverage_from(loss, &self.state.u, &m, c, policy, known)?;
            let idle = edge.g.abs() <= booster.stop.tolerance * edge.sum * edge.largest;
            if idle || step.outcome == Outcome::Flat {
                self.spare.push(m);
                continue;
            }
            let rank = match (booster.bag.len(), booster.choice) {
                (1, _) => 0.0,
                (_, Choice::Edge) => -(edge.g / edge.sum).abs(),
                (_, Choice::Error) => self.error_after(&m, step.delta),
            };
            if best.as_ref().is_none_or(|best| rank < best.rank) {
                let proposal = Proposal { hypothesis, m, step, size, loss: at, edge, rank };
                if let Some(old) = best.replace(proposal) {
                    self.spare.push(old.m);
                }
            } else {
                self.spare.push(m);
            }
        }
        Ok(best)
    }

    fn error_after(&self, m: &[f64], delta: f64) -> f64 {
        let mut wrong = 0.0;
        let State { y, c, u, .. } = &self.state;
        for (((&u, &m), &y), &c) in u.iter().zip(m).zip(*y).zip(*c) {
            let u = u + delta * m;
            if u > 0.0 || (u == 0.0 && y < 0.0) {
                wrong += c;
            }
        }
        wrong
    }

    /// The number of the feature, old or new.
    fn feature(&mut self, hypothesis: Hypothesis, m: &[f64]) -> usize {
        if let Some(known) = self.hypotheses.iter().position(|known| *known == hypothesis) {
            return known;
        }
        if self.booster.leverage != Leverage::One {
            self.columns.push(m.to_vec());
        }
        if let Some(held) = &mut self.held {
            let mut h = vec![0.0; held.set.labels.len()];
            hypothesis.values(held.set.table, &mut h);
            for (h, y) in h.iter_mut().zip(held.set.labels) {
                *h *= -y;
            }
            held.columns.push(h);
        }
        self.hypotheses.push(hypothesis);
        self.alpha.push(0.0);
        self.hypotheses.len() - 1
    }

    /// The changes of the leverages; if there are several the change of the scores is in `change`.
    #[expect(clippy::type_complexity, reason = "four results of one step")]
    fn leverages(
        &mut self,
        loss: &Surrogate,
        feature: usize,
        step: Step,
    ) -> Result<(Vec<(usize, f64)>, Outcome, f64, f64), DomainError> {
        let count = match self.booster.leverage {
            Leverage::One => 1,
            Leverage::Some(k) => k,
            Leverage::All => usize::MAX,
        };
        // A feature that never errs is capped by itself: in company it would be pushed to infinity all the same.
        if count == 1 || self.columns.len() == 1 || step.outcome == Outcome::Separable {
            return Ok((vec![(feature, step.delta)], step.outcome, step.residual, step.delta));
        }
        // This feature, and the newest of the others.
        let others = (0..self.columns.len()).rev().filter(|other| *other != feature);
        let mut set: Vec<usize> = others.take(count - 1).collect();
        set.push(feature);
        set.sort_unstable();
        let columns: Vec<&[f64]> = set.iter().map(|t| self.columns[*t].as_slice()).collect();
        let found =
            block::leverages(loss, &self.state.u, &columns, self.state.c, self.booster.separable)?;
        self.change.copy_from_slice(&found.change);
        let changes: Vec<(usize, f64)> = set.iter().copied().zip(found.delta).collect();
        let own = changes.iter().find(|(t, _)| *t == feature).map_or(0.0, |(_, delta)| *delta);
        Ok((changes, found.outcome, found.residual, own))
    }

    /// The scores from the leverages: rounding does not pile up.
    fn refresh(&mut self, table: &Table, loss: &Surrogate) {
        self.state.u.fill(0.0);
        for (hypothesis, &alpha) in self.hypotheses.iter().zip(&self.alpha) {
            if alpha != 0.0 {
                hypothesis.values(table, &mut self.h);
                for ((u, h), y) in self.state.u.iter_mut().zip(&self.h).zip(self.state.y) {
                    *u -= alpha * y * h;
                }
            }
        }
        self.state.weigh(loss);
    }

    /// What is watched after the round.
    fn judge(
        &mut self,
        loss: &Surrogate,
        changes: &[(usize, f64)],
        factor: f64,
        surrogate: f64,
    ) -> (f64, f64) {
        let Some(held) = &mut self.held else { return (surrogate, 0.0) };
        for &(feature, delta) in changes {
            for (u, m) in held.u.iter_mut().zip(&held.columns[feature]) {
                *u += delta * m;
            }
        }
        if factor != 1.0 {
            held.u.iter_mut().for_each(|u| *u *= factor);
        }
        judge(self.booster.stop.watched, loss, held.set.labels, &held.u)
    }

    fn finish(mut self) -> Ensemble {
        let kept = if self.held.is_some() { self.watch.round } else { self.rounds.len() };
        let features = self.hypotheses.len();
        let mut alpha = self.path.leverages(kept, features);
        if let Some((feature, delta)) = self.alone {
            alpha.fill(0.0);
            alpha[feature] = delta;
        }
        // Features of forgotten rounds are forgotten as well.
        let used: Vec<bool> = {
            let mut used = vec![false; features];
            let steps = self.rounds.iter().take(kept);
            steps.for_each(|round| used[round.feature] = true);
            used
        };
        let last = used.iter().rposition(|used| *used).map_or(0, |last| last + 1);
        alpha.truncate(last);
        self.hypotheses.truncate(last);
        let booster = self.booster;
        let mut best = (0, f64::INFINITY);
        for (at, loss) in booster.bag.iter().enumerate() {
            let value = if booster.bag.len() == 1 {
                0.0
            } else {
                self.state.weigh(loss);
                self.state.normalised(loss)
            };
            if value < best.1 {
                best = (at, value);
            }
        }
        Ensemble {
            hypotheses: self.hypotheses,
            alpha,
            loss: booster.bag[best.0.min(booster.bag.len() - 1)].clone(),
            rounds: self.rounds,
            kept,
            ended: self.ended,
        }
    }
}

/// The share of scores on the wrong side, weighted; 0 is positive.
pub fn error_of(scores: &[f64], labels: &[f64], weights: Option<&[f64]>) -> f64 {
    let (mut wrong, mut total) = (0.0, 0.0);
    for (row, (&h, &y)) in scores.iter().zip(labels).enumerate() {
        let c = weights.and_then(|weights| weights.get(row)).copied().unwrap_or(1.0);
        total += c;
        if (h >= 0.0) != (y > 0.0) {
            wrong += c;
        }
    }
    wrong / Real::max(total, f64::MIN_POSITIVE)
}
