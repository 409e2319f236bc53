//! # Theorems of each walk
//! The first-order certificate covers every loss that is convex in the prediction. In addition, some walks have
//! theorems, provided that the loss, the rate and the range of predictions meet the conditions of the theorem:
//!
//! | walk | loss | theorems |
//! |---|---|---|
//! | `free` | bounded slope | `free` (no rate) |
//! | `gd`, `perceptron` | convex; squared | `gradient-descent`; and `least-squares` |
//! | `implicit:euclidean` | convex; squared | `proximal-flat`; and `least-squares-implicit` (losses after the steps) |
//! | `mirror:p-norm`, `ols` | convex; smooth and ≥ 0 | `mirror-descent`; and `ols` |
//! | `eg`, `eg+-` | convex; squared | `mirror-steps`, `linear-eg`; and `eg` |
//! | `egu` | convex; squared with `--y-range 0,Y` | `mirror-steps`; `egu` |
//! | `mirror:burg`, `mahalanobis` | convex | `mirror-steps` |
//! | `reparam-egu`, `reparam-eg` | squared (the first with `--y-range 0,Y`) | `reparam-egu`, `reparam-eg` |
//! | `neg` | convex | `natural-eg` |
//! | `winnow`, `reparam-winnow` | the Winnow losses | `winnow`, `reparam-winnow` (mistakes) |
//! | `sphere` | `invariant`, with a comparator known in advance | `null-vector` |
//!
//! All theorems except `free` need one constant rate: a number, or `certified`. The certified rate is prescribed by
//! the theorem from what the user [declares](Declared), or in [epochs](crate::doubling) from the rows seen. If there
//! is no theorem, the certificate gives the reason.

use geowalk::certify::{
    AnyBound, Divergence, FreeBets, Ledger, LedgerRule, Need, NullVector, Prescription, Start,
    Winnow, rules,
};
use geowalk::error::Allowed;
use geowalk::loss::{AnyLoss, Facts};
use geowalk::row::Norm;
use geowalk::{ConfigError, Real};
use serde::{Deserialize, Serialize};

use crate::doubling::{Doubling, Formula, Measure, Rule};
use crate::rate::Rate;

/// Limits of the data that the user declares. If a row violates one, the theorems that use it become void.
#[derive(Debug, Clone, Copy, PartialEq, Default, Serialize, Deserialize)]
#[serde(default)]
pub struct Declared {
    /// The largest norm of a row, in the norm of the theorem; the constant feature is not counted.
    pub x_norm: Option<f64>,
    /// The range of all features.
    pub x_range: Option<(f64, f64)>,
    /// The largest distance of a comparator from the start, in the norm of the walk; for relative entropy, the largest
    /// divergence.
    pub distance: Option<f64>,
    /// The largest total loss of a comparator.
    pub comparator_loss: Option<f64>,
    /// The largest number of examples.
    pub rounds: Option<u64>,
}

/// What the theorems need to know about a walk.
#[derive(Debug, Clone)]
pub(crate) enum Kind {
    /// Steps of a geometry; a ledger evaluates their theorems.
    Steps {
        rules: &'static [&'static LedgerRule],
        divergence: Divergence,
        start: Start,
        /// The middle of a centred twin.
        middle: f64,
    },
    Free {
        lipschitz: f64,
    },
    Winnow {
        margin: f64,
        start: f64,
        twin: bool,
    },
    /// A walk on the unit sphere. Its start is drawn with the seed once the number of features is known.
    Sphere,
    /// No theorem, for this reason.
    Without(&'static str),
}

impl Kind {
    /// Steps from this start.
    pub(crate) fn steps(
        rules: &'static [&'static LedgerRule],
        divergence: Divergence,
        start: Start,
    ) -> Self {
        Self::Steps { rules, divergence, start, middle: 0.0 }
    }

    /// Steps in ℝⁿ from 0.
    pub(crate) fn flat(rules: &'static [&'static LedgerRule]) -> Self {
        Self::steps(rules, Divergence::Euclidean, Start::Given(Vec::new()))
    }

    /// The theorems of the steps.
    fn rules(&self) -> &'static [&'static LedgerRule] {
        if let Self::Steps { rules, .. } = self { rules } else { &[] }
    }
}

const INVARIANT: &str = "its theorem speaks of the loss invariant, <w, x>^2";
const KNOWN: &str = "its theorem speaks of one comparator, orthogonal to every row: geowalk certify MODEL --comparator FILE --data DATA";

