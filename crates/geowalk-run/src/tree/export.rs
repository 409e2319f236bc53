//! # Trees in words
//! The same tree as text for people, as a query for a database, as JSON for programs, as a drawing for Graphviz.
//!
//! **SQL** A flat `CASE` expression gives the leaf, see [`sql`](crate::sql). A missing value is `NULL`, and
//! goes where the tree sends it: a comparison with `NULL` is not true, so the other branch is taken, and where
//! missing values go left the query says `OR … IS NULL`. Numbers have all their digits. **Care** a name that no
//! row of the training data had is equal to none.

use std::fmt::Write;

use geowalk::boost::split::{Split, Test};
use geowalk::boost::tree::{Branch, Node, Tree};
use geowalk::loss::permissible::Permissible;
use geowalk_data::visible;
use serde_json::{Value, json};

use crate::boost::words::threshold;
use crate::error::RunError;
use crate::label::Coding;
use crate::learned::Form;
use crate::model::Model;
use crate::sql::{self, Inputs, Output, Target};
use crate::table::{self, Examples, Heading, Origin};

/// Where a missing value goes.
const MISSING: &str = "a missing value goes to no, unless the test says 'or missing'";

/// A tree with the names of its columns and classes.
#[derive(Debug, Clone)]
pub struct Shown {
    tree: Tree,
    kappa: f64,
    columns: Vec<Heading>,
    classes: Vec<String>,
}

impl Shown {
    /// A tree as it was grown on these data.
    pub(super) fn new(tree: &Tree, kappa: f64, examples: &Examples) -> Self {
        let columns = table::headings(&examples.schema, tree.columns());
        let classes = examples.coding.texts(examples.schema.labels());
        Self { tree: tree.clone(), kappa, columns, classes }
    }

    /// The tree of a model.
    pub fn of(model: &Model) -> Result<Self, RunError> {
        let (tree, kappa) = super::load(model)?;
        let columns = table::headings(&model.schema, tree.columns());
        let coding = Coding::restore(model.settings.task, model.classes.clone());
        let classes = coding.texts(model.schema.labels());
        Ok(Self { tree, kappa, columns, classes })
    }

    /// The same with other names of its columns.
    #[must_use]
    pub fn with_columns(self, columns: Vec<Heading>) -> Self {
        Self { columns, ..self }
    }

    /// The tree.
    pub fn tree(&self) -> &Tree {
        &self.tree
    }

    /// The names of the classes.
    pub fn classes(&self) -> &[String] {
        &self.classes
    }

