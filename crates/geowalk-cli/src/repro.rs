//! `geowalk repro`: the papers' experiments, repeated.

use std::fs;
use std::io::{self, IsTerminal, Write};
use std::path::{Path, PathBuf};
use std::time::{Instant, UNIX_EPOCH};

use geowalk_data::{Input, Options, Task};
use geowalk_papers::boosting::domain::Domain;
use geowalk_papers::boosting::figure15;
use geowalk_papers::repro::Settings;
use geowalk_papers::{EXPERIMENTS, Experiment, Size, find};
use geowalk_run::error::RunError;
use geowalk_run::folds::stratified;
use geowalk_run::table::{Examples, examples};
use indicatif::{ProgressBar, ProgressStyle};

use crate::Failure;
use crate::args::Repro;
use crate::paths::Files;

/// The experiments that were named; all of them if none was.
fn chosen(names: &[String]) -> Result<Vec<&'static Experiment>, Failure> {
    if names.is_empty() || names.iter().any(|name| name == "all") {
        return Ok(EXPERIMENTS.iter().collect());
    }
    let unknown = |name: &String| {
        let known: Vec<&str> = EXPERIMENTS.iter().map(|experiment| experiment.name).collect();
        Failure::Use(format!("no experiment '{name}'; choose all, or among {}", known.join(", ")))
    };
    names.iter().map(|name| find(name).ok_or_else(|| unknown(name))).collect()
}

/// Which program this is: outcomes of another build are not taken for its own.
fn version() -> String {
    let built = std::env::current_exe().and_then(|path| path.metadata()).ok().and_then(|file| {
        let time = file.modified().ok()?.duration_since(UNIX_EPOCH).ok()?;
        Some(format!(", {} bytes of {}", file.len(), time.as_nanos()))
    });
    format!("geowalk {}{}", env!("CARGO_PKG_VERSION"), built.unwrap_or_default())
}

/// Folds of the cross-validation on tables.
const FOLDS: usize = 10;

/// The tables of a folder by name, without the test halves of those that come in two.
fn tables(folder: &Path) -> io::Result<Vec<(String, PathBuf)>> {
    let mut found = Vec::new();
    for entry in fs::read_dir(folder)? {
        let path = entry?.path();
        let name = path.file_name().map(|name| name.to_string_lossy().into_owned());
        let name = name.unwrap_or_default();
        let stem = name.strip_suffix(".gz").unwrap_or(&name).strip_suffix(".csv");
        if let Some(stem) = stem.filter(|stem| !stem.ends_with("-test")) {
            found.push((stem.strip_suffix("-train").unwrap_or(stem).to_owned(), path));
        }
    }
    found.sort();
    Ok(found)
}

