//! # The sufficient statistic of a row
//! T(x), either all of its coordinates or those that are not zero.

use super::table::Table;
use crate::error::{Allowed, DomainError};
use crate::row::Row;

/// T(x), in memory that is used again.
#[derive(Debug, Clone, PartialEq, Default)]
pub(crate) struct Statistic {
    /// Which coordinates; empty if all of them are given, in order.
    pub(crate) index: Vec<usize>,
    /// Their values.
    pub(crate) value: Vec<f64>,
    /// Σ T_j.
    pub(crate) total: f64,
}

impl Statistic {
    fn clear(&mut self) {
        self.index.clear();
        self.value.clear();
        self.total = 0.0;
    }

    /// All `n` coordinates of a row; refuses values that are not allowed.
    pub(crate) fn dense<X: Row<f64>>(
        &mut self,
        x: X,
        n: usize,
        allowed: Allowed,
    ) -> Result<(), DomainError> {
        self.clear();
        self.value.resize(n, 0.0);
        let mut total = 0.0;
        let value = self.value.as_mut_slice();
        x.each(|i, x| {
            if let Some(place) = value.get_mut(i) {
                *place = x;
                total += x;
            }
        });
        self.total = total;
        // Together first, which costs little, and one by one only to say which it was.
        #[allow(clippy::needless_bitwise_bool)] // no branch for each number
        let fine = match allowed {
            Allowed::Closed(lo, hi) => {
                value.iter().fold(true, |all, &x| all & (lo <= x) & (x <= hi))
            }
            _ => value.iter().all(|&x| allowed.contains(x)),
        };
        let mut bad = None;
        if !fine {
            x.each(|i, x| {
                if !allowed.contains(x) && bad.is_none() {
                    bad = Some((i, x));
                }
            });
        }
        refuse(bad, allowed)
    }

    /// The coordinates of a row that are not zero; refuses values that are not allowed.
    pub(crate) fn sparse<X: Row<f64>>(
        &mut self,
        x: X,
        n: usize,
        allowed: Allowed,
    ) -> Result<(), DomainError> {
        self.clear();
        let mut bad = None;
        x.each(|i, x| {
            if !allowed.contains(x) && bad.is_none() {
                bad = Some((i, x));
            }
            if x != 0.0 && i < n {
                self.index.push(i);
                self.value.push(x);
                self.total += x;
            }
        });
        refuse(bad, allowed)
    }

    /// Calls `f(j, T_j)` for the coordinates given.
    #[inline(always)]
    pub(crate) fn each(&self, mut f: impl FnMut(usize, f64)) {
        if self.index.is_empty() {
            for (j, &value) in self.value.iter().enumerate() {
                f(j, value);
            }
        } else {
            for (&j, &value) in self.index.iter().zip(&self.value) {
                f(j, value);
            }
        }
    }

    /// out += Σ T_j · row j of a table.
    #[inline(always)]
    pub(crate) fn combine(&self, table: &Table, out: &mut [f64]) {
        if self.index.is_empty() {
            table.combine_all(&self.value, out);
        } else {
            table.combine(self.index.iter().copied().zip(self.value.iter().copied()), out);
        }
    }

    /// out ← all `n` coordinates.
    pub(crate) fn spread(&self, n: usize, out: &mut Vec<f64>) {
        out.clear();
        out.resize(n, 0.0);
        self.each(|j, value| {
            if let Some(out) = out.get_mut(j) {
                *out = value;
            }
        });
    }
}

fn refuse(bad: Option<(usize, f64)>, allowed: Allowed) -> Result<(), DomainError> {
    match bad {
        None => Ok(()),
        Some((index, value)) => {
            Err(DomainError::Coordinate { what: "the row", index, value, allowed })
        }
    }
}
