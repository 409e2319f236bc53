//! `geowalk boost --weak trees`: boosted trees, their summary, report, and what `show` prints of them.

use std::io::Write;
use std::time::Instant;

use geowalk::boost::trees::{LeafStep, Progress};
use geowalk_data::Task;
use geowalk_page::{Bars, Page, Plot};
use geowalk_run::error::RunError;
use geowalk_run::model::Model;
use geowalk_run::profile::Profile;
use geowalk_run::trees::{BoostedTrees, FEW, Judgement, Predicted, Target, TreesPlan, guarantee};
use serde_json::{Value, json};

use crate::Failure;
use crate::args::{Boost, Shown, What};
use crate::data::Reading;
use crate::paths::Files;
use crate::progress::Lines;
use crate::report::{self, Judged, Judges, Origin};

/// Columns in the list of importance.
const COLUMNS: usize = 10;

fn plan(args: &Boost) -> Result<TreesPlan, Failure> {
    let unused = [
        ("--literals", args.literals != 2),
        ("--leverage", args.leverage != "one"),
        ("--adapt", args.adapt != "none"),
        ("--search", args.search != "edge"),
        ("--abstain", args.abstain),
        ("--separable", args.separable != "cap"),
        ("--reduction", args.reduction != "ova"),
        ("--until", args.until.is_some()),
    ];
    if let Some((flag, _)) = unused.iter().find(|(_, given)| *given) {
        return Err(Failure::Use(format!("{flag} does not go with --weak trees")));
    }
    let bins = args.bins.as_deref().map(|text| match text.parse() {
        Ok(bins) if bins <= 254 => Ok(bins),
        _ => Err(geowalk::spec::unknown("number of bins for trees", text, ["2 to 254"])),
    });
    Ok(TreesPlan {
        loss: args.loss.clone(),
        custom: None,
        rounds: args.rounds,
        rate: args.rate,
        leaves: args.leaves,
        depth: args.depth,
        lambda: args.ridge,
        bins: bins.transpose()?,
        row_share: args.row_share,
        column_share: args.column_share,
        min_leaf: args.min_leaf,
        effective: args.effective_rows,
        leaf: LeafStep::parse(&args.leaf_step)?,
        patience: args.patience,
        held_out: args.hold_out,
        seed: args.seed,
        halt: crate::interrupt::halt(),
    })
}

/// Boosts trees, and prints the summary.
pub(crate) fn run(args: &Boost, out: &mut dyn Write) -> Result<u8, Failure> {
    let start = Instant::now();
    let plan = plan(args)?;
    Files::of(&args.data)?
        .model(args.model.as_deref())
        .output("--report", args.report.as_deref())
        .check()?;
    args.model.as_deref().map(Model::check_path).transpose().map_err(RunError::from)?;
    let mut data = Reading::of(&args.data)?;
    let task = args.task.map(|task| match task {
        What::Binary => Task::Binary,
        What::Multiclass => Task::Multiclass,
        What::Regression => Task::Regression,
    });
    if args.dry_run && task != Some(Task::Regression) {
        let examples = geowalk_run::table::examples(data.options(), task)?;
        return report::dry_run(&examples, args.json, out).map(|()| 0);
    }
    let target = Target::read(data.options(), task)?;
    data.finish()?;
    let style = "{spinner} [{bar:30}] {msg}, {elapsed}, at most {eta} left";
    let lines = Lines::new(args.progress == Shown::Auto, style, Some(plan.steps(&target)));
    target.notes.iter().for_each(|note| lines.line(note));
    let learned = learn(&plan, &target, &lines);
    let learned = learned.inspect_err(|_| lines.end())?;
    let validated = match args.folds {
        Some(count) if !plan.halt.is_called() => {
            let mut watch = |fold| lines.line(&format!("fold {fold} of {count} is predicted"));
            Some(plan.validate(&target, count, &mut watch)?)
        }
        _ => None,
    };
    lines.end();
    let found = learned.predict_training(&target.table);
    let judged = found.judge(&target);
    let judges = Judges::of(args.folds.filter(|_| validated.is_some()));
    let shown = validated.as_ref().unwrap_or(&found);
    let mut summary = learned.summary(&plan, &target, &judged);
    if let Some(validated) = &validated {
        summary["cross_validation"] = json!({"folds": args.folds, "seed": plan.seed,
            "verdict": validated.judge(&target).json()});
    }
    if let Some(path) = &args.model {
        plan.model(&target, &learned, summary.clone())?.save(path).map_err(RunError::from)?;
    }
    if let Some(path) = &args.report {
        let judged = match shown {
            Predicted::Classes(_, all) => {
                let weights = target.weights.as_deref();
                Some(Judged::new(&learned.classes, &target.codes, weights, all, judges))
            }
            Predicted::Numbers(_) => None,
        };
        let from = report::typed(&args.data.inputs);
        let page =
            page(&summary, &learned.classes, target.profile.as_ref(), judged.as_ref(), &from);
        report::write(path, &page)?;
    }
    summary["seconds"] = json!(start.elapsed().as_secs_f64());
    let code = interrupted(&plan, &learned, args);
    if args.json {
        writeln!(out, "{summary}")?;
        return Ok(code);
    }
    writeln!(out)?;
    if let Some(profile) = &target.profile {
        report::short(profile, out)?;
        writeln!(out, "classes        {}", learned.classes.join(", "))?;
    } else {
        writeln!(
            out,
            "data           {} rows, {} columns",
            target.y.len(),
            target.table.columns().len()
        )?;
    }
    writeln!(out, "loss           {}", learned.model.loss.spec())?;
    writeln!(out, "rounds         {}", learned.choice())?;
    if plan.rounds.is_none() && learned.chosen.is_none() {
        writeln!(out, "               with fewer than {FEW} rows none are held out")?;
    }
    writeln!(out, "descent        {}", learned.descent())?;
    writeln!(out, "guarantee      {}", guarantee(&summary))?;
    for (at, (column, part)) in learned.ranked(&target).iter().take(COLUMNS).enumerate() {
        let head = if at == 0 { "importance" } else { "" };
        writeln!(out, "{head:<14} {part:.3}  {column}")?;
    }
    writeln!(out, "\n{}", judges.heading())?;
    report::lines(&shown.judge(&target).lines(), out)?;
    writeln!(out)?;
    if let Some(path) = &args.model {
        writeln!(out, "model          {}", path.display())?;
    }
    if let Some(path) = &args.report {
        writeln!(out, "report         {}", path.display())?;
    }
    writeln!(out, "seconds        {:.3}", start.elapsed().as_secs_f64())?;
    Ok(code)
}

