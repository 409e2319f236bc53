//! # The folder of a model
//! ```text
//! models/00000001/about.json                      the name
//! models/00000001/log/00000000000000000000.log    accepted requests
//! models/00000001/snapshot-00000000000000001000.json, .gw, .shadow.gw
//! ```
//! The state is a snapshot plus the log after it. The `.json` file of a snapshot is written last; without it the
//! snapshot does not count.
//!
//! **Rollback** A rollback record gives the sequence number that the model returned to. The records between that
//! number and the rollback record no longer contribute to the present state, and neither do snapshots taken among
//! them.

use std::collections::{HashMap, VecDeque};
use std::fs;
use std::io::Write;
use std::path::{Path, PathBuf};

use geowalk_run::replace::Output;
use serde_json::{Value, json};

use crate::duel::{Duel, Rows};
use crate::engine::{Engine, Served, Spec};
use crate::fault::Fault;
use crate::log::{self, Kind, LogError, Record};

/// Number of ids that are remembered.
pub const IDS: usize = 100_000;

/// The response to a request, so that a repeated id gets the same response.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Answer {
    /// The sequence number after the rows.
    pub sequence: u64,
    /// Number of rows.
    pub rows: u64,
    /// Fingerprint of the request.
    pub print: u64,
}

/// The ids of the latest requests.
#[derive(Debug, Clone, Default)]
pub struct Ids {
    answers: HashMap<String, Answer>,
    order: VecDeque<String>,
    /// Number of ids dropped because there were too many.
    pub dropped: u64,
}

impl Ids {
    /// The answer to an id.
    pub fn get(&self, id: &str) -> Option<Answer> {
        self.answers.get(id).copied()
    }

    /// Stores the answer to an id, unless the id is empty.
    pub fn insert(&mut self, id: &str, answer: Answer) {
        if id.is_empty() {
            return;
        }
        if self.answers.insert(id.to_owned(), answer).is_none() {
            self.order.push_back(id.to_owned());
        }
        while self.order.len() > IDS {
            if let Some(id) = self.order.pop_front() {
                self.answers.remove(&id);
            }
            self.dropped += 1;
        }
    }

    /// Removes an id whose request was not carried out.
    pub fn remove(&mut self, id: &str) {
        if self.answers.remove(id).is_some() {
            self.order.retain(|known| known != id);
        }
    }

    fn json(&self) -> Value {
        let of = |id: &String| {
            self.answers.get(id).map(|a| json!([id, a.sequence, a.rows, a.print.to_string()]))
        };
        self.order.iter().filter_map(of).collect()
    }

    fn load(value: &Value) -> Option<Self> {
        let mut ids = Self::default();
        for entry in value.as_array()? {
            let (sequence, rows) = (entry[1].as_u64()?, entry[2].as_u64()?);
            let print = entry[3].as_str()?.parse().ok()?;
            ids.insert(entry[0].as_str()?, Answer { sequence, rows, print });
        }
        Some(ids)
    }
}

/// Losses of served predictions whose labels arrived later.
#[derive(Debug, Clone, Copy, Default, PartialEq)]
pub struct ServedLoss {
    /// Number of labels.
    pub examples: u64,
    /// Total loss.
    pub loss: f64,
    /// Number of wrong classes.
    pub errors: u64,
}

/// A challenger that learns the same rows.
#[derive(Debug)]
pub struct Shadow {
    /// The challenger.
    pub engine: Engine,
    /// Number of examples and total loss of the model when the shadow was added.
    pub base: (u64, f64),
    /// The comparison of both on the same rows.
    pub duel: Duel,
}

/// The state that follows from the log.
#[derive(Debug)]
pub struct Fold {
    /// The model.
    pub engine: Engine,
    /// All other state.
    pub beside: Beside,
}

/// The state that follows from the log, except the weights of the model.
#[derive(Debug, Default)]
pub struct Beside {
    /// The challenger.
    pub shadow: Option<Shadow>,
    /// The ids of the latest requests.
    pub ids: Ids,
    /// Losses of the served predictions.
    pub served: ServedLoss,
}

/// Fingerprint of a request.
pub fn print(format: &str, body: &[u8]) -> u64 {
    let mut hash = blake3::Hasher::new();
    hash.update(format.as_bytes()).update(b"\n").update(body);
    hash.finalize().as_bytes()[..8].iter().fold(0, |sum, byte| (sum << 8) | u64::from(*byte))
}

