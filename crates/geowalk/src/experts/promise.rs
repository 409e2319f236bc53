//! # Which theorem a rule has
//! The rules in their common form (a factor for each weight), the rates that their theorems prescribe, and the bound that watches them.

use super::{Kind, PRICES, Rule, Settings, Tuning};
use crate::Real;
use crate::certify::{
    Bound, Broken, Certificate, Comparator, Divergence, Hedge, Ledger, Losses, Mixture, Prod,
    ReparamHedge, Start, Status, rules,
};
use crate::error::{Allowed, ConfigError, parameter};
use crate::row::Dense;
use crate::update::Round;

/// What the names of saved arrays begin with, for the first and for the second theorem of a ledger.
const SECOND: [&str; 2] = ["", "squared."];

/// The bounds that watch a rule at a constant rate.
#[derive(Debug, Clone)]
pub(super) enum Promise {
    Hedge(Hedge),
    ReparamHedge(ReparamHedge),
    Prod(Prod),
    Mixture(Mixture),
    /// Rules on gradients.
    Ledger(Ledger),
    /// No theorem is known, for this reason.
    None(&'static str),
}

impl Promise {
    /// The theorem of a rule at this rate.
    pub(super) fn new(settings: &Settings, n: usize, rate: f64) -> Result<Self, ConfigError> {
        let (start, share) = (vec![1.0 / n as f64; n], settings.share);
        let logarithmic = settings.kind.is_logarithmic();
        Ok(match settings.rule {
            Rule::Hedge if logarithmic && rate == 1.0 => {
                Self::Mixture(Mixture::new(&start, share)?)
            }
            Rule::Hedge => Self::Hedge(Hedge::new(&start, share)?),
            Rule::ReparamHedge => Self::ReparamHedge(ReparamHedge::new(&start, share)?),
            Rule::Prod => Self::Prod(Prod::new(&start, share)?),
            Rule::MlPoly | Rule::Boa => Self::None("no theorem is known for a constant rate"),
            Rule::Eg | Rule::ReparamEg if share > 0.0 => {
                Self::None("no theorem is known for shares with gradients")
            }
            Rule::Eg => {
                let facts = settings.kind.loss().facts();
                let ledger = Ledger::new(Divergence::Entropy, Start::Given(start))?;
                Self::Ledger(ledger.with(&rules::LINEAR_EG, &facts).with(&rules::EG, &facts))
            }
            Rule::ReparamEg => Self::Ledger(Ledger::reparam_eg(&start, settings.middle())?),
        })
    }

    /// Sees a round; `losses` are the experts' (scaled to [0, 1]), `row` what they said.
    pub(super) fn observe(&mut self, round: &Round, scaled: &Round, losses: &[f64], row: &[f64]) {
        match self {
            Self::Hedge(bound) => bound.observe(scaled, Dense(losses)),
            Self::ReparamHedge(bound) => bound.observe(scaled, Dense(losses)),
            Self::Prod(bound) => bound.observe(scaled, Dense(losses)),
            Self::Mixture(bound) => bound.observe(round, Dense(row)),
            Self::Ledger(bound) => bound.observe(round, Dense(row)),
            Self::None(_) => {}
        }
    }

    /// In the round that was just seen an expert said x and lost `loss`: what a convex loss could not be.
    pub(super) fn compare(&mut self, round: &Round, x: f64, loss: f64) {
        if let Self::Ledger(bound) = self {
            bound.compare(round, x, loss);
        }
    }

    /// What the experts lost since the promise began, where it counts that.
    pub(super) fn losses(&self) -> Option<&Losses> {
        match self {
            Self::Hedge(bound) => Some(bound.losses()),
            Self::ReparamHedge(bound) => Some(bound.losses()),
            Self::Prod(bound) => Some(bound.losses()),
            Self::Mixture(bound) => Some(bound.losses()),
            _ => None,
        }
    }

    /// Gives away everything that changes, as named arrays.
    pub(super) fn save(&self, put: &mut dyn FnMut(String, &[f64])) {
        let mut own = |name: &'static str, values: &[f64]| put(format!("promise.{name}"), values);
        match self {
            Self::Hedge(bound) => bound.save(&mut own),
            Self::ReparamHedge(bound) => bound.save(&mut own),
            Self::Prod(bound) => bound.save(&mut own),
            Self::Mixture(bound) => bound.save(&mut own),
            Self::Ledger(bound) => bound.save_all(&mut |j, name, values| {
                put(format!("promise.{}{name}", SECOND[j.min(1)]), values);
            }),
            Self::None(_) => {}
        }
    }

    /// Continues from what [`Promise::save`] gave.
    pub(super) fn load(
        &mut self,
        get: &mut dyn FnMut(&str) -> Option<Vec<f64>>,
    ) -> Result<(), ConfigError> {
        let mut own = |name: &'static str| get(&format!("promise.{name}"));
        match self {
            Self::Hedge(bound) => bound.load(&mut own),
            Self::ReparamHedge(bound) => bound.load(&mut own),
            Self::Prod(bound) => bound.load(&mut own),
            Self::Mixture(bound) => bound.load(&mut own),
            Self::Ledger(bound) => {
                bound.load_all(&mut |j, name| get(&format!("promise.{}{name}", SECOND[j.min(1)])))
            }
            Self::None(_) => Ok(()),
        }
    }

