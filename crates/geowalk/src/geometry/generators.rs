//! # The generators
//! Each has one file, one row of [`TABLE`](entries), and one variant of [`AnyGenerator`].
//!
//! | name | type | ψ | domain | link |
//! |---|---|---|---|---|
//! | `squared-euclidean` | [`SquaredEuclidean`] | Σw² | ℝⁿ | 2w |
//! | `entropy` | [`KullbackLeibler`] | Σ w ln w − w | w > 0 | ln w |
//! | `simplex-entropy` | [`SimplexEntropy`] | Σ w ln w | w > 0, Σw = 1 | ln w |
//! | `burg` | [`ItakuraSaito`] | −Σ ln w | w > 0 | −1/w |
//! | `mahalanobis(sigma=..)` | [`Mahalanobis`] | wᵀΣw | ℝⁿ | 2Σw |
//! | `p-norm(q=..)` | [`PNorm`] | ½‖w‖_q² | ℝⁿ | sign(w) abs(w)^(q−1) ‖w‖_q^(2−q) |
//!
//! ```
//! use geowalk::geometry::{Generator, generators::AnyGenerator};
//! let generator = AnyGenerator::parse("mahalanobis(sigma=4 2; 2 10)", 2)?;
//! assert_eq!(generator.divergence(&[1.0, 0.0], &[0.0, 0.0]), 4.0);
//! assert_eq!(generator.spec(), "mahalanobis(sigma=4 2; 2 10)");
//! assert_eq!(AnyGenerator::parse("p-norm", 2)?.spec(), "p-norm(q=2)");
//! # Ok::<(), geowalk::ConfigError>(())
//! ```

pub(crate) mod gap;
mod itakura_saito;
pub(crate) mod kullback_leibler;
mod mahalanobis;
pub(crate) mod p_norm;
pub(crate) mod simplex_entropy;
mod squared_euclidean;
#[cfg(test)]
#[allow(clippy::unreadable_literal)] // copied with all digits
mod tests;

pub use itakura_saito::{BurgForm, ItakuraSaito, Reciprocal};
pub use kullback_leibler::{
    EntropyForm, KullbackLeibler, ReparamEntropyForm, ScaledValue, SquaredFactor,
};
pub use mahalanobis::Mahalanobis;
pub use p_norm::{PNorm, PNormForm};
pub use simplex_entropy::{ReparamSimplexForm, SimplexEntropy, SimplexEntropyForm, Tilts};
pub use squared_euclidean::SquaredEuclidean;

use super::{Curved, Generator, Modulus, Work};
use crate::Real;
use crate::error::{self, Allowed, ConfigError, DomainError};
use crate::spec::{self, Args, Entry, Spec};

