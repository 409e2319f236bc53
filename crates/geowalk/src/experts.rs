//! # Experts: whom to trust
//! Several experts lose, forecast, or multiply wealth in every round; the learner weighs them and does almost as well as the best of them, or as the best convex
//! combination, whatever happens. The theorems are those of [`certify`](crate::certify), and the comparators are tracked exactly, so the regret itself is known.
//!
//! | a row is | the learner | loses |
//! |---|---|---|
//! | [`Kind::Losses`] | takes expert i with probability w_i | ⟨w, ℓ⟩ |
//! | [`Kind::Forecasts`] | predicts ⟨w, x⟩ | ℓ(⟨w, x⟩, y) |
//! | [`Kind::Probabilities`] | gives what happened the probability ⟨w, x⟩ | −ln⟨w, x⟩ |
//! | [`Kind::Relatives`] | rebalances its wealth to w | −ln⟨w, x⟩ |
//!
//! | rule | factor of w_i | its comparators | rate `auto` |
//! |---|---|---|---|
//! | [`Rule::Hedge`] | $e^{-\eta\ell_i}$ | experts | none: follows the mixability gaps (AdaHedge); 1, the mixture, for probabilities and relatives |
//! | [`Rule::ReparamHedge`] | $(1 - \eta\ell_i)^2$ | experts | epochs of the exact tuning |
//! | [`Rule::Prod`] | $1 - \eta\ell_i$ | experts | epochs |
//! | [`Rule::Eg`] | $e^{-\eta g x_i}$ | convex combinations | none: follows the gaps of the linearised losses; for relatives [`PRICES`] |
//! | [`Rule::ReparamEg`] | $(1 - \tfrac\eta2 g (x_i - m))^2$ | convex combinations | must be given |
//! | [`Rule::MlPoly`], [`Rule::Boa`] | see [`MlPoly`](crate::certify::MlPoly), [`Boa`](crate::certify::Boa) | convex combinations | none: one for each expert |
//!
//! **Prices** A rate that follows the gaps begins by following the leaders, and trading on noise loses wealth. At the
//! small constant rate of \[HSSW98\] the weights stay near the even ones, and against the even mixture, which is
//! the start, the bound is the second term of the theorem alone.
//! **Epochs** The tuned rates need a bound L on the loss of the best expert. The doubling scheme begins with L = ln n, and once every expert has lost more in an epoch
//! it begins a new one with 4L and equal weights. The bound is the sum of the bounds of the epochs, so its price is in it.
//! **Drift** With a share α > 0 a part of the weight is spread evenly after each round, so that no expert falls far behind; the bounds count what that costs, and there are bounds against
//! *sequences* of experts with few switches ([`Sequences`] tracks the best ones).
//! Hedge and EG need no rate then either ([`SharedHedge`](crate::certify::SharedHedge)).
//! **Silence** An expert that says nothing (NaN) loses what the learner loses (under the mixture its weight stays exactly what it is), and regret against it counts the rounds in which it spoke.
//! **Cost** O(n) per round. **Source** \[AW20, sec. 4 and 5\]; \[REGK14\]; \[HW98\].

mod combination;
mod game;
mod promise;
mod self_tuned;
mod sequences;

pub use combination::{Combination, Table, best_combination};
pub use game::{Experts, Play, Standing};
pub use sequences::Sequences;

use crate::Real;
use crate::error::{Allowed, ConfigError};
use crate::loss::{AnyLoss, Facts, Loss};

/// What a row of experts means.
#[derive(Debug, Clone)]
#[expect(clippy::large_enum_variant, reason = "there is one in a game")]
pub enum Kind {
    /// What the experts lost.
    Losses,
    /// What they forecast, and how forecasts are judged.
    Forecasts(AnyLoss),
    /// The probabilities that they gave to the outcome 1 (outcomes 0 or 1), or to what happened (no outcome).
    Probabilities,
    /// Price relatives: today's price over yesterday's.
    Relatives,
}

impl Kind {
    /// The loss of the weighted mean.
    pub fn loss(&self) -> &dyn Loss {
        match self {
            Self::Losses => &Linear,
            Self::Forecasts(loss) => loss,
            Self::Probabilities | Self::Relatives => &Logarithmic,
        }
    }

    fn is_logarithmic(&self) -> bool {
        matches!(self, Self::Probabilities | Self::Relatives)
    }
}

