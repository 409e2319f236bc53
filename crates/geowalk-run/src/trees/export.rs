//! # Boosted trees in words
//! As text for people, as a query, as JSON, as a drawing; and why a row has its prediction.

use std::fmt::Write;

use geowalk::Real;
use geowalk::boost::Surrogate;
use geowalk::boost::table::Table;
use geowalk::boost::trees::{Ask, Branch, NumberLoss, ScoreTree, Shape, TreeLoss, TreeNode};
use geowalk_data::visible;
use serde_json::{Value, json};

use super::{BoostedTrees, Predicted};
use crate::boost::words::threshold;
use crate::error::RunError;
use crate::learned::Form;
use crate::model::Model;
use crate::sql::{self, Inputs, Output, Target};
use crate::table::{self, Heading, Origin};

/// Columns that an explanation names.
const REASONS: usize = 3;

/// Trees with the names of their columns and classes.
#[derive(Debug, Clone)]
pub struct Shown {
    pub(super) trees: BoostedTrees,
    columns: Vec<Heading>,
}

impl Shown {
    /// The trees of a model; a user's loss, which no name tells, comes with it.
    pub fn of(model: &Model, custom: Option<&Surrogate>) -> Result<Self, RunError> {
        let trees = BoostedTrees::of(model, custom)?;
        let columns = table::headings(&model.schema, trees.model.columns);
        Ok(Self { trees, columns })
    }

    /// The same with other names of its columns.
    #[must_use]
    pub fn with_columns(self, columns: Vec<Heading>) -> Self {
        Self { columns, ..self }
    }

    /// The trees.
    pub fn trees(&self) -> &BoostedTrees {
        &self.trees
    }

    /// Writes the trees; why that cannot be, where it cannot.
    pub fn write(&self, form: Form, target: &Target) -> Result<String, String> {
        Ok(match form {
            Form::Text => self.text(),
            Form::Sql => self.sql(target)?,
            Form::Json => format!("{}\n", self.json()),
            Form::Dot => self.dot(),
        })
    }

    /// The names of the columns of the data that are asked.
    pub(crate) fn used_columns(&self) -> Vec<String> {
        let used = self.trees.model.used();
        let headings = used.iter().filter_map(|at| self.columns.get(*at));
        let source = |heading: &Heading| match &heading.origin {
            Origin::Word { column, .. } | Origin::Date { column } => column.clone(),
            Origin::Cell | Origin::Entry => heading.name.clone(),
        };
        headings.map(source).collect()
    }

    pub(super) fn column(&self, at: usize) -> &str {
        self.columns.get(at).map_or("?", |column| column.name.as_str())
    }

    /// Were values of it missing in training?
    pub(super) fn has_gaps(&self, at: usize) -> bool {
        self.columns.get(at).is_some_and(|column| column.gaps)
    }

    pub(super) fn name(&self, column: usize, code: u32) -> &str {
        let names = self.columns.get(column).and_then(|column| column.names.as_ref());
        names.and_then(|names| names.get(code as usize)).map_or("?", String::as_str)
    }

    /// A question whose answer yes goes left.
    fn sentence(&self, branch: &Branch) -> String {
        let column = self.column(branch.column);
        match &branch.ask {
            Ask::AtMost { theta, missing } if *theta == f64::MAX => {
                format!("{column} is {}", if *missing { "anything" } else { "known" })
            }
            Ask::AtMost { theta, missing } => {
                let missing = if *missing { " or missing" } else { "" };
                format!("{column} <= {}{missing}", threshold(*theta))
            }
            Ask::Among { names, left } => {
                let names: Vec<&str> =
                    names.iter().map(|code| self.name(branch.column, *code)).collect();
                let is = if *left { "is" } else { "is not" };
                format!("{column} {is} {}", names.join(" or "))
            }
        }
    }

    /// The class that a tree adds to, if it is one of several.
    fn heading(&self, tree: &ScoreTree) -> String {
        match self.trees.classes.as_slice() {
            [] => String::new(),
            [_, yes] => format!(" (score of {yes})"),
            many => format!(" (score of {})", many.get(tree.output).map_or("?", String::as_str)),
        }
    }

