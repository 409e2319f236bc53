//! # The first-order certificates of all classes
//! One [`FirstOrder`] for each class (of two: one for their log-odds), with their Γ side by side: a feature has the sums of all classes in one place, so that a row is gone through once and not
//! once for each class.

use geowalk::ConfigError;
use geowalk::certify::{Certificate, Comparator, FirstOrder};
use geowalk::error::Allowed;
use geowalk::geometry::Event;
use geowalk::loss::{Facts, Loss};
use geowalk::row::{Dense, Row};
use geowalk::update::Round;

use crate::learner::{Given, Intercepted};

/// Certificates of all classes, and Γ by feature and class.
#[derive(Debug, Default)]
pub(super) struct Slopes {
    each: Vec<FirstOrder>,
    gamma: Vec<f64>,
}

/// Slopes of a softmax are to the certificate those of a linear loss.
fn facts() -> Facts {
    Given.facts()
}

impl Slopes {
    /// Sees a row, behind whose intercept its features come: the predictions and the slopes of all classes. There may be more of them than before.
    pub(super) fn observe<X: Row<f64>>(&mut self, x: X, z: &[f64], slopes: &[f64]) {
        let whole = Intercepted { row: x, intercept: true };
        self.grow(whole.bound(), slopes.len());
        let length = whole.length();
        for (bound, (&z, &slope)) in self.each.iter_mut().zip(z.iter().zip(slopes)) {
            let loss = slope * z;
            let event = Event::Inside;
            let round = Round { z, loss, slope, rate: 0.0, length: 0.0, event };
            bound.observe_gradient(&round, slope.abs() * length);
        }
        let (intercept, features) = self.gamma.split_at_mut(slopes.len());
        FirstOrder::add_slopes(intercept, slopes, Dense(&[1.0]));
        FirstOrder::add_slopes(features, slopes, x);
    }

    fn grow(&mut self, features: usize, classes: usize) {
        let old = self.each.len();
        if classes > old {
            let rows = self.gamma.chunks_exact(old.max(1));
            let mut gamma = Vec::with_capacity(rows.len() * classes);
            for row in rows {
                gamma.extend_from_slice(row);
                gamma.resize(gamma.len() + classes - old, 0.0);
            }
            self.gamma = gamma;
            self.each.resize_with(classes, || FirstOrder::new(&facts()));
        }
        let wanted = features * self.each.len();
        if wanted > self.gamma.len() {
            self.gamma.resize(wanted, 0.0);
        }
    }

    /// How many certificates there are.
    pub(super) fn len(&self) -> usize {
        self.each.len()
    }

    /// The certificate of a class.
    pub(super) fn certify(&self, class: usize, u: &Comparator<'_>) -> Certificate {
        let gamma = self.gamma.chunks_exact(self.each.len().max(1));
        let gamma: Vec<f64> = gamma.map(|row| row[class]).collect();
        self.each[class].certify_with(&gamma, 0.0, u)
    }

    pub(super) fn save(&self, put: &mut dyn FnMut(String, &[f64])) {
        put("certificates".to_owned(), &[self.each.len() as f64]);
        put("certificate.gamma".to_owned(), &self.gamma);
        for (k, bound) in self.each.iter().enumerate() {
            bound.save(&mut |name, values| put(format!("certificate.{k}.{name}"), values));
        }
    }

    pub(super) fn load(
        &mut self,
        get: &mut dyn FnMut(&str) -> Option<Vec<f64>>,
    ) -> Result<(), ConfigError> {
        let missing = |name, meaning| ConfigError::Missing { name, meaning };
        let count = get("certificates").and_then(|count| count.first().copied());
        let count = count.filter(|&count| Allowed::Closed(0.0, 1e6).contains(count));
        let count = count.ok_or(missing("certificates", "the number of certificates"))?;
        #[allow(clippy::cast_possible_truncation, clippy::cast_sign_loss)] // just checked
        let count = count as usize;
        let gamma = get("certificate.gamma").filter(|gamma| gamma.len() % count.max(1) == 0);
        self.gamma = gamma.ok_or(missing("certificate.gamma", "the slopes of all rows"))?;
        self.each = (0..count).map(|_| FirstOrder::new(&facts())).collect();
        for (k, bound) in self.each.iter_mut().enumerate() {
            bound.load(&mut |name| get(&format!("certificate.{k}.{name}")))?;
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use geowalk::certify::Bound;

    /// The same certificates as those of one class at a time, also where classes and features come later.
    #[test]
    fn certificates_side_by_side_are_those_of_each_class() {
        let mut joint = Slopes::default();
        let mut each: Vec<FirstOrder> = Vec::new();
        for t in 0..40_u32 {
            let features = if t < 10 { 2 } else { 3 };
            let classes = if t < 20 { 2 } else { 3 };
            let x: Vec<f64> = (0..features).map(|j| f64::from((t * 7 + j) % 5) - 1.5).collect();
            let slopes: Vec<f64> = (0..classes).map(|c| 0.1 * f64::from((t + c) % 3)).collect();
            let z: Vec<f64> = slopes.iter().map(|slope| 1.0 - slope).collect();
            joint.observe(Dense(&x), &z, &slopes);
            each.resize_with(classes as usize, || FirstOrder::new(&facts()));
            for (c, bound) in each.iter_mut().enumerate() {
                let (z, slope) = (z[c], slopes[c]);
                let (loss, event) = (slope * z, Event::Inside);
                let round = Round { z, loss, slope, rate: 0.0, length: 0.0, event };
                bound.observe(&round, Intercepted { row: Dense(&x), intercept: true });
            }
        }
        let u = [0.5, -0.25, 1.0, 0.125];
        for (c, bound) in each.iter().enumerate() {
            let (one, all) =
                (bound.certify(&Comparator::Given(&u)), joint.certify(c, &Comparator::Given(&u)));
            assert_eq!((one.rounds, one.bound), (all.rounds, all.bound), "class {c}");
        }
        let mut saved = std::collections::BTreeMap::new();
        joint.save(&mut |name, values| {
            saved.insert(name, values.to_vec());
        });
        let mut again = Slopes::default();
        again.load(&mut |name| saved.get(name).cloned()).unwrap();
        let u = Comparator::Given(&u);
        assert_eq!(again.certify(2, &u), joint.certify(2, &u));
        saved.insert("certificate.gamma".to_owned(), vec![0.0; 4]);
        assert!(again.load(&mut |name| saved.get(name).cloned()).is_err());
    }
}
