//! # The certificates of a run
//! Reports the first-order certificate and the theorems of the walk, all against the same comparators, as JSON and as
//! text.

use std::fmt::Write as _;

use geowalk::certify::{Certificate, Contradiction, Parts, Quantity, Status, Verdict, figure};
use serde_json::{Value, json};

use crate::learner::Reach;

/// The comparators of a certificate.
#[derive(Debug, Clone, Copy)]
pub enum Against<'a> {
    /// All weights no farther from the start than the present weights.
    Reach,
    /// As `Reach`, for a run in progress: skips theorems that inspect every weight and are never below the first-order
    /// certificate.
    Live,
    /// All weights within this distance, as defined by the [reach](Reach) of the walk. For boxes it is a multiple of
    /// the present weights.
    Within(f64),
    /// These weights: one vector per output, the intercept first if there is one.
    Given(&'a [Vec<f64>]),
}

/// The loss of a comparator, or of the best in a set, on the rows.
#[derive(Debug, Clone, PartialEq)]
pub struct Known {
    /// The total loss.
    pub loss: f64,
    /// The amount by which rounding of the predictions may have made `loss` too small.
    pub rounding: f64,
    /// How far from the best it may be, if it was found by a search; `None` for a given comparator.
    pub gap: Option<String>,
}

/// All certificates of a run against the same comparators.
#[derive(Debug, Clone, PartialEq)]
pub struct Report {
    /// The measured bound, which holds for every convex loss.
    pub first_order: Certificate,
    /// The theorems of the walk.
    pub theorems: Vec<Verdict>,
    /// Why there is no theorem, if there is none.
    pub reason: &'static str,
    /// Description of the comparators.
    pub comparators: String,
    /// Their loss, if it is known.
    pub known: Option<Known>,
    /// What the bound of explicit steps on a manifold is made of, where the run was made again before the comparator.
    pub parts: Option<Parts>,
}

/// Status and reason as text.
fn state(certificate: &Certificate, silent: bool) -> (&'static str, Option<String>) {
    match &certificate.status {
        Status::Valid => ("valid", None),
        Status::Void(_) if silent => (
            "none",
            Some(
                "it has no bound against all of these weights; ask about one comparator".to_owned(),
            ),
        ),
        Status::Void(broken) if broken.row == 0 && broken.found.is_nan() => {
            ("void", Some(broken.premise.to_owned()))
        }
        Status::Void(broken) if broken.row == 0 => {
            ("void", Some(format!("{} (found {})", broken.premise, broken.found)))
        }
        Status::Void(broken) => ("void", Some(format!("{} (row {})", broken.premise, broken.row))),
    }
}

fn finite(value: f64) -> Option<f64> {
    value.is_finite().then_some(value)
}

impl Report {
    /// The smallest valid bound on the regret; the first-order certificate if none is valid.
    pub fn best(&self) -> &Certificate {
        let theorems = self.theorems.iter().filter(|verdict| verdict.quantity == Quantity::Regret);
        let all = theorems.map(|verdict| &verdict.certificate).chain([&self.first_order]);
        let valid = all.filter(|certificate| certificate.status == Status::Valid);
        valid.min_by(|a, b| a.bound.total_cmp(&b.bound)).unwrap_or(&self.first_order)
    }

    /// The theorem to report first: the smallest valid bound on the regret; otherwise a valid bound on another
    /// quantity; otherwise the first theorem.
    pub fn theorem(&self) -> Option<&Verdict> {
        let rank = |verdict: &Verdict| {
            let valid = verdict.certificate.status == Status::Valid;
            let regret = verdict.quantity == Quantity::Regret;
            (!valid, !regret, if valid { verdict.certificate.bound } else { 0.0 })
        };
        self.theorems.iter().min_by(|a, b| {
            let ((a, b, c), (d, e, f)) = (rank(a), rank(b));
            a.cmp(&d).then(b.cmp(&e)).then(c.total_cmp(&f))
        })
    }

    /// Loss of the learner minus that of the comparators; `None` if the latter is unknown.
    pub fn regret(&self) -> Option<f64> {
        self.known.as_ref().map(|known| self.first_order.loss - known.loss)
    }

    /// Sets the description of the comparators and, if known, their loss. Only here are a regret and its bounds
    /// brought together. Fails if they contradict each other, so contradictory numbers are never printed.
    pub(crate) fn facing(self, words: String, known: Option<Known>) -> Result<Self, Contradiction> {
        let report = Self { comparators: words, known, ..self };
        report.check()?;
        Ok(report)
    }

    /// Compares every valid bound with the quantity that it bounds, if that is known.
    pub(crate) fn check(&self) -> Result<(), Contradiction> {
        for Verdict { certificate: c, quantity, .. } in &self.theorems {
            match (quantity, &self.known) {
                (Quantity::Mistakes, _) => c.check(c.loss, 0.0)?,
                (Quantity::After, Some(known)) => c.check(c.loss - known.loss, known.rounding)?,
                _ => {}
            }
        }
        let Some((known, regret)) = self.known.as_ref().zip(self.regret()) else { return Ok(()) };
        let regrets = self.theorems.iter().filter(|verdict| verdict.quantity == Quantity::Regret);
        let mut all = regrets.map(|verdict| &verdict.certificate).chain([&self.first_order]);
        all.try_for_each(|certificate| certificate.check(regret, known.rounding))
    }

