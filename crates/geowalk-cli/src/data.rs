//! From flags to what a reader is told.

use std::fs::{self, File};
use std::io::{self, Read, Write};
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex};
use std::thread;
use std::time::Duration;

use geowalk::boost::Halt;
use geowalk_data::{Duplicates, Indexing, Input, Label, OnError, Options, Task};
use geowalk_run::convert::{Cache, cache};
use geowalk_run::model::{Model, ReadSettings};
use geowalk_run::profile::Profile;
use geowalk_run::replace::Output;

use crate::Failure;
use crate::args::{Data, How, Twice};

/// The data of a command, which may be read several times.
pub(crate) struct Reading<'a> {
    inputs: &'a [String],
    how: &'a How,
    /// The binary form of the inputs, read instead of them.
    cached: Option<PathBuf>,
    /// Where rows go that cannot be read, the first time that the data are read.
    quarantine: Option<Quarantine>,
    begun: bool,
    /// The run that is repeated left rows out: so does this one.
    skips: bool,
    /// How that run read its rows.
    known: ReadSettings,
    /// The file is read as it grows, until this is called.
    follow: Option<Halt>,
}

impl<'a> Reading<'a> {
    /// Checks the flags, and makes the cache if one is wanted.
    pub(crate) fn of(data: &'a Data) -> Result<Self, Failure> {
        Self::new(&data.inputs, &data.how)
    }

    /// The same for inputs that are named elsewhere.
    pub(crate) fn new(inputs: &'a [String], how: &'a How) -> Result<Self, Failure> {
        let mut reading = Self {
            inputs,
            how,
            cached: None,
            quarantine: None,
            begun: false,
            skips: false,
            known: ReadSettings::default(),
            follow: None,
        };
        match how.on_error.split_once('=') {
            None if how.on_error == "fail" || how.on_error == "skip" => {}
            Some(("quarantine", _)) if how.cache => {
                return Err(Failure::Use(
                    "--cache reads the text only if it has changed: --on-error quarantine=FILE goes with geowalk convert"
                        .to_owned(),
                ));
            }
            Some(("quarantine", file)) => {
                reading.quarantine = Some(Quarantine::create(Path::new(file))?);
            }
            _ => {
                return Err(Failure::Use(format!(
                    "--on-error {}: fail, skip or quarantine=FILE expected",
                    how.on_error
                )));
            }
        }
        if how.cache
            && let Some(Cache { path, made }) = cache(&mut || reading.options())?
        {
            for decision in made.iter().flat_map(|made| &made.decisions) {
                // A note; nothing can be done if nobody can read it.
                let _ = writeln!(io::stderr(), "{decision}");
            }
            reading.cached = Some(path);
        }
        Ok(reading)
    }

    /// Reads as the run of this model did, where no flag says otherwise.
    pub(crate) fn like_the_run_of(mut self, model: &Model) -> Self {
        self.skips = model.settings.stream.skipped;
        self.known = model.settings.reading.clone();
        self
    }

    /// Reads numbers as the run of this model did, unless flags say how they are written.
    pub(crate) fn numbers_like_the_run_of(mut self, model: &Model) -> Self {
        let ReadSettings { decimal, thousands, .. } = model.settings.reading;
        let given = self.how.decimal.is_some() || self.how.thousands.is_some();
        if !given && (decimal.is_some() || thousands.is_some()) {
            let flag = |name: &str, mark: Option<char>| {
                mark.map_or_else(String::new, |mark| format!(" --{name} {mark}"))
            };
            let flags = flag("decimal", decimal) + &flag("thousands", thousands);
            // A note; nothing can be done if nobody can read it.
            let _ = writeln!(
                io::stderr(),
                "note: numbers are read as in training,{flags}; for points before decimals say --decimal ."
            );
            self.known = ReadSettings { decimal, thousands, ..ReadSettings::default() };
        }
        self
    }

    /// The options of a reader; called once per pass.
    pub(crate) fn options(&mut self) -> Options {
        let how = self.how;
        let (format, inputs) = match &self.cached {
            None => (how.format.clone(), self.inputs.iter().map(|name| self.input(name)).collect()),
            Some(path) => (None, vec![Input::Path(path.to_string_lossy().into_owned())]),
        };
        let again = std::mem::replace(&mut self.begun, true);
        let on_error = match &self.quarantine {
            None if how.on_error == "fail" && !self.skips => OnError::Fail,
            // A second pass would write the same rows again.
            Some(quarantine) if !again => OnError::Quarantine(Box::new(quarantine.clone())),
            _ => OnError::Skip,
        };
        self.known.again(Options {
            format,
            label: how.label.clone().map_or(Label::Guess, Label::Named),
            indexing: match (how.bits, how.exact) {
                (Some(bits), _) => Indexing::Hashed(bits),
                (None, true) => Indexing::Exact,
                (None, false) => Indexing::Usual,
            },
            index_base: how.index_base,
            duplicates: match how.duplicates {
                Twice::Refuse => Duplicates::Refuse,
                Twice::Add => Duplicates::Add,
            },
            header: !how.no_header,
            nominal: how.nominal.clone(),
            text: how.text.clone(),
            weight: how.weight.clone(),
            ignore: how.ignore.clone(),
            missing: how.missing.clone(),
            decimal: how.decimal.unwrap_or('.'),
            thousands: how.thousands,
            separator: how.separator,
            skip_lines: how.skip_lines,
            on_error,
            ..Options::new::<Input>(inputs)
        })
    }

