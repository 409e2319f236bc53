//! `geowalk train`: the loop, with a table of progress on standard error and the summary on standard output.

pub(crate) mod report;

use std::io::{self, Write};
use std::path::Path;

use geowalk_data::{Collisions, Task};
use geowalk_run::certify::Which;
use geowalk_run::evaluate::Evaluation;
use geowalk_run::fit;
use geowalk_run::holdout::Holdout;
use geowalk_run::profile::Profile;
use geowalk_run::pump::usual_threads;
use geowalk_run::team;
use geowalk_run::train::{
    CrossValidated, Frozen, Learning, Plan, Said, Summary, ThisRun, train, validate,
};
use serde_json::json;

use crate::args::{Passes, Shown, Sums, Train, What};
use crate::data::Reading;
use crate::paths::Files;
use crate::predict::Predictions;
use crate::progress::Table;
use crate::report::{Judged, Judges};
use crate::{Failure, interrupt, report as reports};

/// Trains, and prints the summary.
#[expect(clippy::too_many_lines, reason = "one step after the other")]
pub(crate) fn run(args: &Train, out: &mut dyn Write) -> Result<(), Failure> {
    Files::of(&args.data)?
        .input("--comparator", args.comparator.as_deref().filter(|c| *c != "best").map(Path::new))
        .walk(args.walk.as_deref())
        .resume(args.resume.as_deref())
        .model(args.model.as_deref())
        .checkpoint(args.checkpoint.as_ref().map(|(path, _)| path.as_path()))
        .output("--report", args.report.as_deref())
        .output("--predictions", args.predictions.as_deref())
        .check()?;
    let stdin = args.data.inputs.iter().any(|name| name == "-");
    let comparator = args.comparator.as_deref().map(Which::read).transpose()?;
    if stdin && comparator == Some(Which::Best) {
        return Err(Failure::Use(
            "standard input can be read only once: --comparator best needs files".to_owned(),
        ));
    }
    let comparator = comparator.map(|which| (which, !stdin));
    let plan = Plan {
        walk: args.walk.clone(),
        loss: args.loss.clone(),
        rate: args.rate.clone(),
        task: args.task.map(|task| match task {
            What::Regression => Task::Regression,
            What::Binary => Task::Binary,
            What::Multiclass => Task::Multiclass,
        }),
        passes: if let Passes::Number(passes) = args.passes { passes } else { 1 },
        seed: args.seed,
        threads: args.threads.unwrap_or_else(usual_threads),
        intercept: !args.no_intercept,
        certificate: args.certificate != Sums::Off,
        second_order: args.certificate == Sums::Full,
        declared: args.declared.read(),
        comparator,
        y_range: args.y_range,
        holdout: args.holdout.as_deref().map(Holdout::parse).transpose()?,
        patience: args.patience.map(u64::from),
        average: args.average,
        window: args.window.map(|size| size as usize),
        proba: args.proba,
        interval: args.interval,
        delay: args.delay as usize,
        trace: args.report.is_some(),
        rows: false,
        resume: args.resume.clone(),
        checkpoint: args.checkpoint.clone(),
        memory: args.memory,
    };
    plan.check()?;
    check_passes(args)?;
    let several = args.passes != Passes::Number(1) && args.passes != Passes::Auto;
    if let Some((_, flag)) =
        [(several, "--passes"), (args.folds.is_some(), "--folds")].iter().find(|(given, _)| *given)
        && stdin
    {
        let why = format!("standard input can be read only once: {flag} needs files");
        return Err(Failure::Use(why));
    }
    let mut data = Reading::of(&args.data)?;
    if args.follow {
        data.follow(interrupt::halt_or_end())?;
    }
    // A resumed model says itself how columns are read. What is wrong with the data is said by the run.
    let profile = if args.resume.is_none() { data.profile(plan.task) } else { Ok(None) };
    if args.dry_run {
        return match profile? {
            Some(profile) => Ok(reports::profile(&profile, args.json, out)?),
            None => Err(Failure::Use("--dry-run needs files with columns".to_owned())),
        };
    }
    let profile = profile.ok().flatten();
    let judged =
        args.folds.map(|count| Judgement::of(args, &plan, &mut data, count)).transpose()?;
    let mut predictions = Predictions::create(args.predictions.as_deref())?;
    let mut table = Table::new(args.progress == Shown::Auto);
    if stdin && args.predictions.is_some() && !plan.knows_task() {
        let how = match plan.task {
            None => "the task; with --task every row is answered as it comes",
            Some(_) => "the walk; with another --walk every row is answered as it comes",
        };
        let note = format!(
            "predictions begin when 1000 rows have come or the input ends: they tell {how}"
        );
        table.say(&Said::Note(note));
    }
    let model = args.model.as_deref();
    let summary = if args.passes == Passes::Auto {
        let mut say = |said: Said<'_>| table.say(&said);
        fit::train(&plan, args.shuffle, || data.options(), model, &mut say)
    } else {
        train(&plan, || data.options(), model, predictions.writer(), &mut |said| table.say(&said))
    };
    table.end();
    let summary = summary?;
    let mut err = io::stderr();
    let out: &mut dyn Write = if predictions.take_stdout() { &mut err } else { out };
    predictions.finish()?;
    data.finish()?;
    if let (Some(path), Some(course)) = (&args.report, &summary.course) {
        let from = reports::typed(&args.data.inputs);
        let judged = judged.as_ref().and_then(Judgement::judged);
        let (profile, judged) = (profile.as_ref(), judged.as_ref());
        let beside = report::Beside { profile, judged, names: None };
        let page = report::page(&summary, course, beside, &from)?;
        reports::write(path, &page)?;
    }
    if args.json {
        let mut object = summary.json();
        object["table"] = profile.as_ref().map(Profile::json).into();
        if let Some(judged) = &judged {
            object["cross_validation"] = json!({
                "folds": args.folds, "seed": args.seed, "verdict": judged.found.evaluation.json(),
            });
        }
        writeln!(out, "{object}")?;
    } else {
        writeln!(out)?;
        if let Some(profile) = &profile {
            reports::short(profile, out)?;
        }
        print(&summary, out)?;
        if let Some(judged) = &judged {
            writeln!(out, "\n{}", judged.judges.heading())?;
            reports::lines(&judged.found.evaluation.lines(), out)?;
            writeln!(out)?;
        }
        if let Some(path) = &args.model {
            writeln!(out, "model          {}", path.display())?;
        }
        if let Some(path) = &args.report {
            writeln!(out, "report         {}", path.display())?;
        }
    }
    Ok(())
}

