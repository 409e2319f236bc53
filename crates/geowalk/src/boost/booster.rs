//! # Boosting with a weak learner
//! ULS where features are learned: in each round the weak learner is shown the weights, and the loss is minimised over the leverage of what it finds (or of the newest k
//! features, or of all).
//!
//! **Several losses** A bag of losses shares one score H. In each round every loss of the bag makes its whole step from the same H, weights, feature, leverage; the
//! step that is kept is the one after which the training error is smallest ([`Choice::Error`], the F of the paper), or the surrogate on a held-out set
//! ([`Choice::HeldOut`]), or whose normalised edge is largest ([`Choice::Edge`], the E); of equal ones the first of the bag. A [schedule](Booster::schedule) says which loss each round has, where another run has chosen. The paper warns, and experiments confirm, that losses whose scores have different scales do not mix well.
//!
//! **Repeated features** are merged: their leverages add up, so a rule is listed once.
//! **Held-out set** what is kept are the rounds up to its best, see [`stop`](super::stop).
//! **Cost** per round that of the weak learner, and of a [line search](super::line) per loss. **Source** \[NN09, alg. 1, sec. 7\].

use super::block;
use super::chunks::ROWS;
use super::line::{self, Outcome, Separable, Step};
use super::signs;
use super::state::{Along, Edge, REFRESH, Round, State};
use super::stop::{Ended, Path, Stop, Watch, Watched, judge};
use super::surrogate::Surrogate;
use super::table::{Table, TableError};
use super::uls::{Leverage, weighty};
use super::weak::{self, Hypothesis, View, Weak};
use crate::Real;
use crate::error::{Allowed, ConfigError, DomainError};
use crate::halt::Halt;

/// Which step of a bag of losses is kept.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Choice {
    /// That with the smallest training error after it.
    #[default]
    Error,
    /// That with the largest normalised edge.
    Edge,
    /// That with the smallest normalised surrogate on the held-out set after it; without a held-out set as `Error`.
    HeldOut,
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
    /// The loss of the bag that each round has, the last one of all later rounds; empty: `choice` decides.
    pub schedule: Vec<usize>,
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
    /// Weights of its examples; 1 without.
    pub weights: Option<&'a [f64]>,
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
    /// The normalised surrogate on the held-out set after the kept rounds, if there was one.
    pub held_out: Option<f64>,
}

