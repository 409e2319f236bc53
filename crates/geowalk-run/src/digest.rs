//! # The digest of the examples
//! Which rows a model has seen, in which order: $h_t = H(h_{t-1} \cdot r_t)$, H the 128-bit hash XXH3 and $r_t$ 64 bits of label, importance, places and values: per value a rotation,
//! an exclusive or and a product by an odd number, all of them one to one, so that no single value can change unnoticed. It goes on
//! from a saved state, so it depends on the examples alone and not on blocks, files or interruptions. It guards against accidents (another file, another order, other flags), not
//! against somebody who looks for a collision. **Cost** two products per value.

use geowalk::row::Block;
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

/// Goes on with a value in its place.
#[inline]
fn put(hash: u64, j: u64, x: f64) -> u64 {
    let bits = x.to_bits();
    // Dense and sparse blocks of the same row are the same row: 0, of either sign, is left out.
    if bits << 1 == 0 {
        return hash;
    }
    (hash.rotate_left(23) ^ bits ^ j.wrapping_mul(SECOND)).wrapping_mul(FIRST)
}

impl Digest {
    /// The 64 bits of a row.
    pub(crate) fn row(block: &Block, i: usize) -> u64 {
        let mut hash = block.labels()[i].to_bits().wrapping_mul(FIRST);
        hash = (hash.rotate_left(23) ^ block.weights()[i].to_bits()).wrapping_mul(FIRST);
        if block.columns().is_some() {
            let fours = block.dense(i).0.as_chunks::<4>();
            let mut j = 0;
            for four in fours.0 {
                for (k, x) in (0..).zip(four) {
                    hash = put(hash, j + k, *x);
                }
                j += 4;
            }
            for (k, x) in (0..).zip(fours.1) {
                hash = put(hash, j + k, *x);
            }
        } else {
            let row = block.sparse(i);
            let (places, values) = (row.indices().as_chunks::<4>(), row.values().as_chunks::<4>());
            for (places, values) in places.0.iter().zip(values.0) {
                for (j, x) in places.iter().zip(values) {
                    hash = put(hash, u64::from(*j), *x);
                }
            }
            for (j, x) in places.1.iter().zip(values.1) {
                hash = put(hash, u64::from(*j), *x);
            }
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
    fn dense_and_sparse_rows_are_the_same_rows() {
        let values = [1.5, 0.0, -2.0, 0.0, -0.0, 3.0, 4.0, 5.5, 0.0, 1e-300, 7.0];
        let (mut dense, mut sparse) = (Block::new(), Block::new());
        dense.push_dense(&values, 2.0, 0.5).unwrap();
        let places: Vec<u32> = (0..11).filter(|j| values[*j as usize] != 0.0).collect();
        let kept: Vec<f64> = places.iter().map(|j| values[*j as usize]).collect();
        sparse.features(&places, &kept);
        sparse.end(2.0, 0.5);
        assert!(dense.columns().is_some() && sparse.columns().is_none());
        assert_eq!(Digest::row(&dense, 0), Digest::row(&sparse, 0));
        // What it was from the first: models hold digests.
        assert_eq!(Digest::row(&dense, 0), 0x5b3b_a275_c316_5248);
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
