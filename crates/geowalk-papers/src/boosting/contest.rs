//! # A comparison of flavours
//! Every flavour on every domain by stratified cross-validation: all of them with the same folds and the same rule
//! learner. Details that the paper does not specify are chosen as follows:
//! * μ = ½, ν = ¼;
//! * thresholds are between at most 255 bins of a column, and literals are compared by edge;
//! * missing values make a literal false, and there are literals that test for missing values;
//! * leverages of rules without errors are capped (ε = 1/2m);
//! * as a flavour, B renormalises; in the bags of other flavours it is the modified Huber loss.
//!
//! **Resuming** One unit of work is a domain in one setting. Its results are lines of a table ([`Result::line`]), and
//! units in the table are not run again. **Cost** 27 runs of r rounds per fold. **Source** \[NN09, sec. 7, fig. 15\].

use geowalk::boost::booster::error_of;

use geowalk::boost::rules::{RuleOptions, Rules};
use geowalk::boost::{BoostError, Booster, Flavour, Stop, Surrogate};
use rayon::prelude::*;

use super::domain::Domain;

/// The eleven flavours, in the order of the paper: name, loss, and how losses are chosen.
pub const FLAVOURS: [(&str, &str, Flavour); 11] = [
    ("exp", "exponential", Flavour::None),
    ("B", "renorm", Flavour::None),
    ("mu", "mu(mu=0.5)", Flavour::None),
    ("M", "matsushita", Flavour::None),
    ("Q", "entropy", Flavour::None),
    ("v", "nu(nu=0.25)", Flavour::None),
    ("F1", "matsushita", Flavour::F1),
    ("F2", "matsushita", Flavour::F2),
    ("E1", "matsushita", Flavour::E1),
    ("E2", "matsushita", Flavour::E2),
    ("F*", "matsushita", Flavour::FStar),
];

/// Number of flavours.
pub const COUNT: usize = FLAVOURS.len();

/// The size of rules, and the number of rules.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Setting {
    /// l, the largest number of literals of a rule.
    pub literals: usize,
    /// r, the number of rounds.
    pub rounds: usize,
}

/// The rows of figure 15. The caption has l = 20 for the second; the pattern of the others suggests r = 20.
pub const SETTINGS: [Setting; 3] = [
    Setting { literals: 2, rounds: 10 },
    Setting { literals: 2, rounds: 20 },
    Setting { literals: 3, rounds: 100 },
];

/// The result of a flavour on a domain.
#[derive(Debug, Clone, PartialEq)]
pub struct Result {
    /// The name of the domain.
    pub domain: String,
    /// The setting.
    pub setting: Setting,
    /// Index into [`FLAVOURS`].
    pub flavour: usize,
    /// The error of each fold.
    pub errors: Vec<f64>,
    /// For F*: in each fold, the number of other losses with the same training error.
    pub ties: Vec<usize>,
}

/// The header line of the table of results.
pub const HEAD: &str = "domain,l,r,flavour,error,errors by fold,ties by fold";

impl Result {
    /// The mean error.
    pub fn error(&self) -> f64 {
        self.errors.iter().sum::<f64>() / self.errors.len() as f64
    }

    /// A line of the table, with all digits.
    pub fn line(&self) -> String {
        let list = |values: Vec<String>| values.join(" ");
        format!(
            "{},{},{},{},{},{},{}",
            self.domain,
            self.setting.literals,
            self.setting.rounds,
            FLAVOURS.get(self.flavour).map_or("", |flavour| flavour.0),
            self.error(),
            list(self.errors.iter().map(f64::to_string).collect()),
            list(self.ties.iter().map(usize::to_string).collect()),
        )
    }

    /// Parses a line of the table. `None` if the line is invalid, for example incomplete because the run was stopped.
    pub fn parse(line: &str) -> Option<Self> {
        let cells: Vec<&str> = line.split(',').collect();
        let [domain, literals, rounds, flavour, _, errors, ties] = cells[..] else { return None };
        let flavour = FLAVOURS.iter().position(|own| own.0 == flavour)?;
        let setting = Setting { literals: literals.parse().ok()?, rounds: rounds.parse().ok()? };
        let errors: Vec<f64> = errors.split(' ').map(|e| e.parse().ok()).collect::<Option<_>>()?;
        let ties: Vec<usize> = ties.split(' ').map(|t| t.parse().ok()).collect::<Option<_>>()?;
        let whole = errors.len() == ties.len() && errors.iter().all(|e| (0.0..=1.0).contains(e));
        whole.then(|| Self { domain: domain.to_owned(), setting, flavour, errors, ties })
    }
}

/// Runs all flavours on one domain in one setting, in the order of [`FLAVOURS`].
pub fn run(domain: &Domain, setting: Setting) -> std::result::Result<Vec<Result>, BoostError> {
    let folds = domain.folds().iter().max().map_or(0, |last| last + 1);
    let found: Vec<Vec<(f64, usize)>> = (0..folds)
        .into_par_iter()
        .map(|fold| on_fold(domain, setting, fold))
        .collect::<std::result::Result<_, _>>()?;
    let of = |flavour: usize| Result {
        domain: domain.name().to_owned(),
        setting,
        flavour,
        errors: found.iter().map(|fold| fold[flavour].0).collect(),
        ties: found.iter().map(|fold| fold[flavour].1).collect(),
    };
    Ok((0..COUNT).map(of).collect())
}

/// The error and the ties of every flavour, trained on all folds but one and tested on that one.
fn on_fold(
    domain: &Domain,
    setting: Setting,
    fold: usize,
) -> std::result::Result<Vec<(f64, usize)>, BoostError> {
    let signs = domain.classes().signs()?;
    let (own, others): (Vec<u32>, Vec<u32>) =
        (0..).take(signs.len()).partition(|row| domain.folds()[*row as usize] == fold);
    let part = |rows: &[u32]| -> Vec<f64> { rows.iter().map(|row| signs[*row as usize]).collect() };
    let (labels, held_labels) = (part(&others), part(&own));
    let (table, held) = (domain.table().select(&others)?, domain.table().select(&own)?);
    let options = RuleOptions { literals: setting.literals, ..RuleOptions::default() };
    // The columns are prepared once and shared by all flavours.
    let mut rules = Rules::new(&table, options)?;
    let mut found = Vec::with_capacity(COUNT);
    for (_, loss, flavour) in FLAVOURS {
        let loss = Surrogate::parse(loss)?;
        let bag = flavour.bag(&loss, 0.5, 0.25)?;
        let mut booster = Booster::new(loss, Stop::after(setting.rounds)?);
        booster.bag = bag;
        let chosen = flavour.fit(&booster, &mut rules, &labels, None, None, &mut |_, _| {})?;
        let error = error_of(&chosen.ensemble.scores(&held), &held_labels, None);
        found.push((error, chosen.ties));
    }
    Ok(found)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn results_are_lines_and_lines_are_results() {
        let result = Result {
            domain: "wine".to_owned(),
            setting: SETTINGS[2],
            flavour: 10,
            errors: vec![0.1, 1.0 / 3.0],
            ties: vec![0, 4],
        };
        let line = result.line();
        assert!(line.starts_with("wine,3,100,F*,0.21666"), "{line}");
        assert_eq!(Result::parse(&line), Some(result));
        for cut in 0..line.len() - 1 {
            // A truncated line must not parse as a valid line with the same number of folds.
            let parsed = Result::parse(&line[..cut]);
            assert!(parsed.is_none_or(|own| own.ties.len() < 2), "{}", &line[..cut]);
        }
        assert_eq!(Result::parse(HEAD), None);
    }
}
