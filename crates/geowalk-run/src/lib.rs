//! # geowalk-run
//! What the command line, the Python package and the service share: the language of walks, the loop, metrics, the model file.

pub mod boost;
pub mod calibration;
pub mod certificate;
pub mod certify;
pub mod convert;
mod digest;
pub mod doubling;
pub mod error;
pub mod evaluate;
pub mod experts;
pub mod fit;
pub mod folds;
pub mod hindsight;
pub mod holdout;
pub mod input;
pub mod label;
pub mod learner;
pub mod link;
pub mod metrics;
pub mod model;
mod natural;
pub mod predict;
pub mod profile;
pub mod pump;
pub mod rate;
pub mod replace;
mod sigma;
pub mod sql;
pub mod table;
pub mod theorem;
mod thinned;
pub mod track;
pub mod train;
pub mod tree;
pub mod verdict;
pub mod walks;
