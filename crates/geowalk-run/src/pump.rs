//! # Reader and learner side by side
//! One thread reads and parses, the caller's thread learns. Blocks go round between them: the reader fills an empty one and hands it
//! over, the learner gives it back. What is read does not depend on who waits for whom.

use std::sync::mpsc::{Receiver, SyncSender, sync_channel};
use std::thread::{self, JoinHandle};

use geowalk::row::Block;
use geowalk_data::{DataError, Labels, Places, Source};

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

/// What a reader hands over.
#[derive(Debug, Default)]
pub struct Filled {
    /// The rows.
    pub block: Block,
    /// Where they come from.
    pub places: Places,
    /// The names of labels, if there are new ones since the block before.
    pub labels: Option<Labels>,
}

/// A source that reads ahead in a thread of its own.
#[derive(Debug)]
pub struct Pump {
    full: Receiver<Result<Filled, DataError>>,
    empty: SyncSender<Filled>,
    reader: JoinHandle<Box<dyn Source>>,
}

impl Pump {
    /// Starts to read.
    pub fn start(mut source: Box<dyn Source>) -> Self {
        let (give, full) = sync_channel::<Result<Filled, DataError>>(BLOCKS);
        let (empty, take) = sync_channel::<Filled>(BLOCKS);
        for _ in 0..BLOCKS {
            // The channel has room for them all.
            let _ = empty.try_send(Filled::default());
        }
        let mut known = names(source.schema().labels());
        let reader = thread::spawn(move || {
            while let Ok(mut filled) = take.recv() {
                let handed = match source.read(&mut filled.block, ROWS) {
                    Ok(0) => break,
                    Ok(_) => {
                        let labels = source.schema().labels();
                        filled.labels = (names(labels) > known).then(|| labels.clone());
                        known = names(labels);
                        std::mem::swap(source.places(), &mut filled.places);
                        give.send(Ok(filled))
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
    pub fn recycle(&self, filled: Filled) {
        let _ = self.empty.try_send(filled);
    }

    /// Stops reading and gives the source back, with what it knows. `None` if the reader died.
    pub fn stop(self) -> Option<Box<dyn Source>> {
        drop((self.full, self.empty));
        self.reader.join().ok()
    }
}
