//! # Reading and learning in parallel
//! The learner asks for the next rows. The rows are the same for any number of threads.
//!
//! | threads | source | work |
//! |---|---|---|
//! | 1 | any | one thread reads, parses and learns |
//! | more | text whose feature names may be numbered in any order | both threads parse (see below) |
//! | more | any other | a second thread reads and parses, the learner learns |
//!
//! When both threads parse, the second thread cuts [pieces](geowalk_data::Piece) off the text and parses them. The
//! learner takes the pieces in order, and parses one itself if the next is not ready.
//!
//! Blocks and pieces are recycled, so a fixed number of them is in memory. **Performance** Writing to cache lines that
//! another core has read is slow, unless many lines are written in one go. So the second thread parses into a private
//! block and [copies](Block::copy) it. Each piece also keeps its block, so the learner writes only memory that the
//! other thread has not touched.

use std::collections::BTreeMap;
use std::sync::mpsc::{Receiver, SyncSender, sync_channel};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::thread::{self, JoinHandle};

use geowalk::row::Block;
use geowalk_data::{DataError, Helper, Labels, Piece, Places, Source, Text};

/// Rows in a block: enough to amortise the handover, few enough to stay in the cache.
pub const ROWS: usize = 1024;

/// Number of blocks or pieces that circulate through the other thread.
const UNDER_WAY: usize = 4;

/// The default number of threads: two if the machine has two cores, else one.
pub fn usual_threads() -> usize {
    thread::available_parallelism().map_or(1, |cores| cores.get().min(2))
}

/// The number of label names; 0 for numeric labels.
fn names(labels: &Labels) -> usize {
    match labels {
        Labels::Numbers => 0,
        Labels::Names(names) => names.len(),
    }
}

/// The next rows, with their origin.
#[derive(Debug, Default)]
pub struct Filled {
    /// The rows.
    pub block: Block,
    /// File and line of each row.
    pub places: Places,
    /// The names of the labels, if there are new ones since the previous block.
    pub labels: Option<Labels>,
}

impl Filled {
    /// Adds the origin of rows that were just read, and the label names if they have changed.
    fn complete(&mut self, source: &mut dyn Source, known: &mut usize) {
        std::mem::swap(source.places(), &mut self.places);
        self.news(source, known);
    }

    fn news(&mut self, source: &dyn Source, known: &mut usize) {
        let labels = source.schema().labels();
        self.labels = (names(labels) > *known).then(|| labels.clone());
        *known = names(labels);
    }
}

/// Supplies the learner with rows, from one or two threads.
#[derive(Debug)]
pub struct Pump(How);

#[derive(Debug)]
enum How {
    Alone { source: Box<dyn Source>, known: usize },
    Ahead(Ahead),
    Together(Box<Together>),
}

impl Pump {
    /// Starts reading with this number of threads, including the calling thread.
    pub fn start(source: Box<dyn Source>, threads: usize) -> Self {
        let known = names(source.schema().labels());
        if threads < 2 {
            return Self(How::Alone { source, known });
        }
        Self(match (source.helper(), source.helper()) {
            (Some(own), Some(other)) => {
                How::Together(Box::new(Together::start(source, own, other)))
            }
            _ => How::Ahead(Ahead::start(source, known)),
        })
    }

    /// Reads the next rows; `false` at the end of the data.
    pub fn next(&mut self, filled: &mut Filled) -> Result<bool, DataError> {
        match &mut self.0 {
            How::Alone { source, known } => {
                let read = source.read(&mut filled.block, ROWS)?;
                filled.complete(source.as_mut(), known);
                Ok(read > 0)
            }
            How::Ahead(ahead) => ahead.next(filled),
            How::Together(together) => together.next(filled),
        }
    }

    /// The source, if the calling thread reads it.
    pub(crate) fn source(&self) -> Option<&dyn Source> {
        match &self.0 {
            How::Alone { source, .. } => Some(source.as_ref()),
            _ => None,
        }
    }

    /// Stops reading and returns the source in its final state. `None` if the other thread panicked.
    pub fn stop(self) -> Option<Box<dyn Source>> {
        match self.0 {
            How::Alone { source, .. } => Some(source),
            How::Ahead(Ahead { full, empty, reader }) => {
                drop((full, empty));
                reader.join().ok()
            }
            How::Together(together) => together.stop(),
        }
    }
}

/// A thread that reads and parses.
#[derive(Debug)]
struct Ahead {
    full: Receiver<Result<Filled, DataError>>,
    empty: SyncSender<Filled>,
    reader: JoinHandle<Box<dyn Source>>,
}

