//! # The fingerprint of a row
//! 64 bits of label, importance, places and values. The values v that are not zero go, with their places i, into eight sums in turn, each with a key of its own:
//! $$h \leftarrow \mathrm{rot}(h) + a_{lo}\, a_{hi} + \mathrm{rot}_{32}(a), \qquad a = v \oplus \mathrm{key} \oplus (2^{32} + 1)\, i$$
//! where the halves of a have 32 bits each. Of two a that have one half in common the terms differ. Zeros do not count: dense and sparse rows that are equal have the same fingerprint. Two other rows have the same one by a chance of
//! 2⁻⁶⁴ or so; it guards against accidents, not against who looks for a collision.
//! **Cost** a product of 32 bits for each value, which processors do several at a time; none where who filled the block knew them. **Source** the product of halves is that of XXH3.

use super::Block;
use super::block::Parts;
use crate::real::lanes;

/// An odd number with its bits well mixed, of the golden ratio.
const MIX: u64 = 0x9e37_79b9_7f4a_7c15;

/// How many sums.
const WIDTH: usize = 8;

/// Where the sums begin, and their keys: parts of √2, √3, √5, √7, √11, √13, √17, √19.
const KEYS: [u64; WIDTH] = [
    0x6a09_e667_f3bc_c909,
    0xbb67_ae85_84ca_a73b,
    0x3c6e_f372_fe94_f82b,
    0xa54f_f53a_5f1d_36f1,
    0x510e_527f_ade6_82d1,
    0x9b05_688c_2b3e_6c1f,
    0x1f83_d9ab_fb41_bd6b,
    0x5be0_cd19_137e_2179,
];

/// The sums, and how many values are in them.
struct Sums {
    sums: [u64; WIDTH],
    count: usize,
}

impl Sums {
    /// One more value for the sum k.
    #[inline(always)]
    fn add(&mut self, k: usize, place: u32, value: f64) {
        let place = u64::from(place);
        let a = value.to_bits() ^ KEYS[k] ^ (place | place << 32);
        let product = (a & 0xffff_ffff).wrapping_mul(a >> 32);
        let term = product.wrapping_add(a.rotate_left(32));
        self.sums[k] = self.sums[k].rotate_left(23).wrapping_add(term);
    }

    /// One more for each.
    #[inline(always)]
    fn add_eight(&mut self, places: [u32; WIDTH], values: &[f64; WIDTH]) {
        for k in 0..WIDTH {
            self.add(k, places[k], values[k]);
        }
    }

    /// A sparse row without zeros.
    fn sparse(&mut self, indices: &[u32], values: &[f64]) {
        lanes::widely(
            #[inline(always)]
            || {
                let (eights, rest) = indices.as_chunks();
                let (eight_values, rest_values) = values.as_chunks();
                // In registers, which nothing else can see.
                let mut sums = Self { ..*self };
                for (indices, values) in eights.iter().zip(eight_values) {
                    sums.add_eight(*indices, values);
                }
                for (k, (index, value)) in rest.iter().zip(rest_values).enumerate() {
                    sums.add(k, *index, *value);
                }
                *self = Self { count: values.len(), ..sums };
            },
        );
    }

    /// A dense row without zeros.
    fn dense(&mut self, values: &[f64]) {
        const FIRST: [u32; WIDTH] = [0, 1, 2, 3, 4, 5, 6, 7];
        lanes::widely(
            #[inline(always)]
            || {
                let (eights, rest) = values.as_chunks();
                let mut sums = Self { ..*self };
                let mut places = FIRST;
                for values in eights {
                    sums.add_eight(places, values);
                    for place in &mut places {
                        *place += FIRST[WIDTH - 1] + 1;
                    }
                }
                for (k, value) in rest.iter().enumerate() {
                    sums.add(k, places[k], *value);
                }
                *self = Self { count: values.len(), ..sums };
            },
        );
    }

    /// Values that are not zero, of any row.
    fn nonzero(&mut self, indices: impl Iterator<Item = u32>, values: &[f64]) {
        for (place, value) in indices.zip(values).filter(|(_, value)| **value != 0.0) {
            self.add(self.count % WIDTH, place, *value);
            self.count += 1;
        }
    }
}

/// Both halves of the product of 128 bits.
#[allow(clippy::cast_possible_truncation)] // halves
fn fold(a: u64, b: u64) -> u64 {
    let product = u128::from(a) * u128::from(b);
    product as u64 ^ (product >> 64) as u64
}

fn put(hash: u64, part: u64) -> u64 {
    (hash.rotate_left(23) ^ part).wrapping_mul(MIX)
}

