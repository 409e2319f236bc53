//! # User-defined permissible functions
//! Built from closures for φ and ∇φ, and optionally φ″. Before a function is accepted, these properties are tested at
//! the log-odds 0, ±0.02, …, ±9.2 (p from 1e-4 to 1 − 1e-4) and at the ends:
//! * φ is finite, symmetric and not positive, $a = -\varphi(0) \ge 0$, $b > 0$;
//! * φ is strictly convex: ∇φ increases from each point to the next;
//! * ∇φ is the derivative of φ, and φ″ that of ∇φ.
//!
//! A function that fails is refused with the place and the numbers. Tests at finitely many points prove nothing, but
//! they find the usual mistakes.
//!
//! **Transfer** by bracketed Newton in the log-odds. **Conjugate** $Hp - \varphi(p)$. **Cost** about ten evaluations
//! of ∇φ and φ″ per call (very near saturation up to forty); without φ″, four more of ∇φ for each.
//! **Care** The conjugate loses the digits that Hp and φ(p) share: its error is about 1e-16·(a + b), not relative to
//! its value. [`curvature_floor`](Permissible::curvature_floor) is the smallest φ″ found on the grid and between its
//! neighbours. A function with a narrower dip makes it too large, and then every certificate that uses it may be
//! wrong.
//! **Source** \[NN09, def. 6\].

use std::fmt;

use super::{Permissible, fold, root};
use crate::Real;
use crate::error::{ConfigError, Refusal};

type Function = Box<dyn Fn(f64) -> f64 + Send + Sync>;

/// A φ given by closures.
///
/// ```
/// use geowalk::loss::permissible::{CustomPermissible, Permissible};
/// let phi = CustomPermissible::new("mine", |p| -p * (1.0 - p), |p| 2.0 * p - 1.0)?;
/// assert!((phi.transfer(0.5) - 0.75).abs() < 1e-15);
/// let error = CustomPermissible::new("concave", |p| p * (1.0 - p), |p| 1.0 - 2.0 * p).unwrap_err();
/// assert_eq!(error.to_string(), "refused: b = -phi(1/2) - a > 0 fails at 0.5: found -0.25, needed > 0");
/// # Ok::<(), geowalk::ConfigError>(())
/// ```
pub struct CustomPermissible {
    name: String,
    phi: Function,
    gradient: Function,
    curvature: Option<Function>,
    a: f64,
    b: f64,
    limit: f64,
    floor: f64,
}

impl fmt::Debug for CustomPermissible {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("CustomPermissible")
            .field("name", &self.name)
            .field("a", &self.a)
            .field("b", &self.b)
            .field("limit", &self.limit)
            .field("floor", &self.floor)
            .finish_non_exhaustive()
    }
}

/// The error for a condition that fails at a place, with the found and the required value.
fn refuse<T>(condition: &'static str, at: f64, found: f64, needed: String) -> Result<T, Refusal> {
    Err(Refusal { condition, at, found, needed })
}

/// The log-odds of the grid, from the middle outwards.
fn grid() -> impl Iterator<Item = f64> {
    (0..=460).map(|j| probability(0.02 * f64::from(j)))
}

/// Are x and y equal within a tolerance? Equal infinities are; NaN never is.
fn near(x: f64, y: f64, tolerance: f64) -> bool {
    x == y || (x - y).abs() <= tolerance
}

/// 1/(1 + eᵗ).
fn probability(t: f64) -> f64 {
    let e = Real::exp(-t);
    e / (1.0 + e)
}

/// f′(p) by five points with the step 1e-3·min(p, 1 − p). The truncation error is about 1e-12 of the fifth derivative
/// on that scale.
fn derivative(f: &Function, p: f64) -> f64 {
    let h = 1e-3 * fold(p).0;
    (8.0 * (f(p + h) - f(p - h)) - (f(p + 2.0 * h) - f(p - 2.0 * h))) / (12.0 * h)
}

/// f′(p) by five points at and above p, with the step 1e-3.
fn forward(f: &Function, p: f64) -> f64 {
    let h = 1e-3;
    let rise = |n: f64| f(p + n * h) - f(p);
    (48.0 * rise(1.0) - 36.0 * rise(2.0) + 16.0 * rise(3.0) - 3.0 * rise(4.0)) / (12.0 * h)
}

