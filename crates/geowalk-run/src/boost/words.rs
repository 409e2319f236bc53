//! # A booster in words
//! Features as sentences; the whole as SQL, JSON and Graphviz.
//!
//! **SQL** one expression per score, a sum of `CASE WHEN … THEN α ELSE -α END`, and the class of the largest;
//! see [`crate::sql`].
//! **Graphviz** one box per feature, with an arrow to what it speaks for; small trees with their tests.

use std::fmt::Write as _;

use geowalk::boost::Surrogate;
use geowalk::boost::columns::Plain;
use geowalk::boost::multiclass::{ASKED, Reduction};
use geowalk::boost::rule::{Asks, Literal, Rule};
use geowalk::boost::split::{Split, Test};
use geowalk::boost::stumps::{Vote, Votes};
use geowalk::boost::weak::Hypothesis;
use geowalk::loss::AnyLoss;
use geowalk::loss::permissible::AnyPermissible;
use serde_json::{Value, json};

use super::support::Support;
use super::{Boosted, Member};
use crate::sql::{self, Dialect, Inputs, Output, Target};
use crate::table::{Heading, Origin};

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
            headings.push(Heading {
                name: ASKED.to_owned(),
                names,
                gaps: false,
                origin: Origin::Cell,
                missing: Vec::new(),
            });
        }
        Self { headings }
    }

    /// The name of a column.
    pub fn column(&self, column: usize) -> &str {
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

    pub(super) fn literal(&self, Literal { column, asks }: &Literal) -> String {
        let x = self.column(*column);
        match *asks {
            Asks::Truth(true) => x.to_owned(),
            Asks::Truth(false) => format!("not {x}"),
            Asks::Is(code) => self.says(*column, code, true),
            Asks::Not(code) => self.says(*column, code, false),
            Asks::AtMost(theta) => format!("{x} ≤ {}", threshold(theta)),
            Asks::Above(theta) => format!("{x} > {}", threshold(theta)),
            Asks::Missing => format!("{x} is missing"),
        }
    }

    fn test(&self, split: &Split) -> String {
        let x = self.column(split.column);
        match split.test {
            Test::AtMost { theta, missing } => {
                let missing = if missing { " or missing" } else { "" };
                format!("{x} ≤ {}{missing}", threshold(theta))
            }
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

/// A threshold for people: six digits.
pub(crate) fn threshold(theta: f64) -> String {
    if theta == 0.0 || (1e-4..1e6).contains(&theta.abs()) {
        let digits = format!("{theta:.5e}").parse::<f64>();
        return digits.unwrap_or(theta).to_string();
    }
    // Whole numbers below this are exact.
    if theta.fract() == 0.0 && theta.abs() < 1e15 {
        theta.to_string()
    } else {
        format!("{theta:.5e}")
    }
}

/// Where missing values go, for the features of a booster.
pub fn about_missing(boosted: &Boosted) -> &'static str {
    let of = |wanted: fn(&Hypothesis) -> bool| {
        boosted.members.iter().flat_map(|member| &member.hypotheses).any(wanted)
    };
    if of(|h| matches!(h, Hypothesis::Rule(rule) if rule.abstains)) {
        "a rule has no vote where a value that it asks for is missing"
    } else if of(|h| matches!(h, Hypothesis::Plain(_))) {
        "a missing value counts 0"
    } else if of(|h| matches!(h, Hypothesis::Tree(_))) {
        "a missing value takes the second branch, unless the test says 'or missing'"
    } else {
        "where a value is missing, the rule votes for its 'else', unless it says 'missing'"
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
    /// When it is true.
    pub condition: String,
    /// What it speaks for where it is true.
    pub votes_for: String,
    /// What it says.
    pub sentence: String,
    /// The training rows of which it is true, if that is known.
    pub support: Option<Support>,
}

/// All features that have a leverage, member by member, each with the name of what it speaks for.
pub fn spoken(
    boosted: &Boosted,
    names: &Names,
    supports: &[Vec<Support>],
) -> Vec<(String, Vec<Spoken>)> {
    let members = boosted.members.iter().enumerate();
    members
        .map(|(k, Member { hypotheses, alpha, .. })| {
            let (yes, no) = sides(boosted, k);
            let own =
                hypotheses.iter().zip(alpha).enumerate().filter(|(_, (_, alpha))| **alpha != 0.0);
            let speak = |(feature, (hypothesis, &alpha))| Spoken {
                feature,
                alpha,
                condition: names.condition(hypothesis),
                votes_for: if alpha >= 0.0 { &yes } else { &no }.clone(),
                sentence: names.sentence(hypothesis, alpha, &yes, &no),
                support: support(supports, k, feature),
            };
            let all: Vec<Spoken> = own.map(speak).collect();
            (yes.clone(), all)
        })
        .collect()
}

fn support(supports: &[Vec<Support>], member: usize, feature: usize) -> Option<Support> {
    supports.get(member).and_then(|own| own.get(feature)).copied()
}

/// All features as sentences, member by member.
pub fn sentences(boosted: &Boosted, names: &Names) -> Vec<(String, Vec<String>)> {
    let bare = |all: Vec<Spoken>| all.into_iter().map(|own| own.sentence).collect();
    spoken(boosted, names, &[]).into_iter().map(|(name, all)| (name, bare(all))).collect()
}

/// The booster as a JSON object.
pub fn to_json(boosted: &Boosted, names: &Names, supports: &[Vec<Support>]) -> Value {
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
            .enumerate()
            .map(|(at, (hypothesis, alpha))| {
                let (yes, no) = sides(boosted, k);
                let words = names.sentence(hypothesis, *alpha, &yes, &no);
                let own = support(supports, k, at);
                json!({"leverage": alpha, "feature": feature(hypothesis), "words": words,
                    "condition": names.condition(hypothesis),
                    "votes_for": if *alpha >= 0.0 { yes } else { no },
                    "rows": own.map(|own| own.rows), "share": own.and_then(|own| own.share)})
            })
            .collect();
        json!({"for": sides(boosted, k).0, "loss": member.loss.spec(), "features": features})
    };
    let members: Vec<Value> = boosted.members.iter().enumerate().map(member).collect();
    json!({"classes": boosted.classes, "reduction": boosted.reduction.name(), "members": members})
}

/// A condition. One that asks for the class is true or false for all rows.
enum Condition {
    Constant(bool),
    Text(String),
}

impl Names {
    fn sql_literal(
        &self,
        l: &Literal,
        class: usize,
        inputs: &mut Inputs<'_>,
    ) -> Result<Condition, String> {
        if self.is_asked(l.column) {
            return Ok(Condition::Constant(match l.asks {
                Asks::Is(code) => code as usize == class,
                Asks::Not(code) => code as usize != class,
                _ => false,
            }));
        }
        let (x, dialect) = (inputs.value(l.column)?, inputs.dialect());
        let name = |code| dialect.text(self.value(l.column, code));
        Ok(Condition::Text(match l.asks {
            Asks::Truth(_) => {
                return Err(format!("column '{}' holds truth values", self.column(l.column)));
            }
            Asks::Is(code) => format!("{x} = {}", name(code)),
            Asks::Not(code) => format!("{x} <> {}", name(code)),
            Asks::AtMost(theta) => format!("{x} <= {}", dialect.number(theta)),
            Asks::Above(theta) => format!("{x} > {}", dialect.number(theta)),
            Asks::Missing => format!("{x} IS NULL"),
        }))
    }

    fn sql_split(
        &self,
        split: &Split,
        class: usize,
        inputs: &mut Inputs<'_>,
    ) -> Result<Condition, String> {
        if self.is_asked(split.column) {
            return Ok(Condition::Constant(match split.test {
                Test::Is { code } => code as usize == class,
                Test::Known => true,
                Test::AtMost { .. } => false,
            }));
        }
        let name = |code| self.value(split.column, code);
        Ok(Condition::Text(sql::split(split, &name, inputs)?))
    }

    /// α·h for the score of a class.
    fn sql_term(
        &self,
        hypothesis: &Hypothesis,
        alpha: f64,
        class: usize,
        inputs: &mut Inputs<'_>,
    ) -> Result<String, String> {
        let dialect = inputs.dialect();
        let (yes, no) = (dialect.number(alpha), dialect.number(-alpha));
        let case = |condition: Condition| match condition {
            Condition::Constant(true) => yes.clone(),
            Condition::Constant(false) => no.clone(),
            Condition::Text(condition) => format!("CASE WHEN {condition} THEN {yes} ELSE {no} END"),
        };
        Ok(match hypothesis {
            Hypothesis::Rule(rule) => {
                let (mut parts, mut unknown) = (Vec::new(), Vec::new());
                for l in &rule.literals {
                    if rule.abstains && l.asks != Asks::Missing && !self.is_asked(l.column) {
                        unknown.push(format!("{} IS NULL", inputs.value(l.column)?));
                    }
                    match self.sql_literal(l, class, inputs)? {
                        Condition::Constant(true) => {}
                        Condition::Constant(false) => parts.push("1 = 0".to_owned()),
                        Condition::Text(condition) => parts.push(condition),
                    }
                }
                if unknown.is_empty() {
                    let never = parts.iter().any(|part| part == "1 = 0");
                    return Ok(case(match (parts.is_empty(), never) {
                        (true, _) => Condition::Constant(true),
                        (_, true) => Condition::Constant(false),
                        _ => Condition::Text(parts.join(" AND ")),
                    }));
                }
                if parts.is_empty() {
                    parts.push("1 = 1".to_owned());
                }
                let (unknown, parts) = (unknown.join(" OR "), parts.join(" AND "));
                format!(
                    "CASE WHEN {unknown} THEN {} WHEN {parts} THEN {yes} ELSE {no} END",
                    dialect.number(0.0)
                )
            }
            Hypothesis::Stump(split) => case(self.sql_split(split, class, inputs)?),
            Hypothesis::Tree(votes) => self.sql_tree(votes, 0, alpha, class, inputs)?,
            Hypothesis::Plain(Plain::Value(column)) => {
                let x = inputs.value(*column)?;
                format!("{yes} * COALESCE({x}, {})", dialect.number(0.0))
            }
            Hypothesis::Plain(Plain::Name(column, code)) if !self.is_asked(*column) => {
                let (x, zero) = (inputs.value(*column)?, dialect.number(0.0));
                let value = dialect.text(self.value(*column, *code));
                format!(
                    "CASE WHEN {x} IS NULL THEN {zero} WHEN {x} = {value} THEN {yes} ELSE {no} END"
                )
            }
            Hypothesis::Plain(Plain::Name(_, code)) => {
                case(Condition::Constant(*code as usize == class))
            }
            _ => yes,
        })
    }

    fn sql_tree(
        &self,
        votes: &Votes,
        at: usize,
        alpha: f64,
        class: usize,
        inputs: &mut Inputs<'_>,
    ) -> Result<String, String> {
        Ok(match votes.nodes().get(at) {
            Some(Vote::Ask(split, left, right)) => {
                let condition = self.sql_split(split, class, inputs)?;
                let left = self.sql_tree(votes, *left, alpha, class, inputs)?;
                let right = self.sql_tree(votes, *right, alpha, class, inputs)?;
                match condition {
                    Condition::Constant(true) => left,
                    Condition::Constant(false) => right,
                    Condition::Text(condition) => {
                        format!("CASE WHEN {condition} THEN {left} ELSE {right} END")
                    }
                }
            }
            Some(Vote::Say(vote)) => inputs.dialect().number(alpha * vote),
            None => inputs.dialect().number(0.0),
        })
    }
}

/// The probability of the positive class at a score, where a formula of SQL gives it.
fn sql_probability(loss: &Surrogate, score: &str, dialect: Dialect) -> Option<String> {
    let n = |x: f64| dialect.number(x);
    let (zero, half, one) = (n(0.0), n(0.5), n(1.0));
    // Beyond 700 some databases report an overflow.
    let logistic = |factor: f64| {
        let z = format!("{} * {score}", n(factor));
        format!(
            "CASE WHEN {z} > {most} THEN {one} WHEN {z} < -{most} THEN {zero} \
             ELSE {one} / ({one} + EXP(-({z}))) END",
            most = n(700.0)
        )
    };
    let clipped = || {
        format!(
            "CASE WHEN {score} >= {one} THEN {one} WHEN {score} <= -{one} THEN {zero} \
             ELSE {half} + {half} * {score} END"
        )
    };
    // Of a score beyond 1e150 the square is not finite.
    let root = |c: f64| {
        let c2 = n(c * c);
        format!(
            "CASE WHEN {score} > {far} THEN {one} WHEN {score} < -{far} THEN {zero} \
             ELSE {half} + {half} * {score} / SQRT({c2} + {score} * {score}) END",
            far = n(1e150)
        )
    };
    match (loss.loss(), loss.permissible()) {
        _ if loss.is_exponential() => Some(logistic(2.0)),
        _ if loss.is_squared() => Some(clipped()),
        (AnyLoss::Logistic(_), _) | (_, Some(AnyPermissible::Entropy(_))) => Some(logistic(1.0)),
        (_, Some(AnyPermissible::Gini(_))) => Some(clipped()),
        (_, Some(AnyPermissible::Matsushita(_))) => Some(root(1.0)),
        (_, Some(AnyPermissible::Mu(mu))) => Some(root(1.0 - mu.mu())),
        _ => None,
    }
}

/// The booster as a query; the reason if there is none.
pub fn to_sql(boosted: &Boosted, names: &Names, target: &Target) -> Result<String, String> {
    let (k, dialect, headings) = (boosted.classes.len(), target.dialect, &names.headings);
    let losses: std::collections::BTreeSet<String> =
        boosted.members.iter().map(|member| member.loss.spec()).collect();
    if losses.len() > 1 {
        return Err(format!(
            "the classes use different losses ({}), whose scores cannot be compared in SQL; boost with one loss",
            losses.into_iter().collect::<Vec<_>>().join(", ")
        ));
    }
    let score = |class: usize| -> Result<(String, Inputs<'_>), String> {
        let mut inputs = Inputs::new(dialect, headings);
        let member = boosted.members.get(class).or(boosted.members.first());
        let pairs = member.into_iter().flat_map(|own| own.hypotheses.iter().zip(&own.alpha));
        let terms: Result<Vec<String>, String> = pairs
            .filter(|(_, alpha)| **alpha != 0.0)
            .map(|(h, alpha)| names.sql_term(h, *alpha, class, &mut inputs))
            .collect();
        let sum = sql::sum(&terms?);
        Ok((sum, inputs))
    };
    let text = |class: usize| dialect.text(&boosted.classes[class]);
    let output = |name: &str, meaning: String| Output::new(name, meaning, headings);
    let loss = boosted.members.first().map(|member| &member.loss);
    let probability = |score: &str| loss.and_then(|loss| sql_probability(loss, score, dialect));
    let (mut found, mut derived) = (Vec::new(), Vec::new());
    if k == 2 {
        let (sum, inputs) = score(0)?;
        let (yes, no) = (text(1), text(0));
        let own = output("score", format!("sum of the votes, at least 0 for {yes}"));
        let z = own.found();
        derived.push((
            output("prediction", format!("{no} or {yes}")),
            format!("CASE WHEN {z} >= 0 THEN {yes} WHEN {z} < 0 THEN {no} END"),
        ));
        if let Some(p) = probability(&z) {
            derived.push((output("probability", format!("of {yes}")), p));
        }
        found.push((own, sum, inputs));
    } else {
        for class in 0..k {
            let (sum, inputs) = score(class)?;
            let meaning = format!("sum of the votes for {}", text(class));
            found.push((output(&format!("score_{}", class + 1), meaning), sum, inputs));
        }
        let scores: Vec<String> = found.iter().map(|(output, ..)| output.found()).collect();
        let unknown = format!("{} IS NULL", scores.join(" + "));
        let largest = |answer: &dyn Fn(usize) -> String| {
            let mut cases = format!("CASE WHEN {unknown} THEN NULL");
            for class in 0..k - 1 {
                let others = (0..k).filter(|other| *other != class);
                let others: Vec<String> =
                    others.map(|o| format!("{} >= {}", scores[class], scores[o])).collect();
                // Writing to a string cannot fail.
                let _ = write!(cases, "\n    WHEN {} THEN {}", others.join(" AND "), answer(class));
            }
            format!("{cases}\n    ELSE {} END", answer(k - 1))
        };
        derived.push((
            output("prediction", "the class of the largest score".to_owned()),
            largest(&|class| text(class)),
        ));
        let all: Option<Vec<String>> = scores.iter().map(|score| probability(score)).collect();
        if let Some(all) = all {
            let sum = all.iter().map(|p| format!("({p})")).collect::<Vec<_>>().join(" + ");
            let equal = dialect.number(1.0 / k as f64);
            let share = |class: usize| {
                format!(
                    "COALESCE(({}) / NULLIF({sum}, {}), {equal})",
                    all[class],
                    dialect.number(0.0)
                )
            };
            derived.push((
                output("probability", "of the predicted class".to_owned()),
                largest(&share),
            ));
        }
    }
    let title = "Boosted rules";
    let missing = "A condition on a missing value is false.";
    Ok(sql::Query { target, title, missing, found, derived }.write())
}

/// A label of Graphviz.
fn label(text: &str) -> String {
    text.replace('\\', "\\\\").replace('"', "\\\"")
}

/// The booster as a graph.
pub fn to_dot(boosted: &Boosted, names: &Names) -> String {
    let mut out = format!(
        "digraph boost {{\n  rankdir=LR;\n  label=\"{}\";\n  node [shape=box];\n",
        about_missing(boosted)
    );
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