impl Block {
    /// The fingerprint of row `i`: which row it is, for digests of whole runs.
    ///
    /// ```
    /// use geowalk::row::Block;
    /// let (mut dense, mut sparse) = (Block::new(), Block::new());
    /// dense.push_dense(&[0.0, 2.5], 1.0, 1.0)?;
    /// sparse.feature(1, 2.5);
    /// sparse.end(1.0, 1.0);
    /// assert_eq!(dense.fingerprint(0), sparse.fingerprint(0));
    /// # Ok::<(), geowalk::DomainError>(())
    /// ```
    ///
    /// # Panics
    /// If there is no such row.
    pub fn fingerprint(&self, i: usize) -> u64 {
        match self.known_fingerprints() {
            Some(known) => known[i],
            None => fingerprint(self.parts(), i),
        }
    }
}

fn fingerprint(parts: Parts<'_>, i: usize) -> u64 {
    let Parts { labels, weights, ends, indices, values, columns } = parts;
    let range = i.checked_sub(1).map_or(0, |before| ends[before])..ends[i];
    let values = &values[range.clone()];
    // To the end, without stopping at the first: several are compared at once.
    let mut full = true;
    for x in values {
        full &= *x != 0.0;
    }
    let mut row = Sums { sums: KEYS, count: 0 };
    match columns {
        None if full => row.sparse(&indices[range], values),
        None => row.nonzero(indices[range].iter().copied(), values),
        Some(_) if full => row.dense(values),
        Some(_) => row.nonzero(0.., values),
    }
    let [a, b, c, d, e, f, g, h] = row.sums;
    let own = [labels[i].to_bits(), weights[i].to_bits(), row.count as u64];
    let sums = [fold(a, b), fold(c, d), fold(e, f), fold(g, h)];
    own.into_iter().chain(sums).fold(MIX, put)
}

#[cfg(test)]
mod tests {
    use super::*;

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
            block.fingerprint(0)
        };
        let whole = dense.fingerprint(0);
        assert_eq!(whole, 0x294c_05d1_5bf6_9722, "what it was from the first: models hold digests");
        for n in 0..20 {
            let full: Vec<f64> = (1..=n).map(|k| 0.5 * f64::from(k)).collect();
            let mut rows = Block::new();
            rows.push_dense(&full, 1.0, 1.0).unwrap();
            assert_eq!(sparse(&full, false), rows.fingerprint(0));
        }
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
    fn rows_that_hardly_differ_have_other_fingerprints() {
        // Few places, small whole numbers, two of three rows that differ in one of them: what data are like.
        let mut seen = std::collections::BTreeSet::new();
        let mut rows = 0;
        for a in 0..40_u32 {
            for b in a + 1..41 {
                for values in 1..200 {
                    let mut block = Block::new();
                    block.features(&[a, b], &[f64::from(values % 15), f64::from(values / 15 + 1)]);
                    block.feature(50, 1.0);
                    block.end(1.0, 1.0);
                    seen.insert(block.fingerprint(0));
                    // The first place does not count where its value is 0.
                    rows += u32::from(values % 15 != 0 || a == 0);
                }
            }
        }
        assert_eq!(seen.len(), rows as usize);
    }

    #[test]
    fn known_fingerprints_are_forgotten_when_the_rows_change() {
        let mut block = Block::new();
        let fill = |block: &mut Block| {
            block
                .refill(None, 2, 3, |parts| {
                    parts.labels.copy_from_slice(&[1.0, -1.0]);
                    parts.weights.fill(1.0);
                    parts.ends.copy_from_slice(&[1, 3]);
                    parts.indices.copy_from_slice(&[4, 0, 9]);
                    parts.values.copy_from_slice(&[0.5, 2.0, 3.0]);
                })
                .unwrap();
        };
        fill(&mut block);
        let own = [block.fingerprint(0), block.fingerprint(1)];
        block.know_fingerprints(own.iter().map(|own| own + 1));
        assert_eq!([block.fingerprint(0), block.fingerprint(1)], own.map(|own| own + 1));
        let changes: [&dyn Fn(&mut Block); 4] = [
            &|block| block.labels_mut().fill(1.0),
            &|block| {
                block.feature(1, 1.0);
                block.end(1.0, 1.0);
            },
            &|block| block.append(&block.clone(), 0..1),
            &|block| fill(block),
        ];
        for change in changes {
            fill(&mut block);
            block.know_fingerprints([7, 7].into_iter());
            change(&mut block);
            assert_ne!(block.fingerprint(0), 7);
        }
        block.know_fingerprints([7].into_iter());
        assert_ne!(block.fingerprint(0), 7, "one for two rows is none");
    }
}
