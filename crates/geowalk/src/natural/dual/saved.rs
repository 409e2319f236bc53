//! # Saving and loading
//! All mutable state, as named arrays. A loaded walk continues with the same bits.

use super::{Natural, Part};
use crate::error::{Allowed, ConfigError, DomainError};
use crate::natural::family::Family;
use crate::natural::monitor::Monitor;
use crate::natural::statistic::Statistic;
use crate::walk;

type Get<'a> = &'a mut dyn FnMut(&str) -> Option<Vec<f64>>;

impl Natural {
    /// Passes all mutable state to `put`, as named arrays.
    pub fn save(&self, put: &mut dyn FnMut(&str, &[f64])) {
        put("natural", &[self.features as f64, self.t as f64, self.weight, self.total]);
        put("class-counts", &self.n);
        put("alpha", &self.alpha);
        put("alpha-sums", &self.alpha_sums);
        put("cap", &self.cap.save());
        put("guard", &self.guard.save());
        put("guard-share", &[self.guard.share()]);
        put("monitor", &self.monitor.save());
        put("probe", &self.monitor.residual);
        for (k, part) in self.parts.iter().enumerate() {
            let mut own = |name: &'static str, values: &[f64]| put(&format!("{k}.{name}"), values);
            part.family.save(&mut own);
            part.beta.save(&mut own);
            if let Some(t) = self.monitor.probe.get(k).filter(|_| !self.monitor.residual.is_empty())
            {
                own("probe-index", &t.index.iter().map(|&j| j as f64).collect::<Vec<_>>());
                own("probe-value", &t.value);
                own("probe-total", &[t.total]);
            }
        }
    }

    /// Restores the state written by [`Natural::save`]. On an error the walk is unchanged.
    pub fn load(&mut self, get: Get<'_>) -> Result<(), ConfigError> {
        let mut new = self.clone();
        let top = &mut |name: &'static str| get(name);
        let [features, t, weight, total] = walk::numbers(top, "natural", Allowed::NonNegative)?;
        new.n = walk::array(top, "class-counts", Allowed::NonNegative)?;
        let s = new.n.len();
        new.alpha = walk::array_of(top, "alpha", Allowed::Finite, s)?;
        new.alpha_sums = walk::array_of(top, "alpha-sums", Allowed::Finite, s)?;
        new.cap.load(walk::numbers(top, "cap", Allowed::NonNegative)?);
        let guard = walk::numbers(top, "guard", Allowed::Finite)?;
        let share = top("guard-share").and_then(|share| share.first().copied());
        let share = share.filter(|share| Allowed::Closed(0.0, 1.0).contains(*share));
        new.guard.load(guard, share.unwrap_or(0.0));
        new.monitor = Monitor::load(walk::numbers(top, "monitor", Allowed::Finite)?);
        new.monitor.residual = walk::array(top, "probe", Allowed::Finite)?;
        let allowed = Allowed::Closed(0.0, 4_294_967_296.0);
        if !allowed.contains(features) {
            let what = "the number of features of the saved state";
            return Err(DomainError::Scalar { what, value: features, allowed }.into());
        }
        // Checked above; counts are far below 2^53.
        #[allow(clippy::cast_possible_truncation, clippy::cast_sign_loss)]
        {
            (new.features, new.t) = (features as usize, t as u64);
        }
        (new.weight, new.total) = (weight, total);
        new.layout.grow(new.features);
        let probing = !new.monitor.residual.is_empty();
        for (k, part) in new.parts.iter_mut().enumerate() {
            let own = &mut |name: &'static str| get(&format!("{k}.{name}"));
            part.load(own, new.layout.count(k, new.features), s)?;
            if probing {
                let index = walk::array(own, "probe-index", Allowed::Whole(0))?;
                let value = walk::array(own, "probe-value", Allowed::Finite)?;
                let [total] = walk::numbers(own, "probe-total", Allowed::Finite)?;
                #[allow(clippy::cast_possible_truncation, clippy::cast_sign_loss)] // whole numbers
                let index = index.into_iter().map(|j| j as usize).collect();
                new.monitor.probe.push(Statistic { index, value, total });
            }
        }
        *self = new;
        Ok(())
    }
}

impl Part {
    fn load(
        &mut self,
        get: &mut dyn FnMut(&'static str) -> Option<Vec<f64>>,
        features: usize,
        classes: usize,
    ) -> Result<(), ConfigError> {
        self.family.load(get, features, classes)?;
        self.beta.load(get, self.family.size(), classes)?;
        self.family.settle(&mut self.beta);
        Ok(())
    }
}
