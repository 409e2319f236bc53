//! # Boosted trees in model files
//! Arrays over the nodes of all trees, one tree after the other; columns and names are those of the schema.
//!
//! | array | of each node |
//! |---|---|
//! | `trees.left`, `trees.right` | its children, counted from the root of its tree; 0 in a leaf |
//! | `trees.column` | number of the column that is asked |
//! | `trees.ask` | 0: at most the value, missing right; 1: the same, missing left; 2: one of the next names of `trees.names` goes left, the value is how many; 3: the same, right |
//! | `trees.value` | threshold or number of names; of a leaf what it adds |
//! | `trees.gain`, `trees.rows` | what the split gained; the training rows of a leaf |
//! | `trees.own` | of the rows of a leaf those of the second class or of the class of the tree, or the sum of their labels; absent in older files |
//!
//! Besides `trees.sizes` and `trees.outputs` of each tree (nodes, the score that it adds to), `trees.names`
//! and `trees.start`.

use geowalk::boost::Surrogate;
use geowalk::boost::trees::{
    AdditiveTrees, Ask, Branch, NumberLoss, ScoreTree, Shape, TreeLoss, TreeNode,
};
use geowalk_data::Task;
use serde_json::Value;

use super::{BoostedTrees, Shown, Target, TreesPlan, shape_name};
use crate::error::RunError;
use crate::label::Coding;
use crate::model::{Arrays, LearnerSettings, Model, ModelError, Settings, TreesSettings, array};

/// The name of boosted trees among the learners of model files.
pub const KIND: &str = "boosted-trees";

/// Rules that a summary tells of.
const RULES: usize = 50;

impl TreesPlan {
    /// The model file of what was learned.
    pub fn model(
        &self,
        target: &Target,
        learned: &BoostedTrees,
        summary: Value,
    ) -> Result<Model, RunError> {
        let booster = self.booster(target)?;
        let learner = LearnerSettings::Trees(TreesSettings {
            columns: learned.model.columns,
            scale: learned.model.scale,
            rows: learned.model.rows,
            rounds: learned.model.rounds(),
            rate: booster.rate,
            leaves: booster.leaves,
            depth: booster.depth,
            ridge: booster.lambda,
            bins: booster.bins,
            row_share: booster.rows,
            column_share: booster.columns,
            min_leaf: booster.least_rows,
            effective_rows: booster.effective,
            leaf_step: booster.leaf.name().to_owned(),
            shape: shape_name(learned.shape).to_owned(),
            vector: booster.vector,
            increasing: self.increasing.clone(),
            decreasing: self.decreasing.clone(),
            interactions: self.interactions.clone(),
        });
        let mut model = Model {
            settings: Settings {
                seed: self.seed,
                intercept: false,
                certificate: !learned.classes.is_empty(),
                reading: target.reading.clone(),
                ..Settings::new(learner, learned.model.loss.spec(), learned.task())
            },
            schema: target.schema.clone(),
            classes: target.coding.classes().to_vec(),
            examples: target.y.len() as u64,
            arrays: arrays(&learned.model),
            summary,
        };
        if learned.shape == Shape::Rules {
            let shown = Shown::of(&model, self.custom.as_ref())?;
            let rules = shown.rules();
            let first: Vec<String> =
                rules.iter().take(RULES).map(|rule| shown.sentence_of(rule)).collect();
            model.summary["rules"] = serde_json::json!({"count": rules.len(), "largest": first});
        }
        Ok(model)
    }
}

fn arrays(model: &AdditiveTrees) -> Arrays {
    let mut of: [Vec<f64>; 11] = Default::default();
    let [left, right, column, ask, value, gain, rows, own, sizes, outputs, names] = &mut of;
    for tree in &model.trees {
        sizes.push(tree.nodes.len() as f64);
        outputs.push(tree.output as f64);
        for node in &tree.nodes {
            let branch = node.branch.as_ref();
            left.push(branch.map_or(0.0, |b| b.left as f64));
            right.push(branch.map_or(0.0, |b| b.right as f64));
            column.push(branch.map_or(0.0, |b| b.column as f64));
            gain.push(branch.map_or(0.0, |b| b.gain));
            rows.push(node.rows);
            own.push(node.own);
            let (kind, number) = match branch.map(|b| &b.ask) {
                None => (0.0, node.value),
                Some(Ask::AtMost { theta, missing }) => (f64::from(u8::from(*missing)), *theta),
                Some(Ask::Among { names: among, left }) => {
                    names.extend(among.iter().map(|name| f64::from(*name)));
                    (if *left { 2.0 } else { 3.0 }, among.len() as f64)
                }
            };
            ask.push(kind);
            value.push(number);
        }
    }
    let named = [
        "left", "right", "column", "ask", "value", "gain", "rows", "own", "sizes", "outputs",
        "names",
    ];
    let mut arrays: Arrays = named.iter().map(|name| format!("trees.{name}")).zip(of).collect();
    arrays.push(("trees.start".to_owned(), model.start.clone()));
    arrays
}