    /// The report as JSON. In `theorem`, `name` is the theorem whose numbers are repeated at the top level.
    pub fn json(&self) -> Value {
        let best = self.best();
        let (status, reason) = state(best, false);
        let (first, first_reason) = state(&self.first_order, false);
        let none = json!({"name": null, "status": "none", "reason": self.reason, "bound": null});
        let theorems: Vec<Value> = self.theorems.iter().map(theorem_json).collect();
        let mut all = json!({
            "name": best.theorem,
            "status": status,
            "reason": reason,
            "loss": self.first_order.loss,
            "comparator_loss": self.known.as_ref().map(|known| known.loss),
            "regret": self.regret(),
            "bound": finite(best.bound),
            "comparators": self.comparators,
            "gap": self.known.as_ref().and_then(|known| known.gap.clone()),
            "first_order": {"status": first, "reason": first_reason, "bound": finite(self.first_order.bound)},
            "theorem": self.theorem().map_or(none, theorem_json),
            "theorems": theorems,
        });
        if let Some(Parts { distance, steps, curvature, defect }) = self.parts {
            all["parts"] = json!({"distance": distance, "steps": steps, "curvature": curvature, "defect": defect});
        }
        all
    }

    /// A note for runs in which examples were learned in several rounds; `None` otherwise.
    pub fn rounds_note(&self, examples: u64) -> Option<String> {
        let rounds = self.first_order.rounds;
        (rounds > examples).then(|| {
            format!("{examples} examples made {rounds} rounds: one of weight w > 1 is learned in several")
        })
    }

    /// The report as lines of text.
    pub fn lines(&self) -> Vec<String> {
        let mut lines = vec![self.first_order.to_string()];
        lines.push(format!("against {}", self.comparators));
        if let (Some(known), Some(regret)) = (&self.known, self.regret()) {
            let (loss, regret) = (figure(known.loss), figure(regret));
            lines.push(format!("they lose {loss}: the regret is {regret}"));
            lines.extend(known.gap.clone());
        }
        if self.theorems.is_empty() {
            lines.push(format!("theorem: none; {}", self.reason));
        }
        for verdict in &self.theorems {
            lines.push(words(verdict));
        }
        if let Some(parts) = &self.parts {
            lines.push(format!(
                "of which distance to the start {:.6}, steps {:.6}, curvature {:.6}, not convex {:.6}",
                parts.distance, parts.steps, parts.curvature, parts.defect
            ));
        }
        lines
    }
}

/// An additional condition on the comparators, as text; `None` if there is none.
pub(crate) fn condition(verdict: &Verdict) -> Option<&'static str> {
    let of_odds = verdict.certificate.theorem == SECOND_ORDER && !verdict.declared.is_empty();
    of_odds.then_some("for probabilities between 0.25 % and 99.75 % on these rows")
}

/// Name of the theorem that uses the curvature of the losses.
const SECOND_ORDER: &str = "second-order";

/// A verdict as text.
pub fn words(verdict: &Verdict) -> String {
    let c = &verdict.certificate;
    let mut text = match state(c, verdict.is_silent()) {
        ("valid", _) if c.bound.is_finite() => {
            format!("{}: valid; {} <= {}", c.theorem, verdict.quantity, figure(c.bound))
        }
        ("valid", _) => format!("{}: valid; no finite bound against them", c.theorem),
        ("none", reason) => format!("{}: none; {}", c.theorem, reason.unwrap_or_default()),
        _ => c.to_string(),
    };
    if verdict.epochs > 1 {
        let _ = write!(text, "; in {} epochs", verdict.epochs);
    }
    if let Some(condition) = condition(verdict) {
        let _ = write!(text, "; {condition}");
        return text;
    }
    for declared in &verdict.declared {
        // Writing to a string cannot fail.
        let _ = write!(text, "; you declared {}: {}", declared.premise, declared.value);
    }
    text
}

fn theorem_json(verdict: &Verdict) -> Value {
    let c = &verdict.certificate;
    let (status, reason) = state(c, verdict.is_silent());
    let declared: Vec<Value> =
        verdict.declared.iter().map(|d| json!({"premise": d.premise, "value": d.value})).collect();
    let mut all = json!({"name": c.theorem, "status": status, "reason": reason, "bound": finite(c.bound),
        "bounds": verdict.quantity.to_string(), "declared": declared});
    if verdict.epochs > 1 {
        all["epochs"] = verdict.epochs.into();
    }
    all
}

/// The JSON of a run without certificates.
pub(crate) fn off() -> Value {
    let reason = "certificates are off";
    json!({"name": null, "status": "none", "reason": reason, "loss": null, "comparator_loss": null, "regret": null,
        "bound": null, "first_order": {"status": "none", "reason": reason, "bound": null},
        "theorem": {"name": null, "status": "none", "reason": reason, "bound": null}, "theorems": []})
}

/// Description of the comparators of a learner with `outputs` outputs.
pub(crate) fn described(
    against: &Against<'_>,
    reach: Reach,
    outputs: usize,
    averaged: bool,
) -> String {
    let mut words = match against {
        Against::Given(_) => return "the comparator".to_owned(),
        Against::Reach | Against::Live => reach.sentence(None),
        Against::Within(u) => reach.sentence(Some(*u)),
    };
    if outputs > 1 {
        words.push_str(", for each class by itself");
    }
    if averaged {
        words.push_str(", before averaging");
    }
    words
}

/// The certificate of a learner with several parts. Losses and bounds are added; one void part makes the whole void.
pub(crate) fn add(sum: Option<Certificate>, one: Certificate) -> Certificate {
    let Some(sum) = sum else { return one };
    Certificate {
        status: if sum.status == Status::Valid { one.status } else { sum.status },
        rounds: sum.rounds.max(one.rounds),
        loss: sum.loss + one.loss,
        bound: (sum.bound + one.bound).next_up(),
        theorem: one.theorem,
    }
}
