//! # Settings
//! The settings of a run as types: those of every model, and in [`LearnerSettings`] those of each kind of learner. A
//! model file stores them as JSON under the names of the fields. [`version_1`] reads the settings of the first file
//! format.

mod reading;
pub(crate) mod version_1;

use std::collections::BTreeMap;

use geowalk::ConfigError;
use geowalk::boost::line::Separable;
use geowalk::boost::multiclass::Reduction;
use geowalk::boost::rules::Search;
use geowalk::boost::{Flavour, Leverage};
use geowalk::error::Allowed;
use geowalk::spec::Spec;
use geowalk_data::{Schema, Task};
use serde::{Deserialize, Serialize};
use serde_json::Value;

pub use reading::ReadSettings;

use crate::boost::{self, Kind};
use crate::error::RunError;
use crate::holdout::Holdout;
use crate::metrics::Window;
use crate::model::ModelError;
use crate::theorem::Declared;
use crate::walks;

/// The settings of a run.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub struct Settings {
    /// The learner and its settings.
    pub learner: LearnerSettings,
    /// The loss; for a tree, its split criterion.
    pub loss: String,
    /// The task.
    #[serde(with = "text")]
    pub task: Task,
    /// The seed of all random choices.
    pub seed: u64,
    /// Whether a constant feature is added.
    pub intercept: bool,
    /// Whether certificates are computed.
    pub certificate: bool,
    /// The declared range of the labels; predictions are clipped to it.
    pub y_range: Option<(f64, f64)>,
    /// Additional settings of learners that process rows one by one.
    #[serde(default, skip_serializing_if = "is_default")]
    pub stream: StreamSettings,
    /// Reader options that differ from the defaults.
    #[serde(default, skip_serializing_if = "is_default")]
    pub reading: ReadSettings,
    /// The Python estimator that wrote the model: its class and all its parameters, as JSON.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub estimator: Option<String>,
}

/// The settings of each kind of learner.
#[derive(Debug, Clone, Serialize, Deserialize)]
#[serde(tag = "kind", rename_all = "kebab-case")]
pub enum LearnerSettings {
    /// A walk.
    Walk(WalkSettings),
    /// Natural gradient, or a baseline that it is compared with.
    Natural(NaturalSettings),
    /// Boosting.
    Boost(Box<BoostSettings>),
    /// A decision tree.
    Tree(TreeSettings),
    /// Boosted trees.
    Trees(TreesSettings),
    /// An expert game.
    Experts(ExpertSettings),
    /// A null vector.
    Track(TrackSettings),
}

/// Settings of a walk.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct WalkSettings {
    /// The specification of the walk, as on the command line.
    pub walk: String,
    /// The rate, as on the command line.
    pub rate: String,
    /// The text of the file with its matrix, so that the file is not needed again.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub sigma: Option<String>,
    /// The limits of the data that the user declared.
    #[serde(default, skip_serializing_if = "is_default")]
    pub declared: Declared,
}

/// Settings of natural gradient.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct NaturalSettings {
    /// The specification of the walk, as on the command line.
    pub walk: String,
    /// The rate, as on the command line.
    pub rate: String,
    /// Why this family was chosen, if it was chosen from the data.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub chosen: Option<String>,
}

/// Settings of boosting.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub struct BoostSettings {
    /// The plan of the booster.
    pub plan: boost::Plan,
    /// Number of columns of the training table.
    pub columns: usize,
    /// The loss of each member; it determines the probabilities.
    pub losses: Vec<String>,
}

/// Settings of a decision tree.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct TreeSettings {
    /// Number of columns of the training table.
    pub columns: usize,
    /// κ, the smoothing of the probabilities, in rows.
    pub smoothing: f64,
    /// The weight of one row; κ is multiplied by it.
    pub unit: f64,
    /// Bins per column; `None` if every gap between values is a possible threshold.
    pub bins: Option<usize>,
}

