//! # The fingerprint of a row
//! 64 bits of label, importance, places and values: per value a rotation, an exclusive or and a product by an odd number, all of them one to one, so that no single value
//! can change unnoticed. Values take turns in four such sums, which a processor works out side by side. Zeros do not count: dense and sparse rows that are equal
//! have the same fingerprint. **Cost** two products per value, none where who filled the block knew them.

use super::Block;
use super::block::Parts;

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
        assert_eq!(whole, 0xe5e7_4d02_c718_6765, "what it was from the first: models hold digests");
        let full = [1.0, -2.0, 3.5, 4.0, 5.0, 6.0, 7.0];
        let mut rows = Block::new();
        rows.push_dense(&full, 1.0, 1.0).unwrap();
        assert_eq!(sparse(&full, false), rows.fingerprint(0));
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
