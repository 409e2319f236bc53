//! # Figure 15: the best flavour
//! The comparison on all domains of a folder, in three settings, as a test of the paper's six findings. Each finding
//! has a printed criterion that decides whether it holds. The corrected tests decide whether a difference is
//! significant.
//!
//! **Source** \[NN09, sec. 7, fig. 15\].

use std::collections::BTreeMap;
use std::fs;
use std::io::Write;
use std::path::{Path, PathBuf};

use geowalk::ConfigError;
use geowalk_page::{Cell, Mark, Picture, Plot, Table};

use super::contest::{self, COUNT, FLAVOURS, HEAD, Result, SETTINGS, Setting};
use super::domain::Domain;
use super::generated;
use super::ranks::{Standing, critical_difference};
use crate::experiment::KEPT;
use crate::{Experiment, Finding, Outcome, Run};

/// The experiment.
pub const EXPERIMENT: Experiment = Experiment {
    name: "figure-15",
    paper: "NN09, section 7, figure 15",
    what: "Eleven flavours of boosted rules by stratified cross-validation on all tables of a folder (--data DIR; without one on five generated ones): ranks, tests, and which of the paper's findings hold.",
    run,
};

#[expect(clippy::unnecessary_wraps, reason = "the signature of all experiments")]
fn run(run: &mut Run<'_>) -> std::result::Result<Outcome, ConfigError> {
    let generated;
    let domains = if run.domains.is_empty() {
        generated = generated::domains(run.size.pick(100, 400), run.seed);
        &generated
    } else {
        run.domains
    };
    let mut outcome = Outcome::new();
    let mut contest = match &run.folder {
        None => Contest::default(),
        Some(folder) => Contest::resume(&folder.join(KEPT), run.seed).unwrap_or_else(|error| {
            outcome.find(Finding::new(
                "results.csv",
                "can be read and written",
                error.to_string(),
                false,
            ));
            Contest::default()
        }),
    };
    let units: Vec<(&Domain, Setting)> =
        domains.iter().flat_map(|domain| SETTINGS.map(|setting| (domain, setting))).collect();
    for (at, (domain, setting)) in units.iter().enumerate() {
        if let Err(error) = contest.run(domain, *setting) {
            outcome.find(Finding::new(
                domain.name(),
                "can be learned from",
                error.to_string(),
                false,
            ));
        }
        run.done(at + 1, units.len());
    }
    let (same, all, largest) = contest.twins();
    outcome.find(Finding::new(
        "folds in which φ_μ and φ_M have the same error: they are one booster on two scales",
        format!("{all} of {all}, or a score that is 0 but for rounding"),
        format!("{same} of {all}; the largest difference is {largest:.4}"),
        all > 0 && same * 100 >= all * 99,
    ));
    for own in contest.claims() {
        let what = format!("{}: {}; {}", own.name, own.claim, own.criterion);
        let said =
            if run.domains.is_empty() { ON_GENERATED } else { "so on the paper's 52 domains" };
        outcome.find(Finding::new(what, said, own.found.clone(), own.holds).disputed());
    }
    for setting in SETTINGS {
        let name = format!("l{}-r{}", setting.literals, setting.rounds);
        let (Some(table), Some(picture)) = (contest.table(setting), contest.histograms(setting))
        else {
            continue;
        };
        outcome.table(&name, table);
        outcome.picture(&name, picture);
    }
    outcome.table("findings", contest.judged());
    outcome.table("domains", about(domains));
    Ok(outcome)
}

/// Without --data there is nothing to judge the paper's findings by but tables made for speed.
const ON_GENERATED: &str = "so on the paper's domains; here are a few generated ones: give --data";

/// A table that describes the domains.
fn about(domains: &[Domain]) -> Table {
    let mut table = Table::new(["domain", "rows", "columns", "classes", "positive", "of it %"])
        .caption(
            "The domains; of more than two classes the most frequent is set against all others",
        );
    for domain in domains {
        let rows = domain.table().rows();
        let positive = domain.classes().codes().iter().filter(|code| **code == 1).count();
        table.push([
            domain.name().into(),
            rows.into(),
            domain.table().columns().len().into(),
            domain.found().into(),
            domain.positive().into(),
            Cell::Figures(format!("{:.1}", 100.0 * positive as f64 / rows as f64)),
        ]);
    }
    table
}

