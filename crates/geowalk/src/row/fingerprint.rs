//! # The fingerprint of a row
//! 64 bits of label, importance, places and values. Values that are not zero are taken two by two, with their places, into one of four sums in turn:
//! $$h \leftarrow \mathrm{fold}\bigl((h \oplus v_1)(k \oplus v_2)\bigr), \qquad k = \varphi\,(i_1 + 2^{32} i_2) \bmod 2^{64}$$
//! where fold is the exclusive or of both halves of a product of 128 bits. Zeros do not count: dense and sparse rows that are equal have the same fingerprint. Two other rows have the same one by a chance of 2⁻⁶⁴ or
//! so; it guards against accidents, not against who looks for a collision.
//! **Cost** a product for each value, none where who filled the block knew them; a processor works out the four sums side by side.

use super::Block;
use super::block::Parts;

/// Odd numbers with their bits well mixed: parts of the golden ratio and of √2.
const FIRST: u64 = 0x9e37_79b9_7f4a_7c15;
const SECOND: u64 = 0x6a09_e667_f3bc_c909;

/// Where the four sums begin.
const LANES: [u64; 4] = [FIRST, SECOND, !FIRST, !SECOND];

/// The place of a value that is not there.
const NOWHERE: u32 = u32::MAX;

#[inline(always)]
fn put(hash: u64, part: u64) -> u64 {
    (hash.rotate_left(23) ^ part).wrapping_mul(FIRST)
}

/// The sum with two more values.
#[inline(always)]
#[allow(clippy::cast_possible_truncation)] // halves
fn fold(hash: u64, places: [u32; 2], values: [f64; 2]) -> u64 {
    let places = u64::from(places[0]) | u64::from(places[1]) << 32;
    let first = hash ^ values[0].to_bits();
    let second = places.wrapping_mul(FIRST) ^ values[1].to_bits();
    let product = u128::from(first) * u128::from(second);
    product as u64 ^ (product >> 64) as u64
}

/// Adds values of which none is zero.
fn sparse(lanes: &mut [u64; 4], indices: &[u32], values: &[f64]) {
    let (indices, last_indices) = indices.as_chunks::<8>();
    let (values, last_values) = values.as_chunks::<8>();
    for (indices, values) in indices.iter().zip(values) {
        let (indices, values) = (indices.as_chunks::<2>().0, values.as_chunks::<2>().0);
        for ((lane, indices), values) in lanes.iter_mut().zip(indices).zip(values) {
            *lane = fold(*lane, *indices, *values);
        }
    }
    one_by_one(lanes, last_indices.iter().copied().zip(last_values.iter().copied()));
}

/// Adds all values of a dense row, of which none is zero.
fn dense(lanes: &mut [u64; 4], values: &[f64]) {
    let (values, last) = values.as_chunks::<8>();
    let mut first = 0;
    for values in values {
        for (lane, values) in lanes.iter_mut().zip(values.as_chunks::<2>().0) {
            *lane = fold(*lane, [first, first + 1], *values);
            first += 2;
        }
    }
    one_by_one(lanes, (first..).zip(last.iter().copied()));
}

/// Adds values that come one by one, beginning with the first sum.
fn one_by_one(lanes: &mut [u64; 4], mut values: impl Iterator<Item = (u32, f64)>) {
    for turn in 0.. {
        let Some((place, value)) = values.next() else { return };
        let (other, another) = values.next().unwrap_or((NOWHERE, 0.0));
        let lane = &mut lanes[turn % 4];
        *lane = fold(*lane, [place, other], [value, another]);
    }
}

/// Adds the values that are not zero.
fn nonzero(lanes: &mut [u64; 4], indices: impl Iterator<Item = u32>, values: &[f64]) {
    let all = indices.zip(values.iter().copied());
    one_by_one(lanes, all.filter(|(_, value)| *value != 0.0));
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
    let mut lanes = LANES;
    // To the end, without stopping at the first: several are compared at once.
    let mut full = true;
    for x in values {
        full &= *x != 0.0;
    }
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
        assert_eq!(whole, 0x723e_9647_81ad_b707, "what it was from the first: models hold digests");
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
