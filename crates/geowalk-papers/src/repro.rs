//! Runs experiments and writes their results: `DIR/NAME/*.csv`, `DIR/NAME/*.svg`, all findings in `DIR/findings.csv`,
//! and one page, `DIR/index.html`.
//!
//! Finished results are stored in `DIR/NAME/outcome.json` with a stamp of settings and version. An experiment is not
//! repeated while its stamp agrees, so an interrupted run continues where it stopped. The page has all experiments of
//! the folder, each with the command that it came from.

use std::path::{Path, PathBuf};
use std::{fs, io};

use geowalk::ConfigError;
use geowalk_page::{Cell, Mark, Page, Table};

use crate::boosting::domain::Domain;
use crate::experiment::{Experiment, KEPT, Run, Size};
use crate::outcome::{Finding, Outcome};
use crate::{EXPERIMENTS, saved};

/// The settings common to all experiments of a run.
#[derive(Debug, Clone)]
pub struct Settings {
    /// Output folder.
    pub out: PathBuf,
    /// The size of the experiments.
    pub size: Size,
    /// Seed of all random numbers.
    pub seed: u64,
    /// Version of the program; results of other versions are not reused.
    pub version: String,
    /// Repeat finished experiments?
    pub again: bool,
    /// Tables for the experiments that compare learners on many tables.
    pub domains: Vec<Domain>,
    /// The flags that repeat an experiment, as they are typed behind its name.
    pub flags: String,
}

/// The reason why a run stopped.
#[derive(Debug)]
pub enum Failure {
    /// An experiment failed.
    Experiment(&'static str, ConfigError),
    /// A file could not be written.
    File(PathBuf, io::Error),
}

impl std::fmt::Display for Failure {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            Self::Experiment(name, error) => write!(f, "experiment {name}: {error}"),
            Self::File(path, error) => write!(f, "cannot write {}: {error}", path.display()),
        }
    }
}

impl std::error::Error for Failure {}

impl Settings {
    fn stamp(&self, experiment: &Experiment) -> String {
        let rows: usize = self.domains.iter().map(|domain| domain.table().rows()).sum();
        format!(
            "{}, {}, {}, seed {}, {} domains of {rows} rows",
            experiment.name,
            self.version,
            self.size.name(),
            self.seed,
            self.domains.len()
        )
    }

    fn folder(&self, experiment: &Experiment) -> PathBuf {
        self.out.join(experiment.name)
    }

    fn command(&self, experiment: &Experiment) -> String {
        format!("geowalk repro {} {}", experiment.name, self.flags).trim_end().to_owned()
    }

    fn kept(&self, experiment: &Experiment) -> Option<Outcome> {
        let text = fs::read_to_string(self.folder(experiment).join("outcome.json")).ok()?;
        saved::read(&text, &self.stamp(experiment))
    }

    /// Runs one experiment, or loads its stored result, and writes its files. Returns the outcome, and whether it was
    /// stored.
    pub fn carry_out(
        &self,
        experiment: &'static Experiment,
        watcher: &mut dyn FnMut(f64),
    ) -> Result<(Outcome, bool), Failure> {
        if let Some(outcome) = self.kept(experiment).filter(|_| !self.again) {
            return Ok((outcome, true));
        }
        let folder = self.folder(experiment);
        let kept = folder.join(KEPT);
        if self.again && kept.exists() {
            fs::remove_file(&kept).map_err(|error| Failure::File(kept, error))?;
        }
        fs::create_dir_all(&folder).map_err(|error| Failure::File(folder.clone(), error))?;
        let run = Run::watched(self.size, self.seed, watcher);
        let outcome = (experiment.run)(&mut run.on(&self.domains, folder.clone()))
            .map_err(|error| Failure::Experiment(experiment.name, error))?;
        for (file, table) in outcome.tables.iter().chain(&outcome.files) {
            put(&folder.join(format!("{file}.csv")), &table.csv())?;
        }
        for (file, picture) in &outcome.pictures {
            put(&folder.join(format!("{file}.svg")), &picture.svg())?;
        }
        // Written last, because it marks the other files as complete.
        put(
            &folder.join("outcome.json"),
            &saved::write(&outcome, &self.stamp(experiment), &self.command(experiment)),
        )?;
        Ok((outcome, false))
    }

