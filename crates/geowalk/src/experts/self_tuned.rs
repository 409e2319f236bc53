//! # Rules that are their own theorem
//! They move their weights and keep the sums of their bounds at once.

use super::{Kind, Rule, Settings, Tuning};
use crate::certify::{AdaHedge, Boa, Bound, Certificate, Comparator, MlPoly, SharedHedge};
use crate::error::{Allowed, ConfigError, parameter};
use crate::row::Dense;
use crate::spec;
use crate::update::Round;

#[derive(Debug, Clone)]
pub(super) enum SelfTuned {
    /// Hedge whose rate follows the gaps.
    Ada(Box<AdaHedge>),
    /// The same with shares, or at a rate.
    Shared(Box<SharedHedge>),
    MlPoly(Box<MlPoly>),
    Boa(Box<Boa>),
}

/// The arrays that a game was saved as.
type Get<'a> = &'a mut dyn FnMut(&str) -> Option<Vec<f64>>;

impl SelfTuned {
    /// The rule of these settings, if it is one of them.
    pub(super) fn of(settings: &Settings, n: usize) -> Result<Option<Self>, ConfigError> {
        let (rule, share) = (settings.rule, settings.share);
        let facts = settings.kind.loss().facts();
        if matches!(rule, Rule::MlPoly | Rule::Boa) {
            parameter("share (with ml-poly or boa)", share, Allowed::Closed(0.0, 0.0))?;
            if settings.tuning != Tuning::Auto {
                // Every expert has a rate of its own.
                return Err(spec::unknown(
                    "rate of ml-poly and boa",
                    settings.tuning.name(),
                    ["auto"],
                ));
            }
            return Ok(Some(match rule {
                Rule::MlPoly => Self::MlPoly(Box::new(MlPoly::new(n, &facts))),
                _ => Self::Boa(Box::new(Boa::new(n, &facts))),
            }));
        }
        let rate = match settings.tuning {
            Tuning::Auto if rule == Rule::Eg && matches!(settings.kind, Kind::Relatives) => {
                Some(super::PRICES)
            }
            Tuning::Auto => None,
            Tuning::Rate(rate) if rule == Rule::Eg && share > 0.0 => Some(rate),
            _ => return Ok(None),
        };
        Ok(match rule {
            Rule::Eg if share > 0.0 => {
                let shared = SharedHedge::linearised(n, share, rate, &facts)?;
                Some(Self::Shared(Box::new(shared)))
            }
            Rule::Eg if rate.is_none() => {
                Some(Self::Ada(Box::new(AdaHedge::linearised(n, &facts)?)))
            }
            Rule::Hedge if settings.kind.is_logarithmic() => None,
            Rule::Hedge if share > 0.0 => {
                Some(Self::Shared(Box::new(SharedHedge::new(n, share, None)?)))
            }
            Rule::Hedge => Some(Self::Ada(Box::new(AdaHedge::new(n)?))),
            _ => None,
        })
    }

    /// The rate of the next round; infinite while nothing is known, NaN if every expert has its own.
    pub(super) fn rate(&self) -> f64 {
        match self {
            Self::Ada(rule) => rule.rate(),
            Self::Shared(rule) => rule.rate(),
            Self::MlPoly(_) | Self::Boa(_) => f64::NAN,
        }
    }

    /// w ← the weights of the next round; logs ← their logarithms, up to a common constant.
    pub(super) fn read(&self, w: &mut Vec<f64>, logs: &mut Vec<f64>) {
        let from = |own: &[f64], out: &mut Vec<f64>| {
            out.clear();
            out.extend_from_slice(own);
        };
        match self {
            Self::Ada(rule) => {
                rule.weights(w);
                rule.logarithms(logs);
            }
            Self::Shared(rule) => {
                from(rule.weights(), w);
                from(rule.logarithms(), logs);
            }
            Self::MlPoly(rule) => {
                from(rule.weights(), w);
                logs.clear();
                logs.extend(w.iter().map(|w| crate::Real::ln(*w)));
            }
            Self::Boa(rule) => {
                from(rule.weights(), w);
                from(rule.logarithms(), logs);
            }
        }
    }

    /// Does it learn from what experts said, and not from what they lost?
    pub(super) fn reads_forecasts(&self) -> bool {
        matches!(self, Self::MlPoly(_) | Self::Boa(_))
    }

    pub(super) fn observe(&mut self, round: &Round, row: &[f64]) {
        match self {
            Self::Ada(rule) => rule.observe(round, Dense(row)),
            Self::Shared(rule) => rule.observe(round, Dense(row)),
            Self::MlPoly(rule) => rule.observe(round, Dense(row)),
            Self::Boa(rule) => rule.observe(round, Dense(row)),
        }
    }

    pub(super) fn compare(&mut self, round: &Round, x: f64, loss: f64) {
        match self {
            Self::Ada(rule) => rule.compare(round, x, loss),
            Self::Shared(rule) => rule.compare(round, x, loss),
            Self::MlPoly(rule) => rule.compare(round, x, loss),
            Self::Boa(rule) => rule.compare(round, x, loss),
        }
    }

    pub(super) fn certify(&self, u: &Comparator<'_>) -> Certificate {
        match self {
            Self::Ada(rule) => rule.certify(u),
            Self::Shared(rule) => rule.certify(u),
            Self::MlPoly(rule) => rule.certify(u),
            Self::Boa(rule) => rule.certify(u),
        }
    }

    /// Against sequences of experts with so many switches, where there is a theorem.
    pub(super) fn switching(&self, switches: u64) -> Option<Certificate> {
        match self {
            Self::Shared(rule) => Some(rule.switching(switches)),
            _ => None,
        }
    }

    /// Gives away everything that changes, as named arrays.
    pub(super) fn save(&self, put: &mut dyn FnMut(String, &[f64])) {
        let mut own = |name: &'static str, values: &[f64]| put(format!("ada.{name}"), values);
        match self {
            Self::Ada(rule) => rule.save(&mut own),
            Self::Shared(rule) => rule.save(&mut own),
            Self::MlPoly(rule) => rule.save(&mut own),
            Self::Boa(rule) => rule.save(&mut own),
        }
    }

    /// Continues from what [`SelfTuned::save`] gave.
    pub(super) fn load(&mut self, get: Get<'_>) -> Result<(), ConfigError> {
        let mut own = |name: &'static str| get(&format!("ada.{name}"));
        match self {
            Self::Ada(rule) => rule.load(&mut own),
            Self::Shared(rule) => rule.load(&mut own),
            Self::MlPoly(rule) => rule.load(&mut own),
            Self::Boa(rule) => rule.load(&mut own),
        }
    }
}
