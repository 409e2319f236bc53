//! # One model of several
//! Models that were trained apart on rows of the same columns become one. It predicts, goes on learning, and certifies
//! what was lost before the merge.
//!
//! | part of a model | how it combines |
//! |---|---|
//! | weights of descent, mirror descent, p-norms, EGU, EG and their twins | mean of the dual coordinates |
//! | weights on the sphere and in hyperbolic space | mean of the coordinates, scaled back to the sphere |
//! | `adagrad` | mean of each weight, weighted by its sum of squared slopes |
//! | `free` | mean of the sums of slopes; the wealth is the one at which weights are the mean |
//! | losses, metrics, intervals, A = Σ g z and Γ = Σ g x | sums |
//!
//! Means are weighted by the rows that each model learned from, or by given weights. A feature counts in the mean of
//! the models that know it. The mean of weights is a heuristic, exact for none of the walks. The sums are exact: the
//! first-order certificate and the intervals hold for any schedule, and speak of the predictions made before the
//! merge. Theorems about one run in one order end with it.
//!
//! **Rounds** Models that continued one model (`since`) and are merged count what that model had seen once.
//!
//! **Cost** O(features) per model. **Source** the mean of dual coordinates: \[MMMSW09\].

mod schema;
mod strand;

use geowalk::sum::Sum;
use geowalk_data::Task;

use crate::error::RunError;
use crate::learner::Learner;
use crate::model::{Arrays, LearnerSettings, Model, Settings};
use crate::predict;
use crate::train::Session;
use schema::Union;
use strand::{Piece, merged_strand};

/// A model to be merged.
#[derive(Debug, Clone, Copy)]
pub struct Part<'a> {
    /// The name that errors call it by.
    pub name: &'a str,
    /// The model.
    pub model: &'a Model,
    /// What its weights count; none for the weight of the rows that it learned from.
    pub weight: Option<f64>,
}

/// A model on its way into another.
struct Source<'a> {
    name: &'a str,
    model: &'a Model,
    learner: Box<dyn Learner>,
    /// What it counts in sums: 1, and less than 0 for the model that the others continued.
    count: f64,
    /// What its weights count in means.
    share: f64,
    /// Shares were given, not found from the rows.
    given: bool,
}

fn refused(why: String, fix: &'static str) -> RunError {
    RunError::Merge { why, fix }
}

fn find<'a>(model: &'a Model, name: &str) -> Option<&'a [f64]> {
    model.arrays.iter().find(|(own, _)| own == name).map(|(_, values)| values.as_slice())
}

