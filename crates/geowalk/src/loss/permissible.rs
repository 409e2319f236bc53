//! # Permissible functions
//! Each one defines a balanced convex loss. A permissible φ on [0, 1] is strictly convex, differentiable inside,
//! symmetric, φ(p) = φ(1 − p), and not positive. With $a = -\varphi(0) \ge 0$ and $b = -\varphi(\tfrac12) - a > 0$ it
//! defines four quantities:
//!
//! | | | used by |
//! |---|---|---|
//! | the loss | $F_\varphi(z) = (\varphi^\star(-z) - a)/b$, $F_\varphi(0) = 1$ | boosting, on-line learning |
//! | the weight | $w = \nabla\varphi^{-1}(-z) \in [0, 1]$ | boosting |
//! | the probability | $\nabla\varphi^{-1}(H)$ | every classifier |
//! | the impurity | $-\varphi(p) - a$ | decision trees |
//!
//! φ⋆ is the conjugate over the *closed* interval, so it is finite on all of ℝ. If the image of ∇φ is bounded
//! ([`Gini`], [`Zeta`]), the probability saturates outside the image: it is exactly 0 or 1.
//!
//! **Care** Everything is computed from the tail, the less likely class: with $h = |H|$,
//! $\varphi^\star(h) = h + \varphi^\star(-h)$ and $\nabla\varphi^{-1}(h) = 1 - \nabla\varphi^{-1}(-h)$. So a loss of
//! 1e-20 has all its digits. So has a probability of 1 − 1e-20 if the caller asks for its
//! [`complement`](Permissible::complement). The loss determines φ only up to an affine term; symmetry fixes the linear
//! part.
//! **Source** \[NN09, def. 6 and 7, eq. (26)–(43), (107)\], with −φ ≥ 0 in place of the printed φ ≥ 0.

mod custom;
mod entropy;
mod gini;
mod matsushita;
mod mu;
mod nu;
mod root;
mod zeta;

#[cfg(test)]
mod tests;

pub use custom::CustomPermissible;
pub use entropy::Entropy;
pub use gini::Gini;
pub use matsushita::Matsushita;
pub use mu::Mu;
pub use nu::Nu;
pub use zeta::Zeta;

use std::fmt::Debug;
use std::sync::Arc;

use crate::error::ConfigError;
use crate::spec::{self, Args, Entry, Spec};

/// A permissible function φ. Probabilities outside [0, 1] give NaN.
///
/// ```
/// use geowalk::loss::permissible::{Matsushita, Permissible};
/// let phi = Matsushita;
/// assert_eq!(phi.transfer(0.75), 0.8);
/// assert_eq!(phi.surrogate(0.75), 0.5);
/// assert_eq!(phi.cost(2.0, 10.0), 8.0);
/// ```
pub trait Permissible: Debug + Send + Sync {
    /// The specification from which it can be rebuilt: `mu(mu=0.5)`.
    fn spec(&self) -> String;

    /// a = −φ(0) ≥ 0.
    fn a(&self) -> f64;

    /// b = −φ(½) − a > 0.
    fn b(&self) -> f64;

    /// inf φ″.
    fn curvature_floor(&self) -> f64;

    /// The infimum and the supremum of ∇φ; beyond them probabilities saturate.
    fn image(&self) -> (f64, f64);

    /// −φ(p) − a ≥ 0, without cancellation: 0 at the ends, b at ½.
    fn impurity(&self, p: f64) -> f64;

    /// ∇φ(p); at 0 and 1 the limits, which may be infinite.
    fn gradient(&self, p: f64) -> f64;

    /// φ″(p); at 0 and 1 the limits.
    fn curvature(&self, p: f64) -> f64;

    /// ∇φ⁻¹(−h) ∈ [0, ½] for h ≥ 0: the probability of the less likely class.
    fn tail(&self, h: f64) -> f64;

    /// φ⋆(−h) − a ≥ 0 for h ≥ 0, without cancellation.
    fn tail_excess(&self, h: f64) -> f64;

    /// (φ⋆)″(H) = 1/φ″(∇φ⁻¹(H)); 0 if saturated.
    fn conjugate_curvature(&self, h: f64) -> f64;

    /// φ(p) ≤ 0.
    fn phi(&self, p: f64) -> f64 {
        -self.a() - self.impurity(p)
    }

    /// The transfer function ∇φ⁻¹(H) ∈ [0, 1], saturating.
    fn transfer(&self, h: f64) -> f64 {
        if h < 0.0 { self.tail(-h) } else { 1.0 - self.tail(h) }
    }

