//! `geowalk predict`.

use std::io::{self, Write};
use std::path::{Path, PathBuf};

use geowalk_data::Carry;
use geowalk_run::error::RunError;
use geowalk_run::model::Model;
use geowalk_run::predict::{Wanted, predict};
use geowalk_run::pump::usual_threads;
use geowalk_run::replace::{Output, is_stdout};

use crate::Failure;
use crate::args::Predict;
use crate::data::Reading;
use crate::paths::Files;

/// Predicts, to a file or to standard output. Notes go to standard error.
pub(crate) fn run(args: &Predict, out: &mut dyn Write) -> Result<(), Failure> {
    Files::of(&args.data)?
        .input("MODEL", Some(&args.model))
        .output("--output", args.output.as_deref())
        .check()?;
    let model = Model::load(&args.model).map_err(RunError::from)?;
    let mut data = Reading::of(&args.data)?.numbers_like_the_run_of(&model);
    let wanted = Wanted {
        proba: args.proba,
        explain: args.explain,
        carry: match (args.keep, args.id.is_empty()) {
            (true, _) => Carry::All,
            (false, false) => Carry::Named(args.id.clone()),
            (false, true) => Carry::Nothing,
        },
        strict: args.strict,
        threads: args.threads.unwrap_or_else(usual_threads),
    };
    let mut predictions = Predictions::create(args.output.as_deref())?;
    let writer = predictions.writer().unwrap_or(out);
    let done = predict(&model, data.options(), &wanted, writer)?;
    predictions.finish()?;
    data.finish()?;
    for note in &done.notes {
        // Nothing can be done if standard error is closed.
        let _ = writeln!(io::stderr(), "note: {note}");
    }
    Ok(())
}

/// The file of predictions, if there is one.
pub(crate) struct Predictions(Option<(PathBuf, Output)>);

impl Predictions {
    pub(crate) fn create(path: Option<&Path>) -> Result<Self, Failure> {
        let Some(path) = path else { return Ok(Self(None)) };
        let output = Output::create(path).map_err(|error| Failure::file(path.display(), error))?;
        Ok(Self(Some((path.to_owned(), output))))
    }

    /// Do they go to standard output, where the summary would disturb them?
    pub(crate) fn take_stdout(&self) -> bool {
        self.0.as_ref().is_some_and(|(path, _)| is_stdout(path))
    }

    pub(crate) fn writer(&mut self) -> Option<&mut dyn Write> {
        self.0.as_mut().map(|(_, output)| output as &mut dyn Write)
    }

    /// Puts them in their place. Without this call an old file is as it was.
    pub(crate) fn finish(self) -> Result<(), Failure> {
        let Some((path, output)) = self.0 else { return Ok(()) };
        output.finish().map_err(|error| Failure::file(path.display(), error))
    }
}