impl Ahead {
    fn start(mut source: Box<dyn Source>, mut known: usize) -> Self {
        let (give, full) = sync_channel::<Result<Filled, DataError>>(UNDER_WAY);
        let (empty, take) = sync_channel::<Filled>(UNDER_WAY);
        for _ in 0..UNDER_WAY {
            // Cannot fail: the channel holds all of them.
            let _ = empty.try_send(Filled::default());
        }
        let reader = thread::spawn(move || {
            let mut rows = Block::new();
            while let Ok(mut filled) = take.recv() {
                let handed = match source.read(&mut rows, ROWS) {
                    // No rows: either rows were skipped, or the data have ended.
                    Ok(0) if source.places().left_out().is_empty() => break,
                    Ok(_) => {
                        filled.block.copy(&rows);
                        filled.complete(source.as_mut(), &mut known);
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

    fn next(&mut self, filled: &mut Filled) -> Result<bool, DataError> {
        let Ok(next) = self.full.recv() else { return Ok(false) };
        // If the reader thread has ended, the memory is not needed and sending may fail.
        let _ = self.empty.try_send(std::mem::replace(filled, next?));
        Ok(!filled.block.is_empty())
    }
}

/// The text, and the number of the piece that is cut next.
#[derive(Debug, Default)]
struct Desk {
    text: Text,
    next: u64,
    over: bool,
}

/// The outcome of one piece number.
#[derive(Debug)]
enum Cut {
    /// A piece, and whether it must be returned to the other thread.
    Piece(Box<Piece>, bool),
    /// The data end before this piece, possibly with an error.
    End(Result<(), DataError>),
}

impl Desk {
    /// Cuts off the next piece. Returns its number, and the end if there is no further piece. `None` if the end was
    /// returned before.
    fn cut(&mut self, piece: &mut Piece) -> Option<(u64, Option<Result<(), DataError>>)> {
        if self.over {
            return None;
        }
        let end = match self.text.cut(piece) {
            Ok(true) => None,
            Ok(false) => Some(Ok(())),
            Err(error) => Some(Err(error)),
        };
        self.over = end.is_some();
        self.next += 1;
        Some((self.next - 1, end))
    }
}

/// Locks the text. After a panic of the other thread, the text can still be returned to the source.
fn lock(desk: &Mutex<Desk>) -> MutexGuard<'_, Desk> {
    desk.lock().unwrap_or_else(PoisonError::into_inner)
}

/// Two threads that parse.
#[derive(Debug)]
struct Together {
    source: Box<dyn Source>,
    desk: Arc<Mutex<Desk>>,
    helper: Helper,
    parsed: Receiver<(u64, Cut)>,
    spare: SyncSender<Box<Piece>>,
    other: JoinHandle<()>,
    /// The piece that the learner parses itself when the next one is not ready.
    own: Option<Box<Piece>>,
    /// Parsed pieces with higher numbers than the one wanted next.
    ready: BTreeMap<u64, Cut>,
    /// The piece whose rows are being taken. The field below is the number of the next piece.
    current: Option<(Box<Piece>, bool)>,
    wanted: u64,
    known: usize,
}

impl Together {
    fn start(mut source: Box<dyn Source>, helper: Helper, mut other: Helper) -> Self {
        let known = names(source.schema().labels());
        let text = source.text().map(std::mem::take).unwrap_or_default();
        let desk = Arc::new(Mutex::new(Desk { text, ..Desk::default() }));
        let (give, parsed) = sync_channel(UNDER_WAY + 1);
        let (spare, take) = sync_channel::<Box<Piece>>(UNDER_WAY);
        for _ in 0..UNDER_WAY {
            // Cannot fail: the channel holds all of them.
            let _ = spare.try_send(Box::default());
        }
        let shared = Arc::clone(&desk);
        let other = thread::spawn(move || {
            let mut rows = Block::new();
            while let Ok(mut piece) = take.recv() {
                let Some((number, end)) = lock(&shared).cut(&mut piece) else { return };
                let over = end.is_some();
                let cut = if let Some(end) = end {
                    Cut::End(end)
                } else {
                    std::mem::swap(&mut rows, &mut piece.block);
                    other.parse(&mut piece);
                    std::mem::swap(&mut rows, &mut piece.block);
                    piece.block.copy(&rows);
                    Cut::Piece(piece, true)
                };
                // Sending fails once the learner has stopped.
                if give.send((number, cut)).is_err() || over {
                    return;
                }
            }
        });
        Self {
            source,
            desk,
            helper,
            parsed,
            spare,
            other,
            own: Some(Box::default()),
            ready: BTreeMap::new(),
            current: None,
            wanted: 0,
            known,
        }
    }

    fn next(&mut self, filled: &mut Filled) -> Result<bool, DataError> {
        if let Some((piece, _)) = &mut self.current {
            // Each piece keeps its memory, so the learner fills memory that the other thread has not touched.
            std::mem::swap(&mut filled.block, &mut piece.block);
        }
        loop {
            if let Some((piece, _)) = &mut self.current
                && self.source.take(piece)? > 0
            {
                filled.news(self.source.as_ref(), &mut self.known);
                std::mem::swap(&mut filled.block, &mut piece.block);
                std::mem::swap(&mut filled.places, &mut piece.places);
                return Ok(true);
            }
            match self.current.take() {
                // If the other thread has ended, the memory is not needed and sending may fail.
                Some((piece, true)) => drop(self.spare.try_send(piece)),
                Some((piece, false)) => self.own = Some(piece),
                None => {}
            }
            match self.turn() {
                Some(Cut::Piece(piece, others)) => self.current = Some((piece, others)),
                Some(Cut::End(end)) => return end.map(|()| false),
                None => return Ok(false),
            }
            self.wanted += 1;
        }
    }

    /// The next piece in order; `None` if the other thread panicked.
    fn turn(&mut self) -> Option<Cut> {
        loop {
            self.ready.extend(self.parsed.try_iter());
            if let Some(cut) = self.ready.remove(&self.wanted) {
                return Some(cut);
            }
            if let Some(mut piece) = self.own.take() {
                let cut = lock(&self.desk).cut(&mut piece);
                match cut {
                    Some((number, Some(end))) => drop(self.ready.insert(number, Cut::End(end))),
                    Some((number, None)) => {
                        self.helper.parse(&mut piece);
                        self.ready.insert(number, Cut::Piece(piece, false));
                    }
                    None => {} // all pieces are cut, the missing ones are still being parsed
                }
                continue;
            }
            let (number, cut) = self.parsed.recv().ok()?;
            self.ready.insert(number, cut);
        }
    }

    fn stop(mut self) -> Option<Box<dyn Source>> {
        drop((self.parsed, self.spare));
        self.other.join().ok()?;
        if let Some(text) = self.source.text() {
            std::mem::swap(text, &mut lock(&self.desk).text);
        }
        Some(self.source)
    }
}