/// The note of a feedback record: the label, and the loss of the served prediction. `model` has learned the row.
pub fn feedback_note(model: &Engine, label: &Value, served: Option<Served>) -> String {
    let (loss, wrong) = served.map_or((None, None), |served| model.served_loss(served, label));
    json!({ "label": label, "served": served.is_some(), "loss": loss, "wrong": wrong }).to_string()
}

impl Fold {
    /// The state of a new model.
    pub fn new(engine: Engine) -> Self {
        Self { engine, beside: Beside::default() }
    }

    /// Applies a record. A log contains only records that were carried out once.
    pub fn apply(&mut self, record: &Record) -> Result<(), Fault> {
        let mut rows = Rows::default();
        match record.kind {
            Kind::Learn => {
                let batch = self.engine.read(&record.format, &record.body, true, usize::MAX)?;
                rows = self.engine.learn(&batch)?;
            }
            Kind::Feedback => {
                let mut batch =
                    self.engine.read(&record.format, &record.body, false, usize::MAX)?;
                let note: Value = serde_json::from_str(&record.note).unwrap_or_default();
                self.engine.label(&mut batch, &note["label"])?;
                rows = self.engine.learn(&batch)?;
            }
            _ => {}
        }
        if let Some(promoted) = self.beside.apply(record, &self.engine, &rows)? {
            self.engine = promoted;
        }
        self.engine.position = record.end();
        Ok(())
    }
}

impl Beside {
    /// Applies a record to everything except the weights of the model, which were updated before. Returns the model
    /// that replaces the present one, if the record says so.
    pub fn apply(
        &mut self,
        record: &Record,
        model: &Engine,
        rows: &Rows,
    ) -> Result<Option<Engine>, Fault> {
        let note = || -> Value { serde_json::from_str(&record.note).unwrap_or_default() };
        match record.kind {
            Kind::Learn => {
                let answer = Answer {
                    sequence: record.end(),
                    rows: record.rows,
                    print: print(&record.format, &record.body),
                };
                self.ids.insert(&record.id, answer);
            }
            Kind::Feedback => {
                let note = note();
                let label = note["label"].to_string();
                let print = print("feedback", label.as_bytes());
                self.ids.insert(&record.id, Answer { sequence: record.end(), rows: 1, print });
                self.served.examples += u64::from(note["served"] == true);
                self.served.loss += note["loss"].as_f64().unwrap_or(0.0);
                self.served.errors += u64::from(note["wrong"] == true);
            }
            Kind::Shadow => {
                let engine = new_engine(&record.format, &record.body)?;
                let (examples, loss) = model.progress();
                let base = (examples, loss * examples as f64);
                self.shadow = Some(Shadow { engine, base, duel: Duel::default() });
            }
            Kind::DropShadow => self.shadow = None,
            Kind::Promote => return Ok(self.shadow.take().map(|shadow| shadow.engine)),
            Kind::Rollback => {}
        }
        if let (Kind::Learn | Kind::Feedback, Some(shadow)) = (record.kind, &mut self.shadow) {
            let learned = shadow.engine.read(
                &record.format,
                &record.body,
                record.kind == Kind::Learn,
                usize::MAX,
            );
            let learned = learned.and_then(|mut batch| {
                if record.kind == Kind::Feedback {
                    shadow.engine.label(&mut batch, &note()["label"])?;
                }
                shadow.engine.learn(&batch)
            });
            match learned {
                Ok(seen) => shadow.duel.see(rows, &seen),
                // A challenger that cannot learn a row is removed; the model continues.
                Err(_) => self.shadow = None,
            }
        }
        Ok(None)
    }

    /// The number of examples since the shadow was added, and the average loss of both models on them.
    pub fn difference(&self, model: &Engine) -> Option<Value> {
        let shadow = self.shadow.as_ref()?;
        let (examples, average) = model.progress();
        let (of_shadow, loss) = shadow.engine.progress();
        let since = examples - shadow.base.0;
        let model_loss = (average * examples as f64 - shadow.base.1) / (since.max(1)) as f64;
        let (task, range) = model.kind().map_or((None, None), |(task, range)| (Some(task), range));
        Some(json!({
            "examples": since, "model_loss": model_loss, "shadow_loss": loss,
            "difference": model_loss - loss, "shadow_examples": of_shadow,
            "intervals": shadow.duel.json(task, range),
            "settings": shadow.engine.spec().map(Spec::json),
        }))
    }
}

