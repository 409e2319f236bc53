//! # One model
//! All that the service needs from learning: read rows, learn, predict, describe, write and read a snapshot. The steps
//! are those of `geowalk train`, so the bits are the same.

use std::fmt::Write as _;

use geowalk::ConfigError;
use geowalk::loss::{AnyLoss, Loss};
use geowalk::row::Block;
use geowalk_data::{
    Dictionary, Features, Indexing, Input, Kind, Label, Labels, Options, Schema, Task,
};
use geowalk_run::certificate::Report;
use geowalk_run::error::RunError;
use geowalk_run::input;
use geowalk_run::model::Model;
use geowalk_run::predict;
use geowalk_run::pump::ROWS;
use geowalk_run::train::{Plan, Session, Wanted};
use serde_json::{Map, Value, json};

use crate::duel::Rows;
use crate::fault::Fault;

/// The settings of a new model as JSON; the keys correspond to the flags of `geowalk train`.
#[derive(Debug, Clone, PartialEq)]
pub struct Spec(Map<String, Value>);

const KEYS: [&str; 16] = [
    "walk",
    "loss",
    "rate",
    "task",
    "label",
    "seed",
    "intercept",
    "certificate",
    "average",
    "bits",
    "exact",
    "text",
    "nominal",
    "weight",
    "ignore",
    "y_range",
];

impl Spec {
    /// Parses a JSON object, or the name of a walk.
    pub fn parse(text: &str) -> Result<Self, Fault> {
        let object = match serde_json::from_str(text) {
            Ok(Value::Object(object)) => object,
            _ if text.trim_start().starts_with(['{', '[']) => {
                return Err(Fault::bad(
                    "the settings are not a JSON object",
                    "send {\"task\": \"binary\"}",
                ));
            }
            _ => Map::from_iter([("walk".to_owned(), Value::from(text.trim()))]),
        };
        let spec = Self(object);
        if let Some(key) = spec.0.keys().find(|key| !KEYS.contains(&key.as_str())) {
            let detail = format!("unknown setting '{key}'; known: {}", KEYS.join(", "));
            return Err(Fault::bad(detail, "leave it out"));
        }
        let plan = spec.plan()?;
        spec.options(Vec::new())?;
        let walk = plan.walk.as_deref().unwrap_or_default();
        if walk.contains("sigma") {
            let remedy = "train the model with geowalk train, and send the model file";
            return Err(Fault::bad(
                "a walk with a matrix file cannot be created over HTTP",
                remedy,
            ));
        }
        // Build it without rows, so that a wrong name is refused immediately. Errors that depend on rows are reported
        // with the rows.
        let trial = Plan { task: plan.task.or(Some(Task::Binary)), ..plan };
        let (none, labels) = (Features::Exact(Dictionary::default()), Labels::Numbers);
        match Session::new(&trial, Schema::from_parts(none, labels, Vec::new()), &Block::new()) {
            Err(RunError::Config(error)) if is_wrong(&error) => {
                Err(Fault::bad(error.to_string(), "see geowalk list"))
            }
            _ => Ok(spec),
        }
    }

    /// The settings as JSON.
    pub fn json(&self) -> Value {
        Value::Object(self.0.clone())
    }

    fn get<T>(
        &self,
        key: &str,
        what: &str,
        read: impl FnOnce(&Value) -> Option<T>,
    ) -> Result<Option<T>, Fault> {
        let Some(value) = self.0.get(key).filter(|value| !value.is_null()) else { return Ok(None) };
        let wrong = || {
            Fault::bad(format!("the setting '{key}' is {value}; it must be {what}"), "correct it")
        };
        read(value).map(Some).ok_or_else(wrong)
    }

    fn text(&self, key: &str) -> Result<Option<String>, Fault> {
        self.get(key, "a text", |value| value.as_str().map(str::to_owned))
    }

    fn names(&self, key: &str) -> Result<Vec<String>, Fault> {
        let read = |value: &Value| {
            value.as_array()?.iter().map(|name| name.as_str().map(str::to_owned)).collect()
        };
        Ok(self.get(key, "a list of texts", read)?.unwrap_or_default())
    }

    fn flag(&self, key: &str, usual: bool) -> Result<bool, Fault> {
        Ok(self.get(key, "true or false", Value::as_bool)?.unwrap_or(usual))
    }

