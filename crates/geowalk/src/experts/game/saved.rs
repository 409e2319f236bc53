//! # Experts in the middle of a game
//! Everything that changes, as named arrays, so that a game goes on another day with the same bits. Losses of experts may be infinite (a probability of 0), and so may what is given away here.

use super::{Engine, Experts, Promise, Settings};
use crate::certify::{Broken, Certificate, KNOWN, Premise, Status, entries, flat, sums};
use crate::error::ConfigError;
use crate::sum::Sum;

/// The arrays that a game was saved as.
type Get<'a> = &'a mut dyn FnMut(&str) -> Option<Vec<f64>>;

impl Experts {
    /// Gives away everything that changes, as named arrays.
    pub fn save(&self, put: &mut dyn FnMut(String, &[f64])) {
        put("loss".to_owned(), &self.loss.save());
        put("losses".to_owned(), &flat(&self.sums));
        put("spoken".to_owned(), &flat(&self.spoken));
        put("even".to_owned(), &self.even.save());
        put("past".to_owned(), &self.past);
        self.first.save(&mut |name, values| put(format!("first.{name}"), values));
        let (mut rate, mut budget) = (0.0, -1.0);
        match &self.engine {
            Engine::SelfTuned(own) => own.save(put),
            Engine::Constant { weights, rate: own, promise, budget: most } => {
                (rate, budget) = (*own, most.unwrap_or(-1.0));
                put("weights".to_owned(), weights.read());
                put("weights.logarithms".to_owned(), weights.logarithms());
                promise.save(&mut |name, values| put(name, values));
            }
        }
        put("state".to_owned(), &[self.epochs as f64, self.began as f64, rate, budget]);
        put("void".to_owned(), &self.void.as_ref().map_or_else(Vec::new, broken));
    }

    /// Goes on with n experts from what [`Experts::save`] gave, of the same settings.
    ///
    /// ```
    /// use geowalk::experts::{Experts, Kind, Settings};
    /// let mut experts = Experts::new(2, Settings::new(Kind::Losses))?;
    /// experts.learn(&[0.1, 0.7], f64::NAN).unwrap();
    /// let mut arrays = Vec::new();
    /// experts.save(&mut |name, values| arrays.push((name, values.to_vec())));
    /// let find = |name: &str| arrays.iter().find(|(own, _)| own == name).map(|(_, v)| v.clone());
    /// let again = Experts::load(2, Settings::new(Kind::Losses), &mut |name| find(name))?;
    /// assert_eq!(again.weights(), experts.weights());
    /// # Ok::<(), geowalk::ConfigError>(())
    /// ```
    #[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "counts")]
    pub fn load(n: usize, settings: Settings, get: Get<'_>) -> Result<Self, ConfigError> {
        let missing = || ConfigError::Missing { name: "experts", meaning: "the state of a game" };
        let mut experts = Self::new(n, settings)?;
        let loss = get("loss").and_then(|loss| <[f64; 4]>::try_from(loss).ok());
        experts.loss = Sum::load(loss.ok_or_else(missing)?);
        experts.sums = sums(get("losses"), n)?;
        // Games that were saved before these were counted do not have them.
        if let Some(even) = get("even").and_then(|even| <[f64; 4]>::try_from(even).ok()) {
            experts.even = Sum::load(even);
            experts.spoken = sums(get("spoken"), n)?;
        }
        experts.past = get("past").filter(|past| past.len() == n).ok_or_else(missing)?;
        experts.first.load(&mut |name| get(&format!("first.{name}")))?;
        let state = get("state").and_then(|state| <[f64; 4]>::try_from(state).ok());
        let [epochs, began, own, most] = state.ok_or_else(missing)?;
        (experts.epochs, experts.began) = (epochs as u64, began as u64);
        match &mut experts.engine {
            Engine::SelfTuned(own) => own.load(get)?,
            Engine::Constant { weights, rate, promise, budget } => {
                let of_n = |values: Option<Vec<f64>>| {
                    values.filter(|values| values.len() == n).ok_or_else(missing)
                };
                weights.restore(of_n(get("weights"))?, of_n(get("weights.logarithms"))?);
                (*rate, *budget) = (own, (most >= 0.0).then_some(most));
                **promise = Promise::new(&experts.settings, n, own)?;
                promise.load(get)?;
            }
        }
        let theorem = experts.of_epoch(0).0.theorem;
        experts.void = get("void").and_then(|saved| restored(&saved, theorem));
        experts.refresh();
        Ok(experts)
    }
}

/// The premises of a theorem.
fn premises(theorem: &str) -> &'static [Premise] {
    entries().find(|entry| entry.name == theorem).map_or(&[], |entry| entry.premises)
}

/// A premise that broke, and in which epoch, as numbers; the premise by its place among those of the theorem.
fn broken((certificate, began): &(Certificate, u64)) -> Vec<f64> {
    let Status::Void(broken) = &certificate.status else { return Vec::new() };
    let mut all = premises(certificate.theorem).iter();
    let place = all.position(|premise| premise.text == broken.premise);
    vec![place.map_or(-1.0, |at| at as f64), broken.row as f64, broken.found, *began as f64]
}

/// What [`broken`] made numbers of. What the certificate says besides is never asked for.
#[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "places and counts")]
fn restored(saved: &[f64], theorem: &'static str) -> Option<(Certificate, u64)> {
    let &[place, row, found, began] = saved else { return None };
    let premise = premises(theorem).get(place as usize).filter(|_| place >= 0.0);
    let premise = premise.map_or(KNOWN, |premise| premise.text);
    let status = Status::Void(Broken { premise, row: row as u64, found });
    let (rounds, loss, bound) = (0, f64::NAN, f64::NAN);
    Some((Certificate { theorem, status, rounds, loss, bound }, began as u64))
}
