//! # The leverage of one feature
//! $$\delta = \arg\min_\delta \sum_i c_i\,\psi(-(u_i + \delta m_i)), \qquad
//!   g(\delta) = \sum_i c_i m_i\, w(u_i + \delta m_i) = 0, \qquad m_i = -y_i h(o_i)$$
//! g does not decrease. Closed forms: the squared loss, $\delta = -\sum cm(1 + u)/\sum cm^2$; the exponential with m ∈ {−s, 0, s},
//! $\delta = \tfrac1{2s}\ln(W_+/W_-)$. Otherwise a bracket found by doubling, and Newton's steps inside of it: without the bracket they diverge on
//! losses of Matsushita's kind, whose curvature falls faster than their slope.
//!
//! **Ends** at $|g| \le 10^{-13}\sum c|m|w$ (a little more for millions of examples). Accepted below 1e-10. Where the root is a whole interval
//! (`gini` and `zeta` saturate) the smallest |δ|. If the feature never errs and the loss has no finite minimiser there is no root: see [`Separable`].
//! **Cost** O(m) per evaluation, 4 to 12 evaluations; one for the closed forms.
//! **Source** \[NN09, eq. (70)\].

use std::ops::Range;

use rayon::prelude::*;

use crate::Real;
use crate::boost::chunks;
use crate::boost::surrogate::{Psi, Surrogate, with_psi};
use crate::error::DomainError;
use crate::walk::solve;

/// What to do with a feature that never errs, where the loss would like an infinite leverage.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Separable {
    /// Take a leverage as large as m examples justify, [`Surrogate::cap`], and go on.
    #[default]
    Cap,
    /// The same, and stop: with that feature alone if it abstains nowhere.
    Stop,
    /// An error.
    Error,
}

impl Separable {
    /// `cap`, `stop` or `error`.
    pub fn parse(text: &str) -> Option<Self> {
        match text {
            "cap" => Some(Self::Cap),
            "stop" => Some(Self::Stop),
            "error" => Some(Self::Error),
            _ => None,
        }
    }
}

/// How a step ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Outcome {
    /// At the minimum along the feature.
    Solved,
    /// The feature is 0 on every example of positive weight: no step.
    Flat,
    /// The feature never errs: the step was capped.
    Separable,
    /// Several features at once, and the iteration ended before its goal; the risk has not grown.
    Short,
}

/// A leverage.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Step {
    /// δ.
    pub delta: f64,
    /// How it ended.
    pub outcome: Outcome,
    /// The scaled residual |g|/Σ c|m|w at δ; not small where the step was capped.
    pub residual: f64,
    /// Passes over the examples.
    pub evaluations: usize,
}

/// A residual above this is not a solution.
pub const ACCEPTED: f64 = 1e-10;

/// The residual at which the search ends, for m examples: what their rounding allows.
fn goal(examples: usize) -> f64 {
    1e-13 + 4.0 * f64::EPSILON * (examples as f64).sqrt()
}

/// g, g′ and Σ c|m|w at δ, all divided by a common factor where the loss is exponential.
#[derive(Debug, Clone, Copy, Default)]
struct Slope {
    g: f64,
    curvature: f64,
    scale: f64,
}

impl Slope {
    fn add(self, other: Self) -> Self {
        Self {
            g: self.g + other.g,
            curvature: self.curvature + other.curvature,
            scale: self.scale + other.scale,
        }
    }
}

fn slope<P: Psi>(psi: &P, u: &[f64], m: &[f64], c: &[f64], delta: f64) -> Slope {
    let shift = if P::SHIFTED {
        let used = m.iter().zip(u).filter(|(m, _)| **m != 0.0);
        used.map(|(&m, &u)| u + delta * m).fold(f64::NEG_INFINITY, Real::max)
    } else {
        0.0
    };
    let part = |rows: Range<usize>| {
        let mut sums = Slope::default();
        for ((&u, &m), &c) in u[rows.clone()].iter().zip(&m[rows.clone()]).zip(&c[rows]) {
            if m == 0.0 {
                continue;
            }
            let (w, bend) = psi.both(u + delta * m - shift);
            let term = c * m * w;
            sums.g += term;
            sums.scale += term.abs();
            sums.curvature += c * m * m * bend;
        }
        sums
    };
    chunks::fold(u.len(), part, Slope::default(), Slope::add)
}

