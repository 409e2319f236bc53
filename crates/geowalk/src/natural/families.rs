//! # The families, one file each
//! | family | T | θ | g = ∇_θ log P |
//! |---|---|---|---|
//! | discrete | e_x | probabilities | e_x/θ_x |
//! | naive-bayes | one e_x per column | the same | the same |
//! | bernoulli | x | in (0, 1) | (x − θ)/(θ(1 − θ)) |
//! | poisson | x | λ > 0 | x/λ − 1 |
//! | multinomial | x | Lπ | x/(Lπ) − 1 − (V − L)(∣x∣ − L)/(LV) |
//! | exponential | x | μ > 0 | (x − μ)/μ² |
//! | gaussian-shared | x | ℝᵈ | Σ⁻¹(x − μ) |
//! | gaussian-sparse | x | 0 | x/v |
//! | gaussian-diagonal | (x, x²) | v = m₂ − m₁² > 0 | (r/v − 2μg₂, ½(r²/v − 1)/v) |
//! | gaussian | (x, vech xxᵀ) | Σ ≻ 0 | (Pr − 2G₂μ, G₂), G₂ = ½(Prrᵀ P − P) |

mod bernoulli;
mod categories;
mod counts;
mod discrete;
mod exponential;
mod gaussian;
mod gaussian_diagonal;
mod gaussian_shared;
mod gaussian_shared_diagonal;
mod gaussian_sparse;
mod multinomial;
mod naive_bayes;
mod poisson;

pub(crate) use bernoulli::Bernoulli;
pub(crate) use discrete::Discrete;
pub(crate) use exponential::Exponential;
pub(crate) use gaussian::Gaussian;
pub(crate) use gaussian_diagonal::GaussianDiagonal;
pub(crate) use gaussian_shared::GaussianShared;
pub(crate) use gaussian_shared_diagonal::GaussianSharedDiagonal;
pub(crate) use gaussian_sparse::GaussianSparse;
pub(crate) use multinomial::Multinomial;
pub(crate) use naive_bayes::NaiveBayes;
pub(crate) use poisson::Poisson;

use super::table::Table;
use crate::error::Allowed;

/// Feature values whose squares can be summed without overflow.
const NUMBERS: Allowed = Allowed::Closed(-1e100, 1e100);

/// Non-negative values such as counts.
const COUNTS: Allowed = Allowed::Closed(0.0, 1e100);

/// out ← a column of a table.
fn column(table: &Table, class: usize, out: &mut Vec<f64>) {
    out.clear();
    out.extend(table.each().map(|row| row.get(class).copied().unwrap_or(0.0)));
}

/// out ← the diagonal matrix with these values.
fn diagonal(values: impl ExactSizeIterator<Item = f64>, out: &mut Vec<f64>) {
    let n = values.len();
    out.clear();
    out.resize(n * n, 0.0);
    for (i, value) in values.enumerate() {
        out[i * n + i] = value;
    }
}

/// r_j ← r_j/(p v_j + λ). A feature that has not varied does not move: 0.
fn divide(r: &mut [f64], p: f64, ridge: f64, variance: impl Fn(usize) -> f64) {
    for (j, r) in r.iter_mut().enumerate() {
        let v = variance(j);
        *r = if v > 0.0 { *r / (p * v + ridge) } else { 0.0 };
    }
}

/// Counts the cells that have only their pseudo-count, in rows and columns with an example. Also returns the number of
/// all such cells.
fn empty_cells(counts: &Table, pseudo: f64, n: &[f64]) -> (u64, u64) {
    let (mut empty, mut all) = (0, 0);
    for row in counts.each().filter(|row| row.iter().any(|&count| count > pseudo)) {
        for (&count, _) in row.iter().zip(n).filter(|&(_, &n)| n > 0.0) {
            all += 1;
            empty += u64::from(count <= pseudo);
        }
    }
    (empty, all)
}
