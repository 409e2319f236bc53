//! # Predictions after a short step, as a power series
//! $$z(\kappa) = \sum_i t_i\, f(\kappa r_i), \quad f(a) = \sum_k c_k a^k \qquad\Longrightarrow\qquad
//!   z(\kappa) = \sum_k c_k m_k \kappa^k, \quad m_k = \sum_i t_i r_i^k$$
//! The moments are summed in one pass over the row. After that, an evaluation of the equation of an implicit step
//! costs O(1) instead of an exponential or a division per coordinate. Most steps of a run are short enough.
//!
//! **Care** Within [`Function::radii`] the omitted terms are below 1e-16 of the largest kept one. Beyond the radii the
//! caller evaluates the row directly. **Source** Taylor series; the series of Lambert's function: \[CGHJK96, sec. 2\].

use crate::row::Row;

/// Number of terms of a short series, and of a long one.
pub(crate) const SHORT: usize = 8;
pub(crate) const LONG: usize = 16;

/// The Taylor series of a function.
pub(crate) struct Function {
    /// c_k.
    pub(crate) terms: [f64; LONG],
    /// The largest |a| for the short series and for the long one.
    pub(crate) radii: [f64; 2],
}

/// e^{−a}: c_k = (−1)^k/k!. The next term is below 0.04⁸/8! = 2e-16 and 0.6¹⁶/16! = 1e-17.
pub(crate) const EXPONENTIAL: Function = Function { terms: exponential(), radii: [0.04, 0.6] };

/// e^{−W(a)} = W(a)/a: c_k = (−(k + 1))^k/(k + 1)!. The next term is below 119·0.0045⁸ = 2e-17 and 1.4e5·0.045¹⁶ =
/// 4e-17.
pub(crate) const LAMBERT: Function = Function { terms: lambert(), radii: [0.0045, 0.045] };

const fn exponential() -> [f64; LONG] {
    let mut terms = [1.0; LONG];
    let mut k = 1;
    while k < LONG {
        terms[k] = -terms[k - 1] / k as f64;
        k += 1;
    }
    terms
}

const fn lambert() -> [f64; LONG] {
    let mut terms = [1.0; LONG];
    let mut k = 1;
    while k < LONG {
        let (mut term, mut j) = (1.0 / (k + 1) as f64, 1);
        while j <= k {
            term *= -((k + 1) as f64) / j as f64;
            j += 1;
        }
        terms[k] = term;
        k += 1;
    }
    terms
}

impl Function {
    /// Number of terms needed up to |a| = `largest`; `None` if the long series is too short.
    pub(crate) fn length(&self, largest: f64) -> Option<usize> {
        let [short, long] = self.radii;
        match largest {
            a if a <= short => Some(SHORT),
            a if a <= long => Some(LONG),
            _ => None,
        }
    }

    /// Σ c_k m_k κ^k and its derivative.
    #[inline]
    pub(crate) fn sum(&self, moments: &[f64], kappa: f64) -> (f64, f64) {
        let (mut value, mut slope) = (0.0, 0.0);
        for (c, m) in self.terms.iter().zip(moments).rev() {
            slope = slope * kappa + value;
            value = value * kappa + c * m;
        }
        (value, slope)
    }
}

/// m_k = Σ t r^k for k < K, where `term` gives t and r of a coordinate.
#[inline]
pub(crate) fn moments<const K: usize, X: Row<f64>>(
    x: X,
    term: impl Fn(usize, f64) -> (f64, f64),
) -> [f64; K] {
    let mut moments = [0.0; K];
    x.each(|i, x| {
        let (mut t, r) = term(i, x);
        for moment in &mut moments {
            *moment += t;
            t *= r;
        }
    });
    moments
}

/// z(κ) near κ = 0.
#[derive(Debug, Clone, Copy)]
pub struct PowerSeries {
    moments: [f64; LONG],
    length: usize,
    /// The largest |κ|.
    reach: f64,
}

impl PowerSeries {
    /// The series for |κ| up to `reach`, where |r_i| ≤ `largest`. It is extended beyond `reach` if its radius allows.
    pub(crate) fn new<X: Row<f64>>(
        function: &Function,
        reach: f64,
        largest: f64,
        x: X,
        term: impl Fn(usize, f64) -> (f64, f64),
    ) -> Self {
        let mut near = Self { moments: [0.0; LONG], length: 0, reach: -1.0 };
        if let Some(length) = function.length(reach * largest) {
            if length == SHORT {
                near.moments[..SHORT].copy_from_slice(&moments::<SHORT, X>(x, term));
            } else {
                near.moments = moments(x, term);
            }
            (near.length, near.reach) = (length, reach);
        }
        near
    }

    /// z and its derivative; `None` if κ is out of range.
    #[inline]
    pub(crate) fn at(&self, function: &Function, kappa: f64) -> Option<(f64, f64)> {
        let near = kappa.abs() <= self.reach;
        near.then(|| function.sum(self.moments.get(..self.length).unwrap_or(&[]), kappa))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Real;
    use crate::learn::implicit::lambert::w0;
    use crate::row::Dense;

    #[test]
    fn at_the_ends_of_the_radii() {
        for (function, exact) in [
            (&EXPONENTIAL, (|a: f64| Real::exp(-a)) as fn(f64) -> f64),
            (&LAMBERT, |a: f64| Real::exp(-w0(a))),
        ] {
            for (radius, length) in function.radii.into_iter().zip([SHORT, LONG]) {
                for a in [-radius, -0.3 * radius, 1e-9 * radius, 0.7 * radius, radius] {
                    let (value, slope) = function.sum(&[1.0; LONG][..length], a);
                    assert!((value / exact(a) - 1.0).abs() < 6e-16, "{a} {value}");
                    let h = 1e-5 * radius;
                    let difference = (exact(a + h) - exact(a - h)) / (2.0 * h);
                    assert!((slope - difference).abs() < 1e-7, "{a} {slope}");
                }
            }
        }
    }

    #[test]
    fn a_row_is_the_sum_of_its_coordinates() {
        let x = [0.5, -1.25, 0.0, 2.0];
        let w = [0.25, 1.5, 7.0, 0.125];
        for reach in [0.01, 0.25] {
            let near = PowerSeries::new(&EXPONENTIAL, reach, 2.0, Dense(&x), |i, x| (w[i] * x, x));
            for kappa in [-reach, 0.3 * reach, reach] {
                let exact: f64 = x.iter().zip(w).map(|(x, w)| w * x * Real::exp(-kappa * x)).sum();
                let slope: f64 =
                    x.iter().zip(w).map(|(x, w)| -w * x * x * Real::exp(-kappa * x)).sum();
                let (value, derivative) = near.at(&EXPONENTIAL, kappa).unwrap();
                assert!((value - exact).abs() < 1e-15 && (derivative - slope).abs() < 1e-14);
            }
            assert_eq!(near.at(&EXPONENTIAL, 1.01 * reach), None);
        }
        let far = PowerSeries::new(&EXPONENTIAL, 1.0, 2.0, Dense(&x), |_, _| (1.0, 1.0));
        assert_eq!(far.at(&EXPONENTIAL, 0.0), None);
    }
}
