//! # The learner
//! One round: the experts speak, the learner predicts their weighted mean, the outcome comes, all lose, the weights move.

mod saved;

use super::promise::{self, Promise};
use super::self_tuned::SelfTuned;
use super::{Combination, Kind, Rule, Settings};
use crate::Real;
use crate::certify::weights::Weights;
use crate::certify::{Bound, Certificate, Comparator, Contradiction, FirstOrder, Status};
use crate::error::{self, Allowed, ConfigError, DomainError};
use crate::geometry::Event;
use crate::loss::Loss;
use crate::row::Dense;
use crate::sum::Sum;
use crate::update::Round;

/// What one round did.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Play {
    /// The weighted mean of what the experts said.
    pub prediction: f64,
    /// What the learner lost.
    pub loss: f64,
    /// How many experts spoke.
    pub awake: usize,
}

/// A certificate with its comparator: everything about it is known.
#[derive(Debug, Clone, PartialEq)]
pub struct Standing {
    /// The theorem, its status and its bound on the regret.
    pub certificate: Certificate,
    /// What the comparator lost.
    pub comparator_loss: f64,
    /// The learner's loss less that.
    pub regret: f64,
    /// The first-order certificate against the same comparator.
    pub first_order: Certificate,
    /// No less than what rounding has done to the regret: that of the losses, and of the predictions of the comparator.
    pub rounding: f64,
}

impl Standing {
    /// Compares the regret with both bounds: all three are known.
    pub fn check(&self) -> Result<(), Contradiction> {
        self.certificate.check(self.regret, self.rounding)?;
        self.first_order.check(self.regret, self.rounding)
    }

    /// The same standing, if it does not contradict itself.
    pub fn checked(self) -> Result<Self, Contradiction> {
        self.check().map(|()| self)
    }
}

#[derive(Debug, Clone)]
enum Engine {
    /// It is its own theorem.
    SelfTuned(SelfTuned),
    /// A constant rate; with a budget, in epochs.
    Constant { weights: Weights, rate: f64, promise: Box<Promise>, budget: Option<f64> },
}

/// Experts, and the weights that the learner gives them.
///
/// ```
/// use geowalk::certify::Status;
/// use geowalk::experts::{Experts, Kind, Settings};
/// use geowalk::loss::{AnyLoss, Squared};
///
/// // The second of two forecasters is right.
/// let mut experts = Experts::new(2, Settings::new(Kind::Forecasts(AnyLoss::from(Squared))))?;
/// for t in 0..100 {
///     let y = f64::from(t % 7);
///     experts.learn(&[y + 1.0, y], y)?;
/// }
/// let standing = experts.against_expert(1);
/// assert!(experts.weights()[1] > 0.99 && standing.certificate.status == Status::Valid);
/// assert!(standing.regret <= standing.certificate.bound);
/// # Ok::<(), geowalk::ConfigError>(())
/// ```
#[derive(Debug, Clone)]
pub struct Experts {
    settings: Settings,
    engine: Engine,
    n: usize,
    loss: Sum,
    first: FirstOrder,
    sums: Vec<Sum>,
    /// For each expert, the rounds in which it spoke, and what it lost in them.
    spoken: Vec<Sum>,
    /// What the even mixture of those that spoke lost.
    even: Sum,
    /// For each expert, the bounds on the regret in the epochs that are over.
    past: Vec<f64>,
    epochs: u64,
    /// Rounds before the present epoch.
    began: u64,
    /// What broke in an epoch that is over.
    void: Option<(Certificate, u64)>,
    w: Vec<f64>,
    logs: Vec<f64>,
    row: Vec<f64>,
    losses: Vec<f64>,
    /// The losses of the last round, as they are.
    lost: Vec<f64>,
}

