//! The twin of EG: the correct rate, and the range of labels.

use geowalk::certify::{Bound, Comparator, Ledger, rules};
use geowalk::loss::Squared;
use geowalk::row::Dense;
use geowalk::walk::{ReparamSimplex, Walk};
use geowalk::{ConfigError, Real};
use geowalk_page::Plot;

use crate::{Experiment, Finding, Outcome, Run};

pub(crate) const EXPERIMENT: Experiment = Experiment {
    name: "reparam-eg-rate",
    paper: "AW20, Theorem 9, (22)",
    what: "At the printed rate (22) one example sets a weight of the twin of EG to 0 for ever, and it loses 1 in every later round; at the corrected rate it loses 1.12 in all. A label out of range does the same.",
    run,
};

/// The twin on x = (1, 0) by its plain formula; the label is `first` once, then 1. Returns the total loss after each
/// round.
fn play(rate: f64, first: f64) -> Vec<(f64, f64)> {
    let mut u = [0.9_f64.sqrt(), 0.1_f64.sqrt()];
    let mut loss = 0.0;
    let mut path = Vec::new();
    for t in 0..401 {
        let y = if t == 0 { first } else { 1.0 };
        let z = u[0] * u[0];
        loss += (z - y) * (z - y);
        u[0] *= 1.0 - rate * (z - y);
        let norm = (u[0] * u[0] + u[1] * u[1]).sqrt();
        u = [u[0] / norm, u[1] / norm];
        path.push((f64::from(t + 1), loss));
    }
    path
}

fn run(_: &mut Run<'_>) -> Result<Outcome, ConfigError> {
    let mut outcome = Outcome::new();
    let (x, l, d): (f64, f64, f64) = (1.0, 1.0, 3.125);
    let printed_rate = 2.0 * d.sqrt() / (x * (2.0 * l).sqrt() + x * x * d.sqrt());
    let own = -Real::ln(0.9);
    let promised = l + 2.0 * x * (2.0 * l * d).sqrt() + 2.0 * x * x * own;
    let end = |path: &[(f64, f64)]| path.last().map_or(f64::NAN, |p| p.1);
    let (printed, corrected, labels) = (
        play(printed_rate, 0.0),
        play(rules::reparam_eg_rate(x, d, l), 0.0),
        play(1.0 / 3.0, -2.1),
    );
    outcome.find(Finding::equal("the printed rate (22)", printed_rate, 1.1111, 1e-4));
    outcome.find(Finding::equal("the bound", promised, 6.21, 0.01));
    outcome.find(Finding::above("loss in 401 rounds at (22)", end(&printed), promised));
    outcome.find(Finding::equal("loss in 401 rounds at (22)", end(&printed), 400.8, 0.1));
    outcome.find(Finding::at_most("loss at the corrected rate", end(&corrected), promised));
    outcome.find(Finding::equal("loss at the corrected rate", end(&corrected), 1.12, 0.01));
    // A label of −2.1 at the rate 1/3.
    let promised = 3.0 * ((1.0 + 2.1) * (1.0 + 2.1) + own);
    outcome.find(Finding::above(
        "first label −2.1, rate 1/3: loss against the printed bound",
        end(&labels),
        promised,
    ));
    outcome.find(Finding::equal("first label −2.1, rate 1/3: loss", end(&labels), 409.0, 1.0));
    let mut walk = ReparamSimplex::new();
    walk.grow(2);
    let mut bound = Ledger::reparam_eg(&[0.5, 0.5], 0.0)?.declare([Some(1.0), None])?;
    let round = walk.step(Dense(&[1.0, 0.0]), (-2.1).into(), &Squared, 1.0 / 3.0)?;
    bound.observe(&round, Dense(&[1.0, 0.0]));
    outcome.find(Finding::void(
        "certificate with that label",
        &bound.certify(&Comparator::Given(&[1.0, 0.0])),
        "labels within X of the middle",
    ));
    // The library's walk stores logarithms: a weight that reaches 0 can grow again, even at the printed rate.
    let mut walk = ReparamSimplex::new();
    walk.grow(2);
    let mut alive = 0.0;
    for t in 0..401 {
        let y = if t == 0 { 0.0 } else { 1.0 };
        alive += walk.step(Dense(&[1.0, 0.0]), y.into(), &Squared, printed_rate)?.loss;
    }
    outcome.find(Finding::at_most("the library's walk at (22), 401 rounds: loss", alive, 100.0));
    outcome.picture(
        "loss",
        Plot::new("Loss of the twin of EG")
            .x("round")
            .y("total loss")
            .log_x()
            .log_y()
            .line("printed rate (22)", printed)
            .line("corrected rate", corrected)
            .line("a label out of range", labels),
    );
    Ok(outcome)
}
