//! `geowalk certify`: the certificates of a model, against whom one likes.

use std::io::Write;
use std::path::Path;

use geowalk::certify::figure;
use geowalk_run::certificate::Report;
use geowalk_run::certify::Which;
use geowalk_run::error::RunError;
use geowalk_run::model::Model;
use serde_json::json;

use crate::Failure;
use crate::args::Certify;
use crate::data::Reading;
use crate::paths::Files;

/// Prints what the certificates say.
pub(crate) fn run(args: &Certify, out: &mut dyn Write) -> Result<(), Failure> {
    Files::new(&args.data, &args.how)?
        .input("MODEL", Some(&args.model))
        .input("--comparator", args.comparator.as_deref().map(Path::new))
        .check()?;
    let model = Model::load(&args.model).map_err(RunError::from)?;
    let learned = model.learned()?;
    if args.curve {
        return print_curve(&learned.curve(&model)?, args.json, out);
    }
    let which = args.comparator.as_deref().map(Which::read).transpose()?;
    if args.data.iter().any(|name| name == "-") {
        return Err(Failure::Use(
            "the data may be needed more than once: give files instead of standard input"
                .to_owned(),
        ));
    }
    if which.is_none() && !args.data.is_empty() {
        return Err(Failure::Use(
            "--data is for what a comparator lost: give --comparator FILE or best".to_owned(),
        ));
    }
    let found = if args.data.is_empty() {
        learned.certify(&model, which.as_ref(), None)?
    } else {
        let mut data = Reading::new(&args.data, &args.how)?.like_the_run_of(&model);
        let mut open = || data.options().into();
        let found = learned.certify(&model, which.as_ref(), Some(&mut open))?;
        data.finish()?;
        found
    };
    if args.json {
        writeln!(out, "{}", found.json)?;
        return Ok(());
    }
    found.lines.iter().try_for_each(|line| writeln!(out, "{line}"))?;
    Ok(())
}

/// A table of bounds by distance.
fn print_curve(curve: &[(f64, Report)], json: bool, out: &mut dyn Write) -> Result<(), Failure> {
    if json {
        let points: Vec<_> = curve
            .iter()
            .map(|(u, report)| json!({"distance": u, "certificate": report.json()}))
            .collect();
        writeln!(out, "{}", json!(points))?;
        return Ok(());
    }
    let Some((first, any)) = curve.first() else { return Ok(()) };
    write!(out, "{:>14} {:>16}", "distance U", "first-order")?;
    for verdict in &any.theorems {
        write!(out, " {:>16}", verdict.certificate.theorem)?;
    }
    writeln!(out)?;
    let bound = |value: f64| if value.is_finite() { figure(value) } else { "-".to_owned() };
    for (u, report) in curve {
        write!(out, "{:>14} {:>16}", figure(*u), bound(report.first_order.bound))?;
        for verdict in &report.theorems {
            write!(out, " {:>16}", bound(verdict.certificate.bound))?;
        }
        writeln!(out)?;
    }
    // The sentence of the first row, for any U.
    let (number, sentence) = (first.to_string(), &any.comparators);
    let sentence = match sentence.rfind(&number) {
        Some(at) => format!("{}U{}", &sentence[..at], &sentence[at + number.len()..]),
        None => sentence.clone(),
    };
    writeln!(out, "\nregret bound against {sentence}")?;
    Ok(())
}
