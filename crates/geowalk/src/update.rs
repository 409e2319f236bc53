//! # Updates: how parameters move
//! A rule that moves the weights after each example. Predictions are linear in ambient coordinates, z = ⟨w, x⟩, so the
//! differential of the loss is a multiple of the row, g·x with the scalar slope g = ∂ℓ/∂z; the geometry makes a direction of it.
//!
//! The rules in this module work on dense weights at O(n) per example, for *any* manifold and *any* generator. They are the
//! definitions: whatever a learner does faster has to agree with them.

mod explicit;
mod mirror;

pub use explicit::{Explicit, ExplicitState};
pub use mirror::{Mirror, MirrorState};

use crate::Real;
use crate::error::{Allowed, ConfigError, DomainError};
use crate::geometry::Event;
use crate::loss::Loss;
use crate::row::Row;

/// A rule for moving weights. Everything that changes is in its [`State`](Update::State).
pub trait Update<F: Real> {
    /// The rule's own coordinates: the weights, their dual, or a factored form of either.
    type State;

    /// The state at the weights `w`.
    fn start(&self, w: &[F]) -> Result<Self::State, ConfigError>;

    /// The weights of a state.
    fn read(&self, state: &Self::State, w: &mut [F]);

    /// z = ⟨w, x⟩.
    fn predict<X: Row<F>>(&self, state: &Self::State, x: X) -> F;

    /// Sees the example (x, y) and moves. The state is unchanged on an error.
    fn step<X: Row<F>, L: Loss + ?Sized>(
        &self,
        state: &mut Self::State,
        x: X,
        target: Target,
        loss: &L,
        rate: f64,
    ) -> Result<Round, DomainError>;
}

/// What an example asks for.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Target {
    /// The label.
    pub y: f64,
    /// The importance weight, ≥ 0: the loss of the example is weight·ℓ(z, y).
    pub weight: f64,
}

impl Target {
    /// A loss times a negative weight is no longer convex, and no certificate would notice.
    fn check(self) -> Result<(), DomainError> {
        if Allowed::NonNegative.contains(self.weight) {
            return Ok(());
        }
        let (what, value) = ("the weight of the example", self.weight);
        Err(DomainError::Scalar { what, value, allowed: Allowed::NonNegative })
    }
}

impl From<f64> for Target {
    /// A label with weight 1.
    fn from(y: f64) -> Self {
        Self { y, weight: 1.0 }
    }
}

/// What one example did: the numbers a certificate sees. Always `f64`.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Round {
    /// The prediction before the move.
    pub z: f64,
    /// The weighted loss, weight·ℓ(z, y).
    pub loss: f64,
    /// The weighted slope g that the move used.
    pub slope: f64,
    /// The rate η of the move.
    pub rate: f64,
    /// Length of the walk in the geometry (for a mirror step √(2D(w_t‖w_{t+1})), its length to second order).
    pub length: f64,
    /// Whether the walk stayed where theorems hold.
    pub event: Event,
}
