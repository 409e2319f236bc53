//! # A booster in words
//! Features as sentences; the whole as SQL, JSON and Graphviz.
//!
//! **SQL** one expression per score, a sum of `CASE WHEN … THEN α ELSE -α END`, and the class of the largest. A missing value is `NULL`; comparisons with it are not true, as for a rule. Names are compared as
//! texts, numbers as numbers: both are columns of the table under the names of the training data.
//! **Graphviz** one box per feature, with an arrow to what it speaks for; small trees with their tests.

use std::fmt::Write as _;

use geowalk::boost::columns::Plain;
use geowalk::boost::multiclass::{ASKED, Reduction};
use geowalk::boost::rule::{Asks, Literal, Rule};
use geowalk::boost::split::{Split, Test};
use geowalk::boost::stumps::{Vote, Votes};
use geowalk::boost::weak::Hypothesis;
use serde_json::{Value, json};

use super::{Boosted, Member};
use crate::table::Heading;

/// The names of columns and of their values.
#[derive(Debug, Clone)]
pub struct Names {
    headings: Vec<Heading>,
}

impl Names {
    /// The names of a booster, whose table had these headings.
    pub fn new(mut headings: Vec<Heading>, boosted: &Boosted) -> Self {
        headings.truncate(boosted.columns);
        if boosted.reduction == Reduction::Mh && boosted.classes.len() > 2 {
            let names = Some(boosted.classes.clone());
            headings.push(Heading { name: ASKED.to_owned(), names, gaps: false });
        }
        Self { headings }
    }

    fn column(&self, column: usize) -> &str {
        self.headings.get(column).map_or("?", |heading| heading.name.as_str())
    }

    fn value(&self, column: usize, code: u32) -> &str {
        let names = self.headings.get(column).and_then(|heading| heading.names.as_ref());
        names.and_then(|names| names.get(code as usize)).map_or("?", String::as_str)
    }

    fn says(&self, column: usize, code: u32, is: bool) -> String {
        self.headings.get(column).map_or_else(|| "?".to_owned(), |heading| heading.says(code, is))
    }

    /// Is this the column that says which class is asked about?
    fn is_asked(&self, column: usize) -> bool {
        self.column(column) == ASKED && column + 1 == self.headings.len()
    }

    fn literal(&self, Literal { column, asks }: &Literal) -> String {
        let x = self.column(*column);
        match *asks {
            Asks::Truth(true) => x.to_owned(),
            Asks::Truth(false) => format!("not {x}"),
            Asks::Is(code) => self.says(*column, code, true),
            Asks::Not(code) => self.says(*column, code, false),
            Asks::AtMost(theta) => format!("{x} ≤ {theta}"),
            Asks::Above(theta) => format!("{x} > {theta}"),
            Asks::Missing => format!("{x} is missing"),
        }
    }

    fn test(&self, split: &Split) -> String {
        let x = self.column(split.column);
        match split.test {
            Test::AtMost { theta, missing: false } => format!("{x} ≤ {theta}"),
            Test::AtMost { theta, missing: true } => format!("{x} ≤ {theta} or missing"),
            Test::Is { code } => self.says(split.column, code, true),
            Test::Known => format!("{x} is known"),
        }
    }

    /// When a feature is +1, in words.
    pub fn condition(&self, hypothesis: &Hypothesis) -> String {
        match hypothesis {
            Hypothesis::Rule(rule) if rule.literals.is_empty() => "always".to_owned(),
            Hypothesis::Rule(rule) => {
                let parts: Vec<String> = rule.literals.iter().map(|l| self.literal(l)).collect();
                parts.join(" and ")
            }
            Hypothesis::Stump(split) => self.test(split),
            Hypothesis::Tree(votes) => self.nested(votes, 0),
            Hypothesis::Plain(Plain::Constant) => "always".to_owned(),
            Hypothesis::Plain(Plain::Value(column)) => format!("value of {}", self.column(*column)),
            Hypothesis::Plain(Plain::Name(column, code)) => self.says(*column, *code, true),
            _ => "?".to_owned(),
        }
    }

