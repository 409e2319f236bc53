//! # The model file
//! One file holds everything needed to predict, show, verify, and continue a run bit for bit. It is a
//! [safetensors](https://github.com/huggingface/safetensors) file with one JSON text as metadata. The format is
//! defined in `docs/model-format.md`.
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
//! **Bits** Arrays are f64 and are restored with the same bits. Equal models give equal bytes, because no time stamp
//! and no hash-table order enters the file. NaN and infinity are never written.
//!
//! **Robustness** A file with any altered or missing byte is refused. [`Model::save`] writes a new file beside the old
//! one and renames it once it is completely on disk. So a complete model file exists at all times.

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
    StreamSettings, TrackSettings, TreeSettings, TreesSettings, WalkSettings,
};
use about::About;
use container::{Data, Tensor};
use features::Names;

/// The format version that is written, and the newest one that can be read.
pub const FORMAT: u64 = 2;

/// Arrays with their names, in file order.
pub type Arrays = Vec<(String, Vec<f64>)>;

/// The state of a run: settings, schema, weights and metrics.
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
    /// The settings of the run.
    pub settings: Settings,
    /// The meaning of features and labels.
    pub schema: Schema,
    /// The label of each class, in the order of the classes. If labels are names, these are their indices in the
    /// schema. Of two classes, one not yet seen is NaN. Empty for regression.
    pub classes: Vec<f64>,
    /// The number of examples learned.
    pub examples: u64,
    /// Weights and all other state that changes with each example. Names beginning with `schema.` are reserved.
    pub arrays: Arrays,
    /// Metrics and other information for people, nested at most 100 deep. No computation depends on it.
    pub summary: Value,
}

/// The digest stored in a model file; it differs if any byte of the file differs.
#[derive(Debug, PartialEq, Eq)]
pub(crate) struct Stamp(Vec<u8>);

impl Stamp {
    /// The digest of the file at this path; `None` if it is not a model file.
    fn of(path: &Path) -> Option<Self> {
        if !path.is_file() {
            return None; // opening a pipe would wait for its writer
        }
        let mut bytes = Vec::new();
        File::open(path).ok()?.take(container::BEGINNING as u64).read_to_end(&mut bytes).ok()?;
        container::stated_digest(&bytes).map(|digest| Self(digest.to_vec()))
    }
}

impl Model {
    /// Name of the array that holds the digest of the training rows.
    pub(crate) const DIGEST: &str = "data.digest";

    /// The array with this name; it must have this length.
    pub fn array(&self, name: &str, length: usize) -> Result<&[f64], ModelError> {
        array(&self.arrays, name, Some(length))
    }

    /// A copy of the array with this name, if it exists.
    pub fn find(&self, name: &str) -> Option<Vec<f64>> {
        self.arrays.iter().find(|(own, _)| own == name).map(|(_, values)| values.clone())
    }

    /// Writes the file. If writing fails, an existing file of that name is left unchanged.
    pub fn save(&self, path: &Path) -> Result<(), ModelError> {
        let names = self.check()?;
        let tensors = self.tensors(&names);
        let header = container::header(&About::of(self).text(), &tensors)?;
        replace::replace(path, |out| container::write(&header, &tensors, out))
            .map_err(|source| ModelError::Io { path: path.to_owned(), source })
    }

    /// Replaces the file that this run continued. If another process has changed it since it was read, it is left
    /// unchanged, and the model is written beside it under a new name.
    pub(crate) fn save_over(&self, path: &Path, read: &Stamp) -> Result<(), ModelError> {
        // The lock makes runs that end at the same time write one after the other. Without file locks, a race of
        // microseconds remains.
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

    /// Whether the file at this path begins like a model file.
    pub fn is_at(path: &Path) -> bool {
        Stamp::of(path).is_some()
    }

    /// Checks that a file can be written here, so that a long run fails at its start. Leaves no file behind.
    pub fn check_path(path: &Path) -> Result<(), ModelError> {
        replace::try_out(path).map_err(|source| ModelError::Io { path: path.to_owned(), source })
    }

    /// Reads a model file. Every error about its content names the file.
    pub fn load(path: &Path) -> Result<Self, ModelError> {
        Self::load_stamped(path).map(|(model, _)| model)
    }

    /// Reads a model file together with its digest, which detects later changes.
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
        // The beginning is checked first, so that a large file of another kind is not read in full.
        let mut bytes = Vec::new();
        file.by_ref().take(container::BEGINNING as u64).read_to_end(&mut bytes).map_err(io)?;
        container::check_beginning(&bytes)?;
        file.read_to_end(&mut bytes).map_err(io)?;
        let stamp = Stamp(container::stated_digest(&bytes).unwrap_or_default().to_vec());
        Ok((Self::from_bytes(&bytes)?, stamp))
    }

    /// The bytes of the model file.
    pub fn to_bytes(&self) -> Result<Vec<u8>, ModelError> {
        let names = self.check()?;
        let tensors = self.tensors(&names);
        let mut bytes = container::header(&About::of(self).text(), &tensors)?;
        for tensor in &tensors {
            tensor.data.each(&mut |part| bytes.extend_from_slice(part));
        }
        Ok(bytes)
    }

    /// Reads a model from the bytes of its file.
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

    /// Refuses a model that cannot be written. Returns the encoded feature names.
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

    /// All arrays, those with larger elements first, as safetensors recommends.
    fn tensors<'a>(&'a self, names: &'a Names) -> Vec<Tensor<'a>> {
        let arrays = self.arrays.iter();
        let mut tensors: Vec<Tensor<'a>> =
            arrays.map(|(name, values)| Tensor { name, data: Data::F64(values) }).collect();
        tensors.extend(names.tensors());
        tensors
    }
}

/// The array with this name; it must have this length if one is given.
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
