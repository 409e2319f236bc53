//! Geodesic steps on the simplex compared with EG, each at its best learning rate.

use geowalk::ConfigError;
use geowalk::laws::Sampler;
use geowalk::loss::Squared;
use geowalk::row::Dense;
use geowalk::walk::{Implicit, Simplex, SimplexEntropy, Walk};
use geowalk_page::{Plot, Table, TrianglePath};

use crate::stream::{Example, dot, error, learn, mean};
use crate::{Experiment, Finding, Outcome, Run};

pub(crate) const EXPERIMENT: Experiment = Experiment {
    name: "simplex-or-eg",
    paper: "KMWW07, Example 3 and conclusion",
    what: "Geodesic steps of the Fisher metric on the simplex against EG, rates tuned on other seeds with the same grid: explicit steps are EG to within a percent where the target is not one coordinate, implicit ones are worse where it is; some explicit steps leave the simplex and are folded.",
    run,
};

const N: usize = 50;
const TARGETS: [&str; 3] = ["one coordinate", "three coordinates", "all coordinates"];
const RATES: [f64; 13] = [0.02, 0.05, 0.1, 0.2, 0.3, 0.5, 0.75, 1.0, 1.5, 2.0, 3.0, 5.0, 10.0];

fn stream(target: usize, rounds: usize, seed: u64) -> Vec<Example> {
    let mut random = Sampler::new(seed);
    let mut u = vec![0.0; N];
    match target {
        0 => u[0] = 1.0,
        1 => u[..3].copy_from_slice(&[0.5, 0.3, 0.2]),
        _ => {
            u.fill_with(|| random.unit());
            let total: f64 = u.iter().sum();
            for u in &mut u {
                *u /= total;
            }
        }
    }
    (0..rounds)
        .map(|_| {
            let x: Vec<f64> = (0..N).map(|_| random.uniform(-1.0, 1.0)).collect();
            let y = dot(&u, &x) + 0.1 * random.normal();
            (x, y)
        })
        .collect()
}

/// Total loss of a method (EG, explicit, implicit); infinite if it diverged.
fn loss(method: usize, examples: &[Example], rate: f64) -> f64 {
    let total = match method {
        0 => learn(&mut SimplexEntropy::new(), examples, &Squared, rate),
        1 => learn(&mut Simplex::new(), examples, &Squared, rate),
        _ => learn(&mut Implicit::new(Simplex::new()), examples, &Squared, rate),
    };
    total.unwrap_or(f64::INFINITY)
}

fn run(run: &mut Run<'_>) -> Result<Outcome, ConfigError> {
    let mut outcome = Outcome::new();
    let rounds = 500;
    let (tuning, testing) = (5, run.size.pick(8, 20));
    let base = run.seed * 1000;
    let names = ["EG", "explicit", "implicit"];
    let mut table = Table::new(["target", "EG", "rate", "explicit − EG", "± error", "rate", "implicit − EG", "± error", "rate"]).caption(format!("Total loss in {rounds} rounds; differences are paired, mean over {testing} seeds other than the {tuning} on which rates were tuned"));
    let (mut folded, mut steps) = (0_u64, 0_u64);
    for (target, name) in TARGETS.into_iter().enumerate() {
        let tuned: Vec<Vec<Example>> =
            (0..tuning).map(|seed| stream(target, rounds, base + seed)).collect();
        let tests: Vec<Vec<Example>> =
            (0..testing).map(|seed| stream(target, rounds, base + 100 + seed)).collect();
        let mut best = [RATES[0]; 3];
        let mut plot =
            Plot::new(format!("Tuning: {name}")).x("rate").y("total loss").log_x().log_y();
        for (method, best) in best.iter_mut().enumerate() {
            let curve: Vec<(f64, f64)> = RATES
                .iter()
                .map(|rate| {
                    (*rate, mean(&tuned.iter().map(|e| loss(method, e, *rate)).collect::<Vec<_>>()))
                })
                .collect();
            *best = curve.iter().fold(curve[0], |a, b| if b.1 < a.1 { *b } else { a }).0;
            plot = plot.line(names[method], curve);
        }
        for rate in RATES {
            let mut walk = Simplex::new();
            for (x, y) in &tuned[0] {
                let round = walk.step(Dense(x), (*y).into(), &Squared, rate)?;
                folded += u64::from(matches!(round.event, geowalk::geometry::Event::Folded { .. }));
                steps += 1;
            }
        }
        let losses: Vec<Vec<f64>> = (0..3)
            .map(|method| tests.iter().map(|e| loss(method, e, best[method])).collect())
            .collect();
        let difference = |method: usize| -> Vec<f64> {
            losses[method].iter().zip(&losses[0]).map(|(a, b)| a - b).collect()
        };
        let (eg, explicit, implicit) = (mean(&losses[0]), difference(1), difference(2));
        // For one coordinate the best rates are near the edge of stability, so the result depends on which of them is
        // chosen.
        let percent = if target == 0 { 8.0 } else { 1.0 };
        outcome.find(Finding::between(
            format!("{name}: explicit − EG, in percent of EG's loss"),
            100.0 * mean(&explicit) / eg,
            -percent,
            percent,
        ));
        if target == 0 {
            outcome.find(Finding::above(
                format!("{name}: implicit − EG, in standard errors"),
                mean(&implicit) / error(&implicit),
                3.0,
            ));
        }
        table.push([
            name.into(),
            eg.into(),
            best[0].into(),
            mean(&explicit).into(),
            error(&explicit).into(),
            best[1].into(),
            mean(&implicit).into(),
            error(&implicit).into(),
            best[2].into(),
        ]);
        outcome.picture(&format!("tuning-{}", target + 1), plot);
        run.done(target + 1, TARGETS.len());
    }
    outcome.find(Finding::between(
        "explicit steps that were folded, over all rates, in percent",
        100.0 * folded as f64 / steps as f64,
        1.0,
        30.0,
    ));
    outcome.table("differences", table);
    outcome.picture("path", path(base)?);
    Ok(outcome)
}

/// Three coordinates, so that the path can be drawn.
fn path(seed: u64) -> Result<TrianglePath, ConfigError> {
    let mut random = Sampler::new(seed);
    let target = [0.7, 0.25, 0.05];
    let examples: Vec<Example> = (0..150)
        .map(|_| {
            let x: Vec<f64> = random.vector(3);
            (x.clone(), dot(&target, &x))
        })
        .collect();
    let (mut eg, mut explicit) = (SimplexEntropy::new(), Simplex::new());
    eg.grow(3);
    explicit.grow(3);
    let mut paths = [Vec::new(), Vec::new()];
    let mut w = Vec::new();
    for (x, y) in &examples {
        eg.read(&mut w);
        paths[0].push([w[0], w[1], w[2]]);
        explicit.read(&mut w);
        paths[1].push([w[0], w[1], w[2]]);
        eg.step(Dense(x), (*y).into(), &Squared, 0.1)?;
        explicit.step(Dense(x), (*y).into(), &Squared, 0.1)?;
    }
    let [a, b] = paths;
    Ok(TrianglePath::new("EG and geodesic steps on the same examples, rate 0.1", ["1", "2", "3"])
        .path("EG", a)
        .path("explicit", b)
        .point("target", target))
}