/// How weights move.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Rule {
    /// Hedge, on the experts' losses.
    Hedge,
    /// Its gradient-descent twin, in the scale of its algorithm.
    ReparamHedge,
    /// Prod, on the experts' losses.
    Prod,
    /// EG, on the gradient of the loss of the mean.
    Eg,
    /// Its twin, centred in the range of the forecasts.
    ReparamEg,
    /// ML-Poly, on that gradient: weights ∝ what an expert is ahead, over its squares.
    MlPoly,
    /// BOA, on that gradient: a rate of its own for every expert.
    Boa,
}

impl Rule {
    /// It learns from the gradient of the loss of the mean, so that its comparators are convex combinations.
    pub fn uses_gradients(self) -> bool {
        matches!(self, Self::Eg | Self::ReparamEg | Self::MlPoly | Self::Boa)
    }
}

/// How the rate is found.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum Tuning {
    /// What needs no knowledge.
    Auto,
    /// This rate.
    Rate(f64),
    /// The rate of the theorem for comparators that lose at most this.
    Tuned {
        /// The most that the comparator loses.
        loss: f64,
    },
    /// Epochs with a growing guess of it.
    Doubling,
}

impl Tuning {
    /// As it is spelled.
    fn name(self) -> &'static str {
        match self {
            Self::Auto => "auto",
            Self::Rate(_) => "a number",
            Self::Tuned { .. } => "tuned",
            Self::Doubling => "doubling",
        }
    }
}

/// The rate of EG on price relatives \[HSSW98, sec. 4\].
pub const PRICES: f64 = 0.05;

/// How experts are weighed.
#[derive(Debug, Clone)]
pub struct Settings {
    /// What a row means.
    pub kind: Kind,
    /// How weights move.
    pub rule: Rule,
    /// How the rate is found.
    pub tuning: Tuning,
    /// The part of the weight that is spread evenly after each round.
    pub share: f64,
    /// The range of losses, for rules on losses (0 to 1 if not declared), or of forecasts, for rules on gradients.
    pub range: Option<(f64, f64)>,
}

impl Settings {
    /// Hedge without a rate.
    pub fn new(kind: Kind) -> Self {
        Self { kind, rule: Rule::Hedge, tuning: Tuning::Auto, share: 0.0, range: None }
    }

    /// The middle of the range of forecasts; 0 if none was declared.
    fn middle(&self) -> f64 {
        self.range.map_or(0.0, |(lo, hi)| 0.5 * (lo + hi))
    }

    /// hi − lo.
    fn width(&self) -> Result<f64, ConfigError> {
        let missing = ConfigError::Missing {
            name: "range",
            meaning: "the tuned rate needs the range of the forecasts",
        };
        self.range.map(|(lo, hi)| hi - lo).ok_or(missing)
    }
}

/// The loss −ln z of a probability or of the growth of wealth.
///
/// ```
/// use geowalk::experts::Logarithmic;
/// use geowalk::loss::Loss;
/// assert_eq!((Logarithmic.value(1.0, 0.0), Logarithmic.slope(0.5, 0.0)), (0.0, -2.0));
/// ```
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Logarithmic;

impl Loss for Logarithmic {
    fn spec(&self) -> String {
        "log".to_owned()
    }

    fn value(&self, z: f64, _: f64) -> f64 {
        -Real::ln(z)
    }

    fn slope(&self, z: f64, _: f64) -> f64 {
        -z.recip()
    }

    fn curvature(&self, z: f64, _: f64) -> f64 {
        (z * z).recip()
    }

    fn minimizer(&self, _: f64) -> f64 {
        f64::INFINITY
    }

    fn facts(&self) -> Facts {
        Facts {
            labels: Allowed::Finite,
            predictions: Allowed::Positive,
            convex: true,
            lipschitz: None,
            smooth: None,
            strong: 0.0,
            margin: false,
        }
    }
}

/// The loss z itself: the row is the experts' losses, and the prediction their mean.
///
/// ```
/// use geowalk::experts::Linear;
/// use geowalk::loss::Loss;
/// assert_eq!((Linear.value(0.25, 0.0), Linear.slope(0.25, 0.0)), (0.25, 1.0));
/// ```
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Linear;

impl Loss for Linear {
    fn spec(&self) -> String {
        "linear".to_owned()
    }

    fn value(&self, z: f64, _: f64) -> f64 {
        z
    }

    fn slope(&self, _: f64, _: f64) -> f64 {
        1.0
    }

    fn curvature(&self, _: f64, _: f64) -> f64 {
        0.0
    }

    fn minimizer(&self, _: f64) -> f64 {
        f64::NEG_INFINITY
    }

    fn facts(&self) -> Facts {
        Facts {
            labels: Allowed::Finite,
            predictions: Allowed::Finite,
            convex: true,
            lipschitz: Some(1.0),
            smooth: Some(0.0),
            strong: 0.0,
            margin: false,
        }
    }
}
