//! # Fuzzing
//! Damaged input for everything that reads what others wrote. Each execution is decided by its target and its seed:
//! a file of `crates/geowalk-lab/corpus`, or two of them, is altered in a few places and read. It runs on the stable
//! toolchain, and is not guided by coverage.
//!
//! **Laws** No panic. A message of a reader is one line without control characters. Text gives the same rows and the same
//! message whatever the size of the buffer. A number is the nearest `f64`, as the standard library reads it. A model
//! that is read can be described, written and asked.

use std::any::Any;
use std::fs;
use std::hash::Hasher;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::Mutex;
use std::time::{Duration, Instant};

use geowalk::laws::Sampler;
use geowalk::row::Block;
use geowalk_data::{ColumnBuffer, Indexing, Input, Label, OnError, Options, open};
use geowalk_run::error::RunError;
use geowalk_run::learned::Form;
use geowalk_run::model::Model;
use geowalk_run::sql::Target as Columns;
use geowalk_run::train::Plan;
use geowalk_serve::body;
use geowalk_serve::engine::{Engine, Spec};

use crate::root;

/// Was the input accepted? Or the law that it breaks.
type Verdict = Result<bool, String>;

/// Something that reads.
pub struct Target {
    /// Its name, and that of its folder in the corpus.
    pub name: &'static str,
    read: fn(&str, &[u8], &mut Sampler) -> Verdict,
}

/// All targets.
pub const TARGETS: [Target; 12] = [
    Target { name: "csv", read: text },
    Target { name: "tsv", read: text },
    Target { name: "libsvm", read: text },
    Target { name: "vw", read: text },
    Target { name: "jsonl", read: text },
    Target { name: "parquet", read: binary },
    Target { name: "arrow", read: binary },
    Target { name: "binary", read: binary },
    Target { name: "numbers", read: number },
    Target { name: "walks", read: walk },
    Target { name: "models", read: model },
    Target { name: "service", read: service },
];

/// What came of the executions of a target.
#[derive(Debug, Default)]
pub struct Tally {
    /// Inputs that were accepted, and that were refused with a message.
    pub accepted: u64,
    /// The others, but for broken laws.
    pub refused: u64,
    /// Seeds and what they broke.
    pub broken: Vec<(u64, String)>,
    /// The slowest execution and its seed.
    pub slowest: (Duration, u64),
}

impl Target {
    /// The target of this name.
    pub fn named(name: &str) -> Option<&'static Self> {
        TARGETS.iter().find(|target| target.name == name)
    }

    /// The files that are altered, in the order of their names.
    pub fn corpus(&self) -> std::io::Result<Vec<Vec<u8>>> {
        let folder = root().join("crates/geowalk-lab/corpus").join(self.name);
        let mut paths: Vec<_> =
            fs::read_dir(folder)?.map(|entry| Ok(entry?.path())).collect::<std::io::Result<_>>()?;
        paths.sort();
        paths.into_iter().map(fs::read).collect()
    }

    /// The input of a seed.
    pub fn input(&self, corpus: &[Vec<u8>], seed: u64) -> Vec<u8> {
        let mut random = Sampler::new(seed);
        alter(corpus, &mut random)
    }

    /// Reads the input of a seed.
    pub fn run(&self, corpus: &[Vec<u8>], seed: u64, tally: &mut Tally) {
        let mut random = Sampler::new(seed);
        let input = alter(corpus, &mut random);
        let start = Instant::now();
        let read = catch_unwind(AssertUnwindSafe(|| (self.read)(self.name, &input, &mut random)));
        let took = start.elapsed();
        if took > tally.slowest.0 {
            tally.slowest = (took, seed);
        }
        match read {
            Ok(Ok(true)) => tally.accepted += 1,
            Ok(Ok(false)) => tally.refused += 1,
            Ok(Err(law)) => tally.broken.push((seed, law)),
            Err(panic) => {
                let place = PLACE
                    .lock()
                    .map_or_else(|_| String::new(), |mut place| std::mem::take(&mut *place));
                tally.broken.push((seed, format!("panic{place}: {}", words(panic.as_ref()))));
            }
        }
    }
}

/// Where the last panic was.
static PLACE: Mutex<String> = Mutex::new(String::new());

