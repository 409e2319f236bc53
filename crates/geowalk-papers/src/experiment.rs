//! The definition of an experiment, and the parameters of a run.

use std::path::PathBuf;

use geowalk::ConfigError;

use crate::boosting::domain::Domain;
use crate::outcome::Outcome;

/// One experiment of a paper, or one counterexample.
#[derive(Debug, Clone, Copy)]
pub struct Experiment {
    /// Name on the command line.
    pub name: &'static str,
    /// Source: a key of REFERENCES.bib and a place.
    pub paper: &'static str,
    /// One-sentence description of the result.
    pub what: &'static str,
    /// Runs the experiment.
    pub run: fn(&mut Run<'_>) -> Result<Outcome, ConfigError>,
}

/// The file in which a long experiment stores its finished results.
pub(crate) const KEPT: &str = "results.csv";

/// The size of an experiment.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Size {
    /// Takes seconds, for tests: fewer samples, the same statements.
    Small,
    /// The size used in the paper.
    Full,
}

impl Size {
    /// The name: `small` or `full`.
    pub fn name(self) -> &'static str {
        if self == Self::Small { "small" } else { "full" }
    }

    /// Returns `small` or `full`, according to the size.
    pub fn pick<T>(self, small: T, full: T) -> T {
        if self == Self::Small { small } else { full }
    }
}

/// The parameters of a run, and the callback that receives its progress.
pub struct Run<'a> {
    /// The size of the experiment.
    pub size: Size,
    /// Seed of all random numbers.
    pub seed: u64,
    /// Tables on which to compare learners, if the user gave any.
    pub domains: &'a [Domain],
    /// Folder in which a long experiment may store its finished results, in `results.csv`.
    pub folder: Option<PathBuf>,
    watcher: Option<&'a mut dyn FnMut(f64)>,
}

impl std::fmt::Debug for Run<'_> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "Run {{ size: {:?}, seed: {} }}", self.size, self.seed)
    }
}

impl<'a> Run<'a> {
    /// A run without progress callback.
    pub fn new(size: Size, seed: u64) -> Self {
        Self { size, seed, domains: &[], folder: None, watcher: None }
    }

    /// A run that reports its progress, from 0 to 1.
    pub fn watched(size: Size, seed: u64, watcher: &'a mut dyn FnMut(f64)) -> Self {
        Self { watcher: Some(watcher), ..Self::new(size, seed) }
    }

    /// Sets the tables, and the folder for the results.
    #[must_use]
    pub fn on(self, domains: &'a [Domain], folder: PathBuf) -> Self {
        Self { domains, folder: Some(folder), ..self }
    }

    /// Reports that `part` of `all` is done.
    pub fn done(&mut self, part: usize, all: usize) {
        if let Some(watcher) = &mut self.watcher {
            watcher(part as f64 / all.max(1) as f64);
        }
    }
}
