//! # The digest of the examples
//! Which rows a model has seen, in which order: $h_t = H(h_{t-1} \cdot r_t)$, H the 128-bit hash XXH3 and $r_t$ 64 bits of label, importance, places and values: per value a rotation,
//! an exclusive or and a product by an odd number, all of them one to one, so that no single value can change unnoticed. Values take turns in four such
//! sums, which a processor works out side by side. It goes on
//! from a saved state, so it depends on the examples alone and not on blocks, files or interruptions. It guards against accidents (another file, another order, other flags), not
//! against somebody who looks for a collision. **Cost** two products per value.

use geowalk::row::{Block, Parts};
use xxhash_rust::xxh3::xxh3_128;

/// The digest so far.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(crate) struct Digest {
    rows: u64,
    hash: u128,
}

/// Odd numbers with their bits well mixed: parts of the golden ratio and of √2.
const FIRST: u64 = 0x9e37_79b9_7f4a_7c15;
const SECOND: u64 = 0x6a09_e667_f3bc_c909;

/// Where the four sums begin.
const LANES: [u64; 4] = [FIRST, SECOND, !FIRST, !SECOND];

#[inline(always)]
fn put(hash: u64, part: u64) -> u64 {
    (hash.rotate_left(23) ^ part).wrapping_mul(FIRST)
}

#[inline(always)]
fn part(index: u32, value: f64) -> u64 {
    value.to_bits() ^ u64::from(index).wrapping_mul(SECOND)
}

/// Adds values of which none is zero.
fn sparse(lanes: &mut [u64; 4], indices: &[u32], values: &[f64]) {
    let (indices, last_indices) = indices.as_chunks::<4>();
    let (values, last_values) = values.as_chunks::<4>();
    for (indices, values) in indices.iter().zip(values) {
        for ((lane, index), value) in lanes.iter_mut().zip(indices).zip(values) {
            *lane = put(*lane, part(*index, *value));
        }
    }
    for ((lane, index), value) in lanes.iter_mut().zip(last_indices).zip(last_values) {
        *lane = put(*lane, part(*index, *value));
    }
}

/// Adds all values of a dense row, of which none is zero.
fn dense(lanes: &mut [u64; 4], values: &[f64]) {
    let (values, last) = values.as_chunks::<4>();
    let mut first = 0;
    for values in values {
        for ((lane, index), value) in lanes.iter_mut().zip(first..).zip(values) {
            *lane = put(*lane, part(index, *value));
        }
        first += 4;
    }
    for ((lane, index), value) in lanes.iter_mut().zip(first..).zip(last) {
        *lane = put(*lane, part(index, *value));
    }
}

/// Adds the values that are not zero.
fn nonzero(lanes: &mut [u64; 4], indices: impl Iterator<Item = u32>, values: &[f64]) {
    let present = indices.zip(values).filter(|(_, value)| **value != 0.0);
    for (turn, (index, value)) in present.enumerate() {
        let lane = &mut lanes[turn % 4];
        *lane = put(*lane, part(index, *value));
    }
}

impl Digest {
    /// The 64 bits of a row.
    pub(crate) fn row(block: &Block, i: usize) -> u64 {
        let Parts { labels, weights, ends, indices, values, columns } = block.parts();
        let range = i.checked_sub(1).map_or(0, |before| ends[before])..ends[i];
        let values = &values[range.clone()];
        let mut lanes = LANES;
        // Dense and sparse blocks of the same row are the same row: zeros do not count.
        // To the end, without stopping at the first: several are compared at once.
        let full = values.iter().filter(|x| **x == 0.0).count() == 0;
        match columns {
            None if full => sparse(&mut lanes, &indices[range], values),
            None => nonzero(&mut lanes, indices[range].iter().copied(), values),
            Some(_) if full => dense(&mut lanes, values),
            Some(_) => nonzero(&mut lanes, 0.., values),
        }
        let mut hash = labels[i].to_bits().wrapping_mul(FIRST);
        for part in std::iter::once(weights[i].to_bits()).chain(lanes) {
            hash = put(hash, part);
        }
        hash
    }