/// From here on panics are not printed; their places are in what is broken.
pub fn quiet() {
    std::panic::set_hook(Box::new(|info| {
        if let (Some(at), Ok(mut place)) = (info.location(), PLACE.lock()) {
            *place = format!(" at {at}");
        }
    }));
}

/// What a panic says.
fn words(panic: &dyn Any) -> String {
    let text = panic.downcast_ref::<String>().map(String::as_str);
    text.or_else(|| panic.downcast_ref::<&str>().copied()).unwrap_or_default().to_owned()
}

/// Texts that readers treat in a way of their own.
const TOKENS: [&[u8]; 48] = [
    b"\n",
    b"\r",
    b"\r\n",
    b"\0",
    b"\t",
    b" ",
    b",",
    b";",
    b"\"",
    b"\"\"",
    b"'",
    b"|",
    b":",
    b"=",
    b"^",
    b"#",
    b"{",
    b"}",
    b"[",
    b"]",
    b"\\u0000",
    b"\\ud800",
    b"\xef\xbb\xbf",
    b"\xff",
    b"\xe2\x80\xae",
    b"nan",
    b"NA",
    b"inf",
    b"-inf",
    b"null",
    b"true",
    b"1e308",
    b"1e309",
    b"-1e-320",
    b"0",
    b"-0",
    b"1",
    b"4294967296",
    b"18446744073709551616",
    b"99999999999999999999999",
    b"0.1e1",
    b"1_0",
    b"2024-02-30",
    b"1:2",
    b"qid:1",
    b"<script>",
    b"(",
    b")",
];

/// A file of the corpus with a few changes.
fn alter(corpus: &[Vec<u8>], random: &mut Sampler) -> Vec<u8> {
    let Some(last) = corpus.len().checked_sub(1) else { return Vec::new() };
    let mut input = corpus[random.below(last + 1)].clone();
    let most = 1 + random.below(8);
    let changes = 1 + random.below(most);
    for _ in 0..changes {
        let at = random.below(input.len() + 1);
        let to = at + random.below((input.len() - at).min(64) + 1);
        #[expect(clippy::cast_possible_truncation, reason = "below 256")]
        match random.below(10) {
            0 => input[at..to].iter_mut().take(1).for_each(|byte| *byte ^= 1 << random.below(8)),
            1 => input.insert(at, random.below(256) as u8),
            2 | 3 => drop(input.splice(at..at, TOKENS[random.below(TOKENS.len())].iter().copied())),
            4 => drop(input.splice(at..to, TOKENS[random.below(TOKENS.len())].iter().copied())),
            5 => drop(input.drain(at..to)),
            6 => {
                let copy = input[at..to].to_vec();
                let again = 1 + random.below(4);
                (0..again).for_each(|_| drop(input.splice(at..at, copy.iter().copied())));
            }
            7 => input.truncate(at),
            8 => {
                // Lengths, offsets and counts of binary formats.
                let width = [1, 2, 4, 8][random.below(4)];
                let number = [0, 1, u64::MAX, 1 << 31, (1 << 31) - 1, 1 << 62][random.below(6)];
                let bytes = number.to_le_bytes();
                input.iter_mut().skip(at).zip(&bytes[..width]).for_each(|(old, new)| *old = *new);
            }
            _ => {
                let other = &corpus[random.below(last + 1)];
                let from = random.below(other.len() + 1);
                input.truncate(at);
                input.extend_from_slice(&other[from..]);
            }
        }
    }
    input.truncate(1 << 14);
    input
}

/// Is it fit for a terminal and a log?
fn shown(message: &str) -> Result<(), String> {
    if message.is_empty() || message.chars().any(char::is_control) {
        return Err(format!("not one clean line: {message:?}"));
    }
    Ok(())
}

/// How an input is read.
#[derive(Clone, Copy)]
#[expect(clippy::struct_excessive_bools, reason = "each is an option of the readers")]
struct Way {
    indexing: Indexing,
    skip: bool,
    unlabelled: bool,
    header: bool,
    absent: bool,
}

impl Way {
    fn random(random: &mut Sampler) -> Self {
        Self {
            indexing: [Indexing::Usual, Indexing::Hashed(8), Indexing::Exact][random.below(3)],
            skip: random.below(3) == 0,
            unlabelled: random.below(2) == 0,
            header: random.below(4) > 0,
            absent: random.below(8) == 0,
        }
    }

