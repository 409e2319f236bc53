//! # What came out of boosting
//! As JSON, for programs and for the model file: the same from every door.

use geowalk::boost::Round;
use geowalk::certify::{Broken, Certificate, Status};
use serde_json::{Value, json};

use super::{Boosted, History, Plan, support};
use crate::profile::Profile;
use crate::table::Examples;

/// The summary as one JSON object; the errors are those in training and on what was held out.
pub fn summary(
    plan: &Plan,
    examples: &Examples,
    boosted: &Boosted,
    histories: &[History],
    (error, held_out): (f64, Option<f64>),
) -> Value {
    let mut summary = json!({
        "examples": examples.classes.rows(),
        "columns": examples.table.columns().len(),
        "classes": boosted.classes,
        "loss": plan.loss,
        "adapt": plan.adapt.name(),
        "weak": plan.weak.name(),
        "walk": format!("boost:{}", plan.weak.name()),
        "rate": format!("leverage({})", plan.leverage.spec()),
        "table": Profile::new(examples).json(),
        "metrics": { "training_error": error },
        "certificate": histories.first().map(|own| certificate(&own.certificates[0])),
        "members": histories.iter().map(history).collect::<Vec<_>>(),
        "support": support::json(&boosted.supports(&examples.table, &examples.classes).unwrap_or_default()),
    });
    if let Some(held_out) = held_out {
        summary["metrics"]["held_out_error"] = json!(held_out);
    }
    summary
}

fn history(own: &History) -> Value {
    let rounds: Vec<Value> = own.rounds.iter().map(round).collect();
    let certificates: Vec<Value> = own.certificates.iter().map(certificate).collect();
    json!({
        "class": own.class, "loss": own.loss, "stepped": own.stepped, "ended": own.ended, "forgotten": own.forgotten,
        "ties": own.ties, "capped": own.capped, "rounds": rounds, "certificates": certificates,
    })
}

fn certificate(c: &Certificate) -> Value {
    let finite = |x: f64| if x.is_finite() { json!(x) } else { Value::Null };
    let (status, reason) = match &c.status {
        Status::Valid => ("valid", Value::Null),
        Status::Void(broken) if broken.row == 0 => {
            ("void", json!(format!("{} does not hold", broken.premise)))
        }
        Status::Void(Broken { premise, row, .. }) => {
            ("void", json!(format!("{premise} does not hold since round {row}")))
        }
    };
    json!({
        "theorem": c.theorem, "status": status, "reason": reason, "loss": finite(c.loss),
        "comparator_loss": 0.0, "regret": finite(c.loss), "bound": finite(c.bound),
    })
}

fn round(r: &Round) -> Value {
    json!({
        "round": r.round, "edge": r.edge, "leverage": r.leverage, "surrogate": r.surrogate,
        "error": r.error, "guaranteed": r.guaranteed, "decrease": r.before - r.surrogate,
    })
}