/// How good predictions of held-out rows are.
struct Judgement {
    found: CrossValidated,
    judges: Judges,
}

impl Judgement {
    fn of(
        args: &Train,
        plan: &Plan,
        data: &mut Reading<'_>,
        count: usize,
    ) -> Result<Self, Failure> {
        let learning = match args.passes {
            Passes::Auto => Learning::Fit { shuffle: args.shuffle },
            Passes::Number(_) => Learning::Passes,
        };
        let found = validate(plan, learning, data.options(), count)?;
        Ok(Self { found, judges: Judges::Folds(count) })
    }

    /// For pages; none of numbers.
    fn judged(&self) -> Option<Judged> {
        let Evaluation::Classes(verdict) = &self.found.evaluation else { return None };
        let all = self.found.probabilities.as_ref()?;
        let (codes, weights) = (&self.found.codes, Some(self.found.weights.as_slice()));
        Some(Judged::new(&verdict.classes, codes, weights, all, self.judges))
    }
}

/// Refuses flags that go together with one kind of passes only.
fn check_passes(args: &Train) -> Result<(), Failure> {
    let auto = args.passes == Passes::Auto;
    let wrong = [
        (
            args.resume.is_some(),
            "--resume",
            "a fit begins anew; continue the model without --passes auto",
        ),
        (args.holdout.is_some(), "--holdout", "its metrics are of left-out rows already"),
        (args.window.is_some(), "--window", "rows have no order in a fit"),
        (args.predictions.is_some(), "--predictions", "no row is predicted before it is learned"),
        (args.patience.is_some(), "--patience", "it stops when nothing is gained"),
        (args.interval.is_some(), "--interval", "it is learned row by row"),
        (args.delay > 0, "--delay", "rows have no order in a fit"),
    ];
    if let Some((_, flag, why)) = wrong.iter().find(|(given, ..)| auto && *given) {
        return Err(Failure::Use(format!("{flag} does not go with --passes auto: {why}")));
    }
    if args.checkpoint.is_some() && args.passes != Passes::Number(1) {
        return Err(Failure::Use("--checkpoint goes with one pass: leave --passes out".to_owned()));
    }
    if args.follow && (args.passes != Passes::Number(1) || args.data.how.cache) {
        return Err(Failure::Use(
            "--follow reads a file once, as it grows: leave --passes and --cache out".to_owned(),
        ));
    }
    if args.shuffle && !auto {
        return Err(Failure::Use("--shuffle needs --passes auto".to_owned()));
    }
    Ok(())
}

/// A number as a person reads it.
pub(crate) fn number(value: f64) -> String {
    match value {
        _ if value.is_nan() => "undefined".to_owned(),
        _ if value.abs() < 1e12 => format!("{value:.6}"),
        _ => format!("{value:.6e}"),
    }
}

/// Metrics on one line.
fn on_one_line(metrics: &[(&str, f64)]) -> String {
    let metrics: Vec<_> =
        metrics.iter().map(|(name, value)| format!("{name} {}", number(*value))).collect();
    metrics.join(", ")
}

