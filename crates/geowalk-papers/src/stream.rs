//! Streams of examples, and means over repetitions.

use geowalk::DomainError;
use geowalk::loss::Loss;
use geowalk::row::Dense;
use geowalk::walk::Walk;

/// An example: a dense row and its label.
pub(crate) type Example = (Vec<f64>, f64);

/// Points of a plot.
pub(crate) type Line = Vec<(f64, f64)>;

/// The inner product.
pub(crate) fn dot(a: &[f64], b: &[f64]) -> f64 {
    a.iter().zip(b).map(|(a, b)| a * b).sum()
}

/// Makes one pass over the examples. Returns the total loss of the predictions, or the error of the step at which the
/// walk diverged.
pub(crate) fn learn<W: Walk, L: Loss>(
    walk: &mut W,
    examples: &[Example],
    loss: &L,
    rate: f64,
) -> Result<f64, DomainError> {
    let mut total = 0.0;
    for (x, y) in examples {
        total += walk.step(Dense(x), (*y).into(), loss, rate)?.loss;
    }
    Ok(total)
}

pub(crate) fn mean(values: &[f64]) -> f64 {
    values.iter().sum::<f64>() / values.len() as f64
}

/// Standard error of the mean.
pub(crate) fn error(values: &[f64]) -> f64 {
    let (n, m) = (values.len() as f64, mean(values));
    (values.iter().map(|v| (v - m) * (v - m)).sum::<f64>() / (n - 1.0) / n).sqrt()
}

pub(crate) fn median(values: &[f64]) -> f64 {
    let mut sorted = values.to_vec();
    sorted.sort_by(f64::total_cmp);
    match sorted.len() {
        0 => f64::NAN,
        n if n % 2 == 1 => sorted[n / 2],
        n => f64::midpoint(sorted[n / 2 - 1], sorted[n / 2]),
    }
}
