//! # The log
//! All accepted requests, in the order in which they were learned, in segment files. The format of a record is
//!
//! ```text
//! "gwr1"  length of the body: u32  CRC-32C of the body: u32  body
//! ```
//!
//! with little-endian numbers. A segment begins with [`HEADER`] and is named after its first sequence number.
//!
//! **Durability** [`Log::commit`] writes all records appended since the last commit, then synchronises the file: one
//! `fsync` for the whole group. A failed write is cut off again. A failed `fsync` closes the log until the next start,
//! because the system may have dropped the data.
//!
//! **Damage** A crash may leave an unfinished write at the end of the newest segment; [`Log::open`] moves it to a file
//! beside the segment. Any other damage is an error with file, byte and sequence number.

use std::fs::{self, File};
use std::io::{self, Read, Write};
use std::path::{Path, PathBuf};

/// The beginning of a segment.
pub const HEADER: &[u8; 16] = b"geowalk log 001\n";
const MAGIC: &[u8; 4] = b"gwr1";
const HEAD: usize = 12;

/// Why the log cannot be used.
#[derive(Debug, thiserror::Error)]
pub enum LogError {
    /// An error of the operating system.
    #[error("cannot {what} {}: {source}", path.display())]
    Io {
        /// The operation.
        what: &'static str,
        /// The file.
        path: PathBuf,
        /// The error.
        source: io::Error,
    },
    /// Bytes changed after they were written.
    #[error(
        "{}: damaged at byte {at}, before sequence {sequence}: {why}; restore the file from a backup",
        path.display()
    )]
    Damaged {
        /// The segment.
        path: PathBuf,
        /// Byte offset in the segment.
        at: usize,
        /// The sequence number expected there.
        sequence: u64,
        /// What is wrong.
        why: &'static str,
    },
    /// An earlier `fsync` failed.
    #[error("the log is closed after a failed fsync ({0}); check the disk and restart the service")]
    Broken(String),
}

impl LogError {
    pub(crate) fn io(what: &'static str, path: &Path) -> impl FnOnce(io::Error) -> Self {
        let path = path.to_owned();
        move |source| Self::Io { what, path, source }
    }

    /// Whether the disk or the quota is full.
    pub fn is_full(&self) -> bool {
        use io::ErrorKind::{FileTooLarge, QuotaExceeded, StorageFull};
        matches!(self, Self::Io { source, .. }
            if matches!(source.kind(), StorageFull | QuotaExceeded | FileTooLarge))
    }
}

/// The kind of a record.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[repr(u8)]
pub enum Kind {
    /// Learn rows with labels.
    Learn = 1,
    /// Learn a row whose label came later.
    Feedback = 2,
    /// Return to an earlier sequence number.
    Rollback = 3,
    /// Add a shadow.
    Shadow = 4,
    /// Replace the model by the shadow.
    Promote = 5,
    /// Remove the shadow.
    DropShadow = 6,
}

impl Kind {
    const ALL: [Self; 6] = [
        Self::Learn,
        Self::Feedback,
        Self::Rollback,
        Self::Shadow,
        Self::Promote,
        Self::DropShadow,
    ];
}

/// An entry of the log.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Record {
    /// Kind of the record.
    pub kind: Kind,
    /// Sequence number of the first row.
    pub sequence: u64,
    /// Number of rows.
    pub rows: u64,
    /// Time of acceptance, in milliseconds since 1970; never before that of the previous record.
    pub millis: u64,
    /// The client's id, or empty.
    pub id: String,
    /// The format of the body.
    pub format: String,
    /// JSON about the record: the label and the prediction served, or the target of a rollback.
    pub note: String,
    /// The rows as they were sent.
    pub body: Vec<u8>,
}

impl Record {
    /// The sequence number after the record. A record without rows takes one number.
    pub fn end(&self) -> u64 {
        self.sequence + self.rows.max(1)
    }

    #[allow(clippy::cast_possible_truncation)] // bodies are limited to far less than 4 GB
    fn write(&self, out: &mut Vec<u8>) {
        let start = out.len();
        out.extend_from_slice(MAGIC);
        out.extend_from_slice(&[0; HEAD - MAGIC.len()]);
        out.push(self.kind as u8);
        for number in [self.sequence, self.rows, self.millis] {
            out.extend_from_slice(&number.to_le_bytes());
        }
        for text in [self.id.as_bytes(), self.format.as_bytes(), self.note.as_bytes(), &self.body] {
            out.extend_from_slice(&(text.len() as u32).to_le_bytes());
            out.extend_from_slice(text);
        }
        let body = &out[start + HEAD..];
        let (length, crc) = (body.len() as u32, crc32c(body));
        out[start + 4..start + 8].copy_from_slice(&length.to_le_bytes());
        out[start + 8..start + 12].copy_from_slice(&crc.to_le_bytes());
    }

