//! # Predictions of a booster
//! One line per row, in the order of the input: a class, or with `proba` the probability of every class. Values and columns that training has not seen are allowed: a new name is equal to no other.

use std::io::Write;

use geowalk::boost::Surrogate;
use geowalk_data::Options;

use super::Boosted;
use crate::error::RunError;
use crate::label::Coding;
use crate::model::Model;
use crate::table::Reader;

/// Rows that are predicted at once.
const AT_ONCE: usize = 1 << 16;

impl Boosted {
    /// What a model file holds.
    pub fn of(model: &Model) -> Result<Self, RunError> {
        Self::with(model, None)
    }

    /// The same where the loss may be a user's own, which no file holds.
    pub fn with(model: &Model, own: Option<&Surrogate>) -> Result<Self, RunError> {
        let coding = Coding::restore(model.settings.task, model.classes.clone());
        Self::from_model(model, coding.texts(model.schema.labels()), own)
    }
}

/// Predicts what `options` read and writes it; gives the number of rows.
pub fn predict(
    model: &Model,
    options: Options,
    proba: bool,
    out: &mut dyn Write,
) -> Result<u64, RunError> {
    let boosted = Boosted::of(model)?;
    let mut reader = Reader::unlabelled(&model.schema, boosted.columns, options)?;
    if proba {
        writeln!(out, "{}", boosted.classes.join(",")).map_err(RunError::Predictions)?;
    }
    let mut count = 0;
    while let Some(rows) = reader.read(AT_ONCE)? {
        let (found, all) = boosted.predict(&rows.table)?;
        count += found.len() as u64;
        for (class, shares) in found.iter().zip(all.chunks(boosted.classes.len())) {
            let written = if proba {
                let texts: Vec<String> = shares.iter().map(f64::to_string).collect();
                writeln!(out, "{}", texts.join(","))
            } else {
                writeln!(out, "{}", boosted.classes.get(*class).map_or("", String::as_str))
            };
            written.map_err(RunError::Predictions)?;
        }
    }
    Ok(count)
}
