//! A least-squares bound without the printed proviso.

use geowalk::ConfigError;
use geowalk::certify::{Bound, Comparator, Ledger};
use geowalk::laws::Sampler;
use geowalk::loss::{Loss, Squared};
use geowalk::row::Dense;
use geowalk::walk::{Euclidean, Walk};
use geowalk_page::Plot;

use crate::stream::dot;
use crate::{Experiment, Finding, Outcome, Run};

pub(crate) const EXPERIMENT: Experiment = Experiment {
    name: "example-4",
    paper: "KMWW07, Example 4, (15)",
    what: "Gradient descent for the squared loss, with noise so large that the comparator loses more than ‖u‖²X², which the paper excludes: the bound holds all the same, with the comparator's loss and without knowing it.",
    run,
};

/// The result of a run: the comparator's loss, ‖u‖²X², the regret, and both bounds.
struct Played {
    comparator: f64,
    proviso: f64,
    regret: f64,
    known: f64,
    unknown: f64,
    valid: bool,
}

fn play(seed: u64, noise: f64) -> Result<Played, ConfigError> {
    let mut random = Sampler::new(seed);
    let mut walk = Euclidean::new();
    let mut bound = Ledger::least_squares(&[]);
    let u: Vec<f64> = (0..3).map(|_| random.uniform(-0.5, 0.5)).collect();
    let (rate, mut most) = (random.uniform(0.02, 0.3), 0.0);
    let (mut own, mut comparator) = (0.0, 0.0);
    for _ in 0..200 {
        let x: Vec<f64> = (0..3).map(|_| random.uniform(-1.0, 1.0)).collect();
        let y = dot(&u, &x) + noise * random.normal();
        let round = walk.step(Dense(&x), y.into(), &Squared, rate)?;
        bound.observe(&round, Dense(&x));
        own += round.loss;
        comparator += Squared.value(dot(&u, &x), y);
        most = f64::max(most, dot(&x, &x));
    }
    let given = Comparator::Given(&u);
    let (known, unknown) = (bound.certify_known(&given, comparator), bound.certify(&given));
    let regret = own - comparator;
    Ok(Played {
        comparator,
        proviso: dot(&u, &u) * most,
        regret,
        valid: Finding::certified("", regret, &known).met
            && Finding::certified("", regret, &unknown).met,
        known: known.bound,
        unknown: unknown.bound,
    })
}

fn run(run: &mut Run<'_>) -> Result<Outcome, ConfigError> {
    let mut outcome = Outcome::new();
    let runs = run.size.pick(60, 400);
    let (mut outside, mut held, mut sharper) = (0_usize, 0_usize, 0_usize);
    let mut points = Vec::new();
    for i in 0..runs {
        let noise = [0.0, 0.3, 1.0, 3.0][i % 4];
        let played = play(run.seed * 1000 + i as u64, noise)?;
        outside += usize::from(played.comparator >= played.proviso);
        held += usize::from(played.valid);
        sharper += usize::from(played.unknown <= played.known);
        points.push((played.comparator / played.proviso, played.regret / played.known));
        run.done(i + 1, runs);
    }
    outcome.find(Finding::above(
        format!("of {runs} runs, those outside the proviso L < ‖u‖²X²"),
        outside as f64,
        0.4 * runs as f64,
    ));
    outcome.find(Finding::equal(
        "runs in which both bounds are valid and met",
        held as f64,
        runs as f64,
        0.0,
    ));
    outcome.find(Finding::above(
        "runs in which the bound from the learner's own loss is the sharper one",
        sharper as f64,
        0.0,
    ));
    let inside = points.into_iter().filter(|(ratio, _)| *ratio > 0.0);
    outcome.picture(
        "proviso",
        Plot::new("Regret, as a part of the bound")
            .x("L/‖u‖²X²; the paper stops at 1")
            .y("regret/bound")
            .log_x()
            .dots("runs", inside),
    );
    Ok(outcome)
}
