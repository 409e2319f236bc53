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
//!
//! [`Implicit`] makes implicit steps with the first nine but [`Mahalanobis`], in place of the table's. Two more wrappers take any of them: [`Signed`] makes signed weights of positive ones, [`Clipped`] clips predictions to a
//! declared range. [`winnow`] has the constants of the Winnow algorithms.
//!
//! **What is common to all**
//! * A step that cannot be made (a prediction, loss or slope that is not finite, a dual vector outside its domain) is an error,
//!   and leaves the weights what they were. A step that was made, but not as the formula says, reports an [`Event`].
//! * New features may come at any time. They enter with the weight that they would have had if they had been there, always 0,
//!   from the beginning.
//! * Running sums know a bound on their own rounding error and are summed anew, in O(n), before it exceeds 1e-13 of their value.
//! * [`Walk::gauge`] says before a step how strongly the row pulls: what a self-tuned rate needs.
//! * [`Walk::save`] and [`Walk::load`] continue a run with the same bits.

mod adaptive;
mod clipped;
mod free;
mod mahalanobis;
mod signed;
#[cfg(test)]
mod tests;
pub mod winnow;

pub use crate::learn::gauge::Gauge;
pub use crate::learn::{After, Implicit, Proximal, Solved, Steps};
pub use adaptive::Adaptive;
pub use clipped::Clipped;
pub use free::Free;
pub use mahalanobis::Mahalanobis;
pub(crate) use signed::Both;
pub use signed::Signed;

use crate::Real;
use crate::error::{self, Allowed, ConfigError, DomainError};
use crate::geometry::{Event, generators, manifolds};
use crate::loss::Loss;
use crate::row::Row;
use crate::update::{Round, Target};

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

/// A learner's weights, and the rule that moves them.
pub trait Walk: Send + Sync {
    /// How many features have a weight.
    fn features(&self) -> usize;

    /// Makes room for the features below `n`.
    fn grow(&mut self, n: usize);

    /// z = ⟨w, x⟩. Features without a weight count as weight 0.
    fn predict<X: Row<f64>>(&self, x: X) -> f64;

    /// Predicts, then moves. Features of the row that have no weight get one first. On an error the weights are unchanged.
    fn step<X: Row<f64>, L: Loss + ?Sized>(
        &mut self,
        x: X,
        target: Target,
        loss: &L,
        rate: f64,
    ) -> Result<Round, DomainError>;

    /// How the last step pulled at what this walk shares with the walks of the other classes of one softmax: 0 if it shares nothing.
    fn pull(&self) -> f64 {
        0.0
    }

    /// Makes the shared part of the last step again, with the pull of all classes in place of its own.
    fn follow(&mut self, _pull: f64) {}

    /// Takes over what walks of one softmax share.
    fn share(&mut self, _other: &Self) {}

    /// w ← the weights, one for each feature.
    fn read(&self, w: &mut Vec<f64>);

    /// A factor that all weights have in common and that any step may change.
    fn common(&self) -> f64 {
        1.0
    }

    /// w_i without the [common](Walk::common) factor, if a step changes no other such weights than those of the row; `None` if it changes all of them.
    fn local(&self, _i: usize) -> Option<f64> {
        None
    }

    /// The logarithm of what all [local](Walk::local) weights have been multiplied by at once so far, and the common factor divided by.
    fn unit(&self) -> f64 {
        0.0
    }

    /// How strongly a row of features that have weights pulls.
    fn gauge<X: Row<f64>>(&self, x: X) -> Gauge {
        Gauge::euclidean(x)
    }

    /// out ← Γ = Σ g_t x_t of all steps so far, if the state holds it; `rate` is that of every step, if they all had the same. The
    /// [first-order certificate](crate::certify::FirstOrder) then needs no vector of its own. Returns b ≥ 0 such that each coordinate is as exact as the plain sum of the
    /// terms and of one more of size b, each rounded at most four times, values of the row below 1e-150 left out; `None` if Γ is not there.
    fn gamma(&self, _rate: Option<f64>, _out: &mut Vec<f64>) -> Option<f64> {
        None
    }

    /// No less than ‖w‖₂ and ‖Γ‖₂, and hardly more, if the state holds [Γ](Walk::gamma): in one pass and without copies, for certificates that are asked for often.
    fn lengths(&self, _rate: Option<f64>) -> Option<(f64, f64)> {
        None
    }

    /// A bound on the regret against all u with |u_i| ≤ size(i) that the state holds, as that of bets does.
    fn bets(&self, _size: &dyn Fn(usize) -> f64) -> Option<f64> {
        None
    }

    /// ‖g·x‖₂ of a round that was made on this row, for the same certificate.
    #[inline]
    fn gradient<X: Row<f64>>(&self, round: &Round, x: X) -> f64 {
        round.slope.abs() * x.length()
    }

