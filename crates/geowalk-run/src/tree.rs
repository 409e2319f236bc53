//! # Training a tree
//! Reads a table, grows a tree ([`geowalk::boost::tree`]) and writes the model. Optionally, the tree is measured by
//! cross-validation and pruned on held-out rows.

mod export;
mod file;

use std::path::Path;
use std::time::Instant;

use geowalk::boost::binned::Binned;
use geowalk::boost::table::{Classes, Table};
use geowalk::boost::tree::{Criterion, Growth, Tree};
use geowalk::error::Allowed;
use geowalk::loss::permissible::Permissible;
use geowalk::{ConfigError, Real};
use geowalk_data::{Options, Task};
use serde_json::{Value, json};

pub use export::Shown;
pub use file::{load, model};

use crate::error::RunError;
use crate::folds;
use crate::metrics::{Metrics, Seen, log_loss};
use crate::model::Model;
use crate::profile::Profile;
use crate::table::{self, Examples};
use crate::verdict::Verdict;

/// How a grown tree is pruned.
#[derive(Debug, Clone, Copy, PartialEq, Default)]
pub enum Prune {
    /// By length, unless the leaves, the depth or the rows of a leaf are limited.
    #[default]
    Auto,
    /// No pruning.
    Off,
    /// By description length: a question is kept if it gives more information about the classes than its description
    /// costs.
    Length,
    /// On this fraction of the data, which is not used for growing.
    Part(f64),
}

impl Prune {
    /// Parses `auto`, `off`, `length`, or a fraction of the data.
    pub fn parse(text: &str) -> Result<Self, ConfigError> {
        Ok(match text {
            "auto" => Self::Auto,
            "off" => Self::Off,
            "length" => Self::Length,
            part => Self::Part(part.parse().map_err(|_| {
                geowalk::spec::unknown(
                    "pruning",
                    part,
                    ["auto", "off", "length", "a part of the data such as 0.25"],
                )
            })?),
        })
    }
}

/// The settings of a tree.
#[derive(Debug, Clone)]
pub struct Plan {
    /// The criterion and the limits.
    pub growth: Growth,
    /// Number of bins per column; `None` for thresholds between all values.
    pub bins: Option<usize>,
    /// Number of folds for cross-validation.
    pub folds: Option<usize>,
    /// How the tree is pruned.
    pub prune: Prune,
    /// κ in the probabilities (m + κ)/(n + Cκ), where m and n count rows. Weighted rows count as many as their weights
    /// have [units](Examples::weight_unit).
    pub smoothing: f64,
    /// Seed for the folds and for the rows used for pruning.
    pub seed: u64,
    /// The task; `None` to infer it from the labels.
    pub task: Option<Task>,
}

impl Default for Plan {
    fn default() -> Self {
        Self {
            growth: Growth::new(Criterion::default()),
            bins: None,
            folds: None,
            prune: Prune::Auto,
            smoothing: 1.0,
            seed: 0,
            task: None,
        }
    }
}

impl Plan {
    fn check(&self) -> Result<(), ConfigError> {
        self.growth.check()?;
        let range = |name, value, allowed: Allowed| {
            let bad = ConfigError::OutOfRange { name, value, allowed };
            if allowed.contains(value) { Ok(()) } else { Err(bad) }
        };
        self.folds.map_or(Ok(()), |k| range("folds", k as f64, Allowed::Whole(2)))?;
        if let Prune::Part(part) = self.prune {
            range("prune", part, Allowed::OpenClosed(0.0, 0.5))?;
        }
        range("smoothing", self.smoothing, Allowed::NonNegative)
    }

    /// Whether the tree is pruned by length.
    fn shortens(&self) -> bool {
        let Growth { max_leaves, max_depth, min_leaf, .. } = &self.growth;
        let free = max_leaves.is_none() && max_depth.is_none() && *min_leaf <= 1;
        self.prune == Prune::Length || self.prune == Prune::Auto && free
    }

    /// κ in the unit of the weights.
    fn kappa(&self, examples: &Examples) -> f64 {
        self.smoothing * examples.weight_unit()
    }

    /// Grows a tree and prunes it if requested.
    fn grow(
        &self,
        table: &Table,
        classes: &Classes,
        weights: Option<&[f64]>,
    ) -> Result<Tree, RunError> {
        let Prune::Part(part) = self.prune else {
            let mut tree = self.grow_whole(table, classes, weights)?;
            if self.shortens() {
                tree.shorten(table, weights.map_or(1.0, table::weight_unit));
            }
            return Ok(tree);
        };
        let (own, held) = folds::hold_out(classes.codes(), part, self.seed);
        if held.is_empty() {
            let allowed = Allowed::OpenClosed(folds::none_below(classes.codes()), 0.5);
            return Err(ConfigError::OutOfRange { name: "prune", value: part, allowed }.into());
        }
        let (table_own, classes_own, weights_own) = select(table, classes, weights, &own)?;
        let mut tree = self.grow_whole(&table_own, &classes_own, weights_own.as_deref())?;
        let codes: Vec<u32> = held.iter().map(|row| classes.codes()[*row as usize]).collect();
        let weights: Option<Vec<f64>> =
            weights.map(|all| held.iter().map(|row| all[*row as usize]).collect());
        tree.prune(&table.select(&held)?, &codes, weights.as_deref())?;
        Ok(tree)
    }

