//! The report of `train`: how it went, what is promised, where the weights walked, what they are.

use geowalk::certify::{Quantity, Verdict};
use geowalk_page::{Bars, Page, Picture, Plot, SpherePath, Table, TrianglePath};
use geowalk_run::certificate;
use geowalk_run::error::RunError;
use geowalk_run::learned;
use geowalk_run::learner::Reach;
use geowalk_run::predict::restore;
use geowalk_run::profile::Profile;
use geowalk_run::train::{Course, Point, Summary};
use geowalk_run::verdict::percent;

use super::number;
use crate::report::{self, Judged, Origin};

/// Weights that are shown of each output, and outputs that are shown.
const WEIGHTS: usize = 20;
const OUTPUTS: usize = 12;

/// What is known besides the run.
#[derive(Debug, Clone, Copy, Default)]
pub struct Beside<'a> {
    /// How the table was read.
    pub profile: Option<&'a Profile>,
    /// How good predictions of held-out rows are.
    pub judged: Option<&'a Judged>,
    /// Other names of the features, in their order.
    pub names: Option<&'a [String]>,
}

/// The page of an on-line run, and where it comes from.
pub fn page(
    summary: &Summary,
    course: &Course,
    beside: Beside<'_>,
    from: &Origin,
) -> Result<Page, RunError> {
    let Beside { profile, judged, names } = beside;
    let what = if summary.is_fitted() { "A fitted linear model" } else { "An on-line run" };
    let label = course.model.schema.label();
    let about = (summary.seen.examples, from);
    let mut page = match judged {
        Some(judged) => {
            report::quality(report::of_classes(label, what, about, Some(judged), ""), judged)
        }
        None => report::opening(label, what, about, &sentence(summary), tiles(summary)),
    };
    if !summary.guarantee.is_empty() {
        page = page.section("What is guaranteed");
        for line in &summary.guarantee {
            page = page.prose(line);
        }
    }
    // A fit has no course through the rows.
    if !summary.is_fitted() {
        page = losses(page, summary, &course.points);
    }
    page = team(page, summary, &course.points);
    page = path(page, course, names)?;
    page = weights(page, course, names)?;
    let warnings = profile.iter().flat_map(|profile| &profile.warnings);
    let notes: Vec<&String> = warnings.chain(&summary.notes).collect();
    if !notes.is_empty() {
        page = page.section("Notes");
        for note in notes {
            page = page.prose(note);
        }
    }
    if let Some(judged) = judged {
        page = report::margins(page, judged);
    }
    page = report::reading(page, profile);
    page = page.folded("Settings").facts(facts(summary));
    Ok(report::repeat(theorems(page, summary), from))
}

/// What it comes to, in one sentence.
fn sentence(summary: &Summary) -> String {
    let metric = |wanted: &str| {
        let mut all = summary.seen.metrics.iter();
        all.find(|(name, _)| *name == wanted).map(|(_, value)| *value)
    };
    let rows = summary.seen.examples;
    let when = if summary.is_fitted() {
        "after it was fitted to all of them"
    } else {
        "each before it was learned from"
    };
    match (metric("accuracy"), metric("rmse")) {
        (Some(accuracy), _) => {
            format!("The class was right for {} of {rows} rows, {when}.", percent(Some(accuracy)))
        }
        (_, Some(rmse)) => format!(
            "On {rows} rows, {when}, predictions were off by {} (root of the mean squared error).",
            number(rmse)
        ),
        _ => format!("{rows} rows were learned from."),
    }
}

fn tiles(summary: &Summary) -> Vec<(String, String)> {
    let named = |(name, value): &(&'static str, f64)| match *name {
        "accuracy" => ("of rows predicted right".to_owned(), percent(Some(*value))),
        "auc" => ("AUC (1: all ranked right, 0.5: by chance)".to_owned(), format!("{value:.3}")),
        "log_loss" => ("log loss (0 is perfect)".to_owned(), format!("{value:.3}")),
        "rmse" => ("root of the mean squared error".to_owned(), number(*value)),
        "mae" => ("mean absolute error".to_owned(), number(*value)),
        other => (other.replace('_', " "), number(*value)),
    };
    let mut tiles: Vec<(String, String)> =
        summary.seen.metrics.iter().filter(|(_, value)| value.is_finite()).map(named).collect();
    if let Some(held) = &summary.holdout {
        tiles.push((format!("loss on {} rows held out", held.examples), number(held.loss)));
    }
    tiles
}

fn facts(summary: &Summary) -> Vec<(&'static str, String)> {
    let mut facts = vec![
        ("examples", summary.seen.examples.to_string()),
        ("average loss", format!("{} ({})", number(summary.seen.loss), summary.loss_name)),
    ];
    facts.extend(summary.seen.metrics.iter().map(|(name, value)| (*name, number(*value))));
    if let Some(held) = &summary.holdout {
        let text = format!("{} examples, average loss {}", held.examples, number(held.loss));
        facts.push(("held out", text));
    }
    let averaged = if summary.average { ", averaged weights" } else { "" };
    facts.push(("task", summary.task.name().to_owned()));
    let walk = if summary.is_fitted() { "walk for more rows" } else { "walk" };
    facts.push((walk, format!("{}{averaged}", summary.walk)));
    facts.push(("rate", summary.rate.clone()));
    if summary.skipped > 0 {
        facts.push(("rows skipped", summary.skipped.to_string()));
    }
    facts
}

