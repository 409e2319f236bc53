//! Detects duplicate keys in a row.

/// Finds keys that occur twice in one object.
#[derive(Debug, Default)]
pub(super) struct Keys {
    /// A Bloom filter of the hashes: a clear bit proves that a key is new, a set bit does not prove a duplicate.
    bits: Box<Bits>,
    hashes: Vec<u64>,
    suspicious: bool,
}

#[derive(Debug)]
struct Bits([u64; 512]);

impl Default for Bits {
    fn default() -> Self {
        Self([0; 512]) // 4 KiB, stays in the first-level cache
    }
}

impl Keys {
    /// Adds a key. `object` is the offset at which its object begins.
    #[inline]
    pub(super) fn add(&mut self, key: &[u8], object: usize) {
        let hash = hash(key, object as u64);
        let (word, bit) = Self::place(hash);
        self.suspicious |= self.bits.0[word] & bit != 0;
        self.bits.0[word] |= bit;
        self.hashes.push(hash);
    }

    #[inline]
    fn place(hash: u64) -> (usize, u64) {
        ((hash >> 55) as usize, 1 << ((hash >> 49) & 63))
    }

    /// Whether a key has occurred twice. Resets the filter for the next row.
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

/// Equal hashes of different keys only cost time.
#[inline]
fn hash(key: &[u8], seed: u64) -> u64 {
    const ODD: u64 = 0x9E37_79B9_7F4A_7C15;
    // The high bits of a product depend on all bits of its factors.
    let mix = |hash: u64, word: u64| (hash.rotate_left(32) ^ word).wrapping_mul(ODD);
    let seed = seed ^ ((key.len() as u64) << 32);
    if let (Some(first), Some(last)) = (key.first_chunk::<8>(), key.last_chunk::<8>()) {
        let words = key.as_chunks::<8>().0.get(1..).unwrap_or_default();
        let hash = mix(seed, u64::from_le_bytes(*first));
        let hash = words.iter().fold(hash, |hash, word| mix(hash, u64::from_le_bytes(*word)));
        return mix(hash, u64::from_le_bytes(*last));
    }
    if let (Some(first), Some(last)) = (key.first_chunk::<4>(), key.last_chunk::<4>()) {
        let (first, last) = (u32::from_le_bytes(*first), u32::from_le_bytes(*last));
        return mix(seed, u64::from(first) | u64::from(last) << 32);
    }
    mix(seed, key.iter().fold(0, |word, byte| word << 8 | u64::from(*byte)))
}
