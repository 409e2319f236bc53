//! Runs experiments and writes their results: `DIR/NAME/*.csv`, `DIR/NAME/*.svg`, all findings in `DIR/findings.csv`,
//! and one page, `DIR/index.html`.
//!
//! Finished results are stored in `DIR/NAME/outcome.json` with a stamp of settings and version. An experiment is not
//! repeated while its stamp agrees, so an interrupted run continues where it stopped.

use std::path::{Path, PathBuf};
use std::{fs, io};

use geowalk::ConfigError;
use geowalk_page::{Cell, Mark, Page, Table};

use crate::boosting::domain::Domain;
use crate::experiment::{Experiment, KEPT, Run, Size};
use crate::outcome::Outcome;
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
        for (file, table) in &outcome.tables {
            put(&folder.join(format!("{file}.csv")), &table.csv())?;
        }
        for (file, picture) in &outcome.pictures {
            put(&folder.join(format!("{file}.svg")), &picture.svg())?;
        }
        // Written last, because it marks the other files as complete.
        put(&folder.join("outcome.json"), &saved::write(&outcome, &self.stamp(experiment)))?;
        Ok((outcome, false))
    }

    /// Writes the page and the findings of all finished experiments with these settings. Returns the path of the page.
    pub fn write_page(&self) -> Result<PathBuf, Failure> {
        let finished: Vec<(&Experiment, Outcome)> = EXPERIMENTS
            .iter()
            .filter_map(|experiment| Some((experiment, self.kept(experiment)?)))
            .collect();
        let mut findings = Table::new(["experiment", "finding", "expected", "measured", "met"]);
        for (experiment, outcome) in &finished {
            for f in &outcome.findings {
                let met = if f.met { "yes" } else { "no" };
                findings.push([
                    experiment.name.into(),
                    f.what.as_str().into(),
                    f.expected.as_str().into(),
                    f.measured.as_str().into(),
                    met.into(),
                ]);
            }
        }
        put(&self.out.join("findings.csv"), &findings.csv())?;
        let path = self.out.join("index.html");
        put(&path, &page(&finished, self))?;
        Ok(path)
    }
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

fn verdict(met: usize, all: usize) -> Cell {
    let mark = if met == all { Mark::Good } else { Mark::Bad };
    Cell::Verdict(mark, format!("{met} of {all}"))
}

/// Short values become figures; long ones become text that may wrap.
fn value(text: &str) -> Cell {
    if text.chars().count() <= 22 {
        Cell::Figures(text.to_owned())
    } else {
        Cell::Text(text.to_owned())
    }
}

fn page(finished: &[(&Experiment, Outcome)], settings: &Settings) -> String {
    let mut overview = Table::new(["experiment", "as expected", "source"]);
    for (i, (experiment, outcome)) in finished.iter().enumerate() {
        // The first section is the overview, so numbers start at 2.
        let name = Cell::Section(experiment.name.to_owned(), i + 2);
        let met = outcome.findings.iter().filter(|f| f.met).count();
        overview.push([name, verdict(met, outcome.findings.len()), experiment.paper.into()]);
    }
    let command = if settings.size == Size::Small {
        "geowalk repro all --small"
    } else {
        "geowalk repro all"
    };
    let mut page = Page::new("The papers' experiments, repeated")
        .prose("What was measured stands beside what was expected, with a verdict for each. Every number on this page comes from one run of the command below; the tables and pictures are also files beside this page.")
        .code(&format!("{command} --seed {} --out DIR", settings.seed))
        .section("Overview")
        .table(overview);
    for (experiment, outcome) in finished {
        page = page
            .section(experiment.name)
            .prose(experiment.what)
            .facts([("source", experiment.paper)]);
        let mut findings = Table::new(["finding", "expected", "measured", "verdict"]).stacked();
        for f in &outcome.findings {
            let verdict = if f.met {
                Cell::Verdict(Mark::Good, "met".into())
            } else {
                Cell::Verdict(Mark::Bad, "not met".into())
            };
            findings.push([
                f.what.as_str().into(),
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
