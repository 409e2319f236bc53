//! # Positive orthant
//! $$\langle u, v \rangle_p = \sum_i \frac{u_i v_i}{p_i^2}, \qquad \exp_p(v)_i = p_i\, e^{v_i / p_i}, \qquad
//! d(p, q) = \Vert \ln q - \ln p \Vert_2$$
//! The logarithm maps it to ℝⁿ, so it is flat and complete. Transport is $v \mapsto v q / p$, and the mean is the
//! geometric mean. Its gradient step is natural EG.
//!
//! **Cost** O(n), one `exp` or `ln` per coordinate. **Care** Exponents beyond ±[`Real::MAX_EXPONENT`] and results
//! outside the positive normal numbers are moved to the nearest representable number and reported as
//! [`Event::Clamped`]. The length of the step is that of the requested walk. Near p the ratio is computed as
//! $1 + (q - p)/p$, which is exact; for extreme points ln q − ln p replaces ln(q/p). **Source** \[KMWW07, ex. 7, eq.
//! (22)\]; curvature 0.

mod implicit;

pub(crate) mod theorems;

use super::norm;
use crate::Real;
use crate::error::{self, Allowed, ConfigError, DomainError};
use crate::geometry::mean::{self, Mean};
use crate::geometry::{Curvature, Event, ExpLog, Manifold, Step, Work};
use crate::learn::base;
use crate::learn::gauge::Gauge;
use crate::learn::{Chart, Exponent, Logarithmic, RowSummary, SparseForm, Steps};
use crate::row::Row;
use crate::update::Round;

/// The vectors of ℝⁿ with positive coordinates, with the Euclidean metric of their logarithms.
///
/// ```
/// use geowalk::Real;
/// use geowalk::geometry::{ExpLog, Work, manifolds::PositiveOrthant};
/// let orthant = PositiveOrthant::new(2)?;
/// let q = [Real::exp(3.0), Real::exp(4.0)];
/// let d: f64 = orthant.distance(&[1.0, 1.0], &q, &mut Work::new());
/// assert!((d - 5.0).abs() < 1e-15);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Debug, Clone, PartialEq)]
pub struct PositiveOrthant {
    n: usize,
}

impl PositiveOrthant {
    /// The positive vectors of n ≥ 1 coordinates.
    pub fn new(n: usize) -> Result<Self, ConfigError> {
        error::parameter("n", n as f64, Allowed::Whole(1))?;
        Ok(Self { n })
    }
}

/// ln(q/p).
fn ln_ratio<F: Real>(p: F, q: F) -> F {
    // Between p/2 and 2p the difference is exact.
    let difference = (q - p) / p;
    if difference >= -F::HALF && difference <= F::ONE {
        return difference.ln_1p();
    }
    let ratio = q / p;
    if ratio >= F::TINY && ratio <= F::MAX { ratio.ln() } else { q.ln() - p.ln() }
}

impl<F: Real> Manifold<F> for PositiveOrthant {
    fn ambient(&self) -> usize {
        self.n
    }

    fn dim(&self) -> usize {
        self.n
    }

    fn check(&self, p: &[F]) -> Result<(), DomainError> {
        error::finite("the point", p, self.n)?;
        error::each("the point", p, Allowed::Positive)
    }

    fn check_tangent(&self, _: &[F], v: &[F]) -> Result<(), DomainError> {
        error::finite("the tangent vector", v, self.n)
    }

    fn origin(&self, p: &mut [F]) {
        p.fill(F::ONE);
    }

    fn project(&self, _: &[F], _: &mut [F]) {}

    fn inner(&self, p: &[F], u: &[F], v: &[F], _: &mut Work<F>) -> F {
        p.iter().zip(u).zip(v).map(|((&p, &u), &v)| (u / p) * (v / p)).sum()
    }

    fn norm(&self, p: &[F], v: &[F], _: &mut Work<F>) -> F {
        norm(p.iter().zip(v).map(|(&p, &v)| v / p))
    }

    fn gradient(&self, p: &[F], covector: &[F], v: &mut [F], _: &mut Work<F>) {
        for ((v, &g), &p) in v.iter_mut().zip(covector).zip(p) {
            *v = p * (p * g);
        }
    }

    fn retract(
        &self,
        p: &mut [F],
        v: &[F],
        t: F,
        work: &mut Work<F>,
    ) -> Result<Step<F>, DomainError> {
        self.exp(p, v, t, work)
    }
}

impl<F: Real> ExpLog<F> for PositiveOrthant {
    fn curvature(&self) -> Curvature {
        Curvature::FLAT
    }

