//! The squared distance has a kink at the antipode.

use std::f64::consts::PI;

use geowalk::geometry::manifolds::Sphere;
use geowalk::geometry::{ExpLog, Work};
use geowalk::{ConfigError, Real};
use geowalk_page::Plot;

use crate::{Experiment, Finding, Outcome, Run};

pub(crate) const EXPERIMENT: Experiment = Experiment {
    name: "antipode",
    paper: "KMWW07, sec. 2",
    what: "Half the squared distance on the circle is not differentiable everywhere: its slopes on the two sides of the antipode are π and −π, and the logarithm there is an error.",
    run,
};

fn run(_: &mut Run<'_>) -> Result<Outcome, ConfigError> {
    let mut outcome = Outcome::new();
    let circle = Sphere::new(2, 1.0)?;
    let half = |angle: f64| {
        let (sin, cos) = Real::sin_cos(angle);
        let d: f64 = circle.distance(&[1.0, 0.0], &[cos, sin], &mut Work::new());
        0.5 * d * d
    };
    let h = 1e-6;
    outcome.find(Finding::equal(
        "slope before the antipode",
        (half(PI) - half(PI - h)) / h,
        PI,
        1e-5,
    ));
    outcome.find(Finding::equal("slope after it", (half(PI + h) - half(PI)) / h, -PI, 1e-5));
    let refused = circle.log(&[1.0, 0.0], &[-1.0, 0.0], &mut [0.0; 2], &mut Work::new()).is_err();
    outcome.find(Finding::new(
        "the logarithm at the antipode",
        "an error",
        if refused { "an error" } else { "a vector" },
        refused,
    ));
    let points = (0..=200).map(|i| f64::from(i) * PI / 100.0).map(|a| (a, half(a)));
    outcome.picture(
        "distance",
        Plot::new("Half the squared distance on the circle").x("angle").y("D").line("D", points),
    );
    Ok(outcome)
}
