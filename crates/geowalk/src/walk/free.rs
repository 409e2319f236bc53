//! # A walk without learning rate and scales
//! Each coordinate bets a part of its wealth β on the sign of its next gradient. With $V_i = S_i^2 + M_i^2$:
//! $$M_i \leftarrow \max(M_i, |x_i|), \qquad \theta_i = G_i/\sqrt{V_i}, \qquad
//!   \omega_i = \beta_i\, \mathrm{sign}(\theta_i) \min(|\theta_i|, 1) / (2\sqrt{V_i}), \qquad w = c\,\omega,$$
//! $$G_i \leftarrow G_i - g x_i, \qquad S_i^2 \leftarrow S_i^2 + (g x_i)^2, \qquad
//!   \beta_i \leftarrow \beta_i - g x_i \omega_i$$
//! It has no rate. Multiplying a feature by a constant changes no prediction. Losses must have |g| ≤ L (default L =
//! 1).
//!
//! **The common wealth** For given slopes, every quantity of a coordinate is proportional to its initial wealth ε. So
//! β starts at 1, and one common number c takes the place of ε. c is a positive weight of the feature
//! $s = \langle\omega, x\rangle$, and makes the geodesic step of the positive half-line, with the rate of AdaGrad:
//! $$c \leftarrow c\, e^{-\kappa\, g z / \sqrt{Q}}, \qquad Q \leftarrow Q + (gz)^2, \qquad
//!   c = \varepsilon,\; Q = 1 \text{ at the start.}$$
//! With κ = 0, c stays at ε, and this is the algorithm of the source. A fixed small ε is slow on streams with short
//! rows and strong features, and a fixed large ε overshoots on long rows. With κ > 0 both kinds work: c reaches a
//! suitable value within a few hundred examples.
//!
//! **Promise** For every u and every c > 0, with $A = \sum_t g_t z_t$ and $\sum_t g_t s_t = \sum_i (1 - \beta_i)$,
//! both known at the end, the regret is at most
//! $$A - c\sum_i(1-\beta_i) +
//!   \sum_i \bigl(c + 2|u_i| \hat S_i \max(0, \ln(3|u_i| \hat S_i^3/(c\, x_{\tau_i,i}^2)) - 1)\bigr),$$
//! with $\hat S_i = \sqrt{S_i^2 + M_i^2}$ and $x_{\tau_i,i}$ the first nonzero value. The first two terms are the cost
//! of not knowing c; they vanish for κ = 0 and c = ε. The first-order certificate needs no separate vector:
//! $\Gamma = -G$.
//! **Start** w = 0, β = 1, c = ε. **Cost** O(nnz), a root and two divisions per coordinate of the row, one exponential
//! per example. **Care** Slopes beyond L are errors, because a coordinate could lose more than its wealth. Values
//! below 1e-150 count as 0; values above 1e150 are errors.
//! **Source** \[KKW19, alg. 2\]; the step of c: \[KMWW07, ex. 7\], \[DHS11\].

use super::Walk;
use crate::error::{self, Allowed, ConfigError, DomainError};
use crate::geometry::Event;
use crate::loss::Loss;
use crate::real::Real;
use crate::row::Row;
use crate::sum::Sum;
use crate::update::{Round, Target};
use crate::walk::{self, LARGEST};

/// A walk that bets on each coordinate.
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
/// let mut walk = Free::new(1.0, 0.5, 1.0)?;
/// let mut last = 0.0;
/// for _ in 0..200 {
///     last = walk.step(Dense(&[1e9]), 7.0.into(), &Absolute, 0.0)?.loss;
/// }
/// assert!(last < 0.5, "{last}");
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Debug, Clone, PartialEq)]
pub struct Free {
    lipschitz: f64,
    /// κ.
    step: f64,
    /// c.
    common: f64,
    /// Q.
    squares: f64,
    /// g z of the last step, and the values of c and Q before it.
    last: [f64; 3],
    /// A, in units of L.
    a: Sum,
    /// Σ g s, in units of L.
    bets: Sum,
    features: Vec<Feature>,
    /// |x| of each feature at its first nonzero value. Stored separately because it is rarely needed.
    first: Vec<f64>,
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
    /// The bet ω computed from the four, cached so that a prediction needs no root.
    bet: f64,
}

/// Limits of the common wealth.
const LEAST: f64 = 1e-100;
const MOST: f64 = 1e100;

