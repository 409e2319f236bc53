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

use geowalk::boost::split::{Split, Test};
use geowalk::boost::tree::{Branch, Criterion, Node, Tree};
use geowalk::loss::permissible::Permissible;

use super::Plan;
use crate::error::RunError;
use crate::model::{Arrays, LearnerSettings, Model, ModelError, Settings, TreeSettings, array};
use crate::table::Examples;

/// The model of a tree, with what is [kept](super::Summary::record) of its summary.
pub fn model(plan: &Plan, tree: &Tree, examples: &Examples, summary: serde_json::Value) -> Model {
    let learner = LearnerSettings::Tree(TreeSettings {
        columns: tree.columns(),
        smoothing: plan.smoothing,
        unit: examples.weight_unit(),
        bins: plan.bins,
    });
    let criterion = tree.criterion().phi().spec();
    Model {
        settings: Settings {
            seed: plan.seed,
            intercept: false,
            certificate: false,
            reading: examples.reading.settings.clone(),
            ..Settings::new(learner, criterion, examples.coding.task())
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
    let LearnerSettings::Tree(settings) = &model.settings.learner else {
        return Err(missing("tree").into());
    };
    let (columns, kappa) = (settings.columns, settings.smoothing * settings.unit);
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