    /// 1 − ∇φ⁻¹(H) = ∇φ⁻¹(−H), without cancellation.
    fn complement(&self, h: f64) -> f64 {
        self.transfer(-h)
    }

    /// φ⋆(H) − a.
    fn excess(&self, h: f64) -> f64 {
        if h > 0.0 { h + self.tail_excess(h) } else { self.tail_excess(-h) }
    }

    /// φ⋆(H) = sup over p in [0, 1] of Hp − φ(p), with the constant a. \[NN09, eq. (32)\] gives the positive side.
    fn conjugate(&self, h: f64) -> f64 {
        self.a() + self.excess(h)
    }

    /// The balanced convex loss F(z) = (φ⋆(−z) − a)/b of the edge z = yH. \[NN09, eq. (30)\]
    fn surrogate(&self, z: f64) -> f64 {
        self.raw(z) / self.b()
    }

    /// F′(z) = −∇φ⁻¹(−z)/b.
    fn surrogate_slope(&self, z: f64) -> f64 {
        -self.weight(z) / self.b()
    }

    /// The loss on the raw scale, b·F(z) = φ⋆(−z) − a.
    fn raw(&self, z: f64) -> f64 {
        self.excess(-z)
    }

    /// The weight ∇φ⁻¹(−z) ∈ [0, 1] of an example with edge z: minus the slope of [`raw`](Self::raw), ½ at 0.
    fn weight(&self, z: f64) -> f64 {
        self.transfer(-z)
    }

    /// The probability of the positive class. \[NN09, eq. (41)\]
    fn probability(&self, h: f64) -> f64 {
        self.transfer(h)
    }

    /// The margin 2∇φ⁻¹(yH) − 1 ∈ [−1, 1] for y = ±1. \[NN09, eq. (42), (43)\]
    fn margin(&self, h: f64, y: f64) -> f64 {
        self.transfer(y * h) - self.complement(y * h)
    }

    /// The Legendre dual u ◇ p = ∇φ⁻¹(∇φ(p) + u) \[NN09, eq. (49)\]. Duals add up, u ◇ (v ◇ p) = (u + v) ◇ p, only as
    /// long as no sum leaves the [`image`](Self::image) of ∇φ: saturation loses the excess.
    fn legendre_dual(&self, u: f64, p: f64) -> f64 {
        self.transfer(self.gradient(p) + u)
    }

    /// The cost n(−φ(k/n) − a)/b of a leaf with k positive examples among n (or such weights); 0 for an empty leaf.
    fn cost(&self, k: f64, n: f64) -> f64 {
        if n == 0.0 { 0.0 } else { n * (self.impurity(k / n) / self.b()) }
    }
}

/// The probability of the less likely class, q = min(p, 1 − p), exactly, and the sign of p − ½. NaN outside [0, 1].
#[inline]
fn fold(p: f64) -> (f64, f64) {
    let (q, sign) = if p > 0.5 { (1.0 - p, 1.0) } else { (p, -1.0) };
    (if q >= 0.0 { q } else { f64::NAN }, sign)
}

type Build = fn(&mut Args<'_>) -> Result<AnyPermissible, ConfigError>;

const TABLE: &[(Entry, Build)] = &[
    (
        Entry {
            name: "gini",
            parameters: "",
            summary: "-p(1-p): Gini index; squared hinge with a linear tail; saturates",
            source: "NN09, eq. (26)",
        },
        |_| Ok(AnyPermissible::Gini(Gini)),
    ),
    (
        Entry {
            name: "matsushita",
            parameters: "",
            summary: "-sqrt(p(1-p)): Matsushita's error",
            source: "NN09, eq. (28)",
        },
        |_| Ok(AnyPermissible::Matsushita(Matsushita)),
    ),
    (
        Entry {
            name: "entropy",
            parameters: "",
            summary: "p ln p + (1-p) ln(1-p): the logistic loss",
            source: "NN09, eq. (29)",
        },
        |_| Ok(AnyPermissible::Entropy(Entropy)),
    ),
    (
        Entry {
            name: "mu",
            parameters: "mu=0.5",
            summary: "-(mu + (1-mu) sqrt(p(1-p))), 0 <= mu < 1: Matsushita's error on another scale",
            source: "NN09, eq. (27)",
        },
        |args| Mu::new(args.number("mu", 0.5)?).map(AnyPermissible::Mu),
    ),
    (
        Entry {
            name: "nu",
            parameters: "nu=0.25",
            summary: "-(p(1-p))^nu, 0 < nu < 1",
            source: "NN09, eq. (107)",
        },
        |args| Nu::new(args.number("nu", 0.25)?).map(AnyPermissible::Nu),
    ),
    (
        Entry {
            name: "zeta",
            parameters: "zeta=-4",
            summary: "a log cosh, zeta < 0: from Gini (zeta -> 0) to the hinge loss; saturates",
            source: "NN09, eq. (35)",
        },
        |args| Zeta::new(args.number("zeta", -4.0)?).map(AnyPermissible::Zeta),
    ),
];

/// All named permissible functions, for lists and help texts.
pub fn entries() -> impl Iterator<Item = &'static Entry> + Clone {
    TABLE.iter().map(|(entry, _)| entry)
}