    fn options(self, format: &str, input: &[u8], buffer: usize) -> Options {
        let Self { indexing, skip, unlabelled, header, absent } = self;
        Options {
            format: Some(format.to_owned()),
            label: if absent { Label::Absent } else { Label::Guess },
            on_error: if skip { OnError::Skip } else { OnError::Fail },
            indexing,
            unlabelled,
            header,
            buffer,
            ..Options::new([Input::text("input", input.to_vec())])
        }
    }
}

/// A hash of all rows, how many there are, and the message at the end.
fn rows(options: Options, at_once: usize) -> (u64, usize, Option<String>) {
    let mut seen = std::hash::DefaultHasher::new();
    let mut count = 0;
    let mut source = match open(options) {
        Ok(source) => source,
        Err(error) => return (0, 0, Some(error.to_string())),
    };
    let mut block = Block::new();
    loop {
        match source.read(&mut block, at_once) {
            Ok(0) => break,
            Ok(rows) => {
                count += rows;
                (0..rows).for_each(|row| seen.write_u64(block.fingerprint(row)));
            }
            Err(error) => return (seen.finish(), count, Some(error.to_string())),
        }
    }
    source.decisions().iter().for_each(|decision| seen.write(decision.to_string().as_bytes()));
    (seen.finish(), count, None)
}

/// Rows, or columns.
fn binary(format: &str, input: &[u8], random: &mut Sampler) -> Verdict {
    let way = Way::random(random);
    let message = if random.below(4) == 0 {
        columns(way.options(format, input, 1 << 14)).err()
    } else {
        rows(way.options(format, input, 1 << 14), 64).2
    };
    message.as_deref().map_or(Ok(()), shown)?;
    Ok(message.is_none())
}

fn columns(options: Options) -> Result<(), String> {
    let mut source = open(options).map_err(|error| error.to_string())?;
    let mut columns = ColumnBuffer::new(source.schema());
    while source.read_columns(&mut columns, 64).map_err(|error| error.to_string())? > 0 {}
    columns.take().map(|_| ()).map_err(|error| error.to_string())
}

/// The same, and rows that do not depend on the buffer.
fn text(format: &str, input: &[u8], random: &mut Sampler) -> Verdict {
    if random.below(3) > 0 {
        return binary(format, input, random);
    }
    let way = Way::random(random);
    let small = [16, 64, 300][random.below(3)];
    let whole = rows(way.options(format, input, 1 << 15), 1024);
    let pieces = rows(way.options(format, input, small), 1 + random.below(7));
    if whole != pieces {
        return Err(format!("{whole:?}, but with a buffer of {small} bytes {pieces:?}"));
    }
    whole.2.as_deref().map_or(Ok(()), shown)?;
    Ok(whole.2.is_none())
}

/// A label that is a number.
fn number(_: &str, input: &[u8], _: &mut Sampler) -> Verdict {
    let Some(token) = input.split(u8::is_ascii_whitespace).find(|token| !token.is_empty()) else {
        return Ok(false);
    };
    let token = token.strip_prefix(b"\xef\xbb\xbf").unwrap_or(token);
    let mut line = token.to_vec();
    line.extend_from_slice(b" 1:1\n");
    let options = Options {
        format: Some("libsvm".into()),
        buffer: 1 << 10,
        ..Options::new([Input::text("input", line)])
    };
    let mut block = Block::new();
    let read = open(options).and_then(|mut source| source.read(&mut block, 2));
    let expected = std::str::from_utf8(token).ok().and_then(|token| token.parse::<f64>().ok());
    match (read, expected) {
        (Ok(1), Some(expected)) => match block.labels()[0] {
            label if label.to_bits() == expected.to_bits() => Ok(true),
            label => Err(format!("{label:?} instead of {expected:?}")),
        },
        (Ok(1), None) => Err(format!("{:?}, which is no number", block.labels()[0])),
        (Ok(_), _) => Ok(false),
        (Err(error), _) => shown(&error.to_string()).map(|()| false),
    }
}

