//! # Rules of boosted trees
//! Each leaf with a value is a rule: the tests on the way to it, and what it adds to the scores. Rules with the
//! same tests are one rule. Tests of a column are joined: an interval, a set of names.

use std::fmt::Write;

use geowalk::boost::table::Table;
use geowalk::boost::trees::{Ask, ScoreTree, TreeLoss};
use serde_json::{Value, json};

use super::{Predicted, Shown};
use crate::boost::words::threshold;

/// A rule.
#[derive(Debug, Clone, PartialEq)]
pub struct TreeRule {
    /// When it is true, in words.
    pub condition: String,
    /// What it adds to the score, or to the score of each class.
    pub values: Vec<f64>,
    /// The training rows of which it is true, weighted.
    pub rows: f64,
    /// Of these the rows of the second of two classes, or of each class; of numbers the sum of the labels.
    pub own: Vec<f64>,
}

/// What the tests on a path let through of a column.
#[derive(Debug, Clone)]
struct Passed {
    column: usize,
    /// Numbers above the first and at most the second.
    above: f64,
    most: f64,
    /// Names that are let through; none if all but those in `without` are.
    among: Option<Vec<u32>>,
    without: Vec<u32>,
    missing: bool,
    is_number: bool,
}

impl Passed {
    fn new(column: usize) -> Self {
        let (above, most) = (f64::NEG_INFINITY, f64::INFINITY);
        let (among, without) = (None, Vec::new());
        Self { column, above, most, among, without, missing: true, is_number: true }
    }

    /// After the answer to one more question.
    fn ask(&mut self, ask: &Ask, yes: bool) {
        match ask {
            Ask::AtMost { theta, missing } => {
                if yes {
                    self.most = self.most.min(*theta);
                } else {
                    self.above = self.above.max(*theta);
                }
                self.missing &= *missing == yes;
            }
            Ask::Among { names, left } => {
                self.is_number = false;
                if *left == yes {
                    self.missing = false;
                    let both = |own: &Vec<u32>| {
                        names.iter().copied().filter(|name| own.contains(name)).collect()
                    };
                    self.among = Some(self.among.as_ref().map_or_else(|| names.clone(), both));
                } else {
                    self.without.extend(names);
                }
                if let Some(among) = &mut self.among {
                    among.retain(|name| !self.without.contains(name));
                }
            }
        }
    }
}

impl TreeRule {
    /// The output that it moves most, and by how much.
    pub fn strongest(&self) -> (usize, f64) {
        let mut best = (0, 0.0);
        for (at, value) in self.values.iter().enumerate() {
            if value.abs() > f64::abs(best.1) {
                best = (at, *value);
            }
        }
        best
    }

    /// How much it moves the scores: the largest value.
    fn size(&self) -> f64 {
        self.strongest().1.abs()
    }

    /// The class that it votes for, of two or more; of several that with the largest value.
    fn votes_for(&self) -> usize {
        if let [value] = self.values.as_slice() {
            return usize::from(*value >= 0.0);
        }
        geowalk::boost::multiclass::largest(&self.values)
    }

    /// The share of its rows that is of this class, if that is known.
    fn share(&self, class: usize) -> Option<f64> {
        let own = match self.own.as_slice() {
            [second] if class == 0 => self.rows - second,
            [second] => *second,
            all => *all.get(class)?,
        };
        Some(own / self.rows).filter(|share| share.is_finite())
    }
}

impl Shown {
    /// The tests on the way to each leaf, with the number of its node.
    fn leaves(&self, tree: &ScoreTree) -> Vec<(usize, String)> {
        let (mut found, mut open) = (Vec::new(), vec![(0, Vec::<Passed>::new())]);
        while let Some((at, passed)) = open.pop() {
            let Some(branch) = &tree.nodes[at].branch else {
                found.push((at, self.condition(&passed)));
                continue;
            };
            for (yes, kid) in [(false, branch.right), (true, branch.left)] {
                let mut passed = passed.clone();
                let own = passed.iter().position(|own| own.column == branch.column);
                let own = own.unwrap_or_else(|| {
                    passed.push(Passed::new(branch.column));
                    passed.len() - 1
                });
                passed[own].ask(&branch.ask, yes);
                open.push((kid, passed));
            }
        }
        found
    }