/// The results of the comparison, with a log on disk from which a stopped run resumes.
#[derive(Debug, Default)]
pub struct Contest {
    results: Vec<Result>,
    log: Option<PathBuf>,
}

impl Contest {
    /// Resumes from the log at this path, or creates it. A log of another seed or version is discarded.
    pub fn resume(log: &Path, seed: u64) -> std::io::Result<Self> {
        let stamp = format!("# geowalk {}, seed {seed}", env!("CARGO_PKG_VERSION"));
        let text = match fs::read_to_string(log) {
            Ok(text) if text.lines().next() == Some(&stamp) => text,
            Ok(_) => String::new(),
            Err(error) if error.kind() == std::io::ErrorKind::NotFound => String::new(),
            Err(error) => return Err(error),
        };
        let mut results: Vec<Result> = text.lines().filter_map(Result::parse).collect();
        // Discard incomplete results of the domain and setting in progress when the run was stopped.
        let whole = units(&results);
        results.retain(|own| whole.get(&key(own)).is_some_and(|count| *count == COUNT));
        let mut kept = format!("{stamp}\n{HEAD}\n");
        for own in &results {
            kept.push_str(&own.line());
            kept.push('\n');
        }
        fs::write(log, kept)?;
        Ok(Self { results, log: Some(log.to_owned()) })
    }

    /// All results so far.
    pub fn results(&self) -> &[Result] {
        &self.results
    }

    /// Is a domain finished in a setting?
    pub fn has(&self, domain: &str, setting: Setting) -> bool {
        self.results.iter().any(|own| own.domain == domain && own.setting == setting)
    }

    /// Runs a domain in a setting, unless it is finished.
    pub fn run(
        &mut self,
        domain: &Domain,
        setting: Setting,
    ) -> std::result::Result<(), Box<dyn std::error::Error>> {
        if self.has(domain.name(), setting) {
            return Ok(());
        }
        let found = contest::run(domain, setting)?;
        if let Some(log) = &self.log {
            let mut file = fs::OpenOptions::new().append(true).create(true).open(log)?;
            let lines: String = found.iter().map(|own| own.line() + "\n").collect();
            file.write_all(lines.as_bytes())?;
        }
        self.results.extend(found);
        Ok(())
    }

    /// The domains that have results in a setting, and the errors of all flavours on each.
    pub fn errors(&self, setting: Setting) -> (Vec<String>, Vec<Vec<f64>>) {
        let mut rows: BTreeMap<&str, Vec<f64>> = BTreeMap::new();
        for own in self.results.iter().filter(|own| own.setting == setting) {
            rows.entry(&own.domain).or_insert_with(|| vec![f64::NAN; COUNT])[own.flavour] =
                own.error();
        }
        rows.into_iter().map(|(domain, row)| (domain.to_owned(), row)).unzip()
    }

    /// The standing of the flavours in a setting; `None` for fewer than two domains.
    pub fn standing(&self, setting: Setting) -> Option<Standing> {
        let (_, rows) = self.errors(setting);
        (rows.len() > 1).then(|| Standing::new(&rows))
    }

    /// The number of folds in which φ_μ and φ_M had the same error, the number of all folds, and the largest
    /// difference.
    pub fn twins(&self) -> (usize, usize, f64) {
        let (mu, matsushita) = (flavour("mu"), flavour("M"));
        let of = |flavour: usize| self.results.iter().filter(move |own| own.flavour == flavour);
        let (mut same, mut all, mut largest) = (0, 0, 0.0);
        for own in of(mu) {
            let twin = of(matsushita).find(|twin| key(twin) == key(own));
            for (a, b) in own.errors.iter().zip(twin.iter().flat_map(|twin| &twin.errors)) {
                all += 1;
                same += usize::from(a == b);
                largest = f64::max(largest, (a - b).abs());
            }
        }
        (same, all, largest)
    }

    /// The number of folds of a setting in which several losses of F* had the same smallest training error, and the
    /// number of all folds.
    pub fn ties(&self, setting: Setting) -> (usize, usize) {
        let star = flavour("F*");
        let own = self.results.iter().filter(|own| own.flavour == star && own.setting == setting);
        let ties: Vec<usize> = own.flat_map(|own| own.ties.iter().copied()).collect();
        (ties.iter().filter(|ties| **ties > 0).count(), ties.len())
    }

