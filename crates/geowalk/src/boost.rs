//! # Boosting: one algorithm for every convex loss
pub mod surrogate;
pub use surrogate::Surrogate;
