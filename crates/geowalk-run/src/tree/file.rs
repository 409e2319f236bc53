//! # Trees in model files
//! A tree is arrays over its nodes; columns and names are those of the schema.
//!
//! | array | of each node |
//! |---|---|
//! | `tree.rows` | rows of the training data |
//! | `tree.left`, `tree.right` | its children; 0 in a leaf |
//! | `tree.column` | number of the column that is tested |
//! | `tree.test` | 0: at most the value, missing right; 1: the same, missing left; 2: the name with the value as code; 3: known |
//! | `tree.value` | threshold or code |
//! | `tree.gain` | what the split gained |
//! | `tree.masses` | the weight of each class, node by node |

use std::io::Write;

use geowalk::boost::split::{Split, Test};
use geowalk::boost::tree::{Branch, Criterion, Node, Tree};
use geowalk::loss::permissible::Permissible;
use geowalk_data::Options;

use super::{KIND, Plan};
use crate::error::RunError;
use crate::label::Coding;
use crate::model::{Arrays, Model, ModelError, Settings, array};
use crate::table::{Examples, Reader};

/// Rows that are predicted together.
const CHUNK: usize = 1 << 14;

/// The model of a tree, with what is [kept](super::Summary::record) of its summary.
pub fn model(plan: &Plan, tree: &Tree, examples: &Examples, summary: serde_json::Value) -> Model {
    let extras = [
        ("columns", tree.columns().to_string()),
        ("smoothing", plan.smoothing.to_string()),
        ("unit", examples.weight_unit().to_string()),
        ("bins", plan.bins.map_or_else(|| "exact".to_owned(), |bins| bins.to_string())),
    ];
    Model {
        settings: Settings {
            walk: KIND.to_owned(),
            loss: tree.criterion().phi().spec(),
            rate: "none".to_owned(),
            task: examples.coding.task(),
            seed: plan.seed,
            intercept: false,
            certificate: false,
            y_range: None,
            extras: extras.into_iter().map(|(key, value)| (key.to_owned(), value)).collect(),
        },
        schema: examples.schema.clone(),
        classes: examples.coding.classes().to_vec(),
        examples: examples.table.rows() as u64,
        arrays: arrays(tree),
        summary,
    }
}

fn arrays(tree: &Tree) -> Arrays {
    let of = |f: &dyn Fn(&Node) -> f64| tree.nodes().iter().map(f).collect::<Vec<f64>>();
    let branch = |f: fn(&Branch) -> f64| of(&move |node| node.branch.as_ref().map_or(0.0, f));
    let masses = (0..tree.nodes().len()).flat_map(|node| tree.masses(node)).copied().collect();
    let named = [
        ("tree.rows", of(&|node| node.rows as f64)),
        ("tree.left", branch(|b| b.left as f64)),
        ("tree.right", branch(|b| b.right as f64)),
        ("tree.column", branch(|b| b.split.column as f64)),
        (
            "tree.test",
            branch(|b| match b.split.test {
                Test::AtMost { missing, .. } => f64::from(u8::from(missing)),
                Test::Is { .. } => 2.0,
                Test::Known => 3.0,
            }),
        ),
        (
            "tree.value",
            branch(|b| match b.split.test {
                Test::AtMost { theta, .. } => theta,
                Test::Is { code } => f64::from(code),
                Test::Known => 0.0,
            }),
        ),
        ("tree.gain", branch(|b| b.gain)),
        ("tree.masses", masses),
    ];
    named.into_iter().map(|(name, values)| (name.to_owned(), values)).collect()
}

/// The tree of a model, and κ of its probabilities.
#[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "saturates; checked")]
pub fn load(model: &Model) -> Result<(Tree, f64), RunError> {
    let missing = |what: &str| ModelError::Missing { what: what.to_owned() };
    let extra = |key: &str| model.settings.extras.get(key).ok_or_else(|| missing(key));
    let columns = extra("columns")?.parse().map_err(|_| missing("columns"))?;
    let kappa: f64 = extra("smoothing")?.parse().map_err(|_| missing("smoothing"))?;
    // Files of older versions smooth by weight.
    let unit = model.settings.extras.get("unit").map_or(Ok(1.0), |unit| unit.parse());
    let kappa = kappa * unit.map_err(|_| missing("unit"))?;
    let rows = array(&model.arrays, "tree.rows", None)?;
    let count = rows.len();
    let part = |name: &str| array(&model.arrays, name, Some(count));
    let (left, right) = (part("tree.left")?, part("tree.right")?);
    let (column, test) = (part("tree.column")?, part("tree.test")?);
    let (value, gain) = (part("tree.value")?, part("tree.gain")?);
    let mut nodes = Vec::with_capacity(count);
    for k in 0..count {
        let test = match test[k] {
            0.0 => Test::AtMost { theta: value[k], missing: false },
            1.0 => Test::AtMost { theta: value[k], missing: true },
            2.0 => Test::Is { code: value[k] as u32 },
            3.0 => Test::Known,
            _ => return Err(missing("tree.test").into()),
        };
        let split = Split { column: column[k] as usize, test };
        let (left, right) = (left[k] as usize, right[k] as usize);
        let branch = (left > 0).then_some(Branch { split, left, right, gain: gain[k] });
        nodes.push(Node { rows: rows[k] as u64, branch });
    }
    let classes = model.classes.len().max(2);
    let masses = array(&model.arrays, "tree.masses", Some(count * classes))?.to_vec();
    let criterion = Criterion::parse(&model.settings.loss)?;
    Ok((Tree::from_parts(criterion, classes, columns, nodes, masses)?, kappa))
}

/// Predicts what `options` read with the tree of a model: a class per line, or the probabilities of all classes under their names.
pub fn predict(
    model: &Model,
    options: Options,
    proba: bool,
    out: &mut dyn Write,
) -> Result<u64, RunError> {
    let (tree, kappa) = load(model)?;
    let coding = Coding::restore(model.settings.task, model.classes.clone());
    let labels = model.schema.labels();
    let mut reader = Reader::unlabelled(&model.schema, tree.columns(), options)?;
    // One line per leaf, made once.
    let line = |leaf: usize| {
        if proba {
            let texts: Vec<String> =
                (0..tree.classes()).map(|k| tree.probability(leaf, k, kappa).to_string()).collect();
            texts.join(",")
        } else {
            coding.text(tree.class(leaf), labels)
        }
    };
    let lines: Vec<String> = (0..tree.nodes().len()).map(line).collect();
    if proba {
        writeln!(out, "{}", coding.texts(labels).join(",")).map_err(RunError::Predictions)?;
    }
    let mut rows = 0;
    while let Some(read) = reader.read(CHUNK)? {
        for leaf in tree.leaves_of(&read.table) {
            writeln!(out, "{}", lines[leaf]).map_err(RunError::Predictions)?;
        }
        rows += read.labels.len() as u64;
    }
    Ok(rows)
}
