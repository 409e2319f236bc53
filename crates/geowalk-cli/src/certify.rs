//! `geowalk certify`: the certificates of a model, against whom one likes.

use std::io::Write;
use std::path::Path;

use geowalk_run::boost::Boosted;
use geowalk_run::certify::{Which, certify, curve};
use geowalk_run::error::RunError;
use geowalk_run::model::Model;
use geowalk_run::tree;
use geowalk_run::trees::BoostedTrees;
use serde_json::json;

use crate::args::Certify;
use crate::data::Reading;
use crate::paths::Files;
use crate::{Failure, boost, trees};

/// Prints what the certificates say.
pub(crate) fn run(args: &Certify, out: &mut dyn Write) -> Result<(), Failure> {
    Files::new(&args.data, &args.how)?
        .input("MODEL", Some(&args.model))
        .input("--comparator", args.comparator.as_deref().map(Path::new))
        .check()?;
    let model = Model::load(&args.model).map_err(RunError::from)?;
    if model.settings.walk == tree::KIND {
        return Err(Failure::Use("no theorem bounds a tree that is grown greedily".to_owned()));
    }
    let trees = BoostedTrees::is_model(&model);
    if trees || Boosted::is_model(&model) {
        if args.comparator.is_some() || !args.data.is_empty() || args.curve {
            return Err(Failure::Use(
                "the theorems of boosting bound its own training error, not a regret: there is no comparator to give"
                    .to_owned(),
            ));
        }
        if trees {
            return trees::certify(args.json, &model, out);
        }
        return boost::certify(args.json, &model, out);
    }
    if args.curve {
        return print_curve(&model, args.json, out);
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
    let report = if args.data.is_empty() {
        certify(&model, which.as_ref(), None)?
    } else {
        let mut data = Reading::new(&args.data, &args.how)?.like_the_run_of(&model);
        let report = certify(&model, which.as_ref(), Some(&mut || data.options().into()))?;
        data.finish()?;
        report
    };
    if args.json {
        writeln!(out, "{}", report.json())?;
        return Ok(());
    }
    for line in report.lines() {
        writeln!(out, "{line}")?;
    }
    Ok(())
}

/// A table of bounds by distance.
fn print_curve(model: &Model, json: bool, out: &mut dyn Write) -> Result<(), Failure> {
    let curve = curve(model)?;
    if json {
        let points: Vec<_> = curve
            .iter()
            .map(|(u, report)| json!({"distance": u, "certificate": report.json()}))
            .collect();
        writeln!(out, "{}", json!(points))?;
        return Ok(());
    }
    let Some((_, any)) = curve.first() else { return Ok(()) };
    write!(out, "{:>14} {:>16}", "distance U", "first-order")?;
    for verdict in &any.theorems {
        write!(out, " {:>16}", verdict.certificate.theorem)?;
    }
    writeln!(out)?;
    let bound = |value: f64| if value.is_finite() { format!("{value:.6}") } else { "-".to_owned() };
    for (u, report) in &curve {
        write!(out, "{u:>14.6} {:>16}", bound(report.first_order.bound))?;
        for verdict in &report.theorems {
            write!(out, " {:>16}", bound(verdict.certificate.bound))?;
        }
        writeln!(out)?;
    }
    writeln!(out, "\nagainst {}", any.comparators)?;
    Ok(())
}
