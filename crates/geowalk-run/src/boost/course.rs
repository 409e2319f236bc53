//! # The course of a training in a model file
//! What a report tells besides what was learned. The numbers of the rounds are an array, `boost.k.rounds` of the k-th training; why it ended and the like are in the summary; certificates follow from the rounds.

use geowalk::boost::{Ended, Outcome, Round, Surrogate};
use geowalk::certify::{Boosting, Certificate, Contradiction};
use serde_json::Value;

use super::History;
use crate::model::Model;

/// Numbers of a round.
const WIDTH: usize = 14;

const OUTCOMES: [Outcome; 4] = [Outcome::Solved, Outcome::Flat, Outcome::Separable, Outcome::Short];

const ENDS: [Ended; 6] = [
    Ended::Rounds,
    Ended::Bound,
    Ended::Patience,
    Ended::Converged,
    Ended::Separable,
    Ended::Halted,
];

fn write(round: &Round) -> [f64; WIDTH] {
    let outcome = OUTCOMES.iter().position(|outcome| *outcome == round.outcome);
    [
        round.loss as f64,
        round.feature as f64,
        round.edge,
        round.norm,
        round.largest,
        round.weight,
        round.leverage,
        outcome.unwrap_or(OUTCOMES.len()) as f64,
        round.residual,
        round.before,
        round.surrogate,
        round.guaranteed,
        round.slip,
        round.error,
    ]
}

#[allow(clippy::cast_possible_truncation, clippy::cast_sign_loss)] // saturates; a place that is too large is none
fn read(at: usize, numbers: &[f64]) -> Option<Round> {
    let &[
        loss,
        feature,
        edge,
        norm,
        largest,
        weight,
        leverage,
        outcome,
        residual,
        before,
        surrogate,
        guaranteed,
        slip,
        error,
    ] = numbers
    else {
        return None;
    };
    Some(Round {
        round: at + 1,
        loss: loss as usize,
        feature: feature as usize,
        edge,
        norm,
        largest,
        weight,
        leverage,
        outcome: *OUTCOMES.get(outcome as usize)?,
        residual,
        before,
        surrogate,
        guaranteed,
        slip,
        error,
    })
}

/// What the rounds of a training promise: risk, training error, weak learning. An error if one of them is above
/// its bound.
pub(super) fn certificates(
    loss: &Surrogate,
    rounds: &[Round],
) -> Result<Vec<Certificate>, Contradiction> {
    let mut bound = Boosting::new(loss);
    for round in rounds {
        bound.observe(round);
    }
    let all = vec![bound.rate(), bound.training_error(), bound.weak_learning()];
    // The risk is an average over the examples, which a plain sum may have moved by this much.
    all.iter().try_for_each(|certificate| certificate.check(certificate.loss, 1e-9))?;
    Ok(all)
}

/// The arrays of the rounds; none of a training with a number that is not finite, which no array of a model file may have.
pub(super) fn arrays(histories: &[History]) -> impl Iterator<Item = (String, Vec<f64>)> {
    histories.iter().enumerate().filter_map(|(k, own)| {
        let numbers: Vec<f64> = own.rounds.iter().flat_map(write).collect();
        let finite = numbers.iter().all(|number| number.is_finite());
        finite.then(|| (format!("boost.{k}.rounds"), numbers))
    })
}

impl History {
    /// The course of the trainings of a model file, if it has them: files of old do not. `one` is the loss that was boosted, if no name tells it.
    pub fn of(model: &Model, one: Option<&Surrogate>) -> Option<Vec<Self>> {
        let members = model.summary["members"].as_array()?;
        members.iter().enumerate().map(|(k, own)| Self::read(model, one, k, own)).collect()
    }

    fn read(model: &Model, one: Option<&Surrogate>, k: usize, own: &Value) -> Option<Self> {
        let numbers = model.find(&format!("boost.{k}.rounds"))?;
        let rounds = numbers.chunks(WIDTH).enumerate().map(|(at, numbers)| read(at, numbers));
        let rounds: Vec<Round> = rounds.collect::<Option<_>>()?;
        let count = |key: &str| own[key].as_u64().and_then(|count| usize::try_from(count).ok());
        let (loss, ended) = (own["loss"].as_str()?, own["ended"].as_str()?);
        // Files of old do not tell it apart.
        let stepped = own["stepped"].as_str().unwrap_or(loss);
        let stepped_by = match one.filter(|one| one.spec() == stepped) {
            Some(one) => one.clone(),
            None => Surrogate::parse(stepped).ok()?,
        };
        Some(Self {
            class: own["class"].as_str().map(str::to_owned),
            loss: loss.to_owned(),
            stepped: stepped.to_owned(),
            // The training would have ended with an error: rounds that contradict their bounds are not those of
            // a training.
            certificates: certificates(&stepped_by, &rounds).ok()?,
            rounds,
            ended: ENDS.iter().map(|end| end.text()).find(|text| *text == ended)?,
            forgotten: count("forgotten")?,
            ties: count("ties")?,
            capped: count("capped")?,
        })
    }
}