    /// How the first rows are read: `None` if they have no columns or can be read only once.
    pub(crate) fn profile(&mut self, task: Option<Task>) -> Result<Option<Profile>, Failure> {
        let once =
            |name: &String| name == "-" || fs::metadata(name).is_ok_and(|found| !found.is_file());
        if self.follow.is_some() || self.inputs.iter().any(once) {
            return Ok(None);
        }
        // Rows that cannot be read are written to the quarantine by the run itself.
        let begun = std::mem::replace(&mut self.begun, true);
        let options = self.options();
        self.begun = begun;
        Ok(Profile::of_first_rows(options, task)?)
    }

    fn input(&self, name: &str) -> Input {
        match &self.follow {
            Some(halt) => Input::Reader {
                name: name.to_owned(),
                reader: Box::new(Follow {
                    path: PathBuf::from(name),
                    file: None,
                    at: 0,
                    rest: Vec::new(),
                    whole: 0,
                    halt: halt.clone(),
                }),
            },
            None => name.into(),
        }
    }

    /// Reads the only file as it grows, until the halt is called.
    pub(crate) fn follow(&mut self, halt: Halt) -> Result<(), Failure> {
        match self.inputs {
            [name] if Path::new(name).is_file() => {
                self.follow = Some(halt);
                Ok(())
            }
            _ => Err(Failure::Use("--follow needs one file that is there".to_owned())),
        }
    }

    /// Puts the rows that could not be read in their file. Without this call the file is as it was.
    pub(crate) fn finish(self) -> Result<(), Failure> {
        self.quarantine.map_or(Ok(()), Quarantine::finish)
    }
}

/// A file that grows, line by line. One that was made shorter, or replaced by a shorter one, is read from its
/// beginning.
/// A last line without its end is not read.
struct Follow {
    path: PathBuf,
    file: Option<File>,
    /// Bytes read of the file.
    at: u64,
    /// Bytes that were not handed on: so many at the beginning are whole lines.
    rest: Vec<u8>,
    whole: usize,
    halt: Halt,
}

impl Read for Follow {
    fn read(&mut self, bytes: &mut [u8]) -> io::Result<usize> {
        while self.whole == 0 {
            let file = match &mut self.file {
                Some(file) => file,
                none => none.insert(File::open(&self.path)?),
            };
            let before = self.rest.len();
            let read = file.take(1 << 16).read_to_end(&mut self.rest)? as u64;
            self.at += read;
            let end = self.rest[before..].iter().rposition(|byte| *byte == b'\n');
            self.whole = end.map_or(0, |end| before + end + 1);
            if read == 0 {
                if self.halt.is_called() {
                    return Ok(0);
                }
                if fs::metadata(&self.path).is_ok_and(|found| found.len() < self.at) {
                    (self.file, self.at) = (None, 0);
                    self.rest.clear();
                }
                thread::sleep(Duration::from_millis(100));
            }
        }
        let count = bytes.len().min(self.whole);
        bytes[..count].copy_from_slice(&self.rest[..count]);
        self.rest.drain(..count);
        self.whole -= count;
        Ok(count)
    }
}

/// The file of rows that cannot be read. The reader writes to it, possibly in another thread.
#[derive(Clone)]
struct Quarantine {
    path: PathBuf,
    output: Arc<Mutex<Option<Output>>>,
}

impl Quarantine {
    fn create(path: &Path) -> Result<Self, Failure> {
        let output = Output::create(path).map_err(|error| Failure::file(path.display(), error))?;
        Ok(Self { path: path.to_owned(), output: Arc::new(Mutex::new(Some(output))) })
    }

    fn finish(self) -> Result<(), Failure> {
        let output = self.output.lock().ok().and_then(|mut output| output.take());
        output
            .map_or(Ok(()), Output::finish)
            .map_err(|error| Failure::file(self.path.display(), error))
    }
}

impl Write for Quarantine {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        match self.output.lock().as_deref_mut() {
            Ok(Some(output)) => output.write(bytes),
            _ => Err(io::ErrorKind::BrokenPipe.into()),
        }
    }

    fn flush(&mut self) -> io::Result<()> {
        match self.output.lock().as_deref_mut() {
            Ok(Some(output)) => output.flush(),
            _ => Ok(()),
        }
    }
}
