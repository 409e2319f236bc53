//! # The leverages of several features at once
//! $$\delta = \arg\min_{\delta \in \mathbb R^k} \sum_i c_i\,\psi(-(u + M\delta)_i), \qquad M^\top C\, w(u + M\delta) = 0$$
//! Newton's method with a ridge $\lambda\,\mathrm{tr}(E)/k$ on the Hessian $E = M^\top \mathrm{diag}(c\,\psi'')M$ and Armijo's rule; where it makes no progress, a sweep over
//! the coordinates with the [line search](super::line). The squared loss is least squares, the solution of least norm.
//!
//! **Separable** Two features that both err may together never err: $M = \begin{pmatrix}-2 & 1\cr 1 & -2\end{pmatrix}$. For a loss without a finite minimiser
//! the leverages would then grow for ever; the iteration ends when the margin of every example is at least [`Surrogate::cap`], or when a score has moved by 100 times as much, which happens where only
//! some of the examples can be told apart for good. The risk is then below where it started, but not at its infimum.
//! **Care** if the features depend on each other δ is not unique; the scores and the risk are.
//! **Cost** O(mk² + k³) per iteration, 5 to 40 iterations. **Source** \[NN09, eq. (70), lemma 8\], as corrected.

use super::line::{self, ACCEPTED, Outcome, Separable};
use super::surrogate::{Psi, Surrogate, with_psi};
use crate::Real;
use crate::error::DomainError;
use crate::geometry::linalg;

/// The leverages of a block.
#[derive(Debug, Clone, PartialEq)]
pub struct Block {
    /// δ, one per feature.
    pub delta: Vec<f64>,
    /// Mδ, one per example.
    pub change: Vec<f64>,
    /// How it ended.
    pub outcome: Outcome,
    /// The largest scaled residual of a feature.
    pub residual: f64,
}

const MOST: usize = 200;
const GOAL: f64 = 1e-12;
/// Scores that move by so many caps have no place to go to.
const FAR: f64 = 100.0;

/// The gradient and its scale, the Hessian (lower triangle by columns) and the risk.
struct Sums {
    g: Vec<f64>,
    scale: Vec<f64>,
    hessian: Vec<f64>,
    risk: f64,
}

fn sums<P: Psi>(psi: &P, u: &[f64], m: &[&[f64]], c: &[f64], change: &[f64]) -> Sums {
    let k = m.len();
    let shift = if P::SHIFTED {
        u.iter().zip(change).map(|(u, d)| u + d).fold(f64::NEG_INFINITY, Real::max)
    } else {
        0.0
    };
    let mut risk = 0.0;
    let (mut w, mut bend) = (Vec::with_capacity(u.len()), Vec::with_capacity(u.len()));
    for ((&u, &d), &c) in u.iter().zip(change).zip(c) {
        let (weight, curvature) = psi.both(u + d - shift);
        risk += c * psi.risk(u + d - shift);
        w.push(c * weight);
        bend.push(c * curvature);
    }
    let (mut g, mut scale, mut hessian) = (vec![0.0; k], vec![0.0; k], vec![0.0; k * k]);
    for (s, column) in m.iter().enumerate() {
        for (&m, &w) in column.iter().zip(&w) {
            g[s] += m * w;
            scale[s] += (m * w).abs();
        }
        for (t, other) in m.iter().enumerate().skip(s) {
            let terms = column.iter().zip(*other).zip(&bend);
            hessian[t + s * k] = terms.map(|((a, b), bend)| a * b * bend).sum();
        }
    }
    Sums { g, scale, hessian, risk }
}

/// The risk of a change, on the scale of `shift`ed scores where the loss is exponential (a common factor of all that are compared).
fn risk(loss: &Surrogate, u: &[f64], c: &[f64], change: &[f64], direction: &[f64], t: f64) -> f64 {
    let at = |i: usize| u[i] + change[i] + t * direction[i];
    let shift = loss.shift(u.iter().zip(change).map(|(u, d)| u + d));
    with_psi!(loss, psi => (0..u.len()).map(|i| c[i] * psi.risk(at(i) - shift)).sum())
}

