//! What is orthogonal to every row? A walk on the sphere finds the recurrence of a sinusoid from noisy windows.
#![allow(clippy::print_stdout, clippy::disallowed_methods)] // a program for people, with the functions they know
use geowalk::{Learner, LearnerError};

fn main() -> Result<(), LearnerError> {
    let omega = 0.7_f64;
    let mut learner = Learner::new("explicit:sphere", "invariant", 0.2)?;
    let mut noise = 1_u64;
    let mut value = |t: f64| {
        noise = noise.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1);
        (omega * t).sin() + 0.02 * ((noise >> 33) as f64 / f64::from(1 << 30) - 1.0)
    };
    let series: Vec<f64> = (0..4002).map(|t| value(f64::from(t))).collect();
    for window in series.windows(3) {
        let norm = window.iter().map(|x| x * x).sum::<f64>().sqrt();
        let row: Vec<f64> = window.iter().map(|x| x / norm).collect();
        learner.learn(&row, 0.0)?;
    }
    // s(t) − 2 cos ω s(t+1) + s(t+2) = 0, so w is a multiple of (1, −2 cos ω, 1).
    let w = learner.weights();
    let found = (-w[1] / (w[0] + w[2])).acos();
    println!("frequency {found:.4}, in truth {omega}");
    assert!((found - omega).abs() < 0.02);
    Ok(())
}
