//! An oscillation with noise, its Hankel columns, and walks on the sphere that find their null vector.

use geowalk::laws::Sampler;
use geowalk::loss::Invariant;
use geowalk::row::{Dense, Norm};
use geowalk::track::{degrees, hankel};
use geowalk::walk::Walk;
use geowalk::{ConfigError, Real};

/// Columns (y_t, y_{t−1}, y_{t−2}) of cos(ωt + phase) with noise, scaled to unit length unless `raw`.
pub(crate) fn columns(
    omega: impl Fn(usize) -> f64,
    rounds: usize,
    noise: f64,
    seed: u64,
    raw: bool,
) -> Vec<Vec<f64>> {
    let mut random = Sampler::new(seed);
    let mut phase = random.uniform(0.0, std::f64::consts::TAU);
    let series: Vec<f64> = (0..rounds + 2)
        .map(|t| {
            phase += omega(t);
            Real::cos(phase) + noise * random.normal()
        })
        .collect();
    let mut columns = Vec::new();
    hankel(&series, 2, |row| {
        let length = if raw { 1.0 } else { Norm::L2.of(row) };
        columns.push(row.iter().map(|x| x / length).collect());
    });
    columns
}

/// The coefficients of y_t − 2 cos ω y_{t−1} + y_{t−2} = 0.
pub(crate) fn null_vector(omega: f64) -> [f64; 3] {
    [1.0, -2.0 * Real::cos(omega), 1.0]
}

/// The result of a walk: its total loss, and its angle to the null vector after each round, in degrees.
pub(crate) struct Walked {
    pub(crate) loss: f64,
    pub(crate) angles: Vec<f64>,
}

impl Walked {
    /// The mean angle over the last quarter; a single angle depends too much on the noise.
    pub(crate) fn final_angle(&self) -> f64 {
        let last = &self.angles[self.angles.len() * 3 / 4..];
        last.iter().sum::<f64>() / last.len() as f64
    }
}

/// Runs a walk over the columns; the null vector may change.
pub(crate) fn walk<W: Walk>(
    mut walk: W,
    columns: &[Vec<f64>],
    rate: impl Fn(usize) -> f64,
    null: impl Fn(usize) -> [f64; 3],
) -> Result<Walked, ConfigError> {
    let mut walked = Walked { loss: 0.0, angles: Vec::new() };
    let mut w = Vec::new();
    for (t, x) in columns.iter().enumerate() {
        walked.loss += walk.step(Dense(x), 0.0.into(), &Invariant, rate(t))?.loss;
        walk.read(&mut w);
        walked.angles.push(degrees(&w, &null(t)));
    }
    Ok(walked)
}