    fn injectivity(&self, _: &[F]) -> F {
        F::INFINITY
    }

    fn exp(&self, p: &mut [F], v: &[F], t: F, work: &mut Work<F>) -> Result<Step<F>, DomainError> {
        let length = t.abs() * self.norm(p, v, work);
        if !length.is_finite() {
            return Err(DomainError::Overflow { length: length.f64(), limit: F::MAX.f64() });
        }
        let mut coordinates = 0;
        for (p, &v) in p.iter_mut().zip(v) {
            let exponent = t * (v / *p);
            if exponent == F::ZERO {
                continue;
            }
            let bounded = exponent.clamp(-F::MAX_EXPONENT, F::MAX_EXPONENT);
            let exact = *p * bounded.exp();
            *p = exact.clamp(F::TINY, F::MAX);
            coordinates += usize::from(bounded != exponent || *p != exact);
        }
        let event = if coordinates > 0 { Event::Clamped { coordinates } } else { Event::Inside };
        Ok(Step { length, event })
    }

    fn log(&self, p: &[F], q: &[F], v: &mut [F], _: &mut Work<F>) -> Result<(), DomainError> {
        for ((v, &q), &p) in v.iter_mut().zip(q).zip(p) {
            *v = p * ln_ratio(p, q);
        }
        Ok(())
    }

    fn distance(&self, p: &[F], q: &[F], _: &mut Work<F>) -> F {
        norm(p.iter().zip(q).map(|(&p, &q)| ln_ratio(p, q)))
    }

    fn transport(&self, p: &[F], q: &[F], v: &mut [F], _: &mut Work<F>) -> Result<(), DomainError> {
        for ((v, &q), &p) in v.iter_mut().zip(q).zip(p) {
            *v = *v / p * q;
        }
        Ok(())
    }

    fn mean(
        &self,
        points: &[F],
        weights: Option<&[F]>,
        p: &mut [F],
        _: &mut Work<F>,
    ) -> Result<Mean, DomainError> {
        mean::arithmetic(points, weights, p, F::ln, F::exp)
    }
}

/// Geodesic steps on the positive orthant at O(nnz), $w_i \leftarrow w_i\, e^{-\eta g x_i w_i}$: natural EG.
///
/// Differs from EGU: the exponent contains the weight. **Start** equal weights w₀, an important hyper-parameter: w₀ =
/// 1 is often disastrous. **Care** Exponents are limited to ±700 and logarithms of weights to 345; both are reported.
/// **Source** \[KMWW07, eq. (22)\].
#[derive(Debug, Clone, PartialEq)]
pub struct OrthantForm(Logarithmic);

/// τ·x·w.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct WeightedValue(f64);

impl Exponent for WeightedValue {
    const MIRROR: bool = false;

    fn tau(self) -> f64 {
        self.0
    }

    #[inline(always)]
    fn of(self, x: f64, w: f64) -> f64 {
        self.0 * (x * w)
    }
}

impl Steps<OrthantForm> {
    /// All weights start at `start` > 0.
    pub fn new(start: f64) -> Result<Self, ConfigError> {
        Ok(Self::of(OrthantForm(Logarithmic::new(start)?)))
    }
}

impl SparseForm for OrthantForm {
    type Chart = Logarithmic;
    type Move = WeightedValue;

    fn spec(&self) -> String {
        format!("explicit:orthant(ln start={})", self.0.start())
    }

    fn chart(&self) -> Logarithmic {
        self.0.clone()
    }

    fn plan(
        &self,
        chart: &Logarithmic,
        _: RowSummary,
        kappa: f64,
        round: &mut Round,
    ) -> Result<Option<WeightedValue>, DomainError> {
        round.length = base::length(kappa.abs() * chart.length())?;
        Ok((kappa != 0.0).then_some(WeightedValue(-kappa)))
    }