impl CustomPermissible {
    /// Tests φ and ∇φ, then builds the function. φ must be finite at 0 and 1; ∇φ may be infinite there.
    pub fn new(
        name: &str,
        phi: impl Fn(f64) -> f64 + Send + Sync + 'static,
        gradient: impl Fn(f64) -> f64 + Send + Sync + 'static,
    ) -> Result<Self, ConfigError> {
        let a = -phi(0.0);
        let mut custom = Self {
            name: name.to_owned(),
            a,
            b: -phi(0.5) - a,
            limit: gradient(1.0),
            floor: f64::NAN,
            phi: Box::new(phi),
            gradient: Box::new(gradient),
            curvature: None,
        };
        custom.test_values()?;
        custom.test_gradient()?;
        custom.floor = custom.least_curvature();
        Ok(custom)
    }

    /// Tests φ″, then adds it.
    pub fn with_curvature(
        mut self,
        curvature: impl Fn(f64) -> f64 + Send + Sync + 'static,
    ) -> Result<Self, ConfigError> {
        let bad = |p: f64| curvature(p).is_nan() || curvature(p) < 0.0;
        for p in [0.0, 1.0].into_iter().chain(grid().flat_map(|q| [q, 1.0 - q])) {
            if bad(p) {
                refuse("strict convexity", p, curvature(p), "phi'' >= 0".to_owned())?;
            }
        }
        for p in grid().flat_map(|q| [q, 1.0 - q]) {
            let (found, expected) = (curvature(p), derivative(&self.gradient, p));
            if !near(found, expected, 1e-5 * (expected.abs() + self.b)) {
                refuse("phi'' is the derivative of the gradient", p, found, expected.to_string())?;
            }
        }
        self.curvature = Some(Box::new(curvature));
        self.floor = self.least_curvature();
        Ok(self)
    }

    fn test_values(&self) -> Result<(), Refusal> {
        let phi = &self.phi;
        for p in [0.0, 1.0].into_iter().chain(grid().flat_map(|q| [q, 1.0 - q])) {
            if !phi(p).is_finite() {
                refuse("a finite value", p, phi(p), "a finite number".to_owned())?;
            }
        }
        // A constant that should make φ(0) = 0 may be slightly off because of rounding.
        let rounding = 1e-12 * self.b.abs();
        if self.a < -rounding {
            refuse("a = -phi(0) >= 0", 0.0, self.a, ">= 0".to_owned())?;
        }
        if self.b <= 0.0 {
            refuse("b = -phi(1/2) - a > 0", 0.5, self.b, "> 0".to_owned())?;
        }
        for q in grid().chain([0.0]) {
            let (found, expected) = (phi(1.0 - q), phi(q));
            if !near(found, expected, 1e-9 * self.b) {
                refuse("symmetry", 1.0 - q, found, format!("phi({q}) = {expected}"))?;
            }
            if expected > rounding {
                refuse("phi <= 0", q, expected, "<= 0".to_owned())?;
            }
        }
        Ok(())
    }

    fn test_gradient(&self) -> Result<(), Refusal> {
        let gradient = &self.gradient;
        // Test towards 0 and towards 1, so that both branches of a function with a case distinction are tested.
        for (side, end) in [(-1.0, 0.0), (1.0, 1.0)] {
            let mut previous: Option<f64> = None;
            for q in grid() {
                let p = if side < 0.0 { q } else { 1.0 - q };
                let found = gradient(p);
                if !found.is_finite() {
                    refuse("a finite gradient", p, found, "a finite number".to_owned())?;
                }
                if let Some(previous) = previous.filter(|&last| side * (found - last) <= 0.0) {
                    let relation = if side < 0.0 { '<' } else { '>' };
                    let needed = format!("{relation} {previous}, the gradient nearer to 1/2");
                    refuse("strict convexity", p, found, needed)?;
                }
                previous = Some(found);
                let expected = derivative(&self.phi, p);
                let rounding = (self.a.abs() + self.b) * f64::EPSILON / (1e-4 * q);
                if !near(found, expected, 1e-6 * (found.abs() + self.b) + rounding) {
                    refuse("the gradient is the derivative", p, found, expected.to_string())?;
                }
            }
            let found = gradient(end);
            let beyond = previous.is_none_or(|last| side * (found - last) > 0.0);
            if !beyond {
                let needed = "the limit of the gradient, which may be infinite".to_owned();
                refuse("the gradient at the end", end, found, needed)?;
            }
        }
        let (found, expected) = (gradient(1.0), -gradient(0.0));
        if !near(found, expected, 1e-9 * expected.abs()) {
            refuse("symmetry of the gradient", 1.0, found, expected.to_string())?;
        }
        Ok(())
    }

