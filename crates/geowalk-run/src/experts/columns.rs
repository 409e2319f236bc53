//! # Which columns are experts
//! Every numeric column but the label is an expert. With odds, columns are named expert and outcome (`B365H`), and the expert's probability of what happened is
//! $(1/o_y)/\sum_k 1/o_k$, its odds without the bookmaker's margin.

use geowalk::row::{Block, Row};
use geowalk_data::{Kind, Schema};

use crate::error::RunError;

/// What a feature of a block is.
#[derive(Debug, Clone, Copy, PartialEq)]
enum Role {
    /// The value of a column.
    Value(usize),
    /// A column is missing in this row.
    Missing(usize),
    /// Nothing to do with experts.
    Other,
}

/// The experts of a table.
#[derive(Debug)]
pub(super) struct Columns {
    file: String,
    names: Vec<String>,
    experts: Vec<String>,
    outcomes: Vec<String>,
    /// With odds: for each column its expert and outcome.
    odds: Vec<(usize, usize)>,
    /// By feature index, as far as features are known.
    roles: Vec<Role>,
    values: Vec<f64>,
}

impl Columns {
    /// The experts among the columns of a schema: `known` ones if there are any, else all that can be.
    pub(super) fn new(
        file: &str,
        schema: &Schema,
        outcomes: &[String],
        known: &[String],
    ) -> Result<Self, RunError> {
        let error =
            |found: String, advice| RunError::Experts { file: file.to_owned(), found, advice };
        let mut names: Vec<String> = schema
            .columns()
            .iter()
            .filter(|column| matches!(column.kind, Kind::Numeric | Kind::Undecided))
            .map(|column| column.name.clone())
            .collect();
        if schema.columns().is_empty() {
            return Err(error("there are no named columns".to_owned(), "give a CSV or TSV table"));
        }
        let (mut experts, mut odds) = (Vec::new(), Vec::new());
        if outcomes.is_empty() && !known.is_empty() {
            if let Some(absent) = known.iter().find(|name| !names.contains(name)) {
                let found = format!("there is no column '{absent}' of numbers");
                return Err(error(
                    found,
                    "it is an expert of the model; leave its fields empty if it is silent",
                ));
            }
            names = known.to_vec();
            experts.clone_from(&names);
        } else if outcomes.is_empty() {
            experts.clone_from(&names);
        } else {
            let split = |name: &String| {
                outcomes.iter().enumerate().find_map(|(k, outcome)| {
                    Some((name.strip_suffix(outcome.as_str())?.to_owned(), k))
                })
            };
            names.retain(|name| split(name).is_some());
            experts.extend_from_slice(known);
            for (expert, outcome) in names.iter().filter_map(split) {
                let place =
                    experts.iter().position(|known| *known == expert).unwrap_or_else(|| {
                        experts.push(expert);
                        experts.len() - 1
                    });
                if known.is_empty() || place < known.len() {
                    odds.push((place, outcome));
                }
            }
            let whole = |i: usize| odds.iter().filter(|(expert, _)| *expert == i).count();
            if let Some(i) = (0..experts.len()).find(|&i| whole(i) != outcomes.len()) {
                let found = format!(
                    "'{}' has odds for {} of {} outcomes",
                    experts[i],
                    whole(i),
                    outcomes.len()
                );
                return Err(error(found, "leave its columns out with --ignore"));
            }
        }
        if experts.is_empty() {
            return Err(error(
                "no column is an expert".to_owned(),
                "experts are numeric columns; check --label, --ignore and --odds",
            ));
        }
        let values = vec![f64::NAN; names.len()];
        Ok(Self {
            file: file.to_owned(),
            names,
            experts,
            outcomes: outcomes.to_vec(),
            odds,
            roles: Vec::new(),
            values,
        })
    }

    /// Takes out columns that count the rows, as dates and identifiers do: whole numbers that never fall, under a name
    /// that says so. Gives their names.
    pub(super) fn without_dates(
        &mut self,
        block: &Block,
        schema: &Schema,
    ) -> Result<Vec<String>, RunError> {
        if !self.outcomes.is_empty() || block.len() < 3 {
            return Ok(Vec::new());
        }
        let mut counts: Vec<bool> = self.names.iter().map(|name| is_counter(name)).collect();
        let (mut row, mut last) = (Vec::new(), Vec::<f64>::new());
        let mut rises = vec![false; counts.len()];
        for i in 0..block.len() {
            self.read(block, i, schema, &mut row)?;
            for (k, x) in row.iter().enumerate() {
                let before = last.get(k).copied().unwrap_or(*x);
                counts[k] = counts[k] && *x == x.floor() && *x >= before;
                rises[k] = rises[k] || *x > before;
            }
            std::mem::swap(&mut last, &mut row);
        }
        let out: Vec<String> = (0..counts.len())
            .filter(|k| counts[*k] && rises[*k])
            .map(|k| self.names[k].clone())
            .collect();
        if out.len() < self.names.len() {
            self.names.retain(|name| !out.contains(name));
            self.experts.clone_from(&self.names);
            self.values.truncate(self.names.len());
            self.roles.clear();
            return Ok(out);
        }
        Ok(Vec::new())
    }

