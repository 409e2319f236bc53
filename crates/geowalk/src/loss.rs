//! # Losses
//! A loss ℓ(z, y) is the cost of a prediction z when the label is y. Losses are scalar and always `f64`: a loss is
//! evaluated once per example, and certificates need its full precision even if the weights are stored as `f32`.
//!
//! To add a loss: write a file with `impl Loss`, and add one row to the table below. The [`doctor`] then checks its
//! facts.

mod absolute;
mod balanced;
mod custom;
pub mod doctor;
mod exponential;
mod geodesic;
mod hinge;
mod huber;
mod invariant;
mod logistic;
pub mod permissible;
mod quantile;
mod squared;
mod winnow_hinge;

pub use absolute::Absolute;
pub use balanced::Balanced;
pub use custom::{Custom, Pair, Scalar, Session};
pub use exponential::Exponential;
pub use geodesic::{Geodesic, Space};
pub use hinge::Hinge;
pub use huber::Huber;
pub use invariant::Invariant;
pub use logistic::Logistic;
pub use quantile::Quantile;
pub use squared::Squared;
pub use winnow_hinge::WinnowHinge;

use crate::error::{Allowed, ConfigError};
use crate::spec::{self, Args, Entry, Spec};

/// A loss ℓ(z, y) ≥ 0 of the prediction z.
pub trait Loss: std::fmt::Debug + Send + Sync {
    /// The specification from which it can be rebuilt: `huber(delta=0.5)`.
    fn spec(&self) -> String;

    /// ℓ(z, y).
    fn value(&self, z: f64, y: f64) -> f64;

    /// ∂ℓ/∂z. At a kink, the subgradient stated in the header of the loss's file.
    fn slope(&self, z: f64, y: f64) -> f64;

    /// ℓ(z, y) and ∂ℓ/∂z, bit-identical to two separate calls. Every step needs both, and they often share half of the
    /// work.
    #[inline]
    fn value_and_slope(&self, z: f64, y: f64) -> (f64, f64) {
        (self.value(z, y), self.slope(z, y))
    }

    /// ∂²ℓ/∂z²; 0 at a kink.
    fn curvature(&self, z: f64, y: f64) -> f64;

    /// The prediction with the smallest loss for the label `y`. It is infinite if the loss only approaches its
    /// infimum. If an interval of predictions minimises the loss, it is the one nearest to 0.
    fn minimizer(&self, y: f64) -> f64;

    /// Properties of the loss that certificates may assume. The laws check every one of them.
    fn facts(&self) -> Facts;
}

/// Properties that hold for every prediction and label in the domain.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Facts {
    /// Allowed labels.
    pub labels: Allowed,
    /// Allowed predictions.
    pub predictions: Allowed,
    /// Is it convex in z?
    pub convex: bool,
    /// sup |∂ℓ/∂z|, if finite.
    pub lipschitz: Option<f64>,
    /// sup ∂²ℓ/∂z², if finite and there is no kink.
    pub smooth: Option<f64>,
    /// inf ∂²ℓ/∂z²: 0 if the loss is only convex, negative if it is not convex, −∞ if unbounded below.
    pub strong: f64,
    /// Does it depend only on the margin y·z, with labels ±1?
    pub margin: bool,
}

