//! # Factors of positive weights
//! The factor by which a step multiplies a weight, as a logarithm that is added to that of the weight, and the events
//! of the step.
//!
//! **Care** Logarithms of factors are clipped to ±700. A factor of 0 would keep a weight at 0 forever, so it becomes
//! 2⁻⁵² (or its square, if the factor is a square).
//! **Cost** one logarithm per coordinate, [vectorised](crate::real::lanes) near 1, unless the factor is an
//! exponential.
//! **Source** \[AW20, sec. 4 and 5\].

use crate::Real;
use crate::real::lanes::{self, Lanes, NEAR, select};

/// The form of the factor of a weight, given s_i = τ·x_i.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum Factor {
    /// e^s.
    Exponential,
    /// 1 + s; weights stay positive, so a factor ≤ 0 is clipped.
    Linear,
    /// (1 + s)².
    Square,
}

/// Factors of eight weights.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Factors {
    /// The logarithms of the factors.
    pub(crate) log: Lanes,
    /// The factors minus 1, if they are known without an exponential.
    pub(crate) growth: Option<Lanes>,
}

/// The event of a coordinate in a step.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) enum Crossing {
    Inside,
    /// 1 + s < 0.
    Crossed,
    /// The logarithm of the factor was clipped to the representable range.
    Clamped,
}

/// Below this, 1 + s is rounding error: the weight shrinks by this factor but stays positive.
const LEAST_FACTOR: f64 = f64::EPSILON;

/// ln(1 + s); near 0 by the vectorised function, so that the bits are the same.
fn ln_1p(s: f64) -> f64 {
    if s.abs() <= NEAR { lanes::ln_1p(s) } else { Real::ln_1p(s) }
}

impl Factor {
    /// The factors; coordinates that are not inside are counted.
    #[inline(always)]
    pub(crate) fn factors(self, s: Lanes, counts: &mut Counts) -> Factors {
        let far = if self == Self::Exponential { f64::MAX_EXPONENT } else { NEAR };
        let mut near = true;
        for s in s {
            near &= s.abs() <= far;
        }
        if !near {
            let (logarithms, seen) = self.one_by_one(s);
            counts.crossed += seen.crossed;
            counts.clamped += seen.clamped;
            return Factors { log: logarithms, growth: None };
        }
        match self {
            Self::Exponential => Factors { log: s, growth: None },
            Self::Linear => Factors { log: lanes::map(s, lanes::ln_1p), growth: Some(s) },
            Self::Square => Factors {
                log: lanes::map(s, |s| 2.0 * lanes::ln_1p(s)),
                growth: Some(lanes::map(s, |s| s * (2.0 + s))),
            },
        }
    }

    /// The logarithms of the factors one by one, if some factor is not near 1.
    #[cold]
    fn one_by_one(self, s: Lanes) -> (Lanes, Counts) {
        let mut counts = Counts::default();
        let logarithms = s.map(|s| {
            let (logarithm, crossing) = self.logarithm(s);
            counts.add(crossing);
            logarithm
        });
        (logarithms, counts)
    }

    /// The logarithm of the factor.
    #[inline]
    fn logarithm(self, s: f64) -> (f64, Crossing) {
        let (logarithm, crossing) = match self {
            Self::Exponential => (s, Crossing::Inside),
            Self::Linear if 1.0 + s < LEAST_FACTOR => (Real::ln(LEAST_FACTOR), Crossing::Clamped),
            Self::Linear => (ln_1p(s), Crossing::Inside),
            Self::Square => {
                let f = 1.0 + s;
                if f.abs() < LEAST_FACTOR {
                    (2.0 * Real::ln(LEAST_FACTOR), Crossing::Clamped)
                } else if f > 0.0 {
                    (2.0 * ln_1p(s), Crossing::Inside)
                } else {
                    (2.0 * Real::ln(-f), Crossing::Crossed)
                }
            }
        };
        if logarithm.abs() <= f64::MAX_EXPONENT {
            (logarithm, crossing)
        } else {
            (Real::clamp(logarithm, -f64::MAX_EXPONENT, f64::MAX_EXPONENT), Crossing::Clamped)
        }
    }
}

/// Numbers of coordinates that were not multiplied exactly as the formula says.
#[derive(Debug, Clone, Copy, PartialEq, Default)]
pub(crate) struct Counts {
    /// The factor was the absolute value of a negative number.
    pub(crate) crossed: usize,
    /// The factor was clipped.
    pub(crate) clamped: usize,
}

impl Counts {
    pub(crate) fn add(&mut self, crossing: Crossing) {
        match crossing {
            Crossing::Inside => {}
            Crossing::Crossed => self.crossed += 1,
            Crossing::Clamped => self.clamped += 1,
        }
    }
}

/// The result of multiplying weights.
#[derive(Debug, Clone, Copy, PartialEq, Default)]
pub(crate) struct Moved {
    /// D(w‖w'), the relative entropy of the weights before to those after.
    pub(crate) divergence: f64,
    /// [`Counts::crossed`].
    pub(crate) crossed: usize,
    /// [`Counts::clamped`].
    pub(crate) clamped: usize,
}

/// From here on the difference with the exponential is accurate enough.
const SHORT: f64 = 0.05;

/// 1/k! from k = 2 to 8.
const SERIES: [f64; 7] =
    [1.0 / 2.0, 1.0 / 6.0, 1.0 / 24.0, 1.0 / 120.0, 1.0 / 720.0, 1.0 / 5040.0, 1.0 / 40_320.0];

/// w' − w − w·s for w' = w·e^s, without cancellation near s = 0.
#[inline(always)]
pub(crate) fn beyond_linear(w: f64, to: f64, s: f64) -> f64 {
    // w·Σ s^k/k!; the first omitted term is below 1e-14 of the first.
    let [a0, a1, a2, a3, a4, a5, a6] = SERIES;
    let (linear, s2) = (w * s, s * s);
    let sum = (a0 + a1 * s) + ((a2 + a3 * s) + ((a4 + a5 * s) + a6 * s2) * s2) * s2;
    select(s.abs() < SHORT, linear * s * sum, to - w - linear)
}
