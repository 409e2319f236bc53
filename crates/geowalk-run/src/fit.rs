//! # The best linear model of all rows at once
//! [`train`](crate::train) goes through rows in their order and predicts each before it learns from it; here all rows are in memory, and the model is the one of
//! [`geowalk::ridge`], whatever their order. The result is a model like any other: it predicts, is shown, saved, certified, and goes on learning row by row, by the walk `adagrad`, as if that had led to these weights.
//!
//! **Metrics** are of rows that were left out, each predicted by the model without it: what progressive ones
//! are for a stream.
//! **The certificate** compares the fitted weights with all others on the rows they were fitted to.

#![allow(clippy::needless_for_each)] // one line instead of three

use std::collections::BTreeMap;
use std::path::Path;
use std::time::Instant;

use geowalk::Real;
use geowalk::boost::Halt;
use geowalk::certify::FirstOrder;
use geowalk::geometry::Event;
use geowalk::loss::{AnyLoss, Loss};
use geowalk::ridge::{self, Fitted, Labels, Table};
use geowalk::row::{Block, Row};
use geowalk::update::Round;
use geowalk_data::{Features, Options, Schema, Source, Task};
use serde_json::{Value, json};

use crate::certify;
use crate::digest::Digest;
use crate::error::RunError;
use crate::input::{self, Rows};
use crate::label::Coding;
use crate::learner::{Given, largest, softmax};
use crate::link::{self, Floor};
use crate::metrics::{Metrics, Seen, log_loss};
use crate::model::{Arrays, Model, ReadSettings, Settings};
use crate::pump::ROWS;
use crate::train::{Plan, Said, Session, Summary};
use crate::walks::{self, Built};

/// The walk that goes on from fitted weights.
pub const WALK: &str = "adagrad";

/// Can these settings be fitted, or must their walk go through the rows?
pub fn is_fittable(walk: Option<&str>, loss: Option<&str>, task: Task) -> bool {
    let loss = loss.map(AnyLoss::parse);
    #[allow(clippy::match_same_arms)] // no loss, and a loss that suits
    let suits = match (loss, task) {
        (None, _) | (Some(Ok(AnyLoss::Logistic(_))), Task::Binary | Task::Multiclass) => true,
        (Some(Ok(loss)), Task::Regression) => matches!(
            loss,
            AnyLoss::Squared(_) | AnyLoss::Absolute(_) | AnyLoss::Huber(_) | AnyLoss::Quantile(_)
        ),
        _ => false,
    };
    walk.is_none_or(|walk| walk == "auto") && suits
}

/// All rows of a source, in blocks with labels as in the schema.
pub(crate) fn read_all(source: &mut dyn Source) -> Result<Vec<Block>, RunError> {
    let mut blocks = Vec::new();
    loop {
        let mut block = Block::new();
        if source.read(&mut block, ROWS)? == 0 {
            return Ok(blocks);
        }
        blocks.push(block);
    }
}

