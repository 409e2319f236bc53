//! Learns from rows one after the other, says what was lost, and goes on from a file with the same bits.
#![allow(clippy::print_stdout, clippy::disallowed_methods)] // a program for people, with the functions they know
use geowalk::{Learner, LearnerError, certify::Comparator};

/// Of ten features the first two decide the label.
fn row(t: u64) -> ([f64; 10], f64) {
    let x = std::array::from_fn(|i| {
        ((t * 37 + i as u64 * 101 + 1) * 7919 % 2003) as f64 / 1001.0 - 1.0
    });
    (x, (x[0] - x[1]).signum())
}

fn main() -> Result<(), LearnerError> {
    let mut learner = Learner::new("eg(signed=true, scale=10)", "logistic", 0.2)?;
    for t in 0..5000 {
        let (x, y) = row(t);
        learner.learn(&x, y)?;
    }
    println!("average loss {:.3} of {} rows", learner.total_loss() / 5000.0, learner.rows());
    println!("weights {:.2?}", learner.weights());
    let best = [5.0, -5.0];
    println!("against {best:?}: {}", learner.certificate(&Comparator::Given(&best)));

    let path = std::env::temp_dir().join("geowalk-example.learner");
    learner.save(&path)?;
    let mut again = Learner::load(&path)?;
    let (x, y) = row(5000);
    assert_eq!(again.learn(&x, y)?, learner.learn(&x, y)?);
    Ok(())
}
