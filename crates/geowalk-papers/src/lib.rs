//! # The papers' experiments

pub mod boosting;
