//! Decision trees.

use geowalk::boost::table::Table;
use geowalk_data::Schema;
use serde_json::{Value, json};

use super::{Answers, Ask, Form, Guarantees, Learned, Section, Wants, reading};
use crate::certify::{Open, Which};
use crate::error::RunError;
use crate::model::Model;
use crate::profile::Profile;
use crate::sql::Target;
use crate::table::Heading;
use crate::tree::Shown;

/// A tree with the names of its columns and classes.
#[derive(Debug)]
pub struct Grown(Shown);

impl Grown {
    /// The tree of a model.
    pub fn of(model: &Model) -> Result<Self, RunError> {
        Shown::of(model).map(Self)
    }

    /// The tree with its names.
    pub fn shown(&self) -> &Shown {
        &self.0
    }
}

impl Learned for Grown {
    fn wants(&self) -> Result<Wants, RunError> {
        Ok(Wants::Columns(self.0.tree().columns()))
    }

    fn classes(&self) -> &[String] {
        self.0.classes()
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
        let tree = self.0.tree();
        let leaves = tree.leaves_of(table);
        out.found.extend(leaves.iter().map(|leaf| tree.class(*leaf) as f64));
        if ask.shares {
            out.shares.extend(leaves.iter().flat_map(|leaf| self.0.shares(*leaf)));
        }
        if ask.why {
            // Each explanation is made once per leaf that contains rows.
            let mut known: Vec<Option<String>> = vec![None; tree.nodes().len()];
            out.why.extend(
                leaves
                    .iter()
                    .map(|leaf| known[*leaf].get_or_insert_with(|| self.0.explain(*leaf)).clone()),
            );
        }
        out.groups.extend(leaves);
        Ok(())
    }

    fn describe(&self, model: &Model, top: usize) -> Result<Vec<Section>, RunError> {
        let (s, tree) = (&model.settings, self.0.tree());
        let fact = |name: &str, text: String| (name.to_owned(), text);
        let shape = format!("{} leaves, depth {}", tree.leaves().count(), tree.depth());
        let mut facts = vec![
            fact("tree", shape),
            fact("criterion", s.loss.clone()),
            fact("task", s.task.name().to_owned()),
            fact("classes", self.0.classes().join(", ")),
            fact("examples", model.examples.to_string()),
        ];
        let importance = model.summary["importance"].as_array().into_iter().flatten();
        facts.extend(importance.take(top).enumerate().map(|(at, one)| {
            let part = one["part"].as_f64().unwrap_or(0.0);
            let column = one["column"].as_str().unwrap_or_default();
            fact(if at == 0 { "importance" } else { "" }, format!("{part:.4}  {column}"))
        }));
        let mut sections = vec![Section::Facts(facts)];
        sections.extend(Profile::of(model).as_ref().map(reading));
        let text = self.0.text();
        sections.push(Section::Titled(String::new(), text.lines().map(str::to_owned).collect()));
        Ok(sections)
    }

    fn json(&self, model: &Model, _: usize) -> Result<Value, RunError> {
        let s = &model.settings;
        Ok(json!({
            "walk": s.walk(), "loss": s.loss, "rate": null, "task": s.task.name(), "seed": s.seed,
            "examples": model.examples, "classes": self.0.classes(), "summary": model.summary,
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
        _: &Model,
        _: Option<&Which>,
        _: Option<Open<'_>>,
    ) -> Result<Guarantees, RunError> {
        Err(RunError::NoTheorem)
    }
}
