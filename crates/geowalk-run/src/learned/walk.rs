//! Walks and natural gradient.

use geowalk::row::{Block, Row};
use geowalk_data::{Schema, Task};
use serde_json::{Value, json};

use super::{Answers, Ask, Form, Guarantees, Learned, Section, Wants};
use crate::boost::words;
use crate::certificate::{Against, Report};
use crate::certify::{self, Open, Which};
use crate::error::RunError;
use crate::label::{Coding, make_room};
use crate::learner::{largest as likeliest, softmax};
use crate::link::{Floor, probability, threshold};
use crate::metrics::Interval;
use crate::model::Model;
use crate::predict::restore;
use crate::profile::Profile;
use crate::sql::Target;
use crate::table::Heading;
use crate::team;
use crate::walks::Built;

/// A walk with the weights of a model.
#[derive(Debug)]
pub struct Walking {
    built: Built,
    task: Task,
    walk: String,
    /// The classes with examples, then the declared classes without examples.
    classes: Vec<String>,
    /// The number of declared classes without examples, and the number of examples.
    room: (usize, u64),
    floor: Floor,
}

impl Walking {
    /// The walk of a model.
    pub fn of(model: &Model) -> Result<Self, RunError> {
        let coding = Coding::restore(model.settings.task, model.classes.clone());
        let mut classes = coding.texts(model.schema.labels());
        let mut declared = model.settings.stream.unseen.clone();
        declared.retain(|class| !classes.contains(class));
        let room = (declared.len(), model.examples);
        classes.append(&mut declared);
        Ok(Self {
            built: restore(model)?,
            task: model.settings.task,
            walk: model.settings.walk(),
            classes,
            room,
            floor: Floor::of_model(&model.settings),
        })
    }

    /// Appends the answer for a row with these scores.
    fn answer(&self, scores: &mut [f64], ask: Ask, out: &mut Answers) {
        let floor = if ask.fair { self.floor } else { Floor::new(0.0) };
        let loss = &self.built.loss;
        match self.task {
            Task::Regression => out.found.push(scores[0]),
            Task::Binary => {
                out.found.push(f64::from(u8::from(scores[0] >= threshold(loss))));
                out.scores.push(scores[0]);
                let p = probability(loss, scores[0]).filter(|_| ask.shares);
                let p = p.map(|p| floor.of(p, 2));
                out.shares.extend(p.into_iter().flat_map(|p| [1.0 - p, p]));
            }
            Task::Multiclass => {
                out.found.push(likeliest(scores));
                if !ask.shares {
                    return;
                }
                softmax(scores);
                let seen = scores.len();
                for p in scores.iter_mut() {
                    *p = floor.of(*p, seen);
                }
                let (unseen, examples) = if ask.fair { self.room } else { (0, 0) };
                let share = if unseen > 0 { make_room(scores, unseen, examples) } else { 0.0 };
                out.shares.extend(scores.iter().copied());
                out.shares.extend(std::iter::repeat_n(share, unseen));
            }
        }
    }
}

/// Number of features that are named in favour of a prediction.
const FOR: usize = 3;

impl Walking {
    /// The features that raise the score of the prediction for row i most, and the one that lowers it most. With
    /// several classes, a score is compared with the mean over all classes.
    #[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "a class number")]
    fn because(
        &self,
        model: &Model,
        weights: &[Vec<f64>],
        rows: &Block,
        i: usize,
        found: f64,
    ) -> String {
        let shift = usize::from(model.settings.intercept);
        let class = found as usize;
        let weight = |j: usize| {
            let of = |k: usize| weights[k].get(j + shift).copied().unwrap_or(0.0);
            match self.task {
                Task::Regression => of(0),
                Task::Binary => of(0) * if class == 1 { 1.0 } else { -1.0 },
                Task::Multiclass => {
                    let mean = (0..weights.len()).map(of).sum::<f64>() / weights.len() as f64;
                    if class < weights.len() { of(class) - mean } else { 0.0 }
                }
            }
        };
        let mut parts: Vec<(f64, usize, f64)> = Vec::new();
        let mut see = |j: usize, x: f64| {
            let part = weight(j) * x;
            if part != 0.0 {
                parts.push((part, j, x));
            }
        };
        if rows.columns().is_some() {
            rows.dense(i).each(&mut see);
        } else {
            rows.sparse(i).each(&mut see);
        }
        // Largest first; among equals the first feature.
        parts.sort_by(|a, b| b.0.abs().total_cmp(&a.0.abs()).then(a.1.cmp(&b.1)));
        let words = |&(part, j, x): &(f64, usize, f64)| {
            let name = name(model, j + shift, None);
            let value = if x == 1.0 && name.contains('=') {
                String::new()
            } else {
                format!(" = {}", words::threshold(x))
            };
            format!("{name}{value} ({:.2})", part.abs())
        };
        let list = |sign: f64, most: usize| -> Vec<String> {
            parts.iter().filter(|(part, ..)| part * sign > 0.0).take(most).map(words).collect()
        };
        let (with, against) = (list(1.0, FOR), list(-1.0, 1));
        let what = match self.task {
            Task::Regression => words::threshold(found),
            _ => self.classes.get(class).cloned().unwrap_or_default(),
        };
        let with = if with.is_empty() {
            format!("{what}, although no feature speaks for it")
        } else {
            format!("{what} because {}", with.join(" and "))
        };
        if against.is_empty() { with } else { format!("{with}; against it {}", against.join("")) }
    }
}

