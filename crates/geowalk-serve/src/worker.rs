//! # The learner thread of a model
//! Requests that change a model wait in a bounded queue. One thread takes all waiting requests, learns them, writes
//! them to the log with one `fsync`, publishes the new weights, and answers.
//!
//! **Predictions never wait.** There are two copies of the model, [`Sides`]. Readers use one while the thread changes
//! the other. After the `fsync` the copies are swapped, and the thread learns the same rows on the copy that is now
//! free. The steps are deterministic, so both copies have the same bits. This doubles the work of learning, but needs
//! no copying of weights.

use std::collections::{HashMap, VecDeque};
use std::fmt::Write as _;
use std::path::PathBuf;
use std::sync::atomic::{AtomicU64, AtomicUsize, Ordering};
use std::sync::mpsc::{Receiver, RecvTimeoutError, SyncSender, TrySendError, sync_channel};
use std::sync::{
    Arc, Mutex, MutexGuard, PoisonError, RwLock, RwLockReadGuard, RwLockWriteGuard, TryLockError,
};
use std::thread::{self, JoinHandle};
use std::time::{Duration, Instant, SystemTime, UNIX_EPOCH};

use serde_json::{Value, json};
use tokio::sync::oneshot;

use crate::duel::Rows;
use crate::engine::{Batch, Engine, Served};
use crate::fault::Fault;
use crate::log::{Cut, Kind, Log, LogError, Record};
use crate::store::{self, Answer, Beside, Fold, print};

/// Maximum number of requests written with one `fsync`.
const GROUP: usize = 512;

/// Limits and intervals of the service.
#[derive(Debug, Clone)]
pub struct Limits {
    /// Maximum bytes of a body.
    pub body: usize,
    /// Maximum rows of a request.
    pub rows: u64,
    /// Maximum features of a model.
    pub features: usize,
    /// Maximum number of models.
    pub models: usize,
    /// Maximum number of connections.
    pub connections: usize,
    /// Maximum number of requests waiting for a learner.
    pub queue: usize,
    /// Maximum number of predictions waiting for a label.
    pub pending: usize,
    /// Maximum bytes of rows waiting for a label.
    pub pending_bytes: usize,
    /// How long a prediction waits for its label.
    pub pending_time: Duration,
    /// How long a request may take to arrive.
    pub time: Duration,
    /// Number of rows after which a snapshot is written.
    pub snapshot_rows: u64,
    /// Time after which a snapshot is written, if there are new rows.
    pub snapshot_time: Duration,
    /// Whether to keep the whole log.
    pub keep_log: bool,
}

impl Default for Limits {
    fn default() -> Self {
        Self {
            body: 16 << 20,
            rows: 1_000_000,
            features: 1 << 22,
            models: 64,
            connections: 1024,
            queue: 1024,
            pending: 100_000,
            pending_bytes: 64 << 20,
            pending_time: Duration::from_secs(86_400),
            time: Duration::from_secs(30),
            snapshot_rows: 1_000_000,
            snapshot_time: Duration::from_secs(60),
            keep_log: false,
        }
    }
}

pub(crate) fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

/// Two copies of a model.
#[derive(Debug)]
pub struct Sides {
    sides: [RwLock<Engine>; 2],
    live: AtomicUsize,
}

impl Sides {
    fn new(engine: Engine) -> Result<Self, Fault> {
        let copy = engine.copy()?;
        Ok(Self { sides: [RwLock::new(engine), RwLock::new(copy)], live: AtomicUsize::new(0) })
    }

    /// The copy that was published last.
    pub fn read(&self) -> RwLockReadGuard<'_, Engine> {
        loop {
            match self.sides[self.live.load(Ordering::Acquire)].try_read() {
                Ok(side) => return side,
                Err(TryLockError::Poisoned(side)) => return side.into_inner(),
                // The copies have just been swapped.
                Err(TryLockError::WouldBlock) => std::hint::spin_loop(),
            }
        }
    }

    fn write(&self, side: usize) -> RwLockWriteGuard<'_, Engine> {
        self.sides[side].write().unwrap_or_else(PoisonError::into_inner)
    }
}

