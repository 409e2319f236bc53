//! Which members a team has: those that are named, or the usual ones for the task.

use geowalk::ConfigError;
use geowalk::loss::{AnyLoss, Loss};
use geowalk::row::Block;
use geowalk::spec::Spec;
use geowalk_data::{Features, Kind, Schema, Task};

use super::NAME;
use crate::natural;
use crate::walks;

/// The members that a walk named `auto` stands for, with all that was decided from the schema and the first
/// rows; other walks are none. `None` for those.
pub(crate) fn stated(
    walk: &str,
    task: Task,
    loss: &str,
    intercept: bool,
    schema: &Schema,
    block: &Block,
) -> Result<Option<String>, ConfigError> {
    let spec = Spec::parse(walk)?;
    if spec.name() != NAME {
        return Ok(None);
    }
    let loss = AnyLoss::parse(loss)?;
    let (members, share) = read(&spec)?;
    let members = members.unwrap_or_else(|| usual(task, &loss, schema));
    let all = members.iter().map(|member| {
        let (walk, rate) = without_rate(member)?;
        let walk = natural::choose(&walk, schema, block).map_or(walk, |choice| choice.walk);
        let walk = walks::stated(&walk, schema, block, intercept)?;
        let walk = if rate.is_none() { walks::with_normalised_rows(&walk)? } else { walk };
        Ok::<_, ConfigError>(rate.map_or(walk.clone(), |rate| with_argument(&walk, "rate", &rate)))
    });
    let all = all.collect::<Result<Vec<_>, _>>()?.join("; ");
    let share = share.map_or_else(String::new, |share| format!(", share={share}"));
    Ok(Some(format!("{NAME}(members=\"{all}\"{share})")))
}

/// A text with one more argument.
pub(crate) fn with_argument(text: &str, name: &str, value: &str) -> String {
    match text.trim().strip_suffix(')') {
        Some(open) => format!("{open}, {name}={value})"),
        None => format!("{text}({name}={value})"),
    }
}

/// The members that are named, and the constant share.
pub(super) fn read(spec: &Spec) -> Result<(Option<Vec<String>>, Option<f64>), ConfigError> {
    let mut args = spec.args();
    let members = args.text("members").map(|text| {
        let text = text.trim().trim_matches('"');
        text.split(';').map(|one| one.trim().to_owned()).filter(|one| !one.is_empty()).collect()
    });
    let share = args.optional_number("share")?;
    args.finish()?;
    let none = ConfigError::Missing {
        name: "members",
        meaning: "walks with semicolons between them: auto(members=\"free; adagrad\")",
    };
    if members.as_ref().is_some_and(Vec::is_empty) {
        return Err(none);
    }
    Ok((members, share))
}

/// A member without its rate, and the rate if there is one.
pub(super) fn without_rate(member: &str) -> Result<(String, Option<String>), ConfigError> {
    let spec = Spec::parse(member)?;
    let is_rate = |argument: &String| argument.split('=').next().map(str::trim) == Some("rate");
    let arguments = spec.arguments();
    let rate = arguments.iter().find(|a| is_rate(a) && a.contains('='));
    let Some(rate) = rate.and_then(|a| a.split_once('=')).map(|(_, rate)| rate.to_owned()) else {
        return Ok((member.to_owned(), None));
    };
    let rest: Vec<String> = arguments.into_iter().filter(|a| !is_rate(a)).collect();
    let inside = if rest.is_empty() { String::new() } else { format!("({})", rest.join(", ")) };
    Ok((format!("{}{inside}", spec.name()), Some(rate)))
}

/// Is a team what learns where no walk is named?
pub(crate) fn is_usual(task: Task, loss: &AnyLoss) -> bool {
    task == Task::Regression && matches!(loss, AnyLoss::Squared(_))
}

/// The usual team; that for numbers is the same for all data.
pub(super) fn usual(task: Task, loss: &AnyLoss, schema: &Schema) -> Vec<String> {
    let bounded = loss.facts().lipschitz.is_some();
    let logistic = matches!(loss, AnyLoss::Logistic(_));
    let mut members: Vec<&str> = Vec::new();
    if is_usual(task, loss) {
        // Beside normalised rows those as they are: there the constant has less weight among large features.
        members.extend(["adagrad(centre=true)", "gd", "gd(normalise=false)"]);
        members.extend(["implicit:euclidean(normalise=false)", "vaw(most=32, first=true)"]);
    } else if task == Task::Regression && !bounded {
        members.extend(["adagrad", "gd", "gd(normalise=false)"]);
    } else if bounded && logistic {
        members.extend(["free", "adagrad(rate=0.1)", "adagrad"]);
        members.push(if tabular(schema) { "natural" } else { "natural:gaussian-sparse" });
        members.push("explicit:hyperbolic");
    } else if bounded {
        members.extend(["free", "adagrad", "gd", "implicit:euclidean"]);
    } else {
        members.extend(["adagrad", "adagrad(rate=0.1)", "gd"]);
    }
    members.into_iter().map(str::to_owned).collect()
}

/// Does the schema know columns?
fn tabular(schema: &Schema) -> bool {
    let kinds = [Kind::Numeric, Kind::Nominal];
    schema.columns().iter().any(|column| kinds.contains(&column.kind))
        && !matches!(schema.features(), Features::Hashed(_))
}
