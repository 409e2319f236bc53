//! # Rates
//! | text | η_t |
//! |---|---|
//! | `0.5` | 0.5 |
//! | `inv(c, t0)` | c / (1 + t/t0) |
//! | `power(c, t0, p)` | c / (1 + t/t0)^p |
//! | `auto` | self-tuned from the rows seen |
//! | `certified` | the rate that the theorem of the walk prescribes ([`theorem`](crate::theorem)) |
//!
//! `certified` is constant if the user declares all limits of the data that it depends on. Otherwise it is constant in
//! each of several epochs ([`doubling`](crate::doubling)).
//!
//! **The self-tuned rate**
//! $$\eta_t = \min\Bigl( \frac{S/P}{\sqrt{\max(\hat g^2 P^2, \sum_{s \le t} g_s^2 \Vert x_s\Vert_\star^2)}},\;
//!   \frac{S}{\hat g\, \Vert x_t\Vert_\star^2},\; \frac{1}{2 |g_t|\, s_t} \Bigr)$$
//! Here $g_s$ are the slopes, importance weights included. $\Vert x_s\Vert_\star$ is the size of a row in the geometry
//! of the walk ([`Gauge`]), and $P$ is the root mean square of these sizes. $\hat g$ is the bound of the slopes or,
//! without one, $\max|g_s|$. S is the range of predictions that the loss requires.
//! * The first term is AdaGrad's with one rate for all coordinates. If D is known, its regret against weights within D
//!   of the start is within a constant factor of $D \sqrt{\sum g^2 \Vert x\Vert_\star^2}$ \[SM10\]. D = S/P is chosen
//!   so that rows of typical size get predictions up to S. If the norm depends on the weights, P is the size of the
//!   present row, but at least a hundredth of the mean.
//! * The second term keeps every prediction from moving by more than S, or beyond the best prediction for its example.
//!   For the squared loss this makes each step part of a projection. So weights may grow but cannot explode, for any
//!   scale of the features.
//! * The third term uses the stretch s of the walk. On positive weights, spheres and hyperbolic space, it limits steps
//!   to regions where the metric is nearly constant.
//! * S is $\hat g/\beta$ with β = sup ℓ″ of the loss, or with the largest ℓ″ seen if sup ℓ″ is unknown. For losses
//!   with bounded slopes, S is at least the largest label (1 for ±1). For walks that do not start at 0 (those with a
//!   stretch), S is at least the present prediction.
//!
//! Rescaling all features, or the labels under the squared loss, rescales the weights of walks that start at 0 and
//! changes nothing else. The first-order certificate is valid for any rates. Walks without a rate (`free`, `adagrad`)
//! ignore `auto`.
//!
//! **Cost** O(nnz): one more prediction and the size of the row.

use geowalk::error::Allowed;
use geowalk::loss::{Facts, Loss};
use geowalk::spec::{self, Spec};
use geowalk::update::Target;
use geowalk::walk::Gauge;
use geowalk::{ConfigError, Real};

use crate::doubling::{Doubling, Pace};

/// How the rate of a step is chosen.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum Rate {
    /// Self-tuned from the rows seen.
    Auto,
    /// The rate prescribed by the theorem of the walk. Building the learner replaces it by a constant or a doubling
    /// scheme.
    Certified,
    /// The rate prescribed by the theorem for the data seen, constant in each epoch.
    Doubling(Doubling),
    /// A constant rate.
    Constant(f64),
    /// c / (1 + t/t0)^p.
    Power {
        /// c.
        c: f64,
        /// t0.
        t0: f64,
        /// p.
        p: f64,
    },
}

