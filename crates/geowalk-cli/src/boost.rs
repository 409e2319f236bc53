//! `geowalk boost`: a log of rounds on standard error, the summary on standard output; and what `show` prints of a booster.

pub(crate) mod report;

use std::io::{self, Write};
use std::time::Instant;

use geowalk::boost::line::Separable;
use geowalk::boost::multiclass::Reduction;
use geowalk::boost::rules::Search;
use geowalk::boost::{Flavour, Leverage};
use geowalk::spec;
use geowalk_data::Task;
use geowalk_run::boost::validate::{self, Checked};
use geowalk_run::boost::words::Names;
use geowalk_run::boost::{Boosted, By, History, Kind, Plan, Said, summary};
use geowalk_run::error::RunError;
use geowalk_run::learned::promise;
use geowalk_run::model::Model;
use geowalk_run::profile::Profile;
use geowalk_run::table::{Examples, examples, headings};
use geowalk_run::verdict::Verdict;
use serde_json::{Value, json};

use crate::Failure;
use crate::args::{Boost, Shown, What};
use crate::data::Reading;
use crate::paths::Files;
use crate::progress::Lines;
use crate::report::{Judged, Judges};

fn plan(args: &Boost) -> Result<Plan, Failure> {
    if let Some(path) = &args.resume {
        let model = Model::load(path).map_err(RunError::from)?;
        let plan = Plan::resumed(&model)?;
        return Ok(Plan {
            rounds: args.rounds.unwrap_or(plan.rounds),
            halt: crate::interrupt::halt(),
            ..plan
        });
    }
    let choice = |kind: &'static str, text: &str, known: &[&'static str]| {
        Failure::Config(spec::unknown(kind, text, known.iter().copied()))
    };
    Ok(Plan {
        loss: args.loss.clone().unwrap_or_else(|| "matsushita".to_owned()),
        own: None,
        adapt: Flavour::parse(&args.adapt)?,
        by: By::parse(&args.by)?,
        mu: args.mu,
        nu: args.nu,
        weak: Kind::parse(&args.weak)?,
        literals: args.literals.unwrap_or(2),
        leaves: args.leaves.unwrap_or(4),
        search: Search::parse(&args.search)?,
        bins: bins(args.bins.as_deref().unwrap_or("255"))?,
        abstains: args.abstain,
        leverage: Leverage::parse(&args.leverage)?,
        separable: Separable::parse(&args.separable)
            .ok_or_else(|| choice("policy", &args.separable, &["cap", "stop", "error"]))?,
        rounds: args.rounds.unwrap_or(10),
        bound: args.until,
        held_out: args.hold_out,
        patience: args.patience,
        reduction: Reduction::parse(&args.reduction)
            .ok_or_else(|| choice("reduction", &args.reduction, &["ova", "mh"]))?,
        seed: args.seed,
        halt: crate::interrupt::halt(),
        ..Plan::default()
    })
}

/// Flags that the plain algorithm does not have.
fn only_chosen(args: &Boost) -> Option<&'static str> {
    let given = [
        ("--depth", args.depth.is_some()),
        ("--vector", args.vector),
        ("--rate", args.rate.is_some()),
        ("--ridge", args.ridge.is_some()),
        ("--min-leaf", args.min_leaf.is_some()),
        ("--effective-rows", args.effective_rows.is_some()),
        ("--row-share", args.row_share.is_some()),
        ("--column-share", args.column_share.is_some()),
        ("--leaf-step", args.leaf_step != "newton"),
        ("--increasing", !args.increasing.is_empty()),
        ("--decreasing", !args.decreasing.is_empty()),
        ("--interact", !args.interact.is_empty()),
    ];
    given.iter().find(|(_, given)| *given).map(|(flag, _)| *flag)
}

/// Flags that only the plain algorithm has.
pub(crate) fn only_plain(args: &Boost) -> Option<&'static str> {
    let given = [
        ("--plain", args.plain),
        ("--leverage", args.leverage != "one"),
        ("--adapt", args.adapt != "none"),
        ("--search", args.search != "edge"),
        ("--abstain", args.abstain),
        ("--separable", args.separable != "cap"),
        ("--reduction", args.reduction != "ova"),
        ("--until", args.until.is_some()),
        ("--mu", args.mu != 0.5),
        ("--nu", args.nu != 0.25),
        ("--bins exact", args.bins.as_deref() == Some("exact")),
        ("--loss renorm", args.loss.as_deref() == Some("renorm")),
    ];
    given.iter().find(|(_, given)| *given).map(|(flag, _)| *flag)
}

