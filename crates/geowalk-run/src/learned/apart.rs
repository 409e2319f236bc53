//! Expert games and null vectors: models that do not predict rows of a table.

use serde_json::{Value, json};

use super::{Form, Guarantees, Learned, Section, Wants};
use crate::certify::{Open, Which};
use crate::error::RunError;
use crate::model::Model;
use crate::sql::Target;
use crate::table::Heading;

pub(super) struct Apart {
    pub(super) kind: String,
}

impl Apart {
    fn error(&self) -> RunError {
        RunError::Apart { kind: self.kind.clone() }
    }
}

impl Learned for Apart {
    fn wants(&self) -> Result<Wants, RunError> {
        Err(self.error())
    }

    fn classes(&self) -> &[String] {
        &[]
    }

    fn describe(&self, model: &Model, _: usize) -> Result<Vec<Section>, RunError> {
        let s = &model.settings;
        let mut facts = vec![
            ("walk".to_owned(), s.walk()),
            ("loss".to_owned(), s.loss.clone()),
            ("rate".to_owned(), s.rate()),
            ("rounds".to_owned(), model.examples.to_string()),
        ];
        let all = model.summary.as_object().into_iter().flatten();
        facts.extend(all.map(|(name, value)| (name.clone(), value.to_string())));
        Ok(vec![Section::Facts(facts)])
    }

    fn json(&self, model: &Model, _: usize) -> Result<Value, RunError> {
        let s = &model.settings;
        Ok(json!({
            "walk": s.walk(), "loss": s.loss, "rate": s.rate(), "seed": s.seed,
            "examples": model.examples, "summary": model.summary,
        }))
    }

    fn write(&self, form: Form, _: &Target, _: Option<Vec<Heading>>) -> Result<String, RunError> {
        Err(RunError::NoForm {
            form: form.name(),
            why: format!("the model is one of {}", self.kind),
        })
    }

    fn certify(
        &self,
        _: &Model,
        _: Option<&Which>,
        _: Option<Open<'_>>,
    ) -> Result<Guarantees, RunError> {
        Err(self.error())
    }
}
