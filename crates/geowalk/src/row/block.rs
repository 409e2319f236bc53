//! A block of many examples in contiguous memory: readers fill it, learners consume it.

use super::{Dense, Sparse};
use crate::error::DomainError;
use crate::real::lanes;

/// Examples in row-compressed form, dense or sparse, with labels and importance weights. A block that is cleared and
/// refilled does not allocate once it has reached its largest size.
///
/// ```
/// use geowalk::row::{Block, Row};
/// let mut block = Block::new();
/// block.feature(3, 1.5);
/// block.feature(0, 2.0);
/// block.end(1.0, 1.0);
/// assert_eq!(block.len(), 1);
/// assert_eq!(block.sparse(0).dot(&[1.0, 0.0, 0.0, 1.0]), 3.5);
/// ```
#[derive(Debug, Clone, Default)]
pub struct Block {
    labels: Vec<f64>,
    weights: Vec<f64>,
    /// End of each row in `indices` and `values`.
    ends: Vec<usize>,
    /// One more than the largest index of each sparse row.
    bounds: Vec<usize>,
    indices: Vec<u32>,
    values: Vec<f64>,
    /// Number of columns of a dense block; its `indices` are empty.
    columns: Option<usize>,
    /// The fingerprints passed to [`Block::know_fingerprints`]; ignored unless there is one per row.
    fingerprints: Vec<u64>,
    /// Row number of each tag, ascending, and the end of the tag in `tag_bytes`.
    tags: Vec<(usize, usize)>,
    tag_bytes: Vec<u8>,
    /// Scratch memory of `merge`: positions sorted by index, and flags of the positions merged into another one.
    order: Vec<usize>,
    gone: Vec<bool>,
    /// Bitmap of index residues, to detect duplicates in the row under construction.
    seen: Seen,
}

/// Finds rows that may contain an index twice. If a bit is already set, an exact check follows; if none is, the
/// indices are certainly distinct.
#[derive(Debug, Clone)]
struct Seen(Box<[u64; 512]>);

impl Default for Seen {
    fn default() -> Self {
        Self(Box::new([0; 512])) // 32768 bits: 4 KiB, stays in the first-level cache
    }
}

impl Seen {
    #[inline]
    fn insert(&mut self, index: u32) -> bool {
        let (word, bit) = Self::place(index);
        let known = self.0[word] & bit != 0;
        self.0[word] |= bit;
        known
    }

    #[inline]
    fn place(index: u32) -> (usize, u64) {
        ((index >> 6) as usize & 511, 1 << (index & 63))
    }
}

impl Block {
    /// An empty block.
    pub fn new() -> Self {
        Self::default()
    }

    /// Removes all rows but keeps the memory.
    pub fn clear(&mut self) {
        self.labels.clear();
        self.weights.clear();
        self.ends.clear();
        self.bounds.clear();
        self.indices.clear();
        self.values.clear();
        self.columns = None;
        self.fingerprints.clear();
        self.tags.clear();
        self.tag_bytes.clear();
    }

    /// Gives the row under construction a tag: a name that is not used for learning and is printed beside the row's
    /// prediction.
    ///
    /// ```
    /// use geowalk::row::Block;
    /// let mut block = Block::new();
    /// block.end(1.0, 1.0);
    /// block.tag(b"second");
    /// block.end(0.0, 1.0);
    /// assert_eq!((block.tag_of(0), block.tag_of(1)), (None, Some(&b"second"[..])));
    /// ```
    pub fn tag(&mut self, tag: &[u8]) {
        self.tag_bytes.extend_from_slice(tag);
        self.tags.push((self.len(), self.tag_bytes.len()));
    }

    /// The tag of a row, if it has one.
    pub fn tag_of(&self, row: usize) -> Option<&[u8]> {
        let at = self.tags.binary_search_by_key(&row, |(row, _)| *row).ok()?;
        let start = at.checked_sub(1).map_or(0, |before| self.tags[before].1);
        self.tag_bytes.get(start..self.tags[at].1)
    }

    /// Becomes a copy of another block, reusing its memory.
    ///
    /// **Why** A block that is passed back and forth between two threads lies in the cache of the thread that read it
    /// last. If the other thread writes it one coordinate at a time, it waits for every cache line. One bulk copy
    /// avoids that. So a thread that makes rows for another one fills a private block, then copies it.
    pub fn copy(&mut self, from: &Self) {
        self.labels.clone_from(&from.labels);
        self.weights.clone_from(&from.weights);
        self.ends.clone_from(&from.ends);
        self.bounds.clone_from(&from.bounds);
        self.indices.clone_from(&from.indices);
        self.values.clone_from(&from.values);
        self.columns = from.columns;
        self.fingerprints.clone_from(&from.fingerprints);
        self.tags.clone_from(&from.tags);
        self.tag_bytes.clone_from(&from.tag_bytes);
    }

