//! # Figure 15: which flavour is best
//! The contest on all domains of a folder, in three settings, and what it says of the paper's six findings. A finding holds or does not by the criterion that stands beside it;
//! whether a difference is more than chance is what the corrected tests say.
//!
//! **Source** \[NN09, sec. 7, fig. 15\].

use std::collections::BTreeMap;
use std::fs;
use std::io::Write;
use std::path::{Path, PathBuf};

use geowalk_data::{Input, Options, Task};
use geowalk_page::{Cell, Mark, Page, Picture, Plot, Table};
use geowalk_run::error::RunError;
use geowalk_run::table::examples;

use super::contest::{self, COUNT, FLAVOURS, HEAD, Result, SETTINGS, Setting};
use super::domain::Domain;
use super::ranks::{Standing, critical_difference};

/// The files of a folder that are domains: tables, but not the test halves of domains that come in two.
pub fn files(folder: &Path) -> std::io::Result<Vec<(String, PathBuf)>> {
    let mut found = Vec::new();
    for entry in fs::read_dir(folder)? {
        let path = entry?.path();
        let name = path.file_name().map(|name| name.to_string_lossy().into_owned());
        let Some(name) = name else { continue };
        let stem = name.strip_suffix(".gz").unwrap_or(&name);
        let Some(stem) = stem.strip_suffix(".csv").filter(|stem| !stem.ends_with("-test")) else {
            continue;
        };
        found.push((stem.strip_suffix("-train").unwrap_or(stem).to_owned(), path));
    }
    found.sort();
    Ok(found)
}

/// Reads a domain.
pub fn read(name: &str, path: &Path) -> std::result::Result<Domain, RunError> {
    let options = Options::new([Input::Path(path.to_string_lossy().into_owned())]);
    let read = examples(options, Some(Task::Multiclass))?;
    Ok(Domain::new(name, read.table, &read.classes)?)
}

/// What the contest found, with a log on disk from which it goes on where it was stopped.
#[derive(Debug, Default)]
pub struct Contest {
    results: Vec<Result>,
    log: Option<PathBuf>,
}