    fn plan(&self) -> Result<Plan, Fault> {
        let task = |value: &Value| match value.as_str()? {
            "regression" => Some(Task::Regression),
            "binary" => Some(Task::Binary),
            "multiclass" => Some(Task::Multiclass),
            _ => None,
        };
        let rate = |value: &Value| {
            value.as_str().map(str::to_owned).or(value.as_f64().map(|x| x.to_string()))
        };
        let range = |value: &Value| match value.as_array()?.as_slice() {
            [low, high] => low.as_f64().zip(high.as_f64()).filter(|(low, high)| low < high),
            _ => None,
        };
        Ok(Plan {
            walk: self.text("walk")?,
            loss: self.text("loss")?,
            rate: self
                .get("rate", "a number or a text", rate)?
                .unwrap_or_else(|| "auto".to_owned()),
            task: self.get("task", "regression, binary or multiclass", task)?,
            seed: self.get("seed", "a whole number", Value::as_u64)?.unwrap_or(0),
            intercept: self.flag("intercept", true)?,
            certificate: self.flag("certificate", true)?,
            average: self.flag("average", false)?,
            y_range: self.get("y_range", "two numbers, the lower one first", range)?,
            ..Plan::default()
        })
    }

    fn options(&self, inputs: Vec<Input>) -> Result<Options, Fault> {
        let bits = |value: &Value| {
            u32::try_from(value.as_u64()?).ok().filter(|bits| (1..=24).contains(bits))
        };
        let bits = self.get("bits", "a whole number from 1 to 24", bits)?;
        Ok(Options {
            label: self.text("label")?.map_or(Label::Guess, Label::Named),
            indexing: match (bits, self.flag("exact", false)?) {
                (Some(bits), _) => Indexing::Hashed(bits),
                (None, true) => Indexing::Exact,
                (None, false) => Indexing::Usual,
            },
            nominal: self.names("nominal")?,
            text: self.names("text")?,
            weight: self.text("weight")?,
            ignore: self.names("ignore")?,
            ..Options::new(inputs)
        })
    }
}

/// Whether this error would occur with any rows.
fn is_wrong(error: &ConfigError) -> bool {
    use ConfigError::{OutOfRange, Syntax, Unknown};
    matches!(error, OutOfRange { .. } | Syntax { .. } | Unknown { .. })
}

/// Rows that were read, and the schema after them.
#[derive(Debug, Clone)]
pub struct Batch {
    blocks: Vec<Block>,
    schema: Schema,
    /// Whether the schema has changed.
    grown: bool,
}

impl Batch {
    /// Number of rows.
    pub fn rows(&self) -> u64 {
        self.blocks.iter().map(|block| block.len() as u64).sum()
    }
}

/// The prediction served for a row, kept until its label arrives.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Served {
    /// The score, for two classes or regression; the index of the predicted class, for several classes.
    pub value: f64,
}

/// A model: new, learning, or fixed.
#[derive(Debug)]
pub struct Engine {
    spec: Option<Spec>,
    state: State,
    /// The sequence number of the next row.
    pub position: u64,
}

#[derive(Debug)]
enum State {
    New,
    Live(Box<Session>),
    Fixed(Box<Model>),
}

impl Engine {
    /// A model before its first row.
    pub fn new(spec: Spec) -> Self {
        Self { spec: Some(spec), state: State::New, position: 0 }
    }

    /// A model from the bytes of a model file. Trees and rules can predict, but not learn.
    pub fn restore(bytes: &[u8], spec: Option<Spec>) -> Result<Self, RunError> {
        let model = Model::from_bytes(bytes)?;
        let state = match Session::resume(&model) {
            Ok(mut session) => {
                session.keep_rows();
                State::Live(Box::new(session))
            }
            Err(RunError::Batch { .. }) => State::Fixed(Box::new(model)),
            Err(error) => return Err(error),
        };
        Ok(Self { spec, state, position: 0 })
    }

    /// The settings that it was created from; `None` if it came from a model file.
    pub fn spec(&self) -> Option<&Spec> {
        self.spec.as_ref()
    }

    /// The bytes of its model file; `None` before the first row.
    pub fn snapshot(&self) -> Result<Option<Vec<u8>>, RunError> {
        Ok(match &self.state {
            State::New => None,
            State::Live(session) => Some(session.model().to_bytes()?),
            State::Fixed(model) => Some(model.to_bytes()?),
        })
    }