    /// Against a sequence of experts with so many switches that lost `loss` (scaled); `None` for rules on gradients.
    pub(super) fn switching(&self, loss: f64, switches: u64) -> Option<(Certificate, bool)> {
        match self {
            Self::Hedge(bound) => Some((bound.switching(loss, switches), true)),
            Self::ReparamHedge(bound) => Some((bound.switching(loss, switches), true)),
            Self::Prod(bound) => Some((bound.switching(loss, switches), true)),
            Self::Mixture(bound) => Some((bound.switching(switches), false)),
            _ => None,
        }
    }

    /// The tighter valid certificate against `u`, which lost `loss`; and is its bound in scaled units?
    pub(super) fn certify(&self, u: &Comparator<'_>, loss: f64) -> (Certificate, bool) {
        match self {
            Self::Hedge(bound) => (bound.certify(u), true),
            Self::ReparamHedge(bound) => (bound.certify(u), true),
            Self::Prod(bound) => (bound.certify(u), true),
            Self::Mixture(bound) => (bound.certify(u), false),
            Self::Ledger(bound) => (bound.certify_known(u, loss), false),
            Self::None(premise) => {
                let status = Status::Void(Broken { premise, row: 0, found: f64::NAN });
                let (theorem, rounds, bound) = ("none", 0, f64::NAN);
                (Certificate { theorem, status, rounds, loss: f64::NAN, bound }, false)
            }
        }
    }
}

/// The logarithm of the factor of a weight, for an expert's scaled loss, or its forecast and the slope.
pub(super) fn logarithm(settings: &Settings, rate: f64, loss: f64, x: f64, slope: f64) -> f64 {
    match settings.rule {
        Rule::Hedge => -rate * loss,
        // A weight that would meet 0 shrinks and does not die; the theorems do not allow that rate.
        Rule::ReparamHedge => {
            let factor = (1.0 - rate * loss).abs();
            // An infinite loss must not make the weight infinite.
            let factor = if factor.is_finite() { factor } else { 0.0 };
            2.0 * Real::ln(Real::max(factor, f64::EPSILON))
        }
        Rule::Prod => Real::ln(Real::max(1.0 - rate * loss, f64::EPSILON)),
        Rule::Eg | Rule::MlPoly | Rule::Boa => -rate * slope * x,
        Rule::ReparamEg => {
            let factor = 1.0 - 0.5 * rate * slope * (x - settings.middle());
            2.0 * Real::ln(Real::max(factor.abs(), f64::EPSILON))
        }
    }
}

/// The rate that a tuning prescribes for comparators that lose at most `l` (scaled, for rules on losses).
pub(super) fn rate(settings: &Settings, n: usize, l: f64) -> Result<f64, ConfigError> {
    let d = Real::ln(n.max(2) as f64);
    parameter("loss", l, Allowed::NonNegative)?;
    Ok(match settings.rule {
        // A loss of 0 would make the rates infinite, or 1.
        Rule::Hedge => Hedge::rate(d, Real::max(l, 1e-300)),
        Rule::ReparamHedge => Real::min(ReparamHedge::rate(d, Real::max(l, 1e-300)), 1.0 - 1e-9),
        Rule::Prod => Prod::rate(d, Real::max(l, 1e-300)),
        Rule::Eg | Rule::MlPoly | Rule::Boa => rules::eg_rate(settings.width()?, d, l),
        Rule::ReparamEg => rules::reparam_eg_rate(0.5 * settings.width()?, d, l),
    })
}

/// The first rate, and the budget of the first epoch if epochs follow each other.
pub(super) fn tuned(settings: &Settings, n: usize) -> Result<(f64, Option<f64>), ConfigError> {
    let gradients = settings.rule.uses_gradients();
    let (lo, hi) = settings.range.unwrap_or((0.0, 1.0));
    Ok(match settings.tuning {
        Tuning::Rate(rate) => {
            parameter("rate", rate, Allowed::Positive)?;
            (rate, None)
        }
        Tuning::Auto if settings.rule == Rule::Hedge && settings.kind.is_logarithmic() => {
            (1.0, None)
        }
        Tuning::Auto if settings.rule == Rule::Eg && matches!(settings.kind, Kind::Relatives) => {
            (PRICES, None)
        }
        Tuning::Auto | Tuning::Doubling if gradients => {
            return Err(ConfigError::Missing {
                name: "rate",
                meaning: "this rule needs one: a number, or tuned(loss=L) with the range of the forecasts",
            });
        }
        Tuning::Auto | Tuning::Doubling => {
            let first = Real::max(Real::ln(n.max(2) as f64), 1.0);
            (rate(settings, n, first)?, Some(first))
        }
        Tuning::Tuned { loss } if gradients => (rate(settings, n, loss)?, None),
        Tuning::Tuned { loss } => {
            if lo != 0.0 {
                return Err(ConfigError::OutOfRange {
                    name: "the lower end of the range (for a tuned rate)",
                    value: lo,
                    allowed: Allowed::Closed(0.0, 0.0),
                });
            }
            (rate(settings, n, loss / hi)?, None)
        }
    })
}