    /// Gives away everything that changes, as named arrays.
    fn save(&self, put: &mut dyn FnMut(&'static str, &[f64]));

    /// Continues from what [`Walk::save`] gave, with the same bits as if there had been no interruption. On an error the walk is
    /// unchanged.
    fn load(
        &mut self,
        get: &mut dyn FnMut(&'static str) -> Option<Vec<f64>>,
    ) -> Result<(), ConfigError>;
}

/// No weight, rate or slope may be larger: products of two stay finite, and so do sums of many.
pub(crate) const LARGEST: f64 = 1e150;

/// Values of features nearer to 0 are taken for 0 by the walks that divide by a feature's scale.
const SMALLEST: f64 = 1e-150;

/// What the example says about the prediction z, as a round that has not moved yet.
pub(crate) fn judge<L: Loss + ?Sized>(
    z: f64,
    target: Target,
    loss: &L,
    rate: f64,
) -> Result<Round, DomainError> {
    scalar("the prediction", z, Allowed::Finite)?;
    scalar("the importance weight", target.weight, Allowed::NonNegative)?;
    scalar("the rate", rate, Allowed::Closed(0.0, LARGEST))?;
    let (value, slope) = loss.value_and_slope(z, target.y);
    let (value, slope) = (target.weight * value, target.weight * slope);
    scalar("the loss", value, Allowed::Finite)?;
    scalar("the slope of the loss", slope, Allowed::Closed(-LARGEST, LARGEST))?;
    Ok(Round { z, loss: value, slope, rate, length: 0.0, event: Event::Inside })
}

#[inline(always)] // what is allowed is known where it is called
pub(crate) fn scalar(what: &'static str, value: f64, allowed: Allowed) -> Result<f64, DomainError> {
    if allowed.contains(value) {
        Ok(value)
    } else {
        Err(DomainError::Scalar { what, value, allowed })
    }
}

/// Refuses steps that are too long to be represented, and NaN.
pub(crate) fn length(length: f64) -> Result<f64, DomainError> {
    if length <= LARGEST {
        Ok(length)
    } else {
        Err(DomainError::Overflow { length, limit: LARGEST })
    }
}

/// Is the value of a feature large enough to count? True for NaN.
#[inline]
fn present(x: f64) -> bool {
    x.abs() >= SMALLEST || x.is_nan()
}

/// Refuses rows with values beyond 1e150, and NaN; gives the largest magnitude.
pub(crate) fn in_range<X: Row<f64>>(x: X) -> Result<f64, DomainError> {
    let (mut bad, mut largest) = (None, 0.0);
    x.each(|i, x| {
        if x.is_nan() || x.abs() > LARGEST {
            bad = Some((i, x));
        }
        largest = Real::max(largest, x.abs());
    });
    match bad {
        None => Ok(largest),
        Some((index, value)) => {
            let allowed = Allowed::Closed(-LARGEST, LARGEST);
            Err(DomainError::Coordinate { what: "the row", index, value, allowed })
        }
    }
}

/// out ← (start − θ)/η, the Γ of a walk whose dual coordinates θ began at `start` and moved by −ηg x; see [`Walk::gamma`].
pub(crate) fn dual_gamma(
    theta: &[f64],
    start: f64,
    rate: Option<f64>,
    out: &mut Vec<f64>,
) -> Option<f64> {
    // A rate so small that products with it underflow would leave nothing of Γ.
    let rate = rate.filter(|&rate| Allowed::Closed(1e-100, LARGEST).contains(rate))?;
    out.clear();
    out.extend(theta.iter().map(|theta| (start - theta) / rate));
    Some(start.abs() / rate)
}

/// An array of a saved state, checked coordinate by coordinate.
pub(crate) fn array(
    get: &mut dyn FnMut(&'static str) -> Option<Vec<f64>>,
    name: &'static str,
    allowed: Allowed,
) -> Result<Vec<f64>, ConfigError> {
    let values =
        get(name).ok_or(ConfigError::Missing { name, meaning: "an array of the saved state" })?;
    error::each(name, &values, allowed)?;
    Ok(values)
}

/// N numbers of a saved state.
pub(crate) fn numbers<const N: usize>(
    get: &mut dyn FnMut(&'static str) -> Option<Vec<f64>>,
    name: &'static str,
    allowed: Allowed,
) -> Result<[f64; N], ConfigError> {
    let values = array(get, name, allowed)?;
    values
        .as_slice()
        .try_into()
        .map_err(|_| DomainError::Dimension { what: name, found: values.len(), expected: N }.into())
}

/// A count of a saved state.
pub(crate) fn count(
    get: &mut dyn FnMut(&'static str) -> Option<Vec<f64>>,
    name: &'static str,
) -> Result<u64, ConfigError> {
    let [count] = numbers(get, name, Allowed::Whole(0))?;
    // Saturates; counts are far below 2^53.
    #[allow(clippy::cast_possible_truncation, clippy::cast_sign_loss)]
    Ok(count as u64)
}

/// An array of a saved state that has as many coordinates as another.
pub(crate) fn array_of(
    get: &mut dyn FnMut(&'static str) -> Option<Vec<f64>>,
    name: &'static str,
    allowed: Allowed,
    n: usize,
) -> Result<Vec<f64>, ConfigError> {
    let values = array(get, name, allowed)?;
    if values.len() == n {
        Ok(values)
    } else {
        Err(DomainError::Dimension { what: name, found: values.len(), expected: n }.into())
    }
}