    /// All trees, one after the other.
    pub fn text(&self) -> String {
        let model = &self.trees.model;
        let mut out = String::new();
        let start: Vec<String> = model.start.iter().map(|x| format!("{x:.4}")).collect();
        // Writing to a string cannot fail.
        let _ = writeln!(
            out,
            "scores start at {}; {}",
            start.join(", "),
            match self.trees.shape {
                Shape::Trees => "each tree adds the value of one leaf",
                Shape::Rules => "each rule adds its value where it is true",
            }
        );
        let _ = match &model.loss {
            TreeLoss::Margin(_) => {
                writeln!(
                    out,
                    "log-odds are {:.4} t(score), t is that of {}",
                    model.scale,
                    model.loss.spec()
                )
            }
            TreeLoss::Softmax(_) => {
                writeln!(out, "probabilities are softmax({:.4} scores)", model.scale)
            }
            TreeLoss::Number(NumberLoss::Poisson) => writeln!(out, "the prediction is e^score"),
            TreeLoss::Number(_) => writeln!(out, "the prediction is the score"),
        };
        let _ = writeln!(out, "missing, rare and new names are none of those that are listed");
        if self.trees.shape == Shape::Rules {
            out.push('\n');
            return out + &self.rules_text();
        }
        for (number, tree) in model.trees.iter().enumerate() {
            let _ = writeln!(out, "\ntree {}{}", number + 1, visible(&self.heading(tree)));
            let mut open = vec![(0, String::new(), String::new())];
            while let Some((node, first, rest)) = open.pop() {
                let TreeNode { branch, value, rows, .. } = &tree.nodes[node];
                if let Some(branch) = branch {
                    let _ = writeln!(out, "{first}{}", visible(&self.sentence(branch)));
                    open.push((branch.right, format!("{rest}└─ no:  "), format!("{rest}   ")));
                    open.push((branch.left, format!("{rest}├─ yes: "), format!("{rest}│  ")));
                } else {
                    let _ = writeln!(out, "{first}{value:+.4} ({} rows)", threshold(*rows));
                }
            }
        }
        out
    }

    fn json(&self) -> Value {
        let model = &self.trees.model;
        let node = |(at, own): (usize, &TreeNode)| {
            let Some(Branch { column, ask, left, right, gain }) = &own.branch else {
                return json!({"node": at, "value": own.value, "rows": own.rows});
            };
            let mut test = match ask {
                Ask::AtMost { theta, .. } if *theta == f64::MAX => json!({"known": true}),
                Ask::AtMost { theta, missing } => {
                    json!({"at_most": theta, "missing": if *missing { "yes" } else { "no" }})
                }
                Ask::Among { names, left } => {
                    let names: Vec<&str> = names.iter().map(|n| self.name(*column, *n)).collect();
                    if *left { json!({"among": names}) } else { json!({"not_among": names}) }
                }
            };
            test["column"] = self.column(*column).into();
            json!({"node": at, "test": test, "yes": left, "no": right, "gain": gain})
        };
        let tree = |own: &ScoreTree| {
            let nodes: Vec<Value> = own.nodes.iter().enumerate().map(node).collect();
            json!({"output": own.output, "nodes": nodes})
        };
        let rules = (self.trees.shape == Shape::Rules).then(|| self.rules_json());
        json!({
            "rules": rules, "classes": self.trees.classes, "loss": model.loss.spec(), "start": model.start, "scale": model.scale,
            "rows": model.rows, "trees": model.trees.iter().map(tree).collect::<Vec<_>>(),
        })
    }

    fn dot(&self) -> String {
        let label = |text: &str| text.replace('\\', "\\\\").replace('"', "\\\"").replace('\n', " ");
        let mut out = "digraph trees {\n  node [shape=box];\n".to_owned();
        for (number, tree) in self.trees.model.trees.iter().enumerate() {
            let title = format!("tree {}{}", number + 1, self.heading(tree));
            let _ =
                writeln!(out, "  subgraph cluster_{number} {{\n    label=\"{}\";", label(&title));
            for (at, node) in tree.nodes.iter().enumerate() {
                let own = format!("n{number}_{at}");
                let _ = match &node.branch {
                    None => {
                        writeln!(out, "    {own} [label=\"{:+.4}\", style=rounded];", node.value)
                    }
                    Some(branch) => writeln!(
                        out,
                        "    {own} [label=\"{}\"];\n    {own} -> n{number}_{} [label=\"yes\"];\n    \
                         {own} -> n{number}_{} [label=\"no\"];",
                        label(&self.sentence(branch)),
                        branch.left,
                        branch.right
                    ),
                };
            }
            out.push_str("  }\n");
        }
        out.push_str("}\n");
        out
    }

