//! The report of `experts`: the regret below its bound, losses and weights over the rounds, the best combination.

use geowalk::Real;
use geowalk::certify::{Certificate, Status};
use geowalk::experts::Standing;
use geowalk_page::{Bars, Cell, Page, Plot, Table};
use geowalk_run::experts::{Point, Summary};

use super::short;
use crate::report;

/// Experts that are drawn over the rounds; those that are listed.
const DRAWN: usize = 6;
const LISTED: usize = 20;

/// The page.
pub(super) fn page(summary: &Summary) -> Page {
    let points = summary.course.as_deref().unwrap_or_default();
    let mut page = Page::new("A game of experts").contents().facts(facts(summary));
    page = promises(page, summary);
    page = course(page, summary, points);
    page = weights(page, summary, points);
    page = standings(page, summary);
    if !summary.notes.is_empty() {
        page = page.section("Notes");
        for note in &summary.notes {
            page = page.prose(note);
        }
    }
    report::repeat(page, &report::typed(&[]))
}

fn facts(summary: &Summary) -> Vec<(String, String)> {
    let mut facts = vec![
        ("rounds".to_owned(), summary.examples.to_string()),
        ("experts".to_owned(), summary.experts.len().to_string()),
        ("average loss".to_owned(), format!("{} ({})", short(summary.loss), summary.loss_name)),
    ];
    let metrics = summary.metrics.iter();
    facts.extend(metrics.map(|(name, value)| (name.replace('_', " "), short(*value))));
    let epochs = match summary.epochs {
        0 | 1 => String::new(),
        epochs => format!(", {epochs} epochs"),
    };
    let rate = format!("{} ({} at the end{epochs})", summary.rate, short(summary.final_rate));
    facts.push(("walk".to_owned(), summary.walk.clone()));
    facts.push(("rate".to_owned(), rate));
    facts.push(("best expert".to_owned(), summary.experts[summary.best].name.clone()));
    facts
}

/// Each comparator with what it lost, the true regret, and what bounds it.
fn promises(page: Page, summary: &Summary) -> Page {
    let mut table =
        Table::new(["compared with", "it lost", "regret", "theorem", "bound", "in words"])
            .stacked();
    let best = format!("the best expert, {}", summary.experts[summary.best].name);
    push(&mut table, &best, &summary.against_best);
    for plain in &summary.plain {
        if let Some(standing) = &plain.standing {
            push(&mut table, &format!("the {}", plain.name), standing);
        }
    }
    let mut silent = Vec::new();
    match &summary.combination {
        Some((_, Some(standing))) => push(&mut table, "the best convex combination", standing),
        Some((best, None)) => silent.push(format!(
            "The best convex combination in hindsight loses {}; no theorem compares {} with it.",
            short(best.loss),
            summary.walk
        )),
        None => {}
    }
    if let Some((switches, loss, standing)) = &summary.sequence {
        let what = format!("the best sequence of experts with {switches} switches");
        match standing {
            Some(standing) => push(&mut table, &what, standing),
            None => silent.push(format!(
                "What {what} loses is {}; no theorem compares {} with it; one needs --share, without a doubling \
                 rate.",
                short(*loss),
                summary.walk
            )),
        }
    }
    let mut page = page
        .section("What is promised")
        .prose("Theorems evaluated on this game, whatever the experts said. The regret is what was lost more than the comparator lost; it is known here, and it must be below every valid bound.")
        .table(table);
    for text in silent {
        page = page.prose(&text);
    }
    page
}

/// The theorem, and the first-order certificate where there is one.
fn push(table: &mut Table, what: &str, standing: &Standing) {
    let mut row = |certificate: &Certificate| {
        table.push([
            what.into(),
            standing.comparator_loss.into(),
            standing.regret.into(),
            report::theorem(certificate, certificate.loss),
            certificate.bound.into(),
            certificate.to_string().into(),
        ]);
    };
    row(&standing.certificate);
    if standing.first_order.status == Status::Valid {
        row(&standing.first_order);
    }
}

/// A curve over the rounds.
fn curve(points: &[Point], height: impl Fn(&Point) -> Option<f64>) -> Vec<(f64, f64)> {
    points.iter().filter_map(|p| Some((p.rounds as f64, height(p)?))).collect()
}

