//! # Null vectors of a stream
//! Rows $x_t$ that all lie in one hyperplane, $\langle p_\star, x_t\rangle = 0$: what is the vector $p_\star$? On-line it is learned on the sphere, with the loss
//! [`Invariant`](crate::loss::Invariant), ⟨p, x⟩². Here is what surrounds the learner: the rows made of a series, the answer of a batch method to
//! compare with, and the recurrence that a null vector of a series is.
//!
//! **Series** The columns of a Hankel matrix, $h_t = (y_t, y_{t-1}, \dots, y_{t-P})$, have the null vector $p$ if and only if
//! $$p_0\, y_t = -p_1\, y_{t-1} - \dots - p_P\, y_{t-P},$$
//! an autoregression whose roots say which frequencies it holds. **Cost** O(n²) per row and O(n³) at the end for [`Gram`]; the rest is linear.
//! **Care** rows are taken at unit length, as the theory of the sphere wants them: with noise, that is another weighting than that of the raw rows.
//! **Source** \[KMWW07s, sec. 3\].

use crate::Real;
use crate::error::{Allowed, ConfigError, DomainError};
use crate::geometry::linalg;
use crate::row::{Norm, Row};

/// Calls `f` with $(y_t, y_{t-1}, \dots, y_{t-P})$ for t = P, P + 1, …
///
/// ```
/// let mut rows = Vec::new();
/// geowalk::track::hankel(&[1.0, 2.0, 3.0, 4.0], 2, |row| rows.push(row.to_vec()));
/// assert_eq!(rows, [[3.0, 2.0, 1.0], [4.0, 3.0, 2.0]]);
/// ```
pub fn hankel(series: &[f64], order: usize, mut f: impl FnMut(&[f64])) {
    let mut row = Vec::with_capacity(order + 1);
    for window in series.windows(order + 1) {
        row.clear();
        row.extend(window.iter().rev());
        f(&row);
    }
}

/// Σ x xᵀ of rows at unit length; its least eigenvector is the null vector that a batch method finds.
///
/// ```
/// use geowalk::row::Dense;
/// use geowalk::track::Gram;
/// let mut gram = Gram::new(2)?;
/// for x in [[1.0, 1.0], [-3.0, -3.0], [2.0, 2.0]] {
///     gram.add(Dense(&x));
/// }
/// let least = gram.least().unwrap();
/// assert!((least.vector[0] + least.vector[1]).abs() < 1e-15 && least.share[0] < 1e-15);
/// # Ok::<(), geowalk::ConfigError>(())
/// ```
#[derive(Debug, Clone)]
pub struct Gram {
    n: usize,
    sums: Vec<f64>,
    row: Vec<f64>,
    rows: u64,
}

/// What [`Gram::least`] finds.
#[derive(Debug, Clone, PartialEq)]
pub struct Least {
    /// The unit vector with the least Σ⟨p, x⟩²; its largest coordinate is positive.
    pub vector: Vec<f64>,
    /// The average of ⟨p, x⟩² along it and along the next best direction. Both small: the null vector is not unique.
    pub share: [f64; 2],
}

impl Gram {
    /// The largest number of features: beyond it, n² sums are no longer small.
    pub const LARGEST: usize = 512;

    /// No rows yet, of n features.
    pub fn new(n: usize) -> Result<Self, ConfigError> {
        if !(2..=Self::LARGEST).contains(&n) {
            let allowed = Allowed::Closed(2.0, Self::LARGEST as f64);
            return Err(ConfigError::OutOfRange {
                name: "the number of features",
                value: n as f64,
                allowed,
            });
        }
        Ok(Self { n, sums: vec![0.0; n * n], row: vec![0.0; n], rows: 0 })
    }

    /// n.
    pub fn features(&self) -> usize {
        self.n
    }