    /// A copy of the model.
    pub fn copy(&self) -> Result<Self, RunError> {
        let mut copy = match self.snapshot()? {
            Some(bytes) => Self::restore(&bytes, self.spec.clone())?,
            None => Self { spec: self.spec.clone(), state: State::New, position: 0 },
        };
        copy.position = self.position;
        Ok(copy)
    }

    fn schema(&self) -> Option<&Schema> {
        match &self.state {
            State::New => None,
            State::Live(session) => Some(session.schema()),
            State::Fixed(model) => Some(&model.schema),
        }
    }

    fn options(&self, format: &str, body: &[u8]) -> Result<Options, Fault> {
        // A reader would decompress it to an unlimited size.
        let packed: [&[u8]; 4] =
            [&[0x1f, 0x8b], &[0x28, 0xb5, 0x2f, 0xfd], b"BZh", &[0xfd, b'7', b'z', b'X', b'Z']];
        if packed.iter().any(|magic| body.starts_with(magic)) {
            return Err(Fault::new(415, "the body is compressed", "send it as it is"));
        }
        if body.iter().all(u8::is_ascii_whitespace) {
            return Err(Fault::new(422, "the body has no rows", "send at least one row"));
        }
        let inputs = vec![Input::text("body", body)];
        let mut options = match &self.spec {
            Some(spec) => spec.options(inputs)?,
            None => Options::new(inputs),
        };
        options = match &self.state {
            State::New => options,
            State::Live(session) => session.settings().reading.again(options),
            State::Fixed(model) => model.settings.reading.again(options),
        };
        options.schema = self.schema().cloned();
        options.format = Some(format.to_owned());
        options.buffer = body.len() + 64;
        Ok(options)
    }

    /// Reads rows with or without labels. If one row is bad, none is accepted.
    pub fn read(
        &self,
        format: &str,
        body: &[u8],
        labelled: bool,
        most_features: usize,
    ) -> Result<Batch, Fault> {
        if let State::Fixed(model) = &self.state {
            let detail = format!(
                "a model of the kind '{}' learns from all data at once",
                model.settings.walk()
            );
            return Err(Fault::new(409, detail, "train it anew with geowalk and upload the file"));
        }
        let mut options = self.options(format, body)?;
        if !labelled {
            options.unlabelled = true;
            options.optional = Some(Vec::new());
            if let Some(schema) = self.schema() {
                options.label =
                    schema.label().map_or(Label::Absent, |name| Label::Named(name.to_owned()));
            }
        }
        let mut source = input::open(options)?;
        let mut blocks = Vec::new();
        loop {
            let mut block = Block::new();
            if source.read(&mut block, ROWS)? == 0 {
                break;
            }
            if block.bound() > most_features {
                let detail =
                    format!("feature {} is beyond the limit of {most_features}", block.bound());
                return Err(Fault::new(
                    422,
                    detail,
                    "start the service with a larger --max-features",
                ));
            }
            blocks.push(block);
        }
        let schema = source.schema();
        let grown = self.schema().is_none_or(|known| !is_same(known, schema));
        Ok(Batch { schema: schema.clone(), blocks, grown })
    }

    /// Sets the label of the only row of a batch.
    pub fn label(&self, batch: &mut Batch, label: &Value) -> Result<(), Fault> {
        let text = match label {
            Value::String(text) => text.clone(),
            Value::Number(_) | Value::Bool(_) => label.to_string(),
            _ => {
                return Err(Fault::bad(
                    "the label is no number, text or truth value",
                    "send one of them",
                ));
            }
        };
        if batch.rows() != 1 {
            return Err(Fault::new(
                422,
                "an id names one row",
                "send the rows of a batch one by one",
            ));
        }
        let before = batch.schema.labels().clone();
        let value = match batch.schema.labels_mut() {
            Labels::Names(names) => names.insert(text.as_bytes()).map(f64::from).ok(),
            Labels::Numbers => match text.as_str() {
                "true" => Some(1.0),
                "false" => Some(0.0),
                text => text.parse().ok().filter(|value: &f64| value.is_finite()),
            },
        };
        let Some(value) = value else {
            let detail = format!("the label '{text}' is not a number, as the labels before it");
            return Err(Fault::new(422, detail, "send a number"));
        };
        if let (Labels::Names(old), Labels::Names(new)) = (&before, batch.schema.labels()) {
            batch.grown |= old.len() != new.len();
        }
        batch.blocks.iter_mut().for_each(|block| block.labels_mut().fill(value));
        Ok(())
    }

