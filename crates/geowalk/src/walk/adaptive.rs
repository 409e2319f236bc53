//! # A diagonal metric learned from the stream
//! With $s_i = \max_t |x_{t,i}|$, the scale of feature i, and weights $\tilde w_i$ in its unit,
//! $w_i = \tilde w_i/s_i$:
//! $$\tilde x_i = x_i/s_i, \qquad G_i \leftarrow G_i + (g\,\tilde x_i)^2, \qquad
//!   \tilde w_i \leftarrow \tilde w_i - \frac{\eta}{\sqrt{G_i}}\, g\, \tilde x_i$$
//! Normalised AdaGrad. Multiplying a feature by a constant changes only the unit of its weight. When a larger value
//! appears, $\tilde w_i$ stays, and the past squared gradients are converted to the new unit. Weights that were fitted
//! to all rows together keep their raw unit instead.
//! **Start** w = 0. **Cost** O(nnz), a root and two divisions per coordinate of the row.
//! **Care** Values below 1e-150 count as 0; values above 1e150 are errors.
//! **Source** \[DHS11\]; \[RML13, alg. 3\], without its common factor $\sqrt{t/N}$.

use super::Walk;
use crate::error::{Allowed, ConfigError, DomainError};
use crate::loss::Loss;
use crate::row::Row;
use crate::update::{Round, Target};
use crate::walk::{self, LARGEST};

/// AdaGrad, normalised by the scale of each feature.
///
/// ```
/// use geowalk::loss::Squared;
/// use geowalk::row::Dense;
/// use geowalk::walk::{Adaptive, Walk};
///
/// let (mut metres, mut millimetres) = (Adaptive::new(), Adaptive::new());
/// for (x, y) in [(1.0, 2.0), (3.0, 5.0), (-2.0, -4.5)] {
///     let a = metres.step(Dense(&[1.0, x]), f64::into(y), &Squared, Adaptive::RATE)?;
///     let b = millimetres.step(Dense(&[1.0, 1000.0 * x]), f64::into(y), &Squared, Adaptive::RATE)?;
///     assert!((a.z - b.z).abs() < 1e-12);
/// }
/// # Ok::<(), geowalk::DomainError>(())
/// ```
#[derive(Debug, Clone, PartialEq, Default)]
pub struct Adaptive {
    features: Vec<Feature>,
    /// Are predictions linear even for values larger than all seen so far? True for fitted weights, which are valid
    /// there.
    linear: bool,
}

#[derive(Debug, Clone, Copy, PartialEq, Default)]
struct Feature {
    scale: f64,
    squares: f64,
    w: f64,
    /// Σ g_t x_t for the first-order certificate, stored here because a step loads this cache line anyway.
    gamma: f64,
}

impl Feature {
    /// x in units of the scale, or of |x| if |x| is larger.
    #[inline]
    fn relative(&self, x: f64, linear: bool) -> f64 {
        x / if linear { self.scale } else { self.scale.max(x.abs()) }
    }

    /// The weight in the raw unit of the feature.
    fn weight(&self) -> f64 {
        if self.scale > 0.0 { self.w / self.scale } else { 0.0 }
    }
}

impl Adaptive {
    /// The default learning rate.
    pub const RATE: f64 = 0.5;

    /// All weights are 0.
    pub fn new() -> Self {
        Self::default()
    }
}

impl Walk for Adaptive {
    fn features(&self) -> usize {
        self.features.len()
    }

    fn grow(&mut self, n: usize) {
        if n > self.features.len() {
            self.features.resize(n, Feature::default());
        }
    }

    fn predict<X: Row<f64>>(&self, x: X) -> f64 {
        let mut z = 0.0;
        x.each(|i, x| {
            if let Some(feature) = self.features.get(i)
                && walk::present(x)
                && feature.scale > 0.0
            {
                z += feature.w * feature.relative(x, self.linear);
            }
        });
        z
    }

    fn step<X: Row<f64>, L: Loss + ?Sized>(
        &mut self,
        x: X,
        target: Target,
        loss: &L,
        rate: f64,
    ) -> Result<Round, DomainError> {
        self.grow(x.bound());
        walk::in_range(x)?;
        let mut round = walk::judge(self.predict(x), target, loss, rate)?;
        let g = round.slope;
        let mut square = 0.0;
        let Self { features, linear } = self;
        x.each(|i, x| {
            let Some(feature) = features.get_mut(i) else { return };
            if !walk::present(x) {
                return;
            }
            feature.gamma += g * x;
            if x.abs() > feature.scale {
                let unit = feature.scale / x.abs();
                feature.squares *= unit * unit;
                if *linear && feature.scale > 0.0 {
                    feature.w /= unit;
                }
                feature.scale = x.abs();
            }
            let gradient = g * (x / feature.scale);
            feature.squares += gradient * gradient;
            let metric = feature.squares.sqrt();
            if metric > 0.0 {
                feature.w -= rate * gradient / metric;
                square += gradient * gradient / metric;
            }
        });
        round.length = rate * square.sqrt();
        Ok(round)
    }

    fn local(&self, i: usize) -> Option<f64> {
        Some(self.features.get(i).map_or(0.0, Feature::weight))
    }

    fn read(&self, w: &mut Vec<f64>) {
        w.clear();
        w.extend(self.features.iter().map(Feature::weight));
    }

    fn gamma(&self, _: Option<f64>, out: &mut Vec<f64>) -> Option<f64> {
        out.clear();
        out.extend(self.features.iter().map(|feature| feature.gamma));
        Some(0.0)
    }

    fn spec(&self) -> String {
        "explicit:adaptive".to_owned()
    }

    fn save_state(&self, put: &mut dyn FnMut(&'static str, &[f64])) {
        let column = |f: fn(&Feature) -> f64| self.features.iter().map(f).collect::<Vec<_>>();
        put("w", &column(|f| f.w));
        put("scale", &column(|f| f.scale));
        put("squares", &column(|f| f.squares));
        put("gamma", &column(|f| f.gamma));
        if self.linear {
            put("linear", &[1.0]);
        }
    }

    fn load_state(
        &mut self,
        get: &mut dyn FnMut(&'static str) -> Option<Vec<f64>>,
    ) -> Result<(), ConfigError> {
        let w = walk::array(get, "w", Allowed::Finite)?;
        let scale = walk::array_of(get, "scale", Allowed::Closed(0.0, LARGEST), w.len())?;
        let squares = walk::array_of(get, "squares", Allowed::NonNegative, w.len())?;
        let gamma = walk::array_of(get, "gamma", Allowed::Finite, w.len())?;
        self.linear = get("linear").is_some();
        self.features = w
            .into_iter()
            .zip(scale)
            .zip(squares)
            .zip(gamma)
            .map(|(((w, scale), squares), gamma)| Feature { scale, squares, w, gamma })
            .collect();
        Ok(())
    }
}
