//! What an experiment found.

use geowalk::certify::{Certificate, Status};
use geowalk_page::{Picture, Table, number};

/// One statement: what was expected, what was measured, and whether the two agree.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Finding {
    /// What it is about.
    pub what: String,
    /// What was expected.
    pub expected: String,
    /// What was measured.
    pub measured: String,
    /// Do they agree?
    pub met: bool,
}

fn short(value: f64) -> String {
    number(value, 6)
}

impl Finding {
    /// Any statement that is not about one number.
    pub fn new(
        what: impl Into<String>,
        expected: impl Into<String>,
        measured: impl Into<String>,
        met: bool,
    ) -> Self {
        Self { what: what.into(), expected: expected.into(), measured: measured.into(), met }
    }

    /// A number that is known: equal up to `tolerance`.
    pub fn equal(what: impl Into<String>, measured: f64, expected: f64, tolerance: f64) -> Self {
        let met = (measured - expected).abs() <= tolerance;
        let text = match tolerance {
            0.0 => short(expected),
            _ => format!("{} ± {}", short(expected), number(tolerance, 2)),
        };
        Self::new(what, text, short(measured), met)
    }

    /// A bound that holds: `measured` is at most `bound`, up to the rounding of sums.
    pub fn at_most(what: impl Into<String>, measured: f64, bound: f64) -> Self {
        let rounding = 1e-12 * (measured.abs() + bound.abs());
        Self::new(
            what,
            format!("≤ {}", short(bound)),
            short(measured),
            measured <= bound + rounding,
        )
    }

    /// A bound that is broken, or something that is larger: `measured` is above `bound`.
    pub fn above(what: impl Into<String>, measured: f64, bound: f64) -> Self {
        Self::new(what, format!("> {}", short(bound)), short(measured), measured > bound)
    }

    /// A number within limits.
    pub fn between(what: impl Into<String>, measured: f64, low: f64, high: f64) -> Self {
        let met = (low..=high).contains(&measured);
        Self::new(what, format!("{} to {}", short(low), short(high)), short(measured), met)
    }

    /// A certificate that is valid, and a regret that is below its bound.
    pub fn certified(what: impl Into<String>, regret: f64, certificate: &Certificate) -> Self {
        match &certificate.status {
            Status::Valid => Self::at_most(what, regret, certificate.bound),
            Status::Void(broken) => {
                Self::new(what, "valid", format!("void: {}", broken.premise), false)
            }
        }
    }

    /// A certificate that is void, because of this premise.
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

/// Everything that an experiment gives back.
#[derive(Debug, Clone, Default)]
pub struct Outcome {
    /// What was expected and what was measured.
    pub findings: Vec<Finding>,
    /// Tables, each with the name of its file.
    pub tables: Vec<(String, Table)>,
    /// Pictures, each with the name of its file.
    pub pictures: Vec<(String, Picture)>,
}

impl Outcome {
    /// Nothing yet.
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

    /// Adds a picture, to be written as `file`.svg.
    pub fn picture(&mut self, file: &str, picture: impl Into<Picture>) {
        self.pictures.push((file.to_owned(), picture.into()));
    }

    /// Was everything as expected?
    pub fn met(&self) -> bool {
        self.findings.iter().all(|finding| finding.met)
    }
}
