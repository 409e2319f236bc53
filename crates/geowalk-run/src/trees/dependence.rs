//! # What a column does
//! Partial dependence: the mean prediction of some rows, with one column set to each of a few values. A picture of
//! the model, not of cause and effect: rows are asked about with values that they may never have together.

use geowalk::boost::table::{Column, MISSING, Table, Values};

use super::{BoostedTrees, Predicted};
use crate::error::RunError;

/// Values of a column that are tried.
const VALUES: usize = 20;

/// Rows that are asked.
const ROWS: usize = 200;

/// The mean prediction over the values of a column.
#[derive(Debug, Clone, PartialEq)]
pub struct Dependence {
    /// The name of the column.
    pub column: String,
    /// Its values.
    pub at: Grid,
    /// Of each value the mean probability of each class (of two classes of the second alone), or the mean number.
    pub mean: Vec<Vec<f64>>,
}

/// Values of a column.
#[derive(Debug, Clone, PartialEq)]
pub enum Grid {
    /// Numbers, rising.
    Numbers(Vec<f64>),
    /// Names, the most frequent ones.
    Names(Vec<String>),
}

impl Grid {
    fn len(&self) -> usize {
        match self {
            Self::Numbers(own) => own.len(),
            Self::Names(own) => own.len(),
        }
    }
}

impl BoostedTrees {
    /// The dependence on the `top` columns that gained most, from the rows of a table; columns with less than two
    /// values are left out.
    pub fn dependence(&self, table: &Table, top: usize) -> Result<Vec<Dependence>, RunError> {
        let gained = self.model.importance();
        let mut order: Vec<usize> = (0..gained.len()).filter(|at| gained[*at] > 0.0).collect();
        order.sort_by(|a, b| gained[*b].total_cmp(&gained[*a]).then(a.cmp(b)));
        let mut found = Vec::new();
        for column in order.into_iter().take(top) {
            found.extend(self.depends(table, column)?);
        }
        Ok(found)
    }

    fn depends(&self, table: &Table, column: usize) -> Result<Option<Dependence>, RunError> {
        let Some(own) = table.columns().get(column) else { return Ok(None) };
        let (at, codes) = grid(own);
        let count = at.len();
        if count < 2 || table.rows() == 0 {
            return Ok(None);
        }
        let asked = table.rows().min(ROWS);
        #[expect(clippy::cast_possible_truncation, reason = "rows are numbered with 32 bits")]
        let some = (0..asked).map(|k| (k * table.rows() / asked) as u32);
        let rows: Vec<u32> = (0..count).flat_map(|_| some.clone()).collect();
        let mut columns = table.select(&rows)?.columns().to_vec();
        let repeat = |code: &u32| std::iter::repeat_n(*code, asked);
        columns[column] = match (&at, own.values()) {
            (Grid::Numbers(values), _) => {
                let values = values.iter().flat_map(|x| std::iter::repeat_n(*x, asked));
                Column::numeric(own.name(), values.collect())
            }
            (_, Values::Boolean(_)) => {
                let truths = codes.iter().flat_map(repeat).map(|code| Some(code == 1));
                Column::boolean(own.name(), truths.collect())
            }
            (Grid::Names(_), Values::Nominal { names, .. }) => {
                Column::nominal(own.name(), codes.iter().flat_map(repeat).collect(), names.clone())
            }
            _ => return Ok(None),
        };
        let width = match self.classes.len() {
            0 | 2 => 1,
            many => many,
        };
        let all = match self.predict(&Table::new(columns)?) {
            Predicted::Numbers(all) => all,
            Predicted::Classes(_, all) if width > 1 => all,
            Predicted::Classes(_, all) => all.chunks(2).map(|both| both[1]).collect(),
        };
        let mean = |part: &[f64]| {
            let mut sums = vec![0.0; width];
            for row in part.chunks(width) {
                sums.iter_mut().zip(row).for_each(|(sum, x)| *sum += x / asked as f64);
            }
            sums
        };
        Ok(Some(Dependence {
            column: own.name().to_owned(),
            at,
            mean: all.chunks(asked * width).map(mean).collect(),
        }))
    }
}

/// Values of a column that are tried; of names also their codes.
fn grid(column: &Column) -> (Grid, Vec<u32>) {
    let numbers = |mut known: Vec<f64>| {
        known.retain(|x| x.is_finite());
        known.sort_by(f64::total_cmp);
        let last = known.len().saturating_sub(1);
        let steps = VALUES - 1;
        let mut at: Vec<f64> =
            (0..=steps).filter_map(|k| known.get(k * last / steps).copied()).collect();
        at.dedup();
        (Grid::Numbers(at), Vec::new())
    };
    match column.values() {
        Values::Numeric(values) => numbers(values.clone()),
        Values::Sparse(values) => {
            // The values that are stored, and 0.
            numbers(values.values().iter().copied().chain([0.0]).collect())
        }
        Values::Boolean(_) => {
            (Grid::Names(vec!["false".to_owned(), "true".to_owned()]), vec![0, 1])
        }
        Values::Nominal { codes, names } => {
            let mut counts = vec![0_usize; names.len()];
            for code in codes.iter().filter(|code| **code != MISSING) {
                if let Some(count) = counts.get_mut(*code as usize) {
                    *count += 1;
                }
            }
            #[expect(clippy::cast_possible_truncation, reason = "codes have 32 bits")]
            let mut order: Vec<u32> = (0..names.len() as u32).collect();
            order.sort_by_key(|code| (std::cmp::Reverse(counts[*code as usize]), *code));
            order.truncate(VALUES / 2);
            let shown = order.iter().map(|code| names[*code as usize].clone()).collect();
            (Grid::Names(shown), order)
        }
    }
}
