//! `geowalk show`: what is in a model.

use std::io::Write;

use geowalk_data::Task;
use geowalk_run::boost::Boosted;
use geowalk_run::certificate::Against;
use geowalk_run::error::RunError;
use geowalk_run::experts;
use geowalk_run::label::Coding;
use geowalk_run::metrics::Interval;
use geowalk_run::model::Model;
use geowalk_run::predict::restore;
use geowalk_run::profile::Profile;
use geowalk_run::sql::{Dialect, Target};
use geowalk_run::track;
use geowalk_run::tree::{self, Form};
use serde_json::json;

use crate::args::{Format, Show};
use crate::paths::Files;
use crate::{Failure, boost};

/// Prints a model.
pub(crate) fn run(args: &Show, out: &mut dyn Write) -> Result<(), Failure> {
    Files::none().input("MODEL", Some(&args.model)).check()?;
    let model = Model::load(&args.model).map_err(RunError::from)?;
    if args.format != Some(Format::Sql) && (args.table.is_some() || args.dialect.is_some()) {
        let flag = if args.table.is_some() { "--table" } else { "--dialect" };
        return Err(Failure::Use(format!("{flag} goes with --format sql")));
    }
    if Boosted::is_model(&model) {
        return boost::show(args, &model, out);
    }
    if model.settings.walk == tree::KIND {
        return show_tree(args, &model, out);
    }
    if [track::KIND, experts::file::KIND].iter().any(|kind| model.settings.walk.starts_with(kind)) {
        return show_apart(args, &model, out);
    }
    if let Some(format @ (Format::Sql | Format::Dot)) = args.format {
        let form = if format == Format::Sql { "sql" } else { "dot" };
        return Err(Failure::Use(format!(
            "--format {form}: the model is a walk, '{}'; its weights can be shown as text or json",
            model.settings.walk
        )));
    }
    let json = args.json || args.format == Some(Format::Json);
    let built = restore(&model)?;
    let outputs = largest(&model, args.top)?;
    let coding = Coding::restore(model.settings.task, model.classes.clone());
    let labels = model.schema.labels();
    let classes = coding.texts(labels);
    let s = &model.settings;
    if json {
        let weights: Vec<_> = outputs
            .iter()
            .map(|(name, top)| {
                let top: Vec<_> =
                    top.iter().map(|(n, w)| json!({"feature": n, "weight": w})).collect();
                json!({"output": name, "top": top})
            })
            .collect();
        let object = json!({
            "walk": s.walk, "loss": s.loss, "rate": s.rate, "task": s.task.name(), "seed": s.seed,
            "intercept": s.intercept, "examples": model.examples, "classes": classes,
            "summary": model.summary, "weights": weights,
        });
        writeln!(out, "{object}")?;
        return Ok(());
    }
    if let Some(note) = s.fit_note(model.examples) {
        writeln!(out, "fit        {note}")?;
        writeln!(out, "loss       {}", s.loss)?;
        writeln!(out, "more rows  by the walk {}, rate {}", s.walk, s.rate)?;
    } else {
        writeln!(out, "walk       {}\nloss       {}\nrate       {}", s.walk, s.loss, s.rate)?;
    }
    writeln!(out, "task       {}", s.task.name())?;
    if !classes.is_empty() {
        writeln!(out, "classes    {}", classes.join(", "))?;
    }
    writeln!(out, "examples   {}", model.examples)?;
    if let Some(metrics) = model.summary.get("metrics").and_then(|m| m.as_object()) {
        for (name, value) in metrics {
            writeln!(out, "{name:<10} {value}")?;
        }
    }
    let intervals = model.summary.get("intervals").and_then(serde_json::Value::as_array);
    for interval in intervals.into_iter().flatten().filter_map(Interval::read) {
        writeln!(out, "{}", interval.sentence())?;
    }
    if let Some(report) = built.learner.report(&Against::Reach, None) {
        for line in report.lines().into_iter().chain(report.rounds_note(model.examples)) {
            writeln!(out, "{line}")?;
        }
    }
    for (name, top) in &outputs {
        writeln!(out, "\n{name}: largest weights")?;
        for (feature, weight) in top {
            writeln!(out, "{weight:>14.6}  {feature}")?;
        }
    }
    Ok(())
}

