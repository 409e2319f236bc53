//! # Trees in words
//! The same tree as text for people, as a query for a database, as JSON for programs, as a drawing for Graphviz.
//!
//! **SQL** A flat `CASE` expression per answer. A missing value is `NULL`, and goes where the tree sends it: a comparison with `NULL` is not true, so the other branch is taken, and where
//! missing values go left the query says `OR … IS NULL`. Numbers have all their digits. **Care** a name that no row of the training data had is equal to none.

use std::fmt::Write;

use geowalk::boost::split::{Split, Test};
use geowalk::boost::tree::{Branch, Node, Tree};
use geowalk::loss::permissible::Permissible;
use serde_json::{Value, json};

use crate::error::RunError;
use crate::label::Coding;
use crate::model::Model;
use crate::table::{self, Examples, Heading};

/// How a tree is written.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Form {
    /// For people.
    Text,
    /// A query.
    Sql,
    /// For programs.
    Json,
    /// For Graphviz.
    Dot,
}

/// A tree with the names of its columns and classes.
#[derive(Debug)]
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

    /// Writes the tree.
    pub fn write(&self, form: Form) -> String {
        match form {
            Form::Text => self.text(),
            Form::Sql => self.sql(),
            Form::Json => format!("{}\n", self.json()),
            Form::Dot => self.dot(),
        }
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

    /// A test as a sentence. Where missing values go is said if training has seen some.
    fn sentence(&self, split: &Split) -> String {
        let column = self.column(split);
        let gaps = self.columns.get(split.column).is_some_and(|column| column.gaps);
        match split.test {
            Test::AtMost { theta, missing: true } if gaps => {
                format!("{column} <= {theta:?} or missing")
            }
            Test::AtMost { theta, .. } => format!("{column} <= {theta:?}"),
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

    /// Nodes in the order in which they are read, each with what stands before it. A stack, since trees may be deep.
    fn text(&self) -> String {
        let mut out = format!("weights of the classes {}\n", self.classes.join(", "));
        let mut open = vec![(0, String::new(), String::new())];
        while let Some((node, first, rest)) = open.pop() {
            match &self.tree.nodes()[node].branch {
                Some(branch) => {
                    let _ = writeln!(out, "{first}{}", self.sentence(&branch.split));
                    open.push((branch.right, format!("{rest}└─ no:  "), format!("{rest}   ")));
                    open.push((branch.left, format!("{rest}├─ yes: "), format!("{rest}│  ")));
                }
                None => {
                    let _ = writeln!(out, "{first}{}", self.leaf(node));
                }
            }
        }
        out
    }

    fn sql(&self) -> String {
        let positive = self.classes.last().map_or("?", String::as_str);
        let class = self.case(&|node| text(self.class(node)));
        let mut out = format!("SELECT\n{class} AS prediction");
        if self.tree.classes() == 2 {
            let p = |node| format!("{:?}", self.tree.probability(node, 1, self.kappa));
            let _ = write!(out, ",\n-- of {}\n{} AS probability", line(positive), self.case(&p));
        }
        out.push_str("\nFROM data;\n");
        out
    }

    fn condition(&self, split: &Split) -> String {
        let column = format!("\"{}\"", self.column(split).replace('"', "\"\""));
        match split.test {
            Test::AtMost { theta, missing: false } => format!("{column} <= {theta:?}"),
            Test::AtMost { theta, missing: true } => {
                format!("({column} <= {theta:?} OR {column} IS NULL)")
            }
            Test::Is { code } => format!("{column} = {}", text(self.name(split, code))),
            Test::Known => format!("{column} IS NOT NULL"),
        }
    }

    /// One line per leaf, left before right. Only the tests that are passed on the way to a leaf need to be written: a row that should have failed one of
    /// the others has been answered by an earlier line. So nothing is nested, and nothing is negated, which `NULL` would not survive.
    fn case(&self, answer: &dyn Fn(usize) -> String) -> String {
        let mut out = String::from("  CASE");
        let mut open = vec![(0, Vec::<String>::new())];
        while let Some((node, passed)) = open.pop() {
            let _ = match &self.tree.nodes()[node].branch {
                Some(branch) => {
                    let mut yes = passed.clone();
                    yes.push(self.condition(&branch.split));
                    open.push((branch.right, passed));
                    open.push((branch.left, yes));
                    Ok(())
                }
                None if passed.is_empty() => write!(out, "\n    ELSE {}", answer(node)),
                None => write!(out, "\n    WHEN {} THEN {}", passed.join(" AND "), answer(node)),
            };
        }
        // A tree without a test is its only answer.
        match out.strip_prefix("  CASE\n    ELSE ") {
            Some(only) => format!("  {only}"),
            None => out + "\n  END",
        }
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
        let mut out = String::from("digraph tree {\n  node [shape=box];\n");
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

/// A text of SQL.
fn text(value: &str) -> String {
    format!("'{}'", value.replace('\'', "''"))
}

/// A text that stays on its line.
fn line(value: &str) -> String {
    value.replace(['\n', '\r'], " ")
}