    /// Adds a row, divided by its length. Rows of length 0 say nothing and are left out, as are features beyond the n-th.
    pub fn add<X: Row<f64>>(&mut self, x: X) {
        let length = x.norm(Norm::L2);
        if length == 0.0 {
            return;
        }
        self.rows += 1;
        self.row.fill(0.0);
        let row = &mut self.row;
        x.each(|i, x| {
            if let Some(place) = row.get_mut(i) {
                *place = x / length;
            }
        });
        for (j, &right) in self.row.iter().enumerate().filter(|(_, x)| **x != 0.0) {
            for (sum, &left) in self.sums[j * self.n..][..self.n].iter_mut().zip(&self.row) {
                *sum += left * right;
            }
        }
    }

    /// The least direction; `None` if there were no rows, or if something in them was not finite.
    pub fn least(&self) -> Option<Least> {
        if self.rows == 0 {
            return None;
        }
        let n = self.n;
        let (mut a, mut values, mut vectors) = (self.sums.clone(), vec![0.0; n], vec![0.0; n * n]);
        linalg::eigen(&mut a, n, &mut values, &mut vectors)?;
        let mut vector = vectors[..n].to_vec();
        upright(&mut vector);
        let share = [values[0], values[1]].map(|value| value.max(0.0) / self.rows as f64);
        Some(Least { vector, share })
    }
}

/// p and −p say the same: the largest coordinate becomes positive.
pub fn upright(p: &mut [f64]) {
    let largest = p.iter().copied().fold(0.0, |a: f64, b| if b.abs() > a.abs() { b } else { a });
    if largest < 0.0 {
        for p in &mut *p {
            *p = -*p;
        }
    }
}

/// The angle between two lines, in degrees, from 0 to 90.
pub fn degrees(p: &[f64], q: &[f64]) -> f64 {
    let (p, q) = (unit(p), unit(q));
    let sign = if p.iter().zip(&q).map(|(p, q)| p * q).sum::<f64>() < 0.0 { -1.0 } else { 1.0 };
    let gap = |s: f64| Norm::L2.of(&p.iter().zip(&q).map(|(p, q)| p - s * q).collect::<Vec<_>>());
    2.0 * Real::atan2(gap(sign), gap(-sign)) * 180.0 / std::f64::consts::PI
}

fn unit(p: &[f64]) -> Vec<f64> {
    let length = Norm::L2.of(p);
    p.iter().map(|p| p / length).collect()
}

/// $y_t = \sum_k a_k\, y_{t-k}$.
///
/// ```
/// use geowalk::track::Autoregression;
/// // y_t = 2 cos(0.7) y_{t−1} − y_{t−2}: one undamped oscillation of frequency 0.7.
/// let model = Autoregression::from_null(&[1.0, -2.0 * libm::cos(0.7), 1.0])?;
/// let roots = model.roots().unwrap();
/// assert!((roots[0].modulus - 1.0).abs() < 1e-12 && (roots[0].frequency - 0.7).abs() < 1e-12);
/// # Ok::<(), geowalk::DomainError>(())
/// ```
#[derive(Debug, Clone, PartialEq)]
pub struct Autoregression {
    coefficients: Vec<f64>,
}

/// A root of $\lambda^P = \sum_k a_k \lambda^{P-k}$: the series holds $\text{modulus}^t \cos(\text{frequency}\cdot t + \dots)$.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Root {
    /// |λ|: below 1 the oscillation dies out.
    pub modulus: f64,
    /// The angle of λ, from −π to π.
    pub frequency: f64,
}

impl Autoregression {
    /// The recurrence of the null vector (p₀, …, p_P). Refused if p₀ = 0: then the newest value does not take part in it.
    pub fn from_null(p: &[f64]) -> Result<Self, DomainError> {
        let Some((&first, rest)) = p.split_first() else {
            return Err(DomainError::Dimension { what: "the null vector", found: 0, expected: 2 });
        };
        let coefficients: Vec<f64> = rest.iter().map(|p| -p / first).collect();
        if first == 0.0 || coefficients.iter().any(|a| !a.is_finite()) {
            let allowed = Allowed::Open(0.0, f64::INFINITY);
            return Err(DomainError::Coordinate {
                what: "the null vector",
                index: 0,
                value: first,
                allowed,
            });
        }
        Ok(Self { coefficients })
    }