    pub(super) fn file(&self) -> &str {
        &self.file
    }

    /// Their names.
    pub(super) fn experts(&self) -> &[String] {
        &self.experts
    }

    /// The first names, for people.
    pub(super) fn shown(&self) -> String {
        let first = self.experts.iter().take(6).cloned().collect::<Vec<_>>().join(", ");
        if self.experts.len() > 6 { format!("{first}, ...") } else { first }
    }

    /// An outcome as a person reads it.
    pub(super) fn outcome(label: f64, schema: &Schema) -> String {
        match schema.labels().name(label) {
            Some(name) => name.to_owned(),
            None if label.is_nan() => "-".to_owned(),
            None => label.to_string(),
        }
    }

    /// The outcomes of odds.
    pub(super) fn outcomes(&self) -> &[String] {
        &self.outcomes
    }

    /// row ← the probabilities that the experts give to one of the outcomes of odds, in the row that was just read.
    fn chances(&self, happened: usize, row: &mut Vec<f64>) {
        row.clear();
        for expert in 0..self.experts.len() {
            let (mut own, mut total) = (f64::NAN, 0.0);
            for (&(_, outcome), odds) in
                self.odds.iter().zip(&self.values).filter(|((place, _), _)| *place == expert)
            {
                // Odds below 1 are no odds; NaN spreads, and the expert says nothing.
                let chance = if *odds >= 1.0 { odds.recip() } else { f64::NAN };
                total += chance;
                if outcome == happened {
                    own = chance;
                }
            }
            row.push(own / total);
        }
    }

    /// Reads row i of the block, whatever happened in it: then `row` is what the experts say, or `chances` are their
    /// probabilities of each outcome of odds.
    pub(super) fn forecasts(
        &mut self,
        block: &Block,
        i: usize,
        schema: &Schema,
        row: &mut Vec<f64>,
        chances: &mut [Vec<f64>],
    ) {
        self.values(block, i, schema);
        row.clear();
        row.extend_from_slice(&self.values);
        for (outcome, own) in chances.iter_mut().enumerate() {
            self.chances(outcome, own);
        }
    }

    /// row ← what the experts say in row i of the block (NaN: nothing). Gives the outcome, NaN if there is none.
    pub(super) fn read(
        &mut self,
        block: &Block,
        i: usize,
        schema: &Schema,
        row: &mut Vec<f64>,
    ) -> Result<f64, RunError> {
        self.values(block, i, schema);
        row.clear();
        let label = block.labels()[i];
        if self.outcomes.is_empty() {
            row.extend_from_slice(&self.values);
            return Ok(label);
        }
        let name = schema.labels().name(label).map_or_else(|| label.to_string(), str::to_owned);
        let Some(happened) = self.outcomes.iter().position(|outcome| *outcome == name) else {
            return Err(RunError::Experts {
                file: self.file.clone(),
                found: format!("the outcome '{name}' is none of {}", self.outcomes.join(", ")),
                advice: "name all outcomes in --odds, as they end the names of columns and stand in the label",
            });
        };
        self.chances(happened, row);
        Ok(f64::NAN)
    }

    /// values ← the numbers of row i.
    fn values(&mut self, block: &Block, i: usize, schema: &Schema) {
        // A numeric column that is not mentioned in a sparse row is 0.
        self.values.fill(0.0);
        let (roles, values, names) = (&mut self.roles, &mut self.values, &self.names);
        let mut visit = |index: usize, x: f64| {
            while roles.len() <= index {
                roles.push(role(u32::try_from(roles.len()).ok(), schema, names));
            }
            match roles[index] {
                Role::Value(column) => values[column] = x,
                Role::Missing(column) => values[column] = f64::NAN,
                Role::Other => {}
            }
        };
        if block.columns().is_some() {
            block.dense(i).each(&mut visit);
        } else {
            block.sparse(i).each(&mut visit);
        }
    }
}

/// Does the name of a column say that it counts: a date, a time, a number of the row?
fn is_counter(name: &str) -> bool {
    let name = name.to_lowercase();
    let words = [
        "day",
        "year",
        "month",
        "week",
        "hour",
        "t",
        "id",
        "index",
        "row",
        "no",
        "nr",
        "unnamed: 0",
        "",
    ];
    ["date", "time", "stamp"].iter().any(|part| name.contains(part))
        || words.contains(&name.as_str())
}

fn role(index: Option<u32>, schema: &Schema, names: &[String]) -> Role {
    let Some(name) = index.and_then(|index| schema.features().name(index)) else {
        return Role::Other;
    };
    if let Some(column) = names.iter().position(|known| *known == name) {
        return Role::Value(column);
    }
    let missing = name.strip_suffix("=missing");
    missing
        .and_then(|name| names.iter().position(|known| known == name))
        .map_or(Role::Other, Role::Missing)
}
