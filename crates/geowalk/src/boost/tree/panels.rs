//! # Bins row by row
//! Columns of bins say where a column's values lie; a node of a tree is a set of rows, and needs all columns of each. So the bins are laid down once more, up to [`WIDE`] columns side by
//! side: a row of a *panel* is half a cache line, one access for all its columns, where the columns themselves would need one each.
//!
//! Counted are rows without weights, of two classes: both counts of a bin are halves of 32 bits while no more than [`FEW`] rows are counted, so that the histograms of a whole panel stay
//! in the nearest cache, and are added to halves of 64 bits then. Sums of whole numbers are the same in any order: threads take parts of the rows.
//!
//! **Cost** one pass over the bins to lay them down, as much memory as they have (rounded up to eights of columns); one addition per value and count.

use rayon::prelude::*;

use crate::boost::binned::{Binned, BinnedColumn};

/// Codes of a column, the one for missing values included.
pub(super) const CODES: usize = 256;

/// Columns of a panel.
const WIDE: usize = 32;

/// Rows that are counted in halves of 32 bits: enough that adding these up costs little, few enough that there is work for two threads in a large node. Less than 2^16.
const FEW: usize = 1 << 14;

/// Rows that are fetched before they are counted: the next ones are on their way while one is waited for.
const AHEAD: usize = 128;

/// Rows that are laid down at a time, so that they stay near while all columns are written.
const TILE: usize = 256;

/// Up to [`WIDE`] columns.
struct Panel {
    columns: usize,
    /// Columns and what fills them up: 8, 16, 24 or 32.
    stride: usize,
    codes: Vec<u8>,
}

/// All columns.
pub(super) struct Panels(Vec<Panel>);

impl Panels {
    pub(super) fn new(binned: &Binned) -> Self {
        let panel = |columns: &[BinnedColumn]| {
            let stride = columns.len().next_multiple_of(8);
            let mut codes = vec![0; binned.rows() * stride];
            codes.par_chunks_mut(TILE * stride).enumerate().for_each(|(tile, into)| {
                for (k, column) in columns.iter().enumerate() {
                    let from = &column.codes()[tile * TILE..];
                    for (row, code) in into.chunks_exact_mut(stride).zip(from) {
                        row[k] = *code;
                    }
                }
            });
            Panel { columns: columns.len(), stride, codes }
        };
        Self(binned.columns().chunks(WIDE).map(panel).collect())
    }

    /// How many rows, and how many positive ones, each bin of each column has among these: the first in the upper half.
    pub(super) fn count(&self, rows: &[u32], positive: &[u8]) -> Vec<u64> {
        let mut all = Vec::new();
        for panel in &self.0 {
            let mut cells = match panel.stride {
                8 => panel.count::<8>(rows, positive),
                16 => panel.count::<16>(rows, positive),
                24 => panel.count::<24>(rows, positive),
                _ => panel.count::<32>(rows, positive),
            };
            cells.truncate(panel.columns * CODES);
            if all.is_empty() {
                all = cells;
            } else {
                all.append(&mut cells);
            }
        }
        all
    }
}

impl Panel {
    fn count<const S: usize>(&self, rows: &[u32], positive: &[u8]) -> Vec<u64> {
        let records = self.codes.as_chunks::<S>().0;
        let nothing = || (vec![0_u64; S * CODES], vec![[0_u32; CODES]; S]);
        let part = |(mut sums, mut cells): (Vec<u64>, Vec<[u32; CODES]>),
                    (at, few): (usize, &[u32])| {
            if let Ok(cells) = <&mut [[u32; CODES]; S]>::try_from(cells.as_mut_slice()) {
                cells.as_flattened_mut().fill(0);
                if rows.len() == records.len() {
                    // All of them, in order.
                    let range = at * FEW..at * FEW + few.len();
                    put(&records[range.clone()], positive[range].iter().copied(), cells);
                } else {
                    gathered(records, positive, few, cells);
                }
                for (sum, cell) in sums.iter_mut().zip(cells.as_flattened()) {
                    *sum += u64::from(cell >> 16) << 32 | u64::from(cell & 0xffff);
                }
            }
            (sums, cells)
        };
        if rows.len() < 2 * FEW {
            return rows.chunks(FEW).enumerate().fold(nothing(), part).0;
        }
        let parts = rows.par_chunks(FEW).enumerate().fold(nothing, part).map(|(sums, _)| sums);
        let add = |mut a: Vec<u64>, b: Vec<u64>| {
            a.iter_mut().zip(b).for_each(|(a, b)| *a += b);
            a
        };
        parts.reduce_with(add).unwrap_or_default()
    }
}

fn gathered<const S: usize>(
    records: &[[u8; S]],
    positive: &[u8],
    rows: &[u32],
    cells: &mut [[u32; CODES]; S],
) {
    let mut near = [[0; S]; AHEAD];
    let mut classes = [0; AHEAD];
    for rows in rows.chunks(AHEAD) {
        for ((record, class), row) in near.iter_mut().zip(&mut classes).zip(rows) {
            *record = records[*row as usize];
            *class = positive[*row as usize];
        }
        put(&near[..rows.len()], classes.iter().copied(), cells);
    }
}

#[inline]
fn put<const S: usize>(
    records: &[[u8; S]],
    positive: impl Iterator<Item = u8>,
    cells: &mut [[u32; CODES]; S],
) {
    for (record, positive) in records.iter().zip(positive) {
        let example = 1 << 16 | u32::from(positive);
        for k in 0..S {
            cells[k][usize::from(record[k])] += example;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::boost::table::{Column, Table};
    use crate::laws::Sampler;

    #[test]
    fn counts_are_those_of_the_columns() {
        let mut s = Sampler::new(3);
        // Every stride, more than one panel; more rows than are counted in halves of 32 bits, and few.
        for (columns, rows) in [(1, 2 * FEW + 77), (9, 500), (24, 3 * FEW), (31, 1000), (45, 3)] {
            let mut values = || (0..rows).map(|_| (40.0 * s.normal()).round()).collect();
            let all = (0..columns).map(|k| Column::numeric(format!("x{k}"), values())).collect();
            let binned = Binned::new(&Table::new(all).unwrap(), 255).unwrap();
            let positive: Vec<u8> = (0..rows).map(|_| u8::from(s.normal() > 0.3)).collect();
            let panels = Panels::new(&binned);
            let whole: Vec<u32> = (0..u32::try_from(rows).unwrap()).collect();
            let part: Vec<u32> = whole.iter().copied().filter(|row| row % 3 != 1).collect();
            for rows in [&whole, &part, &vec![]] {
                let found = panels.count(rows, &positive);
                assert_eq!(found.len(), columns * CODES);
                for (column, cells) in binned.columns().iter().zip(found.chunks(CODES)) {
                    let mut plain = [0_u64; CODES];
                    for row in rows {
                        let row = *row as usize;
                        plain[usize::from(column.codes()[row])] +=
                            1 << 32 | u64::from(positive[row]);
                    }
                    assert_eq!(cells, plain);
                }
            }
        }
    }
}