/// Settings of boosted trees.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct TreesSettings {
    /// Number of columns of the training table.
    pub columns: usize,
    /// The scale of the link.
    pub scale: f64,
    /// n in the bounds of the probabilities: the number of training rows.
    pub rows: f64,
    /// Number of rounds.
    pub rounds: usize,
    /// ν, the fraction of each step that is taken.
    pub rate: f64,
    /// Maximum leaves of a tree.
    pub leaves: usize,
    /// Maximum tests on the path to a leaf.
    pub depth: usize,
    /// λ, the ridge penalty of leaf values.
    pub ridge: f64,
    /// Bins per column.
    pub bins: usize,
    /// Fraction of the rows used for each tree.
    pub row_share: f64,
    /// Fraction of the columns tried at each node.
    pub column_share: f64,
    /// Minimum rows in a leaf.
    pub min_leaf: u64,
    /// Whether rows in a leaf are counted by their curvature.
    pub effective_rows: bool,
    /// How leaf values are computed.
    pub leaf_step: String,
    /// The shape of each round: `trees` or `rules`.
    #[serde(default = "of_trees", skip_serializing_if = "is_trees")]
    pub shape: String,
    /// Whether one tree votes for all of several classes.
    #[serde(default, skip_serializing_if = "is_default")]
    pub vector: bool,
    /// Columns in which the score must not decrease.
    #[serde(default, skip_serializing_if = "is_default")]
    pub increasing: Vec<String>,
    /// Columns in which the score must not increase.
    #[serde(default, skip_serializing_if = "is_default")]
    pub decreasing: Vec<String>,
    /// Groups of columns that may occur together in a rule or on the path to a leaf; if empty, all may.
    #[serde(default, skip_serializing_if = "is_default")]
    pub interactions: Vec<Vec<String>>,
}

fn of_trees() -> String {
    "trees".to_owned()
}

fn is_trees(shape: &str) -> bool {
    shape == "trees"
}

/// Settings of an expert game.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct ExpertSettings {
    /// The update rule, if the user named one.
    pub walk: Option<String>,
    /// The rate, as on the command line.
    pub rate: String,
    /// The loss of the forecasts; `None` if the rows are losses already.
    pub loss: Option<String>,
    /// The part of the weight that is spread evenly after each round.
    pub share: f64,
    /// Number of experts.
    pub experts: usize,
    /// Names of the experts, in order; empty if the table had none.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub names: Vec<String>,
    /// The outcomes of decimal odds.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub odds: Vec<String>,
    /// Name of the column with the outcome.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub label: Option<String>,
}

/// Settings of null vector tracking.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct TrackSettings {
    /// The walk on the sphere.
    pub walk: String,
    /// The rate, as on the command line.
    pub rate: String,
}

/// Additional settings of learners that process rows one by one.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub struct StreamSettings {
    /// The rows that are held out.
    #[serde(with = "optional_text", skip_serializing_if = "Option::is_none")]
    pub holdout: Option<Holdout>,
    /// Whether the model predicts with averaged weights.
    #[serde(skip_serializing_if = "is_default")]
    pub average: bool,
    /// Whether the sums of the second-order certificate are kept.
    #[serde(skip_serializing_if = "is_default")]
    pub second_order: bool,
    /// Size of the window of the latest examples with separate metrics.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub window: Option<usize>,
    /// The part of the labels that intervals of prediction are to hold.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub interval: Option<f64>,
    /// After how many more rows a row is learned from.
    #[serde(skip_serializing_if = "is_default")]
    pub delay: usize,
    /// The settings that were changed when the model was resumed.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub changed: Vec<String>,
    /// Whether unreadable rows were skipped.
    #[serde(skip_serializing_if = "is_default")]
    pub skipped: bool,
    /// Declared classes without examples.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub unseen: Vec<String>,
    /// Number of models that were merged.
    #[serde(skip_serializing_if = "is_default")]
    pub merged: usize,
    /// How the weights were fitted to all rows together.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub fit: Option<Value>,
    /// How many passes over shuffled rows were made until the loss stopped falling.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub passes: Option<Value>,
}

fn is_default<T: Default + PartialEq>(value: &T) -> bool {
    *value == T::default()
}

impl LearnerSettings {
    /// Parses a walk and its rate. An unknown name is refused, and the error suggests the nearest known name.
    ///
    /// ```
    /// use geowalk_run::model::LearnerSettings;
    /// let walk = LearnerSettings::parse("dsngd(family=poisson)", "auto")?;
    /// assert!(matches!(walk, LearnerSettings::Natural(_)));
    /// let error = LearnerSettings::parse("explicit:sfere", "auto").unwrap_err();
    /// assert!(error.to_string().contains("explicit:sphere"));
    /// # Ok::<(), geowalk::ConfigError>(())
    /// ```
    pub fn parse(walk: &str, rate: &str) -> Result<Self, ConfigError> {
        let row = walks::row(&Spec::parse(walk)?)?;
        let (walk, rate) = (walk.to_owned(), rate.to_owned());
        Ok(if row.is_natural() {
            Self::Natural(NaturalSettings { walk, rate, chosen: None })
        } else {
            Self::Walk(WalkSettings { walk, rate, sigma: None, declared: Declared::default() })
        })
    }

