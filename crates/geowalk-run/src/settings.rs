//! # Settings
//! What was asked for, as types: what every model has, and in [`LearnerSettings`] what its kind of learner takes.
//! A model file holds them as JSON, in these names; [`version_1`] reads those of the first format.

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

/// What was asked for.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub struct Settings {
    /// What learns, and how.
    pub learner: LearnerSettings,
    /// The loss; of a tree its criterion.
    pub loss: String,
    /// What is learned.
    #[serde(with = "text")]
    pub task: Task,
    /// The seed of whatever is random.
    pub seed: u64,
    /// There is a constant feature.
    pub intercept: bool,
    /// Certificates are kept.
    pub certificate: bool,
    /// The declared range of the labels, to which predictions are clipped.
    pub y_range: Option<(f64, f64)>,
    /// What learners that go through rows one by one take besides.
    #[serde(default, skip_serializing_if = "is_default")]
    pub stream: StreamSettings,
    /// How the rows were read, where that is not the usual way.
    #[serde(default, skip_serializing_if = "is_default")]
    pub reading: ReadSettings,
    /// The Python estimator that wrote the model: its class and all its parameters, as JSON.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub estimator: Option<String>,
}

/// What each kind of learner takes.
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
    /// A game of experts.
    Experts(ExpertSettings),
    /// A null vector.
    Track(TrackSettings),
}

/// A walk.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct WalkSettings {
    /// The walk, as it is spelled on the command line.
    pub walk: String,
    /// The rate.
    pub rate: String,
    /// The text of the file with its matrix, so that the file is not needed again.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub sigma: Option<String>,
    /// What the user vouches for.
    #[serde(default, skip_serializing_if = "is_default")]
    pub declared: Declared,
}

/// Natural gradient.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct NaturalSettings {
    /// The walk, as it is spelled on the command line.
    pub walk: String,
    /// The rate.
    pub rate: String,
    /// Why its family was chosen, if the data chose it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub chosen: Option<String>,
}

/// Boosting.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub struct BoostSettings {
    /// What was asked for.
    pub plan: boost::Plan,
    /// How many columns the table had.
    pub columns: usize,
    /// The loss of each member, which gives its probabilities.
    pub losses: Vec<String>,
}

/// A decision tree.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct TreeSettings {
    /// How many columns the table had.
    pub columns: usize,
    /// κ of the probabilities, in rows.
    pub smoothing: f64,
    /// The weight of one row, by which κ is multiplied.
    pub unit: f64,
    /// Bins of a column; none for thresholds between all values.
    pub bins: Option<usize>,
}

/// A game of experts.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct ExpertSettings {
    /// The rule, if it was named.
    pub walk: Option<String>,
    /// The rate.
    pub rate: String,
    /// What rows mean, if they are not losses.
    pub loss: Option<String>,
    /// The part of the weight that is spread evenly after each round.
    pub share: f64,
    /// How many experts there are.
    pub experts: usize,
}

/// A null vector.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct TrackSettings {
    /// The walk on the sphere.
    pub walk: String,
    /// The rate.
    pub rate: String,
}

/// What learners that go through rows one by one take besides.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub struct StreamSettings {
    /// Which rows are never learned from.
    #[serde(with = "optional_text", skip_serializing_if = "Option::is_none")]
    pub holdout: Option<Holdout>,
    /// The model predicts with averaged weights.
    #[serde(skip_serializing_if = "is_default")]
    pub average: bool,
    /// How many of the last examples are measured by themselves.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub window: Option<usize>,
    /// Which settings were changed when the model was continued.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub changed: Vec<String>,
    /// Rows that could not be read were left out.
    #[serde(skip_serializing_if = "is_default")]
    pub skipped: bool,
    /// The classes that were declared and have not come.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub unseen: Vec<String>,
    /// How the weights were fitted to all rows at once.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub fit: Option<Value>,
    /// How often shuffled rows were gone through until nothing was gained.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub passes: Option<Value>,
}

fn is_default<T: Default + PartialEq>(value: &T) -> bool {
    *value == T::default()
}

impl LearnerSettings {
    /// The walk of a text, with this rate. A name that is not known is refused, with the nearest one that is.
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