/// A prediction waiting for its label.
#[derive(Debug, Clone)]
struct Waiting {
    format: &'static str,
    body: Vec<u8>,
    served: Option<Served>,
    since: Instant,
}

/// The predictions waiting for labels.
#[derive(Debug, Default)]
pub struct Pending {
    rows: HashMap<String, Waiting>,
    order: VecDeque<(String, Instant)>,
    bytes: usize,
}

impl Pending {
    fn take(&mut self, id: &str) -> Option<Waiting> {
        let row = self.rows.remove(id)?;
        self.bytes -= row.body.len();
        Some(row)
    }

    fn put(&mut self, id: String, row: Waiting) {
        self.take(&id);
        self.bytes += row.body.len();
        self.order.push_back((id.clone(), row.since));
        self.rows.insert(id, row);
    }

    /// Drops predictions that are too old or too many; returns their number.
    fn trim(&mut self, limits: &Limits) -> u64 {
        let mut dropped = 0;
        while let Some((id, since)) = self.order.front() {
            let current = self.rows.get(id).is_some_and(|row| row.since == *since);
            let over = self.rows.len() > limits.pending || self.bytes > limits.pending_bytes;
            let old = since.elapsed() > limits.pending_time;
            if current && !over && !old {
                break;
            }
            if let Some((id, _)) = self.order.pop_front()
                && current
            {
                self.take(&id);
                dropped += 1;
            }
        }
        dropped
    }
}

/// Counters of a model.
#[derive(Debug, Default)]
pub struct Counts {
    /// Rows predicted.
    pub predicted: AtomicU64,
    /// Rows learned since the start.
    pub learned: AtomicU64,
    /// Requests refused because the queue was full.
    pub refused: AtomicU64,
    /// Predictions whose label did not come in time.
    pub dropped: AtomicU64,
    /// Repeated ids.
    pub repeated: AtomicU64,
    /// Commits of the log.
    pub commits: AtomicU64,
    /// The sequence number on disk.
    pub sequence: AtomicU64,
    /// Bytes of the newest segment.
    pub log_bytes: AtomicU64,
}

/// Seconds of history shown to a new viewer of the live page.
const HISTORY: usize = 600;

/// The state of a model at one second.
#[derive(Debug, Clone, Copy)]
struct Point {
    at: Instant,
    examples: u64,
    loss: f64,
    predicted: u64,
}

/// A response, and whether it was given before.
pub type Acknowledged = Result<(Answer, bool), Fault>;