    /// Goes on with the hash of a row.
    pub(crate) fn add(&mut self, row: u64) {
        let mut both = [0; 24];
        both[..16].copy_from_slice(&self.hash.to_le_bytes());
        both[16..].copy_from_slice(&row.to_le_bytes());
        self.hash = xxh3_128(&both);
        self.rows += 1;
    }

    /// Goes on with all rows of a block.
    pub(crate) fn block(&mut self, block: &Block) {
        for i in 0..block.len() {
            self.add(Self::row(block, i));
        }
    }

    /// Rows so far.
    pub(crate) fn rows(&self) -> u64 {
        self.rows
    }

    /// Rows, and the hash in four parts that are exact as f64.
    #[allow(clippy::cast_possible_truncation)] // parts of 32 bits
    pub(crate) fn save(&self) -> [f64; 5] {
        let part = |k: u32| f64::from((self.hash >> (32 * k)) as u32);
        [self.rows as f64, part(0), part(1), part(2), part(3)]
    }

    /// Goes on from what [`Digest::save`] gave.
    #[allow(clippy::cast_possible_truncation, clippy::cast_sign_loss)] // exact
    pub(crate) fn load(saved: &[f64]) -> Option<Self> {
        let &[rows, a, b, c, d] = saved else { return None };
        let hash = [d, c, b, a].iter().fold(0, |hash: u128, part| (hash << 32) | *part as u128);
        Some(Self { rows: rows as u64, hash })
    }
}

impl std::fmt::Display for Digest {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "{:032x}", self.hash)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn block(rows: &[[f64; 3]]) -> Block {
        let mut block = Block::new();
        for row in rows {
            block.features(&[0, 7], &row[1..]);
            block.end(row[0], 1.0);
        }
        block
    }

    #[test]
    fn zeros_do_not_count_and_every_value_does() {
        let values = [0.5, 0.0, -1.0, 2.0, 0.0, 3.0, 4.0, 5.0, 6.0, 7.0];
        let mut dense = Block::new();
        dense.push_dense(&values, 1.0, 1.0).unwrap();
        let sparse = |values: &[f64], keep_zeros: bool| {
            let mut block = Block::new();
            for (index, value) in (0..).zip(values) {
                if keep_zeros || *value != 0.0 {
                    block.feature(index, *value);
                }
            }
            block.end(1.0, 1.0);
            Digest::row(&block, 0)
        };
        let whole = Digest::row(&dense, 0);
        assert_eq!(whole, 0xe5e7_4d02_c718_6765, "what it was from the first: models hold digests");
        let full = [1.0, -2.0, 3.5, 4.0, 5.0, 6.0, 7.0];
        let mut rows = Block::new();
        rows.push_dense(&full, 1.0, 1.0).unwrap();
        assert_eq!(sparse(&full, false), Digest::row(&rows, 0));
        assert_eq!(sparse(&values, false), whole);
        assert_eq!(sparse(&values, true), whole);
        for at in 0..values.len() {
            let mut other = values;
            other[at] += 0.25;
            assert_ne!(sparse(&other, false), whole);
            other = values;
            other.swap(at, (at + 4) % values.len());
            assert_ne!(sparse(&other, false), whole, "{at}");
        }
    }

    #[test]
    fn it_sees_order_and_values_and_not_blocks() {
        let (a, b) = ([1.0, 0.5, 2.0], [-1.0, 0.5, 2.0]);
        let of = |blocks: &[&[[f64; 3]]]| {
            let mut digest = Digest::default();
            for rows in blocks {
                digest = Digest::load(&digest.save()).unwrap();
                digest.block(&block(rows));
            }
            digest.to_string()
        };
        let whole = of(&[&[a, b, a]]);
        assert_eq!(whole, of(&[&[a], &[b, a]]));
        for other in [of(&[&[a, a, b]]), of(&[&[a, b]]), of(&[&[a, b, [1.0, 0.5, 2.000_000_1]]])] {
            assert_ne!(whole, other);
        }
    }
}
