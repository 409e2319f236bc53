//! # Free of rates and scales
//! Each coordinate bets a part of its wealth β on the sign of its next gradient. With $V_i = S_i^2 + M_i^2$:
//! $$M_i \leftarrow \max(M_i, |x_i|), \qquad \theta_i = G_i/\sqrt{V_i}, \qquad
//!   w_i = \beta_i\, \mathrm{sign}(\theta_i) \min(|\theta_i|, 1) / (2\sqrt{V_i}),$$
//! $$G_i \leftarrow G_i - g x_i, \qquad S_i^2 \leftarrow S_i^2 + (g x_i)^2, \qquad \beta_i \leftarrow \beta_i - g x_i w_i$$
//! No rate; multiplying a feature by a constant changes no prediction. For losses with |g| ≤ L (L = 1 unless declared).
//!
//! **Promise** Against every u the regret is at most $\sum_i \bigl(\varepsilon + 2|u_i| \hat S_i \max(0, \ln(3|u_i| \hat S_i^3/(\varepsilon x_{\tau_i,i}^2)) - 1)\bigr)$,
//! $\hat S_i = \sqrt{S_i^2 + M_i^2}$, $x_{\tau_i,i}$ the first value that is not 0. The first-order certificate needs no sums of its own:
//! $A = \sum (\varepsilon - \beta_i)$ and $\Gamma = -G$.
//! **Start** w = 0, β = ε. **Cost** O(nnz), a root and two divisions per coordinate of the row. **Care** slopes beyond L are
//! refused: wealth could be lost that is not there. Values below 1e-150 count as 0; values above 1e150 are refused.
//! **Source** \[KKW19, alg. 2\].

use super::Walk;
use crate::error::{self, Allowed, ConfigError, DomainError};
use crate::geometry::Event;
use crate::loss::Loss;
use crate::row::Row;
use crate::sum::Sum;
use crate::update::{Round, Target};
use crate::walk::{self, LARGEST};

/// Betting on each coordinate.
///
/// ```
/// use geowalk::loss::{Facts, Loss};
/// use geowalk::row::Dense;
/// use geowalk::walk::{Free, Walk};
///
/// #[derive(Debug)]
/// struct Absolute;
/// impl Loss for Absolute {
///     fn value(&self, z: f64, y: f64) -> f64 { (z - y).abs() }
///     fn slope(&self, z: f64, y: f64) -> f64 { (z - y).signum() }
///     // ...
/// #   fn spec(&self) -> String { String::new() }
/// #   fn curvature(&self, _: f64, _: f64) -> f64 { 0.0 }
/// #   fn minimizer(&self, y: f64) -> f64 { y }
/// #   fn facts(&self) -> Facts { geowalk::loss::Squared.facts() }
/// }
///
/// let mut walk = Free::new(1.0, 1.0)?;
/// let mut last = 0.0;
/// for _ in 0..200 {
///     last = walk.step(Dense(&[1e9]), 7.0.into(), &Absolute, 0.0)?.loss;
/// }
/// assert!(last < 0.5, "{last}");
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Debug, Clone, PartialEq)]
pub struct Free {
    epsilon: f64,
    lipschitz: f64,
    features: Vec<Feature>,
}

#[derive(Debug, Clone, Copy, PartialEq)]
struct Feature {
    /// M.
    scale: f64,
    /// S².
    squares: f64,
    /// G.
    sum: f64,
    /// β.
    wealth: f64,
    /// The bet that follows from the four, kept so that a prediction needs no root.
    w: f64,
}

impl Feature {
    fn new(wealth: f64) -> Self {
        Self { scale: 0.0, squares: 0.0, sum: 0.0, wealth, w: 0.0 }
    }

    /// The bet at the scale M.
    #[inline]
    fn bet(&self, scale: f64) -> f64 {
        if scale == 0.0 {
            return 0.0;
        }
        let root = (self.squares + scale * scale).sqrt();
        self.wealth * (self.sum / root).clamp(-1.0, 1.0) / (2.0 * root)
    }

    /// The bet on a row where the feature has the value x.
    #[inline]
    fn weight(&self, x: f64) -> f64 {
        if x.abs() > self.scale { self.bet(x.abs()) } else { self.w }
    }
}

