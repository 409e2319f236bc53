//! # The sufficient statistic of a row
//! T(x), either all coordinates or those that are not zero.

use super::table::Table;
use crate::error::{Allowed, DomainError};
use crate::row::Row;

/// T(x), in memory that is reused.
#[derive(Debug, Clone, PartialEq, Default)]
pub(crate) struct Statistic {
    /// Indices of the coordinates; empty if all are given, in order.
    pub(crate) index: Vec<usize>,
    /// Values of the coordinates.
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

    /// All `n` coordinates of a row; refuses values outside `allowed`. `total` is not set, because families of such
    /// rows do not use it.
    pub(crate) fn dense<X: Row<f64>>(
        &mut self,
        x: X,
        n: usize,
        allowed: Allowed,
    ) -> Result<(), DomainError> {
        self.index.clear();
        self.total = 0.0;
        self.value.resize(n, 0.0);
        let (mut filled, mut fine) = copy(x, &mut self.value, allowed);
        if filled < n {
            // Clears what the previous row has left.
            self.value.fill(0.0);
            (filled, fine) = copy(x, &mut self.value, allowed);
        }
        debug_assert!(filled <= n, "an index occurs twice");
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

    /// The nonzero coordinates of a row; refuses values outside `allowed`.
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

    /// As [`Statistic::combine`] for two tables of equal size; both rows are used while T_j is loaded.
    #[inline(always)]
    pub(crate) fn combine_both(&self, [one, two]: [&Table; 2], [to, and]: [&mut [f64]; 2]) {
        if self.index.is_empty() {
            for rows in one.stretches() {
                let value = self.value.get(rows.clone()).unwrap_or_default();
                one.combine_some(&rows, value, to);
                two.combine_some(&rows, value, and);
            }
        } else {
            self.combine(one, to);
            self.combine(two, and);
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

/// Copies the coordinates that fit. Returns their number, and whether all are allowed.
fn copy<X: Row<f64>>(x: X, to: &mut [f64], allowed: Allowed) -> (usize, bool) {
    // Check all together first, which is fast; the invalid one is found later.
    #[allow(clippy::needless_bitwise_bool)] // no branch for each number
    let contains = |x: &[f64]| match allowed {
        Allowed::Closed(lo, hi) => x.iter().fold(true, |all, &x| all & (lo <= x) & (x <= hi)),
        _ => x.iter().all(|&x| allowed.contains(x)),
    };
    let (mut filled, mut fine) = (0, true);
    x.stretches(|i, x| {
        let room = to.get_mut(i..).unwrap_or_default();
        let n = room.len().min(x.len());
        room[..n].copy_from_slice(&x[..n]);
        filled += n;
        fine &= contains(&x[..n]);
    });
    (filled, fine)
}

fn refuse(bad: Option<(usize, f64)>, allowed: Allowed) -> Result<(), DomainError> {
    match bad {
        None => Ok(()),
        Some((index, value)) => {
            Err(DomainError::Coordinate { what: "the row", index, value, allowed })
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::row::{Dense, Sparse};

    #[test]
    fn nothing_is_left_of_the_row_before() {
        let mut t = Statistic::default();
        let numbers = Allowed::Closed(-9.0, 9.0);
        let long: Vec<f64> = (0..1500).map(|i| f64::from(i % 7)).collect();
        t.dense(Dense(&long), 1500, numbers).unwrap();
        assert_eq!(t.value, long);
        let row = Sparse::new(&[1, 3, 8], &[2.0, -1.0, 5.0]).unwrap();
        t.dense(row, 5, numbers).unwrap();
        assert_eq!(t.value, [0.0, 2.0, 0.0, -1.0, 0.0], "a feature beyond the end is left out");
        t.dense(Dense(&[1.0, 2.0]), 4, numbers).unwrap();
        assert_eq!(t.value, [1.0, 2.0, 0.0, 0.0]);
        assert!(t.dense(Dense(&[1.0, f64::NAN]), 2, numbers).is_err());
        assert!(t.dense(row, 4, Allowed::Closed(0.0, 9.0)).is_err());
    }
}