    /// The record at the beginning of `bytes`, and its length. `None` if it is incomplete or its checksum is wrong.
    fn read(bytes: &[u8]) -> Option<(Self, usize)> {
        let (head, rest) = bytes.split_at_checked(HEAD)?;
        let length = u32::from_le_bytes(head[4..8].try_into().ok()?) as usize;
        let crc = u32::from_le_bytes(head[8..12].try_into().ok()?);
        let mut body = rest.get(..length)?;
        if head[..4] != *MAGIC || crc32c(body) != crc {
            return None;
        }
        let mut take = |count: usize| {
            let (part, rest) = body.split_at_checked(count)?;
            body = rest;
            Some(part)
        };
        let kind = take(1)?[0];
        let kind = Kind::ALL.into_iter().find(|known| *known as u8 == kind)?;
        let mut number = || take(8)?.try_into().ok().map(u64::from_le_bytes);
        let (sequence, rows, millis) = (number()?, number()?, number()?);
        let mut text = || {
            let length = u32::from_le_bytes(take(4)?.try_into().ok()?);
            Some(take(length as usize)?.to_vec())
        };
        let mut string = || String::from_utf8(text()?).ok();
        let (id, format, note) = (string()?, string()?, string()?);
        let record = Self { kind, sequence, rows, millis, id, format, note, body: text()? };
        Some((record, HEAD + length))
    }
}

/// The bytes that were cut off when the log was opened.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Cut {
    /// The segment.
    pub path: PathBuf,
    /// Number of bytes.
    pub bytes: u64,
    /// The file that they were moved to.
    pub kept: PathBuf,
}

/// The segments of a folder with their first sequence numbers, in order.
pub fn segments(folder: &Path) -> Result<Vec<(u64, PathBuf)>, LogError> {
    let entries = fs::read_dir(folder).map_err(LogError::io("read", folder))?;
    let mut found = Vec::new();
    for entry in entries {
        let path = entry.map_err(LogError::io("read", folder))?.path();
        let name = path.file_name().and_then(|name| name.to_str()).unwrap_or_default();
        if let Some(first) = name.strip_suffix(".log").and_then(|stem| stem.parse().ok()) {
            found.push((first, path));
        }
    }
    found.sort();
    Ok(found)
}

/// Visits the records of all segments that may hold sequence numbers from `from` on, in order. Returns the next
/// sequence number, and the number of complete bytes in the newest segment. Changes nothing.
pub fn scan(
    folder: &Path,
    from: u64,
    mut visit: impl FnMut(Record) -> Result<(), LogError>,
) -> Result<(u64, u64), LogError> {
    let segments = segments(folder)?;
    let first = segments.partition_point(|(first, _)| *first <= from).saturating_sub(1);
    let mut next = segments.get(first).map_or(from, |(first, _)| *first);
    let mut whole = 0;
    for (place, (start, path)) in segments.iter().enumerate().skip(first) {
        let damaged =
            |at, sequence, why| LogError::Damaged { path: path.clone(), at, sequence, why };
        if *start != next {
            return Err(damaged(0, next, "a segment is missing before this one"));
        }
        let mut bytes = Vec::new();
        let file = File::open(path).map_err(LogError::io("read", path))?;
        (&file).read_to_end(&mut bytes).map_err(LogError::io("read", path))?;
        let newest = place + 1 == segments.len();
        if !bytes.starts_with(HEADER) {
            if newest && HEADER.starts_with(&bytes) {
                return Ok((next, 0));
            }
            return Err(damaged(0, next, "it does not begin as a log does"));
        }
        let mut at = HEADER.len();
        while at < bytes.len() {
            let Some((record, length)) = Record::read(&bytes[at..]) else {
                // After a crash, no complete record follows the interrupted write.
                let later = memchr::memmem::find_iter(&bytes[at + 1..], MAGIC);
                if !newest
                    || later.into_iter().any(|k| Record::read(&bytes[at + 1 + k..]).is_some())
                {
                    return Err(damaged(at, next, "the checksum of a record is wrong"));
                }
                return Ok((next, at as u64));
            };
            if record.sequence != next {
                return Err(damaged(at, next, "the sequence numbers have a gap"));
            }
            next = record.end();
            at += length;
            visit(record)?;
        }
        whole = at as u64;
    }
    Ok((next, whole))
}