impl Learned for Walking {
    fn wants(&self) -> Result<Wants, RunError> {
        Ok(Wants::Rows)
    }

    fn classes(&self) -> &[String] {
        &self.classes
    }

    fn answer_rows(&self, rows: &Block, ask: Ask, out: &mut Answers) -> Result<(), RunError> {
        let (learner, mut scores) = (&self.built.learner, Vec::new());
        if ask.shares {
            learner.predict(rows, &mut scores);
        } else {
            learner.scores(rows, &mut scores);
        }
        for scores in scores.chunks_exact_mut(learner.outputs().max(1)) {
            self.answer(scores, ask, out);
        }
        learner.intervals(rows, &mut out.intervals);
        Ok(())
    }

    fn explains(&self) -> bool {
        self.built.learner.is_linear()
    }

    fn explain_rows(&self, model: &Model, rows: &Block, found: &[f64]) -> Vec<String> {
        let learner = &self.built.learner;
        let mut weights = vec![Vec::new(); learner.outputs()];
        weights.iter_mut().enumerate().for_each(|(k, w)| learner.weights(k, w));
        let why = |(i, found): (usize, &f64)| self.because(model, &weights, rows, i, *found);
        found.iter().enumerate().map(why).collect()
    }

    fn has_intervals(&self) -> bool {
        self.built.learner.coverage().is_some()
    }

    fn describe(&self, model: &Model, top: usize) -> Result<Vec<Section>, RunError> {
        let s = &model.settings;
        let fact = |name: &str, text: String| (name.to_owned(), text);
        let mut facts = match s.fit_note(model.examples) {
            Some(note) => vec![
                fact("fit", note),
                fact("loss", s.loss.clone()),
                fact("more rows", format!("by the walk {}, rate {}", self.walk, s.rate())),
            ],
            None => vec![
                fact("walk", self.walk.clone()),
                fact("loss", s.loss.clone()),
                fact("rate", self.built.rate.clone()),
            ],
        };
        facts.push(fact("task", s.task.name().to_owned()));
        let coding = Coding::restore(s.task, model.classes.clone());
        let classes = coding.texts(model.schema.labels());
        if !classes.is_empty() {
            facts.push(fact("classes", classes.join(", ")));
        }
        facts.push(fact("examples", model.examples.to_string()));
        if s.stream.merged > 0 {
            facts.push(fact("merged", format!("from {} models", s.stream.merged)));
        }
        let metrics = model.summary["metrics"].as_object();
        facts.extend(metrics.into_iter().flatten().map(|(name, v)| fact(name, v.to_string())));
        let mut sections = vec![Section::Facts(facts)];
        let members = self.built.learner.members();
        let whose = if members.is_empty() { "" } else { " of the member that lost least" };
        sections.push(Section::Lines(team::lines(&members, model.examples)));
        let coverage = self.built.learner.coverage();
        sections.push(Section::Lines(
            coverage.iter().map(|one| format!("intervals: {}", one.sentence())).collect(),
        ));
        let intervals = model.summary["intervals"].as_array();
        let intervals = intervals.into_iter().flatten().filter_map(Interval::read);
        sections.push(Section::Lines(intervals.map(|one| one.sentence()).collect()));
        if let Some(report) = self.built.learner.report(&Against::Reach, None) {
            let lines = report.lines().into_iter().chain(report.rounds_note(model.examples));
            sections.push(Section::Lines(lines.collect()));
        }
        sections.extend(columns(&model.schema));
        for (name, top) in weights(model, &self.built, top, None) {
            let lines = top.iter().map(|(feature, weight)| format!("{weight:>14.6}  {feature}"));
            sections
                .push(Section::Titled(format!("{name}: largest weights{whose}"), lines.collect()));
        }
        Ok(sections)
    }

