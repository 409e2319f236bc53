//! The results of an experiment.

use geowalk::certify::{Certificate, Status};
use geowalk_page::{Picture, Table, number};

/// One statement: the expected value, the measured value, and whether they agree.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Finding {
    /// Subject of the statement.
    pub what: String,
    /// The expected value, as text.
    pub expected: String,
    /// The measured value, as text.
    pub measured: String,
    /// Do they agree?
    pub met: bool,
    /// The paper says it. Everything else is a check of geowalk's.
    pub in_paper: bool,
    /// The paper says it, it is not so here, and that is known.
    pub is_disputed: bool,
}

fn short(value: f64) -> String {
    number(value, 6)
}

impl Finding {
    /// A statement that is not about a single number.
    pub fn new(
        what: impl Into<String>,
        expected: impl Into<String>,
        measured: impl Into<String>,
        met: bool,
    ) -> Self {
        let (what, expected, measured) = (what.into(), expected.into(), measured.into());
        Self { what, expected, measured, met, in_paper: false, is_disputed: false }
    }

    /// The same, said in the paper.
    #[must_use]
    pub fn stated(self) -> Self {
        Self { in_paper: true, ..self }
    }

    /// The same, said in the paper and known not to be so here: no failure.
    #[must_use]
    pub fn disputed(self) -> Self {
        Self { is_disputed: !self.met, ..self.stated() }
    }

    /// Is it neither as expected nor known to differ?
    pub fn fails(&self) -> bool {
        !self.met && !self.is_disputed
    }

    /// The verdict in words.
    pub fn verdict(&self) -> &'static str {
        match (self.in_paper, self.met) {
            (true, true) => "as in the paper",
            (true, false) => "not as in the paper",
            (false, true) => "holds",
            (false, false) => "does not hold",
        }
    }

    /// A known number: equal up to `tolerance`.
    pub fn equal(what: impl Into<String>, measured: f64, expected: f64, tolerance: f64) -> Self {
        let met = (measured - expected).abs() <= tolerance;
        let text = match tolerance {
            0.0 => short(expected),
            _ => format!("{} ± {}", short(expected), number(tolerance, 2)),
        };
        Self::new(what, text, short(measured), met)
    }

    /// A bound that must hold: `measured` is at most `bound`, up to the rounding of sums.
    pub fn at_most(what: impl Into<String>, measured: f64, bound: f64) -> Self {
        let rounding = 1e-12 * (measured.abs() + bound.abs());
        Self::new(
            what,
            format!("≤ {}", short(bound)),
            short(measured),
            measured <= bound + rounding,
        )
    }

    /// A bound that must be violated, or a quantity that must be larger: `measured` is above `bound`.
    pub fn above(what: impl Into<String>, measured: f64, bound: f64) -> Self {
        Self::new(what, format!("> {}", short(bound)), short(measured), measured > bound)
    }

    /// A number that must lie between limits.
    pub fn between(what: impl Into<String>, measured: f64, low: f64, high: f64) -> Self {
        let met = (low..=high).contains(&measured);
        Self::new(what, format!("{} to {}", short(low), short(high)), short(measured), met)
    }

    /// A certificate that must be valid, with a regret below its bound.
    pub fn certified(what: impl Into<String>, regret: f64, certificate: &Certificate) -> Self {
        match &certificate.status {
            Status::Valid => Self::at_most(what, regret, certificate.bound),
            Status::Void(broken) => {
                Self::new(what, "valid", format!("void: {}", broken.premise), false)
            }
        }
    }

    /// A certificate that must be void because of this premise.
    pub fn void(what: impl Into<String>, certificate: &Certificate, premise: &str) -> Self {
        let expected = format!("void: {premise}");
        match &certificate.status {
            Status::Valid => Self::new(what, expected, "valid", false),
            Status::Void(broken) => Self::new(
                what,
                expected,
                format!("void: {}", broken.premise),
                broken.premise == premise,
            ),
        }
    }
}

/// The complete result of an experiment.
#[derive(Debug, Clone, Default)]
pub struct Outcome {
    /// Comparisons of expected with measured values.
    pub findings: Vec<Finding>,
    /// Tables, each with its file name without extension.
    pub tables: Vec<(String, Table)>,
    /// Pictures, each with its file name without extension.
    pub pictures: Vec<(String, Picture)>,
    /// Tables that are too long for the page, each with the name of its file.
    pub files: Vec<(String, Table)>,
}

impl Outcome {
    /// An empty outcome.
    pub fn new() -> Self {
        Self::default()
    }

    /// Adds a finding.
    pub fn find(&mut self, finding: Finding) {
        self.findings.push(finding);
    }

    /// Adds a table, to be written as `file`.csv.
    pub fn table(&mut self, file: &str, table: Table) {
        self.tables.push((file.to_owned(), table));
    }

    /// Adds a table that is written as `file`.csv and is not on the page.
    pub fn file(&mut self, file: &str, table: Table) {
        self.files.push((file.to_owned(), table));
    }

    /// Adds a picture, to be written as `file`.svg.
    pub fn picture(&mut self, file: &str, picture: impl Into<Picture>) {
        self.pictures.push((file.to_owned(), picture.into()));
    }

    /// How many statements of the paper are as it says, of how many; and the same of geowalk's checks.
    pub fn counts(&self) -> [(usize, usize); 2] {
        [true, false].map(|in_paper| {
            let own = || self.findings.iter().filter(|f| f.in_paper == in_paper);
            (own().filter(|f| f.met).count(), own().count())
        })
    }
}