/// Any permissible function, chosen at run time.
///
/// ```
/// use geowalk::loss::permissible::{AnyPermissible, Permissible};
/// let phi = AnyPermissible::parse("mu(mu=0.25)")?;
/// assert_eq!((phi.a(), phi.b(), phi.curvature_floor()), (0.25, 0.375, 1.5));
/// let error = AnyPermissible::parse("ginny").unwrap_err();
/// assert!(error.to_string().contains("did you mean 'gini'?"));
/// # Ok::<(), geowalk::ConfigError>(())
/// ```
#[derive(Debug, Clone)]
pub enum AnyPermissible {
    /// `gini`.
    Gini(Gini),
    /// `matsushita`.
    Matsushita(Matsushita),
    /// `entropy`.
    Entropy(Entropy),
    /// `mu(mu=0.5)`.
    Mu(Mu),
    /// `nu(nu=0.25)`.
    Nu(Nu),
    /// `zeta(zeta=-4)`.
    Zeta(Zeta),
    /// A function without a name in the table, such as a [`CustomPermissible`].
    Other(Arc<dyn Permissible>),
}

impl AnyPermissible {
    /// Parses a specification such as `nu(nu=0.3)`.
    pub fn parse(text: &str) -> Result<Self, ConfigError> {
        let spec = Spec::parse(text)?;
        let mut args = spec.args();
        let found = Self::named(spec.name(), &mut args).ok_or_else(|| {
            spec::unknown("permissible function", spec.name(), entries().map(|e| e.name))
        })??;
        args.finish()?;
        Ok(found)
    }

    /// The function called `name`, with its parameters taken from `args`. Returns `None` if no function has that name.
    /// The caller must still call [`finish`](Args::finish) on the arguments.
    pub fn named(name: &str, args: &mut Args<'_>) -> Option<Result<Self, ConfigError>> {
        let (_, build) = TABLE.iter().find(|(entry, _)| entry.name == name)?;
        Some(build(args))
    }
}

/// User-defined functions are equal only to themselves.
impl PartialEq for AnyPermissible {
    fn eq(&self, other: &Self) -> bool {
        match (self, other) {
            (Self::Other(f), Self::Other(g)) => Arc::ptr_eq(f, g),
            (Self::Other(_), _) | (_, Self::Other(_)) => false,
            // A specification contains every bit of the parameters.
            _ => self.spec() == other.spec(),
        }
    }
}

macro_rules! forward {
    ($($name:ident($($arg:ident)?) -> $out:ty),* $(,)?) => {
        impl Permissible for AnyPermissible {
            $(
                #[inline]
                fn $name(&self $(, $arg: f64)?) -> $out {
                    match self {
                        Self::Gini(f) => f.$name($($arg)?),
                        Self::Matsushita(f) => f.$name($($arg)?),
                        Self::Entropy(f) => f.$name($($arg)?),
                        Self::Mu(f) => f.$name($($arg)?),
                        Self::Nu(f) => f.$name($($arg)?),
                        Self::Zeta(f) => f.$name($($arg)?),
                        Self::Other(f) => f.$name($($arg)?),
                    }
                }
            )*
        }

        // Matsushita uses the arithmetic of Mu with μ = 0; only the specification differs.
        impl Permissible for Matsushita {
            forward!(@matsushita $($name($($arg)?) -> $out),*);
        }
    };
    (@matsushita spec() -> $string:ty $(, $name:ident($($arg:ident)?) -> $out:ty)*) => {
        fn spec(&self) -> String {
            "matsushita".to_owned()
        }
        $(
            #[inline]
            fn $name(&self $(, $arg: f64)?) -> $out {
                Mu::MATSUSHITA.$name($($arg)?)
            }
        )*
    };
}

forward!(
    spec() -> String,
    a() -> f64,
    b() -> f64,
    curvature_floor() -> f64,
    image() -> (f64, f64),
    impurity(p) -> f64,
    gradient(p) -> f64,
    curvature(p) -> f64,
    tail(h) -> f64,
    tail_excess(h) -> f64,
    conjugate_curvature(h) -> f64,
);
