//! With negative curvature the bound needs a larger factor.

use geowalk::ConfigError;
use geowalk::Real;
use geowalk::certify::Riemannian;
use geowalk::geometry::manifolds::Hyperboloid;
use geowalk::geometry::{ExpLog, Work};
use geowalk::laws::Sampler;
use geowalk::loss::{Invariant, Loss};
use geowalk::row::Dense;
use geowalk::update::{Explicit, Update};
use geowalk_page::Plot;

use crate::stream::dot;
use crate::{Experiment, Finding, Outcome, Run};

pub(crate) const EXPERIMENT: Experiment = Experiment {
    name: "curvature",
    paper: "KMWW07, Theorem 6; ZS16",
    what: "z² is convex in hyperbolic space, but the bound of explicit steps without a factor for the curvature is broken there by single steps from random starts; with the factor τ coth τ it holds in every case.",
    run,
};

fn run(run: &mut Run<'_>) -> Result<Outcome, ConfigError> {
    let mut outcome = Outcome::new();
    let cases = run.size.pick(1000, 20_000);
    let space = Hyperboloid::new(3)?;
    let update = Explicit::new(space.clone());
    let mut work = Work::new();
    let (mut broken, mut held, mut worst, mut made) = (0_usize, 0_usize, 0.0_f64, 0_usize);
    let mut dots = Vec::new();
    for case in 0..cases {
        let mut random = Sampler::new(run.seed * 1_000_000 + case);
        let (w0, u): (Vec<f64>, Vec<f64>) = (random.point(&space), random.point(&space));
        let x = [random.uniform(-1.0, 1.0), random.uniform(-1.0, 1.0), random.uniform(-1.0, 1.0)];
        let rate = Real::exp(random.uniform(-4.6, 2.3));
        let mut state = update.start(&w0)?;
        // Steps too long to be represented are errors; skip them.
        let Ok(round) = update.step(&mut state, Dense(&x), 0.0.into(), &Invariant, rate) else {
            continue;
        };
        let mut w = vec![0.0; 3];
        update.read(&state, &mut w);
        let own = Invariant.value(dot(&u, &x), 0.0);
        let mut bound = Riemannian::new(space.clone(), &u, 0.0)?;
        bound.observe(&w0, &round, Dense(&x), own);
        bound.arrive(&w);
        let regret = round.loss - own;
        let (far, near) = (space.distance(&w0, &u, &mut work), space.distance(&w, &u, &mut work));
        let flat = (far * far - near * near + round.length * round.length) / (2.0 * rate);
        made += 1;
        held += usize::from(Finding::certified("", regret, &bound.certificate()).met);
        if regret > flat + 1e-9 * (regret.abs() + flat.abs()) {
            broken += 1;
            worst = worst.max((regret - flat) / regret.abs());
            dots.push((regret, flat.max(0.0) / regret));
        }
    }
    outcome.find(Finding::above(
        "cases in which the bound without the factor is broken",
        broken as f64,
        0.0,
    ));
    outcome.find(Finding::above("largest violation, as a part of the regret", worst, 0.05));
    outcome.find(Finding::equal(
        "cases in which the corrected bound is valid and holds",
        held as f64,
        made as f64,
        0.0,
    ));
    outcome.picture(
        "broken",
        Plot::new("Where it is broken: printed bound as a part of the regret")
            .x("regret")
            .y("bound / regret")
            .log_x()
            .dots("cases", dots),
    );
    Ok(outcome)
}