    /// Accepts precomputed [fingerprints](Block::fingerprint) of all rows. They are dropped when the rows change.
    pub fn know_fingerprints(&mut self, known: impl Iterator<Item = u64>) {
        self.fingerprints.clear();
        self.fingerprints.extend(known);
    }

    /// The fingerprints, if there is one for every row.
    pub(super) fn known_fingerprints(&self) -> Option<&[u64]> {
        (self.fingerprints.len() == self.len()).then_some(&self.fingerprints)
    }

    /// Appends rows of another block unchanged. If dense and sparse rows would mix, all rows become sparse.
    pub fn append(&mut self, from: &Self, rows: std::ops::Range<usize>) {
        for i in rows {
            let (label, weight) = (from.labels[i], from.weights[i]);
            if let Some(tag) = from.tag_of(i) {
                self.tag(tag);
            }
            if from.columns.is_some() {
                let row = from.dense(i);
                if self.push_dense(row.0, label, weight).is_ok() {
                    continue;
                }
                for (index, value) in (0..).zip(row.0) {
                    self.feature(index, *value);
                }
            } else {
                let start = i.checked_sub(1).map_or(0, |before| from.ends[before]);
                let row = start..from.ends[i];
                self.features(&from.indices[row.clone()], &from.values[row]);
            }
            self.end(label, weight);
        }
    }

    /// Number of rows.
    pub fn len(&self) -> usize {
        self.labels.len()
    }

    /// Is it without rows?
    pub fn is_empty(&self) -> bool {
        self.labels.is_empty()
    }

    /// Adds a coordinate to the row under construction, in any order. [`Block::end`] adds up equal indices. Existing
    /// dense rows become sparse ones.
    #[inline]
    pub fn feature(&mut self, index: u32, value: f64) {
        if self.columns.is_some() {
            self.spread();
        }
        self.indices.push(index);
        self.values.push(value);
    }

    /// Adds several coordinates; the longer slice is cut to the length of the shorter.
    #[inline]
    pub fn features(&mut self, indices: &[u32], values: &[f64]) {
        if self.columns.is_some() {
            self.spread();
        }
        let count = indices.len().min(values.len());
        self.indices.extend_from_slice(&indices[..count]);
        self.values.extend_from_slice(&values[..count]);
    }

    /// Drops the row under construction.
    pub fn abandon(&mut self) {
        let start = self.ends.last().copied().unwrap_or(0);
        self.indices.truncate(start);
        self.values.truncate(start);
        if self.tags.last().is_some_and(|(row, _)| *row == self.len()) {
            self.tags.pop();
            self.tag_bytes.truncate(self.tags.last().map_or(0, |(_, end)| *end));
        }
    }

    /// Ends the row under construction. If an index occurs more than once, the sum of its values is stored at its
    /// first position.
    #[inline]
    pub fn end(&mut self, label: f64, weight: f64) {
        if self.columns.is_some() {
            self.spread();
        }
        let start = self.ends.last().copied().unwrap_or(0);
        let row = &self.indices[start..];
        // Increasing indices are distinct. Count the decreases: one comparison each, without a branch.
        let falls = row.iter().zip(row.iter().skip(1)).filter(|(a, b)| a >= b).count();
        let largest = match (falls, row) {
            (0, row) => row.last(),
            (_, row) => row.iter().max(),
        };
        self.bounds.push(largest.map_or(0, |&index| (index as usize).saturating_add(1)));
        // Indices that increase apart from one wrap-around are also distinct. Indices shifted by the hash of a
        // namespace have this form.
        let circle = falls == 1 && row.last() < row.first();
        if falls > 0 && !circle {
            let mut suspicious = false;
            for &index in row {
                suspicious |= self.seen.insert(index);
            }
            for &index in row {
                self.seen.0[Seen::place(index).0] = 0;
            }
            if suspicious {
                self.merge(start);
            }
        }
        self.labels.push(label);
        self.weights.push(weight);
        self.ends.push(self.indices.len());
    }

