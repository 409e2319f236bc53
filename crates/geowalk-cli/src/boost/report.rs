//! The report of `boost`: what was learned, how it went, what is promised, how sure it is.

use geowalk::boost::multiclass::Reduction;
use geowalk::certify::{Certificate, Status};
use geowalk_page::{Bars, Cell, Page, Plot, Table};
use geowalk_run::boost::support::Support;
use geowalk_run::boost::validate::Validation;
use geowalk_run::boost::words::{Names, about_missing, spoken};
use geowalk_run::boost::{Boosted, History, Kind, Plan};
use geowalk_run::learned::promise;
use geowalk_run::profile::Profile;

use super::{about_loss, about_weak};
use geowalk_run::verdict::percent;

use crate::report::{self, Judged, Origin};

/// Everything that the report speaks of.
#[derive(Debug)]
pub struct Report<'a> {
    /// What was asked for.
    pub plan: &'a Plan,
    /// How the table was read, if that is known.
    pub profile: Option<&'a Profile>,
    /// How many rows were learned from.
    pub rows: usize,
    /// What was learned.
    pub boosted: &'a Boosted,
    /// How it went.
    pub histories: &'a [History],
    /// What cross-validation found, if there was one.
    pub validation: Option<&'a Validation>,
    /// Margins and calibration, if there are rows to judge by.
    pub judged: Option<Judged>,
    /// The names of columns and values.
    pub names: &'a Names,
    /// The training rows of which each rule is true, member by member; empty if that is not known.
    pub supports: &'a [Vec<Support>],
    /// The training error.
    pub error: f64,
}

