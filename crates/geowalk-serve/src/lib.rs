//! # geowalk-serve
pub mod engine;
pub mod fault;
pub mod log;
