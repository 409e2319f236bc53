//! Null vectors in model files: the arrays are those of [`Tracker::save`](super::Tracker::save).

use geowalk_data::{Dictionary, Features, Labels, Schema, Task};
use serde_json::json;

use super::{Plan, Tracker};
use crate::error::RunError;
use crate::model::{LearnerSettings, Model, ModelError, Settings, TrackSettings};

impl Tracker {
    /// The model file of what was learned of rows with columns of these names.
    pub fn model(&self, plan: &Plan, names: Dictionary) -> Model {
        let (rows, left_out) = self.rows();
        let (walk, rate) = (plan.walk.clone(), plan.rate.clone());
        let learner = LearnerSettings::Track(TrackSettings { walk, rate });
        Model {
            settings: Settings {
                seed: plan.seed,
                intercept: false,
                ..Settings::new(learner, "invariant", Task::Regression)
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
        let LearnerSettings::Track(own) = &model.settings.learner else {
            return Err(ModelError::Missing { what: "track".to_owned() }.into());
        };
        let plan = Plan {
            walk: own.walk.clone(),
            rate: own.rate.clone(),
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
