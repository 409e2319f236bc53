//! Two different algorithms that are written with the same formula.

use geowalk::ConfigError;
use geowalk::geometry::{Link, link};
use geowalk::row::Dense;
use geowalk::walk::{Entropy, Orthant, Walk};

use crate::{Experiment, Finding, Outcome, Run};

pub(crate) const EXPERIMENT: Experiment = Experiment {
    name: "one-formula",
    paper: "KMWW07, (5); KMWW07s, (6)",
    what: "The link-function updates of the two papers look alike and are two algorithms: gradient descent on f(w), and mirror descent. With f = ln they are natural EG and EGU.",
    run,
};

fn run(_: &mut Run<'_>) -> Result<Outcome, ConfigError> {
    let mut outcome = Outcome::new();
    let ln = link::Log;
    let cases = [(0.5, 1.0, 0.3894, 0.3033), (2.0, -1.0, 5.4366, 3.2974)];
    for (i, (w, g, geodesic, mirror)) in cases.into_iter().enumerate() {
        let [a, b] = [0.5 * g / ln.slope(w), 0.5 * g]
            .map(|step| ln.unlink(ln.link(w) - step).unwrap_or(f64::NAN));
        outcome.find(Finding::equal(
            format!("coordinate {}: gradient descent on ln w", i + 1),
            a,
            geodesic,
            1e-4,
        ));
        outcome.find(Finding::equal(
            format!("coordinate {}: mirror descent", i + 1),
            b,
            mirror,
            1e-4,
        ));
        // The walks agree: one step with slope g on a row of one coordinate.
        let (mut neg, mut egu) = (Orthant::new(w)?, Entropy::new(w)?);
        for (walk, expected) in [(0, a), (1, b)] {
            let mut after = Vec::new();
            if walk == 0 {
                neg.step(Dense(&[g]), 0.0.into(), &geowalk::experts::Linear, 0.5)?;
                neg.read(&mut after);
            } else {
                egu.step(Dense(&[g]), 0.0.into(), &geowalk::experts::Linear, 0.5)?;
                egu.read(&mut after);
            }
            let name = if walk == 0 { "explicit:orthant" } else { "mirror:entropy" };
            outcome.find(Finding::equal(
                format!("coordinate {}: {name}", i + 1),
                after[0],
                expected,
                1e-12,
            ));
        }
    }
    Ok(outcome)
}