    /// Name of the kind of learner.
    pub fn kind(&self) -> &'static str {
        match self {
            Self::Walk(_) => "walk",
            Self::Natural(_) => "natural",
            Self::Boost(_) => "boost",
            Self::Tree(_) => "tree",
            Self::Trees(_) => "trees",
            Self::Experts(_) => "experts",
            Self::Track(_) => "track",
        }
    }

    /// Short name of the learner: the walk, `boost:rules`, `tree`, `experts:hedge`, `track:sphere`.
    pub fn walk(&self) -> String {
        match self {
            Self::Walk(own) => own.walk.clone(),
            Self::Natural(own) => own.walk.clone(),
            Self::Boost(own) => format!("boost:{}", own.plan.weak.name()),
            Self::Tree(_) => "tree".to_owned(),
            Self::Trees(_) => "boosted-trees".to_owned(),
            Self::Experts(own) => format!("experts:{}", own.walk.as_deref().unwrap_or_default()),
            Self::Track(own) => format!("track:{}", own.walk),
        }
    }

    /// The rate, or the setting that replaces it.
    pub fn rate(&self) -> String {
        match self {
            Self::Walk(WalkSettings { rate, .. })
            | Self::Natural(NaturalSettings { rate, .. })
            | Self::Experts(ExpertSettings { rate, .. })
            | Self::Track(TrackSettings { rate, .. }) => rate.clone(),
            Self::Boost(own) => format!("leverage({})", own.plan.leverage.spec()),
            Self::Tree(_) => "none".to_owned(),
            Self::Trees(own) => own.rate.to_string(),
        }
    }

    /// A copy with another rate; learners without a rate are unchanged.
    #[must_use]
    pub fn at_rate(mut self, text: &str) -> Self {
        match &mut self {
            Self::Walk(WalkSettings { rate, .. })
            | Self::Natural(NaturalSettings { rate, .. })
            | Self::Experts(ExpertSettings { rate, .. })
            | Self::Track(TrackSettings { rate, .. }) => text.clone_into(rate),
            Self::Boost(_) | Self::Tree(_) | Self::Trees(_) => {}
        }
        self
    }
}

impl Settings {
    /// Settings of a learner with seed 0, a constant feature, certificates, and defaults for everything else.
    pub fn new(learner: LearnerSettings, loss: impl Into<String>, task: Task) -> Self {
        Self {
            learner,
            loss: loss.into(),
            task,
            seed: 0,
            intercept: true,
            certificate: true,
            y_range: None,
            stream: StreamSettings::default(),
            reading: ReadSettings::default(),
            estimator: None,
        }
    }

    /// Reads the settings from a JSON object of a model file.
    pub(crate) fn read(object: &Value) -> Result<Self, ModelError> {
        let settings = Self::deserialize(object);
        settings.map_err(|error| ModelError::Settings { what: error.to_string() })
    }

    /// Short name of the learner.
    pub fn walk(&self) -> String {
        self.learner.walk()
    }

    /// The rate, or the setting that replaces it.
    pub fn rate(&self) -> String {
        self.learner.rate()
    }

    /// All settings of the learner as texts, by name; settings not given are omitted.
    pub fn texts(&self) -> BTreeMap<String, String> {
        let mut texts = BTreeMap::new();
        let all = serde_json::to_value(&self.learner).unwrap_or_default();
        collect(&all, &mut texts);
        texts
    }

    /// How many passes were made, and whether they sufficed; `None` if the user fixed the number of passes.
    pub fn passes(&self) -> Option<&Value> {
        self.stream.fit.as_ref().or(self.stream.passes.as_ref())
    }

    /// The number of rows the weights were fitted to, and the number of rows learned one by one afterwards. `examples`
    /// is the number of examples in the metrics.
    pub(crate) fn fitted_rows(&self, examples: u64) -> Option<(u64, u64)> {
        let fit = self.stream.fit.as_ref()?;
        let held_out = fit["held_out"].as_u64()?;
        Some((fit["rows"].as_u64()?, examples.saturating_sub(held_out)))
    }

    /// A sentence that says which rows the metrics and the certificate of a fitted model refer to. `examples` is the
    /// number of examples in the metrics.
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

    /// The schema for reading rows to predict. That of a fitted model replaces missing values by the means.
    pub fn filling(&self, schema: &Schema) -> Schema {
        let means = self.stream.fit.as_ref().and_then(|fit| fit.get("means")?.as_object());
        let Some(means) = means else { return schema.clone() };
        let mean = |(name, mean): (&String, &Value)| Some((name.clone(), mean.as_f64()?));
        schema.clone().filling_gaps(&means.iter().filter_map(mean).collect())
    }