impl Experts {
    /// n experts, trusted alike at the beginning.
    pub fn new(n: usize, mut settings: Settings) -> Result<Self, ConfigError> {
        error::parameter("experts", n as f64, Allowed::Whole(1))?;
        error::parameter("share", settings.share, Allowed::ClosedOpen(0.0, 1.0))?;
        if let Some((lo, hi)) = settings.range {
            error::parameter("the lower end of the range", lo, Allowed::Finite)?;
            error::parameter("the upper end of the range", hi, Allowed::Open(lo, f64::MAX))?;
        }
        let engine = if let Some(own) = SelfTuned::of(&settings, n)? {
            Engine::SelfTuned(own)
        } else {
            let (rate, budget) = promise::tuned(&settings, n)?;
            Engine::Constant {
                weights: Weights::new(n),
                rate,
                promise: Box::new(Promise::new(&settings, n, rate)?),
                budget,
            }
        };
        if matches!(&engine, Engine::Constant { promise, .. } if matches!(**promise, Promise::Mixture(_)))
        {
            // The mixture takes logarithms as they are.
            settings.range = None;
        }
        let first = FirstOrder::new(&settings.kind.loss().facts());
        let mut experts = Self {
            settings,
            engine,
            n,
            loss: Sum::default(),
            first,
            sums: vec![Sum::default(); n],
            spoken: vec![Sum::default(); n],
            even: Sum::default(),
            past: vec![0.0; n],
            epochs: 1,
            began: 0,
            void: None,
            w: Vec::new(),
            logs: Vec::new(),
            row: Vec::new(),
            losses: Vec::new(),
            lost: Vec::new(),
        };
        experts.refresh();
        Ok(experts)
    }

    /// The weights, summing to 1.
    pub fn weights(&self) -> &[f64] {
        &self.w
    }

    /// The rate of the next round; infinite while an adaptive one knows nothing.
    pub fn rate(&self) -> f64 {
        match &self.engine {
            Engine::SelfTuned(own) => own.rate(),
            Engine::Constant { rate, .. } => *rate,
        }
    }

    /// Rounds played.
    pub fn rounds(&self) -> u64 {
        self.loss.count()
    }

    /// How many epochs a doubling scheme has begun; 1 for all others.
    pub fn epochs(&self) -> u64 {
        self.epochs
    }

    /// What the learner lost.
    pub fn loss(&self) -> f64 {
        self.loss.total()
    }

    /// What expert i lost. In rounds in which it did not speak it loses what the learner loses.
    pub fn loss_of(&self, i: usize) -> f64 {
        self.sums.get(i).map_or(f64::NAN, Sum::total)
    }

    /// In how many rounds expert i spoke, and what it lost in them. `None` for a game that was saved before this
    /// was counted.
    pub fn spoken(&self, i: usize) -> Option<(u64, f64)> {
        let own = self.spoken.get(i).filter(|_| self.even.count() == self.rounds())?;
        Some((own.count(), own.total()))
    }

    /// What the even mixture of the experts that spoke lost, round by round. `None` for a game that was saved
    /// before this was counted.
    pub fn even_loss(&self) -> Option<f64> {
        (self.even.count() == self.rounds()).then(|| self.even.total())
    }

    /// The theorem against the even mixture, which is a fixed combination only if every expert spoke in every
    /// round. `None` otherwise, and for rules that have no theorem about combinations.
    pub fn against_even(&self) -> Option<Standing> {
        let everywhere = |i| self.spoken(i).is_some_and(|(rounds, _)| rounds == self.rounds());
        let loss = self.even_loss().filter(|_| (0..self.n).all(everywhere))?;
        let w = vec![1.0 / self.n as f64; self.n];
        self.against(&Combination { w, loss, gap: 0.0 })
    }

    /// The expert that lost least, the first of equals.
    pub fn best(&self) -> usize {
        (0..self.n).fold(0, |best, i| if self.loss_of(i) < self.loss_of(best) { i } else { best })
    }

    /// What the experts said in the last round, as probabilities of what happened where outcomes are uncertain; the learner's own prediction for those that did not speak.
    pub fn last_row(&self) -> &[f64] {
        &self.row
    }

    /// The weighted mean of those that speak; NaN says nothing. `None` if nobody speaks.
    pub fn predict(&self, row: &[f64]) -> Option<f64> {
        // Relative to the largest weight of those that speak, which may be too small to be represented.
        let spoken = || row.iter().zip(&self.logs).filter(|(x, _)| !x.is_nan());
        let first = spoken().next()?;
        let (middle, top) = spoken().fold(first, |a, b| if *b.1 > *a.1 { b } else { a });
        // Seen from what that one says: if all say the same, so does the mean.
        let (mut sum, mut weight) = (0.0, 0.0);
        for (x, log) in spoken() {
            let w = if log == top { 1.0 } else { Real::exp(log - top) };
            sum += w * (x - middle);
            weight += w;
        }
        let mean = middle + sum / weight;
        if mean.is_finite() {
            return Some(mean);
        }
        // A difference that is too large for a number.
        let parts = spoken().map(|(x, log)| if log == top { *x } else { Real::exp(log - top) * x });
        Some(parts.map(|part| part / weight).sum())
    }

