//! What each member of a team did, for people and programs.

use serde_json::{Value, json};

/// What became of a member.
#[derive(Debug, Clone, PartialEq)]
pub struct MemberResult {
    /// The walk.
    pub walk: String,
    /// Its rate.
    pub rate: String,
    /// What it lost in all.
    pub loss: f64,
    /// Its weight in the mixture.
    pub weight: f64,
    /// What the team lost less that.
    pub overhead: f64,
    /// No less than the overhead, by the theorem of the mixture.
    pub bound: f64,
    /// The row at which it stopped.
    pub stopped: Option<u64>,
}

impl MemberResult {
    /// As JSON.
    pub fn json(&self) -> Value {
        let Self { walk, rate, loss, weight, overhead, bound, stopped } = self;
        let bound = bound.is_finite().then_some(*bound);
        json!({"walk": walk, "rate": rate, "loss": loss, "weight": weight, "overhead": overhead,
            "overhead_bound": bound, "stopped": stopped})
    }
}

/// A table of the members of a team that has learned from so many rows; no lines without a team.
pub fn lines(members: &[MemberResult], examples: u64) -> Vec<String> {
    if members.is_empty() {
        return Vec::new();
    }
    let row = |(k, member): (usize, &MemberResult)| {
        let MemberResult { walk, loss, weight, overhead, bound, stopped, .. } = member;
        let average = loss / examples.max(1) as f64;
        let bound = if bound.is_finite() { format!("{bound:.1}") } else { "none".to_owned() };
        let stopped = stopped.map_or_else(String::new, |row| format!(" (stopped at row {row})"));
        format!(
            "{:>3} {average:>10.4} {weight:>7.4} {overhead:>11.1} {bound:>9}  {walk}{stopped}",
            k + 1
        )
    };
    let head =
        "    loss/row  weight  team less  at most  member  (team less: total loss of the team";
    let head = [head.to_owned(), format!("{:>49}", "less that of the member)")];
    head.into_iter().chain(members.iter().enumerate().map(row)).collect()
}