/// Builds a generator for n coordinates from its arguments.
type Build = fn(&mut Args<'_>, usize) -> Result<AnyGenerator, ConfigError>;

const TABLE: &[(Entry, Build)] = &[
    (
        Entry {
            name: "squared-euclidean",
            parameters: "",
            summary: "squared Euclidean distance, without a factor 1/2: half a gradient step (all weights)",
            source: "NN09, table 1",
        },
        |_, _| Ok(AnyGenerator::SquaredEuclidean(SquaredEuclidean)),
    ),
    (
        Entry {
            name: "entropy",
            parameters: "",
            summary: "unnormalised relative entropy (Kullback-Leibler): multiplicative steps, EGU (w > 0)",
            source: "NN09, table 1; AW20, eq. (5)",
        },
        |_, _| Ok(AnyGenerator::KullbackLeibler(KullbackLeibler)),
    ),
    (
        Entry {
            name: "simplex-entropy",
            parameters: "",
            summary: "relative entropy on the probability simplex: exponentiated gradient, EG (w > 0, sum 1)",
            source: "AW20, sec. 2",
        },
        |_, _| Ok(AnyGenerator::SimplexEntropy(SimplexEntropy)),
    ),
    (
        Entry {
            name: "burg",
            parameters: "",
            summary: "Burg's entropy (Itakura-Saito): a divergence that does not see the scale (w > 0)",
            source: "NN09, table 1",
        },
        |_, _| Ok(AnyGenerator::ItakuraSaito(ItakuraSaito)),
    ),
    (
        Entry {
            name: "mahalanobis",
            parameters: "sigma=MATRIX",
            summary: "a constant metric, rows of the matrix separated by ';': natural gradient (all weights)",
            source: "NN09, table 1",
        },
        |args, n| {
            let Some(text) = args.text("sigma") else {
                return Err(ConfigError::Missing {
                    name: "sigma",
                    meaning: "a symmetric positive definite matrix, rows separated by ';': 2 1; 1 3",
                });
            };
            Ok(AnyGenerator::Mahalanobis(Mahalanobis::new(matrix(text, n)?, n)?))
        },
    ),
    (
        Entry {
            name: "p-norm",
            parameters: "q=auto",
            summary: "half the squared q-norm, 1 < q <= 2; auto is 2 ln n/(2 ln n - 1), for sparse targets (all weights)",
            source: "NN09, table 1; GLS01",
        },
        |args, n| {
            let generator = match args.text("q") {
                None | Some("auto") => PNorm::auto(n),
                Some(text) => match text.parse() {
                    Ok(q) => PNorm::new(q)?,
                    Err(_) => {
                        return Err(ConfigError::Syntax {
                            text: format!("q={text}"),
                            column: 3,
                            expected: "a number or 'auto'",
                        });
                    }
                },
            };
            Ok(AnyGenerator::PNorm(generator))
        },
    ),
];

/// All generators that can be built by name.
pub fn entries() -> impl Iterator<Item = &'static Entry> + Clone {
    TABLE.iter().map(|(entry, _)| entry)
}

/// Parses the n×n entries of a matrix written row by row, `2 1; 1 3`.
fn matrix(text: &str, n: usize) -> Result<Vec<f64>, ConfigError> {
    let mut entries = Vec::new();
    let mut rows = 0;
    for row in text.split(';') {
        let before = entries.len();
        for word in row.split_whitespace() {
            let Ok(number) = word.parse::<f64>() else {
                let byte = word.as_ptr().addr() - text.as_ptr().addr();
                return Err(ConfigError::Syntax {
                    text: format!("sigma={text}"),
                    column: "sigma=".len() + text[..byte].chars().count() + 1,
                    expected: "a number of a matrix like '2 1; 1 3' (a file must be read first)",
                });
            };
            entries.push(number);
        }
        let found = entries.len() - before;
        if found != n {
            return Err(
                DomainError::Dimension { what: "a row of sigma", found, expected: n }.into()
            );
        }
        rows += 1;
    }
    if rows == n {
        Ok(entries)
    } else {
        Err(DomainError::Dimension { what: "a column of sigma", found: rows, expected: n }.into())
    }
}

/// Any generator of the table.
#[derive(Debug, Clone, PartialEq)]
#[non_exhaustive]
pub enum AnyGenerator {
    /// `squared-euclidean`.
    SquaredEuclidean(SquaredEuclidean),
    /// `entropy`.
    KullbackLeibler(KullbackLeibler),
    /// `simplex-entropy`.
    SimplexEntropy(SimplexEntropy),
    /// `burg`.
    ItakuraSaito(ItakuraSaito),
    /// `mahalanobis(sigma=..)`.
    Mahalanobis(Mahalanobis),
    /// `p-norm(q=..)`.
    PNorm(PNorm),
}

impl AnyGenerator {
    /// Parses a specification, for n weights.
    pub fn parse(text: &str, n: usize) -> Result<Self, ConfigError> {
        let spec = Spec::parse(text)?;
        let mut args = spec.args();
        let generator = Self::build(spec.name(), &mut args, n)?;
        args.finish()?;
        Ok(generator)
    }

    /// Like [`AnyGenerator::parse`], for callers with further arguments: only the generator's arguments are taken.
    pub fn build(name: &str, args: &mut Args<'_>, n: usize) -> Result<Self, ConfigError> {
        error::parameter("n", n as f64, Allowed::Whole(1))?;
        match TABLE.iter().find(|(entry, _)| entry.name == name) {
            Some((_, build)) => build(args, n),
            None => Err(spec::unknown("generator", name, entries().map(|entry| entry.name))),
        }
    }