    fn json(&self, model: &Model, top: usize) -> Result<Value, RunError> {
        let s = &model.settings;
        let coding = Coding::restore(s.task, model.classes.clone());
        let one = |(n, w): &(String, f64)| json!({"feature": n, "weight": w});
        let output = |(name, top): (String, Vec<(String, f64)>)| json!({"output": name, "top": top.iter().map(one).collect::<Vec<_>>()});
        let weights: Vec<Value> =
            weights(model, &self.built, top, None).into_iter().map(output).collect();
        Ok(json!({
            "walk": self.walk, "loss": s.loss, "rate": s.rate(), "task": s.task.name(), "seed": s.seed,
            "intercept": s.intercept, "examples": model.examples,
            "classes": coding.texts(model.schema.labels()),
            "summary": model.summary, "weights": weights,
        }))
    }

    fn write(&self, form: Form, _: &Target, _: Option<Vec<Heading>>) -> Result<String, RunError> {
        let why = format!(
            "the model is a walk, '{}'; its weights can be shown as text or json",
            self.walk
        );
        Err(RunError::NoForm { form: form.name(), why })
    }

    fn certify(
        &self,
        model: &Model,
        which: Option<&Which>,
        data: Option<Open<'_>>,
    ) -> Result<Guarantees, RunError> {
        let report = certify::certify(model, which, data)?;
        Ok(Guarantees { lines: report.lines(), json: report.json() })
    }

    fn curve(&self, model: &Model) -> Result<Vec<(f64, Report)>, RunError> {
        certify::curve(model)
    }
}

/// How columns were read: columns of numbers are counted, all others listed.
fn columns(schema: &Schema) -> Option<Section> {
    let mut profile = Profile::of_schema(schema)?;
    let mut lines = vec![profile.sentence()];
    profile.columns.retain(|column| column.kind != "numbers");
    if !profile.columns.is_empty() {
        lines.push(String::new());
        lines.extend(profile.lines());
    }
    Some(Section::Titled("how the table was read".to_owned(), lines))
}

/// The name of an output, and its weights by feature name.
pub type Output = (String, Vec<(String, f64)>);

/// The largest weights of every output of a walk, by feature name. `names` replaces the names of the features.
pub fn largest(
    model: &Model,
    count: usize,
    names: Option<&[String]>,
) -> Result<Vec<Output>, RunError> {
    Ok(weights(model, &restore(model)?, count, names))
}

fn weights(model: &Model, built: &Built, count: usize, names: Option<&[String]>) -> Vec<Output> {
    let coding = Coding::restore(model.settings.task, model.classes.clone());
    let labels = model.schema.labels();
    let mut w = Vec::new();
    let outputs = (0..built.learner.outputs()).map(|k| {
        built.learner.weights(k, &mut w);
        let name = match model.settings.task {
            Task::Regression => "prediction".to_owned(),
            Task::Binary => format!("score of {}", coding.text(1, labels)),
            Task::Multiclass => coding.text(k, labels),
        };
        (name, top(model, &w, count, names))
    });
    outputs.collect()
}

/// The largest weights by feature name, ordered by magnitude; zero weights are omitted.
fn top(model: &Model, w: &[f64], count: usize, names: Option<&[String]>) -> Vec<(String, f64)> {
    let mut order: Vec<usize> = (0..w.len()).filter(|&i| w[i] != 0.0).collect();
    order.sort_by(|&a, &b| w[b].abs().total_cmp(&w[a].abs()).then(a.cmp(&b)));
    order.into_iter().take(count).map(|i| (name(model, i, names), w[i])).collect()
}

/// Feature name of a weight.
fn name(model: &Model, i: usize, names: Option<&[String]>) -> String {
    let shift = usize::from(model.settings.intercept);
    if i < shift {
        return "(intercept)".to_owned();
    }
    if let Some(name) = names.and_then(|names| names.get(i - shift)) {
        return name.clone();
    }
    let index = u32::try_from(i - shift).unwrap_or(u32::MAX);
    let known = model.schema.features().name(index);
    known.map_or_else(|| format!("#{index}"), std::borrow::Cow::into_owned)
}

/// Feature names of the first `count` weights.
pub fn weight_names(model: &Model, count: usize, names: Option<&[String]>) -> Vec<String> {
    (0..count).map(|i| name(model, i, names)).collect()
}
