//! # Walks: what a learner carries from example to example
//! The updates of [`update`](crate::update) as learners run them: O(nnz) per example whatever the geometry, `f64` only, nothing allocated
//! per example, dense and sparse rows through the same code. The gradient of a linear predictor is a multiple g·x of
//! the row, so a step changes the coordinates of the row, and all others at most by a common factor:
//!
//! | walk | step | state |
//! |---|---|---|
//! | [`Euclidean`] | w − ηg x | w |
//! | [`Sphere`] | geodesic: a w + b x | c, v with w = c·v, and Σv² |
//! | [`Simplex`] | geodesic (Fisher): p_i (a − b x_i)² | log-weights, partition |
//! | [`Orthant`] | geodesic: w_i exp(−ηg x_i w_i) | ln w |
//! | [`Hyperbolic`] | geodesic: a w + b x | c, v with w = c·v, and Σv² |
//! | [`Entropy`] | mirror: w_i exp(−ηg x_i) | ln w |
//! | [`SimplexEntropy`] | the same, divided by the sum | log-weights, partition |
//! | [`PNorm`] | mirror: θ − ηg x | θ, Σ∣θ∣^p |
//! | [`Mahalanobis`] | mirror: w − ½ηg Σ⁻¹x | w |
//! | [`Burg`] | mirror: θ − ηg x, w = −1/θ | θ |
//! | [`ReparamEntropy`], [`ReparamSimplex`] | gradient descent on u with w = u² | 2 ln∣u∣ |
//! | [`Adaptive`] | diagonal metric learned from the stream | w, scale and squared gradients of each feature |
//! | [`Free`] | a bet on each coordinate; no rate | wealth and sums of each feature |
//! | [`Vaw`] | ridge regression after every row; O(d²) | a triangular factor |
//!
//! [`Implicit`] makes implicit steps with the first nine but [`Mahalanobis`], in place of the table's. Three more wrappers take any of them:
//! [`Signed`] makes signed weights of positive ones, [`Normalised`] puts coordinates in units of the largest magnitude so
//! far, [`Clipped`] clips predictions to a declared range. [`winnow`] has the constants of the Winnow algorithms.
//!
//! **What is common to all**
//! * A step that cannot be made (a prediction, loss or slope that is not finite, a dual vector outside its domain) is an error,
//!   and leaves the weights what they were. A step that was made, but not as the formula says, reports an
//!   [`Event`](crate::geometry::Event).
//! * New features may come at any time. They enter with the weight that they would have had if they had been there, always 0,
//!   from the beginning.
//! * Running sums know a bound on their own rounding error and are summed anew, in O(n), before it exceeds 1e-13 of their value.
//! * [`Walk::gauge`] says before a step how strongly the row pulls: what a self-tuned rate needs.
//! * [`Walk::save`] and [`Walk::load`] continue a run with the same bits.

mod adaptive;
mod clipped;
mod free;
mod mahalanobis;
mod normalised;
mod signed;
#[cfg(test)]
mod tests;
mod vaw;
pub mod winnow;

pub(crate) use crate::learn::base::*;
pub use crate::learn::gauge::Gauge;
pub use crate::learn::{After, Implicit, Proximal, Solved, Steps, Walk};
pub use adaptive::Adaptive;
pub use clipped::Clipped;
pub use free::Free;
pub use mahalanobis::Mahalanobis;
pub use normalised::{AsSparse, Normalised, Shape};
pub(crate) use signed::Both;
pub use signed::Signed;
pub use vaw::Vaw;

use crate::geometry::{generators, manifolds};

/// Gradient descent from 0.
///
/// ```
/// use geowalk::loss::Squared;
/// use geowalk::row::Sparse;
/// use geowalk::walk::{Euclidean, Walk};
///
/// let mut gd = Euclidean::new();
/// let round = gd.step(Sparse::new(&[3], &[2.0])?, 1.0.into(), &Squared, 0.1)?;
/// assert_eq!((round.z, round.slope, round.length), (0.0, -2.0, 0.4));
/// assert_eq!(gd.predict(Sparse::new(&[3], &[1.0])?), 0.4);
/// # Ok::<(), geowalk::DomainError>(())
/// ```
pub type Euclidean = Steps<manifolds::EuclideanForm>;

