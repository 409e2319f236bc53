//! # Walks
//! A walk is the state that a learner carries from example to example, with the rule that updates it. Walks implement
//! the updates of [`update`](crate::update) for learners: O(nnz) per example for every geometry, `f64` only, no
//! allocation per example, the same code for dense and sparse rows. The gradient of a linear predictor is a multiple
//! g·x of the row. So a step changes the coordinates of the row, and all others at most by a common factor:
//! | walk | step | state |
//! |---|---|---|
//! | [`Euclidean`] | w − ηg x | w |
//! | [`Sphere`] | geodesic: a w + b x | c, v with w = c·v, and Σv² |
//! | [`Simplex`] | geodesic (Fisher): p_i (a − b x_i)² | log-weights, partition |
//! | [`Orthant`] | geodesic: w_i exp(−ηg x_i w_i) | ln w |
//! | [`Hyperbolic`] | geodesic: a w + b x | c, v with w = c·v, and Σv² |
//! | [`Entropy`] | mirror: w_i exp(−ηg x_i) | ln w |
//! | [`SimplexEntropy`] | mirror: w_i exp(−ηg x_i), divided by the sum | log-weights, partition |
//! | [`PNorm`] | mirror: θ − ηg x | θ, Σ∣θ∣^p |
//! | [`Mahalanobis`] | mirror: w − ½ηg Σ⁻¹x | w |
//! | [`Burg`] | mirror: θ − ηg x, w = −1/θ | θ |
//! | [`ReparamEntropy`], [`ReparamSimplex`] | gradient descent on u with w = u² | 2 ln∣u∣ |
//! | [`Adaptive`] | diagonal metric learned from the stream | w, scale and squared gradients of each feature |
//! | [`Free`] | scale-invariant betting on each coordinate; no learning rate | wealth and sums of each feature |
//! | [`Vaw`] | ridge regression after every row; O(d²) | a triangular factor |
//!
//! [`Implicit`] makes implicit steps with the first nine except [`Mahalanobis`], instead of the steps in the table.
//! Three more wrappers accept any walk: [`Signed`] turns positive weights into signed ones, [`Normalised`] scales
//! coordinates by their largest magnitude so far, [`Clipped`] clips predictions to a declared range. [`winnow`] has
//! the constants of the Winnow algorithms.
//! A fourth, [`Centred`], counts labels from their mean, in units of their standard deviation.
//!
//! **Common to all walks**
//! * A step that cannot be made (a prediction, loss or slope that is not finite, a dual vector outside its domain) is
//!   an error and leaves the weights unchanged. A step that was made, but deviates from the formula, reports an
//!   [`Event`](crate::geometry::Event).
//! * New features may appear at any time. They start with the weight that they would have if they had always been
//!   there with value 0.
//! * Running sums keep a bound on their rounding error, and are recomputed in O(n) before it exceeds 1e-13 of their
//!   value.
//! * [`Walk::gauge`] measures before a step how much the row will change the prediction, for self-tuned rates.
//! * [`Walk::save`] and [`Walk::load`] continue a run with the same bits.

mod adaptive;
mod centred;
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
pub use centred::Centred;
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

/// Natural exponentiated gradient (NEG): positive weights, geodesic steps.
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

/// Unnormalised exponentiated gradient (EGU): positive weights, multiplicative steps.
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

/// Exponentiated gradient (EG): a probability for each feature, multiplicative steps.
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

/// Mirror descent with the squared q-norm.
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

/// Mirror descent with Burg's entropy: positive weights w = −1/θ.
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

/// The twin of EGU: gradient descent on u with w = u².
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

/// The twin of EG: gradient descent on u with w = u², divided by the sum.
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