/// Is the plain algorithm asked for: by name, by a flag of its alone, or by a number of rounds of rules?
fn is_plain(args: &Boost) -> bool {
    match args.weak.as_str() {
        "trees" => false,
        "rules" => {
            let rounds = args.rounds.is_some() && only_chosen(args).is_none();
            args.resume.is_some() || only_plain(args).is_some() || rounds
        }
        _ => true,
    }
}

/// Bins of a column; None for thresholds between all values.
pub(crate) fn bins(text: &str) -> Result<Option<usize>, Failure> {
    let wrong = |_| spec::unknown("number of bins", text, ["2 to 255", "exact"]);
    if text == "exact" { Ok(None) } else { Ok(Some(text.parse().map_err(wrong)?)) }
}

/// The task that was asked for, of a learner of classes.
pub(crate) fn task(what: Option<What>, who: &str) -> Result<Option<Task>, Failure> {
    match what {
        None => Ok(None),
        Some(What::Binary) => Ok(Some(Task::Binary)),
        Some(What::Multiclass) => Ok(Some(Task::Multiclass)),
        Some(What::Regression) => Err(Failure::Use(format!(
            "--task regression: {who} learns classes; use 'geowalk train'"
        ))),
    }
}

/// Boosts, and prints the summary.
#[expect(clippy::too_many_lines, reason = "one step after the other")]
pub(crate) fn run(args: &Boost, out: &mut dyn Write) -> Result<u8, Failure> {
    if !is_plain(args) && args.resume.is_none() {
        return crate::trees::run(args, out);
    }
    let start = Instant::now();
    let plan = plan(args)?;
    if let Some(flag) = only_chosen(args) {
        let why = match only_plain(args) {
            Some(own) if args.weak == "rules" => format!("{flag} does not go with {own}"),
            _ => format!("{flag} goes with --weak rules or --weak trees"),
        };
        return Err(Failure::Use(why));
    }
    Files::of(&args.data)?
        .model(args.model.as_deref())
        .output("--report", args.report.as_deref())
        .check()?;
    let mut data = Reading::of(&args.data)?;
    let shown = args.progress == Shown::Auto;
    let task = task(args.task, "boosting")?;
    let examples = examples(data.options(), task)?;
    data.finish()?;
    if args.dry_run {
        return crate::report::dry_run(&examples, args.json, out).map(|()| 0);
    }
    if task == Some(Task::Binary) && examples.classes.names().len() > 2 {
        // The message names the classes.
        examples.classes.signs().map_err(RunError::from)?;
    }
    args.folds.map_or(Ok(()), |count| validate::check(&examples, count)).map_err(RunError::from)?;
    let style =
        "{spinner} [{bar:30}] round {human_pos} of {human_len}, {msg}, {elapsed}, {eta} left";
    let lines = Lines::new(shown, style, Some(steps(&plan, &examples, args.folds)));
    let mut log = Log { lines, headed: false, names: None, rounds: 0 };
    for note in notes(&examples) {
        log.lines.line(&note);
    }
    let count = examples.table.columns().len();
    let empty = Boosted {
        classes: examples.classes.names().to_vec(),
        reduction: plan.reduction,
        members: Vec::new(),
        columns: count,
    };
    log.names = Some(Names::new(headings(&examples.schema, count), &empty));
    let learned = learn(&plan, &examples, args.folds, &mut log);
    log.lines.end();
    let (boosted, histories, validation) = learned?;
    let weights = examples.weights.as_deref();
    let errors = plan.errors(&boosted, &examples.table, &examples.classes, weights)?;
    let probabilities = match &validation {
        Some(own) => own.probabilities.clone(),
        None => boosted.predict(&examples.table)?.1,
    };
    let judges = Judges::of(validation.as_ref().map(|own| own.errors.len()));
    let (class_names, codes) = (examples.classes.names(), examples.classes.codes());
    let judged = Judged::new(class_names, codes, weights, &probabilities, judges);
    let mut summary = summary(&plan, &examples, &boosted, &histories, errors);
    let verdict = judged.verdict.clone();
    if let (Some(path), Some(names)) = (&args.report, &log.names) {
        let profile = Profile::new(&examples);
        let report = report::Report {
            plan: &plan,
            profile: Some(&profile),
            rows: examples.classes.rows(),
            boosted: &boosted,
            histories: &histories,
            validation: validation.as_ref(),
            judged: Some(judged),
            names,
            supports: &geowalk_run::boost::support::read(&summary),
            error: errors.0,
        };
        crate::report::write(path, &report.page(&crate::report::typed(&args.data.inputs)))?;
    }
    if let Some(validation) = &validation {
        summary["cross_validation"] = validated(validation, &verdict, plan.seed);
    }
    if let Some(path) = &args.model {
        plan.model(&examples, &boosted, &histories, summary.clone())
            .save(path)
            .map_err(RunError::from)?;
    }
    summary["seconds"] = json!(start.elapsed().as_secs_f64());
    let code = interrupted(&plan, &histories, args);
    if args.json {
        writeln!(out, "{summary}")?;
        return Ok(code);
    }
    said(&plan, &Profile::new(&examples), &boosted, &histories, errors, out)?;
    if let Some(validation) = &validation {
        writeln!(
            out,
            "error          {:.6} ± {:.6}  (mean and deviation of {} folds, seed {})",
            validation.mean(),
            validation.deviation(),
            validation.errors.len(),
            plan.seed
        )?;
    }
    crate::report::verdict(&verdict, judges, out)?;
    if let Some(path) = &args.model {
        writeln!(out, "model          {}", path.display())?;
    }
    if let Some(path) = &args.report {
        writeln!(out, "report         {}", path.display())?;
    }
    writeln!(out, "seconds        {:.3}", start.elapsed().as_secs_f64())?;
    Ok(code)
}

