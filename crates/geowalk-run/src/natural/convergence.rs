//! # Does natural gradient converge to the optimum?
//! Theorem 5 of \[SC21\], corrected (docs/corrections.md), and theorem 1 there for the other families: the loss converges to that of the best
//! coefficients if the conditions of the table hold and rows are drawn from one distribution. What a run can show of them is checked:
//!
//! | condition | checked by |
//! |---|---|
//! | rates with Σγ = ∞ and Σγ² < ∞ | the schedule |
//! | the model of the rows stays inside its family | pseudo-examples and priors, which are positive |
//! | there is a finite optimum | no mistakes in the last half, or pairs of feature and class that never occurred, unless there is a ridge |
//! | the cap and new beginnings end | the cap did not hold most steps; the walk did not begin again, beyond once |
//!
//! Beside it stands what was measured: the length of the gradient in the metric of the model, and the gap to the optimum, with its standard error.

use geowalk::natural::{Natural, Report, Schedule};
use serde_json::{Value, json};

/// What a run says of the theorem.
pub(super) struct Convergence {
    report: Report,
    /// What is not known to hold, with what was found.
    failed: Vec<(&'static str, String)>,
}

impl Convergence {
    pub(super) fn of(walk: &Natural, [steps, capped]: [u64; 2]) -> Self {
        let report = walk.report();
        let settings = walk.settings();
        let mut failed = Vec::new();
        if let Schedule::Constant { rate } = settings.schedule {
            failed.push(("rates fall", format!("the rate is {rate} at every step")));
        }
        let (empty, cells) = report.empty_cells;
        if settings.ridge == 0.0 && report.separable {
            let right = report.right;
            let found = format!("no mistake in the last {right} examples: none may be best");
            failed.push(("there are best coefficients", found));
        } else if settings.ridge == 0.0 && empty > 0 {
            let found = format!("{empty} of {cells} pairs of feature and class never occurred");
            failed.push(("there are best coefficients", found));
        }
        if 2 * capped > steps {
            let found = format!("the cap held {capped} of {steps} steps");
            failed.push(("steps are those of the schedule", found));
        }
        if report.again > 1 {
            let found = format!("it began again at zero {} times", report.again);
            failed.push(("steps are those of the schedule", found));
        }
        Self { report, failed }
    }

    /// ‖∇L‖ in the metric of the model; NaN before it is known.
    fn gradient(&self) -> f64 {
        (2.0 * self.report.gap.max(0.0)).sqrt()
    }

    /// For the summary and the model file.
    pub(super) fn json(&self) -> Value {
        let finite = |x: f64| x.is_finite().then_some(x);
        let failed: Vec<Value> = self
            .failed
            .iter()
            .map(|(condition, found)| json!({"condition": condition, "found": found}))
            .collect();
        json!({
            "theorem": "SC21, theorem 5, corrected",
            "status": if failed.is_empty() { "valid" } else { "void" },
            "failed": failed,
            "gradient_norm": finite(self.gradient()),
            "gap": finite(self.report.gap.max(0.0)),
            "gap_error": finite(self.report.gap_error),
        })
    }

    /// For people.
    pub(super) fn sentence(&self, measurable: bool) -> String {
        let verdict = match self.failed.first() {
            None => "its conditions hold on this run: the loss converges to that of the best coefficients \
                     if rows are drawn from one distribution"
                .to_owned(),
            Some((condition, found)) => format!("not known to hold here ({condition}: {found})"),
        };
        let Report { gap, gap_error, .. } = self.report;
        let measured = if measurable {
            format!(
                "gap to the optimum {:.1e} (standard error {gap_error:.1e}), gradient norm {:.1e}",
                gap.max(0.0),
                self.gradient()
            )
        } else {
            "the gap to the optimum cannot be told yet".to_owned()
        };
        format!("convergence (theorem 5 of [SC21], corrected): {verdict}; measured: {measured}")
    }
}