    /// Adds up equal indices from `start` on, keeping the order of first occurrence.
    #[cold]
    fn merge(&mut self, start: usize) {
        let Self { indices, values, order, gone, .. } = self;
        order.clear();
        order.extend(start..indices.len());
        gone.clear();
        gone.resize(order.len(), false);
        order.sort_unstable_by_key(|&k| (indices[k], k));
        // Add values at the first position of their index, and mark the positions that become unused.
        let mut doubles = false;
        let mut first = usize::MAX;
        for &k in order.iter() {
            if first != usize::MAX && indices[first] == indices[k] {
                values[first] += values[k];
                gone[k - start] = true;
                doubles = true;
            } else {
                first = k;
            }
        }
        if !doubles {
            return;
        }
        let mut to = start;
        for k in start..indices.len() {
            if !gone[k - start] {
                indices[to] = indices[k];
                values[to] = values[k];
                to += 1;
            }
        }
        indices.truncate(to);
        values.truncate(to);
    }

    /// Converts dense rows to sparse form by writing out their indices.
    #[cold]
    fn spread(&mut self) {
        let columns = self.columns.unwrap_or(0);
        for _ in 0..self.len() {
            self.indices.extend((0..=u32::MAX).take(columns));
            self.bounds.push(columns);
        }
        self.columns = None;
    }

    /// Adds a dense row. All rows of a block must be dense and have the same number of columns.
    pub fn push_dense(&mut self, row: &[f64], label: f64, weight: f64) -> Result<(), DomainError> {
        if self.columns.is_none() && !(self.is_empty() && self.values.is_empty()) {
            let what = "a dense row in a block of sparse rows";
            return Err(DomainError::Dimension { what, found: row.len(), expected: 0 });
        }
        let columns = self.columns.unwrap_or(row.len());
        if row.len() != columns {
            return Err(DomainError::Dimension {
                what: "a dense row",
                found: row.len(),
                expected: columns,
            });
        }
        self.columns = Some(columns);
        self.values.extend_from_slice(row);
        self.labels.push(label);
        self.weights.push(weight);
        self.ends.push(self.values.len());
        Ok(())
    }

    /// Number of columns, if the rows are dense.
    pub fn columns(&self) -> Option<usize> {
        self.columns
    }

    /// Row `i` of a sparse block (empty if there is no such row).
    #[inline]
    pub fn sparse(&self, i: usize) -> Sparse<'_, f64> {
        let range = self.range(i);
        let indices = self.indices.get(range.clone()).unwrap_or_default();
        let values = self.values.get(range).unwrap_or_default();
        Sparse::distinct(indices, values, self.bounds.get(i).copied().unwrap_or(0))
    }

    /// Row `i` of a dense block (empty if there is no such row).
    #[inline]
    pub fn dense(&self, i: usize) -> Dense<'_, f64> {
        Dense(self.values.get(self.range(i)).unwrap_or_default())
    }

    #[inline]
    fn range(&self, i: usize) -> std::ops::Range<usize> {
        let start = if i == 0 { 0 } else { self.ends.get(i - 1).copied().unwrap_or(0) };
        start..self.ends.get(i).copied().unwrap_or(0).max(start)
    }

    /// The labels.
    pub fn labels(&self) -> &[f64] {
        &self.labels
    }

    /// Mutable access to the labels, to recode them (class numbers to ±1). Drops the fingerprints.
    pub fn labels_mut(&mut self) -> &mut [f64] {
        self.fingerprints.clear();
        &mut self.labels
    }

    /// The importance weights.
    pub fn weights(&self) -> &[f64] {
        &self.weights
    }

    /// Total number of stored coordinates.
    pub fn stored(&self) -> usize {
        self.values.len()
    }

    /// One more than the largest index of all finished rows.
    pub fn bound(&self) -> usize {
        self.columns.unwrap_or_else(|| self.bounds.iter().copied().max().unwrap_or(0))
    }

    /// All arrays as stored in memory; binary files store these.
    pub fn parts(&self) -> Parts<'_> {
        Parts {
            columns: self.columns,
            labels: &self.labels,
            weights: &self.weights,
            ends: &self.ends,
            indices: &self.indices,
            values: &self.values,
        }
    }

    /// Makes room for the given numbers of rows and coordinates and lets `fill` write all of [`Parts`] in place; the
    /// previous contents are unspecified. Indices of a row must be distinct. If there are `columns`, there are no
    /// indices. Invalid ends are an error and leave the block empty.
    ///
    /// ```
    /// use geowalk::row::{Block, Row};
    /// let mut block = Block::new();
    /// block.refill(None, 1, 2, |parts| {
    ///     (parts.labels[0], parts.weights[0], parts.ends[0]) = (1.0, 1.0, 2);
    ///     parts.indices.copy_from_slice(&[3, 0]);
    ///     parts.values.copy_from_slice(&[1.5, 2.0]);
    /// })?;
    /// assert_eq!(block.sparse(0).dot(&[1.0, 0.0, 0.0, 1.0]), 3.5);
    /// # Ok::<(), geowalk::DomainError>(())
    /// ```
    pub fn refill(
        &mut self,
        columns: Option<usize>,
        rows: usize,
        stored: usize,
        fill: impl FnOnce(PartsMut<'_>),
    ) -> Result<(), DomainError> {
        self.columns = columns;
        self.fingerprints.clear();
        self.labels.resize(rows, 0.0);
        self.weights.resize(rows, 0.0);
        self.ends.resize(rows, 0);
        self.indices.resize(if columns.is_some() { 0 } else { stored }, 0);
        self.values.resize(stored, 0.0);
        self.bounds.clear();
        fill(PartsMut {
            labels: &mut self.labels,
            weights: &mut self.weights,
            ends: &mut self.ends,
            indices: &mut self.indices,
            values: &mut self.values,
        });
        let mut start = 0;
        for &end in &self.ends {
            let fits = columns.is_none_or(|columns| start + columns == end);
            if end < start || end > stored || !fits {
                let error = DomainError::Dimension {
                    what: "the end of a row",
                    found: end,
                    expected: columns.map_or(stored, |columns| start + columns),
                };
                self.clear();
                return Err(error);
            }
            start = end;
        }
        if start == stored {
            if columns.is_none() {
                self.find_bounds();
            }
            return Ok(());
        }
        self.clear();
        Err(DomainError::Dimension { what: "the end of the rows", found: start, expected: stored })
    }
}

