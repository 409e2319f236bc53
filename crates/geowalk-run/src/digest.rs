//! # Digest of the training rows
//! Identifies which rows a model has seen, and in which order: $h_t = H(h_{t-1} \cdot r_t)$, where H is the 128-bit
//! hash XXH3 and $r_t$ is the [fingerprint](Block::fingerprint) of row t. The state can be saved and continued, so the
//! digest depends only on the rows, not on blocks, files or interruptions. It detects accidents, such as another file,
//! another order or other flags. It is not a cryptographic hash.
//!
//! **Cost** One fingerprint and one hash of 24 bytes per row.

use geowalk::row::Block;
use xxhash_rust::xxh3::xxh3_128;

/// The digest of the rows hashed up to now.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(crate) struct Digest {
    rows: u64,
    hash: u128,
}

impl Digest {
    /// Adds one row, given by its fingerprint.
    pub(crate) fn add(&mut self, row: u64) {
        let mut both = [0; 24];
        both[..16].copy_from_slice(&self.hash.to_le_bytes());
        both[16..].copy_from_slice(&row.to_le_bytes());
        self.hash = xxh3_128(&both);
        self.rows += 1;
    }

    /// Adds all rows of a block.
    pub(crate) fn block(&mut self, block: &Block) {
        for i in 0..block.len() {
            self.add(block.fingerprint(i));
        }
    }

    /// Number of rows hashed.
    pub(crate) fn rows(&self) -> u64 {
        self.rows
    }

    /// The row count, then the hash in four 32-bit parts. Each part is exact as f64.
    #[allow(clippy::cast_possible_truncation)] // parts of 32 bits
    pub(crate) fn save(&self) -> [f64; 5] {
        let part = |k: u32| f64::from((self.hash >> (32 * k)) as u32);
        [self.rows as f64, part(0), part(1), part(2), part(3)]
    }

    /// Restores the state written by [`Digest::save`].
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