impl Feature {
    const NEW: Self = Self { scale: 0.0, squares: 0.0, sum: 0.0, wealth: 1.0, bet: 0.0 };

    /// The bet for the scale `scale`.
    #[inline]
    fn at(&self, scale: f64) -> f64 {
        if scale == 0.0 {
            return 0.0;
        }
        let root = (self.squares + scale * scale).sqrt();
        self.wealth * (self.sum / root).clamp(-1.0, 1.0) / (2.0 * root)
    }

    /// The bet on a row in which the feature has the value x.
    #[inline]
    fn on(&self, x: f64) -> f64 {
        if x.abs() > self.scale { self.at(x.abs()) } else { self.bet }
    }
}

impl Free {
    /// The default initial wealth ε, for a common wealth that adapts.
    pub const WEALTH: f64 = 0.125;

    /// The default step κ of the common wealth.
    pub const STEP: f64 = 0.5;

    /// The walk with initial wealth ε, step κ of the common wealth (0: it stays at ε), and bound L on the slopes,
    /// including importance weights.
    pub fn new(epsilon: f64, step: f64, lipschitz: f64) -> Result<Self, ConfigError> {
        error::parameter("epsilon", epsilon, Allowed::Closed(LEAST, MOST))?;
        error::parameter("step", step, Allowed::Closed(0.0, 10.0))?;
        error::parameter("lipschitz", lipschitz, Allowed::Closed(1e-100, 1e100))?;
        Ok(Self {
            lipschitz,
            step,
            common: epsilon,
            squares: 1.0,
            last: [0.0, epsilon, 1.0],
            a: Sum::default(),
            bets: Sum::default(),
            features: Vec::new(),
            first: Vec::new(),
        })
    }

    /// A = Σ g_t z_t of the run so far.
    pub fn a(&self) -> f64 {
        self.lipschitz * self.a.total()
    }

    /// ⟨ω, x⟩.
    fn bets<X: Row<f64>>(&self, x: X) -> f64 {
        let mut s = 0.0;
        x.each(|i, x| {
            if let Some(feature) = self.features.get(i)
                && walk::present(x)
            {
                s += feature.on(x) * x;
            }
        });
        s
    }

