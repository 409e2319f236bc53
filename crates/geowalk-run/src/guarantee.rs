//! # What a run is good for, in sentences
//! At most four lines that mean something without the papers: the interval of the error, the smallest valid bound on the
//! regret as a loss that no weights of a set are below, and what is void. A bound above the loss itself is named as
//! useless, with the largest smaller set for which it is not. Every theorem by itself is in the
//! [report](crate::certificate::Report).

use geowalk::certify::{Broken, Quantity, Status, Verdict};
use geowalk::row::Norm;

use crate::certificate::{Against, Report, condition};
use crate::learner::{Learner, Reach};
use crate::metrics::Interval;
use crate::train::Measured;

/// The lines of what was measured, and of what is proved against some comparators; `within` answers about the k-th
/// smaller set of them, k = 1, 2, ....
pub fn lines(
    seen: &Measured,
    report: &Report,
    within: &dyn Fn(u32) -> Option<Report>,
) -> Vec<String> {
    let mut lines = measured(seen);
    let narrower = || (1..=SMALLER).find_map(|k| within(k).filter(useful));
    lines.extend(regret(report, seen.examples, narrower));
    lines.extend(void(report));
    lines
}

/// The line of what was measured.
pub fn measured(seen: &Measured) -> Vec<String> {
    seen.intervals.first().map(Interval::sentence).into_iter().collect()
}

/// How many smaller sets are asked about.
const SMALLER: u32 = 6;

/// What is proved against weights of at most 2⁻ᵏ times the final ones; `None` where a set has no size.
pub(crate) fn within(learner: &dyn Learner, k: u32) -> Option<Report> {
    let size = match learner.reach() {
        Reach::Box => 1.0,
        Reach::Ball(norm) => longest(learner, |w| norm.above(w)),
        Reach::Positive => longest(learner, |w| Norm::L1.above(w)),
        Reach::Sphere(_) | Reach::Simplex => return None,
    };
    let size = size / f64::from(1_u32 << k);
    let size = if learner.reach() == Reach::Box { size } else { rounded(size) };
    (size > 0.0).then(|| learner.report(&Against::Within(size), None))?
}

/// Is the smallest valid bound below the loss itself?
fn useful(report: &Report) -> bool {
    let (best, loss) = (report.best(), report.first_order.loss);
    best.status == Status::Valid && best.bound < loss
}

/// The smallest valid bound on the regret.
fn regret(report: &Report, rows: u64, narrower: impl FnOnce() -> Option<Report>) -> Vec<String> {
    let (best, loss) = (report.best(), report.first_order.loss);
    if best.status != Status::Valid {
        return Vec::new();
    }
    if let (Some(known), Some(regret)) = (&report.known, report.regret()) {
        return vec![format!(
            "{} lost {}, this run {} more: proved to be at most {} ({}).",
            capital(&report.comparators),
            short(known.loss),
            short(regret),
            short(best.bound),
            share(best.bound, loss)
        )];
    }
    if loss <= 0.0 || !best.bound.is_finite() {
        return vec![format!(
            "The regret against {} is at most {}.",
            report.comparators,
            short(best.bound)
        )];
    }
    if useful(report) {
        return vec![below(report, rows)];
    }
    let mut lines = vec![format!(
        "Nothing useful against {}: the bound ({}) exceeds the loss ({}).",
        report.comparators,
        short(best.bound),
        short(loss)
    )];
    lines.extend(narrower().map(|report| below(&report, rows)));
    lines
}

/// A bound as the loss per row that no comparators are below.
fn below(report: &Report, rows: u64) -> String {
    let (bound, loss) = (report.best().bound, report.first_order.loss);
    let words = report.comparators.strip_prefix("all ").unwrap_or(&report.comparators);
    let best = report.theorems.iter().find(|one| one.certificate == *report.best());
    let besides = best.and_then(condition).map(|words| format!(", {words},")).unwrap_or_default();
    format!(
        "Proved: no {words}{besides} lose less than {} per row here; this run lost {} (regret at most {}).",
        short((loss - bound) / rows as f64),
        short(loss / rows as f64),
        share(bound, loss)
    )
}

/// What is void: the theorem of which least is left, with the premise that broke and what can be done.
fn void(report: &Report) -> Option<String> {
    let regrets = report.theorems.iter().filter(|one| one.quantity != Quantity::After);
    let all = regrets.filter(|one| !one.is_silent()).map(|Verdict { certificate, .. }| certificate);
    let mut all = [&report.first_order].into_iter().chain(all);
    all.find_map(|certificate| {
        let Status::Void(Broken { premise, row, .. }) = &certificate.status else { return None };
        let place = if *row > 0 { format!(" in row {row}") } else { String::new() };
        let remedy = match *premise {
            premise if premise.contains("rate") && premise.contains("< 1") => {
                "; use a smaller --rate"
            }
            premise if premise.contains("constant rate") => "; give --rate a number",
            premise if premise.contains("convex") => "; choose a convex --loss",
            _ => "",
        };
        let theorem = certificate.theorem;
        Some(format!(
            "Void: the theorem '{theorem}' assumes {premise}, which failed{place}{remedy}."
        ))
    })
}

/// The largest size of the weights of an output.
fn longest(learner: &dyn Learner, size: impl Fn(&[f64]) -> f64) -> f64 {
    let mut w = Vec::new();
    let of = |k: usize| {
        learner.weights(k, &mut w);
        size(&w)
    };
    (0..learner.outputs()).map(of).fold(0.0, f64::max)
}

/// With three significant digits.
fn rounded(value: f64) -> f64 {
    format!("{value:.2e}").parse().unwrap_or(value)
}

/// With four significant digits, as a person reads it.
fn short(value: f64) -> String {
    let size = value.abs();
    match value {
        _ if size >= 1e7 || (size > 0.0 && size < 1e-4) => format!("{value:.2e}"),
        _ if size >= 1000.0 => format!("{value:.0}"),
        _ if size >= 100.0 => format!("{value:.1}"),
        _ if size >= 10.0 => format!("{value:.2}"),
        _ => format!("{value:.4}"),
    }
}

fn share(bound: f64, loss: f64) -> String {
    if loss > 0.0 {
        format!("{:.1} % of the loss", 100.0 * bound / loss)
    } else {
        "of the loss".to_owned()
    }
}

fn capital(words: &str) -> String {
    let mut letters = words.chars();
    letters.next().map_or_else(String::new, |first| first.to_uppercase().chain(letters).collect())
}
