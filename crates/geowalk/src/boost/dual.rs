//! # The dual, and how far the risk is from its infimum
//! $$\inf_\alpha \sum_i c_i\,\psi(-(M\alpha)_i) \;\ge\; -\sum_i c_i\,\tilde\psi(w_i) \quad\text{for every } w \in W^m \text{ with } M^\top C w = 0$$
//! The weights w of a run do not satisfy the constraint until it has converged; their projection w′ on the kernel of MᵀC does. If w′ lies in the domain W, the gap
//! $\sum c\psi(-u) + \sum c\tilde\psi(w')$ bounds what is left to gain.
//!
//! **Cost** O(mT² + T³) for T features. **Source** \[NN09, lemmas 5–7\], with M transposed where the print forgets it.

use super::surrogate::Surrogate;
use crate::Real;
use crate::error::DomainError;
use crate::geometry::linalg;

/// A lower bound on the risk of every combination of the features.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Gap {
    /// Σ c ψ(−u), the risk now.
    pub risk: f64,
    /// The bound from the dual: no combination of the features has a smaller risk. −∞ if w′ is outside the domain.
    pub dual: f64,
}

impl Gap {
    /// risk − dual ≥ 0.
    pub fn gap(&self) -> f64 {
        self.risk - self.dual
    }
}

/// The gap at the scores `u` for the features `m` (columns).
///
/// ```
/// use geowalk::boost::{Surrogate, dual};
/// let loss = Surrogate::parse("squared")?;
/// // m = (1, −1): at δ = 0 the scores are already the best.
/// let gap = dual::gap(&loss, &[0.0, 0.0], &[&[1.0, -1.0]], &[1.0, 1.0])?;
/// assert_eq!((gap.risk, gap.dual), (2.0, 2.0));
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
pub fn gap(loss: &Surrogate, u: &[f64], m: &[&[f64]], c: &[f64]) -> Result<Gap, DomainError> {
    for column in m.iter().copied().chain([c]) {
        if column.len() != u.len() {
            let (found, expected) = (column.len(), u.len());
            return Err(DomainError::Dimension { what: "a feature", found, expected });
        }
    }
    let mut w: Vec<f64> = u.iter().map(|&u| loss.weight(-u)).collect();
    project(loss, &mut w, m, c);
    let dual: f64 = w.iter().zip(c).map(|(&w, &c)| -c * conjugate(loss, w)).sum();
    let dual = if dual.is_nan() { f64::NEG_INFINITY } else { dual };
    Ok(Gap { risk: loss.risk(u, c), dual })
}

/// Moves w to the kernel of MᵀC, by the least change in the inner product of c. Weights at an end of their domain, where a loss is saturated, stay there.
fn project(loss: &Surrogate, w: &mut [f64], m: &[&[f64]], c: &[f64]) {
    let k = m.len();
    let bounded = loss.minimizer().is_finite() && !loss.is_squared();
    let free: Vec<f64> = w
        .iter()
        .zip(c)
        .map(|(&w, &c)| if bounded && (w <= 0.0 || w >= 1.0) { 0.0 } else { c })
        .collect();
    let mut gram = vec![0.0; k * k];
    for (s, column) in m.iter().enumerate() {
        for (t, other) in m.iter().enumerate().skip(s) {
            let terms = column.iter().zip(*other).zip(&free);
            gram[t + s * k] = terms.map(|((a, b), c)| a * b * c).sum();
        }
    }
    let (mut values, mut vectors) = (vec![0.0; k], vec![0.0; k * k]);
    if linalg::eigen(&mut gram, k, &mut values, &mut vectors).is_none() {
        return w.fill(f64::NAN);
    }
    let floor = values.last().copied().unwrap_or(0.0) * k as f64 * 1e-14;
    for _ in 0..3 {
        let rest: Vec<f64> = m
            .iter()
            .map(|column| column.iter().zip(&*w).zip(c).map(|((m, w), c)| c * m * w).sum())
            .collect();
        for (&value, vector) in values.iter().zip(vectors.chunks_exact(k)) {
            if value <= floor {
                continue;
            }
            let factor: f64 = vector.iter().zip(&rest).map(|(a, b)| a * b).sum::<f64>() / value;
            for (column, v) in m.iter().zip(vector) {
                for ((w, m), &free) in w.iter_mut().zip(*column).zip(&free) {
                    if free > 0.0 {
                        *w -= factor * v * m;
                    }
                }
            }
        }
    }
    // What cannot be corrected where weights are free leaves the constraint unmet: no bound.
    let unmet = m.iter().any(|column| {
        let (mut g, mut scale) = (0.0, 0.0);
        for ((m, w), c) in column.iter().zip(&*w).zip(c) {
            g += c * m * w;
            scale += (c * m * w).abs();
        }
        g.abs() > 1e-11 * scale
    });
    if unmet {
        w.fill(f64::NAN);
    }
}

/// ψ̃(w) for any w; NaN outside its domain.
fn conjugate(loss: &Surrogate, w: f64) -> f64 {
    if let Some(phi) = loss.permissible() {
        use crate::loss::permissible::Permissible;
        return -phi.impurity(w);
    }
    if loss.is_exponential() {
        return if w > 0.0 {
            w * Real::ln(w) - w
        } else if w == 0.0 {
            0.0
        } else {
            f64::NAN
        };
    }
    if loss.is_squared() {
        return w * (0.25 * w - 1.0);
    }
    if matches!(loss.form, super::surrogate::Form::Entropy) {
        use crate::loss::permissible::{Entropy, Permissible};
        return -Entropy.impurity(w);
    }
    // −wz − ψ(z) is concave in z: any z gives a lower bound of ψ̃, the root of w(z) = w its value.
    let (mut lo, mut hi) = (-1.0, 1.0);
    while loss.weight(lo) < w && lo > -1e6 {
        lo *= 2.0;
    }
    while loss.weight(hi) > w && hi < 1e6 {
        hi *= 2.0;
    }
    if !(loss.weight(lo) >= w && loss.weight(hi) <= w) {
        return f64::NAN;
    }
    for _ in 0..200 {
        let middle = 0.5 * (lo + hi);
        if loss.weight(middle) >= w {
            lo = middle;
        } else {
            hi = middle;
        }
    }
    -w * lo - loss.value(lo)
}
