//! # The report of the loss doctor

use std::fmt;

use super::{Diagnosis, Verdict};

/// Column of the findings; one more than the longest name.
const COLUMN: usize = 35;

/// A number to six significant digits, without trailing zeros.
pub(super) fn number(x: f64) -> String {
    let size = x.abs();
    if !x.is_finite() || x == 0.0 {
        format!("{x}")
    } else if (1e-4..1e6).contains(&size) {
        let decimals = if size < 1e-2 { 8 } else { 6 };
        let text = format!("{x:.decimals$}");
        text.trim_end_matches('0').trim_end_matches('.').to_owned()
    } else {
        format!("{x:.5e}")
    }
}

/// Formats a number with all its digits: a value that misses by little must not look equal.
pub(super) fn exact(x: f64) -> String {
    let text = format!("{x:?}");
    text.strip_suffix(".0").map_or(text.clone(), str::to_owned)
}

impl fmt::Display for Verdict {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Holds => write!(f, "holds"),
            Self::NotApplicable => write!(f, "-"),
            Self::Fails { at, label, found, needed } => write!(
                f,
                "FAILS at z = {}, y = {}: found {}, needed {needed}",
                exact(*at),
                exact(*label),
                exact(*found)
            ),
        }
    }
}

impl fmt::Display for Diagnosis {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let labels: Vec<String> = self.labels.iter().map(|&y| number(y)).collect();
        let (lo, hi) = (number(self.range.lo), number(self.range.hi));
        writeln!(
            f,
            "{}: {} points, z in [{lo}, {hi}], y in {{{}}}",
            self.spec,
            self.points,
            labels.join(", ")
        )?;
        for (name, verdict) in self.checks() {
            writeln!(f, "  {name:<COLUMN$}{verdict}")?;
        }
        let bounded = |x: Option<f64>, without: &str| x.map_or(without.to_owned(), number);
        let kinked = if self.kinks.is_empty() { "unbounded" } else { "none (kinks)" };
        writeln!(f, "  {:<COLUMN$}{}", "sup |slope|", bounded(self.lipschitz, "unbounded"))?;
        writeln!(f, "  {:<COLUMN$}{}", "sup curvature", bounded(self.smooth, kinked))?;
        writeln!(f, "  {:<COLUMN$}{}", "inf curvature", number(self.strong))?;
        writeln!(f, "  {:<COLUMN$}{}", "balance c", bounded(self.balance, "-"))?;
        writeln!(f, "  {:<COLUMN$}{}", "kinks", self.kink_list())?;
        for applies in self.theorems() {
            let verb = if applies.applies { "applies" } else { "does not apply" };
            writeln!(f, "  {:<COLUMN$}{verb}: {}", applies.theorem, applies.why)?;
        }
        Ok(())
    }
}

impl Diagnosis {
    fn kink_list(&self) -> String {
        const SHOWN: usize = 4;
        if self.kinks.is_empty() {
            return "none".to_owned();
        }
        let mut list: Vec<String> = self
            .kinks
            .iter()
            .take(SHOWN)
            .map(|kink| {
                format!(
                    "z = {} for y = {} (by {})",
                    number(kink.at),
                    number(kink.label),
                    number(kink.jump)
                )
            })
            .collect();
        if self.kinks.len() > SHOWN {
            list.push(format!("and {} more", self.kinks.len() - SHOWN));
        }
        list.join(", ")
    }
}