    /// Predicts, then learns. `row` is what the experts lost or said (NaN: nothing), `y` the outcome where there is one. `None`, and nothing learned, if nobody spoke.
    pub fn learn(&mut self, row: &[f64], y: f64) -> Result<Option<Play>, DomainError> {
        if row.len() != self.n {
            let what = "the row of experts";
            return Err(DomainError::Dimension { what, found: row.len(), expected: self.n });
        }
        let allowed = self.settings.kind.allowed();
        if let Some((index, &value)) =
            row.iter().enumerate().find(|(_, x)| !x.is_nan() && !allowed.contains(**x))
        {
            return Err(DomainError::Coordinate {
                what: "the row of experts",
                index,
                value,
                allowed,
            });
        }
        let Some(prediction) = self.predict(row) else { return Ok(None) };
        self.settings.kind.check_outcome(y)?;
        self.row.clear();
        self.row.extend(row.iter().map(|x| self.settings.kind.oriented(*x, y)));
        let z = self.settings.kind.oriented(prediction, y);
        let loss = self.settings.kind.loss().value(z, y);
        if !loss.is_finite() {
            let what = "the loss of the weighted mean";
            return Err(DomainError::Scalar { what, value: loss, allowed: Allowed::Finite });
        }
        self.losses.clear();
        let awake = row.iter().filter(|x| !x.is_nan()).count();
        let heard = self.row.iter().filter(|x| !x.is_nan());
        let even = heard.fold(0.0, |sum, x| sum + (x - z)) / awake as f64;
        self.even.add(self.settings.kind.loss().value(z + even, y));
        for (x, spoken) in self.row.iter_mut().zip(&mut self.spoken) {
            // An expert that does not speak loses what the learner loses.
            if x.is_nan() {
                self.losses.push(loss);
                *x = z;
            } else {
                let own = self.settings.kind.loss().value(*x, y);
                self.losses.push(own);
                spoken.add(own);
            }
        }
        self.loss.add(loss);
        self.lost.clone_from(&self.losses);
        for (sum, loss) in self.sums.iter_mut().zip(&self.losses) {
            sum.add(*loss);
        }
        self.advance(z, loss, y);
        Ok(Some(Play { prediction, loss, awake }))
    }

    /// Moves the weights after a round.
    fn advance(&mut self, z: f64, loss: f64, y: f64) {
        let slope = self.settings.kind.loss().slope(z, y);
        let mean = |losses: &[f64]| losses.iter().zip(&self.w).map(|(l, w)| l * w).sum::<f64>();
        let own = mean(&self.losses);
        let within = loss > own && self.is_rounding(z, y, own);
        let (length, event) = (0.0, Event::Inside);
        let seen = Round { z, loss, slope, rate: 0.0, length, event };
        self.first.observe(&seen, Dense(&self.row));
        let gradients = self.settings.rule.uses_gradients();
        let (lo, hi) = self.settings.range.unwrap_or((0.0, 1.0));
        match &mut self.engine {
            Engine::SelfTuned(own) if own.reads_forecasts() => own.observe(&seen, &self.row),
            Engine::SelfTuned(own) => {
                let rate = own.rate();
                if self.settings.rule == Rule::Eg {
                    // Linearised: expert i loses g·x_i.
                    for (loss, x) in self.losses.iter_mut().zip(&self.row) {
                        *loss = slope * x;
                    }
                    let loss = slope * z;
                    let round = Round { z: loss, loss, slope: 1.0, rate, length, event };
                    own.observe(&round, &self.losses);
                } else {
                    let z = mean(&self.losses);
                    let loss = if within { Real::min(loss, z) } else { loss };
                    let round = Round { z, loss, slope: 1.0, rate, length, event };
                    own.observe(&round, &self.losses);
                }
            }
            Engine::Constant { weights, rate, promise, .. } => {
                let rate = *rate;
                for loss in &mut self.losses {
                    *loss = (*loss - lo) / (hi - lo);
                }
                let (z_scaled, loss_scaled) = (mean(&self.losses), (loss - lo) / (hi - lo));
                // Both are rounded: that the mean of equal losses is not above them is no violation.
                let above = loss_scaled - z_scaled;
                let little = above <= 1e-13 * (1.0 + (lo / (hi - lo)).abs());
                let rounding = above > 0.0 && (little || within);
                let scaled = Round {
                    z: if rounding { loss_scaled } else { z_scaled },
                    loss: loss_scaled,
                    slope: 1.0,
                    rate,
                    length,
                    event,
                };
                let round = Round { z, loss, slope, rate, length, event };
                promise.observe(&round, &scaled, &self.losses, &self.row);
                let settings = &self.settings;
                let logs = self
                    .losses
                    .iter()
                    .zip(&self.row)
                    .map(|(loss, x)| promise::logarithm(settings, rate, *loss, *x, slope));
                weights.multiply(logs, settings.share);
            }
        }
        // What every expert lost is known: a loss that only says that it is convex is found out.
        for (x, lost) in self.row.iter().zip(&self.lost) {
            self.first.compare(&seen, *x, *lost);
            match &mut self.engine {
                Engine::SelfTuned(own) if gradients => own.compare(&seen, *x, *lost),
                Engine::Constant { promise, .. } => promise.compare(&seen, *x, *lost),
                Engine::SelfTuned(_) => {}
            }
        }
        self.epoch();
        self.refresh();
    }

