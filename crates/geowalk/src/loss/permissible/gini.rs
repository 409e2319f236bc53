//! # Gini index
//! $$\varphi_B(p) = -p(1 - p), \qquad
//!   F(z) = (1 - z)^2 \text{ on } [-1, 1], \quad 0 \text{ above}, \quad -4z \text{ below}$$
//! **Gradient** $2p - 1$, image [−1, 1]. **Transfer** $(1 + H)/2$, clipped to [0, 1]. **Curvature** 2;
//! $(\varphi^\star)''$ is ½ inside (−1, 1) and 0 outside. **Constants** a = 0, b = ¼, inf φ″ = 2.
//! **Cost** O(1). **Care** F is the squared loss $(1 - z)^2$ only for |z| ≤ 1; the conjugate over the closed interval
//! makes it the modified Huber loss. **Source** \[NN09, eq. (26)\].

use super::{Permissible, fold};

/// $-p(1 - p)$.
///
/// ```
/// use geowalk::loss::permissible::{Gini, Permissible};
/// assert_eq!([-3.0, 0.5, 3.0].map(|z| Gini.surrogate(z)), [12.0, 0.25, 0.0]);
/// assert_eq!([-3.0, 0.5, 3.0].map(|h| Gini.transfer(h)), [0.0, 0.75, 1.0]);
/// ```
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Gini;

impl Permissible for Gini {
    fn spec(&self) -> String {
        "gini".to_owned()
    }

    fn a(&self) -> f64 {
        0.0
    }

    #[inline]
    fn b(&self) -> f64 {
        0.25
    }

    fn curvature_floor(&self) -> f64 {
        2.0
    }

    fn image(&self) -> (f64, f64) {
        (-1.0, 1.0)
    }

    #[inline]
    fn impurity(&self, p: f64) -> f64 {
        let (q, _) = fold(p);
        q * (1.0 - q)
    }

    fn gradient(&self, p: f64) -> f64 {
        let (q, sign) = fold(p);
        sign * (1.0 - 2.0 * q)
    }

    fn curvature(&self, p: f64) -> f64 {
        // NaN outside [0, 1], as in the other functions.
        fold(p).0 * 0.0 + 2.0
    }

    fn tail(&self, h: f64) -> f64 {
        if h >= 1.0 { 0.0 } else { 0.5 * (1.0 - h) }
    }

    fn tail_excess(&self, h: f64) -> f64 {
        let tail = self.tail(h);
        tail * tail
    }

    fn conjugate_curvature(&self, h: f64) -> f64 {
        if h.abs() >= 1.0 { 0.0 } else { 0.5 + 0.0 * h }
    }
}
