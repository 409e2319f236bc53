//! # What can go wrong in a run

use std::io;

use geowalk::ConfigError;
use geowalk_data::DataError;

use crate::label::LabelError;
use crate::learner::Diverged;
use crate::model::ModelError;

/// Why a run stopped.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum RunError {
    /// A walk, loss or rate that cannot be built.
    #[error(transparent)]
    Config(#[from] ConfigError),
    /// Data that cannot be read.
    #[error(transparent)]
    Data(#[from] DataError),
    /// A model file that cannot be read or written.
    #[error(transparent)]
    Model(#[from] ModelError),
    /// A label that does not fit.
    #[error("row {row}: {cause}")]
    Label {
        /// Row of the data, from 1.
        row: u64,
        /// What is wrong with it.
        cause: LabelError,
    },
    /// A step that cannot be made.
    #[error(
        "row {row}: the walk '{walk}' cannot go on: {cause}; try --rate {suggested:e}, or the default walk"
    )]
    Diverged {
        /// Row of the data, from 1.
        row: u64,
        /// The walk.
        walk: String,
        /// A smaller rate.
        suggested: f64,
        /// What happened.
        cause: Diverged,
    },
    /// No examples.
    #[error("there are no examples in the input")]
    Empty,
    /// Predictions that cannot be written.
    #[error("cannot write predictions: {0}")]
    Predictions(#[source] io::Error),
}