    /// The recurrence of a series that is disturbed by a moving average of `moving` terms, $y_t = \sum_k a_k y_{t-k} + e_t +
    /// \sum_{j \le Q} b_j e_{t-j}$. Noise in the values biases a null vector, but values more than Q back are
    /// uncorrelated with it: the autocovariances c obey $c_{Q+j} = \sum_k a_k c_{Q+j-k}$ for j ≥ 1 (the extended
    /// Yule–Walker equations), of which twice as many as there are coefficients are solved by least squares. NaN is a
    /// value that is missing. `None` if the equations have no one solution.
    ///
    /// ```
    /// use geowalk::laws::Sampler;
    /// use geowalk::track::Autoregression;
    /// let mut random = Sampler::new(1);
    /// let (mut y, mut last) = (vec![0.0, 0.0], 0.0);
    /// for t in 2..20_000 {
    ///     let e = random.normal();
    ///     y.push(1.2 * y[t - 1] - 0.6 * y[t - 2] + e + 0.5 * last);
    ///     last = e;
    /// }
    /// let found = Autoregression::disturbed(&y, 2, 1).unwrap();
    /// assert!((found.coefficients()[0] - 1.2).abs() < 0.03 && (found.coefficients()[1] + 0.6).abs() < 0.03);
    /// ```
    pub fn disturbed(series: &[f64], order: usize, moving: usize) -> Option<Self> {
        let present = || series.iter().filter(|y| !y.is_nan());
        let mean = present().sum::<f64>() / present().count() as f64;
        let equations = 2 * order;
        let covariances: Vec<f64> = (0..=moving + equations)
            .map(|lag| {
                let later = series.iter().skip(lag);
                let products = later.zip(series).map(|(a, b)| (a - mean) * (b - mean));
                let (mut sum, mut count) = (0.0, 0.0);
                for product in products.filter(|product| !product.is_nan()) {
                    (sum, count) = (sum + product, count + 1.0);
                }
                sum / count
            })
            .collect();
        let at = |j: usize, k: usize| covariances[(moving + j).abs_diff(k)];
        let (mut a, mut x) = (vec![0.0; order * order], vec![0.0; order]);
        for j in 1..=equations {
            for k in 1..=order {
                x[k - 1] += at(j, k) * at(j, 0);
                for i in 1..=order {
                    a[(k - 1) * order + i - 1] += at(j, k) * at(j, i);
                }
            }
        }
        let l = linalg::cholesky(&a, order)?;
        linalg::solve_lower(&l, order, &mut x);
        for i in (0..order).rev() {
            let behind: f64 = (i + 1..order).map(|k| l[i * order + k] * x[k]).sum();
            x[i] = (x[i] - behind) / l[i * order + i];
        }
        x.iter().all(|a| a.is_finite()).then_some(Self { coefficients: x })
    }

    /// a₁, …, a_P.
    pub fn coefficients(&self) -> &[f64] {
        &self.coefficients
    }

    /// All roots, by falling modulus; of a conjugate pair the one above the real axis first. `None` if the iteration of Durand and Kerner
    /// \[Kerner66\] did not settle.
    pub fn roots(&self) -> Option<Vec<Root>> {
        let degree = self.coefficients.len();
        // A circle that holds all roots, at angles of no symmetry.
        let radius = 1.0 + self.coefficients.iter().fold(0.0_f64, |a, c| a.max(c.abs()));
        let mut roots: Vec<[f64; 2]> = (0..degree)
            .map(|k| {
                let angle = 0.4 + std::f64::consts::TAU * k as f64 / degree as f64;
                [radius * Real::cos(angle), radius * Real::sin(angle)]
            })
            .collect();
        for _ in 0..2000 {
            let mut largest: f64 = 0.0;
            for k in 0..degree {
                let z = roots[k];
                let mut value = [1.0, 0.0];
                for a in &self.coefficients {
                    value = times(value, z);
                    value[0] -= a;
                }
                let mut product = [1.0, 0.0];
                for (j, other) in roots.iter().enumerate() {
                    if j != k {
                        product = times(product, [z[0] - other[0], z[1] - other[1]]);
                    }
                }
                let size = product[0] * product[0] + product[1] * product[1];
                if size == 0.0 || !size.is_finite() {
                    return None;
                }
                let step = times(value, [product[0] / size, -product[1] / size]);
                roots[k] = [z[0] - step[0], z[1] - step[1]];
                largest = largest.max(Real::hypot(step[0], step[1]));
            }
            if largest <= 1e-14 * radius {
                break;
            }
            if largest.is_nan() {
                return None;
            }
        }
        let mut found: Vec<Root> = roots
            .into_iter()
            .map(|[re, im]| Root {
                modulus: Real::hypot(re, im),
                frequency: Real::atan2(if im.abs() <= 1e-12 * radius { 0.0 } else { im }, re),
            })
            .collect();
        // Conjugates have the same modulus up to rounding: compare that roughly, the angle exactly.
        let rough = |root: &Root| (root.modulus * 1e9).round();
        found.sort_by(|a, b| {
            rough(b).total_cmp(&rough(a)).then(b.frequency.total_cmp(&a.frequency))
        });
        Some(found)
    }
}

