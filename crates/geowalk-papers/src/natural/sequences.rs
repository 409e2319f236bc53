//! Figure 1 of the paper: the two sequences, compared with natural gradient in its primal metric.

use geowalk::laws::Sampler;
use geowalk::natural::{AnyFamily, Baseline, Method, Natural, Schedule, Scratch};
use geowalk::row::Sparse;
use geowalk::{ConfigError, Real};
use geowalk_page::{Plot, Table, TrianglePath};

use super::rules::{bare, inverse};
use crate::{Experiment, Finding, Outcome, Run};

pub(crate) const EXPERIMENT: Experiment = Experiment {
    name: "natural-sequences",
    paper: "SC21, figure 1",
    what: "One value of x and three classes: the main sequence of log-odds, which moves in the plane, and the dual one of probabilities, which moves in the triangle. And the stream on which natural gradient in its own metric overflows in four steps.",
    run,
};

fn run(run: &mut Run<'_>) -> Result<Outcome, ConfigError> {
    let mut outcome = Outcome::new();
    let rounds = run.size.pick(2_000, 10_000);
    let truth = [0.5, 0.3, 0.2];
    let mut random = Sampler::new(run.seed + 1);
    let x = Sparse::new(&[0], &[1.0])?;
    let mut walk = Natural::new(AnyFamily::parse("discrete")?, bare(Schedule::Counting, None))?;
    walk.grow(1, 3)?;
    let (mut main, mut dual) = (vec![(0.0, 0.0)], vec![[1.0 / 3.0; 3]]);
    let (mut z, mut p, mut scratch) = (Vec::new(), Vec::new(), Scratch::default());
    for t in 1..=rounds {
        let u = random.unit();
        let y = if u < truth[0] {
            0
        } else if u < truth[0] + truth[1] {
            1
        } else {
            2
        };
        walk.step(x, y, 1.0)?;
        walk.logits(x, &mut scratch, &mut z);
        walk.prior(&mut p);
        // Record every step at first, later only some.
        if t < 60 || t % (t / 30) == 0 {
            main.push((z[0] - z[2], z[1] - z[2]));
            dual.push([p[0], p[1], p[2]]);
        }
    }
    let odds = |k: usize| Real::ln(truth[k] / truth[2]);
    let last = main[main.len() - 1];
    let noise = 4.0 / (0.2 * f64::from(rounds)).sqrt();
    outcome.find(Finding::equal("ln P(0)/P(2) at the end", last.0, odds(0), noise));
    outcome.find(Finding::equal("ln P(1)/P(2) at the end", last.1, odds(1), noise));
    outcome.picture(
        "main",
        Plot::new("The main sequence")
            .x("ln P(0)/P(2)")
            .y("ln P(1)/P(2)")
            .line("η", main)
            .dots("truth", [(odds(0), odds(1))]),
    );
    outcome.picture(
        "dual",
        TrianglePath::new("The dual sequence", ["P(0)", "P(1)", "P(2)"])
            .path("ζ*", dual)
            .point("truth", truth),
    );
    run.done(1, 2);
    // Labels 1, 2, 1, 2, …: natural gradient in its primal metric.
    let settings = bare(Schedule::Constant { rate: 1.0 }, None);
    let mut own = Baseline::new(Method::Sngd, AnyFamily::parse("discrete")?, settings)?;
    own.grow(1, 2)?;
    let mut table = Table::new(["step", "log-odds", "expected"])
        .caption("Natural gradient in its own metric, γ = 1");
    let mut steps = 0;
    for (t, expected) in [2.0, -6.389_056_098_930_65, 589.92].into_iter().enumerate() {
        own.step(x, t % 2, 1.0)?;
        own.logits(x, &mut scratch, &mut z);
        steps += 1;
        table.push([steps.into(), (z[0] - z[1]).into(), expected.into()]);
        outcome.find(Finding::equal(
            format!("log-odds after step {steps}"),
            z[0] - z[1],
            expected,
            1e-3 * f64::abs(expected),
        ));
    }
    let refused =
        own.step(x, 1, 1.0).err().map_or_else(|| "made".to_owned(), |error| error.to_string());
    let overflows = refused.contains("overflows");
    outcome.find(Finding::new(
        "the fourth step, to −1.6e256",
        "refused: it overflows",
        refused,
        overflows,
    ));
    let mut walk = Natural::new(AnyFamily::parse("discrete")?, bare(inverse(1.0, 1.0), Some(2.0)))?;
    walk.grow(1, 2)?;
    for t in 0..20_000 {
        walk.step(x, t % 2, 1.0)?;
    }
    walk.logits(x, &mut scratch, &mut z);
    outcome.find(Finding::equal(
        "log-odds of the dual method on the same stream after 20000 steps",
        z[0] - z[1],
        0.0,
        1e-3,
    ));
    outcome.table("own-metric", table);
    run.done(2, 2);
    Ok(outcome)
}