    /// The name of its kind.
    pub fn kind(&self) -> &'static str {
        match self {
            Self::Walk(_) => "walk",
            Self::Natural(_) => "natural",
            Self::Boost(_) => "boost",
            Self::Tree(_) => "tree",
            Self::Experts(_) => "experts",
            Self::Track(_) => "track",
        }
    }

    /// The learner as a person calls it: the walk, `boost:rules`, `tree`, `experts:hedge`, `track:sphere`.
    pub fn walk(&self) -> String {
        match self {
            Self::Walk(own) => own.walk.clone(),
            Self::Natural(own) => own.walk.clone(),
            Self::Boost(own) => format!("boost:{}", own.plan.weak.name()),
            Self::Tree(_) => "tree".to_owned(),
            Self::Experts(own) => format!("experts:{}", own.walk.as_deref().unwrap_or_default()),
            Self::Track(own) => format!("track:{}", own.walk),
        }
    }

    /// The rate, or what stands in its place.
    pub fn rate(&self) -> String {
        match self {
            Self::Walk(WalkSettings { rate, .. })
            | Self::Natural(NaturalSettings { rate, .. })
            | Self::Experts(ExpertSettings { rate, .. })
            | Self::Track(TrackSettings { rate, .. }) => rate.clone(),
            Self::Boost(own) => format!("leverage({})", own.plan.leverage.spec()),
            Self::Tree(_) => "none".to_owned(),
        }
    }

    /// The same walk at another rate; learners without a rate are as they were.
    #[must_use]
    pub fn at_rate(mut self, text: &str) -> Self {
        match &mut self {
            Self::Walk(WalkSettings { rate, .. })
            | Self::Natural(NaturalSettings { rate, .. })
            | Self::Experts(ExpertSettings { rate, .. })
            | Self::Track(TrackSettings { rate, .. }) => text.clone_into(rate),
            Self::Boost(_) | Self::Tree(_) => {}
        }
        self
    }
}

impl Settings {
    /// Settings of a learner: seed 0, a constant feature, certificates, and nothing else asked for.
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

    /// The settings of a JSON object, as a model file has them.
    pub(crate) fn read(object: &Value) -> Result<Self, ModelError> {
        let settings = Self::deserialize(object);
        settings.map_err(|error| ModelError::Settings { what: error.to_string() })
    }

    /// The learner as a person calls it.
    pub fn walk(&self) -> String {
        self.learner.walk()
    }

    /// The rate, or what stands in its place.
    pub fn rate(&self) -> String {
        self.learner.rate()
    }

    /// What the learner was asked for, by name, each as a text; what was not asked for is left out.
    pub fn texts(&self) -> BTreeMap<String, String> {
        let mut texts = BTreeMap::new();
        let all = serde_json::to_value(&self.learner).unwrap_or_default();
        collect(&all, &mut texts);
        texts
    }

    /// How often rows were gone through, and whether that was enough; `None` if the number of passes was given.
    pub fn passes(&self) -> Option<&Value> {
        self.stream.fit.as_ref().or(self.stream.passes.as_ref())
    }

    /// To how many rows the weights were fitted at once, and how many were learned one by one later. `examples`
    /// are those of the metrics.
    pub(crate) fn fitted_rows(&self, examples: u64) -> Option<(u64, u64)> {
        let fit = self.stream.fit.as_ref()?;
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

    /// The schema to read rows with that are to be predicted: that of a fitted model fills new gaps with means.
    pub fn filling(&self, schema: &Schema) -> Schema {
        let means = self.stream.fit.as_ref().and_then(|fit| fit.get("means")?.as_object());
        let Some(means) = means else { return schema.clone() };
        let mean = |(name, mean): (&String, &Value)| Some((name.clone(), mean.as_f64()?));
        schema.clone().filling_gaps(&means.iter().filter_map(mean).collect())
    }

    /// Notes that a setting is not what it was at the beginning of the run.
    pub(crate) fn change(&mut self, what: &str) {
        let changed = &mut self.stream.changed;
        if !changed.iter().any(|known| known == what) {
            changed.push(what.to_owned());
        }
    }

    /// Refuses to repeat a run whose settings changed on the way.
    pub(crate) fn check_repeatable(&self) -> Result<(), RunError> {
        match self.stream.changed.as_slice() {
            [] => Ok(()),
            what => Err(RunError::Changed { what: what.join(", ") }),
        }
    }
}

/// Refuses a number of last examples that cannot be measured by themselves.
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

/// All numbers, texts and truth values of a JSON object, also of those inside it.
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

/// A value that settings write as a text.
pub(crate) trait Text: Sized {
    /// Its text.
    fn write(&self) -> String;
    /// The value of a text.
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
    Search: |search| search.spec(), |text| Search::parse(text).ok();
    Leverage: |leverage| leverage.spec(), |text| Leverage::parse(text).ok();
    Separable: |policy| policy.name().to_owned(), Separable::parse;
    Reduction: |reduction| reduction.name().to_owned(), Reduction::parse;
}

/// For serde: a value by its text.
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

/// For serde: a value by its text, or none.
pub(crate) mod optional_text {
    use serde::{Deserialize, Deserializer, Serializer, de::Error};

    use super::Text;

    #[allow(clippy::ref_option)] // what serde calls
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