    /// The trees as a query; the reason if there is none.
    pub fn sql(&self, target: &Target) -> Result<String, String> {
        let (dialect, model) = (target.dialect, &self.trees.model);
        let output = |name: &str, meaning: String| Output::new(name, meaning, &self.columns);
        let score = |at: usize| -> Result<(String, Inputs<'_>), String> {
            let mut inputs = Inputs::new(dialect, &self.columns);
            let mut terms = vec![dialect.number(model.start[at])];
            for tree in model.trees.iter().filter(|tree| tree.output == at) {
                terms.push(self.case(tree, &mut inputs)?);
            }
            Ok((sql::sum(&terms), inputs))
        };
        let (mut found, mut derived) = (Vec::new(), Vec::new());
        match self.trees.classes.as_slice() {
            [] => {
                let (sum, inputs) = score(0)?;
                let own = output("score", "the sum of the trees".to_owned());
                let z = own.found();
                let answer = if matches!(model.loss, TreeLoss::Number(NumberLoss::Poisson)) {
                    format!("EXP({z})")
                } else {
                    z
                };
                derived.push((output("prediction", "the predicted number".to_owned()), answer));
                found.push((own, sum, inputs));
            }
            [no, yes] => {
                let (sum, inputs) = score(0)?;
                let (no, yes) = (dialect.text(no), dialect.text(yes));
                let own = output("score", format!("the sum of the trees, at least 0 for {yes}"));
                let z = own.found();
                derived.push((
                    output("prediction", format!("{no} or {yes}")),
                    format!("CASE WHEN {z} >= 0 THEN {yes} WHEN {z} < 0 THEN {no} END"),
                ));
                // A link that is linear in the score; others would need functions that SQL lacks.
                let slope = model.loss.log_odds(1.0);
                if (model.loss.log_odds(3.0) - 3.0 * slope).abs() < 1e-12 {
                    let limit = dialect.number(Real::ln(2.0 * model.rows + 1.0));
                    let t = format!("{} * {z}", dialect.number(model.scale * slope));
                    let t = format!(
                        "CASE WHEN {t} > {limit} THEN {limit} WHEN {t} < -{limit} THEN -{limit} ELSE {t} END"
                    );
                    let one = dialect.number(1.0);
                    derived.push((
                        output("probability", format!("of {yes}")),
                        format!("{one} / ({one} + EXP(-({t})))"),
                    ));
                }
                found.push((own, sum, inputs));
            }
            classes => {
                for (at, class) in classes.iter().enumerate() {
                    let (sum, inputs) = score(at)?;
                    let meaning = format!("the sum of the trees of {}", dialect.text(class));
                    found.push((output(&format!("score_{}", at + 1), meaning), sum, inputs));
                }
                let scores: Vec<String> = found.iter().map(|(output, ..)| output.found()).collect();
                let others = |at: usize, f: &dyn Fn(&str) -> String, between: &str| {
                    let others = scores.iter().enumerate().filter(|(other, _)| *other != at);
                    others.map(|(_, other)| f(other)).collect::<Vec<_>>().join(between)
                };
                let largest = |answer: &dyn Fn(usize) -> String| {
                    let mut cases = format!("CASE WHEN {} IS NULL THEN NULL", scores.join(" + "));
                    for (at, score) in scores.iter().enumerate() {
                        let wins = |other: &str| format!("{score} >= {other}");
                        let wins = others(at, &wins, " AND ");
                        let _ = write!(cases, "\n    WHEN {wins} THEN {}", answer(at));
                    }
                    cases + " END"
                };
                derived.push((
                    output("prediction", "the class of the largest score".to_owned()),
                    largest(&|at| dialect.text(&classes[at])),
                ));
                let (mix, one) = (1.0 / (model.rows + 1.0), dialect.number(1.0));
                let scale = dialect.number(model.scale);
                let share = |at: usize| {
                    let term = |other: &str| format!("EXP({scale} * ({other} - {}))", scores[at]);
                    format!(
                        "{} / ({one} + {}) + {}",
                        dialect.number(1.0 - mix),
                        others(at, &term, " + "),
                        dialect.number(mix / classes.len() as f64)
                    )
                };
                derived.push((
                    output("probability", "of the predicted class".to_owned()),
                    largest(&share),
                ));
            }
        }
        let missing = "A missing value takes the branch that training chose.";
        Ok(sql::Query {
            target,
            title: if self.trees.shape == Shape::Rules { "Boosted rules" } else { "Boosted trees" },
            missing,
            found,
            derived,
        }
        .write())
    }

