//! # Continuing
//! The rounds of a model are repeated without searching for their features, then new rounds follow: the result
//! is, bit by bit, that of a run without an interruption. If the data are not those of the model, a repeated
//! round has another surrogate, and the run is refused.

use geowalk::boost::Flavour;
use geowalk::boost::table::Table;
use geowalk::boost::weak::{Hypothesis, View, Weak};

use super::{Boosted, History, Plan};
use crate::error::RunError;
use crate::model::Model;

/// A round that was made before.
#[derive(Debug, Clone, PartialEq)]
pub struct Known {
    /// Its feature.
    pub hypothesis: Hypothesis,
    /// The surrogate after it.
    pub surrogate: f64,
}

impl Plan {
    /// A plan that continues the rounds of a model, up to as many as it was asked for.
    pub fn resumed(model: &Model) -> Result<Self, RunError> {
        let refused = |why| RunError::NotResumed { why };
        let other = || refused("the model was not made by geowalk boost");
        let plan = Self::of(model).ok_or_else(other)?;
        let boosted = Boosted::of(model)?;
        let unknown = "the model file does not hold its rounds";
        let histories = History::of(model, None).ok_or_else(|| refused(unknown))?;
        if plan.adapt != Flavour::None {
            return Err(refused("runs with --adapt cannot be continued"));
        }
        let known = |history: &History| -> Option<Vec<Known>> {
            let class = history.class.as_ref();
            let at = class.map_or(Some(0), |own| boosted.classes.iter().position(|c| c == own))?;
            let hypotheses = &boosted.members.get(at)?.hypotheses;
            let round = |round: &geowalk::boost::Round| {
                let hypothesis = hypotheses.get(round.feature)?.clone();
                Some(Known { hypothesis, surrogate: round.surrogate })
            };
            history.rounds.iter().map(round).collect()
        };
        let known: Option<Vec<Vec<Known>>> = histories.iter().map(known).collect();
        Ok(Self { known: known.ok_or_else(|| refused(unknown))?, ..plan })
    }
}

/// A weak learner that gives known features first.
pub(super) struct Replay<'a> {
    pub(super) inner: &'a mut dyn Weak,
    pub(super) known: std::slice::Iter<'a, Known>,
}

impl Weak for Replay<'_> {
    fn learn(&mut self, view: &View<'_>, h: &mut [f64]) -> Option<Hypothesis> {
        let Some(known) = self.known.next() else { return self.inner.learn(view, h) };
        known.hypothesis.values(self.inner.table(), h);
        Some(known.hypothesis.clone())
    }

    fn table(&self) -> &Table {
        self.inner.table()
    }

    fn has_signs(&self) -> bool {
        self.inner.has_signs()
    }

    fn learn_signs(&mut self, y: &[i8], w: &[f64], h: &mut [i8]) -> Option<Hypothesis> {
        let Some(known) = self.known.next() else { return self.inner.learn_signs(y, w, h) };
        self.inner.signs(&known.hypothesis, 0, h);
        Some(known.hypothesis.clone())
    }

    fn signs(&self, hypothesis: &Hypothesis, start: usize, h: &mut [i8]) {
        self.inner.signs(hypothesis, start, h);
    }
}