/// Fits a model to all rows of what `open` opens and writes it: `geowalk train --passes auto`, with the bits of
/// Python's `fit`. A walk that cannot be fitted goes through the rows until nothing is gained, in an order that
/// the seed decides if `shuffle` is set.
pub fn train(
    plan: &Plan,
    shuffle: bool,
    mut open: impl FnMut() -> Options,
    model: Option<&Path>,
    said: &mut dyn FnMut(Said<'_>),
) -> Result<Summary, RunError> {
    let start = Instant::now();
    plan.check()?;
    model.map(Model::check_path).transpose()?;
    let options = open();
    let reading = ReadSettings::of(&options);
    let mut source = input::open(options)?;
    let blocks = read_all(source.as_mut())?;
    let schema = source.schema().clone();
    source.decisions().iter().for_each(|one| said(Said::Note(one.to_string())));
    let labels: Vec<f64> = blocks.iter().flat_map(Block::labels).copied().collect();
    let inferred = plan.task.is_none().then(|| Task::infer(schema.labels(), &labels));
    if let Some(one) = &inferred {
        said(Said::Note(format!("task: {}", one.explained())));
    }
    let task = plan.task.or(inferred.map(|one| one.task)).unwrap_or(Task::Regression);
    let plan = &Plan { task: Some(task), ..plan.clone() };
    let halt = Halt::default();
    let fitted = if can_fit(plan, task) {
        Session::fit(plan, schema, blocks, None, &halt)?
    } else {
        let blocks = if shuffle { shuffled(&blocks, plan.seed) } else { blocks };
        by_walk(plan, schema, &blocks, None, &halt)?
    };
    let Some(mut session) = fitted else { return Err(RunError::Empty) };
    let skipped = source.skipped();
    if skipped.rows() > 0 {
        session.stream_mut().skipped = true;
    }
    session.read_with(reading);
    let made = session.model();
    model.map(|path| made.save(path)).transpose()?;
    let mut summary = session.summary();
    summary.skipped = skipped.rows();
    summary.skipped_first = skipped.first().iter().map(ToString::to_string).collect();
    if let Some((which, again)) = &plan.comparator {
        let mut open = || Rows::from(open());
        let open: Option<certify::Open<'_>> = if *again { Some(&mut open) } else { None };
        let report = certify::certify(&made, Some(which), open)?;
        summary.guarantee = crate::guarantee::lines(&summary.seen, &report, &|_| None);
        summary.certificate = Some(report);
    }
    summary.course = plan.trace.then(|| session.course());
    summary.seconds = start.elapsed().as_secs_f64();
    Ok(summary)
}

/// Does this plan leave the weights to the fit?
pub fn can_fit(plan: &Plan, task: Task) -> bool {
    let (walk, loss) = (plan.walk.as_deref(), plan.loss.as_deref());
    is_fittable(walk, loss, task) && plan.rate == "auto" && !plan.average
}

/// Fits a model with these settings to rows with labels as in the schema. `classes` are known beforehand, or
/// found among the rows. `None` if it was halted.
pub(crate) fn fit(
    settings: &Settings,
    schema: &Schema,
    mut blocks: Vec<Block>,
    mut coding: Coding,
    halt: &Halt,
) -> Result<Option<Model>, RunError> {
    let mut digest = settings.certificate.then(Digest::default);
    let mut before = 0;
    for block in &mut blocks {
        if let Some(digest) = &mut digest {
            digest.block(block);
        }
        let coded = coding.code(block.labels_mut(), schema.labels());
        coded.map_err(|(i, cause)| RunError::Label {
            row: before + i as u64 + 1,
            place: None,
            cause,
        })?;
        before += block.len() as u64;
    }
    let blocks: Vec<Block> = blocks.into_iter().map(labelled).filter(|b| !b.is_empty()).collect();
    if blocks.is_empty() {
        return Err(RunError::Empty);
    }
    let built = walks::of(settings, walks::width(schema))?;
    let labels = match settings.task {
        Task::Regression => Labels::Numbers(built.loss.clone()),
        Task::Binary => Labels::Signs,
        Task::Multiclass => Labels::Classes(coding.classes().len()),
    };
    let (absent, named) = kinds(schema.features());
    let table = Table {
        blocks: &blocks,
        labels,
        constant: settings.intercept,
        absent: &absent,
        named: &|feature| named.get(feature).copied().unwrap_or(false),
        halt: halt.clone(),
    };
    let Some(fitted) = ridge::fit(&table) else { return Ok(None) };
    let examples = blocks.iter().map(|block| block.len() as u64).sum();
    let mut arrays = states(&built, settings, &blocks, &fitted);
    arrays.extend(measured(&built, settings.task, &blocks, &fitted).save("metrics"));
    if let Some(digest) = &digest {
        arrays.push((Model::DIGEST.to_owned(), digest.save().to_vec()));
    }
    let mut settings = settings.clone();
    let mut about = about(&fitted, examples);
    about["means"] = json!(means(schema.features(), &blocks));
    settings.stream.fit = Some(about);
    Ok(Some(Model {
        settings,
        schema: schema.clone(),
        classes: coding.classes().to_vec(),
        examples,
        arrays,
        summary: Value::Null,
    }))
}

/// The rows of a block that have a label and a weight.
fn labelled(block: Block) -> Block {
    let counts = |i: usize| !block.labels()[i].is_nan() && block.weights()[i] > 0.0;
    if (0..block.len()).all(counts) {
        return block;
    }
    let mut kept = Block::new();
    (0..block.len()).filter(|i| counts(*i)).for_each(|i| kept.append(&block, i..i + 1));
    kept
}

/// Numbers that may be missing, each with the feature that says so, and which features stand for names.
fn kinds(features: &Features) -> (Vec<(u32, u32)>, Vec<bool>) {
    let Features::Exact(dictionary) = features else { return (Vec::new(), Vec::new()) };
    let mut absent = Vec::new();
    let mut named = Vec::new();
    for (place, name) in (0..).zip(dictionary.names()) {
        let missing = name.strip_suffix("=missing").and_then(|column| dictionary.find(column));
        absent.extend(missing.map(|number| (number, place)));
        named.push(name.contains('='));
    }
    (absent, named)
}

/// The mean of each column of numbers without gaps.
fn means(features: &Features, blocks: &[Block]) -> BTreeMap<String, f64> {
    let Features::Exact(dictionary) = features else { return BTreeMap::new() };
    let mut sums = vec![0.0; dictionary.len()];
    let mut total = 0.0;
    for (block, i) in rows(blocks) {
        total += block.weights()[i];
    }
    for (block, i) in rows(blocks) {
        let share = block.weights()[i] / total;
        each(block, i, false, |j, x| sums[j] += share * x);
    }
    let is_number =
        |name: &&str| !name.contains('=') && dictionary.find(&format!("{name}=missing")).is_none();
    let names = dictionary.names().zip(sums).filter(|(name, _)| is_number(name));
    names.map(|(name, mean)| (name.to_owned(), mean)).collect()
}

/// What is kept of the search.
fn about(fitted: &Fitted, rows: u64) -> Value {
    let member = |m: &ridge::Member| json!({ "ridge": m.ridge, "loss": m.loss, "share": m.share });
    json!({
        "rows": rows,
        "passes": fitted.passes,
        "converged": fitted.converged,
        "floor": fitted.floor,
        "held_out": fitted.left_out.len(),
        "members": fitted.members.iter().map(member).collect::<Vec<_>>(),
    })
}

fn each(block: &Block, i: usize, intercept: bool, mut f: impl FnMut(usize, f64)) {
    let first = usize::from(intercept);
    if intercept {
        f(0, 1.0);
    }
    if block.columns().is_some() {
        block.dense(i).each(|j, x| f(j + first, x));
    } else {
        block.sparse(i).each(|j, x| f(j + first, x));
    }
}

/// One score on the way: the state of the walk with these weights, as if it had met all rows.
struct State<'a> {
    weights: &'a [f64],
    scale: Vec<f64>,
    squares: Vec<f64>,
    gamma: Vec<f64>,
    bound: FirstOrder,
}