    /// Is it rounding of the prediction z, if its loss is above `mean`? A prediction next to it then loses no more.
    fn is_rounding(&self, z: f64, y: f64, mean: f64) -> bool {
        let size = self.row.iter().fold(z.abs(), |size, x| Real::max(size, x.abs()));
        let step = 8.0 * f64::EPSILON * size;
        let loss = self.settings.kind.loss();
        [z - step, z + step].iter().any(|z| loss.value(*z, y) <= mean)
    }

    /// Begins a new epoch of a doubling scheme once every expert has lost more than the budget.
    fn epoch(&mut self) {
        let Engine::Constant { promise, budget: Some(budget), .. } = &self.engine else { return };
        let Some((_, least)) = promise.losses().and_then(crate::certify::Losses::best) else {
            return;
        };
        if least <= *budget {
            return;
        }
        let next = 4.0 * budget;
        for i in 0..self.n {
            let (certificate, bound) = self.of_epoch(i);
            self.past[i] = (self.past[i] + bound).next_up();
            if self.void.is_none() && certificate.status != Status::Valid {
                self.void = Some((certificate, self.began));
            }
        }
        self.began = self.loss.count();
        let settings = &self.settings;
        let Ok(rate) = promise::rate(settings, self.n, next) else { return };
        let Ok(promise) = Promise::new(settings, self.n, rate) else { return };
        let (weights, promise) = (Weights::new(self.n), Box::new(promise));
        self.engine = Engine::Constant { weights, rate, promise, budget: Some(next) };
        self.epochs += 1;
    }

    /// The certificate of the present epoch against expert i, and its bound in the units of the loss.
    fn of_epoch(&self, i: usize) -> (Certificate, f64) {
        let mut u = vec![0.0; self.n];
        if let Some(place) = u.get_mut(i) {
            *place = 1.0;
        }
        self.certify(&u, self.loss_of(i))
    }

    fn certify(&self, u: &[f64], loss: f64) -> (Certificate, f64) {
        let (lo, hi) = self.settings.range.unwrap_or((0.0, 1.0));
        let (certificate, scaled) = match &self.engine {
            Engine::SelfTuned(own) => (own.certify(&Comparator::Given(u)), false),
            Engine::Constant { promise, .. } => promise.certify(&Comparator::Given(u), loss),
        };
        let bound = certificate.bound * if scaled { hi - lo } else { 1.0 };
        (certificate, bound.next_up())
    }

    fn refresh(&mut self) {
        match &self.engine {
            Engine::SelfTuned(own) => own.read(&mut self.w, &mut self.logs),
            Engine::Constant { weights, .. } => {
                self.w.clear();
                self.w.extend_from_slice(weights.read());
                self.logs.clear();
                self.logs.extend_from_slice(weights.logarithms());
            }
        }
    }

