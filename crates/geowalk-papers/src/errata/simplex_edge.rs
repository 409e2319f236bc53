//! Geodesics leave the simplex at its boundary.

use geowalk::ConfigError;
use geowalk::geometry::manifolds::Simplex;
use geowalk::geometry::{Event, ExpLog, Work};
use geowalk::laws::Sampler;

use crate::{Experiment, Finding, Outcome, Run};

pub(crate) const EXPERIMENT: Experiment = Experiment {
    name: "simplex-edge",
    paper: "KMWW07, Example 3 and Corollary 5",
    what: "The simplex with the Fisher metric is not complete: a geodesic of length 2 from (½, ½) leaves it. It is folded back, counted, and folding brings no comparator farther away, so that bounds survive.",
    run,
};

fn run(run: &mut Run<'_>) -> Result<Outcome, ConfigError> {
    let mut outcome = Outcome::new();
    let simplex = Simplex::new(2)?;
    let mut p: [f64; 2] = [0.5, 0.5];
    let mut work = Work::new();
    let step = simplex.exp(&mut p, &[1.0, -1.0], 1.0, &mut work)?;
    outcome.find(Finding::equal("length of the step", step.length, 2.0, 1e-12));
    outcome.find(Finding::new(
        "event",
        "1 coordinate folded",
        format!("{:?}", step.event),
        step.event == Event::Folded { coordinates: 1 },
    ));
    // Without folding the end would be at 2√p = (1.954, −0.426).
    outcome.find(Finding::equal("2√p₁", 2.0 * p[0].sqrt(), 1.954, 1e-3));
    outcome.find(Finding::equal("2√p₂, folded from −0.426", 2.0 * p[1].sqrt(), 0.426, 1e-3));

    // Steps that leave the simplex, and random comparators: the unfolded point w on the sphere of radius 2 is at least
    // as far from 2√u as the folded point |w|.
    let (cases, n) = (run.size.pick(500, 5000), 5);
    let simplex = Simplex::new(n)?;
    let (mut folded, mut farther) = (0_usize, 0_usize);
    for case in 0..cases {
        let mut random = Sampler::new(run.seed * 100_000 + case);
        let (start, u): (Vec<f64>, Vec<f64>) = (random.point(&simplex), random.point(&simplex));
        let v = random.tangent(&simplex, &start, 2.5);
        let mut end = start.clone();
        let step = simplex.exp(&mut end, &v, 1.0, &mut work)?;
        if !matches!(step.event, Event::Folded { .. }) {
            continue;
        }
        folded += 1;
        // The signs before folding: those of cos(t/2) √p + sin(t/2) v/(√p t).
        let (half, length) = (step.length / 2.0, step.length);
        let (sin, cos) = geowalk::Real::sin_cos(half);
        let inner = |signed: bool| -> f64 {
            (0..n)
                .map(|i| {
                    let root = start[i].sqrt();
                    let point = cos * root + sin * v[i] / (root * length);
                    (if signed { point } else { point.abs() }) * u[i].sqrt()
                })
                .sum()
        };
        farther += usize::from(inner(false) < inner(true));
    }
    outcome.find(Finding::above("random steps that were folded", folded as f64, 50.0));
    outcome.find(Finding::equal(
        "of these, folded away from the comparator",
        farther as f64,
        0.0,
        0.0,
    ));
    Ok(outcome)
}