/// Merges models. Those that were continued from one model name it, so that its rows count once.
///
/// ```
/// use geowalk::row::Block;
/// use geowalk_data::{Dictionary, Features, Labels, Schema, Task};
/// use geowalk_run::merge::{Part, merge};
/// use geowalk_run::train::{Plan, Session};
/// let train = |x: f64, y: f64| -> Result<_, Box<dyn std::error::Error>> {
///     let features = Features::Exact(Dictionary::from_names(["a"])?);
///     let schema = Schema::from_parts(features, Labels::Numbers, vec![]);
///     let mut block = Block::new();
///     block.push_dense(&[x], y, 1.0)?;
///     let task = Some(Task::Regression);
///     let plan = Plan { walk: Some("gd".to_owned()), rate: "0.25".to_owned(), intercept: false, task, ..Plan::default() };
///     let mut session = Session::new(&plan, schema, &block)?;
///     session.learn(&mut block)?;
///     Ok(session.model())
/// };
/// let (a, b) = (train(1.0, 1.0)?, train(1.0, 3.0)?);
/// let parts = [("a", &a), ("b", &b)].map(|(name, model)| Part { name, model, weight: None });
/// let both = merge(&parts, None)?;
/// assert_eq!((a.array("walk.0.w", 1)?[0], b.array("walk.0.w", 1)?[0]), (0.5, 1.5));
/// assert_eq!((both.array("walk.0.w", 1)?[0], both.examples), (1.0, 2));
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
pub fn merge(parts: &[Part<'_>], since: Option<Part<'_>>) -> Result<Model, RunError> {
    let Some(first) = parts.first() else {
        return Err(refused("no models were given".to_owned(), "name at least one"));
    };
    for part in parts.iter().chain(&since) {
        check(part)?;
        agree(first, part)?;
    }
    let mut sources = Vec::new();
    for part in parts {
        sources.push(source(part, 1.0)?);
    }
    if let Some(base) = &since {
        // Its rows are in each of the others.
        let mut base = source(base, 1.0 - parts.len() as f64)?;
        base.share = 0.0;
        sources.push(base);
    }
    shares(&mut sources, since.as_ref())?;
    let union = Union::of(&sources)?;
    let mut settings = first.model.settings.clone();
    let merged = |part: &Part<'_>| part.model.settings.stream.merged.max(1);
    settings.stream.merged = parts.iter().map(merged).sum();
    settings.stream.window = None;
    let arrays = arrays(&sources, &union, &settings)?;
    let classes = union.classes.clone();
    let model = Model {
        settings,
        schema: union.into_schema(),
        classes,
        examples: 0,
        arrays,
        summary: serde_json::Value::Null,
    };
    // Through a session, which checks the arrays and writes the summary.
    Ok(Session::resume(&model)?.model())
}

/// Refuses models that cannot be merged with any other.
fn check(part: &Part<'_>) -> Result<(), RunError> {
    let Part { name, model, weight } = part;
    let settings = &model.settings;
    let no = |why: &str, fix| Err(refused(format!("{name}: {why}"), fix));
    match &settings.learner {
        LearnerSettings::Walk(own) if own.walk.starts_with("auto") => {
            return no(
                "a team of walks is weighed on one stream",
                "train with one walk, such as --walk free",
            );
        }
        LearnerSettings::Walk(own) if own.rate == "certified" => {
            return no("its rate is certified for one run", "train with --rate auto or a number");
        }
        LearnerSettings::Walk(_) => {}
        LearnerSettings::Natural(_) => {
            return no(
                "means of natural gradient's metrics are not defined here",
                "train with a walk, such as --walk free",
            );
        }
        LearnerSettings::Boost(_) | LearnerSettings::Tree(_) | LearnerSettings::Trees(_) => {
            return no("rules and trees have no mean", "train on all rows in one run");
        }
        LearnerSettings::Experts(_) | LearnerSettings::Track(_) => {
            return no(
                "it is about one sequence of rounds",
                "run the rounds one after the other with --resume",
            );
        }
    }
    if settings.stream.average {
        return no("it predicts with averaged weights", "train without --average");
    }
    if settings.stream.interval.is_some() {
        return no("it predicts intervals", "train without --interval");
    }
    if settings.stream.delay > 0 {
        return no("rows in it still wait for their turn", "train without --delay");
    }
    if settings.stream.second_order {
        return no("it keeps a second-order certificate", "train without --certificate full");
    }
    if find(model, "metrics").is_none_or(|metrics| metrics[0] == 0.0) {
        return no("it has not learned from any row", "leave it out");
    }
    let one = |class: &f64| class.is_nan();
    if settings.task == Task::Binary && model.classes.iter().any(one) {
        return no("it has seen one class only", "leave it out, or train it on more rows");
    }
    match weight {
        Some(weight) if !(weight.is_finite() && *weight >= 0.0) => {
            no(&format!("its weight is {weight}"), "give a number that is not negative")
        }
        _ => Ok(()),
    }
}

/// Refuses a model that was trained in another way than the first.
fn agree(first: &Part<'_>, part: &Part<'_>) -> Result<(), RunError> {
    let texts = |settings: &Settings| {
        let LearnerSettings::Walk(own) = &settings.learner else { return Vec::new() };
        vec![
            ("walk", own.walk.clone()),
            ("rate", own.rate.clone()),
            ("loss", settings.loss.clone()),
            ("task", settings.task.name().to_owned()),
            ("seed", settings.seed.to_string()),
            ("intercept", settings.intercept.to_string()),
            ("certificate", settings.certificate.to_string()),
            ("y-range", format!("{:?}", settings.y_range)),
            ("sigma", own.sigma.clone().unwrap_or_default()),
            ("holdout", settings.stream.holdout.map(|own| own.to_string()).unwrap_or_default()),
            ("fit", settings.stream.fit.is_some().to_string()),
        ]
    };
    let (ours, theirs) = (texts(&first.model.settings), texts(&part.model.settings));
    match ours.iter().zip(&theirs).find(|(a, b)| a != b) {
        None => Ok(()),
        Some(((what, a), (_, b))) => Err(refused(
            format!("{what} is {a} in {} and {b} in {}", first.name, part.name),
            "train all models with the same settings",
        )),
    }
}

fn source<'a>(part: &Part<'a>, count: f64) -> Result<Source<'a>, RunError> {
    let Part { name, model, weight } = *part;
    let learner = predict::restore(model)?.learner;
    let given = weight.is_some();
    Ok(Source { name, model, learner, count, share: weight.unwrap_or(f64::NAN), given })
}

