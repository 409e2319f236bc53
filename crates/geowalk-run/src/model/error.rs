use std::io;
use std::path::PathBuf;

use geowalk_data::ErrorKind;

use super::FORMAT;

/// Why a model cannot be written or read.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum ModelError {
    /// The file cannot be opened, read, written or renamed.
    #[error("{}: {source}", path.display())]
    Io {
        /// The file.
        path: PathBuf,
        /// The error of the operating system.
        source: io::Error,
    },
    /// An error in the content of a file, with its path.
    #[error("{}: {cause}", path.display())]
    File {
        /// The file.
        path: PathBuf,
        /// The error.
        cause: Box<ModelError>,
    },
    /// Another run has overwritten the file that this run continued.
    #[error(
        "{} was written by another run after this run read it, and is left as it is; the model of this run is in {}: \
         train this run's data again with --resume {}",
        path.display(), kept.display(), path.display()
    )]
    Changed {
        /// The file.
        path: PathBuf,
        /// The file that the model was written to instead.
        kept: PathBuf,
    },
    /// A file that is not a model.
    #[error("this is not a geowalk model; give a file that 'geowalk train --model' wrote")]
    NotAModel,
    /// The file is truncated.
    #[error(
        "the model file ends after {found} bytes, at least {needed} were written; copy it again"
    )]
    Truncated {
        /// Bytes in the file.
        found: u64,
        /// The smallest size that the file must have, judging by the part that remains.
        needed: u64,
    },
    /// The content of the file was altered.
    #[error(
        "the model file was altered: its digest is {found}, it was written with {expected}; copy it again"
    )]
    Digest {
        /// The digest that the file states.
        expected: String,
        /// The digest computed from the content.
        found: String,
    },
    /// A format version that this geowalk cannot read.
    #[error(
        "the model file has format {found}, this geowalk knows up to {known}; use a newer geowalk"
    )]
    Version {
        /// Format version of the file.
        found: u64,
        /// The newest version that can be read.
        known: u64,
    },
    /// A part that is missing or has the wrong type.
    #[error("the model has no '{what}', or not of the right kind")]
    Missing {
        /// Name of the part.
        what: String,
    },
    /// Settings that this version cannot read.
    #[error("the settings of the model cannot be read: {what}")]
    Settings {
        /// Which setting, and why.
        what: String,
    },
    /// An array of the wrong length.
    #[error("the array '{array}' of the model has {found} numbers; {expected} are needed")]
    Length {
        /// Name of the array.
        array: String,
        /// Length of the array.
        found: usize,
        /// The required length.
        expected: usize,
    },
    /// A number that is NaN or infinite.
    #[error(
        "number {index} of '{array}' is {value}; a model has finite numbers only: the run diverged, use a smaller rate"
    )]
    NotFinite {
        /// Name of the array.
        array: String,
        /// Index of the number in the array, from 0.
        index: usize,
        /// The number.
        value: f64,
    },
    /// An array name that occurs twice or is reserved.
    #[error("the name '{name}' of an array occurs twice or is reserved")]
    Name {
        /// The name.
        name: String,
    },
    /// The header would be too large: too many settings, columns or class names, or too long a summary.
    #[error("the header of the model would have {bytes} bytes; at most {limit} are allowed")]
    Header {
        /// Size of the header in bytes.
        bytes: usize,
        /// The largest size that readers accept.
        limit: usize,
    },
    /// A schema that contradicts itself.
    #[error("the schema of the model cannot be used: {0}")]
    Schema(#[from] ErrorKind),
}

impl ModelError {
    pub(super) fn version(found: u64) -> Self {
        Self::Version { found, known: FORMAT }
    }
}
