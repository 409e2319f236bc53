//! # geowalk
//! Learning that respects the geometry of its parameters.

pub mod error;
pub mod geometry;
pub mod loss;
mod real;
pub mod row;
pub mod spec;

pub use error::{ConfigError, DomainError};
pub use real::Real;