/// A log open for writing.
#[derive(Debug)]
pub struct Log {
    folder: PathBuf,
    path: PathBuf,
    file: File,
    /// Complete bytes of the segment.
    bytes: u64,
    /// Records waiting for the next commit.
    waiting: Vec<u8>,
    /// The sequence number of the next record; the field below is that of the first waiting record.
    next: u64,
    durable: u64,
    millis: u64,
    broken: Option<String>,
}

impl Log {
    /// Opens the log with the results of [`scan`], `next` and `whole`. Moves an unfinished write to another file.
    pub fn open(folder: &Path, next: u64, whole: u64) -> Result<(Self, Option<Cut>), LogError> {
        let newest = segments(folder)?.pop().map(|(_, path)| path);
        let Some(path) = newest else { return Ok((Self::segment(folder, next, 0)?, None)) };
        let length = fs::metadata(&path).map_err(LogError::io("read", &path))?.len();
        let mut cut = None;
        if length > whole {
            let bytes = fs::read(&path).map_err(LogError::io("read", &path))?;
            let tail = bytes.get(usize::try_from(whole).unwrap_or(0)..).unwrap_or_default();
            let kept = path.with_extension(format!("{whole}.cut"));
            fs::write(&kept, tail).map_err(LogError::io("write", &kept))?;
            cut = Some(Cut { path: path.clone(), bytes: length - whole, kept });
        }
        let io = |what| LogError::io(what, &path);
        let mut file = File::options().append(true).open(&path).map_err(io("open"))?;
        file.set_len(whole).map_err(io("shorten"))?;
        let mut bytes = whole;
        if whole == 0 {
            file.write_all(HEADER).map_err(io("write"))?;
            bytes = HEADER.len() as u64;
        }
        file.sync_all().map_err(io("synchronise"))?;
        let mut log = Self::with(folder, path.clone(), file, next);
        log.bytes = bytes;
        Ok((log, cut))
    }

    fn with(folder: &Path, path: PathBuf, file: File, next: u64) -> Self {
        let (folder, waiting) = (folder.to_owned(), Vec::new());
        let bytes = HEADER.len() as u64;
        Self { folder, path, file, bytes, waiting, next, durable: next, millis: 0, broken: None }
    }

    fn segment(folder: &Path, next: u64, millis: u64) -> Result<Self, LogError> {
        let path = folder.join(format!("{next:020}.log"));
        let mut file = File::options()
            .append(true)
            .create(true)
            .open(&path)
            .map_err(LogError::io("create", &path))?;
        file.set_len(0).map_err(LogError::io("shorten", &path))?;
        file.write_all(HEADER).map_err(LogError::io("write", &path))?;
        file.sync_all().map_err(LogError::io("synchronise", &path))?;
        sync_folder(folder)?;
        let mut log = Self::with(folder, path, file, next);
        log.millis = millis;
        Ok(log)
    }

    /// The sequence number of the next record.
    pub fn next(&self) -> u64 {
        self.next
    }

    /// Complete bytes of the newest segment.
    pub fn bytes(&self) -> u64 {
        self.bytes
    }

    /// Numbers a record and appends it. Nothing is on disk until [`commit`](Self::commit). If the clock went back, the
    /// record gets the time of the previous one.
    pub fn append(&mut self, record: &mut Record) {
        self.millis = self.millis.max(record.millis);
        (record.sequence, record.millis) = (self.next, self.millis);
        record.write(&mut self.waiting);
        self.next = record.end();
    }

    /// Writes the appended records and waits until they are on disk. After an error, none of them is in the log.
    pub fn commit(&mut self) -> Result<(), LogError> {
        if let Some(why) = self.broken.clone() {
            self.forget();
            return Err(LogError::Broken(why));
        }
        if self.waiting.is_empty() {
            return Ok(());
        }
        let written = self.file.write_all(&self.waiting);
        let synced = written.and_then(|()| {
            self.file.sync_data().inspect_err(|error| self.broken = Some(error.to_string()))
        });
        if let Err(error) = synced {
            self.forget();
            if let Err(again) = self.file.set_len(self.bytes) {
                self.broken = Some(again.to_string());
            }
            return Err(LogError::io("write", &self.path)(error));
        }
        self.bytes += self.waiting.len() as u64;
        self.waiting.clear();
        self.durable = self.next;
        Ok(())
    }

    /// Drops the records appended since the last commit.
    pub fn forget(&mut self) {
        self.waiting.clear();
        self.next = self.durable;
    }