/// The arrays of a learner that has met all rows with these weights.
fn states(built: &Built, settings: &Settings, blocks: &[Block], fitted: &Fitted) -> Arrays {
    let joint = settings.task == Task::Multiclass;
    let facts = if joint { Given.facts() } else { built.loss.facts() };
    let zeros = |weights: &[f64]| vec![0.0; weights.len()];
    let mut states: Vec<State<'_>> = fitted
        .weights
        .iter()
        .map(|weights| State {
            weights,
            scale: zeros(weights),
            squares: zeros(weights),
            gamma: zeros(weights),
            bound: FirstOrder::new(&facts),
        })
        .collect();
    let mut largest = zeros(&fitted.weights[0]);
    for (block, i) in rows(blocks) {
        each(block, i, settings.intercept, |j, x| largest[j] = largest[j].max(x.abs()));
    }
    for state in &mut states {
        state.scale.clone_from(&largest);
    }
    let mut total = geowalk::sum::Sum::default();
    let (mut scores, mut slopes) = (vec![0.0; states.len()], vec![0.0; states.len()]);
    let mut row: Vec<(usize, f64, f64)> = Vec::new();
    for (block, i) in rows(blocks) {
        let (y, weight) = (block.labels()[i], block.weights()[i]);
        row.clear();
        each(block, i, settings.intercept, |j, x| {
            let scaled = if largest[j] > 0.0 { x / largest[j] } else { 0.0 };
            row.push((j, x, scaled));
        });
        let square: f64 = row.iter().map(|(_, x, _)| x * x).sum();
        for (z, state) in scores.iter_mut().zip(&states) {
            *z = row.iter().map(|(j, x, _)| state.weights[*j] * x).sum();
        }
        let loss = judge(&built.loss, joint, y, &scores, &mut slopes);
        total.add(weight * loss);
        for ((state, z), slope) in states.iter_mut().zip(&scores).zip(&slopes) {
            let slope = weight * slope;
            let loss = if joint { slope * z } else { weight * loss };
            let round = Round { z: *z, loss, slope, rate: 0.0, length: 0.0, event: Event::Inside };
            state.bound.observe_gradient(&round, slope.abs() * square.sqrt());
            for (j, x, scaled) in &row {
                state.gamma[*j] += slope * x;
                state.squares[*j] += (slope * scaled) * (slope * scaled);
            }
        }
    }
    // What a learner keeps besides its walks is as at its beginning.
    let mut arrays = Arrays::new();
    built.learner.save(&mut |name, values| {
        if !name.starts_with("walk.") && name != "loss" && name != "classes" {
            arrays.push((name, values.to_vec()));
        }
    });
    if joint {
        arrays.push(("loss".to_owned(), total.save().to_vec()));
        arrays.push(("classes".to_owned(), vec![states.len() as f64]));
    }
    for (k, state) in states.into_iter().enumerate() {
        let scaled = state.weights.iter().zip(&state.scale).map(|(w, s)| w * s).collect();
        let saved = [
            ("w", scaled),
            ("scale", state.scale),
            ("squares", state.squares),
            ("gamma", state.gamma),
            ("linear", vec![1.0]),
        ];
        arrays.extend(saved.map(|(name, values)| (format!("walk.{k}.{name}"), values)));
        if settings.certificate {
            state.bound.save(&mut |name, values| {
                arrays.push((format!("walk.{k}.certificate.{name}"), values.to_vec()));
            });
        }
    }
    arrays
}

