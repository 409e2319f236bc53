//! # The leverage of one feature
//! $$\delta = \arg\min_\delta \sum_i c_i\,\psi(-(u_i + \delta m_i)), \qquad
//!   g(\delta) = \sum_i c_i m_i\, w(u_i + \delta m_i) = 0, \qquad m_i = -y_i h(o_i)$$
//! g does not decrease. Closed forms: the squared loss, $\delta = -\sum cm(1 + u)/\sum cm^2$; the exponential with m ∈ {−s, 0, s},
//! $\delta = \tfrac1{2s}\ln(W_+/W_-)$. Otherwise a bracket found by doubling, and Newton's steps inside of it: without the bracket they diverge on
//! losses of Matsushita's kind, whose curvature falls faster than their slope. The first end of the bracket is where Newton's step leads, if that is not too far.
//!
//! **Ends** at $|g| \le 10^{-13}\sum c|m|w$ (a little more for millions of examples). Accepted below 1e-10. Where the root is a whole interval
//! (`gini` and `zeta` saturate) the smallest |δ|. If the feature never errs and the loss has no finite minimiser there is no root: see [`Separable`].
//! **Cost** O(m) per evaluation, 4 to 12 evaluations; one for the closed forms. A booster knows e^−u of the logistic loss, which saves the exponentials.
//! **Source** \[NN09, eq. (70)\].

use std::borrow::Cow;
use std::ops::Range;

use rayon::prelude::*;

use crate::Real;
use crate::boost::chunks;
use crate::boost::surrogate::{EntropyPsi, Psi, Surrogate, with_psi};
use crate::error::DomainError;
use crate::learn::solve;
use crate::real::lanes;

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

/// A value of a feature: a number, or a sign in one byte.
pub(crate) trait Move: Copy + Into<f64> + Send + Sync {
    /// At most [`NEAR`] values as numbers.
    fn numbers<'a>(values: &'a [Self], room: &'a mut [f64; NEAR]) -> &'a [f64];
}

/// Values that are turned into numbers at a time: they stay in the nearest cache.
pub(crate) const NEAR: usize = 512;

impl Move for f64 {
    #[inline(always)]
    fn numbers<'a>(values: &'a [Self], _: &'a mut [f64; NEAR]) -> &'a [f64] {
        values
    }
}

impl Move for i8 {
    #[inline(always)]
    fn numbers<'a>(values: &'a [Self], room: &'a mut [f64; NEAR]) -> &'a [f64] {
        for (number, value) in room.iter_mut().zip(values) {
            *number = f64::from(*value);
        }
        &room[..values.len()]
    }
}