impl Contest {
    /// Goes on with the log at this path, or begins it.
    pub fn resume(log: &Path) -> std::io::Result<Self> {
        let text = match fs::read_to_string(log) {
            Ok(text) => text,
            Err(error) if error.kind() == std::io::ErrorKind::NotFound => String::new(),
            Err(error) => return Err(error),
        };
        let mut results: Vec<Result> = text.lines().filter_map(Result::parse).collect();
        // Of a domain and setting that was being written when the run was stopped nothing is kept.
        let whole = units(&results);
        results.retain(|own| whole.get(&key(own)).is_some_and(|count| *count == COUNT));
        let mut kept = format!("{HEAD}\n");
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

    /// Is a domain done in a setting?
    pub fn has(&self, domain: &str, setting: Setting) -> bool {
        self.results.iter().any(|own| own.domain == domain && own.setting == setting)
    }

    /// Runs a domain in a setting, unless it is done.
    pub fn run(
        &mut self,
        domain: &Domain,
        setting: Setting,
        folds: usize,
        seed: u64,
    ) -> std::result::Result<(), Box<dyn std::error::Error>> {
        if self.has(domain.name(), setting) {
            return Ok(());
        }
        let found = contest::run(domain, setting, folds, seed)?;
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

    /// Where the flavours stand in a setting; `None` with fewer than two domains.
    pub fn standing(&self, setting: Setting) -> Option<Standing> {
        let (_, rows) = self.errors(setting);
        (rows.len() > 1).then(|| Standing::new(&rows))
    }

    /// Folds in which φ_μ and φ_M had the same error, of all; and the largest difference.
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

    /// Folds in which several losses of F* had the same least training error, of all, in a setting.
    pub fn ties(&self, setting: Setting) -> (usize, usize) {
        let star = flavour("F*");
        let own = self.results.iter().filter(|own| own.flavour == star && own.setting == setting);
        let ties: Vec<usize> = own.flat_map(|own| own.ties.iter().copied()).collect();
        (ties.iter().filter(|ties| **ties > 0).count(), ties.len())
    }

    /// The findings of the paper: what is claimed, by which criterion, what was found, and whether it holds.
    pub fn findings(&self) -> Vec<Finding> {
        let standings: Vec<Standing> =
            SETTINGS.iter().filter_map(|setting| self.standing(*setting)).collect();
        let [small, _, large] = &standings[..] else { return Vec::new() };
        let [exp, b, m, q] = ["exp", "B", "M", "Q"].map(flavour);
        let [f1, e1, e2, star] = ["F1", "E1", "E2", "F*"].map(flavour);
        let places = |own: usize| -> Vec<usize> { standings.iter().map(|s| s.place(own)).collect() };
        let domains = small.domains;
        let tops = small.extremes[star].0;
        let beaten = small.beats(star, 0.01);
        let first = places(star).iter().all(|place| *place == 1);
        let concave = [q, b, exp].iter().all(|other| small.ranks[m] < small.ranks[*other]);
        let beats = |s: &Standing, a: usize, b: usize| s.errors[a] < s.errors[b] && s.p[a][b] < 0.1;
        let bad = |own: usize| places(own).iter().all(|place| *place > COUNT - 3);
        let everywhere = standings.iter().all(|s| s.extremes.iter().all(|e| e.0 > 0 && e.1 > 0));
        vec![
            Finding::new(
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
            Finding::new(
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
            Finding::new(
                "H3",
                "Q does not beat M nor AdaBoost with large classifiers",
                "paired test at .1 at (3, 100)",
                format!("p = {:.3} against M, {:.3} against exp", large.p[q][m], large.p[q][exp]),
                !beats(large, q, m) && !beats(large, q, exp),
            ),
            Finding::new(
                "H4",
                "mixing losses of different gradient images (E1, F1) is bad",
                "both among the last three by average rank in all settings",
                format!("places of E1 {:?}, of F1 {:?}", places(e1), places(f1)),
                bad(e1) && bad(f1),
            ),
            Finding::new(
                "H5",
                "E2 is promising",
                "among the first five by average rank in all settings",
                format!("places {:?}", places(e2)),
                places(e2).iter().all(|place| *place <= 5),
            ),
            Finding::new(
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

    /// The histograms of ranks in a setting, side by side: flavours from the smallest mean error to the largest, each with its ranks from 1 to 11.
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
            let bars = bars.map(|(k, count)| (left + f64::from(k), left + f64::from(k) + 1.0, *count as f64));
            plot = plot.bars(FLAVOURS[at].0, bars);
            let average = left + standing.ranks[at] - 0.5;
            marks.extend([(average, 0.0), (average, most), (f64::NAN, f64::NAN)]);
        }
        Some(plot.dashed("average rank", marks).into())
    }

    /// All of it as a page.
    pub fn page(&self, about: &[(String, String)]) -> Page {
        let mut page = Page::new("Eleven flavours of boosting")
            .contents()
            .prose("Figure 15 of Nock and Nielsen (2009): rules boosted with one loss, or with losses chosen as the run goes, by stratified cross-validation.")
            .facts(about.iter().map(|(name, value)| (name.as_str(), value.as_str())));
        page = page.section("Findings");
        let mut table = Table::new(["", "the paper says", "criterion", "found", "holds"]);
        for own in self.findings() {
            table.push([
                own.name.into(),
                own.claim.into(),
                own.criterion.into(),
                own.found.clone().into(),
                own.verdict(),
            ]);
        }
        page = page.table(&table).prose(&self.remarks());
        for setting in SETTINGS {
            let (Some(table), Some(picture)) = (self.table(setting), self.histograms(setting)) else {
                continue;
            };
            page = page
                .section(&format!("l = {}, r = {}", setting.literals, setting.rounds))
                .figure(picture)
                .table(&table);
        }
        page
    }

    /// What else is to be known.
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
            "φ_μ and φ_M are one booster on two scales: their errors are the same in {same} of {all} folds, and differ by at most {largest} in the others.\n\nSeveral losses of F* reached the same training error in {}; such ties go to the smaller normalised surrogate.\n\nOf 110 ordered pairs, 5.5 beat each other at .1 by chance alone: the columns headed Holm are corrected for that.",
            ties.join(", ")
        )
    }
}

/// A claim of the paper, and what became of it.
#[derive(Debug, Clone, PartialEq)]
pub struct Finding {
    /// H1 to H6.
    pub name: &'static str,
    /// What the paper says.
    pub claim: &'static str,
    /// When it is said to hold here.
    pub criterion: &'static str,
    /// The numbers.
    pub found: String,
    /// Does it?
    pub holds: bool,
}

impl Finding {
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

/// The number of a flavour.
fn flavour(name: &str) -> usize {
    FLAVOURS.iter().position(|own| own.0 == name).unwrap_or(0)
}

type Key = (String, usize, usize);

fn key(own: &Result) -> Key {
    (own.domain.clone(), own.setting.literals, own.setting.rounds)
}

/// How many flavours have a result, by domain and setting.
fn units(results: &[Result]) -> BTreeMap<Key, usize> {
    let mut units = BTreeMap::new();
    for own in results {
        *units.entry(key(own)).or_insert(0) += 1;
    }
    units
}
