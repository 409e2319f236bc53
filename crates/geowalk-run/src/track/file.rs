//! Null vectors in model files: the walk is `track:` and its name, the arrays are those of [`Tracker::save`](super::Tracker::save).

use geowalk_data::{Dictionary, Features, Labels, Schema, Task};
use serde_json::json;

use super::{Plan, Tracker};
use crate::error::RunError;
use crate::model::{Model, ModelError, Settings};

/// How the walk of a null vector begins in a model file.
pub const KIND: &str = "track:";

impl Tracker {
    /// The model file of what was learned of rows with columns of these names.
    pub fn model(&self, plan: &Plan, names: Dictionary) -> Model {
        let (rows, left_out) = self.rows();
        Model {
            settings: Settings {
                walk: format!("{KIND}{}", plan.walk),
                loss: "invariant".to_owned(),
                rate: plan.rate.clone(),
                task: Task::Regression,
                seed: plan.seed,
                intercept: false,
                certificate: true,
                y_range: None,
                extras: [].into(),
            },
            schema: Schema::from_parts(Features::Exact(names), Labels::Numbers, Vec::new()),
            classes: Vec::new(),
            examples: rows,
            arrays: self.save(),
            summary: json!({
                "rows": rows, "left_out": left_out, "certificate": self.certificate_json(),
            }),
        }
    }

    /// What a model file holds: the plan, the tracker, the names of the columns.
    pub fn of(model: &Model) -> Result<(Plan, Self, Vec<String>), RunError> {
        let walk = model.settings.walk.strip_prefix(KIND);
        let missing = || ModelError::Missing { what: format!("settings.walk = {KIND}…") };
        let plan = Plan {
            walk: walk.ok_or_else(missing)?.to_owned(),
            rate: model.settings.rate.clone(),
            seed: model.settings.seed,
            ..Plan::default()
        };
        let names = match model.schema.features() {
            Features::Exact(names) => names.names().map(str::to_owned).collect(),
            _ => Vec::new(),
        };
        let tracker = Self::load(&plan, &model.arrays)?;
        Ok((plan, tracker, names))
    }
}
