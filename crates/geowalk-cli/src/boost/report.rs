//! The report of `boost`: what was learned, how it went, what is promised, how sure it is.

use geowalk::boost::multiclass::Reduction;
use geowalk::certify::{Certificate, Status};
use geowalk_page::{Page, Plot, Table};
use geowalk_run::boost::validate::Validation;
use geowalk_run::boost::words::{Names, about_missing, spoken};
use geowalk_run::boost::{Boosted, History, Plan};
use geowalk_run::learned::promise;
use geowalk_run::profile::Profile;

use super::{about_loss, about_weak};
use crate::report::{self, Judged};

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
    /// The training error.
    pub error: f64,
}

impl Report<'_> {
    /// The page; `how` the run can be made again.
    pub fn page(&self, how: &str) -> Page {
        let mut page = Page::new("A boosted classifier").contents().facts(self.facts());
        page = self.promises(page);
        page = self.rounds(page);
        let two = (self.boosted.classes.len() == 2).then(|| self.boosted.classes[1].as_str());
        if let Some(judged) = &self.judged {
            page = report::probabilities(page, judged, two);
        }
        report::repeat(report::reading(self.features(page), self.profile), how)
    }

    fn facts(&self) -> Vec<(&'static str, String)> {
        let mut facts = vec![
            ("examples", self.rows.to_string()),
            ("columns", self.boosted.columns.to_string()),
            ("classes", self.boosted.classes.join(", ")),
            ("loss", about_loss(self.plan, self.histories)),
            ("weak learner", about_weak(self.plan)),
            ("training error", format!("{:.6}", self.error)),
        ];
        if let Some(own) = self.validation {
            let text = format!(
                "{:.6} ± {:.6}, mean and deviation of {} folds, seed {}",
                own.mean(),
                own.deviation(),
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
        page.section("What is promised")
            .prose("Theorems about the training data, evaluated on this run. They hold whatever the data are; a premise that broke is said, and then nothing is promised.")
            .table(table)
    }

    /// Surrogate and error round by round, with what the theorem promises of each.
    fn rounds(&self, mut page: Page) -> Page {
        page = page.section("Rounds").prose("The average normalised surrogate is 1 at the start and never below the training error. Each round must take at least what the theorem promises off it: the dashed line is where the round had to end, from where it began.");
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

    /// What was learned, sentence by sentence.
    fn features(&self, mut page: Page) -> Page {
        let missing = about_missing(self.boosted);
        page = page.section("What was learned").prose(&format!("Missing values: {missing}."));
        for (name, all) in spoken(self.boosted, self.names) {
            // A class without weight has no rounds.
            let of = |own: &&History| own.class.as_ref().is_none_or(|class| *class == name);
            let own = self.histories.iter().find(of);
            let rounds = own.map(|own| own.rounds.as_slice()).unwrap_or_default();
            let mut table = Table::new(["round", "edge", "leverage", "sentence"])
                .caption(format!("What speaks for {name}, and how loud"));
            for own in all {
                let first = rounds.iter().find(|round| round.feature == own.feature);
                table.push([
                    first.map_or_else(|| "".into(), |round| round.round.into()),
                    first.map_or_else(|| "".into(), |round| round.edge.into()),
                    own.alpha.into(),
                    own.sentence.into(),
                ]);
            }
            page = page.table(table);
        }
        page
    }
}

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