/// A request to the learner thread.
#[derive(Debug)]
pub enum Job {
    /// Learn rows with labels.
    Learn {
        /// Format of the rows.
        format: &'static str,
        /// The rows.
        body: Vec<u8>,
        /// The client's id, or empty.
        id: String,
    },
    /// Learn a row that was predicted before.
    Feedback {
        /// Id of the prediction.
        id: String,
        /// Its label.
        label: Value,
    },
    /// Return to a sequence number.
    Rollback(u64),
    /// Add a challenger: `json` or `model`, and the bytes.
    Shadow(&'static str, Vec<u8>),
    /// Replace the model by the challenger.
    Promote,
    /// Remove the challenger.
    DropShadow,
    /// Write a snapshot.
    Snapshot,
    /// Write a snapshot and stop.
    Stop,
}

type Asked = (Job, oneshot::Sender<Acknowledged>);

/// A model that is being served.
#[derive(Debug)]
pub struct Host {
    /// Name of the model.
    pub name: String,
    /// Folder of the model.
    pub folder: PathBuf,
    /// The published weights.
    pub sides: Arc<Sides>,
    /// Counters of the model.
    pub counts: Arc<Counts>,
    beside: Arc<Mutex<Beside>>,
    pending: Arc<Mutex<Pending>>,
    sender: SyncSender<Asked>,
    thread: Mutex<Option<JoinHandle<()>>>,
    trouble: Arc<Mutex<Option<String>>>,
    history: Mutex<VecDeque<Point>>,
    limits: Limits,
}

impl Host {
    /// Starts the learner thread of a model folder. Returns a message about the state found there.
    pub fn start(folder: PathBuf, limits: &Limits) -> Result<(Self, String), Fault> {
        let name = store::name(&folder)?;
        let begun = Instant::now();
        let loaded = store::replay(&folder, None, None)?;
        let (log, cut) =
            Log::open(&folder.join("log"), loaded.end.0.max(loaded.snapshot), loaded.end.1)?;
        let Fold { mut engine, beside } = loaded.fold;
        engine.position = log.next();
        let mut note = format!(
            "model '{name}': sequence {}, snapshot {}, {} requests replayed in {:.1} s",
            log.next(),
            loaded.snapshot,
            loaded.records,
            begun.elapsed().as_secs_f64()
        );
        if let Some(Cut { path, bytes, kept }) = cut {
            let _ = write!(
                note,
                "; {bytes} bytes of an unfinished write at the end of {} were moved to {}",
                path.display(),
                kept.display()
            );
        }
        let counts = Arc::new(Counts::default());
        counts.sequence.store(log.next(), Ordering::Relaxed);
        let sides = Arc::new(Sides::new(engine)?);
        let beside = Arc::new(Mutex::new(beside));
        let pending = Arc::new(Mutex::new(Pending::default()));
        let trouble = Arc::new(Mutex::new(None));
        let (sender, receiver) = sync_channel(limits.queue);
        let mut worker = Worker {
            folder: folder.clone(),
            sides: Arc::clone(&sides),
            beside: Arc::clone(&beside),
            pending: Arc::clone(&pending),
            counts: Arc::clone(&counts),
            trouble: Arc::clone(&trouble),
            limits: limits.clone(),
            snapshot: (Instant::now(), loaded.snapshot),
            log,
        };
        // So that a service that is killed repeatedly does not replay more each time.
        if worker.log.next() - loaded.snapshot >= limits.snapshot_rows {
            worker.save();
        }
        let thread = thread::Builder::new()
            .name(format!("learn {name}"))
            .spawn(move || worker.run(&receiver));
        let thread = thread
            .map_err(|error| Fault::new(503, error.to_string(), "raise the limit on threads"))?;
        let thread = Mutex::new(Some(thread));
        let limits = limits.clone();
        Ok((
            Self {
                name,
                folder,
                sides,
                counts,
                beside,
                pending,
                sender,
                thread,
                trouble,
                history: Mutex::default(),
                limits,
            },
            note,
        ))
    }

    /// Puts a job in the queue. The answer comes when the job is on disk.
    pub fn ask(&self, job: Job) -> Result<oneshot::Receiver<Acknowledged>, Fault> {
        let (send, answer) = oneshot::channel();
        match self.sender.try_send((job, send)) {
            Ok(()) => Ok(answer),
            Err(TrySendError::Full(_)) => {
                self.counts.refused.fetch_add(1, Ordering::Relaxed);
                Err(Fault::new(
                    429,
                    "the queue of the model is full",
                    "send the request again later",
                ))
            }
            Err(TrySendError::Disconnected(_)) => Err(stopped()),
        }
    }

