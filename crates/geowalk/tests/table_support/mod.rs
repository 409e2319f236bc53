//! Random tables with all kinds of columns, and every split of a set of rows by definition.

#![allow(dead_code)] // each test uses some of these

use geowalk::boost::binned::midpoint;
use geowalk::boost::split::{Split, Test};
use geowalk::boost::table::{Classes, Column, MISSING, Table, Values};
use geowalk::laws::Sampler;

/// A table with all kinds of columns. Numbers have `distinct` possible values; some values are missing.
pub(crate) fn table(s: &mut Sampler, rows: usize, distinct: usize) -> Table {
    let missing = |s: &mut Sampler| s.unit() < 0.15;
    let number = |s: &mut Sampler| s.below(distinct) as f64 / 7.0 - 3.0;
    let columns = vec![
        Column::numeric("whole", (0..rows).map(|_| number(s)).collect()),
        Column::numeric(
            "gaps",
            (0..rows).map(|_| if missing(s) { f64::NAN } else { number(s) }).collect(),
        ),
        Column::nominal(
            "name",
            (0..rows).map(|_| if missing(s) { MISSING } else { s.below(4) as u32 }).collect(),
            ["a", "b", "c", "d", "never"],
        ),
        Column::boolean(
            "truth",
            (0..rows).map(|_| (!missing(s)).then(|| s.below(2) == 1)).collect(),
        ),
        Column::boolean("plain", (0..rows).map(|_| Some(s.below(3) == 1)).collect()),
        Column::numeric("constant", vec![2.5; rows]),
        Column::numeric("nothing", vec![f64::NAN; rows]),
        Column::nominal("single", vec![0; rows], ["only"]),
    ];
    Table::new(columns).unwrap()
}

/// Classes that depend on the columns, with noise.
pub(crate) fn classes(s: &mut Sampler, table: &Table, count: usize) -> Classes {
    let value = |column: usize, row: usize| match table.columns()[column].values() {
        Values::Numeric(values) if values[row].is_nan() => 1.0,
        Values::Numeric(values) => values[row],
        Values::Nominal { codes, .. } => f64::from(codes[row].min(5)),
        Values::Boolean(values) => values[row].map_or(0.5, f64::from),
        Values::Sparse(values) => values.get(row),
    };
    let mut codes: Vec<u32> = (0..table.rows())
        .map(|row| {
            let signal: f64 = (0..4).map(|column| value(column, row)).sum::<f64>() + s.normal();
            if s.unit() < 0.2 { s.below(count) as u32 } else { signal.abs() as u32 % count as u32 }
        })
        .collect();
    codes[0] = 0;
    codes[1] = 1;
    Classes::new(codes, (0..count).map(|k| k.to_string())).unwrap()
}

/// Every split of these rows, in the order used to break ties, with the number of rows on each side.
pub(crate) fn splits(table: &Table, rows: &[usize]) -> Vec<Split> {
    let mut all = Vec::new();
    for (column, own) in table.columns().iter().enumerate() {
        let gaps = rows.iter().any(|row| own.values().missing(*row));
        let mut tests = Vec::new();
        match own.values() {
            Values::Numeric(values) => {
                let mut here: Vec<f64> =
                    rows.iter().map(|row| values[*row]).filter(|x| !x.is_nan()).collect();
                here.sort_by(f64::total_cmp);
                here.dedup();
                for pair in here.windows(2) {
                    let theta = midpoint(pair[0], pair[1]);
                    let left = rows.iter().filter(|row| values[**row] <= theta).count();
                    if gaps {
                        tests.extend([false, true].map(|missing| Test::AtMost { theta, missing }));
                    } else {
                        tests.push(Test::AtMost { theta, missing: 2 * left >= rows.len() });
                    }
                }
            }
            Values::Nominal { names, .. } => {
                tests.extend((0..names.len() as u32).map(|code| Test::Is { code }));
            }
            Values::Boolean(_) => tests.extend([1, 0].map(|code| Test::Is { code })),
            Values::Sparse(_) => {}
        }
        if gaps {
            tests.push(Test::Known);
        }
        all.extend(tests.into_iter().map(|test| Split { column, test }));
    }
    all
}