/// What cross-validation found, for programs.
fn validated(validation: &validate::Validation, verdict: &Verdict, seed: u64) -> Value {
    let fold = |error: &f64| json!({"error": error, "accuracy": 1.0 - error});
    json!({
        "folds": validation.errors.iter().map(fold).collect::<Vec<_>>(),
        "mean": fold(&validation.mean()),
        "deviation": validation.deviation(),
        "verdict": verdict.json(),
        "seed": seed,
    })
}

/// Tells of an interruption; the exit code.
fn interrupted(plan: &Plan, histories: &[History], args: &Boost) -> u8 {
    if !plan.halt.is_called() {
        return 0;
    }
    let made = histories.iter().map(|own| own.rounds.len()).sum::<usize>();
    let of = plan.rounds * histories.len();
    let advice = match &args.model {
        Some(path) => format!(
            "{0} holds them; continue with geowalk boost {1} --resume {0} --model {0}",
            path.display(),
            args.data.inputs.join(" ")
        ),
        None => "they are shown, but not kept, because there is no --model".to_owned(),
    };
    crate::interrupt::tell(&format!("{made} of {of} rounds are made"), &advice);
    crate::interrupt::INTERRUPTED
}

/// What was learned, in words.
fn said(
    plan: &Plan,
    profile: &Profile,
    boosted: &Boosted,
    histories: &[History],
    errors: (f64, Option<f64>),
    out: &mut dyn Write,
) -> io::Result<()> {
    writeln!(out)?;
    crate::report::short(profile, out)?;
    writeln!(out, "classes        {}", boosted.classes.join(", "))?;
    writeln!(out, "loss           {}", about_loss(plan, histories))?;
    writeln!(out, "weak           {}", about_weak(plan))?;
    writeln!(out, "training error {:.6}", errors.0)?;
    if let Some(error) = errors.1 {
        writeln!(out, "held-out error {error:.6}  (of the rows that chose the number of rounds)")?;
    }
    if boosted.classes.len() > 2 && plan.reduction == Reduction::Mh {
        writeln!(
            out,
            "\nevery row is asked of each class whether it is that; errors below are wrong answers"
        )?;
    }
    for own in histories {
        print(own, out)?;
    }
    Ok(())
}

/// How many rounds there are at most, folds included.
fn steps(plan: &Plan, examples: &Examples, folds: Option<usize>) -> usize {
    let members = match examples.classes.names().len() {
        2 => 1,
        _ if plan.reduction == Reduction::Mh => 1,
        many => many,
    };
    // F* runs its five losses one after the other.
    let runs = if plan.adapt == Flavour::FStar { 5 } else { 1 };
    plan.rounds.saturating_mul(members * runs).saturating_mul(folds.unwrap_or(0) + 1)
}

type Learned = (Boosted, Vec<History>, Option<validate::Validation>);

