//! # Buffer for the features of a row
//! A fixed array of a few dozen coordinates on the stack. Storing a coordinate there needs no capacity check of a
//! vector. The block takes over a full buffer in one call.

use geowalk::row::Block;

/// Number of coordinates in the buffer.
const SIZE: usize = 64;

pub(crate) struct Batch {
    indices: [u32; SIZE],
    values: [f64; SIZE],
    count: usize,
}

impl Batch {
    pub(crate) fn new() -> Self {
        Self { indices: [0; SIZE], values: [0.0; SIZE], count: 0 }
    }

    /// Adds a coordinate; a full buffer is flushed into the block.
    #[inline(always)]
    pub(crate) fn push(&mut self, index: u32, value: f64, block: &mut Block) {
        // `count` is below SIZE; the mask only removes the bounds check.
        self.indices[self.count & (SIZE - 1)] = index;
        self.values[self.count & (SIZE - 1)] = value;
        self.count += 1;
        if self.count == SIZE {
            self.flush(block);
        }
    }

    /// Moves all coordinates into the block.
    #[inline(never)]
    pub(crate) fn flush(&mut self, block: &mut Block) {
        let count = self.count.min(SIZE);
        block.features(&self.indices[..count], &self.values[..count]);
        self.count = 0;
    }
}
