//! # Labels in their own units
//! $$z = m + s\,\langle\tilde w, x\rangle, \qquad \tilde y = (y - m)/s, \qquad w = s\,\tilde w + m\,e_0$$
//! with m the mean and s the standard deviation of the labels so far, this one included when the walk inside
//! moves. So neither the intercept nor the scale of the labels has to be found by small steps. The weights are
//! those of the labels as they are: predictions stay linear in the row, and the first-order certificate exact.
//!
//! Without an intercept, m = 0 and s is the root mean square. **Start** m = 0: the first label is learned as
//! the mean. **Cost** O(1) beside the walk. **Care** only for losses in which a shift and a change of the unit
//! of prediction and label change nothing but the unit of the loss: squared, absolute, quantile.

use super::Walk;
use crate::error::{Allowed, ConfigError, DomainError};
use crate::learn::gauge::Gauge;
use crate::loss::Loss;
use crate::row::Row;
use crate::update::{Round, Target};
use crate::walk::{self, LARGEST};

/// A walk that learns labels in units of their standard deviation, counted from their mean.
///
/// ```
/// use geowalk::loss::Squared;
/// use geowalk::row::Dense;
/// use geowalk::walk::{Adaptive, Centred, Walk};
///
/// // Coordinate 0 is the intercept.
/// let mut walk = Centred::new(Adaptive::new(), true);
/// walk.step(Dense(&[1.0]), 736_000.0.into(), &Squared, Adaptive::RATE)?;
/// assert_eq!(walk.predict(Dense(&[1.0])), 736_000.0);
/// # Ok::<(), geowalk::DomainError>(())
/// ```
#[derive(Debug, Clone, PartialEq)]
pub struct Centred<W> {
    walk: W,
    intercept: bool,
    labels: Labels,
}

/// What is known of the labels.
#[derive(Debug, Clone, Copy, PartialEq, Default)]
struct Labels {
    weight: f64,
    mean: f64,
    /// Σ a (y − m)².
    squares: f64,
}

impl Labels {
    fn see(&mut self, target: Target, centre: bool) {
        self.weight += target.weight;
        let off = target.y - self.mean;
        if centre {
            self.mean += target.weight / self.weight * off;
        }
        self.squares += target.weight * off * (target.y - self.mean);
    }

    /// s, which is 1 as long as all labels are the same.
    fn scale(&self) -> f64 {
        let scale = (self.squares / self.weight).sqrt();
        if scale >= walk::SMALLEST { scale } else { 1.0 }
    }
}

impl<W> Centred<W> {
    /// `walk`, on rows whose coordinate 0 is a constant 1 if there is an intercept.
    pub fn new(walk: W, intercept: bool) -> Self {
        Self { walk, intercept, labels: Labels::default() }
    }
}

impl<W: Walk> Walk for Centred<W> {
    fn features(&self) -> usize {
        self.walk.features()
    }

    fn grow(&mut self, n: usize) {
        self.walk.grow(n);
    }

    fn predict<X: Row<f64>>(&self, x: X) -> f64 {
        self.labels.mean + self.labels.scale() * self.walk.predict(x)
    }

    fn step<X: Row<f64>, L: Loss + ?Sized>(
        &mut self,
        x: X,
        target: Target,
        loss: &L,
        rate: f64,
    ) -> Result<Round, DomainError> {
        walk::scalar("the label", target.y, Allowed::Closed(-LARGEST, LARGEST))?;
        let mut round = walk::judge(self.predict(x), target, loss, rate)?;
        let before = self.labels;
        if target.weight > 0.0 {
            self.labels.see(target, self.intercept);
        }
        let scale = self.labels.scale();
        let y = (target.y - self.labels.mean) / scale;
        match self.walk.step(x, Target { y, ..target }, loss, rate) {
            Ok(made) => {
                (round.length, round.event) = (scale * made.length, made.event);
                Ok(round)
            }
            Err(error) => {
                self.labels = before;
                Err(error)
            }
        }
    }

    fn read(&self, w: &mut Vec<f64>) {
        self.walk.read(w);
        let scale = self.labels.scale();
        w.iter_mut().for_each(|w| *w *= scale);
        if let (true, Some(first)) = (self.intercept, w.first_mut()) {
            *first += self.labels.mean;
        }
    }

    fn gauge<X: Row<f64>>(&self, x: X) -> Gauge {
        self.walk.gauge(x)
    }

    fn spec(&self) -> String {
        let intercept = if self.intercept { "" } else { ", no intercept" };
        format!("centred({}{intercept})", self.walk.spec())
    }

    fn save_state(&self, put: &mut dyn FnMut(&'static str, &[f64])) {
        self.walk.save_state(put);
        let Labels { weight, mean, squares } = self.labels;
        put("labels", &[weight, mean, squares]);
    }

    fn load_state(
        &mut self,
        get: &mut dyn FnMut(&'static str) -> Option<Vec<f64>>,
    ) -> Result<(), ConfigError> {
        let [weight, mean, squares] = walk::numbers(get, "labels", Allowed::Finite)?;
        self.walk.load_state(get)?;
        self.labels = Labels { weight, mean, squares };
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::laws::Sampler;
    use crate::loss::Squared;
    use crate::row::Dense;
    use crate::walk::Adaptive;

    /// Average squared loss of labels `far` + `unit`·(1 − x), in their unit.
    fn lost<W: Walk>(mut walk: W, far: f64, unit: f64) -> f64 {
        let mut random = Sampler::new(5);
        let mut loss = 0.0;
        for t in 0..500 {
            let x = random.normal();
            let target = Target::from(far + unit * (1.0 - x));
            let round = walk.step(Dense(&[1.0, x]), target, &Squared, Adaptive::RATE).unwrap();
            loss += if t > 0 { round.loss / (unit * unit) } else { 0.0 };
        }
        loss / 500.0
    }

    #[test]
    fn unit_and_offset_of_labels_do_not_matter() {
        let here = lost(Centred::new(Adaptive::new(), true), 0.0, 1.0);
        let far = lost(Centred::new(Adaptive::new(), true), 1e6, 1e3);
        assert!(here < 0.5 && (far - here).abs() < 1e-6, "{here} {far}");
        assert!(lost(Adaptive::new(), 1e6, 1e3) > 1e5);
    }

    #[test]
    fn weights_predict_what_the_walk_predicts() {
        let mut random = Sampler::new(6);
        for intercept in [true, false] {
            let mut walk = Centred::new(Adaptive::new(), intercept);
            let mut w = Vec::new();
            for t in 0..60 {
                let x = [if intercept { 1.0 } else { random.normal() }, random.normal()];
                let target = Target { y: 50.0 + random.normal(), weight: f64::from(t % 3) };
                walk.step(Dense(&x), target, &Squared, 0.5).unwrap();
                walk.read(&mut w);
                // No larger than what was seen: adagrad clips the others.
                let row = [x[0], 0.1 * x[1]];
                let dot = w[0] * row[0] + w[1] * row[1];
                assert!((walk.predict(Dense(&row)) - dot).abs() < 1e-9, "{t}");
            }
            let kept = walk.clone();
            assert!(walk.step(Dense(&[1.0, f64::NAN]), 1.0.into(), &Squared, 0.5).is_err());
            assert!(walk.step(Dense(&[1.0, 1.0]), 1e160.into(), &Squared, 0.5).is_err());
            assert_eq!(walk, kept);
        }
    }
}
