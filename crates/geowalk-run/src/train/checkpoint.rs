//! # Checkpoints
//! A model file that is written while a run goes on, so that a run that was killed loses seconds. The same
//! command
//! goes on where the file stands: the rows it has seen are read again and passed over, and their digest must
//! be that
//! of the file. The result has the same bits as a run that was never killed.

use std::fs;
use std::path::PathBuf;
use std::time::{Duration, Instant};

use geowalk::row::Block;
use geowalk_data::{Places, Source};
use serde_json::{Value, json};

use super::Plan;
use super::run::Run;
use crate::digest::Digest;
use crate::error::RunError;
use crate::model::Model;

/// Seconds between checkpoints unless told otherwise.
pub const SECONDS: u64 = 60;

/// Key of the part of the summary that says what the run was asked for and how far it is.
const KEY: &str = "checkpoint";

/// Where checkpoints go, and which rows are passed over.
#[derive(Debug)]
pub(super) struct Checkpoint {
    path: PathBuf,
    every: Duration,
    last: Instant,
    /// What the run was asked for.
    asked: String,
    /// Rows of this input so far, those of an earlier process included.
    rows: u64,
    /// Rows that are still passed over.
    skip: u64,
    /// The digest of the rows passed over, and the one that it must become.
    digest: Option<(Digest, Digest)>,
}

fn digest(model: &Model) -> Option<Digest> {
    model.find(Model::DIGEST).and_then(|saved| Digest::load(&saved))
}

impl Checkpoint {
    /// Begins, or goes on: then with the model that was written. `resumed` is the model that the whole run
    /// continues.
    pub(super) fn open(
        plan: &Plan,
        resumed: Option<&Model>,
    ) -> Result<Option<(Self, Option<Model>)>, RunError> {
        let Some((path, seconds)) = &plan.checkpoint else { return Ok(None) };
        let asked =
            format!("{:?}", Plan { checkpoint: None, threads: 1, trace: false, ..plan.clone() });
        let (every, last) = (Duration::from_secs(*seconds), Instant::now());
        let mut checkpoint =
            Self { path: path.clone(), every, last, asked, rows: 0, skip: 0, digest: None };
        if !path.exists() {
            Model::check_path(path)?;
            return Ok(Some((checkpoint, None)));
        }
        let model = Model::load(path)?;
        let about = &model.summary[KEY];
        let other = |why| RunError::Checkpoint { path: path.clone(), why };
        if about.is_null() {
            return Err(other("it is a model, not a checkpoint"));
        }
        if about["asked"].as_str() != Some(&checkpoint.asked) {
            return Err(other("it was made with other settings"));
        }
        checkpoint.rows = about["rows"].as_u64().unwrap_or(0);
        checkpoint.skip = checkpoint.rows;
        let start = resumed.and_then(digest).unwrap_or_default();
        checkpoint.digest = digest(&model).map(|end| (start, end));
        Ok(Some((checkpoint, Some(model))))
    }

    /// Takes away the rows that were learned from by an earlier process.
    pub(super) fn pass_over(
        &mut self,
        block: &mut Block,
        places: &mut Places,
    ) -> Result<(), RunError> {
        if self.skip == 0 {
            return Ok(());
        }
        let rows = block.len().min(usize::try_from(self.skip).unwrap_or(usize::MAX));
        self.skip -= rows as u64;
        if let Some((now, end)) = &mut self.digest {
            (0..rows).for_each(|i| now.add(block.fingerprint(i)));
            if self.skip == 0 && now != end {
                let why = "the data do not begin with the rows that it has seen";
                return Err(RunError::Checkpoint { path: self.path.clone(), why });
            }
        }
        let mut rest = Block::new();
        rest.append(block, rows..block.len());
        (*block, *places) = (rest, Places::default());
        Ok(())
    }

    /// Refuses data that end before the rows that were seen.
    pub(super) fn check_end(&self) -> Result<(), RunError> {
        if self.skip > 0 {
            let why = "the data end before the rows that it has seen";
            return Err(RunError::Checkpoint { path: self.path.clone(), why });
        }
        Ok(())
    }

    /// After a block was learned from: writes the file, if it is time.
    pub(super) fn learned(
        &mut self,
        rows: usize,
        run: &Run,
        source: &dyn Source,
    ) -> Result<(), RunError> {
        self.rows += rows as u64;
        if self.last.elapsed() < self.every {
            return Ok(());
        }
        let schema = source.schema();
        let mut model = run.model(schema, &run.summary(schema, source.skipped(), 0.0));
        let about: Value = json!({ "asked": self.asked, "rows": self.rows });
        model.summary[KEY] = about;
        model.save(&self.path)?;
        self.last = Instant::now();
        Ok(())
    }

    /// The run has ended and its model is written: the file has no use any more.
    pub(super) fn end(&self) {
        // A file that stays is refused by the next run, or continued at its end.
        let _ = fs::remove_file(&self.path);
    }

    /// Rows that an earlier process has learned from and that are still to be passed over.
    pub(super) fn skipped(&self) -> u64 {
        self.skip
    }

    /// What is said when a run goes on.
    pub(super) fn note(&self) -> String {
        format!("{}: goes on after {} rows", self.path.display(), self.rows)
    }
}