/// The slope of the logistic loss along a feature of ±s and 0: with $e_i = e^{-u_i}$, w = 1/(1 + e^∓δs e_i), one division and no exponential per example.
struct Logistic {
    e: Vec<f64>,
    size: f64,
}

/// Scores and steps up to these neither overflow nor underflow together: e^±680.
const MILD: (f64, f64) = (600.0, 80.0);

impl Logistic {
    /// `None` where it would not be exact, or of no use.
    fn new<P: Psi>(u: &[f64], seen: &Look) -> Option<Self> {
        let mild = || u.iter().all(|u| u.abs() <= MILD.0);
        if !P::LOGISTIC || seen.largest != seen.least || !mild() {
            return None;
        }
        let mut e = vec![0.0; u.len()];
        let work = |(e, u): (&mut [f64], &[f64])| {
            e.iter_mut().zip(u).for_each(|(e, u)| *e = Real::exp(-u));
        };
        if u.len() < chunks::WORTH {
            work((&mut e, u));
        } else {
            e.par_chunks_mut(chunks::ROWS).zip(u.par_chunks(chunks::ROWS)).for_each(work);
        }
        Some(Self { e, size: seen.largest })
    }

    fn slope(&self, m: &[f64], c: &[f64], delta: f64) -> Option<Slope> {
        let far = delta * self.size;
        if far.is_nan() || far.abs() > MILD.1 {
            return None;
        }
        let (up, down) = (Real::exp(-far), Real::exp(far));
        let part = |rows: Range<usize>| {
            let mut sums = Slope::default();
            for ((&e, &m), &c) in self.e[rows.clone()].iter().zip(&m[rows.clone()]).zip(&c[rows]) {
                let e = e * if m > 0.0 { up } else { down };
                let w = 1.0 / (1.0 + e);
                let term = c * m * w;
                sums.g += term;
                sums.scale += term.abs();
                // w(1 − w), and 1 − w = e w.
                sums.curvature += term * m * (e * w);
            }
            sums
        };
        Some(chunks::fold(m.len(), part, Slope::default(), Slope::add))
    }
}

/// What the features look like from afar.
struct Look {
    /// max |m|, over examples of positive weight.
    largest: f64,
    /// min |m| over those that are not 0.
    least: f64,
    negative: bool,
    positive: bool,
}

fn look(m: &[f64], c: &[f64]) -> Look {
    let mut found = Look { largest: 0.0, least: f64::INFINITY, negative: false, positive: false };
    for (&m, &c) in m.iter().zip(c) {
        if m == 0.0 || c == 0.0 {
            continue;
        }
        found.largest = Real::max(found.largest, m.abs());
        found.least = Real::min(found.least, m.abs());
        found.negative |= m < 0.0;
        found.positive |= m > 0.0;
    }
    found
}

