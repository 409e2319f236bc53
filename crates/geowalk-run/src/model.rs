//! # The model file
//! All that a run knows, in one file: to predict, to show, to verify, and to continue bit for bit. The file is
//! [safetensors](https://github.com/huggingface/safetensors) with one JSON text about it; `docs/model-format.md` is its
//! definition.
//!
//! **Python** reads it without geowalk:
//!
//! ```python
//! import json, safetensors
//! with safetensors.safe_open("model.safetensors", "numpy") as file:
//!     about = json.loads(file.metadata()["geowalk"])
//!     arrays = {name: file.get_tensor(name) for name in about["arrays"]}
//!     names = json.loads(file.get_tensor("schema.names").tobytes())  # if about["schema"]["features"]["names"] is there
//! ```
//!
//! **Bits** Arrays are f64 and come back with the same bits. The same model gives the same bytes: no clock, no order of a
//! hash table. NaN and infinity are never written.
//!
//! **Care** A file of which any byte is altered or missing is refused. [`Model::save`] writes a file beside the old one, and renames it when all
//! of it is on the disk: there is always one whole model.

mod about;
mod container;
mod error;
mod features;

use std::collections::BTreeSet;
use std::fs::File;
use std::io::Read;
use std::path::{Path, PathBuf};

pub use error::ModelError;
use geowalk_data::Schema;
use safetensors::Dtype;
use serde_json::Value;

use crate::replace;
pub use crate::settings::{
    BoostSettings, ExpertSettings, LearnerSettings, NaturalSettings, ReadSettings, Settings,
    StreamSettings, TrackSettings, TreeSettings, WalkSettings,
};
use about::About;
use container::{Data, Tensor};
use features::Names;

/// The version of the format that is written, and the newest that is read.
pub const FORMAT: u64 = 2;

/// Arrays by name, in order.
pub type Arrays = Vec<(String, Vec<f64>)>;

/// All that a run knows.
///
/// ```
/// use geowalk_data::{Features, Index, Labels, Schema, Task};
/// use geowalk_run::model::{LearnerSettings, Model, Settings};
/// let walk = LearnerSettings::parse("gd", "0.5")?;
/// let settings = Settings::new(walk, "logistic", Task::Binary);
/// let features = Features::Index(Index { base: 1, detected: true });
/// let model = Model {
///     settings,
///     schema: Schema::from_parts(features, Labels::Numbers, vec![]),
///     classes: vec![-1.0, 1.0],
///     examples: 1000,
///     arrays: vec![("w".into(), vec![0.25, -0.0])],
///     summary: serde_json::json!({ "loss": 0.31 }),
/// };
/// let bytes = model.to_bytes()?;
/// let again = Model::from_bytes(&bytes)?;
/// assert_eq!(again.array("w", 2)?[0], 0.25);
/// assert_eq!(again.to_bytes()?, bytes);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Debug, Clone)]
pub struct Model {
    /// What was asked for.
    pub settings: Settings,
    /// What features and labels mean.
    pub schema: Schema,
    /// The label of each class, in the order of the classes; where labels are names, their numbers in the schema; NaN for a class of two that
    /// has not been seen. Empty for a regression.
    pub classes: Vec<f64>,
    /// How many examples it has learned from.
    pub examples: u64,
    /// Weights, and whatever else changes with an example. Names that begin with `schema.` are not allowed.
    pub arrays: Arrays,
    /// Metrics and the like, for people; nested at most 100 deep. Nothing is computed from it.
    pub summary: Value,
}

/// The digest that a model file states of itself: it differs as soon as one byte of the file does.
#[derive(Debug, PartialEq, Eq)]
pub(crate) struct Stamp(Vec<u8>);

impl Stamp {
    /// That of a file; none if it is not a model.
    fn of(path: &Path) -> Option<Self> {
        if !path.is_file() {
            return None; // to open a pipe is to wait for its writer
        }
        let mut bytes = Vec::new();
        File::open(path).ok()?.take(container::BEGINNING as u64).read_to_end(&mut bytes).ok()?;
        container::stated_digest(&bytes).map(|digest| Self(digest.to_vec()))
    }
}

impl Model {
    /// Name of the array with the digest of the rows that were seen.
    pub(crate) const DIGEST: &str = "data.digest";

    /// The array of this name and length.
    pub fn array(&self, name: &str, length: usize) -> Result<&[f64], ModelError> {
        array(&self.arrays, name, Some(length))
    }

    /// The array of that name, if there is one.
    pub fn find(&self, name: &str) -> Option<Vec<f64>> {
        self.arrays.iter().find(|(own, _)| own == name).map(|(_, values)| values.clone())
    }

    /// Writes the file. If that fails, an old file of that name is as it was.
    pub fn save(&self, path: &Path) -> Result<(), ModelError> {
        let names = self.check()?;
        let tensors = self.tensors(&names);
        let header = container::header(&About::of(self).text(), &tensors)?;
        replace::replace(path, |out| container::write(&header, &tensors, out))
            .map_err(|source| ModelError::Io { path: path.to_owned(), source })
    }

