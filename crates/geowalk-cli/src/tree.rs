//! `geowalk tree`.

pub(crate) mod report;

use std::io::{self, Write};

use geowalk::boost::tree::{Criterion, Growth};
use geowalk_run::table;
use geowalk_run::tree::{Plan, Prune, Said, Summary, fit};

use crate::Failure;
use crate::args::{Order, Shown, Tree};
use crate::boost::{bins, task};
use crate::data::Reading;
use crate::paths::Files;
use crate::progress::Lines;
use crate::report::{Judged, Judges};
use crate::train::number;

/// Grows a tree and says what came out.
pub(crate) fn run(args: &Tree, out: &mut dyn Write) -> Result<u8, Failure> {
    let halt = crate::interrupt::halt();
    let growth = Growth {
        order: match args.order {
            Order::Best => geowalk::boost::tree::Order::BestFirst,
            Order::Depth => geowalk::boost::tree::Order::DepthFirst,
        },
        max_leaves: args.leaves,
        max_depth: args.depth,
        min_leaf: args.min_leaf,
        zero_gain: args.zero_gain,
        halt: halt.clone(),
        ..Growth::new(Criterion::parse(&args.loss)?)
    };
    let plan = Plan {
        growth,
        bins: bins(&args.bins)?,
        folds: args.folds,
        prune: Prune::parse(&args.prune)?,
        smoothing: args.smoothing,
        seed: args.seed,
        task: task(args.task, "a tree")?,
    };
    Files::of(&args.data)?
        .model(args.model.as_deref())
        .output("--report", args.report.as_deref())
        .check()?;
    let mut data = Reading::of(&args.data)?;
    if args.dry_run {
        let examples = table::examples(data.options(), plan.task)?;
        data.finish()?;
        return crate::report::dry_run(&examples, args.json, out).map(|()| 0);
    }
    let style = "{spinner} {msg}, {elapsed}";
    let lines = Lines::new(args.progress == Shown::Auto, style, None);
    let mut say = |said: Said<'_>| match said {
        Said::Note(text) => lines.line(text),
        Said::Grown(done, of) => lines.at(done as u64, || format!("tree {} of {of}", done + 1)),
    };
    let grown = fit(&plan, data.options(), args.model.as_deref(), &mut say);
    lines.end();
    let grown = grown?;
    data.finish()?;
    let summary = &grown.summary;
    if let Some(path) = &args.report {
        let examples = &grown.examples;
        let classes = &examples.classes;
        let folds = Judges::of(Some(summary.folds.len()));
        let (names, weights) = (classes.names(), examples.weights.as_deref());
        let judged = Judged::new(names, classes.codes(), weights, &grown.probabilities, folds);
        let shown = grown.shown(&plan);
        let report = report::Report {
            summary,
            tree: &grown.tree,
            classes: names,
            text: shown.text(),
            captions: shown.captions(),
            judged: Some(judged),
        };
        crate::report::write(path, &report.page(&crate::report::typed(&args.data.inputs)))?;
    }
    if args.json {
        writeln!(out, "{}", summary.json())?;
    } else {
        print(summary, out)?;
        if let Some(path) = &args.model {
            writeln!(out, "model          {}", path.display())?;
        }
        if let Some(path) = &args.report {
            writeln!(out, "report         {}", path.display())?;
        }
    }
    if halt.is_called() {
        let kept = args.model.as_ref().map_or_else(
            || "it is not kept, because there is no --model".to_owned(),
            |path| format!("{} holds it", path.display()),
        );
        let what =
            format!("the tree has {} leaves so far, and no folds are measured", summary.shape.0);
        crate::interrupt::tell(&what, &kept);
        return Ok(crate::interrupt::INTERRUPTED);
    }
    Ok(0)
}

/// Columns in the list of importance.
const COLUMNS: usize = 10;

fn print(summary: &Summary, out: &mut dyn Write) -> io::Result<()> {
    writeln!(out)?;
    if let Some(profile) = &summary.profile {
        crate::report::short(profile, out)?;
    }
    writeln!(out, "task           {}", summary.task.name())?;
    writeln!(out, "criterion      {}", summary.loss_name)?;
    writeln!(out, "leaves         {}", summary.shape.0)?;
    writeln!(out, "depth          {}", summary.shape.1)?;
    writeln!(out, "loss           {} in training", number(summary.loss))?;
    let (folds, validated) = (summary.folds.len(), summary.validated());
    for (name, value) in &summary.metrics {
        write!(out, "{name:<14} {} in training", number(*value))?;
        if let Some((_, mean, deviation)) = validated.iter().find(|(own, ..)| own == name) {
            let (mean, deviation) = (number(*mean), number(*deviation));
            write!(out, ", {mean} +- {deviation} in {folds} folds")?;
        }
        writeln!(out)?;
    }
    if let Some(verdict) = &summary.verdict {
        crate::report::verdict(verdict, Judges::of(Some(folds)), out)?;
    }
    for (at, (column, part)) in summary.importance.iter().take(COLUMNS).enumerate() {
        let head = if at == 0 { "importance" } else { "" };
        writeln!(out, "{head:<14} {part:.4}  {column}")?;
    }
    for note in &summary.notes {
        writeln!(out, "note           {note}")?;
    }
    if summary.skipped > 0 {
        writeln!(out, "rows skipped   {}", summary.skipped)?;
    }
    writeln!(out, "seconds        {:.3}", summary.seconds)
}