    fn nested(&self, votes: &Votes, at: usize) -> String {
        match votes.nodes().get(at) {
            Some(Vote::Ask(split, left, right)) => format!(
                "({} ? {} : {})",
                self.test(split),
                self.nested(votes, *left),
                self.nested(votes, *right)
            ),
            Some(Vote::Say(vote)) => if *vote > 0.0 { "+" } else { "−" }.to_owned(),
            None => "?".to_owned(),
        }
    }

    /// A feature and its leverage as a sentence that speaks for `positive` or `negative`.
    pub fn sentence(
        &self,
        hypothesis: &Hypothesis,
        alpha: f64,
        positive: &str,
        negative: &str,
    ) -> String {
        let (yes, no) = if alpha >= 0.0 { (positive, negative) } else { (negative, positive) };
        let size = loud(alpha);
        let condition = self.condition(hypothesis);
        match hypothesis {
            Hypothesis::Plain(Plain::Value(_)) => {
                format!("{size} × {condition} for {yes}")
            }
            Hypothesis::Tree(_) => {
                format!("{size} for {yes} where + and {no} where −: {condition}")
            }
            _ if condition == "always" => format!("{size} for {yes}, always"),
            Hypothesis::Rule(Rule { abstains: true, .. }) => format!(
                "{size} if {condition} then {yes}, else {no}; nothing where a value is missing"
            ),
            _ => format!("{size} if {condition} then {yes}, else {no}"),
        }
    }
}

/// The size of a leverage, for people: four digits after the point, or four digits where those would hide it or would be a long row.
fn loud(alpha: f64) -> String {
    let size = alpha.abs();
    if size == 0.0 || (1e-3..1e9).contains(&size) {
        format!("{size:.4}")
    } else {
        format!("{size:.3e}")
    }
}

/// The names that a member speaks for and against.
fn sides(boosted: &Boosted, member: usize) -> (String, String) {
    if boosted.classes.len() == 2 {
        return (boosted.classes[1].clone(), boosted.classes[0].clone());
    }
    if boosted.reduction == Reduction::Mh {
        return ("this class".to_owned(), "another class".to_owned());
    }
    let name = boosted.classes.get(member).cloned().unwrap_or_default();
    let not = format!("not {name}");
    (name, not)
}

/// A feature that speaks.
#[derive(Debug, Clone, PartialEq)]
pub struct Spoken {
    /// Its number among the features of its member.
    pub feature: usize,
    /// Its leverage.
    pub alpha: f64,
    /// What it says.
    pub sentence: String,
}

/// All features that have a leverage, member by member, each with the name of what it speaks for.
pub fn spoken(boosted: &Boosted, names: &Names) -> Vec<(String, Vec<Spoken>)> {
    let members = boosted.members.iter().enumerate();
    members
        .map(|(k, Member { hypotheses, alpha, .. })| {
            let (yes, no) = sides(boosted, k);
            let own =
                hypotheses.iter().zip(alpha).enumerate().filter(|(_, (_, alpha))| **alpha != 0.0);
            let speak = |(feature, (hypothesis, &alpha))| {
                let sentence = names.sentence(hypothesis, alpha, &yes, &no);
                Spoken { feature, alpha, sentence }
            };
            let all: Vec<Spoken> = own.map(speak).collect();
            (yes.clone(), all)
        })
        .collect()
}

/// All features as sentences, member by member.
pub fn sentences(boosted: &Boosted, names: &Names) -> Vec<(String, Vec<String>)> {
    let bare = |all: Vec<Spoken>| all.into_iter().map(|own| own.sentence).collect();
    spoken(boosted, names).into_iter().map(|(name, all)| (name, bare(all))).collect()
}