    /// The smallest φ″ on the grid and at the ends, refined by golden-section search around the smallest grid value.
    fn least_curvature(&self) -> f64 {
        let points: Vec<f64> = grid().chain([0.0]).collect();
        let values: Vec<f64> = points.iter().map(|&q| self.curvature(q)).collect();
        let Some(least) = (0..values.len()).min_by(|&i, &j| values[i].total_cmp(&values[j])) else {
            return f64::NAN;
        };
        let mut lo = points[(least + 1).min(points.len() - 1)];
        let mut hi = points[least.saturating_sub(1)];
        let mut floor = values[least];
        let golden = 0.5 * (5_f64.sqrt() - 1.0);
        for _ in 0..60 {
            let (p, q) = (hi - golden * (hi - lo), lo + golden * (hi - lo));
            let (at_p, at_q) = (self.curvature(p), self.curvature(q));
            floor = floor.min(at_p).min(at_q);
            if at_p <= at_q {
                hi = q;
            } else {
                lo = p;
            }
        }
        // Without φ″ the differences are noisy. A strictly convex function has none below 0.
        floor.max(0.0)
    }

    /// ln of |∇φ| as a function of the log-odds t of the likelier class, and its slope.
    fn log_gradient(&self, t: f64) -> (f64, f64) {
        let q = probability(t);
        let size = (self.gradient)(q).abs();
        (Real::ln(size), self.curvature(q) * q * (1.0 - q) / size)
    }
}

impl Permissible for CustomPermissible {
    /// `custom(name)`: identifies the function, but cannot be parsed.
    fn spec(&self) -> String {
        format!("custom({})", self.name)
    }

    fn a(&self) -> f64 {
        self.a
    }

    fn b(&self) -> f64 {
        self.b
    }

    fn curvature_floor(&self) -> f64 {
        self.floor
    }

    fn image(&self) -> (f64, f64) {
        (-self.limit, self.limit)
    }

    fn impurity(&self, p: f64) -> f64 {
        -(self.phi)(fold(p).0) - self.a
    }

    fn gradient(&self, p: f64) -> f64 {
        let (q, sign) = fold(p);
        -sign * (self.gradient)(q)
    }

    fn curvature(&self, p: f64) -> f64 {
        let (q, _) = fold(p);
        if let Some(curvature) = &self.curvature {
            return curvature(q);
        }
        if self.limit.is_infinite() {
            return if q == 0.0 { f64::INFINITY } else { derivative(&self.gradient, q) };
        }
        if q < 1e-3 {
            // Nothing is singular at the end, and for a step proportional to q rounding would dominate.
            return forward(&self.gradient, q);
        }
        derivative(&self.gradient, q)
    }

    fn tail(&self, h: f64) -> f64 {
        if h >= self.limit {
            return 0.0;
        }
        // Near ½, p − ½ is t/4. Below 1e-6 the neglected t³ is smaller than the rounding of p.
        let linear = 4.0 * h / self.curvature(0.5);
        if linear < 1e-6 {
            return probability(linear);
        }
        let ln_h = Real::ln(h);
        let t = root::increasing(linear.min(1.0), |t| {
            let (value, slope) = self.log_gradient(t);
            (value - ln_h, slope)
        });
        probability(t)
    }

    fn tail_excess(&self, h: f64) -> f64 {
        if h >= self.limit {
            return 0.0;
        }
        let p = self.tail(h);
        // Rounding must not take the result below the value at p = 0.
        Real::max(self.impurity(p) - h * p, 0.0)
    }

    fn conjugate_curvature(&self, h: f64) -> f64 {
        if h.abs() >= self.limit { 0.0 } else { 1.0 / self.curvature(self.tail(h.abs())) }
    }
}

#[cfg(test)]
mod tests {
    use super::super::{Entropy, Gini, Zeta};
    use super::*;

    /// The condition, the place and the value of a refusal.
    fn refusal(result: Result<CustomPermissible, ConfigError>) -> (&'static str, f64, f64) {
        match result.unwrap_err() {
            ConfigError::Refused(refusal) => (refusal.condition, refusal.at, refusal.found),
            other => panic!("{other}"),
        }
    }

