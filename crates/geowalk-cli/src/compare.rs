//! `geowalk compare`: which of two predicts better, with an interval that holds at every row.

use std::io::Write;
use std::path::Path;

use geowalk_data::Task;
use geowalk_run::compare::{Contender, compare};
use geowalk_run::error::RunError;
use geowalk_run::model::Model;
use geowalk_run::pump::usual_threads;
use geowalk_run::train::Plan;

use crate::Failure;
use crate::args::{Compare, What};
use crate::data::Reading;

/// Compares, and prints the difference.
pub(crate) fn run(args: &Compare, out: &mut dyn Write) -> Result<(), Failure> {
    let models = [&args.a, &args.b].into_iter().any(|text| Path::new(text).is_file());
    if models && args.data.iter().any(|name| name == "-") {
        return Err(Failure::Use(
            "standard input can be read only once, and a model reads the data apart: give a file"
                .to_owned(),
        ));
    }
    let task = args.task.map(|task| match task {
        What::Regression => Task::Regression,
        What::Binary => Task::Binary,
        What::Multiclass => Task::Multiclass,
    });
    let plan = Plan { task, seed: args.seed, ..Plan::default() };
    let of = |text: &str| -> Result<Contender, Failure> {
        if !Path::new(text).is_file() {
            let contender = Contender::parse(text, &plan);
            if let Contender::Run(plan) = &contender {
                plan.check()?;
            }
            return Ok(contender);
        }
        let model = Model::load(Path::new(text)).map_err(RunError::from)?;
        Ok(Contender::Model(Box::new(model)))
    };
    let (a, b) = (of(&args.a)?, of(&args.b)?);
    let mut data = Reading::new(&args.data, &args.how)?;
    let found = compare([&a, &b], || data.options(), usual_threads(), args.y_range)?;
    data.finish()?;
    if args.json {
        let mut json = found.json();
        (json["a"], json["b"]) = (args.a.clone().into(), args.b.clone().into());
        writeln!(out, "{json}")?;
        return Ok(());
    }
    for line in found.lines([&args.a, &args.b]) {
        writeln!(out, "{line}")?;
    }
    Ok(())
}