    fn gauge<X: Row<f64>>(&self, chart: &Logarithmic, x: X) -> Gauge {
        Gauge::positive(x, |i| chart.local(i), true)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    proptest! {
        #![proptest_config(super::super::tests::cases(200))]
        #[test]
        fn it_is_flat_space_through_the_logarithm(
            raw in prop::collection::vec(-1.0..1.0_f64, 16), spread in 0.0..300.0_f64, scale in
            prop_oneof![Just(1.0), Just(1e-12), Just(100.0)],
        ) {
            let orthant = PositiveOrthant::new(4).unwrap();
            let work = &mut Work::new();
            let p: Vec<f64> = raw[..4].iter().map(|x| Real::exp(spread * x)).collect();
            let v: Vec<f64> = raw[4..8].iter().zip(&p).map(|(x, p)| x * p * scale).collect();
            let u: Vec<f64> = raw[8..12].iter().zip(&p).map(|(x, p)| x * p).collect();
            let mut q = p.clone();
            let step = orthant.exp(&mut q, &v, 1.0, work).unwrap();
            prop_assert_eq!(step.event, Event::Inside);
            let length = orthant.norm(&p, &v, work);
            // Rounding q moves ln q by one ulp of 1.
            prop_assert!((orthant.distance(&p, &q, work) - length).abs() <= 1e-15 + 4e-16 * length);
            let mut back = vec![0.0; 4];
            orthant.log(&p, &q, &mut back, work).unwrap();
            for i in 0..4 {
                prop_assert!((back[i] - v[i]).abs() <= 4e-16 * (1.0 + scale) * p[i]);
            }
            let (mut far, mut moved) = (u.clone(), v.clone());
            orthant.transport(&p, &q, &mut far, work).unwrap();
            orthant.transport(&p, &q, &mut moved, work).unwrap();
            let products = (orthant.inner(&p, &u, &v, work), orthant.inner(&q, &far, &moved, work));
            prop_assert!((products.0 - products.1).abs() <= 1e-15 * 4.0 * scale);
            let mut there = vec![0.0; 4];
            orthant.log(&q, &p, &mut there, work).unwrap();
            for i in 0..4 {
                prop_assert!((there[i] + moved[i]).abs() <= 1e-15 * (1.0 + scale) * q[i]);
            }
            let mut gradient = vec![0.0; 4];
            orthant.gradient(&p, &raw[12..], &mut gradient, work);
            let differential: f64 = u.iter().zip(&raw[12..]).map(|(u, g)| u * g).sum();
            let size: f64 = u.iter().zip(&raw[12..]).map(|(u, g)| (u * g).abs()).sum();
            prop_assert!((orthant.inner(&p, &gradient, &u, work) - differential).abs() <= 2e-15 * size);
        }
    }

    #[test]
    fn nothing_overflows_and_clamping_is_counted() {
        let orthant = PositiveOrthant::new(3).unwrap();
        let work = &mut Work::new();
        let mut p = [1.0, 1e300, 1e-300];
        let step = orthant.exp(&mut p, &[1e4, 1e302, -1e-298], 1.0, work).unwrap();
        assert_eq!(step.event, Event::Clamped { coordinates: 3 });
        assert_eq!(p, [Real::exp(700.0), f64::MAX, f64::MIN_POSITIVE]);
        let mut p = [1.0_f32, 1.0, 1.0];
        let step = orthant.exp(&mut p, &[1e3, -1e3, 0.5], 1.0, &mut Work::new()).unwrap();
        assert_eq!(step.event, Event::Clamped { coordinates: 2 });
        assert!(p.iter().all(|p| p.is_normal()));
        let d = orthant.distance(&[1e300, 1e-300, 1.0], &[1e-300, 1e300, 1.0], work);
        let exact = 600.0 * std::f64::consts::LN_10 * std::f64::consts::SQRT_2;
        assert!((d - exact).abs() < 1e-12, "{d} {exact}");
        let d = orthant.distance(&[0.3, 1.0, 1.0], &[0.300_000_000_000_3, 1.0, 1.0], work);
        assert!((d - 1.000_125_908_015_995e-12).abs() < 1e-27, "{d:e}");
    }

    #[test]
    fn walks_that_cannot_be_computed_leave_the_point() {
        let orthant = PositiveOrthant::new(2).unwrap();
        let work = &mut Work::new();
        let mut p = [1e-10, 1.0];
        assert!(orthant.exp(&mut p, &[1e300, 0.0], 1.0, work).is_err() && p == [1e-10, 1.0]);
        assert!(orthant.exp(&mut p, &[f64::NAN, 0.0], 1.0, work).is_err() && p == [1e-10, 1.0]);
        assert!(orthant.check(&[1.0, 0.0]).is_err() && orthant.check(&[1.0]).is_err());
        assert!(PositiveOrthant::new(0).is_err());
    }

    #[test]
    fn the_mean_is_the_geometric_one() {
        let orthant = PositiveOrthant::new(2).unwrap();
        let mut p = [0.0; 2];
        let points = [1.0, 2.0, 16.0, 2.0];
        let mean = orthant.mean(&points, Some(&[3.0, 1.0]), &mut p, &mut Work::new()).unwrap();
        assert!((p[0] - 2.0).abs() < 1e-15 && (p[1] - 2.0).abs() < 1e-15, "{p:?}");
        assert!(mean.unique && (mean.radius - Real::ln(8.0)).abs() < 1e-15);
    }
}
