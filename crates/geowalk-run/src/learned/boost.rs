//! Boosted rules.

use geowalk::boost::table::Table;
use geowalk::certify::{Certificate, Status};
use geowalk_data::{Schema, visible};
use serde_json::{Value, json};

use super::{Answers, Ask, Form, Guarantees, Learned, Section, Wants, reading};
use crate::boost::support::{self, Support};
use crate::boost::words::{self, Names};
use crate::boost::{Boosted, History, explain};
use crate::certify::{Open, Which};
use crate::error::RunError;
use crate::model::Model;
use crate::profile::Profile;
use crate::sql::Target;
use crate::table::{Heading, headings};
use crate::verdict::percent;

/// Boosted rules with the names of their columns.
#[derive(Debug, Clone)]
pub struct Boosting {
    boosted: Boosted,
    names: Names,
    supports: Vec<Vec<Support>>,
}

impl Boosting {
    /// The boosted rules of a model.
    pub fn of(model: &Model) -> Result<Self, RunError> {
        Ok(Self::new(Boosted::of(model)?, model))
    }

    /// Boosted rules whose loss the model file may not contain, such as a user-defined loss.
    pub fn new(boosted: Boosted, model: &Model) -> Self {
        let names = Names::new(headings(&model.schema, boosted.columns), &boosted);
        Self { boosted, names, supports: support::read(&model.summary) }
    }

    /// For each member, the training rows that satisfy each rule; empty if unknown.
    pub fn supports(&self) -> &[Vec<Support>] {
        &self.supports
    }

    /// The boosted rules.
    pub fn boosted(&self) -> &Boosted {
        &self.boosted
    }
}

impl Learned for Boosting {
    fn wants(&self) -> Result<Wants, RunError> {
        Ok(Wants::Columns(self.boosted.columns))
    }

    fn classes(&self) -> &[String] {
        &self.boosted.classes
    }

    fn used_columns(&self, schema: &Schema) -> Option<Vec<String>> {
        Some(self.boosted.used_columns(schema))
    }

    fn explains(&self) -> bool {
        true
    }

    fn renamed(&self, columns: Vec<Heading>) -> Option<Box<dyn Learned>> {
        let names = Names::new(columns, &self.boosted);
        Some(Box::new(Self { names, ..self.clone() }))
    }

    fn answer_table(&self, table: &Table, ask: Ask, out: &mut Answers) -> Result<(), RunError> {
        let (found, shares) = self.boosted.predict(table)?;
        if ask.why {
            out.why.extend(explain(&self.boosted, &self.names, table, &found)?);
        }
        out.found.extend(found.into_iter().map(|class| class as f64));
        if ask.shares {
            out.shares.extend(shares);
        }
        Ok(())
    }

    fn describe(&self, model: &Model, _: usize) -> Result<Vec<Section>, RunError> {
        let s = &model.settings;
        let fact = |name: &str, text: String| (name.to_owned(), text);
        let mut facts = vec![
            fact("walk", s.walk()),
            fact("loss", s.loss.clone()),
            fact("task", s.task.name().to_owned()),
            fact("classes", self.boosted.classes.join(", ")),
            fact("examples", model.examples.to_string()),
        ];
        let metrics = model.summary["metrics"].as_object();
        let metric = |(name, v): (&String, &Value)| fact(&name.replace('_', " "), v.to_string());
        facts.extend(metrics.into_iter().flatten().map(metric));
        let mean = model.summary.pointer("/cross_validation/mean/error").and_then(Value::as_f64);
        facts.extend(mean.map(|mean| fact("cross-validated error", format!("{mean:.6}"))));
        let mut promises = Vec::new();
        for own in History::of(model, None).into_iter().flatten() {
            let class = own.class.as_ref().map_or(String::new(), |class| format!("{class}: "));
            promises.extend(own.certificates.iter().map(|c| format!("{class}{}", promise(c))));
        }
        let missing = fact("missing", words::about_missing(&self.boosted).to_owned());
        let mut sections =
            vec![Section::Facts(facts), Section::Lines(promises), Section::Facts(vec![missing])];
        sections.extend(Profile::of(model).as_ref().map(reading));
        let all = words::spoken(&self.boosted, &self.names, &self.supports).into_iter();
        sections.extend(all.map(|(name, rules)| {
            let line = |one: &words::Spoken| {
                let support = one.support.map(|own| match own.share {
                    Some(share) => {
                        let share = if one.alpha >= 0.0 { share } else { 1.0 - share };
                        format!("  [{} rows, {} {}]", own.rows, percent(Some(share)), one.votes_for)
                    }
                    None => format!("  [{} rows]", own.rows),
                });
                format!("  {}{}", one.sentence, support.unwrap_or_default())
            };
            Section::Titled(name, rules.iter().map(line).collect())
        }));
        Ok(sections)
    }

    fn json(&self, model: &Model, _: usize) -> Result<Value, RunError> {
        let s = &model.settings;
        let mut object = words::to_json(&self.boosted, &self.names, &self.supports);
        object["walk"] = json!(s.walk());
        object["loss"] = json!(s.loss);
        object["task"] = json!(s.task.name());
        object["examples"] = json!(model.examples);
        object["settings"] = json!(s.learner);
        object["summary"] = model.summary.clone();
        Ok(object)
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
        let renamed = columns.map(|columns| Names::new(columns, &self.boosted));
        let names = renamed.as_ref().unwrap_or(&self.names);
        match form {
            Form::Json => Ok(format!("{}\n", words::to_json(&self.boosted, names, &self.supports))),
            Form::Sql => words::to_sql(&self.boosted, names, target)
                .map_err(|why| RunError::NoForm { form: form.name(), why }),
            Form::Dot => Ok(words::to_dot(&self.boosted, names)),
            Form::Text => {
                let members = words::sentences(&self.boosted, names);
                let one = members.len() == 1;
                let text = |(class, rules): (String, Vec<String>)| {
                    let head = if one { String::new() } else { format!("{}:\n", visible(&class)) };
                    let rules: Vec<_> = rules.iter().map(|rule| visible(rule)).collect();
                    format!("{head}{}", rules.join("\n"))
                };
                Ok(members.into_iter().map(text).collect::<Vec<_>>().join("\n\n"))
            }
        }
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
        let mut json = model.summary["certificate"].clone();
        let members = model.summary["members"].as_array().into_iter().flatten();
        json["members"] = members
            .map(|own| json!({"class": own["class"], "certificates": own["certificates"]}))
            .collect();
        let untold = "the file does not tell the rounds of this model; \
                      --json has what was certified when it was learned";
        let mut lines = Vec::new();
        match History::of(model, None) {
            None => lines.push(untold.to_owned()),
            Some(all) => {
                for own in all {
                    lines.extend(own.class.map(|class| format!("{class} against the rest")));
                    lines.extend(own.certificates.iter().map(promise));
                }
            }
        }
        Ok(Guarantees { lines, json })
    }
}

/// A certificate of boosting as a sentence; the bound is on the loss itself.
pub fn promise(certificate: &Certificate) -> String {
    let what = match certificate.theorem {
        "boosting-rate" => "surrogate",
        "training-error" => "training error",
        _ => "least training error before a round",
    };
    match &certificate.status {
        Status::Valid => format!(
            "{}: valid; {what} {:.6} <= {:.6}",
            certificate.theorem, certificate.loss, certificate.bound
        ),
        Status::Void(broken) if broken.row > 0 => format!(
            "{}: void since round {}; {} does not hold",
            certificate.theorem, broken.row, broken.premise
        ),
        Status::Void(_) => certificate.to_string(),
    }
}
