//! # Predictions of a booster
//! Values that training has not seen are allowed: a new name is equal to no other.

use std::io::Write;

use geowalk::boost::Surrogate;
use geowalk_data::Options;

use super::Boosted;
use super::explain::explain;
use super::words::Names;
use crate::error::RunError;
use crate::label::Coding;
use crate::model::Model;
use crate::predict::{Done, Sheet, Wanted};
use crate::table::{Reader, headings};

/// Rows that are predicted at once.
const AT_ONCE: usize = 1 << 16;

/// Rows that are explained at once.
const EXPLAINED: usize = 1 << 10;

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

/// Predicts what `options` read and writes it.
pub(crate) fn predict(
    model: &Model,
    boosted: &Boosted,
    options: Options,
    wanted: &Wanted,
    out: &mut dyn Write,
) -> Result<Done, RunError> {
    let mut reader = Reader::unlabelled(&model.schema, boosted.columns, options)?;
    let names = Names::new(headings(&model.schema, boosted.columns), boosted);
    let prediction = ["prediction".to_owned()];
    let answers = if wanted.proba { boosted.classes.as_slice() } else { &prediction };
    let mut sheet = Sheet::new(wanted, reader.source(), answers, out)?;
    let at_once = if wanted.explain { EXPLAINED } else { AT_ONCE };
    while let Some(rows) = reader.read(at_once)? {
        let (found, all) = boosted.predict(&rows.table)?;
        let k = boosted.classes.len();
        let why = if wanted.explain {
            explain(boosted, &names, &rows.table, &found)?
        } else {
            Vec::new()
        };
        sheet.rows(&rows.places, found.len(), |row, sheet| {
            if wanted.proba {
                all[row * k..][..k].iter().for_each(|share| sheet.field(&share.to_string()));
            } else {
                sheet.field(boosted.classes.get(found[row]).map_or("", String::as_str));
            }
            if let Some(why) = why.get(row) {
                sheet.field(why);
            }
        })?;
    }
    Ok(sheet.done(reader.source(), &reader.unseen()))
}
