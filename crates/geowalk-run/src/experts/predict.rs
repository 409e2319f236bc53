//! # Predictions of a game
//! For each row the weighted mean of what the experts say, under the weights of the model; with odds, the probability
//! of each outcome. Nothing is learned.

use std::io::Write;

use geowalk::row::Block;
use geowalk_data::{Label, Options};

use super::columns::Columns;
use super::file;
use crate::error::RunError;
use crate::model::Model;
use crate::predict::{Done, Sheet, Wanted};
use crate::pump::ROWS;

/// Predicts each row of a table.
pub(crate) fn predict(
    model: &Model,
    options: Options,
    wanted: &Wanted,
    out: &mut dyn Write,
) -> Result<Done, RunError> {
    let own = file::of(model)?;
    if own.names.is_empty() {
        return Err(RunError::Apart { kind: super::LEARNED_FROM_ARRAYS.to_owned() });
    }
    if wanted.explain {
        return Err(RunError::NotExplained { walk: model.settings.walk() });
    }
    let (plan, experts) = file::load(model)?;
    // What happened, if the table has it, is a column like others, which no expert is named after.
    let options = Options { label: Label::Absent, carry: wanted.carry.clone(), ..options };
    let mut source = geowalk_data::open(options)?;
    let mut block = Block::new();
    let mut rows = source.read(&mut block, ROWS)?;
    let file = source.place().0.to_owned();
    let mut columns = Columns::new(&file, source.schema(), &plan.odds, &own.names)?;
    let answers = match columns.outcomes() {
        [] => vec!["prediction".to_owned()],
        outcomes => outcomes.to_vec(),
    };
    let wanted = Wanted { proba: answers.len() > 1, ..wanted.clone() };
    let mut sheet = Sheet::new(&wanted, source.as_ref(), &answers, out)?;
    let (mut row, mut chances) = (Vec::new(), vec![Vec::new(); columns.outcomes().len()]);
    while rows > 0 {
        let places = std::mem::take(source.places());
        sheet.rows(&places, rows, |i, sheet| {
            columns.forecasts(&block, i, source.schema(), &mut row, &mut chances);
            let mut put = |row: &[f64]| {
                let text = experts.predict(row).map(|mean| mean.to_string());
                sheet.field(&text.unwrap_or_default());
            };
            if chances.is_empty() {
                put(&row);
            }
            chances.iter().for_each(|row| put(row));
        })?;
        rows = source.read(&mut block, ROWS)?;
    }
    Ok(sheet.done(source.as_ref(), &[]))
}