/// A model from settings (`json`) or from a model file (`model`).
pub fn new_engine(format: &str, body: &[u8]) -> Result<Engine, Fault> {
    if format == "model" {
        let refused = |error: geowalk_run::error::RunError| {
            Fault::new(422, error.to_string(), "send a model file that geowalk wrote")
        };
        return Engine::restore(body, None).map_err(refused);
    }
    let text = std::str::from_utf8(body)
        .map_err(|_| Fault::bad("the settings are no text", "send JSON"))?;
    Spec::parse(text).map(Engine::new)
}

fn snapshot_path(folder: &Path, position: u64, ending: &str) -> PathBuf {
    folder.join(format!("snapshot-{position:020}{ending}"))
}

fn write(path: &Path, bytes: &[u8]) -> Result<(), LogError> {
    let written = Output::create(path).and_then(|mut output| {
        output.write_all(bytes)?;
        output.finish()
    });
    written.map_err(LogError::io("write", path))
}

/// Writes a snapshot.
pub fn save(folder: &Path, engine: &Engine, beside: &Beside) -> Result<(), Fault> {
    let position = engine.position;
    let bytes = |engine: &Engine| engine.snapshot().map_err(Fault::from);
    let model = bytes(engine)?;
    if let Some(bytes) = &model {
        write(&snapshot_path(folder, position, ".gw"), bytes)?;
    }
    let mut shadow = Value::Null;
    if let Some(challenger) = &beside.shadow {
        let bytes = bytes(&challenger.engine)?;
        if let Some(bytes) = &bytes {
            write(&snapshot_path(folder, position, ".shadow.gw"), bytes)?;
        }
        let spec = challenger.engine.spec().map(Spec::json);
        shadow = json!({
            "model": bytes.is_some(), "spec": spec, "position": challenger.engine.position,
            "examples": challenger.base.0, "loss": challenger.base.1, "duel": challenger.duel.save(),
        });
    }
    let about = json!({
        "format": 1, "model": model.is_some(), "spec": engine.spec().map(Spec::json),
        "shadow": shadow, "ids": beside.ids.json(), "ids_dropped": beside.ids.dropped,
        "served": [beside.served.examples, beside.served.loss, beside.served.errors],
    });
    write(&snapshot_path(folder, position, ".json"), about.to_string().as_bytes())?;
    Ok(())
}

/// The sequence numbers of all snapshots, in order.
pub fn snapshots(folder: &Path) -> Result<Vec<u64>, LogError> {
    let mut found = Vec::new();
    for entry in fs::read_dir(folder).map_err(LogError::io("read", folder))? {
        let name = entry.map_err(LogError::io("read", folder))?.file_name();
        let number =
            name.to_str().and_then(|name| name.strip_prefix("snapshot-")?.strip_suffix(".json"));
        found.extend(number.and_then(|number| number.parse::<u64>().ok()));
    }
    found.sort_unstable();
    Ok(found)
}

/// Reads a snapshot.
pub fn load(folder: &Path, position: u64) -> Result<Fold, Fault> {
    let path = snapshot_path(folder, position, ".json");
    let bytes = fs::read(&path).map_err(LogError::io("read", &path))?;
    let broken = || {
        let detail = format!("{}: the snapshot is damaged", path.display());
        Fault::new(503, detail, "restore the folder from a backup")
    };
    let about: Value = serde_json::from_slice(&bytes).map_err(|_| broken())?;
    let engine = |has: &Value, spec: &Value, ending: &str| -> Result<Engine, Fault> {
        let spec = if spec.is_null() { None } else { Some(Spec::parse(&spec.to_string())?) };
        if has == &Value::Bool(true) {
            let path = snapshot_path(folder, position, ending);
            let bytes = fs::read(&path).map_err(LogError::io("read", &path))?;
            let inside = |error| {
                Fault::new(503, format!("{}: {error}", path.display()), "restore it from a backup")
            };
            return Engine::restore(&bytes, spec).map_err(inside);
        }
        spec.map(Engine::new).ok_or_else(broken)
    };
    let mut fold = Fold::new(engine(&about["model"], &about["spec"], ".gw")?);
    fold.engine.position = position;
    let shadow = &about["shadow"];
    if !shadow.is_null() {
        let mut challenger = engine(&shadow["model"], &shadow["spec"], ".shadow.gw")?;
        challenger.position = shadow["position"].as_u64().ok_or_else(broken)?;
        let base = (shadow["examples"].as_u64().zip(shadow["loss"].as_f64())).ok_or_else(broken)?;
        let duel = match &shadow["duel"] {
            Value::Null => Duel::void("the shadow was added by an earlier version of geowalk"),
            saved => Duel::load(saved).ok_or_else(broken)?,
        };
        fold.beside.shadow = Some(Shadow { engine: challenger, base, duel });
    }
    fold.beside.ids = Ids::load(&about["ids"]).ok_or_else(broken)?;
    fold.beside.ids.dropped = about["ids_dropped"].as_u64().unwrap_or(0);
    let [examples, errors] = [0, 2].map(|k| about["served"][k].as_u64().unwrap_or(0));
    fold.beside.served =
        ServedLoss { examples, loss: about["served"][1].as_f64().unwrap_or(0.0), errors };
    Ok(fold)
}

