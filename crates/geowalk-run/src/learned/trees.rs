//! Boosted trees.

use geowalk::boost::Surrogate;
use geowalk::boost::table::Table;
use geowalk::boost::trees::Shape;
use geowalk_data::Schema;
use serde_json::{Value, json};

use super::{Answers, Ask, Form, Guarantees, Learned, Section, Wants, reading};
use crate::certify::{Open, Which};
use crate::error::RunError;
use crate::model::Model;
use crate::profile::Profile;
use crate::sql::Target;
use crate::table::Heading;
use crate::trees::{BoostedTrees, Predicted, Shown, guarantee};

/// Boosted trees with the names of their columns.
#[derive(Debug)]
pub struct Trees(Shown);

impl Trees {
    /// The trees of a model. A user-defined loss has no name, so it must be given as `custom`.
    pub fn of(model: &Model, custom: Option<&Surrogate>) -> Result<Self, RunError> {
        Shown::of(model, custom).map(Self)
    }

    /// The trees.
    pub fn trees(&self) -> &BoostedTrees {
        self.0.trees()
    }
}

/// Short description of the model.
fn model_of(shown: &Shown, loss: &str) -> String {
    let trees = shown.trees();
    match trees.shape {
        Shape::Trees => format!("{} boosted trees, loss {loss}", trees.model.trees.len()),
        Shape::Rules => format!("{} boosted rules, loss {loss}", shown.rules().len()),
    }
}

impl Learned for Trees {
    fn wants(&self) -> Result<Wants, RunError> {
        Ok(Wants::Columns(self.trees().model.columns))
    }

    fn classes(&self) -> &[String] {
        &self.trees().classes
    }

    fn used_columns(&self, _: &Schema) -> Option<Vec<String>> {
        Some(self.0.used_columns())
    }

    fn explains(&self) -> bool {
        true
    }

    fn renamed(&self, columns: Vec<Heading>) -> Option<Box<dyn Learned>> {
        Some(Box::new(Self(self.0.clone().with_columns(columns))))
    }

    fn answer_table(&self, table: &Table, ask: Ask, out: &mut Answers) -> Result<(), RunError> {
        let predicted = self.trees().predict(table);
        if ask.why {
            let why = (0..table.rows()).map(|row| self.0.explain(table, row, &predicted));
            out.why.extend(why);
        }
        match predicted {
            Predicted::Numbers(found) => out.found.extend(found),
            Predicted::Classes(found, shares) => {
                out.found.extend(found.iter().map(|class| *class as f64));
                if ask.shares {
                    out.shares.extend(shares);
                }
            }
        }
        Ok(())
    }

    fn describe(&self, model: &Model, top: usize) -> Result<Vec<Section>, RunError> {
        let (s, trees) = (&model.settings, self.trees());
        let fact = |name: &str, text: String| (name.to_owned(), text);
        let text = |key: &str| model.summary[key].as_str().unwrap_or_default().to_owned();
        let mut facts =
            vec![fact("model", model_of(&self.0, &s.loss)), fact("task", s.task.name().to_owned())];
        if !trees.classes.is_empty() {
            facts.push(fact("classes", trees.classes.join(", ")));
        }
        facts.extend([
            fact("examples", model.examples.to_string()),
            fact("rounds", text("choice")),
            fact("descent", text("descent")),
            fact("guarantee", guarantee(&model.summary)),
        ]);
        let importance = model.summary["importance"].as_array().into_iter().flatten();
        facts.extend(importance.take(top).enumerate().map(|(at, one)| {
            let part = one["part"].as_f64().unwrap_or(0.0);
            let column = one["column"].as_str().unwrap_or_default();
            fact(if at == 0 { "importance" } else { "" }, format!("{part:.3}  {column}"))
        }));
        let mut sections = vec![Section::Facts(facts)];
        sections.extend(Profile::of(model).as_ref().map(reading));
        let more = match trees.shape {
            Shape::Trees => "the trees: --format text, json, sql or dot".to_owned(),
            Shape::Rules => {
                let (all, shown) = (self.0.rules(), &self.0);
                let rules = all.iter().take(top).map(|rule| shown.sentence_of(rule)).collect();
                sections.push(Section::Titled("rules, the largest first".to_owned(), rules));
                "all rules: --format text, json, sql or dot".to_owned()
            }
        };
        sections.push(Section::Titled(String::new(), vec![more]));
        Ok(sections)
    }

    fn json(&self, model: &Model, _: usize) -> Result<Value, RunError> {
        let s = &model.settings;
        Ok(json!({
            "walk": s.walk(), "loss": s.loss, "rate": s.rate(), "task": s.task.name(), "seed": s.seed,
            "examples": model.examples, "classes": self.classes(), "settings": s.texts(),
            "summary": model.summary,
        }))
    }

    fn forms(&self) -> &[Form] {
        &[Form::Text, Form::Json, Form::Sql, Form::Dot]
    }

    fn write(
        &self,
        form: Form,
        target: &Target,
        columns: Option<Vec<Heading>>,
    ) -> Result<String, RunError> {
        let renamed = columns.map(|columns| self.0.clone().with_columns(columns));
        let shown = renamed.as_ref().unwrap_or(&self.0);
        shown.write(form, target).map_err(|why| RunError::NoForm { form: form.name(), why })
    }

    fn certify(
        &self,
        model: &Model,
        which: Option<&Which>,
        data: Option<Open<'_>>,
    ) -> Result<Guarantees, RunError> {
        if which.is_some() || data.is_some() {
            return Err(RunError::NoComparator);
        }
        let descent = model.summary["descent"].as_str().unwrap_or_default().to_owned();
        let lines = vec![guarantee(&model.summary), descent];
        Ok(Guarantees { lines, json: model.summary["certificate"].clone() })
    }
}