    #[test]
    fn the_table_rebuilt_from_closures() {
        let known: [(Box<dyn Permissible>, f64); 3] = [
            (Box::new(Gini), 1.0),
            (Box::new(Entropy), f64::INFINITY),
            (Box::new(Zeta::new(-6.0).unwrap()), Real::tanh(1.5)),
        ];
        for (phi, limit) in known {
            let phi: &'static dyn Permissible = Box::leak(phi);
            let bare = CustomPermissible::new("x", |p| phi.phi(p), |p| phi.gradient(p)).unwrap();
            assert_eq!((bare.a(), bare.image().1), (0.0, limit));
            assert!((bare.curvature_floor() / phi.curvature_floor() - 1.0).abs() < 1e-9);
            let full = CustomPermissible::new("x", |p| phi.phi(p), |p| phi.gradient(p)).unwrap();
            let full = full.with_curvature(|p| phi.curvature(p)).unwrap();
            assert!((full.curvature_floor() / phi.curvature_floor() - 1.0).abs() < 1e-15);
            for h in [-1e8, -30.0, -0.8, -0.1, 0.0, 1e-12, 0.5, 0.99, 3.0, 50.0] {
                for custom in [&bare, &full] {
                    let error = (custom.transfer(h) - phi.transfer(h)).abs();
                    assert!(error <= 2e-15, "{phi:?} {h} {error}");
                    let error = (custom.conjugate(h) - phi.conjugate(h)).abs();
                    assert!(error <= 2e-15 * (1.0 + h.abs()), "{phi:?} {h} {error}");
                }
                // Probabilities have all their digits if the gradient is unbounded.
                let (found, expected) = (full.tail(h.abs()), phi.tail(h.abs()));
                let loose =
                    limit.is_finite() || (found - expected).abs() <= 1e-14 * expected + 1e-300;
                assert!(loose, "{phi:?} {h} {found}");
            }
        }
    }

    #[test]
    fn each_condition_is_tested() {
        type Scalar = fn(f64) -> f64;
        let new = |phi: Scalar, gradient: Scalar| CustomPermissible::new("x", phi, gradient);
        let gini: Scalar = |p| -p * (1.0 - p);
        let slope: Scalar = |p| 2.0 * p - 1.0;
        for (phi, gradient, expected) in [
            (|p: f64| p * Real::ln(p), slope, ("a finite value", 0.0)),
            (|p| 1.0 - p * (1.0 - p), slope, ("a = -phi(0) >= 0", 0.0)),
            (|p| p * (1.0 - p), slope, ("b = -phi(1/2) - a > 0", 0.5)),
            (|p| -p * (1.0 - p) * (1.0 + 0.1 * p), slope, ("symmetry", 0.505)),
            (gini, |p| 1.0 - 2.0 * p, ("strict convexity", 0.495)),
            (
                |p| -p.min(1.0 - p),
                |p| if p == 0.5 { 0.0 } else { (p - 0.5).signum() },
                ("strict convexity", 0.490_001),
            ),
            (gini, |p| 2.02 * p - 1.01, ("the gradient is the derivative", 0.495)),
            (
                gini,
                |p| if p == 1.0 { f64::NAN } else { 2.0 * p - 1.0 },
                ("the gradient at the end", 1.0),
            ),
        ] as [(Scalar, Scalar, (&str, f64)); 8]
        {
            let (condition, at, _) = refusal(new(phi, gradient));
            assert_eq!(condition, expected.0);
            assert!((at - expected.1).abs() < 1e-4, "{condition} {at}");
        }
        let result = new(gini, slope).unwrap().with_curvature(|_| 2.1);
        assert_eq!(refusal(result), ("phi'' is the derivative of the gradient", 0.5, 2.1));
        let result = new(gini, slope).unwrap().with_curvature(|_| -2.0);
        assert_eq!(refusal(result), ("strict convexity", 0.0, -2.0));
        // A dip that makes φ positive somewhere without touching the middle or the ends.
        let wave: Scalar =
            |p| -p * (1.0 - p) - 0.2 * Real::cos(4.0 * std::f64::consts::PI * p) + 0.2;
        assert_eq!(refusal(new(wave, slope)).0, "phi <= 0");
    }
}