/// The leverage of the feature `m` for scores `u` and weights of examples `c`.
///
/// ```
/// use geowalk::boost::{Separable, Surrogate, line};
/// let loss = Surrogate::parse("matsushita")?;
/// let m = [-1.0, -1.0, -1.0, -1.0, -1.0, -1.0, -1.0, -1.0, -1.0, 1.0];
/// let u = [-3.0, -3.0, -3.0, -3.0, -3.0, -3.0, 3.0, 3.0, 3.0, 3.0];
/// let step = line::leverage(&loss, &u, &m, &[1.0; 10], Separable::Cap)?;
/// assert!((step.delta - 3.38761205).abs() < 1e-8 && step.residual < 1e-10);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
pub fn leverage(
    loss: &Surrogate,
    u: &[f64],
    m: &[f64],
    c: &[f64],
    policy: Separable,
) -> Result<Step, DomainError> {
    for (what, length) in [("the feature", m.len()), ("the weights", c.len())] {
        if length != u.len() {
            return Err(DomainError::Dimension { what, found: length, expected: u.len() });
        }
    }
    let seen = look(m, c);
    if !seen.largest.is_finite() {
        return Err(not_finite("a feature", seen.largest));
    }
    if !(seen.negative || seen.positive) {
        return Ok(Step { delta: 0.0, outcome: Outcome::Flat, residual: 0.0, evaluations: 1 });
    }
    if seen.negative && seen.positive || loss.minimizer().is_finite() {
        if loss.is_squared() {
            return squared(u, m, c);
        }
        if loss.is_exponential() && seen.largest == seen.least {
            return exponential(u, m, c, seen.largest);
        }
        return with_psi!(loss, psi => search(&psi, u, m, c, goal(u.len()), &seen));
    }
    match policy {
        Separable::Error => Err(DomainError::Separable { examples: u.len() }),
        Separable::Cap | Separable::Stop => {
            let size = loss.cap(u.len()) / seen.largest;
            let delta = if seen.negative { size } else { -size };
            let end = with_psi!(loss, psi => slope(&psi, u, m, c, delta));
            let residual = ratio(end.g.abs(), end.scale);
            Ok(Step { delta, outcome: Outcome::Separable, residual, evaluations: 2 })
        }
    }
}

fn not_finite(what: &'static str, value: f64) -> DomainError {
    let allowed = crate::error::Allowed::Finite;
    DomainError::Coordinate { what, index: 0, value, allowed }
}

fn ratio(a: f64, b: f64) -> f64 {
    if a == 0.0 { 0.0 } else { a / b }
}

fn squared(u: &[f64], m: &[f64], c: &[f64]) -> Result<Step, DomainError> {
    let (mut product, mut norm) = (0.0, 0.0);
    for ((&u, &m), &c) in u.iter().zip(m).zip(c) {
        product += c * m * (1.0 + u);
        norm += c * m * m;
    }
    let delta = -product / norm;
    if !delta.is_finite() {
        return Err(not_finite("the leverage", delta));
    }
    let end = slope(&crate::boost::surrogate::SquarePsi, u, m, c, delta);
    let residual = ratio(end.g.abs(), end.scale);
    Ok(Step { delta, outcome: Outcome::Solved, residual, evaluations: 2 })
}

fn exponential(u: &[f64], m: &[f64], c: &[f64], size: f64) -> Result<Step, DomainError> {
    let shift = u.iter().copied().fold(f64::NEG_INFINITY, Real::max);
    let part = |rows: Range<usize>| {
        let (mut right, mut wrong) = (0.0, 0.0);
        for ((&u, &m), &c) in u[rows.clone()].iter().zip(&m[rows.clone()]).zip(&c[rows]) {
            if m < 0.0 {
                right += c * Real::exp(u - shift);
            } else if m > 0.0 {
                wrong += c * Real::exp(u - shift);
            }
        }
        (right, wrong)
    };
    let (right, wrong) = chunks::fold(u.len(), part, (0.0, 0.0), |a, b| (a.0 + b.0, a.1 + b.1));
    let delta = 0.5 * (Real::ln(right) - Real::ln(wrong)) / size;
    if delta.is_finite() {
        // After the step both sides weigh the same: √(W₊W₋).
        let mean = (right * wrong).sqrt();
        let grow = Real::exp(delta * size);
        let residual = ratio((right / grow - wrong * grow).abs(), 2.0 * mean);
        return Ok(Step { delta, outcome: Outcome::Solved, residual, evaluations: 1 });
    }
    // One side is below the smallest number: the general search shifts by what matters.
    search(&crate::boost::surrogate::ExpPsi, u, m, c, goal(u.len()), &look(m, c))
}