fn product(m: &[&[f64]], delta: &[f64], out: &mut [f64]) {
    out.fill(0.0);
    for (column, &delta) in m.iter().zip(delta) {
        for (out, &m) in out.iter_mut().zip(*column) {
            *out += delta * m;
        }
    }
}

/// −(E + λ tr(E)/k)⁻¹g, or `None` if that matrix is not positive.
fn newton(sums: &Sums, ridge: f64) -> Option<Vec<f64>> {
    let k = sums.g.len();
    let trace: f64 = (0..k).map(|i| sums.hessian[i + i * k]).sum();
    let mut l = sums.hessian.clone();
    for i in 0..k {
        l[i + i * k] += ridge * trace / k as f64;
    }
    linalg::cholesky_in_place(&mut l, k)?;
    let mut p: Vec<f64> = sums.g.iter().map(|g| -g).collect();
    linalg::solve_lower(&l, k, &mut p);
    for j in (0..k).rev() {
        for i in j + 1..k {
            p[j] -= l[i + j * k] * p[i];
        }
        p[j] /= l[j + j * k];
    }
    p.iter().all(|p| p.is_finite()).then_some(p)
}

fn residual(sums: &Sums) -> f64 {
    let parts = sums.g.iter().zip(&sums.scale);
    parts.map(|(g, s)| if *g == 0.0 { 0.0 } else { g.abs() / s }).fold(0.0, Real::max)
}

/// The leverages of the features `m` (columns) for scores `u` and weights of examples `c`.
///
/// ```
/// use geowalk::boost::{Outcome, Separable, Surrogate, block};
/// let loss = Surrogate::parse("logistic")?;
/// let (a, b) = ([-2.0, 1.0], [1.0, -2.0]);
/// let found = block::leverages(&loss, &[0.0; 2], &[&a, &b], &[1.0; 2], Separable::Cap)?;
/// assert_eq!(found.outcome, Outcome::Separable);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
pub fn leverages(
    loss: &Surrogate,
    u: &[f64],
    m: &[&[f64]],
    c: &[f64],
    policy: Separable,
) -> Result<Block, DomainError> {
    for column in m.iter().copied().chain([c]) {
        if column.len() != u.len() {
            let (found, expected) = (column.len(), u.len());
            return Err(DomainError::Dimension { what: "a feature", found, expected });
        }
    }
    if let [m] = m {
        let step = line::leverage(loss, u, m, c, policy)?;
        let change = m.iter().map(|m| step.delta * m).collect();
        let (delta, outcome, residual) = (vec![step.delta], step.outcome, step.residual);
        return Ok(Block { delta, change, outcome, residual });
    }
    let mut found =
        if loss.is_squared() { least_squares(u, m, c)? } else { descend(loss, u, m, c)? };
    let end = with_psi!(loss, psi => sums(&psi, u, m, c, &found.change));
    found.residual = residual(&end);
    if found.outcome == Outcome::Separable && policy == Separable::Error {
        return Err(DomainError::Separable { examples: u.len() });
    }
    Ok(found)
}

