//! # Updates
//! An update is a rule that moves the weights after each example. Predictions are linear in ambient coordinates, z =
//! ⟨w, x⟩. So the differential of the loss is a multiple of the row, g·x with the scalar slope g = ∂ℓ/∂z. The geometry
//! converts it to a direction.
//!
//! The rules in this module use dense weights at O(n) per example, for *any* manifold and *any* generator. They are
//! the definitions: the faster implementations of learners must agree with them.

mod explicit;
mod mirror;

pub use explicit::{Explicit, ExplicitState};
pub use mirror::{Mirror, MirrorState};

use crate::Real;
use crate::error::{Allowed, ConfigError, DomainError};
use crate::geometry::Event;
use crate::loss::Loss;
use crate::row::Row;

/// A rule for moving weights. All mutable data is in its [`State`](Update::State).
pub trait Update<F: Real> {
    /// The coordinates that the rule uses: the weights, their dual, or a factored form of either.
    type State;

    /// The state that corresponds to the weights `w`.
    fn start(&self, w: &[F]) -> Result<Self::State, ConfigError>;

    /// w ← the weights of a state.
    fn read(&self, state: &Self::State, w: &mut [F]);

    /// z = ⟨w, x⟩.
    fn predict<X: Row<F>>(&self, state: &Self::State, x: X) -> F;

    /// Predicts the example (x, y), then moves. On an error the state is unchanged.
    fn step<X: Row<F>, L: Loss + ?Sized>(
        &self,
        state: &mut Self::State,
        x: X,
        target: Target,
        loss: &L,
        rate: f64,
    ) -> Result<Round, DomainError>;
}

/// The label of an example, and its importance.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Target {
    /// The label.
    pub y: f64,
    /// The importance weight, ≥ 0: the loss of the example is weight·ℓ(z, y).
    pub weight: f64,
}

impl Target {
    /// Refuses negative weights: they would make a convex loss nonconvex, and no certificate would detect it.
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

/// The result of one example: the numbers that certificates use. Always `f64`.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Round {
    /// The prediction before the move.
    pub z: f64,
    /// The weighted loss, weight·ℓ(z, y).
    pub loss: f64,
    /// The weighted slope g used for the move.
    pub slope: f64,
    /// The rate η of the move.
    pub rate: f64,
    /// Length of the walk in the geometry (for a mirror step √(2D(w_t‖w_{t+1})), its length to second order).
    pub length: f64,
    /// Did the walk stay where the theorems hold?
    pub event: Event,
}
