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
        /// What the system says.
        source: io::Error,
    },
    /// What is wrong with the content of a file.
    #[error("{}: {cause}", path.display())]
    File {
        /// The file.
        path: PathBuf,
        /// What is wrong.
        cause: Box<ModelError>,
    },
    /// Another run has written the file that this run continued.
    #[error(
        "{} was written by another run after this run read it, and is left as it is; the model of this run is in {}: \
         train this run's data again with --resume {}",
        path.display(), kept.display(), path.display()
    )]
    Changed {
        /// The file.
        path: PathBuf,
        /// Where the model is instead.
        kept: PathBuf,
    },
    /// A file of another kind.
    #[error("this is not a geowalk model; give a file that 'geowalk train --model' wrote")]
    NotAModel,
    /// The end of the file is missing.
    #[error(
        "the model file ends after {found} bytes, at least {needed} were written; copy it again"
    )]
    Truncated {
        /// Bytes in the file.
        found: u64,
        /// Bytes that there must be, as far as what is left of the file can tell.
        needed: u64,
    },
    /// Something in the file is not as it was written.
    #[error(
        "the model file was altered: its digest is {found}, it was written with {expected}; copy it again"
    )]
    Digest {
        /// The digest that the file states.
        expected: String,
        /// The digest that it has.
        found: String,
    },
    /// A format that is not known here.
    #[error(
        "the model file has format {found}, this geowalk knows up to {known}; use a newer geowalk"
    )]
    Version {
        /// The version of the file.
        found: u64,
        /// The newest version known.
        known: u64,
    },
    /// A part that is not there, or not of its kind.
    #[error("the model has no '{what}', or not of the right kind")]
    Missing {
        /// Which part.
        what: String,
    },
    /// Settings that this version does not understand.
    #[error("the settings of the model cannot be read: {what}")]
    Settings {
        /// Which, and why.
        what: String,
    },
    /// An array of the wrong length.
    #[error("the array '{array}' of the model has {found} numbers; {expected} are needed")]
    Length {
        /// Its name.
        array: String,
        /// Its length.
        found: usize,
        /// The length it must have.
        expected: usize,
    },
    /// A number that is NaN or infinite.
    #[error(
        "number {index} of '{array}' is {value}; a model has finite numbers only: the run diverged, use a smaller rate"
    )]
    NotFinite {
        /// Name of the array.
        array: String,
        /// Where in it, from 0.
        index: usize,
        /// The number.
        value: f64,
    },
    /// A name of an array that occurs twice or is taken.
    #[error("the name '{name}' of an array occurs twice or is reserved")]
    Name {
        /// The name.
        name: String,
    },
    /// More settings, columns, class names or summary than the format allows.
    #[error("the header of the model would have {bytes} bytes; at most {limit} are allowed")]
    Header {
        /// Its size.
        bytes: usize,
        /// The largest that readers accept.
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
