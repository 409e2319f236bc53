//! # Steps at O(nnz): charts and sparse forms
//! The gradient of a linear predictor is a multiple g·x of the row. In suitable coordinates a step of a geometry
//! therefore changes only the coordinates of the row. Such coordinates are a [`Chart`]. There are five:
//!
//! | chart | weights | geometries |
//! |---|---|---|
//! | [`Plain`] | w_i is a function of its dual coordinate θ_i | gradient descent, Burg's entropy |
//! | [`Scaled`] | w = c·v | sphere, hyperbolic space |
//! | [`Logarithmic`] | ln w | relative entropy and its twin, positive orthant |
//! | [`Partitioned`] | w_i = e^{λ_i}/Z | relative entropy on the simplex and its variants, Fisher's simplex |
//! | [`Dual`] | θ with a running norm | p-norm |
//!
//! A geometry names its chart and computes its move in it ([`SparseForm`]). The charts implement growth, averages, Γ
//! of certificates, saving and loading once for all geometries, and [`Steps`] makes a [`Walk`] of any sparse form.
//! Each form is defined in the file of its manifold or generator. `laws::sparse` tests that it equals the O(n)
//! definition in [`update`](crate::update).
//!
//! [`Implicit`] steps of mirror geometries are explicit steps of a different size, which is found on a `Curve`.
//! [`OnManifold`] and [`WithGenerator`] work with any manifold and any generator at O(n), without a chart.
//!
//! **Care** Functions of charts that run once per coordinate are `inline(always)` and test ranges themselves: in the
//! inner loop, calls to [`Allowed::contains`](crate::error::Allowed::contains) took 15 % of the time of a step.

pub(crate) mod absent_weight;
pub(crate) mod base;
mod clip_remainder;
mod compensated_sum;
mod dual;
pub(crate) mod entries;
pub(crate) mod factor;
pub mod gauge;
mod generic;
pub mod implicit;
mod logarithmic;
mod partitioned;
mod plain;
mod scaled;
pub(crate) mod solve;

pub use base::Walk;
pub use dual::Dual;
pub use factor::Factor;
pub use generic::{OnManifold, WithGenerator};
pub use implicit::{After, Implicit, Proximal, Solved};
pub use logarithmic::{Exponent, Logarithmic};
pub(crate) use partitioned::beyond_logarithm;
pub use partitioned::{Partitioned, Reweigh};
pub use plain::{Coordinate, Plain};
pub use scaled::{Blend, Scaled};

use crate::error::{ConfigError, DomainError};
use crate::loss::Loss;
use crate::row::Row;
use crate::update::{Round, Target};
use base::judge;
use gauge::Gauge;

