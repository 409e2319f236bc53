//! # Reader and learner side by side
//! One thread reads and parses, the caller's thread learns. Blocks go round between them: the reader fills an empty one and hands it
//! over, the learner gives it back. What is read does not depend on who waits for whom.

use std::sync::mpsc::{Receiver, SyncSender, sync_channel};
use std::thread::{self, JoinHandle};

use geowalk::row::Block;
use geowalk_data::{DataError, Labels, Source};

/// Rows in a block: enough to amortise handing it over, few enough to stay in the cache.
pub const ROWS: usize = 1024;

/// Blocks under way.
const BLOCKS: usize = 4;

/// How many names labels have.
fn names(labels: &Labels) -> usize {
    match labels {
        Labels::Numbers => 0,
        Labels::Names(names) => names.len(),
    }
}

/// A block, and the names of labels if there are new ones since the block before.
pub type Filled = (Block, Option<Labels>);

/// A source that reads ahead in a thread of its own.
#[derive(Debug)]
pub struct Pump {
    full: Receiver<Result<Filled, DataError>>,
    empty: SyncSender<Block>,
    reader: JoinHandle<Box<dyn Source>>,
}

impl Pump {
    /// Starts to read.
    pub fn start(mut source: Box<dyn Source>) -> Self {
        let (give, full) = sync_channel::<Result<Filled, DataError>>(BLOCKS);
        let (empty, take) = sync_channel::<Block>(BLOCKS);
        for _ in 0..BLOCKS {
            // The channel has room for them all.
            let _ = empty.try_send(Block::new());
        }
        let mut known = names(source.schema().labels());
        let reader = thread::spawn(move || {
            while let Ok(mut block) = take.recv() {
                let handed = match source.read(&mut block, ROWS) {
                    Ok(0) => break,
                    Ok(_) => {
                        let labels = source.schema().labels();
                        let new = (names(labels) > known).then(|| labels.clone());
                        known = names(labels);
                        give.send(Ok((block, new)))
                    }
                    Err(error) => {
                        let _ = give.send(Err(error));
                        break;
                    }
                };
                // The learner has stopped.
                if handed.is_err() {
                    break;
                }
            }
            source
        });
        Self { full, empty, reader }
    }

    /// The next block, or `None` at the end.
    pub fn next(&self) -> Option<Result<Filled, DataError>> {
        self.full.recv().ok()
    }

    /// Gives a block back.
    pub fn recycle(&self, block: Block) {
        let _ = self.empty.try_send(block);
    }

    /// Stops reading and gives the source back, with what it knows. `None` if the reader died.
    pub fn stop(self) -> Option<Box<dyn Source>> {
        drop((self.full, self.empty));
        self.reader.join().ok()
    }
}