    /// The theorem against expert i.
    pub fn against_expert(&self, i: usize) -> Standing {
        let (certificate, bound) = self.of_epoch(i);
        let past = self.past.get(i).copied().unwrap_or(f64::NAN);
        let mut u = vec![0.0; self.n];
        if let Some(place) = u.get_mut(i) {
            *place = 1.0;
        }
        let first = self.first.certify(&Comparator::Given(&u));
        self.standing(certificate, past + bound, self.loss_of(i), first)
    }

    /// The theorem against a sequence of experts with `switches` switches that lost `loss`; `None` for rules and rates that have none. There is no first-order
    /// certificate against sequences: that field is void.
    pub fn against_sequence(&self, loss: f64, switches: u64) -> Option<Standing> {
        let (lo, hi) = self.settings.range.unwrap_or((0.0, 1.0));
        let (certificate, scaled) = match &self.engine {
            Engine::SelfTuned(own) => (own.switching(switches)?, false),
            Engine::Constant { promise, budget: None, .. } => {
                let scaled = (loss - lo * self.loss.count() as f64) / (hi - lo);
                promise.switching(scaled, switches)?
            }
            Engine::Constant { .. } => return None,
        };
        let bound = certificate.bound * if scaled { hi - lo } else { 1.0 };
        if bound == f64::INFINITY && certificate.status == Status::Valid {
            return None; // without a share no theorem speaks of sequences
        }
        let none = self.first.certify(&Comparator::Given(&[f64::NAN]));
        Some(self.standing(certificate, bound.next_up(), loss, none))
    }

    /// What the experts lost in the last round.
    pub fn last_losses(&self) -> &[f64] {
        &self.lost
    }

    /// The theorem against a convex combination of forecasts; `None` for rules that have none.
    pub fn against(&self, best: &Combination) -> Option<Standing> {
        if !self.settings.rule.uses_gradients() {
            return None;
        }
        let (certificate, bound) = self.certify(&best.w, best.loss);
        let first = self.first.certify(&Comparator::Given(&best.w));
        Some(self.standing(certificate, bound, best.loss, first))
    }

    fn standing(
        &self,
        certificate: Certificate,
        bound: f64,
        comparator_loss: f64,
        first_order: Certificate,
    ) -> Standing {
        let (mut certificate, began) = self.void.clone().unwrap_or((certificate, self.began));
        if let Status::Void(broken) = &mut certificate.status
            && broken.row > 0
        {
            broken.row += began;
        }
        certificate.loss = self.loss();
        certificate.rounds = self.loss.count();
        certificate.bound =
            if certificate.status == Status::Valid { bound.next_up() } else { f64::NAN };
        let regret = certificate.loss - comparator_loss;
        // A prediction is a sum of n products, and its error counts as much as the slope there.
        let size = self.first.magnitude() + certificate.loss.abs() + comparator_loss.abs();
        let rounding = 8.0 * (self.n as f64 + 4.0) * f64::EPSILON * size;
        Standing { certificate, comparator_loss, regret, first_order, rounding }
    }
}

impl Kind {
    /// Which values a row may have.
    fn allowed(&self) -> Allowed {
        match self {
            Self::Losses | Self::Forecasts(_) => Allowed::Finite,
            Self::Probabilities => Allowed::Closed(0.0, 1.0),
            Self::Relatives => Allowed::NonNegative,
        }
    }

    fn check_outcome(&self, y: f64) -> Result<(), DomainError> {
        let allowed = match self {
            Self::Forecasts(loss) => loss.facts().labels,
            // Without an outcome the row has the probabilities of what happened.
            Self::Probabilities if !y.is_nan() && y != 0.0 && y != 1.0 => Allowed::Whole(0),
            _ => return Ok(()),
        };
        let binary = matches!(self, Self::Probabilities);
        if allowed.contains(y) && !binary {
            return Ok(());
        }
        let what = if binary { "the outcome (0 or 1)" } else { "the outcome" };
        Err(DomainError::Scalar { what, value: y, allowed })
    }

    /// The probability of what happened, where 0 or 1 did.
    fn oriented(&self, x: f64, y: f64) -> f64 {
        match self {
            Self::Probabilities if y == 0.0 => 1.0 - x,
            _ => x,
        }
    }
}