/// The booster as a JSON object.
pub fn to_json(boosted: &Boosted, names: &Names) -> Value {
    let split = |split: &Split| {
        let column = names.column(split.column);
        match split.test {
            Test::AtMost { theta, missing } => {
                json!({"column": column, "test": "<=", "value": theta, "missing": missing})
            }
            Test::Is { code } => {
                json!({"column": column, "test": "=", "value": names.value(split.column, code)})
            }
            Test::Known => json!({"column": column, "test": "known"}),
        }
    };
    let literal = |l: &Literal| {
        let column = names.column(l.column);
        match l.asks {
            Asks::Truth(truth) => json!({"column": column, "test": "=", "value": truth}),
            Asks::Is(code) => {
                json!({"column": column, "test": "=", "value": names.value(l.column, code)})
            }
            Asks::Not(code) => {
                json!({"column": column, "test": "!=", "value": names.value(l.column, code)})
            }
            Asks::AtMost(theta) => json!({"column": column, "test": "<=", "value": theta}),
            Asks::Above(theta) => json!({"column": column, "test": ">", "value": theta}),
            Asks::Missing => json!({"column": column, "test": "missing"}),
        }
    };
    let feature = |hypothesis: &Hypothesis| match hypothesis {
        Hypothesis::Rule(rule) => json!({
            "rule": rule.literals.iter().map(literal).collect::<Vec<_>>(),
            "abstains": rule.abstains,
        }),
        Hypothesis::Stump(own) => json!({ "stump": split(own) }),
        Hypothesis::Tree(votes) => {
            let node = |node: &Vote| match node {
                Vote::Ask(own, left, right) => {
                    json!({"test": split(own), "yes": left, "no": right})
                }
                Vote::Say(vote) => json!({ "vote": vote }),
            };
            json!({ "tree": votes.nodes().iter().map(node).collect::<Vec<_>>() })
        }
        Hypothesis::Plain(Plain::Constant) => json!({"column": Value::Null}),
        Hypothesis::Plain(Plain::Value(column)) => json!({"column": names.column(*column)}),
        Hypothesis::Plain(Plain::Name(column, code)) => {
            json!({"column": names.column(*column), "value": names.value(*column, *code)})
        }
        _ => Value::Null,
    };
    let member = |(k, member): (usize, &Member)| {
        let features: Vec<Value> = member
            .hypotheses
            .iter()
            .zip(&member.alpha)
            .map(|(hypothesis, alpha)| {
                let (yes, no) = sides(boosted, k);
                let words = names.sentence(hypothesis, *alpha, &yes, &no);
                json!({"leverage": alpha, "feature": feature(hypothesis), "words": words})
            })
            .collect();
        json!({"for": sides(boosted, k).0, "loss": member.loss.spec(), "features": features})
    };
    let members: Vec<Value> = boosted.members.iter().enumerate().map(member).collect();
    json!({"classes": boosted.classes, "reduction": boosted.reduction.name(), "members": members})
}

/// A quoted identifier.
fn identifier(name: &str) -> String {
    format!("\"{}\"", name.replace('"', "\"\""))
}

/// A quoted text.
fn text(value: &str) -> String {
    format!("'{}'", value.replace('\'', "''"))
}

/// A number that SQL reads back to the same bits.
fn number(x: f64) -> String {
    if x == 0.0 || (1e-5..1e16).contains(&x.abs()) { format!("{x}") } else { format!("{x:e}") }
}

/// A condition: known beforehand where it asks for the class.
enum Sql {
    Known(bool),
    Text(String),
}

impl Names {
    fn sql_literal(&self, l: &Literal, class: usize) -> Sql {
        if self.is_asked(l.column) {
            return Sql::Known(match l.asks {
                Asks::Is(code) => code as usize == class,
                Asks::Not(code) => code as usize != class,
                _ => false,
            });
        }
        let x = identifier(self.column(l.column));
        Sql::Text(match l.asks {
            Asks::Truth(true) => x,
            Asks::Truth(false) => format!("NOT {x}"),
            Asks::Is(code) => format!("{x} = {}", text(self.value(l.column, code))),
            Asks::Not(code) => format!("{x} <> {}", text(self.value(l.column, code))),
            Asks::AtMost(theta) => format!("{x} <= {}", number(theta)),
            Asks::Above(theta) => format!("{x} > {}", number(theta)),
            Asks::Missing => format!("{x} IS NULL"),
        })
    }

