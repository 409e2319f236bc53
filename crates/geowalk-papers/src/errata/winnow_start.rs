//! Winnow should start at k/n.

use geowalk::loss::WinnowHinge;
use geowalk::row::Sparse;
use geowalk::walk::{Entropy, ReparamEntropy, Walk, winnow};
use geowalk::{ConfigError, Real};

use crate::{Experiment, Finding, Outcome, Run};

pub(crate) const EXPERIMENT: Experiment = Experiment {
    name: "winnow-start",
    paper: "AW20, Theorems 2 and 3",
    what: "The printed starting weight n/k instead of k/n: the divergence in the bounds becomes 3319.8 instead of 10.5 at n = 100, and one literal at a time forces many times the mistakes promised.",
    run,
};

/// Mistakes on rows with one literal each; those of the disjunction are positive.
fn mistakes<W: Walk>(
    mut walk: W,
    constants: winnow::Constants,
    n: usize,
    k: usize,
) -> Result<f64, ConfigError> {
    let loss = WinnowHinge::new(constants.threshold)?;
    walk.grow(n);
    let mut count = 0.0;
    for t in 0..6000 {
        let index = [u32::try_from(t % n).unwrap_or(0)];
        let y = if t % n < k { 1.0 } else { -1.0 };
        let round = walk.step(Sparse::new(&index, &[1.0])?, y.into(), &loss, constants.rate)?;
        count += f64::from(round.slope != 0.0);
    }
    Ok(count)
}

fn run(_: &mut Run<'_>) -> Result<Outcome, ConfigError> {
    let mut outcome = Outcome::new();
    let divergence = |n: f64, w: f64| 3.0 * (-Real::ln(w) - 1.0 + w) + (n - 3.0) * w;
    outcome.find(Finding::equal(
        "n = 100, k = 3: divergence from weights n/k",
        divergence(100.0, 100.0 / 3.0),
        3319.8,
        0.1,
    ));
    outcome.find(Finding::equal("from weights k/n", divergence(100.0, 0.03), 10.52, 0.01));
    let (n, k) = (256, 3);
    let ratio = n as f64 / k as f64;
    let (own, twin) = (winnow::winnow(0.5)?, winnow::twin(0.5)?);
    let promised = |c: winnow::Constants| c.mistakes * k as f64 * Real::ln(ratio);
    outcome.find(Finding::above(
        "Winnow from n/k: mistakes",
        mistakes(Entropy::new(ratio)?, own, n, k)?,
        promised(own),
    ));
    outcome.find(Finding::at_most(
        "Winnow from k/n: mistakes",
        mistakes(Entropy::new(1.0 / ratio)?, own, n, k)?,
        promised(own),
    ));
    outcome.find(Finding::above(
        "twin from n/k: mistakes",
        mistakes(ReparamEntropy::new(ratio)?, twin, n, k)?,
        promised(twin),
    ));
    outcome.find(Finding::at_most(
        "twin from k/n: mistakes",
        mistakes(ReparamEntropy::new(1.0 / ratio)?, twin, n, k)?,
        promised(twin),
    ));
    outcome.find(Finding::equal(
        "the twin's constant, printed 5.56 in the proof and 5.66 in the theorem",
        twin.mistakes,
        5.6539,
        1e-4,
    ));
    Ok(outcome)
}
