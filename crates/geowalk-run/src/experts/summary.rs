//! # What came out of a game of experts

use geowalk::Real;
use geowalk::certify::{Certificate, Contradiction, Status};
use geowalk::experts::{Combination, Experts, Standing};

use super::columns::Columns;
use super::course::Point;

/// One expert at the end.
#[derive(Debug, Clone, PartialEq)]
pub struct Named {
    /// Its name.
    pub name: String,
    /// What it lost; in rounds in which it said nothing, what the learner lost.
    pub loss: f64,
    /// Its final weight.
    pub weight: f64,
}

/// The result: the regret is known, so every field of the certificate is filled.
#[derive(Debug)]
pub struct Summary {
    /// Rounds played.
    pub examples: u64,
    /// Average loss.
    pub loss: f64,
    /// What the numbers mean.
    pub loss_name: String,
    /// The rule.
    pub walk: String,
    /// The rate, as it was asked for.
    pub rate: String,
    /// The rate at the end.
    pub final_rate: f64,
    /// Epochs of a doubling scheme.
    pub epochs: u64,
    /// All experts, in the order of the columns.
    pub experts: Vec<Named>,
    /// Which of them lost least.
    pub best: usize,
    /// The theorem against the best expert.
    pub against_best: Standing,
    /// The best convex combination in hindsight, and the theorem against it where the rule has one.
    pub combination: Option<(Combination, Option<Standing>)>,
    /// The best sequence of experts with so many switches: what it lost, and the theorem against it where the rule has one.
    pub sequence: Option<(usize, f64, Option<Standing>)>,
    /// Further figures, by name.
    pub metrics: Vec<(&'static str, f64)>,
    /// How it went, if that was wanted.
    pub course: Option<Vec<Point>>,
    /// Rows left out.
    pub skipped: u64,
    /// What the user should know besides.
    pub notes: Vec<String>,
    /// How long it took.
    pub seconds: f64,
}

impl Summary {
    pub(super) fn new(
        experts: &Experts,
        columns: &Columns,
        combination: Option<Combination>,
        seconds: f64,
    ) -> Self {
        let best = experts.best();
        let against_best = experts.against_expert(best);
        let examples = against_best.certificate.rounds;
        let named = columns.experts().iter().enumerate().map(|(i, name)| Named {
            name: name.clone(),
            loss: experts.loss_of(i),
            weight: experts.weights()[i],
        });
        let named: Vec<Named> = named.collect();
        let mean = named.iter().map(|expert| expert.loss).sum::<f64>() / named.len() as f64;
        Self {
            examples,
            loss: experts.loss() / examples as f64,
            loss_name: String::new(),
            walk: String::new(),
            rate: String::new(),
            final_rate: experts.rate(),
            epochs: experts.epochs(),
            best,
            metrics: vec![
                ("best_expert_loss", named[best].loss / examples as f64),
                ("mean_expert_loss", mean / examples as f64),
            ],
            experts: named,
            against_best,
            combination: combination.map(|best| {
                let standing = experts.against(&best);
                (best, standing)
            }),
            sequence: None,
            course: None,
            skipped: 0,
            notes: Vec::new(),
            seconds,
        }
    }

    /// The same summary, if no regret is above its bounds.
    pub(super) fn checked(self) -> Result<Self, Contradiction> {
        let combined = self.combination.iter().filter_map(|(_, standing)| standing.as_ref());
        let sequence = self.sequence.iter().filter_map(|(_, _, standing)| standing.as_ref());
        combined.chain(sequence).chain([&self.against_best]).try_for_each(Standing::check)?;
        Ok(self)
    }

    /// Adds what 1 has become.
    pub(super) fn portfolio(&mut self) {
        let total = |loss: f64| Real::exp(-loss);
        self.metrics.push(("wealth", total(self.against_best.certificate.loss)));
        self.metrics.push(("best_stock_wealth", total(self.experts[self.best].loss)));
        if let Some((best, _)) = &self.combination {
            self.metrics.push(("best_rebalanced_wealth", total(best.loss)));
        }
        let n = self.experts.len() as f64;
        let hold = self.experts.iter().map(|expert| total(expert.loss)).sum::<f64>() / n;
        self.metrics.push(("buy_and_hold_wealth", hold));
    }

