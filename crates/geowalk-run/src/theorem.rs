//! # Which theorem stands beside which walk
//! The first-order certificate is there for every loss that is convex in the prediction. Beside it stands what is promised for the walk itself, if its theorem speaks of the loss, the rate
//! and the range of predictions:
//!
//! | walk | loss | theorems |
//! |---|---|---|
//! | `free` | bounded slope | `free` (no rate) |
//! | `gd`, `perceptron` | convex; squared | `gradient-descent`; and `least-squares` |
//! | `implicit:euclidean` | convex; squared | `proximal-flat`; and `least-squares-implicit`, of the losses after the steps |
//! | `mirror:p-norm`, `ols` | convex; smooth and ≥ 0 | `mirror-descent`; and `ols` |
//! | `eg`, `eg+-` | convex; squared | `mirror-steps`, `linear-eg`; and `eg` |
//! | `egu` | convex; squared with `--y-range 0,Y` | `mirror-steps`; `egu` |
//! | `mirror:burg`, `mahalanobis` | convex | `mirror-steps` |
//! | `reparam-egu`, `reparam-eg` | squared (the first with `--y-range 0,Y`) | `reparam-egu`, `reparam-eg` |
//! | `neg` | convex | `natural-eg` |
//! | `winnow`, `reparam-winnow` | their own | `winnow`, `reparam-winnow`: mistakes |
//! | `sphere` | `invariant`, a comparator that is known beforehand | `null-vector` |
//!
//! All but `free` need one constant rate: a number, or `certified`, the rate that the theorem itself prescribes from what the user [declares](Declared), or in [epochs](crate::doubling) from what the run has
//! seen. Where there is none, the certificate says why.

use geowalk::certify::{
    AnyBound, Divergence, Eg, Egu, FreeBets, GradientDescent, LeastSquares, LinearEg, Metric,
    MirrorSteps, NaturalEg, NullVector, Ols, ReparamEg, Start, Theory, Winnow,
};
use geowalk::error::Allowed;
use geowalk::loss::{AnyLoss, Facts};
use geowalk::row::Norm;
use geowalk::{ConfigError, Real};
use serde::{Deserialize, Serialize};

use crate::doubling::{Doubling, Formula, Measure, Rule};
use crate::rate::Rate;

/// What the user vouches for. A theorem is void as soon as a row refutes it.
#[derive(Debug, Clone, Copy, PartialEq, Default, Serialize, Deserialize)]
#[serde(default)]
pub struct Declared {
    /// No row is longer, in the norm of the theorem; the constant feature not counted.
    pub x_norm: Option<f64>,
    /// All features lie between these.
    pub x_range: Option<(f64, f64)>,
    /// Comparators are no farther from the start, in the norm of the walk (relative entropy: no larger divergence).
    pub distance: Option<f64>,
    /// Comparators lose no more.
    pub comparator_loss: Option<f64>,
    /// So many examples at most.
    pub rounds: Option<u64>,
}

/// What a walk is to the theorems.
#[derive(Debug, Clone, PartialEq)]
pub(crate) enum Kind {
    Free {
        lipschitz: f64,
    },
    Descent,
    Implicit,
    PNorm {
        q: f64,
    },
    Eg,
    ReparamEg {
        middle: f64,
    },
    Entropy {
        start: f64,
    },
    ReparamEntropy {
        start: f64,
    },
    Burg {
        start: f64,
    },
    Mahalanobis(Metric),
    Orthant {
        start: f64,
    },
    Winnow {
        margin: f64,
        start: f64,
        twin: bool,
    },
    /// The start on the unit sphere, for so many features, is drawn with the seed.
    Sphere,
    /// None, because.
    Without(&'static str),
}

/// What is known of a run when it begins.
#[derive(Debug)]
pub(crate) struct Case<'a> {
    pub(crate) kind: &'a Kind,
    pub(crate) loss: &'a AnyLoss,
    /// The classes of one softmax: each walk sees slopes only.
    pub(crate) joint: bool,
    pub(crate) facts: Facts,
    pub(crate) rate: Rate,
    pub(crate) y_range: Option<(f64, f64)>,
    /// U of a two-sided walk.
    pub(crate) scale: Option<f64>,
    pub(crate) intercept: bool,
    pub(crate) declared: Declared,
    /// Start and comparator on the sphere, where one is known.
    pub(crate) known: Option<(Vec<f64>, Vec<f64>)>,
}

const VARIES: &str = "its theorem needs one constant rate: give --rate a number, or certified";
const CLIPPED: &str = "its theorem speaks of predictions that are not clipped: leave --y-range out";
const SQUARED: &str = "its theorem speaks of the squared loss";
const NONNEGATIVE: &str =
    "its theorem for the squared loss speaks of predictions clipped to [0, Y]: give --y-range 0,Y";