impl Rate {
    /// Parses `auto`, `certified`, a number, `inv(c, t0)` or `power(c, t0, p)`.
    pub fn parse(text: &str) -> Result<Self, ConfigError> {
        if let Ok(rate) = text.trim().parse() {
            return positive("rate", rate).map(Self::Constant);
        }
        let spec = Spec::parse(text)?;
        let mut args = spec.args();
        let rate = match spec.name() {
            "auto" => Self::Auto,
            "certified" => Self::Certified,
            "inv" => Self::Power {
                c: positive("c", args.number("c", 1.0)?)?,
                t0: positive("t0", args.number("t0", 1.0)?)?,
                p: 1.0,
            },
            "power" => Self::Power {
                c: positive("c", args.number("c", 1.0)?)?,
                t0: positive("t0", args.number("t0", 1.0)?)?,
                p: positive("p", args.number("p", 0.5)?)?,
            },
            name => {
                return Err(spec::unknown(
                    "rate",
                    name,
                    ["auto", "certified", "inv", "power", "a number"],
                ));
            }
        };
        args.finish()?;
        Ok(rate)
    }
}

impl std::fmt::Display for Rate {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            Self::Auto => write!(f, "auto"),
            Self::Certified => write!(f, "certified"),
            Self::Doubling(_) => write!(f, "doubling"),
            Self::Constant(rate) if (1e-5..1e16).contains(rate) => write!(f, "{rate}"),
            Self::Constant(rate) => write!(f, "{rate:e}"),
            Self::Power { c, t0, p: 1.0 } => write!(f, "inv({c}, {t0})"),
            Self::Power { c, t0, p } => write!(f, "power({c}, {t0}, {p})"),
        }
    }
}

fn positive(name: &'static str, value: f64) -> Result<f64, ConfigError> {
    let allowed = Allowed::Positive;
    if allowed.contains(value) {
        Ok(value)
    } else {
        Err(ConfigError::OutOfRange { name, value, allowed })
    }
}

/// Smallest squared size of a row, relative to the mean. Where weights shrink to 0, the size of rows does too.
const FLOOR: f64 = 1e-4;

/// The largest self-tuned rate.
const LARGEST: f64 = 1e100;

/// An example before the step, as the self-tuned rate sees it.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Look {
    /// |g|, importance included.
    pub slope: f64,
    /// ℓ″ at the prediction, importance not included.
    pub curvature: f64,
    /// Absolute value of the label.
    pub label: f64,
    /// Absolute value of the prediction.
    pub prediction: f64,
    /// The importance weight.
    pub weight: f64,
    /// Size of the row in the geometry of the walk.
    pub gauge: Gauge,
}

impl Look {
    /// The sample at an example with prediction z.
    pub fn at<L: Loss>(z: f64, target: Target, loss: &L, gauge: Gauge) -> Self {
        Self {
            slope: (target.weight * loss.slope(z, target.y)).abs(),
            curvature: loss.curvature(z, target.y),
            label: target.y.abs(),
            prediction: z.abs(),
            weight: target.weight,
            gauge,
        }
    }

    /// The sample at an example of several classes, with labels ±1 and one walk per class. `slope` and `prediction`
    /// are the largest over the classes.
    pub fn largest(
        slope: f64,
        prediction: f64,
        weight: f64,
        gauges: impl Iterator<Item = Gauge>,
    ) -> Self {
        let larger = |a: Gauge, b: Gauge| Gauge {
            square: Real::max(a.square, b.square),
            stretch: Real::max(a.stretch, b.stretch),
            local: a.local || b.local,
        };
        let gauge = gauges.fold(Gauge { square: 0.0, stretch: 0.0, local: false }, larger);
        let (slope, curvature) = (weight * slope, f64::NAN);
        Self { slope, curvature, label: 1.0, prediction, weight, gauge }
    }
}

/// A rate together with the statistics of the run that it depends on.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Schedule {
    rate: Rate,
    /// sup ℓ″.
    smooth: Option<f64>,
    /// Whether the slopes of the loss are bounded.
    bounded: bool,
    t: u64,
    last: f64,
    /// Sum of the importance weights.
    weight: f64,
    /// Σa‖x‖⋆².
    squares: f64,
    /// Σg²‖x‖⋆².
    gradients: f64,
    /// The bound of |g| if there is one, but at least the largest seen.
    slope: f64,
    /// max |y|.
    label: f64,
    /// max ℓ″.
    curvature: f64,
    /// The state of a doubling scheme.
    pace: Option<Pace>,
}