/// A walk, a loss and a rate, by line.
#[expect(clippy::unnecessary_wraps, reason = "all targets have one type")]
fn walk(_: &str, input: &[u8], random: &mut Sampler) -> Verdict {
    let text = String::from_utf8_lossy(input);
    let mut lines = text.lines().map(str::to_owned);
    let walk = lines.next();
    let plan = Plan {
        walk: walk.clone(),
        loss: lines.next().filter(|loss| !loss.is_empty()),
        rate: lines.next().unwrap_or_else(|| "auto".to_owned()),
        ..Plan::default()
    };
    if plan.check().is_err() {
        return Ok(false);
    }
    if random.below(4) == 0 {
        let spec = serde_json::json!({ "walk": walk, "loss": plan.loss, "rate": plan.rate });
        return Ok(learn(&spec.to_string(), "text/csv", b"a,b,y\n1,2,0\n0,1,1\n3,1,0\n"));
    }
    Ok(true)
}

/// Learns from a body and predicts it; did both succeed?
fn learn(spec: &str, kind: &str, input: &[u8]) -> bool {
    const MOST: usize = 1 << 16;
    let done = || {
        let (format, rows) = body::rows(Some(kind), input.to_vec())?;
        let mut engine = Engine::new(Spec::parse(spec)?);
        let batch = engine.read(format, &rows, true, MOST)?;
        engine.learn(&batch)?;
        engine.predict(format, &rows, true, MOST)
    };
    done().is_ok()
}

/// A request: the settings in the first line, the content type in the second, the body.
#[expect(clippy::unnecessary_wraps, reason = "all targets have one type")]
fn service(_: &str, input: &[u8], _: &mut Sampler) -> Verdict {
    let mut parts = input.splitn(3, |byte| *byte == b'\n');
    let mut line = || String::from_utf8_lossy(parts.next().unwrap_or_default()).into_owned();
    let (spec, kind) = (line(), line());
    Ok(learn(&spec, &kind, parts.next().unwrap_or_default()))
}

/// A model whose digest is right.
#[expect(clippy::unnecessary_wraps, reason = "all targets have one type")]
fn model(_: &str, input: &[u8], _: &mut Sampler) -> Verdict {
    const DIGITS: std::ops::Range<usize> = 35..99;
    let mut bytes = input.to_vec();
    if let Some(digits) = bytes.get_mut(DIGITS) {
        digits.fill(b'0');
        let digest = blake3::hash(&bytes).to_hex();
        bytes[DIGITS].copy_from_slice(digest.as_bytes());
    }
    let done = || {
        let model = Model::from_bytes(&bytes)?;
        let learned = model.learned()?;
        learned.describe(&model, 5)?;
        learned.json(&model, 5)?;
        for (_, form) in Form::ALL {
            drop(learned.write(form, &Columns::default(), None));
        }
        let engine = Engine::restore(&bytes, None)?;
        Ok::<_, RunError>(engine.predict("csv", b"a,b,y\n1,red,0\n", true, 1 << 16).is_ok())
    };
    Ok(done().unwrap_or(false))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_target_has_files_and_keeps_its_laws() {
        for target in &TARGETS {
            let corpus = target.corpus().unwrap();
            let mut plain = Tally::default();
            for file in &corpus {
                // The seed decides how the file is read, and not every way suits every file.
                let read = |seed| (target.read)(target.name, file, &mut Sampler::new(seed));
                plain.accepted += u64::from((0..8).any(|seed| read(seed) == Ok(true)));
            }
            assert!(plain.accepted > 0, "{}: no file of the corpus is accepted", target.name);
            let mut tally = Tally::default();
            (0..200).for_each(|seed| target.run(&corpus, seed, &mut tally));
            assert_eq!(tally.broken, [], "{}", target.name);
            assert!(tally.refused > 0, "{}", target.name);
        }
    }

    #[test]
    fn a_broken_law_is_found() {
        let target = Target {
            name: "csv",
            read: |_, input, _| if input.contains(&b'#') { Err("#".into()) } else { panic!("no") },
        };
        let corpus = [b"a,b".to_vec()];
        let mut tally = Tally::default();
        (0..500).for_each(|seed| target.run(&corpus, seed, &mut tally));
        assert!(tally.broken.iter().any(|(_, law)| law == "#"));
        assert!(tally.broken.iter().any(|(_, law)| law == "panic: no"));
        assert_eq!(target.input(&corpus, 7), target.input(&corpus, 7));
    }
}
