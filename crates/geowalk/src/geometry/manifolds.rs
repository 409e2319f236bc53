//! # The manifolds
//! One file each.

mod euclidean;
mod hyperboloid;
mod poincare_ball;
mod spd;

pub use euclidean::Euclidean;
pub use hyperboloid::Hyperboloid;
pub use poincare_ball::{PoincareBall, push_to_ball, push_to_hyperboloid, to_ball, to_hyperboloid};
pub use spd::Spd;