    /// Learns the rows, and returns their measurements from before. After an error the model must be discarded,
    /// because some of the rows may have been learned.
    pub fn learn(&mut self, batch: &Batch) -> Result<Rows, Fault> {
        if let State::New = self.state {
            let (Some(spec), Some(first)) = (&self.spec, batch.blocks.first()) else {
                return Err(Fault::new(422, "the body has no rows", "send at least one row"));
            };
            let mut plan = spec.plan()?;
            plan.threads = 1;
            let mut session = Session::new(&plan, batch.schema.clone(), first)?;
            session.keep_rows();
            self.state = State::Live(Box::new(session));
        } else if let State::Live(session) = &mut self.state
            && batch.grown
        {
            *session.schema_mut() = batch.schema.clone();
        }
        let State::Live(session) = &mut self.state else {
            return Err(Fault::new(409, "this model cannot learn", "train it anew with geowalk"));
        };
        session.count_from_here();
        let mut rows = Block::new();
        for block in &batch.blocks {
            rows.copy(block); // labels are coded in place
            session.learn(&mut rows)?;
        }
        self.position += batch.rows();
        let seen = session.take_rows();
        Ok(Rows { kind: self.kind(), seen })
    }

    /// The task and the range of numeric labels; `None` before the first row.
    pub fn kind(&self) -> Option<(Task, Option<(f64, f64)>)> {
        let settings = match &self.state {
            State::New => return None,
            State::Live(session) => session.settings(),
            State::Fixed(model) => &model.settings,
        };
        Some((settings.task, settings.y_range))
    }

    /// Number of examples learned, and their average loss.
    pub fn progress(&self) -> (u64, f64) {
        match &self.state {
            State::New => (0, 0.0),
            State::Live(session) => {
                let seen = session.summary().seen;
                (seen.examples, seen.loss)
            }
            State::Fixed(model) => (model.examples, model.summary["loss"].as_f64().unwrap_or(0.0)),
        }
    }

    /// Number of examples learned.
    pub fn examples(&self) -> u64 {
        match &self.state {
            State::New => 0,
            State::Live(session) => session.examples(),
            State::Fixed(model) => model.examples,
        }
    }

    /// Predictions as a JSON array, followed by an array of probabilities if `proba` is set. Also returns the
    /// prediction if there is only one row.
    pub fn predict(
        &self,
        format: &str,
        body: &[u8],
        proba: bool,
        most_features: usize,
    ) -> Result<(String, Option<Served>), Fault> {
        let session = match &self.state {
            State::Live(session) => session,
            State::Fixed(model) => {
                return Ok((self.predict_fixed(model, format, body, proba)?, None));
            }
            State::New => {
                let remedy = "send rows to learn from first";
                return Err(Fault::new(409, "the model has not learned anything yet", remedy));
            }
        };
        let batch = self.read(format, body, false, most_features)?;
        let task = session.settings().task;
        let classes = Self::classes(session);
        let (mut out, mut second) = (String::from("\"predictions\":["), String::new());
        let (mut scores, mut values, mut memory) = (Vec::new(), Vec::new(), Vec::new());
        let proba = proba && task != Task::Regression && session.has_probabilities();
        for block in &batch.blocks {
            values.clear();
            let wanted = if task == Task::Multiclass { Wanted::Classes } else { Wanted::Scores };
            session.answer_with(block, wanted, &mut memory, &mut values);
            for value in &values {
                match task {
                    Task::Regression => number(&mut out, *value),
                    Task::Binary => out.push_str(&classes[usize::from(*value >= 0.0)]),
                    #[allow(clippy::cast_possible_truncation, clippy::cast_sign_loss)]
                    // a class number
                    Task::Multiclass => {
                        out.push_str(classes.get(*value as usize).map_or("null", |c| c));
                    }
                }
                out.push(',');
            }
            if proba {
                scores.clear();
                session.answer_with(block, Wanted::Probabilities, &mut memory, &mut scores);
                for row in scores.chunks_exact(classes.len().max(1)) {
                    second.push('{');
                    for (class, p) in classes.iter().zip(row) {
                        let quote = if class.starts_with('"') { "" } else { "\"" };
                        let _ = write!(second, "{quote}{class}{quote}:");
                        number(&mut second, *p);
                        second.push(',');
                    }
                    end(&mut second, '}');
                    second.push(',');
                }
            }
        }
        end(&mut out, ']');
        if proba {
            out.push_str(",\"probabilities\":[");
            out.push_str(&second);
            end(&mut out, ']');
        }
        let served =
            (batch.rows() == 1).then(|| values.first().map(|value| Served { value: *value }));
        Ok((out, served.flatten()))
    }