    /// Predicts with the published weights. With an id, the row waits for its label.
    pub fn predict(
        &self,
        format: &'static str,
        body: &[u8],
        proba: bool,
        id: Option<&str>,
    ) -> Result<String, Fault> {
        let side = self.sides.read();
        let (answer, served) = side.predict(format, body, proba, self.limits.features)?;
        let sequence = side.position;
        drop(side);
        self.counts.predicted.fetch_add(1, Ordering::Relaxed);
        if let Some(id) = id {
            if served.is_none() {
                let remedy = "send one row with an id, to a model that learns";
                return Err(Fault::new(422, "an id names one row of a model that learns", remedy));
            }
            let row = Waiting { format, body: body.to_vec(), served, since: Instant::now() };
            let mut pending = lock(&self.pending);
            pending.put(id.to_owned(), row);
            self.counts.dropped.fetch_add(pending.trim(&self.limits), Ordering::Relaxed);
        }
        Ok(format!("{{\"model\":{},\"sequence\":{sequence},{answer}}}", json!(self.name)))
    }

    /// A description of the model.
    pub fn describe(&self) -> Value {
        let mut object = self.sides.read().describe();
        let beside = lock(&self.beside);
        object["model"] = self.name.clone().into();
        object["served"] = json!({
            "examples": beside.served.examples,
            "loss": (beside.served.examples > 0).then(|| beside.served.loss / beside.served.examples as f64),
            "errors": beside.served.errors,
        });
        object["shadow"] = beside.difference(&self.sides.read()).into();
        let pending = lock(&self.pending);
        object["waiting"] = json!({ "rows": pending.rows.len(), "bytes": pending.bytes });
        object["trouble"] = lock(&self.trouble).clone().into();
        object
    }

    /// The guarantees, and the comparison with the shadow.
    pub fn certificate(&self) -> Value {
        let mut object =
            json!({ "model": self.name, "certificate": self.sides.read().certificate() });
        object["shadow"] = lock(&self.beside).difference(&self.sides.read()).into();
        object
    }

    /// The present sequence number, number of examples, and average loss.
    pub fn progress(&self) -> (u64, u64, f64) {
        let side = self.sides.read();
        let (examples, loss) = side.progress();
        (side.position, examples, loss)
    }

    /// Adds the present state to the history.
    pub fn record(&self) {
        let (_, examples, loss) = self.progress();
        let predicted = self.counts.predicted.load(Ordering::Relaxed);
        let mut history = lock(&self.history);
        history.push_back(Point { at: Instant::now(), examples, loss, predicted });
        if history.len() > HISTORY {
            history.pop_front();
        }
    }

    /// The history, one point per second: age in seconds, examples, average loss, rows predicted.
    pub fn history(&self) -> Value {
        let point = |point: &Point| {
            let age = point.at.elapsed().as_secs_f64();
            json!([age, point.examples, point.loss, point.predicted])
        };
        lock(&self.history).iter().map(point).collect()
    }

    /// Number of rows waiting for a label.
    pub fn waiting(&self) -> usize {
        lock(&self.pending).rows.len()
    }

    /// The error of the last snapshot, if it failed.
    pub fn trouble(&self) -> Option<String> {
        lock(&self.trouble).clone()
    }

