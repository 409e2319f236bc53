//! The bound needs the loss of the comparator, not of the best expert.

use geowalk::certify::{Bound, Comparator, Hedge, ReparamHedge};
use geowalk::experts::Linear;
use geowalk::row::Dense;
use geowalk::walk::{SimplexEntropy, Walk};
use geowalk::{ConfigError, Real};
use geowalk_page::Plot;

use crate::{Experiment, Finding, Outcome, Run};

pub(crate) const EXPERIMENT: Experiment = Experiment {
    name: "hedge-comparator",
    paper: "AW20, Theorems 4 and 5",
    what: "Two experts alternate and a third, of weight 1e-40, hardly loses: if L bounds the loss of the best expert only, both printed bounds are broken against the first; with L for the comparator the certificate says void, or holds.",
    run,
};

/// The total loss after each round, from the weights (½, ½, 1e-40).
fn play(twin: bool, rate: f64) -> Vec<(f64, f64)> {
    let mut weights = [0.5, 0.5, 1e-40];
    let mut loss = 0.0;
    let mut path = Vec::new();
    for t in 0..20 {
        let row = [f64::from(t % 2 == 0), f64::from(t % 2 == 1), 0.0005];
        let total: f64 = weights.iter().sum();
        loss += weights.iter().zip(&row).map(|(w, x)| w * x).sum::<f64>() / total;
        for (w, x) in weights.iter_mut().zip(&row) {
            *w *= if twin { (1.0 - rate * x) * (1.0 - rate * x) } else { Real::exp(-rate * x) };
        }
        path.push((f64::from(t + 1), loss));
    }
    path
}

fn run(_: &mut Run<'_>) -> Result<Outcome, ConfigError> {
    let mut outcome = Outcome::new();
    let (d, l, own): (f64, f64, f64) = (Real::ln(2.0), 0.01, 10.0);
    let (hedge, twin) =
        (play(false, Hedge::rate(d, l)), play(true, ReparamHedge::printed_rate(d, l)));
    let end = |path: &[(f64, f64)]| path.last().map_or(f64::NAN, |p| p.1);
    let printed = [own + (2.0 * l * d).sqrt() + d, own + 2.0 * (l * d).sqrt() + d];
    outcome.find(Finding::equal("Hedge: loss", end(&hedge), 14.274, 1e-3));
    outcome.find(Finding::above("against Theorem 4 as printed", end(&hedge), printed[0]));
    outcome.find(Finding::equal("twin: loss", end(&twin), 14.886, 1e-3));
    outcome.find(Finding::above("against Theorem 5 as printed", end(&twin), printed[1]));
    let mut bound = Hedge::new(&[0.5, 0.5], 0.0)?;
    let mut walk = SimplexEntropy::new();
    let mut lost = 0.0;
    for t in 0..20 {
        let row = [f64::from(t % 2 == 0), f64::from(t % 2 == 1)];
        let round = walk.step(Dense(&row), 0.0.into(), &Linear, Hedge::rate(d, l))?;
        bound.observe(&round, Dense(&row));
        lost += round.loss;
    }
    let first = Comparator::Given(&[1.0, 0.0]);
    outcome.find(Finding::void(
        "the tuned bound with L = 0.01",
        &bound.tuned(&first, d, l),
        "a comparator that loses at most L",
    ));
    outcome.find(Finding::certified(
        "the bound for the rate that was used: regret",
        lost - own,
        &bound.certify(&first),
    ));
    let flat = |value: f64| [(1.0, value), (20.0, value)];
    outcome.picture(
        "loss",
        Plot::new("Loss against the printed bounds")
            .x("round")
            .y("total loss")
            .line("Hedge", hedge)
            .line("twin", twin)
            .dashed("Theorem 4, printed", flat(printed[0]))
            .dashed("Theorem 5, printed", flat(printed[1])),
    );
    Ok(outcome)
}