/// The records that lead to a state, as ranges of sequence numbers in order.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Trail(Vec<(u64, u64)>);

impl Trail {
    /// Builds the trail from rollbacks: the sequence number of each record, and its target.
    fn of(rollbacks: &[(u64, u64)]) -> Self {
        let mut ranges = vec![(0, u64::MAX)];
        for (at, to) in rollbacks {
            ranges.retain(|(from, _)| from < to || *from == 0);
            for (_, end) in &mut ranges {
                *end = (*end).min(*to);
            }
            ranges.push((at + 1, u64::MAX));
        }
        Self(ranges)
    }

    fn has_record(&self, sequence: u64) -> bool {
        self.0.iter().any(|(from, end)| *from <= sequence && sequence < *end)
    }

    /// Whether the state at this sequence number is on the trail.
    fn has_state(&self, position: u64) -> bool {
        self.0.iter().any(|(from, end)| *from <= position && position <= *end)
    }
}

/// The state read from a folder.
#[derive(Debug)]
pub struct Loaded {
    /// The state.
    pub fold: Fold,
    /// The sequence number of the snapshot that it was built from.
    pub snapshot: u64,
    /// Number of records applied.
    pub records: u64,
    /// The next sequence number, and the number of complete bytes in the newest segment.
    pub end: (u64, u64),
}

fn rollbacks(folder: &Path, from: u64) -> Result<Vec<(u64, u64)>, LogError> {
    let mut found = Vec::new();
    log::scan(&folder.join("log"), from, |record| {
        if record.kind == Kind::Rollback {
            found.push((record.sequence, record.note.parse().unwrap_or(u64::MAX)));
        }
        Ok(())
    })?;
    Ok(found)
}

/// The trail to the present state, and the snapshots on it. Unless `whole` is set, the trail starts at the newest
/// snapshot that is on it.
fn trail(folder: &Path, whole: bool) -> Result<(Trail, Vec<u64>), LogError> {
    let mut all = snapshots(folder)?;
    let newest = all.last().copied().unwrap_or(0);
    let mut back = rollbacks(folder, if whole { 0 } else { newest })?;
    if back.iter().any(|(_, to)| *to < newest) {
        back = rollbacks(folder, 0)?;
    }
    let trail = Trail::of(&back);
    all.retain(|position| trail.has_state(*position));
    Ok((trail, all))
}

/// The state after the last record, or at sequence number `until`, which must be the end of an existing record. Rows
/// are replayed from the newest snapshot before it, or from the snapshot `from`.
pub fn replay(folder: &Path, until: Option<u64>, from: Option<u64>) -> Result<Loaded, Fault> {
    let (trail, all) = trail(folder, until.is_some())?;
    let before = |position: &&u64| until.is_none_or(|until| **position <= until);
    let snapshot = from.or_else(|| all.iter().rev().find(before).copied());
    let Some(snapshot) = snapshot.filter(|_| until.is_none_or(|until| trail.has_state(until)))
    else {
        let remedy = "start the service with --keep-log to keep all of it";
        return Err(Fault::new(410, "the log does not go back so far", remedy));
    };
    let (mut fold, mut records) = (load(folder, snapshot)?, 0);
    let (mut fault, mut reached) = (None, until == Some(snapshot));
    let end = log::scan(&folder.join("log"), snapshot, |record| {
        let late = until.is_some_and(|until| record.end() > until);
        if record.sequence < snapshot
            || late
            || fault.is_some()
            || !trail.has_record(record.sequence)
        {
            return Ok(());
        }
        records += 1;
        reached |= until == Some(record.end());
        if let Err(cause) = fold.apply(&record) {
            let detail =
                format!("sequence {} cannot be replayed: {}", record.sequence, cause.detail);
            fault = Some(Fault::new(503, detail, "use the version of geowalk that wrote the log"));
        }
        Ok(())
    })?;
    match (fault, until) {
        (Some(fault), _) => return Err(fault),
        (None, Some(until)) if !reached => {
            let detail = format!("sequence {until} is not the end of an accepted request");
            return Err(Fault::new(409, detail, "use a sequence number that the service answered"));
        }
        (None, Some(_)) => {}
        (None, None) => fold.engine.position = end.0.max(snapshot),
    }
    Ok(Loaded { fold, snapshot, records, end })
}