    /// The classes as JSON values.
    fn classes(session: &Session) -> Vec<String> {
        let labels = session.schema().labels();
        let texts = session.coding().texts(labels).into_iter();
        let quote = |text: String| match labels {
            Labels::Numbers if text.parse::<f64>().is_ok_and(f64::is_finite) => text,
            _ => Value::from(text).to_string(),
        };
        texts.map(quote).collect()
    }

    fn predict_fixed(
        &self,
        model: &Model,
        format: &str,
        body: &[u8],
        proba: bool,
    ) -> Result<String, Fault> {
        let mut options = self.options(format, body)?;
        options.schema = None;
        let wanted = predict::Wanted { proba, threads: 1, ..Default::default() };
        let mut lines = Vec::new();
        predict::predict(model, options, &wanted, &mut lines)?;
        let text = String::from_utf8_lossy(&lines);
        let rows: Vec<Vec<String>> = text.lines().map(fields).collect();
        let value = |text: &String| match text.parse::<f64>() {
            Ok(number)
                if number.is_finite() && !matches!(model.schema.labels(), Labels::Names(_)) =>
            {
                json!(number)
            }
            _ => json!(text),
        };
        Ok(match (proba, rows.split_first()) {
            (true, Some((names, rows))) if !model.classes.is_empty() => {
                let of = |row: &Vec<String>| -> Map<String, Value> {
                    names
                        .iter()
                        .cloned()
                        .zip(row.iter().map(|p| json!(p.parse::<f64>().ok())))
                        .collect()
                };
                let largest = |row: &Vec<String>| {
                    let p = |k: &usize| {
                        row.get(*k).and_then(|p| p.parse::<f64>().ok()).unwrap_or(f64::NAN)
                    };
                    let best = (0..names.len()).max_by(|a, b| p(a).total_cmp(&p(b)));
                    best.map_or(Value::Null, |k| value(&names[k]))
                };
                let predictions: Vec<Value> = rows.iter().map(largest).collect();
                let probabilities: Vec<_> = rows.iter().map(of).collect();
                format!(
                    "\"predictions\":{},\"probabilities\":{}",
                    json!(predictions),
                    json!(probabilities)
                )
            }
            _ => {
                let first = |row: &Vec<String>| row.first().map_or(Value::Null, value);
                format!("\"predictions\":{}", json!(rows.iter().map(first).collect::<Vec<_>>()))
            }
        })
    }

    /// The loss of a served prediction, and whether the class was wrong, once the label is known and coded. `None` if
    /// undefined: the loss for several classes.
    pub fn served_loss(&self, served: Served, label: &Value) -> (Option<f64>, Option<bool>) {
        let State::Live(session) = &self.state else { return (None, None) };
        let labels = session.schema().labels();
        let text = label.as_str().map_or_else(|| label.to_string(), str::to_owned);
        let place = session.coding().texts(labels).iter().position(|class| *class == text);
        let loss = AnyLoss::parse(&session.settings().loss).ok();
        let of = |score: f64, y: f64| loss.as_ref().map(|loss| loss.value(score, y));
        match (session.settings().task, place) {
            (Task::Regression, _) => (label.as_f64().and_then(|y| of(served.value, y)), None),
            (Task::Binary, Some(place)) => {
                let y = if place == 1 { 1.0 } else { -1.0 };
                (
                    of(served.value + session.threshold(), y),
                    Some((served.value >= 0.0) != (place == 1)),
                )
            }
            #[allow(clippy::cast_possible_truncation, clippy::cast_sign_loss)] // a class number
            (Task::Multiclass, Some(place)) => (None, Some(served.value as usize != place)),
            _ => (None, None),
        }
    }

