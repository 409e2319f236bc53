//! # Why a row is of its class
//! One sentence per row: the rules that vote for the predicted class with the largest weights, and the
//! strongest one against it.

use geowalk::boost::columns::Plain;
use geowalk::boost::multiclass::{Reduction, expand};
use geowalk::boost::rule::{Asks, Literal};
use geowalk::boost::split::{Split, Test};
use geowalk::boost::stumps::{Vote, Votes};
use geowalk::boost::table::{Column, Table, Values};
use geowalk::boost::weak::Hypothesis;
use geowalk_data::Schema;

use super::words::Names;
use super::{Boosted, support};
use crate::error::RunError;
use crate::table::{Origin, headings};

/// Votes for the class that are named.
const FOR: usize = 3;

impl Boosted {
    /// The names of the columns of the data that are asked for.
    pub fn used_columns(&self, schema: &Schema) -> Vec<String> {
        let spoken = self.members.iter().flat_map(|member| {
            let pairs = member.hypotheses.iter().zip(&member.alpha);
            pairs.filter(|(_, alpha)| **alpha != 0.0).map(|(hypothesis, _)| hypothesis)
        });
        let used: Vec<usize> = spoken.flat_map(support::columns).collect();
        let source = |heading: crate::table::Heading| match heading.origin {
            Origin::Word { column, .. } | Origin::Date { column } => column,
            Origin::Cell | Origin::Entry => heading.name,
        };
        let all = headings(schema, self.columns).into_iter().map(source).enumerate();
        all.filter(|(at, _)| used.contains(at)).map(|(_, name)| name).collect()
    }
}

/// Why each row is of the class that was found for it.
pub(crate) fn explain(
    boosted: &Boosted,
    names: &Names,
    table: &Table,
    found: &[usize],
) -> Result<Vec<String>, RunError> {
    let (rows, k) = (table.rows(), boosted.classes.len());
    let asks = k > 2 && boosted.reduction == Reduction::Mh;
    let wide = asks.then(|| expand(table, &boosted.classes)).transpose()?;
    let table = wide.as_ref().unwrap_or(table);
    let mut votes: Vec<Vec<(f64, usize)>> = vec![Vec::new(); rows];
    let mut h = vec![0.0; table.rows()];
    for (m, member) in boosted.members.iter().enumerate() {
        for (j, (hypothesis, &alpha)) in member.hypotheses.iter().zip(&member.alpha).enumerate() {
            if alpha == 0.0 {
                continue;
            }
            hypothesis.values(table, &mut h);
            for (row, &class) in found.iter().enumerate() {
                let vote = match (k, asks) {
                    (2, _) => alpha * h[row] * if class == 1 { 1.0 } else { -1.0 },
                    (_, true) => alpha * h[class * rows + row],
                    _ if m == class => alpha * h[row],
                    _ => continue,
                };
                if vote != 0.0 {
                    votes[row].push((vote, j));
                }
            }
        }
    }
    let sentence = |(row, votes): (usize, &mut Vec<(f64, usize)>)| {
        let class = found[row];
        let member = if k == 2 || asks { 0 } else { class };
        let at = if asks { class * rows + row } else { row };
        // The largest first; of equal ones the older.
        votes.sort_by(|a, b| b.0.abs().total_cmp(&a.0.abs()).then(a.1.cmp(&b.1)));
        let words = |(vote, j): &(f64, usize)| {
            let why = names.because(&boosted.members[member].hypotheses[*j], table, at);
            format!("{why} ({:.2})", vote.abs())
        };
        let list = |wanted: &dyn Fn(f64) -> bool, most: usize| -> Vec<String> {
            votes.iter().filter(|(vote, _)| wanted(*vote)).take(most).map(words).collect()
        };
        let (with, against) = (list(&|vote| vote > 0.0, FOR), list(&|vote| vote < 0.0, 1));
        let name = &boosted.classes[class];
        let with = if with.is_empty() {
            format!("{name}, although no rule votes for it")
        } else {
            format!("{name} because {}", with.join(" and "))
        };
        if against.is_empty() { with } else { format!("{with}; against it {}", against.join("")) }
    };
    Ok(votes.iter_mut().enumerate().map(sentence).collect())
}

impl Names {
    /// What is true of a row, so that a feature votes as it does.
    fn because(&self, hypothesis: &Hypothesis, table: &Table, row: usize) -> String {
        match hypothesis {
            Hypothesis::Rule(rule) => {
                let fails = rule.literals.iter().find(|literal| !literal.holds(table, row));
                fails.map_or_else(
                    || self.condition(hypothesis),
                    |literal| self.failed(literal, table, row),
                )
            }
            Hypothesis::Stump(split) => self.answered(split, table, row),
            Hypothesis::Tree(votes) => self.path(votes, table, row),
            Hypothesis::Plain(Plain::Value(column)) => {
                let value = match table.columns().get(*column).map(Column::values) {
                    Some(Values::Numeric(values)) => values.get(row).copied().unwrap_or(f64::NAN),
                    Some(Values::Sparse(values)) => values.get(row),
                    _ => f64::NAN,
                };
                format!("{} = {}", self.column(*column), super::words::threshold(value))
            }
            Hypothesis::Plain(Plain::Name(column, code)) => {
                let literal = Literal { column: *column, asks: Asks::Is(*code) };
                if literal.holds(table, row) {
                    self.literal(&literal)
                } else {
                    self.failed(&literal, table, row)
                }
            }
            _ => self.condition(hypothesis),
        }
    }

    /// The opposite of a literal that does not hold.
    fn failed(&self, literal: &Literal, table: &Table, row: usize) -> String {
        let column = literal.column;
        if table.columns().get(column).is_none_or(|own| own.values().missing(row)) {
            return format!("{} is missing", self.column(column));
        }
        let asks = match literal.asks {
            Asks::Truth(truth) => Asks::Truth(!truth),
            Asks::Is(code) => Asks::Not(code),
            Asks::Not(code) => Asks::Is(code),
            Asks::AtMost(theta) => Asks::Above(theta),
            Asks::Above(theta) => Asks::AtMost(theta),
            Asks::Missing => return format!("{} is known", self.column(column)),
        };
        self.literal(&Literal { column, asks })
    }

    /// What a row answers to a test.
    fn answered(&self, split: &Split, table: &Table, row: usize) -> String {
        let column = split.column;
        if table.columns().get(column).is_none_or(|own| own.values().missing(row)) {
            return format!("{} is missing", self.column(column));
        }
        let asks = match split.test {
            Test::AtMost { theta, .. } => Asks::AtMost(theta),
            Test::Is { code } => Asks::Is(code),
            Test::Known => return format!("{} is known", self.column(column)),
        };
        let literal = Literal { column, asks };
        if literal.holds(table, row) {
            self.literal(&literal)
        } else {
            self.failed(&literal, table, row)
        }
    }

    fn path(&self, votes: &Votes, table: &Table, row: usize) -> String {
        let (mut at, mut parts) = (0, Vec::new());
        while let Some(Vote::Ask(split, left, right)) = votes.nodes().get(at) {
            parts.push(self.answered(split, table, row));
            at = if split.left(table, row) { *left } else { *right };
        }
        parts.join(" and ")
    }
}
