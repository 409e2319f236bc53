//! # geowalk-run
//! What the command line, the Python package and the service share.

pub mod learner;
pub mod metrics;
pub mod rate;
pub mod walks;
