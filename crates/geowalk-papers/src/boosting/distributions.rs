//! # Tails of three distributions
//! The tail probabilities for the tests of means and ranks: Student's t, χ² and F, each as the probability of a value
//! at least as extreme. The degrees of freedom are integers, so Γ is needed only at multiples of ½, where it is a
//! product.
//!
//! **Cost** a few tens of terms. **Care** The relative accuracy in the tails is about 1e-13: the continued fraction is
//! used on the side where it converges, and small probabilities are never computed by subtraction. **Source** \[AS64,
//! 6.5.31, 26.5.8\].

use geowalk::Real;

/// ln Γ(n/2), n ≥ 1.
fn ln_gamma_half(n: u32) -> f64 {
    // Γ(½) = √π, Γ(1) = 1, Γ(x + 1) = xΓ(x).
    let start = if n % 2 == 1 { 0.5 * Real::ln(std::f64::consts::PI) } else { 0.0 };
    let first = if n % 2 == 1 { 1 } else { 2 };
    start + (first..n).step_by(2).map(|k| Real::ln(0.5 * f64::from(k))).sum::<f64>()
}

/// b₀ + a₁/(b₁ + a₂/(b₂ + …)) by Lentz's method; `term(k)` returns (a_k, b_k).
fn fraction(mut term: impl FnMut(u32) -> (f64, f64)) -> f64 {
    const TINY: f64 = 1e-300;
    let away = |x: f64| if x.abs() < TINY { TINY } else { x };
    let (_, first) = term(0);
    let mut value = away(first);
    let (mut c, mut d) = (value, 0.0);
    for k in 1..10_000 {
        let (a, b) = term(k);
        d = 1.0 / away(b + a * d);
        c = away(b + a / c);
        value *= c * d;
        if (c * d - 1.0).abs() < 1e-16 {
            break;
        }
    }
    value
}

/// The regularised incomplete beta function I_x(a/2, b/2).
fn beta(a: u32, b: u32, x: f64) -> f64 {
    if x <= 0.0 {
        return 0.0;
    }
    if x >= 1.0 {
        return 1.0;
    }
    let (p, q) = (0.5 * f64::from(a), 0.5 * f64::from(b));
    if x > (p + 1.0) / (p + q + 2.0) {
        return 1.0 - beta(b, a, 1.0 - x);
    }
    let scale = ln_gamma_half(a + b) - ln_gamma_half(a) - ln_gamma_half(b);
    let front = Real::exp(scale + p * Real::ln(x) + q * Real::ln_1p(-x)) / p;
    front
        / fraction(|k| {
            let m = f64::from(k / 2);
            let numerator = if k % 2 == 0 {
                m * (q - m) * x / ((p + 2.0 * m - 1.0) * (p + 2.0 * m))
            } else {
                -(p + m) * (p + q + m) * x / ((p + 2.0 * m) * (p + 2.0 * m + 1.0))
            };
            (numerator, 1.0)
        })
}

/// P(∣T∣ ≥ ∣t∣) with `freedom` degrees of freedom.
///
/// ```
/// use geowalk_papers::boosting::distributions::student;
/// assert!((student(2.228_138_851_986_273, 10) - 0.05).abs() < 1e-13);
/// assert_eq!(student(0.0, 5), 1.0);
/// ```
pub fn student(t: f64, freedom: u32) -> f64 {
    let n = f64::from(freedom);
    beta(freedom, 1, n / (n + t * t))
}

/// P(F ≥ f) with `above` degrees of freedom in the numerator and `below` in the denominator.
pub fn fisher(f: f64, above: u32, below: u32) -> f64 {
    let (n, m) = (f64::from(above), f64::from(below));
    beta(below, above, m / (m + n * f))
}

/// P(χ² ≥ x) with `freedom` degrees of freedom.
pub fn chi_squared(x: f64, freedom: u32) -> f64 {
    if x <= 0.0 {
        return 1.0;
    }
    let (a, x) = (0.5 * f64::from(freedom), 0.5 * x);
    let front = Real::exp(a * Real::ln(x) - x - ln_gamma_half(freedom));
    if x < a + 1.0 {
        let (mut term, mut sum, mut k) = (1.0 / a, 1.0 / a, a);
        while term > 1e-17 * sum {
            k += 1.0;
            term *= x / k;
            sum += term;
        }
        return 1.0 - front * sum;
    }
    front
        / fraction(|k| {
            let k = f64::from(k);
            (-k * (k - a), x + 2.0 * k + 1.0 - a)
        })
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Values computed by mpmath with 40 digits.
    #[expect(
        clippy::unreadable_literal,
        clippy::excessive_precision,
        reason = "digits as they were printed"
    )]
    #[test]
    fn tails_are_those_of_the_definition() {
        let near = |found: f64, exact: f64| {
            assert!((found / exact - 1.0).abs() < 1e-12, "{found:e} {exact:e}");
        };
        near(student(0.5, 1), 0.70483276469913345);
        near(student(1.5, 51), 0.13978002188861117);
        near(student(2.75, 89), 0.0072178901241475873);
        near(student(40.0, 7), 1.590217998485037e-9);
        near(student(12.0, 88), 3.1981018944730606e-20);
        near(fisher(0.7, 10, 500), 0.72479438892746312);
        near(fisher(3.25, 10, 880), 0.0003915172622945212);
        near(fisher(25.0, 3, 12), 1.8962069870910665e-5);
        near(chi_squared(3.0, 10), 0.98142406377785933);
        near(chi_squared(18.5, 10), 0.047092722827171324);
        near(chi_squared(120.0, 10), 5.0600460658425739e-21);
        near(chi_squared(0.4, 1), 0.52708925686553807);
        near(chi_squared(9.0, 3), 0.029290886534888232);
    }
}
