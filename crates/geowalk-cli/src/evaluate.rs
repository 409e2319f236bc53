//! `geowalk evaluate`: how good a model is on rows with labels.

use std::io::{self, Write};

use geowalk_run::error::RunError;
use geowalk_run::evaluate::evaluate;
use geowalk_run::model::Model;
use geowalk_run::pump::usual_threads;

use crate::Failure;
use crate::args::Evaluate;
use crate::data::Reading;
use crate::report::lines;

/// Evaluates, and prints the verdict. Notes go to standard error.
pub(crate) fn run(args: &Evaluate, out: &mut dyn Write) -> Result<(), Failure> {
    let model = Model::load(&args.model).map_err(RunError::from)?;
    let mut data = Reading::of(&args.data)?.numbers_like_the_run_of(&model);
    let found = evaluate(&model, data.options(), usual_threads())?;
    data.finish()?;
    for note in &found.notes {
        // Nothing can be done if standard error is closed.
        let _ = writeln!(io::stderr(), "note: {note}");
    }
    if args.json {
        writeln!(out, "{}", found.evaluation.json())?;
    } else {
        lines(&found.evaluation.lines(), out)?;
    }
    Ok(())
}
