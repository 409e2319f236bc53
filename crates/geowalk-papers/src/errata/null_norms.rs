//! Null vectors for rows of any length.

use geowalk::certify::{Bound, Comparator, NullVector, Status};
use geowalk::geometry::manifolds::Sphere;
use geowalk::laws::Sampler;
use geowalk::loss::Invariant;
use geowalk::row::Dense;
use geowalk::update::{Explicit, Update};
use geowalk::{ConfigError, Real};
use geowalk_page::Plot;

use crate::{Experiment, Finding, Outcome, Run};

pub(crate) const EXPERIMENT: Experiment = Experiment {
    name: "null-norms",
    paper: "KMWW07s, Lemma 9",
    what: "Rows of lengths from 0.2 to 3 and a rate that varies with η‖x‖² < 1: loss ≤ ln sec c₀/(2 min η(1 − η‖x‖²)), where the paper asks for unit rows and one rate. Its own rate 1/2 on a row of length 2 moves away from the null vector, and the certificate is void.",
    run,
};

/// A game against (1, 0, 0) from a random angle; rates are `part`/‖x‖².
fn play(seed: u64, part: (f64, f64)) -> Result<(f64, f64, NullVector), ConfigError> {
    let mut random = Sampler::new(seed);
    let c0 = random.uniform(0.1, 1.5);
    let (sin, cos) = Real::sin_cos(c0);
    let start = [cos, sin, 0.0];
    let update = Explicit::new(Sphere::new(3, 1.0)?);
    let mut state = update.start(&start)?;
    let mut bound = NullVector::new(&start, &[1.0, 0.0, 0.0])?;
    let mut loss = 0.0;
    for _ in 0..60 {
        let (norm, turn) = (random.uniform(0.2, 3.0), random.uniform(0.0, 7.0));
        let (sin, cos) = Real::sin_cos(turn);
        let x = [0.0, norm * cos, norm * sin];
        let rate = random.uniform(part.0, part.1) / (norm * norm);
        let round = update.step(&mut state, Dense(&x), 0.0.into(), &Invariant, rate)?;
        bound.observe(&round, Dense(&x));
        loss += round.loss;
    }
    Ok((c0, loss, bound))
}

fn run(run: &mut Run<'_>) -> Result<Outcome, ConfigError> {
    let mut outcome = Outcome::new();
    let null = Comparator::Given(&[1.0, 0.0, 0.0]);
    let runs = run.size.pick(60, 400);
    let (mut held, mut points) = (0_usize, Vec::new());
    for i in 0..runs {
        let (c0, loss, bound) = play(run.seed * 1000 + i as u64, (0.1, 0.9))?;
        let certificate = bound.certify(&null);
        held += usize::from(Finding::certified("", loss, &certificate).met);
        points.push((c0, loss / certificate.bound));
        run.done(i + 1, runs);
    }
    outcome.find(Finding::equal(
        format!("of {runs} games with rows of any length, valid and met"),
        held as f64,
        runs as f64,
        0.0,
    ));
    // The rate 1/(2‖x‖²) of each row needs no constant in advance, and has the bound of a constant rate for the
    // longest row.
    let (c0, loss, bound) = play(run.seed, (0.5, 0.5))?;
    let certificate = bound.certify(&null);
    outcome.find(Finding::certified("rates 1/(2‖x‖²)", loss, &certificate));
    outcome.find(Finding::at_most(
        "their bound, against 2 · 9 · ln sec c₀, that of the constant rate for the longest row",
        certificate.bound,
        18.0 * -Real::ln(Real::cos(c0)) * (1.0 + 1e-9),
    ));
    let broken = play(run.seed, (1.01, 1.5))?.2.certify(&null);
    let void = matches!(broken.status, Status::Void(_));
    outcome.find(Finding::new(
        "η‖x‖² above 1",
        "void in row 1",
        broken.to_string(),
        void && matches!(broken.status, Status::Void(b) if b.row == 1),
    ));
    let update = Explicit::new(Sphere::new(2, 1.0)?);
    let (sin, cos) = Real::sin_cos(0.5);
    let mut state = update.start(&[cos, sin])?;
    update.step(&mut state, Dense(&[0.0, 2.0]), 0.0.into(), &Invariant, 0.5)?;
    let mut w = [0.0; 2];
    update.read(&state, &mut w);
    outcome.find(Finding::above(
        "the rate 1/2 on a row of length 2, from 0.5: angle after the step",
        Real::atan2(w[1].abs(), w[0].abs()),
        0.5,
    ));
    outcome.picture(
        "lengths",
        Plot::new("Loss, as a part of the bound").x("c₀").y("loss/bound").dots("games", points),
    );
    Ok(outcome)
}
