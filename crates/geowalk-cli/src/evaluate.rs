//! `geowalk evaluate`: how good a model is on rows with labels.

use std::io::{self, Write};

use geowalk_run::error::RunError;
use geowalk_run::evaluate::{Evaluation, evaluate};
use geowalk_run::model::Model;
use geowalk_run::pump::usual_threads;

use crate::Failure;
use crate::args::Evaluate;
use crate::data::Reading;
use crate::report::lines;

/// Evaluates, and prints the verdict. Notes go to standard error.
pub(crate) fn run(args: &Evaluate, out: &mut dyn Write) -> Result<(), Failure> {
    let model = Model::load(&args.model).map_err(RunError::from)?;
    let mut data = Reading::of(&args.data)?;
    let found = evaluate(&model, data.options(), usual_threads())?;
    data.finish()?;
    for note in &found.notes {
        // Nothing can be done if standard error is closed.
        let _ = writeln!(io::stderr(), "note: {note}");
    }
    let (text, json) = match &found.evaluation {
        Evaluation::Classes(verdict) => (verdict.lines(), verdict.json()),
        Evaluation::Numbers(numbers) => (numbers.lines(), numbers.json()),
    };
    if args.json {
        writeln!(out, "{json}")?;
    } else {
        lines(&text, out)?;
    }
    Ok(())
}
