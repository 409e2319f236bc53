//! # Remainders of clipping
//! Logarithms of weights that change by exponential factors are dual coordinates: at a constant rate η they have
//! changed by $-\eta\Gamma$, $\Gamma = \sum_t g_t x_t$, so the [first-order certificate](crate::certify::FirstOrder)
//! needs no separate vector. If a factor or a weight was clipped to the representable range, its logarithm changed by
//! less. This module stores the difference, so that Γ is the same as without clipping.
//!
//! **Care** These differences, and the constant that is sometimes subtracted from all logarithms of a partition, are
//! rounded more often than the terms of a plain sum. A bound on the effect on any coordinate is kept, and becomes part
//! of the size that [`Walk::gamma`](crate::walk::Walk::gamma) returns. **Cost** none as long as nothing is clipped.

use std::collections::BTreeMap;

use crate::Real;
use crate::error::{Allowed, ConfigError, DomainError};
use crate::learn::base::{self, LARGEST};

/// The largest stored number.
const FARTHEST: f64 = 1e300;

/// The differences missing from the logarithms, by feature.
#[derive(Debug, Clone, PartialEq, Default)]
pub(crate) struct ClipRemainder {
    missing: BTreeMap<usize, f64>,
    /// Upper bound on the effect of all roundings beyond those of a plain sum, on any logarithm.
    blur: f64,
}

impl ClipRemainder {
    /// Records that a logarithm should have changed by `wanted` but went from `from` to `to`.
    pub(crate) fn add(&mut self, i: usize, wanted: f64, from: f64, to: f64) {
        let missing = self.missing.entry(i).or_default();
        // An exponent may overflow, but stored numbers go into files and must be finite. The blur is then as large, so
        // the bound is useless but valid.
        *missing = Real::clamp(*missing + (wanted - (to - from)), -FARTHEST, FARTHEST);
        // Three roundings, of numbers no larger than this.
        let size = wanted.abs() + from.abs() + to.abs() + missing.abs();
        self.blur(size);
    }

    /// Records at most three roundings of numbers up to `size`.
    pub(crate) fn blur(&mut self, size: f64) {
        self.blur = Real::min(self.blur + 2.0 * f64::EPSILON * size, FARTHEST);
    }

    /// out ← Γ, from logarithms that started at `start`; see [`Walk::gamma`](crate::walk::Walk::gamma).
    pub(crate) fn gamma(
        &self,
        logarithms: impl Iterator<Item = f64>,
        start: f64,
        rate: Option<f64>,
        out: &mut Vec<f64>,
    ) -> Option<f64> {
        // At a rate so small that products with it underflow, Γ would be lost.
        let rate = rate.filter(|&rate| Allowed::Closed(1e-100, LARGEST).contains(rate))?;
        out.clear();
        out.extend(logarithms.map(|logarithm| (start - logarithm) / rate));
        for (&i, missing) in &self.missing {
            if let Some(gamma) = out.get_mut(i) {
                *gamma -= missing / rate;
            }
        }
        // A term of size b is allowed an error of at least 4ε·b.
        Some((start.abs() + self.blur / (4.0 * f64::EPSILON)) / rate)
    }