    /// Writes a snapshot and stops the thread. Queued requests are processed first.
    pub fn stop(&self) {
        let (send, _) = oneshot::channel();
        let _ = self.sender.send((Job::Stop, send));
        if let Some(thread) = lock(&self.thread).take() {
            let _ = thread.join();
        }
    }
}

fn stopped() -> Fault {
    Fault::new(503, "the model is stopped", "send the request again after the restart")
}

struct Worker {
    folder: PathBuf,
    sides: Arc<Sides>,
    beside: Arc<Mutex<Beside>>,
    pending: Arc<Mutex<Pending>>,
    counts: Arc<Counts>,
    trouble: Arc<Mutex<Option<String>>>,
    limits: Limits,
    /// Time and sequence number of the last snapshot.
    snapshot: (Instant, u64),
    log: Log,
}

/// A request that was learned and is not on disk yet.
struct Done {
    record: Record,
    batch: Batch,
    /// The measurements of its rows before they were learned.
    rows: Rows,
    /// The waiting row that feedback has used up.
    waiting: Option<Waiting>,
}

/// The answers to a group, in order.
type Replies = Vec<(oneshot::Sender<Acknowledged>, Acknowledged)>;

impl Worker {
    fn run(&mut self, receiver: &Receiver<Asked>) {
        loop {
            let wait = self.limits.snapshot_time.saturating_sub(self.snapshot.0.elapsed());
            let mut jobs = VecDeque::new();
            match receiver.recv_timeout(wait.max(Duration::from_millis(1))) {
                Ok(asked) => jobs.push_back(asked),
                Err(RecvTimeoutError::Timeout) => {}
                Err(RecvTimeoutError::Disconnected) => return,
            }
            jobs.extend(receiver.try_iter().take(GROUP));
            let mut group = Vec::new();
            while let Some((job, reply)) = jobs.pop_front() {
                match job {
                    Job::Learn { .. } | Job::Feedback { .. } => group.push((job, reply)),
                    Job::Stop => {
                        self.learn(std::mem::take(&mut group));
                        self.save();
                        let _ = reply.send(Ok((self.answer(0), false)));
                        return;
                    }
                    other => {
                        self.learn(std::mem::take(&mut group));
                        let done = self.change(other);
                        let _ = reply.send(done.map(|answer| (answer, false)));
                    }
                }
            }
            self.learn(group);
            let position = self.log.next();
            let due = self.snapshot.0.elapsed() >= self.limits.snapshot_time;
            if due || position - self.snapshot.1 >= self.limits.snapshot_rows {
                if position > self.snapshot.1 {
                    self.save();
                }
                self.snapshot.0 = Instant::now();
            }
        }
    }

    fn answer(&self, rows: u64) -> Answer {
        Answer { sequence: self.log.next(), rows, print: 0 }
    }

    /// Learns a group of requests, with one `fsync`.
    fn learn(&mut self, jobs: Vec<Asked>) {
        if jobs.is_empty() {
            return;
        }
        let live = self.sides.live.load(Ordering::Acquire);
        let sides = Arc::clone(&self.sides);
        let (mut done, mut replies): (Vec<Done>, Replies) = (Vec::new(), Vec::new());
        let mut side = sides.write(1 - live);
        for (job, reply) in jobs {
            let answer = match self.one(&mut side, job, &mut done) {
                // Some of its rows may have been learned, so start again from the published copy.
                Err((fault, true)) => match Self::again(&sides, live, &done) {
                    Ok(engine) => {
                        *side = engine;
                        Err(fault)
                    }
                    Err(worse) => Err(worse),
                },
                Err((fault, false)) => Err(fault),
                Ok(answer) => Ok(answer),
            };
            replies.push((reply, answer));
        }
        if let Err(error) = self.log.commit() {
            if let Ok(engine) = Self::again(&sides, live, &[]) {
                *side = engine;
            }
            let fault = Fault::from(error);
            for Done { record, waiting, .. } in done {
                lock(&self.beside).ids.remove(&record.id);
                if let Some(row) = waiting {
                    lock(&self.pending).put(record.id.clone(), row);
                }
            }
            for (reply, answer) in replies {
                let _ = reply.send(match answer {
                    Ok((answer, true)) if answer.sequence <= self.log.next() => Ok((answer, true)),
                    Ok(_) => Err(fault.clone()),
                    Err(fault) => Err(fault),
                });
            }
            return;
        }
        drop(side);
        sides.live.store(1 - live, Ordering::Release);
        self.counts.commits.fetch_add(1, Ordering::Relaxed);
        self.counts.sequence.store(self.log.next(), Ordering::Relaxed);
        self.counts.log_bytes.store(self.log.bytes(), Ordering::Relaxed);
        let rows = done.iter().map(|done| done.record.rows).sum();
        self.counts.learned.fetch_add(rows, Ordering::Relaxed);
        for Done { record, rows, .. } in &done {
            // Only a promotion returns a model, and no group contains one.
            let _ = lock(&self.beside).apply(record, &sides.read(), rows);
        }
        for (reply, answer) in replies {
            let _ = reply.send(answer);
        }
        let mut side = sides.write(live);
        for Done { record, batch, .. } in &done {
            // The other copy has learned the same rows.
            let _ = side.learn(batch);
            side.position = record.end();
        }
    }