    /// Starts a new segment, if the newest one has records.
    pub fn rotate(&mut self) -> Result<(), LogError> {
        if self.bytes > HEADER.len() as u64 && self.broken.is_none() {
            *self = Self::segment(&self.folder, self.next, self.millis)?;
        }
        Ok(())
    }

    /// Removes the segments whose records are all before `sequence`.
    pub fn remove_before(&self, sequence: u64) -> Result<(), LogError> {
        let segments = segments(&self.folder)?;
        for pair in segments.windows(2) {
            if pair[1].0 <= sequence {
                fs::remove_file(&pair[0].1).map_err(LogError::io("remove", &pair[0].1))?;
            }
        }
        Ok(())
    }
}

/// Makes new file names in a folder durable.
pub(crate) fn sync_folder(folder: &Path) -> Result<(), LogError> {
    let open = File::open(folder).map_err(LogError::io("open", folder))?;
    match open.sync_all() {
        // Some systems cannot synchronise a folder; there, names need no such step.
        Err(error) if error.kind() == io::ErrorKind::PermissionDenied => Ok(()),
        synced => synced.map_err(LogError::io("synchronise", folder)),
    }
}

const TABLES: [[u32; 256]; 8] = tables();

#[allow(clippy::cast_possible_truncation)] // an index below 256
const fn tables() -> [[u32; 256]; 8] {
    let mut tables = [[0; 256]; 8];
    let mut i = 0;
    while i < 256 {
        let (mut crc, mut bit) = (i as u32, 0);
        while bit < 8 {
            crc = if crc & 1 == 1 { (crc >> 1) ^ 0x82f6_3b78 } else { crc >> 1 };
            bit += 1;
        }
        tables[0][i] = crc;
        i += 1;
    }
    let mut k = 1;
    while k < 8 {
        let mut i = 0;
        while i < 256 {
            let before = tables[k - 1][i];
            tables[k][i] = (before >> 8) ^ tables[0][(before & 255) as usize];
            i += 1;
        }
        k += 1;
    }
    tables
}

/// CRC-32C (Castagnoli), computed eight bytes at a time.
///
/// ```
/// assert_eq!(geowalk_serve::log::crc32c(b"123456789"), 0xe306_9283); // the check value of RFC 3720
/// ```
pub fn crc32c(bytes: &[u8]) -> u32 {
    let t = &TABLES;
    let mut crc = u32::MAX;
    let (eights, rest) = bytes.as_chunks::<8>();
    for eight in eights {
        let low = crc.to_le_bytes();
        let at = |k: usize| usize::from(eight[k] ^ if k < 4 { low[k] } else { 0 });
        crc = (0..8).fold(0, |sum, k| sum ^ t[7 - k][at(k)]);
    }
    for byte in rest {
        crc = (crc >> 8) ^ t[0][usize::from(crc.to_le_bytes()[0] ^ byte)];
    }
    !crc
}

#[cfg(test)]
mod tests {
    use super::*;

    fn folder(name: &str) -> PathBuf {
        let folder =
            std::env::temp_dir().join(format!("geowalk-log-{}-{name}", std::process::id()));
        let _ = fs::remove_dir_all(&folder);
        fs::create_dir_all(&folder).unwrap();
        folder
    }

    fn record(rows: u64, body: &str) -> Record {
        let text = |text: &str| text.to_owned();
        let body = body.as_bytes().to_vec();
        let (format, note) = (text("jsonl"), String::new());
        Record {
            kind: Kind::Learn,
            sequence: 0,
            rows,
            millis: 5,
            id: text("a"),
            format,
            note,
            body,
        }
    }

    fn read(folder: &Path) -> Result<(Vec<Record>, u64, u64), LogError> {
        let mut all = Vec::new();
        let (next, whole) = scan(folder, 0, |record| {
            all.push(record);
            Ok(())
        })?;
        Ok((all, next, whole))
    }

    fn three(name: &str) -> (PathBuf, Vec<u8>) {
        let folder = folder(name);
        let (mut log, cut) = Log::open(&folder, 0, 0).unwrap();
        assert_eq!(cut, None);
        for rows in 1..=3 {
            log.append(&mut record(rows, "{\"x\":1}"));
            log.commit().unwrap();
        }
        let path = segments(&folder).unwrap()[0].1.clone();
        (folder, fs::read(path).unwrap())
    }

