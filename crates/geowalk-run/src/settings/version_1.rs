//! # Settings of format version 1
//! Version 1 stored the kind of learner in a text and everything else in a map of texts. This module converts them to
//! the current settings. No other module depends on version 1.

use serde_json::{Map, Value, json};

use super::{LearnerSettings, Settings};
use crate::model::ModelError;

/// The map of texts.
struct Extras<'a>(&'a Value);

impl Extras<'_> {
    /// The text under a key; null if it is absent.
    fn text(&self, key: &str) -> Value {
        self.0[key].clone()
    }

    /// The JSON value that a text contains: a number, a boolean, a list. Null if the text is absent or not JSON.
    fn value(&self, key: &str) -> Value {
        let text = self.0[key].as_str();
        text.and_then(|text| serde_json::from_str(text).ok()).unwrap_or_default()
    }

    /// The texts under those of the keys that are present.
    fn texts(&self, keys: &[&str]) -> Map<String, Value> {
        let all = keys.iter().map(|key| ((*key).to_owned(), self.text(key)));
        all.filter(|(_, value)| !value.is_null()).collect()
    }

    /// The learner; the beginning of the walk determines its kind.
    fn learner(&self, walk: &str, rate: &Value) -> Value {
        match walk.split_once(':') {
            None if walk == "tree" => json!({
                "kind": "tree", "columns": self.value("columns"), "bins": self.value("bins"),
                "smoothing": self.value("smoothing"),
                // Older files smooth by weight.
                "unit": if self.text("unit").is_null() { json!(1.0) } else { self.value("unit") },
            }),
            // In version 1, `trees` meant what is now called small trees.
            Some(("boost", "trees")) => {
                self.boost("small-trees", rate.as_str().unwrap_or_default())
            }
            Some(("boost", weak)) => self.boost(weak, rate.as_str().unwrap_or_default()),
            Some(("experts", walk)) => json!({
                "kind": "experts", "rate": rate, "share": self.value("share"),
                "walk": Some(walk).filter(|walk| !walk.is_empty()),
                "loss": self.0["loss"].as_str().filter(|loss| !loss.is_empty()),
                "experts": self.value("experts"),
            }),
            Some(("track", walk)) => json!({ "kind": "track", "walk": walk, "rate": rate }),
            _ => {
                // An unknown walk is refused later, where it is built.
                let known = LearnerSettings::parse(walk, "auto");
                let kind = known.map_or("walk", |learner| learner.kind());
                let range = self.0["x-range"].as_str().and_then(|range| range.split_once(','));
                let number = |text: &str| text.parse::<f64>().ok();
                json!({
                    "kind": kind, "walk": walk, "rate": rate,
                    "sigma": self.text("sigma"), "chosen": self.text("family"),
                    "declared": {
                        "x_norm": self.value("x-norm"),
                        "x_range": range.map(|(lo, hi)| [number(lo), number(hi)]),
                        "distance": self.value("distance"),
                        "comparator_loss": self.value("comparator-loss"),
                        "rounds": self.value("rounds"),
                    },
                })
            }
        }
    }

    fn boost(&self, weak: &str, rate: &str) -> Value {
        let leverage = rate.strip_prefix("leverage(").and_then(|rest| rest.strip_suffix(')'));
        let mut plan = self.texts(&["adapt", "search", "separable", "reduction"]);
        for (key, old) in [
            ("literals", "literals"),
            ("leaves", "leaves"),
            ("abstains", "abstains"),
            ("rounds", "rounds"),
            ("bound", "until"),
            ("held_out", "hold-out"),
            ("patience", "patience"),
        ] {
            plan.extend(Some((key.to_owned(), self.value(old))).filter(|(_, v)| !v.is_null()));
        }
        plan.insert("bins".to_owned(), self.value("bins"));
        plan.insert("weak".to_owned(), weak.into());
        plan.insert("leverage".to_owned(), leverage.into());
        let members = self.value("members").as_u64().unwrap_or(0);
        let losses: Vec<Value> = (0..members).map(|k| self.text(&format!("loss.{k}"))).collect();
        json!({ "kind": "boost", "plan": plan, "columns": self.value("columns"), "losses": losses })
    }

    fn stream(&self) -> Value {
        let changed = self.0["changed"].as_str().unwrap_or_default().split(", ");
        let mut stream = self.texts(&["holdout"]);
        for key in ["window", "fit", "passes"] {
            stream.insert(key.to_owned(), self.value(key));
        }
        stream.insert("average".to_owned(), (!self.text("average").is_null()).into());
        stream.insert("skipped".to_owned(), (!self.text("skipped").is_null()).into());
        stream.insert("changed".to_owned(), changed.filter(|what| !what.is_empty()).collect());
        if !self.text("unseen").is_null() {
            stream.insert("unseen".to_owned(), self.value("unseen"));
        }
        Value::Object(stream)
    }
}

/// Reads the settings of a file of version 1.
pub(crate) fn read(old: &Value) -> Result<Settings, ModelError> {
    let walk =
        old["walk"].as_str().ok_or(ModelError::Missing { what: "settings.walk".to_owned() })?;
    let extras = Extras(&old["extras"]);
    let mut new = old.clone();
    new["learner"] = extras.learner(walk, &old["rate"]);
    new["stream"] = extras.stream();
    new["estimator"] = extras.text("estimator");
    Settings::read(&new)
}