fn rows(blocks: &[Block]) -> impl Iterator<Item = (&Block, usize)> {
    blocks.iter().flat_map(|block| (0..block.len()).map(move |i| (block, i)))
}

/// The loss of scores, and its slopes.
#[allow(clippy::cast_possible_truncation, clippy::cast_sign_loss)] // a class number
fn judge(loss: &AnyLoss, joint: bool, y: f64, scores: &[f64], slopes: &mut [f64]) -> f64 {
    if !joint {
        slopes[0] = loss.slope(scores[0], y);
        return loss.value(scores[0], y);
    }
    slopes.copy_from_slice(scores);
    softmax(slopes);
    let value = log_loss(slopes[y as usize], 1.0);
    slopes[y as usize] -= 1.0;
    value
}

/// The metrics of rows by the model without them.
#[allow(clippy::cast_possible_truncation, clippy::cast_sign_loss)] // a class number
fn measured(built: &Built, task: Task, blocks: &[Block], fitted: &Fitted) -> Metrics {
    let mut metrics = Metrics::new(task);
    let all: Vec<(&Block, usize)> = rows(blocks).collect();
    let floor = Floor::new(fitted.floor);
    for (row, scores) in &fitted.left_out {
        let (block, i) = all[*row];
        let (y, weight) = (block.labels()[i], block.weights()[i]);
        let (prediction, probability, zero) = match task {
            Task::Regression => (scores[0], f64::NAN, built.loss.value(0.0, y)),
            Task::Binary => {
                let p = floor.of(link::sigmoid(y * scores[0]), 2);
                (scores[0], p, std::f64::consts::LN_2)
            }
            Task::Multiclass => {
                let mut p = scores.clone();
                softmax(&mut p);
                let p = floor.of(p[y as usize], scores.len());
                (largest(scores), p, Real::ln(scores.len() as f64))
            }
        };
        let own = if task == Task::Regression {
            weight * built.loss.value(prediction, y)
        } else {
            log_loss(probability, weight)
        };
        let log_loss = if task == Task::Regression { f64::NAN } else { own };
        metrics.see(&Seen { y, prediction, log_loss, loss: own, zero: weight * zero, weight });
    }
    metrics
}