impl Case<'_> {
    /// The theorems, or why there is none.
    #[allow(clippy::too_many_lines)] // the table, an arm for each kind of walk
    pub(crate) fn theorems(&self) -> Result<Result<Vec<AnyBound>, &'static str>, ConfigError> {
        if let Kind::Without(reason) = self.kind {
            return Ok(Err(reason));
        }
        let own = matches!(self.kind, Kind::Free { .. } | Kind::Winnow { .. });
        let constant = matches!(self.rate, Rate::Constant(_) | Rate::Doubling(_));
        if !own && !constant && *self.kind != Kind::Sphere {
            return Ok(Err(VARIES));
        }
        let egu = matches!(self.kind, Kind::Entropy { .. } | Kind::ReparamEntropy { .. });
        if self.y_range.is_some() && !egu {
            return Ok(Err(CLIPPED));
        }
        let squared = self.squared();
        let facts = &self.facts;
        let mut list = Vec::new();
        match *self.kind {
            Kind::Free { lipschitz } => {
                list.push(Theory::Free(FreeBets::new(1.0, lipschitz, facts)?));
            }
            Kind::Descent => {
                let constants = self.slope().zip(self.x_norm()?);
                let promised =
                    self.declared.rounds.is_some() && !matches!(self.rate, Rate::Doubling(_));
                let descent = match constants.filter(|_| promised) {
                    Some((z, r)) => GradientDescent::promised(&[], facts, z, r)?,
                    None => GradientDescent::new(&[], facts),
                };
                list.push(Theory::Descent(descent));
                if squared {
                    list.push(Theory::LeastSquares(LeastSquares::explicit(&[])));
                }
            }
            Kind::Implicit => {
                list.push(Theory::Implicit(GradientDescent::implicit(&[], facts)));
                if squared {
                    list.push(Theory::After(LeastSquares::implicit(&[])));
                }
            }
            Kind::PNorm { q } => {
                let divergence = Divergence::PNorm { q };
                let steps = MirrorSteps::new(divergence, Start::Each(0.0), facts)?;
                list.push(Theory::Mirror(steps));
                // Balanced and other smooth losses are ≥ 0; the slopes of a softmax come without theirs.
                if !self.joint && facts.smooth.is_some_and(|s| s > 0.0) && q < 2.0 + 1e-12 {
                    list.push(Theory::Ols(Ols::new(q / (q - 1.0), facts)?));
                }
            }
            Kind::Eg => {
                let steps = MirrorSteps::new(Divergence::Entropy, Start::Even, facts)?;
                list.push(Theory::Mirror(steps));
                list.push(Theory::LinearEg(LinearEg::new(&[1.0], facts)?.starting(Start::Even)));
                if squared {
                    let eg = Eg::new(&[1.0])?.starting(Start::Even);
                    list.push(Theory::Eg(match self.width() {
                        Some(width) => eg.declare(width)?,
                        None => eg,
                    }));
                }
            }
            Kind::ReparamEg { .. } | Kind::ReparamEntropy { .. } if !squared => {
                return Ok(Err(SQUARED));
            }
            Kind::ReparamEg { middle } => {
                let eg = ReparamEg::new(&[1.0], middle)?.starting(Start::Even);
                list.push(Theory::ReparamEg(match self.reach(middle) {
                    Some(x) => eg.declare(x)?,
                    None => eg,
                }));
            }
            Kind::Entropy { start } => {
                if self.y_range.is_none() {
                    let each = Start::Each(start);
                    let steps = MirrorSteps::new(Divergence::Entropy, each, facts)?;
                    list.push(Theory::Mirror(steps));
                }
                if squared && self.scale.is_none() {
                    list.extend(self.egu(Egu::new(&[start])?, start)?);
                }
                if list.is_empty() {
                    return Ok(Err(CLIPPED));
                }
            }
            Kind::ReparamEntropy { start } => {
                list.extend(self.egu(Egu::twin(&[start])?, start)?);
                if list.is_empty() {
                    return Ok(Err(NONNEGATIVE));
                }
            }
            Kind::Burg { start } => {
                let each = Start::Each(start);
                list.push(Theory::Mirror(MirrorSteps::new(Divergence::Burg, each, facts)?));
            }
            Kind::Mahalanobis(ref metric) => {
                let divergence = Divergence::Mahalanobis(metric.clone());
                let steps = MirrorSteps::new(divergence, Start::Each(0.0), facts)?;
                list.push(Theory::Mirror(steps));
            }
            Kind::Orthant { start } => {
                let neg = NaturalEg::new(&[start], facts)?.starting(Start::Each(start));
                list.push(Theory::NaturalEg(neg));
            }
            Kind::Winnow { margin, start, twin } => {
                let own = if twin { Winnow::twin } else { Winnow::new };
                let winnow = own(margin, &[start], &[])?.starting(Start::Each(start));
                list.push(Theory::Winnow(winnow));
            }
            Kind::Sphere => {
                if !matches!(self.loss, AnyLoss::Invariant(_)) {
                    return Ok(Err("its theorem speaks of the loss invariant, <w, x>^2"));
                }
                let Some((start, u)) = &self.known else {
                    return Ok(Err(
                        "its theorem speaks of one comparator, orthogonal to every row: geowalk certify MODEL --comparator FILE --data DATA",
                    ));
                };
                list.push(Theory::NullVector(NullVector::new(start, u)?.growing()));
            }
            Kind::Without(_) => {}
        }
        let signed = |theory: Theory| match self.scale {
            Some(scale) => AnyBound::from(theory).signed(scale),
            None => theory.into(),
        };
        if self.scale.is_some()
            && !matches!(self.kind, Kind::Eg | Kind::ReparamEg { .. } | Kind::Entropy { .. })
        {
            return Ok(Err("its theorem has no two-sided form"));
        }
        Ok(Ok(list.into_iter().map(signed).collect()))
    }

    /// The theorem of EGU or its twin, if predictions are clipped as it demands.
    fn egu(&self, egu: Egu, start: f64) -> Result<Option<Theory>, ConfigError> {
        let Some((_, y)) = self.y_range.filter(|(lo, y)| *lo == 0.0 && *y > 0.0) else {
            return Ok(None);
        };
        let egu = egu.starting(Start::Each(start)).declare_labels(y)?;
        Ok(Some(Theory::Egu(match self.reach(0.0) {
            Some(x) => egu.declare(x, y)?,
            None => egu,
        })))
    }

    fn squared(&self) -> bool {
        matches!(self.loss, AnyLoss::Squared(_)) && !self.joint
    }

    /// The bound of the slopes, if the loss has one.
    fn slope(&self) -> Option<f64> {
        self.facts.lipschitz
    }

    /// The longest row, the constant feature included, if it is declared.
    fn x_norm(&self) -> Result<Option<f64>, ConfigError> {
        let own = within(self.declared.x_norm, "--x-norm R", Allowed::Positive)?;
        Ok(own.map(|own| if self.intercept { Real::hypot(own, 1.0) } else { own }))
    }

    /// How far features, the constant one and those that a row leaves out included, are from each other.
    fn width(&self) -> Option<f64> {
        let (lo, hi) = self.declared.x_range?;
        let (lo, hi) = (Real::min(lo, 0.0), Real::max(hi, if self.intercept { 1.0 } else { 0.0 }));
        Some(match self.scale {
            Some(scale) => 2.0 * scale * Real::max(-lo, hi),
            None => hi - lo,
        })
    }

    /// How far they are from this.
    fn reach(&self, middle: f64) -> Option<f64> {
        let (lo, hi) = self.declared.x_range?;
        let (lo, hi) = (Real::min(lo, 0.0), Real::max(hi, if self.intercept { 1.0 } else { 0.0 }));
        let scale = self.scale.unwrap_or(1.0);
        let most = Real::max(hi, -lo) * scale;
        let (lo, hi) = if self.scale.is_some() { (-most, most) } else { (lo, hi) };
        Some(Real::max(hi - middle, middle - lo))
    }

    /// The rate that the theorem prescribes, and which one it is: constant where everything that it depends on is declared.
    pub(crate) fn rate(&self) -> Result<(Rate, &'static str), ConfigError> {
        let Self { declared, facts, .. } = self;
        let egu = matches!(self.kind, Kind::Entropy { .. } | Kind::ReparamEntropy { .. });
        if self.y_range.is_some() && !egu {
            return Err(refused(CLIPPED));
        }
        let distance = within(declared.distance, "--distance U", Allowed::Positive)?;
        let loss = within(declared.comparator_loss, "--comparator-loss L", Allowed::NonNegative)?;
        let tuned = distance.zip(loss);
        let rounds = declared.rounds.map(|k| k.max(1) as f64);
        let slope = || {
            self.slope().ok_or(refused(
                "for this loss no theorem prescribes a rate beforehand: its slopes are not bounded",
            ))
        };
        if !facts.convex && !matches!(self.kind, Kind::Without(_) | Kind::Sphere) {
            return Err(refused("the loss is not convex in the prediction"));
        }
        let l2 = Measure::Norm(Norm::L2);
        Ok(match *self.kind {
            Kind::Descent if self.squared() => {
                let formula =
                    tuned.map_or(Formula::Square(0.5), |(w, l)| Formula::LeastSquares(w, l));
                (sized(formula, self.x_norm()?, l2, false), "least-squares")
            }
            Kind::Descent | Kind::Implicit => {
                let theorem =
                    if *self.kind == Kind::Implicit { "proximal-flat" } else { "gradient-descent" };
                (self.descent(distance, rounds, Norm::L2, 1.0)?, theorem)
            }
            Kind::PNorm { q } => {
                let (p, size) = (q / (q - 1.0), Norm::Lp(q).dual());
                if let Some(smooth) = facts.smooth.filter(|s| *s > 0.0 && !self.joint) {
                    let formula = Formula::Square(0.5 / ((p - 1.0) * smooth));
                    (sized(formula, self.x_norm()?, Measure::Norm(size), false), "ols")
                } else {
                    (self.descent(distance, rounds, size, (q - 1.0).sqrt())?, "mirror-descent")
                }
            }
            Kind::Eg if self.squared() => {
                let formula = tuned.map_or(Formula::Square(2.0 / 3.0), |(d, l)| Formula::Eg(d, l));
                (sized(formula, self.width(), Measure::Span(self.scale), true), "eg")
            }
            Kind::Eg => {
                // D/η + ηkZ²R²/8.
                let z = slope()?;
                let constants = (self.width(), distance, rounds);
                let rate = if let (Some(r), Some(d), Some(k)) = constants {
                    Rate::Constant((8.0 * d / k).sqrt() / (z * r))
                } else {
                    let rule = Rule::Entropy { d: distance, slope: z };
                    Rate::Doubling(Doubling { measure: Measure::Span(self.scale), rule })
                };
                (rate, "linear-eg")
            }
            Kind::ReparamEg { middle } if self.squared() => {
                let x = self.reach(middle).ok_or(ConfigError::Missing {
                    name: "--x-range LO,HI",
                    meaning: "all features and labels lie between LO and HI: the certified rate depends on it, and a label is not known before it is predicted",
                })?;
                let rate = match tuned {
                    Some((d, l)) => ReparamEg::rate(x, d, l),
                    None => 1.0 / (6.0 * x * x),
                };
                (Rate::Constant(rate), "reparam-eg")
            }
            Kind::Entropy { .. } | Kind::ReparamEntropy { .. }
                if self.squared() && self.scale.is_none() =>
            {
                let Some((_, y)) = self.y_range.filter(|(lo, _)| *lo == 0.0) else {
                    return Err(refused(NONNEGATIVE));
                };
                let formula = match tuned {
                    Some((d, l)) => Formula::Egu(y, d, l),
                    None => Formula::Product(1.0 / 3.0, y),
                };
                let twin = matches!(self.kind, Kind::ReparamEntropy { .. });
                let theorem = if twin { "reparam-egu" } else { "egu" };
                (sized(formula, self.reach(0.0), Measure::Top, true), theorem)
            }
            Kind::Sphere if matches!(self.loss, AnyLoss::Invariant(_)) => {
                let rate = match self.x_norm()? {
                    Some(x) => Rate::Constant(0.5 / (x * x)),
                    None => Rate::Doubling(Doubling { measure: l2, rule: Rule::Each { c: 0.5 } }),
                };
                (rate, "null-vector")
            }
            Kind::Sphere => {
                return Err(refused("its theorem speaks of the loss invariant, <w, x>^2"));
            }
            Kind::ReparamEg { .. } | Kind::ReparamEntropy { .. } => return Err(refused(SQUARED)),
            Kind::Without(reason) => return Err(refused(reason)),
            Kind::Free { .. } | Kind::Winnow { .. } => (Rate::Constant(1.0), "free"),
            Kind::Entropy { .. }
            | Kind::Burg { .. }
            | Kind::Orthant { .. }
            | Kind::Mahalanobis(_) => {
                return Err(refused(
                    "the theorem of this walk bounds its regret by the steps it has made: it prescribes no rate beforehand",
                ));
            }
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

/// The rate for rows of the size that is declared, or in epochs for those that are seen.
fn sized(formula: Formula, declared: Option<f64>, measure: Measure, restarts: bool) -> Rate {
    match declared {
        Some(x) => Rate::Constant(formula.rate(x)),
        None => Rate::Doubling(Doubling { measure, rule: Rule::Size { formula, restarts } }),
    }
}

/// A rate that no theorem prescribes.
fn refused(meaning: &'static str) -> ConfigError {
    ConfigError::Missing { name: "a theorem that prescribes the rate", meaning }
}

/// What is declared, if it is a number that can be.
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
