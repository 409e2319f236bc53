//! # Features on their way into a block
//! A few dozen coordinates of fixed memory on the stack. Storing one needs neither a look at the capacity of a vector nor a word of its
//! bookkeeping; the block takes them over many at a time.

use geowalk::row::Block;

/// How many fit in.
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

    /// Adds a coordinate; a full batch goes on into the block.
    #[inline(always)]
    pub(crate) fn push(&mut self, index: u32, value: f64, block: &mut Block) {
        // `count` is below SIZE: the mask only says so.
        self.indices[self.count & (SIZE - 1)] = index;
        self.values[self.count & (SIZE - 1)] = value;
        self.count += 1;
        if self.count == SIZE {
            self.flush(block);
        }
    }

    /// Hands everything over to the block.
    #[inline(never)]
    pub(crate) fn flush(&mut self, block: &mut Block) {
        let count = self.count.min(SIZE);
        block.features(&self.indices[..count], &self.values[..count]);
        self.count = 0;
    }
}
