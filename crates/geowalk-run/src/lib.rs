//! # geowalk-run
//! What the command line, the Python package and the service share.

pub mod metrics;
pub mod model;
pub mod rate;
