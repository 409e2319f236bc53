//! # The manifolds
//! One file each.

mod euclidean;

pub use euclidean::Euclidean;