    /// Records that a setting was changed when the run was resumed.
    pub(crate) fn change(&mut self, what: &str) {
        let changed = &mut self.stream.changed;
        if !changed.iter().any(|known| known == what) {
            changed.push(what.to_owned());
        }
    }

    /// Refuses to repeat a merged model, and a run whose settings were changed when it was resumed.
    pub(crate) fn check_repeatable(&self) -> Result<(), RunError> {
        if self.stream.merged > 0 {
            return Err(RunError::Merged { models: self.stream.merged });
        }
        match self.stream.changed.as_slice() {
            [] => Ok(()),
            what => Err(RunError::Changed { what: what.join(", ") }),
        }
    }
}

/// Refuses an invalid window size.
pub(crate) fn check_window(size: Option<usize>) -> Result<(), ConfigError> {
    match size {
        Some(size) if !(1..=Window::LARGEST).contains(&size) => Err(ConfigError::OutOfRange {
            name: "window",
            value: size as f64,
            allowed: Allowed::Closed(1.0, Window::LARGEST as f64),
        }),
        _ => Ok(()),
    }
}

/// Collects all numbers, texts and booleans of a JSON object, including those of nested objects.
fn collect(value: &Value, texts: &mut BTreeMap<String, String>) {
    for (key, value) in value.as_object().into_iter().flatten() {
        match value {
            Value::Object(_) => collect(value, texts),
            Value::String(text) => drop(texts.insert(key.clone(), text.clone())),
            Value::Number(_) | Value::Bool(_) => drop(texts.insert(key.clone(), value.to_string())),
            Value::Null | Value::Array(_) => {}
        }
    }
}

/// A value that is stored as text in the settings.
pub(crate) trait Text: Sized {
    /// The value as text.
    fn write(&self) -> String;
    /// Parses the text; `None` if it is invalid.
    fn read(text: &str) -> Option<Self>;
}

macro_rules! texts {
    ($($kind:ty: $write:expr, $read:expr;)*) => {$(
        impl Text for $kind {
            fn write(&self) -> String {
                let write: fn(&Self) -> String = $write;
                write(self)
            }

            fn read(text: &str) -> Option<Self> {
                let read: fn(&str) -> Option<Self> = $read;
                read(text)
            }
        }
    )*};
}

texts! {
    Task: |task| task.name().to_owned(), Task::named;
    Holdout: ToString::to_string, |text| Holdout::parse(text).ok();
    Kind: |kind| kind.name().to_owned(), |text| Kind::parse(text).ok();
    Flavour: |flavour| flavour.name().to_owned(), |text| Flavour::parse(text).ok();
    boost::By: |by| by.name().to_owned(), |text| boost::By::parse(text).ok();
    Search: |search| search.spec(), |text| Search::parse(text).ok();
    Leverage: |leverage| leverage.spec(), |text| Leverage::parse(text).ok();
    Separable: |policy| policy.name().to_owned(), Separable::parse;
    Reduction: |reduction| reduction.name().to_owned(), Reduction::parse;
}

/// For serde: stores a value as text.
pub(crate) mod text {
    use serde::{Deserialize, Deserializer, Serializer, de::Error};

    use super::Text;

    pub(crate) fn serialize<T: Text, S: Serializer>(value: &T, out: S) -> Result<S::Ok, S::Error> {
        out.serialize_str(&value.write())
    }

    pub(crate) fn deserialize<'a, T: Text, D: Deserializer<'a>>(from: D) -> Result<T, D::Error> {
        let text = String::deserialize(from)?;
        T::read(&text).ok_or_else(|| D::Error::custom(format_args!("'{text}' is not known")))
    }
}

/// For serde: stores an optional value as text.
pub(crate) mod optional_text {
    use serde::{Deserialize, Deserializer, Serializer, de::Error};

    use super::Text;

    #[allow(clippy::ref_option)] // required by serde
    pub(crate) fn serialize<T: Text, S: Serializer>(
        value: &Option<T>,
        out: S,
    ) -> Result<S::Ok, S::Error> {
        match value {
            Some(value) => out.serialize_str(&value.write()),
            None => out.serialize_none(),
        }
    }

    pub(crate) fn deserialize<'a, T: Text, D: Deserializer<'a>>(
        from: D,
    ) -> Result<Option<T>, D::Error> {
        let Some(text) = Option::<String>::deserialize(from)? else { return Ok(None) };
        let known = T::read(&text);
        known.map(Some).ok_or_else(|| D::Error::custom(format_args!("'{text}' is not known")))
    }
}
