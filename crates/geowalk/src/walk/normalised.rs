//! # Normalised rows
//! $$s_i = \max_{s \le t} |x_{s,i}|, \qquad \tilde x_i = x_i/s_i, \qquad z = \langle\tilde w, \tilde x\rangle, \qquad
//!   w_i = \tilde w_i/s_i$$
//! Any walk on rows whose coordinates are divided by the largest magnitude so far, including the current row. Weights
//! are reported for the original rows, and so are predictions, averages and the first-order certificate. A larger
//! value reduces its weight in proportion; $\tilde w$ stays.
//!
//! **Start** that of the wrapped walk; an unseen feature has weight 0. **Cost** O(nnz), a division per coordinate of
//! the row. **Care** Values below 1e-150 count as 0; values above 1e150 are errors. In a row with a value larger than
//! all learned ones, that value counts as ±1, so that [`predict`](Walk::predict) and [`step`](Walk::step) agree.

use std::marker::PhantomData;

use super::Walk;
use crate::Real;
use crate::error::{Allowed, ConfigError, DomainError};
use crate::learn::gauge::Gauge;
use crate::loss::Loss;
use crate::row::{Row, Sparse};
use crate::update::{Round, Target};
use crate::walk::{self, LARGEST};

/// The type of row that the wrapped walk gets in a step. A program can choose a type for which the walk is already
/// compiled, to avoid a second copy of its code.
pub trait Shape: Send + Sync + 'static {
    /// The row type.
    type Of<'a>: Row<f64>;
    /// The row of these coordinates.
    fn of(row: Sparse<'_, f64>) -> Self::Of<'_>;
}

/// Passes sparse rows on unchanged.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct AsSparse;

impl Shape for AsSparse {
    type Of<'a> = Sparse<'a, f64>;
    fn of(row: Sparse<'_, f64>) -> Sparse<'_, f64> {
        row
    }
}

/// A walk on normalised rows, or on original rows. It is one type for both, for programs that would otherwise be
/// compiled for both types.
///
/// ```
/// use geowalk::loss::Squared;
/// use geowalk::row::Dense;
/// use geowalk::walk::{Euclidean, Normalised, Walk};
///
/// let (mut metres, mut millimetres) = (Normalised::new(Euclidean::new()),
/// Normalised::new(Euclidean::new())); for (x, y) in [(1.0, 2.0), (3.0, 5.0), (-2.0, -4.5)] {
///     let a = metres.step(Dense(&[1.0, x]), f64::into(y), &Squared, 0.25)?;
///     let b = millimetres.step(Dense(&[1.0, 1000.0 * x]), f64::into(y), &Squared, 0.25)?;
///     assert!((a.z - b.z).abs() < 1e-12);
/// }
/// # Ok::<(), geowalk::DomainError>(())
/// ```
#[derive(Debug)]
pub struct Normalised<W, S = AsSparse> {
    walk: W,
    /// The scales s, if rows are normalised.
    scales: Option<Vec<f64>>,
    indices: Vec<u32>,
    values: Vec<f64>,
    /// Previous values of the scales that the row changes.
    before: Vec<(usize, f64)>,
    shape: PhantomData<S>,
}

impl<W: Clone, S> Clone for Normalised<W, S> {
    fn clone(&self) -> Self {
        Self { scales: self.scales.clone(), ..Self::made(self.walk.clone(), None) }
    }
}

/// Compares walks and scales; scratch memory does not count.
impl<W: PartialEq, S> PartialEq for Normalised<W, S> {
    fn eq(&self, other: &Self) -> bool {
        self.walk == other.walk && self.scales == other.scales
    }
}

impl<W> Normalised<W> {
    /// `walk` on normalised rows.
    pub fn new(walk: W) -> Self {
        Self::shaped(walk, true)
    }
}

impl<W, S> Normalised<W, S> {
    /// `walk` on rows that are normalised or not. In a step, the wrapped walk gets rows of the type that S names.
    pub fn shaped(walk: W, normalise: bool) -> Self {
        Self::made(walk, normalise.then(Vec::new))
    }

    fn made(walk: W, scales: Option<Vec<f64>>) -> Self {
        let (indices, values, before) = (Vec::new(), Vec::new(), Vec::new());
        Self { walk, scales, indices, values, before, shape: PhantomData }
    }

    /// The wrapped walk.
    pub fn inner(&self) -> &W {
        &self.walk
    }
}

/// A row in units of the scales, or of |x| where |x| is larger.
#[derive(Debug, Clone, Copy)]
struct Rescaled<'a, X> {
    x: X,
    scales: &'a [f64],
}

impl<X: Row<f64>> Row<f64> for Rescaled<'_, X> {
    #[inline]
    fn each(self, mut f: impl FnMut(usize, f64)) {
        self.x.each(|i, x| {
            if walk::present(x) && x != 0.0 {
                let scale = self.scales.get(i).copied().unwrap_or(0.0);
                f(i, x / Real::max(scale, x.abs()));
            }
        });
    }

    fn bound(self) -> usize {
        self.x.bound()
    }
}

