//! # Experts in model files
//! The arrays are those of [`Experts::save`]. An expert may have lost infinitely much (the probability 0 for what happened), and a file has finite numbers alone: array `a` has zeros in such places, and `a.odd` their places and kinds in turn
//! (1 NaN, 2 infinity, 3 its negative).

use geowalk::experts::{Experts, Kind};
use geowalk::loss::AnyLoss;
use geowalk_data::{Features, Index, Labels, Schema, Task};
use serde_json::Value;

use super::{Plan, settings};
use crate::error::RunError;
use crate::model::{Arrays, ExpertSettings, LearnerSettings, Model, Settings};

/// What rows mean, by the loss of a plan: losses if it has none, probabilities if it has odds.
pub fn kind(plan: &Plan) -> Result<Kind, RunError> {
    Ok(match plan.loss.as_deref() {
        None if !plan.odds.is_empty() => Kind::Probabilities,
        None => Kind::Losses,
        Some("log") => Kind::Probabilities,
        Some("portfolio") => Kind::Relatives,
        Some(name) => Kind::Forecasts(AnyLoss::parse(name)?),
    })
}

/// The model file of a game under way; `names` are those of the experts, if they have any.
pub fn model(plan: &Plan, names: &[String], experts: &Experts, summary: Value) -> Model {
    let mut arrays = Arrays::new();
    experts.save(&mut |name, values| {
        let odd = values.iter().enumerate().filter(|(_, value)| !value.is_finite());
        let odd: Vec<f64> = odd.flat_map(|(place, value)| [place as f64, code(*value)]).collect();
        let finite = values.iter().map(|value| if value.is_finite() { *value } else { 0.0 });
        arrays.push((name.clone(), finite.collect()));
        if !odd.is_empty() {
            arrays.push((format!("{name}.odd"), odd));
        }
    });
    let learner = LearnerSettings::Experts(ExpertSettings {
        walk: plan.walk.clone(),
        rate: plan.rate.clone(),
        loss: plan.loss.clone(),
        share: plan.share,
        experts: experts.weights().len(),
        names: names.to_vec(),
        odds: plan.odds.clone(),
        label: plan.label.clone(),
    });
    let loss = plan.loss.as_deref().unwrap_or("given");
    Model {
        settings: Settings {
            intercept: false,
            y_range: plan.range,
            ..Settings::new(learner, loss, Task::Regression)
        },
        schema: Schema::from_parts(
            Features::Index(Index { base: 0, detected: false }),
            Labels::Numbers,
            Vec::new(),
        ),
        classes: Vec::new(),
        examples: experts.rounds(),
        arrays,
        summary,
    }
}

/// The settings of a game.
pub(super) fn of(model: &Model) -> Result<&ExpertSettings, RunError> {
    match &model.settings.learner {
        LearnerSettings::Experts(own) => Ok(own),
        _ => Err(RunError::Apart { kind: model.settings.walk() }),
    }
}

/// What a model file holds.
pub fn load(model: &Model) -> Result<(Plan, Experts), RunError> {
    let own = of(model)?;
    let plan = Plan {
        walk: own.walk.clone(),
        loss: own.loss.clone(),
        rate: own.rate.clone(),
        share: own.share,
        range: model.settings.y_range,
        odds: own.odds.clone(),
        label: own.label.clone(),
        ..Plan::default()
    };
    let settings = settings(&plan, kind(&plan)?)?;
    let experts = Experts::load(own.experts, settings, &mut |name| {
        let mut values = model.find(name)?;
        for pair in model.find(&format!("{name}.odd")).unwrap_or_default().chunks_exact(2) {
            #[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "a place")]
            if let Some(value) = values.get_mut(pair[0] as usize) {
                *value = odd(pair[1]);
            }
        }
        Some(values)
    })?;
    Ok((plan, experts))
}

fn code(value: f64) -> f64 {
    match value {
        f64::INFINITY => 2.0,
        f64::NEG_INFINITY => 3.0,
        _ => 1.0,
    }
}

fn odd(code: f64) -> f64 {
    match code {
        2.0 => f64::INFINITY,
        3.0 => f64::NEG_INFINITY,
        _ => f64::NAN,
    }
}
