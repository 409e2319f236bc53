//! The bound for λ-convex losses.

use geowalk::ConfigError;
use geowalk::certify::Riemannian;
use geowalk::geometry::manifolds::Euclidean;
use geowalk::laws::Sampler;
use geowalk::loss::{Loss, Squared};
use geowalk::row::Dense;
use geowalk::update::{Explicit, Update};
use geowalk_page::{Plot, Table};

use crate::{Experiment, Finding, Outcome, Run};

pub(crate) const EXPERIMENT: Experiment = Experiment {
    name: "lambda-convexity",
    paper: "KMWW07, Theorem 6, (13)",
    what: "Gradient descent on (w − y)² in one dimension, a loss that is 1-convex: at λ = 1 the bound is the regret itself, at smaller λ, negative ones among them, it is looser and still holds; at λ > 1 the premise is false, and the certificate void.",
    run,
};

/// Regret after 50 rounds from 2 against ½, and the bound for this λ.
fn play(lambda: f64, seed: u64) -> Result<(f64, Riemannian<Euclidean>), ConfigError> {
    let (line, u, mut random) = (Euclidean::new(1)?, [0.5], Sampler::new(seed));
    let update = Explicit::new(line.clone());
    let mut state = update.start(&[2.0])?;
    let mut bound = Riemannian::new(line, &u, lambda)?;
    let (mut regret, mut w) = (0.0, [0.0]);
    for _ in 0..50 {
        let y = random.normal();
        update.read(&state, &mut w);
        let round = update.step(&mut state, Dense(&[1.0]), y.into(), &Squared, 0.2)?;
        let own = Squared.value(u[0], y);
        bound.observe(&w, &round, Dense(&[1.0]), own);
        regret += round.loss - own;
    }
    update.read(&state, &mut w);
    bound.arrive(&w);
    Ok((regret, bound))
}

fn run(run: &mut Run<'_>) -> Result<Outcome, ConfigError> {
    let mut outcome = Outcome::new();
    let (regret, sharp) = play(1.0, run.seed)?;
    outcome.find(Finding::equal(
        "λ = 1: bound less regret, an identity",
        sharp.certificate().bound - regret,
        0.0,
        1e-9 * (1.0 + regret.abs()),
    ));
    let (mut table, mut line) = (Table::new(["λ", "regret", "bound"]), Vec::new());
    let (mut held, mut ordered, mut last) = (true, true, f64::INFINITY);
    for i in -8..=4 {
        let lambda = 0.25 * f64::from(i);
        let (regret, bound) = play(lambda, run.seed)?;
        let certificate = bound.certificate();
        held &= Finding::certified("", regret, &certificate).met;
        ordered &= certificate.bound < last;
        last = certificate.bound;
        table.push([lambda.into(), regret.into(), certificate.bound.into()]);
        line.push((lambda, certificate.bound));
    }
    let word = |true_: bool| if true_ { "yes" } else { "no" };
    outcome.find(Finding::new("valid and met for λ from −2 to 1", "yes", word(held), held));
    outcome.find(Finding::new("and smaller the larger λ is", "yes", word(ordered), ordered));
    outcome.find(Finding::void(
        "λ = 1.5, more than is true of the loss",
        &play(1.5, run.seed)?.1.certificate(),
        "convexity of the loss along the geodesic to the comparator",
    ));
    outcome.picture(
        "lambda",
        Plot::new("The bound for a λ, and the regret")
            .x("λ")
            .y("regret")
            .bound("bound", line)
            .line("regret", [(-2.0, regret), (1.0, regret)]),
    );
    outcome.table("lambda", table);
    Ok(outcome)
}