    fn grow_whole(
        &self,
        table: &Table,
        classes: &Classes,
        weights: Option<&[f64]>,
    ) -> Result<Tree, RunError> {
        Ok(match self.bins {
            None => Tree::exact(table, classes, weights, &self.growth)?,
            Some(bins) => Tree::binned(&Binned::new(table, bins)?, classes, weights, &self.growth)?,
        })
    }
}

type Part = (Table, Classes, Option<Vec<f64>>);

fn select(
    table: &Table,
    classes: &Classes,
    weights: Option<&[f64]>,
    rows: &[u32],
) -> Result<Part, RunError> {
    let codes = rows.iter().map(|row| classes.codes()[*row as usize]).collect();
    let weights = weights.map(|all| rows.iter().map(|row| all[*row as usize]).collect());
    Ok((table.select(rows)?, Classes::new(codes, classes.names().to_vec())?, weights))
}

/// The metrics of a classifier.
const METRICS: [&str; 3] = ["accuracy", "auc", "log_loss"];

/// The result of training.
#[derive(Debug)]
pub struct Summary {
    /// Number of training rows.
    pub examples: usize,
    /// The cost of the tree per unit of weight: the average of the balanced convex loss on the training data.
    pub loss: f64,
    /// Metrics on the training data, by name.
    pub metrics: Vec<(&'static str, f64)>,
    /// The metrics of each fold, on rows that its tree was not trained on.
    pub folds: Vec<Vec<(&'static str, f64)>>,
    /// The task.
    pub task: Task,
    /// The criterion.
    pub loss_name: String,
    /// Number of leaves, and depth.
    pub shape: (usize, usize),
    /// The share of each column in the total gain, largest first.
    pub importance: Vec<(String, f64)>,
    /// Number of rows skipped.
    pub skipped: u64,
    /// Additional notes for the user.
    pub notes: Vec<String>,
    /// The quality on rows held out by the folds; without folds, on the training rows.
    pub verdict: Option<Verdict>,
    /// How the table was read; `None` for older model files.
    pub profile: Option<Profile>,
    /// Training time in seconds.
    pub seconds: f64,
}

impl Summary {
    /// Mean and standard deviation over the folds of each metric.
    pub fn validated(&self) -> Vec<(&'static str, f64, f64)> {
        let count = self.folds.len() as f64;
        let names = self.folds.first().map(|fold| fold.iter().map(|(name, _)| *name));
        let metric = |(at, name): (usize, &'static str)| {
            let values = || self.folds.iter().filter_map(move |fold| fold.get(at)).map(|(_, v)| *v);
            let mean = values().sum::<f64>() / count;
            let squares: f64 = values().map(|v| (v - mean) * (v - mean)).sum();
            (name, mean, (squares / (count - 1.0)).sqrt())
        };
        names.into_iter().flatten().enumerate().map(metric).collect()
    }

    /// The summary as one JSON object.
    pub fn json(&self) -> Value {
        let mut object = self.record();
        object["skipped"] = self.skipped.into();
        object["seconds"] = self.seconds.into();
        object
    }

    /// The summary stored in a model file.
    pub fn of(model: &Model) -> Option<Self> {
        let own = &model.summary;
        let count = |key: &str| own[key].as_u64().and_then(|count| usize::try_from(count).ok());
        let metrics = |own: &Value| -> Vec<(&'static str, f64)> {
            let known = METRICS.into_iter().filter_map(|name| Some((name, own.get(name)?)));
            known.map(|(name, value)| (name, value.as_f64().unwrap_or(f64::NAN))).collect()
        };
        let gained =
            |own: &Value| Some((own["column"].as_str()?.to_owned(), own["part"].as_f64()?));
        let folds = own["cross_validation"]["folds"].as_array();
        let notes = own["notes"].as_array().into_iter().flatten();
        Some(Self {
            examples: count("examples")?,
            loss: own["loss"].as_f64()?,
            metrics: metrics(&own["metrics"]),
            folds: folds.into_iter().flatten().map(metrics).collect(),
            task: model.settings.task,
            loss_name: own["loss_name"].as_str()?.to_owned(),
            shape: (count("leaves")?, count("depth")?),
            importance: own["importance"].as_array()?.iter().map(gained).collect::<Option<_>>()?,
            skipped: 0,
            notes: notes.filter_map(|note| note.as_str().map(str::to_owned)).collect(),
            verdict: None,
            profile: Profile::of(model),
            seconds: f64::NAN,
        })
    }

    /// The part of the summary that a model file stores.
    pub fn record(&self) -> Value {
        let named = |metrics: &[(&'static str, f64)]| -> serde_json::Map<String, Value> {
            metrics.iter().map(|(name, value)| ((*name).to_owned(), json!(value))).collect()
        };
        let mut object = json!({
            "examples": self.examples,
            "loss": self.loss,
            "metrics": named(&self.metrics),
            "task": self.task.name(),
            "walk": "tree",
            "loss_name": self.loss_name,
            "rate": null,
            "leaves": self.shape.0,
            "depth": self.shape.1,
            "importance": self.importance.iter()
                .map(|(name, part)| json!({"column": name, "part": part})).collect::<Vec<_>>(),
            "notes": self.notes,
            "verdict": self.verdict.as_ref().map(Verdict::json),
            "table": self.profile.as_ref().map(Profile::json),
            "certificate": {"theorem": null, "status": "none", "reason": "no theorem bounds a tree that is grown greedily",
                "loss": null, "comparator_loss": null, "regret": null, "bound": null},
        });
        if !self.folds.is_empty() {
            let validated = self.validated();
            let of = |f: fn(&(&'static str, f64, f64)) -> f64| -> serde_json::Map<String, Value> {
                validated.iter().map(|all| (all.0.to_owned(), json!(f(all)))).collect()
            };
            object["cross_validation"] = json!({
                "mean": of(|all| all.1), "deviation": of(|all| all.2),
                "folds": self.folds.iter().map(|fold| named(fold)).collect::<Vec<_>>(),
            });
        }
        object
    }
}

/// Measures a tree on a table.
fn measure(
    tree: &Tree,
    table: &Table,
    codes: &[u32],
    weights: Option<&[f64]>,
    kappa: f64,
) -> Vec<(&'static str, f64)> {
    let task = if tree.classes() == 2 { Task::Binary } else { Task::Multiclass };
    let mut metrics = Metrics::new(task);
    for (row, leaf) in tree.leaves_of(table).into_iter().enumerate() {
        let class = codes[row] as usize;
        let weight = weights.map_or(1.0, |weights| weights[row]);
        // The probability of its true class.
        let probability = tree.probability(leaf, class, kappa);
        let (y, prediction) = if task == Task::Binary {
            let positive = tree.probability(leaf, 1, kappa);
            let odds = Real::ln(positive) - Real::ln(1.0 - positive);
            (if class == 1 { 1.0 } else { -1.0 }, odds)
        } else {
            (class as f64, tree.class(leaf) as f64)
        };
        let loss = log_loss(probability, weight);
        let zero = weight * Real::ln(tree.classes() as f64);
        metrics.see(&Seen { y, prediction, log_loss: loss, loss, zero, weight });
    }
    metrics.named()
}

/// Messages during training.
#[derive(Debug, Clone, Copy)]
pub enum Said<'a> {
    /// A line for people.
    Note(&'a str),
    /// Number of trees grown, and number of trees to grow.
    Grown(usize, usize),
}

/// A tree, its training data, and its summary.
#[derive(Debug)]
pub struct Grown {
    /// The summary.
    pub summary: Summary,
    /// The tree.
    pub tree: Tree,
    /// The data.
    pub examples: Examples,
    /// The probabilities of all classes, row by row. With folds, each row is predicted by the tree that was not
    /// trained on it.
    pub probabilities: Vec<f64>,
}

impl Grown {
    /// The tree with the names of its columns and classes.
    pub fn shown(&self, plan: &Plan) -> Shown {
        Shown::new(&self.tree, plan.kappa(&self.examples), &self.examples)
    }
}

/// The probabilities of all classes, row by row.
pub fn probabilities(tree: &Tree, table: &Table, kappa: f64) -> Vec<f64> {
    let own = |leaf| (0..tree.classes()).map(move |class| tree.probability(leaf, class, kappa));
    tree.leaves_of(table).into_iter().flat_map(own).collect()
}

/// Reads the data given by `options`, grows a tree and writes the model.
pub fn fit(
    plan: &Plan,
    options: Options,
    model: Option<&Path>,
    said: &mut dyn FnMut(Said<'_>),
) -> Result<Grown, RunError> {
    plan.check()?;
    model.map(Model::check_path).transpose()?;
    let examples = table::examples(options, plan.task)?;
    let (tree, summary, probabilities) = learn(plan, &examples, said)?;
    if let Some(path) = model {
        file::model(plan, &tree, &examples, summary.record()).save(path)?;
    }
    Ok(Grown { summary, tree, examples, probabilities })
}

/// Grows a tree on examples in memory. The last element of the result is the [probabilities](Grown::probabilities).
pub fn learn(
    plan: &Plan,
    examples: &Examples,
    said: &mut dyn FnMut(Said<'_>),
) -> Result<(Tree, Summary, Vec<f64>), RunError> {
    let start = Instant::now();
    plan.check()?;
    let Examples { table, classes, weights, .. } = examples;
    let (weights, kappa) = (weights.as_deref(), plan.kappa(examples));
    if let Some(why) = &examples.said {
        said(Said::Note(&format!("task: {why}")));
    }
    examples.decisions.iter().for_each(|decision| said(Said::Note(decision)));
    let (rows, columns) = (table.rows(), table.columns().len());
    let criterion = plan.growth.criterion.phi().spec();
    said(Said::Note(&format!("tree by {criterion} on {rows} rows and {columns} columns")));
    let trees = plan.folds.unwrap_or(0) + 1;
    said(Said::Grown(0, trees));
    if let Some(k) = plan.folds.filter(|k| *k > rows) {
        let allowed = Allowed::Closed(2.0, rows as f64);
        return Err(ConfigError::OutOfRange { name: "folds", value: k as f64, allowed }.into());
    }
    // Grow the tree that is kept first, because the folds may be interrupted.
    let tree = plan.grow(table, classes, weights)?;
    said(Said::Grown(1, trees));
    let mut validated = Vec::new();
    let mut held_out = Vec::new();
    if let Some(k) = plan.folds {
        let parts = folds::stratified(classes, k, plan.seed);
        let width = classes.names().len();
        held_out.resize(rows * width, 0.0);
        for part in 0..k {
            if plan.growth.halt.is_called() {
                break;
            }
            let (others, own) = folds::divide(&parts, part);
            let (table_own, classes_own, weights_own) = select(table, classes, weights, &others)
                .map_err(|cause| RunError::Fold { fold: part + 1, cause: Box::new(cause) })?;
            let tree = plan
                .grow(&table_own, &classes_own, weights_own.as_deref())
                .map_err(|cause| RunError::Fold { fold: part + 1, cause: Box::new(cause) })?;
            let held = table.select(&own)?;
            let codes: Vec<u32> = own.iter().map(|row| classes.codes()[*row as usize]).collect();
            let weights: Option<Vec<f64>> =
                weights.map(|all| own.iter().map(|row| all[*row as usize]).collect());
            let measured = measure(&tree, &held, &codes, weights.as_deref(), kappa);
            let all = probabilities(&tree, &held, kappa);
            for (row, all) in own.iter().zip(all.chunks_exact(width)) {
                held_out[*row as usize * width..][..width].copy_from_slice(all);
            }
            let texts: Vec<String> =
                measured.iter().map(|(name, value)| format!("{name} {value:.4}")).collect();
            said(Said::Note(&format!("fold {} of {k}: {}", part + 1, texts.join(", "))));
            said(Said::Grown(part + 2, trees));
            validated.push(measured);
        }
        if plan.growth.halt.is_called() {
            // Interrupted folds have trees that were stopped early, so their metrics are discarded.
            validated.clear();
            held_out.clear();
        }
    }
    let mut importance: Vec<(String, f64)> = table
        .columns()
        .iter()
        .map(|column| column.name().to_owned())
        .zip(tree.importance())
        .filter(|(_, part)| *part > 0.0)
        .collect();
    importance.sort_by(|a, b| b.1.total_cmp(&a.1));
    let total: f64 = tree.masses(0).iter().sum();
    let mut notes = Vec::new();
    if examples.unlabelled > 0 {
        notes.push(format!("{} rows without label were left out", examples.unlabelled));
    }
    if tree.nodes().len() == 1 {
        notes.push("no split gains anything: the tree is one leaf".to_owned());
    }
    if plan.shortens() {
        notes.push(
            "questions that tell less about the classes than it takes to ask them were taken back (prune: off keeps them)"
                .to_owned(),
        );
    }
    notes.extend(examples.skipped.1.clone());
    let mut summary = Summary {
        examples: rows,
        loss: tree.cost() / total,
        metrics: measure(&tree, table, classes.codes(), weights, kappa),
        folds: validated,
        task: examples.coding.task(),
        loss_name: criterion,
        shape: (tree.leaves().count(), tree.depth()),
        importance,
        skipped: examples.skipped.0,
        notes,
        verdict: None,
        profile: Some(Profile::new(examples)),
        seconds: start.elapsed().as_secs_f64(),
    };
    if held_out.is_empty() {
        held_out = probabilities(&tree, table, kappa);
    }
    let (names, codes) = (classes.names(), classes.codes());
    summary.verdict = Some(Verdict::of_probabilities(names, codes, weights, &held_out));
    Ok((tree, summary, held_out))
}