fn times([a, b]: [f64; 2], [c, d]: [f64; 2]) -> [f64; 2] {
    [a * c - b * d, a * d + b * c]
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::row::Dense;

    #[test]
    fn batch_finds_the_recurrence_of_a_damped_oscillation() {
        // λ = 0.99 e^{±0.7i}: y_t = 2·0.99 cos(0.7) y_{t−1} − 0.99² y_{t−2}.
        let (r, w) = (0.99, 0.7);
        let expected = [2.0 * r * Real::cos(w), -r * r];
        let mut y = vec![1.0, 0.3];
        for t in 2..400 {
            y.push(expected[0] * y[t - 1] + expected[1] * y[t - 2]);
        }
        let mut gram = Gram::new(3).unwrap();
        hankel(&y, 2, |row| gram.add(Dense(row)));
        let least = gram.least().unwrap();
        assert!(least.share[0] < 1e-15 && least.share[1] > 1e-2, "{:?}", least.share);
        let model = Autoregression::from_null(&least.vector).unwrap();
        for (found, expected) in model.coefficients().iter().zip(expected) {
            assert!((found - expected).abs() < 1e-12, "{found} {expected}");
        }
        let roots = model.roots().unwrap();
        for (root, angle) in roots.iter().zip([w, -w]) {
            assert!((root.modulus - r).abs() < 1e-12 && (root.frequency - angle).abs() < 1e-12);
        }
    }

    #[test]
    fn edges() {
        assert!(Gram::new(1).is_err() && Gram::new(513).is_err());
        let mut gram = Gram::new(2).unwrap();
        gram.add(Dense(&[0.0, 0.0]));
        assert_eq!(gram.least(), None);
        gram.add(Dense(&[f64::NAN, 0.0]));
        assert_eq!(gram.least(), None);
        assert!(Autoregression::from_null(&[0.0, 1.0]).is_err());
        assert!(Autoregression::from_null(&[]).is_err());
        let mut rows = 0;
        hankel(&[1.0, 2.0], 2, |_| rows += 1);
        assert_eq!(rows, 0);
        assert!((degrees(&[1.0, 0.0], &[0.0, -2.0]) - 90.0).abs() < 1e-13);
        assert!((degrees(&[1.0, 1e-9], &[-1.0, 0.0]) - 1e-9 * 57.295_779_513_082_32).abs() < 1e-22);
        // Real roots, one of them negative: (λ − 0.5)(λ + 0.8).
        let roots = Autoregression::from_null(&[1.0, 0.3, -0.4]).unwrap().roots().unwrap();
        assert!((roots[0].modulus - 0.8).abs() < 1e-12 && (roots[1].modulus - 0.5).abs() < 1e-12);
        assert!((roots[0].frequency.abs() - std::f64::consts::PI).abs() < 1e-12);
        let mut p = [0.1, -0.9];
        upright(&mut p);
        assert_eq!(p, [-0.1, 0.9]);
    }
}