/// Regret and losses, or wealth.
fn course(page: Page, summary: &Summary, points: &[Point]) -> Page {
    let mut regret = Plot::new("Regret against the best expert so far, and its bound");
    regret = regret.x("rounds").y("total").log_x();
    let bounds = curve(points, |p| p.bound);
    if !bounds.is_empty() {
        regret = regret.bound("bound", bounds);
    }
    regret = regret.line("regret", curve(points, |p| Some(p.loss - p.best)));
    let combined = points.iter().any(|p| p.combination.is_some());
    if combined {
        let behind = curve(points, |p| Some(p.loss - p.combination?));
        regret = regret.line("against the best combination in hindsight", behind);
    }
    let best = summary.best;
    let wealth = summary.metrics.iter().any(|(name, _)| *name == "wealth");
    let shown =
        |total: f64, p: &Point| if wealth { Real::exp(-total) } else { total / p.rounds as f64 };
    let mut losses = if wealth {
        Plot::new("What 1 has become").x("rounds").y("wealth").log_y()
    } else {
        Plot::new("Average loss so far").x("rounds").y(summary.loss_name.clone()).log_x()
    };
    losses = losses.line("the learner", curve(points, |p| Some(shown(p.loss, p))));
    if points.iter().any(|p| !p.losses.is_empty()) {
        let own = curve(points, |p| Some(shown(*p.losses.get(best)?, p)));
        losses = losses.line(format!("{}, the best in the end", summary.experts[best].name), own);
    }
    if combined {
        let own = curve(points, |p| Some(shown(p.combination?, p)));
        losses = losses.dashed("the best convex combination in hindsight", own);
    }
    page.section("How it went")
        .prose("The regret is that against the expert who was best at the time; the bound is the tighter valid one of the theorem and the first-order certificate against that expert. The best convex combination is known only in the end: before that a regret against it may be negative.")
        .figure(regret)
        .figure(losses)
}

/// Weights over the rounds, of those that ever had most.
fn weights(page: Page, summary: &Summary, points: &[Point]) -> Page {
    let page = page.section("Whom it trusted");
    if points.iter().all(|p| p.weights.is_empty()) {
        return page.prose("There are too many experts to keep the course of their weights.");
    }
    let most = |i: usize| {
        let own = points.iter().filter_map(|p| p.weights.get(i));
        own.copied().fold(0.0, Real::max)
    };
    let mut order: Vec<(usize, f64)> = (0..summary.experts.len()).map(|i| (i, most(i))).collect();
    order.sort_by(|a, b| b.1.total_cmp(&a.1));
    let mut plot = Plot::new("Weights").x("rounds").y("weight").log_x();
    for (i, _) in order.iter().take(DRAWN) {
        let own = curve(points, |p| p.weights.get(*i).copied());
        plot = plot.line(summary.experts[*i].name.clone(), own);
    }
    let left = order.len().saturating_sub(DRAWN);
    let page = match left {
        0 => page,
        _ => page.prose(&format!(
            "The {DRAWN} experts that ever had the largest weights; {left} others are not drawn."
        )),
    };
    page.figure(plot)
}

/// The experts in the end, and the best combination of them.
fn standings(page: Page, summary: &Summary) -> Page {
    let mut order: Vec<usize> = (0..summary.experts.len()).collect();
    order.sort_by(|a, b| summary.experts[*a].loss.total_cmp(&summary.experts[*b].loss));
    let combined = |i: usize| summary.combination.as_ref().and_then(|(best, _)| best.w.get(i));
    let mut table =
        Table::new(["expert", "loss", "final weight", "weight in the best combination"]);
    for &i in order.iter().take(LISTED) {
        let expert = &summary.experts[i];
        let own = combined(i).map_or_else(|| Cell::from("-"), |w| Cell::from(*w));
        table.push([expert.name.as_str().into(), expert.loss.into(), expert.weight.into(), own]);
    }
    let listed = order.len().min(LISTED);
    let table = table.caption(format!("The {listed} of {} experts that lost least.", order.len()));
    let mut page = page.section("The experts in the end").table(table);
    if let Some((best, _)) = &summary.combination {
        let mut heavy: Vec<usize> = (0..best.w.len()).filter(|i| best.w[*i] > 1e-3).collect();
        heavy.sort_by(|a, b| best.w[*b].total_cmp(&best.w[*a]));
        let bars = heavy
            .iter()
            .take(LISTED)
            .fold(Bars::new("The best convex combination in hindsight"), |bars, &i| {
                bars.bar(summary.experts[i].name.clone(), best.w[i])
            });
        page = page.figure(bars);
    }
    page
}