/// Fills in the shares that were not given: the weight of the rows since the model that all continued.
fn shares(sources: &mut [Source<'_>], since: Option<&Part<'_>>) -> Result<(), RunError> {
    let rows = |model: &Model| find(model, "metrics").map_or(0.0, |metrics| metrics[1]);
    let before = since.map_or(0.0, |base| rows(base.model));
    for source in sources.iter_mut().filter(|source| source.share.is_nan()) {
        source.share = rows(source.model) - before;
        if source.share < 0.0 {
            return Err(refused(
                format!("{}: it has seen fewer rows than the model that it continues", source.name),
                "name the model that all were resumed from",
            ));
        }
    }
    let total: f64 = sources.iter().map(|source| source.share).sum();
    if total <= 0.0 {
        return Err(refused("the weights are all 0".to_owned(), "give one that is positive"));
    }
    sources.iter_mut().for_each(|source| source.share /= total);
    Ok(())
}

/// All arrays of the merged model.
fn arrays(sources: &[Source<'_>], union: &Union, settings: &Settings) -> Result<Arrays, RunError> {
    let mut out = Arrays::new();
    for name in ["metrics", "holdout"] {
        metrics(sources, name, &mut out);
    }
    if let Some(rows) = linear(sources, "holdout.rows") {
        out.push(("holdout.rows".to_owned(), rows));
    }
    schedule(sources, &mut out);
    let strands = match settings.task {
        Task::Multiclass => {
            out.push(("loss".to_owned(), sum(sources, "loss", 0).to_vec()));
            out.push(("classes".to_owned(), vec![union.classes.len() as f64]));
            union.classes.len()
        }
        Task::Binary | Task::Regression => 1,
    };
    for k in 0..strands {
        let pieces: Vec<Piece<'_>> = sources
            .iter()
            .enumerate()
            .filter_map(|(at, source)| {
                let own = if settings.task == Task::Multiclass { union.class(at, k)? } else { 0 };
                Some(Piece::new(source, union.places(at), own, settings.intercept))
            })
            .collect();
        let mut strand = Arrays::new();
        merged_strand(&pieces, settings, &mut strand)?;
        out.extend(strand.into_iter().map(|(name, values)| (format!("walk.{k}.{name}"), values)));
    }
    Ok(out)
}

/// Σ count·array, coordinate by coordinate; none if a model does not have it.
fn linear(sources: &[Source<'_>], name: &str) -> Option<Vec<f64>> {
    let mut total: Vec<f64> = Vec::new();
    for source in sources {
        let values = find(source.model, name)?;
        total.resize(total.len().max(values.len()), 0.0);
        total.iter_mut().zip(values).for_each(|(total, value)| *total += source.count * value);
    }
    Some(total)
}

/// The compensated sum that begins at this place of an array, over all models.
fn sum(sources: &[Source<'_>], name: &str, at: usize) -> [f64; 4] {
    let saved = sources.iter().filter_map(|source| {
        let values = find(source.model, name)?.get(at..at + 4)?;
        Some((source.count, [values[0], values[1], values[2], values[3]]))
    });
    total(saved)
}

/// Σ count·sum. What rounding lost in each is in the magnitudes and counts of terms, which add up.
fn total(sums: impl Iterator<Item = (f64, [f64; 4])>) -> [f64; 4] {
    let (mut all, mut magnitude, mut terms) = (Sum::default(), 0.0, 0.0);
    for (count, [rounded, lost, size, number]) in sums {
        all.add(count * rounded);
        all.add(count * lost);
        magnitude += count.abs() * size;
        terms += number + 2.0;
    }
    let [rounded, lost, ..] = all.save();
    [rounded, lost, magnitude, terms]
}

/// Metrics of this name with their bins and intervals.
fn metrics(sources: &[Source<'_>], name: &str, out: &mut Arrays) {
    let Some(mut numbers) = linear(sources, name) else { return };
    for at in (4..numbers.len()).step_by(4) {
        numbers[at..at + 4].copy_from_slice(&sum(sources, name, at));
    }
    // The stretch since the last line of progress begins anew.
    numbers[2] = 0.0;
    numbers[8..12].fill(0.0);
    out.push((name.to_owned(), numbers));
    let bins = format!("{name}.bins");
    out.extend(linear(sources, &bins).map(|values| (bins, values)));
    let intervals = format!("{name}.intervals");
    if let Some(mut numbers) = linear(sources, &intervals) {
        for half in [0, 9] {
            // A loss without a range was marked with −1.
            let mut marked = sources.iter().filter_map(|source| find(source.model, &intervals));
            if let Some(saved) = marked.find(|saved| saved[half + 1] < 0.0) {
                numbers[half + 1..half + 9].copy_from_slice(&saved[half + 1..half + 9]);
                continue;
            }
            for at in [half + 1, half + 5] {
                numbers[at..at + 4].copy_from_slice(&sum(sources, &intervals, at));
            }
        }
        out.push((intervals, numbers));
    }
}

/// The state of the rate: what was summed is summed, what was largest is the largest.
fn schedule(sources: &[Source<'_>], out: &mut Arrays) {
    let Some(mut all) = linear(sources, "schedule") else { return };
    let saved: Vec<(f64, &[f64])> = sources
        .iter()
        .filter_map(|source| Some((source.share, find(source.model, "schedule")?)))
        .collect();
    all[1] = saved.iter().map(|(share, own)| share * own[1]).sum();
    for at in [2, 3, 4] {
        all[at] = all[at].max(0.0);
    }
    for at in [5, 6, 7] {
        all[at] = saved.iter().fold(0.0, |top: f64, (_, own)| top.max(own[at]));
    }
    out.push(("schedule".to_owned(), all));
}

#[cfg(test)]
mod tests;