    /// Writes the page and the findings of all finished experiments of the folder. Returns the path of the page.
    pub fn write_page(&self) -> Result<PathBuf, Failure> {
        let finished: Vec<Finished> = EXPERIMENTS
            .iter()
            .filter_map(|experiment| {
                let path = self.folder(experiment).join("outcome.json");
                let (_, command, outcome) = saved::any(&fs::read_to_string(path).ok()?)?;
                Some(Finished { experiment, command, outcome })
            })
            .collect();
        let head =
            ["experiment", "finding", "said by", "expected", "measured", "verdict", "command"];
        let mut findings = Table::new(head);
        for Finished { experiment, command, outcome } in &finished {
            for f in &outcome.findings {
                findings.push([
                    experiment.name.into(),
                    f.what.as_str().into(),
                    said_by(f).into(),
                    f.expected.as_str().into(),
                    f.measured.as_str().into(),
                    f.verdict().into(),
                    command.as_str().into(),
                ]);
            }
        }
        put(&self.out.join("findings.csv"), &findings.csv())?;
        let path = self.out.join("index.html");
        put(&path, &page(&finished))?;
        Ok(path)
    }
}

/// An experiment that is finished, and the command that it came from.
struct Finished {
    experiment: &'static Experiment,
    command: String,
    outcome: Outcome,
}

fn said_by(finding: &Finding) -> &'static str {
    if finding.in_paper { "the paper" } else { "geowalk" }
}

/// Writes a file atomically: completely or not at all.
fn put(path: &Path, text: &str) -> Result<(), Failure> {
    let failure = |error| Failure::File(path.to_owned(), error);
    if let Some(folder) = path.parent() {
        fs::create_dir_all(folder).map_err(failure)?;
    }
    let beside = path.with_extension("part");
    fs::write(&beside, text).and_then(|()| fs::rename(&beside, path)).map_err(failure)
}

/// A tick only for what the paper says.
fn verdict(met: usize, all: usize) -> Cell {
    let mark = if met == all { Mark::Good } else { Mark::Bad };
    if all == 0 { Cell::from("-") } else { Cell::Verdict(mark, format!("{met} of {all}")) }
}

/// Short values become figures; long ones become text that may wrap.
fn value(text: &str) -> Cell {
    if text.chars().count() <= 22 {
        Cell::Figures(text.to_owned())
    } else {
        Cell::Text(text.to_owned())
    }
}

fn page(finished: &[Finished]) -> String {
    let mut overview =
        Table::new(["experiment", "as in the paper", "geowalk's own checks that hold", "source"]);
    for (i, Finished { experiment, outcome, .. }) in finished.iter().enumerate() {
        // The first section is the overview, so numbers start at 2.
        let name = Cell::Section(experiment.name.to_owned(), i + 2);
        let [(said, all), (held, checks)] = outcome.counts();
        let own = Cell::Figures(format!("{held} of {checks}"));
        overview.push([name, verdict(said, all), own, experiment.paper.into()]);
    }
    let mut page = Page::new("The papers' experiments, repeated")
        .prose("What was measured stands beside what was expected. A tick or a cross is for what the paper itself says; what geowalk expects besides, from its own theory or from earlier runs, is a check of geowalk's. Tables and pictures are also files beside this page.")
        .section("Overview")
        .table(overview);
    for Finished { experiment, command, outcome } in finished {
        page = page
            .section(experiment.name)
            .prose(experiment.what)
            .facts([("source", experiment.paper)])
            .code(command);
        let head = ["finding", "said by", "expected", "measured", "verdict"];
        let mut findings = Table::new(head).stacked();
        for f in &outcome.findings {
            let words = f.verdict().to_owned();
            let verdict = match (f.in_paper, f.met) {
                (true, true) => Cell::Verdict(Mark::Good, words),
                (false, true) => Cell::Text(words),
                (_, false) => Cell::Verdict(Mark::Bad, words),
            };
            findings.push([
                f.what.as_str().into(),
                said_by(f).into(),
                value(&f.expected),
                value(&f.measured),
                verdict,
            ]);
        }
        page = page.table(findings);
        for (_, picture) in &outcome.pictures {
            page = page.figure(picture.clone());
        }
        for (_, table) in &outcome.tables {
            page = page.table(table);
        }
    }
    page.html()
}