/// What is known about a run when it begins.
#[derive(Debug)]
pub(crate) struct Case<'a> {
    pub(crate) kind: &'a Kind,
    pub(crate) loss: &'a AnyLoss,
    /// Whether the classes share one softmax. Then each walk sees only slopes, not losses.
    pub(crate) joint: bool,
    pub(crate) facts: Facts,
    pub(crate) rate: Rate,
    pub(crate) y_range: Option<(f64, f64)>,
    /// U of a two-sided walk.
    pub(crate) scale: Option<f64>,
    pub(crate) intercept: bool,
    pub(crate) declared: Declared,
    /// Start and comparator on the sphere, if they are known.
    pub(crate) known: Option<(Vec<f64>, Vec<f64>)>,
}

const VARIES: &str = "its theorem needs one constant rate: give --rate a number, or certified";
const CLIPPED: &str = "its theorem speaks of predictions that are not clipped: leave --y-range out";
const SQUARED: &str = "its theorem speaks of the squared loss";
const NONNEGATIVE: &str =
    "its theorem for the squared loss speaks of predictions clipped to [0, Y]: give --y-range 0,Y";

const TWO_SIDED: &str = "its theorem has no two-sided form";
const SMOOTH: &str = "its theorem speaks of losses of bounded curvature";

impl Case<'_> {
    /// The theorems, or the reason why there is none.
    pub(crate) fn theorems(&self) -> Result<(Option<AnyBound>, &'static str), ConfigError> {
        let rated = matches!(self.kind, Kind::Steps { .. });
        let constant = matches!(self.rate, Rate::Constant(_) | Rate::Doubling(_));
        match self.kind {
            Kind::Without(reason) => return Ok((None, reason)),
            _ if rated && !constant => return Ok((None, VARIES)),
            _ if !rated && self.y_range.is_some() => return Ok((None, CLIPPED)),
            _ if !rated && self.scale.is_some() => return Ok((None, TWO_SIDED)),
            _ => {}
        }
        let bound = match *self.kind {
            Kind::Steps { rules, ref divergence, ref start, middle } => {
                let ledger = Ledger::new(divergence.clone(), start.clone())?.centred(middle);
                let ledger = match self.scale {
                    Some(scale) => ledger.signed(scale),
                    None => ledger,
                };
                let (ledger, reason) = self.ledger(ledger, rules)?;
                if ledger.is_empty() {
                    return Ok((None, reason));
                }
                AnyBound::Ledger(ledger)
            }
            Kind::Free { lipschitz } => AnyBound::Free(FreeBets::new(1.0, lipschitz, &self.facts)?),
            Kind::Winnow { margin, start, twin } => {
                let new = if twin { Winnow::twin } else { Winnow::new };
                AnyBound::Winnow(new(margin, &[start], &[])?.starting(Start::Each(start)))
            }
            Kind::Sphere => {
                if !matches!(self.loss, AnyLoss::Invariant(_)) {
                    return Ok((None, INVARIANT));
                }
                let Some((start, u)) = &self.known else { return Ok((None, KNOWN)) };
                AnyBound::NullVector(NullVector::new(start, u)?.growing())
            }
            Kind::Without(reason) => return Ok((None, reason)),
        };
        Ok((Some(bound), ""))
    }

    /// The ledger with the theorems that apply to this run, and the reason why the first of the others does not.
    fn ledger(
        &self,
        mut ledger: Ledger,
        rules: &[&'static LedgerRule],
    ) -> Result<(Ledger, &'static str), ConfigError> {
        let mut without = "";
        // The walk reports the same step lengths as gradient descent. Declared limits are checked on the rows.
        let mut trusting = rules.iter().all(|rule| rule.needs(Need::Lengths));
        for rule in rules {
            if let Err(reason) = self.suits(rule) {
                without = if without.is_empty() { reason } else { without };
                continue;
            }
            let declared = match (rule.prescription(), self.kind) {
                (Prescription::Descent, _) if trusting => {
                    let fixed =
                        self.declared.rounds.is_some() && !matches!(self.rate, Rate::Doubling(_));
                    if let Some((z, r)) = self.slope().zip(self.x_norm()?).filter(|_| fixed) {
                        trusting = false;
                        let promised = ledger.with(&rules::PROMISED_DESCENT, &self.facts);
                        ledger = promised.declare([Some(z), Some(r)])?;
                        continue;
                    }
                    [None; 2]
                }
                (Prescription::Eg, _) => [self.width(), None],
                (Prescription::ReparamEg, Kind::Steps { middle, .. }) => {
                    [self.reach(*middle), None]
                }
                (Prescription::Egu, _) => [self.reach(0.0), self.y_range.map(|(_, y)| y)],
                _ => [None; 2],
            };
            ledger = ledger.with(rule, &self.facts).declare(declared)?;
        }
        Ok((if trusting { ledger.trusting_lengths() } else { ledger }, without))
    }

    /// Checks whether a theorem applies to this run. The error is the reason why it does not.
    fn suits(&self, rule: &LedgerRule) -> Result<(), &'static str> {
        let clipped = self.y_range.is_some_and(|(lo, y)| lo == 0.0 && y > 0.0);
        let smooth = !self.joint && self.facts.smooth.is_some_and(|s| s > 0.0);
        match rule {
            _ if self.y_range.is_some() && !rule.needs(Need::Clipped) => Err(CLIPPED),
            _ if rule.needs(Need::Squared) && !self.squared() => Err(SQUARED),
            // Balanced and other smooth losses are ≥ 0. A softmax passes on slopes without losses.
            _ if rule.needs(Need::Smooth) && !smooth => Err(SMOOTH),
            _ if rule.needs(Need::Clipped) && !clipped => Err(NONNEGATIVE),
            _ if rule.needs(Need::OneSided) && self.scale.is_some() => Err(TWO_SIDED),
            _ => Ok(()),
        }
    }

    fn squared(&self) -> bool {
        matches!(self.loss, AnyLoss::Squared(_)) && !self.joint
    }

    /// The bound of the slopes, if the loss has one.
    fn slope(&self) -> Option<f64> {
        self.facts.lipschitz
    }

    /// The declared largest norm of a row, including the constant feature.
    fn x_norm(&self) -> Result<Option<f64>, ConfigError> {
        let own = within(self.declared.x_norm, "--x-norm R", Allowed::Positive)?;
        Ok(own.map(|own| if self.intercept { Real::hypot(own, 1.0) } else { own }))
    }

    /// The declared range of features, including the constant feature and the 0 of absent features.
    fn width(&self) -> Option<f64> {
        let (lo, hi) = self.declared.x_range?;
        let (lo, hi) = (Real::min(lo, 0.0), Real::max(hi, if self.intercept { 1.0 } else { 0.0 }));
        Some(match self.scale {
            Some(scale) => 2.0 * scale * Real::max(-lo, hi),
            None => hi - lo,
        })
    }

    /// The largest distance of a feature from `middle`, under the same assumptions as `width`.
    fn reach(&self, middle: f64) -> Option<f64> {
        let (lo, hi) = self.declared.x_range?;
        let (lo, hi) = (Real::min(lo, 0.0), Real::max(hi, if self.intercept { 1.0 } else { 0.0 }));
        let scale = self.scale.unwrap_or(1.0);
        let most = Real::max(hi, -lo) * scale;
        let (lo, hi) = if self.scale.is_some() { (-most, most) } else { (lo, hi) };
        Some(Real::max(hi - middle, middle - lo))
    }

    /// The prescribed rate and the name of its theorem. The rate is constant if everything that it depends on is
    /// declared.
    pub(crate) fn rate(&self) -> Result<(Rate, &'static str), ConfigError> {
        let rules = self.kind.rules();
        if self.y_range.is_some() && !rules.iter().any(|rule| rule.needs(Need::Clipped)) {
            return Err(refused(CLIPPED));
        }
        if !self.facts.convex && !matches!(self.kind, Kind::Without(_) | Kind::Sphere) {
            return Err(refused("the loss is not convex in the prediction"));
        }
        let distance = within(self.declared.distance, "--distance U", Allowed::Positive)?;
        match *self.kind {
            Kind::Steps { ref divergence, middle, .. } => {
                let mut prescribing =
                    rules.iter().filter(|rule| rule.prescription() != Prescription::None);
                // The theorem for a specific loss comes after the one for any convex loss, so search from the end.
                let suited = prescribing.clone().rfind(|rule| self.suits(rule).is_ok());
                let Some(rule) = suited else {
                    let reason = prescribing.next_back().and_then(|rule| self.suits(rule).err());
                    return Err(refused(reason.unwrap_or(
                        "the theorem of this walk bounds its regret by the steps it has made: it prescribes no rate beforehand",
                    )));
                };
                let rate = self.prescribed(rule.prescription(), divergence, middle, distance)?;
                Ok((rate, rule.theorem().name))
            }
            Kind::Sphere if matches!(self.loss, AnyLoss::Invariant(_)) => {
                let measure = Measure::Norm(Norm::L2);
                let rate = match self.x_norm()? {
                    Some(x) => Rate::Constant(0.5 / (x * x)),
                    None => Rate::Doubling(Doubling { measure, rule: Rule::Each { c: 0.5 } }),
                };
                Ok((rate, "null-vector"))
            }
            Kind::Sphere => Err(refused(INVARIANT)),
            Kind::Without(reason) => Err(refused(reason)),
            Kind::Free { .. } | Kind::Winnow { .. } => Ok((Rate::Constant(1.0), "free")),
        }
    }

    /// The rate prescribed by a theorem, for comparators at this distance.
    fn prescribed(
        &self,
        prescription: Prescription,
        divergence: &Divergence,
        middle: f64,
        distance: Option<f64>,
    ) -> Result<Rate, ConfigError> {
        let loss = self.declared.comparator_loss;
        let loss = within(loss, "--comparator-loss L", Allowed::NonNegative)?;
        let tuned = distance.zip(loss);
        let rounds = self.declared.rounds.map(|k| k.max(1) as f64);
        let (size, q) = match divergence {
            Divergence::PNorm { q } => (Norm::Lp(*q).dual(), *q),
            _ => (Norm::L2, 2.0),
        };
        let norm = Measure::Norm(size);
        Ok(match prescription {
            Prescription::LeastSquares => {
                let formula =
                    tuned.map_or(Formula::Square(0.5), |(w, l)| Formula::LeastSquares(w, l));
                sized(formula, self.x_norm()?, norm, false)
            }
            Prescription::Descent => self.descent(distance, rounds, size, (q - 1.0).sqrt())?,
            Prescription::Smooth => {
                let smooth = self.facts.smooth.unwrap_or(f64::NAN);
                let formula = Formula::Square(0.5 / ((q / (q - 1.0) - 1.0) * smooth));
                sized(formula, self.x_norm()?, norm, false)
            }
            Prescription::Eg => {
                let formula = tuned.map_or(Formula::Square(2.0 / 3.0), |(d, l)| Formula::Eg(d, l));
                sized(formula, self.width(), Measure::Span(self.scale), true)
            }
            Prescription::Entropy => {
                // D/η + ηkZ²R²/8.
                let slope = self.slope().ok_or(refused(
                    "for this loss no theorem prescribes a rate beforehand: its slopes are not bounded",
                ))?;
                if let (Some(r), Some(d), Some(k)) = (self.width(), distance, rounds) {
                    Rate::Constant((8.0 * d / k).sqrt() / (slope * r))
                } else {
                    let rule = Rule::Entropy { d: distance, slope };
                    Rate::Doubling(Doubling { measure: Measure::Span(self.scale), rule })
                }
            }
            Prescription::ReparamEg => {
                let x = self.reach(middle).ok_or(ConfigError::Missing {
                    name: "--x-range LO,HI",
                    meaning: "all features and labels lie between LO and HI: the certified rate depends on it, and a label is not known before it is predicted",
                })?;
                let rate = tuned.map(|(d, l)| rules::reparam_eg_rate(x, d, l));
                Rate::Constant(rate.unwrap_or(1.0 / (6.0 * x * x)))
            }
            Prescription::Egu => {
                let y = self.y_range.map_or(f64::NAN, |(_, y)| y);
                let formula = match tuned {
                    Some((d, l)) => Formula::Egu(y, d, l),
                    None => Formula::Product(1.0 / 3.0, y),
                };
                sized(formula, self.reach(0.0), Measure::Top, true)
            }
            _ => return Err(refused(VARIES)),
        })
    }

    /// c·U/(ZR√K), with rows measured in this norm; or c·U/√B in epochs.
    fn descent(
        &self,
        distance: Option<f64>,
        rounds: Option<f64>,
        norm: Norm,
        c: f64,
    ) -> Result<Rate, ConfigError> {
        let constants = distance.zip(self.slope()).zip(self.x_norm()?.zip(rounds));
        Ok(if let Some(((u, z), (r, k))) = constants {
            Rate::Constant(u * c / (z * r * k.sqrt()))
        } else {
            let rule = Rule::Squares { c, distance };
            Rate::Doubling(Doubling { measure: Measure::Norm(norm), rule })
        })
    }
}

/// The rate for rows of the declared size; without a declaration, in epochs for rows of the sizes seen.
fn sized(formula: Formula, declared: Option<f64>, measure: Measure, restarts: bool) -> Rate {
    match declared {
        Some(x) => Rate::Constant(formula.rate(x)),
        None => Rate::Doubling(Doubling { measure, rule: Rule::Size { formula, restarts } }),
    }
}

/// The error for a rate that no theorem prescribes.
fn refused(meaning: &'static str) -> ConfigError {
    ConfigError::Missing { name: "a theorem that prescribes the rate", meaning }
}

/// A declared value; fails if it is outside the allowed range.
fn within(
    value: Option<f64>,
    name: &'static str,
    allowed: Allowed,
) -> Result<Option<f64>, ConfigError> {
    match value {
        Some(value) if !allowed.contains(value) => {
            Err(ConfigError::OutOfRange { name, value, allowed })
        }
        value => Ok(value),
    }
}
