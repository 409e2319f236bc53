//! Explicit steps: the bound needs the length of a step, not the distance between its ends.

use std::f64::consts::PI;

use geowalk::certify::Riemannian;
use geowalk::geometry::manifolds::Sphere;
use geowalk::geometry::{Event, ExpLog, Work};
use geowalk::loss::{Loss, Squared};
use geowalk::row::Dense;
use geowalk::update::{Explicit, Update};
use geowalk::{ConfigError, Real};
use geowalk_page::Plot;

use crate::{Experiment, Finding, Outcome, Run};

pub(crate) const EXPERIMENT: Experiment = Experiment {
    name: "theorem-6",
    paper: "KMWW07, Theorem 6, (12)",
    what: "A step once around the circle: its distance is 0, so the printed bound is 0 and the loss 1; with the length of the step, and with the defects of losses that are not convex, the bound holds at every rate.",
    run,
};

fn run(_: &mut Run<'_>) -> Result<Outcome, ConfigError> {
    let mut outcome = Outcome::new();
    // L = θ² near the comparator 0 on the circle, θ₀ = 1: the slope is 2, so a step at rate π has length 2π.
    let (loss, rate) = (1.0, PI);
    let length = rate * 2.0;
    let distance = (length - 2.0 * PI).abs();
    outcome.find(Finding::above(
        "L = θ², θ₀ = 1, rate π: loss, against the printed dist²/2η",
        loss,
        distance * distance / (2.0 * rate),
    ));
    outcome.find(Finding::at_most(
        "the same against length²/2η",
        loss,
        length * length / (2.0 * rate),
    ));

    // With the library: z = ⟨w, x⟩ on the circle, label 5, from a quarter turn. Compares the bound with lengths and
    // defects to the printed one.
    let circle = Sphere::new(2, 1.0)?;
    let update = Explicit::new(circle.clone());
    let (u, x, y) = ([1.0, 0.0], [1.0, 0.0], 5.0);
    let (mut printed_line, mut corrected_line, mut loss_line) =
        (Vec::new(), Vec::new(), Vec::new());
    let (mut broken, mut held, mut past) = (0_usize, true, false);
    let mut work = Work::new();
    for i in 1..=120 {
        let rate = 0.02 * f64::from(i);
        let start = [Real::cos(1.3), Real::sin(1.3)];
        let mut state = update.start(&start)?;
        let round = update.step(&mut state, Dense(&x), y.into(), &Squared, rate)?;
        let mut w = [0.0; 2];
        update.read(&state, &mut w);
        let own = Squared.value(1.0, y);
        let mut bound = Riemannian::new(circle.clone(), &u, 0.0)?;
        bound.observe(&start, &round, Dense(&x), own);
        bound.arrive(&w);
        let (far, near, step) = (
            circle.distance(&start, &u, &mut work),
            circle.distance(&w, &u, &mut work),
            circle.distance(&start, &w, &mut work),
        );
        let regret = round.loss - own;
        let printed = (far * far - near * near + step * step) / (2.0 * rate) + bound.defect();
        broken += usize::from(regret > printed);
        held &= Finding::certified("", regret, &bound.with_defect()).met;
        past |= round.event == Event::PastInjectivity;
        printed_line.push((rate, printed));
        corrected_line.push((rate, bound.with_defect().bound));
        loss_line.push((rate, regret));
    }
    outcome.find(Finding::above(
        "z on the circle, rates to 2.4: rates at which the printed bound is broken, of 120",
        broken as f64,
        0.0,
    ));
    outcome.find(Finding::new(
        "the corrected bound, with defects",
        "valid at every rate",
        if held { "valid at every rate" } else { "not" },
        held,
    ));
    outcome.find(Finding::new(
        "steps past the injectivity radius",
        "reported",
        if past { "reported" } else { "not" },
        past,
    ));
    let plot = Plot::new("One step on the circle, label 5").x("rate").y("regret").log_y();
    outcome.picture(
        "circle",
        plot.bound("corrected, with defect", corrected_line)
            .dashed("printed, with defect", printed_line)
            .line("regret", loss_line),
    );
    Ok(outcome)
}
