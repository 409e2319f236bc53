//! # Columns as features
//! The columns as they are: a number is its value, a truth value ±1, a name one feature ±1 for each name; missing is 0, an abstention. A constant 1 comes first.
//! With one leverage at a time this is coordinate descent on the linear model, with all of them its batch solution.
//!
//! **Chosen** is the feature with the largest guaranteed decrease, $|\sum c\,w\,y\,h|/\sqrt{\sum c\,h^2}$, which does not depend on the scale of h; of equal ones the first.
//! **Cost** O(rows × columns) per round, in parallel over columns. **Source** \[NN09, sec. 4\].

use rayon::prelude::*;

use super::table::{Column, MISSING, Table, Values};
use super::weak::{Hypothesis, View, Weak};

/// A column as a feature.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Plain {
    /// 1.
    Constant,
    /// The number, or ±1 for a truth value.
    Value(usize),
    /// +1 for the name with this code, −1 for others.
    Name(usize, u32),
}

impl Plain {
    /// h of every row.
    pub fn values(&self, table: &Table, h: &mut [f64]) {
        let sign = |yes: bool| if yes { 1.0 } else { -1.0 };
        h.fill(0.0);
        match *self {
            Self::Constant => h.fill(1.0),
            Self::Value(column) => match table.columns().get(column).map(Column::values) {
                Some(Values::Numeric(x)) => {
                    for (h, &x) in h.iter_mut().zip(x) {
                        *h = if x.is_nan() { 0.0 } else { x };
                    }
                }
                Some(Values::Sparse(x)) => {
                    for (row, x) in x.iter() {
                        if let Some(h) = h.get_mut(row) {
                            *h = if x.is_nan() { 0.0 } else { x };
                        }
                    }
                }
                Some(Values::Boolean(x)) => {
                    for (h, x) in h.iter_mut().zip(x) {
                        *h = x.map_or(0.0, sign);
                    }
                }
                _ => {}
            },
            Self::Name(column, code) => {
                if let Some(Values::Nominal { codes, .. }) =
                    table.columns().get(column).map(Column::values)
                {
                    for (h, &own) in h.iter_mut().zip(codes) {
                        *h = if own == MISSING { 0.0 } else { sign(own == code) };
                    }
                }
            }
        }
    }
}

/// The learner that takes columns as they are.
///
/// ```
/// use geowalk::boost::columns::{Plain, PlainColumns};
/// use geowalk::boost::table::{Column, Table};
/// use geowalk::boost::weak::{Hypothesis, View, Weak};
/// use geowalk::boost::Surrogate;
/// let table = Table::new(vec![Column::numeric("x", vec![1.0, -2.0, 3.0])])?;
/// let (loss, u, w, c) = (Surrogate::parse("logistic")?, [0.0; 3], [0.5; 3], [1.0; 3]);
/// let view = View { loss: &loss, y: &[1.0, -1.0, 1.0], c: &c, u: &u, w: &w };
/// let mut h = [0.0; 3];
/// let found = PlainColumns::new(&table).learn(&view, &mut h);
/// assert_eq!((found, h), (Some(Hypothesis::Plain(Plain::Value(0))), [1.0, -2.0, 3.0]));
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Debug, Clone)]
pub struct PlainColumns<'a> {
    table: &'a Table,
    features: Vec<Plain>,
}

impl<'a> PlainColumns<'a> {
    /// All columns, and a constant.
    #[expect(clippy::cast_possible_truncation, reason = "codes are 32 bits wide")]
    pub fn new(table: &'a Table) -> Self {
        let mut features = vec![Plain::Constant];
        for (at, column) in table.columns().iter().enumerate() {
            match column.values() {
                Values::Numeric(_) | Values::Boolean(_) | Values::Sparse(_) => {
                    features.push(Plain::Value(at));
                }
                Values::Nominal { names, .. } => {
                    features.extend((0..names.len() as u32).map(|code| Plain::Name(at, code)));
                }
            }
        }
        Self { table, features }
    }
}

/// The decrease that an edge promises, whatever the scale of the feature.
fn worth(edge: f64, norm: f64) -> f64 {
    if norm > 0.0 { edge.abs() / norm.sqrt() } else { 0.0 }
}

impl Weak for PlainColumns<'_> {
    fn learn(&mut self, view: &View<'_>, h: &mut [f64]) -> Option<Hypothesis> {
        let values: Vec<f64> = self
            .features
            .par_iter()
            .map_init(
                || vec![0.0; view.y.len()],
                |h, feature| {
                    if let Plain::Value(column) = feature
                        && let Values::Sparse(x) = self.table.columns()[*column].values()
                    {
                        // What is 0 adds nothing.
                        let (mut edge, mut norm) = (0.0, 0.0);
                        for (row, h) in x.iter().filter(|(_, x)| !x.is_nan()) {
                            let c = view.c[row];
                            edge += c * view.w[row] * view.y[row] * h;
                            norm += c * h * h;
                        }
                        return worth(edge, norm);
                    }
                    feature.values(self.table, h);
                    let (mut edge, mut norm) = (0.0, 0.0);
                    for (((&h, &y), &c), &w) in h.iter().zip(view.y).zip(view.c).zip(view.w) {
                        edge += c * w * y * h;
                        norm += c * h * h;
                    }
                    worth(edge, norm)
                },
            )
            .collect();
        let mut best: Option<(usize, f64)> = None;
        for (at, value) in values.into_iter().enumerate() {
            if value > best.map_or(0.0, |(_, best)| best * (1.0 + 1e-12)) {
                best = Some((at, value));
            }
        }
        let feature = self.features[best?.0];
        feature.values(self.table, h);
        Some(Hypothesis::Plain(feature))
    }

    fn table(&self) -> &Table {
        self.table
    }
}