    #[test]
    fn records_return_in_order_over_segments() {
        let (folder, _) = three("order");
        let (_, next, whole) = read(&folder).unwrap();
        let (mut log, _) = Log::open(&folder, next, whole).unwrap();
        log.rotate().unwrap();
        log.rotate().unwrap(); // an empty segment is kept
        log.append(&mut record(4, "later"));
        log.commit().unwrap();
        let (all, next, _) = read(&folder).unwrap();
        assert_eq!(
            all.iter().map(|r| (r.sequence, r.rows)).collect::<Vec<_>>(),
            [(0, 1), (1, 2), (3, 3), (6, 4)]
        );
        assert_eq!((next, all[3].body.as_slice()), (10, &b"later"[..]));
        log.remove_before(5).unwrap();
        assert_eq!(segments(&folder).unwrap().len(), 2, "a segment with later records stays");
        log.remove_before(6).unwrap();
        assert_eq!(segments(&folder).unwrap()[0].0, 6);
        fs::remove_dir_all(folder).unwrap();
    }

    #[test]
    fn torn_tail_is_moved_aside_at_every_byte() {
        let (folder, bytes) = three("torn");
        let path = segments(&folder).unwrap()[0].1.clone();
        let ends = [HEADER.len(), 0, 0, 0];
        let length = (bytes.len() - HEADER.len()) / 3;
        let ends: Vec<usize> = (0..4).map(|k| ends[0] + k * length).collect();
        for cut in 0..bytes.len() {
            fs::write(&path, &bytes[..cut]).unwrap();
            let (all, next, whole) = read(&folder).unwrap();
            let kept = ends.iter().filter(|end| **end <= cut).count().saturating_sub(1);
            assert_eq!(all.len(), kept, "cut at {cut}");
            let (mut log, torn) = Log::open(&folder, next, whole).unwrap();
            let tail = cut as u64 - whole;
            assert_eq!(torn.as_ref().map_or(0, |torn| torn.bytes), tail);
            if let Some(torn) = &torn {
                assert_eq!(fs::read(&torn.kept).unwrap().len() as u64, tail);
            }
            log.append(&mut record(7, "after"));
            log.commit().unwrap();
            assert_eq!(read(&folder).unwrap().0.len(), kept + 1);
        }
        fs::remove_dir_all(folder).unwrap();
    }

    #[test]
    fn flipped_bit_is_found_with_its_place() {
        let (folder, bytes) = three("flip");
        let path = segments(&folder).unwrap()[0].1.clone();
        let length = (bytes.len() - HEADER.len()) / 3;
        for at in 0..HEADER.len() + 2 * length {
            let mut flipped = bytes.clone();
            flipped[at] ^= 1 << (at % 8);
            fs::write(&path, &flipped).unwrap();
            let error = read(&folder).unwrap_err().to_string();
            assert!(error.contains("damaged at byte"), "bit in byte {at}: {error}");
        }
        fs::write(&path, [&bytes[..], &bytes[HEADER.len()..]].concat()).unwrap();
        assert!(read(&folder).unwrap_err().to_string().contains("have a gap"));
        fs::remove_dir_all(folder).unwrap();
    }

    #[test]
    fn time_never_goes_back() {
        let folder = folder("clock");
        let (mut log, _) = Log::open(&folder, 0, 0).unwrap();
        for millis in [100, 50, 101, 7] {
            let mut record = record(1, "");
            record.millis = millis;
            log.append(&mut record);
        }
        log.commit().unwrap();
        let times: Vec<u64> = read(&folder).unwrap().0.iter().map(|r| r.millis).collect();
        assert_eq!(times, [100, 100, 101, 101]);
        fs::remove_dir_all(folder).unwrap();
    }

    #[cfg(target_os = "linux")]
    #[test]
    fn failed_write_leaves_nothing() {
        let (folder, bytes) = three("full");
        let (_, next, whole) = read(&folder).unwrap();
        let (mut log, _) = Log::open(&folder, next, whole).unwrap();
        let good = std::mem::replace(
            &mut log.file,
            File::options().write(true).open("/dev/full").unwrap(),
        );
        log.append(&mut record(1, "lost"));
        let error = log.commit().unwrap_err();
        assert!(error.is_full(), "{error}");
        assert_eq!(log.next(), 6, "its number is free again");
        (log.file, log.broken) = (good, None); // /dev/full cannot be truncated
        log.append(&mut record(1, "kept"));
        log.commit().unwrap();
        let (all, ..) = read(&folder).unwrap();
        assert_eq!((all.len(), all[3].sequence), (4, 6));
        assert!(fs::read(segments(&folder).unwrap()[0].1.clone()).unwrap().starts_with(&bytes));
        fs::remove_dir_all(folder).unwrap();
    }
}
