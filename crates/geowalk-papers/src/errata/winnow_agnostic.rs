//! Winnow without a separating comparator.

use geowalk::ConfigError;
use geowalk::certify::{Bound, Comparator, Winnow};
use geowalk::laws::Sampler;
use geowalk::loss::WinnowHinge;
use geowalk::row::Dense;
use geowalk::walk::{Entropy, ReparamEntropy, Walk, winnow};
use geowalk_page::{Plot, Table};

use crate::stream::dot;
use crate::{Experiment, Finding, Outcome, Run};

pub(crate) const EXPERIMENT: Experiment = Experiment {
    name: "winnow-agnostic",
    paper: "AW20, Theorems 2 and 3",
    what: "A disjunction of 2 of 32 literals with a part of the labels turned: no comparator separates, the theorems of the paper are void at the first mistake that it does not explain; M ≤ c(D + Σ₊a(μ − ⟨u, x⟩) + Σ₋b⟨u, x⟩) holds for every u ≥ 0.",
    run,
};

const N: usize = 32;
const K: usize = 2;

/// Mistakes in 400 rounds with this part of the labels flipped, and the theorems' bounds for the disjunction.
fn play<W: Walk>(
    mut walk: W,
    mut bound: Winnow,
    constants: winnow::Constants,
    turned: f64,
    seed: u64,
) -> Result<Winnow, ConfigError> {
    let loss = WinnowHinge::new(constants.threshold)?;
    let (u, mut random) = (target(), Sampler::new(seed));
    for _ in 0..400 {
        let x: Vec<f64> = (0..N).map(|_| if random.unit() < 0.2 { 1.0 } else { 0.0 }).collect();
        let sign = if random.unit() < turned { -1.0 } else { 1.0 };
        let y = if dot(&u, &x) > 0.0 { sign } else { -sign };
        let round = walk.step(Dense(&x), y.into(), &loss, constants.rate)?;
        bound.observe(&round, Dense(&x));
    }
    Ok(bound)
}

/// The disjunction of the first K literals.
fn target() -> Vec<f64> {
    (0..N).map(|i| if i < K { 1.0 } else { 0.0 }).collect()
}

fn run(run: &mut Run<'_>) -> Result<Outcome, ConfigError> {
    let mut outcome = Outcome::new();
    let (u, start) = (target(), winnow::start(N, K)?);
    let weights = vec![start; N];
    let mut lines = Vec::new();
    let mut table = Table::new(["walk", "labels turned", "mistakes", "agnostic bound"]);
    for twin in [false, true] {
        let name = if twin { "the twin" } else { "Winnow" };
        let (mut held, mut line) = (true, Vec::new());
        for i in 0..=8 {
            let turned = 0.025 * f64::from(i);
            let (constants, bound) = if twin {
                (winnow::twin(0.5)?, Winnow::twin(0.5, &weights, &u)?)
            } else {
                (winnow::winnow(0.5)?, Winnow::new(0.5, &weights, &u)?)
            };
            let bound = if twin {
                play(ReparamEntropy::new(start)?, bound, constants, turned, run.seed)?
            } else {
                play(Entropy::new(start)?, bound, constants, turned, run.seed)?
            };
            let agnostic = bound.agnostic();
            held &= Finding::certified("", agnostic.loss, &agnostic).met;
            let separating = bound.certify(&Comparator::Given(&u));
            match i {
                0 => outcome.find(Finding::certified(
                    format!("{name}, no label turned: mistakes against the theorem"),
                    separating.loss,
                    &separating,
                )),
                8 => outcome.find(Finding::void(
                    format!("{name}, a fifth turned: the theorem"),
                    &separating,
                    "a comparator with <u, x> >= margin on positive and 0 on negative examples",
                )),
                _ => {}
            }
            line.push((turned, agnostic.loss, agnostic.bound));
            table.push([name.into(), turned.into(), agnostic.loss.into(), agnostic.bound.into()]);
        }
        let word = if held { "valid, met" } else { "not met" };
        outcome.find(Finding::new(
            format!("{name}: the agnostic form, up to a fifth of the labels turned"),
            "valid, met",
            word,
            held,
        ));
        lines.push((name, line));
    }
    let mut plot = Plot::new("Mistakes in 400 rounds").x("labels turned").y("mistakes");
    for (name, line) in lines {
        plot = plot
            .bound(format!("{name}, bound"), line.iter().map(|(x, _, b)| (*x, *b)))
            .line(name, line.iter().map(|(x, m, _)| (*x, *m)));
    }
    outcome.picture("noise", plot);
    outcome.table("noise", table);
    Ok(outcome)
}