fn descend(loss: &Surrogate, u: &[f64], m: &[&[f64]], c: &[f64]) -> Result<Block, DomainError> {
    const WHAT: &str = "the leverages of a block";
    let k = m.len();
    let (mut delta, mut change) = (vec![0.0; k], vec![0.0; u.len()]);
    let (mut direction, mut ridge) = (vec![0.0; u.len()], 1e-12);
    let unbounded = loss.minimizer().is_infinite();
    let cap = loss.cap(u.len());
    let mut outcome = Outcome::Short;
    for iteration in 0..MOST {
        let here = with_psi!(loss, psi => sums(&psi, u, m, c, &change));
        if here.risk.is_nan() {
            return Err(DomainError::NotConverged {
                what: WHAT,
                residual: f64::NAN,
                iterations: iteration,
            });
        }
        if residual(&here) <= GOAL {
            outcome = Outcome::Solved;
            break;
        }
        let apart = |(&u, &d): (&f64, &f64)| u + d <= -cap;
        let moved = change.iter().any(|d| *d != 0.0);
        let far = change.iter().any(|d| d.abs() > FAR * cap);
        if unbounded && (far || (moved && u.iter().zip(&change).all(apart))) {
            outcome = Outcome::Separable;
            break;
        }
        let mut moved = false;
        while ridge <= 1e4 {
            let Some(p) = newton(&here, ridge) else {
                ridge *= 100.0;
                continue;
            };
            product(m, &p, &mut direction);
            let slope: f64 = p.iter().zip(&here.g).map(|(p, g)| p * g).sum();
            let mut t = 1.0;
            while t > 1e-10 {
                // Rounding of the sums must not stop the last steps.
                let allowed = here.risk + 1e-4 * t * slope + 1e-15 * here.risk;
                if risk(loss, u, c, &change, &direction, t) <= allowed {
                    moved = true;
                    break;
                }
                t *= 0.5;
            }
            if moved {
                for (delta, p) in delta.iter_mut().zip(&p) {
                    *delta += t * p;
                }
                product(m, &delta, &mut change);
                ridge = Real::max(0.1 * ridge, 1e-14);
                break;
            }
            ridge *= 100.0;
        }
        if !moved {
            let before = here.risk;
            sweep(loss, u, m, c, &mut delta, &mut change)?;
            let after = risk(loss, u, c, &change, &direction, 0.0);
            if after >= before * (1.0 - 1e-15) {
                break;
            }
            ridge = 1e-8;
        }
    }
    if outcome == Outcome::Short {
        let end = with_psi!(loss, psi => sums(&psi, u, m, c, &change));
        if residual(&end) <= ACCEPTED {
            outcome = Outcome::Solved;
        }
    }
    Ok(Block { delta, change, outcome, residual: f64::NAN })
}

/// One line search along every feature.
fn sweep(
    loss: &Surrogate,
    u: &[f64],
    m: &[&[f64]],
    c: &[f64],
    delta: &mut [f64],
    change: &mut [f64],
) -> Result<(), DomainError> {
    let mut here = vec![0.0; u.len()];
    for (t, column) in m.iter().enumerate() {
        for ((here, &u), &d) in here.iter_mut().zip(u).zip(&*change) {
            *here = u + d;
        }
        delta[t] += line::leverage(loss, &here, column, c, Separable::Cap)?.delta;
        product(m, delta, change);
    }
    Ok(())
}

/// δ = −(MᵀCM)⁺MᵀC(1 + u), corrected once for rounding.
fn least_squares(u: &[f64], m: &[&[f64]], c: &[f64]) -> Result<Block, DomainError> {
    let k = m.len();
    let failed = DomainError::NotConverged {
        what: "the least squares of a block",
        residual: f64::NAN,
        iterations: 0,
    };
    let mut gram = vec![0.0; k * k];
    for (s, column) in m.iter().enumerate() {
        for (t, other) in m.iter().enumerate().skip(s) {
            let terms = column.iter().zip(*other).zip(c);
            gram[t + s * k] = terms.map(|((a, b), c)| a * b * c).sum();
        }
    }
    let (mut values, mut vectors) = (vec![0.0; k], vec![0.0; k * k]);
    linalg::eigen(&mut gram, k, &mut values, &mut vectors).ok_or_else(|| failed.clone())?;
    let largest = values.last().copied().unwrap_or(0.0);
    let floor = largest * k as f64 * 1e-14;
    let (mut delta, mut change) = (vec![0.0; k], vec![0.0; u.len()]);
    for _ in 0..3 {
        let side: Vec<f64> = m
            .iter()
            .map(|column| {
                let rows = column.iter().zip(u).zip(&change).zip(c);
                rows.map(|(((m, u), d), c)| -c * m * (1.0 + u + d)).sum()
            })
            .collect();
        for (&value, vector) in values.iter().zip(vectors.chunks_exact(k)) {
            if value > floor {
                let dot: f64 = vector.iter().zip(&side).map(|(a, b)| a * b).sum();
                for (delta, v) in delta.iter_mut().zip(vector) {
                    *delta += dot / value * v;
                }
            }
        }
        product(m, &delta, &mut change);
    }
    Ok(Block { delta, change, outcome: Outcome::Solved, residual: f64::NAN })
}
