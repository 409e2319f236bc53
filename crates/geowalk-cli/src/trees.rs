//! `geowalk boost`: boosted rules and trees, their summary, report, and what `show` prints of them.

use std::io::Write;
use std::time::Instant;

use geowalk::boost::table::Classes;
use geowalk::boost::trees::{LeafStep, Progress, Shape};
use geowalk_data::Task;
use geowalk_page::{Bars, Page, Plot};
use geowalk_run::error::RunError;
use geowalk_run::model::Model;
use geowalk_run::profile::Profile;
use geowalk_run::trees::{
    BoostedTrees, Dependence, FEW, Grid, Judgement, Predicted, Target, TreesPlan, guarantee,
};
use serde_json::{Value, json};

use crate::Failure;
use crate::args::{Boost, Shown, What};
use crate::data::Reading;
use crate::paths::Files;
use crate::progress::Lines;
use crate::report::{self, Judged, Judges, Origin};

/// Columns in the list of importance, and rules below it.
const COLUMNS: usize = 10;

/// Columns of which a report pictures what they do.
const DEPENDENCE: usize = 4;

/// Classes in such a picture.
const CLASSES: usize = 6;

/// Rules in a report.
const REPORTED: usize = 30;

fn plan(args: &Boost) -> Result<TreesPlan, Failure> {
    let rules = args.weak == "rules";
    let unused = crate::boost::only_plain(args).or(match rules {
        false => args.literals.map(|_| "--literals"),
        true if args.depth.is_some() => Some("--depth"),
        true => args.leaves.map(|_| "--leaves"),
    });
    if let Some(flag) = unused {
        return Err(Failure::Use(format!("{flag} does not go with --weak {}", args.weak)));
    }
    let bins = args.bins.as_deref().map(|text| match text.parse() {
        Ok(bins) if bins <= 254 => Ok(bins),
        _ => Err(geowalk::spec::unknown("number of bins for trees", text, ["2 to 254"])),
    });
    Ok(TreesPlan {
        loss: args.loss.clone(),
        custom: None,
        shape: if rules { Shape::Rules } else { Shape::Trees },
        vector: args.vector,
        increasing: args.increasing.clone(),
        decreasing: args.decreasing.clone(),
        interactions: args
            .interact
            .iter()
            .map(|group| group.split(',').map(|name| name.trim().to_owned()).collect())
            .collect(),
        rounds: args.rounds,
        rate: args.rate,
        leaves: args.leaves,
        depth: args.depth.or(args.literals),
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
#[expect(clippy::too_many_lines, reason = "one line of output after the other")]
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
    let target = Target::read(data.options(), task)?;
    data.finish()?;
    if let (true, Some(profile)) = (args.dry_run, &target.profile) {
        report::profile(profile, args.json, out)?;
        return Ok(0);
    }
    if task == Some(Task::Binary) && target.classes.len() > 2 {
        // The message names the classes.
        let classes = Classes::new(target.codes.clone(), target.classes.clone());
        classes.and_then(|classes| classes.signs()).map_err(RunError::from)?;
    }
    plan.check(&target, args.folds).map_err(RunError::from)?;
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
    let model = plan.model(&target, &learned, summary)?;
    if let Some(path) = &args.model {
        model.save(path).map_err(RunError::from)?;
    }
    let mut summary = model.summary;
    if let Some(path) = &args.report {
        let judged = match shown {
            Predicted::Classes(_, all) => {
                let weights = target.weights.as_deref();
                Some(Judged::new(&learned.classes, &target.codes, weights, all, judges))
            }
            Predicted::Numbers(_) => None,
        };
        let from = report::typed(&args.data.inputs);
        let dependence = learned.dependence(&target.table, DEPENDENCE)?;
        let about = About { classes: &learned.classes, dependence: &dependence };
        let page = page(&summary, &about, target.profile.as_ref(), judged.as_ref(), &from);
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
        if !learned.classes.is_empty() {
            writeln!(out, "classes        {}", learned.classes.join(", "))?;
        }
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
    for (at, rule) in rules(&summary).take(COLUMNS).enumerate() {
        let head = if at == 0 { "largest rules" } else { "" };
        writeln!(out, "{head:<14} {rule}")?;
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

/// The largest rules of a summary.
fn rules(summary: &Value) -> impl Iterator<Item = &str> {
    summary["rules"]["largest"].as_array().into_iter().flatten().filter_map(Value::as_str)
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
    about: &About<'_>,
    profile: Option<&Profile>,
    judged: Option<&Judged>,
    from: &Origin,
) -> Page {
    let text = |key: &str| summary[key].as_str().unwrap_or_default().to_owned();
    let classes = about.classes;
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
    let origin = (summary["examples"].as_u64().unwrap_or(0), from);
    let known = format!("{} rounds: {}.", rounds.len(), text("choice"));
    let weak = summary["weak"].as_str().unwrap_or("trees");
    let mut page = if let Ok(Judgement::Numbers(numbers)) = judgement(summary) {
        let own = format!("Boosted {weak} for numbers");
        report::opening(label, &own, origin, &numbers.sentence(), numbers.tiles())
    } else {
        report::of_classes(label, &format!("Boosted {weak}"), origin, judged, &known)
    };
    for warning in profile.iter().flat_map(|profile| &profile.warnings) {
        page = page.prose(&format!("Please check: {warning}."));
    }
    page = page.section("What decides").figure(bars);
    if let Some(count) = summary["rules"]["count"].as_u64() {
        let shown: Vec<(String, &str)> =
            (1..).map(|at: usize| at.to_string()).zip(rules(summary)).take(REPORTED).collect();
        page = page.prose(&format!("The {} largest of {count} rules:", shown.len())).facts(shown);
    }
    let mut pairs = Bars::new("What pairs of columns gained together, in percent of all");
    let together = summary["pairs"].as_array().map(Vec::as_slice).unwrap_or_default();
    for one in together.iter().take(COLUMNS) {
        let name = |at: usize| one["columns"][at].as_str().unwrap_or_default();
        let part = one["part"].as_f64().unwrap_or(0.0);
        let both = format!("{} and {}", name(0), name(1));
        pairs = pairs.bar(both, (1000.0 * part).round() / 10.0);
    }
    if !together.is_empty() {
        page = page.figure(pairs);
    }
    page = depends(page, about);
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

/// What a report tells besides the summary.
#[derive(Debug, Clone, Copy)]
pub struct About<'a> {
    /// The names of the classes; none for numbers.
    pub classes: &'a [String],
    /// What columns do, if rows were at hand.
    pub dependence: &'a [Dependence],
}

/// Pictures of what columns do.
fn depends(mut page: Page, about: &About<'_>) -> Page {
    let what = match about.classes {
        [] => "mean prediction".to_owned(),
        [_, yes] => format!("mean probability of {yes}"),
        _ => "mean probability".to_owned(),
    };
    for own in about.dependence {
        let title = format!("{what} by {}", own.column);
        let of = |class: usize| own.mean.iter().map(move |all| all[class]);
        match &own.at {
            Grid::Numbers(at) => {
                let mut plot = Plot::new(&title).x(&own.column).y(&what);
                let lines = own.mean.first().map_or(0, Vec::len);
                for class in 0..lines.min(CLASSES) {
                    let line = if lines == 1 { &what } else { &about.classes[class] };
                    plot = plot.line(line, at.iter().copied().zip(of(class)));
                }
                page = page.figure(plot);
            }
            Grid::Names(names) if own.mean.iter().all(|all| all.len() == 1) => {
                let mut bars = Bars::new(&title);
                for (name, mean) in names.iter().zip(of(0)) {
                    bars = bars.bar(name.clone(), (10_000.0 * mean).round() / 10_000.0);
                }
                page = page.figure(bars);
            }
            Grid::Names(_) => {}
        }
    }
    if about.dependence.is_empty() {
        return page;
    }
    page.prose(
        "These pictures show the mean prediction of some training rows, with one column set to each value. \
         They picture the model, not cause and effect.",
    )
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
