//! # Fingerprint of a row
//! A 64-bit hash of label, importance, indices and values. The nonzero values v with their indices i are distributed
//! over eight sums in turn, each with a separate key:
//! $$h \leftarrow \mathrm{rot}(h) + a_{lo}\, a_{hi} + \mathrm{rot}_{32}(a), \qquad a = v \oplus \mathrm{key} \oplus
//! (2^{32} + 1)\, i$$
//! where the halves of a have 32 bits each. If the last group has fewer than eight values, the last eight values are
//! added again, or zeros if there are fewer than eight. Two different a that share one half give different terms.
//! Zeros do not count: equal dense and sparse rows have the same fingerprint. Different rows collide with probability
//! about 2⁻⁶⁴. This detects accidents; it is not a cryptographic hash.
//! **Cost** one 32-bit product per value, vectorised; none if the caller that filled the block supplied the
//! fingerprints. **Source** the product of halves is that of XXH3.

use super::Block;
use super::block::Parts;
use crate::real::lanes;

/// An odd number with well mixed bits, from the golden ratio.
const MIX: u64 = 0x9e37_79b9_7f4a_7c15;

/// Number of parallel sums.
const WIDTH: usize = 8;

/// Initial values of the sums, which are also their keys: fractional bits of √2, √3, √5, √7, √11, √13, √17, √19.
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

/// Eight values, and eight indices.
type Values = [f64; WIDTH];
type Places = [u32; WIDTH];

/// Indices of the first eight values of a dense row.
const FIRST: Places = [0, 1, 2, 3, 4, 5, 6, 7];

/// The eight sums.
#[derive(Clone, Copy)]
struct Sums([u64; WIDTH]);

impl Sums {
    /// Adds one value to each sum. Returns whether one of the values is zero.
    #[inline(always)]
    fn add(&mut self, places: &Places, values: &Values) -> bool {
        let mut zero = false;
        for k in 0..WIDTH {
            let place = u64::from(places[k]);
            let a = values[k].to_bits() ^ KEYS[k] ^ (place | place << 32);
            let product = (a & 0xffff_ffff).wrapping_mul(a >> 32);
            let term = product.wrapping_add(a.rotate_left(32));
            self.0[k] = self.0[k].rotate_left(23).wrapping_add(term);
            zero |= values[k] == 0.0;
        }
        zero
    }
}

/// The sums of a sparse row; `None` if it contains zeros.
fn sparse(indices: &[u32], values: &[f64]) -> Option<Sums> {
    lanes::widely(
        #[inline(always)]
        || {
            let (mut sums, mut zero) = (Sums(KEYS), false);
            for (places, values) in indices.as_chunks().0.iter().zip(values.as_chunks().0) {
                zero |= sums.add(places, values);
            }
            if !values.len().is_multiple_of(WIDTH) {
                zero |= match (indices.last_chunk(), values.last_chunk()) {
                    (Some(places), Some(values)) => sums.add(places, values),
                    _ => return short(indices.iter().copied(), values),
                };
            }
            (!zero).then_some(sums)
        },
    )
}

/// The sums of a dense row; `None` if it contains zeros.
fn dense(values: &[f64]) -> Option<Sums> {
    lanes::widely(
        #[inline(always)]
        || {
            let (mut sums, mut zero) = (Sums(KEYS), false);
            let mut places = FIRST;
            for values in values.as_chunks().0 {
                zero |= sums.add(&places, values);
                for place in &mut places {
                    *place += FIRST[WIDTH - 1] + 1;
                }
            }
            let left = values.as_chunks::<WIDTH>().1.len();
            if left > 0 {
                let Some(values) = values.last_chunk() else { return short(0.., values) };
                let back = FIRST[WIDTH - left];
                zero |= sums.add(&places.map(|place| place - back), values);
            }
            (!zero).then_some(sums)
        },
    )
}

/// The sums of fewer than eight values; `None` if there are zeros.
#[inline(always)]
fn short(indices: impl Iterator<Item = u32>, values: &[f64]) -> Option<Sums> {
    values.iter().all(|value| *value != 0.0).then(|| nonzero(indices, values).0)
}

/// The sums over the nonzero values of any row, and the number of those values.
fn nonzero(indices: impl Iterator<Item = u32>, values: &[f64]) -> (Sums, usize) {
    let (mut sums, mut count) = (Sums(KEYS), 0);
    let (mut places, mut last) = ([0; WIDTH], [0.0; WIDTH]);
    for (place, value) in indices.zip(values).filter(|(_, value)| **value != 0.0) {
        (places[count % WIDTH], last[count % WIDTH]) = (place, *value);
        count += 1;
        if count.is_multiple_of(WIDTH) {
            sums.add(&places, &last);
        }
    }
    if !count.is_multiple_of(WIDTH) {
        if count > WIDTH {
            // Restore the order of the row: the buffer is circular, with the oldest values after the newest.
            places.rotate_left(count % WIDTH);
            last.rotate_left(count % WIDTH);
        }
        sums.add(&places, &last);
    }
    (sums, count)
}

/// Folds the 128-bit product into 64 bits: low half xor high half.
#[allow(clippy::cast_possible_truncation)] // halves
fn fold(a: u64, b: u64) -> u64 {
    let product = u128::from(a) * u128::from(b);
    product as u64 ^ (product >> 64) as u64
}

fn put(hash: u64, part: u64) -> u64 {
    (hash.rotate_left(23) ^ part).wrapping_mul(MIX)
}

impl Block {
    /// The fingerprint of row `i`. It identifies the row in digests of whole runs.
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
    let full =
        if columns.is_some() { dense(values) } else { sparse(&indices[range.clone()], values) };
    let (sums, count) = match full {
        Some(sums) => (sums, values.len()),
        None if columns.is_some() => nonzero(0.., values),
        None => nonzero(indices[range].iter().copied(), values),
    };
    let [a, b, c, d, e, f, g, h] = sums.0;
    let own = [labels[i].to_bits(), weights[i].to_bits(), count as u64];
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
            // A zero before every third value; zeros are detected and left out.
            let holes: Vec<f64> = full
                .chunks(3)
                .flat_map(|some| std::iter::once(&0.0).chain(some))
                .copied()
                .collect();
            let mut rows = Block::new();
            rows.push_dense(&holes, 1.0, 1.0).unwrap();
            assert_eq!(sparse(&holes, false), rows.fingerprint(0));
            assert_eq!(sparse(&holes, true), rows.fingerprint(0));
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
        // Realistic data: few indices, small integers, two of three rows differ in one of them.
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
                    // The first index does not count if its value is 0.
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