    /// The certificate that counts: against the best combination where there is a theorem for that, else against the best expert.
    pub fn standing(&self) -> (&Standing, String) {
        match &self.combination {
            Some((_, Some(standing))) => (standing, "the best convex combination".to_owned()),
            _ => (&self.against_best, format!("the best expert, {}", self.experts[self.best].name)),
        }
    }

    /// The summary as one JSON object.
    pub fn json(&self) -> serde_json::Value {
        let metrics: serde_json::Map<_, _> = self
            .metrics
            .iter()
            .map(|(name, value)| ((*name).to_owned(), (*value).into()))
            .collect();
        let experts: Vec<_> = self
            .experts
            .iter()
            .map(|expert| serde_json::json!({"name": expert.name, "loss": expert.loss, "weight": expert.weight}))
            .collect();
        let (standing, comparator) = self.standing();
        let combination = self.combination.as_ref().map(|(best, standing)| {
            let certificate = standing.as_ref().map(|standing| certificate(standing, "the best convex combination"));
            serde_json::json!({"loss": best.loss, "gap": best.gap, "weights": best.w, "certificate": certificate})
        });
        let best = format!("the best expert, {}", self.experts[self.best].name);
        serde_json::json!({
            "examples": self.examples,
            "loss": self.loss,
            "metrics": metrics,
            "walk": self.walk,
            "loss_name": self.loss_name,
            "rate": self.rate,
            "final_rate": self.final_rate.is_finite().then_some(self.final_rate),
            "epochs": self.epochs,
            "certificate": certificate(standing, &comparator),
            "best_expert": {"name": self.experts[self.best].name, "certificate": certificate(&self.against_best, &best)},
            "best_combination": combination,
            "best_sequence": self.sequence.as_ref().map(|(switches, loss, standing)| {
                let standing = standing.as_ref().map(|standing| certificate(standing, "the best sequence of experts"));
                serde_json::json!({"switches": switches, "loss": loss, "certificate": standing})
            }),
            "experts": experts,
            "skipped": self.skipped,
            "notes": self.notes,
            "seconds": self.seconds,
        })
    }
}

/// One certificate: the tighter valid one of theorem and first order at the top, both below.
fn certificate(standing: &Standing, comparators: &str) -> serde_json::Value {
    let theorem = &standing.certificate;
    let first = &standing.first_order;
    let (status, reason) = state(theorem);
    let (first_status, first_reason) = state(first);
    let number = |value: f64| value.is_finite().then_some(value);
    let first_is_tighter =
        first_status == "valid" && (status != "valid" || first.bound < theorem.bound);
    let (top, top_status, top_reason) = if first_is_tighter {
        (first, first_status, first_reason)
    } else {
        (theorem, status, reason.clone())
    };
    serde_json::json!({
        "status": top_status,
        "reason": top_reason,
        "loss": theorem.loss,
        "comparator_loss": number(standing.comparator_loss),
        "regret": number(standing.regret),
        "bound": number(top.bound),
        "comparators": comparators,
        "first_order": {"status": first_status, "bound": number(first.bound)},
        "theorem": {"name": theorem.theorem, "status": status, "reason": reason, "bound": number(theorem.bound)},
    })
}

/// Status and reason, in words.
fn state(certificate: &Certificate) -> (&'static str, Option<String>) {
    match &certificate.status {
        Status::Valid => ("valid", None),
        Status::Void(broken) if certificate.theorem == "none" => {
            ("none", Some(broken.premise.to_owned()))
        }
        Status::Void(broken) => ("void", Some(format!("{} (row {})", broken.premise, broken.row))),
    }
}
