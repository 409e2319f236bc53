//! # Walks by name
//! The names of the command line, for the walks that need nothing but a loss and a rate.

use std::fmt::Debug;

use crate::error::{Allowed, ConfigError, DomainError};
use crate::geometry::generators::{self, AnyGenerator};
use crate::geometry::manifolds::{self, AnyManifold};
use crate::learn::{Get, OnManifold, Put, WithGenerator};
use crate::loss::{AnyLoss, Loss};
use crate::row::Sparse;
use crate::spec::{self, Args, Spec};
use crate::update::{Round, Target};
use crate::walk::{
    Adaptive, Burg, Entropy, Euclidean, Free, Hyperbolic, Implicit, Orthant, PNorm, ReparamEntropy,
    ReparamSimplex, Signed, Simplex, SimplexEntropy, Sphere, Walk,
};

/// A walk of any type: [`Walk`] on sparse rows, without type parameters.
pub(super) trait AnyWalk: Debug + Send + Sync {
    fn copy(&self) -> Box<dyn AnyWalk>;
    fn features(&self) -> usize;
    fn predict(&self, x: Sparse<'_, f64>) -> f64;
    fn step(
        &mut self,
        x: Sparse<'_, f64>,
        target: Target,
        loss: &AnyLoss,
        rate: f64,
    ) -> Result<Round, DomainError>;
    fn read(&self, w: &mut Vec<f64>);
    fn save(&self, put: Put<'_>);
    fn load(&mut self, get: Get<'_>) -> Result<(), ConfigError>;
}

impl<W: Walk + Clone + Debug + 'static> AnyWalk for W {
    fn copy(&self) -> Box<dyn AnyWalk> {
        Box::new(self.clone())
    }

    fn features(&self) -> usize {
        Walk::features(self)
    }

    fn predict(&self, x: Sparse<'_, f64>) -> f64 {
        Walk::predict(self, x)
    }

    fn step(
        &mut self,
        x: Sparse<'_, f64>,
        target: Target,
        loss: &AnyLoss,
        rate: f64,
    ) -> Result<Round, DomainError> {
        Walk::step(self, x, target, loss, rate)
    }

    fn read(&self, w: &mut Vec<f64>) {
        Walk::read(self, w);
    }

    fn save(&self, put: Put<'_>) {
        Walk::save(self, put);
    }

    fn load(&mut self, get: Get<'_>) -> Result<(), ConfigError> {
        Walk::load(self, get)
    }
}

impl Clone for Box<dyn AnyWalk> {
    fn clone(&self) -> Self {
        (**self).copy()
    }
}

type Made = Result<Box<dyn AnyWalk>, ConfigError>;

/// What a walk is built from: its arguments, and the loss.
type Make = fn(&mut Args<'_>, &AnyLoss) -> Made;

/// Name, aliases, constructor.
const TABLE: &[(&str, &[&str], Make)] = &[
    ("free:euclidean", &["free"], free),
    ("explicit:adaptive", &["adagrad"], |_, _| made(Adaptive::new())),
    ("explicit:euclidean", &["gd", "mirror:euclidean", "reparam:euclidean"], |_, _| {
        made(Euclidean::new())
    }),
    ("explicit:sphere", &["sphere"], |args, _| made(Sphere::new(args.number("radius", 1.0)?, 0)?)),
    ("projected-sphere", &[], |args, _| made(Sphere::projected(args.number("radius", 1.0)?, 0)?)),
    ("explicit:simplex", &[], |args, _| positive(Simplex::new(), args)),
    ("explicit:orthant", &["neg"], |args, _| {
        positive(Orthant::new(args.number("start", 0.1)?)?, args)
    }),
    ("explicit:hyperbolic", &[], |_, _| made(Hyperbolic::new())),
    ("mirror:entropy", &["egu"], |args, _| positive(entropy(args)?, args)),
    ("mirror:simplex-entropy", &["eg"], |args, _| positive(SimplexEntropy::new(), args)),
    ("mirror:p-norm", &[], |args, _| made(PNorm::new(args.number("q", 1.5)?)?)),
    ("mirror:burg", &[], |args, _| positive(Burg::new(args.number("start", 0.1)?)?, args)),
    ("implicit:euclidean", &[], |_, _| made(Implicit::new(Euclidean::new()))),
    ("implicit:sphere", &[], |args, _| {
        made(Implicit::new(Sphere::new(args.number("radius", 1.0)?, 0)?))
    }),
    ("implicit:simplex", &[], |args, _| positive(Implicit::new(Simplex::new()), args)),
    ("implicit:orthant", &[], |args, _| {
        positive(Implicit::new(Orthant::new(args.number("start", 0.1)?)?), args)
    }),
    ("implicit:hyperbolic", &[], |_, _| made(Implicit::new(Hyperbolic::new()))),
    ("implicit:entropy", &[], |args, _| positive(Implicit::new(entropy(args)?), args)),
    ("implicit:simplex-entropy", &[], |args, _| {
        positive(Implicit::new(SimplexEntropy::new()), args)
    }),
    ("implicit:p-norm", &[], |args, _| made(Implicit::new(PNorm::new(args.number("q", 1.5)?)?))),
    ("implicit:burg", &[], |args, _| {
        positive(Implicit::new(Burg::new(args.number("start", 0.1)?)?), args)
    }),
    ("reparam:entropy", &["reparam-egu"], |args, _| {
        positive(ReparamEntropy::new(args.number("start", Entropy::START)?)?, args)
    }),
    ("reparam:simplex-entropy", &["reparam-eg"], |args, _| positive(ReparamSimplex::new(), args)),
    ("approximated-eg", &[], |args, _| positive(SimplexEntropy::approximated(), args)),
    ("prod", &[], |args, _| positive(SimplexEntropy::prod(), args)),
];

#[allow(clippy::unnecessary_wraps)] // the type of a row
fn made(walk: impl Walk + Clone + Debug + 'static) -> Made {
    Ok(Box::new(walk))
}

/// Bets need a bound on the slope.
fn free(args: &mut Args<'_>, loss: &AnyLoss) -> Made {
    let Some(slope) = loss.facts().lipschitz else {
        return Err(ConfigError::Missing {
            name: "a bound on the slope of the loss",
            meaning: "free bets against it; use the walk adagrad, or a loss such as absolute or huber",
        });
    };
    let epsilon = args.number("epsilon", Free::WEALTH)?;
    made(Free::new(epsilon, args.number("step", Free::STEP)?, slope)?)
}

fn entropy(args: &mut Args<'_>) -> Result<Entropy, ConfigError> {
    Entropy::new(args.number("start", Entropy::START)?)
}

/// Weights ≥ 0, or with `signed=true` differences of such.
fn positive(walk: impl Walk + Clone + Debug + 'static, args: &mut Args<'_>) -> Made {
    let (signed, scale) = (args.text("signed"), args.number("scale", 1.0)?);
    match signed {
        Some("true") => made(Signed::new(walk, scale)?),
        None | Some("false") => made(walk),
        Some(text) => Err(ConfigError::Syntax {
            text: format!("signed={text}"),
            column: 8,
            expected: "true or false",
        }),
    }
}

/// All names that [`build`] knows.
pub(super) fn names() -> impl Iterator<Item = String> {
    let own = TABLE.iter().flat_map(|(name, aliases, _)| aliases.iter().copied().chain([*name]));
    let known = |name: &String| {
        TABLE.iter().any(|(own, aliases, _)| own == name || aliases.contains(&name.as_str()))
    };
    let generic = |updates: [&'static str; 2], name: &'static str| {
        updates.map(|update| format!("{update}:{name}"))
    };
    let manifolds =
        manifolds::entries().flat_map(move |entry| generic(["explicit", "implicit"], entry.name));
    let generators =
        generators::entries().flat_map(move |entry| generic(["mirror", "implicit"], entry.name));
    let rest = manifolds.chain(generators).filter(move |name| !known(name));
    own.map(str::to_owned).chain(rest)
}

const NO_WIDTH: ConfigError = ConfigError::Missing {
    name: "the number of features",
    meaning: "this walk needs it before the first row: use Learner::with_features, or state it as in explicit:spd(n=3)",
};

/// The walk of a text, and the text with the number of features in it where that matters.
pub(super) fn build(
    text: &str,
    loss: &AnyLoss,
    features: Option<usize>,
) -> Result<(Box<dyn AnyWalk>, String), ConfigError> {
    let spec = Spec::parse(text)?;
    let name = spec.name();
    if let Some((_, _, make)) =
        TABLE.iter().find(|(own, aliases, _)| *own == name || aliases.contains(&name))
    {
        let mut args = spec.args();
        let walk = make(&mut args, loss)?;
        args.finish()?;
        return Ok((walk, text.to_owned()));
    }
    let unknown = || {
        let names: Vec<String> = names().collect();
        spec::unknown("walk", name, names.iter().map(String::as_str))
    };
    let (update, geometry) = text.split_once(':').ok_or_else(unknown)?;
    let kind = name.split_once(':').map_or("", |(_, kind)| kind);
    let is_manifold = kind == "custom" || manifolds::entries().any(|entry| entry.name == kind);
    let is_generator = generators::entries().any(|entry| entry.name == kind);
    match update {
        "explicit" | "implicit" if is_manifold => {
            let manifold = manifold(geometry, features)?;
            let text = format!("{update}:{}", manifold.sized_spec());
            let walk = if update == "implicit" {
                OnManifold::implicit(manifold)
            } else {
                OnManifold::explicit(manifold)
            };
            Ok((made(walk?)?, text))
        }
        "mirror" | "implicit" if is_generator => {
            let mut args = spec.args();
            let stated = args.optional_number("n")?;
            let n = match (stated, features) {
                (None, None) => return Err(NO_WIDTH),
                (Some(value), _) if !Allowed::Whole(1).contains(value) => {
                    let allowed = Allowed::Whole(1);
                    return Err(ConfigError::OutOfRange { name: "n", value, allowed });
                }
                #[allow(clippy::cast_possible_truncation, clippy::cast_sign_loss)] // checked
                (Some(n), None) => n as usize,
                (Some(n), Some(features)) if n != features as f64 => {
                    let (spec, fits) = (text.to_owned(), n.to_string());
                    return Err(ConfigError::Width { spec, features, fits });
                }
                (_, Some(features)) => features,
            };
            let generator = AnyGenerator::build(kind, &mut args, n)?;
            args.finish()?;
            let walk = if update == "implicit" {
                WithGenerator::implicit(generator, n)
            } else {
                WithGenerator::mirror(generator, n)
            };
            let mut arguments = spec.arguments();
            arguments.retain(|argument| !argument.starts_with("n="));
            arguments.insert(0, format!("n={n}"));
            Ok((made(walk?)?, format!("{name}({})", arguments.join(", "))))
        }
        _ => Err(unknown()),
    }
}

/// The manifold of a text, with a size in it or for so many features.
fn manifold(text: &str, features: Option<usize>) -> Result<AnyManifold, ConfigError> {
    // A size that is stated does not depend on the one given beside it.
    let sized = |n| AnyManifold::parse(text, n).ok().map(|manifold| manifold.features());
    let stated = sized(2).filter(|stated| sized(7) == Some(*stated));
    if let Some(features) = features.or(stated) {
        return AnyManifold::for_features(text, features);
    }
    // What is wrong with the text itself comes first.
    AnyManifold::parse(text, 4)?;
    Err(NO_WIDTH)
}