impl BoostedTrees {
    /// What a model file holds; a user's loss, which no name tells, comes with it.
    #[expect(
        clippy::cast_possible_truncation,
        clippy::cast_sign_loss,
        reason = "saturates; checked"
    )]
    pub fn of(model: &Model, custom: Option<&Surrogate>) -> Result<Self, RunError> {
        let missing = |what: &str| ModelError::Missing { what: what.to_owned() };
        let LearnerSettings::Trees(settings) = &model.settings.learner else {
            return Err(missing("trees").into());
        };
        let coding = Coding::restore(model.settings.task, model.classes.clone());
        let classes = match model.settings.task {
            Task::Regression => Vec::new(),
            _ => coding.texts(model.schema.labels()),
        };
        let name = &model.settings.loss;
        let loss = match classes.len() {
            0 => TreeLoss::Number(NumberLoss::parse(name)?),
            2 => TreeLoss::Margin(match custom.filter(|own| own.spec() == *name) {
                Some(own) => own.clone(),
                None => Surrogate::parse(name)?,
            }),
            many => TreeLoss::Softmax(many),
        };
        let part = |name: &str, count: Option<usize>| array(&model.arrays, name, count);
        let (sizes, outputs) = (part("trees.sizes", None)?, part("trees.outputs", None)?);
        let left = part("trees.left", None)?;
        let count = Some(left.len());
        let (right, column) = (part("trees.right", count)?, part("trees.column", count)?);
        let (ask, value) = (part("trees.ask", count)?, part("trees.value", count)?);
        let (gain, rows) = (part("trees.gain", count)?, part("trees.rows", count)?);
        let own = part("trees.own", count).ok();
        let mut names = part("trees.names", None)?.iter().map(|name| *name as u32);
        let (mut at, mut trees) = (0, Vec::with_capacity(sizes.len()));
        for (size, output) in sizes.iter().zip(outputs) {
            let mut nodes = Vec::with_capacity(*size as usize);
            for _ in 0..*size as usize {
                if at >= left.len() {
                    return Err(missing("trees.left").into());
                }
                let is_leaf = left[at] == 0.0;
                let ask = match ask[at] {
                    0.0 | 1.0 => Ask::AtMost { theta: value[at], missing: ask[at] == 1.0 },
                    2.0 | 3.0 => {
                        let among = names.by_ref().take(value[at] as usize).collect();
                        Ask::Among { names: among, left: ask[at] == 2.0 }
                    }
                    _ => return Err(missing("trees.ask").into()),
                };
                let branch = Branch {
                    column: column[at] as usize,
                    ask,
                    left: left[at] as usize,
                    right: right[at] as usize,
                    gain: gain[at],
                };
                nodes.push(TreeNode {
                    branch: (!is_leaf).then_some(branch),
                    value: if is_leaf { value[at] } else { 0.0 },
                    rows: rows[at],
                    own: own.map_or(f64::NAN, |own| own[at]),
                });
                at += 1;
            }
            trees.push(ScoreTree { output: *output as usize, nodes });
        }
        let own = AdditiveTrees {
            start: part("trees.start", Some(loss.outputs()))?.to_vec(),
            loss,
            trees,
            columns: settings.columns,
            scale: settings.scale,
            rows: settings.rows,
        };
        own.check().map_err(|what| missing(&format!("trees ({what})")))?;
        let shape = if settings.shape == "rules" { Shape::Rules } else { Shape::Trees };
        Ok(Self { model: own, classes, shape, rounds: Vec::new(), chosen: None, scores: None })
    }
}
