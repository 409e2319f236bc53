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
    /// The rounds in which it said something, and what it lost in them; none in games saved before these were counted.
    pub spoken: Option<(u64, f64)>,
}

impl Named {
    /// What it lost per round in which it said something.
    pub fn mean(&self) -> Option<f64> {
        self.spoken.filter(|(rounds, _)| *rounds > 0).map(|(rounds, loss)| loss / rounds as f64)
    }
}

/// A comparator that was not chosen afterwards, or needs no expert.
#[derive(Debug, Clone, PartialEq)]
pub struct Plain {
    /// The even mixture, or buy and hold.
    pub name: &'static str,
    /// What it lost, all in all.
    pub loss: f64,
    /// The theorem against it, where there is one.
    pub standing: Option<Standing>,
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
    /// The even mixture of those that speak; of prices, even parts that are held, too.
    pub plain: Vec<Plain>,
    /// Of a resumed game: the rounds of this run, and what was lost in them.
    pub day: Option<(u64, f64)>,
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
    ) -> Self {
        let best = experts.best();
        let against_best = experts.against_expert(best);
        let examples = against_best.certificate.rounds;
        let named = columns.experts().iter().enumerate().map(|(i, name)| Named {
            name: name.clone(),
            loss: experts.loss_of(i),
            weight: experts.weights()[i],
            spoken: experts.spoken(i),
        });
        let named: Vec<Named> = named.collect();
        let mean = named.iter().map(|expert| expert.loss).sum::<f64>() / named.len() as f64;
        let mut summary = Self {
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
            plain: Vec::new(),
            day: None,
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
            seconds: 0.0,
        };
        if let Some(loss) = experts.even_loss() {
            let standing = experts.against_even();
            summary.metrics.push(("uniform_mixture_loss", loss / examples as f64));
            summary.plain.push(Plain { name: "uniform mixture", loss, standing });
        }
        summary
    }

    /// How often the best expert was silent, if it was.
    pub(super) fn silence(&self) -> Option<String> {
        let best = &self.experts[self.best];
        let (rounds, _) = best.spoken.filter(|(rounds, _)| *rounds < self.examples)?;
        Some(format!(
            "{} is silent in {} of {} rounds: its total counts there what geowalk lost, its mean is over its {rounds}",
            best.name,
            self.examples - rounds,
            self.examples
        ))
    }

    /// Of a resumed game: what this run did, after so many rounds with such a loss.
    pub(super) fn day(&mut self, (rounds, loss): (u64, f64)) {
        let total = self.against_best.certificate.loss;
        self.day = Some((self.examples - rounds, total - loss));
    }

    /// The same summary, if no regret is above its bounds.
    pub(super) fn checked(self) -> Result<Self, Contradiction> {
        let combined = self.combination.iter().filter_map(|(_, standing)| standing.as_ref());
        let sequence = self.sequence.iter().filter_map(|(_, _, standing)| standing.as_ref());
        let plain = self.plain.iter().filter_map(|plain| plain.standing.as_ref());
        combined
            .chain(sequence)
            .chain(plain)
            .chain([&self.against_best])
            .try_for_each(Standing::check)?;
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
        if let Some(even) = self.plain.first() {
            self.metrics.push(("uniform_mixture_wealth", total(even.loss)));
        }
        self.plain.push(Plain { name: "buy and hold", loss: -Real::ln(hold), standing: None });
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
            .map(|expert| {
                let rounds = expert.spoken.map(|(rounds, _)| rounds);
                let (name, loss, weight) = (&expert.name, expert.loss, expert.weight);
                let mean = expert.mean().filter(|mean| mean.is_finite());
                serde_json::json!({"name": name, "loss": loss, "weight": weight, "rounds": rounds, "mean": mean})
            })
            .collect();
        let (standing, comparator) = self.standing();
        let combination = self.combination.as_ref().map(|(best, standing)| {
            let certificate = standing.as_ref().map(|standing| certificate(standing, "the best convex combination"));
            serde_json::json!({"loss": best.loss, "gap": best.gap, "weights": best.w, "certificate": certificate})
        });
        let best = format!("the best expert, {}", self.experts[self.best].name);
        let plain: Vec<_> = self
            .plain
            .iter()
            .map(|plain| {
                let standing = plain.standing.as_ref().map(|own| certificate(own, plain.name));
                serde_json::json!({"name": plain.name, "loss": plain.loss, "certificate": standing})
            })
            .collect();
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
            "plain": plain,
            "this_run": self.day.map(|(rounds, loss)| serde_json::json!({"rounds": rounds, "loss": loss})),
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