/// The result of the audit of a folder.
#[derive(Debug)]
pub struct Audit {
    /// The name of the model.
    pub name: String,
    /// Number of snapshots that were rebuilt from the previous one and are equal to the bit.
    pub equal: u64,
    /// Number of records replayed.
    pub records: u64,
    /// The first sequence number from which rows exist.
    pub from: u64,
    /// The current sequence number.
    pub sequence: u64,
    /// The differences found.
    pub differs: Vec<String>,
}

/// Rebuilds every snapshot from the previous one and the log, and compares. Changes nothing.
pub fn audit(folder: &Path) -> Result<Audit, Fault> {
    let (_, all) = trail(folder, true)?;
    let from = all.first().copied().unwrap_or(0);
    let mut audit =
        Audit { name: name(folder)?, equal: 0, records: 0, from, sequence: 0, differs: Vec::new() };
    for pair in all.windows(2) {
        let again = replay(folder, Some(pair[1]), Some(pair[0]));
        // A snapshot taken after a rollback is not at the end of a record. Skip it: its state is that of the rollback
        // target.
        let again = match again {
            Err(fault) if fault.status == 409 => continue,
            again => again?,
        };
        let kept = load(folder, pair[1])?;
        audit.records += again.records;
        let bytes = |engine: &Engine| engine.snapshot().map_err(Fault::from);
        let shadow =
            |fold: &Fold| fold.beside.shadow.as_ref().map(|s| bytes(&s.engine)).transpose();
        if bytes(&again.fold.engine)? != bytes(&kept.engine)? {
            audit.differs.push(format!("the model at sequence {}", pair[1]));
        } else if shadow(&again.fold)? != shadow(&kept)? {
            audit.differs.push(format!("the shadow at sequence {}", pair[1]));
        } else {
            audit.equal += 1;
        }
    }
    let now = replay(folder, None, None)?;
    audit.records += now.records;
    audit.sequence = now.fold.engine.position;
    Ok(audit)
}

/// Writes the accepted rows that lead to the present state, as they were sent. Labels that came later are added to
/// their JSON rows.
pub fn rows(folder: &Path, out: &mut dyn Write) -> Result<u64, Fault> {
    let (trail, _) = trail(folder, true)?;
    let (mut count, mut failed) = (0, None);
    let first = log::segments(&folder.join("log"))?.first().map_or(0, |(first, _)| *first);
    let label_name = label_name(folder)?;
    log::scan(&folder.join("log"), first, |record| {
        if !trail.has_record(record.sequence) || failed.is_some() {
            return Ok(());
        }
        let mut text = record.body.clone();
        match record.kind {
            Kind::Learn => {}
            Kind::Feedback if record.format == "jsonl" => {
                let note: Value = serde_json::from_str(&record.note).unwrap_or_default();
                let row = String::from_utf8_lossy(&text).into_owned();
                let row = row.trim_end().trim_end_matches('}').trim_end();
                let comma = if row.ends_with('{') { "" } else { "," };
                let name = Value::from(label_name.as_str());
                text = format!("{row}{comma}{name}:{}}}", note["label"]).into_bytes();
            }
            Kind::Feedback => {
                let detail = "labels that came later can be written for JSON rows only";
                failed = Some(Fault::new(409, detail, "use geowalk verify"));
            }
            _ => return Ok(()),
        }
        if !text.ends_with(b"\n") {
            text.push(b'\n');
        }
        if let Err(error) = out.write_all(&text) {
            failed = Some(Fault::new(503, error.to_string(), "write to another place"));
        }
        count += record.rows;
        Ok(())
    })?;
    failed.map_or(Ok(count), Err)
}

