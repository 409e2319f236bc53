//! The bound of EGU is for the loss of clipped predictions.

use geowalk::ConfigError;
use geowalk::certify::{Bound, Comparator, Ledger};
use geowalk::loss::Squared;
use geowalk::row::Dense;
use geowalk::walk::{Clipped, Entropy, Walk};

use crate::{Experiment, Finding, Outcome, Run};

pub(crate) const EXPERIMENT: Experiment = Experiment {
    name: "egu-clipping",
    paper: "AW20, Theorems 6 and 7",
    what: "A weight of 1000 on a feature of 1 and a label of 0: the loss of the prediction as it is, 10⁶, breaks the bound of 3000; that of predictions clipped to the range of labels is within it.",
    run,
};

fn run(_: &mut Run<'_>) -> Result<Outcome, ConfigError> {
    let mut outcome = Outcome::new();
    let rate = 1.0 / 3.0;
    let mut walk = Entropy::new(1000.0)?;
    let mut bound = Ledger::egu(&[1000.0])?.declare([Some(1.0), Some(1.0)])?;
    let round = walk.step(Dense(&[1.0]), 0.0.into(), &Squared, rate)?;
    bound.observe(&round, Dense(&[1.0]));
    outcome.find(Finding::equal("not clipped: loss of the first round", round.loss, 1e6, 1e-6));
    outcome.find(Finding::above("against the printed 3(L + XYD)", round.loss, 3000.0));
    outcome.find(Finding::void(
        "certificate",
        &bound.certify(&Comparator::Given(&[0.0])),
        "predictions clipped to [0, Y]",
    ));
    let mut walk = Clipped::new(Entropy::new(1000.0)?, 0.0, 1.0)?;
    let mut bound = Ledger::egu(&[1000.0])?.declare([Some(1.0), Some(1.0)])?;
    let mut total = 0.0;
    for _ in 0..200 {
        let round = walk.step(Dense(&[1.0]), 0.0.into(), &Squared, rate)?;
        bound.observe(&round, Dense(&[1.0]));
        total += round.loss;
    }
    outcome.find(Finding::certified(
        "clipped, 200 rounds: loss",
        total,
        &bound.certify_known(&Comparator::Given(&[0.0]), 0.0),
    ));
    outcome.find(Finding::above("and it is not vacuous: loss", total, 10.0));
    Ok(outcome)
}