    /// The value of a tree: one line per leaf, left before right, so that nothing is nested or negated.
    fn case(&self, tree: &ScoreTree, inputs: &mut Inputs<'_>) -> Result<String, String> {
        let dialect = inputs.dialect();
        let value = |node: usize| dialect.number(tree.nodes[node].value);
        let mut out = String::from("CASE");
        let mut open = vec![(0, Vec::<String>::new())];
        while let Some((node, passed)) = open.pop() {
            let Some(branch) = &tree.nodes[node].branch else {
                let _ = match (passed.is_empty(), node) {
                    (true, 0) => return Ok(value(0)),
                    (true, _) => write!(out, " ELSE {} END", value(node)),
                    _ => write!(out, " WHEN {} THEN {}", passed.join(" AND "), value(node)),
                };
                continue;
            };
            let x = inputs.value(branch.column)?;
            let mut yes = passed.clone();
            yes.push(match &branch.ask {
                Ask::AtMost { theta, missing: false } if *theta == f64::MAX => {
                    format!("{x} IS NOT NULL")
                }
                Ask::AtMost { theta, missing: false } => {
                    format!("{x} <= {}", dialect.number(*theta))
                }
                Ask::AtMost { theta, missing: true } => {
                    format!("({x} <= {} OR {x} IS NULL)", dialect.number(*theta))
                }
                Ask::Among { names, left } => {
                    let names = names.iter().map(|n| dialect.text(self.name(branch.column, *n)));
                    let list = names.collect::<Vec<_>>().join(", ");
                    match (list.is_empty(), left) {
                        (true, true) => "1 = 0".to_owned(),
                        (true, false) => "1 = 1".to_owned(),
                        (_, true) => format!("{x} IN ({list})"),
                        (_, false) => format!("({x} NOT IN ({list}) OR {x} IS NULL)"),
                    }
                }
            });
            open.push((branch.right, passed));
            open.push((branch.left, yes));
        }
        Ok(out)
    }

    /// Why a row has its prediction: the columns whose questions moved its score most. Along the way to a
    /// leaf each question is credited with the change of the mean value, by training rows, of the leaves
    /// below.
    pub(crate) fn explain(&self, table: &Table, row: usize, found: &Predicted) -> String {
        if self.trees.shape == Shape::Rules {
            return self.explain_rules(table, row, found);
        }
        let class = match found {
            Predicted::Classes(found, _) => Some(found[row]),
            Predicted::Numbers(_) => None,
        };
        let two = self.trees.classes.len() == 2;
        let mut moved = vec![0.0; self.columns.len()];
        for tree in &self.trees.model.trees {
            if !two && class.is_some_and(|class| class != tree.output) {
                continue;
            }
            let means = means(tree);
            let mut at = 0;
            while let Some(branch) = &tree.nodes[at].branch {
                let left = branch.ask.left(&table.columns()[branch.column], row);
                let next = if left { branch.left } else { branch.right };
                moved[branch.column] += means[next] - means[at];
                at = next;
            }
        }
        let toward = if two && class == Some(0) { -1.0 } else { 1.0 };
        let mut order: Vec<usize> = (0..moved.len()).filter(|at| moved[*at] != 0.0).collect();
        order.sort_by(|a, b| moved[*b].abs().total_cmp(&moved[*a].abs()).then(a.cmp(b)));
        let parts: Vec<String> = order
            .iter()
            .take(REASONS)
            .map(|at| format!("{} {:+.3}", self.column(*at), toward * moved[*at]))
            .collect();
        let answer = match (class, found) {
            (Some(class), _) => self.trees.classes.get(class).cloned().unwrap_or_default(),
            (None, Predicted::Numbers(found)) => format!("{:.6}", found[row]),
            (None, Predicted::Classes(..)) => String::new(),
        };
        if parts.is_empty() {
            return format!("{answer} for all rows");
        }
        format!("{answer}; largest parts of its score: {}", parts.join(", "))
    }
}

/// The mean value of the leaves below each node, by their training rows.
fn means(tree: &ScoreTree) -> Vec<f64> {
    let mut sums: Vec<(f64, f64)> =
        tree.nodes.iter().map(|node| (node.value * node.rows, node.rows)).collect();
    for at in (0..tree.nodes.len()).rev() {
        if let Some(branch) = &tree.nodes[at].branch {
            let (left, right) = (sums[branch.left], sums[branch.right]);
            sums[at] = (left.0 + right.0, left.1 + right.1);
        }
    }
    sums.into_iter().map(|(sum, rows)| if rows > 0.0 { sum / rows } else { 0.0 }).collect()
}