    /// The probability of every class in a leaf.
    pub(crate) fn shares(&self, leaf: usize) -> impl Iterator<Item = f64> + '_ {
        (0..self.tree.classes()).map(move |class| self.tree.probability(leaf, class, self.kappa))
    }

    /// Writes the tree. SQL has a reason where it cannot be.
    pub fn write(&self, form: Form, target: &Target) -> Result<String, String> {
        Ok(match form {
            Form::Text => self.text(),
            Form::Sql => self.sql(target)?,
            Form::Json => format!("{}\n", self.json()),
            Form::Dot => self.dot(),
        })
    }

    fn column(&self, split: &Split) -> &str {
        self.columns.get(split.column).map_or("?", |column| column.name.as_str())
    }

    fn name(&self, split: &Split, code: u32) -> &str {
        let names = self.columns.get(split.column).and_then(|column| column.names.as_ref());
        names.and_then(|names| names.get(code as usize)).map_or("?", String::as_str)
    }

    fn class(&self, node: usize) -> &str {
        self.classes.get(self.tree.class(node)).map_or("?", String::as_str)
    }

    /// A test as a sentence, which names the missing values that pass it; others fail it.
    fn sentence(&self, split: &Split) -> String {
        let column = self.column(split);
        match split.test {
            Test::AtMost { theta, missing } => {
                let missing = if missing { " or missing" } else { "" };
                format!("{column} <= {}{missing}", threshold(theta))
            }
            Test::Is { code } => {
                let heading = self.columns.get(split.column);
                heading.map_or_else(|| "?".to_owned(), |heading| heading.says(code, true))
            }
            Test::Known => format!("{column} is known"),
        }
    }

    /// A leaf as a sentence.
    fn leaf(&self, node: usize) -> String {
        let masses: Vec<String> = self.tree.masses(node).iter().map(f64::to_string).collect();
        format!("{} ({})", self.class(node), masses.join(", "))
    }

    /// What each node asks, or the class of a leaf.
    pub fn captions(&self) -> Vec<String> {
        let caption = |(at, node): (usize, &Node)| match &node.branch {
            Some(branch) => self.sentence(&branch.split),
            None => self.class(at).to_owned(),
        };
        self.tree.nodes().iter().enumerate().map(caption).collect()
    }

    /// Nodes in the order in which they are read, each with what stands before it. A stack, since trees may be deep.
    pub fn text(&self) -> String {
        let mut out = format!("weights of the classes {}\n", visible(&self.classes.join(", ")));
        if self.tree.nodes().len() > 1 {
            let _ = writeln!(out, "{MISSING}");
        }
        let mut open = vec![(0, String::new(), String::new())];
        while let Some((node, first, rest)) = open.pop() {
            match &self.tree.nodes()[node].branch {
                Some(branch) => {
                    let _ = writeln!(out, "{first}{}", visible(&self.sentence(&branch.split)));
                    open.push((branch.right, format!("{rest}└─ no:  "), format!("{rest}   ")));
                    open.push((branch.left, format!("{rest}├─ yes: "), format!("{rest}│  ")));
                }
                None => {
                    let _ = writeln!(out, "{first}{}", visible(&self.leaf(node)));
                }
            }
        }
        out
    }

    /// The names of the columns of the data that are asked for.
    pub(crate) fn used_columns(&self) -> Vec<String> {
        let splits = self.tree.nodes().iter().filter_map(|node| node.branch.as_ref());
        let used: Vec<usize> = splits.map(|branch| branch.split.column).collect();
        let source = |(at, heading): (usize, &Heading)| match &heading.origin {
            _ if !used.contains(&at) => None,
            Origin::Word { column, .. } | Origin::Date { column } => Some(column.clone()),
            Origin::Cell | Origin::Entry => Some(heading.name.clone()),
        };
        self.columns.iter().enumerate().filter_map(source).collect()
    }

    /// Why rows of a leaf are of its class, in one sentence.
    pub(crate) fn explain(&self, leaf: usize) -> String {
        let mut parts = Vec::new();
        let mut node = leaf;
        let parent = |child: usize| {
            let is_parent = |node: &Node| {
                node.branch.as_ref().is_some_and(|own| own.left == child || own.right == child)
            };
            self.tree.nodes().iter().position(is_parent)
        };
        while let Some(above) = parent(node) {
            if let Some(branch) = &self.tree.nodes()[above].branch {
                parts.push(self.answer(&branch.split, branch.left == node));
            }
            node = above;
        }
        parts.reverse();
        let class = self.class(leaf);
        let masses = self.tree.masses(leaf);
        let (own, all) = (masses[self.tree.class(leaf)], masses.iter().sum::<f64>());
        let shares = format!("{own} of {all} in training");
        if parts.is_empty() {
            return format!("{class} for all rows: {shares}");
        }
        format!("{class} because {}: {shares}", parts.join(" and "))
    }

    /// What is true of rows that go left or right.
    fn answer(&self, split: &Split, left: bool) -> String {
        let column = self.column(split);
        match (split.test, left) {
            (Test::AtMost { theta, missing }, _) => {
                let (sign, theta) = (if left { "<=" } else { ">" }, threshold(theta));
                let gaps = self.columns.get(split.column).is_some_and(|column| column.gaps);
                let missing = if missing == left && gaps { " or missing" } else { "" };
                format!("{column} {sign} {theta}{missing}")
            }
            (Test::Is { code }, _) => {
                format!("{column} {} {}", if left { "=" } else { "is not" }, self.name(split, code))
            }
            (Test::Known, _) => format!("{column} is {}", if left { "known" } else { "missing" }),
        }
    }

    /// The tree as a query; the reason if there is none.
    pub fn sql(&self, target: &Target) -> Result<String, String> {
        let dialect = target.dialect;
        let mut inputs = Inputs::new(dialect, &self.columns);
        let leaf = self.leaf_number(&mut inputs)?;
        let output = |name: &str, meaning: String| Output::new(name, meaning, &self.columns);
        let found = output("leaf", "the number of the leaf, from 0 at the top".to_owned());
        let two = self.tree.classes() == 2;
        let case = |answer: &dyn Fn(usize) -> String| {
            let leaves = self.tree.leaves();
            let when = leaves.map(|node| format!("\n    WHEN {node} THEN {}", answer(node)));
            format!("CASE {}{}\n  END", found.found(), when.collect::<String>())
        };
        let positive = dialect.text(self.classes.last().map_or("?", String::as_str));
        let of = if two { format!("of {positive}") } else { "of the predicted class".to_owned() };
        let probability = |node: usize| {
            let class = if two { 1 } else { self.tree.class(node) };
            dialect.number(self.tree.probability(node, class, self.kappa))
        };
        let derived = vec![
            (
                output("prediction", "the class of most weight in the leaf".to_owned()),
                case(&|node| dialect.text(self.class(node))),
            ),
            (output("probability", of), case(&probability)),
        ];
        let title = "Decision tree";
        let missing = "A missing value takes the branch that training chose.";
        let query =
            sql::Query { target, title, missing, found: vec![(found, leaf, inputs)], derived };
        Ok(query.write())
    }

    /// One line per leaf, left before right. Only the tests that are passed on the way to a leaf need to be written: a row that should have failed one of
    /// the others has been answered by an earlier line. So nothing is nested, and nothing is negated, which `NULL` would not survive.
    fn leaf_number(&self, inputs: &mut Inputs<'_>) -> Result<String, String> {
        let mut out = String::from("CASE");
        let mut open = vec![(0, Vec::<String>::new())];
        while let Some((node, passed)) = open.pop() {
            let _ = match &self.tree.nodes()[node].branch {
                Some(branch) => {
                    let mut yes = passed.clone();
                    let name = |code| self.name(&branch.split, code);
                    yes.push(sql::split(&branch.split, &name, inputs)?);
                    open.push((branch.right, passed));
                    open.push((branch.left, yes));
                    Ok(())
                }
                // A tree without a test is its only answer.
                None if passed.is_empty() && node == 0 => return Ok("0".to_owned()),
                None if passed.is_empty() => write!(out, "\n        ELSE {node} END"),
                None => write!(out, "\n        WHEN {} THEN {node}", passed.join(" AND ")),
            };
        }
        Ok(out)
    }

    /// A list of nodes that refer to each other by number: readers of JSON need not be as deep as the tree.
    fn json(&self) -> Value {
        let node = |(node, own): (usize, &Node)| {
            let mut object = json!({
                "node": node, "rows": own.rows, "weights": self.tree.masses(node), "class": self.class(node),
            });
            if let Some(Branch { split, left, right, gain }) = &own.branch {
                object["test"] = match split.test {
                    Test::AtMost { theta, missing } => {
                        json!({"at_most": theta, "missing": if missing { "yes" } else { "no" }})
                    }
                    Test::Is { code } => json!({"is": self.name(split, code)}),
                    Test::Known => json!({"known": true}),
                };
                object["test"]["column"] = self.column(split).into();
                object["gain"] = json!(gain);
                object["yes"] = json!(left);
                object["no"] = json!(right);
            }
            object
        };
        let nodes: Vec<Value> = self.tree.nodes().iter().enumerate().map(node).collect();
        json!({"classes": self.classes, "criterion": self.tree.criterion().phi().spec(), "smoothing": self.kappa, "nodes": nodes})
    }

    fn dot(&self) -> String {
        let label = |text: &str| text.replace('\\', "\\\\").replace('"', "\\\"").replace('\n', " ");
        let mut out = format!("digraph tree {{\n  label=\"{MISSING}\";\n  node [shape=box];\n");
        for (node, own) in self.tree.nodes().iter().enumerate() {
            let _ = match &own.branch {
                None => writeln!(
                    out,
                    "  {node} [label=\"{}\", style=rounded];",
                    label(&self.leaf(node))
                ),
                Some(branch) => writeln!(
                    out,
                    "  {node} [label=\"{}\"];\n  {node} -> {} [label=\"yes\"];\n  {node} -> {} [label=\"no\"];",
                    label(&self.sentence(&branch.split)),
                    branch.left,
                    branch.right
                ),
            };
        }
        out.push_str("}\n");
        out
    }
}
