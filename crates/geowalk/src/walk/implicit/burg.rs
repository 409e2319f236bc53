//! # Implicit steps with Burg's entropy
//! $$\theta' = \theta - \kappa x, \qquad \kappa = \eta\, g(z(\kappa)), \qquad z(\kappa) = \sum_i \frac{x_i}{\kappa x_i - \theta_i}$$
//! **Why** The explicit step may leave θ < 0; this one cannot. Where a θ_i comes near 0 its weight grows without bound and takes the prediction beyond
//! the point of least loss, so the root is always before that.
//! **Cost** O(nnz) per evaluation, one division per coordinate of the row. **Source** \[NN09, table 1\] with the loss at the weights after.

use super::{Example, Proximal, Solved, multiplier};
use crate::Real;
use crate::error::DomainError;
use crate::loss::Loss;
use crate::row::Row;
use crate::update::Target;
use crate::walk::{self, Burg, Walk};

impl Proximal for Burg {
    fn proximal<X: Row<f64>, L: Loss + ?Sized>(
        &mut self,
        x: X,
        target: Target,
        loss: &L,
        rate: f64,
    ) -> Result<Solved, DomainError> {
        self.grow(x.bound());
        let mut round = walk::judge(self.predict(x), target, loss, rate)?;
        walk::in_range(x)?;
        if rate == 0.0 || round.slope == 0.0 {
            return Ok(Solved::stay(round));
        }
        let example = Example { loss, target, rate };
        let theta = &self.theta;
        // Where the first θ_i becomes 0.
        let side = f64::copysign(1.0, round.slope);
        let mut limit = f64::MAX;
        x.each(|i, x| {
            if let Some(&theta) = theta.get(i)
                && side * x < 0.0
            {
                limit = Real::min(limit, theta / (side * x));
            }
        });
        let root = multiplier(&example, limit, &mut |kappa| {
            let (mut z, mut slope) = (0.0, 0.0);
            x.each(|i, x| {
                if let Some(&theta) = theta.get(i)
                    && x != 0.0
                {
                    // At the limit rounding may leave a θ on the wrong side of 0.
                    let w = -1.0 / Real::min(theta - kappa * x, -f64::MIN_POSITIVE);
                    z += x * w;
                    slope -= (x * w) * (x * w);
                }
            });
            (z, slope)
        })?;
        round.length = (2.0 * self.advance(-root.at, x)?).sqrt();
        Ok(Solved { round, slope: root.at / rate, evaluations: root.evaluations })
    }
}