    /// The findings of the paper: the claim, the criterion, the measured numbers, and whether it holds.
    pub fn claims(&self) -> Vec<Claim> {
        let standings: Vec<Standing> =
            SETTINGS.iter().filter_map(|setting| self.standing(*setting)).collect();
        let [small, _, large] = &standings[..] else { return Vec::new() };
        let [exp, b, m, q] = ["exp", "B", "M", "Q"].map(flavour);
        let [f1, e1, e2, star] = ["F1", "E1", "E2", "F*"].map(flavour);
        let places =
            |own: usize| -> Vec<usize> { standings.iter().map(|s| s.place(own)).collect() };
        let domains = small.domains;
        let tops = small.extremes[star].0;
        let beaten = small.beats(star, 0.01);
        let first = places(star).iter().all(|place| *place == 1);
        let concave = [q, b, exp].iter().all(|other| small.ranks[m] < small.ranks[*other]);
        let beats = |s: &Standing, a: usize, b: usize| s.errors[a] < s.errors[b] && s.p[a][b] < 0.1;
        let bad = |own: usize| places(own).iter().all(|place| *place > COUNT - 3);
        let everywhere = standings.iter().all(|s| s.extremes.iter().all(|e| e.0 > 0 && e.1 > 0));
        vec![
            Claim::new(
                "H1",
                "F* is the best of all",
                "smallest average rank in all three settings; best on at least 45 % of the domains at (2, 10), ties counted; beats 7 at .01 there",
                format!(
                    "places {:?} by average rank; best on {tops} of {domains} domains; beats {beaten} at .01 ({} after Holm's correction)",
                    places(star),
                    small.beats_corrected(star, 0.01)
                ),
                first && tops * 20 >= domains * 9 && beaten >= 7,
            ),
            Claim::new(
                "H2",
                "strong concavity (M) helps small classifiers",
                "M has a smaller average rank than Q, B and exp at (2, 10)",
                format!(
                    "average ranks M {:.2}, Q {:.2}, B {:.2}, exp {:.2}; the critical difference is {:.2}",
                    small.ranks[m],
                    small.ranks[q],
                    small.ranks[b],
                    small.ranks[exp],
                    critical_difference(domains)
                ),
                concave,
            ),
            Claim::new(
                "H3",
                "Q does not beat M nor AdaBoost with large classifiers",
                "paired test at .1 at (3, 100)",
                format!("p = {:.3} against M, {:.3} against exp", large.p[q][m], large.p[q][exp]),
                !beats(large, q, m) && !beats(large, q, exp),
            ),
            Claim::new(
                "H4",
                "mixing losses of different gradient images (E1, F1) is bad",
                "both among the last three by average rank in all settings",
                format!("places of E1 {:?}, of F1 {:?}", places(e1), places(f1)),
                bad(e1) && bad(f1),
            ),
            Claim::new(
                "H5",
                "E2 is promising",
                "among the first five by average rank in all settings",
                format!("places {:?}", places(e2)),
                places(e2).iter().all(|place| *place <= 5),
            ),
            Claim::new(
                "H6",
                "nearly every flavour is first on some domain and last on another",
                "every flavour, in every setting, ties counted",
                standings
                    .iter()
                    .zip(SETTINGS)
                    .map(|(s, setting)| {
                        let both = s.extremes.iter().filter(|e| e.0 > 0 && e.1 > 0).count();
                        format!("{both} of {COUNT} at ({}, {})", setting.literals, setting.rounds)
                    })
                    .collect::<Vec<_>>()
                    .join(", "),
                everywhere,
            ),
        ]
    }

    /// The table of a setting, flavours from the smallest mean error to the largest.
    pub fn table(&self, setting: Setting) -> Option<Table> {
        let standing = self.standing(setting)?;
        let mut table = Table::new([
            "flavour", "mean error %", "average rank", "best", "worst", "beats .1", "beats .01",
            "Holm .1", "Holm .01",
        ])
        .caption(format!(
            "l = {}, r = {}, {} domains. Friedman's χ² {:.1} (p = {:.2e}), F {:.2} (p = {:.2e}); ranks that differ by less than {:.2} are not told apart at .05 (Nemenyi).",
            setting.literals,
            setting.rounds,
            standing.domains,
            standing.friedman.chi_squared.0,
            standing.friedman.chi_squared.1,
            standing.friedman.f.0,
            standing.friedman.f.1,
            critical_difference(standing.domains)
        ));
        for at in standing.order() {
            table.push([
                FLAVOURS[at].0.into(),
                Cell::Figures(format!("{:.3}", 100.0 * standing.errors[at])),
                Cell::Figures(format!("{:.2}", standing.ranks[at])),
                standing.extremes[at].0.into(),
                standing.extremes[at].1.into(),
                standing.beats(at, 0.1).into(),
                standing.beats(at, 0.01).into(),
                standing.beats_corrected(at, 0.1).into(),
                standing.beats_corrected(at, 0.01).into(),
            ]);
        }
        Some(table)
    }