    /// The specification from which it can be rebuilt, bit for bit.
    pub fn spec(&self) -> String {
        match self {
            Self::SquaredEuclidean(_) => "squared-euclidean".to_owned(),
            Self::KullbackLeibler(_) => "entropy".to_owned(),
            Self::SimplexEntropy(_) => "simplex-entropy".to_owned(),
            Self::ItakuraSaito(_) => "burg".to_owned(),
            Self::Mahalanobis(mahalanobis) => {
                let row =
                    |row: &[f64]| row.iter().map(f64::to_string).collect::<Vec<_>>().join(" ");
                let rows = mahalanobis.sigma().chunks_exact(mahalanobis.n()).map(row);
                format!("mahalanobis(sigma={})", rows.collect::<Vec<_>>().join("; "))
            }
            Self::PNorm(p_norm) => format!("p-norm(q={})", p_norm.q()),
        }
    }
}

macro_rules! forward {
    ($any:expr, $generator:ident => $call:expr) => {
        match $any {
            AnyGenerator::SquaredEuclidean($generator) => $call,
            AnyGenerator::KullbackLeibler($generator) => $call,
            AnyGenerator::SimplexEntropy($generator) => $call,
            AnyGenerator::ItakuraSaito($generator) => $call,
            AnyGenerator::Mahalanobis($generator) => $call,
            AnyGenerator::PNorm($generator) => $call,
        }
    };
}

impl<F: Real> Generator<F> for AnyGenerator {
    fn check(&self, w: &[F]) -> Result<(), DomainError> {
        forward!(self, g => g.check(w))
    }

    fn check_dual(&self, theta: &[F]) -> Result<(), DomainError> {
        forward!(self, g => g.check_dual(theta))
    }

    fn value(&self, w: &[F]) -> F {
        forward!(self, g => g.value(w))
    }

    fn link(&self, w: &[F], theta: &mut [F]) {
        forward!(self, g => g.link(w, theta));
    }

    fn unlink(&self, theta: &[F], w: &mut [F]) {
        forward!(self, g => g.unlink(theta, w));
    }

    fn conjugate(&self, theta: &[F]) -> F {
        forward!(self, g => g.conjugate(theta))
    }

    fn divergence(&self, u: &[F], w: &[F]) -> F {
        forward!(self, g => g.divergence(u, w))
    }

    fn modulus(&self) -> Option<Modulus> {
        forward!(self, g => Generator::<F>::modulus(g))
    }

    fn modulus_within(&self, radius: f64) -> Option<Modulus> {
        forward!(self, g => Generator::<F>::modulus_within(g, radius))
    }

    fn legendre_dual(&self, u: &[F], p: &[F], out: &mut [F], work: &mut Work<F>) {
        forward!(self, g => g.legendre_dual(u, p, out, work));
    }
}

impl<F: Real> Curved<F> for AnyGenerator {
    fn dim(&self, n: usize) -> usize {
        forward!(self, g => Curved::<F>::dim(g, n))
    }

    fn check_curved(&self, w: &[F]) -> Result<(), DomainError> {
        forward!(self, g => g.check_curved(w))
    }

    fn hessian(&self, w: &[F], v: &[F], out: &mut [F]) {
        forward!(self, g => g.hessian(w, v, out));
    }

    fn hessian_inverse(&self, w: &[F], g: &[F], out: &mut [F]) {
        forward!(self, generator => generator.hessian_inverse(w, g, out));
    }

    fn project(&self, w: &[F], v: &mut [F]) {
        forward!(self, g => g.project(w, v));
    }

    fn check_tangent(&self, w: &[F], v: &[F]) -> Result<(), DomainError> {
        forward!(self, g => g.check_tangent(w, v))
    }

    fn origin(&self, w: &mut [F]) {
        forward!(self, g => g.origin(w));
    }
}
