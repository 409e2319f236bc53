//! The logarithmic bound from random starts, where the printed lemma does not apply.

use geowalk::ConfigError;
use geowalk::certify::{Bound, Comparator, NullVector, Status};
use geowalk::laws::Sampler;
use geowalk::loss::Invariant;
use geowalk::row::{Dense, Norm};
use geowalk::walk::{Sphere, Walk};
use geowalk_page::{Plot, Table};

use crate::stream::mean;
use crate::{Experiment, Finding, Outcome, Run};

pub(crate) const EXPERIMENT: Experiment = Experiment {
    name: "null-starts",
    paper: "KMWW07s, Lemma 9, strengthened",
    what: "A null vector in n dimensions from random starts, rate 1/2: the total loss is within the bound 2 ln sec c₀ and nearly equal to it for large n; the printed lemma applies to almost no start.",
    run,
};

/// Loss, bound, and whether the printed lemma applies.
fn start(n: usize, rounds: usize, seed: u64) -> Result<(f64, Finding, f64, bool), ConfigError> {
    let mut random = Sampler::new(seed + 77);
    let mut sphere = Sphere::new(1.0, seed)?;
    sphere.grow(n);
    let mut w = Vec::new();
    sphere.read(&mut w);
    let mut null = vec![0.0; n];
    null[0] = 1.0;
    let mut bound = NullVector::new(&w, &null)?;
    let mut loss = 0.0;
    for _ in 0..rounds {
        // Exactly orthogonal to the null vector.
        let mut x: Vec<f64> = random.vector(n);
        x[0] = 0.0;
        let length = Norm::L2.of(&x);
        for x in &mut x {
            *x /= length;
        }
        let round = sphere.step(Dense(&x), 0.0.into(), &Invariant, 0.5)?;
        bound.observe(&round, Dense(&x));
        loss += round.loss;
    }
    let certificate = bound.certify(&Comparator::Given(&null));
    Ok((
        loss,
        Finding::certified("", loss, &certificate),
        certificate.bound,
        bound.near().status == Status::Valid,
    ))
}

fn run(run: &mut Run<'_>) -> Result<Outcome, ConfigError> {
    let mut outcome = Outcome::new();
    let sizes: &[usize] = run.size.pick(&[10, 30], &[10, 30, 100]);
    let starts = run.size.pick(5, 20);
    let mut table = Table::new(["n", "mean loss", "mean of 2 ln sec c₀", "starts within π/3"])
        .caption(format!("{starts} random starts each"));
    let (mut dots, mut line) = (Vec::new(), Vec::new());
    for (i, &n) in sizes.iter().enumerate() {
        let (mut losses, mut bounds, mut near, mut met) = (Vec::new(), Vec::new(), 0_usize, true);
        for seed in 0..starts {
            let (loss, certified, bound, applies) = start(n, 40 * n, run.seed * 1000 + seed)?;
            met &= certified.met;
            near += usize::from(applies);
            dots.push((bound, loss));
            losses.push(loss);
            bounds.push(bound);
        }
        outcome.find(Finding::new(
            format!("n = {n}: every loss within its bound"),
            "valid, met",
            if met { "valid, met" } else { "not met" },
            met,
        ));
        outcome.find(Finding::between(
            format!("n = {n}: mean loss over mean bound"),
            mean(&losses) / mean(&bounds),
            if n >= 30 { 0.9 } else { 0.8 },
            1.0,
        ));
        if n >= 30 {
            outcome.find(Finding::equal(
                format!("n = {n}: starts to which the printed lemma applies"),
                near as f64,
                0.0,
                0.0,
            ));
        }
        table.push([n.into(), mean(&losses).into(), mean(&bounds).into(), near.into()]);
        run.done(i + 1, sizes.len());
    }
    let most = dots.iter().map(|d| d.0).fold(0.0, f64::max);
    line.extend([(0.0, 0.0), (most, most)]);
    outcome.picture(
        "bound",
        Plot::new("Loss of each start against its bound")
            .x("2 ln sec c₀")
            .y("total loss")
            .bound("bound", line)
            .dots("starts", dots),
    );
    outcome.table("starts", table);
    Ok(outcome)
}