/// The theorems behind what is guaranteed.
fn theorems(page: Page, summary: &Summary) -> Page {
    let page = page.folded("What is proved");
    let Some(report) = &summary.certificate else {
        return page.prose("Nothing: certificates were switched off.");
    };
    let mut table = Table::new(["theorem", "bounds", "bound", "in words"]);
    let first = &report.first_order;
    table.push([
        report::theorem(first, first.loss),
        "the regret".into(),
        first.bound.into(),
        first.to_string().into(),
    ]);
    // No regret is larger than the loss, and no more mistakes are made than there are rows.
    let most = |verdict: &Verdict| match verdict.quantity {
        Quantity::Mistakes => verdict.certificate.rounds as f64,
        _ => verdict.certificate.loss,
    };
    for verdict in &report.theorems {
        table.push([
            report::theorem(&verdict.certificate, most(verdict)),
            verdict.quantity.to_string().into(),
            verdict.certificate.bound.into(),
            certificate::words(verdict).into(),
        ]);
    }
    let mut page = page
        .prose(&format!(
            "Theorems evaluated on this run, whatever the data were, against {}. {} A premise that broke is said, and then nothing is promised.",
            report.comparators,
            if summary.is_fitted() {
                "Losses are those of the fitted weights on the rows they were fitted to."
            } else {
                "Each loss is that of a prediction made before the example was learned from."
            }
        ))
        .table(table);
    if report.theorems.is_empty() {
        page = page.prose(&format!("There is no theorem for this walk: {}.", report.reason));
    }
    if let (Some(known), Some(regret)) = (&report.known, report.regret()) {
        let gap = known.gap.as_deref().unwrap_or_default();
        page = page.prose(&format!(
            "The comparator loses {} on the same rows, so the regret is {}. {gap}",
            number(known.loss),
            number(regret)
        ));
    }
    page
}

/// Losses, and the regret below its bound.
fn losses(page: Page, summary: &Summary, points: &[Point]) -> Page {
    let average = Plot::new("Average loss so far").x("examples").y(summary.loss_name.clone());
    let average = average.log_x().line("average loss", curve(points, |p| Some(p.average)));
    let mut regret = Plot::new("Regret and its bound").x("examples").y("total").log_x();
    regret = regret.line("loss of the learner", curve(points, |p| Some(p.loss)));
    let bounds = curve(points, |p| p.bound);
    if !bounds.is_empty() {
        regret = regret.bound("bound on the regret", bounds);
    }
    if let (Some(own), Some(last)) =
        (summary.certificate.as_ref().and_then(certificate::Report::regret), points.last())
    {
        regret = regret.dots("regret", [(last.examples as f64, own)]);
    }
    page.section("How it went")
        .prose("The bound is that of the tightest valid certificate at the time, against the set of weights that the last certificate names, with the weights of that time instead of the final ones; a bound above the learner's whole loss says nothing for losses that are never negative.")
        .figure(average)
        .figure(regret)
}

fn curve(points: &[Point], height: impl Fn(&Point) -> Option<f64>) -> Vec<(f64, f64)> {
    points.iter().filter_map(|p| Some((p.examples as f64, height(p)?))).collect()
}

/// Which member of a team had the weight when, and what each lost.
fn team(page: Page, summary: &Summary, points: &[Point]) -> Page {
    if summary.members.is_empty() {
        return page;
    }
    let mut weights =
        Plot::new("Weights of the members over time").x("examples").y("weight").log_x();
    let mut table = Table::new(["member", "loss per row", "weight", "team less member", "bound"]);
    for (k, member) in summary.members.iter().enumerate() {
        let course = curve(points, |p| p.members.get(k).copied());
        weights = weights.line(member.walk.clone(), course);
        let examples = summary.seen.examples.max(1) as f64;
        table.push([
            member.walk.clone().into(),
            (member.loss / examples).into(),
            member.weight.into(),
            member.overhead.into(),
            member.bound.into(),
        ]);
    }
    page.section("The team")
        .prose("Several walks learned from the same rows, and the prediction is their mixture. Team less member: total loss of the team less that of the member, which the bound limits whatever the data.")
        .figure(weights)
        .table(table)
}

/// The walk itself, where it can be drawn.
fn path(page: Page, course: &Course, names: Option<&[String]>) -> Result<Page, RunError> {
    let walked: Vec<[f64; 3]> =
        course.points.iter().filter_map(|p| p.weights.clone().try_into().ok()).collect();
    let (Some(first), Some(last)) = (walked.first().copied(), walked.last().copied()) else {
        return Ok(page);
    };
    let picture: Picture = match restore(&course.model)?.learner.reach() {
        Reach::Sphere(_) => SpherePath::new("The weights on their sphere")
            .path("weights", walked)
            .point("first", first)
            .point("last", last)
            .into(),
        Reach::Simplex if walked.iter().flatten().all(|w| *w >= 0.0) => {
            let names = learned::weight_names(&course.model, 3, names);
            let corners = [0, 1, 2].map(|i| names.get(i).map_or("", String::as_str));
            TrianglePath::new("The weights on their simplex", corners)
                .path("weights", walked)
                .point("first", first)
                .point("last", last)
                .into()
        }
        _ => return Ok(page),
    };
    Ok(page.section("The walk").figure(picture))
}

/// The largest weights by name.
fn weights(page: Page, course: &Course, names: Option<&[String]>) -> Result<Page, RunError> {
    let outputs = learned::largest(&course.model, WEIGHTS, names)?;
    let mut page = page.section("The largest weights");
    if outputs.len() > OUTPUTS {
        page = page.prose(&format!("Of the first {OUTPUTS} of {} outputs.", outputs.len()));
    }
    for (name, top) in outputs.into_iter().take(OUTPUTS) {
        let bars = top.into_iter().fold(Bars::new(name), |bars, (name, w)| bars.bar(name, w));
        page = page.figure(bars);
    }
    Ok(page)
}
