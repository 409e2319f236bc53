//! Natural EG: it needs convexity, and the printed bound uses one letter for two norms.

use geowalk::certify::{Bound, Comparator, Ledger, Riemannian};
use geowalk::experts::Linear;
use geowalk::geometry::manifolds::PositiveOrthant;
use geowalk::geometry::{ExpLog, Work};
use geowalk::loss::{Loss, Squared};
use geowalk::row::Dense;
use geowalk::update::{Explicit, Update};
use geowalk::walk::{Orthant, Walk};
use geowalk::{ConfigError, Real};

use crate::{Experiment, Finding, Outcome, Run};

pub(crate) const EXPERIMENT: Experiment = Experiment {
    name: "example-7",
    paper: "KMWW07, Example 7",
    what: "Natural EG: with the squared loss, which is not convex along its geodesics, (12) is broken at every rate, and the certificate says void; with a convex loss the printed bound, one U for two norms, is broken too, and the corrected one holds.",
    run,
};

fn run(_: &mut Run<'_>) -> Result<Outcome, ConfigError> {
    let mut outcome = Outcome::new();
    let line = PositiveOrthant::new(1)?;
    let update = Explicit::new(line.clone());
    let mut work = Work::new();
    for rate in [1e-4, 1e-3, 1e-2] {
        let mut state = update.start(&[1.0])?;
        let round = update.step(&mut state, Dense(&[1.0]), 10.0.into(), &Squared, rate)?;
        let mut w = [0.0];
        update.read(&state, &mut w);
        let (far, near) =
            (line.distance(&[1.0], &[10.0], &mut work), line.distance(&w, &[10.0], &mut work));
        let printed = (far * far - near * near + round.length * round.length) / (2.0 * rate);
        outcome.find(Finding::equal(
            format!("rate {rate}: right-hand side of (12)"),
            printed,
            41.45,
            0.01,
        ));
        outcome.find(Finding::above(
            format!("rate {rate}: loss, x = 1, y = u = 10, w₀ = 1"),
            round.loss,
            printed,
        ));
        let mut bound = Riemannian::new(line.clone(), &[10.0], 0.0)?;
        bound.observe(&[1.0], &round, Dense(&[1.0]), 0.0);
        outcome.find(Finding::void(
            format!("rate {rate}: certificate"),
            &bound.certificate(),
            "convexity of the loss along the geodesic to the comparator",
        ));
        outcome.find(Finding::certified(
            format!("rate {rate}: with the defect"),
            round.loss,
            &bound.with_defect(),
        ));
        let mut own = Ledger::natural_eg(&[1.0], &Squared.facts())?;
        own.observe(&round, Dense(&[1.0]));
        outcome.find(Finding::void(
            format!("rate {rate}: certificate of natural EG"),
            &own.certify(&Comparator::Given(&[10.0])),
            "slope x_i >= 0 for every feature",
        ));
    }
    // L = w, 100 rounds, w₀ = 1, u = e⁻¹⁰; printed: U² Z R √k = 10 with U = max ‖w‖ = 1 at the rate 1/√k.
    let u = [Real::exp(-10.0)];
    let mut walk = Orthant::new(1.0)?;
    let mut bound = Ledger::natural_eg(&[1.0], &Linear.facts())?;
    let mut regret = 0.0;
    for _ in 0..100 {
        let round = walk.step(Dense(&[1.0]), 0.0.into(), &Linear, 0.1)?;
        bound.observe(&round, Dense(&[1.0]));
        regret += round.loss - u[0];
    }
    outcome.find(Finding::equal("L = w, u = e⁻¹⁰, 100 rounds: regret", regret, 24.08, 0.01));
    outcome.find(Finding::above("against the printed bound", regret, 10.0));
    outcome.find(Finding::certified(
        "against the corrected bound",
        regret,
        &bound.certify(&Comparator::Given(&u)),
    ));
    Ok(outcome)
}