/// Weights of norm r.
///
/// ```
/// use geowalk::loss::Squared;
/// use geowalk::row::Dense;
/// use geowalk::walk::{Sphere, Walk};
///
/// // Which direction is orthogonal to (0.6, 0.8)?
/// let mut walk = Sphere::new(1.0, 7)?;
/// for _ in 0..50 {
///     walk.step(Dense(&[0.6, 0.8]), 0.0.into(), &Squared, 0.25)?;
/// }
/// let mut w = Vec::new();
/// walk.read(&mut w);
/// assert!((w[0].abs() - 0.8).abs() < 1e-12 && (w[1].abs() - 0.6).abs() < 1e-12, "{w:?}");
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
pub type Sphere = Steps<manifolds::SphereForm>;

/// Weights on the hyperboloid; those of the features are its spatial coordinates.
///
/// ```
/// use geowalk::loss::Squared;
/// use geowalk::row::Dense;
/// use geowalk::walk::{Hyperbolic, Walk};
///
/// let mut walk = Hyperbolic::new();
/// let round = walk.step(Dense(&[1.0, 0.0]), 1.0.into(), &Squared, 0.25)?;
/// // A walk of length ½ from the origin ends at sinh ½, with time coordinate cosh ½.
/// assert_eq!(round.length, 0.5);
/// assert!((walk.predict(Dense(&[1.0, 0.0])) - 0.5211).abs() < 1e-4);
/// assert!((walk.time() - 1.1276).abs() < 1e-4);
/// # Ok::<(), geowalk::DomainError>(())
/// ```
pub type Hyperbolic = Steps<manifolds::HyperbolicForm>;

/// A probability for each feature, geodesic steps.
///
/// ```
/// use geowalk::loss::Squared;
/// use geowalk::row::Dense;
/// use geowalk::walk::{Simplex, Walk};
///
/// let mut walk = Simplex::new();
/// for _ in 0..200 {
///     walk.step(Dense(&[1.0, 0.0, -1.0]), 0.5.into(), &Squared, 0.5)?;
/// }
/// assert!((walk.predict(Dense(&[1.0, 0.0, -1.0])) - 0.5).abs() < 1e-12);
/// assert_eq!(walk.folds(), 0);
/// # Ok::<(), geowalk::DomainError>(())
/// ```
pub type Simplex = Steps<manifolds::SimplexForm>;

/// NEG: positive weights, geodesic steps.
///
/// ```
/// use geowalk::loss::Squared;
/// use geowalk::row::Dense;
/// use geowalk::walk::{Orthant, Walk};
///
/// let mut neg = Orthant::new(0.5)?;
/// let round = neg.step(Dense(&[1.0, 0.0]), 0.0.into(), &Squared, 0.5)?;
/// assert_eq!(round.length, 0.25);
/// // The slope is 1, so w₁ = ½·exp(−½·1·½).
/// assert!((neg.predict(Dense(&[1.0, 0.0])) - 0.3894).abs() < 1e-4);
/// # Ok::<(), geowalk::ConfigError>(())
/// ```
pub type Orthant = Steps<manifolds::OrthantForm>;

/// EGU: positive weights, moved by factors.
///
/// ```
/// use geowalk::loss::Squared;
/// use geowalk::row::Dense;
/// use geowalk::walk::{Entropy, Walk};
///
/// let mut egu = Entropy::new(1.0)?;
/// egu.step(Dense(&[1.0, 0.0]), 0.0.into(), &Squared, 0.5)?;
/// let mut w = Vec::new();
/// egu.read(&mut w);
/// assert_eq!(w, [0.36787944117144233, 1.0]);
/// # Ok::<(), geowalk::ConfigError>(())
/// ```
pub type Entropy = Steps<generators::EntropyForm>;