impl<W: Walk, S: Shape> Normalised<W, S> {
    /// Converts the row to units of the scales, which are updated with the row first. On an error nothing changes.
    fn rescale<X: Row<f64>>(&mut self, x: X) -> Result<usize, DomainError> {
        let Self { scales, indices, values, before, .. } = self;
        let Some(scales) = scales else { return Ok(0) };
        let bound = x.bound();
        if bound > scales.len() {
            scales.resize(bound, 0.0);
        }
        indices.clear();
        values.clear();
        before.clear();
        let mut bad = None;
        x.each(|i, x| {
            if !walk::present(x) || x == 0.0 {
                return;
            }
            let size = x.abs();
            if size.is_nan() || size > LARGEST {
                bad = Some((i, x));
                return;
            }
            if let (Some(scale), Ok(index)) = (scales.get_mut(i), u32::try_from(i)) {
                if size > *scale {
                    before.push((i, *scale));
                    *scale = size;
                }
                indices.push(index);
                values.push(x / *scale);
            }
        });
        match bad {
            None => Ok(bound),
            Some((index, value)) => {
                self.undo();
                let allowed = Allowed::Closed(-LARGEST, LARGEST);
                Err(DomainError::Coordinate { what: "the row", index, value, allowed })
            }
        }
    }

    /// Restores the scales to their values before the row.
    #[cold]
    fn undo(&mut self) {
        for (i, scale) in self.before.drain(..) {
            if let Some(place) = self.scales.as_mut().and_then(|scales| scales.get_mut(i)) {
                *place = scale;
            }
        }
    }

    /// The factor that converts a weight of normalised rows to one of original rows.
    fn inverse_scale(&self, i: usize) -> f64 {
        match &self.scales {
            None => 1.0,
            Some(scales) => scales.get(i).map_or(0.0, |scale| inverse(*scale)),
        }
    }
}

fn inverse(scale: f64) -> f64 {
    if scale > 0.0 { scale.recip() } else { 0.0 }
}

impl<W: Walk, S: Shape> Walk for Normalised<W, S> {
    fn features(&self) -> usize {
        self.walk.features()
    }

    fn grow(&mut self, n: usize) {
        self.walk.grow(n);
    }

    fn predict<X: Row<f64>>(&self, x: X) -> f64 {
        match &self.scales {
            None => self.walk.predict(x),
            Some(scales) => self.walk.predict(Rescaled { x, scales }),
        }
    }

    #[inline]
    fn step<X: Row<f64>, L: Loss + ?Sized>(
        &mut self,
        x: X,
        target: Target,
        loss: &L,
        rate: f64,
    ) -> Result<Round, DomainError> {
        if self.scales.is_none() {
            return self.walk.step(x, target, loss, rate);
        }
        let bound = self.rescale(x)?;
        let row = S::of(Sparse::distinct(&self.indices, &self.values, bound));
        let made = self.walk.step(row, target, loss, rate);
        if made.is_err() || target.weight == 0.0 {
            self.undo(); // a row without weight does not count as an example
        }
        made
    }

    fn pull(&self) -> f64 {
        self.walk.pull()
    }

    fn follow(&mut self, pull: f64) {
        self.walk.follow(pull);
    }

    fn share(&mut self, other: &Self) {
        self.walk.share(&other.walk);
    }

    fn read(&self, w: &mut Vec<f64>) {
        self.walk.read(w);
        if self.scales.is_some() {
            for (i, w) in w.iter_mut().enumerate() {
                *w *= self.inverse_scale(i);
            }
        }
    }

    fn common(&self) -> f64 {
        self.walk.common()
    }

    fn local(&self, i: usize) -> Option<f64> {
        Some(self.walk.local(i)? * self.inverse_scale(i))
    }

    fn unit(&self) -> f64 {
        self.walk.unit()
    }

    fn gauge<X: Row<f64>>(&self, x: X) -> Gauge {
        match &self.scales {
            None => self.walk.gauge(x),
            Some(scales) => self.walk.gauge(Rescaled { x, scales }),
        }
    }

    fn gamma(&self, rate: Option<f64>, out: &mut Vec<f64>) -> Option<f64> {
        // The wrapped walk's Γ is that of the normalised rows, whose units changed.
        if self.scales.is_none() { self.walk.gamma(rate, out) } else { None }
    }

    fn lengths(&self, rate: Option<f64>) -> Option<(f64, f64)> {
        if self.scales.is_none() { self.walk.lengths(rate) } else { None }
    }

    fn bets(&self, size: &dyn Fn(usize) -> f64) -> Option<f64> {
        if self.scales.is_none() { self.walk.bets(size) } else { None }
    }

    #[inline]
    fn gradient<X: Row<f64>>(&self, round: &Round, x: X) -> f64 {
        match &self.scales {
            None => self.walk.gradient(round, x),
            Some(_) => round.slope.abs() * x.length(),
        }
    }

    fn spec(&self) -> String {
        let walk = self.walk.spec();
        if self.scales.is_some() { format!("normalised({walk})") } else { walk }
    }

    fn save_state(&self, put: &mut dyn FnMut(&'static str, &[f64])) {
        self.walk.save_state(put);
        if let Some(scales) = &self.scales {
            put("scales", scales);
        }
    }

    fn load_state(
        &mut self,
        get: &mut dyn FnMut(&'static str) -> Option<Vec<f64>>,
    ) -> Result<(), ConfigError> {
        let scales = match &self.scales {
            None => None,
            Some(_) => Some(walk::array(get, "scales", Allowed::Closed(0.0, LARGEST))?),
        };
        self.walk.load_state(get)?;
        self.scales = scales;
        Ok(())
    }
}