fn label_name(folder: &Path) -> Result<String, Fault> {
    let fold = replay(folder, None, None)?.fold;
    Ok(fold.engine.label_name().unwrap_or_else(|| "label".to_owned()))
}

/// The name of the model in a folder.
pub fn name(folder: &Path) -> Result<String, Fault> {
    let path = folder.join("about.json");
    let bytes = fs::read(&path).map_err(LogError::io("read", &path))?;
    let about: Value = serde_json::from_slice(&bytes).unwrap_or_default();
    let missing = || {
        Fault::new(503, format!("{}: no name in it", path.display()), "restore it from a backup")
    };
    about["name"].as_str().map(str::to_owned).ok_or_else(missing)
}

/// The folders of all models, in order.
pub fn models(state: &Path) -> Result<Vec<(u64, PathBuf)>, LogError> {
    let folder = state.join("models");
    let mut found = Vec::new();
    for entry in fs::read_dir(&folder).map_err(LogError::io("read", &folder))? {
        let path = entry.map_err(LogError::io("read", &folder))?.path();
        let number = path.file_name().and_then(|name| name.to_str()?.parse().ok());
        found.extend(number.map(|number| (number, path)));
    }
    found.sort();
    Ok(found)
}

/// Creates the folder of a new model, completely or not at all.
pub fn create(state: &Path, name: &str, fold: &Fold) -> Result<PathBuf, Fault> {
    let number = models(state)?.last().map_or(1, |(last, _)| last + 1);
    let models = state.join("models");
    let (new, folder) = (models.join(format!("new-{number}")), models.join(format!("{number:08}")));
    let _ = fs::remove_dir_all(&new); // left by a crash
    let log = new.join("log");
    fs::create_dir_all(&log).map_err(LogError::io("create", &log))?;
    write(&new.join("about.json"), json!({ "name": name }).to_string().as_bytes())?;
    save(&new, &fold.engine, &fold.beside)?;
    log::sync_folder(&new)?;
    fs::rename(&new, &folder).map_err(LogError::io("create", &folder))?;
    log::sync_folder(&models)?;
    Ok(folder)
}

/// Removes the folder of a model.
pub fn remove(folder: &Path) -> Result<(), LogError> {
    let mut gone = folder.as_os_str().to_owned();
    gone.push("-deleted");
    fs::rename(folder, &gone).map_err(LogError::io("remove", folder))?;
    fs::remove_dir_all(&gone).map_err(LogError::io("remove", folder))
}

/// Removes all snapshots except the newest two, and the log before them. With `keep_log`, keeps the log and the first
/// snapshot too. Also removes snapshots that are not on the trail.
pub fn tidy(folder: &Path, log: &log::Log, keep_log: bool) -> Result<(), LogError> {
    let (trail, all) = trail(folder, false)?;
    let kept: Vec<u64> = all.iter().rev().take(2).copied().collect();
    for position in snapshots(folder)? {
        let first = keep_log && Some(&position) == all.first();
        if kept.contains(&position) || first {
            continue;
        }
        for ending in [".json", ".gw", ".shadow.gw"] {
            let path = snapshot_path(folder, position, ending);
            match fs::remove_file(&path) {
                Err(error) if error.kind() != std::io::ErrorKind::NotFound => {
                    return Err(LogError::io("remove", &path)(error));
                }
                _ => {}
            }
        }
    }
    match kept.last() {
        Some(oldest) if !keep_log => {
            let lowest = trail.0.iter().map(|(_, end)| *end).chain([*oldest]).min();
            log.remove_before(lowest.unwrap_or(*oldest))
        }
        _ => Ok(()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn trail_leaves_out_what_was_rolled_back() {
        // Rows 0..10, back to 4 at 10, rows 11..20, back to 15 at 20.
        let trail = Trail::of(&[(10, 4), (20, 15)]);
        let kept: Vec<u64> = (0..25).filter(|k| trail.has_record(*k)).collect();
        assert_eq!(kept, [0, 1, 2, 3, 11, 12, 13, 14, 21, 22, 23, 24]);
        assert!(trail.has_state(4) && trail.has_state(15) && trail.has_state(21));
        assert!(!trail.has_state(8) && !trail.has_state(18));
        assert_eq!(Trail::of(&[(10, 4), (20, 2)]).0, [(0, 2), (21, u64::MAX)]);
    }
}