/// EG: a probability for each feature, moved by factors.
///
/// ```
/// use geowalk::loss::Squared;
/// use geowalk::row::Dense;
/// use geowalk::walk::{SimplexEntropy, Walk};
///
/// let mut eg = SimplexEntropy::new();
/// for _ in 0..200 {
///     eg.step(Dense(&[1.0, 0.0, -1.0]), 0.5.into(), &Squared, 0.5)?;
/// }
/// assert!((eg.predict(Dense(&[1.0, 0.0, -1.0])) - 0.5).abs() < 1e-12);
/// # Ok::<(), geowalk::DomainError>(())
/// ```
pub type SimplexEntropy = Steps<generators::SimplexEntropyForm>;

/// Mirror descent in the q-norm.
///
/// ```
/// use geowalk::loss::Squared;
/// use geowalk::row::Dense;
/// use geowalk::walk::{PNorm, Walk};
///
/// // q = 3/2, p = 3: θ = (1, 2) has norm 9^⅓, and w = (1, 4)/9^⅓.
/// let mut walk = PNorm::new(1.5)?;
/// walk.step(Dense(&[0.5, 1.0]), 1.0.into(), &Squared, 1.0)?;
/// let mut w = Vec::new();
/// walk.read(&mut w);
/// assert!((w[0] - 0.4807).abs() < 1e-4 && (w[1] - 1.9230).abs() < 1e-4, "{w:?}");
/// # Ok::<(), geowalk::ConfigError>(())
/// ```
pub type PNorm = Steps<generators::PNormForm>;

/// Positive weights −1/θ.
///
/// ```
/// use geowalk::loss::Squared;
/// use geowalk::row::Dense;
/// use geowalk::walk::{Burg, Walk};
///
/// let mut walk = Burg::new(0.5)?;
/// walk.step(Dense(&[1.0, 0.0]), 0.0.into(), &Squared, 0.5)?;
/// // The slope is 1: θ₁ = −2 − ½.
/// assert_eq!(walk.predict(Dense(&[1.0, 0.0])), 0.4);
/// // Uphill, θ₁ would be 0 or more:
/// let error = walk.step(Dense(&[1.0, 0.0]), 10.0.into(), &Squared, 0.5).unwrap_err();
/// assert!(error.to_string().starts_with("coordinate 0 of the dual weights is 7.1"));
/// # Ok::<(), geowalk::ConfigError>(())
/// ```
pub type Burg = Steps<generators::BurgForm>;

/// The twin of EGU.
///
/// ```
/// use geowalk::loss::Squared;
/// use geowalk::row::Dense;
/// use geowalk::walk::{ReparamEntropy, Walk};
///
/// let mut walk = ReparamEntropy::new(1.0)?;
/// walk.step(Dense(&[1.0, 0.0]), 0.5.into(), &Squared, 0.25)?;
/// // The slope is 1: u₁ = 1 − ⅛.
/// assert!((walk.predict(Dense(&[1.0, 0.0])) - 0.765625).abs() < 1e-15);
/// # Ok::<(), geowalk::ConfigError>(())
/// ```
pub type ReparamEntropy = Steps<generators::ReparamEntropyForm>;

/// The twin of EG.
///
/// ```
/// use geowalk::loss::Squared;
/// use geowalk::row::Dense;
/// use geowalk::walk::{ReparamSimplex, Walk};
///
/// let mut walk = ReparamSimplex::new();
/// for _ in 0..200 {
///     walk.step(Dense(&[1.0, 0.0, -1.0]), 0.5.into(), &Squared, 0.5)?;
/// }
/// assert!((walk.predict(Dense(&[1.0, 0.0, -1.0])) - 0.5).abs() < 1e-12);
/// # Ok::<(), geowalk::DomainError>(())
/// ```
pub type ReparamSimplex = Steps<generators::ReparamSimplexForm>;