impl Block {
    /// Computes one more than the largest index, for every sparse row.
    fn find_bounds(&mut self) {
        let Self { ends, indices, bounds, .. } = self;
        // Vectorised comparison of indices.
        lanes::widely(
            #[inline(always)]
            || {
                let mut start = 0;
                for &end in ends.iter() {
                    let row = indices.get(start..end).unwrap_or_default();
                    let largest = row.iter().fold(0, |largest, &index| u32::max(largest, index));
                    bounds.push(if row.is_empty() {
                        0
                    } else {
                        (largest as usize).saturating_add(1)
                    });
                    start = end;
                }
            },
        );
    }
}

/// The arrays of a block, as stored in memory.
#[derive(Debug, Clone, Copy)]
pub struct Parts<'a> {
    /// Number of columns if the rows are dense; then `indices` is empty.
    pub columns: Option<usize>,
    /// Labels.
    pub labels: &'a [f64],
    /// Importance weights.
    pub weights: &'a [f64],
    /// End of each row in `indices` and `values`.
    pub ends: &'a [usize],
    /// Indices of all coordinates.
    pub indices: &'a [u32],
    /// Values of all coordinates.
    pub values: &'a [f64],
}

/// The arrays of a block, to be written in place.
#[derive(Debug)]
pub struct PartsMut<'a> {
    /// Labels.
    pub labels: &'a mut [f64],
    /// Importance weights.
    pub weights: &'a mut [f64],
    /// End of each row in `indices` and `values`.
    pub ends: &'a mut [usize],
    /// Indices of all coordinates; empty if the rows are dense.
    pub indices: &'a mut [u32],
    /// Values of all coordinates.
    pub values: &'a mut [f64],
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::row::Row;

    fn coordinates(block: &Block, i: usize) -> Vec<(usize, f64)> {
        let mut out = Vec::new();
        block.sparse(i).each(|i, x| out.push((i, x)));
        out
    }

    #[test]
    fn equal_indices_are_added_up_in_the_order_of_first_occurrence() {
        let mut block = Block::new();
        for (index, value) in [(7, 1.0), (3, 2.0), (7, 4.0), (7 + 32768, 8.0), (3, 16.0)] {
            block.feature(index, value);
        }
        block.end(0.0, 1.0);
        block.feature(7, 1.0);
        block.end(1.0, 1.0);
        assert_eq!(coordinates(&block, 0), [(7, 5.0), (3, 18.0), (7 + 32768, 8.0)]);
        assert_eq!(coordinates(&block, 1), [(7, 1.0)], "a row does not see the one before");
        assert_eq!(coordinates(&block, 2), []);
    }

    #[test]
    fn indices_that_increase_round_a_circle_are_known_to_be_distinct() {
        let mut block = Block::new();
        for (indices, bound, left) in [
            (&[5, 9, 1, 3][..], 10, 4),
            (&[5, 9, 1, 5], 10, 3),
            (&[5, 9, 1, 9], 10, 3),
            (&[5, 9, 1, 0], 10, 4),
            (&[5, 9, 9], 10, 2),
            (&[5, 5], 6, 1),
            (&[u32::MAX, 0], 1 << 32, 2),
            (&[0, 1, 2], 3, 3),
            (&[], 0, 0),
        ] {
            block.features(indices, &[1.0; 4]);
            block.end(0.0, 1.0);
            let row = block.sparse(block.len() - 1);
            assert_eq!((row.bound(), coordinates(&block, block.len() - 1).len()), (bound, left));
        }
        assert_eq!(block.bound(), 1 << 32);
    }

    #[test]
    fn an_abandoned_row_leaves_nothing() {
        let mut block = Block::new();
        block.feature(1, 1.0);
        block.end(0.0, 1.0);
        block.feature(2, 1.0);
        block.abandon();
        block.end(0.0, 1.0);
        assert_eq!((coordinates(&block, 0).len(), coordinates(&block, 1).len()), (1, 0));
    }

    #[test]
    fn a_block_is_written_in_place() {
        let mut block = Block::new();
        for (columns, ends, right) in [
            (None, [1, 3], true),
            (None, [0, 3], true),
            (None, [2, 1], false),
            (None, [1, 4], false),
            (None, [1, 2], false),
            (Some(2), [1, 3], false),
        ] {
            let outcome = block.refill(columns, 2, 3, |parts| {
                parts.ends.copy_from_slice(&ends);
                parts.indices.fill(6);
                parts.values.fill(1.0);
            });
            assert_eq!((outcome.is_ok(), block.is_empty()), (right, !right));
        }
        let dense = block.refill(Some(2), 2, 4, |parts| {
            parts.ends.copy_from_slice(&[2, 4]);
            parts.values.copy_from_slice(&[1.0, 2.0, 3.0, 4.0]);
        });
        dense.unwrap();
        assert_eq!((block.dense(1).dot(&[1.0, 1.0]), block.bound()), (7.0, 2));
        block.refill(None, 1, 1, |parts| (parts.ends[0], parts.indices[0]) = (1, 8)).unwrap();
        assert_eq!((block.sparse(0).bound(), block.len()), (9, 1));
    }

    #[test]
    fn a_copy_is_the_same_whatever_was_there() {
        let (mut sparse, mut dense) = (Block::new(), Block::new());
        sparse.features(&[7, 2], &[1.0, -2.0]);
        sparse.end(1.0, 3.0);
        sparse.know_fingerprints(std::iter::once(5));
        dense.push_dense(&[1.0, 2.0, 3.0], -1.0, 1.0).unwrap();
        let mut copy = Block::new();
        for from in [&sparse, &dense, &sparse] {
            copy.copy(from);
            assert_eq!(format!("{:?}", copy.parts()), format!("{:?}", from.parts()));
            assert_eq!((copy.bound(), copy.fingerprint(0)), (from.bound(), from.fingerprint(0)));
        }
    }

    #[test]
    fn dense_rows_have_one_width() {
        let mut block = Block::new();
        block.push_dense(&[1.0, 2.0], 0.0, 1.0).unwrap();
        assert!(block.push_dense(&[1.0], 0.0, 1.0).is_err());
        assert_eq!(block.dense(0).dot(&[1.0, 1.0]), 3.0);
        assert_eq!(block.columns(), Some(2));
        // One sparse row converts all rows to sparse form.
        block.feature(u32::MAX, 3.0);
        block.feature(u32::MAX, 4.0);
        block.end(0.0, 1.0);
        assert_eq!((block.columns(), block.bound()), (None, 1 << 32));
        assert_eq!(coordinates(&block, 0), [(0, 1.0), (1, 2.0)]);
        assert_eq!(coordinates(&block, 1), [(u32::MAX as usize, 7.0)]);
        assert!(block.push_dense(&[1.0, 2.0], 0.0, 1.0).is_err());
    }
}
