//! A loss of your own: examined before it is taken, then used like any other.
#![allow(clippy::print_stdout, clippy::disallowed_methods)] // a program for people, with the functions they know
use std::sync::Arc;

use geowalk::error::Allowed;
use geowalk::loss::{Custom, doctor::Range};
use geowalk::{Learner, certify::Comparator};

fn main() -> Result<(), Box<dyn std::error::Error>> {
    // Predictions that are too low cost twice as much: the loss is 2 ln cosh below the label, ln cosh above it.
    let heavy = |r: f64| if r < 0.0 { 2.0 } else { 1.0 };
    let value = move |z: f64, y: f64| heavy(z - y) * (z - y).cosh().ln();
    let slope = move |z: f64, y: f64| heavy(z - y) * (z - y).tanh();
    let range = Range::new(-20.0, 20.0, Allowed::Closed(-5.0, 5.0))?;
    let loss = Custom::general(Arc::new(value), Arc::new(slope), None, range)?;
    let mut learner = Learner::new("free", loss, 0.0)?;
    for t in 0..2000 {
        let x = f64::from(t % 7) - 3.0;
        learner.learn(&[1.0, x], 0.5 * x + f64::from(t % 3) - 1.0)?;
    }
    println!("intercept and slope {:.3?}", learner.weights());
    println!("{}", learner.certificate(&Comparator::Box { radii: &[1.0, 1.0] }));
    Ok(())
}
