//! What an experiment is, and what it is told.

use std::path::PathBuf;

use geowalk::ConfigError;

use crate::boosting::domain::Domain;
use crate::outcome::Outcome;

/// One experiment of a paper, or one counterexample.
#[derive(Debug, Clone, Copy)]
pub struct Experiment {
    /// What it is called on the command line.
    pub name: &'static str,
    /// Where it comes from: a key of REFERENCES.bib and a place.
    pub paper: &'static str,
    /// What it shows, in a sentence.
    pub what: &'static str,
    /// Carries it out.
    pub run: fn(&mut Run<'_>) -> Result<Outcome, ConfigError>,
}

/// The file in which an experiment that takes long keeps what is done of it.
pub(crate) const KEPT: &str = "results.csv";

/// How much is done.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Size {
    /// Seconds: for tests. Fewer samples, the same statements.
    Small,
    /// As in the paper.
    Full,
}

impl Size {
    /// `small` or `full`.
    pub fn name(self) -> &'static str {
        if self == Self::Small { "small" } else { "full" }
    }

    /// One of two values.
    pub fn pick<T>(self, small: T, full: T) -> T {
        if self == Self::Small { small } else { full }
    }
}

/// What a run is told, and whom it tells how far it is.
pub struct Run<'a> {
    /// How much to do.
    pub size: Size,
    /// Seed of everything random.
    pub seed: u64,
    /// Tables to compare learners on, if any were given.
    pub domains: &'a [Domain],
    /// Where an experiment that takes long may keep what is done of it, in `results.csv`.
    pub folder: Option<PathBuf>,
    watcher: Option<&'a mut dyn FnMut(f64)>,
}

impl std::fmt::Debug for Run<'_> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "Run {{ size: {:?}, seed: {} }}", self.size, self.seed)
    }
}

impl<'a> Run<'a> {
    /// A run that nobody watches.
    pub fn new(size: Size, seed: u64) -> Self {
        Self { size, seed, domains: &[], folder: None, watcher: None }
    }

    /// A run that says how far it is, from 0 to 1.
    pub fn watched(size: Size, seed: u64, watcher: &'a mut dyn FnMut(f64)) -> Self {
        Self { watcher: Some(watcher), ..Self::new(size, seed) }
    }

    /// The same, on these tables, keeping what is done in this folder.
    #[must_use]
    pub fn on(self, domains: &'a [Domain], folder: PathBuf) -> Self {
        Self { domains, folder: Some(folder), ..self }
    }

    /// `part` of `all` is done.
    pub fn done(&mut self, part: usize, all: usize) {
        if let Some(watcher) = &mut self.watcher {
            watcher(part as f64 / all.max(1) as f64);
        }
    }
}