impl Schedule {
    /// A schedule before the first example, for a loss with these properties.
    pub fn new(rate: Rate, facts: &Facts) -> Self {
        Self {
            rate,
            smooth: facts.smooth.filter(|smooth| *smooth > 0.0),
            bounded: facts.lipschitz.is_some(),
            t: 0,
            last: 0.0,
            weight: 0.0,
            squares: 0.0,
            gradients: 0.0,
            slope: facts.lipschitz.unwrap_or(0.0),
            label: 0.0,
            curvature: 0.0,
            pace: match rate {
                Rate::Doubling(scheme) => Some(Pace::new(scheme)),
                _ => None,
            },
        }
    }

    /// The doubling scheme, if there is one.
    #[inline]
    pub(crate) fn pace(&mut self) -> Option<&mut Pace> {
        self.pace.as_mut()
    }

    /// Whether the rate is self-tuned. Only then does it look at examples.
    #[inline]
    pub fn is_tuned(&self) -> bool {
        self.rate == Rate::Auto
    }

    /// The rate of the next step.
    #[inline]
    pub fn next(&mut self, look: impl FnOnce() -> Look) -> f64 {
        let rate = match self.rate {
            Rate::Constant(rate) => rate,
            Rate::Power { c, t0, p } => {
                let base = 1.0 + self.t as f64 / t0;
                c / if p == 1.0 { base } else { Real::powf(base, p) }
            }
            Rate::Doubling(_) => self.pace.map_or(f64::NAN, |pace| pace.rate),
            Rate::Auto | Rate::Certified => self.tune(&look()),
        };
        self.t += 1;
        self.last = rate;
        rate
    }

    /// The self-tuned rate for this example.
    fn tune(&mut self, look: &Look) -> f64 {
        let Gauge { square, stretch, local } = look.gauge;
        if square == 0.0 || look.slope == 0.0 {
            // This step does not move the weights.
            return self.last;
        }
        self.weight += look.weight;
        self.squares += look.weight * square;
        self.gradients += look.slope * look.slope * square;
        self.slope = Real::max(self.slope, look.slope / look.weight);
        self.label = Real::max(self.label, look.label);
        if self.smooth.is_none() && !self.bounded {
            self.curvature = Real::max(self.curvature, look.curvature);
        }
        let flat = if self.curvature > 0.0 { self.curvature } else { 1.0 };
        let mut range = self.slope / self.smooth.unwrap_or(flat);
        if self.bounded {
            range = Real::max(range, self.label);
        }
        if stretch > 0.0 {
            range = Real::max(range, look.prediction);
        }
        let mean = self.squares / self.weight;
        let size = if local { Real::max(look.weight * square, FLOOR * mean) } else { mean };
        let usual =
            range / (size * Real::max(self.gradients, self.slope * self.slope * size)).sqrt();
        let whole = range / (self.slope * look.weight * square);
        let near = if stretch > 0.0 { 0.5 / (look.slope * stretch) } else { f64::INFINITY };
        Real::min(Real::min(usual, Real::min(whole, near)), LARGEST)
    }

    /// The rate of the last step.
    pub fn last(&self) -> f64 {
        self.last
    }

    /// All mutable state except that of a doubling scheme, for the model file.
    pub fn save(&self) -> [f64; 8] {
        let Self { t, last, weight, squares, gradients, slope, label, curvature, .. } = *self;
        [t as f64, last, weight, squares, gradients, slope, label, curvature]
    }

    /// The state of the doubling scheme, if there is one.
    pub(crate) fn save_pace(&self) -> Option<[f64; 5]> {
        self.pace.map(|pace| pace.save())
    }