    /// A copy of the published model that has learned these requests again.
    fn again(sides: &Sides, live: usize, done: &[Done]) -> Result<Engine, Fault> {
        let live = sides.sides[live].read().unwrap_or_else(PoisonError::into_inner);
        let mut engine = live.copy()?;
        for Done { record, batch, .. } in done {
            engine.learn(batch)?;
            engine.position = record.end();
        }
        Ok(engine)
    }

    /// Learns one request and appends it to the log. The error says whether the copy must be rebuilt.
    fn one(
        &mut self,
        side: &mut Engine,
        job: Job,
        done: &mut Vec<Done>,
    ) -> Result<(Answer, bool), (Fault, bool)> {
        let limits = &self.limits;
        let (kind, id, format, body, mark, waiting) = match job {
            Job::Learn { format, body, id } => {
                let mark = print(format, &body);
                if let Some(known) = self.known(&id, mark, "other rows")? {
                    return Ok((known, true));
                }
                (Kind::Learn, id, format, body, mark, None)
            }
            Job::Feedback { id, label } => {
                let mark = print("feedback", label.to_string().as_bytes());
                if let Some(known) = self.known(&id, mark, "another label")? {
                    return Ok((known, true));
                }
                let Some(row) = lock(&self.pending).take(&id) else {
                    let remedy = "send the row with its label to learn";
                    let detail = format!("no prediction with the id '{id}' waits for a label");
                    return Err((Fault::new(404, detail, remedy), false));
                };
                (Kind::Feedback, id, row.format, row.body.clone(), mark, Some((row, label)))
            }
            _ => return Err((stopped(), false)),
        };
        let read =
            side.read(format, &body, kind == Kind::Learn, limits.features).and_then(|mut batch| {
                if let Some((_, label)) = &waiting {
                    side.label(&mut batch, label)?;
                }
                match batch.rows() {
                    0 => Err(Fault::new(422, "the body has no rows", "send at least one row")),
                    rows if rows > limits.rows => {
                        let detail =
                            format!("{rows} rows, and at most {} are taken at once", limits.rows);
                        Err(Fault::new(413, detail, "send them in several requests"))
                    }
                    _ => Ok(batch),
                }
            });
        let learned = read.map_err(|fault| (fault, false)).and_then(|batch| {
            let rows = side.learn(&batch).map_err(|fault| (fault, true))?;
            Ok((batch, rows))
        });
        let (batch, seen) = match learned {
            Ok(learned) => learned,
            Err(fault) => {
                if let Some((row, _)) = waiting {
                    lock(&self.pending).put(id, row);
                }
                return Err(fault);
            }
        };
        let note =
            waiting.as_ref().map(|(row, label)| store::feedback_note(side, label, row.served));
        let (rows, format, note) = (batch.rows(), format.to_owned(), note.unwrap_or_default());
        let mut record = Record { kind, sequence: 0, rows, millis: now(), id, format, note, body };
        self.log.append(&mut record);
        side.position = record.end();
        let answer = Answer { sequence: record.end(), rows, print: mark };
        lock(&self.beside).ids.insert(&record.id, answer);
        done.push(Done { record, batch, rows: seen, waiting: waiting.map(|(row, _)| row) });
        Ok((answer, false))
    }

    /// The first answer to an id; an error if the id was used for another request.
    fn known(&self, id: &str, mark: u64, other: &str) -> Result<Option<Answer>, (Fault, bool)> {
        let Some(known) = lock(&self.beside).ids.get(id) else { return Ok(None) };
        if known.print != mark {
            let detail = format!("the id '{id}' was used with {other}");
            return Err((Fault::new(409, detail, "use a new id"), false));
        }
        self.counts.repeated.fetch_add(1, Ordering::Relaxed);
        Ok(Some(known))
    }