/// Stores a named array of a saved state.
pub type Put<'a> = &'a mut dyn FnMut(&'static str, &[f64]);
/// Loads a named array of a saved state.
pub type Get<'a> = &'a mut dyn FnMut(&'static str) -> Option<Vec<f64>>;

/// The results of the pass over a row before the step.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct RowSummary {
    /// ⟨w, x⟩.
    pub z: f64,
    /// The chart's measure of the row: Σx², max|x|, or 0 if the chart measures nothing.
    pub size: f64,
}

/// θ ← θ + a·x, the move of charts with dual coordinates.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Shift(pub f64);

/// Weights w_i = common · local_i; a step changes only the local ones of the row's features.
pub trait Chart: Clone + Send + Sync {
    /// Number of features that have a weight.
    fn features(&self) -> usize;

    /// Makes room for all features below `n`.
    fn grow(&mut self, n: usize);

    /// ⟨w, x⟩.
    fn predict<X: Row<f64>>(&self, x: X) -> f64;

    /// ⟨w, x⟩, and the measures of the row that a step needs.
    fn look<X: Row<f64>>(&mut self, x: X) -> RowSummary;

    /// The factor that all weights share.
    fn common(&self) -> f64 {
        1.0
    }

    /// w_i without the common factor.
    fn local(&self, i: usize) -> f64;

    /// The logarithm of the product of all factors by which the local weights have been multiplied together.
    fn unit(&self) -> f64 {
        0.0
    }

    /// out ← Γ of steps that change the coordinates by −ηg·x; see [`Walk::gamma`].
    fn gamma(&self, rate: Option<f64>, out: &mut Vec<f64>) -> Option<f64>;

    /// Upper bounds on ‖w‖ and ‖Γ‖, if one pass gives both; see [`Walk::lengths`].
    fn lengths(&self, _rate: Option<f64>) -> Option<(f64, f64)> {
        None
    }

    /// Number of coordinates that have crossed 0 so far.
    fn folds(&self) -> u64 {
        0
    }

    /// out ← ln w, also for weights that underflow.
    fn logarithms(&self, out: &mut Vec<f64>) {
        let common = self.common();
        out.clear();
        out.extend((0..self.features()).map(|i| crate::Real::ln(common * self.local(i))));
    }

    /// Stores the complete mutable state.
    fn save(&self, put: Put<'_>);

    /// Restores the state stored by [`save`](Chart::save). On an error the chart is unchanged.
    fn load(&mut self, get: Get<'_>) -> Result<(), ConfigError>;
}

/// A chart that can make moves of type `M`.
pub trait Moves<M>: Chart {
    /// Makes the move on the row that was passed to [`look`](Chart::look). Sets length and event of the round.
    fn apply<X: Row<f64>>(&mut self, x: X, by: M, round: &mut Round) -> Result<(), DomainError>;
}

/// The O(nnz) form of a geometry: its chart, and a step in it.
pub trait SparseForm: Clone + Send + Sync {
    /// The type that stores the weights.
    type Chart: Moves<Self::Move>;
    /// The type of a step in the chart.
    type Move;

    /// Name and parameters, as in the language of walks: states of equal ones can be exchanged.
    fn spec(&self) -> String;

    /// The chart with initial weights.
    fn chart(&self) -> Self::Chart;

    /// The step of size κ = ηg for the row passed to `look`; `None` if the weights stay. Sets length and event of the
    /// round if they are known before the move.
    fn plan(
        &self,
        chart: &Self::Chart,
        row: RowSummary,
        kappa: f64,
        round: &mut Round,
    ) -> Result<Option<Self::Move>, DomainError>;

    /// The effect of a row per unit of rate and slope; see [`Gauge`].
    fn gauge<X: Row<f64>>(&self, _chart: &Self::Chart, x: X) -> Gauge {
        Gauge::euclidean(x)
    }

    /// Do the coordinates of the chart change by −ηg·x, so that they contain Γ?
    fn holds_gamma(&self) -> bool {
        false
    }

    /// ‖g·x‖₂ of a round made on this row.
    #[inline]
    fn gradient<X: Row<f64>>(&self, round: &Round, x: X) -> f64 {
        round.slope.abs() * x.length()
    }
}

/// A walk of a geometry in its chart.
#[derive(Debug, Clone, PartialEq)]
pub struct Steps<G: SparseForm> {
    pub(crate) form: G,
    pub(crate) chart: G::Chart,
}

impl<G: SparseForm> Steps<G> {
    /// The walk with initial weights.
    pub fn of(form: G) -> Self {
        let chart = form.chart();
        Self { form, chart }
    }

    /// Number of coordinates that have crossed 0 and were folded back so far.
    pub fn folds(&self) -> u64 {
        self.chart.folds()
    }

    /// out ← ln w, also for weights that underflow.
    pub fn logarithms(&self, out: &mut Vec<f64>) {
        self.chart.logarithms(out);
    }
}

impl<G: SparseForm + Default> Default for Steps<G> {
    fn default() -> Self {
        Self::of(G::default())
    }
}

impl<G: SparseForm> Walk for Steps<G> {
    fn features(&self) -> usize {
        self.chart.features()
    }

    fn grow(&mut self, n: usize) {
        self.chart.grow(n);
    }

    fn predict<X: Row<f64>>(&self, x: X) -> f64 {
        self.chart.predict(x)
    }

    fn step<X: Row<f64>, L: Loss + ?Sized>(
        &mut self,
        x: X,
        target: Target,
        loss: &L,
        rate: f64,
    ) -> Result<Round, DomainError> {
        self.chart.grow(x.bound());
        let row = self.chart.look(x);
        let mut round = judge(row.z, target, loss, rate)?;
        let kappa = rate * round.slope;
        if let Some(by) = self.form.plan(&self.chart, row, kappa, &mut round)? {
            self.chart.apply(x, by, &mut round)?;
        }
        Ok(round)
    }

    fn common(&self) -> f64 {
        self.chart.common()
    }

    fn local(&self, i: usize) -> Option<f64> {
        Some(self.chart.local(i))
    }

    fn unit(&self) -> f64 {
        self.chart.unit()
    }

    fn gauge<X: Row<f64>>(&self, x: X) -> Gauge {
        self.form.gauge(&self.chart, x)
    }

    fn read(&self, w: &mut Vec<f64>) {
        let common = self.chart.common();
        w.clear();
        w.extend((0..self.chart.features()).map(|i| common * self.chart.local(i)));
    }

    fn gamma(&self, rate: Option<f64>, out: &mut Vec<f64>) -> Option<f64> {
        if self.form.holds_gamma() { self.chart.gamma(rate, out) } else { None }
    }

    fn lengths(&self, rate: Option<f64>) -> Option<(f64, f64)> {
        if self.form.holds_gamma() { self.chart.lengths(rate) } else { None }
    }

    #[inline]
    fn gradient<X: Row<f64>>(&self, round: &Round, x: X) -> f64 {
        self.form.gradient(round, x)
    }

    fn spec(&self) -> String {
        self.form.spec()
    }

    fn save_state(&self, put: Put<'_>) {
        self.chart.save(put);
    }

    fn load_state(&mut self, get: Get<'_>) -> Result<(), ConfigError> {
        self.chart.load(get)
    }
}