/// g, g′ and Σ c|m|w at δ, all divided by a common factor where the loss is exponential.
#[derive(Debug, Clone, Copy, Default)]
pub(crate) struct Slope {
    pub(crate) g: f64,
    pub(crate) curvature: f64,
    pub(crate) scale: f64,
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

fn slope<P: Psi, M: Move>(psi: &P, u: &[f64], m: &[M], c: &[f64], delta: f64) -> Slope {
    let shift = if P::SHIFTED {
        let used = m.iter().map(|m| (*m).into()).zip(u).filter(|(m, _)| *m != 0.0);
        used.map(|(m, &u)| u + delta * m).fold(f64::NEG_INFINITY, Real::max)
    } else {
        0.0
    };
    let part = |rows: Range<usize>| {
        let mut sums = Slope::default();
        for ((&u, &m), &c) in u[rows.clone()].iter().zip(&m[rows.clone()]).zip(&c[rows]) {
            let m = m.into();
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

/// What a booster knows beforehand of the logistic loss.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Known<'a> {
    /// e^−u of every example.
    pub(crate) e: &'a [f64],
    /// Is the weight of every example 1?
    pub(crate) ones: bool,
}

/// The slope of the logistic loss along a feature of ±s and 0: with $e_i = e^{-u_i}$, w = 1/(1 + e^∓δs e_i), one division and no exponential per example.
struct Logistic<'a> {
    e: Cow<'a, [f64]>,
    ones: bool,
    size: f64,
}

/// Scores and steps up to these neither overflow nor underflow together: e^±680.
pub(crate) const MILD: (f64, f64) = (600.0, 80.0);

/// Sums that are kept apart, so that several examples are done at once; the same for any number of threads.
const LANES: usize = 4;

impl<'a> Logistic<'a> {
    /// `None` where it would not be exact, or of no use.
    fn new<P: Psi>(u: &[f64], seen: &Look, known: Option<Known<'a>>) -> Option<Self> {
        if !P::LOGISTIC || seen.largest != seen.least {
            return None;
        }
        if let Some(known) = known {
            return Some(Self { e: Cow::Borrowed(known.e), ones: known.ones, size: seen.largest });
        }
        if !u.iter().all(|u| u.abs() <= MILD.0) {
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
        Some(Self { e: Cow::Owned(e), ones: false, size: seen.largest })
    }

    fn slope<M: Move>(&self, m: &[M], c: &[f64], delta: f64) -> Option<Slope> {
        let far = delta * self.size;
        if far.is_nan() || far.abs() > MILD.1 {
            return None;
        }
        let turn = Turn::new(far);
        let part = |rows: Range<usize>| {
            let (mut sum, mut room, mut terms) = (Slope::default(), [0.0; NEAR], [[0.0; NEAR]; 2]);
            for start in rows.clone().step_by(NEAR) {
                let rows = start..rows.end.min(start + NEAR);
                let c = (!self.ones).then(|| &c[rows.clone()]);
                sum = sum.add(lanes::widely(
                    #[inline(always)]
                    || {
                        let m = M::numbers(&m[rows.clone()], &mut room);
                        turn.slope(&self.e[rows.clone()], m, c, &mut terms)
                    },
                ));
            }
            sum
        };
        Some(chunks::fold(m.len(), part, Slope::default(), Slope::add))
    }
}

/// By what a step of the leverage multiplies e^−u, where the feature is positive and where it is negative.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Turn {
    up: f64,
    down: f64,
}

impl Turn {
    /// For a step of δs.
    pub(crate) fn new(far: f64) -> Self {
        Self { up: Real::exp(-far), down: Real::exp(far) }
    }

    /// e^−(u + δm), for m ≠ 0.
    #[inline(always)]
    pub(crate) fn after(self, e: f64, m: f64) -> f64 {
        e * if m > 0.0 { self.up } else { self.down }
    }

    /// The sums over at most [`NEAR`] examples, for whose terms there is room; without weights these are 1.
    #[inline(always)]
    fn slope(
        self,
        e: &[f64],
        m: &[f64],
        c: Option<&[f64]>,
        [terms, bends]: &mut [[f64; NEAR]; 2],
    ) -> Slope {
        let into = terms.iter_mut().zip(&mut *bends);
        for ((&e, &m), (term, bend)) in e.iter().zip(m).zip(into) {
            let e = self.after(e, m);
            let w = 1.0 / (1.0 + e);
            *term = m * w;
            // w(1 − w), and 1 − w = e w.
            *bend = *term * m * (e * w);
        }
        if let Some(c) = c {
            for (c, (term, bend)) in c.iter().zip(terms.iter_mut().zip(&mut *bends)) {
                *term *= c;
                *bend *= c;
            }
        }
        let (terms, bends) = (&terms[..m.len()], &bends[..m.len()]);
        let scale = chunks::lanes(terms, 0.0, |sum, term| sum + term.abs(), |a, b| a + b);
        Slope { g: chunks::sum(terms), curvature: chunks::sum(bends), scale }
    }
}

/// The last few of a list, and what fills them up.
pub(crate) fn filled<T: Copy>(rest: &[T], with: T) -> [T; LANES] {
    let mut all = [with; LANES];
    all[..rest.len()].copy_from_slice(rest);
    all
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
    // Without branches, which nobody could predict.
    let (mut least, mut largest) = ([f64::INFINITY; LANES], [0.0_f64; LANES]);
    let (mut low, mut high) = ([0.0_f64; LANES], [0.0_f64; LANES]);
    let mut nothing = [0.0_f64; LANES];
    let mut four = |m: &[f64; LANES], c: &[f64; LANES]| {
        for k in 0..LANES {
            let own = if c[k] == 0.0 { 0.0 } else { m[k] };
            let size = own.abs();
            let some = if size == 0.0 { f64::INFINITY } else { size };
            least[k] = if some < least[k] { some } else { least[k] };
            largest[k] = if size > largest[k] { size } else { largest[k] };
            // NaN once one is.
            nothing[k] += own * 0.0;
            low[k] = if own < low[k] { own } else { low[k] };
            high[k] = if own > high[k] { own } else { high[k] };
        }
    };
    let ((m4, m1), (c4, c1)) = (m.as_chunks(), c.as_chunks());
    for (m, c) in m4.iter().zip(c4) {
        four(m, c);
    }
    four(&filled(m1, 0.0), &filled(c1, 0.0));
    let mut found = Look { largest: 0.0, least: f64::INFINITY, negative: false, positive: false };
    for k in 0..LANES {
        found.least = Real::min(found.least, least[k]);
        found.largest = Real::max(found.largest, largest[k]);
        found.negative |= low[k] < 0.0;
        found.positive |= high[k] > 0.0;
    }
    if nothing.iter().any(|lane| lane.is_nan()) && found.largest.is_finite() {
        found.largest = f64::NAN;
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
    leverage_from(loss, u, m, c, policy, None).map(|(step, _)| step)
}

/// The same where e^−u may be known; also s where the feature is ±s or 0.
pub(crate) fn leverage_from(
    loss: &Surrogate,
    u: &[f64],
    m: &[f64],
    c: &[f64],
    policy: Separable,
    known: Option<Known<'_>>,
) -> Result<(Step, Option<f64>), DomainError> {
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
        let flat = Step { delta: 0.0, outcome: Outcome::Flat, residual: 0.0, evaluations: 1 };
        return Ok((flat, None));
    }
    let size = (seen.largest == seen.least).then_some(seen.largest);
    if seen.negative && seen.positive || loss.minimizer().is_finite() {
        if loss.is_squared() {
            return Ok((squared(u, m, c)?, size));
        }
        if loss.is_exponential() && seen.largest == seen.least {
            return Ok((exponential(u, m, c, seen.largest)?, size));
        }
        let step = with_psi!(loss, psi => search(&psi, (u, m, c), &seen, known, None))?;
        return Ok((step, size));
    }
    match policy {
        Separable::Error => Err(DomainError::Separable { examples: u.len() }),
        Separable::Cap | Separable::Stop => {
            let most = loss.cap(u.len()) / seen.largest;
            let delta = if seen.negative { most } else { -most };
            let end = with_psi!(loss, psi => slope(&psi, u, m, c, delta));
            let residual = ratio(end.g.abs(), end.scale);
            Ok((Step { delta, outcome: Outcome::Separable, residual, evaluations: 2 }, size))
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
    search(&crate::boost::surrogate::ExpPsi, (u, m, c), &look(m, c), None, None)
}

/// What is known of g before the search, for the logistic loss and a feature of ±1: its sums at 0, and where its root may be.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Start {
    pub(crate) here: Slope,
    pub(crate) guess: f64,
}

impl Start {
    /// Newton's step from a point where g is known, if what it leaves of g is certain to be a tenth of the goal at most; and the part of Σw that it may leave. As |w″| ≤ w′, and as w and w′ change by
    /// no more than e^|t| over a way t, |g| ≤ ½d²g′e^|d| after a step d.
    fn last_step(&self, from: solve::Sample, goal: f64) -> Option<(f64, f64)> {
        let step = -from.value / from.slope;
        let left = 0.5 * step * step * from.slope * Real::exp(step.abs());
        let least = self.here.scale * Real::exp(-from.at.abs() - step.abs());
        (left <= 0.1 * goal * least).then_some((from.at + step, left / least))
    }
}

/// The leverage of a feature that is ±1 and both, for the logistic loss where the weight of every example is 1. Its residual is a bound, unless it was found by evaluation.
pub(crate) fn leverage_of_signs(
    u: &[f64],
    m: &[i8],
    c: &[f64],
    known: Known<'_>,
    start: Start,
) -> Result<Step, DomainError> {
    let seen = Look { largest: 1.0, least: 1.0, negative: true, positive: true };
    search(&EntropyPsi, (u, m, c), &seen, Some(known), Some(start))
}

/// The root of g, which exists, for scores, a feature and weights of examples.
fn search<P: Psi, M: Move>(
    psi: &P,
    (u, m, c): (&[f64], &[M], &[f64]),
    seen: &Look,
    known: Option<Known<'_>>,
    hint: Option<Start>,
) -> Result<Step, DomainError> {
    const WHAT: &str = "the derivative of the surrogate along the feature";
    // Newton's steps before the bracket doubles.
    const TRIES: u32 = 6;
    let goal = goal(u.len());
    let mut evaluations = 0;
    let (mut last, mut last_at) =
        hint.map_or((Slope::default(), f64::NAN), |start| (start.here, 0.0));
    let logistic = Logistic::new::<P>(u, seen, known);
    // What is within rounding of 0 is 0: that ends the search.
    let mut g = |delta: f64| {
        if delta != last_at {
            evaluations += 1;
            let quick = logistic.as_ref().and_then(|own| own.slope(m, c, delta));
            last = quick.unwrap_or_else(|| slope(psi, u, m, c, delta));
            last_at = delta;
        }
        if last.g.abs() <= goal * last.scale {
            (0.0, last.curvature)
        } else {
            (last.g, last.curvature)
        }
    };
    let start = solve::sample(0.0, &mut g);
    if start.value == 0.0 {
        return Ok(Step { delta: 0.0, outcome: Outcome::Solved, residual: 0.0, evaluations });
    }
    if start.value.is_nan() {
        return Err(not_finite("the weights of the examples", start.value));
    }
    let direction = -start.value.signum();
    let (mut from, mut reach, mut tries) = (start, 1.0 / seen.largest, 0);
    let guess = hint.map(|start| start.guess * direction).filter(|guess| *guess > 0.0);
    let to = loop {
        let newton = (from.value / from.slope).abs();
        let newton = guess.filter(|_| tries == 0).unwrap_or(newton);
        // Newton's steps come to rest short of the root where a loss saturates; then the bracket doubles.
        let moves = newton > 4.0 * f64::EPSILON * (from.at.abs() + reach);
        let step = if moves && tries < TRIES { Real::min(newton, reach) } else { reach };
        tries += 1;
        let to = solve::sample(from.at + direction * step, &mut g);
        if to.value.is_nan() {
            return Err(not_finite("the weights of the examples", to.value));
        }
        if let Some((delta, residual)) = hint.and_then(|start| start.last_step(to, goal)) {
            return Ok(Step { delta, outcome: Outcome::Solved, residual, evaluations });
        }
        if to.value * direction >= 0.0 {
            break to;
        }
        if to.at == from.at || !(to.at * seen.largest).is_finite() {
            let (lo, hi) = (0.0, to.at);
            let (at_lo, at_hi) = (start.value, to.value);
            return Err(DomainError::NoRoot { what: WHAT, lo, hi, at_lo, at_hi });
        }
        from = to;
        reach *= 2.0;
    };
    let mut delta = solve::refine(WHAT, from, to, &mut g)?.at;
    let from = from.at;
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