/// What a query is written for.
pub(crate) fn target(args: &Show) -> Result<Target, Failure> {
    let usual = Target::default();
    let table = args.table.clone().unwrap_or(usual.table);
    if table.split('.').any(str::is_empty) {
        return Err(Failure::Use(format!(
            "--table '{table}': a name is empty; use TABLE or SCHEMA.TABLE"
        )));
    }
    let dialect = args.dialect.as_deref().map_or(Ok(usual.dialect), Dialect::parse)?;
    Ok(Target { dialect, table })
}

/// Prints a model of experts or of a null vector, which the Python package writes.
fn show_apart(args: &Show, model: &Model, out: &mut dyn Write) -> Result<(), Failure> {
    let s = &model.settings;
    if args.json {
        let object = json!({
            "walk": s.walk, "loss": s.loss, "rate": s.rate, "seed": s.seed,
            "examples": model.examples, "summary": model.summary,
        });
        writeln!(out, "{object}")?;
        return Ok(());
    }
    writeln!(out, "walk       {}\nloss       {}\nrate       {}", s.walk, s.loss, s.rate)?;
    writeln!(out, "rounds     {}", model.examples)?;
    for (name, value) in model.summary.as_object().into_iter().flatten() {
        writeln!(out, "{name:<10} {value}")?;
    }
    Ok(())
}

/// Prints a tree, after what is known about it unless only the tree is wanted.
fn show_tree(args: &Show, model: &Model, out: &mut dyn Write) -> Result<(), Failure> {
    let shown = tree::Shown::of(model)?;
    if let Some(format) = args.format {
        let text = match format {
            Format::Text => shown.write(Form::Text),
            Format::Sql => shown.sql(&target(args)?).map_err(|why| format!("--format sql: {why}")),
            Format::Json => shown.write(Form::Json),
            Format::Dot => shown.write(Form::Dot),
        };
        write!(out, "{}", text.map_err(Failure::Use)?)?;
        return Ok(());
    }
    let s = &model.settings;
    let coding = Coding::restore(s.task, model.classes.clone());
    let classes = coding.texts(model.schema.labels());
    if args.json {
        let object = json!({
            "walk": s.walk, "loss": s.loss, "rate": null, "task": s.task.name(), "seed": s.seed,
            "examples": model.examples, "classes": classes, "summary": model.summary,
        });
        writeln!(out, "{object}")?;
        return Ok(());
    }
    let (leaves, depth) = (shown.tree().leaves().count(), shown.tree().depth());
    writeln!(out, "tree       {leaves} leaves, depth {depth}\ncriterion  {}", s.loss)?;
    writeln!(out, "task       {}\nclasses    {}", s.task.name(), classes.join(", "))?;
    writeln!(out, "examples   {}", model.examples)?;
    let importance = model.summary.get("importance").and_then(|list| list.as_array());
    for (at, one) in importance.into_iter().flatten().take(args.top).enumerate() {
        let head = if at == 0 { "importance" } else { "" };
        let part = one["part"].as_f64().unwrap_or(0.0);
        writeln!(out, "{head:<10} {part:.4}  {}", one["column"].as_str().unwrap_or_default())?;
    }
    crate::report::full(Profile::of(model).as_ref(), out)?;
    write!(out, "\n{}", shown.text())?;
    Ok(())
}

/// The largest weights of every output of a walk, by name.
pub(crate) fn largest(model: &Model, count: usize) -> Result<Vec<Output>, RunError> {
    let built = restore(model)?;
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
        (name, top(model, &w, count))
    });
    Ok(outputs.collect())
}

/// An output, and weights by name.
pub(crate) type Output = (String, Vec<(String, f64)>);

/// The largest weights by name, in order of magnitude; zeros are left out.
fn top(model: &Model, w: &[f64], count: usize) -> Vec<(String, f64)> {
    let mut order: Vec<usize> = (0..w.len()).filter(|&i| w[i] != 0.0).collect();
    order.sort_by(|&a, &b| w[b].abs().total_cmp(&w[a].abs()).then(a.cmp(&b)));
    order.into_iter().take(count).map(|i| (name(model, i), w[i])).collect()
}

/// The name of a weight.
fn name(model: &Model, i: usize) -> String {
    let shift = usize::from(model.settings.intercept);
    if i < shift {
        return "(intercept)".to_owned();
    }
    let index = u32::try_from(i - shift).unwrap_or(u32::MAX);
    let known = model.schema.features().name(index);
    known.map_or_else(|| format!("#{index}"), std::borrow::Cow::into_owned)
}

/// The names of the first weights.
pub(crate) fn names(model: &Model, count: usize) -> Vec<String> {
    (0..count).map(|i| name(model, i)).collect()
}
