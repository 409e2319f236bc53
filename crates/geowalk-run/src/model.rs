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

use std::collections::{BTreeMap, BTreeSet};
use std::fs::File;
use std::io::Read;
use std::path::{Path, PathBuf};

pub use error::ModelError;
use geowalk::ConfigError;
use geowalk::error::Allowed;
use geowalk_data::{Schema, Task};
use safetensors::Dtype;
use serde_json::Value;

use crate::error::RunError;
use crate::holdout::Holdout;
use crate::metrics::Window;
use crate::replace;
use about::About;
use container::{Data, Tensor};
use features::Names;

/// The version of the format that is written, and the newest that is read.
pub const FORMAT: u64 = 1;

/// Arrays by name, in order.
pub type Arrays = Vec<(String, Vec<f64>)>;

/// What was asked for.
#[derive(Debug, Clone, PartialEq)]
pub struct Settings {
    /// The walk, as it is spelled on the command line.
    pub walk: String,
    /// The loss.
    pub loss: String,
    /// The rate.
    pub rate: String,
    /// What is learned.
    pub task: Task,
    /// The seed of whatever is random.
    pub seed: u64,
    /// There is a constant feature.
    pub intercept: bool,
    /// Certificates are kept.
    pub certificate: bool,
    /// The declared range of the labels, to which predictions are clipped.
    pub y_range: Option<(f64, f64)>,
    /// Anything else, by name.
    pub extras: BTreeMap<String, String>,
}

impl Settings {
    /// Key of the extra that says which rows are never learned from.
    pub(crate) const HOLDOUT: &str = "holdout";
    /// The sums of the second-order certificate were kept.
    pub(crate) const SECOND_ORDER: &'static str = "second-order";

    /// Key of the extra that says that the model predicts with averaged weights.
    pub(crate) const AVERAGE: &str = "average";
    /// Key of the extra that says how many of the last examples are measured by themselves.
    pub(crate) const WINDOW: &str = "window";
    /// Key of the extra that says which settings were changed when the model was continued.
    const CHANGED: &str = "changed";
    /// Key of the extra that says that rows which could not be read were left out.
    pub(crate) const SKIPPED: &str = "skipped";
    /// Key of the extra with the classes that were declared and have not come, as a JSON list of texts.
    pub const UNSEEN: &str = "unseen";
    /// Key of the extra with the Python estimator that wrote the model: its class and all its parameters, as JSON.
    pub const ESTIMATOR: &str = "estimator";
    /// Key of the extra with the matrix of the walk, as it stood in its file.
    pub(crate) const SIGMA: &str = "sigma";

    /// Key of the extra that says how the weights were fitted to all rows at once, as JSON.
    pub(crate) const FIT: &str = "fit";

    /// Key of the extra that says how often shuffled rows were gone through until nothing was gained, as JSON.
    pub(crate) const PASSES: &str = "passes";

    /// How often rows were gone through, and whether that was enough; `None` if the number of passes was given.
    pub fn passes(&self) -> Option<Value> {
        let text = self.extras.get(Self::FIT).or_else(|| self.extras.get(Self::PASSES))?;
        serde_json::from_str(text).ok()
    }

    /// Were the weights fitted to all rows at once?
    pub fn is_fitted(&self) -> bool {
        self.extras.contains_key(Self::FIT)
    }

    /// To how many rows the weights were fitted at once, and how many were learned one by one later. `examples`
    /// are those of the metrics.
    pub(crate) fn fitted_rows(&self, examples: u64) -> Option<(u64, u64)> {
        let fit = self.fit()?;
        let held_out = fit["held_out"].as_u64()?;
        Some((fit["rows"].as_u64()?, examples.saturating_sub(held_out)))
    }

    /// What the metrics and the certificate of a model that was fitted to all rows at once are about, in words.
    /// `examples` are those of the metrics.
    pub fn fit_note(&self, examples: u64) -> Option<String> {
        let (rows, more) = self.fitted_rows(examples)?;
        Some(match more {
            0 => format!(
                "fitted to all {rows} rows at once: metrics are of left-out rows, \
                 the guarantee is about the rows it was fitted to"
            ),
            _ => format!(
                "fitted to {rows} rows at once, then {more} rows learned one by one: \
                 metrics are of left-out rows and of rows predicted before they were learned"
            ),
        })
    }

    /// How the weights were fitted to all rows at once; `None` if a walk went through the rows.
    pub fn fit(&self) -> Option<Value> {
        self.extras.get(Self::FIT).and_then(|text| serde_json::from_str(text).ok())
    }

    /// Which rows are never learned from.
    pub(crate) fn holdout(&self) -> Result<Option<Holdout>, ConfigError> {
        self.extras.get(Self::HOLDOUT).map(|text| Holdout::parse(text)).transpose()
    }

    /// Notes that a setting is not what it was at the beginning of the run.
    pub(crate) fn change(&mut self, what: &str) {
        let changed = self.extras.entry(Self::CHANGED.to_owned()).or_default();
        if !changed.split(", ").any(|known| known == what) {
            let comma = if changed.is_empty() { "" } else { ", " };
            changed.push_str(comma);
            changed.push_str(what);
        }
    }

    /// Refuses to repeat a run whose settings changed on the way.
    pub(crate) fn check_repeatable(&self) -> Result<(), RunError> {
        match self.extras.get(Self::CHANGED) {
            None => Ok(()),
            Some(what) => Err(RunError::Changed { what: what.clone() }),
        }
    }

    /// Were rows left out that could not be read? Who reads the same data again must leave them out, too.
    pub fn skipped_rows(&self) -> bool {
        self.extras.contains_key(Self::SKIPPED)
    }

    /// The classes that were declared and have not come.
    pub(crate) fn unseen(&self) -> Vec<String> {
        let text = self.extras.get(Self::UNSEEN);
        text.and_then(|text| serde_json::from_str(text).ok()).unwrap_or_default()
    }

    /// Does the model predict with averaged weights?
    pub(crate) fn average(&self) -> bool {
        self.extras.contains_key(Self::AVERAGE)
    }

    /// How many of the last examples are measured by themselves.
    pub(crate) fn window(&self) -> Result<Option<usize>, ConfigError> {
        let Some(text) = self.extras.get(Self::WINDOW) else { return Ok(None) };
        let size = text.parse().ok().filter(|size| (1..=Window::LARGEST).contains(size));
        let (value, allowed) =
            (text.parse().unwrap_or(f64::NAN), Allowed::Closed(1.0, Window::LARGEST as f64));
        let error = ConfigError::OutOfRange { name: "window", value, allowed };
        size.map(Some).ok_or(error)
    }
}

/// All that a run knows.
///
/// ```
/// use geowalk_data::{Features, Index, Labels, Schema, Task};
/// use geowalk_run::model::{Model, Settings};
/// let settings = Settings {
///     walk: "gd".into(),
///     loss: "logistic".into(),
///     rate: "0.5".into(),
///     task: Task::Binary,
///     seed: 0,
///     intercept: true,
///     certificate: false,
///     y_range: None,
///     extras: [].into(),
/// };
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
/// # Ok::<(), geowalk_run::model::ModelError>(())
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
