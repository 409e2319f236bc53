//! Chooses the walk at run time: which geometry suits a target that is sparse, and which one that is dense?
#![allow(clippy::print_stdout, clippy::disallowed_methods)] // a program for people, with the functions they know
use geowalk::{Learner, LearnerError};

fn main() -> Result<(), LearnerError> {
    const N: usize = 200;
    for (name, active) in [("sparse", 3), ("dense", N)] {
        println!("{name} target: mean squared error of the last 500 of 2000 rows");
        for (walk, rate) in
            [("gd", 0.3 / N as f64), ("mirror:p-norm", 0.02), ("implicit:euclidean", 0.1)]
        {
            let mut learner = Learner::new(walk, "squared", rate)?;
            let mut last = 0.0;
            for t in 0..2000_u64 {
                let x: Vec<f64> = (0..N as u64)
                    .map(|i| ((t * 7717 + i * 104_729 + t * i) % 1009) as f64 / 504.0 - 1.0)
                    .collect();
                let y = x.iter().take(active).sum::<f64>() / (active as f64).sqrt();
                let round = learner.learn(&x, y)?;
                last += if t >= 1500 { round.loss / 500.0 } else { 0.0 };
            }
            println!("  {walk:<20} {last:.5}");
        }
    }
    Ok(())
}