/// Generates the table, [`AnyLoss`], its parser and its dispatch from one row per loss.
macro_rules! losses {
    (
        table { $($variant:ident: $name:literal($parameters:literal) $summary:literal [$source:literal] => $build:expr;)* }
        also { $($(#[$doc:meta])* $also:ident,)* }
    ) => {
        const TABLE: &[Entry] = &[
            $(Entry { name: $name, parameters: $parameters, summary: $summary, source: $source },)*
        ];

        /// Any loss, dispatched by `match`: as fast as a concrete loss, but one type for all of them.
        ///
        /// ```
        /// use geowalk::loss::{AnyLoss, Loss};
        /// let loss = AnyLoss::parse("huber(delta=2)")?;
        /// assert_eq!((loss.value(5.0, 0.0), loss.spec().as_str()), (8.0, "huber(delta=2)"));
        /// let error = AnyLoss::parse("hubber").unwrap_err();
        /// assert!(error.to_string().starts_with("unknown loss 'hubber' (did you mean 'huber'?)"));
        /// # Ok::<(), geowalk::ConfigError>(())
        /// ```
        #[derive(Debug, Clone)]
        #[non_exhaustive]
        pub enum AnyLoss {
            $(#[doc = $summary] $variant($variant),)*
            $($(#[$doc])* $also($also),)*
        }

        impl AnyLoss {
            /// The loss with that name, or `None`.
            fn build(name: &str, args: &mut Args<'_>) -> Option<Result<Self, ConfigError>> {
                match name {
                    $($name => {
                        let build: fn(&mut Args<'_>) -> Result<$variant, ConfigError> = $build;
                        Some(build(args).map(Self::$variant))
                    })*
                    _ => None,
                }
            }
        }

        impl Loss for AnyLoss {
            fn spec(&self) -> String {
                match self {
                    $(Self::$variant(loss) => loss.spec(),)*
                    $(Self::$also(loss) => loss.spec(),)*
                }
            }

            #[inline]
            fn value(&self, z: f64, y: f64) -> f64 {
                match self {
                    $(Self::$variant(loss) => loss.value(z, y),)*
                    $(Self::$also(loss) => loss.value(z, y),)*
                }
            }

            #[inline]
            fn slope(&self, z: f64, y: f64) -> f64 {
                match self {
                    $(Self::$variant(loss) => loss.slope(z, y),)*
                    $(Self::$also(loss) => loss.slope(z, y),)*
                }
            }

            #[inline]
            fn value_and_slope(&self, z: f64, y: f64) -> (f64, f64) {
                match self {
                    $(Self::$variant(loss) => loss.value_and_slope(z, y),)*
                    $(Self::$also(loss) => loss.value_and_slope(z, y),)*
                }
            }

            #[inline]
            fn curvature(&self, z: f64, y: f64) -> f64 {
                match self {
                    $(Self::$variant(loss) => loss.curvature(z, y),)*
                    $(Self::$also(loss) => loss.curvature(z, y),)*
                }
            }

            fn minimizer(&self, y: f64) -> f64 {
                match self {
                    $(Self::$variant(loss) => loss.minimizer(y),)*
                    $(Self::$also(loss) => loss.minimizer(y),)*
                }
            }

            fn facts(&self) -> Facts {
                match self {
                    $(Self::$variant(loss) => loss.facts(),)*
                    $(Self::$also(loss) => loss.facts(),)*
                }
            }
        }

        $(impl From<$variant> for AnyLoss {
            fn from(loss: $variant) -> Self {
                Self::$variant(loss)
            }
        })*
        $(impl From<$also> for AnyLoss {
            fn from(loss: $also) -> Self {
                Self::$also(loss)
            }
        })*
    };
}

losses! {
    table {
        Squared: "squared"("") "(z − y)²" ["KMWW07"] => |_| Ok(Squared);
        Absolute: "absolute"("") "|z − y|" ["KB78"] => |_| Ok(Absolute);
        Huber: "huber"("delta=1") "½(z − y)² up to |z − y| = delta, linear beyond" ["Huber64"]
            => |args| Huber::new(args.number("delta", 1.0)?);
        Quantile: "quantile"("tau=0.5") "tau(y − z) below the label, (1 − tau)(z − y) above" ["KB78"]
            => |args| Quantile::new(args.number("tau", 0.5)?);
        Logistic: "logistic"("") "ln(1 + exp(−yz)), y = ±1" ["NN09"] => |_| Ok(Logistic);
        Hinge: "hinge"("") "max(0, 1 − yz), y = ±1" ["NN09"] => |_| Ok(Hinge);
        WinnowHinge: "winnow-hinge"("theta=0.19296663799909713")
            "max(0, −y(z − theta)), y = ±1: the loss of Winnow and the Perceptron" ["AW20"]
            => |args| WinnowHinge::new(args.number("theta", WinnowHinge::WINNOW)?);
        Exponential: "exponential"("") "exp(−yz), y = ±1: the loss of AdaBoost" ["NN09"]
            => |_| Ok(Exponential);
        Invariant: "invariant"("") "z², the label ignored: the scale-invariant predictor" ["KMWW07s"]
            => |_| Ok(Invariant);
        Geodesic: "geodesic"("space=sphere")
            "squared geodesic distance to the solution set; space = sphere, euclidean, spacelike, timelike, null"
            ["KMWW07s"]
            => |args| Space::parse(args.text("space").unwrap_or("sphere")).map(Geodesic::new);
    }
    also {
        /// The balanced convex loss of a permissible function.
        Balanced,
        /// A user-defined loss.
        Custom,
    }
}

/// All losses that [`AnyLoss::parse`] accepts.
///
/// ```
/// assert!(geowalk::loss::entries().any(|entry| entry.name == "logistic"));
/// ```
pub fn entries() -> impl Iterator<Item = &'static Entry> + Clone {
    TABLE.iter().chain(permissible::entries())
}

impl AnyLoss {
    /// Parses `name` or `name(parameter=value)`.
    pub fn parse(text: &str) -> Result<Self, ConfigError> {
        let spec = Spec::parse(text)?;
        let mut args = spec.args();
        let name = spec.name();
        let loss = Self::build(name, &mut args)
            .or_else(|| Some(Balanced::parse(name, &mut args)?.map(Self::Balanced)))
            .unwrap_or_else(|| {
                Err(spec::unknown("loss", name, entries().map(|entry| entry.name)))
            })?;
        args.finish()?;
        Ok(loss)
    }
}

impl TryFrom<&str> for AnyLoss {
    type Error = ConfigError;

    fn try_from(text: &str) -> Result<Self, ConfigError> {
        Self::parse(text)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_entry_parses_and_its_specification_rebuilds_it() {
        for entry in entries() {
            let loss = AnyLoss::parse(entry.name).unwrap();
            let written = if entry.parameters.is_empty() {
                entry.name.to_owned()
            } else {
                format!("{}({})", entry.name, entry.parameters)
            };
            assert_eq!(loss.spec(), written, "the defaults of {} are those of its row", entry.name);
            assert_eq!(AnyLoss::parse(&loss.spec()).unwrap().spec(), loss.spec());
        }
        assert_eq!(AnyLoss::parse("quantile(0.9)").unwrap().spec(), "quantile(tau=0.9)");
    }

    #[test]
    fn errors_of_parsing() {
        for (text, message) in [
            ("huber(delta=0)", "delta = 0; it must be a finite number > 0"),
            ("quantile(tau=1)", "tau = 1; it must be in (0, 1)"),
            ("squared(2)", "unknown parameter '2'; known: none"),
            (
                "geodesic(space=torus)",
                "unknown space 'torus'; known: sphere, euclidean, spacelike, timelike, null",
            ),
        ] {
            assert_eq!(AnyLoss::parse(text).unwrap_err().to_string(), message);
        }
    }

    #[test]
    fn finite_at_a_hundred_million() {
        for entry in entries() {
            let loss = AnyLoss::parse(entry.name).unwrap();
            let facts = loss.facts();
            for z in [-1e8, 1e8].into_iter().filter(|&z| facts.predictions.contains(z)) {
                // The exponential loss overflows here by definition.
                if entry.name == "exponential" && z < 0.0 {
                    assert_eq!(loss.value(z, 1.0), f64::INFINITY);
                    continue;
                }
                let all = [loss.value(z, 1.0), loss.slope(z, 1.0), loss.curvature(z, 1.0)];
                assert!(all.into_iter().all(f64::is_finite), "{} at {z}: {all:?}", entry.name);
            }
        }
    }

    #[test]
    fn a_kink_has_one_value_from_both_sides() {
        let absolute = (AnyLoss::from(Absolute), 2.0, 2.0);
        let quantile = (AnyLoss::from(Quantile::new(0.9).unwrap()), -1.5, -1.5);
        let hinge = (AnyLoss::from(Hinge), -1.0, -1.0);
        let winnow = (AnyLoss::from(WinnowHinge::new(0.5).unwrap()), 0.5, -1.0);
        for (loss, z, y) in [absolute, quantile, hinge, winnow] {
            let here = loss.value(z, y);
            let (left, right) = (loss.value(z - 1e-12, y), loss.value(z + 1e-12, y));
            assert!((here - left).abs() <= 2e-12 && (here - right).abs() <= 2e-12, "{loss:?}");
            // The slope at a kink is a subgradient: it lies between the slopes on either side.
            let beside = loss.slope(z - 1e-9, y)..=loss.slope(z + 1e-9, y);
            assert!(
                beside.contains(&loss.slope(z, y)) && beside.start() < beside.end(),
                "{loss:?}"
            );
            assert_eq!(loss.curvature(z, y), 0.0);
        }
    }

    #[test]
    fn the_minimizer_has_the_least_loss() {
        for entry in entries() {
            let loss = AnyLoss::parse(entry.name).unwrap();
            let y = 1.0;
            let best = loss.minimizer(y);
            if best.is_infinite() {
                let falling = [0.0, 4.0, 40.0].map(|z| loss.value(best.signum() * z, y));
                assert!(
                    falling.windows(2).all(|pair| pair[1] < pair[0]),
                    "{}: {falling:?}",
                    entry.name
                );
                continue;
            }
            let least = loss.value(best, y);
            for z in (-100..=100).map(|k| f64::from(k) / 100.0) {
                assert!(loss.value(z, y) >= least, "{} at {z}", entry.name);
                let tied = loss.value(z, y) == least;
                assert!(!tied || z.abs() >= best.abs(), "{}: {z} is nearer to 0", entry.name);
            }
        }
    }
}