    pub(crate) fn save(&self, put: &mut dyn FnMut(&'static str, &[f64])) {
        put("cut.places", &self.missing.keys().map(|&i| i as f64).collect::<Vec<_>>());
        put("cut", &self.missing.values().copied().collect::<Vec<_>>());
        put("cut.blur", &[self.blur]);
    }

    pub(crate) fn load(
        get: &mut dyn FnMut(&'static str) -> Option<Vec<f64>>,
    ) -> Result<Self, ConfigError> {
        if ["cut.places", "cut", "cut.blur"].into_iter().all(|name| get(name).is_none()) {
            // This run did not record its clipping: its weights are valid, but Γ has no useful error bound.
            return Ok(Self { missing: BTreeMap::new(), blur: FARTHEST });
        }
        let places = base::array(get, "cut.places", Allowed::Whole(0))?;
        let missing = base::array_of(get, "cut", Allowed::Finite, places.len())?;
        let [blur] = base::numbers(get, "cut.blur", Allowed::NonNegative)?;
        #[allow(clippy::cast_possible_truncation, clippy::cast_sign_loss)] // whole numbers
        let missing: BTreeMap<_, _> =
            places.iter().map(|&place| place as usize).zip(missing).collect();
        if missing.len() == places.len() {
            Ok(Self { missing, blur })
        } else {
            let (found, expected) = (missing.len(), places.len());
            Err(DomainError::Dimension { what: "cut.places", found, expected }.into())
        }
    }
}

#[cfg(test)]
mod tests {
    use crate::geometry::Event;
    use crate::laws::Sampler;
    use crate::loss::{Absolute, Logistic, Squared};
    use crate::row::{Dense, Norm};
    use crate::sum::Sum;
    use crate::walk::{Entropy, SimplexEntropy, Walk};

    /// The largest error of Γ, its allowed error, and the events of a run on rows of this size.
    fn run<W: Walk>(
        mut walk: W,
        rate: f64,
        rounds: u64,
        scale: f64,
        wild: bool,
    ) -> (f64, f64, u64) {
        let mut sampler = Sampler::new(3);
        let (mut exact, mut magnitude, mut cuts) = ([Sum::default(); 5], 0.0, 0);
        for t in 0..rounds {
            let x = [1e-3, 1.0, 1.0, 0.1, 3.0].map(|own| own * scale * sampler.normal());
            let round = if wild {
                walk.step(Dense(&x), (100.0 * sampler.normal()).into(), &Squared, rate)
            } else {
                walk.step(Dense(&x), sampler.sign().into(), &Logistic, rate)
            };
            let round = round.unwrap();
            cuts += u64::from(round.event != Event::Inside);
            for (sum, x) in exact.iter_mut().zip(x) {
                sum.add(round.slope * x);
            }
            magnitude += round.slope.abs() * Norm::L2.of(&x);
            // The saved state must be complete.
            if t % 50 == 7 {
                let mut saved = Vec::new();
                walk.save(&mut |name, values| saved.push((name, values.to_vec())));
                walk.load(&mut |name| {
                    saved.iter().find(|own| own.0 == name).map(|own| own.1.clone())
                })
                .unwrap();
            }
        }
        let mut gamma = Vec::new();
        let size = walk.gamma(Some(rate), &mut gamma).unwrap();
        let off = gamma.iter().zip(&exact).map(|(own, exact)| (own - exact.total()).abs());
        let allowed = (rounds as f64 + 4.0) * f64::EPSILON * (magnitude + size);
        (off.fold(0.0, f64::max), allowed, cuts)
    }

    #[test]
    fn logarithms_hold_the_sum_of_gradients() {
        for rate in [1e-3, 0.5] {
            for (off, allowed, cuts) in [
                run(Entropy::new(1e-4).unwrap(), rate, 20_000, 1.0, false),
                run(SimplexEntropy::new(), rate, 20_000, 1.0, false),
            ] {
                assert!(off <= allowed, "{rate}: {off:e} > {allowed:e}");
                assert!(allowed < 1e-3, "{allowed:e}");
                assert_eq!(cuts, 0);
            }
        }
    }

    #[test]
    fn cuts_are_made_good() {
        for (scale, rate) in [(10.0, 1.0), (1e3, 10.0)] {
            let (off, allowed, cuts) = run(SimplexEntropy::new(), rate, 300, scale, true);
            assert!(off <= allowed, "{off:e} > {allowed:e}");
            assert!(cuts > 20, "{cuts}");
        }
        // The weights reach the largest representable value, and further rows push them beyond it.
        let mut walk = Entropy::new(1.0).unwrap();
        let mut sum = Sum::default();
        for t in 0..50 {
            let x = [if t < 30 { 40.0 } else { -3.0 }];
            // No prediction reaches the label, so the slope is −1 and the weight grows for x > 0.
            let round = walk.step(Dense(&x), 1e200.into(), &Absolute, 1.0).unwrap();
            sum.add(round.slope * x[0]);
        }
        let mut gamma = Vec::new();
        let size = walk.gamma(Some(1.0), &mut gamma).unwrap();
        assert!((gamma[0] - sum.total()).abs() <= 54.0 * f64::EPSILON * (1200.0 + size));
        let mut plain = Vec::new();
        walk.logarithms(&mut plain);
        assert!(
            (gamma[0] + plain[0]).abs() > 100.0,
            "the cut was not reached: {gamma:?} {plain:?}"
        );
        // A state without clipping records has valid weights, but no error bound.
        let mut saved = Vec::new();
        walk.save(&mut |name, values| saved.push((name, values.to_vec())));
        let mut again = Entropy::new(1.0).unwrap();
        let known = |name| saved.iter().find(|own| own.0 == name && name == "log_w");
        again.load_state(&mut |name| known(name).map(|own| own.1.clone())).unwrap();
        assert_eq!(again.predict(Dense(&[0.5])), walk.predict(Dense(&[0.5])));
        assert!(again.gamma(Some(1.0), &mut gamma).unwrap() > 1e300);
        // Overflowing exponents leave no error bound either, but the saved numbers are finite.
        let mut walk = SimplexEntropy::new();
        for y in [1e140, -1e140, 1e140] {
            walk.step(Dense(&[1e60, -1e60]), y.into(), &Squared, 1e150).unwrap();
        }
        walk.save(&mut |name, values| assert!(values.iter().all(|x| x.is_finite()), "{name}"));
        assert!(walk.gamma(Some(1e150), &mut gamma).unwrap() > 1e150);
        assert!(gamma.iter().all(|gamma| gamma.is_finite()));
        assert_eq!(SimplexEntropy::prod().gamma(Some(0.1), &mut gamma), None);
        assert_eq!(Entropy::new(1.0).unwrap().gamma(None, &mut gamma), None);
    }
}