fn learn(plan: &TreesPlan, target: &Target, lines: &Lines) -> Result<BoostedTrees, RunError> {
    let mut done = 0_u64;
    plan.fit(target, &mut |progress| {
        done += 1;
        match progress {
            Progress::Choosing(round, loss) => {
                lines.at(done, || format!("choosing, round {round}, held-out loss {loss:.4}"));
                if round.is_power_of_two() {
                    lines.line(&format!("round {round:>5}  held-out loss {loss:.4}"));
                }
            }
            Progress::Round(round) => {
                lines
                    .at(done, || format!("round {}, training loss {:.4}", round.round, round.risk));
                if round.round.is_power_of_two() {
                    lines.line(&format!(
                        "tree  {:>5}  training loss {:.4}",
                        round.round, round.risk
                    ));
                }
            }
        }
    })
}

/// Tells of an interruption; the exit code.
fn interrupted(plan: &TreesPlan, learned: &BoostedTrees, args: &Boost) -> u8 {
    if !plan.halt.is_called() {
        return 0;
    }
    let kept = args.model.as_ref().map_or_else(
        || "they are not kept, because there is no --model".to_owned(),
        |path| format!("{} holds them", path.display()),
    );
    crate::interrupt::tell(&format!("{} rounds are made", learned.rounds.len()), &kept);
    crate::interrupt::INTERRUPTED
}

/// The report, from the summary of a fit, and where it comes from.
pub fn page(
    summary: &Value,
    classes: &[String],
    profile: Option<&Profile>,
    judged: Option<&Judged>,
    from: &Origin,
) -> Page {
    let text = |key: &str| summary[key].as_str().unwrap_or_default().to_owned();
    let mut facts = vec![
        ("columns".to_owned(), summary["columns"].to_string()),
        ("loss".to_owned(), text("loss")),
        ("rounds".to_owned(), text("choice")),
    ];
    if !classes.is_empty() {
        facts.push(("classes".to_owned(), classes.join(", ")));
    }
    let rounds = summary["rounds"].as_array().map(Vec::as_slice).unwrap_or_default();
    let curve = |key: &'static str| {
        rounds.iter().filter_map(move |r| Some((r["round"].as_f64()?, r[key].as_f64()?)))
    };
    let mut plot =
        Plot::new("Loss by round").x("round").y("per row").line("training loss", curve("risk"));
    if let Some(chosen) = summary["chosen"]["curve"].as_array() {
        let held = (0..).map(f64::from).zip(chosen).filter_map(|(at, x)| Some((at, x.as_f64()?)));
        plot = plot.line("held-out loss, of the models that chose the rounds", held);
    }
    let mut bars = Bars::new("What each column gained, in percent of all");
    for one in summary["importance"].as_array().into_iter().flatten().take(COLUMNS) {
        let name = one["column"].as_str().unwrap_or_default().to_owned();
        let part = one["part"].as_f64().unwrap_or(0.0);
        bars = bars.bar(name, (1000.0 * part).round() / 10.0);
    }
    let label = profile.and_then(|profile| profile.label.as_deref());
    let about = (summary["examples"].as_u64().unwrap_or(0), from);
    let known = format!("{} trees: {}.", rounds.len(), text("choice"));
    let mut page = if let Ok(Judgement::Numbers(numbers)) = judgement(summary) {
        let own = "Boosted trees for numbers";
        report::opening(label, own, about, &numbers.sentence(), numbers.tiles())
    } else {
        report::of_classes(label, "Boosted trees", about, judged, &known)
    };
    for warning in profile.iter().flat_map(|profile| &profile.warnings) {
        page = page.prose(&format!("Please check: {warning}."));
    }
    page = page.section("What decides").figure(bars);
    if let Some(judged) = judged {
        page = report::quality(page, judged);
    }
    page = report::reading(page, profile);
    if let Some(judged) = judged {
        page = report::margins(page, judged);
    }
    page = page.folded("How it was learned").facts(facts).figure(plot);
    page = page.folded("What is proved").prose(&format!(
        "{}. {}.",
        guarantee(summary),
        text("descent")
    ));
    report::repeat(page, from)
}

/// The figures of a regression in a summary.
fn judgement(summary: &Value) -> Result<Judgement, ()> {
    let own = &summary["training"];
    let number = |value: &Value| value.as_f64().ok_or(());
    Ok(Judgement::Numbers(geowalk_run::verdict::Numbers {
        rows: usize::try_from(own["rows"].as_u64().ok_or(())?).map_err(|_| ())?,
        rmse: number(&own["rmse"])?,
        mae: number(&own["mae"])?,
        baseline: number(&own["baseline"]["rmse"])?,
    }))
}
