//! # Which rows a feature speaks about
//! What a person asks of a rule: of how many rows is it true, how many of these are of its class, and how much does it
//! move the score. It is counted once, when training ends, and kept in the summary.

use geowalk::boost::columns::Plain;
use geowalk::boost::multiclass::{Reduction, expand};
use geowalk::boost::stumps::Vote;
use geowalk::boost::table::{Classes, Table};
use geowalk::boost::weak::Hypothesis;
use serde_json::{Value, json};

use super::{Boosted, Member};
use crate::error::RunError;

/// The training rows of which a feature is true.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Support {
    /// How many; of a feature that is a number, those where it is positive.
    pub rows: usize,
    /// The share of them that is of the class that the member is about; none where members are about all classes.
    pub share: Option<f64>,
    /// The mean distance of its values from their mean: times the leverage, how much it moves the score.
    pub spread: f64,
}

impl Boosted {
    /// The support of all features in a table, member by member.
    pub(super) fn supports(
        &self,
        table: &Table,
        classes: &Classes,
    ) -> Result<Vec<Vec<Support>>, RunError> {
        let mh = self.classes.len() > 2 && self.reduction == Reduction::Mh;
        let wide = mh.then(|| expand(table, &self.classes)).transpose()?;
        let table = wide.as_ref().unwrap_or(table);
        let mut h = vec![0.0; table.rows()];
        let mut of = |k: usize, hypothesis: &Hypothesis| {
            hypothesis.values(table, &mut h);
            let class = if self.classes.len() == 2 { 1 } else { k };
            let is =
                |row: &usize| classes.codes().get(*row).is_some_and(|code| *code as usize == class);
            let held = || (0..h.len()).filter(|row| h[*row] > 0.0);
            let rows = held().count();
            let mean = h.iter().sum::<f64>() / h.len().max(1) as f64;
            let spread = h.iter().map(|h| (h - mean).abs()).sum::<f64>() / h.len().max(1) as f64;
            let share = (!mh && rows > 0).then(|| held().filter(is).count() as f64 / rows as f64);
            Support { rows, share, spread }
        };
        let member = |(k, own): (usize, &Member)| own.hypotheses.iter().map(|h| of(k, h)).collect();
        Ok(self.members.iter().enumerate().map(member).collect())
    }

    /// What each column moves the scores, as parts of 1: |leverage| times spread, in equal parts to the columns that a
    /// feature asks about. Nothing is known of models whose summary does not tell it.
    pub fn importance(&self, supports: &[Vec<Support>]) -> Vec<f64> {
        let mut gained = vec![0.0; self.columns];
        for (member, own) in self.members.iter().zip(supports) {
            for ((hypothesis, alpha), support) in
                member.hypotheses.iter().zip(&member.alpha).zip(own)
            {
                let mut asked = columns(hypothesis);
                // The column that says which class is asked about is not one of the data.
                asked.retain(|column| *column < self.columns);
                for column in &asked {
                    gained[*column] += alpha.abs() * support.spread / asked.len() as f64;
                }
            }
        }
        let all: f64 = gained.iter().sum();
        gained.iter().map(|own| if all > 0.0 { own / all } else { 0.0 }).collect()
    }
}

/// The columns that a feature asks about, each once.
pub(super) fn columns(hypothesis: &Hypothesis) -> Vec<usize> {
    let mut asked: Vec<usize> = match hypothesis {
        Hypothesis::Rule(rule) => rule.literals.iter().map(|literal| literal.column).collect(),
        Hypothesis::Stump(split) => vec![split.column],
        Hypothesis::Tree(votes) => {
            let split = |node: &Vote| match node {
                Vote::Ask(split, ..) => Some(split.column),
                Vote::Say(_) => None,
            };
            votes.nodes().iter().filter_map(split).collect()
        }
        Hypothesis::Plain(Plain::Value(column) | Plain::Name(column, _)) => vec![*column],
        _ => Vec::new(),
    };
    asked.sort_unstable();
    asked.dedup();
    asked
}

/// For the summary.
pub(super) fn json(supports: &[Vec<Support>]) -> Value {
    let one = |own: &Support| json!([own.rows, own.share, own.spread]);
    supports.iter().map(|own| own.iter().map(one).collect::<Vec<_>>()).collect::<Vec<_>>().into()
}

/// From a summary; empty if it does not tell.
pub fn read(summary: &Value) -> Vec<Vec<Support>> {
    let one = |own: &Value| {
        Some(Support {
            rows: usize::try_from(own[0].as_u64()?).ok()?,
            share: own[1].as_f64(),
            spread: own[2].as_f64()?,
        })
    };
    let members = summary["support"].as_array().into_iter().flatten();
    let all: Option<Vec<Vec<Support>>> =
        members.map(|own| own.as_array()?.iter().map(one).collect()).collect();
    all.unwrap_or_default()
}
