//! Commands in a directory of their own, for the tests of the command.

#![allow(dead_code)] // each test file uses a part
#![allow(clippy::unwrap_used)] // test code

use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, Output};

use serde_json::Value;

/// A directory of its own, in which commands run.
pub(crate) struct Place(pub(crate) PathBuf);

impl Place {
    pub(crate) fn new(name: &str) -> Self {
        let folder = Path::new(env!("CARGO_TARGET_TMPDIR")).join(format!("cli-{name}"));
        let _ = fs::remove_dir_all(&folder);
        fs::create_dir_all(&folder).unwrap();
        Self(folder)
    }

    pub(crate) fn write(&self, name: &str, bytes: impl AsRef<[u8]>) {
        fs::write(self.0.join(name), bytes).unwrap();
    }

    pub(crate) fn read(&self, name: &str) -> Vec<u8> {
        fs::read(self.0.join(name)).unwrap()
    }

    pub(crate) fn command(&self, args: &[&str]) -> Command {
        let mut command = Command::new(env!("CARGO_BIN_EXE_geowalk"));
        command.current_dir(&self.0).args(args);
        command
    }

    pub(crate) fn run(&self, args: &[&str]) -> Output {
        self.command(args).output().unwrap()
    }

    /// Standard output of a command that succeeds.
    pub(crate) fn ok(&self, args: &[&str]) -> String {
        self.both(args).0
    }

    /// Standard error of a command that fails.
    pub(crate) fn fails(&self, args: &[&str]) -> String {
        let output = self.run(args);
        assert_eq!(output.status.code(), Some(2), "{args:?}: {}", text(&output.stdout));
        text(&output.stderr)
    }

    /// A command that fails, with this in its message.
    pub(crate) fn refuses(&self, args: &[&str], says: &str) {
        let message = self.fails(args);
        assert!(message.contains(says), "{args:?}: {says:?} is not in {message}");
    }

    /// Standard output and standard error of a command that succeeds.
    pub(crate) fn both(&self, args: &[&str]) -> (String, String) {
        let output = self.run(args);
        let (out, err) = (text(&output.stdout), text(&output.stderr));
        assert_eq!(output.status.code(), Some(0), "{args:?}: {err}");
        (out, err)
    }

    /// Standard output, which is JSON.
    pub(crate) fn parsed(&self, args: &[&str]) -> Value {
        serde_json::from_str(&self.ok(args)).unwrap()
    }

    /// The summary of a training.
    pub(crate) fn json(&self, args: &[&str]) -> Value {
        self.parsed(&[&["train", "--json", "--progress", "none"], args].concat())
    }
}

pub(crate) fn text(bytes: &[u8]) -> String {
    String::from_utf8_lossy(bytes).into_owned()
}

/// The data of the repository.
pub(crate) fn cancer() -> String {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../data/breast-cancer.csv");
    path.to_str().unwrap().to_owned()
}

/// Names, numbers, gaps, three classes.
pub(crate) const FRUIT: &str = "size,color,class\n1,red,apple\n,yellow,banana\n1.5,red,apple\n4,yellow,banana\n1.2,green,apple\n,green,melon\n9,green,melon\n8,,melon\n";