impl Report<'_> {
    /// The page, and where it comes from.
    pub fn page(&self, from: &Origin) -> Page {
        let label = self.profile.and_then(|profile| profile.label.as_deref());
        let known = format!(
            "Of {} training rows {} are predicted wrongly.",
            self.rows,
            percent(Some(self.error))
        );
        let what = match self.plan.weak {
            Kind::Rules => "Boosted rules",
            Kind::Stumps => "Boosted stumps",
            _ => "A boosted classifier",
        };
        let rows = self.rows as u64;
        let mut page = report::of_classes(label, what, (rows, from), self.judged.as_ref(), &known);
        for warning in self.profile.iter().flat_map(|profile| &profile.warnings) {
            page = page.prose(&format!("Please check: {warning}."));
        }
        page = self.features(page);
        if let Some(judged) = &self.judged {
            page = report::quality(page, judged);
        }
        page = report::reading(page, self.profile);
        if let Some(judged) = &self.judged {
            page = report::margins(page, judged);
        }
        page = self.rounds(page);
        report::repeat(self.promises(page), from)
    }

    fn facts(&self) -> Vec<(&'static str, String)> {
        let mut facts = vec![
            ("columns", self.boosted.columns.to_string()),
            ("classes", self.boosted.classes.join(", ")),
            ("loss", about_loss(self.plan, self.histories)),
            ("weak learner", about_weak(self.plan)),
            ("training error", percent(Some(self.error))),
        ];
        if let Some(own) = self.validation {
            let text = format!(
                "{} ± {}, mean and deviation of {} folds, seed {}",
                percent(Some(own.mean())),
                percent(Some(own.deviation())),
                own.errors.len(),
                self.plan.seed
            );
            facts.push(("error by cross-validation", text));
        }
        facts
    }

    /// Is every row asked once for each class, so that errors are those of the answers?
    fn asks(&self) -> bool {
        self.boosted.classes.len() > 2 && self.boosted.reduction == Reduction::Mh
    }

    /// The certificates in words.
    fn promises(&self, page: Page) -> Page {
        let mut table = Table::new(["", "theorem", "measured", "bound", "in words"]);
        for own in self.histories {
            for certificate in &own.certificates {
                let class = own.class.clone().unwrap_or_default();
                table.push([
                    class.into(),
                    // An error rate is at most 1.
                    report::theorem(certificate, 1.0),
                    certificate.loss.into(),
                    certificate.bound.into(),
                    meaning(certificate, self.asks()).into(),
                ]);
            }
        }
        page.folded("What is proved")
            .prose("Theorems about the training data, evaluated on this run. They hold whatever the data are; a premise that broke is said, and then nothing is promised.")
            .table(table)
    }

    /// Surrogate and error round by round, with what the theorem promises of each.
    fn rounds(&self, mut page: Page) -> Page {
        page = page.folded("How it was learned").facts(self.facts()).prose("The average normalised surrogate is 1 at the start and never below the training error. Each round must take at least what the theorem promises off it: the dashed line is where the round had to end, from where it began.");
        for own in self.histories {
            let title = match &own.class {
                Some(class) => format!("{class} against the rest"),
                None => "Surrogate and training error".to_owned(),
            };
            let at = |round: &geowalk::boost::Round| round.round as f64;
            let promised = |r: &geowalk::boost::Round| f64::max(r.before - r.guaranteed, 0.0);
            let plot = Plot::new(title)
                .x("round")
                .y("share of 1")
                .bound("promised", own.rounds.iter().map(|r| (at(r), promised(r))))
                .line("surrogate", own.rounds.iter().map(|r| (at(r), r.surrogate)))
                .steps("training error", own.rounds.iter().map(|r| (at(r), r.error)));
            let edges = Plot::new("Edges")
                .x("round")
                .y("normalised edge")
                .dots("edge", own.rounds.iter().map(|r| (at(r), r.edge.abs())));
            page = page.figure(plot).figure(edges);
        }
        for own in self.histories {
            let whose = own.class.as_ref().map(|class| format!("{class}: ")).unwrap_or_default();
            let forgotten = if own.forgotten > 0 {
                format!(", {} later rounds are forgotten", own.forgotten)
            } else {
                String::new()
            };
            page = page.prose(&format!(
                "{whose}{} rounds were kept; it ended because {}{forgotten}.",
                own.rounds.len(),
                own.ended
            ));
        }
        page
    }

    /// What decides: the columns, then rule by rule.
    fn features(&self, page: Page) -> Page {
        let missing = about_missing(self.boosted);
        let mut page = page.section("What decides").prose(&format!(
            "Each rule adds its weight to the class that it votes for where it is true, and to the other class where it is not; the class with more weight is predicted. Missing values: {missing}."
        ));
        let gained = self.boosted.importance(self.supports);
        let mut order: Vec<usize> =
            (0..gained.len()).filter(|column| gained[*column] > 0.0).collect();
        order.sort_by(|a, b| gained[*b].total_cmp(&gained[*a]).then(a.cmp(b)));
        if !order.is_empty() {
            let bars = Bars::new("How much each column moves the score, in percent of all");
            let bar = |bars: Bars, column: &usize| {
                bars.bar(self.names.column(*column), (1000.0 * gained[*column]).round() / 10.0)
            };
            page = page.figure(order.iter().take(COLUMNS).fold(bars, bar));
        }
        for (name, mut all) in spoken(self.boosted, self.names, self.supports) {
            // The loudest first.
            all.sort_by(|a, b| {
                b.alpha.abs().total_cmp(&a.alpha.abs()).then(a.feature.cmp(&b.feature))
            });
            let head = ["rule", "votes for", "weight", "true of rows", "of them in that class"];
            let mut table = Table::new(head).stacked();
            if self.boosted.classes.len() > 2 {
                table = table.caption(format!("What speaks for {name}"));
            }
            for own in all {
                let share = own.support.and_then(|support| support.share);
                let share = share.map(|share| if own.alpha >= 0.0 { share } else { 1.0 - share });
                table.push([
                    own.condition.into(),
                    own.votes_for.into(),
                    Cell::Figures(format!("{:.2}", own.alpha.abs())),
                    own.support.map_or_else(|| "".into(), |support| support.rows.into()),
                    Cell::Figures(share.map(|share| percent(Some(share))).unwrap_or_default()),
                ]);
            }
            page = page.table(table);
        }
        page
    }
}

/// Columns in the picture of what decides.
const COLUMNS: usize = 12;

fn meaning(certificate: &Certificate, asks: bool) -> String {
    match (&certificate.status, certificate.theorem) {
        (Status::Void(_), _) => promise(certificate),
        (_, "boosting-rate") => {
            "the surrogate is no more than what the edges of the rounds promised it would be"
                .to_owned()
        }
        (_, "training-error") if asks => {
            "every row is asked of each class whether it is that; no larger share of the answers is wrong".to_owned()
        }
        (_, "training-error") => "no more rows are misclassified than this share".to_owned(),
        _ => "with edges like these, some round had no more errors than this".to_owned(),
    }
}