    /// Restores the state written by [`Schedule::save_pace`].
    pub(crate) fn load_pace(self, saved: [f64; 5]) -> Self {
        Self { pace: self.pace.map(|pace| pace.load(saved)), ..self }
    }

    /// Restores the state written by [`Schedule::save`].
    #[must_use]
    #[allow(clippy::cast_possible_truncation, clippy::cast_sign_loss)] // a count below 2^53
    pub fn load(self, saved: [f64; 8]) -> Self {
        let [t, last, weight, squares, gradients, slope, label, curvature] = saved;
        let t = t as u64;
        Self { t, last, weight, squares, gradients, slope, label, curvature, ..self }
    }
}

#[cfg(test)]
mod tests {
    use geowalk::loss::{Absolute, Logistic, Squared};
    use geowalk::row::Dense;
    use geowalk::walk::{Euclidean, Walk};

    use super::*;

    #[test]
    fn rates_are_read_and_written() {
        for text in ["auto", "certified", "0.5", "1e200", "inv(2, 10)", "power(1, 1, 0.5)"] {
            assert_eq!(Rate::parse(text).unwrap().to_string(), text);
        }
        assert_eq!(
            Rate::parse("-1").unwrap_err().to_string(),
            "rate = -1; it must be a finite number > 0"
        );
        assert!(Rate::parse("nan").is_err());
        assert!(Rate::parse("certain").unwrap_err().to_string().contains("unknown rate 'certain'"));
    }

    /// Gradient descent on a stream with features scaled by `unit` and labels by `size`. Returns predictions in units
    /// of the labels.
    fn run<L: Loss>(loss: &L, unit: f64, size: f64) -> Vec<f64> {
        let mut walk = Euclidean::new();
        let mut schedule = Schedule::new(Rate::Auto, &loss.facts());
        (0..300_u32)
            .map(|t| {
                let a = f64::from(t % 7) - 3.0;
                let x = [unit, unit * a, unit * f64::from(t * t % 11) * 5.0];
                let sign = if a > 0.0 { size } else { -size };
                let target = Target { y: sign, weight: 1.0 };
                let look = Look::at(walk.predict(Dense(&x)), target, loss, walk.gauge(Dense(&x)));
                let rate = schedule.next(|| look);
                walk.step(Dense(&x), target, loss, rate).unwrap().z / size
            })
            .collect()
    }

    #[test]
    fn units_do_not_matter() {
        let close = |a: &[f64], b: &[f64]| {
            a.iter().zip(b).all(|(a, b)| (a - b).abs() <= 1e-9 * (1.0 + a.abs()))
        };
        assert!(close(&run(&Squared, 1.0, 1.0), &run(&Squared, 1e4, 1e-3)));
        assert!(close(&run(&Absolute, 1.0, 1.0), &run(&Absolute, 1e-4, 1e3)));
        assert!(close(&run(&Logistic, 1.0, 1.0), &run(&Logistic, 1e6, 1.0)));
    }

    #[test]
    fn the_first_step_goes_to_the_label_and_no_step_beyond() {
        let mut schedule = Schedule::new(Rate::Auto, &Squared.facts());
        let look = |z: f64, y: f64, x: f64| {
            Look::at(z, y.into(), &Squared, Gauge { square: x * x, stretch: 0.0, local: false })
        };
        // z' = z − ηg‖x‖² with g = 2(z − y).
        assert_eq!(schedule.next(|| look(0.0, 3.0, 2.0)), 1.0 / 8.0);
        // A row a thousand times as long.
        let rate = schedule.next(|| look(5.0, 3.0, 2000.0));
        assert!(rate <= 0.5 / 4e6, "{rate}");
        assert_eq!(schedule.last(), rate);
        assert_eq!(Schedule::new(Rate::Auto, &Squared.facts()).load(schedule.save()), schedule);
    }
}