    fn condition(&self, passed: &[Passed]) -> String {
        let mut own: Vec<&Passed> = passed.iter().collect();
        own.sort_by_key(|own| own.column);
        let parts: Vec<String> = own.into_iter().map(|own| self.part(own)).collect();
        if parts.is_empty() { "always".to_owned() } else { parts.join(" and ") }
    }

    fn part(&self, own: &Passed) -> String {
        let column = self.column(own.column);
        if own.is_number {
            let (above, most) = (threshold(own.above), threshold(own.most));
            let is = match (own.above.is_finite(), own.most.is_finite()) {
                // A threshold at the end of numbers asks whether the value is known.
                _ if own.above == f64::MAX => return format!("{column} is missing"),
                (_, true) if own.most == f64::MAX && !own.above.is_finite() => {
                    return format!("{column} is known");
                }
                (true, true) if own.most < f64::MAX => format!("{column} > {above} and ≤ {most}"),
                (true, _) => format!("{column} > {above}"),
                (false, true) => format!("{column} ≤ {most}"),
                (false, false) => return format!("{column} is anything"),
            };
            let or_missing = own.missing && self.has_gaps(own.column);
            return if or_missing { format!("({is} or missing)") } else { is };
        }
        let list = |names: &[u32]| {
            let mut names: Vec<u32> = names.to_vec();
            names.sort_unstable();
            names.dedup();
            let names = names.iter().map(|name| self.name(own.column, *name));
            names.collect::<Vec<_>>().join(" or ")
        };
        match &own.among {
            Some(among) => format!("{column} is {}", list(among)),
            None => format!("{column} is not {}", list(&own.without)),
        }
    }

    /// The rules, the one with the largest value first.
    pub fn rules(&self) -> Vec<TreeRule> {
        let outputs = self.trees.model.outputs();
        let mut found: Vec<TreeRule> = Vec::new();
        let mut places = std::collections::HashMap::<String, usize>::new();
        for trees in self.trees.model.trees.chunks(outputs) {
            // Trees of a round that ask the same are one.
            let alike = trees.iter().all(|tree| tree.asks_as(&trees[0]));
            let parts = if alike { vec![trees] } else { trees.chunks(1).collect() };
            for part in parts {
                for (node, condition) in self.leaves(&part[0]) {
                    if part.iter().all(|tree| tree.nodes[node].value == 0.0) {
                        continue;
                    }
                    let at = *places.entry(condition.clone()).or_insert_with(|| {
                        let own = vec![f64::NAN; outputs];
                        let values = vec![0.0; outputs];
                        found.push(TreeRule { condition, values, rows: 0.0, own });
                        found.len() - 1
                    });
                    for tree in part {
                        let leaf = &tree.nodes[node];
                        found[at].values[tree.output] += leaf.value;
                        found[at].own[tree.output] = leaf.own;
                        found[at].rows = leaf.rows;
                    }
                }
            }
        }
        found.sort_by(|a, b| b.size().total_cmp(&a.size()));
        found
    }

    /// A rule as a sentence.
    pub fn sentence_of(&self, rule: &TreeRule) -> String {
        let classes = &self.trees.classes;
        let rows = threshold(rule.rows);
        if classes.is_empty() {
            let mean = rule.own[0] / rule.rows;
            let mean = if mean.is_finite() && matches!(self.trees.model.loss, TreeLoss::Number(_)) {
                format!(", mean {mean:.4}")
            } else {
                String::new()
            };
            return format!("{:+.4} if {} ({rows} rows{mean})", rule.values[0], rule.condition);
        }
        let class = rule.votes_for();
        let name = &classes[class];
        let share = rule
            .share(class)
            .map_or_else(String::new, |share| format!(", {:.1} % {name}", 100.0 * share));
        let mut values = String::new();
        if let [value] = rule.values.as_slice() {
            let _ = write!(values, "{:.4} for {name}", value.abs());
        } else {
            let each = classes.iter().zip(&rule.values);
            let each = each.map(|(class, value)| format!("{value:+.4} {class}"));
            values = each.collect::<Vec<_>>().join(", ");
        }
        format!("{values} if {} ({rows} rows{share})", rule.condition)
    }

