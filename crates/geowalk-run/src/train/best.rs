//! # The best of several passes
//! By the loss of rows that are never learned from. What is kept is what a run of so many passes leaves, to the bit.

use geowalk_data::Source;

use super::Summary;
use super::run::Run;
use crate::model::Model;

/// The pass whose held-out rows lost least so far.
#[derive(Debug, Default)]
pub(super) struct Best {
    kept: Option<Kept>,
    passes: u64,
}

#[derive(Debug)]
struct Kept {
    pass: u64,
    loss: f64,
    summary: Summary,
    model: Model,
}

impl Best {
    /// A pass has ended. How many passes ago the best one was.
    pub(super) fn after(&mut self, run: &Run, source: &dyn Source) -> u64 {
        self.passes += 1;
        let loss = run.held_loss();
        if self.kept.as_ref().is_none_or(|kept| loss < kept.loss) {
            let summary = run.summary(source.schema(), source.skipped(), 0.0);
            let model = run.model(source.schema(), &summary);
            self.kept = Some(Kept { pass: self.passes, loss, summary, model });
        }
        self.passes - self.kept.as_ref().map_or(0, |kept| kept.pass)
    }

    /// What an earlier pass than the last led to, if that was better.
    pub(super) fn earlier(self, passes: Vec<f64>, seconds: f64) -> Option<(Summary, Model)> {
        let made = self.passes;
        let Kept { pass, mut summary, model, .. } = self.kept.filter(|kept| kept.pass < made)?;
        (summary.holdout_passes, summary.seconds) = (passes, seconds);
        summary.notes.push(format!(
            "the model is that of pass {pass} of {made}: later ones lost more on the rows held out"
        ));
        Some((summary, model))
    }
}
