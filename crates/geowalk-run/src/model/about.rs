//! # The JSON metadata of a model file
//! Converts between a model and the JSON text that describes its arrays.

use geowalk_data::{Column, Dictionary, Features, Kind, Labels, Schema};
use serde_json::{Value, json};

use super::{FORMAT, Model, ModelError, Settings, features, finite};
use crate::settings::version_1;

/// The JSON metadata of a model file.
pub(super) struct About(Value);

impl About {
    pub(super) fn of(model: &Model) -> Self {
        let labels = match model.schema.labels() {
            Labels::Numbers => json!({ "kind": "numbers" }),
            Labels::Names(names) => {
                json!({ "kind": "names", "names": names.names().collect::<Vec<_>>() })
            }
        };
        let columns = model.schema.columns().iter();
        let columns = columns.map(|c| json!({ "name": c.name, "kind": c.kind.name() }));
        Self(json!({
            "format": FORMAT,
            "geowalk": env!("CARGO_PKG_VERSION"),
            "settings": model.settings,
            "schema": {
                "features": features::describe(model.schema.features()),
                "labels": labels,
                "columns": columns.collect::<Vec<_>>(),
                "missing": model.schema.missing(),
            },
            "classes": model.classes,
            "examples": model.examples,
            "arrays": model.arrays.iter().map(|(name, _)| name).collect::<Vec<_>>(),
            "summary": model.summary,
        }))
    }

    /// Parses the text; refuses an unknown format version.
    pub(super) fn read(text: &str) -> Result<Self, ModelError> {
        let about = serde_json::from_str(text).map(Self).map_err(|_| missing("/geowalk"))?;
        match about.at("/format", Value::as_u64)? {
            1..=FORMAT => Ok(about),
            found => Err(ModelError::version(found)),
        }
    }

    /// The JSON text, with sorted keys.
    pub(super) fn text(&self) -> String {
        self.0.to_string()
    }

    /// The value at a path such as `/settings/walk`.
    pub(super) fn at<'a, T>(
        &'a self,
        path: &str,
        read: impl FnOnce(&'a Value) -> Option<T>,
    ) -> Result<T, ModelError> {
        self.0.pointer(path).and_then(read).ok_or_else(|| missing(path))
    }

    pub(super) fn settings(&self) -> Result<Settings, ModelError> {
        let settings = self.at("/settings", Some)?;
        match self.at("/format", Value::as_u64)? {
            1 => version_1::read(settings),
            _ => Settings::read(settings),
        }
    }

    /// The schema, with features that were read from the arrays.
    pub(super) fn schema(&self, features: Features) -> Result<Schema, ModelError> {
        let labels = match self.at("/schema/labels/kind", Value::as_str)? {
            "numbers" => Labels::Numbers,
            "names" => {
                let names = self.at("/schema/labels/names", strings)?;
                Labels::Names(Dictionary::from_names(names.iter().map(String::as_str))?)
            }
            _ => return Err(missing("/schema/labels/kind")),
        };
        let columns = self.at("/schema/columns", |v| {
            let columns = v.as_array()?.iter().map(|column| {
                let kind = Kind::named(column.get("kind")?.as_str()?)?;
                Some(Column { name: column.get("name")?.as_str()?.to_owned(), kind })
            });
            columns.collect::<Option<Vec<_>>>()
        })?;
        let missing = self.at("/schema/missing", strings)?;
        Ok(Schema::from_parts(features, labels, columns).with_missing(missing))
    }

    pub(super) fn classes(&self) -> Result<Vec<f64>, ModelError> {
        let classes = self.at("/classes", |v| {
            let number = |v: &Value| if v.is_null() { Some(f64::NAN) } else { v.as_f64() };
            v.as_array()?.iter().map(number).collect::<Option<Vec<_>>>()
        })?;
        self::classes(&classes)?;
        Ok(classes)
    }

    pub(super) fn examples(&self) -> Result<u64, ModelError> {
        self.at("/examples", Value::as_u64)
    }

    /// The names of the arrays, in file order.
    pub(super) fn arrays(&self) -> Result<Vec<String>, ModelError> {
        self.at("/arrays", strings)
    }

    pub(super) fn summary(self) -> Value {
        self.0.get("summary").cloned().unwrap_or_default()
    }
}

/// Refuses infinite class labels. NaN stands for a class not yet seen and is written as `null`.
pub(super) fn classes(classes: &[f64]) -> Result<(), ModelError> {
    let seen: Vec<f64> = classes.iter().copied().filter(|class| !class.is_nan()).collect();
    finite("classes", &seen)
}

fn missing(path: &str) -> ModelError {
    ModelError::Missing { what: path.trim_start_matches('/').replace('/', ".") }
}

fn strings(value: &Value) -> Option<Vec<String>> {
    value.as_array()?.iter().map(|v| v.as_str().map(str::to_owned)).collect()
}

pub(super) fn u32_of(value: &Value) -> Option<u32> {
    value.as_u64().and_then(|number| number.try_into().ok())
}
