//! Gradient descent: the bound needs a bound on the slopes in advance.

use geowalk::ConfigError;
use geowalk::certify::{Bound, Comparator, Ledger};
use geowalk::loss::{Hinge, Loss, Squared};
use geowalk::row::Dense;
use geowalk::walk::{Euclidean, Walk};
use geowalk_page::Table;

use crate::{Experiment, Finding, Outcome, Run};

pub(crate) const EXPERIMENT: Experiment = Experiment {
    name: "example-6",
    paper: "KMWW07, Example 6",
    what: "U²/2η + ηkZ²R²/2 is no promise where Z ≥ |slope| is only hoped for: with Z = 1 and the squared loss, whose slope is 20 in the first round, it is broken, and the certificate void there. The hinge has Z = 1 for certain; and the regret is below the bound, not equal to it.",
    run,
};

/// Regret against `u` in 20 rounds of x = 1 with this label, and the bounds with declared and with measured slopes.
fn play<L: Loss>(
    loss: &L,
    y: f64,
    u: f64,
    rate: f64,
) -> Result<(f64, Ledger, Ledger), ConfigError> {
    let mut walk = Euclidean::new();
    let mut promised = Ledger::promised_descent(&[], &loss.facts(), 1.0, 1.0)?;
    let mut met = Ledger::gradient_descent(&[], &loss.facts());
    let mut regret = 0.0;
    for _ in 0..20 {
        let round = walk.step(Dense(&[1.0]), y.into(), loss, rate)?;
        promised.observe(&round, Dense(&[1.0]));
        met.observe(&round, Dense(&[1.0]));
        regret += round.loss - loss.value(u, y);
    }
    Ok((regret, promised, met))
}

fn run(_: &mut Run<'_>) -> Result<Outcome, ConfigError> {
    let mut outcome = Outcome::new();
    let printed = |u: f64, rate: f64| u * u / (2.0 * rate) + 0.5 * rate * 20.0;
    let u = [10.0];
    let given = Comparator::Given(&u);
    let (regret, promised, met) = play(&Squared, 10.0, 10.0, 0.9)?;
    outcome.find(Finding::equal(
        "squared loss, y = u = 10, rate 0.9: regret",
        regret,
        277.741,
        1e-3,
    ));
    outcome.find(Finding::above("against the bound with Z = 1", regret, printed(10.0, 0.9)));
    outcome.find(Finding::void("with Z = 1 declared", &promised.certify(&given), "|slope| <= Z"));
    outcome.find(Finding::certified("against the slopes met", regret, &met.certify(&given)));
    let mut table = Table::new(["rate", "regret", "with Z = 1", "with the slopes met"]);
    let u = [2.0];
    let given = Comparator::Given(&u);
    let (mut held, mut below) = (true, true);
    for i in 1..=20 {
        let rate = 0.1 * f64::from(i);
        let (regret, promised, met) = play(&Hinge, 1.0, 2.0, rate)?;
        let (promised, met) = (promised.certify(&given), met.certify(&given));
        held &= Finding::certified("", regret, &promised).met;
        held &= Finding::certified("", regret, &met).met;
        below &= regret < met.bound;
        table.push([rate.into(), regret.into(), promised.bound.into(), met.bound.into()]);
    }
    let word = |holds: bool| if holds { "yes" } else { "no" };
    outcome.find(Finding::new(
        "hinge, rates to 2: both bounds valid and met",
        "yes",
        word(held),
        held,
    ));
    outcome.find(Finding::new("and never attained", "yes", word(below), below));
    outcome.table("hinge", table);
    Ok(outcome)
}
