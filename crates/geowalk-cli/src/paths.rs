//! # The files of a command
//! Each command names the files that it reads and those that it writes before it opens any of them. An output that is
//! an input, or another output, is refused: however the path is spelled, through links, and before the file exists.

use std::ffi::OsString;
use std::fs::{self, Metadata};
use std::path::{Path, PathBuf};

use geowalk_data::{Input, origin};
use geowalk_run::convert::cache_path;
use geowalk_run::model::Model;
use geowalk_run::replace::{is_stdout, target, try_out};
use geowalk_run::walks;

use crate::Failure;
use crate::args::{Data, How};

/// What a file is written as.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Kind {
    /// A model replaces only a model.
    Model,
    /// Anything else replaces anything but a model.
    Other,
}

/// A file that an option names.
#[derive(Debug)]
struct Named {
    /// The option, with the path as it was typed.
    text: String,
    /// Which file it is. None for pipes, terminals and devices, which several options may name.
    identity: Option<Identity>,
    /// Standard output or standard error, under whichever name.
    is_stream: bool,
}

impl Named {
    fn new(option: &str, path: &Path) -> Self {
        let is_stream = is_stdout(path) || path == Path::new("/dev/stderr");
        let real = if path == Path::new("-") { Path::new("/dev/stdout") } else { path };
        let text = format!("{option} {}", path.display());
        Self { text, identity: Identity::of(real), is_stream }
    }

    fn stream(text: &str, path: &str) -> Self {
        let identity = Identity::of(Path::new(path));
        Self { text: text.to_owned(), identity, is_stream: true }
    }

    fn is_same(&self, other: &Self) -> bool {
        match (&self.identity, &other.identity) {
            (Some(one), Some(two)) => one.is_same(two),
            _ => false,
        }
    }
}

/// The files of a command.
#[derive(Debug)]
pub(crate) struct Files {
    inputs: Vec<Named>,
    outputs: Vec<(Named, PathBuf, Kind)>,
    /// The model that is continued may be replaced by the result.
    resumed: Option<Named>,
    force: bool,
}

impl Files {
    /// Those of the flags on reading, to which the command adds its own.
    pub(crate) fn of(data: &Data) -> Result<Self, Failure> {
        Self::new(&data.inputs, &data.how)
    }

    /// The same for inputs that are named elsewhere.
    pub(crate) fn new(inputs: &[String], how: &How) -> Result<Self, Failure> {
        let mut files = Self { force: how.force, ..Self::none() };
        let mut texts = Vec::new();
        for input in inputs {
            if input == "-" {
                files.inputs.push(Named::stream("standard input", "/dev/stdin"));
                continue;
            }
            let expanded = Input::expand(vec![Input::from(input.as_str())]);
            for file in expanded.map_err(geowalk_run::error::RunError::from)? {
                files.inputs.push(Named::new("DATA", Path::new(file.name())));
                texts.push(PathBuf::from(file.name()));
            }
        }
        if how.cache
            && let Some(first) = texts.first()
            && texts.iter().any(|file| origin(file).is_none())
        {
            files = files.output("--cache", Some(&cache_path(first)));
        }
        let quarantine = how.on_error.strip_prefix("quarantine=").map(Path::new);
        Ok(files.output("--on-error quarantine", quarantine))
    }

    /// No files but what the command adds.
    pub(crate) fn none() -> Self {
        Self { inputs: Vec::new(), outputs: Vec::new(), resumed: None, force: false }
    }

    /// A file that is read.
    pub(crate) fn input(mut self, option: &str, path: Option<&Path>) -> Self {
        self.inputs.extend(path.map(|path| Named::new(option, path)));
        self
    }

    /// The model that is continued. It is read, and `--model` may replace it.
    pub(crate) fn resume(mut self, path: Option<&Path>) -> Self {
        self.resumed = path.map(|path| Named::new("--resume", path));
        self
    }

    /// The matrix that a walk reads, if it reads one.
    pub(crate) fn walk(self, walk: Option<&str>) -> Self {
        let matrix = walk.and_then(walks::matrix_file);
        self.input("--walk with the matrix", matrix.as_deref().map(Path::new))
    }

    /// A model that is written.
    pub(crate) fn model(self, path: Option<&Path>) -> Self {
        self.written("--model", path, Kind::Model)
    }

    /// The merged model, which replaces no file of another kind unless forced.
    pub(crate) fn merged(self, path: &Path, force: bool) -> Self {
        Self { force, ..self }.written("--output", Some(path), Kind::Model)
    }

    /// The member of a team that is written.
    pub(crate) fn exported(self, path: Option<&Path>) -> Self {
        self.written("--export", path, Kind::Model)
    }

    /// The checkpoint that is written.
    pub(crate) fn checkpoint(self, path: Option<&Path>) -> Self {
        self.written("--checkpoint", path, Kind::Model)
    }

    /// Any other file that is written.
    pub(crate) fn output(self, option: &str, path: Option<&Path>) -> Self {
        self.written(option, path, Kind::Other)
    }