    /// A description of the model.
    pub fn describe(&self) -> Value {
        let mut object = match &self.state {
            State::New => json!({ "examples": 0 }),
            State::Live(session) => session.summary().json(),
            State::Fixed(model) => {
                let mut object = model.summary.clone();
                object["examples"] = model.examples.into();
                object["walk"] = model.settings.walk().into();
                object
            }
        };
        if let Some(object) = object.as_object_mut() {
            object.remove("seconds");
            object.remove("this_run");
            object.insert("sequence".to_owned(), self.position.into());
            object.insert("learns".to_owned(), (!matches!(self.state, State::Fixed(_))).into());
            object
                .insert("settings".to_owned(), self.spec.as_ref().map_or(Value::Null, Spec::json));
        }
        object
    }

    /// The guarantees of the model.
    pub fn certificate(&self) -> Value {
        match &self.state {
            State::New => json!({ "status": "none", "reason": "nothing has been learned yet" }),
            State::Live(session) => {
                let report = session.summary().certificate;
                report.as_ref().map_or(
                    json!({ "status": "none", "reason": "certificates are off" }),
                    Report::json,
                )
            }
            State::Fixed(model) => model.summary["certificate"].clone(),
        }
    }

    /// The name of the label, if it has one.
    pub fn label_name(&self) -> Option<String> {
        let named = self.schema().and_then(Schema::label).map(str::to_owned);
        named.or_else(|| self.spec.as_ref()?.text("label").ok()?)
    }

    /// Names of the columns or features, and whether rows are read as a table; for the Open Inference Protocol.
    pub fn columns(&self) -> (Vec<String>, bool) {
        let Some(schema) = self.schema() else { return (Vec::new(), false) };
        let kinds = [Kind::Numeric, Kind::Nominal, Kind::Text, Kind::Undecided];
        let columns = schema.columns().iter().filter(|c| kinds.contains(&c.kind));
        let columns: Vec<String> = columns.map(|column| column.name.clone()).collect();
        match schema.features() {
            Features::Exact(names)
                if columns.is_empty() || schema.of_kind(Kind::Numeric).next().is_none() =>
            {
                (names.names().map(str::to_owned).collect(), false)
            }
            _ => (columns, true),
        }
    }

    /// Whether the task is regression; for the Open Inference Protocol.
    pub fn is_regression(&self) -> bool {
        match &self.state {
            State::New => false,
            State::Live(session) => session.settings().task == Task::Regression,
            State::Fixed(model) => model.settings.task == Task::Regression,
        }
    }
}

/// Whether reading has left the schema unchanged.
fn is_same(known: &Schema, now: &Schema) -> bool {
    let features = match (known.features(), now.features()) {
        (Features::Exact(a), Features::Exact(b)) => a.len() == b.len(),
        (Features::Index(a), Features::Index(b)) => a == b,
        _ => false, // a hash counts its collisions, so assume a change
    };
    let labels = match (known.labels(), now.labels()) {
        (Labels::Names(a), Labels::Names(b)) => a.len() == b.len(),
        (Labels::Numbers, Labels::Numbers) => true,
        _ => false,
    };
    features && labels && known.columns() == now.columns()
}

/// Appends a number as JSON.
fn number(out: &mut String, value: f64) {
    if value.is_finite() {
        let _ = write!(out, "{value}");
    } else {
        out.push_str("null");
    }
}

/// Ends a list.
fn end(out: &mut String, bracket: char) {
    if out.ends_with(',') {
        out.pop();
    }
    out.push(bracket);
}

/// The fields of a line of CSV.
fn fields(line: &str) -> Vec<String> {
    let (mut fields, mut quoted) = (vec![String::new()], false);
    let mut chars = line.chars().peekable();
    while let Some(c) = chars.next() {
        match c {
            '"' if quoted && chars.peek() == Some(&'"') => {
                chars.next();
                fields.last_mut().into_iter().for_each(|field| field.push('"'));
            }
            '"' => quoted = !quoted,
            ',' if !quoted => fields.push(String::new()),
            c => fields.last_mut().into_iter().for_each(|field| field.push(c)),
        }
    }
    fields
}