/// Learns from all rows, then fold by fold.
fn learn(
    plan: &Plan,
    examples: &Examples,
    folds: Option<usize>,
    log: &mut Log,
) -> Result<Learned, RunError> {
    let Examples { table, classes, weights, .. } = examples;
    let (boosted, histories) =
        plan.fit(table, classes, weights.as_deref(), &mut |said| log.say(said))?;
    let validation = match folds {
        None => None,
        // Folds that stop after a round would tell nothing.
        _ if plan.halt.is_called() => None,
        Some(count) => {
            let mut fold = 1;
            Some(validate::validate(plan, examples, count, &mut |checked| match checked {
                Checked::Round => log.advance(|| format!("fold {fold} of {count}")),
                Checked::Fold(own, error) => {
                    fold = own + 1;
                    log.lines.line(&format!("fold {own}: error {error:.6}"));
                }
            })?)
        }
    };
    Ok((boosted, histories, validation.filter(|_| !plan.halt.is_called())))
}

fn notes(examples: &Examples) -> Vec<String> {
    let mut notes: Vec<String> = examples.said.iter().chain(&examples.decisions).cloned().collect();
    if examples.unlabelled > 0 {
        notes.push(format!("{} rows without a label are left out", examples.unlabelled));
    }
    if examples.skipped.0 > 0 {
        notes.push(format!("{} rows could not be read and are left out", examples.skipped.0));
        notes.extend(examples.skipped.1.iter().cloned());
    }
    notes
}

fn about_loss(plan: &Plan, histories: &[History]) -> String {
    match plan.adapt {
        Flavour::None => plan.loss.clone(),
        flavour => {
            let last: Vec<&str> = histories.iter().map(|own| own.loss.as_str()).collect();
            let by = match plan.by {
                By::HeldOut => "held-out rows",
                By::Training => "the training error",
            };
            format!("chosen by {}, by {by} (probabilities by {})", flavour.name(), last.join(", "))
        }
    }
}

fn about_weak(plan: &Plan) -> String {
    match plan.weak {
        Kind::Rules => {
            format!("rules of at most {} literals, search {}", plan.literals, plan.search.spec())
        }
        Kind::Trees => format!("small trees of at most {} leaves", plan.leaves),
        other => other.name().to_owned(),
    }
}

fn print(own: &History, out: &mut dyn Write) -> io::Result<()> {
    if let Some(class) = &own.class {
        writeln!(out, "\n{class} against the rest")?;
    }
    let rounds = own.rounds.len();
    write!(out, "rounds         {rounds}: {}", own.ended)?;
    if own.forgotten > 0 {
        let rounds = if own.forgotten == 1 { "round" } else { "rounds" };
        write!(out, "; {} {rounds} after the best on held-out rows left out", own.forgotten)?;
    }
    writeln!(out)?;
    if own.capped > 0 {
        writeln!(
            out,
            "capped         {} rounds: a rule without training errors, whose weight is limited",
            own.capped
        )?;
    }
    if own.ties > 0 {
        writeln!(out, "ties           {} other losses had the same training error", own.ties)?;
    }
    let slip = own.rounds.iter().map(|round| round.slip).fold(0.0, f64::max);
    if rounds > 0 && own.capped == 0 {
        writeln!(
            out,
            "progress       as the identity of Bregman and Pythagoras says, within {slip:.1e}"
        )?;
    }
    for certificate in &own.certificates {
        writeln!(out, "certificate    {}", promise(certificate))?;
    }
    Ok(())
}

/// The log of the rounds.
struct Log {
    lines: Lines,
    headed: bool,
    names: Option<Names>,
    /// Rounds so far, those of folds included.
    rounds: u64,
}

impl Log {
    fn advance(&mut self, message: impl FnOnce() -> String) {
        self.rounds += 1;
        self.lines.at(self.rounds, message);
    }

    fn say(&mut self, said: &Said<'_>) {
        match said {
            Said::Class(name) => self.lines.line(&format!("{name} against the rest")),
            Said::Round { round, feature, loss } => {
                self.advance(|| format!("surrogate {:.6}", round.surrogate));
                if !self.lines.shown() {
                    return;
                }
                if !self.headed {
                    self.headed = true;
                    self.lines.line(&format!(
                        "{:>6} {:>9} {:>10} {:>10} {:>10} {:>10}  feature",
                        "round", "edge", "leverage", "surrogate", "promised", "error"
                    ));
                }
                let words = self.names.as_ref().map(|names| names.condition(feature));
                let promised = round.before - round.guaranteed;
                self.lines.line(&format!(
                    "{:>6} {:>9.6} {:>10.6} {:>10.6} {:>10.6} {:>10.6}  {}  [{loss}]",
                    round.round,
                    round.edge,
                    round.leverage,
                    round.surrogate,
                    promised.max(0.0),
                    round.error,
                    words.unwrap_or_default()
                ));
            }
        }
    }
}