    pub(super) fn rules_text(&self) -> String {
        let rules = self.rules();
        let mut out = String::new();
        for rule in &rules {
            let _ = writeln!(out, "{}", self.sentence_of(rule));
        }
        out
    }

    pub(super) fn rules_json(&self) -> Vec<Value> {
        let classes = &self.trees.classes;
        let one = |rule: &TreeRule| {
            let class = (!classes.is_empty()).then(|| rule.votes_for());
            json!({
                "condition": rule.condition, "values": rule.values, "rows": rule.rows,
                "votes_for": class.map(|class| &classes[class]),
                "weight": match class {
                    Some(_) if rule.values.len() == 1 => rule.values[0].abs(),
                    Some(class) => rule.values[class],
                    None => rule.values[0],
                },
                "share": class.and_then(|class| rule.share(class)),
                "words": self.sentence_of(rule),
            })
        };
        self.rules().iter().map(one).collect()
    }

    /// The rules that are true of a row and what they add, the loudest first.
    pub(super) fn spoken(&self, table: &Table, row: usize, output: usize) -> Vec<(String, f64)> {
        let mut spoken: Vec<(String, f64)> = Vec::new();
        for tree in self.trees.model.trees.iter().filter(|tree| tree.output == output) {
            let (mut at, mut passed) = (0, Vec::<Passed>::new());
            let mut ways = Vec::new();
            while let Some(branch) = &tree.nodes[at].branch {
                let yes = branch.ask.left(&table.columns()[branch.column], row);
                ways.push((branch, yes));
                at = if yes { branch.left } else { branch.right };
            }
            let value = tree.nodes[at].value;
            if value == 0.0 {
                continue;
            }
            for (branch, yes) in ways {
                let own = passed.iter().position(|own| own.column == branch.column);
                let own = own.unwrap_or_else(|| {
                    passed.push(Passed::new(branch.column));
                    passed.len() - 1
                });
                passed[own].ask(&branch.ask, yes);
            }
            let condition = self.condition(&passed);
            match spoken.iter_mut().find(|(own, _)| *own == condition) {
                Some((_, sum)) => *sum += value,
                None => spoken.push((condition, value)),
            }
        }
        spoken.sort_by(|a, b| b.1.abs().total_cmp(&a.1.abs()));
        spoken
    }

    /// Why a row has its prediction: the rules that speak loudest, for or against it.
    pub(super) fn explain_rules(&self, table: &Table, row: usize, found: &Predicted) -> String {
        const REASONS: usize = 3;
        let two = self.trees.classes.len() == 2;
        let (answer, output, toward) = match found {
            Predicted::Classes(found, _) => {
                let class = found[row];
                let name = self.trees.classes.get(class).cloned().unwrap_or_default();
                let toward = if two && class == 0 { -1.0 } else { 1.0 };
                (name, if two { 0 } else { class }, toward)
            }
            Predicted::Numbers(found) => (format!("{:.6}", found[row]), 0, 1.0),
        };
        let spoken = self.spoken(table, row, output);
        if spoken.is_empty() {
            return format!("{answer}: no rule is true of it");
        }
        let count = spoken.len();
        let parts: Vec<String> = spoken
            .iter()
            .take(REASONS)
            .map(|(condition, value)| format!("{:+.3} {condition}", toward * value))
            .collect();
        let more = if count > REASONS {
            format!("; and {} more rules", count - REASONS)
        } else {
            String::new()
        };
        format!("{answer}; loudest rules: {}{more}", parts.join("; "))
    }
}
