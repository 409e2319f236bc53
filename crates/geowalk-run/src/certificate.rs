//! # What is said of a run
//! The first-order certificate and the theorems of the walk, against the same comparators: as JSON, and in words.

use std::fmt::Write as _;

use geowalk::certify::{Certificate, Contradiction, Quantity, Status, Verdict};
use serde_json::{Value, json};

use crate::learner::Reach;

/// Against which weights a certificate is asked for.
#[derive(Debug, Clone, Copy)]
pub enum Against<'a> {
    /// All no farther from the start than the present ones.
    Reach,
    /// The same for a run that goes on: theorems that look at every weight, and are never below the first-order certificate, are passed over.
    Live,
    /// All within this distance, in the sense of the walk's [reach](Reach); for boxes so many times the present weights.
    Within(f64),
    /// These, one vector for each output, the intercept first if there is one.
    Given(&'a [Vec<f64>]),
}

/// What a comparator, or the best of a set, lost on the rows.
#[derive(Debug, Clone, PartialEq)]
pub struct Known {
    /// What it lost.
    pub loss: f64,
    /// By how much that may be too small because its predictions were rounded.
    pub rounding: f64,
    /// How far from the best it may be, if that was sought; `None` for a comparator that was given.
    pub gap: Option<String>,
}

/// All that is said of a run against some comparators.
#[derive(Debug, Clone, PartialEq)]
pub struct Report {
    /// Measured, for every convex loss.
    pub first_order: Certificate,
    /// What is promised for the walk.
    pub theorems: Vec<Verdict>,
    /// Why there is no theorem, if there is none.
    pub reason: &'static str,
    /// Against which weights.
    pub comparators: String,
    /// What they lost, where that is known.
    pub known: Option<Known>,
}

/// Status and reason, in words.
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
    /// The tightest bound on the regret that is valid; the first-order certificate if none is.
    pub fn best(&self) -> &Certificate {
        let theorems = self.theorems.iter().filter(|verdict| verdict.quantity == Quantity::Regret);
        let all = theorems.map(|verdict| &verdict.certificate).chain([&self.first_order]);
        let valid = all.filter(|certificate| certificate.status == Status::Valid);
        valid.min_by(|a, b| a.bound.total_cmp(&b.bound)).unwrap_or(&self.first_order)
    }

    /// The theorem that is told of first: the tightest valid bound on the regret; else a valid one on something else; else the first.
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

    /// Loss of the learner less that of the comparators.
    pub fn regret(&self) -> Option<f64> {
        self.known.as_ref().map(|known| self.first_order.loss - known.loss)
    }

    /// The same against comparators in these words, with what they lost, if that is known. The one place where
    /// a regret and its bounds meet: an error if they contradict each other, so that two such numbers are never
    /// printed.
    pub(crate) fn facing(self, words: String, known: Option<Known>) -> Result<Self, Contradiction> {
        let report = Self { comparators: words, known, ..self };
        report.check()?;
        Ok(report)
    }

    /// Compares every valid bound with what it bounds, where that is known.
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

    /// As JSON. `theorem` is an object; `name` says whose numbers the top level has.
    pub fn json(&self) -> Value {
        let best = self.best();
        let (status, reason) = state(best, false);
        let (first, first_reason) = state(&self.first_order, false);
        let none = json!({"name": null, "status": "none", "reason": self.reason, "bound": null});
        let theorems: Vec<Value> = self.theorems.iter().map(theorem_json).collect();
        json!({
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
        })
    }

    /// What to add where the number of rounds is not that of the examples.
    pub fn rounds_note(&self, examples: u64) -> Option<String> {
        let rounds = self.first_order.rounds;
        (rounds > examples).then(|| {
            format!("{examples} examples made {rounds} rounds: one of weight w > 1 is learned in several")
        })
    }

    /// In words, a line each.
    pub fn lines(&self) -> Vec<String> {
        let mut lines = vec![self.first_order.to_string()];
        lines.push(format!("against {}", self.comparators));
        if let (Some(known), Some(regret)) = (&self.known, self.regret()) {
            lines.push(format!("they lose {:.6}: the regret is {regret:.6}", known.loss));
            lines.extend(known.gap.clone());
        }
        if self.theorems.is_empty() {
            lines.push(format!("theorem: none; {}", self.reason));
        }
        for verdict in &self.theorems {
            lines.push(words(verdict));
        }
        lines
    }
}

/// What a bound asks of comparators besides, in words.
pub(crate) fn condition(verdict: &Verdict) -> Option<&'static str> {
    let of_odds = verdict.certificate.theorem == SECOND_ORDER && !verdict.declared.is_empty();
    of_odds.then_some("for probabilities between 0.25 % and 99.75 % on these rows")
}

/// The name of the theorem that knows how losses curve.
const SECOND_ORDER: &str = "second-order";

/// A verdict in words.
pub fn words(verdict: &Verdict) -> String {
    let c = &verdict.certificate;
    let mut text = match state(c, verdict.is_silent()) {
        ("valid", _) if c.bound.is_finite() => {
            format!("{}: valid; {} <= {:.6}", c.theorem, verdict.quantity, c.bound)
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

/// The words for comparators of a learner with so many outputs.
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

/// Certificates of several parts of one learner: losses and bounds add up, one broken premise breaks all.
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
