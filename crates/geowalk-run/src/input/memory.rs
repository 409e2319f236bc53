//! Blocks in memory as a source: used to replay a run whose rows were given by the program.

use std::sync::Arc;

use geowalk::row::Block;
use geowalk_data::{DataError, Decision, Places, Position, Schema, Skipped, Source};

/// A list of blocks, read in order.
#[derive(Debug)]
pub(super) struct Memory {
    blocks: Arc<Vec<Block>>,
    schema: Schema,
    /// Position of the next row: its block, and its index in that block.
    at: (usize, usize),
    places: Places,
    skipped: Skipped,
}

impl Memory {
    /// A source that starts at the first row.
    pub(super) fn new(blocks: Arc<Vec<Block>>, schema: Schema) -> Self {
        let (places, skipped) = (Places::default(), Skipped::default());
        Self { blocks, schema, at: (0, 0), places, skipped }
    }
}

impl Source for Memory {
    fn read(&mut self, block: &mut Block, rows: usize) -> Result<usize, DataError> {
        block.clear();
        // A block is passed on whole or cut, so that dense rows are never mixed with sparse ones.
        while let Some(next) = self.blocks.get(self.at.0) {
            if self.at.1 < next.len() {
                let end = next.len().min(self.at.1.saturating_add(rows));
                block.append(next, self.at.1..end);
                self.at.1 = end;
                break;
            }
            self.at = (self.at.0 + 1, 0);
        }
        Ok(block.len())
    }

    fn schema(&self) -> &Schema {
        &self.schema
    }

    fn decisions(&self) -> &[Decision] {
        &[]
    }

    fn skipped(&self) -> &Skipped {
        &self.skipped
    }

    fn places(&mut self) -> &mut Places {
        &mut self.places
    }

    fn place(&self) -> (&str, Position) {
        ("memory", Position { line: 1, column: 1, byte: 0, is_row: true })
    }
}