    /// Writes the file in place of the one that a run continued. If that one is not as it was read, it stays, and the
    /// model is written beside it under a new name.
    pub(crate) fn save_over(&self, path: &Path, read: &Stamp) -> Result<(), ModelError> {
        // Runs that end at the same time do so one after the other. Without locks there is a gap of microseconds.
        let old = File::open(path);
        let _ = old.as_ref().map(File::lock);
        if old.is_err() || Stamp::of(path).is_some_and(|now| now == *read) {
            return self.save(path);
        }
        let name = |count: u32| {
            let mut name = path.as_os_str().to_owned();
            name.push(format!(".{count}"));
            PathBuf::from(name)
        };
        let Some(kept) = (2..=u32::MAX).map(name).find(|kept| !kept.exists()) else {
            return self.save(path);
        };
        self.save(&kept)?;
        Err(ModelError::Changed { path: path.to_owned(), kept })
    }

    /// Does this file begin as models do?
    pub fn is_at(path: &Path) -> bool {
        Stamp::of(path).is_some()
    }

    /// Can a file be written here? Says so before a long run, not after it. Leaves nothing behind.
    pub fn check_path(path: &Path) -> Result<(), ModelError> {
        replace::try_out(path).map_err(|source| ModelError::Io { path: path.to_owned(), source })
    }

    /// Reads a file. Whatever is wrong with it, the error names it.
    pub fn load(path: &Path) -> Result<Self, ModelError> {
        Self::load_stamped(path).map(|(model, _)| model)
    }

    /// The same, with what tells this file from others.
    pub(crate) fn load_stamped(path: &Path) -> Result<(Self, Stamp), ModelError> {
        let inside = |cause| match cause {
            ModelError::Io { .. } => cause,
            _ => ModelError::File { path: path.to_owned(), cause: Box::new(cause) },
        };
        Self::read(path).map_err(inside)
    }

    fn read(path: &Path) -> Result<(Self, Stamp), ModelError> {
        let io = |source| ModelError::Io { path: path.to_owned(), source };
        let mut file = File::open(path).map_err(io)?;
        // A look at the beginning, so that a large file of another kind is not read in vain.
        let mut bytes = Vec::new();
        file.by_ref().take(container::BEGINNING as u64).read_to_end(&mut bytes).map_err(io)?;
        container::check_beginning(&bytes)?;
        file.read_to_end(&mut bytes).map_err(io)?;
        let stamp = Stamp(container::stated_digest(&bytes).unwrap_or_default().to_vec());
        Ok((Self::from_bytes(&bytes)?, stamp))
    }

    /// The bytes of the file.
    pub fn to_bytes(&self) -> Result<Vec<u8>, ModelError> {
        let names = self.check()?;
        let tensors = self.tensors(&names);
        let mut bytes = container::header(&About::of(self).text(), &tensors)?;
        for tensor in &tensors {
            tensor.data.each(&mut |part| bytes.extend_from_slice(part));
        }
        Ok(bytes)
    }

    /// The model of which these are the bytes.
    pub fn from_bytes(bytes: &[u8]) -> Result<Self, ModelError> {
        let file = container::open(bytes)?;
        let about = About::read(file.about())?;
        let mut arrays = Vec::new();
        for name in about.arrays()? {
            let values = file.items(&name, Dtype::F64, f64::from_le_bytes)?;
            finite(&name, &values)?;
            arrays.push((name, values));
        }
        Ok(Self {
            settings: about.settings()?,
            schema: about.schema(features::read(&file, &about)?)?,
            classes: about.classes()?,
            examples: about.examples()?,
            arrays,
            summary: about.summary(),
        })
    }

    /// Refuses what cannot be written; the names of the features, written out.
    fn check(&self) -> Result<Names, ModelError> {
        let mut seen = BTreeSet::new();
        for (name, values) in &self.arrays {
            if !seen.insert(name) || name == "__metadata__" || name.starts_with("schema.") {
                return Err(ModelError::Name { name: name.clone() });
            }
            finite(name, values)?;
        }
        about::classes(&self.classes)?;
        if let Some((low, high)) = self.settings.y_range {
            finite("y_range", &[low, high])?;
        }
        Names::of(self.schema.features())
    }

    /// In order of falling size of an element, as safetensors recommends.
    fn tensors<'a>(&'a self, names: &'a Names) -> Vec<Tensor<'a>> {
        let arrays = self.arrays.iter();
        let mut tensors: Vec<Tensor<'a>> =
            arrays.map(|(name, values)| Tensor { name, data: Data::F64(values) }).collect();
        tensors.extend(names.tensors());
        tensors
    }
}

/// The array of this name, and of this length if one is given.
pub(crate) fn array<'a>(
    arrays: &'a [(String, Vec<f64>)],
    name: &str,
    length: Option<usize>,
) -> Result<&'a [f64], ModelError> {
    match (arrays.iter().find(|(known, _)| known == name), length) {
        (None, _) => Err(ModelError::Missing { what: name.to_owned() }),
        (Some((_, values)), Some(expected)) if values.len() != expected => {
            Err(ModelError::Length { array: name.to_owned(), found: values.len(), expected })
        }
        (Some((_, values)), _) => Ok(values),
    }
}

fn finite(array: &str, values: &[f64]) -> Result<(), ModelError> {
    match values.iter().position(|value| !value.is_finite()) {
        None => Ok(()),
        Some(index) => {
            Err(ModelError::NotFinite { array: array.to_owned(), index, value: values[index] })
        }
    }
}
