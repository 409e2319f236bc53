//! Two learning rates with the same symbol.

use geowalk::ConfigError;
use geowalk::loss::Squared;
use geowalk::row::Dense;
use geowalk::walk::{ReparamSimplex, SimplexEntropy, Walk};
use geowalk_page::{Plot, Table};

use crate::{Experiment, Finding, Outcome, Run};

pub(crate) const EXPERIMENT: Experiment = Experiment {
    name: "twin-scale",
    paper: "AW20, (20) and (10)",
    what: "The paper derives (20), the twin of EG for the squared loss, from (10): u − (η/2)∇ would make 2ηδ of the ηδ that (20) has, δ = ŷ − y. (20) follows EG, w exp(−2ηδx)/Σ, to second order in η; (10) as printed is (20) at twice the rate, and is off in the first order.",
    run,
};

const X: [f64; 3] = [1.0, 0.5, -0.25];
const Y: f64 = 0.75;
const START: f64 = 1.0 / 3.0;

/// u − cη∇ with ∇ = 4δu⊙x, divided by its norm, then squared.
fn formula(c: f64, eta: f64) -> [f64; 3] {
    let delta = START * X.iter().sum::<f64>() - Y;
    let u = X.map(|x| START.sqrt() * (1.0 - c * eta * 4.0 * delta * x));
    let square: f64 = u.iter().map(|u| u * u).sum();
    u.map(|u| u * u / square)
}

/// One step of a walk from equal weights.
fn step<W: Walk>(mut walk: W, rate: f64) -> Result<Vec<f64>, ConfigError> {
    walk.step(Dense(&X), Y.into(), &Squared, rate)?;
    let mut w = Vec::new();
    walk.read(&mut w);
    Ok(w)
}

fn gap(a: &[f64], b: &[f64]) -> f64 {
    a.iter().zip(b).map(|(a, b)| (a - b).abs()).fold(0.0, f64::max)
}

fn run(_: &mut Run<'_>) -> Result<Outcome, ConfigError> {
    let mut outcome = Outcome::new();
    // (10) has η/2 in front of the gradient in u; (20) corresponds to η/4, as in (6).
    outcome.find(Finding::equal(
        "one step at η = 0.2: (10) less (20) at 0.4",
        gap(&formula(0.5, 0.2), &formula(0.25, 0.4)),
        0.0,
        1e-15,
    ));
    outcome.find(Finding::above(
        "(10) less (20) at the same η = 0.2",
        gap(&formula(0.5, 0.2), &formula(0.25, 0.2)),
        0.01,
    ));
    outcome.find(Finding::equal(
        "the walk reparam-eg less (20)",
        gap(&step(ReparamSimplex::new(), 0.2)?, &formula(0.25, 0.2)),
        0.0,
        1e-15,
    ));
    let mut table = Table::new(["η", "(20) less EG", "(10) less EG"]);
    let (mut ours, mut printed) = (Vec::new(), Vec::new());
    let mut eta = 0.8;
    for _ in 0..=12 {
        eta *= 0.5;
        let eg = step(SimplexEntropy::new(), eta)?;
        let (a, b) = (gap(&formula(0.25, eta), &eg), gap(&formula(0.5, eta), &eg));
        table.push([eta.into(), a.into(), b.into()]);
        ours.push((eta, a));
        printed.push((eta, b));
    }
    let halved = |line: &[(f64, f64)]| line[11].1 / line[12].1;
    outcome.find(Finding::equal("halving η divides (20) less EG by", halved(&ours), 4.0, 0.01));
    outcome.find(Finding::equal("and (10) less EG by", halved(&printed), 2.0, 0.01));
    outcome.picture(
        "orders",
        Plot::new("One step, against EG at the same η")
            .x("η")
            .y("largest difference of weights")
            .log_x()
            .log_y()
            .line("(20)", ours)
            .dashed("(10) as printed", printed),
    );
    outcome.table("orders", table);
    Ok(outcome)
}
