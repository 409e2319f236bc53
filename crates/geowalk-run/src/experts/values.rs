//! # Do the numbers mean what they are taken for?
//! The first rows are looked at before any round is played: prices are neither losses nor price relatives, and
//! relatives are no losses.

use geowalk::Real;
use geowalk::experts::Kind;
use geowalk::row::Block;
use geowalk_data::Schema;

use super::Wanted;
use super::columns::Columns;
use crate::error::RunError;

/// A day's price relative is between these.
const RELATIVE: (f64, f64) = (0.2, 5.0);

/// Refuses numbers that are certainly something else.
pub(super) fn check(
    kind: &Kind,
    wanted: &Wanted,
    columns: &mut Columns,
    block: &Block,
    schema: &Schema,
) -> Result<(), RunError> {
    let guessed = matches!((kind, wanted), (Kind::Losses, Wanted::Infer));
    if !guessed && !matches!(kind, Kind::Relatives) {
        return Ok(());
    }
    let (mut row, mut all) = (Vec::new(), Vec::new());
    for i in 0..block.len() {
        columns.read(block, i, schema, &mut row)?;
        all.extend(row.iter().copied().filter(|x| !x.is_nan()));
    }
    all.sort_by(f64::total_cmp);
    let (Some(least), Some(most), Some(middle)) = (all.first(), all.last(), all.get(all.len() / 2))
    else {
        return Ok(());
    };
    let like_relatives = *least >= RELATIVE.0 && *most <= RELATIVE.1;
    let error =
        |found, advice| RunError::Experts { file: columns.file().to_owned(), found, advice };
    if guessed && like_relatives && *most > 1.0 && (*middle - 1.0).abs() <= 0.1 {
        let found =
            format!("the numbers, {least} to {most} around {middle}, look like price relatives");
        return Err(error(
            found,
            "use --loss portfolio for these, --loss given if they are losses",
        ));
    }
    let sizes = Real::max(*middle / RELATIVE.1, RELATIVE.0 / *middle);
    if !guessed && *least >= 0.0 && sizes > 1.0 {
        let found = format!(
            "the numbers, around {middle}, are no price relatives (today's price over yesterday's)"
        );
        return Err(error(found, "divide each price by the one before, or use another --loss"));
    }
    Ok(())
}
