//! # The command `geowalk`
//! Parse what was typed, do it, print it, give an exit code.
//!
//! Exit codes: 0 ok, 1 a certificate or a check failed, 2 an error of input or use. A reader that goes away (a closed pipe) is no error.

mod args;
mod boost;
mod certify;
mod compare;
mod convert;
mod data;
mod doctor;
mod evaluate;
mod experts;
mod explain;
mod interrupt;
mod list;
mod manual;
mod merge;
mod paths;
mod predict;
mod progress;
pub mod report;
mod repro;
mod serve;
mod show;
mod track;
mod train;
mod tree;
mod trees;
mod verify;

use std::ffi::OsString;
use std::io::{self, Write};

use geowalk_run::error::RunError;

use args::{Args, Command};

/// Carries out the command with these arguments, the first of which is its name; gives the exit code. Other doors than the program itself have it from here: the Python package
/// brings the command along.
pub fn run<I: IntoIterator<Item = T>, T: Into<OsString> + Clone>(arguments: I) -> u8 {
    match Args::read(arguments) {
        Ok(args) => carry_out(&args),
        Err(answer) => {
            // Help and version are no errors. Nothing can be done if nobody can read them.
            let _ = answer.print();
            u8::try_from(answer.exit_code()).unwrap_or(2)
        }
    }
}

fn carry_out(args: &Args) -> u8 {
    let mut out = io::BufWriter::new(io::stdout().lock());
    let result = match &args.command {
        Command::Train(what) => train::run(what, &mut out).map(|()| 0),
        Command::Experts(what) => experts::run(what, &mut out).map(|()| 0),
        Command::Boost(what) => boost::run(what, &mut out),
        Command::Tree(what) => tree::run(what, &mut out),
        Command::Predict(what) => predict::run(what, &mut out).map(|()| 0),
        Command::Evaluate(what) => evaluate::run(what, &mut out).map(|()| 0),
        Command::Compare(what) => compare::run(what, &mut out).map(|()| 0),
        Command::Merge(what) => merge::run(what, &mut out).map(|()| 0),
        Command::Convert(what) => convert::run(what, &mut out).map(|()| 0),
        Command::Show(what) => show::run(what, &mut out).map(|()| 0),
        Command::Verify(what) => verify::run(what, &mut out),
        Command::Certify(what) => certify::run(what, &mut out).map(|()| 0),
        Command::Explain(what) => explain::run(what, &mut out).map(|()| 0),
        Command::List(what) => list::run(what, &mut out).map(|()| 0),
        Command::Track(what) => track::run(what, &mut out).map(|()| 0),
        Command::Repro(what) => repro::run(what, &mut out),
        Command::Serve(what) => serve::run(what, &mut out),
        Command::Doctor(what) => doctor::run(what, &mut out),
        Command::Completions(what) => manual::completions(what, &mut out).map(|()| 0),
        Command::Man(what) => manual::man(what, &mut out).map(|()| 0),
    };
    match result.and_then(|code| out.flush().map(|()| code).map_err(Failure::from)) {
        Ok(code) => code,
        Err(error) if error.broken_pipe() => 0,
        Err(error) => {
            // Nothing can be done if standard error is closed as well.
            let code = error.exit_code();
            let error = error.to_string();
            let lines: Vec<_> = error.lines().map(geowalk_data::visible).collect();
            let _ = writeln!(io::stderr(), "geowalk: {}", lines.join("\n"));
            code
        }
    }
}

/// Why a command could not be carried out.
#[derive(Debug)]
enum Failure {
    /// What was asked for cannot be built.
    Config(geowalk::ConfigError),
    /// A run that failed.
    Run(RunError),
    /// Flags that do not go together.
    Use(String),
    /// A file that cannot be written.
    File(String, io::Error),
    /// The result cannot be written.
    Output(io::Error),
}

impl Failure {
    /// 1 for a bound that the run itself refutes, 2 for everything that the user can mend.
    fn exit_code(&self) -> u8 {
        if let Self::Run(RunError::Contradiction(_)) = self { 1 } else { 2 }
    }

    /// Did a reader of our output go away?
    fn broken_pipe(&self) -> bool {
        let (Self::Output(error) | Self::Run(RunError::Predictions(error))) = self else {
            return false;
        };
        error.kind() == io::ErrorKind::BrokenPipe
    }

    fn file(name: impl std::fmt::Display, error: io::Error) -> Self {
        Self::File(name.to_string(), error)
    }
}

impl From<RunError> for Failure {
    fn from(error: RunError) -> Self {
        Self::Run(error)
    }
}

impl From<geowalk::ConfigError> for Failure {
    fn from(error: geowalk::ConfigError) -> Self {
        Self::Config(error)
    }
}

impl From<io::Error> for Failure {
    fn from(error: io::Error) -> Self {
        Self::Output(error)
    }
}

impl std::fmt::Display for Failure {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            Self::Config(error) => write!(f, "{error}"),
            Self::Run(error) => write!(f, "{error}"),
            Self::Use(text) => write!(f, "{text}"),
            Self::File(name, error) => write!(f, "cannot write {name}: {error}"),
            Self::Output(error) => write!(f, "cannot write the result: {error}"),
        }
    }
}
