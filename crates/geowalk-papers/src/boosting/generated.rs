//! # Five generated domains
//! For a comparison without data files: two conjunctions, one of bits and one of numbers, a sum, a ring, and a table
//! with names and missing values. A tenth of the labels is random.

use geowalk::boost::table::{Classes, Column, MISSING, Table};
use geowalk::laws::Sampler;

use super::domain::Domain;

/// Number of folds.
const FOLDS: usize = 5;

/// Decides whether a row of numbers is positive.
type Label = fn(&[f64]) -> bool;

fn numbers(
    name: &str,
    d: usize,
    rows: usize,
    label: Label,
    random: &mut Sampler,
) -> Option<Domain> {
    let mut columns = vec![Vec::with_capacity(rows); d];
    let mut positive = Vec::with_capacity(rows);
    for _ in 0..rows {
        let x: Vec<f64> = (0..d).map(|_| random.normal()).collect();
        positive.push(if random.unit() < 0.1 { random.unit() < 0.5 } else { label(&x) });
        columns.iter_mut().zip(x).for_each(|(column, x)| column.push(x));
    }
    let named = columns.into_iter().enumerate().map(|(k, x)| Column::numeric(format!("x{k}"), x));
    finish(name, named.collect(), &positive)
}

/// A table of bits, names and missing values.
fn mixed(name: &str, rows: usize, gaps: f64, random: &mut Sampler) -> Option<Domain> {
    let (mut bits, mut names, mut positive) = (vec![Vec::new(); 4], Vec::new(), Vec::new());
    for _ in 0..rows {
        let row: Vec<bool> = (0..4).map(|_| random.unit() < 0.5).collect();
        let code = random.below(3);
        let truth = if gaps > 0.0 { row[0] != (code == 1) } else { row[0] && !row[2] };
        positive.push(if random.unit() < 0.1 { random.unit() < 0.5 } else { truth });
        let mut seen = |value: bool| if random.unit() < gaps { None } else { Some(value) };
        bits.iter_mut().zip(&row).for_each(|(column, bit)| column.push(seen(*bit)));
        names.push(if random.unit() < gaps { MISSING } else { u32::try_from(code).unwrap_or(0) });
    }
    let mut columns: Vec<Column> =
        bits.into_iter().enumerate().map(|(k, x)| Column::boolean(format!("b{k}"), x)).collect();
    columns.push(Column::nominal("n", names, ["a", "b", "c"]));
    finish(name, columns, &positive)
}

/// Assigns rows to the folds in turn, separately for each class; the rows are random already.
fn finish(name: &str, columns: Vec<Column>, positive: &[bool]) -> Option<Domain> {
    let mut next = [0, 0];
    let folds = positive.iter().map(|class| {
        let next = &mut next[usize::from(*class)];
        *next += 1;
        *next % FOLDS
    });
    let folds = folds.collect();
    let classes =
        Classes::new(positive.iter().map(|y| u32::from(*y)).collect(), ["no", "yes"]).ok()?;
    Domain::new(name, Table::new(columns).ok()?, &classes, folds).ok()
}

/// All five domains, with `rows` rows each.
pub(super) fn domains(rows: usize, seed: u64) -> Vec<Domain> {
    let random = &mut Sampler::new(seed + 15);
    [
        mixed("bits", rows, 0.0, random),
        mixed("gaps", rows, 0.1, random),
        numbers("corner", 4, rows, |x| x[0] > -0.5 && x[1] < 0.5, random),
        numbers("sum", 4, rows, |x| x[0] + x[1] + 0.5 * x[2] > 0.0, random),
        numbers("ring", 3, rows, |x| x.iter().map(|x| x * x).sum::<f64>() < 2.4, random),
    ]
    .into_iter()
    .flatten()
    .collect()
}
