//! On-line learning with p-norms: a bound on a divergence does not bound the loss.

use geowalk::ConfigError;
use geowalk::certify::{Bound, Comparator, Ledger};
use geowalk::loss::permissible::{AnyPermissible, Permissible};
use geowalk::loss::{AnyLoss, Loss};
use geowalk::row::Dense;
use geowalk::walk::{PNorm, Walk};
use geowalk_page::Plot;

use crate::stream::Line;
use crate::{Experiment, Finding, Outcome, Run};

pub(crate) const EXPERIMENT: Experiment = Experiment {
    name: "p-norm-loss",
    paper: "NN09, Theorem 3",
    what: "One feature, labels that alternate, the rate of the theorem: the learner loses 1 per round where weights of 0 lose ¼, so the theorem bounds no loss; at a quarter of the rate the corrected bound on the loss holds.",
    run,
};

fn play(rate: f64, rounds: usize) -> Result<(f64, f64, Ledger, Line), ConfigError> {
    let loss = AnyLoss::parse("gini")?;
    let mut walk = PNorm::new(2.0)?;
    let mut bound = Ledger::ols(2.0, &loss.facts())?;
    let (mut total, mut zero, mut path) = (0.0, 0.0, Vec::new());
    for t in 0..rounds {
        let y = if t % 2 == 0 { -1.0 } else { 1.0 };
        let round = walk.step(Dense(&[1.0]), y.into(), &loss, rate)?;
        bound.observe(&round, Dense(&[1.0]));
        total += round.loss;
        zero += loss.value(0.0, y);
        path.push(((t + 1) as f64, total));
    }
    Ok((total, zero, bound, path))
}

fn run(_: &mut Run<'_>) -> Result<Outcome, ConfigError> {
    let mut outcome = Outcome::new();
    let rate = AnyPermissible::parse("gini")?.curvature_floor();
    outcome.find(Finding::equal("the rate of the theorem", rate, 2.0, 0.0));
    let (total, zero, bound, path) = play(rate, 200)?;
    outcome.find(Finding::equal("loss per round of weights 0", zero / 200.0, 0.25, 1e-12));
    outcome.find(Finding::above("loss per round of the learner", total / 200.0, 0.99));
    outcome.find(Finding::void(
        "certificate",
        &bound.certify(&Comparator::Given(&[0.0])),
        "rate (p - 1) |x|_p^2 S < 1",
    ));
    let (slow, zero, bound, slow_path) = play(rate / 4.0, 200)?;
    outcome.find(Finding::certified(
        "at a quarter of the rate: regret",
        slow - zero,
        &bound.certify_known(&Comparator::Given(&[0.0]), zero),
    ));
    let weights_0 = path.iter().map(|(t, _)| (*t, 0.25 * t)).collect::<Vec<_>>();
    outcome.picture(
        "loss",
        Plot::new("Loss on alternating labels")
            .x("round")
            .y("total loss")
            .line("rate of the theorem", path)
            .line("a quarter of it", slow_path)
            .dashed("weights 0", weights_0),
    );
    Ok(outcome)
}