    /// Carries out a change other than learning; it is written to the log alone.
    fn change(&mut self, job: Job) -> Result<Answer, Fault> {
        let (kind, format, note, body) = match job {
            Job::Snapshot => {
                self.save();
                return match self.trouble.lock().ok().and_then(|trouble| trouble.clone()) {
                    Some(trouble) => Err(Fault::new(507, trouble, "make room on the disk")),
                    None => Ok(self.answer(0)),
                };
            }
            Job::Rollback(to) => return self.rollback(to),
            Job::Shadow(format, body) => {
                store::new_engine(format, &body)?;
                (Kind::Shadow, format, String::new(), body)
            }
            Job::Promote | Job::DropShadow if lock(&self.beside).shadow.is_none() => {
                return Err(Fault::new(
                    409,
                    "the model has no shadow",
                    "add one with POST .../shadow",
                ));
            }
            Job::Promote => (Kind::Promote, "", String::new(), Vec::new()),
            _ => (Kind::DropShadow, "", String::new(), Vec::new()),
        };
        let record = self.control(kind, format, note, body)?;
        let live = self.sides.live.load(Ordering::Acquire);
        let promoted = lock(&self.beside).apply(&record, &self.sides.read(), &Rows::default())?;
        match promoted {
            Some(engine) => self.publish(live, engine, record.end())?,
            None => (0..2).for_each(|side| self.sides.write(side).position = record.end()),
        }
        Ok(self.answer(0))
    }

    fn control(
        &mut self,
        kind: Kind,
        format: &str,
        note: String,
        body: Vec<u8>,
    ) -> Result<Record, Fault> {
        let (id, format) = (String::new(), format.to_owned());
        let mut record =
            Record { kind, sequence: 0, rows: 0, millis: now(), id, format, note, body };
        self.log.append(&mut record);
        self.log.commit()?;
        self.counts.sequence.store(self.log.next(), Ordering::Relaxed);
        Ok(record)
    }

    /// Replaces both copies by another model.
    fn publish(&self, live: usize, mut engine: Engine, position: u64) -> Result<(), Fault> {
        engine.position = position;
        let copy = engine.copy()?;
        *self.sides.write(1 - live) = engine;
        self.sides.live.store(1 - live, Ordering::Release);
        *self.sides.write(live) = copy;
        Ok(())
    }

    fn rollback(&mut self, to: u64) -> Result<Answer, Fault> {
        if to >= self.log.next() {
            let detail = format!("sequence {to} is not before {}", self.log.next());
            return Err(Fault::new(409, detail, "use an earlier number"));
        }
        let back = store::replay(&self.folder, Some(to), None)?;
        let record = self.control(Kind::Rollback, "", to.to_string(), Vec::new())?;
        let live = self.sides.live.load(Ordering::Acquire);
        *lock(&self.beside) = back.fold.beside;
        self.publish(live, back.fold.engine, record.end())?;
        self.save();
        Ok(self.answer(0))
    }

    /// Writes a snapshot and removes those it replaces. An error is kept for `describe` and the metrics.
    fn save(&mut self) {
        let saved = self.try_save();
        *lock(&self.trouble) = saved.err().map(|fault| format!("no snapshot: {}", fault.detail));
    }

    fn try_save(&mut self) -> Result<(), Fault> {
        let position = self.log.next();
        store::save(&self.folder, &self.sides.read(), &lock(&self.beside))?;
        self.snapshot = (Instant::now(), position);
        let tidied: Result<(), LogError> = self
            .log
            .rotate()
            .and_then(|()| store::tidy(&self.folder, &self.log, self.limits.keep_log));
        tidied.map_err(Fault::from)
    }
}

fn now() -> u64 {
    let since = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default();
    u64::try_from(since.as_millis()).unwrap_or(u64::MAX)
}
