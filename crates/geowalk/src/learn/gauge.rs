//! # Effect of a row on the prediction
//! A step of rate η at slope g changes the prediction for the same row by about $\eta |g|\, \Vert x \Vert_\star^2$, in
//! the norm dual to the metric at the current weights. It changes a positive weight by a factor of about
//! $1 \pm \eta |g|\, s$ (or rotates a point of the sphere by the angle $\eta |g|\, s$):
//!
//! | walk | ‖x‖⋆² | s |
//! |---|---|---|
//! | Euclidean | ‖x‖₂² | 0 |
//! | p-norm | (p − 1)‖x‖_p², a bound at all weights | 0 |
//! | Mahalanobis | ½xᵀΣ⁻¹x | 0 |
//! | sphere of radius r | ‖x‖₂², a bound | ‖x‖₂/r |
//! | hyperbolic | ‖x‖₂² + z² | its root |
//! | relative entropy and Fisher metric on the simplex | ‖x‖∞², a bound | ‖x‖∞ |
//! | unnormalised entropy | Σw_i x_i² | ‖x‖∞ |
//! | logarithm, Burg | Σ(w_i x_i)² | max∣w_i x_i∣ |
//!
//! If η times the first is below 1/ℓ″ the step cannot overshoot; if the second is below ½ the metric hardly changes. A
//! self-tuned rate needs both conditions. **Cost** O(nnz). **Source** \[KW97\] for the entropies; \[RML13\] for the
//! idea of the normalised step.

use crate::row::Row;

/// The effect of a row at the current weights, per unit of rate and slope.
///
/// ```
/// use geowalk::row::Dense;
/// use geowalk::walk::{Entropy, Euclidean, Walk};
///
/// assert_eq!(Euclidean::new().gauge(Dense(&[3.0, 4.0])).square, 25.0);
/// let mut egu = Entropy::new(0.5)?;
/// egu.grow(2);
/// let gauge = egu.gauge(Dense(&[3.0, 4.0]));
/// assert_eq!((gauge.square, gauge.stretch), (12.5, 4.0));
/// # Ok::<(), geowalk::ConfigError>(())
/// ```
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Gauge {
    /// ‖x‖⋆², the change of the prediction per unit of rate and slope.
    pub square: f64,
    /// s, the relative change of a weight per unit of rate and slope.
    pub stretch: f64,
    /// Does the norm depend on the current weights? Otherwise it is the same, or a bound, at all weights.
    pub local: bool,
}

impl Gauge {
    /// The gauge of Euclidean walks: Σx_i², and no stretch.
    pub(crate) fn euclidean<X: Row<f64>>(x: X) -> Self {
        let mut square = 0.0;
        x.each(|_, x| square += x * x);
        Self { square, stretch: 0.0, local: false }
    }

    /// The gauge of walks on the simplex: the largest magnitude, after `f`.
    pub(crate) fn largest<X: Row<f64>>(x: X, f: impl Fn(f64) -> f64) -> Self {
        let mut stretch = 0.0;
        x.each(|_, x| stretch = crate::Real::max(stretch, f(x).abs()));
        Self { square: stretch * stretch, stretch, local: false }
    }

    /// The gauge of walks on positive weights: Σw_i x_i² and max|x_i|, or with `logarithm` Σ(w_i x_i)² and max|w_i
    /// x_i|.
    pub(crate) fn positive<X: Row<f64>>(x: X, w: impl Fn(usize) -> f64, logarithm: bool) -> Self {
        let mut gauge = Self { square: 0.0, stretch: 0.0, local: true };
        x.each(|i, x| {
            let w = w(i);
            let pull = if logarithm { w * x } else { x };
            gauge.square += if logarithm { pull * pull } else { w * x * x };
            gauge.stretch = crate::Real::max(gauge.stretch, pull.abs());
        });
        gauge
    }
}