    /// The bound in the header of this file, against all u with |u_i| ≤ size(i), minimised over c and rounded up. NaN
    /// if a size is NaN.
    pub fn promise(&self, size: &dyn Fn(usize) -> f64) -> f64 {
        let (mut terms, mut seen, mut magnitude) = (Vec::new(), 0.0, 0.0);
        for (i, (feature, first)) in self.features.iter().zip(&self.first).enumerate() {
            let u = size(i);
            if u.is_nan() {
                return f64::NAN;
            }
            if *first == 0.0 {
                continue;
            }
            seen += 1.0;
            let root = (feature.squares + feature.scale * feature.scale).sqrt();
            let (a, r) = (2.0 * u * root, root / first);
            if a > 0.0 {
                terms.push((a, Real::ln(3.0 * u * root) + 2.0 * Real::ln(r) - 1.0));
                magnitude += a;
            }
        }
        // Convex in c; the first part is linear.
        let linear = seen - self.bets.total();
        let at = |c: f64| {
            let ln = Real::ln(c);
            let mut sum = Sum::default();
            sum.add(self.a.upper());
            sum.add(c * linear);
            sum.add(c * (self.bets.error() + 2.0 * f64::EPSILON * self.bets.magnitude()));
            let own = f64::EPSILON * self.a.magnitude();
            sum.add(own);
            for (a, b) in &terms {
                if *b > ln {
                    sum.add(a * (b - ln));
                }
            }
            // Each term was rounded about a dozen times, and the logarithms may be large.
            let slack = 64.0 * f64::EPSILON * (sum.magnitude() + magnitude * (8.0 + ln.abs()));
            sum.upper() + slack
        };
        // The derivative is 0 at c = Σa/(n − Σgs), summed over the terms present at c. A few iterations approach it;
        // the bound is valid for any c.
        let mut c = self.common;
        for _ in 0..8 {
            let ln = Real::ln(c);
            let there: f64 = terms.iter().filter(|(_, b)| *b > ln).map(|(a, _)| a).sum();
            let next = there / linear;
            if !(LEAST..=MOST).contains(&next) {
                break;
            }
            c = next;
        }
        let best = Real::min(at(c), at(self.common));
        (self.lipschitz * best).next_up()
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
            self.features.resize(n, Feature::NEW);
            self.first.resize(n, 0.0);
        }
    }

    fn predict<X: Row<f64>>(&self, x: X) -> f64 {
        self.common * self.bets(x)
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
        let Self { features, first, .. } = self;
        x.each(|i, x| {
            let Some(feature) = features.get_mut(i) else { return };
            if !walk::present(x) {
                return;
            }
            if feature.scale == 0.0
                && let Some(first) = first.get_mut(i)
            {
                *first = x.abs();
            }
            let bet = feature.on(x);
            feature.scale = feature.scale.max(x.abs());
            let gradient = g * x;
            feature.sum -= gradient;
            feature.squares += gradient * gradient;
            feature.wealth -= gradient * bet;
            if feature.wealth > LARGEST {
                feature.wealth = LARGEST;
                clamped += 1;
            }
            feature.bet = feature.at(feature.scale);
        });
        let gradient = g * round.z;
        self.a.add(gradient);
        self.bets.add(gradient / self.common);
        self.last = [gradient, self.common, self.squares];
        self.follow(gradient);
        if clamped > 0 {
            round.event = Event::Clamped { coordinates: clamped };
        }
        Ok(round)
    }

    fn pull(&self) -> f64 {
        self.last[0]
    }

    fn follow(&mut self, pull: f64) {
        let [_, common, squares] = self.last;
        self.squares = squares + pull * pull;
        let step = Real::exp(-self.step * pull / self.squares.sqrt());
        self.common = (common * step).clamp(LEAST, MOST);
    }

    /// The classes of one softmax share a common wealth.
    fn share(&mut self, other: &Self) {
        (self.common, self.squares) = (other.common, other.squares);
    }

    fn common(&self) -> f64 {
        self.common
    }

    fn local(&self, i: usize) -> Option<f64> {
        Some(self.features.get(i).map_or(0.0, |feature| feature.bet))
    }

    fn read(&self, w: &mut Vec<f64>) {
        w.clear();
        w.extend(self.features.iter().map(|feature| self.common * feature.bet));
    }

    fn bets(&self, size: &dyn Fn(usize) -> f64) -> Option<f64> {
        Some(self.promise(size))
    }

    fn gamma(&self, _: Option<f64>, out: &mut Vec<f64>) -> Option<f64> {
        Free::gamma(self, out);
        Some(0.0)
    }

    fn spec(&self) -> String {
        format!("free:euclidean(lipschitz={}, step={})", self.lipschitz, self.step)
    }

    fn save_state(&self, put: &mut dyn FnMut(&'static str, &[f64])) {
        let column = |f: fn(&Feature) -> f64| self.features.iter().map(f).collect::<Vec<_>>();
        put("scale", &column(|f| f.scale));
        put("squares", &column(|f| f.squares));
        put("sum", &column(|f| f.sum));
        put("wealth", &column(|f| f.wealth));
        put("common", &[self.common, self.squares]);
        put("last", &self.last);
        put("a", &self.a.save());
        put("bets", &self.bets.save());
        put("first", &self.first);
    }

    fn load_state(
        &mut self,
        get: &mut dyn FnMut(&'static str) -> Option<Vec<f64>>,
    ) -> Result<(), ConfigError> {
        let scale = walk::array(get, "scale", Allowed::Closed(0.0, LARGEST))?;
        let n = scale.len();
        let squares = walk::array_of(get, "squares", Allowed::NonNegative, n)?;
        let sum = walk::array_of(get, "sum", Allowed::Finite, n)?;
        let wealth = walk::array_of(get, "wealth", Allowed::Closed(0.0, LARGEST), n)?;
        let [common, steps] = walk::numbers(get, "common", Allowed::Positive)?;
        let last = walk::numbers(get, "last", Allowed::Finite)?;
        let a = walk::numbers(get, "a", Allowed::Finite)?;
        let bets = walk::numbers(get, "bets", Allowed::Finite)?;
        let first = walk::array_of(get, "first", Allowed::Closed(0.0, LARGEST), n)?;
        self.common = common;
        self.squares = steps;
        self.last = last;
        self.a = Sum::load(a);
        self.bets = Sum::load(bets);
        self.first = first;
        self.features = scale
            .into_iter()
            .zip(squares)
            .zip(sum)
            .zip(wealth)
            .map(|(((scale, squares), sum), wealth)| {
                let mut feature = Feature { scale, squares, sum, wealth, bet: 0.0 };
                feature.bet = feature.at(scale);
                feature
            })
            .collect();
        Ok(())
    }
}