/// The tables of the folder that was given, if an experiment among those chosen compares learners on them.
fn domains(args: &Repro, experiments: &[&'static Experiment]) -> Result<Vec<Domain>, Failure> {
    let Some(folder) = &args.data else { return Ok(Vec::new()) };
    if !experiments.iter().any(|experiment| experiment.name == figure15::EXPERIMENT.name) {
        let name = figure15::EXPERIMENT.name;
        return Err(Failure::Use(format!("--data: only the experiment {name} reads tables")));
    }
    let files = tables(folder).map_err(|error| Failure::file(folder.display(), error))?;
    if files.is_empty() {
        let what = "no .csv or .csv.gz file in it";
        return Err(Failure::Use(format!("{}: {what}", folder.display())));
    }
    let mut found = Vec::new();
    for (name, path) in &files {
        let input = Input::Path(path.to_string_lossy().into_owned());
        let Examples { table, classes, .. } =
            examples(Options::new([input]), Some(Task::Multiclass))?;
        let rows = table.rows();
        if args.rows.is_some_and(|most| rows > most) {
            writeln!(io::stderr(), "{name}: {rows} rows, more than --rows: left out")?;
            continue;
        }
        let parts = stratified(&classes, FOLDS, args.seed);
        found.push(Domain::new(name, table, &classes, parts).map_err(RunError::from)?);
    }
    Ok(found)
}

/// A bar for the experiment that is going on, where standard error is a terminal.
fn bar(experiment: &Experiment) -> Option<ProgressBar> {
    if !io::stderr().is_terminal() {
        return None;
    }
    let bar = ProgressBar::new(1000);
    // A style that cannot be read would leave the plain one.
    if let Ok(style) = ProgressStyle::with_template("{msg:24} {bar:30} {percent:>3}% {elapsed}") {
        bar.set_style(style);
    }
    bar.set_message(experiment.name);
    bar.tick();
    Some(bar)
}

/// Refuses a folder of results in which a table that is read would be replaced.
fn check_files(args: &Repro) -> Result<(), Failure> {
    let Some(folder) = args.data.as_deref().filter(|_| args.out.exists()) else { return Ok(()) };
    let read = tables(folder).map_err(|error| Failure::file(folder.display(), error))?;
    let files = Files::none()
        .output("--out", Some(&args.out.join("findings.csv")))
        .output("--out", Some(&args.out.join("index.html")));
    read.iter().fold(files, |files, (_, path)| files.input("--data", Some(path))).check()
}

/// The flags that make an experiment again.
fn flags(args: &Repro) -> String {
    let mut flags = Vec::new();
    if args.small {
        flags.push("--small".to_owned());
    }
    if args.seed > 0 {
        flags.push(format!("--seed {}", args.seed));
    }
    flags.extend(args.data.as_ref().map(|data| format!("--data {}", data.display())));
    flags.extend(args.rows.map(|rows| format!("--rows {rows}")));
    flags.push(format!("--out {}", args.out.display()));
    flags.join(" ")
}

pub(crate) fn run(args: &Repro, out: &mut dyn Write) -> Result<u8, Failure> {
    let experiments = chosen(&args.names)?;
    check_files(args)?;
    let size = if args.small { Size::Small } else { Size::Full };
    let settings = Settings {
        out: args.out.clone(),
        size,
        seed: args.seed,
        version: version(),
        again: args.again,
        domains: domains(args, &experiments)?,
        flags: flags(args),
    };
    let width = experiments.iter().map(|experiment| experiment.name.len()).max().unwrap_or(0);
    let mut failed = 0;
    for experiment in &experiments {
        let begun = Instant::now();
        let bar = bar(experiment);
        let (outcome, kept) = settings
            .carry_out(experiment, &mut |part| {
                if let Some(bar) = &bar {
                    // Rounded down: a part of 1000.
                    #[allow(clippy::cast_possible_truncation, clippy::cast_sign_loss)]
                    bar.set_position((part.clamp(0.0, 1.0) * 1000.0) as u64);
                }
            })
            .map_err(|error| Failure::Use(error.to_string()))?;
        if let Some(bar) = &bar {
            bar.finish_and_clear();
        }
        let time = if kept {
            "kept".to_owned()
        } else {
            format!("{:.1} s", begun.elapsed().as_secs_f64())
        };
        let [(said, all), (held, checks)] = outcome.counts();
        writeln!(
            out,
            "{:width$}  {said:>2} of {all:>2} as in the paper, {held:>3} of {checks:>3} own checks hold  {time:>8}",
            experiment.name
        )?;
        for finding in outcome.findings.iter().filter(|finding| !finding.met) {
            failed += usize::from(finding.fails());
            let verdict = if finding.fails() { "FAILS" } else { "NOT AS IN THE PAPER" };
            writeln!(
                out,
                "{:width$}  {verdict}: {}: expected {}, measured {}",
                "", finding.what, finding.expected, finding.measured
            )?;
        }
        out.flush()?;
    }
    let page = settings.write_page().map_err(|error| Failure::Use(error.to_string()))?;
    writeln!(out, "page  {}", page.display())?;
    Ok(u8::from(failed > 0))
}
