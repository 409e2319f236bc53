//! # What a run may keep in memory
//! Weights, sums and names grow with the features. The limit is checked before a run whose features are hashed, and
//! each time the number of examples doubles.

use geowalk::row::Block;
use geowalk_data::{Features, Schema};

use super::run::Run;
use super::study::Study;
use crate::error::RunError;
use crate::model::Settings;

/// Features of the learner that is measured in advance.
const MEASURED: u32 = 1024;

/// Fewer hashed features than this fit everywhere.
const FEW: usize = 1 << 20;

/// Bytes of a name in a dictionary, about.
const NAME: u64 = 64;

/// What a run may keep, and how its features are found.
#[derive(Debug, Clone, Copy)]
pub(super) struct Memory {
    limit: u64,
    named: bool,
}

impl Memory {
    /// Refuses hashed features whose weights would not fit.
    pub(super) fn new(limit: u64, schema: &Schema, settings: &Settings) -> Result<Self, RunError> {
        let memory = Self { limit, named: matches!(schema.features(), Features::Exact(_)) };
        if let Some(width) = crate::walks::width(schema).filter(|width| *width > FEW)
            && let Some(bytes) = in_advance(settings)
        {
            let bytes = bytes * width as u64 / u64::from(MEASURED);
            memory.check(width, bytes)?;
        }
        Ok(memory)
    }

    /// Refuses to go on with learners that have become too large.
    pub(super) fn check_run(&self, run: &Run) -> Result<(), RunError> {
        let mut bytes = 0;
        let (mut features, mut w) = (0, Vec::new());
        for study in run.studies() {
            bytes += size(study);
            study.built.learner.weights(0, &mut w);
            features = features.max(w.len());
        }
        let names = if self.named { NAME * features as u64 } else { 0 };
        self.check(features, bytes + names)
    }

    fn check(&self, features: usize, bytes: u64) -> Result<(), RunError> {
        let Self { limit, named } = *self;
        if bytes <= limit {
            return Ok(());
        }
        Err(RunError::Memory { features, bytes, limit, named })
    }
}

/// The bytes of what a learner saves.
fn size(study: &Study) -> u64 {
    let mut numbers = 0;
    study.built.learner.save(&mut |_, values| numbers += values.len() as u64);
    8 * numbers
}

/// The bytes of a small learner; `None` where it cannot be built with so many features.
fn in_advance(settings: &Settings) -> Option<u64> {
    let mut study = Study::new(settings, Some(MEASURED as usize)).ok()?;
    let mut block = Block::new();
    block.feature(MEASURED - 1, 1.0);
    block.end(1.0, 1.0);
    study.built.learner.learn(&block, 0..1, &mut Vec::new()).ok()?;
    Some(size(&study))
}