    fn sql_split(&self, split: &Split, class: usize) -> Sql {
        if self.is_asked(split.column) {
            return Sql::Known(match split.test {
                Test::Is { code } => code as usize == class,
                Test::Known => true,
                Test::AtMost { .. } => false,
            });
        }
        let x = identifier(self.column(split.column));
        Sql::Text(match split.test {
            Test::AtMost { theta, missing: false } => format!("{x} <= {}", number(theta)),
            Test::AtMost { theta, missing: true } => {
                format!("({x} <= {} OR {x} IS NULL)", number(theta))
            }
            Test::Is { code } => format!("{x} = {}", text(self.value(split.column, code))),
            Test::Known => format!("{x} IS NOT NULL"),
        })
    }

    /// α·h for the score of a class.
    fn sql_term(&self, hypothesis: &Hypothesis, alpha: f64, class: usize) -> String {
        let case = |condition: Sql| match condition {
            Sql::Known(true) => number(alpha),
            Sql::Known(false) => number(-alpha),
            Sql::Text(condition) => {
                format!("CASE WHEN {condition} THEN {} ELSE {} END", number(alpha), number(-alpha))
            }
        };
        match hypothesis {
            Hypothesis::Rule(rule) => {
                let (mut parts, mut unknown) = (Vec::new(), Vec::new());
                for l in &rule.literals {
                    if rule.abstains && l.asks != Asks::Missing && !self.is_asked(l.column) {
                        unknown.push(format!("{} IS NULL", identifier(self.column(l.column))));
                    }
                    match self.sql_literal(l, class) {
                        Sql::Known(true) => {}
                        Sql::Known(false) => parts.push("1 = 0".to_owned()),
                        Sql::Text(condition) => parts.push(condition),
                    }
                }
                if unknown.is_empty() {
                    let never = parts.iter().any(|part| part == "1 = 0");
                    return case(match (parts.is_empty(), never) {
                        (true, _) => Sql::Known(true),
                        (_, true) => Sql::Known(false),
                        _ => Sql::Text(parts.join(" AND ")),
                    });
                }
                if parts.is_empty() {
                    parts.push("1 = 1".to_owned());
                }
                format!(
                    "CASE WHEN {} THEN 0 WHEN {} THEN {} ELSE {} END",
                    unknown.join(" OR "),
                    parts.join(" AND "),
                    number(alpha),
                    number(-alpha)
                )
            }
            Hypothesis::Stump(split) => case(self.sql_split(split, class)),
            Hypothesis::Tree(votes) => self.sql_tree(votes, 0, alpha, class),
            Hypothesis::Plain(Plain::Value(column)) => {
                format!("{} * COALESCE({}, 0)", number(alpha), identifier(self.column(*column)))
            }
            Hypothesis::Plain(Plain::Name(column, code)) if !self.is_asked(*column) => {
                let x = identifier(self.column(*column));
                let value = text(self.value(*column, *code));
                let (yes, no) = (number(alpha), number(-alpha));
                format!("CASE WHEN {x} IS NULL THEN 0 WHEN {x} = {value} THEN {yes} ELSE {no} END")
            }
            Hypothesis::Plain(Plain::Name(_, code)) => case(Sql::Known(*code as usize == class)),
            _ => number(alpha),
        }
    }

    fn sql_tree(&self, votes: &Votes, at: usize, alpha: f64, class: usize) -> String {
        match votes.nodes().get(at) {
            Some(Vote::Ask(split, left, right)) => {
                let left = self.sql_tree(votes, *left, alpha, class);
                let right = self.sql_tree(votes, *right, alpha, class);
                match self.sql_split(split, class) {
                    Sql::Known(true) => left,
                    Sql::Known(false) => right,
                    Sql::Text(condition) => {
                        format!("CASE WHEN {condition} THEN {left} ELSE {right} END")
                    }
                }
            }
            Some(Vote::Say(vote)) => number(alpha * vote),
            None => "0".to_owned(),
        }
    }
}