impl Ensemble {
    /// The score H of every row.
    pub fn scores(&self, table: &Table) -> Vec<f64> {
        weak::scores(&self.hypotheses, &self.alpha, table)
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

/// −yh of every example.
enum Feature {
    Values(Vec<f64>),
    /// ±1: it is in `Run::signs`.
    Signs,
}

/// What one loss would do.
struct Proposal {
    hypothesis: Hypothesis,
    m: Feature,
    step: Step,
    /// s where the feature is ±s or 0.
    size: Option<f64>,
    loss: usize,
    edge: Edge,
    /// Error after the step, or minus the normalised edge.
    rank: f64,
}

impl Booster {
    /// One loss, one leverage at a time.
    pub fn new(loss: Surrogate, stop: Stop) -> Self {
        Self {
            bag: vec![loss],
            choice: Choice::Error,
            schedule: Vec::new(),
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
            let rows = held.table.rows();
            length("the list of held-out labels", held.labels.len(), rows)?;
            if let Some(weights) = held.weights {
                let what = "the list of held-out weights";
                crate::error::finite(what, weights, rows)
                    .and_then(|()| crate::error::each(what, weights, Allowed::NonNegative))
                    .and_then(|()| weighty(held.weights))
                    .map_err(ConfigError::from)?;
            }
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
        Ok(run.finish(weak))
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
    crate::error::each("the labels", labels, Allowed::Sign).map_err(ConfigError::from)?;
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
    /// The feature of the round, if it is ±1 and so written.
    signs: Vec<i8>,
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
            signs: Vec::new(),
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
        let (delta, size) = (proposal.step.delta, proposal.size);
        let (changes, outcome, mut residual, leverage) =
            self.leverages(loss, feature, proposal.step).map_err(failed)?;
        let slip = match &proposal.m {
            Feature::Signs => {
                let along = Along { m: &self.signs, delta, size };
                let slip = self.state.advance_along(loss, along, &mut self.change);
                // Measured, where the search may have stopped at a bound.
                residual = self.state.residual.unwrap_or(residual);
                slip
            }
            Feature::Values(m) if changes.len() == 1 => {
                self.state.advance_along(loss, Along { m, delta, size }, &mut self.change)
            }
            Feature::Values(_) => self.state.advance(loss, &self.change),
        };
        for &(feature, delta) in &changes {
            self.alpha[feature] += delta;
        }
        let stops = outcome == Outcome::Separable && booster.separable == Separable::Stop;
        let mut whole = stops;
        if let Feature::Values(m) = proposal.m {
            whole &= m.iter().all(|m| *m != 0.0);
            self.spare.push(m);
        }
        let factor = self.state.renormalise(loss, &mut self.alpha);
        if whole {
            // What is kept is that feature alone, and so is what the round tells of.
            self.alpha.fill(0.0);
            self.alpha[feature] = leverage;
        }
        if whole || round.is_multiple_of(REFRESH) {
            self.refresh(weak, loss);
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
        let alone = booster.bag.len() == 1 && booster.leverage == Leverage::One;
        if alone && weak.has_signs() && self.state.known().is_some() {
            return self.propose_signs(weak);
        }
        let mut best: Option<Proposal> = None;
        let scheduled = booster.schedule.get(self.rounds.len()).or(booster.schedule.last());
        for (at, loss) in booster.bag.iter().enumerate() {
            if scheduled.is_some_and(|own| *own != at) {
                continue;
            }
            if booster.bag.len() > 1 {
                self.state.weigh(loss);
            }
            let State { y, c, ref u, ref w, .. } = self.state;
            let view = View { loss, y, c, u, w };
            let Some(hypothesis) = weak.learn(&view, &mut self.h) else { continue };
            let mut m = self.spare.pop().unwrap_or_default();
            m.clear();
            m.extend(self.h.iter().zip(y).map(|(h, y)| -y * h));
            let Some(proposal) = self.weighed(at, hypothesis, m)? else { continue };
            let (kept, other) = match best.take() {
                Some(old) if proposal.rank < old.rank => (proposal, Some(old)),
                Some(old) => (old, Some(proposal)),
                None => (proposal, None),
            };
            best = Some(kept);
            if let Some(Proposal { m: Feature::Values(m), .. }) = other {
                self.spare.push(m);
            }
        }
        Ok(best)
    }

    /// What a loss of the bag makes of a feature; `None` if that has no edge.
    fn weighed(
        &mut self,
        at: usize,
        hypothesis: Hypothesis,
        m: Vec<f64>,
    ) -> Result<Option<Proposal>, DomainError> {
        let booster = self.booster;
        let edge = self.state.edge(&m);
        let State { c, ref u, .. } = self.state;
        let (known, policy) = (self.state.known(), booster.separable);
        let (step, size) = line::leverage_from(&booster.bag[at], u, &m, c, policy, known)?;
        if self.idle(edge) || step.outcome == Outcome::Flat {
            self.spare.push(m);
            return Ok(None);
        }
        let rank = match (booster.bag.len(), booster.choice) {
            (1, _) => 0.0,
            (_, Choice::Edge) => -(edge.g / edge.sum).abs(),
            (_, Choice::HeldOut) if self.held.is_some() => {
                self.held_after(&booster.bag[at], &hypothesis, step.delta)
            }
            (_, Choice::Error | Choice::HeldOut) => self.error_after(&m, step.delta),
        };
        let m = Feature::Values(m);
        Ok(Some(Proposal { hypothesis, m, step, size, loss: at, edge, rank }))
    }

    fn idle(&self, edge: Edge) -> bool {
        edge.g.abs() <= self.booster.stop.tolerance * edge.sum * edge.largest
    }

    /// The same for a feature of ±1, one loss, the logistic one, and examples that all count 1.
    fn propose_signs(&mut self, weak: &mut dyn Weak) -> Result<Option<Proposal>, DomainError> {
        self.signs.resize(self.state.u.len(), 0);
        let State { c, ref u, ref w, .. } = self.state;
        let found = weak.learn_signs(self.state.signs(), w, &mut self.signs);
        let Some(hypothesis) = found else { return Ok(None) };
        let met = signs::meet(w, self.state.signs(), &mut self.signs);
        let (edge, known) = (met.edge(), self.state.known());
        let Some(known) = known.filter(|_| met.mixed()) else {
            // It never errs, or always: what then happens is decided where that is known.
            let mut m = self.spare.pop().unwrap_or_default();
            m.clear();
            m.extend(self.signs.iter().map(|m| f64::from(*m)));
            return self.weighed(0, hypothesis, m);
        };
        let step = line::leverage_of_signs(u, &self.signs, c, known, met.start())?;
        let (m, size) = (Feature::Signs, Some(1.0));
        let proposal = Proposal { hypothesis, m, step, size, loss: 0, edge, rank: 0.0 };
        Ok(Some(proposal).filter(|_| !self.idle(edge)))
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

    /// The normalised surrogate on the held-out set after a step.
    fn held_after(&self, loss: &Surrogate, hypothesis: &Hypothesis, delta: f64) -> f64 {
        let Some(Held { set, u, .. }) = &self.held else { return f64::INFINITY };
        let mut after = vec![0.0; set.labels.len()];
        hypothesis.values(set.table, &mut after);
        for ((after, u), y) in after.iter_mut().zip(u).zip(set.labels) {
            *after = u - delta * y * *after;
        }
        judge(Watched::Surrogate, loss, set.labels, set.weights, &after).0
    }

    /// The number of the feature, old or new.
    fn feature(&mut self, hypothesis: Hypothesis, m: &Feature) -> usize {
        if let Some(known) = self.hypotheses.iter().position(|known| *known == hypothesis) {
            return known;
        }
        if let (Feature::Values(m), false) = (m, self.booster.leverage == Leverage::One) {
            self.columns.push(m.clone());
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
    fn refresh(&mut self, weak: &dyn Weak, loss: &Surrogate) {
        self.state.u.fill(0.0);
        let used = self.hypotheses.iter().zip(&self.alpha).filter(|(_, alpha)| **alpha != 0.0);
        let State { y, ref mut u, .. } = self.state;
        if weak.has_signs() {
            // Some rows at a time, which stay near while all features are added.
            let mut signs = [0; ROWS];
            for (k, (u, y)) in u.chunks_mut(ROWS).zip(y.chunks(ROWS)).enumerate() {
                for (hypothesis, &alpha) in used.clone() {
                    weak.signs(hypothesis, k * ROWS, &mut signs[..u.len()]);
                    for ((u, h), y) in u.iter_mut().zip(&signs).zip(y) {
                        *u -= alpha * y * f64::from(*h);
                    }
                }
            }
        } else {
            for (hypothesis, &alpha) in used {
                hypothesis.values(weak.table(), &mut self.h);
                for ((u, h), y) in u.iter_mut().zip(&self.h).zip(y) {
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
        let HeldTable { labels, weights, .. } = held.set;
        judge(self.booster.stop.watched, loss, labels, weights, &held.u)
    }

    fn finish(mut self, weak: &dyn Weak) -> Ensemble {
        let kept = if self.held.is_some() { self.watch.round } else { self.rounds.len() };
        let features = self.hypotheses.len();
        let mut alpha = self.path.leverages(kept, features);
        // A held-out set may prefer what was before it.
        self.alone = self.alone.filter(|_| kept == self.rounds.len());
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
        // The loss that is chosen for what is kept, not for what is forgotten.
        let other = kept < self.rounds.len() || self.alone.is_some();
        if let ([first, _, ..], true) = (booster.bag.as_slice(), other) {
            self.alpha.clone_from(&alpha);
            self.refresh(weak, first);
        }
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
            held_out: self.held.is_some().then(|| self.watch.surrogate(booster.stop.watched)),
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
