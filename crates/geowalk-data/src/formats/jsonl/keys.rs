//! Which keys a row has had.

use xxhash_rust::xxh3::xxh3_64_with_seed;

/// Finds keys that occur twice in one object.
#[derive(Debug, Default)]
pub(super) struct Keys {
    /// A bit for some bits of each hash: a clear one is certainty, a set one a suspicion.
    bits: Box<Bits>,
    hashes: Vec<u64>,
    suspicious: bool,
}

#[derive(Debug)]
struct Bits([u64; 64]);

impl Default for Bits {
    fn default() -> Self {
        Self([0; 64])
    }
}

impl Keys {
    /// Adds a key of the object that begins at this byte.
    #[inline]
    pub(super) fn add(&mut self, key: &[u8], object: usize) {
        let hash = xxh3_64_with_seed(key, object as u64);
        let (word, bit) = Self::place(hash);
        self.suspicious |= self.bits.0[word] & bit != 0;
        self.bits.0[word] |= bit;
        self.hashes.push(hash);
    }

    #[inline]
    fn place(hash: u64) -> (usize, u64) {
        ((hash >> 6) as usize & 63, 1 << (hash & 63))
    }

    /// Has a key occurred twice? Begins anew.
    pub(super) fn finish(&mut self) -> bool {
        for hash in &self.hashes {
            self.bits.0[Self::place(*hash).0] = 0;
        }
        let twice = std::mem::take(&mut self.suspicious) && {
            self.hashes.sort_unstable();
            self.hashes.windows(2).any(|pair| pair[0] == pair[1])
        };
        self.hashes.clear();
        twice
    }
}
