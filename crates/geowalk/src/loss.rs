//! # Losses: what hurts
//! A loss ℓ(z, y) of a prediction z and a label y. Scalars only, always `f64`: a loss is evaluated once per example, and
//! certificates need its full precision whatever the weights are stored in.

mod balanced;
pub mod permissible;
mod squared;

pub use balanced::Balanced;
pub use squared::Squared;

use crate::error::Allowed;

/// A loss ℓ(z, y) ≥ 0 of the prediction z.
pub trait Loss: std::fmt::Debug + Send + Sync {
    /// The specification that rebuilds it: `huber(delta=0.5)`.
    fn spec(&self) -> String;

    /// ℓ(z, y).
    fn value(&self, z: f64, y: f64) -> f64;

    /// ∂ℓ/∂z; at a kink the subgradient that the file of the loss names.
    fn slope(&self, z: f64, y: f64) -> f64;

    /// ∂²ℓ/∂z²; at a kink 0.
    fn curvature(&self, z: f64, y: f64) -> f64;

    /// The prediction of least loss for the label `y` (infinite where the loss only tends to its infimum; for a whole
    /// interval of minimisers the one nearest to 0).
    fn minimizer(&self, y: f64) -> f64;

    /// What a certificate may assume about it. The laws check every fact.
    fn facts(&self) -> Facts;
}

/// What is true of a loss for every prediction and label in its domain.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Facts {
    /// The labels it takes.
    pub labels: Allowed,
    /// The predictions it takes.
    pub predictions: Allowed,
    /// Convex in z.
    pub convex: bool,
    /// sup |∂ℓ/∂z|, if finite.
    pub lipschitz: Option<f64>,
    /// sup ∂²ℓ/∂z², if finite and there is no kink.
    pub smooth: Option<f64>,
    /// inf ∂²ℓ/∂z² (0 if only convex, negative if not convex and bounded below).
    pub strong: f64,
    /// A function of the margin y·z with labels ±1.
    pub margin: bool,
}