/// Makes a fitted model again from its rows, to compare.
pub(crate) fn again(model: &Model, rows: Rows) -> Result<Option<Model>, RunError> {
    if let Some((fitted, more @ 1..)) = model.settings.fitted_rows(model.examples) {
        return Err(RunError::Continued { fitted, more });
    }
    let mut source = rows.open(&model.schema)?;
    let blocks = read_all(source.as_mut())?;
    let schema = source.schema().clone();
    let mut settings = model.settings.clone();
    settings.stream.fit = None;
    let coding = Coding::new(settings.task);
    fit(&settings, &schema, blocks, coding, &Halt::default())
}

/// The most passes of a walk that is to converge.
const MOST: u64 = 50;

/// A pass that loses less than the best one before by this part or less is one of the last, and so is one that
/// gains less than [`LITTLE`] an example.
const ENOUGH: f64 = 0.01;
const LITTLE: f64 = 1e-3;

/// Goes through rows with the walk of a plan until two passes in a row gain nothing. `None` if it was halted.
pub fn by_walk(
    plan: &Plan,
    schema: Schema,
    blocks: &[Block],
    both: Option<[f64; 2]>,
    halt: &Halt,
) -> Result<Option<Session>, RunError> {
    let Some(first) = blocks.first() else { return Err(RunError::Empty) };
    let mut session = Session::new(plan, schema, first)?;
    if let Some(both) = both {
        session.know(both);
    }
    let (mut before, mut last, mut idle) = (0.0, f64::INFINITY, 0);
    let mut passes = 0;
    while passes < MOST && idle < 2 {
        if passes > 0 {
            session.begin_pass();
        }
        for block in blocks {
            if halt.is_called() {
                return Ok(None);
            }
            session.learn(&mut block.clone())?;
        }
        passes += 1;
        let seen = session.summary().seen;
        let total = seen.loss * seen.examples as f64;
        let lost = total - before;
        let little = (ENOUGH * last).max(LITTLE * seen.examples as f64 / passes as f64);
        idle = if lost > last - little { idle + 1 } else { 0 };
        (before, last) = (total, lost.min(last));
    }
    let about = json!({ "passes": passes, "converged": idle >= 2 });
    session.stream_mut().passes = Some(about);
    Ok(Some(session))
}

/// The rows in an order that the seed alone decides.
pub fn shuffled(blocks: &[Block], seed: u64) -> Vec<Block> {
    let mut order: Vec<(&Block, usize)> = rows(blocks).collect();
    let mut state = seed;
    for last in (1..order.len()).rev() {
        // SplitMix64; the bias of the remainder is below 2⁻³² for fewer than 2³² rows.
        state = state.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut x = (state ^ (state >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        x = (x ^ (x >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        x ^= x >> 31;
        #[allow(clippy::cast_possible_truncation)] // below the number of rows
        order.swap(last, (x % (last as u64 + 1)) as usize);
    }
    let block = |rows: &[(&Block, usize)]| {
        let mut block = Block::new();
        for (from, i) in rows {
            block.append(from, *i..*i + 1);
        }
        block
    };
    order.chunks(ROWS).map(block).collect()
}