impl Free {
    /// Wealth ε of each feature, and the bound L on the slopes (importance weights included).
    pub fn new(epsilon: f64, lipschitz: f64) -> Result<Self, ConfigError> {
        error::parameter("epsilon", epsilon, Allowed::Closed(1e-100, 1e100))?;
        error::parameter("lipschitz", lipschitz, Allowed::Closed(1e-100, 1e100))?;
        Ok(Self { epsilon, lipschitz, features: Vec::new() })
    }

    /// A = Σ g_t z_t of the run so far, from the wealth alone.
    pub fn a(&self) -> f64 {
        let mut sum = Sum::default();
        for feature in &self.features {
            sum.add(self.epsilon);
            sum.add(-feature.wealth);
        }
        self.lipschitz * sum.total()
    }

    /// out ← Γ = Σ g_t x_t of the run so far.
    pub fn gamma(&self, out: &mut Vec<f64>) {
        out.clear();
        out.extend(self.features.iter().map(|feature| -self.lipschitz * feature.sum));
    }
}

impl Walk for Free {
    fn features(&self) -> usize {
        self.features.len()
    }

    fn grow(&mut self, n: usize) {
        if n > self.features.len() {
            self.features.resize(n, Feature::new(self.epsilon));
        }
    }

    fn predict<X: Row<f64>>(&self, x: X) -> f64 {
        let mut z = 0.0;
        x.each(|i, x| {
            if let Some(feature) = self.features.get(i)
                && walk::present(x)
            {
                z += feature.weight(x) * x;
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
        let g = round.slope / self.lipschitz;
        if g.abs() > 1.0 + 1e-12 {
            let allowed = Allowed::Closed(-self.lipschitz, self.lipschitz);
            return Err(DomainError::Scalar {
                what: "the slope of the loss",
                value: round.slope,
                allowed,
            });
        }
        let mut clamped = 0;
        let features = &mut self.features;
        x.each(|i, x| {
            let Some(feature) = features.get_mut(i) else { return };
            if !walk::present(x) {
                return;
            }
            let w = feature.weight(x);
            feature.scale = feature.scale.max(x.abs());
            let gradient = g * x;
            feature.sum -= gradient;
            feature.squares += gradient * gradient;
            feature.wealth -= gradient * w;
            if feature.wealth > LARGEST {
                feature.wealth = LARGEST;
                clamped += 1;
            }
            feature.w = feature.bet(feature.scale);
        });
        if clamped > 0 {
            round.event = Event::Clamped { coordinates: clamped };
        }
        Ok(round)
    }

    fn read(&self, w: &mut Vec<f64>) {
        w.clear();
        w.extend(self.features.iter().map(|feature| feature.w));
    }

    fn gamma(&self, _: Option<f64>, out: &mut Vec<f64>) -> Option<f64> {
        Free::gamma(self, out);
        Some(0.0)
    }

    fn save(&self, put: &mut dyn FnMut(&'static str, &[f64])) {
        let column = |f: fn(&Feature) -> f64| self.features.iter().map(f).collect::<Vec<_>>();
        put("scale", &column(|f| f.scale));
        put("squares", &column(|f| f.squares));
        put("sum", &column(|f| f.sum));
        put("wealth", &column(|f| f.wealth));
    }

    fn load(
        &mut self,
        get: &mut dyn FnMut(&'static str) -> Option<Vec<f64>>,
    ) -> Result<(), ConfigError> {
        let scale = walk::array(get, "scale", Allowed::Closed(0.0, LARGEST))?;
        let n = scale.len();
        let squares = walk::array_of(get, "squares", Allowed::NonNegative, n)?;
        let sum = walk::array_of(get, "sum", Allowed::Finite, n)?;
        let wealth = walk::array_of(get, "wealth", Allowed::Closed(0.0, LARGEST), n)?;
        self.features = scale
            .into_iter()
            .zip(squares)
            .zip(sum)
            .zip(wealth)
            .map(|(((scale, squares), sum), wealth)| {
                let mut feature = Feature { scale, squares, sum, wealth, w: 0.0 };
                feature.w = feature.bet(scale);
                feature
            })
            .collect();
        Ok(())
    }
}
