//! # geowalk
//! Learning that respects the geometry of its parameters.

pub mod certify;
pub mod error;
pub mod geometry;
pub mod laws;
pub mod loss;
mod real;
pub mod row;
pub mod spec;
pub mod sum;
pub mod update;
pub mod walk;

pub use error::{ConfigError, DomainError};
pub use real::Real;