/// The booster as a query over a table called `data`; the reason if there is none.
pub fn to_sql(boosted: &Boosted, names: &Names) -> Result<String, String> {
    let k = boosted.classes.len();
    let losses: std::collections::BTreeSet<String> =
        boosted.members.iter().map(|member| member.loss.spec()).collect();
    if losses.len() > 1 {
        return Err(format!(
            "the classes use different losses ({}), whose scores cannot be compared in SQL; boost with one loss",
            losses.into_iter().collect::<Vec<_>>().join(", ")
        ));
    }
    let score = |class: usize| {
        let member = boosted.members.get(class).or(boosted.members.first());
        let terms: Vec<String> = member.map_or(Vec::new(), |member| {
            let pairs = member.hypotheses.iter().zip(&member.alpha);
            let pairs = pairs.filter(|(_, alpha)| **alpha != 0.0);
            pairs.map(|(h, alpha)| names.sql_term(h, *alpha, class)).collect()
        });
        if terms.is_empty() { "0".to_owned() } else { terms.join("\n    + ") }
    };
    if k == 2 {
        return Ok(format!(
            "SELECT *, CASE WHEN score >= 0 THEN {} ELSE {} END AS prediction\nFROM (\n  SELECT *,\n    {} AS score\n  FROM data\n) AS scored;",
            text(&boosted.classes[1]),
            text(&boosted.classes[0]),
            score(0)
        ));
    }
    let mut cases = String::new();
    for class in 0..k.saturating_sub(1) {
        let others: Vec<String> = (0..k)
            .filter(|other| *other != class)
            .map(|other| format!("score_{class} >= score_{other}"))
            .collect();
        // Writing to a string cannot fail.
        let _ =
            write!(cases, " WHEN {} THEN {}", others.join(" AND "), text(&boosted.classes[class]));
    }
    let last = boosted.classes.last().map(String::as_str).unwrap_or_default();
    let scores: Vec<String> = (0..k).map(|k| format!("{} AS score_{k}", score(k))).collect();
    Ok(format!(
        "SELECT *, CASE{cases} ELSE {} END AS prediction\nFROM (\n  SELECT *,\n    {}\n  FROM data\n) AS scored;",
        text(last),
        scores.join(",\n    ")
    ))
}

/// A label of Graphviz.
fn label(text: &str) -> String {
    text.replace('\\', "\\\\").replace('"', "\\\"")
}

/// The booster as a graph.
pub fn to_dot(boosted: &Boosted, names: &Names) -> String {
    let mut out = String::from("digraph boost {\n  rankdir=LR;\n  node [shape=box];\n");
    for (k, member) in boosted.members.iter().enumerate() {
        let (yes, no) = sides(boosted, k);
        let _ = writeln!(out, "  yes{k} [label=\"{}\", shape=oval];", label(&yes));
        let _ = writeln!(out, "  no{k} [label=\"{}\", shape=oval];", label(&no));
        for (t, (hypothesis, &alpha)) in member.hypotheses.iter().zip(&member.alpha).enumerate() {
            if alpha == 0.0 {
                continue;
            }
            let size = loud(alpha);
            let (up, down) = if alpha > 0.0 { ("yes", "no") } else { ("no", "yes") };
            if let Hypothesis::Tree(votes) = hypothesis {
                for (at, node) in votes.nodes().iter().enumerate() {
                    let own = format!("f{k}_{t}_{at}");
                    let _ = match node {
                        Vote::Ask(split, left, right) => writeln!(
                            out,
                            "  {own} [label=\"{}\"];\n  {own} -> f{k}_{t}_{left} [label=\"yes\"];\n  {own} -> f{k}_{t}_{right} [label=\"no\"];",
                            label(&names.test(split))
                        ),
                        Vote::Say(vote) => writeln!(
                            out,
                            "  {own} [label=\"{size}\"];\n  {own} -> {}{k};",
                            if *vote > 0.0 { up } else { down }
                        ),
                    };
                }
                continue;
            }
            let condition = label(&names.condition(hypothesis));
            let _ = writeln!(out, "  f{k}_{t} [label=\"{condition}\"];");
            let _ = writeln!(out, "  f{k}_{t} -> {up}{k} [label=\"{size}\"];");
            if condition != "always" && !matches!(hypothesis, Hypothesis::Plain(Plain::Value(_))) {
                let _ = writeln!(out, "  f{k}_{t} -> {down}{k} [label=\"{size}\", style=dashed];");
            }
        }
    }
    out.push_str("}\n");
    out
}
