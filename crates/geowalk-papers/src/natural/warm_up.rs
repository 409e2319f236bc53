//! A warm-up schedule that uses the dimension makes the cap unnecessary.

use geowalk::ConfigError;
use geowalk::laws::Sampler;
use geowalk::natural::{AnyFamily, Natural, Schedule, Settings};
use geowalk_page::Table;

use super::condition::gaussian;
use super::rules::Learner;
use crate::{Experiment, Finding, Outcome, Run};

pub(crate) const EXPERIMENT: Experiment = Experiment {
    name: "natural-warm-up",
    paper: "SC21, section 5; the schedule is not in the paper",
    what: "γ = c/(t + c·s(1 + dim T)) with c = 10: the loss above the best is the same with the cap and without it.",
    run,
};

fn run(run: &mut Run<'_>) -> Result<Outcome, ConfigError> {
    let mut outcome = Outcome::new();
    let (d, s, n) = run.size.pick((8, 3, 1000), (20, 4, 4000));
    let rounds = run.size.pick(10_000, 30_000);
    let identity: Vec<f64> = (0..d * d).map(|k| f64::from(u8::from(k / d == k % d))).collect();
    let mut table = Table::new(["condition", "with the cap", "without", "expected"])
        .caption(format!("Loss above the best after {rounds} examples"));
    let cases = [(1.0, None), (1e2, Some(2.7e-3))];
    for (at, (condition, expected)) in cases.into_iter().enumerate() {
        let sample = gaussian((d, s, n), condition, 2.0, &mut Sampler::new(run.seed + 8));
        let best = sample.best();
        let mut found = Vec::new();
        for cap in [Some(2.0), None] {
            let settings = Settings {
                schedule: Schedule::Warm { c: 10.0 },
                cap,
                average: false,
                ..Settings::default()
            };
            let family = AnyFamily::gaussian_shared(5.0, &vec![0.0; d], &identity)?;
            let mut learner = Learner::Natural(Box::new(Natural::new(family, settings)?));
            let own = sample.run(&mut learner, best, &[rounds], run.seed + 1);
            found.push(own.first().copied().flatten().unwrap_or(f64::INFINITY));
        }
        let cell = expected.map_or_else(|| "".into(), |value: f64| value.into());
        table.push([condition.into(), found[0].into(), found[1].into(), cell]);
        outcome.find(Finding::between(
            format!("without the cap over with it, condition {condition}"),
            found[1] / found[0],
            0.5,
            2.0,
        ));
        outcome.find(Finding::at_most(
            format!("with the cap, condition {condition}"),
            found[0],
            0.02,
        ));
        run.done(at + 1, cases.len());
    }
    outcome.table("excess", table);
    Ok(outcome)
}