    fn written(mut self, option: &str, path: Option<&Path>, kind: Kind) -> Self {
        self.outputs.extend(path.map(|path| (Named::new(option, path), path.to_owned(), kind)));
        self
    }

    /// Refuses what would destroy a file, and outputs that cannot be written. Leaves nothing behind.
    pub(crate) fn check(self) -> Result<(), Failure> {
        let result = Named::stream("standard output", "/dev/stdout");
        for (at, (output, path, kind)) in self.outputs.iter().enumerate() {
            let resumed = self.resumed.iter().filter(|_| *kind != Kind::Model);
            if let Some(input) = self.inputs.iter().chain(resumed).find(|i| output.is_same(i)) {
                return Err(overwrites(output, input));
            }
            let earlier = self.outputs[..at].iter().map(|(earlier, ..)| earlier).chain([&result]);
            let mut earlier = earlier.filter(|one| !(one.is_stream && output.is_stream));
            if let Some(other) = earlier.find(|other| output.is_same(other)) {
                return Err(Failure::Use(format!(
                    "{} and {} are the same file; choose another name for one of them",
                    other.text, output.text
                )));
            }
            if !self.force {
                refuse_other_kind(output, path, *kind)?;
            }
        }
        if let Some(input) = self.inputs.iter().chain(&self.resumed).find(|i| result.is_same(i)) {
            return Err(overwrites(&result, input));
        }
        for (_, path, _) in &self.outputs {
            try_out(path).map_err(|error| Failure::file(path.display(), error))?;
        }
        Ok(())
    }
}

fn overwrites(output: &Named, input: &Named) -> Failure {
    Failure::Use(format!(
        "{} and {} are the same file, which would be overwritten; write to another file",
        input.text, output.text
    ))
}

/// Refuses to replace a file of another kind.
fn refuse_other_kind(output: &Named, path: &Path, kind: Kind) -> Result<(), Failure> {
    let holds_something = fs::metadata(path).is_ok_and(|old| old.is_file() && old.len() > 0);
    if !holds_something || output.is_stream {
        return Ok(());
    }
    let what = match kind {
        Kind::Model if !Model::is_at(path) => "not a geowalk model",
        Kind::Other if Model::is_at(path) => "a geowalk model",
        _ => return Ok(()),
    };
    Err(Failure::Use(format!(
        "{}: the file exists and is {what}; choose another name, or replace it with --force",
        output.text
    )))
}

/// Which file a path leads to, however it is spelled.
#[derive(Debug, PartialEq, Eq)]
enum Identity {
    /// A file that exists.
    File(Number),
    /// A name in a directory, not taken yet.
    New { folder: Number, name: OsString, any_case: bool },
}

impl Identity {
    /// None for what is no regular file, and for what cannot be looked at.
    fn of(path: &Path) -> Option<Self> {
        if let Ok(found) = fs::metadata(path) {
            return found.is_file().then(|| Self::File(number(&found, path)));
        }
        let path = target(path);
        let (folder, name) = (path.parent()?, path.file_name()?.to_owned());
        let found = fs::metadata(folder).ok()?;
        let any_case = ignores_case(folder, &found);
        Some(Self::New { folder: number(&found, folder), name, any_case })
    }

    fn is_same(&self, other: &Self) -> bool {
        match (self, other) {
            (
                Self::New { folder, name, any_case: true },
                Self::New { folder: other, name: second, .. },
            ) => {
                let lower = |name: &OsString| name.to_string_lossy().to_lowercase();
                folder == other && lower(name) == lower(second)
            }
            _ => self == other,
        }
    }
}

/// What hard links and different spellings of a path have in common.
#[cfg(unix)]
type Number = (u64, u64);

#[cfg(unix)]
fn number(found: &Metadata, _: &Path) -> Number {
    use std::os::unix::fs::MetadataExt;
    (found.dev(), found.ino())
}

/// The path, where there are no numbers of files.
#[cfg(not(unix))]
type Number = String;

#[cfg(not(unix))]
fn number(_: &Metadata, path: &Path) -> Number {
    target(path).to_string_lossy().to_lowercase()
}

/// Is a directory also found under its name with other capitals? Then the same holds for the files in it.
fn ignores_case(folder: &Path, found: &Metadata) -> bool {
    let swapped: String = folder
        .to_string_lossy()
        .chars()
        .map(|c| if c.is_lowercase() { c.to_ascii_uppercase() } else { c.to_ascii_lowercase() })
        .collect();
    let swapped = Path::new(&swapped);
    swapped != folder
        && fs::metadata(swapped).is_ok_and(|other| number(&other, swapped) == number(found, folder))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_in_a_folder_without_case_are_compared_in_lower_case() {
        let folder = std::env::temp_dir();
        let found = fs::metadata(&folder).unwrap();
        let new = |name: &str, any_case| Identity::New {
            folder: number(&found, &folder),
            name: name.into(),
            any_case,
        };
        assert!(new("Model.gw", true).is_same(&new("model.GW", true)));
        assert!(!new("Model.gw", false).is_same(&new("model.GW", false)));
        assert!(new("model", false).is_same(&new("model", false)));
    }
}