/// A resumed run by itself.
fn print_this_run(run: &ThisRun, out: &mut dyn Write) -> io::Result<()> {
    writeln!(out, "this run       {} examples", run.seen.examples)?;
    if run.seen.examples > 0 {
        writeln!(out, "  average loss {}", number(run.seen.loss))?;
        for (name, value) in &run.seen.metrics {
            writeln!(out, "  {name:<12} {}", number(*value))?;
        }
    }
    if let Some((examples, metrics)) = run.window.as_ref().filter(|(examples, _)| *examples > 0) {
        writeln!(out, "  last {examples:<7} {}", on_one_line(metrics))?;
    }
    if let Some(held) = run.holdout.as_ref().filter(|held| held.examples > 0) {
        let metrics = on_one_line(&held.metrics);
        writeln!(
            out,
            "  held out     {} examples, average loss {}, {metrics}",
            held.examples,
            number(held.loss)
        )?;
    }
    Ok(())
}

fn print(summary: &Summary, out: &mut dyn Write) -> io::Result<()> {
    writeln!(out, "examples       {}", summary.seen.examples)?;
    writeln!(out, "average loss   {}  ({})", number(summary.seen.loss), summary.loss_name)?;
    for (name, value) in &summary.seen.metrics {
        writeln!(out, "{name:<14} {}", number(*value))?;
    }
    if let Some((examples, metrics)) = &summary.window {
        writeln!(out, "last {examples:<9} {}", on_one_line(metrics))?;
    }
    if let Some(run) = &summary.this_run {
        print_this_run(run, out)?;
    }
    if let Some(Frozen { loss_then, now }) = &summary.frozen {
        writeln!(
            out,
            "final model    average loss {} on {} of these rows, {} when they were predicted; {}",
            number(now.loss),
            now.examples,
            number(*loss_then),
            on_one_line(&now.metrics)
        )?;
    }
    if let Some(coverage) = &summary.coverage {
        writeln!(out, "{:<14} {}", "intervals", coverage.sentence())?;
    }
    if let Some(held) = &summary.holdout {
        let which = if summary.holdout_passes.len() > 1 { " in the last pass" } else { "" };
        writeln!(out, "held out       {} examples{which}", held.examples)?;
        writeln!(out, "  average loss {}", number(held.loss))?;
        for (name, value) in &held.metrics {
            writeln!(out, "  {name:<12} {}", number(*value))?;
        }
        if summary.holdout_passes.len() > 1 {
            let passes: Vec<_> = summary.holdout_passes.iter().map(|loss| number(*loss)).collect();
            writeln!(out, "  by pass      {}", passes.join(" "))?;
        }
    }
    let task = summary.task_reason.as_deref().unwrap_or(summary.task.name());
    writeln!(out, "task           {task}")?;
    let averaged = if summary.average { ", averaged weights" } else { "" };
    let walk = match summary.members.len() {
        0 => summary.walk.clone(),
        members => format!("auto, a team of {members}"),
    };
    writeln!(out, "walk           {walk}{averaged}")?;
    writeln!(out, "rate           {}", summary.rate)?;
    for line in team::lines(&summary.members, summary.seen.examples) {
        writeln!(out, "{line}")?;
    }
    let block = summary.guarantee.iter().map(|text| ("guarantee", text.clone()));
    // Theorems one by one belong to a comparator; otherwise --json, `show` and `certify` have them.
    let theorems = match &summary.certificate {
        None => vec!["none (off)".to_owned()],
        Some(report) if report.known.is_some() || summary.guarantee.is_empty() => report.lines(),
        Some(_) => Vec::new(),
    };
    let mut last = "";
    for (head, text) in block.chain(theorems.into_iter().map(|text| ("certificate", text))) {
        let shown = if head == last { "" } else { head };
        writeln!(out, "{shown:<14} {text}")?;
        last = head;
    }
    if let Some((bits, collisions)) = summary.collisions.filter(|(_, c)| c.shared > 0) {
        writeln!(out, "hash           {}", shared(bits, &collisions))?;
    }
    for note in &summary.notes {
        writeln!(out, "note           {note}")?;
    }
    if summary.skipped > 0 {
        writeln!(out, "rows skipped   {}", summary.skipped)?;
        for error in &summary.skipped_first {
            writeln!(out, "               {error}")?;
        }
    }
    writeln!(out, "seconds        {:.3}", summary.seconds)
}

/// How many features share a place, and what can be done about it.
fn shared(bits: u32, collisions: &Collisions) -> String {
    let Collisions { names, shared, exact, every } = *collisions;
    let least = if exact { "" } else { "at least " };
    let where_ =
        if every > 1 { format!(" (counted in every {every}th place)") } else { String::new() };
    format!(
        "{least}{shared} of {names} features share a place with another in 2^{bits}{where_}; --bits {} or --exact separates them",
        (bits + 3).min(30)
    )
}