    /// The histograms of ranks in a setting, side by side: flavours ordered by mean error, each with its ranks from 1
    /// to 11.
    pub fn histograms(&self, setting: Setting) -> Option<Picture> {
        let standing = self.standing(setting)?;
        let title = format!("Ranks at l = {}, r = {}", setting.literals, setting.rounds);
        let mut plot = Plot::new(title)
            .x("ranks 1 to 11 of each flavour, by mean error from left to right")
            .y("domains");
        let most = standing.histograms.iter().flatten().max().copied().unwrap_or(1) as f64;
        let mut marks = Vec::new();
        for (place, at) in standing.order().into_iter().enumerate() {
            let left = (place * (COUNT + 2)) as f64;
            let bars = (0..).zip(&standing.histograms[at]);
            let bars = bars
                .map(|(k, count)| (left + f64::from(k), left + f64::from(k) + 1.0, *count as f64));
            plot = plot.bars(FLAVOURS[at].0, bars);
            let average = left + standing.ranks[at] - 0.5;
            // Return to the axis, and move along it to the next histogram.
            marks.extend([(average, 0.0), (average, most), (average, 0.0)]);
        }
        Some(plot.dashed("average rank", marks).into())
    }

    /// The claims of the paper and their verdicts, as a table.
    pub fn judged(&self) -> Table {
        let mut table = Table::new(["", "the paper says", "criterion", "found", "holds"])
            .caption(self.remarks());
        for own in self.claims() {
            table.push([
                own.name.into(),
                own.claim.into(),
                own.criterion.into(),
                own.found.clone().into(),
                own.verdict(),
            ]);
        }
        table
    }

    /// Additional remarks on ties and twins.
    pub fn remarks(&self) -> String {
        let (same, all, largest) = self.twins();
        let ties: Vec<String> = SETTINGS
            .iter()
            .map(|setting| {
                let (tied, folds) = self.ties(*setting);
                format!("{tied} of {folds} folds at ({}, {})", setting.literals, setting.rounds)
            })
            .collect();
        format!(
            "What the paper found, and what became of it. φ_μ and φ_M are one booster on two scales: their errors are the same in {same} of {all} folds, and differ by at most {largest} in the others. Several losses of F* reached the same training error in {}; such ties go to the smaller normalised surrogate. Of 110 ordered pairs 5.5 beat each other at .1 by chance alone: the columns headed Holm are corrected for that.",
            ties.join(", ")
        )
    }
}

/// One of the paper's findings, with its verdict.
#[derive(Debug, Clone, PartialEq)]
pub struct Claim {
    /// H1 to H6.
    pub name: &'static str,
    /// The statement of the paper.
    pub claim: &'static str,
    /// The criterion by which it holds here.
    pub criterion: &'static str,
    /// The measured numbers.
    pub found: String,
    /// Does it hold?
    pub holds: bool,
}

impl Claim {
    fn new(
        name: &'static str,
        claim: &'static str,
        criterion: &'static str,
        found: String,
        holds: bool,
    ) -> Self {
        Self { name, claim, criterion, found, holds }
    }

    fn verdict(&self) -> Cell {
        if self.holds {
            Cell::Verdict(Mark::Good, "yes".to_owned())
        } else {
            Cell::Verdict(Mark::Bad, "no".to_owned())
        }
    }
}

/// The index of a flavour in [`FLAVOURS`].
fn flavour(name: &str) -> usize {
    FLAVOURS.iter().position(|own| own.0 == name).unwrap_or(0)
}

type Key = (String, usize, usize);

fn key(own: &Result) -> Key {
    (own.domain.clone(), own.setting.literals, own.setting.rounds)
}

/// Number of flavours that have a result, by domain and setting.
fn units(results: &[Result]) -> BTreeMap<Key, usize> {
    let mut units = BTreeMap::new();
    for own in results {
        *units.entry(key(own)).or_insert(0) += 1;
    }
    units
}