/// The root of g, which exists.
fn search<P: Psi>(
    psi: &P,
    u: &[f64],
    m: &[f64],
    c: &[f64],
    goal: f64,
    seen: &Look,
) -> Result<Step, DomainError> {
    const WHAT: &str = "the derivative of the surrogate along the feature";
    let mut evaluations = 0;
    let mut last = Slope::default();
    let logistic = Logistic::new::<P>(u, seen);
    // What is within rounding of 0 is 0: that ends the search.
    let mut g = |delta: f64| {
        evaluations += 1;
        let quick = logistic.as_ref().and_then(|own| own.slope(m, c, delta));
        last = quick.unwrap_or_else(|| slope(psi, u, m, c, delta));
        if last.g.abs() <= goal * last.scale {
            (0.0, last.curvature)
        } else {
            (last.g, last.curvature)
        }
    };
    let (start, _) = g(0.0);
    if start == 0.0 {
        return Ok(Step { delta: 0.0, outcome: Outcome::Solved, residual: 0.0, evaluations });
    }
    if start.is_nan() {
        return Err(not_finite("the weights of the examples", start));
    }
    let direction = -start.signum();
    let (mut from, mut to) = (0.0, direction / seen.largest);
    loop {
        let (value, _) = g(to);
        if value.is_nan() {
            return Err(not_finite("the weights of the examples", value));
        }
        if value * direction >= 0.0 {
            break;
        }
        from = to;
        to *= 2.0;
        if !(to * seen.largest).is_finite() {
            let (lo, hi) = (0.0, to);
            return Err(DomainError::NoRoot { what: WHAT, lo, hi, at_lo: start, at_hi: value });
        }
    }
    let mut delta = solve::root(WHAT, from, to, &mut g)?.at;
    let (value, curvature) = g(delta);
    if value == 0.0 && curvature == 0.0 {
        // A flat stretch: its end nearest to 0.
        let (mut outside, mut inside) = (from, delta);
        while solve::steps(outside, inside) > 1 {
            let middle = solve::between(outside, inside);
            if g(middle).0 == 0.0 {
                inside = middle;
            } else {
                outside = middle;
            }
        }
        delta = inside;
        g(delta);
    }
    let residual = ratio(last.g.abs(), last.scale);
    Ok(Step { delta, outcome: Outcome::Solved, residual, evaluations })
}

/// The least risk on the side of `sign`, to about 1e-9 of the possible gain: enough to compare features. The second number is δ.
pub(crate) fn least_risk<P: Psi>(
    psi: &P,
    u: &[f64],
    m: &[f64],
    c: &[f64],
    sign: f64,
    cap: f64,
) -> (f64, f64) {
    let risk = |delta: f64| -> f64 {
        let terms = u.iter().zip(m).zip(c);
        terms.map(|((&u, &m), &c)| c * psi.risk(u + delta * m)).sum()
    };
    let here = slope(psi, u, m, c, 0.0);
    if here.g * sign >= 0.0 || here.g.is_nan() {
        return (risk(0.0), 0.0);
    }
    // Newton's step, kept in a bracket that only shrinks; a feature that never errs ends at the cap.
    let (mut inner, mut outer) = (0.0, sign * cap);
    let mut closed = false;
    let mut delta = (-here.g / here.curvature).abs();
    delta = sign * if delta > 0.0 { Real::min(delta, 0.5 * cap) } else { 0.5 * cap };
    for _ in 0..60 {
        let at = slope(psi, u, m, c, delta);
        if at.g.abs() <= 1e-5 * at.scale {
            break;
        }
        if at.g * sign < 0.0 {
            inner = delta;
        } else {
            outer = delta;
            closed = true;
        }
        let newton = delta - at.g / at.curvature;
        let inside = (newton - inner) * (newton - outer) < 0.0;
        let next = if inside {
            newton
        } else if closed {
            0.5 * (inner + outer)
        } else if delta == outer {
            break;
        } else {
            // Nothing has turned yet: as far as Newton would go, at least twice as far, at most to the cap.
            let far =
                Real::max(2.0 * delta.abs(), if newton.is_finite() { newton.abs() } else { 0.0 });
            sign * Real::min(far, cap)
        };
        if next == delta {
            break;
        }
        delta = next;
    }
    (risk(delta), delta)
}
